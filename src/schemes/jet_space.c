// SPDX-License-Identifier: MIT
// Points, constraints and dynamics of `projected-rk`: what `jet_space.h` promises, for space and plane alike.
#include "schemes/jet_space.h"

#include "base/processor.h"
#include "linalg/elimination_order.h"
#include "schemes/euler_parameters.h"
#include "schemes/jet_tree.h"
#include "system/mass.h"

#include <string.h>

void jet_space_destroy(jet_space *jet)
{
    if (jet->system == NULL) return;
    for (int m = 0; m < 2; ++m) block_cholesky_destroy(jet->systems[m]);
    jet_tree_destroy(jet->tree);
    pool_release(&jet->memory);
    *jet = (jet_space){0};
}

// ---- creation -----------------------------------------------------------------------------------------

const joint *jet_source_joint(const hn_system *system, int source, int *a, int *b)
{
    const joint *j = &system->reports[source].rows;
    *a = j->parent;
    *b = j->child;
    return j;
}

hn_status jet_space_prepare(hn_system *system, jet_space *jet)
{
    *jet = (jet_space){
        .system = system, .body_count = system->body_count, .memory = {.context = system->context}};
    jet->bodies = pool_take(&jet->memory, (size_t)system->body_count, sizeof(jet_body));
    jet->joints = pool_take(&jet->memory, (size_t)system->joint_count, sizeof(jet_joint));
    return pool_status(&jet->memory);
}

// Every pair of joints on one body, and every joint with itself: counted, then listed. `first` and `ends` hold the
// joint ends of each body (joint index times two plus side).
static void list_couplings(jet_space *jet, const int *first, const int *ends, bool store)
{
    int count = 0;
    for (int body = 0; body < jet->body_count; ++body)
        for (int i = first[body]; i < first[body + 1]; ++i)
            for (int j = i; j < first[body + 1]; ++j) {
                if (store)
                    jet->couplings[count] = (jet_coupling){body,        ends[i] / 2, ends[j] / 2,
                                                           ends[i] % 2, ends[j] % 2, {NULL}};
                count++;
            }
    jet->coupling_count = count;
}

static void list_ends(const jet_space *jet, int *first, int *ends)
{
    for (int k = 0; k < jet->joint_count; ++k) {
        if (jet->joints[k].a >= 0) first[jet->joints[k].a + 1]++;
        if (jet->joints[k].b >= 0) first[jet->joints[k].b + 1]++;
    }
    for (int i = 0; i < jet->body_count; ++i) first[i + 1] += first[i];
    for (int k = jet->joint_count - 1; k >= 0; --k)
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? jet->joints[k].a : jet->joints[k].b;
            if (body >= 0) ends[--first[body + 1]] = 2 * k + side;
        }
    // first[i + 1] is now the beginning of body i
    for (int i = 0; i < jet->body_count; ++i) first[i] = first[i + 1];
    int total = 0;
    for (int k = 0; k < jet->joint_count; ++k)
        total += (jet->joints[k].a >= 0) + (jet->joints[k].b >= 0);
    first[jet->body_count] = total;
}

hn_status jet_space_finish(jet_space *jet)
{
    hn_context *context = jet->system->context;
    jet->mechanism_count = jet->system->mechanism_count;
    for (int i = 0; i < jet->body_count; ++i) {
        jet_body *b = &jet->bodies[i];
        b->y = jet->y_count, b->w = jet->w_count;
        jet->y_count += b->y_count, jet->w_count += b->w_count;
        for (int k = 0; k < b->w_count; ++k)
            b->inverse[k] = b->inertia[k] > 0.0 ? 1.0 / b->inertia[k] : 0.0;
        b->length = jet->system->sizes[i];
        b->mechanism = jet->system->mechanism[i];
        bool plane = b->kind == JET_PLANAR_RIGID || b->kind == JET_PLANE_POINT;
        for (int k = 0; k < b->w_count; ++k)
            b->weight[k] = k < (plane ? 2 : 3) ? b->length * b->length : 1.0;
    }
    for (int k = 0; k < jet->joint_count; ++k) {
        int body[2];
        jet->joints[k].length =
            jet_source_joint(jet->system, jet->joints[k].source, &body[0], &body[1])->length;
        for (int side = 0; side < 2; ++side)
            if (body[side] >= 0)
                jet->joints[k].length = fmax(jet->joints[k].length, jet->bodies[body[side]].length);
        jet->joints[k].first = jet->row_count;
        jet->row_count += jet->joints[k].row_count;
    }
    size_t n = (size_t)jet->body_count, rows = (size_t)jet->row_count, ws = (size_t)jet->w_count;
    int *first = pool_ints(&jet->memory, n + 1),
        *ends = pool_ints(&jet->memory, 2 * (size_t)jet->joint_count);
    TRY(pool_status(&jet->memory));
    list_ends(jet, first, ends);
    list_couplings(jet, first, ends, false);
    jet->couplings = pool_take(&jet->memory, (size_t)jet->coupling_count, sizeof(jet_coupling));
    jet->order = pool_ints(&jet->memory, (size_t)jet->joint_count);
    jet->angles = pool_doubles(&jet->memory, (size_t)jet->system->angle_count);
    jet->pose = pool_doubles(&jet->memory, n * POSE_SIZE);
    jet->twist = pool_doubles(&jet->memory, n * TWIST_SIZE);
    jet->g = pool_doubles(&jet->memory, rows);
    jet->multiplier = pool_doubles(&jet->memory, rows);
    jet->block = pool_take(&jet->memory, (size_t)jet->joint_count, sizeof jet->block[0]);
    jet->force = pool_doubles(&jet->memory, ws);
    jet->gradient = pool_doubles(&jet->memory, ws);
    jet->acceleration = pool_doubles(&jet->memory, ws);
    jet->power = pool_doubles(&jet->memory, (size_t)jet->mechanism_count);
    jet->director_force = pool_doubles(&jet->memory, 9 * n);
    jet->dependent = pool_take(&jet->memory, rows, sizeof(bool));
    TRY(pool_status(&jet->memory));
    if (jet->joint_count == 0) return HN_OK;
    list_couplings(jet, first, ends, true);
    pool scratch = {.context = context};
    int *sizes = pool_ints(&scratch, (size_t)jet->joint_count);
    int(*edges)[2] = pool_take(&scratch, (size_t)jet->coupling_count, sizeof(int[2]));
    hn_status status = pool_status(&scratch);
    if (status == HN_OK) {
        int count = 0;
        for (int k = 0; k < jet->joint_count; ++k) sizes[k] = jet->joints[k].row_count;
        for (int c = 0; c < jet->coupling_count; ++c)
            if (jet->couplings[c].k != jet->couplings[c].l) {
                edges[count][0] = jet->couplings[c].k, edges[count][1] = jet->couplings[c].l;
                count++;
            }
        status = order_minimum_degree(context, jet->joint_count, count, (const int(*)[2])edges,
                                      jet->order);
        for (int m = 0; m < 2 && status == HN_OK; ++m)
            status = block_cholesky_create(context, jet->joint_count, sizes, count,
                                           (const int(*)[2])edges, jet->order, &jet->systems[m]);
    }
    pool_release(&scratch);
    TRY(status);
    for (int c = 0; c < jet->coupling_count; ++c)
        for (int m = 0; m < 2; ++m) {
            jet_coupling *x = &jet->couplings[c];
            if (block_cholesky_is_lower(jet->systems[m], x->l, x->k)) {
                int k = x->k, side = x->side_k;
                x->k = x->l, x->side_k = x->side_l;
                x->l = k, x->side_l = side;
            }
            x->block[m] = block_cholesky_block(jet->systems[m], x->k, x->l);
        }
    return HN_OK;
}

