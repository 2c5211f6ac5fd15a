// SPDX-License-Identifier: MIT
// The chain all peers simulate, how they are timed, and one measure of place and energy for all of them.
//
// N boxes of 1 m by 0.1 m by 0.1 m and 1 kg, hinged end to end with axes along y, the first on the ground at (0, 0, 0);
// gravity along -z. The chain starts level along x, at rest, with all angles zero. A positive angle turns about +y, so
// that the chain falls with positive angles.
#ifndef PEERS_CHAIN_H
#define PEERS_CHAIN_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double CHAIN_LENGTH = 1.0;                         // m, of a box
static const double CHAIN_SECTION = 0.1;                        // m
static const double CHAIN_MASS = 1.0;                           // kg
static const double CHAIN_INERTIA_AXIAL = 0.02 / 12.0;          // kg m^2, about x
static const double CHAIN_INERTIA_ACROSS = (1.0 + 0.01) / 12.0; // kg m^2, about y and z
static const double CHAIN_GRAVITY = 9.81;                       // m/s^2

/// What the driver asks for.
typedef struct chain_task {
    const char *integrator;
    int count;     // boxes
    double step;   // s
    double end;    // s of simulated time
    double budget; // s of processor time for one repeat; it stops early when that is used up
    int repeats;
    const char
        *positions; // file for the centres of mass at the end of the first repeat, or "-" for none
} chain_task;

/// PROGRAM INTEGRATOR N STEP END BUDGET REPEATS POSITIONS
static inline bool chain_read_task(int argc, char **argv, chain_task *task)
{
    if (argc != 8) {
        fprintf(stderr, "usage: %s INTEGRATOR N STEP END BUDGET REPEATS POSITIONS\n", argv[0]);
        return false;
    }
    task->integrator = argv[1];
    task->count = atoi(argv[2]);
    task->step = atof(argv[3]);
    task->end = atof(argv[4]);
    task->budget = atof(argv[5]);
    task->repeats = atoi(argv[6]);
    task->positions = argv[7];
    return task->count > 0 && task->step > 0.0 && task->repeats > 0;
}

/// Processor time in seconds: other programs on the machine disturb it little.
static inline double chain_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Steps between two looks at the clock, which itself takes the time of a fraction of a short chain's step.
static inline int chain_batch(int count)
{
    return count < 256 ? 256 / count : 1;
}

typedef struct chain_energy {
    double kinetic, potential; // J; the potential is zero at the start
} chain_energy;

/// Energy from hinge angles and rates (NULL: at rest), and centres of mass (x, z in turn) if `centres` is not NULL.
static inline chain_energy chain_measure(int count, const double *angles, const double *rates,
                                         double *centres)
{
    chain_energy e = {0.0, 0.0};
    double x = 0.0, z = 0.0, vx = 0.0, vz = 0.0, angle = 0.0, rate = 0.0;
    for (int k = 0; k < count; ++k) {
        angle += angles[k];
        rate += rates == NULL ? 0.0 : rates[k];
        double half_x = 0.5 * CHAIN_LENGTH * cos(angle), half_z = -0.5 * CHAIN_LENGTH * sin(angle);
        double half_vx = half_z * rate, half_vz = -half_x * rate; // omega e_y cross r
        double cvx = vx + half_vx, cvz = vz + half_vz;
        e.kinetic +=
            0.5 * CHAIN_MASS * (cvx * cvx + cvz * cvz) + 0.5 * CHAIN_INERTIA_ACROSS * rate * rate;
        e.potential += CHAIN_MASS * CHAIN_GRAVITY * (z + half_z);
        if (centres != NULL) {
            centres[2 * k] = x + half_x;
            centres[2 * k + 1] = z + half_z;
        }
        x += 2.0 * half_x;
        z += 2.0 * half_z;
        vx += 2.0 * half_vx;
        vz += 2.0 * half_vz;
    }
    return e;
}

/// Collects the repeats of one task and prints its line.
typedef struct chain_report {
    double seconds_per_step; // least over the repeats
    long steps;
    double time;  // s, simulated
    double drift; // (E - E0) / (T + |V - V0|) at the end; E0 = 0
} chain_report;

static inline void chain_report_add(chain_report *report, const chain_task *task, int repeat,
                                    double seconds, long steps, double time, const double *angles,
                                    chain_energy e)
{
    double *centres = (double *)malloc(2 * (size_t)task->count * sizeof(double));
    if (centres == NULL) exit(1);
    chain_measure(task->count, angles, NULL, centres);
    double each = seconds / (double)steps;
    if (repeat == 0 || each < report->seconds_per_step) report->seconds_per_step = each;
    report->steps = steps;
    report->time = time;
    report->drift = (e.kinetic + e.potential) / (e.kinetic + fabs(e.potential));
    FILE *file =
        repeat == 0 && strcmp(task->positions, "-") != 0 ? fopen(task->positions, "w") : NULL;
    for (int k = 0; file != NULL && k < task->count; ++k)
        fprintf(file, "%.17g %.17g\n", centres[2 * k], centres[2 * k + 1]);
    if (file != NULL) fclose(file);
    free(centres);
}

/// One line for the driver: engine, version, integrator, boxes, steps, seconds per step, time, drift, note.
static inline void chain_report_print(const chain_report *report, const chain_task *task,
                                      const char *engine, const char *version, const char *note)
{
    printf("%s,%s,%s,%d,%ld,%.9e,%.6f,%.3e,%s\n", engine, version, task->integrator, task->count,
           report->steps, report->seconds_per_step, report->time, report->drift, note);
}

#endif
