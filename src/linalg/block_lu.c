// SPDX-License-Identifier: MIT
// Sparse block LU on a graph of small dense blocks, multifrontal.
//
// For node k in elimination order with later neighbours i, j:
//
//   factor   D_k = P L U,   V_kj = D_k^-1 A_kj,   A_ij -= A_ik V_kj
//   solve    y_k = D_k^-1 b_k,  b_j -= A_jk y_k (forward),   x_k = y_k - sum_j V_kj x_j (backward)
//
// Nodes that follow each other and have nearly the same later neighbours are eliminated together, in one dense matrix
// over them and these neighbours: a front. What a front leaves for its later neighbours, the update, waits on a stack
// until the front that eliminates the first of them takes it up. Orders are such that every subtree of the elimination
// tree is contiguous; the stack then always has on top what is needed next, and memory is walked through once.
//
// Nodes with very many later neighbours are chains of copies inside (block_chains.h), of which nothing shows outside.
#include "linalg/block_lu.h"

#include "base/pool.h"
#include "linalg/block_chains.h"
#include "linalg/block_graph.h"
#include "linalg/elimination_order.h"
#include "linalg/inertia.h"
#include "linalg/small_lu.h"

#include <string.h>

enum {
    FRONT_PADDING =
        3, // rows and columns at the end of a front, zero, so that kernels may work in fours
    GROUP_SIZE = 32, // unknowns eliminated from a large front before the rest of it is updated
    LARGE_FRONT = 96,
    CLEARED_AT_ONCE = 192,      // numbers
    FRONTS_BETWEEN_LOOKS = 256, // at whether the call is cancelled
};

// A front may store this part more than its nodes would alone.
static const double AMALGAMATION_GROWTH = 0.15;

// One neighbour of a node or copy that is eliminated later.
typedef struct later {
    int node;       // or copy
    int at;         // where its unknowns, or the e of a copy, begin in the front,
    int count;      // and how many of them stand there
    int own, other; // nodes of the matrix block; own = -1: the next copy of the same node
    size_t lower;   // block (other, own): A_jk
    size_t upper;   // block (own, other): A_kj
} later;

// Consecutive unknowns of an update that stay consecutive in the front that takes it up.
typedef struct run {
    int from, to, count;
} run;

// Values of a front: the rows of its nodes, with factored diagonal blocks, V right of them, A below; then the rows of
// the later neighbours, A alone.
typedef struct front {
    int first, end;             // its nodes, places in the order
    int pivots;                 // unknowns of these
    int later_first, later_end; // later neighbours, in `later_nodes`
    int rest;                   // unknowns of these
    int update_count;           // updates to take from the stack
    int run_first, run_end;     // where its own update goes
    size_t values;
} front;

struct block_lu {
    hn_context *context;
    int node_count;   // with copies
    int given_count;  // without
    int size;         // of the given nodes
    int *sizes;       // node_count
    int *outer;       // node_count: of these, what fronts of earlier nodes have to do with
    int *offsets;     // node_count
    int *order;       // elimination order
    int *place;       // place in the order
    size_t *diagonal; // block offsets in `matrix`
    int *pivots;      // per unknown, with those of copies
    int *links_first; // node_count + 1, into `links`
    later *links;     // neighbours of order[k], sorted by place
    double *matrix;
    size_t matrix_count;
    block_graph graph; // of the given nodes, where there are copies
    block_chains chains;
    double *extended; // a vector with the unknowns of copies

    front *fronts;
    int front_count;
    int *later_nodes;
    run *runs;
    int *local; // per node: its place in its front
    double *values;
    size_t value_count;
    double *work;                           // one front
    double *stack;                          // updates
    int *waiting;                           // fronts whose updates are on the stack
    const double *row_units, *column_units; // or NULL
    pool memory;
};

void block_lu_destroy(block_lu *lu)
{
    if (lu == NULL) return;
    pool_release(&lu->memory);
    block_chains_destroy(lu->context, &lu->chains);
    block_graph_destroy(lu->context, &lu->graph);
    context_release(lu->context, lu);
}

// ---- analysis ---------------------------------------------------------------------------------------

static bool is_copy(const block_lu *lu, int node)
{
    return node >= lu->given_count;
}

// The node itself or the copy of it that serves a neighbour, `p` of the graph.
static int server(const block_lu *lu, int node, int p)
{
    return lu->chains.copy_count > 0 ? lu->chains.attached[p] : node;
}

// Where the unknowns of a given node begin in a node or copy of it: those of (e, t) after e.
static int shift_of(const block_lu *lu, int node)
{
    return is_copy(lu, node) ? lu->sizes[node] / 2 : 0;
}

