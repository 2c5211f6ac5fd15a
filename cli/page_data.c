// SPDX-License-Identifier: MIT
// Reads what a page shows of a result file, thins it, and packs it.
#include "page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t FRAMES_MAX = 4000;   // of an animation
static const int64_t SAMPLES_MAX = 20000; // of a plotted series
static const int64_t JOINT_SAMPLE_NUMBERS =
    4 << 20; // of all joints; with more, plots of joints have the frames only
static const int64_t FRAME_NUMBERS_MAX = 24 << 20; // that are held in memory at a time
static const int64_t FINE_NUMBERS_MAX = 6 << 20;   // up to so many are kept to 26 bits, more to 16
static const size_t SLAB_NUMBERS = 1 << 18;        // read from the file at a time
static const double THINNING_MARGIN = 0.92;        // aim a little below the size allowed
enum { POSE_ROWS = 7, VELOCITY_ROWS = 6, REACTION_ROWS = 6, BEAM_SCALARS = 6, FITTING_TRIES = 8 };

// ---- records chosen ---------------------------------------------------------------------------------

/// Frames: records 0, stride, 2 stride, ... and the last.
typedef struct frame_choice {
    int64_t count, stride, last;
} frame_choice;

static frame_choice choose_frames(int64_t records, int64_t wanted)
{
    if (wanted < 2) wanted = 2;
    frame_choice choice = {records, 1, records - 1};
    if (records <= wanted) return choice;
    choice.stride = (records - 1 + wanted - 2) / (wanted - 1);
    choice.count = (records - 1 + choice.stride - 1) / choice.stride + 1;
    return choice;
}

/// Read a series at the frames, `width` numbers each, and hand every frame to `take`.
typedef void (*frame_taker)(void *user, int64_t frame, const double *numbers);

