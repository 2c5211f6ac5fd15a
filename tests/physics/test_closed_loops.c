// SPDX-License-Identifier: MIT
// Closed loops against solutions found without the library: linkages, ladders, Cardan shafts; reactions.
#include "physics/ladder.h"
#include "support/reference.h"

#include "physics/linkage_table_five.h"
#include "physics/linkage_table_one.h"

static const double PI = 3.14159265358979323846;

static double angle_of_joint(const run *r, const char *name)
{
    hn_joint_state state;
    CHECK_OK(r->context,
             hn_simulation_joint_state(r->sim, hn_model_find_joint(r->model, name), &state));
    return state.coordinates[0];
}

static hn_ledger ledger_of(const run *r)
{
    hn_ledger ledger;
    CHECK_OK(r->context, hn_simulation_ledger(r->sim, &ledger));
    return ledger;
}

// What every run must keep: openings, all constraints whether imposed or not, and energy where it is promised.
static void check_kept(const run *r, double energy_bound)
{
    hn_ledger ledger = ledger_of(r);
    CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 2e-13);      // m; measured 2.8e-15
    CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-13); // measured 1.6e-15
    if (hn_simulation_scheme(r->sim) == HN_SCHEME_ENERGY_MOMENTUM)
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, energy_bound); // measured 4.3e-12
}

// ---- six-body linkage -------------------------------------------------------------------------------

TEST(linkage, angles_are_second_order_under_all_schemes_and_reductions)
{
    enum { INDEX = 12, FIRST_STEPS = 500, HALVINGS = 3 }; // t = 0.5, angles beyond half a turn
    reference *ref = reference_load("six_body_linkage.json");
    double times[16], expected[2][16];
    int count = reference_numbers(ref, "/times", times, 16);
    CHECK(count > INDEX);
    CHECK_EQUAL(reference_numbers(ref, "/reference/theta1/values", expected[0], 16), count);
    CHECK_EQUAL(reference_numbers(ref, "/reference/theta2/values", expected[1], 16), count);
    reference_destroy(ref);
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            double last = 0.0;
            for (int k = 0; k <= HALVINGS; ++k) {
                int steps = FIRST_STEPS << k;
                run r = run_model("six-body-linkage", LOOP_SCHEMES[s], REDUCTIONS[w],
                                  times[INDEX] / steps, true);
                run_step(&r, steps);
                CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
                double error = fmax(fabs(angle_of_joint(&r, "r1") - expected[0][INDEX]),
                                    fabs(angle_of_joint(&r, "r2") - expected[1][INDEX]));
                print_message("%s, %s, %d steps: error %.3g rad, order %.3f\n",
                              hn_scheme_name(LOOP_SCHEMES[s]), hn_reduction_name(REDUCTIONS[w]),
                              steps, error, k > 0 ? log2(last / error) : 0.0);
                if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 2.000 to 2.001
                last = error;
                run_end(&r);
            }
        }
}

// Opposite corners of the ring, m; they stay where the cube's diagonals were.
static double diagonal_error(const run *r, const hn_vec3 *local)
{
    hn_vec3 corner[6];
    double worst = 0.0;
    for (int k = 0; k < 6; ++k) {
        hn_body_state s = run_body(r, hn_model_body(r->model, (k + 1) % 6));
        corner[k] = vec3_add(s.position, mat3_apply(&s.orientation, local[k]));
    }
    for (int k = 0; k < 3; ++k)
        worst =
            fmax(worst, fabs(vec3_norm(vec3_subtract(corner[k], corner[k + 3])) - 0.1 * sqrt(3.0)));
    return worst;
}

// theta1 = theta3 = theta5, theta2 = theta4 = theta6, sin theta1 (1 + sin theta2) = sin theta2 (LMO 106, 107), constant
// diagonals, and all 72 constraints although 71 are imposed. Nothing of that is known to the library.
TEST(linkage, keeps_what_its_geometry_says)
{
    static const char *const NAMES[] = {"r1", "r2", "r3", "r4", "r5", "r6"};
    double relation = 0.0, symmetry = 0.0, diagonals = 0.0, residual = 0.0;
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = run_model("six-body-linkage", LOOP_SCHEMES[s], REDUCTIONS[w], 1e-3, true);
            hn_structure structure = hn_simulation_structure(r.sim);
            CHECK_EQUAL(structure.coordinate_count, 72);
            CHECK_EQUAL(structure.constraint_count, 72);
            CHECK_EQUAL(structure.constraint_rank, 71);
            CHECK_EQUAL(structure.degrees_of_freedom, 1);
            CHECK_EQUAL(structure.loop_count, 1);
            bool unique[7];
            hn_redundancy redundancy;
            CHECK_OK(r.context, hn_simulation_redundancy(r.sim, &redundancy, unique, 7));
            CHECK_EQUAL(redundancy.redundant_count, 1);
            CHECK(unique[0]); // the fixed joint
            for (int k = 1; k < 7; ++k) CHECK(!unique[k]);
            const hn_vec3 points[6] = {{0, 0.1, 0},    {0.1, 0.1, 0}, {0.1, 0.1, -0.1},
                                       {0.1, 0, -0.1}, {0, 0, -0.1},  {0, 0, 0}};
            hn_vec3 local[6];
            for (int k = 0; k < 6; ++k) {
                hn_body_state b = run_body(&r, hn_model_body(r.model, (k + 1) % 6));
                local[k] =
                    mat3_apply_transposed(&b.orientation, vec3_subtract(points[k], b.position));
            }
            for (int n = 0; n < 1000; ++n) {
                run_step(&r, 1);
                double theta[6];
                for (int k = 0; k < 6; ++k) theta[k] = angle_of_joint(&r, NAMES[k]);
                for (int k = 2; k < 6; ++k)
                    symmetry = fmax(symmetry, fabs(theta[k] - theta[k % 2]));
                relation =
                    fmax(relation, fabs(sin(theta[0]) * (1.0 + sin(theta[1])) - sin(theta[1])));
                diagonals = fmax(diagonals, diagonal_error(&r, local));
            }
            hn_ledger ledger = ledger_of(&r);
            residual = fmax(residual, ledger.entry[HN_PROMISE_CONSTRAINTS].error);
            check_kept(&r, 1e-11);
            run_end(&r);
        }
    CHECK_BELOW(symmetry, 1e-13);  // rad; measured 1.8e-15
    CHECK_BELOW(relation, 1e-13);  // measured 1.5e-15
    CHECK_BELOW(diagonals, 1e-14); // m; measured 1.4e-16
    CHECK_BELOW(residual, 1e-13);  // measured 1.6e-15
}

