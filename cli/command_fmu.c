// SPDX-License-Identifier: MIT
// `holonom fmu`: a model as a co-simulation unit (FMI 2.0 or 3.0): one archive with the engine, the model and its
// description.
#define _GNU_SOURCE // open_memstream, readlink, opendir
#include "archive.h"
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "output_file.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "scheme_settings.h"
#include "unit_description.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char COMMAND[] = "fmu";

#ifndef HOLONOM_UNIT_FOLDER // as the build defines it
#define HOLONOM_UNIT_FOLDER "/usr/local/lib/holonom/fmu"
#endif
#ifndef HOLONOM_UNIT_PLATFORMS
#define HOLONOM_UNIT_PLATFORMS "linux64", "x86_64-linux"
#endif

enum { PATH_SIZE = 4352 };

/// Fields that are outputs of every unit whose model has them.
static const char *const OUTPUTS[] = {
    "outputs/value",  "joints/coordinates", "joints/rates",  "drives/coordinate",
    "drives/effort",  "drives/power",       "drives/work",   "couplings/effort",
    "ledger/kinetic", "ledger/potential",   "ledger/energy", "ledger/external_work"};

typedef struct fmu_words {
    model_source source;
    run_texts texts;
    const char *version, *inputs, *outputs, *output, *binary_only;
    const char *settings[OPTION_REPEAT_MAX]; ///< NAME=VALUE,...
} fmu_words;

/// Files in a folder and below it, with their names from there.
typedef struct file_list {
    char **names;
    int count;
} file_list;

typedef struct unit_export {
    const fmu_words *words;
    unit_description description;
    unit_setup setup;
    unit_variables variables;
    hn_model *model;
    hn_run_options options;
    char folder[PATH_SIZE]; ///< of the binary
    char identifier[64];
    file_list binaries, sources;
    bool written;
} unit_export;

// ---- files of the unit ---------------------------------------------------------------------------------------

static bool add_file(file_list *list, const char *name)
{
    char **grown = realloc(list->names, ((size_t)list->count + 1) * sizeof *grown);
    if (grown == NULL) return false;
    list->names = grown;
    grown[list->count] = malloc(strlen(name) + 1);
    if (grown[list->count] == NULL) return false;
    strcpy(grown[list->count++], name);
    return true;
}

static void clear_files(file_list *list)
{
    for (int i = 0; i < list->count; ++i) free(list->names[i]);
    free(list->names);
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

// All files under `root`/`below`; folders only where `deep`.
static void find_files(const char *root, const char *below, bool deep, file_list *list)
{
    char path[PATH_SIZE], name[PATH_SIZE];
    snprintf(path, sizeof path, "%.2000s/%.2000s", root, below);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        struct stat information;
        snprintf(name, sizeof name, "%.2000s%s%.255s", below, below[0] == '\0' ? "" : "/",
                 entry->d_name);
        snprintf(path, sizeof path, "%.2000s/%.2300s", root, name);
        if (stat(path, &information) != 0) continue;
        if (S_ISREG(information.st_mode)) add_file(list, name);
        else if (deep && S_ISDIR(information.st_mode)) find_files(root, name, deep, list);
    }
    if (folder != NULL) closedir(folder);
    if (list->count > 0)
        qsort(list->names, (size_t)list->count, sizeof *list->names, compare_names);
}

static bool has_unit(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.4000s/unit.so", folder);
    return access(path, R_OK) == 0;
}

// Beside this program, as in the build folder, or where it was installed.
static bool find_unit_folder(char *folder)
{
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        for (int i = 0; i < 2; ++i) { // from .../bin/holonom to ...
            char *slash = strrchr(program, '/');
            if (slash != NULL) *slash = '\0';
        }
        snprintf(folder, PATH_SIZE, "%.4000s/%s", program, HOLONOM_UNIT_RELATIVE);
        if (has_unit(folder)) return true;
        snprintf(folder, PATH_SIZE, "%.4000s/lib/holonom/fmu", program);
        if (has_unit(folder)) return true;
    }
    snprintf(folder, PATH_SIZE, "%s", HOLONOM_UNIT_FOLDER);
    return has_unit(folder);
}

// ---- the archive ---------------------------------------------------------------------------------------------

static void add_from_disk(archive *a, const char *folder, const char *file, const char *name,
                          bool program)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.2000s/%.2000s", folder, file);
    FILE *from = fopen(path, "rb");
    struct stat information;
    char *data = NULL;
    if (from != NULL && fstat(fileno(from), &information) == 0) {
        size_t size = (size_t)information.st_size;
        data = malloc(size + 1);
        if (data != NULL && fread(data, 1, size, from) == size)
            archive_add(a, name, data, size, program);
        else a->failed = true;
    } else {
        a->failed = true;
    }
    free(data);
    if (from != NULL) fclose(from);
}

