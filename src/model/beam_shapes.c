// SPDX-License-Identifier: MIT
// Nodes of a beam along a polyline, an arc or a spline; frames carried along the axis without turning about it.
#include "model/beam_shapes.h"

#include "base/rotation.h"
#include "base/vector.h"

#include <float.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;
static const double ANGLE_MAX =
    45.0; // degrees between neighbouring nodes: the element bears no more moment
static const double PARALLEL_TOLERANCE = 1e-9; // of `direction` to the axis
static const double STRAIGHT_TOLERANCE = 1e-9; // of three points of an arc
enum { ARC_LENGTH_SWEEPS = 60, QUADRATURE = 5 };

static double distance(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_subtract(b, a));
}

static hn_vec3 unit(hn_vec3 a)
{
    return vec3_scale(1.0 / vec3_norm(a), a);
}

static hn_status check_points(hn_context *context, const char *name, const hn_beam_def *def)
{
    int least = def->shape == HN_BEAM_ARC ? 3 : 2;
    if (def->element_count < 1)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': %d elements; expected at least one", name,
                            def->element_count);
    if (def->points == NULL || def->point_count < least)
        return context_fail(context, HN_INVALID_MODEL, "beam '%s': %d points; expected %s %d", name,
                            def->points == NULL ? 0 : def->point_count,
                            least == 3 ? "exactly" : "at least", least);
    if (def->shape == HN_BEAM_ARC && def->point_count != 3)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': %d points on an arc; expected its start, one between, its "
                            "end",
                            name, def->point_count);
    for (int i = 0; i < def->point_count; ++i) {
        if (!vec3_is_finite(def->points[i]))
            return context_fail(context, HN_INVALID_MODEL, "beam '%s': point %d is not finite",
                                name, i + 1);
        double size = fmax(vec3_norm(def->points[i]), i > 0 ? vec3_norm(def->points[i - 1]) : 0.0);
        if (i > 0 && distance(def->points[i - 1], def->points[i]) <= 1e-12 * size + DBL_MIN)
            return context_fail(context, HN_INVALID_MODEL,
                                "beam '%s': points %d and %d are one place; expected a length",
                                name, i, i + 1);
    }
    if (!isfinite(def->twist) || !vec3_is_finite(def->direction))
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': its twist or direction is not finite", name);
    return HN_OK;
}

// ---- axes -------------------------------------------------------------------------------------------

// Straight pieces, elements shared out by length, one at least to each; tangents at corners are those of the bisector.
static hn_status place_on_polyline(hn_context *context, const char *name, const hn_beam_def *def,
                                   beam_nodes *nodes, hn_vec3 *tangents)
{
    int pieces = def->point_count - 1, node = 0;
    double total = 0.0, passed = 0.0;
    if (def->element_count < pieces)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': %d elements for %d straight pieces; expected one at least "
                            "for each",
                            name, def->element_count, pieces);
    for (int p = 0; p < pieces; ++p) total += distance(def->points[p], def->points[p + 1]);
    for (int p = 0; p < pieces; ++p) {
        hn_vec3 from = def->points[p], way = vec3_subtract(def->points[p + 1], from);
        double length = vec3_norm(way);
        passed += length;
        // so many elements up to the end of this piece, leaving one at least for each later piece
        int until = (int)lround(def->element_count * passed / total), left = pieces - 1 - p;
        if (until > def->element_count - left) until = def->element_count - left;
        if (until < node + 1) until = node + 1;
        if (p == pieces - 1) until = def->element_count;
        int count = until - node;
        hn_vec3 tangent = vec3_scale(1.0 / length, way);
        for (int k = 0; k < count; ++k) {
            nodes->places[node + k] = vec3_add_scaled(from, (double)k / count, way);
            nodes->lengths[node + k] = length / count;
            tangents[node + k] = tangent;
        }
        if (node > 0) {
            hn_vec3 both = vec3_add(tangents[node - 1], tangent);
            if (vec3_norm(both) < 1e-6)
                return context_fail(context, HN_INVALID_MODEL,
                                    "beam '%s': it turns back on itself at point %d", name, p + 1);
            tangents[node] = unit(both);
        }
        tangents[until] = tangent;
        node = until;
    }
    nodes->places[node] = def->points[pieces];
    return HN_OK;
}

