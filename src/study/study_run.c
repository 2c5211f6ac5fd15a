// SPDX-License-Identifier: MIT
// Running one member: its model, its steps, the numbers that are kept of them.
#include "study/study.h"

#include "base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double STEP_COUNT_MAX = 9e15; // whole numbers are exact so far
static const double GRID_TOLERANCE = 1e-6; // of a step: how near times must be to the last step

hn_status study_settings(hn_context *context, const hn_study *study, const hn_model *model,
                         hn_simulation_def *def, double *end)
{
    *def = hn_simulation_def_default();
    TRY(hn_simulation_def_from_model(model, def));
    *end = hn_model_run_options(model).end;
    if (study->own_end > 0.0) *end = study->own_end;
    if (study->own_step > 0.0) def->step_size = study->own_step;
    for (int i = 0; i < study->setting_count; ++i)
        TRY(hn_simulation_def_set(context, def, study->settings[i].name, study->settings[i].value));
    return HN_OK;
}

// Model of a member.
static hn_status make_model(hn_context *context, const hn_study *study, int64_t member,
                            hn_model **model)
{
    size_t count = (size_t)study->parameter_count;
    size_t size = count * (sizeof(hn_parameter) + sizeof(double) + NUMBER_TEXT_SIZE);
    hn_parameter *parameters = context_allocate(context, size);
    if (parameters == NULL) return HN_OUT_OF_MEMORY;
    double *values = (double *)(parameters + count);
    char *numbers = (char *)(values + count);
    hn_status status = hn_study_parameters(study, member, values);
    for (size_t i = 0; i < count && status == HN_OK; ++i) {
        char *number = numbers + NUMBER_TEXT_SIZE * i;
        parameters[i] = (hn_parameter){study->parameters[i].name, number_text(values[i], number)};
    }
    if (status == HN_OK)
        status = hn_model_parse_with(context, study->model_text, study->model_length,
                                     study->model_name, parameters, (int)count, model);
    context_release(context, parameters);
    return status;
}

// ---- what is followed -------------------------------------------------------------------------------

/// What is followed of one output during a run.
typedef struct follower {
    study_quantity quantity;
    double last; ///< value after the last step that was looked at
    bool known;  ///< there was one
    bool done;
} follower;

typedef struct following {
    const hn_study *study;
    hn_simulation *simulation;
    follower *followers; ///< output_count
    double *outputs;
    hn_simulation_def def; ///< of the member
    double end;            ///< s, as study or model say; steps end at the nearest multiple
    int64_t step_count;
    double last_time;
    bool begun;
    hn_study_outcome *outcome;
    int warning_count;
    hn_log_function log; ///< of the caller, who hears everything too
    void *log_user;
} following;

// ---- warnings ---------------------------------------------------------------------------------------

// The first one stands in the row of a member that does not fail.
static void note_warning(const char *line, void *user)
{
    following *f = user;
    if (f->warning_count++ == 0)
        snprintf(f->outcome->message, sizeof f->outcome->message, "%s", line);
    if (f->log != NULL) f->log(line, f->log_user);
}

static void note_warnings(following *f, const hn_model *model)
{
    char line[sizeof f->outcome->message];
    double end = (double)f->step_count * f->def.step_size;
    if (fabs(end - f->end) > GRID_TOLERANCE * f->def.step_size) {
        snprintf(line, sizeof line,
                 "the end %.9g s is no multiple of the step %.9g s; the run ends at %.9g s", f->end,
                 f->def.step_size, end);
        note_warning(line, f);
    }
    int count = hn_simulation_caution(f->simulation, model, 0, NULL, 0);
    for (int i = 0; i < count; ++i) {
        hn_simulation_caution(f->simulation, model, i, line, sizeof line);
        note_warning(line, f);
    }
}

// ---- numbers that are kept --------------------------------------------------------------------------

// s; the end of the run where that is asked for.
static double time_of(const following *f, const study_output *o)
{
    double end = (double)f->step_count * f->def.step_size;
    return o->argument < 0.0 || o->argument > end ? end : o->argument;
}

// Where a straight line through two samples has a value.
static double time_at(double level, double t0, double x0, double t1, double x1)
{
    return x1 == x0 ? t1 : t0 + (level - x0) / (x1 - x0) * (t1 - t0);
}

