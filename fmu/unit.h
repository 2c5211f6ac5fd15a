// SPDX-License-Identifier: MIT
// A co-simulation unit at work: a simulation with its variables, in the phases that FMI 2 and FMI 3 share. fmi2.c and
// fmi3.c give it their functions.
#ifndef FMU_UNIT_H
#define FMU_UNIT_H

#include "unit_setup.h"

/// What happened, in the order of the status words of both versions.
typedef enum unit_status { UNIT_OK, UNIT_WARNING, UNIT_DISCARD, UNIT_ERROR, UNIT_FATAL } unit_status;

typedef enum unit_phase { UNIT_INSTANTIATED, UNIT_INITIALIZING, UNIT_STEPPING, UNIT_TERMINATED } unit_phase;

/// Where messages go; `category` is one of the words that the description lists.
typedef void (*unit_log_function)(void *user, unit_status status, const char *category, const char *message);

/// Called after every internal step of unit_do_step with the time; true ends it there.
typedef bool (*unit_between_function)(void *user, double time);

enum { UNIT_CAUTIONS_MAX = 8, UNIT_CAUTION_SIZE = 640 };

typedef struct unit {
    char *name;
    unit_log_function log;
    void *log_user;
    bool logging;      ///< notes and warnings too, not errors alone
    hn_context *context;
    char *text;        ///< of the model file
    unit_setup setup;
    unit_variables variables;
    uint64_t identity; ///< of the variables
    hn_model *model;
    hn_simulation *simulation; ///< NULL until it is needed, and after a parameter was changed
    hn_view *views;            ///< per output field
    double *values;    ///< per variable: what was set, or the outputs of the last completed step
    bool *given;       ///< per variable: was it set?
    char cautions[UNIT_CAUTIONS_MAX][UNIT_CAUTION_SIZE]; ///< that were said of the simulation
    int caution_count;
    unit_phase phase;
    double start_time; ///< s: of the master; the simulation begins at zero
} unit;

/// The unit whose files are in a folder. NULL after a message. `token`: of the description the master has read.
unit *unit_create(const char *name, const char *token, const char *resources, bool logging, unit_log_function log,
                  void *log_user);
void unit_destroy(unit *unit);

/// Say something; errors always, other things while it is logging.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
unit_status unit_say(unit *unit, unit_status status, const char *format, ...);

unit_status unit_begin(unit *unit, double start_time);      ///< enter the initialization
unit_status unit_finish_initialization(unit *unit);
unit_status unit_terminate(unit *unit);
unit_status unit_reset(unit *unit);

unit_status unit_get(unit *unit, const uint32_t *references, size_t count, double *values);
unit_status unit_set(unit *unit, const uint32_t *references, size_t count, const double *values);

/// A whole number of steps from `time` (s) on, which must be where the unit is; nothing happens where `interval` is no
/// multiple of the step. UNIT_DISCARD where it was stopped; `*reached` is the time of the last completed step.
unit_status unit_do_step(unit *unit, double time, double interval, unit_between_function between, void *user,
                         double *reached);
/// From another thread: end the call of unit_do_step that is under way.
void unit_cancel(unit *unit);
double unit_time(const unit *unit); ///< s

/// The whole state in one block: parameters, inputs, outputs, and a snapshot.
typedef struct unit_state {
    size_t size;
    unsigned char bytes[];
} unit_state;
unit_status unit_save(unit *unit, unit_state **state); ///< `*state`: NULL, or one of before
unit_status unit_restore(unit *unit, const unit_state *state);
/// A block that came from elsewhere.
unit_status unit_state_from_bytes(unit *unit, const void *bytes, size_t size, unit_state **state);

#endif
