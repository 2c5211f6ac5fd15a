// SPDX-License-Identifier: MIT
// A model under one of the two GGL schemes, stepped through the scheme's own solver so that gamma and both levels show.
#ifndef PHYSICS_GGL_RUN_H
#define PHYSICS_GGL_RUN_H

#include <holonom/holonom.h>

#include "schemes/ggl.h"

#include "physics/symplectic_form.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ggl_run {
    hn_context *context;
    hn_model *model;
    hn_system *system;
    const scheme_type *type;
    scheme_solver *solver;
    scheme_state state;
    double *q, *delta, *impetus, *multipliers; // of the last step
    double h;
    int64_t step;
    double work;
    newton_report newton;
} ggl_run;

static const newton_options GGL_OPTIONS = {
    .residual_tolerance = 1e-16, .increment_tolerance = 1e-10, .iterations_max = 20};

static inline double *ggl_numbers(size_t count)
{
    double *numbers = calloc(count + 1, sizeof(double));
    CHECK(numbers != NULL);
    return numbers;
}

/// Start velocities of the model.
static inline void ggl_start_velocities(const ggl_run *r, double *v)
{
    const hn_system *system = r->system;
    for (int i = 0; i < system->body_count; ++i) {
        double *own = v + POSE_SIZE * i;
        twist_to_velocity(system->q_start + POSE_SIZE * i, system->twist_start + TWIST_SIZE * i, own);
        if (system->bodies[i].kind != HN_BODY_RIGID) memset(own + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
}

/// Put the run at (q, v), 12 per body.
static inline void ggl_place(ggl_run *r, const double *q, const double *v)
{
    memcpy(r->state.q, q, POSE_SIZE * (size_t)r->system->body_count * sizeof(double));
    r->type->start(r->system, v, NULL, &r->state);
    r->step = 0;
    r->work = 0.0;
}

/// The run owns context and model from here on.
static inline ggl_run ggl_run_start(hn_context *context, hn_model *model, const scheme_type *type, double h)
{
    ggl_run r = {.context = context, .model = model, .type = type, .h = h};
    CHECK_OK(context, system_create(context, model, 1e-3, false, &r.system));
    hn_simulation_def def = hn_simulation_def_default();
    CHECK_OK(context, type->solver_create(r.system, &def, &r.solver));
    size_t count = POSE_SIZE * (size_t)r.system->body_count;
    r.state.q = ggl_numbers(count);
    r.state.impetus = ggl_numbers(count);
    r.q = ggl_numbers(count);
    r.delta = ggl_numbers(count);
    r.impetus = ggl_numbers(count);
    r.multipliers = ggl_numbers((size_t)r.system->constraint_count);
    double *v = ggl_numbers(count);
    ggl_start_velocities(&r, v);
    ggl_place(&r, r.system->q_start, v);
    free(v);
    return r;
}

static inline hn_model *ggl_load(hn_context *context, const char *name)
{
    char path[1024];
    hn_model *model = NULL;
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    CHECK_OK(context, hn_model_load(context, path, &model));
    return model;
}

/// models/<name>.yaml; step size 0 takes the one of the file.
static inline ggl_run ggl_run_model(const char *name, const scheme_type *type, double h)
{
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    hn_model *model = ggl_load(context, name);
    return ggl_run_start(context, model, type, h > 0.0 ? h : hn_model_run_options(model).step);
}

static inline void ggl_run_end(ggl_run *r)
{
    r->type->solver_destroy(r->solver);
    system_destroy(r->system);
    hn_model_destroy(r->model);
    hn_context_destroy(r->context);
    double *const owned[] = {r->state.q, r->state.impetus, r->q, r->delta, r->impetus, r->multipliers};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) free(owned[k]);
    *r = (ggl_run){0};
}

static inline scheme_step ggl_step_of(const ggl_run *r)
{
    return (scheme_step){.state = &r->state,
                         .step_size = r->h,
                         .time = (double)r->step * r->h,
                         .q = r->q,
                         .delta = r->delta,
                         .impetus = r->impetus,
                         .multipliers = r->multipliers};
}

/// One step; the status of the solver.
static inline hn_status ggl_try(ggl_run *r)
{
    scheme_step step = ggl_step_of(r);
    r->newton = (newton_report){0};
    hn_status status = r->type->solver_step(r->solver, &step, &GGL_OPTIONS, &r->newton);
    if (status != HN_OK) return status;
    size_t size = POSE_SIZE * (size_t)r->system->body_count * sizeof(double);
    memcpy(r->state.q, r->q, size);
    memcpy(r->state.impetus, r->impetus, size);
    r->state.first = false;
    r->step++;
    r->work += step.work;
    return HN_OK;
}

static inline void ggl_advance(ggl_run *r, int64_t steps)
{
    for (int64_t n = 0; n < steps; ++n) {
        hn_status status = ggl_try(r);
        if (status != HN_OK)
            print_error("%s, step %lld of %s: %s after %d iterations, residual %g\n", r->type->name,
                        (long long)r->step, r->system->name, hn_status_name(status), r->newton.iterations,
                        r->newton.residual);
        CHECK_EQUAL(status, HN_OK);
    }
}

static inline double ggl_kinetic(const ggl_run *r)
{
    double sum = 0.0;
    for (int i = 0; i < r->system->body_count; ++i)
        for (int k = 0; k < POSE_SIZE; ++k) {
            double p = r->state.impetus[POSE_SIZE * i + k], m = r->system->inertia[4 * i + k / 3];
            if (p != 0.0) sum += 0.5 * p * p / m;
        }
    return sum;
}

/// H = p M^-1 p/2 + V with gravity alone.
static inline double ggl_energy(const ggl_run *r)
{
    double sum = ggl_kinetic(r);
    for (int i = 0; i < r->system->body_count; ++i)
        sum -= r->system->inertia[4 * i] * vec3_dot(r->system->gravity, vec3_load(r->state.q + POSE_SIZE * i));
    for (int k = 0; k < r->system->element_count; ++k) {
        const element *e = &r->system->elements[k];
        const double *a = system_pose(r->state.q, e->a), *b = system_pose(r->state.q, e->b);
        double angle = e->angle >= 0 ? element_angle(e, a, b, r->system->angle_start[e->angle]) : 0.0;
        sum += element_type_of(e->kind)->potential(e, a, b, NULL, angle);
    }
    return sum;
}

static inline hn_vec3 ggl_linear(const ggl_run *r)
{
    hn_vec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < r->system->body_count; ++i) sum = vec3_add(sum, vec3_load(r->state.impetus + POSE_SIZE * i));
    return sum;
}

/// sum q x p over all four vectors of every body, about the world origin.
static inline hn_vec3 ggl_angular(const ggl_run *r)
{
    hn_vec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < POSE_SIZE * r->system->body_count; i += 3)
        sum = vec3_add(sum, vec3_cross(vec3_load(r->state.q + i), vec3_load(r->state.impetus + i)));
    return sum;
}

/// q and p, at most PHASE_MAX numbers each.
static inline void ggl_measure(const ggl_run *r, phase *x)
{
    size_t size = POSE_SIZE * (size_t)r->system->body_count * sizeof(double);
    CHECK(size <= sizeof x->q);
    memcpy(x->q, r->state.q, size);
    memcpy(x->p, r->state.impetus, size);
}

#endif
