// SPDX-License-Identifier: MIT
// Scheme `convected`: order, energy, momenta and constraints, tangents, convergence, loads, loops
// (docs/theory/convected.md).
//
// The solver is called directly, so that the state (q, p) of the scheme is seen as it is; energies and momenta are
// found here from q and p with the body's angular momentum as a vector in space, not as the scheme forms it.
#include "physics/generic_pair.h"
#include "schemes/convected.h"
#include "support/failing_allocator.h"
#include "support/generic_models.h"
#include "support/malloc_counter.h"
#include "support/reference.h"

#include <stdlib.h>

enum { STATE_MAX = 96 };
static const newton_options NEWTON = {
    .residual_tolerance = 1e-16, .increment_tolerance = 1e-10, .iterations_max = 20};

typedef struct direct {
    hn_context *context;
    hn_model *model;
    hn_system *system;
    scheme_solver *solver;
    scheme_state state;
    scheme_step step;
    double *angles; // unwrapped, of torsional springs
    double *memory;
    size_t size; // twelve per body
    double time, work;
    newton_report report;
    int iterations_max;
    double settled; // largest round-off taken out of directors after a step
} direct;

static direct direct_start(hn_context *context, hn_model *model)
{
    direct d = {.context = context, .model = model};
    CHECK_OK(context, system_create(context, model, 1e-3, false, &d.system));
    d.size = POSE_SIZE * (size_t)d.system->body_count;
    size_t rows = (size_t)d.system->constraint_count, angles = (size_t)d.system->angle_count;
    d.memory = calloc(6 * d.size + rows + angles + 1, sizeof(double));
    CHECK(d.memory != NULL);
    double *next = d.memory;
    d.state.q = next, next += d.size;
    d.state.impetus = next, next += d.size;
    d.step.q = next, next += d.size;
    d.step.delta = next, next += d.size;
    d.step.impetus = next, next += d.size;
    double *v = next;
    next += d.size;
    d.step.multipliers = next, next += rows;
    d.angles = next;
    memcpy(d.angles, d.system->angle_start, angles * sizeof(double));
    memcpy(d.state.q, d.system->q_start, d.size * sizeof(double));
    for (int i = 0; i < d.system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(d.state.q + at, d.system->twist_start + TWIST_SIZE * (size_t)i, v + at);
    }
    scheme_convected.start(d.system, v, NULL, &d.state);
    CHECK_OK(context, scheme_convected.solver_create(d.system, NULL, &d.solver));
    return d;
}

static direct direct_model(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, path, &model));
    return direct_start(context, model);
}

static direct direct_chain(const generic_chain *chain)
{
    hn_context *context = hn_context_create(NULL);
    return direct_start(context, generic_chain_model(context, chain));
}

static void direct_end(direct *d)
{
    scheme_convected.solver_destroy(d->solver);
    system_destroy(d->system);
    hn_model_destroy(d->model);
    hn_context_destroy(d->context);
    free(d->memory);
}

static void direct_steps(direct *d, double h, int count)
{
    for (int n = 0; n < count; ++n) {
        d->step.state = &d->state;
        d->step.step_size = h;
        d->step.time = d->time;
        d->report = (newton_report){0};
        hn_status status = scheme_convected.solver_step(d->solver, &d->step, &NEWTON, &d->report);
        if (status != HN_OK)
            print_error("t = %g: %s, %d iterations, residual %g, increment %g\n", d->time,
                        hn_status_name(status), d->report.iterations, d->report.residual,
                        d->report.increment);
        CHECK_EQUAL(status, HN_OK);
        for (size_t k = 0; k < d->size; ++k)
            CHECK_EQUAL(isfinite(d->step.q[k] + d->step.impetus[k]) != 0, 1);
        for (size_t k = 0; k < d->size; ++k) {
            double off = d->step.q[k] - (d->state.q[k] + d->step.delta[k]);
            if (k % POSE_SIZE >= 3) d->settled = fmax(d->settled, fabs(off));
        }
        memcpy(d->state.q, d->step.q, d->size * sizeof(double));
        memcpy(d->state.impetus, d->step.impetus, d->size * sizeof(double));
        d->work += d->step.work;
        d->time += h;
        for (int e = 0; e < d->system->element_count; ++e) {
            const element *own = &d->system->elements[e];
            if (own->angle >= 0)
                d->angles[own->angle] =
                    element_angle(own, system_pose(d->state.q, own->a),
                                  system_pose(d->state.q, own->b), d->angles[own->angle]);
        }
        if (d->report.iterations > d->iterations_max) d->iterations_max = d->report.iterations;
    }
}

// ---- what is measured -------------------------------------------------------------------------------

typedef struct measures {
    double kinetic, potential;
    hn_vec3 linear, angular;
    double angular_scale, linear_scale;
    double strain;        // e(q)
    double orthogonality; // C(q) p, kg m^2/s
    double momenta;       // largest p of a director, kg m^2/s
    double joints;        // m, rad
} measures;

