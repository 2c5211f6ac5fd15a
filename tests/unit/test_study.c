// SPDX-License-Identifier: MIT
// Studies: numbers that are drawn, which member has which values, what is kept of a run, tables.
#include <holonom/holonom.h>

#include "base/hash.h"
#include "study/counter_random.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- random numbers ---------------------------------------------------------------------------------

TEST(random, philox_gives_its_published_numbers)
{
    // known answers of Random123 (kat_vectors), philox4x32 with ten rounds
    static const uint32_t CASES[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; ++i) {
        uint32_t out[4];
        philox(CASES[i], CASES[i] + 4, out);
        for (int k = 0; k < 4; ++k) CHECK_EQUAL(out[k], CASES[i][6 + k]);
    }
}

TEST(random, normal_numbers_are_those_of_tables)
{
    CHECK_NEAR(normal_quantile(0.5), 0.0, 0.0);
    CHECK_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
    CHECK_NEAR(normal_quantile(0.001), -3.090232306167813, 2e-15);
    CHECK_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-14);
    // what erfc gives back: p over twenty decades
    for (double p = 0.4; p > 1e-20; p *= 0.1)
        CHECK_NEAR(0.5 * erfc(-normal_quantile(p) / sqrt(2.0)) / p, 1.0, 1e-13);
}

TEST(random, sobol_points_fill_every_box_once)
{
    // of 2^k points every one of 2^k equal parts of a dimension has one; and pairs of dimensions (0, 1): every box
    // of 2^i by 2^(k-i), which makes it a (0, k, 2)-net
    for (int d = 0; d < SOBOL_DIMENSIONS; ++d) {
        bool seen[256] = {false};
        for (uint32_t i = 0; i < 256; ++i) seen[sobol_fraction(d, i) >> 24] = true;
        for (int k = 0; k < 256; ++k) CHECK(seen[k]);
    }
    for (int i = 0; i <= 8; ++i) {
        bool seen[256] = {false};
        for (uint32_t n = 0; n < 256; ++n) {
            uint64_t x = sobol_fraction(0, n), y = sobol_fraction(1, n);
            seen[(x >> (32 - i)) << (8 - i) | y >> (24 + i)] = true;
        }
        for (int k = 0; k < 256; ++k) CHECK(seen[k]);
    }
    // 256 points of 32 dimensions are those of scipy.stats.qmc.Sobol(32, scramble=False, bits=32), which has them in
    // the order of Gray's code: number i ^ i/2 here is number i there
    uint64_t hash = HASH_START;
    for (uint32_t n = 0; n < 256; ++n)
        for (int d = 0; d < SOBOL_DIMENSIONS; ++d) {
            uint32_t x = sobol_fraction(d, n);
            const unsigned char bytes[4] = {(unsigned char)x, (unsigned char)(x >> 8),
                                            (unsigned char)(x >> 16), (unsigned char)(x >> 24)};
            hash = hash_bytes(hash, bytes, 4);
        }
    CHECK(hash == 0xefdb79c76f9c2e25u);
}

TEST(random, orders_have_every_number_once)
{
    uint32_t order[1000], other[1000];
    bool seen[1000] = {false};
    random_order(7, 3, 1000, order);
    random_order(8, 3, 1000, other);
    int same = 0, fixed = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
        seen[order[i]] = true;
        same += order[i] == other[i];
        fixed += order[i] == i;
    }
    for (int i = 0; i < 1000; ++i) CHECK(seen[i]);
    CHECK(same < 10 && fixed < 10); // one on average
}

// ---- members ----------------------------------------------------------------------------------------

static const char MODEL[] =
    "holonom: 1\n"
    "parameters: {length: 1, mass: 1, angle: 0.5, speed: 0}\n"
    "bodies:\n"
    "  bob: {point_mass: {mass: mass, plane_normal: y}, position: [length*sin(angle), 0, "
    "-length*cos(angle)]}\n"
    "joints:\n"
    "  rod: {distance: {bodies: [ground, bob], from: [0, 0, 0], to: [length*sin(angle), 0, "
    "-length*cos(angle)]}}\n"
    "run: {step: 0.01, end: 0.5}\n";

