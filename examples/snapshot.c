// SPDX-License-Identifier: MIT
// Saves a simulation, goes on, returns to the saved state and goes on again: the same bits.
#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) {
        fprintf(stderr, "usage: snapshot MODEL.yaml\n");
        return 2;
    }
    hn_status status = HN_OK;
    bool same = false;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    void *snapshot = NULL;
    double *first = NULL, *second = NULL;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;

    TRY(hn_model_load(context, arguments[1], &model));
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = hn_model_run_options(model).step;
    TRY(hn_simulation_create(model, &run, &simulation));
    TRY(hn_simulation_step(simulation, 100));

    int count = hn_simulation_structure(simulation).coordinate_count;
    size_t size = hn_simulation_snapshot_size(simulation);
    snapshot = malloc(size);
    first = malloc((size_t)count * sizeof *first);
    second = malloc((size_t)count * sizeof *second);
    if (snapshot == NULL || first == NULL || second == NULL) goto done;

    TRY(hn_simulation_save(simulation, snapshot, size));
    TRY(hn_simulation_step(simulation, 100));
    TRY(hn_simulation_coordinates(simulation, first, count));

    TRY(hn_simulation_restore(simulation, snapshot, size));
    TRY(hn_simulation_step(simulation, 100));
    TRY(hn_simulation_coordinates(simulation, second, count));

    same = memcmp(first, second, (size_t)count * sizeof *first) == 0;
    printf("%d coordinates at %.3f s: %s\n", count, hn_simulation_time(simulation),
           same ? "the same bits" : "they differ");

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    free(snapshot);
    free(first);
    free(second);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK && same ? 0 : 1;
}
