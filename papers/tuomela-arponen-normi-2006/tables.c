// SPDX-License-Identifier: MIT
// Prints Tables 8 to 11 of Tuomela, Arponen and Normi 2006 (TAN) beside ours, then the planar formulation.
//
// Tolerances of the step control, fac_max and first steps are the paper's; internal steps run free, as there. Each table
// is given twice: with projections to 1e-5, the paper's "absolute Newton tolerance", and to 1e-12, our default. "Newton"
// counts iterations of a projection, in the quasi-orthogonal one inexact ones with old factors, which are cheap.
// d^2 g^i and d^3 g^i count components: in the quasi-orthogonal projection those of d^2 g(y_1, y_1) in the distribution
// and of one derivative along the energy's direction; our Newton iterations do not need them, nor second derivatives of
// f_inv.
#include "schemes/projected_rk.h"

#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double END = 10.0;                     // s
static const double TOLERANCES[2] = {1e-5, 1e-12}; // of projections
enum { RUNS = 3 };                                 // the fastest counts,
static const double LONG_RUN = 0.1;                // s, but long ones are made once

typedef struct published {
    const char *steps, *newton, *distributions, *projections, *cpu, *dg, *d2g, *d3g, *df, *d2f;
} published;

typedef struct example {
    const char *title, *model;
    double tolerance;
    published table[2][2]; // by energy imposed and projection
} example;

// clang-format off
static const example EXAMPLES[3] = {
    {"3D pendulum", "jet-pendulum", 1e-6,
     {{{"153 (23)", "0.929 (2)", "", "795", "1.98", "4158", "", "", "", ""},
       {"152 (13)", "0.987 (4)", "", "833", "4.80", "5885", "", "", "", ""}},
      {{"164 (36)", "0.97 (8)", "1395", "1280", "2.53", "4856", "9669", "-", "1211", "397"},
       {"151 (12)", "1.43 (4)", "1136", "1070", "5.05", "6124", "18372", "0", "631", "25"}}}},
    {"planar quadrangle", "quadrangle", 1e-8,
     {{{"1487 (181)", "0.113 (2)", "", "4332", "95.03", "32003", "", "", "", ""},
       {"1226 (161)", "0.995 (3)", "", "6852", "301.05", "40476", "", "", "", ""}},
      {{"1300 (168)", "3.25 (265)", "10139", "9721", "218.91", "47842", "613105", "-", "27958", "12194"},
       {"1218 (149)", "1.82 (4)", "9427", "10932", "499.41", "57473", "977041", "52388", "14961", "4746"}}}},
    {"crank mechanism", "crank", 1e-7,
     {{{"1996 (87)", "0.325 (2)", "", "7133", "191.27", "45054", "", "", "", ""},
       {"2077 (129)", "1.42 (5)", "", "11147", "2099.30", "87018", "", "", "", ""}},
      {{"2086 (352)", "6.69 (215)", "16859", "13358", "848.67", "124303", "1778438", "-", "108843", "58003"},
       {"2070 (113)", "2.61 (6)", "15175", "17458", "3292.00", "123597", "2101149", "36758", "31219", "10981"}}}},
};
// clang-format on

typedef struct result {
    projected_rk_statistics run; // without timing
    double seconds;
    double projection_share;
} result;

static hn_status integrate(hn_system *system, const hn_simulation_def *def, double projection_tolerance, bool timing,
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
        projected_rk_set_projection_tolerance(solver, projection_tolerance);
        status = scheme_projected_rk.solver_step(solver, &step, &options, &report);
        *statistics = projected_rk_get_statistics(solver);
    }
    scheme_projected_rk.solver_destroy(solver);
    free(block);
    return status;
}

static hn_status run(const example *e, hn_projection projection, bool energy, bool planar, double projection_tolerance,
                     result *out)
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
    for (int k = 0; k < RUNS && status == HN_OK; ++k) {
        clock_t begin = clock();
        status = integrate(system, &def, projection_tolerance, false, &out->run);
        double seconds = (double)(clock() - begin) / (double)CLOCKS_PER_SEC;
        if (k == 0 || seconds < out->seconds) out->seconds = seconds;
        if (seconds > LONG_RUN) break;
    }
    if (status == HN_OK) status = integrate(system, &def, projection_tolerance, true, &timed);
    out->projection_share = timed.projection_seconds / (timed.projection_seconds + timed.distribution_seconds + 1e-300);
    if (status != HN_OK) fprintf(stderr, "%s: %s %s\n", e->model, hn_status_name(status), hn_context_message(context));
    system_destroy(system);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status;
}

