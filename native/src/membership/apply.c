#include "membership/apply.h"

#include "core/engine.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/order.h"
#include "receiving/stream.h"

/* A region may only go when no group maps to it. Normally its groups have new views by now. */
static void unmap_region(qsm_engine *engine, qsm_region *region) {
    for (qsm_group *group = NULL;
         region->uses > 0 && (group = qsm_group_next(engine, group)) != NULL;)
        qsm_group_lose_region(group, region);
}

/* The regions that were to look for what waits in vain may have been those that are gone. */
static void look_later(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        qsm_orphans_look_later(region);
}

static bool apply_sections(qsm_engine *engine, qsm_directory *directory, uint64_t batch,
                           uint32_t requests_seen, qsm_reader *in) {
    bool dissolved = false;
    uint32_t count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!qsm_apply_region(engine, directory, batch, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!qsm_apply_group(engine, directory, requests_seen, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!qsm_apply_outsider(engine, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        uint64_t sibling = qsm_read64(in);
        if (in->failed || region == NULL || region->my_index < 0) continue;
        if (!qsm_table_put(&region->siblings, sibling, region)) return false;
    }
    directory->applied = batch;
    if (batch > engine->client.view_floor) engine->client.view_floor = batch;
    /* Deaths before closings: what the dead have left open keeps a region from being drained. */
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++)
        qsm_apply_death(engine, batch, qsm_read64(in));
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!qsm_apply_judgement(engine, batch, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        if (region != NULL) qsm_region_close(region);
    }
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        if (region == NULL) continue;
        if (region->uses > 0) unmap_region(engine, region);
        qsm_region_dissolve(region);
        dissolved = true;
    }
    if (dissolved && qsm_orders_forget_all_gone(engine)) look_later(engine);
    return !in->failed;
}

static void check_drained(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        qsm_region_check_drained(region);
}

static void close_older_regions(qsm_engine *engine, qsm_directory *directory) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->directory != directory) qsm_region_close(region);
}

static void retry_waiting(qsm_engine *engine, qsm_directory *directory) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (region->directory != directory) continue;
        uint32_t inner = 0;
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &inner)) != NULL;)
            if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
    }
}

/* As if this node had been put out: the past that it shares with others is not what they think. */
static void begin_anew(qsm_engine *engine) {
    engine->client.torn = false;
    if (engine->host != NULL)
        qsm_host_step_down(engine->host);
    else
        qsm_client_reset(engine, QSM_REASON_HOST_MERGED);
}

static void apply_batch(qsm_engine *engine, qsm_reader *in) {
    qsm_client *client = &engine->client;
    uint32_t tag = qsm_read32(in);
    uint64_t batch = qsm_read64(in);
    uint32_t join = qsm_read32(in);
    uint32_t requests_seen = qsm_read32(in);
    if (in->failed || join != client->joins) return;
    qsm_directory *directory = qsm_directory_enter(engine, tag);
    client->applying = true; /* one death may make a region seem drained that the next one opens */
    bool applied = directory != NULL && apply_sections(engine, directory, batch, requests_seen, in);
    client->applying = false;
    if (!applied) {
        /* What the host says cannot be put in force here (no memory, or it contradicts itself):
         * begin anew. */
        qsm_count(engine, QSM_COUNT_dropped_malformed);
        if (engine->host == NULL) qsm_client_reset(engine, QSM_REASON_EVICTED_SLOW);
        return;
    }
    qsm_count(engine, QSM_COUNT_batches_applied);
    qsm_note(engine, QSM_TRACE_batch_applied, batch, tag);
    if (client->torn) {
        begin_anew(engine);
        return;
    }
    bool newcomer = client->health == QSM_HEALTH_JOINING;
    if (newcomer) qsm_client_admitted(engine);
    close_older_regions(engine, directory);
    check_drained(engine);
    if (newcomer) qsm_orders_forget_all_gone(engine); /* it hears of deaths that it had missed */
    retry_waiting(engine, directory);
    qsm_scheduler_unblock(engine);
}

void qsm_apply_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes) {
    qsm_client *client = &engine->client;
    /* One that fell silent may only have been hard to hear: what it says must not be lost, for if
     * it answers again we go on with it as if nothing had been. */
    const qsm_peer *host = client->host != NULL ? client->host : client->last_host;
    bool ours = engine->host != NULL ? from == engine->id : host != NULL && host->id == from;
    if (!ours || bytes == 0) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    qsm_reader in = {.at = message + 1, .end = message + bytes};
    switch (message[0]) {
    case QSM_TO_CLIENT_BATCH: apply_batch(engine, &in); break;
    case QSM_TO_CLIENT_MERGE: {
        qsm_epoch epoch;
        epoch.term = qsm_read64(&in);
        epoch.host = qsm_read64(&in);
        qsm_address address;
        qsm_read_address(&in, &address);
        bool insisted = qsm_read_flag(&in);
        if (in.failed) break;
        if (insisted) qsm_patience_spend(&client->patience, engine->now_ns);
        if (epoch.host == engine->id)
            qsm_client_become_successor(engine, epoch.term);
        else
            qsm_client_follow(engine, &epoch, &address, QSM_REASON_HOST_MERGED);
        break;
    }
    case QSM_TO_CLIENT_BYE:
        if (client->closing) qsm_client_closed(engine);
        break;
    default: qsm_count(engine, QSM_COUNT_dropped_malformed);
    }
}
