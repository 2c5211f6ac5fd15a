// SPDX-License-Identifier: MIT
// Reduction `reduced`: n - m unknowns, the joint increments; the iterate never leaves the constraint manifold.
// Notes: docs/theory/reduced.md, docs/theory/closed-loops.md
//
//   (T7)  r_c = B_c^T W_c = 0,   W_i = R_i + sum_c A_c^T W_c,   R_i = P_int(q_w)^T rho_i            (LMO 28, BL 15)
//   (T8)  K_i = dR_i/dt_i:  sum_I alpha E_I ((e_I . d_I) 1 - d_I e_I^T) + w (d_I rho_I^T - (d_I . rho_I) 1)  for
//         rotations, alpha m 1 for translations; e_I: directors of q_w, d_I: of the iterate. About a reference point P
//         the sum has one more term, I = 0, with the vector from P to the centre of mass in place of a director and
//         E_0 = m; rotations and translations are then coupled by alpha m e_0^ and -alpha m d_0^
//   (T9)  each Newton increment moves the iterate itself, root to leaves, by Cayley maps (docs/theory/reduced.md)
//
// Springs between bodies that are not neighbours in the tree and the closure rows of a few loops enter as a border
// (border.h), the latter with their multipliers in step->closure:
//
//   (C1)  P_o(q_w)^T (rho + sigma G_c(q_w)^T lambda_c) = 0,   g_c(q) = 0                                 (LMO 94-96)
//
// Many of them, and loops near a singular position, are left to the sparse system of closed.h.
#include "reductions/reduction.h"

#include "base/processor.h"
#include "base/six.h"
#include "joints/pivot.h"
#include "reductions/closed.h"
#include "reductions/closures.h"
#include "reductions/dense_block.h"
#include "reductions/condition.h"
#include "reductions/row_vectors.h"
#include "reductions/tree_pivots.h"

#include <string.h>

enum { BORDER_TERMS_PER_ELEMENT = 2 };  // a spring and a damper; where rates lag, one more
enum { BORDER_COLUMNS_PER_BLOCK = 12 }; // the twists of both bodies of a dense element

// The iterate a step starts from.
typedef struct iterate {
    double *q, *delta;
    body_step *bodies;
    joint_step *joints;
} iterate;

// The sweeps over all bodies, in the form for the machine (processor.h).
typedef struct sweep_functions {
    double (*inward)(reduction *r, const step_equations *equations, step_data *step, int *worst);
    double (*inward_again)(reduction *r, const step_equations *equations, step_data *step,
                           int *worst);
    double (*outward)(reduction *r, step_data *step, bool solved);
    void (*settle)(reduction *r, step_data *step, bool places_alone);
} sweep_functions;

struct reduction {
    hn_system *system;
    const sweep_functions *sweeps;
    closed *loops;      // closed loops: the sparse system
    closures *closures; // a few of them: closure rows in the border
    bool beside;        // the last step was solved with them there
    void *memory;
    tree_solver tree;
    border border;
    double *residuals;  // dof
    body_scale *scales; // per body: of W; of pivots the moment is about the joint
    double *gaps;       // per column
    iterate start;      // with `closures`
};

static void layout(arena *a, const hn_system *system, int columns, int bodies, reduction *r)
{
    size_t n = (size_t)system->body_count;
    r->tree.pivots = true;
    r->tree.keep = columns > 0;
    tree_layout(a, system, &r->tree);
    border_layout(a, system, columns, bodies, &r->border);
    r->residuals = arena_doubles(a, (size_t)system->dof + 1);
    r->scales = arena_bytes(a, n * sizeof(body_scale));
    r->gaps = arena_doubles(a, (size_t)columns);
    if (r->closures == NULL) return;
    r->start = (iterate){.q = arena_doubles(a, POSE_SIZE * n),
                         .delta = arena_doubles(a, POSE_SIZE * n),
                         .bodies = arena_bytes(a, n * sizeof(body_step)),
                         .joints = arena_bytes(a, n * sizeof(joint_step))};
}

