// SPDX-License-Identifier: MIT
// A run of a plan, and what is measured of it: numbers in the words of the plan before its transformation, so that runs
// of the same machine said differently can be compared number by number.
#ifndef TESTS_HUNTER_WITNESS_H
#define TESTS_HUNTER_WITNESS_H

#include "hunter/transformations.h"

#include <holonom/simulation.h>

enum { WITNESS_SAMPLES = 4, WITNESS_TEXT = 240 };

typedef enum quantity {
    Q_PLACE,
    Q_TURN,
    Q_VELOCITY,
    Q_SPIN,
    Q_ANGLE, ///< coordinates of drives
    Q_WAY,
    Q_TORQUE, ///< efforts of drives
    Q_FORCE,
    Q_WORK,
    Q_REACTION,
    Q_KINETIC,
    QUANTITIES,
} quantity;
extern const char *const QUANTITY_NAMES[QUANTITIES];

/// How a run is made.
typedef struct witness_run {
    hn_scheme scheme;
    hn_reduction reduction;
    double step; ///< s, in the units of the plan before
    int steps;   ///< WITNESS_SAMPLES of them are samples
    int parts;   ///< steps for one
    bool looked; ///< getters are called after every step
    bool resumed; ///< goes on in another simulation, from a snapshot, in the middle
} witness_run;

typedef struct witness {
    hn_status status;
    bool created;             ///< the model was built and compiled
    int64_t done;             ///< steps
    char message[WITNESS_TEXT];
    bool not_kept, ambiguous;
    char promise[WITNESS_TEXT]; ///< that is not kept
    int cautions;             ///< sentences that make its numbers doubtful
    int warnings;             ///< lines of the log
    int64_t halved;           ///< steps that were made in parts
    double relative, sum;     ///< of its accuracy line
    int count;                ///< numbers
    double *values;
    unsigned char *quantities, *mechanisms;
} witness;

/// Runs that take more seconds than `seconds` are cancelled.
void witness_make(const plan *p, const transformation *t, const witness_run *r, witness *w);
/// There and back: the numbers of the end stand beside those of the begin, in two witnesses. False: no way back, or one
/// of the runs stopped, `back->message` says why.
bool witness_reverse(const plan *p, const witness_run *r, witness *start, witness *back);
void witness_free(witness *w);
/// To be called by the handler of SIGALRM.
void witness_cancel(void);

#endif
