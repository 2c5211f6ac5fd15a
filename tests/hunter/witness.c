// SPDX-License-Identifier: MIT
// Makes runs of a plan and writes down what they show.
#include "hunter/witness.h"

#include "base/context.h"
#include "base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 };
const char *const QUANTITY_NAMES[QUANTITIES] = {"place", "turn",  "velocity", "spin",
                                                "angle", "way",   "torque",   "force",
                                                "work",  "react", "kinetic"};

static hn_context *running; // for the handler alone

void witness_cancel(void)
{
    if (running != NULL) hn_context_cancel(running);
}

static void count_line(const char *line, void *user)
{
    (void)line;
    ++*(int *)user;
}

// ---- what is measured -----------------------------------------------------------------------------------------

typedef struct reader {
    const plan *p; // before the transformation
    const transformation *t;
    const plan_ids *ids;
    const hn_model *model;
    const hn_simulation *s;
    witness *w;
    int capacity;
} reader;

static void put(reader *r, quantity q, int mechanism, double value)
{
    witness *w = r->w;
    if (w->count == r->capacity) {
        r->capacity = 2 * r->capacity + 256;
        w->values = realloc(w->values, (size_t)r->capacity * sizeof(double));
        w->quantities = realloc(w->quantities, (size_t)r->capacity);
        w->mechanisms = realloc(w->mechanisms, (size_t)r->capacity);
        if (w->values == NULL || w->quantities == NULL || w->mechanisms == NULL) abort();
    }
    w->values[w->count] = value;
    w->quantities[w->count] = (unsigned char)q;
    w->mechanisms[w->count++] = (unsigned char)mechanism;
}

static void put_vector(reader *r, quantity q, int mechanism, hn_vec3 v)
{
    put(r, q, mechanism, v.x);
    put(r, q, mechanism, v.y);
    put(r, q, mechanism, v.z);
}

static void read_body(reader *r, const plan_body *b, hn_body_id id)
{
    const transformation *t = r->t;
    hn_body_state x;
    if (hn_simulation_body_state(r->s, id, &x) != HN_OK) abort();
    double speed = t->time / t->length;
    put_vector(r, Q_PLACE, b->mechanism, back_place(t, x.position));
    put_vector(r, Q_VELOCITY, b->mechanism, vec3_scale(speed, back_polar(t, x.velocity)));
    if (!b->beam && b->def.kind != HN_BODY_RIGID) return;
    hn_mat3 turn = back_orientation(t, b->beam, &x.orientation);
    for (int k = 0; k < 3; ++k) put_vector(r, Q_TURN, b->mechanism, mat3_column(&turn, k));
    put_vector(r, Q_SPIN, b->mechanism, vec3_scale(t->time, back_axial(t, x.angular_velocity)));
}

static void read_bodies(reader *r)
{
    for (int i = 0; i < r->p->body_count; ++i) {
        const plan_body *b = &r->p->bodies[i];
        if (!b->beam) read_body(r, b, r->ids->bodies[i]);
        for (int k = 0; b->beam && k < plan_node_count(b); ++k)
            read_body(r, b, hn_model_beam_node(r->model, r->ids->beams[i], k));
    }
}

static void read_drives(reader *r)
{
    for (int k = 0; k < r->p->drive_count; ++k) {
        const plan_drive *x = &r->p->drives[k];
        hn_joint_kind kind = r->p->joints[x->joint].def.kind;
        int mechanism = plan_joint_mechanism(r->p, x->joint);
        bool angle = plan_is_angle(kind, x->def.coordinate);
        double sign = coordinate_sign(r->t, kind, x->def.coordinate);
        hn_drive_state state;
        if (hn_simulation_drive(r->s, r->ids->drives[k], &state) != HN_OK) abort();
        double place = state.coordinate * sign;
        if (!angle) place /= r->t->length;
        put(r, angle ? Q_ANGLE : Q_WAY, mechanism, place);
        put(r, angle ? Q_TORQUE : Q_FORCE, mechanism,
            state.effort * sign / (angle ? energy_unit(r->t) : force_unit(r->t)));
        put(r, Q_WORK, mechanism, state.work / energy_unit(r->t));
    }
}

static void read_joints(reader *r, const plan *said)
{
    for (int i = 0; i < r->p->joint_count; ++i) {
        hn_joint_state state;
        if (hn_simulation_joint_state(r->s, r->ids->joints[i], &state) != HN_OK) abort();
        bool known = state.reaction_valid && state.reaction_unique;
        double scale = (said->joints[i].swapped ? -1.0 : 1.0) / force_unit(r->t);
        hn_vec3 force =
            vec3_scale(known ? scale : (double)NAN, back_polar(r->t, state.reaction_force));
        put_vector(r, Q_REACTION, plan_joint_mechanism(r->p, i), force);
    }
}

static void read_all(reader *r, const plan *said)
{
    hn_energy energy;
    read_bodies(r);
    read_drives(r);
    read_joints(r, said);
    double kinetic = hn_simulation_energy(r->s, &energy) == HN_OK ? energy.kinetic : (double)NAN;
    put(r, Q_KINETIC, 0, kinetic / energy_unit(r->t));
}

// ---- a run --------------------------------------------------------------------------------------------------------

static hn_status create(const hn_model *model, const witness_run *r, double time, hn_simulation **s)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = r->scheme;
    def.reduction = r->reduction;
    def.step_size = r->step * time / r->parts;
    return hn_simulation_create(model, &def, s);
}

