// SPDX-License-Identifier: MIT
// Snapshots: going on from one is the same run, bit for bit, and so is running again.
#include <holonom/holonom.h>

#include "support/check.h"
#include "simulation/simulation.h"
#include "support/generic_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES_MAX = 200 };

static hn_simulation *create(hn_context *context, const hn_model *model, hn_scheme scheme,
                             hn_reduction way)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = 2e-3;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    return simulation;
}

// Everything a user sees that follows from the state.
typedef struct picture {
    int count;
    double q[COORDINATES_MAX];
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_joint_state joint;
    hn_statistics statistics;
    double time;
} picture;

static picture look(hn_context *context, hn_simulation *simulation)
{
    picture p;
    memset(&p, 0, sizeof p); // padding too: pictures are compared as bytes
    p.count = hn_simulation_structure(simulation).coordinate_count;
    CHECK(p.count <= COORDINATES_MAX);
    CHECK_OK(context, hn_simulation_coordinates(simulation, p.q, p.count));
    CHECK_OK(context, hn_simulation_energy(simulation, &p.energy));
    CHECK_OK(context, hn_simulation_momentum(simulation, &p.linear, &p.angular));
    if (hn_simulation_structure(simulation).joint_count > 0)
        CHECK_OK(context, hn_simulation_joint_state(simulation, hn_simulation_joint(simulation, 0),
                                                    &p.joint));
    hn_statistics statistics = hn_simulation_statistics(simulation);
    memcpy(&p.statistics, &statistics, sizeof statistics);
    p.time = hn_simulation_time(simulation);
    return p;
}

// What differs between two pictures in a bit or more; "" for nothing.
static const char *difference(const picture *a, const picture *b)
{
    if (a->time != b->time) return "time";
    if (memcmp(a->q, b->q, sizeof a->q) != 0) return "coordinates";
    if (a->energy.kinetic != b->energy.kinetic) return "kinetic energy";
    if (a->energy.potential != b->energy.potential) return "potential energy";
    if (a->energy.external_work != b->energy.external_work) return "work";
    if (memcmp(&a->linear, &b->linear, sizeof a->linear) != 0) return "linear momentum";
    if (memcmp(&a->angular, &b->angular, sizeof a->angular) != 0) return "angular momentum";
    if (memcmp(a->joint.coordinates, b->joint.coordinates, sizeof a->joint.coordinates) != 0)
        return "joint coordinates";
    if (a->statistics.step_count != b->statistics.step_count ||
        a->statistics.newton_iteration_count != b->statistics.newton_iteration_count ||
        a->statistics.newton_iteration_max != b->statistics.newton_iteration_max ||
        a->statistics.last_residual != b->statistics.last_residual ||
        a->statistics.last_increment != b->statistics.last_increment)
        return "statistics";
    if (memcmp(a->joint.rates, b->joint.rates, sizeof a->joint.rates) != 0) return "joint rates";
    return "";
}

// Beside the state: what belongs to the last interval, which a snapshot does not hold. It is back after one step.
static const char *difference_of_interval(const picture *a, const picture *b)
{
    if (a->energy.discrete_energy != b->energy.discrete_energy) return "discrete energy";
    if (memcmp(&a->joint.reaction_force, &b->joint.reaction_force, sizeof(hn_vec3)) != 0)
        return "reaction force";
    if (memcmp(&a->joint.reaction_torque, &b->joint.reaction_torque, sizeof(hn_vec3)) != 0)
        return "reaction torque";
    return difference(a, b);
}

static void check_model(hn_context *context, const hn_model *model)
{
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
            hn_simulation *first = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            hn_simulation *second = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            size_t size = hn_simulation_snapshot_size(first);
            char *start = calloc(1, size), *middle = calloc(1, size), *end = calloc(1, size),
                 *again = calloc(1, size);
            CHECK(start != NULL && middle != NULL && end != NULL && again != NULL);
            CHECK_OK(context, hn_simulation_save(first, start, size));
            CHECK_OK(context, hn_simulation_step(first, 20));
            CHECK_OK(context, hn_simulation_save(first, middle, size));
            picture at_middle = look(context, first);
            CHECK_OK(context, hn_simulation_step(first, 20));
            picture at_end = look(context, first);
            CHECK_OK(context, hn_simulation_save(first, end, size));

            // back to the middle, and on
            CHECK_OK(context, hn_simulation_restore(first, middle, size));
            CHECK_EQUAL(hn_simulation_step_count(first), 20);
            picture p = look(context, first);
            CHECK_TEXT(difference(&p, &at_middle), "");
            CHECK_OK(context, hn_simulation_step(first, 20));
            p = look(context, first);
            CHECK_TEXT(difference_of_interval(&p, &at_end), "");
            CHECK_OK(context, hn_simulation_save(first, again, size));
            CHECK(memcmp(again, end, size) == 0);

            // into another simulation of the same model, which has been elsewhere, looking on the way or not
            CHECK_OK(context, hn_simulation_step(second, 3));
            CHECK_OK(context, hn_simulation_restore(second, middle, size));
            for (int k = 0; k < 20; ++k) {
                CHECK_OK(context, hn_simulation_step(second, 1));
                if (k % 2 == 0) p = look(context, second);
            }
            p = look(context, second);
            CHECK_TEXT(difference_of_interval(&p, &at_end), "");

            // from the start, and in a new simulation: the same again
            CHECK_OK(context, hn_simulation_restore(second, start, size));
            CHECK_OK(context, hn_simulation_step(second, 40));
            p = look(context, second);
            CHECK_TEXT(difference_of_interval(&p, &at_end), "");
            hn_simulation_destroy(second);
            second = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            CHECK_OK(context, hn_simulation_step(second, 40));
            p = look(context, second);
            CHECK_TEXT(difference_of_interval(&p, &at_end), "");
            // and it is a run in which something happens
            CHECK(memcmp(at_middle.q, at_end.q, sizeof at_end.q) != 0);

            hn_simulation_destroy(first);
            hn_simulation_destroy(second);
            free(start);
            free(middle);
            free(end);
            free(again);
        }
}

