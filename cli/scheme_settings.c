// SPDX-License-Identifier: MIT
// Reading of `--set name=value,...`.
#include "scheme_settings.h"

#include "options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 64 };

static const char *const NAMES[] = {"spectral_radius",
                                    "absolute_tolerance",
                                    "relative_tolerance",
                                    "first_step",
                                    "step_growth_max",
                                    "projection_tolerance",
                                    "fixed_steps",
                                    "projection",
                                    "impose_energy",
                                    "impose_momentum",
                                    "planar",
                                    "dense_output",
                                    "residual_tolerance",
                                    "increment_tolerance",
                                    "rho",
                                    "step_tolerance",
                                    "order"};
enum { NAME_COUNT = sizeof NAMES / sizeof NAMES[0] };

static const char *name_at(int index)
{
    return NAMES[index];
}

static bool parse_truth(const char *command, const char *name, const char *text, bool *value)
{
    *value = strcmp(text, "true") == 0;
    if (*value || strcmp(text, "false") == 0) return true;
    options_complain(command, "--set %s: '%s' is neither true nor false", name, text);
    return false;
}

static bool parse_projection(const char *command, const char *text, hn_projection *projection)
{
    if (hn_projection_from_name(text, projection)) return true;
    options_complain(
        command, "--set projection: '%s'; expected along-joints, quasi-orthogonal or orthogonal",
        text);
    return false;
}

static bool parse_number(const char *command, const char *name, const char *text, double *value)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || number < 0.0) {
        options_complain(command, "--set %s: '%s' is not a number of zero or more", name, text);
        return false;
    }
    *value = number;
    return true;
}

static bool parse_count(const char *command, const char *name, const char *text, int *value)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 0 || number > INT_MAX) {
        options_complain(command, "--set %s: '%s' is not a whole number", name, text);
        return false;
    }
    *value = (int)number;
    return true;
}

static bool apply_one(const char *command, const char *name, const char *value,
                      hn_simulation_def *def)
{
    double *const numbers[] = {&def->spectral_radius,    &def->absolute_tolerance,
                               &def->relative_tolerance, &def->first_step,
                               &def->step_growth_max,    &def->projection_tolerance};
    for (int i = 0; i < 6; ++i)
        if (strcmp(name, NAMES[i]) == 0) return parse_number(command, name, value, numbers[i]);
    if (strcmp(name, "residual_tolerance") == 0)
        return parse_number(command, name, value, &def->residual_tolerance);
    if (strcmp(name, "increment_tolerance") == 0)
        return parse_number(command, name, value, &def->increment_tolerance);
    if (strcmp(name, "step_tolerance") == 0)
        return parse_number(command, name, value, &def->step_tolerance);
    if (strcmp(name, "rho") == 0) return parse_number(command, name, value, &def->rho);
    if (strcmp(name, "order") == 0) return parse_count(command, name, value, &def->order);
    if (strcmp(name, "projection") == 0) return parse_projection(command, value, &def->projection);
    if (strcmp(name, "fixed_steps") == 0)
        return parse_truth(command, name, value, &def->fixed_steps);
    if (strcmp(name, "impose_energy") == 0)
        return parse_truth(command, name, value, &def->impose_energy);
    if (strcmp(name, "impose_momentum") == 0)
        return parse_truth(command, name, value, &def->impose_momentum);
    if (strcmp(name, "planar") == 0) return parse_truth(command, name, value, &def->planar);
    if (strcmp(name, "dense_output") == 0)
        return parse_truth(command, name, value, &def->dense_output);
    const char *nearest = nearest_known(name, NAME_COUNT, name_at);
    if (nearest != NULL)
        options_complain(command, "--set: unknown setting '%s' (did you mean '%s'?)", name,
                         nearest);
    else options_complain(command, "--set: unknown setting '%s'", name);
    return false;
}

bool apply_scheme_settings(const char *command, const char *text, hn_simulation_def *def)
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        char name[TEXT_SIZE] = "", value[TEXT_SIZE] = "";
        if (equals == NULL || equals == text || length >= TEXT_SIZE) {
            options_complain(command, "--set: '%.*s'; expected name=value", (int)length, text);
            return false;
        }
        memcpy(name, text, (size_t)(equals - text));
        memcpy(value, equals + 1, length - (size_t)(equals + 1 - text));
        if (!apply_one(command, name, value, def)) return false;
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return true;
}