static hn_status make(hn_context *context, const char *text, hn_study **study)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "holonom_study: 1\n%s%s", text,
             strstr(text, "outputs") != NULL ? "" : "outputs: {x: {of: bodies/bob/position/x}}\n");
    return hn_study_parse(context, whole, strlen(whole), "study.yaml", MODEL, sizeof MODEL - 1,
                          study);
}

TEST(members, of_grids_lists_and_draws_are_all_combinations)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    CHECK_OK(context, make(context,
                           "parameters:\n"
                           "  length: {grid: {from: 1, to: 2, count: 3}}\n"
                           "  mass: {list: [5, 6]}\n"
                           "  speed: {list: [7, 8]}\n"
                           "  angle: {uniform: [0.1, 0.2]}\n"
                           "samples: {count: 4, seed: 1}\n",
                           &study));
    CHECK_EQUAL(hn_study_member_count(study), 3 * 2 * 4);
    double v[4], same[4];
    for (int64_t i = 0; i < 24; ++i) {
        CHECK_OK(context, hn_study_parameters(study, i, v));
        CHECK(v[0] == 1.0 + 0.5 * (double)(i / 8));
        CHECK(v[1] == 5.0 + (double)(i / 4 % 2) && v[2] == v[1] + 2.0);
        CHECK(v[3] > 0.1 && v[3] < 0.2);
        // the same draws at every place of the grid
        CHECK_OK(context, hn_study_parameters(study, i % 4, same));
        CHECK(v[3] == same[3]);
    }
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// Mean and variance of one parameter over all members.
static void moments(hn_context *context, const char *text, double *mean, double *variance)
{
    hn_study *study = NULL;
    CHECK_OK(context, make(context, text, &study));
    double sum = 0.0, squares = 0.0, v[4];
    int64_t n = hn_study_member_count(study);
    for (int64_t i = 0; i < n; ++i) {
        CHECK_OK(context, hn_study_parameters(study, i, v));
        sum += v[0], squares += v[0] * v[0];
    }
    *mean = sum / (double)n;
    *variance = squares / (double)n - *mean * *mean;
    hn_study_destroy(study);
}

TEST(members, follow_their_distributions)
{
    hn_context *context = hn_context_create(NULL);
    double mean, variance;
    // standard errors: 0.001 of the mean, 0.0014 of the variance
    moments(context,
            "parameters: {length: {normal: {mean: 3, deviation: 0.1}}}\nsamples: {count: 10000}\n",
            &mean, &variance);
    CHECK_NEAR(mean, 3.0, 0.004);
    CHECK_NEAR(variance / 0.01, 1.0, 0.06);
    // one in each of 1000 strips, somewhere in it
    moments(context,
            "parameters: {length: {uniform: [1, 2]}}\nsamples: {count: 1000, method: "
            "latin-hypercube}\n",
            &mean, &variance);
    CHECK_NEAR(mean, 1.5, 3e-5); // standard error 9e-6
    CHECK_NEAR(variance * 12.0, 1.0, 1e-3);
    moments(context,
            "parameters: {length: {uniform: [1, 2]}}\nsamples: {count: 1024, method: sobol}\n",
            &mean, &variance);
    CHECK_NEAR(mean, 1.5, 1e-3);
    CHECK_NEAR(variance * 12.0, 1.0, 1e-5);
    moments(context,
            "parameters: {length: {choice: {values: [1, 2], probabilities: [0.25, 0.75]}}}\n"
            "samples: {count: 1024, method: sobol}\n",
            &mean, &variance);
    CHECK_NEAR(mean, 1.75, 1e-12); // evenly: a quarter of a power of two
    hn_context_destroy(context);
}

// ---- runs -------------------------------------------------------------------------------------------

