// SPDX-License-Identifier: MIT
// The functions of FMI 3.0 for co-simulation.
#include "fmi3.h"

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

typedef struct instance3 {
    unit *unit;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback between; ///< or NULL
    bool may_return_early;
} instance3;

static void log_message(void *user, unit_status status, const char *category, const char *message)
{
    const instance3 *i = user;
    if (i->log != NULL) i->log(i->environment, (fmi3Status)status, category, message);
}

static fmi3Status result(unit_status status)
{
    return (fmi3Status)status; // in the same order
}

static unit *unit_of(fmi3Instance instance)
{
    return ((instance3 *)instance)->unit;
}

static fmi3Status not_offered(fmi3Instance instance, const char *what)
{
    return result(unit_say(unit_of(instance), UNIT_ERROR, "%s: not offered by this unit", what));
}

FUNCTION(const char *, fmi3GetVersion, (void))
{
    return "3.0";
}

FUNCTION(fmi3Status, fmi3SetDebugLogging,
         (fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
          const fmi3String categories[]))
{
    (void)nCategories, (void)categories;
    unit_of(instance)->logging = loggingOn;
    return fmi3OK;
}

// ---- beginning and end ---------------------------------------------------------------------------------------

FUNCTION(void, fmi3FreeInstance, (fmi3Instance instance))
{
    if (instance == NULL) return;
    unit_destroy(unit_of(instance));
    free(instance);
}

FUNCTION(fmi3Instance, fmi3InstantiateCoSimulation,
         (fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
          fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed,
          fmi3Boolean earlyReturnAllowed, const fmi3ValueReference requiredIntermediateVariables[],
          size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
          fmi3LogMessageCallback logMessage, fmi3IntermediateUpdateCallback intermediateUpdate))
{
    (void)visible, (void)requiredIntermediateVariables, (void)nRequiredIntermediateVariables;
    instance3 *i = calloc(1, sizeof *i);
    if (i == NULL) return NULL;
    *i = (instance3){.environment = instanceEnvironment,
                     .log = logMessage,
                     .between = intermediateUpdate,
                     .may_return_early = earlyReturnAllowed};
    if (eventModeUsed)
        log_message(i, UNIT_ERROR, "logStatusError", "this unit has no event mode");
    else if (resourcePath == NULL || instantiationToken == NULL)
        log_message(i, UNIT_ERROR, "logStatusError", "needs the folder of resources and a token");
    else
        i->unit = unit_create(instanceName == NULL ? "" : instanceName, instantiationToken,
                              resourcePath, loggingOn, log_message, i);
    if (i->unit != NULL) return i;
    free(i);
    return NULL;
}

static fmi3Instance not_instantiated(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    if (log != NULL)
        log(environment, fmi3Error, "logStatusError", "this is a unit for co-simulation");
    return NULL;
}

FUNCTION(fmi3Instance, fmi3InstantiateModelExchange,
         (fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
          fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
          fmi3LogMessageCallback logMessage))
{
    (void)instanceName, (void)instantiationToken, (void)resourcePath, (void)visible;
    (void)loggingOn;
    return not_instantiated(instanceEnvironment, logMessage);
}

FUNCTION(fmi3Instance, fmi3InstantiateScheduledExecution,
         (fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
          fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
          fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
          fmi3LockPreemptionCallback lockPreemption,
          fmi3UnlockPreemptionCallback unlockPreemption))
{
    (void)instanceName, (void)instantiationToken, (void)resourcePath, (void)visible;
    (void)loggingOn, (void)clockUpdate, (void)lockPreemption, (void)unlockPreemption;
    return not_instantiated(instanceEnvironment, logMessage);
}

// ---- phases --------------------------------------------------------------------------------------------------

FUNCTION(fmi3Status, fmi3EnterInitializationMode,
         (fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
          fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime))
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    return result(unit_begin(unit_of(instance), startTime));
}

FUNCTION(fmi3Status, fmi3ExitInitializationMode, (fmi3Instance instance))
{
    return result(unit_finish_initialization(unit_of(instance)));
}

FUNCTION(fmi3Status, fmi3Terminate, (fmi3Instance instance))
{
    return result(unit_terminate(unit_of(instance)));
}

