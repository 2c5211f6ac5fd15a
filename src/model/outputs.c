// SPDX-License-Identifier: MIT
// Outputs: validation and storage.
#include "model/model.h"

#include "base/sized.h"
#include "base/vector.h"
#include "model/joint_kinds.h"

#include <stdio.h>
#include <string.h>

static const double PARALLEL_TOLERANCE = 1e-9; // rad, of a direction to the axis of an angle

typedef struct kind_info {
    const char *word;
    int components;
    const char *unit;
} kind_info;

static const kind_info KINDS[HN_OUTPUT_KIND_COUNT] = {
    [HN_OUTPUT_POSITION] = {"position", 3, "m"},
    [HN_OUTPUT_VELOCITY] = {"velocity", 3, "m/s"},
    [HN_OUTPUT_ACCELERATION] = {"acceleration", 3, "m/s^2"},
    [HN_OUTPUT_DISTANCE] = {"distance", 1, "m"},
    [HN_OUTPUT_ANGLE] = {"angle", 1, "rad"},
    [HN_OUTPUT_REACTION_FORCE] = {"reaction_force", 3, "N"},
    [HN_OUTPUT_REACTION_TORQUE] = {"reaction_torque", 3, "N m"},
    [HN_OUTPUT_COORDINATE] = {"coordinate", 1, "m"},
    [HN_OUTPUT_RATE] = {"rate", 1, "m/s"},
    [HN_OUTPUT_EFFORT] = {"effort", 1, "N"},
    [HN_OUTPUT_POWER] = {"power", 1, "W"},
    [HN_OUTPUT_KINETIC_ENERGY] = {"kinetic_energy", 1, "J"},
    [HN_OUTPUT_POTENTIAL_ENERGY] = {"potential_energy", 1, "J"},
    [HN_OUTPUT_ENERGY] = {"energy", 1, "J"},
    [HN_OUTPUT_EXPRESSION] = {"expression", 1, "1"},
};
static const char *const COMPONENTS[3] = {"x", "y", "z"};

const char *hn_output_kind_name(hn_output_kind kind)
{
    return (int)kind >= 0 && (int)kind < HN_OUTPUT_KIND_COUNT ? KINDS[kind].word : "";
}

bool hn_output_kind_from_name(const char *name, hn_output_kind *kind)
{
    for (int i = 0; name != NULL && kind != NULL && i < HN_OUTPUT_KIND_COUNT; ++i)
        if (strcmp(name, KINDS[i].word) == 0) {
            *kind = (hn_output_kind)i;
            return true;
        }
    return false;
}

void hn_output_def_init(hn_output_def *def, size_t size, hn_output_kind kind)
{
    const hn_output_def known = {.size = size, .kind = kind};
    sized_fill(def, size, &known, sizeof known);
}

int hn_model_output_count(const hn_model *model)
{
    return model == NULL ? 0 : model->output_count;
}

const char *hn_model_output_name(const hn_model *model, int index)
{
    return index >= 0 && index < hn_model_output_count(model) ? model->outputs[index].name : "";
}

hn_output_kind hn_model_output_kind(const hn_model *model, int index)
{
    bool known = index >= 0 && index < hn_model_output_count(model);
    return known ? model->outputs[index].def.kind : HN_OUTPUT_EXPRESSION;
}

int hn_model_output_place(const hn_model *model, int index, int *count)
{
    bool known = index >= 0 && index < hn_model_output_count(model);
    if (count != NULL) *count = known ? KINDS[model->outputs[index].def.kind].components : 0;
    return known ? model->outputs[index].column : -1;
}

// An angle where the coordinate is one, else a length.
static bool coordinate_turns(hn_joint_kind kind, int coordinate)
{
    const joint_kind_facts *facts = joint_kind_facts_of(kind);
    return coordinate < facts->coordinate_count &&
           strcmp(facts->coordinates[coordinate].unit, "rad") == 0;
}

const char *model_output_unit(const hn_model *model, int index)
{
    const model_output *o = &model->outputs[index];
    int joint = o->joint, coordinate = o->def.coordinate;
    hn_output_kind kind = o->def.kind;
    if (kind == HN_OUTPUT_EFFORT) {
        joint = model->drives[o->def.drive].joint;
        coordinate = model->drives[o->def.drive].def.coordinate;
    }
    bool turns = joint >= 0 && coordinate_turns(model->joints[joint].kind, coordinate);
    if (turns && kind == HN_OUTPUT_COORDINATE) return "rad";
    if (turns && kind == HN_OUTPUT_RATE) return "rad/s";
    if (turns && kind == HN_OUTPUT_EFFORT) return "N m";
    return KINDS[kind].unit;
}

