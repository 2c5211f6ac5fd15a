// SPDX-License-Identifier: MIT
// The system that all peers simulate, read from one text; how they are timed; one measure of energy and momentum.
//
// Lines of the text, world axes at the start, SI units; bodies have frames parallel to these axes then:
//
//   gravity gx gy gz
//   body PARENT hinge|ball|free  px py pz  ax ay az  cx cy cz  m  Ixx Iyy Izz Ixy Ixz Iyz  r1 ... r6
//   close A B hinge|ball  px py pz  ax ay az
//   beam ELEMENTS LENGTH M J EA GA EI    (alone, without bodies)
//
// PARENT, A, B: number of a body, -1 the ground; p: place of the joint; a: axis of a hinge; c: centre of mass; r: rate
// of a hinge, angular velocity against the parent of a ball, velocity of c and angular velocity of a free body. A beam
// is clamped at the origin and lies along x; mass, second moment of the section's mass and stiffnesses by length.
#ifndef PEERS_MECHANISM_H
#define PEERS_MECHANISM_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PEER_HINGE, PEER_BALL, PEER_FREE };
enum { PEER_CANNOT = 3 }; // code that a program ends with when its engine does not do a task; it says why

typedef struct peer_body {
    int parent, kind;
    double place[3], axis[3], centre[3], mass, inertia[6], rates[6];
} peer_body;

typedef struct peer_closure {
    int a, b, kind;
    double place[3], axis[3];
} peer_closure;

typedef struct peer_mechanism {
    double gravity[3];
    int body_count, closure_count;
    peer_body *bodies;
    peer_closure *closures;
    double beam[7]; // as in the text; beam[0] = 0: none
} peer_mechanism;

/// What the driver asks for: PROGRAM MECHANISM INTEGRATOR STEP END BUDGET REPEATS PLACES LOOKS
typedef struct peer_task {
    const char *integrator;
    double step;        // s, or the tolerance of integrators that choose their steps
    double end;         // s of simulated time
    double budget;      // s of processor time for one repeat; it stops early when that is used up
    int repeats;
    const char *places; // file for the centres of mass at the end of the first repeat, or "-"
    int looks;          // how often energy and joints are looked at in the first repeat, the last time at its end
} peer_task;

static inline int peer_kind(const char *word)
{
    return strcmp(word, "hinge") == 0 ? PEER_HINGE : strcmp(word, "ball") == 0 ? PEER_BALL : PEER_FREE;
}

static inline bool peer_numbers(const char **text, double *to, int count)
{
    for (int k = 0; k < count; ++k) {
        char *end;
        to[k] = strtod(*text, &end);
        if (end == *text) return false;
        *text = end;
    }
    return true;
}

static inline bool peer_read_body(const char *line, peer_body *b)
{
    char kind[16];
    int used = 0;
    if (sscanf(line, "body %d %15s%n", &b->parent, kind, &used) != 2) return false;
    b->kind = peer_kind(kind);
    const char *rest = line + used;
    return peer_numbers(&rest, b->place, 3) && peer_numbers(&rest, b->axis, 3) &&
           peer_numbers(&rest, b->centre, 3) && peer_numbers(&rest, &b->mass, 1) &&
           peer_numbers(&rest, b->inertia, 6) && peer_numbers(&rest, b->rates, 6);
}

static inline bool peer_read_closure(const char *line, peer_closure *c)
{
    char kind[16];
    int used = 0;
    if (sscanf(line, "close %d %d %15s%n", &c->a, &c->b, kind, &used) != 3) return false;
    c->kind = peer_kind(kind);
    const char *rest = line + used;
    return peer_numbers(&rest, c->place, 3) && peer_numbers(&rest, c->axis, 3);
}

static inline bool peer_read_line(const char *line, peer_mechanism *m)
{
    const char *rest = line + 7;
    if (strncmp(line, "gravity", 7) == 0) return peer_numbers(&rest, m->gravity, 3);
    const char *after_beam = line + 4;
    if (strncmp(line, "beam", 4) == 0) return peer_numbers(&after_beam, m->beam, 7);
    if (strncmp(line, "body", 4) == 0) {
        size_t size = (size_t)(m->body_count + 1) * sizeof *m->bodies;
        m->bodies = (peer_body *)realloc(m->bodies, size);
        return m->bodies != NULL && peer_read_body(line, &m->bodies[m->body_count++]);
    }
    size_t size = (size_t)(m->closure_count + 1) * sizeof *m->closures;
    m->closures = (peer_closure *)realloc(m->closures, size);
    return m->closures != NULL && peer_read_closure(line, &m->closures[m->closure_count++]);
}

