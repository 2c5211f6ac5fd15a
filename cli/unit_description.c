// SPDX-License-Identifier: MIT
// Descriptions of units. Names of variables are those of columns in result files; value references count them.
#include "unit_description.h"

#include <string.h>

static void put_text(FILE *file, const char *text)
{
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        }
    }
}

static void put_attribute(FILE *file, const char *name, const char *value)
{
    fprintf(file, " %s=\"", name);
    put_text(file, value);
    fputc('"', file);
}

static void put_number(FILE *file, const char *name, double value)
{
    fprintf(file, " %s=\"%.17g\"", name, value);
}

// ---- units ---------------------------------------------------------------------------------------------------

/// Powers of kg, m, s and rad.
typedef struct known_unit {
    const char *name;
    int kg, m, s, rad;
} known_unit;

static const known_unit UNITS[] = {
    {"s", 0, 0, 1, 0},       {"m", 0, 1, 0, 0},         {"rad", 0, 0, 0, 1},
    {"m/s", 0, 1, -1, 0},    {"rad/s", 0, 0, -1, 1},    {"N", 1, 1, -2, 0},
    {"N m", 1, 2, -2, 0},    {"J", 1, 2, -2, 0},        {"W", 1, 2, -3, 0},
    {"kg m/s", 1, 1, -1, 0}, {"kg m^2/s", 1, 2, -1, 0}, {"1/m", 0, -1, 0, 0},
};
enum { UNIT_COUNT = sizeof UNITS / sizeof UNITS[0] };

static const known_unit *unit_named(const char *name)
{
    for (int i = 0; i < UNIT_COUNT; ++i)
        if (strcmp(UNITS[i].name, name) == 0) return &UNITS[i];
    return NULL;
}

static bool uses(const unit_variables *variables, const known_unit *unit)
{
    for (int i = 0; i < variables->count; ++i)
        if (strcmp(variables->list[i].unit, unit->name) == 0) return true;
    return false;
}

static void put_units(const unit_description *unit, FILE *file)
{
    fputs("  <UnitDefinitions>\n", file);
    for (int i = 0; i < UNIT_COUNT; ++i) {
        const known_unit *u = &UNITS[i];
        if (!uses(unit->variables, u)) continue;
        const struct {
            const char *name;
            int power;
        } powers[] = {{"kg", u->kg}, {"m", u->m}, {"s", u->s}, {"rad", u->rad}};
        fprintf(file, "    <Unit name=\"%s\"><BaseUnit", u->name);
        for (int k = 0; k < 4; ++k)
            if (powers[k].power != 0) fprintf(file, " %s=\"%d\"", powers[k].name, powers[k].power);
        fputs("/></Unit>\n", file);
    }
    fputs("  </UnitDefinitions>\n", file);
}

// ---- variables -----------------------------------------------------------------------------------------------

static double start_of(const unit_description *unit, const unit_variable *v)
{
    if (v->role == UNIT_STEP) return unit->setup->def.step_size;
    if (v->role == UNIT_PARAMETER) return hn_model_parameter_value(unit->model, v->index);
    if (v->role == UNIT_DRIVE) return hn_model_drive_command(unit->model, v->index, 0.0);
    return 0.0;
}

/// How the standard sees a role.
typedef struct role_words {
    const char *causality, *variability, *initial; ///< NULL: not said
    bool start;
} role_words;

static role_words words_of(unit_role role)
{
    if (role == UNIT_TIME) return (role_words){"independent", "continuous", NULL, false};
    if (role == UNIT_OUTPUT) return (role_words){"output", "continuous", "calculated", false};
    if (role == UNIT_STEP || role == UNIT_PARAMETER)
        return (role_words){"parameter", "fixed", "exact", true};
    return (role_words){"input", "continuous", NULL, true};
}

