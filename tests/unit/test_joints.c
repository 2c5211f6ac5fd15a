// SPDX-License-Identifier: MIT
// Every joint kind at generic states: constraint rows, twist rule, motion on the manifold, coordinates.
//
// States are placed here from joint coordinates with the geometry written out again, not with the joint's own
// functions.
#include "joints/pivot.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

enum { SAMPLES = 20, PAIR_SIZE = 2 * POSE_SIZE };

// A kind with what hangs on it.
typedef struct variant {
    const char *name;
    hn_joint_kind kind;
    bool child_is_a, point_child, plane_child;
    int dof, rows;
} variant;

static const variant VARIANTS[] = {
    {"spherical", HN_JOINT_SPHERICAL, false, false, false, 3, 3},
    {"revolute", HN_JOINT_REVOLUTE, false, false, false, 1, 5},
    {"prismatic", HN_JOINT_PRISMATIC, false, false, false, 1, 5},
    {"cylindrical", HN_JOINT_CYLINDRICAL, false, false, false, 2, 4},
    {"cylindrical, frame on the child", HN_JOINT_CYLINDRICAL, true, false, false, 2, 4},
    {"screw", HN_JOINT_SCREW, false, false, false, 2, 4},
    {"screw, frame on the child", HN_JOINT_SCREW, true, false, false, 2, 4},
    {"slot", HN_JOINT_SLOT, false, false, false, 4, 2},
    {"slot, line on the child", HN_JOINT_SLOT, true, false, false, 4, 2},
    {"planar", HN_JOINT_PLANAR, false, false, false, 3, 3},
    {"universal", HN_JOINT_UNIVERSAL, false, false, false, 2, 4},
    {"fixed", HN_JOINT_FIXED, false, false, false, 0, 6},
    {"free", HN_JOINT_FREE, false, false, false, 6, 0},
    {"distance", HN_JOINT_DISTANCE, false, false, false, 5, 1},
    {"spherical, point mass", HN_JOINT_SPHERICAL, false, true, false, 0, 3},
    {"free, point mass", HN_JOINT_FREE, false, true, false, 3, 0},
    {"distance, point mass", HN_JOINT_DISTANCE, false, true, false, 2, 1},
    {"free, planar point mass", HN_JOINT_FREE, false, true, true, 2, 0},
    {"distance, planar point mass", HN_JOINT_DISTANCE, false, true, true, 1, 1},
};
enum { VARIANT_COUNT = sizeof VARIANTS / sizeof VARIANTS[0] };

// Worst value of a measure, and where.
typedef struct worst_case {
    double value;
    const char *name;
} worst_case;

static void note(worst_case *worst, double value, const variant *v)
{
    if (!(fabs(value) <= worst->value)) worst->value = fabs(value), worst->name = v->name;
}

// Names the joint before it fails.
#define CHECK_WORST(worst, bound)                                                                  \
    do {                                                                                           \
        if (!((worst).value < (bound))) print_error("joint: %s\n", (worst).name);                  \
        CHECK_BELOW((worst).value, bound);                                                         \
    } while (0)

// ---- placing states ---------------------------------------------------------------------------------

static hn_mat3 turn_about_third(double angle)
{
    return rotation_exponential(vec3(0.0, 0.0, angle));
}

static void set_directors(double *q, const hn_mat3 *d)
{
    for (int k = 0; k < 3; ++k) vec3_store(mat3_column(d, k), q + 3 + 3 * k);
}

static void random_pose(number_source *numbers, double *q)
{
    hn_mat3 d = next_rotation(numbers);
    vec3_store(next_vector(numbers, 2.0), q);
    set_directors(q, &d);
}

static joint make_joint(const variant *v, number_source *numbers)
{
    joint j = {.kind = v->kind,
               .parent = 0,
               .child = 1,
               .child_is_a = v->child_is_a,
               .point_child = v->point_child,
               .plane_child = v->plane_child,
               .dof = v->dof,
               .row_count = v->rows,
               .rho_a = next_vector(numbers, 1.0),
               .rho_b = next_vector(numbers, 1.0),
               .length = 0.8};
    hn_mat3 a = next_rotation(numbers), b = next_rotation(numbers);
    for (int k = 0; k < 3; ++k) j.a[k] = mat3_column(&a, k), j.b[k] = mat3_column(&b, k);
    if (v->point_child) j.rho_b = vec3(0.0, 0.0, 0.0);
    return j;
}

// What a state is made from: coordinates as the joint reports them, and a free direction for the link of a distance.
typedef struct joint_setting {
    double coordinates[6];
    hn_vec3 link;
    hn_mat3 rotation;
} joint_setting;

