// SPDX-License-Identifier: MIT
// Progress bar: one line on the error stream, redrawn in place.
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include "table.h"

#include <time.h>
#include <unistd.h>

static const double REDRAW_INTERVAL = 0.1; // s
static const int LABEL_WIDTH = 50;

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool stream_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

progress progress_begin(const char *label, bool quiet)
{
    progress p = {
        .shown = !quiet && stream_is_terminal(stderr), .label = label, .start = clock_seconds()};
    p.last_draw = p.start;
    return p;
}

void print_bar(double fraction, FILE *out)
{
    int filled = (int)(fraction * PROGRESS_CELLS + 0.5);
    for (int i = 0; i < PROGRESS_CELLS; ++i) fputs(i < filled ? "█" : "░", out);
    fprintf(out, " %3d %%", (int)(100.0 * fraction));
}

void print_duration(double seconds, FILE *out)
{
    if (seconds < 10.0) fprintf(out, "%.3f s", seconds);
    else if (seconds < 120.0) fprintf(out, "%.1f s", seconds);
    else if (seconds < 7200.0) fprintf(out, "%.1f min", seconds / 60.0);
    else fprintf(out, "%.1f h", seconds / 3600.0);
}

void progress_update(progress *p, double fraction)
{
    double now = clock_seconds();
    if (!p->shown || now - p->last_draw < REDRAW_INTERVAL) return;
    p->last_draw = now;
    fputs("\r", stderr);
    print_padded(p->label, LABEL_WIDTH, stderr);
    fputs("  ", stderr);
    print_bar(fraction, stderr);
    fputs("   ", stderr);
    print_duration(now - p->start, stderr);
    fputs("\033[K", stderr); // clear what a longer line left
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (!p->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->shown = false;
}