static measures measure(const direct *d)
{
    const hn_system *system = d->system;
    measures m = {0};
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = d->state.q + POSE_SIZE * (size_t)i,
                     *p = d->state.impetus + POSE_SIZE * (size_t)i;
        const double *inertia = system->inertia + 4 * (size_t)i;
        hn_vec3 linear = vec3_load(p), own = vec3(0.0, 0.0, 0.0);
        m.kinetic += 0.5 * vec3_dot(linear, linear) / inertia[0];
        m.potential -= inertia[0] * vec3_dot(system->gravity, vec3_load(q));
        m.linear = vec3_add(m.linear, linear);
        if (system->bodies[i].kind == HN_BODY_RIGID) {
            hn_vec3 x[3], y[3];
            for (int k = 0; k < 3; ++k) {
                x[k] = vec3_load(q + 3 + 3 * k);
                y[k] = vec3_load(p + 3 + 3 * k);
                own = vec3_add(own, vec3_cross(x[k], y[k]));
                m.momenta = fmax(m.momenta, vec3_norm(y[k]));
            }
            for (int k = 0; k < 3; ++k) {
                double component = vec3_dot(own, x[k]),
                       moment = inertia[1] + inertia[2] + inertia[3] - inertia[1 + k];
                m.kinetic += 0.5 * component * component / moment;
                for (int l = 0; l <= k; ++l) {
                    m.strain = fmax(m.strain, fabs(vec3_dot(x[k], x[l]) - (k == l ? 1.0 : 0.0)));
                    m.orthogonality =
                        fmax(m.orthogonality, fabs(vec3_dot(x[k], y[l]) + vec3_dot(x[l], y[k])));
                }
            }
        }
        m.angular = vec3_add(m.angular, vec3_add(own, vec3_cross(vec3_load(q), linear)));
        m.linear_scale += vec3_norm(linear);
        m.angular_scale += vec3_norm(own) + vec3_norm(vec3_load(q)) * vec3_norm(linear);
    }
    for (int e = 0; e < system->element_count; ++e) {
        const element *own = &system->elements[e];
        m.potential += element_type_of(own->kind)->potential(
            own, system_pose(d->state.q, own->a), system_pose(d->state.q, own->b), NULL,
            own->angle >= 0 ? d->angles[own->angle] : 0.0);
    }
    constraint_check check = system_check_constraints(system, d->state.q);
    m.joints = fmax(check.opening, check.misalignment);
    return m;
}

// Worst of a run, relative where they have a scale; momenta along the model's symmetries.
typedef struct worst {
    double energy, momentum, strain, orthogonality, joints;
    double momenta; // largest p of a director, kg m^2/s
} worst;

// p along the generator (v, omega) of a rigid motion
static double momentum_map(const measures *m, const double *generator)
{
    return vec3_dot(vec3_load(generator), m->linear) +
           vec3_dot(vec3_load(generator + 3), m->angular);
}

static worst watch(direct *d, double h, int steps)
{
    symmetry_group group;
    worst w = {0};
    CHECK_OK(d->context, system_symmetries(d->system, &group, NULL));
    measures start = measure(d);
    double kinetic = start.kinetic, potential = 0.0, angular = start.angular_scale,
           linear = start.linear_scale;
    double balance = start.kinetic + start.potential - d->work, change = 0.0,
           momenta = start.momenta;
    for (int n = 0; n < steps; ++n) {
        direct_steps(d, h, 1);
        measures m = measure(d);
        kinetic = fmax(kinetic, m.kinetic);
        potential = fmax(potential, fabs(m.potential - start.potential));
        angular = fmax(angular, m.angular_scale);
        linear = fmax(linear, m.linear_scale);
        w.energy = fmax(w.energy, fabs(m.kinetic + m.potential - d->work - balance));
        for (int k = 0; k < group.count; ++k) {
            // velocities at the origin
            double generator[6];
            hn_vec3 turn = vec3_scale(1.0 / group.length, vec3_load(group.motions[k] + 3));
            vec3_store(vec3_add(vec3_load(group.motions[k]), vec3_cross(group.point, turn)),
                       generator);
            vec3_store(turn, generator + 3);
            change =
                fmax(change, fabs(momentum_map(&m, generator) - momentum_map(&start, generator)));
        }
        w.strain = fmax(w.strain, m.strain);
        w.orthogonality = fmax(w.orthogonality, m.orthogonality);
        momenta = fmax(momenta, m.momenta);
        w.joints = fmax(w.joints, m.joints);
    }
    if (momenta > 0.0) w.orthogonality /= momenta;
    w.momenta = momenta;
    w.energy /= kinetic + potential;
    double scale = fmax(linear, angular / d->system->length);
    w.momentum = scale > 0.0 ? change / scale : 0.0;
    return w;
}

static void show(const char *name, double h, const direct *d, const worst *w)
{
    print_message("%-20s h = %-6g energy %.1e momentum %.1e e(q) %.1e C(q)p %.1e joints %.1e, %d "
                  "iterations\n",
                  name, h, w->energy, w->momentum, w->strain, w->orthogonality, w->joints,
                  d->iterations_max);
}

// ---- the paper's chains -----------------------------------------------------------------------------

