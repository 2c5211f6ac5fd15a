// SPDX-License-Identifier: MIT
// Beams: validation and storage; their nodes as bodies.
#include "base/vector.h"
#include "base/sized.h"
#include "model/beam_sections.h"
#include "model/beam_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_NAME_SIZE = 128,
    BEAM_NAME_MAX = 88
}; // room for the node's number within a body's name

void hn_beam_def_init(hn_beam_def *def, size_t size)
{
    const hn_beam_def known = {
        .size = size, .shape = HN_BEAM_POLYLINE, .element_count = 10, .order = 1};
    sized_fill(def, size, &known, sizeof known);
}

void hn_beam_load_def_init(hn_beam_load_def *def, size_t size)
{
    const hn_beam_load_def known = {.size = size, .profile = {.kind = HN_PROFILE_CONSTANT}};
    sized_fill(def, size, &known, sizeof known);
}

int model_beam_index(const hn_model *model, hn_beam_id beam)
{
    if (beam.index1 == 0 || beam.model != model->tag) return -1;
    return beam.index1 > (uint32_t)model->beam_count ? -1 : (int)beam.index1 - 1;
}

// ---- adding -----------------------------------------------------------------------------------------

// What a beam needs before it can become part of the model, so that nothing can fail half way.
typedef struct beam_parts {
    model_beam beam;
    char **names; // of the nodes
    beam_nodes nodes;
    void *memory; // places and frames
} beam_parts;

static void release_parts(hn_context *context, int node_count, beam_parts *parts)
{
    for (int i = 0; parts->names != NULL && i < node_count; ++i)
        context_release(context, parts->names[i]);
    context_release(context, parts->names);
    context_release(context, parts->beam.name);
    context_release(context, parts->beam.lengths);
    context_release(context, parts->memory);
}

static hn_status make_parts(hn_model *model, const hn_beam_def *def, beam_parts *parts)
{
    hn_context *context = model->context;
    TRY(model_new_name(context, &model->beam_names, "beam", def->name, model->beam_count,
                       &parts->beam.name));
    const char *name = parts->beam.name;
    if (strlen(name) > BEAM_NAME_MAX)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%.20s...': the name is longer than %d bytes", name,
                            BEAM_NAME_MAX);
    TRY(beam_section_check(context, name, &def->section));
    if (!(isfinite(def->damping) && def->damping >= 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': damping is %g; expected zero or a positive number of "
                            "seconds",
                            name, def->damping);
    size_t count = def->element_count < 1 ? 2 : (size_t)def->element_count + 1;
    parts->names = context_allocate(context, count * sizeof(char *));
    parts->beam.lengths = context_allocate(context, count * sizeof(double));
    parts->memory = context_allocate(context, count * (sizeof(hn_vec3) + sizeof(hn_mat3)));
    if (parts->names == NULL || parts->beam.lengths == NULL || parts->memory == NULL)
        return HN_OUT_OF_MEMORY;
    parts->nodes = (beam_nodes){.frames = parts->memory,
                                .places = (hn_vec3 *)(void *)((hn_mat3 *)parts->memory + count),
                                .lengths = parts->beam.lengths};
    TRY(beam_shape_nodes(context, name, def, &parts->nodes));
    for (int i = 0; i <= def->element_count; ++i) {
        char node[NODE_NAME_SIZE];
        snprintf(node, sizeof node, "%s.%d", name, i);
        TRY(model_new_name(context, &model->body_names, "body", node, i, &parts->names[i]));
    }
    return HN_OK;
}

static hn_status make_room(hn_model *model, int node_count)
{
    hn_context *context = model->context;
    void *bodies = model->bodies, *beams = model->beams;
    if (node_count > INT32_MAX - model->body_count)
        return context_fail(context, HN_OUT_OF_MEMORY, "more than %d bodies", INT32_MAX);
    hn_status status = context_grow(context, &bodies, &model->body_capacity,
                                    model->body_count + node_count, sizeof *model->bodies);
    model->bodies = bodies;
    TRY(status);
    status = context_grow(context, &beams, &model->beam_capacity, model->beam_count + 1,
                          sizeof *model->beams);
    model->beams = beams;
    TRY(status);
    TRY(name_table_reserve(context, &model->body_names, node_count));
    return name_table_reserve(context, &model->beam_names, 1);
}

