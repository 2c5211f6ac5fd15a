// SPDX-License-Identifier: MIT
// Model files: reading the text, the top level, parameters and run options.
#define _POSIX_C_SOURCE 200809L // stat
#include "io/model_file.h"

#include "io/model_parameters.h"
#include "io/model_reader.h"
#include "io/urdf.h"

#include <holonom/simulation.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- top level -----------------------------------------------------------------------------------------------

static const char *const TOP_WORDS[] = {"holonom", "name",      "gravity", "parameters", "bodies",
                                        "beams",   "joints",    "loads",   "drives",     "start",
                                        "run",     "couplings", "repeat",  "outputs"};

static hn_status read_version(const model_reader *r, int root)
{
    int node = reader_find(r, root, "holonom");
    if (node < 0)
        return reader_fail(r, root,
                           "the file has no format version; expected 'holonom: %d' at its top",
                           MODEL_FILE_VERSION);
    double version;
    TRY(reader_number(r, node, "format version", QUANTITY_NUMBER, &version));
    if (version == MODEL_FILE_VERSION) return HN_OK;
    return reader_fail(r, node, "format version is %g; expected %d, the version this library reads",
                       version, MODEL_FILE_VERSION);
}

// Its name is the user's and says nothing of its unit: `limit: 30 deg` is no force.
static hn_status read_parameter(const model_reader *r, int key, double *value, unit_guess *unit)
{
    char what[80];
    snprintf(what, sizeof what, "parameter '%s'", reader_text(r, key));
    return reader_united(r, reader_value(r, key), what, value, unit);
}

static hn_status read_parameters(const model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "parameters"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        double value;
        unit_guess unit;
        expression_error error;
        TRY(read_parameter(r, k, &value, &unit));
        hn_status status =
            expression_define(r->expressions, reader_text(r, k), value, &unit, &error);
        if (status == HN_INVALID_ARGUMENT) return reader_fail(r, k, "%s", error.message);
        TRY(status);
    }
    return HN_OK;
}

// The model keeps their names and values for whoever wants to give others.
static hn_status keep_parameters(const model_reader *r, int index)
{
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        double value;
        unit_guess unit;
        TRY(read_parameter(r, k, &value, &unit));
        const signed char exponents[4] = {unit.kind.length, unit.kind.mass, unit.kind.time,
                                          unit.kind.angle};
        TRY(model_add_parameter(r->model, reader_text(r, k), value, exponents));
    }
    return HN_OK;
}

static hn_status create_model(model_reader *r, int root)
{
    hn_model_def def = hn_model_def_default();
    int name = reader_find(r, root, "name"), gravity = reader_find(r, root, "gravity");
    if (name >= 0) TRY(reader_word(r, name, "name", &def.name));
    if (gravity >= 0)
        TRY(reader_vector(r, gravity, "gravity", QUANTITY_ACCELERATION, &def.gravity));
    return hn_model_create(r->context, &def, &r->model);
}

static bool is_among(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

// The words of `run`: its own, and the settings of a simulation that it does not say in another way.
static int list_settings(const char *const *own, int own_count, const char **words, int size)
{
    static const char *const OTHERWISE[] = {"step_size", "ledger", "inputs"};
    int count = 0;
    for (int i = 0; i < own_count; ++i) words[count++] = own[i];
    for (int i = 0; i < hn_simulation_option_count() && count < size; ++i) {
        const char *name = hn_simulation_option_name(i);
        if (!is_among(name, own, own_count) && !is_among(name, OTHERWISE, WORD_COUNT(OTHERWISE)))
            words[count++] = name;
    }
    return count;
}

static hn_status read_run(const model_reader *r, int index)
{
    static const char *const OWN[] = {"scheme", "reduction", "step", "end", "rho", "order"};
    enum { OWN_COUNT = WORD_COUNT(OWN), WORDS_MAX = 64 };
    const char *words[WORDS_MAX];
    int word_count = list_settings(OWN, OWN_COUNT, words, WORDS_MAX);
    TRY(reader_expect_keys(r, index, "run", words, word_count));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        const char *name = reader_text(r, k), *value;
        if (is_among(name, OWN, OWN_COUNT)) continue;
        TRY(reader_word(r, reader_value(r, k), name, &value));
        if (hn_model_set_run_setting(r->model, name, value) != HN_OK)
            return reader_place(r, reader_value(r, k), HN_FILE_FORMAT);
    }
    hn_run_options run = hn_model_run_options(r->model);
    const char *word, *names[HN_SCHEME_COUNT + HN_REDUCTION_COUNT];
    int node = reader_find(r, index, "scheme");
    if (node >= 0) {
        TRY(reader_word(r, node, "scheme", &word));
        for (int i = 0; i < HN_SCHEME_COUNT; ++i) names[i] = hn_scheme_name((hn_scheme)i);
        if (!hn_scheme_from_name(word, &run.scheme))
            return reader_fail_word(r, node, "scheme", NULL, word, names, HN_SCHEME_COUNT);
    }
    node = reader_find(r, index, "reduction");
    if (node >= 0) {
        TRY(reader_word(r, node, "reduction", &word));
        for (int i = 0; i < HN_REDUCTION_COUNT; ++i) names[i] = hn_reduction_name((hn_reduction)i);
        if (!hn_reduction_from_name(word, &run.reduction))
            return reader_fail_word(r, node, "reduction", NULL, word, names, HN_REDUCTION_COUNT);
    }
    node = reader_find(r, index, "step");
    if (node >= 0) TRY(reader_positive(r, node, "step", QUANTITY_TIME, "seconds", &run.step));
    node = reader_find(r, index, "end");
    if (node >= 0) TRY(reader_positive(r, node, "end", QUANTITY_TIME, "seconds", &run.end));
    node = reader_find(r, index, "rho");
    if (node >= 0)
        TRY(reader_positive(r, node, "rho", QUANTITY_NUMBER, "a spectral radius", &run.rho));
    node = reader_find(r, index, "order");
    if (node >= 0) {
        double order;
        TRY(reader_number(r, node, "order", QUANTITY_NUMBER, &order));
        if (!(order >= 1.0 && order <= 8.0 && order == floor(order)))
            return reader_fail(r, node, "order is %g; expected 2, 4, 6 or 8", order);
        run.order = (int)order;
    }
    hn_model_set_run_options(r->model, &run);
    return HN_OK;
}

