// SPDX-License-Identifier: MIT
// Prints Table V of Betsch and Leyendecker 2006, the six-body linkage, beside the condition numbers found here.
//
// Constrained: the 2-norm condition of the unscaled matrix in (q, lambda) without one redundant constraint. With the
// rows of the paper six constraints share the largest part in the dependence; the smallest and the largest value over
// them are printed. The engine leaves out the one with the largest part among its own rows; others give up to 1e13 at
// the middle step. Reduced: five joint increments; rows are the projected balance (one) and four independent closure
// conditions.
#include "linkage.h"
#include "linkage_as_printed.h"

#include <stdio.h>

typedef struct printed_case {
    int first;
    double gravity;
} printed_case;

enum { CASES = 3 };

static hn_status print_constrained(hn_context *context, double h, double paper)
{
    const printed_case cases[CASES] = {
        {0, LINKAGE_GRAVITY}, {0, -LINKAGE_GRAVITY}, {1, LINKAGE_GRAVITY}};
    printed_result printed[CASES];
    double engine[2];
    for (int k = 0; k < CASES; ++k)
        TRY(printed_run_to(context, cases[k].first, HN_SCHEME_ENERGY_MOMENTUM, cases[k].gravity, h,
                           TABLE_FIVE_TIME, &printed[k]));
    for (int k = 0; k < 2; ++k)
        TRY(linkage_condition(context, k == 0, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_MULTIPLIERS,
                              h, &engine[k]));
    printf("  %8.0e  %8.1e", h, paper);
    for (int k = 0; k < CASES; ++k)
        printf("   %8.2e %8.2e", printed[k].smallest, printed[k].largest);
    printf("   %9.2e %9.2e\n", engine[0], engine[1]);
    return HN_OK;
}

static hn_status print_reduced(hn_context *context, double h, double paper)
{
    double engine[2];
    for (int k = 0; k < 2; ++k)
        TRY(linkage_condition(context, k == 0, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, h,
                              &engine[k]));
    printf("  %8.0e  %8.0f   %9.1f %9.1f\n", h, paper, engine[0], engine[1]);
    return HN_OK;
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = HN_OK;
    printf("Table V, six-body linkage, energy-momentum, t = %g\n\n", TABLE_FIVE_TIME);
    printf("  %-18s   %-57s%s\n", "constrained scheme", "rows as printed, from and to", "engine");
    printf("  %8s  %8s   %-17s   %-17s   %-17s   %9s %9s\n", "step", "paper", "6 bodies",
           "6, gravity upward", "5 bodies", "6 bodies", "5 bodies");
    for (int row = 0; row < TABLE_FIVE_ROWS && status == HN_OK; ++row)
        status = print_constrained(context, TABLE_FIVE_STEP[row], TABLE_FIVE_CONSTRAINED[row]);
    printf("\n  %-18s   engine\n", "reduced scheme");
    printf("  %8s  %8s   %9s %9s\n", "step", "paper", "6 bodies", "5 bodies");
    for (int row = 0; row < TABLE_FIVE_ROWS && status == HN_OK; ++row)
        status = print_reduced(context, TABLE_FIVE_STEP[row], TABLE_FIVE_REDUCED[row]);
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
