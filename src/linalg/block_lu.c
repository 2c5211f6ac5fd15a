// SPDX-License-Identifier: MIT
// Sparse block LU on a graph of small dense blocks.
//
// For node k in elimination order with later neighbours i, j:
//
//   factor   D_k = P L U,   V_kj = D_k^-1 A_kj,   A_ij -= A_ik V_kj
//   solve    y_k = D_k^-1 b_k,  b_j -= A_jk y_k (forward),   x_k = y_k - sum_j V_kj x_j (backward)
//
// and where the matrix is symmetric and positive definite
//
//   factor   D_k = L L^T,   X_jk = A_jk L^-T,   A_ij -= X_ik X_jk^T
//   solve    y_k = L^-1 b_k,  b_j -= X_jk y_k,   x_k = L^-T (y_k - sum_j X_jk^T x_j)
//
// with L^-1 kept in place of D_k: products with it are sums that need not wait for each other.
#include "linalg/block_lu.h"

#include "base/arena.h"
#include "linalg/small_lu.h"

#include <amd.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS_MAX = 6 }; // of a constraint node

// One neighbour of a node that is eliminated later.
typedef struct later {
    int node;
    size_t lower; // block (node, k): A_jk
    size_t upper; // block (k, node): A_kj, then V_kj
} later;

struct block_lu {
    hn_context *context;
    int node_count;
    int size;
    int *sizes;       // node_count
    int *offsets;     // node_count
    int *order;       // elimination order
    int *place;       // place in the order
    size_t *diagonal; // block offsets
    int *pivots;      // size
    int *first;       // node_count + 1, into `links`
    later *links;     // neighbours of order[k], sorted by place
    size_t *
        targets; // for every node, for every ordered pair (i, j) of later neighbours: offset of A_ij
    size_t *target_first; // node_count
    double *values;
    size_t value_count;
    void *blocks[8]; // owned memory
    int block_count;
};

static void *keep(block_lu *lu, size_t size)
{
    void *memory = context_allocate(lu->context, size > 0 ? size : 1);
    if (memory != NULL) lu->blocks[lu->block_count++] = memory;
    return memory;
}

void block_lu_destroy(block_lu *lu)
{
    if (lu == NULL) return;
    for (int i = 0; i < lu->block_count; ++i) context_release(lu->context, lu->blocks[i]);
    context_release(lu->context, lu);
}

