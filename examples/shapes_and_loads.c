// SPDX-License-Identifier: MIT
// A swing: a body made of shapes, a hinge on the ground with a torsional spring, a spring, and a push in time.
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
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;

    hn_model_def world = hn_model_def_default(); // gravity (0, 0, -9.81)
    TRY(hn_model_create(context, &world, &model));

    // a rod with a ball at its end: mass, centre of mass and inertia follow from the shapes
    hn_shape shapes[2];
    shapes[0] = hn_shape_default(HN_SHAPE_CYLINDER);
    shapes[0].radius = 0.01; // m
    shapes[0].height = 0.5;  // m, along z
    shapes[0].density = 2700.0;
    shapes[1] = hn_shape_default(HN_SHAPE_SPHERE);
    shapes[1].radius = 0.05;
    shapes[1].density = 7800.0;
    shapes[1].position = (hn_vec3){0.0, 0.0, -0.3}; // m, body frame

    hn_body_def swing_def = hn_body_def_default();
    swing_def.name = "swing";
    swing_def.position = (hn_vec3){0.0, 0.0, -0.25}; // the top of the rod is at the world origin
    TRY(hn_body_def_set_shapes(context, &swing_def, shapes, 2));
    hn_body_id swing;
    TRY(hn_model_add_body(model, &swing_def, &swing));

    hn_joint_def pin_def = hn_joint_def_default(HN_JOINT_REVOLUTE);
    pin_def.name = "pin";
    pin_def.body_a = hn_ground();
    pin_def.body_b = swing;
    pin_def.axis_a = (hn_vec3){0.0, 1.0, 0.0};
    hn_joint_id pin;
    TRY(hn_model_add_joint(model, &pin_def, &pin));

    hn_load_id load;
    hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
    torsion.joint = pin;
    torsion.stiffness = 2.0; // N m/rad
    torsion.damping = 0.05;  // N m s/rad
    TRY(hn_model_add_torsion_spring(model, &torsion, &load));

    hn_spring_def spring = hn_spring_def_default();
    spring.body_a = hn_ground();
    spring.body_b = swing;
    spring.point_a = (hn_vec3){1.0, 0.0, -0.5}; // m, world, start configuration
    spring.point_b = (hn_vec3){0.0, 0.0, -0.5};
    spring.stiffness = 20.0;   // N/m
    spring.rest_length = -1.0; // as long as it is at the start
    TRY(hn_model_add_spring(model, &spring, &load));

    hn_load_def push = hn_load_def_default();
    push.name = "push";
    push.body = swing;
    push.vector = (hn_vec3){30.0, 0.0, 0.0}; // N, world axes
    push.point = (hn_vec3){0.0, 0.0, -0.3};  // m, body frame
    push.profile = (hn_profile){.kind = HN_PROFILE_PULSE, .start = 0.0, .peak = 0.1, .end = 0.2};
    TRY(hn_model_add_load(model, &push, &load));

    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 1e-3; // s
    TRY(hn_simulation_create(model, &run, &simulation));
    for (int i = 0; i < 10; ++i) {
        TRY(hn_simulation_step(simulation, 100));
        hn_joint_state state;
        hn_energy energy;
        TRY(hn_simulation_joint_state(simulation, pin, &state));
        TRY(hn_simulation_energy(simulation, &energy));
        // energy minus the work of push and damper stays where it was
        printf("%5.2f s  %8.4f rad  %8.4f rad/s  energy - work %.10f J\n",
               hn_simulation_time(simulation), state.coordinates[0], state.rates[0],
               energy.kinetic + energy.potential - energy.external_work);
    }

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}
