#include "sending/scheduler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/region.h"
#include "receiving/delivery.h"
#include "sending/outgoing.h"
#include "sending/packing.h"
#include "sending/sender.h"

enum {
    BLOCKED_MAX = 8,
    /* That a group sends before it is another's turn: what it takes to find it is shared
     * by so much, and it takes less than twenty microseconds. */
    TURN_BYTES = 16384
};

typedef struct {
    qsm_engine *engine;
    qsm_packing packing;
    /* Regions whose window is full or whose rate is used up. When those are all that there are, the
     * other groups need not be asked; with more than fit here they are. */
    const qsm_region *blocked[BLOCKED_MAX];
    uint32_t blocked_count, region_count;
    uint32_t packets_max;
    uint64_t end; /* bytes of messages sent in this engine's life at which it is enough */
} filling;

static qsm_group *after(const qsm_group *group) {
    return qsm_group_at(group->engine, qsm_outgoing_of(group)->ready_next);
}

void qsm_scheduler_add(qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing->ready) return;
    qsm_group **last = &group->engine->scheduler.last[outgoing->priority];
    if (*last == NULL) {
        outgoing->ready_next = group->number;
    } else {
        outgoing->ready_next = qsm_outgoing_of(*last)->ready_next;
        qsm_outgoing_of(*last)->ready_next = group->number;
    }
    *last = group;
    outgoing->ready = true;
    group->engine->scheduler.count[outgoing->priority]++;
    group->engine->scheduler.blocked_until_ns = 0;
}

void qsm_scheduler_remove(qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (!outgoing->ready) return;
    qsm_group **last = &group->engine->scheduler.last[outgoing->priority];
    qsm_group *before = *last;
    while (after(before) != group)
        before = after(before);
    if (before == group)
        *last = NULL;
    else {
        qsm_outgoing_of(before)->ready_next = outgoing->ready_next;
        if (*last == group) *last = before;
    }
    outgoing->ready = false;
    outgoing->ready_next = 0;
    group->engine->scheduler.count[outgoing->priority]--;
}

void qsm_scheduler_unblock(qsm_engine *engine) {
    engine->scheduler.blocked_until_ns = 0;
}