// Betsch and Leyendecker 2006, Table V; Leyendecker, Marsden and Ortiz 2008, Table 1.
TEST(linkage, condition_numbers_are_the_published_ones)
{
    hn_context *context = hn_context_create(NULL);
    double condition;
    for (int row = 0; row < TABLE_FIVE_ROWS; ++row) {
        double h = TABLE_FIVE_STEP[row];
        CHECK_OK(context, linkage_condition(context, true, HN_SCHEME_ENERGY_MOMENTUM,
                                            HN_REDUCTION_MULTIPLIERS, h, &condition));
        CHECK_NEAR(condition / TABLE_FIVE_CONSTRAINED[row], 1.0, 0.1); // measured 0.953 to 0.960
        CHECK_OK(context, linkage_condition(context, false, HN_SCHEME_ENERGY_MOMENTUM,
                                            HN_REDUCTION_REDUCED, h, &condition));
        CHECK_NEAR(condition / TABLE_FIVE_REDUCED[row], 1.0, 0.3); // measured 0.98 to 1.23
        for (int c = 0; c < TABLE_ONE_COLUMNS; ++c) {
            const table_one_column *column = &TABLE_ONE[c];
            if (column_is_constrained(column)) continue; // test_linkage_as_printed.c
            CHECK_OK(context, linkage_condition(context, true, column->scheme, column->reduction,
                                                TABLE_ONE_STEP[row], &condition));
            CHECK_BELOW(condition, 100.0); // measured 12 to 57
        }
    }
    hn_context_destroy(context);
}

// The linkage with the axis of r4 turned by `angle`; `moving`: with the rates of the model file.
static hn_model *linkage_with_axis_off(hn_context *context, double angle, bool moving)
{
    hn_model *model = NULL;
    char text[8192], axis[64];
    FILE *file = fopen(HN_SOURCE_DIR "/models/six-body-linkage.yaml", "rb");
    CHECK(file != NULL);
    size_t length = fread(text, 1, sizeof text - 128, file);
    fclose(file);
    text[length] = '\0';
    char *place = strstr(text, "axis: [0, 0, 1]");
    CHECK(place != NULL);
    int more = snprintf(axis, sizeof axis, "axis: [%.17g, 0, 1]", angle) - 15;
    memmove(place + 15 + more, place + 15, strlen(place + 15) + 1);
    memcpy(place, axis, strlen(axis));
    char *start = strstr(text, "start:");
    CHECK(start != NULL);
    if (!moving) memcpy(start, "# ends", 6), start[6] = '\0';
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "linkage", &model));
    return model;
}

// A loop that moves thanks to its redundancy alone binds when it is not exact. Its size is too small to be seen in the
// rank, and the joint is named all the same: by `check` before a run, or by the step that fails.
TEST(linkage, inexact_loops_are_named)
{
    static const double ANGLES[] = {0.0, 1e-14, 1e-9, 1e-7, 1e-5, 1e-4, 1e-2};
    hn_context *context = hn_context_create(NULL);
    for (size_t k = 0; k < sizeof ANGLES / sizeof ANGLES[0]; ++k) {
        hn_simulation_def def = hn_simulation_def_default();
        def.step_size = 1e-3;
        hn_simulation *s = NULL;
        hn_model *model = linkage_with_axis_off(context, ANGLES[k], false);
        hn_redundancy redundancy;
        CHECK_OK(context, hn_simulation_create(model, &def, &s));
        CHECK_OK(context, hn_simulation_redundancy(s, &redundancy, NULL, 0));
        bool exact = ANGLES[k] < 1e-12;
        CHECK_EQUAL(redundancy.misfit_joint < 0, exact);
        if (!exact) {
            hn_joint_id hinge = hn_model_joint(model, redundancy.misfit_joint);
            CHECK_EQUAL(hn_model_joint_name(model, hinge)[0],
                        'r'); // all six have the same part in it
            CHECK(redundancy.misfit > 1e-3 * ANGLES[k] && redundancy.misfit <= ANGLES[k]);
        }
        hn_simulation_destroy(s);
        hn_model_destroy(model);
        model = linkage_with_axis_off(context, ANGLES[k], true);
        s = NULL;
        hn_status status = hn_simulation_create(model, &def, &s);
        if (ANGLES[k] >= 1e-4) {
            // no degree of freedom is left: not started with another velocity than the one given
            CHECK_EQUAL(status, HN_INVALID_MODEL);
            CHECK_CONTAINS(hn_context_message(context), "start velocity");
        } else {
            CHECK_OK(context, status);
            status = hn_simulation_step(s, 1);
            if (ANGLES[k] >= 1e-7) {
                CHECK_EQUAL(status, HN_NOT_CONVERGED);
                CHECK_CONTAINS(hn_context_message(context), "the loop of joint 'r");
                CHECK_CONTAINS(hn_context_message(context), "is not exact");
            } else CHECK_OK(context, status);
        }
        hn_simulation_destroy(s);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

// Loops of model files and their positions in the world do not pretend to be inexact.
TEST(linkage, exact_loops_are_not_called_inexact)
{
    static const char *const NAMES[] = {"six-body-linkage", "four-bar",   "bricard", "rssr",
                                        "slider-crank",     "quadrangle", "crank",   "bennett"};
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; ++k) {
        run r = run_model(NAMES[k], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
        hn_redundancy redundancy;
        CHECK_OK(r.context, hn_simulation_redundancy(r.sim, &redundancy, NULL, 0));
        CHECK_EQUAL(redundancy.misfit_joint, -1);
        run_end(&r);
    }
}

// ---- ladders ----------------------------------------------------------------------------------------

// A pendulum in disguise. It passes its singular, flat position twice a turn, in 10 s ten times.
TEST(ladder, is_a_pendulum_and_passes_its_singular_position)
{
    static const int SIZES[] = {1, 10};
    for (int i = 0; i < 2; ++i)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                double errors[2], exact = ladder_angle(SIZES[i], 1.0, false, 10.0);
                for (int k = 0; k < 2; ++k) {
                    mechanism m = ladder_mechanism(SIZES[i], 1.0, false);
                    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w],
                                                      k == 0 ? 1e-2 : 5e-3, true);
                    run_step(&x.r, k == 0 ? 1000 : 2000);
                    errors[k] = fabs(ladder_angle_of(&x, false) - exact);
                    CHECK_BELOW(ladder_spread(&x, SIZES[i]), 2e-14); // rad; measured 2.6e-16
                    check_kept(&x.r, 1e-10);
                    mechanism_end(&x);
                    mechanism_destroy(&m);
                }
                CHECK(exact > 30.0);                                // five turns
                CHECK_NEAR(log2(errors[0] / errors[1]), 2.0, 0.05); // measured 2.00
            }
}

