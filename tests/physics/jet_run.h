// SPDX-License-Identifier: MIT
// A model under `projected-rk`, stepped through the scheme's own solver, with its statistics at hand.
#ifndef PHYSICS_JET_RUN_H
#define PHYSICS_JET_RUN_H

#include "schemes/projected_rk_solver.h"

#include "support/check.h"

#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct jet_run {
    hn_context *context;
    hn_system *system;
    scheme_solver *solver;
    scheme_state state;
    double *next_q, *next_v, *delta, *multipliers;
    double time, work;
    bool (*stopped)(void *user); ///< as in scheme_step
    void *stopped_user;
} jet_run;

static inline hn_simulation_def jet_def(double tolerance)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = tolerance;
    return def;
}

static inline double *jet_doubles(size_t count)
{
    double *x = calloc(count + 1, sizeof(double));
    CHECK(x != NULL);
    return x;
}

/// From a model that the caller built: the run owns the context and destroys the model.
static inline hn_status jet_start(hn_context *context, hn_model *model, const hn_simulation_def *def, jet_run *r)
{
    *r = (jet_run){.context = context};
    CHECK_OK(context, system_create(context, model, 1e-3, false, &r->system));
    hn_model_destroy(model);
    hn_status status = scheme_projected_rk.solver_create(r->system, def, &r->solver);
    if (status == HN_OK) r->solver->watching = true;
    size_t n = (size_t)r->system->body_count, count = POSE_SIZE * n;
    r->state.q = jet_doubles(count);
    r->state.impetus = jet_doubles(count);
    r->state.memory = jet_doubles(count * (size_t)scheme_projected_rk.memory_count);
    r->next_q = jet_doubles(count), r->next_v = jet_doubles(count), r->delta = jet_doubles(count);
    r->multipliers = jet_doubles((size_t)r->system->constraint_count);
    memcpy(r->state.q, r->system->q_start, count * sizeof(double));
    for (size_t i = 0; i < n; ++i)
        twist_to_velocity(r->state.q + POSE_SIZE * i, r->system->twist_start + TWIST_SIZE * i,
                          r->next_v + POSE_SIZE * i);
    scheme_projected_rk.start(r->system, r->next_v, NULL, &r->state);
    return status;
}

static inline hn_status jet_try(const char *name, const hn_simulation_def *def, jet_run *r)
{
    char path[1024];
    hn_model *model = NULL;
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    CHECK_OK(context, hn_model_load(context, path, &model));
    return jet_start(context, model, def, r);
}

static inline jet_run jet_model(const char *name, const hn_simulation_def *def)
{
    jet_run r;
    hn_status status = jet_try(name, def, &r);
    CHECK_OK(r.context, status);
    return r;
}

static inline void jet_end(jet_run *r)
{
    scheme_projected_rk.solver_destroy(r->solver);
    system_destroy(r->system);
    hn_context_destroy(r->context);
    free(r->state.q), free(r->state.impetus), free(r->state.memory);
    free(r->next_q), free(r->next_v), free(r->delta), free(r->multipliers);
    *r = (jet_run){0};
}

static inline hn_status jet_try_step(jet_run *r, double h)
{
    newton_options options = {.residual_tolerance = 1e-16, .increment_tolerance = 1e-10, .iterations_max = 20};
    newton_report report = {0};
    scheme_step step = {.state = &r->state,
                        .step_size = h,
                        .time = r->time,
                        .q = r->next_q,
                        .delta = r->delta,
                        .impetus = r->next_v,
                        .memory = r->state.memory,
                        .multipliers = r->multipliers,
                        .stopped = r->stopped,
                        .stopped_user = r->stopped_user};
    hn_status status = scheme_projected_rk.solver_step(r->solver, &step, &options, &report);
    if (status != HN_OK) return status;
    size_t bytes = POSE_SIZE * (size_t)r->system->body_count * sizeof(double);
    memcpy(r->state.q, r->next_q, bytes);
    memcpy(r->state.impetus, r->next_v, bytes);
    r->state.first = false;
    if (step.multipliers_later)
        CHECK_EQUAL(scheme_projected_rk.solver_multipliers(r->solver, &r->state, step.multiplier_time, r->multipliers),
                    HN_OK);
    r->time += h;
    r->work += step.work;
    return HN_OK;
}

static inline void jet_step(jet_run *r, double h)
{
    CHECK_EQUAL(jet_try_step(r, h), HN_OK);
}

static inline double jet_seconds(void)
{
    return (double)clock() / (double)CLOCKS_PER_SEC;
}

/// Pose of a body in model order.
static inline const double *jet_pose(const jet_run *r, int index)
{
    return r->state.q + POSE_SIZE * (size_t)r->system->tree_place[index];
}

#endif
