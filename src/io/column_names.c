// SPDX-License-Identifier: MIT
// Names and units of single numbers of what is observed, from the model: those that columns of result files have.
#include "io/column_names.h"

#include "model/model.h"

#include <holonom/simulation.h>

#include <stdio.h>
#include <string.h>

static size_t coordinate_count(const hn_model *model)
{
    size_t count = 0;
    for (int i = 0; i < model->joint_count; ++i)
        count += (size_t)hn_model_joint_coordinate_count(model, hn_model_joint(model, i));
    return count;
}

static size_t beam_element_count(const hn_model *model)
{
    size_t count = 0;
    for (int i = 0; i < model->beam_count; ++i) count += (size_t)model->beams[i].element_count;
    return count;
}

/// What is found without a look at every joint and beam.
static series_extent plain_extent(const hn_model *model)
{
    return (series_extent){.body_count = (size_t)model->body_count,
                           .joint_count = (size_t)model->joint_count,
                           .drive_count = (size_t)model->drive_count,
                           .coupling_count = (size_t)model->coupling_count,
                           .output_count = (size_t)model->output_columns};
}

series_extent column_names_extent(const hn_model *model)
{
    series_extent extent = plain_extent(model);
    extent.coordinate_count = coordinate_count(model);
    extent.beam_element_count = beam_element_count(model);
    return extent;
}

/// Parts of a name: group / element / quantity / component.
typedef struct name_parts {
    const char *element;
    int piece; ///< of a beam; -1: none
    const char *component, *unit;
    bool plain; ///< an element has one quantity, which is not named
} name_parts;

// The joint and its coordinate that number `index` of all coordinates is.
static void coordinate_parts(const hn_model *model, size_t index, bool rate, name_parts *parts)
{
    for (int i = 0; i < model->joint_count; ++i) {
        hn_joint_kind kind = model->joints[i].kind;
        size_t count = (size_t)hn_model_joint_coordinate_count(model, hn_model_joint(model, i));
        if (index >= count) {
            index -= count;
            continue;
        }
        parts->element = model->joints[i].name;
        parts->component = joint_coordinate_label(kind, (int)index);
        parts->unit = joint_coordinate_unit(kind, (int)index);
        if (rate) parts->unit = strcmp(parts->unit, "rad") == 0 ? "rad/s" : "m/s";
        return;
    }
}

static void beam_parts(const hn_model *model, size_t index, bool resultant, name_parts *parts)
{
    size_t piece = index / 6;
    for (int i = 0; i < model->beam_count; ++i) {
        size_t count = (size_t)model->beams[i].element_count;
        if (piece >= count) {
            piece -= count;
            continue;
        }
        parts->element = model->beams[i].name;
        parts->piece = (int)piece;
        parts->unit = beam_component_unit(resultant, (int)(index % 6));
        return;
    }
}

static void drive_parts(const hn_model *model, size_t index, series_id id, name_parts *parts)
{
    const model_drive *drive = &model->drives[index];
    const char *unit =
        joint_coordinate_unit(model->joints[drive->joint].kind, drive->def.coordinate);
    parts->element = drive->name;
    if (id == SERIES_DRIVE_COORDINATE) parts->unit = unit;
    if (id == SERIES_DRIVE_EFFORT) parts->unit = strcmp(unit, "rad") == 0 ? "N m" : "N";
}

static void coupling_parts(const hn_model *model, size_t index, series_id id, name_parts *parts)
{
    const model_coupling *c = &model->couplings[index];
    const char *unit = joint_coordinate_unit(model->joints[c->joints[0]].kind, c->coordinates[0]);
    parts->element = c->name;
    parts->unit = unit;
    if (id == SERIES_COUPLING_EFFORT) parts->unit = strcmp(unit, "rad") == 0 ? "N m" : "N";
}

static void output_parts(const hn_model *model, size_t index, name_parts *parts)
{
    int output = model_output_of_column(model, (int)index, &parts->component);
    parts->element = model->outputs[output].name;
    parts->unit = model_output_unit(model, output);
    parts->plain = true;
}