static int compare_ints(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

// adjacency lists of the node graph in compressed form, sorted and without repeats
static hn_status build_adjacency(hn_context *context, int n, int edge_count, const int (*edges)[2],
                                 int **pointers, int **lists)
{
    int *start = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    int *list = context_allocate(context, ((size_t)edge_count * 2 + 1) * sizeof(int));
    int *fill = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    *pointers = start;
    *lists = list;
    if (start == NULL || list == NULL || fill == NULL) {
        context_release(context, fill);
        return HN_OUT_OF_MEMORY;
    }
    for (int e = 0; e < edge_count; ++e) start[edges[e][0] + 1]++, start[edges[e][1] + 1]++;
    for (int i = 0; i < n; ++i) start[i + 1] += start[i];
    for (int i = 0; i < n; ++i) fill[i] = start[i];
    for (int e = 0; e < edge_count; ++e) {
        list[fill[edges[e][0]]++] = edges[e][1];
        list[fill[edges[e][1]]++] = edges[e][0];
    }
    int used = 0;
    for (int i = 0; i < n; ++i) {
        int begin = start[i], end = fill[i];
        qsort(list + begin, (size_t)(end - begin), sizeof(int), compare_ints);
        start[i] = used;
        for (int k = begin; k < end; ++k)
            if (list[k] != i && (used == start[i] || list[used - 1] != list[k]))
                list[used++] = list[k];
    }
    start[n] = used;
    context_release(context, fill);
    return HN_OK;
}

// index of `node` in the sorted neighbours of order[k], or -1
static int find_link(const block_lu *lu, int k, int node)
{
    int low = lu->first[k], high = lu->first[k + 1] - 1, wanted = lu->place[node];
    while (low <= high) {
        int middle = (low + high) / 2, at = lu->place[lu->links[middle].node];
        if (at == wanted) return middle;
        if (at < wanted) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

static size_t block_place(const block_lu *lu, int row, int column)
{
    if (row == column) return lu->diagonal[row];
    bool row_first = lu->place[row] < lu->place[column];
    int link = find_link(lu, lu->place[row_first ? row : column], row_first ? column : row);
    if (link < 0) return SIZE_MAX;
    return row_first ? lu->links[link].upper : lu->links[link].lower;
}

// The later neighbours of every node after elimination: its own and those inherited from the nodes whose first later
// neighbour it is (elimination tree).
static hn_status symbolic(block_lu *lu, const int *pointers, const int *lists)
{
    hn_context *context = lu->context;
    int n = lu->node_count;
    hn_status status = HN_OUT_OF_MEMORY;
    int *mark = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    int *child = context_allocate(context, ((size_t)n + 1) *
                                               sizeof(int)); // first child in the elimination tree
    int *sibling =
        context_allocate(context, ((size_t)n + 1) * sizeof(int)); // next child of the same parent
    int *begin = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    int *structure = NULL;
    int capacity = 0, used = 0;
    if (mark == NULL || child == NULL || sibling == NULL || begin == NULL) goto done;
    for (int k = 0; k < n; ++k) mark[k] = child[k] = sibling[k] = -1;
    for (int k = 0; k < n; ++k) {
        int node = lu->order[k], start = used;
        begin[k] = used;
        mark[k] = k;
        status = context_grow(context, (void **)&structure, &capacity, used + n - k, sizeof(int));
        if (status != HN_OK) goto done;
        for (int p = pointers[node]; p < pointers[node + 1]; ++p) {
            int at = lu->place[lists[p]];
            if (at > k && mark[at] != k) mark[at] = k, structure[used++] = at;
        }
        for (int c = child[k]; c >= 0; c = sibling[c])
            for (int p = begin[c]; p < begin[c + 1]; ++p) {
                int at = structure[p];
                if (at > k && mark[at] != k) mark[at] = k, structure[used++] = at;
            }
        qsort(structure + start, (size_t)(used - start), sizeof(int), compare_ints);
        begin[k + 1] = used;
        if (used > start) {
            sibling[k] = child[structure[start]];
            child[structure[start]] = k;
        }
    }
    status = HN_OUT_OF_MEMORY;
    lu->first = keep(lu, ((size_t)n + 1) * sizeof(int));
    lu->links = keep(lu, (size_t)used * sizeof(later));
    lu->target_first = keep(lu, ((size_t)n + 1) * sizeof(size_t));
    if (lu->first == NULL || lu->links == NULL || lu->target_first == NULL) goto done;
    size_t values = 0, targets = 0;
    for (int i = 0; i < n; ++i) {
        lu->diagonal[i] = values;
        values += (size_t)(lu->sizes[i] * lu->sizes[i]);
    }
    for (int k = 0; k <= n; ++k) lu->first[k] = begin[k];
    for (int k = 0; k < n; ++k) {
        for (int p = begin[k]; p < begin[k + 1]; ++p) {
            int node = lu->order[structure[p]];
            size_t block = (size_t)lu->sizes[node] * (size_t)lu->sizes[lu->order[k]];
            lu->links[p] = (later){node, values, values + block};
            values += 2 * block;
        }
        size_t degree = (size_t)(begin[k + 1] - begin[k]);
        lu->target_first[k] = targets;
        targets += degree * degree;
    }
    lu->value_count = values;
    lu->targets = keep(lu, targets * sizeof(size_t));
    lu->values = keep(lu, values * sizeof(double));
    if (lu->targets == NULL || lu->values == NULL) goto done;
    size_t next = 0;
    for (int k = 0; k < n; ++k)
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p)
            for (int r = lu->first[k]; r < lu->first[k + 1]; ++r)
                lu->targets[next++] = block_place(lu, lu->links[p].node, lu->links[r].node);
    status = HN_OK;
done:
    context_release(context, mark);
    context_release(context, child);
    context_release(context, sibling);
    context_release(context, begin);
    context_release(context, structure);
    return status;
}

hn_status block_lu_order(hn_context *context, int node_count, int edge_count, const int (*edges)[2],
                         int *order)
{
    int *pointers = NULL, *lists = NULL;
    hn_status status = build_adjacency(context, node_count, edge_count, edges, &pointers, &lists);
    if (status == HN_OK && node_count > 0 &&
        amd_order(node_count, pointers, lists, order, NULL, NULL) < 0)
        status = context_fail(context, HN_OUT_OF_MEMORY, "no memory to order a system of %d blocks",
                              node_count);
    context_release(context, pointers);
    context_release(context, lists);
    return status;
}

hn_status block_lu_create(hn_context *context, int node_count, const int *sizes, int edge_count,
                          const int (*edges)[2], const int *order, block_lu **out)
{
    *out = NULL;
    size_t n = (size_t)node_count;
    int *pointers = NULL, *lists = NULL;
    hn_status status = HN_OUT_OF_MEMORY;
    block_lu *lu = context_allocate(context, sizeof *lu);
    if (lu == NULL) return HN_OUT_OF_MEMORY;
    lu->context = context;
    lu->node_count = node_count;

    int *whole = keep(lu, 4 * (n + 1) * sizeof(int));
    lu->diagonal = keep(lu, (n + 1) * sizeof(size_t));
    if (whole == NULL || lu->diagonal == NULL) goto done;
    lu->sizes = whole;
    lu->offsets = whole + (n + 1);
    lu->order = whole + 2 * (n + 1);
    lu->place = whole + 3 * (n + 1);
    for (int i = 0; i < node_count; ++i) {
        lu->sizes[i] = sizes[i];
        lu->offsets[i] = lu->size;
        lu->size += sizes[i];
    }
    lu->pivots = keep(lu, ((size_t)lu->size + 1) * sizeof(int));
    if (lu->pivots == NULL) goto done;
    status = build_adjacency(context, node_count, edge_count, edges, &pointers, &lists);
    if (status != HN_OK) goto done;
    if (order != NULL) memcpy(lu->order, order, n * sizeof(int));
    else status = block_lu_order(context, node_count, edge_count, edges, lu->order);
    if (status != HN_OK) goto done;
    for (int k = 0; k < node_count; ++k) lu->place[lu->order[k]] = k;
    status = symbolic(lu, pointers, lists);
done:
    context_release(context, pointers);
    context_release(context, lists);
    if (status != HN_OK) {
        block_lu_destroy(lu);
        return status;
    }
    *out = lu;
    return HN_OK;
}

int block_lu_size(const block_lu *lu)
{
    return lu->size;
}

int block_lu_offset(const block_lu *lu, int node)
{
    return lu->offsets[node];
}

int block_lu_node_size(const block_lu *lu, int node)
{
    return lu->sizes[node];
}

size_t block_lu_storage(const block_lu *lu)
{
    return lu->value_count;
}

void block_lu_clear(block_lu *lu)
{
    memset(lu->values, 0, lu->value_count * sizeof(double));
}

double *block_lu_block(block_lu *lu, int row, int column)
{
    size_t place = block_place(lu, row, column);
    return place == SIZE_MAX ? NULL : lu->values + place;
}

// visit all blocks: diagonal, lower, upper
static void multiply_block(int rows, int columns, const double *a, const double *x, double *y)
{
    for (int i = 0; i < rows; ++i) {
        double sum = 0.0;
        for (int j = 0; j < columns; ++j) sum += a[i * columns + j] * x[j];
        y[i] += sum;
    }
}

void block_lu_multiply(const block_lu *lu, const double *x, double *y)
{
    memset(y, 0, (size_t)lu->size * sizeof(double));
    for (int k = 0; k < lu->node_count; ++k) {
        int node = lu->order[k], s = lu->sizes[node], o = lu->offsets[node];
        multiply_block(s, s, lu->values + lu->diagonal[node], x + o, y + o);
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            const later *l = &lu->links[p];
            int t = lu->sizes[l->node], q = lu->offsets[l->node];
            multiply_block(t, s, lu->values + l->lower, x + o, y + q);
            multiply_block(s, t, lu->values + l->upper, x + q, y + o);
        }
    }
}

static void copy_block(int rows, int columns, const double *a, int size, double *to)
{
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            to[(size_t)i * (size_t)size + (size_t)j] = a[i * columns + j];
}

void block_lu_dense(const block_lu *lu, double *dense)
{
    size_t n = (size_t)lu->size;
    memset(dense, 0, n * n * sizeof(double));
    for (int k = 0; k < lu->node_count; ++k) {
        int node = lu->order[k], s = lu->sizes[node];
        size_t o = (size_t)lu->offsets[node];
        copy_block(s, s, lu->values + lu->diagonal[node], lu->size, dense + o * n + o);
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            const later *l = &lu->links[p];
            size_t q = (size_t)lu->offsets[l->node];
            copy_block(lu->sizes[l->node], s, lu->values + l->lower, lu->size, dense + q * n + o);
            copy_block(s, lu->sizes[l->node], lu->values + l->upper, lu->size, dense + o * n + q);
        }
    }
}

