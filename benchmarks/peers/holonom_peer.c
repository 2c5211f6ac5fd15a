// SPDX-License-Identifier: MIT
// Holonom through its public interface. Integrators: a scheme by name, then reduction and settings after slashes:
// "energy-momentum", "energy-momentum/nullspace", "projected-rk/adaptive", "energy-momentum/ledger",
// "rattle/order=8".
#define _POSIX_C_SOURCE 200809L

#include "mechanism.h"

#include <holonom/holonom.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        hn_status tried = (call);                                                                  \
        if (tried != HN_OK) return tried;                                                          \
    } while (0)

typedef struct engine {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} engine;

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

static hn_status create_model(engine *e, const peer_mechanism *m)
{
    hn_model_def def = hn_model_def_default();
    hn_joint_id joint;
    def.gravity = vector(m->gravity);
    TRY(hn_model_create(e->context, &def, &e->model));
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
        exit(1);
    const hn_vec3 vectors[3] = {state.position, state.velocity, state.angular_velocity};
    double *to[3] = {x->centre, x->velocity, x->spin};
    for (int k = 0; k < 3; ++k)
        to[k][0] = vectors[k].x, to[k][1] = vectors[k].y, to[k][2] = vectors[k].z;
    memcpy(x->rotation, &state.orientation, sizeof x->rotation);
}

// Scheme, reduction and settings from the name of an integrator.
static bool choose(const char *name, hn_simulation_def *def, bool *adaptive)
{
    char words[128];
    snprintf(words, sizeof words, "%s", name);
    *adaptive = false;
    char *rest = words, *word = strtok_r(words, "/", &rest);
    if (word == NULL || !hn_scheme_from_name(word, &def->scheme)) return false;
    while ((word = strtok_r(NULL, "/", &rest)) != NULL) {
        if (strcmp(word, "ledger") == 0) def->ledger = true;
        else if (strcmp(word, "adaptive") == 0) *adaptive = true;
        else if (strcmp(word, "energy=0") == 0) def->impose_energy = false;
        else if (strcmp(word, "fixed") == 0) def->fixed_steps = true;
#if HN_VERSION_MINOR > 1
        else if (strncmp(word, "order=", 6) == 0) def->order = atoi(word + 6);
#endif
        else if (strcmp(word, "planar") == 0) def->planar = true;
        else if (!hn_reduction_from_name(word, &def->reduction)) return false;
    }
    return true;
}

static hn_status step_through(engine *e, const peer_mechanism *m, const peer_task *task, double h,
                              int repeat, peer_report *report)
{
    long total = lround(task->end / h), steps = 0;
    double start = peer_clock(), seconds = 0.0;
    while (steps < total && seconds < task->budget) {
        long batch = peer_batch(m);
        if (batch > total - steps) batch = total - steps;
        TRY(hn_simulation_step(e->simulation, batch));
        steps += batch;
        seconds = peer_clock() - start;
    }
    peer_note(report, repeat, seconds, steps, hn_simulation_time(e->simulation));
    return HN_OK;
}

static hn_status run(engine *e, const peer_mechanism *m, const peer_task *task, peer_report *report,
                     char *note, size_t size)
{
    hn_simulation_def def = hn_simulation_def_default();
    bool adaptive;
    def.ledger = false; // a measuring instrument, no part of the step
    if (!choose(task->integrator, &def, &adaptive)) return HN_INVALID_ARGUMENT;
    double h = adaptive ? task->end : task->step;
    def.step_size = h;
    if (adaptive) def.absolute_tolerance = def.relative_tolerance = task->step;
    TRY(create_model(e, m));
    for (int repeat = 0; repeat < task->repeats; ++repeat) {
        TRY(hn_simulation_create(e->model, &def, &e->simulation));
        if (repeat == 0) report->start = peer_measure(m, tell, e, NULL);
        TRY(step_through(e, m, task, h, repeat, report));
        if (repeat == 0) report->end = peer_measure(m, tell, e, task->places);
        hn_statistics s = hn_simulation_statistics(e->simulation);
        snprintf(note, size, "%.2f Newton iterations per step",
                 (double)s.newton_iteration_count / (double)s.step_count);
        // energy of the scheme's own velocities, which are a little off the constraints' tangent
        hn_energy energy;
        TRY(hn_simulation_energy(e->simulation, &energy));
        report->end.kinetic = energy.kinetic;
        hn_simulation_destroy(e->simulation);
        e->simulation = NULL;
    }
    return HN_OK;
}

int main(int argc, char **argv)
{
    peer_mechanism m;
    peer_task task;
    peer_report report = {0};
    char note[128] = "";
    if (!peer_read(argc, argv, &m, &task)) return 2;
    engine e = {.context = hn_context_create(NULL)};
    if (e.context == NULL) return 1;
    hn_status status = run(&e, &m, &task, &report, note, sizeof note);
    if (status == HN_OK) peer_print(&report, "Holonom", hn_version(), note);
    else fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(e.context));
    hn_simulation_destroy(e.simulation);
    hn_model_destroy(e.model);
    hn_context_destroy(e.context);
    return status == HN_OK ? 0 : 1;
}
