// SPDX-License-Identifier: MIT
// What the processor can do.
#include "base/processor.h"

#ifdef FUSED_DIFFERS

// valgrind answers a request that is a row of rotations to every processor: 64 places in all, then nothing. It must be
// asked, since it names instructions as known that it stops at (VMOVQ between registers, up to version 3.19).
static bool is_valgrind(void)
{
    const unsigned long running_on_valgrind = 0x1001;
    const unsigned long request[6] = {running_on_valgrind};
    unsigned long answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

bool processor_fuses(void)
{
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") && !is_valgrind();
}

#else

bool processor_fuses(void)
{
    return false;
}

#endif
