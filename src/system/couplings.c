// SPDX-License-Identifier: MIT
// Couplings that follow from others: the planets of a planetary gear all say the same of sun, ring and carrier.
//
// Relations are linear in the coordinates with constant factors, and all hold at the start: what depends on others at
// any place depends on them at all, and holds with them. What they carry is then open but for F^T lambda, F the
// factors: the least lambda is P lambda for any, P = Q Q^T with an orthonormal basis Q of what the columns of F span.
#include "system/couplings.h"

#include <math.h>

static const double DEPENDENT =
    1e-12; // of the largest factor in a relation: what is left of one that follows

bool relation_is_new(double *rows, int *pivots, int kept, int width)
{
    double *row = rows + (size_t)kept * (size_t)width, largest = 0.0;
    for (int k = 0; k < width; ++k) largest = fmax(largest, fabs(row[k]));
    for (int i = 0; i < kept; ++i) {
        const double *other = rows + (size_t)i * (size_t)width;
        double part = row[pivots[i]] / other[pivots[i]];
        for (int k = 0; k < width; ++k) row[k] -= part * other[k];
        row[pivots[i]] = 0.0;
    }
    pivots[kept] = 0;
    for (int k = 1; k < width; ++k)
        if (fabs(row[k]) > fabs(row[pivots[kept]])) pivots[kept] = k;
    return fabs(row[pivots[kept]]) > DEPENDENT * largest;
}

// P, from the columns of the factors (`rows`, changed).
static void find_shares(int count, int width, double *rows, double *shares)
{
    for (int column = 0; column < width; ++column) {
        double before = 0.0, after = 0.0;
        for (int i = 0; i < count; ++i)
            before += rows[i * width + column] * rows[i * width + column];
        // twice is enough
        for (int sweep = 0; sweep < 2; ++sweep)
            for (int other = 0; other < column; ++other) {
                double part = 0.0;
                for (int i = 0; i < count; ++i)
                    part += rows[i * width + column] * rows[i * width + other];
                for (int i = 0; i < count; ++i)
                    rows[i * width + column] -= part * rows[i * width + other];
            }
        for (int i = 0; i < count; ++i)
            after += rows[i * width + column] * rows[i * width + column];
        double scale = after > DEPENDENT * before ? 1.0 / sqrt(after) : 0.0;
        for (int i = 0; i < count; ++i) rows[i * width + column] *= scale;
    }
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < count; ++k)
            for (int column = 0; column < width; ++column)
                shares[count * i + k] += rows[i * width + column] * rows[k * width + column];
}

// Row of a coupling among the coordinates of all
static void set_row(const hn_system *system, const system_coupling *c, double *row)
{
    for (int k = 0; k < system->column_count; ++k) row[k] = 0.0;
    for (int k = 0; k < c->term_count; ++k)
        row[system->elements[c->first + k].law->column] += c->factors[k];
}

hn_status couplings_find_dependent(hn_system *system)
{
    int count = system->coupling_count, width = system->column_count, kept = 0;
    if (count == 0) return HN_OK;
    size_t stride = (size_t)width;
    double *rows = context_allocate(system->context, (size_t)count * stride * sizeof(double));
    int *pivots = context_allocate(system->context, (size_t)count * sizeof(int));
    bool complete = rows != NULL && pivots != NULL;
    for (int i = 0; i < count && complete; ++i) {
        set_row(system, &system->couplings[i], rows + (size_t)kept * stride);
        system->couplings[i].dependent = !relation_is_new(rows, pivots, kept, width);
        if (!system->couplings[i].dependent) ++kept;
    }
    if (complete && kept < count) {
        system->coupling_shares =
            system_allocate(system, (size_t)count * (size_t)count * sizeof(double));
        complete = system->coupling_shares != NULL;
        for (int i = 0; i < count && complete; ++i)
            set_row(system, &system->couplings[i], rows + (size_t)i * stride);
        if (complete) find_shares(count, width, rows, system->coupling_shares);
    }
    context_release(system->context, rows);
    context_release(system->context, pivots);
    return complete ? HN_OK : HN_OUT_OF_MEMORY;
}
