// SPDX-License-Identifier: MIT
// A controller from our own linearisation: a cart balances two rods that stand on each other, pushed by one force.
//
// The model is linearised where both rods stand upright; gains come from the Riccati equation of that linear system;
// the controller is called once per step with the state and answers with the force on the cart.
#include <holonom/holonom.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

enum { COORDINATES = 3, STATES = 6 };

static const char MODEL[] =
    "holonom: 1\n"
    "name: two rods on a cart\n"
    "bodies:\n"
    "  cart: {shape: {box: {size: [0.4, 0.2, 0.1]}}, mass: 2}\n"
    "  lower: {shape: {box: {size: [0.03, 0.03, 0.6]}}, mass: 0.4, position: [0, 0, 0.3]}\n"
    "  upper: {shape: {box: {size: [0.03, 0.03, 0.5]}}, mass: 0.3, position: [0, 0, 0.85]}\n"
    "joints:\n"
    "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
    "  ankle: {revolute: {bodies: [cart, lower], at: [0, 0, 0], axis: y}}\n"
    "  knee: {revolute: {bodies: [lower, upper], at: [0, 0, 0.6], axis: y}}\n";

// dP/ds = A^T P + P A - P b b^T P/r + Q, here with weights Q = 1
static void riccati_rate(const double *a, const double *b, double r, const double *p, double *rate)
{
    double gain[STATES] = {0.0};
    for (int i = 0; i < STATES; ++i)
        for (int k = 0; k < STATES; ++k) gain[i] += p[STATES * i + k] * b[k];
    for (int i = 0; i < STATES; ++i)
        for (int k = 0; k < STATES; ++k) {
            double sum = (i == k ? 1.0 : 0.0) - gain[i] * gain[k] / r;
            for (int m = 0; m < STATES; ++m)
                sum +=
                    a[STATES * m + i] * p[STATES * m + k] + p[STATES * i + m] * a[STATES * m + k];
            rate[STATES * i + k] = sum;
        }
}

// Gains of the controller that makes the integral of x^T x + r u^2 smallest: followed by Runge and Kutta until the
// Riccati equation is at rest
static void find_gains(const double *a, const double *b, double r, double *gains)
{
    enum { SIZE = STATES * STATES };
    const double step = 1e-3; // s
    double p[SIZE] = {0.0}, k[4][SIZE], q[SIZE];
    for (int i = 0; i < 20000; ++i) {
        const double part[4] = {0.0, 0.5, 0.5, 1.0};
        for (int stage = 0; stage < 4; ++stage) {
            for (int n = 0; n < SIZE; ++n)
                q[n] = p[n] + (stage == 0 ? 0.0 : step * part[stage] * k[stage - 1][n]);
            riccati_rate(a, b, r, q, k[stage]);
        }
        for (int n = 0; n < SIZE; ++n)
            p[n] += step / 6.0 * (k[0][n] + 2.0 * k[1][n] + 2.0 * k[2][n] + k[3][n]);
    }
    for (int i = 0; i < STATES; ++i) {
        gains[i] = 0.0;
        for (int n = 0; n < STATES; ++n) gains[i] += b[n] * p[STATES * n + i] / r;
    }
}

typedef struct balance {
    double gains[STATES];
    double largest; // N, force so far
} balance;

// once per step: state in, efforts out
static hn_status push_cart(hn_simulation *simulation, const hn_control *control, void *user)
{
    (void)simulation;
    balance *b = user;
    double force = 0.0;
    for (int k = 0; k < control->coordinate_count; ++k)
        force -=
            b->gains[k] * control->coordinates[k] + b->gains[COORDINATES + k] * control->rates[k];
    control->efforts[0] = force;
    if (fabs(force) > b->largest) b->largest = fabs(force);
    return HN_OK;
}

int main(void)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_linear_system *linear = NULL;
    bool upright = false;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    TRY(hn_model_parse(context, MODEL, strlen(MODEL), "rods", &model));

    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 2e-3; // s
    run.inputs = true;
    TRY(hn_simulation_create(model, &run, &simulation));

    TRY(hn_simulation_linearise(simulation, &linear));
    printf("%s grows with %.3f 1/s by itself\n", linear->state_names[1],
           linear->eigenvalue_real[0]);
    double force[STATES]; // how the force on the cart, the first input, enters
    for (int i = 0; i < STATES; ++i) force[i] = linear->b[i * linear->input_count];
    balance control = {.largest = 0.0};
    find_gains(linear->a, force, 0.1, control.gains);

    const double start[COORDINATES] = {0.0, 0.1, -0.05}, rates[COORDINATES] = {0.0, 0.0, 0.2};
    TRY(hn_simulation_set_joints(simulation, start, rates, COORDINATES));
    TRY(hn_simulation_set_controller(simulation, push_cart, &control));
    hn_view state;
    TRY(hn_simulation_view(simulation, "joints/coordinates", &state));
    for (int i = 0; i < 8; ++i) {
        TRY(hn_simulation_step(simulation, 500));
        printf("t = %.0f s: cart at %7.4f m, rods at %8.5f and %8.5f rad\n",
               hn_simulation_time(simulation), state.data[0], state.data[1], state.data[2]);
    }
    printf("largest force %.1f N\n", control.largest);
    upright =
        fabs(state.data[1]) < 1e-3 && fabs(state.data[2]) < 1e-3 && fabs(state.data[0]) < 1e-2;

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_linear_system_destroy(linear);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK && upright ? 0 : 1;
}