// c -= a b, skipping zero entries of a
static void subtract_product(int rows, int inner, int columns, const double *a, const double *b,
                             double *c)
{
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < inner; ++k) {
            double factor = a[i * inner + k];
            if (factor == 0.0) continue;
            const double *row = b + (size_t)k * (size_t)columns;
            double *to = c + (size_t)i * (size_t)columns;
            for (int j = 0; j < columns; ++j) to[j] -= factor * row[j];
        }
}

// Rows of a constraint node that depend on what was eliminated before: symmetric elimination of -D with the largest
// relative pivot first; what is left when pivots get small is dependent and decoupled.
static void drop_dependent_rows(block_lu *lu, int k, block_lu_rank *rank)
{
    int node = lu->order[k], n = lu->sizes[node];
    int first = lu->offsets[node] - lu->offsets[rank->first_node];
    double work[BLOCK_ROWS_MAX * BLOCK_ROWS_MAX];
    bool done[BLOCK_ROWS_MAX] = {false};
    double *diagonal = lu->values + lu->diagonal[node];
    for (int i = 0; i < n * n; ++i) work[i] = -diagonal[i];
    for (int count = 0; count < n; ++count) {
        int best = -1;
        double size = -1.0;
        for (int i = 0; i < n; ++i) {
            double ratio = work[i * n + i] / rank->scale[first + i];
            if (!done[i] && ratio > size) size = ratio, best = i;
        }
        if (best < 0 || size < rank->tolerance) break;
        if (size < rank->smallest_kept) rank->smallest_kept = size, rank->smallest_node = node;
        done[best] = true;
        for (int i = 0; i < n; ++i) {
            double factor = work[i * n + best] / work[best * n + best];
            if (done[i] || factor == 0.0) continue;
            for (int j = 0; j < n; ++j) work[i * n + j] -= factor * work[best * n + j];
        }
    }
    for (int i = 0; i < n; ++i) {
        rank->dropped[first + i] = !done[i];
        if (done[i]) continue;
        double ratio = fabs(work[i * n + i]) / rank->scale[first + i];
        if (ratio >= rank->largest_dropped)
            rank->largest_dropped = ratio, rank->largest_dropped_node = node;
        for (int j = 0; j < n; ++j) diagonal[i * n + j] = diagonal[j * n + i] = 0.0;
        diagonal[i * n + i] = 1.0;
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            int other = lu->sizes[lu->links[p].node];
            for (int j = 0; j < other; ++j) {
                lu->values[lu->links[p].upper + (size_t)(i * other + j)] = 0.0;
                lu->values[lu->links[p].lower + (size_t)(j * n + i)] = 0.0;
            }
        }
    }
}

