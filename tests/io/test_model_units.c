// SPDX-License-Identifier: MIT
// Units in model files: every place takes those of what it means, by the kind of its joint, and names what it got.
#include <holonom/holonom.h>

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Joints of all kinds between bodies of their own; '#' in a place below is where the number stands.
static const char BEGINNING[] =
    "holonom: 1\n"
    "parameters: {p: %s}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [1, 1, 1]}\n"
    "  b: {mass: 1, inertia: [1, 1, 1]}\n"
    "  c: {mass: 1, inertia: [1, 1, 1]}\n"
    "  d: {mass: 1, inertia: [1, 1, 1]}\n"
    "  e: {mass: 1, inertia: [1, 1, 1]}\n"
    "  f: {mass: 1, inertia: [1, 1, 1]}\n"
    "  g: {mass: 1, inertia: [1, 1, 1]}\n"
    "  h: {mass: 1, inertia: [1, 1, 1]}\n"
    "  i: {mass: 1, inertia: [1, 1, 1]}\n"
    "  k: {mass: 1, inertia: [1, 1, 1]}\n"
    "joints:\n"
    "  hinge: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: x}}\n"
    "  rail: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}\n"
    "  tube: {cylindrical: {bodies: [ground, c], at: [0, 0, 0], axis: x}}\n"
    "  flat: {planar: {bodies: [ground, d], at: [0, 0, 0], normal: z}}\n"
    "  cross: {universal: {bodies: [ground, e], at: [0, 0, 0], axes: [x, y]}}\n"
    "  nut: {screw: {bodies: [ground, f], at: [0, 0, 0], axis: x, pitch: 1}}\n"
    "  groove: {slot: {bodies: [ground, g], at: [0, 0, 0], axis: x}}\n"
    "  loose: {free: {bodies: [ground, h]}}\n"
    "  ball: {spherical: {bodies: [ground, i], at: [0, 0, 0]}}\n";
enum { LINE = 24 }; // of the place

typedef struct place {
    const char *text, *right, *wrong, *expected;
} place;

#define DRIVE(text) "drives: {d: {" text "}}\n"
#define LOAD(text) "loads: {l: {" text "}}\n"
#define START(text) "start: {" text "}\n"
#define BEAM(text) "beams: {bar: {from: [0, 0, 0], to: [1, 0, 0], elements: 2, " text "}}\n"
#define SECTION(text) "section: {" text "}, material: {young: 1, density: 1}"
#define STIFF "stiffness: {shear: 1, axial: 1, bending: [1, 1], torsion: 1}"
#define ONES "[1, 0, 0, 0, 0, 0]"

