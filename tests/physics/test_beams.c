// SPDX-License-Identifier: MIT
// Beams in the engine: free flight, the three-bar swing of LMO section 6.2, beams in trees and loops, cost.
#include "physics/run.h"

#include "support/generic_models.h"

static const double PI = 3.14159265358979323846;

// Soft material, 50 mm x 30 mm.
static hn_beam_def rubber(hn_context *context)
{
    hn_beam_def def = hn_beam_def_default();
    hn_beam_material material = hn_beam_material_default();
    material.young = 3e6;
    material.density = 1100.0;
    CHECK_OK(context, hn_beam_section_rectangle(context, &material, 0.05, 0.03, &def.section));
    return def;
}

// ---- free flight ------------------------------------------------------------------------------------

TEST(beams, free_flight_keeps_energy_and_momenta)
{
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
        run r = run_model("flying-beam", HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[w], 0.0, true);
        hn_ledger ledger;
        run_step(&r, 500); // 10,000 in test_long_beams.c
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12);           // measured 7.1e-14
        CHECK_BELOW(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error, 1e-12);  // measured 2.8e-14
        CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 5e-13); // measured 6.1e-15
        CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-14);      // measured 3e-16
        run_end(&r);
    }
}

TEST(beams, variational_keeps_momenta_and_its_energy_band)
{
    double band[2];
    for (int k = 0; k < 2; ++k) {
        run r = run_model("flying-beam", HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED,
                          k == 0 ? 0.002 : 0.001, true);
        hn_ledger ledger;
        run_step(&r, k == 0 ? 2000 : 4000);
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        band[k] = ledger.entry[HN_PROMISE_ENERGY].error;
        CHECK_BELOW(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error, 1e-13);  // measured 2e-15
        CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 1e-13); // measured 2e-15
        run_end(&r);
    }
    CHECK_BELOW(band[0], 1e-4);           // relative; measured 3.4e-6
    CHECK_BELOW(band[1] / band[0], 0.35); // order two; measured 0.26
}

// momenta of the nine components alone: none on d3 (LMO 114), projected ones tangent (LMO 115, 116)
TEST(beams, third_directors_carry_no_momentum)
{
    run r = run_model("flying-beam", HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 0.0, false);
    double p[RUN_COORDINATES_MAX], projected[RUN_COORDINATES_MAX], worst = 0.0, size = 0.0;
    hn_legendre legendre = {.constrained = p, .projected = projected};
    hn_constraint_state constraints;
    run_step(&r, 100);
    CHECK_OK(r.context, hn_simulation_legendre(r.sim, &legendre));
    for (int k = 0; k < r.coordinate_count; ++k) {
        if (k % 12 >= 9) worst = fmax(worst, fabs(projected[k]));
        size = fmax(size, fabs(projected[k]));
    }
    CHECK_EQUAL(worst, 0.0);
    CHECK_OK(r.context, hn_simulation_constraints(r.sim, &constraints));
    CHECK_BELOW(constraints.hidden_projected, 3e-13); // rad/s; measured 5e-15
    CHECK_BELOW(size, 10.0);
    run_end(&r);
}

TEST(beams, velocities_reported_are_those_given)
{
    run r = run_model("flying-beam", HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 0.0, false);
    double worst = 0.0;
    hn_vec3 origin = run_body(&r, hn_model_find_body(r.model, "bow.start")).position;
    for (int i = 0; i <= 10; ++i) {
        hn_body_state s = run_body(&r, hn_model_beam_node(r.model, hn_model_beam(r.model, 0), i));
        const hn_vec3 omega = {2.0, 5.0, 4.0};
        hn_vec3 v =
            vec3_add(vec3(0.5, 0.0, 1.0), vec3_cross(omega, vec3_subtract(s.position, origin)));
        worst = fmax(worst, vec3_norm(vec3_subtract(s.velocity, v)));
        worst = fmax(worst, vec3_norm(vec3_subtract(s.angular_velocity, omega)));
    }
    CHECK_BELOW(worst, 2e-13); // m/s, rad/s; measured 4e-15
    run_end(&r);
}

// ---- three-bar swing --------------------------------------------------------------------------------

