/*
 * dead.h - ids of nodes that were put out, so that whoever hosts next does not take them back. Who
 * comes back draws a new id. Only after a partition can the dead of one side be alive on the other:
 * whose members the host there lists.
 */
#ifndef QSM_MEMBERSHIP_DEAD_H
#define QSM_MEMBERSHIP_DEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/table.h"

typedef struct {
    qsm_table now;  /* id -> anything: dead */
    qsm_table when; /* id -> batches that told of its deaths; stays when it turns out to be alive */
    uint64_t order[QSM_EVICTED_MAX];
    uint32_t next;
} qsm_dead;

/* `batch` is the number of the batch that tells of it: no view up to then counts any more with the
 * node. Not everywhere: it is alive elsewhere, and only what was before is over. */
void qsm_dead_add(qsm_dead *dead, uint64_t id, uint64_t batch, bool everywhere);
/* The batch that last told of the node's death; 0: it never died here. */
uint64_t qsm_dead_since(const qsm_dead *dead, uint64_t id);
/* The last batch before that one that told of the node's death, whatever has become of it since; 0:
 * none did. */
uint64_t qsm_dead_before(const qsm_dead *dead, uint64_t id, uint64_t batch);
bool qsm_dead_has(const qsm_dead *dead, uint64_t id);
/* The host says that it is alive: it was on the other side of a partition. */
void qsm_dead_remove(qsm_dead *dead, uint64_t id);
void qsm_dead_free(qsm_dead *dead);

#endif
