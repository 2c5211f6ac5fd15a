// SPDX-License-Identifier: MIT
// The table of joint kinds and the parts that joint files share.
#include "joints/joint.h"

const joint_type *joint_type_of(hn_joint_kind kind)
{
#define TYPE_OF(NAME, word, sentence) [HN_JOINT_##NAME] = &joint_##word,
    static const joint_type *const types[] = {HN_JOINT_KIND_LIST(TYPE_OF)};
#undef TYPE_OF
    return types[kind];
}

void joint_swap_sides(joint *j)
{
    int body = j->parent;
    j->parent = j->child;
    j->child = body;
    hn_vec3 rho = j->rho_a;
    j->rho_a = j->rho_b;
    j->rho_b = rho;
    for (int k = 0; k < 3; ++k) {
        hn_vec3 x = j->a[k];
        j->a[k] = j->b[k];
        j->b[k] = x;
    }
}

// ---- rows -------------------------------------------------------------------------------------------

static constraint_row row_empty(bool product, bool rotational)
{
    return (constraint_row){.product = product, .rotational = rotational, .factor = 1.0};
}

static void set_frame_vector(double *coefficients, int body, hn_vec3 local)
{
    coefficients[4 * body + 1] = local.x;
    coefficients[4 * body + 2] = local.y;
    coefficients[4 * body + 3] = local.z;
}

// e = p_b - p_a
static void set_link(const joint *j, double *coefficients)
{
    coefficients[0] = -1.0;
    coefficients[4] = 1.0;
    set_frame_vector(coefficients, 0, vec3_negate(j->rho_a));
    set_frame_vector(coefficients, 1, j->rho_b);
}

void row_coincidence(const joint *j, int k, constraint_row *row)
{
    *row = row_empty(false, false);
    row->direction = vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
    set_link(j, row->beta);
}

void row_point_in_plane(const joint *j, int i, constraint_row *row)
{
    *row = row_empty(true, false);
    set_frame_vector(row->alpha, 0, j->a[i]);
    set_link(j, row->beta);
}

void row_orthogonality(const joint *j, int i, int k, constraint_row *row)
{
    *row = row_empty(true, true);
    set_frame_vector(row->alpha, 0, j->a[i]);
    set_frame_vector(row->beta, 1, j->b[k]);
}

void row_internal(int index, constraint_row *row)
{
    static const int pair[6][2] = {{1, 1}, {2, 2}, {3, 3}, {1, 2}, {1, 3}, {2, 3}};
    *row = row_empty(true, true);
    row->alpha[pair[index][0]] = 1.0;
    row->beta[pair[index][1]] = 1.0;
    if (index < 3) row->factor = 0.5, row->eta = 0.5;
}

double row_value(const constraint_row *row, const double *a, const double *b)
{
    hn_vec3 w = vec3_combination(row->beta, a, b);
    if (!row->product) return vec3_dot(row->direction, w);
    return row->factor * vec3_dot(vec3_combination(row->alpha, a, b), w) - row->eta;
}

void row_gradient(const constraint_row *row, const double *a, const double *b, hn_vec3 gradient[8])
{
    if (!row->product) {
        for (int k = 0; k < 8; ++k) gradient[k] = vec3_scale(row->beta[k], row->direction);
        return;
    }
    hn_vec3 u = vec3_combination(row->alpha, a, b), w = vec3_combination(row->beta, a, b);
    for (int k = 0; k < 8; ++k)
        gradient[k] =
            vec3_scale(row->factor, vec3_add_scaled(vec3_scale(row->alpha[k], w), row->beta[k], u));
}

// ---- twist rule -------------------------------------------------------------------------------------

void motion_carry_rigid(const double *parent, const double *child, motion *m)
{
    m->carry = CARRY_RIGID;
    m->dof = 0;
    m->offset = vec3_subtract(pose_center(child), pose_center(parent));
}

void motion_carry_point(const joint *j, const double *parent, motion *m)
{
    m->carry = CARRY_POINT;
    m->dof = 0;
    m->offset = pose_direction(parent, joint_parent_arm(j));
}