// Who serves `node` among the copies of `of`?
static int server_of(const block_lu *lu, int of, int node)
{
    if (lu->chains.copy_count == 0) return of;
    int low = lu->graph.first[of], high = lu->graph.first[of + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (lu->graph.nodes[middle] < node) low = middle + 1;
        else high = middle;
    }
    return low <= high && lu->graph.nodes[low] == node ? lu->chains.attached[low] : of;
}

// Who is eliminated after whom: first counted, then filled in. lu->links_first has one place more than it needs.
static void find_links(block_lu *lu, const block_graph *graph)
{
    int *first = lu->links_first;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < lu->given_count; ++i)
            for (int p = graph->first[i]; p < graph->first[i + 1]; ++p) {
                int from = server(lu, i, p), to = server_of(lu, graph->nodes[p], i);
                int k = lu->place[from];
                if (lu->place[to] < k) continue;
                if (pass == 0) first[k + 2]++;
                else
                    lu->links[first[k + 1]++] =
                        (later){.node = to, .own = i, .other = graph->nodes[p]};
            }
        for (int c = 0; c < lu->chains.copy_count; ++c) {
            int k = lu->place[lu->chains.before[c]];
            if (pass == 0) first[k + 2]++;
            else lu->links[first[k + 1]++] = (later){.node = lu->given_count + c, .own = -1};
        }
        for (int k = 0; pass == 0 && k < lu->node_count; ++k) first[k + 2] += first[k + 1];
    }
}

// The blocks of the matrix: diagonal ones, then for each node those to its later neighbours, in elimination order.
static hn_status place_blocks(block_lu *lu, const block_graph *graph)
{
    int n = lu->node_count;
    size_t links = (size_t)graph->first[lu->given_count] / 2 + (size_t)lu->chains.copy_count;
    lu->links_first = pool_ints(&lu->memory, (size_t)n + 1);
    lu->links = pool_take(&lu->memory, links, sizeof(later));
    lu->diagonal = pool_take(&lu->memory, (size_t)n, sizeof(size_t));
    TRY(pool_status(&lu->memory));
    find_links(lu, graph);
    size_t count = 0;
    for (int k = 0; k < n; ++k) {
        int node = lu->order[k], begin = lu->links_first[k], end = lu->links_first[k + 1];
        size_t size = (size_t)lu->sizes[node];
        lu->diagonal[node] = count;
        if (!is_copy(lu, node)) count += size * size;
        for (int p = begin + 1; p < end; ++p) {
            later link = lu->links[p];
            int to = p;
            for (; to > begin && lu->place[lu->links[to - 1].node] > lu->place[link.node]; --to)
                lu->links[to] = lu->links[to - 1];
            lu->links[to] = link;
        }
        for (int p = begin; p < end; ++p) {
            later *l = &lu->links[p];
            if (l->own < 0) continue;
            size_t block = (size_t)lu->sizes[l->own] * (size_t)lu->sizes[l->other];
            l->lower = count;
            l->upper = count + block;
            count += 2 * block;
        }
    }
    lu->matrix_count = count;
    lu->matrix = pool_doubles(&lu->memory, count);
    return pool_status(&lu->memory);
}

static double front_storage(double pivots, double rest)
{
    return pivots * (pivots + 2.0 * rest);
}

// Group the nodes into fronts: a node joins the front of the node before it when that one's first later neighbour it is
// and little is stored in vain.
static hn_status group_fronts(block_lu *lu, const block_structure *structure)
{
    int n = lu->node_count;
    lu->fronts = pool_take(&lu->memory, (size_t)n, sizeof(front));
    TRY(pool_status(&lu->memory));
    double alone = 0.0; // storage of the open front's nodes as fronts of their own
    for (int k = 0; k < n; ++k) {
        int size = lu->sizes[lu->order[k]], rest = 0;
        for (int p = structure->first[k]; p < structure->first[k + 1]; ++p)
            rest += lu->outer[lu->order[structure->places[p]]];
        double own = front_storage(size, rest);
        front *last = lu->front_count > 0 ? &lu->fronts[lu->front_count - 1] : NULL;
        bool joins =
            k > 0 && structure->first[k] > structure->first[k - 1] &&
            structure->places[structure->first[k - 1]] == k &&
            front_storage(last->pivots + size, rest) <= (1.0 + AMALGAMATION_GROWTH) * (alone + own);
        if (!joins) {
            last = &lu->fronts[lu->front_count++];
            *last = (front){.first = k};
            alone = 0.0;
        }
        lu->local[lu->order[k]] = last->pivots;
        last->end = k + 1;
        last->pivots += size;
        last->rest = rest;
        alone += own;
    }
    return HN_OK;
}

