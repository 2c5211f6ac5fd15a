// SPDX-License-Identifier: MIT
// Assembly and solution of the sparse saddle-point system of a step.
// Note: docs/theory/closed-loops.md
#include "reductions/saddle.h"

#include "linalg/block_lu.h"
#include "reductions/coordinates.h"
#include "reductions/dense_block.h"
#include "reductions/joint_blocks.h"
#include "reductions/row_vectors.h"
#include "reductions/tree_mass.h"
#include "system/mass.h"

#include <limits.h>
#include <string.h>

// In statics gamma of (C9), in units of the stiffness about a joint: on all motions that open it it is what decides.
static const double LENT_STIFFNESS = 4.0;

// Where the parts of a joint stand, so that nothing is looked up in a step.
typedef struct joint_view {
    double *lower[2],
        *upper[2];  // blocks (rows, body) and (body, rows) from the first row on; NULL: ground
    int columns[2]; // row length of `lower`
    int width;      // row length of `upper`
    int body_right[2], right;    // first equation of the bodies, of the rows
    int loop_row;                // first row among those of joints on loops, -1: on none
    bool rigid;                  // unknowns of both bodies are twists
    double square;               // gamma of (C9), 0: no rod is near
    double size[JOINT_ROWS_MAX]; // what gaps of the rows are compared with
} joint_view;

struct saddle {
    hn_system *system;
    saddle_level level;
    block_lu *lu;
    double *right;      // size of the system
    double *total;      // SADDLE_TWISTS: rho and joint forces, 12 per body, scaled
    double *internal;   // mu of internal constraints, 6 per body
    double *external;   // mu of joints
    double *poses;      // q_w, 12 per body
    body_scale *scales; // per body: its own terms and what joints transmit, divided likewise
    double *units;      // of equations, then of unknowns; NULL where all are one
    joint_blocks blocks;
    joint_place *joints; // tree joints by body, then cut joints
    joint_view *views;   // the same
    int joint_count;
    int loop_row_count;       // rows of joints on loops
    tree_mass *tree;          // SADDLE_TWISTS of a tree: projections go without the matrix
    double *tree_multipliers; // of the last one between two poses,
    bool tree_solved;         // if it went so
    independent_rows *choice;
    saddle_choice last; // what was chosen last,
    bool chosen;        // if anything
    bool factored;      // the last matrix could be factored
    bool lends;         // joints lend their bodies stiffness (C9),
    double *lent;       // of this size, in parts of what the equations are divided by; per body
    double *local;      // per node: the same with what is eliminated into it before
    bool apart;         // bodies move each for itself, not on the manifold of the tree
    double freezing;    // part of q_n in the poses where the rows' gradients are taken
    bool *dropped;      // per loop row
    bool *dropped_before;
    bool *unsettled; // per mechanism: bodies are off by more than round-off
    bool *
        restored; // per loop row: was dropped and put back in this step; then g(q) itself is the equation
    pool memory;
};

void saddle_destroy(saddle *s)
{
    if (s == NULL) return;
    tree_mass_destroy(s->tree);
    joint_blocks_destroy(&s->blocks);
    independent_rows_destroy(s->choice);
    pool_release(&s->memory);
    context_release(s->system->context, s);
}

// unknowns of a body, and rows of its internal constraints
static int body_unknowns(const saddle *s, int body)
{
    const system_body *b = &s->system->bodies[body];
    if (s->level == SADDLE_COORDINATES) return b->coordinate_count;
    return b->has_directors ? TWIST_SIZE : coordinate_width(b);
}

static int body_internal_rows(const saddle *s, int body)
{
    return s->level == SADDLE_COORDINATES ? s->system->bodies[body].internal_count : 0;
}

// A covector given on the four vectors of a pose, in the unknowns of the body.
static void covector_of(const saddle *s, int body, const double *pose, const hn_vec3 gradient[4],
                        double *out)
{
    const system_body *b = &s->system->bodies[body];
    int vectors = s->level == SADDLE_COORDINATES ? coordinate_vectors(b) : 1;
    if (s->level == SADDLE_TWISTS && b->has_directors) vectors_to_wrench(pose, gradient, out);
    else
        for (int k = 0; k < vectors; ++k)
            coordinates_of(b, gradient[k], out + coordinate_width(b) * k);
}

static bool is_loop_node(const saddle *s, const joint_place *p)
{
    return joint_is_block(s->system, p);
}

static void fill_views(saddle *s)
{
    const hn_system *system = s->system;
    int first_loop_row = s->loop_row_count > 0 ? block_lu_offset(s->lu, system->body_count) : 0;
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        const int body[2] = {p->a, p->b};
        joint_view *v = &s->views[k];
        v->right = block_lu_offset(s->lu, p->node) + p->place;
        v->loop_row = is_loop_node(s, p) ? v->right - first_loop_row : -1;
        v->width = block_lu_node_size(s->lu, p->node);
        v->rigid = s->level == SADDLE_TWISTS;
        for (int r = 0; r < p->rows->row_count; ++r) {
            const constraint_row row = joint_row(p->rows, r);
            v->size[r] = measure_row(system, p->rows, &row, p->a, p->b, system->q_start, NULL);
        }
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            v->body_right[side] = block_lu_offset(s->lu, body[side]);
            v->columns[side] = block_lu_node_size(s->lu, body[side]);
            if (p->rows->row_count > 0) {
                v->lower[side] = block_lu_block(s->lu, p->node, body[side]) +
                                 (size_t)p->place * (size_t)v->columns[side];
                v->upper[side] = block_lu_block(s->lu, body[side], p->node) + p->place;
            }
            if (!system->bodies[body[side]].has_directors) v->rigid = false;
            if (!s->lends && joint_is_at_rod(system, p))
                v->square = fmax(v->square,
                                 mass_node(system, body[side])[0] / system->unit_mass[body[side]]);
        }
    }
}

static void set_unit(saddle *s, int place, double row, double column)
{
    s->units[place] = row;
    s->units[block_lu_size(s->lu) + place] = column;
}

// Lengths of a mechanism far from a metre become units: forces in m*, moments in m* L, gaps in L, so that the
// choice of pivots does not depend on what a metre is.
static hn_status choose_units(saddle *s)
{
    const hn_system *system = s->system;
    bool needed = false;
    for (int i = 0; i < system->body_count; ++i) needed |= measure_unit(system, i) != 1.0;
    if (!needed) return HN_OK;
    size_t size = (size_t)block_lu_size(s->lu);
    s->units = pool_doubles(&s->memory, 2 * size);
    TRY(pool_status(&s->memory));
    for (size_t k = 0; k < 2 * size; ++k) s->units[k] = 1.0;
    for (int i = 0; i < system->body_count; ++i) {
        double l = measure_unit(system, i);
        int at = block_lu_offset(s->lu, i), width = coordinate_width(&system->bodies[i]);
        for (int k = 0; k < body_unknowns(s, i); ++k)
            set_unit(s, at + k, k < width ? 1.0 / l : 1.0 / (l * l), k < width ? l : 1.0);
        for (int k = 0; k < body_internal_rows(s, i); ++k)
            set_unit(s, at + body_unknowns(s, i) + k, 1.0, l * l);
    }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        double l = measure_unit(system, p->b < 0 ? p->a : p->b);
        for (int r = 0; r < p->rows->row_count; ++r) {
            const constraint_row row = joint_row(p->rows, r);
            double unit = row.rotational ? 1.0 : p->rows->length > 0.0 ? l * l : l;
            set_unit(s, s->views[k].right + r, 1.0 / unit, l * l / unit);
        }
    }
    block_lu_set_units(s->lu, s->units, s->units + size);
    return HN_OK;
}