TEST(three_bar_swing, counts_are_those_of_the_paper)
{
    const int unknowns[HN_REDUCTION_COUNT] = {122, 276, 430};
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
        run r = run_model("three-bar-swing", HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[w], 0.0, false);
        hn_structure s = hn_simulation_structure(r.sim);
        CHECK_EQUAL(s.coordinate_count, 276);
        CHECK_EQUAL(s.constraint_count, 154);
        CHECK_EQUAL(s.constraint_rank, 154);
        CHECK_EQUAL(s.degrees_of_freedom, 122);
        CHECK_EQUAL(s.unknown_count, unknowns[w]); // LMO Table 2
        run_end(&r);
    }
}

// LMO Table 2: with multipliers within 30 % (the paper prints one digit), on the manifold the same order of magnitude.
TEST(three_bar_swing, condition_numbers_are_those_of_the_paper)
{
    const struct {
        hn_scheme scheme;
        hn_reduction reduction;
        double step, paper;
    } cases[] = {
        {HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_MULTIPLIERS, 1e-2, 2e12}, // measured 1.8e12
        {HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_MULTIPLIERS, 1e-3, 2e14}, // measured 2.0e14
        {HN_SCHEME_VARIATIONAL, HN_REDUCTION_MULTIPLIERS, 1e-2, 6e11},     // measured 4.5e11
        {HN_SCHEME_VARIATIONAL, HN_REDUCTION_MULTIPLIERS, 1e-3, 5e13},     // measured 5.0e13
        {HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-2, 4e4},      // measured 7.9e4
        {HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, 9e4},      // measured 1.8e5
        {HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1e-2, 5e4},          // measured 7.9e4
        {HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1e-3, 9e4},          // measured 1.8e5
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        run r =
            run_model("three-bar-swing", cases[k].scheme, cases[k].reduction, cases[k].step, false);
        double condition;
        run_step(&r, 20);
        CHECK_OK(r.context, hn_simulation_condition(r.sim, &condition));
        double off = fabs(log10(condition / cases[k].paper));
        CHECK_BELOW(off, cases[k].reduction == HN_REDUCTION_REDUCED ? 0.5 : log10(1.0 / 0.7));
        run_end(&r);
    }
}

static hn_energy energy_of(const run *r)
{
    hn_energy e;
    CHECK_OK(r->context, hn_simulation_energy(r->sim, &e));
    return e;
}

// angle of the right link in the plane
static double right_link(const run *r)
{
    hn_vec3 p = run_body(r, hn_model_find_body(r->model, "right")).position;
    return atan2(p.z - 0.36, p.y - 1.08);
}

typedef struct swing_run {
    double energy_change;             // after the pulse, relative
    double reversal;                  // s, when the right link turns round after 1.3 s
    double out_of_plane;              // momenta that should be zero, relative
    double axial_before, axial_after; // N, largest axial force from 0.5 s to 1.3 s and after
} swing_run;

static swing_run swing(hn_scheme scheme, double step)
{
    run r = run_model("three-bar-swing", scheme, HN_REDUCTION_REDUCED, step, false);
    swing_run out = {0};
    hn_beam_id bar = hn_model_beam(r.model, 0);
    double reference = 0.0, before = 0.0, last = 0.0, size = 0.0;
    int count = (int)lround(2.0 / step);
    for (int n = 1; n <= count; ++n) {
        run_step(&r, 1);
        double t = n * step, angle = right_link(&r);
        hn_energy e = energy_of(&r);
        double total = e.kinetic + e.potential;
        if (t > 0.255 && reference == 0.0) reference = total;
        if (reference != 0.0)
            out.energy_change = fmax(out.energy_change, fabs(total - reference) / reference);
        if (t > 1.3 && out.reversal == 0.0 && n > 2 && (angle - last) * (last - before) < 0.0)
            out.reversal = t;
        before = last, last = angle;
        hn_vec3 linear, angular;
        hn_beam_element_state state;
        CHECK_OK(r.context, hn_simulation_momentum(r.sim, &linear, &angular));
        size = fmax(size, vec3_norm(angular));
        out.out_of_plane = fmax(out.out_of_plane, fabs(linear.x));
        out.out_of_plane = fmax(out.out_of_plane, fmax(fabs(angular.y), fabs(angular.z)));
        CHECK_OK(r.context, hn_simulation_beam_element(r.sim, bar, 10, &state));
        double *axial = t <= 1.3 ? &out.axial_before : &out.axial_after;
        if (t > 0.5) *axial = fmax(*axial, fabs(state.resultant[2])); // the pulse is over
    }
    out.out_of_plane /= size;
    run_end(&r);
    return out;
}

