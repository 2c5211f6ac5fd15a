// SPDX-License-Identifier: MIT
// Start values: velocities from twists and joint rates by rigid-body kinematics, what happens to inconsistent ones, and
// inertia tensors in any axes.
#include <holonom/holonom.h>

#include "support/check.h"
#include "support/generic_models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct start_case {
    hn_context *context;
    hn_model *model;
    hn_body_id root, other;
    hn_joint_id joint;
    hn_vec3 point, axis, second, direction; // world, at the start
    bool reversed;                          // the joint's b is the root
} start_case;

static hn_body_id add_body(start_case *c, number_source *numbers, const char *name,
                           hn_vec3 position)
{
    hn_body_def def = hn_body_def_default();
    def.name = name;
    def.mass = 2.0;
    def.inertia = vec3(0.3, 0.4, 0.5);
    def.products_of_inertia = vec3(0.02, -0.03, 0.01);
    def.center_of_mass = next_vector(numbers, 0.2);
    def.position = position;
    def.orientation = next_rotation(numbers);
    hn_body_id id;
    CHECK_OK(c->context, hn_model_add_body(c->model, &def, &id));
    return id;
}

static start_case make_case(hn_joint_kind kind, bool reversed, uint64_t seed)
{
    number_source numbers = {seed};
    start_case c = {.context = hn_context_create(NULL), .reversed = reversed};
    hn_model_def world = hn_model_def_default();
    CHECK_OK(c.context, hn_model_create(c.context, &world, &c.model));
    c.root = add_body(&c, &numbers, "root", next_vector(&numbers, 0.5));
    c.other =
        add_body(&c, &numbers, "other", vec3_add(vec3(1.0, 0.0, 0.0), next_vector(&numbers, 0.5)));
    c.point = next_vector(&numbers, 0.5);
    c.axis = next_direction(&numbers);
    c.direction = vec3_perpendicular(c.axis);
    c.second = vec3_cross(c.axis, c.direction);
    hn_joint_def def = hn_joint_def_default(kind);
    def.name = "link";
    def.body_a = kind == HN_JOINT_FREE ? hn_ground() : reversed ? c.other : c.root;
    def.body_b = kind == HN_JOINT_FREE || !reversed ? c.other : c.root;
    if (kind == HN_JOINT_FREE && reversed) def.body_a = c.other, def.body_b = hn_ground();
    def.point_a = c.point;
    def.axis_a = c.axis;
    if (kind == HN_JOINT_UNIVERSAL) def.axis_b = c.second;
    if (kind == HN_JOINT_PLANAR) def.direction = c.direction;
    if (kind == HN_JOINT_DISTANCE) {
        def.separate_points = true;
        def.point_b = vec3_add(c.point, vec3_scale(0.7, c.direction));
    }
    CHECK_OK(c.context, hn_model_add_joint(c.model, &def, &c.joint));
    return c;
}

static void destroy(start_case *c)
{
    hn_model_destroy(c->model);
    hn_context_destroy(c->context);
}

static hn_simulation *simulate(start_case *c, hn_scheme scheme)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = 1e-3;
    hn_simulation *simulation = NULL;
    CHECK_OK(c->context, hn_simulation_create(c->model, &def, &simulation));
    return simulation;
}

static hn_body_state state_of(start_case *c, hn_simulation *simulation, hn_body_id body)
{
    hn_body_state state;
    CHECK_OK(c->context, hn_simulation_body_state(simulation, body, &state));
    return state;
}

// velocity of the body's material point at world place p
static hn_vec3 velocity_at(const hn_body_state *s, hn_vec3 p)
{
    return vec3_add(s->velocity, vec3_cross(s->angular_velocity, vec3_subtract(p, s->position)));
}

static double distance(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_subtract(a, b));
}

