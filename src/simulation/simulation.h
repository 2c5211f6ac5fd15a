// SPDX-License-Identifier: MIT
// A simulation seen from inside: system, scheme, reduction, state, solved steps, ledger.
// Notes: docs/theory/ggl-energy-momentum.md, docs/theory/forces.md
#ifndef SIMULATION_SIMULATION_H
#define SIMULATION_SIMULATION_H

#include <holonom/simulation.h>

#include "base/arena.h"
#include "reductions/damped_inertia.h"
#include "reductions/reduction.h"
#include "reductions/saddle.h"
#include "reductions/self_stress.h"
#include "reductions/velocity_level.h"
#include "schemes/composition.h"
#include "schemes/scheme.h"
#include "simulation/accuracy.h"
#include "simulation/apart.h"
#include "simulation/barriers.h"
#include "simulation/inputs.h"
#include "simulation/ledger_record.h"
#include "simulation/mechanisms.h"
#include "simulation/observation.h"
#include "simulation/outputs.h"
#include "simulation/passages.h"
#include "simulation/step_control.h"
#include "simulation/step_cost.h"

enum { HISTORY_DEPTH = 12 };
/// Which increments of past steps are known, and how many of them predict the next (predictor.c).
typedef struct prediction {
    int count;  ///< of steps known, up to HISTORY_DEPTH
    int newest; ///< place in the rings of increments
    int rule;   ///< by which they are extrapolated
} prediction;
/// What of a body is predicted, side by side: loops over all of them need no more of their joints.
typedef struct predicted_body {
    unsigned char count; ///< components of its increment
    unsigned char lengths; ///< of these, the first ones are in metres
    unsigned char pivot; ///< a pivot_kind; none: not from joints, or of another kind
} predicted_body;
/// What dampers remember, and what their filter works with (dampers.c). By row: a rate that is damped.
typedef struct damper_record {
    int row_count;      ///< 0: the scheme has no filter, or there are no dampers
    double *owed;       ///< per row: impulse that is given back in the next step, N s or N m s
    double *strengths;  ///< per element: h c that it belongs to
    double *held;       ///< J, per mechanism: energy that comes back with it
    double *owed_before, *strengths_before; ///< at the begin of the last nominal step; with a ledger
    damped_inertia *matrix;
    rate_row *rows;
    int *element_of;
    double *means, *off, *impulses, *rates, *rates_before, *rotors; ///< per row
    double *momenta, *change; ///< 12 per body
    double *twists;           ///< 6 per body
    double *strong;           ///< per mechanism: h times the sum of c by mobilities
    double *hold_matrix;      ///< rates of what is held by impulses along it, and impulses
    int *hold_pivots;
    bool *still;              ///< per row of a drive: its coordinate stands still in the step
} damper_record;

/// A step with all its data, so that reactions can be found afterwards.
typedef struct solved_step {
    bool valid;
    bool foreign; ///< solved by a reduction that knows no joint coordinates, for one that predicts by them
    bool joined; ///< `tangent_momenta`: momentum, multiplier_factor and closure are of both forces at the node
    int iterations; ///< Newton iterations it took
    double residual, increment; ///< of the last iteration
    loop_state loops;
    step_equations equations;
    step_data data;
    double *q_start;     ///< 12 per body, owned copy
    double *angle_start; ///< owned copy
    double *momentum;    ///< b
    double *owed;        ///< what dampers give back in it, per row
    double *curvature;   ///< `both_levels`: c of (B5), 12 per body
} solved_step;

enum { LONG_STEP_SOLVERS = 2 };
typedef struct long_step_solver {
    const reduction_type *kind;
    reduction *reduction; ///< that of the simulation where it is of this kind
} long_step_solver;

