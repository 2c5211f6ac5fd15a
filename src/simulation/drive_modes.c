// SPDX-License-Identifier: MIT
// Dry friction that slides or sticks, and rigid stops that hold or let go, decided within the step.
// Note: docs/theory/drives.md
//
//   (D11)  slides:  tau = -+ F(D x/h),             D x >= 0 or <= 0
//          sticks:  rate at the end is zero,       |lambda| <= F(0),  lambda D x <= 0
//          turns:   tau = -F (v_n + v_n+1)/(|v_n| + |v_n+1|),   v_n + v_n+1 = 2 D x/h
//          rests:   D x = 0
//
// None of them gives energy. A step begins as the last one ended. Friction that slides and would turn round within the
// step sticks if it can and turns if not; that which sticks and cannot hold slides, and sticks again where that is not
// its way now that others slide; where sticking would give energy it rests, and turns where that takes more than it
// has. Where several that are tied to each other stick, one holds for all; what it cannot hold alone it gives like one
// that slides, and the next one holds. What a motion leads slides the way it is led.
// F depends on the reaction of its joint in the same step, found by iteration.
#include "simulation/simulation.h"

#include "simulation/redundancy.h"
#include "system/mass.h"
#include "system/step.h"

static const double SLACK = 1e-9; // of the largest effort: round-off of the effort that holds
static const double NORMAL_TOLERANCE = 1e-9; // of a reaction, between two iterations
// Friction by a reaction that moves its body by so little of its size in a step is none: round-off of places.
static const double NORMAL_ROUND_OFF = 1e-15;
static const double SOLVED_ON = 1e-3; // of the tolerance for increments
static const double LEAST =
    1e-14; // rad, m over the body's length: but no less than round-off leaves of increments
// A rate at the begin of the step beside that at its end, and an effort beyond the largest: so little is none. A turn
// that begins with next to no rate is a jump of the effort, and round-off of places would say when.
static const double NEXT_TO_NONE = 1e-2;
enum { MODE_PASSES = 40, TRIES_MAX = 6 };

static void set_mode(hold *h, hold_way *way, double mode, hold_stage stage)
{
    way->slots[DRIVE_MODE] = mode;
    h->stage = stage;
    h->held = drive_is_held(way->e->law, mode);
}

void drive_modes_begin(hn_simulation *s, const double *slots)
{
    s->blocked.hold = s->blocked.motion = -1;
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        const element *e = &s->system->elements[h->first];
        h->stage = STAGE_FIRST;
        h->held = h->coupling >= 0 || drive_is_held(e->law, slots[e->angle + DRIVE_MODE]);
        h->idle = h->follows = h->struck = false;
        h->tries = 0;
        h->side = slots[e->angle + DRIVE_MODE];
    }
}

// Friction knows the rate of its coordinate at the begin of the step from the velocities there.
static void take_rates(hn_simulation *s, solved_step *step)
{
    for (int i = 0; i < s->hold_count && step->equations.discrete_gradient; ++i) {
        const element *e = &s->system->elements[s->holds[i].first];
        if (s->holds[i].coupling < 0 && e->law->kind == HN_DRIVE_FRICTION)
            step->angle_start[e->angle + DRIVE_ROTOR] =
                e->law->sign * simulation_rate(e, step->q_start, s->state.impetus);
    }
}

// ---- friction ---------------------------------------------------------------------------------------------

static double opposite_of(double effort)
{
    return effort > 0.0 ? FRICTION_BACK : FRICTION_FORTH;
}

// Are there others in the mechanism that stick and carry nothing, since it holds for them (`idle`), or that carry?
static bool has_partners(const hn_simulation *s, const hold *own, bool idle)
{
    const hn_system *system = s->system;
    const element *e = &system->elements[own->first];
    int mechanism = system->mechanism[element_body(e)];
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        const element *other = &system->elements[h->first];
        if (h != own && h->coupling < 0 && h->held && h->idle == idle &&
            other->law->kind == HN_DRIVE_FRICTION &&
            system->mechanism[element_body(other)] == mechanism)
            return true;
    }
    return false;
}

// The farthest that a motion leads its coordinate in the step, rad or m; 0: none does
static double way_of_motions(const hn_simulation *s, solved_step *step)
{
    double farthest = 0.0;
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        if (h->coupling >= 0 || s->system->elements[h->first].law->kind != HN_DRIVE_MOTION)
            continue;
        hold_way way = hold_way_of(s, step, h);
        if (way.moves) farthest = fmax(farthest, fabs(way.to - way.from));
    }
    return farthest;
}

// What follows from other relations and moves all the same is led by a motion: it slides. Others that come to rest
// with one that sticks have no rate at the end of the step.
static bool is_led(const hn_simulation *s, const hold *h, const hold_way *way, solved_step *step)
{
    const double COMES_TO_REST = 0.1; // of the rate at the begin of the step
    const double FOLLOWS = 1e-6;      // of the way of motions: no round-off
    double change = way->to - way->from;
    if (!h->idle || !way->moves) return false;
    double leads = way_of_motions(s, step);
    if (!(leads > 0.0) || !(fabs(change) > FOLLOWS * leads)) return false;
    double begin = way->slots[DRIVE_ROTOR], end = 2.0 * change / step->equations.step_size - begin;
    return !step->equations.discrete_gradient || !has_partners(s, h, false) ||
           fabs(end) > COMES_TO_REST * fabs(begin);
}

