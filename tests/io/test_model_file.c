// SPDX-License-Identifier: MIT
// Model files: what good ones give, what each wrong one in tests/io/bad is told and where, hostile and large ones.
#define _POSIX_C_SOURCE 200809L // setenv
#include "io/expression.h"
#include "elements/element.h"
#include "model/model.h"

#include "base/rotation.h"

#include <holonom/holonom.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/reference.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODELS HN_SOURCE_DIR "/models/"
#define BAD HN_SOURCE_DIR "/tests/io/bad/"

static hn_model *parse(hn_context *context, const char *text)
{
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "text", &model));
    return model;
}

static hn_model *load(hn_context *context, const char *path)
{
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_load(context, path, &model));
    return model;
}

// The whole file; the caller frees it.
static char *read_all(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    char *text = malloc(1 << 20);
    *length = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

// ---- wrong files ------------------------------------------------------------------------------------------

typedef struct bad_file {
    const char *name;
    hn_status status;
    int line, column;
    const char *words;
} bad_file;

// clang-format off
static const bad_file BAD_FILES[] = {
    {"alias-bomb", HN_FILE_FORMAT, 9, 38, "aliases multiply to more than a million values; expected fewer"},
    {"bad-expression", HN_FILE_FORMAT, 3, 22,
     "mass: the expression ends inside a parenthesis (with a comma inside [] or {}, put it in quotes)"},
    {"beam-frames-not-orthonormal", HN_INVALID_MODEL, 3, 3,
     "beam 'bar', frame of node 1: orientation is not a rotation matrix (its axes miss "
     "orthonormality by 0.1; at most 1e-09 is accepted)"},
    {"beam-mass-beside-nodes", HN_FILE_FORMAT, 3, 143,
     "beam 'bar' has no node at 0.3 m; the nearest is node 1 at 0.25 m of 1 m"},
    {"beam-of-no-length", HN_INVALID_MODEL, 3, 3,
     "beam 'bar': points 1 and 2 are one place; expected a length"},
    {"beam-stiffness-negative", HN_INVALID_MODEL, 3, 3,
     "beam 'bar': stiffness against stretch is -5; expected a positive number"},
    {"beam-stiffness-not-positive", HN_INVALID_MODEL, 3, 3,
     "beam 'bar': the stiffness matrix is not positive definite: some strain would cost no energy"},
    {"beam-with-a-sharp-corner", HN_INVALID_MODEL, 3, 3,
     "beam 'bar': nodes 3 and 4 are turned by 58.3 degrees against each other; expected at "
     "most 45: take more elements, or two beams and a fixed joint at a corner"},
    {"beam-with-half-an-element", HN_FILE_FORMAT, 3, 51,
     "elements is 2.5; expected a whole number from 1 on"},
    {"beam-of-an-unknown-element", HN_FILE_FORMAT, 3, 63,
     "unknown element of a beam 'cubic'; expected one of helical, linear, quadratic"},
    {"beam-of-linear-elements-of-order-two", HN_FILE_FORMAT, 3, 78,
     "order is 2 beside element: linear; expected one of them"},
    {"beam-without-material", HN_FILE_FORMAT, 3, 63,
     "beam 'bar' has a section and no material; expected both, or stiffness, mass_per_length "
     "and inertia_per_length"},
    {"binary", HN_FILE_FORMAT, 1, 1,
     "found the control character 0x7f; expected a YAML text file, this one looks binary"},
    {"bodies-is-a-list", HN_FILE_FORMAT, 3, 3, "bodies is a list of 1; expected a map of 'key: value' pairs"},
    {"body-named-ground", HN_INVALID_MODEL, 3, 3, "body 'ground': this name is reserved for the ground"},
    {"coupling-of-a-coordinate-with-itself", HN_INVALID_MODEL, 9, 3,
     "coupling 'c': the angle of joint 'hinge' stands in it twice"},
    {"coupling-of-an-unknown-kind", HN_FILE_FORMAT, 9, 7,
     "unknown kind 'gears' in coupling 'c' (did you mean 'gear'?)"},
    {"coupling-of-one-joint", HN_FILE_FORMAT, 9, 26,
     "coupling 'c' has 1 joints; expected a list of 2 to 4"},
    {"coupling-on-a-ball", HN_INVALID_MODEL, 10, 3,
     "coupling 'c': joint 'ball' is spherical; a coupling needs joints with an angle or a "
     "displacement: revolute, "
     "prismatic, cylindrical, screw, planar or universal"},
    {"coupling-with-a-factor-of-zero", HN_INVALID_MODEL, 9, 3,
     "coupling 'c': the factor of joint 'tube' is 0; expected a number other than zero"},
    {"coupling-with-an-unknown-coordinate", HN_FILE_FORMAT, 9, 58,
     "unknown coordinate 'angel' in coupling 'c' (did you mean 'angle'?)"},
    {"coupling-without-coordinates", HN_FILE_FORMAT, 9, 34,
     "coupling 'c' has no 'coordinates'; joint 'tube' has displacement, angle"},
    {"cyclic-anchor", HN_FILE_FORMAT, 2, 21, "an alias (*) stands inside what it refers to"},
    {"cylindrical-with-a-pitch", HN_FILE_FORMAT, 8, 66,
     "unknown key 'pitch' in joint 's'; expected one of bodies, coordinates, at, axis, frame"},
    {"deep-block-nesting", HN_FILE_FORMAT, 34, 33, "lists and maps are nested more than 32 deep"},
    {"deep-nesting", HN_FILE_FORMAT, 2, 40, "lists and maps are nested more than 32 deep"},
    {"distance-of-zero", HN_INVALID_MODEL, 5, 3,
     "joint 'rod': its two points are at the same place; expected a distance above zero"},
    {"drive-damper-that-pushes", HN_INVALID_MODEL, 9, 3,
     "drive 'd': its damper pushes with 1 at the rate -1; expected an effort with the sign of the rate"},
    {"drive-damper-without-rest", HN_INVALID_MODEL, 9, 3,
     "drive 'd': its damper has no entry 0 at the rate 0; expected one"},
    {"drive-of-an-unknown-kind", HN_FILE_FORMAT, 9, 7,
     "unknown kind 'servos' in drive 'd' (did you mean 'servo'?)"},
    {"body-that-nothing-places", HN_INVALID_MODEL, 3, 3,
     "body 'one': it has no position, and no joint places it: expected a chain of joints other "
     "than distance to the ground or to a body with a position"},
    {"coordinates-that-contradict", HN_INVALID_MODEL, 6, 3,
     "joint 'tube': the coordinates given of 'hinge', 'tube' cannot be had together: 1 rad, or "
     "of the size of the mechanism, are left; give fewer of them"},
    {"frame-and-axis", HN_FILE_FORMAT, 5, 105,
     "joint 'hinge' has both frame and axis; expected one of them"},
    {"frame-in-the-world", HN_FILE_FORMAT, 5, 68,
     "frame is given in the bodies; expected 'coordinates: body'"},
    {"frame-not-a-rotation", HN_INVALID_MODEL, 5, 119,
     "joint 'hinge': frame: orientation is not a rotation matrix (its axes miss orthonormality "
     "by 3; at most 1e-09 is accepted)"},
    {"friction-of-nothing", HN_FILE_FORMAT, 9, 17,
     "drive 'd' has no friction; expected effort or coefficient"},
    {"friction-weaker-at-rest", HN_FILE_FORMAT, 9, 51,
     "static is 0.5; expected 1 or more: friction at rest over that of sliding"},
    {"friction-with-a-negative-coefficient", HN_FILE_FORMAT, 9, 45,
     "coefficient is -0.1; expected zero or a positive number"},
    {"friction-with-a-radius-along-a-rail", HN_FILE_FORMAT, 9, 83,
     "drive 'd' acts along a displacement and has a radius; expected none"},
    {"friction-without-a-radius", HN_FILE_FORMAT, 9, 17,
     "drive 'd' has no 'radius'; expected that of the bearing"},
    {"friction-without-a-stribeck-speed", HN_FILE_FORMAT, 9, 51,
     "drive 'd' has no 'stribeck'; expected the speed over which friction falls from that at rest"},
    {"latch-with-an-armature", HN_FILE_FORMAT, 9, 39,
     "unknown key 'armature' in drive 'd'; expected one of joint, coordinate, value"},
    {"latch-without-a-value", HN_FILE_FORMAT, 9, 14,
     "drive 'd' has no 'value'; expected one"},
    {"loop-of-links-too-short", HN_INVALID_MODEL, 7, 3,
     "joint 'knee': the loop does not close, 1 m and 0 rad are left whichever way its joints "
     "('hip', 'foot', 'knee') move; give places and axes that fit"},
    {"loop-that-the-crank-keeps-open", HN_INVALID_MODEL, 9, 3,
     "joint 'head': the loop of joints 'hip', 'knee', 'foot', 'head' does not close with the "
     "given coordinates of 'foot', 0.382 m and 0 rad are left; without them it does. From the "
     "drawing they can go 25 % of their way"},
    {"screw-of-no-pitch", HN_INVALID_MODEL, 8, 67,
     "joint 's': pitch is 0; expected a number of metres per turn other than zero"},
    {"screw-without-a-pitch", HN_FILE_FORMAT, 8, 14,
     "joint 's' has no 'pitch'; expected one"},
    {"spring-without-rest-on-a-body-without-a-place", HN_INVALID_MODEL, 7, 3,
     "load 's': a body of the spring has no position and is placed through its joints; expected "
     "a rest length"},
    {"start-angle-in-metres", HN_FILE_FORMAT, 8, 20,
     "angle is in 'mm', a length; expected an angle, such as 30 deg"},
    {"start-by-an-unknown-word", HN_FILE_FORMAT, 7, 8,
     "unknown start 'assembld' (did you mean 'assembled'?)"},
    {"start-of-a-hinge-by-displacement", HN_FILE_FORMAT, 8, 11,
     "unknown key 'displacement' in start of the revolute joint 'hinge'; expected one of angle, "
     "coordinates, rate, rates"},
    {"start-of-a-joint-by-velocity", HN_FILE_FORMAT, 7, 8,
     "'pin' is a joint; expected its coordinates, rate or rates: velocity and angular_velocity are of bodies"},
    {"start-of-an-unknown-joint", HN_FILE_FORMAT, 8, 3,
     "unknown joint 'hing' (did you mean 'hinge'?)"},
    {"start-with-coordinates-twice", HN_FILE_FORMAT, 8, 17,
     "both coordinates and angle are given; expected one of them"},
    {"start-with-too-many-coordinates", HN_FILE_FORMAT, 8, 23,
     "3 coordinates for joint 'tube'; expected 2 (cylindrical)"},
    {"stop-of-too-much-restitution", HN_FILE_FORMAT, 9, 51,
     "restitution is 1.2; expected 0 to 1"},
    {"stop-with-stiffness-and-restitution", HN_FILE_FORMAT, 9, 13,
     "drive 'd' has both stiffness and restitution; expected one of them"},
    {"world-force-on-a-body-without-a-place", HN_FILE_FORMAT, 7, 50,
     "load 'f' has a place in the world, but body 'link' is placed through its joints; expected "
     "'point', in its frame"},
    {"world-spring-on-a-body-without-a-place", HN_INVALID_MODEL, 7, 3,
     "load 's': a body of the spring has no position and is placed through its joints; expected "
     "places on the bodies (coordinates: body) and a rest length"},
    {"drive-on-a-ball", HN_INVALID_MODEL, 9, 3,
     "drive 'd': joint 'ball' is spherical; a drive needs a revolute, prismatic, cylindrical, slot, "
     "planar, universal or free one, a spherical one is moved by a rotation"},
    {"drive-on-an-unknown-joint", HN_FILE_FORMAT, 9, 23,
     "unknown joint 'hing' (did you mean 'hinge'?)"},
    {"drive-with-a-negative-gain", HN_FILE_FORMAT, 9, 54,
     "proportional is -3; expected zero or a positive number"},
    {"drive-with-an-unknown-coordinate", HN_FILE_FORMAT, 9, 41,
     "unknown coordinate 'angel' in drive 'd' (did you mean 'angle'?)"},
    {"drive-without-a-coordinate", HN_FILE_FORMAT, 9, 15,
     "drive 'd' has no 'coordinate'; joint 'tube' has displacement, angle"},
    {"drive-without-a-gain", HN_FILE_FORMAT, 9, 14,
     "drive 'd' has no gain; expected one of proportional, derivative and integral"},
    {"drive-without-a-target", HN_FILE_FORMAT, 9, 14,
     "drive 'd' has no 'target'; expected one"},
    {"drive-without-a-value", HN_FILE_FORMAT, 9, 15,
     "drive 'd' has no 'value'; expected one"},
    {"duplicate-body", HN_FILE_FORMAT, 4, 3, "'link' is given twice; expected once"},
    {"duplicate-key", HN_FILE_FORMAT, 3, 39, "'mass' is given twice; expected once"},
    {"empty-bodies", HN_FILE_FORMAT, 2, 9, "the model has no bodies; expected at least one"},
    {"empty", HN_FILE_FORMAT, 1, 1, "the file is empty; expected a model beginning with 'holonom: 1'"},
    {"flat-tetrahedron", HN_INVALID_MODEL, 3, 41,
     "body 'link': the tetrahedron is flat; expected corners not in one plane"},
    {"force-on-the-ground", HN_FILE_FORMAT, 5, 24, "the ground cannot stand here; expected a "
    "body that can move"},
    {"gear-with-an-unknown-joint", HN_FILE_FORMAT, 9, 30,
     "unknown joint 'tub' (did you mean 'tube'?)"},
    {"gear-with-negative-teeth", HN_FILE_FORMAT, 9, 44,
     "teeth has -10; expected positive numbers"},
    {"gear-with-ratio-and-internal", HN_FILE_FORMAT, 9, 44,
     "coupling 'c' has both ratio and internal; the sign of a ratio says it"},
    {"gear-with-teeth-and-radii", HN_FILE_FORMAT, 9, 13,
     "coupling 'c' has more than one ratio; expected one of teeth, radii and ratio"},
    {"gear-without-a-ratio", HN_FILE_FORMAT, 9, 13,
     "coupling 'c' has nothing that says how its angles are related; expected one of teeth, radii and ratio"},
    {"height-and-between", HN_FILE_FORMAT, 3, 48,
     "height is given although 'between' tells it; expected one of them"},
    {"hinge-on-a-point-mass", HN_INVALID_MODEL, 5, 3,
     "joint 'hinge': 'bob' is a point mass, which takes only spherical, distance and free "
     "joints, not revolute"},
    {"factor-and-pulse", HN_FILE_FORMAT, 5, 57,
     "load 'push' has more than one of table, pulse and factor; expected one of them"},
    {"factor-of-no-kind", HN_FILE_FORMAT, 5, 57,
     "factor has 0 of table, spline, pulse, step and expression; expected one"},
    {"factor-of-two-kinds", HN_FILE_FORMAT, 5, 57,
     "factor has 2 of table, spline, pulse, step and expression; expected one"},
    {"factor-with-an-unknown-function", HN_FILE_FORMAT, 5, 58,
     "factor: unknown word 'sinus'; expected a number, a function, pi or a parameter"},
    {"factor-with-an-unknown-word", HN_FILE_FORMAT, 5, 63,
     "factor: unknown word 'amplitud'; expected a number, a function, pi or a parameter"},
    {"hollow-inside-out", HN_FILE_FORMAT, 3, 61, "inner_radius is 2; expected less than the radius 1"},
    {"inertia-negative", HN_INVALID_MODEL, 3, 28,
     "body 'link': inertia has the negative principal moment -1 kg m^2; expected none below zero"},
    {"inertia-triangle", HN_INVALID_MODEL, 3, 28,
     "body 'link': inertia violates the triangle inequality: principal moment 2.1 is larger "
     "than 1 + 1 kg m^2"},
    {"inertia-unsymmetric", HN_INVALID_MODEL, 3, 28,
     "body 'link': inertia tensor is not symmetric (entries differ by 0.1 kg m^2)"},
    {"inertia-without-mass", HN_FILE_FORMAT, 3, 9, "body 'link' has inertia but no mass; expected 'mass'"},
    {"inertia-zero", HN_INVALID_MODEL, 3, 28,
     "body 'link': inertia is zero; expected at least two positive principal moments (or make "
     "it a point mass)"},
    {"infinite-by-expression", HN_FILE_FORMAT, 3, 16, "mass: the value of '1/0' is inf; "
    "expected a finite number"},
    {"joint-beside-a-point-mass", HN_INVALID_MODEL, 5, 3,
     "joint 'rod': its place is 0.5 m away from the point mass 'bob'; expected its position"},
    {"joint-of-two-kinds", HN_FILE_FORMAT, 5, 44,
     "joint 'hinge' has more than its kind; expected everything inside 'fixed'"},
    {"joint-to-a-ground-with-a-capital", HN_FILE_FORMAT, 5, 30, "unknown body 'Ground' (did you mean 'ground'?)"},
    {"joint-to-itself", HN_FILE_FORMAT, 5, 30, "joint 'hinge' joins 'link' to itself; expected two bodies"},
    {"joint-to-the-world", HN_FILE_FORMAT, 5, 30,
     "unknown body 'world'; expected the name of a body of this model, or ground"},
    {"joint-with-one-body", HN_FILE_FORMAT, 5, 30, "bodies is a list of 1; expected a list of 2"},
    {"joint-without-axis", HN_FILE_FORMAT, 5, 21, "joint 'hinge' has no 'axis'; expected one"},
    {"joint-without-place", HN_FILE_FORMAT, 5, 21, "joint 'hinge' has no 'at'; expected its place"},
    {"just-a-word", HN_FILE_FORMAT, 1, 1, "the file is 'pendulum'; expected a map of 'key: value' pairs"},
    {"line-load-on-an-unknown-beam", HN_FILE_FORMAT, 5, 28,
     "unknown beam 'baar'; expected the name of a beam, e.g. 'bar'"},
    {"list-as-key", HN_FILE_FORMAT, 2, 3, "a list, map or alias stands as a key; expected a word"},
    {"load-on-an-unknown-node", HN_FILE_FORMAT, 5, 24,
     "unknown body 'bar.9' (did you mean 'bar.4'?)"},
    {"mass-and-density", HN_FILE_FORMAT, 3, 58, "body 'link' has both mass and density; "
    "expected one of them"},
    {"missing-mass", HN_FILE_FORMAT, 4, 5, "body 'link' has no mass; expected 'mass' or 'density'"},
    {"misspelt-joint-kind", HN_FILE_FORMAT, 5, 11,
     "unknown kind 'revolut' in joint 'hinge' (did you mean 'revolute'?)"},
    {"misspelt-reduction", HN_FILE_FORMAT, 4, 18, "unknown reduction 'reduce' (did you mean 'reduced'?)"},
    {"misspelt-scheme", HN_FILE_FORMAT, 4, 15, "unknown scheme 'energy-momentun' (did you mean "
    "'energy-momentum'?)"},
    {"misspelt-shape", HN_FILE_FORMAT, 3, 18, "unknown key 'cilinder' in shape (did you mean 'cylinder'?)"},
    {"motion-by-a-pulse", HN_INVALID_MODEL, 7, 3,
     "drive 'd': a motion by a pulse has jumps of speed; expected an expression, a spline, a "
     "step or a table"},
    {"effort-by-a-rotation", HN_FILE_FORMAT, 10, 29,
     "unknown key 'rotation' in drive 'd'; expected one of joint, coordinate, value, armature"},
    {"motion-of-a-body-and-a-joint", HN_FILE_FORMAT, 10, 34,
     "drive 'd' has both a body and a joint; expected one of them"},
    {"motion-of-a-body-to-nowhere", HN_FILE_FORMAT, 10, 15,
     "drive 'd' moves nothing; expected x, y, z or rotation"},
    {"motion-of-a-body-with-an-unknown-word", HN_FILE_FORMAT, 10, 27,
     "unknown key 'w' in drive 'd'; expected one of body, point, x, y, z, rotation"},
    {"motion-of-a-free-joint-the-wrong-way-round", HN_INVALID_MODEL, 10, 3,
     "drive 'd': joint 'loose' is free; its place counts where it leads from the ground to a "
     "body or point mass, along the axes of the world (bodies: [ground, ...], without frames)"},
    {"motion-of-an-unknown-body", HN_FILE_FORMAT, 10, 22,
     "unknown body 'tip' (did you mean 'top'?)"},
    {"motion-of-the-ground", HN_FILE_FORMAT, 10, 22,
     "the ground cannot stand here; expected a body that can move"},
    {"rotation-about-nothing", HN_FILE_FORMAT, 10, 46,
     "axis has zero length; expected a direction"},
    {"rotation-by-a-pulse", HN_INVALID_MODEL, 10, 39,
     "drive 'd.x': a motion by a pulse has jumps of speed; expected an expression, a spline, "
     "a step or a table"},
    {"rotation-of-a-hinge", HN_INVALID_MODEL, 10, 40,
     "drive 'd': joint 'hinge' is revolute; a rotation moves a spherical or free one"},
    {"rotation-of-a-point-mass", HN_INVALID_MODEL, 10, 37,
     "drive 'd': 'bob' is a point mass, which does not turn; expected a body"},
    {"rotation-twice", HN_INVALID_MODEL, 11, 39,
     "drive 'd.x': the rotation of joint 'ball' is moved by drive 'c.x' already"},
    {"rotation-with-a-value", HN_FILE_FORMAT, 10, 29,
     "unknown key 'value' in drive 'd'; expected one of joint, rotation"},
    {"rotation-with-an-axis-twice-in-a-row", HN_FILE_FORMAT, 10, 50,
     "sequence is 'zzx'; expected one to three of x, y and z, none twice in a row, as in xyz "
     "or zxz"},
    {"rotation-with-an-unknown-sequence", HN_FILE_FORMAT, 10, 50,
     "sequence is 'zxw'; expected one to three of x, y and z, none twice in a row, as in xyz "
     "or zxz"},
    {"rotation-with-axis-and-sequence", HN_FILE_FORMAT, 10, 39,
     "rotation has both an axis and a sequence; expected axis and angle, or sequence and "
     "angles"},
    {"rotation-with-too-few-angles", HN_FILE_FORMAT, 10, 63,
     "angles is a list of 2; expected a list of 3"},
    {"rotation-without-an-angle", HN_FILE_FORMAT, 10, 39,
     "rotation has no 'angle'; expected one"},
    {"motion-twice", HN_INVALID_MODEL, 8, 3,
     "drive 'd': the angle of joint 'hinge' is moved by drive 'c' already"},
    {"motor-without-speed", HN_FILE_FORMAT, 9, 48,
     "no_load is 0; expected a positive number of m/s or rad/s"},
    {"name-with-a-slash", HN_INVALID_MODEL, 3, 3, "body 'left/arm': a name may not contain '/' "
    "nor be dots alone"},
    {"negative-density", HN_FILE_FORMAT, 5, 14, "density is -2700; expected a positive number of kg/m^3"},
    {"negative-length", HN_FILE_FORMAT, 5, 84, "length is -1; expected a positive number of metres"},
    {"negative-size", HN_FILE_FORMAT, 3, 34, "size has -1; expected a positive number of metres"},
    {"negative-step", HN_FILE_FORMAT, 4, 13, "step is -0.01; expected a positive number of seconds"},
    {"negative-stiffness", HN_FILE_FORMAT, 5, 85, "stiffness is -5; expected zero or a positive number"},
    {"neither-shape-nor-inertia", HN_FILE_FORMAT, 3, 9,
     "body 'link' has neither shape nor inertia; expected 'shape', 'mass' and 'inertia', or 'point_mass'"},
    {"no-bodies", HN_FILE_FORMAT, 1, 1, "the model has no 'bodies'; expected one"},
    {"no-version", HN_FILE_FORMAT, 1, 1, "the file has no format version; expected 'holonom: 1' at its top"},
    {"not-a-number", HN_FILE_FORMAT, 3, 16, "mass: '.nan' found; expected a finite number"},
    {"not-utf8", HN_FILE_FORMAT, 2, 10, "byte 0xe9 is not UTF-8 text; expected a YAML file"},
    {"number-too-large", HN_FILE_FORMAT, 3, 50, "position: '1e999' is too large; expected a finite number"},
    {"only-comments", HN_FILE_FORMAT, 1, 1, "the file is empty; expected a model beginning with "
    "'holonom: 1'"},
    {"orientation-left-handed", HN_INVALID_MODEL, 3, 61,
     "body 'link': orientation is left-handed; expected a rotation matrix with determinant 1"},
    {"orientation-not-a-rotation", HN_INVALID_MODEL, 3, 61,
     "body 'link': orientation is not a rotation matrix (its axes miss orthonormality by 0.1; at most "
     "1e-09 is accepted)"},
    {"parameter-named-pi", HN_FILE_FORMAT, 2, 14, "'pi' cannot name a parameter: it already has a meaning"},
    {"parameter-used-before-definition", HN_FILE_FORMAT, 3, 9,
     "parameter 'area': unknown word 'side'; expected a number, a function, pi or a parameter"},
    {"parameter-with-a-bad-name", HN_FILE_FORMAT, 2, 14,
     "'2nd' cannot name a parameter; expected letters, digits and _, not beginning with a digit"},
    {"parameter-without-a-name", HN_FILE_FORMAT, 2, 14,
     "'' cannot name a parameter; expected letters, digits and _, not beginning with a digit"},
    {"placed-twice", HN_FILE_FORMAT, 3, 85,
     "body 'link' is placed twice; expected one of position, between or one point"},
    {"point-mass-with-inertia", HN_FILE_FORMAT, 3, 41,
     "body 'bob' is a point mass and takes no 'inertia' here; expected only 'mass' in point_mass"},
    {"point-of-another-shape", HN_FILE_FORMAT, 3, 55,
     "body 'link' has no point 'apex'; expected position, or a point of its shape"},
    {"pulse-backwards", HN_FILE_FORMAT, 5, 81, "end is 1 s, not after the peak at 2 s; expected "
    "increasing times"},
    {"quaternion-not-of-length-one", HN_FILE_FORMAT, 3, 65,
     "quaternion has length 1.41421; expected 1 (order: w, x, y, z)"},
    {"rack-of-no-radius", HN_FILE_FORMAT, 9, 45,
     "radius is 0; expected a number of metres other than zero"},
    {"rack-without-a-rail", HN_FILE_FORMAT, 9, 29,
     "coupling 'c': joint 'hinge' (revolute) has no displacement"},
    {"output-at-two-points", HN_FILE_FORMAT, 11, 37,
     "output 'o' has both at and point; expected one of them"},
    {"output-called-as-a-parameter", HN_FILE_FORMAT, 7, 23,
     "'height' has two meanings here: an output, and a parameter; expected another name for one of them"},
    {"output-in-an-unknown-frame", HN_FILE_FORMAT, 11, 45,
     "unknown frame 'c' in output 'o'; expected one of world, a, b"},
    {"output-of-a-ball-angle", HN_FILE_FORMAT, 11, 27,
     "joint 'ball' (spherical) has no coordinate with a word; expected a revolute, prismatic, "
     "cylindrical, planar or universal one"},
    {"output-of-an-unknown-body", HN_FILE_FORMAT, 11, 24,
     "unknown body 'lnk' (did you mean 'link'?)"},
    {"output-of-an-unknown-drive", HN_FILE_FORMAT, 11, 22,
     "unknown drive 'moter' in output 'o' (did you mean 'motor'?)"},
    {"output-of-an-unknown-energy", HN_FILE_FORMAT, 11, 15,
     "unknown energy 'kinetik' in output 'o' (did you mean 'kinetic'?)"},
    {"output-of-an-unknown-kind", HN_FILE_FORMAT, 11, 7,
     "unknown kind 'speed' in output 'o'; expected one of position, velocity, acceleration, "
     "distance, angle, reaction_force, reaction_torque, coordinate, rate, effort, power, energy, expression"},
    {"output-of-no-direction", HN_FILE_FORMAT, 11, 45,
     "from has zero length; expected a direction"},
    {"output-of-three-numbers-as-one", HN_FILE_FORMAT, 6, 23,
     "output 'place' has three numbers; expected place_x, place_y or place_z"},
    {"output-of-what-comes-later", HN_INVALID_MODEL, 11, 3,
     "output 'o': unknown word 'p'; expected t, pi, a number or a function, or an output before it"},
    {"output-without-a-coordinate", HN_FILE_FORMAT, 11, 13,
     "output 'o' has no 'coordinate'; joint 'tube' has displacement, angle"},
    {"repeat-by-a-parameter", HN_FILE_FORMAT, 4, 9,
     "'n' is the name of a number already; expected another one"},
    {"repeat-by-a-word-of-the-format", HN_FILE_FORMAT, 4, 9,
     "'x' is a word of the format; expected another one, such as i"},
    {"repeat-by-halves", HN_FILE_FORMAT, 4, 12,
     "i goes from 1 to 1.5 by 1; expected whole numbers"},
    {"repeat-nowhere", HN_FILE_FORMAT, 4, 12,
     "i goes from 5 to 1 by 1, which is nowhere; expected at least one value"},
    {"repeat-of-an-unknown-section", HN_FILE_FORMAT, 5, 3,
     "unknown key 'body' in a repetition; expected one of bodies, beams, joints, loads, "
     "drives, couplings, start, outputs, for, with"},
    {"repeat-the-same-name", HN_INVALID_MODEL, 5, 12,
     "body 'dust0': this name is already taken"},
    {"repeat-under-one-name", HN_FILE_FORMAT, 5, 12,
     "'dust' is repeated under one name; expected an index in it, such as 'dust$i'"},
    {"repeat-with-a-bad-number", HN_FILE_FORMAT, 5, 15,
     "far: unknown word 'm'; expected a number, a function, pi or a parameter"},
    {"repeat-with-a-half-name", HN_FILE_FORMAT, 5, 12,
     "'$(i/2)' is 0.5; expected a whole number"},
    {"repeat-with-a-lonely-dollar", HN_FILE_FORMAT, 5, 12,
     "'$' stands alone; expected an index, '$i' or '$(i - 1)'"},
    {"repeat-with-an-unknown-index", HN_FILE_FORMAT, 5, 12,
     "'$k' is no index here; expected '$i'"},
    {"repeat-without-for", HN_FILE_FORMAT, 4, 3,
     "a repetition has no 'for'; expected one"},
    {"repeat-without-parts", HN_FILE_FORMAT, 5, 3,
     "a repetition has no parts; expected bodies, joints, ..."},
    {"spline-of-two-lengths", HN_FILE_FORMAT, 5, 90, "values is a list of 3; expected a list of 2"},
    {"spring-table-not-increasing", HN_FILE_FORMAT, 9, 57,
     "displacements 0 is not after the one before; expected increasing displacements"},
    {"spring-that-does-nothing", HN_FILE_FORMAT, 9, 15,
     "drive 'd' does nothing; expected stiffness, damping, table, spline, damper or armature"},
    {"spring-with-table-and-spline", HN_FILE_FORMAT, 9, 81,
     "drive 'd' has both table and spline; expected one of them"},
    {"start-of-an-unknown-body", HN_FILE_FORMAT, 5, 3, "unknown body 'lnk' (did you mean 'link'?)"},
    {"start-of-an-unknown-place", HN_FILE_FORMAT, 4, 8,
     "unknown start 'equlibrium' (did you mean 'equilibrium'?)"},
    {"start-with-an-unknown-key", HN_FILE_FORMAT, 5, 10,
     "unknown key 'speed' in start of 'link'; expected one of velocity, angular_velocity, rate, "
     "rates, angle, displacement, displacement_1, displacement_2, angle_a, angle_b, rotation, "
     "place, coordinates"},
    {"step-backwards", HN_FILE_FORMAT, 5, 80,
     "end is 1 s, not after the start at 2 s; expected increasing times"},
    {"stop-upside-down", HN_INVALID_MODEL, 7, 3,
     "drive 'd': stops at 1 and -1; expected a lower and an upper value, or one of them"},
    {"stop-without-bounds", HN_FILE_FORMAT, 7, 13,
     "drive 'd' has neither lower nor upper; expected at least one"},
    {"stop-without-stiffness", HN_FILE_FORMAT, 7, 49,
     "stiffness is 0; expected a positive number of N/m or N m/rad"},
    {"tab-as-indentation", HN_FILE_FORMAT, 3, 1, "not YAML: tab character may not be used as indentation"},
    {"table-not-increasing", HN_FILE_FORMAT, 5, 71,
     "time 1 s is not after the one before; expected increasing times"},
    {"table-of-two-lengths", HN_FILE_FORMAT, 5, 84, "factors is a list of 2; expected a list of 3"},
    {"table-with-values-and-factors", HN_FILE_FORMAT, 5, 91,
     "table has both values and factors; expected one of them"},
    {"tag", HN_FILE_FORMAT, 2, 16, "found a tag (!); model files use none"},
    {"time-hidden-by-a-parameter", HN_FILE_FORMAT, 6, 57,
     "factor: a parameter has the name t, which is the time here; rename it"},
    {"too-many-rates", HN_FILE_FORMAT, 7, 18, "2 rates for joint 'hinge'; expected 1 (revolute)"},
    {"torsion-spring-on-a-slider", HN_INVALID_MODEL, 7, 3,
     "load 'twist': joint 'rail' is prismatic; a torsional spring needs a revolute, cylindrical "
     "or planar one"},
    {"tube-inside-out", HN_INVALID_MODEL, 7, 21,
     "beam section: the inner radius of the tube is 0.02 m; expected less than its radius 0.01 m"},
    {"two-documents", HN_FILE_FORMAT, 4, 1, "a second document begins here; expected one model a file"},
    {"two-shapes", HN_FILE_FORMAT, 3, 17, "shape has 2 keys; expected one shape (or composite)"},
    {"unclosed-bracket", HN_FILE_FORMAT, 4, 7, "not YAML: missing comma in flow sequence"},
    {"unclosed-quote", HN_FILE_FORMAT, 2, 7, "not YAML: wrongly indented double-quoted scalar"},
    {"unit-after-an-unknown-word", HN_FILE_FORMAT, 3, 16,
     "mass: unknown word 'lenght'; expected a number, a function, pi or a parameter"},
    {"unit-close-to-its-number", HN_FILE_FORMAT, 7, 18,
     "angle: 'deg' stands close to its number; expected a blank between them"},
    {"unit-inside-an-expression", HN_FILE_FORMAT, 3, 64,
     "position: 'deg' inside an expression; expected units only behind a whole value, such as "
     "'2*3 mm', and SI units inside (a degree is pi/180)"},
    {"unit-of-another-kind", HN_FILE_FORMAT, 3, 18,
     "mass is in 'mm', a length; expected a mass, such as 3 kg"},
    {"unit-that-is-none", HN_FILE_FORMAT, 3, 63,
     "position: unknown word 'inches'; expected a number, a function, pi or a parameter"},
    {"universal-axes-not-at-right-angles", HN_INVALID_MODEL, 5, 3,
     "joint 'cross': its axes stand at 45 degrees to each other; expected a right angle"},
    {"unknown-alias", HN_FILE_FORMAT, 2, 16, "an alias (*) has no anchor (&) before it"},
    {"unknown-axis", HN_FILE_FORMAT, 5, 67,
     "axis is 'w'; expected x, y, z, d1, d2, d3, one of these with a minus sign, or three numbers"},
    {"unknown-body-key", HN_FILE_FORMAT, 5, 5, "unknown key 'inertai' in body 'link' (did you "
    "mean 'inertia'?)"},
    {"unknown-body", HN_FILE_FORMAT, 6, 39, "unknown body 'lnik' (did you mean 'link'?)"},
    {"unknown-key", HN_FILE_FORMAT, 2, 1, "unknown key 'gravitiy' in the model (did you mean 'gravity'?)"},
    {"unknown-load", HN_FILE_FORMAT, 5, 10, "unknown kind 'forse' in load 'push' (did you mean 'force'?)"},
    {"unknown-word-in-expression", HN_FILE_FORMAT, 4, 18,
     "mass: unknown word 'lenght' in an expression (did you mean 'length'?)"},
    {"utf16", HN_FILE_FORMAT, 1, 1, "byte 0xff is not UTF-8 text; expected a YAML file"},
    {"vector-is-a-word", HN_FILE_FORMAT, 2, 10, "gravity is 'down'; expected a list of three numbers"},
    {"vector-with-a-word", HN_FILE_FORMAT, 2, 17,
     "gravity: unknown word 'down'; expected a number, a function, pi or a parameter"},
    {"version-is-a-list", HN_FILE_FORMAT, 1, 10, "format version is a list of 1; expected a number"},
    {"wrong-vector-length", HN_FILE_FORMAT, 2, 10, "gravity is a list of 2; expected a list of "
    "three numbers"},
    {"wrong-version", HN_FILE_FORMAT, 1, 10, "format version is 2; expected 1, the version this "
    "library reads"},
    {"zero-axis", HN_FILE_FORMAT, 6, 61, "axis has zero length; expected a direction"},
    {"zero-mass", HN_FILE_FORMAT, 3, 16, "mass is 0; expected a positive number of kilograms"},
};
// clang-format on
enum { BAD_FILE_COUNT = sizeof BAD_FILES / sizeof BAD_FILES[0] };

TEST(bad_files, say_what_was_found_where_and_what_was_expected)
{
    hn_context *context = hn_context_create(NULL);
    for (int i = 0; i < BAD_FILE_COUNT; ++i) {
        const bad_file *bad = &BAD_FILES[i];
        char path[512], expected[1024];
        snprintf(path, sizeof path, BAD "%s.yaml", bad->name);
        snprintf(expected, sizeof expected, "%s:%d:%d: %s", path, bad->line, bad->column,
                 bad->words);
        hn_model *model = (hn_model *)&path; // must be set to NULL
        CHECK_STATUS(context, hn_model_load(context, path, &model), bad->status);
        CHECK(model == NULL);
        CHECK_TEXT(hn_context_message(context), expected);
    }
    hn_context_destroy(context);
}

TEST(bad_files, are_all_in_the_table)
{
    DIR *folder = opendir(BAD);
    CHECK(folder != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strstr(entry->d_name, ".yaml") != NULL) count += 1;
    closedir(folder);
    CHECK_EQUAL(count, BAD_FILE_COUNT);
}

TEST(bad_files, that_are_no_files_are_told_apart)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_STATUS(context, hn_model_load(context, HN_SOURCE_DIR "/models", &model), HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(context), "is a directory");
    CHECK_STATUS(context, hn_model_load(context, "no-such-file.yaml", &model), HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(context), "no-such-file.yaml: cannot be opened");
    hn_context_destroy(context);
}