TEST(runs, keep_what_a_result_file_would_have)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    CHECK_OK(context,
             make(context,
                  "parameters: {length: {grid: [1, 1.5]}, angle: {grid: [0.4]}}\n"
                  "outputs:\n"
                  "  x: {of: bodies/bob/position/x, at: [0.1, 0.104, end]}\n"
                  "  z: {of: bodies/bob/position/z, keep: [minimum, maximum, mean, integral]}\n"
                  "  passes: {of: bodies/bob/position/x, first_below: 0.1}\n"
                  "  never: {of: bodies/bob/position/x, first_above: 9}\n"
                  "failure: {z.minimum: {below: -1.2}}\n",
                  &study));
    CHECK_EQUAL(hn_study_output_count(study), 9);
    CHECK_TEXT(hn_study_output_name(study, 1), "x@0.104");
    CHECK_TEXT(hn_study_output_name(study, 6), "z.integral");
    CHECK_TEXT(hn_study_output_unit(study, 6), "m s");
    double kept[9];
    hn_study_outcome outcome;
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    CHECK_EQUAL(outcome.status, HN_OK);
    CHECK(!outcome.failed);
    // the same by a plain simulation
    const hn_parameter parameters[] = {{"length", "1"}, {"angle", "0.4"}};
    hn_model *model = NULL;
    hn_simulation *plain = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    hn_view place;
    def.step_size = 0.01;
    CHECK_OK(context,
             hn_model_parse_with(context, MODEL, sizeof MODEL - 1, "m", parameters, 2, &model));
    CHECK_OK(context, hn_simulation_create(model, &def, &plain));
    CHECK_OK(context, hn_simulation_view(plain, "bodies/position", &place));
    double least = place.data[2], most = least, sum = 0.0, x0 = place.data[0], z0 = place.data[2],
           crossed = -1.0;
    for (int i = 1; i <= 50; ++i) {
        CHECK_OK(context, hn_simulation_step(plain, 1));
        double x = place.data[0], z = place.data[2];
        least = fmin(least, z), most = fmax(most, z),
        sum += 0.5 * (z + z0) * (0.01 * i - 0.01 * (i - 1));
        if (i == 10) CHECK(kept[0] == x);
        if (i == 11) CHECK_NEAR(kept[1], x0 + 0.4 * (x - x0), 1e-15);
        if (x < 0.1 && crossed < 0.0) crossed = 0.01 * (i - 1) + 0.01 * (0.1 - x0) / (x - x0);
        x0 = x, z0 = z;
    }
    CHECK(kept[2] == place.data[0]);
    CHECK(kept[3] == least && kept[4] == most);
    CHECK_NEAR(kept[5], sum / 0.5, 1e-15);
    CHECK_NEAR(kept[6], sum, 1e-15);
    CHECK_NEAR(kept[7], crossed, 1e-14);
    CHECK(isnan(kept[8]));
    // the longer one hangs too low
    CHECK_OK(context, hn_study_run(context, study, 1, kept, &outcome));
    CHECK(outcome.status == HN_OK && outcome.failed);
    CHECK_CONTAINS(outcome.message, "z.minimum is -1.");
    CHECK_CONTAINS(outcome.message, "below -1.2");
    hn_simulation_destroy(plain);
    hn_model_destroy(model);
    hn_study_destroy(study);
    hn_context_destroy(context);
}

TEST(runs, that_cannot_be_say_why)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    CHECK_OK(context, make(context, "parameters: {mass: {grid: [1, -1]}}\n", &study));
    double kept[1];
    hn_study_outcome outcome;
    CHECK_OK(context, hn_study_run(context, study, 1, kept, &outcome));
    CHECK(outcome.failed && outcome.status != HN_OK);
    CHECK_CONTAINS(outcome.message, "mass");
    CHECK(isnan(kept[0]));
    hn_study_destroy(study);
    hn_context_destroy(context);
}

