// SPDX-License-Identifier: MIT
// A steel ruler, clamped at one end, falls under its weight; the bending moment at the clamp comes and goes.
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
    hn_simulation *sim = NULL;
    hn_context *ctx = hn_context_create(NULL);
    if (ctx == NULL) return 1;

    hn_model_def world = hn_model_def_default();
    TRY(hn_model_create(ctx, &world, &model));

    hn_beam_material steel = hn_beam_material_default();
    steel.young = 2.1e11;   // Pa
    steel.density = 7850.0; // kg/m^3

    hn_vec3 ends[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}; // m
    hn_beam_def ruler = hn_beam_def_default();
    ruler.name = "ruler";
    ruler.points = ends;
    ruler.point_count = 2;
    ruler.element_count = 16;
    ruler.direction = (hn_vec3){0.0, 1.0, 0.0};                               // d1
    TRY(hn_beam_section_rectangle(ctx, &steel, 0.03, 0.001, &ruler.section)); // m, along d1 and d2
    hn_beam_id beam;
    TRY(hn_model_add_beam(model, &ruler, &beam));

    hn_joint_def clamp = hn_joint_def_default(HN_JOINT_FIXED);
    clamp.body_a = hn_ground();
    clamp.body_b = hn_model_beam_node(model, beam, 0); // nodes are bodies
    hn_joint_id clamp_id;
    TRY(hn_model_add_joint(model, &clamp, &clamp_id));

    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 5e-3; // s
    TRY(hn_simulation_create(model, &run, &sim));
    hn_body_id tip = hn_model_find_body(model, "ruler.tip");
    for (int i = 0; i < 10; ++i) {
        hn_body_state state;
        hn_beam_element_state first;
        TRY(hn_simulation_step(sim, 20));
        TRY(hn_simulation_body_state(sim, tip, &state));
        TRY(hn_simulation_beam_element(sim, beam, 0, &first));
        printf("%4.1f s  tip at %7.4f m, %7.4f N m at the clamp\n", hn_simulation_time(sim),
               state.position.z, first.resultant[3]);
    }

done:
    if (status != HN_OK)
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(ctx));
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(ctx);
    return status == HN_OK ? 0 : 1;
}