TEST(convected, chains_of_the_paper_keep_energy_momentum_and_constraints)
{
    static const char *const NAMES[] = {"chain-revolute", "chain-spherical"};
    static const double ENERGY[] = {-998.887323, -706.32}; // J, at the start, by hand
    static const double STEPS[] = {0.01, 0.1};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) {
            direct d = direct_model(NAMES[i]);
            measures start = measure(&d);
            CHECK_NEAR(start.kinetic + start.potential, ENERGY[i], 5e-3);
            double l3 = start.angular.z, scale = 0.0, change = 0.0;
            worst all = {0};
            for (int n = 0; n < 10; ++n) {
                worst w = watch(&d, STEPS[k], (int)lround(1.0 / STEPS[k]));
                measures m = measure(&d);
                scale = fmax(scale, m.angular_scale);
                change = fmax(change, fabs(m.angular.z - l3));
                all.energy = fmax(all.energy,
                                  fabs(m.kinetic + m.potential - start.kinetic - start.potential));
                all.strain = fmax(all.strain, w.strain);
                all.orthogonality = fmax(all.orthogonality, w.orthogonality);
                all.joints = fmax(all.joints, w.joints);
                all.momenta = fmax(all.momenta, w.momenta);
            }
            all.energy /= fabs(ENERGY[i]);
            all.momentum = change / scale;
            show(NAMES[i], STEPS[k], &d, &all);
            CHECK_BELOW(all.energy, 3e-13);               // measured 5.2e-15
            if (i == 1) CHECK_BELOW(all.momentum, 1e-14); // measured 1.6e-16
            CHECK_BELOW(all.strain, 3e-14);               // measured 4.4e-16
            CHECK_BELOW(all.orthogonality, 3e-14);        // measured 5.0e-16
            CHECK_BELOW(all.joints, 2e-13);               // m, rad; measured 2.5e-15
            // e(q) and C(q)p are kept by the equations; what is tidied up after a step is round-off
            CHECK_BELOW(d.settled, 1e-14); // measured 8.4e-16
            direct_end(&d);
        }
}

// ---- order against solutions that share nothing with the scheme ----------------------------------------

static double error_at(const char *model, double time, int steps, const double *expected, int count)
{
    direct d = direct_model(model);
    double q[48], error = 0.0;
    int used = 0;
    direct_steps(&d, time / steps, steps);
    for (int i = 0; i < d.system->body_count; ++i) {
        int body = d.system->tree_place[i];
        const double *pose = system_pose(d.state.q, body);
        vec3_store(vec3_load(pose), q + used);
        for (int k = 0; k < 3; ++k)
            vec3_store(pose_direction(pose, mat3_column(&d.system->bodies[body].user_axes, k)),
                       q + used + 3 + 3 * k);
        used += d.system->bodies[body].kind == HN_BODY_RIGID ? POSE_SIZE : 2;
    }
    CHECK_EQUAL(used, count);
    error = largest_difference(q, expected, count);
    direct_end(&d);
    return error;
}

static void check_order(const char *model, const char *file, int index, int first_steps,
                        int halvings)
{
    reference *ref = reference_load(file);
    double times[32], expected[STATE_MAX], last = 0.0;
    char place[64];
    CHECK(reference_numbers(ref, "/times", times, 32) > index);
    int count = 0;
    if (reference_has(ref, "/states/0/0/q")) {
        for (int body = 0;; ++body) {
            snprintf(place, sizeof place, "/states/%d/%d/q", index, body);
            if (!reference_has(ref, place)) break;
            count += reference_numbers(ref, place, expected + count, POSE_SIZE);
        }
    } else {
        snprintf(place, sizeof place, "/reference/q/values/%d", index);
        count = reference_numbers(ref, place, expected, 48);
    }
    reference_destroy(ref);
    for (int k = 0; k <= halvings; ++k) {
        int steps = first_steps << k;
        double error = error_at(model, times[index], steps, expected, count);
        print_message("%s: t = %g, %d steps: error %.3g, order %.3f\n", model, times[index], steps,
                      error, k > 0 ? log2(last / error) : 0.0);
        if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.997 to 2.001
        last = error;
    }
}

TEST(convected, has_order_two_on_the_chain_of_hinges)
{
    check_order("chain-revolute", "chain_revolute.json", 3, 100, 3); // t = 1
}

TEST(convected, has_order_two_on_other_references)
{
    check_order("pendulum", "pendulum.json", 2, 100, 3);                 // t = 1
    check_order("gyro-top", "gyro_top_steady.json", 1, 200, 2);          // t = 0.1
    check_order("cylindrical-pair", "cylindrical_pair.json", 0, 100, 2); // t = 0.1
    check_order("planar-pair", "planar_pair.json", 6, 200, 2);           // t = 0.1
}

