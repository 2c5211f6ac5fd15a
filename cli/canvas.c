// SPDX-License-Identifier: MIT
// Drawing on a page: SVG is written here, so that text stays text; PNG and PDF are drawn by cairo.
#include "canvas.h"

#include <cairo-pdf.h>
#include <cairo.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Fonts by preference; all but the last are the plain sans-serif of some system.
#define FONTS "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

static const double FAR_AWAY = 1e5; // pt: beyond any page, and what cairo can still draw

#if defined(__SANITIZE_ADDRESS__)
// fontconfig keeps its tables until the process ends, under pointers that a leak checker cannot follow
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

struct canvas {
    FILE *svg; ///< NULL: cairo
    cairo_surface_t *surface;
    cairo_t *cairo;
    const char *png; ///< path of a PNG, written at the end
    const char *reason;
};

// ---- begin and end --------------------------------------------------------------------------------

canvas *canvas_create_svg(FILE *out, double width, double height, bool standalone)
{
    canvas *page = calloc(1, sizeof *page);
    if (page == NULL) return NULL;
    page->svg = out;
    if (standalone) fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.6gpt\" height=\"%.6gpt\" "
            "viewBox=\"0 0 %.6g %.6g\" font-family=\"%s\" role=\"img\">\n",
            width, height, width, height, FONTS);
    return page;
}

static canvas *begin_cairo(cairo_surface_t *surface, const char *png, double scale)
{
    canvas *page = calloc(1, sizeof *page);
    cairo_t *cairo = cairo_create(surface);
    if (page == NULL) {
        cairo_destroy(cairo);
        cairo_surface_destroy(surface);
        return NULL;
    }
    *page = (canvas){.surface = surface, .cairo = cairo, .png = png};
    cairo_set_source_rgb(cairo, 1.0, 1.0, 1.0);
    cairo_paint(cairo);
    cairo_scale(cairo, scale, scale);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    return page;
}

canvas *canvas_create_png(const char *path, double width, double height, double resolution)
{
    const double scale = resolution / 72.0;
    return begin_cairo(cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width * scale),
                                                  (int)lround(height * scale)),
                       path, scale);
}

canvas *canvas_create_pdf(const char *path, double width, double height)
{
    return begin_cairo(cairo_pdf_surface_create(path, width, height), NULL, 1.0);
}

bool canvas_finish(canvas *page, const char **reason)
{
    *reason = "there is no memory";
    if (page == NULL) return false;
    bool written = true;
    if (page->svg != NULL) {
        fputs("</svg>\n", page->svg);
        written = fflush(page->svg) == 0 && !ferror(page->svg);
        *reason = "the file could not be written";
    } else {
        cairo_status_t status = cairo_status(page->cairo);
        if (status == CAIRO_STATUS_SUCCESS && page->png != NULL)
            status = cairo_surface_write_to_png(page->surface, page->png);
        cairo_destroy(page->cairo);
        cairo_surface_finish(page->surface);
        if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(page->surface);
        cairo_surface_destroy(page->surface);
        written = status == CAIRO_STATUS_SUCCESS;
        *reason = cairo_status_to_string(status);
    }
    free(page);
    return written;
}

// ---- marks ----------------------------------------------------------------------------------------

static void set_color(const canvas *page, canvas_color color)
{
    cairo_set_source_rgb(page->cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

void canvas_clip_begin(canvas *page, double x, double y, double width, double height)
{
    if (page->svg != NULL) {
        // an inner svg clips without an id, so that many figures can stand in one document
        fprintf(page->svg,
                "<svg x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" viewBox=\"%.6g %.6g "
                "%.6g %.6g\" overflow=\"hidden\">\n",
                x, y, width, height, x, y, width, height);
        return;
    }
    cairo_save(page->cairo);
    cairo_rectangle(page->cairo, x, y, width, height);
    cairo_clip(page->cairo);
}

void canvas_clip_end(canvas *page)
{
    if (page->svg != NULL) fputs("</svg>\n", page->svg);
    else cairo_restore(page->cairo);
}

void canvas_rectangle(canvas *page, double x, double y, double width, double height,
                      canvas_color color)
{
    if (page->svg != NULL) {
        fprintf(page->svg,
                "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" "
                "fill=\"#%02x%02x%02x\"/>\n",
                x, y, width, height, color.red, color.green, color.blue);
        return;
    }
    set_color(page, color);
    cairo_rectangle(page->cairo, x, y, width, height);
    cairo_fill(page->cairo);
}

static double limited(double value)
{
    return value > FAR_AWAY ? FAR_AWAY : value < -FAR_AWAY ? -FAR_AWAY : value;
}

static void svg_pen(FILE *out, canvas_pen pen)
{
    fprintf(out,
            "\" fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.4g\" "
            "stroke-linejoin=\"round\"",
            pen.color.red, pen.color.green, pen.color.blue, pen.width);
    for (int i = 0; i < pen.dash_count; ++i)
        fprintf(out, "%s%.4g", i == 0 ? " stroke-dasharray=\"" : " ", pen.dash[i]);
    fputs(pen.dash_count > 0 ? "\"/>\n" : "/>\n", out);
}

void canvas_line(canvas *page, const double *xy, size_t count, canvas_pen pen)
{
    bool drawing = false;
    if (page->svg != NULL) fputs("<path d=\"", page->svg);
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(xy[2 * i]) || !isfinite(xy[2 * i + 1])) {
            drawing = false;
            continue;
        }
        const double x = limited(xy[2 * i]), y = limited(xy[2 * i + 1]);
        if (page->svg != NULL) fprintf(page->svg, "%c%.2f %.2f", drawing ? 'L' : 'M', x, y);
        else if (drawing) cairo_line_to(page->cairo, x, y);
        else cairo_move_to(page->cairo, x, y);
        drawing = true;
    }
    if (page->svg != NULL) {
        svg_pen(page->svg, pen);
        return;
    }
    set_color(page, pen.color);
    cairo_set_line_width(page->cairo, pen.width);
    cairo_set_dash(page->cairo, pen.dash, pen.dash_count, 0.0);
    cairo_stroke(page->cairo);
}

