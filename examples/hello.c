// SPDX-License-Identifier: MIT
// Loads a model file, runs it as the file asks, and prints the energy: hello MODEL.yaml
#include <holonom/holonom.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

int main(int argument_count, char **arguments)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context *context = hn_context_create(NULL); // NULL: malloc and free
    if (context == NULL) return 1;

    TRY(hn_model_load(context, argument_count > 1 ? arguments[1] : "model.yaml", &model));

    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 1e-3; // s, unless the file says another
    TRY(hn_simulation_def_from_model(model, &run));
    TRY(hn_simulation_create(model, &run, &simulation));

    for (int i = 0; i < 10; ++i) {
        TRY(hn_simulation_step(simulation, 100));
        hn_energy energy;
        TRY(hn_simulation_energy(simulation, &energy));
        double total = energy.kinetic + energy.potential;
        printf("%8.4f s  %.12f J\n", hn_simulation_time(simulation), total);
    }

done:
    if (status != HN_OK) fprintf(stderr, "%s\n", hn_context_message(context));
    hn_simulation_destroy(simulation); // destroying NULL is fine
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
