// SPDX-License-Identifier: MIT
// Model, options, structure, ledger and blocks of a result as JSON.
#include "page_description.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PRINTED_MAX = 512 };

void json_print(byte_buffer *json, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof text)
        json->failed = true; // our own mistake, found by any test
    else buffer_append(json, text, (size_t)length);
}

void json_text(byte_buffer *json, const char *text, size_t length)
{
    buffer_append(json, "\"", 1);
    for (size_t i = 0; i < length; ++i) {
        const unsigned char letter = (unsigned char)text[i];
        if (letter < 0x20 || strchr("\"\\<>&", letter) != NULL || letter == 0x7f)
            json_print(json, "\\u%04x", letter);
        else buffer_append(json, &text[i], 1);
    }
    buffer_append(json, "\"", 1);
}

static void name(byte_buffer *json, const char *key, const char *text)
{
    json_print(json, "\"%s\":", key);
    json_text(json, text, strlen(text));
    buffer_append(json, ",", 1);
}

/// Nine digits: what is drawn does not need more. JSON has no infinity.
static void number(byte_buffer *json, double value)
{
    json_print(json, "%.9g", isfinite(value) ? value : 0.0);
}

static void numbers(byte_buffer *json, const char *key, const double *values, int count)
{
    json_print(json, "\"%s\":[", key);
    for (int i = 0; i < count; ++i) {
        if (i > 0) buffer_append(json, ",", 1);
        number(json, values[i]);
    }
    buffer_append(json, "],", 2);
}

static void vector(byte_buffer *json, const char *key, hn_vec3 value)
{
    const double values[3] = {value.x, value.y, value.z};
    numbers(json, key, values, 3);
}

static void matrix(byte_buffer *json, const char *key, hn_mat3 value)
{
    double values[9];
    memcpy(values, value.m, sizeof values);
    numbers(json, key, values, 9);
}

static void scalar(byte_buffer *json, const char *key, double value)
{
    numbers(json, key, &value, 0); // the key
    json->length -= 3;             // without its brackets
    number(json, value);
    buffer_append(json, ",", 1);
}

static void integer(byte_buffer *json, const char *key, int64_t value)
{
    json_print(json, "\"%s\":%lld,", key, (long long)value);
}

static void flag(byte_buffer *json, const char *key, bool value)
{
    json_print(json, "\"%s\":%s,", key, value ? "true" : "false");
}

static void open_list(byte_buffer *json, const char *key)
{
    json_print(json, "\"%s\":[", key);
}

/// Close an object or a list; a comma before the end is taken away.
static void close_with(byte_buffer *json, const char *bracket)
{
    if (!json->failed && json->length > 0 && json->bytes[json->length - 1] == ',')
        json->length -= 1;
    buffer_append(json, bracket, 1);
    buffer_append(json, ",", 1);
}

// ---- the model --------------------------------------------------------------------------------------

static void describe_bodies(byte_buffer *json, const hn_result_file *file)
{
    const hn_result_info *info = hn_result_file_info(file);
    open_list(json, "bodies");
    for (int i = 0; i < info->body_count; ++i) {
        const hn_result_body *body = hn_result_file_body(file, i);
        json_print(json, "{");
        name(json, "name", body->name);
        name(json, "kind", body->kind);
        scalar(json, "mass", body->mass);
        vector(json, "center_of_mass", body->center_of_mass);
        matrix(json, "inertia", body->inertia);
        close_with(json, "}");
    }
    close_with(json, "]");
    open_list(json, "shapes");
    for (int i = 0; i < info->body_count; ++i) {
        const hn_result_body *body = hn_result_file_body(file, i);
        for (int k = 0; k < body->shape_count; ++k) {
            const hn_shape *shape = &body->shapes[k];
            json_print(json, "{");
            integer(json, "body", i);
            name(json, "kind", hn_shape_kind_name(shape->kind));
            vector(json, "size", shape->size);
            scalar(json, "radius", shape->radius);
            scalar(json, "inner_radius", shape->inner_radius);
            scalar(json, "height", shape->height);
            open_list(json, "corners");
            for (int c = 0; c < 4; ++c)
                json_print(json, "[%.9g,%.9g,%.9g],", shape->corners[c].x, shape->corners[c].y,
                           shape->corners[c].z);
            close_with(json, "]");
            vector(json, "position", shape->position);
            matrix(json, "orientation", shape->orientation);
            close_with(json, "}");
        }
    }
    close_with(json, "]");
}

/// Name and unit of one coordinate: the end of its column's name, and the column's unit.
static void describe_coordinate(byte_buffer *json, hn_result_file *file, int series, int index)
{
    const hn_result_column column = {series, (size_t)index};
    const char *full = hn_result_file_column_name(file, column), *last = strrchr(full, '/');
    json_print(json, "{");
    name(json, "name", last == NULL ? full : last + 1);
    name(json, "unit", hn_result_file_column_unit(file, column));
    name(json, "meaning", "");
    close_with(json, "}");
}

