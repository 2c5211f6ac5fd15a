// SPDX-License-Identifier: MIT
// Which components of reactions are unique: against null spaces of G G^T found densely on unscaled twists, and by
// reactions themselves, to which self-stresses are added.
#include "linalg/dense.h"
#include "physics/mechanism.h"
#include "simulation/redundancy.h"
#include "support/generic_models.h"

static const double PI = 3.14159265358979323846;
enum { DENSE_ROWS_MAX = 96 };

// ---- mechanisms -------------------------------------------------------------------------------------

// A closed chain of `n` hinges with parallel axes, or axes through one point: its ground is the last bar.
static mechanism closed_chain(int n, const hn_vec3 *points, const hn_vec3 *axes)
{
    mechanism m = mechanism_create(n + 1, (hn_vec3){0.4, -9.0, 2.0});
    for (int i = 0; i + 1 < n; ++i) mechanism_bar(&m, points[i], points[i + 1], 1.0 + 0.3 * i, 0.1);
    for (int i = 0; i < n; ++i)
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, i == 0 ? MECHANISM_GROUND : i - 1,
                                i == n - 1 ? MECHANISM_GROUND : i, points[i], axes[i]);
    return m;
}

// Parallel axes along a random direction through a random polygon in the plane at right angles, in any plane in space.
static mechanism planar_chain(int n, number_source *numbers)
{
    hn_vec3 normal = unit3(next_number(numbers), next_number(numbers), next_number(numbers) + 1.5);
    hn_vec3 u = vec3_perpendicular(normal), v = vec3_cross(normal, u), points[8], axes[8];
    for (int i = 0; i < n; ++i) {
        double angle = 2.0 * PI * (i + 0.3 * next_number(numbers)) / n,
               radius = 1.0 + 0.4 * next_number(numbers);
        points[i] =
            vec3_add(vec3_scale(radius * cos(angle), u), vec3_scale(radius * sin(angle), v));
        axes[i] = normal;
    }
    return closed_chain(n, points, axes);
}

// Axes through one point.
static mechanism spherical_chain(int n, number_source *numbers)
{
    hn_vec3 points[8], axes[8];
    for (int i = 0; i < n; ++i) {
        double angle = 2.0 * PI * (i + 0.3 * next_number(numbers)) / n;
        axes[i] = unit3(cos(angle), sin(angle), 1.0 + 0.3 * next_number(numbers));
        points[i] = vec3_scale(1.5, axes[i]);
    }
    return closed_chain(n, points, axes);
}

// A door on two hinges in one line, and on a third joint: a ball at its corner's path does not belong to the line.
static mechanism door(bool second_is_ball)
{
    hn_vec3 axis = unit3(0.1, 0.2, 1.0), foot = {1.0, 0.5, 0.0};
    mechanism m = mechanism_create(3, (hn_vec3){0.0, -3.0, -9.0});
    int leaf = mechanism_bar(&m, foot, vec3_add(foot, (hn_vec3){1.0, 0.3, 0.9}), 20.0, 0.3);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, leaf, foot, axis);
    mechanism_joint_between(&m, second_is_ball ? HN_JOINT_SPHERICAL : HN_JOINT_REVOLUTE, leaf,
                            MECHANISM_GROUND, vec3_add_scaled(foot, 1.7, axis), axis);
    return m;
}

// Loops of joints of other kinds with more constraints than they need: a plate on two parallel slides, a shaft in
// cylindrical bearings, a rod of two balls beside a distance of the same ends.
static mechanism two_guides(hn_joint_kind first, hn_joint_kind second)
{
    hn_vec3 axis = unit3(0.6, 0.0, 0.8);
    mechanism m = mechanism_create(3, (hn_vec3){1.0, -2.0, 0.5});
    int body = mechanism_bar(&m, (hn_vec3){0.0, 0.0, 0.0}, (hn_vec3){1.0, 0.4, 0.2}, 3.0, 0.2);
    mechanism_joint_between(&m, first, MECHANISM_GROUND, body, (hn_vec3){0.1, 0.2, 0.0}, axis);
    hn_vec3 place = {0.1, 0.2, 0.0};
    mechanism_joint_between(&m, second, body, MECHANISM_GROUND, vec3_add_scaled(place, 1.3, axis),
                            axis);
    return m;
}