// Where the unknowns of a front's later neighbours stand in the front `parent`, as runs.
static void find_runs(block_lu *lu, const front *f, const front *parent, const int *at, int *used)
{
    int from = 0, open = -1;
    for (int p = f->later_first; p < f->later_end; ++p) {
        int node = lu->later_nodes[p], size = lu->outer[node];
        int to = lu->place[node] < parent->end ? lu->local[node] : at[node];
        if (open >= 0 && lu->runs[open].to + lu->runs[open].count == to)
            lu->runs[open].count += size;
        else lu->runs[open = (*used)++] = (run){from, to, size};
        from += size;
    }
}

// Later neighbours of the fronts, places of matrix blocks in them, the way of the updates, and memory for the values.
static hn_status connect_fronts(block_lu *lu, const block_structure *structure)
{
    int n = lu->node_count, used = 0, run_count = 0, widest = 0;
    size_t later_count = 0;
    for (int f = 0; f < lu->front_count; ++f) {
        int last = lu->fronts[f].end - 1;
        later_count += (size_t)(structure->first[last + 1] - structure->first[last]);
    }
    pool scratch = {.context = lu->context};
    int *front_of = pool_ints(&scratch, (size_t)n), *at = pool_ints(&scratch, (size_t)n);
    lu->later_nodes = pool_ints(&lu->memory, later_count);
    lu->runs = pool_take(&lu->memory, later_count, sizeof(run));
    lu->waiting = pool_ints(&lu->memory, (size_t)lu->front_count);
    if (scratch.failed || lu->memory.failed) goto done;
    for (int f = 0; f < lu->front_count; ++f) {
        front *own = &lu->fronts[f];
        for (int k = own->first; k < own->end; ++k) front_of[lu->order[k]] = f;
        own->later_first = used;
        for (int p = structure->first[own->end - 1]; p < structure->first[own->end]; ++p)
            lu->later_nodes[used++] = lu->order[structure->places[p]];
        own->later_end = used;
        own->values = lu->value_count;
        lu->value_count += (size_t)own->pivots * ((size_t)own->pivots + 2 * (size_t)own->rest);
        int width = own->pivots + own->rest;
        if (width > widest) widest = width;
    }
    // the stack as the fronts will use it
    size_t top = 0, highest = 0;
    int depth = 0;
    for (int f = 0; f < lu->front_count; ++f) {
        front *own = &lu->fronts[f];
        int next = own->pivots;
        for (int p = own->later_first; p < own->later_end; ++p) {
            at[lu->later_nodes[p]] = next;
            next += lu->outer[lu->later_nodes[p]];
        }
        for (int k = own->first; k < own->end; ++k)
            for (int p = lu->links_first[k]; p < lu->links_first[k + 1]; ++p) {
                int node = lu->links[p].node;
                lu->links[p].at = front_of[node] == f ? lu->local[node] : at[node];
                if (lu->links[p].own < 0) continue;
                lu->links[p].at += shift_of(lu, node);
                int other = lu->sizes[lu->links[p].other];
                bool whole = front_of[node] == f || lu->outer[node] == lu->sizes[node];
                lu->links[p].count = whole ? other : lu->outer[node];
            }
        while (depth > 0) {
            front *child = &lu->fronts[lu->waiting[depth - 1]];
            if (front_of[lu->later_nodes[child->later_first]] != f) break;
            child->run_first = run_count;
            find_runs(lu, child, own, at, &run_count);
            child->run_end = run_count;
            own->update_count++;
            top -= (size_t)child->rest * (size_t)child->rest;
            depth--;
        }
        if (own->rest == 0) continue;
        lu->waiting[depth++] = f;
        top += (size_t)own->rest * (size_t)own->rest;
        if (top > highest) highest = top;
    }
    size_t padded = (size_t)widest + FRONT_PADDING + 1;
    lu->values = pool_doubles(&lu->memory, lu->value_count);
    lu->work = pool_doubles(&lu->memory, padded * padded);
    lu->stack = pool_doubles(&lu->memory, highest);
done:
    pool_release(&scratch);
    TRY(pool_status(&scratch));
    return pool_status(&lu->memory);
}

// Order, sizes and places of all nodes and copies.
static hn_status number_nodes(block_lu *lu, const int *sizes, const int *outer, const int *order)
{
    const block_chains *chains = &lu->chains;
    int all = lu->node_count;
    size_t n = (size_t)all + 1;
    int *whole = pool_ints(&lu->memory, 6 * n), total = 0;
    TRY(pool_status(&lu->memory));
    lu->sizes = whole;
    lu->offsets = whole + n;
    lu->order = whole + 2 * n;
    lu->place = whole + 3 * n;
    lu->local = whole + 4 * n;
    lu->outer = whole + 5 * n;
    bool split = chains->copy_count > 0;
    memcpy(lu->sizes, split ? chains->sizes : sizes, (size_t)all * sizeof(int));
    memcpy(lu->outer, split || outer == NULL ? lu->sizes : outer, (size_t)all * sizeof(int));
    memcpy(lu->order, split ? chains->order : order, (size_t)all * sizeof(int));
    for (int i = 0; i < all; ++i) {
        lu->offsets[i] = total;
        total += lu->sizes[i];
        if (!is_copy(lu, i)) lu->size = total;
    }
    lu->pivots = pool_ints(&lu->memory, (size_t)total);
    if (split) lu->extended = pool_doubles(&lu->memory, (size_t)total);
    return pool_status(&lu->memory);
}

