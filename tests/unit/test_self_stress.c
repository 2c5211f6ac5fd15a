// SPDX-License-Identifier: MIT
// Self-stresses and multipliers of minimum norm against the null space of G G^T, found densely on unscaled twists.
#include "linalg/dense.h"
#include "physics/ladder.h"
#include "reductions/self_stress.h"
#include "support/generic_models.h"

// One row of a joint on the twist of one of its bodies.
static void twist_row(const joint *j, int r, int side, const double *q, double *twist)
{
    constraint_row row;
    hn_vec3 gradient[8];
    double flat[POSE_SIZE];
    joint_type_of(j->kind)->row(j, r, &row);
    row_gradient(&row, system_pose(q, j->parent), system_pose(q, j->child), gradient);
    for (int v = 0; v < 4; ++v) vec3_store(gradient[4 * side + v], flat + 3 * v);
    force_to_wrench(system_pose(q, side == 0 ? j->parent : j->child), flat, twist);
}

// force += G^T multipliers
static void add_forces(const hn_system *system, const double *q, const double *multipliers,
                       double *force)
{
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        for (int r = 0; r < 2 * j->row_count; ++r) {
            int body = r % 2 == 0 ? j->parent : j->child;
            double twist[TWIST_SIZE];
            if (body < 0) continue;
            twist_row(j, r / 2, r % 2, q, twist);
            for (int c = 0; c < TWIST_SIZE; ++c)
                force[TWIST_SIZE * body + c] += multipliers[j->row_offset + r / 2] * twist[c];
        }
    }
}

// G on the twists of the bodies at the poses q, rows of joints in the order of the model's constraints.
static double *dense_rows(const hn_system *system, const double *q)
{
    size_t columns = TWIST_SIZE * (size_t)system->body_count;
    size_t rows = (size_t)(system->constraint_count - system->internal_count);
    double *g = calloc(rows * columns + 1, sizeof(double));
    CHECK(g != NULL);
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        for (int r = 0; r < 2 * j->row_count; ++r) {
            int body = r % 2 == 0 ? j->parent : j->child;
            double *row = g + (size_t)(j->row_offset - system->internal_count + r / 2) * columns;
            if (body >= 0) twist_row(j, r / 2, r % 2, q, row + TWIST_SIZE * (size_t)body);
        }
    }
    return g;
}

// Orthonormal self-stresses: eigenvectors of G G^T to eigenvalues that vanish, the first `count` columns of `vectors`.
static int dense_self_stresses(hn_context *context, const hn_system *system, const double *q,
                               double *vectors)
{
    int n = system->constraint_count - system->internal_count, count = 0;
    size_t columns = TWIST_SIZE * (size_t)system->body_count, rows = (size_t)n;
    double *g = dense_rows(system, q), *gram = calloc(rows * rows, sizeof(double));
    double *values = calloc(rows, sizeof(double));
    CHECK(gram != NULL && values != NULL);
    for (size_t i = 0; i < rows; ++i)
        for (size_t k = 0; k < rows; ++k)
            for (size_t c = 0; c < columns; ++c)
                gram[i * rows + k] += g[i * columns + c] * g[k * columns + c];
    CHECK_OK(context, dense_symmetric_eigen(context, n, gram, values, vectors));
    while (count < n && values[count] < 1e-12 * values[n - 1]) ++count;
    free(g);
    free(gram);
    free(values);
    return count;
}

