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

// The band of a scheme that does not keep energy is told by the joule too, and called what it is: before, steps of
// 10 s (h omega = 5.7) had a band of 1e-9 at 7500 m/s and "oscillated without drift".
TEST(satellite, a_band_as_wide_as_its_joule_is_called_so_at_any_speed)
{
    static const hn_scheme SWINGING[] = {HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE};
    static const char *const WORDS[] = {"NOT RESOLVED", "GROWS"};
    static const double SPEEDS[] = {0.0, 7500.0};
    for (int k = 0; k < 4; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = empty(context, 9.81);
        add_satellite(context, model, SPEEDS[k % 2], 0.0, 0.0);
        run r = run_start(context, model, SWINGING[k / 2], HN_REDUCTION_REDUCED, 10.0, true);
        hn_ledger coarse = ledger_after(&r, 20);
        run_end(&r);
        CHECK(strstr(coarse.entry[HN_PROMISE_ENERGY].note, WORDS[k / 2]) != NULL);
        context = hn_context_create(NULL);
        model = empty(context, 9.81);
        add_satellite(context, model, SPEEDS[k % 2], 0.0, 0.0);
        r = run_start(context, model, SWINGING[k / 2], HN_REDUCTION_REDUCED, 0.1, true);
        hn_ledger fine = ledger_after(&r, 200);
        run_end(&r);
        CHECK(strstr(fine.entry[HN_PROMISE_ENERGY].note, "oscillates without drift") != NULL);
    }
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

// Scale what carries the momenta of one body, named in the model, by `factor`.
static void disturb(run *r, const char *name, double factor)
{
    const hn_system *system = r->sim->system;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < 12 && strcmp(system->bodies[i].name, name) == 0; ++k)
            r->sim->state.impetus[12 * i + k] *= factor;
    r->sim->momenta_valid = r->sim->steps[r->sim->ahead].valid = false;
}

// Two free bodies, one 1e12 times as heavy as the other: what the light one loses shows as if it were alone.
TEST(mechanisms, momenta_are_measured_by_their_own_bodies)
{
    static const hn_scheme KEEPING[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                        HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED};
    for (int scheme = 0; scheme < 4; ++scheme)
        for (int lost = 0; lost < 2; ++lost) {
            hn_context *context = hn_context_create(NULL);
            hn_model *model = empty(context, 0.0);
            hn_body_id light = box(context, model, "light", 1e-3, vec3(0.0, 0.0, 0.0),
                                   vec3(0.3, 0.1, 0.0)),
                       heavy = box(context, model, "heavy", 1e9, vec3(5.0, 0.0, 0.0),
                                   vec3(0.0, 20.0, 3.0));
            CHECK_OK(context, hn_model_set_angular_velocity(model, light, vec3(1.0, 2.0, 0.5)));
            CHECK_OK(context, hn_model_set_angular_velocity(model, heavy, vec3(0.0, 1.0, 3.0)));
            run r = run_start(context, model, KEEPING[scheme], HN_REDUCTION_REDUCED, 0.01, true);
            hn_ledger ledger = ledger_after(&r, 200);
            for (int k = HN_PROMISE_LINEAR_MOMENTUM; k <= HN_PROMISE_ANGULAR_MOMENTUM; ++k) {
                CHECK(ledger.entry[k].conserved && ledger.entry[k].kept);
                CHECK_BELOW(ledger.entry[k].error, 2e-13); // measured 1.2e-14
            }
            // a millionth: 3e-20 of the momentum of both
            if (lost == 1) disturb(&r, "light", 1.0 - 1e-6);
            ledger = ledger_after(&r, 1);
            const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_LINEAR_MOMENTUM];
            CHECK_EQUAL(e->kept, lost == 0);
            CHECK_EQUAL(e[1].kept, lost == 0);
            if (lost == 1) {
                CHECK_NEAR(e[0].error, 1e-6, 2e-7);
                CHECK_NEAR(e[1].error, 1e-6, 5e-7);
                CHECK_CONTAINS(e[0].note, "the mechanism of 'light'");
                CHECK_CONTAINS(e[1].note, "the mechanism of 'light'");
            }
            run_end(&r);
        }
}