// A step in which it sticks or rests: does it hold? True: something else is to be tried.
static bool review_holding(hold *h, hold_way *way, bool means, double effort_before, bool partners)
{
    double slope, effort = way->slots[DRIVE_HOLD], change = way->to - way->from,
                  limit = drive_friction(way->e->law, way->slots[DRIVE_NORMAL], 0.0, &slope);
    // without means over the step efforts act half at either end: what a node feels is that of two steps
    if (!means) effort = 0.5 * (effort + effort_before); // at the first node: of that step alone
    bool within = fabs(effort) <= (1.0 + SLACK) * limit;
    if (way->slots[DRIVE_MODE] == FRICTION_REST) return false;
    bool gives = effort * change > 0.0 && way->moves;
    if (within && !gives) return false;
    if (within) set_mode(h, way, FRICTION_REST, STAGE_LAST);
    // with others that hold it gives what it can: as if it slid
    else if (h->stage == STAGE_STOPS && means && !partners)
        set_mode(h, way, FRICTION_TURN, STAGE_LAST);
    else set_mode(h, way, opposite_of(effort), STAGE_TURNS);
    return true;
}

// A step in which it slides: its own way?
static bool review_sliding(hold *h, hold_way *way, bool means, double span)
{
    if (way->slots[DRIVE_MODE] == FRICTION_TURN) return false;
    double mode = way->slots[DRIVE_MODE], change = mode * (way->to - way->from),
           end = means ? 2.0 * change / span - mode * way->slots[DRIVE_ROTOR] : change / span;
    if (h->stage == STAGE_FIRST) {
        if (change > 0.0 && end > 0.0) return false;
        // without means it has turned if the other way is its own; at a dead centre, where no effort of its own moves
        // it, sticking has other solutions far away
        if (means) set_mode(h, way, FRICTION_STICK, STAGE_STOPS);
        else set_mode(h, way, -mode, STAGE_STOPS);
        return true;
    }
    if (h->stage == STAGE_STOPS && change < 0.0 && way->moves) {
        set_mode(h, way, FRICTION_STICK, STAGE_STOPS);
        return true;
    }
    if (change >= 0.0 || !way->moves) return false;
    bool began = means && fabs(way->slots[DRIVE_ROTOR]) > NEXT_TO_NONE * fabs(end);
    if (began) set_mode(h, way, FRICTION_TURN, STAGE_LAST);
    else if (++h->tries <= TRIES_MAX) set_mode(h, way, FRICTION_STICK, STAGE_FIRST);
    else set_mode(h, way, FRICTION_REST, STAGE_LAST);
    return true;
}

// Friction that rests by more than it has turns instead. Asked when nothing else changes: others that stick for a
// pass by more than they have may ask it of this one.
static bool review_resting(hn_simulation *s, solved_step *step)
{
    bool changed = false;
    for (int i = 0; i < s->hold_count && step->equations.discrete_gradient; ++i) {
        hold *h = &s->holds[i];
        if (h->coupling >= 0 || h->tries > TRIES_MAX) continue;
        hold_way way = hold_way_of(s, step, h);
        const drive_law *law = way.e->law;
        if (law->kind != HN_DRIVE_FRICTION || way.slots[DRIVE_MODE] != FRICTION_REST) continue;
        double slope, limit = drive_friction(law, way.slots[DRIVE_NORMAL], 0.0, &slope);
        if (fabs(way.slots[DRIVE_HOLD]) <= (1.0 + NEXT_TO_NONE) * limit) continue;
        set_mode(h, &way, FRICTION_TURN, STAGE_LAST);
        changed = true;
    }
    return changed;
}

// A stop does not pull.
static bool review_contact(hold *h, hold_way *way)
{
    if (way->slots[DRIVE_MODE] == 0.0 || way->slots[DRIVE_HOLD] * way->slots[DRIVE_MODE] <= 0.0)
        return false;
    way->slots[DRIVE_HOLD] = 0.0;
    set_mode(h, way, 0.0, STAGE_LAST);
    return true;
}

// A lock or contact that follows from others carries nothing. Where a motion leads away from a stop, that lets go;
// beyond it, or away from a latch, nothing can follow both.
static bool review_idle(hn_simulation *s, hold *h, hold_way *way, double time)
{
    const double AWAY = 1e-9; // of its unit, or of the place
    const drive_law *law = way->e->law;
    double side = way->slots[DRIVE_MODE],
           value = law->kind == HN_DRIVE_LATCH ? law->latch
                   : side > 0.0                ? law->upper
                                               : law->lower,
           away = way->to - value, unit = fmax(law->unit, fabs(value));
    if (!(fabs(away) > AWAY * unit)) return false;
    if (law->rigid && side * away < 0.0) {
        set_mode(h, way, 0.0, STAGE_LAST);
        return true;
    }
    s->blocked.hold = (int)(h - s->holds);
    s->blocked.time = time;
    return false;
}

