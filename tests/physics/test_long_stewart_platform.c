// SPDX-License-Identifier: MIT
// models/stewart-platform.yaml against closed forms: the path that its legs were computed for, and the lengths of legs
// from the pose of the plate; the balance of energy over 1e4 steps.
#include <holonom/holonom.h>

#include "base/vector.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>

#define MODEL HN_SOURCE_DIR "/models/stewart-platform.yaml"

static const double PI = 3.14159265358979323846, BASE = 1.0, TOP = 0.6, HEIGHT = 1.1, REACH = 0.08,
                    LIFT = 0.05;

// Largest distance of the plate from its path, and of leg lengths from |p + R h - f|.
static void compare_with_closed_forms(hn_context *context, const hn_model *model,
                                      const hn_simulation *simulation, double *path, double *legs)
{
    double t = hn_simulation_time(simulation), turn = 8.0 * PI / 180.0 * sin(2.0 * PI * t);
    hn_vec3 p = vec3(REACH * cos(2.0 * PI * t), REACH * sin(2.0 * PI * t),
                     HEIGHT + LIFT * sin(4.0 * PI * t));
    hn_body_state plate;
    CHECK_OK(context,
             hn_simulation_body_state(simulation, hn_model_find_body(model, "plate"), &plate));
    *path = fmax(*path, vec3_norm(vec3_subtract(plate.position, p)));
    *path = fmax(*path, fabs(atan2(plate.orientation.m[1][0], plate.orientation.m[0][0]) - turn));
    *path = fmax(*path, fabs(plate.orientation.m[2][0]) + fabs(plate.orientation.m[2][1]));
    for (int i = 1; i <= 6; ++i) {
        char name[16];
        hn_joint_state leg;
        double pair = i % 2 == 0 ? 0.35 : -0.35, foot = PI / 3.0 * i + pair,
               head = PI / 3.0 * i - pair;
        hn_vec3 at =
            vec3_add(plate.position,
                     mat3_apply(&plate.orientation, vec3(TOP * cos(head), TOP * sin(head), -0.02)));
        snprintf(name, sizeof name, "leg%d", i);
        CHECK_OK(context,
                 hn_simulation_joint_state(simulation, hn_model_find_joint(model, name), &leg));
        double length = vec3_norm(vec3_subtract(at, vec3(BASE * cos(foot), BASE * sin(foot), 0.0)));
        *legs = fmax(*legs, fabs(leg.coordinates[0] - length));
    }
}

typedef struct platform_run {
    double path, legs, balance;
} platform_run;

static platform_run run_platform(hn_scheme scheme, int steps)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_simulation *simulation;
    hn_simulation_def def = hn_simulation_def_default();
    platform_run run = {0};
    double start = 0.0, scale = 0.0, worst = 0.0;
    CHECK_OK(context, hn_model_load(context, MODEL, &model));
    def.scheme = scheme;
    def.step_size = 2e-3;
    def.ledger = false;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    CHECK_EQUAL(hn_simulation_structure(simulation).degrees_of_freedom, 6);
    for (int i = 0; i <= steps; i += 50) {
        hn_energy e;
        CHECK_OK(context, hn_simulation_energy(simulation, &e));
        double now = e.kinetic + e.potential - e.external_work;
        if (i == 0) start = now;
        worst = fmax(worst, fabs(now - start));
        scale = fmax(scale, e.kinetic + fabs(e.external_work));
        compare_with_closed_forms(context, model, simulation, &run.path, &run.legs);
        if (i < steps) CHECK_OK(context, hn_simulation_step(simulation, 50));
    }
    run.balance = worst / scale;
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return run;
}

TEST(stewart_platform, follows_its_path_and_closes_the_balance_over_ten_thousand_steps)
{
    platform_run run = run_platform(HN_SCHEME_ENERGY_MOMENTUM, 10000);
    CHECK_BELOW(run.path, 2e-12);    // m, rad; measured 1.4e-13
    CHECK_BELOW(run.legs, 2e-14);    // m; measured 1.6e-15
    CHECK_BELOW(run.balance, 1e-10); // of kinetic energy and work; measured 8.5e-12
}

TEST(stewart_platform, follows_its_path_with_variational_too)
{
    platform_run run = run_platform(HN_SCHEME_VARIATIONAL, 2000);
    CHECK_BELOW(run.path, 2e-12);   // measured 1e-13
    CHECK_BELOW(run.legs, 2e-14);   // measured 1.6e-15
    CHECK_BELOW(run.balance, 1e-4); // oscillates; measured 1.1e-5
}
