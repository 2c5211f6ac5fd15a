// SPDX-License-Identifier: MIT
// The motion of mechanisms with loops does not depend on numbering, on who is a and who is b, on place, or on the root.
#include "physics/rods.h"
#include "physics/linkage.h"

enum { STEPS = 200, GGL_STEPS = 80 };
static const double SAME = 1e-9; // m and parts of unit vectors

static mechanism rssr(void)
{
    const hn_vec3 p[4] = {{0.0, 0.0, 0.0}, {0.0, 0.3, 0.2}, {0.8, 0.4, 0.6}, {0.9, 0.2, 0.0}};
    mechanism m = mechanism_create(4, vec3(0.0, 0.0, -9.81));
    for (int k = 0; k < 3; ++k) mechanism_bar(&m, p[k], p[k + 1], 3.0 + k, 0.04);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0, p[0], vec3(1.0, 0.0, 0.0));
    m.joints[0].has_rate = true;
    m.joints[0].rate = 8.0;
    mechanism_joint_between(&m, HN_JOINT_SPHERICAL, 0, 1, p[1], vec3(0.0, 0.0, 1.0));
    mechanism_joint_between(&m, HN_JOINT_SPHERICAL, 1, 2, p[2], vec3(0.0, 0.0, 1.0));
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 2, p[3], unit3(0.2, 1.0, 0.0));
    mechanism_fix_start(&m);
    return m;
}

// Largest difference along the motion between the mechanism as it is, moved afterwards, and built the other way.
static double difference(const mechanism *m, const mechanism_variant *v, hn_scheme scheme,
                         hn_reduction way, double h)
{
    mechanism_run a = mechanism_begin(m, &AS_IT_IS, scheme, HN_REDUCTION_REDUCED, h, false);
    mechanism_run b = mechanism_begin(m, v, scheme, way, h, false);
    int steps =
        scheme == HN_SCHEME_ENERGY_MOMENTUM || scheme == HN_SCHEME_VARIATIONAL ? STEPS : GGL_STEPS;
    double worst = mechanism_difference(&a, &b, v), moved = 0.0;
    CHECK(hn_simulation_structure(b.r.sim).velocity_projection < 1e-12);
    for (int n = 0; n < steps; ++n) {
        run_step(&a.r, 1);
        run_step(&b.r, 1);
        worst = fmax(worst, mechanism_difference(&a, &b, v));
        hn_body_state s = run_body(&a.r, a.body[m->body_count - 1]);
        moved = fmax(moved,
                     vec3_norm(vec3_subtract(s.position, m->bodies[m->body_count - 1].position)));
    }
    CHECK(moved > 0.01); // there was a motion
    mechanism_end(&a);
    mechanism_end(&b);
    return worst;
}

enum { MECHANISMS = 4 };
static const char *const NAMES[MECHANISMS] = {"linkage", "flying linkage", "rssr", "ladder of 3"};

static mechanism make(int which)
{
    return which == 0   ? linkage_mechanism(false)
           : which == 1 ? linkage_mechanism(true)
           : which == 2 ? rssr()
                        : ladder_mechanism(3, 1.0, false);
}

// The schemes of closed loops, and both GGL schemes, which bring their own solver.
enum { SCHEME_COUNT = LOOP_SCHEME_COUNT + 2 };
static const hn_scheme ALL_SCHEMES[SCHEME_COUNT] = {
    HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL, HN_SCHEME_GGL_VARIATIONAL,
    HN_SCHEME_GGL_CLASSICAL};

// All mechanisms, the first `schemes` schemes; `change` is completed with orders by `reorder`: 0 as they are,
// 1 backwards, 2 odd ones first.
static void check_all(const char *what, mechanism_variant change, int reorder_bodies,
                      int reorder_joints, int schemes, hn_reduction way)
{
    double all = 0.0;
    for (int k = 0; k < MECHANISMS; ++k) {
        mechanism m = make(k);
        int bodies[16], joints[16];
        const int counts[2] = {m.body_count, m.joint_count},
                  kinds[2] = {reorder_bodies, reorder_joints};
        int *orders[2] = {bodies, joints};
        CHECK(m.body_count <= 16 && m.joint_count <= 16);
        for (int o = 0; o < 2; ++o)
            for (int i = 0; i < counts[o]; ++i) {
                int n = counts[o], odd = n / 2;
                orders[o][i] = kinds[o] == 0   ? i
                               : kinds[o] == 1 ? n - 1 - i
                               : i < odd       ? 2 * i + 1
                                               : 2 * (i - odd);
            }
        change.body_order = bodies;
        change.joint_order = joints;
        for (int s = 0; s < schemes; ++s) {
            double worst = difference(&m, &change, ALL_SCHEMES[s], way,
                                      k < 2    ? 1e-3
                                      : k == 2 ? 2e-3
                                               : 5e-3);
            if (!(worst < SAME))
                print_error("%s: %s, %s: %.3g\n", what, NAMES[k], hn_scheme_name(ALL_SCHEMES[s]),
                            worst);
            CHECK_BELOW(worst, SAME); // measured 8.8e-13
            all = fmax(all, worst);
        }
        mechanism_destroy(&m);
    }
    MEASURED(all);
}

