// SPDX-License-Identifier: MIT
// Arrays over all members: fields that are looked at, inputs and states that are set.
#include "batch/batch.h"

#include <string.h>

void batch_publish(hn_batch *b, const hn_simulation *s, size_t member)
{
    for (int k = 0; k < b->field_count; ++k) {
        const batch_field *field = &b->fields[k];
        const double *from = s->observed.data[field->id];
        for (size_t i = 0; i < field->width; ++i)
            field->block[i * b->member_count + member] = from[i];
    }
}

static bool inputs_differ(const hn_batch *b, const hn_simulation *s, size_t member)
{
    for (int k = 0; k < b->input_count; ++k) {
        const batch_field *input = &b->inputs[k];
        const double *now = s->inputs.values + input->offset;
        for (size_t i = 0; i < input->width; ++i)
            if (memcmp(&now[i], &input->block[i * b->member_count + member], sizeof now[i]) != 0)
                return true;
    }
    return false;
}

void batch_feed(const hn_batch *b, hn_simulation *s, size_t member)
{
    // the ledger compares with momenta at the start of a step; `variational` finds them from a step that is solved
    // ahead, with the inputs held so far
    if (b->def.ledger && inputs_differ(b, s, member)) simulation_update_momenta(s);
    for (int k = 0; k < b->input_count; ++k) {
        const batch_field *input = &b->inputs[k];
        double *to = s->inputs.values + input->offset;
        for (size_t i = 0; i < input->width; ++i)
            to[i] = input->block[i * b->member_count + member];
    }
}

// Memory of a field and its shape, of which the member is the first dimension.
static hn_status create_block(hn_batch *b, batch_field *field, const size_t *shape)
{
    field->width = 1;
    for (int d = 0; d < field->rank; ++d) {
        field->dims[d] = shape[d];
        field->width *= shape[d];
    }
    field->block = context_allocate(b->context, field->width * b->member_count * sizeof(double));
    return field->block == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

static void describe(const hn_batch *b, const batch_field *field, size_t *shape, ptrdiff_t *strides)
{
    shape[0] = b->member_count;
    strides[0] = 1;
    ptrdiff_t stride = (ptrdiff_t)b->member_count;
    for (int d = field->rank; d > 0; --d) {
        shape[d] = field->dims[d - 1];
        strides[d] = stride;
        stride *= (ptrdiff_t)field->dims[d - 1];
    }
}

// ---- views ------------------------------------------------------------------------------------------

// Let the simulations find the field at every step.
static hn_status subscribe(hn_batch *b, const char *name, hn_view *view)
{
    size_t count = b->resident ? b->member_count : (size_t)b->worker_count;
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
        hn_simulation *s = b->resident ? b->members[i].simulation : b->workers[i].simulation;
        if (s == NULL) continue;
        hn_status status = hn_simulation_view(s, name, view);
        if (status != HN_OK)
            return context_fail(b->context, status, "%s", hn_context_message(s->context));
        any = true;
    }
    return any ? HN_OK : context_fail(b->context, HN_INVALID_ARGUMENT, "no member is there");
}

static bool publish_members(void *user, int worker, size_t first, size_t end)
{
    hn_batch *b = user;
    for (size_t i = first; i < end; ++i) {
        hn_simulation *s = batch_enter(b, worker, i);
        if (s == NULL) continue;
        if (!b->resident && observe_subscribed(s) != HN_OK) continue;
        batch_publish(b, s, i);
    }
    return true;
}

hn_status hn_batch_view_of(hn_batch *b, const char *name, hn_batch_view *view)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, name != NULL && view != NULL);
    *view = (hn_batch_view){0};
    int known = 0;
    while (known < b->field_count && strcmp(name, series_get(b->fields[known].id)->full) != 0)
        ++known;
    batch_field *field = &b->fields[known];
    if (known == b->field_count) {
        hn_view one;
        TRY(subscribe(b, name, &one));
        int id = 0;
        while (strcmp(name, series_get((series_id)id)->full) != 0) ++id;
        *field = (batch_field){.id = (series_id)id, .rank = one.rank};
        TRY(create_block(b, field, one.shape));
        b->field_count++;
        TRY(batch_run(b, publish_members, b));
    }
    view->data = field->block;
    view->rank = field->rank + 1;
    describe(b, field, view->shape, view->strides);
    return HN_OK;
}

// ---- inputs -----------------------------------------------------------------------------------------

// What a member has so far: zero, or none.
static void take_inputs(hn_batch *b, const batch_field *input, size_t member)
{
    const hn_simulation *s = batch_enter(b, 0, member);
    for (size_t i = 0; s != NULL && i < input->width; ++i)
        input->block[i * b->member_count + member] = s->inputs.values[input->offset + i];
}

