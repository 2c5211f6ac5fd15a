// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM: what is under way stops soon, and the command ends as it should.
#ifndef CLI_STOP_SIGNAL_H
#define CLI_STOP_SIGNAL_H

#include <holonom/holonom.h>

/// From now on the first of these signals cancels the call under way in `context`; a second one has its usual effect.
void stop_signal_watch(hn_context *context);

/// While it is on, a call that a signal has not stopped soon is ended with the tool: for those that spend long in
/// libraries which cannot be asked to stop, and leave nothing half done.
void stop_signal_insist(bool on);

/// Call it before the context is destroyed.
void stop_signal_forget(void);

/// Number of the signal that came, 0: none.
int stop_signal_number(void);

#endif