uint64_t qsm_scheduler_deadline_ns(const qsm_engine *engine) {
    bool any = false;
    for (uint32_t p = 0; p < QSM_PRIORITIES; p++)
        any = any || engine->scheduler.last[p] != NULL;
    if (!any) return UINT64_MAX;
    return engine->scheduler.blocked_until_ns;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void note_blocked(filling *fill, const qsm_region *region) {
    for (uint32_t i = 0; i < fill->blocked_count; i++)
        if (fill->blocked[i] == region) return;
    if (fill->blocked_count < BLOCKED_MAX) fill->blocked[fill->blocked_count++] = region;
}

/* Regions that groups are mapped to and that may be sent into. */
static uint32_t count_regions(const qsm_engine *engine) {
    uint32_t count = 0, cursor = 0;
    for (const qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        count += region->uses > 0 && !region->closing;
    return count;
}

/* Can a message of the group be sent now? Notes when to look again if not. */
static bool can_send(filling *fill, const qsm_group *group, qsm_outgoing *outgoing) {
    qsm_engine *engine = fill->engine;
    qsm_region *const *regions = qsm_group_regions(group);
    if (group->view == 0 || group->held || group->broken) return false;
    if (outgoing->flushing && outgoing->unacknowledged > 0) return false;
    outgoing->flushing = false;
    /* Each region may need a fresh packet; a message must not get stuck half way. */
    uint64_t needed =
        (uint64_t)(group->region_count + QSM_OPEN_PACKETS) * 2 * QSM_LARGE_BUFFER_BYTES;
    if (engine->pool.bytes_used + needed > engine->pool.bytes_max) return false;
    for (uint32_t i = 0; i < group->region_count; i++) {
        if (regions[i]->closing) return false; /* a new view is on its way */
        qsm_sender *sender = qsm_sender_of(regions[i]);
        if (sender == NULL || sender->fin) return false;
        if (!qsm_sender_has_room(sender)) {
            qsm_count(engine, QSM_COUNT_window_full);
            note_blocked(fill, regions[i]);
            return false;
        }
        if (!qsm_rate_allows(&sender->rate, engine->now_ns)) {
            uint64_t next = qsm_rate_next_ns(&sender->rate);
            if (next < engine->scheduler.blocked_until_ns)
                engine->scheduler.blocked_until_ns = next;
            note_blocked(fill, regions[i]);
            return false;
        }
    }
    return true;
}

/* Sends the next part of a message that is longer than a packet. */
static bool put_fragment(filling *fill, qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    qsm_queue *queue = outgoing->queue;
    uint32_t max = qsm_packing_bytes_max(fill->engine, group);
    uint32_t left = queue->fragments_bytes - queue->fragments_at;
    uint32_t part = left < max ? left : max;
    uint8_t flags = (uint8_t)((queue->fragments_at > 0 ? QSM_MESSAGE_CONTINUES : 0) |
                              (part < left ? QSM_MESSAGE_MORE : 0));
    if (!qsm_packing_put(&fill->packing, group, queue->fragments + queue->fragments_at, part,
                         flags))
        return false;
    queue->fragments_at += part;
    if (queue->fragments_at == queue->fragments_bytes)
        qsm_outgoing_drop_fragments(fill->engine, outgoing);
    return true;
}

/* Begins a message that is longer than a packet. */
static bool put_first_fragment(filling *fill, qsm_group *group, const uint8_t *plain,
                               uint32_t bytes) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    qsm_queue *queue = qsm_outgoing_queue(fill->engine, outgoing);
    if (queue == NULL) return false;
    queue->fragments = qsm_blocks_take(&fill->engine->blocks, bytes);
    queue->fragments_bytes = bytes;
    queue->fragments_at = 0;
    if (queue->fragments != NULL) {
        memcpy(queue->fragments, plain, bytes);
        if (put_fragment(fill, group)) return true;
    }
    qsm_outgoing_drop_fragments(fill->engine, outgoing);
    return false;
}

static bool put_whole(filling *fill, qsm_group *group, const uint8_t *plain, uint32_t bytes) {
    qsm_engine *engine = fill->engine;
    bool put = bytes > qsm_packing_bytes_max(engine, group)
                   ? put_first_fragment(fill, group, plain, bytes)
                   : qsm_packing_put(&fill->packing, group, plain, bytes, 0);
    if (!put) return false;
    qsm_count(engine, QSM_COUNT_messages_sent);
    qsm_count_add(engine, QSM_COUNT_message_bytes_sent, bytes);
    qsm_delivery_own(group, group->view, plain, bytes);
    return true;
}

static bool put_queued(filling *fill, qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    qsm_queue *queue = outgoing->queue;
    qsm_queued *queued = queue->first;
    if (!put_whole(fill, group, queued->data, queued->bytes)) return false;
    queue->first = queued->next;
    if (queue->first == NULL) queue->last = NULL;
    queue->count--;
    qsm_blocks_give(&fill->engine->blocks, queued, sizeof *queued + queued->bytes);
    if (outgoing->wants_room && queue->count <= QSM_SEND_QUEUE_MAX / 2) {
        outgoing->wants_room = false;
        qsm_event event = {.type = QSM_EVENT_WRITABLE, .group = group, .user = group->user};
        qsm_post_event(fill->engine, &event, NULL, NULL);
    }
    qsm_outgoing_tidy(fill->engine, outgoing);
    return true;
}

/* Pulls one message from the feed. A feed that has nothing is forgotten; true means that one was
 * sent. */
static bool put_pulled(filling *fill, qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    qsm_pulled pulled = {.bytes = -1};
    qsm_feed feed = outgoing->feed.one;
    void *context = outgoing->feed_context;
    outgoing->feeds = QSM_FEEDS_NOTHING; /* it may offer itself again while it is being asked */
    fill->engine->scheduler.pulled = group;
    feed(context, QSM_MESSAGE_BYTES_MAX, &pulled);
    if (fill->engine->scheduler.pulled != group) return false; /* the feed has left the group */
    fill->engine->scheduler.pulled = NULL;
    if (pulled.bytes < 0 || pulled.bytes > QSM_MESSAGE_BYTES_MAX ||
        (pulled.data == NULL && pulled.bytes > 0))
        return false;
    outgoing->feeds = QSM_FEEDS_ONE;
    outgoing->feed.one = feed;
    outgoing->feed_context = context;
    if (put_whole(fill, group, pulled.data, (uint32_t)pulled.bytes)) return true;
    /* No memory for it now; the message would be lost, so it waits in the queue. */
    qsm_group_send(group, pulled.data, (uint32_t)pulled.bytes);
    return false;
}

static bool has_fragments(const qsm_outgoing *outgoing) {
    return outgoing->queue != NULL && outgoing->queue->fragments != NULL;
}

/* Sends as many of these as can go now; the others wait in the queue. True when any was sent. */
static bool put_many(filling *fill, qsm_group *group, const qsm_pulled_many *pulled) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    const uint8_t *at = pulled->data;
    bool sent = false, open = true;
    for (uint32_t i = 0; i < pulled->count; at += pulled->bytes[i++]) {
        if (pulled->bytes[i] > QSM_MESSAGE_BYTES_MAX) continue;
        open = open && !has_fragments(outgoing) && (i == 0 || can_send(fill, group, outgoing)) &&
               put_whole(fill, group, at, pulled->bytes[i]);
        sent = sent || open;
        if (!open) qsm_group_send(group, at, pulled->bytes[i]);
    }
    return sent;
}

