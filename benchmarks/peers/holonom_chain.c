// SPDX-License-Identifier: MIT
// The chain in Holonom, read from the text that `holonom generate chain` writes.
//
// Integrators: the schemes by name ("energy-momentum", "variational"), with the reduced equations.
#define _POSIX_C_SOURCE 200809L

#include "peers/chain.h"
#include "../cli/generated_model.h"

#include <holonom/holonom.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

static hn_status create_model(hn_context *context, int count, hn_model **model)
{
    generated_model chain = generated_model_default(GENERATED_CHAIN);
    chain.count = count;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) return HN_OUT_OF_MEMORY;
    generated_model_write(&chain, stream);
    fclose(stream);
    hn_status status = hn_model_parse(context, text, length, "chain", model);
    free(text);
    return status;
}

static hn_status run(hn_context *context, const chain_task *task, hn_scheme scheme,
                     chain_report *report, char *note, size_t note_size)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    double *angles = malloc((size_t)task->count * sizeof *angles);
    if (angles == NULL) return HN_OUT_OF_MEMORY;
    TRY(create_model(context, task->count, &model));
    for (int repeat = 0; repeat < task->repeats; ++repeat) {
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = scheme;
        def.step_size = task->step;
        def.ledger = false; // a measuring instrument, no part of the step
        TRY(hn_simulation_create(model, &def, &simulation));
        long total = lround(task->end / task->step), steps = 0;
        const int batch = chain_batch(task->count);
        double start = chain_clock(), seconds = 0.0;
        while (steps < total && seconds < task->budget) {
            for (int i = 0; i < batch && steps < total; ++i, ++steps)
                TRY(hn_simulation_step(simulation, 1));
            seconds = chain_clock() - start;
        }
        for (int k = 0; k < task->count; ++k) {
            hn_joint_state state;
            TRY(hn_simulation_joint_state(simulation, hn_model_joint(model, k), &state));
            angles[k] = state.coordinates[0];
        }
        // energy of the scheme's own velocities, which are a little off the constraints' tangent, unlike joint rates
        hn_energy energy;
        TRY(hn_simulation_energy(simulation, &energy));
        chain_report_add(report, task, repeat, seconds, steps, hn_simulation_time(simulation),
                         angles, (chain_energy){energy.kinetic, energy.potential});
        hn_statistics statistics = hn_simulation_statistics(simulation);
        snprintf(note, note_size, "%.2f Newton iterations per step, %lld halved",
                 (double)statistics.newton_iteration_count / (double)steps,
                 (long long)statistics.halved_step_count);
        hn_simulation_destroy(simulation);
        simulation = NULL;
    }
done:
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    free(angles);
    return status;
}

int main(int argc, char **argv)
{
    chain_task task;
    chain_report report = {0};
    hn_scheme scheme;
    if (!chain_read_task(argc, argv, &task) || !hn_scheme_from_name(task.integrator, &scheme))
        return 2;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    char note[128] = "";
    hn_status status = run(context, &task, scheme, &report, note, sizeof note);
    if (status == HN_OK) chain_report_print(&report, &task, "Holonom", hn_version(), note);
    else fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