// ---- dense null space -------------------------------------------------------------------------------

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

// Orthonormal self-stresses, columns of `vectors` (row-major rows x rows); their count.
static int dense_self_stresses(const run *r, double *vectors)
{
    const hn_system *system = r->sim->system;
    int rows = system->constraint_count - system->internal_count, count = 0;
    int columns = TWIST_SIZE * system->body_count;
    CHECK(rows <= DENSE_ROWS_MAX);
    double *g = calloc((size_t)(rows * columns), sizeof(double)), values[DENSE_ROWS_MAX];
    double *gram = calloc((size_t)(rows * rows), sizeof(double));
    CHECK(g != NULL && gram != NULL);
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        for (int i = 0; i < j->row_count; ++i) {
            double *row = g + (j->row_offset - system->internal_count + i) * columns;
            if (j->parent >= 0) twist_row(j, i, 0, r->sim->state.q, row + TWIST_SIZE * j->parent);
            if (j->child >= 0) twist_row(j, i, 1, r->sim->state.q, row + TWIST_SIZE * j->child);
        }
    }
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < rows; ++k)
            for (int c = 0; c < columns; ++c)
                gram[i * rows + k] += g[i * columns + c] * g[k * columns + c];
    CHECK_OK(r->context, dense_symmetric_eigen(r->context, rows, gram, values, vectors));
    while (count < rows && values[count] < 1e-12 * values[rows - 1]) ++count;
    free(g);
    free(gram);
    return count;
}

// The wrench on the model's body b about its joint point that multipliers of a joint exert, from the twist rows.
static void dense_wrench(const run *r, int k, const double *multipliers, hn_vec3 *force,
                         hn_vec3 *torque)
{
    const system_joint *report = &r->sim->system->reports[k];
    const joint *j = &report->rows;
    int side = report->rows_swapped ? 0 : 1;
    const double *pose = system_pose(r->sim->state.q, side == 0 ? j->parent : j->child);
    double sum[TWIST_SIZE] = {0.0}, twist[TWIST_SIZE];
    for (int i = 0; i < j->row_count; ++i) {
        twist_row(j, i, side, r->sim->state.q, twist);
        for (int c = 0; c < TWIST_SIZE; ++c) sum[c] -= multipliers[i] * twist[c];
    }
    hn_vec3 arm = pose_direction(pose, side == 0 ? j->rho_a : j->rho_b);
    *force = vec3_load(sum);
    *torque = vec3_subtract(vec3_load(sum + 3), vec3_cross(arm, *force));
}

// Projector onto what is at right angles to `count` vectors of three numbers, by eigenvectors; the rank of the vectors.
static int dense_complement(const run *r, int count, double (*vectors)[3], hn_mat3 *projector)
{
    double gram[9] = {0.0}, values[3], axes[9];
    int rank = 0;
    for (int n = 0; n < count; ++n)
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) gram[3 * i + k] += vectors[n][i] * vectors[n][k];
    CHECK_OK(r->context, dense_symmetric_eigen(r->context, 3, gram, values, axes));
    *projector = (hn_mat3){0};
    for (int n = 0; n < 3; ++n) {
        CHECK(values[n] < 1e-14 || values[n] > 1e-9); // no doubtful ones
        if (values[n] > 1e-9) {
            ++rank;
            continue;
        }
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) projector->m[i][k] += axes[3 * i + n] * axes[3 * k + n];
    }
    return rank;
}

// How many of `count` wrenches are independent: the longest is taken out of all until what is left is below 1e-8 of the
// first one.
static int wrench_rank(int count, const double *wrenches)
{
    double left[DENSE_ROWS_MAX + TWIST_SIZE][TWIST_SIZE], first = 0.0;
    memcpy(left, wrenches, (size_t)count * sizeof left[0]);
    for (int rank = 0;; ++rank) {
        double largest = 0.0, longest[TWIST_SIZE];
        for (int n = 0; n < count; ++n) {
            double square = 0.0;
            for (int i = 0; i < TWIST_SIZE; ++i) square += left[n][i] * left[n][i];
            if (square <= largest) continue;
            largest = square;
            memcpy(longest, left[n], sizeof longest);
        }
        if (rank == 0) first = largest;
        if (!(largest > 1e-16 * first)) return rank;
        for (int n = 0; n < count; ++n) {
            double along = 0.0;
            for (int i = 0; i < TWIST_SIZE; ++i) along += left[n][i] * longest[i] / largest;
            for (int i = 0; i < TWIST_SIZE; ++i) left[n][i] -= along * longest[i];
        }
    }
}

