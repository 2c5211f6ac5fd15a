// SPDX-License-Identifier: MIT
// Small and block LU against LAPACK's dense solution; eigenvalues, least squares, inverses, ranks against known
// matrices.
#include "base/array.h"
#include "linalg/block_cholesky.h"
#include "linalg/block_lu.h"
#include "linalg/elimination_order.h"
#include "linalg/dense.h"
#include "linalg/elimination_order.h"
#include "linalg/inertia.h"
#include "linalg/small_lu.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <lapacke.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// x with A x = b by LAPACK, A row-major
static void lapack_solve(int n, const double *a, const double *b, double *x)
{
    double *copy = malloc((size_t)n * (size_t)n * sizeof(double));
    lapack_int *pivots = malloc((size_t)n * sizeof(lapack_int));
    CHECK(copy != NULL && pivots != NULL);
    memcpy(copy, a, (size_t)n * (size_t)n * sizeof(double));
    memcpy(x, b, (size_t)n * sizeof(double));
    CHECK_EQUAL(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, copy, n, pivots, x, 1), 0);
    free(copy);
    free(pivots);
}

static double largest_difference(int n, const double *x, const double *y)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i) {
        double off = fabs(x[i] - y[i]);
        if (!(off <= worst)) worst = off;
        size = fmax(size, fabs(y[i]));
    }
    return worst / size;
}

// ---- small LU ---------------------------------------------------------------------------------------

TEST(small_lu, solves_as_lapack_does)
{
    number_source numbers = {31};
    double worst = 0.0;
    for (int n = 1; n <= 12; ++n) {
        enum { STRIDE = 15, RIGHT_STRIDE = 5, COLUMNS = 3 };
        double a[12 * STRIDE], b[12 * RIGHT_STRIDE], packed[144], right[12], x[12];
        int pivot[12];
        for (int i = 0; i < 12 * STRIDE; ++i)
            a[i] = 77.0; // what lies between the rows is left alone
        for (int i = 0; i < 12 * RIGHT_STRIDE; ++i) b[i] = 77.0;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j)
                a[i * STRIDE + j] = packed[i * n + j] = next_number(&numbers);
            for (int c = 0; c < COLUMNS; ++c) b[i * RIGHT_STRIDE + c] = next_number(&numbers);
        }
        a[0] = packed[0] = n == 1 ? 0.5 : 0.0; // needs an exchange
        double original[12 * RIGHT_STRIDE];
        memcpy(original, b, sizeof b);
        CHECK(small_lu_factor(n, STRIDE, a, pivot));
        small_lu_solve(n, STRIDE, a, pivot, COLUMNS, RIGHT_STRIDE, b);
        for (int c = 0; c < COLUMNS; ++c) {
            double found[12];
            for (int i = 0; i < n; ++i)
                right[i] = original[i * RIGHT_STRIDE + c], found[i] = b[i * RIGHT_STRIDE + c];
            lapack_solve(n, packed, right, x);
            worst = fmax(worst, largest_difference(n, found, x));
        }
        for (int i = 0; i < n; ++i) {
            CHECK(a[i * STRIDE + n] == 77.0);
            CHECK(b[i * RIGHT_STRIDE + COLUMNS] == 77.0);
        }
    }
    CHECK_BELOW(worst, 2e-14); // measured 6.0e-16
}

TEST(small_lu, refuses_singular_and_infinite_matrices)
{
    int pivot[3];
    double zero[1] = {0.0};
    CHECK(!small_lu_factor(1, 1, zero, pivot));
    double repeated[9] = {1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0};
    CHECK(!small_lu_factor(3, 3, repeated, pivot));
    double broken[4] = {(double)NAN, 1.0, 1.0, 1.0};
    CHECK(!small_lu_factor(2, 2, broken, pivot));
    double infinite[4] = {(double)INFINITY, 1.0, 1.0, 1.0};
    CHECK(!small_lu_factor(2, 2, infinite, pivot));
    CHECK(small_lu_factor(0, 0, zero, pivot)); // a fixed joint has no unknowns
}

// ---- block LU ---------------------------------------------------------------------------------------

enum { NODES_MAX = 92, EDGES_MAX = 600 };

typedef struct graph {
    const char *name;
    int node_count, edge_count;
    int sizes[NODES_MAX];
    int edges[EDGES_MAX][2];
} graph;

static void connect(graph *g, int a, int b)
{
    g->edges[g->edge_count][0] = a;
    g->edges[g->edge_count][1] = b;
    g->edge_count++;
}

