#include "core/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/dispatch.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/policy.h"
#include "membership/region.h"
#include "sending/outgoing.h"
#include "sending/sender.h"

/* ---- configuration --------------------------------------------------------------------------- */

void qsm_config_defaults(qsm_config *config) {
    *config = (qsm_config){.datagram_bytes_max = 1432,
                           .window_bytes_max = 16u << 20,
                           .receive_bytes_max = 64u << 20,
                           .ring_size_max = 5,
                           .policy = QSM_POLICY_EXACT,
                           .similar_percent = 60,
                           .region_size_min = 2,
                           .may_host = QSM_HOST_MAY,
                           .heartbeat_ns = 300000000,
                           .failure_ns = 1500000000,
                           .batch_ns = 20000000,
                           .token_ns = 50000000,
                           .lag_ns_max = 4000000000};
}

static bool config_is_good(const qsm_config *config) {
    return config->datagram_bytes_max >= QSM_DATAGRAM_BYTES_MIN &&
           config->datagram_bytes_max <= QSM_DATAGRAM_BYTES_MAX &&
           (config->data_bytes_max == 0 || config->data_bytes_max >= config->datagram_bytes_max) &&
           config->data_bytes_max <= QSM_DATA_BYTES_MAX && config->window_bytes_max >= 65536 &&
           config->receive_bytes_max >= 1u << 20 && config->ring_size_max >= QSM_RING_SIZE_MIN &&
           config->ring_size_max <= QSM_RING_SIZE_MAX && qsm_policy_find(config->policy) != NULL &&
           config->similar_percent >= 1 && config->similar_percent <= 100 &&
           config->known_peer_count <= 8 && config->heartbeat_ns >= 1000000 &&
           config->failure_ns >= 2 * config->heartbeat_ns && config->batch_ns >= 100000 &&
           config->token_ns >= 1000000 && config->lag_ns_max >= 1000000 &&
           config->may_host <= QSM_HOST_INSISTS && config->no_aes <= 1 &&
           qsm_address_is_set(&config->self) &&
           (!qsm_address_is_set(&config->rendezvous) || config->rendezvous.multicast == 1);
}

/* ---- life ------------------------------------------------------------------------------------ */

int qsm_engine_create(const qsm_config *config, uint64_t now_ns, qsm_engine **out) {
    if (config == NULL || out == NULL || !config_is_good(config)) return QSM_ERR_ARGUMENT;
    if (!qsm_seal_start()) return QSM_ERR_SYSTEM;
    qsm_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return QSM_ERR_NO_MEMORY;
    engine->config = *config;
    if (config->data_bytes_max == 0) engine->config.data_bytes_max = config->datagram_bytes_max;
    engine->now_ns = now_ns;
    qsm_scope_keys_derive(&engine->keys, config->scope_id, config->scope_key, config->random_seed);
    engine->aegis = config->no_aes ? QSM_AEGIS_NONE : qsm_aegis_best();
    qsm_prng_seed(&engine->prng, config->random_seed);
    /* What is received may fill its share; what is sent, asked for and lent needs room besides. */
    qsm_pool_init(&engine->pool,
                  (uint64_t)config->receive_bytes_max * 2 + config->window_bytes_max * 4ull);
    engine->groups.item_bytes = sizeof(qsm_group);
    engine->scheduler.outgoing.item_bytes = sizeof(qsm_outgoing);
    qsm_orders_init(&engine->delivery.orders);
    engine->subscription_generation = 1;
    qsm_client_start(engine, now_ns);
    *out = engine;
    return QSM_OK;
}

static void free_events(qsm_engine *engine) {
    qsm_event_queue *events = &engine->events;
    for (uint32_t i = 0; i < events->count; i++) {
        qsm_pending_event *pending = &events->items[(events->first + i) & (events->capacity - 1)];
        if (pending->lent != NULL) qsm_buffer_release(pending->lent);
        free(pending->members);
    }
    free(events->items);
}

