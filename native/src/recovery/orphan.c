#include "recovery/orphan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/stream.h"
#include "recovery/estate.h"
#include "recovery/repair.h"
#include "recovery/ring_token.h"

enum {
    ASK_AGAIN_NS = 100000000,
    TELL_EXECUTOR_NS = 200000000,
    REPORT_FIXED_BYTES = 38, /* of an answer, beside its ranges */
    EXCHANGE_FAILURES = 14 /* times failure_ns: executors may be cut off from each other for a while
                            */
};

static void on_estate_alarm(void *context, uint64_t now_ns);
static void close_estate(qsm_estate *estate, qsm_stream *stream);
static void on_member_alarm(void *context, uint64_t now_ns);

void qsm_orphans_init(qsm_region *region) {
    qsm_alarm_init(&region->orphans.alarm, on_member_alarm, region);
}

static void free_estate(qsm_estate *estate) {
    qsm_alarm_clear(&estate->region->engine->alarms, &estate->alarm);
    qsm_exchange_free(estate);
    qsm_table_free(&estate->answered);
    qsm_table_free(&estate->reported);
    free(estate->exists);
    free(estate);
}

void qsm_orphans_free(qsm_region *region) {
    qsm_alarm_clear(&region->engine->alarms, &region->orphans.alarm);
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        free_estate(estate);
    qsm_table_free(&region->orphans.estates);
}

static bool executes(const qsm_region *region) {
    return region->my_index >= 0 && qsm_region_leader(region) == region->my_index;
}

bool qsm_orphans_are_open(const qsm_region *region) {
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        if (estate->state != QSM_ESTATE_NOTED && estate->state != QSM_ESTATE_CLOSED) return true;
    return false;
}

static void open_estate(qsm_estate *estate, qsm_stream *stream);

static void await_unheard(qsm_region *region, uint64_t sender) {
    qsm_stream *stream = qsm_stream_of(region, sender);
    if (stream == NULL || !stream->orphan || stream->high > 0) return;
    qsm_estate *estate = qsm_estate_of(region, sender);
    if (estate != NULL) open_estate(estate, stream);
}

void qsm_orphans_await_unheard(qsm_region *region) {
    if (!executes(region)) return;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].dead) await_unheard(region, region->members[i].id);
    for (uint32_t i = 0; i < region->outsider_count; i++)
        if (region->outsiders[i]->dead || !qsm_region_knows_alive(region, region->outsiders[i]->id))
            await_unheard(region, region->outsiders[i]->id);
}

/* ---- members --------------------------------------------------------------------------------- */

/* Makes sure that the executor knows of the orphans that this node knows of. */
static void on_member_alarm(void *context, uint64_t now_ns) {
    qsm_region *region = context;
    qsm_engine *engine = region->engine;
    int32_t leader = qsm_region_leader(region);
    bool open = false;
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!stream->orphan || qsm_stream_is_finished(stream)) continue;
        open = true;
        if (leader < 0 || leader == region->my_index) continue;
        qsm_control control = {
            .nudge = {.region = region->uid, .stream = stream->sender, .high = stream->high}};
        qsm_post_control(engine, QSM_KIND_NUDGE, &control, &region->members[leader].peer->address);
    }
    if (open) {
        region->orphans.over_ns = 0;
        qsm_alarm_set(&engine->alarms, &region->orphans.alarm, now_ns + TELL_EXECUTOR_NS);
        return;
    }
    qsm_region_check_drained(region);
    /* What waits for lost messages of the dead is of no use. But some of these may be found in
     * other regions of which nothing has been heard yet: not at once. */
    uint64_t patience_ns = 2 * engine->config.failure_ns;
    if (region->orphans.over_ns == 0) region->orphans.over_ns = now_ns;
    if (now_ns - region->orphans.over_ns < patience_ns)
        qsm_alarm_set(&engine->alarms, &region->orphans.alarm,
                      region->orphans.over_ns + patience_ns);
    else
        qsm_orders_forget_all_gone(engine);
}