// A closed loop with a redundant constraint: centres of mass of the five moving bodies.
TEST(convected, has_order_two_on_the_six_body_linkage)
{
    reference *ref = reference_load("six_body_linkage.json");
    enum { INDEX = 8, MOVING = 5 };
    double times[32], expected[MOVING][POSE_SIZE], last = 0.0;
    CHECK(reference_numbers(ref, "/times", times, 32) > INDEX); // t = 0.1
    for (int body = 0; body < MOVING; ++body) {
        char place[64];
        snprintf(place, sizeof place, "/states_bodies_1_to_5/%d/%d/q", INDEX, body);
        CHECK_EQUAL(reference_numbers(ref, place, expected[body], POSE_SIZE), POSE_SIZE);
    }
    reference_destroy(ref);
    for (int k = 0; k < 4; ++k) {
        int steps = 100 << k;
        double error = 0.0;
        direct d = direct_model("six-body-linkage");
        direct_steps(&d, times[INDEX] / steps, steps);
        for (int body = 0; body < MOVING; ++body) {
            hn_vec3 place = vec3_load(system_pose(d.state.q, d.system->tree_place[body + 1]));
            error = fmax(error, vec3_norm(vec3_subtract(place, vec3_load(expected[body]))));
        }
        print_message("six-body-linkage: %d steps: error %.3g m, order %.3f\n", steps, error,
                      k > 0 ? log2(last / error) : 0.0);
        if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 2.000
        last = error;
        direct_end(&d);
    }
}

// ---- every model file -------------------------------------------------------------------------------

TEST(convected, keeps_its_promises_on_trees_loops_and_point_masses)
{
    static const struct {
        const char *name;
        double h;
        int steps;
    } CASES[] = {
        {"cylindrical-pair", 0.001, 300},
        {"planar-pair", 0.001, 300},
        {"prismatic-pair", 0.001, 300},
        {"free-tree", 0.01, 200},
        {"gyro-top", 0.001, 500},
        {"pendulum", 0.01, 500},
        {"planar-spring", 0.005, 400},
        {"unit-circle", 0.1, 200},
        {"double-spherical-pendulum", 0.005, 400},
        {"nutating-top", 0.001, 400},
        {"six-body-linkage", 0.001, 300},
        {"rssr", 0.005, 300},
        {"four-bar", 0.005, 300},
        {"slider-crank", 0.005, 300},
        {"bricard", 0.005, 300},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        direct d = direct_model(CASES[i].name);
        worst w = watch(&d, CASES[i].h, CASES[i].steps);
        show(CASES[i].name, CASES[i].h, &d, &w);
        CHECK_BELOW(w.energy, 1e-12);        // measured 1.1e-14 (four-bar)
        CHECK_BELOW(w.momentum, 3e-13);      // measured 4.1e-15 (planar-spring)
        CHECK_BELOW(w.strain, 1e-14);        // measured 4.4e-16
        CHECK_BELOW(w.orthogonality, 1e-14); // measured 5.6e-16
        CHECK_BELOW(w.joints, 1e-12);        // m, rad; measured 1.1e-14 (planar-pair)
        direct_end(&d);
    }
}

TEST(convected, keeps_its_promises_with_every_joint_and_all_kinds_of_load)
{
    double worst_energy = 0.0, worst_joints = 0.0;
    for (int kind = 0; kind <= HN_JOINT_DISTANCE; ++kind)
        for (int tip = 0; tip < 3; ++tip)
            for (int springs = 0; springs < 2; ++springs) {
                static const hn_body_kind TIPS[] = {HN_BODY_RIGID, HN_BODY_POINT_MASS,
                                                    HN_BODY_PLANAR_POINT_MASS};
                bool point_kind = kind == HN_JOINT_FREE || kind == HN_JOINT_DISTANCE ||
                                  kind == HN_JOINT_SPHERICAL;
                if (tip > 0 && !point_kind) continue;
                if (tip == 2 && kind != HN_JOINT_FREE)
                    continue; // planar point masses are joined to the ground alone
                generic_chain chain = {.kind = (hn_joint_kind)kind,
                                       .tip = TIPS[tip],
                                       .grounded = true,
                                       .springs = springs == 1,
                                       .speed = 1.0,
                                       .seed = 11u + (uint64_t)kind};
                direct d = direct_chain(&chain);
                worst w = watch(&d, 0.01, 60);
                worst_energy = fmax(worst_energy, w.energy);
                worst_joints = fmax(worst_joints, w.joints);
                if (!(w.energy < 1e-12))
                    print_error("kind %d tip %d springs %d\n", kind, tip, springs);
                CHECK_BELOW(w.energy, 2e-13);        // measured 3.2e-15
                CHECK_BELOW(w.momentum, 3e-14);      // measured 5.1e-16
                CHECK_BELOW(w.strain, 1e-14);        // measured 4.4e-16
                CHECK_BELOW(w.orthogonality, 1e-14); // measured 3.9e-16
                CHECK_BELOW(w.joints, 5e-14);        // m, rad; measured 9.6e-16
                direct_end(&d);
            }
    MEASURED(worst_energy);
    MEASURED(worst_joints);
}

// ---- tangent and convergence ------------------------------------------------------------------------

