/*
 * path.h - how long datagrams may be to reach a node. Interfaces say what they carry, and tunnels
 * on the way may carry less and tell nobody (RFC 8899: found out by the ends alone).
 *
 * Nothing is probed while all goes well. When a node asks again for a long packet that was sent to
 * it before, it gets two probes, a long and a short one, some times; if it answers the short ones
 * only, its path is short: new packets of its regions are made shorter, and long ones that were
 * made before go in parts (parts.h). What the path carries is then found by halving; later it is
 * tried whether it carries all again, more and more seldom.
 */
#ifndef QSM_SENDING_PATH_H
#define QSM_SENDING_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/wire.h"
#include "qsm.h"

typedef struct qsm_peer qsm_peer;
typedef struct qsm_region qsm_region;

enum qsm_path_phase {
    QSM_PATH_RESTS = 0,
    QSM_PATH_DOUBTED = 1, /* long and short probes are sent */
    QSM_PATH_HALVED = 2,  /* it is short; what it carries is being found */
    QSM_PATH_RETRIED = 3  /* it was short: does it carry all again? */
};

/* To one node. */
typedef struct {
    uint8_t phase;       /* enum qsm_path_phase */
    uint8_t tries;       /* of the same probe */
    uint8_t proofs;      /* rounds in which the short probe was answered and the long one was not */
    bool short_answered; /* in this round */
    uint16_t carries;    /* the longest datagram that reaches it; 0: any that is made */
    uint16_t fails;      /* the shortest that is known not to, if it is short */
    uint16_t wanted;     /* length that was doubted */
    uint32_t nonce;      /* of the probes of this phase */
    uint64_t next_ns;    /* when the phase goes on, or a rest ends */
    uint64_t rest_ns;    /* before it is tried again */
} qsm_path;

typedef struct {
    qsm_alarm alarm;
    uint32_t generation; /* grows when the path to some node has changed */
} qsm_paths;

void qsm_paths_start(qsm_engine *engine);
void qsm_paths_stop(qsm_engine *engine);
/* The peer is forgotten. */
void qsm_path_forget(qsm_engine *engine, qsm_peer *peer);
/* The node has asked again for a packet of that length, which it was given before. */
void qsm_path_suspect(qsm_engine *engine, qsm_peer *peer, uint32_t bytes);
/* True when a packet of that length goes to the node in parts. */
bool qsm_path_cuts(const qsm_peer *peer, const qsm_slice *packet);
/* The longest data packet to make for a region, and whether one that was made goes in parts. */
uint32_t qsm_path_region_bytes(qsm_region *region);
bool qsm_path_region_cuts(qsm_region *region, const qsm_slice *packet);

void qsm_path_probe_arrived(qsm_engine *engine, uint64_t from, const qsm_probe *probe);
void qsm_path_answer_arrived(qsm_engine *engine, uint64_t from, const qsm_probe *answer);

#endif
