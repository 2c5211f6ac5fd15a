// SPDX-License-Identifier: MIT
// `holonom plot`: series of result files as a figure for papers and reports.
#include "command.h"
#include "figure.h"
#include "options.h"
#include "output_file.h"
#include "report.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_MAX = 24, LABEL_SIZE = 256, UNIT_SIZE = 64 };

static const double DEFAULT_WIDTH = 120.0, DEFAULT_HEIGHT = 80.0; // mm
static const double SMALLEST = 30.0, LARGEST = 1000.0;            // mm
static const double DEFAULT_RESOLUTION = 200.0;                   // dots per inch

/// What the command line asks for.
typedef struct plot_request {
    const char *const *results;
    int result_count;
    const char *const *series;
    int series_count;
    const char *x;
    bool from_start, absolute, points;
} plot_request;

typedef struct plot_curve {
    double *x, *y;
    size_t count;
    char name[LABEL_SIZE];     ///< full name of the column
    char quantity[LABEL_SIZE]; ///< the same without body, joint and group
    char unit[UNIT_SIZE];
    char label[2 * LABEL_SIZE];
    int result; ///< which result file
} plot_curve;

typedef struct plot_data {
    hn_context *context;
    plot_curve curves[CURVES_MAX];
    int count;
    char x_label[LABEL_SIZE];
} plot_data;

// ---- texts ----------------------------------------------------------------------------------------

/// "kg m^2/s" becomes "kg m²/s"; units that say nothing become "".
static void print_unit(const char *unit, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    if (strcmp(unit, "1") == 0 || strcmp(unit, "mixed") == 0) return;
    for (const char *c = unit; *c != '\0' && used + 4 < size; ++c) {
        const char *piece = NULL;
        if (c[0] == '^' && c[1] == '2') piece = "²";
        if (c[0] == '^' && c[1] == '3') piece = "³";
        if (piece != NULL) ++c;
        used += piece != NULL ? (size_t)snprintf(text + used, size - used, "%s", piece)
                              : (size_t)snprintf(text + used, size - used, "%c", *c);
    }
}

static void spell_out(char *text)
{
    for (; *text != '\0'; ++text)
        if (*text == '_') *text = ' ';
}

/// "bodies/link/position/z" becomes "position z", "ledger/energy" becomes "energy".
static void print_quantity(const char *name, char *text, size_t size)
{
    const char *parts[4] = {name, NULL, NULL, NULL};
    int count = 1;
    for (const char *c = name; *c != '\0' && count < 4; ++c)
        if (*c == '/') parts[count++] = c + 1;
    const bool element = strncmp(name, "bodies/", 7) == 0 || strncmp(name, "joints/", 7) == 0;
    int first = count == 1 ? 0 : element && count > 2 ? 2 : 1;
    // a joint's coordinate has a name of its own
    if (element && count == 4 && strncmp(parts[2], "coordinates/", 12) == 0) first = 3;
    size_t used = 0;
    text[0] = '\0';
    for (int i = first; i < count; ++i) {
        size_t length = strcspn(parts[i], "/");
        int added = snprintf(text + used, size - used, "%s%.*s", i == first ? "" : " ", (int)length,
                             parts[i]);
        used += (size_t)added;
        if (used >= size) break;
    }
    spell_out(text);
}

/// Body or joint of a column's name; "" for totals.
static void print_element(const char *name, char *text, size_t size)
{
    text[0] = '\0';
    if (strncmp(name, "bodies/", 7) != 0 && strncmp(name, "joints/", 7) != 0) return;
    if (strchr(name + 7, '/') != NULL)
        snprintf(text, size < 100 ? size : 100, "%.*s", (int)strcspn(name + 7, "/"), name + 7);
}

/// "bodies/link/position/z" becomes "link, position z".
static void print_full_quantity(const char *name, char *text, size_t size)
{
    print_element(name, text, size);
    const size_t used = strlen(text);
    char quantity[LABEL_SIZE];
    print_quantity(name, quantity, sizeof quantity);
    snprintf(text + used, size - used, "%s%.100s", used == 0 ? "" : ", ", quantity);
}

