// SPDX-License-Identifier: MIT
// Reading of rows.yaml: every mistake is answered with file, line and column, and the nearest known word.
#include "formula.h"
#include "options.h"
#include "paper.h"
#include "report.h"
#include "say.h"
#include "scheme_settings.h"

#include <libfyaml.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, WORD_SIZE = 64 };

static const double PANEL_WIDTH = 100.0, PANEL_HEIGHT = 68.0; // mm

struct paper_block {
    struct paper_block *next;
    max_align_t bytes[];
};

void *paper_allocate(paper *p, size_t size)
{
    struct paper_block *block = calloc(1, sizeof *block + size + 1);
    if (block == NULL) return NULL;
    block->next = p->memory;
    p->memory = block;
    return block->bytes;
}

void paper_clear(paper *p)
{
    while (p->memory != NULL) {
        struct paper_block *next = p->memory->next;
        free(p->memory);
        p->memory = next;
    }
    *p = (paper){0};
}

static const char *const NUMBER_WORDS[NUMBER_COUNT] = {
    [NUMBER_STEP] = "step",
    [NUMBER_STEPS] = "steps",
    [NUMBER_END] = "end",
    [NUMBER_UNKNOWNS] = "unknowns",
    [NUMBER_COORDINATES] = "coordinates",
    [NUMBER_CONSTRAINTS] = "constraints",
    [NUMBER_RANK] = "rank",
    [NUMBER_FREEDOMS] = "freedoms",
    [NUMBER_CONDITION] = "condition",
    [NUMBER_SECONDS] = "seconds",
    [NUMBER_FAILED] = "failed",
    [NUMBER_FAILED_AT] = "failed_at",
    [NUMBER_ITERATIONS] = "iterations",
    [NUMBER_ITERATIONS_MAX] = "iterations_max",
    [NUMBER_HALVED] = "halved",
    [NUMBER_ACCEPTED] = "accepted",
    [NUMBER_REJECTED] = "rejected",
    [NUMBER_PROJECTIONS] = "projections",
    [NUMBER_PROJECTION_ITERATIONS] = "projection_iterations",
    [NUMBER_PROJECTION_ITERATIONS_MAX] = "projection_iterations_max",
    [NUMBER_ACCELERATIONS] = "accelerations",
    [NUMBER_JACOBIANS] = "jacobians",
    [NUMBER_SECOND_DERIVATIVES] = "second_derivatives",
    [NUMBER_THIRD_DERIVATIVES] = "third_derivatives",
    [NUMBER_INVARIANTS] = "invariants",
};

const char *paper_number_word(paper_number number)
{
    return NUMBER_WORDS[number];
}

// ---- nodes ------------------------------------------------------------------------------------------

typedef struct fy_node node;

