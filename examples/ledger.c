// SPDX-License-Identifier: MIT
// Prints the ledger of a run and makes it the exit code: ledger MODEL.yaml
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
        fprintf(stderr, "usage: ledger MODEL.yaml\n");
        return 2;
    }
    hn_status status = HN_OK;
    bool kept = true;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;

    TRY(hn_model_load(context, arguments[1], &model));
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = hn_model_run_options(model).step;
    TRY(hn_simulation_create(model, &run, &simulation));
    TRY(hn_simulation_step(simulation, 500));

    hn_ledger ledger;
    TRY(hn_simulation_ledger(simulation, &ledger));
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        const hn_ledger_entry *entry = &ledger.entry[i];
        const char *verdict = !entry->conserved ? "not promised"
                              : entry->kept     ? "kept"
                                                : "NOT KEPT";
        printf("%-18s %9.1e  %-12s %s\n", hn_promise_name((hn_promise)i), entry->error, verdict,
               entry->note);
        kept = kept && entry->kept;
    }
    hn_statistics statistics = hn_simulation_statistics(simulation);
    printf("%.2f Newton iterations a step\n",
           (double)statistics.newton_iteration_count / (double)statistics.step_count);

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK && kept ? 0 : 1;
}