static hn_status read_model(model_reader *r, const char *text, size_t length)
{
    TRY(yaml_tree_read(r->context, text, length, r->file, &r->tree));
    int root = r->tree.root;
    TRY(reader_expect_map(r, root, "the file"));
    // a missing version first: such a file is perhaps no model at all
    TRY(read_version(r, root));
    TRY(reader_expect_keys(r, root, "the model", TOP_WORDS, WORD_COUNT(TOP_WORDS)));
    int parameters = reader_find(r, root, "parameters");
    if (parameters >= 0) TRY(read_parameters(r, parameters));
    TRY(create_model(r, root));
    if (parameters >= 0) TRY(keep_parameters(r, parameters));
    TRY(model_set_text(r->model, text, length, r->file));

    // bodies before joints before what refers to these, in whatever order they stand
    TRY(reader_repeat(r, root));
    int bodies = reader_find(r, root, "bodies"), beams = reader_find(r, root, "beams");
    if (beams < 0) TRY(reader_require(r, root, "bodies", "the model", &bodies));
    int joints = reader_find(r, root, "joints"), loads = reader_find(r, root, "loads"),
        drives = reader_find(r, root, "drives"), couplings = reader_find(r, root, "couplings");
    if (joints >= 0) TRY(reader_scan_joints(r, joints));
    if (bodies >= 0) TRY(reader_bodies(r, bodies));
    if (beams >= 0) TRY(reader_beams(r, beams));
    if (hn_model_body_count(r->model) == 0)
        return reader_fail(r, bodies >= 0 ? bodies : beams,
                           "the model has no bodies; expected at least one");
    int start = reader_find(r, root, "start"), run = reader_find(r, root, "run");
    if (joints >= 0) TRY(reader_joints(r, joints));
    if (loads >= 0) TRY(reader_loads(r, loads));
    if (drives >= 0) TRY(reader_drives(r, drives));
    if (couplings >= 0) TRY(reader_couplings(r, couplings));
    int outputs = reader_find(r, root, "outputs");
    if (outputs >= 0) TRY(reader_outputs(r, outputs));
    TRY(reader_assembly(r, start));
    if (start >= 0) TRY(reader_start(r, start));
    return run >= 0 ? read_run(r, run) : HN_OK;
}

static hn_status parse_model(hn_context *context, const char *text, size_t length, const char *name,
                             hn_model **model)
{
    int wide_angles = 0;
    model_reader r = {.context = context, .file = name, .wide_angles = &wide_angles};
    context_begin_cancellable(context);
    hn_status status = expression_set_create(context, &r.expressions);
    if (status == HN_OK) status = read_model(&r, text, length);
    if (status == HN_OK && wide_angles > 1)
        context_log(context, "%s: %d more angle%s of more than a turn", name, wide_angles - 1,
                    wide_angles == 2 ? " is a bare number" : "s are bare numbers");
    context_end_cancellable(context);
    if (context_take_cancel(context))
        status = context_fail(context, HN_CANCELLED, "%s: cancelled while it was read", name);
    yaml_tree_clear(&r.tree);
    expression_set_destroy(r.expressions);
    context_release(context, (void *)r.jointed);
    if (status == HN_OK) *model = r.model;
    else hn_model_destroy(r.model);
    return status;
}

