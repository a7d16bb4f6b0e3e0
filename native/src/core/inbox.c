#include "core/inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/dispatch.h"
#include "core/engine.h"
#include "membership/peer.h"

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

/* ---- taking in ------------------------------------------------------------------------------- */

static uint32_t inbox_for(qsm_engine *engine, const qsm_header *header, const qsm_address *from) {
    if (header->kind == QSM_KIND_PULL || header->kind == QSM_KIND_PART) return QSM_CLASS_REPAIR;
    if (header->kind == QSM_KIND_TOKEN) return QSM_INBOX_TOKENS;
    if (header->kind != QSM_KIND_DATA) return QSM_CLASS_CONTROL;
    qsm_peer *peer = qsm_peer_find(engine, header->sender);
    return peer != NULL && qsm_address_equal(&peer->address, from) ? QSM_CLASS_DATA
                                                                   : QSM_CLASS_REPAIR;
}

static void put_in(qsm_engine *engine, const qsm_arrival *arrival) {
    const qsm_slice *packet = &arrival->packet;
    uint64_t tag;
    memcpy(&tag, qsm_slice_data(packet) + 16, sizeof tag);
    qsm_trace_mix(&engine->trace, tag);
    qsm_inbox *inbox = &engine->inbox[inbox_for(engine, &arrival->header, &arrival->from)];
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
    inbox->items[(inbox->first + inbox->count++) & (inbox->capacity - 1)] = *arrival;
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
    put_in(engine, &arrival);
}

void qsm_inbox_take_joined(qsm_engine *engine, const qsm_address *from, const qsm_slice *packet) {
    qsm_arrival arrival = {.packet = *packet, .from = *from};
    if (!qsm_header_open(&engine->keys, qsm_slice_data(packet), packet->bytes, &arrival.header) ||
        arrival.header.kind != QSM_KIND_DATA) {
        qsm_count(engine, QSM_COUNT_dropped_not_authentic);
        return;
    }
    if (arrival.header.sender != engine->id) put_in(engine, &arrival);
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

/* ---- handing out ----------------------------------------------------------------------------- */

bool qsm_inbox_handle_next(qsm_engine *engine, uint32_t which) {
    qsm_inbox *inbox = &engine->inbox[which];
    if (inbox->count == 0) return false;
    qsm_arrival arrival = inbox->items[inbox->first];
    inbox->count--;
    inbox->first = inbox->count > 0 ? (inbox->first + 1) & (inbox->capacity - 1) : 0;
    qsm_dispatch(engine, &arrival);
    qsm_buffer_release(arrival.packet.buffer);
    return true;
}

void qsm_inbox_free(qsm_inbox *inbox) {
    for (uint32_t i = 0; i < inbox->count; i++)
        qsm_buffer_release(inbox->items[(inbox->first + i) & (inbox->capacity - 1)].packet.buffer);
    free(inbox->items);
}
