#include "receiving/delivery.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/region.h"

enum { LIFE_SHIFT = 40 }; /* the part of a number that changes when its sender joins anew */

static uint64_t order_hash(const qsm_group *group, uint64_t sender, uint64_t life) {
    return qsm_mix64(group->serial ^ qsm_mix64(sender ^ life << 1));
}

static qsm_order *find_order(qsm_engine *engine, qsm_group *group, uint64_t sender,
                             uint64_t number) {
    uint64_t hash = order_hash(group, sender, number >> LIFE_SHIFT);
    qsm_order *order = qsm_table_get(&engine->delivery.orders, hash);
    while (order != NULL && (order->group != group || order->sender != sender ||
                             order->life != number >> LIFE_SHIFT))
        order = order->next_same_hash;
    return order;
}

static qsm_order *make_order(qsm_engine *engine, qsm_group *group, uint64_t sender,
                             uint64_t number) {
    qsm_order *order = calloc(1, sizeof *order);
    if (order == NULL) return NULL;
    order->group = group;
    order->sender = sender;
    order->life = number >> LIFE_SHIFT;
    uint64_t hash = order_hash(group, sender, order->life);
    order->next_same_hash = qsm_table_get(&engine->delivery.orders, hash);
    if (!qsm_table_put(&engine->delivery.orders, hash, order)) {
        free(order);
        return NULL;
    }
    order->next = group->orders;
    group->orders = order;
    return order;
}

static qsm_order *order_of(qsm_engine *engine, qsm_group *group, uint64_t sender, uint64_t number) {
    qsm_order *found = find_order(engine, group, sender, number);
    return found != NULL ? found : make_order(engine, group, sender, number);
}

static void free_parked(qsm_engine *engine, qsm_parked *parked) {
    qsm_buffer_release(parked->buffer);
    if (engine->delivery.parked_near == parked) engine->delivery.parked_near = NULL;
    parked->next = engine->delivery.free_parked;
    engine->delivery.free_parked = parked;
    engine->counters[QSM_COUNT_parked_now]--;
}

void qsm_delivery_drop_waiting(qsm_order *order, uint64_t view_max) {
    while (order->parked != NULL && order->parked->view <= view_max) {
        qsm_parked *next = order->parked->next;
        free_parked(order->group->engine, order->parked);
        order->parked = next;
        if (next != NULL) next->previous = NULL;
    }
    if (order->parked == NULL) order->parked_last = NULL;
    if (order->partial != NULL) qsm_buffer_release(order->partial);
    order->partial = NULL;
    order->partial_bytes = 0;
}

static void free_order(qsm_engine *engine, qsm_order *order) {
    qsm_delivery_drop_waiting(order, UINT64_MAX);
    uint64_t hash = order_hash(order->group, order->sender, order->life);
    qsm_order *first = qsm_table_get(&engine->delivery.orders, hash);
    if (first == order) {
        if (order->next_same_hash != NULL)
            qsm_table_put(&engine->delivery.orders, hash, order->next_same_hash);
        else
            qsm_table_remove(&engine->delivery.orders, hash);
    } else {
        while (first->next_same_hash != order)
            first = first->next_same_hash;
        first->next_same_hash = order->next_same_hash;
    }
    free(order);
}

void qsm_delivery_forget_group(qsm_group *group) {
    while (group->orders != NULL) {
        qsm_order *next = group->orders->next;
        free_order(group->engine, group->orders);
        group->orders = next;
    }
}

void qsm_delivery_forget_sender(qsm_engine *engine, qsm_group *group, uint64_t sender) {
    for (qsm_order **at = &group->orders; *at != NULL;) {
        qsm_order *order = *at;
        if (order->sender != sender) {
            at = &order->next;
            continue;
        }
        *at = order->next;
        free_order(engine, order);
    }
}