static hn_status place_on_arc(hn_context *context, const char *name, const hn_beam_def *def,
                              beam_nodes *nodes, hn_vec3 *tangents)
{
    const hn_vec3 *p = def->points;
    hn_vec3 u = vec3_subtract(p[1], p[0]), v = vec3_subtract(p[2], p[0]), normal = vec3_cross(u, v);
    double size = vec3_norm(normal);
    if (size <= STRAIGHT_TOLERANCE * vec3_norm(u) * vec3_norm(v))
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': the three points of its arc lie on a line; expected a "
                            "circle through them",
                            name);
    // centre of the circle: p0 + (|v|^2 n x u - |u|^2 n x v)/(2 n^2), n = u x v
    hn_vec3 to_centre = vec3_scale(0.5 / (size * size),
                                   vec3_add(vec3_scale(vec3_dot(v, v), vec3_cross(normal, u)),
                                            vec3_scale(-vec3_dot(u, u), vec3_cross(normal, v))));
    hn_vec3 centre = vec3_add(p[0], to_centre), x = vec3_negate(to_centre);
    double radius = vec3_norm(x);
    hn_vec3 axis = vec3_scale(1.0 / size, normal), e1 = vec3_scale(1.0 / radius, x),
            e2 = vec3_cross(axis, e1);
    hn_vec3 end = vec3_subtract(p[2], centre);
    double angle = atan2(vec3_dot(end, e2), vec3_dot(end, e1));
    if (angle <= 0.0) angle += 2.0 * PI;
    int n = def->element_count;
    for (int i = 0; i <= n; ++i) {
        double a = angle * i / n;
        nodes->places[i] = vec3_add(
            centre, vec3_add(vec3_scale(radius * cos(a), e1), vec3_scale(radius * sin(a), e2)));
        tangents[i] = vec3_add(vec3_scale(-sin(a), e1), vec3_scale(cos(a), e2));
        if (i < n) nodes->lengths[i] = radius * angle / n;
    }
    return HN_OK;
}

// Natural cubic spline over the chord length: second derivatives at the points.
typedef struct spline {
    const hn_vec3 *points;
    int count;
    double *at;      // parameter of each point
    hn_vec3 *second; // second derivative there
} spline;

static void spline_fit(spline *s, double *work)
{
    int n = s->count;
    s->at[0] = 0.0;
    for (int i = 1; i < n; ++i) s->at[i] = s->at[i - 1] + distance(s->points[i - 1], s->points[i]);
    s->second[0] = s->second[n - 1] = vec3(0.0, 0.0, 0.0);
    // tridiagonal system, forward and back
    work[0] = 0.0;
    for (int i = 1; i < n - 1; ++i) {
        double before = s->at[i] - s->at[i - 1], after = s->at[i + 1] - s->at[i];
        hn_vec3 jump =
            vec3_subtract(vec3_scale(6.0 / after, vec3_subtract(s->points[i + 1], s->points[i])),
                          vec3_scale(6.0 / before, vec3_subtract(s->points[i], s->points[i - 1])));
        double pivot = 2.0 * (before + after) - before * work[i - 1];
        work[i] = after / pivot;
        s->second[i] = vec3_scale(1.0 / pivot, vec3_add_scaled(jump, -before, s->second[i - 1]));
    }
    for (int i = n - 2; i > 0; --i)
        s->second[i] = vec3_add_scaled(s->second[i], -work[i], s->second[i + 1]);
}

static void spline_evaluate(const spline *s, int piece, double t, hn_vec3 *place, hn_vec3 *slope)
{
    double h = s->at[piece + 1] - s->at[piece], b = (t - s->at[piece]) / h, a = 1.0 - b;
    hn_vec3 p = s->points[piece], q = s->points[piece + 1], m = s->second[piece],
            n = s->second[piece + 1];
    *place = vec3_add(vec3_add(vec3_scale(a, p), vec3_scale(b, q)),
                      vec3_scale(h * h / 6.0, vec3_add(vec3_scale(a * a * a - a, m),
                                                       vec3_scale(b * b * b - b, n))));
    *slope = vec3_add(vec3_scale(1.0 / h, vec3_subtract(q, p)),
                      vec3_scale(h / 6.0, vec3_add(vec3_scale(1.0 - 3.0 * a * a, m),
                                                   vec3_scale(3.0 * b * b - 1.0, n))));
}