// What the rates say about the motion of b relative to a.
static void relative_motion(const start_case *c, hn_joint_kind kind, const double *rates,
                            hn_vec3 *v, hn_vec3 *omega)
{
    *v = *omega = vec3(0.0, 0.0, 0.0);
    switch (kind) {
    case HN_JOINT_SPHERICAL: *omega = vec3_load(rates); break;
    case HN_JOINT_REVOLUTE: *omega = vec3_scale(rates[0], c->axis); break;
    case HN_JOINT_PRISMATIC: *v = vec3_scale(rates[0], c->axis); break;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_SCREW:
        *v = vec3_scale(rates[0], c->axis);
        *omega = vec3_scale(rates[1], c->axis);
        break;
    case HN_JOINT_SLOT:
        *v = vec3_scale(rates[0], c->axis);
        *omega = vec3_load(rates + 1);
        break;
    case HN_JOINT_PLANAR:
        *v = vec3_add_scaled(vec3_scale(rates[0], c->direction), rates[1],
                             vec3_cross(c->axis, c->direction));
        *omega = vec3_scale(rates[2], c->axis);
        break;
    case HN_JOINT_UNIVERSAL:
        *omega = vec3_add_scaled(vec3_scale(rates[0], c->axis), rates[1], c->second);
        break;
    case HN_JOINT_FREE:
        *v = vec3_load(rates);
        *omega = vec3_load(rates + 3);
        break;
    case HN_JOINT_FIXED:
    case HN_JOINT_DISTANCE: break;
    }
}

TEST(velocities, follow_from_a_twist_and_joint_rates)
{
    const int counts[ROW_JOINT_KIND_COUNT] = {3, 1, 1, 2, 3, 2, 0, 6, 0, 4};
    double worst_root = 0.0, worst_relation = 0.0, worst_rates = 0.0;
    for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
        if (kind == HN_JOINT_DISTANCE) continue; // has no rates: below
        for (int variant = 0; variant < 4; ++variant) {
            bool reversed = variant % 2 == 1;
            if (kind == HN_JOINT_FREE && reversed) continue; // to the ground in both orders: below
            start_case c =
                make_case((hn_joint_kind)kind, reversed, 400 + (uint64_t)(4 * kind + variant));
            number_source numbers = {500 + (uint64_t)kind};
            hn_vec3 v = next_vector(&numbers, 2.0), omega = next_vector(&numbers, 2.0);
            double rates[6];
            for (int k = 0; k < 6; ++k) rates[k] = 2.0 * next_number(&numbers);
            CHECK_OK(c.context, hn_model_set_velocity(c.model, c.root, v));
            CHECK_OK(c.context, hn_model_set_angular_velocity(c.model, c.root, omega));
            if (counts[kind] > 0)
                CHECK_OK(c.context,
                         hn_model_set_joint_rates(c.model, c.joint, rates, counts[kind]));
            hn_simulation *simulation =
                simulate(&c, variant < 2 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL);
            hn_body_state root = state_of(&c, simulation, c.root),
                          other = state_of(&c, simulation, c.other);
            hn_body_state a = reversed ? other : root, b = reversed ? root : other;
            if (kind == HN_JOINT_FREE) a = (hn_body_state){.position = vec3(0.0, 0.0, 0.0)};
            // the given velocity is that of the frame's origin
            worst_root =
                fmax(worst_root,
                     distance(velocity_at(&root, hn_model_body_position(c.model, c.root)), v));
            worst_root = fmax(worst_root, distance(root.angular_velocity, omega));
            hn_vec3 relative_v, relative_omega;
            relative_motion(&c, (hn_joint_kind)kind, rates, &relative_v, &relative_omega);
            worst_relation =
                fmax(worst_relation, distance(vec3_subtract(b.angular_velocity, a.angular_velocity),
                                              relative_omega));
            worst_relation =
                fmax(worst_relation,
                     distance(vec3_subtract(velocity_at(&b, c.point), velocity_at(&a, c.point)),
                              relative_v));
            // and they are reported as given
            hn_joint_state joint;
            CHECK_OK(c.context, hn_simulation_joint_state(simulation, c.joint, &joint));
            CHECK_EQUAL(joint.coordinate_count, counts[kind]);
            for (int k = 0; k < counts[kind]; ++k) {
                double off = fabs(joint.rates[k] - rates[k]);
                if (off > 1e-13)
                    print_error("%s, variant %d: rate %d is %.6g, given %.6g\n",
                                hn_joint_kind_name((hn_joint_kind)kind), variant, k, joint.rates[k],
                                rates[k]);
                worst_rates = fmax(worst_rates, off);
            }
            hn_structure structure = hn_simulation_structure(simulation);
            CHECK(structure.velocity_projection == 0.0);
            CHECK(structure.position_projection == 0.0);
            hn_simulation_destroy(simulation);
            destroy(&c);
        }
    }
    CHECK_BELOW(worst_root, 1e-13);     // measured 4.5e-15
    CHECK_BELOW(worst_relation, 1e-13); // measured 1.6e-15
    CHECK_BELOW(worst_rates, 1e-13);    // measured 1.6e-15
}

