// SPDX-License-Identifier: MIT
// Closure rows of cut joints beside the tree: which are independent, their columns in the border, their multipliers.
#ifndef REDUCTIONS_CLOSURES_H
#define REDUCTIONS_CLOSURES_H

#include "reductions/border.h"
#include "reductions/independent_rows.h"
#include "reductions/reduction.h"

typedef struct closures closures;

/// Columns that the closure rows of a system may need.
int closures_column_count(const hn_system *system);

hn_status closures_create(hn_system *system, closures **out);
void closures_destroy(closures *c);

/// Decide at the poses q, a configuration on the manifold, which rows of cut joints follow from the others and from the
/// tree, or `keep` the last decision. False when rows are about to lose rank: then the loops are better left to the
/// sparse system.
bool closures_choose(closures *c, const double *q, bool keep, row_choice *choice);

/// The same; rows in `options->rows` that last are taken from there, unless the step is to choose anew.
bool closures_choose_lasting(closures *c, const double *q, const newton_options *options, row_choice *choice);
/// Bytes of that memory.
size_t closures_memory_size(const hn_system *system);

/// Is a row of a cut joint kept?
bool closures_is_kept(const closures *c, int cut, int row);
/// Add the tangent terms w mu d^2 g of the multipliers of a cut joint, at most `CLOSURE_TERMS_MAX`; returns their
/// number.
enum { CLOSURE_TERMS_MAX = 2 * JOINT_ROWS_MAX };
int closures_terms(const closures *c, const step_equations *equations, const step_data *step, int cut,
                   stiffness_term *terms);

/// Forces of the multipliers in step->closure, beside those of elements.
void closures_add_forces(const closures *c, const step_equations *equations, const step_data *step);
/// Take them out again in a model without elements, whose forces are zero.
void closures_clear_forces(const closures *c, const step_data *step);

/// Rows that are not kept have no multipliers, whatever was predicted.
void closures_clear_dropped(const closures *c, const step_data *step);

/// Columns at the iterate: the rows that are kept, and the tangent terms of their multipliers.
void closures_add_columns(closures *c, const step_equations *equations, const step_data *step, border *b);
/// Largest gap of these columns, each relative to its bodies' length or one radian.
double closures_gap(const closures *c);
/// Add their part of a solution to step->closure.
void closures_apply(const closures *c, const border *b, const step_data *step);

/// Gaps of the columns at the poses q themselves, for `border_close`; `gaps` has a place for every column.
void closures_find_gaps(const closures *c, const border *b, const double *q, double *gaps);
/// Do the rows that are kept hold, as far as a step changes them? And do all of them?
bool closures_kept_hold(const closures *c, const step_data *step);
bool closures_all_hold(const closures *c, const double *q);

#endif
