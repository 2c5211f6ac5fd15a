// SPDX-License-Identifier: MIT
// Whose memory a linear system is.
#ifndef SIMULATION_LINEAR_CONTEXT_H
#define SIMULATION_LINEAR_CONTEXT_H

#include <holonom/linearisation.h>

hn_context *linear_system_context(const hn_linear_system *system);

#endif
