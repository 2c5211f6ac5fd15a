// SPDX-License-Identifier: MIT
// `holonom check`: read and assemble a model, report its structure and start values.
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "reaction_report.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_MAX = 40 };           // bodies and joints listed without --all
enum { SHARED_MAX = 12 };         // joints named in a sentence
enum { PLANE_BODIES_MAX = 2000 }; // larger models are not asked whether they are planar,
enum {
    PLANE_JOINTS_MAX = 100
}; // nor those with more joints at one body: projected-rk takes their cube

static const double ROUND_OFF = 1e-14; // m, rad: a coordinate as drawn that is zero

/// A step for models that name none: assembling does not depend on it.
static const double SUBSTITUTE_STEP = 1e-3; // s

static const char *body_kind_text(hn_body_kind kind)
{
    switch (kind) {
    case HN_BODY_RIGID: return "rigid";
    case HN_BODY_POINT_MASS: return "point mass";
    case HN_BODY_PLANAR_POINT_MASS: return "planar point mass";
    case HN_BODY_BEAM_NODE: return "beam node";
    }
    return "?";
}

static void print_rest(int count, int shown)
{
    if (count > shown) printf("    and %d more (--all lists them)\n", count - shown);
}

static void print_beams(const hn_model *model, int limit)
{
    int count = hn_model_beam_count(model), shown = count < limit ? count : limit;
    if (count == 0) return;
    table t = table_begin(9);
    table_add_row(&t);
    const char *const header[9] = {"beam", "elements",  "length m", "mass kg/m", "EA N",
                                   "GA N", "EI1 N m^2", "EI2",      "GJ N m^2"};
    for (int c = 0; c < 9; ++c) table_set(&t, c, "%s", header[c]);
    for (int i = 0; i < shown; ++i) {
        hn_beam_id beam = hn_model_beam(model, i);
        hn_beam_section s = hn_model_beam_section(model, beam);
        table_add_row(&t);
        table_set(&t, 0, "%s", hn_model_beam_name(model, beam));
        table_set(&t, 1, "%d", hn_model_beam_element_count(model, beam));
        const double values[7] = {hn_model_beam_length(model, beam),
                                  s.mass,
                                  s.stiffness[2][2],
                                  s.stiffness[0][0],
                                  s.stiffness[3][3],
                                  s.stiffness[4][4],
                                  s.stiffness[5][5]};
        for (int c = 0; c < 7; ++c) table_set(&t, 2 + c, "%.6g", values[c]);
    }
    putchar('\n');
    table_print(&t, 4, 1, stdout);
    table_end(&t);
    print_rest(count, shown);
}

/// Bodies that are no nodes of beams.
static void print_bodies(const hn_model *model, int limit)
{
    int count = 0, shown = 0, all = hn_model_body_count(model);
    for (int i = 0; i < all; ++i)
        count += hn_model_body_kind(model, hn_model_body(model, i)) != HN_BODY_BEAM_NODE;
    if (count == 0) return;
    table t = table_begin(6);
    table_add_row(&t);
    const char *const header[6] = {"body", "kind", "mass kg", "inertia xx", "yy", "zz kg m^2"};
    for (int c = 0; c < 6; ++c) table_set(&t, c, "%s", header[c]);
    for (int i = 0; i < all && shown < limit; ++i) {
        hn_body_id body = hn_model_body(model, i);
        hn_body_kind kind = hn_model_body_kind(model, body);
        if (kind == HN_BODY_BEAM_NODE) continue;
        ++shown;
        hn_mat3 inertia = hn_model_body_inertia(model, body);
        table_add_row(&t);
        table_set(&t, 0, "%s", hn_model_body_name(model, body));
        table_set(&t, 1, "%s", body_kind_text(kind));
        table_set(&t, 2, "%.6g", hn_model_body_mass(model, body));
        for (int c = 0; kind == HN_BODY_RIGID && c < 3; ++c)
            table_set(&t, 3 + c, "%.6g", inertia.m[c][c]);
    }
    table_print(&t, 4, 2, stdout);
    table_end(&t);
    print_rest(count, shown);
}

