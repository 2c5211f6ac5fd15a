// SPDX-License-Identifier: MIT
// Phases, variables and steps of a unit.
#include "unit.h"

#include "base/number_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An interval may differ from whole steps by this part of a step: masters add up their times.
static const double STEP_FRACTION = 1e-6;

// ---- messages ------------------------------------------------------------------------------------------------

static const char *category_of(unit_status status)
{
    static const char *const WORDS[] = {"logAll", "logStatusWarning", "logStatusDiscard",
                                        "logStatusError", "logStatusFatal"};
    return WORDS[status];
}

unit_status unit_say(unit *u, unit_status status, const char *format, ...)
{
    if (u->log == NULL || (status < UNIT_DISCARD && !u->logging)) return status;
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    u->log(u->log_user, status, category_of(status), text);
    return status;
}

static void say_line(const char *line, void *user)
{
    unit *u = user;
    unit_say(u, UNIT_WARNING, "%s", line);
}

static unit_status say_failure(unit *u, unit_status status)
{
    return unit_say(u, status, "%s", hn_context_message(u->context));
}

// ---- beginning and end ---------------------------------------------------------------------------------------

static char *read_resource(unit *u, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size), *text = NULL;
    FILE *file = NULL;
    if (path != NULL) {
        snprintf(path, size, "%s/%s", folder, name);
        file = fopen(path, "rb");
    }
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long length = ftell(file);
        if (length >= 0) text = malloc((size_t)length + 1);
        rewind(file);
        if (text != NULL && fread(text, 1, (size_t)length, file) != (size_t)length) {
            free(text);
            text = NULL;
        }
        if (text != NULL) text[length] = '\0';
    }
    if (file != NULL) fclose(file);
    if (text == NULL)
        unit_say(u, UNIT_ERROR, "%s/%s cannot be read: the folder of resources is not complete",
                 folder, name);
    free(path);
    return text;
}

// Model and simulation with the parameters as they are; what is there is replaced.
static bool build(unit *u, hn_model **model, hn_simulation **simulation)
{
    int count = 0;
    size_t number_size = NUMBER_TEXT_SIZE;
    hn_parameter *parameters = calloc((size_t)u->variables.count + 1, sizeof *parameters);
    char *texts = calloc((size_t)u->variables.count + 1, number_size);
    hn_simulation_def def = u->setup.def;
    bool fine = parameters != NULL && texts != NULL;
    for (int i = 0; fine && i < u->variables.count; ++i) {
        const unit_variable *v = &u->variables.list[i];
        if (v->role == UNIT_STEP && u->given[i]) def.step_size = u->values[i];
        if (v->role != UNIT_PARAMETER || !u->given[i]) continue;
        char *text = texts + number_size * (size_t)count;
        parameters[count++] =
            (hn_parameter){strchr(v->name, '/') + 1, number_text(u->values[i], text)};
    }
    if (!fine) unit_say(u, UNIT_ERROR, "no memory");
    fine = fine &&
           hn_model_parse_with(u->context, u->text, strlen(u->text), UNIT_MODEL_FILE, parameters,
                               count, model) == HN_OK &&
           hn_simulation_create(*model, &def, simulation) == HN_OK;
    if (!fine && parameters != NULL && texts != NULL) say_failure(u, UNIT_ERROR);
    free(parameters);
    free(texts);
    return fine;
}

static bool list_variables(unit *u, const hn_model *model, hn_simulation *simulation)
{
    char message[600] = "";
    unit_variables list = {0};
    bool fine =
        unit_variables_list(model, simulation, &u->setup, &list, message, sizeof message);
    if (!fine) unit_say(u, UNIT_ERROR, "%s", message);
    if (fine && u->variables.count > 0 && unit_variables_identity(&list) != u->identity) {
        fine = false;
        unit_say(u, UNIT_ERROR,
                 "these parameters change which variables the model has (%d, not %d): export it "
                 "with them instead",
                 list.count, u->variables.count);
    }
    if (!fine || u->variables.count > 0) {
        unit_variables_clear(&list);
        return fine;
    }
    u->identity = unit_variables_identity(&list);
    u->variables = list;
    u->values = calloc((size_t)list.count, sizeof *u->values);
    u->given = calloc((size_t)list.count, sizeof *u->given);
    if (u->values != NULL && u->given != NULL) return true;
    unit_say(u, UNIT_ERROR, "no memory");
    return false;
}

