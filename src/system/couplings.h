// SPDX-License-Identifier: MIT
// Couplings of joint coordinates that follow from others.
#ifndef SYSTEM_COUPLINGS_H
#define SYSTEM_COUPLINGS_H

#include "model/model.h"
#include "system/system.h"

/// Mark the couplings of the compiled system that follow from those before them, and find how they share efforts.
hn_status couplings_find_dependent(hn_system *system, const hn_model *model);

#endif
