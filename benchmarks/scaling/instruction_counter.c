// SPDX-License-Identifier: MIT
// Instruction counting with the kernel's performance events.
#define _GNU_SOURCE // syscall

#include "scaling/instruction_counter.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int instruction_counter_open(void)
{
    struct perf_event_attr event = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof event,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    const int this_thread = 0, any_processor = -1, no_group = -1;
    return (int)syscall(SYS_perf_event_open, &event, this_thread, any_processor, no_group, 0UL);
}

void instruction_counter_start(int counter)
{
    if (counter < 0) return;
    ioctl(counter, PERF_EVENT_IOC_RESET, 0);
    ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
}

int64_t instruction_counter_stop(int counter)
{
    int64_t count = -1;
    if (counter < 0) return -1;
    ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    return read(counter, &count, sizeof count) == (ssize_t)sizeof count ? count : -1;
}

void instruction_counter_close(int counter)
{
    if (counter >= 0) close(counter);
}