TEST(three_bar_swing, passes_event_x)
{
    swing_run e = swing(HN_SCHEME_ENERGY_MOMENTUM, 1e-2), v = swing(HN_SCHEME_VARIATIONAL, 1e-2),
              fine = swing(HN_SCHEME_ENERGY_MOMENTUM, 1e-3);
    CHECK_BELOW(e.energy_change, 1e-12);    // after the pulse; measured 2e-14
    CHECK_BELOW(fine.energy_change, 1e-12); // measured 5e-14
    CHECK_BELOW(v.energy_change, 5e-3);     // measured 1.4e-3
    CHECK(v.energy_change > 1e-5);          // it oscillates
    CHECK_NEAR(e.reversal, 1.47, 0.02);     // s; errata.md: about 1.47
    CHECK_NEAR(v.reversal, 1.47, 0.02);
    CHECK_NEAR(fine.reversal, 1.47, 0.02);
    CHECK_BELOW(e.out_of_plane, 5e-14);               // measured 1e-15
    CHECK_BELOW(v.out_of_plane, 5e-14);               // measured 1e-15
    CHECK_BELOW(e.axial_before / e.axial_after, 0.5); // measured 0.2
}

// All stiffnesses a hundred times as large. LMO reports that the variational scheme blows up at event X with a stiff
// material (another one, with a tenth of this density); here both pass.
TEST(three_bar_swing, stiff_material_passes_event_x)
{
    const hn_scheme schemes[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL};
    for (int k = 0; k < 2; ++k) {
        run r = run_model("three-bar-swing-stiff", schemes[k], HN_REDUCTION_REDUCED, 0.01, true);
        hn_ledger ledger;
        run_step(&r, 200);
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        // measured 2.5e-14; 1.1e-3
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, k == 0 ? 1e-12 : 1e-2);
        CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 5e-15); // m; measured 1e-16
        run_end(&r);
    }
}

// ---- at rest ----------------------------------------------------------------------------------------

// A cantilever of n linear elements rolled up by the moment 2 pi EI/L, at rest: its tip in the plane, by its length.
static hn_vec3 rolled_up(int elements)
{
    hn_context *context = hn_context_create(NULL);
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    hn_model *model = NULL;
    hn_beam_id beam;
    hn_joint_id id;
    hn_load_id load_id;
    CHECK_OK(context, hn_model_create(context, &world, &model));
    const hn_vec3 points[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const double diagonal[6] = {2e4, 2e4, 4e4, 10.0, 10.0, 8.0};
    hn_beam_def def = hn_beam_def_default();
    for (int i = 0; i < 6; ++i) def.section.stiffness[i][i] = diagonal[i];
    def.section.mass = 1.0;
    def.section.inertia[0] = def.section.inertia[1] = 1e-3;
    def.points = points;
    def.point_count = 2;
    def.element_count = elements;
    def.element = HN_BEAM_LINEAR;
    def.direction = (hn_vec3){0.0, 1.0, 0.0};
    def.damping = 0.05;
    CHECK_OK(context, hn_model_add_beam(model, &def, &beam));
    hn_joint_def clamp = hn_joint_def_default(HN_JOINT_FIXED);
    clamp.body_a = hn_ground();
    clamp.body_b = hn_model_beam_node(model, beam, 0);
    CHECK_OK(context, hn_model_add_joint(model, &clamp, &id));
    const double times[2] = {0.0, 4.0}, factors[2] = {0.0, 1.0};
    hn_load_def load = hn_load_def_default();
    load.torque = true;
    load.body = hn_model_beam_node(model, beam, elements);
    load.vector = (hn_vec3){0.0, -2.0 * PI * 10.0, 0.0};
    load.profile =
        (hn_profile){.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 2};
    CHECK_OK(context, hn_model_add_load(model, &load, &load_id));
    hn_simulation *sim = NULL;
    hn_simulation_def run_def = hn_simulation_def_default();
    hn_body_state tip;
    run_def.step_size = 0.02;
    CHECK_OK(context, hn_simulation_create(model, &run_def, &sim));
    CHECK_OK(context, hn_simulation_step(sim, 600));
    CHECK_OK(context,
             hn_simulation_body_state(sim, hn_model_beam_node(model, beam, elements), &tip));
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return tip.position;
}

// Linear elements under a moment alone turn by sin 2 theta = 2 M l/EI and have no strain but bending (theory/beams.md).
TEST(roll_up, tip_is_where_the_elements_must_take_it_and_converges_with_order_two)
{
    const int counts[3] = {20, 40, 80};
    double error[3];
    for (int k = 0; k < 3; ++k) {
        int n = counts[k];
        double angle = 0.5 * asin(4.0 * PI / n), x = 0.0, z = 0.0;
        for (int i = 0; i < n; ++i) {
            x += cos((i + 0.5) * angle) / (n * cos(0.5 * angle));
            z += sin((i + 0.5) * angle) / (n * cos(0.5 * angle));
        }
        hn_vec3 tip = rolled_up(n);
        CHECK_BELOW(hypot(tip.x - x, tip.z - z), 1e-8); // m; measured 1.6e-10
        error[k] = hypot(tip.x, tip.z);                 // the exact circle ends at the origin
    }
    CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.25); // measured 2.16
    CHECK_NEAR(log2(error[1] / error[2]), 2.0, 0.1);  // measured 2.04
}

