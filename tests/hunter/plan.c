// SPDX-License-Identifier: MIT
// Builds a plan as a model, and takes single mechanisms out of it.
#include "hunter/plan.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

int plan_node_count(const plan_body *b)
{
    return b->beam ? b->row.element_count * b->row.order + 1 : 1;
}

bool plan_is_angle(hn_joint_kind kind, int coordinate)
{
    switch (kind) {
    case HN_JOINT_REVOLUTE:
    case HN_JOINT_UNIVERSAL:
    case HN_JOINT_SPHERICAL: return true;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_SCREW:
    case HN_JOINT_SLOT: return coordinate >= 1;
    case HN_JOINT_PLANAR: return coordinate == 2;
    case HN_JOINT_FREE: return coordinate >= 3;
    default: return false;
    }
}

bool plan_is_point(const plan *p, plan_place at)
{
    return at.body != PLAN_GROUND && !p->bodies[at.body].beam &&
           p->bodies[at.body].def.kind != HN_BODY_RIGID;
}

int plan_joint_mechanism(const plan *p, int joint)
{
    const plan_joint *j = &p->joints[joint];
    return p->bodies[j->a.body == PLAN_GROUND ? j->b.body : j->a.body].mechanism;
}

bool plan_has_holds(const plan *p)
{
    for (int k = 0; k < p->drive_count; ++k) {
        hn_drive_kind kind = p->drives[k].def.kind;
        if (kind == HN_DRIVE_MOTION || kind == HN_DRIVE_FRICTION || kind == HN_DRIVE_LATCH ||
            kind == HN_DRIVE_STOP)
            return true;
    }
    return p->rotation_count > 0;
}

bool plan_has_dampers(const plan *p)
{
    for (int i = 0; i < p->body_count; ++i)
        if (p->bodies[i].beam && p->bodies[i].row.damping > 0.0) return true;
    for (int k = 0; k < p->spring_count; ++k)
        if (p->springs[k].def.damping > 0.0) return true;
    for (int k = 0; k < p->torsion_count; ++k)
        if (p->torsions[k].def.damping > 0.0) return true;
    for (int k = 0; k < p->bushing_count; ++k)
        for (int i = 0; i < 6; ++i)
            if (p->bushings[k].def.damping[i] > 0.0) return true;
    for (int k = 0; k < p->drive_count; ++k)
        if (p->drives[k].def.damping > 0.0 || p->drives[k].damper.count > 0) return true;
    return false;
}

bool plan_has_beams(const plan *p)
{
    for (int i = 0; i < p->body_count; ++i)
        if (p->bodies[i].beam) return true;
    return false;
}

// ---- functions ----------------------------------------------------------------------------------------

static void write_form(const plan_function *f, char *text)
{
    double w = f->rate, t = f->time;
    switch (f->form) {
    case FORM_SINE: snprintf(text, PLAN_TEXT, "sin(%.17g*t)", w); return;
    case FORM_COSINE: snprintf(text, PLAN_TEXT, "1-cos(%.17g*t)", w); return;
    case FORM_HUMP: snprintf(text, PLAN_TEXT, "%.17g*t*exp(-(%.17g*t)^2)", w, w); return;
    case FORM_CORNERS: snprintf(text, PLAN_TEXT, "abs(sin(%.17g*t))", w); return;
    case FORM_RAMP: snprintf(text, PLAN_TEXT, "max(0, %.17g*(t-%.17g))", w, t); return;
    case FORM_CHIRP: snprintf(text, PLAN_TEXT, "sin(%.17g*t+0.3*sin(%.17g*t))", w, 2.0 * w); return;
    case FORM_SWITCH:
        snprintf(text, PLAN_TEXT, "t < %.17g ? 0 : sin(%.17g*(t-%.17g))", t, w, t);
        return;
    default: snprintf(text, PLAN_TEXT, "%.17g*t", w); return;
    }
}

