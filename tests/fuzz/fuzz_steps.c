// SPDX-License-Identifier: MIT
// Fuzz target: a model file is read, assembled and stepped under a scheme and a reduction that its bytes choose.
// Whatever comes of it has a status; success means finite numbers.
#define _XOPEN_SOURCE 700

#include <holonom/holonom.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// libfyaml keeps a buffer of some texts that it refuses; what is ours is not forgiven.
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

enum { BODIES_MAX = 24, STEPS = 4, SECONDS = 5 };

// `projected-rk` goes through a step in as many of its own as it takes: a million turns in one are no defect, but last.
// After some seconds of processor time they are cancelled, as a user would; then it has to end at once.
static hn_context *cancellable;

static void cancel(int number)
{
    (void)number;
    if (cancellable != NULL) hn_context_cancel(cancellable);
}

static void cancel_after(long seconds, hn_context *context)
{
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    cancellable = context;
    signal(SIGVTALRM, cancel);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void look(hn_simulation *simulation)
{
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_constraint_state constraints;
    hn_ledger ledger;
    hn_structure structure = hn_simulation_structure(simulation);
    if (hn_simulation_energy(simulation, &energy) == HN_OK &&
        !isfinite(energy.kinetic + energy.potential + energy.external_work))
        abort();
    if (hn_simulation_momentum(simulation, &linear, &angular) == HN_OK &&
        !isfinite(linear.x + linear.y + linear.z + angular.x + angular.y + angular.z))
        abort();
    if (hn_simulation_constraints(simulation, &constraints) == HN_OK &&
        !isfinite(constraints.residual + constraints.joint_opening))
        abort();
    if (hn_simulation_ledger(simulation, &ledger) == HN_OK)
        for (int k = 0; k < HN_PROMISE_COUNT; ++k)
            if (ledger.entry[k].conserved && !isfinite(ledger.entry[k].error)) abort();
    for (int k = 0; k < structure.body_count; ++k) {
        hn_body_state state;
        if (hn_simulation_body_state(simulation, hn_simulation_body(simulation, k), &state) ==
                HN_OK &&
            !isfinite(state.position.x + state.velocity.x + state.angular_velocity.x))
            abort();
    }
    for (int k = 0; k < structure.joint_count; ++k) {
        hn_joint_state state;
        (void)!hn_simulation_joint_state(simulation, hn_simulation_joint(simulation, k), &state);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    if (context == NULL) abort();
    unsigned sum = 0;
    for (size_t i = 0; i < size; ++i) sum = sum * 31 + data[i];
    if (hn_model_parse(context, (const char *)data, size, "fuzz", &model) == HN_OK &&
        hn_model_body_count(model) <= BODIES_MAX) {
        hn_run_options run = hn_model_run_options(model);
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = (hn_scheme)(sum / 7 % HN_SCHEME_COUNT);
        def.reduction = (hn_reduction)(sum / 77 % HN_REDUCTION_COUNT);
        def.step_size = run.step > 0.0 ? run.step : 1e-3;
        def.halvings_max = 3;
        if (hn_simulation_create(model, &def, &simulation) == HN_OK) {
            look(simulation);
            cancel_after(SECONDS, context);
            for (int k = 0; k < STEPS && hn_simulation_step(simulation, 1) == HN_OK; ++k)
                look(simulation);
            cancel_after(0, NULL);
        } else if (hn_context_message(context)[0] == '\0') {
            abort(); // a refusal says why
        }
    }
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return 0;
}