// Everything from an order of the given nodes on.
static hn_status analyse(block_lu *lu, const int *sizes, const int *outer, const int *order)
{
    block_structure structure = {0};
    const block_graph *graph = &lu->graph;
    TRY(block_chains_create(lu->context, graph, sizes, order, &lu->chains));
    lu->node_count = lu->given_count + lu->chains.copy_count;
    const block_graph *whole = lu->chains.copy_count > 0 ? &lu->chains.graph : graph;
    TRY(number_nodes(lu, sizes, outer, order));
    TRY(block_graph_postorder(lu->context, whole, lu->order));
    for (int k = 0; k < lu->node_count; ++k) lu->place[lu->order[k]] = k;
    hn_status status = block_structure_create(lu->context, whole, lu->order, &structure);
    if (status == HN_OK) status = place_blocks(lu, graph);
    if (status == HN_OK) status = group_fronts(lu, &structure);
    if (status == HN_OK) status = connect_fronts(lu, &structure);
    block_structure_destroy(lu->context, &structure);
    return status;
}

hn_status block_lu_create(hn_context *context, int node_count, const int *sizes, int edge_count,
                          const int (*edges)[2], const int *order, block_lu **out)
{
    return block_lu_create_outer(context, node_count, sizes, NULL, edge_count, edges, order, out);
}

hn_status block_lu_create_outer(hn_context *context, int node_count, const int *sizes,
                                const int *outer, int edge_count, const int (*edges)[2],
                                const int *order, block_lu **out)
{
    *out = NULL;
    block_lu *lu = context_allocate(context, sizeof *lu);
    int *found = context_allocate(context, ((size_t)node_count + 1) * sizeof(int));
    hn_status status = lu == NULL || found == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (lu != NULL) {
        lu->context = lu->memory.context = context;
        lu->given_count = node_count;
    }
    if (status == HN_OK)
        status = block_graph_create(context, node_count, edge_count, edges, &lu->graph);
    if (status == HN_OK && order == NULL)
        status = order_minimum_degree(context, node_count, edge_count, edges, found);
    if (status == HN_OK) status = analyse(lu, sizes, outer, order == NULL ? found : order);
    context_release(context, found);
    if (status != HN_OK) {
        block_lu_destroy(lu);
        return status;
    }
    if (lu->chains.copy_count == 0) block_graph_destroy(context, &lu->graph);
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

// ---- the matrix -------------------------------------------------------------------------------------

void block_lu_clear(block_lu *lu)
{
    // in pieces small enough for the vector loop of memset, not its string instructions
    for (size_t begin = 0; begin < lu->matrix_count; begin += CLEARED_AT_ONCE) {
        size_t left = lu->matrix_count - begin;
        memset(lu->matrix + begin, 0,
               (left < CLEARED_AT_ONCE ? left : CLEARED_AT_ONCE) * sizeof(double));
    }
}

double *block_lu_block(block_lu *lu, int row, int column)
{
    if (row == column) return lu->matrix + lu->diagonal[row];
    int place = lu->place[server_of(lu, row, column)],
        other = lu->place[server_of(lu, column, row)];
    bool row_first = place < other;
    int k = row_first ? place : other, wanted = row_first ? other : place;
    int low = lu->links_first[k], high = lu->links_first[k + 1] - 1;
    while (low <= high) {
        int middle = (low + high) / 2, at = lu->place[lu->links[middle].node];
        if (at == wanted)
            return lu->matrix + (row_first ? lu->links[middle].upper : lu->links[middle].lower);
        if (at < wanted) low = middle + 1;
        else high = middle - 1;
    }
    return NULL;
}

// a block into a larger row-major matrix
static void copy_block(int rows, int columns, int width, const double *a, size_t stride, double *to)
{
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) to[(size_t)i * stride + (size_t)j] = a[i * width + j];
}

