// SPDX-License-Identifier: MIT
// The `beams` section of a model file: shape, section, material, masses and clamps; loads and start values of beams.
#include "io/model_reader.h"

#include <stdio.h>
#include <string.h>

static const double NODE_TOLERANCE = 1e-6; // of the length, between a place on a beam and its node

static const char *const BEAM_WORDS[] = {
    "from",    "to",      "points",          "arc",
    "spline",  "frames",  "elements",        "direction",
    "twist",   "section", "material",        "stiffness",
    "clamped", "damping", "mass_per_length", "inertia_per_length",
    "masses",  "order",   "mass_matrix",     "element",
};

// ---- shape ---------------------------------------------------------------------------------------------------

// A list of places; `*points` belongs to the caller.
static hn_status read_points(const model_reader *r, int index, const char *what, hn_vec3 **points,
                             int *count)
{
    int entry;
    TRY(reader_expect_list(r, index, what, -1, &entry));
    *count = reader_node(r, index)->count;
    *points = context_allocate(r->context, (size_t)*count * sizeof **points);
    if (*points == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < *count; ++i, entry = r->tree.nodes[entry].next)
        TRY(reader_vector(r, entry, what, QUANTITY_LENGTH, &(*points)[i]));
    return HN_OK;
}

static hn_status read_frames(const model_reader *r, int index, hn_mat3 **frames, int *count)
{
    int entry;
    TRY(reader_expect_list(r, index, "frames", -1, &entry));
    *count = reader_node(r, index)->count;
    *frames = context_allocate(r->context, (size_t)*count * sizeof **frames);
    if (*frames == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < *count; ++i, entry = r->tree.nodes[entry].next) {
        int row;
        TRY(reader_expect_list(r, entry, "a frame", 3, &row));
        for (int k = 0; k < 3; ++k, row = r->tree.nodes[row].next)
            TRY(reader_numbers(r, row, "a frame", QUANTITY_NUMBER, 3, (*frames)[i].m[k]));
    }
    return HN_OK;
}

typedef struct shape_memory {
    hn_vec3 *points;
    hn_mat3 *frames;
} shape_memory;

static hn_status read_order(const model_reader *r, int map, hn_beam_def *def)
{
    static const char *const ELEMENTS[] = {"helical", "linear", "quadratic"};
    int node = reader_find(r, map, "order"), word_node = reader_find(r, map, "element");
    double order;
    if (word_node >= 0) {
        const char *word = NULL;
        TRY(reader_word(r, word_node, "element", &word));
        if (!hn_beam_element_from_name(word, &def->element))
            return reader_fail_word(r, word_node, "element of a beam", NULL, word, ELEMENTS,
                                    WORD_COUNT(ELEMENTS));
        if (def->element == HN_BEAM_QUADRATIC) def->order = 2;
    }
    if (node < 0) return HN_OK;
    TRY(reader_number(r, node, "order", QUANTITY_NUMBER, &order));
    if (order != 1.0 && order != 2.0)
        return reader_fail(r, node,
                           "order is %g; expected 1 (elements of two nodes) or 2 (quadratic ones)",
                           order);
    if (word_node >= 0)
        return reader_fail(r, node, "order is %g beside element: %s; expected one of them", order,
                           hn_beam_element_name(def->element));
    def->order = (int)order;
    return HN_OK;
}

