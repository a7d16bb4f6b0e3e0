#include "receiving/order.h"

#include <stdlib.h>

#include "core/engine.h"
#include "membership/dead.h"
#include "membership/group.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"

enum { LIFE_SHIFT = 40 }; /* the part of a number that changes when its sender joins anew */

void qsm_orders_init(qsm_orders *orders) {
    *orders = (qsm_orders){.slab = {.item_bytes = sizeof(qsm_order)}};
}

void qsm_orders_free(qsm_orders *orders) {
    while (orders->free_parked != NULL) {
        qsm_parked *next = orders->free_parked->next;
        free(orders->free_parked);
        orders->free_parked = next;
    }
    qsm_slab_free(&orders->slab);
    qsm_index_free(&orders->places);
}

bool qsm_order_has(const qsm_order *order, uint64_t number) {
    return order->life == (uint32_t)(number >> LIFE_SHIFT);
}

static uint32_t place_of(const qsm_group *group, uint64_t sender, uint32_t life) {
    return (uint32_t)qsm_mix64(group->serial ^ qsm_mix64(sender ^ (uint64_t)life << 1));
}

static qsm_order *order_at(const qsm_group *group, uint32_t number) {
    return qsm_slab_at(&group->engine->delivery.orders.slab, number);
}

qsm_order *qsm_order_find(const qsm_group *group, uint64_t sender, uint64_t number) {
    uint32_t life = (uint32_t)(number >> LIFE_SHIFT);
    const qsm_index *places = &group->engine->delivery.orders.places;
    uint32_t key = place_of(group, sender, life), cursor = UINT32_MAX, found;
    while ((found = qsm_index_find(places, key, &cursor)) != 0) {
        qsm_order *order = order_at(group, found);
        if (order->group == group->number && order->sender == sender && order->life == life)
            return order;
    }
    return NULL;
}

qsm_order *qsm_order_make(qsm_group *group, uint64_t sender, uint64_t number) {
    qsm_orders *orders = &group->engine->delivery.orders;
    uint32_t life = (uint32_t)(number >> LIFE_SHIFT);
    uint32_t made = qsm_slab_take(&orders->slab);
    if (made == 0) return NULL;
    if (!qsm_index_add(&orders->places, place_of(group, sender, life), made)) {
        qsm_slab_give(&orders->slab, made);
        return NULL;
    }
    qsm_order *order = order_at(group, made);
    order->sender = sender;
    order->group = group->number;
    order->life = life;
    order->next = group->orders;
    group->orders = made;
    return order;
}

/* ---- what waits ------------------------------------------------------------------------------ */

qsm_waiting *qsm_order_waiting(qsm_engine *engine, qsm_order *order) {
    if (order->waiting != NULL) return order->waiting;
    order->waiting = qsm_blocks_take(&engine->blocks, sizeof *order->waiting);
    if (order->waiting != NULL) *order->waiting = (qsm_waiting){0};
    return order->waiting;
}

void qsm_order_tidy(qsm_engine *engine, qsm_order *order) {
    qsm_waiting *waiting = order->waiting;
    if (waiting == NULL || waiting->parked != NULL || waiting->partial != NULL) return;
    qsm_blocks_give(&engine->blocks, waiting, sizeof *waiting);
    order->waiting = NULL;
}

static qsm_parked *take_parked(qsm_engine *engine) {
    qsm_parked *parked = engine->delivery.orders.free_parked;
    if (parked == NULL) return malloc(sizeof *parked);
    engine->delivery.orders.free_parked = parked->next;
    return parked;
}

/* The last one parked with a lesser number; NULL: there is none. Begins at the end or where one was
 * parked last: repairs come in runs. */
static qsm_parked *parked_before(const qsm_orders *orders, const qsm_order *order,
                                 uint64_t number) {
    qsm_parked *at = order->waiting->parked_last;
    if (at == NULL || at->number < number) return at;
    if (orders->near_order == order && orders->parked_near != NULL) at = orders->parked_near;
    while (at->next != NULL && at->next->number < number)
        at = at->next;
    while (at != NULL && at->number >= number)
        at = at->previous;
    return at;
}

