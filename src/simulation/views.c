// SPDX-License-Identifier: MIT
// Bulk views of what is observed, by the names of result series.
#include "simulation/simulation.h"

#include "base/nearest_word.h"

#include <string.h>

int hn_field_count(void)
{
    return SERIES_COUNT;
}

hn_field hn_field_at(int index)
{
    if (index < 0 || index >= SERIES_COUNT) return (hn_field){"", "", ""};
    const series_info *info = series_get((series_id)index);
    return (hn_field){info->full, info->unit, info->meaning};
}

hn_status hn_simulation_view(hn_simulation *s, const char *name, hn_view *view)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, name != NULL && view != NULL);
    *view = (hn_view){0};
    int id = 0;
    while (id < SERIES_COUNT && strcmp(name, series_get((series_id)id)->full) != 0) ++id;
    if (id == SERIES_COUNT) {
        const char *words[SERIES_COUNT];
        for (int k = 0; k < SERIES_COUNT; ++k) words[k] = series_get((series_id)k)->full;
        const char *nearest = nearest_word(name, words, SERIES_COUNT);
        return context_fail(s->context, HN_INVALID_ARGUMENT, "no field '%s'%s%s%s", name,
                            nearest == NULL ? "; hn_field_at lists them" : " (did you mean '",
                            nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?)");
    }
    const series_info *info = series_get((series_id)id);
    TRY(observation_prepare(s, info->observed));
    s->observed.subscribed[info->observed] = true;
    TRY(simulation_observe(s, info->observed));
    size_t dims[3];
    view->data = s->observed.data[id];
    view->rank = series_record_dims(info->shape, &s->observed.extent, dims);
    ptrdiff_t stride = 1;
    for (int k = view->rank - 1; k >= 0; --k) {
        view->shape[k] = dims[k];
        view->strides[k] = stride;
        stride *= (ptrdiff_t)dims[k];
    }
    return HN_OK;
}
