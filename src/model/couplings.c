// SPDX-License-Identifier: MIT
// Couplings of joint coordinates: validation, storage, and what they say of start rates.
#include "model/model.h"

#include "base/sized.h"

#include <math.h>

void hn_coupling_def_init(hn_coupling_def *def, size_t size, hn_coupling_kind kind)
{
    const hn_coupling_def known = {
        .size = size, .kind = kind, .term_count = 2, .factors = {1.0, 1.0, 1.0, 1.0}};
    sized_fill(def, size, &known, sizeof known);
}

static hn_status check_term(const hn_model *model, const char *name, const hn_coupling_def *def,
                            int term, const int *joints)
{
    hn_context *context = model->context;
    if (joints[term] < 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': a joint of it is not in this model", name);
    const model_joint *joint = &model->joints[joints[term]];
    if (hn_joint_coordinate_name(joint->kind, 0) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': joint '%s' is %s; a coupling needs joints with an "
                            "angle or a displacement: revolute, prismatic, cylindrical, screw, "
                            "planar or universal",
                            name, joint->name, hn_joint_kind_name(joint->kind));
    if (hn_joint_coordinate_name(joint->kind, def->coordinates[term]) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': joint '%s' (%s) has no coordinate %d", name,
                            joint->name, hn_joint_kind_name(joint->kind), def->coordinates[term]);
    TRY(model_check_place(model, "coupling", name, joint));
    if (!isfinite(def->factors[term]) || def->factors[term] == 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': the factor of joint '%s' is %g; expected a number "
                            "other than zero",
                            name, joint->name, def->factors[term]);
    for (int i = 0; i < term; ++i)
        if (joints[i] == joints[term] && def->coordinates[i] == def->coordinates[term])
            return context_fail(
                context, HN_INVALID_MODEL, "coupling '%s': the %s of joint '%s' stands in it twice",
                name, hn_joint_coordinate_name(joint->kind, def->coordinates[term]), joint->name);
    return HN_OK;
}

static hn_status check_coupling(const hn_model *model, const hn_coupling_def *def, const char *name,
                                const int *joints)
{
    hn_context *context = model->context;
    if (hn_coupling_kind_name(def->kind)[0] == '\0')
        return context_fail(context, HN_INVALID_MODEL, "coupling '%s': unknown kind of coupling %d",
                            name, (int)def->kind);
    for (int i = 0; i < def->term_count; ++i) TRY(check_term(model, name, def, i, joints));
    return HN_OK;
}

hn_status hn_model_add_coupling(hn_model *model, const hn_coupling_def *def,
                                hn_coupling_id *coupling)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && coupling != NULL);
    OWN_COPY(context, hn_coupling_def, def, hn_coupling_def_default(def->kind));
    REQUIRE(context, def->term_count >= 2 && def->term_count <= HN_COUPLING_TERMS_MAX);
    model_coupling added = {.kind = def->kind, .term_count = def->term_count};
    for (int i = 0; i < def->term_count; ++i) {
        added.joints[i] = model_joint_index(model, def->joints[i]);
        added.coordinates[i] = def->coordinates[i];
        added.factors[i] = def->factors[i] / def->factors[0];
    }
    TRY(model_new_name(context, &model->coupling_names, "coupling", def->name,
                       model->coupling_count, &added.name));
    void *couplings = model->couplings;
    hn_status status = check_coupling(model, def, added.name, added.joints);
    if (status == HN_OK) {
        status = context_grow(context, &couplings, &model->coupling_capacity,
                              model->coupling_count + 1, sizeof *model->couplings);
        model->couplings = couplings;
    }
    if (status == HN_OK)
        status = name_table_add(context, &model->coupling_names, added.name, model->coupling_count);
    if (status != HN_OK) {
        context_release(context, added.name);
        return status;
    }
    model->couplings[model->coupling_count++] = added;
    model_follow_couplings(model);
    *coupling = (hn_coupling_id){(uint32_t)model->coupling_count, model->tag};
    return HN_OK;
}

hn_status model_check_thread(const hn_model *model, const char *name, double pitch)
{
    if (!isfinite(pitch) || pitch == 0.0)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "joint '%s': pitch is %g; expected a number of metres per turn other "
                            "than zero",
                            name, pitch);
    if (name_table_find(&model->coupling_names, name) >= 0)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "joint '%s': the coupling of a screw has its name, and there is one "
                            "already",
                            name);
    return HN_OK;
}

hn_status model_add_thread(hn_model *model, hn_joint_id joint)
{
    const model_joint *screw = &model->joints[model_joint_index(model, joint)];
    hn_coupling_def thread = hn_coupling_def_default(HN_COUPLING_SCREW);
    hn_coupling_id added;
    thread.name = screw->name;
    thread.joints[0] = thread.joints[1] = joint;
    thread.coordinates[0] = 0; // displacement
    thread.coordinates[1] = 1; // angle
    thread.factors[1] = -screw->lead;
    TRY(hn_model_add_coupling(model, &thread, &added));
    return HN_OK;
}

// ---- start rates ------------------------------------------------------------------------------------------

// Is the rate of a coordinate said, by the user, a motion or a coupling?
static bool is_known(const model_joint *joint, int coordinate)
{
    return joint->has_rates &&
           (!joint->rates_of_motions || (joint->rates_known & (1u << coordinate)) != 0);
}

// The one rate that the others of a coupling say, where there is such.
static bool follow(hn_model *model, const model_coupling *c)
{
    int open = -1;
    double sum = 0.0;
    for (int i = 0; i < c->term_count; ++i) {
        const model_joint *joint = &model->joints[c->joints[i]];
        if (is_known(joint, c->coordinates[i])) {
            sum += c->factors[i] * joint->rates[c->coordinates[i]];
        } else if (open >= 0) {
            return false;
        } else {
            open = i;
        }
    }
    if (open < 0) return false;
    model_joint *joint = &model->joints[c->joints[open]];
    joint->has_rates = joint->rates_of_motions = true;
    joint->rates_known |= 1u << c->coordinates[open];
    joint->rates_coupled |= 1u << c->coordinates[open];
    joint->rates[c->coordinates[open]] = -sum / c->factors[open];
    return true;
}

// What followed from couplings before is found anew: others may have been said since.
static void forget(model_joint *joint)
{
    for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k)
        if ((joint->rates_coupled & (1u << k)) != 0) joint->rates[k] = 0.0;
    joint->rates_known &= ~joint->rates_coupled;
    if (joint->rates_coupled != 0 && joint->rates_known == 0)
        joint->has_rates = joint->rates_of_motions = false;
    joint->rates_coupled = 0;
}

void model_follow_couplings(hn_model *model)
{
    for (int k = 0; k < model->joint_count; ++k) forget(&model->joints[k]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < model->coupling_count; ++i)
            changed = follow(model, &model->couplings[i]) || changed;
    }
}

// ---- questions --------------------------------------------------------------------------------------------

int hn_model_coupling_count(const hn_model *model)
{
    return model == NULL ? 0 : model->coupling_count;
}

const char *hn_model_coupling_name(const hn_model *model, int index)
{
    bool known = model != NULL && index >= 0 && index < model->coupling_count;
    return known ? model->couplings[index].name : "";
}

hn_coupling_kind hn_model_coupling_kind(const hn_model *model, int index)
{
    bool known = model != NULL && index >= 0 && index < model->coupling_count;
    return known ? model->couplings[index].kind : HN_COUPLING_RELATION;
}