void qsm_engine_destroy(qsm_engine *engine) {
    if (engine == NULL) return;
    qsm_host_stop(engine);
    for (qsm_group *group = qsm_group_next(engine, NULL), *next; group != NULL; group = next) {
        next = qsm_group_next(engine, group);
        qsm_group_free(group);
    }
    while (engine->regions.count > 0) {
        uint32_t cursor = 0;
        qsm_region_dissolve(qsm_table_next(&engine->regions, &cursor));
    }
    qsm_client_stop(engine);
    qsm_forget_applicants(engine);
    while (engine->peers.count > 0) { /* none is left unless a use was not given back */
        uint32_t cursor = 0;
        qsm_peer *peer = qsm_table_next(&engine->peers, &cursor);
        peer->uses = 1;
        qsm_peer_unuse(engine, peer);
    }
    for (uint32_t which = 0; which < QSM_INBOX_COUNT; which++) {
        qsm_inbox *inbox = &engine->inbox[which];
        for (uint32_t i = 0; i < inbox->count; i++)
            qsm_buffer_release(
                inbox->items[(inbox->first + i) & (inbox->capacity - 1)].packet.buffer);
        free(inbox->items);
    }
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++) {
        qsm_outbox *outbox = &engine->outbox[class];
        for (uint32_t i = 0; i < outbox->count; i++)
            qsm_buffer_release(
                outbox->items[(outbox->first + i) & (outbox->capacity - 1)].packet.buffer);
        free(outbox->items);
    }
    free_events(engine);
    qsm_delivery_free(engine);
    qsm_repairs_free(&engine->repairs);
    qsm_dead_free(&engine->dead);
    qsm_table_free(&engine->peers);
    qsm_table_free(&engine->regions);
    qsm_slab_free(&engine->groups);
    qsm_slab_free(&engine->scheduler.outgoing);
    qsm_index_free(&engine->group_places);
    qsm_alarms_free(&engine->alarms);
    free(engine->plan);
    qsm_pool_free(&engine->pool);
    qsm_blocks_free(&engine->blocks);
    free(engine);
}

int qsm_engine_add_peer(qsm_engine *engine, const qsm_address *address) {
    if (address == NULL || address->multicast || address->family != engine->config.self.family)
        return QSM_ERR_ARGUMENT;
    if (address->family != QSM_FAMILY_SIM && address->port == 0) return QSM_ERR_ARGUMENT;
    if (!qsm_address_equal(address, &engine->config.self)) qsm_client_add_peer(engine, address);
    return QSM_OK;
}

int qsm_engine_add_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_add(&engine->keys, key);
}

int qsm_engine_use_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_use(&engine->keys, key);
}

int qsm_engine_drop_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_drop(&engine->keys, key);
}

void qsm_engine_close(qsm_engine *engine, uint64_t now_ns) {
    engine->now_ns = now_ns;
    qsm_client_close(engine, now_ns);
}

/* ---- services for the parts ------------------------------------------------------------------ */

bool qsm_address_equal(const qsm_address *a, const qsm_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

void qsm_post_control(qsm_engine *engine, uint8_t kind, qsm_control *control,
                      const qsm_address *to) {
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, QSM_SMALL_BUFFER_BYTES);
    if (buffer == NULL) return;
    control->side = qsm_side(engine);
    uint32_t bytes = qsm_control_write(&engine->keys, kind, engine->id, ++engine->control_counter,
                                       control, buffer->data, engine->config.datagram_bytes_max);
    qsm_slice packet = {.buffer = buffer, .bytes = bytes};
    if (bytes > 0) qsm_post_packet(engine, QSM_CLASS_CONTROL, to, &packet);
    qsm_buffer_release(buffer);
}

