// SPDX-License-Identifier: MIT
// The commands of the tool and the exit codes they share.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/// Exit codes; documented in docs/manual/tool.md and by `holonom --help`.
enum {
    EXIT_FINE = 0,
    EXIT_RUN_FAILED = 1,     ///< a step failed, or there was no memory
    EXIT_USAGE = 2,          ///< unknown command or option, bad value
    EXIT_MODEL = 3,          ///< the model file cannot be read, is wrong, or cannot be assembled
    EXIT_REQUIRE_FAILED = 4, ///< the run is complete, but a --require is not met, or a rerun differs
    EXIT_NOT_KEPT = 6,       ///< the run is complete, but a promise of the ledger is not kept
    EXIT_FILE = 5,           ///< a result or output file cannot be read or written
    EXIT_SIGNAL = 128,       ///< plus the signal's number: 130 after Ctrl-C
};

/// Each command gets the words after its name.
int command_run(int argument_count, char **arguments);
int command_modes(int argument_count, char **arguments);
int command_linearise(int argument_count, char **arguments);
int command_kinematics(int argument_count, char **arguments);
int command_inverse(int argument_count, char **arguments);
int command_static(int argument_count, char **arguments);
int command_rerun(int argument_count, char **arguments);
int command_check(int argument_count, char **arguments);
int command_compare(int argument_count, char **arguments);
int command_export(int argument_count, char **arguments);
int command_plot(int argument_count, char **arguments);
int command_reproduce(int argument_count, char **arguments);
int command_generate(int argument_count, char **arguments);
int command_convert(int argument_count, char **arguments);
int command_fmu(int argument_count, char **arguments);
int command_view(int argument_count, char **arguments);
int command_study(int argument_count, char **arguments);

#endif
