// SPDX-License-Identifier: MIT
// Options on the command line: parsing, help pages, values, and the nearest known word.
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// How often an option of the form NAME=VALUE or NAME=VALUE,... may be given; its `value` is the first of the places.
enum { OPTION_REPEAT_MAX = 64 };

typedef struct option_spec {
    const char *name;     ///< with its dashes: "--scheme"
    const char *argument; ///< what follows it, e.g. "NAME"; NULL: nothing, it is a switch
    const char *help;     ///< one line
    const char **value;   ///< receives the argument's text; a switch receives its own name
} option_spec;

/// What a command takes; its help page is made from this.
typedef struct command_usage {
    const char *command;    ///< "run"
    const char *positional; ///< the one word it needs: "MODEL"
    const char *purpose;    ///< one sentence
    const char *details;    ///< paragraphs after the options; may be ""
    const char *example;    ///< a command line
    const option_spec *options;
    int option_count;
} command_usage;

typedef enum options_result {
    OPTIONS_FINE,
    OPTIONS_HELP,  ///< the help page was asked for and printed
    OPTIONS_WRONG, ///< a mistake was reported on the error stream
} options_result;

/// Parse the words after the command; `--name value` and `--name=value` both work; -o, -q, -p and -s are short for
/// --output, --quiet, --parameter and --scheme (or --schemes, --series).
options_result options_parse(const command_usage *usage, int argument_count, char **arguments,
                             const char **positional);

/// The same for a command with any number of words: `words` has place for `argument_count` of them.
options_result options_parse_words(const command_usage *usage, int argument_count,
                                   char **arguments, const char **words, int *word_count);

/// Report a usage mistake of a command: a line like printf's, then where to find help.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void options_complain(const char *command, const char *format, ...);

/// Values. Each returns false after reporting what is wrong with the option's text.
bool option_positive_number(const char *command, const char *option, const char *text,
                            double *value);
bool option_positive_count(const char *command, const char *option, const char *text,
                           int64_t *value);

/// Copy the next part of a comma separated list to `part` and step over it; false at the end of the list.
/// A part that does not fit is cut, which no known word is.
bool option_next_part(const char **list, char *part, size_t size);

/// The word nearest to `word`, or NULL when none is near; `word_at(i)` for 0 <= i < count.
const char *nearest_known(const char *word, int count, const char *(*word_at)(int index));

/// Report an unknown word, e.g. what = "scheme": names the nearest one, or lists all.
void complain_unknown_word(const char *command, const char *what, const char *word, int count,
                           const char *(*word_at)(int index));

#endif