double model_quadratic_shape(double l1, double l2, double at, double *shape, double *slope)
{
    const double n[3] = {0.5 * at * (at - 1.0), 1.0 - at * at, 0.5 * at * (at + 1.0)},
                 dn[3] = {at - 0.5, -2.0 * at, at + 0.5};
    double scale = dn[1] * l1 + dn[2] * (l1 + l2);
    for (int k = 0; k < 3; ++k) shape[k] = n[k], slope[k] = dn[k] / scale;
    return scale;
}

void model_quadratic_mass(double l1, double l2, double mass[3][3])
{
    // three points of Gauss: exact for polynomials of the fifth degree
    const double at[3] = {-sqrt(0.6), 0.0, sqrt(0.6)},
                 weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    for (int i = 0; i < 9; ++i) mass[i / 3][i % 3] = 0.0;
    for (int g = 0; g < 3; ++g) {
        double n[3], slope[3], scale = model_quadratic_shape(l1, l2, at[g], n, slope);
        for (int i = 0; i < 9; ++i) mass[i / 3][i % 3] += weight[g] * scale * n[i / 3] * n[i % 3];
    }
}

// Lengths that a node's own block of the mass matrix and all of its mass stand for. Consistent mass: those of
// two nodes have a third on each node and a sixth between them.
static void node_lengths(const model_beam *beam, int node, double *own, double *all)
{
    const double *lengths = beam->lengths;
    *own = *all = 0.0;
    for (int piece = node - beam->order; piece <= node; ++piece) {
        // elements that begin at this piece and have the node
        if (piece < 0 || piece >= beam->element_count || piece % beam->order != 0) continue;
        if (beam->order == 1) {
            *own += lengths[piece] / 3.0, *all += 0.5 * lengths[piece];
            continue;
        }
        double mass[3][3];
        int i = node - piece;
        model_quadratic_mass(lengths[piece], lengths[piece + 1], mass);
        *own += mass[i][i];
        *all += mass[i][0] + mass[i][1] + mass[i][2];
    }
}

static model_body node_body(const hn_beam_section *section, const beam_parts *parts, int i)
{
    double third, half;
    node_lengths(&parts->beam, i, &third, &half);
    // directors of a helix do not go through their mean, which is shorter
    double turning = parts->beam.element == HN_BEAM_HELICAL ? half : third;
    double e1 = half * section->inertia[0], e2 = half * section->inertia[1];
    return (model_body){
        .name = parts->names[i],
        .kind = HN_BODY_BEAM_NODE,
        .mass = half * section->mass,
        .inertia = {{{e2, 0.0, 0.0}, {0.0, e1, 0.0}, {0.0, 0.0, e1 + e2}}},
        .position = parts->nodes.places[i],
        .orientation = parts->nodes.frames[i],
        .node_inertia = {third * section->mass, turning * section->inertia[0],
                         turning * section->inertia[1], 0.0},
    };
}

// The definition with pieces in place of elements.
static hn_status count_pieces(hn_context *context, const hn_beam_def *given, hn_beam_def *def)
{
    const char *name = given->name == NULL ? "" : given->name;
    *def = *given;
    if (def->order == 0) def->order = 1;
    if (def->order != 1 && def->order != 2)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': elements of order %d; expected 1 (of two nodes) or 2 "
                            "(quadratic)",
                            name, def->order);
    if (hn_beam_element_name(def->element)[0] == '\0')
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': unknown element %d; expected one of hn_beam_element", name,
                            (int)def->element);
    if (def->order == 2 && def->element == HN_BEAM_LINEAR)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': linear elements of order 2; expected one of them", name);
    if (def->order == 2) def->element = HN_BEAM_QUADRATIC;
    if (def->element == HN_BEAM_QUADRATIC) def->order = 2;
    if (def->element_count > INT32_MAX / 4)
        return context_fail(context, HN_INVALID_MODEL, "beam '%s': %d elements are too many", name,
                            def->element_count);
    def->element_count *= def->order;
    return HN_OK;
}

