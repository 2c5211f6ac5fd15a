// SPDX-License-Identifier: MIT
// Runs a model, writes its result file, reads it, and writes it as comma separated values: results_file MODEL.yaml
#include <holonom/holonom.h>

#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) {
        fprintf(stderr, "usage: results_file MODEL.yaml\n");
        return 2;
    }
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_result_file *file = NULL;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;

    TRY(hn_model_load(context, arguments[1], &model));
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = hn_model_run_options(model).step;
    TRY(hn_simulation_create(model, &run, &simulation));

    // until it is finished the file is results_file.h5.part, readable all the time
    TRY(hn_results_create(model, simulation, "results_file.h5", &results));
    TRY(hn_results_append(results)); // the start
    for (int i = 0; i < 100; ++i) {
        TRY(hn_simulation_step(simulation, 1));
        TRY(hn_results_append(results));
    }
    TRY(hn_results_finish(results)); // writes the ledger and gives the file its name

    TRY(hn_results_export_csv(context, "results_file.h5", "results_file.csv", NULL, 0));
    printf("wrote results_file.h5 and results_file.csv\n");

    TRY(hn_result_file_open(context, "results_file.h5", &file));
    const hn_result_info *info = hn_result_file_info(file);
    printf("%s, %s, h = %g s, %lld records\n", info->model_name, info->scheme, info->step_size,
           (long long)info->record_count);

    hn_result_column momentum[3]; // a word may select several columns: here x, y, z
    size_t count = 0;
    TRY(hn_result_file_select(file, "ledger/angular_momentum", momentum, 3, &count));
    double values[11]; // every tenth record
    TRY(hn_result_file_read_column(file, momentum[2], 0, 11, 10, values));
    printf("%s: %.9f %s at the start, %.9f at the end\n",
           hn_result_file_column_name(file, momentum[2]), values[0],
           hn_result_file_column_unit(file, momentum[2]), values[10]);

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_result_file_close(file);
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
