// SPDX-License-Identifier: MIT
// Definitions that begin with their size: programs compiled with an older or a newer header work with this library.
#include <holonom/holonom.h>

#include "support/check.h"

#include <stdio.h>
#include <string.h>

enum { PAD = 64, FILL = 0x5a };

static bool is_filled(const unsigned char *bytes, size_t count, int value)
{
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != value) return false;
    return true;
}

// A struct of every length between its size and what this library knows, and one longer than that: nothing is written
// beyond, and what this library does not know is zero.
#define CHECK_INIT(type, defaults, fill)                                                           \
    do {                                                                                           \
        _Alignas(64) unsigned char bytes[sizeof(type) + 2 * PAD];                                  \
        type *to = (type *)(void *)bytes;                                                          \
        CHECK_EQUAL((defaults).size, sizeof(type));                                                \
        for (size_t size = sizeof(size_t); size <= sizeof bytes - PAD; size += 8) {                \
            memset(bytes, FILL, sizeof bytes);                                                     \
            fill;                                                                                  \
            size_t common = size < sizeof(type) ? size : sizeof(type);                             \
            CHECK_EQUAL(to->size, size);                                                           \
            CHECK(is_filled(bytes + common, size - common, 0));                                    \
            CHECK(is_filled(bytes + size, sizeof bytes - size, FILL));                             \
        }                                                                                          \
    } while (0)
#define CHECK_PLAIN(type) CHECK_INIT(type, type##_default(), type##_init(to, size))
#define CHECK_KIND(type, kind) CHECK_INIT(type, type##_default(kind), type##_init(to, size, kind))

TEST(struct_sizes, defaults_fill_what_the_program_knows)
{
    CHECK_PLAIN(hn_model_def);
    CHECK_PLAIN(hn_body_def);
    CHECK_PLAIN(hn_beam_def);
    CHECK_PLAIN(hn_load_def);
    CHECK_PLAIN(hn_beam_load_def);
    CHECK_PLAIN(hn_spring_def);
    CHECK_PLAIN(hn_torsion_spring_def);
    CHECK_PLAIN(hn_bushing_def);
    CHECK_PLAIN(hn_rotation_def);
    CHECK_PLAIN(hn_results_def);
    CHECK_PLAIN(hn_simulation_def);
    CHECK_PLAIN(hn_batch_def);
    CHECK_PLAIN(hn_static_def);
    CHECK_PLAIN(hn_modes_def);
    CHECK_KIND(hn_joint_def, HN_JOINT_REVOLUTE);
    CHECK_KIND(hn_drive_def, HN_DRIVE_SERVO);
    CHECK_KIND(hn_coupling_def, HN_COUPLING_GEAR);
    CHECK_KIND(hn_output_def, HN_OUTPUT_EFFORT);
}

static hn_context *context;

static hn_model *pendulum(const hn_body_def *body, hn_status expected)
{
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    hn_body_id bob;
    CHECK_OK(context, hn_model_create(context, &world, &model));
    CHECK_EQUAL(hn_model_add_body(model, body, &bob), expected);
    return model;
}

// An older program has no `shapes`; what stands behind its struct is not read.
TEST(struct_sizes, shorter_definitions_mean_defaults)
{
    context = hn_context_create(NULL);
    hn_body_def body = hn_body_def_default();
    body.mass = 1.0;
    body.inertia = (hn_vec3){1.0, 1.0, 1.0};
    body.shapes = (const hn_shape *)(const void *)&body; // would be taken for a hundred shapes
    body.shape_count = 100;
    body.size = offsetof(hn_body_def, shapes);
    hn_model_destroy(pendulum(&body, HN_OK));

    body.size = sizeof body;
    body.shapes = NULL;
    body.shape_count = 0;
    hn_model *model = pendulum(&body, HN_OK);
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    def.projected_rk.relative_tolerance = -1.0; // not in the struct of an older program
    def.projected_rk.reserved[0] = 1.0;
    def.size = offsetof(hn_simulation_def, projected_rk);
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    hn_simulation_destroy(simulation);
    CHECK_STATUS(context, hn_simulation_def_set(context, &def, "relative_tolerance", "1e-3"),
                 HN_INVALID_ARGUMENT);
    CHECK(def.projected_rk.relative_tolerance == -1.0);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// A newer program has fields that this library does not know: refused where they are set.
TEST(struct_sizes, longer_definitions_are_taken_or_refused)
{
    context = hn_context_create(NULL);
    struct {
        hn_body_def body;
        double newer;
    } longer;
    hn_body_def_init(&longer.body, sizeof longer);
    longer.body.mass = 1.0;
    longer.body.inertia = (hn_vec3){1.0, 1.0, 1.0};
    hn_model_destroy(pendulum(&longer.body, HN_OK));
    longer.newer = 3.0;
    hn_model_destroy(pendulum(&longer.body, HN_INVALID_ARGUMENT));
    CHECK(strstr(hn_context_message(context), "hn_body_def") != NULL);
    CHECK(strstr(hn_context_message(context), hn_version()) != NULL);
    hn_context_destroy(context);
}

TEST(struct_sizes, definitions_without_a_size_are_refused)
{
    context = hn_context_create(NULL);
    hn_body_def body = {.mass = 1.0};
    hn_model_destroy(pendulum(&body, HN_INVALID_ARGUMENT));
    CHECK(strstr(hn_context_message(context), "hn_body_def_default") != NULL);
    hn_context_destroy(context);
}

TEST(struct_sizes, room_for_settings_is_zero)
{
    context = hn_context_create(NULL);
    hn_body_def body = hn_body_def_default();
    body.mass = 1.0;
    body.inertia = (hn_vec3){1.0, 1.0, 1.0};
    hn_model *model = pendulum(&body, HN_OK);
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    double *const rooms[] = {&def.generalized_alpha.reserved[2], &def.energy_decaying.reserved[0],
                             &def.projected_rk.reserved[5]};
    for (int i = 0; i < 3; ++i) {
        hn_simulation *simulation = NULL;
        *rooms[i] = 1.0;
        CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_ARGUMENT);
        *rooms[i] = 0.0;
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        hn_simulation_destroy(simulation);
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
}