void canvas_marker_at(canvas *page, canvas_marker marker, double x, double y, double size,
                      canvas_color color)
{
    // corners in halves of the size; crosses are drawn, the others filled
    static const double SQUARE[] = {-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9};
    static const double TRIANGLE[] = {0.0, -1.15, 1.05, 0.75, -1.05, 0.75};
    static const double DIAMOND[] = {0.0, -1.25, 1.0, 0.0, 0.0, 1.25, -1.0, 0.0};
    static const double CROSS[] = {-0.9, -0.9, 0.9, 0.9, -0.9, 0.9, 0.9, -0.9};
    static const double PLUS[] = {-1.1, 0.0, 1.1, 0.0, 0.0, -1.1, 0.0, 1.1};
    const double *corners = NULL, half = 0.5 * size;
    int count = 0;
    if (!isfinite(x) || !isfinite(y) || fabs(x) > FAR_AWAY || fabs(y) > FAR_AWAY) return;
    switch (marker) {
    case CANVAS_CIRCLE: break;
    case CANVAS_SQUARE: corners = SQUARE, count = 4; break;
    case CANVAS_TRIANGLE: corners = TRIANGLE, count = 3; break;
    case CANVAS_DIAMOND: corners = DIAMOND, count = 4; break;
    case CANVAS_CROSS:
    case CANVAS_PLUS: {
        const double *ends = marker == CANVAS_CROSS ? CROSS : PLUS;
        for (int k = 0; k < 2; ++k) {
            const double line[4] = {x + half * ends[4 * k], y + half * ends[4 * k + 1],
                                    x + half * ends[4 * k + 2], y + half * ends[4 * k + 3]};
            canvas_line(page, line, 2, (canvas_pen){color, 0.2 * size, NULL, 0});
        }
        return;
    }
    }
    if (page->svg != NULL) {
        if (corners == NULL) {
            fprintf(page->svg, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.3g\"", x, y, half);
        } else {
            fputs("<path d=\"", page->svg);
            for (int i = 0; i < count; ++i)
                fprintf(page->svg, "%c%.2f %.2f", i == 0 ? 'M' : 'L', x + half * corners[2 * i],
                        y + half * corners[2 * i + 1]);
            fputs("Z\"", page->svg);
        }
        fprintf(page->svg, " fill=\"#%02x%02x%02x\"/>\n", color.red, color.green, color.blue);
        return;
    }
    set_color(page, color);
    if (corners == NULL) cairo_arc(page->cairo, x, y, half, 0.0, 2.0 * acos(-1.0));
    for (int i = 0; i < count; ++i)
        cairo_line_to(page->cairo, x + half * corners[2 * i], y + half * corners[2 * i + 1]);
    cairo_fill(page->cairo);
}

// ---- text -----------------------------------------------------------------------------------------

static void write_escaped(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; ++c) switch (*c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: // control characters have no place in XML
            if ((unsigned char)*c >= 0x20) putc(*c, out);
        }
}

void canvas_text(canvas *page, double x, double y, const char *text, double size,
                 canvas_anchor anchor, bool turned)
{
    if (page->svg != NULL) {
        static const char *const ANCHORS[] = {"start", "middle", "end"};
        fprintf(page->svg, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.4g\" text-anchor=\"%s\"", x,
                y, size, ANCHORS[anchor]);
        if (turned) fprintf(page->svg, " transform=\"rotate(-90 %.2f %.2f)\"", x, y);
        putc('>', page->svg);
        write_escaped(page->svg, text);
        fputs("</text>\n", page->svg);
        return;
    }
    cairo_text_extents_t extents;
    cairo_save(page->cairo);
    cairo_set_font_size(page->cairo, size);
    cairo_text_extents(page->cairo, text, &extents);
    cairo_set_source_rgb(page->cairo, 0.0, 0.0, 0.0);
    cairo_move_to(page->cairo, x, y);
    if (turned) cairo_rotate(page->cairo, -acos(0.0));
    const double part = anchor == CANVAS_LEFT ? 0.0 : anchor == CANVAS_MIDDLE ? 0.5 : 1.0;
    cairo_rel_move_to(page->cairo, -part * extents.x_advance, 0.0);
    cairo_show_text(page->cairo, text);
    cairo_restore(page->cairo);
}

double canvas_text_width(const char *text, double size)
{
    cairo_text_extents_t extents;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cairo = cairo_create(surface);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
    cairo_text_extents(cairo, text, &extents);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return extents.x_advance;
}