static const struct {
    const char *text, *said;
} MISTAKES[] = {
    {"parameters: {lenght: {grid: [1]}}\n",
     "study.yaml:2:14: unknown parameter 'lenght' in the model (did you mean 'length'?)"},
    {"parameters: {length: {grid: []}}\n", "grid is empty"},
    {"parameters: {length: {grid: {from: 1, to: 2, count: 0}}}\n",
     "count of a grid is 0; expected a whole number"},
    {"parameters: {length: {gird: [1]}}\n", "(did you mean 'grid'?)"},
    {"parameters: {length: {list: [1, 2]}, mass: {list: [1, 2, 3]}}\n", "lists go together"},
    // one entry counted as no list, and the second member had what lies behind it
    {"parameters: {length: {list: [1]}, mass: {list: [1, 2, 3]}}\n",
     "the list of 'mass' has 3 entries, another has 1"},
    {"parameters: {length: {list: [1, 2]}, mass: {list: [1]}}\n", "lists go together"},
    {"parameters: {length: {list: [1]}}\ntable: masses.csv\n",
     "the list of 'mass' has 3 entries, another has 1"},
    {"parameters: {length: {uniform: [2, 1]}}\nsamples: {count: 3}\n", "expected from below to"},
    {"parameters: {length: {normal: {mean: 1, deviation: 0}}}\nsamples: {count: 3}\n",
     "expected a positive number"},
    {"parameters: {length: {choice: {values: [1, 2], probabilities: [0.5, 0.6]}}}\nsamples: "
     "{count: 3}\n",
     "the probabilities sum to 1.1; expected 1"},
    {"parameters: {length: {choice: {values: [1, 2], probabilities: [-0.5, 1.5]}}}\nsamples: "
     "{count: 3}\n",
     "probability -0.5 is negative"},
    {"parameters: {length: {choice: {values: [1, 2], probabilities: [1]}}}\nsamples: {count: 3}\n",
     "there are 1 probabilities for 2 values"},
    {"parameters: {length: {uniform: [1, 2]}}\n", "expected samples"},
    {"parameters: {length: {grid: [1]}}\nsamples: {count: 5}\n", "no parameter has a distribution"},
    {"parameters: {length: {uniform: [1, 2]}}\nsamples: {count: 5, method: sobel}\n",
     "did you mean 'sobol'?"},
    {"parameters: {length: {uniform: [1, 2]}}\nsamples: {count: 2.5}\n", "expected a whole number"},
    {"parameters: {}\n", "varies nothing"},
    {"name: none\n", "varies nothing"},
    {"parameters: {length: {grid: [1]}}\noutputs: {}\n", "keeps nothing"},
    {"parameters: {length: {grid: [1]}}\noutputs: {x: {of: bodies/bop/position/x}}\n",
     "did you mean 'bodies/bob/position/x'?"},
    {"parameters: {length: {grid: [1]}}\noutputs: {x: {of: bodies/bob/position/x, at: 7}}\n",
     "members run from 0 to 0.5 s"},
    {"parameters: {length: {grid: [1]}}\noutputs: {x: {of: bodies/bob/position/x, keep: maxium}}\n",
     "did you mean 'maximum'?"},
    {"parameters: {length: {grid: [1]}}\nfailure: {y: {above: 1}}\n", "unknown output 'y'"},
    {"parameters: {length: {grid: [1]}}\nrun: {sheme: rattle}\n", "study.yaml:3:7: "},
    {"parameters: {length: {grid: [1]}}\nsampels: 3\n", "did you mean 'samples'?"},
    {"parameters: {length: {grid: [1]}}\ntable: none.csv\n", "none.csv"},
    // the rest of the table was left out in silence
    {"parameters: {length: {grid: [1]}}\ntable: cut.csv\n", "cut.csv: found a zero character"},
};

TEST(mistakes, in_a_study_are_named_with_their_place)
{
    FILE *table = fopen("masses.csv", "w"), *cut = fopen("cut.csv", "w");
    CHECK(table != NULL && fputs("mass\n1\n2\n3\n", table) >= 0 && fclose(table) == 0);
    CHECK(cut != NULL && fwrite("mass\n1\n2\n\0\n3\n", 1, 13, cut) == 13 && fclose(cut) == 0);
    for (size_t i = 0; i < sizeof MISTAKES / sizeof MISTAKES[0]; ++i) {
        hn_context *context = hn_context_create(NULL);
        hn_study *study = NULL;
        CHECK(make(context, MISTAKES[i].text, &study) != HN_OK);
        CHECK(study == NULL);
        CHECK_CONTAINS(hn_context_message(context), MISTAKES[i].said);
        hn_context_destroy(context);
    }
}

// ---- tables -----------------------------------------------------------------------------------------

