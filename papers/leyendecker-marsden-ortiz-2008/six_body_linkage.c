// SPDX-License-Identifier: MIT
// Prints Table 1 of Leyendecker, Marsden and Ortiz 2008, the six-body linkage, beside what is found here.
//
// The paper solves one equation in the angle of the linkage, whose 1 x 1 matrix has condition 1. Here the reduced
// unknowns are the five joint coordinates of the tree, with one projected balance and four independent closure
// conditions: no relation between the angles has to be known. Condition numbers are given for all six bodies (the
// paper's count of unknowns) and for five, the first one being the ground; with the paper's rows the smallest and the
// largest over the choices of the redundant row. CPU times are ratios from one run.
#include "../betsch-leyendecker-2006/linkage.h"
#include "../betsch-leyendecker-2006/linkage_as_printed.h"
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

static hn_status print_conditions(hn_context *context, const table_one_column *column, int row)
{
    const double h = TABLE_ONE_STEP[row];
    double engine[2];
    for (int k = 0; k < 2; ++k)
        TRY(linkage_condition(context, k == 0, column->scheme, column->reduction, h, &engine[k]));
    printf("  %-19s  %8.0e  %8.0e", row == 0 ? column->title : "", h, column->condition[row]);
    for (int first = 0; first < 2; ++first) {
        if (column_is_constrained(column)) {
            printed_result printed;
            TRY(printed_run_to(context, first, column->scheme, LINKAGE_GRAVITY, h, TABLE_FIVE_TIME,
                               &printed));
            printf("   %8.2e %8.2e", printed.smallest, printed.largest);
        } else {
            printf("   %17s", "");
        }
    }
    printf("   %9.2e %9.2e\n", engine[0], engine[1]);
    return HN_OK;
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = HN_OK;
    double seconds[TABLE_ONE_COLUMNS], fastest = HUGE_VAL;
    hn_structure structure[TABLE_ONE_COLUMNS];
    for (int c = 0; c < TABLE_ONE_COLUMNS && status == HN_OK; ++c) {
        status = measure(context, &TABLE_ONE[c], &seconds[c], &structure[c]);
        if (status == HN_OK) fastest = fmin(fastest, seconds[c]);
    }
    if (status == HN_OK) {
        printf("Table 1, six-body linkage, t = %g\n\n", TABLE_FIVE_TIME);
        printf("  %-19s  %-15s   %-15s\n", "", "unknowns", "CPU time, ratios");
        printf("  %-19s  %7s %7s   %7s %7s\n", "", "paper", "engine", "paper", "engine");
    }
    for (int c = 0; c < TABLE_ONE_COLUMNS && status == HN_OK; ++c) {
        int dropped = column_is_constrained(&TABLE_ONE[c])
                          ? structure[c].constraint_count - structure[c].constraint_rank
                          : 0;
        printf("  %-19s  %7d %7d   %7.0f %7.1f\n", TABLE_ONE[c].title, TABLE_ONE[c].unknowns,
               structure[c].unknown_count - dropped, TABLE_ONE[c].cpu_time, seconds[c] / fastest);
    }
    if (status == HN_OK) {
        printf("\n  %-39s   %-37s   engine\n", "condition numbers", "rows as printed, from and to");
        printf("  %-19s  %8s  %8s   %-17s   %-17s   %9s %9s\n", "", "step", "paper", "6 bodies",
               "5 bodies", "6 bodies", "5 bodies");
    }
    for (int k = 0; k < TABLE_ONE_COLUMNS * TABLE_ONE_ROWS && status == HN_OK; ++k)
        status = print_conditions(context, &TABLE_ONE[k / TABLE_ONE_ROWS], k % TABLE_ONE_ROWS);
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
