/*
 * repair_give.c - giving what others miss: what they ask for is noted, and sent when there is room
 * for it and it has not been sent just now.
 */
#include <stdlib.h>

#include "core/engine.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/repair.h"
#include "sending/sender.h"

enum {
    PROMISE_AGE_MAX_NS = 300000000, /* an older wish has been renewed or fulfilled elsewhere */
    FILL_STEPS_MAX = 4096,
    VERDICTS_MAX = 512, /* packets at the end of a dead sender's stream: four for each chunk of
                           slots name all its holes */
    RESEND_ALL = 4, /* times the pause before asking again, to the whole region: by then others have
                       it for who still lacks it */
    TURN_PACKETS = 16,  /* of one request, before the next one has its turn */
    SHARE = 2,          /* repairs take at most one in so many bytes of what passes here */
    RATE_MIN = 2000000, /* bytes a second */
    SLOW_NS = 10000000,
    BURST_BYTES = 65536,
    MEASURE_NS = 10000000
};

void qsm_repairs_free(qsm_repairs *repairs) {
    free(repairs->items);
    *repairs = (qsm_repairs){0};
}

/* ---- requests arrive ------------------------------------------------------------------------- */

/* The sequences of the stream that this node may have; none: the last is 0. */
static qsm_range what_is_here(qsm_engine *engine, uint64_t region_uid, uint64_t sender) {
    qsm_region *region = qsm_region_find(engine, region_uid);
    if (region == NULL) return (qsm_range){.first = 1, .last = 0};
    if (sender == engine->id && region->sender != NULL)
        return (qsm_range){.first = region->sender->stable + 1, .last = region->sender->high};
    qsm_stream *stream = qsm_stream_find(region, sender);
    if (stream == NULL) return (qsm_range){.first = 1, .last = 0};
    return (qsm_range){.first = stream->base, .last = stream->high_received};
}

void qsm_repair_promise(qsm_engine *engine, uint64_t to, const qsm_pull *lacks) {
    qsm_repairs *repairs = &engine->repairs;
    if (repairs->items == NULL) {
        repairs->items = calloc(QSM_REPAIR_QUEUE_MAX, sizeof *repairs->items);
        if (repairs->items == NULL) return;
        qsm_rate_init(&repairs->rate, 0, 0, engine->now_ns);
        qsm_rate_set(&repairs->rate, RATE_MIN, BURST_BYTES);
    }
    qsm_range here = what_is_here(engine, lacks->region, lacks->stream);
    for (uint32_t i = 0; i < lacks->range_count; i++) {
        qsm_range range = lacks->ranges[i];
        if (range.first < here.first) range.first = here.first;
        if (range.last > here.last) range.last = here.last;
        if (range.first > range.last) continue;
        if (repairs->count == QSM_REPAIR_QUEUE_MAX) {
            qsm_count(engine, QSM_COUNT_pulls_dropped);
            return;
        }
        uint32_t place = (repairs->first + repairs->count++) % QSM_REPAIR_QUEUE_MAX;
        repairs->items[place] = (qsm_repair){.region = lacks->region,
                                             .stream = lacks->stream,
                                             .range = range,
                                             .to = to,
                                             .last = lacks->meaning == QSM_PULL_ASKS_LAST,
                                             .asked_ns = engine->now_ns};
    }
}

/* Adds to `denial` what of the range is not here, while there is room for it and `steps` are left.
 */
static void find_absent(qsm_stream *stream, qsm_range range, qsm_pull *denial, uint32_t count_max,
                        uint32_t *steps) {
    if (range.first < stream->base) range.first = stream->base;
    qsm_range *last = NULL;
    for (uint64_t s = range.first; s <= range.last && *steps > 0; s++, (*steps)--) {
        if (qsm_stream_packet(stream, s) != NULL) {
            last = NULL;
            continue;
        }
        if (last == NULL && denial->range_count == count_max) return;
        if (last == NULL) {
            last = &denial->ranges[denial->range_count++];
            last->first = s;
        }
        last->last = s;
    }
}

/* Says what of it is not here, in no more ranges than the request has: who asks goes elsewhere. */
static void deny_absent(qsm_region *region, uint64_t from, const qsm_pull *pull) {
    qsm_stream *stream = qsm_stream_find(region, pull->stream);
    qsm_peer *peer = qsm_peer_find(region->engine, from);
    if (stream == NULL || stream->own || peer == NULL) return;
    uint32_t steps = QSM_REPAIRS_ASKED_MAX;
    qsm_control control = {
        .pull = {.region = pull->region, .stream = pull->stream, .meaning = QSM_PULL_ABSENT}};
    for (uint32_t i = 0; i < pull->range_count; i++)
        find_absent(stream, pull->ranges[i], &control.pull, pull->range_count, &steps);
    if (control.pull.range_count == 0) return;
    qsm_count(region->engine, QSM_COUNT_pulls_denied);
    qsm_post_control(region->engine, QSM_KIND_PULL, &control, &peer->address);
}