bool qsm_post_packet(qsm_engine *engine, uint32_t class, const qsm_address *to,
                     const qsm_slice *packet) {
    qsm_outbox *outbox = &engine->outbox[class];
    if (outbox->count == outbox->capacity) {
        uint32_t capacity = outbox->capacity ? outbox->capacity * 2 : 64;
        qsm_departure *items = malloc(capacity * sizeof *items);
        if (items == NULL) return false;
        for (uint32_t i = 0; i < outbox->count; i++)
            items[i] = outbox->items[(outbox->first + i) & (outbox->capacity - 1)];
        free(outbox->items);
        *outbox = (qsm_outbox){.items = items, .capacity = capacity, .count = outbox->count};
    }
    qsm_buffer_retain(packet->buffer);
    outbox->items[(outbox->first + outbox->count++) & (outbox->capacity - 1)] =
        (qsm_departure){.to = *to, .packet = *packet};
    return true;
}

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

void qsm_forget_applicants(qsm_engine *engine) {
    for (uint32_t i = 0; i < QSM_APPLICANTS_MAX; i++) {
        if (engine->applicants[i] != NULL) qsm_peer_unuse(engine, engine->applicants[i]);
        engine->applicants[i] = NULL;
    }
}

void qsm_forget_events(qsm_engine *engine, const qsm_group *group) {
    qsm_event_queue *events = &engine->events;
    for (uint32_t i = 0; i < events->count; i++) {
        qsm_pending_event *pending = &events->items[(events->first + i) & (events->capacity - 1)];
        if (pending->event.group == group) pending->event.type = 0; /* passed over when fetched */
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

qsm_buffer *qsm_buffer_new(qsm_engine *engine, uint32_t capacity) {
    if (capacity == 0 || capacity > QSM_LARGE_BUFFER_BYTES) return NULL;
    return qsm_pool_take(&engine->pool, capacity);
}

uint8_t *qsm_buffer_data(qsm_buffer *buffer) {
    return buffer->data;
}

void qsm_buffer_free(qsm_buffer *buffer) {
    if (buffer != NULL) qsm_buffer_release(buffer);
}

static uint32_t inbox_for(qsm_engine *engine, const qsm_header *header, const qsm_address *from) {
    if (header->kind == QSM_KIND_PULL) return QSM_CLASS_REPAIR;
    if (header->kind == QSM_KIND_TOKEN) return QSM_INBOX_TOKENS;
    if (header->kind != QSM_KIND_DATA) return QSM_CLASS_CONTROL;
    qsm_peer *peer = qsm_peer_find(engine, header->sender);
    return peer != NULL && qsm_address_equal(&peer->address, from) ? QSM_CLASS_DATA
                                                                   : QSM_CLASS_REPAIR;
}

/* `genuine` is the tag that the packet must have, NULL: to be made here. */
static void take_in(qsm_engine *engine, const qsm_address *from, const qsm_slice *packet,
                    const uint8_t *genuine) {
    qsm_arrival arrival = {.packet = *packet, .from = *from};
    const uint8_t *data = qsm_slice_data(packet);
    qsm_count(engine, QSM_COUNT_datagrams_received);
    qsm_count_add(engine, QSM_COUNT_bytes_received, packet->bytes);
    bool good =
        genuine == NULL
            ? qsm_header_open(&engine->keys, data, packet->bytes, &arrival.header)
            : qsm_header_open_tagged(&engine->keys, data, qsm_header_front(data, packet->bytes),
                                     genuine, &arrival.header);
    if (!good) {
        qsm_count(engine, QSM_COUNT_dropped_not_authentic);
        return;
    }
    if (arrival.header.sender == engine->id) return; /* our own multicast */
    uint64_t tag;
    memcpy(&tag, qsm_slice_data(packet) + 16, sizeof tag);
    qsm_trace_mix(&engine->trace, tag);
    qsm_inbox *inbox = &engine->inbox[inbox_for(engine, &arrival.header, from)];
    if (inbox->count == inbox->capacity) {
        uint32_t capacity = inbox->capacity ? inbox->capacity * 2 : 64;
        qsm_arrival *items = capacity <= 65536 ? malloc(capacity * sizeof *items) : NULL;
        if (items == NULL) {
            qsm_count(engine, QSM_COUNT_dropped_no_buffer);
            return;
        }
        for (uint32_t i = 0; i < inbox->count; i++)
            items[i] = inbox->items[(inbox->first + i) & (inbox->capacity - 1)];
        free(inbox->items);
        *inbox = (qsm_inbox){.items = items, .capacity = capacity, .count = inbox->count};
    }
    qsm_buffer_retain(packet->buffer);
    inbox->items[(inbox->first + inbox->count++) & (inbox->capacity - 1)] = arrival;
}

/* Takes in some datagrams whose tags are made at once. False, and nothing is done: they are not all
 * alike. */
static bool take_in_many(qsm_engine *engine, const qsm_address *from, qsm_buffer *buffer,
                         uint32_t begin, uint32_t segment_bytes, uint32_t count) {
    const uint8_t *packets[QSM_TAGS_AT_ONCE];
    uint8_t tags[QSM_TAGS_AT_ONCE][QSM_TAG_BYTES];
    uint32_t front = qsm_header_front(buffer->data + begin, segment_bytes);
    for (uint32_t i = 0; i < count; i++) {
        packets[i] = buffer->data + begin + i * segment_bytes;
        if (front == 0 || qsm_header_front(packets[i], segment_bytes) != front) return false;
    }
    qsm_packet_tags(&engine->keys, packets, count, front, tags);
    for (uint32_t i = 0; i < count; i++) {
        qsm_slice packet = {
            .buffer = buffer, .offset = begin + i * segment_bytes, .bytes = segment_bytes};
        take_in(engine, from, &packet, tags[i]);
    }
    return true;
}

void qsm_engine_receive(qsm_engine *engine, uint64_t now_ns, const qsm_address *from,
                        qsm_buffer *buffer, uint32_t bytes, uint32_t segment_bytes) {
    assert(bytes <= buffer->capacity);
    engine->now_ns = now_ns;
    if (segment_bytes == 0 || segment_bytes > bytes) segment_bytes = bytes;
    uint32_t begin = 0;
    while (segment_bytes > 0) {
        uint32_t left = (bytes - begin) / segment_bytes;
        uint32_t count = left < QSM_TAGS_AT_ONCE ? left : QSM_TAGS_AT_ONCE;
        if (!qsm_packet_tags_pay(&engine->keys, count) ||
            !take_in_many(engine, from, buffer, begin, segment_bytes, count))
            break;
        begin += count * segment_bytes;
    }
    for (uint32_t at = begin; at < bytes; at += segment_bytes) {
        uint32_t part = bytes - at < segment_bytes ? bytes - at : segment_bytes;
        qsm_slice packet = {.buffer = buffer, .offset = at, .bytes = part};
        take_in(engine, from, &packet, NULL);
    }
    qsm_buffer_release(buffer);
}

void qsm_engine_receive_copy(qsm_engine *engine, uint64_t now_ns, const qsm_address *from,
                             const uint8_t *data, uint32_t bytes) {
    engine->now_ns = now_ns;
    bool possible = bytes <= QSM_DATA_BYTES_MAX;
    qsm_buffer *buffer = possible ? qsm_pool_take(&engine->pool, bytes) : NULL;
    if (buffer == NULL) {
        qsm_count(engine, possible ? QSM_COUNT_dropped_no_buffer : QSM_COUNT_dropped_not_authentic);
        return;
    }
    if (bytes) memcpy(buffer->data, data, bytes);
    qsm_slice packet = {.buffer = buffer, .bytes = bytes};
    take_in(engine, from, &packet, NULL);
    qsm_buffer_release(buffer);
}

static bool handle_next(qsm_engine *engine, uint32_t which) {
    qsm_inbox *inbox = &engine->inbox[which];
    if (inbox->count == 0) return false;
    qsm_arrival arrival = inbox->items[inbox->first];
    inbox->count--;
    inbox->first = inbox->count > 0 ? (inbox->first + 1) & (inbox->capacity - 1) : 0;
    qsm_dispatch(engine, &arrival);
    qsm_buffer_release(arrival.packet.buffer);
    return true;
}

static bool is_closed(const qsm_engine *engine) {
    return engine->client.health == QSM_HEALTH_CLOSED;
}

int qsm_engine_turn(qsm_engine *engine, uint64_t now_ns, uint32_t work_max) {
    uint32_t done = 0;
    engine->now_ns = now_ns;
    if (is_closed(engine)) return 0;
    qsm_client_turned(engine, now_ns);
    /* Any piece of work may be the one that ends the engine's life. */
    while (done < work_max && !is_closed(engine) && handle_next(engine, QSM_CLASS_CONTROL))
        done++;
    while (done < work_max && !is_closed(engine) && handle_next(engine, QSM_CLASS_REPAIR))
        done++;
    while (done < work_max && !is_closed(engine) && qsm_alarms_run_one(&engine->alarms, now_ns))
        done++;
    while (done < work_max && !is_closed(engine) && handle_next(engine, QSM_CLASS_DATA))
        done++;
    /* Few, and others wait for them: they go on even when there is more data than fits a turn. */
    while (!is_closed(engine) && handle_next(engine, QSM_INBOX_TOKENS))
        done++;
    return (int)done;
}

uint64_t qsm_engine_deadline_ns(const qsm_engine *engine) {
    if (engine->client.health == QSM_HEALTH_CLOSED) return UINT64_MAX;
    for (uint32_t which = 0; which < QSM_INBOX_COUNT; which++)
        if (engine->inbox[which].count > 0) return engine->now_ns;
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++)
        if (engine->outbox[class].count > 0) return engine->now_ns;
    uint64_t repair = qsm_repair_deadline_ns(engine);
    uint64_t alarm = qsm_alarms_next(&engine->alarms);
    uint64_t send = engine->client.suspended ? UINT64_MAX : qsm_scheduler_deadline_ns(engine);
    if (repair < send) send = repair;
    return alarm < send ? alarm : send;
}

/* ---- sending --------------------------------------------------------------------------------- */

int qsm_engine_send(qsm_engine *engine, uint64_t now_ns, qsm_datagram *datagrams,
                    uint32_t count_max) {
    engine->now_ns = now_ns;
    if (count_max == 0) return 0;
    if (engine->client.health != QSM_HEALTH_CLOSED) {
        qsm_repair_fill(engine, count_max);
        qsm_scheduler_fill(engine, count_max);
    }
    uint32_t count = 0;
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++) {
        qsm_outbox *outbox = &engine->outbox[class];
        uint32_t take = outbox->count < count_max - count ? outbox->count : count_max - count;
        for (uint32_t i = 0; i < take; i++) {
            const qsm_departure *departure =
                &outbox->items[(outbox->first + i) & (outbox->capacity - 1)];
            datagrams[count++] = (qsm_datagram){.to = departure->to,
                                                .data = qsm_slice_data(&departure->packet),
                                                .bytes = departure->packet.bytes,
                                                .priority = class};
        }
        engine->offered[class] = take;
    }
    return (int)count;
}