TEST(velocities, of_a_free_joint_to_the_ground_may_have_either_order)
{
    double worst = 0.0;
    for (int reversed = 0; reversed < 2; ++reversed) {
        start_case c = make_case(HN_JOINT_FREE, reversed != 0, 450);
        const double rates[6] = {0.3, -0.4, 0.5, 1.0, 2.0, -1.0};
        CHECK_OK(c.context, hn_model_set_joint_rates(c.model, c.joint, rates, 6));
        hn_simulation *simulation = simulate(&c, HN_SCHEME_ENERGY_MOMENTUM);
        hn_body_state body = state_of(&c, simulation, c.other);
        double sign = reversed ? -1.0 : 1.0; // the motion of b relative to a
        worst =
            fmax(worst, distance(body.angular_velocity, vec3_scale(sign, vec3_load(rates + 3))));
        worst =
            fmax(worst, distance(velocity_at(&body, c.point), vec3_scale(sign, vec3_load(rates))));
        hn_simulation_destroy(simulation);
        destroy(&c);
    }
    CHECK_BELOW(worst, 1e-14); // measured 7.1e-16
}

TEST(velocities, of_bodies_at_a_distance_keep_the_distance)
{
    start_case c = make_case(HN_JOINT_DISTANCE, false, 460);
    hn_vec3 omega = vec3(0.5, -1.0, 2.0);
    CHECK_OK(c.context, hn_model_set_velocity(c.model, c.root, vec3(1.0, 2.0, 3.0)));
    CHECK_OK(c.context, hn_model_set_angular_velocity(c.model, c.root, vec3(-1.0, 0.4, 0.3)));
    CHECK_OK(c.context, hn_model_set_angular_velocity(c.model, c.other, omega));
    hn_simulation *simulation = simulate(&c, HN_SCHEME_ENERGY_MOMENTUM);
    hn_body_state a = state_of(&c, simulation, c.root), b = state_of(&c, simulation, c.other);
    hn_vec3 link = vec3_scale(0.7, c.direction);
    hn_vec3 rate =
        vec3_subtract(velocity_at(&b, vec3_add(c.point, link)), velocity_at(&a, c.point));
    CHECK_BELOW(vec3_dot(rate, link), 1e-14);                // measured 2.2e-16
    CHECK_BELOW(distance(b.angular_velocity, omega), 1e-14); // measured 5.0e-16
    CHECK_BELOW(distance(a.angular_velocity, vec3(-1.0, 0.4, 0.3)),
                5e-14); // measured 1.5e-14, clang
    hn_simulation_destroy(simulation);
    destroy(&c);
}