void motion_add_rotation(motion *m, hn_vec3 arm, hn_vec3 axis)
{
    m->linear[m->dof] = vec3_cross(arm, axis);
    m->angular[m->dof] = axis;
    m->dof += 1;
}

void motion_add_translation(motion *m, hn_vec3 direction)
{
    m->linear[m->dof] = direction;
    m->angular[m->dof] = vec3(0.0, 0.0, 0.0);
    m->dof += 1;
}

int term_rotation(const joint *j, int row, bool axis_on_child, hn_vec3 axis_local, hn_vec3 axis,
                  hn_vec3 arm, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    // through the axis: delta r = delta axis . (M - arm x F)
    hn_vec3 about_axis = vec3_subtract(moment, vec3_cross(arm, force));
    terms[0] = (motion_term){row, axis_on_child, 0.0, axis_local, about_axis};
    // through the arm: delta r = -axis . (delta arm x F) = delta arm . (axis x F)
    hn_vec3 z = vec3_cross(axis, force);
    if (!j->child_is_a) {
        terms[1] = (motion_term){row, true, 0.0, j->rho_b, z};
        return 2;
    }
    // the frame is on the child: arm = p_b - phi_a with b the parent
    terms[1] = (motion_term){row, false, 1.0, j->rho_b, z};
    terms[2] = (motion_term){row, true, -1.0, vec3(0.0, 0.0, 0.0), z};
    return 3;
}

int term_translation(int row, bool on_child, hn_vec3 local1, hn_vec3 x1, hn_vec3 local2, hn_vec3 x2,
                     hn_vec3 force, motion_term *terms)
{
    terms[0] = (motion_term){row, on_child, 0.0, local1, vec3_cross(x2, force)};
    terms[1] = (motion_term){row, on_child, 0.0, local2, vec3_cross(force, x1)};
    return 2;
}

int term_free_rotation(const joint *j, int row, hn_vec3 force, motion_term *terms)
{
    // delta r = -delta arm x F = F x delta arm: the rows of F^
    hn_vec3 arm = joint_child_arm(j);
    terms[0] = (motion_term){row + 0, true, 0.0, arm, vec3(0.0, -force.z, force.y)};
    terms[1] = (motion_term){row + 1, true, 0.0, arm, vec3(force.z, 0.0, -force.x)};
    terms[2] = (motion_term){row + 2, true, 0.0, arm, vec3(-force.y, force.x, 0.0)};
    return 3;
}

void guess_same(const joint *j, const joint_step *step, const double *increment,
                const double *child, double *u)
{
    (void)step, (void)child;
    for (int k = 0; k < j->dof; ++k) u[k] = increment[k];
}

void begin_nothing(const joint *j, const double *parent, const double *child, joint_step *step)
{
    (void)j, (void)parent, (void)child, (void)step;
}

// ---- motion on the manifold ---------------------------------------------------------------------------

void advance_position(const joint *j, const double *parent_start, const double *child_start,
                      const body_step *parent_step, hn_vec3 slide, body_step *child_step)
{
    hn_vec3 parent_arm = pose_direction(parent_start, joint_parent_arm(j));
    hn_vec3 child_arm = pose_direction(child_start, joint_child_arm(j));
    hn_vec3 place = vec3_add(
        parent_step->displacement,
        cayley_change(parent_step->rotation, cayley_factor(parent_step->rotation), parent_arm));
    child_step->displacement = vec3_subtract(
        vec3_add(place, slide),
        cayley_change(child_step->rotation, cayley_factor(child_step->rotation), child_arm));
}

void settle_frame(const joint *j, const double *parent, double *child)
{
    hn_vec3 correction = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < 3; ++i)
        correction = vec3_add_scaled(
            correction, 0.5,
            vec3_cross(pose_direction(child, j->b[i]), pose_direction(parent, j->a[i])));
    settle_directors(correction, child);
}