static void random_sizes(graph *g, number_source *numbers)
{
    for (int i = 0; i < g->node_count; ++i)
        g->sizes[i] = 1 + (int)(2.5 * (1.0 + next_number(numbers)));
}

static graph random_tree(number_source *numbers)
{
    graph g = {.name = "tree", .node_count = 25};
    random_sizes(&g, numbers);
    for (int i = 1; i < g.node_count; ++i)
        connect(&g, i, (int)(0.5 * (1.0 + next_number(numbers)) * i));
    return g;
}

static graph ladder(number_source *numbers)
{
    graph g = {.name = "ladder", .node_count = 24};
    random_sizes(&g, numbers);
    for (int i = 0; i < 12; ++i) {
        connect(&g, 2 * i, 2 * i + 1);
        if (i < 11) connect(&g, 2 * i, 2 * i + 2), connect(&g, 2 * i + 3, 2 * i + 1);
    }
    return g;
}

static graph grid(number_source *numbers)
{
    graph g = {.name = "grid", .node_count = 36};
    random_sizes(&g, numbers);
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            if (i < 5) connect(&g, 6 * i + k, 6 * i + 6 + k);
            if (k < 5) connect(&g, 6 * i + k + 1, 6 * i + k);
        }
    connect(&g, 0, 1); // a repeat, and in the other order
    return g;
}

static graph random_pairs(number_source *numbers)
{
    graph g = {.name = "random pairs and lone nodes", .node_count = 30};
    random_sizes(&g, numbers);
    for (int e = 0; e < 40; ++e) {
        int a = (int)(14.0 * (1.0 + next_number(numbers))),
            b = (int)(14.0 * (1.0 + next_number(numbers)));
        if (a != b) connect(&g, a, b);
    }
    return g;
}

// All nodes tied to each other: one front of some hundred unknowns.
static graph clique(number_source *numbers)
{
    graph g = {.name = "clique", .node_count = 34};
    random_sizes(&g, numbers);
    for (int i = 0; i < g.node_count; ++i)
        for (int k = 0; k < i; ++k) connect(&g, i, k);
    return g;
}

// Two hubs, each tied to all spokes, and to each other; spokes are pairs of which every tenth is tied to the next. The
// order eliminates the hubs among the first.
static graph wheel(number_source *numbers, int *order)
{
    graph g = {.name = "wheel", .node_count = 92};
    random_sizes(&g, numbers);
    for (int i = 2; i < g.node_count; ++i) {
        if (i % 2 == 0) connect(&g, i, i + 1);
        if (i % 3 != 0) connect(&g, 0, i);
        if (i % 2 == 0) connect(&g, i, 1);
        if (i % 10 == 0) connect(&g, i, i - 1);
    }
    connect(&g, 1, 0);
    // some spokes come before the hubs
    for (int i = 0; i < g.node_count; ++i) order[i] = (i + 85) % g.node_count;
    return g;
}

// Fill diagonal blocks and the blocks of all edges.
static void fill(block_lu *lu, const graph *g, number_source *numbers)
{
    block_lu_clear(lu);
    for (int i = 0; i < g->node_count; ++i) {
        double *block = block_lu_block(lu, i, i);
        int n = g->sizes[i];
        for (int k = 0; k < n * n; ++k) block[k] = next_number(numbers);
        // pivots are searched inside the block alone: keep it away from singular, but not diagonally dominant
        for (int k = 0; k < n; ++k) block[k * n + (k + 1) % n] += 6.0;
    }
    for (int e = 0; e < g->edge_count; ++e)
        for (int side = 0; side < 2; ++side) {
            int row = g->edges[e][side], column = g->edges[e][1 - side];
            double *block = block_lu_block(lu, row, column);
            CHECK(block != NULL);
            for (int k = 0; k < g->sizes[row] * g->sizes[column]; ++k)
                block[k] = next_number(numbers);
        }
}