static double matrix_difference(const hn_mat3 *a, const hn_mat3 *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(a->m[i][k] - b->m[i][k]));
    return worst;
}

// How far the verdicts on all joints are from what the dense null space says. Counts those in part unique.
static double check_against_dense(const run *r, const char *name)
{
    const hn_system *system = r->sim->system;
    int rows = system->constraint_count - system->internal_count, in_part = 0;
    double *vectors = calloc((size_t)(rows * rows), sizeof(double)), worst = 0.0;
    CHECK(vectors != NULL);
    int count = dense_self_stresses(r, vectors);
    for (int k = 0; k < system->joint_count; ++k) {
        double forces[DENSE_ROWS_MAX][3], torques[DENSE_ROWS_MAX][3],
            wrenches[TWIST_SIZE * (DENSE_ROWS_MAX + TWIST_SIZE)] = {0.0};
        const joint *j = &system->reports[k].rows;
        for (int v = 0; v < count; ++v) {
            double own[JOINT_ROWS_MAX];
            hn_vec3 force, torque;
            for (int i = 0; i < j->row_count; ++i)
                own[i] = vectors[(j->row_offset - system->internal_count + i) * rows + v];
            dense_wrench(r, k, own, &force, &torque);
            vec3_store(force, forces[v]);
            vec3_store(torque, torques[v]);
            vec3_store(force, wrenches + TWIST_SIZE * v);
            vec3_store(torque, wrenches + TWIST_SIZE * v + 3);
        }
        hn_mat3 force_unique, torque_unique;
        hn_reaction_verdict verdict;
        int all = 0;
        CHECK_OK(r->context,
                 hn_simulation_reaction_verdict(r->sim, hn_model_joint(r->model, k), &verdict));
        CHECK_EQUAL(verdict.shared_force_count, dense_complement(r, count, forces, &force_unique));
        CHECK_EQUAL(verdict.shared_torque_count,
                    dense_complement(r, count, torques, &torque_unique));
        double size = 0.0;
        for (int i = 0; i < TWIST_SIZE * count; ++i) size = fmax(size, fabs(wrenches[i]));
        if (size > 1e-8) all = wrench_rank(count, wrenches);
        CHECK_EQUAL(verdict.shared_count, all);
        for (int i = 0; i < all; ++i) {
            vec3_store(verdict.shared_force[i], wrenches + TWIST_SIZE * (count + i));
            vec3_store(verdict.shared_torque[i], wrenches + TWIST_SIZE * (count + i) + 3);
        }
        // force and torque change together as they do in the dense ones
        if (all > 0) CHECK_EQUAL(wrench_rank(count + all, wrenches), all);
        worst = fmax(worst, matrix_difference(&force_unique, &verdict.force_unique));
        worst = fmax(worst, matrix_difference(&torque_unique, &verdict.torque_unique));
        for (int c = 0; c < 3; ++c) {
            hn_vec3 axis = verdict.axes[c];
            double kept = vec3_dot(axis, mat3_apply(&force_unique, axis));
            CHECK_EQUAL(verdict.force_component[c], kept > 1.0 - 1e-13);
            kept = vec3_dot(axis, mat3_apply(&torque_unique, axis));
            CHECK_EQUAL(verdict.torque_component[c], kept > 1.0 - 1e-13);
        }
        in_part += all > 0 && verdict.shared_force_count + verdict.shared_torque_count < 6;
    }
    print_message("%s: %d self-stresses, %d of %d joints unique in part, %.2g from dense ones\n",
                  name, count, in_part, system->joint_count, worst);
    free(vectors);
    return worst;
}

