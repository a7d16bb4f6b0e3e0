#include "recovery/repair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/stream.h"
#include "sending/sender.h"

enum {
    GAP_DELAY_NS = 3000000,  /* reordered packets may still come */
    END_DELAY_NS = 10000000, /* what is behind all that came may be in a socket that is being read
                              */
    REFILL_NS = 2000000,     /* when as much was asked for as may be at a time */
    ASK_PAUSE_NS = 20000000, /* before the same packet is asked for again; doubles */
    ASK_PAUSE_DOUBLINGS_MAX = 4,
    PROMISE_AGE_MAX_NS = 300000000, /* an older wish has been renewed or fulfilled elsewhere */
    FILL_STEPS_MAX = 4096,
    PULL_FIXED_BYTES = 21,     /* of a request, beside its ranges */
    RESEND_PAUSE_NS = 20000000 /* a sender does not multicast the same packet again within this */
};

void qsm_repair_schedule(qsm_stream *stream, uint64_t now_ns) {
    if (stream->own || (stream->contiguous >= stream->high && stream->waiting == 0)) return;
    qsm_alarms *alarms = &stream->region->engine->alarms;
    if (!qsm_alarm_is_set(&stream->repair_alarm))
        qsm_alarm_set(alarms, &stream->repair_alarm,
                      now_ns + GAP_DELAY_NS +
                          qsm_prng_below(&stream->region->engine->prng, GAP_DELAY_NS));
}

/* Whom to ask: first those who cache the packet, then, every other time, its sender. */
static uint64_t choose_source(qsm_stream *stream, uint64_t sequence, uint32_t attempts) {
    qsm_region *region = stream->region;
    bool ask_sender = !stream->orphan && attempts >= 2 && attempts % 2 == 0;
    int32_t index = ask_sender ? -1 : qsm_region_pick_cache(region, sequence, stream->sender);
    if (index < 0 && !stream->orphan) return stream->sender;
    if (index < 0 || (stream->orphan && attempts % 2 == 1)) {
        /* Anybody may still have it. */
        uint32_t start = (uint32_t)qsm_prng_below(&region->engine->prng, region->member_count);
        for (uint32_t i = 0; i < region->member_count; i++) {
            uint32_t candidate = (start + i) % region->member_count;
            if (region->members[candidate].dead || (int32_t)candidate == region->my_index) continue;
            return region->members[candidate].id;
        }
        return 0;
    }
    return region->members[index].id;
}

/* Requests under construction, one for each node that is asked. */
enum { ASKS_MAX = 16 };
typedef struct {
    uint64_t to;
    qsm_pull pull;
} ask;

static void send_ask(qsm_engine *engine, ask *request) {
    qsm_peer *peer = qsm_peer_find(engine, request->to);
    if (peer == NULL || request->pull.range_count == 0) return;
    qsm_control control = {.pull = request->pull};
    qsm_count(engine, QSM_COUNT_pulls_sent);
    qsm_post_control(engine, QSM_KIND_PULL, &control, &peer->address);
}

static void add_to_ask(qsm_stream *stream, ask *asks, uint32_t *count, uint64_t to,
                       uint64_t sequence) {
    qsm_engine *engine = stream->region->engine;
    ask *request = NULL;
    for (uint32_t i = 0; i < *count && request == NULL; i++)
        if (asks[i].to == to) request = &asks[i];
    if (request == NULL) {
        if (*count == ASKS_MAX) { /* make room: the first one has had its share */
            send_ask(engine, &asks[0]);
            asks[0] = asks[--*count];
        }
        request = &asks[(*count)++];
        *request =
            (ask){.to = to, .pull = {.region = stream->region->uid, .stream = stream->sender}};
    }
    qsm_range *last =
        request->pull.range_count ? &request->pull.ranges[request->pull.range_count - 1] : NULL;
    if (last != NULL && last->last + 1 == sequence) {
        last->last = sequence;
        return;
    }
    if (request->pull.range_count ==
        qsm_ranges_fit(engine->config.datagram_bytes_max, PULL_FIXED_BYTES)) {
        send_ask(engine, request);
        request->pull.range_count = 0;
    }
    request->pull.ranges[request->pull.range_count++] =
        (qsm_range){.first = sequence, .last = sequence};
}

