// SPDX-License-Identifier: MIT
// Vectors, rotations, nearest word, context and arena.
#include "base/arena.h"
#include "base/context.h"
#include "base/nearest_word.h"
#include "base/rotation.h"

#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static double distance(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_subtract(a, b));
}

static double matrix_distance(const hn_mat3 *a, const hn_mat3 *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = fmax(worst, fabs(a->m[i][j] - b->m[i][j]));
    return worst;
}

static hn_mat3 cayley_matrix(hn_vec3 theta)
{
    return mat3_from_columns(cayley_apply(theta, vec3(1.0, 0.0, 0.0)),
                             cayley_apply(theta, vec3(0.0, 1.0, 0.0)),
                             cayley_apply(theta, vec3(0.0, 0.0, 1.0)));
}

// ---- vectors ------------------------------------------------------------------------------------

TEST(vector, cross_product_is_normal_to_its_factors)
{
    hn_vec3 a = vec3(0.3, -1.7, 2.2), b = vec3(-4.1, 0.6, 0.9);
    hn_vec3 c = vec3_cross(a, b);
    CHECK_BELOW(vec3_dot(a, c), 1e-14); // measured 1.8e-15
    CHECK_BELOW(vec3_dot(b, c), 1e-14); // measured 0
    // Lagrange: |a x b|^2 + (a.b)^2 = |a|^2 |b|^2
    double left = vec3_dot(c, c) + vec3_dot(a, b) * vec3_dot(a, b);
    CHECK_NEAR(left / (vec3_dot(a, a) * vec3_dot(b, b)), 1.0, 1e-15);
}

TEST(vector, perpendicular_is_a_unit_vector_at_right_angles)
{
    for (int i = 0; i < 200; ++i) {
        double u = PI * (i + 0.5) / 200.0, v = 2.399963 * i; // spread over the sphere
        hn_vec3 n = vec3(sin(u) * cos(v), sin(u) * sin(v), cos(u));
        n = vec3_scale(1.0 / vec3_norm(n), n);
        hn_vec3 p = vec3_perpendicular(n);
        CHECK_BELOW(vec3_dot(n, p), 2e-15); // measured 5.8e-16
        CHECK_NEAR(vec3_norm(p), 1.0, 1e-15);
    }
    CHECK_BELOW(distance(vec3_perpendicular(vec3(0.0, 0.0, 1.0)), vec3(1.0, 0.0, 0.0)), 1e-16);
}

TEST(vector, not_a_number_and_infinity_are_not_finite)
{
    CHECK(vec3_is_finite(vec3(1.0, -2.0, 1e300)));
    CHECK(!vec3_is_finite(vec3(1.0, (double)NAN, 0.0)));
    CHECK(!vec3_is_finite(vec3(0.0, 0.0, (double)INFINITY)));
}

TEST(vector, load_and_store_are_inverse)
{
    double stored[3];
    vec3_store(vec3(1.0, 2.0, 3.0), stored);
    CHECK_BELOW(distance(vec3_load(stored), vec3(1.0, 2.0, 3.0)), 1e-300);
    CHECK_BELOW(distance(vec3_mean(vec3(1.0, 2.0, 3.0), vec3(3.0, 2.0, 1.0)), vec3(2.0, 2.0, 2.0)),
                1e-300);
}

TEST(matrix, product_transpose_and_application_agree)
{
    hn_mat3 a = {{{1.0, 2.0, 3.0}, {-1.0, 0.5, 2.0}, {0.0, 4.0, -2.0}}};
    hn_mat3 b = {{{0.2, -1.0, 0.0}, {3.0, 1.0, -2.0}, {1.0, 1.0, 5.0}}};
    hn_vec3 x = vec3(0.7, -0.3, 1.1);
    hn_mat3 ab = mat3_multiply(&a, &b), at = mat3_transpose(&a);
    CHECK_BELOW(distance(mat3_apply(&ab, x), mat3_apply(&a, mat3_apply(&b, x))),
                1e-13); // measured 4.0e-15
    CHECK_BELOW(distance(mat3_apply(&at, x), mat3_apply_transposed(&a, x)), 1e-15);
    CHECK_NEAR(mat3_determinant(&ab), mat3_determinant(&a) * mat3_determinant(&b), 1e-12);
}

// ---- rotations ----------------------------------------------------------------------------------