static hn_status read_shape(const model_reader *r, int map, const char *owner, hn_beam_def *def,
                            shape_memory *memory)
{
    static const char *const SHAPES[] = {"from", "points", "arc", "spline"};
    int found = -1, node[4];
    for (int i = 0; i < 4; ++i) {
        node[i] = reader_find(r, map, SHAPES[i]);
        if (node[i] < 0) continue;
        if (found >= 0)
            return reader_fail(r, node[i], "%s has both %s and %s; expected one of them", owner,
                               SHAPES[found], SHAPES[i]);
        found = i;
    }
    int to = reader_find(r, map, "to"), frames = reader_find(r, map, "frames");
    if (found < 0)
        return reader_fail(
            r, map, "%s has no shape; expected from and to, points, an arc or a spline", owner);
    if (found == 0) {
        TRY(reader_require(r, map, "to", owner, &to));
        memory->points = context_allocate(r->context, 2 * sizeof(hn_vec3));
        if (memory->points == NULL) return HN_OUT_OF_MEMORY;
        TRY(reader_vector(r, node[0], "from", QUANTITY_LENGTH, &memory->points[0]));
        TRY(reader_vector(r, to, "to", QUANTITY_LENGTH, &memory->points[1]));
        def->point_count = 2;
    } else {
        if (to >= 0)
            return reader_fail(r, to, "%s has 'to' without 'from'; expected both, or %s alone",
                               owner, SHAPES[found]);
        TRY(read_points(r, node[found], SHAPES[found], &memory->points, &def->point_count));
        def->shape = found == 2 ? HN_BEAM_ARC : found == 3 ? HN_BEAM_SPLINE : HN_BEAM_POLYLINE;
    }
    def->points = memory->points;
    if (frames < 0) return HN_OK;
    int count;
    if (found != 1)
        return reader_fail(r, frames, "%s has frames; expected points of all nodes with them",
                           owner);
    TRY(read_frames(r, frames, &memory->frames, &count));
    if (count != def->point_count)
        return reader_fail(r, frames, "%d frames for %d points; expected one for each", count,
                           def->point_count);
    def->shape = HN_BEAM_NODES;
    def->frames = memory->frames;
    if ((count - 1) % def->order != 0)
        return reader_fail(r, frames, "%d nodes; expected an odd number for quadratic elements",
                           count);
    def->element_count = (count - 1) / def->order;
    return HN_OK;
}

static hn_status read_elements(const model_reader *r, int map, const char *owner, hn_beam_def *def)
{
    int node = reader_find(r, map, "elements");
    double count;
    if (node < 0 && def->shape == HN_BEAM_NODES) return HN_OK;
    TRY(reader_require(r, map, "elements", owner, &node));
    TRY(reader_number(r, node, "elements", QUANTITY_NUMBER, &count));
    if (!(count >= 1.0 && count <= 1e8 && count == (double)(int)count))
        return reader_fail(r, node, "elements is %g; expected a whole number from 1 on", count);
    if (def->shape == HN_BEAM_NODES && (int)count != def->element_count)
        return reader_fail(r, node, "%d elements for %d nodes; expected %d", (int)count,
                           def->order * def->element_count + 1, def->element_count);
    def->element_count = (int)count;
    return HN_OK;
}

// ---- section -------------------------------------------------------------------------------------------------

static hn_status read_material(const model_reader *r, int index, hn_beam_material *material)
{
    static const char *const WORDS[] = {"young", "poisson", "density", "shear_factor"};
    int young, density, poisson = reader_find(r, index, "poisson"),
                        factor = reader_find(r, index, "shear_factor");
    TRY(reader_expect_keys(r, index, "material", WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "young", "material", &young));
    TRY(reader_require(r, index, "density", "material", &density));
    TRY(reader_positive(r, young, "young", QUANTITY_PRESSURE, "pascals", &material->young));
    TRY(reader_positive(r, density, "density", QUANTITY_DENSITY, "kg/m^3", &material->density));
    if (poisson >= 0)
        TRY(reader_number(r, poisson, "poisson", QUANTITY_NUMBER, &material->poisson));
    if (factor >= 0)
        TRY(reader_positive(r, factor, "shear_factor", QUANTITY_NUMBER, "one",
                            &material->shear_factor));
    return HN_OK;
}

static hn_status read_size(const model_reader *r, int map, const char *key, quantity q,
                           const char *unit, double *value)
{
    int node;
    TRY(reader_require(r, map, key, "section", &node));
    return reader_positive(r, node, key, q, unit, value);
}