static hn_status create_parts(saddle *s, bool as_defined)
{
    hn_system *system = s->system;
    const joint_blocks_options options = {
        .width = 1, .as_defined = as_defined, .coupled = s->lends};
    size_t n = (size_t)system->body_count,
           rows = (size_t)(system->constraint_count - system->internal_count);
    int *sizes = pool_ints(&s->memory, n);
    TRY(pool_status(&s->memory));
    for (int i = 0; i < system->body_count; ++i)
        sizes[i] = body_unknowns(s, i) + body_internal_rows(s, i);
    TRY(joint_blocks_create(system, sizes, &options, &s->blocks));
    s->lu = s->blocks.lu;
    s->joints = s->blocks.joints;
    s->joint_count = s->blocks.joint_count;
    s->loop_row_count = s->blocks.loop_row_count;
    size_t loop_rows = (size_t)s->loop_row_count;
    s->right = pool_doubles(&s->memory, (size_t)block_lu_size(s->lu));
    s->total = pool_doubles(&s->memory, n * POSE_SIZE);
    s->poses = pool_doubles(&s->memory, n * POSE_SIZE);
    s->scales = pool_take(&s->memory, n, sizeof(body_scale));
    s->views = pool_take(&s->memory, (size_t)s->joint_count, sizeof(joint_view));
    s->internal = pool_doubles(&s->memory, n * INTERNAL_ROWS);
    s->external = pool_doubles(&s->memory, rows);
    s->dropped = pool_take(&s->memory, loop_rows, sizeof(bool));
    s->dropped_before = pool_take(&s->memory, loop_rows, sizeof(bool));
    s->restored = pool_take(&s->memory, loop_rows, sizeof(bool));
    s->unsettled = pool_take(&s->memory, (size_t)system->mechanism_count, sizeof(bool));
    if (s->lends) s->lent = pool_doubles(&s->memory, n);
    if (s->lends) s->local = pool_doubles(&s->memory, n + (size_t)s->joint_count);
    TRY(pool_status(&s->memory));
    TRY(independent_rows_create(system, s->joints, s->joint_count,
                                as_defined ? s->blocks.sequence : NULL, &s->choice));
    fill_views(s);
    TRY(choose_units(s));
    if (s->level != SADDLE_TWISTS || s->lends || !tree_mass_fits(system)) return HN_OK;
    s->tree_multipliers = pool_doubles(&s->memory, rows);
    TRY(pool_status(&s->memory));
    return tree_mass_create(system, &s->tree);
}

static hn_status create(hn_system *system, saddle_level level, bool as_defined, bool lends,
                        saddle **out)
{
    *out = NULL;
    hn_context *context = system->context;
    saddle *s = context_allocate(context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->level = level;
    s->lends = lends;
    s->memory.context = context;
    hn_status status = create_parts(s, as_defined);
    if (status == HN_OK) *out = s;
    else saddle_destroy(s);
    return status;
}

const hn_system *saddle_system(const saddle *s)
{
    return s->system;
}

bool saddle_is_apart(const saddle *s)
{
    return s->apart;
}

void saddle_freeze(saddle *s, double part)
{
    s->freezing = part;
}

hn_status saddle_create(hn_system *system, saddle_level level, saddle **out)
{
    return create(system, level, false, false, out);
}

hn_status saddle_create_apart(hn_system *system, saddle **out)
{
    TRY(create(system, SADDLE_TWISTS, false, false, out));
    (*out)->apart = true;
    return HN_OK;
}

hn_status saddle_create_as_defined(hn_system *system, saddle **out)
{
    return create(system, SADDLE_TWISTS, true, false, out);
}

hn_status saddle_create_for_statics(hn_system *system, saddle **out)
{
    return create(system, SADDLE_TWISTS, false, true, out);
}

void saddle_clear_multipliers(saddle *s)
{
    const hn_system *system = s->system;
    memset(s->internal, 0, (size_t)system->body_count * INTERNAL_ROWS * sizeof(double));
    memset(s->external, 0,
           (size_t)(system->constraint_count - system->internal_count) * sizeof(double));
}

int saddle_multiplier_count(const saddle *s)
{
    return s->system->constraint_count - s->system->internal_count;
}

void saddle_keep_multipliers(const saddle *s, double *to)
{
    memcpy(to, s->external, (size_t)saddle_multiplier_count(s) * sizeof(double));
}

void saddle_take_multipliers(saddle *s, const double *from)
{
    memcpy(s->external, from, (size_t)saddle_multiplier_count(s) * sizeof(double));
}

// ---- assembly ---------------------------------------------------------------------------------------

// poses where things are evaluated, and how much of the tangent is wanted
typedef struct assembly {
    saddle *s;
    const step_equations *equations;
    const step_data *step;
    bool tangent; // matrix and residual, or the residual alone
    double mass;  // alpha over what the equations are divided by: 1, or less in statics
} assembly;

// What the equations are divided by beside the largest mass of the mechanism: alpha, or a stiffness in its place
static double divisor_of(const step_equations *equations)
{
    return equations->row_factor > 0.0 ? equations->row_factor : equations->mass_factor;
}

static assembly assembly_of(saddle *s, const step_equations *equations, const step_data *step,
                            bool tangent)
{
    return (assembly){s, equations, step, tangent, equations->mass_factor / divisor_of(equations)};
}

// 1/(alpha m*) with the largest mass of the mechanism
static double scale_of(const saddle *s, const step_equations *equations, int body)
{
    return 1.0 / (divisor_of(equations) * s->system->unit_mass[body]);
}

static void add_transmitted(const saddle *s, int body, double force, double moment)
{
    s->scales[body].force += force;
    s->scales[body].moment += moment;
}

static const double *projection_pose(const saddle *s, int body)
{
    return system_pose(s->poses, body);
}

static bool row_dropped(const saddle *s, int joint_index, int row)
{
    int first = s->views[joint_index].loop_row;
    return first >= 0 && s->dropped[first + row];
}

// A vector sum c_k x_k of a body by its twist, or by the coordinates of a point.
static void unknown_columns(const system_body *body, const double *coefficients, const double *pose,
                            double columns[3][TWIST_SIZE])
{
    twist_columns(coefficients, pose, columns);
    for (int i = 0; i < 3 && !body->has_directors; ++i)
        coordinates_of(body, vec3_load(columns[i]), columns[i]);
}

// to += scale left^T C right where one of the bodies is a point mass
static void add_narrow(double left[3][TWIST_SIZE], int rows, const stiffness_term *term,
                       double right[3][TWIST_SIZE], int columns, double scale, int stride,
                       double *to)
{
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k) {
            double sum = 0.0;
            for (int c = 0; c < 3; ++c)
                for (int e = 0; e < 3; ++e) sum += left[c][i] * term->c[c][e] * right[e][k];
            to[i * stride + k] += scale * sum;
        }
}

// A tangent term u^T C delta v between bodies a and b: forces act at q_w, changes are those of the iterate.
static void add_term(const assembly *x, const stiffness_term *term, int a, int b, double scale)
{
    const saddle *s = x->s;
    const hn_system *system = s->system;
    const int body[2] = {a, b};
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            const system_body *rows = &system->bodies[body[from]],
                              *columns = &system->bodies[body[to]];
            const double *u = term->u + 4 * from, *v = term->v + 4 * to;
            if (u[0] == 0.0 && u[1] == 0.0 && u[2] == 0.0 && u[3] == 0.0) continue;
            if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0 && v[3] == 0.0) continue;
            int stride = block_lu_node_size(s->lu, body[to]);
            double *block = block_lu_block(s->lu, body[from], body[to]), c[3][3];
            if (s->level == SADDLE_TWISTS) {
                double left[3][TWIST_SIZE], right[3][TWIST_SIZE];
                unknown_columns(rows, u, projection_pose(s, body[from]), left);
                unknown_columns(columns, v, system_pose(x->step->q, body[to]), right);
                if (rows->has_directors && columns->has_directors)
                    add_congruent(left, term, right, scale, stride, block);
                else
                    add_narrow(left, body_unknowns(s, body[from]), term, right,
                               body_unknowns(s, body[to]), scale, stride, block);
                continue;
            }
            for (int k = 0; k < coordinate_vectors(rows); ++k)
                for (int l = 0; l < coordinate_vectors(columns); ++l) {
                    double size = scale * u[k] * v[l];
                    if (size == 0.0) continue;
                    for (int i = 0; i < 3; ++i)
                        for (int j = 0; j < 3; ++j) c[i][j] = size * term->c[i][j];
                    coordinates_add_block(rows, k, columns, l, (const double(*)[3])c, stride,
                                          block);
                }
        }
}

