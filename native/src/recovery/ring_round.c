/*
 * ring_round.c - a token is back at its leader: what the round has told is noted for the level
 * above, and at the top for the sender.
 */
#include "core/engine.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/orphan.h"
#include "recovery/ring_part.h"
#include "recovery/ring_places.h"
#include "recovery/ring_token.h"
#include "sending/sender.h"

/* The region as a whole has what the top round says. */
static void tell_sender(qsm_region *region, qsm_stream *stream, const qsm_token_record *record,
                        const qsm_token *token) {
    qsm_engine *engine = region->engine;
    bool early = token->batch > qsm_batch(engine); /* rests on what was not told here yet */
    if (stream->own) {
        if (early) return;
        region->aes = token->aes;
        if (region->sender != NULL)
            qsm_sender_acknowledged(region->sender, record->low, record->lost);
        return;
    }
    qsm_stream_learn_cut(stream, record->cached);
    if (stream->orphan) {
        if (!early && stream->fin_known && record->low >= stream->fin) qsm_orphan_complete(stream);
        return;
    }
    qsm_peer *peer = qsm_peer_find(engine, stream->sender);
    qsm_control control = {.ack = {.region = region->uid,
                                   .stream = stream->sender,
                                   .low = record->low,
                                   .batch = token->batch,
                                   .lost = record->lost,
                                   .aes = token->aes}};
    qsm_count(engine, QSM_COUNT_acks_sent);
    qsm_post_control(engine, QSM_KIND_ACK, &control, &peer->address);
}

static void use_record(qsm_ring_part *part, const qsm_token_record *record, uint32_t mask,
                       const qsm_token *token) {
    qsm_region *region = part->region;
    qsm_stream *stream = qsm_stream_of(region, record->stream);
    if (stream == NULL) return;
    qsm_stream_learn_high(stream, record->high);
    if (token->batch <= qsm_batch(region->engine)) qsm_stream_learn_stable(stream, record->stable);
    if ((record->participants & mask) != mask) {
        qsm_count(region->engine, QSM_COUNT_tokens_incomplete);
        part->incomplete = true;
        return;
    }
    if (stream->levels[part->level].low < record->low) {
        stream->levels[part->level].low = record->low;
        stream->levels[part->level].batch = token->batch;
        if ((record->high - record->low) * region->rings.packet_bytes >= QSM_RING_HURRY_BYTES)
            part->flowing_ns = region->engine->now_ns;
    }
    if (stream->levels[part->level].cached < record->cached)
        stream->levels[part->level].cached = record->cached;
    if (stream->levels[part->level].lost < record->lost)
        stream->levels[part->level].lost = record->lost;
    if (part->level + 1u == region->rings.level_count) {
        bool was_active = qsm_stream_is_active(stream);
        tell_sender(region, stream, record, token);
        /* The rest should hear of it, too, before tokens fall silent about the stream. */
        if (was_active && !qsm_stream_is_active(stream)) qsm_ring_announce(stream);
    }
}

/* Coupled mode: the level below is done, so the token here may go on. */
static void finish_waiting(qsm_ring_part *part, uint64_t now_ns) {
    if (!part->waits) return;
    part->waits = false;
    if (qsm_ring_leads(part->region, part->level)) {
        qsm_ring_launch_now(part, now_ns);
        return;
    }
    if (part->held == NULL) return;
    qsm_ring_fill_token(part, part->held);
    qsm_ring_pass(part, part->held, now_ns);
}

void qsm_ring_round_ended(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns) {
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    if (!part->travelling || token->round != part->round) return;
    part->travelling = false;
    uint64_t took = now_ns - part->launched_ns;
    part->round_ns = part->round_ns ? (part->round_ns * 7 + took) / 8 : took;
    qsm_count(engine, QSM_COUNT_tokens_returned);
    uint32_t mask = qsm_ring_alive_mask(region, part->level);
    qsm_token copy = *token; /* what follows may launch the next token into `held` */
    if (copy.batch < qsm_batch(engine)) copy.batch = qsm_batch(engine); /* the mask rests on it */
    part->incomplete = false;
    for (uint32_t i = 0; i < copy.record_count; i++)
        use_record(part, &copy.records[i], mask, &copy);
    if (copy.record_count > 0 && !part->incomplete) part->aes = copy.aes;
    if (part->incomplete) { /* whoever was passed over may be reached from the other side */
        part->reverse = !part->reverse;
        for (uint32_t i = 0; i < region->member_count; i++)
            region->members[i].silent_until_ns = 0;
    }
    if (part->wanted) {
        part->wanted = false;
        finish_waiting(part + 1, now_ns);
    }
    qsm_ring_launch_again(part, took, now_ns);
}
