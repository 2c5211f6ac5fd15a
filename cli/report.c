// SPDX-License-Identifier: MIT
// Text shared by the commands.
#include "report.h"

#include "command.h"
#include "say.h"
#include "stop_signal.h"
#include "scheme_settings.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

/// Above this part of the h |omega| that a scheme can solve its rotations are no longer trusted.
static const double SPIN_STEP_PART = 0.5;

/// Part of a bound above which the allowance for round-off is shown.
static const double ALLOWANCE_SHOWN = 0.01;

enum { LABEL_WIDTH = 18, FIGURE_WIDTH = 52 };

const char *scheme_word(int index)
{
    return hn_scheme_name((hn_scheme)index);
}

const char *reduction_word(int index)
{
    return hn_reduction_name((hn_reduction)index);
}

const char *promise_word(int index)
{
    return hn_promise_name((hn_promise)index);
}

void report_log_line(const char *line, void *user)
{
    (void)user;
    say(stderr, "warning: %s\n", line);
}

int exit_code_of(hn_status status)
{
    switch (status) {
    case HN_OK: return EXIT_FINE;
    case HN_INVALID_ARGUMENT: return EXIT_USAGE;
    case HN_INVALID_MODEL:
    case HN_FILE_FORMAT: return EXIT_MODEL;
    case HN_FILE_ACCESS: return EXIT_FILE;
    case HN_OUT_OF_MEMORY:
    case HN_NOT_CONVERGED:
    case HN_SINGULAR_SYSTEM:
    case HN_NOT_FINITE: return EXIT_RUN_FAILED;
    case HN_CANCELLED:
        return stop_signal_number() != 0 ? EXIT_SIGNAL + stop_signal_number() : EXIT_RUN_FAILED;
    }
    return EXIT_RUN_FAILED;
}

/// Are the settings those that the model file asks for, and nothing else?
static bool is_settings_of_model(const hn_model *model, const hn_simulation_def *def)
{
    hn_simulation_def own = hn_simulation_def_default();
    return hn_simulation_def_from_model(model, &own) == HN_OK &&
           different_setting(&own, def) == NULL;
}

int report_create_simulation(const hn_model *model, const hn_simulation_def *def,
                             hn_simulation **simulation)
{
    hn_status status = hn_simulation_create(model, def, simulation);
    if (status == HN_OK) return EXIT_FINE;
    // a model from a file has its place in the message
    bool placed = hn_model_text(model, NULL) != NULL && status != HN_CANCELLED;
    say(stderr, "%s%s%s\n", placed ? "" : SHOWN(hn_model_name(model)), placed ? "" : ": ",
        hn_context_message(hn_model_context(model)));
    // what cannot be assembled is the model's fault, a singular start and what its `run` asks for included
    bool assembly = status == HN_SINGULAR_SYSTEM || status == HN_NOT_CONVERGED ||
                    (status == HN_INVALID_ARGUMENT && is_settings_of_model(model, def));
    return assembly || status == HN_NOT_FINITE ? EXIT_MODEL : exit_code_of(status);
}

void print_count(int64_t count, const char *one, const char *many, FILE *out)
{
    fprintf(out, "%" PRId64 " %s", count, count == 1 ? one : many);
}

bool *report_unique_reactions(const hn_model *model, hn_simulation *simulation)
{
    int count = hn_model_joint_count(model);
    bool *unique = calloc((size_t)count + 1, sizeof(bool));
    hn_redundancy redundancy;
    if (unique != NULL && hn_simulation_redundancy(simulation, &redundancy, unique, count) == HN_OK)
        return unique;
    free(unique);
    return NULL;
}

