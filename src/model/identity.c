// SPDX-License-Identifier: MIT
// A number that changes with anything in a model that a simulation depends on: for snapshots and result files.
#include "base/hash.h"
#include "model/joint_kinds.h"
#include "model/model.h"

#include <math.h>

static uint64_t hash_vector(uint64_t hash, hn_vec3 x)
{
    const double components[3] = {x.x, x.y, x.z};
    return hash_doubles(hash, components, 3);
}

static uint64_t hash_matrix(uint64_t hash, const hn_mat3 *x)
{
    return hash_doubles(hash, x->m[0], 9);
}

static uint64_t hash_body(uint64_t hash, const model_body *b)
{
    hash = hash_string(hash, b->name);
    hash = hash_integer(hash, b->kind);
    hash = hash_doubles(hash, &b->mass, 1);
    hash = hash_matrix(hash, &b->inertia);
    hash = hash_vector(hash, b->center_of_mass);
    hash = hash_vector(hash, b->position);
    hash = hash_matrix(hash, &b->orientation);
    hash = hash_vector(hash, b->plane_normal);
    hash = hash_integer(hash, b->has_velocity + 2 * b->has_angular_velocity);
    if (b->has_velocity) hash = hash_vector(hash, b->velocity);
    if (b->has_angular_velocity) hash = hash_vector(hash, b->angular_velocity);
    return hash;
}

// Poses do not tell whole turns of angles. (Where there are none, it is the identity without them.)
static uint64_t hash_turns(uint64_t hash, const model_joint *j)
{
    const double TURN = 6.283185307179586;
    for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k) {
        double turns = nearbyint(model_start_turn(j, k) / TURN);
        const char *unit = joint_kind_facts_of(j->kind)->coordinates[k].unit;
        if (turns != 0.0 && unit != NULL && unit[0] == 'r')
            hash = hash_doubles(hash_integer(hash, k), &turns, 1);
    }
    return hash;
}

static uint64_t hash_joint(uint64_t hash, const model_joint *j)
{
    hash = hash_string(hash, j->name);
    hash = hash_integer(hash, j->kind);
    hash = hash_integer(hash, j->body_a);
    hash = hash_integer(hash, j->body_b);
    hash = hash_vector(hash, j->point_a);
    hash = hash_vector(hash, j->point_b);
    hash = hash_matrix(hash, &j->frame_a);
    hash = hash_matrix(hash, &j->frame_b);
    hash = hash_doubles(hash, &j->length, 1);
    hash = hash_doubles(hash, &j->lead, 1);
    hash = hash_turns(hash, j);
    hash = hash_integer(hash, j->has_rates);
    return j->has_rates ? hash_doubles(hash, j->rates, HN_JOINT_COORDINATES_MAX) : hash;
}

static uint64_t hash_profile(uint64_t hash, const hn_profile *p)
{
    const double times[3] = {p->start, p->peak, p->end};
    hash = hash_integer(hash, p->kind);
    if (p->kind == HN_PROFILE_PULSE || p->kind == HN_PROFILE_STEP)
        hash = hash_doubles(hash, times, 3);
    if (p->kind == HN_PROFILE_EXPRESSION) hash = hash_string(hash, p->expression);
    hash = hash_integer(hash, p->count);
    hash = hash_doubles(hash, p->times, (size_t)p->count);
    return hash_doubles(hash, p->factors, (size_t)p->count);
}

static uint64_t hash_load(uint64_t hash, const model_load *l)
{
    const double numbers[3] = {l->stiffness, l->damping, l->rest};
    hash = hash_string(hash, l->name);
    hash = hash_integer(hash, l->kind);
    hash = hash_integer(hash, l->body_a);
    hash = hash_integer(hash, l->body_b);
    hash = hash_integer(hash, l->joint);
    hash = hash_integer(hash, l->body_fixed);
    hash = hash_vector(hash, l->vector);
    hash = hash_vector(hash, l->point_a);
    hash = hash_vector(hash, l->point_b);
    hash = hash_doubles(hash, numbers, 3);
    if (l->kind == LOAD_BUSHING) {
        hash = hash_matrix(hash, &l->frame_a);
        hash = hash_matrix(hash, &l->frame_b);
        hash = hash_doubles(hash, l->stiffnesses, 6);
        hash = hash_doubles(hash, l->dampings, 6);
    }
    return hash_profile(hash, &l->profile);
}

