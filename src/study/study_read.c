// SPDX-License-Identifier: MIT
// Study files: parameters with their values, how they are drawn, how members run, what is kept, what is a failure.
#include "study/study.h"

#include "base/nearest_word.h"
#include "base/number_text.h"
#include "io/model_file.h"
#include "io/model_reader.h"
#include "study/counter_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STUDY_FILE_VERSION = 1, TABLE_ROWS_MAX = 10000000, DRAWS_MAX = 100000000 };
enum { LATIN_MAX = 10000000 };                    // whose order is kept
static const double PROBABILITY_TOLERANCE = 1e-9; // by which probabilities may miss 1

typedef struct study_reader {
    model_reader r;
    hn_study *study;
    hn_model *model; ///< of the first member, once it is known
    hn_simulation *simulation;
    bool has_lists; ///< list_count is that of one
} study_reader;

// ---- values -----------------------------------------------------------------------------------------

// A number whose unit, if it has one, is of the kind of another, if that is known.
static hn_status read_alike(study_reader *s, int index, const char *what, const unit_guess *unit,
                            double *value)
{
    unit_guess found;
    char words[80], expected[80];
    TRY(reader_united(&s->r, index, what, value, &found));
    if (!unit->known || !found.known || unit_alike(unit, &found)) return HN_OK;
    (void)unit_describe(found.kind, words, sizeof words);
    (void)unit_describe(unit->kind, expected, sizeof expected);
    return reader_fail(&s->r, index, "%s: '%.60s' is %s; expected %s", what,
                       reader_text(&s->r, index), words, expected);
}

static hn_status read_list(study_reader *s, int index, const char *what, const unit_guess *unit,
                           int *count, double **values)
{
    const yaml_node *node = reader_node(&s->r, index);
    if (node->kind == YAML_SEQUENCE && node->count == 0)
        return reader_fail(&s->r, index, "%s is empty; expected at least one number", what);
    int first;
    TRY(reader_expect_list(&s->r, index, what, -1, &first));
    *values = context_allocate(s->study->context, (size_t)node->count * sizeof(double));
    if (*values == NULL) return HN_OUT_OF_MEMORY;
    *count = node->count;
    for (int i = 0; i < *count; ++i, first = s->r.tree.nodes[first].next)
        TRY(read_alike(s, first, what, unit, &(*values)[i]));
    return HN_OK;
}

static hn_status read_whole(study_reader *s, int index, const char *what, double most,
                            int64_t *value)
{
    double number;
    TRY(reader_number(&s->r, index, what, QUANTITY_NUMBER, &number));
    if (!(number >= 1.0 && number <= most) || number != floor(number))
        return reader_fail(&s->r, index, "%s is %g; expected a whole number from 1 to %g", what,
                           number, most);
    *value = (int64_t)number;
    return HN_OK;
}

// A list, or {from, to, count}: evenly, both ends included; {..., logarithmic: true}: by equal factors.
static hn_status read_grid(study_reader *s, int index, study_parameter *p)
{
    static const char *const WORDS[] = {"from", "to", "count", "logarithmic"};
    if (reader_node(&s->r, index)->kind != YAML_MAPPING)
        return read_list(s, index, "grid", &p->unit, &p->count, &p->values);
    TRY(reader_expect_keys(&s->r, index, "grid", WORDS, WORD_COUNT(WORDS)));
    int from, to, count, node = reader_find(&s->r, index, "logarithmic");
    TRY(reader_require(&s->r, index, "from", "grid", &from));
    TRY(reader_require(&s->r, index, "to", "grid", &to));
    TRY(reader_require(&s->r, index, "count", "grid", &count));
    double a, b;
    int64_t n = 0;
    bool logarithmic = false;
    TRY(read_alike(s, from, "from", &p->unit, &a));
    TRY(read_alike(s, to, "to", &p->unit, &b));
    TRY(read_whole(s, count, "count of a grid", TABLE_ROWS_MAX, &n));
    if (node >= 0) TRY(reader_boolean(&s->r, node, "logarithmic", &logarithmic));
    if (logarithmic && !(a > 0.0 && b > 0.0))
        return reader_fail(&s->r, index, "a logarithmic grid from %g to %g; expected positive ends",
                           a, b);
    p->values = context_allocate(s->study->context, (size_t)n * sizeof(double));
    if (p->values == NULL) return HN_OUT_OF_MEMORY;
    p->count = (int)n;
    for (int64_t i = 0; i < n; ++i) {
        double part = n == 1 ? 0.0 : (double)i / (double)(n - 1);
        p->values[i] = i == n - 1 && n > 1 ? b
                       : logarithmic       ? a * pow(b / a, part)
                                           : a + part * (b - a);
    }
    return HN_OK;
}

