#include "recovery/loss.h"

#include "receiving/stream.h"

/* What is behind all that came may be in a socket that is being read. */
enum { END_DELAY_NS = 10000000 };

/* When what is behind all that came counts as lost: nothing has come for a while, although it has
 * been known for long enough that there is more. */
static uint64_t end_lost_ns(const qsm_stream *stream) {
    uint64_t window_ns = stream->lateness.window_ns;
    uint64_t silent_ns =
        stream->received_ns + (window_ns > END_DELAY_NS ? window_ns : END_DELAY_NS);
    uint64_t told_ns = stream->told_ns + window_ns;
    return silent_ns > told_ns ? silent_ns : told_ns;
}

void qsm_loss_judge(qsm_stream *stream, uint64_t now_ns) {
    /* Of a dead sender nothing is late: what comes, others give. */
    bool end =
        stream->orphan || (stream->high_received < stream->high && end_lost_ns(stream) <= now_ns);
    uint64_t last = end ? stream->high
                        : qsm_lateness_lost_upto(&stream->lateness, stream->high_received,
                                                 stream->received_ns, now_ns);
    uint32_t lost = stream->lost;
    if (stream->judged < stream->contiguous) stream->judged = stream->contiguous;
    while (stream->judged < last) {
        const qsm_slot *slot = qsm_stream_slot(stream, ++stream->judged);
        lost += slot == NULL || slot->state == QSM_SLOT_MISSING;
    }
    stream->lost = (uint16_t)(lost > 0xffff ? 0xffff : lost);
    /* Of a dead sender's stream there may turn out to be less than was known. */
    if (stream->judged > stream->high) stream->judged = stream->high;
}

uint64_t qsm_loss_next_ns(const qsm_stream *stream, uint64_t now_ns) {
    if (stream->judged >= stream->high) return UINT64_MAX;
    uint64_t end_ns = stream->high_received < stream->high ? end_lost_ns(stream) : UINT64_MAX;
    if (stream->judged >= stream->high_received) return end_ns;
    uint64_t gaps_ns = qsm_lateness_next_ns(&stream->lateness, stream->received_ns, now_ns);
    return gaps_ns < end_ns ? gaps_ns : end_ns;
}
