// SPDX-License-Identifier: MIT
// Prints what section 3.1 of Leyendecker, Marsden and Ortiz 2008 says of its mass point on a circle beside what is
// found here: multipliers, energies and constraints on all levels, without gravity (Figs. 1, 2) and with it (Figs. 4,
// 5).
//
// The paper prints the multiplier with the opposite sign of its own equations (22), (34); compare magnitudes.
#include <holonom/holonom.h>

#include <math.h>
#include <stdio.h>

enum { STEPS = 100 };
static const double STEP_SIZE = 0.1; // s, as in the paper

#define TRY(call)                                                                                  \
    do {                                                                                           \
        hn_status status = (call);                                                                 \
        if (status != HN_OK) return status;                                                        \
    } while (0)

typedef struct range {
    double low, high;
} range;

static void widen(range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

typedef struct record {
    range multiplier, discrete_energy, hamiltonian; // |lambda|, E_d, H_d
    double first_multiplier;
    double position, velocity, momentum, projected; // largest residuals
} record;

static const record EMPTY = {.multiplier = {HUGE_VAL, -HUGE_VAL},
                             .discrete_energy = {HUGE_VAL, -HUGE_VAL},
                             .hamiltonian = {HUGE_VAL, -HUGE_VAL}};

static hn_status measure(hn_simulation *sim, record *r)
{
    double lambda;
    hn_energy energy;
    hn_constraint_state state;
    TRY(hn_simulation_multipliers(sim, &lambda, 1));
    if (hn_simulation_step_count(sim) == 0) r->first_multiplier = fabs(lambda);
    widen(&r->multiplier, fabs(lambda));
    if (hn_simulation_step_count(sim) == 0) return HN_OK;
    TRY(hn_simulation_energy(sim, &energy));
    widen(&r->discrete_energy, energy.discrete_energy);
    widen(&r->hamiltonian, energy.kinetic + energy.potential);
    TRY(hn_simulation_constraints(sim, &state));
    r->position = fmax(r->position, state.residual);
    r->velocity = fmax(r->velocity, state.hidden_velocity);
    r->momentum = fmax(r->momentum, state.hidden_momentum);
    r->projected = fmax(r->projected, state.hidden_projected);
    return HN_OK;
}

static hn_status simulate(hn_simulation *sim, record *r)
{
    *r = EMPTY;
    TRY(measure(sim, r));
    for (int n = 0; n < STEPS; ++n) {
        TRY(hn_simulation_step(sim, 1));
        TRY(measure(sim, r));
    }
    return HN_OK;
}

static hn_status run(hn_context *context, const char *name, record *r)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    hn_model *model = NULL;
    hn_simulation *sim = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_VARIATIONAL;
    def.step_size = STEP_SIZE;
    hn_status status = hn_model_load(context, path, &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &sim);
    if (status == HN_OK) status = simulate(sim, r);
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    return status;
}

static void row(const char *quantity, const char *paper, const char *format, double low,
                double high)
{
    char ours[64], second[32];
    snprintf(ours, sizeof ours, format, low);
    snprintf(second, sizeof second, format, high);
    printf("  %-36s  %-26s  %s%s%s\n", quantity, paper, ours, low == high ? "" : " ... ",
           low == high ? "" : second);
}

int main(void)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    record circle, pendulum;
    hn_status status = run(context, "unit-circle", &circle);
    if (status == HN_OK) status = run(context, "pendulum", &pendulum);
    if (status == HN_OK) {
        printf("Section 3.1, h = %g, %d steps\n", STEP_SIZE, STEPS);
        printf("  %-36s  %-26s  %s\n", "without gravity (Figs. 1, 2)", "paper", "ours");
        row("first multiplier", "1.00251257867", "%.13f", circle.first_multiplier,
            circle.first_multiplier);
        row("all multipliers", "1.00251257867", "%.13f", circle.multiplier.low,
            circle.multiplier.high);
        row("H_d, from momenta", "as at the start, 0.5", "%.14f", circle.hamiltonian.low,
            circle.hamiltonian.high);
        row("E_d, from velocities", "constant, a little off", "%.14f", circle.discrete_energy.low,
            circle.discrete_energy.high);
        row("constraints, positions", "exact", "%.1e", circle.position, circle.position);
        row("constraints, velocities (45)", "exact", "%.1e", circle.velocity, circle.velocity);
        row("constraints, momenta (46)", "exact", "%.1e", circle.momentum, circle.momentum);
        printf("\n  %-36s  %-26s  %s\n", "with gravity (Figs. 4, 5)", "paper", "ours");
        row("H_d, from momenta", "oscillates less than E_d", "%+.4f", pendulum.hamiltonian.low,
            pendulum.hamiltonian.high);
        row("E_d, from velocities", "oscillates, other sign", "%+.4f", pendulum.discrete_energy.low,
            pendulum.discrete_energy.high);
        row("constraints, positions", "exact", "%.1e", pendulum.position, pendulum.position);
        row("constraints, velocities (45)", "exact", "%.1e", pendulum.velocity, pendulum.velocity);
        row("constraints, momenta (46)", "not fulfilled", "%.1e", pendulum.momentum,
            pendulum.momentum);
        row("the same, projected momenta", "exact", "%.1e", pendulum.projected, pendulum.projected);
    } else {
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    }
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