// One row of a joint as a basic constraint: the joints' rows are already written with these.
static basic_row basic_of(const joint *j, int index)
{
    const constraint_row row = joint_row(j, index);
    basic_row basic = {.eta = row.eta};
    if (!row.product) {
        basic.kind = BASIC_COINCIDENCE;
        basic.a = row.direction;
    } else if (row.alpha[0] != 0.0 || row.alpha[4] != 0.0) {
        basic.kind = BASIC_DISTANCE;
    } else {
        basic.kind = row.beta[4] != 0.0 ? BASIC_NONSYMMETRIC : BASIC_SYMMETRIC;
        basic.a = vec3(row.alpha[1], row.alpha[2], row.alpha[3]);
        basic.b = vec3(row.beta[5], row.beta[6], row.beta[7]);
    }
    return basic;
}

hn_status jet_space_create(hn_system *system, jet_space *jet)
{
    TRY(jet_space_prepare(system, jet));
    for (int i = 0; i < system->body_count; ++i) {
        jet_body *b = &jet->bodies[i];
        const double *inertia = mass_node(system, i);
        b->mass = inertia[0];
        for (int k = 0; k < 3; ++k) {
            b->inertia[k] = b->mass;
            b->axes[k] = system->bodies[i].plane[k];
        }
        if (system->bodies[i].has_directors) {
            double sum = inertia[1] + inertia[2] + inertia[3];
            b->kind = JET_RIGID, b->y_count = 7, b->w_count = 6;
            b->moments = vec3(sum - inertia[1], sum - inertia[2], sum - inertia[3]);
            b->inertia[3] = 4.0 * b->moments.x, b->inertia[4] = 4.0 * b->moments.y,
            b->inertia[5] = 4.0 * b->moments.z;
            if (!(b->moments.x > 0.0 && b->moments.y > 0.0 && b->moments.z > 0.0))
                return context_fail(system->context, HN_INVALID_MODEL,
                                    "body '%s': projected-rk needs a positive moment of inertia "
                                    "about every axis (give the "
                                    "body some thickness, or make it a point mass)",
                                    system->bodies[i].name);
        } else if (system->bodies[i].coordinate_count == 2) {
            hn_vec3 place = vec3_load(system->q_start + POSE_SIZE * (size_t)i);
            b->kind = JET_PLANE_POINT, b->y_count = b->w_count = 2;
            b->origin = vec3_scale(vec3_dot(b->axes[2], place), b->axes[2]);
        } else {
            b->kind = JET_POINT, b->y_count = b->w_count = 3;
        }
        memcpy(b->reference, system->q_start + POSE_SIZE * (size_t)i + 3, sizeof b->reference);
    }
    for (int s = 0; s < system->joint_count; ++s) {
        jet_joint *x = &jet->joints[jet->joint_count];
        const joint *j = jet_source_joint(system, s, &x->a, &x->b);
        if (j->row_count == 0) continue;
        x->source = s, x->row_count = j->row_count, x->multiplier = j->row_offset;
        x->rho_a = j->rho_a, x->rho_b = j->rho_b;
        for (int r = 0; r < j->row_count; ++r) x->rows[r] = basic_of(j, r);
        jet->joint_count++;
    }
    return jet_space_finish(jet);
}

// ---- points -------------------------------------------------------------------------------------------

