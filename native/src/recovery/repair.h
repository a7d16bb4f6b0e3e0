/*
 * repair.h - getting what is missing, giving what others miss. Missing packets are asked for from a
 * member of the partition that caches them, later from the sender. Answers are only noted when
 * asked for and made when they can be sent; what has become stale by then is dropped.
 *
 * Against storms of repairs a stream asks for a window of packets at a time, which opens while
 * answers come and closes while they do not: a member that is swamped, or whose neighbours are,
 * asks for little.
 */
#ifndef QSM_RECOVERY_REPAIR_H
#define QSM_RECOVERY_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire.h"
#include "qsm.h"

typedef struct qsm_stream qsm_stream;
typedef struct qsm_region qsm_region;

/* Repairs that somebody waits for. */
typedef struct {
    uint64_t region, stream;
    qsm_range range;
    uint64_t to; /* node id */
    uint64_t asked_ns;
} qsm_repair;

typedef struct {
    qsm_repair *items; /* ring */
    uint32_t first, count;
} qsm_repairs;

/* Looks for what is missing and asks for it; called by the stream's alarm. */
void qsm_repair_ask(void *stream, uint64_t now_ns);
/* Schedules the next look, if anything is missing. */
void qsm_repair_schedule(qsm_stream *stream, uint64_t now_ns);
void qsm_repair_pull_arrived(qsm_engine *engine, uint64_t from, const qsm_pull *pull);
/* Notes that `to` lacks these packets of the stream; at most as many as the queue takes. */
void qsm_repair_promise(qsm_engine *engine, uint64_t region, uint64_t stream, uint64_t to,
                        const qsm_range *ranges, uint32_t range_count);
/* Makes repair packets while fewer than `packets_max` wait for the system. */
void qsm_repair_fill(qsm_engine *engine, uint32_t packets_max);
void qsm_repairs_free(qsm_repairs *repairs);

#endif
