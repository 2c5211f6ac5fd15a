// SPDX-License-Identifier: MIT
// Equilibria: where a model stays at rest under its loads.
#ifndef HOLONOM_STATICS_H
#define HOLONOM_STATICS_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An equilibrium as it is reached: gravity, forces and torques act with `load_factor` of their size, springs and
/// beams wholly.
typedef struct hn_equilibrium {
    double load_factor;         ///< 0 to 1
    int load_step;              ///< 0: unloaded, up to load_steps
    int iteration_count;        ///< Newton iterations of this load step, with those of attempts that failed
    int64_t iteration_total;    ///< of all so far
    int cut_count;              ///< load steps that had to be cut, so far
    bool relaxed;               ///< found by relaxation: a motion without inertia to a place where forces balance,
                                ///< which may be far from the last one
    double residual;            ///< largest unbalanced force of a body, relative to the largest force in the model
    int unstable_count;         ///< motions that the joints allow and in which the energy has a maximum: negative
                                ///< eigenvalues of the stiffness, 0: stable. Of loads without a potential: of its
                                ///< symmetric part, which does not tell whether it is stable (hn_simulation_modes)
    int neutral_count;          ///< motions without stiffness, for instance of what nothing holds
    int unclear_count;          ///< of these: something holds them, but what adds up to their stiffness cancels: it
                                ///< cannot be told from zero
    double unclear_frequency;   ///< Hz: so much round-off could make or hide in these
    bool conservative;          ///< all loads have a potential: false for loads that follow a body and most torques
    double beam_angle;          ///< rad, largest angle between neighbouring nodes of a beam beyond its reference shape,
    int beam, beam_element;     ///< of this element; -1: no beams
} hn_equilibrium;

/// How to look for an equilibrium.
typedef struct hn_static_def {
    size_t size; ///< bytes of this struct: set by hn_static_def_default
    int load_steps;        ///< from no load to all of it; cut where Newton's method needs it. At least 1
    bool at_time;          ///< loads have their size at `time`; false: as they are written, without their profile
    double time;           ///< s
    bool relax;            ///< where Newton's method finds no way on (a limit point), relax to an equilibrium
                           ///< elsewhere. A mechanism that only loads hold is relaxed in any case
    int cuts_max;          ///< a load step may be halved this often
    int iterations_max;    ///< of Newton's method
    double tolerance;      ///< of the last increment: rad, or m over the size of the body
    bool as_steps;         ///< load steps count as steps: with a step size of 1/load_steps the time is the load factor.
                           ///< false: the simulation starts at the equilibrium, at rest, with its loads as ever
    /// Called at every load step, the unloaded one included, or NULL. Another status than HN_OK ends the search.
    hn_status (*on_step)(hn_simulation *simulation, const hn_equilibrium *equilibrium, void *user);
    void *user;
} hn_static_def;
/// 10 load steps, full loads, 10 halvings, 30 iterations, 1e-8.
HN_API void hn_static_def_init(hn_static_def *def, size_t size);
static inline hn_static_def hn_static_def_default(void)
{
    hn_static_def def;
    hn_static_def_init(&def, sizeof def);
    return def;
}

/// Find an equilibrium from the current configuration, in steps of the load, and make it the state of the simulation,
/// at rest. Dampers do not act. The last equilibrium goes to `equilibrium` (or NULL), also on failure.
/// @return HN_OK, HN_NOT_CONVERGED (no way on: a limit point, or nothing holds a body; the message names it and the
/// load factor), HN_SINGULAR_SYSTEM, HN_CANCELLED, HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY, or what `on_step` said. The
/// state is then the last equilibrium with `as_steps`, otherwise that from before
HN_API HN_NODISCARD hn_status hn_simulation_find_equilibrium(hn_simulation *simulation, const hn_static_def *def,
                                                             hn_equilibrium *equilibrium);

// ---- modes ----------------------------------------------------------------------------------------

/// Small free motions about a configuration at rest: q + x exp(s t) with s^2 M x + K x = 0 for all motions that the
/// joints allow. K has what prestress and constraint forces add. Dampers and velocities play no part.
typedef struct hn_mode {
    double frequency;   ///< Hz; 0: it does not swing
    double growth_rate; ///< 1/s, above 0: it grows by itself, unstable
    double eigenvalue;  ///< 1/s^2, -s^2, of complex ones the real part
    bool rigid;         ///< a motion without stiffness, as far as round-off tells: 0 Hz
    bool held;          ///< such a one of which something holds: what adds up to its stiffness cancels
    double round_off;   ///< Hz: a frequency or a growth below this would not be told from zero in a soft one; 0 of
                        ///< others, which are far from zero
    hn_body_id body;    ///< that moves most: at its own size for rotations
} hn_mode;

typedef struct hn_modes_def {
    size_t size; ///< bytes of this struct: set by hn_modes_def_default
    int count;             ///< modes wanted, from the lowest on. At least 1
    bool at_start;         ///< at the current configuration, also where forces do not balance; false: at the
                           ///< equilibrium found from there, where the simulation is afterwards
    hn_static_def statics; ///< how to find it, and the loads in either case
} hn_modes_def;
/// 10 modes at the equilibrium, found as by hn_static_def_default.
HN_API void hn_modes_def_init(hn_modes_def *def, size_t size);
static inline hn_modes_def hn_modes_def_default(void)
{
    hn_modes_def def;
    hn_modes_def_init(&def, sizeof def);
    return def;
}

/// What was found beside the modes.
typedef struct hn_modes_report {
    int count;                  ///< of modes found: fewer than wanted when the model has no more, 0 when joints and
                                ///< drives hold it everywhere
    hn_equilibrium equilibrium; ///< of the configuration: residual, unstable and rigid (neutral) motions of all modes;
                                ///< of loads without a potential: unstable among those found
    double error;               ///< largest residual of an eigenpair, relative
} hn_modes_report;

/// Find modes, those of standing still: a prescribed motion that moves and a body that turns are named in a warning
/// (log); for those in motion see hn_simulation_linearise. `modes` has room for def->count of them; `shapes` (or NULL)
/// for def->count times 6 numbers per body in model order: displacement of the centre of mass (m) and rotation vector
/// (rad, world axes), scaled so that x^T M x = 1 kg m^2.
/// @return HN_OK, HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM, HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY, HN_CANCELLED, and what
/// hn_simulation_find_equilibrium says
HN_API HN_NODISCARD hn_status hn_simulation_modes(hn_simulation *simulation, const hn_modes_def *def, hn_mode *modes,
                                                  double *shapes, hn_modes_report *report);

/// Put the bodies where `amount` times a shape takes them from the start configuration, for pictures: joints of the
/// tree stay closed, loops to first order. The step count becomes `step`.
/// @return HN_OK or HN_INVALID_ARGUMENT (NULL, not finite)
HN_API HN_NODISCARD hn_status hn_simulation_show_shape(hn_simulation *simulation, const double *shape, double amount,
                                                       int64_t step);

#ifdef __cplusplus
}
#endif

#endif