/// ", shared by r1, r2, r3" or ", shared by r1...r6": the joints whose reactions are not unique.
static void print_shared_by(const hn_model *model, hn_simulation *simulation, FILE *out)
{
    enum { LISTED_MAX = 3 };
    bool *unique = report_unique_reactions(model, simulation);
    if (unique == NULL) return;
    int first = -1, last = -1, count = 0;
    for (int i = 0; i < hn_model_joint_count(model); ++i)
        if (!unique[i]) first = first < 0 ? i : first, last = i, ++count;
    if (count > LISTED_MAX)
        fprintf(out, ", shared by %s…%s",
                SHOWN(hn_model_joint_name(model, hn_model_joint(model, first))),
                SHOWN(hn_model_joint_name(model, hn_model_joint(model, last))));
    else
        for (int i = first; count > 0 && i <= last; ++i)
            if (!unique[i])
                fprintf(out, "%s%s", i == first ? ", shared by " : ", ",
                        SHOWN(hn_model_joint_name(model, hn_model_joint(model, i))));
    free(unique);
}

void print_model_line(const hn_model *model, hn_simulation *simulation, FILE *out)
{
    hn_structure compiled = hn_simulation_structure(simulation), *structure = &compiled;
    fprintf(out, "  %s   ", SHOWN(hn_model_name(model)));
    print_count(structure->body_count, "body", "bodies", out);
    for (int kind = 0; kind < HN_JOINT_KIND_COUNT; ++kind) {
        int count = 0;
        for (int i = 0; i < hn_model_joint_count(model); ++i)
            if (hn_model_joint_kind(model, hn_model_joint(model, i)) == (hn_joint_kind)kind)
                ++count;
        if (count > 0)
            fprintf(out, ", %d %s %s", count, hn_joint_kind_name((hn_joint_kind)kind),
                    count == 1 ? "joint" : "joints");
    }
    if (structure->loop_count > 0) {
        fputs(", ", out);
        print_count(structure->loop_count, "loop", "loops", out);
    }
    fputs(", ", out);
    print_count(structure->degrees_of_freedom, "degree of freedom", "degrees of freedom", out);
    int redundant = structure->constraint_count - structure->constraint_rank;
    if (redundant > 0) {
        fputs(" (", out);
        print_count(redundant, "redundant constraint", "redundant constraints", out);
        print_shared_by(model, simulation, out);
        putc(')', out);
    }
    putc('\n', out);
}

void print_projection(const char *before, const hn_structure *structure, FILE *out)
{
    if (structure->position_projection > 0.0)
        fprintf(out, "%sstart positions were moved by %.1e (m, rad) onto the joints\n", before,
                structure->position_projection);
    if (structure->velocity_projection > 0.0)
        fprintf(out, "%sstart velocities were changed by %.1e (m/s, rad/s) to fit the joints\n",
                before, structure->velocity_projection);
}

void print_singular_start(hn_simulation *simulation, FILE *out)
{
    hn_structure structure = hn_simulation_structure(simulation);
    if (structure.start_kind == HN_START_REGULAR) return;
    fprintf(
        out,
        "  singular start      the constraints of joints %s lose rank where the model stands:\n",
        SHOWN(structure.singular_joints));
    fprintf(out, "%s",
            structure.start_kind == HN_START_BRANCHES
                ? "                      it may go on in several ways, the motion is not unique; "
                  "start from\n"
                  "                      another position, or with rates of all joints that tell "
                  "the way\n"
                : "                      they give way for an instant and cannot move, and "
                  "reactions are not\n"
                  "                      determined; move a joint out of line, or leave one out\n");
}

void print_misfit(const hn_model *model, hn_simulation *simulation, FILE *out)
{
    hn_redundancy redundancy;
    if (hn_simulation_structure(simulation).loop_count == 0 ||
        hn_simulation_redundancy(simulation, &redundancy, NULL, 0) != HN_OK ||
        redundancy.misfit_joint < 0)
        return;
    fprintf(
        out,
        "  inexact loop        the constraints of joint %s follow from the others but for %.2g: "
        "rigid joints bind;\n"
        "                      give places and axes to all digits, by expressions and "
        "parameters\n",
        SHOWN(hn_model_joint_name(model, hn_model_joint(model, redundancy.misfit_joint))),
        redundancy.misfit);
}

