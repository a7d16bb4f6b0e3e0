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
#include "recovery/loss.h"
#include "sending/sender.h"

enum {
    SCATTER_NS = 3000000, /* not all who lack a packet ask for it at the same time */
    REFILL_NS = 2000000,  /* when as much was asked for as may be at a time */
    LOOK_NS = 20000000,   /* at least so often, while something is missing */
    DENIED_NS = 500000,   /* from the word that something is not there to asking elsewhere */
    SHOWN_SCAN_MAX = 4096,
    PROMISE_AGE_MAX_NS = 300000000, /* an older wish has been renewed or fulfilled elsewhere */
    FILL_STEPS_MAX = 4096,
    PULL_FIXED_BYTES = 22, /* of a request, beside its ranges */
    RESEND_ALL = 4, /* times the pause before asking again, to the whole region: by then others have
                       it for who still lacks it */
    TURN_PACKETS = 16,  /* of one request, before the next one has its turn */
    SHARE = 2,          /* repairs take at most one in so many bytes of what passes here */
    RATE_MIN = 2000000, /* bytes a second */
    SLOW_NS = 10000000,
    BURST_BYTES = 65536,
    MEASURE_NS = 10000000
};

void qsm_repair_schedule(qsm_stream *stream, uint64_t now_ns) {
    if (stream->own || (stream->contiguous >= stream->high && stream->waiting == 0)) return;
    qsm_alarms *alarms = &stream->region->engine->alarms;
    if (!qsm_alarm_is_set(&stream->repair_alarm))
        qsm_alarm_set(alarms, &stream->repair_alarm,
                      now_ns + (stream->waiting > 0 ? SCATTER_NS : stream->lateness.window_ns) +
                          qsm_prng_below(&stream->region->engine->prng, SCATTER_NS));
}

static uint64_t anybody(const qsm_region *region) {
    uint32_t start = (uint32_t)qsm_prng_below(&region->engine->prng, region->member_count);
    for (uint32_t i = 0; i < region->member_count; i++) {
        uint32_t candidate = (start + i) % region->member_count;
        if (region->members[candidate].dead || (int32_t)candidate == region->my_index) continue;
        return region->members[candidate].id;
    }
    return 0;
}

/* Whom to ask: first those who cache the packet, then its sender, in turns; a node that is not of
 * that partition leaves the sender to those who are for longer. Who else may still have it is asked
 * when there is nobody but the sender, or not even that one. */
