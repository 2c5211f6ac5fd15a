// SPDX-License-Identifier: MIT
// A robot description as a model file: links that fixed joints hold together become one body, joints through links
// without mass become one joint where there is one that moves alike, and what is left out is listed at the top.
#include "io/urdf.h"

#include "base/number_text.h"

#include <math.h>
#include <string.h>

static const double AXES_TOLERANCE =
    1e-6; // sine of an angle; how far axes may pass each other: of the robot's reach
enum { CHAIN_MAX = 6 };

// ---- text -----------------------------------------------------------------------------------------------------

typedef struct text_builder {
    hn_context *context;
    char *text;
    int length, capacity;
    hn_status status; ///< the first failure; later calls do nothing
} text_builder;

static void append_bytes(text_builder *t, const char *bytes, size_t count)
{
    if (t->status != HN_OK) return;
    void *text = t->text;
    t->status = context_grow(t->context, &text, &t->capacity, t->length + (int)count + 1, 1);
    t->text = text;
    if (t->status != HN_OK) return;
    memcpy(t->text + t->length, bytes, count);
    t->length += (int)count;
    t->text[t->length] = '\0';
}

static void append(text_builder *t, const char *text)
{
    append_bytes(t, text, strlen(text));
}

static void append_number(text_builder *t, double x)
{
    char text[NUMBER_TEXT_SIZE];
    append(t, number_text(x == 0.0 ? 0.0 : x, text));
}

static void append_vector(text_builder *t, hn_vec3 x)
{
    append(t, "[");
    append_number(t, x.x);
    append(t, ", ");
    append_number(t, x.y);
    append(t, ", ");
    append_number(t, x.z);
    append(t, "]");
}

static void append_matrix(text_builder *t, const hn_mat3 *a)
{
    append(t, "[");
    for (int i = 0; i < 3; ++i) {
        append_vector(t, vec3_load(a->m[i]));
        append(t, i < 2 ? ", " : "]");
    }
}

// A name as the format has them: no '/', nothing that YAML takes for something else, not that of the ground.
static void append_name_with(text_builder *t, const char *name, const char *suffix)
{
    append(t, "\"");
    for (const char *c = name; *c != '\0'; ++c) {
        if (*c == '/') append(t, ".");
        else if ((unsigned char)*c < ' ' || *c == 0x7f) append(t, "?");
        else if (*c == '"' || *c == '\\') append(t, "\\"), append_bytes(t, c, 1);
        else append_bytes(t, c, 1);
    }
    append(t, strcmp(name, "ground") == 0 ? "_" : "");
    append(t, suffix);
    append(t, "\"");
}

static void append_name(text_builder *t, const char *name)
{
    append_name_with(t, name, "");
}

// Comments end with their line.
static void append_comment(text_builder *t, const char *text)
{
    for (const char *c = text; *c != '\0'; ++c)
        append_bytes(t, (unsigned char)*c < ' ' ? " " : c, 1);
    append(t, "\n");
}

// ---- bodies of links --------------------------------------------------------------------------------------------

static hn_status fail_joint(const urdf_robot *robot, const urdf_joint *joint, const char *why)
{
    return context_fail(robot->context, HN_INVALID_MODEL, "%s:%d: joint '%s': %s", robot->file,
                        joint->line, joint->name, why);
}

static bool is_whole(const urdf_robot *robot, int link)
{
    const urdf_link *l = &robot->links[link];
    return l->body == GROUND_LINK || robot->links[l->body].mass > 0.0;
}

// World poses and bodies of all links below the root, in an order that has parents first.
static hn_status place_links(urdf_robot *robot, int root, bool free_base, int *order)
{
    int count = 0;
    robot->links[root].world.rotation = mat3_identity();
    robot->links[root].body = free_base ? root : GROUND_LINK;
    order[count++] = root;
    for (int next = 0; next < count; ++next)
        for (int k = 0; k < robot->joint_count; ++k) {
            const urdf_joint *j = &robot->joints[k];
            if (j->parent != order[next]) continue;
            urdf_link *link = &robot->links[j->child];
            link->world = urdf_compose(&robot->links[j->parent].world, &j->origin);
            link->body = j->kind == URDF_FIXED ? robot->links[j->parent].body : j->child;
            order[count++] = j->child;
        }
    if (count == robot->link_count) return HN_OK;
    for (int k = 0; k < robot->joint_count; ++k) {
        bool reached = false;
        for (int i = 0; i < count; ++i) reached = reached || order[i] == robot->joints[k].parent;
        if (!reached)
            return fail_joint(robot, &robot->joints[k],
                              "it is part of a circle that no other link leads to");
    }
    return HN_OK;
}

