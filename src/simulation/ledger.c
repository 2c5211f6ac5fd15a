// SPDX-License-Identifier: MIT
// The ledger: what a scheme promises on a model, measured at every step (definitions:
// docs/theory/start-and-reports.md).
#include "simulation/equations.h"
#include "simulation/simulation.h"

#include "base/sum.h"
#include "system/mass.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// Default bounds for "kept".
static const double ENERGY_BOUND = 1e-10, MOMENTUM_BOUND = 1e-10, CONSTRAINT_BOUND = 1e-12,
                    EQUATION_BOUND = 1e-12;
// Round-off of one step in sums that are carried on, energy and momenta: two units in the last place. Without bias it
// would grow like the square root of the steps; tops and linkages were measured at 1 to 4e-16 a step before.
static const double ROUND_OFF_STEP = 2.0 * DBL_EPSILON;
static const double HEIGHT_ROUND_OFF = 4.0 * DBL_EPSILON; // of weights times their heights
static const double BAND_SEEN = 1e-6; // relative: a band below is not said to grow
static const double BAND_LOST = 0.5;  // relative: a band above tells nothing of the energy
static const double PROJECTED_CONSTRAINT_BOUND =
    1e-11; // where a projection with its own tolerance holds them

static const char *const PROMISES[HN_PROMISE_COUNT] = {
    "energy", "linear_momentum", "angular_momentum", "joints", "constraints", "equations"};

const char *hn_promise_name(hn_promise promise)
{
    return (int)promise >= 0 && (int)promise < HN_PROMISE_COUNT ? PROMISES[promise] : "";
}

bool hn_promise_from_name(const char *name, hn_promise *promise)
{
    if (name == NULL || promise == NULL) return false;
    for (int i = 0; i < HN_PROMISE_COUNT; ++i)
        if (strcmp(name, PROMISES[i]) == 0) {
            *promise = (hn_promise)i;
            return true;
        }
    return false;
}

hn_status simulation_find_symmetries(hn_simulation *s)
{
    return system_symmetries(s->system, &s->symmetries,
                             s->part_count > 0 ? s->part_symmetries : NULL);
}

static ledger_sample take(hn_simulation *s)
{
    const state_totals *t = observe_state_totals(s);
    const constraint_check *constraints = observe_check(s);
    ledger_sample m = {.kinetic = t->kinetic,
                       .potential = t->potential,
                       .work = s->work - s->losses[0],
                       .linear = t->linear_size,
                       .angular = t->angular_size,
                       .distance = t->distance,
                       .arm = t->arm,
                       .opening = constraints->opening,
                       .residual = constraints->residual,
                       .openness = constraints->openness,
                       .open_bound = constraints->open_bound,
                       .open_joint = constraints->open_joint};
    accuracy_note_spin(s, t->fastest, t->fastest_body);
    const symmetry_group *group = &s->symmetries;
    for (int k = 0; k < group->translation_count; ++k)
        m.maps[k] = vec3_dot(vec3_load(group->translations[k]), t->linear);
    for (int k = 0; k < group->rotation_count; ++k) {
        hn_vec3 axis = vec3_load(group->rotations[k] + 3),
                shift = vec3_add(vec3_load(group->rotations[k]), vec3_cross(group->point, axis));
        m.maps[group->translation_count + k] =
            vec3_dot(shift, t->linear) + vec3_dot(axis, t->angular);
    }
    return m;
}

// The first body whose own part of the measures is not finite, or the one with the largest momentum.
static int worst_body(const hn_simulation *s)
{
    const hn_system *system = s->system;
    int worst = 0;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = system_pose(s->state.q, i), *p = s->momenta + POSE_SIZE * (size_t)i;
        double size = 0.0, place = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) size += p[k] * p[k], place += fabs(q[k]);
        double own = size * (1.0 + place) * (1.0 + 1.0 / mass_weight(system, i));
        if (!isfinite(own)) return i;
        if (own > largest) largest = own, worst = i;
    }
    return worst;
}

