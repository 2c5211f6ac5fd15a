// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM: what is under way stops soon, and the command ends as it should.
#ifndef CLI_STOP_SIGNAL_H
#define CLI_STOP_SIGNAL_H

#include <holonom/holonom.h>

/// From now on the first of these signals cancels the call under way in `context`; a second one has its usual effect.
void stop_signal_watch(hn_context *context);

/// Call it before the context is destroyed.
void stop_signal_forget(void);

/// Number of the signal that came, 0: none.
int stop_signal_number(void);

#endif