// ---- in trees and loops -----------------------------------------------------------------------------

// A rigid hub with a straight, a twisted and a curved beam, a body at the end of one of them on a ball joint, the tips
// of two others joined by a bar that closes a loop, one of them clamped to the bar redundantly; gravity and a line
// load. Beams of linear or quadratic elements.
static hn_model *assembly(hn_context *context, int order)
{
    number_source numbers = {31};
    hn_model_def world = hn_model_def_default();
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def hub = hn_body_def_default();
    hn_body_id hub_id, ball, bar;
    hub.name = "hub";
    hub.mass = 3.0;
    hub.inertia = (hn_vec3){0.05, 0.04, 0.03};
    CHECK_OK(context, hn_model_add_body(model, &hub, &hub_id));
    const hn_vec3 straight[2] = {{0.1, 0.0, 0.0}, {0.9, 0.0, 0.1}},
                  curved[3] = {{0.0, 0.1, 0.0}, {0.0, 0.5, 0.2}, {0.0, 0.7, 0.6}},
                  twisted[2] = {{0.0, 0.1, 0.3}, {0.6, 0.7, 0.6}};
    hn_beam_id beams[3];
    hn_body_id tips[3];
    for (int i = 0; i < 3; ++i) {
        hn_beam_def def = rubber(context);
        def.points = i == 0 ? straight : i == 1 ? curved : twisted;
        def.point_count = i == 1 ? 3 : 2;
        def.shape = i == 1 ? HN_BEAM_ARC : HN_BEAM_POLYLINE;
        def.twist = i == 2 ? 0.8 : 0.0;
        def.element_count = order == 1 ? 4 + i : 2 + i;
        def.order = order;
        def.section.stiffness[0][3] = def.section.stiffness[3][0] = 0.5; // coupled, as a blade is
        def.damping = i == 2 ? 1e-3 : 0.0;
        CHECK_OK(context, hn_model_add_beam(model, &def, &beams[i]));
        tips[i] = hn_model_beam_node(model, beams[i], order * def.element_count);
        hn_joint_def root = hn_joint_def_default(HN_JOINT_FIXED);
        hn_joint_id id;
        root.body_a = hub_id;
        root.body_b = hn_model_beam_node(model, beams[i], 0);
        root.point_a = hn_model_body_position(model, root.body_b);
        CHECK_OK(context, hn_model_add_joint(model, &root, &id));
    }
    hub.name = "ball";
    hub.mass = 0.3;
    hub.inertia = (hn_vec3){0.001, 0.002, 0.0015};
    hub.position = (hn_vec3){0.95, 0.05, 0.1};
    CHECK_OK(context, hn_model_add_body(model, &hub, &ball));
    hub.name = "bar";
    hub.position = (hn_vec3){0.3, 0.7, 0.6};
    CHECK_OK(context, hn_model_add_body(model, &hub, &bar));
    const struct {
        hn_joint_kind kind;
        hn_body_id a, b;
    } joints[] = {
        {HN_JOINT_SPHERICAL, ball, tips[0]},
        {HN_JOINT_REVOLUTE, tips[1], bar},
        {HN_JOINT_UNIVERSAL, bar, tips[2]},
        {HN_JOINT_SPHERICAL, bar, tips[2]}, // follows from the one before
    };
    for (size_t k = 0; k < sizeof joints / sizeof joints[0]; ++k) {
        hn_joint_def def = hn_joint_def_default(joints[k].kind);
        hn_joint_id id;
        def.body_a = joints[k].a;
        def.body_b = joints[k].b;
        def.point_a = hn_model_body_position(
            model, hn_model_body_kind(model, joints[k].b) == HN_BODY_BEAM_NODE ? joints[k].b
                                                                               : joints[k].a);
        def.axis_a = (hn_vec3){1.0, 0.0, 0.0};
        def.axis_b = (hn_vec3){0.0, 1.0, 0.0};
        CHECK_OK(context, hn_model_add_joint(model, &def, &id));
    }
    hn_beam_load_def load = hn_beam_load_def_default();
    load.beam = beams[0];
    load.body_fixed = true;
    load.vector = next_vector(&numbers, 3.0);
    CHECK_OK(context, hn_model_add_beam_load(model, &load));
    CHECK_OK(context, hn_model_set_velocity(model, hub_id, (hn_vec3){0.2, 0.1, 0.5}));
    return model;
}

