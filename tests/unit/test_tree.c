// SPDX-License-Identifier: MIT
// The linear-time elimination on the tree against a dense Newton matrix made by differences, and against the other
// reductions.
#include "simulation/simulation.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <lapacke.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MAX = 16, DOF_MAX = 64 };

// An iterate of a step with its own memory.
typedef struct iterate {
    const hn_system *system;
    const step_equations *equations;
    step_data data;
    double q[POSE_SIZE * BODIES_MAX], delta[POSE_SIZE * BODIES_MAX], force[POSE_SIZE * BODIES_MAX];
    body_step bodies[BODIES_MAX];
    joint_step joints[BODIES_MAX];
} iterate;

static void point_into(iterate *x)
{
    x->data.q = x->q;
    x->data.delta = x->delta;
    x->data.force = x->force;
    x->data.bodies = x->bodies;
    x->data.joints = x->joints;
}

static void copy_data(const hn_system *system, const step_data *from, step_data *to)
{
    size_t n = (size_t)system->body_count;
    memcpy(to->q, from->q, POSE_SIZE * n * sizeof(double));
    memcpy(to->delta, from->delta, POSE_SIZE * n * sizeof(double));
    memcpy(to->force, from->force, POSE_SIZE * n * sizeof(double));
    memcpy(to->bodies, from->bodies, n * sizeof(body_step));
    memcpy(to->joints, from->joints, n * sizeof(joint_step));
}

static void copy_iterate(const iterate *from, iterate *to)
{
    to->system = from->system;
    to->equations = from->equations;
    to->data = from->data;
    point_into(to);
    copy_data(from->system, &from->data, &to->data);
}

static iterate *take_iterate(const hn_simulation *s)
{
    const solved_step *step = &s->steps[s->ahead];
    CHECK(s->system->body_count <= BODIES_MAX && s->system->dof <= DOF_MAX);
    iterate *x = calloc(1, sizeof *x);
    CHECK(x != NULL);
    x->system = s->system;
    x->equations = &step->equations;
    x->data = step->data;
    point_into(x);
    copy_data(s->system, &step->data, &x->data);
    return x;
}

// Move every joint by its part of u, root to leaves.
static void move(iterate *x, const double *u)
{
    static const body_step ground = {0};
    const hn_system *system = x->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        int p = j->parent;
        joint_type_of(j->kind)->advance(
            j, u + system->dof_offset[i], system_pose(x->data.q_start, p), system_pose(x->q, p),
            system_pose(x->data.q_start, i), system_pose(x->q, i), p < 0 ? &ground : &x->bodies[p],
            &x->joints[i], &x->bodies[i]);
        step_pose_from_body(system, &x->data, i);
        step_delta_from_body(system, &x->data, i);
    }
}

// r_c = B_c^T W_c of all joints
static void reduced_residual(iterate *x, double *r)
{
    const hn_system *system = x->system;
    double wrench[TWIST_SIZE * BODIES_MAX];
    step_element_forces(system, x->equations, &x->data);
    step_wrenches(system, x->equations, &x->data, wrench);
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        double parent[POSE_SIZE], child[POSE_SIZE];
        motion m;
        step_projection_pose(x->equations, &x->data, j->parent, parent);
        step_projection_pose(x->equations, &x->data, i, child);
        joint_type_of(j->kind)->motion(j, &x->joints[i], parent, child, &m);
        for (int k = 0; k < m.dof; ++k)
            r[system->dof_offset[i] + k] =
                vec3_dot(m.linear[k], vec3_load(wrench + TWIST_SIZE * i)) +
                vec3_dot(m.angular[k], vec3_load(wrench + TWIST_SIZE * i + 3));
    }
}

// u with J u = -r, J by differences of order four
static void newton_direction(const iterate *x, double *u)
{
    const double width = 2e-4, places[4] = {-2.0, -1.0, 1.0, 2.0},
                 factors[4] = {1.0, -8.0, 8.0, -1.0};
    int n = x->system->dof;
    double *matrix = calloc((size_t)n * (size_t)n, sizeof(double));
    lapack_int *pivots = calloc((size_t)n, sizeof(lapack_int));
    iterate *moved = calloc(1, sizeof *moved);
    CHECK(matrix != NULL && pivots != NULL && moved != NULL);
    for (int c = 0; c < n; ++c)
        for (int p = 0; p < 4; ++p) {
            double increment[DOF_MAX] = {0.0}, r[DOF_MAX];
            copy_iterate(x, moved);
            increment[c] = places[p] * width;
            move(moved, increment);
            reduced_residual(moved, r);
            for (int i = 0; i < n; ++i) matrix[i * n + c] += factors[p] * r[i] / (12.0 * width);
        }
    copy_iterate(x, moved);
    reduced_residual(moved, u);
    for (int i = 0; i < n; ++i) u[i] = -u[i];
    CHECK_EQUAL(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, matrix, n, pivots, u, 1), 0);
    free(matrix);
    free(pivots);
    free(moved);
}

