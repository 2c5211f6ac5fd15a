// SPDX-License-Identifier: MIT
// Units: products and quotients of words with exponents, and which kinds a field takes.
#include "io/units.h"

#include <math.h>
#include <string.h>

typedef struct unit_word {
    const char *word;
    double factor; // in SI units
    unit_kind kind;
} unit_word;

// clang-format off
static const unit_word WORDS[] = {
    {"m", 1.0, {1, 0, 0, 0}}, {"mm", 1e-3, {1, 0, 0, 0}}, {"cm", 1e-2, {1, 0, 0, 0}}, {"km", 1e3, {1, 0, 0, 0}},
    {"um", 1e-6, {1, 0, 0, 0}}, {"in", 0.0254, {1, 0, 0, 0}}, {"ft", 0.3048, {1, 0, 0, 0}},
    {"kg", 1.0, {0, 1, 0, 0}}, {"g", 1e-3, {0, 1, 0, 0}}, {"mg", 1e-6, {0, 1, 0, 0}}, {"t", 1e3, {0, 1, 0, 0}},
    {"s", 1.0, {0, 0, 1, 0}}, {"ms", 1e-3, {0, 0, 1, 0}}, {"us", 1e-6, {0, 0, 1, 0}}, {"min", 60.0, {0, 0, 1, 0}},
    {"h", 3600.0, {0, 0, 1, 0}}, {"Hz", 1.0, {0, 0, -1, 0}},
    {"rad", 1.0, {0, 0, 0, 1}}, {"deg", 0.017453292519943295, {0, 0, 0, 1}}, {"mrad", 1e-3, {0, 0, 0, 1}},
    {"rev", 6.283185307179586, {0, 0, 0, 1}}, {"rpm", 0.10471975511965978, {0, 0, -1, 1}},
    {"N", 1.0, {1, 1, -2, 0}}, {"mN", 1e-3, {1, 1, -2, 0}}, {"kN", 1e3, {1, 1, -2, 0}}, {"MN", 1e6, {1, 1, -2, 0}},
    {"Nm", 1.0, {2, 1, -2, 0}}, {"kNm", 1e3, {2, 1, -2, 0}}, {"Nmm", 1e-3, {2, 1, -2, 0}},
    {"J", 1.0, {2, 1, -2, 0}}, {"kJ", 1e3, {2, 1, -2, 0}}, {"W", 1.0, {2, 1, -3, 0}}, {"kW", 1e3, {2, 1, -3, 0}},
    {"Pa", 1.0, {-1, 1, -2, 0}}, {"kPa", 1e3, {-1, 1, -2, 0}}, {"MPa", 1e6, {-1, 1, -2, 0}},
    {"GPa", 1e9, {-1, 1, -2, 0}},
};

static const unit_kind LENGTH = {1, 0, 0, 0}, ANGLE = {0, 0, 0, 1}, TIME = {0, 0, 1, 0}, MASS = {0, 1, 0, 0},
                       FORCE = {1, 1, -2, 0}, TORQUE = {2, 1, -2, 0}, SPEED = {1, 0, -1, 0}, SPIN = {0, 0, -1, 1},
                       STIFF = {0, 1, -2, 0}, DAMP = {0, 1, -1, 0}, TORSION_STIFF = {2, 1, -2, -1},
                       TORSION_DAMP = {2, 1, -1, -1}, DENSITY = {-3, 1, 0, 0}, INERTIA = {2, 1, 0, 0},
                       PRESSURE = {-1, 1, -2, 0}, ACCELERATION = {1, 0, -2, 0};
// clang-format on

typedef struct field_kinds {
    const char *fields;            // separated by blanks
    const unit_kind *first, *also; // NULL: none
    const char *expected;
} field_kinds;