// The same in units of the equations from `row` and the unknowns from `column` on; rows of the block are `width` long.
static void copy_in_units(const block_lu *lu, int row, int column, int rows, int columns, int width,
                          const double *a, size_t stride, double *to)
{
    if (lu->row_units == NULL) {
        copy_block(rows, columns, width, a, stride, to);
        return;
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            to[(size_t)i * stride + (size_t)j] =
                lu->row_units[row + i] * lu->column_units[column + j] * a[i * width + j];
}

void block_lu_set_units(block_lu *lu, const double *rows, const double *columns)
{
    lu->row_units = rows;
    lu->column_units = columns;
}

void block_lu_dense(const block_lu *lu, double *dense)
{
    size_t n = (size_t)lu->size;
    memset(dense, 0, n * n * sizeof(double));
    for (int i = 0; i < lu->given_count; ++i) {
        size_t o = (size_t)lu->offsets[i];
        copy_block(lu->sizes[i], lu->sizes[i], lu->sizes[i], lu->matrix + lu->diagonal[i], n,
                   dense + o * n + o);
    }
    for (int p = 0; p < lu->links_first[lu->node_count]; ++p) {
        const later *l = &lu->links[p];
        if (l->own < 0) continue;
        int s = lu->sizes[l->own], t = lu->sizes[l->other];
        size_t o = (size_t)lu->offsets[l->own], q = (size_t)lu->offsets[l->other];
        copy_block(t, s, s, lu->matrix + l->lower, n, dense + q * n + o);
        copy_block(s, t, t, lu->matrix + l->upper, n, dense + o * n + q);
    }
}

// Two doubles that are added and multiplied together; gcc and clang know such types on every processor.
typedef double pair __attribute__((vector_size(16)));

static inline pair load_pair(const double *from)
{
    pair x;
    memcpy(&x, from, sizeof x);
    return x;
}

// ---- factorisation ----------------------------------------------------------------------------------

// a front being eliminated: row-major, `width` unknowns and padding
typedef struct dense_front {
    double *a;
    int width;
    size_t stride;
} dense_front;

static inline void subtract_pair(pair x, double *from)
{
    pair y = load_pair(from) - x;
    memcpy(from, &y, sizeof y);
}

// c -= a b for four rows and four columns; the sums stay in registers
static inline void subtract_tile(int inner, size_t stride, const double *a, const double *b,
                                 double *c)
{
    pair zero = {0.0, 0.0};
    pair s00 = zero, s01 = zero, s10 = zero, s11 = zero, s20 = zero, s21 = zero, s30 = zero,
         s31 = zero;
    for (int k = 0; k < inner; ++k, ++a, b += stride) {
        pair b0 = load_pair(b), b1 = load_pair(b + 2);
        double a0 = a[0], a1 = a[stride], a2 = a[2 * stride], a3 = a[3 * stride];
        s00 += a0 * b0, s01 += a0 * b1;
        s10 += a1 * b0, s11 += a1 * b1;
        s20 += a2 * b0, s21 += a2 * b1;
        s30 += a3 * b0, s31 += a3 * b1;
    }
    subtract_pair(s00, c), subtract_pair(s01, c + 2);
    subtract_pair(s10, c + stride), subtract_pair(s11, c + stride + 2);
    subtract_pair(s20, c + 2 * stride), subtract_pair(s21, c + 2 * stride + 2);
    subtract_pair(s30, c + 3 * stride), subtract_pair(s31, c + 3 * stride + 2);
}

// c -= a b for what does not fill tiles
static void subtract_strip(int rows, int inner, int columns, size_t stride,
                           const double *restrict a, const double *restrict b, double *restrict c)
{
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < inner; ++k) {
            double factor = a[(size_t)i * stride + (size_t)k];
            for (int j = 0; j < columns; ++j)
                c[(size_t)i * stride + (size_t)j] -= factor * b[(size_t)k * stride + (size_t)j];
        }
}

// c -= a b inside a front: blocks of one row-major matrix
static void subtract_product(int rows, int inner, int columns, size_t stride, const double *a,
                             const double *b, double *c)
{
    int whole_rows = rows & ~3, whole_columns = columns & ~3;
    for (int i = 0; i < whole_rows; i += 4)
        for (int j = 0; j < whole_columns; j += 4)
            subtract_tile(inner, stride, a + (size_t)i * stride, b + j,
                          c + (size_t)i * stride + (size_t)j);
    if (whole_columns < columns)
        subtract_strip(whole_rows, inner, columns - whole_columns, stride, a, b + whole_columns,
                       c + whole_columns);
    if (whole_rows < rows)
        subtract_strip(rows - whole_rows, inner, columns, stride, a + (size_t)whole_rows * stride,
                       b, c + (size_t)whole_rows * stride);
}

// to -= factor from, four at a time and up to three into the padding
static inline void subtract_row(int count, double factor, const double *from, double *to)
{
    for (int c = 0; c < count; c += 4) {
        subtract_pair(factor * load_pair(from + c), to + c);
        subtract_pair(factor * load_pair(from + c + 2), to + c + 2);
    }
}

