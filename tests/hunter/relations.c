// SPDX-License-Identifier: MIT
// A difference counts over how much the machine itself makes of small ones: a neighbour, which is other by NEIGHBOUR in
// everything, is that far from it, quantity by quantity, in every mechanism by its own measures; and over what
// round-off of places makes in a step.
#include "hunter/relations.h"

#include "base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEIGHBOUR = 1e-9;  // part by which the neighbour differs
static const double ROUND_OFF = 1e-11; // of places and turns, times the growth of small differences
static const double TOLERANCE =
    1e-7; // the same of `projected-rk`, whose steps follow from each coordinate
static const double CHAOTIC = 1e5; // growth above which nothing is said
// times what runs say of their errors, of places: with an error of a place in a step comes one of a velocity, which
// goes on for the steps that are left
static const double ALLOWED = 30.0;
static const double NAMED =
    0.1; // rad, parts of the size: steps so wrong by the accuracy line are named
static const double FLOOR = 1e-11;
const char *const RELATION_NAMES[RELATIONS] = {
    "units of 4^k", "units of 10^k", "turned",   "mirrored", "renamed",  "swapped",
    "alone",        "reduction",     "read out", "resumed",  "reversed", "half step"};

// ---- scales and differences -----------------------------------------------------------------------------------

typedef struct measures {
    double scale[QUANTITIES][PLAN_MECHANISMS];
    double growth[QUANTITIES][PLAN_MECHANISMS];
    double noise[QUANTITIES][PLAN_MECHANISMS]; // that round-off of places makes, over it
} measures;

static double nominal(const plan_scale *m, quantity q)
{
    double force = m->mass * m->length * m->rate * m->rate;
    switch (q) {
    case Q_PLACE:
    case Q_WAY: return m->length;
    case Q_VELOCITY: return m->length * m->rate;
    case Q_SPIN: return m->rate;
    case Q_FORCE:
    case Q_REACTION: return 1e-3 * force;
    case Q_TORQUE:
    case Q_WORK:
    case Q_KINETIC: return 1e-3 * force * m->length;
    default: return 1.0;
    }
}

static void find_scales(const plan *p, const witness *w, measures *m)
{
    for (int q = 0; q < QUANTITIES; ++q)
        for (int k = 0; k < p->mechanism_count; ++k)
            m->scale[q][k] = nominal(&p->mechanisms[k], (quantity)q);
    for (int i = 0; i < w->count; ++i) {
        double *scale = &m->scale[w->quantities[i]][w->mechanisms[i]];
        *scale = fmax(*scale, fabs(w->values[i]));
    }
}

// Lightest and heaviest mass of a mechanism.
static void find_masses(const plan *p, int mechanism, double *light, double *heavy)
{
    double mass = 0.0, least = HUGE_VAL;
    for (int i = 0; i < p->body_count; ++i) {
        const plan_body *b = &p->bodies[i];
        if (b->mechanism != mechanism) continue;
        double one = b->beam ? b->row.section.mass * b->size : b->def.mass;
        mass = fmax(mass, one + b->tip_mass);
        least = fmin(least, one / plan_node_count(b));
    }
    for (int k = 0; k < p->drive_count; ++k)
        if (plan_joint_mechanism(p, p->drives[k].joint) == mechanism &&
            !plan_is_angle(p->joints[p->drives[k].joint].def.kind, p->drives[k].def.coordinate))
            mass = fmax(mass, p->drives[k].def.armature);
    *light = least;
    *heavy = mass;
}

// Velocities of these are momenta by a discrete Legendre transform, in which constraint forces nearly cancel.
static bool has_legendre_momenta(hn_scheme scheme)
{
    return scheme == HN_SCHEME_VARIATIONAL || scheme == HN_SCHEME_RATTLE ||
           scheme == HN_SCHEME_GGL_VARIATIONAL;
}

