// SPDX-License-Identifier: MIT
// Runs at orders above two, and their errors against reference solutions.
#ifndef PHYSICS_COMPOSED_RUN_H
#define PHYSICS_COMPOSED_RUN_H

#include "physics/run.h"
#include "support/reference.h"

enum { COMPOSED_SCHEMES = 3, ORDERS = 3 };
static const hn_scheme COMPOSED[COMPOSED_SCHEMES] = {HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                                     HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE};
static const int ORDER[ORDERS] = {4, 6, 8};

/// A definition with the rest by default; a step of 0 is the model's.
static inline hn_simulation_def composed_def(hn_scheme scheme, int order, double step, bool ledger)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.order = order;
    def.step_size = step;
    def.ledger = ledger;
    return def;
}

/// A simulation of models/<name>.yaml, or of a model text with a first line "holonom: 1".
static inline run composed_run(const char *model, const hn_simulation_def *given)
{
    run r = {.context = hn_context_create(NULL)};
    hn_simulation_def def = *given;
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model);
    if (strchr(model, '\n') != NULL)
        CHECK_OK(r.context, hn_model_parse(r.context, model, strlen(model), "model", &r.model));
    else CHECK_OK(r.context, hn_model_load(r.context, path, &r.model));
    if (def.step_size == 0.0) def.step_size = hn_model_run_options(r.model).step;
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.sim));
    r.coordinate_count = hn_simulation_structure(r.sim).coordinate_count;
    return r;
}

#endif
