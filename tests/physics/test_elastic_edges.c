// SPDX-License-Identifier: MIT
// Bodies tied by springs: the tree runs over the springs where joints end, and the reductions give one trajectory.
#include "physics/run.h"

#include "support/generic_models.h"

enum { STEPS = 100, NEIGHBOURS_MAX = 4 };
static const double STEP = 5e-3; // s

typedef enum spring_graph { CHAIN, RING, LADDER, STAR, GROUNDED, HINGED } spring_graph;

// Rigid bodies of generic inertia with springs between them; some are free, some held by joints.
static hn_model *spring_model(hn_context *context, spring_graph graph, int count, bool moving)
{
    number_source numbers = {11};
    hn_model_def world = hn_model_def_default();
    hn_model *model = NULL;
    hn_body_id *body = malloc((size_t)count * sizeof *body);
    CHECK(body != NULL);
    world.gravity = (hn_vec3){0.3, -0.2, -1.0};
    CHECK_OK(context, hn_model_create(context, &world, &model));
    for (int i = 0; i < count; ++i) {
        hn_body_def def = hn_body_def_default();
        def.mass = 1.0 + 0.3 * next_number(&numbers);
        def.inertia = (hn_vec3){0.05, 0.07, 0.06 + 0.01 * next_number(&numbers)};
        def.position = (hn_vec3){0.7 * i, 0.2 * next_number(&numbers), 0.2 * next_number(&numbers)};
        CHECK_OK(context, hn_model_add_body(model, &def, &body[i]));
        if (!moving || (graph == GROUNDED && i == 0) || (graph == HINGED && i % 2 == 1)) continue;
        CHECK_OK(context, hn_model_set_velocity(model, body[i], next_vector(&numbers, 0.5)));
        CHECK_OK(context,
                 hn_model_set_angular_velocity(model, body[i], next_vector(&numbers, 1.0)));
    }
    for (int i = 0; i < count; ++i) {
        // pairs of bodies at a hinge, or the first at the ground
        if (graph == HINGED ? i % 2 == 0 : !(graph == GROUNDED && i == 0)) continue;
        hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
        hn_joint_id id;
        hinge.body_a = graph == HINGED ? body[i - 1] : hn_ground();
        hinge.body_b = body[i];
        hinge.point_a = (hn_vec3){0.7 * i - 0.3, 0.0, 0.0};
        hinge.axis_a = next_direction(&numbers);
        CHECK_OK(context, hn_model_add_joint(model, &hinge, &id));
    }
    for (int i = 0; i < count; ++i) {
        const int to[NEIGHBOURS_MAX] = {
            graph == STAR   ? (i > 0 ? 0 : -1)
            : i + 1 < count ? i + 1
            : graph == RING ? 0
                            : -1,
            graph == LADDER && i + 2 < count ? i + 2 : -1,
            graph == HINGED && i + 3 < count && i % 4 == 0 ? i + 3 : -1,
            -1,
        };
        for (int k = 0; k < NEIGHBOURS_MAX; ++k) {
            if (to[k] < 0) continue;
            hn_spring_def spring = hn_spring_def_default();
            hn_load_id id;
            spring.body_a = body[i];
            spring.body_b = body[to[k]];
            spring.point_a = (hn_vec3){0.7 * i + 0.1, 0.05, 0.0};
            spring.point_b = (hn_vec3){0.7 * to[k] - 0.1, 0.0, 0.05};
            spring.stiffness = 40.0;
            spring.damping = i % 3 == 0 ? 0.5 : 0.0;
            CHECK_OK(context, hn_model_add_spring(model, &spring, &id));
        }
    }
    free(body);
    return model;
}

static run run_springs(spring_graph graph, int count, hn_scheme scheme, hn_reduction way)
{
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    return run_start(context, spring_model(context, graph, count, true), scheme, way, STEP, false);
}

static int count_elsewhere(const hn_system *system)
{
    int count = 0;
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] == PLACE_ELSEWHERE) ++count;
    return count;
}

