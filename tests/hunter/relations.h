// SPDX-License-Identifier: MIT
// The same machine said differently must do the same: every relation between two runs, and what they may differ by.
#ifndef TESTS_HUNTER_RELATIONS_H
#define TESTS_HUNTER_RELATIONS_H

#include "hunter/witness.h"

typedef enum relation {
    R_TWOS,      ///< units by powers of four
    R_TENS,      ///< units by powers of ten
    R_TURNED,    ///< turned and moved
    R_MIRRORED,  ///< turned, moved and mirrored
    R_RENAMED,   ///< other names, the last part first
    R_SWAPPED,   ///< the other body of joints first
    R_ALONE,     ///< a mechanism without the others
    R_REDUCTION, ///< another reduction
    R_LOOKED,    ///< read out after every step: to the last bit
    R_RESUMED,   ///< gone on with from a snapshot: to the last bit
    R_REVERSED,  ///< there and back
    R_HALF,      ///< at half the step, by what both say of their errors
    RELATIONS,
} relation;
extern const char *const RELATION_NAMES[RELATIONS];

/// What became of a relation of a machine.
typedef enum verdict {
    V_AGREES,
    V_NAMED,   ///< they differ, and one of them says why it may be wrong
    V_CHAOTIC, ///< so sensitive that nothing can be said
    V_STOPPED, ///< one or both runs were refused or stopped, with a reason
    V_FINDING,
    VERDICTS,
} verdict;

typedef struct relation_tally {
    int64_t verdicts[VERDICTS];
    double worst[QUANTITIES]; ///< difference over the growth of small ones, of those that agree
    double share;             ///< of half steps: the worst difference over what is allowed
} relation_tally;

/// Receives findings, in words.
typedef void (*relation_report)(void *user, relation r, quantity q, double value, bool holds,
                                const char *text);

/// Try all relations of a machine, adding to `tallies` (RELATIONS of them). Returns how its first run ended.
void relations_try(const plan *p, const witness_run *r, draw *d, relation_tally *tallies,
                   relation_report report, void *user, witness *base);

#endif