void qsm_orphan_query_arrived(qsm_region *region, uint64_t from, const qsm_orphan_query *query) {
    qsm_engine *engine = region->engine;
    qsm_peer *peer = qsm_peer_find(engine, from);
    int32_t asker = qsm_region_index(region, from);
    if (peer == NULL || asker < 0 || region->members[asker].dead || region->my_index < 0) return;
    /* Who has not heard of all deaths may yet take packets from those whom the asker leaves out:
     * what it says now may not be all that it will have. It is asked again. */
    if (query->batch > qsm_batch(engine)) return;
    qsm_control control = {.orphan_report = {.region = region->uid,
                                             .stream = query->stream,
                                             .batch = qsm_batch(engine),
                                             .attempt = query->attempt}};
    qsm_orphan_report *report = &control.orphan_report;
    qsm_stream *stream = qsm_stream_of(region, query->stream);
    /* The asker knows of a death that this node has not been told of, or it is of another side,
     * where the sender counts as dead and here it does not. In the first case it will ask again. */
    if (stream != NULL && !stream->orphan) return;
    if (stream != NULL) {
        stream->sealed_off = true; /* what the report does not name is not taken from the sender any
                                      more */
        report->stable = stream->stable;
        uint32_t most = qsm_ranges_fit(engine->config.datagram_bytes_max, REPORT_FIXED_BYTES);
        uint64_t first = stream->stable + 1 > stream->base ? stream->stable + 1 : stream->base;
        for (uint64_t s = query->from > first ? query->from : first; s <= stream->high; s++) {
            qsm_slot *slot = qsm_stream_slot(stream, s);
            if (slot == NULL || slot->state == QSM_SLOT_MISSING || slot->state == QSM_SLOT_HOLE)
                continue;
            qsm_range *last = report->range_count ? &report->ranges[report->range_count - 1] : NULL;
            if (last != NULL && last->last + 1 == s) {
                last->last = s;
                continue;
            }
            if (report->range_count == most) {
                report->truncated = true;
                break;
            }
            report->ranges[report->range_count++] = (qsm_range){.first = s, .last = s};
        }
    }
    qsm_post_control(engine, QSM_KIND_ORPHAN_REPORT, &control, &peer->address);
}

void qsm_orphan_answer_nothing(qsm_engine *engine, uint64_t to, const qsm_orphan_query *query) {
    qsm_peer *peer = qsm_peer_find(engine, to);
    if (peer == NULL || query->batch > qsm_batch(engine)) return; /* it may be known then */
    qsm_control control = {.orphan_report = {.region = query->region,
                                             .stream = query->stream,
                                             .batch = qsm_batch(engine),
                                             .attempt = query->attempt}};
    qsm_post_control(engine, QSM_KIND_ORPHAN_REPORT, &control, &peer->address);
}

/* ---- the executor ---------------------------------------------------------------------------- */

/* How far the member has reported what it has, as a sequence. */
static uint64_t reported_by(const qsm_estate *estate, uint64_t member) {
    return (uint64_t)(uintptr_t)qsm_table_get(&estate->reported, member);
}

static void ask_member(qsm_estate *estate, const qsm_region_member *member) {
    qsm_region *region = estate->region;
    uint64_t told = reported_by(estate, member->id);
    qsm_control control = {.orphan_query = {.region = region->uid,
                                            .stream = estate->sender,
                                            .attempt = estate->attempt,
                                            .batch = qsm_batch(region->engine),
                                            .from = told != 0 ? told + 1 : estate->first}};
    qsm_post_control(region->engine, QSM_KIND_ORPHAN_QUERY, &control, &member->peer->address);
}

static void ask_members(qsm_estate *estate) {
    qsm_region *region = estate->region;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < region->member_count; i++) {
        const qsm_region_member *member = &region->members[i];
        if (member->dead || member->peer == NULL ||
            qsm_table_get(&estate->answered, member->id) != NULL)
            continue;
        ask_member(estate, member);
        asked++;
    }
    qsm_note(region->engine, QSM_TRACE_orphan_asking, asked, estate->sender);
}