static joint_setting random_setting(const joint *j, number_source *numbers)
{
    joint_setting s = {.rotation = next_rotation(numbers)};
    for (int k = 0; k < 6; ++k) s.coordinates[k] = 1.4 * next_number(numbers);
    s.link = next_direction(numbers);
    if (j->plane_child) {
        hn_vec3 in_plane = vec3_add_scaled(s.link, -vec3_dot(s.link, j->a[2]), j->a[2]);
        s.link = vec3_scale(1.0 / vec3_norm(in_plane), in_plane);
    }
    s.link = vec3_scale(j->length, s.link);
    return s;
}

// Rotation of b's joint frame in a's, and the offset p_b - p_a in a's frame.
static void relative_place(const joint *j, const joint_setting *s, hn_mat3 *rotation,
                           hn_vec3 *offset)
{
    const double *c = s->coordinates;
    *rotation = mat3_identity();
    *offset = vec3(0.0, 0.0, 0.0);
    switch (j->kind) {
    case HN_JOINT_SPHERICAL: *rotation = rotation_exponential(vec3_load(c)); break;
    case HN_JOINT_REVOLUTE: *rotation = turn_about_third(c[0]); break;
    case HN_JOINT_PRISMATIC: *offset = vec3(0.0, 0.0, c[0]); break;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_SCREW:
        *offset = vec3(0.0, 0.0, c[0]);
        *rotation = turn_about_third(c[1]);
        break;
    case HN_JOINT_SLOT:
        *offset = vec3(0.0, 0.0, c[0]);
        *rotation = rotation_exponential(vec3_load(c + 1));
        break;
    case HN_JOINT_PLANAR:
        *offset = vec3(c[0], c[1], 0.0);
        *rotation = turn_about_third(c[2]);
        break;
    case HN_JOINT_UNIVERSAL: {
        // at zero b1 = a3, b2 = -a2, b3 = a1; then about a3, and about b3
        const hn_mat3 zero = {{{0.0, 0.0, 1.0}, {0.0, -1.0, 0.0}, {1.0, 0.0, 0.0}}};
        hn_mat3 first = turn_about_third(c[0]), second = turn_about_third(c[1]);
        hn_mat3 half = mat3_multiply(&first, &zero);
        *rotation = mat3_multiply(&half, &second);
        break;
    }
    case HN_JOINT_FIXED: break;
    case HN_JOINT_FREE:
        *offset = vec3_load(c);
        *rotation = rotation_exponential(vec3_load(c + 3));
        break;
    case HN_JOINT_DISTANCE: *rotation = s->rotation; break;
    }
}

static hn_mat3 frame_in_world(const double *q, const hn_vec3 *frame)
{
    hn_mat3 d = mat3_from_columns(vec3_load(q + 3), vec3_load(q + 6), vec3_load(q + 9));
    return mat3_from_columns(mat3_apply(&d, frame[0]), mat3_apply(&d, frame[1]),
                             mat3_apply(&d, frame[2]));
}

// directors D with D frame = world
static hn_mat3 directors_for(const hn_mat3 *world, const hn_vec3 *frame)
{
    hn_mat3 local = mat3_from_columns(frame[0], frame[1], frame[2]), back = mat3_transpose(&local);
    return mat3_multiply(world, &back);
}

static void place_child(const joint *j, const joint_setting *s, const double *parent, double *child)
{
    hn_mat3 rotation;
    hn_vec3 offset;
    relative_place(j, s, &rotation, &offset);
    hn_mat3 directors = mat3_identity();
    if (j->child_is_a) {
        // parent is b: a's frame is b's turned back, p_a = p_b - offset in a's frame
        hn_mat3 world_b = frame_in_world(parent, j->b), back = mat3_transpose(&rotation);
        hn_mat3 world_a = mat3_multiply(&world_b, &back);
        directors = directors_for(&world_a, j->a);
        set_directors(child, &directors);
        hn_vec3 p_a = vec3_subtract(pose_point(parent, j->rho_b), mat3_apply(&world_a, offset));
        vec3_store(vec3_subtract(p_a, mat3_apply(&directors, j->rho_a)), child);
        return;
    }
    hn_mat3 world_a = frame_in_world(parent, j->a), world_b = mat3_multiply(&world_a, &rotation);
    if (!j->point_child) directors = directors_for(&world_b, j->b);
    set_directors(child, &directors);
    hn_vec3 p_b = vec3_add(pose_point(parent, j->rho_a), mat3_apply(&world_a, offset));
    if (j->kind == HN_JOINT_DISTANCE) p_b = vec3_add(pose_point(parent, j->rho_a), s->link);
    vec3_store(vec3_subtract(p_b, mat3_apply(&directors, j->rho_b)), child);
}

// A parent for the variant: a planar point mass hangs on the ground.
static void random_parent(const joint *j, number_source *numbers, double *parent)
{
    static const double ground[POSE_SIZE] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    random_pose(numbers, parent);
    if (j->plane_child) memcpy(parent, ground, sizeof ground);
}

static const double *pose_a(const joint *j, const double *parent, const double *child)
{
    return j->child_is_a ? child : parent;
}

