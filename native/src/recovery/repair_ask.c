/*
 * repair_ask.c - getting what is missing: which packets to ask for now, whom, and what to do when
 * those who should have them do not.
 */
#include "core/engine.h"
#include "core/planted.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"
#include "recovery/lag.h"
#include "recovery/loss.h"
#include "recovery/repair.h"

enum {
    SCATTER_NS = 3000000, /* not all who lack a packet ask for it at the same time */
    REFILL_NS = 2000000,  /* when as much was asked for as may be at a time */
    LOOK_NS = 20000000,   /* at least so often, while something is missing */
    DENIED_NS = 500000,   /* from the word that something is not there to asking elsewhere */
    SHOWN_SCAN_MAX = 4096,
    PULL_FIXED_BYTES = 22 /* of a request, beside its ranges */
};

void qsm_repair_schedule(qsm_stream *stream, uint64_t now_ns) {
    if (stream->own || (stream->contiguous >= stream->high && stream->waiting == 0)) return;
    qsm_alarms *alarms = &stream->region->engine->alarms;
    if (!qsm_alarm_is_set(&stream->repair_alarm))
        qsm_alarm_set(alarms, &stream->repair_alarm,
                      now_ns + (stream->waiting > 0 ? SCATTER_NS : stream->lateness.window_ns) +
                          qsm_prng_below(&stream->region->engine->prng, SCATTER_NS));
}

/* ---- requests -------------------------------------------------------------------------------- */

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
        qsm_ranges_fit(qsm_control_bytes_max(engine), PULL_FIXED_BYTES)) {
        send_ask(engine, request);
        request->pull.range_count = 0;
    }
    request->pull.ranges[request->pull.range_count++] =
        (qsm_range){.first = sequence, .last = sequence};
}

/* ---- what to ask for, and whom --------------------------------------------------------------- */

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
    uint32_t count = 0, open = 0, overdue = 0, most = stream->asking.window;
    bool made_room = false;
    uint64_t next_ns = now_ns + LOOK_NS;
    const qsm_estate *estate = qsm_orphan_fetches(stream);
    if (qsm_delivery_is_full(engine)) {
        most = QSM_REPAIRS_WHEN_FULL;
        uint64_t end = stream->contiguous + most; /* more would not be taken */
        if (last > end && estate == NULL) last = end;
    }
    for (uint64_t s = stream->contiguous + 1; s <= last; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL && !made_room) { /* little at a time: there may not be so much */
            slot = qsm_stream_reach(stream, s);
            made_room = slot != NULL;
        }
        if (slot == NULL) {
            if (made_room) next_ns = now_ns + REFILL_NS;
            break;
        }
        if (slot->state != QSM_SLOT_MISSING) continue;
        if (estate != NULL && !qsm_reports_name(estate, s)) continue; /* nobody has it */
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
    if (overdue > 0) qsm_asking_overdue(&stream->asking, overdue);
    for (uint32_t i = 0; i < count; i++)
        send_ask(engine, &asks[i]);
    return next_ns;
}

void qsm_repair_ask(void *context, uint64_t now_ns) {
    qsm_stream *stream = context;
    qsm_engine *engine = stream->region->engine;
    if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
    qsm_lag_check(stream, now_ns);
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

void qsm_repair_denied(qsm_region *region, const qsm_pull *pull) {
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