enum { CURVATURE_DEPTH = 2 };
/// What round-off of places does to the velocities of a mechanism.
typedef struct mechanism_round_off {
    double impulse; ///< kg m, h times that of the body where it is largest
    double left;    ///< the same of increments that are left
    double rate;    ///< 1/s, of the fastest body
    double heaviest, lightest; ///< kg, of all bodies
} mechanism_round_off;
/// What a scheme with both constraint levels works with, see both_levels.h.
typedef struct both_levels {
    double *base;       ///< b without c, 12 per body
    double *next;       ///< c of a sweep, 12 per body
    velocity_work work;
    body_scale *scales; ///< per body
    mechanism_round_off *round_off; ///< per mechanism
    double *history;    ///< c of the last steps, newest first, of the substep that is selected (composed.h)
    double *histories;  ///< of all of them
    int history_count;
    double left;        ///< last increments of sweeps, the largest of some
} both_levels;

/// What was tried of dry friction in a step, see drive_modes.c.
typedef enum hold_stage { STAGE_FIRST, STAGE_STOPS, STAGE_TURNS, STAGE_LAST } hold_stage;

/// A relation of joint coordinates that may hold at the end of a step: motions and couplings always, friction that
/// sticks, latches that are locked and rigid stops in contact while they do.
struct hold {
    int term_count;
    int first;    ///< its first element, one per term
    int coupling; ///< or -1
    double factors[HN_COUPLING_TERMS_MAX];
    bool held;    ///< in the step that is being solved
    bool idle;    ///< a friction, latch or stop that holds what others hold already: it carries nothing
    bool follows; ///< likewise by a loop of the mechanism, in the step that is being solved
    hold_stage stage;
    int tries;    ///< of friction: ways that were not its own
    int hits;     ///< of a rigid stop in the step, in a row on one side,
    double hit_at, flight, hit_side; ///< s: when in it the last one was, and how long after the one before
    bool struck;  ///< a latch or stop in an impact,
    double side;  ///< 1: at its upper value, or from below
    double restitution;
};

/// A joint whose angle counts turns, with its bodies in the tree or GROUND.
typedef struct turning_joint {
    int joint;
    int a, b;
} turning_joint;

/// What is known of redundant joints, see redundancy.h.
typedef struct redundancy_record {
    self_stress *solver; ///< made when first asked for
    bool *shared;        ///< per joint of the model: has a part in a self-stress
    bool shared_valid;   ///< they belong to the current state
    bool probes_valid;   ///< those of the solver do
    double *multipliers; ///< of minimum norm, as many as constraints; those of joints count
    bool multipliers_valid;
} redundancy_record;

struct hn_simulation {
    hn_context *context;
    int owner_count;         ///< the caller and result files
    uint32_t model_tag;      ///< of the ids it takes
    uint64_t model_identity; ///< of the model it was made from
    hn_system *system;
    hn_simulation_def def;
    const scheme_type *scheme;
    const composition *composition; ///< NULL: a step is one of the scheme
    int stage;               ///< substep that is selected; 0 between steps
    const reduction_type *reduction_kind;
    reduction *reduction;
    long_step_solver long_steps[LONG_STEP_SOLVERS]; ///< solve long steps for all reductions alike (long_steps.h)
    int long_step_count;
    scheme_solver *solver; ///< of a scheme that brings its own
    double *multipliers;   ///< of such a scheme: constraint_count, at t = multiplier_time
    double *next_multipliers;
    double multiplier_time, next_multiplier_time;
    bool multipliers_later, next_multipliers_later; ///< the solver is asked for them when somebody wants them
    double next_work;
    double *next_joint_angles; ///< of one whose bodies may turn by any angle: those at the end of its step
    int doubtful_joint;    ///< likewise: a joint that may have turned more often, or -1
    turning_joint *turning;///< joints with angles that count turns
    int turning_count, pair_count; ///< and behind them those with two angles
    saddle *projection; ///< for projected momenta; made when first asked for
    void *memory;