static const double *pose_b(const joint *j, const double *parent, const double *child)
{
    return j->child_is_a ? parent : child;
}

static double largest_row(const joint *j, const double *parent, const double *child)
{
    double worst = 0.0;
    for (int r = 0; r < j->row_count; ++r) {
        constraint_row row;
        joint_type_of(j->kind)->row(j, r, &row);
        worst =
            fmax(worst, fabs(row_value(&row, pose_a(j, parent, child), pose_b(j, parent, child))));
    }
    for (int r = 0; r < 6; ++r) {
        constraint_row row;
        row_internal(r, &row);
        worst = fmax(worst, fabs(row_value(&row, child, child)));
    }
    return worst;
}

// ---- rows -------------------------------------------------------------------------------------------

TEST(rows, vanish_on_states_placed_by_geometry)
{
    worst_case worst = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {1};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            joint_setting setting = random_setting(&j, &numbers);
            double parent[POSE_SIZE], child[POSE_SIZE];
            random_parent(&j, &numbers, parent);
            place_child(&j, &setting, parent, child);
            note(&worst, largest_row(&j, parent, child), &VARIANTS[i]);
        }
    }
    CHECK_WORST(worst, 5e-15); // measured 8.1e-16
}

// Values away from the manifold: the child's point shifted by w, the child turned about an axis.
// What innermost loops evaluate at once are the rows, one after the other.
TEST(rows, of_pivots_are_found_at_once)
{
    number_source numbers = {.state = 9};
    for (int v = 0; v < VARIANT_COUNT; ++v)
        for (int trial = 0; trial < SAMPLES; ++trial) {
            joint j = make_joint(&VARIANTS[v], &numbers);
            if (joint_pivot(&j) == PIVOT_NONE) continue;
            double a[POSE_SIZE], b[POSE_SIZE], cosines[2];
            random_pose(&numbers, a);
            random_pose(&numbers, b);
            hn_vec3 opening;
            pivot_rows(joint_type_of(j.kind)->pivot, &j, a, b, &opening, cosines);
            const double found[5] = {opening.x, opening.y, opening.z, cosines[0], cosines[1]};
            for (int r = 0; r < j.row_count; ++r) {
                constraint_row row;
                joint_type_of(j.kind)->row(&j, r, &row);
                CHECK_NEAR(found[r], row_value(&row, a, b), 1e-14); // m, cosines; measured 9e-16
            }
            // any numbers serve as velocities
            double va[POSE_SIZE], vb[POSE_SIZE];
            random_pose(&numbers, va);
            random_pose(&numbers, vb);
            pivot_row_rates(joint_type_of(j.kind)->pivot, &j, a, b, va, vb, &opening, cosines);
            const double rates[5] = {opening.x, opening.y, opening.z, cosines[0], cosines[1]};
            for (int r = 0; r < j.row_count; ++r) {
                constraint_row row;
                hn_vec3 gradient[8];
                double rate = 0.0;
                joint_type_of(j.kind)->row(&j, r, &row);
                row_gradient(&row, a, b, gradient);
                for (int k = 0; k < 4; ++k)
                    rate += vec3_dot(gradient[k], vec3_load(va + 3 * k)) +
                            vec3_dot(gradient[4 + k], vec3_load(vb + 3 * k));
                CHECK_NEAR(rates[r], rate, 1e-14);
            }
        }
}