void jet_from_state(const jet_space *jet, const double *q, const double *v, double *y, double *w)
{
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = q + POSE_SIZE * (size_t)i, *speed = v + POSE_SIZE * (size_t)i;
        double twist[TWIST_SIZE], *yb = y + b->y, *wb = w + b->w;
        velocity_to_twist(pose, speed, twist);
        hn_vec3 omega = vec3_load(twist + 3), velocity = vec3_load(speed);
        switch (b->kind) {
        case JET_RIGID:
            memcpy(yb, pose, 3 * sizeof(double));
            euler_from_directors(pose + 3, yb + 3);
            memcpy(wb, speed, 3 * sizeof(double));
            for (int k = 0; k < 3; ++k)
                wb[3 + k] = 0.5 * vec3_dot(vec3_load(pose + 3 + 3 * k), omega);
            break;
        case JET_POINT:
            memcpy(yb, pose, 3 * sizeof(double));
            memcpy(wb, speed, 3 * sizeof(double));
            break;
        case JET_PLANE_POINT:
        case JET_PLANAR_RIGID:
            for (int k = 0; k < 2; ++k) {
                yb[k] = vec3_dot(b->axes[k], vec3_load(pose));
                wb[k] = vec3_dot(b->axes[k], velocity);
            }
            if (b->kind == JET_PLANE_POINT) break;
            // angle of the directors about the normal from their reference
            double c = 0.0, s = 0.0;
            for (int k = 0; k < 3; ++k) {
                hn_vec3 from = vec3_load(b->reference + 3 * k), to = vec3_load(pose + 3 + 3 * k),
                        n = b->axes[2];
                c += vec3_dot(from, to) - vec3_dot(from, n) * vec3_dot(to, n);
                s += vec3_dot(n, vec3_cross(from, to));
            }
            yb[2] = atan2(s, c);
            wb[2] = vec3_dot(b->axes[2], omega);
            break;
        }
    }
}

void jet_to_state(const jet_space *jet, double *q, double *v)
{
    memcpy(q, jet->pose, POSE_SIZE * (size_t)jet->body_count * sizeof(double));
    for (int i = 0; i < jet->body_count; ++i) {
        twist_to_velocity(jet->pose + POSE_SIZE * (size_t)i, jet->twist + TWIST_SIZE * (size_t)i,
                          v + POSE_SIZE * (size_t)i);
        if (!jet->system->bodies[i].has_directors)
            for (int k = 3; k < POSE_SIZE; ++k) v[POSE_SIZE * (size_t)i + (size_t)k] = 0.0;
    }
}

void jet_velocities(const jet_space *jet, const double *y, const double *y1, double *w)
{
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        for (int k = 0; k < b->w_count && k < 3; ++k) w[b->w + k] = y1[b->y + k];
        if (b->kind == JET_RIGID)
            vec3_store(euler_apply(y + b->y + 3, y1 + b->y + 3), w + b->w + 3);
    }
}

void jet_rates(const jet_space *jet, const double *y, const double *w, double *y1)
{
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        for (int k = 0; k < b->w_count && k < 3; ++k) y1[b->y + k] = w[b->w + k];
        if (b->kind == JET_RIGID)
            euler_apply_transposed(y + b->y + 3, vec3_load(w + b->w + 3), y1 + b->y + 3);
    }
}

void jet_second_rates(const jet_space *jet, const double *y, const double *w, const double *d,
                      double *y2)
{
    jet_rates(jet, y, d, y2);
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        if (b->kind != JET_RIGID) continue;
        // |theta_1|^2 = |H theta_1|^2
        hn_vec3 half = vec3_load(w + b->w + 3);
        double square = vec3_dot(half, half);
        for (int k = 3; k < 7; ++k) y2[b->y + k] -= square * y[b->y + k];
    }
}

void jet_move(const jet_space *jet, const double *a, const double *at, double factor,
              const double *c, double *y)
{
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        double turn[4];
        for (int k = 0; k < b->w_count && k < 3; ++k)
            y[b->y + k] = a[b->y + k] + factor * c[b->w + k];
        if (b->kind != JET_RIGID) continue;
        euler_apply_transposed(at + b->y + 3, vec3_load(c + b->w + 3), turn);
        for (int k = 0; k < 4; ++k) y[b->y + 3 + k] = a[b->y + 3 + k] + factor * turn[k];
        euler_normalise(y + b->y + 3);
    }
}

void jet_set_position(jet_space *jet, const double *y)
{
    if (jet->tree != NULL) jet_tree_forget(jet);
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        double *pose = jet->pose + POSE_SIZE * (size_t)i;
        const double *yb = y + b->y;
        if (b->kind == JET_RIGID || b->kind == JET_POINT) {
            memcpy(pose, yb, 3 * sizeof(double));
        } else {
            hn_vec3 place = vec3_add_scaled(b->origin, yb[0], b->axes[0]);
            vec3_store(vec3_add_scaled(place, yb[1], b->axes[1]), pose);
        }
        if (b->kind == JET_RIGID) {
            euler_directors(yb + 3, pose + 3);
        } else if (b->kind == JET_PLANAR_RIGID) {
            double c = cos(yb[2]), s = sin(yb[2]);
            for (int k = 0; k < 9; k += 3) {
                hn_vec3 d = vec3_load(b->reference + k), n = b->axes[2];
                hn_vec3 along = vec3_scale((1.0 - c) * vec3_dot(n, d), n);
                vec3_store(vec3_add_scaled(vec3_add_scaled(along, c, d), s, vec3_cross(n, d)),
                           pose + 3 + k);
            }
        } else {
            memcpy(pose + 3, b->reference, sizeof b->reference);
        }
    }
}

void jet_set_velocity(jet_space *jet, const double *w)
{
    for (int i = 0; i < jet->body_count; ++i)
        jet_twist_of(&jet->bodies[i], jet->pose + POSE_SIZE * (size_t)i, w + jet->bodies[i].w,
                     jet->twist + TWIST_SIZE * (size_t)i);
}

