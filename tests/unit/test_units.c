// SPDX-License-Identifier: MIT
// Units of numbers in model files: their factors, their kinds, and what is no unit.
#include "io/units.h"

#include "support/check.h"

#include <math.h>
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

TEST(units, fit_the_fields_they_are_for)
{
    const unit_kind length = {1, 0, 0, 0}, torque = {2, 1, -2, 0}, angle = {0, 0, 0, 1},
                    hertz = {0, 0, -1, 0}, spin = {0, 0, -1, 1};
    const char *expected = NULL;
    CHECK(unit_fits("position", length, &expected) && !unit_fits("position", torque, &expected));
    CHECK_TEXT(expected, "a length");
    CHECK(unit_fits("rest", angle, &expected) && unit_fits("rest", length, &expected));
    CHECK(unit_fits("rate", spin, &expected) && !unit_fits("rate", hertz, &expected));
    CHECK(unit_fits("stiffness", torque, &expected)); // a radian is a number
    CHECK(!unit_fits("axis", length, &expected));
    CHECK(unit_fits("a parameter of one's own", torque, &expected));
}