static hn_status read_choice(study_reader *s, int index, study_parameter *p)
{
    static const char *const WORDS[] = {"values", "probabilities"};
    TRY(reader_expect_keys(&s->r, index, "choice", WORDS, WORD_COUNT(WORDS)));
    int values, node = reader_find(&s->r, index, "probabilities"), count = 0;
    const unit_guess number = unit_written((unit_kind){0, 0, 0, 0});
    TRY(reader_require(&s->r, index, "values", "choice", &values));
    TRY(read_list(s, values, "values", &p->unit, &p->count, &p->values));
    if (node >= 0) {
        TRY(read_list(s, node, "probabilities", &number, &count, &p->cumulative));
        if (count != p->count)
            return reader_fail(&s->r, node, "there are %d probabilities for %d values", count,
                               p->count);
    } else {
        p->cumulative = context_allocate(s->study->context, (size_t)p->count * sizeof(double));
        if (p->cumulative == NULL) return HN_OUT_OF_MEMORY;
        for (int i = 0; i < p->count; ++i) p->cumulative[i] = 1.0 / p->count;
    }
    double sum = 0.0;
    for (int i = 0; i < p->count; ++i) {
        if (p->cumulative[i] < 0.0)
            return reader_fail(&s->r, node, "probability %g is negative", p->cumulative[i]);
        sum = p->cumulative[i] += sum;
    }
    if (fabs(sum - 1.0) > PROBABILITY_TOLERANCE)
        return reader_fail(&s->r, node, "the probabilities sum to %.10g; expected 1", sum);
    return HN_OK;
}

static hn_status read_spread(study_reader *s, int index, study_parameter *p)
{
    bool normal = p->source == VALUES_NORMAL;
    static const char *const UNIFORM[] = {"from", "to"}, *const NORMAL[] = {"mean", "deviation"};
    const char *const *words = normal ? NORMAL : UNIFORM;
    const char *what = normal ? "normal" : "uniform";
    p->count = 2;
    p->values = context_allocate(s->study->context, 2 * sizeof(double));
    if (p->values == NULL) return HN_OUT_OF_MEMORY;
    if (reader_node(&s->r, index)->kind == YAML_SEQUENCE) {
        int entry;
        TRY(reader_expect_list(&s->r, index, what, 2, &entry));
        TRY(read_alike(s, entry, what, &p->unit, &p->values[0]));
        TRY(read_alike(s, s->r.tree.nodes[entry].next, what, &p->unit, &p->values[1]));
    } else {
        TRY(reader_expect_keys(&s->r, index, what, words, 2));
        for (int k = 0; k < 2; ++k) {
            int node;
            TRY(reader_require(&s->r, index, words[k], what, &node));
            TRY(read_alike(s, node, words[k], &p->unit, &p->values[k]));
        }
    }
    if (normal && !(p->values[1] > 0.0))
        return reader_fail(&s->r, index, "the deviation is %g; expected a positive number",
                           p->values[1]);
    if (!normal && !(p->values[0] < p->values[1]))
        return reader_fail(&s->r, index, "uniform from %g to %g; expected from below to",
                           p->values[0], p->values[1]);
    return HN_OK;
}

// ---- parameters -------------------------------------------------------------------------------------

static hn_status find_parameter(const study_reader *s, int key, const hn_model *base, int *index)
{
    const char *name = reader_text(&s->r, key);
    int count = hn_model_parameter_count(base);
    const char *words[64];
    for (int i = 0; i < count; ++i) {
        *index = i;
        if (strcmp(hn_model_parameter_name(base, i), name) == 0) return HN_OK;
        if (i < 64) words[i] = hn_model_parameter_name(base, i);
    }
    if (count == 0)
        return reader_fail(&s->r, key, "unknown parameter '%.60s': the model has no parameters",
                           name);
    return reader_fail_word(&s->r, key, "parameter", "the model", name, words,
                            count < 64 ? count : 64);
}