/* The same from a feed that gives several messages at once. */
static bool put_pulled_many(filling *fill, qsm_group *group) {
    qsm_pulled_many pulled = {0};
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    qsm_feed_many feed = outgoing->feed.many;
    void *context = outgoing->feed_context;
    outgoing->feeds = QSM_FEEDS_NOTHING; /* it may offer itself again while it is being asked */
    fill->engine->scheduler.pulled = group;
    feed(context, QSM_MESSAGE_BYTES_MAX, QSM_PULLED_MAX, &pulled);
    if (fill->engine->scheduler.pulled != group) return false; /* the feed has left the group */
    fill->engine->scheduler.pulled = NULL;
    if (pulled.count == 0 || pulled.count > QSM_PULLED_MAX || pulled.bytes == NULL ||
        pulled.data == NULL)
        return false;
    outgoing->feeds = QSM_FEEDS_MANY;
    outgoing->feed.many = feed;
    outgoing->feed_context = context;
    return put_many(fill, group, &pulled);
}

/* One message of the group, or what a feed gives at once. False: it has nothing, or cannot send
 * now.
 */
static bool serve(filling *fill, qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (!can_send(fill, group, outgoing)) return false;
    if (has_fragments(outgoing)) return put_fragment(fill, group);
    if (outgoing->queue != NULL && outgoing->queue->first != NULL) return put_queued(fill, group);
    if (outgoing->feeds == QSM_FEEDS_ONE) return put_pulled(fill, group);
    if (outgoing->feeds == QSM_FEEDS_MANY) return put_pulled_many(fill, group);
    return false;
}

static bool wants_more(const qsm_group *group) {
    const qsm_outgoing *outgoing = qsm_outgoing_of(group);
    return outgoing->queue != NULL || outgoing->feeds != QSM_FEEDS_NOTHING;
}

/* Both lines of the cache of what is looked at next. */
static void fetch_lines(const void *next) {
    __builtin_prefetch(next);
    __builtin_prefetch((const uint8_t *)next + 64);
}

/* As much as is made at once. */
static bool is_enough(const filling *fill) {
    return fill->engine->outbox[QSM_CLASS_DATA].count >= fill->packets_max ||
           fill->engine->counters[QSM_COUNT_message_bytes_sent] >= fill->end;
}

/* The turn of the group that is first in its circle: some messages, so that what it takes to look
 * at a group is shared by several of them; a whole packet, where packets are long, so that they are
 * sealed as one. True when it had any. */
static bool take_turn(filling *fill, uint32_t priority) {
    qsm_engine *engine = fill->engine;
    qsm_scheduler *scheduler = &engine->scheduler;
    qsm_group *group = after(scheduler->last[priority]);
    fetch_lines(after(group));
    const uint64_t *sent = &engine->counters[QSM_COUNT_message_bytes_sent];
    uint32_t packet = engine->config.data_bytes_max;
    uint64_t end = *sent + (packet > TURN_BYTES ? packet : TURN_BYTES);
    bool any = false;
    while (serve(fill, group)) {
        any = true;
        if (*sent >= end || is_enough(fill)) break;
        /* A feed may have left the group, or moved it. */
        if (scheduler->last[priority] == NULL || after(scheduler->last[priority]) != group) break;
        if (!wants_more(group)) break;
    }
    if (scheduler->last[priority] != NULL && after(scheduler->last[priority]) == group)
        fetch_lines(qsm_outgoing_of(after(group)));
    return any;
}

void qsm_scheduler_fill(qsm_engine *engine, uint32_t packets_max) {
    qsm_scheduler *scheduler = &engine->scheduler;
    if (qsm_scheduler_deadline_ns(engine) > engine->now_ns || engine->client.suspended) return;
    scheduler->blocked_until_ns = UINT64_MAX;
    filling fill; /* large: only what is used is set */
    fill.engine = engine;
    fill.blocked_count = 0;
    fill.packets_max = packets_max;
    fill.end = engine->counters[QSM_COUNT_message_bytes_sent] + QSM_FILL_BYTES_MAX;
    qsm_packing_begin(&fill.packing, engine);
    fill.region_count = count_regions(engine);
    for (uint32_t p = 0; p < QSM_PRIORITIES; p++) {
        uint32_t idle = 0; /* groups in a row that could not send: a whole circle ends the round */
        while (scheduler->last[p] != NULL && idle < scheduler->count[p] && !is_enough(&fill)) {
            qsm_group *group = after(scheduler->last[p]);
            if (take_turn(&fill, p))
                idle = 0;
            else
                idle++;
            if (fill.blocked_count > 0 && fill.blocked_count == fill.region_count) break;
            if (scheduler->last[p] == NULL || after(scheduler->last[p]) != group) continue;
            if (!wants_more(group)) {
                qsm_scheduler_remove(group);
                idle = 0;
            } else {
                scheduler->last[p] = group; /* the next one's turn */
            }
        }
    }
    qsm_packing_end(&fill.packing);
    if (is_enough(&fill)) scheduler->blocked_until_ns = 0;
}
