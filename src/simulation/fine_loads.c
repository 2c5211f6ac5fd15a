// SPDX-License-Identifier: MIT
// Loads that are finer than the step: what happens within a step is not resolved, and they are named.
// Note: docs/theory/forces.md
//
// Tables and pulses are known by their points when a simulation is made. Expressions are looked at in every step with a
// ledger, or ahead when asked: is there more than one corner, and is the mean over the step (F13) that of its parts,
// made short where its nodes miss a peak (by bounds of the expression)?
#include "simulation/simulation.h"

// Kinks closer than this part of a step are finer than the step.
static const double FINE_PROFILE = 1.0 - 1e-9;
static const double FINE_MEAN = 1e-3; // of the largest mean so far: means differ by less
enum { NODES = 5, DEPTH_MAX = 24, PIECES_MAX = 256 };
static const int64_t LOOKED_AHEAD = 20000; // steps: about a tenth of a second for a load

// (F13) in halves of halves, until its nodes see what the expression does in each
static double mean_of_pieces(const hn_profile *profile, double begin, double end, int depth,
                             int *pieces)
{
    static const double nodes[NODES] = {0.04691007703066800, 0.23076534494715845, 0.5,
                                        0.76923465505284155, 0.95308992296933200};
    ++*pieces;
    if (depth >= DEPTH_MAX || *pieces > PIECES_MAX ||
        profile_is_seen(profile, begin, end, nodes, NODES) != PROFILE_HIDDEN)
        return profile_mean(profile, begin, end);
    double middle = 0.5 * (begin + end);
    return 0.5 * (mean_of_pieces(profile, begin, middle, depth + 1, pieces) +
                  mean_of_pieces(profile, middle, end, depth + 1, pieces));
}

// Is the mean over a step another one than that of its halves, or finer parts where its nodes do not see a peak?
static bool is_fine(const hn_profile *profile, double begin, double end, double *largest)
{
    int pieces = 0;
    double middle = 0.5 * (begin + end), mean = profile_mean(profile, begin, end);
    double parts = 0.5 * (mean_of_pieces(profile, begin, middle, 1, &pieces) +
                          mean_of_pieces(profile, middle, end, 1, &pieces));
    *largest = fmax(*largest, fmax(fabs(mean), fabs(parts)));
    return fabs(mean - parts) > FINE_MEAN * *largest;
}

// Two corners within a step, but not at its ends
static bool has_two_corners(const hn_profile *profile, double begin, double end)
{
    double aside = (1.0 - FINE_PROFILE) * (end - begin);
    double first = profile_next_jump(profile, begin + aside, end - aside);
    return isfinite(first) && isfinite(profile_next_jump(profile, first + aside, end - aside));
}

// `name`: or only how large loads are
static void look_at_step(hn_simulation *s, double begin, double h, bool name)
{
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        if (e->profile == NULL || e->profile->kind != HN_PROFILE_EXPRESSION ||
            s->load_sizes[i] < 0.0)
            continue;
        double sign = e->reversed ? -1.0 : 1.0, from = e->time_shift + sign * begin,
               to = e->time_shift + sign * (begin + h);
        bool within = is_fine(e->profile, fmin(from, to), fmax(from, to), &s->load_sizes[i]);
        if (!name || (!within && !has_two_corners(e->profile, fmin(from, to), fmax(from, to))))
            continue;
        s->load_sizes[i] = -1.0; // said
        if (s->fine_load < 0) s->fine_load = i;
        context_log(
            s->context,
            "load '%s': its expression is finer than the step of %.3g s at t = %.6g s: %s; a "
            "smaller step resolves it",
            e->name, h, begin,
            within ? "its impulse in the step is not sure, nor when it acts there"
                   : "its impulse is kept, when it acts within a step is not");
    }
}

void fine_loads_look(hn_simulation *s)
{
    double h = s->def.step_size;
    if (s->load_sizes != NULL) look_at_step(s, hn_simulation_time(s) - h, h, true);
}

void fine_loads_warn(hn_simulation *s)
{
    const double h = s->def.step_size;
    bool expressions = false;
    s->fine_load = -1;
    // schemes with steps of their own end them at kinks
    for (int i = 0; i < s->system->element_count && !s->scheme->ends_steps_at_kinks; ++i) {
        const element *e = &s->system->elements[i];
        expressions =
            expressions || (e->profile != NULL && e->profile->kind == HN_PROFILE_EXPRESSION);
        double at = 0.0, finest = e->profile == NULL ? HUGE_VAL : profile_finest(e->profile, &at);
        if (!(finest < FINE_PROFILE * h)) continue;
        if (s->fine_load < 0) s->fine_load = i;
        context_log(s->context,
                    "load '%s': two points of its profile are %.3g s apart at t = %.6g s, the step "
                    "is %.3g s: its impulse is kept, when it acts within a step is not; a smaller "
                    "step resolves it",
                    e->name, finest, at, h);
    }
    if (!expressions) s->load_sizes = NULL;
}

hn_status hn_simulation_check_loads(hn_simulation *s, double end)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, isfinite(end));
    const double h = s->def.step_size, begin = hn_simulation_time(s);
    int64_t count = (int64_t)fmin(ceil((end - begin) / h), (double)LOOKED_AHEAD);
    // how large they are first
    for (int pass = 0; pass < 2 && s->load_sizes != NULL; ++pass)
        for (int64_t k = 0; k < count; ++k) {
            if (context_take_cancel(s->context))
                return context_fail(s->context, HN_CANCELLED,
                                    "cancelled while loads were looked at");
            look_at_step(s, begin + (double)k * h, h, pass == 1);
        }
    return HN_OK;
}
