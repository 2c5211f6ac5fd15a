// SPDX-License-Identifier: MIT
// A step takes no memory: not from the context, not behind its back in a library.
#include "physics/generic_pair.h"
#include "support/malloc_counter.h"

enum { STEPS = 1000 };

static void check_silent(run *r, const char *name)
{
    int64_t before = malloc_counter_allocations();
    hn_status status = hn_simulation_step(r->sim, STEPS);
    int64_t taken = malloc_counter_allocations() - before;
    if (taken != 0)
        print_error("%s, %s, %s\n", name, hn_scheme_name(hn_simulation_scheme(r->sim)),
                    hn_reduction_name(hn_simulation_reduction(r->sim)));
    CHECK_OK(r->context, status);
    CHECK_EQUAL(taken, 0);
    run_end(r);
}

TEST(allocations, are_counted_where_there_are_some)
{
    if (!malloc_counter_works()) skip();
    int64_t before = malloc_counter_allocations();
    run r = run_model("pendulum", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.0, true);
    CHECK(malloc_counter_allocations() > before);
    run_end(&r);
}

TEST(allocations, no_step_of_a_model_file_takes_memory)
{
    static const char *const NAMES[] = {"pendulum",    "gyro-top",      "cylindrical-pair",
                                        "planar-pair", "planar-spring", "chain-revolute",
                                        "free-tree"};
    if (!malloc_counter_works()) skip();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; ++i)
        for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
            for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
                for (int ledger = 0; ledger < 2; ++ledger) {
                    run r = run_model(NAMES[i], SCHEMES[s], REDUCTIONS[k], 0.0, ledger == 1);
                    check_silent(&r, NAMES[i]);
                }
}

// a spring between bodies that are not neighbours, a torsional spring, loads in time
TEST(allocations, no_step_with_loads_takes_memory)
{
    if (!malloc_counter_works()) skip();
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s)
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
            generic_options o = generic_defaults(HN_JOINT_REVOLUTE);
            o.grounded = o.spring = true;
            generic_pair g = generic_build(&o);
            hn_load_id id;
            hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
            torsion.joint = g.joint[HINGE];
            torsion.stiffness = 3.0;
            torsion.damping = 0.1;
            CHECK_OK(g.context, hn_model_add_torsion_spring(g.model, &torsion, &id));
            static const double TIMES[] = {0.0, 0.3, 1.0}, FACTORS[] = {0.0, 1.0, -0.5};
            hn_load_def load = hn_load_def_default();
            load.body = g.body[CHILD];
            load.torque = load.body_fixed = true;
            load.vector = vec3(0.5, 0.2, -0.3);
            load.profile = (hn_profile){
                .kind = HN_PROFILE_TABLE, .times = TIMES, .factors = FACTORS, .count = 3};
            CHECK_OK(g.context, hn_model_add_load(g.model, &load, &id));
            run r = run_start(g.context, g.model, SCHEMES[s], REDUCTIONS[k], 0.002, true);
            check_silent(&r, "generic pair with loads");
        }
}