void qsm_engine_sent(qsm_engine *engine, uint32_t count) {
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++) {
        qsm_outbox *outbox = &engine->outbox[class];
        uint32_t take = engine->offered[class] < count ? engine->offered[class] : count;
        for (uint32_t i = 0; i < take; i++) {
            qsm_slice *packet = &outbox->items[outbox->first].packet;
            qsm_count(engine, QSM_COUNT_datagrams_sent);
            qsm_count_add(engine, QSM_COUNT_bytes_sent, packet->bytes);
            uint64_t tag;
            memcpy(&tag, qsm_slice_data(packet) + 16, sizeof tag);
            qsm_trace_mix(&engine->trace, ~tag);
            qsm_buffer_release(packet->buffer);
            outbox->first = (outbox->first + 1) & (outbox->capacity - 1);
            outbox->count--;
        }
        if (outbox->count == 0) outbox->first = 0;
        count -= take;
        engine->offered[class] = 0;
    }
}

enum { EVENTS_KEPT = 4096 }; /* room that is kept for events when there are none */

/* ---- events ---------------------------------------------------------------------------------- */

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

/* ---- a look inside --------------------------------------------------------------------------- */

int qsm_engine_subscriptions(const qsm_engine *engine, qsm_address *addresses, uint32_t count_max,
                             uint64_t *generation) {
    uint32_t count = 0;
    if (generation != NULL) *generation = engine->subscription_generation;
    if (count_max == 0 || !qsm_address_is_set(&engine->config.rendezvous)) return 0;
    addresses[count++] = engine->config.rendezvous;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->my_index >= 0 && !region->unicast && count < count_max)
            addresses[count++] = region->address;
    if (engine->config.hybrid_regions_min == 0) return (int)count;
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;) {
        const qsm_address *hybrid = qsm_extra_hybrid(group);
        if (qsm_address_is_set(hybrid) && count < count_max) addresses[count++] = *hybrid;
    }
    return (int)count;
}

