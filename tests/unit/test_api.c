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

/// Numbers that a call fills, with guards behind them.
typedef struct guarded {
    double *data;
    size_t count;
} guarded;

enum { GUARDS = 16 };
static const double GUARD = 1.2345e300;

static guarded guarded_make(size_t count)
{
    guarded g = {calloc(count + GUARDS, sizeof(double)), count};
    for (size_t i = 0; i < count + GUARDS; ++i) g.data[i] = GUARD;
    return g;
}

/// All numbers were written, and nothing behind them.
static void guarded_check(guarded *g)
{
    for (size_t i = 0; i < g->count; ++i) CHECK(g->data[i] != GUARD);
    for (size_t i = g->count; i < g->count + GUARDS; ++i) CHECK(g->data[i] == GUARD);
    free(g->data);
}

// Every array of numbers that a caller hands in, with the size that the library told beforehand.
static void fill_arrays(const hn_model *model, hn_simulation *simulation, bool settable,
                        hn_context *context)
{
    hn_structure structure = hn_simulation_structure(simulation);
    size_t bodies = (size_t)structure.body_count;
    guarded q = guarded_make((size_t)structure.coordinate_count);
    guarded lambda = guarded_make((size_t)structure.constraint_count);
    CHECK_OK(context, hn_simulation_coordinates(simulation, q.data, (int)q.count));
    CHECK_OK(context, hn_simulation_multipliers(simulation, lambda.data, (int)lambda.count));
    guarded_check(&q);
    guarded_check(&lambda);
    guarded p = guarded_make((size_t)structure.coordinate_count);
    guarded projected = guarded_make((size_t)structure.coordinate_count);
    guarded reduced = guarded_make((size_t)structure.tree_degrees_of_freedom);
    const hn_legendre legendre = {p.data, projected.data, reduced.data};
    CHECK_OK(context, hn_simulation_legendre(simulation, &legendre));
    guarded_check(&p);
    guarded_check(&projected);
    guarded_check(&reduced);
    guarded linear = guarded_make(3 * bodies), angular = guarded_make(3 * bodies);
    CHECK_OK(context,
             hn_simulation_accelerations(simulation, linear.data, angular.data, (int)bodies));
    guarded_check(&linear);
    guarded_check(&angular);
    guarded norms = guarded_make((size_t)hn_simulation_newton_history_count(simulation));
    CHECK(norms.count > 0);
    CHECK_EQUAL(hn_simulation_newton_history(simulation, norms.data, (int)(norms.count + GUARDS)),
                (int)norms.count);
    guarded_check(&norms);
    guarded start = guarded_make(hn_model_field_width(model, "joints/coordinates"));
    guarded rates = guarded_make(start.count);
    for (size_t i = 0; i < start.count; ++i) start.data[i] = rates.data[i] = 0.0;
    hn_view view;
    CHECK_OK(context, hn_simulation_view(simulation, "joints/coordinates", &view));
    CHECK_EQUAL(view.shape[0], start.count);
    if (settable)
        CHECK_OK(context,
                 hn_simulation_set_joints(simulation, start.data, rates.data, (int)start.count));
    guarded_check(&start);
    guarded_check(&rates);
}

TEST(api, sizes_of_all_arrays_can_be_asked)
{
    static const char *const MODELS[] = {"six-body-linkage", "chain-revolute", "free-tree"};
    hn_context *context = hn_context_create(NULL);
    for (int i = 0; i < 3; ++i) {
        char path[400];
        snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, MODELS[i]);
        hn_model *model = NULL;
        CHECK_OK(context, hn_model_load(context, path, &model));
        hn_simulation *simulation = simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
        hn_structure structure = hn_simulation_structure(simulation);
        if (i == 0) { // five hinges are left when one of the linkage is cut
            CHECK_EQUAL(structure.degrees_of_freedom, 1);
            CHECK_EQUAL(structure.tree_degrees_of_freedom, 5);
        }
        fill_arrays(model, simulation, i == 1, context); // a tree of hinges can be set
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
    }
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

