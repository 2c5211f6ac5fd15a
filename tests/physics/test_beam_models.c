// SPDX-License-Identifier: MIT
// The models of beams beside values that others have published, and beside closed forms where there are any.
#include "physics/run.h"

static const double PI = 3.14159265358979323846;

// A model file with some of its words replaced, in pairs until NULL.
static run run_changed(const char *name, const char *const *words)
{
    static char text[16384], next[16384];
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    for (; *words != NULL; words += 2) {
        CHECK(strstr(text, words[0]) != NULL);
        for (char *at; (at = strstr(text, words[0])) != NULL && strcmp(words[0], words[1]) != 0;) {
            snprintf(next, sizeof next, "%.*s%s%s", (int)(at - text), text, words[1],
                     at + strlen(words[0]));
            memcpy(text, next, sizeof text);
        }
    }
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), name, &model));
    run r = {.context = context, .model = model};
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = hn_model_run_options(model).step;
    def.ledger = false;
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    return r;
}

static hn_equilibrium rest_of(run *r, int load_steps)
{
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    def.load_steps = load_steps;
    CHECK_OK(r->context, hn_simulation_find_equilibrium(r->sim, &def, &found));
    return found;
}

static hn_vec3 place_of(const run *r, const char *name)
{
    return run_body(r, hn_model_find_body(r->model, name)).position;
}

// ---- 45-degree bend ---------------------------------------------------------------------------------

static hn_vec3 bend_tip(const char *elements, const char *load)
{
    const char *const words[] = {"elements: 20", elements, "load: 600", load, NULL};
    run r = run_changed("bend-45", words);
    hn_equilibrium found = rest_of(&r, 6);
    CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
    hn_vec3 tip = place_of(&r, "bend.end");
    run_end(&r);
    return tip;
}

static double apart(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_subtract(a, b));
}

// Ibrahimbegovic 1995, eight elements of three nodes: displacement (13.729, -23.814, 53.605) at 600, axes in another
// order. Simo and Vu-Quoc 1986, eight linear elements: (58.84, 22.33, 40.08) at 300, (47.23, 15.79, 53.37) at 600.
// Bathe and Bolourchi 1979: (47.2, 15.9, 53.4).
TEST(beam_models, bend_of_45_degrees)
{
    const hn_vec3 published = {100.0 * sin(PI / 4.0) - 23.814,
                               100.0 - 100.0 * cos(PI / 4.0) - 13.729, 53.605};
    hn_vec3 coarse = bend_tip("elements: 40", "load: 600"),
            fine = bend_tip("elements: 80", "load: 600");
    hn_vec3 limit = vec3_add_scaled(fine, 1.0 / 3.0, vec3_subtract(fine, coarse));
    CHECK_BELOW(apart(limit, published), 0.01);                       // measured 0.006
    CHECK_NEAR(apart(coarse, limit) / apart(fine, limit), 4.0, 0.01); // order two, by construction
    CHECK_NEAR(apart(bend_tip("elements: 20", "load: 600"), limit) / apart(coarse, limit), 4.0,
               0.1);
    CHECK_BELOW(apart(fine, (hn_vec3){47.23, 15.79, 53.37}), 0.6); // measured 0.49
    CHECK_BELOW(apart(fine, (hn_vec3){47.2, 15.9, 53.4}), 0.6);    // measured 0.52
    CHECK_BELOW(apart(bend_tip("elements: 80", "load: 300"), (hn_vec3){58.84, 22.33, 40.08}), 0.6);
}

// ---- lateral buckling -------------------------------------------------------------------------------

// Argyris and others 1979, Simo and Vu-Quoc 1986: the frame leaves its plane at 1.088 N.
TEST(beam_models, lateral_buckling_of_a_right_angle_frame)
{
    double low = 1.0, high = 1.2;
    for (int k = 0; k < 12; ++k) {
        char load[32];
        double middle = 0.5 * (low + high);
        snprintf(load, sizeof load, "load: %.9f", middle);
        const char *const words[] = {"load: 1.5", load, "[0, 0, 1e-3]", "[0, 0, 0]", NULL};
        run r = run_changed("lateral-buckling", words);
        if (rest_of(&r, 1).unstable_count > 0) high = middle;
        else low = middle;
        run_end(&r);
    }
    CHECK_NEAR(low, 1.088, 0.001); // N; measured 1.0877
    // and stands beside its plane afterwards, stable, by a quarter of its leg
    const char *const words[] = {"load: 1.5", "load: 1.5", NULL};
    run r = run_changed("lateral-buckling", words);
    hn_equilibrium found = rest_of(&r, 15);
    CHECK_EQUAL(found.unstable_count, 0);
    CHECK_NEAR(fabs(place_of(&r, "arm.end").z), 61.0, 1.0); // mm
    run_end(&r);
}

// ---- right-angle frame in motion --------------------------------------------------------------------

// Simo and Vu-Quoc 1988 give curves. Another code with 40 elements for each leg has 8.25 at 7.44 s and -9.73 at
// 15.87 s at the tip, -4.06 at 10.87 s at the elbow (an example of Exudyn).
TEST(beam_models, right_angle_frame_swings_as_published)
{
    run r = run_model("right-angle-frame", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.05,
                      false);
    double high = 0.0, low = 0.0, elbow = 0.0, time[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 600; ++k) {
        run_step(&r, 1);
        double z = place_of(&r, "arm.end").z, e = place_of(&r, "column.end").z,
               t = hn_simulation_time(r.sim);
        if (z > high) high = z, time[0] = t;
        if (z < low) low = z, time[1] = t;
        if (e < elbow) elbow = e, time[2] = t;
    }
    CHECK_NEAR(high, 8.25, 0.06);    // m; measured 8.28
    CHECK_NEAR(low, -9.73, 0.07);    // measured -9.78
    CHECK_NEAR(elbow, -4.06, 0.05);  // measured -4.09
    CHECK_NEAR(time[0], 7.44, 0.05); // s
    CHECK_NEAR(time[1], 15.87, 0.06);
    CHECK_NEAR(time[2], 10.87, 0.06);
    run_end(&r);
}