// ---- good files -------------------------------------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum { MODELS_MAX = 64, PATH_SIZE = 512 };

// Paths of all model files, sorted.
static int list_models(char paths[MODELS_MAX][PATH_SIZE])
{
    DIR *folder = opendir(MODELS);
    CHECK(folder != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < MODELS_MAX;)
        if (strstr(entry->d_name, ".yaml") != NULL)
            snprintf(paths[count++], PATH_SIZE, MODELS "%s", entry->d_name);
    closedir(folder);
    qsort(paths, (size_t)count, PATH_SIZE, compare_names);
    return count;
}

TEST(models, all_load_with_a_name_and_run_options)
{
    static char paths[MODELS_MAX][PATH_SIZE];
    int count = list_models(paths);
    CHECK(count >= 12);
    hn_context *context = hn_context_create(NULL);
    for (int i = 0; i < count; ++i) {
        hn_model *model = load(context, paths[i]);
        hn_run_options run = hn_model_run_options(model);
        CHECK(run.step > 0.0 && run.end > run.step);
        CHECK(strcmp(hn_model_name(model), "model") != 0);
        size_t length, expected;
        const char *kept = hn_model_text(model, &length);
        char *text = read_all(paths[i], &expected);
        CHECK_EQUAL(length, expected);
        CHECK(memcmp(kept, text, length) == 0);
        free(text);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

// Joint frames and places must agree at the start, except where the joint leaves freedom.
TEST(models, have_joints_that_are_closed_at_the_start)
{
    static char paths[MODELS_MAX][PATH_SIZE];
    int count = list_models(paths);
    hn_context *context = hn_context_create(NULL);
    for (int i = 0; i < count; ++i) {
        hn_model *model = load(context, paths[i]);
        for (int k = 0; k < model->joint_count; ++k) {
            const model_joint *j = &model->joints[k];
            hn_vec3 apart = vec3_subtract(model_point_to_world(model, j->body_b, j->point_b),
                                          model_point_to_world(model, j->body_a, j->point_a));
            hn_vec3 axis = model_direction_to_world(model, j->body_a, mat3_column(&j->frame_a, 2));
            double along = vec3_dot(axis, apart);
            if (j->kind == HN_JOINT_DISTANCE) CHECK_NEAR(vec3_norm(apart), j->length, 1e-14);
            else if (j->kind == HN_JOINT_PLANAR) CHECK_BELOW(along, 1e-14);
            else if (j->kind == HN_JOINT_PRISMATIC || j->kind == HN_JOINT_CYLINDRICAL)
                CHECK_BELOW(vec3_norm(vec3_add_scaled(apart, -along, axis)), 1e-14);
            else if (j->kind != HN_JOINT_FREE) CHECK_BELOW(vec3_norm(apart), 1e-14);
        }
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

// Bodies of a model against (phi, d1, d2, d3) of the reference.
static void check_reference(const char *model_file, const char *reference_file)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = load(context, model_file);
    reference *ref = reference_load(reference_file);
    for (int i = 0; i < model->body_count; ++i) {
        char place[64];
        double q[12], mass, tensor[9];
        snprintf(place, sizeof place, "/bodies/%d/q0", i);
        CHECK_EQUAL(reference_numbers(ref, place, q, 12), 12);
        snprintf(place, sizeof place, "/bodies/%d/mass", i);
        mass = reference_number(ref, place);
        snprintf(place, sizeof place, "/bodies/%d/inertia_body_frame", i);
        CHECK_EQUAL(reference_numbers(ref, place, tensor, 9), 9);
        const model_body *b = &model->bodies[i];
        CHECK_NEAR(b->mass, mass, 1e-15 * mass);
        CHECK_BELOW(vec3_norm(vec3_subtract(b->position, vec3_load(q))), 1e-14);
        for (int d = 0; d < 3; ++d) {
            hn_vec3 director = mat3_column(&b->orientation, d);
            CHECK_BELOW(vec3_norm(vec3_subtract(director, vec3_load(q + 3 + 3 * d))), 2e-15);
            for (int k = 0; k < 3; ++k)
                CHECK_NEAR(b->inertia.m[d][k], tensor[3 * d + k], 1e-15 * tensor[0]);
        }
    }
    reference_destroy(ref);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(models, start_where_the_reference_solutions_start)
{
    check_reference(MODELS "gyro-top.yaml", "gyro_top_steady.json");
    check_reference(MODELS "cylindrical-pair.yaml", "cylindrical_pair.json");
    check_reference(MODELS "planar-pair.yaml", "planar_pair.json");
    check_reference(MODELS "chain-revolute.yaml", "chain_revolute.json");
}

TEST(models, chains_have_the_published_energy_at_the_start)
{
    hn_context *context = hn_context_create(NULL);
    const char *const files[2] = {MODELS "chain-revolute.yaml", MODELS "chain-spherical.yaml"};
    const double expected[2] = {-998.887323, -706.32};
    const double tolerance[2] = {1e-6, 0.01};
    for (int i = 0; i < 2; ++i) {
        hn_model *model = load(context, files[i]);
        double energy = 0.0;
        for (int k = 0; k < model->body_count; ++k)
            energy -= model->bodies[k].mass * vec3_dot(model->gravity, model->bodies[k].position);
        CHECK_NEAR(energy, expected[i], tolerance[i]);
        hn_model_destroy(model);
    }
    hn_context_destroy(context);
}

TEST(models, top_has_the_joint_and_start_values_of_the_reference)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = load(context, MODELS "gyro-top.yaml");
    CHECK_BELOW(vec3_norm(vec3_subtract(model->joints[0].point_b, vec3(0, 0, -0.075))), 1e-16);
    CHECK(model->bodies[0].has_angular_velocity && !model->bodies[0].has_velocity);
    hn_vec3 omega = model->bodies[0].angular_velocity;
    CHECK_BELOW(vec3_norm(vec3_subtract(omega, vec3(0.0, -117.43304475316988, 77.80000000000003))),
                1e-13);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// ---- the format -------------------------------------------------------------------------------------------

#define TOP "holonom: 1\nbodies:\n"

static hn_vec3 position_of(const char *body)
{
    hn_context *context = hn_context_create(NULL);
    char text[1024];
    snprintf(text, sizeof text, TOP "  b: %s\n", body);
    hn_model *model = parse(context, text);
    hn_vec3 position = model->bodies[0].position;
    hn_model_destroy(model);
    hn_context_destroy(context);
    return position;
}

static void check_position(const char *body, double x, double y, double z)
{
    hn_vec3 p = position_of(body);
    CHECK_NEAR(p.x, x, 1e-14);
    CHECK_NEAR(p.y, y, 1e-14);
    CHECK_NEAR(p.z, z, 1e-14);
}

TEST(format, places_a_shape_by_one_of_its_points)
{
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, position: [1, 2, 3]}", 1, 2, 3);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, left: [0, 0, 0]}", 1, 0, 0);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, right: [0, 0, 0]}", -1, 0, 0);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, front: [0, 0, 0]}", 0, 2, 0);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, back: [0, 0, 0]}", 0, -2, 0);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, bottom: [0, 0, 0]}", 0, 0, 3);
    check_position("{shape: {box: {size: [2, 4, 6]}}, mass: 1, top: [0, 0, 0]}", 0, 0, -3);
    check_position("{shape: {cylinder: {radius: 1, height: 4}}, mass: 1, bottom: [0, 0, 1]}", 0, 0,
                   3);
    check_position("{shape: {hollow_cylinder: {radius: 1, inner_radius: 0.5, height: 4}}, mass: 1, "
                   "top: [0, 0, 0]}",
                   0, 0, -2);
    check_position("{shape: {cone: {radius: 1, height: 4}}, mass: 1, apex: [0, 0, 0]}", 0, 0, 3);
    check_position("{shape: {cone: {radius: 1, height: 4}}, mass: 1, base: [0, 0, 0]}", 0, 0, -1);
    check_position("{shape: {pyramid: {base: [1, 1], height: 4}}, mass: 1, apex: [0, 0, 0]}", 0, 0,
                   -3);
    check_position("{shape: {pyramid: {base: [1, 1], height: 4}}, mass: 1, base: [0, 0, 0]}", 0, 0,
                   1);
    // turned: the point stays, the rest turns about it
    check_position("{shape: {cone: {radius: 1, height: 4}}, mass: 1, apex: [1, 1, 1], "
                   "orientation: {rotate: {axis: y, angle: pi/2}}}",
                   4, 1, 1);
    // between: lower end at the first place
    check_position("{shape: {cylinder: {radius: 1}}, mass: 1, between: [[1, 0, 0], [5, 0, 0]]}", 3,
                   0, 0);
    check_position("{shape: {box: {size: [1, 1]}}, mass: 1, between: [[0, 1, 0], [0, 5, 0]]}", 0, 3,
                   0);
    check_position("{shape: {cone: {radius: 1}}, mass: 1, between: [[0, 0, 0], [4, 0, 0]]}", 3, 0,
                   0);
    check_position("{shape: {pyramid: {base: [1, 1]}}, mass: 1, between: [[0, 0, 0], [4, 0, 0]]}",
                   1, 0, 0);
    // a tetrahedron without position lies where its corners are
    check_position(
        "{shape: {tetrahedron: {corners: [[1, 1, 1], [5, 1, 1], [1, 5, 1], [1, 1, 5]]}}, mass: 1}",
        2, 2, 2);
    check_position(
        "{shape: {tetrahedron: {corners: [[1, 1, 1], [5, 1, 1], [1, 5, 1], [1, 1, 5]]}}, mass: 1, "
        "position: [7, 8, 9]}",
        7, 8, 9);
}

