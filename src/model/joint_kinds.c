// SPDX-License-Identifier: MIT
// The kinds of joints as files and programs see them.
#include "model/joint_kinds.h"

#include <string.h>

#define WORD_OF(NAME, word, sentence) #word,
static const char *const WORDS[] = {HN_JOINT_KIND_LIST(WORD_OF)};
#undef WORD_OF
_Static_assert(sizeof WORDS / sizeof WORDS[0] == HN_JOINT_KIND_COUNT,
               "HN_JOINT_KIND_COUNT is the length of HN_JOINT_KIND_LIST");

// clang-format off
#define ROTATION_VECTOR {"rotation_x", "rad"}, {"rotation_y", "rad"}, {"rotation_z", "rad"}
static const joint_kind_facts KINDS[HN_JOINT_KIND_COUNT] = {
    [HN_JOINT_SPHERICAL] = {.takes_points = true, .coordinate_count = 3, .coordinates = {ROTATION_VECTOR}},
    [HN_JOINT_REVOLUTE] = {AXES_ONE, .scalar_count = 1, .coordinate_count = 1, .coordinates = {{"angle", "rad"}}},
    [HN_JOINT_PRISMATIC] = {AXES_ONE, .scalar_count = 1, .coordinate_count = 1, .coordinates = {{"displacement", "m"}}},
    [HN_JOINT_CYLINDRICAL] = {AXES_ONE, .scalar_count = 2, .coordinate_count = 2,
                              .coordinates = {{"displacement", "m"}, {"angle", "rad"}}},
    [HN_JOINT_PLANAR] = {AXES_NORMAL, .scalar_count = 3, .coordinate_count = 3,
                         .coordinates = {{"displacement_1", "m"}, {"displacement_2", "m"}, {"angle", "rad"}}},
    [HN_JOINT_UNIVERSAL] = {AXES_TWO, .scalar_count = 2, .coordinate_count = 2,
                            .coordinates = {{"angle_a", "rad"}, {"angle_b", "rad"}}},
    [HN_JOINT_FIXED] = {.anywhere = true},
    [HN_JOINT_FREE] = {.anywhere = true, .takes_points = true, .takes_planar_points = true, .scalar_count = 3,
                       .coordinate_count = 6, .coordinates = {{"x", "m"}, {"y", "m"}, {"z", "m"}, ROTATION_VECTOR}},
    [HN_JOINT_DISTANCE] = {.between_points = true, .takes_points = true, .takes_planar_points = true},
    [HN_JOINT_SCREW] = {AXES_ONE, .scalar_count = 2, .threaded = true, .coordinate_count = 2,
                        .coordinates = {{"displacement", "m"}, {"angle", "rad"}}},
    [HN_JOINT_SLOT] = {AXES_ONE, .scalar_count = 1, .coordinate_count = 4,
                       .coordinates = {{"displacement", "m"}, ROTATION_VECTOR}},
};
// clang-format on

const joint_kind_facts *joint_kind_facts_of(hn_joint_kind kind)
{
    static const joint_kind_facts none = {.axes = AXES_NONE};
    return (int)kind >= 0 && (int)kind < HN_JOINT_KIND_COUNT ? &KINDS[kind] : &none;
}

bool joint_kind_has_angle(hn_joint_kind kind)
{
    const joint_kind_facts *facts = joint_kind_facts_of(kind);
    for (int k = 0; k < facts->coordinate_count; ++k)
        if (strcmp(facts->coordinates[k].word, "angle") == 0) return true;
    return false;
}

int joint_kind_rotation_place(hn_joint_kind kind)
{
    const joint_kind_facts *facts = joint_kind_facts_of(kind);
    for (int k = 0; k < facts->coordinate_count; ++k)
        if (strcmp(facts->coordinates[k].word, "rotation_x") == 0) return k;
    return -1;
}

const char *hn_joint_kind_name(hn_joint_kind kind)
{
    return (int)kind >= 0 && (int)kind < HN_JOINT_KIND_COUNT ? WORDS[kind] : "";
}

bool hn_joint_kind_from_name(const char *name, hn_joint_kind *kind)
{
    if (name == NULL || kind == NULL) return false;
    for (int i = 0; i < HN_JOINT_KIND_COUNT; ++i)
        if (strcmp(name, WORDS[i]) == 0) {
            *kind = (hn_joint_kind)i;
            return true;
        }
    return false;
}

const char *hn_joint_coordinate_name(hn_joint_kind kind, int coordinate)
{
    const joint_kind_facts *facts = joint_kind_facts_of(kind);
    bool known = coordinate >= 0 && coordinate < facts->scalar_count;
    return known ? facts->coordinates[coordinate].word : NULL;
}