// Is it a block, of its bodies in the tree or of columns beside it?
static bool is_block(const hn_system *system, int index)
{
    bool many = element_type_of(system->elements[index].kind)->many_terms;
    return step_element_is_dense(system, index) ||
           (many && system->places[index] == PLACE_ELSEWHERE);
}

static int spring_columns(const hn_system *system)
{
    int count = 0;
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_ELSEWHERE)
            count += is_block(system, i) ? BORDER_COLUMNS_PER_BLOCK
                                         : 3 * (BORDER_TERMS_PER_ELEMENT +
                                                (system->elements[i].rate_mass != NULL ? 1 : 0));
    return count;
}

// Columns of the border with the closure rows of all loops, and bodies that take part in it.
typedef struct border_size {
    int columns, bodies;
} border_size;

static hn_status find_border_size(const hn_system *system, bool with_loops, border_size *size)
{
    *size = (border_size){.columns = spring_columns(system)};
    if (with_loops) size->columns += closures_column_count(system);
    if (size->columns == 0) return HN_OK;
    int *place = context_allocate(system->context, ((size_t)system->body_count + 1) * sizeof(int));
    if (place == NULL) return HN_OUT_OF_MEMORY;
    size->bodies = border_mark_bodies(system, place);
    context_release(system->context, place);
    return HN_OK;
}

// Is the border cheaper than the sparse system, and can the tree be eliminated without the loops? Instructions of an
// iteration, about, as counted on ladders. A rod may be held by a closure alone. A torsional spring at a cut joint has
// too many tangent terms for a border.
static bool fits_border(const hn_system *system, const border_size *size)
{
    const double ANSWERS_MAX = 2e6; // twists, and steps beside them: 200 MB
    const double DENSE = 8.0;       // columns of a block are full, those of a spring are not
    double c = size->columns;
    double beside = c * (1800.0 + 30.0 * size->bodies + 8.0 * c + 0.06 * c * c);
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_ELSEWHERE && is_block(system, i))
            beside += DENSE * BORDER_COLUMNS_PER_BLOCK * (beside / c);
    double sparse = 26000.0 * system->body_count;
    if (size->columns == 0) return true;
    for (int i = 0; i < system->body_count && system->cut_count > 0; ++i)
        if (system_body_is_rod(system, i)) return false;
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_ELSEWHERE && system->elements[i].angle >= 0) return false;
    return beside < sparse && c * size->bodies < ANSWERS_MAX;
}

static void reduced_destroy(reduction *r)
{
    if (r == NULL) return;
    closed_destroy(r->loops);
    closures_destroy(r->closures);
    context_release(r->system->context, r->memory);
    context_release(r->system->context, r);
}

// The tree and its border.
static hn_status create_tree(reduction *r, const border_size *size)
{
    hn_system *system = r->system;
    arena a = {0};
    layout(&a, system, size->columns, size->bodies, r);
    r->memory = context_allocate(system->context, a.used);
    if (r->memory == NULL) return HN_OUT_OF_MEMORY;
    a = (arena){.block = r->memory};
    layout(&a, system, size->columns, size->bodies, r);
    tree_number_edges(&r->tree);
    if (size->columns > 0) border_number_bodies(&r->border, system);
    return HN_OK;
}

static const sweep_functions PLAIN, FUSED; // below

