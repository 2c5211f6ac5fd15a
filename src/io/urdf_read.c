// SPDX-License-Identifier: MIT
// Reading a robot description: XML to links and joints, every mistake with its line, everything left out with a note.
#include "io/urdf.h"

#include "base/rotation.h"
#include "io/expression.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct urdf_reader {
    urdf_robot *robot;
    expression_set *numbers;
} urdf_reader;

bool urdf_is_robot(const char *text, size_t length)
{
    size_t k = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) k = 3;
    while (k < length && (text[k] == ' ' || text[k] == '\t' || text[k] == '\r' || text[k] == '\n'))
        ++k;
    return k < length && text[k] == '<';
}

hn_status urdf_add_note(urdf_robot *robot, const char *format, ...)
{
    void *notes = robot->notes;
    hn_status status = context_grow(robot->context, &notes, &robot->note_capacity,
                                    robot->note_count + 1, sizeof *robot->notes);
    robot->notes = notes;
    TRY(status);
    va_list values;
    va_start(values, format);
    vsnprintf(robot->notes[robot->note_count++].text, sizeof robot->notes->text, format, values);
    va_end(values);
    return HN_OK;
}

// ---- poses --------------------------------------------------------------------------------------------------

urdf_pose urdf_compose(const urdf_pose *outer, const urdf_pose *inner)
{
    return (urdf_pose){mat3_multiply(&outer->rotation, &inner->rotation),
                       urdf_place(outer, inner->translation)};
}

hn_vec3 urdf_place(const urdf_pose *pose, hn_vec3 x)
{
    return vec3_add(pose->translation, mat3_apply(&pose->rotation, x));
}

urdf_pose urdf_inverse(const urdf_pose *pose)
{
    urdf_pose out = {.rotation = mat3_transpose(&pose->rotation)};
    out.translation = vec3_negate(mat3_apply(&out.rotation, pose->translation));
    return out;
}

// fixed axes: about x by roll, then y by pitch, then z by yaw
static hn_mat3 rotation_of(hn_vec3 rpy)
{
    double cr = cos(rpy.x), sr = sin(rpy.x), cp = cos(rpy.y), sp = sin(rpy.y), cy = cos(rpy.z),
           sy = sin(rpy.z);
    // clang-format off
    return (hn_mat3){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                      {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                      {-sp,     cp * sr,                cp * cr}}};
    // clang-format on
}

// ---- XML ------------------------------------------------------------------------------------------------------

HN_PRINTF(3, 4)
static hn_status fail_at(const urdf_robot *robot, const xmlNode *node, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return context_fail(robot->context, HN_FILE_FORMAT, "%s:%ld: %s", robot->file,
                        xmlGetLineNo(node), text);
}

// Value of an attribute, owned by the document; NULL when it is absent. The parser has put in what entities stand for.
static const char *attribute(const xmlNode *node, const char *name)
{
    const xmlAttr *a = xmlHasProp(node, (const xmlChar *)name);
    if (a == NULL) return NULL;
    return a->children == NULL ? "" : (const char *)a->children->content;
}

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *child(const xmlNode *node, const char *name)
{
    for (const xmlNode *c = node->children; c != NULL; c = c->next)
        if (is_element(c, name)) return c;
    return NULL;
}

static hn_status required(const urdf_reader *r, const xmlNode *node, const char *name,
                          const char **value)
{
    *value = attribute(node, name);
    if (*value != NULL && **value != '\0') return HN_OK;
    return fail_at(r->robot, node, "<%s> has no %s; expected %s=\"...\"", (const char *)node->name,
                   name, name);
}

// Is this one number, with a sign or a point in front if need be? Words and arithmetic are not.
static bool is_number(const char *word)
{
    if (word[strspn(word, "+-.0123456789eE")] != '\0') return false;
    for (const char *c = word; *c != '\0'; ++c)
        if ((*c == '+' || *c == '-') && c != word && c[-1] != 'e' && c[-1] != 'E') return false;
    return true;
}