int block_lu_factor(block_lu *lu)
{
    return block_lu_factor_rank(lu, NULL);
}

int block_lu_factor_rank(block_lu *lu, block_lu_rank *rank)
{
    for (int k = 0; k < lu->node_count; ++k) {
        int node = lu->order[k], s = lu->sizes[node];
        double *diagonal = lu->values + lu->diagonal[node];
        int *pivot = lu->pivots + lu->offsets[node];
        if (rank != NULL && node >= rank->first_node) drop_dependent_rows(lu, k, rank);
        if (!small_lu_factor(s, s, diagonal, pivot)) return node;
        size_t next = lu->target_first[k];
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            int columns = lu->sizes[lu->links[p].node];
            small_lu_solve(s, s, diagonal, pivot, columns, columns,
                           lu->values + lu->links[p].upper);
        }
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p)
            for (int r = lu->first[k]; r < lu->first[k + 1]; ++r)
                subtract_product(lu->sizes[lu->links[p].node], s, lu->sizes[lu->links[r].node],
                                 lu->values + lu->links[p].lower, lu->values + lu->links[r].upper,
                                 lu->values + lu->targets[next++]);
    }
    return -1;
}

void block_lu_solve(const block_lu *lu, double *b)
{
    for (int k = 0; k < lu->node_count; ++k) {
        int node = lu->order[k], s = lu->sizes[node];
        double *y = b + lu->offsets[node];
        small_lu_solve(s, s, lu->values + lu->diagonal[node], lu->pivots + lu->offsets[node], 1, 1,
                       y);
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            int other = lu->links[p].node;
            subtract_product(lu->sizes[other], s, 1, lu->values + lu->links[p].lower, y,
                             b + lu->offsets[other]);
        }
    }
    for (int k = lu->node_count - 1; k >= 0; --k) {
        int node = lu->order[k], s = lu->sizes[node];
        double *y = b + lu->offsets[node];
        for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
            int other = lu->links[p].node;
            subtract_product(s, lu->sizes[other], 1, lu->values + lu->links[p].upper,
                             b + lu->offsets[other], y);
        }
    }
}

