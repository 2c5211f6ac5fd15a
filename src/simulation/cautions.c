// SPDX-License-Identifier: MIT
// What makes the numbers of a run doubtful though no promise is broken, said in sentences.
#include "simulation/outputs.h"
#include "simulation/simulation.h"
#include "simulation/statics.h"

#include "base/context.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE_SIZE = 640 };

static const double START_SPIN_PART =
    0.5; // of the largest h |omega| a scheme can solve, from which on it is said at the start
static const double ERROR_STEP_LARGE =
    0.02; // rad, or parts of a body's size: a step that is further off is too long
static const double DEGREES = 57.29577951308232;

typedef struct caution_list {
    int count;
    int wanted; ///< the one that is written
    char *text;
    size_t size;
} caution_list;

/// Names may hold characters that no terminal should get: they are shown as messages show them.
static void write_shown(const char *line, char *text, size_t size)
{
    size_t used = 0;
    while (*line != '\0') {
        char shown[HN_HIDDEN_SHOWN_MAX];
        size_t length = hn_hidden_character(line, shown), more = length > 0 ? strlen(shown) : 1;
        if (used + more >= size) break;
        memcpy(text + used, length > 0 ? shown : line, more);
        used += more;
        line += length > 0 ? length : 1;
    }
    text[used] = '\0';
}