static hn_status add_parameter(study_reader *s, int key, const char *name, study_parameter **added)
{
    hn_study *study = s->study;
    for (int i = 0; i < study->parameter_count; ++i)
        if (strcmp(study->parameters[i].name, name) == 0)
            return reader_fail(&s->r, key, "parameter '%.60s' is given twice", name);
    size_t size = sizeof *study->parameters;
    study_parameter *more =
        context_allocate(study->context, ((size_t)study->parameter_count + 1) * size);
    if (more == NULL) return HN_OUT_OF_MEMORY;
    if (study->parameter_count > 0)
        memcpy(more, study->parameters, (size_t)study->parameter_count * size);
    context_release(study->context, study->parameters);
    study->parameters = more;
    *added = &study->parameters[study->parameter_count];
    (*added)->name = context_copy_string(study->context, name);
    if ((*added)->name == NULL) return HN_OUT_OF_MEMORY;
    study->parameter_count++;
    return HN_OK;
}

static hn_status note_list(study_reader *s, int index, const study_parameter *p)
{
    hn_study *study = s->study;
    if (s->has_lists && study->list_count != p->count)
        return reader_fail(&s->r, index,
                           "the list of '%s' has %d entries, another has %lld: lists go together, "
                           "entry by entry",
                           p->name, p->count, (long long)study->list_count);
    study->list_count = p->count;
    s->has_lists = true;
    return HN_OK;
}

static hn_status read_parameter(study_reader *s, int key, const hn_model *base)
{
    static const char *const WORDS[] = {"grid", "list", "uniform", "normal", "choice"};
    hn_study *study = s->study;
    study_parameter *p = NULL;
    int index = 0;
    TRY(find_parameter(s, key, base, &index));
    TRY(add_parameter(s, key, reader_text(&s->r, key), &p));
    const signed char *u = base->parameters[index].unit;
    p->unit = unit_written((unit_kind){u[0], u[1], u[2], u[3]});
    p->unit.known = !unit_is_pure(p->unit.kind);
    const char *word;
    int content;
    TRY(reader_kind(&s->r, reader_value(&s->r, key), p->name, WORDS, WORD_COUNT(WORDS), &word,
                    &content));
    int source = 0;
    while (strcmp(word, WORDS[source]) != 0) ++source;
    p->source = (value_source)source;
    if (p->source == VALUES_GRID) {
        TRY(read_grid(s, content, p));
        study->grid_count *= p->count;
        return HN_OK;
    }
    if (p->source == VALUES_LIST) {
        TRY(read_list(s, content, "list", &p->unit, &p->count, &p->values));
        return note_list(s, content, p);
    }
    p->dimension = study->dimension_count++;
    return p->source == VALUES_CHOICE ? read_choice(s, content, p) : read_spread(s, content, p);
}

static hn_status read_parameters(study_reader *s, int index, const hn_model *base)
{
    TRY(reader_expect_map(&s->r, index, "parameters"));
    for (int k = reader_node(&s->r, index)->first; k >= 0; k = reader_next_key(&s->r, k))
        TRY(read_parameter(s, k, base));
    return HN_OK;
}

// ---- a table of values ------------------------------------------------------------------------------

// A file beside the study's.
static hn_status beside(const study_reader *s, const char *name, char **path)
{
    const char *slash = strrchr(s->r.file, '/');
    size_t folder = name[0] == '/' || slash == NULL ? 0 : (size_t)(slash - s->r.file) + 1;
    size_t size = folder + strlen(name) + 1;
    *path = context_allocate(s->study->context, size);
    if (*path == NULL) return HN_OUT_OF_MEMORY;
    snprintf(*path, size, "%.*s%s", (int)folder, s->r.file, name);
    return HN_OK;
}

// The next cell of a line; false at its end. Blanks around it are not of it.
static bool next_cell(char **line, char **cell)
{
    if (*line == NULL) return false;
    char *comma = strchr(*line, ',');
    *cell = *line;
    *line = comma == NULL ? NULL : comma + 1;
    if (comma != NULL) *comma = '\0';
    while (**cell == ' ' || **cell == '"') ++*cell;
    size_t length = strlen(*cell);
    while (length > 0 && strchr(" \r\"", (*cell)[length - 1]) != NULL) (*cell)[--length] = '\0';
    return true;
}