void qsm_delivery_free(qsm_engine *engine) {
    while (engine->delivery.free_parked != NULL) {
        qsm_parked *next = engine->delivery.free_parked->next;
        free(engine->delivery.free_parked);
        engine->delivery.free_parked = next;
    }
    if (engine->delivery.arena != NULL) qsm_buffer_release(engine->delivery.arena);
    engine->delivery.arena = NULL;
    qsm_table_free(&engine->delivery.orders);
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
        delivery->arena = qsm_pool_take(&engine->pool, QSM_LARGE_BUFFER_BYTES);
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

static void drop_partial(qsm_order *order) {
    if (order->partial != NULL) qsm_buffer_release(order->partial);
    order->partial = NULL;
    order->partial_bytes = 0;
}

static bool open_message(qsm_order *order, const uint8_t *key, const qsm_message *message,
                         uint8_t *plain) {
    if (message->flags & QSM_MESSAGE_AES) {
        const uint8_t *secret =
            qsm_sender_key_get(&order->key, key, order->group->id, order->sender);
        return qsm_message_open_aes(&order->group->engine->ready_keys, secret, message->number,
                                    message->flags, message->epoch, message->sealed, message->bytes,
                                    message->tag, plain);
    }
    qsm_seal_identity identity = {.group_id = order->group->id,
                                  .sender = order->sender,
                                  .number = message->number,
                                  .flags = message->flags,
                                  .epoch = message->epoch};
    return qsm_message_open(key, &identity, message->sealed, message->bytes, message->tag, plain);
}

/* Adds the next part of a long message; `plain` may lie in the place where it belongs. */
static void add_fragment(qsm_order *order, const uint8_t *plain, uint32_t bytes, uint8_t flags) {
    qsm_engine *engine = order->group->engine;
    uint8_t *place = order->partial->data + order->partial_bytes;
    if (order->partial_bytes + bytes > QSM_MESSAGE_BYTES_MAX) {
        qsm_count(engine, QSM_COUNT_messages_refused);
        drop_partial(order);
        return;
    }
    if (plain != place) memcpy(place, plain, bytes);
    order->partial_bytes += bytes;
    if (!QSM_BUG(17) && flags & QSM_MESSAGE_MORE) return;
    qsm_post_delivery(order->group, order->sender, order->partial_view, order->partial->data,
                      order->partial_bytes, order->partial);
    order->partial = NULL;
    order->partial_bytes = 0;
}

/* Makes the place for a long message when this is its first part. False when memory is short. */
static bool prepare_fragment(qsm_order *order, uint8_t flags, uint64_t view) {
    if (flags & QSM_MESSAGE_CONTINUES) return true;
    drop_partial(order);
    order->partial_view = view;
    order->partial = qsm_pool_take(&order->group->engine->pool, QSM_LARGE_BUFFER_BYTES);
    return order->partial != NULL;
}

/* Delivers an opened message whose turn it is. False when memory is short: nothing has changed. */
static bool deliver(qsm_order *order, const qsm_parked *opened) {
    if (opened->locked) {
        qsm_count(order->group->engine, QSM_COUNT_messages_locked);
        drop_partial(order);
    } else if (opened->flags & (QSM_MESSAGE_MORE | QSM_MESSAGE_CONTINUES)) {
        if (!prepare_fragment(order, opened->flags, opened->view)) return false;
        /* Without a beginning it is the rest of a message from before this node was there. */
        if (order->partial != NULL)
            add_fragment(order, opened->plain, opened->bytes, opened->flags);
    } else {
        drop_partial(order);
        qsm_buffer_retain(opened->buffer);
        qsm_post_delivery(order->group, order->sender, opened->view, opened->plain, opened->bytes,
                          opened->buffer);
    }
    order->expected = opened->number + 1;
    return true;
}

/* The last one parked with a lesser number; NULL: there is none. Begins at the end or where one was
 * parked last: repairs come in runs. */
static qsm_parked *parked_before(const qsm_order *order, uint64_t number) {
    const qsm_delivery *delivery = &order->group->engine->delivery;
    qsm_parked *at = order->parked_last;
    if (at == NULL || at->number < number) return at;
    if (delivery->near_order == order && delivery->parked_near != NULL) at = delivery->parked_near;
    while (at->next != NULL && at->next->number < number)
        at = at->next;
    while (at != NULL && at->number >= number)
        at = at->previous;
    return at;
}

static bool park(qsm_order *order, const qsm_parked *opened) {
    qsm_engine *engine = order->group->engine;
    qsm_parked *before = parked_before(order, opened->number);
    qsm_parked *after = before != NULL ? before->next : order->parked;
    if (after != NULL && after->number == opened->number) return true; /* came over two regions */
    qsm_parked *parked = engine->delivery.free_parked;
    if (parked != NULL)
        engine->delivery.free_parked = parked->next;
    else
        parked = malloc(sizeof *parked);
    if (parked == NULL) return false;
    *parked = *opened;
    parked->previous = before;
    parked->next = after;
    *(before != NULL ? &before->next : &order->parked) = parked;
    *(after != NULL ? &after->previous : &order->parked_last) = parked;
    engine->delivery.parked_near = parked;
    engine->delivery.near_order = order;
    qsm_buffer_retain(parked->buffer);
    engine->counters[QSM_COUNT_parked_now]++;
    qsm_count(engine, QSM_COUNT_messages_parked);
    return true;
}

/* A member starts with the first message that the sender sent in a view that has both of them: the
 * one before was sent in a view that this node was not in, or before a partition in which the
 * sender counted as dead here. */
static bool starts_here(const qsm_order *order, const qsm_message *message) {
    if (!(message->flags & QSM_MESSAGE_FIRST)) return false;
    uint64_t died = qsm_dead_since(&order->group->engine->dead, order->sender);
    return !qsm_group_was_in(order->group, message->previous) ||
           (message->previous <= died && message->view > died);
}

/* Takes from the parked messages what has become deliverable. */
static void unpark(qsm_order *order) {
    qsm_engine *engine = order->group->engine;
    while (order->parked != NULL) {
        qsm_parked *parked = order->parked;
        if (parked->number > order->expected) return;
        if (parked->number == order->expected && !deliver(order, parked)) return;
        order->parked = parked->next;
        if (order->parked == NULL)
            order->parked_last = NULL;
        else
            order->parked->previous = NULL;
        free_parked(engine, parked);
    }
}

static enum qsm_delivered handle_message(qsm_engine *engine, qsm_order *order,
                                         const qsm_message *message) {
    qsm_group *group = order->group;
    bool starts = message->number > order->expected && starts_here(order, message);
    if (!QSM_BUG(1) && order->expected != 0 && message->number < order->expected)
        return QSM_DELIVERED;
    const uint8_t *key = qsm_keys_find(&group->keys, message->epoch);
    if (key == NULL && qsm_keys_may_come(group, message->epoch)) return QSM_DELIVERY_WAITS;
    uint8_t *plain = arena_take(engine, message->bytes);
    if (plain == NULL) return QSM_DELIVERY_WAITS;
    if (key != NULL && !open_message(order, key, message, plain)) {
        engine->delivery.arena_used -= message->bytes;
        qsm_count(engine, QSM_COUNT_messages_forged);
        return QSM_DELIVERY_FORGED;
    }
    /* Also after a partition: what the sender sent meanwhile was not for this node. */
    if (starts) order->expected = message->number;
    qsm_parked opened = {.buffer = engine->delivery.arena,
                         .plain = plain,
                         .number = message->number,
                         .view = message->view,
                         .bytes = message->bytes,
                         .flags = message->flags,
                         .locked = key == NULL};
    if (!QSM_BUG(2) && message->number != order->expected)
        return park(order, &opened) ? QSM_DELIVERED : QSM_DELIVERY_WAITS;
    if (!deliver(order, &opened)) return QSM_DELIVERY_WAITS;
    unpark(order);
    return QSM_DELIVERED;
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
            group = qsm_table_get(&region->directory->groups, message->group);
            order = NULL;
        }
        bool told = message->view <= region->directory->applied;
        if (group == NULL || !told || (!QSM_BUG(3) && !qsm_group_is_for(group, message->view))) {
            qsm_count(engine, QSM_COUNT_messages_not_joined);
            continue;
        }
        if (order == NULL || order->life != message->number >> LIFE_SHIFT)
            order = order_of(engine, group, data->sender, message->number);
        enum qsm_delivered one =
            order != NULL ? handle_message(engine, order, message) : QSM_DELIVERY_WAITS;
        if (one == QSM_DELIVERY_FORGED) return one;
        if (one != QSM_DELIVERED) all = one;
    }
    return all;
}