TEST(snapshots, continue_bit_for_bit)
{
    hn_context *context = hn_context_create(NULL);
    for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind) {
        generic_chain chain = {.kind = (hn_joint_kind)kind,
                               .springs = true,
                               .grounded = kind % 2 == 0,
                               .speed = 1.0,
                               .seed = 600 + (uint64_t)kind};
        hn_model *model = generic_chain_model(context, &chain);
        check_model(context, model);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

TEST(snapshots, of_twelve_bodies_continue_bit_for_bit)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, HN_SOURCE_DIR "/models/free-tree.yaml", &model));
    check_model(context, model);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// ---- steps that are discarded ----------------------------------------------------------------------------

// A step solved to its end and discarded, which a signal in its last moments leaves; or one that failed.
static void discard_step(hn_simulation *s)
{
    (void)simulation_solve_ahead(s, s->def.step_size, hn_simulation_time(s), false);
    s->steps[s->ahead].valid = false;
}

// The state goes on as if they had never been: saved, and in the simulation itself.
static void check_discarded(hn_context *context, const hn_model *model)
{
    enum { STEPS = 24 };
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
            hn_simulation *plain = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            hn_simulation *other = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            hn_simulation *resumed = create(context, model, (hn_scheme)scheme, (hn_reduction)way);
            size_t size = hn_simulation_snapshot_size(plain);
            char *one = calloc(1, size), *two = calloc(1, size);
            CHECK(one != NULL && two != NULL);
            int differing = 0;
            for (int k = 0; k < STEPS; ++k) {
                if (k % 3 != 1) discard_step(other);
                if (k % 3 == 0) discard_step(other);
                CHECK_OK(context, hn_simulation_save(other, two, size));
                CHECK_OK(context, hn_simulation_restore(resumed, two, size));
                CHECK_OK(context, hn_simulation_step(plain, 1));
                CHECK_OK(context, hn_simulation_step(other, 1));
                CHECK_OK(context, hn_simulation_step(resumed, 1));
                CHECK_OK(context, hn_simulation_save(plain, one, size));
                CHECK_OK(context, hn_simulation_save(other, two, size));
                differing += memcmp(one, two, size) != 0;
                CHECK_OK(context, hn_simulation_save(resumed, two, size));
                differing += memcmp(one, two, size) != 0;
            }
            if (differing > 0)
                printf("%s %s: %d of %d states differ\n", hn_scheme_name((hn_scheme)scheme),
                       hn_reduction_name((hn_reduction)way), differing, 2 * STEPS);
            CHECK_EQUAL(differing, 0);
            hn_simulation_destroy(plain);
            hn_simulation_destroy(other);
            hn_simulation_destroy(resumed);
            free(one);
            free(two);
        }
}

TEST(snapshots, know_nothing_of_discarded_steps)
{
    hn_context *context = hn_context_create(NULL);
    for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; kind += 2) {
        generic_chain chain = {.kind = (hn_joint_kind)kind,
                               .springs = true,
                               .grounded = kind % 4 == 0,
                               .speed = 1.0,
                               .seed = 700 + (uint64_t)kind};
        hn_model *model = generic_chain_model(context, &chain);
        check_discarded(context, model);
        hn_model_destroy(model);
    }
    const char *const loops[] = {"four-bar", "slider-crank"};
    for (size_t k = 0; k < sizeof loops / sizeof loops[0]; ++k) {
        hn_model *model = NULL;
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, loops[k]);
        CHECK_OK(context, hn_model_load(context, path, &model));
        check_discarded(context, model);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