static hn_status reduced_create(hn_system *system, reduction **out)
{
    *out = NULL;
    reduction *r = context_allocate(system->context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    r->system = system;
    r->sweeps = processor_fuses() ? &FUSED : &PLAIN;
    border_size size;
    bool looped = system->cut_count > 0;
    hn_status status = find_border_size(system, looped, &size);
    bool fits = status == HN_OK && fits_border(system, &size);
    if (status == HN_OK && (looped || !fits)) status = closed_create(system, &r->loops);
    if (status == HN_OK && looped && fits) status = closures_create(system, &r->closures);
    if (status == HN_OK && fits) status = create_tree(r, &size);
    if (status != HN_OK) {
        reduced_destroy(r);
        return status;
    }
    *out = r;
    return HN_OK;
}

// (T7), (T8) of one body about its reference point: the node starts as that, or as (T7) alone
static ALWAYS_INLINE void start_node(const tree_body *b, const step_equations *equations,
                                     const step_data *step, hn_vec3 impulse, int body,
                                     bool residual_alone, tree_node *node)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *q = step->q + at, *start = step->q_start + at, *delta = step->delta + at;
    const double *momentum = equations->momentum + at, *force = step->force + at;
    double w = equations->weight, mass = equations->mass_factor * b->inertia[0];

    // I = 0: rho_0 acts at the centre of mass
    hn_vec3 f = vec3_subtract(vec3_add(vec3_scale(mass, vec3_load(delta)), vec3_load(force)),
                              vec3_add_scaled(vec3_load(momentum), b->inertia[0], impulse));
    hn_vec3 d = vec3_negate(pose_direction(q, b->reference));
    hn_vec3 e = vec3_add_scaled(d, 1.0 - w, pose_direction(delta, b->reference));
    const hn_vec3 none = {0.0, 0.0, 0.0};
    hn_vec3 moment = vec3_cross(e, f), x = none, y = none, z = none, row;
    hn_vec3 md = vec3_scale(mass, d), me = vec3_scale(mass, e);
    if (!residual_alone) {
        row = vec3_add_scaled(vec3_scale(w, f), -mass, e);
        x = vec3_scale(d.x, row), y = vec3_scale(d.y, row), z = vec3_scale(d.z, row);
    }

    // sum over I: moments, d_I row_I^T - (d_I . row_I) 1 with row_I = w rho_I - alpha E_I e_I
    for (int k = 3; k < POSE_SIZE && b->rigid; k += 3) {
        double inertia = equations->mass_factor * b->inertia[k / 3];
        hn_vec3 change = vec3_load(delta + k);
        e = vec3_add_scaled(vec3_load(start + k), w, change);
        hn_vec3 g = vec3_subtract(vec3_add(vec3_scale(inertia, change), vec3_load(force + k)),
                                  vec3_load(momentum + k));
        moment = vec3_add(moment, vec3_cross(e, g));
        if (residual_alone) continue;
        d = vec3_load(q + k), row = vec3_add_scaled(vec3_scale(w, g), -inertia, e);
        x = vec3_add_scaled(x, d.x, row), y = vec3_add_scaled(y, d.y, row),
        z = vec3_add_scaled(z, d.z, row);
    }
    six_store(six_of(none, none), node->load);
    six_store(six_of(f, moment), node->wrench);
    if (residual_alone) return;
    tree_store_mass(mass, me, md, x, y, z, node->stiffness);
}

// twist row of a vector sum c_k x_k of one body at a pose: delta x = c0 v + omega x (x - c0 P); columns 3 x 6
static void columns_about(const double *coefficients, hn_vec3 reference, const double *pose,
                          double columns[3][6])
{
    hn_vec3 local = vec3(coefficients[1], coefficients[2], coefficients[3]);
    hn_vec3 x = pose_direction(pose, vec3_add_scaled(local, -coefficients[0], reference));
    turning_columns(coefficients[0], x, columns);
}

// A dense element: blocks of its two bodies and of the edge between them, or columns of the border.
static void add_dense(reduction *r, const step_equations *equations, const step_data *step,
                      int index)
{
    const hn_system *system = r->system;
    const element *e = &system->elements[index];
    const int body[2] = {e->a, e->b};
    const hn_vec3 centre = {0.0, 0.0, 0.0};
    element_block block;
    step_element_block(system, equations, step, index, true, &block);
    bool elsewhere = system->places[index] == PLACE_ELSEWHERE;
    double across[2][36] = {{0.0}}; // rows of one body, columns of the other, about centres of mass
    for (int x = 0; x < 2; ++x) {
        const tree_body *rows = &r->tree.bodies[body[x]];
        double pose[POSE_SIZE], wrenches[6][24];
        step_projection_pose(equations, step, body[x], pose);
        turning_vectors left = turning_vectors_of(pose, rows->reference);
        block_to_wrenches(&block, POSE_SIZE * x, &left, wrenches);
        for (int y = 0; y < 2; ++y) {
            if (x != y && elsewhere) continue;
            turning_vectors right = turning_vectors_of(system_pose(step->q, body[y]),
                                                       r->tree.bodies[body[y]].reference);
            double *to = r->tree.nodes[rows->node].stiffness;
            if (x != y) {
                int child = system->element_edge[index];
                to = r->tree.edges + 72 * (size_t)r->tree.edge_of[child] +
                     (body[x] == child ? 0 : 36);
            }
            add_wrenches_by_twist(wrenches, POSE_SIZE * y, &right, 1.0, 6, to);
        }
        if (!elsewhere) continue;
        turning_vectors other = turning_vectors_of(system_pose(step->q, body[1 - x]), centre);
        left = turning_vectors_of(pose, centre);
        block_to_wrenches(&block, POSE_SIZE * x, &left, wrenches);
        add_wrenches_by_twist(wrenches, POSE_SIZE * (1 - x), &other, 1.0, 6, across[x]);
    }
    if (elsewhere) border_add_blocks(&r->border, body[0], body[1], across[0], across[1]);
}

