// SPDX-License-Identifier: MIT
// The functions of FMI 2.0 for co-simulation.
#include "fmi2.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define FMI_API __attribute__((visibility("default")))
#else
#define FMI_API
#endif

/// Functions are found by their names; the standard's headers declare them too.
#define FUNCTION(type, name, parameters)                                                           \
    FMI_API type name parameters;                                                                  \
    type name parameters

typedef struct instance2 {
    unit *unit;
    const fmi2CallbackFunctions *functions;
    char *name;
    double reached;    ///< s: end of the last completed step
    bool failed;       ///< did the last communication step end early?
} instance2;

// A message is a format to the master.
static void log_message(void *user, unit_status status, const char *category, const char *message)
{
    const instance2 *i = user;
    if (i->functions == NULL || i->functions->logger == NULL) return;
    char text[4096];
    size_t to = 0;
    for (const char *from = message; *from != '\0' && to + 3 < sizeof text; ++from) {
        if (*from == '%') text[to++] = '%';
        text[to++] = *from;
    }
    text[to] = '\0';
    i->functions->logger(i->functions->componentEnvironment, i->name, (fmi2Status)status, category,
                         text);
}

static fmi2Status result(unit_status status)
{
    return (fmi2Status)status; // in the same order
}

// "file:///a%20b" as a path; owned by the caller.
static char *path_of(const char *location)
{
    const char *from = location;
    if (strncmp(from, "file:", 5) == 0) {
        from += 5;
        if (strncmp(from, "//", 2) == 0) {
            from += 2;
            from += strcspn(from, "/"); // a host
        }
    }
    bool encoded = from != location;
    char *path = malloc(strlen(from) + 1), *to = path;
    for (; path != NULL && *from != '\0'; ++from) {
        char digits[3] = {from[0], from[0] == '\0' ? '\0' : from[1], '\0'}, *end;
        if (encoded && *from == '%' && from[1] != '\0' && from[2] != '\0') {
            digits[0] = from[1];
            digits[1] = from[2];
            long byte = strtol(digits, &end, 16);
            if (*end == '\0') {
                *to++ = (char)byte;
                from += 2;
                continue;
            }
        }
        *to++ = *from;
    }
    if (path != NULL) *to = '\0';
    return path;
}

FUNCTION(const char *, fmi2GetTypesPlatform, (void))
{
    return "default";
}

FUNCTION(const char *, fmi2GetVersion, (void))
{
    return "2.0";
}

FUNCTION(fmi2Status, fmi2SetDebugLogging,
         (fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
          const fmi2String categories[]))
{
    (void)nCategories, (void)categories;
    ((instance2 *)c)->unit->logging = loggingOn != 0;
    return fmi2OK;
}

FUNCTION(void, fmi2FreeInstance, (fmi2Component c))
{
    instance2 *i = c;
    if (i == NULL) return;
    unit_destroy(i->unit);
    free(i->name);
    free(i);
}

FUNCTION(fmi2Component, fmi2Instantiate,
         (fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
          fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
          fmi2Boolean visible, fmi2Boolean loggingOn))
{
    (void)visible;
    if (functions == NULL) return NULL;
    const char *name = instanceName == NULL ? "" : instanceName;
    instance2 *i = calloc(1, sizeof *i);
    char *path = fmuResourceLocation == NULL ? NULL : path_of(fmuResourceLocation);
    if (i != NULL) {
        i->functions = functions;
        i->name = malloc(strlen(name) + 1);
        if (i->name != NULL) strcpy(i->name, name);
        const char *wrong = i->name == NULL               ? "no memory"
                            : fmuType != fmi2CoSimulation ? "this is a unit for co-simulation"
                            : path == NULL || fmuGUID == NULL ? "needs the folder of resources and a GUID"
                                                              : NULL;
        if (wrong != NULL) log_message(i, UNIT_ERROR, "logStatusError", wrong);
        else i->unit = unit_create(name, fmuGUID, path, loggingOn != 0, log_message, i);
        if (i->unit == NULL) {
            fmi2FreeInstance(i);
            i = NULL;
        }
    }
    free(path);
    return i;
}

// ---- phases --------------------------------------------------------------------------------------------------

FUNCTION(fmi2Status, fmi2SetupExperiment,
         (fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
          fmi2Boolean stopTimeDefined, fmi2Real stopTime))
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    ((instance2 *)c)->unit->start_time = startTime;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2EnterInitializationMode, (fmi2Component c))
{
    instance2 *i = c;
    return result(unit_begin(i->unit, i->unit->start_time));
}

FUNCTION(fmi2Status, fmi2ExitInitializationMode, (fmi2Component c))
{
    instance2 *i = c;
    i->reached = i->unit->start_time;
    return result(unit_finish_initialization(i->unit));
}

FUNCTION(fmi2Status, fmi2Terminate, (fmi2Component c))
{
    return result(unit_terminate(((instance2 *)c)->unit));
}

FUNCTION(fmi2Status, fmi2Reset, (fmi2Component c))
{
    return result(unit_reset(((instance2 *)c)->unit));
}

// ---- variables: all of them are real -------------------------------------------------------------------------

FUNCTION(fmi2Status, fmi2GetReal,
         (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]))
{
    return result(unit_get(((instance2 *)c)->unit, vr, nvr, value));
}

FUNCTION(fmi2Status, fmi2SetReal,
         (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]))
{
    return result(unit_set(((instance2 *)c)->unit, vr, nvr, value));
}