FUNCTION(fmi3Status, fmi3Reset, (fmi3Instance instance))
{
    return result(unit_reset(unit_of(instance)));
}

// ---- variables: all are Float64 scalars ------------------------------------------------------------------------

FUNCTION(fmi3Status, fmi3GetFloat64,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, fmi3Float64 values[], size_t nValues))
{
    if (nValues != nValueReferences)
        return not_offered(instance, "another number of values than of references");
    return result(unit_get(unit_of(instance), valueReferences, nValueReferences, values));
}

FUNCTION(fmi3Status, fmi3SetFloat64,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, const fmi3Float64 values[], size_t nValues))
{
    if (nValues != nValueReferences)
        return not_offered(instance, "another number of values than of references");
    return result(unit_set(unit_of(instance), valueReferences, nValueReferences, values));
}

static fmi3Status none_of(fmi3Instance instance, size_t count)
{
    return count == 0 ? fmi3OK : not_offered(instance, "variables other than Float64");
}

#define NO_VARIABLES(Kind)                                                                         \
    FUNCTION(fmi3Status, fmi3Get##Kind,                                                            \
             (fmi3Instance instance, const fmi3ValueReference valueReferences[],                   \
              size_t nValueReferences, fmi3##Kind values[], size_t nValues))                       \
    {                                                                                              \
        (void)valueReferences, (void)values, (void)nValues;                                        \
        return none_of(instance, nValueReferences);                                                \
    }                                                                                              \
    FUNCTION(fmi3Status, fmi3Set##Kind,                                                            \
             (fmi3Instance instance, const fmi3ValueReference valueReferences[],                   \
              size_t nValueReferences, const fmi3##Kind values[], size_t nValues))                 \
    {                                                                                              \
        (void)valueReferences, (void)values, (void)nValues;                                        \
        return none_of(instance, nValueReferences);                                                \
    }
NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

FUNCTION(fmi3Status, fmi3GetBinary,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, size_t valueSizes[], fmi3Binary values[], size_t nValues))
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return none_of(instance, nValueReferences);
}

FUNCTION(fmi3Status, fmi3SetBinary,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, const size_t valueSizes[], const fmi3Binary values[],
          size_t nValues))
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return none_of(instance, nValueReferences);
}

FUNCTION(fmi3Status, fmi3GetClock,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, fmi3Clock values[]))
{
    (void)valueReferences, (void)values;
    return none_of(instance, nValueReferences);
}

FUNCTION(fmi3Status, fmi3SetClock,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, const fmi3Clock values[]))
{
    (void)valueReferences, (void)values;
    return none_of(instance, nValueReferences);
}

FUNCTION(fmi3Status, fmi3GetNumberOfVariableDependencies,
         (fmi3Instance instance, fmi3ValueReference valueReference, size_t *nDependencies))
{
    (void)valueReference, (void)nDependencies;
    return not_offered(instance, "dependencies of elements");
}

FUNCTION(fmi3Status, fmi3GetVariableDependencies,
         (fmi3Instance instance, fmi3ValueReference dependent,
          size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
          size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
          size_t nDependencies))
{
    (void)dependent, (void)elementIndicesOfDependent, (void)independents;
    (void)elementIndicesOfIndependents, (void)dependencyKinds, (void)nDependencies;
    return not_offered(instance, "dependencies of elements");
}

// ---- states --------------------------------------------------------------------------------------------------

FUNCTION(fmi3Status, fmi3GetFMUState, (fmi3Instance instance, fmi3FMUState *FMUState))
{
    unit_state *state = *FMUState;
    unit_status status = unit_save(unit_of(instance), &state);
    *FMUState = state;
    return result(status);
}

FUNCTION(fmi3Status, fmi3SetFMUState, (fmi3Instance instance, fmi3FMUState FMUState))
{
    if (FMUState == NULL) return not_offered(instance, "a state that is NULL");
    return result(unit_restore(unit_of(instance), FMUState));
}

FUNCTION(fmi3Status, fmi3FreeFMUState, (fmi3Instance instance, fmi3FMUState *FMUState))
{
    (void)instance;
    if (FMUState == NULL) return fmi3OK;
    free(*FMUState);
    *FMUState = NULL;
    return fmi3OK;
}

