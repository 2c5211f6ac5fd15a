// SPDX-License-Identifier: MIT
// Drives that are changed between steps.
#include "simulation/simulation.h"

#include "model/drive_kinds.h"

#include <stdio.h>
#include <string.h>

enum { WORD_COUNT = 9, LIST_SIZE = 160 };

// A number of hn_drive_def that can be changed, and where it stands in a compiled drive
typedef struct drive_number {
    const char *word;
    double *value;
} drive_number;

static bool has_number(const drive_law *law, const char *word)
{
    bool contact = strcmp(word, "stiffness") == 0 || strcmp(word, "damping") == 0;
    return drive_kind_has_word(law->kind, word) && !(law->rigid && contact);
}

// Those that this drive has
static int find_numbers(element *e, drive_law *law, drive_number *found)
{
    bool stop = law->kind == HN_DRIVE_STOP;
    const drive_number numbers[WORD_COUNT] = {
        {"proportional", &law->proportional},
        {"derivative", &law->derivative},
        {"integral", &law->integral},
        {"limit", &law->limit},
        {"stall", &law->stall},
        {"no_load", &law->no_load},
        {"stiffness", stop ? &law->contact : &e->stiffness},
        {"damping", stop ? &law->contact_damping : &e->damping},
        {"rest", &e->rest}};
    int count = 0;
    for (int k = 0; k < WORD_COUNT; ++k)
        if (has_number(law, numbers[k].word)) found[count++] = numbers[k];
    return count;
}

static hn_status fail_word(const hn_simulation *s, const drive_law *law, const char *word,
                           const drive_number *numbers, int count)
{
    char list[LIST_SIZE] = "none";
    size_t used = 0;
    for (int k = 0; k < count; ++k)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 k == 0           ? ""
                                 : k == count - 1 ? " and "
                                                  : ", ",
                                 numbers[k].word);
    return context_fail(s->context, HN_INVALID_ARGUMENT,
                        "drive '%s' (%s%s): no value '%s' that can be changed; there %s %s",
                        law->name, law->rigid ? "rigid " : "", hn_drive_kind_name(law->kind), word,
                        count > 1 ? "are" : "is", list);
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
    drive_number numbers[WORD_COUNT];
    int count = find_numbers(e, law, numbers), at = 0;
    while (at < count && strcmp(numbers[at].word, word) != 0) ++at;
    if (at == count) return fail_word(s, law, word, numbers, count);
    double *to = numbers[at].value;
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
