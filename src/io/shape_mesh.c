// SPDX-License-Identifier: MIT
// Triangles of shapes: flat faces, and surfaces of revolution of a profile (radius, z) about the shape's z axis.
#include "io/shape_mesh.h"

#include "base/vector.h"

#include <math.h>

enum { SIDES = 32, RINGS = 16 };

typedef struct shape_frame {
    const hn_shape *shape;
    hn_vec3 origin;
} shape_frame;

static hn_vec3 placed(const shape_frame *f, hn_vec3 x)
{
    return vec3_subtract(vec3_add(f->shape->position, mat3_apply(&f->shape->orientation, x)),
                         f->origin);
}

// a triangle with a normal at each corner, seen anticlockwise from outside
static hn_status add_triangle(shape_mesh *m, const shape_frame *f, const hn_vec3 x[3],
                              const hn_vec3 n[3])
{
    void *corners = m->corners, *normals = m->normals;
    hn_status status =
        context_grow(m->context, &corners, &m->corner_capacity, m->count + 3, sizeof *m->corners);
    m->corners = corners;
    if (status == HN_OK)
        status = context_grow(m->context, &normals, &m->normal_capacity, m->count + 3,
                              sizeof *m->normals);
    m->normals = normals;
    TRY(status);
    for (int k = 0; k < 3; ++k) {
        m->corners[m->count] = placed(f, x[k]);
        m->normals[m->count++] = mat3_apply(&f->shape->orientation, n[k]);
    }
    return HN_OK;
}

static hn_status add_flat(shape_mesh *m, const shape_frame *f, hn_vec3 a, hn_vec3 b, hn_vec3 c)
{
    hn_vec3 n = vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a));
    double length = vec3_norm(n);
    if (!(length > 0.0)) return HN_OK;
    n = vec3_scale(1.0 / length, n);
    return add_triangle(m, f, (hn_vec3[3]){a, b, c}, (hn_vec3[3]){n, n, n});
}

static hn_status add_quad(shape_mesh *m, const shape_frame *f, hn_vec3 a, hn_vec3 b, hn_vec3 c,
                          hn_vec3 d)
{
    TRY(add_flat(m, f, a, b, c));
    return add_flat(m, f, a, c, d);
}

static hn_status add_box(shape_mesh *m, const shape_frame *f)
{
    hn_vec3 s = vec3_scale(0.5, f->shape->size), p[8];
    for (int k = 0; k < 8; ++k)
        p[k] =
            vec3((k & 1) != 0 ? s.x : -s.x, (k & 2) != 0 ? s.y : -s.y, (k & 4) != 0 ? s.z : -s.z);
    static const int FACES[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int k = 0; k < 6; ++k)
        TRY(add_quad(m, f, p[FACES[k][0]], p[FACES[k][1]], p[FACES[k][2]], p[FACES[k][3]]));
    return HN_OK;
}

/// One end of a strip of a surface of revolution.
typedef struct ring {
    double radius, z;               ///< m
    double normal_radius, normal_z; ///< of the surface there
} ring;

static hn_vec3 on_ring(double radius, double z, int side)
{
    double angle = 2.0 * acos(-1.0) * side / SIDES;
    return vec3(radius * cos(angle), radius * sin(angle), z);
}

// the strip between two rings, outside on the left of the way from the first to the second
static hn_status add_strip(shape_mesh *m, const shape_frame *f, ring from, ring to)
{
    for (int k = 0; k < SIDES; ++k) {
        hn_vec3 x[4] = {on_ring(from.radius, from.z, k), on_ring(from.radius, from.z, k + 1),
                        on_ring(to.radius, to.z, k + 1), on_ring(to.radius, to.z, k)};
        hn_vec3 n[4] = {on_ring(from.normal_radius, from.normal_z, k),
                        on_ring(from.normal_radius, from.normal_z, k + 1),
                        on_ring(to.normal_radius, to.normal_z, k + 1),
                        on_ring(to.normal_radius, to.normal_z, k)};
        if (from.radius > 0.0)
            TRY(add_triangle(m, f, (hn_vec3[3]){x[0], x[1], x[2]}, (hn_vec3[3]){n[0], n[1], n[2]}));
        if (to.radius > 0.0)
            TRY(add_triangle(m, f, (hn_vec3[3]){x[0], x[2], x[3]}, (hn_vec3[3]){n[0], n[2], n[3]}));
    }
    return HN_OK;
}

