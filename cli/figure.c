// SPDX-License-Identifier: MIT
// Layout of a figure: ranges and ticks, axes with their labels, curves, and a legend where the data leave room.
#include "figure.h"

#include "canvas.h"
#include "output_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TICKS_MAX = 64,
    TEXT_SIZE = 64,
    STYLE_COUNT = 7,
    LEGEND_PLACES = 6,
    BIN_POINTS = 4, // first, lowest, highest and last of all points that fall into one bin
};

// lengths in pt
static const double POINTS_PER_MM = 72.0 / 25.4;
static const double TICK_TEXT = 8.5, LABEL_TEXT = 9.5, TITLE_TEXT = 10.5, LEGEND_TEXT = 8.5;
static const double FRAME_WIDTH = 0.7, TICK_LENGTH = 4.0, MINOR_LENGTH = 2.2, CURVE_WIDTH = 1.2;
static const double MARKER_SIZE = 4.2, LEGEND_LINE = 24.0, LEGEND_LEADING = 12.0, GAP = 5.0;
static const double VECTOR_HEAD = 5.0; // length of an arrow's head
static const double BINS_PER_POINT = 2.0;
static const double CONSTANT =
    1e-10;                         // relative to its size, what varies less is drawn as a constant
static const double MARGIN = 0.05; // of the range, above and below the data

static const canvas_color BLACK = {0, 0, 0}, WHITE = {255, 255, 255};

// Colours that also differ for colour-blind readers (Okabe and Ito); dashes and markers differ in black and white.
static const canvas_color COLORS[STYLE_COUNT] = {
    {0, 0, 0},       {0, 114, 178}, {213, 94, 0},   {0, 158, 115},
    {204, 121, 167}, {230, 159, 0}, {86, 180, 233},
};
static const double DASHED[] = {6.0, 3.0}, DOTTED[] = {1.4, 2.2}, DASH_DOT[] = {7.0, 2.4, 1.4, 2.4},
                    LONG_DASH[] = {11.0, 3.0}, SHORT_DASH[] = {3.0, 1.6},
                    DASH_DOT_DOT[] = {7.0, 2.0, 1.4, 2.0, 1.4, 2.0};

static canvas_pen pen_of(int style)
{
    static const struct {
        const double *dash;
        int count;
    } DASHES[STYLE_COUNT] = {{NULL, 0},      {DASHED, 2},     {DOTTED, 2},      {DASH_DOT, 4},
                             {LONG_DASH, 2}, {SHORT_DASH, 2}, {DASH_DOT_DOT, 6}};
    const int index = style % STYLE_COUNT;
    return (canvas_pen){COLORS[index], CURVE_WIDTH, DASHES[index].dash, DASHES[index].count};
}

static canvas_marker marker_of(int style)
{
    return (canvas_marker)(style % CANVAS_MARKER_COUNT);
}

// ---- scales and ticks -----------------------------------------------------------------------------

/// How values of an axis become places, and what is written beside its ticks.
typedef struct scale {
    bool logarithmic;
    double low, high;  ///< of the data, log10 of them if logarithmic
    double start, end; ///< pt
    double ticks[TICKS_MAX], minor[TICKS_MAX];
    int tick_count, minor_count;
    double offset;        ///< tick labels are (value - offset) / 10^exponent
    int exponent;         ///< 0: none
    int decimals;         ///< of tick labels
    char note[TEXT_SIZE]; ///< "×10⁻³", "+ 1.25"; "" for none
} scale;

static double place_of(const scale *s, double value)
{
    double number = s->logarithmic ? (value > 0.0 ? log10(value) : (double)NAN) : value;
    return s->start + (number - s->low) / (s->high - s->low) * (s->end - s->start);
}

static void widen(double value, bool logarithmic, double *low, double *high)
{
    if (!isfinite(value) || (logarithmic && value <= 0.0)) return;
    const double number = logarithmic ? log10(value) : value;
    if (number < *low) *low = number;
    if (number > *high) *high = number;
}

/// Does x never decrease, as time does? Then curves may end on the frame.
static bool advances(const figure *f)
{
    for (int i = 0; i < f->curve_count; ++i)
        for (size_t k = 1; k < f->curves[i].count; ++k)
            if (f->curves[i].x[k] < f->curves[i].x[k - 1]) return false;
    return true;
}

