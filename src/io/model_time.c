// SPDX-License-Identifier: MIT
// Functions of time in model files: numbers, expressions in t, tables, splines, pulses, steps.
#include "io/model_reader.h"

#include <string.h>

enum { PLAIN_EXPRESSION_MAX = 4000 }; // bytes, with parameters replaced

// Keys of increasing times in a map.
static hn_status read_times(const model_reader *r, int map, const char *what,
                            const char *const *words, int count, double **values)
{
    TRY(reader_expect_keys(r, map, what, words, count));
    for (int i = 0; i < count; ++i) {
        int node;
        TRY(reader_require(r, map, words[i], what, &node));
        TRY(reader_number(r, node, words[i], QUANTITY_TIME, values[i]));
        if (i > 0 && *values[i] <= *values[i - 1])
            return reader_fail(r, node,
                               "%s is %g s, not after the %s at %g s; expected increasing times",
                               words[i], *values[i], words[i - 1], *values[i - 1]);
    }
    return HN_OK;
}

static hn_status read_pulse(const model_reader *r, int index, hn_profile *profile)
{
    static const char *const WORDS[] = {"start", "peak", "end"};
    double *values[] = {&profile->start, &profile->peak, &profile->end};
    profile->kind = HN_PROFILE_PULSE;
    return read_times(r, index, "pulse", WORDS, WORD_COUNT(WORDS), values);
}

static hn_status read_step(const model_reader *r, int index, hn_profile *profile)
{
    static const char *const WORDS[] = {"start", "end"};
    double *values[] = {&profile->start, &profile->end};
    profile->kind = HN_PROFILE_STEP;
    return read_times(r, index, "step", WORDS, WORD_COUNT(WORDS), values);
}

hn_status reader_table(const model_reader *r, int index, const char *what, hn_profile_kind kind,
                       const table_words *of, time_function *f)
{
    const char *const *words = of->words;
    TRY(reader_expect_keys(r, index, what, words, 3));
    int places, entry, factors = reader_find(r, index, words[2]);
    TRY(reader_require(r, index, words[0], what, &places));
    const char *word = words[reader_find(r, index, words[1]) >= 0 ? 1 : 2];
    if (word == words[1] && factors >= 0)
        return reader_fail(r, factors, "%s has both %s and %s; expected one of them", what,
                           words[1], words[2]);
    TRY(reader_require(r, index, word, what, &factors));
    TRY(reader_expect_list(r, places, words[0], -1, &entry));
    const int count = reader_node(r, places)->count;
    double *numbers = context_allocate(r->context, 2 * (size_t)count * sizeof *numbers);
    if (numbers == NULL) return HN_OUT_OF_MEMORY;
    f->block = numbers;
    TRY(reader_numbers(r, places, words[0], of->from, count, numbers));
    for (int i = 0; i < count; ++i, entry = r->tree.nodes[entry].next) {
        if (i > 0 && numbers[i] <= numbers[i - 1])
            return reader_fail(
                r, entry, "%s %g%s is not after the one before; expected increasing %s",
                strcmp(words[0], "times") == 0 ? "time" : words[0], numbers[i], of->unit, words[0]);
    }
    TRY(reader_numbers(r, factors, word, of->to, count, numbers + count));
    f->profile =
        (hn_profile){.kind = kind, .times = numbers, .factors = numbers + count, .count = count};
    return HN_OK;
}

// Of the factor of a load values are called factors.
static hn_status read_table(const model_reader *r, int index, const char *what,
                            hn_profile_kind kind, quantity q, time_function *f)
{
    const table_words words = {{"times", "values", "factors"}, " s", QUANTITY_TIME, q};
    return reader_table(r, index, what, kind, &words, f);
}

static hn_status read_expression(const model_reader *r, int index, const char *what, quantity q,
                                 time_function *f)
{
    const yaml_node *node = reader_node(r, index);
    const char *text;
    expression_error error;
    TRY(reader_word(r, index, what, &text));
    char *plain = context_allocate(r->context, PLAIN_EXPRESSION_MAX);
    if (plain == NULL) return HN_OUT_OF_MEMORY;
    f->block = plain;
    f->profile = (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = plain};
    if (expression_in_time(r->expressions, text, plain, PLAIN_EXPRESSION_MAX, &error)) {
        const unit_guess unit = expression_unit(r->expressions, text);
        return reader_check_unit(r, index, what, q, &unit, node->length);
    }
    int offset = node->block ? 0 : error.position + (node->quoted ? 1 : 0);
    return context_fail(r->context, HN_FILE_FORMAT, "%s:%d:%d: %s: %s", r->file, node->line,
                        node->column + offset, what, error.message);
}

hn_status reader_time_kind(const model_reader *r, int map, quantity q, time_function *f)
{
    int table = reader_find(r, map, "table"), spline = reader_find(r, map, "spline"),
        pulse = reader_find(r, map, "pulse"), step = reader_find(r, map, "step"),
        expression = reader_find(r, map, "expression");
    f->scale = 1.0;
    if (table >= 0) return read_table(r, table, "table", HN_PROFILE_TABLE, q, f);
    if (spline >= 0) return read_table(r, spline, "spline", HN_PROFILE_SPLINE, q, f);
    if (pulse >= 0) return read_pulse(r, pulse, &f->profile);
    if (step >= 0) return read_step(r, step, &f->profile);
    return expression < 0 ? HN_OK : read_expression(r, expression, "expression", q, f);
}

hn_status reader_time_function(const model_reader *r, int index, const char *what, quantity q,
                               time_function *f)
{
    static const char *const WORDS[] = {"table", "spline", "pulse", "step", "expression", "scale"};
    *f = (time_function){.scale = 1.0};
    const yaml_node *node = reader_node(r, index);
    if (node->kind != YAML_MAPPING) {
        if (node->kind == YAML_SCALAR && node->length > 0 &&
            expression_has_time(yaml_text(&r->tree, node)))
            return read_expression(r, index, what, q, f);
        return reader_number(r, index, what, q, &f->scale);
    }
    TRY(reader_expect_keys(r, index, what, WORDS, WORD_COUNT(WORDS)));
    int kinds = 0, scale = reader_find(r, index, "scale");
    for (int i = 0; i < WORD_COUNT(WORDS) - 1; ++i) kinds += reader_find(r, index, WORDS[i]) >= 0;
    if (kinds != 1)
        return reader_fail(r, index,
                           "%s has %d of table, spline, pulse, step and expression; expected one",
                           what, kinds);
    const bool scaled = scale >= 0 && reader_unit(r, scale).known;
    TRY(reader_time_kind(r, index, scaled ? QUANTITY_NUMBER : q, f));
    return scale < 0 ? HN_OK : reader_number(r, scale, "scale", q, &f->scale);
}