TEST(rotation, exponential_matches_the_closed_form_on_both_sides_of_the_series_switch)
{
    // the switch is at an angle of 1e-2; half angles switch at 2e-2
    const double angles[] = {0.0,          1e-300,           1e-12,    1e-4,     9.999999e-3, 1e-2,
                             1.0000001e-2, 1.9e-2,           1.999e-2, 2.001e-2, 3e-2,        0.5,
                             3.0,          3.14159265358979, 6.0};
    hn_vec3 axis = vec3_scale(1.0 / 3.0, vec3(1.0, -2.0, 2.0));
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i) {
        double a = angles[i];
        hn_mat3 r = rotation_exponential(vec3_scale(a, axis));
        CHECK_BELOW(mat3_orthonormality_error(&r), 2e-15); // measured 7.1e-16
        // p turned about the axis: p_axis + cos a p_normal + sin a axis x p, with 1 - cos a = 2 sin^2(a/2)
        hn_vec3 p = vec3(0.4, 1.3, -0.8);
        hn_vec3 c = vec3_cross(axis, p), cc = vec3_cross(axis, c);
        double s = sin(0.5 * a);
        hn_vec3 expected =
            vec3_add(p, vec3_add(vec3_scale(sin(a), c), vec3_scale(2.0 * s * s, cc)));
        CHECK_BELOW(distance(mat3_apply(&r, p), expected), 2e-15); // measured 7.1e-16
    }
}

TEST(rotation, exponential_has_no_jump_at_the_series_switch)
{
    // neighbouring doubles on either side of the switch
    double below = nextafter(1e-2, 0.0);
    hn_mat3 a = rotation_exponential(vec3(0.0, 0.0, below));
    hn_mat3 b = rotation_exponential(vec3(0.0, 0.0, 1e-2));
    CHECK_BELOW(matrix_distance(&a, &b),
                5e-18); // measured 1.7e-18, one unit in the last place of sin(1e-2)
}

TEST(rotation, logarithm_inverts_the_exponential)
{
    const double angles[] = {
        0.0,  1e-200, 1e-9,      1e-3,      0.3,       1.57,      1.5707963267948966,
        2.09, 2.1,    PI - 1e-2, PI - 1e-6, PI - 1e-9, PI - 1e-12};
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i)
        for (int k = 0; k < 100; ++k) {
            double u = PI * (k + 0.5) / 100.0, v = 2.399963 * k;
            hn_vec3 r = vec3_scale(angles[i], vec3(sin(u) * cos(v), sin(u) * sin(v), cos(u)));
            hn_mat3 e = rotation_exponential(r);
            CHECK_BELOW(distance(rotation_logarithm(&e), r), 4e-15); // rad; measured 1.0e-15
        }
}

