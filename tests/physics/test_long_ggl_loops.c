// SPDX-License-Identifier: MIT
// Both GGL schemes on closed loops with redundant rows: all promises at the step of the model file, and invariance.
#include "physics/ggl_run.h"
#include "physics/ladder.h"
#include "physics/linkage.h"
#include "support/reference.h"

#include <limits.h>

static const scheme_type *const BOTH[2] = {&scheme_ggl_variational, &scheme_ggl_classical};

// takes the mechanism
static ggl_run start_mechanism(mechanism *m, const scheme_type *type, double h)
{
    mechanism_run x = mechanism_build(m, &AS_IT_IS);
    free(x.body);
    free(x.joint);
    mechanism_destroy(m);
    return ggl_run_start(x.r.context, x.r.model, type, h);
}

static ggl_run flying_linkage(const scheme_type *type, double h)
{
    mechanism m = linkage_mechanism(true);
    return start_mechanism(&m, type, h);
}

// Two stretches of the momenta, one in the middle of what comes before and one at its end, move a loop with one degree
// of freedom through its phase space: `ggl-classical` takes the model from its start to other poses on all constraints,
// with momenta tangent to them.
typedef struct loop_map {
    ggl_run before, run;
    int steps;
} loop_map;

static void stretch(const ggl_run *from, double factor, ggl_run *to)
{
    size_t count = POSE_SIZE * (size_t)from->system->body_count;
    double *v = ggl_numbers(count), *q = ggl_numbers(count);
    for (size_t k = 0; k < count; ++k)
        v[k] = factor * from->state.impetus[k] / from->system->inertia[4 * (k / 12) + k % 12 / 3];
    memcpy(q, from->state.q, count * sizeof(double));
    ggl_place(to, q, v);
    free(v);
    free(q);
}

static void map_loop(void *user, const double *start, phase ends[2])
{
    loop_map *x = user;
    const hn_system *system = x->run.system;
    double *v = ggl_numbers(POSE_SIZE * (size_t)system->body_count);
    ggl_start_velocities(&x->before, v);
    ggl_place(&x->before, system->q_start, v);
    free(v);
    ggl_advance(&x->before, 20);
    stretch(&x->before, 1.0 + start[0], &x->before);
    ggl_advance(&x->before, 20);
    stretch(&x->before, 1.0 + start[1], &x->run);
    ggl_measure(&x->run, &ends[0]);
    ggl_advance(&x->run, x->steps);
    ggl_measure(&x->run, &ends[1]);
}

static double loop_form_change(const char *model, const scheme_type *type, double h, int steps)
{
    static const double START[2] = {0.0, 0.0}, ONE[2] = {1.0, 0.2}, TWO[2] = {-0.3, 1.0};
    static const double *const DIRECTIONS[2] = {ONE, TWO};
    loop_map x = {.steps = steps};
    if (model != NULL) {
        x.before = ggl_run_model(model, &scheme_ggl_classical, h);
        x.run = ggl_run_model(model, type, h);
    } else {
        x.before = flying_linkage(&scheme_ggl_classical, h);
        x.run = flying_linkage(type, h);
    }
    double change =
        form_change(map_loop, &x, POSE_SIZE * x.run.system->body_count, 2, START, DIRECTIONS);
    print_message("%s, %s, %d steps: form changes by %.2g\n", x.run.system->name, type->name, steps,
                  change);
    ggl_run_end(&x.before);
    ggl_run_end(&x.run);
    return change;
}

TEST(ggl_loops, variational_keeps_the_symplectic_form_with_redundant_rows)
{
    static const struct {
        const char *model; // NULL: the flying linkage
        double h;
    } CASES[] = {{"six-body-linkage", 1e-3}, {"bricard", 4e-3}, {"four-bar", 2e-3}, {NULL, 1e-3}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        // without the force X of (G9): 1.9e-6 on the linkage
        CHECK_BELOW(loop_form_change(CASES[i].model, BOTH[0], CASES[i].h, 1),
                    1e-9); // measured 9.5e-11
        CHECK_BELOW(loop_form_change(CASES[i].model, BOTH[0], CASES[i].h, 10),
                    1e-8);                                                      // measured 6.6e-10
        CHECK(loop_form_change(CASES[i].model, BOTH[1], CASES[i].h, 1) > 1e-5); // measured 6.1e-5
    }
}