// Nothing said about a body: it moves with its neighbour. Zero said: it does not turn.
TEST(velocities, that_are_not_set_differ_from_zero)
{
    for (int set = 0; set < 2; ++set) {
        start_case c = make_case(HN_JOINT_SPHERICAL, false, 470);
        hn_vec3 v = vec3(1.0, 2.0, 3.0), omega = vec3(-1.0, 0.4, 0.3), zero = vec3(0.0, 0.0, 0.0);
        CHECK_OK(c.context, hn_model_set_velocity(c.model, c.root, v));
        CHECK_OK(c.context, hn_model_set_angular_velocity(c.model, c.root, omega));
        if (set == 1) CHECK_OK(c.context, hn_model_set_angular_velocity(c.model, c.other, zero));
        hn_simulation *simulation = simulate(&c, HN_SCHEME_ENERGY_MOMENTUM);
        hn_body_state a = state_of(&c, simulation, c.root), b = state_of(&c, simulation, c.other);
        CHECK_BELOW(distance(b.angular_velocity, set == 1 ? zero : omega), 1e-14);
        CHECK_BELOW(distance(velocity_at(&a, c.point), velocity_at(&b, c.point)), 1e-14);
        // locked: every point moves as the root's
        if (set == 0) CHECK_BELOW(distance(b.velocity, velocity_at(&a, b.position)), 1e-14);
        hn_simulation_destroy(simulation);
        destroy(&c);
    }
}

// ---- inconsistent values ----------------------------------------------------------------------------

// A body 1 m from a hinge along z; it may move along y alone.
typedef struct hinged {
    hn_context *context;
    hn_model *model;
    hn_body_id body;
} hinged;

static hinged make_hinged(double gap, double tilt)
{
    hinged h = {.context = hn_context_create(NULL)};
    hn_model_def world = hn_model_def_default();
    CHECK_OK(h.context, hn_model_create(h.context, &world, &h.model));
    hn_body_def def = hn_body_def_default();
    def.name = "door";
    def.mass = 1.0;
    def.inertia = vec3(0.1, 0.1, 0.1);
    def.position = vec3(1.0, 0.0, 0.0);
    CHECK_OK(h.context, hn_model_add_body(h.model, &def, &h.body));
    hn_joint_def joint = hn_joint_def_default(HN_JOINT_REVOLUTE);
    joint.name = "hinge";
    joint.body_a = hn_ground();
    joint.body_b = h.body;
    joint.body_coordinates = true;
    joint.separate_points = true;
    joint.axis_a = vec3(0.0, 0.0, 1.0);
    joint.axis_b = vec3(sin(tilt), 0.0, cos(tilt));
    joint.point_b = vec3(-1.0 + gap, 0.0, 0.0);
    hn_joint_id id;
    CHECK_OK(h.context, hn_model_add_joint(h.model, &joint, &id));
    return h;
}

static void destroy_hinged(hinged *h)
{
    hn_model_destroy(h->model);
    hn_context_destroy(h->context);
}

static hn_status create(hinged *h, hn_simulation **simulation)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    return hn_simulation_create(h->model, &def, simulation);
}

TEST(inconsistent, velocities_are_projected_when_slightly_off)
{
    hinged h = make_hinged(0.0, 0.0);
    CHECK_OK(h.context, hn_model_set_velocity(h.model, h.body, vec3(0.0, 2.0, 1e-5)));
    hn_simulation *simulation = NULL;
    CHECK_OK(h.context, create(&h, &simulation));
    CHECK_NEAR(hn_simulation_structure(simulation).velocity_projection, 1e-5, 1e-10);
    hn_body_state state;
    CHECK_OK(h.context, hn_simulation_body_state(simulation, h.body, &state));
    CHECK_BELOW(distance(state.velocity, vec3(0.0, 2.0, 0.0)), 1e-10);
    CHECK_BELOW(distance(state.angular_velocity, vec3(0.0, 0.0, 2.0)), 1e-10);
    hn_simulation_destroy(simulation);
    destroy_hinged(&h);
}

