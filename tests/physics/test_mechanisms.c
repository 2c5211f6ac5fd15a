// SPDX-License-Identifier: MIT
// Energy of each mechanism by its own scale: what flies by, or is heavy, hides nothing.
#include "physics/run.h"

static hn_model *empty(hn_context *context, double gravity)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = vec3(0.0, 0.0, -gravity);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    return model;
}

static hn_body_id box(hn_context *context, hn_model *model, const char *name, double mass,
                      hn_vec3 at, hn_vec3 velocity)
{
    hn_body_def def = hn_body_def_default();
    def.name = name;
    def.mass = mass;
    def.inertia = vec3(0.1 * mass, 0.1 * mass, 0.1 * mass);
    def.position = at;
    hn_body_id body;
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    CHECK_OK(context, hn_model_set_velocity(model, body, velocity));
    return body;
}

// Two halves of 50 kg on a spring with 1 J in it, at `speed` and `place`.
static void add_satellite(hn_context *context, hn_model *model, double speed, double place,
                          double damping)
{
    hn_vec3 v = vec3(0.0, speed, 0.0);
    hn_body_id a = box(context, model, "bus", 50.0, vec3(place, 0.0, 0.0), v),
               b = box(context, model, "panel", 50.0, vec3(place + 2.0, 0.0, 0.0), v);
    hn_spring_def spring = hn_spring_def_default();
    spring.body_a = a;
    spring.body_b = b;
    spring.body_coordinates = true;
    spring.stiffness = 8.0;
    spring.rest_length = 1.5;
    spring.damping = damping;
    hn_load_id id;
    CHECK_OK(context, hn_model_add_spring(model, &spring, &id));
}

static hn_ledger ledger_after(run *r, int64_t steps)
{
    hn_ledger ledger;
    CHECK_OK(r->context, hn_simulation_step(r->sim, steps));
    CHECK_OK(r->context, hn_simulation_ledger(r->sim, &ledger));
    return ledger;
}

TEST(satellite, losses_show_at_any_speed)
{
    static const double SPEEDS[] = {0.0, 10.0, 7500.0};
    double loss[3];
    for (int k = 0; k < 3; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = empty(context, 0.0);
        add_satellite(context, model, SPEEDS[k], 0.0, 0.0);
        // h omega = 5.7: the spring is damped numerically
        run r = run_start(context, model, HN_SCHEME_GENERALIZED_ALPHA, HN_REDUCTION_REDUCED, 10.0,
                          true);
        hn_ledger ledger = ledger_after(&r, 20);
        loss[k] = ledger.entry[HN_PROMISE_ENERGY].error;
        run_end(&r);
    }
    CHECK(loss[0] > 0.3); // before: 1e-10 at 7500 m/s
    CHECK_NEAR(loss[1] / loss[0], 1.0, 1e-6);
    CHECK_NEAR(loss[2] / loss[0], 1.0, 1e-6);
}

TEST(satellite, keeps_its_joule_at_any_speed_and_place)
{
    static const hn_scheme KEEPING[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_CONVECTED};
    for (int scheme = 0; scheme < 2; ++scheme)
        for (int damped = 0; damped < 2; ++damped)
            for (int far = 0; far < 2; ++far) {
                hn_context *context = hn_context_create(NULL);
                hn_model *model = empty(context, 9.81);
                add_satellite(context, model, 7500.0, far == 0 ? 0.0 : 7e6,
                              damped == 0 ? 0.0 : 1.0);
                run r =
                    run_start(context, model, KEEPING[scheme], HN_REDUCTION_REDUCED, 0.01, true);
                hn_ledger ledger = ledger_after(&r, 500);
                const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_ENERGY];
                CHECK(e->kept);
                CHECK_BELOW(e->error, far == 0 ? 1e-9 : 1e-3);
                run_end(&r);
            }
}

// A pendulum beside a rotor of 1e12 times its energy, both under dampers: works are told apart.
TEST(mechanisms, neither_mass_nor_work_of_another_counts)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = empty(context, 9.81);
    hn_body_id bob = box(context, model, "bob", 1e-3, vec3(0.1, 0.0, 0.0), vec3(0.0, 0.0, 0.0)),
               rotor = box(context, model, "rotor", 1e9, vec3(5.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    hn_joint_def pin = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hn_joint_id hinge;
    pin.name = "pin";
    pin.body_a = hn_ground(), pin.body_b = bob;
    pin.axis_a = vec3(0.0, 1.0, 0.0);
    CHECK_OK(context, hn_model_add_joint(model, &pin, &hinge));
    hn_torsion_spring_def damper = hn_torsion_spring_def_default();
    hn_load_id id;
    damper.joint = hinge;
    damper.damping = 1e-5;
    CHECK_OK(context, hn_model_add_torsion_spring(model, &damper, &id));
    pin.name = "bearing";
    pin.body_b = rotor;
    pin.point_a = vec3(5.0, 0.0, 0.0);
    CHECK_OK(context, hn_model_add_joint(model, &pin, &hinge));
    double rate = 3.0;
    CHECK_OK(context, hn_model_set_joint_rates(model, hinge, &rate, 1));
    damper.name = "brake";
    damper.joint = hinge;
    damper.damping = 1e7;
    CHECK_OK(context, hn_model_add_torsion_spring(model, &damper, &id));
    run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, true);
    hn_ledger ledger = ledger_after(&r, 200);
    CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
    // half of the pendulum's energy taken away shows as much
    for (int k = 0; k < 12; ++k) r.sim->state.impetus[12 * r.sim->system->tree_place[0] + k] *= 0.7;
    r.sim->momenta_valid = false;
    ledger = ledger_after(&r, 1);
    CHECK(!ledger.entry[HN_PROMISE_ENERGY].kept);
    CHECK(ledger.entry[HN_PROMISE_ENERGY].error > 0.01);
    CHECK_CONTAINS(ledger.entry[HN_PROMISE_ENERGY].note, "'bob'");
    run_end(&r);
}
