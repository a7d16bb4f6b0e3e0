/*
 * delivery.h - from packets to the application: opens sealed messages, puts each sender's messages
 * of a group in order by their numbers, joins fragments, and makes events. A packet that is missing
 * delays only the groups whose messages it holds.
 */
#ifndef QSM_RECEIVING_DELIVERY_H
#define QSM_RECEIVING_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/table.h"
#include "core/wire.h"
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

enum qsm_delivered {
    QSM_DELIVERED,      /* all its messages have been taken care of */
    QSM_DELIVERY_WAITS, /* one is of a view not known yet, or memory is short: try again */
    QSM_DELIVERY_FORGED /* one does not open under its group's key: the packet is not genuine */
};

/* How far one sender's messages of one group have been delivered. */
typedef struct qsm_order {
    struct qsm_order *next; /* of the same group */
    struct qsm_order *next_same_hash;
    qsm_group *group;
    uint64_t sender;
    uint64_t life;      /* of the sender in the group: it may leave and join anew */
    uint64_t expected;  /* number of the next message; 0: waits for the first of a view */
    qsm_parked *parked; /* ascending */
    qsm_parked *parked_last;
    qsm_sender_key key;  /* for messages sealed with AES */
    qsm_buffer *partial; /* message being joined from fragments */
    uint32_t partial_bytes;
    uint64_t partial_view; /* in which its first part was sent: the message belongs to it */
} qsm_order;

typedef struct {
    qsm_table orders; /* hash of group and sender -> qsm_order */
    qsm_parked *free_parked;
    qsm_parked *parked_near; /* the one parked last, in `near_order`; NULL: it is gone */
    const qsm_order *near_order;
    qsm_buffer *arena; /* plaintexts are opened into it, one after the other */
    uint32_t arena_used;
    uint64_t unread_since_ns; /* the application does not read and nothing more is taken; 0: it does
                               */
} qsm_delivery;

/* Handles all messages of a packet. Seals are looked at before anything is kept: the packet's own
 * tag does not cover what they cover. Safe to repeat. */
enum qsm_delivered qsm_delivery_packet(qsm_engine *engine, qsm_region *region,
                                       const qsm_data *data);
/* Delivers a message of this node to itself. */
void qsm_delivery_own(qsm_group *group, uint64_t view, const uint8_t *plain, uint32_t bytes);
/* Forgets what is known of a group's senders, or of one sender in all groups. */
void qsm_delivery_forget_group(qsm_group *group);
void qsm_delivery_forget_sender(qsm_engine *engine, qsm_group *group, uint64_t sender);
/* Gives up what waits for messages that will never come, of views up to that one. */
void qsm_delivery_drop_waiting(qsm_order *order, uint64_t view_max);
void qsm_delivery_free(qsm_engine *engine);
/* True while the application is so far behind that nothing more is taken. */
bool qsm_delivery_is_full(const qsm_engine *engine);
/* True when that is so, or nearly, because events are not fetched, and not because of packets kept
 * for others. */
bool qsm_delivery_waits_for_reader(const qsm_engine *engine);

#endif
