// SPDX-License-Identifier: MIT
// Numbers of a member that a study keeps: where they stand in its simulation, and since when there is one.
#include "study/study.h"

#include "model/model.h"

#include <string.h>

// What a number needs to exist.
enum { NEEDS_NOTHING = 0, NEEDS_STEP = 1, NEEDS_REACTIONS = 2 };

// Fields that belong to a step: before the first one there is none.
static const char *const STEP_FIELDS[] = {
    "drives/effort",   "drives/power",     "couplings/effort", "newton/iterations",
    "newton/residual", "newton/increment", "newton/step_size", "ledger/hidden_velocity"};
static const char *const REACTION_FIELDS[] = {"joints/reaction_force", "joints/reaction_torque",
                                              "joints/reaction_time"};
static const char OUTPUTS_FIELD[] = "outputs/value";
static const char VALID_FIELD[] = "joints/reaction_valid";

static bool is_among(const char *field, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(field, words[i]) == 0) return true;
    return false;
}

// By outputs of the model: an expression needs what those need that it names, which come before it.
static int needs_of_output(const hn_model *model, size_t number, unsigned char *needs)
{
    for (int i = 0; i < model->output_count; ++i) {
        const model_output *o = &model->outputs[i];
        int width, of_kind = NEEDS_NOTHING, column = hn_model_output_place(model, i, &width);
        hn_output_kind kind = o->def.kind;
        if (kind == HN_OUTPUT_EFFORT || kind == HN_OUTPUT_POWER) of_kind = NEEDS_STEP;
        if (kind == HN_OUTPUT_REACTION_FORCE || kind == HN_OUTPUT_REACTION_TORQUE)
            of_kind = NEEDS_REACTIONS;
        for (int k = 0; k < column; ++k)
            if (time_expression_uses(o->code, o->code_count, k)) of_kind |= needs[k];
        for (int k = 0; k < width; ++k) needs[column + k] = (unsigned char)of_kind;
    }
    return needs[number];
}

static hn_status find_needs(hn_context *context, const hn_model *model, const study_output *o,
                            size_t number, int *needs)
{
    *needs = NEEDS_NOTHING;
    if (is_among(o->field, STEP_FIELDS, sizeof STEP_FIELDS / sizeof STEP_FIELDS[0]))
        *needs = NEEDS_STEP;
    if (is_among(o->field, REACTION_FIELDS, sizeof REACTION_FIELDS / sizeof REACTION_FIELDS[0]))
        *needs = NEEDS_REACTIONS;
    if (strcmp(o->field, OUTPUTS_FIELD) != 0) return HN_OK;
    unsigned char *all = context_allocate(context, hn_model_field_width(model, OUTPUTS_FIELD));
    if (all == NULL) return HN_OUT_OF_MEMORY;
    *needs = needs_of_output(model, number, all);
    context_release(context, all);
    return HN_OK;
}

static bool is_column(const hn_model *model, const study_output *o, size_t number)
{
    char name[QUANTITY_NAME_SIZE];
    const char *unit;
    return number < hn_model_field_width(model, o->field) &&
           hn_model_field_column_size(model, o->field, number) <= sizeof name &&
           hn_model_field_column(model, o->field, number, name, sizeof name, &unit) == HN_OK &&
           strcmp(name, o->column) == 0;
}

hn_status study_quantity_find(hn_context *context, const hn_model *model, hn_simulation *simulation,
                              const study_output *o, study_quantity *found)
{
    // where the model has it with its own parameters, unless others change its structure
    size_t number = o->number, width = hn_model_field_width(model, o->field);
    if (!is_column(model, o, number))
        for (number = 0; number < width && !is_column(model, o, number);) ++number;
    if (number >= width)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "output '%s': with these parameters the model has no %s", o->name,
                            o->column);
    hn_view view;
    int needs;
    TRY(find_needs(context, model, o, number, &needs));
    TRY(hn_simulation_view(simulation, o->field, &view));
    *found = (study_quantity){.number = view.data + number, .of_step = needs & NEEDS_STEP};
    if (!(needs & NEEDS_REACTIONS)) return HN_OK;
    TRY(hn_simulation_view(simulation, VALID_FIELD, &view));
    found->valid = view.data;
    return HN_OK;
}

bool study_quantity_exists(const study_quantity *found, const hn_simulation *simulation)
{
    if (found->of_step && hn_simulation_step_count(simulation) == 0) return false;
    return found->valid == NULL || *found->valid > 0.0;
}
