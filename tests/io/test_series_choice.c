// SPDX-License-Identifier: MIT
// Result files with some series only: what is asked for is there, the same, and nothing else; also when a run went on.
#include <holonom/holonom.h>

#include "support/check.h"

#include <stdio.h>

#define MODEL HN_SOURCE_DIR "/models/double-wishbone.yaml"

static hn_simulation *start(hn_context *context, hn_model **model)
{
    hn_simulation_def def = hn_simulation_def_default();
    hn_simulation *simulation;
    def.step_size = 1e-3;
    CHECK_OK(context, hn_model_load(context, MODEL, model));
    CHECK_OK(context, hn_simulation_create(*model, &def, &simulation));
    return simulation;
}

static void record(hn_context *context, hn_simulation *simulation, hn_results *results, int count)
{
    for (int i = 0; i < count; ++i) {
        CHECK_OK(context, hn_results_append(results));
        CHECK_OK(context, hn_simulation_step(simulation, 1));
    }
}

static void write_file(const char *path, const char *series, bool stopped)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_simulation *simulation = start(context, &model);
    hn_results_def def = hn_results_def_default();
    hn_results *results;
    def.series = series;
    CHECK_OK(context, hn_results_create_for(model, simulation, path, &def, &results));
    record(context, simulation, results, 7);
    if (stopped) {
        CHECK_OK(context, hn_results_checkpoint(results));
        hn_results_destroy(results);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        simulation = start(context, &model);
        CHECK_OK(context, hn_results_resume(model, simulation, path, NULL, &results));
    }
    record(context, simulation, results, 8);
    CHECK_OK(context, hn_results_finish(results));
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

static double number(hn_context *context, hn_result_file *file, const char *word, int64_t at)
{
    hn_result_column column;
    size_t count;
    double value;
    CHECK_OK(context, hn_result_file_select(file, word, &column, 1, &count));
    CHECK_EQUAL(count, 1);
    CHECK_OK(context, hn_result_file_read_column(file, column, at, 1, 1, &value));
    return value;
}

TEST(series, are_chosen_by_name_and_group_and_stay_so_when_a_run_goes_on)
{
    static const char ALL[] = "series_all.h5", SOME[] = "series_some.h5",
                      GONE_ON[] = "series_on.h5";
    write_file(ALL, NULL, false);
    write_file(SOME, "drives,bodies/position,ledger/energy", false);
    write_file(GONE_ON, "drives,bodies/position,ledger/energy", true);
    hn_context *context = hn_context_create(NULL);
    hn_result_file *all, *files[2];
    CHECK_OK(context, hn_result_file_open(context, ALL, &all));
    CHECK_OK(context, hn_result_file_open(context, SOME, &files[0]));
    CHECK_OK(context, hn_result_file_open(context, GONE_ON, &files[1]));
    for (int f = 0; f < 2; ++f) {
        static const char *const THERE[] = {"time", "drives/bump/effort",
                                            "bodies/upright/position/z", "ledger/energy"};
        static const char *const LEFT_OUT[] = {"bodies/velocity", "joints/coordinates",
                                               "ledger/kinetic", "newton/iterations"};
        for (int i = 0; i < 4; ++i) {
            CHECK(number(context, files[f], THERE[i], 14) == number(context, all, THERE[i], 14));
            CHECK_EQUAL(hn_result_file_find_series(files[f], LEFT_OUT[i]), -1);
            CHECK(hn_result_file_find_series(all, LEFT_OUT[i]) >= 0);
        }
        hn_result_file_close(files[f]);
    }
    hn_result_file_close(all);
    hn_context_destroy(context);
    remove(ALL), remove(SOME), remove(GONE_ON);
}

TEST(series, of_an_unknown_name_are_refused_with_the_nearest)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_simulation *simulation = start(context, &model);
    hn_results_def def = hn_results_def_default();
    hn_results *results;
    def.series = "time,bodies/positon";
    CHECK_STATUS(context,
                 hn_results_create_for(model, simulation, "series_none.h5", &def, &results),
                 HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(context),
                   "unknown series 'bodies/positon' to write (did you mean 'bodies/position'?)");
    def.series = "everything";
    CHECK_STATUS(context,
                 hn_results_create_for(model, simulation, "series_none.h5", &def, &results),
                 HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(context),
                   "expected a series such as bodies/position or a group");
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}
