// SPDX-License-Identifier: MIT
// Linear systems in files: HDF5, or MAT.
#include <holonom/linearisation.h>

#include "io/mat_file.h"
#include "io/results_hdf5.h"
#include "io/whole_file.h"
#include "simulation/linear_context.h"

#include <string.h>

static const char LISTS[3][8] = {"state", "input", "output"};

static bool write_names(hid_t file, const hn_linear_system *s, int list, hn_context *context)
{
    const int counts[3] = {s->state_count, s->input_count, s->output_count};
    const char *const *const texts[6] = {s->state_names, s->input_names, s->output_names,
                                         s->state_units, s->input_units, s->output_units};
    bool good = true;
    for (int kind = 0; kind < 2 && good; ++kind) {
        const char *const *words = texts[3 * kind + list];
        size_t width = 1;
        for (int k = 0; k < counts[list]; ++k)
            if (strlen(words[k]) + 1 > width) width = strlen(words[k]) + 1;
        char *block = context_allocate(context, width * (size_t)counts[list] + 1), name[32];
        if (block == NULL) return false;
        for (int k = 0; k < counts[list]; ++k)
            memcpy(block + (size_t)k * width, words[k], strlen(words[k]));
        snprintf(name, sizeof name, "%s_%s", LISTS[list], kind == 0 ? "names" : "units");
        good = hdf5_write_strings(file, name, (hsize_t)counts[list], width, block);
        context_release(context, block);
    }
    return good;
}

static bool write_matrix(hid_t file, const char *name, int rows, int columns, const double *values)
{
    return hdf5_write_any_doubles(file, name, "", 2, (hsize_t[2]){(hsize_t)rows, (hsize_t)columns},
                                  values);
}

static bool write_vector(hid_t file, const char *name, const char *unit, int count,
                         const double *values)
{
    return hdf5_write_any_doubles(file, name, unit, 1, (hsize_t[1]){(hsize_t)count}, values);
}

static hn_status fill(hid_t file, void *user)
{
    const hn_linear_system *s = user;
    int n = s->state_count;
    bool good = hdf5_attribute_text(file, "format", "holonom linear system", 0) &&
                hdf5_attribute_text(file, "holonom_version", hn_version(), 0) &&
                hdf5_attribute_double(file, "time", s->time) &&
                hdf5_attribute_integer(file, "freedom_count", s->freedom_count) &&
                hdf5_attribute_double(file, "change", s->change) &&
                (s->caution[0] == '\0' || hdf5_attribute_text(file, "caution", s->caution, 0)) &&
                write_matrix(file, "A", n, n, s->a) &&
                write_matrix(file, "B", n, s->input_count, s->b) &&
                write_matrix(file, "C", s->output_count, n, s->c) &&
                write_vector(file, "state", "as state_units", n, s->state) &&
                write_vector(file, "derivative", "state_units over s", n, s->derivative) &&
                write_vector(file, "eigenvalue_real", "1/s", n, s->eigenvalue_real) &&
                write_vector(file, "eigenvalue_imaginary", "rad/s", n, s->eigenvalue_imaginary);
    for (int list = 0; list < 3 && good; ++list)
        good = write_names(file, s, list, linear_system_context(s));
    return good ? HN_OK : HN_OUT_OF_MEMORY;
}

static hn_status write_mat(FILE *file, void *user)
{
    const hn_linear_system *s = user;
    int n = s->state_count;
    int wide = n > s->input_count ? n : s->input_count,
        rows = n > s->output_count ? n : s->output_count;
    if (8.0 * rows * wide > 0.5 * MAT_ELEMENT_MAX)
        return context_fail(linear_system_context(s), HN_INVALID_ARGUMENT,
                            "a matrix of %d by %d is more than a MAT-file can hold; choose a name "
                            "that ends with .h5",
                            rows, wide);
    double freedoms = s->freedom_count;
    mat_begin(file);
    mat_put_matrix(file, "A", n, n, s->a);
    mat_put_matrix(file, "B", n, s->input_count, s->b);
    mat_put_matrix(file, "C", s->output_count, n, s->c);
    mat_put_matrix(file, "state", n, 1, s->state);
    mat_put_matrix(file, "derivative", n, 1, s->derivative);
    mat_put_complex(file, "eigenvalues", n, s->eigenvalue_real, s->eigenvalue_imaginary);
    mat_put_matrix(file, "time", 1, 1, &s->time);
    mat_put_matrix(file, "freedom_count", 1, 1, &freedoms);
    mat_put_matrix(file, "change", 1, 1, &s->change);
    if (s->caution[0] != '\0') mat_put_words(file, "caution", 1, &s->caution);
    mat_put_words(file, "state_names", n, s->state_names);
    mat_put_words(file, "state_units", n, s->state_units);
    mat_put_words(file, "input_names", s->input_count, s->input_names);
    mat_put_words(file, "input_units", s->input_count, s->input_units);
    mat_put_words(file, "output_names", s->output_count, s->output_names);
    mat_put_words(file, "output_units", s->output_count, s->output_units);
    return HN_OK;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

hn_status hn_linear_system_write(const hn_linear_system *system, const char *path)
{
    REQUIRE(NULL, system != NULL);
    hn_context *context = linear_system_context(system);
    REQUIRE(context, path != NULL && path[0] != '\0');
    if (ends_with(path, ".mat"))
        return whole_file_write(context, path, NULL, write_mat, (void *)system);
    return whole_file_write_hdf5(context, path, NULL, fill, (void *)system);
}
