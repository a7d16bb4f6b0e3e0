#include "receiving/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/delivery.h"
#include "recovery/estate.h"
#include "recovery/repair.h"
#include "sending/sender.h"

qsm_stream *qsm_stream_find(qsm_region *region, uint64_t sender) {
    return qsm_table_get(&region->streams, sender);
}

qsm_stream *qsm_stream_of(qsm_region *region, uint64_t sender) {
    qsm_stream *stream = qsm_stream_find(region, sender);
    if (stream != NULL) return stream;
    bool own = sender == region->engine->id;
    qsm_peer *peer = own ? NULL : qsm_peer_find(region->engine, sender);
    if (!own && peer == NULL) return NULL;
    stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->region = region;
    stream->sender = sender;
    stream->own = own;
    stream->base = 1;
    qsm_asking_init(&stream->asking);
    qsm_lateness_init(&stream->lateness, region->lateness_ns);
    qsm_alarm_init(&stream->repair_alarm, qsm_repair_ask, stream);
    if (!qsm_table_put(&region->streams, sender, stream)) {
        free(stream);
        return NULL;
    }
    if (peer != NULL) peer->uses++;
    region->engine->counters[QSM_COUNT_streams_now]++;
    int32_t index = own ? -1 : qsm_region_index(region, sender);
    bool lost = !qsm_region_knows_alive(region, sender);
    if (peer != NULL && (lost || (index >= 0 ? region->members[index].dead : peer->dead)))
        qsm_orphan_found(stream);
    return stream;
}

static void release_slot(qsm_slot *slot) {
    if (slot->packet.buffer == NULL) return;
    qsm_buffer_release(slot->packet.buffer);
    slot->packet = (qsm_slice){0};
}

void qsm_stream_free(qsm_stream *stream) {
    qsm_engine *engine = stream->region->engine;
    qsm_alarm_clear(&engine->alarms, &stream->repair_alarm);
    for (uint32_t c = 0; c < QSM_STREAM_CHUNKS; c++) {
        for (uint32_t i = 0; stream->chunks[c] != NULL && i < QSM_STREAM_CHUNK_SLOTS; i++)
            release_slot(&stream->chunks[c][i]);
        free(stream->chunks[c]);
    }
    free(stream->spare);
    qsm_table_remove(&stream->region->streams, stream->sender);
    if (!stream->own) qsm_peer_unuse(engine, qsm_peer_find(engine, stream->sender));
    engine->counters[QSM_COUNT_streams_now]--;
    free(stream);
}

static qsm_slot **chunk_at(qsm_stream *stream, uint64_t sequence) {
    return &stream->chunks[sequence / QSM_STREAM_CHUNK_SLOTS % QSM_STREAM_CHUNKS];
}

qsm_slot *qsm_stream_slot(qsm_stream *stream, uint64_t sequence) {
    /* One chunk less than there is: the first and the last may be the same place of the ring. */
    if (sequence < stream->base ||
        sequence >= stream->base + QSM_STREAM_SLOTS_MAX - QSM_STREAM_CHUNK_SLOTS)
        return NULL;
    qsm_slot *chunk = *chunk_at(stream, sequence);
    return chunk != NULL ? &chunk[sequence % QSM_STREAM_CHUNK_SLOTS] : NULL;
}

const qsm_slice *qsm_stream_packet(qsm_stream *stream, uint64_t sequence) {
    qsm_slot *slot = qsm_stream_slot(stream, sequence);
    return slot != NULL && slot->packet.buffer != NULL ? &slot->packet : NULL;
}

bool qsm_stream_read(qsm_stream *stream, uint64_t sequence, qsm_data *data) {
    const qsm_slice *packet = qsm_stream_packet(stream, sequence);
    return packet != NULL && qsm_data_reread(packet, data);
}

qsm_slot *qsm_stream_reach(qsm_stream *stream, uint64_t sequence) {
    assert(sequence >= stream->base);
    if (sequence >= stream->base + QSM_STREAM_SLOTS_MAX - QSM_STREAM_CHUNK_SLOTS) return NULL;
    qsm_slot **chunk = chunk_at(stream, sequence);
    if (*chunk == NULL && stream->spare != NULL) {
        *chunk = stream->spare;
        stream->spare = NULL;
    }
    if (*chunk == NULL) *chunk = calloc(QSM_STREAM_CHUNK_SLOTS, sizeof **chunk);
    return qsm_stream_slot(stream, sequence);
}