static void put_variable(const unit_description *unit, int index, FILE *file)
{
    const unit_variable *v = &unit->variables->list[index];
    role_words words = words_of(v->role);
    bool new_form = unit->version == 3;
    fprintf(file, new_form ? "    <Float64" : "    <ScalarVariable");
    put_attribute(file, "name", v->name);
    fprintf(file, " valueReference=\"%d\"", index);
    if (v->meaning[0] != '\0') put_attribute(file, "description", v->meaning);
    put_attribute(file, "causality", words.causality);
    put_attribute(file, "variability", words.variability);
    if (words.initial != NULL) put_attribute(file, "initial", words.initial);
    if (!new_form) fputs("><Real", file);
    if (unit_named(v->unit) != NULL) put_attribute(file, "unit", v->unit);
    if (words.start) put_number(file, "start", start_of(unit, v));
    fputs(new_form ? "/>\n" : "/></ScalarVariable>\n", file);
}

static void put_structure(const unit_description *unit, FILE *file)
{
    const unit_variables *all = unit->variables;
    fputs("  <ModelStructure>\n", file);
    for (int round = 0; round < 2; ++round) {
        const char *word2 = round == 0 ? "Outputs" : "InitialUnknowns";
        if (unit->version == 2) fprintf(file, "    <%s>\n", word2);
        for (int i = 0; i < all->count; ++i) {
            if (all->list[i].role != UNIT_OUTPUT) continue;
            if (unit->version == 2) fprintf(file, "      <Unknown index=\"%d\"/>\n", i + 1);
            else
                fprintf(file, "    <%s valueReference=\"%d\"/>\n",
                        round == 0 ? "Output" : "InitialUnknown", i);
        }
        if (unit->version == 2) fprintf(file, "    </%s>\n", word2);
    }
    fputs("  </ModelStructure>\n", file);
}

static bool has_outputs(const unit_description *unit)
{
    for (int i = 0; i < unit->variables->count; ++i)
        if (unit->variables->list[i].role == UNIT_OUTPUT) return true;
    return false;
}

// ---- the whole -----------------------------------------------------------------------------------------------

static void put_interface(const unit_description *unit, FILE *file)
{
    fputs("  <CoSimulation", file);
    put_attribute(file, "modelIdentifier", unit->identifier);
    fputs(" canHandleVariableCommunicationStepSize=\"true\" canBeInstantiatedOnlyOncePerProcess="
          "\"false\"",
          file);
    if (unit->version == 3) {
        fputs(" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
              "providesIntermediateUpdate=\"true\" canReturnEarlyAfterIntermediateUpdate=\"true\"",
              file);
        put_number(file, "fixedInternalStepSize", unit->setup->def.step_size);
        fputs("/>\n", file);
        return;
    }
    fputs(" canInterpolateInputs=\"false\" maxOutputDerivativeOrder=\"0\" "
          "canRunAsynchronuously=\"false\" canNotUseMemoryManagementFunctions=\"true\" "
          "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" "
          "providesDirectionalDerivative=\"false\"",
          file);
    if (unit->source_count == 0) {
        fputs("/>\n", file);
        return;
    }
    fputs(">\n    <SourceFiles>\n", file);
    for (int i = 0; i < unit->source_count; ++i) {
        fputs("      <File", file);
        put_attribute(file, "name", unit->sources[i]);
        fputs("/>\n", file);
    }
    fputs("    </SourceFiles>\n  </CoSimulation>\n", file);
}

static void put_log_categories(FILE *file)
{
    static const char *const WORDS[][2] = {
        {"logAll", "everything"},
        {"logStatusWarning", "what the model or the run warns of"},
        {"logStatusDiscard", "steps that were not made, and why"},
        {"logStatusError", "what failed, and what would help"},
    };
    fputs("  <LogCategories>\n", file);
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; ++i) {
        fputs("    <Category", file);
        put_attribute(file, "name", WORDS[i][0]);
        put_attribute(file, "description", WORDS[i][1]);
        fputs("/>\n", file);
    }
    fputs("  </LogCategories>\n", file);
}

