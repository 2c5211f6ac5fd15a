// SPDX-License-Identifier: MIT
// The motion does not depend on where the model stands, how its bodies are numbered, who is a and who is b, or the
// root.
#include "physics/generic_pair.h"
#include "support/generic_models.h"

enum { STEPS = 250, GGL_STEPS = 50 };
static const double STEP_SIZE = 0.01; // s
static const double SAME = 1e-9;      // m and parts of unit vectors

// Largest difference between the plain model, moved afterwards, and the model that was built moved.
static double difference(const generic_options *plain, const generic_options *other,
                         hn_scheme scheme, hn_reduction way, int steps)
{
    generic_pair a = generic_build(plain), b = generic_build(other);
    run ra = generic_run(&a, scheme, HN_REDUCTION_REDUCED, STEP_SIZE),
        rb = generic_run(&b, scheme, way, STEP_SIZE);
    double worst = 0.0;
    for (int n = 0; n <= steps; ++n) {
        if (n > 0) {
            run_step(&ra, 1);
            run_step(&rb, 1);
        }
        for (int i = 0; i < GENERIC_BODIES; ++i) {
            hn_body_state x = run_body(&ra, a.body[i]), y = run_body(&rb, b.body[i]);
            worst =
                fmax(worst, vec3_norm(vec3_subtract(generic_move(other, x.position), y.position)));
            for (int k = 0; k < 3; ++k) {
                hn_vec3 d = mat3_apply(&other->turn, mat3_column(&x.orientation, k));
                worst = fmax(worst, vec3_norm(vec3_subtract(d, mat3_column(&y.orientation, k))));
            }
        }
    }
    run_end(&ra);
    run_end(&rb);
    return worst;
}

// The schemes that any reduction solves, and both GGL schemes, which bring their own solver.
enum { SCHEME_COUNT = REDUCTION_SCHEME_COUNT + 2 };

static hn_scheme scheme_of(int index)
{
    return index < REDUCTION_SCHEME_COUNT    ? SCHEMES[index]
           : index == REDUCTION_SCHEME_COUNT ? HN_SCHEME_GGL_VARIATIONAL
                                             : HN_SCHEME_GGL_CLASSICAL;
}

// Every kind of joint, the first `schemes` schemes, flying and hanging.
static void check_kinds(const char *what, const generic_options *change, int schemes,
                        hn_reduction way)
{
    for (int s = 0; s < schemes; ++s)
        for (int grounded = 0; grounded < 2; ++grounded)
            for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
                generic_options plain = generic_defaults((hn_joint_kind)kind), other = *change;
                plain.grounded = other.grounded = grounded == 1;
                plain.spring = other.spring = true;
                other.kind = plain.kind;
                double worst = difference(&plain, &other, scheme_of(s), way,
                                          s < REDUCTION_SCHEME_COUNT ? STEPS : GGL_STEPS);
                if (!(worst < SAME))
                    print_error("%s: %s joint, %s, %s: %.3g\n", what,
                                hn_joint_kind_name(plain.kind), hn_scheme_name(scheme_of(s)),
                                grounded ? "hanging" : "flying", worst);
                CHECK_BELOW(worst, SAME); // measured 4.3e-12
            }
}

static void move(generic_options *o)
{
    o->turn = rotation_exponential(vec3(1.1, -0.7, 2.0));
    o->shift = vec3(3.0, -2.0, 1.5);
}

TEST(invariance, moving_and_turning_the_whole_model)
{
    generic_options change = generic_defaults(HN_JOINT_FREE);
    move(&change);
    check_kinds("moved", &change, SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(invariance, order_of_definition_and_root)
{
    static const int ORDERS[][GENERIC_BODIES] = {{CHILD, GRANDCHILD, PARENT},
                                                 {GRANDCHILD, CHILD, PARENT}};
    for (int k = 0; k < 2; ++k) {
        generic_options change = generic_defaults(HN_JOINT_FREE);
        memcpy(change.order, ORDERS[k], sizeof change.order);
        check_kinds(k == 0 ? "child first" : "grandchild first", &change, SCHEME_COUNT,
                    HN_REDUCTION_REDUCED);
    }
}

TEST(invariance, order_of_definition_sets_the_root)
{
    generic_options change = generic_defaults(HN_JOINT_REVOLUTE);
    for (int k = 0; k < GENERIC_BODIES; ++k) {
        for (int i = 0; i < GENERIC_BODIES; ++i) change.order[i] = (k + i) % GENERIC_BODIES;
        generic_pair g = generic_build(&change);
        run r = generic_run(&g, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, STEP_SIZE);
        CHECK_EQUAL(r.sim->system->tree_place[0],
                    0); // the first body defined: the tests above do change the root
        CHECK_TEXT(hn_model_body_name(g.model, hn_model_body(g.model, 0)),
                   r.sim->system->bodies[0].name);
        run_end(&r);
    }
}

TEST(invariance, body_a_and_body_b_change_places)
{
    generic_options change = generic_defaults(HN_JOINT_FREE);
    change.swap = true;
    check_kinds("swapped", &change, REDUCTION_SCHEME_COUNT, HN_REDUCTION_REDUCED);
}

TEST(invariance, all_at_once_with_the_other_reductions)
{
    generic_options change = generic_defaults(HN_JOINT_FREE);
    change.swap = true;
    change.order[0] = GRANDCHILD, change.order[1] = PARENT, change.order[2] = CHILD;
    move(&change);
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
        check_kinds("all at once", &change, REDUCTION_SCHEME_COUNT, REDUCTIONS[k]);
}