bool block_lu_is_lower(const block_lu *lu, int row, int column)
{
    return lu->place[row] > lu->place[column];
}

// The functions below are written for a node of any size s and compiled for the few sizes of joints: loops of known
// length are unrolled, which takes a third off their time.
#define UNROLLED static inline __attribute__((always_inline))

UNROLLED double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

// The lower triangle of D = L L^T becomes L^-1, row by row: l_i = d_i (L^-1)^T, then row i of L^-1 from those before
UNROLLED bool invert_cholesky(int n, double *d)
{
    assert(n <= BLOCK_ROWS_MAX);
    for (int i = 0; i < n; ++i) {
        double *row = d + i * n, l[BLOCK_ROWS_MAX], pivot = row[i];
        for (int j = 0; j < i; ++j) l[j] = dot(j + 1, row, d + j * n);
        for (int j = 0; j < i; ++j) pivot -= l[j] * l[j];
        if (!(pivot > 0.0)) return false;
        double inverse = 1.0 / sqrt(pivot);
        for (int j = 0; j < i; ++j) {
            double sum = 0.0;
            for (int k = j; k < i; ++k) sum += l[k] * d[k * n + j];
            row[j] = -inverse * sum;
        }
        row[i] = inverse;
    }
    return true;
}

// Eliminate node k; false: not positive definite
UNROLLED bool eliminate(block_lu *lu, int k, int s)
{
    int begin = lu->first[k], end = lu->first[k + 1];
    double *inverse = lu->values + lu->diagonal[lu->order[k]];
    if (!invert_cholesky(s, inverse)) return false;
    // X: every row of A_jk times L^-T, its last entry first
    for (int p = begin; p < end; ++p) {
        double *x = lu->values + lu->links[p].lower;
        for (int i = 0; i < lu->sizes[lu->links[p].node]; ++i, x += s)
            for (int j = s - 1; j >= 0; --j) x[j] = dot(j + 1, x, inverse + j * s);
    }
    const size_t *targets = lu->targets + lu->target_first[k];
    for (int p = begin; p < end; ++p, targets += end - begin)
        for (int r = begin; r <= p; ++r) {
            const double *x = lu->values + lu->links[p].lower, *y = lu->values + lu->links[r].lower;
            int rows = lu->sizes[lu->links[p].node], columns = lu->sizes[lu->links[r].node];
            double *to = lu->values + targets[r - begin];
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < (r == p ? i + 1 : columns); ++j)
                    to[i * columns + j] -= dot(s, x + i * s, y + j * s);
        }
    return true;
}

