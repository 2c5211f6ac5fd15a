// SPDX-License-Identifier: MIT
// A chain of rods: rod k lies between x = k and x = k + 1, joint k at x = k.
#include "chain.h"

#include <math.h>

// Moments of inertia of a rod of length 1 m and mass 1 kg, slender along x but not without thickness.
static const hn_vec3 ROD_INERTIA = {0.005, 0.085, 0.085};

static hn_status add_links(hn_model *model, hn_joint_kind kind, int count)
{
    const double diagonal = sqrt(0.5);
    hn_body_id before = hn_ground();
    for (int k = 0; k < count; ++k) {
        hn_body_def rod = hn_body_def_default();
        rod.mass = 1.0;
        rod.inertia = ROD_INERTIA;
        rod.position = (hn_vec3){k + 0.5, 0.0, 0.0};
        hn_body_id body;
        hn_status status = hn_model_add_body(model, &rod, &body);
        if (status != HN_OK) return status;

        hn_joint_def link = hn_joint_def_default(kind);
        link.body_a = before;
        link.body_b = body;
        link.point_a = (hn_vec3){k, 0.0, 0.0};
        link.axis_a = k % 2 == 0 ? (hn_vec3){0.0, 1.0, 0.0} : (hn_vec3){0.0, diagonal, diagonal};
        hn_joint_id joint;
        status = hn_model_add_joint(model, &link, &joint);
        if (status != HN_OK) return status;
        before = body;
    }
    return HN_OK;
}

hn_status chain_create(hn_context *context, hn_joint_kind kind, int count, hn_model **model)
{
    hn_model_def def = hn_model_def_default();
    def.name = "chain";
    hn_status status = hn_model_create(context, &def, model);
    if (status != HN_OK) return status;
    status = add_links(*model, kind, count);
    if (status != HN_OK) {
        hn_model_destroy(*model);
        *model = NULL;
    }
    return status;
}