// A block between two bodies with directors.
static void add_block(const assembly *x, const element_block *dense, int a, int b, double scale)
{
    const saddle *s = x->s;
    const int body[2] = {a, b};
    const hn_vec3 centre = {0.0, 0.0, 0.0};
    for (int from = 0; from < 2; ++from) {
        double wrenches[6][24];
        if (s->level == SADDLE_TWISTS) {
            turning_vectors left = turning_vectors_of(projection_pose(s, body[from]), centre);
            block_to_wrenches(dense, POSE_SIZE * from, &left, wrenches);
        }
        for (int to = 0; to < 2; ++to) {
            int stride = block_lu_node_size(s->lu, body[to]);
            double *block = block_lu_block(s->lu, body[from], body[to]);
            if (s->level == SADDLE_TWISTS) {
                turning_vectors right =
                    turning_vectors_of(system_pose(x->step->q, body[to]), centre);
                add_wrenches_by_twist(wrenches, POSE_SIZE * to, &right, scale, stride, block);
                continue;
            }
            for (int i = 0; i < POSE_SIZE; ++i)
                for (int k = 0; k < POSE_SIZE; ++k)
                    block[i * stride + k] +=
                        scale * dense->k[POSE_SIZE * from + i][POSE_SIZE * to + k];
        }
    }
}

// w mu d^2 g through u and w: u^T w delta w + w^T delta u
static void add_row_stiffness(const assembly *x, const constraint_row *row, int a, int b, double mu)
{
    double factor = x->equations->weight * mu * row->factor;
    if (!row->product || factor == 0.0) return;
    stiffness_term term = {.c = {{factor, 0.0, 0.0}, {0.0, factor, 0.0}, {0.0, 0.0, factor}}};
    for (int turn = 0; turn < 2; ++turn) {
        memcpy(term.u, turn == 0 ? row->alpha : row->beta, sizeof term.u);
        memcpy(term.v, turn == 0 ? row->beta : row->alpha, sizeof term.v);
        add_term(x, &term, a, b, 1.0);
    }
}

// A rod has no inertia about its own line, and its block cannot be eliminated before the joints that hold it. With
//
//   mu + gamma g   in place of   mu                                                                            (C9)
//
// its joints lend it some: at g = 0 the equations are the same, their tangent gains gamma G_w^T G, from the blocks
// of a row that have just been written.
static void add_square(const saddle *s, const int body[2], int node, int place, double square)
{
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            int rows = body_unknowns(s, body[from]), columns = body_unknowns(s, body[to]);
            int width = block_lu_node_size(s->lu, node),
                stride = block_lu_node_size(s->lu, body[to]);
            const double *upper = block_lu_block(s->lu, body[from], node) + place;
            const double *lower =
                block_lu_block(s->lu, node, body[to]) + (size_t)place * (size_t)stride;
            double *block = block_lu_block(s->lu, body[from], body[to]);
            for (int i = 0; i < rows; ++i)
                for (int k = 0; k < columns; ++k)
                    block[i * stride + k] += square * upper[i * width] * lower[k];
        }
}

// Row r of a joint between rigid bodies, in twists.
static void add_twist_row(const assembly *x, const constraint_row *row, const joint_place *p,
                          const joint_view *view, int r, double mu, bool absolute)
{
    saddle *s = x->s;
    const step_data *step = x->step;
    const int body[2] = {p->a, p->b};
    const double *w[2] = {projection_pose(s, p->a), projection_pose(s, p->b)};
    row_vectors v, at_iterate;
    double wrench[TWIST_SIZE];
    find_row_vectors(row, w[0], w[1], &v);
    double *value = s->right + view->right + r;
    if (step->delta == NULL || absolute) {
        *value = row_value(row, system_pose(step->q, p->a), system_pose(step->q, p->b));
    } else if (x->equations->weight == 0.5) {
        *value = row_secant(row, &v, p->a, p->b, step); // q_w is the middle
    } else {
        double middle[2][POSE_SIZE];
        for (int side = 0; side < 2; ++side) pose_between(step, body[side], 0.5, middle[side]);
        find_row_vectors(row, middle[0], middle[1], &at_iterate);
        *value = row_secant(row, &at_iterate, p->a, p->b, step);
    }
    double pushed = mu + view->square * *value; // (C9)
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        row_wrench(row, &v, side, wrench);
        double *right = s->right + view->body_right[side], *upper = view->upper[side] + r;
        for (int i = 0; i < TWIST_SIZE; ++i) right[i] += pushed * wrench[i];
        add_transmitted(s, body[side], fabs(pushed) * one_norm(wrench),
                        fabs(pushed) * one_norm(wrench + 3));
        for (int i = 0; x->tangent && i < TWIST_SIZE; ++i) upper[i * view->width] = wrench[i];
    }
    if (!x->tangent) return;
    const double *at[2] = {system_pose(step->q, p->a), system_pose(step->q, p->b)};
    double frozen[2][POSE_SIZE];
    for (int side = 0; s->freezing > 0.0 && side < 2; ++side) {
        pose_between(step, body[side], s->freezing, frozen[side]);
        at[side] = frozen[side];
    }
    find_row_vectors(row, at[0], at[1], &at_iterate);
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        row_wrench(row, &at_iterate, side, view->lower[side] + r * view->columns[side]);
        // forces on the directors, for the tangent of rotations
        double *total = s->total + POSE_SIZE * (size_t)body[side];
        for (int k = 1; mu != 0.0 && k < 4; ++k) {
            hn_vec3 force = vec3_scale(row->beta[4 * side + k], v.u);
            if (row->product)
                force =
                    vec3_scale(row->factor, vec3_add_scaled(force, row->alpha[4 * side + k], v.w));
            vec3_store(vec3_add_scaled(vec3_load(total + 3 * k), mu, force), total + 3 * k);
        }
    }
    add_row_stiffness(x, row, p->a, p->b, mu);
    if (view->square > 0.0) add_square(s, body, p->node, p->place + r, view->square);
}

// One constraint row between bodies a and b (tree index or ground; internal rows: a alone) in any unknowns: value,
// gradients, and its part of the tangent. `node`, `place`: where the row and its multiplier stand; `square`: gamma of
// (C9).
static void add_row(const assembly *x, const constraint_row *row, int a, int b, int node, int place,
                    double mu, double square, bool absolute)
{
    saddle *s = x->s;
    block_lu *lu = s->lu;
    const double *q[2] = {system_pose(x->step->q, a), system_pose(x->step->q, b)};
    const double *w[2] = {projection_pose(s, a), projection_pose(s, b)};
    hn_vec3 force[8], gradient[8];
    row_gradient(row, w[0], w[1], force);
    const int body[2] = {a, b};
    const double *at[2] = {q[0], q[1]};
    double between[2][POSE_SIZE], *right = s->right,
                                  *value = right + block_lu_offset(lu, node) + place;
    if (s->level == SADDLE_TWISTS && x->step->delta != NULL && !absolute) {
        row_vectors middle;
        for (int side = 0; side < 2; ++side) pose_between(x->step, body[side], 0.5, between[side]);
        find_row_vectors(row, between[0], between[1], &middle);
        *value = row_secant(row, &middle, a, b, x->step);
    } else {
        *value = row_value(row, q[0], q[1]);
    }
    for (int side = 0; s->freezing > 0.0 && side < 2; ++side) {
        pose_between(x->step, body[side], s->freezing, between[side]);
        at[side] = between[side];
    }
    if (x->tangent) row_gradient(row, at[0], at[1], gradient);
    int node_size = block_lu_node_size(lu, node);
    double pushed = mu + square * *value; // (C9)
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        int offset = block_lu_offset(lu, body[side]), count = body_unknowns(s, body[side]);
        int columns = block_lu_node_size(lu, body[side]);
        double values[POSE_SIZE], forces[POSE_SIZE],
            *total = s->total + POSE_SIZE * (size_t)body[side];
        covector_of(s, body[side], w[side], force + 4 * side, forces);
        for (int i = 0; i < count; ++i) right[offset + i] += pushed * forces[i];
        double moment = 0.0;
        for (int k = 1; k < 4; ++k) moment += vec3_norm(force[4 * side + k]);
        add_transmitted(s, body[side], fabs(pushed) * vec3_norm(force[4 * side]),
                        fabs(pushed) * moment);
        if (!x->tangent) continue;
        double *lower = block_lu_block(lu, node, body[side]),
               *upper = block_lu_block(lu, body[side], node);
        covector_of(s, body[side], at[side], gradient + 4 * side, values);
        for (int i = 0; i < count; ++i) {
            lower[place * columns + i] += values[i];
            upper[i * node_size + place] += forces[i];
        }
        for (int k = 0; mu != 0.0 && k < 4; ++k)
            vec3_store(vec3_add_scaled(vec3_load(total + 3 * k), mu, force[4 * side + k]),
                       total + 3 * k);
    }
    if (x->tangent) add_row_stiffness(x, row, a, b, mu);
    if (x->tangent && square > 0.0) add_square(s, body, node, place, square);
}