// covector on w from a wrench (force, moment about the centre of mass)
static inline void covector_of(const jet_body *b, const double *pose, hn_vec3 force, hn_vec3 moment,
                               double *out)
{
    if (b->kind == JET_RIGID || b->kind == JET_POINT) {
        vec3_store(force, out);
        if (b->kind == JET_RIGID)
            vec3_store(vec3_scale(2.0, pose_components(pose, moment)), out + 3);
        return;
    }
    out[0] = vec3_dot(b->axes[0], force);
    out[1] = vec3_dot(b->axes[1], force);
    if (b->kind == JET_PLANAR_RIGID) out[2] = vec3_dot(b->axes[2], moment);
}

// ---- constraints --------------------------------------------------------------------------------------

double jet_row_unit(const jet_joint *j, int row)
{
    if (j->rows[row].kind == BASIC_SYMMETRIC) return 1.0;
    return j->rows[row].kind == BASIC_DISTANCE ? j->length * j->length : j->length;
}

static const double ROUND_OFF = 1e-15; // of a coordinate: no place is known better

static double largest_coordinate(hn_vec3 x)
{
    return fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
}

// g and B of a joint; `measured`: and the largest |g|, which takes a third of the work
static ALWAYS_INLINE double evaluate_joint(jet_space *jet, int k, bool measured)
{
    double worst = 0.0, far = 0.0, gap = 1.0, length = 1.0;
    const jet_joint *j = &jet->joints[k];
    const double *pa = system_pose(jet->pose, j->a), *pb = system_pose(jet->pose, j->b);
    hn_vec3 ra = pose_direction(pa, j->rho_a), rb = pose_direction(pb, j->rho_b);
    hn_vec3 e = vec3_subtract(vec3_add(pose_center(pb), rb), vec3_add(pose_center(pa), ra));
    if (measured) {
        // as the ledger measures them: the smaller body counts, and a link's row is its length times the gap
        int body[2];
        const joint *source = jet_source_joint(jet->system, j->source, &body[0], &body[1]);
        far = largest_coordinate(pose_center(pa)) + largest_coordinate(pose_center(pb));
        gap = system_gap_unit(jet->system, source, jet->pose);
        length = source->length;
    }
    for (int r = 0; r < j->row_count; ++r) {
        const basic_row *row = &j->rows[r];
        hn_vec3 force = vec3(0.0, 0.0, 0.0), moment_a, moment_b, u,
                other; // force on b; minus it acts on a
        double value;
        switch (row->kind) {
        case BASIC_COINCIDENCE:
            force = row->a;
            value = vec3_dot(force, e);
            moment_a = vec3_cross(force, ra), moment_b = vec3_cross(rb, force);
            break;
        case BASIC_NONSYMMETRIC:
            force = pose_direction(pa, row->a);
            value = vec3_dot(force, e);
            moment_a = vec3_cross(force, vec3_add(e, ra)), moment_b = vec3_cross(rb, force);
            break;
        case BASIC_DISTANCE:
            force = e;
            value = 0.5 * vec3_dot(e, e);
            moment_a = vec3_cross(e, ra), moment_b = vec3_cross(rb, e);
            break;
        default:
            u = pose_direction(pa, row->a), other = pose_direction(pb, row->b);
            value = vec3_dot(u, other);
            moment_a = vec3_cross(u, other), moment_b = vec3_negate(moment_a);
            break;
        }
        value -= row->eta;
        jet->g[j->first + r] = value;
        if (measured) {
            double unit = row->kind == BASIC_SYMMETRIC  ? 1.0
                          : row->kind == BASIC_DISTANCE ? length * gap
                                                        : gap;
            double size = fabs(value) / unit;
            if (row->kind != BASIC_SYMMETRIC) size -= ROUND_OFF * far / gap;
            if (!j->dropped[r] && !(size <= worst)) worst = isfinite(value) ? size : HUGE_VAL;
        }
        if (j->a >= 0)
            covector_of(&jet->bodies[j->a], pa, vec3_negate(force), moment_a, jet->block[k][0][r]);
        if (j->b >= 0) covector_of(&jet->bodies[j->b], pb, force, moment_b, jet->block[k][1][r]);
    }
    return worst;
}

double jet_evaluate_joint(jet_space *jet, int k)
{
    return evaluate_joint(jet, k, true);
}

void jet_find_rows(jet_space *jet)
{
    for (int k = 0; k < jet->joint_count; ++k) evaluate_joint(jet, k, false);
}

double jet_evaluate_rows(jet_space *jet)
{
    double worst = 0.0;
    for (int k = 0; k < jet->joint_count; ++k) {
        double size = jet_evaluate_joint(jet, k);
        if (!(size <= worst)) worst = size;
    }
    return worst;
}

static inline double dot(int count, const double *a, const double *b)
{
    // rigid bodies: two sums beside each other
    if (count == JET_VELOCITIES)
        return (a[0] * b[0] + a[2] * b[2] + a[4] * b[4]) +
               (a[1] * b[1] + a[3] * b[3] + a[5] * b[5]);
    double sum = 0.0;
    for (int m = 0; m < count; ++m) sum += a[m] * b[m];
    return sum;
}