/// Parts of number `index`, which the series has.
static name_parts find_parts(const hn_model *model, series_id id, size_t index)
{
    const series_info *info = series_get(id);
    size_t element = index / series_components(info->shape);
    name_parts parts = {
        .piece = -1, .component = series_component_name(info->shape, index), .unit = info->unit};
    switch (info->shape) {
    case SERIES_SCALAR:
    case SERIES_VECTOR: break;
    case SERIES_BODY_VECTOR:
    case SERIES_BODY_MATRIX: parts.element = model->bodies[element].name; break;
    case SERIES_JOINT_VECTOR:
    case SERIES_JOINT_SIX: parts.element = model->joints[element].name; break;
    case SERIES_JOINT_COORDINATES:
        coordinate_parts(model, index, id == SERIES_JOINT_RATE, &parts);
        break;
    case SERIES_OUTPUTS: output_parts(model, index, &parts); break;
    case SERIES_DRIVE: drive_parts(model, index, id, &parts); break;
    case SERIES_COUPLING: coupling_parts(model, index, id, &parts); break;
    case SERIES_BEAM_SIX: beam_parts(model, index, id == SERIES_BEAM_RESULTANT, &parts); break;
    }
    return parts;
}

/// SERIES_COUNT: no field of this name.
static series_id find_field(const char *field)
{
    int id = 0;
    while (id < SERIES_COUNT && strcmp(field, series_get((series_id)id)->full) != 0) ++id;
    return (series_id)id;
}

static size_t width_of(const hn_model *model, series_id id)
{
    series_shape shape = series_get(id)->shape;
    series_extent extent = plain_extent(model);
    if (shape == SERIES_JOINT_COORDINATES) extent.coordinate_count = coordinate_count(model);
    if (shape == SERIES_BEAM_SIX) extent.beam_element_count = beam_element_count(model);
    return series_width(shape, &extent);
}

/// Bytes of the name with its end, of which at most `size` are written.
static size_t join_parts(series_id id, const name_parts *parts, char *name, size_t size)
{
    const series_info *info = series_get(id);
    char piece[16] = "";
    if (parts->piece >= 0) snprintf(piece, sizeof piece, ".%d", parts->piece);
    bool element = parts->element != NULL, component = parts->component != NULL;
    int length = snprintf(name, size, "%s%s%s%s%s%s%s%s", info->group,
                          info->group[0] == '\0' ? "" : "/", element ? parts->element : "", piece,
                          element && !parts->plain ? "/" : "", parts->plain ? "" : info->name,
                          component ? "/" : "", component ? parts->component : "");
    return length < 0 ? 0 : (size_t)length + 1;
}

size_t hn_model_field_width(const hn_model *model, const char *field)
{
    if (model == NULL || field == NULL) return 0;
    series_id id = find_field(field);
    return id == SERIES_COUNT ? 0 : width_of(model, id);
}

size_t hn_model_field_column_size(const hn_model *model, const char *field, size_t index)
{
    if (index >= hn_model_field_width(model, field)) return 0;
    series_id id = find_field(field);
    name_parts parts = find_parts(model, id, index);
    return join_parts(id, &parts, NULL, 0);
}

hn_status hn_model_field_column(const hn_model *model, const char *field, size_t index, char *name,
                                size_t size, const char **unit)
{
    REQUIRE(NULL, model != NULL);
    REQUIRE(model->context, field != NULL && name != NULL && size > 0 && unit != NULL);
    name[0] = '\0';
    *unit = "";
    series_id id = find_field(field);
    if (id == SERIES_COUNT)
        return context_fail(model->context, HN_INVALID_ARGUMENT,
                            "no field '%s'; hn_field_at lists them", field);
    if (index >= width_of(model, id))
        return context_fail(model->context, HN_INVALID_ARGUMENT,
                            "field '%s' has no number %zu in this model", field, index);
    name_parts parts = find_parts(model, id, index);
    size_t needed = join_parts(id, &parts, name, size);
    *unit = parts.unit;
    if (needed <= size) return HN_OK;
    return context_fail(model->context, HN_INVALID_ARGUMENT,
                        "the name of number %zu of field '%s' has %zu bytes; there is room for %zu",
                        index, field, needed, size);
}
