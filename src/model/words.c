// SPDX-License-Identifier: MIT
// Words of the enumerations of a model, both ways.
#include <holonom/outputs.h>
#include <holonom/results.h>
#include <holonom/simulation.h>

#include <stddef.h>
#include <string.h>

static const char *const
    SHAPES[] = {"box", "sphere", "cylinder", "hollow_cylinder", "cone", "pyramid", "tetrahedron"},
    *const BODIES[] = {"rigid", "point_mass", "planar_point_mass", "beam_node"},
    *const BEAMS[] = {"polyline", "arc", "spline", "nodes"},
    *const BEAM_ELEMENTS[] = {"helical", "linear", "quadratic"},
    *const PROFILES[] = {"constant", "table", "pulse", "spline", "step", "expression"},
    *const PROJECTIONS[] = {"quasi-orthogonal", "orthogonal", "along-joints"},
    *const STARTS[] = {"regular", "branches", "immobile"}, *const DRIVES[] = {"effort",   "servo",
                                                                              "motor",    "spring",
                                                                              "stop",     "motion",
                                                                              "friction", "latch"},
    *const COUPLINGS[] = {"gear", "belt", "rack", "relation", "screw"},
    *const FRAMES[] = {"world", "a", "b"},
    *const RESULTS[] = {"run", "static", "modes", "kinematics", "inverse"},
    *const REDUCTIONS[] = {"reduced", "nullspace", "multipliers"};
static const char *const SCHEMES[] = {[HN_SCHEME_ENERGY_MOMENTUM] = "energy-momentum",
                                      [HN_SCHEME_VARIATIONAL] = "variational",
                                      [HN_SCHEME_RATTLE] = "rattle",
                                      [HN_SCHEME_GENERALIZED_ALPHA] = "generalized-alpha",
                                      [HN_SCHEME_GGL_ENERGY_MOMENTUM] = "ggl-energy-momentum",
                                      [HN_SCHEME_CONVECTED] = "convected",
                                      [HN_SCHEME_GGL_VARIATIONAL] = "ggl-variational",
                                      [HN_SCHEME_GGL_CLASSICAL] = "ggl-classical",
                                      [HN_SCHEME_PROJECTED_RK] = "projected-rk",
                                      [HN_SCHEME_ENERGY_DECAYING] = "energy-decaying"};

// NAME of a value and the value of a name, for an enumeration that counts its words from zero.
#define WORDS(type, function, words)                                                               \
    const char *function##_name(type value)                                                        \
    {                                                                                              \
        size_t index = (size_t)value;                                                              \
        return index < sizeof words / sizeof words[0] ? words[index] : "";                         \
    }                                                                                              \
    bool function##_from_name(const char *name, type *value)                                       \
    {                                                                                              \
        for (size_t i = 0; name != NULL && value != NULL && i < sizeof words / sizeof words[0];    \
             ++i) {                                                                                \
            if (strcmp(name, words[i]) != 0) continue;                                             \
            *value = (type)i;                                                                      \
            return true;                                                                           \
        }                                                                                          \
        return false;                                                                              \
    }

WORDS(hn_shape_kind, hn_shape_kind, SHAPES)
WORDS(hn_body_kind, hn_body_kind, BODIES)
WORDS(hn_beam_shape, hn_beam_shape, BEAMS)
WORDS(hn_beam_element, hn_beam_element, BEAM_ELEMENTS)
WORDS(hn_profile_kind, hn_profile_kind, PROFILES)
WORDS(hn_projection, hn_projection, PROJECTIONS)
WORDS(hn_start_kind, hn_start_kind, STARTS)
WORDS(hn_drive_kind, hn_drive_kind, DRIVES)
WORDS(hn_coupling_kind, hn_coupling_kind, COUPLINGS)
WORDS(hn_output_frame, hn_output_frame, FRAMES)
WORDS(hn_result_kind, hn_result_kind, RESULTS)
WORDS(hn_scheme, hn_scheme, SCHEMES)
WORDS(hn_reduction, hn_reduction, REDUCTIONS)