// Terms on the same vectors are one: those of a spring, its damper and the lag of its rate, for which a border has no
// columns of their own.
static int merge_terms(int count, stiffness_term *terms)
{
    int kept = 0;
    for (int t = 0; t < count; ++t) {
        int same = 0;
        while (same < kept && (memcmp(terms[same].u, terms[t].u, sizeof terms[t].u) != 0 ||
                               memcmp(terms[same].v, terms[t].v, sizeof terms[t].v) != 0))
            ++same;
        if (same == kept) {
            terms[kept++] = terms[t];
            continue;
        }
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) terms[same].c[i][k] += terms[t].c[i][k];
    }
    return kept;
}

static void add_elements(reduction *r, const step_equations *equations, const step_data *step)
{
    const hn_system *system = r->system;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (is_block(system, i)) {
            add_dense(r, equations, step, i);
            continue;
        }
        stiffness_term terms[ELEMENT_TERMS_MAX];
        int count = step_element_terms(system, equations, step, i, terms);
        if (system->places[i] == PLACE_ELSEWHERE) count = merge_terms(count, terms);
        for (int t = 0; t < count; ++t) {
            if (system->places[i] == PLACE_ELSEWHERE) {
                border_add_term(&r->border, equations, step, e->a, e->b, &terms[t]);
                continue;
            }
            const int body[2] = {e->a, e->b};
            for (int x = 0; x < 2; ++x)
                for (int y = 0; y < 2; ++y) {
                    if (body[x] < 0 || body[y] < 0) continue;
                    double pose[POSE_SIZE], left[3][6], right[3][6];
                    step_projection_pose(equations, step, body[x], pose);
                    columns_about(terms[t].u + 4 * x, r->tree.bodies[body[x]].reference, pose,
                                  left);
                    columns_about(terms[t].v + 4 * y, r->tree.bodies[body[y]].reference,
                                  system_pose(step->q, body[y]), right);
                    double *to = r->tree.nodes[r->tree.bodies[body[x]].node].stiffness;
                    if (body[x] != body[y]) {
                        // U: rows of the child, columns of the parent; K_pc: the other way round
                        int child = system->element_edge[i];
                        to = r->tree.edges + 72 * (size_t)r->tree.edge_of[child] +
                             (body[x] == child ? 0 : 36);
                    }
                    add_congruent(left, &terms[t], right, 1.0, 6, to);
                }
        }
    }
}

// the largest of the sizes seen; a NaN stays
static inline double larger(double largest, double size)
{
    return size <= largest || isnan(largest) ? largest : size;
}

// the same, beside what elements have added to its stiffness
static ALWAYS_INLINE void start_body(reduction *r, const step_equations *equations,
                                     const step_data *step, hn_vec3 impulse, int body)
{
    const tree_body *b = &r->tree.bodies[body];
    tree_node *node = &r->tree.nodes[b->node];
    if (r->system->element_count == 0) {
        start_node(b, equations, step, impulse, body, false, node);
        return;
    }
    tree_node own;
    start_node(b, equations, step, impulse, body, false, &own);
    for (int k = 0; k < 36; ++k) node->stiffness[k] += own.stiffness[k];
    for (int k = 0; k < 6; ++k) node->wrench[k] += own.wrench[k];
}