    // state: everything a snapshot holds
    scheme_state state;
    double *angles;       ///< torsional springs, unwrapped
    double *joint_angles; ///< unwrapped angles when last looked at (0 where there is none), see system/angles.h
    double *joint_slack;  ///< per joint: rad, how far it can have turned since then
    double *loose;        ///< `tangent_momenta`: momenta before they were projected, 12 per body
    both_levels levels;   ///< of it: history and history_count
    double *history;      ///< predictor: rings of HISTORY_DEPTH, one per component, of the selected substep
    size_t history_size;  ///< numbers in it
    predicted_body *predicted; ///< per body
    prediction past;      ///< what it holds
    double *histories;    ///< of all substeps (composed.h)
    prediction stage_pasts[COMPOSITION_STAGES_MAX]; ///< `past` of the others
    int stage_counts[COMPOSITION_STAGES_MAX];       ///< history_count of `levels`, of the others
    row_memory *rows;     ///< of loops under `reduced`; NULL: there are none
    size_t rows_size;
    int64_t step_count;
    double time_shift;    ///< s, of a state that is looked at a little later (linearisation.c); otherwise 0
    double work;
    double losses[2];     ///< J, of a scheme that decays: taken from T + V, and what of it never returns
    ledger_record record;
    accuracy_record accuracy;
    passage_record passage;
    step_control control;
    double *increments;   ///< of the last two inner steps, 24 per body; nothing without step control
    int part_count;       ///< of mechanisms.h; 0: the whole model is one
    energy_part *parts;
    double *works;        ///< J, per mechanism: as `work`
    double *differences;  ///< first and second backward differences of q: 24 per body, for a ledger
    size_t difference_count;

    // derived
    bool other_scheme;    ///< a reference: of a simulation whose rates of drives are not its own
    bool borrowed;        ///< a reference: the system belongs to another simulation
    hn_simulation *reference; ///< `energy-momentum`, or the same composition, from the same states in finer steps; NULL
                              ///< without a ledger
    int *part_of;         ///< per mechanism: the part it belongs to
    double *next_works;   ///< J, of a step
    double *work_round_off; ///< J, mechanism by mechanism: what places leave open of the work so far
    double *stiff_round_off; ///< J^2, likewise: of the forces of springs on their ways, as a random walk
    size_t round_off_count; ///< of both; 0 without a ledger
    double *terms;        ///< J, mechanism by mechanism: sizes of what cancels in a step (long_steps.c)
    bool step_was_halved;
    apart_record apart;   ///< mechanisms whose steps are made apart,
    bool parking;         ///< while this is done
    bool has_links;       ///< joints that keep two points at a distance
    bool ambiguous;       ///< the step that is being solved has several solutions (long_steps.h)
    double *other_q;      ///< one of them, 12 per body
    double *other_impetus;///< of another way to pass a singular position, or what each body carries of its momenta by
                          ///< itself; 12 per body
    bool error_known;     ///< the scheme told the error of the last step
    local_error error;
    double *q_before, *p_before, *angles_before; ///< where the last step started
    double *offsets;      ///< differences to references, 30 per body
    solved_step steps[2];
    int ahead;            ///< which of `steps` is solved next; the other one is the last completed
    double *next_impetus; ///< 12 per body
    double *next_memory;  ///< own solver: scheme_state.memory after the step
    double *momenta;      ///< p_n, 12 per body
    double *own_momenta;  ///< what bodies carry by themselves (mass.h), 12 per body; without mass edges: `momenta`
    bool momenta_valid;
    double *taken;        ///< `tangent_momenta`: impulses of cut joints in a projection, cut_row_count
    double *wrench;       ///< 6 per body
    double *equation_wrenches; ///< 6 per body, for residuals
    body_scale *equation_scales; ///< per body
    bool wrench_valid;
    bool angles_valid;    ///< `joint_angles` belong to the state
    bool standing;        ///< at a load step of statics, whose loads are not those of the time: nothing is accelerated
    void *backup;         ///< snapshot before a step that may be halved
    void *before;         ///< snapshot before a step that the ledger notes, or that inner steps fill
    void *control_point;  ///< snapshot where inner steps were last sure
    newton_report newton;
    step_cost cost;
    hn_statistics statistics;
    damper_record dampers;
    int hold_count;       ///< relations of joint coordinates that hold, or may
    hold *holds;
    int held_count;       ///< those that hold in the step that is being solved
    int *held_list;
    double *rank_rows;    ///< holds.c: hold_count times column_count numbers
    int *rank_pivots;
    double *hold_space;   ///< holds.c: hold_count times (hold_count + 4) numbers
    int *hold_pivots;
    bool has_events;      ///< latches, rigid stops, motions with corners, located within steps (events.h)
    bool step_had_event;
    double *impact_rows;  ///< events.c: 12 per body and row
    double *impact_twists; ///< 6 per body and row
    double *impact_matrix;
    int *impact_pivots;
    double *impact_change; ///< 48 per body
    double *impact_means;  ///< per drive: impulse in the step, N s or N m s, and work before it, J
    int stuck;            ///< one of them that nothing can move, or -1
    int rattling;         ///< one that is hit too often in a step, or -1
    struct {
        int hold, motion; ///< a latch or stop beyond whose value a motion leads, and which motion; or -1
        double time;
    } blocked;
    int fine_load;        ///< element: a load or drive with a function of time finer than the step, or -1
    barrier_space barriers;
    struct function_range *drive_ranges; ///< with a ledger, per drive
    double *load_sizes;   ///< with a ledger: largest factor of loads by expressions; below zero: named as fine; or NULL
    int dropped_count;    ///< redundant constraints at the start
    hn_start_kind start_kind;
    char singular_joints[160]; ///< as in hn_structure
    double smallest_pivot; ///< of the others: how independent they are there, a squared sine, roughly
    struct {
        bool reversed;
        double shift; ///< s
    } load_times;     ///< of all loads, see element_load_mean
    redundancy_record redundancy;
    observation observed;
    output_set *outputs;  ///< NULL: the model has none
    simulation_inputs inputs;
    hn_progress_function progress; ///< called between steps; NULL: none
    void *progress_user;
    hn_controller_function controller; ///< called before steps; NULL: none
    void *controller_user;
    symmetry_group symmetries;       ///< of the whole model
    symmetry_group *part_symmetries; ///< of each mechanism, `part_count`
};