// `count` numbers of an attribute; the values stay as they are when it is absent
static hn_status numbers(const urdf_reader *r, const xmlNode *node, const char *name, int count,
                         double *values)
{
    const char *text = attribute(node, name);
    if (text == NULL) return HN_OK;
    const char *c = text;
    for (int k = 0;; ++k) {
        c += strspn(c, " \t\r\n");
        if (*c == '\0' && k == count) return HN_OK;
        size_t length = strcspn(c, " \t\r\n");
        char word[64];
        expression_error error;
        bool good = k < count && length > 0 && length < sizeof word;
        if (good) {
            memcpy(word, c, length);
            word[length] = '\0';
            good =
                is_number(word) && expression_evaluate(r->numbers, word[0] == '+' ? word + 1 : word,
                                                       &values[k], &error);
        }
        if (!good)
            return fail_at(r->robot, node, "%s of <%s> is \"%.60s\"; expected %d number%s", name,
                           (const char *)node->name, text, count, count == 1 ? "" : "s");
        c += length;
    }
}

static hn_status read_vector(const urdf_reader *r, const xmlNode *node, const char *name,
                             hn_vec3 *x)
{
    double values[3] = {x->x, x->y, x->z};
    TRY(numbers(r, node, name, 3, values));
    *x = vec3_load(values);
    return HN_OK;
}

// The rotation of a quaternion of any length, the scalar last.
static hn_status read_quaternion(const urdf_reader *r, const xmlNode *origin, hn_mat3 *rotation)
{
    double q[4] = {0.0, 0.0, 0.0, 1.0};
    TRY(numbers(r, origin, "quat_xyzw", 4, q));
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0.0) || !isfinite(length))
        return fail_at(r->robot, origin, "quat_xyzw of <origin> is no rotation: its length is %g",
                       length);
    *rotation = rotation_of_quaternion(q[3] / length, q[0] / length, q[1] / length, q[2] / length);
    return HN_OK;
}

// <origin xyz rpy> or <origin xyz quat_xyzw> of an element, or none
static hn_status read_origin(const urdf_reader *r, const xmlNode *owner, urdf_pose *pose)
{
    *pose = (urdf_pose){.rotation = mat3_identity()};
    const xmlNode *origin = child(owner, "origin");
    if (origin == NULL) return HN_OK;
    hn_vec3 rpy = vec3(0.0, 0.0, 0.0);
    TRY(read_vector(r, origin, "xyz", &pose->translation));
    if (attribute(origin, "quat_xyzw") != NULL) {
        if (attribute(origin, "rpy") != NULL)
            return fail_at(r->robot, origin,
                           "<origin> has rpy and quat_xyzw; expected one of them");
        return read_quaternion(r, origin, &pose->rotation);
    }
    TRY(read_vector(r, origin, "rpy", &rpy));
    pose->rotation = rotation_of(rpy);
    return HN_OK;
}

// ---- links ------------------------------------------------------------------------------------------------------

static hn_status read_inertial(const urdf_reader *r, const xmlNode *inertial, urdf_link *link)
{
    const xmlNode *mass = child(inertial, "mass"), *inertia = child(inertial, "inertia");
    const char *text;
    if (mass == NULL)
        return fail_at(r->robot, inertial, "link '%s': <inertial> has no <mass>", link->name);
    TRY(required(r, mass, "value", &text));
    TRY(numbers(r, mass, "value", 1, &link->mass));
    if (link->mass < 0.0)
        return fail_at(r->robot, mass, "link '%s': mass is %g; expected one that is not negative",
                       link->name, link->mass);
    urdf_pose pose;
    TRY(read_origin(r, inertial, &pose));
    link->center = pose.translation;
    double xx = 0.0, xy = 0.0, xz = 0.0, yy = 0.0, yz = 0.0, zz = 0.0;
    if (inertia != NULL) {
        static const char *const NAMES[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
        double *values[6] = {&xx, &xy, &xz, &yy, &yz, &zz};
        for (int k = 0; k < 6; ++k) TRY(numbers(r, inertia, NAMES[k], 1, values[k]));
    }
    hn_mat3 own = {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}},
            back = mat3_transpose(&pose.rotation);
    own = mat3_multiply(&own, &back);
    link->inertia = mat3_multiply(&pose.rotation, &own);
    return HN_OK;
}