static void print_axis_label(const char *quantity, const char *unit, char *text, size_t size)
{
    snprintf(text, size, unit[0] == '\0' ? "%s" : "%s [%s]", quantity, unit);
}

// ---- data -----------------------------------------------------------------------------------------

static hn_status read_curve(plot_data *data, hn_result_file *file, hn_result_column x,
                            hn_result_column y, const plot_request *request, int result)
{
    plot_curve *curve = &data->curves[data->count];
    const int64_t records = hn_result_file_info(file)->record_count;
    curve->count = (size_t)records;
    curve->result = result;
    curve->x = malloc((curve->count + 1) * sizeof(double));
    curve->y = malloc((curve->count + 1) * sizeof(double));
    data->count += 1;
    if (curve->x == NULL || curve->y == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = hn_result_file_read_column(file, x, 0, records, 1, curve->x);
    if (status == HN_OK) status = hn_result_file_read_column(file, y, 0, records, 1, curve->y);
    snprintf(curve->name, sizeof curve->name, "%s", hn_result_file_column_name(file, y));
    print_quantity(curve->name, curve->quantity, sizeof curve->quantity);
    print_unit(hn_result_file_column_unit(file, y), curve->unit, sizeof curve->unit);
    const double start = records > 0 ? curve->y[0] : 0.0;
    for (size_t i = 0; status == HN_OK && i < curve->count; ++i) {
        if (request->from_start) curve->y[i] -= start;
        if (request->absolute) curve->y[i] = fabs(curve->y[i]);
    }
    return status;
}

static hn_status read_result(plot_data *data, hn_result_file *file, const plot_request *request,
                             int result)
{
    hn_result_column x, columns[CURVES_MAX];
    size_t count = 0;
    hn_status status = hn_result_file_select(file, request->x, &x, 1, &count);
    if (status != HN_OK) return status;
    if (count != 1) {
        say(stderr, "holonom plot: --x %s: %zu columns; one is needed, such as %s\n", request->x,
            count, hn_result_file_column_name(file, x));
        return HN_INVALID_ARGUMENT;
    }
    char quantity[LABEL_SIZE], unit[UNIT_SIZE];
    print_full_quantity(hn_result_file_column_name(file, x), quantity, sizeof quantity);
    print_unit(hn_result_file_column_unit(file, x), unit, sizeof unit);
    print_axis_label(quantity, unit, data->x_label, sizeof data->x_label);
    for (int i = 0; status == HN_OK && i < request->series_count; ++i) {
        status = hn_result_file_select(file, request->series[i], columns, CURVES_MAX, &count);
        if (status == HN_OK && count + (size_t)data->count > CURVES_MAX) {
            say(stderr,
                "holonom plot: more than %d curves; select fewer, such as %s (export writes "
                "them all)\n",
                CURVES_MAX, hn_result_file_column_name(file, columns[0]));
            return HN_INVALID_ARGUMENT;
        }
        for (size_t k = 0; status == HN_OK && k < count; ++k)
            status = read_curve(data, file, x, columns[k], request, result);
    }
    return status;
}

static hn_status read_all(plot_data *data, const plot_request *request)
{
    hn_status status = HN_OK;
    for (int i = 0; status == HN_OK && i < request->result_count; ++i) {
        hn_result_file *file = NULL;
        status = hn_result_file_open(data->context, request->results[i], &file);
        if (status == HN_OK) status = read_result(data, file, request, i);
        hn_result_file_close(file);
    }
    return status;
}

// ---- labels of curves and axes ----------------------------------------------------------------------

/// The result's name without folder and ending.
static void print_result_name(const char *path, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    snprintf(text, size, "%.*s", (int)strcspn(name, "."), name);
}

/// A word for what different quantities of one unit have in common.
static const char *common_quantity(const char *unit)
{
    static const char *const WORDS[][2] = {{"J", "energy"},        {"N", "force"},
                                           {"N m", "torque"},      {"m", "length"},
                                           {"rad", "angle"},       {"s", "time"},
                                           {"m/s", "velocity"},    {"rad/s", "angular velocity"},
                                           {"kg m/s", "momentum"}, {"kg m²/s", "angular momentum"}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; ++i)
        if (strcmp(unit, WORDS[i][0]) == 0) return WORDS[i][1];
    return "value";
}

/// What makes a curve differ from the others stands in the legend, what all share on the axis.
static void make_labels(plot_data *data, const plot_request *request, const char *labels,
                        char *y_label, size_t size)
{
    bool one_name = true, one_quantity = true, one_unit = true;
    for (int i = 1; i < data->count; ++i) {
        one_name = one_name && strcmp(data->curves[i].name, data->curves[0].name) == 0;
        one_quantity =
            one_quantity && strcmp(data->curves[i].quantity, data->curves[0].quantity) == 0;
        one_unit = one_unit && strcmp(data->curves[i].unit, data->curves[0].unit) == 0;
    }
    for (int i = 0; i < data->count; ++i) {
        plot_curve *curve = &data->curves[i];
        char result[LABEL_SIZE], name[LABEL_SIZE] = "";
        if (option_next_part(&labels, curve->label, sizeof curve->label)) continue;
        print_result_name(request->results[curve->result], result, sizeof result);
        if (!one_name) {
            char element[LABEL_SIZE];
            print_element(curve->name, element, sizeof element);
            bool both = element[0] != '\0' && !one_quantity;
            snprintf(name, sizeof name, "%.100s%s%.100s", element, both ? ", " : "",
                     both || element[0] == '\0' ? curve->quantity : "");
            if (!one_unit && curve->unit[0] != '\0') {
                const size_t used = strlen(name);
                snprintf(name + used, sizeof name - used, " [%s]", curve->unit);
            }
        }
        if (request->result_count == 1)
            snprintf(curve->label, sizeof curve->label, "%s", data->count == 1 ? "" : name);
        else
            snprintf(curve->label, sizeof curve->label, "%s%s%s", result,
                     name[0] == '\0' ? "" : ", ", name);
    }
    if (data->count == 0) return;
    char quantity[LABEL_SIZE + 32], full[LABEL_SIZE];
    print_full_quantity(data->curves[0].name, full, sizeof full);
    snprintf(quantity, sizeof quantity, "%s%s%s%s", request->absolute ? "|" : "",
             request->from_start ? "change of " : "",
             one_name       ? full
             : one_quantity ? data->curves[0].quantity
                            : common_quantity(one_unit ? data->curves[0].unit : ""),
             request->absolute ? "|" : "");
    print_axis_label(quantity, one_unit ? data->curves[0].unit : "", y_label, size);
}

// ---- options --------------------------------------------------------------------------------------

static bool parse_pair(const char *option, const char *text, char separator, double *first,
                       double *second)
{
    char *end = NULL, *last = NULL;
    *first = strtod(text, &end);
    if (end != text && *end == separator) {
        *second = strtod(end + 1, &last);
        if (last != end + 1 && *last == '\0' && isfinite(*first) && isfinite(*second)) return true;
    }
    options_complain("plot", "%s: '%s'; expected two numbers: A%cB", option, text, separator);
    return false;
}

static bool parse_range(const char *option, const char *text, figure_axis *axis)
{
    if (text == NULL) return true;
    if (!parse_pair(option, text, ',', &axis->low, &axis->high)) return false;
    axis->has_low = axis->has_high = true;
    if (!(axis->high > axis->low)) {
        options_complain("plot", "%s: '%s' is empty: the second number must be the larger one",
                         option, text);
        return false;
    }
    if (axis->logarithmic && axis->low <= 0.0) {
        options_complain("plot", "%s: '%s': a logarithmic axis has positive numbers only", option,
                         text);
        return false;
    }
    return true;
}

static bool parse_size(const char *text, figure *f)
{
    f->width = DEFAULT_WIDTH;
    f->height = DEFAULT_HEIGHT;
    if (text == NULL) return true;
    if (!parse_pair("--size", text, 'x', &f->width, &f->height)) return false;
    if (f->width >= SMALLEST && f->height >= SMALLEST && f->width <= LARGEST &&
        f->height <= LARGEST)
        return true;
    options_complain("plot", "--size: '%s'; each side is between %g and %g mm", text, SMALLEST,
                     LARGEST);
    return false;
}

static bool parse_log(const char *text, figure *f)
{
    if (text == NULL) return true;
    f->x.logarithmic = strcmp(text, "x") == 0 || strcmp(text, "xy") == 0;
    f->y.logarithmic = strcmp(text, "y") == 0 || strcmp(text, "xy") == 0;
    if (f->x.logarithmic || f->y.logarithmic) return true;
    options_complain("plot", "--log: '%s'; expected x, y or xy", text);
    return false;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

/// Words are result files while they look like one; the first one always is.
static int count_results(const char **words, int word_count)
{
    int count = word_count > 0 ? 1 : 0;
    while (count < word_count &&
           (ends_with(words[count], ".h5") || ends_with(words[count], ".part")))
        ++count;
    return count;
}

/// Are there more texts for the legend than curves? Says so.
static bool complain_labels(const char *labels, int curve_count)
{
    int count = labels == NULL ? 0 : 1;
    for (const char *c = labels; c != NULL && *c != '\0'; ++c) count += *c == ',' ? 1 : 0;
    if (count <= curve_count) return false;
    options_complain("plot", "--labels: %d texts for %d curve%s", count, curve_count,
                     curve_count == 1 ? "" : "s");
    return true;
}

static int draw_plot(const plot_request *request, figure *f, const char *labels, const char *path,
                     figure_format format, double resolution)
{
    plot_data *data = calloc(1, sizeof *data);
    figure_curve curves[CURVES_MAX];
    int code = EXIT_RUN_FAILED;
    if (data != NULL) data->context = hn_context_create(NULL);
    if (data != NULL && data->context != NULL) {
        hn_context_set_log(data->context, report_log_line, NULL);
        hn_status status = read_all(data, request);
        if (status == HN_OK && complain_labels(labels, data->count)) status = HN_INVALID_ARGUMENT;
        char y_label[2 * LABEL_SIZE] = "";
        make_labels(data, request, labels, y_label, sizeof y_label);
        for (int i = 0; i < data->count; ++i)
            curves[i] =
                (figure_curve){.x = data->curves[i].x,
                               .y = data->curves[i].y,
                               .count = data->curves[i].count,
                               .label = data->curves[i].label,
                               .mark = request->points ? FIGURE_LINE_AND_POINTS : FIGURE_LINE,
                               .style = i};
        f->curves = curves;
        f->curve_count = data->count;
        if (f->x.label == NULL) f->x.label = data->x_label;
        if (f->y.label == NULL) f->y.label = y_label;
        const char *reason = "";
        code = EXIT_FINE;
        if (status == HN_INVALID_ARGUMENT) {
            code = EXIT_USAGE; // said already
        } else if (status != HN_OK) {
            say(stderr, "%s\n", hn_context_message(data->context));
            code = status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED : EXIT_FILE;
        } else if (!figure_write(f, path, format, resolution, &reason)) {
            say(stderr, "%s: cannot be written: %s\n", path, reason);
            code = EXIT_FILE;
        } else {
            say(stdout, "  wrote %s\n", path);
        }
    }
    for (int i = 0; data != NULL && i < data->count; ++i) {
        free(data->curves[i].x);
        free(data->curves[i].y);
    }
    if (data != NULL) hn_context_destroy(data->context);
    free(data);
    return code;
}

static int plot_words(const command_usage *usage, const char **words, int word_count,
                      plot_request *request, figure *f, const char *labels, const char *output,
                      const char *resolution_text)
{
    request->result_count = count_results(words, word_count);
    request->results = words;
    request->series = words + request->result_count;
    request->series_count = word_count - request->result_count;
    if (request->series_count == 0) {
        options_complain(usage->command, request->result_count == 0
                                             ? "needs a RESULT and the SERIES to draw"
                                             : "needs the SERIES to draw, such as energy");
        return EXIT_USAGE;
    }
    char path[LABEL_SIZE + 8];
    if (output == NULL) {
        char name[LABEL_SIZE];
        print_result_name(words[0], name, sizeof name);
        snprintf(path, sizeof path, "%s.svg", name);
    }
    figure_format format;
    if (!figure_format_of(output == NULL ? path : output, &format)) {
        options_complain(usage->command, "--output: '%s'; expected a name with .svg, .png or .pdf",
                         output);
        return EXIT_USAGE;
    }
    double resolution = DEFAULT_RESOLUTION;
    if (resolution_text != NULL &&
        !option_positive_number(usage->command, "--resolution", resolution_text, &resolution))
        return EXIT_USAGE;
    if (resolution > 2400.0) {
        options_complain(usage->command, "--resolution: %g; at most 2400 dots per inch",
                         resolution);
        return EXIT_USAGE;
    }
    const char *name = output == NULL ? path : output;
    for (int i = 0; i < request->result_count; ++i)
        if (complain_output_is_input(name, request->results[i])) return EXIT_FILE;
    return draw_plot(request, f, labels, name, format, resolution);
}

int command_plot(int argument_count, char **arguments)
{
    const char *output = NULL, *x = NULL, *title = NULL, *size = NULL, *x_range = NULL,
               *y_range = NULL, *x_label = NULL, *y_label = NULL, *labels = NULL, *log = NULL,
               *from_start = NULL, *absolute = NULL, *points = NULL, *resolution = NULL;
    const option_spec options[] = {
        {"--output", "FILE", "name.svg, .png or .pdf (default: the result's name with .svg)",
         &output},
        {"--x", "SERIES", "what runs along the horizontal axis (default: time)", &x},
        {"--log", "AXES", "logarithmic axes: x, y or xy", &log},
        {"--from-start", NULL, "show the change since the first record", &from_start},
        {"--absolute", NULL, "show absolute values, for logarithmic axes", &absolute},
        {"--points", NULL, "mark every record", &points},
        {"--x-range", "A,B", "range of the horizontal axis (default: that of the data)", &x_range},
        {"--y-range", "A,B", "range of the vertical axis", &y_range},
        {"--x-label", "TEXT", "text of the horizontal axis", &x_label},
        {"--y-label", "TEXT", "text of the vertical axis", &y_label},
        {"--labels", "A,B,...", "texts of the legend, in the order of the curves", &labels},
        {"--title", "TEXT", "a line above the figure", &title},
        {"--size", "WxH", "in mm (default: 120x80)", &size},
        {"--resolution", "DPI", "dots per inch of a PNG (default: 200)", &resolution},
    };
    const command_usage usage = {
        "plot",
        "RESULT... SERIES...",
        "Draw series of result files for papers and reports.",
        "Series are named as in `holonom export`: energy, joints/HINGE/coordinates, "
        "bodies/LINK/position/z.\n"
        "Several results (names with .h5 or .h5.part) are drawn over each other.\n"
        "Curves differ in colour and in dash, so that they can be told apart in black and white.\n",
        "holonom plot six-body-linkage.h5 kinetic potential energy -o energy.pdf",
        options,
        sizeof options / sizeof options[0]};
    const char **words = malloc(((size_t)argument_count + 1) * sizeof *words);
    if (words == NULL) return EXIT_RUN_FAILED;
    int word_count = 0;
    options_result parsed =
        options_parse_words(&usage, argument_count, arguments, words, &word_count);
    figure f = {.title = title, .x.label = x_label, .y.label = y_label};
    plot_request request = {.x = x == NULL ? "time" : x,
                            .from_start = from_start != NULL,
                            .absolute = absolute != NULL,
                            .points = points != NULL};
    int code = parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (parsed == OPTIONS_FINE && parse_log(log, &f) && parse_size(size, &f) &&
        parse_range("--x-range", x_range, &f.x) && parse_range("--y-range", y_range, &f.y))
        code = plot_words(&usage, words, word_count, &request, &f, labels, output, resolution);
    free(words);
    return code;
}
