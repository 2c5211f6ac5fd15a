// SPDX-License-Identifier: MIT
// Which components of reactions are unique, in words.
#ifndef CLI_REACTION_REPORT_H
#define CLI_REACTION_REPORT_H

#include <holonom/holonom.h>

#include <stdio.h>

/// For the joints with a false `unique`, one line for all that share a verdict:
/// "r1, r2: force shared along z, unique normal to it; torque unique about z, shared about axes normal to it".
void print_reaction_verdicts(const hn_model *model, hn_simulation *simulation, const bool *unique, FILE *out);

#endif