static void add_made(archive *a, const char *name, const unit_description *unit,
                     void (*write)(const unit_description *unit, FILE *file))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file != NULL) {
        write(unit, file);
        if (fclose(file) == 0) archive_add(a, name, text, size, false);
        else a->failed = true;
    } else {
        a->failed = true;
    }
    free(text);
}

static void put_line(void *file, const char *text)
{
    fprintf(file, "%s\n", text);
}

static void write_setup(const unit_description *unit, FILE *file)
{
    (void)unit_setup_write(hn_model_context(unit->model), unit->setup, put_line, file);
}

static void write_model_text(const unit_description *unit, FILE *file)
{
    size_t length;
    const char *text = hn_model_text(unit->model, &length);
    fwrite(text, 1, length, file);
}

static void write_archive(const void *what, FILE *file)
{
    unit_export *e = (unit_export *)(uintptr_t)what;
    const unit_description *unit = &e->description;
    static const char *const PLATFORMS[] = {HOLONOM_UNIT_PLATFORMS};
    char name[PATH_SIZE], file_name[PATH_SIZE];
    archive a = archive_begin(file);
    add_made(&a, "modelDescription.xml", unit, write_unit_description);
    add_made(&a, "documentation/index.html", unit, write_unit_page);
    add_made(&a, "resources/" UNIT_MODEL_FILE, unit, write_model_text);
    add_made(&a, "resources/" UNIT_SETUP_FILE, unit, write_setup);
    for (int i = 0; i < e->binaries.count; ++i) {
        const char *binary = e->binaries.names[i];
        bool own = strcmp(binary, "unit.so") == 0;
        snprintf(name, sizeof name, "binaries/%s/%.200s%s", PLATFORMS[unit->version - 2],
                 own ? e->identifier : binary, own ? ".so" : "");
        add_from_disk(&a, e->folder, binary, name, true);
    }
    for (int i = 0; i < e->sources.count; ++i) {
        snprintf(file_name, sizeof file_name, "sources/%.2000s", e->sources.names[i]);
        add_from_disk(&a, e->folder, file_name, file_name, false);
    }
    if (unit->version == 3 && unit->source_count > 0)
        add_made(&a, "sources/buildDescription.xml", unit, write_build_description);
    e->written = archive_end(&a) && !ferror(file);
}

// ---- what it is made of --------------------------------------------------------------------------------------

// A name as C has them, from that of the file or the model.
static void choose_identifier(unit_export *e)
{
    char *name = output_name(NULL, model_source_name(&e->words->source), "");
    size_t to = 0;
    for (const char *from = name == NULL ? "" : name;
         *from != '\0' && to + 2 < sizeof e->identifier; ++from) {
        bool digit = *from >= '0' && *from <= '9';
        bool letter = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z');
        if (digit && to == 0) e->identifier[to++] = '_';
        e->identifier[to++] = digit || letter ? *from : '_';
    }
    e->identifier[to] = '\0';
    if (to == 0) strcpy(e->identifier, "model");
    free(name);
}

static bool add_inputs(unit_export *e)
{
    const char *asked = e->words->inputs == NULL ? "all" : e->words->inputs;
    char name[UNIT_NAME_SIZE], part[UNIT_NAME_SIZE];
    bool fine = true;
    if (strcmp(asked, "none") == 0) return true;
    if (strcmp(asked, "all") == 0) {
        for (int i = 0; i < hn_model_drive_count(e->model) && fine; ++i) {
            if (hn_drive_kind_command(hn_model_drive_kind(e->model, i)) == NULL) continue;
            snprintf(name, sizeof name, "drives/%.400s", hn_model_drive_name(e->model, i));
            fine = unit_setup_add_input(&e->setup, name);
        }
        return fine;
    }
    while (fine && option_next_part(&asked, part, sizeof part)) {
        bool plain = strncmp(part, "drives/", 7) != 0 && strncmp(part, "joints/", 7) != 0;
        snprintf(name, sizeof name, "%s%.400s", plain ? "drives/" : "", part);
        fine = unit_setup_add_input(&e->setup, name);
    }
    return fine;
}

static bool is_output(const unit_setup *setup, const char *name)
{
    for (int i = 0; i < setup->output_count; ++i)
        if (strcmp(setup->outputs[i], name) == 0) return true;
    return false;
}