// What two joints on one body add to the systems of the wanted metrics, of the rows that are kept. Compiled for each
// of the cases: joint l has at most `wide` rows.
static ALWAYS_INLINE void couple(jet_space *jet, const jet_coupling *x, bool kinetic,
                                 bool euclidean, int wide)
{
    const jet_body *body = &jet->bodies[x->body];
    const jet_joint *k = &jet->joints[x->k], *l = &jet->joints[x->l];
    const double(*bk)[JET_VELOCITIES] =
        (const double(*)[JET_VELOCITIES])jet->block[x->k][x->side_k];
    const double(*bl)[JET_VELOCITIES] =
        (const double(*)[JET_VELOCITIES])jet->block[x->l][x->side_l];
    double transposed[JET_VELOCITIES][JET_ROWS] = {{0.0}};
    for (int j = 0; j < l->row_count; ++j)
        for (int m = 0; m < JET_VELOCITIES && !l->dropped[j]; ++m) transposed[m][j] = bl[j][m];
    for (int i = 0; i < k->row_count; ++i) {
        double sum[2][JET_ROWS] = {{0.0}};
        if (k->dropped[i]) continue;
        for (int m = 0; m < body->w_count; ++m) {
            double plain = bk[i][m], weighted = plain * body->inverse[m],
                   measured = plain * body->weight[m];
            if (plain == 0.0) continue; // directions of the axes, and turns alone
            for (int j = 0; j < wide; ++j) {
                if (kinetic) sum[METRIC_KINETIC][j] += weighted * transposed[m][j];
                if (euclidean) sum[METRIC_EUCLIDEAN][j] += measured * transposed[m][j];
            }
        }
        int columns = x->k == x->l ? i + 1 : l->row_count;
        for (int j = 0; j < columns; ++j) {
            if (kinetic) x->block[METRIC_KINETIC][i * l->row_count + j] += sum[METRIC_KINETIC][j];
            if (euclidean)
                x->block[METRIC_EUCLIDEAN][i * l->row_count + j] += sum[METRIC_EUCLIDEAN][j];
        }
    }
}

static ALWAYS_INLINE void couple_all(jet_space *jet, bool kinetic, bool euclidean)
{
    enum { FEW = 2 };
    for (int c = 0; c < jet->coupling_count; ++c) {
        const jet_coupling *x = &jet->couplings[c];
        if (jet->joints[x->l].row_count <= FEW) couple(jet, x, kinetic, euclidean, FEW);
        else couple(jet, x, kinetic, euclidean, JET_ROWS);
    }
}

// The lower triangles of the systems of the wanted metrics, of the rows that are kept
static void assemble_systems(jet_space *jet, const bool wanted[2])
{
    for (int m = 0; m < 2; ++m)
        if (wanted[m]) block_cholesky_clear(jet->systems[m]);
    if (wanted[METRIC_KINETIC] && wanted[METRIC_EUCLIDEAN]) couple_all(jet, true, true);
    else if (wanted[METRIC_KINETIC]) couple_all(jet, true, false);
    else couple_all(jet, false, true);
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        for (int r = 0; r < j->row_count; ++r)
            for (int m = 0; m < 2 && j->dropped[r]; ++m)
                if (wanted[m])
                    block_cholesky_block(jet->systems[m], k, k)[r * (j->row_count + 1)] = 1.0;
    }
}

hn_status jet_choose_rows(jet_space *jet, int *dropped_count)
{
    *dropped_count = 0;
    if (jet->joint_count == 0) return HN_OK;
    for (int k = 0; k < jet->joint_count; ++k)
        memset(jet->joints[k].dropped, 0, sizeof jet->joints[k].dropped);
    assemble_systems(jet, (const bool[2]){[METRIC_EUCLIDEAN] = true});
    row_rank rank = {.tolerance = DEPENDENT_PIVOT, .dropped = jet->dependent};
    if (block_cholesky_factor_rank(jet->systems[METRIC_EUCLIDEAN], &rank) >= 0)
        return HN_SINGULAR_SYSTEM;
    for (int k = 0; k < jet->joint_count; ++k)
        for (int r = 0; r < jet->joints[k].row_count; ++r) {
            jet->joints[k].dropped[r] = jet->dependent[jet->joints[k].first + r];
            *dropped_count += jet->joints[k].dropped[r] ? 1 : 0;
        }
    return HN_OK;
}

static bool factor_systems(jet_space *jet, const bool wanted[2], int *worst)
{
    if (jet->joint_count == 0) return true;
    assemble_systems(jet, wanted);
    for (int m = 0; m < 2; ++m) {
        int node = wanted[m] ? block_cholesky_factor(jet->systems[m]) : -1;
        if (node < 0) continue;
        *worst = jet->joints[node].b >= 0 ? jet->joints[node].b : jet->joints[node].a;
        jet->failed_row = jet->joints[node].first + block_cholesky_failed_row(jet->systems[m]);
        return false;
    }
    return true;
}

bool jet_factor(jet_space *jet, jet_metric metric, int *worst)
{
    const bool wanted[2] = {metric == METRIC_KINETIC, metric == METRIC_EUCLIDEAN};
    return factor_systems(jet, wanted, worst);
}

bool jet_factor_both(jet_space *jet, int *worst)
{
    const bool wanted[2] = {true, true};
    return factor_systems(jet, wanted, worst);
}

void jet_row_margins(const jet_space *jet, double *margins)
{
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        const int body[2] = {j->a, j->b};
        for (int r = 0; r < j->row_count; ++r) {
            double square = 0.0;
            for (int side = 0; side < 2; ++side) {
                if (body[side] < 0) continue;
                const jet_body *b = &jet->bodies[body[side]];
                const double *x = jet->block[k][side][r];
                for (int m = 0; m < b->w_count; ++m) square += b->weight[m] * x[m] * x[m];
            }
            margins[j->first + r] =
                j->dropped[r] || !(square > 0.0)
                    ? 1.0
                    : block_cholesky_pivot(jet->systems[METRIC_EUCLIDEAN], k, r) / square;
        }
    }
}

const jet_joint *jet_joint_of_row(const jet_space *jet, int row)
{
    int low = 0, high = jet->joint_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (jet->joints[middle].first <= row) low = middle;
        else high = middle - 1;
    }
    return &jet->joints[low];
}

void jet_apply_rows(const jet_space *jet, const double *w, double *out)
{
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        const int body[2] = {j->a, j->b};
        for (int r = 0; r < j->row_count; ++r) {
            double sum = 0.0;
            for (int side = 0; side < 2; ++side) {
                if (body[side] < 0) continue;
                const jet_body *b = &jet->bodies[body[side]];
                sum += dot(b->w_count, jet->block[k][side][r], w + b->w);
            }
            out[j->first + r] = sum;
        }
    }
}

