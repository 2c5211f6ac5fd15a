// SPDX-License-Identifier: MIT
// Report pages: self-contained HTML, figures inline, each claim with the paper's value, ours, the ratio, the verdict.
#include "paper_report.h"

#include "figure.h"
#include "say.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 48 };

static const char *const STYLE =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;"
    "color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2.2rem 0 .3rem;border-top:1px "
    "solid #ccc;padding-top:1rem}\n"
    "p{margin:.4rem 0}a{color:#0057a8}.small{color:#555;font-size:.9rem}\n"
    ".panels{display:flex;flex-wrap:wrap;gap:1rem;margin:.6rem 0}figure{margin:0;max-width:100%}\n"
    "figure "
    "svg{max-width:100%;height:auto}figcaption{font-size:.88rem;color:#444;max-width:34rem}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}\n"
    "th{border-bottom:2px solid #888;font-weight:600}td.number,th.number{text-align:right;"
    "white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".verdict{white-space:nowrap;font-weight:600}.verdict0{color:#00663c}.verdict1{color:#b00020}"
    ".verdict2{color:#7a5200}.verdict3{color:#444}\n"
    ".note{display:block;color:#555;font-size:.88rem}.missing{color:#b00020}\n"
    "@media print{body{font-size:11px}h2{break-after:avoid}tr,figure{break-inside:avoid}}\n";

const char *paper_verdict_word(paper_verdict verdict)
{
    static const char *const WORDS[VERDICT_COUNT] = {"confirmed", "not confirmed", "open",
                                                     "compared"};
    return WORDS[verdict];
}

// ---- verdicts ---------------------------------------------------------------------------------------

static bool holds(const paper_row *row, double value)
{
    const double *bounds = row->bounds;
    switch (row->criterion) {
    case PAPER_WITHIN:
        return fabs(value - row->number) <= bounds[0] * (row->relative ? fabs(row->number) : 1.0);
    case PAPER_FACTOR:
        return value / row->number <= bounds[0] && value / row->number >= 1.0 / bounds[0];
    case PAPER_BELOW: return value <= bounds[0];
    case PAPER_ABOVE: return value >= bounds[0];
    case PAPER_BETWEEN: return value >= bounds[0] && value <= bounds[1];
    case PAPER_OPEN:
    case PAPER_COMPARED: return true;
    }
    return false;
}

paper_judgement paper_judge(paper_values *values, const paper_row *row)
{
    paper_judgement judgement = {.verdict = VERDICT_NOT_CONFIRMED};
    if (row->ours.text != NULL) {
        formula_value value;
        if (paper_evaluate(values, row->ours, &value, judgement.message)) {
            judgement.has_value = value.count == 1 && isfinite(value.numbers[0]);
            if (judgement.has_value) judgement.value = value.numbers[0];
            else
                snprintf(judgement.message, sizeof judgement.message,
                         value.count == 1 ? "line %d: the formula gives no finite number"
                                          : "line %d: the formula gives a series, not a number",
                         row->ours.line);
        }
    }
    if (row->criterion == PAPER_OPEN) judgement.verdict = VERDICT_OPEN;
    else if (judgement.has_value && row->criterion == PAPER_COMPARED)
        judgement.verdict = VERDICT_COMPARED;
    else if (judgement.has_value && holds(row, judgement.value))
        judgement.verdict = VERDICT_CONFIRMED;
    return judgement;
}

// ---- text -------------------------------------------------------------------------------------------

static void write_escaped(const char *text, FILE *out)
{
    for (const char *c = text; *c != '\0'; ++c) switch (*c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: putc(*c, out);
        }
}

/// A decimal number as text, its power of ten written out: "1.60e+05" becomes 1.6·10⁵.
static void write_decimal(const char *text, FILE *out)
{
    const char *power = strchr(text, 'e');
    if (text[0] == '-') fputs("−", out);
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (power == NULL) {
        fputs(digits, out);
        return;
    }
    size_t length = (size_t)(power - digits);
    if (memchr(digits, '.', length) != NULL) {
        while (length > 1 && digits[length - 1] == '0') --length;
        if (digits[length - 1] == '.') --length;
    }
    if (length != 1 || digits[0] != '1') fprintf(out, "%.*s·", (int)length, digits);
    fprintf(out, "10<sup>%s%d</sup>", atoi(power + 1) < 0 ? "−" : "", abs(atoi(power + 1)));
}

/// With so many digits, small numbers by powers of ten.
static void write_digits(double value, int digits, FILE *out)
{
    char text[NUMBER_SIZE];
    if (value != 0.0 && fabs(value) < 1e-3) snprintf(text, sizeof text, "%.*e", digits - 1, value);
    else snprintf(text, sizeof text, "%.*g", digits, value);
    write_decimal(text, out);
}

static void write_number(double value, FILE *out)
{
    write_digits(value, 4, out);
}

/// Digits that a printed number has, four at least: ours is shown with as many.
static int digits_of(const char *printed)
{
    int digits = 0;
    for (const char *c = printed; *c != '\0' && *c != 'e'; ++c)
        if (*c >= '0' && *c <= '9' && (digits > 0 || *c != '0')) ++digits;
    return digits < 4 ? 4 : digits > 15 ? 15 : digits;
}

static void write_criterion(const paper_row *row, FILE *out)
{
    switch (row->criterion) {
    case PAPER_WITHIN:
        fputs("within ", out);
        if (row->relative) fprintf(out, "%.3g %%", 100.0 * row->bounds[0]);
        else write_number(row->bounds[0], out);
        break;
    case PAPER_FACTOR: fprintf(out, "within a factor of %.3g", row->bounds[0]); break;
    case PAPER_BELOW:
        fputs("at most ", out);
        write_number(row->bounds[0], out);
        break;
    case PAPER_ABOVE:
        fputs("at least ", out);
        write_number(row->bounds[0], out);
        break;
    case PAPER_BETWEEN:
        fputs("from ", out);
        write_number(row->bounds[0], out);
        fputs(" to ", out);
        write_number(row->bounds[1], out);
        break;
    case PAPER_OPEN:
    case PAPER_COMPARED: write_escaped(row->reason, out); break;
    }
}

static void write_csv_text(const char *text, FILE *out)
{
    putc('"', out);
    for (const char *c = text; *c != '\0'; ++c) {
        if (*c == '"') putc('"', out);
        putc(*c == '\n' ? ' ' : *c, out);
    }
    putc('"', out);
}

static void write_csv_row(const paper *p, const paper_entry *entry, const paper_row *row,
                          const paper_judgement *judgement, FILE *rows)
{
    write_csv_text(p->short_name, rows);
    putc(',', rows);
    write_csv_text(entry->name.text, rows);
    putc(',', rows);
    write_csv_text(row->says, rows);
    putc(',', rows);
    write_csv_text(row->printed, rows);
    putc(',', rows);
    if (judgement->has_value) fprintf(rows, "%.10g", judgement->value);
    fputs(",", rows);
    if (judgement->has_value && row->has_number && row->number != 0.0)
        fprintf(rows, "%.6g", judgement->value / row->number);
    putc(',', rows);
    write_csv_text(row->unit, rows);
    putc(',', rows);
    write_csv_text(paper_verdict_word(judgement->verdict), rows);
    putc(',', rows);
    write_csv_text(row->reason, rows);
    putc('\n', rows);
}

// ---- figures ----------------------------------------------------------------------------------------

static bool evaluate_line(paper_values *values, const paper_line *line, figure_curve *curve,
                          char message[FORMULA_MESSAGE_SIZE])
{
    formula_value x, y, dx = {NULL, 0}, dy = {NULL, 0};
    if (!paper_evaluate(values, line->x, &x, message) ||
        !paper_evaluate(values, line->y, &y, message))
        return false;
    const bool vectors = line->mark == FIGURE_VECTORS;
    if (vectors && (!paper_evaluate(values, line->dx, &dx, message) ||
                    !paper_evaluate(values, line->dy, &dy, message)))
        return false;
    if (x.count != y.count || (vectors && (dx.count != x.count || dy.count != x.count))) {
        snprintf(message, FORMULA_MESSAGE_SIZE, "line %d: %zu and %zu numbers do not fit together",
                 line->y.line, x.count, y.count);
        return false;
    }
    *curve = (figure_curve){.x = x.numbers,
                            .y = y.numbers,
                            .dx = dx.numbers,
                            .dy = dy.numbers,
                            .count = x.count,
                            .label = line->label,
                            .mark = line->mark,
                            .style = line->style};
    return true;
}

static void write_panel(paper_values *values, const paper_panel *panel, FILE *out,
                        paper_summary *summary)
{
    char message[FORMULA_MESSAGE_SIZE] = "there is no memory";
    const char *reason = message;
    figure_curve *curves = calloc((size_t)panel->line_count, sizeof *curves);
    bool good = curves != NULL;
    fputs("<figure>\n", out);
    for (int i = 0; good && i < panel->line_count; ++i)
        good = evaluate_line(values, &panel->lines[i], &curves[i], message);
    if (good) {
        const figure f = {.x = panel->x,
                          .y = panel->y,
                          .curves = curves,
                          .curve_count = panel->line_count,
                          .width = panel->width,
                          .height = panel->height,
                          .equal_scale = panel->equal_scale};
        good = figure_write_inline(&f, out, &reason);
    }
    if (!good) {
        fputs("<p class=\"missing\">The figure could not be drawn: ", out);
        write_escaped(reason, out);
        fputs("</p>\n", out);
    }
    summary->figures += good ? 1 : 0;
    summary->broken += good ? 0 : 1;
    if (panel->caption[0] != '\0') {
        fputs("<figcaption>", out);
        write_escaped(panel->caption, out);
        fputs("</figcaption>\n", out);
    }
    fputs("</figure>\n", out);
    free(curves);
}

// ---- pages ------------------------------------------------------------------------------------------

static void write_head(const char *title, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width\">\n<title>",
          out);
    write_escaped(title, out);
    fprintf(out, "</title>\n<style>\n%s</style>\n", STYLE);
}