bool warn_spin_step(hn_scheme scheme, const hn_structure *structure)
{
    double limit = structure->spin_step_limit;
    if (limit <= 0.0 || structure->spin_step <= SPIN_STEP_PART * limit) return false;
    say(stderr,
        "warning: a body turns by h |omega| = %.3g rad in a step; %s has no solution above %g "
        "and loses accuracy before: a smaller step helps\n",
        structure->spin_step, hn_scheme_name(scheme), limit);
    return true;
}

static void print_ledger_line(hn_promise promise, const hn_ledger_entry *entry, bool complete,
                              FILE *out)
{
    static const char *const LABELS[HN_PROMISE_COUNT] = {
        "energy", "linear momentum", "angular momentum", "joints", "constraints", "equations"};
    static const char *const MEASURES[HN_PROMISE_COUNT] = {
        "worst relative error", "worst relative error", "worst relative error",
        "m worst opening",      "worst residual",       "worst residual"};
    char figure[96];
    int used = snprintf(figure, sizeof figure, "%8.1e %s", entry->error, MEASURES[promise]);
    if (promise == HN_PROMISE_ENERGY)
        snprintf(figure + used, sizeof figure - (size_t)used, ", %.1e at the end", entry->drift);
    fputs("  ", out);
    print_padded(LABELS[promise], LABEL_WIDTH, out);
    bool momentum = promise == HN_PROMISE_LINEAR_MOMENTUM || promise == HN_PROMISE_ANGULAR_MOMENTUM;
    if (momentum && !entry->conserved) {
        fprintf(out, "%s\n",
                entry->note[0] == '\0' ? "not conserved by this model" : SHOWN(entry->note));
        return;
    }
    print_padded(figure, FIGURE_WIDTH, out);
    if (!entry->conserved) {
        fprintf(out, "not promised%s%s\n", entry->note[0] == '\0' ? "" : ": ", SHOWN(entry->note));
        return;
    }
    // of a run that ended early it is said what was measured, and no more
    if (!complete) fputs(entry->kept ? "until then" : "above its bound", out);
    else fputs(entry->kept ? "kept" : "NOT KEPT", out);
    if (!entry->kept || entry->allowance > ALLOWANCE_SHOWN * entry->bound) {
        fprintf(out, " (bound %.1e", entry->bound);
        if (entry->allowance > 0.0) fprintf(out, ", of it %.1e for round-off", entry->allowance);
        putc(')', out);
    }
    // which components, which body, which joint
    bool named = momentum || promise == HN_PROMISE_EQUATIONS || !entry->kept;
    if (named && entry->note[0] != '\0') fprintf(out, "  %s", SHOWN(entry->note));
    putc('\n', out);
}

/// What a scheme that decays has taken.
static void print_losses(const hn_ledger *ledger, FILE *out)
{
    char figure[96];
    double scale = ledger->energy_scale > 0.0 ? ledger->energy_scale : 1.0;
    fputs("  ", out);
    print_padded("dissipated", LABEL_WIDTH, out);
    snprintf(figure, sizeof figure, "%8.1e of the energy, taken by the scheme",
             ledger->energy_lost / scale);
    print_padded(figure, FIGURE_WIDTH, out);
    fprintf(out, "%.4g J, of which %.4g J never return\n", ledger->energy_lost,
            ledger->energy_dissipated);
}