static hn_status read_frames(hn_result_file *file, int series, frame_choice frames,
                             frame_taker take, void *user)
{
    const size_t width = hn_result_file_series(file, series)->width;
    int64_t slab = (int64_t)(SLAB_NUMBERS / (width + 1)) + 1;
    double *numbers = malloc((size_t)slab * width * sizeof *numbers + 1);
    if (numbers == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_OK;
    const int64_t even = frames.count - 1; // the last frame is the last record, whatever the stride
    for (int64_t frame = 0; frame < even && status == HN_OK; frame += slab) {
        int64_t count = even - frame < slab ? even - frame : slab;
        status =
            hn_result_file_read(file, series, frame * frames.stride, count, frames.stride, numbers);
        for (int64_t i = 0; i < count && status == HN_OK; ++i)
            take(user, frame + i, numbers + (size_t)i * width);
    }
    if (status == HN_OK) status = hn_result_file_read(file, series, frames.last, 1, 1, numbers);
    if (status == HN_OK) take(user, even, numbers);
    free(numbers);
    return status;
}

/// Where numbers of frames go: `rows_each` rows for each of the elements, from `row_offset` on, `taken` numbers each.
typedef struct frame_table {
    double *values;
    size_t columns, element_count, rows_each, row_offset, taken;
} frame_table;

static void take_vectors(void *user, int64_t frame, const double *numbers)
{
    const frame_table *table = user;
    for (size_t i = 0; i < table->element_count; ++i)
        for (size_t k = 0; k < table->taken; ++k)
            table->values[(i * table->rows_each + table->row_offset + k) * table->columns +
                          (size_t)frame] = numbers[i * table->taken + k];
}

/// Unit quaternion (x, y, z, w) of a rotation matrix by rows.
static void quaternion_of(const double *m, double *q)
{
    const double trace = m[0] + m[4] + m[8];
    if (trace > 0.0) {
        double s = 2.0 * sqrt(trace + 1.0);
        q[0] = (m[7] - m[5]) / s;
        q[1] = (m[2] - m[6]) / s;
        q[2] = (m[3] - m[1]) / s;
        q[3] = 0.25 * s;
        return;
    }
    const int i = m[0] > m[4] ? (m[0] > m[8] ? 0 : 2) : (m[4] > m[8] ? 1 : 2);
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double s = 2.0 * sqrt(fmax(0.0, 1.0 + m[4 * i] - m[4 * j] - m[4 * k]));
    if (s == 0.0) s = 1.0;
    q[i] = 0.25 * s;
    q[j] = (m[3 * i + j] + m[3 * j + i]) / s;
    q[k] = (m[3 * i + k] + m[3 * k + i]) / s;
    q[3] = (m[3 * k + j] - m[3 * j + k]) / s;
}

/// Orientations as quaternions whose sign does not jump from frame to frame.
static void take_orientations(void *user, int64_t frame, const double *numbers)
{
    const frame_table *table = user;
    for (size_t i = 0; i < table->element_count; ++i) {
        double q[4], product = 0.0;
        quaternion_of(numbers + 9 * i, q);
        double *first = table->values + (i * POSE_ROWS + 3) * table->columns + (size_t)frame;
        for (size_t k = 0; k < 4 && frame > 0; ++k) product += q[k] * first[k * table->columns - 1];
        for (size_t k = 0; k < 4; ++k) first[k * table->columns] = product < 0.0 ? -q[k] : q[k];
    }
}

/// Resultants of beams, six of an element, as one row of elements after the other for each of them.
static void take_resultants(void *user, int64_t frame, const double *numbers)
{
    const frame_table *table = user;
    const size_t elements = table->element_count / BEAM_SCALARS;
    for (size_t k = 0; k < BEAM_SCALARS; ++k)
        for (size_t i = 0; i < elements; ++i)
            table->values[(k * elements + i) * table->columns + (size_t)frame] =
                numbers[i * BEAM_SCALARS + k];
}

// ---- blocks -----------------------------------------------------------------------------------------

typedef struct gathering {
    hn_context *context;
    hn_result_file *file;
    const hn_result_info *info;
    frame_choice frames;
    int64_t sample_count;
    bool thinned_samples; ///< samples are the extremes of intervals
    byte_buffer plain;
    page_data *data;
} gathering;

static double *new_table(size_t rows, int64_t columns)
{
    return calloc(rows * (size_t)columns + 1, sizeof(double));
}

static void add_block(gathering *g, const char *name, bool on_frames, block_encoding encoding,
                      size_t rows, int64_t columns, const double *values)
{
    page_block *block = &g->data->blocks[g->data->block_count++];
    *block = (page_block){name, on_frames, encoding, rows, (size_t)columns, 0};
    block->start = block_append(&g->plain, encoding, rows, (size_t)columns, values);
}

static int find(const gathering *g, const char *name)
{
    return hn_result_file_find_series(g->file, name);
}

typedef struct frame_source {
    const char *series;
    size_t row_offset, taken;
    frame_taker take;
} frame_source;

/// A block of frames from one or more series; nothing when the file has none of them.
static hn_status gather_frames(gathering *g, const char *name, block_encoding encoding,
                               size_t element_count, size_t rows_each, const frame_source *sources,
                               int source_count)
{
    bool present = element_count > 0;
    for (int i = 0; i < source_count; ++i) present = present && find(g, sources[i].series) >= 0;
    if (!present) return HN_OK;
    double *values = new_table(element_count * rows_each, g->frames.count);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_OK;
    for (int i = 0; i < source_count && status == HN_OK; ++i) {
        frame_table table = {values,    (size_t)g->frames.count, element_count,
                             rows_each, sources[i].row_offset,   sources[i].taken};
        status =
            read_frames(g->file, find(g, sources[i].series), g->frames, sources[i].take, &table);
    }
    if (status == HN_OK)
        add_block(g, name, true, encoding, element_count * rows_each, g->frames.count, values);
    free(values);
    return status;
}

// ---- samples ----------------------------------------------------------------------------------------

/// The record after the last of an interval of samples; intervals have two samples each.
static int64_t interval_end(const gathering *g, int64_t interval)
{
    const int64_t count = g->sample_count / 2, records = g->info->record_count;
    return (int64_t)((double)(interval + 1) / (double)count * (double)records + 0.5);
}

/// Extremes of a row within the interval at hand.
typedef struct extremes {
    double low, high;
    int64_t low_at, high_at;
} extremes;

/// Samples of all rows of a series while its records pass by.
typedef struct sampler {
    const gathering *g;
    size_t width;
    double *values;   ///< width rows
    extremes *within; ///< width; extremes of the interval at hand
    int64_t interval, end;
} sampler;

static void sampler_begin(sampler *s, const gathering *g, size_t width, double *values,
                          extremes *within)
{
    *s = (sampler){g, width, values, within, 0, 0};
    s->end = g->thinned_samples ? interval_end(g, 0) : 0;
    for (size_t k = 0; k < width; ++k) within[k] = (extremes){HUGE_VAL, -HUGE_VAL, 0, 0};
}

static void sampler_close_interval(sampler *s)
{
    for (size_t k = 0; k < s->width; ++k) {
        extremes *e = &s->within[k];
        double *pair = s->values + k * (size_t)s->g->sample_count + 2 * (size_t)s->interval;
        const bool low_first = e->low_at <= e->high_at;
        pair[0] = low_first ? e->low : e->high;
        pair[1] = low_first ? e->high : e->low;
        *e = (extremes){HUGE_VAL, -HUGE_VAL, 0, 0};
    }
    s->interval += 1;
    s->end = interval_end(s->g, s->interval);
}

static void sampler_take(sampler *s, int64_t record, const double *numbers)
{
    if (!s->g->thinned_samples) {
        for (size_t k = 0; k < s->width; ++k)
            s->values[k * (size_t)s->g->sample_count + (size_t)record] = numbers[k];
        return;
    }
    for (size_t k = 0; k < s->width; ++k) {
        extremes *e = &s->within[k];
        if (numbers[k] < e->low) *e = (extremes){numbers[k], e->high, record, e->high_at};
        if (numbers[k] > e->high) *e = (extremes){e->low, numbers[k], e->low_at, record};
    }
    if (record + 1 == s->end || record + 1 == s->g->info->record_count) sampler_close_interval(s);
}

/// Walk through all records of a series.
typedef void (*record_taker)(void *user, int64_t record, const double *numbers);

static hn_status read_all(hn_result_file *file, int series, record_taker take, void *user)
{
    const size_t width = hn_result_file_series(file, series)->width;
    const int64_t records = hn_result_file_info(file)->record_count;
    const int64_t slab = (int64_t)(SLAB_NUMBERS / (width + 1)) + 1;
    double *numbers = malloc((size_t)slab * width * sizeof *numbers + 1);
    if (numbers == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_OK;
    for (int64_t first = 0; first < records && status == HN_OK; first += slab) {
        int64_t count = records - first < slab ? records - first : slab;
        status = hn_result_file_read(file, series, first, count, 1, numbers);
        for (int64_t i = 0; i < count && status == HN_OK; ++i)
            take(user, first + i, numbers + (size_t)i * width);
    }
    free(numbers);
    return status;
}

static void take_sample(void *user, int64_t record, const double *numbers)
{
    sampler_take(user, record, numbers);
}

/// Samples of one series into `values`, as many rows as it is wide.
static hn_status sample_series(gathering *g, int series, double *values)
{
    const size_t width = hn_result_file_series(g->file, series)->width;
    extremes *within = malloc(width * sizeof *within + 1);
    if (within == NULL) return HN_OUT_OF_MEMORY;
    sampler s;
    sampler_begin(&s, g, width, values, within);
    hn_status status = read_all(g->file, series, take_sample, &s);
    free(within);
    return status;
}

static hn_status gather_samples(gathering *g, const char *name, const char *series,
                                block_encoding encoding)
{
    const int index = find(g, series);
    if (index < 0) return HN_OK;
    const size_t width = hn_result_file_series(g->file, index)->width;
    double *values = new_table(width, g->sample_count);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = sample_series(g, index, values);
    if (status == HN_OK) add_block(g, name, false, encoding, width, g->sample_count, values);
    free(values);
    return status;
}

/// Reactions on samples: forces and torques of a joint side by side, as in the block of the frames.
static hn_status gather_reaction_samples(gathering *g)
{
    const int force = find(g, "joints/reaction_force"), torque = find(g, "joints/reaction_torque");
    if (force < 0 || torque < 0) return HN_OK;
    const size_t joints = (size_t)g->info->joint_count, columns = (size_t)g->sample_count;
    double *values = new_table(REACTION_ROWS * joints, g->sample_count);
    double *part = new_table(3 * joints, g->sample_count);
    hn_status status = values == NULL || part == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (size_t half = 0; half < 2 && status == HN_OK; ++half) {
        status = sample_series(g, half == 0 ? force : torque, part);
        for (size_t i = 0; i < joints && status == HN_OK; ++i)
            memcpy(values + (REACTION_ROWS * i + 3 * half) * columns, part + 3 * i * columns,
                   3 * columns * sizeof *values);
    }
    if (status == HN_OK)
        add_block(g, "reaction_samples", false, BLOCK_F32, REACTION_ROWS * joints, g->sample_count,
                  values);
    free(part);
    free(values);
    return status;
}

/// Times of the samples: first and last record of each interval.
static void sample_times(const gathering *g, const double *times, double *values)
{
    int64_t begin = 0;
    for (int64_t i = 0; g->thinned_samples && i < g->sample_count / 2; ++i) {
        const int64_t end = interval_end(g, i);
        values[2 * i] = times[begin];
        values[2 * i + 1] = times[end - 1];
        begin = end;
    }
    if (!g->thinned_samples) memcpy(values, times, (size_t)g->sample_count * sizeof *values);
}

// ---- totals -----------------------------------------------------------------------------------------

/// The outputs that the model names, a column each
static bool is_output(const hn_result_series *series)
{
    return strncmp(series->name, "outputs/", 8) == 0;
}

static bool is_total(const hn_result_series *series)
{
    return strncmp(series->name, "ledger/", 7) == 0 || strncmp(series->name, "newton/", 7) == 0 ||
           is_output(series);
}

void page_totals(hn_result_file *file, total_teller tell, void *user)
{
    static const char *const AXES[3] = {"x", "y", "z"};
    for (int i = 0; i < hn_result_file_series_count(file); ++i) {
        const hn_result_series *series = hn_result_file_series(file, i);
        if (!is_total(series)) continue;
        for (size_t k = 0; k < series->width; ++k) {
            const hn_result_column column = {i, k};
            if (is_output(series))
                tell(user, hn_result_file_column_name(file, column), "",
                     hn_result_file_column_unit(file, column), series->meaning);
            else
                tell(user, series->name, series->rank == 1 && k < 3 ? AXES[k] : "", series->unit,
                     series->meaning);
        }
    }
    tell(user, "derived/energy_error", "", "1",
         "energy less its first value less work, divided by the ledger's scale");
    tell(user, "derived/step_size", "", "s",
         "time between two records divided by the steps between");
}

/// All records of one number a record.
static hn_status read_scalar(gathering *g, const char *name, double **values)
{
    const int index = find(g, name);
    *values = NULL;
    if (index < 0) return HN_OK;
    *values = malloc((size_t)g->info->record_count * sizeof **values + 1);
    if (*values == NULL) return HN_OUT_OF_MEMORY;
    return hn_result_file_read(g->file, index, 0, g->info->record_count, 1, *values);
}

static hn_status sample_numbers(gathering *g, const double *numbers, double *values)
{
    extremes within;
    sampler s;
    sampler_begin(&s, g, 1, values, &within);
    for (int64_t i = 0; i < g->info->record_count; ++i) sampler_take(&s, i, numbers + i);
    return HN_OK;
}

/// (E - E0 - W) / scale in doubles: a float of the energy would not show it.
static hn_status sample_energy_error(gathering *g, double *values)
{
    double *energy = NULL, *work = NULL;
    hn_status status = read_scalar(g, "ledger/energy", &energy);
    if (status == HN_OK) status = read_scalar(g, "ledger/external_work", &work);
    if (status == HN_OK && energy != NULL) {
        const double scale = g->info->has_ledger && g->info->ledger.energy_scale > 0.0
                                 ? g->info->ledger.energy_scale
                                 : 1.0;
        const double start = energy[0] - (work != NULL ? work[0] : 0.0);
        for (int64_t i = 0; i < g->info->record_count; ++i)
            energy[i] = (energy[i] - (work != NULL ? work[i] : 0.0) - start) / scale;
        status = sample_numbers(g, energy, values);
    }
    free(work);
    free(energy);
    return status;
}

static hn_status sample_step_size(gathering *g, const double *times, double *values)
{
    double *steps = NULL;
    hn_status status = read_scalar(g, "step", &steps);
    if (status == HN_OK && steps != NULL) {
        const int64_t records = g->info->record_count;
        double before = steps[0];
        for (int64_t i = 1; i < records; ++i) {
            const double count = steps[i] - before;
            before = steps[i];
            steps[i] = count > 0.0 ? (times[i] - times[i - 1]) / count : 0.0;
        }
        steps[0] = records > 1 ? steps[1] : g->info->step_size;
        status = sample_numbers(g, steps, values);
    }
    free(steps);
    return status;
}

static hn_status gather_totals(gathering *g, const double *times)
{
    size_t rows = 2; // derived ones
    for (int i = 0; i < hn_result_file_series_count(g->file); ++i)
        if (is_total(hn_result_file_series(g->file, i)))
            rows += hn_result_file_series(g->file, i)->width;
    const size_t columns = (size_t)g->sample_count;
    double *values = new_table(rows, g->sample_count);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_OK;
    size_t row = 0;
    for (int i = 0; i < hn_result_file_series_count(g->file) && status == HN_OK; ++i) {
        if (!is_total(hn_result_file_series(g->file, i))) continue;
        status = sample_series(g, i, values + row * columns);
        row += hn_result_file_series(g->file, i)->width;
    }
    if (status == HN_OK) status = sample_energy_error(g, values + row * columns);
    if (status == HN_OK) status = sample_step_size(g, times, values + (row + 1) * columns);
    if (status == HN_OK) add_block(g, "totals", false, BLOCK_F32, rows, g->sample_count, values);
    free(values);
    return status;
}

// ---- the whole --------------------------------------------------------------------------------------

static size_t beam_element_count(const hn_result_file *file)
{
    const int series = hn_result_file_find_series(file, "beams/resultant");
    return series < 0 ? 0 : hn_result_file_series(file, series)->width / BEAM_SCALARS;
}

/// Numbers that a frame has.
static int64_t frame_width(const hn_result_file *file)
{
    const hn_result_info *info = hn_result_file_info(file);
    return BEAM_SCALARS * (int64_t)beam_element_count(file) +
           (POSE_ROWS + VELOCITY_ROWS) * (int64_t)info->body_count +
           REACTION_ROWS * (int64_t)info->joint_count + 2 * (int64_t)info->coordinate_count + 1;
}

static hn_status gather_times(gathering *g, const double *times)
{
    double *values =
        new_table(1, g->frames.count > g->sample_count ? g->frames.count : g->sample_count);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    for (int64_t i = 0; i + 1 < g->frames.count; ++i) values[i] = times[i * g->frames.stride];
    values[g->frames.count - 1] = times[g->frames.last];
    add_block(g, "frame_times", true, BLOCK_F64, 1, g->frames.count, values);
    sample_times(g, times, values);
    add_block(g, "sample_times", false, BLOCK_F64, 1, g->sample_count, values);
    free(values);
    return HN_OK;
}

static hn_status gather_reactions(gathering *g, block_encoding encoding)
{
    const frame_source sources[] = {{"joints/reaction_force", 0, 3, take_vectors},
                                    {"joints/reaction_torque", 3, 3, take_vectors}};
    hn_status status = gather_frames(g, "reactions", encoding, (size_t)g->info->joint_count,
                                     REACTION_ROWS, sources, 2);
    const frame_source time[] = {{"joints/reaction_time", 0, 1, take_vectors}};
    if (status == HN_OK) status = gather_frames(g, "reaction_times", BLOCK_F64, 1, 1, time, 1);
    double *valid = NULL;
    if (status == HN_OK) status = read_scalar(g, "joints/reaction_valid", &valid);
    g->data->reactions_from = 0;
    if (status == HN_OK && valid != NULL)
        while (g->data->reactions_from < g->frames.count - 1 &&
               valid[g->data->reactions_from * g->frames.stride] == 0.0)
            g->data->reactions_from += 1;
    free(valid);
    return status;
}

/// All blocks with a number of frames and an encoding of them.
static hn_status gather_blocks(gathering *g, const double *times, block_encoding encoding)
{
    const size_t bodies = (size_t)g->info->body_count;
    const frame_source poses[] = {{"bodies/position", 0, 3, take_vectors},
                                  {"bodies/orientation", 3, 9, take_orientations}};
    const frame_source velocities[] = {{"bodies/velocity", 0, 3, take_vectors},
                                       {"bodies/angular_velocity", 3, 3, take_vectors}};
    hn_status status = gather_times(g, times);
    if (status == HN_OK) status = gather_frames(g, "motion", encoding, bodies, POSE_ROWS, poses, 2);
    if (status == HN_OK)
        status = gather_frames(g, "velocities", encoding, bodies, VELOCITY_ROWS, velocities, 2);
    if (status == HN_OK) status = gather_reactions(g, encoding);
    const frame_source resultants[] = {{"beams/resultant", 0, 1, take_resultants}};
    if (status == HN_OK)
        status = gather_frames(g, "beam_scalars", encoding,
                               BEAM_SCALARS * beam_element_count(g->file), 1, resultants, 1);

    const int64_t coordinates = g->info->coordinate_count, joints = g->info->joint_count;
    const bool all_frames = g->frames.count == g->info->record_count;
    const bool sampled =
        !all_frames &&
        (2 * coordinates + REACTION_ROWS * joints) * g->sample_count <= JOINT_SAMPLE_NUMBERS;
    const frame_source values[] = {{"joints/coordinates", 0, 1, take_vectors}};
    const frame_source rates[] = {{"joints/rates", 0, 1, take_vectors}};
    if (sampled) {
        if (status == HN_OK)
            status = gather_samples(g, "coordinates", "joints/coordinates", BLOCK_F32);
        if (status == HN_OK) status = gather_samples(g, "rates", "joints/rates", BLOCK_F32);
        if (status == HN_OK) status = gather_reaction_samples(g);
    } else {
        if (status == HN_OK)
            status = gather_frames(g, "coordinates", encoding, (size_t)coordinates, 1, values, 1);
        if (status == HN_OK)
            status = gather_frames(g, "rates", encoding, (size_t)coordinates, 1, rates, 1);
    }
    if (status == HN_OK) status = gather_totals(g, times);
    return status == HN_OK && g->plain.failed ? HN_OUT_OF_MEMORY : status;
}

/// Frames and samples for a size that was too large before: fewer numbers in proportion.
static int64_t fewer(int64_t count, double share, int64_t least)
{
    int64_t next = (int64_t)((double)count * share);
    return next > least ? next : least;
}

hn_status page_data_gather(hn_context *context, hn_result_file *file, size_t size_max,
                           page_data *data)
{
    gathering g = {
        .context = context, .file = file, .info = hn_result_file_info(file), .data = data};
    const int64_t records = g.info->record_count;
    int64_t frames = FRAMES_MAX, samples = SAMPLES_MAX;
    if (frames > FRAME_NUMBERS_MAX / frame_width(file))
        frames = FRAME_NUMBERS_MAX / frame_width(file);
    double *times = NULL;
    hn_status status = read_scalar(&g, "time", &times);
    bool fine = true;
    for (int i = 0; i < FITTING_TRIES && status == HN_OK; ++i) {
        buffer_free(&data->packed);
        data->block_count = 0;
        g.plain = (byte_buffer){NULL, 0, 0, false};
        g.frames = choose_frames(records, frames);
        g.thinned_samples = records > samples;
        g.sample_count = g.thinned_samples ? samples / 2 * 2 : records;
        fine = fine && g.frames.count * frame_width(file) <= FINE_NUMBERS_MAX;
        status = gather_blocks(&g, times, fine ? BLOCK_Q32 : BLOCK_Q16);
        if (status == HN_OK && !buffer_gzip(&g.plain, &data->packed)) status = HN_OUT_OF_MEMORY;
        buffer_free(&g.plain);
        data->record_count = records;
        data->frame_count = g.frames.count;
        data->sample_count = g.sample_count;
        if (data->packed.length <= size_max) break;
        // first coarser numbers, then fewer frames, then fewer samples
        const double share = THINNING_MARGIN * (double)size_max / (double)data->packed.length;
        if (!fine) frames = fewer(g.frames.count, share, 2);
        if (i > 1) samples = fewer(g.sample_count, share, 100);
        fine = false;
    }
    free(times);
    return status;
}