// ---- spin-up ----------------------------------------------------------------------------------------

// Simo and Vu-Quoc 1986: in steady rotation the tip is out by omega^2 m L^3/(3 EA) = 5.14e-4 m.
TEST(beam_models, rotating_beam_stretches_as_it_should)
{
    run r =
        run_model("rotating-beam", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, false);
    double lag = 0.0, stretch = 0.0;
    int count = 0;
    for (int k = 0; k < 2000; ++k) {
        run_step(&r, 1);
        hn_body_state rotor = run_body(&r, hn_model_find_body(r.model, "rotor"));
        hn_vec3 tip = mat3_apply_transposed(&rotor.orientation, place_of(&r, "blade.end"));
        lag = fmin(lag, tip.y);
        if (hn_simulation_time(r.sim) > 16.0) stretch += tip.x - 10.0, ++count;
    }
    stretch /= count;
    CHECK_NEAR(stretch, 36.0 * 1.2 * 1000.0 / (3.0 * 2.8e7),
               1e-6);               // m; measured 5.139e-4 of 5.143e-4
    CHECK_NEAR(lag, -0.575, 0.005); // m; measured -0.5746
    run_end(&r);
}

// ---- satellite --------------------------------------------------------------------------------------

// Free in space: six rigid modes; its angular momentum is the impulse of the torque, its centre of mass stays.
TEST(beam_models, satellite_is_free_and_turns_by_its_torque_alone)
{
    const char *const words[] = {NULL};
    run r = run_changed("satellite-panels", words);
    hn_modes_def def = hn_modes_def_default();
    hn_modes_report report;
    hn_mode mode[10];
    def.at_start = true;
    def.statics.at_time = true; // the torque does not act yet
    CHECK_OK(r.context, hn_simulation_modes(r.sim, &def, mode, NULL, &report));
    CHECK_EQUAL(report.equilibrium.neutral_count, 6);
    CHECK(mode[5].frequency == 0.0 && mode[6].frequency > 0.1);
    hn_vec3 linear, angular;
    run_step(&r, 250); // half of the way: 12 (2.5 - 0.1) N m s
    CHECK_OK(r.context, hn_simulation_momentum(r.sim, &linear, &angular));
    CHECK_NEAR(angular.z, 12.0 * 2.4, 1e-9); // kg m^2/s
    CHECK_BELOW(vec3_norm(linear), 1e-10);
    run_step(&r, 1000);
    CHECK_OK(r.context, hn_simulation_momentum(r.sim, &linear, &angular));
    CHECK_BELOW(vec3_norm(angular), 1e-9);
    run_end(&r);
}

// ---- slider-crank -----------------------------------------------------------------------------------

TEST(beam_models, flexible_slider_crank_keeps_its_plane_and_its_energy)
{
    run r = run_model("flexible-slider-crank", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.0,
                      true);
    double beside = 0.0;
    hn_ledger ledger;
    for (int k = 0; k < 20; ++k) {
        run_step(&r, 25);
        beside = fmax(beside, fabs(place_of(&r, "rod.middle").z));
    }
    CHECK_BELOW(beside, 1e-12); // m
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // measured 1e-14
    CHECK_BELOW(ledger.accuracy.beam_angle, 0.2);              // rad
    run_end(&r);
}

// ---- objectivity ------------------------------------------------------------------------------------

// A strained beam turned as a whole has the same strains: through the model, nodes set by frames.
TEST(beam_models, strains_do_not_see_rigid_rotations)
{
    double worst = 0.0, largest = 0.0;
    run r = run_model("bend-45", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.0, false);
    rest_of(&r, 6);
    const hn_system *system = r.sim->system;
    for (int e = 0; e < system->element_count; ++e) {
        const element *x = &system->elements[e];
        if (x->kind != ELEMENT_BEAM_HELICAL) continue;
        for (int turn = 1; turn < 12; ++turn) {
            double a[12], b[12], strain[6], turned[6], force[6];
            hn_mat3 rotation = rotation_exponential(vec3(0.6 * turn, -0.9 * turn, 0.4 * turn));
            for (int k = 0; k < 12; k += 3) {
                vec3_store(mat3_apply(&rotation, vec3_load(system_pose(r.sim->state.q, x->a) + k)),
                           a + k);
                vec3_store(mat3_apply(&rotation, vec3_load(system_pose(r.sim->state.q, x->b) + k)),
                           b + k);
            }
            beam_resultants(x->beam, system_pose(r.sim->state.q, x->a),
                            system_pose(r.sim->state.q, x->b), strain, force);
            beam_resultants(x->beam, a, b, turned, force);
            for (int k = 0; k < 6; ++k) {
                worst = fmax(worst, fabs(turned[k] - strain[k]));
                largest = fmax(largest, fabs(strain[k]));
            }
        }
    }
    CHECK_BELOW(worst, 1e-13); // strains of up to 0.02 and 1/m; measured 2e-15
    CHECK(largest > 1e-3);
    run_end(&r);
}
