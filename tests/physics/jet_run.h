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

/// What accepted internal steps and reported states keep of constraints and of the energy they should have.
typedef struct jet_watch {
    scheme_solver *solver;
    double energy_start;   ///< J, T + U
    double work;           ///< J, of loads in all internal steps
    double position_worst; ///< largest |g|, over the length where it is one
    double velocity_worst; ///< largest |dg y_1|, likewise, over max(1, |w|)
    double energy_worst;   ///< J, largest |T + U - W_ext - (T + U at the start)|
    double energy_last;    ///< J, the same now, with sign
} jet_watch;

typedef struct jet_run {
    hn_context *context;
    hn_system *system;
    scheme_solver *solver;
    jet_watch *watch;
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

static inline double jet_sum(const jet_space *jet, const double *per_mechanism)
{
    double sum = 0.0;
    for (int m = 0; m < jet->mechanism_count; ++m) sum += per_mechanism[m];
    return sum;
}

/// T + U at the solver's current position, of all mechanisms.
static inline double jet_energy(scheme_solver *s, const double *w)
{
    jet_energies(&s->jet, w, s->found, s->scale);
    return jet_sum(&s->jet, s->found);
}

/// The solver's current point, with velocities w and `work` of loads until then.
static inline void jet_note_point(jet_watch *t, const double *w, double work)
{
    scheme_solver *s = t->solver;
    jet_space *jet = &s->jet;
    double size = 1.0, energy = jet_energy(s, w);
    jet_evaluate_rows(jet);
    jet_apply_rows(jet, w, s->rate);
    for (int i = 0; i < jet->w_count; ++i) size = fmax(size, fabs(w[i]));
    for (int k = 0; k < jet->joint_count; ++k)
        for (int r = 0; r < jet->joints[k].row_count; ++r) {
            double over = 1.0 / jet_row_unit(&jet->joints[k], r);
            int row = jet->joints[k].first + r;
            t->position_worst = fmax(t->position_worst, over * fabs(jet->g[row]));
            t->velocity_worst = fmax(t->velocity_worst, over * fabs(s->rate[row]) / size);
        }
    t->energy_last = energy - work - t->energy_start;
    t->energy_worst = fmax(t->energy_worst, fabs(t->energy_last));
}

static inline void jet_note_end(void *user, double time, double step_size, const double *q, const double *v)
{
    (void)time, (void)step_size, (void)q, (void)v;
    jet_watch *t = user;
    t->work += jet_sum(&t->solver->jet, t->solver->last.work);
    jet_note_point(t, t->solver->w, t->work);
}

/// Watch a run from its next step on; its solver has one observer.
static inline void jet_start_watch(jet_run *r)
{
    scheme_solver *s = r->solver;
    r->watch = calloc(1, sizeof *r->watch);
    CHECK(r->watch != NULL);
    r->watch->solver = s;
    s->observer = jet_note_end, s->observer_user = r->watch;
    jet_from_state(&s->jet, r->state.q, r->state.impetus, s->a, s->scratch);
    jet_set_position(&s->jet, s->a);
    r->watch->energy_start = jet_energy(s, s->scratch);
}

/// From a model that the caller built: the run owns the context and destroys the model.
static inline hn_status jet_start(hn_context *context, hn_model *model, const hn_simulation_def *def, jet_run *r)
{
    *r = (jet_run){.context = context};
    CHECK_OK(context, system_create(context, model, 1e-3, false, &r->system));
    hn_model_destroy(model);
    hn_status status = scheme_projected_rk.solver_create(r->system, def, &r->solver);
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
    free(r->next_q), free(r->next_v), free(r->delta), free(r->multipliers), free(r->watch);
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
    scheme_solver *s = r->solver;
    double work_before = r->watch != NULL ? r->watch->work : 0.0;
    hn_status status = scheme_projected_rk.solver_step(s, &step, &options, &report);
    if (status != HN_OK && r->watch != NULL) r->watch->work = work_before; // the step is made again, or never
    if (status != HN_OK) return status;
    if (r->watch != NULL && r->time + h < s->last.end) {
        jet_set_position(&s->jet, s->y_next);
        jet_note_point(r->watch, s->w_next,
                       r->watch->work - jet_sum(&s->jet, s->last.work) + jet_sum(&s->jet, s->work_done));
    }
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