static hn_status read_visual(const urdf_reader *r, const xmlNode *visual, int link)
{
    urdf_robot *robot = r->robot;
    const xmlNode *geometry = child(visual, "geometry");
    if (geometry == NULL) return HN_OK;
    urdf_picture picture = {.link = link};
    TRY(read_origin(r, visual, &picture.pose));
    const xmlNode *box = child(geometry, "box"), *cylinder = child(geometry, "cylinder"),
                  *sphere = child(geometry, "sphere"), *mesh = child(geometry, "mesh");
    if (box != NULL) {
        picture.shape = 'b';
        TRY(numbers(r, box, "size", 3, picture.sizes));
    } else if (cylinder != NULL) {
        picture.shape = 'c';
        TRY(numbers(r, cylinder, "radius", 1, &picture.sizes[0]));
        TRY(numbers(r, cylinder, "length", 1, &picture.sizes[1]));
    } else if (sphere != NULL) {
        picture.shape = 's';
        TRY(numbers(r, sphere, "radius", 1, &picture.sizes[0]));
    } else {
        const char *name = mesh == NULL ? NULL : attribute(mesh, "filename");
        return urdf_add_note(robot, "link '%s': picture %s is not shown", robot->links[link].name,
                             name == NULL ? "of unknown kind" : name);
    }
    int sizes = picture.shape == 'b' ? 3 : picture.shape == 'c' ? 2 : 1;
    for (int k = 0; k < sizes; ++k)
        if (!(picture.sizes[k] > 0.0))
            return urdf_add_note(robot, "link '%s': a picture without size is not shown",
                                 robot->links[link].name);
    void *pictures = robot->pictures;
    hn_status status = context_grow(robot->context, &pictures, &robot->picture_capacity,
                                    robot->picture_count + 1, sizeof picture);
    robot->pictures = pictures;
    TRY(status);
    robot->pictures[robot->picture_count++] = picture;
    return HN_OK;
}

static int find_link(const urdf_robot *robot, const char *name)
{
    for (int k = 0; k < robot->link_count; ++k)
        if (strcmp(robot->links[k].name, name) == 0) return k;
    return -1;
}

// What is read of an element: what stands in it and its attributes, words with spaces around. Elements that are not
// here are looked into elsewhere (geometry) or not at all (collision, material).
typedef struct known_element {
    const char *name, *children, *attributes;
} known_element;

static const known_element KNOWN[] = {
    {"robot", " link joint material ", " name version "},
    {"link", " inertial visual collision ", " name "},
    {"inertial", " origin mass inertia ", ""},
    {"mass", "", " value "},
    {"inertia", "", " ixx ixy ixz iyy iyz izz "},
    {"origin", "", " xyz rpy quat_xyzw "},
    {"visual", " origin geometry material ", " name "},
    {"joint", " origin parent child axis dynamics limit mimic ", " name type "},
    {"parent", "", " link "},
    {"child", "", " link "},
    {"axis", "", " xyz "},
    {"dynamics", "", " damping friction "},
    {"limit", "", " lower upper effort velocity "},
    {"mimic", "", " joint multiplier offset "},
};

static bool is_among(const char *words, const xmlChar *word)
{
    char spaced[64];
    int length = snprintf(spaced, sizeof spaced, " %s ", (const char *)word);
    return length < (int)sizeof spaced && strstr(words, spaced) != NULL;
}

static const known_element *known(const xmlNode *node)
{
    for (size_t k = 0; k < sizeof KNOWN / sizeof KNOWN[0]; ++k)
        if (is_element(node, KNOWN[k].name)) return &KNOWN[k];
    return NULL;
}

