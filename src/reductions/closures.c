// SPDX-License-Identifier: MIT
// Closure rows of cut joints in the border of the tree.
#include "reductions/closures.h"

#include "reductions/row_vectors.h"

#include <string.h>

// Rows whose angle to the others has a smaller squared sine are left to the sparse system, which knows singular
// positions.
static const double NEARLY_DEPENDENT = 1e-5;

struct closures {
    row_choice last; // what was decided last,
    bool regular;    // and whether rows are far from losing rank there
    hn_system *system;
    independent_rows *choice;
    bool *dropped;      // per row: joints of the tree on loops, then cut joints
    int first_cut_row;  // among these
    int *columns;       // per cut row: its column, or -1
    double largest_gap; // of the columns, relative
    double *units; // per cut row: what multiplies the row; then what its multiplier is counted in
    pool memory;
};

// A product row has the tangent mu (delta u . delta w + delta w . delta u). Rows with the same u share it: the sum of
// their w takes part with the multipliers as factors.
typedef struct row_group {
    double u[8], w[8];
} row_group;

static int group_of(row_group *groups, int *count, const constraint_row *row)
{
    for (int k = 0; k < *count; ++k)
        if (memcmp(groups[k].u, row->alpha, sizeof groups[k].u) == 0) return k;
    memcpy(groups[*count].u, row->alpha, sizeof groups[*count].u);
    memset(groups[*count].w, 0, sizeof groups[*count].w);
    return (*count)++;
}

int closures_column_count(const hn_system *system)
{
    int count = 0;
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        row_group groups[JOINT_ROWS_MAX];
        int group_count = 0;
        for (int r = 0; r < j->row_count; ++r) {
            const constraint_row row = joint_row(j, r);
            if (row.product) group_of(groups, &group_count, &row);
        }
        count += j->row_count + 6 * group_count;
    }
    return count;
}

void closures_destroy(closures *c)
{
    if (c == NULL) return;
    independent_rows_destroy(c->choice);
    pool_release(&c->memory);
    context_release(c->system->context, c);
}

// The body nearest to the root on the loop of a cut joint, or GROUND.
static int loop_begin(const hn_system *system, int cut)
{
    int a = system->cuts[cut].parent, b = system->cuts[cut].child;
    while (a != b) { // parents come before their children
        if (a > b) a = system->parent[a];
        else b = system->parent[b];
    }
    return a;
}

// A joint that is taken once: joints of the tree by their bodies, then cut joints.
static void take_joint(int index, int *place, int *sequence, int *taken)
{
    if (place[index] >= 0) sequence[(*taken)++] = place[index];
    place[index] = -1;
}

// The order in which rows are decided on: loop by loop from the root on, the joints of the tree on a loop, then
// the one that closes it. When its turn comes a joint of the tree lies on no loop of those before: rows that depend on
// others are rows of cut joints, as if the whole tree came first, and few joints wait for others at a time. `place`: of
// all joints in the list of those that take part, or -1; it is lost. `list`: room for as many.
static void order_joints(const hn_system *system, int *place, int *list, int *sequence)
{
    int taken = 0, cuts = system->cut_count;
    for (int k = 0; k < cuts; ++k) { // cut joints by where their loops begin
        int at = k, begin = loop_begin(system, k);
        for (; at > 0 && loop_begin(system, list[at - 1]) > begin; --at) list[at] = list[at - 1];
        list[at] = k;
    }
    for (int k = 0; k < cuts; ++k) {
        int side[2] = {system->cuts[list[k]].parent, system->cuts[list[k]].child}, count = 0;
        int *way = list + cuts;
        while (side[0] != side[1]) { // up to where both ways meet
            int *far = side[0] > side[1] ? &side[0] : &side[1];
            way[count++] = *far;
            *far = system->parent[*far];
        }
        while (count > 0) take_joint(way[--count], place, sequence, &taken);
        take_joint(system->body_count + list[k], place, sequence, &taken);
    }
    for (int k = 0; k < system->body_count + cuts; ++k) take_joint(k, place, sequence, &taken);
}

