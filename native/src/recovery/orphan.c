#include "recovery/orphan.h"

#include <string.h>

#include "core/engine.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"

enum { TELL_EXECUTOR_NS = 200000000 };

static void on_member_alarm(void *context, uint64_t now_ns);

void qsm_orphans_init(qsm_region *region) {
    qsm_alarm_init(&region->orphans.alarm, on_member_alarm, region);
}

void qsm_orphans_free(qsm_region *region) {
    qsm_alarm_clear(&region->engine->alarms, &region->orphans.alarm);
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        qsm_estate_free(estate);
    qsm_table_free(&region->orphans.estates);
}

bool qsm_orphans_executes(const qsm_region *region) {
    return region->my_index >= 0 && qsm_region_leader(region) == region->my_index;
}

bool qsm_orphans_are_open(const qsm_region *region) {
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        if (estate->state != QSM_ESTATE_NOTED && estate->state != QSM_ESTATE_CLOSED) return true;
    return false;
}

bool qsm_orphan_is_over(const qsm_stream *stream) {
    return stream->high == 0 ||
           (qsm_stream_is_finished(stream) && stream->fin_known && stream->stable >= stream->fin);
}

uint64_t qsm_orphans_patience_ns(const qsm_engine *engine) {
    return 2 * engine->config.failure_ns;
}

void qsm_orphans_look_later(qsm_region *region) {
    if (region->my_index < 0) return;
    qsm_alarm_set_earlier(&region->engine->alarms, &region->orphans.alarm,
                          region->engine->now_ns + qsm_orphans_patience_ns(region->engine));
}

void qsm_orphan_found(qsm_stream *stream) {
    qsm_region *region = stream->region;
    /* Its silence so far is nobody's fault here. */
    if (!stream->orphan) memset(stream->lag_mark, 0, sizeof stream->lag_mark);
    stream->orphan = true;
    if (region->my_index < 0) return;
    qsm_alarm_set_earlier(&region->engine->alarms, &region->orphans.alarm,
                          region->engine->now_ns + TELL_EXECUTOR_NS / 4);
    if (!qsm_orphans_executes(region)) return;
    bool told_of = qsm_table_get(&region->orphans.estates, stream->sender) != NULL;
    if (qsm_orphan_is_over(stream) && !told_of) return;
    qsm_estate *estate = qsm_estate_of(region, stream->sender);
    if (estate != NULL) qsm_estate_open(estate, stream);
}

const qsm_estate *qsm_orphan_fetches(const qsm_stream *stream) {
    if (!stream->orphan) return NULL;
    const qsm_estate *estate = qsm_table_get(&stream->region->orphans.estates, stream->sender);
    return estate != NULL && estate->state == QSM_ESTATE_FETCHING ? estate : NULL;
}

bool qsm_orphan_must_fetch(const qsm_stream *stream) {
    return stream->settled || qsm_orphan_fetches(stream) != NULL;
}

void qsm_orphan_complete(qsm_stream *stream) {
    qsm_estate *estate = qsm_table_get(&stream->region->orphans.estates, stream->sender);
    stream->complete = true;
    if (estate == NULL) { /* it was ended by its sender, or by an executor before this one */
        qsm_orphan_found(stream);
        return;
    }
    qsm_estate_close(estate, stream);
}

void qsm_orphan_progress(qsm_stream *stream) {
    qsm_region *region = stream->region;
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, stream->sender);
    if (estate != NULL) qsm_estate_look(estate);
    if (qsm_stream_is_finished(stream)) qsm_region_check_drained(region);
}

/* ---- when others die or the region goes ------------------------------------------------------ */

static void await_unheard(qsm_region *region, uint64_t sender) {
    qsm_stream *stream = qsm_stream_of(region, sender);
    if (stream == NULL || !stream->orphan || stream->high > 0) return;
    qsm_estate *estate = qsm_estate_of(region, sender);
    if (estate != NULL) qsm_estate_open(estate, stream);
}

void qsm_orphans_await_unheard(qsm_region *region) {
    if (!qsm_orphans_executes(region)) return;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].dead) await_unheard(region, region->members[i].id);
    for (uint32_t i = 0; i < region->outsider_count; i++)
        if (region->outsiders[i]->dead || !qsm_region_knows_alive(region, region->outsiders[i]->id))
            await_unheard(region, region->outsiders[i]->id);
}

void qsm_orphans_membership_changed(qsm_region *region) {
    uint32_t cursor = 0;
    bool in_doubt = false;
    if (!qsm_orphans_executes(region)) return;
    /* Somebody else may have been at it and died: whatever is open is this node's now. What the
     * dead said they had is gone with them, so the others are asked again. */
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!stream->orphan || qsm_orphan_is_over(stream)) continue;
        stream->complete = false; /* as far as this node knows: the tokens tell */
        in_doubt = true;
        qsm_estate *estate = qsm_estate_of(region, stream->sender);
        if (estate == NULL) continue;
        if (estate->state == QSM_ESTATE_NOTED)
            qsm_estate_open(estate, stream);
        else if (estate->state <= QSM_ESTATE_FETCHING)
            qsm_reports_begin(estate, stream);
        else
            qsm_alarm_set(&region->engine->alarms, &estate->alarm, region->engine->now_ns);
    }
    if (in_doubt) qsm_rings_wake(region, region->engine->now_ns);
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
    uint64_t patience = qsm_orphans_patience_ns(engine);
    if (region->orphans.over_ns == 0) region->orphans.over_ns = now_ns;
    if (now_ns - region->orphans.over_ns < patience)
        qsm_alarm_set(&engine->alarms, &region->orphans.alarm, region->orphans.over_ns + patience);
    else if (qsm_orders_forget_all_gone(engine))
        qsm_orphans_look_later(region);
}
