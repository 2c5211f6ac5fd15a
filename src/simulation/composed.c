// SPDX-License-Identifier: MIT
// Composed steps: Psi_h = Phi_(gamma_s h) ... Phi_(gamma_1 h) (KO1), some of them back in time.
// Note: docs/theory/composition.md
#include "simulation/composed.h"

#include "simulation/snapshot.h"

#include <string.h>

// z = h c/m of a damper: a substep back in time multiplies a rate by (2 + |gamma| z)/(2 - |gamma| z)
const double COMPOSED_DAMPER_MAX = 0.1;
static const double CORNER_ASIDE = 1e-9; // of a step: corners this near to its ends are at them
enum { CORNERS_MAX = 16 };               // in a step, at which parts of a reference end

static int own_order(const scheme_type *scheme)
{
    if (scheme->any_rotation) return 5;
    return scheme->first_order ? 1 : 2;
}

// What substeps back in time do not take.
static hn_status check_model(hn_context *context, const scheme_type *scheme, int order,
                             const hn_model *model)
{
    for (int i = 0; i < model->drive_count; ++i) {
        const char *why = drive_without_way_back(&model->drives[i].def);
        if (why != NULL)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': scheme '%s' of order %d makes substeps back in time, "
                                "which %s; order 2 takes it",
                                model->drives[i].name, scheme->name, order, why);
        // loads act with the means of both halves of a step, the integral is that of the whole: the
        // two ways through a step differ
        if (!scheme->both_levels && servo_integrates_a_path(&model->drives[i].def))
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': the integral gain of a servo whose target moves has "
                                "order 2 under scheme '%s', not %d; order 2 and "
                                "ggl-energy-momentum take it",
                                model->drives[i].name, scheme->name, order);
    }
    if (model->coupling_count > 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': scheme '%s' of order %d takes no couplings; order 2 of "
                            "energy-momentum and variational do",
                            model->couplings[0].name, scheme->name, order);
    for (int i = 0; i < model->beam_count; ++i)
        if (model->beams[i].damping > 0.0)
            return context_fail(
                context, HN_INVALID_MODEL,
                "beam '%s': scheme '%s' of order %d makes substeps back in time, in which the "
                "damping of its fast vibrations has no bound; order 2 takes it",
                model->beams[i].name, scheme->name, order);
    return HN_OK;
}

hn_status composed_choose(hn_simulation *s, const hn_model *model)
{
    hn_simulation_def *def = &s->def;
    const scheme_type *scheme = s->scheme;
    int own = own_order(scheme);
    if (def->order == 0 && model->run.order > 0 && model->run.scheme == def->scheme)
        def->order = model->run.order;
    // 0 stands for it, also in results: a run that is resumed with another scheme is told that, not of orders
    if (def->order == own) def->order = 0;
    // an explicit pair of order eight stands beside that of order five
    if (def->order == 0 || (scheme->any_rotation && def->order == 8)) return HN_OK;
    s->composition = composition_of_order(def->order);
    if (scheme->composed == NULL)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "order is %d: scheme '%s' has order %d alone: it %s", def->order,
                            scheme->name, own, scheme->not_composed);
    if (s->composition == NULL)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "order is %d; expected 2, 4, 6 or 8 for scheme '%s'", def->order,
                            scheme->name);
    if (def->step_tolerance > 0.0)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "order is %d with a step_tolerance of %g: inner steps that follow the "
                            "motion are of order 2; leave one of them out",
                            def->order, def->step_tolerance);
    s->scheme = scheme->composed;
    return check_model(s->context, scheme, def->order, model);
}

hn_status composed_check_dampers(hn_simulation *s)
{
    const char *name;
    if (s->composition == NULL) return HN_OK;
    double z = dampers_strongest(s, &name);
    if (z > COMPOSED_DAMPER_MAX)
        return context_fail(
            s->context, HN_INVALID_MODEL,
            "damper '%s': h c/m = %.3g; scheme '%s' of order %d makes substeps back in time, "
            "in which strong dampers have no bound, and takes up to %g: a step below %.3g s, "
            "or order 2",
            name, z, s->scheme->name, s->def.order, COMPOSED_DAMPER_MAX,
            s->def.step_size * COMPOSED_DAMPER_MAX / z);
    return HN_OK;
}

// ---- history of every substep ----------------------------------------------------------------------------

void composed_layout(arena *a, hn_simulation *s)
{
    size_t n = (size_t)s->system->body_count;
    size_t stages = s->composition == NULL ? 1 : (size_t)s->composition->stage_count;
    size_t levels = s->scheme->both_levels ? n : 0;
    s->history_size =
        s->scheme->solver_step == NULL ? predict_size(s->system, s->reduction_kind) : 0;
    s->histories = arena_doubles(a, stages * s->history_size);
    s->predicted = arena_bytes(a, s->scheme->solver_step == NULL ? n * sizeof(predicted_body) : 0);
    s->levels.histories = arena_doubles(a, stages * CURVATURE_DEPTH * POSE_SIZE * levels);
    s->history = s->histories;
    s->levels.history = s->levels.histories;
}

