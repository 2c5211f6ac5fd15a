// SPDX-License-Identifier: MIT
// Axes of coordinates that joints do not tell. Note: docs/theory/linearisation.md
#include "simulation/motion_axes.h"

static const coordinate_axis *axis_of(const hn_system *system, int index, int k)
{
    return &joint_type_of(system->reports[index].rows.kind)->axes[k];
}

int axes_stage_of_joint(const hn_system *system, frame_axes axes, int index, int k)
{
    const coordinate_axis *axis = axis_of(system, index, k);
    if (axis->home != AXIS_OF_WORLD) return FRAME_STAGE_AXES;
    if (axes != FRAME_AXES_WORLD) return FRAME_STAGE_LAST;
    return axis->turning ? FRAME_STAGE_TURNS : FRAME_STAGE_AXES;
}

void axes_prefer_body(motion_frame *f, frame_axes axes, int index)
{
    const system_joint *report = &f->system->reports[index];
    int body = report->rows.child >= 0 ? report->rows.child : report->rows.parent;
    bool ways = false, turns = false;
    for (int k = 0; k < simulation_joint_coordinate_count(f->system, index); ++k) {
        const coordinate_axis *axis = axis_of(f->system, index, k);
        bool world = axis->home == AXIS_OF_WORLD;
        ways |= world && !axis->turning;
        turns |= world && axis->turning;
    }
    if (axes == FRAME_AXES_WORLD || !(ways || turns)) return;
    for (int k = f->joint_count; k < f->candidate_count; ++k) {
        frame_coordinate *c = &f->candidates[k];
        if (c->body == body && (c->index < 3 ? ways : turns)) c->stage = FRAME_STAGE_TURNS;
    }
}

// ---- who carries whom -------------------------------------------------------------------------------------------

// Bodies that a beam leads to from their parents in the tree
static void find_beams(const hn_system *system, int *on_beam)
{
    if (system->beam_count == 0) return;
    for (int i = system->beam_first[0]; i < system->beam_first[system->beam_count]; ++i) {
        const element *e = &system->elements[i];
        const int nodes[3] = {e->a, e->b, e->points == NULL ? GROUND : e->third};
        for (int x = 0; x < 3; ++x)
            for (int y = 0; y < 3; ++y)
                if (nodes[x] >= 0 && nodes[y] >= 0 && system->parent[nodes[x]] == nodes[y] &&
                    system->joints[nodes[x]].kind == HN_JOINT_FREE)
                    on_beam[nodes[x]] = 1;
    }
}

void axes_find_carriers(const hn_system *system, frame_axes axes, int *carriers)
{
    if (axes != FRAME_AXES_WORLD) find_beams(system, carriers);
    // up along beams, and joints that keep axes, to a body that has axes of its own; parents come first
    for (int i = 0; i < system->body_count; ++i) {
        int parent = system->parent[i], above = parent < 0 ? GROUND : carriers[parent];
        bool carried =
            carriers[i] != 0 || system->joints[i].dof == 0 || !system->bodies[i].has_directors;
        carriers[i] = axes == FRAME_AXES_WORLD ? GROUND : carried ? above : i;
    }
    if (axes != FRAME_AXES_CARRIER) return;
    for (int i = system->body_count - 1; i >= 0; --i) {
        int own = carriers[i], parent = own < 0 ? GROUND : system->parent[own];
        carriers[i] = parent < 0 ? GROUND : carriers[parent];
    }
}

hn_vec3 axis_of_body(const hn_system *system, const double *q, int body, int k)
{
    const hn_vec3 axis = {k == 0, k == 1, k == 2};
    if (body < 0) return axis;
    return pose_direction(system_pose(q, body), mat3_column(&system->bodies[body].user_axes, k));
}