static const field_kinds FIELDS[] = {
    {"position center_of_mass radius inner_radius height size length lengths rest_length at from "
     "to point between "
     "direction corners base apex bottom top left right front back displacement displacement_1 "
     "displacement_2 place",
     &LENGTH, NULL, "a length"},
    {"angle angle_a angle_b rest_angle rotation", &ANGLE, NULL, "an angle"},
    {"start end peak step times", &TIME, NULL, "a time"},
    {"mass", &MASS, NULL, "a mass"},
    {"density", &DENSITY, NULL, "a density"},
    {"inertia", &INERTIA, NULL, "a moment of inertia"},
    {"young", &PRESSURE, NULL, "a pressure"},
    {"gravity", &ACCELERATION, NULL, "an acceleration"},
    {"velocity", &SPEED, NULL, "a speed"},
    {"angular_velocity", &SPIN, NULL, "an angular speed"},
    {"rate rates no_load", &SPIN, &SPEED, "a speed or an angular speed"},
    {"rest target displacements lower upper coordinates", &ANGLE, &LENGTH, "an angle or a length"},
    {"vector limit stall efforts forces", &FORCE, &TORQUE, "a force or a torque"},
    {"stiffness proportional", &STIFF, &TORSION_STIFF, "a stiffness"},
    {"damping derivative", &DAMP, &TORSION_DAMP, "a damping coefficient"},
    {"armature", &INERTIA, &MASS, "a moment of inertia or a mass"},
    {"quaternion axis normal poisson elements count rho order", NULL, NULL,
     "a number without a unit"},
};
enum {
    FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0],
    WORD_COUNT_ = sizeof WORDS / sizeof WORDS[0]
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void multiply(const unit_word *word, int exponent, double *factor, unit_kind *kind)
{
    *factor *= pow(word->factor, exponent);
    kind->length = (signed char)(kind->length + exponent * word->kind.length);
    kind->mass = (signed char)(kind->mass + exponent * word->kind.mass);
    kind->time = (signed char)(kind->time + exponent * word->kind.time);
    kind->angle = (signed char)(kind->angle + exponent * word->kind.angle);
}

// "kg m^2", "N*m/rad", "g/cm3": words with a digit for an exponent; everything after a slash divides until the next
// blank or star. False when the text is anything else.
static bool read_unit(const char *c, double *factor, unit_kind *kind)
{
    int sign = 1;
    *factor = 1.0;
    *kind = (unit_kind){0, 0, 0, 0};
    if (!is_letter(*c)) return false;
    while (*c != '\0') {
        size_t length = 0;
        while (is_letter(c[length])) ++length;
        const unit_word *word = NULL;
        for (int i = 0; i < WORD_COUNT_ && word == NULL; ++i)
            if (strlen(WORDS[i].word) == length && strncmp(WORDS[i].word, c, length) == 0)
                word = &WORDS[i];
        if (word == NULL) return false;
        c += length;
        int exponent = 1;
        if (*c == '^') ++c;
        if (*c >= '1' && *c <= '9') exponent = *c++ - '0';
        multiply(word, sign * exponent, factor, kind);
        const char *separator = c;
        while (*c == ' ') ++c;
        if (*c == '\0') return true;
        if (*c == '/') sign = -1, ++c;
        else if (*c == '*') sign = 1, ++c;
        else if (separator == c) return false; // something sticks to the word
        else sign = 1;
        while (*c == ' ') ++c;
    }
    return false;
}

size_t unit_split(const char *text, double *factor, unit_kind *kind)
{
    size_t length = strlen(text);
    *factor = 1.0;
    *kind = (unit_kind){0, 0, 0, 0};
    for (size_t at = 1; at < length; ++at) {
        if (text[at - 1] != ' ' || !is_letter(text[at])) continue;
        size_t before = at - 1;
        while (before > 0 && text[before] == ' ') --before;
        // after an operator comes an operand, not a unit
        if (text[before] == ' ' || strchr("+-*/^(,<>?:&|", text[before]) != NULL) continue;
        if (read_unit(text + at, factor, kind)) return at;
    }
    *factor = 1.0;
    *kind = (unit_kind){0, 0, 0, 0};
    return length;
}

// Radians are numbers: "N m" and "N m/rad" do for either.
static bool same_kind(const unit_kind *a, unit_kind b)
{
    bool pure = a->length == 0 && a->mass == 0; // angles, angular speeds, times: there it matters
    return a->length == b.length && a->mass == b.mass && a->time == b.time &&
           (!pure || a->angle == b.angle);
}

bool unit_fits(const char *what, unit_kind kind, const char **expected)
{
    size_t length = strlen(what);
    for (int i = 0; i < FIELD_COUNT && length > 0; ++i) {
        const char *found = FIELDS[i].fields;
        while ((found = strstr(found, what)) != NULL) {
            bool whole = (found == FIELDS[i].fields || found[-1] == ' ') &&
                         (found[length] == ' ' || found[length] == '\0');
            if (whole) {
                *expected = FIELDS[i].expected;
                return (FIELDS[i].first != NULL && same_kind(FIELDS[i].first, kind)) ||
                       (FIELDS[i].also != NULL && same_kind(FIELDS[i].also, kind));
            }
            found += length;
        }
    }
    return true;
}
