// SPDX-License-Identifier: MIT
// Model files of any size, written by rule: chains, trees, ladders of four-bars, nets, hubs.
#ifndef CLI_GENERATED_MODEL_H
#define CLI_GENERATED_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum generated_kind {
    GENERATED_CHAIN,  ///< bars one after the other, the first on the ground
    GENERATED_TREE,   ///< a binary tree of bars: at the end of each hang two more
    GENERATED_LADDER, ///< four-bars in a row that share their cranks
    GENERATED_NET,    ///< a lattice of bars with ball joints at its knots, held along one edge
    GENERATED_HUB,    ///< one bar on many cranks
} generated_kind;
#define GENERATED_KIND_COUNT 5

typedef enum generated_joints {
    GENERATED_REVOLUTE,
    GENERATED_SPHERICAL,
    GENERATED_MIXED, ///< revolute and spherical in turn
} generated_joints;
#define GENERATED_JOINTS_COUNT 3

/// What to write. Bars are 1 m long (those of the net a little more) and have 1 kg.
typedef struct generated_model {
    generated_kind kind;
    generated_joints joints; ///< chain and tree; a ladder or hub is revolute, a net spherical
    int64_t
        count; ///< bodies of a chain or tree, four-bars of a ladder, bars along the held edge of a net, cranks
    int64_t rows; ///< net only: bars away from the held edge
    double angle; ///< degrees below the horizontal at the start: chain, tree, net
    double
        zigzag; ///< degrees, chain only: bars turned to the left and right in turn, about the vertical
    double speed;   ///< m/s, ladder and hub: of the top row at the start
    double section; ///< m, edges of the bars' square section
} generated_model;

/// Defaults of a kind: level at the start, section 0.1 m; ladder and hub: 1 m/s, section 0.001 m. Count and rows are 1.
generated_model generated_model_default(generated_kind kind);

/// How many bodies the model will have.
int64_t generated_model_body_count(const generated_model *model);

/// Write the model as a commented model file. Errors of the stream are left to the caller (ferror).
void generated_model_write(const generated_model *model, FILE *out);

/// Words of the command line: "chain", ... and "revolute", "spherical", "mixed".
const char *generated_kind_word(int kind);
const char *generated_joints_word(int joints);

#endif
