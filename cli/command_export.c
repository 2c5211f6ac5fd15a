// SPDX-License-Identifier: MIT
// `holonom export`: a result file as a table of its series, or as a scene for other viewers.
#include "command.h"
#include "options.h"
#include "report.h"
#include "say.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_DEFAULT = 1000 };

/// What is written, chosen by a switch or by the ending of the output's name.
typedef enum export_format {
    FORMAT_CSV,
    FORMAT_MAT,
    FORMAT_GLTF,
    FORMAT_VTK,
    FORMAT_COUNT
} export_format;
static const struct {
    const char *option, *ending;
    hn_status (*table)(hn_context *context, const char *result, const char *output,
                       const char *const *series, int series_count);
    hn_status (*scene)(hn_context *context, const char *result, const char *output, int frames_max);
} FORMATS[FORMAT_COUNT] = {{"--csv", ".csv", hn_results_export_csv, NULL},
                           {"--mat", ".mat", hn_results_export_mat, NULL},
                           {"--gltf", ".glb", NULL, hn_results_export_gltf},
                           {"--vtk", ".vtkhdf", NULL, hn_results_export_vtk}};

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/// "run.h5" and "run.h5.part" become "run.csv", other names get ".csv"; other endings likewise. Owned by the caller;
/// NULL: no memory.
static char *default_name(const char *result, const char *ending)
{
    size_t length = strlen(result);
    if (length > 5 && strcmp(result + length - 5, ".part") == 0) length -= 5;
    if (length > 3 && strncmp(result + length - 3, ".h5", 3) == 0) length -= 3;
    size_t size = length + strlen(ending) + 1;
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%.*s%s", (int)length, result, ending);
    return name;
}

static int export_result(export_format format, const char *result, const char *output,
                         const char *const *series, int series_count, int frames)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    hn_status status = FORMATS[format].scene != NULL
                           ? FORMATS[format].scene(context, result, output, frames)
                           : FORMATS[format].table(context, result, output, series, series_count);
    int code = EXIT_FINE;
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(context));
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

/// The format that switches and the output's name ask for; false after a complaint.
static bool choose_format(const char *const *switches, const char *output, export_format *format)
{
    int chosen = -1;
    for (int k = 0; k < FORMAT_COUNT; ++k) {
        if (switches[k] == NULL) continue;
        if (chosen >= 0) {
            options_complain("export", "takes one of --csv, --mat, --gltf, --vtk");
            return false;
        }
        chosen = k;
    }
    for (int k = 0; chosen < 0 && output != NULL && k < FORMAT_COUNT; ++k)
        if (ends_with(output, FORMATS[k].ending)) chosen = k;
    *format = chosen < 0 ? FORMAT_CSV : (export_format)chosen;
    return true;
}

int command_export(int argument_count, char **arguments)
{
    const char *series = NULL, *output = NULL, *result = NULL, *frames_text = NULL;
    const char *switches[FORMAT_COUNT] = {NULL};
    const option_spec options[] = {
        {"--csv", NULL, "comma separated values (default)", &switches[FORMAT_CSV]},
        {"--mat", NULL, "arrays for Matlab and Octave, .mat", &switches[FORMAT_MAT]},
        {"--gltf", NULL, "an animated scene, .glb: any viewer of 3D scenes",
         &switches[FORMAT_GLTF]},
        {"--vtk", NULL, "surfaces that move, .vtkhdf: ParaView 5.12 or later",
         &switches[FORMAT_VTK]},
        {"--series", "A,B,...",
         "csv, mat: which series, by name (default: all); time always comes first", &series},
        {"--frames", "N", "scenes: records to take at most, evenly chosen (default 1000)",
         &frames_text},
        {"--output", "FILE",
         "name of the output, whose ending tells the format too (default: the result's name; - is "
         "the screen)",
         &output},
    };
    const command_usage usage = {
        "export",
        "RESULT",
        "Write a result file (.h5, or .h5.part of a run that goes on) for other programs.",
        "Names are those of the file: time, ledger/energy, joints/HINGE/coordinates, "
        "bodies/LINK/position.\n"
        "A group or a part of a name selects all below it: ledger, bodies/LINK, bodies/position "
        "(all bodies).\n"
        "Series of the ledger and of newton may drop their group: energy, iterations.\n",
        "holonom export six-body-linkage.h5 --series energy,joints/r1/coordinates",
        options,
        (int)(sizeof options / sizeof options[0])};
    options_result parsed = options_parse(&usage, argument_count, arguments, &result);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    export_format format;
    int64_t frames = FRAMES_DEFAULT;
    if (!choose_format(switches, output, &format)) return EXIT_USAGE;
    if (frames_text != NULL && !option_positive_count("export", "--frames", frames_text, &frames))
        return EXIT_USAGE;
    if (FORMATS[format].table == NULL && series != NULL) {
        options_complain("export", "--series goes with --csv and --mat; scenes have all bodies");
        return EXIT_USAGE;
    }
    if (FORMATS[format].table != NULL && frames_text != NULL) {
        options_complain("export", "--frames goes with --gltf and --vtk; tables have all records");
        return EXIT_USAGE;
    }
    if (frames < 2 || frames > INT_MAX) {
        options_complain("export", "--frames is '%s'; expected 2 or more", frames_text);
        return EXIT_USAGE;
    }

    // never more parts than letters
    size_t length = series == NULL ? 0 : strlen(series);
    char *list = malloc(length + 1);
    const char **parts = malloc((length + 1) * sizeof *parts);
    char *chosen = output == NULL ? default_name(result, FORMATS[format].ending) : NULL;
    const char *name = output == NULL ? chosen : strcmp(output, "-") == 0 ? "/dev/stdout" : output;
    int code = EXIT_FINE;
    if (list == NULL || parts == NULL || name == NULL) {
        code = report_no_memory();
    } else {
        memcpy(list, series == NULL ? "" : series, length + 1);
        int count = series == NULL ? 0 : cut_list(list, parts);
        code = export_result(format, result, name, parts, count, (int)frames);
        if (code == EXIT_FINE && (output == NULL || strcmp(output, "-") != 0))
            say(stdout, "  wrote %s\n", name);
    }
    free(chosen);
    free(parts);
    free(list);
    return code;
}
