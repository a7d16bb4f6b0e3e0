/*
 * open_packet.h - a packet while messages are sealed into it: those of one group that follow each
 * other as a run, with one seal (wire.h). Knows nothing of which packet a message belongs into, nor
 * of what becomes of it.
 */
#ifndef QSM_SENDING_OPEN_PACKET_H
#define QSM_SENDING_OPEN_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/limits.h"
#include "core/seal.h"
#include "core/wire.h"
#include "qsm.h"

typedef struct qsm_region qsm_region;
typedef struct qsm_outgoing qsm_outgoing;

/* A packet being filled with messages for one region (or, for a group with an address of its own,
 * for several). */
typedef struct {
    qsm_region *regions[QSM_REGION_HEADERS_MAX];
    uint32_t region_count;
    qsm_address to; /* the group's own address; family NONE: the region's */
    qsm_buffer *buffer;
    uint32_t bytes_max;     /* of the whole packet */
    uint32_t front_bytes;   /* headers and table so far */
    uint32_t sealed_offset; /* where the first sealed message begins */
    uint32_t sealed_bytes;
    uint32_t message_total; /* in runs and alone */
    bool running;           /* the last entry of the table is a run that may get more messages */
    qsm_aegis_run run;      /* its seal so far */
    bool wide;
    bool mixed;          /* has messages of several groups; else of this one: */
    uint32_t only_group; /* handle: the group itself may be left meanwhile */
    uint32_t only_serial;
    uint64_t first_stamp; /* of its first message */
    qsm_data data;
    uint8_t tags[QSM_PACKET_MESSAGES_MAX][QSM_TAG_BYTES];
} qsm_open_packet;

/* A message on its way into a packet. */
typedef struct {
    qsm_group *group;
    qsm_outgoing *own; /* the group's */
    const uint8_t *plain;
    uint32_t bytes;
    uint8_t flags; /* enum qsm_message_flag */
} qsm_departing;

/* Begins a packet without messages for its regions; its buffer is the caller's matter. */
void qsm_open_packet_begin(qsm_open_packet *open);
bool qsm_open_packet_has_room(const qsm_open_packet *open, const qsm_departing *message);
/* Seals a message into a packet that has room for it, or puts it in as it was `shared`: sealed for
 * another packet, with that tag. */
void qsm_open_packet_add(qsm_open_packet *open, const qsm_departing *message, const uint8_t *shared,
                         const uint8_t shared_tag[QSM_TAG_BYTES]);
/* Seals a message by itself. */
void qsm_departing_seal(const qsm_departing *message, uint8_t *sealed, uint8_t tag[QSM_TAG_BYTES]);
/* Writes what stands before the sealed messages, but for the packet's tag. The packet lies in the
 * buffer that is returned, which may be a smaller one; `open` holds it. */
qsm_slice qsm_open_packet_write(qsm_open_packet *open, qsm_engine *engine);

#endif