static hn_status find_root(const urdf_robot *robot, int *root)
{
    *root = -1;
    for (int k = 0; k < robot->link_count; ++k) {
        if (robot->links[k].parent_joint >= 0) continue;
        if (*root >= 0)
            return context_fail(
                robot->context, HN_INVALID_MODEL,
                "%s:%d: link '%s' is not joined to link '%s'; expected one tree of links",
                robot->file, robot->links[k].line, robot->links[k].name, robot->links[*root].name);
        *root = k;
    }
    if (*root >= 0) return HN_OK;
    return fail_joint(robot, &robot->joints[0],
                      "every link is the child of a joint; expected one link that is none");
}

// Inertia about the place `from` the centre of mass of a part with `mass`
static void add_offset(hn_mat3 *inertia, double mass, hn_vec3 from)
{
    double square = vec3_dot(from, from), x[3] = {from.x, from.y, from.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            inertia->m[i][k] += mass * ((i == k ? square : 0.0) - x[i] * x[k]);
}

// A body without mass has no inertia either: were it left out, what it resists would be lost.
static hn_status fail_without_mass(const urdf_robot *robot, int head)
{
    for (int k = 0; k < robot->link_count; ++k) {
        const urdf_link *part = &robot->links[k];
        if (part->body != head) continue;
        for (int i = 0; i < 9; ++i)
            if (part->inertia.m[i / 3][i % 3] != 0.0)
                return context_fail(robot->context, HN_INVALID_MODEL,
                                    "%s:%d: link '%s' has inertia and no mass; expected a mass "
                                    "above zero, or no inertia",
                                    robot->file, part->line, part->name);
    }
    return HN_OK;
}

// Mass, centre and inertia of each body, in the frame of its first link, from all links that belong to it.
static hn_status gather_inertia(urdf_robot *robot)
{
    for (int head = 0; head < robot->link_count; ++head) {
        urdf_link *body = &robot->links[head];
        if (body->body != head) continue;
        urdf_pose back = urdf_inverse(&body->world);
        double mass = 0.0;
        hn_vec3 center = vec3(0.0, 0.0, 0.0);
        for (int k = 0; k < robot->link_count; ++k) {
            const urdf_link *part = &robot->links[k];
            if (part->body != head) continue;
            urdf_pose pose = urdf_compose(&back, &part->world);
            mass += part->mass;
            center = vec3_add_scaled(center, part->mass, urdf_place(&pose, part->center));
        }
        if (!(mass > 0.0)) {
            TRY(fail_without_mass(robot, head));
            continue;
        }
        center = vec3_scale(1.0 / mass, center);
        hn_mat3 inertia = {0};
        for (int k = 0; k < robot->link_count; ++k) {
            const urdf_link *part = &robot->links[k];
            if (part->body != head) continue;
            urdf_pose pose = urdf_compose(&back, &part->world);
            hn_mat3 turned_back = mat3_transpose(&pose.rotation);
            hn_mat3 own = mat3_multiply(&part->inertia, &turned_back);
            own = mat3_multiply(&pose.rotation, &own);
            for (int i = 0; i < 3; ++i)
                for (int m = 0; m < 3; ++m) inertia.m[i][m] += 0.5 * (own.m[i][m] + own.m[m][i]);
            add_offset(&inertia, part->mass,
                       vec3_subtract(urdf_place(&pose, part->center), center));
        }
        // a link's own values have been taken: only heads are read from here on
        for (int k = 0; k < robot->link_count; ++k)
            if (robot->links[k].body == head) robot->links[k].mass = 0.0;
        body->mass = mass, body->center = center, body->inertia = inertia;
    }
    return HN_OK;
}

// Joints that move nothing with mass, from the tips on.
static hn_status drop_idle(urdf_robot *robot, const int *order)
{
    for (int i = robot->link_count - 1; i > 0; --i) {
        const urdf_link *link = &robot->links[order[i]];
        if (link->body != order[i] || is_whole(robot, order[i])) continue;
        bool idle = true;
        for (int k = 0; k < robot->joint_count; ++k) {
            const urdf_joint *j = &robot->joints[k];
            if (j->kind != URDF_FIXED && !j->dropped && robot->links[j->parent].body == order[i])
                idle = false;
        }
        if (!idle) continue;
        urdf_joint *j = &robot->joints[link->parent_joint];
        j->dropped = true;
        TRY(urdf_add_note(robot, "joint '%s' moves link '%s', which has no mass: both are left out",
                          j->name, link->name));
    }
    return HN_OK;
}

// ---- joints through links without mass --------------------------------------------------------------------------

/// Joints one after the other, links without mass between them, that become one joint of the model.
typedef struct joint_chain {
    int count;
    int joints[CHAIN_MAX]; ///< from the parent to the child
    hn_vec3 axis[CHAIN_MAX], place[CHAIN_MAX];
    const char *word; ///< kind of the joint that moves alike
    hn_vec3 at;
} joint_chain;

static bool is_parallel(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_cross(a, b)) <= AXES_TOLERANCE;
}

