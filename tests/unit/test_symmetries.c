// SPDX-License-Identifier: MIT
// Which momenta are conserved: found for every ground joint, gravity, springs and loads, and confirmed by running.
//
// Two bodies hang on each other and, by the joint in question, on the ground; its axis is z. A component that is
// claimed must stay and, where nothing but symmetry could hold it, one that is not claimed must not.
#include <holonom/holonom.h>

#include "support/check.h"
#include "support/generic_models.h"

#include <math.h>
#include <stdio.h>

typedef enum extra {
    EXTRA_NONE,
    EXTRA_GROUND_SPRING,  // between the second body and the ground
    EXTRA_INNER_SPRING,   // between the bodies
    EXTRA_GROUND_TORSION, // on the ground joint
    EXTRA_FORCE,
    EXTRA_BODY_TORQUE,
    EXTRA_GROUND_IS_B, // of the ground joint
} extra;

typedef struct symmetry_case {
    hn_joint_kind kind; // of the ground joint; free: none
    hn_vec3 gravity;
    extra extra;
    const char *linear; // components expected, of "xyz"
    const char *angular;
} symmetry_case;

static const hn_vec3 GROUND_POINT = {0.3, -0.2, 0.4};
static const hn_vec3 SPRING_POINT = {0.3, -0.2, 1.9}; // above the ground point: on its z axis

static void build(hn_context *context, const symmetry_case *c, hn_vec3 axis, hn_model **model)
{
    number_source numbers = {901};
    hn_model_def world = hn_model_def_default();
    world.gravity = c->gravity;
    CHECK_OK(context, hn_model_create(context, &world, model));
    hn_body_id bodies[2];
    for (int i = 0; i < 2; ++i) {
        hn_body_def def = hn_body_def_default();
        def.mass = 1.0 + i;
        def.inertia = vec3(0.2, 0.25, 0.3);
        def.position = vec3_add(GROUND_POINT, vec3(0.5 + i, 0.2 - i, 0.3 + 0.2 * i));
        def.orientation = next_rotation(&numbers);
        CHECK_OK(context, hn_model_add_body(*model, &def, &bodies[i]));
    }
    double rates[6];
    for (int k = 0; k < 6; ++k) rates[k] = 0.5 + next_number(&numbers);
    hn_joint_id ground = {0}, inner;
    if (c->kind != HN_JOINT_FREE) {
        bool ground_is_b = c->extra == EXTRA_GROUND_IS_B;
        hn_joint_def def = hn_joint_def_default(c->kind);
        def.body_a = ground_is_b ? bodies[0] : hn_ground();
        def.body_b = ground_is_b ? hn_ground() : bodies[0];
        def.point_a = GROUND_POINT;
        def.axis_a = axis;
        if (c->kind == HN_JOINT_UNIVERSAL) def.axis_b = vec3_perpendicular(axis);
        if (c->kind == HN_JOINT_DISTANCE) {
            def.separate_points = true;
            def.point_b = vec3_add(GROUND_POINT, vec3(0.4, 0.3, 0.2));
        }
        CHECK_OK(context, hn_model_add_joint(*model, &def, &ground));
        int count = hn_model_joint_coordinate_count(*model, ground);
        if (count > 0) CHECK_OK(context, hn_model_set_joint_rates(*model, ground, rates, count));
    }
    if (c->kind == HN_JOINT_FREE) {
        CHECK_OK(context, hn_model_set_velocity(*model, bodies[0], vec3_load(rates)));
        CHECK_OK(context, hn_model_set_angular_velocity(*model, bodies[0], vec3_load(rates + 3)));
    }
    if (c->kind == HN_JOINT_DISTANCE)
        CHECK_OK(context, hn_model_set_angular_velocity(*model, bodies[0], vec3_load(rates)));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_SPHERICAL);
    def.body_a = bodies[0];
    def.body_b = bodies[1];
    def.point_a = vec3_add(GROUND_POINT, vec3(1.0, -0.3, 0.4));
    CHECK_OK(context, hn_model_add_joint(*model, &def, &inner));
    const double swing[3] = {2.0, -1.5, 1.0};
    CHECK_OK(context, hn_model_set_joint_rates(*model, inner, swing, 3));

    hn_load_id load;
    if (c->extra == EXTRA_GROUND_SPRING || c->extra == EXTRA_INNER_SPRING) {
        hn_spring_def spring = hn_spring_def_default();
        spring.body_a = c->extra == EXTRA_GROUND_SPRING ? hn_ground() : bodies[0];
        spring.body_b = bodies[1];
        spring.point_a = SPRING_POINT;
        spring.point_b = vec3_add(GROUND_POINT, vec3(1.4, -1.1, 0.2));
        spring.stiffness = 30.0;
        spring.damping = 0.5;
        spring.rest_length = 0.5;
        CHECK_OK(context, hn_model_add_spring(*model, &spring, &load));
    }
    if (c->extra == EXTRA_GROUND_TORSION) {
        hn_torsion_spring_def spring = hn_torsion_spring_def_default();
        spring.joint = ground;
        spring.stiffness = 10.0;
        spring.rest_angle = 0.3;
        CHECK_OK(context, hn_model_add_torsion_spring(*model, &spring, &load));
    }
    if (c->extra == EXTRA_FORCE || c->extra == EXTRA_BODY_TORQUE) {
        hn_load_def push = hn_load_def_default();
        push.body = bodies[1];
        push.torque = push.body_fixed = c->extra == EXTRA_BODY_TORQUE;
        push.vector = vec3(0.3, 0.4, 0.5);
        CHECK_OK(context, hn_model_add_load(*model, &push, &load));
    }
}

