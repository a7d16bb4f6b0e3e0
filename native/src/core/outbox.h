/*
 * outbox.h - packets that wait for the system to take them, by how urgent they are.
 */
#ifndef QSM_CORE_OUTBOX_H
#define QSM_CORE_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/wire.h"
#include "qsm.h"

/* Classes of packets, most urgent first; also the `priority` of qsm_datagram. */
enum { QSM_CLASS_CONTROL = 0, QSM_CLASS_REPAIR = 1, QSM_CLASS_DATA = 2, QSM_CLASS_COUNT = 3 };

typedef struct {
    qsm_address to;
    qsm_slice packet;
} qsm_departure;

typedef struct {
    qsm_departure *items; /* ring, capacity a power of two */
    uint32_t capacity, first, count;
} qsm_outbox;

/* Sends a control packet; a full pool loses it as a network would. */
void qsm_post_control(qsm_engine *engine, uint8_t kind, qsm_control *control,
                      const qsm_address *to);
/* Queues a packet; takes a reference of its own. False when the queue cannot grow. */
bool qsm_post_packet(qsm_engine *engine, uint32_t class, const qsm_address *to,
                     const qsm_slice *packet);
void qsm_outbox_free(qsm_outbox *outbox);

#endif