static double tangent_error(direct *d, double h)
{
    int n = convected_unknown_count(d->solver);
    size_t count = (size_t)n;
    double *x = calloc(5 * count + 2 * count * count, sizeof(double)), *plus = x + count,
           *minus = plus + count, *more = minus + count;
    double *ignored = more + count, *tangent = ignored + count, *other = tangent + count * count;
    number_source numbers = {7};
    d->step.state = &d->state;
    d->step.step_size = h;
    d->step.time = d->time;
    for (int k = 0; k < n; ++k) x[k] = 0.05 * next_number(&numbers);
    CHECK_EQUAL(convected_linearise(d->solver, &d->step, x, more, ignored, tangent), HN_OK);
    double worst_difference = 0.0, largest = 0.0;
    const double move = 1e-5;
    for (int k = 0; k < n; ++k) {
        more[k] = move;
        CHECK_EQUAL(convected_linearise(d->solver, &d->step, x, more, plus, other), HN_OK);
        more[k] = -move;
        CHECK_EQUAL(convected_linearise(d->solver, &d->step, x, more, minus, other), HN_OK);
        more[k] = 0.0;
        for (int i = 0; i < n; ++i) {
            double slope = (plus[i] - minus[i]) / (2.0 * move),
                   own = tangent[(size_t)i * count + (size_t)k];
            // a dropped row stands in the matrix as "multiplier = 0" and has no residual
            if (i == k && own == 1.0 && plus[i] == 0.0 && minus[i] == 0.0) continue;
            worst_difference = fmax(worst_difference, fabs(slope - own));
            largest = fmax(largest, fabs(own));
        }
    }
    free(x);
    return worst_difference / largest;
}

TEST(convected, tangent_agrees_with_differences)
{
    double largest = 0.0;
    for (int kind = 0; kind <= HN_JOINT_DISTANCE; ++kind)
        for (int tip = 0; tip < 2; ++tip) {
            if (tip > 0 && kind != HN_JOINT_FREE) continue;
            generic_chain chain = {.kind = (hn_joint_kind)kind,
                                   .tip = tip == 0 ? HN_BODY_RIGID : HN_BODY_PLANAR_POINT_MASS,
                                   .grounded = true,
                                   .springs = true,
                                   .speed = 1.0,
                                   .seed = 3u + (uint64_t)kind};
            direct d = direct_chain(&chain);
            largest = fmax(largest, tangent_error(&d, 0.05));
            direct_end(&d);
        }
    direct d = direct_model("six-body-linkage");
    largest = fmax(largest, tangent_error(&d, 0.01));
    direct_end(&d);
    CHECK_BELOW(largest, 1e-10); // measured 1.4e-12
}

TEST(convected, newton_converges_quadratically)
{
    generic_chain chain = {.kind = HN_JOINT_REVOLUTE,
                           .tip = HN_BODY_RIGID,
                           .grounded = true,
                           .springs = true,
                           .speed = 4.0,
                           .seed = 5};
    direct d = direct_chain(&chain);
    direct_steps(&d, 0.05, 3);
    const newton_report *r = &d.report;
    int seen = 0;
    for (int k = 0; k + 1 < r->history_count; ++k) {
        print_message("residual %.3g -> %.3g, ratio to the square %.3g\n", r->history[k],
                      r->history[k + 1], r->history[k + 1] / (r->history[k] * r->history[k]));
        if (r->history[k] > 0.1 || r->history[k] < 1e-7) continue;
        CHECK(r->history[k + 1] < 10.0 * r->history[k] * r->history[k]); // measured 0.3 to 2.3
        seen++;
    }
    CHECK(seen >= 2);
    CHECK(r->iterations <= 6); // measured 4
    direct_end(&d);
}

TEST(convected, counts_unknowns_as_the_note_says)
{
    direct revolute = direct_model("chain-revolute"), spherical = direct_model("chain-spherical");
    direct circle = direct_model("unit-circle");
    CHECK_EQUAL(convected_unknown_count(revolute.solver),
                6 * 4 + 20); // the paper counts 12 n + m = 68
    CHECK_EQUAL(convected_unknown_count(spherical.solver), 6 * 4 + 12); // and 60
    CHECK_EQUAL(convected_unknown_count(circle.solver), 2 + 1);
    direct_end(&revolute);
    direct_end(&spherical);
    direct_end(&circle);
}

// ---- motion against closed forms, reversal, reports -----------------------------------------------------

// A free symmetric top: d3 goes round the fixed L at |L|/J1.
TEST(convected, free_symmetric_top_precesses_at_the_rate_of_euler)
{
    const double j1 = 0.4, j3 = 0.7, time = 2.0;
    const hn_vec3 omega = {0.9, -0.6, 1.7};
    double last = 0.0;
    for (int k = 0; k < 4; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        world.gravity = vec3(0.0, 0.0, 0.0);
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        hn_body_id body;
        def.mass = 1.3;
        def.inertia = vec3(j1, j1, j3);
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context, hn_model_set_angular_velocity(model, body, omega));
        direct d = direct_start(context, model);
        int steps = 100 << k;
        direct_steps(&d, time / steps, steps);
        hn_vec3 l = {j1 * omega.x, j1 * omega.y, j3 * omega.z};
        hn_mat3 turn = rotation_exponential(vec3_scale(time / j1, l));
        hn_vec3 axis = pose_direction(d.state.q, mat3_column(&d.system->bodies[0].user_axes, 2));
        double error = vec3_norm(vec3_subtract(axis, mat3_apply(&turn, vec3(0.0, 0.0, 1.0))));
        if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 2.000
        last = error;
        direct_end(&d);
    }
    CHECK_BELOW(last, 1e-4); // measured 4.0e-6
}