hn_vec3 joint_coordinate_axis(const joint *j, int index, const double *a, const double *b)
{
    coordinate_axis of = joint_type_of(j->kind)->axes[index];
    if (of.home == AXIS_OF_A) return pose_direction(a, j->a[of.axis]);
    if (of.home == AXIS_OF_B) return pose_direction(b, j->b[of.axis]);
    return vec3(of.axis == 0 ? 1.0 : 0.0, of.axis == 1 ? 1.0 : 0.0, of.axis == 2 ? 1.0 : 0.0);
}

void joint_coordinate_rates(const joint *j, const double *a, const double *b, const double *twist_a,
                            const double *twist_b, double *rates)
{
    const joint_type *type = joint_type_of(j->kind);
    hn_vec3 omega_a = vec3_load(twist_a + 3), omega_b = vec3_load(twist_b + 3);
    hn_vec3 place = pose_point(b, j->rho_b); // relative to a: the point of a that is there now
    hn_vec3 v_b = vec3_add(vec3_load(twist_b), vec3_cross(omega_b, pose_direction(b, j->rho_b)));
    hn_vec3 v_a =
        vec3_add(vec3_load(twist_a), vec3_cross(omega_a, vec3_subtract(place, pose_center(a))));
    hn_vec3 v = vec3_subtract(v_b, v_a), omega = vec3_subtract(omega_b, omega_a);
    for (int k = 0; k < type->coordinate_count; ++k)
        rates[k] = vec3_dot(joint_coordinate_axis(j, k, a, b), type->axes[k].turning ? omega : v);
}

static hn_vec3 unit_axis(int axis)
{
    return vec3(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
}

bool joint_relative(hn_joint_kind kind, const double *coordinates, hn_vec3 *offset, hn_mat3 *turn)
{
    const joint_type *type = joint_type_of(kind);
    hn_vec3 rotation = vec3(0.0, 0.0, 0.0);
    hn_mat3 before = mat3_identity(), zero = before, after = before;
    *offset = rotation;
    for (int k = 0; k < type->coordinate_count; ++k) {
        coordinate_axis of = type->axes[k];
        hn_vec3 along = vec3_scale(coordinates[k], unit_axis(of.axis));
        if (!of.turning) {
            *offset = vec3_add(*offset, along);
        } else if (of.home == AXIS_OF_WORLD) {
            rotation = vec3_add(rotation, along); // a rotation vector
        } else if (of.home == AXIS_OF_A) {
            before = rotation_exponential(along);
        } else {
            // two axes at right angles: b's frame is (a3, -a2, a1) at zero
            after = rotation_exponential(along);
            zero = (hn_mat3){{{0.0, 0.0, 1.0}, {0.0, -1.0, 0.0}, {1.0, 0.0, 0.0}}};
        }
    }
    hn_mat3 free = rotation_exponential(rotation), inner = mat3_multiply(&zero, &after),
            outer = mat3_multiply(&before, &free);
    *turn = mat3_multiply(&outer, &inner);
    return type->coordinate_count > 0 || type->row_count == JOINT_ROWS_MAX;
}

int joint_angle_place(hn_joint_kind kind)
{
    const joint_type *type = joint_type_of(kind);
    int place = -1, turns = 0;
    for (int k = 0; k < type->coordinate_count; ++k)
        if (type->axes[k].turning) place = k, turns += 1;
    return turns == 1 ? place : -1;
}

bool joint_has_two_angles(hn_joint_kind kind)
{
    const joint_type *type = joint_type_of(kind);
    return type->coordinate_count == 2 && type->axes[0].turning && type->axes[1].turning;
}

double joint_angle(const joint *j, const double *a, const double *b)
{
    hn_vec3 b1 = pose_direction(b, j->b[0]);
    return atan2(vec3_dot(pose_direction(a, j->a[1]), b1),
                 vec3_dot(pose_direction(a, j->a[0]), b1));
}

hn_vec3 joint_rotation_vector(const joint *j, const double *a, const double *b)
{
    hn_mat3 relative;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            relative.m[i][k] = vec3_dot(pose_direction(a, j->a[i]), pose_direction(b, j->b[k]));
    return rotation_logarithm(&relative);
}