TEST(elastic_edges, tree_runs_over_springs)
{
    // chain: all springs are edges of the tree; ring: all but one; and joints come first
    const struct {
        spring_graph graph;
        int elsewhere;
    } cases[] = {{CHAIN, 0}, {RING, 1}, {STAR, 0}, {GROUNDED, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        run r = run_springs(cases[c].graph, 20, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED);
        CHECK_EQUAL(count_elsewhere(r.sim->system), cases[c].elsewhere);
        CHECK_EQUAL(r.sim->system->cut_count, 0);
        run_end(&r);
    }
}

TEST(elastic_edges, reductions_agree)
{
    const spring_graph graphs[] = {CHAIN, RING, LADDER, STAR, GROUNDED, HINGED};
    const int sizes[] = {2, 7, 20};
    double worst = 0.0;
    for (size_t g = 0; g < sizeof graphs / sizeof graphs[0]; ++g)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
            for (int k = 0; k < 2; ++k) {
                if (graphs[g] == RING && sizes[s] == 2) continue;
                run r[HN_REDUCTION_COUNT];
                for (int w = 0; w < HN_REDUCTION_COUNT; ++w) {
                    r[w] = run_springs(graphs[g], sizes[s], SCHEMES[k], REDUCTIONS[w]);
                    run_step(&r[w], STEPS);
                }
                for (int w = 1; w < HN_REDUCTION_COUNT; ++w)
                    worst = fmax(worst, run_difference(&r[0], &r[w]));
                for (int w = 0; w < HN_REDUCTION_COUNT; ++w) run_end(&r[w]);
            }
    CHECK_BELOW(worst, 1e-12); // m; measured 1.6e-14
}

// The rates of a free joint belong to the body it names, wherever springs pull.
TEST(elastic_edges, free_joints_keep_their_body_as_root)
{
    hn_context *context = hn_context_create(NULL);
    CHECK(context != NULL);
    hn_model *model = spring_model(context, HINGED, 4, false);
    hn_joint_def free_joint = hn_joint_def_default(HN_JOINT_FREE);
    hn_joint_id id;
    hn_simulation *sim = NULL;
    const double rates[6] = {0.5, 0.0, 0.0, 0.0, 0.2, 0.0};
    free_joint.body_a = hn_ground();
    free_joint.body_b = hn_model_body(model, 2); // a spring reaches body 3 first
    CHECK_OK(context, hn_model_add_joint(model, &free_joint, &id));
    CHECK_OK(context, hn_model_set_joint_rates(model, id, rates, 6));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = STEP;
    CHECK_OK(context, hn_simulation_create(model, &def, &sim));
    CHECK_EQUAL(sim->system->joints[sim->system->tree_place[2]].kind, HN_JOINT_FREE);
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Memory of a simulation in bytes: what grows with the square of the size shows here first.
static size_t taken;
static void *counting_allocate(size_t size, void *user)
{
    (void)user;
    taken += size;
    return malloc(size);
}
static void counting_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static double bytes_per_body(spring_graph graph, int count)
{
    hn_allocator allocator = {.allocate = counting_allocate, .release = counting_release};
    hn_context *context = hn_context_create(&allocator);
    CHECK(context != NULL);
    hn_model *model = spring_model(context, graph, count, true);
    hn_simulation *sim = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = STEP;
    def.ledger = false;
    taken = 0;
    CHECK_OK(context, hn_simulation_create(model, &def, &sim));
    double size = (double)taken / count;
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return size;
}

TEST(elastic_edges, memory_grows_linearly)
{
    const spring_graph graphs[] = {CHAIN, RING, LADDER, GROUNDED, HINGED};
    for (size_t g = 0; g < sizeof graphs / sizeof graphs[0]; ++g) {
        double small = bytes_per_body(graphs[g], 100), large = bytes_per_body(graphs[g], 1600);
        CHECK_BELOW(large / small, 1.15); // measured 1.09; a dense border: 16
    }
}
