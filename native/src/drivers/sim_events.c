/* sim_events.c - the heap behind sim_events.h: four children a place, which is kind to caches. */
#include "drivers/sim_events.h"

#include <assert.h>
#include <stdlib.h>

#define CHILDREN 4U

static bool is_before(const qsm_sim_event *one, const qsm_sim_event *other) {
    if (one->at_ns != other->at_ns) return one->at_ns < other->at_ns;
    return one->order < other->order;
}

static bool make_room(qsm_sim_events *events) {
    if (events->count < events->capacity) return true;
    if (events->capacity > UINT32_MAX / 2) return false;
    const uint32_t capacity = events->capacity == 0 ? 256 : events->capacity * 2;
    qsm_sim_event *items = realloc(events->items, capacity * sizeof *items);
    if (items == NULL) return false;
    events->items = items;
    events->capacity = capacity;
    return true;
}

bool qsm_sim_events_push(qsm_sim_events *events, uint64_t at_ns, uint32_t happening, uint32_t node,
                         void *packet) {
    if (!make_room(events)) return false;
    const qsm_sim_event event = {.at_ns = at_ns,
                                 .order = events->order_next++,
                                 .packet = packet,
                                 .node = node,
                                 .happening = happening};
    uint32_t place = events->count++;
    while (place > 0) {
        const uint32_t parent = (place - 1) / CHILDREN;
        if (!is_before(&event, &events->items[parent])) break;
        events->items[place] = events->items[parent];
        place = parent;
    }
    events->items[place] = event;
    return true;
}

uint64_t qsm_sim_events_next_ns(const qsm_sim_events *events) {
    return events->count == 0 ? UINT64_MAX : events->items[0].at_ns;
}

qsm_sim_event qsm_sim_events_pop(qsm_sim_events *events) {
    assert(events->count > 0);
    const qsm_sim_event first = events->items[0];
    const qsm_sim_event moved = events->items[--events->count];
    uint32_t place = 0;
    for (;;) {
        const uint32_t child_first = place * CHILDREN + 1;
        if (child_first >= events->count) break;
        uint32_t child_end = child_first + CHILDREN;
        if (child_end > events->count) child_end = events->count;
        uint32_t least = child_first;
        for (uint32_t child = child_first + 1; child < child_end; child++) {
            if (is_before(&events->items[child], &events->items[least])) least = child;
        }
        if (!is_before(&events->items[least], &moved)) break;
        events->items[place] = events->items[least];
        place = least;
    }
    events->items[place] = moved;
    return first;
}
