#include "receiving/delivery.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/keys.h"
#include "membership/region.h"

void qsm_delivery_free(qsm_engine *engine) {
    if (engine->delivery.arena != NULL) qsm_buffer_release(engine->delivery.arena);
    engine->delivery.arena = NULL;
    qsm_orders_free(&engine->delivery.orders);
}

bool qsm_delivery_is_full(const qsm_engine *engine) {
    return engine->events.count >= QSM_EVENTS_MAX / 2 ||
           engine->counters[QSM_COUNT_parked_now] >= QSM_PARKED_MESSAGES_MAX / 2 ||
           engine->pool.bytes_used >= engine->config.receive_bytes_max;
}

bool qsm_delivery_waits_for_reader(const qsm_engine *engine) {
    if (engine->events.count < QSM_EVENTS_MAX / 64) return false;
    return engine->events.count >= QSM_EVENTS_MAX / 2 ||
           engine->pool.bytes_used >= engine->config.receive_bytes_max / 8 * 7ull;
}

/* Room for a plaintext, in the arena that all short ones share. NULL when the pool is exhausted. */
static uint8_t *arena_take(qsm_engine *engine, uint32_t bytes) {
    qsm_delivery *delivery = &engine->delivery;
    if (delivery->arena != NULL && delivery->arena_used + bytes > delivery->arena->capacity) {
        qsm_buffer_release(delivery->arena);
        delivery->arena = NULL;
    }
    if (delivery->arena != NULL && delivery->arena->references == 1) delivery->arena_used = 0;
    if (delivery->arena == NULL) {
        /* No larger than it has to be: it may be a single packet that makes it. */
        bool is_long = bytes > QSM_HALF_BUFFER_BYTES;
        delivery->arena =
            qsm_pool_take(&engine->pool, is_long ? QSM_LARGE_BUFFER_BYTES : QSM_HALF_BUFFER_BYTES);
        delivery->arena_used = 0;
        if (delivery->arena == NULL) return NULL;
    }
    uint8_t *at = delivery->arena->data + delivery->arena_used;
    delivery->arena_used += bytes;
    return at;
}

void qsm_delivery_own(qsm_group *group, uint64_t view, const uint8_t *plain, uint32_t bytes) {
    qsm_engine *engine = group->engine;
    uint8_t *copy;
    qsm_buffer *lent;
    if (bytes <= QSM_LARGE_BUFFER_BYTES / 4) {
        copy = arena_take(engine, bytes);
        lent = engine->delivery.arena;
        if (copy != NULL) qsm_buffer_retain(lent);
    } else {
        lent = qsm_pool_take(&engine->pool, bytes);
        copy = lent != NULL ? lent->data : NULL;
    }
    if (copy == NULL)
        return; /* the sender has it anyway; the pool is exhausted by its own messages */
    if (bytes) memcpy(copy, plain, bytes);
    qsm_count(engine, QSM_COUNT_messages_own);
    qsm_post_delivery(group, engine->id, view, copy, bytes, lent);
}

static bool open_message(qsm_group *group, qsm_order *order, const uint8_t *key,
                         const qsm_message *message, uint8_t *plain) {
    qsm_seal_identity identity = {.group_id = group->id,
                                  .sender = order->sender,
                                  .number = message->number,
                                  .flags = message->flags,
                                  .epoch = message->epoch};
    if (!(message->flags & QSM_MESSAGE_AES))
        return qsm_message_open(key, &identity, message->sealed, message->bytes, message->tag,
                                plain);
    if (!order->key_made || order->key_epoch != message->epoch) {
        qsm_sender_key_derive(order->secret, key, group->id, order->sender);
        order->key_made = true;
        order->key_epoch = message->epoch;
    }
    return qsm_message_open_aes(group->engine->aegis, order->secret, &identity, message->sealed,
                                message->bytes, message->tag, plain);
}

/* Adds the next part of a long message. */
static void add_fragment(qsm_group *group, qsm_order *order, const qsm_parked *opened) {
    qsm_waiting *waiting = order->waiting;
    if (waiting->partial_bytes + opened->bytes > QSM_MESSAGE_BYTES_MAX) {
        qsm_count(group->engine, QSM_COUNT_messages_refused);
        qsm_order_drop_partial(order);
        return;
    }
    memcpy(waiting->partial->data + waiting->partial_bytes, opened->plain, opened->bytes);
    waiting->partial_bytes += opened->bytes;
    if (!QSM_BUG(17) && opened->flags & QSM_MESSAGE_MORE) return;
    qsm_post_delivery(group, order->sender, waiting->partial_view, waiting->partial->data,
                      waiting->partial_bytes, waiting->partial);
    waiting->partial = NULL;
    waiting->partial_bytes = 0;
}