static void place_of(node *n, int *line, int *column)
{
    struct fy_token *token = NULL;
    *line = *column = 1;
    // a collection begins where its first entry does
    for (int depth = 0; n != NULL && depth < 32; ++depth) {
        if (fy_node_is_scalar(n)) {
            token = fy_node_get_scalar_token(n);
            break;
        }
        if (fy_node_is_mapping(n)) {
            struct fy_node_pair *pair = fy_node_mapping_get_by_index(n, 0);
            n = pair == NULL ? NULL : fy_node_pair_key(pair);
        } else {
            n = fy_node_sequence_get_by_index(n, 0);
        }
    }
    const struct fy_mark *mark = token == NULL ? NULL : fy_token_start_mark(token);
    if (mark == NULL) return;
    *line = mark->line + 1;
    *column = mark->column + 1;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
wrong(const paper *p, node *n, const char *format, ...)
{
    int line, column;
    va_list arguments;
    place_of(n, &line, &column);
    say(stderr, "%s:%d:%d: ", p->path, line, column);
    va_start(arguments, format);
    say_list(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return false;
}

static bool no_memory(const paper *p)
{
    say(stderr, "%s: there is no memory\n", p->path);
    return false;
}

/// Known keys of a map; used through a word function for the nearest one.
static const char *const *known_keys;

static const char *known_key(int index)
{
    return known_keys[index];
}

static bool check_keys(const paper *p, node *map, const char *what, const char *const *keys)
{
    void *iterator = NULL;
    struct fy_node_pair *pair;
    int count = 0;
    while (keys[count] != NULL) ++count;
    if (map == NULL || !fy_node_is_mapping(map))
        return wrong(p, map, "%s should be a map of keys and values", what);
    while ((pair = fy_node_mapping_iterate(map, &iterator)) != NULL) {
        const char *key = fy_node_get_scalar0(fy_node_pair_key(pair));
        int i = 0;
        if (key == NULL) return wrong(p, map, "%s has a key that is no word", what);
        while (i < count && strcmp(keys[i], key) != 0) ++i;
        if (i < count) continue;
        known_keys = keys;
        const char *nearest = nearest_known(key, count, known_key);
        if (nearest != NULL)
            return wrong(p, fy_node_pair_key(pair), "unknown key '%s' of %s (did you mean '%s'?)",
                         key, what, nearest);
        return wrong(p, fy_node_pair_key(pair), "unknown key '%s' of %s", key, what);
    }
    return true;
}

static node *find(node *map, const char *key)
{
    return fy_node_mapping_lookup_value_by_simple_key(map, key, strlen(key));
}

/// Copy a scalar; `*text` stays as it is when the key is missing and not required.
static bool take_text(paper *p, node *map, const char *key, bool required, const char **text)
{
    node *value = find(map, key);
    if (value == NULL) return required ? wrong(p, map, "the key '%s' is missing here", key) : true;
    size_t length = 0;
    const char *scalar = fy_node_is_scalar(value) ? fy_node_get_scalar(value, &length) : NULL;
    if (scalar == NULL) return wrong(p, value, "'%s' should be a text", key);
    char *copy = paper_allocate(p, length + 1);
    if (copy == NULL) return no_memory(p);
    memcpy(copy, scalar, length);
    *text = copy;
    return true;
}

static bool take_placed(paper *p, node *map, const char *key, bool required, paper_text *text)
{
    node *value = find(map, key);
    if (!take_text(p, map, key, required, &text->text)) return false;
    if (value != NULL) {
        place_of(value, &text->line, &text->column);
        struct fy_token *token = fy_node_get_scalar_token(value);
        enum fy_scalar_style style = fy_token_scalar_style(token);
        if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) text->column += 1;
    }
    return true;
}

static bool number_of(const paper *p, node *value, const char *key, double *number)
{
    const char *text = value == NULL ? NULL : fy_node_get_scalar0(value);
    char *end = NULL;
    *number = text == NULL ? 0.0 : strtod(text, &end);
    if (text == NULL || end == text || *end != '\0' || !isfinite(*number))
        return wrong(p, value, "'%s' should be a number", key);
    return true;
}

static bool take_number(const paper *p, node *map, const char *key, bool required, double *number)
{
    node *value = find(map, key);
    if (value == NULL) return required ? wrong(p, map, "the key '%s' is missing here", key) : true;
    return number_of(p, value, key, number);
}

static bool take_truth(const paper *p, node *map, const char *key, bool *truth)
{
    node *value = find(map, key);
    if (value == NULL) return true;
    const char *text = fy_node_get_scalar0(value);
    *truth = text != NULL && strcmp(text, "true") == 0;
    if (*truth || (text != NULL && strcmp(text, "false") == 0)) return true;
    return wrong(p, value, "'%s' should be true or false", key);
}

static bool take_pair(const paper *p, node *map, const char *key, double pair[2], bool *given)
{
    node *value = find(map, key);
    *given = value != NULL;
    if (value == NULL) return true;
    if (!fy_node_is_sequence(value) || fy_node_sequence_item_count(value) != 2)
        return wrong(p, value, "'%s' should be two numbers: [A, B]", key);
    return number_of(p, fy_node_sequence_get_by_index(value, 0), key, &pair[0]) &&
           number_of(p, fy_node_sequence_get_by_index(value, 1), key, &pair[1]);
}

/// Items of a list under `key`, or of a map when `map_allowed`; `*count` is 0 when there is none.
static bool count_items(const paper *p, node *map, const char *key, bool is_map, node **list,
                        int *count)
{
    *list = find(map, key);
    *count = 0;
    if (*list == NULL) return true;
    if (is_map ? !fy_node_is_mapping(*list) : !fy_node_is_sequence(*list))
        return wrong(p, *list, "'%s' should be a %s", key, is_map ? "map" : "list");
    *count = is_map ? fy_node_mapping_item_count(*list) : fy_node_sequence_item_count(*list);
    return true;
}

// ---- runs -------------------------------------------------------------------------------------------

static bool is_word(const char *text)
{
    if (text == NULL || text[0] == '\0' || strlen(text) >= WORD_SIZE) return false;
    for (const char *c = text; *c != '\0'; ++c) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && !(c > text && *c >= '0' && *c <= '9')) return false;
    }
    return true;
}