static void find_projection_poses(const assembly *x)
{
    for (int i = 0; i < x->s->system->body_count; ++i)
        step_projection_pose(x->equations, x->step, i, x->s->poses + POSE_SIZE * (size_t)i);
}

// the linear part of the mass, and internal constraints
static void add_bodies(const assembly *x)
{
    saddle *s = x->s;
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        int size = block_lu_node_size(s->lu, i), width = coordinate_width(body);
        double *diagonal = block_lu_block(s->lu, i, i);
        int vectors = s->level == SADDLE_COORDINATES ? coordinate_vectors(body) : 1;
        for (int k = 0; x->tangent && k < vectors; ++k)
            for (int c = width * k; c < width * (k + 1); ++c)
                diagonal[c * size + c] += x->mass * mass_node(system, i)[k] / system->unit_mass[i];
        for (int k = 0; k < body_internal_rows(s, i); ++k) {
            constraint_row row;
            row_internal(k, &row);
            add_row(x, &row, i, GROUND, i, body->coordinate_count + k,
                    s->internal[INTERNAL_ROWS * i + k], 0.0, false);
        }
    }
}

// (X2) in rotations: the change L_n+1 - L_n of a body's angular momentum and, unless NULL, its derivative by a turn,
// both divided like the equations. With J in space and theta the rotation in the step L_n+1 = alpha J theta - Q l_n.
static hn_vec3 spin_change(const assembly *x, int body, double derivative[3][3])
{
    const hn_system *system = x->s->system;
    const double *e = mass_node(system, body) + 1, *q = system_pose(x->step->q, body),
                 *start = system_pose(x->step->q_start, body), *l = x->equations->spin + 3 * body;
    const double moments[3] = {e[1] + e[2], e[0] + e[2], e[0] + e[1]};
    double scale = scale_of(x->s, x->equations, body), alpha = x->equations->mass_factor;
    hn_vec3 theta = x->step->bodies[body].rotation, end = vec3(0.0, 0.0, 0.0), before = end;
    for (int k = 0; k < 3; ++k) {
        hn_vec3 d = vec3_load(q + 3 + 3 * k);
        end = vec3_add_scaled(end, alpha * moments[k] * vec3_dot(d, theta) - l[k], d);
        before = vec3_add_scaled(before, l[k], vec3_load(start + 3 + 3 * k));
    }
    if (derivative == NULL) return vec3_scale(scale, vec3_subtract(end, before));
    // omega x L, and alpha J (1 + theta^/2 + theta theta^T/4) omega
    const double turning[3][3] = {{0.0, end.z, -end.y}, {-end.z, 0.0, end.x}, {end.y, -end.x, 0.0}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) derivative[i][k] = scale * turning[i][k];
    for (int k = 0; k < 3; ++k) {
        hn_vec3 d = vec3_load(q + 3 + 3 * k);
        hn_vec3 by = vec3_add_scaled(d, -0.5, vec3_cross(theta, d));
        by = vec3_scale(scale * alpha * moments[k],
                        vec3_add_scaled(by, 0.25 * vec3_dot(theta, d), theta));
        const double left[3] = {d.x, d.y, d.z}, right[3] = {by.x, by.y, by.z};
        for (int i = 0; i < 3; ++i)
            for (int c = 0; c < 3; ++c) derivative[i][c] += left[i] * right[c];
    }
    return vec3_scale(scale, vec3_subtract(end, before));
}

// rotations: alpha E_I ((e_I . d_I) 1 - d_I e_I^T) + w (d_I f_I^T - (d_I . f_I) 1) with f all forces on the body
static void add_rotations(const assembly *x)
{
    saddle *s = x->s;
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        int size = block_lu_node_size(s->lu, i);
        double *diagonal = block_lu_block(s->lu, i, i) + 3 * size + 3;
        const double *q = system_pose(x->step->q, i), *pose = projection_pose(s, i);
        bool spins = x->equations->spin != NULL;
        double change[3][3];
        if (spins) spin_change(x, i, change);
        for (int k = 0; spins && k < 9; ++k) diagonal[k / 3 * size + k % 3] += change[k / 3][k % 3];
        for (int v = 1; v < 4; ++v) {
            const double *d = q + 3 * v, *e = pose + 3 * v,
                         *f = s->total + POSE_SIZE * (size_t)i + 3 * v;
            double inertia = spins ? 0.0 : x->mass * mass_node(system, i)[v] / system->unit_mass[i],
                   w = x->equations->weight;
            double along = inertia * (e[0] * d[0] + e[1] * d[1] + e[2] * d[2]) -
                           w * (d[0] * f[0] + d[1] * f[1] + d[2] * f[2]);
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    diagonal[r * size + c] +=
                        (r == c ? along : 0.0) + d[r] * (w * f[c] - inertia * e[c]);
        }
    }
}

// mass and constraints; dropped rows become "multiplier = 0"
static void add_mass_and_rows(const assembly *x)
{
    saddle *s = x->s;
    add_bodies(x);
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        const joint_view *view = &s->views[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            if (row_dropped(s, k, r)) {
                s->right[view->right + r] = 0.0;
                if (x->tangent)
                    block_lu_block(s->lu, p->node, p->node)[r * (view->width + 1)] = 1.0;
                continue;
            }
            bool absolute = view->loop_row >= 0 && s->restored[view->loop_row + r];
            double mu = s->external[p->multiplier + r];
            const constraint_row row = joint_row(p->rows, r);
            if (view->rigid) add_twist_row(x, &row, p, view, r, mu, absolute);
            else add_row(x, &row, p->a, p->b, p->node, p->place + r, mu, view->square, absolute);
        }
    }
    if (s->level == SADDLE_TWISTS && x->tangent) add_rotations(x);
    for (int e = 0; x->tangent && x->mass != 0.0 && e < s->system->mass_edge_count; ++e) {
        const mass_edge *edge = mass_edge_of(s->system, e);
        element_block block = {{{0.0}}};
        step_add_mass_block(edge, x->mass / s->system->unit_mass[edge->a], &block);
        add_block(x, &block, edge->a, edge->b, 1.0);
    }
}

// What a joint lends is of the size of the softer one of its bodies, and of what it transmits over their length: beside
// a stiff body a soft one keeps its digits.
static void lend(saddle *s)
{
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        double least = p->a < 0 ? HUGE_VAL : s->lent[p->a], forces = 0.0,
               length = s->system->unit_length[p->b < 0 ? p->a : p->b];
        if (p->b >= 0) least = fmin(least, s->lent[p->b]);
        for (int r = 0; r < p->rows->row_count; ++r) forces += fabs(s->external[p->multiplier + r]);
        s->views[k].square = LENT_STIFFNESS * fmax(least, forces / length);
    }
}

