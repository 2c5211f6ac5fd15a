// SPDX-License-Identifier: MIT
// Few loops beside the tree: which way a reduction takes, and the null space of a closed chain against differences.
#include "physics/ladder.h"
#include "reductions/closure_range.h"
#include "support/generic_models.h"
#include "system/kinematics.h"

enum { BODIES_MAX = 8, DOF_MAX = 16, ROWS_MAX = 16 };

// A step that has not begun: everything at q.
typedef struct resting_step {
    step_data data;
    double q[POSE_SIZE * BODIES_MAX], delta[POSE_SIZE * BODIES_MAX], closure[ROWS_MAX];
    body_step bodies[BODIES_MAX];
    joint_step joints[BODIES_MAX];
} resting_step;

static void rest_at(const hn_system *system, const double *q, resting_step *s)
{
    CHECK(system->body_count <= BODIES_MAX && system->dof <= DOF_MAX &&
          system->cut_row_count <= ROWS_MAX);
    memset(s, 0, sizeof *s);
    s->data = (step_data){.q_start = q,
                          .q = s->q,
                          .delta = s->delta,
                          .closure = s->closure,
                          .bodies = s->bodies,
                          .joints = s->joints};
    memcpy(s->q, q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        joint_type_of(j->kind)->begin(j, system_pose(q, j->parent), system_pose(q, i),
                                      &s->joints[i]);
    }
}

// Closure rows after the joints of the tree have moved by u.
static void rows_after(const hn_system *system, const double *q, const double *u, double *rows)
{
    resting_step s;
    rest_at(system, q, &s);
    tree_advance(system, u, &s.data);
    for (int c = 0; c < system->cut_count; ++c)
        for (int r = 0; r < system->cuts[c].row_count; ++r) {
            const joint *j = &system->cuts[c];
            constraint_row row;
            joint_type_of(j->kind)->row(j, r, &row);
            rows[system->cut_row[c] + r] =
                row_value(&row, system_pose(s.q, j->parent), system_pose(s.q, j->child));
        }
}

// Largest change of a closure row with the joints of the tree moving along u, by central differences.
static double opening_rate(const hn_system *system, const double *q, const double *u)
{
    const double e = 1e-5;
    double ahead[ROWS_MAX], behind[ROWS_MAX], moved[DOF_MAX], largest = 0.0;
    for (int k = 0; k < system->dof; ++k) moved[k] = e * u[k];
    rows_after(system, q, moved, ahead);
    for (int k = 0; k < system->dof; ++k) moved[k] = -e * u[k];
    rows_after(system, q, moved, behind);
    for (int k = 0; k < system->cut_row_count; ++k)
        largest = fmax(largest, fabs(ahead[k] - behind[k]) / (2.0 * e));
    return largest;
}

// Motions of the joints that are orthogonal to Q_1 keep the loops closed, all rows of them; others do not.
TEST(closure_range, its_complement_keeps_loops_closed)
{
    static const struct {
        const char *model;
        int rank; // of the closure rows on the tree, from kinematics
    } CASES[] = {{"six-body-linkage", 4}, {"bricard", 4}, {"four-bar", 2},
                 {"slider-crank", 2},     {"bennett", 2}, {"quadrangle", 4}};
    number_source numbers = {3};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        run r =
            run_model(CASES[i].model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.0, false);
        run_step(&r, 50);
        hn_system *system = r.sim->system;
        const double *q = r.sim->state.q;
        const step_equations equations = {.weight = 0.0};
        closures *rows;
        closure_range *range;
        resting_step s;
        rest_at(system, q, &s);
        CHECK_OK(r.context, closures_create(system, &rows));
        CHECK_OK(r.context, closure_range_create(system, rows, &range));
        row_choice choice;
        CHECK(closures_choose(rows, q, false, &choice));
        CHECK(closure_range_find(range, &equations, &s.data));
        CHECK_EQUAL(closure_range_count(range), CASES[i].rank);
        double u[DOF_MAX], closed = 0.0, open = HUGE_VAL;
        for (int k = 0; k < system->dof; ++k) u[k] = next_number(&numbers);
        for (int c = 0; c < closure_range_count(range); ++c) {
            const double *column = closure_range_column(range, c);
            double dot = 0.0;
            for (int k = 0; k < system->dof; ++k) dot += column[k] * u[k];
            for (int k = 0; k < system->dof; ++k) u[k] -= dot * column[k];
            open = fmin(open, opening_rate(system, q, column));
        }
        closed = opening_rate(system, q, u);
        print_message("%s: %.2g, %.2g\n", CASES[i].model, closed, open);
        CHECK_BELOW(closed, 1e-9); // of rates of size one, differences; measured 1.1e-11
        CHECK(open > 1e-3);
        closure_range_destroy(range);
        closures_destroy(rows);
        run_end(&r);
    }
}

TEST(closure_range, few_loops_have_a_way_of_their_own_in_each_reduction)
{
    static const char *const FEW[HN_REDUCTION_COUNT] = {
        "as a border of the tree", "by the null space of their closure rows",
        "by the sparse system of bodies and joints"};
    for (int n = 1; n <= 64; n *= 64)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            mechanism m = ladder_mechanism(n, 1.0, false);
            mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                              REDUCTIONS[w], 1e-3, false);
            CHECK_TEXT(hn_simulation_structure(x.r.sim).loop_solution, n == 1 ? FEW[w] : FEW[2]);
            mechanism_end(&x);
            mechanism_destroy(&m);
        }
    run r = run_model("pendulum", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.0, false);
    CHECK_TEXT(hn_simulation_structure(r.sim).loop_solution, "");
    run_end(&r);
}

// Cranks of a parallelogram at an angle from flat: there the closure rows make about the same angle with the others,
// and those whose squared sine is below 1e-5 are left to the sparse system.
TEST(closure_range, nearly_dependent_rows_are_left_to_the_sparse_system)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    const double NEARLY_DEPENDENT = 1e-5;
    int beside = 0, left = 0;
    double least = HUGE_VAL, most = 0.0;
    for (double angle = 0.1; angle > 1e-4; angle *= 0.7) {
        mechanism m = mechanism_create(5, vec3(0.0, 0.0, 0.0));
        const hn_vec3 crank = {cos(angle), sin(angle), 0.0}, across = {2.0, 0.0, 0.0};
        for (int k = 0; k < 2; ++k) {
            hn_vec3 foot = vec3_scale(k, across);
            mechanism_bar(&m, foot, vec3_add(foot, crank), 1.0, 0.1);
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, k, foot, z);
        }
        int bar = mechanism_bar(&m, crank, vec3_add(across, crank), 1.0, 0.1);
        for (int k = 0; k < 2; ++k)
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k, bar,
                                    vec3_add_scaled(crank, k, across), z);
        mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                          HN_REDUCTION_REDUCED, 1e-3, false);
        closures *rows = NULL;
        row_choice choice;
        CHECK_OK(x.r.context, closures_create(x.r.sim->system, &rows));
        bool chosen = closures_choose(rows, x.r.sim->state.q, false, &choice);
        CHECK_EQUAL(chosen, choice.smallest_kept > NEARLY_DEPENDENT);
        chosen ? ++beside : ++left;
        double size = choice.smallest_kept / (sin(angle) * sin(angle));
        least = fmin(least, size), most = fmax(most, size);
        closures_destroy(rows);
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
    CHECK(beside > 3 && left > 3);
    print_message("squared sine over that of the angle: %.3g to %.3g\n", least, most);
    CHECK_BELOW(most / least - 1.0, 0.05); // measured 5.0e-3
}