// b <- D^-1 b for the row strip of a node, with the reciprocals of U's diagonal. Many entries of D are zero: a body's
// inertia does not couple much.
static void solve_strip(int n, size_t stride, const double *lu, const int *pivot, int columns,
                        double *b)
{
    for (int k = 0; k < n; ++k) {
        double *row = b + (size_t)k * stride, *other = b + (size_t)pivot[k] * stride;
        for (int c = 0; row != other && c < columns; ++c) {
            double swap = row[c];
            row[c] = other[c];
            other[c] = swap;
        }
    }
    for (int i = 1; i < n; ++i)
        for (int k = 0; k < i; ++k) {
            double factor = lu[(size_t)i * stride + (size_t)k];
            if (factor != 0.0)
                subtract_row(columns, factor, b + (size_t)k * stride, b + (size_t)i * stride);
        }
    for (int i = n - 1; i >= 0; --i) {
        double *row = b + (size_t)i * stride, inverse = lu[(size_t)i * (stride + 1)];
        for (int k = i + 1; k < n; ++k) {
            double factor = lu[(size_t)i * stride + (size_t)k];
            if (factor != 0.0) subtract_row(columns, factor, b + (size_t)k * stride, row);
        }
        for (int c = 0; c < columns; ++c) row[c] *= inverse;
    }
}

// Rows of a constraint node that depend on what was eliminated before are decoupled; its block is -D.
static void drop_dependent_rows(const block_lu *lu, int node, const dense_front *d, int at,
                                block_lu_rank *rank)
{
    int n = lu->sizes[node];
    int first = lu->offsets[node] - lu->offsets[rank->first_node];
    double work[ROW_RANK_MAX * ROW_RANK_MAX];
    double *diagonal = d->a + (size_t)at * (d->stride + 1);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) work[i * n + j] = -diagonal[(size_t)i * d->stride + (size_t)j];
    row_rank_decide(rank->rows, node - rank->first_node, first, n, rank->scale + first, work);
    for (int i = 0; i < n; ++i) {
        if (!rank->rows->dropped[first + i]) continue;
        double *row = d->a + (size_t)(at + i) * d->stride, *column = d->a + (at + i);
        for (int j = at; j < d->width; ++j) row[j] = column[(size_t)j * d->stride] = 0.0;
        row[at + i] = 1.0;
    }
}

// (C15): ones times `factor` from one set of s unknowns to another, and back
static void add_identity(const dense_front *d, size_t row, size_t column, int s, double factor)
{
    for (size_t i = 0; i < (size_t)s; ++i)
        d->a[(row + i) * d->stride + column + i] = d->a[(column + i) * d->stride + row + i] =
            factor;
}

// The matrix blocks of a node or copy and its later neighbours.
static void assemble_node(const block_lu *lu, int k, const dense_front *d)
{
    int node = lu->order[k], shift = shift_of(lu, node), half = lu->sizes[node] - shift;
    size_t at = (size_t)lu->local[node], own_at = at + (size_t)shift;
    if (is_copy(lu, node)) add_identity(d, at, own_at, half, -1.0);
    else
        copy_in_units(lu, lu->offsets[node], lu->offsets[node], half, half, half,
                      lu->matrix + lu->diagonal[node], d->stride, d->a + at * (d->stride + 1));
    for (int p = lu->links_first[k]; p < lu->links_first[k + 1]; ++p) {
        const later *l = &lu->links[p];
        size_t to = (size_t)l->at;
        if (l->own < 0) {
            add_identity(d, own_at, to, half, 1.0);
            continue;
        }
        int own = lu->offsets[l->own], other = lu->offsets[l->other];
        copy_in_units(lu, other, own, l->count, half, half, lu->matrix + l->lower, d->stride,
                      d->a + to * d->stride + own_at);
        copy_in_units(lu, own, other, half, l->count, lu->sizes[l->other], lu->matrix + l->upper,
                      d->stride, d->a + own_at * d->stride + to);
    }
}

// Collect the matrix blocks of a front's nodes and the updates that wait for it.
static void assemble_front(const block_lu *lu, const front *f, const dense_front *d, int *depth,
                           size_t *top)
{
    for (int i = 0; i < d->width + FRONT_PADDING; ++i)
        memset(d->a + (size_t)i * d->stride, 0, d->stride * sizeof(double));
    for (int k = f->first; k < f->end; ++k) assemble_node(lu, k, d);
    for (int u = 0; u < f->update_count; ++u) {
        const front *child = &lu->fronts[lu->waiting[--*depth]];
        size_t rest = (size_t)child->rest;
        *top -= rest * rest;
        const double *update = lu->stack + *top;
        const run *begin = lu->runs + child->run_first, *end = lu->runs + child->run_end;
        for (const run *r = begin; r < end; ++r)
            for (int i = 0; i < r->count; ++i) {
                const double *from = update + (size_t)(r->from + i) * rest;
                double *to = d->a + (size_t)(r->to + i) * d->stride;
                for (const run *c = begin; c < end; ++c)
                    for (int j = 0; j < c->count; ++j) to[c->to + j] += from[c->from + j];
            }
    }
}

