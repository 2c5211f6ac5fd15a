// SPDX-License-Identifier: MIT
// The solver of `projected-rk` seen by its own files: projected_rk.c (steps, the scheme), _points (projection and
// distribution at a point), _invariants, _dense; and by tests. Note: docs/theory/projected-rk.md
#ifndef SCHEMES_PROJECTED_RK_SOLVER_H
#define SCHEMES_PROJECTED_RK_SOLVER_H

#include "schemes/jet_tree.h"
#include "schemes/projected_rk.h"
#include "system/local_error.h"

enum { STAGES_MAX = 16, INVARIANTS_MAX = 7, QUARTERS = 5, SHAPES = 4, POWERS = SHAPES + 2 };

/// Run characteristics, as the tables of TAN give them.
typedef struct projected_rk_statistics {
    int64_t steps; ///< accepted
    int64_t rejected;
    int64_t projections;       ///< onto the constraints
    int64_t iterations;        ///< Newton iterations in them
    int iterations_max;        ///< in one projection
    int64_t distributions;     ///< evaluations of Algorithm 3.2
    int64_t rows;              ///< evaluations of g and dg
    int64_t second_derivatives; ///< components d^2 g^i evaluated
    int64_t third_derivatives;  ///< components d^3 g^i evaluated, where they are not zero
    int64_t invariants;        ///< evaluations of df_inv
} projected_rk_statistics;

/// Called after every accepted internal step, at its end: with dense output the last one may be ahead of the state.
typedef void (*projected_rk_observer)(void *user, double time, double step_size, const double *q, const double *v);

/// A Runge-Kutta method with an embedded error (P4), (P8).
typedef struct rk_method {
    int stages;       // with the first one of the next step
    double exponent;  // of the error in the step control
    double share;     // error of the formula that is gone on with, over the embedded one
    double stable;    // h lambda on the negative axis where it is about to become unstable
    const double *nodes;
    const double (*weights)[STAGES_MAX];
    const double *error;     // the step less a formula of lower order
    const double *error_low; // less one of still lower order; NULL: there is none
    int dense_stages;        // further ones, for states inside a step
    const double (*dense)[STAGES_MAX]; // SHAPES sums for them (P14); NULL: (P9)
} rk_method;

/// Of order five, or eight.
const rk_method *rk_method_of_order(int order);

/// The last internal step; its end is the solver's current point.
typedef struct internal_step {
    double begin, end; // s
    double *y, *w, *d; // at its begin: the point and H y_2
    double *d_end;
    double *energy;          // J, per mechanism: T + U to be kept at its begin
    double *work;            // J, likewise: of loads in it
    double *power[POWERS];   // W, likewise: of loads at its begin; at 1/4, 1/2, 3/4 or sums (P14); at its end
    double *inside;         // y_2 at 1/4, 1/2, 3/4, or sums (P14) of y_1 and y_2 in turn
    bool dense;             // what is inside is known
    local_error error;      // of the step, by the embedded formula
} internal_step;

/// A place in an attempted step where constraints lose rank, see projected_rk_flat.c.
typedef struct flat_place {
    bool found;
    double at;      // part of the step from its begin; may be a little beyond the end
    double nearest; // smallest angle to it at a stage, over the largest in the step
    int row;        // that loses its independence
} flat_place;

struct scheme_solver {
    hn_system *system;
    const rk_method *method;
    hn_simulation_def def;
    jet_space jet;
    jet_space spatial; // planar formulation: multipliers come from the spatial one
    orthogonal_projection *orthogonal;
    bool redundant;   // rows have to be chosen
    bool loops;       // constraints may lose rank
    bool free_stages; // inner stages stay where they are (P15), but near flat positions
    int dropped;      // rows, by the last choice
    double tolerance; // residual at which projections stop: m over the length, rad
    symmetry_group symmetries;
    projected_rk_statistics statistics;
    projected_rk_observer observer; // or NULL
    void *observer_user;
    int worst_body;

