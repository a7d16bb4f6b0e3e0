/*
 * repair.h - getting what is missing, giving what others miss. Missing packets are asked for from a
 * member of the partition that caches them, later from the sender. Answers are only noted when
 * asked for and made when they can be sent; what has become stale by then is dropped. repair_ask.c
 * gets, repair_give.c gives.
 *
 * Against storms of repairs
 * - a packet is asked for in one place at a time; who does not have it says so, and only when those
 *   who should cache it lack it the sender is asked, who then sends it to the whole region once;
 * - a stream asks for a window of packets at a time, which opens while answers come and closes
 * while they do not: a member that is swamped, or whose neighbours are, asks for little;
 * - who gives spends at most a share of its traffic on repairs, serves those who ask in turns, and
 *   does not send a packet again to somebody to whom it has just been sent.
 */
#ifndef QSM_RECOVERY_REPAIR_H
#define QSM_RECOVERY_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire.h"
#include "qsm.h"
#include "sending/rate.h"

typedef struct qsm_stream qsm_stream;
typedef struct qsm_region qsm_region;

/* Repairs that somebody waits for. */
typedef struct {
    uint64_t region, stream;
    qsm_range range;
    uint64_t to; /* node id */
    bool last;   /* those who should cache it do not have it */
    uint64_t asked_ns;
} qsm_repair;

typedef struct {
    qsm_repair *items; /* ring */
    uint32_t first, count;
    uint32_t served; /* packets of the first one, since it has been first */
    qsm_rate rate;   /* of what is given */
    uint64_t measured_ns, measured_bytes;
    uint64_t own_bytes_per_s; /* greatest sending rate into regions that were given to since then */
    uint64_t answers_ns;      /* and longest round trip in them */
} qsm_repairs;

/* Looks for what is missing and asks for it; called by the stream's alarm. */
void qsm_repair_ask(void *stream, uint64_t now_ns);
/* Schedules the next look, if anything is missing. */
void qsm_repair_schedule(qsm_stream *stream, uint64_t now_ns);
/* What is missing, was asked for in vain and is cached by this node's own partition is shown to its
 * successor in the ring, who may have it: that counts as asking. Returns how many ranges. */
uint32_t qsm_repair_show(qsm_stream *stream, uint64_t now_ns, qsm_range *ranges,
                         uint32_t count_max);
/* What was asked for is not there: it may be asked for elsewhere. */
void qsm_repair_denied(qsm_region *region, const qsm_pull *denial);
void qsm_repair_pull_arrived(qsm_engine *engine, uint64_t from, const qsm_pull *pull);
/* Notes that `to` lacks these packets; at most as many as the queue takes. */
void qsm_repair_promise(qsm_engine *engine, uint64_t to, const qsm_pull *lacks);
/* Makes repair packets while fewer than `packets_max` wait for the system. */
void qsm_repair_fill(qsm_engine *engine, uint32_t packets_max);
/* When the next repair may be made; UINT64_MAX: none is waited for. */
uint64_t qsm_repair_deadline_ns(const qsm_engine *engine);
void qsm_repairs_free(qsm_repairs *repairs);

#endif