static bool is_square(hn_vec3 a, hn_vec3 b)
{
    return fabs(vec3_dot(a, b)) <= AXES_TOLERANCE;
}

// Is there a place where the turning axes of the chain from `first` on meet?
static bool meet(const joint_chain *c, int first, hn_vec3 *place)
{
    // least squares of the distances from all axes: (sum 1 - a a^T) x = sum (1 - a a^T) p
    hn_mat3 sum = {0};
    hn_vec3 right = vec3(0.0, 0.0, 0.0);
    double reach = 1e-3;
    for (int k = first; k < c->count; ++k) {
        double a[3] = {c->axis[k].x, c->axis[k].y, c->axis[k].z};
        for (int i = 0; i < 3; ++i)
            for (int m = 0; m < 3; ++m) sum.m[i][m] += (i == m ? 1.0 : 0.0) - a[i] * a[m];
        right = vec3_add(
            right, vec3_add_scaled(c->place[k], -vec3_dot(c->axis[k], c->place[k]), c->axis[k]));
        reach = fmax(reach, vec3_norm(vec3_subtract(c->place[k], c->place[first])));
    }
    double determinant = mat3_determinant(&sum);
    if (!(fabs(determinant) > AXES_TOLERANCE)) return false;
    hn_vec3 x = mat3_column(&sum, 0), y = mat3_column(&sum, 1), z = mat3_column(&sum, 2);
    *place = vec3(vec3_dot(right, vec3_cross(y, z)) / determinant,
                  vec3_dot(right, vec3_cross(z, x)) / determinant,
                  vec3_dot(right, vec3_cross(x, y)) / determinant);
    for (int k = first; k < c->count; ++k)
        if (vec3_norm(vec3_cross(c->axis[k], vec3_subtract(*place, c->place[k]))) >
            AXES_TOLERANCE * reach)
            return false;
    return true;
}

static bool spans_space(const hn_vec3 *axis)
{
    return fabs(vec3_dot(axis[0], vec3_cross(axis[1], axis[2]))) > AXES_TOLERANCE;
}