int model_output_of_column(const hn_model *model, int column, const char **component)
{
    *component = NULL;
    for (int i = 0; i < model->output_count; ++i) {
        int count = KINDS[model->outputs[i].def.kind].components,
            at = column - model->outputs[i].column;
        if (at < 0 || at >= count) continue;
        if (count == 3) *component = COMPONENTS[at];
        return i;
    }
    return -1;
}

void model_output_clear(hn_context *context, model_output *output)
{
    context_release(context, output->name);
    context_release(context, output->code);
    context_release(context, output->text);
}

// ---- checks -------------------------------------------------------------------------------------------

static bool is_vector(hn_output_kind kind)
{
    return kind == HN_OUTPUT_POSITION || kind == HN_OUTPUT_VELOCITY ||
           kind == HN_OUTPUT_ACCELERATION;
}

static hn_status check_bodies(const hn_model *model, const char *name, model_output *o)
{
    hn_context *context = model->context;
    const hn_output_def *def = &o->def;
    bool pair = def->kind == HN_OUTPUT_DISTANCE || def->kind == HN_OUTPUT_ANGLE;
    if (!is_vector(def->kind) && !pair) return HN_OK;
    o->body_a = model_body_index(model, def->body_a);
    o->body_b =
        def->body_b.index1 == 0 && !pair ? BODY_GROUND : model_body_index(model, def->body_b);
    if (o->body_a == -2 || o->body_b == -2)
        return context_fail(context, HN_INVALID_MODEL,
                            "output '%s': its %s body is not in this model", name,
                            o->body_a == -2 ? "first" : "second");
    if (!vec3_is_finite(def->point_a) || !vec3_is_finite(def->point_b) ||
        !vec3_is_finite(def->axis))
        return context_fail(context, HN_INVALID_MODEL,
                            "output '%s': a place or direction is not finite", name);
    if (is_vector(def->kind) && o->body_b >= 0 && !model_has_directors(&model->bodies[o->body_b]))
        return context_fail(context, HN_INVALID_MODEL,
                            "output '%s': '%s' is a point mass, which has no axes to see by", name,
                            model->bodies[o->body_b].name);
    if (def->kind == HN_OUTPUT_ANGLE &&
        (!(vec3_norm(def->point_a) > 0.0) || !(vec3_norm(def->point_b) > 0.0)))
        return context_fail(context, HN_INVALID_MODEL, "output '%s': a direction has zero length",
                            name);
    double along = vec3_norm(def->axis) * vec3_norm(def->point_a);
    if (def->kind == HN_OUTPUT_ANGLE && along > 0.0 &&
        !(vec3_norm(vec3_cross(def->axis, def->point_a)) > PARALLEL_TOLERANCE * along))
        return context_fail(
            context, HN_INVALID_MODEL,
            "output '%s': its first direction is along the axis that the angle is about", name);
    return HN_OK;
}

static hn_status check_joint(const hn_model *model, const char *name, model_output *o)
{
    hn_context *context = model->context;
    const hn_output_def *def = &o->def;
    bool coordinate = def->kind == HN_OUTPUT_COORDINATE || def->kind == HN_OUTPUT_RATE;
    bool reaction = def->kind == HN_OUTPUT_REACTION_FORCE || def->kind == HN_OUTPUT_REACTION_TORQUE;
    if (!coordinate && !reaction) return HN_OK;
    o->joint = model_joint_index(model, def->joint);
    if (o->joint < 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "output '%s': its joint is not in this model", name);
    int count = hn_model_joint_coordinate_count(model, def->joint);
    if (coordinate && (def->coordinate < 0 || def->coordinate >= count))
        return context_fail(context, HN_INVALID_MODEL,
                            "output '%s': joint '%s' (%s) has no coordinate %d", name,
                            model->joints[o->joint].name,
                            hn_joint_kind_name(model->joints[o->joint].kind), def->coordinate);
    if (reaction && (int)def->frame != HN_FRAME_WORLD && def->frame != HN_FRAME_A &&
        def->frame != HN_FRAME_B)
        return context_fail(context, HN_INVALID_MODEL, "output '%s': unknown frame %d", name,
                            (int)def->frame);
    return HN_OK;
}

