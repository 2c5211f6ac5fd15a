// SPDX-License-Identifier: MIT
// Counts what machines are made of, and says it in words.
#include "hunter/features.h"

#include <string.h>

static const char *const OTHER_NAMES[FEATURES - FEATURE_OTHERS] = {"several mechanisms",
                                                                   "loops",
                                                                   "beams",
                                                                   "quadratic beams",
                                                                   "line loads",
                                                                   "point masses",
                                                                   "planar points",
                                                                   "forces",
                                                                   "torques",
                                                                   "springs",
                                                                   "dampers",
                                                                   "torsion springs",
                                                                   "bushings",
                                                                   "rigid stops",
                                                                   "friction by reaction",
                                                                   "armatures",
                                                                   "tables of drives",
                                                                   "led rotations",
                                                                   "drives of places"};

static const char *name_of(int feature)
{
    if (feature < FEATURE_DRIVES) return hn_joint_kind_name((hn_joint_kind)feature);
    if (feature < FEATURE_FUNCTIONS)
        return hn_drive_kind_name((hn_drive_kind)(feature - FEATURE_DRIVES));
    if (feature < FEATURE_COUPLINGS)
        return hn_profile_kind_name((hn_profile_kind)(feature - FEATURE_FUNCTIONS));
    if (feature < FEATURE_OTHERS)
        return hn_coupling_kind_name((hn_coupling_kind)(feature - FEATURE_COUPLINGS));
    return OTHER_NAMES[feature - FEATURE_OTHERS];
}

static void count_bodies(const plan *p, bool *has)
{
    for (int i = 0; i < p->body_count; ++i) {
        const plan_body *b = &p->bodies[i];
        if (b->beam) has[b->row.order == 2 ? FEATURE_QUADRATIC_BEAMS : FEATURE_BEAMS] = true;
        else if (b->def.kind == HN_BODY_POINT_MASS) has[FEATURE_POINTS] = true;
        else if (b->def.kind == HN_BODY_PLANAR_POINT_MASS) has[FEATURE_PLANAR_POINTS] = true;
    }
    for (int i = 0; i < p->joint_count; ++i)
        has[FEATURE_JOINTS + (int)p->joints[i].def.kind] = true;
    has[FEATURE_MECHANISMS] = p->mechanism_count > 1;
    for (int k = 0; k < p->mechanism_count; ++k) has[FEATURE_LOOPS] |= p->mechanisms[k].looped;
}

static void count_loads(const plan *p, bool *has)
{
    for (int k = 0; k < p->load_count; ++k) {
        has[p->loads[k].def.torque ? FEATURE_TORQUES : FEATURE_FORCES] = true;
        has[FEATURE_FUNCTIONS + (int)p->loads[k].function.kind] = true;
    }
    for (int k = 0; k < p->line_load_count; ++k)
        has[FEATURE_FUNCTIONS + (int)p->line_loads[k].function.kind] = true;
    has[FEATURE_LINE_LOADS] = p->line_load_count > 0;
    has[FEATURE_TORSION_SPRINGS] = p->torsion_count > 0;
    has[FEATURE_BUSHINGS] = p->bushing_count > 0;
    for (int k = 0; k < p->spring_count; ++k) {
        has[FEATURE_SPRINGS] |= p->springs[k].def.stiffness > 0.0;
        has[FEATURE_DAMPERS] |= p->springs[k].def.damping > 0.0;
    }
}

static void count_drives(const plan *p, bool *has)
{
    for (int k = 0; k < p->drive_count; ++k) {
        const plan_drive *x = &p->drives[k];
        hn_drive_kind kind = x->def.kind;
        has[FEATURE_DRIVES + (int)kind] = true;
        has[FEATURE_RIGID_STOPS] |= kind == HN_DRIVE_STOP && x->def.rigid;
        has[FEATURE_COEFFICIENTS] |= kind == HN_DRIVE_FRICTION && x->def.coefficient > 0.0;
        has[FEATURE_ARMATURES] |= x->def.armature > 0.0;
        has[FEATURE_TABLES] |= x->spring.count > 0 || x->damper.count > 0;
        has[FEATURE_PLACES] |= p->joints[x->joint].def.kind == HN_JOINT_FREE;
        if (kind == HN_DRIVE_EFFORT || kind == HN_DRIVE_SERVO || kind == HN_DRIVE_MOTOR ||
            kind == HN_DRIVE_MOTION)
            has[FEATURE_FUNCTIONS + (int)x->function.kind] = true;
    }
    has[FEATURE_ROTATIONS] = p->rotation_count > 0;
    for (int k = 0; k < p->coupling_count; ++k)
        has[FEATURE_COUPLINGS + (int)p->couplings[k].def.kind] = true;
    if (has[FEATURE_JOINTS + HN_JOINT_SCREW]) has[FEATURE_COUPLINGS + HN_COUPLING_SCREW] = true;
}