static void assemble(saddle *s, const step_equations *equations, const step_data *step,
                     bool tangent)
{
    const hn_system *system = s->system;
    if (s->lends) lend(s);
    assembly x = assembly_of(s, equations, step, tangent);
    if (tangent) block_lu_clear(s->lu);
    find_projection_poses(&x);
    step_element_forces(system, equations, step);
    measure_bodies(system, equations, step, s->scales);
    for (int i = 0; i < system->body_count; ++i) {
        double *rho = s->total + POSE_SIZE * (size_t)i;
        hn_vec3 vectors[4];
        double scale = scale_of(s, equations, i);
        step_residual(system, equations, step, i, rho);
        bool spins = equations->spin != NULL && system->bodies[i].has_directors;
        if (spins)
            memcpy(rho + 3, step->force + POSE_SIZE * (size_t)i + 3,
                   (POSE_SIZE - 3) * sizeof(double));
        for (int k = 0; k < POSE_SIZE; ++k) rho[k] *= scale;
        s->scales[i].force *= scale;
        s->scales[i].moment *= scale;
        for (int k = 0; k < 4; ++k) vectors[k] = vec3_load(rho + 3 * k);
        double *right = s->right + block_lu_offset(s->lu, i);
        covector_of(s, i, projection_pose(s, i), vectors, right);
        if (spins) vec3_store(vec3_add(vec3_load(right + 3), spin_change(&x, i, NULL)), right + 3);
    }
    add_mass_and_rows(&x);
    stiffness_term terms[ELEMENT_TERMS_MAX];
    for (int e = 0; tangent && e < system->element_count; ++e) {
        if (step_element_is_dense(system, e)) {
            element_block block;
            step_element_block(system, equations, step, e, false, &block);
            add_block(&x, &block, system->elements[e].a, system->elements[e].b,
                      scale_of(s, equations, system->elements[e].a));
            continue;
        }
        int count = step_element_terms(system, equations, step, e, terms);
        int a = system->elements[e].a, b = system->elements[e].b;
        double scale = scale_of(s, equations, a < 0 ? b : a);
        for (int t = 0; t < count; ++t) add_term(&x, &terms[t], a, b, scale);
    }
}

void saddle_assemble(saddle *s, const step_equations *equations, const step_data *step)
{
    assemble(s, equations, step, true);
}

void saddle_assemble_residual(saddle *s, const step_equations *equations, const step_data *step)
{
    assemble(s, equations, step, false);
}

// ---- independent rows -------------------------------------------------------------------------------

hn_status saddle_choose_rows(saddle *s, const double *q, saddle_choice *choice)
{
    memset(s->restored, 0, (size_t)s->loop_row_count * sizeof(bool));
    hn_status status = independent_rows_choose(s->choice, q, choice, s->dropped);
    s->chosen = status == HN_OK;
    s->last = *choice;
    return status;
}

hn_status saddle_keep_rows(saddle *s, const double *q, saddle_choice *choice)
{
    if (!s->chosen) return saddle_choose_rows(s, q, choice);
    *choice = s->last;
    return HN_OK;
}

// u and w of a row by eight vectors x: those of bodies a and b; NULL: zero
static void row_vectors_at(const constraint_row *row, const double *xa, const double *xb,
                           hn_vec3 *u, hn_vec3 *w)
{
    *u = *w = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 8; ++k) {
        const double *x = k < 4 ? xa : xb;
        if (x == NULL) continue;
        *u = vec3_add_scaled(*u, row->alpha[k], vec3_load(x + 3 * (k % 4)));
        *w = vec3_add_scaled(*w, row->beta[k], vec3_load(x + 3 * (k % 4)));
    }
}

// H(x, y) of a row, its second derivative: for g = factor u . w it is factor (u(x) . w(y) + u(y) . w(x)); H(v, v) is
// (dG/dt) v
static double row_curvature(const constraint_row *row, const double *xa, const double *xb,
                            const double *ya, const double *yb)
{
    if (!row->product) return 0.0;
    hn_vec3 ux, wx, uy, wy;
    row_vectors_at(row, xa, xb, &ux, &wx);
    row_vectors_at(row, ya, yb, &uy, &wy);
    return row->factor * (vec3_dot(ux, wy) + vec3_dot(uy, wx));
}

static void assemble_mass(saddle *s, const double *q_start, const double *q, double weight)
{
    step_equations equations = {.mass_factor = 1.0, .weight = weight};
    step_data step = {.q_start = q_start, .q = (double *)q};
    assembly x = assembly_of(s, &equations, &step, true);
    saddle_clear_multipliers(s);
    block_lu_clear(s->lu);
    find_projection_poses(&x);
    memset(s->total, 0, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    add_mass_and_rows(&x);
}

// The mass matrix with the rows as they were chosen, projected at (1 - weight) q_start + weight q.
static hn_status factor_mass(saddle *s, const double *q_start, const double *q, double weight)
{
    assemble_mass(s, q_start, q, weight);
    s->factored = block_lu_factor(s->lu) < 0;
    return s->factored ? HN_OK : HN_SINGULAR_SYSTEM;
}

hn_status saddle_factor_mass(saddle *s, const double *q)
{
    saddle_choice choice;
    TRY(saddle_choose_rows(s, q, &choice));
    return factor_mass(s, q, q, 0.0);
}

// A wrench in the unknowns of a body that it acts on
static void unknowns_of_wrench(const saddle *s, int body, const double *wrench, double *to)
{
    const system_body *b = &s->system->bodies[body];
    if (b->has_directors) memcpy(to, wrench, TWIST_SIZE * sizeof(double));
    else coordinates_of(b, vec3_load(wrench), to);
}

// += strength J^T J of a row, divided as the equations are
static void add_rate(saddle *s, const rate_row *row, double strength)
{
    double on[3][TWIST_SIZE];
    for (int a = 0; a < 3; ++a)
        if (row->body[a] >= 0) unknowns_of_wrench(s, row->body[a], row->on[a], on[a]);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; row->body[a] >= 0 && b < 3; ++b) {
            if (row->body[b] < 0) continue;
            int stride = block_lu_node_size(s->lu, row->body[b]);
            double *block = block_lu_block(s->lu, row->body[a], row->body[b]),
                   scale = strength / s->system->unit_mass[row->body[a]];
            for (int i = 0; i < body_unknowns(s, row->body[a]); ++i)
                for (int k = 0; k < body_unknowns(s, row->body[b]); ++k)
                    block[i * stride + k] += scale * on[a][i] * on[b][k];
        }
}

hn_status saddle_factor_rates(saddle *s, const double *q, const rate_row *rows, int count,
                              bool damped)
{
    saddle_choice choice;
    TRY(saddle_choose_rows(s, q, &choice));
    assemble_mass(s, q, q, 0.0);
    for (int r = 0; r < count; ++r) {
        double strength = rows[r].inertia + (damped ? rows[r].strength : 0.0);
        if (strength != 0.0) add_rate(s, &rows[r], strength);
    }
    s->factored = block_lu_factor(s->lu) < 0;
    return s->factored ? HN_OK : HN_SINGULAR_SYSTEM;
}

static const double *numbers_of(const double *x, int body)
{
    return body < 0 ? NULL : x + POSE_SIZE * (size_t)body;
}

// -sum of factors times H of the pairs
static double row_right(const constraint_row *row, int a, int b, const saddle_pair *pairs,
                        int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; ++k)
        sum -= pairs[k].factor * row_curvature(row, numbers_of(pairs[k].x, a),
                                               numbers_of(pairs[k].x, b), numbers_of(pairs[k].y, a),
                                               numbers_of(pairs[k].y, b));
    return sum;
}