static void write_value_cells(const paper_row *row, const paper_judgement *judgement, FILE *out)
{
    fputs("<td class=\"number\">", out);
    if (row->has_number) write_decimal(row->printed, out);
    else write_escaped(row->printed, out);
    if (row->has_number && row->unit[0] != '\0') {
        putc(' ', out);
        write_escaped(row->unit, out);
    }
    fputs("</td><td class=\"number\">", out);
    if (judgement->has_value) {
        write_digits(judgement->value, row->has_number ? digits_of(row->printed) : 4, out);
        if (row->unit[0] != '\0') {
            putc(' ', out);
            write_escaped(row->unit, out);
        }
    }
    fputs("</td><td class=\"number\">", out);
    if (judgement->has_value && row->has_number && row->number != 0.0)
        fprintf(out, "%.3g", judgement->value / row->number);
    fputs("</td>", out);
}

static void write_row(const paper_row *row, const paper_judgement *judgement, FILE *out)
{
    fputs("<tr><td>", out);
    write_escaped(row->says, out);
    if (row->assumed[0] != '\0') {
        fputs("<span class=\"note\">Assumed: ", out);
        write_escaped(row->assumed, out);
        fputs("</span>", out);
    }
    fputs("</td>", out);
    write_value_cells(row, judgement, out);
    fprintf(out, "<td><span class=\"verdict verdict%d\">%s</span><span class=\"note\">",
            (int)judgement->verdict, paper_verdict_word(judgement->verdict));
    write_criterion(row, out);
    fputs("</span>", out);
    if (!judgement->has_value && judgement->message[0] != '\0') {
        fputs("<span class=\"note missing\">", out);
        write_escaped(judgement->message, out);
        fputs("</span>", out);
    }
    fputs("</td></tr>\n", out);
}