// Against the dense null space at the current state: how many, which joints, and multipliers without their part in it.
static double check_against_dense(const run *r, const char *name)
{
    hn_system *system = r->sim->system;
    const double *q = r->sim->state.q;
    int n = system->constraint_count - system->internal_count, count;
    size_t rows = (size_t)n;
    double *vectors = calloc(rows * rows, sizeof(double));
    double *given = calloc((size_t)system->constraint_count, sizeof(double));
    double *least = calloc((size_t)system->constraint_count, sizeof(double));
    bool *shared = calloc((size_t)system->joint_count, sizeof(bool));
    CHECK(vectors != NULL && given != NULL && least != NULL && shared != NULL);
    self_stress *s;
    CHECK_OK(r->context, self_stress_create(system, &s));
    CHECK_OK(r->context, self_stress_count(s, q, &count));
    CHECK_OK(r->context, self_stress_find(s, q, shared));
    CHECK_EQUAL(count, dense_self_stresses(r->context, system, q, vectors));
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        double part = 0.0;
        for (int i = 0; i < j->row_count; ++i)
            for (int v = 0; v < count; ++v)
                part = fmax(
                    part, fabs(vectors[(size_t)(j->row_offset - system->internal_count + i) * rows +
                                       (size_t)v]));
        CHECK(part < 1e-8 || part > 1e-5); // no doubtful ones
        CHECK_EQUAL(shared[k], part > 1e-7);
    }
    number_source numbers = {7};
    for (int k = 0; k < system->constraint_count; ++k) given[k] = least[k] = next_number(&numbers);
    const force_place place = {q, q, 1.0, false};
    CHECK_OK(r->context, self_stress_remove(s, &place, least));
    double worst = 0.0;
    for (int k = 0; k < system->internal_count; ++k) CHECK(least[k] == given[k]);
    for (int v = 0; v < count; ++v) {
        double dot = 0.0;
        for (size_t i = 0; i < rows; ++i)
            dot += vectors[i * rows + (size_t)v] * given[(size_t)system->internal_count + i];
        for (size_t i = 0; i < rows; ++i)
            given[(size_t)system->internal_count + i] -= dot * vectors[i * rows + (size_t)v];
    }
    for (int k = 0; k < system->constraint_count; ++k)
        worst = fmax(worst, fabs(given[k] - least[k]));
    print_message("%s: %d self-stresses, %.2g from the dense ones\n", name, count, worst);
    self_stress_destroy(s);
    free(vectors);
    free(given);
    free(least);
    free(shared);
    return worst;
}