// A number that begins with the first step counts over that step as it is at its end.
static void follow_one(following *f, int index, double t)
{
    const study_output *o = &f->study->outputs[index];
    follower *w = &f->followers[index];
    double at = time_of(f, o), t0 = f->last_time, *out = &f->outputs[index];
    if (!study_quantity_exists(&w->quantity, f->simulation)) {
        w->done |= o->kind == OUTPUT_AT && t >= at; // and stays not a number
        return;
    }
    const bool first = !w->known;
    double x = *w->quantity.number, x0 = first ? x : w->last;
    w->last = x;
    w->known = true;
    if (w->done) return;
    switch (o->kind) {
    case OUTPUT_AT: {
        if (t < at) return;
        // steps end at sums of their sizes: within round-off it is this one
        bool here = !f->begun || t - at <= 1e-9 * f->def.step_size;
        *out = here ? x : x0 + (at - t0) / (t - t0) * (x - x0);
        w->done = true;
        return;
    }
    // what is not a number stays so
    case OUTPUT_MINIMUM: *out = first || x < *out || isnan(x) ? x : *out; return;
    case OUTPUT_MAXIMUM: *out = first || x > *out || isnan(x) ? x : *out; return;
    case OUTPUT_MEAN:
    case OUTPUT_INTEGRAL:
        if (first) *out = 0.0;
        if (f->begun) *out += 0.5 * (x + x0) * (t - t0);
        return;
    case OUTPUT_FIRST_ABOVE:
    case OUTPUT_FIRST_BELOW: {
        bool above = o->kind == OUTPUT_FIRST_ABOVE;
        if (above ? !(x > o->argument) : !(x < o->argument)) return;
        *out = f->begun ? time_at(o->argument, t0, x0, t, x) : t;
        w->done = true;
        return;
    }
    }
}

static void follow(following *f)
{
    double t = hn_simulation_time(f->simulation);
    for (int i = 0; i < f->study->output_count; ++i) follow_one(f, i, t);
    f->last_time = t;
    f->begun = true;
}

// The steps to take until something must be looked at again.
static int64_t steps_ahead(const following *f)
{
    const hn_study *study = f->study;
    int64_t now = hn_simulation_step_count(f->simulation), next = f->step_count;
    for (int i = 0; i < study->output_count; ++i) {
        const study_output *o = &study->outputs[i];
        if (f->followers[i].done) continue;
        if (o->kind != OUTPUT_AT) return 1;
        int64_t before = (int64_t)floor(time_of(f, o) / f->def.step_size * (1.0 - 1e-12));
        int64_t wanted = before > now ? before : now + 1;
        if (wanted < next) next = wanted;
    }
    return next > now ? next - now : 1;
}

// Numbers that were not completed are none.
static void finish(following *f, bool complete)
{
    double duration = f->last_time;
    for (int i = 0; i < f->study->output_count; ++i) {
        const study_output *o = &f->study->outputs[i];
        bool event = o->kind == OUTPUT_FIRST_ABOVE || o->kind == OUTPUT_FIRST_BELOW;
        if (f->followers[i].done) continue;
        if (!complete || event || o->kind == OUTPUT_AT) f->outputs[i] = (double)NAN;
        else if (o->kind == OUTPUT_MEAN) f->outputs[i] /= duration;
    }
}

// ---- failures ---------------------------------------------------------------------------------------

static void judge_limits(const hn_study *study, const double *outputs, hn_study_outcome *outcome)
{
    for (int i = 0; i < study->limit_count && !outcome->failed; ++i) {
        const study_limit *limit = &study->limits[i];
        const study_output *o = &study->outputs[limit->output];
        double x = outputs[limit->output];
        bool above = x > limit->above, below = x < limit->below;
        if (!above && !below) continue;
        outcome->failed = true;
        snprintf(outcome->message, sizeof outcome->message, "%s is %.6g %s, %s %.6g", o->name, x,
                 o->unit, above ? "above" : "below", above ? limit->above : limit->below);
    }
}