static void check_graph(hn_context *context, const graph *g, const int *order,
                        number_source *numbers, double *worst)
{
    block_lu *lu = NULL;
    CHECK_OK(context, block_lu_create(context, g->node_count, g->sizes, g->edge_count, g->edges,
                                      order, &lu));
    int n = block_lu_size(lu), expected = 0;
    for (int i = 0; i < g->node_count; ++i) {
        CHECK_EQUAL(block_lu_offset(lu, i), expected);
        CHECK_EQUAL(block_lu_node_size(lu, i), g->sizes[i]);
        expected += g->sizes[i];
    }
    CHECK_EQUAL(n, expected);
    double *dense = malloc((size_t)n * (size_t)n * sizeof(double)),
           *b = malloc(3 * (size_t)n * sizeof(double));
    CHECK(dense != NULL && b != NULL);
    double *x = b + n, *reference = b + 2 * n;
    for (int repeat = 0; repeat < 2; ++repeat) { // factored again in the same memory
        fill(lu, g, numbers);
        // what is in the dense copy is what was put into the blocks
        block_lu_dense(lu, dense);
        for (int e = 0; e < g->edge_count; ++e) {
            int row = g->edges[e][0], column = g->edges[e][1];
            const double *block = block_lu_block(lu, row, column);
            for (int i = 0; i < g->sizes[row]; ++i)
                for (int k = 0; k < g->sizes[column]; ++k)
                    CHECK(dense[(block_lu_offset(lu, row) + i) * n + block_lu_offset(lu, column) +
                                k] == block[i * g->sizes[column] + k]);
        }
        for (int i = 0; i < n; ++i) b[i] = next_number(numbers);
        memcpy(x, b, (size_t)n * sizeof(double));
        CHECK_EQUAL(block_lu_factor(lu), -1);
        block_lu_solve(lu, x);
        lapack_solve(n, dense, b, reference);
        *worst = fmax(*worst, largest_difference(n, x, reference));
    }
    free(dense);
    free(b);
    block_lu_destroy(lu);
}

// Inside, the hubs are chains of copies; the matrix and its solution are the same. All unknowns of a hub are tied to
// each other first, so that pivots can be found inside blocks.
TEST(block_lu, solves_as_lapack_does_with_hubs)
{
    hn_context *context = hn_context_create(NULL);
    double worst = 0.0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        number_source numbers = {90 + seed};
        int order[NODES_MAX];
        graph g = wheel(&numbers, order);
        check_graph(context, &g, order, &numbers, &worst);
        check_graph(context, &g, NULL, &numbers, &worst);
    }
    CHECK_BELOW(worst, 1e-13); // measured 2.0e-15
    hn_context_destroy(context);
}

// A hub of six unknowns before `count` spokes of three, each tied to a node of its own: numbers stored, and
// multiplications, for a spoke.
static void measure_hub(hn_context *context, int count, double *storage, double *cost)
{
    int nodes = 1 + 2 * count, *sizes = calloc((size_t)nodes, 2 * sizeof(int)),
        *order = sizes + nodes;
    int(*edges)[2] = calloc(2 * (size_t)count, sizeof(int[2]));
    CHECK(sizes != NULL && edges != NULL);
    sizes[0] = 6;
    for (int i = 0; i < count; ++i) {
        sizes[1 + 2 * i] = sizes[2 + 2 * i] = 3;
        edges[2 * i][1] = edges[2 * i + 1][0] = 1 + 2 * i;
        edges[2 * i + 1][1] = 2 + 2 * i;
    }
    for (int i = 0; i < nodes; ++i) order[i] = i;
    block_lu *lu = NULL;
    CHECK_OK(context,
             block_lu_create(context, nodes, sizes, 2 * count, (const int(*)[2])edges, order, &lu));
    *storage = (double)block_lu_storage(lu) / count;
    CHECK_OK(context,
             order_cost(context, nodes, sizes, 2 * count, (const int(*)[2])edges, order, cost));
    *cost /= count;
    block_lu_destroy(lu);
    free(sizes);
    free(edges);
}

// As one dense front a hub of 3000 would store 9000 numbers and take 3e7 multiplications for a spoke.
TEST(block_lu, work_of_a_hub_grows_with_its_neighbours)
{
    hn_context *context = hn_context_create(NULL);
    double few[2], many[2];
    measure_hub(context, 100, &few[0], &few[1]);
    measure_hub(context, 3000, &many[0], &many[1]);
    CHECK_BELOW(many[0] / few[0], 1.05); // numbers stored; measured 1.03
    CHECK_BELOW(many[1] / few[1], 1.05); // multiplications; measured 1.04
    CHECK_BELOW(many[0], 900.0);         // measured 441
    hn_context_destroy(context);
}

