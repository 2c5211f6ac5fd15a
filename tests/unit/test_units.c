// SPDX-License-Identifier: MIT
// Units of numbers in model files: their factors, their kinds, and what is no unit.
#include "io/units.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TEST(units, are_read_after_expressions)
{
    static const struct {
        const char *text;
        size_t split; // where the unit begins
        double factor;
        unit_kind kind;
    } cases[] = {
        {"30 deg", 3, 3.14159265358979323846 / 180.0, {0, 0, 0, 1}},
        {"12 mm", 3, 1e-3, {1, 0, 0, 0}},
        {"5 rpm", 2, 2.0 * 3.14159265358979323846 / 60.0, {0, 0, -1, 1}},
        {"2 kN", 2, 1e3, {1, 1, -2, 0}},
        {"7.85 g/cm^3", 5, 1e3, {-3, 1, 0, 0}},
        {"3 kg m^2", 2, 1.0, {2, 1, 0, 0}},
        {"3 kg*mm2", 2, 1e-6, {2, 1, 0, 0}},
        {"2 N m s/rad", 2, 1.0, {2, 1, -1, -1}},
        {"90 km/h", 3, 1e3 / 3600.0, {1, 0, -1, 0}},
        {"210 GPa", 4, 1e9, {-1, 1, -2, 0}},
        {"2*length m", 9, 1.0, {1, 0, 0, 0}},
        {"pi/3 rad", 5, 1.0, {0, 0, 0, 1}},
        // no units: operands, other words, nothing before them
        {"2 * m", 5, 1.0, {0}},
        {"a - s", 5, 1.0, {0}},
        {"2 metres", 8, 1.0, {0}},
        {"m", 1, 1.0, {0}},
        {" m", 2, 1.0, {0}},
        {"2m", 2, 1.0, {0}},
        {"x > 1 ? s : m", 13, 1.0, {0}},
        {"2 m/", 4, 1.0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double factor;
        unit_kind kind;
        CHECK_EQUAL(unit_split(cases[i].text, &factor, &kind), cases[i].split);
        CHECK_NEAR(factor / cases[i].factor, 1.0, 1e-15);
        CHECK(memcmp(&kind, &cases[i].kind, sizeof kind) == 0);
    }
}

// The unit of a text such as "N m/rad".
static unit_guess unit(const char *text)
{
    unit_guess u = unit_of_text(text);
    CHECK(u.known);
    return u;
}

TEST(units, are_taken_where_their_quantity_is_meant)
{
    static const struct {
        quantity q;
        const char *takes[6], *refuses[6];
    } cases[] = {
        {QUANTITY_LENGTH, {"m", "in", "mm"}, {"rad", "m/s", "mm/rev", "N"}},
        {QUANTITY_ANGLE, {"rad", "deg", "rev"}, {"mm", "rpm", "Hz"}},
        {QUANTITY_SPEED, {"m/s", "km/h"}, {"rad/s", "rpm", "m", "Hz"}},
        {QUANTITY_ANGULAR_SPEED, {"rad/s", "rpm", "deg/min"}, {"m/s", "Hz", "rad"}},
        {QUANTITY_MASS, {"kg", "t"}, {"kg m^2", "N"}},
        {QUANTITY_INERTIA, {"kg m^2", "N m s^2"}, {"kg", "N m"}},
        {QUANTITY_FORCE, {"N", "kg m/s^2"}, {"N m", "N/m", "Pa"}},
        {QUANTITY_TORQUE, {"N m", "Nm", "J"}, {"N", "N m/rad", "N m s"}},
        {QUANTITY_STIFFNESS, {"N/mm", "kg/s^2"}, {"N m/rad", "N m", "N s/m"}},
        {QUANTITY_TORSIONAL_STIFFNESS, {"N m/rad", "N m", "Nm/deg"}, {"N/mm", "N m s/rad", "N"}},
        {QUANTITY_DAMPING, {"N s/m", "kg/s"}, {"N m s/rad", "N/m"}},
        {QUANTITY_TORSIONAL_DAMPING, {"N m s/rad", "N m s"}, {"N s/m", "N m/rad"}},
        {QUANTITY_INTEGRAL_GAIN, {"N/m/s"}, {"N/m", "N m/rad/s"}},
        {QUANTITY_TORSIONAL_INTEGRAL_GAIN, {"N m/rad/s", "W"}, {"N/m/s", "N m/rad"}},
        {QUANTITY_BENDING_STIFFNESS, {"N m^2", "kN mm2"}, {"N m", "N"}},
        {QUANTITY_LINE_LOAD, {"N/m"}, {"N", "N m"}},
        {QUANTITY_NUMBER, {"mm/m"}, {"deg", "mm"}},
        {QUANTITY_ANY, {"kg", "deg"}, {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (int k = 0; k < 6 && cases[i].takes[k] != NULL; ++k) {
            const unit_guess u = unit(cases[i].takes[k]);
            CHECK(quantity_takes(cases[i].q, &u));
        }
        for (int k = 0; k < 6 && cases[i].refuses[k] != NULL; ++k) {
            const unit_guess u = unit(cases[i].refuses[k]);
            CHECK(!quantity_takes(cases[i].q, &u));
        }
    }
}

// The example in a message is one that is taken.
TEST(units, of_examples_are_right)
{
    for (int q = QUANTITY_LENGTH; q < QUANTITY_COUNT; ++q) {
        const char *example = quantity_example((quantity)q), *blank = strchr(example, ' ');
        CHECK(blank != NULL);
        char text[40];
        snprintf(text, sizeof text, "%s", blank + 1);
        char *more = strstr(text, " or ");
        if (more != NULL) *more = '\0';
        const unit_guess u = unit(text);
        CHECK(quantity_takes((quantity)q, &u));
    }
}

TEST(units, follow_those_of_the_words_in_an_expression)
{
    static const char *const WORDS[] = {"speed", "radius", "mass", "turn", "bare", "omega"};
    const unit_guess units[] = {unit("m/s"), unit("mm"),       unit("kg"),
                                unit("deg"), {.known = false}, unit("rpm")};
    static const struct {
        const char *text;
        quantity q;
        bool taken;
    } cases[] = {
        {"speed", QUANTITY_SPEED, true},
        {"speed", QUANTITY_ANGULAR_SPEED, false},
        {"-(speed)", QUANTITY_ANGULAR_SPEED, false},
        {"speed + 3", QUANTITY_ANGULAR_SPEED, false},
        {"max(abs(speed), 1)", QUANTITY_ANGULAR_SPEED, false},
        {"bare > 1 ? speed : 2", QUANTITY_ANGULAR_SPEED, false},
        {"speed/radius", QUANTITY_ANGULAR_SPEED, true},
        {"omega*radius", QUANTITY_SPEED, true},
        {"omega*radius", QUANTITY_ANGULAR_SPEED, false},
        {"turn*radius", QUANTITY_LENGTH, true},
        {"radius*sin(turn)", QUANTITY_LENGTH, true},
        {"radius*sin(turn)", QUANTITY_ANGLE, false},
        {"turn*sin(omega*t)", QUANTITY_LENGTH, false},
        {"speed*t", QUANTITY_LENGTH, true},
        {"radius*t", QUANTITY_LENGTH, true}, // of a second
        {"speed*t", QUANTITY_ANGLE, false},
        {"mass*speed^2/radius", QUANTITY_FORCE, true},
        {"mass*speed^2/radius", QUANTITY_TORQUE, false},
        {"sqrt(speed^2)", QUANTITY_SPEED, true},
        {"sqrt(speed^2)", QUANTITY_LENGTH, false},
        // a bare number may be of any kind, and a ratio stands for a number
        {"speed/0.5", QUANTITY_ANGULAR_SPEED, true},
        {"bare*speed", QUANTITY_ANGULAR_SPEED, true},
        {"radius/radius", QUANTITY_ANGLE, true},
        {"sin(turn)", QUANTITY_LENGTH, true},
        {"atan2(radius, radius)", QUANTITY_ANGLE, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const unit_guess u = unit_infer(cases[i].text, WORDS, units, 6);
        CHECK(!u.mixed && quantity_takes(cases[i].q, &u) == cases[i].taken);
    }
    static const char *const MIXED[] = {"speed + radius", "min(turn, 3, mass)",
                                        "2*(radius - speed)", "radius < mass ? 1 : 2",
                                        "sin(turn + radius)"};
    for (size_t i = 0; i < sizeof MIXED / sizeof MIXED[0]; ++i)
        CHECK(unit_infer(MIXED[i], WORDS, units, 6).mixed);
    CHECK(!unit_infer("speed*", WORDS, units, 6).known);
}
