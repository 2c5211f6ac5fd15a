// SPDX-License-Identifier: MIT
// Functions of time: checked, and copied with what their evaluation needs. (Evaluated: profile_values.c.)
#ifndef MODEL_PROFILES_H
#define MODEL_PROFILES_H

#include <holonom/model.h>

#include "base/context.h"
#include "model/time_expression.h"

/// What a copy knows beside the definition; in one block with the copies of its arrays and its text.
struct hn_profile_inner {
    const double *slopes; ///< 1/s, spline: at its points
    const time_instruction *code;
    int code_count;
    bool has_corners; ///< uses abs, min, max or comparisons
};

/// Times that increase, numbers that are finite, an expression that can be read. `kind` and `name` begin the message.
hn_status profile_check(hn_context *context, const char *kind, const char *name, const hn_profile *profile);
/// Own copy of a checked profile.
hn_status profile_copy(hn_context *context, const hn_profile *from, hn_profile *to);
/// Release a copy; one that is all zero is fine.
void profile_release(hn_context *context, hn_profile *copy);

/// A function of time with its first two derivatives; where they jump, those to the right.
time_jet profile_at(const hn_profile *profile, double time);
/// Its value at a part of the way between two times without a point or corner between them; one at an end is outside.
double profile_within(const hn_profile *profile, double begin, double end, double part);
/// Its mean between two times (F7), (F12), (F13); its value where they are equal.
double profile_mean(const hn_profile *profile, double begin, double end);
/// The same, and how it was found.
typedef struct profile_average {
    double mean;
    double by_points; ///< that of an expression by five points on every piece without a corner
    bool sure;        ///< false: it does more there than pieces of pieces, of which there are many, show
} profile_average;
profile_average profile_average_over(const hn_profile *profile, double begin, double end);
/// Mean between two times that is known already.
typedef struct known_mean {
    bool known;
    double begin, end, mean;
} known_mean;
/// The mean, which `kept` may know.
static inline double profile_kept_mean(const hn_profile *profile, const known_mean *kept, double begin, double end)
{
    return kept->known && kept->begin == begin && kept->end == end ? kept->mean : profile_mean(profile, begin, end);
}
/// First time after `time` at which the slope of the factor jumps; HUGE_VAL: none.
double profile_next_kink(const hn_profile *profile, double time);
/// s, of the time: corners of an expression this near to the end of a piece belong to it.
#define PROFILE_SAME_TIME 2e-14
/// First time after `begin`, until `end`, at which it has a kink, or an expression takes another side of abs, min, max
/// or a comparison; HUGE_VAL: none. `*sure` false: some of those may have been passed.
double profile_next_corner(const hn_profile *profile, double begin, double end, bool *sure);
/// Is there such a corner of an expression at this time?
bool profile_has_corner_at(const hn_profile *profile, double time);
/// Do values at `count` parts of the way from `begin` to `end` show what an expression does in between? UNSURE: bounds
/// of its values do not tell. Peaks that are not higher than `small` are none.
typedef enum profile_sight { PROFILE_SEEN, PROFILE_HIDDEN, PROFILE_UNSURE } profile_sight;
profile_sight profile_is_seen(const hn_profile *profile, double begin, double end, const double *nodes, int count,
                              double small);
/// May its rate jump at all?
bool profile_may_jump(const hn_profile *profile);
/// First time after `begin`, until `end`, at which its rate jumps, or it does itself; HUGE_VAL: none.
double profile_next_jump(const hn_profile *profile, double begin, double end);
/// Shortest time between two of its kinks and where it begins; HUGE_VAL: fewer than two.
double profile_finest(const hn_profile *profile, double *time);

#endif