static hn_simulation *simulate(hn_context *context, const hn_model *model, hn_scheme scheme)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = 2e-3;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    return simulation;
}

// linear momentum, and angular momentum about a point
static void momentum(hn_context *context, hn_simulation *simulation, hn_vec3 point, double *p,
                     double *l)
{
    hn_vec3 linear, angular;
    CHECK_OK(context, hn_simulation_momentum(simulation, &linear, &angular));
    vec3_store(linear, p);
    vec3_store(vec3_subtract(angular, vec3_cross(point, linear)), l);
}

static void letters(const bool *components, char *text)
{
    int n = 0;
    for (int k = 0; k < 3; ++k)
        if (components[k]) text[n++] = "xyz"[k];
    text[n] = '\0';
}

typedef struct found {
    double kept;    // largest change of a claimed component
    double changed; // smallest change of one that is not
} found;

static void check_case(const symmetry_case *c, hn_scheme scheme, found *worst)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    build(context, c, vec3(0.0, 0.0, 1.0), &model);
    hn_simulation *simulation = simulate(context, model, scheme);
    hn_ledger ledger;
    CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
    char linear[4], angular[4], expected[64], got[64];
    letters(ledger.linear_component, linear);
    letters(ledger.angular_component, angular);
    const char *name = hn_joint_kind_name(c->kind);
    snprintf(expected, sizeof expected, "%s %d: linear %s angular %s", name, (int)c->extra,
             c->linear, c->angular);
    snprintf(got, sizeof got, "%s %d: linear %s angular %s", name, (int)c->extra, linear, angular);
    CHECK_TEXT(got, expected);
    CHECK_EQUAL(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].conserved, c->linear[0] != '\0');

    double p0[3], l0[3], p1[3], l1[3], moved[2][3] = {{0.0}};
    momentum(context, simulation, ledger.angular_point, p0, l0);
    for (int n = 0; n < 20; ++n) {
        CHECK_OK(context, hn_simulation_step(simulation, 10));
        momentum(context, simulation, ledger.angular_point, p1, l1);
        for (int k = 0; k < 3; ++k) {
            moved[0][k] = fmax(moved[0][k], fabs(p1[k] - p0[k]));
            moved[1][k] = fmax(moved[1][k], fabs(l1[k] - l0[k]));
        }
    }
    bool loaded = c->extra == EXTRA_FORCE || c->extra == EXTRA_BODY_TORQUE;
    for (int k = 0; k < 3; ++k) {
        const bool claimed[2] = {ledger.linear_component[k], ledger.angular_component[k]};
        for (int i = 0; i < 2; ++i) {
            if (claimed[i]) worst->kept = fmax(worst->kept, moved[i][k]);
            else if (!loaded) {
                if (moved[i][k] < 1e-4)
                    print_error("%s %d: %s momentum along %c moves by %.2g only\n", name,
                                (int)c->extra, i == 0 ? "linear" : "angular", "xyz"[k],
                                moved[i][k]);
                worst->changed = fmin(worst->changed, moved[i][k]);
            }
        }
    }
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