static bool add_outputs(unit_export *e)
{
    bool fine = true;
    char part[UNIT_NAME_SIZE];
    const char *asked = e->words->outputs;
    for (size_t i = 0; i < sizeof OUTPUTS / sizeof OUTPUTS[0] && fine; ++i)
        if (hn_model_field_width(e->model, OUTPUTS[i]) > 0)
            fine = unit_setup_add_output(&e->setup, OUTPUTS[i]);
    while (fine && asked != NULL && option_next_part(&asked, part, sizeof part))
        if (!is_output(&e->setup, part)) fine = unit_setup_add_output(&e->setup, part);
    return fine;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211U; // FNV-1a
    return hash;
}

static void hash_line(void *hash, const char *text)
{
    *(uint64_t *)hash = hash_bytes(*(uint64_t *)hash, text, strlen(text) + 1);
}

// The same model with the same settings has the same token.
static bool make_token(unit_export *e)
{
    size_t length;
    const char *text = hn_model_text(e->model, &length);
    uint64_t halves[2] = {14695981039346656037U, 1099511628211U};
    for (int i = 0; i < 2; ++i) {
        hash_line(&halves[i], hn_version());
        halves[i] = hash_bytes(halves[i], text, length);
        if (!unit_setup_write(hn_model_context(e->model), &e->setup, hash_line, &halves[i]))
            return false;
    }
    snprintf(e->setup.token, sizeof e->setup.token, "{%08llx-%04llx-%04llx-%04llx-%012llx}",
             (unsigned long long)(halves[0] >> 32), (unsigned long long)(halves[0] >> 16 & 0xffff),
             (unsigned long long)(halves[0] & 0xffff), (unsigned long long)(halves[1] >> 48),
             (unsigned long long)(halves[1] & 0xffffffffffff));
    return true;
}

static void choose_files(unit_export *e)
{
    char sources[PATH_SIZE];
    find_files(e->folder, "", false, &e->binaries);
    if (e->words->binary_only != NULL) return;
    snprintf(sources, sizeof sources, "%.4000s/sources", e->folder);
    find_files(sources, "", true, &e->sources);
}

// The C files among the sources, which the description lists.
static bool choose_sources(unit_export *e, file_list *list)
{
    for (int i = 0; i < e->sources.count; ++i) {
        const char *name = e->sources.names[i];
        size_t length = strlen(name);
        if (length > 2 && strcmp(name + length - 2, ".c") == 0 && !add_file(list, name))
            return false;
    }
    return true;
}

static int export_unit(unit_export *e, hn_simulation *simulation)
{
    char message[600] = "";
    if (!unit_variables_list(e->model, simulation, &e->setup, &e->variables, message,
                             sizeof message)) {
        options_complain(COMMAND, "%s", message);
        return EXIT_USAGE;
    }
    if (!find_unit_folder(e->folder)) {
        say(stderr,
            "holonom fmu: the engine for units has not been built: there is no %s/unit.so\n"
            "  Build and install with the option HOLONOM_BUILD_UNIT on.\n",
            e->folder);
        return EXIT_FILE;
    }
    choose_files(e);
    file_list listed = {0};
    char *path = output_name(e->words->output, model_source_name(&e->words->source), ".fmu");
    int code = path == NULL || !make_token(e) || !choose_sources(e, &listed) ? report_no_memory()
                                                                             : EXIT_FINE;
    choose_identifier(e);
    e->description = (unit_description){
        .version = e->words->version != NULL && e->words->version[0] == '3' ? 3 : 2,
        .model = e->model,
        .setup = &e->setup,
        .variables = &e->variables,
        .identifier = e->identifier,
        .end = e->options.end,
        .sources = listed.names,
        .source_count = listed.count};
    if (code == EXIT_FINE && complain_output_is_input(path, e->words->source.path))
        code = EXIT_FILE;
    if (code == EXIT_FINE) code = output_write(path, write_archive, e);
    if (code == EXIT_FINE && !e->written) {
        unlink(path);
        say(stderr, "%s: cannot be written: no memory, or files of the unit cannot be read\n",
            path);
        code = EXIT_FILE;
    }
    int inputs = 0, outputs = 0;
    for (int i = 0; i < e->variables.count; ++i) {
        unit_role role = e->variables.list[i].role;
        inputs += role == UNIT_DRIVE || role == UNIT_EFFORT;
        outputs += role == UNIT_OUTPUT;
    }
    if (code == EXIT_FINE)
        say(stdout, "  wrote %s: FMI %s, step %.9g s, %d parameters, %d inputs, %d outputs\n", path,
            e->description.version == 3 ? "3.0" : "2.0", e->setup.def.step_size,
            hn_model_parameter_count(e->model) + 1, inputs, outputs);
    clear_files(&listed);
    free(path);
    return code;
}

