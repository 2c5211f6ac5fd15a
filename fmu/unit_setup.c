// SPDX-License-Identifier: MIT
// The setup of a unit as lines of text, and the list of its variables.
#include "unit_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static bool add_name(char ***list, int *count, const char *name)
{
    char **grown = realloc(*list, ((size_t)*count + 1) * sizeof *grown);
    if (grown == NULL) return false;
    *list = grown;
    grown[*count] = copy_text(name);
    if (grown[*count] == NULL) return false;
    *count += 1;
    return true;
}

bool unit_setup_add_input(unit_setup *setup, const char *name)
{
    return add_name(&setup->inputs, &setup->input_count, name);
}

bool unit_setup_add_output(unit_setup *setup, const char *name)
{
    return add_name(&setup->outputs, &setup->output_count, name);
}

void unit_setup_clear(unit_setup *setup)
{
    for (int i = 0; i < setup->input_count; ++i) free(setup->inputs[i]);
    for (int i = 0; i < setup->output_count; ++i) free(setup->outputs[i]);
    free(setup->inputs);
    free(setup->outputs);
    *setup = (unit_setup){0};
}

// ---- text ----------------------------------------------------------------------------------------------------

bool unit_setup_write(hn_context *context, const unit_setup *setup,
                      void (*line)(void *user, const char *text), void *user)
{
    char text[UNIT_NAME_SIZE + 64], value[64];
    line(user, UNIT_SETUP_HEAD);
    snprintf(text, sizeof text, "token %s", setup->token);
    line(user, text);
    for (int i = 0; i < hn_simulation_option_count(); ++i) {
        const char *name = hn_simulation_option_name(i);
        if (hn_simulation_def_get(context, &setup->def, name, value, sizeof value) != HN_OK)
            return false;
        snprintf(text, sizeof text, "set %s %s", name, value);
        line(user, text);
    }
    for (int i = 0; i < setup->input_count; ++i) {
        snprintf(text, sizeof text, "input %s", setup->inputs[i]);
        line(user, text);
    }
    for (int i = 0; i < setup->output_count; ++i) {
        snprintf(text, sizeof text, "output %s", setup->outputs[i]);
        line(user, text);
    }
    return true;
}

// Is this line "WORD REST"? Then the rest.
static const char *after_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static bool read_line(hn_context *context, char *line, unit_setup *setup, char *message,
                      size_t size)
{
    const char *rest;
    if ((rest = after_word(line, "token")) != NULL) {
        snprintf(setup->token, sizeof setup->token, "%.39s", rest);
        return true;
    }
    if ((rest = after_word(line, "input")) != NULL && unit_setup_add_input(setup, rest))
        return true;
    if ((rest = after_word(line, "output")) != NULL && unit_setup_add_output(setup, rest))
        return true;
    if (after_word(line, "set") != NULL) {
        char *name = line + strlen("set "), *space = strchr(name, ' ');
        if (space != NULL) {
            *space = '\0';
            if (hn_simulation_def_set(context, &setup->def, name, space + 1) == HN_OK) return true;
            snprintf(message, size, "%s", hn_context_message(context));
            return false;
        }
    }
    snprintf(message, size, "%s: the line '%.100s' is not known", UNIT_SETUP_FILE, line);
    return false;
}

bool unit_setup_read(hn_context *context, const char *text, unit_setup *setup, char *message,
                     size_t size)
{
    *setup = (unit_setup){.def = hn_simulation_def_default()};
    char line[UNIT_NAME_SIZE + 64];
    for (int number = 0; *text != '\0'; ++number) {
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line) {
            snprintf(message, size, "%s: line %d is too long", UNIT_SETUP_FILE, number + 1);
            return false;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + (text[length] == '\n' ? 1 : 0);
        if (number == 0 && strcmp(line, UNIT_SETUP_HEAD) != 0) {
            snprintf(message, size, "%s: begins with '%.100s'; expected '%s'", UNIT_SETUP_FILE,
                     line, UNIT_SETUP_HEAD);
            return false;
        }
        if (number > 0 && length > 0 && !read_line(context, line, setup, message, size))
            return false;
    }
    if (setup->token[0] != '\0') return true;
    snprintf(message, size, "%s: has no token", UNIT_SETUP_FILE);
    return false;
}

// ---- variables -----------------------------------------------------------------------------------------------

static bool add(unit_variables *variables, unit_variable variable, const char *name, char *message,
                size_t size)
{
    if (variables->count == variables->capacity) {
        int capacity = 2 * variables->capacity + 64;
        unit_variable *grown = realloc(variables->list, (size_t)capacity * sizeof *grown);
        if (grown != NULL) variables->list = grown, variables->capacity = capacity;
    }
    variable.name = variables->count < variables->capacity ? copy_text(name) : NULL;
    if (variable.name == NULL) {
        snprintf(message, size, "no memory for its variables");
        return false;
    }
    variables->list[variables->count++] = variable;
    return true;
}

static bool add_parameters(const hn_model *model, unit_variables *to, char *message, size_t size)
{
    char name[UNIT_NAME_SIZE];
    unit_variable step = {
        .role = UNIT_STEP, .unit = "s", .meaning = "step inside of the unit; the steps of the master are multiples"};
    bool fine = add(to, (unit_variable){.role = UNIT_TIME, .unit = "s", .meaning = "time"}, "time",
                    message, size) &&
                add(to, step, "run/step", message, size);
    for (int i = 0; fine && i < hn_model_parameter_count(model); ++i) {
        unit_variable parameter = {.role = UNIT_PARAMETER,
                                   .index = i,
                                   .unit = "",
                                   .meaning = "parameter of the model file"};
        snprintf(name, sizeof name, "parameters/%.400s", hn_model_parameter_name(model, i));
        fine = add(to, parameter, name, message, size);
    }
    return fine;
}