static ALWAYS_INLINE void start_residual(reduction *r, const step_equations *equations,
                                         const step_data *step, hn_vec3 impulse, int body)
{
    const tree_body *b = &r->tree.bodies[body];
    start_node(b, equations, step, impulse, body, true, &r->tree.nodes[b->node]);
}

// elimination of a body whose joint is no pivot; returns the size of its residual, negative when singular
static double eliminate_general(reduction *r, const step_equations *equations,
                                const step_data *step, int body, bool again, double *residual)
{
    const hn_system *system = r->system;
    double parent[POSE_SIZE], pose[POSE_SIZE], largest = 0.0;
    int p = system->parent[body];
    step_projection_pose(equations, step, p, parent);
    step_projection_pose(equations, step, body, pose);
    tree_joint_state state = {.parent_now = system_pose(step->q, p),
                              .child_now = system_pose(step->q, body),
                              .parent_projected = parent,
                              .child_projected = pose,
                              .weight = equations->weight};
    tree_residual(&r->tree, body, &step->joints[body], &state, residual);
    const motion *m = &tree_memory_of(&r->tree, &r->tree.bodies[body])->projected;
    for (int k = 0; k < m->dof; ++k)
        largest = larger(largest, measure_residual(m, k, residual[k], &r->scales[body]));
    if (again) tree_repeat(&r->tree, body, residual);
    else if (!tree_eliminate(&r->tree, body, &step->joints[body], &state, residual)) return -1.0;
    tree_pass_wrench(&r->tree, body);
    return largest;
}

// What residuals are measured by at the iterate.
static void find_scales(reduction *r, const step_equations *equations, const step_data *step)
{
    const hn_system *system = r->system;
    measure_bodies(system, equations, step, r->scales);
    for (int i = system->body_count - 1; i >= 0; --i) {
        measure_transmit_body(system, i, r->scales);
        body_scale *own = &r->scales[i];
        if (r->tree.bodies[i].pivot != PIVOT_NONE)
            own->moment = measure_at_least(own->moment, system->sizes[i] * own->force);
    }
}

// Residual, stiffness and elimination, leaves to root; `again`: the residual alone, with the factors as they are. The
// relative residual is returned, negative for a singular body.
static ALWAYS_INLINE double sweep_inward(reduction *r, const step_equations *equations,
                                         step_data *step, bool again, int *worst)
{
    static const double still[POSE_SIZE] = {0.0};
    const hn_system *system = r->system;
    tree_solver *tree = &r->tree;
    double largest = 0.0;
    hn_vec3 impulse = vec3_scale(equations->force_factor, system->gravity);
    if (!again) r->border.count = 0;
    if (system->element_count > 0) {
        step_element_forces(system, equations, step);
        if (!again) {
            tree_clear(tree);
            add_elements(r, equations, step);
        }
    }
    if (r->closures != NULL) {
        closures_add_forces(r->closures, equations, step);
        find_scales(r, equations, step); // with the multipliers as they are now
        if (!again) closures_add_columns(r->closures, equations, step, &r->border);
    }
    for (int i = system->body_count - 1; i >= 0; --i) {
        const tree_body *b = &tree->bodies[i];
        double *residual = r->residuals + b->dof_offset, size;
        // a parent starts right before something is added to it
        if (again) {
            if (b->leaf) start_residual(r, equations, step, impulse, i);
            if (b->first) start_residual(r, equations, step, impulse, b->parent);
        } else {
            if (b->leaf) start_body(r, equations, step, impulse, i);
            if (b->first) start_body(r, equations, step, impulse, b->parent);
        }
        if (b->pivot != PIVOT_NONE) {
            tree_pivot_state state = {
                .parent_now = system_pose(step->q, b->parent),
                .parent_delta = b->parent < 0 ? still : step->delta + POSE_SIZE * (size_t)b->parent,
                .child_now = step->q + POSE_SIZE * (size_t)i,
                .child_delta = step->delta + POSE_SIZE * (size_t)i,
                .weight = equations->weight,
            };
            bool regular = true;
            if (again) tree_repeat_pivot(tree, i, &state, residual);
            else regular = tree_eliminate_pivot(tree, i, &state, residual);
            size = fabs(residual[0]);
            if (b->pivot == PIVOT_FREE)
                size = larger(larger(size, fabs(residual[1])), fabs(residual[2]));
            size = regular ? measure_part(size, r->scales[i].moment) : -1.0;
        } else {
            size = eliminate_general(r, equations, step, i, again, residual);
        }
        if (size <= largest && size >= 0.0) continue;
        *worst = i;
        if (size < 0.0) return -1.0;
        largest = larger(largest, size);
    }
    return largest;
}

