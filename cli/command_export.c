// SPDX-License-Identifier: MIT
// `holonom export`: series of a result file as comma separated values.
#include "command.h"
#include "options.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/// "run.h5" and "run.h5.part" become "run.csv", other names get ".csv". Owned by the caller; NULL: no memory.
static char *default_table_name(const char *result)
{
    size_t length = strlen(result);
    if (length > 5 && strcmp(result + length - 5, ".part") == 0) length -= 5;
    if (length > 3 && strncmp(result + length - 3, ".h5", 3) == 0) length -= 3;
    size_t size = length + sizeof ".csv";
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%.*s.csv", (int)length, result);
    return name;
}

static int export_table(const char *result, const char *table_name, const char *const *series,
                        int series_count)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    hn_status status = hn_results_export_csv(context, result, table_name, series, series_count);
    int code = EXIT_FINE;
    if (status != HN_OK) {
        fprintf(stderr, "%s\n", hn_context_message(context));
        code = status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED : EXIT_FILE;
    }
    hn_context_destroy(context);
    return code;
}

/// Cut a list at its commas, in place; returns how many parts there are.
static int cut_list(char *list, const char **parts)
{
    int count = 0;
    for (char *part = list; part != NULL; ++count) {
        parts[count] = part;
        part = strchr(part, ',');
        if (part != NULL) *part++ = '\0';
    }
    return count;
}

int command_export(int argument_count, char **arguments)
{
    const char *series = NULL, *output = NULL, *result = NULL;
    const option_spec options[] = {
        {"--series", "A,B,...", "which series, by name (default: all); time always comes first",
         &series},
        {"--output", "FILE",
         "name of the table (default: the result's name with .csv; - is the screen)", &output},
    };
    const command_usage usage = {
        "export",
        "RESULT",
        "Write series of a result file (.h5, or .h5.part of a run that goes on) as comma separated "
        "values.",
        "Names are those of the file: time, ledger/energy, joints/HINGE/coordinates, "
        "bodies/LINK/position.\n"
        "A group or a part of a name selects all below it: ledger, bodies/LINK, bodies/position "
        "(all bodies).\n"
        "Series of the ledger and of newton may drop their group: energy, iterations.\n",
        "holonom export six-body-linkage.h5 --series energy,joints/r1/coordinates",
        options,
        2};
    options_result parsed = options_parse(&usage, argument_count, arguments, &result);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;

    // never more parts than letters
    size_t length = series == NULL ? 0 : strlen(series);
    char *list = malloc(length + 1);
    const char **parts = malloc((length + 1) * sizeof *parts);
    char *chosen = output == NULL ? default_table_name(result) : NULL;
    const char *table_name = output == NULL             ? chosen
                             : strcmp(output, "-") == 0 ? "/dev/stdout"
                                                        : output;
    int code = EXIT_FINE;
    if (list == NULL || parts == NULL || table_name == NULL) {
        code = report_no_memory();
    } else {
        memcpy(list, series == NULL ? "" : series, length + 1);
        int count = series == NULL ? 0 : cut_list(list, parts);
        code = export_table(result, table_name, parts, count);
        if (code == EXIT_FINE && (output == NULL || strcmp(output, "-") != 0))
            printf("  wrote %s\n", table_name);
    }
    free(chosen);
    free(parts);
    free(list);
    return code;
}