bool qsm_order_park(qsm_engine *engine, qsm_order *order, const qsm_parked *opened) {
    qsm_orders *orders = &engine->delivery.orders;
    qsm_waiting *waiting = qsm_order_waiting(engine, order);
    if (waiting == NULL) return false;
    qsm_parked *before = parked_before(orders, order, opened->number);
    qsm_parked *after = before != NULL ? before->next : waiting->parked;
    if (after != NULL && after->number == opened->number) return true; /* came over two regions */
    qsm_parked *parked = take_parked(engine);
    if (parked == NULL) return false;
    *parked = *opened;
    parked->previous = before;
    parked->next = after;
    *(before != NULL ? &before->next : &waiting->parked) = parked;
    *(after != NULL ? &after->previous : &waiting->parked_last) = parked;
    orders->parked_near = parked;
    orders->near_order = order;
    qsm_buffer_retain(parked->buffer);
    engine->counters[QSM_COUNT_parked_now]++;
    qsm_count(engine, QSM_COUNT_messages_parked);
    return true;
}

void qsm_order_unpark_first(qsm_engine *engine, qsm_order *order) {
    qsm_orders *orders = &engine->delivery.orders;
    qsm_parked *parked = order->waiting->parked;
    order->waiting->parked = parked->next;
    *(parked->next != NULL ? &parked->next->previous : &order->waiting->parked_last) = NULL;
    if (orders->parked_near == parked) orders->parked_near = NULL;
    qsm_buffer_release(parked->buffer);
    parked->next = orders->free_parked;
    orders->free_parked = parked;
    engine->counters[QSM_COUNT_parked_now]--;
}

void qsm_order_drop_partial(qsm_order *order) {
    if (order->waiting == NULL || order->waiting->partial == NULL) return;
    qsm_buffer_release(order->waiting->partial);
    order->waiting->partial = NULL;
    order->waiting->partial_bytes = 0;
}

/* Gives up what waits for messages that will never come, of views up to that one. */
static void drop_waiting(qsm_engine *engine, qsm_order *order, uint64_t view_max) {
    if (order->waiting != NULL && order->waiting->partial_view <= view_max)
        qsm_order_drop_partial(order);
    while (order->waiting != NULL && order->waiting->parked != NULL &&
           order->waiting->parked->view <= view_max)
        qsm_order_unpark_first(engine, order);
    qsm_order_tidy(engine, order);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void free_order(qsm_group *group, uint32_t number) {
    qsm_orders *orders = &group->engine->delivery.orders;
    qsm_order *order = order_at(group, number);
    drop_waiting(group->engine, order, UINT64_MAX);
    qsm_index_remove(&orders->places, place_of(group, order->sender, order->life), number);
    qsm_slab_give(&orders->slab, number);
}

void qsm_orders_forget_group(qsm_group *group) {
    while (group->orders != 0) {
        uint32_t number = group->orders;
        group->orders = order_at(group, number)->next;
        free_order(group, number);
    }
}

void qsm_orders_forget_sender(qsm_group *group, uint64_t sender) {
    for (uint32_t *at = &group->orders; *at != 0;) {
        uint32_t number = *at;
        qsm_order *order = order_at(group, number);
        if (order->sender != sender) {
            at = &order->next;
            continue;
        }
        *at = order->next;
        free_order(group, number);
    }
}

void qsm_orders_forget_keys(qsm_group *group) {
    for (uint32_t number = group->orders; number != 0; number = order_at(group, number)->next)
        order_at(group, number)->key_made = false;
}

/* The sender is in the region, and its stream there has no end yet, or not all of it is here. */
static bool is_unended(qsm_region *region, uint64_t sender) {
    const qsm_stream *stream = qsm_stream_find(region, sender);
    if (stream != NULL) return !stream->fin_known || !qsm_stream_is_finished(stream);
    return qsm_region_index(region, sender) >= 0 || qsm_region_has_outsider(region, sender);
}

/* More may come of what the sender sent into the region until now. Where it counts as dead, others
 * may have heard what this node has not: a region that is being given up ends all its streams, in
 * another one they are ended when somebody has something. A host knows of a death before the batch
 * that tells its own regions of it. */
static bool may_bring_more(qsm_region *region, uint64_t sender, bool dead, uint64_t died) {
    const qsm_engine *engine = region->engine;
    const qsm_stream *stream = qsm_stream_find(region, sender);
    bool over = died > region->created && (dead || region->directory != engine->client.directory);
    if (!over) return stream != NULL && !qsm_stream_is_finished(stream);
    bool heard_of = stream != NULL && (stream->high > 0 || stream->sealed_off);
    return region->my_index >= 0 && (heard_of || region->closing) && is_unended(region, sender);
}

/* Nothing more comes of what the sender has sent so far. */
static bool is_heard_out(qsm_engine *engine, uint64_t sender, bool dead, uint64_t died) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (may_bring_more(region, sender, dead, died)) return false;
    return true;
}

