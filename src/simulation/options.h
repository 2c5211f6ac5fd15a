// SPDX-License-Identifier: MIT
// The settings of a simulation by name: one table for the API, result files and the tool.
#ifndef SIMULATION_OPTIONS_H
#define SIMULATION_OPTIONS_H

#include <holonom/simulation.h>

typedef enum option_kind { OPTION_NUMBER, OPTION_COUNT, OPTION_SWITCH, OPTION_WORD } option_kind;

/// A word of an enumeration: its name, and the value of a name.
typedef struct option_words {
    const char *(*name)(int value);
    bool (*find)(const char *name, int *value);
} option_words;

typedef struct option_entry {
    const char *name;
    option_kind kind;
    size_t place; ///< in hn_simulation_def
    const option_words *words;
} option_entry;

/// All of them; `*count` of them.
const option_entry *options_table(int *count);

#endif