static bool take_key(paper *p, struct fy_node_pair *pair, paper_text *name)
{
    node *key = fy_node_pair_key(pair);
    const char *text = fy_node_get_scalar0(key);
    if (!is_word(text))
        return wrong(p, key,
                     "a name has letters, digits and underscores, and begins with no digit");
    char *copy = paper_allocate(p, strlen(text) + 1);
    if (copy == NULL) return no_memory(p);
    strcpy(copy, text);
    name->text = copy;
    place_of(key, &name->line, &name->column);
    return true;
}

static bool read_distance(paper *p, node *value, paper_name *name)
{
    static const char *const KEYS[] = {"distance", NULL};
    if (!check_keys(p, value, "a series", KEYS)) return false;
    node *list = find(value, "distance");
    if (list == NULL || !fy_node_is_sequence(list) || fy_node_sequence_item_count(list) != 2)
        return wrong(p, value, "a distance is that of two joints: {distance: [A, B]}");
    for (int i = 0; i < 2; ++i) {
        node *joint = fy_node_sequence_get_by_index(list, i);
        const char *text = fy_node_get_scalar0(joint);
        if (text == NULL) return wrong(p, joint, "a joint's name is expected");
        char *copy = paper_allocate(p, strlen(text) + 1);
        if (copy == NULL) return no_memory(p);
        strcpy(copy, text);
        name->joints[i].text = copy;
        place_of(joint, &name->joints[i].line, &name->joints[i].column);
    }
    return true;
}

/// Names and their texts: series of a run, measures, definitions.
static bool read_names(paper *p, node *map, const char *key, paper_name **names, int *name_count)
{
    node *list;
    int count;
    if (!count_items(p, map, key, true, &list, &count)) return false;
    *names = paper_allocate(p, (size_t)count * sizeof **names);
    if (*names == NULL) return no_memory(p);
    for (int i = 0; i < count; ++i) {
        struct fy_node_pair *pair = fy_node_mapping_get_by_index(list, i);
        node *value = fy_node_pair_value(pair);
        paper_name *name = &(*names)[i];
        if (!take_key(p, pair, &name->name)) return false;
        if (value != NULL && fy_node_is_mapping(value)) {
            if (!read_distance(p, value, name)) return false;
        } else if (!take_placed(p, list, name->name.text, true, &name->value)) {
            return false;
        }
    }
    *name_count = count;
    return true;
}

/// Settings of schemes, as `--set` takes them.
static bool read_settings(paper *p, node *map, paper_run *run)
{
    node *settings = find(map, "settings");
    if (settings == NULL) return true;
    if (!fy_node_is_mapping(settings)) return wrong(p, settings, "'settings' should be a map");
    void *iterator = NULL;
    struct fy_node_pair *pair;
    while ((pair = fy_node_mapping_iterate(settings, &iterator)) != NULL) {
        char text[2 * WORD_SIZE];
        const char *name = fy_node_get_scalar0(fy_node_pair_key(pair));
        const char *value = fy_node_get_scalar0(fy_node_pair_value(pair));
        snprintf(text, sizeof text, "%s=%s", name == NULL ? "" : name, value == NULL ? "" : value);
        const char *texts[] = {text, NULL};
        if (!apply_scheme_settings("reproduce", texts, &run->def))
            return wrong(p, fy_node_pair_key(pair), "this setting is not known");
    }
    return true;
}

