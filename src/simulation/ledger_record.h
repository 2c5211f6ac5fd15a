// SPDX-License-Identifier: MIT
// Running measures of the ledger: a series of samples comes in, the worst and the latest errors stay. Knows nothing of
// simulations, so that it can be tried on made-up series.
#ifndef SIMULATION_LEDGER_RECORD_H
#define SIMULATION_LEDGER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum { BAND_MARKS = 4 };
enum { MOMENTUM_MAPS_MAX = 6 }; ///< translations, then the rest of the symmetries

/// What is measured at one moment.
typedef struct ledger_sample {
    double kinetic, potential, work; ///< J
    double maps[MOMENTUM_MAPS_MAX];  ///< conserved momenta: translations, then rotations
    double linear, angular;          ///< their scales: sum |p|, sum (|phi||p| + |J omega|)
    double distance;                 ///< m, largest coordinate of a centre of mass
    double arm;                      ///< m, its largest distance from the point that phi is from
    double opening, residual;        ///< of joints (m) and of constraints
    double openness, open_bound;     ///< largest opening over what its joint is allowed (m),
    int open_joint;                  ///< and which joint that is
} ledger_sample;

/// Within which T + V - W has been: a series comes in, its width stays.
typedef struct energy_band {
    double low, high;         ///< J
    double marks[BAND_MARKS]; ///< high - low when there were 2^k samples, the last such k first
    int64_t count;            ///< samples after the first
} energy_band;
void energy_band_start(energy_band *band, double balance);
void energy_band_note(energy_band *band, double balance);
/// It has grown in each of the last doublings of the run, about as fast as the run or faster; or by so much in the
/// last one that no swing about a mean can be meant.
bool energy_band_grows(const energy_band *band);

/// What remains of all samples. A measure that is not a number stays so: it is worse than any other.
typedef struct ledger_record {
    double energy_start, potential_start;
    double kinetic_max, potential_change_max;
    double energy_error, energy_drift;
    energy_band band; ///< of E - W
    double momentum_start[MOMENTUM_MAPS_MAX];
    double linear_error, linear_drift, angular_error, angular_drift;
    double step_min; ///< s, smallest part that a step was made in; 0: none
    double linear_scale, angular_scale;
    double opening, residual;
    double opening_now, residual_now;
    double openness, open_bound; ///< the joint that was worst for its size, and what it is allowed (m)
    int open_joint;
    double distance_max; ///< m, round-off of positions grows with it
    double arm_max;      ///< m
    double equations, equations_now; ///< residual of the equations of motion, relative, in the steps where it is
                                     ///< measured
    int equations_body;              ///< where and when it was worst
    int64_t equations_step;
    int translation_count, map_count;
} ledger_record;

/// Balance of one part's energy.
typedef struct energy_account {
    double start, potential_start;                      ///< J
    double kinetic_max, potential_change_max, work_max; ///< J
    double error, drift;                                ///< J, worst and latest T + V - W less the first
    energy_band band;
} energy_account;
void energy_account_note(energy_account *account, double kinetic, double potential, double work, bool first);

/// All measures are finite.
bool ledger_sample_is_finite(const ledger_sample *sample);

/// The first sample; the first `translation_count` of `map_count` momenta are linear.
void ledger_record_start(ledger_record *record, const ledger_sample *sample, int translation_count, int map_count);
void ledger_record_note(ledger_record *record, const ledger_sample *sample);

#endif