static hn_mat3 orientation_of(const char *orientation)
{
    hn_context *context = hn_context_create(NULL);
    char text[1024];
    snprintf(text, sizeof text, TOP "  b: {mass: 1, inertia: [1, 1, 1], orientation: %s}\n",
             orientation);
    hn_model *model = parse(context, text);
    hn_mat3 found = model->bodies[0].orientation;
    hn_model_destroy(model);
    hn_context_destroy(context);
    return found;
}

static double difference(const hn_mat3 *a, const hn_mat3 *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = fmax(worst, fabs(a->m[i][j] - b->m[i][j]));
    return worst;
}

TEST(format, orients_by_rotations_matrices_and_quaternions)
{
    hn_mat3 about_x = rotation_exponential(vec3(0.3, 0, 0)),
            about_z = rotation_exponential(vec3(0, 0, 0.5));
    hn_mat3 found = orientation_of("{rotate: {axis: [2, 0, 0], angle: 0.3}}");
    CHECK_BELOW(difference(&found, &about_x), 1e-15);
    found = orientation_of("{rotate: {axis: -x, angle: -0.3}}");
    CHECK_BELOW(difference(&found, &about_x), 1e-15);
    // first about x, then about the world's z
    hn_mat3 expected = mat3_multiply(&about_z, &about_x);
    found = orientation_of("{rotate: [{axis: x, angle: 0.3}, {axis: z, angle: 0.5}]}");
    CHECK_BELOW(difference(&found, &expected), 1e-15);
    // first about x, then about the body's own third axis
    expected = mat3_multiply(&about_x, &about_z);
    found = orientation_of("{rotate: [{axis: x, angle: 0.3}, {axis: d3, angle: 0.5}]}");
    CHECK_BELOW(difference(&found, &expected), 1e-15);
    found = orientation_of("{quaternion: [cos(0.15), sin(0.15), 0, 0]}");
    CHECK_BELOW(difference(&found, &about_x), 1e-15);
    found =
        orientation_of("{matrix: [[1, 0, 0], [0, cos(0.3), -sin(0.3)], [0, sin(0.3), cos(0.3)]]}");
    CHECK_BELOW(difference(&found, &about_x), 1e-15);
}