// A slow turn at 7.5 km/s, 7000 km from the origin: what is lost of it shows, and nothing else does.
TEST(satellite, keeps_its_turn_at_any_speed_and_place)
{
    static const hn_scheme KEEPING[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                        HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED};
    for (int scheme = 0; scheme < 4; ++scheme)
        for (int far = 0; far < 2; ++far)
            for (int lost = 0; lost < 2; ++lost) {
                hn_context *context = hn_context_create(NULL);
                hn_model *model = empty(context, far == 0 ? 0.0 : 9.81);
                add_satellite(context, model, 7500.0, far == 0 ? 0.0 : 7e6, 0.0);
                for (int k = 0; k < 2; ++k)
                    CHECK_OK(context, hn_model_set_angular_velocity(model, hn_model_body(model, k),
                                                                    vec3(0.1, 0.0, 0.3)));
                run r =
                    run_start(context, model, KEEPING[scheme], HN_REDUCTION_REDUCED, 0.01, true);
                hn_ledger ledger = ledger_after(&r, 500);
                const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM];
                CHECK(e->conserved && e->kept);
                CHECK_BELOW(e->error, 1e-13); // measured 1.6e-15
                if (lost == 0) {
                    run_end(&r);
                    continue;
                }
                // directors alone: the path stays, a hundredth of the turn is lost
                for (int i = 0; i < 2; ++i)
                    for (int k = 3; k < 12; ++k) r.sim->state.impetus[12 * i + k] *= 0.99;
                r.sim->momenta_valid = r.sim->steps[r.sim->ahead].valid = false;
                ledger = ledger_after(&r, 1);
                CHECK(!ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].kept);
                // of the turns and of what the halves do on their spring; measured 2.1e-3
                CHECK(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error > 1e-3);
                CHECK_CONTAINS(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].note, "centre of mass");
                run_end(&r);
            }
}

// A touch of 0.5 mN s on a body of 1 kg that falls: the work is 1e-7 of what falling turns over, and so is its
// round-off.
TEST(mechanisms, a_touch_while_falling_is_no_loss)
{
    static const double SPANS[] = {0.01, 1e-4};
    for (int k = 0; k < 2; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = empty(context, 9.81);
        hn_load_def load = hn_load_def_default();
        hn_load_id id;
        load.body = box(context, model, "wheel", 1.0, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
        load.vector = vec3(1.0, 0.0, 0.0);
        load.profile =
            (hn_profile){.kind = HN_PROFILE_PULSE, .start = 0.05, .peak = 0.0505, .end = 0.051};
        CHECK_OK(context, hn_model_add_load(model, &load, &id));
        run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, SPANS[k],
                          true);
        hn_ledger ledger = ledger_after(&r, (int64_t)(0.2 / SPANS[k]));
        CHECK(ledger.entry[HN_PROMISE_ENERGY].kept); // before: 6e-8 and 7e-7 of the work, NOT KEPT
        // a thousandth of the work taken away shows
        r.sim->state.impetus[0] *= 1.0 - 5e-4;
        r.sim->momenta_valid = false;
        ledger = ledger_after(&r, 1);
        CHECK(!ledger.entry[HN_PROMISE_ENERGY].kept);
        run_end(&r);
    }
}