TEST(tables, come_back_from_files_and_merge)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    hn_study_table *even = NULL, *odd = NULL, *back = NULL;
    CHECK_OK(context, make(context, "parameters: {length: {grid: [1, 2, 3, 4]}}\n", &study));
    CHECK_OK(context, hn_study_table_create(context, study, &even));
    CHECK_OK(context, hn_study_table_create(context, study, &odd));
    for (int i = 3; i >= 0; --i) { // in another order than they are written
        double parameters[1] = {i + 1.0}, outputs[1] = {10.0 * i};
        hn_study_outcome outcome = {.failed = i == 2};
        if (i == 2) snprintf(outcome.message, sizeof outcome.message, "it broke");
        CHECK_OK(context,
                 hn_study_table_put(i % 2 == 0 ? even : odd, i, parameters, outputs, &outcome));
    }
    CHECK_OK(context, hn_study_table_write(odd, "odd.h5"));
    CHECK_OK(context, hn_study_table_read(context, "odd.h5", &back));
    CHECK_OK(context, hn_study_table_merge(back, even));
    CHECK_OK(context, hn_study_table_merge(back, even)); // equal rows may come again
    hn_study_view view = hn_study_table_view(back);
    CHECK_EQUAL(view.row_count, 4);
    CHECK_EQUAL(view.member_count, 4);
    for (int i = 0; i < 4; ++i) {
        CHECK_EQUAL(view.members[i], i);
        CHECK(view.outputs[i] == 10.0 * i && view.parameters[i] == i + 1.0);
        CHECK_EQUAL(view.failed[i], i == 2);
        CHECK_TEXT(hn_study_table_message(back, i), i == 2 ? "it broke" : "");
    }
    CHECK_TEXT(hn_study_table_parameter_name(back, 0), "length");
    CHECK_TEXT(hn_study_table_output_name(back, 0), "x");
    CHECK_TEXT(hn_study_table_output_unit(back, 0), "m");
    CHECK_CONTAINS(view.model_text, "point_mass");
    // a row that differs is no row of the same study
    double parameters[1] = {1.0}, outputs[1] = {-1.0};
    hn_study_outcome outcome = {0};
    hn_study_table *wrong = NULL;
    CHECK_OK(context, hn_study_table_create(context, study, &wrong));
    CHECK_OK(context, hn_study_table_put(wrong, 0, parameters, outputs, &outcome));
    CHECK_STATUS(context, hn_study_table_merge(back, wrong), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(context), "member 0");
    CHECK_STATUS(context, hn_study_table_write(back, "/dev/full/x.h5"), HN_FILE_ACCESS);
    hn_study_table_destroy(wrong);
    hn_study_table_destroy(back);
    hn_study_table_destroy(odd);
    hn_study_table_destroy(even);
    hn_study_destroy(study);
    hn_context_destroy(context);
}