static run run_assembly(int order, hn_scheme scheme, hn_reduction way, double step, bool ledger)
{
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    return run_start(context, assembly(context, order), scheme, way, step, ledger);
}

static void compare_reductions(int order, hn_scheme scheme)
{
    run r[HN_REDUCTION_COUNT];
    double worst = 0.0;
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
        r[w] = run_assembly(order, scheme, REDUCTIONS[w], scheme == HN_SCHEME_RATTLE ? 2e-5 : 1e-3,
                            false);
        run_step(&r[w], 100);
    }
    for (int w = 1; w < HN_REDUCTION_COUNT; ++w) worst = fmax(worst, run_difference(&r[0], &r[w]));
    hn_structure s = hn_simulation_structure(r[0].sim);
    CHECK(s.constraint_count > s.constraint_rank);
    for (int w = 0; w < HN_REDUCTION_COUNT; ++w) run_end(&r[w]);
    print_message("order %d, %s: %.2g m\n", order, hn_scheme_name(scheme), worst);
    CHECK_BELOW(worst, 1e-12); // m; measured 2.6e-14, quadratic 3.6e-14
}

TEST(beams, reductions_agree_in_loops_with_redundant_joints)
{
    for (int order = 1; order <= 2; ++order)
        for (int k = 0; k < REDUCTION_SCHEME_COUNT; ++k) compare_reductions(order, SCHEMES[k]);
}

TEST(beams, energy_balance_closes_with_loads_gravity_and_damping)
{
    for (int order = 1; order <= 2; ++order)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            run r = run_assembly(order, HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[w], 2e-3, true);
            hn_ledger ledger;
            hn_constraint_state state;
            run_step(&r, w == 0 ? 1000 : 100);
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
            CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // relative; measured 1.3e-14
            CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-13); // m; measured 1.8e-15
            CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-12); // measured 1.1e-14
            CHECK_BELOW(state.orthonormality, 1e-14);                       // measured 2.2e-16
            run_end(&r);
        }
}

TEST(beams, steps_have_order_two)
{
    const hn_scheme schemes[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL};
    for (int k = 0; k < 2; ++k) {
        double q[3][RUN_COORDINATES_MAX];
        int count = 0;
        for (int i = 0; i < 3; ++i) {
            run r =
                run_model("flying-beam", schemes[k], HN_REDUCTION_REDUCED, 5e-5 / (1 << i), false);
            run_step(&r, 1000 << i);
            count = r.coordinate_count;
            run_coordinates(&r, q[i]);
            run_end(&r);
        }
        double order =
            log2(largest_difference(q[0], q[1], count) / largest_difference(q[1], q[2], count));
        CHECK_NEAR(order, 2.0, 0.05); // measured 2.00
    }
}

