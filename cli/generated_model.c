// SPDX-License-Identifier: MIT
// Writes chains, trees, ladders, nets and hubs as model files: every place is a plain number, so that files read fast.
#include "generated_model.h"

#include <holonom/holonom.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const double TREE_SPREAD = 0.5; // sideways over downward at a fork
static const double NET_WAVE = 0.1;    // m, knots of a net lie above and below its plane in turn

const char *generated_kind_word(int kind)
{
    static const char *const words[] = {"chain", "tree", "ladder", "net", "hub"};
    return words[kind];
}

const char *generated_joints_word(int joints)
{
    static const char *const words[] = {"revolute", "spherical", "mixed"};
    return words[joints];
}

generated_model generated_model_default(generated_kind kind)
{
    generated_model model = {.kind = kind, .count = 1, .rows = 1, .section = 0.1};
    if (kind == GENERATED_NET) model.joints = GENERATED_SPHERICAL;
    if (kind == GENERATED_LADDER || kind == GENERATED_HUB) {
        model.speed = 1.0;
        model.section = 0.001;
    }
    return model;
}

int64_t generated_model_body_count(const generated_model *model)
{
    if (model->kind == GENERATED_LADDER) return 2 * model->count + 1;
    if (model->kind == GENERATED_NET) return model->rows * (2 * model->count + 1);
    return model->kind == GENERATED_HUB ? model->count + 1 : model->count;
}

// ---- numbers and places -----------------------------------------------------------------------------

/// Cosine of an angle in degrees, exact at right angles.
static double cos_degrees(double degrees)
{
    const double degree = 3.14159265358979323846 / 180.0; // rad
    double turn = fmod(fabs(degrees), 360.0);
    if (turn == 90.0 || turn == 270.0) return 0.0;
    return turn == 180.0 ? -1.0 : cos(turn * degree);
}

static double sin_degrees(double degrees)
{
    return cos_degrees(degrees - 90.0);
}