TEST(tables, that_overlap_merge_in_any_number)
{
    // the numbers of rows that were given twice were those of the next rows, once more than two tables came together
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    hn_study_table *whole = NULL, *parts[4] = {NULL};
    static const int MEMBERS[4][3] = {{0, 3, 6}, {6, 0, 3}, {7, 1, 4}, {5, 8, 2}};
    CHECK_OK(context,
             make(context, "parameters: {length: {grid: {from: 1, to: 9, count: 9}}}\n", &study));
    CHECK_OK(context, hn_study_table_create(context, study, &whole));
    for (int k = 0; k < 4; ++k) {
        CHECK_OK(context, hn_study_table_create(context, study, &parts[k]));
        for (int i = 0; i < 3; ++i) {
            double parameters[1] = {MEMBERS[k][i] + 1.0}, outputs[1] = {10.0 * MEMBERS[k][i]};
            const hn_study_outcome outcome = {0};
            CHECK_OK(context,
                     hn_study_table_put(parts[k], MEMBERS[k][i], parameters, outputs, &outcome));
        }
        CHECK_OK(context, hn_study_table_merge(whole, parts[k]));
        CHECK_OK(context, hn_study_table_merge(whole, whole)); // it did not come to an end
    }
    // a row that is looked at is replaced
    double parameters[1] = {4.0}, outputs[1] = {-1.0};
    const hn_study_outcome outcome = {0};
    CHECK_OK(context, hn_study_table_put(whole, 3, parameters, outputs, &outcome));
    CHECK_EQUAL(hn_study_table_view(whole).row_count, 9);
    outputs[0] = 30.0;
    CHECK_OK(context, hn_study_table_put(whole, 3, parameters, outputs, &outcome));
    hn_study_view view = hn_study_table_view(whole);
    CHECK_EQUAL(view.row_count, 9);
    for (int i = 0; i < view.row_count; ++i) {
        CHECK_EQUAL(view.members[i], i);
        CHECK(view.parameters[i] == i + 1.0 && view.outputs[i] == 10.0 * i);
    }
    for (int k = 0; k < 4; ++k) hn_study_table_destroy(parts[k]);
    hn_study_table_destroy(whole);
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// ---- members whose models differ --------------------------------------------------------------------

// A chain of n links with a weight at its end; how it runs depends on parameters too.
static const char CHAIN[] =
    "holonom: 1\n"
    "parameters: {n: 4, h: 0.01, T: 0.1}\n"
    "bodies:\n"
    "  link1: {shape: {box: {size: [0.25, 0.04, 0.04]}}, mass: 1, position: [0.125, 0, 0]}\n"
    "joints:\n"
    "  hinge1: {revolute: {bodies: [ground, link1], at: [0, 0, 0], axis: y}}\n"
    "repeat:\n"
    "  - for: {i: [2, n]}\n"
    "    with: {place: 0.25*(i - 1)}\n"
    "    bodies:\n"
    "      link$i: {shape: {box: {size: [0.25, 0.04, 0.04]}}, mass: 1, position: [place + 0.125, "
    "0, "
    "0]}\n"
    "    joints:\n"
    "      hinge$i: {revolute: {bodies: [link$(i - 1), link$i], at: [place, 0, 0], axis: y}}\n"
    "  - for: {k: 1}\n"
    "    bodies:\n"
    "      tip$k: {point_mass: {mass: 1}, position: [n*0.25, 0, 0]}\n"
    "    joints:\n"
    "      tie$k: {spherical: {bodies: [\"link$(n)\", tip$k], at: [n*0.25, 0, 0]}}\n"
    "run: {step: h, end: T}\n";

static hn_status make_of(hn_context *context, const char *model, const char *text, hn_study **study)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "holonom_study: 1\n%s", text);
    return hn_study_parse(context, whole, strlen(whole), "study.yaml", model, strlen(model), study);
}

TEST(models, of_members_have_their_numbers_where_they_have_them)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    CHECK_OK(context, make_of(context, CHAIN,
                              "parameters: {n: {grid: [2, 3, 4, 5, 6]}}\n"
                              "outputs:\n"
                              "  tip: {of: bodies/tip1/position/x, at: 0}\n"
                              "  fourth: {of: bodies/link4/position/x, at: 0}\n",
                              &study));
    for (int i = 0; i < 5; ++i) {
        double kept[2];
        hn_study_outcome outcome;
        CHECK_OK(context, hn_study_run(context, study, i, kept, &outcome));
        if (i < 2) {
            CHECK(outcome.failed && isnan(kept[0]));
            CHECK_CONTAINS(outcome.message, "output 'fourth': with these parameters the model has "
                                            "no bodies/link4/position/x");
            continue;
        }
        CHECK(!outcome.failed);
        // the tip was looked for where the chain of four has it: 1, 1.125, 1.125
        CHECK_NEAR(kept[0], 0.25 * (i + 2), 1e-15);
        CHECK_NEAR(kept[1], 0.875, 1e-15);
    }
    hn_study_destroy(study);
    study = NULL;
    CHECK_OK(context, make_of(context, CHAIN,
                              "parameters: {n: {grid: [2, 3, 4, 5, 6]}}\n"
                              "outputs: {tip: {of: bodies/tip1/position/x, at: 0}}\n",
                              &study));
    for (int i = 0; i < 5; ++i) {
        double kept[1];
        hn_study_outcome outcome;
        CHECK_OK(context, hn_study_run(context, study, i, kept, &outcome));
        CHECK_NEAR(kept[0], 0.25 * (i + 2), 1e-15);
    }
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// Place of the tip after the steps of a plain simulation.
static double plain_tip(hn_context *context, double h, int count)
{
    hn_model *model = NULL;
    hn_simulation *plain = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    hn_view place;
    def.step_size = h;
    CHECK_OK(context, hn_model_parse(context, CHAIN, sizeof CHAIN - 1, "m", &model));
    CHECK_OK(context, hn_simulation_create(model, &def, &plain));
    CHECK_OK(context, hn_simulation_step(plain, count));
    CHECK_OK(context, hn_simulation_view(plain, "bodies/position", &place));
    double z = place.data[3 * 4 + 2];
    hn_simulation_destroy(plain);
    hn_model_destroy(model);
    return z;
}