// It imposes the energy of each mechanism as a whole, and promises no more: what its centre of mass has of it is
// known to the tolerances of the steps.
TEST(mechanisms, energy_that_is_imposed_as_a_whole_is_kept_as_a_whole)
{
    static const char *const MODELS[] = {"cylindrical-pair", "prismatic-pair", "planar-pair",
                                         "free-tree"};
    for (int k = 0; k < 4; ++k) {
        run r = run_model(MODELS[k], HN_SCHEME_PROJECTED_RK, HN_REDUCTION_REDUCED, 0.0, true);
        hn_ledger ledger = ledger_after(&r, 100);
        CHECK(ledger.entry[HN_PROMISE_ENERGY].conserved);
        CHECK(ledger.entry[HN_PROMISE_ENERGY].kept); // before: up to 8e-8, NOT KEPT
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-11);
        run_end(&r);
    }
}

// Sums that are imposed say nothing of one mechanism: the line tells whose they are.
TEST(mechanisms, momenta_that_are_imposed_are_those_of_all_together)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = empty(context, 0.0);
    box(context, model, "light", 1e-3, vec3(0.0, 0.0, 0.0), vec3(0.3, 0.1, 0.0));
    box(context, model, "heavy", 1e9, vec3(5.0, 0.0, 0.0), vec3(0.0, 20.0, 3.0));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.step_size = 0.01;
    def.projected_rk.impose_momentum = true;
    run r = {.context = context, .model = model};
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    hn_ledger ledger = ledger_after(&r, 10);
    for (int k = HN_PROMISE_LINEAR_MOMENTUM; k <= HN_PROMISE_ANGULAR_MOMENTUM; ++k) {
        CHECK(ledger.entry[k].conserved);
        CHECK_CONTAINS(ledger.entry[k].note, "of all mechanisms together");
    }
    run_end(&r);
}

// Ten tonnes on a hinge, touched by a hundredth of a newton: energies of 1e-12 J, whose velocities places tell to eight
// digits. The line allows for that and says so. Before: not kept under some reductions, by 1e-9 to 1e-7.
TEST(mechanisms, a_heavy_body_that_is_barely_moved_is_known_as_well_as_its_place)
{
    double worst = 0.0, allowed = 0.0;
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
        for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
            hn_context *context = hn_context_create(NULL);
            hn_model *model = empty(context, 0.0);
            hn_simulation *sim = NULL;
            hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
            hn_load_def load = hn_load_def_default();
            hn_joint_id fixed;
            hn_load_id id;
            hinge.body_a = hn_ground();
            hinge.body_b =
                box(context, model, "block", 1e4, vec3(0.8, 0.1, 0.0), vec3(0.0, 0.0, 0.0));
            hinge.axis_a = vec3(0.0, 0.6, 0.8);
            CHECK_OK(context, hn_model_add_joint(model, &hinge, &fixed));
            load.body = hinge.body_b;
            load.vector = vec3(0.004, -0.003, 0.01);
            CHECK_OK(context, hn_model_add_load(model, &load, &id));
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = SCHEMES[s];
            def.reduction = REDUCTIONS[w];
            def.step_size = 0.01;
            CHECK_OK(context, hn_simulation_create(model, &def, &sim));
            CHECK_OK(context, hn_simulation_step(sim, 40));
            hn_ledger ledger;
            CHECK_OK(context, hn_simulation_ledger(sim, &ledger));
            const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_ENERGY];
            if (!e->kept)
                print_error("%s, %s: %.2g, bound %.2g\n", hn_scheme_name(SCHEMES[s]),
                            hn_reduction_name(REDUCTIONS[w]), e->error, e->bound);
            CHECK(e->kept);
            if (e->conserved) worst = fmax(worst, e->error), allowed = fmax(allowed, e->bound);
            hn_simulation_destroy(sim);
            hn_model_destroy(model);
            hn_context_destroy(context);
        }
    MEASURED(worst);
    MEASURED(allowed);
    CHECK(worst > 1e-10 && allowed < 1e-5);
}

