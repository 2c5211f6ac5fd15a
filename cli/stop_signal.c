// SPDX-License-Identifier: MIT
// The handler of Ctrl-C and SIGTERM.
#define _POSIX_C_SOURCE 200809L
#include "stop_signal.h"

#include <signal.h>

static volatile sig_atomic_t number_seen = 0;
static hn_context *watched = NULL; ///< set before the handler

static void remember(int number)
{
    number_seen = number;
    hn_context_cancel(watched);
}

void stop_signal_watch(hn_context *context)
{
    watched = context;
    struct sigaction action = {.sa_handler = remember};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void stop_signal_forget(void)
{
    watched = NULL;
}

int stop_signal_number(void)
{
    return (int)number_seen;
}