TEST(rows, measure_shifts_and_turns_of_the_child)
{
    worst_case worst = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        const variant *v = &VARIANTS[i];
        if (v->child_is_a) continue;
        number_source numbers = {2};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(v, &numbers);
            joint_setting setting = random_setting(&j, &numbers);
            double parent[POSE_SIZE], child[POSE_SIZE], expected[JOINT_ROWS_MAX] = {0.0};
            random_parent(&j, &numbers, parent);
            place_child(&j, &setting, parent, child);
            hn_mat3 a = frame_in_world(parent, j.a), b = frame_in_world(child, j.b);
            hn_vec3 w = next_vector(&numbers, 0.5);
            hn_mat3 turn = rotation_exponential(next_vector(&numbers, 1.0));
            if (j.point_child) turn = mat3_identity();
            // turn about the joint's point, then shift
            hn_vec3 point = pose_point(child, j.rho_b),
                    arm = vec3_subtract(point, pose_center(child));
            hn_vec3 e = vec3_add(vec3_subtract(point, pose_point(parent, j.rho_a)), w);
            for (int k = 1; k < 4; ++k)
                vec3_store(mat3_apply(&turn, vec3_load(child + 3 * k)), child + 3 * k);
            vec3_store(vec3_subtract(vec3_add(point, w), mat3_apply(&turn, arm)), child);
            b = mat3_multiply(&turn, &b);
            hn_vec3 a1 = mat3_column(&a, 0), a2 = mat3_column(&a, 1), a3 = mat3_column(&a, 2);
            hn_vec3 b1 = mat3_column(&b, 0), b2 = mat3_column(&b, 1), b3 = mat3_column(&b, 2);
            switch (v->kind) {
            case HN_JOINT_SPHERICAL: vec3_store(w, expected); break;
            case HN_JOINT_REVOLUTE:
                vec3_store(w, expected);
                expected[3] = vec3_dot(a3, b1), expected[4] = vec3_dot(a3, b2);
                break;
            case HN_JOINT_PRISMATIC:
                expected[0] = vec3_dot(a1, w), expected[1] = vec3_dot(a2, w);
                expected[2] = vec3_dot(a1, b2), expected[3] = vec3_dot(a2, b3),
                expected[4] = vec3_dot(a3, b1);
                break;
            case HN_JOINT_CYLINDRICAL:
            case HN_JOINT_SCREW:
                expected[0] = vec3_dot(a1, w), expected[1] = vec3_dot(a2, w);
                expected[2] = vec3_dot(a3, b1), expected[3] = vec3_dot(a3, b2);
                break;
            case HN_JOINT_SLOT: expected[0] = vec3_dot(a1, w), expected[1] = vec3_dot(a2, w); break;
            case HN_JOINT_PLANAR:
                expected[0] = vec3_dot(a3, w), expected[1] = vec3_dot(a3, b1),
                expected[2] = vec3_dot(a3, b2);
                break;
            case HN_JOINT_UNIVERSAL:
                vec3_store(w, expected);
                expected[3] = vec3_dot(a3, b3);
                break;
            case HN_JOINT_FIXED:
                vec3_store(w, expected);
                expected[3] = vec3_dot(a1, b2), expected[4] = vec3_dot(a2, b3),
                expected[5] = vec3_dot(a3, b1);
                break;
            case HN_JOINT_DISTANCE:
                expected[0] = 0.5 * (vec3_dot(e, e) - j.length * j.length);
                break;
            case HN_JOINT_FREE: break;
            }
            for (int r = 0; r < j.row_count; ++r) {
                constraint_row row;
                joint_type_of(j.kind)->row(&j, r, &row);
                note(&worst, row_value(&row, parent, child) - expected[r], v);
                bool turning =
                    v->kind != HN_JOINT_DISTANCE && v->kind != HN_JOINT_SLOT &&
                    r >= (v->kind == HN_JOINT_PLANAR ? 1 : 3) - (v->kind == HN_JOINT_PRISMATIC ||
                                                                 v->kind == HN_JOINT_CYLINDRICAL ||
                                                                 v->kind == HN_JOINT_SCREW);
                CHECK_EQUAL(row.rotational, turning);
            }
        }
    }
    CHECK_WORST(worst, 5e-15); // measured 7.8e-16
}

static void check_row(const constraint_row *row, number_source *numbers, const variant *v,
                      worst_case *exact, worst_case *differences)
{
    double q0[PAIR_SIZE], q1[PAIR_SIZE], middle[PAIR_SIZE];
    for (int k = 0; k < PAIR_SIZE; ++k) {
        // any numbers will do: exactness is algebra, not geometry
        q0[k] = 2.0 * next_number(numbers);
        q1[k] = 2.0 * next_number(numbers);
        middle[k] = 0.5 * (q0[k] + q1[k]);
    }
    hn_vec3 gradient[8];
    row_gradient(row, middle, middle + POSE_SIZE, gradient);
    double secant = 0.0;
    for (int k = 0; k < 8; ++k)
        secant +=
            vec3_dot(gradient[k], vec3_subtract(vec3_load(q1 + 3 * k), vec3_load(q0 + 3 * k)));
    note(exact, secant - (row_value(row, q1, q1 + POSE_SIZE) - row_value(row, q0, q0 + POSE_SIZE)),
         v);
    // quadratic: a central difference of any width is the derivative
    for (int k = 0; k < PAIR_SIZE; ++k) {
        double forward[PAIR_SIZE], backward[PAIR_SIZE], component[3];
        memcpy(forward, middle, sizeof middle);
        memcpy(backward, middle, sizeof middle);
        forward[k] += 0.5;
        backward[k] -= 0.5;
        vec3_store(gradient[k / 3], component);
        note(differences,
             row_value(row, forward, forward + POSE_SIZE) -
                 row_value(row, backward, backward + POSE_SIZE) - component[k % 3],
             v);
    }
}

TEST(rows, have_gradients_that_are_exact_secants_at_the_midpoint)
{
    worst_case exact = {0}, differences = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {3};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            for (int r = 0; r < j.row_count; ++r) {
                constraint_row row;
                joint_type_of(j.kind)->row(&j, r, &row);
                check_row(&row, &numbers, &VARIANTS[i], &exact, &differences);
            }
        }
    }
    number_source numbers = {4};
    const variant rigidity = {.name = "rigidity"};
    for (int r = 0; r < 6; ++r) {
        constraint_row row;
        row_internal(r, &row);
        check_row(&row, &numbers, &rigidity, &exact, &differences);
    }
    CHECK_WORST(exact, 1e-13);       // measured 3.6e-15
    CHECK_WORST(differences, 1e-13); // measured 8.0e-15
}

