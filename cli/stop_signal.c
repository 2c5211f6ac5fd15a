// SPDX-License-Identifier: MIT
// The handler of Ctrl-C and SIGTERM.
#define _XOPEN_SOURCE 700 // setitimer
#include "stop_signal.h"

#include "command.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PATIENCE = 600000
}; // microseconds from the signal to the end of a call that may not look at it

static volatile sig_atomic_t number_seen = 0;
static volatile sig_atomic_t impatient = 0;
static hn_context *watched = NULL; ///< set before the handler

static void set_timer(int microseconds)
{
    const struct itimerval once = {.it_value = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void remember(int number)
{
    number_seen = number;
    hn_context_cancel(watched);
    if (impatient) set_timer(PATIENCE);
}

// The call has not stopped in time.
static void leave(int number)
{
    static const char SAID[] = "stopped by a signal\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, SAID, sizeof SAID - 1);
    (void)written;
    _exit(EXIT_SIGNAL + (int)number_seen);
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

void stop_signal_insist(bool on)
{
    struct sigaction action = {.sa_handler = on ? leave : SIG_DFL};
    sigemptyset(&action.sa_mask);
    if (on) sigaction(SIGALRM, &action, NULL);
    impatient = on;
    if (on && number_seen != 0) set_timer(PATIENCE); // it came just before
    if (on) return;
    set_timer(0);
    sigaction(SIGALRM, &action, NULL);
}

void stop_signal_forget(void)
{
    watched = NULL;
}

int stop_signal_number(void)
{
    return (int)number_seen;
}