TEST(rotation, logarithm_of_half_a_turn_is_either_of_the_two_rotation_vectors)
{
    for (int k = 0; k < 100; ++k) {
        double u = PI * (k + 0.5) / 100.0, v = 2.399963 * k;
        hn_vec3 r = vec3_scale(PI, vec3(sin(u) * cos(v), sin(u) * sin(v), cos(u)));
        hn_mat3 e = rotation_exponential(r);
        hn_vec3 back = rotation_logarithm(&e);
        CHECK_BELOW(fmin(distance(back, r), distance(back, vec3_negate(r))),
                    4e-15); // measured 7.7e-16
    }
    const hn_mat3 turns[] = {{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}},
                             {{{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}},
                             {{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}};
    for (int i = 0; i < 3; ++i) CHECK_NEAR(vec3_norm(rotation_logarithm(&turns[i])), PI, 1e-15);
}

TEST(rotation, logarithm_never_exceeds_half_a_turn)
{
    for (int k = 0; k < 200; ++k) {
        double angle = 0.1 * k;
        hn_mat3 e = rotation_exponential(vec3(0.6 * angle, 0.0, -0.8 * angle));
        hn_vec3 r = rotation_logarithm(&e);
        CHECK(vec3_norm(r) <= PI * (1.0 + 1e-15));
        hn_mat3 again = rotation_exponential(r);
        CHECK_BELOW(matrix_distance(&e, &again), 2e-15); // measured 7.8e-16
    }
}

TEST(rotation, cayley_map_is_a_rotation_with_the_secant_property)
{
    for (int k = 0; k < 60; ++k) {
        double size = pow(10.0, -8.0 + 0.15 * k); // 1e-8 ... 7
        hn_vec3 theta = vec3_scale(size, vec3(0.48, -0.6, 0.64));
        hn_mat3 c = cayley_matrix(theta);
        CHECK_BELOW(mat3_orthonormality_error(&c), 2e-15); // measured 4.4e-16
        CHECK_NEAR(mat3_determinant(&c), 1.0, 2e-15);

        // d1 - d0 = theta x (d0 + d1)/2
        hn_vec3 d0 = vec3(0.3, -1.1, 0.5), d1 = cayley_apply(theta, d0);
        hn_vec3 secant = vec3_cross(theta, vec3_mean(d0, d1));
        CHECK_BELOW(distance(vec3_subtract(d1, d0), secant),
                    2e-15 * (1.0 + size)); // measured 1.1e-15
    }
}

TEST(rotation, cayley_map_is_the_exponential_of_twice_the_arc_tangent)
{
    hn_vec3 axis = vec3(0.48, -0.6, 0.64);
    for (int k = 1; k < 40; ++k) {
        double size = 0.1 * k;
        hn_mat3 c = cayley_matrix(vec3_scale(size, axis));
        hn_mat3 e = rotation_exponential(vec3_scale(2.0 * atan(0.5 * size), axis));
        CHECK_BELOW(matrix_distance(&c, &e), 2e-15); // measured 4.4e-16
    }
}

TEST(rotation, cayley_composition_is_the_product_of_the_maps)
{
    for (int k = 0; k < 50; ++k) {
        double s = 0.03 * k;
        hn_vec3 first = vec3(s, -0.4 * s + 0.1, 0.2), second = vec3(-0.3, 0.5 * s, 0.7 * s);
        hn_mat3 a = cayley_matrix(first), b = cayley_matrix(second);
        hn_mat3 product = mat3_multiply(&b, &a);
        hn_mat3 composed = cayley_matrix(cayley_compose(second, first));
        CHECK_BELOW(matrix_distance(&product, &composed), 3e-15); // measured 4.4e-16
    }
}

// ---- nearest word -------------------------------------------------------------------------------

TEST(nearest_word, finds_likely_typos_and_refuses_strangers)
{
    const char *const words[] = {"spherical",   "revolute", "prismatic",
                                 "cylindrical", "planar",   "free"};
    const int count = (int)(sizeof words / sizeof words[0]);
    CHECK_TEXT(nearest_word("revolut", words, count), "revolute");
    CHECK_TEXT(nearest_word("revoltue", words, count), "revolute"); // letters swapped
    CHECK_TEXT(nearest_word("cilindrical", words, count), "cylindrical");
    CHECK_TEXT(nearest_word("plannar", words, count), "planar");
    CHECK_TEXT(nearest_word("free", words, count), "free");
    CHECK(nearest_word("weld", words, count) == NULL);
    CHECK(nearest_word("", words, count) == NULL);
    CHECK(nearest_word("revolute", words, 0) == NULL);
}

TEST(nearest_word, survives_words_of_any_length)
{
    char endless[4096];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const char *const words[] = {endless, "mass"};
    CHECK(nearest_word(endless, words, 2) == NULL);
    CHECK_TEXT(nearest_word("mas", words, 2), "mass");
    // parts of words, if only one is meant
    static const char *const spring[] = {"stiffness", "rest_length", "from", "absolute_tolerance",
                                         "relative_tolerance"};
    CHECK_TEXT(nearest_word("length", spring, 5), "rest_length");
    CHECK_TEXT(nearest_word("initial_stiffness", spring, 5), "stiffness");
    CHECK(nearest_word("tolerance", spring, 5) == NULL);
    CHECK(nearest_word("eng", spring, 5) == NULL);
    static const char *const nameless[] = {"", "stiffness"};
    CHECK(nearest_word("bodies/velocty", nameless, 2) == NULL);
}

// ---- context ------------------------------------------------------------------------------------

TEST(context, message_is_empty_until_a_call_fails)
{
    hn_context *context = hn_context_create(NULL);
    CHECK_TEXT(hn_context_message(context), "");
    CHECK_STATUS(
        context,
        context_fail(context, HN_INVALID_MODEL, "joint '%s': axis has zero length", "hinge"),
        HN_INVALID_MODEL);
    CHECK_TEXT(hn_context_message(context), "joint 'hinge': axis has zero length");
    hn_context_destroy(context);
    hn_context_destroy(NULL);
}

TEST(context, a_message_too_long_is_cut_not_written_past_its_end)
{
    hn_context *context = hn_context_create(NULL);
    char endless[8192];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    CHECK_STATUS(context, context_fail(context, HN_FILE_FORMAT, "%s", endless), HN_FILE_FORMAT);
    size_t length = strlen(hn_context_message(context));
    CHECK(length > 100 && length < sizeof endless - 1);
    hn_context_destroy(context);
}

static void keep_line(const char *line, void *user)
{
    snprintf(user, 64, "%s", line);
}

TEST(context, log_lines_reach_the_callback_only_while_it_is_set)
{
    hn_context *context = hn_context_create(NULL);
    char line[64] = "";
    context_log(context, "lost");
    hn_context_set_log(context, keep_line, line);
    context_log(context, "projected by %d m", 3);
    CHECK_TEXT(line, "projected by 3 m");
    hn_context_set_log(context, NULL, NULL);
    context_log(context, "lost too");
    CHECK_TEXT(line, "projected by 3 m");
    hn_context_destroy(context);
}

TEST(context, every_status_has_a_name_and_a_sentence)
{
    CHECK_TEXT(hn_status_name(HN_OK), "HN_OK");
    CHECK_TEXT(hn_status_name(HN_SINGULAR_SYSTEM), "HN_SINGULAR_SYSTEM");
    CHECK_TEXT(hn_status_sentence(HN_OUT_OF_MEMORY), "the allocator returned no memory");
    CHECK_TEXT(hn_status_name((hn_status)999), "unknown status");
}

TEST(context, version_text_matches_the_header)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", HN_VERSION_MAJOR, HN_VERSION_MINOR, HN_VERSION_PATCH);
    CHECK_TEXT(hn_version(), text);
}