// Rows written with aligned frames never lose rank: G on the child's twists and the columns of B fill six dimensions.
TEST(rows, and_columns_complete_each_other)
{
    for (int i = 0; i < VARIANT_COUNT; ++i)
        if (!VARIANTS[i].point_child) CHECK_EQUAL(VARIANTS[i].dof + VARIANTS[i].rows, 6);
    for (int kind = 0; kind < HN_JOINT_KIND_COUNT; ++kind) {
        const joint_type *type = joint_type_of((hn_joint_kind)kind);
        CHECK_EQUAL(type->dof + type->row_count, 6);
    }
}

// ---- twist rule -------------------------------------------------------------------------------------

static void child_twist(const motion *m, const double *parent, const double *u, double *twist)
{
    hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = vec3(0.0, 0.0, 0.0), turn = vec3_load(parent + 3);
    if (m->carry != CARRY_NONE) v = vec3_add(vec3_load(parent), vec3_cross(turn, m->offset));
    if (m->carry == CARRY_RIGID) omega = turn;
    for (int k = 0; k < m->dof; ++k) {
        v = vec3_add_scaled(v, u[k], m->linear[k]);
        omega = vec3_add_scaled(omega, u[k], m->angular[k]);
    }
    vec3_store(v, twist);
    vec3_store(omega, twist + 3);
}

static void pose_velocity(const double *q, const double *twist, double *v)
{
    memcpy(v, twist, 3 * sizeof(double));
    for (int k = 1; k < 4; ++k)
        vec3_store(vec3_cross(vec3_load(twist + 3), vec3_load(q + 3 * k)), v + 3 * k);
}

// max |G(q) P(q)| over rows and over random twists of the parent and rates
static double projected_rows(const joint *j, const joint_step *step, number_source *numbers,
                             const double *parent, const double *child)
{
    motion m;
    joint_type_of(j->kind)->motion(j, step, parent, child, &m);
    CHECK_EQUAL(m.dof, j->dof);
    double parent_twist[6], u[6], twist[6], velocity[PAIR_SIZE], worst = 0.0;
    for (int k = 0; k < 6; ++k) parent_twist[k] = next_number(numbers), u[k] = next_number(numbers);
    if (j->plane_child) memset(parent_twist, 0, sizeof parent_twist); // the ground
    child_twist(&m, parent_twist, u, twist);
    const double *a = pose_a(j, parent, child), *b = pose_b(j, parent, child);
    pose_velocity(a, j->child_is_a ? twist : parent_twist, velocity);
    pose_velocity(b, j->child_is_a ? parent_twist : twist, velocity + POSE_SIZE);
    if (j->point_child) memset(velocity + POSE_SIZE + 3, 0, 9 * sizeof(double));
    for (int r = 0; r < j->row_count; ++r) {
        constraint_row row;
        hn_vec3 gradient[8];
        joint_type_of(j->kind)->row(j, r, &row);
        row_gradient(&row, a, b, gradient);
        double rate = 0.0;
        for (int k = 0; k < 8; ++k) rate += vec3_dot(gradient[k], vec3_load(velocity + 3 * k));
        worst = fmax(worst, fabs(rate));
    }
    if (j->plane_child) worst = fmax(worst, fabs(vec3_dot(vec3_load(twist), j->a[2])));
    return worst;
}

// G(q) P(q) = 0 at a node, and G(q_mid) P(q_n, q_n+1) = 0 between two states however far apart (BL 113, 133, 149).
TEST(twist_rule, spans_the_null_space_at_nodes_and_at_midpoints)
{
    worst_case node = {0}, midpoint = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {5};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            joint_setting settings[2] = {random_setting(&j, &numbers),
                                         random_setting(&j, &numbers)};
            double parent[3][POSE_SIZE], child[3][POSE_SIZE];
            for (int k = 0; k < 2; ++k) {
                random_parent(&j, &numbers, parent[k]);
                place_child(&j, &settings[k], parent[k], child[k]);
            }
            for (int k = 0; k < POSE_SIZE; ++k) {
                parent[2][k] = 0.5 * (parent[0][k] + parent[1][k]);
                child[2][k] = 0.5 * (child[0][k] + child[1][k]);
            }
            joint_step step = {0};
            joint_type_of(j.kind)->begin(&j, parent[0], child[0], &step);
            note(&node, projected_rows(&j, &step, &numbers, parent[0], child[0]), &VARIANTS[i]);
            note(&midpoint, projected_rows(&j, &step, &numbers, parent[2], child[2]), &VARIANTS[i]);
        }
    }
    CHECK_WORST(node, 2e-14);     // measured 5.6e-16
    CHECK_WORST(midpoint, 2e-14); // measured 4.4e-16
}