/* Makes the place for a long message when this is its first part. False when memory is short. */
static bool prepare_fragment(qsm_engine *engine, qsm_order *order, const qsm_parked *opened) {
    if (opened->flags & QSM_MESSAGE_CONTINUES) return true;
    qsm_waiting *waiting = qsm_order_waiting(engine, order);
    if (waiting == NULL) return false;
    qsm_order_drop_partial(order);
    waiting->partial_view = opened->view;
    waiting->partial = qsm_pool_take(&engine->pool, opened->bytes);
    return waiting->partial != NULL;
}

/* Makes room for the next part. As long as what has come, not as what may come: a packet with the
 * beginnings of many messages must not take much. False when memory is short. */
static bool grow_partial(qsm_engine *engine, qsm_waiting *waiting, uint32_t bytes) {
    uint32_t needed = waiting->partial_bytes + bytes;
    if (needed <= waiting->partial->capacity || needed > QSM_MESSAGE_BYTES_MAX) return true;
    qsm_buffer *larger = qsm_pool_take(&engine->pool, needed);
    if (larger == NULL) return false;
    memcpy(larger->data, waiting->partial->data, waiting->partial_bytes);
    qsm_buffer_release(waiting->partial);
    waiting->partial = larger;
    return true;
}

/* Delivers an opened message whose turn it is. False when memory is short: nothing has changed. */
static bool deliver(qsm_group *group, qsm_order *order, const qsm_parked *opened) {
    if (opened->locked) {
        qsm_count(group->engine, QSM_COUNT_messages_locked);
        qsm_order_drop_partial(order);
    } else if (opened->flags & (QSM_MESSAGE_MORE | QSM_MESSAGE_CONTINUES)) {
        if (!prepare_fragment(group->engine, order, opened)) return false;
        /* Without a beginning it is the rest of a message from before this node was there. */
        if (order->waiting != NULL && order->waiting->partial != NULL) {
            if (!grow_partial(group->engine, order->waiting, opened->bytes)) return false;
            add_fragment(group, order, opened);
        }
    } else {
        qsm_order_drop_partial(order);
        qsm_buffer_retain(opened->buffer);
        qsm_post_delivery(group, order->sender, opened->view, opened->plain, opened->bytes,
                          opened->buffer);
    }
    order->expected = opened->number + 1;
    return true;
}

/* A member starts with the first message that the sender sent in a view that has both of them: the
 * one before was sent in a view that this node was not in, or before a partition in which the
 * sender counted as dead here. */
static bool starts_here(const qsm_group *group, const qsm_order *order,
                        const qsm_message *message) {
    if (!(message->flags & QSM_MESSAGE_FIRST)) return false;
    uint64_t died = qsm_dead_before(&group->engine->dead, order->sender, message->view);
    return !qsm_group_was_in(group, message->previous) || (died != 0 && message->previous <= died);
}

/* Takes from the parked messages what has become deliverable. */
static void unpark(qsm_group *group, qsm_order *order) {
    while (order->waiting != NULL && order->waiting->parked != NULL) {
        const qsm_parked *parked = order->waiting->parked;
        if (parked->number > order->expected) return;
        if (parked->number == order->expected && !deliver(group, order, parked)) return;
        qsm_order_unpark_first(group->engine, order);
    }
    qsm_order_tidy(group->engine, order);
}

static qsm_order *order_of(qsm_group *group, uint64_t sender, uint64_t number) {
    qsm_order *found = qsm_order_find(group, sender, number);
    return found != NULL ? found : qsm_order_make(group, sender, number);
}

/* The messages of a run lie one after the other, each behind its length. */
static uint32_t length_at(const uint8_t *at) {
    return (uint32_t)qsm_load_le(at, QSM_RUN_LENGTH_BYTES);
}

/* True when the opened run has as many messages as its entry says, and nothing else. */
static bool is_whole_run(const uint8_t *plain, const qsm_message *run) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->bytes - at < QSM_RUN_LENGTH_BYTES) return false;
        uint32_t length = length_at(plain + at);
        at += QSM_RUN_LENGTH_BYTES;
        if (run->bytes - at < length) return false;
        at += length;
    }
    return at == run->bytes;
}