TEST(convected, runs_back_to_the_start_when_momenta_are_turned_round)
{
    static const char *const NAMES[] = {"chain-spherical", "six-body-linkage", "planar-spring"};
    for (int i = 0; i < 3; ++i) {
        direct d = direct_model(NAMES[i]);
        direct_steps(&d, 0.005, 100);
        for (size_t k = 0; k < d.size; ++k) d.state.impetus[k] = -d.state.impetus[k];
        direct_steps(&d, 0.005, 100);
        double error = largest_difference(d.state.q, d.system->q_start, (int)d.size);
        CHECK_BELOW(error, 3e-13); // m and parts of unit vectors; measured 4.7e-15
        direct_end(&d);
    }
}

// Reported multipliers, on the reported rows: they explain the change of linear and angular momentum of every body.
static double multiplier_error(direct *d, double h, int steps)
{
    const hn_system *system = d->system;
    double error = 0.0, largest = 0.0;
    for (int n = 0; n < steps; ++n) {
        double before[STATE_MAX], old[STATE_MAX];
        CHECK(d->size <= STATE_MAX);
        memcpy(before, d->state.impetus, d->size * sizeof(double));
        memcpy(old, d->state.q, d->size * sizeof(double));
        direct_steps(d, h, 1);
        double total[STATE_MAX] = {0.0};
        for (int k = 0; k < system->joint_count; ++k) {
            const joint *j = &system->reports[k].rows;
            double pose[2][POSE_SIZE];
            const int body[2] = {j->parent, j->child};
            for (int side = 0; side < 2; ++side)
                for (int c = 0; c < POSE_SIZE; ++c)
                    pose[side][c] = 0.5 * (system_pose(old, body[side])[c] +
                                           system_pose(d->state.q, body[side])[c]);
            for (int r = 0; r < j->row_count; ++r) {
                constraint_row row;
                hn_vec3 gradient[8];
                joint_type_of(j->kind)->row(j, r, &row);
                row_gradient(&row, pose[0], pose[1], gradient);
                for (int x = 0; x < 8; ++x)
                    if (body[x / 4] >= 0) {
                        double *to = total + POSE_SIZE * body[x / 4] + 3 * (x % 4);
                        vec3_store(vec3_add_scaled(vec3_load(to),
                                                   -d->step.multipliers[j->row_offset + r],
                                                   gradient[x]),
                                   to);
                    }
            }
        }
        for (int i = 0; i < system->body_count; ++i) {
            double wrench[2][TWIST_SIZE], force[TWIST_SIZE], pose[POSE_SIZE];
            size_t at = POSE_SIZE * (size_t)i;
            for (size_t c = 0; c < POSE_SIZE; ++c)
                pose[c] = 0.5 * (old[at + c] + d->state.q[at + c]);
            force_to_wrench(old + at, before + at, wrench[0]);
            force_to_wrench(d->state.q + at, d->state.impetus + at, wrench[1]);
            force_to_wrench(pose, total + at, force);
            double weight[3] = {system->gravity.x, system->gravity.y, system->gravity.z};
            for (int c = 0; c < TWIST_SIZE; ++c) {
                double load = force[c] + (c < 3 ? system->inertia[4 * i] * weight[c] : 0.0);
                if (c >= 3 && system->bodies[i].kind != HN_BODY_RIGID) continue;
                error = fmax(error, fabs((wrench[1][c] - wrench[0][c]) / h - load));
                largest = fmax(largest, fabs(load));
            }
        }
    }
    return error / largest;
}

TEST(convected, multipliers_explain_the_change_of_momenta)
{
    double worst_error = 0.0;
    for (int kind = 0; kind <= HN_JOINT_DISTANCE; ++kind) {
        generic_chain chain = {.kind = (hn_joint_kind)kind,
                               .tip = HN_BODY_RIGID,
                               .grounded = true,
                               .speed = 1.0,
                               .seed = 4};
        direct d = direct_chain(&chain);
        worst_error = fmax(worst_error, multiplier_error(&d, 0.01, 10));
        CHECK_NEAR(d.step.multiplier_time, d.time - 0.005, 1e-12);
        direct_end(&d);
    }
    direct d = direct_model("six-body-linkage");
    worst_error = fmax(worst_error, multiplier_error(&d, 0.002, 10));
    direct_end(&d);
    CHECK_BELOW(worst_error, 3e-13); // measured 4.2e-15
}

