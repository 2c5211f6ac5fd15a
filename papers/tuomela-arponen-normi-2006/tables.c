// SPDX-License-Identifier: MIT
// Prints Tables 8 to 11 of Tuomela, Arponen and Normi 2006 beside the published counts, then the planar formulation.
//
// Tolerances, fac_max and first steps are the paper's. Projections go to 1e-12 instead of 1e-5, so that the constraints
// hold to nearly round-off; "Newton" counts inexact iterations with old factors, which are many and cheap.
#include "schemes/projected_rk.h"

#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double END = 10.0; // s

typedef struct example {
    const char *title, *model;
    double tolerance;
    const char *published[2][2]; // steps (rejected) by energy imposed and projection
} example;

static const example EXAMPLES[3] = {
    {"3D pendulum", "jet-pendulum", 1e-6, {{"153 (23)", "152 (13)"}, {"164 (36)", "151 (12)"}}},
    {"planar quadrangle", "quadrangle", 1e-8, {{"1487 (181)", "1226 (161)"}, {"1300 (168)", "1218 (149)"}}},
    {"crank mechanism", "crank", 1e-7, {{"1996 (87)", "2077 (129)"}, {"2086 (352)", "2070 (113)"}}},
};

typedef struct result {
    projected_rk_statistics run; // without timing
    double seconds;
    double projection_share;
} result;

static hn_status integrate(hn_system *system, const hn_simulation_def *def, bool timing,
                           projected_rk_statistics *statistics)
{
    size_t n = (size_t)system->body_count, count = POSE_SIZE * n;
    size_t memory = (size_t)scheme_projected_rk.memory_count;
    double *block = calloc((5 + memory) * count + (size_t)system->constraint_count + 1, sizeof(double));
    scheme_solver *solver = NULL;
    if (block == NULL) return HN_OUT_OF_MEMORY;
    scheme_state state = {.q = block, .impetus = block + count, .memory = block + 5 * count};
    double *v = block + 2 * count;
    memcpy(state.q, system->q_start, count * sizeof(double));
    for (size_t i = 0; i < n; ++i)
        twist_to_velocity(state.q + POSE_SIZE * i, system->twist_start + TWIST_SIZE * i, v + POSE_SIZE * i);
    scheme_projected_rk.start(system, v, NULL, &state);
    scheme_step step = {.state = &state,
                        .step_size = END,
                        .q = block + 3 * count,
                        .delta = block + 4 * count,
                        .impetus = v,
                        .multipliers = block + (5 + memory) * count};
    newton_options options = {.residual_tolerance = 1e-16, .increment_tolerance = 1e-10, .iterations_max = 20};
    newton_report report = {0};
    hn_status status = scheme_projected_rk.solver_create(system, def, &solver);
    if (status == HN_OK) {
        projected_rk_set_timing(solver, timing);
        status = scheme_projected_rk.solver_step(solver, &step, &options, &report);
        *statistics = projected_rk_get_statistics(solver);
    }
    scheme_projected_rk.solver_destroy(solver);
    free(block);
    return status;
}

static hn_status run(const example *e, hn_projection projection, bool energy, bool planar, result *out)
{
    char path[1024];
    hn_status status = HN_OUT_OF_MEMORY;
    hn_model *model = NULL;
    hn_system *system = NULL;
    projected_rk_statistics timed = {0};
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return status;
    hn_simulation_def def = hn_simulation_def_default();
    def.absolute_tolerance = def.relative_tolerance = e->tolerance;
    def.first_step = 0.25;
    def.step_growth_max = 3.0;
    def.projection = projection;
    def.impose_energy = energy;
    def.planar = planar;
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, e->model);
    status = hn_model_load(context, path, &model);
    if (status == HN_OK) status = system_create(model, 1e-3, &system);
    clock_t begin = clock();
    if (status == HN_OK) status = integrate(system, &def, false, &out->run);
    out->seconds = (double)(clock() - begin) / (double)CLOCKS_PER_SEC;
    if (status == HN_OK) status = integrate(system, &def, true, &timed);
    out->projection_share = timed.projection_seconds / (timed.projection_seconds + timed.distribution_seconds + 1e-300);
    if (status != HN_OK) fprintf(stderr, "%s: %s %s\n", e->model, hn_status_name(status), hn_context_message(context));
    system_destroy(system);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status;
}