static hn_status read_section(const model_reader *r, int index, const hn_beam_material *material,
                              hn_beam_section *section)
{
    static const char *const KINDS[] = {"rectangle", "circle", "tube", "moments"};
    static const char *const RADIUS[] = {"radius", "inner_radius"};
    static const char *const MOMENTS[] = {"area", "bending", "torsion"};
    TRY(reader_expect_keys(r, index, "section", KINDS, WORD_COUNT(KINDS)));
    const yaml_node *node = reader_node(r, index);
    if (node->count != 1)
        return reader_fail(r, index,
                           "section has %d forms; expected one of rectangle, circle, tube, moments",
                           node->count);
    const char *kind = reader_text(r, node->first);
    int value = reader_value(r, node->first);
    double size[3], bending[2];
    hn_status status = HN_OK;
    if (strcmp(kind, "rectangle") == 0) {
        TRY(reader_numbers(r, value, "rectangle", QUANTITY_LENGTH, 2, size));
        status = hn_beam_section_rectangle(r->context, material, size[0], size[1], section);
    } else if (strcmp(kind, "moments") == 0) {
        int list;
        TRY(reader_expect_keys(r, value, "section", MOMENTS, WORD_COUNT(MOMENTS)));
        TRY(reader_require(r, value, "bending", "section", &list));
        TRY(read_size(r, value, "area", QUANTITY_AREA, "m^2", &size[0]));
        TRY(reader_numbers(r, list, "bending", QUANTITY_SECOND_MOMENT, 2, bending));
        TRY(read_size(r, value, "torsion", QUANTITY_SECOND_MOMENT, "m^4", &size[1]));
        status = hn_beam_section_moments(r->context, material, size[0], bending[0], bending[1],
                                         size[1], section);
    } else {
        bool tube = strcmp(kind, "tube") == 0;
        TRY(reader_expect_keys(r, value, "section", RADIUS, tube ? 2 : 1));
        TRY(read_size(r, value, "radius", QUANTITY_LENGTH, "metres", &size[0]));
        if (tube) TRY(read_size(r, value, "inner_radius", QUANTITY_LENGTH, "metres", &size[1]));
        status = tube ? hn_beam_section_tube(r->context, material, size[0], size[1], section)
                      : hn_beam_section_circle(r->context, material, size[0], section);
    }
    return reader_place(r, value, status);
}

// Six stiffnesses by name, or the full matrix.
static hn_status read_stiffness(const model_reader *r, int index, hn_beam_section *section)
{
    static const char *const WORDS[] = {"shear", "axial", "bending", "torsion"};
    static const quantity FORCES[6] = {QUANTITY_FORCE,  QUANTITY_FORCE,  QUANTITY_FORCE,
                                       QUANTITY_TORQUE, QUANTITY_TORQUE, QUANTITY_TORQUE},
                          MOMENTS[6] = {QUANTITY_TORQUE,
                                        QUANTITY_TORQUE,
                                        QUANTITY_TORQUE,
                                        QUANTITY_BENDING_STIFFNESS,
                                        QUANTITY_BENDING_STIFFNESS,
                                        QUANTITY_BENDING_STIFFNESS};
    if (reader_node(r, index)->kind == YAML_SEQUENCE) {
        int row;
        TRY(reader_expect_list(r, index, "stiffness", 6, &row));
        for (int i = 0; i < 6; ++i, row = r->tree.nodes[row].next)
            TRY(reader_numbers_each(r, row, "stiffness", i < 3 ? FORCES : MOMENTS, 6,
                                    section->stiffness[i]));
        return HN_OK;
    }
    int node[4];
    double shear[2], bending[2], axial, torsion;
    TRY(reader_expect_keys(r, index, "stiffness", WORDS, WORD_COUNT(WORDS)));
    for (int i = 0; i < 4; ++i) TRY(reader_require(r, index, WORDS[i], "stiffness", &node[i]));
    if (reader_node(r, node[0])->kind == YAML_SEQUENCE) {
        TRY(reader_numbers(r, node[0], "shear", QUANTITY_FORCE, 2, shear));
    } else {
        TRY(reader_number(r, node[0], "shear", QUANTITY_FORCE, &shear[0]));
        shear[1] = shear[0];
    }
    TRY(reader_number(r, node[1], "axial", QUANTITY_FORCE, &axial));
    TRY(reader_numbers(r, node[2], "bending", QUANTITY_BENDING_STIFFNESS, 2, bending));
    TRY(reader_number(r, node[3], "torsion", QUANTITY_BENDING_STIFFNESS, &torsion));
    const double diagonal[6] = {shear[0], shear[1], axial, bending[0], bending[1], torsion};
    memset(section->stiffness, 0, sizeof section->stiffness);
    for (int i = 0; i < 6; ++i) section->stiffness[i][i] = diagonal[i];
    return HN_OK;
}