void jet_add_rows_transposed(const jet_space *jet, jet_metric metric, double factor,
                             const double *mu, double *w)
{
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        const int body[2] = {j->a, j->b};
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            const jet_body *b = &jet->bodies[body[side]];
            double sum[JET_VELOCITIES] = {0.0};
            for (int r = 0; r < j->row_count; ++r) // unused places are zero
                for (int m = 0; m < JET_VELOCITIES; ++m)
                    sum[m] += jet->block[k][side][r][m] * mu[j->first + r];
            for (int m = 0; m < b->w_count; ++m)
                w[b->w + m] +=
                    factor * (metric == METRIC_KINETIC ? b->inverse[m] : b->weight[m]) * sum[m];
        }
    }
}

void jet_solve(const jet_space *jet, jet_metric metric, double *x)
{
    if (jet->joint_count == 0) return;
    for (int k = 0; k < jet->joint_count; ++k)
        for (int r = 0; r < jet->joints[k].row_count; ++r)
            if (jet->joints[k].dropped[r]) x[jet->joints[k].first + r] = 0.0;
    block_cholesky_solve(jet->systems[metric], x);
}

// A vector fixed in a body, turned by omega: first and second derivative (the latter without angular acceleration).
static inline hn_vec3 turned(const double *twist, hn_vec3 x)
{
    return vec3_cross(vec3_load(twist + 3), x);
}

static const double NO_TWIST[TWIST_SIZE] = {0.0};

static inline const double *twist_at(const jet_space *jet, int body)
{
    return body < 0 ? NO_TWIST : jet->twist + TWIST_SIZE * (size_t)body;
}

void jet_joint_bias(const jet_space *jet, int k, double *out)
{
    const jet_joint *j = &jet->joints[k];
    const double *pa = system_pose(jet->pose, j->a), *pb = system_pose(jet->pose, j->b);
    const double *ta = twist_at(jet, j->a), *tb = twist_at(jet, j->b);
    hn_vec3 ra = pose_direction(pa, j->rho_a), rb = pose_direction(pb, j->rho_b);
    hn_vec3 ra1 = turned(ta, ra), rb1 = turned(tb, rb);
    hn_vec3 e = vec3_subtract(vec3_add(pose_center(pb), rb), vec3_add(pose_center(pa), ra));
    hn_vec3 e1 = vec3_subtract(vec3_add(vec3_load(tb), rb1), vec3_add(vec3_load(ta), ra1));
    hn_vec3 e2 = vec3_subtract(turned(tb, rb1), turned(ta, ra1));
    for (int r = 0; r < j->row_count; ++r) {
        const basic_row *row = &j->rows[r];
        double value;
        if (row->kind == BASIC_COINCIDENCE) {
            value = vec3_dot(row->a, e2);
        } else if (row->kind == BASIC_DISTANCE) {
            value = vec3_dot(e1, e1) + vec3_dot(e, e2);
        } else {
            hn_vec3 u = pose_direction(pa, row->a), u1 = turned(ta, u), u2 = turned(ta, u1);
            if (row->kind == BASIC_NONSYMMETRIC) {
                value = 2.0 * vec3_dot(u1, e1) + vec3_dot(u2, e) + vec3_dot(u, e2);
            } else {
                hn_vec3 z = pose_direction(pb, row->b), z1 = turned(tb, z), z2 = turned(tb, z1);
                value = 2.0 * vec3_dot(u1, z1) + vec3_dot(u2, z) + vec3_dot(u, z2);
            }
        }
        out[r] = value;
    }
}

static void jet_bias(const jet_space *jet, double *out)
{
    for (int k = 0; k < jet->joint_count; ++k) jet_joint_bias(jet, k, out + jet->joints[k].first);
}

// A vector fixed in a body and its rate omega x u both turn with the body when w stays.
void jet_joint_rate_change(const jet_space *jet, int k, const double *c, double *out)
{
    const jet_joint *j = &jet->joints[k];
    const double *pa = system_pose(jet->pose, j->a), *pb = system_pose(jet->pose, j->b);
    const double *ta = twist_at(jet, j->a), *tb = twist_at(jet, j->b);
    double ca[TWIST_SIZE] = {0.0}, cb[TWIST_SIZE] = {0.0};
    if (j->a >= 0) jet_twist_of(&jet->bodies[j->a], pa, c + jet->bodies[j->a].w, ca);
    if (j->b >= 0) jet_twist_of(&jet->bodies[j->b], pb, c + jet->bodies[j->b].w, cb);
    hn_vec3 ra = pose_direction(pa, j->rho_a), rb = pose_direction(pb, j->rho_b);
    hn_vec3 ra1 = turned(ta, ra), rb1 = turned(tb, rb);
    hn_vec3 e = vec3_subtract(vec3_add(pose_center(pb), rb), vec3_add(pose_center(pa), ra));
    hn_vec3 e1 = vec3_subtract(vec3_add(vec3_load(tb), rb1), vec3_add(vec3_load(ta), ra1));
    hn_vec3 de = vec3_subtract(vec3_add(vec3_load(cb), turned(cb, rb)),
                               vec3_add(vec3_load(ca), turned(ca, ra)));
    hn_vec3 de1 = vec3_subtract(turned(cb, rb1), turned(ca, ra1));
    for (int r = 0; r < j->row_count; ++r) {
        const basic_row *row = &j->rows[r];
        double value;
        if (row->kind == BASIC_COINCIDENCE) {
            value = vec3_dot(row->a, de1);
        } else if (row->kind == BASIC_DISTANCE) {
            value = vec3_dot(de, e1) + vec3_dot(e, de1);
        } else {
            hn_vec3 u = pose_direction(pa, row->a), u1 = turned(ta, u);
            hn_vec3 du = turned(ca, u), du1 = turned(ca, u1), z = e, z1 = e1, dz = de, dz1 = de1;
            if (row->kind == BASIC_SYMMETRIC) {
                z = pose_direction(pb, row->b), z1 = turned(tb, z);
                dz = turned(cb, z), dz1 = turned(cb, z1);
            }
            value = vec3_dot(du1, z) + vec3_dot(u1, dz) + vec3_dot(du, z1) + vec3_dot(u, dz1);
        }
        out[r] = value;
    }
}