TEST(format, reads_every_kind_of_joint_load_and_start_value)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "parameters: {k: 2, h: 'k^2 + max(1, 3)'}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]], center_of_mass: [0, 0, "
        "0.1]}\n"
        "  b: {mass: 'k', inertia: [1, 1, 1], position: [1, 0, 0], shape: {sphere: {radius: "
        "0.1}}}\n"
        "  c: {point_mass: {mass: h}, position: [2, 0, 0]}\n"
        "  d: {shape: {composite: [{box: {size: [1, 1, 1]}}, {sphere: {radius: 1}, mass: 3, "
        "position: [1, 0, 0]}]}, density: 5}\n"
        "joints:\n"
        "  j1: {spherical: {bodies: [ground, a], at: [0, 0, 0]}}\n"
        "  j2: {revolute: {bodies: [a, b], at: [0, 0, 0], axis: d3}}\n"
        "  j3: {prismatic: {bodies: [a, b], at: {a: [0, 0, 0], b: [0, 0, 1]}, axis: z}}\n"
        "  j4: {cylindrical: {bodies: [a, b], coordinates: body, at: {a: [0, 0, 0], b: [0, 0, 0]}, "
        "axis: {a: z, b: z}}}\n"
        "  j5: {planar: {bodies: [a, b], at: [0, 0, 0], normal: z, direction: x}}\n"
        "  j6: {planar: {bodies: [a, b], at: [0, 0, 0], axis: z}}\n"
        "  j7: {universal: {bodies: [a, b], at: [0, 0, 0], axes: [x, y]}}\n"
        "  j8: {fixed: {bodies: [a, b]}}\n"
        "  j9: {free: {bodies: [a, b]}}\n"
        "  j10: {distance: {bodies: [b, c], from: [1, 0, 0], to: [2, 0, 0], length: 1.5}}\n"
        "  j11: {distance: {bodies: [b, c], coordinates: body, from: [0, 1, 0], to: [0, 0, 0]}}\n"
        "  j12: {screw: {bodies: [a, b], at: [0, 0, 0], axis: z, pitch: 5 mm}}\n"
        "  j13: {slot: {bodies: [a, b], at: {a: [0, 0, 0], b: [0, 0, 1]}, axis: z}}\n"
        "loads:\n"
        "  f1: {force: {body: a, vector: [1, 0, 0], at: [0, 0, 1]}}\n"
        "  f2: {force: {body: b, vector: [1, 0, 0], point: [0, 1, 0], body_fixed: true}}\n"
        "  f3: {torque: {body: a, vector: [0, 0, 1], pulse: {start: 0, peak: 0.5, end: 1}}}\n"
        "  f4: {torque: {body: a, vector: [0, 0, 1], table: {times: [0, 1], factors: [1, 0]}}}\n"
        "  f5: {spring: {bodies: [a, c], from: [0, 0, 0], to: [2, 0, 0], stiffness: 3, damping: "
        "0.1, rest_length: 1}}\n"
        "  f6: {torsion_spring: {joint: j2, stiffness: 1, rest_angle: pi/4}}\n"
        "start:\n"
        "  a: {velocity: [1, 2, 3], angular_velocity: {axis: [0, 0, 5], rate: 2}}\n"
        "  b: {angular_velocity: {sum: [{axis: x, rate: 1}, {axis: -d2, rate: 2}]}}\n"
        "  j2: {rate: 4}\n"
        "  j9: {rates: [1, 2, 3, 4, 5, 6]}\n"
        "run: {scheme: variational, reduction: nullspace, step: 1e-3, end: 1}\n";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = parse(context, TEXT);
    CHECK_EQUAL(model->body_count, 4);
    CHECK_EQUAL(model->joint_count, 13);
    CHECK_NEAR(model->joints[11].lead, 0.005 / 6.283185307179586, 1e-18);
    CHECK_EQUAL(model->load_count, 6);
    CHECK_NEAR(model->gravity.z, -9.81, 0.0);
    CHECK_NEAR(model->bodies[0].inertia.m[1][0], 0.1, 0.0);
    CHECK_NEAR(model->bodies[0].center_of_mass.z, 0.1, 0.0);
    CHECK_NEAR(model->bodies[1].mass, 2.0, 0.0);
    CHECK_NEAR(model->bodies[2].mass, 7.0, 0.0);
    CHECK_EQUAL(model->bodies[2].kind, HN_BODY_POINT_MASS);
    CHECK_NEAR(model->bodies[3].mass, 8.0, 1e-15);
    CHECK_NEAR(model->bodies[3].center_of_mass.x, 3.0 / 8.0, 1e-15);
    CHECK_EQUAL(model->bodies[3].shape_count, 2);
    for (int i = 0; i < HN_JOINT_KIND_COUNT; ++i) {
        bool found = false;
        for (int k = 0; k < model->joint_count; ++k)
            found = found || model->joints[k].kind == (hn_joint_kind)i;
        CHECK(found);
    }
    CHECK_NEAR(model->joints[9].length, 1.5, 0.0);
    CHECK_NEAR(model->joints[10].length, sqrt(2.0), 1e-15);
    CHECK_NEAR(model->loads[0].point_a.z, 1.0, 0.0);
    CHECK(model->loads[1].body_fixed);
    CHECK_NEAR(model->loads[2].profile.peak, 0.5, 0.0);
    CHECK_NEAR(model->loads[3].profile.factors[0], 1.0, 0.0);
    CHECK_NEAR(model->loads[4].rest, 1.0, 0.0);
    CHECK_NEAR(model->loads[5].rest, 0.78539816339744831, 1e-16);
    CHECK_NEAR(model->bodies[0].angular_velocity.z, 2.0, 1e-15);
    CHECK_NEAR(model->bodies[1].angular_velocity.y, -2.0, 1e-15);
    CHECK(!model->bodies[1].has_velocity);
    CHECK_NEAR(model->joints[1].rates[0], 4.0, 0.0);
    CHECK_NEAR(model->joints[8].rates[5], 6.0, 0.0);
    CHECK_EQUAL(model->run.scheme, HN_SCHEME_VARIATIONAL);
    CHECK_EQUAL(model->run.reduction, HN_REDUCTION_NULLSPACE);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(format, reads_units)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "parameters: {arm: 120 mm, turn: 90 deg, limit: 30 deg}\n" // a limit of a drive is no angle: names are free
        "bodies: {a: {mass: 1500 g, inertia: [1, 1, 1], position: [arm/2, 3 cm, 1 in],\n"
        "         orientation: {rotate: {axis: z, angle: turn/3}}}}\n"
        "joints: {j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: z}}}\n"
        "start: {j: {rate: 30 rpm}}\n"
        "run: {step: 2 ms, end: 1 min}\n";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = parse(context, TEXT);
    const double pi = 3.14159265358979323846;
    CHECK_NEAR(model->bodies[0].mass, 1.5, 1e-15);
    CHECK_NEAR(model->bodies[0].position.x, 0.06, 1e-16);
    CHECK_NEAR(model->bodies[0].position.y, 0.03, 1e-17);
    CHECK_NEAR(model->bodies[0].position.z, 0.0254, 1e-17);
    CHECK_NEAR(model->joints[0].rates[0], pi, 1e-15);
    CHECK_NEAR(model->run.step, 2e-3, 1e-18);
    CHECK_NEAR(model->run.end, 60.0, 0.0);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(format, reads_functions_of_time)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "parameters: {size: 3, w: 2*pi}\n"
        "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
        "loads:\n"
        "  f1: {force: {body: a, vector: [1, 0, 0], factor: -size}}\n"
        "  f2: {force: {body: a, vector: [1, 0, 0], factor: 'size*sin(w*t) + 1e-1'}}\n"
        "  f3: {torque: {body: a, vector: [1, 0, 0], factor: {step: {start: 1, end: 3}, scale: "
        "5}}}\n"
        "  f4: {torque: {body: a, vector: [1, 0, 0],\n"
        "       factor: {spline: {times: [0, 1, 2], values: [0, size, 0]}}}}\n"
        "  f5: {force: {body: a, vector: [0, 2, 0], factor: {expression: 't < 1 ? 0 : 1', scale: "
        "3}}}\n"
        "  f6: {force: {body: a, vector: [1, 0, 0], table: {times: [0, 1], values: [1, 0]}}}\n";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = parse(context, TEXT);
    CHECK_NEAR(model->loads[0].vector.x, -3.0, 0.0);
    CHECK_EQUAL(model->loads[0].profile.kind, HN_PROFILE_CONSTANT);
    CHECK_NEAR(profile_at(&model->loads[1].profile, 0.25).value, 3.1, 1e-15);
    CHECK_NEAR(profile_at(&model->loads[1].profile, 0.5).rate, -6.0 * 3.14159265358979323846,
               1e-13);
    CHECK_NEAR(model->loads[2].vector.x, 5.0, 0.0);
    CHECK_NEAR(profile_at(&model->loads[2].profile, 2.0).value, 0.5, 1e-15);
    CHECK_NEAR(profile_at(&model->loads[3].profile, 0.5).value, 1.5, 1e-15);
    CHECK_NEAR(model->loads[4].vector.y, 6.0, 0.0);
    CHECK_NEAR(profile_mean(&model->loads[4].profile, 0.0, 4.0), 0.75, 1e-14);
    CHECK_NEAR(profile_at(&model->loads[5].profile, 0.25).value, 0.75, 0.0);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(format, counts_columns_in_quotes_and_aliases)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    static const char QUOTED[] = TOP "  b: {mass: '2*lenght', inertia: [1, 1, 1]}\n";
    CHECK_STATUS(context, hn_model_parse(context, QUOTED, strlen(QUOTED), "m", &model),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "m:3:16: mass: unknown word 'lenght'");
    static const char ACCENTS[] = TOP "  \xc3\xa9t\xc3\xa9: {mass: 0, inertia: [1, 1, 1]}\n";
    CHECK_STATUS(context, hn_model_parse(context, ACCENTS, strlen(ACCENTS), "m", &model),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "m:3:15: mass is 0");
    hn_context_destroy(context);
}

