// SPDX-License-Identifier: MIT
// `projected-rk` at flat positions of loops: passed on the branch to its tolerances, or named.
#include "physics/ladder.h"

#include <stdio.h>

enum { VARIANTS = 4, RECORDS = 20, NUMBERS = 6 };

// Both projections, in the plane, and with internal steps that end on the grid.
static hn_simulation_def variant_def(int variant, double tolerance, double h)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.step_size = h;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = tolerance;
    if (variant == 1) def.projected_rk.projection = HN_PROJECTION_ORTHOGONAL;
    def.projected_rk.planar = variant == 2;
    def.projected_rk.dense_output = variant != 3;
    return def;
}

// ---- ladders, against the pendulum they are -------------------------------------------------------------

typedef struct passage {
    double angle;  // rad, worst error
    double rate;   // rad/s
    double spread; // cranks from parallel
} passage;

static passage ladder_passage(const mechanism *m, int n, const hn_simulation_def *def, int steps,
                              double (*exact)(double time, double *rate))
{
    mechanism_run x = mechanism_build(m, &AS_IT_IS);
    mechanism_start(&x, def);
    passage p = {0};
    for (int i = 1; i <= steps; ++i) {
        CHECK_OK(x.r.context, hn_simulation_step(x.r.sim, 1));
        hn_joint_state foot;
        CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[0], &foot));
        double rate, angle = exact(i * def->step_size, &rate);
        p.angle = fmax(p.angle, fabs(foot.coordinates[0] + angle));
        p.rate = fmax(p.rate, fabs(foot.rates[0] + rate));
        p.spread = fmax(p.spread, ladder_spread(&x, n));
    }
    mechanism_end(&x);
    return p;
}

static int cranks = 1;
static double speed = 1.0;

static double falling(double time, double *rate)
{
    const double tick = 1e-4;
    *rate = (ladder_angle(cranks, speed, false, time + tick) -
             ladder_angle(cranks, speed, false, time - tick)) /
            (2.0 * tick);
    return ladder_angle(cranks, speed, false, time);
}

static double uniform(double time, double *rate)
{
    *rate = speed;
    return speed * time;
}

// Before: runs stopped from 1e-11 on, and where they did not angles were off by up to 2e-4 rad with energy and joints
// kept.
TEST(flat_positions, ladders_pass_to_their_tolerances)
{
    const double speeds[] = {1.0, 2.0, 3.7};
    double worst = 0.0, least = 0.0;
    for (cranks = 1; cranks <= 3; ++cranks)
        for (int k = 0; k < 3; ++k) {
            speed = speeds[k];
            mechanism m = ladder_mechanism(cranks, speed, false);
            for (int e = 6; e <= 13; ++e) {
                hn_simulation_def def = variant_def(0, pow(10.0, -e), 0.05);
                passage p = ladder_passage(&m, cranks, &def, 60, falling);
                worst = fmax(worst, p.angle / (pow(10.0, -e) + 1e-13));
                if (e == 13) least = fmax(least, p.angle);
                CHECK_BELOW(p.spread,
                            pow(10.0, -e) + 1e-11); // measured 2.6e-7 at 1e-6, 1.3e-12 at 1e-13
                CHECK_BELOW(p.rate,
                            1e3 * pow(10.0, -e) + 1e-6); // the differences' own error is 4e-7
            }
            mechanism_destroy(&m);
        }
    MEASURED(worst);
    CHECK_BELOW(worst, 100.0); // tolerances after 3 s and up to five passages; measured 40
    MEASURED(least);
    CHECK_BELOW(least, 3e-11); // rad; measured 7.9e-12
}

// Without gravity the cranks turn evenly: reported states fall into the flat position itself, or next to it.
TEST(flat_positions, states_in_a_flat_position_are_exact)
{
    const double past[] = {0.0, 1e-12, -1e-9, 1e-6, -1e-4, 1e-3};
    for (int variant = 0; variant < VARIANTS; ++variant)
        for (cranks = 1; cranks <= 2; ++cranks)
            for (int k = 0; k < 6; ++k) {
                const double h = 0.05;
                speed = 0.5 * acos(-1.0) / 7.0 / h * (1.0 + past[k]); // flat at the seventh state
                mechanism m = ladder_mechanism(cranks, speed, false);
                m.gravity = vec3(0.0, 0.0, 0.0);
                hn_simulation_def def = variant_def(variant, 1e-9, h);
                passage p = ladder_passage(&m, cranks, &def, 30, uniform);
                CHECK_BELOW(p.angle, 1e-8);   // rad;  measured 3.0e-9
                CHECK_BELOW(p.rate, 3e-7);    // rad/s of 4.5; measured 9.8e-8
                CHECK_BELOW(p.spread, 5e-11); // measured 6.9e-12
                MEASURED(p.angle), MEASURED(p.rate), MEASURED(p.spread);
                mechanism_destroy(&m);
            }
}