void qsm_repair_pull_arrived(qsm_engine *engine, uint64_t from, const qsm_pull *pull) {
    qsm_region *region = qsm_region_find(engine, pull->region);
    if (pull->meaning != QSM_PULL_ABSENT) qsm_count(engine, QSM_COUNT_pulls_received);
    if (region == NULL) return;
    if (pull->meaning == QSM_PULL_ABSENT) {
        qsm_repair_denied(region, pull);
        return;
    }
    qsm_repair_promise(engine, from, pull);
    deny_absent(region, from, pull);
}

/* ---- repairs are made ------------------------------------------------------------------------ */

/* Repairs may take a share of what passes here; what passes is measured now and then. */
static void measure(qsm_engine *engine) {
    qsm_repairs *repairs = &engine->repairs;
    uint64_t bytes =
        engine->counters[QSM_COUNT_bytes_received] + engine->counters[QSM_COUNT_bytes_sent];
    uint64_t elapsed = engine->now_ns - repairs->measured_ns;
    if (elapsed < MEASURE_NS) return;
    uint64_t share = (bytes - repairs->measured_bytes) * 1000000 / (elapsed / 1000) / SHARE;
    /* When a lack holds the sender up little passes, and yet the lack must be made good; but not
     * where answers take long because lines are full. */
    bool slow = repairs->answers_ns > SLOW_NS;
    uint64_t before = repairs->rate.bytes_per_s - repairs->rate.bytes_per_s / (slow ? 8 : 64);
    uint64_t least = slow ? RATE_MIN * (uint64_t)SLOW_NS / repairs->answers_ns : RATE_MIN;
    if (share < repairs->own_bytes_per_s / SHARE) share = repairs->own_bytes_per_s / SHARE;
    repairs->own_bytes_per_s = 0;
    repairs->answers_ns = 0;
    repairs->rate.bytes_per_s = share > before ? share : before;
    if (repairs->rate.bytes_per_s < least) repairs->rate.bytes_per_s = least;
    repairs->measured_ns = engine->now_ns;
    repairs->measured_bytes = bytes;
}

static void give(qsm_engine *engine, const qsm_peer *to, const qsm_slice *packet) {
    qsm_count(engine, QSM_COUNT_repairs_sent);
    qsm_rate_spend(&engine->repairs.rate, packet->bytes);
    qsm_packet_renew_tag(&engine->keys, packet->buffer->data + packet->offset);
    qsm_peer_post(engine, QSM_CLASS_REPAIR, to, packet);
}

static bool was_within(const qsm_engine *engine, uint64_t then_ns, uint64_t span_ns) {
    return then_ns != 0 && engine->now_ns - then_ns < span_ns;
}

/* This node's own packet: to the one who asked, or, when several lack it, to the whole region. */
static void give_own(qsm_engine *engine, qsm_region *region, const qsm_repair *repair,
                     qsm_peer *to) {
    qsm_out_packet *packet =
        region->sender != NULL ? qsm_sender_packet(region->sender, repair->range.first) : NULL;
    if (packet == NULL) return;
    qsm_slice slice = packet->packet;
    bool to_all = packet->resent_ns != 0 && packet->asked_by == 0;
    uint64_t quiet_ns = qsm_asking_quiet_ns(&region->lines) * (to_all ? RESEND_ALL : 1);
    if (was_within(engine, packet->resent_ns, quiet_ns) &&
        (to_all || packet->asked_by == repair->to))
        return;
    /* Once only: who still lacks it then may not hear our multicast. */
    bool several = repair->last || (packet->asked_by != 0 && packet->asked_by != repair->to);
    bool multicast = several && !region->unicast && !packet->resent_to_all;
    if (engine->repairs.own_bytes_per_s < region->sender->rate.bytes_per_s)
        engine->repairs.own_bytes_per_s = region->sender->rate.bytes_per_s;
    if (packet->resent_ns != 0) qsm_path_suspect(engine, to, slice.bytes);
    packet->resent_ns = engine->now_ns;
    packet->resent_to_all = packet->resent_to_all || multicast;
    packet->asked_by = multicast ? 0 : repair->to;
    qsm_packet_mark_again(&engine->keys, slice.buffer->data + slice.offset);
    if (!multicast) {
        give(engine, to, &slice);
        return;
    }
    qsm_count(engine, QSM_COUNT_repairs_multicast);
    qsm_rate_spend(&engine->repairs.rate, slice.bytes);
    qsm_region_multicast(region, QSM_CLASS_REPAIR, &slice);
}