// The kind of joint that lets the same motions; NULL when there is none.
static void recognise(const urdf_robot *robot, joint_chain *c)
{
    char kinds[CHAIN_MAX + 1] = "";
    for (int k = 0; k < c->count; ++k) {
        urdf_joint_kind kind = robot->joints[c->joints[k]].kind;
        kinds[k] = kind == URDF_REVOLUTE ? 'R' : kind == URDF_PRISMATIC ? 'P' : '?';
    }
    const hn_vec3 *a = c->axis;
    c->at = c->place[c->count - 1];
    c->word = NULL;
    if (strcmp(kinds, "RR") == 0 && is_square(a[0], a[1]) && meet(c, 0, &c->at))
        c->word = "universal";
    else if (strcmp(kinds, "RRR") == 0 && spans_space(a) && meet(c, 0, &c->at))
        c->word = "spherical";
    else if ((strcmp(kinds, "PR") == 0 || strcmp(kinds, "RP") == 0) && is_parallel(a[0], a[1]))
        c->word = "cylindrical", c->at = c->place[kinds[0] == 'R' ? 0 : 1];
    else if (strcmp(kinds, "PPR") == 0 && is_square(a[0], a[1]) &&
             is_parallel(vec3_cross(a[0], a[1]), a[2]))
        c->word = "planar";
    else if (strcmp(kinds, "PPPRRR") == 0 && spans_space(a) && spans_space(a + 3) &&
             meet(c, 3, &c->at))
        c->word = "free";
}

// The chain of joints that ends with joint `last` and begins at a body with mass or the ground.
static hn_status find_chain(const urdf_robot *robot, int last, joint_chain *c)
{
    *c = (joint_chain){0};
    int found[CHAIN_MAX];
    for (int k = last;;) {
        const urdf_joint *j = &robot->joints[k];
        int parent = robot->links[j->parent].body;
        if (c->count == CHAIN_MAX)
            return fail_joint(robot, j, "more than six joints in a row move links without mass");
        found[c->count++] = k;
        if (is_whole(robot, j->parent)) break;
        int branches = 0;
        for (int m = 0; m < robot->joint_count; ++m)
            if (robot->joints[m].kind != URDF_FIXED && !robot->joints[m].dropped &&
                robot->links[robot->joints[m].parent].body == parent)
                branches += 1;
        if (branches > 1)
            return context_fail(
                robot->context, HN_INVALID_MODEL,
                "%s:%d: link '%s' has no mass and carries %d joints; expected a mass above zero",
                robot->file, robot->links[parent].line, robot->links[parent].name, branches);
        k = robot->links[parent].parent_joint;
    }
    for (int k = 0; k < c->count; ++k) {
        c->joints[k] = found[c->count - 1 - k];
        const urdf_joint *j = &robot->joints[c->joints[k]];
        const urdf_pose *world = &robot->links[j->child].world;
        c->axis[k] = mat3_apply(&world->rotation, j->axis);
        c->place[k] = world->translation;
    }
    if (c->count == 1) {
        static const char *const WORDS[URDF_KIND_COUNT] = {"fixed", "revolute", "prismatic",
                                                           "planar", "free"};
        c->word = WORDS[robot->joints[last].kind];
        c->at = c->place[0];
        return HN_OK;
    }
    recognise(robot, c);
    if (c->word != NULL) return HN_OK;
    const urdf_link *link = &robot->links[robot->joints[c->joints[0]].child];
    return context_fail(
        robot->context, HN_INVALID_MODEL,
        "%s:%d: link '%s' has no mass between the joints '%s' and '%s', which make no joint that "
        "there is; expected a mass above zero",
        robot->file, link->line, link->name, robot->joints[c->joints[0]].name,
        robot->joints[c->joints[1]].name);
}

// ---- writing ----------------------------------------------------------------------------------------------------

static void write_pictures(text_builder *t, const urdf_robot *robot, int head)
{
    bool any = false;
    urdf_pose back = urdf_inverse(&robot->links[head].world);
    for (int k = 0; k < robot->picture_count; ++k) {
        const urdf_picture *p = &robot->pictures[k];
        if (robot->links[p->link].body != head) continue;
        urdf_pose pose = urdf_compose(&robot->links[p->link].world, &p->pose);
        pose = urdf_compose(&back, &pose);
        if (!any) append(t, "    shape:\n      composite:\n");
        any = true;
        append(t, p->shape == 'b'   ? "        - {box: {size: "
                  : p->shape == 'c' ? "        - {cylinder: {radius: "
                                    : "        - {sphere: {radius: ");
        if (p->shape == 'b') append_vector(t, vec3_load(p->sizes));
        else append_number(t, p->sizes[0]);
        if (p->shape == 'c') append(t, ", height: "), append_number(t, p->sizes[1]);
        append(t, "}, position: ");
        append_vector(t, pose.translation);
        append(t, ", orientation: {matrix: ");
        append_matrix(t, &pose.rotation);
        append(t, "}}\n");
    }
}