static void find_range(const figure *f, bool horizontal, scale *s)
{
    const figure_axis *axis = horizontal ? &f->x : &f->y;
    double low = HUGE_VAL, high = -HUGE_VAL;
    s->logarithmic = axis->logarithmic;
    for (int i = 0; i < f->curve_count; ++i) {
        const figure_curve *curve = &f->curves[i];
        const double *values = horizontal ? curve->x : curve->y;
        const double *steps = horizontal ? curve->dx : curve->dy;
        for (size_t k = 0; k < curve->count; ++k) {
            widen(values[k], axis->logarithmic, &low, &high);
            if (curve->mark == FIGURE_VECTORS)
                widen(values[k] + steps[k], axis->logarithmic, &low, &high);
        }
    }
    if (low > high) low = axis->logarithmic ? -1.0 : 0.0, high = 1.0; // nothing to show
    // a constant is drawn in the middle; what is constant but for round-off is not blown up
    const double size = fmax(fabs(low), fabs(high));
    if (high - low <= CONSTANT * size) {
        const double half = axis->logarithmic ? 0.5 : size > 0.0 ? 0.05 * size : 1.0;
        low -= half;
        high += half;
    } else if (!horizontal || f->equal_scale || !advances(f)) {
        const double more = MARGIN * (high - low);
        low -= more;
        high += more;
    }
    if (axis->has_low) low = axis->logarithmic ? log10(axis->low) : axis->low;
    if (axis->has_high) high = axis->logarithmic ? log10(axis->high) : axis->high;
    if (!(high > low)) high = low + 1.0;
    s->low = low;
    s->high = high;
}

static const char *superscript(int number, char text[TEXT_SIZE])
{
    static const char *const DIGITS[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    size_t used = 0;
    snprintf(plain, sizeof plain, "%d", number);
    text[0] = '\0';
    for (const char *c = plain; *c != '\0'; ++c)
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s",
                                 *c == '-' ? "⁻" : DIGITS[*c - '0']);
    return text;
}

/// A number with a real minus sign.
static const char *signed_text(double value, int decimals, char text[TEXT_SIZE])
{
    const double rounded = fabs(value) < 0.5 * pow(10.0, -decimals) ? 0.0 : value;
    snprintf(text, TEXT_SIZE, "%s%.*f", rounded < 0.0 ? "−" : "", decimals, fabs(rounded));
    return text;
}

/// A step of 1, 2 or 5 times a power of ten that gives about `wanted` ticks.
static double nice_step(double range, double wanted)
{
    const double raw = range / wanted, power = pow(10.0, floor(log10(raw))), part = raw / power;
    return power * (part < 1.5 ? 1.0 : part < 3.5 ? 2.0 : part < 7.5 ? 5.0 : 10.0);
}

static void linear_ticks(scale *s, double wanted)
{
    const double range = s->high - s->low, step = nice_step(range, wanted);
    const double size = fmax(fabs(s->low), fabs(s->high));
    const double lead = step / pow(10.0, floor(log10(step) + 1e-9));
    const int parts = lead > 1.5 && lead < 3.0 ? 4 : 5;
    for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + 1e-9 * range; ++k)
        if (s->tick_count < TICKS_MAX) s->ticks[s->tick_count++] = k * step;
    const double fine = step / parts;
    for (double k = ceil(s->low / fine - 1e-9); k * fine <= s->high + 1e-9 * range; ++k)
        if (s->minor_count < TICKS_MAX) s->minor[s->minor_count++] = k * fine;

    // values that hardly differ are written as their difference from one of them
    if (size > 0.0 && range < 1e-4 * size && s->tick_count > 0) {
        s->offset = s->ticks[s->tick_count / 2];
        snprintf(s->note, sizeof s->note, "%s %.10g", s->offset < 0.0 ? "−" : "+", fabs(s->offset));
    }
    const double largest = s->offset != 0.0 ? range : size;
    if (largest >= 1e4 || largest < 1e-2) {
        char power[TEXT_SIZE], sum[TEXT_SIZE];
        s->exponent = (int)floor(log10(largest) + 1e-9);
        snprintf(sum, sizeof sum, "×10%s", superscript(s->exponent, power));
        if (s->note[0] != '\0') snprintf(power, sizeof power, " %.40s", s->note);
        else power[0] = '\0';
        snprintf(s->note, sizeof s->note, "%.20s%.42s", sum, power);
    }
    const double shown = step / pow(10.0, s->exponent);
    s->decimals = shown >= 0.9999 ? 0 : (int)ceil(-log10(shown) - 1e-9);
}