FUNCTION(fmi3Status, fmi3SerializedFMUStateSize,
         (fmi3Instance instance, fmi3FMUState FMUState, size_t *size))
{
    if (FMUState == NULL) return not_offered(instance, "a state that is NULL");
    *size = ((unit_state *)FMUState)->size;
    return fmi3OK;
}

FUNCTION(fmi3Status, fmi3SerializeFMUState,
         (fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size))
{
    const unit_state *state = FMUState;
    if (state == NULL || size < state->size)
        return not_offered(instance, "a state in so few bytes");
    memcpy(serializedState, state->bytes, state->size);
    return fmi3OK;
}

FUNCTION(fmi3Status, fmi3DeserializeFMUState,
         (fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
          fmi3FMUState *FMUState))
{
    unit_state *state = *FMUState;
    unit_status status = unit_state_from_bytes(unit_of(instance), serializedState, size, &state);
    *FMUState = state;
    return result(status);
}

// ---- steps ---------------------------------------------------------------------------------------------------

/// What is told to the master between two internal steps, and what it asked for.
typedef struct between_steps {
    instance3 *instance;
    bool asked;
} between_steps;

static bool between(void *user, double time)
{
    between_steps *b = user;
    instance3 *i = b->instance;
    fmi3Boolean requested = false;
    fmi3Float64 until = time;
    i->between(i->environment, time, false, true, true, i->may_return_early, &requested, &until);
    // a time between steps cannot be met: the first completed step at or after it
    b->asked = b->asked || (requested && i->may_return_early && until <= time);
    return b->asked;
}

FUNCTION(fmi3Status, fmi3DoStep,
         (fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
          fmi3Float64 communicationStepSize, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
          fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
          fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime))
{
    (void)noSetFMUStatePriorToCurrentPoint;
    instance3 *i = instance;
    between_steps steps = {.instance = i};
    *eventHandlingNeeded = false;
    *terminateSimulation = false;
    *earlyReturn = false;
    unit_status status =
        unit_do_step(i->unit, currentCommunicationPoint, communicationStepSize,
                     i->between == NULL ? NULL : between, &steps, lastSuccessfulTime);
    if (status != UNIT_DISCARD || !steps.asked) return result(status);
    *earlyReturn = true;
    return fmi3OK;
}

FUNCTION(fmi3Status, fmi3EnterStepMode, (fmi3Instance instance))
{
    return not_offered(instance, "event mode");
}

FUNCTION(fmi3Status, fmi3GetOutputDerivatives,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues))
{
    (void)valueReferences, (void)nValueReferences, (void)orders, (void)values, (void)nValues;
    return not_offered(instance, "derivatives of outputs");
}

// ---- what the standard names and this unit does not offer -----------------------------------------------------

#define NOT_OFFERED(name, what)                                                                    \
    FUNCTION(fmi3Status, name, (fmi3Instance instance))                                            \
    {                                                                                              \
        return not_offered(instance, what);                                                        \
    }
NOT_OFFERED(fmi3EnterEventMode, "event mode")
NOT_OFFERED(fmi3EnterConfigurationMode, "configuration mode")
NOT_OFFERED(fmi3ExitConfigurationMode, "configuration mode")
NOT_OFFERED(fmi3EvaluateDiscreteStates, "discrete states")
NOT_OFFERED(fmi3EnterContinuousTimeMode, "continuous time mode")

#define NO_DERIVATIVE(name)                                                                        \
    FUNCTION(fmi3Status, name,                                                                     \
             (fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,        \
              const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],         \
              size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity))                       \
    {                                                                                              \
        (void)unknowns, (void)nUnknowns, (void)knowns, (void)nKnowns, (void)seed, (void)nSeed;     \
        (void)sensitivity, (void)nSensitivity;                                                     \
        return not_offered(instance, "derivatives");                                               \
    }
NO_DERIVATIVE(fmi3GetDirectionalDerivative)
NO_DERIVATIVE(fmi3GetAdjointDerivative)

