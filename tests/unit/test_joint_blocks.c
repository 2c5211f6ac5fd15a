// SPDX-License-Identifier: MIT
// Blocks of bodies and joints: shortest ways round the loops of a mechanism, and rows as the user has the joints.
#include "physics/ladder.h"
#include "physics/linkage.h"
#include "reductions/joint_blocks.h"

static hn_system *compile(const mechanism *m, const mechanism_variant *v, mechanism_run *x)
{
    hn_system *system = NULL;
    *x = mechanism_build(m, v);
    CHECK_OK(x->r.context, system_create(x->r.context, x->r.model, 1e-3, false, &system));
    return system;
}

static void end(mechanism_run *x, hn_system *system)
{
    system_destroy(system);
    hn_model_destroy(x->r.model);
    hn_context_destroy(x->r.context);
    free(x->body);
    free(x->joint);
}

// Every cycle leads back to where it began, through different joints, and its front is coupled with all of them.
static void check_cycles(const joint_blocks *blocks, int count, int length)
{
    CHECK_EQUAL(blocks->cycle_count, count);
    for (int c = 0; c < count; ++c) {
        const joint_cycle *cycle = &blocks->cycles[c];
        const cycle_joint *way = blocks->way + cycle->first;
        CHECK_EQUAL(cycle->count, length);
        CHECK(way[0].forward);
        int body = blocks->joints[way[0].joint].a, start = body;
        for (int k = 0; k < cycle->count; ++k) {
            const joint_place *p = &blocks->joints[way[k].joint];
            CHECK_EQUAL(way[k].forward ? p->a : p->b, body);
            body = way[k].forward ? p->b : p->a;
            for (int l = 0; l < k; ++l) CHECK(way[l].joint != way[k].joint);
            CHECK(block_lu_block(blocks->lu, blocks->joints[way[0].joint].node, p->node) != NULL);
        }
        CHECK_EQUAL(body, start);
        for (int d = 0; d < c; ++d)
            CHECK(blocks->way[blocks->cycles[d].first].joint != way[0].joint);
    }
}

static joint_blocks create(hn_system *system)
{
    const joint_blocks_options options = {.width = 2, .as_defined = true, .cycles = true};
    joint_blocks blocks;
    int sizes[64];
    CHECK(system->body_count <= 64);
    for (int i = 0; i < system->body_count; ++i) sizes[i] = 12;
    CHECK_OK(system->context, joint_blocks_create(system, sizes, &options, &blocks));
    return blocks;
}

TEST(joint_blocks, a_ladder_has_a_cycle_of_four_joints_for_every_four_bar)
{
    static const int BACKWARDS[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    mechanism m = ladder_mechanism(5, 1.0, false);
    CHECK_EQUAL(m.joint_count, 16);
    for (int order = 0; order < 2; ++order) {
        mechanism_variant v = AS_IT_IS;
        mechanism_run x;
        if (order == 1) v.joint_order = BACKWARDS;
        hn_system *system = compile(&m, &v, &x);
        joint_blocks blocks = create(system);
        check_cycles(&blocks, 5, 4);
        joint_blocks_destroy(&blocks);
        end(&x, system);
    }
    mechanism_destroy(&m);
}

TEST(joint_blocks, a_ring_has_one_cycle)
{
    for (int flying = 0; flying < 2; ++flying) {
        mechanism m = linkage_mechanism(flying == 1);
        mechanism_run x;
        hn_system *system = compile(&m, &AS_IT_IS, &x);
        joint_blocks blocks = create(system);
        check_cycles(&blocks, 1, 6);
        joint_blocks_destroy(&blocks);
        end(&x, system);
        mechanism_destroy(&m);
    }
}

// Whatever is the root and whichever joint is cut: a and b are the user's, with the ground as a.
TEST(joint_blocks, rows_are_those_of_the_user_with_the_ground_as_body_a)
{
    static const int BACKWARDS[10] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    mechanism m = ladder_mechanism(3, 1.0, false);
    CHECK_EQUAL(m.joint_count, 10);
    int turned = 0;
    for (int which = 0; which < 4; ++which) {
        mechanism_variant v = AS_IT_IS;
        v.swap = which % 2 == 1; // feet: the ground is b
        if (which >= 2) v.joint_order = BACKWARDS;
        mechanism_run x;
        hn_system *system = compile(&m, &v, &x);
        joint_blocks blocks = create(system);
        for (int k = 0; k < blocks.joint_count; ++k) {
            const joint_place *p = &blocks.joints[k];
            const joint *user = &system->reports[p->rows->model_joint].rows;
            bool grounded = user->parent < 0 || user->child < 0;
            CHECK_EQUAL(p->rows->row_count, 5);
            CHECK_EQUAL(p->a, grounded ? GROUND : user->parent);
            CHECK_EQUAL(p->b, grounded && user->child < 0 ? user->parent : user->child);
            turned += k < system->body_count && system->joints[k].swapped && !grounded ? 1 : 0;
        }
        joint_blocks_destroy(&blocks);
        end(&x, system);
    }
    CHECK(turned > 0); // the tree had them the other way round
    mechanism_destroy(&m);
}