// The middle node of a quadratic element must be near its middle, or its parabola turns back.
static hn_status check_middles(hn_context *context, const model_beam *beam)
{
    const double RATIO_MAX = 2.5;
    for (int k = 0; beam->order == 2 && k < beam->element_count; k += 2) {
        double a = beam->lengths[k], b = beam->lengths[k + 1];
        if (a <= RATIO_MAX * b && b <= RATIO_MAX * a) continue;
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': node %d is not near the middle of its quadratic element "
                            "(%.3g m and %.3g m); take more elements or linear ones",
                            beam->name, k + 1, a, b);
    }
    return HN_OK;
}

hn_status hn_model_add_beam(hn_model *model, const hn_beam_def *given, hn_beam_id *beam)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, given != NULL && beam != NULL);
    OWN_COPY(context, hn_beam_def, given, hn_beam_def_default());
    hn_beam_def pieces, *def = &pieces;
    TRY(count_pieces(context, given, def));
    int count = def->element_count;
    beam_parts parts = {0};
    hn_status status = make_parts(model, def, &parts);
    parts.beam.element_count = count;
    parts.beam.order = def->order;
    parts.beam.element = def->element;
    if (status == HN_OK) status = check_middles(context, &parts.beam);
    if (status == HN_OK) status = make_room(model, count + 1);
    if (status != HN_OK) {
        release_parts(context, count + 1, &parts);
        return status;
    }
    parts.beam.first_body = model->body_count;
    parts.beam.section = def->section;
    parts.beam.damping = def->damping;
    for (int i = 0; i <= count; ++i) {
        model->bodies[model->body_count] = node_body(&def->section, &parts, i);
        status = name_table_add(context, &model->body_names, parts.names[i], model->body_count++);
    }
    model->beams[model->beam_count] = parts.beam;
    if (status == HN_OK)
        status = name_table_add(context, &model->beam_names, parts.beam.name, model->beam_count);
    *beam = (hn_beam_id){(uint32_t)++model->beam_count, model->tag};
    context_release(context, parts.names);
    context_release(context, parts.memory);
    return status; // HN_OK: room was made for everything
}

hn_status hn_model_add_beam_mass(hn_model *model, hn_beam_id beam, int node, double mass)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    int index = model_beam_index(model, beam);
    if (index < 0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "point mass on a beam: no such beam in this model");
    const model_beam *b = &model->beams[index];
    if (node < 0 || node > b->element_count)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam '%s': point mass at node %d; expected one of 0 to %d", b->name,
                            node, b->element_count);
    if (!(isfinite(mass) && mass > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': point mass of %g kg; expected a positive number", b->name,
                            mass);
    model->bodies[b->first_body + node].mass += mass;
    model->bodies[b->first_body + node].node_inertia[0] += mass;
    return HN_OK;
}

hn_status hn_model_add_beam_load(hn_model *model, const hn_beam_load_def *def)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL);
    OWN_COPY(context, hn_beam_load_def, def, hn_beam_load_def_default());
    int index = model_beam_index(model, def->beam);
    char chosen[NODE_NAME_SIZE];
    const char *name = def->name;
    if (index < 0)
        return context_fail(context, HN_INVALID_ARGUMENT, "line load: no such beam in this model");
    if (name == NULL) {
        // the first number whose loads are free
        for (int number = 1, taken = 0; taken >= 0; ++number) {
            char first[2 * NODE_NAME_SIZE];
            snprintf(chosen, sizeof chosen, "line_load%d", number);
            snprintf(first, sizeof first, "%s.0", chosen);
            taken = name_table_find(&model->load_names, first);
        }
        name = chosen;
    }
    const model_beam *b = &model->beams[index];
    for (int i = 0; i <= b->element_count; ++i) {
        double own, beside;
        node_lengths(b, i, &own, &beside);
        char node[2 * NODE_NAME_SIZE];
        hn_load_def load = hn_load_def_default();
        hn_load_id id;
        snprintf(node, sizeof node, "%.*s.%d", BEAM_NAME_MAX, name, i);
        load.name = node;
        load.body = hn_model_beam_node(model, def->beam, i);
        load.body_fixed = def->body_fixed;
        load.vector = vec3_scale(beside, def->vector);
        load.profile = def->profile;
        TRY(hn_model_add_load(model, &load, &id));
    }
    return HN_OK;
}