// Velocities are changes of places over a step, forces changes of momenta over a step.
static void find_noise(const plan *p, const witness_run *r, measures *m)
{
    double h = r->step;
    for (int k = 0; k < p->mechanism_count; ++k) {
        double light, heavy, place = m->scale[Q_PLACE][k];
        find_masses(p, k, &light, &heavy);
        double force = heavy * place / (h * h),
               many = has_legendre_momenta(r->scheme) ? heavy / light : 1.0,
               speed = fmax(m->scale[Q_VELOCITY][k], place * m->scale[Q_SPIN][k]);
        const double noise[QUANTITIES] = {[Q_PLACE] = place,
                                          [Q_TURN] = 1.0,
                                          [Q_VELOCITY] = many * place / h,
                                          [Q_SPIN] = many / h,
                                          [Q_ANGLE] = 1.0,
                                          [Q_WAY] = place,
                                          [Q_TORQUE] = force * place,
                                          [Q_FORCE] = force,
                                          [Q_WORK] = force * h * speed,
                                          [Q_REACTION] = force,
                                          [Q_KINETIC] = many * force * h * speed};
        for (int q = 0; q < QUANTITIES; ++q) m->noise[q][k] = fmax(1.0, noise[q] / m->scale[q][k]);
        // of all mechanisms together
        double total = noise[Q_KINETIC] / m->scale[Q_KINETIC][0];
        m->noise[Q_KINETIC][0] = fmax(m->noise[Q_KINETIC][0], total);
        m->growth[Q_KINETIC][0] = fmax(m->growth[Q_KINETIC][0], m->growth[Q_PLACE][k]);
    }
}

// Largest difference of every quantity in every mechanism, by its scale.
static void differences(const measures *m, const witness *a, const witness *b,
                        double out[QUANTITIES][PLAN_MECHANISMS])
{
    memset(out, 0, QUANTITIES * sizeof out[0]);
    for (int i = 0; i < a->count && i < b->count; ++i) {
        int q = a->quantities[i], k = a->mechanisms[i];
        double difference = fabs(a->values[i] - b->values[i]) / m->scale[q][k];
        // of reactions that are not unique nothing is known
        if (isnan(difference)) difference = q == Q_REACTION ? 0.0 : HUGE_VAL;
        out[q][k] = fmax(out[q][k], difference);
    }
}

static void find_growth(const plan *p, const witness *base, const witness *neighbour, measures *m)
{
    double apart[QUANTITIES][PLAN_MECHANISMS];
    differences(m, base, neighbour, apart);
    for (int k = 0; k < p->mechanism_count; ++k) {
        double motion = fmax(fmax(apart[Q_PLACE][k], apart[Q_TURN][k]),
                             fmax(apart[Q_VELOCITY][k], apart[Q_SPIN][k]));
        for (int q = 0; q < QUANTITIES; ++q)
            m->growth[q][k] = fmax(1.0, fmax(motion, apart[q][k]) / NEIGHBOUR);
    }
}

// ---- verdicts -------------------------------------------------------------------------------------------------

static bool is_doubtful(const witness *w)
{
    return w->not_kept || w->ambiguous || w->relative > NAMED;
}

typedef struct trial {
    const plan *p;
    const witness_run *run;
    const witness *base;
    measures m;
    bool calm; // a neighbour ran to the end
    double same;
    relation_tally *tallies;
    relation_report report;
    void *user;
} trial;

static void tell(const trial *x, relation r, quantity q, double value, int mechanism,
                 const witness *other)
{
    char text[WITNESS_TEXT + 120];
    x->tallies[r].verdicts[V_FINDING]++;
    if (other->status != x->base->status)
        snprintf(text, sizeof text, "one stops, the other does not, after %lld and %lld steps: %s",
                 (long long)x->base->done, (long long)other->done,
                 other->status == HN_OK ? x->base->message : other->message);
    else
        snprintf(text, sizeof text,
                 "mechanism %d of %d, growth %.2g, noise %.2g, accuracy %.1g and %.1g, halves %lld "
                 "and %lld",
                 mechanism, x->p->mechanism_count, x->m.growth[q][mechanism],
                 x->m.noise[q][mechanism], x->base->relative, other->relative,
                 (long long)x->base->halved, (long long)other->halved);
    x->report(x->user, r, q, value, plan_has_holds(x->p), text);
}

// Runs that ended differently, or both early.
static bool judge_ends(const trial *x, relation r, const witness *other)
{
    if (x->base->status == HN_OK && other->status == HN_OK) return false;
    bool early = x->base->status == HN_CANCELLED || other->status == HN_CANCELLED;
    if (x->base->status == other->status || early || !x->calm) x->tallies[r].verdicts[V_STOPPED]++;
    else if (is_doubtful(x->base) || is_doubtful(other)) x->tallies[r].verdicts[V_NAMED]++;
    else tell(x, r, Q_PLACE, HUGE_VAL, 0, other);
    return true;
}