// Hanging and pushed at 1 m/s it stays below the flat position.
TEST(ladder, runs_when_it_cannot_reach_its_singular_position)
{
    static const int SIZES[] = {1, 10};
    for (int i = 0; i < 2; ++i)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s) {
            mechanism m = ladder_mechanism(SIZES[i], 1.0, true);
            mechanism_run x =
                mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], HN_REDUCTION_REDUCED, 2e-3, true);
            run_step(&x.r, 5000);
            CHECK_EQUAL(hn_simulation_statistics(x.r.sim).halved_step_count, 0);
            // rad, a second order error
            CHECK_NEAR(ladder_angle_of(&x, true), ladder_angle(SIZES[i], 1.0, true, 10.0), 1e-4);
            check_kept(&x.r, 1e-11);
            mechanism_end(&x);
            mechanism_destroy(&m);
        }
}

TEST(ladder, lands_on_the_singular_position_and_goes_on)
{
    static const double PAST[] = {0.0, 1e-10, 1e-7, 1e-5, 1e-4, -1e-4};
    int stopped = 0;
    double spread = 0.0;
    for (int n = 1; n <= 5; n += 4)
        for (size_t p = 0; p < sizeof PAST / sizeof PAST[0]; ++p)
            for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
                for (int w = 0; w < HN_REDUCTION_COUNT; ++w)
                    stopped +=
                        !ladder_lands_flat(n, 50, PAST[p], LOOP_SCHEMES[s], REDUCTIONS[w], &spread);
    CHECK_BELOW(spread, 2e-14); // rad, the cranks are still parallel; measured 2.6e-16
    CHECK(stopped <= 1);        // measured 0 of 72
}

// A door on two or three hinges: all that the others say follows from the first. It falls like a door on one.
TEST(doors, on_several_hinges_move_as_on_one)
{
    double worst = 0.0;
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            double q[3][12] = {{0.0}};
            for (int hinges = 1; hinges <= 3; ++hinges) {
                mechanism m = mechanism_create(3, vec3(0.0, -9.81, 0.3));
                mechanism_bar(&m, vec3(0.0, 0.0, 0.2), vec3(1.0, 0.0, 0.2), 2.0, 0.1);
                for (int k = 0; k < hinges; ++k)
                    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0,
                                            vec3(0.0, 0.0, 0.3 * k), vec3(0.0, 0.0, 1.0));
                mechanism_run x =
                    mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w], 1e-3, true);
                run_step(&x.r, 300);
                run_coordinates(&x.r, q[hinges - 1]);
                check_kept(&x.r, 1e-11);
                mechanism_end(&x);
                mechanism_destroy(&m);
            }
            CHECK(q[0][1] < -0.25); // m, it has fallen
            for (int k = 1; k < 3; ++k) worst = fmax(worst, largest_difference(q[0], q[k], 12));
        }
    CHECK_BELOW(worst, 1e-13); // measured 2.0e-15
}

// Bennett 1903: tan(a/2) tan(b/2) of neighbouring hinges is constant, a and b the angles between the sides of the
// quadrilateral. Its square, which does not change sign when sides pass each other, as a quotient.
static void bennett_product(const run *r, double *above, double *below)
{
    static const hn_vec3 A = {1.0, 0.0, 0.35}, B = {0.2, 1.1, -0.35};
    // corners C and D are ends of the sides BC and DA, mirrored at their middles
    hn_vec3 c = vec3_subtract(vec3_scale(2.0, run_body(r, hn_model_body(r->model, 0)).position), B);
    hn_vec3 d = vec3_subtract(vec3_scale(2.0, run_body(r, hn_model_body(r->model, 2)).position), A);
    hn_vec3 ab = vec3_subtract(B, A), ad = vec3_subtract(d, A), bc = vec3_subtract(c, B);
    double cos_a = vec3_dot(ab, ad) / (vec3_norm(ab) * vec3_norm(ad));
    double cos_b = -vec3_dot(ab, bc) / (vec3_norm(ab) * vec3_norm(bc));
    *above = (1.0 - cos_a) * (1.0 - cos_b);
    *below = (1.0 + cos_a) * (1.0 + cos_b);
}

