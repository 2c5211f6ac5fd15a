// SPDX-License-Identifier: MIT
// Values of formulas: series from result files, counts of runs, measures and definitions, each found once.
#include "paper_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

typedef struct cached_value {
    struct cached_value *next;
    formula_value value;
    const paper_run *run; ///< NULL: a definition
    int member;
    char name[];
} cached_value;

static bool fail(char message[FORMULA_MESSAGE_SIZE], const char *what, const char *why)
{
    snprintf(message, FORMULA_MESSAGE_SIZE, "%.60s: %.180s", what, why);
    return false;
}

static const cached_value *find_cached(const paper_values *values, const paper_run *run, int member,
                                       const char *name)
{
    for (const cached_value *c = values->cache; c != NULL; c = c->next)
        if (c->run == run && c->member == member && strcmp(c->name, name) == 0) return c;
    return NULL;
}

static void keep(paper_values *values, const paper_run *run, int member, const char *name,
                 formula_value value)
{
    cached_value *c = malloc(sizeof *c + strlen(name) + 1);
    if (c == NULL) return; // it is found again when it is asked for again
    *c = (cached_value){values->cache, value, run, member};
    strcpy(c->name, name);
    values->cache = c;
}

static const paper_job *job_of(const paper_values *values, const paper_run *run, int member)
{
    int first = 0;
    for (const paper_run *r = values->p->runs; r != run; ++r) first += r->step_count;
    return &values->jobs[first + member];
}

// ---- series -----------------------------------------------------------------------------------------

static bool read_column(paper_values *values, hn_result_file *file, const char *word,
                        formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    hn_result_column column;
    size_t count = 0;
    const int64_t records = hn_result_file_info(file)->record_count;
    double *numbers = formula_numbers(&values->memory, (size_t)records);
    if (numbers == NULL) return fail(message, word, "there is no memory");
    hn_status status = hn_result_file_select(file, word, &column, 1, &count);
    if (status == HN_OK && count != 1) {
        char why[160];
        snprintf(why, sizeof why, "selects %zu columns; one is needed, such as %.100s", count,
                 hn_result_file_column_name(file, column));
        return fail(message, word, why);
    }
    if (status == HN_OK) status = hn_result_file_read_column(file, column, 0, records, 1, numbers);
    *value = (formula_value){numbers, (size_t)records};
    return status == HN_OK || fail(message, word, hn_context_message(values->context));
}

/// World place of a joint, on its second body if that is not the ground, in every record.
static bool joint_places(paper_values *values, hn_result_file *file, const char *name,
                         formula_value places[3], char message[FORMULA_MESSAGE_SIZE])
{
    static const char *const AXES[3] = {"x", "y", "z"};
    const hn_result_joint *joint = NULL;
    for (int i = 0; i < hn_result_file_info(file)->joint_count; ++i)
        if (strcmp(hn_result_file_joint(file, i)->name, name) == 0)
            joint = hn_result_file_joint(file, i);
    if (joint == NULL || !joint->placed) return fail(message, name, "there is no such joint");
    const bool second = joint->body_b >= 0;
    const hn_vec3 point = second ? joint->point_b : joint->point_a;
    const int index = second ? joint->body_b : joint->body_a;
    const hn_result_body *body = hn_result_file_body(file, index);
    if (body == NULL) return fail(message, name, "a joint of the ground with itself has no place");
    const hn_vec3 c = body->center_of_mass;
    const double arm[3] = {point.x - c.x, point.y - c.y, point.z - c.z};
    for (int row = 0; row < 3; ++row) {
        char word[512];
        formula_value x, turn[3];
        snprintf(word, sizeof word, "bodies/%s/position/%s", body->name, AXES[row]);
        if (!read_column(values, file, word, &x, message)) return false;
        for (int k = 0; k < 3; ++k) {
            snprintf(word, sizeof word, "bodies/%s/orientation/%s%s", body->name, AXES[row],
                     AXES[k]);
            if (!read_column(values, file, word, &turn[k], message)) return false;
        }
        double *numbers = formula_numbers(&values->memory, x.count);
        if (numbers == NULL) return fail(message, name, "there is no memory");
        for (size_t i = 0; i < x.count; ++i)
            numbers[i] = x.numbers[i] + turn[0].numbers[i] * arm[0] + turn[1].numbers[i] * arm[1] +
                         turn[2].numbers[i] * arm[2];
        places[row] = (formula_value){numbers, x.count};
    }
    return true;
}

static bool read_distance(paper_values *values, hn_result_file *file, const paper_name *series,
                          formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    formula_value a[3], b[3];
    if (!joint_places(values, file, series->joints[0].text, a, message) ||
        !joint_places(values, file, series->joints[1].text, b, message))
        return false;
    double *numbers = formula_numbers(&values->memory, a[0].count);
    if (numbers == NULL) return fail(message, "distance", "there is no memory");
    for (size_t i = 0; i < a[0].count; ++i)
        numbers[i] =
            hypot(hypot(a[0].numbers[i] - b[0].numbers[i], a[1].numbers[i] - b[1].numbers[i]),
                  a[2].numbers[i] - b[2].numbers[i]);
    *value = (formula_value){numbers, a[0].count};
    return true;
}