FUNCTION(fmi3Status, fmi3GetIntervalDecimal,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]))
{
    (void)valueReferences, (void)nValueReferences, (void)intervals, (void)qualifiers;
    return not_offered(instance, "clocks");
}

FUNCTION(fmi3Status, fmi3GetIntervalFraction,
         (fmi3Instance instance, const fmi3ValueReference valueReferences[],
          size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
          fmi3IntervalQualifier qualifiers[]))
{
    (void)valueReferences, (void)nValueReferences, (void)counters, (void)resolutions;
    (void)qualifiers;
    return not_offered(instance, "clocks");
}

#define NO_DECIMAL(name, type)                                                                     \
    FUNCTION(fmi3Status, name,                                                                     \
             (fmi3Instance instance, const fmi3ValueReference valueReferences[],                   \
              size_t nValueReferences, type values[]))                                             \
    {                                                                                              \
        (void)valueReferences, (void)nValueReferences, (void)values;                               \
        return not_offered(instance, "clocks");                                                    \
    }
NO_DECIMAL(fmi3GetShiftDecimal, fmi3Float64)
NO_DECIMAL(fmi3SetIntervalDecimal, const fmi3Float64)
NO_DECIMAL(fmi3SetShiftDecimal, const fmi3Float64)

#define NO_FRACTION(name, type)                                                                    \
    FUNCTION(fmi3Status, name,                                                                     \
             (fmi3Instance instance, const fmi3ValueReference valueReferences[],                   \
              size_t nValueReferences, type counters[], type resolutions[]))                       \
    {                                                                                              \
        (void)valueReferences, (void)nValueReferences, (void)counters, (void)resolutions;          \
        return not_offered(instance, "clocks");                                                    \
    }
NO_FRACTION(fmi3GetShiftFraction, fmi3UInt64)
NO_FRACTION(fmi3SetIntervalFraction, const fmi3UInt64)
NO_FRACTION(fmi3SetShiftFraction, const fmi3UInt64)

FUNCTION(fmi3Status, fmi3UpdateDiscreteStates,
         (fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
          fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
          fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
          fmi3Float64 *nextEventTime))
{
    (void)discreteStatesNeedUpdate, (void)terminateSimulation;
    (void)nominalsOfContinuousStatesChanged, (void)valuesOfContinuousStatesChanged;
    (void)nextEventTimeDefined, (void)nextEventTime;
    return not_offered(instance, "discrete states");
}

FUNCTION(fmi3Status, fmi3CompletedIntegratorStep,
         (fmi3Instance instance, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
          fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation))
{
    (void)noSetFMUStatePriorToCurrentPoint, (void)enterEventMode, (void)terminateSimulation;
    return not_offered(instance, "model exchange");
}

FUNCTION(fmi3Status, fmi3SetTime, (fmi3Instance instance, fmi3Float64 time))
{
    (void)time;
    return not_offered(instance, "model exchange");
}

#define NO_STATES(name, type)                                                                      \
    FUNCTION(fmi3Status, name, (fmi3Instance instance, type values[], size_t count))               \
    {                                                                                              \
        (void)values, (void)count;                                                                 \
        return not_offered(instance, "model exchange");                                            \
    }
NO_STATES(fmi3SetContinuousStates, const fmi3Float64)
NO_STATES(fmi3GetContinuousStateDerivatives, fmi3Float64)
NO_STATES(fmi3GetEventIndicators, fmi3Float64)
NO_STATES(fmi3GetContinuousStates, fmi3Float64)
NO_STATES(fmi3GetNominalsOfContinuousStates, fmi3Float64)

#define NO_COUNT(name)                                                                             \
    FUNCTION(fmi3Status, name, (fmi3Instance instance, size_t *count))                             \
    {                                                                                              \
        (void)count;                                                                               \
        return not_offered(instance, "model exchange");                                            \
    }
NO_COUNT(fmi3GetNumberOfEventIndicators)
NO_COUNT(fmi3GetNumberOfContinuousStates)

FUNCTION(fmi3Status, fmi3ActivateModelPartition,
         (fmi3Instance instance, fmi3ValueReference clockReference, fmi3Float64 activationTime))
{
    (void)clockReference, (void)activationTime;
    return not_offered(instance, "scheduled execution");
}