// Of turns below this, rad, the square is less than a hundredth of round-off.
static const double LITTLE = 1e-9;

// (T5) unless the increments are there already, and (T9): move the iterate, root to leaves; returns the size of the
// increment
static ALWAYS_INLINE double sweep_outward(reduction *r, step_data *step, bool solved)
{
    static const body_step ground = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    static const double still[POSE_SIZE] = {0.0};
    const hn_system *system = r->system;
    tree_solver *tree = &r->tree;
    double linear = 0.0, angular = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        if (!solved) tree_substitute_body(tree, i);
        const tree_body *b = &tree->bodies[i];
        const joint *j = &system->joints[i];
        const double *u = tree->increments + b->dof_offset,
                     *t = tree->twists + TWIST_SIZE * (size_t)i;
        size_t at = POSE_SIZE * (size_t)i;
        int p = b->parent;
        const body_step *parent_step = p < 0 ? &ground : &step->bodies[p];
        const double *start = step->q_start + at;
        double *q = step->q + at, *delta = step->delta + at;
        hn_vec3 turned = vec3_load(t + 3); // displacements about pivots are those of turns
        double turned_squared = vec3_dot(turned, turned);
        if (b->pivot != PIVOT_NONE) {
            if (turned_squared <= LITTLE * LITTLE) {
                pivot_turn_little(b->pivot, u, turned, start, &step->joints[i], &step->bodies[i]);
                step_turn_directors_little(turned, start, q, delta);
            } else {
                pivot_turn(b->pivot, j, u, start, q, parent_step, &step->joints[i],
                           &step->bodies[i]);
                step_turn_directors(step->bodies[i].rotation, start, q, delta);
            }
            step->bodies[i].displacement =
                pivot_displacement(j, p < 0 ? still : step->delta + POSE_SIZE * (size_t)p, delta);
            step_move_centre(step->bodies[i].displacement, start, q, delta);
        } else {
            hn_vec3 before = step->bodies[i].displacement;
            joint_type_of(j->kind)->advance(j, u, system_pose(step->q_start, p),
                                            system_pose(step->q, p), start, q, parent_step,
                                            &step->joints[i], &step->bodies[i]);
            step_pose_from_body(system, step, i);
            step_delta_from_body(system, step, i);
            hn_vec3 moved = vec3_subtract(step->bodies[i].displacement, before);
            double length = measure_length(system, i, step->q, step->delta);
            linear = larger(linear, vec3_dot(moved, moved) / (length * length));
        }
        angular = larger(angular, turned_squared);
    }
    return sqrt(larger(linear, angular));
}

// Remove round-off from the solution, root to leaves: of places alone, or of directions as well.
static ALWAYS_INLINE void settle(reduction *r, step_data *step, bool places_alone)
{
    const hn_system *system = r->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        pivot_kind pivot = r->tree.bodies[i].pivot;
        const double *parent = system_pose(step->q, j->parent);
        double *q = step->q + POSE_SIZE * (size_t)i;
        if (pivot != PIVOT_NONE && places_alone) settle_point(j, pose_point(parent, j->rho_a), q);
        else if (pivot != PIVOT_NONE) pivot_settle(pivot, j, parent, q);
        else joint_type_of(j->kind)->settle(j, &step->joints[i], parent, q);
    }
}

static double inward_plain(reduction *r, const step_equations *equations, step_data *step,
                           int *worst)
{
    return sweep_inward(r, equations, step, false, worst);
}