static void composed_select(hn_simulation *s, int stage)
{
    size_t n = (size_t)s->system->body_count;
    s->stage_pasts[s->stage] = s->past;
    s->stage_counts[s->stage] = s->levels.history_count;
    s->stage = stage;
    s->history = s->histories + (size_t)stage * s->history_size;
    if (s->scheme->both_levels)
        s->levels.history = s->levels.histories + (size_t)stage * CURVATURE_DEPTH * POSE_SIZE * n;
    s->past = s->stage_pasts[stage];
    s->levels.history_count = s->stage_counts[stage];
}

void composed_forget(hn_simulation *s)
{
    s->past.count = s->levels.history_count = 0;
    memset(s->stage_pasts, 0, sizeof s->stage_pasts);
    memset(s->stage_counts, 0, sizeof s->stage_counts);
}

// ---- steps -------------------------------------------------------------------------------------------------

double composed_next_size(const hn_simulation *s)
{
    return s->composition == NULL ? s->def.step_size
                                  : s->def.step_size * composition_part(s->composition, 0);
}

hn_status composed_step(hn_simulation *s, double h, double time, bool keep_history, bool may_leap)
{
    const composition *c = s->composition;
    hn_status status = HN_OK;
    double begin = 0.0;
    for (int k = 0; k < c->stage_count && status == HN_OK; ++k) {
        double part = composition_part(c, k);
        composed_select(s, k);
        if (!s->steps[s->ahead].valid)
            status = simulation_solve_or_stop(s, part * h, time + begin * h, !keep_history);
        const solved_step *step = &s->steps[s->ahead];
        int barrier = status == HN_OK ? barriers_leapt(s, step) : -1;
        if (barrier >= 0 && !s->borrowed && (may_leap || !s->scheme->may_halve))
            barriers_name(s, step, barrier);
        bool leaps = barrier >= 0 && s->scheme->may_halve;
        if (status == HN_OK && !may_leap && (leaps || passage_is_leapt(s, step)))
            status = HN_NOT_CONVERGED;
        if (status == HN_OK) status = simulation_commit(s, keep_history);
        begin += part;
    }
    composed_select(s, 0);
    return status;
}

// The first corner of a profile of a load, whose times may be turned round, or HUGE_VAL
static double load_corner(const element *e, double begin, double end)
{
    bool sure;
    if (!e->reversed)
        return profile_next_corner(e->profile, e->time_shift + begin, e->time_shift + end, &sure) -
               e->time_shift;
    double corner = HUGE_VAL, last = HUGE_VAL;
    for (double from = e->time_shift - end; from < e->time_shift - begin; from = corner) {
        corner = profile_next_corner(e->profile, from, e->time_shift - begin, &sure);
        if (isfinite(corner)) last = e->time_shift - corner;
    }
    return last;
}

double composed_next_corner(const hn_simulation *s, double begin, double end)
{
    const hn_system *system = s->system;
    const double aside = CORNER_ASIDE * s->def.step_size;
    double next = HUGE_VAL;
    begin += aside, end -= aside;
    for (int i = 0; i < system->element_count && begin < end; ++i) {
        const element *e = &system->elements[i];
        bool sure;
        if (e->profile != NULL) next = fmin(next, load_corner(e, begin, end));
        if (e->law != NULL && e->law->function != NULL)
            next = fmin(next, profile_next_corner(e->law->function, begin, end, &sure));
    }
    return next < end ? next : HUGE_VAL;
}

hn_status composed_run_parts(hn_simulation *s, double h, double time, int parts)
{
    double begin = time, end = time + h;
    for (int corners = 0; begin < end; ++corners) {
        double next = corners < CORNERS_MAX ? composed_next_corner(s, begin, end) : HUGE_VAL;
        bool whole = begin == time && !isfinite(next);
        double part = whole ? h / parts : (fmin(next, end) - begin) / parts;
        for (int k = 0; k < parts; ++k) TRY(composed_step(s, part, begin + k * part, false, true));
        begin = fmin(next, end);
    }
    return HN_OK;
}

hn_status composed_nominal_step(hn_simulation *s, double h, double time)
{
    bool may_halve = s->scheme->may_halve && s->def.halvings_max > 0;
    snapshot_keep(s, s->backup);
    hn_status status = composed_step(s, h, time, true, !may_halve);
    newton_report failed = s->newton;
    for (int depth = 1;
         status != HN_OK && status != HN_CANCELLED && may_halve && depth <= s->def.halvings_max;
         ++depth) {
        int64_t parts = (int64_t)1 << depth;
        double part = h / (double)parts;
        snapshot_take_back(s, s->backup);
        s->newton = failed;
        if (step_cost_is_spent(s)) break;
        composed_forget(s);
        status = HN_OK;
        for (int64_t k = 0; k < parts && status == HN_OK; ++k)
            status = composed_step(s, part, time + (double)k * part, false,
                                   depth == s->def.halvings_max);
        composed_forget(s);
        double smallest = part * composition_smallest(s->composition);
        if (!(s->record.step_min > 0.0 && s->record.step_min < smallest))
            s->record.step_min = smallest;
        if (status == HN_OK) s->statistics.halved_step_count++;
        s->step_was_halved = status == HN_OK;
        failed = s->newton;
    }
    if (status == HN_OK) return status;
    snapshot_take_back(s, s->backup);
    s->newton = failed;
    return status;
}