static inline bool peer_read(int argc, char **argv, peer_mechanism *m, peer_task *task)
{
    memset(m, 0, sizeof *m);
    if (argc != 9) {
        fprintf(stderr, "usage: %s MECHANISM INTEGRATOR STEP END BUDGET REPEATS PLACES LOOKS\n", argv[0]);
        return false;
    }
    task->integrator = argv[2];
    task->step = atof(argv[3]);
    task->end = atof(argv[4]);
    task->budget = atof(argv[5]);
    task->repeats = atoi(argv[6]);
    task->places = argv[7];
    task->looks = atoi(argv[8]) > 0 ? atoi(argv[8]) : 1;
    FILE *file = fopen(argv[1], "r");
    char line[1024];
    bool good = file != NULL;
    while (good && fgets(line, sizeof line, file) != NULL) good = peer_read_line(line, m);
    if (file != NULL) fclose(file);
    if (!good) fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return good;
}

/// Processor time in seconds: other programs on the machine disturb it little.
static inline double peer_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Steps between two looks at the clock, which itself takes the time of a fraction of a small system's step.
static inline int peer_batch(const peer_mechanism *m)
{
    return m->body_count < 1 ? 1 : m->body_count < 256 ? 256 / m->body_count : 1;
}

/// A body as every engine can tell it: centre of mass, its velocity, rotation by rows, angular velocity; world axes.
typedef struct peer_motion {
    double centre[3], velocity[3], rotation[9], spin[3];
} peer_motion;

/// Kinetic and potential energy (zero at the origin), linear and angular momentum about the origin.
typedef struct peer_measures {
    double kinetic, potential, linear[3], angular[3];
} peer_measures;

static inline void peer_cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void peer_add_measures(const peer_mechanism *m, int body, const peer_motion *x, peer_measures *sum)
{
    const peer_body *b = &m->bodies[body];
    const double *i = b->inertia, *r = x->rotation;
    double local[3], moment[3], orbit[3], world[3];
    for (int k = 0; k < 3; ++k) local[k] = r[k] * x->spin[0] + r[3 + k] * x->spin[1] + r[6 + k] * x->spin[2];
    moment[0] = i[0] * local[0] + i[3] * local[1] + i[4] * local[2];
    moment[1] = i[3] * local[0] + i[1] * local[1] + i[5] * local[2];
    moment[2] = i[4] * local[0] + i[5] * local[1] + i[2] * local[2];
    peer_cross(x->centre, x->velocity, orbit);
    for (int k = 0; k < 3; ++k) {
        world[k] = r[3 * k] * moment[0] + r[3 * k + 1] * moment[1] + r[3 * k + 2] * moment[2];
        sum->kinetic += 0.5 * (b->mass * x->velocity[k] * x->velocity[k] + local[k] * moment[k]);
        sum->potential -= b->mass * m->gravity[k] * x->centre[k];
        sum->linear[k] += b->mass * x->velocity[k];
        sum->angular[k] += world[k] + b->mass * orbit[k];
    }
}

/// Whether all joints are hinges of one direction: one point then closes a loop.
static inline bool peer_planar(const peer_mechanism *m)
{
    const double *first = m->bodies[0].axis;
    for (int k = 0; k < m->body_count + m->closure_count; ++k) {
        const peer_closure *c = k < m->body_count ? NULL : &m->closures[k - m->body_count];
        int kind = k < m->body_count ? m->bodies[k].kind : c->kind;
        double across[3];
        if (kind != PEER_HINGE) return false;
        peer_cross(first, k < m->body_count ? m->bodies[k].axis : c->axis, across);
        if (fabs(across[0]) + fabs(across[1]) + fabs(across[2]) > 1e-12) return false;
    }
    return true;
}

/// Points that engines which know closed loops as points only hold together: of a hinge two of its axis, 1 m apart.
static inline int peer_points(const peer_mechanism *m, const peer_closure *c, double (*points)[3])
{
    int count = c->kind == PEER_HINGE && !peer_planar(m) ? 2 : 1;
    for (int side = 0; side < count; ++side)
        for (int k = 0; k < 3; ++k)
            points[side][k] = c->place[k] + (count == 2 ? (side == 0 ? -0.5 : 0.5) * c->axis[k] : 0.0);
    return count;
}

