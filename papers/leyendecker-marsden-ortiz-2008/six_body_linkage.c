// SPDX-License-Identifier: MIT
// Prints Table 1 of Leyendecker, Marsden and Ortiz 2008, the six-body linkage, beside what is found here.
//
// The paper solves one equation in the angle of the linkage, whose 1 x 1 matrix has condition 1. Here the reduced
// unknowns are the five joint coordinates of the tree, with one projected balance and four independent closure
// conditions: no relation between the angles has to be known. Condition numbers of the constrained schemes are given
// for all six bodies (the paper's count of unknowns) and for five, the first one being the ground. CPU times are
// ratios from one run.
#include "../betsch-leyendecker-2006/linkage.h"
#include "table_one.h"

#include <stdio.h>
#include <time.h>

enum { TIMED_STEPS = 2000 };

static hn_status measure(hn_context *context, const table_one_column *column, double *seconds,
                         hn_structure *structure)
{
    hn_model *model = NULL;
    hn_simulation *sim = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = column->scheme;
    def.reduction = column->reduction;
    def.step_size = 1e-3;
    def.ledger = false;
    hn_status status =
        hn_model_load(context, HN_SOURCE_DIR "/models/six-body-linkage.yaml", &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &sim);
    if (status == HN_OK) {
        *structure = hn_simulation_structure(sim);
        clock_t start = clock();
        status = hn_simulation_step(sim, TIMED_STEPS);
        *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    return status;
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = HN_OK;
    double condition[2][TABLE_ONE_COLUMNS][TABLE_ONE_ROWS], seconds[TABLE_ONE_COLUMNS];
    hn_structure structure[TABLE_ONE_COLUMNS];
    for (int c = 0; c < TABLE_ONE_COLUMNS && status == HN_OK; ++c) {
        const table_one_column *column = &TABLE_ONE[c];
        status = measure(context, column, &seconds[c], &structure[c]);
        for (int k = 0; k < 2 * TABLE_ONE_ROWS && status == HN_OK; ++k)
            status = linkage_condition(context, k % 2 == 0, column->scheme, column->reduction,
                                       TABLE_ONE_STEP[k / 2], &condition[k % 2][c][k / 2]);
    }
    if (status == HN_OK) {
        double fastest = seconds[0];
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c) fastest = fmin(fastest, seconds[c]);
        printf("Table 1, six-body linkage, t = %g\n", TABLE_FIVE_TIME);
        printf("  %-18s", "");
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c) printf("  %-28s", TABLE_ONE[c].title);
        printf("\n  %-18s", "");
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c)
            printf("  %8s %9s %9s", "paper", "6 bodies", "5 bodies");
        printf("\n  %-18s", "unknowns");
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c) {
            int dropped = structure[c].constraint_count - structure[c].constraint_rank;
            printf("  %8d %9d %9s", TABLE_ONE[c].unknowns,
                   structure[c].unknown_count -
                       (column_is_constrained(&TABLE_ONE[c]) ? dropped : 0),
                   "");
        }
        printf("\n  %-18s", "CPU time, ratios");
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c)
            printf("  %8.0f %9.1f %9s", TABLE_ONE[c].cpu_time, seconds[c] / fastest, "");
        for (int row = 0; row < TABLE_ONE_ROWS; ++row) {
            printf("\n  condition, h %5.0e", TABLE_ONE_STEP[row]);
            for (int c = 0; c < TABLE_ONE_COLUMNS; ++c)
                printf("  %8.0e %9.2e %9.2e", TABLE_ONE[c].condition[row], condition[0][c][row],
                       condition[1][c][row]);
        }
        printf("\n");
    } else {
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    }
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
