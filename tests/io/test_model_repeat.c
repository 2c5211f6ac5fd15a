// SPDX-License-Identifier: MIT
// Repetition in model files: what it writes is what one would have written by hand.
#include <holonom/holonom.h>

#include "model/model.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

static hn_model *parse(hn_context *context, const char *text)
{
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "text", &model));
    return model;
}

TEST(repeat, of_a_chain_is_the_chain_written_by_hand)
{
    static const char REPEATED[] =
        "holonom: 1\n"
        "parameters: {n: 4, l: 0.5}\n"
        "bodies:\n"
        "  link1: {shape: {box: {size: [l, 0.1, 0.1]}}, mass: 1, position: [l/2, 0, 0]}\n"
        "joints:\n"
        "  hinge1: {revolute: {bodies: [ground, link1], at: [0, 0, 0], axis: y}}\n"
        "repeat:\n"
        "  for: {i: [2, n]}\n"
        "  with: {place: l*(i - 1), middle: place + l/2}\n"
        "  bodies:\n"
        "    link$i: {shape: {box: {size: [l, 0.1, 0.1]}}, mass: i/2, position: [middle, 0, 0]}\n"
        "  joints:\n"
        "    hinge$i: {revolute: {bodies: [link$(i - 1), link$i], at: [place, 0, 0], axis: y}}\n"
        "  drives:\n"
        "    drive$i: {effort: {joint: hinge$i, value: 'i*sin(t) - 1'}}\n"
        "  start:\n"
        "    hinge$i: {rate: -i}\n";
    char text[4096], part[512];
    int used = snprintf(text, sizeof text, "holonom: 1\nbodies:\n");
    for (int i = 1; i <= 4; ++i)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  link%d: {shape: {box: {size: [0.5, 0.1, 0.1]}}, mass: %g, position: "
                         "[%g, 0, 0]}\n",
                         i, i == 1 ? 1.0 : 0.5 * i, 0.5 * i - 0.25);
    strcat(text,
           "joints:\n  hinge1: {revolute: {bodies: [ground, link1], at: [0, 0, 0], axis: y}}\n");
    for (int i = 2; i <= 4; ++i) {
        snprintf(part, sizeof part,
                 "  hinge%d: {revolute: {bodies: [link%d, link%d], at: [%g, 0, 0], axis: y}}\n", i,
                 i - 1, i, 0.5 * (i - 1));
        strcat(text, part);
    }
    strcat(text, "drives:\n");
    for (int i = 2; i <= 4; ++i) {
        snprintf(part, sizeof part,
                 "  drive%d: {effort: {joint: hinge%d, value: '%d*sin(t) - "
                 "1'}}\n",
                 i, i, i);
        strcat(text, part);
    }
    strcat(text, "start: {hinge2: {rate: -2}, hinge3: {rate: -3}, hinge4: {rate: -4}}\n");
    hn_context *context = hn_context_create(NULL);
    hn_model *repeated = parse(context, REPEATED), *written = parse(context, text);
    CHECK_EQUAL(hn_model_body_count(repeated), 4);
    CHECK_EQUAL(hn_model_drive_count(repeated), 3);
    CHECK(model_identity(repeated) == model_identity(written));
    hn_model_destroy(repeated);
    hn_model_destroy(written);
    hn_context_destroy(context);
}

TEST(repeat, over_two_indices_makes_a_net_and_steps_may_go_down)
{
    static const char NET[] = "holonom: 1\n"
                              "parameters: {n: 3}\n"
                              "repeat:\n"
                              "  - for: {row: n, column: [6, 2, -2]}\n"
                              "    bodies: {ball_$row_of_$column: {point_mass: {mass: 1}, "
                              "position: [row, column, 0]}}\n";
    static const char NET_TWO[] =
        "holonom: 1\n"
        "parameters: {n: 3}\n"
        "repeat:\n"
        "  - for: {row: n, column: [6, 2, -2]}\n"
        "    bodies: {'ball $(row) of $(column)': {point_mass: {mass: 1}, position: [row, column, "
        "0]}}\n"
        "  - for: {row: n}\n"
        "    loads: {'pull $(row)': {force: {body: ball $(row) of 4, vector: [0, 0, -row]}}}\n";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    // the longest word counts: row_of_ is none
    CHECK_STATUS(context, hn_model_parse(context, NET, strlen(NET), "text", &model),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "text:5:14: '$row_of_' is no index here");
    model = parse(context, NET_TWO);
    CHECK_EQUAL(hn_model_body_count(model), 9);
    CHECK_EQUAL(hn_model_load_count(model), 3);
    CHECK_NEAR(hn_model_body_position(model, hn_model_find_body(model, "ball 3 of 2")).y, 2.0, 0.0);
    CHECK(hn_model_find_body(model, "ball 1 of 6").index1 == 1);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// A hundred thousand copies take time in proportion.
TEST(repeat, many_times_is_linear_and_bounded)
{
    static const char MANY[] = "holonom: 1\n"
                               "repeat: {for: {i: %d}, bodies: {dust$i: {point_mass: {mass: 1}, "
                               "position: [i, 0, 0]}}}\n";
    hn_context *context = hn_context_create(NULL);
    char text[256];
    snprintf(text, sizeof text, MANY, 100000);
    hn_model *model = parse(context, text);
    CHECK_EQUAL(hn_model_body_count(model), 100000);
    hn_model_destroy(model);
    snprintf(text, sizeof text, MANY, 900000000);
    CHECK_STATUS(context, hn_model_parse(context, text, strlen(text), "text", &model),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "repetitions write more than");
    hn_context_destroy(context);
}