TEST(models, of_members_say_how_they_run)
{
    // they ran as the model does with its own parameters: equal rows
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    double kept[2];
    hn_study_outcome outcome;
    CHECK_OK(context, make_of(context, CHAIN,
                              "parameters: {h: {grid: [0.01, 0.002]}, T: {grid: [0.1, 0.2]}}\n"
                              "outputs: {z: {of: bodies/tip1/position/z}}\n",
                              &study));
    static const int STEPS[4] = {10, 20, 50, 100};
    for (int i = 0; i < 4; ++i) {
        CHECK_OK(context, hn_study_run(context, study, i, kept, &outcome));
        CHECK(!outcome.failed && kept[0] == plain_tip(context, i < 2 ? 0.01 : 0.002, STEPS[i]));
    }
    hn_study_destroy(study);
    study = NULL;
    // what the study says comes first
    CHECK_OK(context, make_of(context, CHAIN,
                              "run: {step: 0.005, ledger: false}\n"
                              "parameters: {h: {grid: [0.01]}, T: {grid: [0.1, 0.2]}}\n"
                              "outputs: {z: {of: bodies/tip1/position/z}, later: {of: "
                              "bodies/tip1/position/z, at: 0.15}}\n",
                              &study));
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    CHECK(outcome.failed);
    CHECK_CONTAINS(outcome.message,
                   "output 'later' is at 0.15 s, but this member runs from 0 to 0.1 s");
    CHECK_OK(context, hn_study_run(context, study, 1, kept, &outcome));
    CHECK(!outcome.failed && kept[0] == plain_tip(context, 0.005, 40) &&
          kept[1] == plain_tip(context, 0.005, 30));
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// ---- numbers of steps -------------------------------------------------------------------------------

static const char HANGING[] =
    "holonom: 1\n"
    "parameters: {mass: 1}\n"
    "bodies: {b: {mass: mass, inertia: [1, 1, 1]}}\n"
    "joints: {f: {revolute: {bodies: [ground, b], at: [0, 0, 0], axis: z}}}\n"
    "drives: {d: {effort: {joint: f, value: 2}}}\n"
    "outputs:\n"
    "  R: {reaction_force: {joint: f}}\n"
    "  tau: {effort: {drive: d}}\n"
    "  both: {expression: R_z + tau}\n"
    "  twice: {expression: 2*both}\n"
    "  turned: {coordinate: {joint: f}}\n"
    "run: {step: 0.1, end: 1}\n";

TEST(runs, keep_nothing_of_a_step_that_was_not_taken)
{
    // zeros at the start, which are no reactions, counted: minima were 0, means 9.3195 and 1.9
    static const char STUDY[] =
        "parameters: {mass: {grid: [1]}}\n"
        "outputs:\n"
        "  force: {of: joints/f/reaction_force/z, keep: [minimum, mean, integral]}\n"
        "  early: {of: joints/f/reaction_force/z, at: [0, 0.05, 0.1]}\n"
        "  low: {of: joints/f/reaction_force/z, first_below: 5}\n"
        "  R: {of: outputs/R/z, keep: [minimum, mean]}\n"
        "  effort: {of: drives/d/effort, keep: [minimum, mean]}\n"
        "  tau: {of: outputs/tau, keep: minimum}\n"
        "  twice: {of: outputs/twice, keep: minimum}\n"
        "  turned: {of: outputs/turned, keep: minimum}\n"
        "  work: {of: drives/d/work, keep: minimum}\n";
    static const double EXPECTED[] = {9.81, 9.81, 9.81, (double)NAN, 9.81,  9.81, (double)NAN, 9.81,
                                      9.81, 2.0,  2.0,  2.0,         23.62, 0.0,  0.0};
    enum { COUNT = sizeof EXPECTED / sizeof EXPECTED[0] };
    for (int k = 0; k < 2; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_study *study = NULL;
        char text[2048];
        double kept[COUNT];
        hn_study_outcome outcome;
        snprintf(text, sizeof text, "%s%s", STUDY, k == 0 ? "" : "run: {scheme: variational}\n");
        CHECK_OK(context, make_of(context, HANGING, text, &study));
        CHECK_EQUAL(hn_study_output_count(study), COUNT);
        CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
        CHECK(!outcome.failed);
        for (int i = 0; i < COUNT; ++i) {
            // variational has reactions at the start
            double expected = k == 1 && i == 3 ? 9.81 : EXPECTED[i];
            if (isnan(expected)) CHECK(isnan(kept[i]));
            else CHECK_NEAR(kept[i], expected, 1e-13);
        }
        hn_study_destroy(study);
        hn_context_destroy(context);
    }
}

// ---- what is doubtful -------------------------------------------------------------------------------

static const char SPUN[] = "holonom: 1\n"
                           "parameters: {w: 1, h: 0.01}\n"
                           "bodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.15]}}\n"
                           "start: {b: {angular_velocity: [0, 0, w]}}\n"
                           "outputs:\n"
                           "  speed: {velocity: {body: b}}\n"
                           "  root: {expression: 'sqrt(0.5 - t) + speed_x'}\n"
                           "run: {step: h, end: 1}\n";

// A member that turned 66 % of the truth stood in the table without a word.
TEST(members, say_what_run_warns_of)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    double kept[1];
    hn_study_outcome outcome;
    CHECK_OK(context, make_of(context, SPUN,
                              "parameters: {w: {grid: [3, 300]}}\n"
                              "outputs: {w: {of: bodies/b/angular_velocity/z}}\n",
                              &study));
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    CHECK(!outcome.failed);
    CHECK_TEXT(outcome.message, "");
    CHECK_OK(context, hn_study_run(context, study, 1, kept, &outcome));
    CHECK(!outcome.failed);
    CHECK_CONTAINS(outcome.message, "the step is too long for body b");
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// `at: 1` of a run that ends at 0.9 s was the number of 0.9 s.
TEST(members, have_no_numbers_beyond_their_last_step)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    double kept[1];
    hn_study_outcome outcome;
    CHECK_OK(context, make_of(context, SPUN,
                              "parameters: {h: {grid: [0.1, 0.3]}}\n"
                              "outputs: {w: {of: bodies/b/angular_velocity/z, at: 1}}\n",
                              &study));
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    CHECK(!outcome.failed);
    CHECK_OK(context, hn_study_run(context, study, 1, kept, &outcome));
    CHECK(outcome.failed && isnan(kept[0]));
    CHECK_CONTAINS(outcome.message, "is at 1 s, but this member runs from 0 to 0.9 s");
    hn_study_destroy(study);
    study = NULL;
    // at the end it is the last step, and said
    CHECK_OK(context, make_of(context, SPUN,
                              "parameters: {h: {grid: [0.3]}}\n"
                              "outputs: {w: {of: bodies/b/angular_velocity/z, at: end}}\n",
                              &study));
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    CHECK(!outcome.failed && fabs(kept[0] - 1.0) < 1e-12);
    CHECK_CONTAINS(outcome.message,
                   "the end 1 s is no multiple of the step 0.3 s; the run ends at 0.9 s");
    hn_study_destroy(study);
    hn_context_destroy(context);
}

// sqrt(0.5 - t) is no number from half a second on: extrema were those of the first half.
TEST(runs, whose_numbers_are_none_keep_none)
{
    hn_context *context = hn_context_create(NULL);
    hn_study *study = NULL;
    double kept[4];
    hn_study_outcome outcome;
    CHECK_OK(context, make_of(context, SPUN,
                              "parameters: {w: {grid: [1]}}\n"
                              "outputs: {r: {of: outputs/root, keep: [minimum, maximum, mean]}, "
                              "early: {of: outputs/root, at: 0.25}}\n",
                              &study));
    CHECK_OK(context, hn_study_run(context, study, 0, kept, &outcome));
    for (int i = 0; i < 3; ++i) CHECK(isnan(kept[i]));
    CHECK_NEAR(kept[3], 0.5, 1e-12);
    CHECK(!outcome.failed);
    CHECK_CONTAINS(outcome.message, "output 'root' is no finite number, first at t = 0.51 s");
    hn_study_destroy(study);
    hn_context_destroy(context);
}