void saddle_solve_motion(saddle *s, const double *force, const saddle_pair *pairs, int pair_count,
                         double *x, double *multipliers)
{
    const hn_system *system = s->system;
    constraint_row row;
    memset(s->right, 0, (size_t)block_lu_size(s->lu) * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double scaled[POSE_SIZE], *right = s->right + block_lu_offset(s->lu, i);
        for (int k = 0; k < POSE_SIZE; ++k)
            scaled[k] = force == NULL
                            ? 0.0
                            : force[POSE_SIZE * (size_t)i + (size_t)k] / system->unit_mass[i];
        coordinates_contract(&system->bodies[i], scaled, right);
        for (int k = 0; k < body_internal_rows(s, i); ++k) {
            row_internal(k, &row);
            right[body_unknowns(s, i) + k] = row_right(&row, i, GROUND, pairs, pair_count);
        }
    }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            if (row_dropped(s, k, r)) continue;
            row = joint_row(p->rows, r);
            s->right[block_lu_offset(s->lu, p->node) + p->place + r] =
                row_right(&row, p->a, p->b, pairs, pair_count);
        }
    }
    block_lu_solve(s->lu, s->right);
    for (int i = 0; i < system->body_count; ++i)
        saddle_body_increment(s, i, x + POSE_SIZE * (size_t)i);
    if (multipliers == NULL) return;
    for (int i = 0; i < system->body_count; ++i) {
        double *internal = multipliers + INTERNAL_ROWS * (size_t)i;
        const double *found = s->right + block_lu_offset(s->lu, i) + body_unknowns(s, i);
        for (int k = 0; k < INTERNAL_ROWS; ++k)
            internal[k] = k < body_internal_rows(s, i) ? system->unit_mass[i] * found[k] : 0.0;
    }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        double *found = multipliers + INTERNAL_ROWS * (size_t)system->body_count + p->multiplier;
        for (int r = 0; r < p->rows->row_count; ++r)
            found[r] = system->unit_mass[p->b < 0 ? p->a : p->b] *
                       s->right[block_lu_offset(s->lu, p->node) + p->place + r];
    }
}

// to += lambda H x of a row
static void add_curved_row(const constraint_row *row, int a, int b, double lambda, const double *x,
                           double *to)
{
    hn_vec3 u, w;
    if (!row->product || lambda == 0.0) return;
    row_vectors_at(row, numbers_of(x, a), numbers_of(x, b), &u, &w);
    for (int k = 0; k < 8; ++k) {
        int body = k < 4 ? a : b;
        if (body < 0) continue;
        double *f = to + POSE_SIZE * (size_t)body + 3 * (size_t)(k % 4);
        hn_vec3 sum = vec3_add_scaled(vec3_load(f), lambda * row->factor * row->alpha[k], w);
        vec3_store(vec3_add_scaled(sum, lambda * row->factor * row->beta[k], u), f);
    }
}

void saddle_closure_of(const saddle *s, const double *multipliers, double *closure)
{
    const hn_system *system = s->system;
    for (int c = 0; c < system->cut_count; ++c) {
        const joint_place *p = &s->joints[system->body_count + c];
        const double *from =
            multipliers + INTERNAL_ROWS * (size_t)system->body_count + p->multiplier;
        for (int r = 0; r < p->rows->row_count; ++r) closure[system->cut_row[c] + r] = from[r];
    }
}

void saddle_add_curved_forces(const saddle *s, const double *multipliers, const double *x,
                              double *to)
{
    const hn_system *system = s->system;
    constraint_row row;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < body_internal_rows(s, i); ++k) {
            row_internal(k, &row);
            add_curved_row(&row, i, GROUND, multipliers[INTERNAL_ROWS * i + k], x, to);
        }
    const double *joints = multipliers + INTERNAL_ROWS * (size_t)system->body_count;
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            row = joint_row(p->rows, r);
            add_curved_row(&row, p->a, p->b, joints[p->multiplier + r], x, to);
        }
    }
}

hn_status saddle_accelerations(saddle *s, const double *q, const double *v, const double *force,
                               double *acceleration)
{
    const saddle_pair velocities = {1.0, v, v};
    TRY(saddle_factor_mass(s, q));
    saddle_solve_motion(s, force, &velocities, 1, acceleration, NULL);
    return HN_OK;
}

hn_status saddle_project(saddle *s, const double *q, const double *p, double *twists)
{
    if (s->tree != NULL && tree_mass_project(s->tree, q, p, twists)) return HN_OK;
    TRY(saddle_factor_mass(s, q));
    saddle_project_again(s, q, p, twists);
    return HN_OK;
}

// P_int(q)^T p as the right side of bodies, zero for rows
static void set_momenta(saddle *s, const double *q, const double *p)
{
    const hn_system *system = s->system;
    memset(s->right, 0, (size_t)block_lu_size(s->lu) * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        hn_vec3 momentum[4];
        for (int k = 0; k < 4; ++k)
            momentum[k] = vec3_scale(1.0 / system->unit_mass[i],
                                     vec3_load(p + POSE_SIZE * (size_t)i + 3 * k));
        covector_of(s, i, system_pose(q, i), momentum, s->right + block_lu_offset(s->lu, i));
    }
}

static void solve_twists(saddle *s, double *twists)
{
    block_lu_solve(s->lu, s->right);
    for (int i = 0; i < s->system->body_count; ++i)
        saddle_body_increment(s, i, twists + TWIST_SIZE * (size_t)i);
}

void saddle_solve_wrenches(saddle *s, const double *wrenches, double *twists)
{
    const hn_system *system = s->system;
    memset(s->right, 0, (size_t)block_lu_size(s->lu) * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double scaled[TWIST_SIZE];
        for (int k = 0; k < TWIST_SIZE; ++k)
            scaled[k] = wrenches[TWIST_SIZE * (size_t)i + (size_t)k] / system->unit_mass[i];
        unknowns_of_wrench(s, i, scaled, s->right + block_lu_offset(s->lu, i));
    }
    solve_twists(s, twists);
}

void saddle_project_again(saddle *s, const double *q, const double *p, double *twists)
{
    set_momenta(s, q, p);
    solve_twists(s, twists);
}

// Row r of joint k has the right side `rate`; what (C9) adds to the equations of its bodies goes there too.
static void set_rate(saddle *s, int k, int r, const constraint_row *row, double rate)
{
    const joint_place *p = &s->joints[k];
    const joint_view *view = &s->views[k];
    const int body[2] = {p->a, p->b};
    hn_vec3 gradient[8];
    s->right[view->right + r] = rate;
    if (!(view->square > 0.0)) return;
    row_gradient(row, projection_pose(s, p->a), projection_pose(s, p->b), gradient);
    for (int side = 0; side < 2; ++side) {
        double forces[POSE_SIZE];
        if (body[side] < 0) continue;
        covector_of(s, body[side], projection_pose(s, body[side]), gradient + 4 * side, forces);
        for (int i = 0; i < body_unknowns(s, body[side]); ++i)
            s->right[view->body_right[side] + i] += view->square * rate * forces[i];
    }
}

hn_status saddle_project_between(saddle *s, const double *q_start, const double *q, const double *p,
                                 const double *v, double *twists)
{
    s->tree_solved = s->tree != NULL &&
                     tree_mass_project_between(s->tree, q_start, q, p, v, twists) &&
                     tree_mass_multipliers(s->tree, s->joints, q, p, twists, s->tree_multipliers);
    if (s->tree_solved) return HN_OK;
    TRY(factor_mass(s, q_start, q, 0.5));
    set_momenta(s, s->poses, p);
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
            if (row_dropped(s, k, r)) continue;
            const constraint_row row = joint_row(s->joints[k].rows, r);
            set_rate(s, k, r, &row, -row_rate(&row, s->joints[k].a, s->joints[k].b, q, v));
        }
    solve_twists(s, twists);
    return HN_OK;
}

const joint_place *saddle_joint(const saddle *s, int index, double *multipliers)
{
    const joint_place *p = &s->joints[index];
    if (s->tree_solved) {
        memcpy(multipliers, s->tree_multipliers + p->multiplier,
               (size_t)p->rows->row_count * sizeof(double));
        return p;
    }
    const double *solution = s->right + block_lu_offset(s->lu, p->node) + p->place;
    double mass = s->system->unit_mass[p->b < 0 ? p->a : p->b];
    for (int r = 0; r < p->rows->row_count; ++r)
        multipliers[r] = row_dropped(s, index, r) ? 0.0 : mass * solution[r];
    return p;
}

const joint_place *saddle_place(const saddle *s, int index)
{
    return &s->joints[index];
}

int saddle_size(const saddle *s)
{
    return block_lu_size(s->lu);
}

void saddle_take_solution(saddle *s, const double *solution)
{
    memcpy(s->right, solution, (size_t)block_lu_size(s->lu) * sizeof(double));
}

void saddle_read(const saddle *s, double *residual, double *matrix)
{
    memcpy(residual, s->right, (size_t)block_lu_size(s->lu) * sizeof(double));
    block_lu_dense(s->lu, matrix);
}