static void drop_simulation(unit *u)
{
    hn_simulation_destroy(u->simulation);
    hn_model_destroy(u->model);
    u->simulation = NULL;
    u->model = NULL;
    u->caution_count = 0;
}

static bool take_views(unit *u)
{
    for (int i = 0; i < u->setup.output_count; ++i)
        if (hn_simulation_view(u->simulation, u->setup.outputs[i], &u->views[i]) != HN_OK) {
            say_failure(u, UNIT_ERROR);
            return false;
        }
    return true;
}

static void take_outputs(unit *u)
{
    for (int i = 0; i < u->variables.count; ++i) {
        const unit_variable *v = &u->variables.list[i];
        if (v->role == UNIT_OUTPUT) u->values[i] = u->views[v->index].data[v->place];
    }
}

// A simulation that fits the parameters.
static bool prepare(unit *u)
{
    if (u->simulation != NULL) return true;
    bool fine = build(u, &u->model, &u->simulation) &&
                list_variables(u, u->model, u->simulation) && take_views(u);
    if (fine) take_outputs(u);
    else drop_simulation(u);
    return fine;
}

// Messages of the making go out before anyone can look at the unit.
static bool open_unit(unit *u, const char *token, const char *resources)
{
    char message[600] = "";
    char *setup = read_resource(u, resources, UNIT_SETUP_FILE);
    u->text = read_resource(u, resources, UNIT_MODEL_FILE);
    bool fine = setup != NULL && u->text != NULL;
    if (fine && !unit_setup_read(u->context, setup, &u->setup, message, sizeof message)) {
        unit_say(u, UNIT_ERROR, "%s", message);
        fine = false;
    }
    free(setup);
    if (fine && strcmp(token, u->setup.token) != 0) {
        unit_say(u, UNIT_ERROR, "the description is of another unit: its token is %.100s, here it is %s",
                 token, u->setup.token);
        fine = false;
    }
    if (fine) {
        u->views = calloc((size_t)u->setup.output_count + 1, sizeof *u->views);
        fine = u->views != NULL && prepare(u);
    }
    return fine;
}

unit *unit_create(const char *name, const char *token, const char *resources, bool logging,
                  unit_log_function log, void *log_user)
{
    unit *u = calloc(1, sizeof *u);
    if (u == NULL) return NULL;
    u->log = log;
    u->log_user = log_user;
    u->logging = logging;
    u->context = hn_context_create(NULL);
    u->name = malloc(strlen(name) + 1);
    if (u->context == NULL || u->name == NULL) {
        unit_say(u, UNIT_ERROR, "no memory");
        unit_destroy(u);
        return NULL;
    }
    strcpy(u->name, name);
    hn_context_set_log(u->context, say_line, u);
    if (open_unit(u, token, resources)) return u;
    unit_destroy(u);
    return NULL;
}

void unit_destroy(unit *u)
{
    if (u == NULL) return;
    drop_simulation(u);
    unit_variables_clear(&u->variables);
    unit_setup_clear(&u->setup);
    free(u->views);
    free(u->values);
    free(u->given);
    free(u->text);
    free(u->name);
    hn_context_destroy(u->context);
    free(u);
}

// ---- phases --------------------------------------------------------------------------------------------------

static unit_status wrong_phase(unit *u, const char *what)
{
    static const char *const WORDS[] = {"before its initialization", "during its initialization",
                                        "while it steps", "after its end"};
    return unit_say(u, UNIT_ERROR, "%s: not %s", what, WORDS[u->phase]);
}

unit_status unit_begin(unit *u, double start_time)
{
    if (u->phase != UNIT_INSTANTIATED) return wrong_phase(u, "entering the initialization");
    u->start_time = start_time;
    u->phase = UNIT_INITIALIZING;
    return prepare(u) ? UNIT_OK : UNIT_ERROR;
}

static bool is_said(const unit *u, const char *caution)
{
    for (int i = 0; i < u->caution_count; ++i)
        if (strcmp(u->cautions[i], caution) == 0) return true;
    return false;
}

