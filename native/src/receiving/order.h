/*
 * order.h - how far one sender's messages of one group have been delivered here, and those that
 * wait for earlier ones. Knows nothing of packets, seals or events.
 */
#ifndef QSM_RECEIVING_ORDER_H
#define QSM_RECEIVING_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/aegis.h"
#include "core/buffer.h"
#include "core/index.h"
#include "core/slab.h"
#include "qsm.h"

typedef struct qsm_region qsm_region;

/* A message that came before an earlier one of its sender and group; opened already. */
typedef struct qsm_parked {
    struct qsm_parked *next, *previous;
    qsm_buffer *buffer; /* holds plain */
    const uint8_t *plain;
    uint64_t number, view;
    uint32_t bytes;
    uint8_t flags;
    bool locked; /* under a key that was not given to this node: passed over at its turn */
} qsm_parked;

/* What is here of a sender and cannot be delivered yet. */
typedef struct {
    qsm_parked *parked; /* ascending */
    qsm_parked *parked_last;
    qsm_buffer *partial;   /* message being joined from fragments */
    uint64_t partial_view; /* in which its first part was sent: the message belongs to it */
    uint32_t partial_bytes;
} qsm_waiting;

typedef struct qsm_order {
    uint64_t sender;
    uint64_t expected;    /* number of the next message; 0: waits for the first of a view */
    uint64_t left_ns;     /* since when the sender is known to have left the group: of its messages
                             up to `left_view` only what is under way still comes; 0: it has not */
    uint64_t left_view;   /* the last view that it was in then; it may come back */
    qsm_waiting *waiting; /* NULL: nothing waits */
    uint32_t next;        /* of the same group; 0: the last */
    uint32_t group;       /* its number */
    uint32_t life;        /* of the sender in the group: it may leave and join anew */
    bool key_made;
    uint8_t key_epoch;                   /* of the group's key of which it was made */
    uint8_t secret[QSM_AEGIS_KEY_BYTES]; /* the sender's key in the group, for messages sealed with
                                            AES */
} qsm_order;

typedef struct {
    qsm_slab slab;    /* of qsm_order */
    qsm_index places; /* hash of group, sender and life -> number of the order */
    qsm_parked *free_parked;
    qsm_parked *parked_near; /* the one parked last, in `near_order`; NULL: it is gone */
    const qsm_order *near_order;
} qsm_orders;

void qsm_orders_init(qsm_orders *orders);
void qsm_orders_free(qsm_orders *orders);
/* True when a message of that sender, group and number belongs to it. */
bool qsm_order_has(const qsm_order *order, uint64_t number);
/* The order that a message of that number belongs to; NULL: none was made yet. */
qsm_order *qsm_order_find(const qsm_group *group, uint64_t sender, uint64_t number);
/* NULL when memory is short. */
qsm_order *qsm_order_make(qsm_group *group, uint64_t sender, uint64_t number);
/* Forgets what is known of all senders in the group, or of one. */
void qsm_orders_forget_group(qsm_group *group);
void qsm_orders_forget_sender(qsm_group *group, uint64_t sender);
/* Notes who is in the group's view in force and not in the next one of the same host. True when
 * something of theirs waits. */
bool qsm_orders_note_left(qsm_group *group, const uint64_t *members, uint32_t member_count);
/* Forgets what is known of senders that are dead and in no region any more, and drops what waits
 * for messages of theirs that do not come, and of those who left; in one group or in all. True when
 * something of theirs waits, for more may come. */
bool qsm_orders_forget_gone(qsm_group *group);
bool qsm_orders_forget_all_gone(qsm_engine *engine);
/* True when the sender died here before that view, is back in `region` under another host, and some
 * region of before has not heard it out yet: what it had sent then comes first. */
bool qsm_orders_owe_earlier(const qsm_region *region, uint64_t sender, uint64_t view);
/* The group's keys have changed: what was derived of them counts no more. */
void qsm_orders_forget_keys(qsm_group *group);

/* What waits, made when needed; NULL when memory is short. */
qsm_waiting *qsm_order_waiting(qsm_engine *engine, qsm_order *order);
/* Gives the record of what waits back if nothing does. */
void qsm_order_tidy(qsm_engine *engine, qsm_order *order);
/* Keeps a message until those before it have come; takes a reference of its own. A number that is
 * there already is fine. False when memory is short. */
bool qsm_order_park(qsm_engine *engine, qsm_order *order, const qsm_parked *opened);
/* The first that is parked has had its turn. */
void qsm_order_unpark_first(qsm_engine *engine, qsm_order *order);
/* Gives up the message that is being joined. */
void qsm_order_drop_partial(qsm_order *order);

#endif