qsm_estate *qsm_estate_of(qsm_region *region, uint64_t sender) {
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, sender);
    if (estate != NULL) return estate;
    qsm_stream *stream = qsm_stream_of(region, sender);
    if (stream == NULL || stream->own) return NULL;
    estate = calloc(1, sizeof *estate);
    uint8_t *exists = calloc(QSM_STREAM_SLOTS_MAX / 8, 1);
    if (estate == NULL || exists == NULL ||
        !qsm_table_put(&region->orphans.estates, sender, estate)) {
        free(estate);
        free(exists);
        return NULL;
    }
    estate->region = region;
    estate->sender = sender;
    estate->exists = exists;
    qsm_alarm_init(&estate->alarm, on_estate_alarm, estate);
    return estate;
}

static void begin_asking(qsm_estate *estate, const qsm_stream *stream) {
    estate->state = QSM_ESTATE_ASKING;
    estate->attempt++;
    estate->first = stream->contiguous + 1;
    estate->high = stream->high_received;
    memset(estate->exists, 0, QSM_STREAM_SLOTS_MAX / 8);
    qsm_table_free(&estate->answered);
    qsm_table_free(&estate->reported);
    /* Not at once: the batch that tells of one death may tell of others, and who they are decides
     * who is asked. */
    qsm_alarm_set(&estate->region->engine->alarms, &estate->alarm, estate->region->engine->now_ns);
}

/* The sender is dead and this node is the executor: the settlement begins. */
static void open_estate(qsm_estate *estate, qsm_stream *stream) {
    qsm_region *region = estate->region;
    if (estate->state != QSM_ESTATE_NOTED) return;
    /* Regions of an earlier host are all older than the death. */
    bool present = region->directory == region->engine->client.directory;
    uint64_t died = qsm_dead_since(&region->engine->dead, estate->sender);
    estate->died_in = present && died != 0 ? died : UINT64_MAX;
    stream->sealed_off = true;
    qsm_note(region->engine, QSM_TRACE_orphan_found, estate->sender, region->uid);
    begin_asking(estate, stream);
}

/* What everybody has, or nobody has heard of, needs no settlement unless others ask. */
static bool is_over(const qsm_stream *stream) {
    return stream->high == 0 ||
           (qsm_stream_is_finished(stream) && stream->fin_known && stream->stable >= stream->fin);
}

void qsm_orphan_found(qsm_stream *stream) {
    qsm_region *region = stream->region;
    /* Its silence so far is nobody's fault here. */
    if (!stream->orphan) memset(stream->lag_mark, 0, sizeof stream->lag_mark);
    stream->orphan = true;
    if (region->my_index < 0) return;
    qsm_alarm_set_earlier(&region->engine->alarms, &region->orphans.alarm,
                          region->engine->now_ns + TELL_EXECUTOR_NS / 4);
    if (!executes(region)) return;
    bool told_of = qsm_table_get(&region->orphans.estates, stream->sender) != NULL;
    if (is_over(stream) && !told_of) return;
    qsm_estate *estate = qsm_estate_of(region, stream->sender);
    if (estate != NULL) open_estate(estate, stream);
}

static bool exists(const qsm_estate *estate, uint64_t sequence) {
    if (sequence < estate->first) return true;
    uint64_t bit = sequence - estate->first;
    return !QSM_BUG(14) && bit < QSM_STREAM_SLOTS_MAX && (estate->exists[bit / 8] >> (bit % 8) & 1);
}

/* A report that does not fit in a packet goes on behind its last range. */
static void ask_for_more(qsm_estate *estate, const qsm_region_member *member,
                         const qsm_orphan_report *report) {
    uint64_t last = report->range_count > 0 ? report->ranges[report->range_count - 1].last : 0;
    if (member->peer == NULL || last <= reported_by(estate, member->id)) return; /* nothing new */
    if (!qsm_table_put(&estate->reported, member->id, (void *)(uintptr_t)last)) return;
    ask_member(estate, member);
}