// What makes numbers doubtful, each once; there may be others before those that were said.
static void say_cautions(unit *u)
{
    char line[UNIT_CAUTION_SIZE];
    int count = hn_simulation_caution(u->simulation, u->model, 0, NULL, 0);
    for (int i = 0; i < count; ++i) {
        hn_simulation_caution(u->simulation, u->model, i, line, sizeof line);
        if (is_said(u, line)) continue;
        unit_say(u, UNIT_WARNING, "%s", line);
        if (u->caution_count < UNIT_CAUTIONS_MAX)
            memcpy(u->cautions[u->caution_count++], line, sizeof line);
    }
}

unit_status unit_finish_initialization(unit *u)
{
    if (u->phase != UNIT_INITIALIZING) return wrong_phase(u, "ending the initialization");
    if (!prepare(u)) return UNIT_ERROR;
    say_cautions(u);
    u->phase = UNIT_STEPPING;
    return UNIT_OK;
}

unit_status unit_terminate(unit *u)
{
    if (u->phase != UNIT_STEPPING) return wrong_phase(u, "the end");
    say_cautions(u);
    u->phase = UNIT_TERMINATED;
    return UNIT_OK;
}

unit_status unit_reset(unit *u)
{
    drop_simulation(u);
    memset(u->given, 0, (size_t)u->variables.count * sizeof *u->given);
    memset(u->values, 0, (size_t)u->variables.count * sizeof *u->values);
    u->phase = UNIT_INSTANTIATED;
    u->start_time = 0.0;
    return prepare(u) ? UNIT_OK : UNIT_ERROR;
}

// ---- variables -----------------------------------------------------------------------------------------------

double unit_time(const unit *u)
{
    return u->start_time + (u->simulation == NULL ? 0.0 : hn_simulation_time(u->simulation));
}

static double value_of(const unit *u, int index)
{
    const unit_variable *v = &u->variables.list[index];
    if (v->role == UNIT_TIME) return unit_time(u);
    if (v->role == UNIT_OUTPUT || u->given[index]) return u->values[index];
    if (v->role == UNIT_STEP) return hn_simulation_step_size(u->simulation);
    if (v->role == UNIT_PARAMETER) return hn_model_parameter_value(u->model, v->index);
    if (v->role == UNIT_EFFORT) return 0.0;
    return hn_model_drive_command(u->model, v->index, hn_simulation_time(u->simulation));
}

static unit_status check_reference(unit *u, uint32_t reference)
{
    if (reference < (uint32_t)u->variables.count) return UNIT_OK;
    return unit_say(u, UNIT_ERROR, "there is no variable with the reference %u", reference);
}

unit_status unit_get(unit *u, const uint32_t *references, size_t count, double *values)
{
    if (!prepare(u)) return UNIT_ERROR;
    for (size_t i = 0; i < count; ++i) {
        if (check_reference(u, references[i]) != UNIT_OK) return UNIT_ERROR;
        values[i] = value_of(u, (int)references[i]);
    }
    return UNIT_OK;
}

static unit_status set_one(unit *u, int index, double value)
{
    const unit_variable *v = &u->variables.list[index];
    bool input = v->role == UNIT_DRIVE || v->role == UNIT_EFFORT;
    if (v->role == UNIT_OUTPUT || v->role == UNIT_TIME)
        return unit_say(u, UNIT_ERROR, "'%s' is %s: it cannot be set", v->name,
                        v->role == UNIT_TIME ? "the time" : "an output");
    if (!isfinite(value) && !(v->role == UNIT_DRIVE && isnan(value)))
        return unit_say(u, UNIT_ERROR, "'%s' was set to %g; expected a finite number", v->name,
                        value);
    if (input) {
        u->given[index] = !isnan(value);
        u->values[index] = value;
        return UNIT_OK;
    }
    if (u->phase > UNIT_INITIALIZING)
        return unit_say(u, UNIT_ERROR,
                        "'%s' is a parameter: it can be set until the initialization ends",
                        v->name);
    if (v->role == UNIT_STEP && value <= 0.0)
        return unit_say(u, UNIT_ERROR, "'%s' was set to %g; expected a positive number", v->name,
                        value);
    if (u->given[index] ? u->values[index] == value : value_of(u, index) == value) return UNIT_OK;
    u->given[index] = true;
    u->values[index] = value;
    drop_simulation(u);
    return UNIT_OK;
}