TEST(bennett, keeps_the_product_of_its_half_angles)
{
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = run_model("bennett", LOOP_SCHEMES[s], REDUCTIONS[w], 0.0, true);
            double above, below, worst = 0.0, turned = 0.0;
            bennett_product(&r, &above, &below);
            double square = above / below;
            for (int n = 0; n < 500; ++n) {
                run_step(&r, 10);
                bennett_product(&r, &above, &below);
                worst = fmax(worst, fabs(above - square * below));
                hn_joint_state hinge;
                CHECK_OK(r.context,
                         hn_simulation_joint_state(r.sim, hn_model_joint(r.model, 1), &hinge));
                turned = fmax(turned, fabs(hinge.coordinates[0]));
            }
            CHECK(turned > 6.3);       // a whole turn
            CHECK_BELOW(worst, 1e-13); // measured 2.0e-15
            if (LOOP_SCHEMES[s] == HN_SCHEME_ENERGY_MOMENTUM) check_kept(&r, 1e-11);
            run_end(&r);
        }
}

TEST(bricard, keeps_energy_and_joints_for_ten_seconds)
{
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
        run r = run_model("bricard", HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[w], 5e-3, true);
        run_step(&r, 2000);
        check_kept(&r, 1e-10);
        run_end(&r);
    }
}

// ---- coupled loops ----------------------------------------------------------------------------------

static const hn_vec3 X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0}, Z = {0.0, 0.0, 1.0};

// Two cranks joined by couplers in two planes and by a brace half way up: three loops, eleven redundant constraints.
// All couplers stay parallel to the ground: a pendulum again.
static mechanism braced_parallelogram(double rate)
{
    mechanism m = mechanism_create(10, vec3(0.0, -9.81, 0.0));
    for (int k = 0; k < 2; ++k) {
        hn_vec3 foot = {(double)k, 0.0, 0.0};
        mechanism_bar(&m, foot, vec3((double)k, -1.0, 0.0), 1.0, 0.05);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, k, foot, Z);
    }
    m.joints[0].has_rate = true;
    m.joints[0].rate = rate;
    static const hn_vec3 LEFT[3] = {{0.0, -1.0, 0.0}, {0.0, -1.0, 0.5}, {0.0, -0.5, 0.25}};
    for (int k = 0; k < 3; ++k) {
        hn_vec3 right = vec3_add(LEFT[k], X);
        int bar = mechanism_bar(&m, LEFT[k], right, 1.0, 0.05);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 0, bar, LEFT[k], Z);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, bar, 1, right, Z);
    }
    return m;
}

TEST(coupled_loops, braced_parallelogram_is_a_pendulum)
{
    const double rate = 2.0, time = 2.0;
    double inertia = 2.0 * ((1.0 + 0.0025) / 12.0 + 0.25) + 2.0 + 0.25;
    double exact = pendulum_angle((2.0 * 0.5 + 2.0 + 0.5) * 9.81 / inertia, PI, rate, time) - PI;
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            double errors[2];
            for (int k = 0; k < 2; ++k) {
                mechanism m = braced_parallelogram(rate);
                mechanism_run x = mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w],
                                                  k == 0 ? 4e-3 : 2e-3, true);
                hn_structure structure = hn_simulation_structure(x.r.sim);
                CHECK_EQUAL(structure.loop_count, 3);
                CHECK_EQUAL(structure.degrees_of_freedom, 1);
                CHECK_EQUAL(structure.constraint_count - structure.constraint_rank, 11);
                run_step(&x.r, k == 0 ? 500 : 1000);
                hn_joint_state state;
                CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[0], &state));
                errors[k] = fabs(state.coordinates[0] - exact);
                check_kept(&x.r, 1e-11);
                mechanism_end(&x);
                mechanism_destroy(&m);
            }
            CHECK_NEAR(log2(errors[0] / errors[1]), 2.0, 0.05); // measured 2.00
        }
}

// Watt's six-bar: crank, coupler, rocker, and from the rocker a second coupler and rocker.
static mechanism watt(void)
{
    const hn_vec3 a0 = {0.0, 0.0, 0.0}, a = {0.0, 0.4, 0.0}, b = {1.0, 0.8, 0.0},
                  b0 = {1.2, 0.0, 0.0}, c = {1.6, 0.7, 0.0}, d = {2.4, 0.9, 0.0},
                  d0 = {2.6, 0.0, 0.0};
    mechanism m = mechanism_create(10, vec3(0.0, -9.81, 0.0));
    int crank = mechanism_bar(&m, a0, a, 1.0, 0.05), coupler = mechanism_bar(&m, a, b, 2.0, 0.05);
    int rocker = mechanism_bar(&m, b0, b, 2.0, 0.05), second = mechanism_bar(&m, c, d, 1.5, 0.05);
    int last = mechanism_bar(&m, d, d0, 1.2, 0.05);
    int drive = mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, crank, a0, Z);
    m.joints[drive].has_rate = true;
    m.joints[drive].rate = -12.0;
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, crank, coupler, a, Z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, coupler, rocker, b, Z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, rocker, b0, Z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, rocker, second, c, Z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, second, last, d, Z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, last, MECHANISM_GROUND, d0, Z);
    return m;
}