// A body of `size` that turns about a ball joint on its edge at `at`, with `speed` there; without gravity it keeps its
// angular momentum about the joint.
static void add_ball(hn_context *context, hn_model *model, const char *name, double mass,
                     double size, double speed, hn_vec3 at)
{
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    def.name = name;
    def.mass = mass;
    double moment = mass * size * size;
    def.inertia = vec3(0.1 * moment, 0.12 * moment, 0.09 * moment);
    def.position = vec3_add(at, vec3(size, 0.0, 0.0));
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    CHECK_OK(context, hn_model_set_angular_velocity(model, body,
                                                    vec3_scale(speed / size, vec3(0.3, 0.5, 0.8))));
    CHECK_OK(context, hn_model_set_velocity(model, body, vec3_scale(speed, vec3(0.0, 0.8, -0.5))));
    hn_joint_def ball = hn_joint_def_default(HN_JOINT_SPHERICAL);
    hn_joint_id id;
    ball.name = name;
    ball.body_a = hn_ground(), ball.body_b = body;
    ball.point_a = at;
    ball.point_b = vec3(-size, 0.0, 0.0);
    CHECK_OK(context, hn_model_add_joint(model, &ball, &id));
}

// Two ball joints a size of the smaller one apart, the other body of 1e6 m and 1e12 kg: each keeps the angular momentum
// about its own joint, the two together only about the line through both. Before: three axes for all, by the length of
// the larger one, and NOT KEPT by 0.4 for small ones; a loss of what turns about another joint than the first was not
// looked for.
TEST(mechanisms, momenta_are_those_that_their_own_ground_leaves)
{
    static const hn_scheme KEEPING[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                        HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED};
    double worst = 0.0, least = 1.0;
    for (int scheme = 0; scheme < 4; ++scheme)
        for (double size = 1e-6; size < 2e6; size *= 1e3)
            for (double speed = 1.0; speed < 2e6; speed *= 1e3) {
                hn_context *context = hn_context_create(NULL);
                hn_model *model = empty(context, 0.0);
                add_ball(context, model, "giant", 1e12, 1e6, 1e6 * speed, vec3(0.0, 0.0, 0.0));
                add_ball(context, model, "bob", 1e-3 * size, size, speed,
                         vec3(0.0, 0.3 * size, size));
                double h = 0.01 * fmin(size / speed, 1.0 / speed);
                run r = run_start(context, model, KEEPING[scheme], HN_REDUCTION_REDUCED, h, true);
                hn_ledger ledger = ledger_after(&r, 100);
                const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM];
                CHECK(e->conserved && e->kept);
                CHECK(!ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].conserved);
                for (int k = 0; k < 3; ++k) CHECK(!ledger.angular_component[k]);
                const symmetry_group *whole = &r.sim->symmetries;
                CHECK(whole->count == 1 && whole->rotation_count == 1);
                CHECK_NEAR(fabs(whole->rotations[0][5]), 1.0 / sqrt(1.09), 1e-14);
                worst = fmax(worst, e->error);
                disturb(&r, "bob", 1.0 - 1e-6);
                ledger = ledger_after(&r, 1);
                e = &ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM];
                CHECK(!e->kept);
                CHECK_CONTAINS(e->note, "the mechanism of 'bob'");
                least = fmin(least, e->error);
                run_end(&r);
            }
    CHECK_BELOW(worst, 1e-13); // measured 5.2e-15
    CHECK(least > 5e-7);       // measured 8.3e-7
}

