// SPDX-License-Identifier: MIT
// Flat positions under `projected-rk`: where constraints of a loop lose rank and branches of M cross.
// Note: docs/theory/projected-rk.md#flat-positions
//
//   (P10)  m_r(t) = what the rows before leave of row r, relative; a flat position has m_r(t*) = 0, sqrt(m_r) ~ |t -
//   t*|
//          a step over t* is made so that t* = t_n + 0.625 h: far from all nodes of (P4) and (P9)
//
// On its branch the motion is smooth, and so is the nearest point of that branch; but near t* a residual e leaves the
// place across the branch open by e/(t* - t), the rate by e/(t* - t)^2. No stage may come near.
#include "schemes/projected_rk_solver.h"

#include <string.h>

static const double FLAT_CLOSE = 1e-2; // a squared angle (rad): below, projections go to round-off
static const double FLAT_PART =
    0.625; // of a step over a flat position lies before it: between the nodes 0.5 and 0.75
static const double FLAT_SHORTEST = 2e-3; // rad: from no nearer than this is it stepped over
static const double FLAT_DIP =
    0.5; // an angle that falls below this part of its largest is looked at
static const double FLAT_AHEAD =
    1.2; // parts of the step: how far beyond it a flat position is looked for
static const double FLAT_BEHIND =
    0.005; // parts of the step: a flat position this near to its begin has been passed
static const double FLAT_EXACT =
    1e-10; // m over the length, rad: what the row may be off in the flat position
static const double FLAT_OUTPUT =
    0.15; // of the angle at the begin of a step: below, a state lies in the flat position

void rk_note_margins(scheme_solver *s, int stage)
{
    if (!s->loops) return;
    jet_row_margins(&s->jet, s->margin[stage]);
    s->margin_count = stage + 1;
    if (stage > 0) return;
    s->close = false;
    for (int row = 0; row < s->jet.row_count; ++row) s->close |= s->margin[0][row] < FLAT_CLOSE;
}

void rk_watch_margins(scheme_solver *s, bool first)
{
    if (!s->loops) return;
    const double *margin = first ? s->margin[0] : s->rate;
    if (!first) jet_row_margins(&s->jet, s->rate);
    for (int row = 0; row < s->jet.row_count; ++row) {
        s->margin_low[row] = first ? margin[row] : fmin(s->margin_low[row], margin[row]);
        s->margin_high[row] = first ? margin[row] : fmax(s->margin_high[row], margin[row]);
    }
}

bool rk_margins_dip(const scheme_solver *s)
{
    for (int row = 0; s->loops && row < s->jet.row_count; ++row)
        if (!(s->margin_low[row] > FLAT_DIP * FLAT_DIP * s->margin_high[row])) return true;
    return false;
}

// Sum of squares that a parabola (or a line through fewer than four) leaves of f over x.
static double misfit_of(int n, const double *x, const double *f)
{
    int terms = n < 4 ? 2 : 3;
    double a[3][4] = {{0.0}}, sum = 0.0;
    for (int i = 0; i < n; ++i) {
        const double p[3] = {1.0, x[i], x[i] * x[i]};
        for (int r = 0; r < terms; ++r) {
            for (int k = 0; k < terms; ++k) a[r][k] += p[r] * p[k];
            a[r][3] += p[r] * f[i];
        }
    }
    for (int r = 0; r < terms; ++r)
        for (int k = r + 1; k < terms; ++k) {
            double factor = a[k][r] / a[r][r];
            for (int j = r; j < 4; ++j) a[k][j] -= factor * a[r][j];
        }
    for (int r = terms - 1; r >= 0; --r) {
        for (int k = r + 1; k < terms; ++k) a[r][3] -= a[r][k] * a[k][3];
        a[r][3] /= a[r][r];
    }
    for (int i = 0; i < n; ++i) {
        double rest = f[i] - a[0][3] - x[i] * (a[1][3] + x[i] * a[2][3]);
        sum += rest * rest;
    }
    return sum;
}