static bool read_steps(const paper *p, node *map, paper_run *run)
{
    node *step = find(map, "step");
    if (step == NULL) return wrong(p, map, "the key 'step' is missing here");
    run->step_count = fy_node_is_sequence(step) ? fy_node_sequence_item_count(step) : 1;
    if (run->step_count < 1 || run->step_count > PAPER_STEPS_MAX)
        return wrong(p, step, "a run has from 1 to %d steps", PAPER_STEPS_MAX);
    for (int i = 0; i < run->step_count; ++i) {
        node *item = fy_node_is_sequence(step) ? fy_node_sequence_get_by_index(step, i) : step;
        if (!number_of(p, item, "step", &run->steps[i])) return false;
        if (!(run->steps[i] > 0.0)) return wrong(p, item, "a step is positive");
    }
    return true;
}

static bool read_run(paper *p, node *map, paper_run *run)
{
    static const char *const KEYS[] = {"model",    "scheme",   "reduction", "step",  "end",
                                       "settings", "every",    "condition", "alone", "may_fail",
                                       "series",   "measures", "halvings",  NULL};
    double every = 1.0, halvings = -1.0;
    const char *scheme = NULL, *reduction = NULL;
    run->def = hn_simulation_def_default();
    run->options =
        (hn_run_options){HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, -1.0, -1.0, 0.0, 0};
    if (!check_keys(p, map, "a run", KEYS) || !take_placed(p, map, "model", true, &run->model) ||
        !take_text(p, map, "scheme", false, &scheme) ||
        !take_text(p, map, "reduction", false, &reduction) ||
        !take_number(p, map, "end", true, &run->options.end) || !read_steps(p, map, run) ||
        !take_number(p, map, "every", false, &every) ||
        !take_number(p, map, "halvings", false, &halvings) ||
        !take_truth(p, map, "condition", &run->condition) ||
        !take_truth(p, map, "alone", &run->alone) ||
        !take_truth(p, map, "may_fail", &run->may_fail) || !read_settings(p, map, run) ||
        !read_names(p, map, "series", &run->series, &run->series_count) ||
        !read_names(p, map, "measures", &run->measures, &run->measure_count))
        return false;
    if (scheme != NULL && !hn_scheme_from_name(scheme, &run->options.scheme)) {
        const char *nearest = nearest_known(scheme, HN_SCHEME_COUNT, scheme_word);
        return nearest != NULL ? wrong(p, find(map, "scheme"),
                                       "unknown scheme '%s' (did you mean '%s'?)", scheme, nearest)
                               : wrong(p, find(map, "scheme"), "unknown scheme '%s'", scheme);
    }
    if (reduction != NULL && !hn_reduction_from_name(reduction, &run->options.reduction))
        return wrong(p, find(map, "reduction"), "unknown reduction '%s'", reduction);
    if (!(run->options.end > 0.0)) return wrong(p, find(map, "end"), "the end is positive");
    if (!(every >= 1.0)) return wrong(p, find(map, "every"), "'every' is 1 or more");
    run->every = (int64_t)every;
    run->def.scheme = run->options.scheme;
    run->def.reduction = run->options.reduction;
    if (halvings >= 0.0) run->def.halvings_max = (int)halvings;
    for (const char *c = run->model.text; *c != '\0'; ++c)
        if (*c == '/' || *c == '.')
            return wrong(p, find(map, "model"), "a model is named without folder and ending");
    return true;
}

static bool read_runs(paper *p, node *root)
{
    node *list;
    if (!count_items(p, root, "runs", true, &list, &p->run_count)) return false;
    p->runs = paper_allocate(p, (size_t)p->run_count * sizeof *p->runs);
    if (p->runs == NULL) return no_memory(p);
    for (int i = 0; i < p->run_count; ++i) {
        struct fy_node_pair *pair = fy_node_mapping_get_by_index(list, i);
        if (!take_key(p, pair, &p->runs[i].name) ||
            !read_run(p, fy_node_pair_value(pair), &p->runs[i]))
            return false;
    }
    return true;
}

