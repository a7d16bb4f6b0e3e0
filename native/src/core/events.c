#include "core/events.h"

#include <stdlib.h>

#include "core/engine.h"
#include "membership/group.h"

enum { EVENTS_KEPT = 4096 }; /* room that is kept for events when there are none */

/* Where the next event goes; what it holds is given back when there is no memory for it: NULL. */
static qsm_pending_event *place_of_event(qsm_engine *engine, qsm_buffer *lent, uint64_t *members) {
    qsm_event_queue *events = &engine->events;
    if (events->count == events->capacity) {
        uint32_t capacity = events->capacity ? events->capacity * 2 : 64;
        qsm_pending_event *items = malloc(capacity * sizeof *items);
        if (items == NULL) {
            if (lent != NULL) qsm_buffer_release(lent);
            free(members);
            return NULL;
        }
        for (uint32_t i = 0; i < events->count; i++)
            items[i] = events->items[(events->first + i) & (events->capacity - 1)];
        free(events->items);
        events->items = items;
        events->first = 0;
        events->capacity = capacity;
    }
    return &events->items[(events->first + events->count++) & (events->capacity - 1)];
}

static void trace_event(qsm_engine *engine, uint32_t type, uint64_t sender, uint64_t view,
                        uint32_t bytes) {
    qsm_trace_mix(&engine->trace, type ^ sender ^ qsm_rotl64(view, 24) ^ bytes);
}

void qsm_post_event(qsm_engine *engine, const qsm_event *event, qsm_buffer *lent,
                    uint64_t *members) {
    qsm_pending_event *place = place_of_event(engine, lent, members);
    if (place == NULL) return;
    trace_event(engine, event->type, event->sender, event->view, event->bytes);
    *place = (qsm_pending_event){.event = *event, .lent = lent, .members = members};
}

void qsm_post_delivery(qsm_group *group, uint64_t sender, uint64_t view, const uint8_t *data,
                       uint32_t bytes, qsm_buffer *lent) {
    qsm_engine *engine = group->engine;
    qsm_count(engine, QSM_COUNT_messages_delivered);
    qsm_count_add(engine, QSM_COUNT_message_bytes_delivered, bytes);
    qsm_pending_event *place = place_of_event(engine, lent, NULL);
    if (place == NULL) return;
    trace_event(engine, QSM_EVENT_DELIVERY, sender, view, bytes);
    *place = (qsm_pending_event){.event = {.type = QSM_EVENT_DELIVERY,
                                           .group = group,
                                           .user = group->user,
                                           .sender = sender,
                                           .view = view,
                                           .data = data,
                                           .bytes = bytes},
                                 .lent = lent};
}

void qsm_forget_events(qsm_engine *engine, const qsm_group *group) {
    qsm_event_queue *events = &engine->events;
    for (uint32_t i = 0; i < events->count; i++) {
        qsm_pending_event *pending = &events->items[(events->first + i) & (events->capacity - 1)];
        if (pending->event.group == group) pending->event.type = 0; /* passed over when fetched */
    }
}

/* ---- fetching -------------------------------------------------------------------------------- */

int qsm_engine_events(qsm_engine *engine, qsm_event *out, uint32_t count_max) {
    qsm_event_queue *events = &engine->events;
    uint32_t count = 0;
    bool lends = events->fetched > 0;
    while (count < count_max && events->fetched < events->count) {
        qsm_pending_event *pending =
            &events->items[(events->first + events->fetched++) & (events->capacity - 1)];
        if (pending->event.type != 0) out[count++] = pending->event;
    }
    /* All were of groups that have been left: who is given nothing releases nothing. */
    if (count == 0 && !lends) qsm_engine_release(engine);
    return (int)count;
}

void qsm_engine_release(qsm_engine *engine) {
    qsm_event_queue *events = &engine->events;
    for (; events->fetched > 0; events->fetched--) {
        qsm_pending_event *pending = &events->items[events->first];
        if (pending->lent != NULL) qsm_buffer_release(pending->lent);
        free(pending->members);
        events->first = (events->first + 1) & (events->capacity - 1);
        events->count--;
    }
    if (events->count == 0) events->first = 0;                  /* where memory is in the cache */
    if (events->count == 0 && events->capacity > EVENTS_KEPT) { /* a flood of views is over */
        free(events->items);
        *events = (qsm_event_queue){0};
    }
    qsm_delivery *delivery = &engine->delivery;
    if (delivery->arena != NULL && delivery->arena->references == 1) {
        qsm_buffer_release(delivery->arena);
        delivery->arena = NULL;
    }
}

void qsm_events_free(qsm_event_queue *events) {
    for (uint32_t i = 0; i < events->count; i++) {
        qsm_pending_event *pending = &events->items[(events->first + i) & (events->capacity - 1)];
        if (pending->lent != NULL) qsm_buffer_release(pending->lent);
        free(pending->members);
    }
    free(events->items);
}
