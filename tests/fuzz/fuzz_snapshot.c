// SPDX-License-Identifier: MIT
// Fuzz target: snapshots. The bytes themselves, and a true snapshot with some of its bytes replaced: both are refused
// and change nothing, unless nothing was changed.
#include <holonom/holonom.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char MODEL[] =
    "holonom: 1\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [1, 2, 2.5], position: [1, 0, 0]}\n"
    "  b: {mass: 2, inertia: [1, 1, 1.5], position: [2, 0, 0]}\n"
    "joints:\n"
    "  h: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
    "  s: {spherical: {bodies: [a, b], at: [1.5, 0, 0]}}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-2;
    if (context == NULL ||
        hn_model_parse(context, MODEL, sizeof MODEL - 1, "fuzz", &model) != HN_OK ||
        hn_simulation_create(model, &def, &simulation) != HN_OK ||
        hn_simulation_step(simulation, 2) != HN_OK)
        abort();
    size_t true_size = hn_simulation_snapshot_size(simulation);
    unsigned char *before = malloc(true_size), *changed = malloc(true_size),
                  *after = malloc(true_size);
    if (before == NULL || changed == NULL || after == NULL) abort();
    if (hn_simulation_save(simulation, before, true_size) != HN_OK) abort();

    if (hn_simulation_restore(simulation, data, size) == HN_OK &&
        (size != true_size || memcmp(data, before, size) != 0))
        abort();
    // pairs of bytes: how far to go on, and what to write there
    memcpy(changed, before, true_size);
    size_t at = 0;
    for (size_t i = 0; i + 2 < size; i += 3) {
        at = (at + data[i] + 256 * (size_t)data[i + 1]) % true_size;
        changed[at] = data[i + 2];
    }
    bool same = memcmp(changed, before, true_size) == 0;
    if ((hn_simulation_restore(simulation, changed, true_size) == HN_OK) != same) abort();
    if (hn_simulation_save(simulation, after, true_size) != HN_OK) abort();
    if (memcmp(before, after, true_size) != 0) abort();
    free(before);
    free(changed);
    free(after);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return 0;
}
