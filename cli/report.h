// SPDX-License-Identifier: MIT
// What several commands say: the model in a line, the ledger, warnings, failures with their exit code.
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <holonom/holonom.h>

#include <stdio.h>

/// Print a context's log lines as notes on the error stream.
void report_log_line(const char *line, void *user);

/// Create a simulation; on failure report it and return its exit code, otherwise 0 and the simulation.
int report_create_simulation(const hn_model *model, const hn_simulation_def *def,
                             hn_simulation **simulation);

/// Exit code of a failure that is not about a file the user named.
int exit_code_of(hn_status status);

/// "  six-body linkage   6 bodies, 6 revolute joints, 1 loop, 1 degree of freedom (1 redundant constraint)"
void print_model_line(const hn_model *model, hn_simulation *simulation, FILE *out);

/// For each joint, whether its reaction is unique; the caller frees. NULL when out of memory or not known.
bool *report_unique_reactions(const hn_model *model, hn_simulation *simulation);

/// How far start values were moved onto the constraints, `before` at the start of each line; nothing when they fulfil
/// them.
void print_projection(const char *before, const hn_structure *structure, FILE *out);

/// A start from where motions cannot all go on, with the joints and what to change; nothing when it is regular.
void print_singular_start(hn_simulation *simulation, FILE *out);
/// Loops that close only nearly, said before a run fails for it; nothing when all are exact.
void print_misfit(const hn_model *model, hn_simulation *simulation, FILE *out);

/// Warn on the error stream when a body turns too far in a step for `variational`.
/// True: warned.
bool warn_spin_step(hn_scheme scheme, const hn_structure *structure);

/// The line of what drives have done, where there are some.
void print_drives(const hn_model *model, const hn_simulation *simulation, FILE *out);
/// The line of how well couplings hold, where there are some.
void print_couplings(const hn_model *model, const hn_simulation *simulation, FILE *out);
/// The lines of the ledger. Of a run that is not complete nothing is said to be kept.
void print_ledger(const hn_model *model, const hn_ledger *ledger, bool complete, FILE *out);

/// Every promise is kept.
bool ledger_is_kept(const hn_ledger *ledger);

enum { CAUTION_SIZE = 640, SAID_CAUTIONS_MAX = 8 };

/// Sentences that were said.
typedef struct said_cautions {
    int count;
    char sentences[SAID_CAUTIONS_MAX][CAUTION_SIZE];
} said_cautions;

/// Warn on the error stream of what makes numbers doubtful so far (hn_simulation_caution): start values that were
/// moved, steps too long for the motion, at the worst moment of the run. What was said already is not said again.
void warn_cautions(const hn_model *model, const hn_simulation *simulation, said_cautions *said);

/// "1 body", "2 bodies"
void print_count(int64_t count, const char *one, const char *many, FILE *out);

/// Words by index, for lists of known words.
const char *scheme_word(int index);
const char *reduction_word(int index);
const char *promise_word(int index);

/// Say that there is no memory. Returns EXIT_RUN_FAILED.
int report_no_memory(void);

#endif
