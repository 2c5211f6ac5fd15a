// SPDX-License-Identifier: MIT
// Arnoldi's method in bands: a queue of vectors, each multiplied in its turn; what is new of the product joins the
// queue.
#include "linalg/krylov.h"

#include "base/array.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { BAND = 6, RESTARTS_MAX = 60, DRAWS = 3 };
static const double DEPENDENT = 1e-9; // of its norm: nothing new is left of a vector

typedef struct basis {
    hn_context *context;
    const krylov_operator *a;
    size_t size;
    int capacity, count, done; // vectors; those that were multiplied
    double *v, *mv;            // the vectors, and M times them
    double *h;                 // capacity x capacity, row-major: A V = V H
    double *work, *metric;     // two vectors each
    uint64_t state;            // of random vectors
} basis;

static double *vector_of(const basis *b, int k)
{
    return b->v + (size_t)k * b->size;
}

// Take the part of b->work that the basis has away, twice; `column` (or NULL) gets the coefficients. Returns the norm
// left relative to that before.
static double orthogonalise(basis *b, double *column)
{
    double before = 0.0, norm = 0.0;
    for (int pass = 0; pass < 3; ++pass) {
        b->a->metric(b->a->owner, b->work, b->metric);
        norm = sqrt(fmax(0.0, array_dot(b->work, b->metric, b->size)));
        if (pass == 0) before = norm;
        if (pass == 2 || !(norm > 0.0)) break;
        for (int k = 0; k < b->count; ++k) {
            double part = array_dot(b->mv + (size_t)k * b->size, b->work, b->size);
            if (column != NULL) column[(size_t)k * (size_t)b->capacity] += part;
            const double *v = vector_of(b, k);
            for (size_t i = 0; i < b->size; ++i) b->work[i] -= part * v[i];
        }
    }
    return before > 0.0 && norm > DEPENDENT * before ? norm : 0.0;
}

// b->work joins the basis; its norm is known.
static void join(basis *b, double norm)
{
    double *v = vector_of(b, b->count), *mv = b->mv + (size_t)b->count * b->size;
    for (size_t i = 0; i < b->size; ++i) {
        v[i] = b->work[i] / norm;
        mv[i] = b->metric[i] / norm;
    }
    b->count++;
}

// A random vector in the range of A. False: all of it is in the basis.
static bool draw(basis *b)
{
    for (int k = 0; k < DRAWS; ++k) {
        array_probe(&b->state, b->work + b->size, b->size);
        b->a->apply(b->a->owner, b->work + b->size, b->work);
        double norm = orthogonalise(b, NULL);
        if (norm > 0.0) {
            join(b, norm);
            return true;
        }
    }
    return false;
}

// Multiply vectors of the queue until the basis is full. True: it is the whole space.
static bool fill(basis *b, int start_count)
{
    while (b->count < start_count && b->count < b->capacity)
        if (!draw(b)) break;
    const bool room = b->capacity == b->a->dimension; // for all there is: all of it is multiplied
    while (b->count < b->capacity || (room && b->done < b->count)) {
        if (b->done == b->count && !draw(b)) return true;
        double *column = b->h + b->done;
        b->a->apply(b->a->owner, vector_of(b, b->done), b->work);
        double norm = orthogonalise(b, column);
        if (norm > 0.0 && b->count < b->capacity) {
            column[(size_t)b->count * (size_t)b->capacity] = norm;
            join(b, norm);
        }
        b->done++;
        if (context_is_cancelled(b->context)) break;
    }
    return room && b->done == b->capacity;
}

// Eigenpairs of H, largest first: coefficients in columns of `y` (done x done, row-major).
static hn_status solve_small(basis *b, double *real, double *imaginary, double *y)
{
    size_t n = (size_t)b->done;
    if (n == 0) return HN_OK;
    double *small = context_allocate(b->context, (2 * n * n + 2 * n + 1) * sizeof(double));
    if (small == NULL) return HN_OUT_OF_MEMORY;
    double *vectors = small + n * n, *values = vectors + n * n;
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k) {
            double one = b->h[i * (size_t)b->capacity + k],
                   other = b->h[k * (size_t)b->capacity + i];
            small[i * n + k] = b->a->symmetric ? 0.5 * (one + other) : one;
        }
    hn_status status = b->a->symmetric
                           ? dense_symmetric_eigen(b->context, b->done, small, values, vectors)
                           : dense_eigen(b->context, b->done, small, values, values + n, vectors);
    // by absolute value; conjugate pairs have the same and stay together
    for (size_t place = 0; place < n && status == HN_OK;) {
        size_t best = n;
        double size = -1.0;
        for (size_t k = 0; k < n; ++k) {
            double absolute = hypot(values[k], b->a->symmetric ? 0.0 : values[n + k]);
            if (!isnan(values[k]) && absolute > size) size = absolute, best = k;
        }
        bool pair = !b->a->symmetric && values[n + best] != 0.0;
        for (size_t c = 0; c < (pair ? 2u : 1u); ++c, ++place) {
            real[place] = values[best + c];
            imaginary[place] = b->a->symmetric ? 0.0 : values[n + best + c];
            for (size_t i = 0; i < n; ++i) y[i * n + place] = vectors[i * n + best + c];
            values[best + c] = (double)NAN;
        }
    }
    context_release(b->context, small);
    return status;
}