TEST(inconsistent, velocities_are_refused_when_far_off)
{
    hinged h = make_hinged(0.0, 0.0);
    CHECK_OK(h.context, hn_model_set_velocity(h.model, h.body, vec3(0.0, 2.0, 0.25)));
    hn_simulation *simulation = NULL;
    CHECK_STATUS(h.context, create(&h, &simulation), HN_INVALID_MODEL);
    CHECK(simulation == NULL);
    CHECK_CONTAINS(hn_context_message(h.context), "body 'door'");
    CHECK_CONTAINS(hn_context_message(h.context), "0.25 m/s");
    // a tolerance that allows it lets it pass
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    def.start_tolerance = 0.5;
    CHECK_OK(h.context, hn_simulation_create(h.model, &def, &simulation));
    CHECK_NEAR(hn_simulation_structure(simulation).velocity_projection, 0.25, 1e-9);
    hn_simulation_destroy(simulation);
    destroy_hinged(&h);
}

// A rate that says zero against a velocity that says two.
TEST(inconsistent, rates_and_velocities_contradict_each_other)
{
    hinged h = make_hinged(0.0, 0.0);
    const double zero = 0.0;
    CHECK_OK(h.context, hn_model_set_velocity(h.model, h.body, vec3(0.0, 2.0, 0.0)));
    CHECK_OK(h.context, hn_model_set_joint_rates(h.model, hn_model_joint(h.model, 0), &zero, 1));
    hn_simulation *simulation = NULL;
    CHECK_STATUS(h.context, create(&h, &simulation), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(h.context), "2 m/s");
    destroy_hinged(&h);
}

TEST(inconsistent, positions_are_projected_when_slightly_off)
{
    const double gaps[2] = {1e-5, 0.0}, tilts[2] = {0.0, 2e-5};
    for (int i = 0; i < 2; ++i) {
        hinged h = make_hinged(gaps[i], tilts[i]);
        hn_simulation *simulation = NULL;
        CHECK_OK(h.context, create(&h, &simulation));
        CHECK_NEAR(hn_simulation_structure(simulation).position_projection, gaps[i] + tilts[i],
                   1e-9);
        hn_constraint_state constraints;
        CHECK_OK(h.context, hn_simulation_constraints(simulation, &constraints));
        CHECK_BELOW(constraints.joint_opening, 1e-15);
        CHECK_BELOW(constraints.joint_misalignment, 2e-19); // measured 3.4e-21
        CHECK_BELOW(constraints.orthonormality, 1e-15);
        hn_simulation_destroy(simulation);
        destroy_hinged(&h);
    }
}

TEST(inconsistent, positions_are_refused_when_far_off)
{
    const double gaps[2] = {0.02, 0.0}, tilts[2] = {0.0, 0.03};
    const char *words[2] = {"0.02 m", "0.03 rad"};
    for (int i = 0; i < 2; ++i) {
        hinged h = make_hinged(gaps[i], tilts[i]);
        hn_simulation *simulation = NULL;
        CHECK_STATUS(h.context, create(&h, &simulation), HN_INVALID_MODEL);
        CHECK(simulation == NULL);
        CHECK_CONTAINS(hn_context_message(h.context), "joint 'hinge'");
        CHECK_CONTAINS(hn_context_message(h.context), words[i]);
        destroy_hinged(&h);
    }
}

// ---- inertia ----------------------------------------------------------------------------------------