static hn_status fail_not_finite(hn_simulation *s, const ledger_sample *m)
{
    const struct {
        const char *name;
        double value;
    } measures[] = {{"kinetic energy", m->kinetic},
                    {"potential energy", m->potential},
                    {"work", m->work},
                    {"linear momentum", m->linear},
                    {"angular momentum", m->angular},
                    {"position", m->distance},
                    {"joint opening", m->opening},
                    {"constraint residual", m->residual},
                    {"energy balance", (double)NAN}};
    size_t k = 0;
    while (isfinite(measures[k].value)) ++k;
    return context_fail(
        s->context, HN_NOT_FINITE,
        "step %lld at t = %.9g s: the %s is not finite (worst at body '%s'); masses, "
        "places, velocities, loads or the step are out of any range",
        (long long)s->step_count, hn_simulation_time(s), measures[k].name,
        s->system->bodies[worst_body(s)].name);
}

hn_status ledger_start(hn_simulation *s)
{
    s->record = (ledger_record){0};
    if (!s->def.ledger) return HN_OK;
    memset(s->work_round_off, 0, s->round_off_count * sizeof(double));
    memset(s->stiff_round_off, 0, s->round_off_count * sizeof(double));
    ledger_sample m = take(s);
    if (s->part_count > 0) (void)mechanisms_find(s, s->parts, s->part_of);
    mechanisms_note(s, true);
    mechanism_momenta_note(s, true);
    ledger_record_start(&s->record, &m, s->symmetries.translation_count,
                        s->symmetries.translation_count + s->symmetries.rotation_count);
    return ledger_sample_is_finite(&m) ? HN_OK : fail_not_finite(s, &m);
}

hn_status ledger_note(hn_simulation *s)
{
    ledger_sample m = take(s);
    ledger_record_note(&s->record, &m);
    mechanisms_note(s, false);
    mechanism_momenta_note(s, false);
    return ledger_sample_is_finite(&m) ? HN_OK : fail_not_finite(s, &m);
}

static double ratio(double x, double scale)
{
    return scale > 0.0 ? x / scale : 0.0;
}

static void fill(hn_ledger_entry *e, bool conserved, double error, double drift, double bound,
                 double allowance, int64_t steps)
{
    e->conserved = conserved;
    e->error = error;
    e->drift = drift;
    e->drift_per_step = steps > 0 ? drift / (double)steps : 0.0;
    e->bound = bound + allowance;
    e->allowance = allowance;
    e->kept = isfinite(error) && isfinite(drift) && (!conserved || error <= e->bound);
}

// J, of weights at their places: what potentials are known to
static double standing_energy(const hn_simulation *s)
{
    const hn_system *system = s->system;
    const ledger_record *r = &s->record;
    double mass = 0.0;
    for (int i = 0; i < system->body_count; ++i) mass += mass_weight(system, i);
    return fabs(r->potential_start) +
           mass * vec3_norm(system->gravity) * (system->length + r->distance_max);
}

// Energy that comes and goes. A structure at rest turns over nothing but round-off: it is measured by its weight times
// its size instead.
static double energy_scale(const hn_simulation *s)
{
    const double AT_REST = 1e-12;
    const ledger_record *r = &s->record;
    double scale = r->kinetic_max + r->potential_change_max, standing = standing_energy(s);
    return scale > AT_REST * standing ? scale : standing;
}

// Where nothing but round-off of coordinates moves, errors are as large as their scales and mean nothing.
typedef struct round_off_floor {
    double energy, linear, angular; // J, kg m/s, kg m^2/s
    double turning;                 // kg m^2/s, of places far from the origin, in every step
    double moving;                  // J, of momenta times what places leave open of velocities
    double work;                    // J, of loads and dampers on what places leave open
} round_off_floor;

static round_off_floor find_floor(const hn_simulation *s)
{
    const double ROUND_OFF = 8.0 * DBL_EPSILON, PLACE_ROUND_OFF = 4.0 * DBL_EPSILON;
    double length = s->record.distance_max + s->system->length, mass = 0.0;
    double speed =
        ROUND_OFF * length / simulation_finest_step(s) * sqrt((double)s->step_count + 1.0);
    for (int i = 0; i < s->system->body_count; ++i) mass += mass_weight(s->system, i);
    double work = 0.0, far = vec3_norm(s->symmetries.point),
           arm = s->record.arm_max + s->system->length;
    double turning =
        ROUND_OFF * far * (mass * arm / simulation_finest_step(s) + s->record.linear_scale);
    for (int m = 0; m < s->system->mechanism_count; ++m)
        work += s->work_round_off[m] + equations_stiff_round_off(s, m);
    return (round_off_floor){
        .energy = mass * speed * speed,
        .work = work,
        .moving = PLACE_ROUND_OFF / simulation_finest_step(s) *
                  ((s->system->length + far) * s->record.linear_scale + s->record.angular_scale),
        .linear = mass * speed,
        .turning = turning,
        .angular = mass * speed * arm + turning * sqrt((double)s->step_count + 1.0)};
}