/// Of the model, and of its mechanisms where they are measured each for itself.
hn_status simulation_find_symmetries(hn_simulation *simulation);

/// Give load_times to all loads.
void simulation_set_load_times(hn_simulation *simulation);

/// Where the iterate of a step starts: from past steps, with the current velocities, or at rest.
typedef enum step_guess {
    GUESS_HISTORY,
    GUESS_VELOCITIES,
    GUESS_REST,
    GUESS_SOLVED, ///< where it is: a solution of nearly the same equations
} step_guess;
/// History is that of the simulation's own reduction.
void predict_step(hn_simulation *simulation, const reduction_type *kind, solved_step *step, step_guess guess);
/// The smallest part that a step was made in, s: round-off of places over it is that of velocities.
static inline double simulation_finest_step(const hn_simulation *simulation)
{
    if (simulation->record.step_min > 0.0) return simulation->record.step_min;
    double part = simulation->composition == NULL ? 1.0 : composition_smallest(simulation->composition);
    return part * simulation->def.step_size;
}

/// scheme_rotation_limit in nominal steps: substeps are shorter.
static inline double simulation_rotation_limit(const hn_simulation *simulation)
{
    double part = simulation->composition == NULL ? 1.0 : composition_largest(simulation->composition);
    return scheme_rotation_limit(simulation->def.scheme) / part;
}

/// How far a solved step ends from where the velocities at its start lead: rad, m over the body's length.
double predict_distance(hn_simulation *simulation, const solved_step *step);
/// Fill `predicted`; once, after the layout.
void predict_prepare(hn_simulation *simulation);
/// Numbers in the history of a substep.
size_t predict_size(const hn_system *system, const reduction_type *kind);
/// Is the step one of those between two at which the ring of increments begins anew? Round-off of directions is left
/// for those to remove.
static inline bool predict_is_under_way(const hn_simulation *simulation)
{
    return simulation->past.count > 0 && simulation->past.newest != 0;
}
/// Does a prediction from past steps have multipliers of loops?
static inline bool predict_knows_multipliers(const hn_simulation *simulation)
{
    return simulation->past.count > 0 && simulation->reduction_kind->joint_prediction;
}
/// Store what the next prediction needs.
void predict_record(hn_simulation *simulation, const solved_step *step);