bool qsm_orders_owe_earlier(const qsm_region *region, uint64_t sender, uint64_t view) {
    uint64_t died = qsm_dead_before(&region->engine->dead, sender, view);
    uint32_t cursor = 0;
    for (qsm_region *other;
         died != 0 && (other = qsm_table_next(&region->engine->regions, &cursor)) != NULL;)
        if (other->directory != region->directory && other->my_index >= 0 &&
            other->created < died && is_unended(other, sender))
            return true;
    return false;
}

static bool is_in_regions(const qsm_group *group, uint64_t id) {
    qsm_region *const *regions = qsm_group_regions(group);
    for (uint32_t i = 0; i < group->region_count; i++)
        if (qsm_region_index(regions[i], id) >= 0) return true;
    return false;
}

/* Something waits that was sent up to that view, or after it. */
static bool waits_upto(const qsm_order *order, uint64_t view) {
    const qsm_waiting *waiting = order->waiting;
    if (waiting == NULL) return false;
    return (waiting->partial != NULL && waiting->partial_view <= view) ||
           (waiting->parked != NULL && waiting->parked->view <= view);
}

static bool waits_since(const qsm_order *order, uint64_t view) {
    const qsm_waiting *waiting = order->waiting;
    if (waiting == NULL) return false;
    return (waiting->partial != NULL && waiting->partial_view > view) ||
           (waiting->parked_last != NULL && waiting->parked_last->view > view);
}

bool qsm_orders_note_left(qsm_group *group, const uint64_t *members, uint32_t member_count) {
    bool waits = false;
    for (uint32_t number = group->orders; number != 0; number = order_at(group, number)->next) {
        qsm_order *order = order_at(group, number);
        /* One that left before and came back under its id has perhaps said something since. */
        bool left = waits_since(order, order->left_view) && is_in_regions(group, order->sender);
        for (uint32_t i = 0; i < member_count && left; i++)
            left = members[i] != order->sender;
        if (!left) continue;
        order->left_ns = group->engine->now_ns;
        order->left_view = group->view;
        waits = true;
    }
    return waits;
}

/* The sender has left the group, and what it sent before may not even have been told of yet. In a
 * region that is being given up its stream has an end; in another one there is only time. */
static bool is_leaving(qsm_engine *engine, const qsm_order *order) {
    uint64_t patience_ns = qsm_orphans_patience_ns(engine);
    bool lately = engine->now_ns - order->left_ns < patience_ns;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if ((lately || region->closing) && region->my_index >= 0 &&
            is_unended(region, order->sender))
            return true;
    return false;
}

/* How far a sender was delivered is kept until no region knows it any more, so that nothing is
 * delivered twice. Others may come back with another host and go on numbering where they were. */
bool qsm_orders_forget_gone(qsm_group *group) {
    qsm_engine *engine = group->engine;
    bool waits = false;
    for (uint32_t number = group->orders; number != 0;) {
        qsm_order *order = order_at(group, number);
        uint64_t sender = order->sender;
        number = order->next;
        bool dead = qsm_dead_has(&engine->dead, sender);
        bool known = qsm_peer_find(engine, sender) != NULL;
        uint64_t died = qsm_dead_since(&engine->dead, sender);
        bool parks = order->waiting != NULL && order->waiting->parked != NULL;
        /* Who never died lacks nothing. Between two hosts it may be in no region for a moment, in
         * the midst of a long message that it goes on with. */
        bool left = order->left_ns != 0 && waits_upto(order, order->left_view);
        bool goes_on = !dead && !left && (died == 0 || (known && !parks));
        if (goes_on) continue;
        if ((left && !dead && is_leaving(engine, order)) ||
            !is_heard_out(engine, sender, dead, died)) {
            waits = waits || order->waiting != NULL;
        } else if (dead && !known) {
            qsm_orders_forget_sender(group, sender);
            number = group->orders; /* several lives of the sender may have gone: begin again */
        } else {
            /* One that counted as dead only in regions of an earlier host may go on elsewhere, and
             * between two hosts be in no region for a moment, as above. */
            uint64_t last = left && order->left_view > died ? order->left_view : died;
            drop_waiting(engine, order, dead ? UINT64_MAX : last);
        }
    }
    return waits;
}

bool qsm_orders_forget_all_gone(qsm_engine *engine) {
    bool waits = false;
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;)
        waits = qsm_orders_forget_gone(group) || waits;
    return waits;
}