// One column of values per parameter, named in the first line.
static hn_status read_rows(study_reader *s, int index, const char *path, char *text,
                           const hn_model *base)
{
    hn_study *study = s->study;
    int first = study->parameter_count, rows = 0, columns = 0, line_number = 1;
    for (const char *c = text; *c != '\0'; ++c) rows += *c == '\n';
    char *rest = strchr(text, '\n'), *cell, *line = text;
    if (rest != NULL) *rest++ = '\0';
    while (next_cell(&line, &cell)) {
        bool known = false;
        for (int i = 0; i < hn_model_parameter_count(base); ++i)
            known |= strcmp(hn_model_parameter_name(base, i), cell) == 0;
        if (!known)
            return reader_fail(&s->r, index, "%s:1: the model has no parameter '%.60s'", path,
                               cell);
        study_parameter *p = NULL;
        TRY(add_parameter(s, index, cell, &p));
        p->source = VALUES_LIST;
        p->values = context_allocate(study->context, ((size_t)rows + 1) * sizeof(double));
        if (p->values == NULL) return HN_OUT_OF_MEMORY;
        columns++;
    }
    while (rest != NULL && *rest != '\0') {
        line = rest;
        rest = strchr(rest, '\n');
        if (rest != NULL) *rest++ = '\0';
        line_number++;
        if (line[strspn(line, " \r")] == '\0') continue;
        for (int k = 0; k < columns; ++k) {
            study_parameter *p = &study->parameters[first + k];
            double value;
            if (!next_cell(&line, &cell) || !number_read(cell, &value))
                return reader_fail(&s->r, index, "%s:%d: expected %d numbers, one per parameter",
                                   path, line_number, columns);
            p->values[p->count++] = value;
        }
        if (line != NULL)
            return reader_fail(&s->r, index, "%s:%d: more than %d numbers", path, line_number,
                               columns);
    }
    if (study->parameters[first].count == 0)
        return reader_fail(&s->r, index, "%s: the table has no rows", path);
    return note_list(s, index, &study->parameters[first]);
}

static hn_status read_table(study_reader *s, int index, const hn_model *base)
{
    const char *name;
    char *path = NULL, *text = NULL, *ended = NULL;
    size_t length = 0;
    TRY(reader_word(&s->r, index, "table", &name));
    TRY(beside(s, name, &path));
    hn_status status = model_file_text(s->study->context, path, &text, &length);
    if (status == HN_OK) {
        if (length > 0 && memchr(text, '\0', length) != NULL)
            status = reader_fail(&s->r, index, "%s: found a zero character; expected text", path);
        ended = context_allocate(s->study->context, length + 1);
        if (ended == NULL) status = HN_OUT_OF_MEMORY;
        else if (length > 0) memcpy(ended, text, length);
    }
    if (status == HN_OK) status = read_rows(s, index, path, ended, base);
    context_release(s->study->context, ended);
    context_release(s->study->context, text);
    s->study->sources[s->study->source_count++] = path;
    return status;
}

// ---- how values are drawn, how members run ----------------------------------------------------------

static hn_status read_samples(study_reader *s, int index)
{
    static const char *const WORDS[] = {"count", "method", "seed"};
    static const char *const METHODS[] = {"random", "latin-hypercube", "sobol"};
    hn_study *study = s->study;
    TRY(reader_expect_keys(&s->r, index, "samples", WORDS, WORD_COUNT(WORDS)));
    int count, node = reader_find(&s->r, index, "method");
    TRY(reader_require(&s->r, index, "count", "samples", &count));
    TRY(read_whole(s, count, "count of samples", DRAWS_MAX, &study->draw_count));
    if (node >= 0) {
        const char *word;
        TRY(reader_word(&s->r, node, "method", &word));
        int method = 0;
        while (method < 3 && strcmp(word, METHODS[method]) != 0) ++method;
        if (method == 3)
            return reader_fail_word(&s->r, node, "method", "samples", word, METHODS, 3);
        study->method = (sampling_method)method;
    }
    node = reader_find(&s->r, index, "seed");
    if (node >= 0) {
        double seed;
        TRY(reader_number(&s->r, node, "seed", QUANTITY_NUMBER, &seed));
        if (!(seed >= 0.0 && seed <= 9007199254740992.0) || seed != floor(seed))
            return reader_fail(&s->r, node, "the seed is %g; expected a whole number up to 2^53",
                               seed);
        study->seed = (uint64_t)seed;
    }
    if (study->method == SAMPLING_LATIN && study->draw_count > LATIN_MAX)
        return reader_fail(&s->r, count, "%lld samples; latin-hypercube takes at most %d",
                           (long long)study->draw_count, LATIN_MAX);
    if (study->dimension_count == 0)
        return reader_fail(&s->r, index,
                           "samples are drawn, but no parameter has a distribution: "
                           "expected one with uniform, normal or choice");
    if (study->method == SAMPLING_SOBOL && study->dimension_count > SOBOL_DIMENSIONS)
        return reader_fail(&s->r, index, "%d parameters are drawn; sobol takes at most %d",
                           study->dimension_count, SOBOL_DIMENSIONS);
    return HN_OK;
}