static void write_entry(paper_values *values, const paper_entry *entry, FILE *out, FILE *rows,
                        paper_summary *summary)
{
    fputs("<h2>", out);
    write_escaped(entry->name.text, out);
    fputs(". ", out);
    write_escaped(entry->title, out);
    fputs("</h2>\n", out);
    if (entry->assumed[0] != '\0') {
        fputs("<p class=\"small\">Assumed: ", out);
        write_escaped(entry->assumed, out);
        fputs("</p>\n", out);
    }
    if (entry->panel_count > 0) fputs("<div class=\"panels\">\n", out);
    for (int i = 0; i < entry->panel_count; ++i)
        write_panel(values, &entry->panels[i], out, summary);
    if (entry->panel_count > 0) fputs("</div>\n", out);
    fputs(
        "<div class=\"scroll\"><table>\n<tr><th>The paper says</th><th class=\"number\">paper</th>"
        "<th class=\"number\">here</th><th class=\"number\">ratio</th><th>verdict</th></tr>\n",
        out);
    for (int i = 0; i < entry->row_count; ++i) {
        const paper_judgement judgement = paper_judge(values, &entry->rows[i]);
        summary->counts[judgement.verdict] += 1;
        write_row(&entry->rows[i], &judgement, out);
        write_csv_row(values->p, entry, &entry->rows[i], &judgement, rows);
        if (judgement.verdict == VERDICT_NOT_CONFIRMED)
            say(stderr, "  %s, %s: not confirmed: %s%s%s\n", values->p->short_name,
                entry->name.text, entry->rows[i].says, judgement.message[0] == '\0' ? "" : ": ",
                judgement.message);
    }
    fputs("</table></div>\n", out);
}

static void write_counts(const int counts[VERDICT_COUNT], FILE *out)
{
    bool first = true;
    for (int i = 0; i < VERDICT_COUNT; ++i) {
        if (counts[i] == 0) continue;
        fprintf(out, "%s<span class=\"verdict verdict%d\">%d %s</span>", first ? "" : ", ", i,
                counts[i], paper_verdict_word((paper_verdict)i));
        first = false;
    }
}