/* The application has not read for half of the limit, and nothing more can be taken. */
static bool does_not_read(qsm_engine *engine, uint64_t now_ns) {
    uint64_t *since_ns = &engine->delivery.unread_since_ns;
    if (!qsm_delivery_waits_for_reader(engine)) {
        *since_ns = 0;
        return false;
    }
    if (*since_ns == 0) *since_ns = now_ns;
    return now_ns - *since_ns >= engine->config.lag_ns_max / 2;
}

/* A member that stays behind for longer than the limit must not hold back the others: it says so
 * itself. */
static void check_lag(qsm_stream *stream, uint64_t now_ns) {
    qsm_engine *engine = stream->region->engine;
    uint64_t quarter = engine->config.lag_ns_max / 4;
    /* If all who kept a packet have died, who lacks it will not get it any more. */
    if (stream->orphan && !qsm_orphan_must_fetch(stream)) {
        memset(stream->lag_mark, 0, sizeof stream->lag_mark);
        return;
    }
    if (does_not_read(engine, now_ns)) qsm_request_report_slow(engine, stream->region);
    if (now_ns - stream->lag_marked_ns < quarter) return;
    /* Full of packets that are kept for others: somebody else is behind. */
    if (qsm_delivery_is_full(engine) && !qsm_delivery_waits_for_reader(engine))
        memset(stream->lag_mark, 0, sizeof stream->lag_mark);
    if (stream->lag_mark[3] != 0 && stream->contiguous < stream->lag_mark[3] &&
        now_ns - stream->lag_marked_ns < 2 * quarter)
        qsm_request_report_slow(engine, stream->region);
    for (uint32_t i = 3; i > 0; i--)
        stream->lag_mark[i] = stream->lag_mark[i - 1];
    stream->lag_mark[0] = stream->high;
    stream->lag_marked_ns = now_ns;
}

void qsm_repair_ask(void *context, uint64_t now_ns) {
    qsm_stream *stream = context;
    qsm_engine *engine = stream->region->engine;
    if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
    check_lag(stream, now_ns);
    ask asks[ASKS_MAX];
    uint32_t count = 0, asked = 0;
    uint64_t next_ns = now_ns + ASK_PAUSE_NS;
    bool full = QSM_BUG(5) || qsm_delivery_waits_for_reader(engine) || engine->client.suspended;
    uint32_t most = qsm_delivery_is_full(engine) ? QSM_REPAIRS_WHEN_FULL : QSM_REPAIRS_ASKED_MAX;
    uint64_t last = stream->high;
    if (now_ns - stream->received_ns < END_DELAY_NS && stream->high_received < last) {
        last = stream->high_received;
        next_ns = now_ns + GAP_DELAY_NS;
    }
    for (uint64_t s = stream->contiguous + 1; s <= last && !full; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL) { /* not yet room for it: begin with its slot when it comes */
            if (s > stream->base + QSM_STREAM_SLOTS_MAX - 1) break;
            uint64_t to = choose_source(stream, s, stream->far_attempts++);
            if (to != 0) add_to_ask(stream, asks, &count, to, s);
            if (++asked >= QSM_REPAIRS_ASKED_MAX / 8) break;
            continue;
        }
        if (slot->state != QSM_SLOT_MISSING) continue;
        uint32_t doublings =
            slot->attempts < ASK_PAUSE_DOUBLINGS_MAX ? slot->attempts : ASK_PAUSE_DOUBLINGS_MAX;
        uint64_t pause_ns = (uint64_t)ASK_PAUSE_NS << (doublings > 0 ? doublings - 1 : 0);
        uint64_t due = slot->attempts == 0 ? 0 : slot->asked_ns + pause_ns;
        if (asked >= most) {
            next_ns = now_ns + REFILL_NS;
            break;
        }
        asked++; /* now, or not long ago */
        if (due > now_ns) {
            if (due < next_ns) next_ns = due;
            continue;
        }
        if (slot->attempts == 0) qsm_count(engine, QSM_COUNT_packets_lost);
        uint64_t to = choose_source(stream, s, slot->attempts);
        slot->asked_ns = now_ns;
        if (slot->attempts < 255) slot->attempts++;
        if (to != 0) add_to_ask(stream, asks, &count, to, s);
    }
    for (uint32_t i = 0; i < count; i++)
        send_ask(engine, &asks[i]);
    if (stream->contiguous < stream->high || stream->waiting > 0)
        qsm_alarm_set(&engine->alarms, &stream->repair_alarm,
                      next_ns < now_ns + 1000000 ? now_ns + 1000000 : next_ns);
}

/* ---- the other side -------------------------------------------------------------------------- */

