// SPDX-License-Identifier: MIT
// Steps that are made in halves: those that have no solution as a whole, or end elsewhere than smaller ones.
#include "simulation/halves.h"

#include "simulation/events.h"
#include "simulation/snapshot.h"

#include <string.h>

hn_status halves_step(hn_simulation *s, double h, double t, int depth)
{
    hn_status status = simulation_solve_or_stop(s, h, t, true);
    double *least = &s->record.step_min; // an attempt counts: it may become the state
    if (!(*least > 0.0 && *least < h)) *least = h;
    bool deepest = depth >= s->def.halvings_max;
    const solved_step *step = &s->steps[s->ahead];
    int barrier = status == HN_OK ? barriers_leapt(s, step) : -1;
    if (barrier >= 0 && deepest && !s->borrowed) barriers_name(s, step, barrier);
    bool leaps = !deepest && (barrier >= 0 || (!s->borrowed && passage_is_leapt(s, step)));
    if (status == HN_OK && !leaps && !s->borrowed && events_reached(s)) return events_fill(s, h, t);
    if (status == HN_OK && !leaps) return simulation_commit(s, false);
    if (status == HN_CANCELLED || deepest) return status;
    if (step_cost_is_spent(s)) return HN_NOT_CONVERGED;
    TRY(halves_step(s, 0.5 * h, t, depth + 1));
    return halves_step(s, 0.5 * h, t + 0.5 * h, depth + 1);
}

// The nominal step of size h from `time` in halves, from the state in `backup`; on failure that state again.
static hn_status fill(hn_simulation *s, double h, double time)
{
    hn_status status = step_cost_is_spent(s) ? HN_NOT_CONVERGED : halves_step(s, 0.5 * h, time, 1);
    if (status == HN_OK) status = halves_step(s, 0.5 * h, time + 0.5 * h, 1);
    if (status == HN_OK) {
        s->statistics.halved_step_count++;
        s->step_was_halved = true;
        return HN_OK;
    }
    newton_report failed = s->newton;
    snapshot_take_back(s, s->backup);
    s->newton = failed;
    return status;
}

hn_status halves_fill_from_here(hn_simulation *s, double h, double time)
{
    snapshot_keep(s, s->backup);
    return fill(s, h, time);
}

hn_status halves_pass_events(hn_simulation *s, double h, double time)
{
    bool may_halve = s->scheme->may_halve && s->def.halvings_max > 0;
    hn_status status = events_pass(s, h, time);
    // a part of it was too long: the state before is in `backup` still
    return status != HN_OK && status != HN_CANCELLED && may_halve ? fill(s, h, time) : status;
}

hn_status halves_look_before_leap(hn_simulation *s, double h, double time)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    snapshot_keep(s, s->backup);
    TRY(simulation_commit(s, true));
    memcpy(s->other_impetus, s->state.impetus, size);
    snapshot_take_back(s, s->backup);
    hn_status status = fill(s, h, time);
    if (status == HN_CANCELLED) return status;
    if (status == HN_OK) {
        if (!passage_ends_alike(s, s->other_impetus)) return HN_OK;
        snapshot_take_back(s, s->backup);
        s->step_was_halved = false;
        s->passage.probed = true;
    }
    status = simulation_solve_or_stop(s, h, time, false);
    if (status == HN_CANCELLED) snapshot_take_back(s, s->backup); // it was not probed
    return status == HN_OK ? simulation_commit(s, true) : status;
}