static bool write_runs(const paper_values *values, FILE *out)
{
    const paper *p = values->p;
    fputs("<h2>Simulations</h2>\n<div class=\"scroll\"><table>\n<tr><th>name</th><th>model</th>"
          "<th>scheme, reduction</th><th>step [s]</th><th class=\"number\">end [s]</th></tr>\n",
          out);
    for (int i = 0; i < p->run_count; ++i) {
        const paper_run *run = &p->runs[i];
        fprintf(out, "<tr><td>%s</td><td>%s</td><td>%s%s%s</td><td>", run->name.text,
                run->model.text, hn_scheme_name(run->options.scheme),
                hn_scheme_has_own_solver(run->options.scheme) ? "" : ", ",
                hn_scheme_has_own_solver(run->options.scheme)
                    ? ""
                    : hn_reduction_name(run->options.reduction));
        for (int k = 0; k < run->step_count; ++k)
            fprintf(out, "%s%g", k == 0 ? "" : ", ", run->steps[k]);
        fprintf(out, "</td><td class=\"number\">%g</td></tr>\n", run->options.end);
    }
    fputs("</table></div>\n", out);
    return !ferror(out);
}

bool paper_write_page(paper_values *values, const char *path, FILE *rows, paper_summary *summary,
                      const char **reason)
{
    const paper *p = values->p;
    FILE *out = fopen(path, "w");
    FILE *body = out == NULL ? NULL : tmpfile(); // the counts stand above what they count
    if (body == NULL) {
        *reason = strerror(errno);
        if (out != NULL) fclose(out);
        return false;
    }
    for (int i = 0; i < p->entry_count; ++i)
        write_entry(values, &p->entries[i], body, rows, summary);
    write_runs(values, body);
    write_head(p->title, out);
    fputs("<p><a href=\"index.html\">all papers</a></p>\n<h1>", out);
    write_escaped(p->title, out);
    fputs("</h1>\n<p>", out);
    write_escaped(p->authors, out);
    fputs("</p>\n<p class=\"small\">", out);
    write_escaped(p->source, out);
    fputs("</p>\n<p>", out);
    write_counts(summary->counts, out);
    fprintf(out, ". Computed by Holonom %s from the files in models/.</p>\n", hn_version());
    rewind(body);
    char block[8192];
    for (size_t size; (size = fread(block, 1, sizeof block, body)) > 0;)
        fwrite(block, 1, size, out);
    bool good = !ferror(body) && !ferror(out);
    fclose(body);
    *reason = "the file could not be written";
    return fclose(out) == 0 && good;
}

bool paper_write_index(const paper_index_entry *entries, int count, double seconds,
                       const char *path, const char **reason)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        *reason = strerror(errno);
        return false;
    }
    write_head("The papers, reproduced", out);
    fprintf(
        out,
        "<h1>The papers, reproduced</h1>\n<p>Every row sets what a paper prints or says beside "
        "what Holonom %s computes. <em>Confirmed</em>: the number holds within the bound of the "
        "row. <em>Open</em>: something is missing here, with its reason. <em>Compared</em>: "
        "shown without a judgement, because the values need not agree.</p>\n",
        hn_version());
    fputs("<div class=\"scroll\"><table>\n<tr><th></th><th>paper</th>", out);
    for (int i = 0; i < VERDICT_COUNT; ++i)
        fprintf(out, "<th class=\"number\">%s</th>", paper_verdict_word((paper_verdict)i));
    fputs("<th class=\"number\">figures</th></tr>\n", out);
    for (int i = 0; i < count; ++i) {
        fprintf(out, "<tr><td><a href=\"%s\">%s</a></td><td>", entries[i].page,
                entries[i].p->short_name);
        write_escaped(entries[i].p->authors, out);
        fputs(". ", out);
        write_escaped(entries[i].p->title, out);
        fputs("</td>", out);
        for (int k = 0; k < VERDICT_COUNT; ++k)
            fprintf(out, "<td class=\"number\"><span class=\"verdict verdict%d\">%d</span></td>", k,
                    entries[i].summary.counts[k]);
        fprintf(out, "<td class=\"number\">%d</td></tr>\n", entries[i].summary.figures);
    }
    fprintf(out,
            "</table></div>\n<p class=\"small\">%.0f s. All rows as a table: <a "
            "href=\"rows.csv\">rows.csv</a>.</p>\n",
            seconds);
    bool good = !ferror(out);
    *reason = "the file could not be written";
    return fclose(out) == 0 && good;
}
