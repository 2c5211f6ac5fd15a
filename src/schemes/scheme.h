// SPDX-License-Identifier: MIT
// A scheme states the discrete equations of a step over a system; it sees neither bodies' joints nor how they are solved.
#ifndef SCHEMES_SCHEME_H
#define SCHEMES_SCHEME_H

#include "system/step.h"

/// State carried from step to step: twelve numbers per body each.
typedef struct scheme_state {
    double *q;       ///< q_n
    double *impetus; ///< what the scheme keeps beside q: v_n (`energy-momentum`), D2 L_d + F_d^+ (`variational`)
    bool first;      ///< no step has been made
} scheme_state;

/// A scheme: one file each.
typedef struct scheme_type {
    const char *name;
    bool may_halve;   ///< keeps its promises under a varying step
    bool look_ahead;  ///< momenta at t_n need the step to t_n+1
    bool energy_kept; ///< energy is a promise
    /// impetus at the start from q and velocities v.
    void (*start)(const hn_system *system, const double *v, scheme_state *state);
    /// The equations of the step from t_n; `momentum` (b) is filled.
    void (*equations)(const hn_system *system, const scheme_state *state, double step_size, double time,
                      double *momentum, step_equations *equations);
    /// Impetus at t_n+1 from the solved step; returns the work of loads and dampers in the step.
    double (*finish)(const hn_system *system, const step_equations *equations, const step_data *step,
                     const double *impetus, double *next_impetus);
    /// Momenta p_n at t_n; `ahead` is the solved step from t_n, or NULL where look_ahead is false.
    void (*momenta)(const hn_system *system, const scheme_state *state, const step_equations *ahead_equations,
                    const step_data *ahead, double *p);
} scheme_type;

const scheme_type *scheme_type_of(hn_scheme scheme);
extern const scheme_type scheme_energy_momentum;
extern const scheme_type scheme_variational;

/// Work of loads and dampers F . Delta with the loads taken at the given weight.
double scheme_load_work(const hn_system *system, const step_equations *equations, const step_data *step, double weight);

/// M x, twelve numbers per body.
void scheme_apply_mass(const hn_system *system, double factor, const double *x, double *y);

#endif