void qsm_orphan_report_arrived(qsm_region *region, uint64_t from, const qsm_orphan_report *report) {
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, report->stream);
    if (estate == NULL || estate->state != QSM_ESTATE_ASKING || report->attempt != estate->attempt)
        return;
    int32_t index = qsm_region_index(region, from);
    if (index < 0) return;
    for (uint32_t i = 0; i < report->range_count; i++) {
        for (uint64_t s = report->ranges[i].first; s <= report->ranges[i].last; s++) {
            if (s < estate->first) continue;
            uint64_t bit = s - estate->first;
            if (bit >= QSM_STREAM_SLOTS_MAX) break;
            estate->exists[bit / 8] |= (uint8_t)(1u << (bit % 8));
            if (s > estate->high) estate->high = s;
        }
    }
    qsm_stream *stream = qsm_stream_find(region, report->stream);
    if (stream != NULL) {
        qsm_stream_learn_high(stream, estate->high);
        if (report->batch <= qsm_batch(region->engine))
            qsm_stream_learn_stable(stream, report->stable);
    }
    if (report->truncated)
        ask_for_more(estate, &region->members[index], report);
    else
        qsm_table_put(&estate->answered, from, estate);
    qsm_estate_look(estate);
}

static bool all_answered(const qsm_estate *estate) {
    const qsm_region *region = estate->region;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (!region->members[i].dead && region->members[i].peer != NULL &&
            qsm_table_get(&estate->answered, region->members[i].id) == NULL)
            return false;
    return true;
}

/* Everything that anybody has is here. */
static bool is_complete(const qsm_estate *estate, qsm_stream *stream) {
    for (uint64_t s = stream->contiguous + 1; s <= estate->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        bool missing = slot == NULL || slot->state == QSM_SLOT_MISSING;
        if (missing && exists(estate, s)) return false;
    }
    return true;
}