// The work of a constant force is force times way, that of a damper is never positive; the momenta reported to users
// have the kinetic energy and the angular momentum of the scheme's own.
TEST(convected, work_and_reported_momenta_are_those_of_the_motion)
{
    generic_options o = generic_defaults(HN_JOINT_CYLINDRICAL);
    o.grounded = true;
    generic_pair g = generic_build(&o);
    hn_load_def load = hn_load_def_default();
    hn_load_id id;
    load.body = g.body[CHILD];
    load.vector = vec3(3.0, -1.0, 2.0);
    load.point = vec3(-0.04, 0.02, 0.06); // its centre of mass
    CHECK_OK(g.context, hn_model_add_load(g.model, &load, &id));
    direct d = direct_start(g.context, g.model);
    int child = d.system->tree_place[1];
    hn_vec3 from = vec3_load(system_pose(d.state.q, child));
    worst w = watch(&d, 0.01, 200);
    hn_vec3 way = vec3_subtract(vec3_load(system_pose(d.state.q, child)), from);
    CHECK_BELOW(d.work - vec3_dot(load.vector, way), 1e-12); // J; measured 2.1e-14
    CHECK(fabs(d.work) > 0.1);
    CHECK_BELOW(w.energy, 3e-14); // measured 4.3e-16

    measures m = measure(&d);
    double p[STATE_MAX], kinetic = 0.0;
    hn_vec3 angular = {0.0, 0.0, 0.0};
    scheme_convected.momenta(d.system, &d.state, NULL, NULL, p);
    for (int i = 0; i < d.system->body_count; ++i) {
        double wrench[TWIST_SIZE];
        for (int k = 0; k < POSE_SIZE; ++k)
            kinetic += 0.5 * p[POSE_SIZE * i + k] * p[POSE_SIZE * i + k] /
                       d.system->inertia[4 * i + k / 3];
        force_to_wrench(system_pose(d.state.q, i), p + POSE_SIZE * (size_t)i, wrench);
        angular = vec3_add(
            angular, vec3_add(vec3_load(wrench + 3),
                              vec3_cross(vec3_load(system_pose(d.state.q, i)), vec3_load(wrench))));
    }
    CHECK_NEAR(kinetic, m.kinetic, 1e-12 * m.kinetic);
    CHECK_BELOW(vec3_norm(vec3_subtract(angular, m.angular)), 1e-12 * m.angular_scale);
    direct_end(&d);
}

TEST(convected, a_damper_only_takes_energy_also_at_large_steps)
{
    generic_options o = generic_defaults(HN_JOINT_SPHERICAL);
    o.grounded = o.spring = true;
    generic_pair g = generic_build(&o);
    direct d = direct_start(g.context, g.model);
    double gain = 0.0;
    for (int n = 0; n < 200; ++n) {
        direct_steps(&d, 0.04, 1);
        gain = fmax(gain, d.step.work);
    }
    CHECK_BELOW(gain, 1e-15); // J; measured 0
    CHECK(d.work < -0.1);
    direct_end(&d);
}

// A body on a rail with a spring and a damper: x'' = -(k/m) x - (c/m) x'.
TEST(convected, damped_oscillator_follows_its_closed_form)
{
    const double mass = 1.5, stiffness = 40.0, damping = 2.0, rest = 1.0, start = 0.2, time = 2.0;
    const double decay = 0.5 * damping / mass, omega = sqrt(stiffness / mass - decay * decay);
    const double expected =
        start * exp(-decay * time) * (cos(omega * time) + decay / omega * sin(omega * time));
    const hn_vec3 rail = {0.48, -0.6, 0.64};
    double last = 0.0;
    for (int k = 0; k < 4; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        world.gravity = vec3(0.0, 0.0, 0.0);
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        hn_body_id body;
        def.mass = mass;
        def.inertia = vec3(0.1, 0.2, 0.25);
        def.position = vec3_scale(rest + start, rail);
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        hn_joint_def joint_def = hn_joint_def_default(HN_JOINT_PRISMATIC);
        hn_joint_id joint_id;
        joint_def.body_a = hn_ground();
        joint_def.body_b = body;
        joint_def.axis_a = rail;
        joint_def.point_a = def.position;
        CHECK_OK(context, hn_model_add_joint(model, &joint_def, &joint_id));
        hn_spring_def spring = hn_spring_def_default();
        hn_load_id id;
        spring.body_a = hn_ground();
        spring.body_b = body;
        spring.point_b = def.position;
        spring.stiffness = stiffness;
        spring.damping = damping;
        spring.rest_length = rest;
        CHECK_OK(context, hn_model_add_spring(model, &spring, &id));
        direct d = direct_start(context, model);
        int steps = 100 << k;
        direct_steps(&d, time / steps, steps);
        double error = fabs(vec3_dot(rail, vec3_load(d.state.q)) - rest - expected);
        if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 2.000
        last = error;
        direct_end(&d);
    }
}

// Spun up about a principal axis: L grows by the torque, the work is torque times angle.
TEST(convected, constant_torque_turns_a_free_body_as_it_should)
{
    const double inertia = 0.4, torque = 1.3, rate = 0.7, time = 2.0, h = 0.01;
    for (int body_fixed = 0; body_fixed < 2; ++body_fixed) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_model_def world = hn_model_def_default();
        world.gravity = vec3(0.0, 0.0, 0.0);
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_body_def def = hn_body_def_default();
        hn_body_id body;
        def.mass = 1.7;
        def.inertia = vec3(0.25, 0.3, inertia);
        CHECK_OK(context, hn_model_add_body(model, &def, &body));
        CHECK_OK(context, hn_model_set_angular_velocity(model, body, vec3(0.0, 0.0, rate)));
        hn_load_def load = hn_load_def_default();
        hn_load_id id;
        load.body = body;
        load.torque = true;
        load.body_fixed = body_fixed == 1;
        load.vector = vec3(0.0, 0.0, torque);
        CHECK_OK(context, hn_model_add_load(model, &load, &id));
        direct d = direct_start(context, model);
        direct_steps(&d, h, (int)lround(time / h));
        measures m = measure(&d);
        double l = inertia * rate + torque * time;
        CHECK_BELOW(vec3_norm(vec3_subtract(m.angular, vec3(0.0, 0.0, l))),
                    1e-12); // kg m^2/s; measured 4.4e-16
        // energy: L^2/(2J), so that the work is what was put in
        CHECK_BELOW(d.work - 0.5 * (l * l / inertia - inertia * rate * rate),
                    1e-12); // J; measured 1.8e-13
        direct_end(&d);
    }
}