// Angles that have gone round more than once are part of the state.
TEST(snapshots, remember_turns)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    def.mass = 1.0;
    def.inertia = vec3(0.1, 0.1, 0.15);
    hn_body_id body;
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.body_a = hn_ground();
    hinge.body_b = body;
    hinge.axis_a = vec3(0.0, 0.0, 1.0);
    hn_joint_id id;
    CHECK_OK(context, hn_model_add_joint(model, &hinge, &id));
    const double rate = 50.0;
    CHECK_OK(context, hn_model_set_joint_rates(model, id, &rate, 1));
    hn_simulation *simulation =
        create(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED);
    size_t size = hn_simulation_snapshot_size(simulation);
    char *snapshot = calloc(1, size);
    CHECK(snapshot != NULL);
    CHECK_OK(context, hn_simulation_step(simulation, 500)); // one second, eight turns
    hn_joint_state before, after;
    CHECK_OK(context, hn_simulation_joint_state(simulation, id, &before));
    CHECK_NEAR(before.coordinates[0], 50.0, 0.1); // 2 atan(h rate/2)/h per second
    CHECK_OK(context, hn_simulation_save(simulation, snapshot, size));
    CHECK_OK(context, hn_simulation_step(simulation, 300));
    CHECK_OK(context, hn_simulation_restore(simulation, snapshot, size));
    CHECK_OK(context, hn_simulation_joint_state(simulation, id, &after));
    CHECK(after.coordinates[0] == before.coordinates[0]);
    free(snapshot);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(snapshots, of_a_wrong_size_are_refused)
{
    hn_context *context = hn_context_create(NULL);
    generic_chain chain = {.kind = HN_JOINT_REVOLUTE, .speed = 1.0, .seed = 610};
    hn_model *model = generic_chain_model(context, &chain), *larger = NULL;
    CHECK_OK(context, hn_model_load(context, HN_SOURCE_DIR "/models/free-tree.yaml", &larger));
    hn_simulation *simulation =
        create(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED);
    hn_simulation *other = create(context, larger, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED);
    size_t size = hn_simulation_snapshot_size(simulation),
           other_size = hn_simulation_snapshot_size(other);
    CHECK(other_size > size);
    char *snapshot = calloc(1, other_size);
    CHECK(snapshot != NULL);
    CHECK_STATUS(context, hn_simulation_save(simulation, snapshot, size - 1), HN_INVALID_ARGUMENT);
    CHECK_STATUS(context, hn_simulation_save(simulation, snapshot, other_size),
                 HN_INVALID_ARGUMENT);
    CHECK_OK(context, hn_simulation_save(other, snapshot, other_size));
    CHECK_OK(context, hn_simulation_step(simulation, 5));
    picture before = look(context, simulation);
    CHECK_STATUS(context, hn_simulation_restore(simulation, snapshot, other_size),
                 HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(context), "bytes");
    CHECK_STATUS(context, hn_simulation_restore(simulation, snapshot, 0), HN_INVALID_ARGUMENT);
    picture after = look(context, simulation);
    CHECK_TEXT(difference_of_interval(&before, &after), "");
    free(snapshot);
    hn_simulation_destroy(simulation);
    hn_simulation_destroy(other);
    hn_model_destroy(model);
    hn_model_destroy(larger);
    hn_context_destroy(context);
}

// A snapshot whose numbers were changed together with its checksum
TEST(snapshots, that_are_not_finite_are_refused)
{
    static const double BAD[] = {(double)NAN, HUGE_VAL, 1e300};
    hn_context *context = hn_context_create(NULL);
    const generic_chain chain = {
        .kind = HN_JOINT_REVOLUTE, .grounded = true, .speed = 1.0, .seed = 3};
    hn_model *model = generic_chain_model(context, &chain);
    hn_simulation *s = create(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED);
    CHECK_OK(context, hn_simulation_step(s, 3));
    size_t size = hn_simulation_snapshot_size(s);
    char *good = malloc(size), *bad = malloc(size), *after = malloc(size);
    CHECK(good != NULL && bad != NULL && after != NULL);
    CHECK_OK(context, hn_simulation_save(s, good, size));
    for (int k = 0; k < 3; ++k) {
        s->state.q[0] = BAD[k];
        CHECK_OK(context, hn_simulation_save(s, bad, size));
        CHECK_OK(context, hn_simulation_restore(s, good, size));
        CHECK_STATUS(context, hn_simulation_restore(s, bad, size), HN_INVALID_ARGUMENT);
        CHECK_CONTAINS(hn_context_message(context), "its state is not finite");
        CHECK_OK(context, hn_simulation_save(s, after, size));
        CHECK(memcmp(good, after, size) == 0);
        CHECK_OK(context, hn_simulation_step(s, 1));
        CHECK_OK(context, hn_simulation_restore(s, good, size));
    }
    free(good);
    free(bad);
    free(after);
    hn_simulation_destroy(s);
    hn_model_destroy(model);
    hn_context_destroy(context);
}
