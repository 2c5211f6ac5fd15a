// SPDX-License-Identifier: MIT
// Columns beside the elimination of the tree.
#include "reductions/border.h"

#include "linalg/small_lu.h"
#include "reductions/row_vectors.h"

#include <string.h>

static void mark_to_root(const hn_system *system, int body, int *place, int *count)
{
    for (int i = body; i >= 0 && place[i] < 0; i = system->parent[i]) place[i] = 0, ++*count;
}

int border_mark_bodies(const hn_system *system, int *place)
{
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) place[i] = -1;
    for (int k = 0; k < system->element_count; ++k) {
        if (system->places[k] != PLACE_ELSEWHERE) continue;
        mark_to_root(system, system->elements[k].a, place, &count);
        mark_to_root(system, system->elements[k].b, place, &count);
    }
    for (int k = 0; k < system->cut_count; ++k) {
        mark_to_root(system, system->cuts[k].parent, place, &count);
        mark_to_root(system, system->cuts[k].child, place, &count);
    }
    return count;
}

void border_layout(arena *a, const hn_system *system, int capacity, int body_count, border *b)
{
    size_t n = (size_t)capacity, bodies = (size_t)body_count, all = (size_t)system->body_count;
    b->capacity = capacity;
    b->body_count = body_count;
    b->columns = arena_bytes(a, n * sizeof(border_column));
    b->bodies = arena_ints(a, bodies);
    b->place = arena_ints(a, all);
    b->answers = arena_doubles(a, n * TWIST_SIZE * bodies);
    b->steps = arena_doubles(a, n * JOINT_DOF_MAX * bodies);
    b->matrix = arena_doubles(a, n * n);
    b->right = arena_doubles(a, n);
    b->exchange = arena_ints(a, n);
    b->load = arena_doubles(a, TWIST_SIZE * all);
}

void border_number_bodies(border *b, const hn_system *system)
{
    int count = 0;
    border_mark_bodies(system, b->place);
    for (int i = 0; i < system->body_count; ++i)
        if (b->place[i] >= 0) b->bodies[count] = i, b->place[i] = count++;
}

border_column *border_add(border *b, int body_a, int body_b)
{
    if (b->count == b->capacity) return NULL;
    border_column *column = &b->columns[b->count++];
    *column = (border_column){.body = {body_a, body_b}};
    return column;
}

void border_add_term(border *b, const step_equations *equations, const step_data *step, int body_a,
                     int body_b, const stiffness_term *term)
{
    const int body[2] = {body_a, body_b};
    double left[2][3][TWIST_SIZE] = {{{0.0}}}, right[2][3][TWIST_SIZE] = {{{0.0}}};
    for (int side = 0; side < 2; ++side) {
        double pose[POSE_SIZE];
        if (body[side] < 0) continue;
        step_projection_pose(equations, step, body[side], pose);
        twist_columns(term->u + 4 * side, pose, left[side]);
        twist_columns(term->v + 4 * side, system_pose(step->q, body[side]), right[side]);
    }
    for (int c = 0; c < 3; ++c) {
        border_column *column = border_add(b, body_a, body_b);
        if (column == NULL) return;
        column->unit = 1.0;
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < 6; ++k) {
                column->row[6 * side + k] = right[side][c][k];
                column->load[6 * side + k] = left[side][0][k] * term->c[0][c] +
                                             left[side][1][k] * term->c[1][c] +
                                             left[side][2][k] * term->c[2][c];
            }
    }
}

void border_add_blocks(border *b, int body_a, int body_b, const double *on_a, const double *on_b)
{
    for (int c = 0; c < 2 * TWIST_SIZE; ++c) {
        border_column *column = border_add(b, body_a, body_b);
        if (column == NULL) return;
        // the twist of a pushes b, that of b pushes a
        bool of_a = c < TWIST_SIZE;
        column->unit = 1.0;
        column->row[c] = 1.0;
        for (int k = 0; k < TWIST_SIZE; ++k)
            column->load[(of_a ? TWIST_SIZE : 0) + k] =
                (of_a ? on_b : on_a)[TWIST_SIZE * k + c % TWIST_SIZE];
    }
}

// V delta of a column
static double row_product(const border_column *column, const double *twists)
{
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (column->body[side] < 0) continue;
        const double *t = twists + TWIST_SIZE * (size_t)column->body[side];
        for (int k = 0; k < 6; ++k) sum += column->row[6 * side + k] * t[k];
    }
    return sum;
}

// V z of a column with all others
static void row_products(const border *b, const border_column *column, double *restrict out)
{
    const int count = b->count;
    memset(out, 0, (size_t)count * sizeof(double));
    for (int side = 0; side < 2; ++side) {
        if (column->body[side] < 0) continue;
        const double *t = b->answers + (size_t)(TWIST_SIZE * b->place[column->body[side]] * count);
        for (int k = 0; k < 6; ++k, t += count)
            for (int c = 0; c < count; ++c) out[c] += column->row[6 * side + k] * t[c];
    }
}

static void add_load(const border *b, const border_column *column, double factor)
{
    for (int side = 0; side < 2; ++side)
        for (int k = 0; column->body[side] >= 0 && k < 6; ++k)
            b->load[TWIST_SIZE * column->body[side] + k] += factor * column->load[6 * side + k];
}

// z of all columns, and the factors of e - V z
static bool factor(border *b, tree_solver *tree)
{
    for (int c = 0; c < b->count; ++c) {
        for (int i = 0; i < b->body_count; ++i)
            memset(b->load + TWIST_SIZE * (size_t)b->bodies[i], 0, TWIST_SIZE * sizeof(double));
        add_load(b, &b->columns[c], 1.0);
        tree_load_some(tree, b->bodies, b->body_count, b->count, b->load, b->steps + c);
    }
    tree_substitute_columns(tree, b->bodies, b->place, b->body_count, b->count, b->steps,
                            b->answers);
    for (int i = 0; i < b->count; ++i) {
        double *row = b->matrix + (size_t)(i * b->count);
        row_products(b, &b->columns[i], row);
        for (int c = 0; c < b->count; ++c) row[c] = (i == c ? b->columns[i].unit : 0.0) - row[c];
    }
    return small_lu_factor(b->count, b->count, b->matrix, b->exchange);
}

// y from the right-hand sides, and delta from y and the residuals (NULL: zero)
static void substitute(border *b, tree_solver *tree, const double *residuals)
{
    small_lu_solve(b->count, b->count, b->matrix, b->exchange, 1, 1, b->right);
    memset(b->load, 0, TWIST_SIZE * (size_t)tree->system->body_count * sizeof(double));
    for (int c = 0; c < b->count; ++c) add_load(b, &b->columns[c], b->right[c]);
    tree_solve(tree, residuals, b->load);
}

bool border_solve(border *b, tree_solver *tree, const double *residuals)
{
    if (b->count == 0) return true;
    tree_substitute_some(tree, b->bodies, b->body_count);
    for (int c = 0; c < b->count; ++c)
        b->right[c] = row_product(&b->columns[c], tree->twists) + b->columns[c].gap;
    if (!factor(b, tree)) return false;
    substitute(b, tree, residuals);
    return true;
}

void border_close(border *b, tree_solver *tree, const double *gaps)
{
    memcpy(b->right, gaps, (size_t)b->count * sizeof(double));
    substitute(b, tree, NULL);
}