TEST(reaction_verdicts, are_those_of_the_null_space_of_the_transposed_rows)
{
    static const char *const MODELS[] = {"six-body-linkage", "bricard",    "four-bar", "rssr",
                                         "slider-crank",     "quadrangle", "crank",    "bennett"};
    for (size_t i = 0; i < sizeof MODELS / sizeof MODELS[0]; ++i) {
        run r = run_model(MODELS[i], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
        for (int part = 0; part < 4; ++part) {
            CHECK_BELOW(check_against_dense(&r, MODELS[i]), 1e-11); // measured 5.9e-13
            run_step(&r, 37);
        }
        run_end(&r);
    }
}

static void check_mechanism(mechanism *m, const char *name)
{
    mechanism_run x =
        mechanism_begin(m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
    for (int part = 0; part < 2; ++part) {
        CHECK_BELOW(check_against_dense(&x.r, name), 1e-12); // measured 1.1e-14
        run_step(&x.r, 20);
    }
    mechanism_end(&x);
    mechanism_destroy(m);
}

TEST(reaction_verdicts, on_random_loops_are_those_of_the_null_space)
{
    number_source numbers = {11};
    for (int k = 0; k < 12; ++k) {
        mechanism m = planar_chain(4 + k % 5, &numbers);
        check_mechanism(&m, "planar chain");
        m = spherical_chain(4 + k % 5, &numbers);
        check_mechanism(&m, "spherical chain");
    }
}

TEST(reaction_verdicts, on_doors_and_guides_are_those_of_the_null_space)
{
    mechanism m = door(false);
    check_mechanism(&m, "door");
    m = door(true);
    check_mechanism(&m, "door with a ball");
    static const hn_joint_kind KINDS[] = {HN_JOINT_PRISMATIC, HN_JOINT_CYLINDRICAL,
                                          HN_JOINT_REVOLUTE, HN_JOINT_FIXED, HN_JOINT_PLANAR};
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < 5; ++k) {
            m = two_guides(KINDS[i], KINDS[k]);
            check_mechanism(&m, hn_joint_kind_name(KINDS[i]));
        }
}

// ---- reactions --------------------------------------------------------------------------------------

// In the plane of a four-bar, turned anywhere in space, the bearing forces are unique, and torques about the axes.
TEST(reaction_verdicts, in_the_plane_of_a_mechanism_are_unique)
{
    number_source numbers = {3};
    mechanism m = planar_chain(4, &numbers);
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                      HN_REDUCTION_REDUCED, 1e-3, false);
    for (int k = 0; k < 4; ++k) {
        hn_reaction_verdict v;
        CHECK_OK(x.r.context, hn_simulation_reaction_verdict(x.r.sim, x.joint[k], &v));
        CHECK_EQUAL(v.shared_count, 3);
        CHECK(v.force_component[0] && v.force_component[1] && !v.force_component[2]);
        CHECK(!v.torque_component[0] && !v.torque_component[1] && v.torque_component[2]);
        CHECK_BELOW(1.0 - fabs(vec3_dot(v.axes[2], m.joints[k].axis)), 1e-14);
    }
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// Multipliers with any part of the self-stresses added: unique components stay, the others do not.
static double change_by_self_stress(const run *r, bool unique_part)
{
    const hn_system *system = r->sim->system;
    int rows = system->constraint_count - system->internal_count;
    double *vectors = calloc((size_t)(rows * rows), sizeof(double)), change = 0.0;
    CHECK(vectors != NULL);
    int count = dense_self_stresses(r, vectors);
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        hn_reaction_verdict v;
        CHECK_OK(r->context,
                 hn_simulation_reaction_verdict(r->sim, hn_model_joint(r->model, k), &v));
        double own[JOINT_ROWS_MAX] = {0.0};
        number_source numbers = {5};
        for (int n = 0; n < count; ++n) {
            double factor = next_number(&numbers);
            for (int i = 0; i < j->row_count; ++i)
                own[i] += factor * vectors[(j->row_offset - system->internal_count + i) * rows + n];
        }
        hn_vec3 force, torque;
        dense_wrench(r, k, own, &force, &torque);
        if (unique_part)
            force = mat3_apply(&v.force_unique, force),
            torque = mat3_apply(&v.torque_unique, torque);
        change = fmax(change, fmax(vec3_norm(force), vec3_norm(torque)));
    }
    free(vectors);
    return change;
}