static hn_status read_mass_matrix(const model_reader *r, int index, hn_beam_section *section)
{
    static const quantity LINEAR[6] = {QUANTITY_LINE_DENSITY, QUANTITY_LINE_DENSITY,
                                       QUANTITY_LINE_DENSITY, QUANTITY_MASS,
                                       QUANTITY_MASS,         QUANTITY_MASS},
                          ANGULAR[6] = {QUANTITY_MASS,         QUANTITY_MASS,
                                        QUANTITY_MASS,         QUANTITY_LINE_INERTIA,
                                        QUANTITY_LINE_INERTIA, QUANTITY_LINE_INERTIA};
    double mass[6][6];
    int row;
    TRY(reader_expect_list(r, index, "mass_matrix", 6, &row));
    for (int i = 0; i < 6; ++i, row = r->tree.nodes[row].next)
        TRY(reader_numbers_each(r, row, "mass_matrix", i < 3 ? LINEAR : ANGULAR, 6, mass[i]));
    hn_status status = hn_beam_section_mass_matrix(r->context, (const double(*)[6])mass, section);
    return reader_place(r, index, status);
}

// A section and a material, or stiffness and inertia by length; what is given by length comes before the others.
static hn_status read_properties(const model_reader *r, int map, const char *owner,
                                 hn_beam_def *def)
{
    int section = reader_find(r, map, "section"), material = reader_find(r, map, "material"),
        stiffness = reader_find(r, map, "stiffness"), mass = reader_find(r, map, "mass_per_length"),
        inertia = reader_find(r, map, "inertia_per_length"),
        matrix = reader_find(r, map, "mass_matrix");
    if (matrix >= 0 && (mass >= 0 || inertia >= 0))
        return reader_fail(r, matrix, "%s has a mass_matrix beside %s; expected one of them", owner,
                           mass >= 0 ? "mass_per_length" : "inertia_per_length");
    if ((section < 0) != (material < 0))
        return reader_fail(r, section < 0 ? material : section,
                           "%s has a %s and no %s; expected both, or stiffness, mass_per_length "
                           "and inertia_per_length",
                           owner, section < 0 ? "material" : "section",
                           section < 0 ? "section" : "material");
    if (section < 0 && (stiffness < 0 || (matrix < 0 && (mass < 0 || inertia < 0))))
        return reader_fail(r, map,
                           "%s has no %s; expected section and material, or stiffness, "
                           "mass_per_length and inertia_per_length",
                           owner,
                           stiffness < 0 ? "stiffness"
                           : mass < 0    ? "mass_per_length"
                                         : "inertia_per_length");
    if (section >= 0) {
        hn_beam_material read = hn_beam_material_default();
        TRY(read_material(r, material, &read));
        TRY(read_section(r, section, &read, &def->section));
    }
    if (stiffness >= 0) TRY(read_stiffness(r, stiffness, &def->section));
    if (mass >= 0)
        TRY(reader_positive(r, mass, "mass_per_length", QUANTITY_LINE_DENSITY, "kg/m",
                            &def->section.mass));
    if (inertia >= 0)
        TRY(reader_numbers(r, inertia, "inertia_per_length", QUANTITY_LINE_INERTIA, 2,
                           def->section.inertia));
    return matrix >= 0 ? read_mass_matrix(r, matrix, &def->section) : HN_OK;
}

