#include "recovery/ring.h"

#include <assert.h>
#include <stdlib.h>

#include "core/engine.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/orphan.h"
#include "recovery/repair.h"
#include "recovery/ring_part.h"
#include "recovery/ring_places.h"
#include "recovery/ring_token.h"

void qsm_rings_init(qsm_region *region) {
    qsm_rings *rings = &region->rings;
    /* Rings of like size: a partition of one or two would have to cache as much as the others. */
    uint32_t most = region->engine->config.ring_size_max;
    uint32_t count = (region->member_count + most - 1) / most;
    rings->ring_size = (region->member_count + count - 1) / count;
    if (rings->ring_size < QSM_RING_SIZE_MIN) rings->ring_size = QSM_RING_SIZE_MIN;
    for (;; rings->ring_size++) { /* wider rings rather than more levels than there is room for */
        rings->level_count = 1;
        while (rings->level_count < QSM_RING_LEVELS_MAX &&
               qsm_ring_block_size(region, rings->level_count) < region->member_count)
            rings->level_count++;
        if (qsm_ring_block_size(region, rings->level_count) >= region->member_count) break;
    }
    assert(rings->ring_size <= QSM_RING_SIZE_MAX);
    for (uint32_t level = 0; level < rings->level_count; level++) {
        rings->parts[level].region = region;
        rings->parts[level].level = (uint8_t)level;
        qsm_alarm_init(&rings->parts[level].launch_alarm, qsm_ring_on_launch_alarm,
                       &rings->parts[level]);
        qsm_alarm_init(&rings->parts[level].pass_alarm, qsm_ring_on_pass_alarm,
                       &rings->parts[level]);
    }
}

void qsm_rings_free(qsm_region *region) {
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_alarm_clear(&region->engine->alarms, &region->rings.parts[level].launch_alarm);
        qsm_alarm_clear(&region->engine->alarms, &region->rings.parts[level].pass_alarm);
        free(region->rings.parts[level].held);
    }
}

void qsm_rings_changed(qsm_region *region) {
    if (region->my_index < 0) return;
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_ring_part *part = &region->rings.parts[level];
        part->travelling = false; /* it may be with the dead */
        part->seen_origin = 0;
    }
    qsm_rings_wake(region, region->engine->now_ns);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

static void push_to_neighbour(qsm_region *region, uint64_t from, const qsm_token *token) {
    for (uint32_t i = 0; i < token->record_count; i++) {
        const qsm_token_record *record = &token->records[i];
        uint32_t pushed = 0;
        for (uint32_t g = 0; g < record->gap_count && pushed < QSM_TOKEN_PUSHED_MAX; g++) {
            qsm_pull lacks = {.region = region->uid, .stream = record->stream, .range_count = 1};
            qsm_range range = record->gaps[g];
            if (range.last - range.first >= QSM_TOKEN_PUSHED_MAX)
                range.last = range.first + QSM_TOKEN_PUSHED_MAX - 1;
            pushed += (uint32_t)(range.last - range.first + 1);
            lacks.ranges[0] = range;
            qsm_count_add(region->engine, QSM_COUNT_repairs_pushed, range.last - range.first + 1);
            qsm_repair_promise(region->engine, from, &lacks);
        }
    }
}

void qsm_ring_token_arrived(qsm_region *region, uint64_t from, const qsm_token *token,
                            uint64_t now_ns) {
    qsm_engine *engine = region->engine;
    if (region->my_index < 0 || token->level >= region->rings.level_count) return;
    qsm_ring_part *part = &region->rings.parts[token->level];
    int32_t origin = qsm_region_index(region, token->origin);
    if (!qsm_ring_takes_part(region, token->level) ||
        token->ring != qsm_ring_mine(region, token->level) || origin < 0)
        return;
    qsm_peer *peer = qsm_peer_find(engine, from);
    if (peer == NULL) return;
    qsm_control ack = {.token_ack = {.region = token->region,
                                     .level = token->level,
                                     .ring = token->ring,
                                     .origin = token->origin,
                                     .round = token->round}};
    qsm_post_control(engine, QSM_KIND_TOKEN_ACK, &ack, &peer->address);
    if (token->origin == engine->id) {
        qsm_ring_round_ended(part, token, now_ns);
        return;
    }
    if (part->seen_origin == token->origin && token->round <= part->seen_round) return;
    part->seen_origin = token->origin;
    part->seen_round = token->round;
    part->visited_ns = now_ns;
    if (token->level == 0) push_to_neighbour(region, from, token);
    qsm_token copy = *token;
    if (engine->config.coupled_tokens && token->level > 0) {
        if (part->held == NULL) part->held = malloc(sizeof *part->held);
        if (part->held == NULL) return;
        *part->held = copy;
        part->waits = true;
        qsm_ring_want_round(part - 1, now_ns);
        return;
    }
    qsm_ring_fill_token(part, &copy);
    qsm_ring_pass(part, &copy, now_ns);
    qsm_rings_wake(region, now_ns);
}

void qsm_ring_nudge_arrived(qsm_region *region, const qsm_nudge *nudge) {
    qsm_stream *stream = qsm_stream_of(region, nudge->stream);
    if (stream == NULL) return;
    qsm_stream_learn_high(stream, nudge->high);
    if (stream->orphan)
        qsm_orphan_found(stream); /* perhaps only now there is something to settle */
    qsm_ring_announce(stream);
}