// ---- four-bars that can lie flat, against energy-momentum -----------------------------------------------

// Crank a, coupler b, rocker c, pivots d apart; the crank at `angle` (rad), the coupler on its left.
static mechanism four_bar(double a, double b, double c, double d, double angle, double rate)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    hn_vec3 o = {0.0, 0.0, 0.0}, p = {d, 0.0, 0.0}, tip = {a * cos(angle), a * sin(angle), 0.0};
    hn_vec3 way = vec3_subtract(p, tip);
    double e = vec3_norm(way), along = (b * b - c * c + e * e) / (2.0 * e),
           across = sqrt(fmax(0.0, b * b - along * along));
    hn_vec3 unit = vec3_scale(1.0 / e, way), side = {-unit.y, unit.x, 0.0};
    hn_vec3 pin = vec3_add_scaled(vec3_add_scaled(tip, along, unit), across, side);
    mechanism m = mechanism_create(8, vec3(0.0, -9.81, 0.0));
    mechanism_bar(&m, o, tip, a, 0.02);
    mechanism_bar(&m, tip, pin, b, 0.02);
    mechanism_bar(&m, pin, p, c, 0.02);
    int j = mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0, o, z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 0, 1, tip, z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 1, 2, pin, z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 2, MECHANISM_GROUND, p, z);
    m.joints[j].has_rate = true;
    m.joints[j].rate = rate;
    return m;
}

// Directions of the bars at RECORDS times, as far as the run came.
static hn_status directions(const mechanism *m, const hn_simulation_def *def, int every,
                            double *out, char *message, size_t size)
{
    mechanism_run x = mechanism_build(m, &AS_IT_IS);
    mechanism_start(&x, def);
    hn_status status = HN_OK;
    for (int i = 0; i < RECORDS && status == HN_OK; ++i) {
        status = hn_simulation_step(x.r.sim, every);
        for (int k = 0; k < 3; ++k) {
            hn_body_state s = run_body(&x.r, x.body[k]);
            hn_vec3 e = mat3_column(&s.orientation, 0);
            out[NUMBERS * i + 2 * k] = e.x, out[NUMBERS * i + 2 * k + 1] = e.y;
        }
    }
    snprintf(message, size, "%s", status == HN_OK ? "" : hn_context_message(x.r.context));
    mechanism_end(&x);
    return status;
}

// By two runs of energy-momentum, extrapolated to step zero.
static void converged_directions(const mechanism *m, double h, double *out)
{
    double coarse[NUMBERS * RECORDS];
    char message[400];
    hn_simulation_def def = hn_simulation_def_default();
    def.halvings_max = 0; // extrapolation needs equal steps
    def.step_size = h;
    CHECK_EQUAL(directions(m, &def, (int)lround(0.1 / h), coarse, message, sizeof message), HN_OK);
    def.step_size = 0.5 * h;
    CHECK_EQUAL(directions(m, &def, (int)lround(0.2 / h), out, message, sizeof message), HN_OK);
    for (int k = 0; k < NUMBERS * RECORDS; ++k) out[k] = (4.0 * out[k] - coarse[k]) / 3.0;
}

static double random_between(uint64_t *state, double low, double high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 11) / 9007199254740992.0;
}

// Parallelograms, kites, and linkages whose bars add up to the same length two by two.
static mechanism foldable(int n, uint64_t *state, double misfit)
{
    double a = random_between(state, 0.4, 1.0), b = random_between(state, 0.4, 1.4), c = a, d = b;
    if (n % 4 == 1) c = random_between(state, 0.4, a + b - 0.3), d = a + b - c;
    if (n % 4 == 2) c = random_between(state, a, 1.5), d = b + c - a;
    if (n % 4 == 3) c = b, d = a;
    double angle = random_between(state, 0.9, 1.5), rate = random_between(state, 6.0, 14.0);
    return four_bar(a, b, c, d + misfit, angle, n % 3 == 0 ? -rate : rate);
}

TEST(flat_positions, four_bars_that_fold_go_on_as_under_energy_momentum)
{
    uint64_t state = 7;
    double worst = 0.0;
    for (int n = 0; n < 12; ++n) {
        mechanism m = foldable(n, &state, 0.0);
        double reference[NUMBERS * RECORDS], found[NUMBERS * RECORDS];
        char message[400];
        converged_directions(&m, 1e-3, reference);
        for (int variant = 0; variant < VARIANTS; ++variant)
            for (int e = variant == 1 ? 7 : 6; e <= (variant == 1 ? 9 : 12); e += 2) {
                hn_simulation_def def = variant_def(variant, pow(10.0, -e), 0.02);
                hn_status status = directions(&m, &def, 5, found, message, sizeof message);
                if (status != HN_OK) print_message("%d, variant %d: %s\n", n, variant, message);
                CHECK_EQUAL(status, HN_OK);
                double off = largest_difference(found, reference, NUMBERS * RECORDS);
                worst = fmax(worst, off);
            }
        mechanism_destroy(&m);
    }
    MEASURED(worst);
    CHECK_BELOW(worst, 2e-4); // sines of angles after 2 s; measured 5.6e-5, by tolerances of 1e-6
}