/// A solution counts when it is finite and no body has turned by nearly half a turn, the less so `from_afar`.
bool simulation_step_is_sound(hn_simulation *simulation, const solved_step *step, bool from_afar);
/// Solve the step from the current state into steps[ahead]. No message is set on failure.
hn_status simulation_solve_ahead(hn_simulation *simulation, double step_size, double time, bool from_velocities);
/// Solve its equations by the reduction from an iterate as `guess` says.
hn_status simulation_solve_reduction(hn_simulation *simulation, solved_step *step, const newton_options *options,
                                     step_guess guess);
/// The same unless a stop is asked for meanwhile: what was found then counts for nothing.
hn_status simulation_solve_or_stop(hn_simulation *simulation, double step_size, double time, bool from_velocities);
/// Make the solved step the state.
hn_status simulation_commit(hn_simulation *simulation, bool keep_history);
/// p_n in simulation->momenta; solves ahead where the scheme needs it.
void simulation_update_momenta(hn_simulation *simulation);
/// The solved step that reactions belong to, or NULL before there is one.
const solved_step *simulation_reaction_step(hn_simulation *simulation);
/// The state has changed: what was found from it for reports is out of date.
void simulation_forget_derived(hn_simulation *simulation);
/// Angles that count turns (turns.c): find the joints that have them; returns their number.
int turns_find(const hn_system *system, turning_joint *turning, int *pair_count);
/// Whole turns that joints with two angles begin with.
void turns_begin(hn_simulation *simulation, const hn_model *model);
/// Follow them through a solved step, and those of torsional springs with them.
void turns_follow(hn_simulation *simulation, const solved_step *step);
/// All of them at the current state.
void simulation_update_angles(hn_simulation *simulation);
/// The filter of dampers (dampers.c): its memory, and what it solves with. @return HN_OK or HN_OUT_OF_MEMORY
bool dampers_filter_steps(const hn_simulation *simulation);
void dampers_layout(arena *a, hn_simulation *simulation);
hn_status dampers_create(hn_simulation *simulation);
/// What they give back in a step of size h from the state.
void dampers_begin(hn_simulation *simulation, solved_step *step, double h);
/// Filter what a solved step gave the state in next_impetus.
void dampers_filter(hn_simulation *simulation, const solved_step *step);
/// Nothing is owed.
void dampers_forget(hn_simulation *simulation);
/// J, what comes back with all that is owed.
double dampers_held(const hn_simulation *simulation);
/// What is owed at the begin of a nominal step, and for a reference that starts there.
void dampers_keep_begin(hn_simulation *simulation);
void dampers_take_begin(hn_simulation *reference, const hn_simulation *from);
/// Largest h c/m of a motion that the joints allow, and whose it is; 0: no dampers.
double dampers_strongest(hn_simulation *simulation, const char **name);
/// Say where a scheme without a filter has none.
void dampers_say_limits(hn_simulation *simulation);

/// Accelerations at the current configuration with velocities v: M a + G^T lambda = F - grad V, G a + dG/dt v = 0.
/// With or without dampers, whose rates are differences over h.
hn_status simulation_accelerations(hn_simulation *simulation, const double *v, bool dampers, double h,
                                   double *acceleration);

/// Take `parts` equal steps of `energy-momentum`, or composed ones, from q, p at `time`, together h long. No message is
/// set on failure.
hn_status simulation_run_reference(hn_simulation *reference, const double *q, const double *p, const double *angles,
                                   double time, double h, int parts);

/// Start and continue the ledger.
hn_status ledger_start(hn_simulation *simulation);
/// HN_OK or HN_NOT_FINITE: a measure of the last step is not finite.
hn_status ledger_note(hn_simulation *simulation);
/// What a drive's function of time has been so far, without its scale.
typedef struct function_range {
    double low, high;
    bool named; ///< as finer than the step
} function_range;
/// Name loads and drives that are finer than the step, of those with points.
void fine_loads_warn(hn_simulation *simulation);
/// And of expressions, in the step just made.
void fine_loads_look(hn_simulation *simulation);
/// Means of expressions over a step that is to be solved.
void fine_loads_know_means(hn_simulation *simulation, double begin, double end);

/// Momenta projected onto the constraint manifold (LMO 16, 40): p <- M P nu with P^T M P nu = P^T p. Also P^T p.
/// `projected` (12 per body) and `reduced` (dof of the tree) may be NULL. Allocates when first called.
hn_status simulation_project_momenta(hn_simulation *simulation, const double *p, double *projected, double *reduced);