static void write_body(text_builder *t, const urdf_robot *robot, int head)
{
    const urdf_link *body = &robot->links[head];
    append(t, "  ");
    append_name(t, body->name);
    append(t, ":");
    bool first = true;
    for (int k = 0; k < robot->link_count; ++k) {
        if (k == head || robot->links[k].body != head) continue;
        append(t, first ? " # with " : ", ");
        for (const char *c = robot->links[k].name; *c != '\0'; ++c)
            append_bytes(t, (unsigned char)*c < ' ' ? " " : c, 1);
        first = false;
    }
    append(t, "\n    mass: ");
    append_number(t, body->mass);
    append(t, "\n    center_of_mass: ");
    append_vector(t, body->center);
    append(t, "\n    inertia: ");
    append_matrix(t, &body->inertia);
    append(t, "\n    position: ");
    append_vector(t, body->world.translation);
    append(t, "\n    orientation: {matrix: ");
    append_matrix(t, &body->world.rotation);
    append(t, "}\n");
    write_pictures(t, robot, head);
}

static void write_axes(text_builder *t, const joint_chain *c)
{
    int last = c->count - 1;
    if (strcmp(c->word, "universal") == 0) {
        append(t, ", axes: [");
        append_vector(t, c->axis[0]);
        append(t, ", ");
        append_vector(t, c->axis[1]);
        append(t, "]");
    } else if (strcmp(c->word, "planar") == 0 && c->count > 1) {
        append(t, ", normal: ");
        append_vector(t, c->axis[2]);
        append(t, ", direction: ");
        // the second displacement counts along normal x direction, as one of the slides does
        bool handed = vec3_dot(vec3_cross(c->axis[0], c->axis[1]), c->axis[2]) > 0.0;
        append_vector(t, c->axis[handed ? 0 : 1]);
    } else if (strcmp(c->word, "free") != 0 && strcmp(c->word, "spherical") != 0) {
        append(t, strcmp(c->word, "planar") == 0 ? ", normal: " : ", axis: ");
        append_vector(t, c->axis[last]);
    }
}

static void write_limits(text_builder *t, const urdf_joint *j)
{
    if (!j->limited) return;
    append(t, " # ");
    append_number(t, j->lower);
    append(t, " to ");
    append_number(t, j->upper);
    append(t, j->kind == URDF_PRISMATIC ? " m, at most " : " rad, at most ");
    append_number(t, j->effort);
    append(t, j->kind == URDF_PRISMATIC ? " N and " : " N m and ");
    append_number(t, j->velocity);
    append(t, j->kind == URDF_PRISMATIC ? " m/s" : " rad/s");
}

// does the joint move a body that has mass?
static bool is_last(const urdf_robot *robot, const urdf_joint *j)
{
    return j->kind != URDF_FIXED && !j->dropped && is_whole(robot, j->child);
}

static bool has_one_coordinate(const urdf_joint *j)
{
    return j->kind == URDF_REVOLUTE || j->kind == URDF_PRISMATIC;
}

// a joint of the model by itself, with one coordinate
static bool is_single(const urdf_robot *robot, const urdf_joint *j)
{
    return is_last(robot, j) && has_one_coordinate(j) && is_whole(robot, j->parent);
}

// The joint that another one follows, where both are joints of the model; otherwise NULL.
static const urdf_joint *mimicked(const urdf_robot *robot, const urdf_joint *j)
{
    if (j->mimic == NULL || j->mimic_multiplier == 0.0 || !is_single(robot, j)) return NULL;
    for (int k = 0; k < robot->joint_count; ++k) {
        const urdf_joint *other = &robot->joints[k];
        if (other != j && strcmp(other->name, j->mimic) == 0 && is_single(robot, other))
            return other;
    }
    return NULL;
}