TEST(block_lu, solves_as_lapack_does_on_trees_ladders_and_grids)
{
    hn_context *context = hn_context_create(NULL);
    double worst = 0.0, grown = 0.0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        number_source numbers = {40 + seed};
        graph graphs[5] = {random_tree(&numbers), ladder(&numbers), grid(&numbers),
                           random_pairs(&numbers), clique(&numbers)};
        double *error[5] = {&worst, &worst, &worst, &worst, &grown};
        int backwards[NODES_MAX];
        for (int i = 0; i < 5; ++i) {
            check_graph(context, &graphs[i], NULL, &numbers, error[i]);
            for (int k = 0; k < graphs[i].node_count; ++k)
                backwards[k] = graphs[i].node_count - 1 - k;
            check_graph(context, &graphs[i], backwards, &numbers, error[i]);
        }
    }
    CHECK_BELOW(worst, 1e-13); // measured 1.6e-15
    CHECK_BELOW(grown,
                2e-12); // measured 6.0e-14: pivots inside blocks alone, in a matrix that is full
    hn_context_destroy(context);
}

// Saddle-point blocks have zeros on the diagonal: exchanges inside a block make them solvable.
// A symmetric positive definite matrix on the graph; what Cholesky's method must not read is spoiled afterwards.
static void fill_symmetric(block_lu *lu, const graph *g, number_source *numbers)
{
    fill(lu, g, numbers);
    for (int i = 0; i < g->node_count; ++i) {
        double *block = block_lu_block(lu, i, i);
        int n = g->sizes[i];
        for (int k = 0; k < n; ++k) {
            for (int m = 0; m < k; ++m) block[m * n + k] = block[k * n + m];
            block[k * (n + 1)] =
                40.0 + next_number(numbers); // dominant: at most some 35 numbers below 1 in a row
        }
    }
    for (int e = 0; e < g->edge_count; ++e) {
        int a = g->edges[e][0], b = g->edges[e][1];
        const double *block = block_lu_block(lu, a, b);
        double *mirror = block_lu_block(lu, b, a);
        for (int i = 0; i < g->sizes[a]; ++i)
            for (int k = 0; k < g->sizes[b]; ++k)
                mirror[k * g->sizes[a] + i] = block[i * g->sizes[b] + k];
    }
}

// The lower triangle of a symmetric block matrix; the rest of the diagonal blocks is not to be read.
static void copy_lower(block_lu *lu, const graph *g, block_cholesky *c)
{
    block_cholesky_clear(c);
    for (int i = 0; i < g->node_count; ++i)
        for (int k = 0, n = g->sizes[i]; k < n; ++k)
            for (int m = 0; m < n; ++m)
                block_cholesky_block(c, i, i)[k * n + m] =
                    m <= k ? block_lu_block(lu, i, i)[k * n + m] : nan("");
    for (int e = 0; e < g->edge_count; ++e) {
        bool lower = block_cholesky_is_lower(c, g->edges[e][0], g->edges[e][1]);
        int row = g->edges[e][lower ? 0 : 1], column = g->edges[e][lower ? 1 : 0];
        CHECK(block_cholesky_block(c, column, row) == NULL);
        memcpy(block_cholesky_block(c, row, column), block_lu_block(lu, row, column),
               (size_t)(g->sizes[row] * g->sizes[column]) * sizeof(double));
    }
}

TEST(block_cholesky, solves_symmetric_systems_from_their_lower_triangle)
{
    hn_context *context = hn_context_create(NULL);
    double worst = 0.0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        number_source numbers = {70 + seed};
        graph graphs[4] = {random_tree(&numbers), ladder(&numbers), grid(&numbers),
                           random_pairs(&numbers)};
        for (int i = 0; i < 4; ++i) {
            graph *g = &graphs[i];
            block_lu *lu = NULL;
            block_cholesky *c = NULL;
            g->sizes[3] = 6, g->sizes[4] = 1; // the largest joint and the smallest
            int *order = malloc((size_t)g->node_count * sizeof(int));
            CHECK(order != NULL);
            CHECK_OK(context, order_minimum_degree(context, g->node_count, g->edge_count,
                                                   (const int(*)[2])g->edges, order));
            CHECK_OK(context, block_lu_create(context, g->node_count, g->sizes, g->edge_count,
                                              (const int(*)[2])g->edges, NULL, &lu));
            CHECK_OK(context, block_cholesky_create(context, g->node_count, g->sizes, g->edge_count,
                                                    (const int(*)[2])g->edges, order, &c));
            size_t n = (size_t)block_lu_size(lu);
            double *dense = malloc(n * n * sizeof(double)), *b = malloc(3 * n * sizeof(double));
            CHECK(dense != NULL && b != NULL);
            double *x = b + n, *reference = b + 2 * n;
            for (int repeat = 0; repeat < 2; ++repeat) {
                fill_symmetric(lu, g, &numbers);
                block_lu_dense(lu, dense);
                for (size_t k = 0; k < n; ++k) b[k] = x[k] = next_number(&numbers);
                copy_lower(lu, g, c);
                CHECK_EQUAL(block_cholesky_factor(c), -1);
                block_cholesky_solve(c, x);
                lapack_solve((int)n, dense, b, reference);
                worst = fmax(worst, largest_difference((int)n, x, reference));
            }
            // one number makes it indefinite, whichever block it is in
            fill_symmetric(lu, g, &numbers);
            int node = (int)seed + 1, size = g->sizes[node];
            block_lu_block(lu, node, node)[size * size - 1] = -1.0;
            copy_lower(lu, g, c);
            CHECK_EQUAL(block_cholesky_factor(c), node);
            free(order);
            free(dense);
            free(b);
            block_cholesky_destroy(c);
            block_lu_destroy(lu);
        }
    }
    CHECK_BELOW(worst, 1e-14); // measured 1.3e-15
    hn_context_destroy(context);
}

