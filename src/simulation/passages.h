// SPDX-License-Identifier: MIT
// Singular positions of loops, where branches of a mechanism meet or pass close by each other: are they stepped
// through or leapt over? Note: docs/theory/closed-loops.md
#ifndef SIMULATION_PASSAGES_H
#define SIMULATION_PASSAGES_H

#include <stdbool.h>
#include <stdint.h>

struct hn_simulation;
struct solved_step;

/// What is known of them; part of the state.
typedef struct passage_record {
    double angle;     ///< sine of the angle to a singular position where the last step started
    double step_size; ///< s, of that step; 0: none yet
    bool passing;     ///< it was a leap
    bool probed;      ///< the step about to be taken ends where smaller ones do
    int64_t count;    ///< leaps so far, those in a row as one
    double time;      ///< s, of the last one
    int joint;        ///< of the model: its constraints almost follow from the others there
} passage_record;

/// Does the angle to a singular position change in a solved step by more than a part of itself, so that the step may
/// end on another branch?
bool passage_is_leapt(const struct hn_simulation *simulation, const struct solved_step *step);
/// Do the velocities of the state agree with others after the same step?
bool passage_ends_alike(const struct hn_simulation *simulation, const double *impetus);
/// The solved step becomes the state.
void passage_note(struct hn_simulation *simulation, const struct solved_step *step);

#endif