hn_status hn_batch_input_of(hn_batch *b, const char *name, hn_batch_input *input)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, name != NULL && input != NULL);
    *input = (hn_batch_input){0};
    hn_simulation *s = b->workers[0].simulation;
    for (size_t i = 0; s == NULL; ++i) s = b->members[i].simulation;
    hn_input one;
    hn_status status = hn_simulation_input(s, name, &one);
    if (status != HN_OK)
        return context_fail(b->context, status, "%s", hn_context_message(s->context));
    size_t offset = (size_t)(one.data - s->inputs.values);
    int known = 0;
    while (known < b->input_count &&
           (b->inputs[known].offset != offset || b->inputs[known].rank != one.rank))
        ++known;
    batch_field *field = &b->inputs[known];
    if (known == b->input_count) {
        *field = (batch_field){.offset = offset, .rank = one.rank};
        TRY(create_block(b, field, one.shape));
        for (size_t i = 0; i < b->member_count; ++i) take_inputs(b, field, i);
        b->input_count++;
    }
    input->data = field->block;
    input->rank = field->rank + 1;
    describe(b, field, input->shape, input->strides);
    return HN_OK;
}

// ---- states that are set ----------------------------------------------------------------------------

typedef struct setting {
    hn_batch *batch;
    const bool *chosen; // NULL: all
    const double *coordinates, *rates;
    const hn_body_values *bodies; // NULL: joints are set
} setting;

// One member's numbers out of a block for each; NULL where there is no block.
static const double *gather(const hn_batch *b, const double *blocks, size_t width, size_t member,
                            double **scratch)
{
    if (blocks == NULL) return NULL;
    double *numbers = *scratch;
    for (size_t i = 0; i < width; ++i) numbers[i] = blocks[i * b->member_count + member];
    *scratch += width;
    return numbers;
}

static hn_status set_member(const setting *set, hn_simulation *s, int worker, size_t member)
{
    const hn_batch *b = set->batch;
    double *scratch = b->workers[worker].scratch;
    if (set->bodies == NULL) {
        size_t n = (size_t)b->coordinate_count;
        const double *coordinates = gather(b, set->coordinates, n, member, &scratch),
                     *rates = gather(b, set->rates, n, member, &scratch);
        return hn_simulation_set_joints(s, coordinates, rates, b->coordinate_count);
    }
    size_t n = (size_t)b->body_count;
    const hn_body_values *all = set->bodies;
    hn_body_values one = {
        .position = gather(b, all->position, 3 * n, member, &scratch),
        .orientation = gather(b, all->orientation, 9 * n, member, &scratch),
        .velocity = gather(b, all->velocity, 3 * n, member, &scratch),
        .angular_velocity = gather(b, all->angular_velocity, 3 * n, member, &scratch),
    };
    return hn_simulation_set_bodies(s, &one, b->body_count);
}

static bool set_members(void *user, int worker, size_t first, size_t end)
{
    const setting *set = user;
    hn_batch *b = set->batch;
    for (size_t i = first; i < end; ++i) {
        if (set->chosen != NULL && !set->chosen[i]) continue;
        hn_simulation *s = batch_enter(b, worker, i);
        if (s == NULL) continue; // it could not be made, and has said so
        hn_status status = set_member(set, s, worker, i);
        batch_note(b, i, status, s->context);
        if (status != HN_OK) continue;
        b->members[i].owed = 0;
        batch_publish(b, s, i);
        batch_leave(b, worker, i);
    }
    return true;
}

static hn_status run_setting(hn_batch *b, setting *set)
{
    TRY(batch_run(b, set_members, set));
    return batch_failures(b);
}

hn_status hn_batch_set_joints(hn_batch *b, const double *coordinates, const double *rates,
                              int count, const bool *chosen)
{
    REQUIRE(NULL, b != NULL);
    if (count != b->coordinate_count)
        return context_fail(b->context, HN_INVALID_ARGUMENT,
                            "there are %d joint coordinates, not %d", b->coordinate_count, count);
    setting set = {.batch = b, .chosen = chosen, .coordinates = coordinates, .rates = rates};
    return run_setting(b, &set);
}

hn_status hn_batch_set_bodies(hn_batch *b, const hn_body_values *values, int body_count,
                              const bool *chosen)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, values != NULL);
    if (body_count != b->body_count)
        return context_fail(b->context, HN_INVALID_ARGUMENT, "there are %d bodies, not %d",
                            b->body_count, body_count);
    setting set = {.batch = b, .chosen = chosen, .bodies = values};
    return run_setting(b, &set);
}