// B B^T of three joints, the rows of one of them following from the others'.
TEST(block_cholesky, drops_rows_that_depend_on_others)
{
    enum { ROWS = 4, COLUMNS = 9, JOINTS = 3 };
    hn_context *context = hn_context_create(NULL);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        number_source numbers = {300 + seed};
        double rows[JOINTS * ROWS][COLUMNS];
        for (int i = 0; i < JOINTS * ROWS; ++i)
            for (int k = 0; k < COLUMNS; ++k) rows[i][k] = next_number(&numbers);
        // joint 0 has two equal rows; joint 2: combinations of rows of the others
        memcpy(rows[1], rows[0], sizeof rows[0]);
        for (int i = 0; i < ROWS; ++i)
            for (int k = 0; k < COLUMNS; ++k)
                rows[2 * ROWS + i][k] = rows[i][k] - 0.5 * rows[ROWS + i][k];
        const int sizes[JOINTS] = {ROWS, ROWS, ROWS}, edges[3][2] = {{0, 1}, {1, 2}, {2, 0}},
                  order[JOINTS] = {0, 1, 2};
        block_cholesky *c = NULL;
        CHECK_OK(context, block_cholesky_create(context, JOINTS, sizes, 3, edges, order, &c));
        for (int a = 0; a < JOINTS; ++a)
            for (int b = 0; b <= a; ++b)
                for (int i = 0; i < ROWS; ++i)
                    for (int j = 0; j < ROWS; ++j) {
                        double sum = 0.0;
                        for (int k = 0; k < COLUMNS; ++k)
                            sum += rows[a * ROWS + i][k] * rows[b * ROWS + j][k];
                        block_cholesky_block(c, a, b)[i * ROWS + j] = sum;
                    }
        bool dropped[JOINTS * ROWS];
        row_rank rank = {.tolerance = 1e-11, .dropped = dropped};
        CHECK_EQUAL(block_cholesky_factor_rank(c, &rank), -1);
        for (int i = 0; i < JOINTS * ROWS; ++i) CHECK(dropped[i] == (i >= 2 * ROWS) || i < 2);
        CHECK(dropped[0] != dropped[1]);
        block_cholesky_destroy(c);
    }
    hn_context_destroy(context);
}

TEST(block_lu, takes_zero_diagonals_inside_a_block)
{
    hn_context *context = hn_context_create(NULL);
    const int sizes[1] = {4};
    block_lu *lu = NULL;
    CHECK_OK(context, block_lu_create(context, 1, sizes, 0, NULL, NULL, &lu));
    const double saddle[16] = {2, 0, 1, 0, 0, 3, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0};
    memcpy(block_lu_block(lu, 0, 0), saddle, sizeof saddle);
    CHECK_EQUAL(block_lu_factor(lu), -1);
    double b[4] = {3.0, 5.0, 2.0, 1.0}; // A (1, 1, 1, 1)
    block_lu_solve(lu, b);
    for (int i = 0; i < 4; ++i) CHECK_NEAR(b[i], 1.0, 1e-15);
    block_lu_destroy(lu);
    hn_context_destroy(context);
}

