/*
 * events.h - what the application is to hear, in order, until it has fetched and released it.
 */
#ifndef QSM_CORE_EVENTS_H
#define QSM_CORE_EVENTS_H

#include <stdint.h>

#include "core/buffer.h"
#include "qsm.h"

typedef struct {
    qsm_event event;
    qsm_buffer *lent;  /* holds event.data */
    uint64_t *members; /* holds event.members */
} qsm_pending_event;

typedef struct {
    qsm_pending_event *items; /* ring, capacity a power of two */
    uint32_t capacity, first, count;
    uint32_t fetched; /* of those counted, given to the application and not yet released */
} qsm_event_queue;

/* Queues an event and takes over `lent` and `members` (either may be NULL). */
void qsm_post_event(qsm_engine *engine, const qsm_event *event, qsm_buffer *lent,
                    uint64_t *members);
/* The same for a delivery, of which there are many: `lent` holds the data. */
void qsm_post_delivery(qsm_group *group, uint64_t sender, uint64_t view, const uint8_t *data,
                       uint32_t bytes, qsm_buffer *lent);
/* Throws away unfetched events of a group that is being left. */
void qsm_forget_events(qsm_engine *engine, const qsm_group *group);
void qsm_events_free(qsm_event_queue *events);

#endif