static int given_node(const block_lu *lu, int node)
{
    return is_copy(lu, node) ? lu->chains.owner[node - lu->given_count] : node;
}

// Nodes of a front are eliminated one after the other, then into its later neighbours.
void block_lu_raise(const block_lu *lu, double *numbers)
{
    for (const front *f = lu->fronts; f < lu->fronts + lu->front_count; ++f) {
        double largest = 0.0;
        for (int k = f->first; k < f->end; ++k) {
            double *own = &numbers[given_node(lu, lu->order[k])];
            if (largest > *own) *own = largest;
            largest = *own;
        }
        for (int p = f->later_first; p < f->later_end; ++p) {
            double *own = &numbers[given_node(lu, lu->later_nodes[p])];
            if (largest > *own) *own = largest;
        }
    }
}

// Eliminate the nodes of a front. Returns -1, or the node whose diagonal block is singular, or at which the call was
// cancelled.
static int eliminate(block_lu *lu, const front *f, const dense_front *d, block_lu_rank *rank)
{
    size_t stride = d->stride;
    double *a = d->a;
    int group = d->width < LARGE_FRONT ? 0 : GROUP_SIZE;
    int width = d->width,
        begin = 0; // of the group of nodes whose effect on the rest of the front is pending
    for (int k = f->first; k < f->end; ++k) {
        int node = lu->order[k], s = lu->sizes[node], at = lu->local[node], end = at + s;
        int *pivot = lu->pivots + lu->offsets[node];
        double *strip = a + (size_t)at * stride;
        if (at > begin) {
            const double *pending = a + (size_t)begin * stride;
            subtract_product(s, at - begin, width - at, stride, strip + begin, pending + at,
                             strip + at);
            subtract_product(width - end, at - begin, s, stride, a + (size_t)end * stride + begin,
                             pending + at, a + (size_t)end * stride + at);
        }
        if (rank != NULL && node >= rank->first_node && !is_copy(lu, node))
            drop_dependent_rows(lu, node, d, at, rank);
        // (e, t) adds as many negative eigenvalues as it adds positive ones
        if (rank != NULL && rank->negative != NULL)
            *rank->negative +=
                inertia_negative(s, (int)stride, strip + at) - (is_copy(lu, node) ? s / 2 : 0);
        if (!small_lu_factor(s, (int)stride, strip + at, pivot)) return given_node(lu, node);
        for (int i = 0; i < s; ++i) {
            double *entry = strip + at + (size_t)i * (stride + 1);
            *entry = 1.0 / *entry;
        }
        solve_strip(s, stride, strip + at, pivot, width - end, strip + end);
        bool last = k + 1 == f->end;
        if (last || end + lu->sizes[lu->order[k + 1]] - begin > group) {
            int rest = (width - end + FRONT_PADDING) & ~FRONT_PADDING;
            subtract_product(rest, end - begin, rest, stride, a + (size_t)end * stride + begin,
                             a + (size_t)begin * stride + end, a + (size_t)end * (stride + 1));
            begin = end;
            if (group > 0 && context_is_cancelled(lu->context)) return given_node(lu, node);
        }
    }
    return -1;
}

// Keep the factors of a front and leave its update on the stack.
static void store_front(block_lu *lu, const front *f, const dense_front *d, size_t *top)
{
    size_t pivots = (size_t)f->pivots, rest = (size_t)f->rest, width = pivots + rest;
    double *upper = lu->values + f->values, *below = upper + pivots * width,
           *update = lu->stack + *top;
    for (size_t i = 0; i < pivots; ++i)
        memcpy(upper + i * width, d->a + i * d->stride, width * sizeof(double));
    for (size_t j = 0; j < rest; ++j) {
        const double *row = d->a + (pivots + j) * d->stride;
        memcpy(below + j * pivots, row, pivots * sizeof(double));
        memcpy(update + j * rest, row + pivots, rest * sizeof(double));
    }
    *top += rest * rest;
}

int block_lu_factor(block_lu *lu)
{
    return block_lu_factor_rank(lu, NULL);
}

int block_lu_factor_rank(block_lu *lu, block_lu_rank *rank)
{
    size_t top = 0;
    int depth = 0;
    for (int k = 0; k < lu->front_count; ++k) {
        const front *f = &lu->fronts[k];
        int width = f->pivots + f->rest;
        if (k % FRONTS_BETWEEN_LOOKS == FRONTS_BETWEEN_LOOKS - 1 &&
            context_is_cancelled(lu->context))
            return given_node(lu, lu->order[f->first]);
        dense_front d = {lu->work, width, (size_t)((width + FRONT_PADDING + 1) & ~1)};
        assemble_front(lu, f, &d, &depth, &top);
        int singular = eliminate(lu, f, &d, rank);
        if (singular >= 0) return singular;
        store_front(lu, f, &d, &top);
        if (f->rest > 0) lu->waiting[depth++] = k;
    }
    return -1;
}

