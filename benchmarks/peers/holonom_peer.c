// SPDX-License-Identifier: MIT
// Holonom through its public interface. Integrators: a scheme by name, then reduction and settings after slashes:
// "energy-momentum", "energy-momentum/nullspace", "energy-momentum/ledger", "energy-momentum/records" (state and
// ledger in a result file after every step), "rattle/order=8", "energy-momentum/quadratic" (elements of beams); the
// step is a tolerance with "projected-rk/adaptive" and "energy-momentum/controlled".
#define _POSIX_C_SOURCE 200809L

#include "mechanism.h"

#include <holonom/holonom.h>

// Version 0.1.0, built beside this one, has the settings of projected-rk among all others.
#if HN_VERSION_MINOR > 1
#define RK(def) (def).projected_rk
#else
#define RK(def) (def)
#endif

#define TRY(call)                                                                                  \
    do {                                                                                           \
        hn_status tried = (call);                                                                  \
        if (tried != HN_OK) return tried;                                                          \
    } while (0)

typedef struct engine {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_results *results;
    hn_simulation_def def;
    bool adaptive, controlled, records, beamed, quadratic;
} engine;

static void give_up(engine *e)
{
    fprintf(stderr, "%s\n", hn_context_message(e->context));
    exit(1);
}

static void refuse(engine *e)
{
    fprintf(stderr, "%s\n", hn_context_message(e->context));
    exit(PEER_CANNOT);
}

static hn_vec3 vector(const double *x)
{
    return (hn_vec3){x[0], x[1], x[2]};
}

static hn_body_id body_of(const hn_model *model, int index)
{
    return index < 0 ? hn_ground() : hn_model_body(model, index);
}

static hn_status add_joint(hn_model *model, int kind, int a, int b, const double *place,
                           const double *axis, hn_joint_id *joint)
{
    hn_joint_def def =
        hn_joint_def_default(kind == PEER_HINGE ? HN_JOINT_REVOLUTE : HN_JOINT_SPHERICAL);
    def.body_a = body_of(model, a);
    def.body_b = body_of(model, b);
    def.point_a = vector(place);
    if (kind == PEER_HINGE) def.axis_a = vector(axis);
    return hn_model_add_joint(model, &def, joint);
}

static hn_status add_body(hn_model *model, const peer_mechanism *m, int index)
{
    const peer_body *b = &m->bodies[index];
    hn_body_def def = hn_body_def_default();
    hn_body_id body;
    hn_joint_id joint;
    def.mass = b->mass;
    def.inertia = vector(b->inertia);
    def.products_of_inertia = vector(b->inertia + 3);
    def.position = vector(b->centre);
    TRY(hn_model_add_body(model, &def, &body));
    if (b->kind == PEER_FREE) {
        TRY(hn_model_set_velocity(model, body, vector(b->rates)));
        return hn_model_set_angular_velocity(model, body, vector(b->rates + 3));
    }
    TRY(add_joint(model, b->kind, b->parent, index, b->place, b->axis, &joint));
    return hn_model_set_joint_rates(model, joint, b->rates, b->kind == PEER_HINGE ? 1 : 3);
}

#if HN_VERSION_MINOR > 1
// Its nodes stand in the mechanism as bodies without mass: energies are asked of the engine.
static hn_status create_beam(engine *e, peer_mechanism *m)
{
    const double *b = m->beam, stiffness[6] = {b[5], b[5], b[4], b[6], b[6], b[6]};
    const hn_vec3 ends[2] = {{0, 0, 0}, {b[1], 0, 0}};
    hn_beam_def def = hn_beam_def_default();
    hn_joint_def clamp = hn_joint_def_default(HN_JOINT_FIXED);
    hn_joint_id joint;
    hn_beam_id beam;
    e->beamed = true;
    def.points = ends, def.point_count = 2, def.element_count = (int)b[0];
    if (e->quadratic) def.order = 2, def.element_count /= 2; // as many nodes
    def.direction = (hn_vec3){0, 0, 1};
    def.section.mass = b[2];
    def.section.inertia[0] = def.section.inertia[1] = b[3];
    for (int k = 0; k < 6; ++k) def.section.stiffness[k][k] = stiffness[k];
    TRY(hn_model_add_beam(e->model, &def, &beam));
    clamp.body_a = hn_ground();
    clamp.body_b = hn_model_beam_node(e->model, beam, 0);
    m->body_count = (int)b[0] + 1;
    m->bodies = calloc((size_t)m->body_count, sizeof *m->bodies);
    if (m->bodies == NULL) return HN_OUT_OF_MEMORY;
    for (int k = 0; k < m->body_count; ++k) m->bodies[k].kind = PEER_FREE;
    return hn_model_add_joint(e->model, &clamp, &joint);
}
#else
static hn_status create_beam(engine *e, peer_mechanism *m)
{
    (void)e, (void)m;
    return HN_INVALID_MODEL;
}
#endif

static hn_status create_model(engine *e, peer_mechanism *m)
{
    hn_model_def def = hn_model_def_default();
    hn_joint_id joint;
    def.gravity = vector(m->gravity);
    TRY(hn_model_create(e->context, &def, &e->model));
    if (m->beam[0] > 0.0) return create_beam(e, m);
    for (int k = 0; k < m->body_count; ++k) TRY(add_body(e->model, m, k));
    for (int k = 0; k < m->closure_count; ++k) {
        const peer_closure *c = &m->closures[k];
        TRY(add_joint(e->model, c->kind, c->a, c->b, c->place, c->axis, &joint));
    }
    return HN_OK;
}