// One line: per projection the published entry, then ours with both tolerances.
static void print_line(const char *name, const char *const paper[2], const char ours[2][2][32])
{
    printf("  %-28s", name);
    for (int p = 0; p < 2; ++p) printf(" | %11s %12s %12s", paper[p], ours[p][0], ours[p][1]);
    printf("\n");
}

typedef double (*quantity)(const result *);

// `second` may be NULL
static void print_quantity(const char *name, const char *quasi, const char *full, const char *format, quantity first,
                           quantity second, const result r[2][2])
{
    char text[2][2][32];
    for (int p = 0; p < 2; ++p)
        for (int t = 0; t < 2; ++t)
            snprintf(text[p][t], sizeof text[p][t], format, first(&r[p][t]), second != NULL ? second(&r[p][t]) : 0.0);
    print_line(name, (const char *const[2]){quasi, full}, (const char(*)[2][32])text);
}

static double steps(const result *r)
{
    return (double)r->run.steps;
}

static double rejected(const result *r)
{
    return (double)r->run.rejected;
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

static double second_derivatives(const result *r)
{
    return (double)r->run.second_derivatives;
}

static double third_derivatives(const result *r)
{
    return (double)r->run.third_derivatives;
}

static double invariants(const result *r)
{
    return (double)r->run.invariants;
}

static double none(const result *r)
{
    (void)r;
    return 0.0;
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

static void print_table(const example *e, int number, bool energy, const result r[2][2])
{
    const published *q = &e->table[energy][0], *f = &e->table[energy][1];
    printf("%s, energy %s (TAN Table %d)\n", e->title, energy ? "imposed" : "not imposed", number);
    printf("  %-28s | %-37s | %-37s\n", "", "quasi-orthogonal projection", "orthogonal projection");
    print_line("", (const char *const[2]){"published", "published"},
               (const char[2][2][32]){{"to 1e-5", "to 1e-12"}, {"to 1e-5", "to 1e-12"}});
    print_quantity("steps (rejected)", q->steps, f->steps, "%.0f (%.0f)", steps, rejected, r);
    print_quantity("Newton, average (largest)", q->newton, f->newton, "%.2f (%.0f)", average, largest, r);
    print_quantity("distributions", q->distributions, f->distributions, "%.0f", distributions, NULL, r);
    print_quantity("projections", q->projections, f->projections, "%.0f", projections, NULL, r);
    print_quantity("evaluations of dg", q->dg, f->dg, "%.0f", rows, NULL, r);
    print_quantity("d^2 g^i", q->d2g, f->d2g, "%.0f", second_derivatives, NULL, r);
    print_quantity("d^3 g^i", q->d3g, f->d3g, "%.0f", third_derivatives, NULL, r);
    print_quantity("df_inv", q->df, f->df, "%.0f", invariants, NULL, r);
    print_quantity("d^2 f_inv", q->d2f, f->d2f, "%.0f", none, NULL, r);
    print_quantity("CPU time, s", q->cpu, f->cpu, "%.4f", cpu, NULL, r);
    print_quantity("projection's share of it, %", "", "", "%.0f", share, NULL, r);
    print_quantity("largest |g|", "", "", "%.1e", position, NULL, r);
    print_quantity("largest |dg y_1|", "", "", "%.1e", velocity, NULL, r);
    print_quantity("energy error, J", "", "", "%.1e", energy_error, NULL, r);
    printf("\n");
}

int main(void)
{
    for (int energy = 1; energy >= 0; --energy)
        for (int i = 0; i < 3; ++i) {
            result r[2][2];
            for (int p = 0; p < 2; ++p)
                for (int t = 0; t < 2; ++t)
                    if (run(&EXAMPLES[i], (hn_projection)p, energy == 1, false, TOLERANCES[t], &r[p][t]) != HN_OK)
                        return 1;
            print_table(&EXAMPLES[i], energy == 1 ? 8 + i : 11, energy == 1, (const result(*)[2])r);
        }
    result space, plane;
    const hn_projection quasi = HN_PROJECTION_QUASI_ORTHOGONAL;
    if (run(&EXAMPLES[1], quasi, true, false, TOLERANCES[1], &space) != HN_OK) return 1;
    if (run(&EXAMPLES[1], quasi, true, true, TOLERANCES[1], &plane) != HN_OK) return 1;
    printf("planar quadrangle in space and in the plane (TAN 4.3): %.4f s and %.4f s, ratio %.2f; per step %.1f us and "
           "%.1f us\n",
           space.seconds, plane.seconds, space.seconds / plane.seconds, 1e6 * space.seconds / (double)space.run.steps,
           1e6 * plane.seconds / (double)plane.run.steps);
    return 0;
}