static bool add_drive(const hn_model *model, int index, unit_variables *to, char *message,
                      size_t size)
{
    const char *word = hn_drive_kind_command(hn_model_drive_kind(model, index)), *unit;
    char name[UNIT_NAME_SIZE];
    const char *field = strcmp(word, "target") == 0 ? "drives/coordinate" : "drives/effort";
    if (hn_model_field_column(model, field, (size_t)index, name, sizeof name, &unit) != HN_OK)
        return false;
    unit_variable drive = {.role = UNIT_DRIVE, .index = index};
    drive.unit = strcmp(word, "command") == 0 ? "1" : unit;
    drive.meaning = "stands for the drive's function of time from the moment it is set";
    snprintf(name, sizeof name, "drives/%.400s/%s", hn_model_drive_name(model, index), word);
    return add(to, drive, name, message, size);
}

// Efforts on the coordinates of a joint, which begin at `first` of all.
static bool add_efforts(const hn_model *model, hn_joint_id joint, int first, unit_variables *to,
                        char *message, size_t size)
{
    char column[UNIT_NAME_SIZE], name[UNIT_NAME_SIZE];
    for (int i = 0; i < hn_model_joint_coordinate_count(model, joint); ++i) {
        const char *unit;
        if (hn_model_field_column(model, "joints/coordinates", (size_t)(first + i), column,
                                  sizeof column, &unit) != HN_OK)
            return false;
        unit_variable effort = {.role = UNIT_EFFORT, .index = first + i};
        effort.unit = strcmp(unit, "rad") == 0 ? "N m" : "N";
        effort.meaning = "on the coordinate of the joint, held over a step";
        snprintf(name, sizeof name, "joints/%.400s/effort/%.60s", hn_model_joint_name(model, joint),
                 strrchr(column, '/') + 1);
        if (!add(to, effort, name, message, size)) return false;
    }
    return true;
}

static bool add_input(const hn_model *model, const char *input, unit_variables *to, char *message,
                      size_t size)
{
    for (int i = 0; strncmp(input, "drives/", 7) == 0 && i < hn_model_drive_count(model); ++i) {
        if (strcmp(input + 7, hn_model_drive_name(model, i)) != 0) continue;
        if (hn_drive_kind_command(hn_model_drive_kind(model, i)) != NULL)
            return add_drive(model, i, to, message, size);
        snprintf(message, size,
                 "input '%.200s': a %s cannot be told anything; efforts, servos and motors can",
                 input, hn_drive_kind_name(hn_model_drive_kind(model, i)));
        return false;
    }
    int first = 0;
    for (int i = 0; strncmp(input, "joints/", 7) == 0 && i < hn_model_joint_count(model); ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        if (strcmp(input + 7, hn_model_joint_name(model, joint)) == 0)
            return add_efforts(model, joint, first, to, message, size);
        first += hn_model_joint_coordinate_count(model, joint);
    }
    snprintf(message, size,
             "input '%.200s': the model has no such drive or joint; expected drives/NAME or "
             "joints/NAME",
             input);
    return false;
}

static bool add_output(const hn_model *model, hn_simulation *simulation, const unit_setup *setup,
                       int field, unit_variables *to, char *message, size_t size)
{
    hn_view view;
    char name[UNIT_NAME_SIZE];
    hn_context *context = hn_model_context(model);
    unit_variable output = {.role = UNIT_OUTPUT, .index = field, .meaning = ""};
    if (hn_simulation_view(simulation, setup->outputs[field], &view) != HN_OK) {
        snprintf(message, size, "output: %s", hn_context_message(context));
        return false;
    }
    for (int i = 0; i < hn_field_count(); ++i)
        if (strcmp(hn_field_at(i).name, setup->outputs[field]) == 0)
            output.meaning = hn_field_at(i).meaning;
    size_t width = 1;
    for (int k = 0; k < view.rank; ++k) width *= view.shape[k];
    for (output.place = 0; output.place < width; ++output.place) {
        if (hn_model_field_column(model, setup->outputs[field], output.place, name, sizeof name,
                                  &output.unit) != HN_OK) {
            snprintf(message, size, "output: %s", hn_context_message(context));
            return false;
        }
        if (!add(to, output, name, message, size)) return false;
    }
    return true;
}

bool unit_variables_list(const hn_model *model, hn_simulation *simulation, const unit_setup *setup,
                         unit_variables *variables, char *message, size_t size)
{
    *variables = (unit_variables){0};
    bool fine = add_parameters(model, variables, message, size);
    for (int i = 0; fine && i < setup->input_count; ++i)
        fine = add_input(model, setup->inputs[i], variables, message, size);
    for (int i = 0; fine && i < setup->output_count; ++i)
        fine = add_output(model, simulation, setup, i, variables, message, size);
    return fine;
}

void unit_variables_clear(unit_variables *variables)
{
    for (int i = 0; i < variables->count; ++i) free(variables->list[i].name);
    free(variables->list);
    *variables = (unit_variables){0};
}

uint64_t unit_variables_identity(const unit_variables *variables)
{
    uint64_t hash = 14695981039346656037U; // FNV-1a
    for (int i = 0; i < variables->count; ++i) {
        const unit_variable *v = &variables->list[i];
        hash = (hash ^ (uint64_t)v->role) * 1099511628211U;
        for (const char *c = v->name; *c != '\0'; ++c)
            hash = (hash ^ (unsigned char)*c) * 1099511628211U;
    }
    return hash;
}