// A decimal comma where the machine has such a locale or can make one, else a repetition.
static void speak_with_a_comma(void)
{
    static const char *const LOCALES[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (int i = 0; i < 3; ++i)
        if (setlocale(LC_ALL, LOCALES[i]) != NULL) return;
    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") < 0) return;
    setenv("LOCPATH", ".", 1);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) fprintf(stderr, "no locale with a comma\n");
    unsetenv("LOCPATH");
}

#define COMMA_MODEL                                                                                \
    "holonom: 1\ngravity: [0, 0, 0]\nparameters: {half: 0.5}\nbodies:\n"                           \
    "  a: {point_mass: {mass: 2*half}}\n"                                                          \
    "loads:\n  push: {force: {body: a, vector: [1, 0, 0], factor: 'half + 0*t'}}\n"                \
    "repeat:\n  for: {i: 2}\n  with: {place: 0.25*i}\n"                                            \
    "  bodies: {b$i: {point_mass: {mass: 1}, position: ['max(place, 0.125)', 0, 0]}}\n"            \
    "outputs:\n  twice: {expression: 'half*t*4'}\nrun: {step: 0.125, end: 1}\n"

TEST(format, numbers_it_writes_itself_do_not_depend_on_the_locale)
{
    static const char STUDY[] = "holonom_study: 1\nparameters: {half: {list: [0.5, 0.75]}}\n"
                                "outputs: {v: {of: bodies/a/velocity/x}, o: {of: outputs/twice}}\n";
    speak_with_a_comma();
    hn_context *context = hn_context_create(NULL);
    hn_model *model = parse(context, COMMA_MODEL);
    CHECK_NEAR(model->bodies[2].position.x, 0.5, 0.0); // max(0,5, 0,125) would be 5
    hn_study *study = NULL;
    CHECK_OK(context, hn_study_parse(context, STUDY, strlen(STUDY), "study", COMMA_MODEL,
                                     strlen(COMMA_MODEL), &study));
    for (int k = 0; k < 2 && study != NULL; ++k) {
        const double half = k == 0 ? 0.5 : 0.75;
        double outputs[2];
        hn_study_outcome outcome;
        CHECK_OK(context, hn_study_run(context, study, k, outputs, &outcome));
        CHECK_NEAR(outputs[0], 0.5, 1e-14); // m/s: half N on 2 half kg for 1 s; measured 0
        CHECK_NEAR(outputs[1], 4.0 * half, 1e-14);
    }
    const double values[2] = {0.5, 0.75};
    const char *const names[1] = {"half"};
    hn_batch_def def = hn_batch_def_default();
    def.simulation.step_size = 0.125;
    def.member_count = 2;
    def.parameters = names;
    def.parameter_count = 1;
    def.parameter_values = values;
    hn_batch *batch = NULL;
    CHECK_OK(context, hn_batch_create(context, model, &def, &batch));
    hn_batch_destroy(batch);
    hn_simulation_def settings = hn_simulation_def_default();
    char text[40];
    CHECK_OK(context, hn_simulation_def_set(context, &settings, "rho", "0.75"));
    CHECK_NEAR(settings.energy_decaying.rho, 0.75, 0.0);
    CHECK_OK(context, hn_simulation_def_get(context, &settings, "rho", text, sizeof text));
    CHECK_TEXT(text, "0.75");
    hn_study_destroy(study);
    hn_model_destroy(model);
    hn_context_destroy(context);
    setlocale(LC_ALL, "C");
}

