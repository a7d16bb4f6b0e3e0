#include "core/parts.h"

#include <string.h>

#include "core/engine.h"
#include "membership/peer.h"

enum {
    TOO_OLD_NS = 1000000000,
    PART_HEADER_BYTES = QSM_HEADER_BYTES + 4,
    PART_BYTES = QSM_SAFE_BYTES - PART_HEADER_BYTES, /* of the packet, in each part but the last */
    TORN_OF_ONE_MAX = QSM_TORN_MAX / 4 /* packets of one node, before it takes room of others */
};

static void on_alarm(void *context, uint64_t now_ns);

void qsm_parts_start(qsm_engine *engine) {
    qsm_alarm_init(&engine->parts.alarm, on_alarm, engine);
}

/* ---- cutting --------------------------------------------------------------------------------- */

static bool post_part(qsm_engine *engine, uint32_t class, const qsm_address *to,
                      const qsm_slice *packet, uint32_t offset) {
    uint32_t left = packet->bytes - offset;
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, QSM_SAFE_BYTES);
    if (buffer == NULL) return false;
    qsm_writer out = qsm_header_begin(buffer->data, QSM_SAFE_BYTES, QSM_KIND_PART, engine->id,
                                      engine->parts.serial);
    qsm_write16(&out, (uint16_t)packet->bytes);
    qsm_write16(&out, (uint16_t)offset);
    qsm_write_bytes(&out, qsm_slice_data(packet) + offset, left < PART_BYTES ? left : PART_BYTES);
    qsm_slice part = {.buffer = buffer, .bytes = qsm_header_finish(&engine->keys, &out)};
    bool posted = qsm_post_packet(engine, class, to, &part);
    if (posted) qsm_count(engine, QSM_COUNT_parts_sent);
    qsm_buffer_release(buffer);
    return posted;
}

void qsm_parts_post(qsm_engine *engine, uint32_t class, const qsm_address *to,
                    const qsm_slice *packet) {
    engine->parts.serial++;
    for (uint32_t offset = 0; offset < packet->bytes; offset += PART_BYTES)
        if (!post_part(engine, class, to, packet, offset)) return;
}

/* ---- joining --------------------------------------------------------------------------------- */

static void forget(qsm_engine *engine, qsm_torn *torn) {
    qsm_buffer_release(torn->buffer);
    *torn = (qsm_torn){0};
    engine->parts.torn_count--;
}

static void drop(qsm_engine *engine, qsm_torn *torn) {
    qsm_count(engine, QSM_COUNT_parts_dropped);
    forget(engine, torn);
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_parts *parts = &engine->parts;
    for (uint32_t i = 0; i < QSM_TORN_MAX; i++)
        if (parts->torn[i].buffer != NULL && now_ns - parts->torn[i].began_ns >= TOO_OLD_NS)
            drop(engine, &parts->torn[i]);
    if (parts->torn_count > 0) qsm_alarm_set(&engine->alarms, &parts->alarm, now_ns + TOO_OLD_NS);
}

/* A free place, or that of the oldest packet: of the same node when it has many. */
static qsm_torn *make_place(qsm_engine *engine, uint64_t sender) {
    qsm_parts *parts = &engine->parts;
    qsm_torn *oldest = NULL, *oldest_own = NULL, *empty = NULL;
    uint32_t own = 0;
    for (uint32_t i = 0; i < QSM_TORN_MAX; i++) {
        qsm_torn *torn = &parts->torn[i];
        if (torn->buffer == NULL) {
            empty = torn;
            continue;
        }
        if (oldest == NULL || torn->began_ns < oldest->began_ns) oldest = torn;
        if (torn->sender != sender) continue;
        own++;
        if (oldest_own == NULL || torn->began_ns < oldest_own->began_ns) oldest_own = torn;
    }
    qsm_torn *place = own >= TORN_OF_ONE_MAX ? oldest_own : empty != NULL ? empty : oldest;
    if (place->buffer != NULL) drop(engine, place);
    return place;
}

static qsm_torn *torn_of(qsm_engine *engine, const qsm_arrival *arrival, uint32_t bytes) {
    qsm_parts *parts = &engine->parts;
    for (uint32_t i = 0; i < QSM_TORN_MAX; i++) {
        qsm_torn *torn = &parts->torn[i];
        if (torn->buffer != NULL && torn->serial == arrival->header.counter &&
            torn->sender == arrival->header.sender)
            return torn->bytes == bytes ? torn : NULL;
    }
    qsm_torn *torn = make_place(engine, arrival->header.sender);
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, bytes);
    if (buffer == NULL) return NULL;
    *torn = (qsm_torn){.buffer = buffer,
                       .from = arrival->from,
                       .sender = arrival->header.sender,
                       .serial = arrival->header.counter,
                       .bytes = bytes,
                       .began_ns = engine->now_ns};
    parts->torn_count++;
    if (!qsm_alarm_is_set(&parts->alarm))
        qsm_alarm_set(&engine->alarms, &parts->alarm, engine->now_ns + TOO_OLD_NS);
    return torn;
}

void qsm_parts_arrived(qsm_engine *engine, const qsm_arrival *arrival) {
    qsm_count(engine, QSM_COUNT_parts_received);
    if (qsm_peer_find(engine, arrival->header.sender) == NULL) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    const uint8_t *packet = qsm_slice_data(&arrival->packet);
    qsm_reader in = {.at = packet + QSM_HEADER_BYTES, .end = packet + arrival->packet.bytes};
    uint32_t bytes = qsm_read16(&in), offset = qsm_read16(&in), length = qsm_reader_left(&in);
    uint32_t left = offset < bytes ? bytes - offset : 0;
    bool good = !in.failed && qsm_parts_fit(bytes) && left > 0 && offset % PART_BYTES == 0 &&
                length == (left < PART_BYTES ? left : PART_BYTES);
    qsm_torn *torn = good ? torn_of(engine, arrival, bytes) : NULL;
    if (torn == NULL) {
        qsm_count(engine, QSM_COUNT_parts_dropped);
        return;
    }
    memcpy(torn->buffer->data + offset, in.at, length);
    torn->here |= 1u << offset / PART_BYTES;
    if (torn->here + 1 < 1u << (bytes + PART_BYTES - 1) / PART_BYTES) return;
    qsm_count(engine, QSM_COUNT_parts_joined);
    torn->buffer->torn = true;
    qsm_slice whole = {.buffer = torn->buffer, .bytes = bytes};
    qsm_inbox_take_joined(engine, &torn->from, &whole);
    forget(engine, torn);
}

void qsm_parts_free(qsm_engine *engine) {
    qsm_alarm_clear(&engine->alarms, &engine->parts.alarm);
    for (uint32_t i = 0; i < QSM_TORN_MAX; i++)
        if (engine->parts.torn[i].buffer != NULL) forget(engine, &engine->parts.torn[i]);
}