static hn_status create_parts(closures *c)
{
    hn_system *system = c->system;
    size_t joints = (size_t)(system->body_count + system->cut_count);
    size_t cut_rows = (size_t)system->cut_row_count;
    joint_place *places = pool_take(&c->memory, joints, sizeof(joint_place));
    int *sequence = pool_ints(&c->memory, joints), *place = pool_ints(&c->memory, joints),
        *list = pool_ints(&c->memory, joints);
    c->columns = pool_ints(&c->memory, cut_rows);
    c->units = pool_doubles(&c->memory, 2 * cut_rows);
    TRY(pool_status(&c->memory));
    int count = 0, rows = 0;
    for (int k = 0; k < system->body_count + system->cut_count; ++k) {
        bool cut = k >= system->body_count;
        const joint *j = cut ? &system->cuts[k - system->body_count] : &system->joints[k];
        if (k == system->body_count) c->first_cut_row = rows;
        place[k] = -1;
        if (j->row_count == 0 || (!cut && !system->in_loop[k])) continue;
        bool child_is_a = !cut && j->child_is_a;
        place[k] = count;
        places[count] = (joint_place){.rows = j,
                                      .a = child_is_a ? j->child : j->parent,
                                      .b = child_is_a ? j->parent : j->child,
                                      .node = system->body_count + count};
        count++;
        rows += j->row_count;
    }
    order_joints(system, place, list, sequence);
    c->dropped = pool_take(&c->memory, (size_t)rows, sizeof(bool));
    TRY(pool_status(&c->memory));
    return independent_rows_create(system, places, count, sequence, &c->choice);
}