static void tell(void *from, int body, peer_motion *x)
{
    engine *e = from;
    hn_body_state state;
    if (hn_simulation_body_state(e->simulation, hn_model_body(e->model, body), &state) != HN_OK)
        give_up(e);
    const hn_vec3 vectors[3] = {state.position, state.velocity, state.angular_velocity};
    double *to[3] = {x->centre, x->velocity, x->spin};
    for (int k = 0; k < 3; ++k)
        to[k][0] = vectors[k].x, to[k][1] = vectors[k].y, to[k][2] = vectors[k].z;
    memcpy(x->rotation, &state.orientation, sizeof x->rotation);
}

// One setting, "order=8".
static bool set(engine *e, char *word)
{
#if HN_VERSION_MINOR > 1
    char *value = strchr(word, '=');
    *value++ = '\0';
    return hn_simulation_def_set(e->context, &e->def, word, value) == HN_OK;
#else
    (void)e, (void)word;
    return false;
#endif
}

// Scheme, reduction and settings from the name of an integrator; words with "=" are settings by their names.
static bool choose(engine *e, const char *name)
{
    char words[128];
    snprintf(words, sizeof words, "%s", name);
    char *rest = words, *word = strtok_r(words, "/", &rest);
    if (word == NULL || !hn_scheme_from_name(word, &e->def.scheme)) return false;
    while ((word = strtok_r(NULL, "/", &rest)) != NULL) {
        if (strcmp(word, "ledger") == 0) e->def.ledger = true;
        else if (strcmp(word, "records") == 0) e->def.ledger = e->records = true;
        else if (strcmp(word, "adaptive") == 0) e->adaptive = true;
        else if (strcmp(word, "controlled") == 0) e->adaptive = e->controlled = true;
        else if (strcmp(word, "fixed") == 0) RK(e->def).fixed_steps = true;
        else if (strcmp(word, "planar") == 0) RK(e->def).planar = true;
        else if (strcmp(word, "quadratic") == 0) e->quadratic = true;
        else if (strchr(word, '=') != NULL) {
            if (!set(e, word)) return false;
        } else if (!hn_reduction_from_name(word, &e->def.reduction)) return false;
    }
    return true;
}

// The step of the task is a step size, or a tolerance.
static void set_step(engine *e, const peer_task *task)
{
    e->def.step_size = e->adaptive ? task->end / task->looks : task->step;
    if (!e->adaptive) return;
#if HN_VERSION_MINOR > 1
    if (e->controlled) e->def.step_tolerance = task->step;
#endif
    if (e->controlled) return;
    RK(e->def).absolute_tolerance = RK(e->def).relative_tolerance = task->step;
    RK(e->def).dense_output = false; // as in every engine the last step ends at the look
}

static void start(void *from)
{
    engine *e = from;
    if (e->records && e->results != NULL && hn_results_finish(e->results) != HN_OK) give_up(e);
    hn_results_destroy(e->results);
    hn_simulation_destroy(e->simulation);
    e->simulation = NULL, e->results = NULL;
    if (hn_simulation_create(e->model, &e->def, &e->simulation) != HN_OK) refuse(e);
    if (e->records &&
        hn_results_create(e->model, e->simulation, "records.h5", &e->results) != HN_OK)
        give_up(e);
}

static void record_steps(engine *e, long steps)
{
    for (long k = 0; k < steps; ++k)
        if (hn_simulation_step(e->simulation, 1) != HN_OK || hn_results_append(e->results) != HN_OK)
            give_up(e);
}

// Adaptive ones choose steps within one that ends at `time`.
static long advance(void *from, long steps, double time)
{
    engine *e = from;
    if (e->records) record_steps(e, steps);
    if (e->records) return steps;
    if (!e->adaptive) {
        if (hn_simulation_step(e->simulation, steps) != HN_OK) give_up(e);
        return steps;
    }
    long before = (long)hn_simulation_adaptive_statistics(e->simulation).accepted_step_count;
    long rest = lround((time - hn_simulation_time(e->simulation)) / e->def.step_size);
    if (hn_simulation_step(e->simulation, rest) != HN_OK) give_up(e);
    return (long)hn_simulation_adaptive_statistics(e->simulation).accepted_step_count - before;
}

// Kinetic energy of the scheme's own velocities; with beams also what they store.
static void measure_energy(void *from, peer_measures *measures)
{
    engine *e = from;
    hn_energy energy;
    if (hn_simulation_energy(e->simulation, &energy) != HN_OK) give_up(e);
    measures->kinetic = energy.kinetic;
    if (e->beamed) measures->potential = energy.potential;
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    peer_report report = {0};
    char note[128] = "";
    if (!peer_read(argc, argv, &m, &task)) return 2;
    engine e = {.context = hn_context_create(NULL), .def = hn_simulation_def_default()};
    if (e.context == NULL) return 1;
    e.def.ledger = false; // a measuring instrument, no part of the step
    if (!choose(&e, task.integrator)) {
        fprintf(stderr, "%s: this version has no such scheme or setting\n", task.integrator);
        return PEER_CANNOT;
    }
    set_step(&e, &task);
    if (create_model(&e, &m) != HN_OK) give_up(&e);
    peer_program program = {&e, start, advance, tell, measure_energy, e.adaptive};
    peer_drive(&m, &task, &program, &report);
    hn_statistics s = hn_simulation_statistics(e.simulation);
    if (s.newton_iteration_count > 0)
        snprintf(note, sizeof note, "%.2f iterations a step",
                 (double)s.newton_iteration_count / (double)s.step_count);
    peer_print(&report, "Holonom", hn_version(), note);
    if (e.records && hn_results_finish(e.results) != HN_OK) give_up(&e);
    hn_results_destroy(e.results);
    hn_simulation_destroy(e.simulation);
    hn_model_destroy(e.model);
    hn_context_destroy(e.context);
    return 0;
}
