// SPDX-License-Identifier: MIT
// Parsing of command lines, help pages and suggestions for misspelt words.
#include "options.h"

#include "say.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 48, COMPLAINT_MAX = 512 };

void options_complain(const char *command, const char *format, ...)
{
    char line[COMPLAINT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *space = command[0] == '\0' ? "" : " ";
    say(stderr, "holonom%s%s: %s\n  help: holonom%s%s --help\n", space, command, line, space,
        command);
}

// ---- nearest word ---------------------------------------------------------------------------------

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/// Insertions, deletions and exchanges of letters between two words, neighbours swapped counting once.
static int letters_apart(const char *a, const char *b)
{
    int distance[WORD_MAX + 1][WORD_MAX + 1];
    int m = (int)strlen(a), n = (int)strlen(b);
    for (int i = 0; i <= m; ++i) distance[i][0] = i;
    for (int j = 0; j <= n; ++j) distance[0][j] = j;
    for (int i = 1; i <= m; ++i)
        for (int j = 1; j <= n; ++j) {
            int exchange = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            distance[i][j] = smaller(exchange, smaller(distance[i - 1][j], distance[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                distance[i][j] = smaller(distance[i][j], distance[i - 2][j - 2] + 1);
        }
    return distance[m][n];
}

const char *nearest_known(const char *word, int count, const char *(*word_at)(int index))
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *best = NULL;
    int limit = (int)length / 3 + 2; // a third of the letters may be wrong, and one more
    for (int i = 0; i < count; ++i) {
        const char *known = word_at(i);
        if (strlen(known) > WORD_MAX) continue;
        int apart = letters_apart(word, known);
        if (apart >= limit || apart >= smaller((int)length, (int)strlen(known))) continue;
        limit = apart;
        best = known;
    }
    return best;
}

void complain_unknown_word(const char *command, const char *what, const char *word, int count,
                           const char *(*word_at)(int index))
{
    const char *nearest = nearest_known(word, count, word_at);
    if (nearest != NULL) {
        options_complain(command, "unknown %s '%s' (did you mean '%s'?)", what, word, nearest);
        return;
    }
    char known[COMPLAINT_MAX] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof known; ++i)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                                 word_at(i));
    options_complain(command, "unknown %s '%s' (known: %s)", what, word, known);
}

// ---- parsing --------------------------------------------------------------------------------------

static void print_help(const command_usage *usage)
{
    printf("holonom %s %s [options]\n\n  %s\n\nOptions:\n", usage->command, usage->positional,
           usage->purpose);
    for (int i = 0; i < usage->option_count; ++i) {
        const option_spec *option = &usage->options[i];
        char left[WORD_MAX];
        snprintf(left, sizeof left, "%s%s%s", option->name, option->argument == NULL ? "" : " ",
                 option->argument == NULL ? "" : option->argument);
        printf("  %-22s %s\n", left, option->help);
    }
    printf("  %-22s %s\n", "--help", "this page");
    if (usage->details[0] != '\0') printf("\n%s", usage->details);
    printf("\nExample:\n  %s\n", usage->example);
}

static int find_option(const command_usage *usage, const char *word, size_t length);

/// The option that a short form stands for: the first of its meanings that the command has.
static int find_short_option(const command_usage *usage, char letter)
{
    static const struct {
        char letter;
        const char *name;
    } SHORT[] = {{'o', "--output"}, {'q', "--quiet"},   {'p', "--parameter"},
                 {'s', "--scheme"}, {'s', "--schemes"}, {'s', "--series"}};
    for (size_t i = 0; i < sizeof SHORT / sizeof SHORT[0]; ++i) {
        int index = SHORT[i].letter == letter
                        ? find_option(usage, SHORT[i].name, strlen(SHORT[i].name))
                        : -1;
        if (index >= 0) return index;
    }
    return -1;
}

/// The option a word names, with or without "=value"; -1 when there is none.
static int find_option(const command_usage *usage, const char *word, size_t length)
{
    if (length == 2 && word[0] == '-' && word[1] != '-') return find_short_option(usage, word[1]);
    for (int i = 0; i < usage->option_count; ++i)
        if (strlen(usage->options[i].name) == length &&
            strncmp(usage->options[i].name, word, length) == 0)
            return i;
    return -1;
}

static void complain_unknown_option(const command_usage *usage, const char *word, size_t length)
{
    char asked[WORD_MAX + 1];
    snprintf(asked, sizeof asked, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), word);
    const char *best =
        strncmp(asked, "--", 2) == 0 && letters_apart(asked, "--help") <= 2 ? "--help" : NULL;
    int limit = (int)strlen(asked) / 3 + 2;
    for (int i = 0; i < usage->option_count; ++i) {
        int apart = letters_apart(asked, usage->options[i].name);
        if (apart >= limit || apart >= (int)strlen(usage->options[i].name) - 2)
            continue; // the dashes always agree
        limit = apart;
        best = usage->options[i].name;
    }
    if (best != NULL)
        options_complain(usage->command, "unknown option '%s' (did you mean '%s'?)", asked, best);
    else options_complain(usage->command, "unknown option '%s'", asked);
}

