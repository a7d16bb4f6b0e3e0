#include "sending/scheduler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/region.h"
#include "receiving/delivery.h"
#include "sending/sender.h"

/* A packet being filled with messages for one region (or, for a group with an address of its own,
 * for several). */
typedef struct {
    qsm_region *regions[QSM_REGION_HEADERS_MAX];
    uint32_t region_count;
    qsm_address to; /* the group's own address; family NONE: the region's */
    qsm_buffer *buffer;
    uint32_t sealed_offset; /* where the first sealed message begins */
    uint32_t sealed_bytes;
    bool wide;
    bool mixed;          /* has messages of several groups; else of this one: */
    uint32_t only_group; /* handle: the group itself may be left meanwhile */
    uint32_t only_serial;
    uint64_t first_stamp; /* of its first message */
    qsm_data data;
    uint8_t tags[QSM_PACKET_MESSAGES_MAX][QSM_TAG_BYTES];
} open_packet;

enum {
    BLOCKED_MAX = 8,
    OPEN_MAX = 4,     /* regions whose packets are filled side by side within one call */
    TURN_BYTES = 8192 /* that a group sends before it is another's turn */
};

typedef struct {
    qsm_engine *engine;
    open_packet packets[OPEN_MAX];
    uint32_t count;
    uint32_t made;
    /* Packets of equal front length whose tags are made together. */
    qsm_buffer *untagged[QSM_TAGS_AT_ONCE];
    uint32_t untagged_count, untagged_front;
    /* Regions whose window is full or whose rate is used up. When those are all that there are, the
     * other groups need not be asked; with more than fit here they are. */
    const qsm_region *blocked[BLOCKED_MAX];
    uint32_t blocked_count, region_count;
} filling;

void qsm_scheduler_add(qsm_group *group) {
    if (group->ready) return;
    qsm_group **last = &group->engine->scheduler.last[group->priority];
    if (*last == NULL) {
        group->ready_next = group;
    } else {
        group->ready_next = (*last)->ready_next;
        (*last)->ready_next = group;
    }
    *last = group;
    group->ready = true;
    group->engine->scheduler.count[group->priority]++;
    group->engine->scheduler.blocked_until_ns = 0;
}

