// SPDX-License-Identifier: MIT
// Counts the instructions a program executes in user mode, where the machine lets it.
#ifndef SCALING_INSTRUCTION_COUNTER_H
#define SCALING_INSTRUCTION_COUNTER_H

#include <stdint.h>

/// A counter for this thread, stopped; -1 when kernel or machine have none (containers and virtual machines often).
int instruction_counter_open(void);

/// Set to zero and start. A counter of -1 is fine here and below.
void instruction_counter_start(int counter);

/// Stop and read; -1 when there is no counter.
int64_t instruction_counter_stop(int counter);

void instruction_counter_close(int counter);

#endif
