// SPDX-License-Identifier: MIT
// Which models the planar formulation of `projected-rk` takes: those whose motion in space stays in a plane, whatever
// tells the plane; the others are refused with the reason.
#include "physics/jet_run.h"

/// A model file; beside it what a refusal must say, NULL: the model is planar.
typedef struct planar_case {
    const char *what, *text, *reason;
} planar_case;

// A vertical plane at the angle f from x. A stick is 0.6 m long, its first director along it, its second the normal.
#define HEAD                                                                                       \
    "holonom: 1\ngravity: [0, 0, -9.81]\nparameters: {f: 0.7, a: 0.4, c: cos(f), s: sin(f)}\n"
#define STICK "{box: {size: [0.6, 0.1, 0.05]}}, mass: 2"
#define STICKS                                                                                     \
    "bodies:\n"                                                                                    \
    "  upper: {shape: " STICK ", position: [0.3*cos(a)*c, 0.3*cos(a)*s, -0.3*sin(a)],\n"           \
    "          orientation: {rotate: [{axis: z, angle: f}, {axis: d2, angle: a}]}}\n"              \
    "  lower: {shape: " STICK                                                                      \
    ", position: [(0.6*cos(a)+0.3)*c, (0.6*cos(a)+0.3)*s, -0.6*sin(a)],\n"                         \
    "          orientation: {rotate: [{axis: z, angle: f}]}}\n"
#define CART                                                                                       \
    "bodies:\n"                                                                                    \
    "  cart: {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 3, position: [0, 0, 0],\n"              \
    "         orientation: {rotate: [{axis: z, angle: f}]}}\n"                                     \
    "  stick: {shape: " STICK ", position: [0.3*cos(a)*c, 0.3*cos(a)*s, -0.3*sin(a)],\n"           \
    "          orientation: {rotate: [{axis: z, angle: f}, {axis: d2, angle: a}]}}\n"

