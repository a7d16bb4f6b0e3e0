/*
 * estate.c - the settlement of an estate from its opening to its end: members report what they
 * have, what this node lacks is fetched, other regions are heard, the stream is ended.
 */
#include "recovery/estate.h"

#include <stdlib.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/stream.h"
#include "recovery/ring_token.h"

enum {
    ASK_AGAIN_NS = 100000000,
    END_AGAIN_NS = 1000000000,
    EXCHANGE_FAILURES = 14 /* times failure_ns: executors may be cut off from each other for a while
                            */
};

static void on_estate_alarm(void *context, uint64_t now_ns);

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

void qsm_estate_free(qsm_estate *estate) {
    qsm_alarm_clear(&estate->region->engine->alarms, &estate->alarm);
    qsm_exchange_free(estate);
    qsm_table_free(&estate->answered);
    qsm_table_free(&estate->reported);
    free(estate->exists);
    free(estate);
}

void qsm_estate_open(qsm_estate *estate, qsm_stream *stream) {
    qsm_region *region = estate->region;
    if (estate->state != QSM_ESTATE_NOTED) return;
    /* Regions of an earlier host are all older than the death. */
    bool present = region->directory == region->engine->client.directory;
    uint64_t died = qsm_dead_since(&region->engine->dead, estate->sender);
    estate->died_in = present && died != 0 ? died : UINT64_MAX;
    stream->sealed_off = true;
    qsm_note(region->engine, QSM_TRACE_orphan_found, estate->sender, region->uid);
    qsm_reports_begin(estate, stream);
}

/* The stream has been ended before, and all up to there is here: perhaps not yet delivered. */
static bool has_end(qsm_stream *stream) {
    if (!stream->fin_known || stream->high != stream->fin) return false;
    for (uint64_t s = stream->contiguous + 1; s <= stream->fin; s++) {
        const qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot == NULL || slot->state == QSM_SLOT_MISSING) return false;
    }
    return true;
}

/* Some do not have all of it yet. Who knows only the end that an earlier executor had made does not
 * ask for more. */
static void tell_end_again(qsm_estate *estate, uint64_t now_ns) {
    qsm_stream *stream = qsm_stream_find(estate->region, estate->sender);
    if (stream == NULL || stream->complete || now_ns - estate->end_told_ns < END_AGAIN_NS) return;
    estate->end_told_ns = now_ns;
    const qsm_slice *end = qsm_stream_packet(stream, stream->fin);
    if (end == NULL) return;
    qsm_packet_renew_tag(&estate->region->engine->keys, end->buffer->data + end->offset);
    qsm_region_multicast(estate->region, QSM_CLASS_REPAIR, end);
}

static void settle(qsm_estate *estate, qsm_stream *stream) {
    qsm_engine *engine = estate->region->engine;
    /* A sender that had counted this side out may have claimed more as stable than anybody here
     * has. */
    if (stream->stable > estate->high) estate->high = stream->stable;
    /* Before an end that the sender or another executor has made lies all that was meant for this
     * region. Else it gets one, also when nobody has anything: members may have heard of something.
     * What cannot be appended now is tried again by the alarm. */
    if (!has_end(stream) && !qsm_estate_end(estate, stream)) return;
    estate->state = QSM_ESTATE_SETTLED;
    estate->end_told_ns = engine->now_ns;
    qsm_estate_forget_offers(estate);
    qsm_count(engine, QSM_COUNT_orphans_resolved);
    qsm_note(engine, QSM_TRACE_orphan_settled, estate->sender, estate->high);
    qsm_rings_wake(estate->region, engine->now_ns);
}

void qsm_estate_look(qsm_estate *estate) {
    qsm_region *region = estate->region;
    qsm_engine *engine = region->engine;
    qsm_stream *stream = qsm_stream_find(region, estate->sender);
    if (stream == NULL || !stream->orphan || !qsm_orphans_executes(region) || estate->looking)
        return;
    if (engine->client.suspended) return; /* the alarm looks again */
    qsm_estate_open(estate, stream);
    estate->looking = true; /* appending packets leads back here */
    if (estate->state == QSM_ESTATE_ASKING && qsm_reports_are_in(estate))
        estate->state = QSM_ESTATE_FETCHING;
    if (estate->state == QSM_ESTATE_FETCHING && qsm_reports_show_all_here(estate, stream)) {
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
    qsm_estate_close(estate, stream);
}

void qsm_estate_close(qsm_estate *estate, qsm_stream *stream) {
    if (stream->high > 0 && qsm_orphan_is_over(stream))
        stream->complete = true; /* its sender has said so */
    if (estate->state != QSM_ESTATE_SETTLED || !stream->complete) return;
    if (!qsm_exchange_is_over(estate)) return;
    estate->state = QSM_ESTATE_CLOSED;
    free(estate->exists); /* the region may live on for long */
    estate->exists = NULL;
    qsm_stream_learn_stable(stream, stream->fin);
    qsm_ring_announce(stream); /* the rest should hear of it, too */
    qsm_region_check_drained(estate->region);
}

static void on_estate_alarm(void *context, uint64_t now_ns) {
    qsm_estate *estate = context;
    qsm_engine *engine = estate->region->engine;
    if (estate->state == QSM_ESTATE_CLOSED) return;
    qsm_alarm_set(&engine->alarms, &estate->alarm, now_ns + ASK_AGAIN_NS);
    if (!qsm_orphans_executes(estate->region) || engine->client.suspended) return;
    if (estate->state == QSM_ESTATE_ASKING) qsm_reports_ask(estate);
    if (estate->state == QSM_ESTATE_SETTLED) tell_end_again(estate, now_ns);
    qsm_estate_look(estate);
}
