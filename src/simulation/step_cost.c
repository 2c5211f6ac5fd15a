// SPDX-License-Identifier: MIT
// A step may cost STEP_COST_TIMES ordinary ones. What it takes beyond that is owed, and paid back by steps that take
// less; when STEP_COST_AT_ONCE ordinary steps are owed no step is halved any more.
#include "simulation/step_cost.h"

#include "simulation/simulation.h"

// Newton iterations of an ordinary step, and of one whose sweeps go over both levels.
static const double ORDINARY = 4.0, SWEPT = 16.0;

// What holds is found from a solution for each of them.
static double ordinary(const hn_simulation *s)
{
    double stages = s->composition == NULL ? 1.0 : (double)s->composition->stage_count;
    return stages * (s->scheme->both_levels ? SWEPT : ORDINARY) * (1.0 + (double)s->hold_count);
}

void step_cost_begin(hn_simulation *s)
{
    s->cost.begin = s->cost.iterations;
}

void step_cost_end(hn_simulation *s)
{
    double spent = (double)(s->cost.iterations - s->cost.begin);
    s->cost.owed = fmax(0.0, s->cost.owed + spent - STEP_COST_TIMES * ordinary(s));
    s->cost.begin = s->cost.iterations;
}

double step_cost_owed(const hn_simulation *s)
{
    double spent = (double)(s->cost.iterations - s->cost.begin);
    return (s->cost.owed + spent) / ordinary(s);
}

bool step_cost_is_spent(hn_simulation *s)
{
    bool spent = !s->borrowed && step_cost_owed(s) > STEP_COST_AT_ONCE;
    if (spent) s->newton.spent = true;
    return spent;
}
