// SPDX-License-Identifier: MIT
// A batch: a thousand arms on all processors, each with a start and a controller of its own.
#include <holonom/holonom.h>

#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

static const char ARM[] =
    "holonom: 1\n"
    "bodies:\n"
    "  upper: {shape: {box: {size: [0.1, 0.1, 0.5]}}, mass: 2, position: [0, 0, -0.25]}\n"
    "  lower: {shape: {box: {size: [0.1, 0.1, 0.5]}}, mass: 1, position: [0, 0, -0.75]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [upper, lower], at: [0, 0, -0.5], axis: y}}\n";

enum { MEMBERS = 1000, COORDINATES = 2 };

int main(void)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_batch *batch = NULL;
    static double start[COORDINATES * MEMBERS];
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    TRY(hn_model_parse(context, ARM, sizeof ARM - 1, "arm", &model));

    hn_batch_def def = hn_batch_def_default();
    def.simulation.step_size = 1e-3; // s
    def.simulation.inputs = true;
    def.simulation.ledger = false;
    def.member_count = MEMBERS;
    TRY(hn_batch_create(context, model, &def, &batch));

    // all members' shoulders, then all members' elbows
    for (int m = 0; m < MEMBERS; ++m) start[m] = 1.5 * m / MEMBERS; // rad
    TRY(hn_batch_set_joints(batch, start, NULL, COORDINATES, NULL));

    hn_batch_view angles, rates;
    hn_batch_input efforts;
    TRY(hn_batch_view_of(batch, "joints/coordinates", &angles));
    TRY(hn_batch_view_of(batch, "joints/rates", &rates));
    TRY(hn_batch_input_of(batch, "joints/effort", &efforts));

    for (int step = 0; step < 200; ++step) {
        for (int k = 0; k < COORDINATES * MEMBERS; ++k)
            efforts.data[k] = -40.0 * angles.data[k] - 5.0 * rates.data[k]; // N m
        TRY(hn_batch_step(batch, 1));
    }

    hn_batch_memory memory = hn_batch_memory_use(batch);
    printf(
        "%d members on %d threads, %d failed, %zu bytes each; the last shoulder is at %.3f rad\n",
        hn_batch_member_count(batch), hn_batch_thread_count(batch), hn_batch_failed_count(batch),
        memory.member, angles.data[MEMBERS - 1]);

done:
    if (status != HN_OK) fprintf(stderr, "%s\n", hn_context_message(context));
    hn_batch_destroy(batch);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
