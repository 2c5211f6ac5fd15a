// SPDX-License-Identifier: MIT
// Rank decisions by pivots.
#include "linalg/row_rank.h"

#include <math.h>

void row_rank_decide(row_rank *rank, int node, int first, int n, const double *scale, double *block)
{
    bool done[ROW_RANK_MAX] = {false};
    for (int count = 0; count < n; ++count) {
        int best = -1;
        double size = -1.0;
        for (int i = 0; i < n; ++i) {
            double ratio = block[i * n + i] / scale[i];
            if (!done[i] && ratio > size) size = ratio, best = i;
        }
        if (best < 0 || size < rank->tolerance) break;
        if (size < rank->smallest_kept) rank->smallest_kept = size, rank->smallest_node = node;
        done[best] = true;
        for (int i = 0; i < n; ++i) {
            double factor = block[i * n + best] / block[best * n + best];
            if (done[i] || factor == 0.0) continue;
            for (int j = 0; j < n; ++j) block[i * n + j] -= factor * block[best * n + j];
        }
    }
    for (int i = 0; i < n; ++i) {
        rank->dropped[first + i] = !done[i];
        double ratio = fabs(block[i * n + i]) / scale[i];
        if (!done[i] && ratio >= rank->largest_dropped)
            rank->largest_dropped = ratio, rank->largest_dropped_node = node;
    }
}