// r = B^T W of a joint at poses that need not be rigid
static void reduced_residual(const joint *j, const joint_step *step, const double *q, hn_vec3 force,
                             hn_vec3 moment, double *r)
{
    motion m;
    joint_type_of(j->kind)->motion(j, step, q, q + POSE_SIZE, &m);
    for (int k = 0; k < m.dof; ++k)
        r[k] = vec3_dot(m.linear[k], force) + vec3_dot(m.angular[k], moment);
}

TEST(twist_rule, has_the_derivatives_it_claims)
{
    worst_case worst = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {6};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            const joint_type *type = joint_type_of(j.kind);
            joint_setting setting = random_setting(&j, &numbers);
            double q[PAIR_SIZE];
            random_parent(&j, &numbers, q);
            place_child(&j, &setting, q, q + POSE_SIZE);
            joint_step step = {0};
            type->begin(&j, q, q + POSE_SIZE, &step);
            for (int k = 0; k < PAIR_SIZE; ++k) q[k] += 0.5 * next_number(&numbers);
            hn_vec3 force = next_vector(&numbers, 1.0), moment = next_vector(&numbers, 1.0);
            motion_term terms[JOINT_TERMS_MAX];
            int count = type->terms(&j, &step, q, q + POSE_SIZE, force, moment, terms);
            CHECK(count <= JOINT_TERMS_MAX);
            for (int k = 0; k < PAIR_SIZE; ++k) {
                // bilinear in q: a central difference of any width is the derivative
                double forward[PAIR_SIZE], backward[PAIR_SIZE], r1[6] = {0.0}, r0[6] = {0.0},
                                                                claimed[6] = {0.0};
                memcpy(forward, q, sizeof q);
                memcpy(backward, q, sizeof q);
                forward[k] += 0.5;
                backward[k] -= 0.5;
                reduced_residual(&j, &step, forward, force, moment, r1);
                reduced_residual(&j, &step, backward, force, moment, r0);
                for (int t = 0; t < count; ++t) {
                    if (terms[t].on_child != (k >= POSE_SIZE)) continue;
                    const double coefficients[4] = {terms[t].phi_coefficient, terms[t].local.x,
                                                    terms[t].local.y, terms[t].local.z};
                    double z[3];
                    vec3_store(terms[t].z, z);
                    claimed[terms[t].row] += coefficients[k % POSE_SIZE / 3] * z[k % 3];
                }
                for (int r = 0; r < j.dof; ++r)
                    note(&worst, r1[r] - r0[r] - claimed[r], &VARIANTS[i]);
            }
        }
    }
    CHECK_WORST(worst, 2e-14); // measured 7.8e-16
}

// ---- motion on the manifold ---------------------------------------------------------------------------

// A parent and a child in a step, as a reduction keeps them.
typedef struct moving_pair {
    double parent_start[POSE_SIZE], child_start[POSE_SIZE];
    double parent[POSE_SIZE], child[POSE_SIZE];
    body_step parent_step, child_step;
    joint_step step;
} moving_pair;

static void pose_of(const double *start, const body_step *step, bool turning, double *q)
{
    vec3_store(vec3_add(vec3_load(start), step->displacement), q);
    for (int k = 3; k < POSE_SIZE; k += 3)
        vec3_store(turning ? cayley_apply(step->rotation, vec3_load(start + k))
                           : vec3_load(start + k),
                   q + k);
}

static moving_pair begin_pair(const joint *j, number_source *numbers)
{
    moving_pair pair = {0};
    joint_setting setting = random_setting(j, numbers);
    random_parent(j, numbers, pair.parent_start);
    place_child(j, &setting, pair.parent_start, pair.child_start);
    memcpy(pair.parent, pair.parent_start, sizeof pair.parent);
    memcpy(pair.child, pair.child_start, sizeof pair.child);
    joint_type_of(j->kind)->begin(j, pair.parent_start, pair.child_start, &pair.step);
    return pair;
}

// One Newton increment: the parent moves by (v, theta), the joint by u.
static void advance_pair(const joint *j, const double *twist, const double *u, moving_pair *pair)
{
    if (!j->plane_child) {
        pair->parent_step.displacement = vec3_add(pair->parent_step.displacement, vec3_load(twist));
        pair->parent_step.turn = vec3_load(twist + 3);
        pair->parent_step.rotation =
            cayley_compose(pair->parent_step.turn, pair->parent_step.rotation);
        pose_of(pair->parent_start, &pair->parent_step, true, pair->parent);
    }
    joint_type_of(j->kind)->advance(j, u, pair->parent_start, pair->parent, pair->child_start,
                                    pair->child, &pair->parent_step, &pair->step,
                                    &pair->child_step);
    pose_of(pair->child_start, &pair->child_step, !j->point_child, pair->child);
}