// Ask for everything that there is to ask.
static void ask(hn_context *context, hn_simulation *simulation)
{
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_constraint_state constraints;
    hn_body_state body;
    hn_joint_state joint;
    hn_reaction_verdict verdict;
    hn_redundancy redundancy;
    hn_ledger ledger;
    double condition;
    hn_structure structure = hn_simulation_structure(simulation);
    double *numbers = calloc((size_t)structure.coordinate_count, sizeof(double));
    double *lambda = calloc((size_t)structure.constraint_count, sizeof(double));
    const hn_legendre legendre = {.projected = numbers};
    CHECK_OK(context, hn_simulation_energy(simulation, &energy));
    CHECK_OK(context, hn_simulation_momentum(simulation, &linear, &angular));
    CHECK_OK(context, hn_simulation_constraints(simulation, &constraints));
    CHECK_OK(context, hn_simulation_redundancy(simulation, &redundancy, NULL, 0));
    CHECK_OK(context, hn_simulation_coordinates(simulation, numbers, structure.coordinate_count));
    CHECK_OK(context, hn_simulation_multipliers(simulation, lambda, structure.constraint_count));
    CHECK_OK(context, hn_simulation_legendre(simulation, &legendre));
    CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
    for (int i = 0; i < structure.body_count; ++i)
        CHECK_OK(context,
                 hn_simulation_body_state(simulation, hn_simulation_body(simulation, i), &body));
    for (int i = 0; i < structure.joint_count; ++i) {
        hn_joint_id id = hn_simulation_joint(simulation, i);
        CHECK_OK(context, hn_simulation_joint_state(simulation, id, &joint));
        CHECK_OK(context, hn_simulation_reaction_verdict(simulation, id, &verdict));
    }
    if (!hn_scheme_has_own_solver(hn_simulation_scheme(simulation)))
        CHECK_OK(context, hn_simulation_condition(simulation, &condition));
    free(numbers);
    free(lambda);
}

// Every number of every field is the same to the last bit.
static void check_same(hn_context *context, hn_simulation *one, hn_simulation *other)
{
    for (int i = 0; i < hn_field_count(); ++i) {
        hn_view views[2];
        CHECK_OK(context, hn_simulation_view(one, hn_field_at(i).name, &views[0]));
        CHECK_OK(context, hn_simulation_view(other, hn_field_at(i).name, &views[1]));
        size_t count = 1;
        for (int k = 0; k < views[0].rank; ++k) count *= views[0].shape[k];
        bool same = count == 0 || memcmp(views[0].data, views[1].data, count * sizeof(double)) == 0;
        if (!same)
            print_error("%s: %s\n", hn_scheme_name(hn_simulation_scheme(one)), hn_field_at(i).name);
        CHECK(same);
    }
}

// Two simulations, one of which is asked for everything between its steps: they end with the same bits in all fields.
TEST(api, getters_change_nothing)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        hn_simulation *silent = simulate(context, model, (hn_scheme)scheme, 1e-3);
        hn_simulation *asked = simulate(context, model, (hn_scheme)scheme, 1e-3);
        for (int i = 0; i < 3; ++i) {
            hn_statistics before = hn_simulation_statistics(asked);
            ask(context, asked);
            hn_statistics after = hn_simulation_statistics(asked);
            CHECK_EQUAL(after.newton_iteration_count, before.newton_iteration_count);
            CHECK_EQUAL(after.last_iteration_count, before.last_iteration_count);
            CHECK_EQUAL(after.step_count, before.step_count);
            CHECK_OK(context, hn_simulation_step(asked, 1));
            CHECK_OK(context, hn_simulation_step(silent, 1));
        }
        check_same(context, silent, asked);
        hn_simulation_destroy(silent);
        hn_simulation_destroy(asked);
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// A word of the public table of schemes, which once was a comparison of their numbers.
TEST(api, schemes_with_their_own_solver_do_not_hear_of_reductions)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, LINKAGE, &model));
    int own = 0;
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        double q[HN_REDUCTION_COUNT][6 * 12] = {{0.0}};
        for (int r = 0; r < HN_REDUCTION_COUNT; ++r) {
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = (hn_scheme)scheme;
            def.reduction = (hn_reduction)r;
            def.step_size = 1e-3;
            hn_simulation *simulation = NULL;
            CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
            CHECK_OK(context, hn_simulation_step(simulation, 10));
            int count = hn_simulation_structure(simulation).coordinate_count;
            CHECK((size_t)count * sizeof(double) <= sizeof q[r]);
            CHECK_OK(context, hn_simulation_coordinates(simulation, q[r], count));
            hn_simulation_destroy(simulation);
        }
        // solvers of reductions round differently
        bool same = memcmp(q[0], q[1], sizeof q[0]) == 0 && memcmp(q[1], q[2], sizeof q[0]) == 0;
        CHECK_EQUAL(hn_scheme_has_own_solver((hn_scheme)scheme), same);
        own += same;
    }
    CHECK_EQUAL(own, 4); // convected, both of ggl, projected-rk
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