hn_status closures_create(hn_system *system, closures **out)
{
    *out = NULL;
    closures *c = context_allocate(system->context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    c->system = system;
    c->memory.context = system->context;
    hn_status status = create_parts(c);
    if (status == HN_OK) *out = c;
    else closures_destroy(c);
    return status;
}

// As closures_choose
static bool choose(closures *c, const double *q)
{
    c->last = (row_choice){0};
    if (independent_rows_choose(c->choice, q, &c->last, c->dropped) != HN_OK) return false;
    for (int k = 0; k < c->first_cut_row; ++k)
        if (c->dropped[k]) return false;
    return c->last.smallest_kept > NEARLY_DEPENDENT;
}

bool closures_choose(closures *c, const double *q, bool keep, row_choice *choice)
{
    if (!keep) c->regular = choose(c, q);
    *choice = c->last;
    return c->regular;
}

size_t closures_memory_size(const hn_system *system)
{
    size_t rows = 0;
    for (int k = 0; k < system->body_count + system->cut_count; ++k) {
        bool cut = k >= system->body_count;
        if (cut) rows += (size_t)system->cuts[k - system->body_count].row_count;
        else if (system->in_loop[k]) rows += (size_t)system->joints[k].row_count;
    }
    return sizeof(row_memory) + rows * sizeof(bool);
}

// Of its angle, the part that may change from one choice to the next, one to twelve steps apart; and the sine below
// which rows are chosen in every step: twice that at which passages of singular positions look at it.
static const double LASTING_PART = 1.0 / 32.0, LASTING_ANGLE = 0.2;

bool closures_choose_lasting(closures *c, const double *q, const newton_options *options,
                             row_choice *choice)
{
    row_memory *memory = options->rows;
    size_t size = (size_t)(c->first_cut_row + c->system->cut_row_count) * sizeof(bool);
    if (memory->lasting && !options->rows_anew) {
        c->last = memory->choice;
        c->regular = true;
        memcpy(c->dropped, memory->dropped, size);
    } else {
        c->regular = choose(c, q);
        double angle = sqrt(fmax(0.0, c->last.smallest_kept));
        // a step that is solved again chooses the same
        if (memory->step != options->step) memory->before = memory->angle;
        memory->step = options->step;
        memory->angle = angle;
        memory->lasting = c->regular && angle > LASTING_ANGLE &&
                          fabs(angle - memory->before) <= LASTING_PART * angle;
        memory->choice = c->last;
        memcpy(memory->dropped, c->dropped, size);
    }
    *choice = c->last;
    return c->regular;
}

bool closures_is_kept(const closures *c, int cut, int row)
{
    return !c->dropped[c->first_cut_row + c->system->cut_row[cut] + row];
}

// ---- forces -----------------------------------------------------------------------------------------

void closures_clear_forces(const closures *c, const step_data *step)
{
    const hn_system *system = c->system;
    for (int k = 0; k < system->cut_count; ++k) {
        const int body[2] = {system->cuts[k].parent, system->cuts[k].child};
        for (int side = 0; side < 2; ++side)
            if (body[side] >= 0)
                memset(step->force + POSE_SIZE * (size_t)body[side], 0, POSE_SIZE * sizeof(double));
    }
}

void closures_add_forces(const closures *c, const step_equations *equations, const step_data *step)
{
    if (c->system->element_count == 0) closures_clear_forces(c, step);
    step_add_closure_forces(c->system, equations, step);
}

void closures_clear_dropped(const closures *c, const step_data *step)
{
    for (int k = 0; k < c->system->cut_row_count; ++k)
        if (c->dropped[c->first_cut_row + k]) step->closure[k] = 0.0;
}

// ---- columns ----------------------------------------------------------------------------------------

// g of a row at the iterate, as the change in the step: G(q_mid) Delta
static double row_gap(const constraint_row *row, const joint *j, const step_data *step)
{
    double middle[2][POSE_SIZE];
    row_vectors v;
    pose_between(step, j->parent, 0.5, middle[0]);
    pose_between(step, j->child, 0.5, middle[1]);
    find_row_vectors(row, middle[0], middle[1], &v);
    return row_secant(row, &v, j->parent, j->child, step);
}

int closures_terms(const closures *c, const step_equations *equations, const step_data *step,
                   int cut, stiffness_term *terms)
{
    const joint *j = &c->system->cuts[cut];
    row_group groups[JOINT_ROWS_MAX];
    int count = 0;
    // multipliers in alpha m*, as the columns of the rows
    double force =
        equations->mass_factor * c->system->unit_mass[j->child < 0 ? j->parent : j->child];
    if (equations->weight == 0.0) return 0;
    for (int r = 0; r < j->row_count; ++r) {
        double mu = step->closure[c->system->cut_row[cut] + r];
        const constraint_row row = joint_row(j, r);
        if (!row.product || mu == 0.0) continue;
        row_group *g = &groups[group_of(groups, &count, &row)];
        for (int k = 0; k < 8; ++k)
            g->w[k] += equations->weight * mu / force * row.factor * row.beta[k];
    }
    for (int k = 0; k < 2 * count; ++k) {
        const row_group *g = &groups[k / 2];
        terms[k] = (stiffness_term){.c = {{force, 0.0, 0.0}, {0.0, force, 0.0}, {0.0, 0.0, force}}};
        memcpy(terms[k].u, k % 2 == 0 ? g->u : g->w, sizeof terms[k].u);
        memcpy(terms[k].v, k % 2 == 0 ? g->w : g->u, sizeof terms[k].v);
    }
    return 2 * count;
}

// Rows in metres, multipliers in alpha m*: entries of the border are then of the size of one, whatever the mass and the
// length of the mechanism are.
static void count_in_units(closures *c, const step_equations *equations, const joint *j,
                           const constraint_row *row, int place, border_column *column)
{
    const hn_system *system = c->system;
    int body = j->child < 0 ? j->parent : j->child;
    double unit = row->rotational ? system->unit_length[body] : 1.0;
    double force = unit * equations->mass_factor * system->unit_mass[body];
    for (int k = 0; k < 12; ++k) column->row[k] *= unit, column->load[k] *= force;
    column->gap *= unit;
    c->units[place] = unit;
    c->units[system->cut_row_count + place] = force;
}

void closures_add_columns(closures *c, const step_equations *equations, const step_data *step,
                          border *b)
{
    const hn_system *system = c->system;
    c->largest_gap = 0.0;
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        double pose[2][POSE_SIZE];
        step_projection_pose(equations, step, j->parent, pose[0]);
        step_projection_pose(equations, step, j->child, pose[1]);
        for (int r = 0; r < j->row_count; ++r) {
            int *place = &c->columns[system->cut_row[k] + r];
            *place = -1;
            if (!closures_is_kept(c, k, r)) continue;
            row_vectors projected, now;
            *place = b->count;
            border_column *column = border_add(b, j->parent, j->child);
            const constraint_row row = joint_row(j, r);
            find_row_vectors(&row, pose[0], pose[1], &projected);
            find_row_vectors(&row, system_pose(step->q, j->parent), system_pose(step->q, j->child),
                             &now);
            for (int side = 0; side < 2; ++side) {
                row_wrench(&row, &projected, side, column->load + 6 * side);
                row_wrench(&row, &now, side, column->row + 6 * side);
            }
            column->gap = row_gap(&row, j, step);
            double size = fabs(column->gap) / measure_row(system, j, &row, j->parent, j->child,
                                                          step->q_start, step->delta);
            if (!(size <= c->largest_gap)) c->largest_gap = size;
            count_in_units(c, equations, j, &row, system->cut_row[k] + r, column);
        }
        stiffness_term terms[CLOSURE_TERMS_MAX];
        int count = closures_terms(c, equations, step, k, terms);
        for (int i = 0; i < count; ++i)
            border_add_term(b, equations, step, j->parent, j->child, &terms[i]);
    }
}

