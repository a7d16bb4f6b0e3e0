/*
 * link.h - a reliable, ordered stream of control messages between two nodes, over unicast
 * datagrams. Membership runs on it, so that hosts and clients can be written as if nothing were
 * ever lost. Messages of any length up to QSM_CONTROL_MESSAGE_BYTES_MAX are cut into packets; lost
 * packets are sent again with growing pauses.
 */
#ifndef QSM_MEMBERSHIP_LINK_H
#define QSM_MEMBERSHIP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/wire.h"

typedef struct qsm_peer qsm_peer;

typedef struct qsm_link_segment {
    struct qsm_link_segment *next;
    uint32_t sequence;
    uint32_t bytes;
    bool last;
    bool arrived;     /* acknowledged selectively */
    uint64_t sent_ns; /* 0: not sent yet */
    uint8_t payload[];
} qsm_link_segment;

typedef struct qsm_link_early {
    bool filled, last;
    uint32_t bytes;
    uint8_t *payload;
} qsm_link_early;

typedef struct qsm_link {
    qsm_engine *engine;
    qsm_peer *peer;
    /* sending */
    uint32_t stream; /* random; tells this end from an earlier one that was forgotten */
    qsm_link_segment *first, *tail;
    uint32_t next_sequence;
    uint64_t queued_bytes;
    bool begun;           /* something of the stream has been acknowledged */
    uint64_t progress_ns; /* when something was acknowledged, or the queue began */
    uint64_t pause_ns;    /* before the oldest packet is sent again */
    /* receiving */
    uint32_t peer_stream;
    uint32_t received;                     /* all up to here has arrived in order */
    qsm_link_early early[QSM_LINK_WINDOW]; /* received + 1 + i */
    uint8_t *message;                      /* being put together */
    uint32_t message_bytes, message_capacity;
    bool acknowledge; /* something arrived that has not been acknowledged */
    qsm_alarm alarm;
} qsm_link;

/* Called with each complete message, in order. It may free the link. */
void qsm_link_message_arrived(qsm_engine *engine, qsm_peer *peer, const uint8_t *message,
                              uint32_t bytes);

/* Called when the other end has acknowledged nothing for so long that the queue was dropped. It may
 * free the link. */
void qsm_link_broken(qsm_engine *engine, qsm_peer *peer);

/* Called when the other end has begun anew and what was queued for it was dropped. */
void qsm_link_reset(qsm_engine *engine, qsm_peer *peer);

/* The peer's link, made when needed; NULL when memory is short. */
qsm_link *qsm_link_to(qsm_engine *engine, qsm_peer *peer);
void qsm_link_free(qsm_link *link);
/* Queues a copy of the message. A link that cannot take it is broken: false. */
bool qsm_link_send(qsm_link *link, const uint8_t *message, uint32_t bytes);
/* The engine slept: nobody is to blame for not having answered meanwhile. */
void qsm_links_slept(qsm_engine *engine);
void qsm_link_receive(qsm_link *link, const qsm_link_packet *packet, uint64_t now_ns);

#endif
