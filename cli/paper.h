// SPDX-License-Identifier: MIT
// The rows of a paper as data: which runs to make, which figures to draw, what the paper says of them.
#ifndef CLI_PAPER_H
#define CLI_PAPER_H

#include "figure.h"

#include <holonom/holonom.h>

enum { PAPER_STEPS_MAX = 16 };

/// A text of the file and where it stands.
typedef struct paper_text {
    const char *text; ///< NULL: not given
    int line, column; ///< of its first letter, from 1
} paper_text;

/// A named formula, or a named series of a run.
typedef struct paper_name {
    paper_text name;
    paper_text value;     ///< formula, or series as `holonom export` takes it
    paper_text joints[2]; ///< a series instead: distance between two joints
} paper_name;

/// One simulation, or several that differ in their step.
typedef struct paper_run {
    paper_text name;
    paper_text model; ///< models/<model>.yaml
    hn_run_options options;
    hn_simulation_def def;
    double steps[PAPER_STEPS_MAX]; ///< s
    int step_count;
    int64_t every;    ///< steps between records
    bool condition;   ///< ask for the condition number at the end
    bool alone;       ///< timed: made when nothing else runs
    bool may_fail;    ///< a failing step is a result
    paper_name *series, *measures;
    int series_count, measure_count;
} paper_run;

typedef struct paper_line {
    paper_text x, y, dx, dy; ///< formulas
    const char *label;
    figure_mark mark;
    int style;
} paper_line;

typedef struct paper_panel {
    const char *caption;
    paper_text along; ///< x of lines that have none
    figure_axis x, y;
    bool equal_scale;
    double width, height; ///< mm
    paper_line *lines;
    int line_count;
} paper_panel;

typedef enum paper_criterion {
    PAPER_WITHIN,  ///< |ours - paper| <= tolerance, relative or absolute
    PAPER_FACTOR,  ///< ratio between 1/tolerance and tolerance
    PAPER_BELOW,   ///< ours <= bound
    PAPER_ABOVE,   ///< ours >= bound
    PAPER_BETWEEN, ///< bounds
    PAPER_OPEN,    ///< not judged: something is missing
    PAPER_COMPARED ///< not judged: values that need not agree
} paper_criterion;

typedef struct paper_row {
    int line;
    const char *says;  ///< what the paper says
    paper_text ours;   ///< formula
    bool has_number;   ///< the paper gives a number
    double number;
    const char *printed; ///< the paper's value as text
    const char *unit;
    paper_criterion criterion;
    bool relative;        ///< tolerance of PAPER_WITHIN
    double bounds[2];     ///< tolerance or bounds
    const char *reason;   ///< why open or only compared
    const char *assumed;
} paper_row;

/// A figure, a table or a passage.
typedef struct paper_entry {
    paper_text name; ///< "Fig. 3"
    const char *title, *assumed;
    paper_panel *panels;
    paper_row *rows;
    int panel_count, row_count;
} paper_entry;

typedef struct paper {
    struct paper_block *memory; ///< all of it
    const char *path;
    const char *short_name, *title, *authors, *source;
    paper_run *runs;
    paper_name *definitions;
    paper_entry *entries;
    int run_count, definition_count, entry_count;
} paper;

/// Read a file of rows. False: what is wrong was reported on the error stream with file, line and column.
bool paper_read(const char *path, paper *p);
void paper_clear(paper *p);

/// Zeroed memory that lives as long as the paper; NULL: none.
void *paper_allocate(paper *p, size_t size);

/// Numbers every run has beside its series.
typedef enum paper_number {
    NUMBER_STEP,        ///< s
    NUMBER_STEPS,       ///< how many were made
    NUMBER_END,         ///< s, reached
    NUMBER_UNKNOWNS,    ///< of a Newton iteration
    NUMBER_COORDINATES, ///< n
    NUMBER_CONSTRAINTS, ///< m
    NUMBER_RANK,
    NUMBER_FREEDOMS,
    NUMBER_CONDITION, ///< at the end, where it is asked for
    NUMBER_SECONDS,   ///< CPU time of the steps
    NUMBER_FAILED,    ///< 1: a step failed
    NUMBER_FAILED_AT, ///< s
    NUMBER_ITERATIONS,
    NUMBER_ITERATIONS_MAX,
    NUMBER_HALVED, ///< steps that were made in halves
    NUMBER_ACCEPTED, ///< hn_adaptive_statistics from here on
    NUMBER_REJECTED,
    NUMBER_PROJECTIONS,
    NUMBER_PROJECTION_ITERATIONS,
    NUMBER_PROJECTION_ITERATIONS_MAX,
    NUMBER_ACCELERATIONS,
    NUMBER_JACOBIANS,
    NUMBER_SECOND_DERIVATIVES,
    NUMBER_THIRD_DERIVATIVES,
    NUMBER_INVARIANTS,
    NUMBER_COUNT
} paper_number;

/// Its word in formulas: "step", "condition", ...
const char *paper_number_word(paper_number number);

#endif