static hn_status write_joint(text_builder *t, urdf_robot *robot, int last)
{
    joint_chain c;
    TRY(find_chain(robot, last, &c));
    const urdf_joint *j = &robot->joints[last], *first = &robot->joints[c.joints[0]];
    int parent = robot->links[first->parent].body;
    append(t, "  ");
    append_name(t, j->name);
    append(t, ": {");
    append(t, c.word);
    append(t, ": {bodies: [");
    if (parent == GROUND_LINK) append(t, "ground");
    else append_name(t, robot->links[parent].name);
    append(t, ", ");
    append_name(t, robot->links[j->child].name);
    append(t, "], at: ");
    append_vector(t, c.at);
    write_axes(t, &c);
    append(t, "}}");
    if (c.count == 1) write_limits(t, j);
    append(t, "\n");
    // a cylindrical joint has one axis, that of the last
    bool backwards = strcmp(c.word, "cylindrical") == 0 && vec3_dot(c.axis[0], c.axis[1]) < 0.0;
    for (int k = 0; c.count > 1 && k < c.count - 1; ++k)
        TRY(urdf_add_note(robot, "joint '%s' is part of the %s joint '%s'%s",
                          robot->joints[c.joints[k]].name, c.word, j->name,
                          backwards ? ", whose axis points the other way: its coordinate there has "
                                      "the opposite sign"
                                    : ""));
    for (int k = 0; k < c.count; ++k) {
        const urdf_joint *part = &robot->joints[c.joints[k]];
        bool written = c.count == 1 && has_one_coordinate(part);
        if (part->damping > 0.0 && !written)
            TRY(urdf_add_note(robot, "joint '%s': damping %g is left out", part->name,
                              part->damping));
        if (part->friction > 0.0 && !written)
            TRY(urdf_add_note(robot, "joint '%s': friction %g is left out", part->name,
                              part->friction));
        if (part->mimic != NULL && mimicked(robot, part) == NULL)
            TRY(urdf_add_note(robot, "joint '%s' moves freely; in the file it follows joint '%s'",
                              part->name, part->mimic));
        else if (part->mimic != NULL && part->mimic_offset != 0.0)
            TRY(urdf_add_note(robot, "joint '%s' follows joint '%s' from zero; in the file from %g",
                              part->name, part->mimic, part->mimic_offset));
        if (part->limited && part->upper > part->lower)
            TRY(urdf_add_note(robot, "joint '%s': limits %g to %g do not stop it", part->name,
                              part->lower, part->upper));
    }
    return t->status;
}

// What acts along the coordinate of a joint, as a section of the model has it.
typedef struct joint_law {
    const char *section, *suffix; // of its name
    const char *before, *after;   // words around the joint
} joint_law;

static const joint_law DAMPED_TURN = {"loads", "", "torsion_spring", ", stiffness: 0, damping: "};
static const joint_law DAMPED_SLIDE = {"drives", "", "spring", ", damping: "};
static const joint_law RUBS = {"drives", " friction", "friction", ", effort: "};

static double law_value(const joint_law *law, const urdf_robot *robot, const urdf_joint *j)
{
    if (!is_single(robot, j)) return 0.0;
    if (law == &RUBS) return j->friction;
    return (j->kind == URDF_PRISMATIC) == (law == &DAMPED_SLIDE) ? j->damping : 0.0;
}

static void write_law(text_builder *t, const joint_law *law, const urdf_robot *robot, bool *begun)
{
    for (int k = 0; k < robot->joint_count; ++k) {
        const urdf_joint *j = &robot->joints[k];
        double value = law_value(law, robot, j);
        if (!(value > 0.0)) continue;
        if (!*begun) append(t, law->section), append(t, ":\n");
        *begun = true;
        append(t, "  ");
        append_name_with(t, j->name, law->suffix);
        append(t, ": {");
        append(t, law->before);
        append(t, ": {joint: ");
        append_name(t, j->name);
        append(t, law->after);
        append_number(t, value);
        append(t, "}}\n");
    }
}

