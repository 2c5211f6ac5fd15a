// SPDX-License-Identifier: MIT
// Sparse block Cholesky on a graph of small dense blocks.
//
// For node k in elimination order with later neighbours i, j:
//
//   factor   D_k = L L^T,   X_jk = A_jk L^-T,   A_ij -= X_ik X_jk^T
//   solve    y_k = L^-1 b_k,  b_j -= X_jk y_k,   x_k = L^-T (y_k - sum_j X_jk^T x_j)
//
// with L^-1 kept in place of D_k: products with it are sums that need not wait for each other.
#include "linalg/block_cholesky.h"

#include "base/pool.h"
#include "linalg/block_graph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// One neighbour of a node that is eliminated later.
typedef struct later {
    int node;
    size_t block; // (node, k)
} later;

struct block_cholesky {
    int node_count, size;
    int *sizes, *offsets; // per node
    int *order, *place;   // elimination order, place in it
    int *first;           // node_count + 1, into `links`
    later *links;         // of order[k], sorted by place
    size_t *diagonal;     // per node
    size_t *target_first; // per place, into `targets`
    size_t *targets;      // block (i, j) for the pairs of later neighbours, i by i, j not after i
    double *scale;        // size: diagonal elements before factoring
    double *values;
    size_t value_count;
    int failed_row; // of the node where the last factorisation stopped
    pool memory;
};

void block_cholesky_destroy(block_cholesky *c)
{
    if (c == NULL) return;
    pool_release(&c->memory);
    context_release(c->memory.context, c);
}

// ---- analysis ---------------------------------------------------------------------------------------

static const later *find_link(const block_cholesky *c, int row, int column)
{
    int low = c->first[c->place[column]], high = c->first[c->place[column] + 1] - 1;
    while (low <= high) {
        int middle = (low + high) / 2, place = c->place[c->links[middle].node];
        if (place == c->place[row]) return &c->links[middle];
        if (place < c->place[row]) low = middle + 1;
        else high = middle - 1;
    }
    return NULL;
}

// Blocks in elimination order, what is filled in among them.
static hn_status place_blocks(block_cholesky *c, const block_structure *structure)
{
    size_t n = (size_t)c->node_count, targets = 0;
    int links = structure->first[c->node_count];
    c->first = pool_ints(&c->memory, n);
    c->links = pool_take(&c->memory, (size_t)links, sizeof(later));
    c->diagonal = pool_take(&c->memory, n, sizeof(size_t));
    c->target_first = pool_take(&c->memory, n, sizeof(size_t));
    TRY(pool_status(&c->memory));
    for (int k = 0; k < c->node_count; ++k) {
        size_t size = (size_t)c->sizes[c->order[k]],
               count = (size_t)(structure->first[k + 1] - structure->first[k]);
        c->first[k] = structure->first[k];
        c->diagonal[c->order[k]] = c->value_count;
        c->value_count += size * size;
        for (int p = structure->first[k]; p < structure->first[k + 1]; ++p) {
            int node = c->order[structure->places[p]];
            c->links[p] = (later){.node = node, .block = c->value_count};
            c->value_count += size * (size_t)c->sizes[node];
        }
        c->target_first[k] = targets;
        targets += count * (count + 1) / 2;
    }
    c->first[c->node_count] = links;
    c->targets = pool_take(&c->memory, targets, sizeof(size_t));
    c->scale = pool_doubles(&c->memory, (size_t)c->size);
    c->values = pool_doubles(&c->memory, c->value_count);
    TRY(pool_status(&c->memory));
    for (int k = 0; k < c->node_count; ++k) {
        size_t *to = c->targets + c->target_first[k];
        for (int p = c->first[k]; p < c->first[k + 1]; ++p) {
            for (int r = c->first[k]; r < p; ++r)
                *to++ = find_link(c, c->links[p].node, c->links[r].node)->block;
            *to++ = c->diagonal[c->links[p].node];
        }
    }
    return HN_OK;
}