/* Delivers an opened message, or keeps it until it is its turn. */
static enum qsm_delivered take_opened(qsm_group *group, qsm_order *order,
                                      const qsm_parked *opened) {
    bool again = order->expected != 0 && opened->number < order->expected;
    if (again && !QSM_BUG(1)) return QSM_DELIVERED;
    if (!QSM_BUG(2) && !(QSM_BUG(1) && again) && opened->number != order->expected)
        return qsm_order_park(group->engine, order, opened) ? QSM_DELIVERED : QSM_DELIVERY_WAITS;
    if (!deliver(group, order, opened)) return QSM_DELIVERY_WAITS;
    if (order->waiting != NULL) unpark(group, order);
    return QSM_DELIVERED;
}

/* `opened` is the run as a whole. When memory is short in the midst of it, it is opened again; then
 * those that were taken are known by their numbers. */
static enum qsm_delivered take_run(qsm_group *group, qsm_order *order, const qsm_message *run,
                                   qsm_parked *opened) {
    const uint8_t *at = opened->plain;
    opened->flags = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        opened->number = run->number + i;
        if (!opened->locked) {
            opened->bytes = length_at(at);
            opened->plain = at + QSM_RUN_LENGTH_BYTES;
            at = opened->plain + opened->bytes;
        }
        enum qsm_delivered one = take_opened(group, order, opened);
        if (one != QSM_DELIVERED) return one;
    }
    return QSM_DELIVERED;
}

static enum qsm_delivered handle_message(qsm_group *group, qsm_order *order, qsm_region *region,
                                         const qsm_message *message) {
    qsm_engine *engine = group->engine;
    bool starts = message->number > order->expected && starts_here(group, order, message);
    if (starts && qsm_orders_owe_earlier(region, order->sender, message->view))
        return QSM_DELIVERY_WAITS;
    uint64_t last = message->number + message->count - 1;
    if (order->expected != 0 && last < order->expected && !QSM_BUG(1)) return QSM_DELIVERED;
    const uint8_t *key = qsm_keys_find(group, message->epoch);
    if (key == NULL && qsm_keys_may_come(group, message->epoch)) return QSM_DELIVERY_WAITS;
    uint8_t *plain = arena_take(engine, message->bytes);
    if (plain == NULL) return QSM_DELIVERY_WAITS;
    bool run = message->flags & QSM_MESSAGE_RUN;
    if (key != NULL && (!open_message(group, order, key, message, plain) ||
                        (run && !is_whole_run(plain, message)))) {
        engine->delivery.arena_used -= message->bytes;
        qsm_count(engine, QSM_COUNT_messages_forged);
        return QSM_DELIVERY_FORGED;
    }
    /* Also after a partition: what the sender sent meanwhile was not for this node. */
    if (starts) {
        qsm_order_drop_partial(order); /* what it goes on with, if anything, began elsewhere */
        order->expected = message->number;
    }
    qsm_parked opened = {.buffer = engine->delivery.arena,
                         .plain = plain,
                         .number = message->number,
                         .view = message->view,
                         .bytes = message->bytes,
                         .flags = message->flags,
                         .locked = key == NULL};
    return run ? take_run(group, order, message, &opened) : take_opened(group, order, &opened);
}

enum qsm_delivered qsm_delivery_packet(qsm_engine *engine, qsm_region *region,
                                       const qsm_data *data) {
    /* Of an earlier host no more views come: who was not told of one is not meant. */
    bool views_come = region->directory == engine->client.directory;
    for (uint32_t i = 0; i < data->message_count; i++)
        if (data->messages[i].view > region->directory->applied && views_come)
            return QSM_DELIVERY_WAITS;
    enum qsm_delivered all = QSM_DELIVERED;
    qsm_group *group = NULL;
    qsm_order *order = NULL;
    for (uint32_t i = 0; i < data->message_count; i++) {
        const qsm_message *message = &data->messages[i];
        /* Messages of one group often come together. */
        if (i == 0 || message->group != message[-1].group) {
            group = qsm_group_called(engine, region->directory, message->group);
            order = NULL;
        }
        bool told = message->view <= region->directory->applied;
        if (group == NULL || !told || (!QSM_BUG(3) && !qsm_group_is_for(group, message->view))) {
            qsm_count(engine, QSM_COUNT_messages_not_joined);
            continue;
        }
        if (order == NULL || !qsm_order_has(order, message->number))
            order = order_of(group, data->sender, message->number);
        enum qsm_delivered one =
            order != NULL ? handle_message(group, order, region, message) : QSM_DELIVERY_WAITS;
        if (one == QSM_DELIVERY_FORGED) return one;
        if (one != QSM_DELIVERED) all = one;
    }
    return all;
}