HN_PRINTF(2, 3) static void add(caution_list *list, const char *format, ...)
{
    if (list->count++ != list->wanted) return;
    char line[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    write_shown(line, list->text, list->size);
}

static const char *body_name(const hn_model *model, int index)
{
    return hn_model_body_name(model, hn_model_body(model, index));
}

static const char *beam_name(const hn_model *model, int index)
{
    return hn_model_beam_name(model, hn_model_beam(model, index));
}

/// Start values that were moved, positions where joints lose rank.
static void add_start(caution_list *list, const hn_structure *structure)
{
    if (structure->position_projection > 0.0)
        add(list, "start positions were moved by %.1e (m, rad) onto the joints",
            structure->position_projection);
    if (structure->velocity_projection > 0.0)
        add(list, "start velocities were changed by %.1e (m/s, rad/s) to fit the joints",
            structure->velocity_projection);
    if (structure->start_kind != HN_START_REGULAR)
        add(list,
            "singular start: the constraints of joints %s lose rank where the model stands: %s",
            structure->singular_joints,
            structure->start_kind == HN_START_BRANCHES
                ? "it may go on in several ways, the motion is not unique; start from another "
                  "position, or with rates of all joints that tell the way"
                : "they give way for an instant and cannot move, and reactions are not "
                  "determined; move a joint out of line, or leave one out");
}

/// A joint on a loop of the mechanism that has no start rate; else any of its joints.
static int joint_without_rate(const hn_simulation *s, const hn_model *model, int mechanism)
{
    const hn_system *system = s->system;
    int found = -1;
    for (int k = system->joint_count - 1; k >= 0; --k) {
        const system_joint *report = &system->reports[k];
        const joint *j = &report->rows;
        bool looped =
            report->cut >= 0 || (report->tree_body >= 0 && system->in_loop[report->tree_body]);
        if (system->mechanism[j->child >= 0 ? j->child : j->parent] != mechanism) continue;
        if (found < 0 || (looped && !model->joints[k].has_rates)) found = k;
    }
    return found;
}

/// Start velocities of loops that are not determined, and not those of least kinetic energy either.
static void add_chosen(caution_list *list, const hn_simulation *s, const hn_model *model)
{
    const hn_system *system = s->system;
    for (int m = 0; m < system->mechanism_count; ++m) {
        if (system->velocities[m] != VELOCITIES_CHOSEN) continue;
        int index = joint_without_rate(s, model, m);
        add(list,
            "start velocities around joint '%s' do not follow from those that are given: the "
            "smallest joint rates were taken, which may depend on the order in the file (of least "
            "kinetic energy with up to 64 degrees of freedom); give rates of more joints",
            index < 0 ? "" : hn_model_joint_name(model, hn_model_joint(model, index)));
    }
}

/// A start that nothing but the order of the file decides.
static void add_order(caution_list *list, const hn_simulation *s, const hn_model *model)
{
    const int *alike = s->system->alike;
    if (alike[0] < 0) return;
    add(list,
        "start values of joints in a mechanism that nothing holds do not say whether '%s' or '%s' "
        "stays: '%s' does, as it stands first in the file; give it a start velocity, or a free "
        "joint",
        body_name(model, alike[0]), body_name(model, alike[1]), body_name(model, alike[0]));
}

/// Is a body too fast for the scheme from the start on?
static bool add_start_spin(caution_list *list, const hn_simulation *s,
                           const hn_structure *structure)
{
    double limit = structure->spin_step_limit;
    if (limit <= 0.0 || structure->spin_step <= START_SPIN_PART * limit) return false;
    add(list,
        "a body turns by h |omega| = %.3g rad in a step; %s has no solution above %g and loses "
        "accuracy before: a smaller step helps",
        structure->spin_step, s->scheme->name, limit);
    return true;
}

/// How far a body that turns fast is off, where the scheme tells.
static void write_lag(const hn_simulation *s, double spin, char *text, size_t size)
{
    double turn = s->composition == NULL ? scheme_turn(s->def.scheme, spin) : 0.0;
    text[0] = '\0';
    if (turn > 0.0)
        snprintf(text, size,
                 ", %.2g %% too %s in its angle, and as far off in its inertia where a gear or a "
                 "motion leads "
                 "it",
                 100.0 * fabs(turn - 1.0), turn < 1.0 ? "little" : "much");
}

static void add_accuracy(caution_list *list, const hn_simulation *s, const hn_model *model,
                         const hn_accuracy *a, bool spin_said)
{
    char lag[160];
    if (a->ambiguous_step_count > 0)
        add(list,
            "%" PRId64 " steps were too long to be unique: their equations have several "
            "solutions; a smaller step has one",
            a->ambiguous_step_count);
    if (a->leap_count > 0)
        add(list,
            "the mechanism went straight on at %" PRId64 " singular positions, the last at "
            "t = %.6g s, joint %s: the steps are too long to see whether branches of its motion "
            "cross there or only come close; `energy-momentum` in small steps sees it",
            a->leap_count, a->leap_time,
            a->leap_joint < 0 ? "unknown"
                              : hn_model_joint_name(model, hn_model_joint(model, a->leap_joint)));
    if (!spin_said && a->spin_step_limit > 0.0 && a->spin_step.value > a->spin_step_limit) {
        write_lag(s, a->spin_step.value, lag, sizeof lag);
        add(list,
            "the step is too long for body %s: at t = %.6g s it turns by h |omega| = %.3g in a "
            "step (above %g)%s; a smaller step helps",
            body_name(model, a->spin_step.body), a->spin_step.time, a->spin_step.value,
            a->spin_step_limit, lag);
    }
    if (a->sample_count > 0 && a->relative.value > ERROR_STEP_LARGE)
        add(list,
            "the step is too long for the motion of body %s: at t = %.6g s a single step is off "
            "by about %.1e rad or parts of its size; a smaller step helps",
            body_name(model, a->relative.body), a->relative.time, a->relative.value);
}

// At the worst moment of the steps; where none was measured, of the state that is
static void add_beams(caution_list *list, const hn_simulation *s, const hn_model *model,
                      const hn_accuracy *a)
{
    hn_beam_tension tension = a != NULL ? a->beam_tension : statics_largest_tension(s);
    int beam = -1, place = 0;
    double bend = a != NULL ? a->beam_angle : statics_largest_bend(s, &beam, &place);
    char when[40] = "here";
    if (a != NULL) beam = a->beam, place = a->beam_element;
    if (tension.ratio > 1.0) {
        const char *name = beam_name(model, tension.beam);
        if (a != NULL) snprintf(when, sizeof when, "at t = %.6g s", a->beam_tension_time);
        add(list,
            "beam %s: element %s.%d is too long for its tension %s: N l^2 = %.3g times "
            "%g EI, and above 1 its nodes gain energy by a zigzag that the beam would not make: "
            "what is said of stability is that of the elements; take at least %d elements",
            name, name, tension.element, when, tension.ratio, tension.limit, tension.least_count);
    }
    if (beam < 0 || !(bend > 0.0)) return;
    const beam_element *own = s->system->elements[s->system->beam_first[beam] + place].beam;
    if (!(bend > beam_bend_large(own))) return;
    const char *name = beam_name(model, beam);
    if (a != NULL) snprintf(when, sizeof when, "at t = %.6g s", a->beam_angle_time);
    if (bend < beam_bend_limit(own))
        add(list,
            "beam %s: neighbouring nodes are turned by %.1f degrees against each other %s, "
            "most in element %s.%d: above %.0f %s; more elements help",
            name, DEGREES * bend, when, name, place, DEGREES * beam_bend_large(own),
            own->helical ? "one curvature says little of what is between them"
                         : "its moments are off by a sixth or more");
    else
        add(list,
            "beam %s: element %s.%d is bent by %.1f degrees %s: from %.0f on it bears less moment "
            "for being bent more, and results mean nothing; more elements help",
            name, name, place, DEGREES * bend, when, DEGREES * beam_bend_limit(own));
}

static void add_outputs(caution_list *list, const hn_simulation *s, const hn_model *model)
{
    double time;
    int index = outputs_not_finite(s->outputs, &time);
    if (index < 0) return;
    add(list, "output '%s' is no finite number, first at t = %.6g s",
        hn_model_output_name(model, index), time);
}

int hn_simulation_caution(const hn_simulation *s, const hn_model *model, int index, char *text,
                          size_t size)
{
    if (text != NULL && size > 0) text[0] = '\0';
    if (s == NULL || model == NULL || model_identity(model) != s->model_identity) return 0;
    caution_list list = {
        .wanted = text != NULL && size > 0 ? index : -1, .text = text, .size = size};
    hn_structure structure = hn_simulation_structure(s);
    add_start(&list, &structure);
    add_order(&list, s, model);
    add_chosen(&list, s, model);
    bool spin_said = add_start_spin(&list, s, &structure);
    add_outputs(&list, s, model);
    hn_ledger ledger;
    bool stepped = s->step_count > 0 && s->def.ledger && hn_simulation_ledger(s, &ledger) == HN_OK,
         noted = stepped && s->accuracy.step_count > 0; // load steps are none
    if (stepped) add_accuracy(&list, s, model, &ledger.accuracy, spin_said);
    add_beams(&list, s, model, noted ? &ledger.accuracy : NULL);
    return list.count;
}
