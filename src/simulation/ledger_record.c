// SPDX-License-Identifier: MIT
// Running measures of the ledger.
#include "simulation/ledger_record.h"

#include "base/sum.h"

#include <math.h>
#include <string.h>

bool ledger_sample_is_finite(const ledger_sample *m)
{
    // differences and sums of finite measures may overflow, products with zero do not
    double sum = 0.0 * m->kinetic + 0.0 * m->potential + 0.0 * m->work + 0.0 * m->linear +
                 0.0 * m->angular + 0.0 * m->distance + 0.0 * m->opening + 0.0 * m->residual;
    for (int k = 0; k < MOMENTUM_MAPS_MAX; ++k) sum += 0.0 * m->maps[k];
    return sum == 0.0 && isfinite(m->kinetic + m->potential - m->work);
}

void energy_band_start(energy_band *b, double balance)
{
    *b = (energy_band){.low = balance, .high = balance};
}

void energy_band_note(energy_band *b, double balance)
{
    b->low = -worse_of(-b->low, -balance);
    b->high = worse_of(b->high, balance);
    b->count++;
    if ((b->count & (b->count - 1)) != 0) return;
    for (int k = BAND_MARKS - 1; k > 0; --k) b->marks[k] = b->marks[k - 1];
    b->marks[0] = b->high - b->low;
}

bool energy_band_grows(const energy_band *b)
{
    enum { COUNT_MIN = 64, BURST_COUNT_MIN = 8 };
    const double GROWTH = 1.6; // a band that grows in proportion to time doubles
    const double BURST =
        1000.0; // the error of a motion that begins at rest grows by 2^4 or 2^6 in a doubling
    if (b->count >= BURST_COUNT_MIN && b->marks[1] > 0.0 && b->marks[0] > BURST * b->marks[1])
        return true;
    if (b->count < COUNT_MIN) return false;
    for (int k = 0; k + 1 < BAND_MARKS; ++k)
        if (!(b->marks[k] > GROWTH * b->marks[k + 1])) return false;
    return true;
}

void energy_account_note(energy_account *a, double kinetic, double potential, double work,
                         bool first)
{
    double balance = kinetic + potential - work;
    if (first) {
        *a = (energy_account){.start = balance, .potential_start = potential};
        energy_band_start(&a->band, balance);
    } else energy_band_note(&a->band, balance);
    a->drift = balance - a->start;
    a->error = worse_of(a->error, fabs(a->drift));
    a->kinetic_max = worse_of(a->kinetic_max, kinetic);
    a->potential_change_max =
        worse_of(a->potential_change_max, fabs(potential - a->potential_start));
    a->work_max = worse_of(a->work_max, fabs(work));
}

static void note(ledger_record *r, const ledger_sample *m)
{
    double balance = m->kinetic + m->potential - m->work;
    r->energy_drift = balance - r->energy_start;
    r->energy_error = worse_of(r->energy_error, fabs(r->energy_drift));
    r->kinetic_max = worse_of(r->kinetic_max, m->kinetic);
    r->potential_change_max =
        worse_of(r->potential_change_max, fabs(m->potential - r->potential_start));
    r->linear_scale = worse_of(r->linear_scale, m->linear);
    r->angular_scale = worse_of(r->angular_scale, m->angular);
    r->linear_drift = r->angular_drift = 0.0;
    for (int k = 0; k < r->map_count; ++k) {
        double change = fabs(m->maps[k] - r->momentum_start[k]);
        double *drift = k < r->translation_count ? &r->linear_drift : &r->angular_drift;
        *drift = worse_of(*drift, change);
    }
    r->linear_error = worse_of(r->linear_error, r->linear_drift);
    r->angular_error = worse_of(r->angular_error, r->angular_drift);
    r->distance_max = worse_of(r->distance_max, m->distance);
    r->arm_max = worse_of(r->arm_max, m->arm);
    r->opening_now = m->opening;
    r->residual_now = m->residual;
    r->opening = worse_of(r->opening, r->opening_now);
    r->residual = worse_of(r->residual, r->residual_now);
    if (!(m->openness <= r->openness)) {
        r->openness = m->openness;
        r->open_joint = m->open_joint;
        r->open_bound = m->open_bound;
    }
}

void ledger_record_start(ledger_record *r, const ledger_sample *m, int translation_count,
                         int map_count)
{
    *r = (ledger_record){.translation_count = translation_count, .map_count = map_count};
    r->energy_start = m->kinetic + m->potential - m->work;
    energy_band_start(&r->band, r->energy_start);
    r->potential_start = m->potential;
    memcpy(r->momentum_start, m->maps, sizeof r->momentum_start);
    note(r, m);
}

void ledger_record_note(ledger_record *r, const ledger_sample *m)
{
    note(r, m);
    energy_band_note(&r->band, m->kinetic + m->potential - m->work);
}