// The same heavy top with its inertia in principal axes and in axes turned by `turn`.
static hn_simulation *make_top(hn_context *context, const hn_mat3 *turn, hn_model **model)
{
    const double moments[3] = {0.2, 0.35, 0.45};
    hn_mat3 axes = rotation_exponential(vec3(0.3, -0.8, 0.5)), inertia = {{{0.0}}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            for (int s = 0; s < 3; ++s)
                inertia.m[i][k] += turn->m[i][s] * moments[s] * turn->m[k][s];
    hn_mat3 back = mat3_transpose(turn);
    hn_model_def world = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &world, model));
    hn_body_def def = hn_body_def_default();
    def.mass = 1.5;
    def.inertia = vec3(inertia.m[0][0], inertia.m[1][1], inertia.m[2][2]);
    def.products_of_inertia = vec3(inertia.m[0][1], inertia.m[0][2], inertia.m[1][2]);
    // a vector with principal components x has components turn x in the turned frame, whose axes are axes turn^T
    def.orientation = mat3_multiply(&axes, &back);
    def.position = vec3(0.2, 0.3, 0.6);
    hn_body_id body;
    CHECK_OK(context, hn_model_add_body(*model, &def, &body));
    hn_joint_def joint = hn_joint_def_default(HN_JOINT_SPHERICAL);
    joint.body_a = hn_ground();
    joint.body_b = body;
    hn_joint_id id;
    CHECK_OK(context, hn_model_add_joint(*model, &joint, &id));
    CHECK_OK(context, hn_model_set_angular_velocity(*model, body, vec3(1.0, -2.0, 5.0)));
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 2e-3;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(*model, &run, &simulation));
    CHECK_OK(context, hn_simulation_step(simulation, 200));
    return simulation;
}

TEST(inertia, in_any_axes_gives_the_same_motion)
{
    hn_context *context = hn_context_create(NULL);
    hn_mat3 identity = mat3_identity(), turn = rotation_exponential(vec3(-0.7, 0.4, 1.1));
    hn_model *models[2];
    hn_simulation *principal = make_top(context, &identity, &models[0]);
    hn_simulation *turned = make_top(context, &turn, &models[1]);
    hn_body_state p, t;
    CHECK_OK(context, hn_simulation_body_state(principal, hn_model_body(models[0], 0), &p));
    CHECK_OK(context, hn_simulation_body_state(turned, hn_model_body(models[1], 0), &t));
    hn_mat3 same = mat3_multiply(&t.orientation, &turn);
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(same.m[i][k] - p.orientation.m[i][k]));
    worst = fmax(worst, distance(p.position, t.position));
    worst = fmax(worst, distance(p.angular_velocity, t.angular_velocity));
    worst = fmax(worst, distance(p.angular_momentum, t.angular_momentum));
    CHECK_BELOW(worst, 1e-12);                              // measured 5.5e-14
    CHECK(distance(p.position, vec3(0.2, 0.3, 0.6)) > 0.1); // it has moved
    hn_simulation_destroy(principal);
    hn_simulation_destroy(turned);
    for (int i = 0; i < 2; ++i) hn_model_destroy(models[i]);
    hn_context_destroy(context);
}

// Before, what leads out of the plane was left out without a word, and so was a turn; the place of a joint that began
// with one was another than the one given.
TEST(inconsistent, starts_of_point_masses_are_refused)
{
    static const char *const STARTS[][3] = {
        {"[ground, p]", "rates: [0.8, 1, 0.6]", "lead out of the plane of 'p' by 0.96 m/s"},
        {"[ground, p]", "rates: [0.8, 1, -0.6]", NULL},
        {"[p, ground]", "rates: [0.8, 1, -0.6, 0, 5, 0]", "neither of its bodies can turn"},
        {"[p, ground]", "rates: [0.8, 1, -0.6, 0, 0, 0]", NULL},
        {"[p, ground]", "rotation: [0, 0, 1]", "neither of its bodies can turn"},
    };
    for (size_t i = 0; i < sizeof STARTS / sizeof STARTS[0]; ++i) {
        char text[512];
        snprintf(text, sizeof text,
                 "holonom: 1\nname: t\n"
                 "bodies:\n  p: {point_mass: {mass: 1, plane_normal: [0.6, 0, 0.8]}}\n"
                 "joints:\n  j: {free: {bodies: %s}}\nstart:\n  j: {%s}\n",
                 STARTS[i][0], STARTS[i][1]);
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_status status = hn_model_parse(context, text, strlen(text), "text", &model);
        CHECK_EQUAL(status, STARTS[i][2] == NULL ? HN_OK : HN_INVALID_MODEL);
        if (STARTS[i][2] != NULL) CHECK_CONTAINS(hn_context_message(context), STARTS[i][2]);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}