TEST(self_stress, is_the_null_space_of_the_transposed_rows)
{
    static const char *const MODELS[] = {"six-body-linkage", "bricard",    "four-bar", "rssr",
                                         "slider-crank",     "quadrangle", "crank",    "bennett"};
    for (size_t i = 0; i < sizeof MODELS / sizeof MODELS[0]; ++i) {
        run r = run_model(MODELS[i], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
        for (int part = 0; part < 4; ++part) {
            CHECK_BELOW(check_against_dense(&r, MODELS[i]), 3e-12); // measured 4.6e-14
            run_step(&r, 37);
        }
        run_end(&r);
    }
}

TEST(self_stress, of_coupled_loops_is_the_null_space_of_the_transposed_rows)
{
    for (int n = 1; n <= 16; n *= 2) {
        mechanism m = ladder_mechanism(n, 1.0, false);
        mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                          HN_REDUCTION_REDUCED, 1e-3, false);
        run_step(&x.r, 100);
        CHECK_BELOW(check_against_dense(&x.r, "ladder"), 1e-12); // measured 1.1e-14
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
}

// Where a dense null space is out of reach: the same forces, and nothing left to take away.
TEST(self_stress, leaves_the_forces_of_a_long_ladder_as_they_are)
{
    enum { RUNGS = 1000 };
    int count;
    mechanism m = ladder_mechanism(RUNGS, 1.0, false);
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                      HN_REDUCTION_REDUCED, 1e-3, false);
    hn_context *context = x.r.context;
    hn_system *system = x.r.sim->system;
    const double *q = x.r.sim->state.q;
    self_stress *s;
    size_t rows = (size_t)system->constraint_count;
    size_t twists = TWIST_SIZE * (size_t)system->body_count;
    bool *shared = calloc((size_t)system->joint_count, sizeof(bool));
    double *given = calloc(3 * rows, sizeof(double)), *least = given + rows, *again = least + rows;
    double *force = calloc(twists, sizeof(double));
    CHECK(shared != NULL && given != NULL && force != NULL);
    CHECK_OK(context, self_stress_create(system, &s));
    CHECK_OK(context, self_stress_count(s, q, &count));
    CHECK_OK(context, self_stress_find(s, q, shared));
    CHECK_EQUAL(count, 3 * RUNGS);
    for (int k = 0; k < system->joint_count; ++k) CHECK(shared[k]);
    number_source numbers = {7};
    for (size_t k = 0; k < rows; ++k) given[k] = least[k] = next_number(&numbers);
    const force_place place = {q, q, 1.0, false};
    CHECK_OK(context, self_stress_remove(s, &place, least));
    memcpy(again, least, rows * sizeof(double));
    CHECK_OK(context, self_stress_remove(s, &place, again));
    double given_size = 0.0, least_size = 0.0, moved = 0.0, left = 0.0;
    for (size_t k = (size_t)system->internal_count; k < rows; ++k) {
        given_size += given[k] * given[k];
        least_size += least[k] * least[k];
        moved = fmax(moved, fabs(again[k] - least[k]));
        given[k] -= least[k];
    }
    CHECK(least_size < 0.9 * given_size); // a fifth of the rows is redundant; measured 0.80
    CHECK_BELOW(moved, 1e-12);            // measured 1.2e-14
    add_forces(system, q, given, force);
    for (size_t k = 0; k < twists; ++k) left = fmax(left, fabs(force[k]));
    CHECK_BELOW(left, 1e-12); // N, N m, of forces of size one; measured 1.1e-14
    self_stress_destroy(s);
    free(shared);
    free(given);
    free(force);
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// Every joint of a ladder lies on a loop: rows come joint by joint, as many as each joint has.
TEST(self_stress, rows_know_their_joints)
{
    mechanism m = ladder_mechanism(3, 1.0, false);
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                      HN_REDUCTION_REDUCED, 1e-3, false);
    hn_system *system = x.r.sim->system;
    self_stress *s;
    int *rows = calloc((size_t)system->joint_count, sizeof(int));
    CHECK(rows != NULL);
    CHECK_OK(x.r.context, self_stress_create(system, &s));
    for (int row = 0; row < system->constraint_count - system->internal_count; ++row)
        rows[self_stress_joint_of_row(s, row)]++;
    for (int k = 0; k < system->joint_count; ++k) CHECK_EQUAL(rows[k], 5); // hinges
    self_stress_destroy(s);
    free(rows);
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// What a motion lacks in a flat four-bar is a part of its centripetal accelerations, whatever the unit of length.
TEST(self_stress, a_departure_has_no_unit)
{
    static const double LENGTH[] = {1.0, 1e-4, 1e4}; // m
    double size[3];
    for (int k = 0; k < 3; ++k) {
        const double l = LENGTH[k];
        const hn_vec3 z = {0.0, 0.0, 1.0}, foot[2] = {{0.0, 0.0, 0.0}, {l, 0.0, 0.0}},
                      tip[2] = {{0.8 * l, 0.0, 0.0}, {1.8 * l, 0.0, 0.0}};
        mechanism m = mechanism_create(4, vec3(0.0, 0.0, 0.0));
        for (int i = 0; i < 2; ++i) mechanism_bar(&m, foot[i], tip[i], 1.0, 0.05 * l);
        mechanism_bar(&m, tip[0], tip[1], 1.0, 0.05 * l);
        for (int i = 0; i < 2; ++i) {
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, i, foot[i], z);
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, i, 2, tip[i], z);
        }
        mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                          HN_REDUCTION_REDUCED, 1e-3, false);
        const hn_system *system = x.r.sim->system;
        self_stress *s;
        loop_departure departure;
        double twists[3 * TWIST_SIZE] = {0.0};
        for (int i = 0; i < 3;
             ++i) { // one crank turns, the other does not, and the bar between them
            int at = TWIST_SIZE * system->tree_place[i];
            twists[at + 1] = (i == 0 ? 0.4 : i == 1 ? 0.0 : 0.4) * l;
            twists[at + 5] = i == 0 ? 1.0 : i == 1 ? 0.0 : -0.8;
        }
        CHECK_OK(x.r.context, self_stress_create(x.r.sim->system, &s));
        CHECK_OK(x.r.context, self_stress_departure(s, x.r.sim->state.q, twists, &departure));
        size[k] = departure.size;
        print_message("%g m: %.15g\n", l, size[k]);
        self_stress_destroy(s);
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
    CHECK(size[0] > 0.1);
    CHECK_NEAR(size[1] / size[0], 1.0, 1e-13); // measured 1.5e-15
    CHECK_NEAR(size[2] / size[0], 1.0, 1e-13); // measured 1e-15
}