TEST(ggl_loops, variational_keeps_momenta_of_a_flying_linkage)
{
    ggl_run r = flying_linkage(BOTH[0], 1e-3);
    hn_vec3 linear = ggl_linear(&r), angular = ggl_angular(&r);
    double turned = 0.0, pushed = 0.0, excess = 0.0;
    for (int n = 0; n < 300; ++n) {
        ggl_advance(&r, 1);
        ggl_levels l = ggl_last_levels(r.solver);
        turned = fmax(turned, vec3_norm(vec3_subtract(ggl_angular(&r), angular)));
        pushed = fmax(pushed, vec3_norm(vec3_subtract(ggl_linear(&r), linear)));
        excess = fmax(excess, l.secondary_all / l.speed);
        CHECK_EQUAL(l.spread_count, 1);
    }
    CHECK(excess > 1e-7); // the redundant combination is not an equation; measured 1.1e-6
    // without the force X of (G9): 1.6e-8
    CHECK_BELOW(turned / vec3_norm(angular), 1e-11); // measured 1.9e-13
    CHECK_BELOW(pushed, 1e-13);                      // kg m/s; measured 1.5e-15
    ggl_run_end(&r);
}

// ---- the step of the model file -----------------------------------------------------------------------

typedef struct loop_record {
    double primary, secondary;         // largest; the second of the speed
    double start_energy, low, high;    // J, energy and its errors
    int redundant, spread, iterations; // fewest rows, most iterations
    int returns;                       // how often it came back to the start after being far away
} loop_record;

// largest distance of a centre of mass from where it started
static double way_from_start(const ggl_run *r)
{
    double way = 0.0;
    for (int i = 0; i < r->system->body_count; ++i)
        way = fmax(way, vec3_norm(vec3_subtract(vec3_load(r->state.q + POSE_SIZE * i),
                                                vec3_load(r->system->q_start + POSE_SIZE * i))));
    return way;
}

static loop_record run_loop(ggl_run *r, int steps)
{
    loop_record t = {.redundant = INT_MAX, .spread = INT_MAX, .start_energy = ggl_energy(r)};
    double farthest = 0.0;
    bool away = false;
    for (int n = 0; n < steps; ++n) {
        ggl_advance(r, 1);
        ggl_levels l = ggl_last_levels(r->solver);
        double error = ggl_energy(r) - t.start_energy - r->work, way = way_from_start(r);
        farthest = fmax(farthest, way);
        if (away && way < 0.2 * farthest) t.returns++;
        away = way > 0.5 * farthest || (away && way > 0.2 * farthest);
        t.primary = fmax(t.primary, l.primary);
        t.secondary = fmax(t.secondary, l.secondary / fmax(1.0, l.speed));
        t.low = fmin(t.low, error);
        t.high = fmax(t.high, error);
        if (l.redundant_count < t.redundant) t.redundant = l.redundant_count;
        if (l.spread_count < t.spread) t.spread = l.spread_count;
        if (r->newton.iterations > t.iterations) t.iterations = r->newton.iterations;
    }
    print_message("%s, h = %g: g %.1e, secondary %.1e, energy %.2e to %.2e J of %.3g J, %d "
                  "redundant, %d spread, %d iterations\n",
                  r->system->name, r->h, t.primary, t.secondary, t.low, t.high, t.start_energy,
                  t.redundant, t.spread, t.iterations);
    return t;
}