// With lengths that are a little off the branches do not cross: the motion turns from one into the other. A step across
// would be a jump. The turn is followed, or the run stops and says why.
TEST(flat_positions, lengths_that_are_a_little_off_never_make_a_jump)
{
    uint64_t state = 11;
    int passed = 0, named = 0;
    double worst = 0.0;
    for (int n = 0; n < 24; ++n) {
        double misfit = (n % 2 == 0 ? 1.0 : -1.0) * pow(10.0, -3.0 - n / 4);
        mechanism m = foldable(4 * n, &state, misfit); // parallelograms, nearly
        double finest[NUMBERS * RECORDS], found[NUMBERS * RECORDS];
        char message[400];
        hn_simulation_def def = variant_def(0, 1e-12, 0.02);
        bool known = directions(&m, &def, 5, finest, message, sizeof message) == HN_OK;
        if (known && fabs(misfit) > 0.9e-3) {
            converged_directions(&m, 1e-4, found);
            CHECK_BELOW(largest_difference(found, finest, NUMBERS * RECORDS), 1e-3);
        }
        for (int e = 6; e <= 12; e += 2) {
            def = variant_def(0, pow(10.0, -e), 0.02);
            hn_status status = directions(&m, &def, 5, found, message, sizeof message);
            if (status == HN_OK) {
                passed++;
                if (known)
                    worst = fmax(worst, largest_difference(found, finest, NUMBERS * RECORDS));
            } else {
                named++;
                CHECK_CONTAINS(message, "singular position");
                CHECK_CONTAINS(message, "joint 'j");
            }
        }
        mechanism_destroy(&m);
    }
    print_message("%d passed, %d stopped with a reason\n", passed, named);
    MEASURED(worst);
    CHECK_BELOW(worst, 3e-4); // measured 5.0e-5
    CHECK(passed >= 40);      // of 48; measured 48
}

// The same under energy-momentum in fixed steps, that would leap: against projected-rk at tight tolerances. Before,
// up to 1.5 off with everything kept.
TEST(flat_positions, energy_momentum_turns_from_branch_to_branch)
{
    double worst = 0.0;
    for (int e = 4; e <= 8; ++e)
        for (int side = -1; side <= 1; side += 2) {
            mechanism m = four_bar(0.7, 1.1, 0.7, 1.1 + side * pow(10.0, -e), 1.2, 10.0);
            double reference[NUMBERS * RECORDS], found[NUMBERS * RECORDS];
            char message[400];
            hn_simulation_def def = variant_def(0, 1e-11, 0.02);
            CHECK_EQUAL(directions(&m, &def, 1, reference, message, sizeof message), HN_OK);
            def = hn_simulation_def_default();
            def.step_size = 4e-4;
            CHECK_EQUAL(directions(&m, &def, 50, found, message, sizeof message), HN_OK);
            double off = largest_difference(found, reference, NUMBERS * RECORDS);
            print_message("%g: %.2g\n", side * pow(10.0, -e), off);
            worst = fmax(worst, off);
            mechanism_destroy(&m);
        }
    MEASURED(worst);
    CHECK_BELOW(worst, 0.1); // measured 0.063: the turn itself takes a few steps
}

// A scheme that cannot halve its steps says that it leapt, and where.
TEST(flat_positions, leaps_are_counted)
{
    for (int k = 0; k < 2; ++k) {
        mechanism m = four_bar(0.7, 1.1, 0.7, k == 0 ? 1.1 + 1e-7 : 1.3, 1.2, 10.0);
        mechanism_run x = mechanism_build(&m, &AS_IT_IS);
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = HN_SCHEME_VARIATIONAL;
        def.step_size = 4e-4;
        mechanism_start(&x, &def);
        run_step(&x.r, 500);
        hn_ledger ledger;
        CHECK_OK(x.r.context, hn_simulation_ledger(x.r.sim, &ledger));
        CHECK_EQUAL(ledger.accuracy.leap_count > 0, k == 0);
        CHECK_EQUAL(ledger.accuracy.leap_joint >= 0, k == 0);
        CHECK(k == 1 || (ledger.accuracy.leap_time > 0.0 && ledger.accuracy.leap_time < 0.2));
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
}
