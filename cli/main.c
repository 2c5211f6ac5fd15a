// SPDX-License-Identifier: MIT
// The command line tool: a table of commands.
#include "command.h"
#include "options.h"

#include <holonom/holonom.h>

#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name;
    const char *arguments;
    const char *purpose;
    int (*function)(int argument_count, char **arguments);
} command;

static const command COMMANDS[] = {
    {"run", "MODEL", "simulate a model; write results and the ledger of what was kept",
     command_run},
    {"static", "MODEL", "find where a model rests under its loads, in load steps; is it stable?",
     command_static},
    {"modes", "MODEL", "find frequencies and shapes of small motions about an equilibrium",
     command_modes},
    {"linearise", "MODEL", "matrices of the linear system about a state, for control; eigenvalues",
     command_linearise},
    {"kinematics", "MODEL", "move a mechanism by its prescribed motions, without masses",
     command_kinematics},
    {"inverse", "MODEL", "efforts and reactions that prescribed motions take", command_inverse},
    {"study", "STUDY",
     "run a model many times with other values of its parameters; a table of them", command_study},
    {"rerun", "RESULT", "repeat a run from its result file; compare every number", command_rerun},
    {"check", "MODEL", "read and assemble a model; report its structure and start values",
     command_check},
    {"compare", "MODEL", "run a model under several schemes, reductions and steps; one table",
     command_compare},
    {"view", "RESULT",
     "write a page that shows results: motion in 3D, plots, ledger; opens from disk", command_view},
    {"export", "RESULT", "write a result as a table, or as a scene for other viewers",
     command_export},
    {"plot", "RESULT", "draw series of result files as SVG, PNG or PDF", command_plot},
    {"reproduce", "PAPER", "run the examples of the papers; report what holds", command_reproduce},
    {"convert", "ROBOT", "write a robot description (URDF) as a model file", command_convert},
    {"fmu", "MODEL", "write a model as a co-simulation unit (FMI 2.0, 3.0) for other programs",
     command_fmu},
    {"generate", "KIND",
     "write a model file of any size: chain, tree, ladder of four-bars, net, hub",
     command_generate},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static const char *command_word(int index)
{
    return COMMANDS[index].name;
}

static void print_help(void)
{
    puts("holonom: structure-preserving multibody dynamics\n\nCommands:");
    for (int i = 0; i < COMMAND_COUNT; ++i)
        printf("  %-10s %-7s %s\n", COMMANDS[i].name, COMMANDS[i].arguments, COMMANDS[i].purpose);
    puts("\n  holonom COMMAND --help   options of a command, with an example\n"
         "  holonom --version        version of the library\n"
         "\nExit codes:\n"
         "  0    all went well\n"
         "  1    the run failed: a step did not converge, the system became singular, no memory\n"
         "  2    the command line is wrong\n"
         "  3    the model file cannot be read, is wrong, or cannot be assembled\n"
         "  4    the run is complete, but a --require is not met, or a rerun differs\n"
         "  5    a result or output file cannot be read or written\n"
         "  6    the run is complete, but the ledger says NOT KEPT\n"
         "  130  stopped by Ctrl-C (143: by SIGTERM); results so far are kept as .part\n"
         "\nExample:\n  holonom run models/gyro-top.yaml --require energy=1e-10");
}

int main(int argument_count, char **arguments)
{
    if (argument_count < 2) {
        options_complain("", "needs a command");
        return EXIT_USAGE;
    }
    const char *word = arguments[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_help();
        return EXIT_FINE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("holonom %s\n", hn_version());
        return EXIT_FINE;
    }
    if (strcmp(word, "linearize") == 0) word = "linearise";
    for (int i = 0; i < COMMAND_COUNT; ++i) {
        if (strcmp(word, COMMANDS[i].name) != 0) continue;
        int code = COMMANDS[i].function(argument_count - 2, arguments + 2);
        if (fflush(stdout) == 0 && !ferror(stdout)) return code;
        fputs("holonom: the output could not be written\n", stderr);
        return code == EXIT_FINE ? EXIT_FILE : code;
    }
    complain_unknown_word("", word[0] == '-' ? "option" : "command", word, COMMAND_COUNT,
                          command_word);
    return EXIT_USAGE;
}