TEST(format, does_not_depend_on_the_locale)
{
    speak_with_a_comma();
    hn_context *context = hn_context_create(NULL);
    hn_model *model = parse(context, TOP "  b: {mass: 0.5, inertia: [0.1*2.5, 0.25, 0.25]}\n");
    CHECK_NEAR(model->bodies[0].mass, 0.5, 0.0);
    CHECK_NEAR(model->bodies[0].inertia.m[0][0], 0.25, 0.0);
    hn_model_destroy(model);
    hn_context_destroy(context);
    setlocale(LC_ALL, "C");
}

// ---- expressions ------------------------------------------------------------------------------------------

TEST(expressions, have_the_documented_functions)
{
    static const struct {
        const char *text;
        double value;
    } CASES[] = {
        {"pi/3", 1.0471975511965976},
        {"0.1*tan(0.16*pi)", 0.054975465219277014},
        {"-2^2", -4.0},
        {"2*(3+4)-1", 13.0},
        {"sin(0.5)", 0.47942553860420301},
        {"cos(0.5)", 0.87758256189037276},
        {"asin(0.5)", 0.52359877559829893},
        {"acos(0.5)", 1.0471975511965979},
        {"atan(1)", 0.78539816339744828},
        {"atan2(1, -1)", 2.3561944901923448},
        {"sqrt(2)", 1.4142135623730951},
        {"exp(1)", 2.7182818284590451},
        {"log(10)", 2.3025850929940459},
        {"abs(-3)", 3.0},
        {"min(3, 1, 2)", 1.0},
        {"max(3, 1, 5)", 5.0},
        {"1e-3", 1e-3},
        {".5", 0.5},
        {"5.", 5.0},
        {"+2", 2.0},
        {"1E5", 1e5},
        {"1/3", 1.0 / 3.0},
        {"2 <= 2", 1.0},
        {"2<=1.5", 0.0},
        {"2 >= 2", 1.0},
        {"1 >= 2", 0.0},
        {"1 == 1", 1.0},
        {"1 == 2", 0.0},
        {"1 != 2", 1.0},
        {"2 != 2 ? 5 : 7", 7.0},
        {"1 + 1 == 2 && 3 >= 3 || 0", 1.0},
    };
    hn_context *context = hn_context_create(NULL);
    expression_set *set = NULL;
    CHECK_OK(context, expression_set_create(context, &set));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        double value;
        expression_error error;
        CHECK(expression_evaluate(set, CASES[i].text, &value, &error));
        CHECK_NEAR(value, CASES[i].value, 1e-15 * fabs(CASES[i].value));
    }
    expression_set_destroy(set);
    hn_context_destroy(context);
}

