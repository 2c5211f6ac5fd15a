// SPDX-License-Identifier: MIT
// A page to draw on: SVG with real text, PNG or PDF. Lengths are points (1/72 inch), y points down.
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct canvas canvas;

typedef struct canvas_color {
    unsigned char red, green, blue;
} canvas_color;

typedef struct canvas_pen {
    canvas_color color;
    double width;       ///< pt
    const double *dash; ///< pt, lengths of strokes and gaps in turn; NULL: solid
    int dash_count;
} canvas_pen;

typedef enum canvas_anchor { CANVAS_LEFT, CANVAS_MIDDLE, CANVAS_RIGHT } canvas_anchor;

typedef enum canvas_marker {
    CANVAS_CIRCLE,
    CANVAS_SQUARE,
    CANVAS_TRIANGLE,
    CANVAS_DIAMOND,
    CANVAS_CROSS,
    CANVAS_PLUS,
} canvas_marker;
enum { CANVAS_MARKER_COUNT = 6 };

/// Write SVG to a stream, which stays open. `standalone`: with the declaration a file needs; false: for use inside
/// HTML.
canvas *canvas_create_svg(FILE *out, double width, double height, bool standalone);
/// Write a PNG or PDF file when finished; `resolution` in dots per inch.
canvas *canvas_create_png(const char *path, double width, double height, double resolution);
canvas *canvas_create_pdf(const char *path, double width, double height);
/// Complete the page and free it. False with a reason (a sentence without a period) when something could not be
/// written; NULL is no memory.
bool canvas_finish(canvas *page, const char **reason);

/// Everything until the end of the clip is drawn inside this rectangle only. Clips do not nest.
void canvas_clip_begin(canvas *page, double x, double y, double width, double height);
void canvas_clip_end(canvas *page);

void canvas_rectangle(canvas *page, double x, double y, double width, double height,
                      canvas_color color);
/// Connected points; those that are not finite break the line. `xy` has 2 * count numbers.
void canvas_line(canvas *page, const double *xy, size_t count, canvas_pen pen);
void canvas_marker_at(canvas *page, canvas_marker marker, double x, double y, double size,
                      canvas_color color);
/// Text on one line with its baseline at y; `turned`: reads upward along y.
void canvas_text(canvas *page, double x, double y, const char *text, double size,
                 canvas_anchor anchor, bool turned);
/// Width of a text in pt, as near as the fonts of this machine tell.
double canvas_text_width(const char *text, double size);

#endif