bool qsm_orphan_must_fetch(const qsm_stream *stream) {
    const qsm_estate *estate = qsm_table_get(&stream->region->orphans.estates, stream->sender);
    return stream->settled || (estate != NULL && estate->state == QSM_ESTATE_FETCHING);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Adds a packet to the dead sender's stream, here and everywhere in the region. False when it
 * cannot be taken here now: then nothing has been sent. */
static bool append(qsm_estate *estate, qsm_stream *stream, qsm_data *data, const uint8_t *sealed) {
    qsm_engine *engine = estate->region->engine;
    /* One message may be longer than those that this node makes: its sender's packets are. */
    uint32_t bytes_max =
        data->message_count > 0 ? QSM_DATA_BYTES_MAX : engine->config.datagram_bytes_max;
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
        qsm_stream_receive(stream, estate->high + 1, stream->stable, &packet, &written, false);
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
    uint32_t most = qsm_ranges_fit(estate->region->engine->config.datagram_bytes_max,
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

static void settle(qsm_estate *estate, qsm_stream *stream) {
    qsm_engine *engine = estate->region->engine;
    /* A sender that had counted this side out may have claimed more as stable than anybody here
     * has. */
    if (stream->stable > estate->high) estate->high = stream->stable;
    /* Before an end that the sender or another executor has made lies all that was meant for this
     * region. Else it gets one, also when nobody has anything: members may have heard of something.
     * What cannot be appended now is tried again by the alarm. */
    bool ended = stream->fin_known && qsm_stream_is_finished(stream);
    if (!ended && !(append_offers(estate, stream) && append_end(estate, stream))) return;
    estate->state = QSM_ESTATE_SETTLED;
    qsm_estate_forget_offers(estate);
    qsm_count(engine, QSM_COUNT_orphans_resolved);
    qsm_note(engine, QSM_TRACE_orphan_settled, estate->sender, estate->high);
    qsm_rings_wake(estate->region, engine->now_ns);
}

void qsm_estate_look(qsm_estate *estate) {
    qsm_region *region = estate->region;
    qsm_engine *engine = region->engine;
    qsm_stream *stream = qsm_stream_find(region, estate->sender);
    if (stream == NULL || !stream->orphan || !executes(region) || estate->looking) return;
    if (engine->client.suspended) return; /* the alarm looks again */
    open_estate(estate, stream);
    estate->looking = true; /* appending packets leads back here */
    if (estate->state == QSM_ESTATE_ASKING && all_answered(estate))
        estate->state = QSM_ESTATE_FETCHING;
    if (estate->state == QSM_ESTATE_FETCHING && is_complete(estate, stream)) {
        estate->state = QSM_ESTATE_EXCHANGING;
        estate->exchange_by_ns = engine->now_ns + EXCHANGE_FAILURES * engine->config.failure_ns;
    }
    if (estate->state == QSM_ESTATE_EXCHANGING || estate->state == QSM_ESTATE_SETTLED)
        qsm_exchange_tell(estate);
    bool waits = estate->state == QSM_ESTATE_EXCHANGING;
    if (waits && qsm_exchange_is_done(estate))
        settle(estate, stream);
    else if (waits && engine->now_ns >= estate->exchange_by_ns)
        qsm_request_report_slow(engine, region); /* what it did not hear others deliver */
    estate->looking = false;
    close_estate(estate, stream);
}

/* The region has everything. When the others have, too, nobody will ask for it any more. */
static void close_estate(qsm_estate *estate, qsm_stream *stream) {
    if (stream->high > 0 && is_over(stream)) stream->complete = true; /* its sender has said so */
    if (estate->state != QSM_ESTATE_SETTLED || !stream->complete) return;
    if (!qsm_exchange_is_over(estate)) return;
    estate->state = QSM_ESTATE_CLOSED;
    free(estate->exists); /* the region may live on for long */
    estate->exists = NULL;
    qsm_stream_learn_stable(stream, stream->fin);
    qsm_ring_announce(stream); /* the rest should hear of it, too */
    qsm_region_check_drained(estate->region);
}

void qsm_orphan_complete(qsm_stream *stream) {
    qsm_estate *estate = qsm_table_get(&stream->region->orphans.estates, stream->sender);
    stream->complete = true;
    if (estate == NULL) { /* it was ended by its sender, or by an executor before this one */
        qsm_orphan_found(stream);
        return;
    }
    close_estate(estate, stream);
}

static void on_estate_alarm(void *context, uint64_t now_ns) {
    qsm_estate *estate = context;
    qsm_engine *engine = estate->region->engine;
    if (estate->state == QSM_ESTATE_CLOSED) return;
    qsm_alarm_set(&engine->alarms, &estate->alarm, now_ns + ASK_AGAIN_NS);
    if (!executes(estate->region) || engine->client.suspended) return;
    if (estate->state == QSM_ESTATE_ASKING) ask_members(estate);
    qsm_estate_look(estate);
}

void qsm_orphan_progress(qsm_stream *stream) {
    qsm_region *region = stream->region;
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, stream->sender);
    if (estate != NULL) qsm_estate_look(estate);
    if (qsm_stream_is_finished(stream)) qsm_region_check_drained(region);
}

void qsm_orphans_membership_changed(qsm_region *region) {
    uint32_t cursor = 0;
    bool in_doubt = false;
    if (!executes(region)) return;
    /* Somebody else may have been at it and died: whatever is open is this node's now. What the
     * dead said they had is gone with them, so the others are asked again. */
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!stream->orphan || is_over(stream)) continue;
        stream->complete = false; /* as far as this node knows: the tokens tell */
        in_doubt = true;
        qsm_estate *estate = qsm_estate_of(region, stream->sender);
        if (estate == NULL) continue;
        if (estate->state == QSM_ESTATE_NOTED)
            open_estate(estate, stream);
        else if (estate->state <= QSM_ESTATE_FETCHING)
            begin_asking(estate, stream);
        else
            qsm_alarm_set(&region->engine->alarms, &estate->alarm, region->engine->now_ns);
    }
    if (in_doubt) qsm_rings_wake(region, region->engine->now_ns);
}