static const planar_case CASES[] = {
    {"ball joints alone",
     HEAD STICKS "joints:\n"
                 "  top: {spherical: {bodies: [ground, upper], at: [0, 0, 0]}}\n"
                 "  elbow: {spherical: {bodies: [upper, lower], at: [0.6*cos(a)*c, 0.6*cos(a)*s, "
                 "-0.6*sin(a)]}}\n",
     NULL},
    {"rods and point masses alone",
     HEAD
     "bodies:\n"
     "  near: {point_mass: {mass: 1}, position: [c, s, 0]}\n"
     "  far: {point_mass: {mass: 2}, position: [1.5*c, 1.5*s, -0.5]}\n"
     "joints:\n"
     "  first: {distance: {bodies: [ground, near], from: [0, 0, 0], to: [c, s, 0]}}\n"
     "  second: {distance: {bodies: [near, far], from: [c, s, 0], to: [1.5*c, 1.5*s, -0.5]}}\n",
     NULL},
    {"a slide in the plane, then a ball joint",
     HEAD CART "joints:\n"
               "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: [c, s, 0]}}\n"
               "  ball: {spherical: {bodies: [cart, stick], at: [0, 0, 0]}}\n",
     NULL},
    {"a cylindrical joint along the plane, then a universal joint",
     HEAD CART "joints:\n"
               "  rail: {cylindrical: {bodies: [ground, cart], at: [0, 0, 0], axis: [c, s, 0]}}\n"
               "  cross: {universal: {bodies: [cart, stick], at: [0, 0, 0], axes: [[0, 0, 1], [-s, "
               "c, 0]]}}\n",
     NULL},
    {"a planar joint whose normal lies in the plane, then a hinge",
     HEAD CART "joints:\n"
               "  wall: {planar: {bodies: [ground, cart], at: [0, 0, 0], normal: [c, s, 0]}}\n"
               "  hinge: {revolute: {bodies: [cart, stick], at: [0, 0, 0], axis: [-s, c, 0]}}\n",
     NULL},
    {"springs alone",
     "holonom: 1\ngravity: [0, 0, 0]\nparameters: {f: 0.7, c: cos(f), s: sin(f)}\n"
     "bodies:\n"
     "  near: {point_mass: {mass: 1}, position: [c, s, 0]}\n"
     "  far: {point_mass: {mass: 2}, position: [1.5*c, 1.5*s, -0.5]}\n"
     "loads:\n"
     "  first: {spring: {bodies: [ground, near], from: [0, 0, 0], to: [c, s, 0], stiffness: 20, "
     "rest_length: 0.5}}\n"
     "  second: {spring: {bodies: [near, far], from: [c, s, 0], to: [1.5*c, 1.5*s, -0.5], "
     "stiffness: 30,\n"
     "                    rest_length: 0.5}}\n",
     NULL},
    {"gravity along the normal, which joints take",
     "holonom: 1\ngravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  brick: {shape: {box: {size: [0.4, 0.2, 0.1]}}, mass: 2, bottom: [1, 0, 0]}\n"
     "  arm: {shape: {box: {size: [0.6, 0.1, 0.1]}}, mass: 1, position: [1.3, 0, 0.3]}\n"
     "joints:\n"
     "  rink: {planar: {bodies: [ground, brick], at: {a: [0, 0, 0], b: [1, 0, 0]}, normal: z, "
     "direction: x}}\n"
     "  post: {revolute: {bodies: [brick, arm], at: [1, 0, 0.2], axis: z}}\n"
     "start:\n"
     "  rink: {rates: [0.2, 1.5, 2]}\n",
     NULL},
    {"a body out of balance on a hinge",
     HEAD "bodies:\n"
          "  blade: {shape: " STICK ", position: [0.3*c-0.1*s, 0.3*s+0.1*c, 0],\n"
          "          orientation: {rotate: {axis: [1, 2, -1], angle: 0.7}}}\n"
          "joints:\n"
          "  hinge: {revolute: {bodies: [ground, blade], at: [0, 0, 0], axis: [-s, c, 0]}}\n",
     NULL},
    {"one mass falling down a line", // any plane through the line
     HEAD "bodies:\n  stone: {point_mass: {mass: 1}, position: [1, 2, 3]}\n"
          "start:\n  stone: {velocity: [0, 0, 1]}\n",
     NULL},

    {"ball joints that do not lie in one plane",
     HEAD "bodies:\n"
          "  upper: {shape: " STICK
          ", position: [0.3*c, 0.3*s, 0], orientation: {rotate: {axis: z, angle: f}}}\n"
          "  lower: {shape: " STICK
          ", position: [0.6*c, 0.6*s+0.3, 0], orientation: {rotate: {axis: z, angle: pi/2}}}\n"
          "joints:\n"
          "  top: {spherical: {bodies: [ground, upper], at: [0, 0, 0]}}\n"
          "  elbow: {spherical: {bodies: [upper, lower], at: [0.6*c, 0.6*s, 0]}}\n",
     "'lower'"},
    {"a round bar on a ball joint, its first director along it, the normal between the others",
     HEAD "bodies:\n"
          "  bar: {mass: 2, inertia: [0.01, 0.06, 0.06], position: [0.3, 0.5, 0],\n"
          "        orientation: {rotate: [{axis: d1, angle: 0.5}]}}\n"
          "joints:\n  top: {spherical: {bodies: [ground, bar], at: [0, 0.5, 0]}}\n",
     NULL},
    {"a round bar on a ball joint, its second director along it, the normal between the others",
     HEAD "bodies:\n"
          "  bar: {mass: 2, inertia: [0.06, 0.01, 0.06], position: [0.3, 0.5, 0],\n"
          "        orientation: {rotate: [{axis: z, angle: -pi/2}, {axis: d2, angle: 0.5}]}}\n"
          "joints:\n  top: {spherical: {bodies: [ground, bar], at: [0, 0.5, 0]}}\n",
     NULL},
    {"a round bar on a ball joint, its third director along it, the normal between the others",
     HEAD "bodies:\n"
          "  bar: {mass: 2, inertia: [0.06, 0.06, 0.01], position: [0.3, 0.5, 0],\n"
          "        orientation: {rotate: [{axis: y, angle: pi/2}, {axis: d3, angle: 0.5}]}}\n"
          "joints:\n  top: {spherical: {bodies: [ground, bar], at: [0, 0.5, 0]}}\n",
     NULL},
    {"a crank out of balance on a ball joint, which the rest of a four-bar holds upright",
     "holonom: 1\ngravity: [0, -9.81, 0]\n"
     "bodies:\n"
     "  crank: {shape: " STICK
     ", position: [0, 0.4, 0], orientation: {rotate: {axis: [1, 2, -1], angle: 0.7}}}\n"
     "  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0.8, 0]}\n"
     "  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0.5, 0]}\n"
     "joints:\n"
     "  foot: {spherical: {bodies: [ground, crank], at: [0, 0, 0]}}\n"
     "  left: {revolute: {bodies: [crank, coupler], at: [0, 0.8, 0], axis: z}}\n"
     "  right: {revolute: {bodies: [coupler, rocker], at: [1, 1, 0], axis: z}}\n"
     "  other: {cylindrical: {bodies: [ground, rocker], at: [1.1, 0, 0], axis: z}}\n",
     NULL},
    {"a rod beside the plane to a mass that nothing holds in it",
     HEAD "bodies:\n"
          "  cart: {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 3, position: [0, 0, 0]}\n"
          "  bob: {point_mass: {mass: 1}, position: [0.3, 0.2, -0.4]}\n"
          "joints:\n"
          "  hinge: {revolute: {bodies: [ground, cart], at: [0.1, 0, 0.3], axis: y}}\n"
          "  rod: {distance: {bodies: [cart, bob], from: [0, 0, 0], to: [0.3, 0.2, -0.4]}}\n",
     "joint 'rod' leaves the plane"},
    {"a ball joint beside the middle of a stick",
     HEAD "bodies:\n"
          "  cart: {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 3, position: [0, 0, 0]}\n"
          "  stick: {shape: " STICK ", position: [0.3, 0.05, 0]}\n"
          "joints:\n"
          "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
          "  ball: {spherical: {bodies: [cart, stick], at: [0, 0, 0]}}\n"
          "start:\n  stick: {angular_velocity: [0, 1, 0]}\n",
     "joint 'ball' acts beside the plane of body 'stick'"},
    {"hinges that are not parallel",
     HEAD STICKS
     "joints:\n"
     "  top: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: [-s, c, 0]}}\n"
     "  elbow: {revolute: {bodies: [upper, lower], at: [0.6*cos(a)*c, 0.6*cos(a)*s, -0.6*sin(a)],\n"
     "                     axis: [-s, c, 0.5]}}\n",
     "the axis of joint 'elbow' is not along the normal"},
    {"a spinning body out of balance",
     "holonom: 1\ngravity: [0, 0, 0]\n"
     "bodies:\n"
     "  blade: {shape: " STICK ", orientation: {rotate: {axis: [1, 2, -1], angle: 0.7}}}\n"
     "start:\n  blade: {angular_velocity: [0, 0, 3]}\n",
     "body 'blade' has no principal axis"},
    {"a force out of the plane",
     HEAD STICKS
     "joints:\n"
     "  top: {spherical: {bodies: [ground, upper], at: [0, 0, 0]}}\n"
     "  elbow: {spherical: {bodies: [upper, lower], at: [0.6*cos(a)*c, 0.6*cos(a)*s, "
     "-0.6*sin(a)]}}\n"
     "loads:\n  push: {force: {body: lower, vector: [0, 1, 0]}}\n"
     "start:\n  upper: {angular_velocity: [-s, c, 0]}\n  lower: {angular_velocity: [-s, c, 0]}\n",
     "a force on body 'lower' acts out of the plane"},
    {"gravity along the normal with nothing to hold against it",
     HEAD "bodies:\n  stick: {shape: " STICK "}\nstart:\n  stick: {angular_velocity: [0, 0, 1]}\n",
     "body 'stick' falls out of the plane"},
};