static hn_status judge_ledger(const following *f, hn_study_outcome *outcome)
{
    hn_ledger ledger;
    if (!f->def.ledger || !f->study->ledger_counts || outcome->failed) return HN_OK;
    TRY(hn_simulation_ledger(f->simulation, &ledger));
    for (int i = 0; i < HN_PROMISE_COUNT && !outcome->failed; ++i) {
        const hn_ledger_entry *entry = &ledger.entry[i];
        if (entry->kept) continue;
        outcome->failed = true;
        snprintf(outcome->message, sizeof outcome->message,
                 "the ledger says NOT KEPT: %s is off by %.2e, above %.2e",
                 hn_promise_name((hn_promise)i), entry->error, entry->bound);
    }
    return HN_OK;
}

// ---- a run ------------------------------------------------------------------------------------------

// How the member runs, by its own model, and a simulation of it.
static hn_status prepare(hn_context *context, const hn_model *model, following *f)
{
    const hn_study *study = f->study;
    double end;
    TRY(study_settings(context, study, model, &f->def, &end));
    if (!(end / f->def.step_size <= STEP_COUNT_MAX))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "the step %g s is too small for an end at %g s", f->def.step_size, end);
    f->end = end;
    f->step_count = (int64_t)fmax(1.0, round(end / f->def.step_size));
    const double last =
        fmin(end * (1.0 + 1e-12), ((double)f->step_count + GRID_TOLERANCE) * f->def.step_size);
    for (int i = 0; i < study->output_count; ++i) {
        const study_output *o = &study->outputs[i];
        if (o->kind == OUTPUT_AT && o->argument > last)
            return context_fail(context, HN_INVALID_ARGUMENT,
                                "output '%s' is at %g s, but this member runs from 0 to %g s",
                                o->name, o->argument, last);
    }
    TRY(hn_simulation_create_in(context, model, &f->def, &f->simulation));
    for (int i = 0; i < study->output_count; ++i)
        TRY(study_quantity_find(context, model, f->simulation, &study->outputs[i],
                                &f->followers[i].quantity));
    return HN_OK;
}

static hn_status take_steps(following *f)
{
    follow(f);
    while (hn_simulation_step_count(f->simulation) < f->step_count) {
        TRY(hn_simulation_step(f->simulation, steps_ahead(f)));
        follow(f);
    }
    return HN_OK;
}

static hn_status run_member(hn_context *context, const hn_study *study, int64_t member,
                            following *f, hn_study_outcome *outcome)
{
    hn_model *model = NULL;
    hn_status status = make_model(context, study, member, &model);
    if (status == HN_OK) status = prepare(context, model, f);
    if (status == HN_OK) status = take_steps(f);
    finish(f, status == HN_OK);
    if (status == HN_OK) note_warnings(f, model);
    if (status == HN_OK) judge_limits(study, f->outputs, outcome);
    if (status == HN_OK) status = judge_ledger(f, outcome);
    hn_simulation_destroy(f->simulation);
    hn_model_destroy(model);
    return status;
}

hn_status hn_study_run(hn_context *context, const hn_study *study, int64_t member, double *outputs,
                       hn_study_outcome *outcome)
{
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, study != NULL && outputs != NULL && outcome != NULL);
    REQUIRE(context, member >= 0 && member < study->member_count);
    memset(outcome, 0, sizeof *outcome);
    for (int i = 0; i < study->output_count; ++i) outputs[i] = (double)NAN;
    following f = {.study = study, .outputs = outputs, .outcome = outcome};
    f.log = context_log_function(context, &f.log_user);
    hn_context_set_log(context, note_warning, &f);
    f.followers = context_allocate(context, (size_t)study->output_count * sizeof *f.followers);
    hn_status status =
        f.followers == NULL ? HN_OUT_OF_MEMORY : run_member(context, study, member, &f, outcome);
    context_release(context, f.followers);
    hn_context_set_log(context, f.log, f.log_user);
    if (status == HN_CANCELLED) return status;
    outcome->status = status;
    if (status != HN_OK) {
        outcome->failed = true;
        snprintf(outcome->message, sizeof outcome->message, "%.*s",
                 (int)sizeof outcome->message - 1, hn_context_message(context));
    }
    return HN_OK;
}
