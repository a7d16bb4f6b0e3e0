#include "recovery/ring_token.h"

#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/repair.h"
#include "recovery/ring_places.h"
#include "sending/sender.h"

enum { RECORD_BYTES = 53, TOKEN_FIXED_BYTES = QSM_HEADER_BYTES + 34, ANNOUNCEMENTS = 2 };

static void add_my_part(qsm_ring_part *part, qsm_stream *stream, qsm_token *token,
                        qsm_token_record *record) {
    qsm_region *region = part->region;
    uint64_t low, cached, high, stable;
    if (stream->own) {
        high = low = cached = region->sender != NULL ? region->sender->high : 0;
        stable = region->sender != NULL ? region->sender->stable : 0;
    } else {
        qsm_stream_learn_high(stream, record->high);
        if (token->batch <= qsm_batch(region->engine))
            qsm_stream_learn_stable(stream, record->stable);
        qsm_stream_learn_cut(stream, record->cut);
        low = stream->contiguous;
        cached = qsm_stream_cached_low(stream);
        high = stream->high;
        stable = stream->stable;
    }
    if (part->level > 0) { /* speaks for all below it */
        low = stream->levels[part->level - 1].low;
        cached = stream->levels[part->level - 1].cached;
        if (stream->levels[part->level - 1].batch > token->batch)
            token->batch = stream->levels[part->level - 1].batch;
    }
    if (record->participants == 0 || (QSM_BUG(4) ? low > record->low : low < record->low))
        record->low = low;
    if (record->participants == 0 || cached < record->cached) record->cached = cached;
    if (high > record->high) record->high = high;
    if (stable > record->stable) record->stable = stable;
    if (stream->cut > record->cut) record->cut = stream->cut;
    if (part->level == 0) {
        if (stream->lost > record->lost) record->lost = stream->lost;
        stream->lost = 0;
        record->gap_count = (uint8_t)qsm_repair_show(stream, region->engine->now_ns, record->gaps,
                                                     QSM_TOKEN_GAPS_MAX);
    } else {
        uint16_t *lost = &stream->levels[part->level - 1].lost;
        if (*lost > record->lost) record->lost = *lost;
        *lost = 0;
        record->gap_count = 0;
    }
    if (record->low > record->high) record->low = record->high;
    if (record->cached > record->high) record->cached = record->high;
    record->participants |= (uint16_t)(1u << qsm_ring_my_place(region, part->level));
    uint8_t *announce = &stream->announce[part->level];
    if (*announce > 0 && !qsm_stream_is_active(stream)) (*announce)--;
}

bool qsm_ring_speaks_of(const qsm_stream *stream, uint32_t level) {
    return qsm_stream_is_active(stream) || stream->announce[level] > 0;
}

void qsm_ring_announce(qsm_stream *stream) {
    memset(stream->announce, ANNOUNCEMENTS, sizeof stream->announce);
    qsm_rings_wake(stream->region, stream->region->engine->now_ns);
}

static uint32_t records_max(const qsm_engine *engine) {
    uint32_t fit = (qsm_control_bytes_max(engine) - TOKEN_FIXED_BYTES) / RECORD_BYTES;
    return fit < QSM_TOKEN_RECORDS_MAX ? fit : QSM_TOKEN_RECORDS_MAX;
}

static qsm_token_record *record_of(qsm_token *token, uint64_t stream) {
    for (uint32_t i = 0; i < token->record_count; i++)
        if (token->records[i].stream == stream) return &token->records[i];
    return NULL;
}

/* A dead sender of whom this node was never told has sent nothing that is meant for it. Of one
 * alive it may just not have been told yet. */
static bool is_of_no_concern(const qsm_region *region, uint64_t sender) {
    return qsm_dead_has(&region->engine->dead, sender) || !qsm_region_knows_alive(region, sender);
}

void qsm_ring_fill_token(qsm_ring_part *part, qsm_token *token) {
    qsm_region *region = part->region;
    token->aes = token->aes && (part->level > 0 ? region->rings.parts[part->level - 1].aes
                                                : region->engine->aegis != QSM_AEGIS_NONE);
    for (uint32_t i = 0; i < token->record_count; i++) {
        qsm_token_record *record = &token->records[i];
        qsm_stream *stream = qsm_stream_of(region, record->stream);
        if (stream != NULL)
            add_my_part(part, stream, token, record);
        else if (is_of_no_concern(region, record->stream) && record->participants != 0)
            record->participants |= (uint16_t)(1u << qsm_ring_my_place(region, part->level));
    }
    uint32_t capacity = region->streams.capacity;
    for (uint32_t i = 0; i < capacity && token->record_count < records_max(region->engine); i++) {
        uint32_t slot = (part->record_cursor + i) % capacity;
        qsm_stream *stream = region->streams.slots[slot].value;
        if (stream == NULL || !qsm_ring_speaks_of(stream, part->level) ||
            record_of(token, stream->sender) != NULL)
            continue;
        qsm_token_record *record = &token->records[token->record_count++];
        *record = (qsm_token_record){.stream = stream->sender};
        add_my_part(part, stream, token, record);
        if (token->record_count == records_max(region->engine)) part->record_cursor = slot + 1;
    }
    if (token->batch < qsm_batch(region->engine)) token->batch = qsm_batch(region->engine);
}

void qsm_ring_send_token(qsm_engine *engine, const qsm_token *token, uint64_t to) {
    qsm_peer *peer = qsm_peer_find(engine, to);
    if (peer == NULL) return;
    qsm_control control = {.token = *token};
    uint32_t bytes = TOKEN_FIXED_BYTES;
    for (uint32_t i = 0; i < token->record_count; i++) {
        bytes += RECORD_BYTES + 12u * control.token.records[i].gap_count;
        if (bytes > qsm_control_bytes_max(engine)) { /* gaps are only a hint */
            bytes -= 12u * control.token.records[i].gap_count;
            control.token.records[i].gap_count = 0;
        }
    }
    qsm_post_control(engine, QSM_KIND_TOKEN, &control, &peer->address);
}