/// As few digits as give the same number again.
static void write_number(double value, FILE *out)
{
    char text[40];
    for (int digits = 6; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value == 0.0 ? 0.0 : value); // no minus zero
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

static void write_vector(hn_vec3 v, FILE *out)
{
    fputc('[', out);
    write_number(v.x, out);
    fputs(", ", out);
    write_number(v.y, out);
    fputs(", ", out);
    write_number(v.z, out);
    fputc(']', out);
}

/// A bar of 1 kg between two places, all of the line after its name.
static void write_bar(const generated_model *model, hn_vec3 from, hn_vec3 to, FILE *out)
{
    fputs("{shape: {box: {size: [", out);
    write_number(model->section, out);
    fputs(", ", out);
    write_number(model->section, out);
    fputs("]}}, mass: 1, between: [", out);
    write_vector(from, out);
    fputs(", ", out);
    write_vector(to, out);
    fputs("]}\n", out);
}

/// The end of a joint's line: its place and, when it is revolute, its axis.
static void write_place(bool revolute, hn_vec3 at, hn_vec3 axis, FILE *out)
{
    fputs("at: ", out);
    write_vector(at, out);
    if (revolute) {
        fputs(", axis: ", out);
        write_vector(axis, out);
    }
    fputs("}}\n", out);
}

/// Whether joint `place` (from 1) of a chain, or of a level of a tree, is revolute.
static bool is_revolute(const generated_model *model, int64_t place)
{
    if (model->joints == GENERATED_MIXED) return place % 2 == 1;
    return model->joints == GENERATED_REVOLUTE;
}

static const char *joint_word(bool revolute)
{
    return hn_joint_kind_name(revolute ? HN_JOINT_REVOLUTE : HN_JOINT_SPHERICAL);
}

static const char *joints_sentence(generated_joints joints)
{
    return joints == GENERATED_REVOLUTE    ? "revolute joints"
           : joints == GENERATED_SPHERICAL ? "spherical joints"
                                           : "revolute and spherical joints in turn";
}

static void write_head(const generated_model *model, const char *name, const char *gravity,
                       FILE *out)
{
    fprintf(out, "holonom: 1\nname: %s\ngravity: %s\n\nbodies:\n", name, gravity);
    fprintf(out, "  # %" PRId64 " %s; `between` gives place and length, `size` the section\n",
            generated_model_body_count(model),
            generated_model_body_count(model) == 1 ? "bar" : "bars");
}

static void write_run(FILE *out)
{
    fputs("\nrun: {scheme: energy-momentum, reduction: reduced, step: 0.001, end: 1}\n", out);
}

// ---- chain ------------------------------------------------------------------------------------------

/// Where link `number` ends and the next begins; 0 is the ground.
static hn_vec3 chain_place(const generated_model *model, int64_t number)
{
    double level = cos_degrees(model->angle), side = level * sin_degrees(model->zigzag);
    return (hn_vec3){(double)number * level * cos_degrees(model->zigzag),
                     number % 2 == 1 ? side : 0.0, -(double)number * sin_degrees(model->angle)};
}

static void write_chain(const generated_model *model, FILE *out)
{
    fprintf(
        out,
        "# A chain of %" PRId64 " boxes with %s, let go from rest.\n#\n"
        "# Each box is 1 m long and has 1 kg. Box k hangs on box k - 1 by joint k, the first on "
        "the ground at the origin.\n"
        "# At the start the chain points along x, %g degrees below the horizontal",
        model->count, joints_sentence(model->joints), model->angle);
    if (model->zigzag != 0.0)
        fprintf(out, ", each box turned by %g degrees to the left or right", model->zigzag);
    fputs(".\n", out);
    if (model->joints != GENERATED_SPHERICAL)
        fputs("# Revolute axes are along y, level and across the chain.\n", out);
    write_head(model, "Chain of boxes", "[0, 0, -9.81]", out);
    for (int64_t k = 1; k <= model->count; ++k) {
        fprintf(out, "  link%" PRId64 ": ", k);
        write_bar(model, chain_place(model, k - 1), chain_place(model, k), out);
    }
    fputs("\njoints:\n", out);
    for (int64_t k = 1; k <= model->count; ++k) {
        bool revolute = is_revolute(model, k);
        fprintf(out, "  joint%" PRId64 ": {%s: {bodies: [", k, joint_word(revolute));
        if (k == 1) fputs("ground", out);
        else fprintf(out, "link%" PRId64, k - 1);
        fprintf(out, ", link%" PRId64 "], ", k);
        write_place(revolute, chain_place(model, k - 1), (hn_vec3){0.0, 1.0, 0.0}, out);
    }
    write_run(out);
}

// ---- tree -------------------------------------------------------------------------------------------
// Links are numbered by levels: below link k hang 2 k and 2 k + 1. A hanging tree points along -z; forks open along x
// and along y in turn. The whole is then turned about y.

static int tree_level(int64_t number)
{
    int level = 0;
    while (number > 1) {
        number /= 2;
        level++;
    }
    return level;
}

/// Turn a direction of the hanging tree by the angle at the start.
static hn_vec3 tree_turn(const generated_model *model, hn_vec3 v)
{
    double c = sin_degrees(model->angle), s = -cos_degrees(model->angle);
    return (hn_vec3){c * v.x + s * v.z, v.y, c * v.z - s * v.x};
}

/// Where a link ends; link 0 is the ground.
static hn_vec3 tree_place(const generated_model *model, int64_t number)
{
    const double down = 1.0 / sqrt(1.0 + TREE_SPREAD * TREE_SPREAD), side = TREE_SPREAD * down;
    hn_vec3 sum = {0.0, 0.0, 0.0};
    for (; number > 1; number /= 2) {
        double sign = number % 2 == 0 ? -1.0 : 1.0;
        bool along_x = tree_level(number) % 2 == 1;
        sum.x += along_x ? sign * side : 0.0;
        sum.y += along_x ? 0.0 : sign * side;
        sum.z -= down;
    }
    if (number == 1) sum.z -= 1.0;
    return tree_turn(model, sum);
}

static void write_tree(const generated_model *model, FILE *out)
{
    fprintf(out,
            "# A binary tree of %" PRId64 " boxes with %s, let go from rest.\n#\n"
            "# Each box is 1 m long and has 1 kg. At the end of box k hang 2 k and 2 k + 1, the "
            "first on the ground at the origin.\n"
            "# Forks open in one direction and across it in turn. At the start the first box "
            "points along x, %g degrees below the\n"
            "# horizontal, and the others follow. Boxes may pass through each other: there is no "
            "contact.\n",
            model->count, joints_sentence(model->joints), model->angle);
    if (model->joints != GENERATED_SPHERICAL)
        fputs("# Revolute axes are across the plane of their fork: along y where it opens along "
              "the vertical plane of x.\n",
              out);
    if (model->joints == GENERATED_MIXED)
        fputs("# The first level is revolute, the second spherical, and so on.\n", out);
    write_head(model, "Binary tree of boxes", "[0, 0, -9.81]", out);
    for (int64_t k = 1; k <= model->count; ++k) {
        fprintf(out, "  link%" PRId64 ": ", k);
        write_bar(model, tree_place(model, k / 2), tree_place(model, k), out);
    }
    fputs("\njoints:\n", out);
    for (int64_t k = 1; k <= model->count; ++k) {
        int level = tree_level(k);
        bool revolute = is_revolute(model, level + 1);
        hn_vec3 axis = level == 0 || level % 2 == 1 ? (hn_vec3){0.0, 1.0, 0.0}
                                                    : tree_turn(model, (hn_vec3){1.0, 0.0, 0.0});
        fprintf(out, "  joint%" PRId64 ": {%s: {bodies: [", k, joint_word(revolute));
        if (k == 1) fputs("ground", out);
        else fprintf(out, "link%" PRId64, k / 2);
        fprintf(out, ", link%" PRId64 "], ", k);
        write_place(revolute, tree_place(model, k / 2), axis, out);
    }
    write_run(out);
}

// ---- ladder -----------------------------------------------------------------------------------------

static void write_ladder(const generated_model *model, FILE *out)
{
    const hn_vec3 axis = {0.0, 0.0, 1.0};
    const int64_t n = model->count;
    fprintf(
        out,
        "# A ladder of %" PRId64 " four-bar%s in a row.\n#\n"
        "# %" PRId64 " cranks stand upright on the ground at x = 0 to %" PRId64
        "; bars connect their tips. Everything is 1 m long,\n"
        "# has 1 kg and is modelled in space, with all axes along z: one degree of freedom, and "
        "many constraints that repeat\n"
        "# what others say. At the start the top row moves along x with %g m/s. When the cranks "
        "lie level the mechanism passes\n"
        "# through a singular place.\n#\n"
        "# Thin bars need some section to have inertia about their own axis: %g m square. About "
        "z a bar has (1 + %g^2)/12 kg m^2.\n",
        n, n == 1 ? "" : "s", n + 1, n, model->speed, model->section, model->section);
    write_head(model, "Ladder of four-bars", "[0, -9.81, 0]", out);
    for (int64_t k = 0; k <= n; ++k) {
        fprintf(out, "  crank%" PRId64 ": ", k);
        write_bar(model, (hn_vec3){(double)k, 0.0, 0.0}, (hn_vec3){(double)k, 1.0, 0.0}, out);
    }
    for (int64_t k = 1; k <= n; ++k) {
        fprintf(out, "  bar%" PRId64 ": ", k);
        write_bar(model, (hn_vec3){(double)(k - 1), 1.0, 0.0}, (hn_vec3){(double)k, 1.0, 0.0}, out);
    }
    fputs("\njoints:\n", out);
    for (int64_t k = 0; k <= n; ++k) {
        fprintf(out, "  foot%" PRId64 ": {revolute: {bodies: [ground, crank%" PRId64 "], ", k, k);
        write_place(true, (hn_vec3){(double)k, 0.0, 0.0}, axis, out);
    }
    for (int64_t k = 1; k <= n; ++k) {
        fprintf(out, "  left%" PRId64 ": {revolute: {bodies: [crank%" PRId64 ", bar%" PRId64 "], ",
                k, k - 1, k);
        write_place(true, (hn_vec3){(double)(k - 1), 1.0, 0.0}, axis, out);
        fprintf(out, "  right%" PRId64 ": {revolute: {bodies: [crank%" PRId64 ", bar%" PRId64 "], ",
                k, k, k);
        write_place(true, (hn_vec3){(double)k, 1.0, 0.0}, axis, out);
    }
    fputs("\nstart:\n  # all cranks turn alike, the bars do not turn\n", out);
    for (int64_t k = 0; k <= n; ++k) {
        fprintf(out, "  crank%" PRId64 ": {angular_velocity: ", k);
        write_vector((hn_vec3){0.0, 0.0, -model->speed}, out);
        fputs("}\n", out);
    }
    for (int64_t k = 1; k <= n; ++k)
        fprintf(out, "  bar%" PRId64 ": {angular_velocity: [0, 0, 0]}\n", k);
    write_run(out);
}

// ---- net --------------------------------------------------------------------------------------------
// Knot (i, j) is i bars away from the held edge and j bars along it; knots (0, j) are on the ground. Bar down_i_j
// leads from knot (i - 1, j) to (i, j), bar across_i_j from (i, j - 1) to (i, j).

static hn_vec3 net_knot(const generated_model *model, int64_t i, int64_t j)
{
    double c = cos_degrees(model->angle), s = sin_degrees(model->angle);
    double x = (double)i, wave = (i + j) % 2 == 0 ? -NET_WAVE : NET_WAVE;
    return (hn_vec3){c * x + s * wave, (double)j, c * wave - s * x};
}

static void write_net_joint(const generated_model *model, const char *name, int64_t i, int64_t j,
                            const char *other, int64_t other_j, FILE *out)
{
    fprintf(out,
            "  %s_%" PRId64 "_%" PRId64 ": {spherical: {bodies: [down_%" PRId64 "_%" PRId64
            ", %s_%" PRId64 "_%" PRId64 "], ",
            name, i, j, i, j, other, other[0] == 'd' ? i + 1 : i, other_j);
    write_place(false, net_knot(model, i, j), (hn_vec3){0.0, 0.0, 0.0}, out);
}

static void write_net(const generated_model *model, FILE *out)
{
    const int64_t n = model->count, m = model->rows;
    double length = sqrt(1.0 + 4.0 * NET_WAVE * NET_WAVE);
    fprintf(
        out,
        "# A net of %" PRId64 " by %" PRId64 " meshes, held along one edge and let go.\n#\n"
        "# Its bars have 1 kg and meet at knots with ball joints, so that meshes can shear and "
        "fold. Knots of the first row, along\n"
        "# y, are on the ground; the net points along x, %g degrees below the horizontal. Knots "
        "lie %g m above and below its\n"
        "# plane in turn: bars are %.6f m long. Each mesh is a closed loop. A bar can also spin "
        "about itself.\n#\n"
        "# down_i_j leads from row i - 1 to row i in line j, across_i_j from line j - 1 to line "
        "j in row i.\n",
        m, n, model->angle, NET_WAVE, length);
    write_head(model, "Net of bars", "[0, 0, -9.81]", out);
    for (int64_t i = 1; i <= m; ++i)
        for (int64_t j = 0; j <= n; ++j) {
            fprintf(out, "  down_%" PRId64 "_%" PRId64 ": ", i, j);
            write_bar(model, net_knot(model, i - 1, j), net_knot(model, i, j), out);
            if (j == 0) continue;
            fprintf(out, "  across_%" PRId64 "_%" PRId64 ": ", i, j);
            write_bar(model, net_knot(model, i, j - 1), net_knot(model, i, j), out);
        }
    fputs("\njoints:\n  # every bar at a knot is tied to the one that leads there from the held "
          "edge\n",
          out);
    for (int64_t i = 1; i <= m; ++i)
        for (int64_t j = 0; j <= n; ++j) {
            if (i == 1) {
                fprintf(out,
                        "  held_%" PRId64 ": {spherical: {bodies: [ground, down_1_%" PRId64 "], ",
                        j, j);
                write_place(false, net_knot(model, 0, j), (hn_vec3){0.0, 0.0, 0.0}, out);
            }
            if (i < m) write_net_joint(model, "below", i, j, "down", j, out);
            if (j < n) write_net_joint(model, "right", i, j, "across", j + 1, out);
            if (j > 0) write_net_joint(model, "left", i, j, "across", j, out);
        }
    write_run(out);
}

// ---- hub --------------------------------------------------------------------------------------------

static void write_hub(const generated_model *model, FILE *out)
{
    const hn_vec3 axis = {0.0, 0.0, 1.0};
    const int64_t n = model->count;
    fprintf(out,
            "# A bar on %" PRId64 " crank%s.\n#\n"
            "# The cranks stand upright on the ground along x, one metre apart, and all carry the "
            "same bar. Each has 1 m and 1 kg,\n"
            "# the bar has 1 kg as well. Axes are along z: one degree of freedom, and from the "
            "second crank on all repeat what\n"
            "# the first ones say. At the start the bar moves along x with %g m/s.\n",
            n, n == 1 ? "" : "s", model->speed);
    write_head(model, "Bar on cranks", "[0, -9.81, 0]", out);
    fputs("  bar: ", out);
    write_bar(model, (hn_vec3){0.0, 1.0, 0.0}, (hn_vec3){n > 1 ? (double)(n - 1) : 1.0, 1.0, 0.0},
              out);
    for (int64_t k = 0; k < n; ++k) {
        fprintf(out, "  crank%" PRId64 ": ", k);
        write_bar(model, (hn_vec3){(double)k, 0.0, 0.0}, (hn_vec3){(double)k, 1.0, 0.0}, out);
    }
    fputs("\njoints:\n", out);
    for (int64_t k = 0; k < n; ++k) {
        fprintf(out, "  foot%" PRId64 ": {revolute: {bodies: [ground, crank%" PRId64 "], ", k, k);
        write_place(true, (hn_vec3){(double)k, 0.0, 0.0}, axis, out);
        fprintf(out, "  tip%" PRId64 ": {revolute: {bodies: [crank%" PRId64 ", bar], ", k, k);
        write_place(true, (hn_vec3){(double)k, 1.0, 0.0}, axis, out);
    }
    fputs("\nstart:\n  # all cranks turn alike, the bar does not turn\n", out);
    for (int64_t k = 0; k < n; ++k) {
        fprintf(out, "  crank%" PRId64 ": {angular_velocity: ", k);
        write_vector((hn_vec3){0.0, 0.0, -model->speed}, out);
        fputs("}\n", out);
    }
    fputs("  bar: {angular_velocity: [0, 0, 0]}\n", out);
    write_run(out);
}

void generated_model_write(const generated_model *model, FILE *out)
{
    switch (model->kind) {
    case GENERATED_CHAIN: write_chain(model, out); break;
    case GENERATED_TREE: write_tree(model, out); break;
    case GENERATED_LADDER: write_ladder(model, out); break;
    case GENERATED_NET: write_net(model, out); break;
    case GENERATED_HUB: write_hub(model, out); break;
    }
}