/// Degrees of freedom of a joint.
static inline int peer_freedoms(int kind)
{
    return kind == PEER_HINGE ? 1 : kind == PEER_BALL ? 3 : 6;
}

/// Motions at the start, for engines whose bodies know nothing of joints; joints' rates are against the parent.
static inline void peer_start(const peer_mechanism *m, peer_motion *motions)
{
    for (int k = 0; k < m->body_count; ++k) {
        const peer_body *b = &m->bodies[k];
        const peer_motion *above = b->parent < 0 ? NULL : &motions[b->parent];
        peer_motion *x = &motions[k];
        double arm[3], turned[3] = {0}, own[3];
        memset(x, 0, sizeof *x);
        for (int i = 0; i < 3; ++i) {
            x->rotation[4 * i] = 1.0, x->centre[i] = b->centre[i];
            own[i] = b->kind == PEER_HINGE ? b->axis[i] * b->rates[0] : b->rates[b->kind == PEER_BALL ? i : 3 + i];
            x->spin[i] = own[i] + (above ? above->spin[i] : 0.0);
            x->velocity[i] = b->kind == PEER_FREE ? b->rates[i] : 0.0;
            arm[i] = b->place[i] - (above ? above->centre[i] : 0.0);
        }
        if (b->kind == PEER_FREE) continue;
        if (above) peer_cross(above->spin, arm, turned);
        for (int i = 0; i < 3; ++i) x->velocity[i] = turned[i] + (above ? above->velocity[i] : 0.0);
        for (int i = 0; i < 3; ++i) arm[i] = b->centre[i] - b->place[i];
        peer_cross(x->spin, arm, turned);
        for (int i = 0; i < 3; ++i) x->velocity[i] += turned[i];
    }
}

/// What an engine's program offers: everything but time, measures and printing.
typedef void peer_motion_function(void *engine, int body, peer_motion *motion);
typedef struct peer_program {
    void *engine;
    void (*start)(void *engine);                            // everything as at time zero
    long (*advance)(void *engine, long steps, double time); // by steps; if `adaptive` to that time: the steps it took
    peer_motion_function *tell;                             // bodies are asked in order, from 0
    void (*energy)(void *engine, peer_measures *measures);  // what the engine knows better than by what it tells; NULL
    bool adaptive;
} peer_program;

/// Collects the repeats of one task.
typedef struct peer_report {
    double seconds_per_step, seconds; // least over the repeats
    long steps;
    double time;       // s, simulated
    double change, scale; // J, worst of the looks: |E - E0|, and the largest T + |V - V0|
    double gap;           // m, worst of the looks: joints
    peer_measures start, end;
} peer_report;

static inline void peer_place(const peer_mechanism *m, const peer_motion *motions, int body, const double *at,
                              double *now)
{
    for (int k = 0; k < 3; ++k) now[k] = at[k];
    if (body < 0) return;
    const double *c = m->bodies[body].centre, *r = motions[body].rotation;
    for (int k = 0; k < 3; ++k)
        now[k] = motions[body].centre[k] + r[3 * k] * (at[0] - c[0]) + r[3 * k + 1] * (at[1] - c[1]) +
                 r[3 * k + 2] * (at[2] - c[2]);
}

