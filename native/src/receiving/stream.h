/*
 * stream.h - what has arrived of one sender in one region: which packets, which are missing, which
 * are kept for others. Knows nothing of messages; complete packets go to delivery.h as they come,
 * in any order.
 */
#ifndef QSM_RECEIVING_STREAM_H
#define QSM_RECEIVING_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/buffer.h"
#include "core/limits.h"
#include "core/wire.h"
#include "receiving/lateness.h"
#include "recovery/asking.h"

typedef struct qsm_region qsm_region;

enum qsm_slot_state {
    QSM_SLOT_MISSING = 0,
    QSM_SLOT_WAITING = 1,  /* here, but some message in it is of a view not known yet */
    QSM_SLOT_KEPT = 2,     /* handed to delivery, kept for others */
    QSM_SLOT_RELEASED = 3, /* handed to delivery, not kept */
    QSM_SLOT_HOLE = 4      /* a dead sender's packet that nobody has */
};

/* Who has given a packet to the stream. */
enum qsm_origin {
    QSM_ORIGIN_SENDER, /* its sender */
    QSM_ORIGIN_OTHERS, /* somebody who keeps it */
    QSM_ORIGIN_HERE    /* this node made it for a dead sender: it is in memory already, and others
                          wait for it */
};

#define QSM_GIVEN_TO_ALL UINT32_MAX

typedef struct {
    qsm_slice packet;
    uint64_t asked_ns; /* when it was asked for last; while kept: when it was given to somebody */
    uint32_t given_to; /* lower half of that node's id, or QSM_GIVEN_TO_ALL: by its sender, too */
    uint8_t state;     /* enum qsm_slot_state */
    uint8_t attempts;  /* how often it was asked for */
    bool denied;       /* who was asked has said that it does not have it */
    bool wide; /* has a message for several regions: kept until it is stable in all of them */
} qsm_slot;

/* What a ring has found out about the stream, at the leader of that level. */
typedef struct {
    uint64_t low, cached;
    uint16_t lost;  /* greatest loss of a member since a token above told of it */
    uint32_t batch; /* that `low` rests on */
} qsm_stream_level;

typedef struct qsm_stream {
    qsm_region *region;
    uint64_t sender;
    bool own;        /* this node's own stream: state is in its qsm_sender */
    bool orphan;     /* the sender is dead */
    bool sealed_off; /* packets of this stream are not taken from the sender itself any more */
    bool fin_known;
    bool settled;                        /* an executor has ended it: nothing comes after fin */
    bool complete;                       /* and everybody in the region has all of it */
    uint64_t fin;                        /* last sequence of the stream, if known */
    uint64_t base;                       /* slots before it have been dropped */
    uint64_t contiguous;                 /* everything up to here is here (or a hole) */
    uint64_t high;                       /* last sequence known to exist */
    uint64_t high_received;              /* last sequence that is here */
    uint64_t received_ns;                /* when something of it came last */
    uint64_t told_ns;                    /* when somebody told of more than had come */
    uint64_t judged;                     /* what is missing up to here counts as lost */
    uint64_t stable;                     /* everybody concerned has all up to here */
    uint64_t cut;                        /* all up to here is safe in its caches */
    qsm_slot *chunks[QSM_STREAM_CHUNKS]; /* ring over sequences, in pieces made when needed */
    qsm_slot *spare;                     /* an empty chunk, for the next */
    uint32_t waiting;                    /* slots in state WAITING */
    qsm_asking asking;
    qsm_lateness lateness;
    uint16_t lost;    /* found to be lost since the last token */
    bool first_hand;  /* came from its sender, with others, since region_hearing.c looked */
    bool second_hand; /* came by a repair since then */
    uint8_t second_hand_looks; /* in a row: it came in no other way */
    uint64_t lag_mark[4];      /* `high` at the last quarters of the lag limit: see stream.c */
    uint64_t lag_marked_ns;
    /* tokens of each level that are to speak of it although nothing is open here */
    uint8_t announce[QSM_RING_LEVELS_MAX];
    qsm_stream_level levels[QSM_RING_LEVELS_MAX];
    qsm_alarm repair_alarm;
} qsm_stream;

qsm_stream *qsm_stream_find(qsm_region *region, uint64_t sender);
/* Finds or makes it; NULL when the sender is unknown here or memory is short. */
qsm_stream *qsm_stream_of(qsm_region *region, uint64_t sender);
void qsm_stream_free(qsm_stream *stream);
/* Takes a data packet that belongs to the stream at `sequence`. */
void qsm_stream_receive(qsm_stream *stream, uint64_t sequence, uint64_t stable,
                        const qsm_slice *packet, const qsm_data *data, enum qsm_origin origin);
/* An executor's packet names what nobody has, or is the end. That must be known for the stream to
 * go on, also where the packet itself cannot be kept yet. */
void qsm_stream_hear_verdict(qsm_stream *stream, uint64_t sequence, const qsm_data *data);
/* Somebody says that the stream goes at least to `high`. */
void qsm_stream_learn_high(qsm_stream *stream, uint64_t high);
void qsm_stream_learn_stable(qsm_stream *stream, uint64_t stable);
void qsm_stream_learn_cut(qsm_stream *stream, uint64_t cut);
/* The sequence behind the chunk of slots that this one is in. */
uint64_t qsm_stream_chunk_end(uint64_t sequence);
/* An estate's verdict: these will never come. */
void qsm_stream_mark_hole(qsm_stream *stream, uint64_t sequence);
/* A view has arrived: try the waiting packets again. */
void qsm_stream_retry_waiting(qsm_stream *stream);
/* The slot of a sequence between base and high, NULL outside. */
qsm_slot *qsm_stream_slot(qsm_stream *stream, uint64_t sequence);
/* The same, and makes room for it: NULL when that is too far ahead or memory is short. */
qsm_slot *qsm_stream_reach(qsm_stream *stream, uint64_t sequence);
/* The packet, if it is here to be passed on. */
const qsm_slice *qsm_stream_packet(qsm_stream *stream, uint64_t sequence);
/* Reads the packet, if it is here. */
bool qsm_stream_read(qsm_stream *stream, uint64_t sequence, qsm_data *data);
/* Least prefix complete as far as this node caches it. */
uint64_t qsm_stream_cached_low(qsm_stream *stream);
/* True while tokens must speak of it. */
bool qsm_stream_is_active(const qsm_stream *stream);
/* True when nothing of it is missing, waiting or in doubt. */
bool qsm_stream_is_finished(const qsm_stream *stream);

#endif
