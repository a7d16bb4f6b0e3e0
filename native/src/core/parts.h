/*
 * parts.h - data packets that are longer than their path carries go in parts, each a packet of its
 * own under the scope's key, and are joined before anybody reads them. Packets that have been
 * sealed and numbered cannot be made shorter any more; new ones are (path.h).
 *
 * What is not whole after a while, or must make room, is dropped: it is asked for again.
 */
#ifndef QSM_CORE_PARTS_H
#define QSM_CORE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/buffer.h"
#include "core/inbox.h"
#include "core/limits.h"

/* A packet of which some parts have come. */
typedef struct {
    qsm_buffer *buffer; /* NULL: the place is free */
    qsm_address from;
    uint64_t sender; /* who cut it */
    uint32_t serial; /* of the packet, among those that it has cut */
    uint32_t bytes;
    uint32_t here; /* bit i: the i-th part */
    uint64_t began_ns;
} qsm_torn;

typedef struct {
    qsm_torn torn[QSM_TORN_MAX];
    uint32_t torn_count;
    uint32_t serial; /* of the last packet that was cut here */
    qsm_alarm alarm; /* drops what is too old */
} qsm_parts;

void qsm_parts_start(qsm_engine *engine);
/* True when a packet of that length can go in parts. */
static inline bool qsm_parts_fit(uint32_t bytes) {
    return bytes > QSM_SAFE_BYTES && bytes <= QSM_TORN_BYTES_MAX;
}
/* Queues a packet in parts of at most QSM_SAFE_BYTES; a full pool loses some as a network would. */
void qsm_parts_post(qsm_engine *engine, uint32_t class, const qsm_address *to,
                    const qsm_slice *packet);
/* A part has arrived; the last one of a packet puts it into the inbox, as if it had come whole. */
void qsm_parts_arrived(qsm_engine *engine, const qsm_arrival *arrival);
void qsm_parts_free(qsm_engine *engine);

#endif
