// SPDX-License-Identifier: MIT
// What a co-simulation unit is made of: a model, how it is run, and its variables. The tool writes it, the unit reads it.
#ifndef FMU_UNIT_SETUP_H
#define FMU_UNIT_SETUP_H

#include <holonom/holonom.h>

/// Files in `resources`, and the first line of the second.
#define UNIT_MODEL_FILE "model.yaml"
#define UNIT_SETUP_FILE "unit.txt"
#define UNIT_SETUP_HEAD "holonom unit 1"

enum { UNIT_NAME_SIZE = 512, UNIT_TOKEN_SIZE = 40 };

/// How it is run, and what of it is seen from outside.
typedef struct unit_setup {
    char token[UNIT_TOKEN_SIZE]; ///< of this unit: "{...}"
    hn_simulation_def def;
    char **inputs;  ///< names of drives and joints that can be told something: "drives/NAME", "joints/NAME"
    char **outputs; ///< fields: "joints/coordinates"
    int input_count, output_count;
} unit_setup;

typedef enum unit_role {
    UNIT_TIME,
    UNIT_STEP,      ///< s: parameter
    UNIT_PARAMETER, ///< of the model file
    UNIT_DRIVE,     ///< input: what a drive is told
    UNIT_EFFORT,    ///< input: effort on a coordinate of a joint
    UNIT_OUTPUT,
} unit_role;

typedef struct unit_variable {
    char *name;
    unit_role role;
    const char *unit;    ///< "rad"
    const char *meaning; ///< in words
    int index;    ///< parameter, drive or coordinate in the model; output: field in unit_setup.outputs
    size_t place; ///< output: in that field
} unit_variable;

/// The variables of a unit; value references are places in this list.
typedef struct unit_variables {
    unit_variable *list;
    int count, capacity;
} unit_variables;

void unit_setup_clear(unit_setup *setup);
/// Add the name of an input or output; false: no memory.
bool unit_setup_add_input(unit_setup *setup, const char *name);
bool unit_setup_add_output(unit_setup *setup, const char *name);

/// Text of the setup file, line by line; and back. The context has the message of what is wrong in it.
bool unit_setup_write(hn_context *context, const unit_setup *setup, void (*line)(void *user, const char *text),
                      void *user);
bool unit_setup_read(hn_context *context, const char *text, unit_setup *setup, char *message, size_t size);

/// List the variables of a model that is simulated; on failure `message` says why. Clear in any case.
bool unit_variables_list(const hn_model *model, hn_simulation *simulation, const unit_setup *setup,
                         unit_variables *variables, char *message, size_t size);
void unit_variables_clear(unit_variables *variables);

/// A number that changes with names and roles: the variables of a unit stay whatever its parameters are.
uint64_t unit_variables_identity(const unit_variables *variables);

#endif
