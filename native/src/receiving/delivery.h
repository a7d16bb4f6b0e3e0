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
#include "core/wire.h"
#include "qsm.h"
#include "receiving/order.h"

typedef struct qsm_region qsm_region;

enum qsm_delivered {
    QSM_DELIVERED,      /* all its messages have been taken care of */
    QSM_DELIVERY_WAITS, /* one is of a view not known yet, or memory is short: try again */
    QSM_DELIVERY_FORGED /* one does not open under its group's key: the packet is not genuine */
};

typedef struct {
    qsm_orders orders;
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
void qsm_delivery_free(qsm_engine *engine);
/* True while the application is so far behind that nothing more is taken. */
bool qsm_delivery_is_full(const qsm_engine *engine);
/* True when that is so, or nearly, because events are not fetched, and not because of packets kept
 * for others. */
bool qsm_delivery_waits_for_reader(const qsm_engine *engine);

#endif