TEST(block_lu, names_the_node_with_a_singular_block)
{
    hn_context *context = hn_context_create(NULL);
    graph g = {.node_count = 6};
    for (int i = 0; i < 6; ++i) g.sizes[i] = 2;
    for (int singular = 0; singular < 6; ++singular) {
        // no edges: each block stands alone, so the singular one is the one reported
        block_lu *lu = NULL;
        CHECK_OK(context, block_lu_create(context, 6, g.sizes, 0, NULL, NULL, &lu));
        for (int i = 0; i < 6; ++i) {
            double *block = block_lu_block(lu, i, i);
            block[0] = block[3] = 1.0;
            if (i == singular) block[1] = block[2] = 1.0;
        }
        CHECK_EQUAL(block_lu_factor(lu), singular);
        block_lu_destroy(lu);
    }
    hn_context_destroy(context);
}

// Three bodies of three unknowns and three pairs of constraint rows; the first row of the last pair is the sum of two
// others. [M, G^T; G, 0] is then singular, but the motion it means is not.
TEST(block_lu, finds_the_constraint_row_that_follows_from_others)
{
    enum { BODIES = 3, SIZE = 3, PAIRS = 3, N = BODIES * SIZE + 2 * PAIRS, FIRST = BODIES * SIZE };
    hn_context *context = hn_context_create(NULL);
    const int sizes[6] = {3, 3, 3, 2, 2, 2}, order[6] = {0, 1, 2, 3, 4, 5};
    const int edges[7][2] = {{0, 3}, {1, 3}, {1, 4}, {2, 4}, {0, 5}, {1, 5}, {2, 5}};
    double worst = 0.0, unknown = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        number_source numbers = {60 + seed};
        double a[N * N] = {0.0}, g[2 * PAIRS][FIRST] = {{0.0}}, scale[2 * PAIRS], b[N], expected[N];
        for (int i = 0; i < FIRST; ++i) a[i * N + i] = 2.0 + next_number(&numbers);
        for (int e = 0; e < 7; ++e)
            for (int r = 0; r < 2; ++r)
                for (int k = 0; k < SIZE; ++k)
                    g[2 * (edges[e][1] - 3) + r][SIZE * edges[e][0] + k] = next_number(&numbers);
        for (int k = 0; k < FIRST; ++k) g[4][k] = g[0][k] + g[2][k];
        for (int r = 0; r < 2 * PAIRS; ++r) {
            scale[r] = 0.0; // what a row's pivot would be without the rows before it
            for (int k = 0; k < FIRST; ++k) {
                a[(FIRST + r) * N + k] = a[k * N + FIRST + r] = g[r][k];
                scale[r] += g[r][k] * g[r][k] / a[k * N + k];
            }
        }
        block_lu *lu = NULL;
        CHECK_OK(context, block_lu_create(context, 6, sizes, 7, edges, order, &lu));
        for (int row = 0; row < 6; ++row)
            for (int column = 0; column < 6; ++column) {
                double *block = block_lu_block(lu, row, column);
                for (int i = 0; block != NULL && i < sizes[row]; ++i)
                    for (int k = 0; k < sizes[column]; ++k)
                        block[i * sizes[column] + k] =
                            a[(block_lu_offset(lu, row) + i) * N + block_lu_offset(lu, column) + k];
            }
        bool dropped[2 * PAIRS] = {false};
        row_rank rank = {.tolerance = 1e-10, .dropped = dropped, .smallest_kept = 1.0};
        block_lu_rank rows = {.first_node = 3, .scale = scale, .rows = &rank};
        CHECK_EQUAL(block_lu_factor_rank(lu, &rows), -1);
        for (int r = 0; r < 2 * PAIRS; ++r) CHECK_EQUAL(dropped[r], r == 4);
        CHECK(rank.smallest_kept > 1e-6 && rank.largest_dropped < 1e-14);

        // a right-hand side that the dependent row agrees with: the motion is that of the singular system
        for (int i = 0; i < N; ++i) b[i] = next_number(&numbers);
        b[FIRST + 4] = b[FIRST] + b[FIRST + 2];
        CHECK_OK(context, dense_least_squares(context, N, N, a, b, 1e-12, expected));
        block_lu_solve(lu, b);
        unknown = fmax(unknown, fabs(b[FIRST + 4]));
        worst = fmax(worst, largest_difference(FIRST, b, expected));
        block_lu_destroy(lu);
    }
    CHECK_BELOW(worst, 5e-13); // measured 7.8e-15
    CHECK_BELOW(
        unknown,
        1e-13); // measured 1.2e-15: "unknown = 0" up to the round-off in the right-hand side
    hn_context_destroy(context);
}