TEST(context, memory_is_aligned_zeroed_and_returned)
{
    failing_allocator state = {0};
    hn_allocator allocator = failing_allocator_make(&state);
    hn_context *context = hn_context_create(&allocator);
    void *blocks[50];
    for (size_t i = 0; i < 50; ++i) {
        unsigned char *block = context_allocate(context, i * 7);
        CHECK(block != NULL);
        CHECK_EQUAL((uintptr_t)block % 64, 0);
        for (size_t j = 0; j < i * 7; ++j) CHECK_EQUAL(block[j], 0);
        memset(block, 0xff, i * 7);
        blocks[i] = block;
    }
    CHECK_EQUAL(state.live, 51);
    for (size_t i = 0; i < 50; ++i) context_release(context, blocks[i]);
    context_release(context, NULL);
    CHECK_EQUAL(state.live, 1);
    hn_context_destroy(context);
    CHECK_EQUAL(state.live, 0);
}

TEST(context, a_size_that_would_wrap_is_refused)
{
    hn_context *context = hn_context_create(NULL);
    CHECK(context_allocate(context, SIZE_MAX - 8) == NULL);
    CHECK_CONTAINS(hn_context_message(context), "too large");
    hn_context_destroy(context);
}

static hn_status grow_and_copy(hn_context *context, void *user)
{
    (void)user;
    hn_status status = HN_OK;
    int *numbers = NULL;
    int capacity = 0;
    char *copy = NULL;
    for (int i = 0; i < 100 && status == HN_OK; ++i) {
        void *array = numbers;
        status = context_grow(context, &array, &capacity, i + 1, sizeof *numbers);
        numbers = array;
        if (status == HN_OK) numbers[i] = i;
    }
    if (status == HN_OK) {
        for (int i = 0; i < 100; ++i) CHECK_EQUAL(numbers[i], i);
        copy = context_copy_string(context, "hinge");
        if (copy == NULL) status = HN_OUT_OF_MEMORY;
        else CHECK_TEXT(copy, "hinge");
    }
    context_release(context, copy);
    context_release(context, numbers);
    return status;
}

TEST(context, growing_arrays_survive_every_failing_allocation)
{
    int64_t failed = check_every_allocation_failing(grow_and_copy, NULL);
    CHECK_EQUAL(failed, 6); // capacities 8, 16, 32, 64, 128 and one string
    hn_context *context = hn_context_create(NULL);
    CHECK(context_copy_string(context, NULL) == NULL);
    hn_context_destroy(context);
}

// ---- arena --------------------------------------------------------------------------------------

typedef struct layout {
    double *a;
    int *b;
    double *c;
} layout;

static void place(arena *a, layout *parts)
{
    parts->a = arena_doubles(a, 5);
    parts->b = arena_ints(a, 3);
    parts->c = arena_doubles(a, 100);
}

TEST(arena, counting_and_placing_agree)
{
    hn_context *context = hn_context_create(NULL);
    layout parts;
    arena counting = {NULL, 0};
    place(&counting, &parts);
    CHECK(parts.a == NULL && parts.b == NULL && parts.c == NULL);
    CHECK_EQUAL(counting.used, 64 + 64 + 832);

    arena placing = {context_allocate(context, counting.used), 0};
    CHECK(placing.block != NULL);
    place(&placing, &parts);
    CHECK_EQUAL(placing.used, counting.used);
    CHECK_EQUAL((char *)parts.b - (char *)parts.a, 64);
    CHECK_EQUAL((char *)parts.c - (char *)parts.b, 64);
    context_release(context, placing.block);
    hn_context_destroy(context);
}
