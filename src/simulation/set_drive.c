// SPDX-License-Identifier: MIT
// Drives that are changed between steps.
#include "simulation/simulation.h"

#include <string.h>

enum { WORD_COUNT = 9 };

// Where a word of hn_drive_def stands in a compiled drive; NULL: none
static double *value_of(element *e, drive_law *law, const char *word)
{
    const struct {
        const char *word;
        double *value;
    } words[WORD_COUNT] = {{"proportional", &law->proportional},
                           {"derivative", &law->derivative},
                           {"integral", &law->integral},
                           {"limit", &law->limit},
                           {"stall", &law->stall},
                           {"no_load", &law->no_load},
                           {"stiffness", law->contact > 0.0 ? &law->contact : &e->stiffness},
                           {"damping", law->contact > 0.0 ? &law->contact_damping : &e->damping},
                           {"rest", &e->rest}};
    for (int k = 0; k < WORD_COUNT; ++k)
        if (strcmp(words[k].word, word) == 0) return words[k].value;
    return NULL;
}

static bool is_possible(const drive_law *law, const char *word, double old, double value)
{
    if (!isfinite(value) && strcmp(word, "limit") != 0) return false;
    if (strcmp(word, "rest") == 0) return true;
    if (!(value >= 0.0)) return false;
    bool positive =
        strcmp(word, "limit") == 0 || strcmp(word, "no_load") == 0 || strcmp(word, "stall") == 0;
    bool memory = strcmp(word, "integral") == 0 || strcmp(word, "damping") == 0;
    // whether there is a damper, or an integral, was decided when the simulation was made
    if (memory && law->contact == 0.0 && (old > 0.0) != (value > 0.0)) return false;
    return !positive || value > 0.0;
}

hn_status hn_simulation_set_drive(hn_simulation *s, int index, const char *word, double value)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, word != NULL);
    hn_system *system = s->system;
    if (index < 0 || index >= system->drive_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "no drive %d; there are %d", index,
                            system->drive_count);
    element *e = &system->elements[system->drive_first + index];
    drive_law *law = &system->laws[index];
    double *to = value_of(e, law, word);
    if (to == NULL)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "drive '%s': no value '%s' that can be changed; there are "
                            "proportional, derivative, integral, limit, stall, no_load, "
                            "stiffness, damping and rest",
                            e->name, word);
    if (!is_possible(law, word, *to, value))
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "drive '%s': %s cannot become %g (it is %g)", e->name, word, value,
                            *to);
    const double *a = system_pose(s->state.q, e->a), *b = system_pose(s->state.q, e->b);
    double before = element_energy(e, a, b, NULL, s->angles);
    *to = value;
    double work = element_energy(e, a, b, NULL, s->angles) - before;
    s->work += work;
    s->works[system->mechanism[element_body(e)]] += work;
    s->steps[s->ahead].valid = false;
    simulation_forget_derived(s);
    return HN_OK;
}