// A platform on three legs of two links each, all in a plane.
static mechanism platform(void)
{
    mechanism m = mechanism_create(12, vec3(0.3, -9.81, 0.0));
    hn_vec3 corner[3];
    for (int k = 0; k < 3; ++k)
        corner[k] = vec3(0.4 * cos(2.1 * k + 0.3), 0.4 * sin(2.1 * k + 0.3), 0.0);
    int plate = mechanism_bar(&m, corner[0], corner[1], 2.0, 0.2);
    for (int k = 0; k < 3; ++k) {
        hn_vec3 base = vec3(1.6 * cos(2.1 * k), 1.6 * sin(2.1 * k), 0.0);
        hn_vec3 knee = vec3(1.1 * cos(2.1 * k + 0.7), 1.1 * sin(2.1 * k + 0.7), 0.0);
        int inner = mechanism_bar(&m, base, knee, 1.0, 0.05);
        int outer = mechanism_bar(&m, knee, corner[k], 0.8, 0.05);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, inner, base, Z);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, inner, outer, knee, Z);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, outer, plate, corner[k], Z);
    }
    return m;
}

// Planar mechanisms: degrees of freedom by Gruebler's count, redundancy of three for every loop, motion in the plane,
// and the same motion under all reductions.
static void check_planar(const mechanism *m, int loops, int freedom, double h, int steps)
{
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s) {
        mechanism_run x[HN_REDUCTION_COUNT];
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            x[w] = mechanism_begin(m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w], h, true);
            hn_structure structure = hn_simulation_structure(x[w].r.sim);
            CHECK_EQUAL(structure.loop_count, loops);
            CHECK_EQUAL(structure.degrees_of_freedom, freedom);
            CHECK_EQUAL(structure.constraint_count - structure.constraint_rank, 3 * loops);
            run_step(&x[w].r, steps);
            check_kept(&x[w].r, 1e-11);
            double out = 0.0;
            for (int i = 0; i < m->body_count; ++i)
                out = fmax(out, fabs(run_body(&x[w].r, x[w].body[i]).position.z));
            CHECK_BELOW(out, 1e-13); // m; measured zero
            if (w > 0)
                CHECK_BELOW(mechanism_difference(&x[0], &x[w], &AS_IT_IS),
                            1e-11); // measured 2.0e-13
        }
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) mechanism_end(&x[w]);
    }
}

TEST(coupled_loops, six_bar_and_platform_of_three_legs)
{
    mechanism six_bar = watt(), legs = platform();
    check_planar(&six_bar, 2, 1, 2e-3, 500);
    check_planar(&legs, 2, 3, 2e-3, 300);
    mechanism_destroy(&six_bar);
    mechanism_destroy(&legs);
}

// Two Cardan joints at +-30 degrees with aligned forks: one degree of freedom only by this arrangement. The driven
// shaft follows the driving one exactly; the shaft between turns unevenly, tan(theta_b) cos(30 degrees) =
// tan(theta_a).
TEST(coupled_loops, double_cardan_shaft_is_homokinetic)
{
    const double tilt = PI / 6.0;
    const hn_vec3 origin = {0.0, 0.0, 0.0}, first = {1.0, 0.0, 0.0};
    const hn_vec3 along = {cos(tilt), sin(tilt), 0.0}, second = vec3_add(first, along);
    const hn_vec3 end = vec3_add(second, X);
    mechanism m = mechanism_create(4, vec3(0.0, 0.0, -9.81));
    mechanism_bar(&m, origin, first, 2.0, 0.1);
    mechanism_bar(&m, first, second, 2.0, 0.1);
    mechanism_bar(&m, second, end, 2.0, 0.1);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0, origin, X);
    m.joints[0].has_rate = true;
    m.joints[0].rate = 9.0;
    int u1 = mechanism_joint_between(&m, HN_JOINT_UNIVERSAL, 0, 1, first, Y);
    m.joints[u1].second = Z;
    int u2 = mechanism_joint_between(&m, HN_JOINT_UNIVERSAL, 1, 2, second, Z);
    m.joints[u2].second = Y;
    int driven = mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 2, end, X);
    double even = 0.0, uneven = 0.0, largest = 0.0;
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            mechanism_run x =
                mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w], 5e-3, true);
            hn_structure structure = hn_simulation_structure(x.r.sim);
            CHECK_EQUAL(structure.degrees_of_freedom, 1);
            CHECK_EQUAL(structure.constraint_count - structure.constraint_rank, 1);
            for (int n = 0; n < 400; ++n) {
                run_step(&x.r, 1);
                hn_joint_state in, out;
                CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[0], &in));
                CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[driven], &out));
                even = fmax(even, fabs(in.coordinates[0] - out.coordinates[0]));
                // its fork (z at the start) turns about the tilted axis
                hn_body_state b = run_body(&x.r, x.body[1]);
                hn_vec3 fork = mat3_apply_transposed(&m.bodies[1].orientation, Z);
                fork = mat3_apply(&b.orientation, fork);
                double y = -vec3_dot(fork, vec3_cross(Z, along)), z = vec3_dot(fork, Z);
                double theta = in.coordinates[0];
                uneven = fmax(uneven, fabs(y * cos(theta) * cos(tilt) - z * sin(theta)));
                largest = fmax(largest, theta);
            }
            check_kept(&x.r, 1e-11);
            mechanism_end(&x);
        }
    CHECK(largest > 4.0 * PI);
    CHECK_BELOW(even, 1e-13);   // rad; measured 1.8e-15
    CHECK_BELOW(uneven, 2e-13); // measured 2.8e-15
    mechanism_destroy(&m);
}

// ---- loops closed by every kind of joint ------------------------------------------------------------