// ---- one beam ------------------------------------------------------------------------------------------------

// The node of a beam at an arc length; there must be one.
static hn_status node_at(const model_reader *r, int index, hn_beam_id beam, double at, int *node)
{
    const hn_model *model = r->model;
    const model_beam *b = &model->beams[model_beam_index(model, beam)];
    double passed = 0.0;
    *node = hn_model_beam_node_at(model, beam, at);
    for (int i = 0; i < *node; ++i) passed += b->lengths[i];
    if (fabs(at - passed) <= NODE_TOLERANCE * hn_model_beam_length(model, beam)) return HN_OK;
    return reader_fail(r, index,
                       "beam '%s' has no node at %g m; the nearest is node %d at %g m of %g m",
                       b->name, at, *node, passed, hn_model_beam_length(model, beam));
}

static hn_status read_masses(const model_reader *r, int index, hn_beam_id beam)
{
    static const char *const WORDS[] = {"at", "node", "mass"};
    int entry;
    TRY(reader_expect_list(r, index, "masses", -1, &entry));
    for (; entry >= 0; entry = r->tree.nodes[entry].next) {
        TRY(reader_expect_keys(r, entry, "a point mass", WORDS, WORD_COUNT(WORDS)));
        int at = reader_find(r, entry, "at"), number = reader_find(r, entry, "node"), mass,
            node = 0;
        double value, place;
        if ((at < 0) == (number < 0))
            return reader_fail(r, entry,
                               "a point mass has %s; expected its place: at (m along the axis) or "
                               "node",
                               at < 0 ? "no place" : "both at and node");
        TRY(reader_require(r, entry, "mass", "a point mass", &mass));
        TRY(reader_positive(r, mass, "mass", QUANTITY_MASS, "kilograms", &value));
        TRY(reader_number(r, at >= 0 ? at : number, at >= 0 ? "at" : "node",
                          at >= 0 ? QUANTITY_LENGTH : QUANTITY_NUMBER, &place));
        if (at >= 0) TRY(node_at(r, at, beam, place, &node));
        else node = place >= 0.0 && place <= 1e8 && place == (double)(int)place ? (int)place : -1;
        TRY(reader_place(r, entry, hn_model_add_beam_mass(r->model, beam, node, value)));
    }
    return HN_OK;
}

// clamped: start, end, or a list of both: fixed joints to the ground.
static hn_status clamp(const model_reader *r, int index, hn_beam_id beam)
{
    static const char *const WORDS[] = {"start", "end"};
    const char *word = NULL, *name = hn_model_beam_name(r->model, beam);
    TRY(reader_word(r, index, "clamped", &word));
    bool start = strcmp(word, "start") == 0;
    if (!start && strcmp(word, "end") != 0)
        return reader_fail_word(r, index, "end of a beam", NULL, word, WORDS, WORD_COUNT(WORDS));
    hn_joint_def joint = hn_joint_def_default(HN_JOINT_FIXED);
    hn_joint_id id;
    char text[128];
    snprintf(text, sizeof text, "%.88s.%s", name, word);
    joint.name = text;
    joint.body_a = hn_ground();
    joint.body_b =
        hn_model_beam_node(r->model, beam, start ? 0 : hn_model_beam_element_count(r->model, beam));
    joint.point_a = hn_model_body_position(r->model, joint.body_b);
    return reader_place(r, index, hn_model_add_joint(r->model, &joint, &id));
}

static hn_status read_clamps(const model_reader *r, int index, hn_beam_id beam)
{
    int entry;
    if (reader_node(r, index)->kind == YAML_SCALAR) return clamp(r, index, beam);
    TRY(reader_expect_list(r, index, "clamped", -1, &entry));
    for (; entry >= 0; entry = r->tree.nodes[entry].next) TRY(clamp(r, entry, beam));
    return HN_OK;
}