static hn_status add_ring_face(shape_mesh *m, const shape_frame *f, double inner, double outer,
                               double z, double up)
{
    ring a = {inner, z, 0.0, up}, b = {outer, z, 0.0, up};
    return up > 0.0 ? add_strip(m, f, b, a) : add_strip(m, f, a, b);
}

static hn_status add_cylinder(shape_mesh *m, const shape_frame *f)
{
    const hn_shape *s = f->shape;
    double z = 0.5 * s->height, inner = s->kind == HN_SHAPE_HOLLOW_CYLINDER ? s->inner_radius : 0.0;
    TRY(add_strip(m, f, (ring){s->radius, -z, 1.0, 0.0}, (ring){s->radius, z, 1.0, 0.0}));
    if (inner > 0.0)
        TRY(add_strip(m, f, (ring){inner, z, -1.0, 0.0}, (ring){inner, -z, -1.0, 0.0}));
    TRY(add_ring_face(m, f, inner, s->radius, -z, -1.0));
    return add_ring_face(m, f, inner, s->radius, z, 1.0);
}

static hn_status add_cone(shape_mesh *m, const shape_frame *f)
{
    const hn_shape *s = f->shape;
    double slant = hypot(s->radius, s->height), nr = s->height / slant, nz = -s->radius / slant;
    double low = -0.75 * s->height, high = 0.25 * s->height;
    TRY(add_strip(m, f, (ring){0.0, low, nr, nz}, (ring){s->radius, high, nr, nz}));
    return add_ring_face(m, f, 0.0, s->radius, high, 1.0);
}

static hn_status add_sphere(shape_mesh *m, const shape_frame *f)
{
    double r = f->shape->radius, pi = acos(-1.0);
    for (int k = 0; k < RINGS; ++k) {
        double a = pi * (k - 0.5 * RINGS) / RINGS, b = pi * (k + 1 - 0.5 * RINGS) / RINGS;
        double ca = k == 0 ? 0.0 : cos(a), cb = k + 1 == RINGS ? 0.0 : cos(b);
        TRY(add_strip(m, f, (ring){r * ca, r * sin(a), ca, sin(a)},
                      (ring){r * cb, r * sin(b), cb, sin(b)}));
    }
    return HN_OK;
}

static hn_status add_pyramid(shape_mesh *m, const shape_frame *f)
{
    hn_vec3 s = f->shape->size, top = vec3(0.0, 0.0, 0.75 * s.z);
    double x = 0.5 * s.x, y = 0.5 * s.y, z = -0.25 * s.z;
    hn_vec3 p[4] = {vec3(-x, -y, z), vec3(x, -y, z), vec3(x, y, z), vec3(-x, y, z)};
    for (int k = 0; k < 4; ++k) TRY(add_flat(m, f, p[k], p[(k + 1) % 4], top));
    return add_quad(m, f, p[0], p[3], p[2], p[1]);
}

static hn_status add_tetrahedron(shape_mesh *m, const shape_frame *f)
{
    const hn_vec3 *p = f->shape->corners;
    static const int FACES[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    hn_vec3 e1 = vec3_subtract(p[1], p[0]), e2 = vec3_subtract(p[2], p[0]),
            e3 = vec3_subtract(p[3], p[0]);
    bool right = vec3_dot(vec3_cross(e1, e2), e3) > 0.0;
    for (int k = 0; k < 4; ++k)
        TRY(add_flat(m, f, p[FACES[k][0]], p[FACES[k][right ? 1 : 2]], p[FACES[k][right ? 2 : 1]]));
    return HN_OK;
}

hn_status shape_mesh_add(shape_mesh *mesh, const hn_shape *shape, hn_vec3 origin)
{
    shape_frame f = {shape, origin};
    switch (shape->kind) {
    case HN_SHAPE_BOX: return add_box(mesh, &f);
    case HN_SHAPE_SPHERE: return add_sphere(mesh, &f);
    case HN_SHAPE_CYLINDER:
    case HN_SHAPE_HOLLOW_CYLINDER: return add_cylinder(mesh, &f);
    case HN_SHAPE_CONE: return add_cone(mesh, &f);
    case HN_SHAPE_PYRAMID: return add_pyramid(mesh, &f);
    case HN_SHAPE_TETRAHEDRON: return add_tetrahedron(mesh, &f);
    }
    return HN_OK;
}

void shape_mesh_clear(shape_mesh *mesh)
{
    context_release(mesh->context, mesh->corners);
    context_release(mesh->context, mesh->normals);
    *mesh = (shape_mesh){.context = mesh->context};
}
