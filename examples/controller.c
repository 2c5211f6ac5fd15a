// SPDX-License-Identifier: MIT
// A controller in the loop: views of the state, efforts between steps, stops half way by a callback and by Ctrl-C, and
// the results read back.
#include <holonom/holonom.h>

#include <signal.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

// an arm of two links on hinges about y, hanging from the ground
static hn_status make_arm(hn_context *context, hn_model **model)
{
    const hn_model_def world = hn_model_def_default();
    hn_status status = hn_model_create(context, &world, model);
    hn_body_id before = hn_ground();
    for (int i = 0; i < 2 && status == HN_OK; ++i) {
        hn_body_id link;
        hn_joint_id hinge;
        hn_body_def body = hn_body_def_default();
        body.mass = 1.0;                            // kg
        body.inertia = (hn_vec3){0.02, 0.02, 0.01}; // kg m^2
        body.position = (hn_vec3){0.0, 0.0, -0.25 - 0.5 * i};
        status = hn_model_add_body(*model, &body, &link);
        if (status != HN_OK) break;
        hn_joint_def joint = hn_joint_def_default(HN_JOINT_REVOLUTE);
        joint.body_a = before;
        joint.body_b = link;
        joint.point_a = (hn_vec3){0.0, 0.0, -0.5 * i};
        joint.axis_a = (hn_vec3){0.0, 1.0, 0.0};
        status = hn_model_add_joint(*model, &joint, &hinge);
        before = link;
    }
    return status;
}

// stops when the time of the callback's user is over
static bool go_on(const hn_simulation *simulation, int64_t done, int64_t count, void *user)
{
    (void)done, (void)count;
    return hn_simulation_time(simulation) < *(const double *)user;
}

static hn_context *volatile interrupted; // what Ctrl-C stops

// hn_context_cancel is what a signal handler or another thread may call while a long call runs
static void on_interrupt(int number)
{
    (void)number;
    hn_context_cancel(interrupted);
}

// stands for the user here, who loses patience after 500 steps
static bool press_control_c(const hn_simulation *simulation, int64_t done, int64_t count,
                            void *user)
{
    (void)simulation, (void)count, (void)user;
    return done != 500 || raise(SIGINT) == 0;
}

int main(void)
{
    hn_status status = HN_OK;
    bool finished = false;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_result_file *file = NULL;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    TRY(make_arm(context, &model));

    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 1e-3; // s
    run.inputs = true;
    TRY(hn_simulation_create(model, &run, &simulation));
    TRY(hn_results_create(model, simulation, "controller.h5", &results));

    hn_view angles, rates, tip;
    hn_input efforts;
    TRY(hn_simulation_view(simulation, "joints/coordinates", &angles));
    TRY(hn_simulation_view(simulation, "joints/rates", &rates));
    TRY(hn_simulation_view(simulation, "bodies/position", &tip));
    TRY(hn_simulation_input(simulation, "joints/effort", &efforts));

    const double target[2] = {0.8, -0.5}, stiffness = 60.0,
                 damping = 8.0; // rad, N m/rad, N m s/rad
    while (hn_simulation_time(simulation) < 1.0) {
        for (size_t k = 0; k < efforts.shape[0]; ++k)
            efforts.data[k] = stiffness * (target[k] - angles.data[k]) - damping * rates.data[k];
        TRY(hn_simulation_step(simulation, 1));
        TRY(hn_results_append(results));
    }
    printf("t = %.3f s: angles %.3f and %.3f rad, tip at (%.3f, %.3f) m\n",
           hn_simulation_time(simulation), angles.data[0], angles.data[1], tip.data[tip.strides[0]],
           tip.data[tip.strides[0] + 2 * tip.strides[1]]);
    TRY(hn_results_finish(results));

    // a long run that its own callback stops
    double until = 1.5; // s
    hn_simulation_set_progress(simulation, go_on, &until);
    status = hn_simulation_step(simulation, 1000000);
    if (status != HN_CANCELLED) goto done;
    printf("%s after %lld steps\n", hn_status_sentence(status),
           (long long)hn_simulation_step_count(simulation));

    // one that Ctrl-C stops: the state is that of the last completed step, and the run may go on
    interrupted = context;
    signal(SIGINT, on_interrupt);
    hn_simulation_set_progress(simulation, press_control_c, NULL);
    status = hn_simulation_step(simulation, 1000000);
    signal(SIGINT, SIG_DFL);
    if (status != HN_CANCELLED) goto done;
    printf("%s: %s\n", hn_status_sentence(status), hn_context_message(context));
    TRY(hn_simulation_step(simulation, 1));
    printf("going on: step %lld\n", (long long)hn_simulation_step_count(simulation));

    hn_result_column column;
    size_t count = 0;
    double last = 0.0;
    TRY(hn_result_file_open(context, "controller.h5", &file));
    TRY(hn_result_file_select(file, "joints/joint1/angle", &column, 1, &count));
    int64_t records = hn_result_file_info(file)->record_count;
    TRY(hn_result_file_read_column(file, column, records - 1, 1, 1, &last));
    printf("%s ends at %.3f %s\n", hn_result_file_column_name(file, column), last,
           hn_result_file_column_unit(file, column));
    finished = true;

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_result_file_close(file);
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return finished ? 0 : 1;
}
