// SPDX-License-Identifier: MIT
// Reader of result files: what they describe is read when they are opened, records when they are asked for.
#define _POSIX_C_SOURCE 200809L
#include "io/results_reader.h"

#include "base/hidden.h"
#include "io/results_disk.h"
#include "io/results_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ELEMENT_COUNT_MAX = INT32_MAX, // more bodies, joints or shapes than this no writer makes
    RANK_MAX = 4,
    FIXED_NAME_SIZE = 96, // a column's name without the name of its body or joint
    SHAPE_NUMBERS = 3 + 3 + 12 + 3 + 9,
};

static hn_status fail_format(const hn_result_file *file, const char *what, const char *why)
{
    return context_fail(file->context, HN_FILE_FORMAT, "%s: %s %s", file->path, what, why);
}

// ---- datasets with the description ------------------------------------------------------------------

static bool has(const hn_result_file *file, const char *place)
{
    char group[64];
    const char *slash = strchr(place, '/');
    if (slash != NULL) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - place), place);
        if (H5Lexists(file->file, group, H5P_DEFAULT) <= 0) return false;
    }
    return H5Lexists(file->file, place, H5P_DEFAULT) > 0;
}

/// A dataset that must have `count` numbers: does it?
static hn_status check_size(hn_result_file *file, const char *place, size_t count)
{
    if (count == 0) return HN_OK;
    if (!has(file, place)) return fail_format(file, place, "is missing");
    hid_t dataset = H5Dopen2(file->file, place, H5P_DEFAULT);
    if (dataset < 0) return fail_format(file, place, "cannot be read: the file is damaged");
    hid_t space = H5Dget_space(dataset);
    bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    if (space >= 0) H5Sclose(space);
    H5Dclose(dataset);
    return fits ? HN_OK : fail_format(file, place, "has not the size its model needs");
}

/// Read a dataset that must have `count` numbers; `type` is that of `values`.
static hn_status read_numbers(hn_result_file *file, const char *place, hid_t type, size_t count,
                              void *values)
{
    if (count == 0) return HN_OK;
    TRY(check_size(file, place, count));
    hid_t dataset = H5Dopen2(file->file, place, H5P_DEFAULT);
    bool read = dataset >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (dataset >= 0) H5Dclose(dataset);
    return read ? HN_OK : fail_format(file, place, "cannot be read: the file is damaged");
}

static hn_status read_string_dataset(hn_result_file *file, hid_t dataset, const char *place,
                                     string_list *list)
{
    hid_t stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hid_t type = stored >= 0 ? H5Tcopy(stored) : -1; // the stored one cannot be changed
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    size_t width = 0;
    bool plain = type >= 0 && count >= 0 && count <= ELEMENT_COUNT_MAX &&
                 H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                 H5Sget_simple_extent_ndims(space) <= 1;
    if (plain) width = H5Tget_size(type);
    hn_status status = HN_OK;
    if (!plain || width == 0) status = fail_format(file, place, "is no text");
    if (status == HN_OK) {
        // one byte more than in the file, so that every string ends
        list->count = (size_t)count;
        list->stride = width + 1;
        list->text = context_allocate(file->context, list->count * list->stride + 1);
        if (list->text == NULL) status = HN_OUT_OF_MEMORY;
    }
    if (status == HN_OK && count > 0 &&
        (H5Tset_size(type, list->stride) < 0 ||
         H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, list->text) < 0))
        status = fail_format(file, place, "cannot be read: the file is damaged");
    for (size_t i = 0; status == HN_OK && i < list->count; ++i)
        list->text[(i + 1) * list->stride - 1] = '\0';
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (stored >= 0) H5Tclose(stored);
    return status;
}

/// A list that is missing is an empty one: a model without joints has none.
static hn_status read_strings(hn_result_file *file, const char *place, string_list *list)
{
    if (!has(file, place)) return HN_OK;
    hid_t dataset = H5Dopen2(file->file, place, H5P_DEFAULT);
    if (dataset < 0) return fail_format(file, place, "cannot be read: the file is damaged");
    hn_status status = read_string_dataset(file, dataset, place, list);
    H5Dclose(dataset);
    return status;
}

/// Names have no control characters, as in models.
static hn_status read_names(hn_result_file *file, const char *place, string_list *list)
{
    TRY(read_strings(file, place, list));
    for (size_t i = 0; i < list->count; ++i)
        if (hidden_has_control(string_at(list, i)))
            return fail_format(file, place, "has a control character in a name");
    return HN_OK;
}

/// A list with one text for each of `count` elements.
static hn_status read_string_of_each(hn_result_file *file, const char *place, size_t count,
                                     string_list *list)
{
    TRY(read_strings(file, place, list));
    return list->count == count ? HN_OK : fail_format(file, place, "does not fit the names");
}

// ---- attributes -----------------------------------------------------------------------------------

/// Open `name` on the object at `place` ("": the file); negative: there is none.
static hid_t open_attribute(const hn_result_file *file, const char *place, const char *name)
{
    hid_t object = place[0] == '\0' ? file->file : -1;
    if (object < 0 && has(file, place)) object = H5Oopen(file->file, place, H5P_DEFAULT);
    if (object < 0) return -1;
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (object != file->file) H5Oclose(object);
    return attribute;
}

static bool attribute_numbers(const hn_result_file *file, const char *place, const char *name,
                              hid_t type, int count, void *values)
{
    hid_t attribute = open_attribute(file, place, name);
    if (attribute < 0) return false;
    hid_t space = H5Aget_space(attribute);
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == count &&
                H5Aread(attribute, type, values) >= 0;
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    return read;
}

static bool attribute_double(const hn_result_file *file, const char *place, const char *name,
                             double *value)
{
    return attribute_numbers(file, place, name, H5T_NATIVE_DOUBLE, 1, value);
}

static bool attribute_int(const hn_result_file *file, const char *place, const char *name,
                          int *value)
{
    return attribute_numbers(file, place, name, H5T_NATIVE_INT, 1, value);
}

