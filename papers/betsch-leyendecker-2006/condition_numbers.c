// SPDX-License-Identifier: MIT
// Prints Tables II, III and IV of Betsch and Leyendecker 2006 beside the condition numbers found here.
//
// The paper's numbers are 2-norm condition numbers of the unscaled iteration matrix of the energy-momentum scheme. It
// does not give the instants at which they were taken; ours are in the headings.
#include <holonom/holonom.h>

#include "tables.h"

#include <math.h>
#include <stdio.h>

static hn_status condition_at(hn_context *context, const char *model_name, hn_reduction reduction,
                              double h, double time, double *condition)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model_name);
    hn_model *model = NULL;
    hn_simulation *sim = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_ENERGY_MOMENTUM;
    def.reduction = reduction;
    def.step_size = h;
    def.ledger = false;
    def.halvings_max = 0; // the matrix of the step as it is, or none
    hn_status status = hn_model_load(context, path, &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &sim);
    if (status == HN_OK) status = hn_simulation_step(sim, llround(time / h));
    if (status == HN_OK) status = hn_simulation_condition(sim, condition);
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    return status;
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = HN_OK;
    for (int t = 0; t < CONDITION_TABLE_COUNT && status == HN_OK; ++t) {
        const condition_table *table = &CONDITION_TABLES[t];
        printf("%s (ours at t = %g)\n", table->title, table->time);
        printf("  %-8s  %-23s  %-23s\n", "", "constrained scheme", "reduced scheme");
        printf("  %8s  %11s %11s  %11s %11s\n", "step", "paper", "ours", "paper", "ours");
        for (int row = 0; row < CONDITION_ROWS && status == HN_OK; ++row) {
            double constrained = 0.0, reduced = 0.0;
            status = condition_at(context, table->model, HN_REDUCTION_MULTIPLIERS,
                                  table->step_size[row], table->time, &constrained);
            if (status == HN_OK)
                status = condition_at(context, table->model, HN_REDUCTION_REDUCED,
                                      table->step_size[row], table->time, &reduced);
            if (status == HN_OK)
                printf("  %8.0e  %11.1e %11.2e  %11.0f %11.1f\n", table->step_size[row],
                       table->constrained[row], constrained, table->reduced[row], reduced);
        }
        printf("\n");
    }
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
