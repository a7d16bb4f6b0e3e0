/*
 * group.h - one group that this node has joined: its key, the view in force, what it wants to send
 * and how far each sender's messages have been delivered. This struct is the per-group cost of the
 * engine.
 */
#ifndef QSM_MEMBERSHIP_GROUP_H
#define QSM_MEMBERSHIP_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/seal.h"
#include "membership/keys.h"
#include "qsm.h"

typedef struct qsm_region qsm_region;
typedef struct qsm_order qsm_order;

/* A message given to qsm_group_send, waiting. */
typedef struct qsm_queued {
    struct qsm_queued *next;
    uint32_t bytes;
    uint8_t data[];
} qsm_queued;

struct qsm_group {
    qsm_engine *engine;
    void *user;
    qsm_group *next_same_hash;
    qsm_group *ready_next; /* in the scheduler's circle of groups that want to send */
    qsm_order *orders;     /* one for each sender heard of */
    qsm_feed feed;         /* at most one of the two is set */
    qsm_feed_many feed_many;
    void *feed_context;
    qsm_queued *queue_first, *queue_last;
    uint8_t *fragments;   /* rest of a message too long for one packet */
    qsm_region **regions; /* or, of one, only_region: most groups have one */
    qsm_region *only_region;
    uint64_t *past_views; /* numbers of the last views, this one included: ring of QSM_PAST_VIEWS;
                             NULL while there is but one */
    uint32_t past_view_count;
    uint64_t view;           /* number of the view in force, 0 before the first */
    uint64_t joined_view;    /* first view since joining */
    uint64_t next_number;    /* of the next message; never used twice under one key */
    uint64_t last_sent_view; /* view of this node's last message, 0: none yet */
    uint64_t serial;         /* tells memberships of one group apart */
    uint32_t handle;         /* in the current directory */
    uint32_t member_count;   /* of the view in force */
    uint32_t join_request;   /* number of the request that asked for membership */
    uint32_t queue_count;
    uint32_t fragments_bytes, fragments_at;
    uint32_t unacknowledged;
    uint16_t region_count;
    uint8_t priority;
    bool ready;         /* is in the scheduler's circle */
    bool first_in_view; /* the next message is this node's first in the view */
    bool wants_room;    /* qsm_group_send was refused */
    bool held;          /* waits until messages of an earlier membership have arrived everywhere */
    bool flushing; /* has new members: sends on when all has arrived that was sent before them */
    bool broken;   /* lost a region before it got a new view: sends nothing until then */
    bool bereaved; /* and somebody in that region had been counted out */
    qsm_address hybrid; /* own multicast address, if the group has one */
    uint8_t id[QSM_GROUP_ID_BYTES];
    qsm_group_keys keys;
    qsm_sender_key own_key; /* for this node's messages with AES */
};

qsm_group *qsm_group_find(qsm_engine *engine, const uint8_t id[QSM_GROUP_ID_BYTES]);
/* The group after `last` (NULL: the first); `cursor` begins at 0. NULL: there is none. */
qsm_group *qsm_group_next(qsm_engine *engine, uint32_t *cursor, const qsm_group *last);
/* Puts a view in force; takes over `members` and `regions` (which the caller has counted as used).
 */
void qsm_group_install_view(qsm_group *group, uint64_t view, uint64_t *members,
                            uint32_t member_count, qsm_region **regions, uint16_t region_count);
/* Forgets the view when this node has been put out; the group is joined anew later. */
void qsm_group_reset(qsm_group *group);
void qsm_group_free(qsm_group *group);
/* Forgets, in all groups, what is known of senders that are dead and in no region any more, and
 * drops what waits for messages of theirs that do not come. */
void qsm_groups_forget_gone(qsm_engine *engine);
/* Forgets the rest of a long message that is being sent in parts. */
void qsm_group_drop_fragments(qsm_group *group);
/* True when this node was in that view of the group, one of the last. */
bool qsm_group_was_in(const qsm_group *group, uint64_t view);
/* True when a message sent in that view is for this node. */
bool qsm_group_is_for(const qsm_group *group, uint64_t view);

#endif