// y_k = L^-1 b_k, b_j -= X_jk y_k
UNROLLED void solve_forward(const block_lu *lu, int k, int s, double *b)
{
    const double *inverse = lu->values + lu->diagonal[lu->order[k]];
    double *y = b + lu->offsets[lu->order[k]];
    for (int i = s - 1; i >= 0; --i) y[i] = dot(i + 1, inverse + i * s, y);
    for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
        const double *x = lu->values + lu->links[p].lower;
        double *to = b + lu->offsets[lu->links[p].node];
        for (int i = 0; i < lu->sizes[lu->links[p].node]; ++i) to[i] -= dot(s, x + i * s, y);
    }
}

// x_k = L^-T (y_k - sum_j X_jk^T x_j)
UNROLLED void solve_backward(const block_lu *lu, int k, int s, double *b)
{
    const double *inverse = lu->values + lu->diagonal[lu->order[k]];
    double *y = b + lu->offsets[lu->order[k]];
    for (int p = lu->first[k]; p < lu->first[k + 1]; ++p) {
        const double *x = lu->values + lu->links[p].lower,
                     *from = b + lu->offsets[lu->links[p].node];
        for (int i = 0; i < lu->sizes[lu->links[p].node]; ++i)
            for (int j = 0; j < s; ++j) y[j] -= x[i * s + j] * from[i];
    }
    for (int i = 0; i < s; ++i) {
        for (int j = 0; j < i; ++j) y[j] += inverse[i * s + j] * y[i];
        y[i] *= inverse[i * s + i];
    }
}

int block_lu_factor_symmetric(block_lu *lu)
{
    for (int k = 0; k < lu->node_count; ++k) {
        int size = lu->sizes[lu->order[k]];
        bool good;
        switch (size) {
        case 2: good = eliminate(lu, k, 2); break;
        case 3: good = eliminate(lu, k, 3); break;
        case 4: good = eliminate(lu, k, 4); break;
        case 5: good = eliminate(lu, k, 5); break;
        case 6: good = eliminate(lu, k, 6); break;
        default: good = eliminate(lu, k, size); break;
        }
        if (!good) return lu->order[k];
    }
    return -1;
}

void block_lu_solve_symmetric(const block_lu *lu, double *b)
{
    for (int k = 0; k < lu->node_count; ++k) {
        int size = lu->sizes[lu->order[k]];
        switch (size) {
        case 2: solve_forward(lu, k, 2, b); break;
        case 3: solve_forward(lu, k, 3, b); break;
        case 4: solve_forward(lu, k, 4, b); break;
        case 5: solve_forward(lu, k, 5, b); break;
        default: solve_forward(lu, k, size, b); break;
        }
    }
    for (int k = lu->node_count - 1; k >= 0; --k) {
        int size = lu->sizes[lu->order[k]];
        switch (size) {
        case 2: solve_backward(lu, k, 2, b); break;
        case 3: solve_backward(lu, k, 3, b); break;
        case 4: solve_backward(lu, k, 4, b); break;
        case 5: solve_backward(lu, k, 5, b); break;
        default: solve_backward(lu, k, size, b); break;
        }
    }
}