// Attributes that are not read, and elements in an element, each named once. `owner`: "joint 'a': ".
static hn_status note_unknown_in(urdf_robot *robot, const xmlNode *node, const char *owner)
{
    const known_element *self = known(node);
    for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
        if (!is_among(self->attributes, a->name))
            TRY(urdf_add_note(robot, "%s%.60s of <%s> is not read", owner, (const char *)a->name,
                              self->name));
    for (const xmlNode *c = node->children; c != NULL; c = c->next) {
        bool said = c->type != XML_ELEMENT_NODE || is_among(self->children, c->name);
        for (const xmlNode *before = node->children; before != c && !said; before = before->next)
            said = is_element(before, (const char *)c->name);
        if (!said) TRY(urdf_add_note(robot, "%s<%.60s> is not read", owner, (const char *)c->name));
    }
    return HN_OK;
}

// The same for a link or joint and what stands in it.
static hn_status note_unknown(urdf_robot *robot, const xmlNode *node, const char *name)
{
    char owner[160];
    snprintf(owner, sizeof owner, "%s '%.120s': ", (const char *)node->name, name);
    TRY(note_unknown_in(robot, node, owner));
    for (const xmlNode *c = node->children; c != NULL; c = c->next) {
        if (known(c) == NULL || !is_among(known(node)->children, c->name)) continue;
        TRY(note_unknown_in(robot, c, owner));
        for (const xmlNode *inner = c->children; inner != NULL; inner = inner->next)
            if (known(inner) != NULL && is_among(known(c)->children, inner->name))
                TRY(note_unknown_in(robot, inner, owner));
    }
    return HN_OK;
}

static hn_status read_link(const urdf_reader *r, const xmlNode *node)
{
    urdf_robot *robot = r->robot;
    urdf_link link = {.line = (int)xmlGetLineNo(node), .parent_joint = -1};
    TRY(required(r, node, "name", &link.name));
    if (find_link(robot, link.name) >= 0)
        return fail_at(robot, node, "link '%s' stands twice in the file", link.name);
    TRY(note_unknown(robot, node, link.name));
    const xmlNode *inertial = child(node, "inertial");
    if (inertial != NULL) TRY(read_inertial(r, inertial, &link));
    void *links = robot->links;
    hn_status status = context_grow(robot->context, &links, &robot->link_capacity,
                                    robot->link_count + 1, sizeof link);
    robot->links = links;
    TRY(status);
    robot->links[robot->link_count++] = link;
    for (const xmlNode *c = node->children; c != NULL; c = c->next)
        if (is_element(c, "visual")) TRY(read_visual(r, c, robot->link_count - 1));
    return HN_OK;
}

// ---- joints -----------------------------------------------------------------------------------------------------

static hn_status read_kind(const urdf_reader *r, const xmlNode *node, urdf_joint *joint)
{
    static const struct {
        const char *word;
        urdf_joint_kind kind;
    } KINDS[] = {{"fixed", URDF_FIXED},         {"revolute", URDF_REVOLUTE},
                 {"continuous", URDF_REVOLUTE}, {"prismatic", URDF_PRISMATIC},
                 {"planar", URDF_PLANAR},       {"floating", URDF_FLOATING}};
    const char *type;
    TRY(required(r, node, "type", &type));
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; ++k)
        if (strcmp(type, KINDS[k].word) == 0) {
            joint->kind = KINDS[k].kind;
            joint->limited = joint->limited && strcmp(type, "continuous") != 0;
            return HN_OK;
        }
    return fail_at(r->robot, node,
                   "joint '%s' has the type '%s'; expected fixed, revolute, continuous, prismatic, "
                   "planar or floating",
                   joint->name, type);
}

static hn_status read_end(const urdf_reader *r, const xmlNode *node, const char *side,
                          const char *name, int *link)
{
    const xmlNode *end = child(node, side);
    const char *word;
    if (end == NULL) return fail_at(r->robot, node, "joint '%s' has no <%s>", name, side);
    TRY(required(r, end, "link", &word));
    *link = find_link(r->robot, word);
    if (*link >= 0) return HN_OK;
    return fail_at(r->robot, end, "joint '%s': there is no link '%s'", name, word);
}

