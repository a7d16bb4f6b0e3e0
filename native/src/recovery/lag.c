#include "recovery/lag.h"

#include <string.h>

#include "core/engine.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/stream.h"

/* The application has not read for half of the limit, and nothing more can be taken. */
static bool does_not_read(qsm_engine *engine, uint64_t now_ns) {
    uint64_t *since_ns = &engine->delivery.unread_since_ns;
    if (!qsm_delivery_waits_for_reader(engine)) {
        *since_ns = 0;
        return false;
    }
    if (*since_ns == 0) *since_ns = now_ns;
    return now_ns - *since_ns >= engine->config.lag_ns_max / 2;
}

void qsm_lag_check(qsm_stream *stream, uint64_t now_ns) {
    qsm_engine *engine = stream->region->engine;
    uint64_t quarter = engine->config.lag_ns_max / 4;
    /* If all who kept a packet have died, who lacks it will not get it any more. */
    if (stream->orphan && !qsm_orphan_must_fetch(stream)) {
        memset(stream->lag_mark, 0, sizeof stream->lag_mark);
        return;
    }
    if (does_not_read(engine, now_ns)) qsm_request_report_slow(engine, stream->region);
    if (now_ns - stream->lag_marked_ns < quarter) return;
    /* Full of packets that are kept for others: somebody else is behind. */
    if (qsm_delivery_is_full(engine) && !qsm_delivery_waits_for_reader(engine))
        memset(stream->lag_mark, 0, sizeof stream->lag_mark);
    if (stream->lag_mark[3] != 0 && stream->contiguous < stream->lag_mark[3] &&
        now_ns - stream->lag_marked_ns < 2 * quarter)
        qsm_request_report_slow(engine, stream->region);
    for (uint32_t i = 3; i > 0; i--)
        stream->lag_mark[i] = stream->lag_mark[i - 1];
    stream->lag_mark[0] = stream->high;
    stream->lag_marked_ns = now_ns;
}
