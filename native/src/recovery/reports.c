/*
 * reports.c - what the members of a region have of a dead sender's stream: its executor asks them,
 * each answers, and the answers are gathered in the estate.
 */
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"
#include "recovery/orphan.h"

enum { REPORT_FIXED_BYTES = 38 /* of an answer, beside its ranges */ };

/* ---- a member answers ------------------------------------------------------------------------ */

/* Names what is here from that sequence on, as far as it fits into a packet. */
static void list_what_is_here(qsm_stream *stream, uint64_t from, qsm_orphan_report *report) {
    uint32_t bytes_max = qsm_control_bytes_max(stream->region->engine);
    uint32_t most = qsm_ranges_fit(bytes_max, REPORT_FIXED_BYTES);
    uint64_t first = stream->stable + 1 > stream->base ? stream->stable + 1 : stream->base;
    for (uint64_t s = from > first ? from : first; s <= stream->high; s++) {
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
        list_what_is_here(stream, query->from, report);
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

/* ---- the executor asks ----------------------------------------------------------------------- */

void qsm_reports_begin(qsm_estate *estate, const qsm_stream *stream) {
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

void qsm_reports_ask(qsm_estate *estate) {
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

bool qsm_reports_are_in(const qsm_estate *estate) {
    const qsm_region *region = estate->region;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (!region->members[i].dead && region->members[i].peer != NULL &&
            qsm_table_get(&estate->answered, region->members[i].id) == NULL)
            return false;
    return true;
}

bool qsm_reports_name(const qsm_estate *estate, uint64_t sequence) {
    if (sequence < estate->first) return true;
    uint64_t bit = sequence - estate->first;
    return !QSM_BUG(14) && bit < QSM_STREAM_SLOTS_MAX && (estate->exists[bit / 8] >> (bit % 8) & 1);
}

bool qsm_reports_show_all_here(const qsm_estate *estate, qsm_stream *stream) {
    for (uint64_t s = stream->contiguous + 1; s <= estate->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        bool missing = slot == NULL || slot->state == QSM_SLOT_MISSING;
        if (missing && qsm_reports_name(estate, s)) return false;
    }
    return true;
}
