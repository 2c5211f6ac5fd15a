// SPDX-License-Identifier: MIT
// Steps near singular positions. The angle between the constraints of a loop and the span of the others tells how near
// one is: at q_n it is known whenever a step is solved from there.
//
//   (C13)  h |alpha_n - alpha_n-1| / h_n-1 <= alpha_n / 5
//
// With lengths that are off by d, branches that would cross pass each other at an angle of about sqrt(d): steps that
// obey (C13) turn with them, a longer one may go straight on.
#include "simulation/passages.h"

#include "simulation/simulation.h"

static const double NEAR = 0.1; // sine of the angle: farther away nothing is decided
static const double SEEN =
    1e-5; // steps that change it by less see what lengths off by 1e-10 would do
static const double ALIKE = 0.1;    // of a body's velocity: on another branch it is another one
static const double RESOLVED = 0.2; // of the angle may change in a step

static double angle_of(const hn_simulation *s, const solved_step *step)
{
    return step->loops.dropped > s->dropped_count ? 0.0 : step->loops.angle;
}

bool passage_is_leapt(const hn_simulation *s, const solved_step *step)
{
    const passage_record *p = &s->passage;
    if (!step->loops.known || p->step_size == 0.0) return false;
    double angle = angle_of(s, step);
    if (!(angle < NEAR)) return false;
    double change = fabs(step->equations.step_size * (angle - p->angle)) / p->step_size;
    return change > RESOLVED * angle && change > SEEN;
}

bool passage_ends_alike(const hn_simulation *s, const double *impetus)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        double off = 0.0, size = 0.0;
        for (size_t k = POSE_SIZE * (size_t)i; k < POSE_SIZE * (size_t)(i + 1); ++k) {
            // directors count by the body's size
            double arm = k % POSE_SIZE < 3 ? 1.0 : s->system->sizes[i];
            off = fmax(off, arm * fabs(s->state.impetus[k] - impetus[k]));
            size = fmax(size, arm * fabs(impetus[k]));
        }
        if (off > ALIKE * size) return false;
    }
    return true;
}

void passage_note(hn_simulation *s, const solved_step *step)
{
    passage_record *p = &s->passage;
    if (!step->loops.known) return;
    bool leapt = passage_is_leapt(s, step) && !p->probed;
    p->probed = false;
    if (leapt && !p->passing) {
        p->count++;
        p->time = step->equations.time;
        p->joint = step->loops.joint;
    }
    p->passing = leapt;
    p->angle = angle_of(s, step);
    p->step_size = fabs(step->equations.step_size);
}
