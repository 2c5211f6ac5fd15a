// SPDX-License-Identifier: MIT
// What callers of the public API stumbled over once: snapshots of others, sizes that could not be asked, a log that
// nobody wrote to, getters that change what they look at, messages without an error.
#include <holonom/holonom.h>

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char LINKAGE[] = HN_SOURCE_DIR "/models/six-body-linkage.yaml";

static hn_simulation *simulate(hn_context *context, const hn_model *model, hn_scheme scheme,
                               double step)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = step;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    CHECK_OK(context, hn_simulation_step(simulation, 20));
    return simulation;
}

TEST(api, snapshots_of_another_scheme_or_step_are_refused)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    hn_simulation *own = simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    hn_simulation *others[] = {simulate(context, model, HN_SCHEME_VARIATIONAL, 1e-3),
                               simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM, 5e-3)};
    for (int i = 0; i < 2; ++i) {
        size_t size = hn_simulation_snapshot_size(others[i]);
        void *snapshot = calloc(1, size);
        CHECK_OK(context, hn_simulation_save(others[i], snapshot, size));
        double time = hn_simulation_time(own);
        CHECK_STATUS(context, hn_simulation_restore(own, snapshot, size), HN_INVALID_ARGUMENT);
        CHECK(hn_simulation_time(own) == time);
        free(snapshot);
        hn_simulation_destroy(others[i]);
    }
    hn_simulation_destroy(own);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(api, sizes_of_legendre_arrays_can_be_asked)
{
    enum { GUARDS = 8 };
    const double guard = 1.25;
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    hn_simulation *simulation = simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    hn_structure structure = hn_simulation_structure(simulation);
    CHECK_EQUAL(structure.degrees_of_freedom, 1);
    CHECK_EQUAL(structure.tree_degrees_of_freedom, 5); // five hinges are left when one is cut
    int count = structure.tree_degrees_of_freedom;
    double *reduced = calloc((size_t)(count + GUARDS), sizeof *reduced);
    for (int i = 0; i < count + GUARDS; ++i) reduced[i] = guard;
    CHECK_OK(context, hn_simulation_legendre(simulation, &(hn_legendre){.reduced = reduced}));
    for (int i = 0; i < count; ++i) CHECK(reduced[i] != guard);
    for (int i = count; i < count + GUARDS; ++i) CHECK(reduced[i] == guard);
    free(reduced);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

static void keep_line(const char *line, void *user)
{
    snprintf(user, 200, "%s", line);
}

TEST(api, the_log_is_written_to)
{
    static const char TEXT[] =
        "holonom: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
        "loads:\n  hit: {force: {body: a, vector: [1, 0, 0], pulse: {start: 0, peak: 1e-4, end: "
        "2e-4}}}\n";
    char line[200] = "";
    hn_context *context = hn_context_create(NULL);
    hn_context_set_log(context, keep_line, line);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, TEXT, sizeof TEXT - 1, "log.yaml", &model));
    hn_simulation *simulation = simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM, 0.1);
    CHECK_CONTAINS(line, "load 'hit'");
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(api, getters_change_no_statistics)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    hn_simulation *simulation = simulate(context, model, HN_SCHEME_VARIATIONAL, 1e-3);
    hn_statistics before = hn_simulation_statistics(simulation);
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_constraint_state constraints;
    CHECK_OK(context, hn_simulation_energy(simulation, &energy));
    CHECK_OK(context, hn_simulation_momentum(simulation, &linear, &angular));
    CHECK_OK(context, hn_simulation_constraints(simulation, &constraints));
    hn_statistics after = hn_simulation_statistics(simulation);
    CHECK_EQUAL(after.newton_iteration_count, before.newton_iteration_count);
    CHECK_EQUAL(after.last_iteration_count, before.last_iteration_count);
    CHECK_EQUAL(after.step_count, before.step_count);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(api, results_without_a_ledger_leave_no_message)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    def.ledger = false;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    hn_results *results = NULL;
    CHECK_OK(context, hn_results_create(model, simulation, "test-api-no-ledger.h5", &results));
    CHECK_TEXT(hn_context_message(context), "");
    hn_results_destroy(results);
    remove("test-api-no-ledger.h5.part");
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}