static double again_plain(reduction *r, const step_equations *equations, step_data *step,
                          int *worst)
{
    return sweep_inward(r, equations, step, true, worst);
}

static double outward_plain(reduction *r, step_data *step, bool solved)
{
    return sweep_outward(r, step, solved);
}

static void settle_plain(reduction *r, step_data *step, bool places_alone)
{
    settle(r, step, places_alone);
}

FUSED_FORM static double inward_fused(reduction *r, const step_equations *equations,
                                      step_data *step, int *worst)
{
    return sweep_inward(r, equations, step, false, worst);
}

FUSED_FORM static double again_fused(reduction *r, const step_equations *equations, step_data *step,
                                     int *worst)
{
    return sweep_inward(r, equations, step, true, worst);
}

FUSED_FORM static double outward_fused(reduction *r, step_data *step, bool solved)
{
    return sweep_outward(r, step, solved);
}

FUSED_FORM static void settle_fused(reduction *r, step_data *step, bool places_alone)
{
    settle(r, step, places_alone);
}

static const sweep_functions PLAIN = {inward_plain, again_plain, outward_plain, settle_plain},
                             FUSED = {inward_fused, again_fused, outward_fused, settle_fused};

// ---- loops in the border ----------------------------------------------------------------------------

static void copy_iterate(const hn_system *system, const step_data *step, const iterate *kept,
                         bool back)
{
    size_t n = (size_t)system->body_count, poses = POSE_SIZE * n * sizeof(double);
    memcpy(back ? step->q : kept->q, back ? kept->q : step->q, poses);
    memcpy(back ? step->delta : kept->delta, back ? kept->delta : step->delta, poses);
    memcpy(back ? step->bodies : kept->bodies, back ? kept->bodies : step->bodies,
           n * sizeof(body_step));
    memcpy(back ? step->joints : kept->joints, back ? kept->joints : step->joints,
           n * sizeof(joint_step));
}

// Newton's method for (C1). The iterate moves on the manifold of the tree.
static hn_status solve_with_closures(reduction *r, const step_equations *equations, step_data *step,
                                     const newton_options *options, newton_report *report)
{
    // of a body's equation: the increment times that of the multipliers
    const double FIRST_LEFT_MAX = 1e-17;
    const bool known = options->continued || options->multipliers_known;
    if (!known) memset(step->closure, 0, (size_t)r->system->cut_row_count * sizeof(double));
    else closures_clear_dropped(r->closures, step);
    newton n = newton_begin(
        options, report,
        (newton_guards){.jumps = true, .moves_first = !options->continued, .solves_last = true});
    while (newton_goes_on(&n)) {
        double residual = r->sweeps->inward(r, equations, step, &report->worst_body);
        if (!(residual < 0.0)) residual = larger(residual, closures_gap(r->closures));
        if (!newton_takes_residual(&n, residual, residual)) return n.status;
        if (!border_solve(&r->border, &r->tree, r->residuals)) return newton_stuck(&n);
        closures_apply(r->closures, &r->border, step);
        if (n.found) return HN_OK;
        if (!newton_takes_increment(&n, r->sweeps->outward(r, step, r->border.count > 0)))
            return n.status;
        // the first iteration knows the multipliers as predicted, or not at all, and so does its tangent
        bool exact = n.count > 1 || equations->weight == 0.0 || options->continued ||
                     (known && report->increment * residual <= FIRST_LEFT_MAX);
        if (exact && report->increment <= options->increment_tolerance &&
            closures_kept_hold(r->closures, step))
            return HN_OK;
    }
    return n.status;
}

