// SPDX-License-Identifier: MIT
// Two links joined by one hinge, thrown without gravity: energy and angular momentum stay put.
#include <holonom/holonom.h>

#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

int main(void)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context *context = hn_context_create(NULL); // NULL: malloc and free
    if (context == NULL) return 1;

    hn_model_def world = hn_model_def_default();
    world.name = "two links";
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    TRY(hn_model_create(context, &world, &model));

    hn_body_def link = hn_body_def_default();
    link.mass = 1.0;                            // kg
    link.inertia = (hn_vec3){0.01, 0.08, 0.08}; // kg m^2, about the centre of mass, body axes

    hn_body_id left, right;
    link.name = "left";
    link.position = (hn_vec3){-0.5, 0.0, 0.0}; // m
    TRY(hn_model_add_body(model, &link, &left));
    link.name = "right";
    link.position = (hn_vec3){0.5, 0.0, 0.0};
    TRY(hn_model_add_body(model, &link, &right));

    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.name = "hinge";
    hinge.body_a = left;
    hinge.body_b = right;
    hinge.point_a = (hn_vec3){0.0, 0.0, 0.0}; // world frame, start configuration
    hinge.axis_a = (hn_vec3){0.0, 0.0, 1.0};
    hn_joint_id hinge_id;
    TRY(hn_model_add_joint(model, &hinge, &hinge_id));

    // what is not said follows from the joints: the left link is at rest, and so is the hinge point
    TRY(hn_model_set_angular_velocity(model, right, (hn_vec3){0.0, 0.0, 2.0})); // rad/s
    TRY(hn_model_set_velocity(model, right, (hn_vec3){0.0, 1.0, 0.0}));         // m/s

    hn_simulation_def run = hn_simulation_def_default();
    run.scheme = HN_SCHEME_ENERGY_MOMENTUM;
    run.step_size = 1e-3; // s
    TRY(hn_simulation_create(model, &run, &simulation));

    for (int i = 0; i < 10; ++i) {
        TRY(hn_simulation_step(simulation, 1000));
        hn_energy energy;
        hn_vec3 linear, angular;
        hn_joint_state state;
        TRY(hn_simulation_energy(simulation, &energy));
        TRY(hn_simulation_momentum(simulation, &linear, &angular));
        TRY(hn_simulation_joint_state(simulation, hinge_id, &state));
        printf("%6.2f s  %.12f J  %.12f kg m^2/s  hinge %9.4f rad\n",
               hn_simulation_time(simulation), energy.kinetic + energy.potential, angular.z,
               state.coordinates[0]);
    }

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_simulation_destroy(simulation); // destroying NULL is fine
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
