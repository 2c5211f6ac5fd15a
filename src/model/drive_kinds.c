// SPDX-License-Identifier: MIT
// The kinds of drives as files and programs see them.
#include "model/drive_kinds.h"

#include <stddef.h>
#include <string.h>

// clang-format off
#define PLACE "joint", "coordinate"
static const char *const WORDS[HN_DRIVE_KIND_COUNT][DRIVE_WORDS_MAX + 1] = {
    [HN_DRIVE_EFFORT] = {PLACE, "value", "armature"},
    [HN_DRIVE_SERVO] = {PLACE, "target", "proportional", "derivative", "integral", "limit", "armature"},
    [HN_DRIVE_MOTOR] = {PLACE, "stall", "no_load", "command", "armature"},
    [HN_DRIVE_SPRING] = {PLACE, "stiffness", "damping", "rest", "table", "spline", "damper", "armature"},
    [HN_DRIVE_STOP] = {PLACE, "lower", "upper", "stiffness", "damping", "restitution", "armature"},
    [HN_DRIVE_MOTION] = {PLACE, "value", "armature"},
    [HN_DRIVE_FRICTION] = {PLACE, "effort", "coefficient", "radius", "static", "stribeck"},
    [HN_DRIVE_LATCH] = {PLACE, "value"},
};
// clang-format on

const char *const *drive_kind_words(hn_drive_kind kind)
{
    static const char *const none[] = {NULL};
    return (int)kind >= 0 && (int)kind < HN_DRIVE_KIND_COUNT ? WORDS[kind] : none;
}

int drive_kind_word_count(hn_drive_kind kind)
{
    const char *const *words = drive_kind_words(kind);
    int count = 0;
    while (words[count] != NULL) ++count;
    return count;
}

bool drive_kind_has_word(hn_drive_kind kind, const char *word)
{
    for (const char *const *known = drive_kind_words(kind); *known != NULL; ++known)
        if (strcmp(*known, word) == 0) return true;
    return false;
}