// The same mechanism with its bodies in another order, its joints the other way round, moved and turned as a whole.
TEST(convected, does_not_depend_on_order_names_of_sides_or_place)
{
    double largest = 0.0;
    for (int kind = 0; kind <= HN_JOINT_DISTANCE; ++kind) {
        generic_options o = generic_defaults((hn_joint_kind)kind), other = o;
        o.spring = other.spring = true;
        const int order[GENERIC_BODIES] = {GRANDCHILD, PARENT, CHILD};
        memcpy(other.order, order, sizeof order);
        other.swap = true;
        other.turn = rotation_exponential(vec3(0.7, -1.1, 0.4));
        other.shift = vec3(0.3, -2.0, 1.1);
        generic_pair g = generic_build(&o), moved = generic_build(&other);
        direct a = direct_start(g.context, g.model), b = direct_start(moved.context, moved.model);
        direct_steps(&a, 0.01, 50);
        direct_steps(&b, 0.01, 50);
        for (int i = 0; i < GENERIC_BODIES; ++i) {
            // ids count bodies in the order of definition
            const double *x = system_pose(a.state.q, a.system->tree_place[g.body[i].index1 - 1]);
            const double *y =
                system_pose(b.state.q, b.system->tree_place[moved.body[i].index1 - 1]);
            hn_vec3 place = vec3_add(mat3_apply(&other.turn, vec3_load(x)), other.shift);
            largest = fmax(largest, vec3_norm(vec3_subtract(place, vec3_load(y))));
        }
        direct_end(&a);
        direct_end(&b);
    }
    CHECK_BELOW(largest, 3e-13); // m; measured 4.5e-15
}

// ---- manners ----------------------------------------------------------------------------------------

TEST(convected, a_step_takes_no_memory)
{
    if (!malloc_counter_works()) skip();
    static const char *const NAMES[] = {"free-tree", "six-body-linkage", "planar-spring"};
    for (int i = 0; i < 3; ++i) {
        direct d = direct_model(NAMES[i]);
        int64_t before = malloc_counter_allocations();
        direct_steps(&d, 0.002, 100);
        CHECK_EQUAL(malloc_counter_allocations() - before, 0);
        direct_end(&d);
    }
}

static hn_status attempt(hn_context *context, void *user)
{
    (void)user;
    char path[1024];
    snprintf(path, sizeof path, "%s/models/four-bar.yaml", HN_SOURCE_DIR);
    hn_model *model = NULL;
    hn_system *system = NULL;
    scheme_solver *solver = NULL;
    hn_status status = hn_model_load(context, path, &model);
    if (status == HN_OK) status = system_create(context, model, 1e-3, false, &system);
    if (status == HN_OK) status = scheme_convected.solver_create(system, NULL, &solver);
    scheme_convected.solver_destroy(solver);
    system_destroy(system);
    hn_model_destroy(model);
    return status;
}

TEST(convected, survives_every_failing_allocation)
{
    CHECK(check_every_allocation_failing(attempt, NULL) > 10);
}

TEST(convected, names_the_body_that_has_no_inertia_about_an_axis)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_system *system = NULL;
    scheme_solver *solver = NULL;
    hn_model_def world = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    def.name = "needle";
    def.mass = 1.0;
    def.inertia = vec3(0.1, 0.1, 0.0);
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE); // holds its spin
    hn_joint_id hinge_id;
    hinge.body_a = hn_ground();
    hinge.body_b = body;
    hinge.axis_a = vec3(1.0, 0.0, 0.0);
    CHECK_OK(context, hn_model_add_joint(model, &hinge, &hinge_id));
    CHECK_OK(context, system_create(context, model, 1e-3, false, &system));
    CHECK_STATUS(context, scheme_convected.solver_create(system, NULL, &solver), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context), "'needle'");
    CHECK_CONTAINS(hn_context_message(context), "principal axis");
    CHECK(solver == NULL);
    system_destroy(system);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Eleven turns a step and two iterations: the step fails politely and delivers nothing.
TEST(convected, a_step_that_cannot_be_solved_leaves_the_state_alone)
{
    direct d = direct_model("gyro-top");
    double q[STATE_MAX];
    newton_report report = {0};
    newton_options few = {
        .residual_tolerance = 1e-16, .increment_tolerance = 1e-10, .iterations_max = 2};
    memcpy(q, d.step.q, d.size * sizeof(double));
    d.step.state = &d.state;
    d.step.step_size = 0.5;
    CHECK(scheme_convected.solver_step(d.solver, &d.step, &few, &report) != HN_OK);
    CHECK(memcmp(q, d.step.q, d.size * sizeof(double)) == 0);
    direct_steps(&d, 0.001, 10);
    direct_end(&d);
}
