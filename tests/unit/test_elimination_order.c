// SPDX-License-Identifier: MIT
// Orders of elimination: permutations, who waits for whom, cost against what elimination of the graph really costs.
#include "linalg/elimination_order.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 400, EDGES_MAX = 2000 };

typedef struct graph {
    int node_count, first_waiting, edge_count;
    int sizes[NODES_MAX];
    int edges[EDGES_MAX][2];
} graph;

static void connect(graph *g, int a, int b)
{
    g->edges[g->edge_count][0] = a;
    g->edges[g->edge_count++][1] = b;
}

// Bars of a net of n by n meshes as nodes, then ball joints between them.
static void net(int n, graph *g)
{
    *g = (graph){0};
    int down[16][16], across[16][16];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= n; ++j) {
            down[i][j] = g->node_count++;
            if (j > 0) across[i][j] = g->node_count++;
        }
    g->first_waiting = g->node_count;
    for (int i = 0; i < g->first_waiting; ++i) g->sizes[i] = 6;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= n; ++j) {
            const int others[3] = {i + 1 < n ? down[i + 1][j] : -1, j < n ? across[i][j + 1] : -1,
                                   j > 0 ? across[i][j] : -1};
            for (int k = 0; k < 3; ++k) {
                if (others[k] < 0) continue;
                connect(g, g->node_count, down[i][j]);
                connect(g, others[k], g->node_count);
                g->sizes[g->node_count++] = 3;
            }
        }
}

static void random_graph(uint64_t seed, graph *g)
{
    number_source numbers = {seed};
    *g = (graph){.node_count = 80, .first_waiting = 50};
    for (int i = 0; i < g->node_count; ++i)
        g->sizes[i] = 1 + (int)(3.0 * (1.0 + next_number(&numbers)));
    for (int e = 0; e < 150; ++e) {
        int a = (int)(39.9 * (1.0 + next_number(&numbers))),
            b = (int)(39.9 * (1.0 + next_number(&numbers)));
        if (a != b) connect(g, a, b);
    }
}

// Multiplications of an elimination carried out on a matrix of booleans.
static double real_cost(const graph *g, const int *order)
{
    size_t n = (size_t)g->node_count;
    bool *tied = calloc(n * n, sizeof(bool)), *gone = calloc(n, sizeof(bool));
    double cost = 0.0;
    CHECK(tied != NULL && gone != NULL);
    for (int e = 0; e < g->edge_count; ++e) {
        size_t a = (size_t)g->edges[e][0], b = (size_t)g->edges[e][1];
        tied[a * n + b] = tied[b * n + a] = true;
    }
    for (size_t k = 0; k < n; ++k) {
        size_t node = (size_t)order[k];
        double own = g->sizes[node], later = 0.0;
        gone[node] = true;
        for (size_t i = 0; i < n; ++i) {
            if (gone[i] || !tied[node * n + i]) continue;
            later += g->sizes[i];
            for (size_t j = 0; j < n; ++j)
                if (i != j && !gone[j] && tied[node * n + j]) tied[i * n + j] = true;
        }
        cost += own * (own * own / 3.0 + own * later + later * later);
    }
    free(tied);
    free(gone);
    return cost;
}

static void check_order(hn_context *context, const graph *g, const int *order, bool waits)
{
    int place[NODES_MAX];
    double cost = 0.0;
    for (int i = 0; i < g->node_count; ++i) place[i] = -1;
    for (int k = 0; k < g->node_count; ++k) {
        CHECK(order[k] >= 0 && order[k] < g->node_count);
        CHECK_EQUAL(place[order[k]], -1);
        place[order[k]] = k;
    }
    for (int e = 0; waits && e < g->edge_count; ++e)
        for (int side = 0; side < 2; ++side) {
            int a = g->edges[e][side], b = g->edges[e][1 - side];
            if (a < g->first_waiting && b >= g->first_waiting) CHECK(place[a] < place[b]);
        }
    CHECK_OK(context, order_cost(context, g->node_count, g->sizes, g->edge_count,
                                 (const int(*)[2])g->edges, order, &cost));
    CHECK_NEAR(cost / real_cost(g, order), 1.0, 1e-12);
}

TEST(elimination_order, lets_nodes_wait_and_knows_its_cost)
{
    hn_context *context = hn_context_create(NULL);
    graph *g = malloc(sizeof *g);
    int order[NODES_MAX];
    CHECK(g != NULL);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        if (seed == 0) net(7, g);
        else random_graph(80 + seed, g);
        CHECK_OK(context, order_minimum_degree(context, g->node_count, g->edge_count,
                                               (const int(*)[2])g->edges, order));
        check_order(context, g, order, false);
        CHECK_OK(context,
                 order_minimum_degree_waiting(context, g->node_count, g->sizes, g->first_waiting,
                                              g->edge_count, (const int(*)[2])g->edges, order));
        check_order(context, g, order, true);
    }
    free(g);
    hn_context_destroy(context);
}

// A chain and a star have orders without fill; nothing waits.
TEST(elimination_order, fills_nothing_in_on_trees)
{
    hn_context *context = hn_context_create(NULL);
    graph *g = malloc(sizeof *g);
    int order[NODES_MAX];
    CHECK(g != NULL);
    for (int star = 0; star < 2; ++star) {
        *g = (graph){.node_count = 100, .first_waiting = 100};
        double expected = 64.0 * (99.0 * (1.0 / 3.0 + 1.0 + 1.0) + 1.0 / 3.0);
        for (int i = 0; i < g->node_count; ++i) g->sizes[i] = 4;
        for (int i = 1; i < g->node_count; ++i) connect(g, i, star ? 0 : i - 1);
        CHECK_OK(context,
                 order_minimum_degree_waiting(context, g->node_count, g->sizes, g->first_waiting,
                                              g->edge_count, (const int(*)[2])g->edges, order));
        CHECK_NEAR(real_cost(g, order) / expected, 1.0, 1e-12);
    }
    free(g);
    hn_context_destroy(context);
}

// A net of 8 by 8 meshes; with every joint right behind the later of its bars it is more than twice as much.
TEST(elimination_order, is_cheap_on_nets)
{
    hn_context *context = hn_context_create(NULL);
    graph *g = malloc(sizeof *g);
    int order[NODES_MAX];
    CHECK(g != NULL);
    net(8, g);
    CHECK_OK(context,
             order_minimum_degree_waiting(context, g->node_count, g->sizes, g->first_waiting,
                                          g->edge_count, (const int(*)[2])g->edges, order));
    CHECK_BELOW(real_cost(g, order) / g->first_waiting,
                5e3); // multiplications per bar; measured 2950
    free(g);
    hn_context_destroy(context);
}