// ---- figures ----------------------------------------------------------------------------------------

static bool read_axis(paper *p, node *panel, const char *key, figure_axis *axis)
{
    static const char *const KEYS[] = {"label", "range", "log", NULL};
    node *map = find(panel, key);
    double range[2];
    bool given = false;
    if (map == NULL) return wrong(p, panel, "the key '%s' is missing here", key);
    if (!check_keys(p, map, "an axis", KEYS) || !take_text(p, map, "label", true, &axis->label) ||
        !take_truth(p, map, "log", &axis->logarithmic) ||
        !take_pair(p, map, "range", range, &given))
        return false;
    if (given) {
        axis->has_low = axis->has_high = true;
        axis->low = range[0];
        axis->high = range[1];
        if (!(range[1] > range[0]) || (axis->logarithmic && range[0] <= 0.0))
            return wrong(p, find(map, "range"),
                         "the range is empty, or not positive on a log axis");
    }
    return true;
}

static bool read_line(paper *p, node *map, const paper_panel *panel, int index, paper_line *line)
{
    static const char *const KEYS[] = {"x", "y", "dx", "dy", "label", "mark", "style", NULL};
    static const char *const MARKS[] = {"line", "points", "both", "vectors"};
    double style = index;
    const char *mark = "line";
    int k = 0;
    line->label = "";
    if (!check_keys(p, map, "a line", KEYS) || !take_placed(p, map, "x", false, &line->x) ||
        !take_placed(p, map, "y", true, &line->y) || !take_placed(p, map, "dx", false, &line->dx) ||
        !take_placed(p, map, "dy", false, &line->dy) ||
        !take_text(p, map, "label", false, &line->label) ||
        !take_text(p, map, "mark", false, &mark) || !take_number(p, map, "style", false, &style))
        return false;
    while (k < 4 && strcmp(MARKS[k], mark) != 0) ++k;
    if (k == 4) return wrong(p, find(map, "mark"), "'mark' is line, points, both or vectors");
    line->mark = (figure_mark)k;
    line->style = (int)fmax(0.0, style);
    if (line->mark == FIGURE_VECTORS && (line->dx.text == NULL || line->dy.text == NULL))
        return wrong(p, map, "vectors need dx and dy");
    if (line->x.text == NULL) line->x = panel->along;
    if (line->x.text == NULL) return wrong(p, map, "the line needs an x, or its panel 'along'");
    return true;
}

static bool read_panel(paper *p, node *map, paper_panel *panel)
{
    static const char *const KEYS[] = {"caption", "along", "x",     "y",
                                       "equal",   "size",  "lines", NULL};
    node *list;
    double size[2] = {PANEL_WIDTH, PANEL_HEIGHT};
    bool given;
    panel->caption = "";
    if (!check_keys(p, map, "a panel", KEYS) ||
        !take_text(p, map, "caption", false, &panel->caption) ||
        !take_placed(p, map, "along", false, &panel->along) || !read_axis(p, map, "x", &panel->x) ||
        !read_axis(p, map, "y", &panel->y) || !take_truth(p, map, "equal", &panel->equal_scale) ||
        !take_pair(p, map, "size", size, &given) ||
        !count_items(p, map, "lines", false, &list, &panel->line_count))
        return false;
    panel->width = size[0];
    panel->height = size[1];
    if (!(size[0] >= 30.0 && size[1] >= 30.0 && size[0] <= 400.0 && size[1] <= 400.0))
        return wrong(p, map, "a panel is from 30 to 400 mm wide and high");
    if (panel->line_count == 0) return wrong(p, map, "a panel needs 'lines'");
    panel->lines = paper_allocate(p, (size_t)panel->line_count * sizeof *panel->lines);
    if (panel->lines == NULL) return no_memory(p);
    for (int i = 0; i < panel->line_count; ++i)
        if (!read_line(p, fy_node_sequence_get_by_index(list, i), panel, i, &panel->lines[i]))
            return false;
    return true;
}