// clang-format off
static const place PLACES[] = {
    // drives on an angle
    {DRIVE("effort: {joint: hinge, value: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: hinge, value: #}"), "5 Nmm", "5 N m/rad", "a torque"},
    {DRIVE("effort: {joint: hinge, value: 1, armature: #}"), "3 kg cm^2", "3 kg", "a moment of inertia"},
    {DRIVE("effort: {joint: hinge, value: {table: {times: [0, #], values: [0, 1]}}}"), "5 ms", "5 mm", "a time"},
    {DRIVE("effort: {joint: hinge, value: {table: {times: [0, 1], values: [0, #]}}}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: hinge, value: {step: {start: 0, end: #}, scale: 1}}"), "5 ms", "5 m", "a time"},
    {DRIVE("effort: {joint: hinge, value: {pulse: {start: 0, peak: 1, end: #}, scale: 1}}"), "5 s", "5 m", "a time"},
    {DRIVE("effort: {joint: hinge, value: {step: {start: 0, end: 1}, scale: #}}"), "5 N m", "5 kg", "a torque"},
    {DRIVE("servo: {joint: hinge, target: #, proportional: 1}"), "90 deg", "90 mm", "an angle"},
    {DRIVE("servo: {joint: hinge, target: 0, proportional: #}"), "1 N m/rad", "100 N/m", "a torsional stiffness"},
    {DRIVE("servo: {joint: hinge, target: 0, derivative: #}"),
     "1 N m s/rad", "1 N s/m", "a torsional damping coefficient"},
    {DRIVE("servo: {joint: hinge, target: 0, integral: #}"), "1 N m/rad/s", "1 N m/rad", "a torque by angle and time"},
    {DRIVE("servo: {joint: hinge, target: 0, proportional: 1, limit: #}"), "1 N m", "1 N", "a torque"},
    {DRIVE("motor: {joint: hinge, stall: #, no_load: 1}"), "5 N m", "5 N", "a torque"},
    {DRIVE("motor: {joint: hinge, stall: 1, no_load: #}"), "3000 rpm", "3 m/s", "an angular speed"},
    {DRIVE("motor: {joint: hinge, stall: 1, no_load: 1, command: #}"), "1", "1 N", "a number without a unit"},
    {DRIVE("spring: {joint: hinge, stiffness: #}"), "5 N m/deg", "5 N/mm", "a torsional stiffness"},
    {DRIVE("spring: {joint: hinge, damping: #}"), "5 N m s", "5 N s/m", "a torsional damping coefficient"},
    {DRIVE("spring: {joint: hinge, stiffness: 1, rest: #}"), "5 deg", "5 mm", "an angle"},
    {DRIVE("spring: {joint: hinge, table: {displacements: [0, #], efforts: [0, 1]}}"), "5 deg", "5 mm", "an angle"},
    {DRIVE("spring: {joint: hinge, spline: {displacements: [0, 1], efforts: [0, #]}}"), "5 N m", "5 N", "a torque"},
    {DRIVE("spring: {joint: hinge, damper: {rates: [0, #], efforts: [0, 1]}}"), "5 rpm", "5 m/s", "an angular speed"},
    {DRIVE("spring: {joint: hinge, damper: {rates: [0, 1], efforts: [0, #]}}"), "5 N m", "5 N", "a torque"},
    {DRIVE("stop: {joint: hinge, upper: #, stiffness: 1}"), "90 deg", "90 mm", "an angle"},
    {DRIVE("stop: {joint: hinge, lower: #, upper: 1, stiffness: 1}"), "-9 deg", "-90 mm", "an angle"},
    {DRIVE("stop: {joint: hinge, upper: 1, stiffness: #}"), "1 kNm", "5 N/mm", "a torsional stiffness"},
    {DRIVE("stop: {joint: hinge, upper: 1, stiffness: 1, damping: #}"),
     "1 N m s/rad", "5 N s/m", "a torsional damping coefficient"},
    {DRIVE("stop: {joint: hinge, upper: 1, restitution: #}"), "0.5", "1 mm", "a number without a unit"},
    {DRIVE("motion: {joint: hinge, value: #}"), "0 deg", "5 mm", "an angle"},
    {DRIVE("friction: {joint: hinge, effort: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("friction: {joint: hinge, coefficient: #, radius: 1}"), "0.1", "0.1 N", "a number without a unit"},
    {DRIVE("friction: {joint: hinge, coefficient: 1, radius: #}"), "5 mm", "5 deg", "a length"},
    {DRIVE("friction: {joint: hinge, effort: 1, static: 2, stribeck: #}"), "5 rpm", "5 mm/s", "an angular speed"},
    {DRIVE("friction: {joint: hinge, effort: 1, static: #, stribeck: 1}"), "2", "2 N", "a number without a unit"},
    {DRIVE("latch: {joint: hinge, value: #}"), "90 deg", "90 mm", "an angle"},
    // and on a displacement
    {DRIVE("effort: {joint: rail, value: #}"), "5 N", "5 N m", "a force"},
    {DRIVE("effort: {joint: rail, value: 1, armature: #}"), "3 kg", "3 kg m^2", "a mass"},
    {DRIVE("servo: {joint: rail, target: #, proportional: 1}"), "9 mm", "9 deg", "a length"},
    {DRIVE("servo: {joint: rail, target: 0, proportional: #}"), "1 N/mm", "1 N m/rad", "a stiffness"},
    {DRIVE("servo: {joint: rail, target: 0, derivative: #}"), "1 N s/m", "1 N m s/rad", "a damping coefficient"},
    {DRIVE("servo: {joint: rail, target: 0, integral: #}"), "1 N/m/s", "1 N/m", "a force by length and time"},
    {DRIVE("motor: {joint: rail, stall: 1, no_load: #}"), "3 m/s", "3 rad/s", "a speed"},
    {DRIVE("spring: {joint: rail, stiffness: #}"), "5 N/mm", "5 N m", "a stiffness"},
    {DRIVE("stop: {joint: rail, upper: #, stiffness: 1}"), "9 mm", "9 deg", "a length"},
    {DRIVE("motion: {joint: rail, value: {step: {start: 0, end: 1}, scale: #}}"), "5 mm", "5 deg", "a length"},
    {DRIVE("friction: {joint: rail, effort: 1, static: 2, stribeck: #}"), "5 mm/s", "5 rpm", "a speed"},
    {DRIVE("latch: {joint: rail, value: #}"), "9 mm", "9 deg", "a length"},
    // coordinates of joints with several
    {DRIVE("effort: {joint: tube, coordinate: displacement, value: #}"), "5 N", "5 N m", "a force"},
    {DRIVE("effort: {joint: tube, coordinate: angle, value: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: flat, coordinate: displacement_2, value: #}"), "5 N", "5 N m", "a force"},
    {DRIVE("effort: {joint: flat, coordinate: angle, value: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: cross, coordinate: angle_b, value: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: nut, coordinate: angle, value: #}"), "5 N m", "5 N", "a torque"},
    {DRIVE("effort: {joint: nut, coordinate: displacement, value: #}"), "5 N", "5 N m", "a force"},
    {DRIVE("effort: {joint: groove, value: #}"), "5 N", "5 N m", "a force"},
    {DRIVE("effort: {joint: loose, coordinate: z, value: #}"), "5 N", "5 N m", "a force"},
    // motions of bodies and rotations
    {DRIVE("motion: {body: k, z: #}"), "0 mm", "5 deg", "a length"},
    {DRIVE("motion: {body: k, point: [0, 0, #], z: 0}"), "0 mm", "5 deg", "a length"},
    {DRIVE("motion: {body: k, rotation: {axis: z, angle: #}}"), "0 deg", "5 mm", "an angle"},
    {DRIVE("motion: {joint: ball, rotation: {angles: [#, 0, 0]}}"), "0 deg", "5 mm", "an angle"},
    // start values
    {START("hinge: {angle: #}"), "30 deg", "30 mm", "an angle"},
    {START("hinge: {rate: #}"), "30 rpm", "30 m/s", "an angular speed"},
    {START("hinge: {rates: [#]}"), "30 rpm", "30 m/s", "an angular speed"},
    {START("hinge: {coordinates: [#]}"), "30 deg", "30 mm", "an angle"},
    {START("rail: {displacement: #}"), "30 mm", "30 deg", "a length"},
    {START("rail: {rate: #}"), "30 m/s", "30 rad/s", "a speed"},
    {START("tube: {rates: [#, 1]}"), "30 m/s", "30 rad/s", "a speed"},
    {START("tube: {rates: [1, #]}"), "30 rad/s", "30 m/s", "an angular speed"},
    {START("tube: {coordinates: [0, #]}"), "30 deg", "30 mm", "an angle"},
    {START("flat: {displacement_1: #}"), "30 mm", "30 deg", "a length"},
    {START("flat: {rates: [0, 0, #]}"), "30 rpm", "30 mm/s", "an angular speed"},
    {START("cross: {angle_b: #}"), "30 deg", "30 mm", "an angle"},
    {START("cross: {rates: [0, #]}"), "30 rpm", "30 mm/s", "an angular speed"},
    {START("nut: {rate: #}"), "30 rpm", "30 mm/s", "an angular speed"},
    {START("loose: {place: [0, 0, #]}"), "30 mm", "30 deg", "a length"},
    {START("loose: {rotation: [0, 0, #]}"), "30 deg", "30 mm", "an angle"},
    {START("loose: {rates: [0, 0, #, 0, 0, 0]}"), "30 mm/s", "30 rpm", "a speed"},
    {START("loose: {rates: [0, 0, 0, #, 0, 0]}"), "30 rpm", "30 mm/s", "an angular speed"},
    {START("ball: {rotation: [0, 0, #]}"), "30 deg", "30 mm", "an angle"},
    {START("ball: {rates: [0, 0, #]}"), "30 rpm", "30 mm/s", "an angular speed"},
    {START("groove: {rates: [#, 0, 0, 0]}"), "30 mm/s", "30 rpm", "a speed"},
    {START("k: {velocity: [0, #, 0]}"), "3 m/s", "3 rpm", "a speed"},
    {START("k: {angular_velocity: [0, #, 0]}"), "3 rpm", "3 m/s", "an angular speed"},
    {START("k: {velocity: {axis: x, rate: #}}"), "3 m/s", "3 rpm", "a speed"},
    {START("k: {angular_velocity: {axis: x, rate: #}}"), "3 rpm", "3 m/s", "an angular speed"},
    {START("k: {angular_velocity: {sum: [{axis: x, rate: #}]}}"), "3 rpm", "3 m/s", "an angular speed"},
    // loads
    {LOAD("force: {body: k, vector: [#, 0, 0]}"), "5 N", "5 Nm", "a force"},
    {LOAD("torque: {body: k, vector: [#, 0, 0]}"), "5 Nm", "5 N", "a torque"},
    {LOAD("force: {body: k, vector: [1, 0, 0], at: [#, 0, 0]}"), "5 mm", "5 N", "a length"},
    {LOAD("force: {body: k, vector: [1, 0, 0], point: [#, 0, 0]}"), "5 mm", "5 N", "a length"},
    {LOAD("force: {body: k, vector: [1, 0, 0], table: {times: [0, #], factors: [0, 1]}}"), "5 ms", "5 mm", "a time"},
    {LOAD("force: {body: k, vector: [1, 0, 0], table: {times: [0, 1], factors: [0, #]}}"), "5 N", "1 mm", "a force"},
    {LOAD("force: {body: k, vector: [1 N, 0, 0], table: {times: [0, 1], factors: [0, #]}}"),
     "5", "1 N", "a number without a unit"},
    {LOAD("torque: {body: k, vector: [1, 0, 0], factor: {step: {start: 0, end: 1}, scale: #}}"),
     "5 N m", "5 N", "a torque"},
    {LOAD("spring: {bodies: [ground, k], from: [1, 0, #], to: [1, 0, 0], stiffness: 1}"), "1 mm", "1 deg", "a length"},
    {LOAD("spring: {bodies: [ground, k], from: [1, 0, 1], to: [1, 0, 0], stiffness: #}"),
     "5 N/mm", "5 N m/rad", "a stiffness"},
    {LOAD("spring: {bodies: [ground, k], from: [1, 0, 1], to: [1, 0, 0], damping: #}"),
     "5 N s/m", "5 N m s", "a damping coefficient"},
    {LOAD("spring: {bodies: [ground, k], from: [1, 0, 1], to: [1, 0, 0], stiffness: 1, rest_length: #}"),
     "5 mm", "5 deg", "a length"},
    {LOAD("torsion_spring: {joint: hinge, stiffness: #}"), "5 N m/rad", "5 N/mm", "a torsional stiffness"},
    {LOAD("torsion_spring: {joint: tube, damping: #}"), "5 N m s/rad", "5 N s/mm", "a torsional damping coefficient"},
    {LOAD("torsion_spring: {joint: hinge, stiffness: 1, rest_angle: #}"), "5 deg", "5 mm", "an angle"},
    {LOAD("bushing: {bodies: [ground, k], at: [0, 0, 0], stiffness: [#, 0, 0, 0, 0, 0]}"),
     "5 N/mm", "5 N m/rad", "a stiffness"},
    {LOAD("bushing: {bodies: [ground, k], at: [0, 0, 0], stiffness: [0, 0, 0, #, 0, 0]}"),
     "5 N m/rad", "5 N/mm", "a torsional stiffness"},
    {LOAD("bushing: {bodies: [ground, k], at: [0, 0, 0], damping: [0, 0, #, 0, 0, 0]}"),
     "5 N s/m", "5 N m s", "a damping coefficient"},
    {LOAD("bushing: {bodies: [ground, k], at: [0, 0, 0], damping: [0, 0, 0, 0, 0, #]}"),
     "5 N m s", "5 N s/m", "a torsional damping coefficient"},
    {LOAD("bushing: {bodies: [ground, k], at: [#, 0, 0], damping: [1, 1, 1, 1, 1, 1]}"), "5 mm", "5 N", "a length"},
    // couplings
    {"couplings: {c: {gear: {joints: [hinge, nut], radii: [1, #]}}}\n", "5 mm", "5 deg", "a length"},
    {"couplings: {c: {gear: {joints: [hinge, nut], teeth: [1, #]}}}\n", "5", "5 mm", "a number without a unit"},
    {"couplings: {c: {belt: {joints: [hinge, nut], ratio: #}}}\n", "5", "5 mm", "a number without a unit"},
    {"couplings: {c: {rack: {joints: [hinge, rail], radius: #}}}\n", "5 mm", "5 deg", "a length"},
    {"couplings: {c: {relation: {joints: [hinge, rail], factors: [5 mm, #]}}}\n", "1 mm/mm", "1 kg", NULL},
    // the rest
    {"gravity: [0, 0, #]\n", "-9.81 m/s^2", "-9.81 m/s", "an acceleration"},
    {"run: {step: #}\n", "5 ms", "5 mm", "a time"},
    {"run: {end: #}\n", "5 s", "5 m", "a time"},
    {"outputs: {o: {position: {body: k, point: [#, 0, 0]}}}\n", "5 mm", "5 deg", "a length"},
    {"outputs: {o: {distance: {bodies: [ground, k], from: [#, 0, 0], to: [1, 0, 0]}}}\n", "5 mm", "5 deg", "a length"},
    {"outputs: {o: {angle: {bodies: [ground, k], from: [#, 0, 0], to: [1, 0, 0]}}}\n",
     "1", "5 mm", "a number without a unit"},
    {BEAM(SECTION("rectangle: [#, 1]")), "5 mm", "5 deg", "a length"},
    {BEAM(SECTION("circle: {radius: #}")), "5 mm", "5 N", "a length"},
    {BEAM(SECTION("moments: {area: #, bending: [1, 1], torsion: 1}")), "5 mm^2", "5 mm", "an area"},
    {BEAM(SECTION("moments: {area: 1, bending: [1, #], torsion: 1}")), "5 mm^4", "5 mm^3", "a second moment of area"},
    {BEAM(SECTION("moments: {area: 1, bending: [1, 1], torsion: #}")), "5 mm^4", "5 mm^3", "a second moment of area"},
    {BEAM("section: {circle: {radius: 1}}, material: {young: #, density: 1}"), "5 GPa", "5 N/m", "a pressure"},
    {BEAM("section: {circle: {radius: 1}}, material: {young: 1, density: #}"), "5 g/cm^3", "5 kg", "a density"},
    {BEAM("section: {circle: {radius: 1}}, material: {young: 1, density: 1, poisson: #}"),
     "0.3", "5 kg", "a number without a unit"},
    {BEAM("twist: #, " SECTION("circle: {radius: 1}")), "5 deg", "5 mm", "an angle"},
    {BEAM("damping: #, " SECTION("circle: {radius: 1}")), "5 ms", "5 N s/m", "a time"},
    {BEAM("masses: [{at: #, mass: 1}], " SECTION("circle: {radius: 1}")), "500 mm", "5 deg", "a length"},
    {BEAM("masses: [{at: 0, mass: #}], " SECTION("circle: {radius: 1}")), "500 g", "5 deg", "a mass"},
    {BEAM("mass_per_length: 1, inertia_per_length: [1, 1], stiffness: {shear: #, axial: 1, bending: [1, 1], "
         "torsion: 1}"),
     "1 kN", "1 N m", "a force"},
    {BEAM("mass_per_length: 1, inertia_per_length: [1, 1], stiffness: {shear: 1, axial: #, bending: [1, 1], "
         "torsion: 1}"),
     "1 kN", "1 N m", "a force"},
    {BEAM("mass_per_length: 1, inertia_per_length: [1, 1], stiffness: {shear: 1, axial: 1, bending: [1, #], "
         "torsion: 1}"),
     "1 N m^2", "1 N m", "a stiffness of a section"},
    {BEAM("mass_per_length: 1, inertia_per_length: [1, 1], stiffness: {shear: 1, axial: 1, bending: [1, 1], "
         "torsion: #}"),
     "1 N m^2", "1 N m", "a stiffness of a section"},
    {BEAM("mass_per_length: #, inertia_per_length: [1, 1], " STIFF), "1 g/mm", "1 kg", "a mass by length"},
    {BEAM("mass_per_length: 1, inertia_per_length: [1, #], " STIFF),
     "1 kg m", "1 kg m^2", "a moment of inertia by length"},
    {"repeat: {for: {n: 1}, bodies: {z$n: {point_mass: {mass: #}}}}\n", "5 g", "5 mm", "a mass"},
    {"repeat: {for: {n: 1}, bodies: {z$n: {point_mass: {mass: 1}, position: [0, 0, #]}}}\n", "5 mm", "5 g", "a length"},
};
// clang-format on
enum { PLACE_COUNT = sizeof PLACES / sizeof PLACES[0] };

// The file with a parameter and a place filled in; the column of the number.
static int write_file(char *text, size_t size, const char *parameter, const char *place_text,
                      const char *number)
{
    const char *mark = strchr(place_text, '#');
    int used = snprintf(text, size, BEGINNING, parameter);
    snprintf(text + used, size - (size_t)used, "%.*s%s%s", (int)(mark - place_text), place_text,
             number, mark + 1);
    return (int)(mark - place_text) + 1;
}

static void check_refused(const place *p, const char *parameter, const char *number)
{
    char text[4000], where[40], expected[100];
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    int column = write_file(text, sizeof text, parameter, p->text, number);
    bool named = number[0] == 'p' || p->expected == NULL;
    const char *blank = strchr(number, ' ');
    if (!named && blank != NULL) column += (int)(blank - number) + 1; // of the unit
    hn_status status = hn_model_parse(context, text, strlen(text), "f", &model);
    CHECK_STATUS(context, status, HN_FILE_FORMAT);
    snprintf(where, sizeof where, "f:%d:%d: ", LINE, column);
    CHECK_CONTAINS(hn_context_message(context), where);
    snprintf(expected, sizeof expected, "; expected %s", p->expected);
    if (p->expected != NULL) CHECK_CONTAINS(hn_context_message(context), expected);
    hn_context_destroy(context);
}

TEST(places, take_units_of_what_they_mean_and_no_others)
{
    for (int i = 0; i < PLACE_COUNT; ++i) {
        const place *p = &PLACES[i];
        char text[4000];
        for (int of_parameter = 0; of_parameter < 2; ++of_parameter) {
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            (void)write_file(text, sizeof text, of_parameter ? p->right : "1", p->text,
                             of_parameter ? "p" : p->right);
            CHECK_OK(context, hn_model_parse(context, text, strlen(text), "f", &model));
            hn_model_destroy(model);
            hn_context_destroy(context);
        }
        check_refused(p, "1", p->wrong);
        if (p->expected != NULL) check_refused(p, p->wrong, "p");
    }
}

// ---- parameters, sums, angles without a unit -------------------------------------------------------------------

static void check_message(const char *parameters, const char *rest, const char *message)
{
    char text[4000];
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    int used = snprintf(text, sizeof text, BEGINNING, parameters);
    snprintf(text + used, sizeof text - (size_t)used, "%s", rest);
    hn_status status = hn_model_parse(context, text, strlen(text), "f", &model);
    if (message == NULL) CHECK_OK(context, status);
    else CHECK_STATUS(context, status, HN_FILE_FORMAT);
    if (message != NULL) CHECK_TEXT(hn_context_message(context), message);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(parameters, carry_their_units_through_expressions)
{
    const char *message = "f:24:23: rate: 'speed' is a speed; expected an angular speed, such as "
                          "90 deg/s or 30 rpm";
    check_message("1, speed: 30 m/s", START("hinge: {rate: speed}"), message);
    check_message("1, fast: 30 m/s, speed: fast", START("hinge: {rate: speed}"), message);
    check_message("1, speed: 30 m/s, r: 2 m", START("hinge: {rate: speed/r}"), NULL);
    check_message("1, speed: 30 m/s", START("hinge: {rate: speed/2}"), NULL); // 2 of what?
    check_message("1, speed: 30", START("hinge: {rate: speed}"), NULL);
    check_message("1, lift: 90 mm", DRIVE("motion: {joint: hinge, value: 'lift*sin(2*t)'}"),
                  "f:24:45: value: 'lift*sin(2*t)' is a length; expected an angle, such as 30 deg");
    check_message("1, lift: 90 mm", DRIVE("motion: {joint: rail, value: 'lift*sin(2*t)'}"), NULL);
    check_message("1, width: 1 m, m: 2 kg", START("k: {velocity: [0, width + m, 0]}"),
                  "f:24:27: velocity: 'width + m' adds or compares what is a length with what is a "
                  "mass; expected terms of one kind");
    check_message("1, w: 5 mm", DRIVE("motion: {joint: rail, value: '0.1*sin(w*t)'}"),
                  "f:24:44: value: '0.1*sin(w*t)' takes a function of what is a length; expected a "
                  "number or an angle there");
    check_message("1, w: 5 mm, l: 2 m", DRIVE("motion: {joint: rail, value: '0.1*sin(w/l)'}"),
                  NULL);
    check_message("1, w: 5 rpm", DRIVE("motion: {joint: rail, value: '0.1*sin(w*t)'}"), NULL);
    check_message("1, w: 5 Hz", DRIVE("motion: {joint: rail, value: '0.1*sin(2*pi*w*t)'}"), NULL);
    check_message("1, m: 5 kg", DRIVE("motion: {joint: rail, value: '0.1*exp(-m)'}"),
                  "f:24:44: value: '0.1*exp(-m)' takes a function of what is a mass; expected a "
                  "number or an angle there");
    // where two units meet, one of them is said twice
    check_message("1, width: 1 m", "gravity: [0, 0, width m/s^2]\n",
                  "f:24:17: gravity: 'width m/s^2' is in m^2 s^-2; expected an acceleration, "
                  "such as 9.81 m/s^2");
    check_message("1, force: 5 N",
                  LOAD("force: {body: k, vector: [0, 0, 1], factor: 'force*sin(t)'}"), NULL);
    check_message("1, force: 5 N",
                  LOAD("force: {body: k, vector: [0, 0, 1 N], factor: 'force*sin(t)'}"),
                  "f:24:60: factor: 'force*sin(t)' is a force; expected a number without a unit");
    check_message("1",
                  DRIVE("motion: {joint: hinge, value: {scale: 30 deg, table: {times: [0, 1], "
                        "values: [0, 1 rad]}}}"),
                  "f:24:97: values is in 'rad', an angle; expected a number without a unit");
}

static void remember(const char *message, void *user)
{
    snprintf((char *)user, 400, "%s", message);
}

static void check_note(const char *rest, const char *note)
{
    char text[4000], said[400] = "";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_context_set_log(context, remember, said);
    int used = snprintf(text, sizeof text, BEGINNING, "1");
    snprintf(text + used, sizeof text - (size_t)used, "%s", rest);
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "f", &model));
    CHECK_TEXT(said, note);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(angles, of_more_than_a_turn_without_a_unit_get_a_note)
{
    check_note(
        START("hinge: {angle: 90}"),
        "f:24:24: angle is 90 rad, which is 14.3 turns; 90 degrees are written '90 deg', and "
        "radians that are meant '90 rad'");
    check_note(START("cross: {coordinates: [0, -45]}"),
               "f:24:34: coordinates is -45 rad, which is -7.16 turns; -45 degrees are written "
               "'-45 deg', and radians that are meant '-45 rad'");
    check_note(
        DRIVE("latch: {joint: hinge, value: 30}"),
        "f:24:43: value is 30 rad, which is 4.77 turns; 30 degrees are written '30 deg', and "
        "radians that are meant '30 rad'");
    // the others are counted
    check_note(START("hinge: {angle: 90}, cross: {angle_a: 10, angle_b: 90}"),
               "f: 2 more angles are bare numbers of more than a turn");
    const char *const quiet[] = {
        START("hinge: {angle: 6.28}"),
        START("hinge: {angle: 90 rad}"),
        START("hinge: {angle: 90 deg}"),
        START("hinge: {angle: 20*pi}"),
        START("hinge: {rate: 90}"),
        START("rail: {displacement: 90}"),
        DRIVE("motion: {joint: rail, value: {table: {times: [0, 1], values: [0, 90]}}}"),
        DRIVE("effort: {joint: hinge, value: 90}")};
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; ++i) check_note(quiet[i], "");
}