hn_profile plan_profile(const plan_function *f, char *text)
{
    if (f->kind == HN_PROFILE_EXPRESSION) write_form(f, text);
    return (hn_profile){.kind = f->kind,
                        .start = f->start,
                        .peak = f->peak,
                        .end = f->end,
                        .times = f->times,
                        .factors = f->factors,
                        .count = f->count,
                        .expression = f->kind == HN_PROFILE_EXPRESSION ? text : NULL};
}

// ---- building -------------------------------------------------------------------------------------------

typedef struct builder {
    const plan *p;
    hn_model *model;
    plan_ids *ids;
    char name[PLAN_NAME];
} builder;

// "a_body3", or with another letter: names sort as before, as the body whose name sorts first carries the rows of
// cylindrical joints and screws (docs/theory/joints.md); the other choice differs by the error of a step.
static const char *name_of(builder *b, const char *kind, int index)
{
    snprintf(b->name, PLAN_NAME, "%c_%s%d", b->p->prefix, kind, index);
    return b->name;
}

static int in_order(const builder *b, int count, int k)
{
    return b->p->reversed ? count - 1 - k : k;
}

static hn_body_id body_at(const builder *b, plan_place at)
{
    if (at.body == PLAN_GROUND) return hn_ground();
    if (!b->p->bodies[at.body].beam) return b->ids->bodies[at.body];
    return hn_model_beam_node(b->model, b->ids->beams[at.body], at.node);
}

static hn_status add_body(builder *b, int i)
{
    const plan_body *one = &b->p->bodies[i];
    hn_body_id *id = &b->ids->bodies[i];
    if (one->beam) {
        hn_beam_def def = one->row;
        def.name = name_of(b, "beam", i);
        def.points = one->points;
        TRY(hn_model_add_beam(b->model, &def, &b->ids->beams[i]));
        *id = hn_model_beam_node(b->model, b->ids->beams[i], 0);
        if (one->tip_mass > 0.0)
            TRY(hn_model_add_beam_mass(b->model, b->ids->beams[i], plan_node_count(one) - 1,
                                       one->tip_mass));
        return HN_OK;
    }
    hn_body_def def = one->def;
    def.name = name_of(b, "body", i);
    TRY(hn_model_add_body(b->model, &def, id));
    if (!one->moves) return HN_OK;
    TRY(hn_model_set_velocity(b->model, *id, one->velocity));
    return def.kind == HN_BODY_RIGID
               ? hn_model_set_angular_velocity(b->model, *id, one->angular_velocity)
               : HN_OK;
}

static hn_status add_joint(builder *b, int i)
{
    const plan_joint *one = &b->p->joints[i];
    hn_joint_def def = one->def;
    def.name = name_of(b, "joint", i);
    def.body_a = body_at(b, one->a);
    def.body_b = body_at(b, one->b);
    return hn_model_add_joint(b->model, &def, &b->ids->joints[i]);
}

static hn_status set_rates(builder *b)
{
    for (int i = 0; i < b->p->joint_count; ++i) {
        const plan_joint *one = &b->p->joints[i];
        if (one->rate_count > 0)
            TRY(hn_model_set_joint_rates(b->model, b->ids->joints[i], one->rates, one->rate_count));
    }
    return HN_OK;
}

static hn_status add_loads(builder *b)
{
    const plan *p = b->p;
    char text[PLAN_TEXT];
    hn_load_id id;
    for (int k = 0; k < p->load_count; ++k) {
        int i = in_order(b, p->load_count, k);
        hn_load_def def = p->loads[i].def;
        def.name = name_of(b, "load", i);
        def.body = body_at(b, p->loads[i].body);
        def.profile = plan_profile(&p->loads[i].function, text);
        TRY(hn_model_add_load(b->model, &def, &id));
    }
    for (int k = 0; k < p->line_load_count; ++k) {
        int i = in_order(b, p->line_load_count, k);
        hn_beam_load_def def = p->line_loads[i].def;
        def.name = name_of(b, "line", i);
        def.beam = b->ids->beams[p->line_loads[i].beam];
        def.profile = plan_profile(&p->line_loads[i].function, text);
        TRY(hn_model_add_beam_load(b->model, &def));
    }
    return HN_OK;
}