static hn_status read_axis(const urdf_reader *r, const xmlNode *node, urdf_joint *joint)
{
    const xmlNode *axis = child(node, "axis");
    joint->axis = vec3(1.0, 0.0, 0.0);
    if (axis == NULL) return HN_OK;
    TRY(read_vector(r, axis, "xyz", &joint->axis));
    double length = vec3_norm(joint->axis);
    if (joint->kind == URDF_FIXED || joint->kind == URDF_FLOATING) return HN_OK;
    if (!(length > 0.0))
        return fail_at(r->robot, axis, "joint '%s': the axis has no length", joint->name);
    joint->axis = vec3_scale(1.0 / length, joint->axis);
    return HN_OK;
}

static hn_status read_joint(const urdf_reader *r, const xmlNode *node)
{
    urdf_robot *robot = r->robot;
    const xmlNode *dynamics = child(node, "dynamics"), *limit = child(node, "limit"),
                  *mimic = child(node, "mimic");
    urdf_joint joint = {.line = (int)xmlGetLineNo(node), .limited = limit != NULL};
    TRY(required(r, node, "name", &joint.name));
    for (int k = 0; k < robot->joint_count; ++k)
        if (strcmp(robot->joints[k].name, joint.name) == 0)
            return fail_at(robot, node, "joint '%s' stands twice in the file", joint.name);
    TRY(note_unknown(robot, node, joint.name));
    TRY(read_kind(r, node, &joint));
    TRY(read_end(r, node, "parent", joint.name, &joint.parent));
    TRY(read_end(r, node, "child", joint.name, &joint.child));
    TRY(read_origin(r, node, &joint.origin));
    TRY(read_axis(r, node, &joint));
    if (dynamics != NULL) {
        TRY(numbers(r, dynamics, "damping", 1, &joint.damping));
        TRY(numbers(r, dynamics, "friction", 1, &joint.friction));
    }
    if (joint.damping < 0.0 || joint.friction < 0.0)
        return fail_at(robot, dynamics, "joint '%s': damping and friction must not be negative",
                       joint.name);
    if (limit != NULL) {
        TRY(numbers(r, limit, "lower", 1, &joint.lower));
        TRY(numbers(r, limit, "upper", 1, &joint.upper));
        TRY(numbers(r, limit, "effort", 1, &joint.effort));
        TRY(numbers(r, limit, "velocity", 1, &joint.velocity));
    }
    if (mimic != NULL) {
        joint.mimic_multiplier = 1.0;
        TRY(required(r, mimic, "joint", &joint.mimic));
        TRY(numbers(r, mimic, "multiplier", 1, &joint.mimic_multiplier));
        TRY(numbers(r, mimic, "offset", 1, &joint.mimic_offset));
    }
    urdf_link *link = &robot->links[joint.child];
    if (link->parent_joint >= 0)
        return fail_at(
            robot, node,
            "link '%s' is the child of two joints, '%s' and '%s'; close loops in the model file",
            link->name, robot->joints[link->parent_joint].name, joint.name);
    void *joints = robot->joints;
    hn_status status = context_grow(robot->context, &joints, &robot->joint_capacity,
                                    robot->joint_count + 1, sizeof joint);
    robot->joints = joints;
    TRY(status);
    link->parent_joint = robot->joint_count;
    robot->joints[robot->joint_count++] = joint;
    return HN_OK;
}

// ---- the file ---------------------------------------------------------------------------------------------------

// Links before joints, in whatever order they stand; what else there is, is named once.
static hn_status read_robot(const urdf_reader *r, const xmlNode *root)
{
    urdf_robot *robot = r->robot;
    for (const xmlNode *c = root->children; c != NULL; c = c->next)
        if (is_element(c, "link")) TRY(read_link(r, c));
    if (robot->link_count == 0) return fail_at(robot, root, "the robot has no links");
    for (const xmlNode *c = root->children; c != NULL; c = c->next)
        if (is_element(c, "joint")) TRY(read_joint(r, c));
    return note_unknown_in(robot, root, "");
}

static const int ENTITY_BYTES_MAX = 10000000; // of text in place of entities: far above any robot

// An entity that cannot be taken: reading ends there, and no other file is opened.
typedef struct entity_reader {
    int line; ///< of that entity; 0: none
    char name[64];
    const char *why;
    int bytes; ///< put in so far
} entity_reader;

