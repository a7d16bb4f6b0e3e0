/*
 * packing.h - packets while they are being filled: messages are sealed into the packet of their
 * region, beside those of other groups bound there; full packets get their tags, several at once,
 * and go to their streams and to the outbox. Lives within one call of the scheduler, which says
 * whose message is next.
 */
#ifndef QSM_SENDING_PACKING_H
#define QSM_SENDING_PACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/limits.h"
#include "core/seal.h"
#include "core/wire.h"
#include "qsm.h"

typedef struct qsm_region qsm_region;

enum { QSM_OPEN_PACKETS = 4 }; /* regions whose packets are filled side by side */

/* A packet being filled with messages for one region (or, for a group with an address of its own,
 * for several). */
typedef struct {
    qsm_region *regions[QSM_REGION_HEADERS_MAX];
    uint32_t region_count;
    qsm_address to; /* the group's own address; family NONE: the region's */
    qsm_buffer *buffer;
    uint32_t front_bytes;   /* headers and table so far */
    uint32_t sealed_offset; /* where the first sealed message begins */
    uint32_t sealed_bytes;
    bool wide;
    bool mixed;          /* has messages of several groups; else of this one: */
    uint32_t only_group; /* handle: the group itself may be left meanwhile */
    uint32_t only_serial;
    uint64_t first_stamp; /* of its first message */
    qsm_data data;
    uint8_t tags[QSM_PACKET_MESSAGES_MAX][QSM_TAG_BYTES];
} qsm_open_packet;

/* Large: qsm_packing_begin sets only what is used. */
typedef struct {
    qsm_engine *engine;
    qsm_open_packet packets[QSM_OPEN_PACKETS];
    uint32_t count;
    uint32_t made;
    /* Packets of equal front length whose tags are made together. */
    qsm_buffer *untagged[QSM_TAGS_AT_ONCE];
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
