/*
 * packing.h - packets while they are being filled: messages go into the packet of their region
 * (open_packet.h), beside those of other groups bound there; full packets get their tags, several
 * at once, and go to their streams and to the outbox. Lives within one call of the scheduler, which
 * says whose message is next.
 */
#ifndef QSM_SENDING_PACKING_H
#define QSM_SENDING_PACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/seal.h"
#include "qsm.h"
#include "sending/open_packet.h"

enum { QSM_OPEN_PACKETS = 4 }; /* regions whose packets are filled side by side */

/* Large: qsm_packing_begin sets only what is used. */
typedef struct {
    qsm_engine *engine;
    qsm_open_packet packets[QSM_OPEN_PACKETS];
    uint32_t count;
    uint32_t made;
    /* Packets of equal front length whose tags are made together. */
    qsm_slice untagged[QSM_TAGS_AT_ONCE];
    uint32_t untagged_count, untagged_front;
} qsm_packing;

void qsm_packing_begin(qsm_packing *packing, qsm_engine *engine);
/* Seals one message (or fragment) once and puts it into the packets of all regions of the group.
 * False when memory is short. */
bool qsm_packing_put(qsm_packing *packing, qsm_group *group, const uint8_t *plain, uint32_t bytes,
                     uint8_t flags);
/* The longest message that a packet of the group has room for. */
uint32_t qsm_packing_bytes_max(const qsm_engine *engine, const qsm_group *group);
/* Sends all packets off, full or not. */
void qsm_packing_end(qsm_packing *packing);

#endif