static size_t chain_storage(hn_context *context, int length)
{
    int *sizes = malloc((size_t)length * sizeof(int));
    int(*edges)[2] = malloc((size_t)length * sizeof(int[2]));
    CHECK(sizes != NULL && edges != NULL);
    for (int i = 0; i < length; ++i) sizes[i] = 4, edges[i][0] = i, edges[i][1] = i + 1;
    block_lu *lu = NULL;
    CHECK_OK(context, block_lu_create(context, length, sizes, length - 1, (const int(*)[2])edges,
                                      NULL, &lu));
    CHECK(block_lu_block(lu, 0, length - 1) == NULL); // ends of a chain are not coupled
    size_t stored = block_lu_storage(lu);
    block_lu_destroy(lu);
    free(sizes);
    free(edges);
    return stored;
}

// Elimination of a chain or a tree makes no new blocks: one diagonal and two off-diagonal blocks for each node.
TEST(block_lu, stores_no_more_than_a_chain_has)
{
    hn_context *context = hn_context_create(NULL);
    const int lengths[3] = {10, 100, 10000};
    for (int i = 0; i < 3; ++i)
        CHECK_EQUAL(chain_storage(context, lengths[i]),
                    (int64_t)lengths[i] * 16 + (lengths[i] - 1) * 32);
    hn_context_destroy(context);
}

// ---- dense ------------------------------------------------------------------------------------------

// Orthogonal matrix from Householder reflections.
static void orthogonal(int n, number_source *numbers, double *q)
{
    for (int i = 0; i < n * n; ++i) q[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    for (int r = 0; r < n; ++r) {
        double v[16], norm = 0.0;
        for (int i = 0; i < n; ++i) v[i] = next_number(numbers), norm += v[i] * v[i];
        for (int i = 0; i < n; ++i) {
            double dot = 0.0;
            for (int k = 0; k < n; ++k) dot += q[i * n + k] * v[k];
            for (int k = 0; k < n; ++k) q[i * n + k] -= 2.0 * dot * v[k] / norm;
        }
    }
}

// rows x columns matrix U diag(values) V^T
static void with_singular_values(int rows, int columns, const double *values,
                                 number_source *numbers, double *a)
{
    double u[256], v[256];
    orthogonal(rows, numbers, u);
    orthogonal(columns, numbers, v);
    int smaller = rows < columns ? rows : columns;
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k) {
            double sum = 0.0;
            for (int s = 0; s < smaller; ++s)
                sum += u[i * rows + s] * values[s] * v[k * columns + s];
            a[i * columns + k] = sum;
        }
}

TEST(dense, eigenvalues_and_vectors_of_a_made_up_matrix_are_found)
{
    hn_context *context = hn_context_create(NULL);
    number_source numbers = {51};
    const double expected[6] = {-3.0, -1e-3, 0.0, 0.5, 2.0, 7.0};
    double q[36], a[36], values[6], vectors[36], worst = 0.0;
    orthogonal(6, &numbers, q);
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            a[i * 6 + k] = 0.0;
            for (int s = 0; s < 6; ++s) a[i * 6 + k] += q[i * 6 + s] * expected[s] * q[k * 6 + s];
        }
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < i; ++k) a[i * 6 + k] = a[k * 6 + i];
    CHECK_OK(context, dense_symmetric_eigen(context, 6, a, values, vectors));
    for (int s = 0; s < 6; ++s) {
        worst = fmax(worst, fabs(values[s] - expected[s]));
        double dot = 0.0; // eigenvectors are columns, up to their sign
        for (int i = 0; i < 6; ++i) dot += vectors[i * 6 + s] * q[i * 6 + s];
        worst = fmax(worst, fabs(fabs(dot) - 1.0));
    }
    CHECK_BELOW(worst, 2e-14); // measured 1.0e-15
    a[3] = (double)NAN;
    CHECK_STATUS(context, dense_symmetric_eigen(context, 6, a, values, vectors),
                 HN_SINGULAR_SYSTEM);
    hn_context_destroy(context);
}