unit_status unit_set(unit *u, const uint32_t *references, size_t count, const double *values)
{
    for (size_t i = 0; i < count; ++i) {
        // a parameter is compared with the value it has, which needs the model
        if (check_reference(u, references[i]) != UNIT_OK) return UNIT_ERROR;
        if (u->simulation == NULL && !u->given[references[i]] && !prepare(u)) return UNIT_ERROR;
        if (set_one(u, (int)references[i], values[i]) != UNIT_OK) return UNIT_ERROR;
    }
    return UNIT_OK;
}

// ---- steps ---------------------------------------------------------------------------------------------------

static bool give_inputs(unit *u)
{
    if (u->setup.input_count == 0) return true;
    hn_input commands = {0}, efforts = {0};
    if (hn_simulation_input(u->simulation, "drives/command", &commands) != HN_OK ||
        hn_simulation_input(u->simulation, "joints/effort", &efforts) != HN_OK) {
        say_failure(u, UNIT_ERROR);
        return false;
    }
    for (int i = 0; i < u->variables.count; ++i) {
        const unit_variable *v = &u->variables.list[i];
        if (v->role == UNIT_DRIVE)
            commands.data[v->index] = u->given[i] ? u->values[i] : (double)NAN;
        if (v->role == UNIT_EFFORT) efforts.data[v->index] = u->given[i] ? u->values[i] : 0.0;
    }
    return true;
}

// Steps until the end of the interval; -1 after a message.
static int64_t count_steps(unit *u, double time, double interval)
{
    double h = hn_simulation_step_size(u->simulation);
    double done = (double)hn_simulation_step_count(u->simulation);
    double at = (time - u->start_time) / h, end = (time + interval - u->start_time) / h;
    // round-off of times that a master adds up
    double slack = STEP_FRACTION + 4.0 * 2.3e-16 * fabs(time / h);
    if (!(fabs(at - done) <= slack)) {
        unit_say(u, UNIT_ERROR, "the master is at %.15g s, the unit at %.15g s", time,
                 unit_time(u));
        return -1;
    }
    double steps = round(end - done);
    if (interval > 0.0 && steps >= 1.0 && fabs(end - done - steps) <= slack) return (int64_t)steps;
    unit_say(u, UNIT_ERROR,
             "the interval %.15g s is not a whole number of steps of %.15g s: choose a multiple, or "
             "set 'run/step'",
             interval, h);
    return -1;
}

unit_status unit_do_step(unit *u, double time, double interval, unit_between_function between,
                         void *user, double *reached)
{
    *reached = unit_time(u);
    if (u->phase != UNIT_STEPPING) return wrong_phase(u, "a step");
    int64_t count = count_steps(u, time, interval);
    if (count < 0) return UNIT_ERROR; // discarded steps are tried again and again by some masters
    if (!give_inputs(u)) return UNIT_ERROR;
    hn_status status = HN_OK;
    bool stopped = false;
    if (between == NULL) status = hn_simulation_step(u->simulation, count);
    for (int64_t i = 0; between != NULL && i < count && status == HN_OK && !stopped; ++i) {
        status = hn_simulation_step(u->simulation, 1);
        if (status != HN_OK) break;
        take_outputs(u);
        stopped = between(user, unit_time(u)) && i + 1 < count;
    }
    take_outputs(u);
    *reached = unit_time(u);
    if (status != HN_OK)
        return say_failure(u, status == HN_CANCELLED ? UNIT_DISCARD : UNIT_ERROR);
    return stopped ? UNIT_DISCARD : UNIT_OK;
}

void unit_cancel(unit *u)
{
    hn_context_cancel(u->context);
}

// ---- states --------------------------------------------------------------------------------------------------

/// What stands before the numbers of a state: values and marks of all variables, then the snapshot.
typedef struct state_head {
    char magic[8];
    uint64_t size, checksum; ///< of everything behind the checksum
    uint64_t identity;       ///< of the unit
    uint64_t variable_count, snapshot_size;
    uint64_t phase;
    double start_time;
} state_head;

static const char STATE_MAGIC[8] = "HNUNIT1";

static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = 14695981039346656037U; // FNV-1a
    for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
    return hash;
}

static uint64_t state_checksum(const unit_state *state)
{
    size_t from = offsetof(state_head, checksum) + sizeof(uint64_t);
    return checksum_of(state->bytes + from, state->size - from);
}