static void stop_at_entity(xmlParserCtxt *parser, const xmlChar *name, const char *why)
{
    entity_reader *reader = parser->_private;
    if (parser->wellFormed == 0) return; // what was wrong before is said
    if (reader->line == 0) {
        reader->line = xmlSAX2GetLineNumber(parser);
        reader->why = why;
        snprintf(reader->name, sizeof reader->name, "%s", (const char *)name);
    }
    xmlStopParser(parser);
}

static void declare_entity(void *parser, const xmlChar *name, int type, const xmlChar *public_id,
                           const xmlChar *system_id, xmlChar *content)
{
    if (type == XML_INTERNAL_GENERAL_ENTITY || type == XML_INTERNAL_PARAMETER_ENTITY)
        xmlSAX2EntityDecl(parser, name, type, public_id, system_id, content);
    else stop_at_entity(parser, name, "is not in the file; expected its text");
}

static xmlEntity *find_entity(void *parser, const xmlChar *name)
{
    xmlEntity *entity = xmlSAX2GetEntity(parser, name);
    if (entity == NULL) {
        stop_at_entity(parser, name, "is not in the file; expected <!ENTITY with its text");
        return NULL;
    }
    entity_reader *reader = ((xmlParserCtxt *)parser)->_private;
    if (entity->length > ENTITY_BYTES_MAX - reader->bytes)
        stop_at_entity(parser, name, "and others stand for more than 10 MB of text");
    else reader->bytes += entity->length;
    return entity;
}

// Text to a document in which entities are replaced by what they stand for; libxml2 bounds how much that may be.
static hn_status parse(urdf_robot *robot, const char *text, size_t length)
{
    hn_context *context = robot->context;
    const char *file = robot->file;
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (parser == NULL)
        return context_fail(context, HN_OUT_OF_MEMORY, "no memory to read %s", file);
    entity_reader entities = {0};
    parser->_private = &entities;
    parser->sax->entityDecl = declare_entity;
    parser->sax->getEntity = find_entity;
    robot->document = xmlCtxtReadMemory(parser, text, (int)length, NULL, NULL,
                                        XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR |
                                            XML_PARSE_NOWARNING);
    const xmlError *error = xmlCtxtGetLastError(parser);
    hn_status status = HN_OK;
    if (entities.line > 0) {
        status = context_fail(context, HN_FILE_FORMAT, "%s:%d: the entity '%s' %s", file,
                              entities.line, entities.name, entities.why);
    } else if (robot->document == NULL) {
        char why[200] = "it cannot be read";
        if (error != NULL && error->message != NULL)
            snprintf(why, sizeof why, "%s", error->message);
        why[strcspn(why, "\n")] = '\0';
        status = error != NULL && error->code == XML_ERR_NO_MEMORY
                     ? context_fail(context, HN_OUT_OF_MEMORY, "no memory to read %s", file)
                     : context_fail(context, HN_FILE_FORMAT, "%s:%d: this is not XML: %s", file,
                                    error == NULL ? 1 : error->line, why);
    }
    xmlFreeParserCtxt(parser);
    return status;
}

hn_status urdf_read(hn_context *context, const char *text, size_t length, const char *file,
                    urdf_robot *robot)
{
    *robot = (urdf_robot){.context = context, .file = file};
    TRY(parse(robot, text, length));
    const xmlNode *root = xmlDocGetRootElement(robot->document);
    if (!is_element(root, "robot"))
        return fail_at(
            robot, root,
            "the file begins with <%.60s>; expected <robot> of a robot description (URDF)",
            (const char *)root->name);
    robot->name = attribute(root, "name");
    if (robot->name == NULL || *robot->name == '\0') robot->name = "robot";
    urdf_reader r = {.robot = robot};
    hn_status status = expression_set_create(context, &r.numbers);
    if (status == HN_OK) status = read_robot(&r, root);
    expression_set_destroy(r.numbers);
    return status;
}

void urdf_clear(urdf_robot *robot)
{
    context_release(robot->context, robot->links);
    context_release(robot->context, robot->joints);
    context_release(robot->context, robot->pictures);
    context_release(robot->context, robot->notes);
    xmlFreeDoc(robot->document);
    *robot = (urdf_robot){0};
}
