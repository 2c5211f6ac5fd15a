// SPDX-License-Identifier: MIT
// A model under one scheme and one reduction, as the physics tests run it.
#ifndef PHYSICS_RUN_H
#define PHYSICS_RUN_H

#include <holonom/holonom.h>

#include "base/rotation.h"
#include "schemes/scheme.h"
#include "simulation/composed.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_COORDINATES_MAX = 288, RUN_CONSTRAINTS_MAX = 256 };

typedef struct run {
    hn_context *context;
    hn_model *model;
    hn_simulation *sim;
    int coordinate_count;
} run;

static const hn_scheme SCHEMES[REDUCTION_SCHEME_COUNT] = {
    HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE, HN_SCHEME_GENERALIZED_ALPHA,
    HN_SCHEME_GGL_ENERGY_MOMENTUM};
static const hn_reduction REDUCTIONS[HN_REDUCTION_COUNT] = {
    HN_REDUCTION_REDUCED, HN_REDUCTION_NULLSPACE, HN_REDUCTION_MULTIPLIERS};

/// A simulation of a model that the caller built; the run then owns context and model.
static inline run run_start(hn_context *context, hn_model *model, hn_scheme scheme,
                            hn_reduction way, double step_size, bool ledger)
{
    run r = {.context = context, .model = model};
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = step_size;
    def.ledger = ledger;
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    r.coordinate_count = hn_simulation_structure(r.sim).coordinate_count;
    CHECK(r.coordinate_count <= RUN_COORDINATES_MAX);
    return r;
}

/// A simulation of models/<name>.yaml; step size 0 takes the one of the file.
static inline run run_model(const char *name, hn_scheme scheme, hn_reduction way, double step_size,
                            bool ledger)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK(context != NULL);
    CHECK_OK(context, hn_model_load(context, path, &model));
    if (step_size <= 0.0) step_size = hn_model_run_options(model).step;
    return run_start(context, model, scheme, way, step_size, ledger);
}

static inline void run_end(run *r)
{
    hn_simulation_destroy(r->sim);
    hn_model_destroy(r->model);
    hn_context_destroy(r->context);
    *r = (run){0};
}

static inline void run_step(const run *r, int64_t count)
{
    CHECK_OK(r->context, hn_simulation_step(r->sim, count));
}

static inline void run_coordinates(const run *r, double *q)
{
    CHECK_OK(r->context, hn_simulation_coordinates(r->sim, q, r->coordinate_count));
}

static inline double largest_difference(const double *a, const double *b, int count)
{
    double worst = 0.0;
    for (int k = 0; k < count; ++k) {
        if (!isfinite(a[k]) || !isfinite(b[k])) return HUGE_VAL;
        worst = fmax(worst, fabs(a[k] - b[k]));
    }
    return worst;
}

/// Largest difference in any coordinate between two runs of one model.
static inline double run_difference(const run *a, const run *b)
{
    double qa[RUN_COORDINATES_MAX], qb[RUN_COORDINATES_MAX];
    CHECK_EQUAL(a->coordinate_count, b->coordinate_count);
    run_coordinates(a, qa);
    run_coordinates(b, qb);
    return largest_difference(qa, qb, a->coordinate_count);
}

static inline hn_body_state run_body(const run *r, hn_body_id body)
{
    hn_body_state state;
    CHECK_OK(r->context, hn_simulation_body_state(r->sim, body, &state));
    return state;
}

/// Centre of mass and directors of bodies `first` and on, in model order; a planar point mass has two numbers.
static inline int pose_of_run(const run *r, int first, double *q)
{
    int count = 0;
    for (int i = first; i < hn_model_body_count(r->model); ++i) {
        hn_body_state s = run_body(r, hn_model_body(r->model, i));
        vec3_store(s.position, q + count);
        if (hn_model_body_kind(r->model, hn_model_body(r->model, i)) != HN_BODY_RIGID) {
            count += 2;
            continue;
        }
        for (int k = 0; k < 3; ++k)
            vec3_store(mat3_column(&s.orientation, k), q + count + 3 + 3 * k);
        count += POSE_SIZE;
    }
    return count;
}

/// Start a simulation afresh from poses `q` (12 per body, tree order) and velocities `v` (likewise).
static inline void run_restart(const run *r, const double *q, const double *v)
{
    hn_simulation *s = r->sim;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    if (q != s->state.q) memcpy(s->state.q, q, count * sizeof(double));
    // the first iterate of `variational` is taken from here
    for (int i = 0; i < s->system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        velocity_to_twist(s->state.q + at, v + at, s->system->twist_start + TWIST_SIZE * (size_t)i);
    }
    // accelerations matter to schemes that keep them; a start without is good enough here
    double *none = calloc(count, sizeof(double));
    s->scheme->start(s->system, v, none, &s->state);
    free(none);
    composed_forget(s);
    s->steps[0].valid = s->steps[1].valid = false;
    s->momenta_valid = s->wrench_valid = false;
}

#endif