// ---- rows -------------------------------------------------------------------------------------------

/// "5 %" is relative, "0.01" absolute.
static bool read_within(paper *p, node *map, paper_row *row)
{
    node *value = find(map, "within");
    const char *text = fy_node_get_scalar0(value);
    char *end = NULL;
    row->bounds[0] = text == NULL ? 0.0 : strtod(text, &end);
    if (text == NULL || end == text || !(row->bounds[0] >= 0.0))
        return wrong(p, value, "'within' should be a number, or a part: 5 %%");
    while (*end == ' ') ++end;
    row->relative = *end == '%';
    if (row->relative) {
        row->bounds[0] *= 0.01;
        ++end;
    }
    if (*end != '\0') return wrong(p, value, "'within' should be a number, or a part: 5 %%");
    return true;
}

static bool read_criterion(paper *p, node *map, paper_row *row)
{
    static const char *const KEYS[] = {"within",  "factor", "below",    "above",
                                       "between", "open",   "compared", NULL};
    int found = -1;
    bool given;
    for (int i = 0; KEYS[i] != NULL; ++i) {
        if (find(map, KEYS[i]) == NULL) continue;
        if (found >= 0)
            return wrong(p, map, "a row has one criterion: '%s' or '%s'", KEYS[found], KEYS[i]);
        found = i;
    }
    if (found < 0)
        return wrong(p, map,
                     "a row needs a criterion: within, factor, below, above, between, open or "
                     "compared");
    row->criterion = (paper_criterion)found;
    switch (row->criterion) {
    case PAPER_WITHIN: return read_within(p, map, row);
    case PAPER_FACTOR:
        if (!take_number(p, map, "factor", true, &row->bounds[0])) return false;
        return row->bounds[0] >= 1.0 ? true
                                     : wrong(p, find(map, "factor"), "'factor' is 1 or more");
    case PAPER_BELOW:
    case PAPER_ABOVE: return take_number(p, map, KEYS[found], true, &row->bounds[0]);
    case PAPER_BETWEEN: return take_pair(p, map, "between", row->bounds, &given);
    case PAPER_OPEN:
    case PAPER_COMPARED: return take_text(p, map, KEYS[found], true, &row->reason);
    }
    return false;
}

static bool read_row(paper *p, node *map, paper_row *row)
{
    static const char *const KEYS[] = {"says",     "paper",   "ours",  "unit",    "within",
                                       "factor",   "below",   "above", "between", "open",
                                       "compared", "assumed", NULL};
    int column;
    row->unit = row->assumed = row->reason = row->printed = "";
    if (!check_keys(p, map, "a row", KEYS) || !take_text(p, map, "says", true, &row->says) ||
        !read_criterion(p, map, row) ||
        !take_text(p, map, "paper", row->criterion != PAPER_OPEN, &row->printed) ||
        !take_placed(p, map, "ours", row->criterion != PAPER_OPEN, &row->ours) ||
        !take_text(p, map, "unit", false, &row->unit) ||
        !take_text(p, map, "assumed", false, &row->assumed))
        return false;
    place_of(map, &row->line, &column);
    char *end = NULL;
    row->number = strtod(row->printed, &end);
    row->has_number = end != row->printed && *end == '\0' && isfinite(row->number);
    bool needs = row->criterion == PAPER_WITHIN || row->criterion == PAPER_FACTOR;
    if (needs && !row->has_number)
        return wrong(p, find(map, "paper"), "'%s' needs a number of the paper",
                     row->criterion == PAPER_WITHIN ? "within" : "factor");
    return true;
}

