// SPDX-License-Identifier: MIT
// Preloaded into the tool under valgrind: time stands still, so that what is done once a second is not done at all and
// counts of instructions do not depend on the load of the machine.
#define _POSIX_C_SOURCE 200809L
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1};
    return 0;
}