static void print_joints(const hn_model *model, const bool *unique, int limit)
{
    int count = hn_model_joint_count(model);
    int shown = count < limit ? count : limit;
    if (count == 0) return;
    table t = table_begin(6);
    table_add_row(&t);
    const char *const header[6] = {"joint", "kind", "from", "to", "reaction", "coordinates"};
    for (int c = 0; c < 6; ++c) table_set(&t, c, "%s", header[c]);
    for (int i = 0; i < shown; ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        table_add_row(&t);
        table_set(&t, 0, "%s", hn_model_joint_name(model, joint));
        table_set(&t, 1, "%s", hn_joint_kind_name(hn_model_joint_kind(model, joint)));
        table_set(&t, 2, "%s", hn_model_body_name(model, hn_model_joint_body_a(model, joint)));
        table_set(&t, 3, "%s", hn_model_body_name(model, hn_model_joint_body_b(model, joint)));
        table_set(&t, 4, "%s",
                  unique == NULL ? "not analysed"
                  : unique[i]    ? "unique"
                                 : "up to a self-stress");
        table_set(&t, 5, "%d", hn_model_joint_coordinate_count(model, joint));
    }
    putchar('\n');
    table_print(&t, 4, 5, stdout);
    table_end(&t);
    print_rest(count, shown);
}

static const char *coordinate_word(const hn_model *model, hn_joint_id joint, int index)
{
    static const char *const ROTATION[3] = {"rotation x", "rotation y", "rotation z"};
    const char *word = hn_joint_coordinate_name(hn_model_joint_kind(model, joint), index);
    // what has no word of its own is the rotation vector at the end
    int first = hn_model_joint_coordinate_count(model, joint) - 3;
    return word != NULL ? word : ROTATION[index - first];
}

/// Joint coordinates of an assembled model: as drawn, at the start, and what assembly made of them.
static void print_assembly(const hn_model *model, int limit)
{
    hn_assembly report;
    if (!hn_model_assembly(model, &report)) return;
    table t = table_begin(5);
    table_add_row(&t);
    const char *const header[5] = {"joint", "coordinate", "drawn", "start", "change m, rad"};
    for (int c = 0; c < 5; ++c) table_set(&t, c, "%s", header[c]);
    int count = 0, shown = 0;
    for (int i = 0; i < hn_model_joint_count(model); ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        double drawn[HN_JOINT_COORDINATES_MAX], start[HN_JOINT_COORDINATES_MAX];
        int coordinates = hn_model_joint_start(model, joint, drawn, start);
        for (int k = 0; k < coordinates; ++k, ++count) {
            if (count >= limit) continue;
            ++shown;
            table_add_row(&t);
            table_set(&t, 0, "%s", hn_model_joint_name(model, joint));
            table_set(&t, 1, "%s", coordinate_word(model, joint, k));
            table_set(&t, 2, "%.9g", fabs(drawn[k]) < ROUND_OFF ? 0.0 : drawn[k]);
            table_set(&t, 3, "%.9g", start[k]);
            table_set(&t, 4, "%.6g", start[k] - drawn[k]);
        }
    }
    if (count > 0) {
        putchar('\n');
        table_print(&t, 4, 2, stdout);
    }
    table_end(&t);
    print_rest(count, shown);
    printf("\n  assembled           %d iteration%s; joints were open by %.3g m, %.3g rad, now by "
           "%.3g m, "
           "%.3g rad\n                      bodies with a place moved by up to %.6g m, %.6g rad\n",
           report.iterations, report.iterations == 1 ? "" : "s", report.opening,
           report.misalignment, report.left_opening, report.left_misalignment, report.moved,
           report.turned);
}

/// The verdict on redundant constraints: how many, which joints share them, what that means for their reactions.
static void print_redundancy(const hn_model *model, const hn_structure *s, const bool *unique)
{
    int redundant = s->constraint_count - s->constraint_rank;
    if (redundant == 0) {
        if (s->loop_count > 0) puts("  redundancy          none: every reaction is unique");
        return;
    }
    printf("  redundancy          %d %s from the others", redundant,
           redundant == 1 ? "constraint follows" : "constraints follow");
    printf("; overlapping joints:");
    int listed = 0;
    for (int i = 0; unique != NULL && i < hn_model_joint_count(model); ++i) {
        if (unique[i] || ++listed > SHARED_MAX) continue;
        printf("%s %s", listed == 1 ? "" : ",",
               SHOWN(hn_model_joint_name(model, hn_model_joint(model, i))));
    }
    if (listed > SHARED_MAX) printf(" and %d more", listed - SHARED_MAX);
    puts("\n                      their reactions are determined up to a self-stress: the "
         "minimum-norm ones are reported");
}