/* Drops what nobody can want any more. */
static void trim(qsm_stream *stream) {
    while (stream->base <= stream->stable && stream->base <= stream->contiguous) {
        qsm_slot *slot = qsm_stream_slot(stream, stream->base);
        if (slot != NULL && slot->state == QSM_SLOT_WAITING) break;
        if (slot != NULL) release_slot(slot);
        if (slot != NULL) *slot = (qsm_slot){0};
        stream->base++;
        if (stream->base % QSM_STREAM_CHUNK_SLOTS != 0) continue;
        qsm_slot **chunk = chunk_at(stream, stream->base - 1);
        free(stream->spare); /* all its slots are empty again: the next chunk can be this one */
        stream->spare = *chunk;
        *chunk = NULL;
    }
}

static bool may_release(const qsm_stream *stream, uint64_t sequence, bool wide) {
    if (sequence <= stream->stable) return true;
    return !wide && sequence <= stream->cut && !qsm_region_caches(stream->region, sequence) &&
           qsm_region_is_cached_well(stream->region, sequence, stream->sender);
}

static void settle_slot(qsm_stream *stream, uint64_t sequence, qsm_slot *slot) {
    slot->state = QSM_SLOT_KEPT;
    if (!may_release(stream, sequence, slot->wide)) return;
    release_slot(slot);
    slot->state = QSM_SLOT_RELEASED;
}

static void advance(qsm_stream *stream) {
    while (stream->contiguous < stream->high) {
        qsm_slot *slot = qsm_stream_slot(stream, stream->contiguous + 1);
        /* What waits has not been looked at: it may turn out not to be genuine. */
        if (slot == NULL || slot->state == QSM_SLOT_MISSING || slot->state == QSM_SLOT_WAITING)
            break;
        stream->contiguous++;
    }
    if (stream->contiguous == stream->high) memset(stream->lag_mark, 0, sizeof stream->lag_mark);
    trim(stream);
}

void qsm_stream_learn_high(qsm_stream *stream, uint64_t high) {
    if (high <= stream->high || stream->own) return;
    if (stream->fin_known && (!stream->orphan || stream->settled) && high > stream->fin) return;
    /* A sender's window keeps it within this of every member. Who claims more must not make us
     * count so far. */
    if (high - stream->contiguous > QSM_STREAM_SLOTS_MAX) return;
    if (stream->high <= stream->high_received) stream->told_ns = stream->region->engine->now_ns;
    stream->high = high;
    qsm_rings_wake(stream->region, stream->region->engine->now_ns);
    qsm_repair_schedule(stream, stream->region->engine->now_ns);
}

void qsm_stream_learn_stable(qsm_stream *stream, uint64_t stable) {
    if (stable <= stream->stable || stream->own) return;
    qsm_stream_learn_high(stream, stable);
    if (stable > stream->high) return; /* beyond the end of the stream */
    stream->stable = stable;
    trim(stream);
}

void qsm_stream_learn_cut(qsm_stream *stream, uint64_t cut) {
    if (cut <= stream->cut || stream->own) return;
    uint64_t from = stream->cut + 1 > stream->base ? stream->cut + 1 : stream->base;
    stream->cut = cut;
    for (uint64_t s = from; s <= cut && s <= stream->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot != NULL && slot->state == QSM_SLOT_KEPT) settle_slot(stream, s, slot);
    }
}

void qsm_stream_mark_hole(qsm_stream *stream, uint64_t sequence) {
    if (sequence <= stream->contiguous || sequence > stream->high) return;
    qsm_slot *slot = qsm_stream_reach(stream, sequence);
    if (slot == NULL || slot->state != QSM_SLOT_MISSING) return;
    slot->state = QSM_SLOT_HOLE;
    qsm_count(stream->region->engine, QSM_COUNT_orphan_packets_lost);
    advance(stream);
}

static void take_fin(qsm_stream *stream, uint64_t sequence, const qsm_data *data) {
    bool settles = data->flags & QSM_DATA_ESTATE;
    /* An end of the sender's own, or of an executor that has died, may come by late: what a later
     * executor has added after it counts. */
    if (stream->settled && sequence < stream->fin) return;
    if (settles && sequence < stream->high_received) return;
    stream->fin_known = true;
    stream->fin = sequence;
    if (!settles) return;
    stream->settled = true;
    stream->high = sequence; /* whatever was claimed beyond does not exist */
}

uint64_t qsm_stream_chunk_end(uint64_t sequence) {
    return sequence / QSM_STREAM_CHUNK_SLOTS * QSM_STREAM_CHUNK_SLOTS + QSM_STREAM_CHUNK_SLOTS;
}