// A small free body beside a pendulum and one that a force drives, at any size and speed of the others: the momenta of
// neither are kept, its own are. Before: "not conserved: loads act", and no loss of it showed.
TEST(mechanisms, a_free_one_keeps_its_momenta_beside_what_is_tied_or_driven)
{
    double worst = 0.0;
    for (double size = 1e-6; size < 2e6; size *= 1e3)
        for (double speed = 1.0; speed < 2e6; speed *= 1e3) {
            hn_context *context = hn_context_create(NULL);
            hn_model *model = empty(context, 0.0);
            hn_body_id light =
                box(context, model, "light", 1e-3, vec3(0.1, 0.0, 0.0), vec3(0.3, 0.1, 0.2));
            CHECK_OK(context, hn_model_set_angular_velocity(model, light, vec3(1.0, 2.0, 0.5)));
            add_ball(context, model, "ball", 1e9, size, speed * size, vec3(0.0, size, 0.0));
            hn_load_def load = hn_load_def_default();
            hn_load_id id;
            load.body =
                box(context, model, "driven", 1e6, vec3(0.0, 0.0, 0.0), vec3(0.0, speed, 0.0));
            load.vector = vec3(1e9, 0.0, 0.0);
            CHECK_OK(context, hn_model_add_load(model, &load, &id));
            run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED,
                              0.01 / speed, true);
            hn_ledger ledger = ledger_after(&r, 100);
            for (int k = HN_PROMISE_LINEAR_MOMENTUM; k <= HN_PROMISE_ANGULAR_MOMENTUM; ++k) {
                CHECK(ledger.entry[k].conserved && ledger.entry[k].kept);
                worst = fmax(worst, ledger.entry[k].error);
            }
            for (int k = 0; k < 3; ++k)
                CHECK(!ledger.linear_component[k] && !ledger.angular_component[k]);
            disturb(&r, "light", 1.0 - 1e-6);
            ledger = ledger_after(&r, 1);
            for (int k = HN_PROMISE_LINEAR_MOMENTUM; k <= HN_PROMISE_ANGULAR_MOMENTUM; ++k) {
                CHECK(!ledger.entry[k].kept);
                CHECK_NEAR(ledger.entry[k].error, 1e-6, 5e-7);
                CHECK_CONTAINS(ledger.entry[k].note, "the mechanism of 'light'");
            }
            run_end(&r);
        }
    CHECK_BELOW(worst, 5e-14); // measured 2.4e-15
}

// A millimetre on a ball joint 1000 km from the origin: nothing of it is kept but the angular momentum about the joint,
// by its own size. Before: "linear momentum NOT KEPT" by 1.9, and angular momentum by what 1000 km would make of it, so
// that nothing lost of it showed.
TEST(mechanisms, far_from_the_origin_momenta_are_about_what_is_there)
{
    for (int beside = 0; beside < 2; ++beside) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = empty(context, 0.0);
        add_ball(context, model, "bob", 1e-3, 1e-3, 1.0, vec3(1e6, 0.0, 0.0));
        if (beside == 1) add_ball(context, model, "other", 1.0, 1.0, 1.0, vec3(0.0, 0.0, 0.0));
        run r =
            run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-4, true);
        hn_ledger ledger = ledger_after(&r, 1000);
        CHECK(!ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].conserved);
        const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM];
        CHECK(e->conserved && e->kept);
        CHECK_BELOW(e->error, 5e-6); // places are known to 1e-7 of it; measured 2.2e-7
        CHECK_BELOW(e->bound, 1e-4); // measured 3.6e-5
        disturb(&r, "bob", 0.99);
        ledger = ledger_after(&r, 1);
        CHECK(!ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].kept);
        CHECK(ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error > 1e-3);
        run_end(&r);
    }
}

// A free body at rest beside a ball on its joint: the line says whose momentum is meant, as the model keeps none.
TEST(mechanisms, at_rest_are_named_where_the_model_keeps_nothing)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = empty(context, 0.0);
    add_ball(context, model, "ball", 1.0, 1.0, 1.0, vec3(0.0, 0.0, 0.0));
    box(context, model, "still", 1.0, vec3(3.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, true);
    hn_ledger ledger = ledger_after(&r, 10);
    const hn_ledger_entry *e = &ledger.entry[HN_PROMISE_LINEAR_MOMENTUM];
    CHECK(e[0].conserved && e[0].kept && e[1].conserved && e[1].kept);
    CHECK_TEXT(e[0].note, "all components, the mechanism of 'still'");
    CHECK_TEXT(e[1].note, "all components, the mechanism of 'ball'");
    run_end(&r);
}