// Ground - 0 - 1 - 2 - ground with the joints given; of the two bearings the one defined first decides which of the two
// joints of body 1 is cut.
static mechanism loop_of(const hn_joint_kind kinds[4])
{
    const hn_vec3 place[4] = {{0.0, 0.0, 0.0}, {0.1, 0.5, 0.3}, {0.9, 0.6, 0.5}, {1.0, 0.0, 0.1}};
    const hn_vec3 axis[4] = {unit3(0.9, 0.1, -0.2), unit3(0.3, 0.8, 0.4), unit3(-0.5, 0.4, 0.7),
                             unit3(0.2, 0.9, 0.3)};
    mechanism m = mechanism_create(4, vec3(0.5, -1.0, -9.3));
    for (int k = 0; k < 3; ++k) mechanism_bar(&m, place[k], place[k + 1], 1.0 + 0.3 * k, 0.1);
    for (int k = 0; k < 4; ++k) {
        int j = mechanism_joint_between(&m, kinds[k], k - 1, k == 3 ? MECHANISM_GROUND : k,
                                        place[k], axis[k]);
        m.joints[j].second = vec3_perpendicular(axis[k]);
        if (kinds[k] == HN_JOINT_UNIVERSAL && k == 2) {
            // both axes across the bar between, so that the bar does not spin fast
            hn_vec3 along = mat3_column(&m.bodies[1].orientation, 0);
            m.joints[j].axis = vec3_perpendicular(along);
            m.joints[j].second = vec3_cross(along, m.joints[j].axis);
        }
        hn_vec3 offset = {0.0, 0.0, 0.0};
        if (kinds[k] == HN_JOINT_DISTANCE) offset = vec3(0.2, -0.1, 0.15);
        if (kinds[k] == HN_JOINT_PRISMATIC || kinds[k] == HN_JOINT_CYLINDRICAL)
            offset = vec3_scale(0.1, axis[k]);
        if (kinds[k] == HN_JOINT_PLANAR) offset = vec3_scale(0.1, m.joints[j].second);
        m.joints[j].point_b = vec3_add(place[k], offset);
    }
    m.joints[0].has_rate = kinds[0] == HN_JOINT_REVOLUTE;
    m.joints[0].rate = 3.0;
    return m;
}

TEST(cut_joints, of_every_kind_give_the_same_motion_as_another_cut)
{
    static const hn_joint_kind LOOPS[][4] = {
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_SPHERICAL, HN_JOINT_REVOLUTE},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_PRISMATIC, HN_JOINT_SPHERICAL},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_CYLINDRICAL, HN_JOINT_UNIVERSAL},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_PLANAR, HN_JOINT_REVOLUTE},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_UNIVERSAL, HN_JOINT_REVOLUTE},
        {HN_JOINT_REVOLUTE, HN_JOINT_DISTANCE, HN_JOINT_FIXED, HN_JOINT_UNIVERSAL},
        {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_DISTANCE, HN_JOINT_REVOLUTE},
    };
    static const int FREEDOM[] = {2, 2, 2, 2, 2, 1, 2, 4};
    static const int OTHER_ORDER[4] = {3, 2, 1, 0};
    double worst = 0.0;
    for (size_t i = 0; i < sizeof LOOPS / sizeof LOOPS[0]; ++i) {
        mechanism m = loop_of(LOOPS[i]);
        mechanism_fix_start(&m);
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                mechanism_variant other = AS_IT_IS;
                other.joint_order = OTHER_ORDER;
                mechanism_run a = mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s],
                                                  HN_REDUCTION_REDUCED, 2.5e-3, true);
                mechanism_run b =
                    mechanism_begin(&m, &other, LOOP_SCHEMES[s], REDUCTIONS[w], 2.5e-3, true);
                CHECK_EQUAL(hn_simulation_structure(a.r.sim).loop_count, 1);
                CHECK_EQUAL(hn_simulation_structure(a.r.sim).degrees_of_freedom, FREEDOM[i]);
                CHECK_EQUAL(hn_simulation_structure(b.r.sim).degrees_of_freedom, FREEDOM[i]);
                CHECK_EQUAL(mechanism_cut_joint(&a, 0), 2);
                CHECK_EQUAL(mechanism_cut_joint(&b, 0), 1);
                double difference = 0.0, moved = 0.0;
                for (int n = 0; n < 200; ++n) {
                    run_step(&a.r, 1);
                    run_step(&b.r, 1);
                    difference = fmax(difference, mechanism_difference(&a, &b, &AS_IT_IS));
                    moved = fmax(moved, vec3_norm(vec3_subtract(run_body(&a.r, a.body[1]).position,
                                                                m.bodies[1].position)));
                }
                if (!(difference < 1e-9))
                    print_error("%s cut, %s, %s: %.3g\n", hn_joint_kind_name(LOOPS[i][2]),
                                hn_scheme_name(LOOP_SCHEMES[s]), hn_reduction_name(REDUCTIONS[w]),
                                difference);
                CHECK_BELOW(difference, 3e-12); // m and parts of unit vectors; measured 5.4e-14
                CHECK(moved > 0.05);
                check_kept(&a.r, 1e-11);
                check_kept(&b.r, 1e-11);
                worst = fmax(worst, difference);
                mechanism_end(&a);
                mechanism_end(&b);
            }
        mechanism_destroy(&m);
    }
    MEASURED(worst);
}