static bool attribute_bool(const hn_result_file *file, const char *place, const char *name,
                           bool *value)
{
    int number = 0;
    bool read = attribute_int(file, place, name, &number);
    *value = number != 0;
    return read;
}

static bool attribute_vector(const hn_result_file *file, const char *place, const char *name,
                             hn_vec3 *value)
{
    double numbers[3] = {0.0, 0.0, 0.0};
    bool read = attribute_numbers(file, place, name, H5T_NATIVE_DOUBLE, 3, numbers);
    *value = (hn_vec3){numbers[0], numbers[1], numbers[2]};
    return read;
}

/// Text of an attribute in memory of its own; `*text` stays NULL when it is missing.
static hn_status attribute_text(const hn_result_file *file, const char *place, const char *name,
                                char **text)
{
    hid_t attribute = open_attribute(file, place, name);
    if (attribute < 0) return HN_OK;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool plain = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                 H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1;
    hn_status status = plain ? HN_OK : fail_format(file, name, "is no text");
    if (plain) {
        *text = context_allocate(file->context, H5Tget_size(type) + 1); // zeroed: it ends
        if (*text == NULL) status = HN_OUT_OF_MEMORY;
        else if (H5Aread(attribute, type, *text) < 0)
            status = fail_format(file, name, "cannot be read: the file is damaged");
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return status;
}

static hn_status required_text(const hn_result_file *file, const char *place, const char *name,
                               char **text)
{
    TRY(attribute_text(file, place, name, text));
    return *text != NULL ? HN_OK : fail_format(file, name, "is missing");
}

// ---- what the file says about its run ---------------------------------------------------------------

static hn_status check_format(hn_result_file *file)
{
    char *format = NULL;
    hn_status status = attribute_text(file, "", "format", &format);
    bool ours = format != NULL && strcmp(format, "holonom results") == 0;
    context_release(file->context, format);
    if (status == HN_OUT_OF_MEMORY) return status;
    if (!ours) return fail_format(file, "this HDF5 file", "is not a result file of holonom");
    if (!attribute_int(file, "", "format_version", &file->info.format_version))
        return fail_format(file, "format_version", "is missing");
    if (file->info.format_version < 1 || file->info.format_version > RESULTS_FORMAT_VERSION)
        return context_fail(file->context, HN_FILE_FORMAT,
                            "%s: result format %d is not known here (this is holonom %s, which "
                            "reads formats up to %d): read it with the version that wrote it",
                            file->path, file->info.format_version, hn_version(),
                            RESULTS_FORMAT_VERSION);
    return HN_OK;
}

static hn_status read_options(hn_result_file *file)
{
    hn_result_info *info = &file->info;
    TRY(required_text(file, "", "holonom_version", &file->version));
    TRY(required_text(file, "model", "name", &file->model_name));
    TRY(required_text(file, "options", "scheme", &file->scheme));
    TRY(required_text(file, "options", "reduction", &file->reduction));
    info->holonom_version = file->version;
    info->model_name = file->model_name;
    info->scheme = file->scheme;
    info->reduction = file->reduction;
    if (!attribute_bool(file, "", "complete", &info->complete))
        return fail_format(file, "complete", "is missing");
    if (!attribute_vector(file, "model", "gravity", &info->gravity))
        return fail_format(file, "gravity", "is missing");
    if (!attribute_double(file, "options", "step_size", &info->step_size))
        return fail_format(file, "step_size", "is missing");
    info->settings = hn_simulation_def_default();
    info->run = hn_results_def_default();
    hid_t group = H5Gopen2(file->file, "options", H5P_DEFAULT);
    bool read = group >= 0 && options_read(group, &info->settings, &info->run);
    hn_status words =
        read ? options_read_series(group, file->context, &file->series_words) : HN_FILE_FORMAT;
    info->run.series = file->series_words;
    if (group >= 0) H5Gclose(group);
    if (words == HN_OUT_OF_MEMORY) return words;
    if (words != HN_OK) return fail_format(file, "a setting among the options", "cannot be read");

    string_list text = {NULL, 0, 0};
    hn_status status = read_strings(file, "model/text", &text);
    file->model_text = text.text;
    info->model_text = text.text;
    info->model_text_length = text.text == NULL ? 0 : text.stride - 1;
    return status;
}

static hn_status read_structure(hn_result_file *file)
{
    hn_structure *s = &file->info.structure;
    const struct {
        const char *name;
        int *value;
    } counts[] = {
        {"body_count", &s->body_count},
        {"joint_count", &s->joint_count},
        {"loop_count", &s->loop_count},
        {"coordinate_count", &s->coordinate_count},
        {"constraint_count", &s->constraint_count},
        {"internal_constraint_count", &s->internal_constraint_count},
        {"constraint_rank", &s->constraint_rank},
        {"degrees_of_freedom", &s->degrees_of_freedom},
        {"unknown_count", &s->unknown_count},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
        if (!attribute_int(file, "structure", counts[i].name, counts[i].value))
            return fail_format(file, counts[i].name, "of the structure is missing");
    s->loop_solution = "";
    bool read =
        attribute_double(file, "structure", "position_projection", &s->position_projection) &&
        attribute_double(file, "structure", "velocity_projection", &s->velocity_projection) &&
        attribute_double(file, "structure", "spin_step", &s->spin_step);
    return read ? HN_OK : fail_format(file, "the structure", "is not complete");
}

static hn_status read_ledger_entry(hn_result_file *file, hn_promise promise)
{
    hn_ledger_entry *entry = &file->info.ledger.entry[promise];
    char place[64];
    snprintf(place, sizeof place, "ledger/promises/%s", hn_promise_name(promise));
    if (promise == HN_PROMISE_EQUATIONS && !has(file, place)) { // of an earlier version
        *entry = (hn_ledger_entry){.kept = true};
        snprintf(entry->note, sizeof entry->note,
                 "not measured by the version that wrote the file");
        return HN_OK;
    }
    bool read = attribute_bool(file, place, "conserved", &entry->conserved) &&
                attribute_double(file, place, "error", &entry->error) &&
                attribute_double(file, place, "drift", &entry->drift) &&
                attribute_double(file, place, "drift_per_step", &entry->drift_per_step) &&
                attribute_double(file, place, "bound", &entry->bound) &&
                attribute_bool(file, place, "kept", &entry->kept);
    if (!read) return fail_format(file, place, "is not complete");
    (void)attribute_double(file, place, "allowance", &entry->allowance); // earlier versions: none
    char *note = NULL;
    hn_status status = attribute_text(file, place, "note", &note);
    if (note != NULL) snprintf(entry->note, sizeof entry->note, "%s", note);
    context_release(file->context, note);
    return status;
}

static bool read_worst(hn_result_file *file, const char *place, const char *name, hn_worst *worst)
{
    char body[64];
    double numbers[2] = {0.0, 0.0};
    snprintf(body, sizeof body, "%s_body", name);
    bool read = attribute_numbers(file, place, name, H5T_NATIVE_DOUBLE, 2, numbers) &&
                attribute_int(file, place, body, &worst->body);
    worst->value = numbers[0], worst->time = numbers[1];
    return read;
}

static hn_status read_accuracy(hn_result_file *file)
{
    static const char *const place = "ledger/accuracy";
    hn_accuracy *a = &file->info.ledger.accuracy;
    if (!has(file, place)) return HN_OK; // of an earlier version
    bool read =
        read_worst(file, place, "position", &a->position) &&
        read_worst(file, place, "angle", &a->angle) &&
        read_worst(file, place, "relative", &a->relative) &&
        read_worst(file, place, "spin_step", &a->spin_step) &&
        attribute_double(file, place, "position_sum", &a->position_sum) &&
        attribute_double(file, place, "angle_sum", &a->angle_sum) &&
        attribute_double(file, place, "relative_sum", &a->relative_sum) &&
        attribute_double(file, place, "spin_step_limit", &a->spin_step_limit) &&
        attribute_numbers(file, place, "sample_count", H5T_NATIVE_INT64, 1, &a->sample_count) &&
        attribute_numbers(file, place, "unresolved_count", H5T_NATIVE_INT64, 1,
                          &a->unresolved_count) &&
        attribute_numbers(file, place, "halved_step_count", H5T_NATIVE_INT64, 1,
                          &a->halved_step_count);
    // earlier versions: none
    (void)attribute_numbers(file, place, "ambiguous_step_count", H5T_NATIVE_INT64, 1,
                            &a->ambiguous_step_count);
    a->leap_joint = -1;
    (void)(attribute_numbers(file, place, "leap_count", H5T_NATIVE_INT64, 1, &a->leap_count) &&
           attribute_double(file, place, "leap_time", &a->leap_time) &&
           attribute_int(file, place, "leap_joint", &a->leap_joint));
    return read ? HN_OK : fail_format(file, "the accuracy of the ledger", "is not complete");
}

static hn_status read_ledger(hn_result_file *file)
{
    static const char *const place = "ledger/promises";
    hn_ledger *ledger = &file->info.ledger;
    if (!has(file, place)) return HN_OK; // the run had none
    double linear[3], angular[3];
    bool read =
        attribute_double(file, place, "energy_scale", &ledger->energy_scale) &&
        attribute_double(file, place, "momentum_scale", &ledger->momentum_scale) &&
        attribute_double(file, place, "energy_min", &ledger->energy_min) &&
        attribute_double(file, place, "energy_max", &ledger->energy_max) &&
        attribute_numbers(file, place, "linear_component", H5T_NATIVE_DOUBLE, 3, linear) &&
        attribute_numbers(file, place, "angular_component", H5T_NATIVE_DOUBLE, 3, angular) &&
        attribute_vector(file, place, "angular_point", &ledger->angular_point) &&
        attribute_numbers(file, place, "step_count", H5T_NATIVE_INT64, 1, &ledger->step_count);
    if (!read) return fail_format(file, "the ledger", "is not complete");
    for (int i = 0; i < 3; ++i) {
        ledger->linear_component[i] = linear[i] != 0.0;
        ledger->angular_component[i] = angular[i] != 0.0;
    }
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) TRY(read_ledger_entry(file, (hn_promise)i));
    TRY(read_accuracy(file));
    file->info.has_ledger = true;
    return HN_OK;
}

/// Totals are attributes; what belongs to the last step stands in the last record.
static hn_status read_statistics(hn_result_file *file)
{
    hn_statistics *s = &file->info.statistics;
    bool read =
        attribute_numbers(file, "newton", "step_count", H5T_NATIVE_INT64, 1, &s->step_count) &&
        attribute_numbers(file, "newton", "newton_iteration_count", H5T_NATIVE_INT64, 1,
                          &s->newton_iteration_count) &&
        attribute_int(file, "newton", "newton_iteration_max", &s->newton_iteration_max) &&
        attribute_numbers(file, "newton", "halved_step_count", H5T_NATIVE_INT64, 1,
                          &s->halved_step_count);
    if (!read) return fail_format(file, "the statistics of newton", "are not complete");
    const int iterations = hn_result_file_find_series(file, "newton/iterations"),
              residual = hn_result_file_find_series(file, "newton/residual"),
              increment = hn_result_file_find_series(file, "newton/increment");
    const int64_t last = file->info.record_count - 1;
    if (last < 0) return HN_OK;
    double count = 0.0;
    if (iterations >= 0) TRY(hn_result_file_read(file, iterations, last, 1, 1, &count));
    if (residual >= 0) TRY(hn_result_file_read(file, residual, last, 1, 1, &s->last_residual));
    if (increment >= 0) TRY(hn_result_file_read(file, increment, last, 1, 1, &s->last_increment));
    if (count >= 0.0 && count <= INT32_MAX) s->last_iteration_count = (int)count;
    return HN_OK;
}

// ---- bodies, joints, shapes -------------------------------------------------------------------------

static hn_vec3 vector_at(const double *values, size_t index)
{
    return (hn_vec3){values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

static hn_mat3 matrix_at(const double *values, size_t index)
{
    hn_mat3 matrix;
    memcpy(matrix.m, values + 9 * index, sizeof matrix.m);
    return matrix;
}

static hn_status read_body_numbers(hn_result_file *file, double *numbers)
{
    const size_t count = file->extent.body_count;
    double *mass = numbers, *center = mass + count, *inertia = center + 3 * count;
    TRY(read_numbers(file, "bodies/mass", H5T_NATIVE_DOUBLE, count, mass));
    TRY(read_numbers(file, "bodies/center_of_mass", H5T_NATIVE_DOUBLE, 3 * count, center));
    TRY(read_numbers(file, "bodies/inertia", H5T_NATIVE_DOUBLE, 9 * count, inertia));
    for (size_t i = 0; i < count; ++i)
        file->bodies[i] = (hn_result_body){.name = string_at(&file->body_names, i),
                                           .kind = string_at(&file->body_kinds, i),
                                           .mass = mass[i],
                                           .center_of_mass = vector_at(center, i),
                                           .inertia = matrix_at(inertia, i)};
    return HN_OK;
}

static hn_status read_bodies(hn_result_file *file)
{
    TRY(read_names(file, "bodies/names", &file->body_names));
    const size_t count = file->extent.body_count = file->body_names.count;
    file->info.body_count = (int)count;
    TRY(read_string_of_each(file, "bodies/kind", count, &file->body_kinds));
    file->bodies = context_allocate(file->context, count * sizeof *file->bodies + 1);
    if (file->bodies == NULL) return HN_OUT_OF_MEMORY;
    double *numbers = context_allocate(file->context, count * (1 + 3 + 9) * sizeof *numbers + 1);
    if (numbers == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = read_body_numbers(file, numbers);
    context_release(file->context, numbers);
    return status;
}

/// Fill `shapes` from tables of `numbers`; each shape belongs to the body of its number, bodies in ascending order.
static hn_status read_shape_numbers(hn_result_file *file, const string_list *kinds, double *numbers,
                                    int *body)
{
    const size_t count = kinds->count;
    double *size = numbers, *radius = size + 3 * count, *inner = radius + count,
           *height = inner + count, *corners = height + count, *position = corners + 12 * count,
           *orientation = position + 3 * count;
    TRY(read_numbers(file, "shapes/body", H5T_NATIVE_INT, count, body));
    TRY(read_numbers(file, "shapes/size", H5T_NATIVE_DOUBLE, 3 * count, size));
    TRY(read_numbers(file, "shapes/radius", H5T_NATIVE_DOUBLE, count, radius));
    TRY(read_numbers(file, "shapes/inner_radius", H5T_NATIVE_DOUBLE, count, inner));
    TRY(read_numbers(file, "shapes/height", H5T_NATIVE_DOUBLE, count, height));
    TRY(read_numbers(file, "shapes/corners", H5T_NATIVE_DOUBLE, 12 * count, corners));
    TRY(read_numbers(file, "shapes/position", H5T_NATIVE_DOUBLE, 3 * count, position));
    TRY(read_numbers(file, "shapes/orientation", H5T_NATIVE_DOUBLE, 9 * count, orientation));
    for (size_t i = 0; i < count; ++i) {
        hn_shape *shape = &file->shapes[i];
        int kind = HN_SHAPE_BOX;
        while (kind <= HN_SHAPE_TETRAHEDRON &&
               strcmp(hn_shape_kind_name((hn_shape_kind)kind), string_at(kinds, i)) != 0)
            ++kind;
        if (kind > HN_SHAPE_TETRAHEDRON)
            return fail_format(file, "shapes/kind", "names a shape that is not known here");
        if (body[i] < 0 || (size_t)body[i] >= file->extent.body_count ||
            (i > 0 && body[i] < body[i - 1]))
            return fail_format(file, "shapes/body", "does not fit the bodies");
        shape->kind = (hn_shape_kind)kind;
        shape->size = vector_at(size, i);
        shape->radius = radius[i];
        shape->inner_radius = inner[i];
        shape->height = height[i];
        for (size_t c = 0; c < 4; ++c) shape->corners[c] = vector_at(corners, 4 * i + c);
        shape->position = vector_at(position, i);
        shape->orientation = matrix_at(orientation, i);
        hn_result_body *owner = &file->bodies[body[i]];
        if (owner->shape_count++ == 0) owner->shapes = shape;
    }
    return HN_OK;
}

static hn_status read_shapes(hn_result_file *file)
{
    string_list kinds = {NULL, 0, 0};
    double *numbers = NULL;
    int *body = NULL;
    hn_status status = read_strings(file, "shapes/kind", &kinds);
    if (status == HN_OK && kinds.count > 0) {
        file->shapes = context_allocate(file->context, kinds.count * sizeof *file->shapes);
        numbers = context_allocate(file->context, kinds.count * SHAPE_NUMBERS * sizeof *numbers);
        body = context_allocate(file->context, kinds.count * sizeof *body);
        status = file->shapes == NULL || numbers == NULL || body == NULL
                     ? HN_OUT_OF_MEMORY
                     : read_shape_numbers(file, &kinds, numbers, body);
    }
    context_release(file->context, body);
    context_release(file->context, numbers);
    context_release(file->context, kinds.text);
    return status;
}

static hn_status read_joint_integers(hn_result_file *file, int *numbers)
{
    const size_t count = file->extent.joint_count;
    int *body_a = numbers, *body_b = body_a + count, *start = body_b + count, *own = start + count;
    TRY(read_numbers(file, "joints/body_a", H5T_NATIVE_INT, count, body_a));
    TRY(read_numbers(file, "joints/body_b", H5T_NATIVE_INT, count, body_b));
    TRY(read_numbers(file, "joints/coordinate_start", H5T_NATIVE_INT, count, start));
    TRY(read_numbers(file, "joints/coordinate_count", H5T_NATIVE_INT, count, own));
    int next = 0;
    for (size_t i = 0; i < count; ++i) {
        const int bodies = file->info.body_count;
        bool fits = body_a[i] >= -1 && body_a[i] < bodies && body_b[i] >= -1 &&
                    body_b[i] < bodies && start[i] == next && own[i] >= 0 &&
                    own[i] <= file->info.coordinate_count - next;
        if (!fits) return fail_format(file, "the table of joints", "contradicts itself");
        next += own[i];
        file->joints[i] = (hn_result_joint){.name = string_at(&file->joint_names, i),
                                            .kind = string_at(&file->joint_kinds, i),
                                            .body_a = body_a[i],
                                            .body_b = body_b[i],
                                            .coordinate_start = start[i],
                                            .coordinate_count = own[i]};
    }
    for (size_t i = 0; i < file->extent.coordinate_count; ++i)
        if (file->coordinate_joint[i] < 0 || (size_t)file->coordinate_joint[i] >= count)
            return fail_format(file, "joints/coordinate_joint", "does not fit the joints");
    return HN_OK;
}

static hn_status read_joint_places(hn_result_file *file, double *numbers)
{
    const size_t count = file->extent.joint_count;
    double *point_a = numbers, *point_b = point_a + 3 * count, *frame_a = point_b + 3 * count,
           *frame_b = frame_a + 9 * count;
    TRY(read_numbers(file, "joints/point_a", H5T_NATIVE_DOUBLE, 3 * count, point_a));
    TRY(read_numbers(file, "joints/point_b", H5T_NATIVE_DOUBLE, 3 * count, point_b));
    TRY(read_numbers(file, "joints/frame_a", H5T_NATIVE_DOUBLE, 9 * count, frame_a));
    TRY(read_numbers(file, "joints/frame_b", H5T_NATIVE_DOUBLE, 9 * count, frame_b));
    for (size_t i = 0; i < count; ++i) {
        hn_result_joint *joint = &file->joints[i];
        joint->placed = true;
        joint->point_a = vector_at(point_a, i);
        joint->point_b = vector_at(point_b, i);
        joint->frame_a = matrix_at(frame_a, i);
        joint->frame_b = matrix_at(frame_b, i);
    }
    return HN_OK;
}

/// "rad" becomes "rad/s".
static hn_status make_rate_units(hn_result_file *file)
{
    const string_list *units = &file->coordinate_units;
    string_list *rates = &file->coordinate_rate_units;
    rates->count = units->count;
    rates->stride = units->stride + 2;
    rates->text = context_allocate(file->context, rates->count * rates->stride + 1);
    if (rates->text == NULL) return HN_OUT_OF_MEMORY;
    for (size_t i = 0; i < rates->count; ++i)
        snprintf(rates->text + i * rates->stride, rates->stride, "%s/s", string_at(units, i));
    return HN_OK;
}

static hn_status read_joints(hn_result_file *file)
{
    hn_context *context = file->context;
    TRY(read_names(file, "joints/names", &file->joint_names));
    TRY(read_names(file, "joints/coordinate_names", &file->coordinate_names));
    const size_t count = file->extent.joint_count = file->joint_names.count,
                 coordinates = file->extent.coordinate_count = file->coordinate_names.count;
    file->info.joint_count = (int)count;
    file->info.coordinate_count = (int)coordinates;
    TRY(read_string_of_each(file, "joints/kind", count, &file->joint_kinds));
    TRY(read_string_of_each(file, "joints/coordinate_units", coordinates, &file->coordinate_units));
    TRY(make_rate_units(file));
    file->joints = context_allocate(context, count * sizeof *file->joints + 1);
    file->coordinate_joint = context_allocate(context, coordinates * sizeof(int) + 1);
    if (file->joints == NULL || file->coordinate_joint == NULL) return HN_OUT_OF_MEMORY;
    TRY(read_numbers(file, "joints/coordinate_joint", H5T_NATIVE_INT, coordinates,
                     file->coordinate_joint));

    int *integers = context_allocate(context, count * 4 * sizeof *integers + 1);
    double *numbers = context_allocate(context, count * 24 * sizeof *numbers + 1);
    hn_status status = integers == NULL || numbers == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) status = read_joint_integers(file, integers);
    if (status == HN_OK && has(file, "joints/point_a")) status = read_joint_places(file, numbers);
    context_release(context, numbers);
    context_release(context, integers);
    return status;
}

/// Fill `loads` from tables of `integers` and `numbers`, sizes as in read_loads.
static hn_status read_load_numbers(hn_result_file *file, int *integers, double *numbers)
{
    const size_t count = file->load_names.count;
    int *body_a = integers, *body_b = body_a + count, *joint = body_b + count,
        *body_fixed = joint + count, *points = body_fixed + count;
    double *vector = numbers, *point_a = vector + 3 * count, *point_b = point_a + 3 * count,
           *stiffness = point_b + 3 * count, *damping = stiffness + count, *rest = damping + count;
    TRY(read_numbers(file, "loads/body_a", H5T_NATIVE_INT, count, body_a));
    TRY(read_numbers(file, "loads/body_b", H5T_NATIVE_INT, count, body_b));
    TRY(read_numbers(file, "loads/joint", H5T_NATIVE_INT, count, joint));
    TRY(read_numbers(file, "loads/body_fixed", H5T_NATIVE_INT, count, body_fixed));
    TRY(read_numbers(file, "loads/profile_count", H5T_NATIVE_INT, count, points));
    TRY(read_numbers(file, "loads/vector", H5T_NATIVE_DOUBLE, 3 * count, vector));
    TRY(read_numbers(file, "loads/point_a", H5T_NATIVE_DOUBLE, 3 * count, point_a));
    TRY(read_numbers(file, "loads/point_b", H5T_NATIVE_DOUBLE, 3 * count, point_b));
    TRY(read_numbers(file, "loads/stiffness", H5T_NATIVE_DOUBLE, count, stiffness));
    TRY(read_numbers(file, "loads/damping", H5T_NATIVE_DOUBLE, count, damping));
    TRY(read_numbers(file, "loads/rest", H5T_NATIVE_DOUBLE, count, rest));
    const int bodies = file->info.body_count, joints = file->info.joint_count;
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        if (body_a[i] < -1 || body_a[i] >= bodies || body_b[i] < -1 || body_b[i] >= bodies ||
            joint[i] < -1 || joint[i] >= joints || points[i] < 0)
            return fail_format(file, "the table of loads", "contradicts itself");
        total += (size_t)points[i];
    }
    if (total > ELEMENT_COUNT_MAX)
        return fail_format(file, "the table of loads", "contradicts itself");
    // the dataset's own size is compared before so much memory is asked for
    TRY(check_size(file, "loads/profile_times", total));
    file->load_profiles = context_allocate(file->context, 2 * total * sizeof(double) + 1);
    if (file->load_profiles == NULL) return HN_OUT_OF_MEMORY;
    double *times = file->load_profiles, *factors = times + total;
    TRY(read_numbers(file, "loads/profile_times", H5T_NATIVE_DOUBLE, total, times));
    TRY(read_numbers(file, "loads/profile_factors", H5T_NATIVE_DOUBLE, total, factors));
    for (size_t i = 0; i < count; times += points[i], factors += points[i], ++i)
        file->loads[i] = (hn_result_load){.name = string_at(&file->load_names, i),
                                          .kind = string_at(&file->load_kinds, i),
                                          .body_a = body_a[i],
                                          .body_b = body_b[i],
                                          .joint = joint[i],
                                          .body_fixed = body_fixed[i] != 0,
                                          .vector = vector_at(vector, i),
                                          .point_a = vector_at(point_a, i),
                                          .point_b = vector_at(point_b, i),
                                          .stiffness = stiffness[i],
                                          .damping = damping[i],
                                          .rest = rest[i],
                                          .profile_times = times,
                                          .profile_factors = factors,
                                          .profile_count = points[i]};
    file->info.load_count = (int)count;
    return HN_OK;
}

static hn_status read_loads(hn_result_file *file)
{
    hn_context *context = file->context;
    TRY(read_names(file, "loads/names", &file->load_names));
    const size_t count = file->load_names.count;
    if (count == 0) return HN_OK;
    TRY(read_string_of_each(file, "loads/kind", count, &file->load_kinds));
    file->loads = context_allocate(context, count * sizeof *file->loads);
    int *integers = context_allocate(context, 5 * count * sizeof *integers);
    double *numbers = context_allocate(context, 12 * count * sizeof *numbers);
    hn_status status = file->loads == NULL || integers == NULL || numbers == NULL
                           ? HN_OUT_OF_MEMORY
                           : read_load_numbers(file, integers, numbers);
    context_release(context, numbers);
    context_release(context, integers);
    return status;
}

static hn_status read_beams(hn_result_file *file)
{
    hn_context *context = file->context;
    if (!has(file, "beams/element_names")) return HN_OK;
    TRY(read_names(file, "beams/names", &file->beam_names));
    TRY(read_names(file, "beams/element_names", &file->beam_element_names));
    const size_t count = file->beam_names.count;
    file->extent.beam_element_count = file->beam_element_names.count;
    file->beams = context_allocate(context, count * sizeof *file->beams + 1);
    int *integers = context_allocate(context, 2 * count * sizeof *integers + 1);
    hn_status status = file->beams == NULL || integers == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK)
        status = read_numbers(file, "beams/first_node", H5T_NATIVE_INT, count, integers);
    if (status == HN_OK)
        status = read_numbers(file, "beams/element_count", H5T_NATIVE_INT, count, integers + count);
    size_t next = 0;
    for (size_t i = 0; i < count && status == HN_OK; ++i) {
        int first = integers[i], own = integers[count + i];
        bool fits = first >= 0 && own >= 1 && own < file->info.body_count - first &&
                    (size_t)own <= file->extent.beam_element_count - next;
        if (!fits) status = fail_format(file, "the table of beams", "contradicts itself");
        file->beams[i] = (hn_result_beam){.name = string_at(&file->beam_names, i),
                                          .first_node = first,
                                          .element_count = own,
                                          .first_element = (int)next};
        next += fits ? (size_t)own : 0;
    }
    if (status == HN_OK && next != file->extent.beam_element_count)
        status = fail_format(file, "the table of beams", "contradicts itself");
    file->info.beam_count = status == HN_OK ? (int)count : 0;
    context_release(context, integers);
    return status;
}

static hn_status read_drives(hn_result_file *file)
{
    if (!has(file, "drives/names")) return HN_OK;
    TRY(read_strings(file, "drives/names", &file->drive_names));
    file->extent.drive_count = file->drive_names.count;
    return HN_OK;
}

static hn_status read_couplings(hn_result_file *file)
{
    if (!has(file, "couplings/names")) return HN_OK;
    TRY(read_strings(file, "couplings/names", &file->coupling_names));
    file->extent.coupling_count = file->coupling_names.count;
    return HN_OK;
}

static hn_status read_outputs(hn_result_file *file)
{
    if (!has(file, "outputs/names")) return HN_OK;
    TRY(read_strings(file, "outputs/names", &file->output_names));
    file->extent.output_count = file->output_names.count;
    TRY(read_string_of_each(file, "outputs/components", file->output_names.count,
                            &file->output_components));
    return read_string_of_each(file, "outputs/units", file->output_names.count,
                               &file->output_units);
}

// ---- series ---------------------------------------------------------------------------------------

static hn_status open_series(hn_result_file *file, series_id id)
{
    const series_info *info = series_get(id);
    reader_series *series = &file->series[file->series_count];
    series->id = id;
    snprintf(series->name, sizeof series->name, "%s%s%s", info->group,
             info->group[0] == '\0' ? "" : "/", info->name);
    size_t dims[3];
    int rank = series_record_dims(info->shape, &file->extent, dims);
    series->about = (hn_result_series){.name = series->name,
                                       .unit = info->unit,
                                       .meaning = info->meaning,
                                       .rank = rank,
                                       .width = series_width(info->shape, &file->extent)};
    if (series->about.width == 0 || !has(file, series->name)) return HN_OK;
    for (int i = 0; i < rank; ++i) series->about.dims[i] = (int)dims[i];

    series->dataset = H5Dopen2(file->file, series->name, H5P_DEFAULT);
    if (series->dataset < 0) return fail_format(file, series->name, "is not a series");
    file->series_count += 1; // from here on it is closed with the file
    hid_t space = H5Dget_space(series->dataset);
    hsize_t found[RANK_MAX] = {0};
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank + 1 &&
                H5Sget_simple_extent_dims(space, found, NULL) >= 0 && found[0] <= INT64_MAX;
    for (int i = 0; fits && i < rank; ++i) fits = found[i + 1] == dims[i];
    if (space >= 0) H5Sclose(space);
    if (!fits) return fail_format(file, series->name, "has not the shape its model needs");

    // a run that was killed while writing may have left more records in some series
    if (file->series_count == 1 || (int64_t)found[0] < file->info.record_count)
        file->info.record_count = (int64_t)found[0];
    return HN_OK;
}

static hn_status open_all_series(hn_result_file *file)
{
    for (int i = 0; i < SERIES_COUNT; ++i) TRY(open_series(file, (series_id)i));
    if (hn_result_file_find_series(file, "time") < 0)
        return fail_format(file, "the series 'time'", "is missing");
    file->info.run.all_series = hn_result_file_find_series(file, "ledger/hidden_projected") >= 0;
    // what a killed run left beyond the records that it had counted may have holes
    int64_t counted = 0;
    if (attribute_numbers(file, "", "record_count", H5T_NATIVE_INT64, 1, &counted) &&
        counted >= 0 && counted < file->info.record_count)
        file->info.record_count = counted;
    return HN_OK;
}

static hn_status take_name(hn_result_file *file)
{
    size_t longest = file->body_names.stride;
    if (file->joint_names.stride > longest) longest = file->joint_names.stride;
    if (file->beam_element_names.stride > longest) longest = file->beam_element_names.stride;
    if (file->drive_names.stride > longest) longest = file->drive_names.stride;
    if (file->coupling_names.stride > longest) longest = file->coupling_names.stride;
    if (file->output_names.stride > longest) longest = file->output_names.stride;
    file->name_size = longest + file->coordinate_names.stride + FIXED_NAME_SIZE;
    file->name = context_allocate(file->context, file->name_size);
    return file->name == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

// ---- open and close -------------------------------------------------------------------------------

static hn_status open_hdf5(hn_result_file *file)
{
    struct stat information;
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe does not block
    if (descriptor < 0)
        return context_fail(file->context, HN_FILE_ACCESS, "%s: cannot be read: %s", file->path,
                            system_error_sentence(errno));
    bool known = fstat(descriptor, &information) == 0;
    close(descriptor);
    if (known && S_ISDIR(information.st_mode))
        return context_fail(file->context, HN_FILE_ACCESS, "%s: is a folder", file->path);
    if (known && !S_ISREG(information.st_mode))
        return context_fail(file->context, HN_FILE_ACCESS, "%s: is not a regular file", file->path);

    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    // a writer may be at work on a block: look again a few times, not the hundred that make a damaged file hang
    const unsigned READ_ATTEMPTS = 8;
    if (access >= 0) (void)!H5Pset_metadata_read_attempts(access, READ_ATTEMPTS);
    if (access < 0) return fail_format(file, "the file", "cannot be opened");
    H5Pset_file_locking(access, 0, 1); // a run may be writing it
    file->file = H5Fopen(file->path, H5F_ACC_RDONLY, access);
    // during a flush, or killed within these moments, a run leaves the mark of a writer: one way of reading passes it
    if (file->file < 0 && disk_has_mark(file->path))
        file->file = H5Fopen(file->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    H5Pclose(access);
    return file->file >= 0
               ? HN_OK
               : fail_format(file, "the file", "is not a result file (HDF5), or it is damaged");
}

static hn_status read_description(hn_result_file *file)
{
    TRY(check_format(file));
    TRY(read_options(file));
    TRY(read_structure(file));
    TRY(read_bodies(file));
    TRY(read_joints(file));
    TRY(read_shapes(file));
    TRY(read_loads(file));
    TRY(read_beams(file));
    TRY(read_drives(file));
    TRY(read_couplings(file));
    TRY(read_outputs(file));
    TRY(take_name(file));
    TRY(open_all_series(file));
    TRY(read_ledger(file));
    return read_statistics(file);
}

hn_status hn_result_file_open(hn_context *context, const char *path, hn_result_file **file)
{
    REQUIRE(context, file != NULL);
    *file = NULL;
    REQUIRE(NULL, context != NULL);
    if (path == NULL || path[0] == '\0')
        return context_fail(context, HN_FILE_ACCESS, "the result file has no name");
    hn_result_file *opened = context_allocate(context, sizeof *opened);
    if (opened == NULL) return HN_OUT_OF_MEMORY;
    opened->context = context_retain(context);
    opened->file = -1;
    opened->path = context_copy_string(context, path);
    hn_status status = opened->path == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    if (status == HN_OK) status = open_hdf5(opened);
    if (status == HN_OK) status = read_description(opened);
    hdf5_silence_end(&silence);
    if (status == HN_OK) *file = opened;
    else hn_result_file_close(opened);
    return status;
}

void hn_result_file_close(hn_result_file *file)
{
    if (file == NULL) return;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    for (int i = 0; i < file->series_count; ++i) H5Dclose(file->series[i].dataset);
    if (file->file >= 0) H5Fclose(file->file);
    hdf5_silence_end(&silence);
    string_list *lists[] = {&file->body_names,
                            &file->body_kinds,
                            &file->joint_names,
                            &file->joint_kinds,
                            &file->coordinate_names,
                            &file->coordinate_units,
                            &file->coordinate_rate_units,
                            &file->load_names,
                            &file->load_kinds,
                            &file->beam_names,
                            &file->beam_element_names,
                            &file->drive_names,
                            &file->coupling_names,
                            &file->output_names,
                            &file->output_components,
                            &file->output_units};
    hn_context *context = file->context;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
        context_release(context, lists[i]->text);
    void *blocks[] = {file->version,   file->model_name, file->scheme,
                      file->reduction, file->model_text, file->series_words,
                      file->bodies,    file->joints,     file->coordinate_joint,
                      file->shapes,    file->loads,      file->load_profiles,
                      file->name,      file->path,       file->beams};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i)
        context_release(context, blocks[i]);
    context_release(context, file);
    context_drop(context);
}

// ---- what was read at the opening -------------------------------------------------------------------

const hn_result_info *hn_result_file_info(const hn_result_file *file)
{
    return file == NULL ? NULL : &file->info;
}

const hn_result_body *hn_result_file_body(const hn_result_file *file, int index)
{
    bool known = file != NULL && index >= 0 && index < file->info.body_count;
    return known ? &file->bodies[index] : NULL;
}

const hn_result_joint *hn_result_file_joint(const hn_result_file *file, int index)
{
    bool known = file != NULL && index >= 0 && index < file->info.joint_count;
    return known ? &file->joints[index] : NULL;
}

const hn_result_beam *hn_result_file_beam(const hn_result_file *file, int index)
{
    bool known = file != NULL && index >= 0 && index < file->info.beam_count;
    return known ? &file->beams[index] : NULL;
}

const hn_result_load *hn_result_file_load(const hn_result_file *file, int index)
{
    return file != NULL && index >= 0 && index < file->info.load_count ? &file->loads[index] : NULL;
}

int hn_result_file_series_count(const hn_result_file *file)
{
    return file == NULL ? 0 : file->series_count;
}

const hn_result_series *hn_result_file_series(const hn_result_file *file, int index)
{
    return index >= 0 && index < hn_result_file_series_count(file) ? &file->series[index].about
                                                                   : NULL;
}

int hn_result_file_find_series(const hn_result_file *file, const char *name)
{
    for (int i = 0; name != NULL && i < hn_result_file_series_count(file); ++i)
        if (strcmp(file->series[i].name, name) == 0) return i;
    return -1;
}

// ---- records --------------------------------------------------------------------------------------

/// Read a block of every record: `offset` and `dims` are those within a record.
static bool read_block(const reader_series *series, int64_t first, int64_t count, int64_t stride,
                       const hsize_t offset[3], const hsize_t dims[3], double *values)
{
    hsize_t start[RANK_MAX] = {(hsize_t)first}, number[RANK_MAX] = {(hsize_t)count},
            every[RANK_MAX] = {(hsize_t)stride, 1, 1, 1}, total = (hsize_t)count;
    for (int i = 0; i < series->about.rank; ++i) {
        start[i + 1] = offset[i];
        number[i + 1] = dims[i];
        total *= dims[i];
    }
    hid_t space = H5Dget_space(series->dataset), memory = H5Screate_simple(1, &total, NULL);
    bool read =
        space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, every, number, NULL) >= 0 &&
        H5Dread(series->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    return read;
}

static hn_status read_records(hn_result_file *file, int index, int64_t first, int64_t count,
                              int64_t stride, const hsize_t offset[3], const hsize_t dims[3],
                              double *values)
{
    const reader_series *series = &file->series[index];
    if (first < 0 || count < 0 || stride < 1)
        return context_fail(file->context, HN_INVALID_ARGUMENT,
                            "%s: records begin at 0, their number is not negative, and the stride "
                            "is at least 1",
                            file->path);
    if (count == 0) return HN_OK;
    REQUIRE(file->context, values != NULL);
    const int64_t records = file->info.record_count;
    if (first >= records || (count - 1) > (records - 1 - first) / stride)
        return context_fail(file->context, HN_INVALID_ARGUMENT,
                            "%s: '%s' has %lld records; %lld from record %lld on with stride %lld "
                            "are more than there are",
                            file->path, series->name, (long long)records, (long long)count,
                            (long long)first, (long long)stride);
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    bool read = read_block(series, first, count, stride, offset, dims, values);
    hdf5_silence_end(&silence);
    return read ? HN_OK : fail_format(file, series->name, "cannot be read: the file is damaged");
}

static hn_status fail_series_index(const hn_result_file *file)
{
    return context_fail(file->context, HN_INVALID_ARGUMENT,
                        "%s: there is no series or column of this number", file->path);
}

hn_status hn_result_file_read(hn_result_file *file, int series, int64_t first, int64_t count,
                              int64_t stride, double *values)
{
    REQUIRE(NULL, file != NULL);
    if (series < 0 || series >= file->series_count) return fail_series_index(file);
    const hn_result_series *about = &file->series[series].about;
    const hsize_t offset[3] = {0, 0, 0};
    const hsize_t dims[3] = {(hsize_t)about->dims[0], (hsize_t)about->dims[1],
                             (hsize_t)about->dims[2]};
    return read_records(file, series, first, count, stride, offset, dims, values);
}

hn_status hn_result_file_read_column(hn_result_file *file, hn_result_column column, int64_t first,
                                     int64_t count, int64_t stride, double *values)
{
    REQUIRE(NULL, file != NULL);
    if (column.series < 0 || column.series >= file->series_count ||
        column.component >= file->series[column.series].about.width)
        return fail_series_index(file);
    const hn_result_series *about = &file->series[column.series].about;
    hsize_t offset[3] = {0, 0, 0};
    const hsize_t dims[3] = {1, 1, 1};
    size_t rest = column.component;
    for (int i = about->rank - 1; i >= 0; --i) {
        offset[i] = rest % (size_t)about->dims[i];
        rest /= (size_t)about->dims[i];
    }
    return read_records(file, column.series, first, count, stride, offset, dims, values);
}