/// `series` NULL: time.
static bool read_series(paper_values *values, const paper_job *job, const paper_name *series,
                        formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    hn_result_file *file = NULL;
    if (job->run->alone)
        return fail(message, job->run->name.text, "a run that is timed has no series");
    if (hn_result_file_open(values->context, job->result_path, &file) != HN_OK)
        return fail(message, job->run->name.text, hn_context_message(values->context));
    const char *word = series == NULL ? "time" : series->value.text;
    bool good = word == NULL ? read_distance(values, file, series, value, message)
                             : read_column(values, file, word, value, message);
    hn_result_file_close(file);
    return good;
}

// ---- names ------------------------------------------------------------------------------------------

typedef struct name_scope {
    paper_values *values;
    const paper_run *run; ///< inside a measure; NULL: outside
    int member;
} name_scope;

static bool look_up(void *user, const char *name, formula_value *value,
                    char message[FORMULA_MESSAGE_SIZE]);

static bool evaluate(paper_values *values, const paper_run *run, int member, paper_text formula,
                     formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    name_scope scope = {values, run, member};
    char why[FORMULA_MESSAGE_SIZE] = "";
    size_t place = 0;
    if (values->depth >= DEPTH_MAX) return fail(message, formula.text, "refers to itself");
    values->depth += 1;
    bool good =
        formula_evaluate(formula.text, look_up, &scope, &values->memory, value, &place, why);
    values->depth -= 1;
    if (!good) snprintf(message, FORMULA_MESSAGE_SIZE, "line %d: %.220s", formula.line, why);
    return good;
}

/// A name of one member of a run.
static bool member_value(paper_values *values, const paper_run *run, int member, const char *name,
                         formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    const paper_job *job = job_of(values, run, member);
    const cached_value *cached = find_cached(values, run, member, name);
    if (cached != NULL) {
        *value = cached->value;
        return true;
    }
    if (!job->outcome.made) {
        char what[96];
        snprintf(what, sizeof what, "run '%.40s', h = %g", run->name.text, run->steps[member]);
        return fail(message, what, job->outcome.message);
    }
    for (int i = 0; i < NUMBER_COUNT; ++i)
        if (strcmp(paper_number_word((paper_number)i), name) == 0) {
            *value = (formula_value){&job->outcome.numbers[i], 1};
            return true;
        }
    bool found = strcmp(name, "t") == 0, good = false;
    if (found) good = read_series(values, job, NULL, value, message);
    for (int i = 0; !found && i < run->series_count; ++i) {
        found = strcmp(run->series[i].name.text, name) == 0;
        if (found) good = read_series(values, job, &run->series[i], value, message);
    }
    for (int i = 0; !found && i < run->measure_count; ++i) {
        found = strcmp(run->measures[i].name.text, name) == 0;
        if (found) good = evaluate(values, run, member, run->measures[i].value, value, message);
    }
    if (!found) return fail(message, name, "unknown name");
    if (good) keep(values, run, member, name, *value);
    return good;
}

/// A name of a run with several members: one number for each.
static bool run_value(paper_values *values, const paper_run *run, const char *name,
                      formula_value *value, char message[FORMULA_MESSAGE_SIZE])
{
    if (run->step_count == 1) return member_value(values, run, 0, name, value, message);
    double *numbers = formula_numbers(&values->memory, (size_t)run->step_count);
    if (numbers == NULL) return fail(message, name, "there is no memory");
    for (int i = 0; i < run->step_count; ++i) {
        formula_value one;
        if (!member_value(values, run, i, name, &one, message)) return false;
        if (one.count != 1)
            return fail(message, name,
                        "of a run with several steps only single numbers can be used");
        numbers[i] = one.numbers[0];
    }
    *value = (formula_value){numbers, (size_t)run->step_count};
    return true;
}

static bool look_up(void *user, const char *name, formula_value *value,
                    char message[FORMULA_MESSAGE_SIZE])
{
    name_scope *scope = user;
    paper_values *values = scope->values;
    const char *dot = strchr(name, '.');
    if (dot != NULL) {
        for (int i = 0; i < values->p->run_count; ++i) {
            const paper_run *run = &values->p->runs[i];
            const size_t length = (size_t)(dot - name);
            if (strlen(run->name.text) == length && strncmp(run->name.text, name, length) == 0)
                return run_value(values, run, dot + 1, value, message);
        }
        return fail(message, name, "there is no such run");
    }
    if (scope->run != NULL) {
        char ignored[FORMULA_MESSAGE_SIZE];
        bool definition = false;
        for (int i = 0; i < values->p->definition_count; ++i)
            definition = definition || strcmp(values->p->definitions[i].name.text, name) == 0;
        if (member_value(values, scope->run, scope->member, name, value,
                         definition ? ignored : message))
            return true;
        if (!definition) return false;
    }
    const cached_value *cached = find_cached(values, NULL, 0, name);
    if (cached != NULL) {
        *value = cached->value;
        return true;
    }
    for (int i = 0; i < values->p->definition_count; ++i)
        if (strcmp(values->p->definitions[i].name.text, name) == 0) {
            if (!evaluate(values, NULL, 0, values->p->definitions[i].value, value, message))
                return false;
            keep(values, NULL, 0, name, *value);
            return true;
        }
    return fail(message, name, "unknown name");
}

bool paper_evaluate(paper_values *values, paper_text formula, formula_value *value,
                    char message[FORMULA_MESSAGE_SIZE])
{
    return evaluate(values, NULL, 0, formula, value, message);
}

void paper_values_clear(paper_values *values)
{
    while (values->cache != NULL) {
        cached_value *next = values->cache->next;
        free(values->cache);
        values->cache = next;
    }
    formula_memory_clear(&values->memory);
}
