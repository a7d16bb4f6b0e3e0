/*
 * ring.h - token rings: rings of at most K members; their leaders form the rings above, until one
 * ring remains. A token goes round its ring on its own clock and gathers, for each active sender,
 * what everybody has. The top leader acknowledges to the sender what the whole region has.
 *
 * The papers ran two coupled levels, in which the upper token waits at each partition for a round
 * of its own (config.coupled_tokens); with a clock a level, the time to acknowledge grows with the
 * number of levels only.
 */
#ifndef QSM_RECOVERY_RING_H
#define QSM_RECOVERY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/limits.h"
#include "core/wire.h"

typedef struct qsm_region qsm_region;
typedef struct qsm_stream qsm_stream;

/* This node's part in one level. */
typedef struct {
    qsm_region *region;
    uint8_t level;
    /* as leader */
    uint32_t round;  /* of the token launched last */
    bool travelling; /* it has not come back yet */
    bool wanted;     /* coupled mode: the token above waits for a round of this level */
    uint64_t launched_ns;
    uint64_t launched_bytes; /* the rings' bytes_total then */
    uint64_t flowing_ns;     /* when a token last told that much is open and some of it arrives */
    uint64_t round_ns;       /* smoothed */
    bool incomplete;         /* the token that is being looked at lacks somebody's part */
    bool reverse;            /* the next one goes the other way: the last was incomplete */
    bool aes;                /* all below can open messages sealed with AES */
    uint32_t record_cursor;  /* where to go on when not all streams fit */
    /* as member */
    uint64_t visited_ns; /* when a token was here last */
    uint64_t seen_origin;
    uint32_t seen_round;
    /* passing it on */
    qsm_token *held;  /* until the successor has acknowledged it */
    int32_t position; /* of the successor that it was sent to */
    uint32_t tries;
    uint64_t passed_ns; /* when it was sent to it last */
    bool waits;         /* coupled mode: held back until the level below is done */
    qsm_alarm launch_alarm, pass_alarm;
} qsm_ring_part;

typedef struct {
    uint32_t ring_size;
    uint32_t level_count;
    uint64_t bytes_total;  /* received and sent here: much of it hastens tokens */
    uint32_t packet_bytes; /* how long those packets were, smoothed */
    uint64_t much_ns;      /* when much had come last */
    qsm_ring_part parts[QSM_RING_LEVELS_MAX];
} qsm_rings;

void qsm_rings_init(qsm_region *region);
void qsm_rings_free(qsm_region *region);
/* Somebody has died: leaders and successors may be others now. */
void qsm_rings_changed(qsm_region *region);
/* Something has happened that tokens must tell of. */
void qsm_rings_wake(qsm_region *region, uint64_t now_ns);
/* Data has arrived: hastens the token when there is much of it. */
void qsm_rings_traffic(qsm_region *region, uint32_t bytes, uint64_t now_ns);
void qsm_ring_token_arrived(qsm_region *region, uint64_t from, const qsm_token *token,
                            uint64_t now_ns);
void qsm_ring_ack_arrived(qsm_region *region, uint64_t from, const qsm_token_ack *ack,
                          uint64_t now_ns);
void qsm_ring_nudge_arrived(qsm_region *region, const qsm_nudge *nudge);
#endif