static const double NOTHING_ELSE = 100.0;

static double above_floor(double error, double scale, double floor)
{
    return fabs(error) <= floor && scale <= NOTHING_ELSE * floor ? 0.0 : ratio(error, scale);
}

// The same of energy: what forces do on round-off alone is as large as they are, and means as little.
static double energy_above_floor(const hn_simulation *s, double error, double scale, double floor)
{
    return s->record.kinetic_max <= NOTHING_ELSE * floor && isfinite(error)
               ? 0.0
               : above_floor(error, scale, floor);
}

static int symmetry_count(const symmetry_group *group, bool angular)
{
    return angular ? group->rotation_count : group->translation_count;
}

// Does the model conserve a momentum, or one of its mechanisms where they are measured each for itself?
static bool any_conserved(const hn_simulation *s, bool angular)
{
    if (symmetry_count(&s->symmetries, angular) > 0) return true;
    if (s->scheme->imposes_invariants) return false;
    for (int m = 0; m < s->part_count; ++m)
        if (symmetry_count(&s->part_symmetries[m], angular) > 0) return true;
    return false;
}

// Momentum of the worst mechanism; of the whole model where it is one that is tied, or where a scheme imposes the sums.
static void momentum_of(const hn_simulation *s, bool angular, bool conserved, int64_t steps,
                        hn_ledger_entry *e, momentum_verdict *verdict)
{
    const ledger_record *r = &s->record;
    double carried = ROUND_OFF_STEP * (double)steps;
    *verdict = (momentum_verdict){.first = -1};
    if (s->part_count > 0 && !s->scheme->imposes_invariants) {
        mechanism_momenta_verdict(s, angular, MOMENTUM_BOUND + carried, verdict);
        fill(e, conserved, verdict->error, verdict->drift, MOMENTUM_BOUND,
             carried + fmax(0.0, verdict->floor - MOMENTUM_BOUND), steps);
        return;
    }
    round_off_floor floors = find_floor(s);
    double scale = angular ? r->angular_scale : r->linear_scale,
           floor = angular ? floors.angular : floors.linear;
    fill(e, conserved, above_floor(angular ? r->angular_error : r->linear_error, scale, floor),
         above_floor(angular ? r->angular_drift : r->linear_drift, scale, floor), MOMENTUM_BOUND,
         carried + (angular ? fmax(0.0, ratio(floors.turning, scale) - MOMENTUM_BOUND) : 0.0),
         steps);
}

static const double SPIN_STEP_BOUND = 0.5; // (h |omega|)^2/12 is 2 % of the angle

// Rates of led coordinates are in the worst step alone: the sum is no less than that.
static double sum_of(const accuracy_record *a, int measure)
{
    return fmax(a->sum[measure], a->worst.value[measure]);
}

