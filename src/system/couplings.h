// SPDX-License-Identifier: MIT
// Couplings of joint coordinates that follow from others.
#ifndef SYSTEM_COUPLINGS_H
#define SYSTEM_COUPLINGS_H

#include "system/system.h"

/// Mark the couplings of the compiled system that follow from those before them, and find how they share efforts.
hn_status couplings_find_dependent(hn_system *system);

/// Gauss's elimination of row number `kept` (changed) by those before it, which were kept: does something remain of it?
bool relation_is_new(double *rows, int *pivots, int kept, int width);

#endif