// Another simulation that goes on where this one is.
static hn_status resume(const hn_model *model, const witness_run *r, double time, hn_simulation **s)
{
    size_t size = hn_simulation_snapshot_size(*s);
    void *snapshot = malloc(size);
    hn_simulation *next = NULL;
    if (snapshot == NULL) abort();
    hn_status status = hn_simulation_save(*s, snapshot, size);
    if (status == HN_OK) status = create(model, r, time, &next);
    if (status == HN_OK) status = hn_simulation_restore(next, snapshot, size);
    free(snapshot);
    hn_simulation_destroy(*s);
    *s = next;
    return status;
}

static hn_status advance(reader *x, const witness_run *r, int64_t steps)
{
    hn_simulation *s = (hn_simulation *)x->s;
    if (!r->looked) return hn_simulation_step(s, steps * r->parts);
    for (int64_t k = 0; k < steps; ++k) {
        witness scrap = {0};
        reader look = *x;
        look.w = &scrap, look.capacity = 0;
        TRY(hn_simulation_step(s, 1));
        read_all(&look, x->p);
        witness_free(&scrap);
        hn_ledger ledger;
        TRY(hn_simulation_ledger(s, &ledger));
    }
    return HN_OK;
}

static void read_verdicts(const hn_model *model, const hn_simulation *s, witness *w)
{
    hn_ledger ledger;
    if (hn_simulation_ledger(s, &ledger) != HN_OK) return;
    for (int k = 0; k < HN_PROMISE_COUNT; ++k) {
        const hn_ledger_entry *e = &ledger.entry[k];
        if (e->kept) continue;
        w->not_kept = true;
        snprintf(w->promise, sizeof w->promise, "%s %.2g, bound %.2g",
                 hn_promise_name((hn_promise)k), e->error, e->bound);
    }
    w->ambiguous = ledger.accuracy.ambiguous_step_count > 0;
    w->halved = hn_simulation_statistics(s).halved_step_count;
    w->relative = ledger.accuracy.relative.value;
    w->sum = ledger.accuracy.relative_sum;
    w->cautions = hn_simulation_caution(s, model, 0, w->message, sizeof w->message);
}

void witness_make(const plan *p, const transformation *t, const witness_run *r, witness *w)
{
    static plan said;
    plan_ids ids;
    hn_model *model = NULL;
    hn_simulation *s = NULL;
    *w = (witness){0};
    plan_transform(p, t, &said);
    hn_context *context = running = hn_context_create(NULL);
    if (context == NULL) abort();
    hn_context_set_log(context, count_line, &w->warnings);
    alarm(SECONDS_MAX);
    w->status = plan_build(&said, context, &model, &ids);
    if (w->status == HN_OK) w->status = create(model, r, t->time, &s);
    w->created = w->status == HN_OK;
    reader x = {.p = p, .t = t, .ids = &ids, .model = model, .s = s, .w = w};
    for (int k = 0; k < WITNESS_SAMPLES && w->status == HN_OK; ++k) {
        w->status = advance(&x, r, r->steps / WITNESS_SAMPLES);
        if (w->status == HN_OK) read_all(&x, &said);
        if (r->resumed && k == WITNESS_SAMPLES / 2 && w->status == HN_OK) {
            w->status = resume(model, r, t->time, &s);
            x.s = s;
        }
    }
    alarm(0);
    if (s != NULL) read_verdicts(model, s, w), w->done = hn_simulation_step_count(s);
    if (w->status != HN_OK)
        snprintf(w->message, sizeof w->message, "%s", hn_context_message(context));
    hn_simulation_destroy(s);
    hn_model_destroy(model);
    running = NULL;
    hn_context_destroy(context);
}

bool witness_reverse(const plan *p, const witness_run *r, witness *start, witness *back)
{
    plan_ids ids;
    hn_model *model = NULL;
    hn_simulation *s = NULL;
    transformation same = no_transformation();
    *start = *back = (witness){0};
    hn_context *context = running = hn_context_create(NULL);
    if (context == NULL) abort();
    alarm(SECONDS_MAX);
    hn_status status = plan_build(p, context, &model, &ids);
    if (status == HN_OK) status = create(model, r, 1.0, &s);
    reader x = {.p = p, .t = &same, .ids = &ids, .model = model, .s = s, .w = start};
    if (status == HN_OK) read_bodies(&x);
    if (status == HN_OK) status = hn_simulation_step(s, r->steps);
    if (status == HN_OK) read_verdicts(model, s, start);
    start->status = status;
    if (status == HN_OK) status = hn_simulation_reverse(s);
    back->created = status == HN_OK;
    if (status == HN_OK) status = hn_simulation_step(s, r->steps);
    alarm(0);
    x.w = back, x.capacity = 0;
    if (status == HN_OK) read_bodies(&x), read_verdicts(model, s, back);
    back->status = status;
    if (status != HN_OK)
        snprintf(back->message, sizeof back->message, "%s", hn_context_message(context));
    hn_simulation_destroy(s);
    hn_model_destroy(model);
    running = NULL;
    hn_context_destroy(context);
    // velocities have turned round
    for (int k = 0; k < back->count; ++k)
        if (back->quantities[k] == Q_VELOCITY || back->quantities[k] == Q_SPIN)
            back->values[k] = -back->values[k];
    return status == HN_OK;
}

void witness_free(witness *w)
{
    free(w->values);
    free(w->quantities);
    free(w->mechanisms);
    w->values = NULL;
    w->quantities = w->mechanisms = NULL;
}