    internal_step last;
    bool at_end;             // rows and factors belong to the current point
    double h;                // s, next internal step
    double nominal;          // s, the step asked for
    double fixed_step;       // s, for tests: internal steps of this size; 0: controlled
    double *y, *w;           // current point, the end of the last internal step
    double *y_next, *w_next; // candidate
    double *a, *a1;          // a point off the manifold
    double *k[STAGES_MAX];       // y_1 and y_2 of the stages
    double *power[STAGES_MAX]; // per mechanism
    double *work;          // J, per mechanism: in an attempt
    double *energy;        // J, per mechanism: to be met
    double *found, *scale; // likewise: what there is, and how large its parts
    double *rates;         // 1/s, per mechanism: the fastest at the begin of a step
    double *end_rates;     // likewise at the end of the attempted one
    double *sums;          // per mechanism
    double *unit;          // y_count: length of the body, or one
    int *part, *part_size; // y_count: mechanism of a coordinate; per mechanism: how many there are
    double *margin[STAGES_MAX];                         // row_count: jet_row_margins at the stages of an attempt
    int margin_count;                               // stages of which they are known
    double attempted, looked;                       // s, the step attempted; where in it margins were last asked for
    double *margin_low, *margin_high;               // row_count: in an attempt with free stages
    bool flat_output;                               // a reported state lies in a flat position: rows are dropped there
    double angle_start;                             // rad, rk_nearest_flat when the solver was made
    bool close;                                     // a row is near to losing its independence: round-off counts
    flat_place flat;                                // in the last attempt
    double *sixth, *sixth1;                         // y_count: y and y_1 of the last stage but one
    int stiff_steps, other_steps;                   // in a row: limited by stability, and not
    bool stiff_said;
    bool unsure_said;                               // a load whose corners nobody knows
    double *error, *error1;                         // y_count: of y and y_1 in an attempt
    double error_part;                              // the error over that of the embedded formula
    double *carried;                                // body_count: the heaviest mass that hangs from it, over its own
    bool *kept;                                     // row_count
    double *mu, *rate;                              // row_count
    double *c[INVARIANTS_MAX], *dw[INVARIANTS_MAX]; // directions in which invariants are imposed
    double *q, *v;                                  // 12 per body
    double *scratch, *shift;                        // w_count
    double *turns, *turn_rates;                     // rad, rad/s: per joint, at the current point
    int doubtful_joint;                             // a joint that may have turned more often, or -1
    size_t inside_count; // numbers in last.inside
    pool memory;

    double momentum[INVARIANTS_MAX]; // to be kept
    double *work_done;   // J, per mechanism: of loads in the last internal step up to the reported state
};

// ---- points (projected_rk_points.c) --------------------------------------------------------------------

double rk_evaluate_rows(scheme_solver *s);
bool rk_factor(scheme_solver *s, jet_metric metric);
bool rk_factor_both(scheme_solver *s);
/// (P5) y from a (theta of unit length); rows are left evaluated at y. False: no such point was found.
bool rk_land_position(scheme_solver *s, const double *a, double tolerance, double *y);
/// (P5) w with B w = 0 at the current position, where both systems are factored.
bool rk_land_velocity(scheme_solver *s, double *w);
/// theta of s->a on its spheres.
void rk_normalise_parameters(scheme_solver *s);
/// (P5) or (P6): the point (y, w) of M that belongs to (s->a, s->a1); S is factored there.
bool rk_project(scheme_solver *s, double tolerance, double *y, double *w);
/// (P15) The point (y, w) that belongs to (s->a, s->a1) but for the length of Euler parameters, off M; S is factored
/// there, with `both` B W B^T too.
bool rk_take_free(scheme_solver *s, bool both, double *y, double *w);
/// (P2), (P3) at (y, w), the current position: k and power of a stage. False: singular.
bool rk_distribution(scheme_solver *s, const double *y, const double *w, jet_moment moment, int stage);

// ---- invariants (projected_rk_invariants.c) -------------------------------------------------------------

/// Momentum map of symmetry m at the current point.
double rk_momentum(const scheme_solver *s, int m, double *scale);
/// (P7) Newton on the invariants along directions tangent to M, and back to M. The point is on M, S factored there.
/// Energies are those in s->energy; s->rates belong to the step.
bool rk_impose_invariants(scheme_solver *s, double time, double *y, double *w);

// ---- dense output (projected_rk_dense.c) ----------------------------------------------------------------

/// (P9) The point (y_next, w_next) of M and of the invariants at `time` in the last internal step, and the work until
/// then.
bool rk_find_output(scheme_solver *s, double time);
/// (y, y1) += h sum_j weights_j k_j
void rk_add_stages(const scheme_solver *s, double h, const double *weights, int count, double *y, double *y1);

// ---- flat positions (projected_rk_flat.c) ---------------------------------------------------------------

/// Keep the margins of the current point as those of a stage; S and B W B^T are factored there.
void rk_note_margins(scheme_solver *s, int stage);
/// Take the margins of the current point, where B W B^T is factored, into the range of those of the step.
void rk_watch_margins(scheme_solver *s, bool first);
/// Has an angle in that range fallen so far that a flat position may be near?
bool rk_margins_dip(const scheme_solver *s);
/// (P10) Fill s->flat from the margins of the attempted step.
void rk_find_flat(scheme_solver *s, const double *nodes);
/// Is the flat place inside the attempted step exact, so that the motion goes straight on?
bool rk_flat_is_exact(scheme_solver *s, double h);
/// (P10) The size of the next step on the way over the flat place, `offset` after the current point: the step over it
/// is at most `allowed`, and does not go beyond `room`. Also what to plan after it.
double rk_plan_over_flat(double offset, double allowed, double room, double *then);
/// The shortest step over the flat place of an attempted step of size h: round-off forbids others.
double rk_shortest_over_flat(const scheme_solver *s, double h);
/// The row nearest to losing its independence in the last attempt, and its angle (rad); -1 without loops.
int rk_nearest_flat(const scheme_solver *s, double *angle);
/// Drop rows that have lost their independence at the current point, compared with s->margin[0]; B W B^T is factored
/// without them. False: singular all the same.
bool rk_drop_flat_rows(scheme_solver *s, bool *any);

#endif
