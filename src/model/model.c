// SPDX-License-Identifier: MIT
// A model as a whole: create, destroy, names, run options, looking at it.
#include "base/hidden.h"
#include "model/joint_kinds.h"
#include "base/sized.h"
#include "model/model.h"
#include "model/profiles.h"

#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LENGTH_MAX = 100 }; // bytes

static const hn_run_options DEFAULT_RUN = {.scheme = HN_SCHEME_ENERGY_MOMENTUM,
                                           .reduction = HN_REDUCTION_REDUCED,
                                           .step = -1.0,
                                           .end = -1.0};

hn_body_id hn_ground(void)
{
    return (hn_body_id){.index1 = UINT32_MAX};
}

void hn_model_def_init(hn_model_def *def, size_t size)
{
    const hn_model_def known = {.size = size, .name = NULL, .gravity = {0.0, 0.0, -9.81}};
    sized_fill(def, size, &known, sizeof known);
}

hn_status hn_model_create(hn_context *context, const hn_model_def *def, hn_model **model)
{
    REQUIRE(context, model != NULL);
    *model = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, def != NULL);
    OWN_COPY(context, hn_model_def, def, hn_model_def_default());
    if (!vec3_is_finite(def->gravity))
        return context_fail(context, HN_INVALID_MODEL, "gravity is not finite");
    hn_model *created = context_allocate(context, sizeof *created);
    if (created == NULL) return HN_OUT_OF_MEMORY;
    created->context = context_retain(context);
    created->tag = context_new_tag(context);
    created->gravity = def->gravity;
    created->run = DEFAULT_RUN;
    created->name = context_copy_string(context, def->name == NULL ? "model" : def->name);
    if (created->name == NULL) {
        hn_model_destroy(created);
        return HN_OUT_OF_MEMORY;
    }
    *model = created;
    return HN_OK;
}

void hn_model_destroy(hn_model *model)
{
    if (model == NULL) return;
    hn_context *context = model->context;
    for (int i = 0; i < model->body_count; ++i) {
        context_release(context, model->bodies[i].name);
        context_release(context, model->bodies[i].shapes);
    }
    for (int i = 0; i < model->joint_count; ++i) context_release(context, model->joints[i].name);
    for (int i = 0; i < model->load_count; ++i) {
        context_release(context, model->loads[i].name);
        profile_release(context, &model->loads[i].profile);
    }
    name_table_clear(context, &model->body_names);
    name_table_clear(context, &model->joint_names);
    name_table_clear(context, &model->load_names);
    name_table_clear(context, &model->beam_names);
    name_table_clear(context, &model->drive_names);
    for (int i = 0; i < model->drive_count; ++i) model_drive_clear(context, &model->drives[i]);
    context_release(context, model->drives);
    name_table_clear(context, &model->output_names);
    for (int i = 0; i < model->output_count; ++i) model_output_clear(context, &model->outputs[i]);
    context_release(context, model->outputs);
    name_table_clear(context, &model->coupling_names);
    for (int i = 0; i < model->coupling_count; ++i)
        context_release(context, model->couplings[i].name);
    context_release(context, model->couplings);
    for (int i = 0; i < model->beam_count; ++i) {
        context_release(context, model->beams[i].name);
        context_release(context, model->beams[i].lengths);
    }
    for (int i = 0; i < model->parameter_count; ++i)
        context_release(context, model->parameters[i].name);
    context_release(context, model->parameters);
    for (int i = 0; i < model->run_setting_count; ++i)
        context_release(context, model->run_settings[i].value);
    context_release(context, model->run_settings);
    context_release(context, model->beams);
    context_release(context, model->bodies);
    context_release(context, model->joints);
    context_release(context, model->loads);
    context_release(context, model->name);
    context_release(context, model->source);
    context_release(context, model->text);
    context_release(context, model);
    context_drop(context);
}

// ---- names ----------------------------------------------------------------------------------------

static hn_status check_name(hn_context *context, const char *kind, const char *name)
{
    size_t length = strlen(name);
    if (length == 0) return context_fail(context, HN_INVALID_MODEL, "a %s has an empty name", kind);
    if (length > NAME_LENGTH_MAX)
        return context_fail(context, HN_INVALID_MODEL,
                            "%s '%.20s...': the name is longer than %d bytes", kind, name,
                            NAME_LENGTH_MAX);
    if (hidden_has_control(name))
        return context_fail(context, HN_INVALID_MODEL, "a %s has a control character in its name",
                            kind);
    if (strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "%s '%s': a name may not contain '/' nor be dots alone", kind, name);
    if (strcmp(name, "ground") == 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "%s 'ground': this name is reserved for the ground", kind);
    return HN_OK;
}