static void logarithmic_ticks(scale *s, double wanted)
{
    const double decades = s->high - s->low;
    if (decades < 1.0) { // within a decade: 1, 2, 5
        for (double k = floor(s->low); k <= s->high; ++k)
            for (int digit = 1; digit < 10; ++digit) {
                const double place = k + log10(digit);
                if (place < s->low - 1e-9 || place > s->high + 1e-9) continue;
                bool major = digit == 1 || digit == 2 || digit == 5;
                if (major && s->tick_count < TICKS_MAX) s->ticks[s->tick_count++] = place;
                else if (s->minor_count < TICKS_MAX) s->minor[s->minor_count++] = place;
            }
        return;
    }
    const double every = fmax(1.0, ceil(decades / wanted));
    for (double k = ceil(s->low / every - 1e-9) * every; k <= s->high + 1e-9; k += every)
        if (s->tick_count < TICKS_MAX) s->ticks[s->tick_count++] = k;
    for (double k = floor(s->low); k <= s->high; ++k)
        for (int digit = 1; digit < (every > 1.0 ? 2 : 10); ++digit) {
            const double place = k + log10(digit);
            if (place >= s->low - 1e-9 && place <= s->high + 1e-9 && s->minor_count < TICKS_MAX)
                s->minor[s->minor_count++] = place;
        }
}

static const char *tick_text(const scale *s, int index, char text[TEXT_SIZE])
{
    const double tick = s->ticks[index];
    if (!s->logarithmic)
        return signed_text((tick - s->offset) / pow(10.0, s->exponent), s->decimals, text);
    char power[TEXT_SIZE];
    const double whole = floor(tick + 1e-9), digit = pow(10.0, tick - whole);
    if (fabs(digit - 1.0) > 1e-6)
        snprintf(text, TEXT_SIZE, "%.0f·10%.40s", digit, superscript((int)whole, power));
    else snprintf(text, TEXT_SIZE, "10%.50s", superscript((int)whole, power));
    return text;
}

static double widest_tick(const scale *s)
{
    double widest = 0.0;
    char text[TEXT_SIZE];
    for (int i = 0; i < s->tick_count; ++i)
        widest = fmax(widest, canvas_text_width(tick_text(s, i, text), TICK_TEXT));
    return widest;
}

/// Place of a tick, which is a logarithm already on a logarithmic axis.
static double tick_place(const scale *s, double tick)
{
    return s->start + (tick - s->low) / (s->high - s->low) * (s->end - s->start);
}

// ---- frame ----------------------------------------------------------------------------------------

static void stroke(canvas *page, double x1, double y1, double x2, double y2)
{
    const double line[4] = {x1, y1, x2, y2};
    canvas_line(page, line, 2, (canvas_pen){BLACK, FRAME_WIDTH, NULL, 0});
}

/// Ticks point inward on all four sides.
static void draw_ticks(canvas *page, const scale *x, const scale *y, const double *places,
                       int count, double length, bool horizontal)
{
    const scale *along = horizontal ? x : y, *across = horizontal ? y : x;
    const double inward = across->end > across->start ? length : -length;
    for (int i = 0; i < count; ++i) {
        const double place = tick_place(along, places[i]);
        for (int side = 0; side < 2; ++side) {
            const double from = side == 0 ? across->start : across->end,
                         to = from + (side == 0 ? inward : -inward);
            if (horizontal) stroke(page, place, from, place, to);
            else stroke(page, from, place, to, place);
        }
    }
}