static void check_cases(const symmetry_case *cases, size_t count)
{
    found worst = {.changed = 1e300};
    for (size_t i = 0; i < count; ++i)
        for (int scheme = 0; scheme < PROMISE_SCHEME_COUNT; ++scheme)
            check_case(&cases[i], (hn_scheme)scheme, &worst);
    CHECK_BELOW(worst.kept, 5e-12); // kg m/s, kg m^2/s of about 10; measured 1.5e-13
    MEASURED(worst.changed);
    CHECK(worst.changed > 1e-4); // measured 0.029
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(symmetries, of_ground_joints_without_gravity)
{
    const hn_vec3 none = {0.0, 0.0, 0.0};
    const symmetry_case cases[] = {
        {HN_JOINT_FREE, none, EXTRA_NONE, "xyz", "xyz"},
        {HN_JOINT_SPHERICAL, none, EXTRA_NONE, "", "xyz"},
        {HN_JOINT_DISTANCE, none, EXTRA_NONE, "", "xyz"},
        {HN_JOINT_REVOLUTE, none, EXTRA_NONE, "", "z"},
        {HN_JOINT_UNIVERSAL, none, EXTRA_NONE, "", "z"},
        {HN_JOINT_CYLINDRICAL, none, EXTRA_NONE, "z", "z"},
        {HN_JOINT_PRISMATIC, none, EXTRA_NONE, "z", ""},
        {HN_JOINT_PLANAR, none, EXTRA_NONE, "xy", "z"},
        {HN_JOINT_SLOT, none, EXTRA_NONE, "z", "z"},
        {HN_JOINT_SLOT, none, EXTRA_GROUND_IS_B, "", "xyz"},
        {HN_JOINT_FIXED, none, EXTRA_NONE, "", ""},
    };
    check_cases(cases, COUNT(cases));
}

TEST(symmetries, of_ground_joints_with_gravity_along_the_axis)
{
    const hn_vec3 down = {0.0, 0.0, -9.81};
    const symmetry_case cases[] = {
        {HN_JOINT_FREE, down, EXTRA_NONE, "xy", "z"},
        {HN_JOINT_SPHERICAL, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_DISTANCE, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_REVOLUTE, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_UNIVERSAL, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_CYLINDRICAL, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_PRISMATIC, down, EXTRA_NONE, "", ""},
        {HN_JOINT_PLANAR, down, EXTRA_NONE, "xy", "z"},
        {HN_JOINT_SLOT, down, EXTRA_NONE, "", "z"},
        {HN_JOINT_SLOT, down, EXTRA_GROUND_IS_B, "", "z"},
        {HN_JOINT_FIXED, down, EXTRA_NONE, "", ""},
    };
    check_cases(cases, COUNT(cases));
}

TEST(symmetries, of_ground_joints_with_gravity_across_the_axis)
{
    const hn_vec3 side = {4.0, 0.0, 0.0};
    const symmetry_case cases[] = {
        {HN_JOINT_FREE, side, EXTRA_NONE, "yz", "x"},
        {HN_JOINT_SPHERICAL, side, EXTRA_NONE, "", "x"},
        {HN_JOINT_DISTANCE, side, EXTRA_NONE, "", "x"},
        {HN_JOINT_REVOLUTE, side, EXTRA_NONE, "", ""},
        {HN_JOINT_UNIVERSAL, side, EXTRA_NONE, "", ""},
        {HN_JOINT_CYLINDRICAL, side, EXTRA_NONE, "z", ""},
        {HN_JOINT_PRISMATIC, side, EXTRA_NONE, "z", ""},
        {HN_JOINT_PLANAR, side, EXTRA_NONE, "y", ""},
    };
    check_cases(cases, COUNT(cases));
}

TEST(symmetries, with_springs_and_loads)
{
    const hn_vec3 none = {0.0, 0.0, 0.0}, down = {0.0, 0.0, -9.81};
    const symmetry_case cases[] = {
        // a spring to the ground is a fixed point
        {HN_JOINT_FREE, none, EXTRA_GROUND_SPRING, "", "xyz"},
        {HN_JOINT_FREE, down, EXTRA_GROUND_SPRING, "", "z"},
        {HN_JOINT_SPHERICAL, none, EXTRA_GROUND_SPRING, "",
         "z"}, // about the line through both points
        {HN_JOINT_PLANAR, none, EXTRA_GROUND_SPRING, "", "z"},
        {HN_JOINT_PRISMATIC, none, EXTRA_GROUND_SPRING, "", ""},
        // one between bodies is none
        {HN_JOINT_FREE, none, EXTRA_INNER_SPRING, "xyz", "xyz"},
        {HN_JOINT_CYLINDRICAL, none, EXTRA_INNER_SPRING, "z", "z"},
        // one on the angle of a ground joint holds the turning
        {HN_JOINT_REVOLUTE, none, EXTRA_GROUND_TORSION, "", ""},
        {HN_JOINT_CYLINDRICAL, none, EXTRA_GROUND_TORSION, "z", ""},
        {HN_JOINT_PLANAR, none, EXTRA_GROUND_TORSION, "xy", ""},
        // loads promise nothing
        {HN_JOINT_FREE, none, EXTRA_FORCE, "", ""},
        {HN_JOINT_FREE, none, EXTRA_BODY_TORQUE, "", ""},
    };
    check_cases(cases, COUNT(cases));
}

// About a tilted axis no world component is conserved, but the momentum along the axis is.
TEST(symmetries, about_a_tilted_axis_are_in_the_ledger)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    const hn_vec3 axis = {2.0 / 3.0, 1.0 / 3.0, -2.0 / 3.0};
    const symmetry_case c = {HN_JOINT_CYLINDRICAL, {0.0, 0.0, 0.0}, EXTRA_NONE, "", ""};
    build(context, &c, axis, &model);
    hn_simulation *simulation = simulate(context, model, HN_SCHEME_ENERGY_MOMENTUM);
    double p0[3], l0[3], p1[3], l1[3];
    momentum(context, simulation, GROUND_POINT, p0, l0);
    CHECK_OK(context, hn_simulation_step(simulation, 300));
    momentum(context, simulation, GROUND_POINT, p1, l1);
    hn_ledger ledger;
    CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
    for (int k = 0; k < 3; ++k) CHECK(!ledger.linear_component[k] && !ledger.angular_component[k]);
    CHECK(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].conserved);
    CHECK(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].conserved);
    CHECK_BELOW(ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error, 1e-13);  // measured 2.8e-15
    CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 1e-13); // measured 3.3e-15
    hn_vec3 linear_change = vec3_subtract(vec3_load(p1), vec3_load(p0));
    hn_vec3 angular_change = vec3_subtract(vec3_load(l1), vec3_load(l0));
    CHECK_BELOW(vec3_dot(axis, linear_change), 5e-13);  // measured 9.4e-15
    CHECK_BELOW(vec3_dot(axis, angular_change), 1e-12); // measured 3.8e-14
    CHECK(vec3_norm(linear_change) > 0.1);
    CHECK(vec3_norm(angular_change) > 0.1);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// A planar point mass has its plane: two translations and the turn about the normal; on a rod the turn about its end.