static hn_accuracy accuracy_of(const hn_simulation *s)
{
    const accuracy_record *a = &s->accuracy;
    hn_worst worst[ERROR_MEASURES];
    for (int m = 0; m < ERROR_MEASURES; ++m)
        worst[m] = (hn_worst){
            .value = a->worst.value[m],
            .body = a->sample_count > 0 ? s->system->bodies[a->worst.body[m]].model_index : -1,
            .time = a->time[m]};
    double limit = 0.5 * simulation_rotation_limit(s);
    if (!(limit > 0.0) || limit > SPIN_STEP_BOUND) limit = SPIN_STEP_BOUND;
    bool follows = s->scheme->any_rotation && !s->def.projected_rk.fixed_steps;
    return (hn_accuracy){.position = worst[ERROR_POSITION],
                         .angle = worst[ERROR_ANGLE],
                         .relative = worst[ERROR_RELATIVE],
                         .position_sum = sum_of(a, ERROR_POSITION),
                         .angle_sum = sum_of(a, ERROR_ANGLE),
                         .relative_sum = sum_of(a, ERROR_RELATIVE),
                         .spin_step = {.value = a->spin_step,
                                       .body = s->system->bodies[a->spin_body].model_index,
                                       .time = a->spin_time},
                         .beam_angle = a->bend,
                         .beam_angle_time = a->bend_time,
                         .beam = a->bend_beam,
                         .beam_element = a->bend_element,
                         .beam_tension = a->tension,
                         .beam_tension_time = a->tension_time,
                         .spin_step_limit = follows ? 0.0 : limit,
                         .sample_count = a->sample_count,
                         .unresolved_count = a->unresolved_count,
                         .halved_step_count = s->statistics.halved_step_count,
                         .ambiguous_step_count = s->statistics.ambiguous_step_count,
                         .leap_count = s->passage.count,
                         .leap_time = s->passage.time,
                         .leap_joint = s->passage.count > 0 ? s->passage.joint : -1};
}

// Whose momentum a line tells of: the worst mechanism's, or that of one that keeps some; -1: of the whole model,
// where it is measured as a whole or where no mechanism keeps any.
static int told_mechanism(const hn_simulation *s, bool angular, const momentum_verdict *verdict)
{
    if (s->part_count == 0 || s->scheme->imposes_invariants) return -1;
    if (verdict->first >= 0) return s->system->mechanism[verdict->first];
    for (int m = 0; m < s->part_count; ++m)
        if (symmetry_count(&s->part_symmetries[m], angular) > 0) return m;
    return -1;
}

static const symmetry_group *told_symmetries(const hn_simulation *s, bool angular,
                                             const momentum_verdict *verdict)
{
    int m = told_mechanism(s, angular, verdict);
    return m < 0 ? &s->symmetries : &s->part_symmetries[m];
}

// Whose momentum it is: one of several mechanisms, or one about its centre of mass.
static void name_mechanism(const hn_simulation *s, bool angular, const momentum_verdict *verdict,
                           hn_ledger_entry *e)
{
    size_t used = strlen(e->note), size = sizeof e->note - used;
    if (!e->conserved) return;
    if (s->scheme->imposes_invariants && s->system->mechanism_count > 1)
        snprintf(e->note + used, size, ", of all mechanisms together");
    int m = told_mechanism(s, angular, verdict);
    // where nothing moves, all that keep theirs are meant
    bool all = symmetry_count(&s->symmetries, angular) > 0;
    if (m < 0 || (verdict->first < 0 && all)) return;
    if (s->part_count > 1)
        snprintf(e->note + used, size, ", the mechanism of '%.60s'%s",
                 s->system->bodies[s->system->mechanism_first[m]].name,
                 verdict->inner ? " about its centre of mass" : "");
    else if (verdict->inner) snprintf(e->note + used, size, ", about the centre of mass");
}

// What the energy does under a scheme that does not keep it: its habit, unless something else was seen.
static void describe_habit(const scheme_type *scheme, const energy_band *seen, double scale,
                           char *text, size_t size)
{
    double band = ratio(seen->high - seen->low, scale);
    bool swings = strncmp(scheme->energy_habit, "oscillates", 10) == 0;
    bool grows = band > BAND_SEEN && energy_band_grows(seen);
    const char *habit = scheme->energy_habit;
    if (swings && grows) habit = "the band GROWS";
    else if (swings && !(band <= BAND_LOST))
        habit = "NOT RESOLVED by the step: the band is as wide as the energy";
    snprintf(text, size, "%s; band of %.2g so far%s", habit, band, grows ? ", growing" : "");
}