static void draw_frame(canvas *page, const figure *f, const scale *x, const scale *y,
                       double label_x)
{
    const double box[10] = {x->start, y->start, x->end, y->start, x->end,
                            y->end,   x->start, y->end, x->start, y->start};
    draw_ticks(page, x, y, x->ticks, x->tick_count, TICK_LENGTH, true);
    draw_ticks(page, x, y, x->minor, x->minor_count, MINOR_LENGTH, true);
    draw_ticks(page, x, y, y->ticks, y->tick_count, TICK_LENGTH, false);
    draw_ticks(page, x, y, y->minor, y->minor_count, MINOR_LENGTH, false);
    canvas_line(page, box, 5, (canvas_pen){BLACK, FRAME_WIDTH, NULL, 0});

    char text[TEXT_SIZE];
    for (int i = 0; i < x->tick_count; ++i)
        canvas_text(page, tick_place(x, x->ticks[i]), y->start + TICK_TEXT + GAP - 1.0,
                    tick_text(x, i, text), TICK_TEXT, CANVAS_MIDDLE, false);
    for (int i = 0; i < y->tick_count; ++i)
        canvas_text(page, x->start - GAP, tick_place(y, y->ticks[i]) + 0.36 * TICK_TEXT,
                    tick_text(y, i, text), TICK_TEXT, CANVAS_RIGHT, false);
    if (y->note[0] != '\0')
        canvas_text(page, x->start, y->end - GAP, y->note, TICK_TEXT, CANVAS_LEFT, false);
    if (x->note[0] != '\0')
        canvas_text(page, x->end, y->start + TICK_TEXT + LABEL_TEXT + 2.0 * GAP, x->note, TICK_TEXT,
                    CANVAS_RIGHT, false);
    if (f->x.label != NULL)
        canvas_text(page, 0.5 * (x->start + x->end), y->start + TICK_TEXT + LABEL_TEXT + 2.0 * GAP,
                    f->x.label, LABEL_TEXT, CANVAS_MIDDLE, false);
    if (f->y.label != NULL)
        canvas_text(page, label_x, 0.5 * (y->start + y->end), f->y.label, LABEL_TEXT, CANVAS_MIDDLE,
                    true);
    if (f->title != NULL && f->title[0] != '\0')
        canvas_text(page, 0.5 * (x->start + x->end), TITLE_TEXT + GAP, f->title, TITLE_TEXT,
                    CANVAS_MIDDLE, false);
}

// ---- curves ---------------------------------------------------------------------------------------

/// Where x increases and points crowd, only what shows is kept: first, lowest, highest and last within each half point.
/// Returns how many points remain in `xy`.
static size_t thin_out(const scale *x, double *xy, size_t count)
{
    const double width = x->end - x->start;
    if ((double)count <= 2.0 * BIN_POINTS * BINS_PER_POINT * width) return count;
    for (size_t i = 1; i < count; ++i)
        if (!(xy[2 * i] >= xy[2 * i - 2])) return count;
    size_t kept = 0; // gaps among so many points cannot be seen: they are closed
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(xy[2 * i + 1])) continue;
        xy[2 * kept] = xy[2 * i];
        xy[2 * kept + 1] = xy[2 * i + 1];
        ++kept;
    }
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count;) {
        const double bin = floor(BINS_PER_POINT * xy[2 * i]);
        size_t last = i, chosen[BIN_POINTS] = {i, i, i, i};
        for (; last < count && floor(BINS_PER_POINT * xy[2 * last]) == bin; ++last) {
            if (xy[2 * last + 1] < xy[2 * chosen[1] + 1]) chosen[1] = last;
            if (xy[2 * last + 1] > xy[2 * chosen[2] + 1]) chosen[2] = last;
        }
        chosen[3] = last - 1;
        if (chosen[1] > chosen[2]) {
            size_t other = chosen[1];
            chosen[1] = chosen[2];
            chosen[2] = other;
        }
        for (int k = 0; k < BIN_POINTS; ++k) {
            if (k > 0 && chosen[k] == chosen[k - 1]) continue;
            xy[2 * kept] = xy[2 * chosen[k]]; // never beyond what was read
            xy[2 * kept + 1] = xy[2 * chosen[k] + 1];
            ++kept;
        }
        i = last;
    }
    return kept;
}