/// The line of what is approximate.
static void print_accuracy(const hn_model *model, const hn_accuracy *a, FILE *out)
{
    char figure[96];
    fputs("  ", out);
    print_padded("accuracy", LABEL_WIDTH, out);
    if (a->sample_count == 0 || a->relative.body < 0) {
        fputs("not known: no step could be compared with finer ones\n", out);
        return;
    }
    snprintf(figure, sizeof figure, "%8.1e worst error of a step, %.1e summed", a->relative.value,
             a->relative_sum);
    print_padded(figure, FIGURE_WIDTH, out);
    fprintf(out, "%s at t = %.6g s; %.1e m, %.1e rad",
            SHOWN(hn_model_body_name(model, hn_model_body(model, a->relative.body))),
            a->relative.time, a->position.value, a->angle.value);
    if (a->halved_step_count > 0)
        fprintf(out, "; %" PRId64 " steps were halved", a->halved_step_count);
    if (a->ambiguous_step_count > 0)
        fprintf(out, "; %" PRId64 " too long to be unique", a->ambiguous_step_count);
    putc('\n', out);
}

void print_drives(const hn_model *model, const hn_simulation *simulation, FILE *out)
{
    enum { SHOWN_MAX = 6 };
    int count = hn_model_drive_count(model);
    if (count == 0) return;
    double sum = 0.0;
    hn_drive_state state;
    for (int i = 0; i < count; ++i)
        if (hn_simulation_drive(simulation, i, &state) == HN_OK) sum += state.work;
    fputs("  ", out);
    print_padded("drives", LABEL_WIDTH, out);
    fprintf(out, "%8.5g J done by all:", sum);
    for (int i = 0; i < count && i < SHOWN_MAX; ++i)
        if (hn_simulation_drive(simulation, i, &state) == HN_OK)
            fprintf(out, "%s %s %.5g J", i == 0 ? "" : ",", SHOWN(hn_model_drive_name(model, i)),
                    state.work);
    fprintf(out, "%s\n", count > SHOWN_MAX ? ", ..." : "");
}

void print_couplings(const hn_model *model, const hn_simulation *simulation, FILE *out)
{
    int count = hn_model_coupling_count(model), worst = 0;
    if (count == 0) return;
    double gap = 0.0;
    hn_coupling_state state;
    for (int i = 0; i < count; ++i)
        if (hn_simulation_coupling(simulation, i, &state) == HN_OK && fabs(state.gap) > gap)
            gap = fabs(state.gap), worst = i;
    fputs("  ", out);
    print_padded("couplings", LABEL_WIDTH, out);
    fprintf(out, "%8.1e rad or m, largest gap at the end: %s\n", gap,
            SHOWN(hn_model_coupling_name(model, worst)));
}

bool ledger_is_kept(const hn_ledger *ledger)
{
    for (int i = 0; i < HN_PROMISE_COUNT; ++i)
        if (!ledger->entry[i].kept) return false;
    return true;
}

void print_ledger(const hn_model *model, const hn_ledger *ledger, bool complete, FILE *out)
{
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        print_ledger_line((hn_promise)i, &ledger->entry[i], complete, out);
        if (i == HN_PROMISE_ENERGY && ledger->energy_decays) print_losses(ledger, out);
    }
    print_accuracy(model, &ledger->accuracy, out);
}

static bool is_said(const said_cautions *said, const char *sentence)
{
    for (int i = 0; i < said->count; ++i)
        if (strcmp(said->sentences[i], sentence) == 0) return true;
    return false;
}

void warn_cautions(const hn_model *model, const hn_simulation *simulation, said_cautions *said)
{
    char sentence[CAUTION_SIZE];
    int count = hn_simulation_caution(simulation, model, 0, NULL, 0);
    for (int i = 0; i < count; ++i) {
        hn_simulation_caution(simulation, model, i, sentence, sizeof sentence);
        if (is_said(said, sentence)) continue;
        say(stderr, "warning: %s\n", sentence);
        if (said->count < SAID_CAUTIONS_MAX)
            memcpy(said->sentences[said->count++], sentence, sizeof sentence);
    }
}

int report_no_memory(void)
{
    say(stderr, "holonom: there is no memory\n");
    return EXIT_RUN_FAILED;
}
