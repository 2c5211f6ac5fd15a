// SPDX-License-Identifier: MIT
// A simulation of a model text, and its balance of energy.
#ifndef TESTS_PHYSICS_DRIVEN_RUN_H
#define TESTS_PHYSICS_DRIVEN_RUN_H

#include <holonom/holonom.h>

#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Text of a four-bar linkage in the x-y plane; the last joint closes it.
#define FOUR_BAR_BODIES \
    "  crank:   {shape: {cylinder: {radius: 0.02}}, between: [[0, 0, 0], [0, 0.5, 0]], " \
    "density: 2700}\n" \
    "  coupler: {shape: {cylinder: {radius: 0.02}}, between: [[0, 0.5, 0], [1.2, 0.9, 0]], " \
    "density: 2700}\n" \
    "  rocker:  {shape: {cylinder: {radius: 0.02}}, between: [[1.2, 0.9, 0], [1, 0, 0]], " \
    "density: 2700}\n"
#define FOUR_BAR_OPEN_JOINTS \
    "  j1: {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: z}}\n" \
    "  j2: {revolute: {bodies: [crank, coupler], at: [0, 0.5, 0], axis: z}}\n" \
    "  j3: {revolute: {bodies: [coupler, rocker], at: [1.2, 0.9, 0], axis: z}}\n"
#define FOUR_BAR_JOINTS \
    FOUR_BAR_OPEN_JOINTS \
    "  j4: {revolute: {bodies: [ground, rocker], at: [1, 0, 0], axis: z}}\n"

typedef struct driven_run {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} driven_run;

static inline driven_run begin_run(const char *text, hn_scheme scheme, hn_reduction reduction, double step)
{
    driven_run r = {.context = hn_context_create(NULL)};
    CHECK_OK(r.context, hn_model_parse(r.context, text, strlen(text), "model", &r.model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = reduction;
    def.step_size = step;
    def.ledger = false;
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
    return r;
}

static inline void end_run(driven_run *r)
{
    hn_simulation_destroy(r->simulation);
    hn_model_destroy(r->model);
    hn_context_destroy(r->context);
}

static inline hn_drive_state drive_of(const driven_run *r, int index)
{
    hn_drive_state state;
    CHECK_OK(r->context, hn_simulation_drive(r->simulation, index, &state));
    return state;
}

// Energy less work, against that at the start, over the largest energies and works on the way.
static inline double balance_error(driven_run *r, int steps, int every)
{
    double start = 0.0, worst = 0.0, scale = 0.0;
    for (int i = 0; i <= steps; i += every) {
        hn_energy e;
        CHECK_OK(r->context, hn_simulation_energy(r->simulation, &e));
        double now = e.kinetic + e.potential - e.external_work;
        if (i == 0) start = now;
        worst = fmax(worst, fabs(now - start));
        scale = fmax(scale, e.kinetic + fabs(e.potential) + fabs(e.external_work));
        if (i < steps) CHECK_OK(r->context, hn_simulation_step(r->simulation, every));
    }
    return worst / scale;
}

// A model text read, two steps of it: for failing allocations
static inline hn_status attempt_run(hn_context *context, void *user)
{
    const char *text = user;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_status status = hn_model_parse(context, text, strlen(text), "model", &model);
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    def.ledger = false;
    if (status == HN_OK) status = hn_simulation_create(model, &def, &simulation);
    if (status == HN_OK) status = hn_simulation_step(simulation, 2);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

typedef struct snapshot {
    void *bytes;
    size_t size;
} snapshot;

static inline snapshot save_after(driven_run *r, int64_t steps)
{
    CHECK_OK(r->context, hn_simulation_step(r->simulation, steps));
    size_t size = hn_simulation_snapshot_size(r->simulation);
    snapshot s = {malloc(size), size};
    CHECK(s.bytes != NULL);
    CHECK_OK(r->context, hn_simulation_save(r->simulation, s.bytes, s.size));
    return s;
}

// From the snapshot on, which is gone then
static inline void restore_and_step(driven_run *r, snapshot s, int64_t steps)
{
    CHECK_OK(r->context, hn_simulation_restore(r->simulation, s.bytes, s.size));
    CHECK_OK(r->context, hn_simulation_step(r->simulation, steps));
    free(s.bytes);
}

#endif