hn_status block_cholesky_create(hn_context *context, int node_count, const int *sizes,
                                int edge_count, const int (*edges)[2], const int *order,
                                block_cholesky **out)
{
    *out = NULL;
    size_t n = (size_t)node_count;
    block_cholesky *c = context_allocate(context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    *c = (block_cholesky){.node_count = node_count, .memory = {.context = context}};
    block_graph graph = {0};
    block_structure structure = {0};
    c->sizes = pool_ints(&c->memory, n);
    c->offsets = pool_ints(&c->memory, n);
    c->order = pool_ints(&c->memory, n);
    c->place = pool_ints(&c->memory, n);
    hn_status status = pool_status(&c->memory);
    if (status == HN_OK)
        status = block_graph_create(context, node_count, edge_count, edges, &graph);
    for (int k = 0; k < node_count && status == HN_OK; ++k) {
        assert(sizes[k] <= BLOCK_CHOLESKY_ROWS_MAX);
        c->sizes[k] = sizes[k];
        c->offsets[k] = c->size;
        c->size += sizes[k];
        c->order[k] = order[k];
        c->place[order[k]] = k;
    }
    if (status == HN_OK) status = block_structure_create(context, &graph, order, &structure);
    if (status == HN_OK) status = place_blocks(c, &structure);
    block_structure_destroy(context, &structure);
    block_graph_destroy(context, &graph);
    if (status == HN_OK) *out = c;
    else block_cholesky_destroy(c);
    return status;
}

void block_cholesky_clear(block_cholesky *c)
{
    memset(c->values, 0, c->value_count * sizeof(double));
}

bool block_cholesky_is_lower(const block_cholesky *c, int row, int column)
{
    return c->place[row] > c->place[column];
}

double *block_cholesky_block(block_cholesky *c, int row, int column)
{
    if (row == column) return c->values + c->diagonal[row];
    const later *link = block_cholesky_is_lower(c, row, column) ? find_link(c, row, column) : NULL;
    return link == NULL ? NULL : c->values + link->block;
}

// ---- factors and solution ---------------------------------------------------------------------------

// The functions below are written for a node of any size s and compiled for the few sizes of joints: loops of known
// length are unrolled, which takes a third off their time.
#define UNROLLED static inline __attribute__((always_inline))

UNROLLED double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

// The lower triangle of D = L L^T becomes L^-1, row by row: l_i = d_i (L^-1)^T, then row i of L^-1 from those before.
// Returns -1, or the row at which D proves not to be positive definite.
UNROLLED int invert_cholesky(int n, double *d)
{
    for (int i = 0; i < n; ++i) {
        double *row = d + i * n, l[BLOCK_CHOLESKY_ROWS_MAX] = {0.0}, pivot = row[i];
        for (int j = 0; j < i; ++j) l[j] = dot(j + 1, row, d + j * n);
        for (int j = 0; j < i; ++j) pivot -= l[j] * l[j];
        if (!(pivot > 0.0)) return i;
        double inverse = 1.0 / sqrt(pivot);
        for (int j = 0; j < i; ++j) {
            double sum = 0.0;
            for (int k = j; k < i; ++k) sum += l[k] * d[k * n + j];
            row[j] = -inverse * sum;
        }
        row[i] = inverse;
    }
    return -1;
}

// Eliminate node k; false: not positive definite
UNROLLED bool eliminate(block_cholesky *c, int k, int s)
{
    int begin = c->first[k], end = c->first[k + 1];
    double *inverse = c->values + c->diagonal[c->order[k]];
    int failed = invert_cholesky(s, inverse);
    if (failed >= 0) {
        c->failed_row = failed;
        return false;
    }
    // X: every row of A_jk times L^-T, its last entry first
    for (int p = begin; p < end; ++p) {
        double *x = c->values + c->links[p].block;
        for (int i = 0; i < c->sizes[c->links[p].node]; ++i, x += s)
            for (int j = s - 1; j >= 0; --j) x[j] = dot(j + 1, x, inverse + j * s);
    }
    const size_t *target = c->targets + c->target_first[k];
    for (int p = begin; p < end; ++p)
        for (int r = begin; r <= p; ++r) {
            const double *x = c->values + c->links[p].block, *y = c->values + c->links[r].block;
            int rows = c->sizes[c->links[p].node], columns = c->sizes[c->links[r].node];
            double *to = c->values + *target++;
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < (r == p ? i + 1 : columns); ++j)
                    to[i * columns + j] -= dot(s, x + i * s, y + j * s);
        }
    return true;
}

static bool eliminate_sized(block_cholesky *c, int k)
{
    int size = c->sizes[c->order[k]];
    switch (size) {
    case 2: return eliminate(c, k, 2);
    case 3: return eliminate(c, k, 3);
    case 4: return eliminate(c, k, 4);
    case 5: return eliminate(c, k, 5);
    case 6: return eliminate(c, k, 6);
    default: return eliminate(c, k, size);
    }
}

int block_cholesky_factor(block_cholesky *c)
{
    for (int k = 0; k < c->node_count; ++k)
        if (!eliminate_sized(c, k)) return c->order[k];
    return -1;
}