static void print_structure(const hn_structure *s)
{
    printf("\n  coordinates         %d\n", s->coordinate_count);
    printf("  constraints         %d: %d internal, %d of joints; rank %d, %d redundant\n",
           s->constraint_count, s->internal_constraint_count,
           s->constraint_count - s->internal_constraint_count, s->constraint_rank,
           s->constraint_count - s->constraint_rank);
    printf("  degrees of freedom  %d\n", s->degrees_of_freedom);
    printf("  loops               %d%s%s\n", s->loop_count,
           s->loop_solution[0] == '\0' ? "" : ", solved ", s->loop_solution);
}

static void print_components(const char *label, const bool component[3])
{
    static const char AXES[3] = {'x', 'y', 'z'};
    printf("%s", label);
    bool any = false;
    for (int i = 0; i < 3; ++i) {
        if (!component[i]) continue;
        printf("%s%c", any ? ", " : "", AXES[i]);
        any = true;
    }
    if (!any) printf("none");
}

/// Energy, momenta and what of them the model conserves. Returns an exit code.
static int print_start(hn_simulation *simulation, hn_context *context)
{
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_ledger ledger;
    hn_status status = hn_simulation_energy(simulation, &energy);
    if (status == HN_OK) status = hn_simulation_momentum(simulation, &linear, &angular);
    if (status == HN_OK) status = hn_simulation_ledger(simulation, &ledger);
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(context));
        return exit_code_of(status);
    }
    printf("\n  start energy        %.9g J kinetic, %.9g J potential\n", energy.kinetic,
           energy.potential);
    printf("  linear momentum     (%.9g, %.9g, %.9g) kg m/s", linear.x, linear.y, linear.z);
    print_components("   conserved: ", ledger.linear_component);
    printf("\n  angular momentum    (%.9g, %.9g, %.9g) kg m^2/s", angular.x, angular.y, angular.z);
    print_components("   conserved: ", ledger.angular_component);
    if (ledger.angular_component[0] || ledger.angular_component[1] || ledger.angular_component[2])
        printf(" about (%g, %g, %g)", ledger.angular_point.x, ledger.angular_point.y,
               ledger.angular_point.z);
    putchar('\n');
    return EXIT_FINE;
}

static void print_run(const hn_run_options *options, const hn_structure *structure)
{
    printf("\n  run                 %s, %s", hn_scheme_name(options->scheme),
           hn_reduction_name(options->reduction));
    if (options->step > 0.0) printf(", step %g s", options->step);
    if (options->end > 0.0) printf(", until %g s", options->end);
    putchar('\n');
    if (options->step > 0.0)
        printf("  h |omega|           %.3g rad at the start\n", structure->spin_step);
    if (structure->position_projection > 0.0 || structure->velocity_projection > 0.0)
        print_projection("  ", structure, stdout);
    else puts("  start values        fulfil the constraints");
}

/// The most joints at one body.
static int most_joints(const hn_model *model)
{
    int most = 0, *count = calloc((size_t)hn_model_body_count(model) + 1, sizeof(int));
    for (int i = 0; count != NULL && i < hn_model_joint_count(model); ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        const hn_body_id ends[2] = {hn_model_joint_body_a(model, joint),
                                    hn_model_joint_body_b(model, joint)};
        for (int side = 0; side < 2; ++side) {
            int64_t body = (int64_t)ends[side].index1 - 1;
            if (body < 0 || body >= hn_model_body_count(model)) continue; // the ground
            if (++count[body] > most) most = count[body];
        }
    }
    free(count);
    return most;
}

/// Does the motion stay in a plane? Then the planar formulation of `projected-rk` takes the model.
static void print_plane(const hn_model *model, const hn_simulation_def *spatial)
{
    hn_simulation_def def = *spatial;
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.projected_rk.planar = true;
    hn_simulation *simulation = NULL;
    if (hn_model_body_count(model) <= PLANE_BODIES_MAX && most_joints(model) <= PLANE_JOINTS_MAX &&
        hn_simulation_create(model, &def, &simulation) == HN_OK)
        puts("  plane               all motion stays in one plane: --scheme projected-rk --set "
             "planar=true is cheaper");
    hn_simulation_destroy(simulation);
}

