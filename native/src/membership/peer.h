/*
 * peer.h - another node that this one has been told of: its address, its place in the order of
 * seniority, the window that refuses replayed control packets, how its multicast is heard, and how
 * long datagrams may be to reach it.
 * Lives as long as something refers to it.
 */
#ifndef QSM_MEMBERSHIP_PEER_H
#define QSM_MEMBERSHIP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "membership/hearing.h"
#include "qsm.h"
#include "sending/path.h"

typedef struct qsm_link qsm_link;

typedef struct qsm_peer {
    uint64_t id;
    uint64_t rank; /* seniority: smaller joined earlier */
    qsm_address address;
    uint32_t uses;
    bool dead;       /* put out by the membership service; ids never come back */
    uint32_t newest; /* greatest counter seen */
    uint64_t seen;   /* bit i: newest - i has been seen */
    qsm_link *link;  /* reliable control link, NULL until needed */
    qsm_audibility audibility;
    qsm_path path;
} qsm_peer;

/* Finds or makes the peer and adds a use; NULL when memory is short. */
qsm_peer *qsm_peer_use(qsm_engine *engine, uint64_t id, const qsm_address *address);
qsm_peer *qsm_peer_find(qsm_engine *engine, uint64_t id);
/* Gives back one use; the last one frees the peer and its link. */
void qsm_peer_unuse(qsm_engine *engine, qsm_peer *peer);
/* Queues a data packet for the node, in parts where its path wants that. */
void qsm_peer_post(qsm_engine *engine, uint32_t class, const qsm_peer *peer,
                   const qsm_slice *packet);
/* False when a control packet with this counter has been seen or is too old to tell. */
bool qsm_peer_is_fresh(qsm_peer *peer, uint32_t counter);

#endif
