#include "core/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"

void qsm_post_control(qsm_engine *engine, uint8_t kind, qsm_control *control,
                      const qsm_address *to) {
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, QSM_SMALL_BUFFER_BYTES);
    if (buffer == NULL) return;
    control->side = qsm_side(engine);
    uint32_t bytes_max =
        kind == QSM_KIND_PROBE ? QSM_DATAGRAM_BYTES_MAX : qsm_control_bytes_max(engine);
    uint32_t bytes = qsm_control_write(&engine->keys, kind, engine->id, ++engine->control_counter,
                                       control, buffer->data, bytes_max);
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

void qsm_outbox_free(qsm_outbox *outbox) {
    for (uint32_t i = 0; i < outbox->count; i++)
        qsm_buffer_release(
            outbox->items[(outbox->first + i) & (outbox->capacity - 1)].packet.buffer);
    free(outbox->items);
}