// The centre of mass of a beam falls as a stone does.
TEST(beams, gravity_acts_on_all_of_a_beam)
{
    hn_context *context = hn_context_create(NULL);
    hn_model_def world = hn_model_def_default();
    hn_model *model = NULL;
    hn_beam_id beam;
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_beam_def def = rubber(context);
    const hn_vec3 points[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    def.points = points;
    def.point_count = 2;
    CHECK_OK(context, hn_model_add_beam(model, &def, &beam));
    run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, false);
    hn_vec3 linear, angular;
    run_step(&r, 50);
    CHECK_OK(context, hn_simulation_momentum(r.sim, &linear, &angular));
    CHECK_NEAR(linear.z, -0.5 * 9.81 * 1100.0 * 0.05 * 0.03, 1e-12);
    CHECK_NEAR(run_body(&r, hn_model_find_body(model, "beam1.middle")).position.z,
               -0.5 * 9.81 * 0.25, 1e-13);
    run_end(&r);
}

TEST(beams, snapshots_continue_bit_for_bit)
{
    run r = run_assembly(1, HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1e-3, false);
    size_t size = hn_simulation_snapshot_size(r.sim);
    void *snapshot = malloc(size);
    double first[RUN_COORDINATES_MAX], second[RUN_COORDINATES_MAX];
    run_step(&r, 20);
    CHECK_OK(r.context, hn_simulation_save(r.sim, snapshot, size));
    run_step(&r, 20);
    run_coordinates(&r, first);
    CHECK_OK(r.context, hn_simulation_restore(r.sim, snapshot, size));
    run_step(&r, 20);
    run_coordinates(&r, second);
    CHECK_EQUAL(memcmp(first, second, (size_t)r.coordinate_count * sizeof(double)), 0);
    free(snapshot);
    run_end(&r);
}

TEST(beams, schemes_that_cannot_have_them_say_why)
{
    const struct {
        hn_scheme scheme;
        const char *reason;
    } cases[] = {{HN_SCHEME_CONVECTED, "moments of inertia"},
                 {HN_SCHEME_GGL_VARIATIONAL, "third director"},
                 {HN_SCHEME_GGL_CLASSICAL, "third director"},
                 {HN_SCHEME_PROJECTED_RK, "Euler parameters"}};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = assembly(context, 1);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        hn_simulation_def def = hn_simulation_def_default();
        hn_simulation *sim = NULL;
        def.scheme = cases[k].scheme;
        def.step_size = 1e-3;
        CHECK_EQUAL(hn_simulation_create(model, &def, &sim), HN_INVALID_MODEL);
        CHECK(strstr(hn_context_message(context), cases[k].reason) != NULL);
        CHECK(strstr(hn_context_message(context), hn_scheme_name(cases[k].scheme)) != NULL);
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// ---- many elements ----------------------------------------------------------------------------------

// A helix of many elements, which is no straight line in any direction, clamped at its start.
static run run_long(int elements)
{
    hn_context *context = hn_context_create(NULL);
    hn_model_def world = hn_model_def_default();
    hn_model *model = NULL;
    hn_beam_id beam;
    hn_joint_id id;
    enum { POINTS = 33 };
    hn_vec3 points[POINTS];
    CHECK_OK(context, hn_model_create(context, &world, &model));
    for (int i = 0; i < POINTS; ++i) {
        double a = 2.0 * PI * i / (POINTS - 1);
        points[i] = vec3(cos(a), sin(a), 0.2 * a);
    }
    hn_beam_def def = rubber(context);
    def.shape = HN_BEAM_SPLINE;
    def.points = points;
    def.point_count = POINTS;
    def.element_count = elements;
    CHECK_OK(context, hn_model_add_beam(model, &def, &beam));
    hn_joint_def clamp = hn_joint_def_default(HN_JOINT_FIXED);
    clamp.body_a = hn_ground();
    clamp.body_b = hn_model_beam_node(model, beam, 0);
    clamp.point_a = points[0];
    CHECK_OK(context, hn_model_add_joint(model, &clamp, &id));
    run r = {.context = context, .model = model};
    hn_simulation_def run_def = hn_simulation_def_default();
    run_def.step_size = 1e-3;
    run_def.ledger = false;
    CHECK_OK(context, hn_simulation_create(model, &run_def, &r.sim));
    return r;
}

TEST(beams, very_many_elements_step)
{
    run r = run_long(100000);
    for (int i = 0; i < r.sim->system->element_count; ++i)
        CHECK(r.sim->system->places[i] == PLACE_EDGE); // all on the tree: linear time
    run_step(&r, 2);
    CHECK(isfinite(run_body(&r, hn_model_find_body(r.model, "beam1.tip")).position.z));
    run_end(&r);
}