// |A x - a x| of the Ritz vector with these coefficients, relative to |a|: what A leads out of the space of H.
static double ritz_residual(const basis *b, const double *y, int column, double size)
{
    double sum = 0.0;
    for (int i = b->done; i < b->count; ++i) {
        double part = 0.0;
        for (int k = 0; k < b->done; ++k)
            part += b->h[(size_t)i * (size_t)b->capacity + (size_t)k] *
                    y[(size_t)k * (size_t)b->done + (size_t)column];
        sum += part * part;
    }
    return size > 0.0 ? sqrt(sum) / size : 0.0;
}

// The first `kept` Ritz vectors
static void combine(const basis *b, const double *y, int kept, double *vectors)
{
    for (int c = 0; c < kept; ++c) {
        double *to = vectors + (size_t)c * b->size;
        memset(to, 0, b->size * sizeof(double));
        for (int k = 0; k < b->done; ++k) {
            double part = y[(size_t)k * (size_t)b->done + (size_t)c];
            const double *v = vector_of(b, k);
            for (size_t i = 0; i < b->size; ++i) to[i] += part * v[i];
        }
    }
}

// Start again with these vectors.
static void restart(basis *b, const double *vectors, int count)
{
    b->count = b->done = 0;
    memset(b->h, 0, (size_t)b->capacity * (size_t)b->capacity * sizeof(double));
    for (int c = 0; c < count; ++c) {
        memcpy(b->work, vectors + (size_t)c * b->size, b->size * sizeof(double));
        double norm = orthogonalise(b, NULL);
        if (norm > 0.0) join(b, norm);
    }
}

static hn_status iterate(basis *b, int wanted, int start_count, double tolerance, double *y,
                         double *values, krylov_pairs *pairs)
{
    size_t n = (size_t)b->capacity;
    for (int round = 0; round < RESTARTS_MAX; ++round) {
        bool whole = fill(b, start_count);
        if (context_is_cancelled(b->context)) return HN_CANCELLED;
        TRY(solve_small(b, values, values + n, y));
        int found = b->done < wanted ? b->done : wanted;
        // a conjugate pair is not parted
        if (found > 0 && found < b->done && values[n + (size_t)found - 1] > 0.0) ++found;
        double worst = 0.0;
        for (int c = 0; c < found; ++c)
            worst = fmax(worst, ritz_residual(b, y, c, hypot(values[c], values[n + (size_t)c])));
        if (whole || worst <= tolerance) {
            pairs->count = found;
            pairs->residual = worst;
            memcpy(pairs->real, values, (size_t)found * sizeof(double));
            memcpy(pairs->imaginary, values + n, (size_t)found * sizeof(double));
            combine(b, y, found, pairs->vectors);
            return HN_OK;
        }
        int kept = found + BAND < b->done ? found + BAND : b->done;
        combine(b, y, kept, pairs->vectors);
        restart(b, pairs->vectors, kept);
    }
    return HN_NOT_CONVERGED;
}

hn_status krylov_largest(hn_context *context, const krylov_operator *a, int wanted, int extra,
                         double tolerance, krylov_pairs *pairs)
{
    int start_count = BAND + extra, most = 2 * wanted + 4 * start_count + 8;
    if (most > a->dimension) most = a->dimension;
    size_t size = (size_t)a->size, n = (size_t)most, kept = (size_t)wanted + BAND + 2;
    *pairs = (krylov_pairs){.memory = {.context = context}};
    pairs->real = pool_doubles(&pairs->memory, kept);
    pairs->imaginary = pool_doubles(&pairs->memory, kept);
    pairs->vectors = pool_doubles(&pairs->memory, kept * size);
    basis b = {.context = context, .a = a, .size = size, .capacity = most, .state = 11};
    pool scratch = {.context = context};
    b.v = pool_doubles(&scratch, n * size);
    b.mv = pool_doubles(&scratch, n * size);
    b.h = pool_doubles(&scratch, n * n);
    b.work = pool_doubles(&scratch, 2 * size);
    b.metric = pool_doubles(&scratch, size);
    double *y = pool_doubles(&scratch, n * n), *values = pool_doubles(&scratch, 2 * n);
    hn_status status = pairs->memory.failed ? HN_OUT_OF_MEMORY : pool_status(&scratch);
    if (status == HN_OK) status = iterate(&b, wanted, start_count, tolerance, y, values, pairs);
    pool_release(&scratch);
    if (status != HN_OK) krylov_release(pairs);
    return status;
}

void krylov_release(krylov_pairs *pairs)
{
    pool_release(&pairs->memory);
    *pairs = (krylov_pairs){0};
}