static hn_status read_beam(model_reader *r, int key, shape_memory *memory)
{
    const char *name = reader_text(r, key);
    int map = reader_value(r, key);
    char owner[128];
    snprintf(owner, sizeof owner, "beam '%.100s'", name);
    TRY(reader_expect_keys(r, map, owner, BEAM_WORDS, WORD_COUNT(BEAM_WORDS)));
    hn_beam_def def = hn_beam_def_default();
    hn_beam_id beam;
    def.name = name;
    TRY(read_order(r, map, &def));
    TRY(read_shape(r, map, owner, &def, memory));
    TRY(read_elements(r, map, owner, &def));
    TRY(read_properties(r, map, owner, &def));
    int direction = reader_find(r, map, "direction"), twist = reader_find(r, map, "twist"),
        damping = reader_find(r, map, "damping"), masses = reader_find(r, map, "masses"),
        clamped = reader_find(r, map, "clamped");
    if (direction >= 0) TRY(reader_direction(r, direction, "direction", NULL, &def.direction));
    if (twist >= 0) TRY(reader_number(r, twist, "twist", QUANTITY_ANGLE, &def.twist));
    if (damping >= 0) TRY(reader_number(r, damping, "damping", QUANTITY_TIME, &def.damping));
    TRY(reader_place(r, key, hn_model_add_beam(r->model, &def, &beam)));
    if (masses >= 0) TRY(read_masses(r, masses, beam));
    return clamped < 0 ? HN_OK : read_clamps(r, clamped, beam);
}

hn_status reader_beams(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "beams"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        shape_memory memory = {0};
        hn_status status = read_beam(r, k, &memory);
        context_release(r->context, memory.points);
        context_release(r->context, memory.frames);
        TRY(status);
    }
    return HN_OK;
}

// ---- what refers to beams --------------------------------------------------------------------------------------

hn_status reader_beam(const model_reader *r, int index, hn_beam_id *beam)
{
    const char *name = NULL;
    TRY(reader_word(r, index, "a beam's name", &name));
    *beam = hn_model_find_beam(r->model, name);
    if (beam->index1 != 0) return HN_OK;
    if (hn_model_beam_count(r->model) == 0)
        return reader_fail(r, index, "unknown beam '%.60s'; this model has no beams", name);
    return reader_fail(r, index, "unknown beam '%.60s'; expected the name of a beam, e.g. '%s'",
                       name, hn_model_beam_name(r->model, hn_model_beam(r->model, 0)));
}

hn_status reader_beam_node(const model_reader *r, int index, hn_body_id *body)
{
    static const char *const WORDS[] = {"beam", "at"};
    int name, at, node;
    double place;
    hn_beam_id beam;
    TRY(reader_expect_keys(r, index, "a node of a beam", WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "beam", "a node of a beam", &name));
    TRY(reader_require(r, index, "at", "a node of a beam", &at));
    TRY(reader_beam(r, name, &beam));
    TRY(reader_number(r, at, "at", QUANTITY_LENGTH, &place));
    TRY(node_at(r, at, beam, place, &node));
    *body = hn_model_beam_node(r->model, beam, node);
    return HN_OK;
}

hn_status reader_beam_start(const model_reader *r, int index, hn_beam_id beam,
                            const hn_vec3 *velocity, const hn_vec3 *angular_velocity)
{
    hn_vec3 origin = hn_model_body_position(r->model, hn_model_beam_node(r->model, beam, 0));
    for (int i = 0; i <= hn_model_beam_element_count(r->model, beam); ++i) {
        hn_body_id node = hn_model_beam_node(r->model, beam, i);
        hn_vec3 arm = vec3_subtract(hn_model_body_position(r->model, node), origin);
        hn_vec3 v = vec3_add(*velocity, vec3_cross(*angular_velocity, arm));
        TRY(reader_place(r, index, hn_model_set_velocity(r->model, node, v)));
        TRY(reader_place(r, index,
                         hn_model_set_angular_velocity(r->model, node, *angular_velocity)));
    }
    return HN_OK;
}