// Four point masses held by six rods: in general a rigid tetrahedron, three loops, nothing redundant; in a plane one
// rod is redundant, and out of the plane there is a seventh freedom.
TEST(cut_joints, point_masses_and_rods)
{
    static const hn_vec3 SOLID[4] = {
        {0.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {0.2, 0.9, 0.1}, {0.3, 0.4, 0.8}};
    static const hn_vec3 FLAT[4] = {
        {0.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {0.9, 1.2, 0.0}, {0.1, 0.8, 0.0}};
    for (int flat = 0; flat < 2; ++flat)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                mechanism m = mechanism_create(8, vec3(0.0, 0.0, 0.0));
                const hn_vec3 *place = flat ? FLAT : SOLID;
                const hn_vec3 spin = flat ? vec3(0.0, 0.0, 2.0) : vec3(1.0, 2.0, -1.5);
                for (int i = 0; i < 4; ++i)
                    m.bodies[m.body_count++] = (mechanism_body){
                        .kind = HN_BODY_POINT_MASS,
                        .mass = 1.0 + 0.2 * i,
                        .position = place[i],
                        .velocity = vec3_add(vec3(0.3, -0.2, 0.1), vec3_cross(spin, place[i]))};
                m.moving = true;
                for (int i = 0; i < 4; ++i)
                    for (int k = i + 1; k < 4; ++k) {
                        int j = mechanism_joint_between(&m, HN_JOINT_DISTANCE, i, k, place[i], X);
                        m.joints[j].point_b = place[k];
                    }
                mechanism_run x =
                    mechanism_begin(&m, &AS_IT_IS, LOOP_SCHEMES[s], REDUCTIONS[w], 1e-2, true);
                hn_structure structure = hn_simulation_structure(x.r.sim);
                CHECK_EQUAL(structure.loop_count, 3);
                CHECK_EQUAL(structure.constraint_count - structure.constraint_rank, flat);
                CHECK_EQUAL(structure.degrees_of_freedom, 6 + flat);
                run_step(&x.r, 200);
                hn_ledger ledger = ledger_of(&x.r);
                CHECK_BELOW(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error, 1e-12);
                CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 1e-12);
                check_kept(&x.r, 1e-11);
                mechanism_end(&x);
                mechanism_destroy(&m);
            }
}

// Springs and dampers across a loop: between bodies that are not neighbours, and on the angle of the cut joint.
TEST(cut_joints, with_springs_and_dampers)
{
    static const hn_joint_kind KINDS[4] = {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL, HN_JOINT_REVOLUTE,
                                           HN_JOINT_SPHERICAL};
    mechanism m = loop_of(KINDS);
    mechanism_fix_start(&m);
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s) {
        mechanism_run x[HN_REDUCTION_COUNT];
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            x[w] = mechanism_build(&m, &AS_IT_IS);
            hn_load_id id;
            hn_spring_def spring = hn_spring_def_default();
            spring.body_a = x[w].body[0];
            spring.body_b = x[w].body[2];
            spring.point_a = vec3(0.0, 0.3, 0.0);
            spring.point_b = vec3(0.9, 0.3, 0.4);
            spring.stiffness = 300.0;
            spring.damping = 2.0;
            spring.rest_length = 0.7;
            CHECK_OK(x[w].r.context, hn_model_add_spring(x[w].r.model, &spring, &id));
            hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
            torsion.joint = x[w].joint[2];
            torsion.stiffness = 20.0;
            torsion.damping = 0.1;
            torsion.rest_angle = 0.2;
            CHECK_OK(x[w].r.context, hn_model_add_torsion_spring(x[w].r.model, &torsion, &id));
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = LOOP_SCHEMES[s];
            def.reduction = REDUCTIONS[w];
            def.step_size = 2e-3;
            mechanism_start(&x[w], &def);
            CHECK_EQUAL(mechanism_cut_joint(&x[w], 0), 2);
            run_step(&x[w].r, 300);
            check_kept(&x[w].r, 1e-11);
            if (w > 0)
                CHECK_BELOW(mechanism_difference(&x[0], &x[w], &AS_IT_IS),
                            2e-12); // measured 2.9e-14
        }
        hn_energy energy;
        CHECK_OK(x[0].r.context, hn_simulation_energy(x[0].r.sim, &energy));
        CHECK(energy.external_work < -0.01); // J, the dampers'
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) mechanism_end(&x[w]);
    }
    mechanism_destroy(&m);
}

// ---- reactions --------------------------------------------------------------------------------------

typedef struct body_balance {
    hn_vec3 linear, angular; // momenta, about the world's origin
    hn_vec3 force, moment;   // of all joints and gravity, about the world's origin
} body_balance;

// Reactions of all joints and gravity on every body, at the poses where they act.
static void add_reactions(const run *r, const double *poses, body_balance *balance)
{
    const hn_system *system = r->sim->system;
    for (int i = 0; i < system->body_count; ++i) {
        body_balance *b = &balance[i];
        b->force = vec3_scale(system->inertia[4 * i], system->gravity);
        b->moment = vec3_cross(pose_center(system_pose(poses, i)), b->force);
    }
    for (int k = 0; k < system->joint_count; ++k) {
        hn_joint_state state;
        CHECK_OK(r->context,
                 hn_simulation_joint_state(r->sim, hn_model_joint(r->model, k), &state));
        const joint *j = &system->reports[k].rows;
        bool swapped = system->reports[k].rows_swapped;
        int a = swapped ? j->child : j->parent, b = swapped ? j->parent : j->child;
        hn_vec3 point = pose_point(system_pose(poses, b), swapped ? j->rho_a : j->rho_b);
        hn_vec3 moment = vec3_add(state.reaction_torque, vec3_cross(point, state.reaction_force));
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? a : b;
            double sign = side == 0 ? -1.0 : 1.0;
            if (body < 0) continue;
            balance[body].force = vec3_add_scaled(balance[body].force, sign, state.reaction_force);
            balance[body].moment = vec3_add_scaled(balance[body].moment, sign, moment);
        }
    }
}

static void read_momenta(const run *r, body_balance *balance)
{
    for (int k = 0; k < hn_model_body_count(r->model); ++k) {
        hn_body_state s = run_body(r, hn_model_body(r->model, k));
        balance[r->sim->system->tree_place[k]].linear = s.linear_momentum;
        balance[r->sim->system->tree_place[k]].angular = s.angular_momentum;
    }
}