// arc length of one piece from its beginning to the parameter t, Gauss quadrature in eight parts
static double spline_length(const spline *s, int piece, double t)
{
    static const double x[QUADRATURE] = {-0.906179845938664, -0.538469310105683, 0.0,
                                         0.538469310105683, 0.906179845938664},
                        w[QUADRATURE] = {0.236926885056189, 0.478628670499366, 0.568888888888889,
                                         0.478628670499366, 0.236926885056189};
    enum { PARTS = 8 };
    double begin = s->at[piece], half = 0.5 * (t - begin) / PARTS, sum = 0.0;
    for (int k = 0; k < PARTS; ++k)
        for (int i = 0; i < QUADRATURE; ++i) {
            hn_vec3 place, slope;
            spline_evaluate(s, piece, begin + half * (2.0 * k + 1.0 + x[i]), &place, &slope);
            sum += half * w[i] * vec3_norm(slope);
        }
    return sum;
}

static hn_status place_on_spline(hn_context *context, const hn_beam_def *def, beam_nodes *nodes,
                                 hn_vec3 *tangents)
{
    size_t n = (size_t)def->point_count;
    double *memory = context_allocate(context, 6 * n * sizeof(double));
    if (memory == NULL) return HN_OUT_OF_MEMORY;
    spline s = {.points = def->points,
                .count = def->point_count,
                .at = memory,
                .second = (hn_vec3 *)(void *)(memory + 3 * n)};
    double *lengths = memory + n, total = 0.0; // up to the end of each piece
    spline_fit(&s, memory + 2 * n);
    for (int p = 0; p + 1 < s.count; ++p) lengths[p] = total += spline_length(&s, p, s.at[p + 1]);
    int piece = 0;
    for (int i = 0; i <= def->element_count; ++i) {
        double wanted = total * i / def->element_count, passed;
        while (piece + 2 < s.count && lengths[piece] < wanted) ++piece;
        passed = piece == 0 ? 0.0 : lengths[piece - 1];
        // Newton on the arc length, which grows with the parameter
        double t = s.at[piece] +
                   (s.at[piece + 1] - s.at[piece]) * (wanted - passed) / (lengths[piece] - passed);
        hn_vec3 slope = {0.0, 0.0, 0.0};
        for (int sweep = 0; sweep < ARC_LENGTH_SWEEPS; ++sweep) {
            spline_evaluate(&s, piece, t, &nodes->places[i], &slope);
            double off = wanted - passed - spline_length(&s, piece, t);
            if (fabs(off) <= 1e-15 * total) break;
            t = fmin(fmax(t + off / vec3_norm(slope), s.at[piece]), s.at[piece + 1]);
        }
        tangents[i] = unit(slope);
        if (i < def->element_count) nodes->lengths[i] = total / def->element_count;
    }
    context_release(context, memory);
    return HN_OK;
}

// ---- frames -----------------------------------------------------------------------------------------