// Damping of turning joints is a load, which all schemes take; that of slides and dry friction are laws on coordinates.
static void write_laws(text_builder *t, const urdf_robot *robot)
{
    bool loads = false, drives = false;
    write_law(t, &DAMPED_TURN, robot, &loads);
    write_law(t, &DAMPED_SLIDE, robot, &drives);
    write_law(t, &RUBS, robot, &drives);
}

// Joints that mimic others: x = multiplier times x' from where both are zero.
static void write_couplings(text_builder *t, const urdf_robot *robot)
{
    bool any = false;
    for (int k = 0; k < robot->joint_count; ++k) {
        const urdf_joint *j = &robot->joints[k], *other = mimicked(robot, j);
        if (other == NULL) continue;
        if (!any) append(t, "couplings:\n");
        any = true;
        append(t, "  ");
        append_name(t, j->name);
        append(t, ": {relation: {joints: [");
        append_name(t, j->name);
        append(t, ", ");
        append_name(t, other->name);
        append(t, "], factors: [1, ");
        append_number(t, -j->mimic_multiplier);
        append(t, "]}}\n");
    }
}

static hn_status write_sections(text_builder *t, urdf_robot *robot)
{
    append(t, "bodies:\n");
    bool any = false;
    for (int k = 0; k < robot->link_count; ++k)
        if (robot->links[k].body == k && robot->links[k].mass > 0.0)
            write_body(t, robot, k), any = true;
    if (!any)
        return context_fail(robot->context, HN_INVALID_MODEL,
                            "%s: nothing in the robot moves and has mass (with a base that may "
                            "move, its root would)",
                            robot->file);
    any = false;
    for (int k = 0; k < robot->joint_count; ++k) {
        if (!is_last(robot, &robot->joints[k])) continue;
        if (!any) append(t, "joints:\n");
        any = true;
        TRY(write_joint(t, robot, k));
    }
    write_laws(t, robot);
    write_couplings(t, robot);
    append(t, "run: {scheme: energy-momentum, step: 0.001, end: 1}\n");
    return t->status;
}

static hn_status convert(urdf_robot *robot, bool free_base, int *order, text_builder *head,
                         text_builder *body)
{
    int root;
    TRY(find_root(robot, &root));
    TRY(place_links(robot, root, free_base, order));
    TRY(gather_inertia(robot));
    if (free_base && !(robot->links[root].mass > 0.0))
        return context_fail(
            robot->context, HN_INVALID_MODEL,
            "%s:%d: the root, link '%s', has no mass and cannot move; expected a fixed base",
            robot->file, robot->links[root].line, robot->links[root].name);
    TRY(drop_idle(robot, order));
    TRY(write_sections(body, robot));
    append(head, "# Converted from the robot description ");
    append_comment(head, robot->file);
    for (int k = 0; k < robot->note_count; ++k) {
        append(head, k == 0 ? "# Not in this file:\n#   " : "#   ");
        append_comment(head, robot->notes[k].text);
        context_log(robot->context, "%s: %s", robot->file, robot->notes[k].text);
    }
    append(head, "holonom: 1\nname: ");
    append_name(head, robot->name);
    append(head, "\ngravity: [0, 0, -9.81]\n");
    append_bytes(head, body->text, (size_t)body->length);
    return head->status;
}

hn_status urdf_to_model(hn_context *context, const char *text, size_t length, const char *file,
                        bool free_base, char **model, size_t *model_length)
{
    urdf_robot robot;
    text_builder head = {.context = context}, body = {.context = context};
    int *order = NULL;
    hn_status status = urdf_read(context, text, length, file, &robot);
    if (status == HN_OK) {
        order = context_allocate(context, (size_t)robot.link_count * sizeof *order);
        status = order == NULL ? HN_OUT_OF_MEMORY : convert(&robot, free_base, order, &head, &body);
    }
    context_release(context, order);
    context_release(context, body.text);
    urdf_clear(&robot);
    *model = head.text;
    *model_length = (size_t)head.length;
    if (status == HN_OK) return HN_OK;
    context_release(context, head.text);
    *model = NULL;
    return status;
}