static void describe_joints(byte_buffer *json, hn_result_file *file)
{
    const hn_result_info *info = hn_result_file_info(file);
    const int series = hn_result_file_find_series(file, "joints/coordinates");
    open_list(json, "joints");
    for (int i = 0; i < info->joint_count; ++i) {
        const hn_result_joint *joint = hn_result_file_joint(file, i);
        json_print(json, "{");
        name(json, "name", joint->name);
        name(json, "kind", joint->kind);
        integer(json, "body_a", joint->body_a);
        integer(json, "body_b", joint->body_b);
        flag(json, "placed", joint->placed);
        vector(json, "point_a", joint->point_a);
        vector(json, "point_b", joint->point_b);
        matrix(json, "frame_a", joint->frame_a);
        matrix(json, "frame_b", joint->frame_b);
        open_list(json, "coordinates");
        for (int k = 0; series >= 0 && k < joint->coordinate_count; ++k)
            describe_coordinate(json, file, series, joint->coordinate_start + k);
        close_with(json, "]");
        close_with(json, "}");
    }
    close_with(json, "]");
}

static void describe_spring(byte_buffer *json, const hn_result_load *load)
{
    json_print(json, "{");
    name(json, "name", load->name);
    integer(json, "body_a", load->body_a);
    integer(json, "body_b", load->body_b);
    vector(json, "point_a", load->point_a);
    vector(json, "point_b", load->point_b);
    scalar(json, "stiffness", load->stiffness);
    scalar(json, "damping", load->damping);
    scalar(json, "rest_length", load->rest);
    close_with(json, "}");
}

static void describe_load(byte_buffer *json, const hn_result_load *load)
{
    json_print(json, "{");
    name(json, "name", load->name);
    name(json, "kind", load->kind);
    integer(json, "body", load->body_a);
    flag(json, "body_fixed", load->body_fixed);
    vector(json, "vector", load->vector);
    vector(json, "point", load->point_a);
    json_print(json, "\"profile\":{");
    name(json, "kind", load->profile_count == 0 ? "constant" : "table");
    numbers(json, "times", load->profile_times, load->profile_count);
    numbers(json, "factors", load->profile_factors, load->profile_count);
    close_with(json, "}");
    close_with(json, "}");
}

static void describe_loads(byte_buffer *json, const hn_result_file *file)
{
    const int count = hn_result_file_info(file)->load_count;
    open_list(json, "springs");
    for (int i = 0; i < count; ++i) {
        const hn_result_load *load = hn_result_file_load(file, i);
        if (strcmp(load->kind, "spring") == 0) describe_spring(json, load);
    }
    close_with(json, "]");
    open_list(json, "loads");
    for (int i = 0; i < count; ++i) {
        const hn_result_load *load = hn_result_file_load(file, i);
        if (strcmp(load->kind, "force") == 0 || strcmp(load->kind, "torque") == 0)
            describe_load(json, load);
    }
    close_with(json, "]");
}

/// The rectangle with the inertia of a beam's section: a file has no outline of it.
static void describe_outline(byte_buffer *json, const hn_result_body *node)
{
    const double(*inertia)[3] = node->inertia.m;
    const double half1 = 0.5 * sqrt(12.0 * fmax(0.0, inertia[1][1]) / node->mass),
                 half2 = 0.5 * sqrt(12.0 * fmax(0.0, inertia[0][0]) / node->mass);
    json_print(json, "\"outline\":[[%.9g,%.9g],[%.9g,%.9g],", -half1, -half2, half1, -half2);
    json_print(json, "[%.9g,%.9g],[%.9g,%.9g]],", half1, half2, -half1, half2);
}

static void describe_beams(byte_buffer *json, hn_result_file *file)
{
    static const char *const NAMES[6] = {"shear force 1",    "shear force 2",    "axial force",
                                         "bending moment 1", "bending moment 2", "torsion moment"};
    const hn_result_info *info = hn_result_file_info(file);
    open_list(json, "beams");
    for (int i = 0; i < info->beam_count; ++i) {
        const hn_result_beam *beam = hn_result_file_beam(file, i);
        json_print(json, "{");
        name(json, "name", beam->name);
        integer(json, "node_start", beam->first_node);
        integer(json, "node_count", beam->element_count + 1);
        integer(json, "element_start", beam->first_element);
        integer(json, "element_count", beam->element_count);
        json_print(json, "\"section_axes\":[0,1],");
        describe_outline(json, hn_result_file_body(file, beam->first_node));
        close_with(json, "}");
    }
    close_with(json, "]");
    const int series = hn_result_file_find_series(file, "beams/resultant");
    open_list(json, "beam_scalars");
    for (size_t k = 0; series >= 0 && k < 6; ++k) {
        json_print(json, "{");
        name(json, "name", NAMES[k]);
        name(json, "unit", hn_result_file_column_unit(file, (hn_result_column){series, k}));
        name(json, "meaning", "");
        close_with(json, "}");
    }
    close_with(json, "]");
}