static void random_increment(number_source *numbers, double size, double *twist, double *u)
{
    for (int k = 0; k < 6; ++k)
        twist[k] = size * next_number(numbers), u[k] = size * next_number(numbers);
}

TEST(advance, stays_on_the_manifold_for_large_increments)
{
    worst_case worst = {0}, plane = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {7};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            moving_pair pair = begin_pair(&j, &numbers);
            for (int increment = 0; increment < 3; ++increment) {
                double twist[6], u[6];
                random_increment(&numbers, 0.6, twist, u);
                advance_pair(&j, twist, u, &pair);
                note(&worst, largest_row(&j, pair.parent, pair.child), &VARIANTS[i]);
            }
            if (j.plane_child)
                note(&plane,
                     vec3_dot(j.a[2],
                              vec3_subtract(vec3_load(pair.child), vec3_load(pair.child_start))),
                     &VARIANTS[i]);
        }
    }
    CHECK_WORST(worst, 2e-14); // measured 1.3e-15
    CHECK_WORST(plane, 2e-15); // measured 5.1e-16
}

// Increments of angles are twice the tangent of the half angle, of displacements the displacement itself.
TEST(advance, changes_the_coordinates_by_the_increment)
{
    worst_case worst = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        const variant *v = &VARIANTS[i];
        // which coordinates are simple numbers: displacements d, angles r
        const char *meaning = v->kind == HN_JOINT_REVOLUTE                                   ? "r"
                              : v->kind == HN_JOINT_PRISMATIC || v->kind == HN_JOINT_SLOT    ? "d"
                              : v->kind == HN_JOINT_CYLINDRICAL || v->kind == HN_JOINT_SCREW ? "dr"
                              : v->kind == HN_JOINT_PLANAR                                   ? "ddr"
                              : v->kind == HN_JOINT_UNIVERSAL                                ? "rr"
                                                                                             : "";
        number_source numbers = {8};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(v, &numbers);
            const joint_type *type = joint_type_of(j.kind);
            moving_pair pair = begin_pair(&j, &numbers);
            for (int increment = 0; increment < 2; ++increment) {
                double before[6], after[6], twist[6], u[6];
                random_increment(&numbers, 0.6, twist, u);
                type->coordinates(&j, pose_a(&j, pair.parent, pair.child),
                                  pose_b(&j, pair.parent, pair.child), before);
                advance_pair(&j, twist, u, &pair);
                type->coordinates(&j, pose_a(&j, pair.parent, pair.child),
                                  pose_b(&j, pair.parent, pair.child), after);
                for (int k = 0; meaning[k] != '\0'; ++k) {
                    // the child moves relative to the parent; when the child is a, the coordinate counts the other way
                    double change = (meaning[k] == 'r' ? 2.0 * atan(0.5 * u[k]) : u[k]) *
                                    (v->child_is_a ? -1.0 : 1.0);
                    double off = after[k] - before[k] - change;
                    if (meaning[k] == 'r') off -= TURN * nearbyint(off / TURN);
                    note(&worst, off, v);
                }
            }
        }
    }
    CHECK_WORST(worst, 1e-14); // measured 8.3e-16
}

// The derivative of the motion is the twist rule at the iterate (mechanics of Newton on the manifold).
TEST(advance, has_the_twist_rule_as_its_derivative)
{
    worst_case worst = {0};
    const double width = 1e-5;
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {9};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            moving_pair pair = begin_pair(&j, &numbers);
            double twist[6], u[6], expected[6];
            random_increment(&numbers, 0.6, twist, u);
            advance_pair(&j, twist, u,
                         &pair); // away from the start, so that the iterate is a generic one
            random_increment(&numbers, 1.0, twist, u);
            if (j.plane_child) memset(twist, 0, sizeof twist);
            motion m;
            joint_type_of(j.kind)->motion(&j, &pair.step, pair.parent, pair.child, &m);
            child_twist(&m, twist, u, expected);
            moving_pair forward = pair, backward = pair;
            double small_twist[6], small_u[6];
            for (int k = 0; k < 6; ++k)
                small_twist[k] = width * twist[k], small_u[k] = width * u[k];
            advance_pair(&j, small_twist, small_u, &forward);
            for (int k = 0; k < 6; ++k)
                small_twist[k] = -width * twist[k], small_u[k] = -width * u[k];
            advance_pair(&j, small_twist, small_u, &backward);
            double velocity[POSE_SIZE];
            pose_velocity(pair.child, expected, velocity);
            if (j.point_child) memset(velocity + 3, 0, 9 * sizeof(double));
            for (int k = 0; k < POSE_SIZE; ++k)
                note(&worst, (forward.child[k] - backward.child[k]) / (2.0 * width) - velocity[k],
                     &VARIANTS[i]);
        }
    }
    CHECK_WORST(worst,
                1e-9); // measured 1.5e-10: width squared 1e-10 and round-off over width 1e-11
}