static options_result take_option(const command_usage *usage, int argument_count, char **arguments,
                                  int *place)
{
    const char *word = arguments[*place];
    const char *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    int index = find_option(usage, word, length);
    if (index < 0) {
        complain_unknown_option(usage, word, length);
        return OPTIONS_WRONG;
    }
    const option_spec *option = &usage->options[index];
    const char **value = option->value;
    static const char REPEATED[] = "NAME=VALUE";
    bool repeated =
        option->argument != NULL && strncmp(option->argument, REPEATED, strlen(REPEATED)) == 0;
    for (int k = 1; repeated && k < OPTION_REPEAT_MAX && *value != NULL; ++k) ++value;
    if (*value != NULL) {
        options_complain(usage->command, repeated ? "%s is given too often" : "%s is given twice",
                         option->name);
        return OPTIONS_WRONG;
    }
    if (option->argument == NULL) {
        if (equals != NULL) options_complain(usage->command, "%s takes no value", option->name);
        *value = option->name;
        return equals == NULL ? OPTIONS_FINE : OPTIONS_WRONG;
    }
    if (equals != NULL) {
        *value = equals + 1;
    } else if (*place + 1 < argument_count && strncmp(arguments[*place + 1], "--", 2) != 0) {
        *place += 1;
        *value = arguments[*place];
    }
    if (*value != NULL && (*value)[0] != '\0') return OPTIONS_FINE;
    options_complain(usage->command, "%s needs a value: %s %s", option->name, option->name,
                     option->argument);
    return OPTIONS_WRONG;
}

options_result options_parse_words(const command_usage *usage, int argument_count, char **arguments,
                                   const char **words, int *word_count)
{
    *word_count = 0;
    for (int i = 0; i < argument_count; ++i)
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            print_help(usage);
            return OPTIONS_HELP;
        }
    for (int i = 0; i < argument_count; ++i) {
        if (arguments[i][0] == '-' && arguments[i][1] != '\0') {
            options_result result = take_option(usage, argument_count, arguments, &i);
            if (result != OPTIONS_FINE) return result;
        } else {
            words[(*word_count)++] = arguments[i];
        }
    }
    return OPTIONS_FINE;
}

options_result options_parse(const command_usage *usage, int argument_count, char **arguments,
                             const char **positional)
{
    *positional = NULL;
    const char **words = malloc(((size_t)argument_count + 1) * sizeof *words);
    if (words == NULL) {
        options_complain(usage->command, "there is no memory");
        return OPTIONS_WRONG;
    }
    int count = 0;
    options_result result = options_parse_words(usage, argument_count, arguments, words, &count);
    if (result == OPTIONS_FINE && count != 1) {
        if (count == 0) options_complain(usage->command, "needs a %s", usage->positional);
        else
            options_complain(usage->command, "one %s is enough: '%s' is too much",
                             usage->positional, words[1]);
        result = OPTIONS_WRONG;
    }
    if (result == OPTIONS_FINE) *positional = words[0];
    free(words);
    return result;
}

// ---- values ---------------------------------------------------------------------------------------

// The tool never sets a locale, so strtod reads a point.
bool option_positive_number(const char *command, const char *option, const char *text,
                            double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value) && *value > 0.0) return true;
    options_complain(command, "%s: '%s' is not a positive number", option, text);
    return false;
}

bool option_positive_count(const char *command, const char *option, const char *text,
                           int64_t *value)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *value = (int64_t)number;
    if (end != text && *end == '\0' && errno == 0 && number > 0) return true;
    options_complain(command, "%s: '%s' is not a positive whole number", option, text);
    return false;
}

bool option_next_part(const char **list, char *part, size_t size)
{
    if (*list == NULL) return false;
    size_t length = strcspn(*list, ",");
    snprintf(part, size, "%.*s", (int)length, *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}