static double largest_difference(const hn_system *system, const double *x, const double *y)
{
    double worst = 0.0;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) {
        double off = fabs(x[k] - y[k]);
        if (!(off <= worst)) worst = off;
    }
    return worst;
}

static hn_simulation *simulate(hn_context *context, const hn_model *model, hn_scheme scheme,
                               hn_reduction way, double step_size)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = step_size;
    hn_simulation *s = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &s));
    return s;
}

// `count` Newton iterations of a simulation's own reduction from the iterate; the result is left in `x`.
static newton_report iterate_newton(hn_simulation *s, iterate *x, int count)
{
    solved_step *step = &s->steps[s->ahead];
    newton_options options = {
        .residual_tolerance = 0.0, .increment_tolerance = 1e-300, .iterations_max = count};
    newton_report report = {0};
    copy_data(s->system, &x->data, &step->data);
    (void)s->reduction_kind->solve(s->reduction, &step->equations, &step->data, &options, &report);
    CHECK_EQUAL(report.iterations, count);
    copy_data(s->system, &step->data, &x->data);
    return report;
}

typedef struct tree_errors {
    double residual, direction;
} tree_errors;

// Direction and residual of `reduced` at an iterate off the solution, relative to the size of the direction.
static tree_errors compare_with_differences(hn_context *context, const hn_model *model,
                                            hn_scheme scheme, double h)
{
    hn_simulation *s = simulate(context, model, scheme, HN_REDUCTION_REDUCED, h);
    CHECK_OK(context, simulation_solve_ahead(s, h, 0.0, true));
    const hn_system *system = s->system;
    iterate *base = take_iterate(s), *expected = calloc(1, sizeof *expected);
    CHECK(expected != NULL);
    number_source numbers = {71};
    double u[DOF_MAX], r[DOF_MAX];
    for (int k = 0; k < system->dof; ++k) u[k] = 0.05 * next_number(&numbers);
    move(base, u);

    // the residual the sweep reports: largest r, each over what its joint transmits
    reduced_residual(base, r);
    double largest = 0.0;
    body_scale *scales = calloc((size_t)system->body_count, sizeof *scales);
    CHECK(scales != NULL);
    measure_bodies(system, base->equations, &base->data, scales);
    measure_transmit(system, scales);
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        motion m;
        double parent[POSE_SIZE], child[POSE_SIZE];
        step_projection_pose(base->equations, &base->data, j->parent, parent);
        step_projection_pose(base->equations, &base->data, i, child);
        joint_type_of(j->kind)->motion(j, &base->joints[i], parent, child, &m);
        for (int k = 0; k < m.dof; ++k) {
            // of joints that only turn, moments are taken about the joint
            double scale = vec3_norm(m.linear[k]) * scales[i].force +
                           vec3_norm(m.angular[k]) * scales[i].moment;
            if (joint_pivot(j) != PIVOT_NONE)
                scale = fmax(scales[i].moment, system->sizes[i] * scales[i].force);
            largest = fmax(largest, fabs(r[system->dof_offset[i] + k]) / scale);
        }
    }
    free(scales);
    newton_direction(base, u);
    copy_iterate(base, expected);
    move(expected, u);
    double size = largest_difference(system, expected->q, base->q);
    newton_report report = iterate_newton(s, base, 1);
    tree_errors errors = {
        .residual = fabs(report.history[0] / largest - 1.0),
        .direction = largest_difference(system, base->q, expected->q) / size,
    };
    free(base);
    free(expected);
    hn_simulation_destroy(s);
    return errors;
}

