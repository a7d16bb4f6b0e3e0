/*
 * inspect.c - a look inside an engine: who it is, where it listens, its counters, regions and
 * trace. Nothing here changes anything.
 */
#include "core/engine.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/region.h"
#include "sending/sender.h"

int qsm_engine_subscriptions(const qsm_engine *engine, qsm_address *addresses, uint32_t count_max,
                             uint64_t *generation) {
    uint32_t count = 0;
    if (generation != NULL) *generation = engine->subscription_generation;
    if (count_max == 0 || !qsm_address_is_set(&engine->config.rendezvous)) return 0;
    addresses[count++] = engine->config.rendezvous;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->my_index >= 0 && !region->unicast && count < count_max)
            addresses[count++] = region->address;
    if (engine->config.hybrid_regions_min == 0) return (int)count;
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;) {
        const qsm_address *hybrid = qsm_extra_hybrid(group);
        if (qsm_address_is_set(hybrid) && count < count_max) addresses[count++] = *hybrid;
    }
    return (int)count;
}

uint64_t qsm_engine_node(const qsm_engine *engine) {
    return engine->id;
}

int qsm_engine_health(const qsm_engine *engine) {
    return (int)engine->client.health;
}

static uint64_t count_unicast(const qsm_engine *engine) {
    uint64_t count = 0;
    uint32_t cursor = 0;
    for (const qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->unicast && region->my_index >= 0 && !region->closing && region->alive_count > 1)
            count++;
    return count;
}

uint32_t qsm_engine_counters(const qsm_engine *engine, uint64_t *values, uint32_t count_max) {
    for (uint32_t i = 0; i < QSM_COUNTER_COUNT && i < count_max; i++)
        values[i] = engine->counters[i];
    if (count_max > QSM_COUNT_pool_bytes_now)
        values[QSM_COUNT_pool_bytes_now] = engine->pool.bytes_used;
    if (count_max > QSM_COUNT_unicast_now) values[QSM_COUNT_unicast_now] = count_unicast(engine);
    if (count_max > QSM_COUNT_events_now) values[QSM_COUNT_events_now] = engine->events.count;
    return QSM_COUNTER_COUNT;
}

uint64_t qsm_engine_trace_hash(const qsm_engine *engine) {
    return engine->trace.hash;
}

uint32_t qsm_engine_trace_text(const qsm_engine *engine, char *text, uint32_t bytes_max) {
    return qsm_trace_write(&engine->trace, text, bytes_max);
}

int qsm_engine_regions(const qsm_engine *engine, qsm_region_info *regions, uint32_t count_max) {
    uint32_t count = 0, cursor = 0;
    for (qsm_region *region;
         count < count_max && (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        const qsm_sender *sender = region->sender;
        regions[count++] = (qsm_region_info){
            .region = region->uid,
            .member_count = region->member_count,
            .alive_count = region->alive_count,
            .ring_levels = region->rings.level_count,
            .sender_count = region->streams.count,
            .closing = region->closing,
            .unicast = region->unicast,
            .member = region->my_index >= 0,
            .unacknowledged_packets = sender ? (uint32_t)(sender->high - sender->acked) : 0,
            .rate_bytes_per_s = sender ? sender->rate.bytes_per_s : 0,
            .ack_ns = sender ? sender->ack_ns : 0,
            .token_round_ns = region->rings.parts[0].round_ns,
            .address = region->address};
    }
    return (int)count;
}