uint64_t qsm_engine_node(const qsm_engine *engine) {
    return engine->id;
}

int qsm_engine_health(const qsm_engine *engine) {
    return (int)engine->client.health;
}

static uint64_t count_unicast(const qsm_engine *engine) {
    uint64_t count = 0;
    uint32_t cursor = 0;
    for (const qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->unicast && region->my_index >= 0 && !region->closing && region->alive_count > 1)
            count++;
    return count;
}

uint32_t qsm_engine_counters(const qsm_engine *engine, uint64_t *values, uint32_t count_max) {
    for (uint32_t i = 0; i < QSM_COUNTER_COUNT && i < count_max; i++)
        values[i] = engine->counters[i];
    if (count_max > QSM_COUNT_pool_bytes_now)
        values[QSM_COUNT_pool_bytes_now] = engine->pool.bytes_used;
    if (count_max > QSM_COUNT_unicast_now) values[QSM_COUNT_unicast_now] = count_unicast(engine);
    if (count_max > QSM_COUNT_events_now) values[QSM_COUNT_events_now] = engine->events.count;
    return QSM_COUNTER_COUNT;
}

uint64_t qsm_engine_trace_hash(const qsm_engine *engine) {
    return engine->trace.hash;
}

uint32_t qsm_engine_trace_text(const qsm_engine *engine, char *text, uint32_t bytes_max) {
    return qsm_trace_write(&engine->trace, text, bytes_max);
}