// ---- solution ---------------------------------------------------------------------------------------

// x of a front's own unknowns, or back
static void load_pivots(const block_lu *lu, const front *f, const double *b, double *x)
{
    for (int k = f->first; k < f->end; ++k) {
        int node = lu->order[k], s = lu->sizes[node];
        for (int i = 0; i < s; ++i) x[lu->local[node] + i] = b[lu->offsets[node] + i];
    }
}

static void store_pivots(const block_lu *lu, const front *f, const double *x, double *b)
{
    for (int k = f->first; k < f->end; ++k) {
        int node = lu->order[k], s = lu->sizes[node];
        for (int i = 0; i < s; ++i) b[lu->offsets[node] + i] = x[lu->local[node] + i];
    }
}

static inline double dot(int n, const double *x, const double *y)
{
    pair first = {0.0, 0.0}, second = first;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        first += load_pair(x + i) * load_pair(y + i);
        second += load_pair(x + i + 2) * load_pair(y + i + 2);
    }
    first += second;
    double sum = first[0] + first[1];
    for (; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// x <- D^-1 x with the reciprocals of U's diagonal
static void solve_diagonal(int n, size_t stride, const double *lu, const int *pivot, double *x)
{
    for (int k = 0; k < n; ++k) {
        double swap = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (int i = 1; i < n; ++i)
        for (int k = 0; k < i; ++k) x[i] -= lu[(size_t)i * stride + (size_t)k] * x[k];
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) x[i] -= lu[(size_t)i * stride + (size_t)k] * x[k];
        x[i] *= lu[(size_t)i * (stride + 1)];
    }
}

// Forward and backward for all nodes and copies, in units.
static void substitute(const block_lu *lu, double *b)
{
    for (int f = 0; f < lu->front_count; ++f) {
        const front *own = &lu->fronts[f];
        size_t pivots = (size_t)own->pivots, width = pivots + (size_t)own->rest;
        const double *upper = lu->values + own->values, *below = upper + pivots * width;
        double *x = lu->work;
        load_pivots(lu, own, b, x);
        for (int k = own->first; k < own->end; ++k) {
            int node = lu->order[k], s = lu->sizes[node], at = lu->local[node];
            const double *row = upper + (size_t)at * width;
            for (int i = 0; at > 0 && i < s; ++i, row += width) x[at + i] -= dot(at, row, x);
            solve_diagonal(s, width, upper + (size_t)at * (width + 1),
                           lu->pivots + lu->offsets[node], x + at);
        }
        store_pivots(lu, own, x, b);
        for (int p = own->later_first; p < own->later_end; ++p) {
            int node = lu->later_nodes[p];
            double *to = b + lu->offsets[node];
            for (int i = 0; i < lu->outer[node]; ++i, below += pivots)
                to[i] -= dot(own->pivots, below, x);
        }
    }
    for (int f = lu->front_count - 1; f >= 0; --f) {
        const front *own = &lu->fronts[f];
        size_t width = (size_t)own->pivots + (size_t)own->rest;
        const double *upper = lu->values + own->values;
        double *x = lu->work, *next = x + own->pivots;
        load_pivots(lu, own, b, x);
        for (int p = own->later_first; p < own->later_end; ++p) {
            int node = lu->later_nodes[p];
            const double *from = b + lu->offsets[node];
            for (int i = 0; i < lu->outer[node]; ++i) *next++ = from[i];
        }
        for (int k = own->end - 1; k >= own->first; --k) {
            int node = lu->order[k], s = lu->sizes[node], at = lu->local[node], end = at + s;
            for (int i = at; i < end; ++i)
                x[i] -= dot((int)width - end, upper + (size_t)i * width + end, x + end);
        }
        store_pivots(lu, own, x, b);
    }
}

void block_lu_solve(const block_lu *lu, double *b)
{
    size_t size = (size_t)lu->size, copies = 0;
    for (int c = lu->given_count; c < lu->node_count; ++c) copies += (size_t)lu->sizes[c];
    for (size_t i = 0; lu->row_units != NULL && i < size; ++i) b[i] *= lu->row_units[i];
    if (lu->extended == NULL) {
        substitute(lu, b);
    } else {
        memcpy(lu->extended, b, size * sizeof(double));
        memset(lu->extended + size, 0, copies * sizeof(double));
        substitute(lu, lu->extended);
        memcpy(b, lu->extended, size * sizeof(double));
    }
    for (size_t i = 0; lu->row_units != NULL && i < size; ++i) b[i] *= lu->column_units[i];
}
