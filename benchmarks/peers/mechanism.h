// SPDX-License-Identifier: MIT
// The system that all peers simulate, read from one text; how they are timed; one measure of energy and momentum.
//
// Lines of the text, world axes at the start, SI units; bodies have frames parallel to these axes then:
//
//   gravity gx gy gz
//   body PARENT hinge|ball|free  px py pz  ax ay az  cx cy cz  m  Ixx Iyy Izz Ixy Ixz Iyz  r1 ... r6
//   close A B hinge|ball  px py pz  ax ay az
//
// PARENT, A, B: number of a body, -1 the ground; p: place of the joint; a: axis of a hinge; c: centre of mass; r: rate
// of a hinge, angular velocity against the parent of a ball, velocity of c and angular velocity of a free body.
#ifndef PEERS_MECHANISM_H
#define PEERS_MECHANISM_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PEER_HINGE, PEER_BALL, PEER_FREE };

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
} peer_mechanism;

/// What the driver asks for: PROGRAM MECHANISM INTEGRATOR STEP END BUDGET REPEATS PLACES
typedef struct peer_task {
    const char *integrator;
    double step;        // s, or the tolerance of integrators that choose their steps
    double end;         // s of simulated time
    double budget;      // s of processor time for one repeat; it stops early when that is used up
    int repeats;
    const char *places; // file for the centres of mass at the end of the first repeat, or "-"
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
    if (argc != 8) {
        fprintf(stderr, "usage: %s MECHANISM INTEGRATOR STEP END BUDGET REPEATS PLACES\n", argv[0]);
        return false;
    }
    task->integrator = argv[2];
    task->step = atof(argv[3]);
    task->end = atof(argv[4]);
    task->budget = atof(argv[5]);
    task->repeats = atoi(argv[6]);
    task->places = argv[7];
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
    return m->body_count < 256 ? 256 / m->body_count : 1;
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

/// Collects the repeats of one task and prints its line.
typedef struct peer_report {
    double seconds_per_step, seconds; // least over the repeats
    long steps;
    double time; // s, simulated
    peer_measures start, end;
} peer_report;

static inline void peer_note(peer_report *report, int repeat, double seconds, long steps, double time)
{
    if (repeat == 0 || seconds < report->seconds) {
        report->seconds = seconds;
        report->seconds_per_step = seconds / (double)(steps > 0 ? steps : 1);
    }
    report->steps = steps;
    report->time = time;
}

/// What is told of all bodies at one time; `places`: the file for centres of mass, or NULL.
typedef void peer_motion_function(void *engine, int body, peer_motion *motion);
static inline peer_measures peer_measure(const peer_mechanism *m, peer_motion_function *tell, void *engine,
                                         const char *places)
{
    peer_measures sum;
    memset(&sum, 0, sizeof sum);
    FILE *file = places != NULL && strcmp(places, "-") != 0 ? fopen(places, "w") : NULL;
    for (int k = 0; k < m->body_count; ++k) {
        peer_motion x;
        tell(engine, k, &x);
        peer_add_measures(m, k, &x, &sum);
        if (file != NULL) fprintf(file, "%.17g %.17g %.17g\n", x.centre[0], x.centre[1], x.centre[2]);
    }
    if (file != NULL) fclose(file);
    return sum;
}

/// One line for the driver, as JSON.
static inline void peer_print(const peer_report *r, const char *engine, const char *version, const char *note)
{
    printf("{\"engine\": \"%s\", \"version\": \"%s\", \"steps\": %ld, \"seconds_per_step\": %.9e, \"seconds\": %.9e, "
           "\"time\": %.9g, \"note\": \"%s\"",
           engine, version, r->steps, r->seconds_per_step, r->seconds, r->time, note);
    const peer_measures *at[2] = {&r->start, &r->end};
    for (int k = 0; k < 2; ++k)
        printf(", \"%s\": [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", k == 0 ? "start" : "end",
               at[k]->kinetic, at[k]->potential, at[k]->linear[0], at[k]->linear[1], at[k]->linear[2],
               at[k]->angular[0], at[k]->angular[1], at[k]->angular[2]);
    printf("}\n");
}

#endif