/* What nobody has of a dead sender, as its executor says: in one chunk, so that a packet never
 * makes this node take much memory. */
static void take_holes(qsm_stream *stream, uint64_t sequence, const qsm_data *data) {
    if (data->hole_count == 0) return;
    uint64_t end = qsm_stream_chunk_end(data->holes[0].first);
    if (end > sequence) end = sequence;
    for (uint32_t i = 0; i < data->hole_count; i++)
        for (uint64_t s = data->holes[i].first; s <= data->holes[i].last && s < end; s++)
            if (!QSM_BUG(6)) qsm_stream_mark_hole(stream, s);
}

void qsm_stream_hear_verdict(qsm_stream *stream, uint64_t sequence, const qsm_data *data) {
    uint64_t before = stream->contiguous;
    if (stream->orphan && (data->flags & QSM_DATA_FIN)) take_fin(stream, sequence, data);
    take_holes(stream, sequence, data);
    if (stream->orphan && stream->contiguous > before) qsm_orphan_progress(stream);
}

static bool is_wide(const qsm_data *data) {
    for (uint32_t i = 0; i < data->message_count; i++)
        if (data->messages[i].flags & QSM_MESSAGE_WIDE) return true;
    return false;
}

/* The packet comes after later ones, or for a second time: how late it is tells how long to wait
 * for others. One that was sent again says nothing of that. */
static void note_lateness(qsm_stream *stream, uint64_t sequence, qsm_slot *slot) {
    qsm_region *region = stream->region;
    qsm_lateness_came(&stream->lateness, sequence, region->engine->now_ns);
    if (stream->lateness.window_ns > region->lateness_ns)
        region->lateness_ns = stream->lateness.window_ns;
    if (slot->attempts > 0 && slot->state == QSM_SLOT_MISSING && stream->lost > 0) stream->lost--;
}

/* What is kept for others is freed when everybody has it: when memory is full, the next packets in
 * order are taken all the same, and what an executor has to have, or all might wait for each other.
 */
static bool is_taken_when_full(const qsm_stream *stream, uint64_t sequence,
                               enum qsm_origin origin) {
    if (origin == QSM_ORIGIN_HERE) return true;
    if (qsm_delivery_waits_for_reader(stream->region->engine)) return false;
    if (sequence <= stream->contiguous + QSM_REPAIRS_WHEN_FULL) return true;
    const qsm_estate *estate = qsm_orphan_fetches(stream);
    return estate != NULL && qsm_reports_name(estate, sequence);
}

/* There is a slot for the packet and memory to keep it; if not, that is counted, and it is known
 * that there is such a packet. */
static bool has_room(qsm_stream *stream, uint64_t sequence, enum qsm_origin origin) {
    qsm_engine *engine = stream->region->engine;
    if (qsm_delivery_is_full(engine) && !is_taken_when_full(stream, sequence, origin)) {
        qsm_count(engine, QSM_COUNT_data_receive_full);
        qsm_stream_learn_high(stream, sequence);
        return false;
    }
    if (qsm_stream_reach(stream, sequence) == NULL ||
        (stream->fin_known && !stream->orphan && sequence > stream->fin)) {
        qsm_count(engine, QSM_COUNT_data_too_far_ahead);
        qsm_stream_learn_high(stream, sequence);
        return false;
    }
    return true;
}

/* Puts the packet into its slot, to be delivered. `again`: its sender has sent it once more. */
static qsm_slot *keep_packet(qsm_stream *stream, uint64_t sequence, const qsm_slice *packet,
                             bool repaired, bool again) {
    qsm_engine *engine = stream->region->engine;
    qsm_slot *slot = qsm_stream_slot(stream, sequence);
    if (slot->attempts > 0) qsm_asking_answered(&stream->asking);
    if (again) { /* most likely to all who lacked it */
        slot->given_to = QSM_GIVEN_TO_ALL;
        slot->asked_ns = engine->now_ns;
    }
    slot->packet = *packet;
    qsm_buffer_retain(packet->buffer);
    if (repaired) {
        qsm_count(engine, QSM_COUNT_repairs_received);
        stream->second_hand = true;
        qsm_region_hearing_helped(engine);
    }
    slot->state = QSM_SLOT_WAITING;
    return slot;
}

