#include "sending/outgoing.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/group.h"
#include "sending/scheduler.h"

enum { SERIAL_SHIFT = 40 }; /* each membership has its own range of numbers */

static void number_anew(const qsm_group *group, qsm_outgoing *outgoing) {
    outgoing->next_number = ((uint64_t)group->serial << SERIAL_SHIFT) + 1;
    outgoing->first_in_view = true;
}

qsm_outgoing *qsm_outgoing_make(qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing != NULL) return outgoing;
    group->outgoing = qsm_slab_take(&group->engine->scheduler.outgoing);
    outgoing = qsm_outgoing_of(group);
    if (outgoing == NULL) return NULL;
    outgoing->priority = 1;
    number_anew(group, outgoing);
    return outgoing;
}

qsm_queue *qsm_outgoing_queue(qsm_engine *engine, qsm_outgoing *outgoing) {
    if (outgoing->queue != NULL) return outgoing->queue;
    outgoing->queue = qsm_blocks_take(&engine->blocks, sizeof *outgoing->queue);
    if (outgoing->queue != NULL) *outgoing->queue = (qsm_queue){0};
    return outgoing->queue;
}

void qsm_outgoing_tidy(qsm_engine *engine, qsm_outgoing *outgoing) {
    qsm_queue *queue = outgoing->queue;
    if (queue == NULL || queue->first != NULL || queue->fragments != NULL) return;
    qsm_blocks_give(&engine->blocks, queue, sizeof *queue);
    outgoing->queue = NULL;
}

void qsm_outgoing_drop_fragments(qsm_engine *engine, qsm_outgoing *outgoing) {
    qsm_queue *queue = outgoing->queue;
    if (queue == NULL) return;
    qsm_blocks_give(&engine->blocks, queue->fragments, queue->fragments_bytes);
    queue->fragments = NULL;
    qsm_outgoing_tidy(engine, outgoing);
}

static void drop_queued(qsm_engine *engine, qsm_queue *queue) {
    while (queue != NULL && queue->first != NULL) {
        qsm_queued *next = queue->first->next;
        qsm_blocks_give(&engine->blocks, queue->first, sizeof *next + queue->first->bytes);
        queue->first = next;
    }
}

void qsm_outgoing_free(qsm_group *group) {
    qsm_engine *engine = group->engine;
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing == NULL) return;
    qsm_scheduler_remove(group);
    qsm_watch_forget(group);
    drop_queued(engine, outgoing->queue);
    qsm_outgoing_drop_fragments(engine, outgoing);
    qsm_slab_give(&engine->scheduler.outgoing, group->outgoing);
    group->outgoing = 0;
}

void qsm_outgoing_reset(qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing == NULL) return;
    qsm_watch_forget(group); /* what was sent may have reached nobody */
    outgoing->last_sent_view = 0;
    outgoing->unacknowledged = 0;
    outgoing->flushing = false;
    outgoing->key_made = false;
    qsm_outgoing_drop_fragments(group->engine, outgoing); /* its first part went under another id */
    number_anew(group, outgoing);
}

uint32_t qsm_outgoing_unacknowledged(const qsm_group *group) {
    const qsm_outgoing *outgoing = qsm_outgoing_of(group);
    return outgoing != NULL ? outgoing->unacknowledged : 0;
}

void qsm_outgoing_acknowledged(qsm_group *group, uint32_t messages) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing == NULL) return;
    outgoing->unacknowledged -=
        outgoing->unacknowledged < messages ? outgoing->unacknowledged : messages;
}

/* ---- from the application -------------------------------------------------------------------- */

static qsm_outgoing *prepare_offer(qsm_group *group, uint32_t priority) {
    qsm_outgoing *outgoing = qsm_outgoing_make(group);
    if (outgoing == NULL) return NULL;
    if (outgoing->ready && outgoing->priority != priority) qsm_scheduler_remove(group);
    outgoing->priority = (uint8_t)priority;
    return outgoing;
}

/* Offered already, and at that priority: then what was offered first stays. */
static bool is_offered(const qsm_group *group, uint32_t priority) {
    const qsm_outgoing *outgoing = qsm_outgoing_of(group);
    return outgoing != NULL && outgoing->feeds != QSM_FEEDS_NOTHING && outgoing->ready &&
           outgoing->priority == priority;
}

int qsm_group_offer(qsm_group *group, qsm_feed feed, void *context, uint32_t priority) {
    if (group == NULL || feed == NULL || priority >= QSM_PRIORITIES) return QSM_ERR_ARGUMENT;
    if (is_offered(group, priority)) return QSM_OK;
    qsm_outgoing *outgoing = prepare_offer(group, priority);
    if (outgoing == NULL) return QSM_ERR_NO_MEMORY;
    outgoing->feed.one = feed;
    outgoing->feeds = QSM_FEEDS_ONE;
    outgoing->feed_context = context;
    qsm_scheduler_add(group);
    return QSM_OK;
}

int qsm_group_offer_many(qsm_group *group, qsm_feed_many feed, void *context, uint32_t priority) {
    if (group == NULL || feed == NULL || priority >= QSM_PRIORITIES) return QSM_ERR_ARGUMENT;
    if (is_offered(group, priority)) return QSM_OK;
    qsm_outgoing *outgoing = prepare_offer(group, priority);
    if (outgoing == NULL) return QSM_ERR_NO_MEMORY;
    outgoing->feed.many = feed;
    outgoing->feeds = QSM_FEEDS_MANY;
    outgoing->feed_context = context;
    qsm_scheduler_add(group);
    return QSM_OK;
}

static qsm_queued *copy_of(qsm_engine *engine, const uint8_t *data, uint32_t bytes) {
    qsm_queued *queued = qsm_blocks_take(&engine->blocks, sizeof *queued + bytes);
    if (queued == NULL) return NULL;
    queued->next = NULL;
    queued->bytes = bytes;
    if (bytes) memcpy(queued->data, data, bytes);
    return queued;
}

int qsm_group_send(qsm_group *group, const uint8_t *data, uint32_t bytes) {
    if (group == NULL || (data == NULL && bytes > 0)) return QSM_ERR_ARGUMENT;
    if (bytes > QSM_MESSAGE_BYTES_MAX) return QSM_ERR_TOO_LARGE;
    qsm_outgoing *outgoing = qsm_outgoing_make(group);
    qsm_queue *queue = outgoing != NULL ? qsm_outgoing_queue(group->engine, outgoing) : NULL;
    if (queue == NULL) return QSM_ERR_NO_MEMORY;
    if (queue->count >= QSM_SEND_QUEUE_MAX) {
        outgoing->wants_room = true;
        return QSM_ERR_FULL;
    }
    qsm_queued *queued = copy_of(group->engine, data, bytes);
    if (queued == NULL) {
        qsm_outgoing_tidy(group->engine, outgoing);
        return QSM_ERR_NO_MEMORY;
    }
    if (queue->last != NULL)
        queue->last->next = queued;
    else
        queue->first = queued;
    queue->last = queued;
    queue->count++;
    qsm_scheduler_add(group);
    return QSM_OK;
}

uint32_t qsm_group_unacknowledged(const qsm_group *group) {
    const qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing == NULL) return 0;
    const qsm_queue *queue = outgoing->queue;
    return outgoing->unacknowledged +
           (queue != NULL ? queue->count + (queue->fragments != NULL) : 0);
}