int block_cholesky_failed_row(const block_cholesky *c)
{
    return c->failed_row;
}

double block_cholesky_pivot(const block_cholesky *c, int node, int row)
{
    double inverse = c->values[c->diagonal[node] + (size_t)(row * (c->sizes[node] + 1))];
    return 1.0 / (inverse * inverse);
}

// Rows of node k that depend on what was eliminated before are decoupled.
static void drop_dependent_rows(block_cholesky *c, int k, row_rank *rank)
{
    int node = c->order[k], n = c->sizes[node], first = c->offsets[node];
    double work[BLOCK_CHOLESKY_ROWS_MAX * BLOCK_CHOLESKY_ROWS_MAX],
        *d = c->values + c->diagonal[node];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) work[i * n + j] = work[j * n + i] = d[i * n + j];
    row_rank_decide(rank, node, first, n, c->scale + first, work);
    for (int i = 0; i < n; ++i) {
        if (!rank->dropped[first + i]) continue;
        for (int j = 0; j <= i; ++j) d[i * n + j] = 0.0;
        for (int j = i; j < n; ++j) d[j * n + i] = 0.0;
        d[i * n + i] = 1.0;
        for (int p = c->first[k]; p < c->first[k + 1]; ++p)
            for (int j = 0; j < c->sizes[c->links[p].node]; ++j)
                c->values[c->links[p].block + (size_t)(j * n + i)] = 0.0;
    }
}

int block_cholesky_factor_rank(block_cholesky *c, row_rank *rank)
{
    for (int node = 0; node < c->node_count; ++node)
        for (int i = 0, n = c->sizes[node]; i < n; ++i)
            c->scale[c->offsets[node] + i] = c->values[c->diagonal[node] + (size_t)(i * (n + 1))];
    for (int k = 0; k < c->node_count; ++k) {
        drop_dependent_rows(c, k, rank);
        if (!eliminate_sized(c, k)) return c->order[k];
    }
    return -1;
}

// y_k = L^-1 b_k, b_j -= X_jk y_k
UNROLLED void solve_forward(const block_cholesky *c, int k, int s, double *b)
{
    const double *inverse = c->values + c->diagonal[c->order[k]];
    double *y = b + c->offsets[c->order[k]];
    for (int i = s - 1; i >= 0; --i) y[i] = dot(i + 1, inverse + i * s, y);
    for (int p = c->first[k]; p < c->first[k + 1]; ++p) {
        const double *x = c->values + c->links[p].block;
        double *to = b + c->offsets[c->links[p].node];
        for (int i = 0; i < c->sizes[c->links[p].node]; ++i) to[i] -= dot(s, x + i * s, y);
    }
}

// x_k = L^-T (y_k - sum_j X_jk^T x_j)
UNROLLED void solve_backward(const block_cholesky *c, int k, int s, double *b)
{
    const double *inverse = c->values + c->diagonal[c->order[k]];
    double *y = b + c->offsets[c->order[k]];
    for (int p = c->first[k]; p < c->first[k + 1]; ++p) {
        const double *x = c->values + c->links[p].block, *from = b + c->offsets[c->links[p].node];
        for (int i = 0; i < c->sizes[c->links[p].node]; ++i)
            for (int j = 0; j < s; ++j) y[j] -= x[i * s + j] * from[i];
    }
    for (int i = 0; i < s; ++i) {
        for (int j = 0; j < i; ++j) y[j] += inverse[i * s + j] * y[i];
        y[i] *= inverse[i * s + i];
    }
}

void block_cholesky_solve(const block_cholesky *c, double *b)
{
    for (int k = 0; k < c->node_count; ++k) {
        int size = c->sizes[c->order[k]];
        switch (size) {
        case 2: solve_forward(c, k, 2, b); break;
        case 3: solve_forward(c, k, 3, b); break;
        case 4: solve_forward(c, k, 4, b); break;
        case 5: solve_forward(c, k, 5, b); break;
        default: solve_forward(c, k, size, b); break;
        }
    }
    for (int k = c->node_count - 1; k >= 0; --k) {
        int size = c->sizes[c->order[k]];
        switch (size) {
        case 2: solve_backward(c, k, 2, b); break;
        case 3: solve_backward(c, k, 3, b); break;
        case 4: solve_backward(c, k, 4, b); break;
        case 5: solve_backward(c, k, 5, b); break;
        default: solve_backward(c, k, size, b); break;
        }
    }
}
