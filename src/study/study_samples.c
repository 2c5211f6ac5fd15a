// SPDX-License-Identifier: MIT
// Which values a member has: a function of the study and the member's number alone.
#include "study/study.h"

#include "study/counter_random.h"

// Streams of random numbers under a seed: one per dimension for draws, for orders and for shifts.
enum { STREAM_DRAWS = 0, STREAM_ORDERS = 0x10000, STREAM_SHIFTS = 0x20000 };

hn_status study_prepare_samples(hn_study *study)
{
    const int64_t MEMBERS_MAX = 1000000000;
    double count =
        (double)study->grid_count * (double)study->list_count * (double)study->draw_count;
    if (count > (double)MEMBERS_MAX)
        return context_fail(study->context, HN_FILE_FORMAT,
                            "the study has %.3g members; expected at most %lld", count,
                            (long long)MEMBERS_MAX);
    study->member_count = study->grid_count * study->list_count * study->draw_count;
    if (study->method != SAMPLING_LATIN || study->dimension_count == 0) return HN_OK;
    size_t n = (size_t)study->draw_count;
    study->orders =
        context_allocate(study->context, (size_t)study->dimension_count * n * sizeof(uint32_t));
    if (study->orders == NULL) return HN_OUT_OF_MEMORY;
    for (int d = 0; d < study->dimension_count; ++d)
        random_order(study->seed, STREAM_ORDERS + (uint32_t)d, (uint32_t)n,
                     study->orders + (size_t)d * n);
    return HN_OK;
}

// A probability for draw number `draw` of a dimension.
static double probability_of(const hn_study *study, int dimension, int64_t draw)
{
    uint64_t bits = counter_bits(study->seed, STREAM_DRAWS + (uint32_t)dimension, (uint64_t)draw);
    if (study->method == SAMPLING_RANDOM) return unit_number(bits);
    if (study->method == SAMPLING_LATIN) {
        size_t n = (size_t)study->draw_count;
        uint32_t row = study->orders[(size_t)dimension * n + (size_t)draw];
        return (row + unit_number(bits)) / (double)n;
    }
    // shifted by a random number, bit by bit: the same evenness, and no point at the edge
    uint64_t shift = counter_bits(study->seed, STREAM_SHIFTS + (uint32_t)dimension, 0);
    uint64_t fraction = (uint64_t)sobol_fraction(dimension, (uint32_t)draw) << 32;
    return unit_number(fraction ^ shift);
}

static double draw_value(const hn_study *study, const study_parameter *p, int64_t draw)
{
    double u = probability_of(study, p->dimension, draw);
    switch (p->source) {
    case VALUES_UNIFORM: return p->values[0] + u * (p->values[1] - p->values[0]);
    case VALUES_NORMAL: return p->values[0] + p->values[1] * normal_quantile(u);
    default: break;
    }
    int k = 0;
    while (k + 1 < p->count && u >= p->cumulative[k]) ++k;
    return p->values[k];
}

hn_status hn_study_parameters(const hn_study *study, int64_t member, double *values)
{
    REQUIRE(NULL, study != NULL);
    if (values == NULL || member < 0 || member >= study->member_count)
        return context_fail(study->context, HN_INVALID_ARGUMENT,
                            "there is no member %lld: the study has %lld", (long long)member,
                            (long long)study->member_count);
    int64_t draw = member % study->draw_count, rest = member / study->draw_count;
    int64_t entry = rest % study->list_count, grid = rest / study->list_count;
    // the last grid counts fastest
    for (int i = study->parameter_count - 1; i >= 0; --i) {
        const study_parameter *p = &study->parameters[i];
        if (p->source == VALUES_GRID) {
            values[i] = p->values[grid % p->count];
            grid /= p->count;
        } else if (p->source == VALUES_LIST) {
            values[i] = p->values[entry];
        } else {
            values[i] = draw_value(study, p, draw);
        }
    }
    return HN_OK;
}