static hn_status start_case(const planar_case *c, bool planar, jet_run *r)
{
    hn_simulation_def def = jet_def(1e-11);
    def.projected_rk.planar = planar;
    hn_model *model = NULL;
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    CHECK_OK(context, hn_model_parse(context, c->text, strlen(c->text), c->what, &model));
    return jet_start(context, model, &def, r);
}

// how far velocities of centres of mass leave the common plane: the volume that three of them span, of any bodies and
// times
static double leaving(const double *v, int count)
{
    double speed = 0.0, worst = 0.0;
    hn_vec3 normal = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < count; ++i) speed = fmax(speed, vec3_norm(vec3_load(v + 3 * i)));
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < i; ++k) {
            hn_vec3 x = vec3_cross(vec3_load(v + 3 * i), vec3_load(v + 3 * k));
            if (vec3_norm(x) > vec3_norm(normal)) normal = x;
        }
    if (vec3_norm(normal) <= 1e-12 * speed * speed) return 0.0; // a line
    normal = vec3_scale(1.0 / vec3_norm(normal), normal);
    for (int i = 0; i < count; ++i)
        worst = fmax(worst, fabs(vec3_dot(normal, vec3_load(v + 3 * i))));
    return worst / speed;
}

TEST(planar_models, are_those_whose_motion_in_space_stays_in_a_plane)
{
    enum { TIMES = 20, BODIES = 3 };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        const planar_case *c = &CASES[i];
        jet_run space, plane;
        CHECK_EQUAL(start_case(c, false, &space), HN_OK);
        hn_status status = start_case(c, true, &plane);
        print_message("%s: %s\n", c->what,
                      status == HN_OK ? "planar" : hn_context_message(plane.context));
        CHECK_STATUS(plane.context, status, c->reason == NULL ? HN_OK : HN_INVALID_MODEL);
        if (c->reason != NULL) {
            CHECK_CONTAINS(hn_context_message(plane.context), "the model is not planar: ");
            CHECK_CONTAINS(hn_context_message(plane.context), c->reason);
        }
        double v[3 * TIMES * BODIES], turn[3 * TIMES * BODIES], worst = 0.0, scale = 0.0;
        int count = 0, bodies = space.system->body_count;
        for (int k = 0; k < TIMES; ++k) {
            jet_step(&space, 0.02);
            for (int b = 0; b < bodies; ++b, ++count) {
                double twist[TWIST_SIZE];
                const double *pose = space.state.q + POSE_SIZE * (size_t)b;
                velocity_to_twist(pose, space.state.impetus + POSE_SIZE * (size_t)b, twist);
                memcpy(v + 3 * count, twist, 3 * sizeof(double));
                memcpy(turn + 3 * count, twist + 3, 3 * sizeof(double));
            }
            if (status != HN_OK) continue;
            jet_step(&plane, 0.02);
            for (int x = 0; x < POSE_SIZE * bodies; ++x)
                worst = fmax(worst, fabs(space.state.q[x] - plane.state.q[x]));
            for (int x = 0; x < space.system->constraint_count; ++x) {
                scale = fmax(scale, fabs(space.multipliers[x]));
                CHECK_BELOW(space.multipliers[x] - plane.multipliers[x], 1e-7 * fmax(1.0, scale));
            }
        }
        // a plane of velocities, or axes of rotation that differ
        double off = leaving(v, count), axes = 0.0, spin = 0.0;
        for (int a = 0; a < count; ++a) spin = fmax(spin, vec3_norm(vec3_load(turn + 3 * a)));
        if (spin < 1e-12) spin = 0.0; // rad/s: round-off has no axis
        for (int a = 0; a < count && spin > 0.0; ++a)
            for (int b = 0; b < a; ++b)
                axes = fmax(
                    axes, vec3_norm(vec3_cross(vec3_load(turn + 3 * a), vec3_load(turn + 3 * b))) /
                              (spin * spin));
        print_message("  in space: velocities leave a plane by %.1e, axes of rotation differ by "
                      "%.1e; plane and space "
                      "differ by %.1e m\n",
                      off, axes, worst);
        if (c->reason == NULL) {
            CHECK_BELOW(off, 1e-13);  // measured 1.7e-15
            CHECK_BELOW(axes, 3e-13); // measured 4.3e-15
            CHECK_BELOW(worst, 1e-9); // measured 2.0e-11
        } else if (strstr(c->reason, "falls") ==
                   NULL) { // that one turns in a plane and falls along its normal
            CHECK(off > 1e-3 || axes > 1e-3);
        }
        jet_end(&space);
        jet_end(&plane);
    }
}