static hn_status add_springs(builder *b)
{
    const plan *p = b->p;
    hn_load_id id;
    for (int k = 0; k < p->spring_count; ++k) {
        int i = in_order(b, p->spring_count, k);
        hn_spring_def def = p->springs[i].def;
        def.name = name_of(b, "spring", i);
        def.body_a = body_at(b, p->springs[i].a);
        def.body_b = body_at(b, p->springs[i].b);
        TRY(hn_model_add_spring(b->model, &def, &id));
    }
    for (int k = 0; k < p->torsion_count; ++k) {
        int i = in_order(b, p->torsion_count, k);
        hn_torsion_spring_def def = p->torsions[i].def;
        def.name = name_of(b, "torsion", i);
        def.joint = b->ids->joints[p->torsions[i].joint];
        TRY(hn_model_add_torsion_spring(b->model, &def, &id));
    }
    for (int k = 0; k < p->bushing_count; ++k) {
        int i = in_order(b, p->bushing_count, k);
        hn_bushing_def def = p->bushings[i].def;
        def.name = name_of(b, "bushing", i);
        def.body_a = body_at(b, p->bushings[i].a);
        def.body_b = body_at(b, p->bushings[i].b);
        TRY(hn_model_add_bushing(b->model, &def, &id));
    }
    return HN_OK;
}

static hn_status add_drives(builder *b)
{
    const plan *p = b->p;
    char text[3][PLAN_TEXT];
    hn_drive_id id;
    for (int k = 0; k < p->drive_count; ++k) {
        int i = in_order(b, p->drive_count, k);
        hn_drive_def def = p->drives[i].def;
        def.name = name_of(b, "drive", i);
        def.joint = b->ids->joints[p->drives[i].joint];
        def.function = plan_profile(&p->drives[i].function, text[0]);
        def.spring_table = plan_profile(&p->drives[i].spring, text[1]);
        def.damper_table = plan_profile(&p->drives[i].damper, text[2]);
        TRY(hn_model_add_drive(b->model, &def, &id));
        b->ids->drives[i] = (int)id.index1 - 1;
    }
    for (int k = 0; k < p->rotation_count; ++k) {
        int i = in_order(b, p->rotation_count, k);
        hn_rotation_def def = p->rotations[i].def;
        def.name = name_of(b, "turn", i);
        def.joint = b->ids->joints[p->rotations[i].joint];
        for (int m = 0; m < 3; ++m)
            def.angles[m] = plan_profile(&p->rotations[i].functions[m], text[m]);
        TRY(hn_model_add_rotation(b->model, &def, &id));
        b->ids->rotations[i] = (int)id.index1 - 1;
    }
    return HN_OK;
}

static hn_status add_couplings(builder *b)
{
    const plan *p = b->p;
    for (int k = 0; k < p->coupling_count; ++k) {
        int i = in_order(b, p->coupling_count, k);
        hn_coupling_def def = p->couplings[i].def;
        hn_coupling_id id;
        def.name = name_of(b, "coupling", i);
        for (int m = 0; m < def.term_count; ++m)
            def.joints[m] = b->ids->joints[p->couplings[i].joints[m]];
        TRY(hn_model_add_coupling(b->model, &def, &id));
        b->ids->couplings[i] = (int)id.index1 - 1;
    }
    return HN_OK;
}

static hn_status add_all(builder *b)
{
    const plan *p = b->p;
    for (int k = 0; k < p->body_count; ++k) TRY(add_body(b, in_order(b, p->body_count, k)));
    for (int k = 0; k < p->joint_count; ++k) TRY(add_joint(b, in_order(b, p->joint_count, k)));
    TRY(set_rates(b));
    TRY(add_loads(b));
    TRY(add_springs(b));
    TRY(add_drives(b));
    return add_couplings(b);
}

hn_status plan_build(const plan *p, hn_context *context, hn_model **model, plan_ids *ids)
{
    hn_model_def def = hn_model_def_default();
    builder b = {.p = p, .ids = ids};
    *model = NULL;
    memset(ids, 0, sizeof *ids);
    def.gravity = p->gravity;
    TRY(hn_model_create(context, &def, &b.model));
    hn_status status = add_all(&b);
    if (status == HN_OK) *model = b.model;
    else hn_model_destroy(b.model);
    return status;
}