TEST(ggl_loops, the_linkage_runs_with_the_step_of_its_file)
{
    ggl_run r = ggl_run_model("six-body-linkage", BOTH[0], 0.0);
    CHECK_EQUAL(r.system->constraint_count, 72);
    loop_record t = run_loop(&r, 1000); // the whole run of the file
    CHECK_EQUAL(t.returns, 2);          // it turned inside out and back
    CHECK_EQUAL(t.redundant, 1);
    CHECK_EQUAL(t.spread, 1);
    CHECK(t.iterations <= 8);        // measured 6
    CHECK_BELOW(t.primary, 1e-14);   // all 72 rows; measured 4.0e-16
    CHECK_BELOW(t.secondary, 5e-14); // of the speed; measured 7.9e-16
    CHECK_BELOW(fmax(t.high, -t.low) / fabs(t.start_energy), 0.01); // measured 5.9e-3
    ggl_run_end(&r);
}

static ggl_run ladder_run(int count, double h)
{
    mechanism m = ladder_mechanism(count, 1.0, false);
    return start_mechanism(&m, BOTH[0], h);
}

TEST(ggl_loops, other_loops_run_with_theirs)
{
    static const struct {
        const char *model;                  // NULL: a ladder
        int redundant;                      // rows, or four-bars of the ladder
        double band;                        // of the energy at the start
    } CASES[] = {{"four-bar", 3, 0.03},     // measured 0.0173
                 {"bricard", 1, 1e-3},      // measured 3.7e-4
                 {"slider-crank", 3, 0.02}, // measured 0.0106
                 {"rssr", 0, 0.02},         // measured 0.0133
                 {NULL, 1, 2e-3},           // measured 9.4e-4
                 {NULL, 3, 2e-3},           // measured 9.0e-4
                 {NULL, 20, 2e-3}};         // measured 8.8e-4
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        bool ladder = CASES[i].model == NULL;
        ggl_run r = ladder ? ladder_run(CASES[i].redundant, 1e-3)
                           : ggl_run_model(CASES[i].model, BOTH[0], 0.0);
        loop_record t = run_loop(&r, ladder ? 500 : 1000);
        CHECK_EQUAL(t.redundant, (ladder ? 3 : 1) * CASES[i].redundant);
        CHECK_EQUAL(t.spread, t.redundant);
        CHECK(t.iterations <= 6);        // measured 4
        CHECK_BELOW(t.primary, 1e-13);   // measured 5.3e-15
        CHECK_BELOW(t.secondary, 5e-14); // measured 6.6e-16
        CHECK_BELOW((t.high - t.low) / fabs(t.start_energy), CASES[i].band);
        ggl_run_end(&r);
    }
}

// All six distances between four points of a plane: one follows from the others, but round no loop of bars is there a
// self-stress. The row that the rank decision names is then left out on both levels.
TEST(ggl_loops, a_redundancy_that_no_loop_has_alone_drops_a_row)
{
    static const double PLACES[4][2] = {{0.0, 0.0}, {1.0, 0.1}, {1.2, 0.9}, {-0.1, 1.0}};
    for (int s = 0; s < 2; ++s) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        world.gravity = (hn_vec3){0.0, 0.0, 0.0};
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_id id[4];
        for (int i = 0; i < 4; ++i) {
            hn_body_def def = hn_body_def_default();
            char name[8];
            snprintf(name, sizeof name, "p%d", i);
            def.name = name;
            def.kind = HN_BODY_PLANAR_POINT_MASS;
            def.plane_normal = (hn_vec3){0.0, 0.0, 1.0};
            def.mass = 1.0 + 0.5 * i;
            def.position = (hn_vec3){PLACES[i][0], PLACES[i][1], 0.0};
            CHECK_OK(context, hn_model_add_body(model, &def, &id[i]));
            // turning about the origin
            CHECK_OK(context,
                     hn_model_set_velocity(
                         model, id[i], (hn_vec3){-3.0 * PLACES[i][1], 3.0 * PLACES[i][0], 0.0}));
        }
        for (int a = 0; a < 4; ++a)
            for (int b = a + 1; b < 4; ++b) {
                hn_joint_def def = hn_joint_def_default(HN_JOINT_DISTANCE);
                hn_joint_id id_of_joint;
                char name[8];
                snprintf(name, sizeof name, "d%d%d", a, b);
                def.name = name;
                def.body_a = id[a];
                def.body_b = id[b];
                def.separate_points = true;
                def.point_a = (hn_vec3){PLACES[a][0], PLACES[a][1], 0.0};
                def.point_b = (hn_vec3){PLACES[b][0], PLACES[b][1], 0.0};
                CHECK_OK(context, hn_model_add_joint(model, &def, &id_of_joint));
            }
        ggl_run r = ggl_run_start(context, model, BOTH[s], 0.002);
        loop_record t = run_loop(&r, 500);
        CHECK_EQUAL(t.redundant, 1);
        CHECK_EQUAL(t.spread, 0);
        CHECK_BELOW(t.primary, 1e-13);   // measured 1.6e-15
        CHECK_BELOW(t.secondary, 5e-14); // measured 8.0e-16
        ggl_run_end(&r);
    }
}