// The energy, by the worst mechanism where there are several, or one that is free.
static void energy_entry(const hn_simulation *s, bool kept, hn_ledger *ledger,
                         energy_verdict *verdict)
{
    const ledger_record *r = &s->record;
    hn_ledger_entry *e = &ledger->entry[HN_PROMISE_ENERGY];
    int64_t n = s->step_count;
    double carried = ROUND_OFF_STEP * (double)n;
    round_off_floor floor = find_floor(s);
    // while little has moved yet, heights are known no better, nor velocities from places
    double whole = ledger->energy_scale,
           known = ratio(HEIGHT_ROUND_OFF * standing_energy(s) + floor.moving + floor.work, whole);
    if (!mechanisms_verdict(s, ENERGY_BOUND + carried, verdict)) {
        fill(e, kept, energy_above_floor(s, r->energy_error, whole, floor.energy),
             energy_above_floor(s, r->energy_drift, whole, floor.energy), ENERGY_BOUND,
             carried + fmax(0.0, known - ENERGY_BOUND), n);
        return;
    }
    if (verdict->part != NULL) ledger->energy_scale = verdict->scale;
    fill(e, kept, verdict->error, verdict->drift, ENERGY_BOUND,
         carried + fmax(0.0, verdict->floor - ENERGY_BOUND), n);
}

static const double HELD_PART = 1e-12; // of the energy scale: what dampers hold and is told

// Whose energy it is, or what it does where it is not kept.
static void describe_energy(const hn_simulation *s, bool kept, const energy_verdict *verdict,
                            hn_ledger *ledger)
{
    char *text = ledger->entry[HN_PROMISE_ENERGY].note;
    size_t size = sizeof ledger->entry[0].note;
    bool parted = s->part_count > 0 && verdict->part != NULL;
    if (kept) {
        int used =
            snprintf(text, size, s->symmetries.loaded ? "energy minus work of loads" : "energy");
        if (s->scheme->decays)
            used += snprintf(text + used, size - (size_t)used, ", plus %.3g J that the scheme took",
                             s->losses[0]);
        // (DF6): it comes back with the next step
        if (dampers_held(s) > HELD_PART * ledger->energy_scale)
            used += snprintf(text + used, size - (size_t)used, ", %.3g J held by dampers",
                             dampers_held(s));
        if (parted)
            snprintf(text + used, size - (size_t)used, "%s of the mechanism of '%.60s'",
                     verdict->centre                         ? " of the centre of mass"
                     : mechanisms_have_centre(verdict->part) ? " about the centre of mass"
                                                             : "",
                     s->system->bodies[verdict->part->first].name);
    } else {
        describe_habit(s->scheme, parted ? verdict->band : &s->record.band, ledger->energy_scale,
                       text, size);
    }
    size_t length = strlen(text);
    if (s->fine_load >= 0)
        snprintf(text + length, size - length, "; %s '%s' is finer than the step",
                 s->system->elements[s->fine_load].law != NULL ? "drive" : "load",
                 s->system->elements[s->fine_load].name);
}

// Which components of the momenta are kept, and why the others are not.
static void describe_momenta(const hn_simulation *s, bool linear, bool angular,
                             const momentum_verdict *verdicts, hn_ledger_entry *e)
{
    static const char *const NOT_KEPT = "not kept by this scheme";
    const char *reason = s->symmetries.loaded ? "not conserved: loads act"
                                              : "not conserved: gravity or ground reactions";
    size_t size = sizeof e->note;
    char *text = e[HN_PROMISE_LINEAR_MOMENTUM].note;
    int count = told_symmetries(s, false, &verdicts[0])->translation_count;
    if (!linear) snprintf(text, size, "%s", NOT_KEPT);
    else if (count == 3) snprintf(text, size, "all components");
    else if (count > 0) snprintf(text, size, "%d of 3 directions", count);
    else snprintf(text, size, "%s", reason);
    text = e[HN_PROMISE_ANGULAR_MOMENTUM].note;
    const symmetry_group *group = told_symmetries(s, true, &verdicts[1]);
    count = group->rotation_count;
    if (!angular) snprintf(text, size, "%s", NOT_KEPT);
    else if (count == 3) snprintf(text, size, "all components");
    else if (count == 1)
        snprintf(text, size, "about the axis (%.3g, %.3g, %.3g)", group->rotations[0][3],
                 group->rotations[0][4], group->rotations[0][5]);
    else if (count > 1) snprintf(text, size, "%d of 3 axes", count);
    else snprintf(text, size, "%s", reason);
}

static bool has_planes(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS) return true;
    return false;
}