static hn_status add_setting(hn_study *study, const char *name, const char *value)
{
    study_setting *added = &study->settings[study->setting_count++];
    added->name = context_copy_string(study->context, name);
    added->value = context_copy_string(study->context, value);
    return added->name == NULL || added->value == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

// Settings of members: the words of hn_simulation_def_set, `step`, and `end`.
static hn_status read_run(study_reader *s, int index)
{
    hn_study *study = s->study;
    hn_simulation_def tried = hn_simulation_def_default();
    TRY(reader_expect_map(&s->r, index, "run"));
    study->settings = context_allocate(
        study->context, ((size_t)reader_node(&s->r, index)->count + 1) * sizeof *study->settings);
    if (study->settings == NULL) return HN_OUT_OF_MEMORY;
    for (int k = reader_node(&s->r, index)->first; k >= 0; k = reader_next_key(&s->r, k)) {
        const char *word = reader_text(&s->r, k), *value;
        int node = reader_value(&s->r, k);
        if (strcmp(word, "end") == 0) {
            TRY(reader_positive(&s->r, node, "end", QUANTITY_TIME, "seconds", &study->own_end));
        } else if (strcmp(word, "step") == 0) {
            TRY(reader_positive(&s->r, node, "step", QUANTITY_TIME, "seconds", &study->own_step));
        } else {
            TRY(reader_word(&s->r, node, word, &value));
            hn_status status = hn_simulation_def_set(study->context, &tried, word, value);
            if (status != HN_OK) return reader_place(&s->r, k, HN_FILE_FORMAT);
            TRY(add_setting(study, word, value));
        }
    }
    return HN_OK;
}

// ---- outputs ----------------------------------------------------------------------------------------

// A word selects a number by its name; a coordinate also without the word `coordinates`, a total without its group.
static bool selects(const char *word, const char *name)
{
    static const char COORDINATES[] = "/coordinates/";
    if (strcmp(word, name) == 0) return true;
    const char *middle = strstr(name, COORDINATES);
    if (middle != NULL) {
        size_t head = (size_t)(middle - name) + 1;
        if (strncmp(word, name, head) == 0 &&
            strcmp(word + head, middle + sizeof COORDINATES - 1) == 0)
            return true;
    }
    return strncmp(name, "ledger/", 7) == 0 && strcmp(word, name + 7) == 0;
}

static hn_status find_quantity(study_reader *s, int index, const char *word, study_output *o)
{
    char name[QUANTITY_NAME_SIZE], nearest[QUANTITY_NAME_SIZE] = "";
    const char *unit;
    for (int k = 0; k < hn_field_count(); ++k) {
        hn_view view;
        const char *field = hn_field_at(k).name;
        hn_status status = hn_simulation_view(s->simulation, field, &view);
        if (status == HN_OUT_OF_MEMORY) return status;
        if (status != HN_OK) continue;
        size_t width = 1;
        for (int d = 0; d < view.rank; ++d) width *= view.shape[d];
        for (size_t i = 0; i < width; ++i) {
            if (hn_model_field_column(s->model, field, i, name, sizeof name, &unit) != HN_OK)
                continue;
            if (selects(word, name)) {
                o->number = i;
                snprintf(o->field, sizeof o->field, "%s", field);
                snprintf(o->column, sizeof o->column, "%s", name);
                snprintf(o->unit, sizeof o->unit, "%s", unit);
                return HN_OK;
            }
            const char *pair[2] = {name, nearest};
            const char *near = nearest_word(word, pair, nearest[0] == '\0' ? 1 : 2);
            if (near == name) snprintf(nearest, sizeof nearest, "%s", name);
        }
    }
    if (nearest[0] != '\0')
        return reader_fail(&s->r, index, "unknown quantity '%.100s' (did you mean '%s'?)", word,
                           nearest);
    return reader_fail(&s->r, index,
                       "unknown quantity '%.100s'; expected one number of a result file, such as "
                       "bodies/NAME/position/x, joints/NAME/angle or energy",
                       word);
}

static hn_status add_output(study_reader *s, int key, const study_output *like, const char *suffix)
{
    hn_study *study = s->study;
    size_t size = sizeof *study->outputs;
    study_output *more = context_allocate(study->context, ((size_t)study->output_count + 1) * size);
    if (more == NULL) return HN_OUT_OF_MEMORY;
    if (study->output_count > 0) memcpy(more, study->outputs, (size_t)study->output_count * size);
    context_release(study->context, study->outputs);
    study->outputs = more;
    char name[256];
    snprintf(name, sizeof name, "%.200s%s", reader_text(&s->r, key), suffix);
    study_output *o = &study->outputs[study->output_count];
    *o = *like;
    o->name = context_copy_string(study->context, name);
    if (o->name == NULL) return HN_OUT_OF_MEMORY;
    study->output_count++;
    return HN_OK;
}

static const char *const KEEPS[] = {"minimum", "maximum", "mean", "integral"};
static const output_kind KEEP_KINDS[] = {OUTPUT_MINIMUM, OUTPUT_MAXIMUM, OUTPUT_MEAN,
                                         OUTPUT_INTEGRAL};

static hn_status add_keep(study_reader *s, int key, int node, study_output o, bool many)
{
    const char *word;
    char suffix[32] = "";
    TRY(reader_word(&s->r, node, "keep", &word));
    int k = 0;
    while (k < WORD_COUNT(KEEPS) && strcmp(word, KEEPS[k]) != 0) ++k;
    if (k == WORD_COUNT(KEEPS))
        return reader_fail_word(&s->r, node, "word", "keep", word, KEEPS, WORD_COUNT(KEEPS));
    o.kind = KEEP_KINDS[k];
    if (o.kind == OUTPUT_INTEGRAL) {
        size_t used = strlen(o.unit);
        snprintf(o.unit + used, sizeof o.unit - used, " s");
    }
    if (many) snprintf(suffix, sizeof suffix, ".%s", word);
    return add_output(s, key, &o, suffix);
}

// Do members run for different times? The model's `end` is no number by itself then.
static hn_status end_varies(const study_reader *s, bool *varies)
{
    const hn_study *study = s->study;
    *varies = false;
    if (study->own_end > 0.0) return HN_OK;
    model_reader r = {
        .context = study->context, .file = study->model_name, .expressions = s->r.expressions};
    hn_status status =
        yaml_tree_read(study->context, study->model_text, study->model_length, r.file, &r.tree);
    if (status == HN_OK) {
        int run = reader_find(&r, r.tree.root, "run"),
            node = run < 0 ? -1 : reader_find(&r, run, "end");
        double end;
        *varies = node >= 0 && reader_number(&r, node, "end", QUANTITY_TIME, &end) != HN_OK;
    }
    yaml_tree_clear(&r.tree);
    return status;
}

static hn_status add_at(study_reader *s, int key, int node, study_output o, bool many)
{
    char suffix[32] = "";
    o.kind = OUTPUT_AT;
    o.argument = -1.0;
    const yaml_node *at = reader_node(&s->r, node);
    bool end = at->kind == YAML_SCALAR && strcmp(reader_text(&s->r, node), "end") == 0;
    if (!end) {
        TRY(reader_number(&s->r, node, "at", QUANTITY_TIME, &o.argument));
        bool within = o.argument >= 0.0 && o.argument <= s->study->end * (1.0 + 1e-12);
        if (!within && o.argument > 0.0) TRY(end_varies(s, &within)); // each member is asked then
        if (!within)
            return reader_fail(&s->r, node, "at %g s, but members run from 0 to %g s", o.argument,
                               s->study->end);
    }
    if (many && end) snprintf(suffix, sizeof suffix, "@end");
    else if (many) snprintf(suffix, sizeof suffix, "@%g", o.argument);
    return add_output(s, key, &o, suffix);
}

static hn_status each(study_reader *s, int key, int node, study_output o,
                      hn_status (*add)(study_reader *, int, int, study_output, bool))
{
    const yaml_node *value = reader_node(&s->r, node);
    if (value->kind != YAML_SEQUENCE) return add(s, key, node, o, false);
    for (int i = value->first; i >= 0; i = s->r.tree.nodes[i].next) TRY(add(s, key, i, o, true));
    return HN_OK;
}

static hn_status read_output(study_reader *s, int key)
{
    static const char *const WORDS[] = {"of", "at", "keep", "first_above", "first_below"};
    int map = reader_value(&s->r, key), of, ways = 0;
    const char *word;
    study_output o = {0};
    TRY(reader_expect_keys(&s->r, map, reader_text(&s->r, key), WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(&s->r, map, "of", reader_text(&s->r, key), &of));
    TRY(reader_word(&s->r, of, "of", &word));
    TRY(find_quantity(s, of, word, &o));
    for (int k = 1; k < WORD_COUNT(WORDS); ++k) {
        int node = reader_find(&s->r, map, WORDS[k]);
        if (node < 0) continue;
        if (ways++ > 0)
            return reader_fail(&s->r, node,
                               "output '%.60s' has at, keep, first_above or "
                               "first_below; expected one of them",
                               reader_text(&s->r, key));
        if (k == 1) TRY(each(s, key, node, o, add_at));
        else if (k == 2) TRY(each(s, key, node, o, add_keep));
        else {
            o.kind = k == 3 ? OUTPUT_FIRST_ABOVE : OUTPUT_FIRST_BELOW;
            const unit_guess unit = unit_of_text(o.unit);
            snprintf(o.unit, sizeof o.unit, "s");
            TRY(read_alike(s, node, WORDS[k], &unit, &o.argument));
            TRY(add_output(s, key, &o, ""));
        }
    }
    if (ways == 0) {
        o.kind = OUTPUT_AT;
        o.argument = -1.0;
        TRY(add_output(s, key, &o, ""));
    }
    return HN_OK;
}

static hn_status read_outputs(study_reader *s, int index)
{
    TRY(reader_expect_map(&s->r, index, "outputs"));
    for (int k = reader_node(&s->r, index)->first; k >= 0; k = reader_next_key(&s->r, k))
        TRY(read_output(s, k));
    if (s->study->output_count > 0) return HN_OK;
    return reader_fail(&s->r, index, "the study keeps nothing; expected at least one output");
}

// ---- failures ---------------------------------------------------------------------------------------

static hn_status read_limit(study_reader *s, int key, study_limit *limit)
{
    static const char *const WORDS[] = {"above", "below"};
    const char *names[64], *name = reader_text(&s->r, key);
    int map = reader_value(&s->r, key), listed = 0;
    hn_study *study = s->study;
    *limit = (study_limit){-1, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < study->output_count; ++i) {
        if (strcmp(study->outputs[i].name, name) == 0) limit->output = i;
        if (listed < 64) names[listed++] = study->outputs[i].name;
    }
    if (limit->output < 0)
        return reader_fail_word(&s->r, key, "output", "failure", name, names, listed);
    TRY(reader_expect_keys(&s->r, map, name, WORDS, 2));
    int above = reader_find(&s->r, map, "above"), below = reader_find(&s->r, map, "below");
    const unit_guess unit = unit_of_text(study->outputs[limit->output].unit);
    if (above >= 0) TRY(read_alike(s, above, "above", &unit, &limit->above));
    if (below >= 0) TRY(read_alike(s, below, "below", &unit, &limit->below));
    if (above >= 0 || below >= 0) return HN_OK;
    return reader_fail(&s->r, map, "'%.60s' has no limit; expected above or below", name);
}

static hn_status read_failure(study_reader *s, int index)
{
    hn_study *study = s->study;
    TRY(reader_expect_map(&s->r, index, "failure"));
    study->limits = context_allocate(
        study->context, ((size_t)reader_node(&s->r, index)->count + 1) * sizeof *study->limits);
    if (study->limits == NULL) return HN_OUT_OF_MEMORY;
    for (int k = reader_node(&s->r, index)->first; k >= 0; k = reader_next_key(&s->r, k)) {
        if (strcmp(reader_text(&s->r, k), "ledger") == 0)
            TRY(reader_boolean(&s->r, reader_value(&s->r, k), "ledger", &study->ledger_counts));
        else TRY(read_limit(s, k, &study->limits[study->limit_count++]));
    }
    return HN_OK;
}

// ---- the whole --------------------------------------------------------------------------------------

static hn_status read_version(const study_reader *s, int root)
{
    double version;
    int node = reader_find(&s->r, root, "holonom_study");
    if (node < 0)
        return reader_fail(&s->r, root,
                           "the file is no study: expected 'holonom_study: %d' at its top",
                           STUDY_FILE_VERSION);
    TRY(reader_number(&s->r, node, "format version", QUANTITY_NUMBER, &version));
    if (version == STUDY_FILE_VERSION) return HN_OK;
    return reader_fail(&s->r, node, "format version is %g; expected %d", version,
                       STUDY_FILE_VERSION);
}

// The text of the model: given, or of the file that the study names.
static hn_status take_model(study_reader *s, int root, const char *model, size_t length,
                            hn_model **base)
{
    hn_study *study = s->study;
    char *path = NULL, *text = NULL;
    const char *name;
    int node = reader_find(&s->r, root, "model");
    if (model == NULL) {
        TRY(reader_require(&s->r, root, "model", "the study", &node));
        TRY(reader_word(&s->r, node, "model", &name));
        TRY(beside(s, name, &path));
        study->sources[study->source_count] = context_copy_string(study->context, path);
        if (study->sources[study->source_count++] == NULL) {
            context_release(study->context, path);
            return HN_OUT_OF_MEMORY;
        }
    } else {
        path = context_copy_string(study->context, "model");
        if (path == NULL) return HN_OUT_OF_MEMORY;
    }
    study->model_name = path;
    if (model == NULL) {
        hn_status status = model_file_text(study->context, path, &text, &length);
        if (status != HN_OK) return reader_place(&s->r, node, status);
    }
    study->model_text = context_allocate(study->context, length + 1);
    if (study->model_text != NULL && length > 0)
        memcpy(study->model_text, model == NULL ? text : model, length);
    context_release(study->context, text);
    if (study->model_text == NULL) return HN_OUT_OF_MEMORY;
    study->model_length = length;
    return hn_model_parse(study->context, study->model_text, length, path, base);
}

static hn_status read_members(study_reader *s, int root, const hn_model *base)
{
    hn_study *study = s->study;
    int parameters = reader_find(&s->r, root, "parameters"),
        table = reader_find(&s->r, root, "table"), samples = reader_find(&s->r, root, "samples");
    study->grid_count = study->list_count = study->draw_count = 1;
    if (parameters < 0 && table < 0)
        return reader_fail(&s->r, root, "the study varies nothing; expected parameters or a table");
    if (parameters >= 0) TRY(read_parameters(s, parameters, base));
    if (table >= 0) TRY(read_table(s, table, base));
    if (study->parameter_count == 0)
        return reader_fail(&s->r, parameters,
                           "the study varies nothing; expected at least one parameter");
    if (samples >= 0) TRY(read_samples(s, samples));
    else if (study->dimension_count > 0)
        return reader_fail(&s->r, root,
                           "a parameter has a distribution; expected samples with "
                           "their count");
    return reader_place(&s->r, root, study_prepare_samples(study));
}

static hn_status read_settings(study_reader *s, int root, const hn_model *base)
{
    hn_study *study = s->study;
    int run = reader_find(&s->r, root, "run");
    if (run >= 0) TRY(read_run(s, run));
    TRY(study_settings(study->context, study, base, &study->def, &study->end));
    if (!(study->def.step_size > 0.0) || !(study->end > 0.0))
        return reader_fail(&s->r, run >= 0 ? run : root,
                           "neither the study nor the model says how to run: expected step and "
                           "end in run");
    return HN_OK;
}

static hn_status read_study(study_reader *s, const char *model, size_t model_length,
                            hn_model **base)
{
    static const char *const WORDS[] = {"holonom_study", "name",       "model",
                                        "run",           "parameters", "table",
                                        "samples",       "outputs",    "failure"};
    hn_study *study = s->study;
    TRY(yaml_tree_read(study->context, study->text, study->text_length, s->r.file, &s->r.tree));
    int root = s->r.tree.root, outputs, failure;
    TRY(reader_expect_map(&s->r, root, "the file"));
    TRY(read_version(s, root));
    TRY(reader_expect_keys(&s->r, root, "the study", WORDS, WORD_COUNT(WORDS)));
    TRY(take_model(s, root, model, model_length, base));
    const char *name = hn_model_name(*base);
    int node = reader_find(&s->r, root, "name");
    if (node >= 0) TRY(reader_word(&s->r, node, "name", &name));
    study->name = context_copy_string(study->context, name);
    if (study->name == NULL) return HN_OUT_OF_MEMORY;
    TRY(read_members(s, root, *base));
    TRY(read_settings(s, root, *base));
    TRY(reader_require(&s->r, root, "outputs", "the study", &outputs));
    // quantities are those of the model as it is; members have them where their own models say
    hn_status status = hn_simulation_create(*base, &study->def, &s->simulation);
    int run = reader_find(&s->r, root, "run");
    if (status != HN_OK) return reader_place(&s->r, run >= 0 ? run : root, status);
    s->model = *base;
    TRY(read_outputs(s, outputs));
    study->ledger_counts = study->def.ledger;
    failure = reader_find(&s->r, root, "failure");
    return failure < 0 ? HN_OK : read_failure(s, failure);
}

hn_status study_read(hn_study *study, const char *file, const char *model, size_t model_length)
{
    study_reader s = {.r = {.context = study->context, .file = file}, .study = study};
    hn_model *base = NULL;
    hn_status status = expression_set_create(study->context, &s.r.expressions);
    if (status == HN_OK) status = read_study(&s, model, model_length, &base);
    hn_simulation_destroy(s.simulation);
    hn_model_destroy(base);
    yaml_tree_clear(&s.r.tree);
    expression_set_destroy(s.r.expressions);
    return status;
}