static void judge_same(const trial *x, relation r, const witness *base, const witness *other,
                       bool bits)
{
    double apart[QUANTITIES][PLAN_MECHANISMS], worst = 0.0;
    int quantity_worst = 0, mechanism_worst = 0;
    bool chaotic = !bits && !x->calm;
    // what comes of start velocities that are tangent is not tangent under these
    bool places = r == R_REVERSED && has_legendre_momenta(x->run->scheme);
    relation_tally *t = &x->tallies[r];
    differences(&x->m, base, other, apart);
    for (int q = 0; q < QUANTITIES && (bits || x->calm); ++q)
        for (int k = 0; k < x->p->mechanism_count; ++k) {
            if (places && q != Q_PLACE && q != Q_TURN) continue;
            if (!bits && !(x->m.growth[q][k] < CHAOTIC)) {
                chaotic = true;
                continue;
            }
            double value = apart[q][k] / (bits ? 1.0 : x->m.growth[q][k] * x->m.noise[q][k]);
            if (value > worst) worst = value, quantity_worst = q, mechanism_worst = k;
            if (value <= x->same) t->worst[q] = fmax(t->worst[q], value);
        }
    if (worst > (bits ? 0.0 : x->same)) {
        if (!bits && (is_doubtful(base) || is_doubtful(other))) t->verdicts[V_NAMED]++;
        else tell(x, r, (quantity)quantity_worst, worst, mechanism_worst, other);
    } else t->verdicts[chaotic ? V_CHAOTIC : V_AGREES]++;
}

static double largest_size(const plan *p, int mechanism)
{
    double size = 0.0;
    for (int i = 0; i < p->body_count; ++i)
        if (p->bodies[i].mechanism == mechanism) size = fmax(size, p->bodies[i].size);
    return size;
}

// By the summed estimates of both, times the growth of small differences.
static void judge_accuracy(const trial *x, relation r, const witness *other)
{
    double apart[QUANTITIES][PLAN_MECHANISMS], worst = 0.0;
    int mechanism = 0;
    relation_tally *t = &x->tallies[r];
    differences(&x->m, x->base, other, apart);
    for (int k = 0; k < x->p->mechanism_count; ++k) {
        double growth = x->m.growth[Q_PLACE][k];
        if (!(growth < CHAOTIC) || !x->calm) {
            t->verdicts[V_CHAOTIC]++;
            return;
        }
        double size = largest_size(x->p, k) / x->p->mechanisms[k].length;
        double allowed = (ALLOWED * fmax(1.0, size) * (x->base->sum + other->sum) + FLOOR) * growth;
        double value = fmax(apart[Q_PLACE][k], apart[Q_TURN][k]) / allowed;
        if (value > worst) worst = value, mechanism = k;
    }
    bool named = is_doubtful(x->base) || is_doubtful(other) || x->base->cautions > 0 ||
                 x->base->warnings > 0;
    if (worst > 1.0 && named) t->verdicts[V_NAMED]++;
    else if (worst > 1.0) tell(x, r, Q_PLACE, worst, mechanism, other);
    else {
        t->verdicts[V_AGREES]++;
        t->share = fmax(t->share, worst);
    }
}

// ---- relations ------------------------------------------------------------------------------------------------

static transformation transformation_of(const plan *p, relation r, draw *d)
{
    transformation t = no_transformation();
    double base = r == R_TWOS ? 4.0 : 10.0, least = HUGE_VAL;
    for (int k = 0; k < p->mechanism_count; ++k) least = fmin(least, p->mechanisms[k].length);
    if (r == R_TWOS || r == R_TENS) {
        t.length = pow(base, draw_below(d, 9) - 4);
        t.mass = pow(base, draw_below(d, 9) - 4);
        t.time = pow(base, draw_below(d, 7) - 3);
    }
    if (r == R_TURNED || r == R_MIRRORED) {
        if (can_turn(p)) t.turn = draw_rotation(d);
        if (can_turn(p)) t.move = vec3_scale(2.0 * least, draw_direction(d));
        t.mirror = r == R_MIRRORED;
    }
    if (r == R_RENAMED) t.reversed = true, t.prefix = (char)('b' + draw_below(d, 25));
    if (r == R_SWAPPED) t.swapped = true;
    return t;
}