/* False when it was given to that node just now. */
static bool note_given(qsm_region *region, qsm_slot *slot, const qsm_peer *to) {
    bool given = slot->given_to == (uint32_t)to->id || slot->given_to == QSM_GIVEN_TO_ALL;
    if (given && was_within(region->engine, slot->asked_ns, qsm_asking_quiet_ns(&region->lines)))
        return false;
    slot->given_to = (uint32_t)to->id;
    slot->asked_ns = region->engine->now_ns;
    return true;
}

static bool names_hole(const qsm_data *data, uint64_t sequence) {
    for (uint32_t i = 0; i < data->hole_count; i++)
        if (data->holes[i].first <= sequence && sequence <= data->holes[i].last) return true;
    return false;
}

/* What a dead sender's stream ends with is the answer to all that it names. */
static void note_named(qsm_stream *stream, const qsm_data *data, const qsm_peer *to) {
    for (uint32_t i = 0; i < data->hole_count; i++)
        for (uint64_t s = data->holes[i].first; s <= data->holes[i].last; s++) {
            qsm_slot *slot = qsm_stream_slot(stream, s);
            if (slot == NULL || slot->state != QSM_SLOT_HOLE) break;
            (void)note_given(stream->region, slot, to);
        }
}

/* Nobody has the packet that is asked for: whoever asks has missed the packet that says so. */
static void give_verdict(qsm_stream *stream, uint64_t sequence, const qsm_peer *to) {
    qsm_data data;
    uint32_t left = VERDICTS_MAX;
    for (uint64_t s = stream->high_received; s > sequence && left > 0; s--, left--) {
        if (!qsm_stream_read(stream, s, &data)) continue;
        if (!(data.flags & QSM_DATA_ESTATE)) return;
        if (!names_hole(&data, sequence)) continue;
        qsm_slot *slot = qsm_stream_slot(stream, s);
        note_named(stream, &data, to);
        if (note_given(stream->region, slot, to)) give(stream->region->engine, to, &slot->packet);
        return;
    }
}

/* Another's packet that is kept here. */
static void give_kept(qsm_engine *engine, qsm_region *region, const qsm_repair *repair,
                      qsm_peer *to) {
    qsm_stream *stream = qsm_stream_find(region, repair->stream);
    qsm_slot *slot = stream != NULL ? qsm_stream_slot(stream, repair->range.first) : NULL;
    bool hole = slot != NULL && slot->state == QSM_SLOT_HOLE;
    bool again = slot != NULL && slot->given_to == (uint32_t)to->id;
    if (slot == NULL || (slot->packet.buffer == NULL && !hole) || !note_given(region, slot, to))
        return;
    if (again && !hole) qsm_path_suspect(engine, to, slot->packet.bytes);
    if (hole)
        give_verdict(stream, repair->range.first, to);
    else
        give(engine, to, &slot->packet);
}

static void drop_first(qsm_repairs *repairs) {
    repairs->first = (repairs->first + 1) % QSM_REPAIR_QUEUE_MAX;
    repairs->count--;
    repairs->served = 0;
}

/* The others who wait have their turn before the rest of the first one. */
static void put_first_last(qsm_repairs *repairs) {
    qsm_repair rest = repairs->items[repairs->first];
    drop_first(repairs);
    repairs->items[(repairs->first + repairs->count++) % QSM_REPAIR_QUEUE_MAX] = rest;
}

uint64_t qsm_repair_deadline_ns(const qsm_engine *engine) {
    if (engine->repairs.count == 0) return UINT64_MAX;
    uint64_t next_ns = qsm_rate_next_ns(&engine->repairs.rate);
    return next_ns > engine->now_ns ? next_ns : engine->now_ns;
}

void qsm_repair_fill(qsm_engine *engine, uint32_t packets_max) {
    qsm_repairs *repairs = &engine->repairs;
    if (repairs->count == 0) return;
    measure(engine);
    for (uint32_t steps = 0; steps < FILL_STEPS_MAX && repairs->count > 0 &&
                             engine->outbox[QSM_CLASS_REPAIR].count < packets_max &&
                             qsm_rate_allows(&repairs->rate, engine->now_ns);
         steps++) {
        qsm_repair repair = repairs->items[repairs->first];
        bool stale = engine->now_ns - repair.asked_ns > PROMISE_AGE_MAX_NS;
        qsm_region *region = qsm_region_find(engine, repair.region);
        qsm_peer *to = qsm_peer_find(engine, repair.to);
        if (stale || region == NULL || to == NULL || to->dead) {
            drop_first(repairs);
            continue;
        }
        if (repair.range.first == repair.range.last) {
            drop_first(repairs);
        } else {
            repairs->items[repairs->first].range.first++;
            if (++repairs->served == TURN_PACKETS) put_first_last(repairs);
        }
        if (repairs->answers_ns < region->lines.mean_ns)
            repairs->answers_ns = region->lines.mean_ns;
        if (repair.stream == engine->id)
            give_own(engine, region, &repair, to);
        else
            give_kept(engine, region, &repair, to);
    }
}