static int prepare_unit(unit_export *e)
{
    const fmu_words *words = e->words;
    e->setup.def = hn_simulation_def_default();
    if (hn_simulation_def_from_model(e->model, &e->setup.def) != HN_OK) return EXIT_MODEL;
    e->setup.def.ledger = false;
    e->options = hn_model_run_options(e->model);
    if ((words->texts.scheme != NULL &&
         !parse_scheme(COMMAND, words->texts.scheme, &e->options.scheme)) ||
        (words->texts.reduction != NULL &&
         !parse_reduction(COMMAND, words->texts.reduction, &e->options.reduction)) ||
        (words->texts.step != NULL &&
         !option_positive_number(COMMAND, "--step", words->texts.step, &e->options.step)))
        return EXIT_USAGE;
    if (e->options.step <= 0.0) {
        options_complain(COMMAND, "the model has no step; give one with --step SECONDS");
        return EXIT_USAGE;
    }
    e->setup.def.scheme = e->options.scheme;
    e->setup.def.reduction = e->options.reduction;
    e->setup.def.step_size = e->options.step;
    if (e->options.rho > 0.0) e->setup.def.energy_decaying.rho = e->options.rho;
    if (e->options.order > 0 && e->options.scheme == hn_model_run_options(e->model).scheme)
        e->setup.def.order = e->options.order;
    if (!apply_scheme_settings(COMMAND, words->settings, &e->setup.def)) return EXIT_USAGE;
    if (!add_inputs(e) || !add_outputs(e)) return report_no_memory();
    e->setup.def.inputs = e->setup.input_count > 0;
    hn_simulation *simulation = NULL;
    int code = report_create_simulation(e->model, &e->setup.def, &simulation);
    if (code == EXIT_FINE) code = export_unit(e, simulation);
    hn_simulation_destroy(simulation);
    return code;
}

int command_fmu(int argument_count, char **arguments)
{
    fmu_words words = {0};
    const option_spec options[] = {
        {"--output", "FILE", "name of the archive (default: the model's name with .fmu)",
         &words.output},
        {"--fmi", "2|3", "version of the standard: 2.0 or 3.0 (default: 2)", &words.version},
        {"--step", "SECONDS", "step inside of the unit (default: the model's)", &words.texts.step},
        {"--scheme", "NAME", "integrator (default: the model's)", &words.texts.scheme},
        {"--reduction", "NAME", "reduction (default: the model's)", &words.texts.reduction},
        {"--set", "NAME=VALUE,...", "settings of the scheme, as for run", words.settings},
        {"--inputs", "NAMES",
         "drives that can be told something, and joints/NAME for efforts on its coordinates; all "
         "(the default: of drives) or none",
         &words.inputs},
        {"--outputs", "FIELDS", "more outputs: bodies/position,... as in result files",
         &words.outputs},
        {"--binary-only", NULL, "without the sources of the engine", &words.binary_only},
        MODEL_PARAMETER_OPTION(words.source),
    };
    const command_usage usage = {
        COMMAND,
        "MODEL",
        "Write a model as a co-simulation unit (FMU), which other simulation programs run.",
        "The archive holds the engine with the libraries it needs, its sources, and the model.\n"
        "Parameters of the model file are parameters of the unit, coordinates, efforts and "
        "energies its outputs.\n",
        "holonom fmu models/robot-arm.yaml --output robot-arm.fmu",
        options,
        (int)(sizeof options / sizeof options[0])};
    options_result parsed = options_parse(&usage, argument_count, arguments, &words.source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (words.version != NULL && strcmp(words.version, "2") != 0 &&
        strcmp(words.version, "2.0") != 0 && strcmp(words.version, "3") != 0 &&
        strcmp(words.version, "3.0") != 0) {
        options_complain(COMMAND, "--fmi is '%s'; expected 2 or 3", words.version);
        return EXIT_USAGE;
    }
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    unit_export e = {.words = &words};
    int code = model_source_load(context, COMMAND, &words.source, &e.model);
    if (code == EXIT_FINE) code = prepare_unit(&e);
    unit_variables_clear(&e.variables);
    unit_setup_clear(&e.setup);
    clear_files(&e.binaries);
    clear_files(&e.sources);
    hn_model_destroy(e.model);
    hn_context_destroy(context);
    return code;
}