// In the border, or by the sparse system where that does not do: it knows rank that changes within a step.
static hn_status solve_loops(reduction *r, const step_equations *equations, step_data *step,
                             const newton_options *options, newton_report *report)
{
    const hn_system *system = r->system;
    row_choice choice;
    if (!options->continued) {
        bool lasting = options->rows != NULL && !options->keep_rows;
        r->beside = lasting
                        ? closures_choose_lasting(r->closures, step->q_start, options, &choice)
                        : closures_choose(r->closures, step->q_start, options->keep_rows, &choice);
        newton_note_loops(report, &choice);
    }
    newton_options afresh = *options; // of the sparse system
    afresh.keep_rows = false;
    if (options->freezing > 0.0 || !r->beside)
        return closed_solve(r->loops, equations, step, &afresh, report);
    newton_report begun = *report;
    copy_iterate(system, step, &r->start, false);
    hn_status status = solve_with_closures(r, equations, step, options, report);
    if (status == HN_OK && r->border.count > 0) {
        closures_find_gaps(r->closures, &r->border, step->q, r->gaps);
        border_close(&r->border, &r->tree, r->gaps);
        closed_settle(system, r->tree.twists, step);
    } else if (status == HN_OK) {
        r->sweeps->settle(r, step, false); // all closure rows follow from the tree's
    }
    if (system->element_count == 0) closures_clear_forces(r->closures, step);
    if (status == HN_OK && closures_all_hold(r->closures, step->q)) return HN_OK;
    if (options->residual_tolerance == 0.0) return status; // an iteration that is not to stop
    copy_iterate(system, step, &r->start, true);
    *report = begun;
    r->beside = false;
    afresh.continued = false;
    return closed_solve(r->loops, equations, step, &afresh, report);
}

static hn_status reduced_solve(reduction *r, const step_equations *equations, step_data *step,
                               const newton_options *options, newton_report *report)
{
    if (r->closures != NULL) return solve_loops(r, equations, step, options, report);
    if (r->loops != NULL) return closed_solve(r->loops, equations, step, options, report);
    // Factors are used once more when the iterate has moved by so little since that the next increment is the last one
    // all the same: what it leaves is the product of both increments instead of its own square, times the curvature of
    // the equations, which is large where heavy bodies hang from light ones: an increment over the square of the one
    // before tells it.
    const double REUSE_BELOW = 1e-8,
                 LEFT_MAX = 1e-21; // rad, m over the body's length
    // A first increment knows nothing of the curvature: what it leaves, the same in every step of a steady motion,
    // would add up.
    const double FIRST = 0.1; // of the tolerance
    double since = HUGE_VAL, curvature = 1.0;
    find_scales(r, equations, step);
    newton n = newton_begin(options, report, (newton_guards){.moves_first = true});
    bool last = false;
    while (!last && newton_goes_on(&n)) {
        double residual = n.reuse ? r->sweeps->inward_again(r, equations, step, &report->worst_body)
                                  : r->sweeps->inward(r, equations, step, &report->worst_body);
        if (!newton_takes_residual(&n, residual, residual)) break;
        if (!border_solve(&r->border, &r->tree, r->residuals)) return newton_stuck(&n);
        double increment = r->sweeps->outward(r, step, r->border.count > 0);
        if (!newton_takes_increment(&n, increment)) break;
        curvature = larger(curvature, increment / (since * since));
        bool exact = !n.reuse || curvature * since * increment <= LEFT_MAX;
        last = exact && increment <= options->increment_tolerance * (n.count == 1 ? FIRST : 1.0);
        since = increment;
        n.reuse =
            !n.reuse && options->reuse_factors && r->border.count == 0 && increment <= REUSE_BELOW;
    }
    if (!last && !n.found) return n.status;
    r->sweeps->settle(r, step, options->settle_places_alone);
    return HN_OK;
}

static hn_status reduced_condition(reduction *r, const step_equations *equations, step_data *step,
                                   double *condition)
{
    return iteration_condition(r->system, equations, step, CONDITION_JOINTS, condition);
}

static int reduced_unknown_count(const hn_system *system)
{
    return system->dof +
           system->cut_row_count; // joint increments, and closure multipliers where there are loops
}

static const char *reduced_loops(const reduction *r)
{
    if (r->closures != NULL) return "as a border of the tree";
    return r->loops != NULL && r->system->cut_count > 0 ? LOOPS_SPARSE : "";
}

const reduction_type reduction_reduced = {
    .create = reduced_create,
    .destroy = reduced_destroy,
    .solve = reduced_solve,
    .condition = reduced_condition,
    .unknown_count = reduced_unknown_count,
    .loops = reduced_loops,
    .joint_prediction = true,
};
