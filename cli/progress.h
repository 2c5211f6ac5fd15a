// SPDX-License-Identifier: MIT
// Progress bar on a terminal; silent in a pipe.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

/// Places the bar takes.
enum { PROGRESS_CELLS = 20 };

typedef struct progress {
    bool shown;        ///< the error stream is a terminal and the user did not ask for quiet
    const char *label; ///< stands before the bar
    double start;      ///< s, clock at the beginning
    double last_draw;  ///< s
} progress;

/// Seconds on a clock that counts from an arbitrary moment.
double clock_seconds(void);

bool stream_is_terminal(FILE *stream);

/// Begin; `label` must outlive the progress.
progress progress_begin(const char *label, bool quiet);

/// Redraw if the last time was a while ago; 0 <= fraction <= 1.
void progress_update(progress *p, double fraction);

/// Remove the bar from the screen.
void progress_end(progress *p);

/// A bar of PROGRESS_CELLS places filled to `fraction`, "100 %".
void print_bar(double fraction, FILE *out);

/// A duration in s, min, h as fits.
void print_duration(double seconds, FILE *out);

#endif