static int check(const hn_model *model, const hn_run_options *options, int limit)
{
    hn_simulation_def def = hn_simulation_def_default();
    if (hn_simulation_def_from_model(model, &def) != HN_OK) return EXIT_MODEL;
    def.scheme = options->scheme;
    def.reduction = options->reduction;
    def.step_size = options->step > 0.0 ? options->step : SUBSTITUTE_STEP;
    hn_simulation *simulation = NULL;
    if (options->step <= 0.0) hn_context_set_log(hn_model_context(model), NULL, NULL);
    int code = report_create_simulation(model, &def, &simulation);
    if (code != EXIT_FINE) return code;
    hn_structure structure = hn_simulation_structure(simulation);
    if (options->step > 0.0 && hn_simulation_check_loads(simulation, options->end) != HN_OK) {
        say(stderr, "%s\n", hn_context_message(hn_model_context(model)));
        hn_simulation_destroy(simulation);
        return exit_code_of(HN_CANCELLED);
    }
    if (options->step > 0.0) warn_spin_step(options->scheme, &structure);
    print_model_line(model, simulation, stdout);
    bool *unique = report_unique_reactions(model, simulation);
    putchar('\n');
    print_bodies(model, limit);
    print_beams(model, limit);
    print_joints(model, unique, limit);
    print_assembly(model, limit);
    if (hn_model_load_count(model) > 0) {
        printf("\n  loads               ");
        for (int i = 0; i < hn_model_load_count(model) && i < limit; ++i)
            printf("%s%s", i == 0 ? "" : ", ", SHOWN(hn_model_load_name(model, i)));
        putchar('\n');
        print_rest(hn_model_load_count(model), limit);
    }
    if (hn_model_drive_count(model) > 0) {
        printf("\n  drives              ");
        for (int i = 0; i < hn_model_drive_count(model) && i < limit; ++i)
            printf("%s%s (%s)", i == 0 ? "" : ", ", SHOWN(hn_model_drive_name(model, i)),
                   hn_drive_kind_name(hn_model_drive_kind(model, i)));
        putchar('\n');
        print_rest(hn_model_drive_count(model), limit);
    }
    if (hn_model_coupling_count(model) > 0) {
        printf("\n  couplings           ");
        for (int i = 0; i < hn_model_coupling_count(model) && i < limit; ++i)
            printf("%s%s (%s)", i == 0 ? "" : ", ", SHOWN(hn_model_coupling_name(model, i)),
                   hn_coupling_kind_name(hn_model_coupling_kind(model, i)));
        putchar('\n');
        print_rest(hn_model_coupling_count(model), limit);
    }
    if (hn_model_output_count(model) > 0) {
        printf("\n  outputs             ");
        for (int i = 0; i < hn_model_output_count(model) && i < limit; ++i)
            printf("%s%s (%s)", i == 0 ? "" : ", ", SHOWN(hn_model_output_name(model, i)),
                   hn_output_kind_name(hn_model_output_kind(model, i)));
        putchar('\n');
        print_rest(hn_model_output_count(model), limit);
    }
    print_structure(&structure);
    print_redundancy(model, &structure, unique);
    print_reaction_verdicts(model, simulation, unique, stdout);
    print_singular_start(simulation, stdout);
    print_misfit(model, simulation, stdout);
    free(unique);
    code = print_start(simulation, hn_model_context(model));
    print_run(options, &structure);
    print_plane(model, &def);
    hn_simulation_destroy(simulation);
    return code;
}

int command_check(int argument_count, char **arguments)
{
    const char *scheme = NULL, *step = NULL, *all = NULL;
    model_source source = {0};
    const option_spec options[] = {
        {"--scheme", "NAME", "scheme to assemble for (default: the model's)", &scheme},
        {"--step", "SECONDS", "step size for h |omega| (default: the model's)", &step},
        {"--all", NULL, "list every body and joint of a large model", &all},
        MODEL_PARAMETER_OPTION(source),
    };
    const command_usage usage = {"check",
                                 "MODEL",
                                 "Read and assemble a model; report bodies, joints, degrees of "
                                 "freedom, start values and what is conserved.",
                                 "",
                                 "holonom check models/six-body-linkage.yaml",
                                 options,
                                 sizeof options / sizeof options[0]};
    options_result parsed = options_parse(&usage, argument_count, arguments, &source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;

    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    hn_model *model = NULL;
    int code = model_source_load(context, "check", &source, &model);
    if (code == EXIT_FINE) {
        hn_run_options run = hn_model_run_options(model);
        bool parsed_values =
            (scheme == NULL || parse_scheme("check", scheme, &run.scheme)) &&
            (step == NULL || option_positive_number("check", "--step", step, &run.step));
        code = parsed_values ? check(model, &run, all == NULL ? ROWS_MAX : INT32_MAX) : EXIT_USAGE;
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
    return code;
}