int qsm_engine_set_plan(qsm_engine *engine, const char *text, uint32_t bytes) {
    uint32_t line = 0;
    if (text == NULL) return QSM_ERR_ARGUMENT;
    if (bytes > QSM_PLAN_BYTES_MAX || qsm_policy_plan_check(text, bytes, &line) != QSM_OK)
        return QSM_ERR_PLAN;
    char *copy = malloc(bytes ? bytes : 1);
    if (copy == NULL) return QSM_ERR_NO_MEMORY;
    memcpy(copy, text, bytes);
    free(engine->plan);
    engine->plan = copy;
    engine->plan_bytes = bytes;
    if (engine->host != NULL) qsm_host_changed(engine->host);
    return QSM_OK;
}

int qsm_engine_regions(const qsm_engine *engine, qsm_region_info *regions, uint32_t count_max) {
    uint32_t count = 0, cursor = 0;
    for (qsm_region *region;
         count < count_max && (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        const qsm_sender *sender = region->sender;
        regions[count++] = (qsm_region_info){
            .region = region->uid,
            .member_count = region->member_count,
            .alive_count = region->alive_count,
            .ring_levels = region->rings.level_count,
            .sender_count = region->streams.count,
            .closing = region->closing,
            .unicast = region->unicast,
            .member = region->my_index >= 0,
            .unacknowledged_packets = sender ? (uint32_t)(sender->high - sender->acked) : 0,
            .rate_bytes_per_s = sender ? sender->rate.bytes_per_s : 0,
            .ack_ns = sender ? sender->ack_ns : 0,
            .token_round_ns = region->rings.parts[0].round_ns,
            .address = region->address};
    }
    return (int)count;
}
