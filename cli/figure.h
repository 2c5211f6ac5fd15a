// SPDX-License-Identifier: MIT
// A figure with axes, curves and a legend, as journals print it; curves differ in colour, dash and marker.
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum figure_mark {
    FIGURE_LINE,
    FIGURE_POINTS,
    FIGURE_LINE_AND_POINTS,
    FIGURE_VECTORS, ///< from (x, y) to (x + dx, y + dy)
} figure_mark;

typedef struct figure_curve {
    const double *x, *y;   ///< count; values that are not finite leave a gap
    const double *dx, *dy; ///< count, vectors only
    size_t count;
    const char *label; ///< in the legend; NULL or "": none
    figure_mark mark;
    int style; ///< 0: black and solid; each has its own colour, dash and marker
} figure_curve;

typedef struct figure_axis {
    const char *label; ///< with its unit; NULL: none
    bool logarithmic;
    bool has_low, has_high; ///< false: from the data
    double low, high;
} figure_axis;

typedef struct figure {
    const char *title; ///< NULL: none
    figure_axis x, y;
    const figure_curve *curves;
    int curve_count;
    double width, height; ///< mm
    bool equal_scale;     ///< one unit is as long on both axes
} figure;

typedef enum figure_format { FIGURE_SVG, FIGURE_PNG, FIGURE_PDF } figure_format;

/// The format that a file's name asks for; false: none of the three.
bool figure_format_of(const char *path, figure_format *format);

/// Draw to a file; `resolution` in dots per inch is for PNG. False: `*reason` says why.
bool figure_write(const figure *f, const char *path, figure_format format, double resolution,
                  const char **reason);

/// Draw as an SVG element for use inside HTML.
bool figure_write_inline(const figure *f, FILE *out, const char **reason);

#endif
