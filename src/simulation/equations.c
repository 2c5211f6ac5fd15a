// SPDX-License-Identifier: MIT
// Residuals of solved steps, as no solver sees them: whatever reduction found the solution, constraint forces of the
// tree are projected away and those of cut joints are taken as they were found,
//
//   r_c = B_c^T W_c,   W_i = P_int(q_w)^T (rho + sigma G_cut^T lambda)_i + sum_c A_c^T W_c
//
// relative to the sizes of all terms that are summed in it: those of the body and of the branch that its joints carry.
#include "simulation/equations.h"

#include <string.h>

enum { FIRST_STEPS = 16, EVERY = 32 };

// One step of every 32, which one is drawn from their number: what vibrates is seen in all phases, also in 32 steps
static bool is_drawn(int64_t step)
{
    uint64_t x = (uint64_t)(step / EVERY) + 1;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9); // the mixing of splitmix64
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return step % EVERY == (int64_t)((x ^ (x >> 31)) % EVERY);
}

bool equations_are_due(const hn_simulation *s)
{
    return s->def.ledger && (s->step_count < FIRST_STEPS || is_drawn(s->step_count));
}

static void note(hn_simulation *s, double residual, int body)
{
    ledger_record *r = &s->record;
    r->equations_now = residual;
    if (!(residual > r->equations) && !isnan(residual)) return;
    r->equations = residual;
    r->equations_body = body;
    r->equations_step = s->step_count + 1;
}

// W of all bodies, and the sizes of all terms in it
static void sum_wrenches(hn_simulation *s, const step_equations *equations, const step_data *step)
{
    const hn_system *system = s->system;
    double *wrenches = s->equation_wrenches;
    memset(wrenches, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = system->body_count - 1; i >= 0; --i) {
        double rho[POSE_SIZE], own[TWIST_SIZE], pose[POSE_SIZE], parent[POSE_SIZE];
        double *w = wrenches + TWIST_SIZE * (size_t)i;
        const joint *j = &system->joints[i];
        step_residual(system, equations, step, i, rho);
        step_projection_pose(equations, step, i, pose);
        force_to_wrench(pose, rho, own);
        for (int k = 0; k < TWIST_SIZE; ++k) w[k] += own[k];
        if (j->parent < 0) continue;
        motion m;
        step_projection_pose(equations, step, j->parent, parent);
        joint_type_of(j->kind)->motion(j, &step->joints[i], parent, pose, &m);
        if (m.carry == CARRY_NONE) continue;
        body_scale *from = &s->equation_scales[i], *into = &s->equation_scales[j->parent];
        into->force += from->force;
        into->moment += from->moment + (system->sizes[i] + system->sizes[j->parent]) * from->force;
        double *to = wrenches + TWIST_SIZE * (size_t)j->parent;
        hn_vec3 force = vec3_load(w), moment = carry_moment(&m, force, vec3_load(w + 3));
        vec3_store(vec3_add(vec3_load(to), force), to);
        vec3_store(vec3_add(vec3_load(to + 3), moment), to + 3);
    }
}

static void check_reduced(hn_simulation *s, const step_equations *equations, const step_data *step)
{
    const hn_system *system = s->system;
    double worst = 0.0;
    int body = 0;
    if (system->cut_count > 0) step_add_closure_forces(system, equations, step);
    measure_bodies(system, equations, step, s->equation_scales);
    measure_add_round_off(system, equations, step->q_start, s->equation_scales);
    if (system->cut_count > 0 && system->element_count == 0)
        for (int i = 0; i < system->body_count; ++i) {
            const double *f = step->force + POSE_SIZE * (size_t)i;
            s->equation_scales[i].force += one_norm(f);
            for (int k = 3; k < POSE_SIZE; k += 3) s->equation_scales[i].moment += one_norm(f + k);
        }
    measure_add_elements(system, equations, step, s->equation_scales);
    sum_wrenches(s, equations, step);
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const double *w = s->equation_wrenches + TWIST_SIZE * (size_t)i;
        double pose[POSE_SIZE], parent[POSE_SIZE];
        motion m;
        step_projection_pose(equations, step, i, pose);
        step_projection_pose(equations, step, j->parent, parent);
        joint_type_of(j->kind)->motion(j, &step->joints[i], parent, pose, &m);
        for (int k = 0; k < m.dof; ++k) {
            double r =
                vec3_dot(m.linear[k], vec3_load(w)) + vec3_dot(m.angular[k], vec3_load(w + 3));
            r = measure_residual(&m, k, r, &s->equation_scales[i]);
            if (!(r <= worst)) worst = r, body = i;
        }
    }
    note(s, worst, body);
    // forces of elements alone, as they were
    if (system->element_count > 0) step_element_forces(system, equations, step);
    else if (system->cut_count > 0)
        memset(step->force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
}

// As a random walk over the steps that this one stands for
static void note_stiff_round_off(hn_simulation *s, const step_data *step)
{
    const hn_system *system = s->system;
    double steps = s->step_count < FIRST_STEPS ? 1.0 : EVERY;
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        if (element_type_of(e->kind)->from_outside) continue;
        double work = measure_element_work(system, step, k);
        s->stiff_round_off[system->mechanism[element_body(e)]] += steps * work * work;
    }
}

double equations_stiff_round_off(const hn_simulation *s, int mechanism)
{
    const double DEVIATIONS = 3.0;
    return DEVIATIONS * sqrt(s->stiff_round_off[mechanism]);
}

void equations_note(hn_simulation *s, const solved_step *step)
{
    note_stiff_round_off(s, &step->data);
    if (s->scheme->solver_step == NULL) check_reduced(s, &step->equations, &step->data);
    else note(s, s->newton.left, s->newton.left_body);
}