// ---- all of them --------------------------------------------------------------------------------------------

static bool review(hn_simulation *s, solved_step *step)
{
    bool changed = false;
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        if (h->coupling >= 0) continue;
        hold_way way = hold_way_of(s, step, h);
        const drive_law *law = way.e->law;
        if (law->kind != HN_DRIVE_FRICTION && h->held && h->idle)
            changed |= review_idle(s, h, &way, step->equations.time);
        if (law->rigid && h->stage != STAGE_LAST) changed |= review_contact(h, &way);
        if (law->kind != HN_DRIVE_FRICTION) continue;
        bool means = step->equations.discrete_gradient;
        if (h->held && is_led(s, h, &way, step)) {
            set_mode(h, &way, way.to > way.from ? FRICTION_FORTH : FRICTION_BACK, STAGE_LAST);
            changed = true;
        } else if (h->held) {
            double before = s->angles[way.e->angle + DRIVE_HOLD];
            if (s->state.first) before = way.slots[DRIVE_HOLD];
            changed |= review_holding(h, &way, means, before, has_partners(s, h, true));
        } else {
            changed |= review_sliding(h, &way, means, step->equations.step_size);
        }
    }
    return changed;
}

static void forget_reactions(hn_simulation *s)
{
    s->wrench_valid = false;
    redundancy_invalidate(s);
}

// The largest reaction of its joint, N, that no place of the step can tell from none
static double unfelt_reaction(const hn_system *system, const element *e, double step_size)
{
    const int bodies[2] = {e->a, e->b};
    double least = HUGE_VAL;
    for (int k = 0; k < 2; ++k)
        if (bodies[k] >= 0)
            least = fmin(least, mass_node(system, bodies[k])[0] * system->sizes[bodies[k]]);
    return NORMAL_ROUND_OFF * least / (step_size * step_size);
}

hn_status drive_modes_find_normals(hn_simulation *s, solved_step *step, double *slots,
                                   bool *changed)
{
    hn_status status = HN_OK;
    *changed = false;
    forget_reactions(s);
    for (int i = 0; i < s->hold_count && status == HN_OK; ++i) {
        const element *e = &s->system->elements[s->holds[i].first];
        if (s->holds[i].coupling >= 0 || e->law->by_reaction == 0.0) continue;
        joint_reaction r;
        status = simulation_reaction(s, step, e->joint, &r);
        double *slot = slots + e->angle + DRIVE_NORMAL, size = vec3_norm(r.force);
        // while it holds, only whether it can depends on it
        bool settled =
            fabs(size - *slot) <= NORMAL_TOLERANCE * (size + *slot) +
                                      unfelt_reaction(s->system, e, step->equations.step_size);
        if (!settled && !s->holds[i].held) {
            *changed = true;
            s->newton.hold = i, s->newton.off = size;
        }
        if (!settled) *slot = size;
    }
    forget_reactions(s);
    return status;
}

static bool has_normals(const hn_simulation *s)
{
    for (int i = 0; i < s->hold_count; ++i)
        if (s->holds[i].coupling < 0 &&
            s->system->elements[s->holds[i].first].law->by_reaction != 0.0)
            return true;
    return false;
}

static hn_status solve_with_reactions(hn_simulation *s, solved_step *step,
                                      const newton_options *options)
{
    for (int pass = 0; pass < DRIVE_NORMAL_PASSES; ++pass) {
        bool changed = false;
        TRY(holds_solve(s, step, options));
        if (!has_normals(s)) return HN_OK;
        step_element_forces(s->system, &step->equations, &step->data);
        TRY(drive_modes_find_normals(s, step, step->angle_start, &changed));
        if (!changed) return HN_OK;
        if (pass + 1 == DRIVE_NORMAL_PASSES) break;
        TRY(simulation_solve_iterate(s, step, options));
    }
    s->newton.gave_up = GAVE_UP_NORMALS;
    return HN_NOT_CONVERGED;
}

hn_status drive_modes_solve(hn_simulation *s, solved_step *step, const newton_options *given)
{
    // solved on from solutions, with factors of others: the next increment is no square of the last
    newton_options tight = *given, *options = &tight;
    tight.increment_tolerance =
        fmin(given->increment_tolerance, fmax(SOLVED_ON * given->increment_tolerance, LEAST));
    drive_modes_begin(s, step->angle_start);
    take_rates(s, step);
    for (int pass = 0; pass < MODE_PASSES; ++pass) {
        TRY(solve_with_reactions(s, step, options));
        bool changed = review(s, step) || review_resting(s, step);
        if (s->blocked.hold >= 0) return HN_SINGULAR_SYSTEM;
        if (!changed) return HN_OK;
        for (int i = 0; i < s->hold_count; ++i) s->holds[i].follows = false;
        TRY(simulation_solve_iterate(s, step, options));
    }
    s->newton.gave_up = GAVE_UP_MODES;
    return HN_NOT_CONVERGED;
}