static bool read_entry(paper *p, node *map, paper_entry *entry)
{
    static const char *const KEYS[] = {"name", "title", "assumed", "panels", "rows", NULL};
    node *panels, *rows;
    entry->title = entry->assumed = "";
    if (!check_keys(p, map, "an entry", KEYS) || !take_placed(p, map, "name", true, &entry->name) ||
        !take_text(p, map, "title", true, &entry->title) ||
        !take_text(p, map, "assumed", false, &entry->assumed) ||
        !count_items(p, map, "panels", false, &panels, &entry->panel_count) ||
        !count_items(p, map, "rows", false, &rows, &entry->row_count))
        return false;
    // a figure without the paper's numbers or words beside it shows nothing
    if (entry->row_count == 0)
        return wrong(p, map, "'%s' needs rows: what the paper says of it", entry->name.text);
    entry->panels = paper_allocate(p, (size_t)entry->panel_count * sizeof *entry->panels);
    entry->rows = paper_allocate(p, (size_t)entry->row_count * sizeof *entry->rows);
    if (entry->panels == NULL || entry->rows == NULL) return no_memory(p);
    for (int i = 0; i < entry->panel_count; ++i)
        if (!read_panel(p, fy_node_sequence_get_by_index(panels, i), &entry->panels[i]))
            return false;
    for (int i = 0; i < entry->row_count; ++i)
        if (!read_row(p, fy_node_sequence_get_by_index(rows, i), &entry->rows[i])) return false;
    return true;
}

// ---- formulas before anything runs --------------------------------------------------------------------

/// Names a formula may use: those of one run (inside its measures), or RUN.NAME and definitions.
typedef struct name_scope {
    const paper *p;
    const paper_run *run; ///< NULL: outside
} name_scope;

static bool known_in_run(const paper_run *run, const char *name)
{
    if (strcmp(name, "t") == 0) return true;
    for (int i = 0; i < NUMBER_COUNT; ++i)
        if (strcmp(NUMBER_WORDS[i], name) == 0) return true;
    for (int i = 0; i < run->series_count; ++i)
        if (strcmp(run->series[i].name.text, name) == 0) return true;
    for (int i = 0; i < run->measure_count; ++i)
        if (strcmp(run->measures[i].name.text, name) == 0) return true;
    return false;
}

static bool check_name(void *user, const char *name, formula_value *value,
                       char message[FORMULA_MESSAGE_SIZE])
{
    static const double zero = 0.0;
    const name_scope *scope = user;
    const paper *p = scope->p;
    const char *dot = strchr(name, '.');
    *value = (formula_value){&zero, 1};
    if (dot == NULL) {
        if (scope->run != NULL && known_in_run(scope->run, name)) return true;
        for (int i = 0; i < p->definition_count; ++i)
            if (strcmp(p->definitions[i].name.text, name) == 0) return true;
        snprintf(message, FORMULA_MESSAGE_SIZE, "unknown name '%.60s'%s", name,
                 scope->run != NULL ? " in this run" : "; series are written RUN.SERIES");
        return false;
    }
    for (int i = 0; i < p->run_count; ++i) {
        const paper_run *run = &p->runs[i];
        const size_t length = (size_t)(dot - name);
        if (strlen(run->name.text) != length || strncmp(run->name.text, name, length) != 0)
            continue;
        if (known_in_run(run, dot + 1)) return true;
        snprintf(message, FORMULA_MESSAGE_SIZE, "the run '%.40s' has no series or measure '%.60s'",
                 run->name.text, dot + 1);
        return false;
    }
    snprintf(message, FORMULA_MESSAGE_SIZE, "there is no run '%.*s'", (int)(dot - name), name);
    return false;
}

static bool check_formula(const paper *p, const paper_run *run, paper_text formula)
{
    name_scope scope = {p, run};
    char message[FORMULA_MESSAGE_SIZE];
    size_t place = 0;
    if (formula.text == NULL || formula_check(formula.text, check_name, &scope, &place, message))
        return true;
    say(stderr, "%s:%d:%d: %s\n", p->path, formula.line, formula.column + (int)place, message);
    return false;
}