TEST(tree, newton_direction_is_that_of_a_dense_matrix_by_differences)
{
    hn_context *context = hn_context_create(NULL);
    for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme) {
        tree_errors worst = {0};
        for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind)
            for (int variant = 0; variant < 4; ++variant) {
                generic_chain chain = {.kind = (hn_joint_kind)kind,
                                       .grounded = variant == 1,
                                       .springs = variant >= 2,
                                       .speed = 1.0,
                                       .seed = 100 + (uint64_t)kind};
                bool point = kind == HN_JOINT_SPHERICAL || kind == HN_JOINT_DISTANCE ||
                             kind == HN_JOINT_FREE;
                if (variant == 3 && point) chain.tip = HN_BODY_POINT_MASS;
                hn_model *model = generic_chain_model(context, &chain);
                tree_errors errors =
                    compare_with_differences(context, model, (hn_scheme)scheme, 0.05);
                if (!(errors.direction < 5e-11))
                    print_error("%s, variant %d: direction off by %.2g\n",
                                hn_joint_kind_name((hn_joint_kind)kind), variant, errors.direction);
                worst.direction = fmax(worst.direction, errors.direction);
                worst.residual = fmax(worst.residual, errors.residual);
                hn_model_destroy(model);
            }
        CHECK_BELOW(worst.direction, 5e-11); // measured 1.4e-12
        CHECK_BELOW(worst.residual, 2e-14);  // measured 2.2e-16
    }
    hn_context_destroy(context);
}

TEST(tree, newton_direction_of_twelve_bodies_is_that_of_a_dense_matrix)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, HN_SOURCE_DIR "/models/free-tree.yaml", &model));
    for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme) {
        tree_errors errors = compare_with_differences(context, model, (hn_scheme)scheme, 0.02);
        CHECK_BELOW(errors.direction, 1e-10); // measured 5.1e-12
        CHECK_BELOW(errors.residual, 1e-13);  // measured 0
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Distance between the iterates of `reduced` and of another reduction, both started `away` from the solution and given
// the same number of Newton iterations.
static double distance_of_iterates(hn_context *context, const hn_model *model, hn_scheme scheme,
                                   hn_reduction other, double away, int iterations)
{
    const double h = 0.02;
    hn_simulation *s = simulate(context, model, scheme, HN_REDUCTION_REDUCED, h);
    hn_simulation *t = simulate(context, model, scheme, other, h);
    CHECK_OK(context, simulation_solve_ahead(s, h, 0.0, true));
    CHECK_OK(context, simulation_solve_ahead(t, h, 0.0, true));
    iterate *x = take_iterate(s), *y = calloc(1, sizeof *y);
    CHECK(y != NULL);
    number_source numbers = {72};
    double u[DOF_MAX];
    for (int k = 0; k < s->system->dof; ++k) u[k] = away * next_number(&numbers);
    move(x, u);
    copy_iterate(x, y);
    iterate_newton(s, x, iterations);
    iterate_newton(t, y, iterations);
    double distance = largest_difference(s->system, x->q, y->q);
    free(x);
    free(y);
    hn_simulation_destroy(s);
    hn_simulation_destroy(t);
    return distance;
}

// One Newton step has the same direction in all reductions; the iterates differ by the curvature of the manifold alone,
// a hundred times less for a tenth of the way. `multipliers` does not know its multipliers at first: where they enter
// the matrix (energy-momentum) it needs an iteration to find them.
TEST(reductions, have_the_same_newton_direction)
{
    hn_context *context = hn_context_create(NULL);
    double smallest_ratio = 1e300, largest = 0.0;
    for (int scheme = 0; scheme < PROMISE_SCHEME_COUNT; ++scheme)
        for (int other = 1; other < HN_REDUCTION_COUNT; ++other)
            for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
                generic_chain chain = {.kind = (hn_joint_kind)kind,
                                       .springs = kind % 2 == 0,
                                       .grounded = kind % 3 == 0,
                                       .speed = 1.0,
                                       .seed = 200 + (uint64_t)kind};
                hn_model *model = generic_chain_model(context, &chain);
                bool unknown =
                    other == HN_REDUCTION_MULTIPLIERS && scheme == HN_SCHEME_ENERGY_MOMENTUM;
                double far = distance_of_iterates(context, model, (hn_scheme)scheme,
                                                  (hn_reduction)other, 1e-2, unknown ? 2 : 1);
                double near = distance_of_iterates(context, model, (hn_scheme)scheme,
                                                   (hn_reduction)other, 1e-3, unknown ? 2 : 1);
                double ratio = far / near;
                if (!(ratio > 90.0))
                    print_error("%s, %s, %s: %.3g and %.3g\n", hn_scheme_name((hn_scheme)scheme),
                                hn_reduction_name((hn_reduction)other),
                                hn_joint_kind_name((hn_joint_kind)kind), far, near);
                smallest_ratio = fmin(smallest_ratio, ratio);
                largest = fmax(largest, near);
                hn_model_destroy(model);
            }
    MEASURED(smallest_ratio);
    CHECK(smallest_ratio > 90.0); // measured 99.7
    CHECK_BELOW(largest, 1e-5);   // measured 1.6e-6
    hn_context_destroy(context);
}