int saddle_joint_count(const saddle *s)
{
    return s->joint_count;
}

bool saddle_row_is_dropped(const saddle *s, int joint_index, int row)
{
    return row_dropped(s, joint_index, row);
}

bool saddle_rows_hold(const saddle *s, const step_data *step)
{
    for (int k = 0; s->level == SADDLE_TWISTS && k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        double middle[2][POSE_SIZE];
        pose_between(step, p->a, 0.5, middle[0]);
        pose_between(step, p->b, 0.5, middle[1]);
        for (int r = 0; is_loop_node(s, p) && r < p->rows->row_count; ++r) {
            if (s->dropped[s->views[k].loop_row + r]) continue;
            const constraint_row row = joint_row(p->rows, r);
            row_vectors v;
            find_row_vectors(&row, middle[0], middle[1], &v);
            if (!(fabs(row_secant(&row, &v, p->a, p->b, step)) <=
                  measure_row_tolerance(s->system, p->rows, &row, p->a, p->b, step->q)))
                return false;
        }
    }
    return true;
}

bool saddle_joints_hold(const saddle *s, const step_data *step)
{
    const double WELL = 0.1; // of what is allowed: another iteration is cheaper than a doubt
    if (s->level != SADDLE_COORDINATES && !s->apart) return true;
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            if (row_dropped(s, k, r)) continue;
            const constraint_row row = joint_row(p->rows, r);
            double value = row_value(&row, system_pose(step->q, p->a), system_pose(step->q, p->b));
            double allowed = measure_row_tolerance(s->system, p->rows, &row, p->a, p->b, step->q);
            if (!(fabs(value) <= WELL * allowed)) return false;
        }
    }
    return true;
}

bool saddle_restore_rows(saddle *s, const double *q)
{
    bool restored = false;
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            if (!row_dropped(s, k, r)) continue;
            const constraint_row row = joint_row(p->rows, r);
            double value = row_value(&row, system_pose(q, p->a), system_pose(q, p->b));
            if (fabs(value) <= measure_row_tolerance(s->system, p->rows, &row, p->a, p->b, q))
                continue;
            s->dropped[s->views[k].loop_row + r] = false;
            s->restored[s->views[k].loop_row + r] = true;
            restored = true;
        }
    }
    return restored;
}

bool saddle_restore_rank(saddle *s, const double *q, int dropped_count)
{
    if (dropped_count == 0) return false;
    memcpy(s->dropped_before, s->dropped, (size_t)s->loop_row_count * sizeof(bool));
    saddle_choice choice;
    if (saddle_choose_rows(s, q, &choice) != HN_OK || choice.dropped_count >= dropped_count)
        return false;
    for (int k = 0; k < s->loop_row_count; ++k)
        s->restored[k] = s->dropped_before[k] && !s->dropped[k];
    return true;
}

// ---- solution ---------------------------------------------------------------------------------------

// Coordinates of places far out are known to fewer digits than those within ten times a body's size.
static double reach_of(const hn_system *system, const double *q, int body)
{
    const double NEAR = 0.1;
    if (body < 0) return 1.0;
    return fmax(1.0, NEAR * vec3_norm(pose_center(system_pose(q, body))) / system->sizes[body]);
}

static void note_size(saddle_residual *r, double size, double reach, int body)
{
    if (!(size <= r->largest)) r->largest = size, r->worst_body = body;
    if (!(size / reach <= r->reached)) r->reached = size / reach;
}

saddle_residual saddle_residual_size(const saddle *s, const step_data *step)
{
    const hn_system *system = s->system;
    saddle_residual r = {0};
    for (int i = 0; i < system->body_count; ++i) {
        const double *right = s->right + block_lu_offset(s->lu, i);
        int width = coordinate_width(&system->bodies[i]), unknowns = body_unknowns(s, i);
        double reach = reach_of(system, step->q_start, i);
        for (int k = 0; k < unknowns; ++k) {
            double scale = k < width ? s->scales[i].force : s->scales[i].moment;
            note_size(&r, measure_part(right[k], scale), reach, i);
        }
        for (int k = 0; k < body_internal_rows(s, i); ++k)
            note_size(&r, fabs(right[unknowns + k]), reach, i);
    }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        double reach =
            fmax(reach_of(system, step->q_start, p->a), reach_of(system, step->q_start, p->b));
        for (int i = 0; i < p->rows->row_count; ++i)
            note_size(&r, fabs(s->right[s->views[k].right + i]) / s->views[k].size[i], reach,
                      p->rows->child >= 0 ? p->rows->child : p->rows->parent);
    }
    return r;
}

void saddle_allow_round_off(saddle *s, const step_equations *equations, const step_data *step)
{
    const hn_system *system = s->system;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < system->body_count; ++i) {
            double scale = scale_of(s, equations, i);
            s->scales[i].force *= pass == 0 ? 1.0 / scale : scale;
            s->scales[i].moment *= pass == 0 ? 1.0 / scale : scale;
        }
        if (pass > 0) continue;
        measure_add_round_off(system, equations, step->q_start, s->scales);
        measure_add_elements(system, equations, step, s->scales);
    }
}

void saddle_solve_again(saddle *s)
{
    for (int k = 0; k < block_lu_size(s->lu); ++k) s->right[k] = -s->right[k];
    block_lu_solve(s->lu, s->right);
}

bool saddle_factor(saddle *s, int *worst_body)
{
    int node = block_lu_factor(s->lu);
    s->factored = node < 0;
    if (s->factored) return true;
    *worst_body = node;
    for (int k = 0; node >= s->system->body_count && k < s->joint_count; ++k)
        if (s->joints[k].node == node)
            *worst_body = s->joints[k].b >= 0 ? s->joints[k].b : s->joints[k].a;
    return false;
}

bool saddle_solve(saddle *s, int *worst_body)
{
    if (!saddle_factor(s, worst_body)) return false;
    saddle_solve_again(s);
    return true;
}

void saddle_apply_multipliers(saddle *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        const double *solution = s->right + block_lu_offset(s->lu, i) + body_unknowns(s, i);
        for (int k = 0; k < body_internal_rows(s, i); ++k)
            s->internal[INTERNAL_ROWS * i + k] += solution[k];
    }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        const double *solution = s->right + block_lu_offset(s->lu, p->node) + p->place;
        for (int r = 0; r < p->rows->row_count; ++r) s->external[p->multiplier + r] += solution[r];
    }
}

bool saddle_solve_constraints(saddle *s, const double *q)
{
    if (!s->factored) return false;
    const hn_system *system = s->system;
    constraint_row row;
    memset(s->right, 0, (size_t)block_lu_size(s->lu) * sizeof(double));
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < body_internal_rows(s, i); ++k) {
            row_internal(k, &row);
            s->right[block_lu_offset(s->lu, i) + system->bodies[i].coordinate_count + k] =
                -row_value(&row, system_pose(q, i), system_pose(q, i));
        }
    for (int k = 0; k < s->joint_count; ++k) {
        const joint_place *p = &s->joints[k];
        for (int r = 0; r < p->rows->row_count; ++r) {
            if (row_dropped(s, k, r)) continue;
            row = joint_row(p->rows, r);
            s->right[block_lu_offset(s->lu, p->node) + p->place + r] =
                -row_value(&row, system_pose(q, p->a), system_pose(q, p->b));
        }
    }
    block_lu_solve(s->lu, s->right);
    return true;
}

void saddle_body_increment(const saddle *s, int body, double *change)
{
    const system_body *b = &s->system->bodies[body];
    const double *solution = s->right + block_lu_offset(s->lu, body);
    if (s->level == SADDLE_TWISTS && b->has_directors) {
        memcpy(change, solution, TWIST_SIZE * sizeof(double));
        return;
    }
    double pose[POSE_SIZE];
    coordinates_expand(b, solution, pose);
    memcpy(change, pose, (s->level == SADDLE_TWISTS ? TWIST_SIZE : POSE_SIZE) * sizeof(double));
}

double saddle_move_bodies(const saddle *s, step_data *step)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        double change[TWIST_SIZE];
        saddle_body_increment(s, i, change);
        step_advance_body(system, step, i, change);
        double size = measure_twist(measure_length(system, i, step->q, step->delta), change);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