TEST(symmetries, of_planar_point_masses)
{
    for (int rod = 0; rod < 2; ++rod) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        world.gravity = (hn_vec3){0.0, 0.0, 0.0};
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        def.kind = HN_BODY_PLANAR_POINT_MASS;
        def.mass = 2.0;
        def.plane_normal = vec3(0.0, 1.0, 0.0);
        def.position = vec3(1.0, 0.0, 0.0);
        hn_body_id body;
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context, hn_model_set_velocity(model, body, vec3(0.0, 0.0, 1.0)));
        if (rod == 1) {
            hn_joint_def joint = hn_joint_def_default(HN_JOINT_DISTANCE);
            joint.body_a = hn_ground();
            joint.body_b = body;
            joint.separate_points = true;
            joint.point_b = def.position;
            hn_joint_id id;
            CHECK_OK(context, hn_model_add_joint(model, &joint, &id));
        }
        hn_simulation *simulation = simulate(context, model, HN_SCHEME_VARIATIONAL);
        CHECK_OK(context, hn_simulation_step(simulation, 100));
        hn_ledger ledger;
        CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
        char linear[4], angular[4];
        letters(ledger.linear_component, linear);
        letters(ledger.angular_component, angular);
        CHECK_TEXT(linear, rod == 1 ? "" : "xz");
        CHECK_TEXT(angular, "y");
        CHECK_BELOW(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error, 2e-14); // measured 6.7e-16
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}