void jet_rate_change(const jet_space *jet, const double *c, double *out)
{
    for (int k = 0; k < jet->joint_count; ++k)
        jet_joint_rate_change(jet, k, c, out + jet->joints[k].first);
}

// ---- dynamics -----------------------------------------------------------------------------------------

// Damping force at an instant, as generalised forces on the two poses.
static void add_damper(const element *e, const double *a, const double *b, const double *va,
                       const double *vb, element_output *out)
{
    double rows[ELEMENT_DAMPERS_MAX][ELEMENT_COLUMNS], coefficients[ELEMENT_DAMPERS_MAX];
    int count = element_dampers(e, a, b, rows, coefficients);
    for (int i = 0; i < count; ++i) {
        const double *row = rows[i];
        double rate = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) rate += row[k] * va[k] + row[POSE_SIZE + k] * vb[k];
        for (int k = 0; k < POSE_SIZE; ++k) {
            out->residual_a[k] -= coefficients[i] * rate * row[k];
            out->residual_b[k] -= coefficients[i] * rate * row[POSE_SIZE + k];
        }
    }
}

// Generalised forces (12 per body) of one element: -grad V and loads apart.
static void element_forces(const jet_space *jet, const element *e, jet_moment moment,
                           double conservative[2][POSE_SIZE], double load[2][POSE_SIZE])
{
    memset(conservative, 0, 2 * POSE_SIZE * sizeof(double));
    memset(load, 0, 2 * POSE_SIZE * sizeof(double));
    const double *a = system_pose(jet->pose, e->a), *b = system_pose(jet->pose, e->b);
    element_step view = {.a_start = a,
                         .b_start = b,
                         .a = a,
                         .b = b,
                         .angle_start = e->angle >= 0 ? jet->angles[e->angle] : 0.0,
                         .step_size = 1.0,
                         .gradient_weight = 1.0,
                         .weight = 1.0,
                         .factor = -1.0};
    element_output out = {.residual_a = conservative[0], .residual_b = conservative[1]};
    element_type_of(e->kind)->gradient(e, &view, &out);
    out = (element_output){.residual_a = load[0], .residual_b = load[1]};
    if (element_type_of(e->kind)->from_outside) {
        double size = profile_within(e->profile, moment.begin, moment.end, moment.part);
        element_force_at(e, b, size, load[1]);
        return;
    }
    double speed[2][POSE_SIZE];
    twist_to_velocity(a, twist_at(jet, e->a), speed[0]);
    twist_to_velocity(b, twist_at(jet, e->b), speed[1]);
    add_damper(e, a, b, speed[0], speed[1], &out);
}

void jet_forces(jet_space *jet, jet_moment moment)
{
    const hn_system *system = jet->system;
    const hn_vec3 none = {0.0, 0.0, 0.0};
    memset(jet->power, 0, (size_t)jet->mechanism_count * sizeof(double));
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        covector_of(b, jet->pose + POSE_SIZE * (size_t)i, vec3_scale(b->mass, system->gravity),
                    none, jet->force + b->w);
        for (int m = 0; m < b->w_count; ++m) jet->gradient[b->w + m] = -jet->force[b->w + m];
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        const int body[2] = {e->a, e->b};
        double conservative[2][POSE_SIZE], load[2][POSE_SIZE];
        element_forces(jet, e, moment, conservative, load);
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            const jet_body *b = &jet->bodies[body[side]];
            const double *pose = system_pose(jet->pose, body[side]),
                         *twist = twist_at(jet, body[side]);
            double wrench[TWIST_SIZE], covector[JET_VELOCITIES];
            force_to_wrench(pose, conservative[side], wrench);
            covector_of(b, pose, vec3_load(wrench), vec3_load(wrench + 3), covector);
            for (int m = 0; m < b->w_count; ++m) {
                jet->force[b->w + m] += covector[m];
                jet->gradient[b->w + m] -= covector[m];
            }
            force_to_wrench(pose, load[side], wrench);
            covector_of(b, pose, vec3_load(wrench), vec3_load(wrench + 3), covector);
            for (int m = 0; m < b->w_count; ++m) jet->force[b->w + m] += covector[m];
            jet->power[b->mechanism] += vec3_dot(vec3_load(wrench), vec3_load(twist)) +
                                        vec3_dot(vec3_load(wrench + 3), vec3_load(twist + 3));
        }
    }
}

void jet_distribution(jet_space *jet, const double *w)
{
    // E u = F_e - 8 K - H grad U; 8 K is 2 Omega x I Omega with Omega = 2 w
    double *d = jet->acceleration, *lambda = jet->multiplier;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        for (int m = 0; m < b->w_count; ++m) d[b->w + m] = jet->force[b->w + m];
        if (b->kind == JET_RIGID) {
            hn_vec3 half = vec3_load(w + b->w + 3);
            hn_vec3 spin =
                vec3(b->moments.x * half.x, b->moments.y * half.y, b->moments.z * half.z);
            hn_vec3 gyroscopic = vec3_scale(8.0, vec3_cross(half, spin));
            vec3_store(vec3_subtract(vec3_load(d + b->w + 3), gyroscopic), d + b->w + 3);
        }
        for (int m = 0; m < b->w_count; ++m) d[b->w + m] *= b->inverse[m];
    }
    // S lambda = B u + bias, d = u - E^-1 B^T lambda
    double *bias = jet->g; // g is not needed any more at this point
    jet_apply_rows(jet, d, lambda);
    jet_bias(jet, bias);
    for (int k = 0; k < jet->row_count; ++k) lambda[k] += bias[k];
    jet_solve(jet, METRIC_KINETIC, lambda);
    jet_add_rows_transposed(jet, METRIC_KINETIC, -1.0, lambda, d);
}