TEST(expressions, fail_with_a_position)
{
    static const struct {
        const char *text;
        int position;
        const char *words;
    } CASES[] = {
        {"1 + foo", 4, "unknown word 'foo'"},
        {"2*sn(1)", 2, "did you mean 'sin'"},
        {"2*siz", 2, "did you mean 'size'"},
        {"1,2", 0, "gives 2 numbers"},
        {"1 2", 2, "cannot stand here"},
        {"1)", 1, "cannot stand here"},
        {"sqrt(-1)", 0, "expected a finite number"},
        {"1/0", 0, "expected a finite number"},
        {"1e999", 0, "too large"},
        {"nan", 0, "expected a finite number"},
        {"-.inf", 0, "expected a finite number"},
        {"a = 3", 2, "cannot stand in an expression"},
        {"1 === 2", 4, "cannot stand in an expression"},
        {"1 =< 2", 2, "cannot stand in an expression"},
        {"1 >=", 4, "ends too early"},
        {"!1", 0, "cannot stand here"},
        {"\"x\"", 0, "cannot stand in an expression"},
        {"2\xc3\x97"
         "3",
         1, "cannot stand in an expression"},
        {"sin", 0, "needs its argument in parentheses"},
        {"atan2(1)", 7, "too few arguments"},
        {"1 +", 3, "ends too early"},
        {"max(1", 5, "put it in quotes"},
    };
    hn_context *context = hn_context_create(NULL);
    expression_set *set = NULL;
    expression_error error;
    const unit_guess bare = {.known = false};
    CHECK_OK(context, expression_set_create(context, &set));
    CHECK_OK(context, expression_define(set, "size", 2.0, &bare, &error));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        double value;
        CHECK(!expression_evaluate(set, CASES[i].text, &value, &error));
        CHECK_CONTAINS(error.message, CASES[i].words);
        CHECK_EQUAL(error.position, CASES[i].position);
    }
    char endless[3000];
    memset(endless, '(', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    double value;
    CHECK(!expression_evaluate(set, endless, &value, &error));
    CHECK_CONTAINS(error.message, "longer than 1000");
    expression_set_destroy(set);
    hn_context_destroy(context);
}