static uint64_t unit_identity(const unit *u)
{
    return u->identity ^ checksum_of((const unsigned char *)u->setup.token, strlen(u->setup.token));
}

unit_status unit_save(unit *u, unit_state **state)
{
    if (!prepare(u) || !give_inputs(u)) return UNIT_ERROR;
    size_t count = (size_t)u->variables.count, snapshot = hn_simulation_snapshot_size(u->simulation);
    size_t size = sizeof(state_head) + count * (sizeof(double) + 1) + snapshot;
    if (*state == NULL || (*state)->size != size) {
        unit_state *fresh = realloc(*state, sizeof *fresh + size);
        if (fresh == NULL) return unit_say(u, UNIT_ERROR, "no memory for a state");
        *state = fresh;
        fresh->size = size;
    }
    state_head head = {.size = size,
                       .identity = unit_identity(u),
                       .variable_count = count,
                       .snapshot_size = snapshot,
                       .phase = u->phase,
                       .start_time = u->start_time};
    memcpy(head.magic, STATE_MAGIC, sizeof head.magic);
    unsigned char *to = (*state)->bytes + sizeof head;
    memcpy(to, u->values, count * sizeof(double));
    to += count * sizeof(double);
    for (size_t i = 0; i < count; ++i) *to++ = u->given[i];
    if (hn_simulation_save(u->simulation, to, snapshot) != HN_OK) return say_failure(u, UNIT_ERROR);
    memcpy((*state)->bytes, &head, sizeof head);
    head.checksum = state_checksum(*state);
    memcpy((*state)->bytes, &head, sizeof head);
    return UNIT_OK;
}

static unit_status check_state(unit *u, const unit_state *state, state_head *head)
{
    bool whole = state->size >= sizeof *head;
    if (whole) memcpy(head, state->bytes, sizeof *head);
    whole = whole && memcmp(head->magic, STATE_MAGIC, sizeof head->magic) == 0 &&
            head->size == state->size && head->checksum == state_checksum(state);
    if (!whole) return unit_say(u, UNIT_ERROR, "the state is damaged, or none of this program");
    if (head->identity == unit_identity(u) &&
        head->variable_count == (uint64_t)u->variables.count &&
        state->size == sizeof *head + head->variable_count * (sizeof(double) + 1) +
                           head->snapshot_size)
        return UNIT_OK;
    return unit_say(u, UNIT_ERROR, "the state is of another unit");
}

// Take values and marks; a simulation with other parameters goes.
static void take_values(unit *u, const unsigned char *from)
{
    const unsigned char *marks = from + (size_t)u->variables.count * sizeof(double);
    for (int i = 0; i < u->variables.count; ++i) {
        const unit_variable *v = &u->variables.list[i];
        double value;
        memcpy(&value, from + (size_t)i * sizeof value, sizeof value);
        bool given = marks[i] != 0, parameter = v->role == UNIT_PARAMETER || v->role == UNIT_STEP;
        if (parameter && (given != u->given[i] || (given && value != u->values[i])))
            drop_simulation(u);
        u->values[i] = value;
        u->given[i] = given;
    }
}

unit_status unit_restore(unit *u, const unit_state *state)
{
    state_head head;
    if (check_state(u, state, &head) != UNIT_OK) return UNIT_ERROR;
    const unsigned char *from = state->bytes + sizeof head;
    take_values(u, from);
    if (!prepare(u)) return UNIT_ERROR;
    take_values(u, from); // preparing has put the outputs of the start
    const unsigned char *snapshot = from + head.variable_count * (sizeof(double) + 1);
    if (hn_simulation_restore(u->simulation, snapshot, head.snapshot_size) != HN_OK)
        return say_failure(u, UNIT_ERROR);
    u->phase = (unit_phase)head.phase;
    u->start_time = head.start_time;
    return UNIT_OK;
}

unit_status unit_state_from_bytes(unit *u, const void *bytes, size_t size, unit_state **state)
{
    unit_state *fresh = malloc(sizeof *fresh + size);
    if (fresh == NULL) return unit_say(u, UNIT_ERROR, "no memory for a state");
    fresh->size = size;
    memcpy(fresh->bytes, bytes, size);
    state_head head;
    if (check_state(u, fresh, &head) != UNIT_OK) {
        free(fresh);
        return UNIT_ERROR;
    }
    free(*state);
    *state = fresh;
    return UNIT_OK;
}