void jet_energies(const jet_space *jet, const double *w, double *energy, double *scale)
{
    const hn_system *system = jet->system;
    for (int k = 0; k < jet->mechanism_count; ++k) energy[k] = scale[k] = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        // heights from the start on: what stands still, heavy as it may be, rounds nothing off
        hn_vec3 fallen = vec3_subtract(vec3_load(jet->pose + POSE_SIZE * (size_t)i),
                                       vec3_load(system->q_start + POSE_SIZE * (size_t)i));
        double kinetic = 0.0, weight = -b->mass * vec3_dot(system->gravity, fallen);
        for (int m = 0; m < b->w_count; ++m)
            kinetic += 0.5 * b->inertia[m] * w[b->w + m] * w[b->w + m];
        energy[b->mechanism] += kinetic + weight;
        scale[b->mechanism] += kinetic + fabs(weight);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        int body = e->a >= 0 ? e->a : e->b;
        if (body < 0) continue;
        const double *a = system_pose(jet->pose, e->a), *b = system_pose(jet->pose, e->b);
        double angle = e->angle >= 0 ? element_angle(e, a, b, jet->angles[e->angle]) : 0.0;
        double part = element_type_of(e->kind)->potential(e, a, b, NULL, angle);
        energy[jet->bodies[body].mechanism] += part;
        scale[jet->bodies[body].mechanism] += fabs(part);
    }
}

void jet_mechanism_rates(const jet_space *jet, const double *w, const double *d, double *rate)
{
    for (int k = 0; k < jet->mechanism_count; ++k) rate[k] = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        // lengths of the body, or turns; sqrt of the largest
        double fastest = 0.0, strongest = 0.0, length = 1.0 / b->length;
        for (int m = 0; m < b->w_count; ++m) {
            double over = b->weight[m] == 1.0 ? 1.0 : length, x = over * fabs(w[b->w + m]),
                   y = over * fabs(d[b->w + m]);
            if (!(x <= fastest)) fastest = x;
            if (!(y <= strongest)) strongest = y;
        }
        rate[b->mechanism] = fmax(rate[b->mechanism], fmax(fastest, sqrt(strongest)));
    }
}

void jet_join_mechanisms(jet_space *jet)
{
    for (int i = 0; i < jet->body_count; ++i) jet->bodies[i].mechanism = 0;
    jet->mechanism_count = 1;
}

void jet_multipliers(const jet_space *jet, jet_moment moment, double *multipliers)
{
    const hn_system *system = jet->system;
    memset(multipliers, 0, (size_t)system->constraint_count * sizeof(double));
    // rho = M q_2 + grad V - F + G^T lambda on the directors
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i,
                     *twist = jet->twist + TWIST_SIZE * (size_t)i;
        double turn[TWIST_SIZE], *rho = jet->director_force + 9 * (size_t)i;
        jet_twist_of(b, pose, jet->acceleration + b->w, turn);
        for (int d = 0; d < 3; ++d) {
            hn_vec3 director = vec3_load(pose + 3 + 3 * d);
            hn_vec3 second =
                vec3_add(turned(turn, director), turned(twist, turned(twist, director)));
            vec3_store(vec3_scale(mass_node(system, i)[1 + d], second), rho + 3 * d);
        }
    }
    for (int n = 0; n < system->element_count; ++n) {
        const element *e = &system->elements[n];
        const int body[2] = {e->a, e->b};
        double conservative[2][POSE_SIZE], load[2][POSE_SIZE];
        element_forces(jet, e, moment, conservative, load);
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            double *rho = jet->director_force + 9 * (size_t)body[side];
            for (int k = 0; k < 9; ++k)
                rho[k] = rho[k] - conservative[side][3 + k] - load[side][3 + k];
        }
    }
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        int body[2];
        const joint *source = jet_source_joint(system, j->source, &body[0], &body[1]);
        for (int r = 0; r < j->row_count; ++r) {
            hn_vec3 gradient[8];
            double lambda = jet->multiplier[j->first + r];
            multipliers[j->multiplier + r] = lambda;
            const constraint_row row = joint_row(source, r);
            row_gradient(&row, system_pose(jet->pose, body[0]), system_pose(jet->pose, body[1]),
                         gradient);
            for (int side = 0; side < 2; ++side)
                for (int d = 0; body[side] >= 0 && d < 3; ++d) {
                    double *rho = jet->director_force + 9 * (size_t)body[side] + 3 * d;
                    vec3_store(vec3_add_scaled(vec3_load(rho), lambda, gradient[4 * side + 1 + d]),
                               rho);
                }
        }
    }
    // internal ones: Lambda_IJ = -rho_I . d_J
    for (int i = 0; i < jet->body_count; ++i) {
        static const int pair[INTERNAL_ROWS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        const double *rho = jet->director_force + 9 * (size_t)i,
                     *d = jet->pose + POSE_SIZE * (size_t)i + 3;
        for (int p = 0; p < system->bodies[i].internal_count; ++p)
            multipliers[system->bodies[i].internal_offset + p] =
                -vec3_dot(vec3_load(rho + 3 * pair[p][0]), vec3_load(d + 3 * pair[p][1]));
    }
}