// ---- parts of a plan --------------------------------------------------------------------------------------

static int kept_body(const int *to, plan_place at)
{
    return at.body == PLAN_GROUND ? PLAN_GROUND : to[at.body];
}

static void extract_elements(const plan *p, int mechanism, const int *bodies, const int *joints,
                             plan *out)
{
    for (int k = 0; k < p->load_count; ++k) {
        if (p->bodies[p->loads[k].body.body].mechanism != mechanism) continue;
        out->loads[out->load_count] = p->loads[k];
        out->loads[out->load_count++].body.body = bodies[p->loads[k].body.body];
    }
    for (int k = 0; k < p->line_load_count; ++k) {
        if (p->bodies[p->line_loads[k].beam].mechanism != mechanism) continue;
        out->line_loads[out->line_load_count] = p->line_loads[k];
        out->line_loads[out->line_load_count++].beam = bodies[p->line_loads[k].beam];
    }
    for (int k = 0; k < p->spring_count; ++k) {
        plan_spring one = p->springs[k];
        if (p->bodies[one.b.body].mechanism != mechanism) continue;
        one.a.body = kept_body(bodies, one.a);
        one.b.body = kept_body(bodies, one.b);
        out->springs[out->spring_count++] = one;
    }
    for (int k = 0; k < p->bushing_count; ++k) {
        plan_bushing one = p->bushings[k];
        if (p->bodies[one.b.body].mechanism != mechanism) continue;
        one.a.body = kept_body(bodies, one.a);
        one.b.body = kept_body(bodies, one.b);
        out->bushings[out->bushing_count++] = one;
    }
    for (int k = 0; k < p->torsion_count; ++k) {
        if (joints[p->torsions[k].joint] < 0) continue;
        out->torsions[out->torsion_count] = p->torsions[k];
        out->torsions[out->torsion_count++].joint = joints[p->torsions[k].joint];
    }
    for (int k = 0; k < p->drive_count; ++k) {
        if (joints[p->drives[k].joint] < 0) continue;
        out->drives[out->drive_count] = p->drives[k];
        out->drives[out->drive_count++].joint = joints[p->drives[k].joint];
    }
    for (int k = 0; k < p->rotation_count; ++k) {
        if (joints[p->rotations[k].joint] < 0) continue;
        out->rotations[out->rotation_count] = p->rotations[k];
        out->rotations[out->rotation_count++].joint = joints[p->rotations[k].joint];
    }
    for (int k = 0; k < p->coupling_count; ++k) {
        plan_coupling one = p->couplings[k];
        if (joints[one.joints[0]] < 0) continue;
        for (int m = 0; m < one.def.term_count; ++m) one.joints[m] = joints[one.joints[m]];
        out->couplings[out->coupling_count++] = one;
    }
}

void plan_extract(const plan *p, int mechanism, plan *out)
{
    int bodies[PLAN_BODIES], joints[PLAN_JOINTS];
    memset(out, 0, sizeof *out);
    out->gravity = p->gravity;
    out->prefix = p->prefix;
    out->mechanism_count = 1;
    out->mechanisms[0] = p->mechanisms[mechanism];
    for (int i = 0; i < p->body_count; ++i) {
        bodies[i] = p->bodies[i].mechanism == mechanism ? out->body_count : -1;
        if (bodies[i] < 0) continue;
        out->bodies[out->body_count] = p->bodies[i];
        out->bodies[out->body_count++].mechanism = 0;
    }
    for (int i = 0; i < p->joint_count; ++i) {
        joints[i] = plan_joint_mechanism(p, i) == mechanism ? out->joint_count : -1;
        if (joints[i] < 0) continue;
        plan_joint one = p->joints[i];
        one.a.body = kept_body(bodies, one.a);
        one.b.body = kept_body(bodies, one.b);
        out->joints[out->joint_count++] = one;
    }
    extract_elements(p, mechanism, bodies, joints, out);
}