static fmi2Status none_of(fmi2Component c, size_t count, const char *kind)
{
    if (count == 0) return fmi2OK;
    return result(unit_say(((instance2 *)c)->unit, UNIT_ERROR,
                           "there are no %s variables, only real ones", kind));
}

#define NO_VARIABLES(Kind, type, word)                                                             \
    FUNCTION(fmi2Status, fmi2Get##Kind,                                                            \
             (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, type value[]))           \
    {                                                                                              \
        (void)vr, (void)value;                                                                     \
        return none_of(c, nvr, word);                                                              \
    }                                                                                              \
    FUNCTION(fmi2Status, fmi2Set##Kind,                                                            \
             (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const type value[]))     \
    {                                                                                              \
        (void)vr, (void)value;                                                                     \
        return none_of(c, nvr, word);                                                              \
    }
NO_VARIABLES(Integer, fmi2Integer, "integer")
NO_VARIABLES(Boolean, fmi2Boolean, "boolean")
NO_VARIABLES(String, fmi2String, "string")

static fmi2Status no_such(fmi2Component c, const char *what)
{
    return result(unit_say(((instance2 *)c)->unit, UNIT_ERROR, "%s: not offered by this unit", what));
}

FUNCTION(fmi2Status, fmi2GetDirectionalDerivative,
         (fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
          const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
          fmi2Real dvUnknown[]))
{
    (void)vUnknown_ref, (void)nUnknown, (void)vKnown_ref, (void)nKnown, (void)dvKnown;
    (void)dvUnknown;
    return no_such(c, "directional derivatives");
}

FUNCTION(fmi2Status, fmi2SetRealInputDerivatives,
         (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer order[],
          const fmi2Real value[]))
{
    (void)vr, (void)nvr, (void)order, (void)value;
    return no_such(c, "derivatives of inputs");
}

FUNCTION(fmi2Status, fmi2GetRealOutputDerivatives,
         (fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer order[],
          fmi2Real value[]))
{
    (void)vr, (void)nvr, (void)order, (void)value;
    return no_such(c, "derivatives of outputs");
}

// ---- states --------------------------------------------------------------------------------------------------

FUNCTION(fmi2Status, fmi2GetFMUstate, (fmi2Component c, fmi2FMUstate *FMUstate))
{
    unit_state *state = *FMUstate;
    unit_status status = unit_save(((instance2 *)c)->unit, &state);
    *FMUstate = state;
    return result(status);
}

FUNCTION(fmi2Status, fmi2SetFMUstate, (fmi2Component c, fmi2FMUstate FMUstate))
{
    instance2 *i = c;
    if (FMUstate == NULL) return no_such(c, "a state that is NULL");
    unit_status status = unit_restore(i->unit, FMUstate);
    i->reached = unit_time(i->unit);
    i->failed = false;
    return result(status);
}

FUNCTION(fmi2Status, fmi2FreeFMUstate, (fmi2Component c, fmi2FMUstate *FMUstate))
{
    (void)c;
    if (FMUstate == NULL) return fmi2OK;
    free(*FMUstate);
    *FMUstate = NULL;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2SerializedFMUstateSize,
         (fmi2Component c, fmi2FMUstate FMUstate, size_t *size))
{
    if (FMUstate == NULL) return no_such(c, "a state that is NULL");
    *size = ((unit_state *)FMUstate)->size;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2SerializeFMUstate,
         (fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size))
{
    const unit_state *state = FMUstate;
    if (state == NULL || size < state->size) return no_such(c, "a state in so few bytes");
    memcpy(serializedState, state->bytes, state->size);
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2DeSerializeFMUstate,
         (fmi2Component c, const fmi2Byte serializedState[], size_t size, fmi2FMUstate *FMUstate))
{
    unit_state *state = *FMUstate;
    unit_status status =
        unit_state_from_bytes(((instance2 *)c)->unit, serializedState, size, &state);
    *FMUstate = state;
    return result(status);
}

// ---- steps ---------------------------------------------------------------------------------------------------

FUNCTION(fmi2Status, fmi2DoStep,
         (fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
          fmi2Boolean noSetFMUStatePriorToCurrentPoint))
{
    (void)noSetFMUStatePriorToCurrentPoint;
    instance2 *i = c;
    unit_status status = unit_do_step(i->unit, currentCommunicationPoint, communicationStepSize,
                                      NULL, NULL, &i->reached);
    i->failed = status != UNIT_OK;
    return result(status);
}

FUNCTION(fmi2Status, fmi2CancelStep, (fmi2Component c))
{
    unit_cancel(((instance2 *)c)->unit);
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2GetStatus, (fmi2Component c, const fmi2StatusKind s, fmi2Status *value))
{
    if (s != fmi2DoStepStatus) return fmi2Discard;
    *value = ((instance2 *)c)->failed ? fmi2Discard : fmi2OK;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2GetRealStatus, (fmi2Component c, const fmi2StatusKind s, fmi2Real *value))
{
    if (s != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = ((instance2 *)c)->reached;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2GetIntegerStatus,
         (fmi2Component c, const fmi2StatusKind s, fmi2Integer *value))
{
    (void)c, (void)s, (void)value;
    return fmi2Discard;
}

FUNCTION(fmi2Status, fmi2GetBooleanStatus,
         (fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value))
{
    (void)c;
    if (s != fmi2Terminated) return fmi2Discard;
    *value = 0;
    return fmi2OK;
}

FUNCTION(fmi2Status, fmi2GetStringStatus,
         (fmi2Component c, const fmi2StatusKind s, fmi2String *value))
{
    if (s != fmi2PendingStatus) return fmi2Discard;
    (void)c;
    *value = "";
    return fmi2OK;
}