static bool check_formulas(const paper *p)
{
    for (int i = 0; i < p->run_count; ++i)
        for (int k = 0; k < p->runs[i].measure_count; ++k)
            if (!check_formula(p, &p->runs[i], p->runs[i].measures[k].value)) return false;
    for (int i = 0; i < p->definition_count; ++i)
        if (!check_formula(p, NULL, p->definitions[i].value)) return false;
    for (int i = 0; i < p->entry_count; ++i) {
        const paper_entry *entry = &p->entries[i];
        for (int k = 0; k < entry->row_count; ++k)
            if (!check_formula(p, NULL, entry->rows[k].ours)) return false;
        for (int k = 0; k < entry->panel_count; ++k)
            for (int m = 0; m < entry->panels[k].line_count; ++m) {
                const paper_line *line = &entry->panels[k].lines[m];
                if (!check_formula(p, NULL, line->x) || !check_formula(p, NULL, line->y) ||
                    !check_formula(p, NULL, line->dx) || !check_formula(p, NULL, line->dy))
                    return false;
            }
    }
    return true;
}

// ---- the file ---------------------------------------------------------------------------------------

static bool read_root(paper *p, node *root)
{
    static const char *const KEYS[] = {"holonom_rows", "paper",   "title",
                                       "authors",      "source",  "runs",
                                       "definitions",  "entries", NULL};
    node *list;
    double format = 0.0;
    if (root == NULL) {
        say(stderr, "%s:1:1: the file is empty\n", p->path);
        return false;
    }
    if (!check_keys(p, root, "a file of rows", KEYS) ||
        !take_number(p, root, "holonom_rows", true, &format))
        return false;
    if (format != FORMAT)
        return wrong(p, find(root, "holonom_rows"),
                     "format %g is not known here; this is format %d", format, FORMAT);
    if (!take_text(p, root, "paper", true, &p->short_name) ||
        !take_text(p, root, "title", true, &p->title) ||
        !take_text(p, root, "authors", true, &p->authors) ||
        !take_text(p, root, "source", true, &p->source) || !read_runs(p, root) ||
        !read_names(p, root, "definitions", &p->definitions, &p->definition_count) ||
        !count_items(p, root, "entries", false, &list, &p->entry_count))
        return false;
    if (!is_word(p->short_name)) return wrong(p, find(root, "paper"), "'paper' should be one word");
    if (p->entry_count == 0) return wrong(p, root, "there are no 'entries'");
    p->entries = paper_allocate(p, (size_t)p->entry_count * sizeof *p->entries);
    if (p->entries == NULL) return no_memory(p);
    for (int i = 0; i < p->entry_count; ++i)
        if (!read_entry(p, fy_node_sequence_get_by_index(list, i), &p->entries[i])) return false;
    return check_formulas(p);
}

static void discard_output(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag, (void)user, (void)text, (void)length;
}

bool paper_read(const char *path, paper *p)
{
    *p = (paper){0};
    char *copy = paper_allocate(p, strlen(path) + 1);
    if (copy == NULL) {
        say(stderr, "%s: there is no memory\n", path);
        return false;
    }
    strcpy(copy, path);
    p->path = copy;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        say(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        return false;
    }
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.output_fn = discard_output;
    diag_config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    if (diag != NULL) fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg config = {.search_path = "",
                                  .flags = (enum fy_parse_cfg_flags)(
                                      FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_RESOLVE_DOCUMENT |
                                      FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE),
                                  .diag = diag};
    struct fy_document *document = diag == NULL ? NULL : fy_document_build_from_fp(&config, file);
    bool good = false;
    if (document == NULL) {
        void *iterator = NULL;
        struct fy_diag_error *error = diag == NULL ? NULL : fy_diag_errors_iterate(diag, &iterator);
        if (error != NULL && error->msg != NULL)
            say(stderr, "%s:%d:%d: not YAML: %.*s\n", path, error->line > 0 ? error->line : 1,
                error->column > 0 ? error->column : 1, (int)strcspn(error->msg, "\n"), error->msg);
        else say(stderr, "%s:1:1: this is no YAML document, or it is empty\n", path);
    } else {
        good = read_root(p, fy_document_root(document));
    }
    fy_document_destroy(document);
    fy_diag_destroy(diag);
    fclose(file);
    return good;
}