// ---- looking at beams -------------------------------------------------------------------------------

int model_find_node(const hn_model *model, const char *name)
{
    size_t length = strlen(name), split = strcspn(name, "[");
    char beam[NODE_NAME_SIZE];
    if (length >= sizeof beam) return -1;
    memcpy(beam, name, length + 1);
    const char *word = "";
    if (split < length) {
        // BEAM[5]
        char *end = NULL;
        long number = strtol(name + split + 1, &end, 10);
        beam[split] = 0;
        int index = name_table_find(&model->beam_names, beam);
        if (index < 0 || end == name + split + 1 || strcmp(end, "]") != 0) return -1;
        const model_beam *b = &model->beams[index];
        return number < 0 || number > b->element_count ? -1 : b->first_body + (int)number;
    }
    char *dot = strrchr(beam, '.');
    if (dot == NULL) return -1;
    *dot = 0;
    word = dot + 1;
    int index = name_table_find(&model->beam_names, beam);
    if (index < 0) return -1;
    const model_beam *b = &model->beams[index];
    if (strcmp(word, "start") == 0) return b->first_body;
    if (strcmp(word, "end") == 0 || strcmp(word, "tip") == 0)
        return b->first_body + b->element_count;
    if (strcmp(word, "middle") == 0 && b->element_count % 2 == 0)
        return b->first_body + b->element_count / 2;
    return -1;
}

hn_body_id hn_model_beam_node(const hn_model *model, hn_beam_id beam, int index)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    if (found < 0 || index < 0 || index > model->beams[found].element_count) return (hn_body_id){0};
    return hn_model_body(model, model->beams[found].first_body + index);
}

int hn_model_beam_node_at(const hn_model *model, hn_beam_id beam, double at)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    if (found < 0) return -1;
    const model_beam *b = &model->beams[found];
    double passed = 0.0;
    int node = 0;
    while (node < b->element_count && at > passed + 0.5 * b->lengths[node])
        passed += b->lengths[node++];
    return node;
}

int hn_model_beam_count(const hn_model *model)
{
    return model == NULL ? 0 : model->beam_count;
}

hn_beam_id hn_model_beam(const hn_model *model, int index)
{
    bool known = index >= 0 && index < hn_model_beam_count(model);
    return known ? (hn_beam_id){(uint32_t)index + 1, model->tag} : (hn_beam_id){0};
}

const char *hn_model_beam_name(const hn_model *model, hn_beam_id beam)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    return found < 0 ? "" : model->beams[found].name;
}

int hn_model_beam_element_count(const hn_model *model, hn_beam_id beam)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    return found < 0 ? 0 : model->beams[found].element_count;
}

double hn_model_beam_length(const hn_model *model, hn_beam_id beam)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    double length = 0.0;
    for (int i = 0; found >= 0 && i < model->beams[found].element_count; ++i)
        length += model->beams[found].lengths[i];
    return length;
}

hn_beam_section hn_model_beam_section(const hn_model *model, hn_beam_id beam)
{
    int found = model == NULL ? -1 : model_beam_index(model, beam);
    return found < 0 ? (hn_beam_section){.mass = 0.0} : model->beams[found].section;
}

hn_beam_id hn_model_find_beam(const hn_model *model, const char *name)
{
    if (model == NULL || name == NULL) return (hn_beam_id){0};
    return hn_model_beam(model, name_table_find(&model->beam_names, name));
}