static void draw_vector(canvas *page, double x1, double y1, double x2, double y2, canvas_pen pen)
{
    const double length = hypot(x2 - x1, y2 - y1);
    const double line[4] = {x1, y1, x2, y2};
    pen.dash = NULL;
    pen.dash_count = 0;
    if (!(length > 0.0)) return;
    canvas_line(page, line, 2, pen);
    const double head = fmin(VECTOR_HEAD, 0.4 * length), ux = (x2 - x1) / length * head,
                 uy = (y2 - y1) / length * head;
    const double barbs[6] = {x2 - ux - 0.4 * uy, y2 - uy + 0.4 * ux, x2, y2,
                             x2 - ux + 0.4 * uy, y2 - uy - 0.4 * ux};
    canvas_line(page, barbs, 3, pen);
}

static bool draw_curve(canvas *page, const figure_curve *curve, const scale *x, const scale *y)
{
    double *xy = malloc((2 * curve->count + 2) * sizeof *xy);
    if (xy == NULL) return false;
    for (size_t i = 0; i < curve->count; ++i) {
        xy[2 * i] = place_of(x, curve->x[i]);
        xy[2 * i + 1] = place_of(y, curve->y[i]);
    }
    const canvas_pen pen = pen_of(curve->style);
    size_t count = curve->count;
    if (curve->mark == FIGURE_VECTORS) {
        for (size_t i = 0; i < count; ++i)
            draw_vector(page, xy[2 * i], xy[2 * i + 1], place_of(x, curve->x[i] + curve->dx[i]),
                        place_of(y, curve->y[i] + curve->dy[i]), pen);
    } else {
        count = thin_out(x, xy, count);
    }
    if (curve->mark == FIGURE_LINE || curve->mark == FIGURE_LINE_AND_POINTS)
        canvas_line(page, xy, count, pen);
    if (curve->mark == FIGURE_POINTS || curve->mark == FIGURE_LINE_AND_POINTS)
        for (size_t i = 0; i < count; ++i)
            canvas_marker_at(page, marker_of(curve->style), xy[2 * i], xy[2 * i + 1], MARKER_SIZE,
                             pen.color);
    free(xy);
    return true;
}

// ---- legend ---------------------------------------------------------------------------------------

typedef struct box {
    double x, y, width, height;
} box;

static bool has_label(const figure_curve *curve)
{
    return curve->label != NULL && curve->label[0] != '\0';
}

static double entry_width(const figure_curve *curve)
{
    return LEGEND_LINE + 6.0 + canvas_text_width(curve->label, LEGEND_TEXT);
}

static void draw_entry(canvas *page, const figure_curve *curve, double x, double y)
{
    const canvas_pen pen = pen_of(curve->style);
    const double line[4] = {x, y, x + LEGEND_LINE, y};
    if (curve->mark == FIGURE_VECTORS) draw_vector(page, x, y, x + LEGEND_LINE, y, pen);
    if (curve->mark == FIGURE_LINE || curve->mark == FIGURE_LINE_AND_POINTS)
        canvas_line(page, line, 2, pen);
    if (curve->mark == FIGURE_POINTS || curve->mark == FIGURE_LINE_AND_POINTS)
        canvas_marker_at(page, marker_of(curve->style), x + 0.5 * LEGEND_LINE, y, MARKER_SIZE,
                         pen.color);
    canvas_text(page, x + LEGEND_LINE + 6.0, y + 0.36 * LEGEND_TEXT, curve->label, LEGEND_TEXT,
                CANVAS_LEFT, false);
}

static bool inside(const box *b, double x, double y)
{
    return x > b->x && x < b->x + b->width && y > b->y && y < b->y + b->height;
}

/// Does a curve pass through the box? Between two points it is followed in small steps.
static bool curve_meets(const figure_curve *curve, const scale *x, const scale *y, const box *b)
{
    enum { PARTS = 16 };
    double last_x = (double)NAN, last_y = (double)NAN;
    for (size_t i = 0; i < curve->count; ++i) {
        const double px = place_of(x, curve->x[i]), py = place_of(y, curve->y[i]);
        if (inside(b, px, py)) return true;
        if (curve->mark == FIGURE_VECTORS) {
            last_x = place_of(x, curve->x[i] + curve->dx[i]);
            last_y = place_of(y, curve->y[i] + curve->dy[i]);
        }
        bool near = curve->mark != FIGURE_POINTS && isfinite(last_x) && isfinite(last_y) &&
                    (fabs(px - last_x) > 0.2 * b->width || fabs(py - last_y) > 0.2 * b->height);
        for (int k = 1; near && k < PARTS; ++k) {
            const double part = (double)k / PARTS;
            if (inside(b, last_x + part * (px - last_x), last_y + part * (py - last_y)))
                return true;
        }
        last_x = px;
        last_y = py;
    }
    return false;
}