TEST(reaction_verdicts, unique_components_do_not_change_with_self_stresses)
{
    number_source numbers = {23};
    for (int k = 0; k < 6; ++k) {
        mechanism m =
            k % 2 == 0 ? planar_chain(4 + k, &numbers) : spherical_chain(4 + k / 2, &numbers);
        mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                          HN_REDUCTION_REDUCED, 1e-3, false);
        run_step(&x.r, 10);
        CHECK_BELOW(change_by_self_stress(&x.r, true), 1e-13); // N, N m; measured 1.3e-15
        CHECK(change_by_self_stress(&x.r, false) > 0.05);
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
}

enum { REACTIONS_MAX = 2 * 9 };

// Reactions as the step was solved, before the smallest are chosen, in the order of the mechanism's joints and on the
// body that it calls b; and their unique parts.
static void raw_reactions(mechanism_run *x, bool swap, hn_vec3 *raw, hn_vec3 *unique)
{
    int dropped = x->r.sim->dropped_count;
    for (int k = 0; k < x->mechanism->joint_count; ++k) {
        hn_joint_state state;
        hn_reaction_verdict v;
        CHECK_OK(x->r.context, hn_simulation_reaction_verdict(x->r.sim, x->joint[k], &v));
        x->r.sim->dropped_count = 0; // nothing is to be chosen
        CHECK_OK(x->r.context, hn_simulation_joint_state(x->r.sim, x->joint[k], &state));
        x->r.sim->dropped_count = dropped;
        double sign = swap ? -1.0 : 1.0;
        raw[2 * k] = vec3_scale(sign, state.reaction_force);
        raw[2 * k + 1] = vec3_scale(sign, state.reaction_torque);
        unique[2 * k] = mat3_apply(&v.force_unique, raw[2 * k]);
        unique[2 * k + 1] = mat3_apply(&v.torque_unique, raw[2 * k + 1]);
    }
}

// relative to the largest of `all`
static double reaction_difference(const hn_vec3 *a, const hn_vec3 *b, const hn_vec3 *all, int count)
{
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < count; ++k) {
        worst = fmax(worst, vec3_norm(vec3_subtract(a[k], b[k])));
        size = fmax(size, vec3_norm(all[k]));
    }
    return worst / size;
}

// Loops are cut elsewhere when joints are named in another order, and other rows are left out: reactions differ by as
// much as they are large, their unique parts do not.
TEST(reaction_verdicts, unique_components_are_the_same_in_every_way_of_solving)
{
    number_source numbers = {29};
    const hn_scheme schemes[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_RATTLE};
    double worst = 0.0, largest = 0.0;
    for (int k = 0; k < 8; ++k) {
        bool planar =
            k % 2 ==
            0; // forces in the middle of a step: only planes stay what they are until its end
        hn_scheme scheme = schemes[planar ? k / 2 % 2 : 1];
        int n = 4 + k / 4;
        mechanism m = planar ? planar_chain(n, &numbers) : spherical_chain(n, &numbers);
        hn_vec3 raw[REACTIONS_MAX], unique[REACTIONS_MAX], other[REACTIONS_MAX],
            part[REACTIONS_MAX];
        for (int way = 0; way < 2 * HN_REDUCTION_COUNT; ++way) {
            int order[9];
            for (int i = 0; i < n; ++i) order[i] = n - 1 - i;
            mechanism_variant v = AS_IT_IS;
            v.swap = way >= HN_REDUCTION_COUNT;
            v.joint_order = v.swap ? order : NULL;
            mechanism_run x =
                mechanism_begin(&m, &v, scheme, REDUCTIONS[way % HN_REDUCTION_COUNT], 5e-3, false);
            run_step(&x.r, 25);
            raw_reactions(&x, v.swap, way == 0 ? raw : other, way == 0 ? unique : part);
            if (way > 0) {
                worst = fmax(worst, reaction_difference(unique, part, raw, 2 * n));
                largest = fmax(largest, reaction_difference(raw, other, raw, 2 * n));
            }
            mechanism_end(&x);
        }
        mechanism_destroy(&m);
    }
    CHECK_BELOW(worst, 5e-10); // of the largest; measured 2.6e-11
    CHECK(largest > 0.1);      // measured 0.42
    print_message("unique %.2g, all %.2g\n", worst, largest);
}