// A of rank r has the least-squares solution of least norm x = V S^+ U^T b: check both optimality conditions.
TEST(dense, least_squares_take_the_shortest_of_the_best)
{
    hn_context *context = hn_context_create(NULL);
    number_source numbers = {52};
    const int shapes[4][2] = {{8, 5}, {5, 8}, {6, 6}, {1, 3}};
    double worst_residual = 0.0, worst_null = 0.0;
    for (int s = 0; s < 4; ++s) {
        int rows = shapes[s][0], columns = shapes[s][1];
        const double singular[6] = {3.0, 1.0, 0.5, 0.0, 0.0, 0.0};
        double a[64], b[8], x[8];
        with_singular_values(rows, columns, singular, &numbers, a);
        for (int i = 0; i < rows; ++i) b[i] = next_number(&numbers);
        CHECK_OK(context, dense_least_squares(context, rows, columns, a, b, 1e-11, x));
        // A^T (A x - b) = 0
        for (int k = 0; k < columns; ++k) {
            double gradient = 0.0;
            for (int i = 0; i < rows; ++i) {
                double residual = -b[i];
                for (int j = 0; j < columns; ++j) residual += a[i * columns + j] * x[j];
                gradient += a[i * columns + k] * residual;
            }
            worst_residual = fmax(worst_residual, fabs(gradient));
        }
        // x is in the row space: x = A^T y for the y that fits best
        double t[64], y[8];
        for (int i = 0; i < columns; ++i)
            for (int k = 0; k < rows; ++k) t[i * rows + k] = a[k * columns + i];
        CHECK_OK(context, dense_least_squares(context, columns, rows, t, x, 1e-11, y));
        for (int i = 0; i < columns; ++i) {
            double off = -x[i];
            for (int k = 0; k < rows; ++k) off += t[i * rows + k] * y[k];
            worst_null = fmax(worst_null, fabs(off));
        }
    }
    CHECK_BELOW(worst_residual, 1e-13); // measured 4.7e-15
    CHECK_BELOW(worst_null, 1e-13);     // measured 1.7e-15
    hn_context_destroy(context);
}

TEST(dense, norms_are_the_largest_singular_values)
{
    hn_context *context = hn_context_create(NULL);
    number_source numbers = {53};
    const double singular[5] = {40.0, 2.0, 1e-3, 1e-9, 0.0};
    const int shapes[3][2] = {{9, 5}, {5, 9}, {5, 5}};
    for (int s = 0; s < 3; ++s) {
        double a[64], norm = 0.0;
        with_singular_values(shapes[s][0], shapes[s][1], singular, &numbers, a);
        CHECK_OK(context, dense_norm(context, shapes[s][0], shapes[s][1], a, &norm));
        CHECK_NEAR(norm, 40.0, 1e-12);
    }
    double norm = 7.0;
    CHECK_OK(context, dense_norm(context, 0, 4, &singular[0], &norm));
    CHECK_NEAR(norm, 0.0, 0.0);
    hn_context_destroy(context);
}

TEST(dense, inverses_invert)
{
    hn_context *context = hn_context_create(NULL);
    number_source numbers = {54};
    enum { N = 11 };
    double a[N * N], inverse[N * N], worst = 0.0;
    for (int i = 0; i < N * N; ++i) a[i] = inverse[i] = next_number(&numbers);
    CHECK_OK(context, dense_invert(context, N, inverse));
    for (int i = 0; i < N; ++i)
        for (int k = 0; k < N; ++k) {
            double sum = i == k ? -1.0 : 0.0;
            for (int j = 0; j < N; ++j) sum += a[i * N + j] * inverse[j * N + k];
            worst = fmax(worst, fabs(sum));
        }
    CHECK_BELOW(worst, 5e-14); // measured 1.8e-15
    double singular[9] = {1, 2, 3, 2, 4, 6, 1, 1, 1};
    CHECK_STATUS(context, dense_invert(context, 3, singular), HN_SINGULAR_SYSTEM);
    hn_context_destroy(context);
}

// ---- signs of eigenvalues ---------------------------------------------------------------------------

TEST(inertia, counts_the_negative_eigenvalues)
{
    hn_context *context = hn_context_create(NULL);
    uint64_t state = 7;
    for (int n = 1; n <= 18; ++n)
        for (int draw = 0; draw < 20; ++draw) {
            double a[18 * 20] = {0.0}, square[18 * 18], values[18], vectors[18 * 18], x[18 * 18];
            array_probe(&state, x, (size_t)(n * n));
            // some have zeros on the diagonal, as constraints do
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < n; ++k) {
                    square[i * n + k] =
                        i == k && draw % 2 == 1 && i >= n / 2 ? 0.0 : x[i * n + k] + x[k * n + i];
                    a[i * 20 + k] = square[i * n + k];
                }
            CHECK_OK(context, dense_symmetric_eigen(context, n, square, values, vectors));
            int negative = 0;
            for (int i = 0; i < n; ++i) negative += values[i] < 0.0;
            CHECK_EQUAL(inertia_negative(n, 20, a), negative);
        }
    const double zero[9] = {0.0};
    CHECK_EQUAL(inertia_negative(3, 3, zero), 0);
    hn_context_destroy(context);
}