double closures_gap(const closures *c)
{
    return c->largest_gap;
}

void closures_apply(const closures *c, const border *b, const step_data *step)
{
    for (int k = 0; k < c->system->cut_row_count; ++k)
        if (c->columns[k] >= 0)
            step->closure[k] += c->units[c->system->cut_row_count + k] * b->right[c->columns[k]];
}

// ---- rows after a step ------------------------------------------------------------------------------

void closures_find_gaps(const closures *c, const border *b, const double *q, double *gaps)
{
    const hn_system *system = c->system;
    memset(gaps, 0, (size_t)b->count * sizeof(double));
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        for (int r = 0; r < j->row_count; ++r) {
            int column = c->columns[system->cut_row[k] + r];
            if (column < 0) continue;
            const constraint_row row = joint_row(j, r);
            gaps[column] = c->units[system->cut_row[k] + r] *
                           row_value(&row, system_pose(q, j->parent), system_pose(q, j->child));
        }
    }
}

bool closures_kept_hold(const closures *c, const step_data *step)
{
    const hn_system *system = c->system;
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        for (int r = 0; r < j->row_count; ++r) {
            const constraint_row row = joint_row(j, r);
            if (closures_is_kept(c, k, r) &&
                !(fabs(row_gap(&row, j, step)) <=
                  measure_row_tolerance(system, j, &row, j->parent, j->child, step->q)))
                return false;
        }
    }
    return true;
}

bool closures_all_hold(const closures *c, const double *q)
{
    const hn_system *system = c->system;
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        for (int r = 0; r < j->row_count; ++r) {
            const constraint_row row = joint_row(j, r);
            if (!(fabs(row_value(&row, system_pose(q, j->parent), system_pose(q, j->child))) <=
                  measure_row_tolerance(system, j, &row, j->parent, j->child, q)))
                return false;
        }
    }
    return true;
}