static void try_run(trial *x, relation r, const transformation *t, const witness_run *run)
{
    witness other;
    witness_make(x->p, t, run, &other);
    if (!judge_ends(x, r, &other)) {
        // the rows of this scheme at both levels are not the same for both sides of a joint within a step
        bool sides = r == R_SWAPPED && run->scheme == HN_SCHEME_GGL_VARIATIONAL;
        if (r == R_HALF || sides) judge_accuracy(x, r, &other);
        else judge_same(x, r, x->base, &other, r == R_LOOKED || r == R_RESUMED);
    }
    witness_free(&other);
}

// The numbers of one mechanism, as a run of it alone has them, and those of it alone.
static void try_alone(trial *x, draw *d)
{
    static plan alone;
    const witness *base = x->base;
    if (x->p->mechanism_count < 2 || base->status != HN_OK) return;
    int mechanism = draw_below(d, x->p->mechanism_count), count = 0;
    transformation same = no_transformation();
    witness other, part = {0};
    plan_extract(x->p, mechanism, &alone);
    witness_make(&alone, &same, x->run, &other);
    if (judge_ends(x, R_ALONE, &other)) {
        witness_free(&other);
        return;
    }
    part = *base;
    part.values = malloc((size_t)base->count * sizeof(double));
    part.quantities = malloc((size_t)base->count);
    part.mechanisms = malloc((size_t)base->count);
    if (part.values == NULL || part.quantities == NULL || part.mechanisms == NULL) abort();
    for (int i = 0; i < base->count; ++i) {
        bool total = base->quantities[i] == Q_KINETIC;
        if (base->mechanisms[i] != mechanism && !total) continue;
        part.values[count] = base->values[i];
        part.quantities[count] = base->quantities[i];
        part.mechanisms[count] = (unsigned char)mechanism;
        if (count < other.count) {
            other.mechanisms[count] = (unsigned char)mechanism;
            if (total) other.values[count] = base->values[i];
        }
        count++;
    }
    part.count = count;
    judge_same(x, R_ALONE, &part, &other, false);
    witness_free(&part);
    witness_free(&other);
}

static void try_reversed(trial *x)
{
    witness start, back;
    relation_tally *t = &x->tallies[R_REVERSED];
    bool ended = witness_reverse(x->p, x->run, &start, &back);
    if (!ended && (back.message[0] != '\0' || back.status == HN_CANCELLED))
        t->verdicts[V_STOPPED]++;
    else if (!ended) tell(x, R_REVERSED, Q_PLACE, HUGE_VAL, 0, &back);
    else judge_same(x, R_REVERSED, &start, &back, false);
    witness_free(&start);
    witness_free(&back);
}

static void try_reduction(trial *x, draw *d)
{
    transformation same = no_transformation();
    witness_run run = *x->run;
    if (hn_scheme_has_own_solver(run.scheme)) return;
    run.reduction =
        (hn_reduction)(((int)run.reduction + 1 + draw_below(d, 2)) % HN_REDUCTION_COUNT);
    try_run(x, R_REDUCTION, &same, &run);
}

void relations_try(const plan *p, const witness_run *r, draw *d, relation_tally *tallies,
                   relation_report report, void *user, witness *base)
{
    static plan near;
    transformation same = no_transformation();
    witness neighbour;
    trial x = {.p = p, .run = r, .base = base, .tallies = tallies, .report = report, .user = user};
    witness_make(p, &same, r, base);
    if (!base->created || base->status == HN_CANCELLED) return;
    near = *p;
    plan_disturb(&near, d, NEIGHBOUR);
    witness_make(&near, &same, r, &neighbour);
    find_scales(p, base, &x.m);
    find_growth(p, base, &neighbour, &x.m);
    find_noise(p, r, &x.m);
    x.calm = neighbour.status == base->status;
    x.same = r->scheme == HN_SCHEME_PROJECTED_RK ? TOLERANCE : ROUND_OFF;
    witness_free(&neighbour);
    for (relation k = R_TWOS; k <= R_SWAPPED; ++k) {
        transformation t = transformation_of(p, k, d);
        try_run(&x, k, &t, r);
    }
    try_alone(&x, d);
    try_reduction(&x, d);
    witness_run other = *r;
    other.looked = true;
    try_run(&x, R_LOOKED, &same, &other);
    other.looked = false, other.resumed = true;
    try_run(&x, R_RESUMED, &same, &other);
    if (base->status != HN_OK) return;
    try_reversed(&x);
    other.resumed = false, other.parts = 2;
    try_run(&x, R_HALF, &same, &other);
}