static void print_counts(const char *name, const result *r, double (*value)(const result *), const char *format)
{
    printf("  %-34s", name);
    for (int p = 0; p < 2; ++p) {
        char text[32];
        snprintf(text, sizeof text, format, value(&r[p]));
        printf(" %18s", text);
    }
    printf("\n");
}

static double average(const result *r)
{
    return (double)r->run.iterations / (double)r->run.projections;
}

static double largest(const result *r)
{
    return r->run.iterations_max;
}

static double distributions(const result *r)
{
    return (double)r->run.distributions;
}

static double projections(const result *r)
{
    return (double)r->run.projections;
}

static double rows(const result *r)
{
    return (double)r->run.rows;
}

static double invariants(const result *r)
{
    return (double)r->run.invariants;
}

static double cpu(const result *r)
{
    return r->seconds;
}

static double share(const result *r)
{
    return 100.0 * r->projection_share;
}

static double position(const result *r)
{
    return r->run.position_worst;
}

static double velocity(const result *r)
{
    return r->run.velocity_worst;
}

static double energy_error(const result *r)
{
    return r->run.energy_worst;
}

int main(void)
{
    for (int energy = 1; energy >= 0; --energy)
        for (int i = 0; i < 3; ++i) {
            const example *e = &EXAMPLES[i];
            result r[2];
            for (int p = 0; p < 2; ++p)
                if (run(e, (hn_projection)p, energy == 1, false, &r[p]) != HN_OK) return 1;
            printf("%s, energy %s (TAN Table %d)\n", e->title, energy == 1 ? "imposed" : "not imposed",
                   energy == 1 ? 8 + i : 11);
            printf("  %-34s %18s %18s\n", "", "quasi-orthogonal", "orthogonal");
            printf("  %-34s %18s %18s\n", "steps (rejected), published", e->published[energy][0],
                   e->published[energy][1]);
            printf("  %-34s", "steps (rejected)");
            for (int p = 0; p < 2; ++p) {
                char text[48];
                snprintf(text, sizeof text, "%lld (%lld)", (long long)r[p].run.steps, (long long)r[p].run.rejected);
                printf(" %18s", text);
            }
            printf("\n");
            print_counts("Newton, average", r, average, "%.2f");
            print_counts("Newton, largest", r, largest, "%.0f");
            print_counts("distributions", r, distributions, "%.0f");
            print_counts("projections", r, projections, "%.0f");
            print_counts("evaluations of dg", r, rows, "%.0f");
            print_counts("evaluations of df_inv", r, invariants, "%.0f");
            print_counts("CPU time, s", r, cpu, "%.4f");
            print_counts("projection's share of it, %", r, share, "%.0f");
            print_counts("largest |g|", r, position, "%.1e");
            print_counts("largest |dg y_1|", r, velocity, "%.1e");
            print_counts("energy error, J", r, energy_error, "%.1e");
            printf("\n");
        }
    result space, plane;
    if (run(&EXAMPLES[1], HN_PROJECTION_QUASI_ORTHOGONAL, true, false, &space) != HN_OK) return 1;
    if (run(&EXAMPLES[1], HN_PROJECTION_QUASI_ORTHOGONAL, true, true, &plane) != HN_OK) return 1;
    printf("planar quadrangle in space and in the plane (TAN 4.3): %.4f s and %.4f s, ratio %.2f; per step %.1f us and "
           "%.1f us\n",
           space.seconds, plane.seconds, space.seconds / plane.seconds, 1e6 * space.seconds / (double)space.run.steps,
           1e6 * plane.seconds / (double)plane.run.steps);
    return 0;
}