void saddle_settle_bodies(saddle *s, step_data *step)
{
    const hn_system *system = s->system;
    const double LARGEST = 1e-9; // rad, m over the body's length: round-off, and no more
    bool solved = saddle_solve_constraints(s, step->q);
    double change[POSE_SIZE], velocity[POSE_SIZE];
    memset(s->unsettled, 0, (size_t)system->mechanism_count * sizeof(bool));
    for (int i = 0; solved && i < system->body_count; ++i) {
        saddle_body_increment(s, i, change);
        double length = measure_length(system, i, step->q, step->delta);
        if (!(measure_twist(length, change) <= LARGEST)) s->unsettled[system->mechanism[i]] = true;
    }
    for (int i = 0; solved && i < system->body_count; ++i) {
        double *q = step->q + POSE_SIZE * (size_t)i;
        if (s->unsettled[system->mechanism[i]]) continue;
        saddle_body_increment(s, i, change);
        twist_to_velocity(q, change, velocity);
        int count = system->bodies[i].has_directors ? POSE_SIZE : 3;
        for (int k = 0; k < count; ++k) q[k] += velocity[k];
    }
    step_settle_directors(system, step);
}

void saddle_store_closure(const saddle *s, const step_equations *equations, const step_data *step)
{
    const hn_system *system = s->system;
    for (int c = 0; c < system->cut_count; ++c) {
        const joint_place *p = &s->joints[system->body_count + c];
        double factor =
            1.0 / scale_of(s, equations, p->b < 0 ? p->a : p->b); // sigma lambda = alpha m* mu
        for (int r = 0; r < p->rows->row_count; ++r)
            step->closure[system->cut_row[c] + r] = factor * s->external[p->multiplier + r];
    }
}

// ---- statics ----------------------------------------------------------------------------------------

double saddle_stiffness_scale(const saddle *s, double *of_bodies)
{
    const hn_system *system = s->system;
    double all = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        int size = block_lu_node_size(s->lu, i), width = coordinate_width(&system->bodies[i]);
        const double *diagonal = block_lu_block(s->lu, i, i),
                     *right = s->right + block_lu_offset(s->lu, i);
        double length = system->unit_length[i], largest = 0.0;
        for (int k = 0; k < body_unknowns(s, i); ++k) {
            double arm = k < width ? 1.0 : length;
            double stiffness = fabs(diagonal[k * (size + 1)]) / (arm * arm),
                   load = fabs(right[k]) / (arm * length);
            largest = fmax(largest, fmax(stiffness, load));
        }
        of_bodies[i] = largest;
        all = fmax(all, largest);
    }
    return all > 0.0 && isfinite(all) ? all : 1.0;
}

// Bodies that nothing but their joints holds take the least of what their neighbours have.
static bool pass_on(const saddle *s)
{
    bool passed = false;
    for (int k = 0; k < s->joint_count; ++k) {
        const int body[2] = {s->joints[k].a, s->joints[k].b};
        for (int side = 0; side < 2 && body[0] >= 0 && body[1] >= 0; ++side) {
            double *own = &s->lent[body[side]], other = s->lent[body[1 - side]];
            if (*own > 0.0 || !(other > 0.0)) continue;
            *own = other;
            passed = true;
        }
    }
    return passed;
}

void saddle_lend(saddle *s, const double *stiffness)
{
    memcpy(s->lent, stiffness, (size_t)s->system->body_count * sizeof(double));
    while (pass_on(s)) {
    }
    for (int i = 0; i < s->system->body_count; ++i)
        if (!(s->lent[i] > 0.0)) s->lent[i] = 1.0;
    memset(s->local, 0, (size_t)(s->system->body_count + s->joint_count) * sizeof(double));
    memcpy(s->local, s->lent, (size_t)s->system->body_count * sizeof(double));
    block_lu_raise(s->lu, s->local);
}

double saddle_local_stiffness(const saddle *s, int body)
{
    return s->local[body];
}

double saddle_unbalanced_force(const saddle *s, const step_equations *equations, double length)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *right = s->right + block_lu_offset(s->lu, i);
        int width = coordinate_width(&system->bodies[i]);
        for (int k = 0; k < body_unknowns(s, i); ++k)
            largest = fmax(largest,
                           fabs(right[k]) / (k < width ? 1.0 : length) / scale_of(s, equations, i));
    }
    return largest;
}

// With m rows the whole matrix has m negative eigenvalues more than its part on the motions that keep them.
int saddle_count_negative(saddle *s)
{
    int negative = 0, rows = 0;
    block_lu_rank count = {.first_node = INT_MAX, .negative = &negative};
    s->factored = false;
    if (block_lu_factor_rank(s->lu, &count) >= 0) return -1;
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r) rows += !row_dropped(s, k, r);
    return negative - rows;
}

double saddle_asymmetry(const saddle *s, const step_equations *equations, double length)
{
    double difference = 0.0;
    for (int i = 0; i < s->system->body_count; ++i) {
        int size = block_lu_node_size(s->lu, i), count = body_unknowns(s, i);
        const double *a = block_lu_block(s->lu, i, i);
        double scale =
            scale_of(s, equations, i) / length; // an element times a length, or a force by angle
        for (int r = 0; r < count; ++r)
            for (int c = 0; c < r; ++c)
                difference =
                    fmax(difference, fabs(a[r * size + c] - a[c * size + r]) /
                                         (scale * (r < 3 ? 1.0 : length) * (c < 3 ? 1.0 : length)));
    }
    return difference;
}

void saddle_shift(saddle *s, double part, double length)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        int size = block_lu_node_size(s->lu, i), width = coordinate_width(&s->system->bodies[i]);
        double *diagonal = block_lu_block(s->lu, i, i), own = part * s->local[i];
        for (int k = 0; k < body_unknowns(s, i); ++k)
            diagonal[k * (size + 1)] += k < width ? own : own * length * length;
    }
}

void saddle_symmetrise(saddle *s)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        int size = block_lu_node_size(s->lu, i), count = body_unknowns(s, i);
        double *a = block_lu_block(s->lu, i, i);
        for (int r = 0; r < count; ++r)
            for (int c = 0; c < r; ++c)
                a[r * size + c] = a[c * size + r] = 0.5 * (a[r * size + c] + a[c * size + r]);
    }
}

// ---- stiffness --------------------------------------------------------------------------------------

// Multipliers at the solved step: one linear solve, the coordinates do not move.
static hn_status find_multipliers(saddle *s, const step_equations *equations, const step_data *step)
{
    int worst = 0;
    saddle_clear_multipliers(s);
    saddle_assemble(s, equations, step);
    if (!saddle_solve(s, &worst))
        return context_fail(s->system->context, HN_SINGULAR_SYSTEM,
                            "body '%s': singular iteration matrix", s->system->bodies[worst].name);
    saddle_apply_multipliers(s);
    return HN_OK;
}

hn_status saddle_stiffness(saddle *s, const step_equations *equations, const step_data *step,
                           double *stiffness)
{
    const hn_system *system = s->system;
    hn_context *context = system->context;
    saddle_choice choice;
    size_t size = (size_t)block_lu_size(s->lu);
    double *dense = context_allocate(context, (size * size + 1) * sizeof(double));
    if (dense == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = saddle_choose_rows(s, step->q_start, &choice);
    if (status == HN_OK) status = find_multipliers(s, equations, step);
    if (status == HN_OK) {
        saddle_assemble(s, equations, step);
        block_lu_dense(s->lu, dense);
        double *to = stiffness;
        for (int a = 0; a < system->body_count; ++a)
            for (int i = 0; i < system->bodies[a].coordinate_count; ++i)
                for (int b = 0; b < system->body_count; ++b)
                    for (int k = 0; k < system->bodies[b].coordinate_count; ++k)
                        *to++ = dense[(size_t)(block_lu_offset(s->lu, a) + i) * size +
                                      (size_t)(block_lu_offset(s->lu, b) + k)] /
                                scale_of(s, equations, a);
    }
    context_release(context, dense);
    return status;
}
