/*
 * outgoing.h - what a group that sends has besides group.h: its feed or queue, its place in the
 * scheduler's circle, the numbering and sealing of this node's messages. Made with the first
 * message that is offered.
 */
#ifndef QSM_SENDING_OUTGOING_H
#define QSM_SENDING_OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine.h"
#include "membership/group.h"
#include "qsm.h"
#include "sending/watch.h"

/* A message given to qsm_group_send, waiting. */
typedef struct qsm_queued {
    struct qsm_queued *next;
    uint32_t bytes;
    uint8_t data[];
} qsm_queued;

/* What was taken from the application and is not sent yet. */
typedef struct {
    qsm_queued *first, *last;
    uint32_t count;
    uint8_t *fragments; /* rest of a message too long for one packet */
    uint32_t fragments_bytes, fragments_at;
} qsm_queue;

enum qsm_feeds { QSM_FEEDS_NOTHING, QSM_FEEDS_ONE, QSM_FEEDS_MANY };

typedef struct qsm_outgoing {
    union {
        qsm_feed one;
        qsm_feed_many many;
    } feed;
    void *feed_context;
    qsm_queue *queue;        /* NULL: nothing is queued */
    uint64_t next_number;    /* of the next message; never used twice under one key */
    uint64_t last_sent_view; /* view of this node's last message, 0: none yet */
    uint32_t ready_next;     /* number of the next group in the scheduler's circle */
    uint32_t unacknowledged;
    qsm_watch watch;
    uint8_t feeds; /* enum qsm_feeds */
    uint8_t priority;
    bool ready;         /* is in the scheduler's circle */
    bool first_in_view; /* the next message is this node's first in the view */
    bool wants_room;    /* qsm_group_send was refused */
    bool flushing; /* has new members: sends on when all has arrived that was sent before them */
    bool key_made; /* `secret` is of the group's key and this node's id */
    uint8_t secret[QSM_AEGIS_KEY_BYTES]; /* this node's key in the group, for messages sealed with
                                            AES */
} qsm_outgoing;

/* The group's; NULL when it has never sent. */
static inline qsm_outgoing *qsm_outgoing_of(const qsm_group *group) {
    if (group->outgoing == 0) return NULL;
    return qsm_slab_at(&group->engine->scheduler.outgoing, group->outgoing);
}

/* The group's, made when needed; NULL when memory is short. */
qsm_outgoing *qsm_outgoing_make(qsm_group *group);
void qsm_outgoing_free(qsm_group *group);
/* This node has another id from now on: its messages are numbered anew. */
void qsm_outgoing_reset(qsm_group *group);
/* Messages that have not arrived everywhere, without those in the queue. */
uint32_t qsm_outgoing_unacknowledged(const qsm_group *group);
/* So many more of them have. */
void qsm_outgoing_acknowledged(qsm_group *group, uint32_t messages);
/* The queue, made when needed; NULL when memory is short. */
qsm_queue *qsm_outgoing_queue(qsm_engine *engine, qsm_outgoing *outgoing);
/* Forgets the rest of a long message that is being sent in parts. */
void qsm_outgoing_drop_fragments(qsm_engine *engine, qsm_outgoing *outgoing);
/* Gives the queue's record back if nothing is in it. */
void qsm_outgoing_tidy(qsm_engine *engine, qsm_outgoing *outgoing);

#endif