// A parallelogram that lies flat has a fourth self-stress, which it loses as soon as it moves. Its cranks, of unlike
// inertia, fall together only with a force that the flat position does not know: forces of the variational form act at
// q_n, those of the classical form at q_n+1.
TEST(ggl_loops, a_self_stress_may_be_lost_within_a_step)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    for (int s = 0; s < 2; ++s) {
        mechanism m = mechanism_create(8, vec3(0.0, -9.81, 0.0));
        for (int k = 0; k < 3; ++k) {
            double at = k < 2 ? (double)k : 1.0;
            mechanism_bar(&m, vec3(at, 0.0, 0.0), vec3(at + 1.0, 0.0, 0.0), 1.0, 0.1);
            if (k == 1) m.bodies[k].inertia = vec3_scale(3.0, m.bodies[k].inertia);
            m.bodies[k].omega = vec3(0.0, 0.0, k < 2 ? 2.0 : 0.0);
            m.bodies[k].velocity = vec3(0.0, k < 2 ? 1.0 : 2.0, 0.0);
        }
        for (int k = 0; k < 2; ++k) {
            hn_vec3 foot = {(double)k, 0.0, 0.0}, tip = {k + 1.0, 0.0, 0.0};
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, k, foot, z);
            mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k, 2, tip, z);
        }
        m.moving = true;
        ggl_run r = start_mechanism(&m, BOTH[s], 0.002);
        if (s == 0) {
            CHECK_EQUAL(ggl_try(&r), HN_SINGULAR_SYSTEM);
        } else {
            loop_record t = run_loop(&r, 5);
            CHECK_EQUAL(t.redundant, 3);
            CHECK_BELOW(t.primary, 2e-14); // measured 2.2e-16
        }
        ggl_run_end(&r);
    }
}

// ---- order ------------------------------------------------------------------------------------------------

TEST(ggl_loops, variational_is_first_order_on_the_linkage)
{
    enum { INDEX = 0, MOVING = 5 };
    reference *ref = reference_load("six_body_linkage.json");
    double times[32], last = 0.0, order = 0.0;
    CHECK(reference_numbers(ref, "/times", times, 32) > INDEX); // t = 0.01
    for (int k = 0; k < 3; ++k) {
        int steps = 320 << k; // terms of second and third order have died away
        double error = 0.0, expected[POSE_SIZE];
        ggl_run r = ggl_run_model("six-body-linkage", BOTH[0], times[INDEX] / steps);
        ggl_advance(&r, steps);
        for (int body = 0; body < MOVING; ++body) {
            char name[64];
            snprintf(name, sizeof name, "/states_bodies_1_to_5/%d/%d/q", INDEX, body);
            CHECK_EQUAL(reference_numbers(ref, name, expected, POSE_SIZE), POSE_SIZE);
            hn_vec3 place = vec3_load(system_pose(r.state.q, r.system->tree_place[body + 1]));
            error = fmax(error, vec3_norm(vec3_subtract(place, vec3_load(expected))));
        }
        order = k > 0 ? log2(last / error) : 0.0;
        print_message("%d steps: error %.3g m, order %.3f\n", steps, error, order);
        last = error;
        ggl_run_end(&r);
    }
    CHECK_NEAR(order, 1.0, 0.05); // measured 0.968
    reference_destroy(ref);
}
