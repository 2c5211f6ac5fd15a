// SPDX-License-Identifier: MIT
// Innermost loops, compiled twice: for any processor, and for those with fused multiply-add and vectors of four. Which
// form runs is decided once, by the machine, so that one machine gives the same bits in every run.
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdbool.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

#ifdef __x86_64__
#define FUSED_DIFFERS
#define FUSED_FORM __attribute__((target("avx2,fma")))
#else
#define FUSED_FORM // as the plain one: compilers for other processors fuse wherever they may
#endif

/// Has the machine what the fused form needs? valgrind, which does not know all its instructions, has not.
bool processor_fuses(void);

#endif