// Where the angle of a row goes through zero: it is known without its sign, which is taken to change where the signed
// values lie best on a parabola.
static flat_place place_of_row(int n, const double *x, const double *angle)
{
    flat_place place = {.nearest = HUGE_VAL};
    double largest = 0.0, best = HUGE_VAL, signed_angle[STAGES_MAX];
    int change = n;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, angle[i]);
        if (i > 0) place.nearest = fmin(place.nearest, angle[i]);
    }
    place.nearest = largest > 0.0 ? place.nearest / largest : 1.0;
    if (n < 2 || fmin(place.nearest, angle[0] / largest) > FLAT_DIP) return place;
    for (int k = n; k >= (n < 3 ? n : 1); --k) { // none of two values tells of a change of sign
        for (int i = 0; i < n; ++i) signed_angle[i] = i < k ? angle[i] : -angle[i];
        double misfit = misfit_of(n, x, signed_angle);
        if (misfit < best) best = misfit, change = k;
    }
    if (change < n) {
        double before = angle[change - 1], after = angle[change];
        place.at = x[change - 1] + (x[change] - x[change - 1]) * before / (before + after);
    } else {
        double fall = angle[n - 2] - angle[n - 1];
        if (!(fall > 0.0)) return place;
        place.at = x[n - 1] + (x[n - 1] - x[n - 2]) * angle[n - 1] / fall;
    }
    place.found = place.at > FLAT_BEHIND && place.at < FLAT_AHEAD;
    return place;
}

static flat_place place_in_step(const scheme_solver *s, int row, const double *nodes)
{
    double x[STAGES_MAX], angle[STAGES_MAX];
    int n = 0;
    for (int i = 0; i < s->margin_count; ++i) {
        if (n > 0 && nodes[i] == x[n - 1]) n--; // the later of two stages at the end
        x[n] = nodes[i];
        angle[n++] = sqrt(fmax(0.0, s->margin[i][row]));
    }
    return place_of_row(n, x, angle);
}

void rk_find_flat(scheme_solver *s, const double *nodes)
{
    s->flat = (flat_place){.nearest = HUGE_VAL, .row = -1};
    for (int row = 0; s->loops && row < s->jet.row_count; ++row) {
        flat_place place = place_in_step(s, row, nodes);
        if (!place.found || place.nearest >= s->flat.nearest) continue;
        s->flat = place;
        s->flat.row = row;
    }
}

double rk_shortest_over_flat(const scheme_solver *s, double h)
{
    double angle = sqrt(s->margin[0][s->flat.row]);
    return angle > 0.0 ? FLAT_SHORTEST / angle * s->flat.at * h / FLAT_PART : 0.0;
}

double rk_plan_over_flat(double offset, double allowed, double room, double *then)
{
    double across = offset / FLAT_PART;
    *then = across;
    if (across <= allowed && across <= room) return across;
    // go nearer first, so that the step over it is as long as it may be
    double step = allowed;
    if (room > offset) step = fmin(step, (room - offset) / (1.0 - FLAT_PART));
    *then = 0.95 * step;
    double nearer = offset - FLAT_PART * *then;
    return fmin(nearer, allowed);
}

// a: the quintic through both ends of the attempted step, at the part t of it
static void interpolate_attempt(scheme_solver *s, double h, double t)
{
    int n = s->jet.y_count;
    const double *v0 = s->k[0], *a0 = v0 + n, *v1 = s->k[s->method->stages - 1], *a1 = v1 + n;
    for (int i = 0; i < n; ++i) {
        double y = s->y_next[i] - s->y[i] - h * (v0[i] + 0.5 * h * a0[i]);
        double v = h * (v1[i] - v0[i] - h * a0[i]), a = h * h * (a1[i] - a0[i]);
        s->a[i] = s->y[i] + t * h * (v0[i] + 0.5 * t * h * a0[i]) +
                  t * t * t *
                      (10.0 * y - 4.0 * v + 0.5 * a +
                       t * (-15.0 * y + 7.0 * v - a + t * (6.0 * y - 3.0 * v + 0.5 * a)));
    }
    rk_normalise_parameters(s);
}

