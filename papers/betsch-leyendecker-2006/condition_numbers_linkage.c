// SPDX-License-Identifier: MIT
// Prints Table V of Betsch and Leyendecker 2006, the six-body linkage, beside the condition numbers found here.
//
// Constrained: the 2-norm condition of the unscaled matrix in (q, lambda) without one redundant constraint, the one
// with the largest share in the dependence; other choices give up to 1e13 at the middle step. Reduced: five joint
// increments; rows are the projected balance (one) and four independent closure conditions.
#include "linkage.h"

#include <stdio.h>

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = HN_OK;
    printf("Table V, six-body linkage, energy-momentum, t = %g\n", TABLE_FIVE_TIME);
    printf("  %-8s  %-35s  %-35s\n", "", "constrained scheme", "reduced scheme");
    printf("  %8s  %11s %11s %11s  %11s %11s %11s\n", "step", "paper", "6 bodies", "5 bodies",
           "paper", "6 bodies", "5 bodies");
    for (int row = 0; row < TABLE_FIVE_ROWS && status == HN_OK; ++row) {
        double found[2][2], h = TABLE_FIVE_STEP[row]; // reduction, bodies
        for (int k = 0; k < 4 && status == HN_OK; ++k)
            status = linkage_condition(context, k % 2 == 0, HN_SCHEME_ENERGY_MOMENTUM,
                                       k / 2 == 0 ? HN_REDUCTION_MULTIPLIERS : HN_REDUCTION_REDUCED,
                                       h, &found[k / 2][k % 2]);
        if (status == HN_OK)
            printf("  %8.0e  %11.1e %11.2e %11.2e  %11.0f %11.1f %11.1f\n", h,
                   TABLE_FIVE_CONSTRAINED[row], found[0][0], found[0][1], TABLE_FIVE_REDUCED[row],
                   found[1][0], found[1][1]);
    }
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
