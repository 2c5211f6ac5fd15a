// SPDX-License-Identifier: MIT
// Names and units of single numbers of what is observed, from the model: those that columns of result files have.
#include "model/model.h"
#include "simulation/series.h"

#include <holonom/simulation.h>

#include <stdio.h>
#include <string.h>

/// Parts of a name: group / element / quantity / component.
typedef struct name_parts {
    const char *element;
    int piece; ///< of a beam; -1: none
    const char *component, *unit;
    bool plain; ///< an element has one quantity, which is not named
} name_parts;

// The joint and its coordinate that number `index` of all coordinates is.
static bool coordinate_parts(const hn_model *model, size_t index, bool rate, name_parts *parts)
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
        return true;
    }
    return false;
}

static bool beam_parts(const hn_model *model, size_t index, bool resultant, name_parts *parts)
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
        parts->component = beam_component_name((int)(index % 6));
        parts->unit = beam_component_unit(resultant, (int)(index % 6));
        return true;
    }
    return false;
}

static bool drive_parts(const hn_model *model, size_t index, series_id id, name_parts *parts)
{
    if (index >= (size_t)model->drive_count) return false;
    const model_drive *drive = &model->drives[index];
    const char *unit =
        joint_coordinate_unit(model->joints[drive->joint].kind, drive->def.coordinate);
    parts->element = drive->name;
    if (id == SERIES_DRIVE_COORDINATE) parts->unit = unit;
    if (id == SERIES_DRIVE_EFFORT) parts->unit = strcmp(unit, "rad") == 0 ? "N m" : "N";
    return true;
}

static bool coupling_parts(const hn_model *model, size_t index, series_id id, name_parts *parts)
{
    if (index >= (size_t)model->coupling_count) return false;
    const model_coupling *c = &model->couplings[index];
    const char *unit = joint_coordinate_unit(model->joints[c->joints[0]].kind, c->coordinates[0]);
    parts->element = c->name;
    parts->unit = unit;
    if (id == SERIES_COUPLING_EFFORT) parts->unit = strcmp(unit, "rad") == 0 ? "N m" : "N";
    return true;
}

static bool output_parts(const hn_model *model, size_t index, name_parts *parts)
{
    if (index >= (size_t)model->output_columns) return false;
    int output = model_output_of_column(model, (int)index, &parts->component);
    parts->element = model->outputs[output].name;
    parts->unit = model_output_unit(model, output);
    parts->plain = true;
    return true;
}

static bool find_parts(const hn_model *model, series_id id, size_t index, name_parts *parts)
{
    const series_info *info = series_get(id);
    size_t per_element = series_components(info->shape), element = index / per_element;
    parts->component = series_component_name(info->shape, index);
    switch (info->shape) {
    case SERIES_SCALAR:
    case SERIES_VECTOR: return element == 0;
    case SERIES_BODY_VECTOR:
    case SERIES_BODY_MATRIX:
        if (element >= (size_t)model->body_count) return false;
        parts->element = model->bodies[element].name;
        return true;
    case SERIES_JOINT_VECTOR:
    case SERIES_JOINT_SIX:
        if (element >= (size_t)model->joint_count) return false;
        parts->element = model->joints[element].name;
        return true;
    case SERIES_JOINT_COORDINATES:
        return coordinate_parts(model, index, id == SERIES_JOINT_RATE, parts);
    case SERIES_OUTPUTS: return output_parts(model, index, parts);
    case SERIES_DRIVE: return drive_parts(model, index, id, parts);
    case SERIES_COUPLING: return coupling_parts(model, index, id, parts);
    case SERIES_BEAM_SIX: return beam_parts(model, index, id == SERIES_BEAM_RESULTANT, parts);
    }
    return false;
}

hn_status hn_model_field_column(const hn_model *model, const char *field, size_t index, char *name,
                                size_t size, const char **unit)
{
    REQUIRE(NULL, model != NULL);
    REQUIRE(model->context, field != NULL && name != NULL && size > 0 && unit != NULL);
    name[0] = '\0';
    *unit = "";
    int id = 0;
    while (id < SERIES_COUNT && strcmp(field, series_get((series_id)id)->full) != 0) ++id;
    if (id == SERIES_COUNT)
        return context_fail(model->context, HN_INVALID_ARGUMENT,
                            "no field '%s'; hn_field_at lists them", field);
    const series_info *info = series_get((series_id)id);
    name_parts parts = {.piece = -1, .unit = info->unit};
    if (!find_parts(model, (series_id)id, index, &parts))
        return context_fail(model->context, HN_INVALID_ARGUMENT,
                            "field '%s' has no number %zu in this model", field, index);
    char piece[16] = "";
    if (parts.piece >= 0) snprintf(piece, sizeof piece, ".%d", parts.piece);
    bool element = parts.element != NULL, component = parts.component != NULL;
    int length = snprintf(name, size, "%s%s%s%s%s%s%s%s", info->group,
                          info->group[0] == '\0' ? "" : "/", element ? parts.element : "", piece,
                          element && !parts.plain ? "/" : "", parts.plain ? "" : info->name,
                          component ? "/" : "", component ? parts.component : "");
    *unit = parts.unit;
    if (length >= 0 && (size_t)length < size) return HN_OK;
    return context_fail(model->context, HN_INVALID_ARGUMENT,
                        "the name of number %zu of field '%s' has %d bytes; there is room for %zu",
                        index, field, length + 1, size);
}