void qsm_scheduler_remove(qsm_group *group) {
    if (!group->ready) return;
    qsm_group **last = &group->engine->scheduler.last[group->priority];
    qsm_group *before = *last;
    while (before->ready_next != group)
        before = before->ready_next;
    if (before == group)
        *last = NULL;
    else {
        before->ready_next = group->ready_next;
        if (*last == group) *last = before;
    }
    group->ready = false;
    group->ready_next = NULL;
    group->engine->scheduler.count[group->priority]--;
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

/* ---- packets --------------------------------------------------------------------------------- */

static void tag_all(filling *fill) {
    const qsm_scope_keys *keys = &fill->engine->keys;
    const uint8_t *packets[QSM_TAGS_AT_ONCE];
    uint8_t tags[QSM_TAGS_AT_ONCE][QSM_TAG_BYTES];
    for (uint32_t i = 0; i < fill->untagged_count; i++)
        packets[i] = fill->untagged[i]->data;
    if (fill->untagged_count == 0) return;
    qsm_packet_tags(keys, packets, fill->untagged_count, fill->untagged_front, tags);
    for (uint32_t i = 0; i < fill->untagged_count; i++) {
        qsm_packet_set_tag(fill->untagged[i]->data, tags[i]);
        qsm_buffer_release(fill->untagged[i]);
    }
    fill->untagged_count = 0;
}

/* Before the call of the engine ends the packet gets its tag. */
static void tag_later(filling *fill, qsm_buffer *buffer, uint32_t front) {
    if (fill->untagged_count > 0 && fill->untagged_front != front) tag_all(fill);
    qsm_buffer_retain(buffer);
    fill->untagged[fill->untagged_count++] = buffer;
    fill->untagged_front = front;
    if (fill->untagged_count == QSM_TAGS_AT_ONCE) tag_all(fill);
}

/* Few messages were there to be packed: what is kept until it is stable need not take more. */
static void move_to_small_buffer(qsm_engine *engine, open_packet *open, uint32_t bytes) {
    qsm_buffer *small = qsm_pool_take(&engine->pool, QSM_SMALL_BUFFER_BYTES);
    if (small == NULL) return;
    memcpy(small->data, open->buffer->data, bytes);
    qsm_buffer_release(open->buffer);
    open->buffer = small;
}

static void finish_packet(filling *fill, open_packet *open) {
    qsm_engine *engine = fill->engine;
    if (open->buffer == NULL) return;
    if (open->data.message_count == 0) { /* its first message could not be sealed */
        qsm_buffer_release(open->buffer);
        open->buffer = NULL;
        return;
    }
    open->data.sender = engine->id;
    open->data.region_count = (uint8_t)open->region_count;
    for (uint32_t i = 0; i < open->region_count; i++)
        open->data.regions[i] = (qsm_region_header){.region = open->regions[i]->uid,
                                                    .sequence = open->regions[i]->sender->high + 1,
                                                    .stable = open->regions[i]->sender->stable};
    for (uint32_t i = 0; i < open->data.message_count; i++)
        open->data.messages[i].tag = open->tags[i];
    open->data.side = qsm_side(engine);
    uint32_t bytes = qsm_data_write(NULL, open->buffer->data, open->buffer->capacity, &open->data,
                                    open->buffer->data + open->sealed_offset);
    assert(bytes > 0 && bytes <= engine->config.data_bytes_max);
    if (bytes <= QSM_SMALL_BUFFER_BYTES && open->buffer->capacity > QSM_SMALL_BUFFER_BYTES)
        move_to_small_buffer(engine, open, bytes);
    tag_later(fill, open->buffer, bytes - open->sealed_bytes);
    qsm_slice packet = {.buffer = open->buffer, .bytes = bytes};
    qsm_count(engine, QSM_COUNT_packets_sent);
    for (uint32_t i = 0; i < open->region_count; i++) {
        bool kept = qsm_sender_keep(open->regions[i]->sender, open->buffer, bytes, open->wide,
                                    open->first_stamp, engine->scheduler.stamp);
        assert(kept); /* room was made before the first message went in */
        (void)kept;
        if (!open->mixed)
            qsm_sender_keep_note(open->regions[i]->sender, open->only_group, open->only_serial,
                                 open->data.message_count);
        if (!qsm_address_is_set(&open->to))
            qsm_region_multicast(open->regions[i], QSM_CLASS_DATA, &packet);
    }
    if (qsm_address_is_set(&open->to)) qsm_post_packet(engine, QSM_CLASS_DATA, &open->to, &packet);
    qsm_buffer_release(open->buffer);
    open->buffer = NULL;
    fill->made++;
}

static void finish_all(filling *fill) {
    for (uint32_t i = 0; i < fill->count; i++)
        finish_packet(fill, &fill->packets[i]);
    fill->count = 0;
    tag_all(fill);
}

static uint32_t room_in(const filling *fill, const open_packet *open, bool first) {
    if (open->data.message_count == QSM_PACKET_MESSAGES_MAX) return 0;
    uint32_t used = qsm_data_front_bytes(&open->data) + open->sealed_bytes +
                    QSM_MESSAGE_HEADER_BYTES + (first ? QSM_MESSAGE_FIRST_BYTES : 0);
    uint32_t max = fill->engine->config.data_bytes_max;
    return used < max ? max - used : 0;
}

/* The packet being filled for exactly these regions, begun when there is none. NULL when memory is
 * short. */
static open_packet *packet_for(filling *fill, qsm_region **regions, uint32_t region_count,
                               const qsm_address *to) {
    for (uint32_t i = 0; i < fill->count; i++) {
        open_packet *open = &fill->packets[i];
        if (open->buffer != NULL && open->region_count == region_count &&
            memcmp(open->regions, regions, region_count * sizeof *regions) == 0 &&
            qsm_address_equal(&open->to, to))
            return open;
    }
    open_packet *open = NULL;
    for (uint32_t i = 0; i < fill->count && open == NULL; i++)
        if (fill->packets[i].buffer == NULL) open = &fill->packets[i];
    if (open == NULL && fill->count < OPEN_MAX) {
        open = &fill->packets[fill->count++];
        open->buffer = NULL;
    }
    if (open == NULL) {
        open = &fill->packets[fill->made % OPEN_MAX];
        finish_packet(fill, open);
    }
    /* Not the whole of it: it is large, and made for each packet. */
    open->region_count = region_count;
    open->to = *to;
    open->sealed_bytes = 0;
    open->wide = false;
    open->data.flags = 0;
    open->data.message_count = 0;
    open->data.hole_count = 0;
    memcpy(open->regions, regions, region_count * sizeof *regions);
    open->data.region_count = (uint8_t)region_count;
    open->buffer = qsm_pool_take(&fill->engine->pool, fill->engine->config.data_bytes_max);
    if (open->buffer == NULL) return NULL;
    return open;
}

/* Where the next sealed message goes. The first is put behind the table that the packet will have
 * when it is filled with messages like it: then nothing has to be moved in the end. */
static uint8_t *place_in(const filling *fill, open_packet *open, uint32_t bytes) {
    uint32_t front = qsm_data_front_bytes(&open->data);
    if (open->data.message_count == 0) {
        uint32_t most =
            (fill->engine->config.data_bytes_max - front) / (QSM_MESSAGE_HEADER_BYTES + bytes);
        if (most > QSM_PACKET_MESSAGES_MAX) most = QSM_PACKET_MESSAGES_MAX;
        open->sealed_offset = front + (most > 0 ? most : 1) * QSM_MESSAGE_HEADER_BYTES;
    } else if (open->sealed_offset + open->sealed_bytes + bytes > open->buffer->capacity) {
        memmove(open->buffer->data + front, open->buffer->data + open->sealed_offset,
                open->sealed_bytes); /* a longer one after short ones: as tight as can be */
        open->sealed_offset = front;
    }
    return open->buffer->data + open->sealed_offset + open->sealed_bytes;
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
static bool can_send(filling *fill, qsm_group *group) {
    qsm_engine *engine = fill->engine;
    if (group->view == 0 || group->held || group->broken) return false;
    if (group->flushing && group->unacknowledged > 0) return false;
    group->flushing = false;
    /* Each region may need a fresh packet; a message must not get stuck half way. */
    uint64_t needed = (uint64_t)(group->region_count + OPEN_MAX) * 2 * QSM_LARGE_BUFFER_BYTES;
    if (engine->pool.bytes_used + needed > engine->pool.bytes_max) return false;
    for (uint32_t i = 0; i < group->region_count; i++) {
        if (group->regions[i]->closing) return false; /* a new view is on its way */
        qsm_sender *sender = qsm_sender_of(group->regions[i]);
        if (sender == NULL || sender->fin) return false;
        if (!qsm_sender_has_room(sender)) {
            qsm_count(engine, QSM_COUNT_window_full);
            note_blocked(fill, group->regions[i]);
            return false;
        }
        if (!qsm_rate_allows(&sender->rate, engine->now_ns)) {
            uint64_t next = qsm_rate_next_ns(&sender->rate);
            if (next < engine->scheduler.blocked_until_ns)
                engine->scheduler.blocked_until_ns = next;
            note_blocked(fill, group->regions[i]);
            return false;
        }
    }
    return true;
}

/* AES when everybody in all the group's regions can open it. */
static bool uses_aes(const qsm_group *group) {
    for (uint32_t i = 0; i < group->region_count; i++)
        if (!group->regions[i]->aes) return false;
    return group->engine->ready_keys.kind != QSM_AES_NONE;
}

static bool seal(qsm_group *group, const qsm_message *message, const uint8_t *plain,
                 uint8_t *sealed, uint8_t tag[QSM_TAG_BYTES]) {
    qsm_engine *engine = group->engine;
    if (message->flags & QSM_MESSAGE_AES) {
        const uint8_t *secret =
            qsm_sender_key_get(&group->own_key, group->keys.used.key, group->id, engine->id);
        return qsm_message_seal_aes(&engine->ready_keys, secret, message->number, message->flags,
                                    message->epoch, plain, message->bytes, sealed, tag);
    }
    qsm_seal_identity identity = {.group_id = group->id,
                                  .sender = engine->id,
                                  .number = message->number,
                                  .flags = message->flags,
                                  .epoch = message->epoch};
    qsm_message_seal(group->keys.used.key, &identity, plain, message->bytes, sealed, tag);
    return true;
}

/* Seals one message (or fragment) once and puts it into the packets of all regions of the group. */
static bool put_message(filling *fill, qsm_group *group, const uint8_t *plain, uint32_t bytes,
                        uint8_t flags) {
    bool first = group->first_in_view;
    bool hybrid =
        qsm_address_is_set(&group->hybrid) && group->region_count <= QSM_REGION_HEADERS_MAX;
    if (first && !QSM_BUG(12)) flags |= QSM_MESSAGE_FIRST;
    if (group->region_count > 1) flags |= QSM_MESSAGE_WIDE;
    if (uses_aes(group)) flags |= QSM_MESSAGE_AES;
    qsm_message message = {.group = group->handle,
                           .view = group->view,
                           .number = group->next_number,
                           .previous = group->last_sent_view,
                           .bytes = (uint16_t)bytes,
                           .flags = flags,
                           .epoch = (uint8_t)group->keys.used.epoch};
    uint8_t tag[QSM_TAG_BYTES];
    fill->engine->scheduler.stamp++;
    uint32_t steps = hybrid ? 1 : group->region_count;
    uint8_t shared[QSM_DATA_BYTES_MAX]; /* sealed once, copied into the packets of several
                                               regions */
    if (steps > 1 && !seal(group, &message, plain, shared, tag)) return false;
    for (uint32_t i = 0; i < steps; i++) {
        qsm_address nowhere = {0};
        open_packet *open =
            packet_for(fill, hybrid ? group->regions : &group->regions[i],
                       hybrid ? group->region_count : 1, hybrid ? &group->hybrid : &nowhere);
        if (open != NULL && room_in(fill, open, first) < bytes) {
            finish_packet(fill, open);
            open = packet_for(fill, hybrid ? group->regions : &group->regions[i],
                              hybrid ? group->region_count : 1, hybrid ? &group->hybrid : &nowhere);
        }
        if (open == NULL) return false;
        uint8_t *place = place_in(fill, open, bytes);
        if (steps > 1)
            memcpy(place, shared, bytes);
        else if (!seal(group, &message, plain, place, tag))
            return false;
        uint32_t index = open->data.message_count++;
        if (index == 0) {
            open->first_stamp = fill->engine->scheduler.stamp;
            open->mixed = false;
            open->only_group = group->handle;
            open->only_serial = (uint32_t)group->serial;
        }
        open->mixed = open->mixed || open->only_group != group->handle;
        memcpy(open->tags[index], tag, QSM_TAG_BYTES);
        open->data.messages[index] = message;
        open->sealed_bytes += bytes;
        open->wide = open->wide || group->region_count > 1;
        group->unacknowledged++;
    }
    if (flags & QSM_MESSAGE_AES) qsm_count(fill->engine, QSM_COUNT_messages_with_aes);
    if (steps == 0) group->unacknowledged = 0; /* alone in the world */
    group->next_number++;
    group->first_in_view = false;
    group->last_sent_view = group->view;
    return true;
}

static uint32_t fragment_bytes_max(const qsm_engine *engine, const qsm_group *group) {
    uint32_t headers = qsm_address_is_set(&group->hybrid) ? group->region_count : 1;
    return engine->config.data_bytes_max - QSM_HEADER_BYTES - QSM_DATA_FIXED_BYTES -
           headers * QSM_REGION_HEADER_BYTES - QSM_MESSAGE_HEADER_BYTES - QSM_MESSAGE_FIRST_BYTES;
}

/* Sends the next part of a message that is longer than a packet. */
static bool put_fragment(filling *fill, qsm_group *group) {
    uint32_t max = fragment_bytes_max(fill->engine, group);
    uint32_t left = group->fragments_bytes - group->fragments_at;
    uint32_t part = left < max ? left : max;
    uint8_t flags = (uint8_t)((group->fragments_at > 0 ? QSM_MESSAGE_CONTINUES : 0) |
                              (part < left ? QSM_MESSAGE_MORE : 0));
    if (!put_message(fill, group, group->fragments + group->fragments_at, part, flags))
        return false;
    group->fragments_at += part;
    if (group->fragments_at == group->fragments_bytes) {
        free(group->fragments);
        group->fragments = NULL;
    }
    return true;
}

static bool put_whole(filling *fill, qsm_group *group, const uint8_t *plain, uint32_t bytes) {
    qsm_engine *engine = fill->engine;
    if (bytes > fragment_bytes_max(engine, group)) {
        group->fragments = malloc(bytes);
        if (group->fragments == NULL) return false;
        memcpy(group->fragments, plain, bytes);
        group->fragments_bytes = bytes;
        group->fragments_at = 0;
        if (!put_fragment(fill, group)) {
            free(group->fragments);
            group->fragments = NULL;
            return false;
        }
    } else if (!put_message(fill, group, plain, bytes, 0)) {
        return false;
    }
    qsm_count(engine, QSM_COUNT_messages_sent);
    qsm_count_add(engine, QSM_COUNT_message_bytes_sent, bytes);
    qsm_delivery_own(group, group->view, plain, bytes);
    return true;
}

static bool put_queued(filling *fill, qsm_group *group) {
    qsm_queued *queued = group->queue_first;
    if (!put_whole(fill, group, queued->data, queued->bytes)) return false;
    group->queue_first = queued->next;
    if (group->queue_first == NULL) group->queue_last = NULL;
    group->queue_count--;
    free(queued);
    if (group->wants_room && group->queue_count <= QSM_SEND_QUEUE_MAX / 2) {
        group->wants_room = false;
        qsm_event event = {.type = QSM_EVENT_WRITABLE, .group = group, .user = group->user};
        qsm_post_event(fill->engine, &event, NULL, NULL);
    }
    return true;
}

/* Pulls one message from the feed. A feed that has nothing is forgotten; true means that one was
 * sent. */
static bool put_pulled(filling *fill, qsm_group *group) {
    qsm_pulled pulled = {.bytes = -1};
    qsm_feed feed = group->feed;
    void *context = group->feed_context;
    group->feed = NULL; /* the feed may offer itself again while it is being asked */
    fill->engine->scheduler.pulled = group;
    feed(context, QSM_MESSAGE_BYTES_MAX, &pulled);
    if (fill->engine->scheduler.pulled != group) return false; /* the feed has left the group */
    fill->engine->scheduler.pulled = NULL;
    if (pulled.bytes < 0 || pulled.bytes > QSM_MESSAGE_BYTES_MAX ||
        (pulled.data == NULL && pulled.bytes > 0))
        return false;
    group->feed = feed;
    group->feed_context = context;
    if (put_whole(fill, group, pulled.data, (uint32_t)pulled.bytes)) return true;
    /* No memory for it now; the message would be lost, so it waits in the queue. */
    qsm_group_send(group, pulled.data, (uint32_t)pulled.bytes);
    return false;
}

/* Sends as many of these as can go now; the others wait in the queue. True when any was sent. */
static bool put_many(filling *fill, qsm_group *group, const qsm_pulled_many *pulled) {
    const uint8_t *at = pulled->data;
    bool sent = false, open = true;
    for (uint32_t i = 0; i < pulled->count; at += pulled->bytes[i++]) {
        if (pulled->bytes[i] > QSM_MESSAGE_BYTES_MAX) continue;
        open = open && group->fragments == NULL && (i == 0 || can_send(fill, group)) &&
               put_whole(fill, group, at, pulled->bytes[i]);
        sent = sent || open;
        if (!open) qsm_group_send(group, at, pulled->bytes[i]);
    }
    return sent;
}

/* The same from a feed that gives several messages at once. */
static bool put_pulled_many(filling *fill, qsm_group *group) {
    qsm_pulled_many pulled = {0};
    qsm_feed_many feed = group->feed_many;
    void *context = group->feed_context;
    group->feed_many = NULL; /* the feed may offer itself again while it is being asked */
    fill->engine->scheduler.pulled = group;
    feed(context, QSM_MESSAGE_BYTES_MAX, QSM_PULLED_MAX, &pulled);
    if (fill->engine->scheduler.pulled != group) return false; /* the feed has left the group */
    fill->engine->scheduler.pulled = NULL;
    if (pulled.count == 0 || pulled.count > QSM_PULLED_MAX || pulled.bytes == NULL ||
        pulled.data == NULL)
        return false;
    group->feed_many = feed;
    group->feed_context = context;
    return put_many(fill, group, &pulled);
}

/* One message of the group, or what a feed gives at once. False: it has nothing, or cannot send
 * now.
 */
static bool serve(filling *fill, qsm_group *group) {
    if (!can_send(fill, group)) return false;
    if (group->fragments != NULL) return put_fragment(fill, group);
    if (group->queue_first != NULL) return put_queued(fill, group);
    if (group->feed != NULL) return put_pulled(fill, group);
    if (group->feed_many != NULL) return put_pulled_many(fill, group);
    return false;
}

static bool wants_more(const qsm_group *group) {
    return group->fragments != NULL || group->queue_first != NULL || group->feed != NULL ||
           group->feed_many != NULL;
}

/* The turn of the group that is first in its circle: some messages, so that what it takes to look
 * at a group is shared by several of them. True when it had any. */
static bool take_turn(filling *fill, uint32_t priority, uint32_t packets_max) {
    qsm_engine *engine = fill->engine;
    qsm_scheduler *scheduler = &engine->scheduler;
    qsm_group *group = scheduler->last[priority]->ready_next;
    __builtin_prefetch(group->ready_next);
    const uint64_t *sent = &engine->counters[QSM_COUNT_message_bytes_sent];
    uint64_t end = *sent + TURN_BYTES;
    bool any = false;
    while (serve(fill, group)) {
        any = true;
        if (*sent >= end || engine->outbox[QSM_CLASS_DATA].count >= packets_max) break;
        /* A feed may have left the group, or moved it. */
        if (scheduler->last[priority] == NULL || scheduler->last[priority]->ready_next != group)
            break;
        if (!wants_more(group)) break;
    }
    return any;
}

void qsm_scheduler_fill(qsm_engine *engine, uint32_t packets_max) {
    qsm_scheduler *scheduler = &engine->scheduler;
    if (qsm_scheduler_deadline_ns(engine) > engine->now_ns || engine->client.suspended) return;
    scheduler->blocked_until_ns = UINT64_MAX;
    filling fill; /* large: only what is used is set */
    fill.engine = engine;
    fill.count = fill.made = fill.blocked_count = fill.untagged_count = 0;
    fill.region_count = count_regions(engine);
    for (uint32_t p = 0; p < QSM_PRIORITIES; p++) {
        uint32_t idle = 0; /* groups in a row that could not send: a whole circle ends the round */
        while (scheduler->last[p] != NULL && idle < scheduler->count[p] &&
               engine->outbox[QSM_CLASS_DATA].count < packets_max) {
            qsm_group *group = scheduler->last[p]->ready_next;
            if (take_turn(&fill, p, packets_max))
                idle = 0;
            else
                idle++;
            if (fill.blocked_count > 0 && fill.blocked_count == fill.region_count) break;
            if (scheduler->last[p] == NULL || scheduler->last[p]->ready_next != group) continue;
            if (!wants_more(group)) {
                qsm_scheduler_remove(group);
                idle = 0;
            } else {
                scheduler->last[p] = group; /* the next one's turn */
            }
        }
    }
    finish_all(&fill);
    if (engine->outbox[QSM_CLASS_DATA].count >= packets_max) scheduler->blocked_until_ns = 0;
}