// Joints, constraints and equations.
static void constraint_entries(const hn_simulation *s, hn_ledger_entry *e)
{
    const ledger_record *r = &s->record;
    int64_t n = s->step_count;
    size_t size = sizeof e->note;
    // a joint is open by what is too much for its own size; the largest opening may be another one's
    bool joined = s->system->constraint_count > s->system->internal_count;
    fill(&e[HN_PROMISE_JOINTS], joined, r->opening, r->opening_now, r->open_bound, 0.0, n);
    e[HN_PROMISE_JOINTS].kept =
        isfinite(r->opening) && isfinite(r->openness) && (!joined || r->openness <= 1.0);
    // nothing takes back what round-off of places does to planar point masses: up to 100 times the unit of gaps
    bool planes = has_planes(s->system);
    double walk = planes ? 100.0 * DBL_EPSILON * sqrt((double)n) : 0.0;
    fill(&e[HN_PROMISE_CONSTRAINTS], planes || s->system->constraint_count > 0, r->residual,
         r->residual_now,
         s->scheme->imposes_invariants ? PROJECTED_CONSTRAINT_BOUND : CONSTRAINT_BOUND, walk, n);
    bool solved = !s->scheme->no_equations;
    fill(&e[HN_PROMISE_EQUATIONS], solved, r->equations, r->equations_now, EQUATION_BOUND, 0.0, n);
    if (e[HN_PROMISE_JOINTS].kept || r->open_joint < 0)
        snprintf(e[HN_PROMISE_JOINTS].note, size, "worst opening in m");
    else
        snprintf(e[HN_PROMISE_JOINTS].note, size, "joint '%.60s' opens by %.1e m",
                 s->system->reports[r->open_joint].name, r->openness * r->open_bound);
    snprintf(e[HN_PROMISE_CONSTRAINTS].note, size, "worst residual, relative");
    if (!solved)
        snprintf(e[HN_PROMISE_EQUATIONS].note, size, "explicit: there is nothing to solve");
    else if (r->equations_step > 0)
        snprintf(e[HN_PROMISE_EQUATIONS].note, size, "worst at body '%.60s' in step %lld",
                 s->system->bodies[r->equations_body].name, (long long)r->equations_step);
}

hn_status hn_simulation_ledger(const hn_simulation *s, hn_ledger *ledger)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, ledger != NULL);
    if (!s->def.ledger)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "this simulation was created without a ledger");
    const ledger_record *r = &s->record;
    *ledger = (hn_ledger){.step_count = s->step_count,
                          .accuracy = accuracy_of(s),
                          .energy_scale = energy_scale(s),
                          .momentum_scale = r->angular_scale,
                          .energy_min = r->band.low,
                          .energy_max = r->band.high,
                          .energy_decays = s->scheme->decays,
                          .energy_lost = s->losses[0],
                          .energy_dissipated = s->losses[1],
                          .angular_point = s->symmetries.point};
    for (int k = 0; k < 3; ++k) {
        ledger->linear_component[k] = s->symmetries.linear[k];
        ledger->angular_component[k] = s->symmetries.angular[k];
    }
    hn_ledger_entry *e = ledger->entry;
    bool imposes = s->scheme->imposes_invariants;
    bool energy = s->scheme->energy_kept || (imposes && s->def.projected_rk.impose_energy);
    bool linear =
        imposes ? s->def.projected_rk.impose_momentum : !s->scheme->linear_momentum_not_kept;
    bool angular =
        imposes ? s->def.projected_rk.impose_momentum : !s->scheme->angular_momentum_not_kept;
    energy_verdict verdict;
    energy_entry(s, energy, ledger, &verdict);
    describe_energy(s, energy, &verdict, ledger);
    momentum_verdict momenta[2];
    momentum_of(s, false, linear && any_conserved(s, false), s->step_count,
                &e[HN_PROMISE_LINEAR_MOMENTUM], &momenta[0]);
    momentum_of(s, true, angular && any_conserved(s, true), s->step_count,
                &e[HN_PROMISE_ANGULAR_MOMENTUM], &momenta[1]);
    if (momenta[1].first >= 0) ledger->momentum_scale = momenta[1].scale;
    describe_momenta(s, linear, angular, momenta, e);
    for (int k = 0; k < 2; ++k)
        name_mechanism(s, k == 1, &momenta[k], &e[HN_PROMISE_LINEAR_MOMENTUM + k]);
    constraint_entries(s, e);
    return HN_OK;
}