// ---- large, broken and starved ------------------------------------------------------------------------------

// CPU seconds to read a chain of `count` boxes.
static double seconds_for_chain(int count)
{
    enum { ROW = 256 };
    char *text = malloc(((size_t)count + 2) * 2 * ROW);
    size_t used = (size_t)sprintf(text, "holonom: 1\nbodies:\n");
    for (int i = 0; i < count; ++i)
        used += (size_t)sprintf(text + used,
                                "  link%d: {shape: {box: {size: [0.1, 0.1, 1]}}, density: 1000, "
                                "position: [%d.5, 0, 0]}\n",
                                i, i);
    used += (size_t)sprintf(
        text + used,
        "joints:\n  hinge0: {revolute: {bodies: [ground, link0], at: [0, 0, 0], axis: y}}\n");
    for (int i = 1; i < count; ++i)
        used += (size_t)sprintf(
            text + used,
            "  hinge%d: {revolute: {bodies: [link%d, link%d], at: [%d, 0, 0], axis: y}}\n", i,
            i - 1, i, i);
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    clock_t before = clock();
    CHECK_OK(context, hn_model_parse(context, text, used, "chain", &model));
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    CHECK_EQUAL(hn_model_body_count(model), count);
    CHECK_EQUAL(hn_model_joint_count(model), count);
    hn_model_destroy(model);
    hn_context_destroy(context);
    free(text);
    return seconds;
}

TEST(large_files, load_in_linear_time)
{
    double small = seconds_for_chain(5000), large = seconds_for_chain(20000);
    CHECK_BELOW(large / small, 10.0); // 4 when linear, 16 when quadratic
    // instrumented programs are slower by an unknown factor
    const char *preload = getenv("LD_PRELOAD");
    bool instrumented = preload != NULL && strstr(preload, "valgrind") != NULL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    instrumented = true;
#endif
    CHECK_BELOW(large, instrumented ? 200.0 : 2.0); // s; measured 0.3
}

// Parse what is left of a file; anything may come out but a crash, and a failure has a message with a place.
static void survive(hn_context *context, const char *text, size_t length)
{
    char *exact =
        malloc(length > 0 ? length : 1); // no slack: a sanitizer sees reading past the end
    memcpy(exact, text, length);
    hn_model *model = NULL;
    hn_status status = hn_model_parse(context, exact, length, "cut", &model);
    if (status != HN_OK) {
        CHECK(model == NULL);
        CHECK_CONTAINS(hn_context_message(context), "cut:");
    }
    hn_model_destroy(model);
    free(exact);
}

TEST(broken_files, never_crash_when_cut_off)
{
    static char paths[MODELS_MAX][PATH_SIZE];
    int count = list_models(paths);
    hn_context *context = hn_context_create(NULL);
    for (int i = 0; i < count; ++i) {
        size_t length;
        char *text = read_all(paths[i], &length);
        for (size_t cut = 0; cut < length; cut += 7) survive(context, text, cut);
        free(text);
    }
    hn_context_destroy(context);
}

TEST(broken_files, never_crash_when_bytes_change)
{
    static const char SIGNS[] = "{}[]:,-&*!|>'\"%@#?\n\t \x01\xff"
                                "0e.(+)/=a~^<;";
    static char paths[MODELS_MAX][PATH_SIZE];
    int count = list_models(paths);
    hn_context *context = hn_context_create(NULL);
    uint32_t random = 12345;
    for (int i = 0; i < count; ++i) {
        size_t length;
        char *text = read_all(paths[i], &length);
        for (int trial = 0; trial < 300; ++trial) {
            char *changed = malloc(length);
            memcpy(changed, text, length);
            for (int k = 0; k <= trial % 4; ++k) {
                random = random * 1664525u + 1013904223u;
                size_t place = (random >> 8) % length;
                random = random * 1664525u + 1013904223u;
                changed[place] = SIGNS[(random >> 8) % (sizeof SIGNS - 1)];
            }
            survive(context, changed, length);
            free(changed);
        }
        free(text);
    }
    hn_context_destroy(context);
}

static hn_status load_attempt(hn_context *context, void *user)
{
    hn_model *model = NULL;
    hn_status status = hn_model_load(context, user, &model);
    hn_model_destroy(model);
    return status;
}

TEST(memory, every_failing_allocation_of_the_reader_is_reported)
{
    static char chain[] = MODELS "chain-spherical.yaml", tree[] = MODELS "free-tree.yaml",
                spring[] = MODELS "planar-spring.yaml";
    CHECK(check_every_allocation_failing(load_attempt, chain) > 20);
    CHECK(check_every_allocation_failing(load_attempt, tree) > 50);
    CHECK(check_every_allocation_failing(load_attempt, spring) > 10);
}

// Version 0.1 took the world's x for `d1` where the first body is the ground.
TEST(model_file, names_of_axes_are_those_of_the_body_that_is_not_the_ground)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], orientation: {rotate: {axis: z, "
        "angle: pi/2}}}\n"
        "  b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], orientation: {rotate: {axis: x, "
        "angle: pi/2}}}\n"
        "joints:\n"
        "  ga: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: d1}}\n"
        "  ag: {revolute: {bodies: [a, ground], at: [0, 0, 0], axis: d1}}\n"
        "  body: {revolute: {bodies: [ground, a], coordinates: body, at: [0, 0, 0], axis: d1}}\n"
        "  ab: {revolute: {bodies: [b, a], at: [0, 0, 0], axis: -d2}}\n";
    const hn_vec3 expected[] = {
        {0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, -1.0}};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, TEXT, sizeof TEXT - 1, "axes.yaml", &model));
    for (int k = 0; k < 4; ++k) {
        const model_joint *j = &model->joints[k];
        hn_vec3 axis = model_direction_to_world(model, j->body_a, mat3_column(&j->frame_a, 2));
        CHECK_BELOW(vec3_norm(vec3_subtract(axis, expected[k])), 1e-15); // measured 6e-17
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Every setting of a simulation can be said in the file, by the name that the table of the API has.
TEST(model_file, settings_of_a_run_by_name)
{
    static const char *const OTHERWISE[] = {"step_size", "ledger", "inputs", "rho", "order"};
    static const char TEXT[] = "holonom: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\nrun: {";
    hn_context *context = hn_context_create(NULL);
    int said = 0;
    for (int i = 0; i < hn_simulation_option_count(); ++i) {
        const char *name = hn_simulation_option_name(i);
        bool skip = false;
        for (size_t k = 0; k < sizeof OTHERWISE / sizeof OTHERWISE[0]; ++k)
            skip = skip || strcmp(name, OTHERWISE[k]) == 0;
        if (skip) continue;
        hn_simulation_def def = hn_simulation_def_default();
        static const char *const VALUES[] = {"3",      "true",        "false",
                                             "rattle", "multipliers", "orthogonal"};
        char text[256], before[64], after[64] = "";
        CHECK_OK(context, hn_simulation_def_get(context, &def, name, before, sizeof before));
        for (size_t k = 0; k < sizeof VALUES / sizeof VALUES[0]; ++k) {
            hn_simulation_def tried = def;
            if (hn_simulation_def_set(context, &tried, name, VALUES[k]) != HN_OK ||
                strcmp(VALUES[k], before) == 0)
                continue;
            snprintf(text, sizeof text, "%s%s: %s}\n", TEXT, name, VALUES[k]);
            hn_model *model = parse(context, text);
            CHECK_OK(context, hn_simulation_def_from_model(model, &def));
            CHECK_OK(context, hn_simulation_def_get(context, &def, name, after, sizeof after));
            CHECK(strcmp(after, VALUES[k]) == 0);
            hn_model_destroy(model);
            ++said;
            break;
        }
        CHECK(after[0] != '\0');
    }
    CHECK_EQUAL(said, hn_simulation_option_count() - 5);

    // what is wrong is refused with its place; the last word counts
    hn_model *model = NULL;
    static const char *const WRONG[] = {"planar: 3}", "relative_tolerance: -1}", "relative: 1}",
                                        "projection: skew}", "step_size: 1}"};
    for (size_t k = 0; k < sizeof WRONG / sizeof WRONG[0]; ++k) {
        char text[256];
        snprintf(text, sizeof text, "%s%s\n", TEXT, WRONG[k]);
        CHECK_STATUS(context, hn_model_parse(context, text, strlen(text), "file", &model),
                     HN_FILE_FORMAT);
        CHECK(strncmp(hn_context_message(context), "file:3:", 7) == 0);
    }
    model = parse(context, "holonom: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n");
    hn_simulation_def def = hn_simulation_def_default();
    CHECK_OK(context, hn_model_set_run_setting(model, "halvings_max", "1"));
    CHECK_OK(context, hn_model_set_run_setting(model, "planar", "true"));
    CHECK_OK(context, hn_model_set_run_setting(model, "halvings_max", "2"));
    def.step_size = 0.25;
    CHECK_OK(context, hn_simulation_def_from_model(model, &def));
    CHECK_EQUAL(def.halvings_max, 2);
    CHECK(def.projected_rk.planar && def.step_size == 0.25);
    hn_model_destroy(model);
    hn_context_destroy(context);
}