// The prediction of the next step: the increment a joint remembers, turned back into one increment from the start.
TEST(guess, reproduces_an_increment)
{
    worst_case worst = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {10};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            const joint_type *type = joint_type_of(j.kind);
            moving_pair pair = begin_pair(&j, &numbers), again = pair;
            double twist[6], u[6], total[6];
            // the link of a distance joint remembers its rotation only as far as it is across the link: one increment
            int increments = j.kind == HN_JOINT_DISTANCE ? 1 : 2;
            for (int increment = 0; increment < increments; ++increment) {
                random_increment(&numbers, 0.4, twist, u);
                advance_pair(&j, twist, u, &pair);
            }
            vec3_store(pair.parent_step.displacement, total);
            vec3_store(pair.parent_step.rotation, total + 3);
            type->guess(&j, &again.step, pair.step.increment, again.child_start, u);
            advance_pair(&j, total, u, &again);
            for (int k = 0; k < POSE_SIZE; ++k)
                note(&worst, again.child[k] - pair.child[k], &VARIANTS[i]);
        }
    }
    CHECK_WORST(worst, 1e-14); // measured 8.9e-16
}

// A turn and a shift go in one pass. One that bends the directors as well leaves the axis off by half the bending after
// the first pass and needs a second; the iterates of a step are never bent by more than round-off.
TEST(settle, removes_a_small_disturbance)
{
    worst_case turned = {0}, bent = {0}, moved = {0}, unmoved = {0};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        number_source numbers = {11};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            const joint_type *type = joint_type_of(j.kind);
            moving_pair pair = begin_pair(&j, &numbers);
            double good[POSE_SIZE];
            memcpy(good, pair.child, sizeof good);
            type->settle(&j, &pair.step, pair.parent, pair.child);
            for (int k = 0; k < POSE_SIZE; ++k)
                note(&unmoved, pair.child[k] - good[k], &VARIANTS[i]);

            hn_vec3 shift = next_vector(&numbers, 1e-8), turn = next_vector(&numbers, 1e-8);
            vec3_store(vec3_add(vec3_load(pair.child), shift), pair.child);
            for (int k = 3; k < POSE_SIZE && !j.point_child; k += 3)
                vec3_store(cayley_apply(turn, vec3_load(pair.child + k)), pair.child + k);
            type->settle(&j, &pair.step, pair.parent, pair.child);
            note(&turned, largest_row(&j, pair.parent, pair.child), &VARIANTS[i]);

            for (int k = 0; k < (j.point_child ? 3 : POSE_SIZE); ++k)
                pair.child[k] += 1e-8 * next_number(&numbers);
            for (int pass = 0; pass < 2; ++pass)
                type->settle(&j, &pair.step, pair.parent, pair.child);
            note(&bent, largest_row(&j, pair.parent, pair.child), &VARIANTS[i]);
            for (int k = 0; k < POSE_SIZE; ++k) note(&moved, pair.child[k] - good[k], &VARIANTS[i]);
        }
    }
    CHECK_WORST(unmoved, 5e-15); // measured 1.4e-15
    CHECK_WORST(turned, 5e-15);  // measured 6.7e-16
    CHECK_WORST(bent, 5e-15);    // measured 7.2e-16
    CHECK_WORST(moved, 1e-7);    // measured 1.9e-8: it goes to a neighbour, not elsewhere
}

// ---- coordinates ------------------------------------------------------------------------------------

TEST(coordinates, are_those_the_state_was_placed_with)
{
    worst_case worst = {0};
    const int counts[HN_JOINT_KIND_COUNT] = {
        [HN_JOINT_SPHERICAL] = 3,   [HN_JOINT_REVOLUTE] = 1, [HN_JOINT_PRISMATIC] = 1,
        [HN_JOINT_CYLINDRICAL] = 2, [HN_JOINT_PLANAR] = 3,   [HN_JOINT_UNIVERSAL] = 2,
        [HN_JOINT_FIXED] = 0,       [HN_JOINT_FREE] = 6,     [HN_JOINT_DISTANCE] = 0,
        [HN_JOINT_SCREW] = 2,       [HN_JOINT_SLOT] = 4};
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        if (VARIANTS[i].point_child) continue; // no orientation to report
        number_source numbers = {12};
        for (int s = 0; s < SAMPLES; ++s) {
            joint j = make_joint(&VARIANTS[i], &numbers);
            joint_setting setting = random_setting(&j, &numbers);
            double parent[POSE_SIZE], child[POSE_SIZE], found[6];
            random_parent(&j, &numbers, parent);
            place_child(&j, &setting, parent, child);
            joint_type_of(j.kind)->coordinates(&j, pose_a(&j, parent, child),
                                               pose_b(&j, parent, child), found);
            for (int k = 0; k < counts[j.kind]; ++k)
                note(&worst, found[k] - setting.coordinates[k], &VARIANTS[i]);
        }
    }
    CHECK_WORST(worst, 1e-14); // measured 3.1e-15
}
