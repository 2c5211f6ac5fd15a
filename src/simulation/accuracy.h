// SPDX-License-Identifier: MIT
// How far a step is from the motion it stands for: estimates of the local error (note: docs/theory/accuracy.md).
#ifndef SIMULATION_ACCURACY_H
#define SIMULATION_ACCURACY_H

#include <holonom/simulation.h>

#include "base/context.h"
#include "system/local_error.h"

#include <stdint.h>

/// What is known of the steps so far.
typedef struct accuracy_record {
    local_error worst;
    double time[ERROR_MEASURES]; ///< s, end of the step where it was
    double sum[ERROR_MEASURES];  ///< over all steps
    double ratio[ERROR_MEASURES]; ///< measured error over third difference, the largest lately
    double known[ERROR_MEASURES]; ///< largest third difference of a step that was measured
    double recent[2][ERROR_MEASURES]; ///< third differences of the last two steps
    double spin_step, spin_time; ///< largest h |omega|, and when (s)
    int spin_body;
    double bend, bend_time;      ///< largest angle between neighbouring nodes of a beam (rad), and when (s):
    double bend_part;            ///< largest by what its element bears
    int bend_beam, bend_element;
    hn_beam_tension tension;     ///< the worst, and when (s)
    double tension_time;
    double credit;               ///< steps of the reference that may be spent out of turn
    int64_t next_step;           ///< to be measured in turn
    double cost;                 ///< steps the last measurement took
    int64_t step_count;
    int64_t sample_count;        ///< steps measured
    int64_t unresolved_count;    ///< of them: even the finest reference did not follow the motion
    int64_t settling;            ///< steps after an impact, whose differences reach across it
    int64_t following;           ///< steps after one with a difference far beyond all before that are measured as well
} accuracy_record;

struct hn_simulation;

/// Before a step: remember where it starts.
void accuracy_begin(struct hn_simulation *simulation);
/// After a step, with momenta up to date. HN_CANCELLED in the midst of it: the step is to be taken back.
hn_status accuracy_note(struct hn_simulation *simulation);
/// After a step with an impact, which has no reference: differences begin anew.
void accuracy_note_event(struct hn_simulation *simulation);
/// After a step: how far elements of beams are bent, and how long for their tension.
void accuracy_note_beams(struct hn_simulation *simulation);
/// After the ledger has looked at velocities.
void accuracy_note_spin(struct hn_simulation *simulation, double spin, int body);

#endif