// ---- the run ----------------------------------------------------------------------------------------

static void describe_ledger(byte_buffer *json, const hn_result_info *info)
{
    open_list(json, "ledger");
    for (int i = 0; info->has_ledger && i < HN_PROMISE_COUNT; ++i) {
        const hn_ledger_entry *entry = &info->ledger.entry[i];
        json_print(json, "{");
        name(json, "name", hn_promise_name((hn_promise)i));
        flag(json, "conserved", entry->conserved);
        flag(json, "kept", entry->kept);
        scalar(json, "error", entry->error);
        scalar(json, "drift", entry->drift);
        scalar(json, "bound", entry->bound);
        name(json, "unit", i == HN_PROMISE_JOINTS ? "m" : "1");
        name(json, "note", entry->note);
        close_with(json, "}");
    }
    close_with(json, "]");
    json_print(json, "\"scales\":{");
    scalar(json, "energy", info->has_ledger ? info->ledger.energy_scale : 0.0);
    scalar(json, "momentum", info->has_ledger ? info->ledger.momentum_scale : 0.0);
    close_with(json, "}");
}

static void describe_run(byte_buffer *json, const hn_result_info *info)
{
    json_print(json, "\"model\":{");
    name(json, "name", info->model_name);
    json_print(json, "\"text\":");
    json_text(json, info->model_text == NULL ? "" : info->model_text, info->model_text_length);
    buffer_append(json, ",", 1);
    vector(json, "gravity", info->gravity);
    close_with(json, "}");
    json_print(json, "\"options\":{");
    name(json, "kind", hn_result_kind_name(info->run.kind));
    name(json, "scheme", info->scheme);
    hn_scheme scheme;
    const bool own = hn_scheme_from_name(info->scheme, &scheme) && hn_scheme_has_own_solver(scheme);
    name(json, "reduction",
         own ? "" : info->reduction); // which a scheme with its own solver does not read
    scalar(json, "step_size", info->step_size);
    close_with(json, "}");
    json_print(json, "\"structure\":{");
    integer(json, "loop_count", info->structure.loop_count);
    integer(json, "constraint_count", info->structure.constraint_count);
    integer(json, "constraint_rank", info->structure.constraint_rank);
    integer(json, "degrees_of_freedom", info->structure.degrees_of_freedom);
    close_with(json, "}");
    json_print(json, "\"statistics\":{");
    integer(json, "step_count", info->statistics.step_count);
    integer(json, "iterations_total", info->statistics.newton_iteration_count);
    integer(json, "iterations_max", info->statistics.newton_iteration_max);
    integer(json, "halved_steps", info->statistics.halved_step_count);
    close_with(json, "}");
    describe_ledger(json, info);
}

static void describe_total(void *user, const char *series, const char *component, const char *unit,
                           const char *meaning)
{
    byte_buffer *json = user;
    json_print(json, "{\"name\":\"%s%s%s\",", series, component[0] == '\0' ? "" : "/", component);
    name(json, "unit", unit);
    name(json, "meaning", meaning);
    close_with(json, "}");
}

static void describe_data(byte_buffer *json, hn_result_file *file, const page_data *data)
{
    json_print(json, "\"thinning\":{");
    integer(json, "records", data->record_count);
    integer(json, "frames", data->frame_count);
    integer(json, "samples", data->sample_count);
    close_with(json, "}");
    integer(json, "reactions_from", data->reactions_from);
    open_list(json, "totals");
    page_totals(file, describe_total, json);
    close_with(json, "]");
    open_list(json, "blocks");
    for (int i = 0; i < data->block_count; ++i) {
        const page_block *block = &data->blocks[i];
        json_print(json, "{");
        name(json, "name", block->name);
        name(json, "grid", block->on_frames ? "frames" : "samples");
        name(json, "encoding", block_encoding_name(block->encoding));
        integer(json, "rows", (int64_t)block->rows);
        integer(json, "columns", (int64_t)block->columns);
        integer(json, "at", (int64_t)block->start);
        close_with(json, "}");
    }
    close_with(json, "]");
}

void describe_result(byte_buffer *json, hn_result_file *file, const page_data *data,
                     const char *label, const char *file_name)
{
    const hn_result_info *info = hn_result_file_info(file);
    json_print(json, "{");
    name(json, "label", label);
    name(json, "file", file_name);
    flag(json, "complete", info->complete);
    describe_run(json, info);
    describe_bodies(json, file);
    describe_joints(json, file);
    describe_loads(json, file);
    describe_beams(json, file);
    describe_data(json, file, data);
    close_with(json, "}");
}