static uint64_t hash_beam(uint64_t hash, const model_beam *b)
{
    hash = hash_string(hash, b->name);
    hash = hash_integer(hash, b->first_body);
    hash = hash_integer(hash, b->element_count);
    hash = hash_integer(hash, b->order);
    hash = hash_integer(hash, (int)b->element);
    hash = hash_doubles(hash, b->lengths, (size_t)b->element_count);
    hash = hash_doubles(hash, b->section.stiffness[0], 36);
    hash = hash_doubles(hash, &b->section.mass, 1);
    hash = hash_doubles(hash, b->section.inertia, 2);
    return hash_doubles(hash, &b->damping, 1);
}

static uint64_t hash_drive(uint64_t hash, const model_drive *d)
{
    const hn_drive_def *x = &d->def;
    const double numbers[] = {x->scale,    x->proportional, x->derivative, x->integral, x->limit,
                              x->stall,    x->no_load,      x->stiffness,  x->damping,  x->rest,
                              x->armature, x->lower,        x->upper};
    const double others[] = {(double)x->rigid, x->restitution,  x->friction, x->coefficient,
                             x->radius,        x->static_ratio, x->stribeck, x->latch};
    hash = hash_string(hash, d->name);
    hash = hash_integer(hash, x->kind);
    hash = hash_integer(hash, d->joint);
    hash = hash_integer(hash, x->coordinate);
    hash = hash_doubles(hash, numbers, sizeof numbers / sizeof numbers[0]);
    // kinds that were there before have the identity they had
    bool later = x->kind == HN_DRIVE_FRICTION || x->kind == HN_DRIVE_LATCH || x->rigid;
    if (later) hash = hash_doubles(hash, others, sizeof others / sizeof others[0]);
    if (d->of_path) hash = hash_vector(hash_integer(hash, d->path_row), d->path_axis);
    hash = hash_profile(hash, &x->function);
    hash = hash_profile(hash, &x->spring_table);
    if (x->law != NULL) hash = hash_integer(hash, 1); // what it does nobody knows
    return hash_profile(hash, &x->damper_table);
}

static uint64_t hash_coupling(uint64_t hash, const model_coupling *c)
{
    hash = hash_string(hash, c->name);
    hash = hash_integer(hash, c->kind);
    hash = hash_integer(hash, c->term_count);
    for (int i = 0; i < c->term_count; ++i) {
        hash = hash_integer(hash, c->joints[i]);
        hash = hash_integer(hash, c->coordinates[i]);
    }
    return hash_doubles(hash, c->factors, (size_t)c->term_count);
}

static uint64_t hash_output(uint64_t hash, const model_output *o)
{
    hash = hash_string(hash, o->name);
    hash = hash_integer(hash, o->def.kind);
    hash = hash_integer(hash, o->body_a);
    hash = hash_integer(hash, o->body_b);
    hash = hash_vector(hash, o->def.point_a);
    hash = hash_vector(hash, o->def.point_b);
    hash = hash_vector(hash, o->def.axis);
    hash = hash_integer(hash, o->joint);
    hash = hash_integer(hash, o->def.frame);
    hash = hash_integer(hash, o->def.coordinate);
    hash = hash_integer(hash, o->def.drive);
    return o->text == NULL ? hash : hash_string(hash, o->text);
}

uint64_t model_identity(const hn_model *model)
{
    uint64_t hash = hash_vector(HASH_START, model->gravity);
    hash = hash_integer(hash, model->starts_at_equilibrium);
    hash = hash_integer(hash, model->body_count);
    for (int i = 0; i < model->body_count; ++i) hash = hash_body(hash, &model->bodies[i]);
    hash = hash_integer(hash, model->joint_count);
    for (int i = 0; i < model->joint_count; ++i) hash = hash_joint(hash, &model->joints[i]);
    hash = hash_integer(hash, model->load_count);
    for (int i = 0; i < model->load_count; ++i) hash = hash_load(hash, &model->loads[i]);
    hash = hash_integer(hash, model->beam_count);
    for (int i = 0; i < model->beam_count; ++i) hash = hash_beam(hash, &model->beams[i]);
    // a model without drives has the identity it had before there were any
    if (model->drive_count > 0) hash = hash_integer(hash, model->drive_count);
    for (int i = 0; i < model->drive_count; ++i) hash = hash_drive(hash, &model->drives[i]);
    for (int i = 0; i < model->coupling_count; ++i)
        hash = hash_coupling(hash, &model->couplings[i]);
    for (int i = 0; i < model->output_count; ++i) hash = hash_output(hash, &model->outputs[i]);
    return hash;
}