static bool is_word(const char *name)
{
    if (!((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z') ||
          name[0] == '_'))
        return false;
    for (const char *c = name; *c != '\0'; ++c)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_'))
            return false;
    return true;
}

/// Word by which an expression names a number of the outputs before it.
typedef char output_word[112];

// Words of the numbers of all outputs so far, "" where a name is none; `words` NULL: their number alone.
static int output_words(const hn_model *model, output_word *words)
{
    int count = 0;
    for (int i = 0; i < model->output_count; ++i) {
        const model_output *o = &model->outputs[i];
        int components = KINDS[o->def.kind].components;
        for (int k = 0; k < components; ++k, ++count) {
            // one that is no word cannot be named, but keeps its place
            if (words == NULL) continue;
            words[count][0] = '\0';
            if (is_word(o->name))
                snprintf(words[count], sizeof *words, components == 3 ? "%.100s_%s" : "%.100s",
                         o->name, COMPONENTS[k]);
        }
    }
    return count;
}

static hn_status compile_expression(const hn_model *model, const char *name, model_output *o)
{
    hn_context *context = model->context;
    if (o->def.kind != HN_OUTPUT_EXPRESSION) return HN_OK;
    if (o->def.expression == NULL)
        return context_fail(context, HN_INVALID_MODEL, "output '%s': it has no expression", name);
    int count = output_words(model, NULL);
    output_word *words = context_allocate(context, ((size_t)count + 1) * sizeof *words);
    const char **list = context_allocate(context, ((size_t)count + 1) * sizeof *list);
    o->code = context_allocate(context, TIME_CODE_MAX * sizeof *o->code);
    o->text = context_copy_string(context, o->def.expression);
    hn_status status = words == NULL || list == NULL || o->code == NULL || o->text == NULL
                           ? HN_OUT_OF_MEMORY
                           : HN_OK;
    if (status == HN_OK) {
        time_error error;
        output_words(model, words);
        for (int i = 0; i < count; ++i) list[i] = words[i];
        o->code_count = time_expression_parse_with(o->def.expression, list, count, o->code, &error);
        if (o->code_count < 0)
            status = context_fail(context, HN_INVALID_MODEL,
                                  "output '%s': %s, or an output before it", name, error.message);
    }
    context_release(context, words);
    context_release(context, (void *)list);
    return status;
}

hn_status hn_model_add_output(hn_model *model, const hn_output_def *def)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL);
    OWN_COPY(context, hn_output_def, def, hn_output_def_default(def->kind));
    model_output added = {.def = *def, .joint = -1, .body_a = BODY_GROUND, .body_b = BODY_GROUND};
    char *name = NULL;
    TRY(model_new_name(context, &model->output_names, "output", def->name, model->output_count,
                       &name));
    added.name = name;
    hn_status status = HN_OK;
    if (hn_output_kind_name(def->kind)[0] == '\0')
        status = context_fail(context, HN_INVALID_MODEL, "output '%s': unknown kind %d", name,
                              (int)def->kind);
    if (status == HN_OK && (def->kind == HN_OUTPUT_EFFORT || def->kind == HN_OUTPUT_POWER) &&
        (def->drive < 0 || def->drive >= model->drive_count))
        status = context_fail(context, HN_INVALID_MODEL, "output '%s': there is no drive %d", name,
                              def->drive);
    if (status == HN_OK) status = check_bodies(model, name, &added);
    if (status == HN_OK) status = check_joint(model, name, &added);
    if (status == HN_OK) status = compile_expression(model, name, &added);
    void *outputs = model->outputs;
    if (status == HN_OK) {
        status = context_grow(context, &outputs, &model->output_capacity, model->output_count + 1,
                              sizeof *model->outputs);
        model->outputs = outputs;
    }
    if (status == HN_OK)
        status = name_table_add(context, &model->output_names, name, model->output_count);
    if (status != HN_OK) {
        model_output_clear(context, &added);
        return status;
    }
    added.def.name = added.def.expression = NULL;
    added.column = model->output_columns;
    model->outputs[model->output_count++] = added;
    model->output_columns += KINDS[def->kind].components;
    return HN_OK;
}