// d1 carried from tangent to tangent by the smallest rotation, then turned by the twist.
static hn_status make_frames(hn_context *context, const char *name, const hn_beam_def *def,
                             const hn_vec3 *tangents, beam_nodes *nodes)
{
    hn_vec3 d1 = vec3_perpendicular(tangents[0]);
    if (vec3_norm(def->direction) > 0.0) {
        hn_vec3 given = unit(def->direction);
        hn_vec3 across = vec3_add_scaled(given, -vec3_dot(given, tangents[0]), tangents[0]);
        if (vec3_norm(across) <= PARALLEL_TOLERANCE)
            return context_fail(
                context, HN_INVALID_MODEL,
                "beam '%s': its direction is along its axis; expected one across it", name);
        d1 = unit(across);
    }
    double total = 0.0, passed = 0.0;
    for (int i = 0; i < def->element_count; ++i) total += nodes->lengths[i];
    for (int i = 0; i <= def->element_count; ++i) {
        if (i > 0) {
            hn_vec3 from = tangents[i - 1], to = tangents[i];
            // the rotation that takes `from` to `to`: d1 + w x d1 + w x (w x d1)/(1 + c)
            hn_vec3 w = vec3_cross(from, to);
            double c = vec3_dot(from, to);
            hn_vec3 once = vec3_cross(w, d1);
            d1 = vec3_add(vec3_add_scaled(vec3_scale(c, d1), 1.0, once),
                          vec3_scale(vec3_dot(w, d1) / (1.0 + c), w));
            d1 = unit(vec3_add_scaled(d1, -vec3_dot(d1, to), to));
            passed += nodes->lengths[i - 1];
        }
        hn_vec3 d2 = vec3_cross(tangents[i], d1);
        double angle = def->twist * passed / total;
        hn_vec3 a = vec3_add(vec3_scale(cos(angle), d1), vec3_scale(sin(angle), d2));
        nodes->frames[i] = mat3_from_columns(a, vec3_cross(tangents[i], a), tangents[i]);
    }
    return HN_OK;
}

static hn_status take_nodes(hn_context *context, const char *name, const hn_beam_def *def,
                            beam_nodes *nodes)
{
    if (def->point_count != def->element_count + 1 || def->frames == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': %d points%s for %d elements; expected a point and a frame "
                            "for each of %d nodes",
                            name, def->point_count, def->frames == NULL ? " and no frames" : "",
                            def->element_count, def->element_count + 1);
    for (int i = 0; i <= def->element_count; ++i) {
        char owner[160];
        snprintf(owner, sizeof owner, "beam '%.100s', frame of node %d", name, i);
        TRY(model_check_rotation(context, owner, &def->frames[i]));
        nodes->places[i] = def->points[i];
        nodes->frames[i] = def->frames[i];
        if (i > 0) nodes->lengths[i - 1] = distance(def->points[i - 1], def->points[i]);
    }
    return HN_OK;
}

// An element whose nodes are turned by more than 45 degrees bears no more moment for being bent further.
static hn_status check_angles(hn_context *context, const char *name, const hn_beam_def *def,
                              const beam_nodes *nodes)
{
    for (int i = 0; i < def->element_count; ++i) {
        hn_mat3 back = mat3_transpose(&nodes->frames[i]),
                turned = mat3_multiply(&back, &nodes->frames[i + 1]);
        double angle = vec3_norm(rotation_logarithm(&turned)) * 180.0 / PI;
        if (angle > ANGLE_MAX)
            return context_fail(
                context, HN_INVALID_MODEL,
                "beam '%s': nodes %d and %d are turned by %.3g degrees against each other; "
                "expected at most %g: take more elements, or two beams and a fixed joint at a "
                "corner",
                name, i, i + 1, angle, ANGLE_MAX);
    }
    return HN_OK;
}

hn_status beam_shape_nodes(hn_context *context, const char *name, const hn_beam_def *def,
                           beam_nodes *nodes)
{
    TRY(check_points(context, name, def));
    if (def->shape == HN_BEAM_NODES) {
        TRY(take_nodes(context, name, def, nodes));
        return check_angles(context, name, def, nodes);
    }
    hn_vec3 *tangents =
        context_allocate(context, ((size_t)def->element_count + 1) * sizeof(hn_vec3));
    if (tangents == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_INVALID_MODEL;
    switch (def->shape) {
    case HN_BEAM_POLYLINE: status = place_on_polyline(context, name, def, nodes, tangents); break;
    case HN_BEAM_ARC: status = place_on_arc(context, name, def, nodes, tangents); break;
    case HN_BEAM_SPLINE: status = place_on_spline(context, def, nodes, tangents); break;
    default:
        status = context_fail(context, HN_INVALID_MODEL, "beam '%s': unknown shape %d", name,
                              (int)def->shape);
    }
    if (status == HN_OK) status = make_frames(context, name, def, tangents, nodes);
    if (status == HN_OK) status = check_angles(context, name, def, nodes);
    context_release(context, tangents);
    return status;
}
