// SPDX-License-Identifier: MIT
// Units: products and quotients of words with exponents, and which of them each quantity takes.
#include "io/units.h"

#include <math.h>
#include <stdio.h>
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

typedef struct quantity_facts {
    unit_kind kind;
    signed char other_angle; // of radians, that does too: "N m" and "N m/rad" for a torsional stiffness
    const char *words, *example;
} quantity_facts;

static const quantity_facts QUANTITIES[QUANTITY_COUNT] = {
    [QUANTITY_NUMBER] = {{0, 0, 0, 0}, 0, "a number without a unit", ""},
    [QUANTITY_LENGTH] = {{1, 0, 0, 0}, 0, "a length", "12 mm"},
    [QUANTITY_ANGLE] = {{0, 0, 0, 1}, 1, "an angle", "30 deg"},
    [QUANTITY_TIME] = {{0, 0, 1, 0}, 0, "a time", "5 ms"},
    [QUANTITY_SPEED] = {{1, 0, -1, 0}, 0, "a speed", "2 m/s"},
    [QUANTITY_ANGULAR_SPEED] = {{0, 0, -1, 1}, 1, "an angular speed", "90 deg/s or 30 rpm"},
    [QUANTITY_ACCELERATION] = {{1, 0, -2, 0}, 0, "an acceleration", "9.81 m/s^2"},
    [QUANTITY_MASS] = {{0, 1, 0, 0}, 0, "a mass", "3 kg"},
    [QUANTITY_INERTIA] = {{2, 1, 0, 0}, 0, "a moment of inertia", "3 kg m^2"},
    [QUANTITY_DENSITY] = {{-3, 1, 0, 0}, 0, "a density", "7.85 g/cm^3"},
    [QUANTITY_FORCE] = {{1, 1, -2, 0}, 0, "a force", "5 N"},
    [QUANTITY_TORQUE] = {{2, 1, -2, 0}, 0, "a torque", "5 N m"},
    [QUANTITY_PRESSURE] = {{-1, 1, -2, 0}, 0, "a pressure", "210 GPa"},
    [QUANTITY_STIFFNESS] = {{0, 1, -2, 0}, 0, "a stiffness", "5 N/mm"},
    [QUANTITY_TORSIONAL_STIFFNESS] = {{2, 1, -2, -1}, 0, "a torsional stiffness", "5 N m/rad"},
    [QUANTITY_DAMPING] = {{0, 1, -1, 0}, 0, "a damping coefficient", "5 N s/m"},
    [QUANTITY_TORSIONAL_DAMPING] = {{2, 1, -1, -1}, 0, "a torsional damping coefficient", "5 N m s/rad"},
    [QUANTITY_INTEGRAL_GAIN] = {{0, 1, -3, 0}, 0, "a force by length and time", "5 N/m/s"},
    [QUANTITY_TORSIONAL_INTEGRAL_GAIN] = {{2, 1, -3, -1}, 0, "a torque by angle and time", "5 N m/rad/s"},
    [QUANTITY_LINE_LOAD] = {{0, 1, -2, 0}, 0, "a force by length", "3 N/m"},
    [QUANTITY_LINE_DENSITY] = {{-1, 1, 0, 0}, 0, "a mass by length", "2 kg/m"},
    [QUANTITY_LINE_INERTIA] = {{1, 1, 0, 0}, 0, "a moment of inertia by length", "2 kg m"},
    [QUANTITY_AREA] = {{2, 0, 0, 0}, 0, "an area", "20 mm^2"},
    [QUANTITY_SECOND_MOMENT] = {{4, 0, 0, 0}, 0, "a second moment of area", "30 mm^4"},
    [QUANTITY_BENDING_STIFFNESS] = {{3, 1, -2, 0}, 0, "a stiffness of a section in bending or torsion", "40 N m^2"},
};
// clang-format on

enum { WORD_COUNT_ = sizeof WORDS / sizeof WORDS[0] };

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
        if (text[before] == ' ' || strchr("+-*/^(,<>=!?:&|", text[before]) != NULL) continue;
        if (read_unit(text + at, factor, kind)) return at;
    }
    *factor = 1.0;
    *kind = (unit_kind){0, 0, 0, 0};
    return length;
}

quantity quantity_along(const char *coordinate_unit, coordinate_part part)
{
    static const quantity PARTS[][2] = {
        [PART_VALUE] = {QUANTITY_LENGTH, QUANTITY_ANGLE},
        [PART_RATE] = {QUANTITY_SPEED, QUANTITY_ANGULAR_SPEED},
        [PART_EFFORT] = {QUANTITY_FORCE, QUANTITY_TORQUE},
        [PART_STIFFNESS] = {QUANTITY_STIFFNESS, QUANTITY_TORSIONAL_STIFFNESS},
        [PART_DAMPING] = {QUANTITY_DAMPING, QUANTITY_TORSIONAL_DAMPING},
        [PART_INTEGRAL_GAIN] = {QUANTITY_INTEGRAL_GAIN, QUANTITY_TORSIONAL_INTEGRAL_GAIN},
        [PART_INERTIA] = {QUANTITY_MASS, QUANTITY_INERTIA},
    };
    if (coordinate_unit == NULL) return QUANTITY_ANY;
    return PARTS[part][coordinate_unit[0] == 'r'];
}

unit_guess unit_of_text(const char *text)
{
    double factor;
    unit_guess guess = {0};
    guess.known = read_unit(text, &factor, &guess.kind);
    return guess;
}

unit_guess unit_written(unit_kind kind)
{
    return (unit_guess){.kind = kind, .known = true};
}

bool unit_is_pure(unit_kind kind)
{
    return kind.length == 0 && kind.mass == 0 && kind.time == 0 && kind.angle == 0;
}

// Radians are numbers in products: "v/r" does for an angular speed, and what is no quantity at all for anything.
static bool agrees(const unit_guess *g, const quantity_facts *f)
{
    const unit_kind a = g->kind, b = f->kind;
    bool time = a.time == b.time || g->any_time;
    if (g->derived && a.length == 0 && a.mass == 0 && a.angle == 0 && (a.time == 0 || g->any_time))
        return true;
    if (a.length != b.length || a.mass != b.mass || !time) return false;
    return g->derived || a.angle == b.angle || a.angle == f->other_angle;
}

bool quantity_takes(quantity q, const unit_guess *guess)
{
    return q == QUANTITY_ANY || !guess->known || agrees(guess, &QUANTITIES[q]);
}

const char *quantity_words(quantity q)
{
    return QUANTITIES[q].words;
}

const char *quantity_example(quantity q)
{
    return QUANTITIES[q].example;
}

bool unit_describe(unit_kind kind, char *text, size_t size)
{
    static const char *const NAMES[] = {"kg", "m", "s", "rad"};
    const int exponents[] = {kind.mass, kind.length, kind.time, kind.angle};
    for (int q = QUANTITY_LENGTH; q < QUANTITY_COUNT; ++q)
        if (memcmp(&QUANTITIES[q].kind, &kind, sizeof kind) == 0) {
            snprintf(text, size, "%s", QUANTITIES[q].words);
            return true;
        }
    size_t used = (size_t)snprintf(text, size, "in");
    for (int i = 0; i < 4 && used < size; ++i) {
        if (exponents[i] == 0) continue;
        int written = exponents[i] == 1
                          ? snprintf(text + used, size - used, " %s", NAMES[i])
                          : snprintf(text + used, size - used, " %s^%d", NAMES[i], exponents[i]);
        used += (size_t)written;
    }
    return false;
}