/// Distance of the two sides of a joint, in metres; of a hinge at two points of its axis.
static inline double peer_gap_of(const peer_mechanism *m, const peer_motion *motions, int a, int b, int kind,
                                 const double *place, const double *axis)
{
    double worst = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        double point[3], on_a[3], on_b[3], sum = 0.0;
        for (int k = 0; k < 3; ++k) point[k] = place[k] + (kind == PEER_HINGE ? 0.5 * side * axis[k] : 0.0);
        peer_place(m, motions, a, point, on_a);
        peer_place(m, motions, b, point, on_b);
        for (int k = 0; k < 3; ++k) sum += (on_a[k] - on_b[k]) * (on_a[k] - on_b[k]);
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

static inline double peer_gap(const peer_mechanism *m, const peer_motion *motions)
{
    double worst = 0.0;
    for (int k = 0; k < m->body_count; ++k) {
        const peer_body *b = &m->bodies[k];
        if (b->kind == PEER_FREE) continue;
        worst = fmax(worst, peer_gap_of(m, motions, b->parent, k, b->kind, b->place, b->axis));
    }
    for (int k = 0; k < m->closure_count; ++k) {
        const peer_closure *c = &m->closures[k];
        worst = fmax(worst, peer_gap_of(m, motions, c->a, c->b, c->kind, c->place, c->axis));
    }
    return worst;
}

/// Energies, momenta and joints now; `places`: the file for centres of mass, or NULL.
static inline peer_measures peer_measure(const peer_mechanism *m, const peer_program *p, const char *places,
                                         double *gap)
{
    peer_measures sum;
    memset(&sum, 0, sizeof sum);
    peer_motion *motions = (peer_motion *)calloc((size_t)m->body_count, sizeof *motions);
    FILE *file = places != NULL && strcmp(places, "-") != 0 ? fopen(places, "w") : NULL;
    if (motions == NULL) exit(1);
    for (int k = 0; k < m->body_count; ++k) {
        const double *c = motions[k].centre;
        p->tell(p->engine, k, &motions[k]);
        peer_add_measures(m, k, &motions[k], &sum);
        if (file != NULL) fprintf(file, "%.17g %.17g %.17g\n", c[0], c[1], c[2]);
    }
    if (file != NULL) fclose(file);
    *gap = peer_gap(m, motions);
    free(motions);
    if (p->energy != NULL) p->energy(p->engine, &sum);
    return sum;
}

static inline void peer_look(const peer_mechanism *m, const peer_program *p, const char *places, peer_report *report)
{
    double gap;
    report->end = peer_measure(m, p, places, &gap);
    const peer_measures *a = &report->start, *b = &report->end;
    double change = fabs(b->kinetic + b->potential - a->kinetic - a->potential);
    report->scale = fmax(report->scale, b->kinetic + fabs(b->potential - a->potential));
    if (!(change <= report->change)) report->change = change; // also when it is no number
    if (!(gap <= report->gap)) report->gap = gap;
}

/// One repeat up to each look in turn: processor seconds of the steps.
static inline double peer_repeat(const peer_mechanism *m, const peer_task *task, const peer_program *p, int repeat,
                                 peer_report *report)
{
    long total = p->adaptive ? 0 : lround(task->end / task->step), steps = 0;
    int looks = repeat == 0 ? task->looks : 1;
    double seconds = 0.0;
    for (int look = 1; look <= looks && seconds < task->budget; ++look) {
        const double spent = seconds, begin = peer_clock(), time = task->end * look / looks;
        long until = total * look / looks;
        if (p->adaptive) steps += p->advance(p->engine, 0, time);
        while (steps < until && seconds < task->budget) {
            long batch = peer_batch(m) < until - steps ? peer_batch(m) : until - steps;
            steps += p->advance(p->engine, batch, time);
            seconds = spent + peer_clock() - begin;
        }
        seconds = spent + peer_clock() - begin;
        bool last = look == looks || seconds >= task->budget;
        if (repeat == 0) peer_look(m, p, last ? task->places : NULL, report);
        report->time = p->adaptive ? time : (double)steps * task->step;
    }
    report->steps = steps;
    return seconds;
}

static inline void peer_drive(const peer_mechanism *m, const peer_task *task, const peer_program *p,
                              peer_report *report)
{
    double gap;
    for (int repeat = 0; repeat < task->repeats; ++repeat) {
        p->start(p->engine);
        if (repeat == 0) report->start = peer_measure(m, p, NULL, &gap);
        double seconds = peer_repeat(m, task, p, repeat, report);
        if (repeat > 0 && seconds >= report->seconds) continue;
        report->seconds = seconds;
        report->seconds_per_step = seconds / (double)(report->steps > 0 ? report->steps : 1);
    }
}

/// One line for the driver, as JSON.
static inline void peer_print(const peer_report *r, const char *engine, const char *version, const char *note)
{
    printf("{\"engine\": \"%s\", \"version\": \"%s\", \"steps\": %ld, \"seconds_per_step\": %.9e, \"seconds\": %.9e, "
           "\"time\": %.9g, \"drift\": %.3e, \"gap\": %.3e, \"note\": \"%s\"",
           engine, version, r->steps, r->seconds_per_step, r->seconds, r->time,
           r->scale > 0.0 ? r->change / r->scale : 0.0, r->gap, note);
    const peer_measures *at[2] = {&r->start, &r->end};
    for (int k = 0; k < 2; ++k)
        printf(", \"%s\": [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", k == 0 ? "start" : "end",
               at[k]->kinetic, at[k]->potential, at[k]->linear[0], at[k]->linear[1], at[k]->linear[2],
               at[k]->angular[0], at[k]->angular[1], at[k]->angular[2]);
    printf("}\n");
}

#endif
