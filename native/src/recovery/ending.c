/*
 * ending.c - how a dead sender's stream ends: its executor appends what other regions have and this
 * one lacks, and then the last packets, which name what nobody has.
 */
#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"

/* Adds a packet to the dead sender's stream, here and everywhere in the region. False when it
 * cannot be taken here now: then nothing has been sent. */
static bool append(qsm_estate *estate, qsm_stream *stream, qsm_data *data, const uint8_t *sealed) {
    qsm_engine *engine = estate->region->engine;
    /* One message may be longer than those that this node makes: its sender's packets are. */
    uint32_t bytes_max =
        data->message_count > 0 ? QSM_DATA_BYTES_MAX : qsm_control_bytes_max(engine);
    data->sender = estate->sender;
    data->side = qsm_side(engine);
    data->batch = qsm_batch(engine);
    data->region_count = 1;
    data->regions[0] = (qsm_region_header){
        .region = estate->region->uid, .sequence = estate->high + 1, .stable = stream->stable};
    uint32_t needed = qsm_data_front_bytes(data);
    for (uint32_t i = 0; i < data->message_count; i++)
        needed += data->messages[i].bytes;
    qsm_buffer *buffer = needed <= bytes_max ? qsm_pool_take(&engine->pool, needed) : NULL;
    if (buffer == NULL) return false;
    uint32_t bytes = qsm_data_write(&engine->keys, buffer->data, needed, data, sealed);
    qsm_slice packet = {.buffer = buffer, .bytes = bytes};
    qsm_data written;
    bool taken = bytes > 0 && qsm_data_reread(&packet, &written);
    if (taken) {
        qsm_stream_receive(stream, estate->high + 1, stream->stable, &packet, &written,
                           QSM_ORIGIN_HERE);
        taken = qsm_stream_packet(stream, estate->high + 1) != NULL;
    }
    if (taken) {
        estate->high++;
        stream->complete = false; /* the others have yet to get it */
        qsm_region_multicast(estate->region, QSM_CLASS_DATA, &packet);
    }
    qsm_buffer_release(buffer);
    return taken;
}

/* All messages of the stream that are here, by their keys. */
static bool list_messages(qsm_stream *stream, qsm_table *here) {
    for (uint64_t s = stream->base; s <= stream->high; s++) {
        qsm_data data;
        if (!qsm_stream_read(stream, s, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++)
            if (!qsm_table_put(here, qsm_estate_key(&data.messages[i]), stream)) return false;
    }
    return true;
}

/* Appends what other regions have and this one lacks. Appended ones are in the stream and found
 * there when this has to be tried again. */
static bool append_offers(qsm_estate *estate, qsm_stream *stream) {
    qsm_table here = {0};
    bool good = estate->offer_count == 0 || list_messages(stream, &here);
    qsm_estate_sort_offers(estate);
    for (uint32_t i = 0; i < estate->offer_count && good && !QSM_BUG(9); i++) {
        const qsm_message *message = &estate->offers[i]->message;
        if (qsm_table_get(&here, qsm_estate_key(message)) != NULL) continue;
        uint64_t forged = estate->region->engine->counters[QSM_COUNT_messages_forged];
        qsm_data data = {.flags = QSM_DATA_ESTATE, .message_count = 1};
        data.messages[0] = *message;
        good = append(estate, stream, &data, message->sealed);
        if (good) qsm_count(estate->region->engine, QSM_COUNT_estate_messages);
        /* One that does not open is not of the dead sender: it must not hold up the rest. */
        good = good || estate->region->engine->counters[QSM_COUNT_messages_forged] > forged;
    }
    qsm_table_free(&here);
    return good;
}

static bool is_hole(qsm_stream *stream, uint64_t sequence) {
    qsm_slot *slot = qsm_stream_slot(stream, sequence);
    return slot == NULL || slot->state == QSM_SLOT_MISSING || slot->state == QSM_SLOT_HOLE;
}

/* Ends the stream and names what nobody has of it, in as many packets as that takes: one names what
 * is in one chunk of slots, no more is taken from it. */
static bool append_end(qsm_estate *estate, qsm_stream *stream) {
    uint32_t most = qsm_ranges_fit(qsm_control_bytes_max(estate->region->engine),
                                   QSM_DATA_FIXED_BYTES + QSM_REGION_HEADER_BYTES);
    uint64_t end = estate->high;
    qsm_data last = {.flags = QSM_DATA_ESTATE};
    for (uint64_t s = stream->contiguous + 1; s <= end; s++) {
        if (!is_hole(stream, s)) continue;
        qsm_range *range = last.hole_count ? &last.holes[last.hole_count - 1] : NULL;
        bool beyond = range != NULL && s >= qsm_stream_chunk_end(last.holes[0].first);
        if (range != NULL && range->last + 1 == s && !beyond) {
            range->last = s;
            continue;
        }
        if (last.hole_count == most || beyond) {
            if (!append(estate, stream, &last, NULL)) return false;
            last.hole_count = 0;
        }
        last.holes[last.hole_count++] = (qsm_range){.first = s, .last = s};
    }
    last.flags |= QSM_DATA_FIN;
    return append(estate, stream, &last, NULL);
}

bool qsm_estate_end(qsm_estate *estate, qsm_stream *stream) {
    return append_offers(estate, stream) && append_end(estate, stream);
}