hn_status model_new_name(hn_context *context, const name_table *table, const char *kind,
                         const char *name, int index, char **copy)
{
    char numbered[64];
    if (name == NULL) {
        // the element's number, or the next free one if a given name took it
        int number = index + 1;
        do {
            snprintf(numbered, sizeof numbered, "%s%d", kind, number++);
        } while (name_table_find(table, numbered) >= 0);
        name = numbered;
    }
    TRY(check_name(context, kind, name));
    if (name_table_find(table, name) >= 0)
        return context_fail(context, HN_INVALID_MODEL, "%s '%s': this name is already taken", kind,
                            name);
    *copy = context_copy_string(context, name);
    return *copy == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

// ---- run options ------------------------------------------------------------------------------------

hn_run_options hn_model_run_options(const hn_model *model)
{
    return model == NULL ? DEFAULT_RUN : model->run;
}

void hn_model_set_run_options(hn_model *model, const hn_run_options *options)
{
    if (model != NULL && options != NULL) model->run = *options;
}

// ---- looking at a model -----------------------------------------------------------------------------

const char *hn_model_name(const hn_model *model)
{
    return model == NULL ? "" : model->name;
}

hn_status hn_model_start_at_equilibrium(hn_model *model, bool start)
{
    REQUIRE(NULL, model != NULL);
    model->starts_at_equilibrium = start;
    return HN_OK;
}

bool hn_model_starts_at_equilibrium(const hn_model *model)
{
    return model != NULL && model->starts_at_equilibrium;
}

hn_vec3 hn_model_gravity(const hn_model *model)
{
    return model == NULL ? vec3(0.0, 0.0, 0.0) : model->gravity;
}

int hn_model_body_count(const hn_model *model)
{
    return model == NULL ? 0 : model->body_count;
}

int hn_model_joint_count(const hn_model *model)
{
    return model == NULL ? 0 : model->joint_count;
}

int hn_model_load_count(const hn_model *model)
{
    return model == NULL ? 0 : model->load_count;
}

hn_body_id hn_model_body(const hn_model *model, int index)
{
    bool known = index >= 0 && index < hn_model_body_count(model);
    return known ? (hn_body_id){(uint32_t)index + 1, model->tag} : (hn_body_id){0};
}

hn_joint_id hn_model_joint(const hn_model *model, int index)
{
    bool known = index >= 0 && index < hn_model_joint_count(model);
    return known ? (hn_joint_id){(uint32_t)index + 1, model->tag} : (hn_joint_id){0};
}

static const model_body *body_of(const hn_model *model, hn_body_id body)
{
    int index = model == NULL ? -1 : model_body_index(model, body);
    return index < 0 ? NULL : &model->bodies[index];
}

static const model_joint *joint_of(const hn_model *model, hn_joint_id joint)
{
    int index = model == NULL ? -1 : model_joint_index(model, joint);
    return index < 0 ? NULL : &model->joints[index];
}

const char *hn_model_body_name(const hn_model *model, hn_body_id body)
{
    return model == NULL ? "" : model_body_index_name(model, model_body_index(model, body));
}

const char *hn_model_joint_name(const hn_model *model, hn_joint_id joint)
{
    const model_joint *found = joint_of(model, joint);
    return found == NULL ? "" : found->name;
}

const char *hn_model_load_name(const hn_model *model, int index)
{
    return index >= 0 && index < hn_model_load_count(model) ? model->loads[index].name : "";
}

hn_load_id hn_model_load_at(const hn_model *model, int index)
{
    if (index < 0 || index >= hn_model_load_count(model)) return (hn_load_id){0};
    return (hn_load_id){(uint32_t)index + 1, model->tag};
}

hn_load_id hn_model_find_load(const hn_model *model, const char *name)
{
    if (model == NULL || name == NULL) return (hn_load_id){0};
    return hn_model_load_at(model, name_table_find(&model->load_names, name));
}

int hn_model_load_index(const hn_model *model, hn_load_id load)
{
    bool known = model != NULL && load.index1 > 0 && load.model == model->tag &&
                 load.index1 <= (uint32_t)model->load_count;
    return known ? (int)load.index1 - 1 : -1;
}

hn_joint_kind hn_model_joint_kind(const hn_model *model, hn_joint_id joint)
{
    const model_joint *found = joint_of(model, joint);
    return found == NULL ? HN_JOINT_FREE : found->kind;
}

static hn_body_id body_id_of(const hn_model *model, int index)
{
    return index == BODY_GROUND ? hn_ground() : hn_model_body(model, index);
}

hn_body_id hn_model_joint_body_a(const hn_model *model, hn_joint_id joint)
{
    const model_joint *found = joint_of(model, joint);
    return found == NULL ? (hn_body_id){0} : body_id_of(model, found->body_a);
}

hn_body_id hn_model_joint_body_b(const hn_model *model, hn_joint_id joint)
{
    const model_joint *found = joint_of(model, joint);
    return found == NULL ? (hn_body_id){0} : body_id_of(model, found->body_b);
}

int hn_model_joint_coordinate_count(const hn_model *model, hn_joint_id joint)
{
    const model_joint *found = joint_of(model, joint);
    if (found == NULL) return 0;
    bool turns = found->body_b == BODY_GROUND || model_has_directors(&model->bodies[found->body_b]);
    int rotation = joint_kind_rotation_place(found->kind);
    if (!turns && rotation >= 0) return rotation; // nothing is there to turn
    return joint_kind_facts_of(found->kind)->coordinate_count;
}

hn_body_kind hn_model_body_kind(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? HN_BODY_RIGID : found->kind;
}

double hn_model_body_mass(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? 0.0 : found->mass;
}

hn_mat3 hn_model_body_inertia(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? (hn_mat3){{{0.0}}} : found->inertia;
}

hn_vec3 hn_model_body_center_of_mass(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? (hn_vec3){0.0, 0.0, 0.0} : found->center_of_mass;
}

hn_vec3 hn_model_body_position(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? (hn_vec3){0.0, 0.0, 0.0} : found->position;
}

hn_mat3 hn_model_body_orientation(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? mat3_identity() : found->orientation;
}

int hn_model_body_shape_count(const hn_model *model, hn_body_id body)
{
    const model_body *found = body_of(model, body);
    return found == NULL ? 0 : found->shape_count;
}

hn_shape hn_model_body_shape(const hn_model *model, hn_body_id body, int index)
{
    const model_body *found = body_of(model, body);
    if (found == NULL || index < 0 || index >= found->shape_count)
        return hn_shape_default(HN_SHAPE_BOX);
    return found->shapes[index];
}

hn_body_id hn_model_find_body(const hn_model *model, const char *name)
{
    if (model == NULL || name == NULL) return (hn_body_id){0};
    if (strcmp(name, "ground") == 0) return hn_ground();
    int found = name_table_find(&model->body_names, name);
    return hn_model_body(model, found >= 0 ? found : model_find_node(model, name));
}

hn_joint_id hn_model_find_joint(const hn_model *model, const char *name)
{
    if (model == NULL || name == NULL) return (hn_joint_id){0};
    return hn_model_joint(model, name_table_find(&model->joint_names, name));
}

const char *hn_model_text(const hn_model *model, size_t *length)
{
    if (length != NULL) *length = model == NULL ? 0 : model->text_length;
    return model == NULL ? NULL : model->text;
}

hn_status model_set_text(hn_model *model, const char *text, size_t length, const char *source)
{
    char *copy = context_allocate(model->context, length + 1),
         *name = context_copy_string(model->context, source);
    if (copy == NULL || name == NULL) {
        context_release(model->context, copy);
        context_release(model->context, name);
        return HN_OUT_OF_MEMORY;
    }
    memcpy(copy, text, length);
    context_release(model->context, model->source);
    context_release(model->context, model->text);
    model->source = name;
    model->text = copy;
    model->text_length = length;
    return HN_OK;
}

hn_status model_add_parameter(hn_model *model, const char *name, double value,
                              const signed char unit[4])
{
    void *grown = model->parameters;
    hn_status status = context_grow(model->context, &grown, &model->parameter_capacity,
                                    model->parameter_count + 1, sizeof *model->parameters);
    model->parameters = grown;
    TRY(status);
    char *copy = context_copy_string(model->context, name);
    if (copy == NULL) return HN_OUT_OF_MEMORY;
    model_parameter *added = &model->parameters[model->parameter_count++];
    *added = (model_parameter){.name = copy, .value = value};
    memcpy(added->unit, unit, sizeof added->unit);
    return HN_OK;
}

int hn_model_parameter_count(const hn_model *model)
{
    return model == NULL ? 0 : model->parameter_count;
}

static bool has_parameter(const hn_model *model, int index)
{
    return model != NULL && index >= 0 && index < model->parameter_count;
}

const char *hn_model_parameter_name(const hn_model *model, int index)
{
    return has_parameter(model, index) ? model->parameters[index].name : "";
}

double hn_model_parameter_value(const hn_model *model, int index)
{
    return has_parameter(model, index) ? model->parameters[index].value : (double)NAN;
}

hn_context *hn_model_context(const hn_model *model)
{
    return model == NULL ? NULL : model->context;
}