// A robot description becomes the text of a model file first, which is then the model's text.
static hn_status parse_robot(hn_context *context, const char *text, size_t length, const char *name,
                             bool free_base, hn_model **model)
{
    char *converted;
    size_t converted_length;
    TRY(urdf_to_model(context, text, length, name, free_base, &converted, &converted_length));
    hn_status status = parse_model(context, converted, converted_length, name, model);
    context_release(context, converted);
    return status;
}

hn_status hn_model_parse(hn_context *context, const char *text, size_t length, const char *name,
                         hn_model **model)
{
    REQUIRE(context, model != NULL);
    *model = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, (text != NULL || length == 0) && name != NULL);
    if (length > (size_t)MODEL_FILE_SIZE_MAX)
        return context_fail(context, HN_FILE_FORMAT,
                            "%s:1:1: the file has %zu bytes; expected at most %ld", name, length,
                            MODEL_FILE_SIZE_MAX);
    if (urdf_is_robot(text, length)) return parse_robot(context, text, length, name, false, model);
    return parse_model(context, text, length, name, model);
}

static bool are_parameters(const hn_parameter *parameters, int count)
{
    if (count < 0 || (parameters == NULL && count > 0)) return false;
    for (int k = 0; k < count; ++k)
        if (parameters[k].name == NULL || parameters[k].value == NULL) return false;
    return true;
}

hn_status hn_model_parse_with(hn_context *context, const char *text, size_t length,
                              const char *name, const hn_parameter *parameters, int parameter_count,
                              hn_model **model)
{
    REQUIRE(context, model != NULL);
    *model = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, (text != NULL || length == 0) && name != NULL);
    REQUIRE(context, are_parameters(parameters, parameter_count));
    if (parameter_count == 0 || length > (size_t)MODEL_FILE_SIZE_MAX)
        return hn_model_parse(context, text, length, name, model);
    if (urdf_is_robot(text, length))
        return context_fail(context, HN_FILE_FORMAT,
                            "%s: a robot description has no parameters; convert it to a model file",
                            name);
    char *changed = NULL;
    size_t changed_length = 0;
    TRY(model_text_with_parameters(context, text, length, name, parameters, parameter_count,
                                   &changed, &changed_length));
    hn_status status = hn_model_parse(context, changed, changed_length, name, model);
    context_release(context, changed);
    return status;
}

// ---- files ---------------------------------------------------------------------------------------------------

static hn_status read_text(hn_context *context, const char *path, FILE *file, char **text,
                           size_t *length)
{
    // pipes have no size: grow as the text comes
    int capacity = 0;
    size_t used = 0;
    for (;;) {
        void *grown = *text;
        hn_status status = context_grow(context, &grown, &capacity, (int)used + 65536, 1);
        *text = grown;
        TRY(status);
        size_t got = fread(*text + used, 1, (size_t)capacity - used, file);
        used += got;
        if (used > (size_t)MODEL_FILE_SIZE_MAX)
            return context_fail(context, HN_FILE_FORMAT,
                                "%s:1:1: the file is too large; expected at most %ld bytes", path,
                                MODEL_FILE_SIZE_MAX);
        if (got > 0) continue;
        if (ferror(file))
            return context_fail(context, HN_FILE_ACCESS, "%s: cannot be read: %s", path,
                                strerror(errno));
        *length = used;
        return HN_OK;
    }
}

hn_status model_file_text(hn_context *context, const char *path, char **text, size_t *length)
{
    struct stat information;
    if (stat(path, &information) != 0)
        return context_fail(context, HN_FILE_ACCESS, "%s: cannot be opened: %s", path,
                            strerror(errno));
    if (S_ISDIR(information.st_mode))
        return context_fail(context, HN_FILE_ACCESS, "%s: is a directory; expected a model file",
                            path);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return context_fail(context, HN_FILE_ACCESS, "%s: cannot be opened: %s", path,
                            strerror(errno));
    hn_status status = read_text(context, path, file, text, length);
    fclose(file);
    return status;
}

hn_status hn_model_load(hn_context *context, const char *path, hn_model **model)
{
    return hn_model_load_with(context, path, NULL, 0, model);
}

hn_status hn_model_load_with(hn_context *context, const char *path, const hn_parameter *parameters,
                             int parameter_count, hn_model **model)
{
    REQUIRE(context, model != NULL);
    *model = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, path != NULL && are_parameters(parameters, parameter_count));
    char *text = NULL;
    size_t length = 0;
    hn_status status = model_file_text(context, path, &text, &length);
    if (status == HN_OK)
        status =
            hn_model_parse_with(context, text, length, path, parameters, parameter_count, model);
    context_release(context, text);
    return status;
}

hn_status hn_model_load_urdf(hn_context *context, const char *path, bool free_base,
                             hn_model **model)
{
    REQUIRE(context, model != NULL);
    *model = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, path != NULL);
    char *text = NULL;
    size_t length = 0;
    hn_status status = model_file_text(context, path, &text, &length);
    if (status == HN_OK) status = parse_robot(context, text, length, path, free_base, model);
    context_release(context, text);
    return status;
}