void qsm_stream_receive(qsm_stream *stream, uint64_t sequence, uint64_t stable,
                        const qsm_slice *packet, const qsm_data *data, enum qsm_origin origin) {
    qsm_engine *engine = stream->region->engine;
    assert(!stream->own);
    qsm_stream_learn_stable(stream, stable);
    qsm_slot *slot = qsm_stream_slot(stream, sequence);
    bool here = sequence <= stream->contiguous || sequence < stream->base ||
                (slot != NULL && slot->state != QSM_SLOT_MISSING);
    bool again = origin == QSM_ORIGIN_SENDER && (data->flags & QSM_DATA_AGAIN);
    bool repaired = origin == QSM_ORIGIN_OTHERS || again;
    if (!repaired) stream->first_hand = true;
    if (!repaired && slot != NULL && (here ? slot->attempts > 0 : sequence < stream->high_received))
        note_lateness(stream, sequence, slot);
    if (here) {
        qsm_count(engine, QSM_COUNT_data_duplicate);
        return;
    }
    if (!has_room(stream, sequence, origin)) return;
    stream->received_ns = engine->now_ns;
    bool first = stream->high == stream->stable;
    if (sequence > stream->high) stream->high = sequence;
    if (sequence > stream->high_received) stream->high_received = sequence;
    slot = keep_packet(stream, sequence, packet, repaired, again);
    slot->wide = is_wide(data);
    enum qsm_delivered delivered = qsm_delivery_packet(engine, stream->region, data);
    if (delivered == QSM_DELIVERY_FORGED) {
        release_slot(slot);
        slot->state = QSM_SLOT_MISSING;
        qsm_repair_schedule(stream, engine->now_ns);
        return;
    }
    if (delivered == QSM_DELIVERED)
        settle_slot(stream, sequence, slot);
    else
        stream->waiting++;
    if (data->flags & QSM_DATA_FIN) take_fin(stream, sequence, data);
    if (data->flags & QSM_DATA_ESTATE) take_holes(stream, sequence, data);
    advance(stream);
    if (stream->contiguous < stream->high_received)
        qsm_lateness_reached(&stream->lateness, stream->high_received, engine->now_ns);
    if (stream->contiguous < stream->high || stream->waiting > 0)
        qsm_repair_schedule(stream, engine->now_ns);
    if (first) qsm_rings_wake(stream->region, engine->now_ns);
    qsm_rings_traffic(stream->region, packet->bytes, engine->now_ns);
    if (stream->orphan) qsm_orphan_progress(stream);
}

void qsm_stream_retry_waiting(qsm_stream *stream) {
    qsm_engine *engine = stream->region->engine;
    if (engine->client.suspended) return; /* tried again by the repair alarm */
    for (uint64_t s = stream->base; s <= stream->high && stream->waiting > 0; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL) break;
        if (slot->state != QSM_SLOT_WAITING) continue;
        qsm_data data;
        bool read = qsm_stream_read(stream, s, &data);
        assert(read); /* it was read when it arrived */
        (void)read;
        enum qsm_delivered delivered = qsm_delivery_packet(engine, stream->region, &data);
        if (delivered == QSM_DELIVERY_WAITS) continue;
        stream->waiting--;
        if (delivered == QSM_DELIVERED) {
            settle_slot(stream, s, slot);
            continue;
        }
        release_slot(slot);
        slot->state = QSM_SLOT_MISSING;
    }
    advance(stream);
    qsm_repair_schedule(stream, engine->now_ns);
}

uint64_t qsm_stream_cached_low(qsm_stream *stream) {
    if (stream->own) return stream->region->sender != NULL ? stream->region->sender->high : 0;
    for (uint64_t s = stream->contiguous + 1; s <= stream->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL) return s - 1;
        bool here = slot->state != QSM_SLOT_MISSING && slot->state != QSM_SLOT_WAITING;
        if (!here && qsm_region_caches(stream->region, s)) return s - 1;
    }
    return stream->high;
}

bool qsm_stream_is_active(const qsm_stream *stream) {
    if (stream->own) {
        const qsm_sender *sender = stream->region->sender;
        return sender != NULL && sender->high > sender->stable;
    }
    /* That everybody has all of a dead sender's stream is found out by the tokens. Why it is kept
     * on then is a matter between executors. */
    if (stream->orphan && stream->complete) return false;
    return stream->high > stream->stable;
}

bool qsm_stream_is_finished(const qsm_stream *stream) {
    if (stream->own)
        return stream->region->sender == NULL || qsm_sender_is_finished(stream->region->sender);
    if (stream->high == 0) return true;
    return stream->contiguous == stream->high && stream->waiting == 0 &&
           (!stream->orphan || (stream->fin_known && stream->contiguous == stream->fin));
}