void write_unit_description(const unit_description *unit, FILE *file)
{
    char tool[64];
    snprintf(tool, sizeof tool, "holonom %s", hn_version());
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription", file);
    put_attribute(file, "fmiVersion", unit->version == 3 ? "3.0" : "2.0");
    put_attribute(file, "modelName", hn_model_name(unit->model));
    put_attribute(file, unit->version == 3 ? "instantiationToken" : "guid", unit->setup->token);
    put_attribute(file, "generationTool", tool);
    put_attribute(file, "variableNamingConvention", "flat");
    if (unit->version == 2) put_attribute(file, "numberOfEventIndicators", "0");
    fputs(">\n", file);
    put_interface(unit, file);
    put_units(unit, file);
    put_log_categories(file);
    fputs("  <DefaultExperiment startTime=\"0\"", file);
    if (unit->end > 0.0) put_number(file, "stopTime", unit->end);
    put_number(file, "stepSize", unit->setup->def.step_size);
    fputs("/>\n  <ModelVariables>\n", file);
    for (int i = 0; i < unit->variables->count; ++i) put_variable(unit, i, file);
    fputs("  </ModelVariables>\n", file);
    if (has_outputs(unit)) put_structure(unit, file);
    else fputs("  <ModelStructure/>\n", file);
    fputs("</fmiModelDescription>\n", file);
}

void write_build_description(const unit_description *unit, FILE *file)
{
    static const char *const LIBRARIES[] = {"fyaml", "muparser", "lapack",
                                            "blas",  "amd",      "suitesparseconfig"};
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
          "  <BuildConfiguration",
          file);
    put_attribute(file, "modelIdentifier", unit->identifier);
    put_attribute(file, "description", "CMakeLists.txt beside this file builds it too");
    fputs(">\n    <SourceFileSet language=\"C17\" compilerOptions=\"-ffp-contract=off\">\n", file);
    for (int i = 0; i < unit->source_count; ++i) {
        fputs("      <SourceFile", file);
        put_attribute(file, "name", unit->sources[i]);
        fputs("/>\n", file);
    }
    fputs("      <IncludeDirectory name=\"include\"/>\n      <IncludeDirectory name=\"src\"/>\n"
          "      <IncludeDirectory name=\"fmu\"/>\n    </SourceFileSet>\n",
          file);
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof LIBRARIES[0]; ++i)
        fprintf(file, "    <Library name=\"%s\" external=\"true\"/>\n", LIBRARIES[i]);
    fputs("  </BuildConfiguration>\n</fmiBuildDescription>\n", file);
}

void write_unit_page(const unit_description *unit, FILE *file)
{
    const hn_simulation_def *def = &unit->setup->def;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", file);
    put_text(file, hn_model_name(unit->model));
    fputs("</title></head><body>\n<h1>", file);
    put_text(file, hn_model_name(unit->model));
    fprintf(file,
            "</h1>\n<p>Made by Holonom %s: scheme %s, reduction %s, step %.17g s. An interval of "
            "the master is a whole number of steps. Inputs are held over it. Time of the model "
            "counts from the start time of the master. The state can be had, set and "
            "serialised.</p>\n<table>\n<tr><th>variable</th><th></th><th>unit</th><th></th></tr>\n",
            hn_version(), hn_scheme_name(def->scheme), hn_reduction_name(def->reduction),
            def->step_size);
    for (int i = 0; i < unit->variables->count; ++i) {
        const unit_variable *v = &unit->variables->list[i];
        const char *cells[4] = {v->name, words_of(v->role).causality, v->unit, v->meaning};
        fputs("<tr>", file);
        for (int k = 0; k < 4; ++k) {
            fputs("<td>", file);
            put_text(file, cells[k]);
            fputs("</td>", file);
        }
        fputs("</tr>\n", file);
    }
    fputs("</table>\n</body></html>\n", file);
}