void features_count(const plan *p, int64_t counts[FEATURES])
{
    bool has[FEATURES] = {false};
    count_bodies(p, has);
    count_loads(p, has);
    count_drives(p, has);
    for (int k = 0; k < FEATURES; ++k) counts[k] += has[k];
}

void features_print(const int64_t counts[FEATURES], FILE *out)
{
    static const int GROUPS[] = {FEATURE_JOINTS,    FEATURE_DRIVES, FEATURE_FUNCTIONS,
                                 FEATURE_COUPLINGS, FEATURE_OTHERS, FEATURES};
    static const char *const TITLES[] = {"joints", "drives", "functions", "couplings", "and"};
    for (int g = 0; g < 5; ++g) {
        fprintf(out, "  %-10s", TITLES[g]);
        for (int k = GROUPS[g]; k < GROUPS[g + 1]; ++k)
            fprintf(out, " %s %lld%s", name_of(k), (long long)counts[k],
                    k + 1 < GROUPS[g + 1] ? "," : "\n");
    }
}

// ---- in words -------------------------------------------------------------------------------------------------

static void describe_place(const plan_place *at, FILE *out)
{
    if (at->body == PLAN_GROUND) fprintf(out, "ground");
    else if (at->node > 0) fprintf(out, "%d[%d]", at->body, at->node);
    else fprintf(out, "%d", at->body);
}

static void describe_function(const plan_function *f, FILE *out)
{
    fprintf(out, " %s", hn_profile_kind_name(f->kind));
    if (f->kind == HN_PROFILE_EXPRESSION) fprintf(out, " form %d", (int)f->form);
}

void features_describe(const plan *p, FILE *out)
{
    fprintf(out, "gravity %.3g %.3g %.3g\n", p->gravity.x, p->gravity.y, p->gravity.z);
    for (int k = 0; k < p->mechanism_count; ++k)
        fprintf(out, "mechanism %d: %.3g m, %.3g kg, %.3g 1/s%s\n", k, p->mechanisms[k].length,
                p->mechanisms[k].mass, p->mechanisms[k].rate,
                p->mechanisms[k].looped ? ", loops" : "");
    for (int i = 0; i < p->body_count; ++i) {
        const plan_body *b = &p->bodies[i];
        fprintf(out, "body %d of %d: %s, mass %.3g, size %.3g\n", i, b->mechanism,
                b->beam ? "beam" : hn_body_kind_name(b->def.kind),
                b->beam ? b->row.section.mass * b->size : b->def.mass, b->size);
    }
    for (int i = 0; i < p->joint_count; ++i) {
        const plan_joint *j = &p->joints[i];
        fprintf(out, "joint %d: %s, ", i, hn_joint_kind_name(j->def.kind));
        describe_place(&j->a, out);
        fprintf(out, " - ");
        describe_place(&j->b, out);
        for (int k = 0; k < j->rate_count; ++k) fprintf(out, " %.3g", j->rates[k]);
        fprintf(out, "\n");
    }
    for (int k = 0; k < p->load_count; ++k) {
        fprintf(out, "%s on %d", p->loads[k].def.torque ? "torque" : "force",
                p->loads[k].body.body);
        describe_function(&p->loads[k].function, out);
        fprintf(out, "\n");
    }
    for (int k = 0; k < p->spring_count; ++k)
        fprintf(out, "spring %d - %d: %.3g, damping %.3g\n", p->springs[k].a.body,
                p->springs[k].b.body, p->springs[k].def.stiffness, p->springs[k].def.damping);
    for (int k = 0; k < p->torsion_count; ++k)
        fprintf(out, "torsion spring on joint %d\n", p->torsions[k].joint);
    for (int k = 0; k < p->bushing_count; ++k)
        fprintf(out, "bushing %d - %d\n", p->bushings[k].a.body, p->bushings[k].b.body);
    for (int k = 0; k < p->line_load_count; ++k)
        fprintf(out, "line load on %d\n", p->line_loads[k].beam);
    for (int k = 0; k < p->drive_count; ++k) {
        const hn_drive_def *f = &p->drives[k].def;
        fprintf(out, "drive %d: %s on joint %d, coordinate %d%s%s", k, hn_drive_kind_name(f->kind),
                p->drives[k].joint, f->coordinate, f->rigid ? ", rigid" : "",
                f->armature > 0.0 ? ", armature" : "");
        describe_function(&p->drives[k].function, out);
        fprintf(out, "\n");
    }
    for (int k = 0; k < p->rotation_count; ++k)
        fprintf(out, "rotation of joint %d\n", p->rotations[k].joint);
    for (int k = 0; k < p->coupling_count; ++k)
        fprintf(out, "%s of %d terms\n", hn_coupling_kind_name(p->couplings[k].def.kind),
                p->couplings[k].def.term_count);
}