static uint64_t choose_source(qsm_stream *stream, uint64_t sequence, uint32_t attempts) {
    qsm_region *region = stream->region;
    int32_t index = qsm_region_pick_cache(region, sequence, stream->sender);
    uint64_t cache = index >= 0 ? region->members[index].id : 0;
    if (stream->orphan) return cache != 0 && attempts % 2 == 0 ? cache : anybody(region);
    if (cache == 0 || cache == stream->sender)
        return attempts % 2 == 1 && region->alive_count > 2 ? anybody(region) : stream->sender;
    if (qsm_region_caches(region, sequence)) return attempts % 2 == 0 ? cache : stream->sender;
    return attempts >= 2 && attempts % 2 == 0 ? stream->sender : cache;
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
                       uint64_t sequence, bool denied) {
    qsm_engine *engine = stream->region->engine;
    uint8_t meaning = denied && to == stream->sender ? QSM_PULL_ASKS_LAST : QSM_PULL_ASKS;
    ask *request = NULL;
    for (uint32_t i = 0; i < *count && request == NULL; i++)
        if (asks[i].to == to && asks[i].pull.meaning == meaning) request = &asks[i];
    if (request == NULL) {
        if (*count == ASKS_MAX) { /* make room: the first one has had its share */
            send_ask(engine, &asks[0]);
            asks[0] = asks[--*count];
        }
        request = &asks[(*count)++];
        *request = (ask){
            .to = to,
            .pull = {.region = stream->region->uid, .stream = stream->sender, .meaning = meaning}};
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

/* When a missing packet may be asked for. A member of the partition that is to cache it turns to
 * the sender at once when the first of the others whom it asks does not have it either. */
static uint64_t due_ns(const qsm_stream *stream, uint64_t sequence, const qsm_slot *slot) {
    if (slot->attempts == 0) return 0;
    if (slot->denied && slot->attempts == 1 && qsm_region_caches(stream->region, sequence))
        return slot->asked_ns;
    return slot->asked_ns + qsm_asking_pause_ns(&stream->region->lines, slot->attempts);
}

static void note_asked(qsm_slot *slot, uint64_t now_ns) {
    slot->asked_ns = now_ns;
    slot->denied = false;
    if (slot->attempts < 255) slot->attempts++;
}

/* Asks for what is missing up to `last`, as much as may be at a time; returns when to look again.
 */
static uint64_t ask_upto(qsm_stream *stream, uint64_t last, uint64_t now_ns) {
    qsm_engine *engine = stream->region->engine;
    ask asks[ASKS_MAX];
    uint32_t count = 0, open = 0, overdue = 0;
    bool far = false;
    uint64_t next_ns = now_ns + LOOK_NS;
    uint32_t most = qsm_delivery_is_full(engine) ? QSM_REPAIRS_WHEN_FULL : stream->asking.window;
    for (uint64_t s = stream->contiguous + 1; s <= last; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL) { /* not yet room for it: begin with its slot when it comes */
            if (s > stream->base + QSM_STREAM_SLOTS_MAX - 1 || open >= most / 8) break;
            uint64_t to = choose_source(stream, s, stream->far_attempts);
            far = true;
            if (to != 0) add_to_ask(stream, asks, &count, to, s, false);
            open++;
            continue;
        }
        if (slot->state != QSM_SLOT_MISSING) continue;
        if (open >= most) {
            next_ns = now_ns + REFILL_NS;
            break;
        }
        uint64_t due = due_ns(stream, s, slot);
        if (due > now_ns) {
            if (due < next_ns) next_ns = due;
            if (!slot->denied) open++; /* what nobody has must not keep the rest waiting */
            continue;
        }
        open++;
        if (slot->attempts == 0)
            qsm_count(engine, QSM_COUNT_packets_lost);
        else if (!slot->denied)
            overdue++;
        uint64_t to = choose_source(stream, s, slot->attempts);
        if (to != 0) add_to_ask(stream, asks, &count, to, s, slot->denied);
        note_asked(slot, now_ns);
    }
    if (far) stream->far_attempts++;
    if (overdue > 0) qsm_asking_overdue(&stream->asking, overdue);
    for (uint32_t i = 0; i < count; i++)
        send_ask(engine, &asks[i]);
    return next_ns;
}

void qsm_repair_ask(void *context, uint64_t now_ns) {
    qsm_stream *stream = context;
    qsm_engine *engine = stream->region->engine;
    if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
    check_lag(stream, now_ns);
    qsm_loss_judge(stream, now_ns);
    uint64_t next_ns = now_ns + LOOK_NS;
    if (!QSM_BUG(5) && !qsm_delivery_waits_for_reader(engine) && !engine->client.suspended)
        next_ns = ask_upto(stream, stream->judged, now_ns);
    uint64_t judgement = qsm_loss_next_ns(stream, now_ns);
    if (judgement < next_ns) next_ns = judgement;
    if (stream->contiguous < stream->high || stream->waiting > 0)
        qsm_alarm_set(&engine->alarms, &stream->repair_alarm,
                      next_ns < now_ns + 1000000 ? now_ns + 1000000 : next_ns);
}

uint32_t qsm_repair_show(qsm_stream *stream, uint64_t now_ns, qsm_range *ranges,
                         uint32_t count_max) {
    uint32_t count = 0, shown = 0;
    uint64_t end = stream->contiguous + SHOWN_SCAN_MAX;
    if (stream->own) return 0;
    for (uint64_t s = stream->contiguous + 1; s <= stream->high && s <= end; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL || shown == QSM_TOKEN_PUSHED_MAX) break;
        if (slot->state != QSM_SLOT_MISSING || slot->attempts == 0 ||
            !qsm_region_caches(stream->region, s) || due_ns(stream, s, slot) > now_ns)
            continue;
        bool joins = count > 0 && ranges[count - 1].last + 1 == s;
        if (!joins && count == count_max) break;
        if (joins)
            ranges[count - 1].last = s;
        else
            ranges[count++] = (qsm_range){.first = s, .last = s};
        note_asked(slot, now_ns);
        shown++;
    }
    return count;
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

/* What was asked for is not there: it may be asked for elsewhere. */
static void denial_arrived(qsm_region *region, const qsm_pull *pull) {
    qsm_engine *engine = region->engine;
    qsm_stream *stream = qsm_stream_find(region, pull->stream);
    if (stream == NULL || stream->own) return;
    uint32_t steps = QSM_REPAIRS_ASKED_MAX;
    for (uint32_t i = 0; i < pull->range_count; i++)
        for (uint64_t s = pull->ranges[i].first; s <= pull->ranges[i].last && steps > 0;
             s++, steps--) {
            qsm_slot *slot = qsm_stream_slot(stream, s);
            if (slot == NULL || slot->state != QSM_SLOT_MISSING || slot->attempts == 0) continue;
            if (!slot->denied) qsm_asking_answered(&stream->asking);
            slot->denied = true;
            slot->asked_ns = engine->now_ns;
        }
    if (qsm_alarm_is_set(&stream->repair_alarm))
        qsm_alarm_set_earlier(&engine->alarms, &stream->repair_alarm, engine->now_ns + DENIED_NS);
}

void qsm_repair_pull_arrived(qsm_engine *engine, uint64_t from, const qsm_pull *pull) {
    qsm_region *region = qsm_region_find(engine, pull->region);
    if (pull->meaning != QSM_PULL_ABSENT) qsm_count(engine, QSM_COUNT_pulls_received);
    if (region == NULL) return;
    if (pull->meaning == QSM_PULL_ABSENT) {
        denial_arrived(region, pull);
        return;
    }
    qsm_repair_promise(engine, from, pull);
    deny_absent(region, from, pull);
}

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

static void give(qsm_engine *engine, const qsm_address *to, const qsm_slice *packet) {
    qsm_count(engine, QSM_COUNT_repairs_sent);
    qsm_rate_spend(&engine->repairs.rate, packet->bytes);
    qsm_packet_renew_tag(&engine->keys, packet->buffer->data + packet->offset);
    qsm_post_packet(engine, QSM_CLASS_REPAIR, to, packet);
}

static bool was_within(const qsm_engine *engine, uint64_t then_ns, uint64_t span_ns) {
    return then_ns != 0 && engine->now_ns - then_ns < span_ns;
}

/* This node's own packet: to the one who asked, or, when several lack it, to the whole region. */
static void give_own(qsm_engine *engine, qsm_region *region, const qsm_repair *repair,
                     const qsm_peer *to) {
    qsm_out_packet *packet =
        region->sender != NULL ? qsm_sender_packet(region->sender, repair->range.first) : NULL;
    if (packet == NULL) return;
    qsm_slice slice = {.buffer = packet->buffer, .bytes = packet->bytes};
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
    packet->resent_ns = engine->now_ns;
    packet->resent_to_all = packet->resent_to_all || multicast;
    packet->asked_by = multicast ? 0 : repair->to;
    qsm_packet_mark_again(&engine->keys, packet->buffer->data);
    if (!multicast) {
        give(engine, &to->address, &slice);
        return;
    }
    qsm_count(engine, QSM_COUNT_repairs_multicast);
    qsm_rate_spend(&engine->repairs.rate, slice.bytes);
    qsm_region_multicast(region, QSM_CLASS_REPAIR, &slice);
}

/* Another's packet that is kept here. */
static void give_kept(qsm_engine *engine, qsm_region *region, const qsm_repair *repair,
                      const qsm_peer *to) {
    qsm_stream *stream = qsm_stream_find(region, repair->stream);
    qsm_slot *slot = stream != NULL ? qsm_stream_slot(stream, repair->range.first) : NULL;
    if (slot == NULL || slot->packet.buffer == NULL) return;
    bool given = slot->given_to == (uint32_t)to->id || slot->given_to == QSM_GIVEN_TO_ALL;
    if (given && was_within(engine, slot->asked_ns, qsm_asking_quiet_ns(&region->lines))) return;
    slot->given_to = (uint32_t)to->id;
    slot->asked_ns = engine->now_ns;
    give(engine, &to->address, &slot->packet);
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