void qsm_repairs_free(qsm_repairs *repairs) {
    free(repairs->items);
    *repairs = (qsm_repairs){0};
}

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

void qsm_repair_promise(qsm_engine *engine, uint64_t region, uint64_t stream, uint64_t to,
                        const qsm_range *ranges, uint32_t range_count) {
    qsm_repairs *repairs = &engine->repairs;
    if (repairs->items == NULL)
        repairs->items = calloc(QSM_REPAIR_QUEUE_MAX, sizeof *repairs->items);
    if (repairs->items == NULL) return;
    qsm_range here = what_is_here(engine, region, stream);
    for (uint32_t i = 0; i < range_count; i++) {
        qsm_range range = ranges[i];
        if (range.first < here.first) range.first = here.first;
        if (range.last > here.last) range.last = here.last;
        if (range.first > range.last) continue;
        if (repairs->count == QSM_REPAIR_QUEUE_MAX) {
            qsm_count(engine, QSM_COUNT_pulls_dropped);
            return;
        }
        uint32_t place = (repairs->first + repairs->count++) % QSM_REPAIR_QUEUE_MAX;
        repairs->items[place] = (qsm_repair){.region = region,
                                             .stream = stream,
                                             .range = range,
                                             .to = to,
                                             .asked_ns = engine->now_ns};
    }
}

void qsm_repair_pull_arrived(qsm_engine *engine, uint64_t from, const qsm_pull *pull) {
    qsm_count(engine, QSM_COUNT_pulls_received);
    if (qsm_region_find(engine, pull->region) == NULL) return;
    qsm_repair_promise(engine, pull->region, pull->stream, from, pull->ranges, pull->range_count);
}

/* This node's own packet: to the one who asked, or, when several ask, to the whole region. */
static void repair_own(qsm_engine *engine, qsm_region *region, const qsm_repair *repair,
                       qsm_peer *to) {
    qsm_out_packet *packet =
        region->sender != NULL ? qsm_sender_packet(region->sender, repair->range.first) : NULL;
    if (packet == NULL) return;
    qsm_slice slice = {.buffer = packet->buffer, .bytes = packet->bytes};
    bool recently = packet->resent_ns != 0 && engine->now_ns - packet->resent_ns < RESEND_PAUSE_NS;
    qsm_count(engine, QSM_COUNT_repairs_sent);
    if (recently && packet->asked_by == 0) return; /* just multicast */
    if (recently && packet->asked_by != repair->to && !region->unicast) {
        packet->asked_by = 0;
        packet->resent_ns = engine->now_ns;
        qsm_count(engine, QSM_COUNT_repairs_multicast);
        qsm_region_multicast(region, QSM_CLASS_REPAIR, &slice);
        return;
    }
    packet->asked_by = repair->to;
    packet->resent_ns = engine->now_ns;
    qsm_post_packet(engine, QSM_CLASS_REPAIR, &to->address, &slice);
}

void qsm_repair_fill(qsm_engine *engine, uint32_t packets_max) {
    qsm_repairs *repairs = &engine->repairs;
    for (uint32_t steps = 0; steps < FILL_STEPS_MAX && repairs->count > 0 &&
                             engine->outbox[QSM_CLASS_REPAIR].count < packets_max;
         steps++) {
        qsm_repair *next = &repairs->items[repairs->first];
        qsm_repair repair = *next;
        bool stale = engine->now_ns - repair.asked_ns > PROMISE_AGE_MAX_NS;
        qsm_region *region = qsm_region_find(engine, repair.region);
        qsm_peer *to = qsm_peer_find(engine, repair.to);
        if (stale || region == NULL || to == NULL || to->dead ||
            next->range.first == next->range.last) {
            repairs->first = (repairs->first + 1) % QSM_REPAIR_QUEUE_MAX;
            repairs->count--;
        } else {
            next->range.first++;
        }
        if (stale || region == NULL || to == NULL || to->dead) continue;
        if (repair.stream == engine->id) {
            repair_own(engine, region, &repair, to);
            continue;
        }
        qsm_stream *stream = qsm_stream_find(region, repair.stream);
        const qsm_slice *packet =
            stream != NULL ? qsm_stream_packet(stream, repair.range.first) : NULL;
        if (packet == NULL) continue;
        qsm_count(engine, QSM_COUNT_repairs_sent);
        qsm_post_packet(engine, QSM_CLASS_REPAIR, &to->address, packet);
    }
}