/// A place inside the frame that no curve passes; false: there is none.
static bool legend_inside(const figure *f, const scale *x, const scale *y, box *place)
{
    double width = 0.0;
    int entries = 0;
    for (int i = 0; i < f->curve_count; ++i) {
        if (!has_label(&f->curves[i])) continue;
        width = fmax(width, entry_width(&f->curves[i]));
        ++entries;
    }
    const double height = entries * LEGEND_LEADING;
    const double left = x->start + 9.0, right = x->end - 9.0 - width, middle = 0.5 * (left + right);
    const double top = y->end + 8.0, bottom = y->start - 8.0 - height;
    const double places[LEGEND_PLACES][2] = {{right, top},   {left, top},   {right, bottom},
                                             {left, bottom}, {middle, top}, {middle, bottom}};
    if (right < left || bottom < top) return false;
    for (int i = 0; i < LEGEND_PLACES; ++i) {
        *place = (box){places[i][0], places[i][1], width, height};
        const box around = {place->x - 4.0, place->y - 4.0, width + 8.0, height + 8.0};
        bool free_of_curves = true;
        for (int k = 0; k < f->curve_count && free_of_curves; ++k)
            free_of_curves = !curve_meets(&f->curves[k], x, y, &around);
        if (free_of_curves) return true;
    }
    return false;
}

/// Rows that the entries take above the frame.
static int legend_rows(const figure *f, double width)
{
    int rows = 0;
    double used = width + 1.0;
    for (int i = 0; i < f->curve_count; ++i) {
        if (!has_label(&f->curves[i])) continue;
        const double entry = entry_width(&f->curves[i]) + 14.0;
        if (used + entry > width + 14.0) {
            ++rows;
            used = 0.0;
        }
        used += entry;
    }
    return rows;
}

static void draw_legend_above(canvas *page, const figure *f, const scale *x, double top)
{
    const double width = x->end - x->start;
    double used = 0.0, y = top + 0.5 * LEGEND_LEADING;
    for (int i = 0; i < f->curve_count; ++i) {
        if (!has_label(&f->curves[i])) continue;
        const double entry = entry_width(&f->curves[i]) + 14.0;
        if (used > 0.0 && used + entry > width + 14.0) {
            used = 0.0;
            y += LEGEND_LEADING;
        }
        draw_entry(page, &f->curves[i], x->start + used, y);
        used += entry;
    }
}

// ---- the whole ------------------------------------------------------------------------------------

/// Widen one of the ranges so that a unit is as long on both axes.
static void equalise(scale *x, scale *y)
{
    const double per_x = (x->high - x->low) / fabs(x->end - x->start),
                 per_y = (y->high - y->low) / fabs(y->end - y->start), wanted = fmax(per_x, per_y);
    const double more_x = 0.5 * (wanted / per_x - 1.0) * (x->high - x->low),
                 more_y = 0.5 * (wanted / per_y - 1.0) * (y->high - y->low);
    x->low -= more_x;
    x->high += more_x;
    y->low -= more_y;
    y->high += more_y;
}

static void make_ticks(scale *s, double wanted)
{
    s->tick_count = s->minor_count = 0;
    s->offset = 0.0;
    s->exponent = 0;
    s->note[0] = '\0';
    if (s->logarithmic) logarithmic_ticks(s, wanted);
    else linear_ticks(s, wanted);
}