static mechanism_variant moved(void)
{
    mechanism_variant v = AS_IT_IS;
    v.turn = rotation_exponential(vec3(1.1, -0.7, 2.0));
    v.shift = vec3(3.0, -2.0, 1.5);
    return v;
}

TEST(loop_invariance, moving_and_turning_the_whole_model)
{
    check_all("moved", moved(), 0, 0, SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(loop_invariance, numbering_of_bodies_and_root)
{
    check_all("bodies backwards", AS_IT_IS, 1, 0, SCHEME_COUNT, HN_REDUCTION_REDUCED);
    check_all("odd bodies first", AS_IT_IS, 2, 0, SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(loop_invariance, numbering_of_joints_and_choice_of_cuts)
{
    check_all("joints backwards", AS_IT_IS, 0, 1, SCHEME_COUNT, HN_REDUCTION_REDUCED);
    check_all("odd joints first", AS_IT_IS, 0, 2, SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(loop_invariance, the_orders_do_change_root_and_cuts)
{
    mechanism m = linkage_mechanism(true);
    static const int BACK[6] = {5, 4, 3, 2, 1, 0};
    mechanism_variant v = AS_IT_IS;
    v.body_order = BACK;
    mechanism_run a = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                      HN_REDUCTION_REDUCED, 1e-3, false);
    mechanism_run b =
        mechanism_begin(&m, &v, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
    CHECK_TEXT(a.r.sim->system->bodies[0].name, "b0");
    CHECK_TEXT(b.r.sim->system->bodies[0].name, "b5");
    CHECK(mechanism_cut_joint(&a, 0) != mechanism_cut_joint(&b, 0));
    mechanism_end(&a);
    mechanism_end(&b);
    mechanism_destroy(&m);
}

TEST(loop_invariance, body_a_and_body_b_change_places)
{
    mechanism_variant v = AS_IT_IS;
    v.swap = true;
    check_all("swapped", v, 0, 0, LOOP_SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(loop_invariance, all_at_once_with_the_other_reductions)
{
    mechanism_variant v = moved();
    v.swap = true;
    for (int w = 1; w < HN_REDUCTION_COUNT; ++w)
        check_all("all at once", v, 1, 2, LOOP_SCHEME_COUNT, REDUCTIONS[w]);
}

static mechanism_run wound_up(const mechanism *m, const mechanism_variant *v, hn_scheme scheme)
{
    mechanism_run x = mechanism_build(m, v);
    hn_torsion_spring_def coil = hn_torsion_spring_def_default();
    for (int k = 0; k < m->joint_count; k += 2) {
        hn_load_id id;
        if (m->joints[k].kind != HN_JOINT_REVOLUTE) continue;
        coil.joint = x.joint[k];
        coil.stiffness = 0.02 * (1 + k);
        coil.rest_angle = 0.7;
        CHECK_OK(x.r.context, hn_model_add_torsion_spring(x.r.model, &coil, &id));
    }
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = 2e-3;
    mechanism_start(&x, &def);
    return x;
}

// Angles within a step depend a little on the directions that they are measured by: these go with the bodies.
TEST(loop_invariance, torsional_springs_in_a_model_that_is_turned)
{
    mechanism m = linkage_mechanism(true);
    mechanism_variant v = moved();
    double worst = 0.0;
    for (int s = 0; s < LOOP_SCHEME_COUNT; ++s) {
        mechanism_run x = wound_up(&m, &AS_IT_IS, LOOP_SCHEMES[s]);
        mechanism_run y = wound_up(&m, &v, LOOP_SCHEMES[s]);
        run_step(&x.r, 40);
        run_step(&y.r, 40);
        double one = mechanism_difference(&x, &y, &v);
        print_message("%s: %.2g\n", hn_scheme_name(LOOP_SCHEMES[s]), one);
        worst = fmax(worst, one);
        mechanism_end(&x);
        mechanism_end(&y);
    }
    CHECK_BELOW(worst, 5e-13); // m and parts of unit vectors; measured 9.1e-15
    mechanism_destroy(&m);
}

// One rate for two degrees of freedom, the coupler's spin left open: of least kinetic energy, whichever way it is
// written.
TEST(loop_invariance, rates_that_are_too_few)
{
    static const int BODIES[] = {2, 0, 1}, JOINTS[] = {3, 2, 1, 0};
    mechanism m = rod_coupler(0.1);
    m.joints[1].kind = HN_JOINT_SPHERICAL;
    mechanism_variant changed = moved();
    changed.body_order = BODIES, changed.joint_order = JOINTS, changed.swap = false;
    mechanism_run x = mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM,
                                      HN_REDUCTION_REDUCED, 2e-3, false);
    mechanism_run y =
        mechanism_begin(&m, &changed, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3, false);
    hn_joint_state crank;
    CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[0], &crank));
    CHECK_NEAR(crank.rates[0], 5.0, 1e-12);
    // at its least the energy does not change with the spin: the coupler has none about its own line
    hn_body_state rod = run_body(&x.r, x.body[1]);
    CHECK_BELOW(vec3_dot(mat3_column(&rod.orientation, 0), rod.angular_velocity), 1e-12);
    run_step(&x.r, 250);
    run_step(&y.r, 250);
    double worst = mechanism_difference(&x, &y, &changed);
    CHECK_BELOW(worst, SAME); // measured 1.3e-12
    mechanism_end(&x);
    mechanism_end(&y);
    mechanism_destroy(&m);
}

// Largest difference of reactions on a body, of the largest force or torque.
static double reaction_difference(const mechanism *m, const mechanism_variant *v, hn_scheme scheme,
                                  hn_reduction way)
{
    mechanism_run x = mechanism_begin(m, &AS_IT_IS, scheme, way, 1e-3, false);
    mechanism_run y = mechanism_begin(m, v, scheme, way, 1e-3, false);
    double worst = 0.0, largest = 0.0;
    run_step(&x.r, 60);
    run_step(&y.r, 60);
    for (int k = 0; k < m->joint_count; ++k) {
        hn_joint_state a, b;
        CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[k], &a));
        CHECK_OK(y.r.context, hn_simulation_joint_state(y.r.sim, y.joint[k], &b));
        CHECK_EQUAL(a.reaction_unique, b.reaction_unique);
        worst = fmax(worst, vec3_norm(vec3_subtract(a.reaction_force, b.reaction_force)));
        worst = fmax(worst, vec3_norm(vec3_subtract(a.reaction_torque, b.reaction_torque)));
        largest = fmax(largest, fmax(vec3_norm(a.reaction_force), vec3_norm(a.reaction_torque)));
    }
    mechanism_end(&x);
    mechanism_end(&y);
    return worst / largest;
}

// Of minimum norm where joints share a self-stress, also where it is exact at the ends of a step alone: the linkage in
// flight has seven degrees of freedom.
TEST(loop_invariance, reactions_that_share_a_self_stress)
{
    static const int BODIES[] = {3, 0, 5, 1, 4, 2}, JOINTS[] = {2, 5, 0, 4, 1, 3, 6};
    for (int flying = 0; flying < 2; ++flying)
        for (int s = 0; s < LOOP_SCHEME_COUNT; ++s)
            for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                mechanism m = linkage_mechanism(flying == 1);
                mechanism_variant v = AS_IT_IS;
                v.body_order = BODIES, v.joint_order = JOINTS;
                double worst = reaction_difference(&m, &v, LOOP_SCHEMES[s], REDUCTIONS[w]);
                print_message("%s, %s, %s: %.2g\n", flying == 1 ? "flying" : "fixed",
                              hn_scheme_name(LOOP_SCHEMES[s]), hn_reduction_name(REDUCTIONS[w]),
                              worst);
                CHECK_BELOW(worst, 3e-9); // measured 4.3e-11
                mechanism_destroy(&m);
            }
}

// Forces of the linkage in flight on each body: what changes its momentum in a step of energy-momentum.
TEST(loop_invariance, shared_reactions_balance_the_linkage_in_flight)
{
    enum { BODIES = 6 };
    const double h = 1e-3;
    double worst = 0.0, largest = 0.0;
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
        mechanism m = linkage_mechanism(true);
        mechanism_run x =
            mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[w], h, false);
        for (int n = 0; n < 50; ++n) {
            hn_vec3 before[BODIES], force[BODIES] = {{0.0, 0.0, 0.0}};
            for (int i = 0; i < BODIES; ++i) before[i] = run_body(&x.r, x.body[i]).linear_momentum;
            run_step(&x.r, 1);
            for (int k = 0; k < m.joint_count; ++k) {
                hn_joint_state state;
                CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[k], &state));
                force[m.joints[k].b] = vec3_add(force[m.joints[k].b], state.reaction_force);
                force[m.joints[k].a] = vec3_subtract(force[m.joints[k].a], state.reaction_force);
            }
            for (int i = 0; i < BODIES; ++i) {
                hn_vec3 change = vec3_scale(
                    1.0 / h, vec3_subtract(run_body(&x.r, x.body[i]).linear_momentum, before[i]));
                worst = fmax(worst, vec3_norm(vec3_subtract(change, force[i])));
                largest = fmax(largest, vec3_norm(change));
            }
        }
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
    CHECK_BELOW(worst / largest, 2e-11); // measured 2.1e-13
}