// Largest violation of d/dt (momenta of a body) = reactions + gravity over all bodies and steps, relative to the
// largest moment or force.
static double largest_imbalance(const char *model, hn_scheme scheme, hn_reduction way, double h,
                                double time)
{
    enum { BODIES = 8 };
    run r = run_model(model, scheme, way, h, false);
    body_balance before[BODIES] = {0}, after[BODIES] = {0};
    double worst = 0.0, largest = 0.0, middle[POSE_SIZE * BODIES], start[POSE_SIZE * BODIES];
    int bodies = r.sim->system->body_count;
    CHECK(bodies <= BODIES);
    read_momenta(&r, before);
    if (scheme == HN_SCHEME_VARIATIONAL) add_reactions(&r, r.sim->state.q, before);
    for (int n = 0; n < llround(time / h); ++n) {
        memcpy(start, r.sim->state.q, (size_t)(POSE_SIZE * bodies) * sizeof(double));
        run_step(&r, 1);
        for (int k = 0; k < POSE_SIZE * bodies; ++k)
            middle[k] = 0.5 * (start[k] + r.sim->state.q[k]);
        read_momenta(&r, after);
        add_reactions(&r, scheme == HN_SCHEME_VARIATIONAL ? r.sim->state.q : middle, after);
        for (int i = 0; i < bodies; ++i) {
            hn_vec3 force = after[i].force, moment = after[i].moment;
            if (scheme == HN_SCHEME_VARIATIONAL) {
                force = vec3_mean(force, before[i].force);
                moment = vec3_mean(moment, before[i].moment);
            }
            hn_vec3 linear = vec3_scale(1.0 / h, vec3_subtract(after[i].linear, before[i].linear));
            hn_vec3 angular =
                vec3_scale(1.0 / h, vec3_subtract(after[i].angular, before[i].angular));
            worst = fmax(worst, vec3_norm(vec3_subtract(linear, force)));
            worst = fmax(worst, vec3_norm(vec3_subtract(angular, moment)));
            largest = fmax(largest, fmax(vec3_norm(linear), vec3_norm(angular)));
            before[i] = after[i];
        }
    }
    run_end(&r);
    return worst / largest;
}

// Reactions that are unique, and those of minimum norm: the self-stress is taken where the forces act.
TEST(loop_reactions, balance_the_momenta_of_every_body)
{
    static const char *const MODELS[] = {"rssr",    "four-bar", "slider-crank", "six-body-linkage",
                                         "bricard", "bennett"};
    double worst = 0.0;
    for (int i = 0; i < 6; ++i)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                double imbalance =
                    largest_imbalance(MODELS[i], LOOP_SCHEMES[s], REDUCTIONS[w], 2e-3, 0.1);
                CHECK_BELOW(imbalance, 2e-11); // measured 3.2e-13
                worst = fmax(worst, imbalance);
            }
    MEASURED(worst);
}

TEST(loop_reactions, multipliers_are_the_same_for_all_reductions)
{
    static const char *const MODELS[] = {"rssr",         "six-body-linkage", "four-bar",
                                         "slider-crank", "bricard",          "bennett"};
    for (int i = 0; i < 6; ++i)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s) {
            double lambda[HN_REDUCTION_COUNT][RUN_CONSTRAINTS_MAX], size = 0.0;
            int count = 0;
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                run r = run_model(MODELS[i], LOOP_SCHEMES[s], REDUCTIONS[w], 1e-3, false);
                count = hn_simulation_structure(r.sim).constraint_count;
                CHECK(count <= RUN_CONSTRAINTS_MAX);
                run_step(&r, 100);
                CHECK_OK(r.context, hn_simulation_multipliers(r.sim, lambda[w], count));
                run_end(&r);
            }
            for (int k = 0; k < count; ++k) size = fmax(size, fabs(lambda[0][k]));
            CHECK(size > 1e-3);
            for (int w = 1; w < HN_REDUCTION_COUNT; ++w) {
                double worst = largest_difference(lambda[0], lambda[w], count) / size;
                print_message("%s, %s, %s: %.3g\n", MODELS[i], hn_scheme_name(LOOP_SCHEMES[s]),
                              hn_reduction_name(REDUCTIONS[w]), worst);
                CHECK_BELOW(worst, 1e-8); // measured 5.0e-10
            }
        }
}

// Small steps are predicted so well that one iteration is enough, but for round-off: with multipliers found all at
// once, those of a heavy bar opened the joints of the light ones by 1e-10 of their lengths.
TEST(closed_loops, joints_between_heavy_and_light_bars_stay_closed)
{
    const hn_vec3 z = {0.0, 0.0, 1.0}, at[] = {{0.0, 0.0, 0.0}, {0.3, 0.1, 0.0}, {0.2, 1.0, 0.0},
                                               {1.0, 1.2, 0.0}, {1.5, 0.6, 0.0}, {1.2, 0.0, 0.0}};
    const double masses[] = {1e-4, 3e5, 10.0, 0.4, 10.0};
    mechanism m = mechanism_create(8, vec3(9.0, -3.0, 0.0));
    for (int k = 0; k < 5; ++k) mechanism_bar(&m, at[k], at[k + 1], masses[k], 0.05);
    for (int k = 0; k <= 5; ++k)
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k == 0 ? MECHANISM_GROUND : k - 1,
                                k == 5 ? MECHANISM_GROUND : k, at[k], z);
    static const hn_scheme BOTH[] = {HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE};
    for (int k = 0; k < 2; ++k) {
        mechanism_run x = mechanism_build(&m, &AS_IT_IS);
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = BOTH[k];
        def.reduction = HN_REDUCTION_MULTIPLIERS;
        def.step_size = 4e-4;
        def.ledger = true;
        mechanism_start(&x, &def);
        run_step(&x.r, 80);
        hn_ledger ledger;
        CHECK_OK(x.r.context, hn_simulation_ledger(x.r.sim, &ledger));
        CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error,
                    1e-13); // measured 1.2e-15; 3.7e-12 before
        mechanism_end(&x);
    }
    mechanism_destroy(&m);
}