static bool draw(canvas *page, const figure *f)
{
    const double width = f->width * POINTS_PER_MM, height = f->height * POINTS_PER_MM;
    const bool titled = f->title != NULL && f->title[0] != '\0';
    scale x = {0}, y = {0};
    find_range(f, true, &x);
    find_range(f, false, &y);
    y.start = height - (TICK_TEXT + 2.0 * GAP + (f->x.label == NULL ? 0.0 : LABEL_TEXT + GAP));
    const double top = (titled ? TITLE_TEXT + 2.0 * GAP : 0.0) + GAP;
    y.end = top + TICK_TEXT;
    const double vertical = fmax(3.0, fabs(y.end - y.start) / 36.0);
    make_ticks(&y, vertical);
    const double label_width = f->y.label == NULL ? 0.0 : LABEL_TEXT + GAP;
    x.start = label_width + widest_tick(&y) + 2.0 * GAP;
    x.end = width - 14.0;
    const double horizontal = fmax(3.0, (x.end - x.start) / 52.0);
    if (f->equal_scale) {
        equalise(&x, &y);
        make_ticks(&y, vertical);
    }
    make_ticks(&x, horizontal);

    int labels = 0;
    for (int i = 0; i < f->curve_count; ++i) labels += has_label(&f->curves[i]) ? 1 : 0;
    box place = {0};
    bool fits = labels > 0 && legend_inside(f, &x, &y, &place);
    const double note = y.note[0] == '\0' ? 0.0 : TICK_TEXT + 2.0;
    if (labels > 0 && !fits) {
        y.end = top + note + LEGEND_LEADING * legend_rows(f, x.end - x.start) + 2.0;
        if (f->equal_scale) equalise(&x, &y), make_ticks(&x, horizontal);
        make_ticks(&y, vertical);
    }
    canvas_rectangle(page, 0.0, 0.0, width, height, WHITE);
    canvas_clip_begin(page, x.start, y.end, x.end - x.start, y.start - y.end);
    bool drawn = true;
    for (int i = 0; i < f->curve_count && drawn; ++i)
        drawn = draw_curve(page, &f->curves[i], &x, &y);
    canvas_clip_end(page);
    draw_frame(page, f, &x, &y, LABEL_TEXT + 1.0);
    if (labels > 0 && !fits) draw_legend_above(page, f, &x, top);
    for (int i = 0, row = 0; fits && i < f->curve_count; ++i)
        if (has_label(&f->curves[i]))
            draw_entry(page, &f->curves[i], place.x, place.y + LEGEND_LEADING * (row++ + 0.5));
    return drawn;
}

static bool finish(canvas *page, bool drawn, const char **reason)
{
    bool written = canvas_finish(page, reason);
    if (written && !drawn) *reason = "there is no memory";
    return written && drawn;
}

bool figure_format_of(const char *path, figure_format *format)
{
    static const char *const ENDINGS[] = {".svg", ".png", ".pdf"};
    const size_t length = strlen(path);
    for (int i = 0; i < 3; ++i)
        if (length > 4 && strcmp(path + length - 4, ENDINGS[i]) == 0) {
            *format = (figure_format)i;
            return true;
        }
    return false;
}

static bool write_to(const figure *f, const char *path, figure_format format, double resolution,
                     const char **reason)
{
    const double width = f->width * POINTS_PER_MM, height = f->height * POINTS_PER_MM;
    FILE *file = NULL;
    canvas *page = NULL;
    switch (format) {
    case FIGURE_SVG:
        file = fopen(path, "w");
        if (file == NULL) {
            *reason = strerror(errno);
            return false;
        }
        page = canvas_create_svg(file, width, height, true);
        break;
    case FIGURE_PNG: page = canvas_create_png(path, width, height, resolution); break;
    case FIGURE_PDF: page = canvas_create_pdf(path, width, height); break;
    }
    bool written = finish(page, page != NULL && draw(page, f), reason);
    if (file != NULL && fclose(file) != 0 && written) {
        *reason = strerror(errno);
        written = false;
    }
    return written;
}

bool figure_write(const figure *f, const char *path, figure_format format, double resolution,
                  const char **reason)
{
    char *temporary = output_temporary(path);
    if (temporary == NULL) {
        *reason = "no memory";
        return false;
    }
    bool written = write_to(f, temporary, format, resolution, reason);
    if (output_settle(temporary, written)) return true;
    if (written) *reason = strerror(errno);
    return false;
}

bool figure_write_inline(const figure *f, FILE *out, const char **reason)
{
    canvas *page =
        canvas_create_svg(out, f->width * POINTS_PER_MM, f->height * POINTS_PER_MM, false);
    return finish(page, page != NULL && draw(page, f), reason);
}
