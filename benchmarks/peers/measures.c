// SPDX-License-Identifier: MIT
// The measures of mechanism.h for peers that are written in Python.
#define _POSIX_C_SOURCE 200809L

#include "mechanism.h"

static void tell(void *motions, int body, peer_motion *x)
{
    *x = ((const peer_motion *)motions)[body];
}

/// Kinetic and potential energy, linear and angular momentum, gap of the joints; 18 numbers of each body as in
/// peer_motion, those of the start if `motions` is NULL, which then are written to `start`. False: cannot be read.
bool peer_measures_of(const char *path, double *motions, double *start, double *measures,
                      const char *places)
{
    static peer_mechanism m;
    static char known[1024];
    char *arguments[] = {"measures", (char *)path, "-", "0", "0", "0", "0", "-", "1"};
    peer_task task;
    if (strcmp(known, path) != 0 && !peer_read(9, arguments, &m, &task)) return false;
    snprintf(known, sizeof known, "%s", path);
    if (motions == NULL) peer_start(&m, (peer_motion *)start);
    peer_program program = {.engine = motions == NULL ? start : motions, .tell = tell};
    peer_measures sum = peer_measure(&m, &program, places, &measures[8]);
    memcpy(measures, &sum, sizeof sum);
    return true;
}