// margin of a row at the part t of the attempted step
static double margin_at(scheme_solver *s, double h, double t, int row)
{
    interpolate_attempt(s, h, t);
    jet_set_position(&s->jet, s->a);
    rk_evaluate_rows(s);
    if (!rk_factor(s, METRIC_EUCLIDEAN)) return 0.0;
    jet_row_margins(&s->jet, s->rate);
    return fmax(0.0, s->rate[row]);
}

static void set_dropped(jet_space *jet, int row, bool dropped)
{
    jet_joint *j = (jet_joint *)jet_joint_of_row(jet, row);
    j->dropped[row - j->first] = dropped;
}

// The branches of M cross in a flat position where all constraints hold. Where the geometry is a little off they do
// not: the motion turns from one into the other, and a step across would jump.
bool rk_flat_is_exact(scheme_solver *s, double h)
{
    jet_space *jet = &s->jet;
    double t = s->flat.at, worst = 0.0;
    // the lowest margin, by parabolas
    for (double apart = 0.05; apart > 1e-4; apart *= 0.1) {
        double low = margin_at(s, h, t - apart, s->flat.row),
               middle = margin_at(s, h, t, s->flat.row),
               high = margin_at(s, h, t + apart, s->flat.row), bend = low - 2.0 * middle + high;
        if (bend > 0.0) t += fmax(-2.0, fmin(2.0, 0.5 * (low - high) / bend)) * apart;
    }
    // the nearest point of M without the rows that lose rank there
    interpolate_attempt(s, h, t);
    for (int row = 0; row < jet->row_count; ++row) {
        s->kept[row] = true;
        double smallest = HUGE_VAL, largest = 0.0;
        for (int i = 0; i < s->margin_count; ++i) {
            smallest = fmin(smallest, s->margin[i][row]);
            largest = fmax(largest, s->margin[i][row]);
        }
        if (smallest > FLAT_DIP * FLAT_DIP * largest) continue;
        s->kept[row] = false;
        set_dropped(jet, row, true);
    }
    jet_set_position(jet, s->a);
    rk_evaluate_rows(s);
    memcpy(s->error, s->a, (size_t)jet->y_count * sizeof(double));
    bool good =
        rk_factor(s, METRIC_EUCLIDEAN) && rk_land_position(s, s->error, s->tolerance, s->error1);
    for (int row = 0; row < jet->row_count; ++row) {
        if (s->kept[row]) continue;
        const jet_joint *j = jet_joint_of_row(jet, row);
        worst = fmax(worst, fabs(jet->g[row]) / jet_row_unit(j, row - j->first));
        set_dropped(jet, row, false);
    }
    // back to the end of the step
    jet_set_position(jet, s->y_next);
    jet_set_velocity(jet, s->w_next);
    rk_evaluate_rows(s);
    s->at_end = false;
    return good && worst <= FLAT_EXACT;
}

int rk_nearest_flat(const scheme_solver *s, double *angle)
{
    int nearest = -1;
    *angle = 1.0;
    for (int i = 0; s->loops && i < s->margin_count; ++i)
        for (int row = 0; row < s->jet.row_count; ++row)
            if (s->margin[i][row] < *angle * *angle)
                *angle = sqrt(fmax(0.0, s->margin[i][row])), nearest = row;
    return nearest;
}

bool rk_drop_flat_rows(scheme_solver *s, bool *any)
{
    jet_space *jet = &s->jet;
    *any = false;
    for (int count = 0; !rk_factor(s, METRIC_EUCLIDEAN); ++count) { // exactly flat
        if (count > jet->row_count) return false;
        set_dropped(jet, jet->failed_row, true);
        *any = true;
    }
    jet_row_margins(jet, s->rate);
    for (int row = 0; row < jet->row_count; ++row) {
        if (s->rate[row] >= FLAT_OUTPUT * FLAT_OUTPUT * s->margin[0][row]) continue;
        set_dropped(jet, row, true);
        *any = true;
    }
    return !*any || rk_factor(s, METRIC_EUCLIDEAN);
}