/// Place of body and joint ids in the system; -1 when they are not of this model.
int simulation_body_index(const hn_simulation *simulation, hn_body_id body);

/// Rate of an element's angle or length with poses q and velocities v of all bodies.
double simulation_rate(const element *e, const double *q, const double *v);
/// What tells the whole turns of an element's angle: the angle of its joint that counts them, or its own last one.
static inline double simulation_angle_near(const hn_simulation *s, const element *e)
{
    return e->turns || e->rotation ? s->joint_angles[e->joint] : s->angles[e->angle];
}
/// Rotors, and the terms of couplings, move with their joints when bodies have the velocities v.
void simulation_start_rotors(hn_simulation *simulation, const double *v);
/// Relations of joint coordinates that hold at the end of every step (holds.c); `list` NULL: their number alone.
int holds_find(const hn_system *system, hold *list);
/// Those of them that always do, which come first: motions and couplings.
int holds_find_firm(const hn_system *system, hold *list);
/// What a motion says at a time, in units of its coordinate; of a rotation path there is no value.
typedef struct motion_jet {
    double value, rate, acceleration;
} motion_jet;
motion_jet holds_motion(const element *e, double time);
/// Do they hold at the start? @return HN_OK, HN_INVALID_MODEL with a message that names the drive or coupling
hn_status holds_check_start(const hn_simulation *s);
/// Does a latch that is locked stay so where its coordinate is at a place and has a rate?
bool holds_stay_locked(const hn_simulation *s, const element *e, double place, double rate);
/// May the state be q, v? @return HN_OK, HN_INVALID_ARGUMENT with a message that names a drive or a coupling
hn_status holds_check_state(const hn_simulation *s, const double *q, const double *v);
/// After a step was solved: find the efforts with which those that are `held` hold at its end.
hn_status holds_solve(hn_simulation *s, solved_step *step, const newton_options *options);
/// The same, and which of them hold: friction that sticks or slides, stops in contact or not (drive_modes.c).
void drive_modes_begin(hn_simulation *s, const double *slots); ///< those with which a step from these slots begins
hn_status drive_modes_solve(hn_simulation *s, solved_step *step, const newton_options *options);
/// Reaction forces of joints with friction by them in a step, into `slots`; `changed`: they are others than before, of
/// one that slides. Found by so many passes at most.
enum { DRIVE_NORMAL_PASSES = 60 };
hn_status drive_modes_find_normals(hn_simulation *s, solved_step *step, double *slots, bool *changed);
/// A motion leads beyond the value of a latch or stop, `simulation->blocked`: fail with a message that names both.
hn_status holds_fail_blocked(const hn_simulation *s);
/// The element of a hold, its numbers in a step, and its coordinate at both ends.
typedef struct hold_way {
    const element *e;
    double *slots; ///< of the step
    double from, to;
    bool moves; ///< from one to the other, beyond round-off
} hold_way;
/// List in s->held_list those of `held` that do not follow from others: motions and couplings, latches and stops,
/// friction. In an `impact` also those that are struck, and no friction, whose efforts have no impulse. Their number.
int holds_list(hn_simulation *s, bool impact);
hold_way hold_way_of(const hn_simulation *s, solved_step *step, const hold *h);
/// Relations of those listed at the end of a step, less what they should be where `target`; the largest over its unit,
/// or against what it is a difference of.
double holds_relations(const hn_simulation *s, const solved_step *step, bool target, double *x);
/// Add to the effort of the one that is listed at `index`, in a step.
void holds_add_effort(const hn_simulation *s, solved_step *step, int index, double effort);
/// Newton's method of the reduction from the iterate in `step`; then what lags leave of it. Neither asks whether the
/// solution is sound.
hn_status simulation_solve_plain(hn_simulation *s, solved_step *step, const newton_options *options);
hn_status simulation_solve_lags(hn_simulation *s, solved_step *step, const newton_options *options);
/// Solve a step on from its iterate: all of these.
hn_status simulation_solve_iterate(hn_simulation *s, solved_step *step, const newton_options *options);

#endif
