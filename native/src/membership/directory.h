/*
 * directory.h - what one host (in one term) has told: its numbering of groups and how far its
 * batches have been applied. Those of earlier hosts stay while regions of theirs are being drained.
 */
#ifndef QSM_MEMBERSHIP_DIRECTORY_H
#define QSM_MEMBERSHIP_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/index.h"
#include "core/table.h"
#include "qsm.h"

typedef struct qsm_client qsm_client;

typedef struct qsm_directory {
    bool used;
    uint32_t tag; /* upper half of the ids of its regions */
    uint64_t applied;
    uint32_t region_count;
    qsm_index groups;   /* handle -> number of the group */
    bool judged;        /* the host is gone, and it has been decided who is left */
    uint64_t judged_in; /* batch that told so first */
    /* Then: the last batch of the host that is gone. It may be found again and tell of more. */
    uint64_t judged_upto;
    uint64_t followed; /* then: the last batch of that host that anybody of those has applied. Whom
                          it counted out by then is not one of them */
    qsm_table alive;   /* then: ids of those who are */
} qsm_directory;

/* Batch numbers of one host differ in this part only. */
static inline uint32_t qsm_batch_count(uint64_t batch) {
    return (uint32_t)(batch >> 16);
}

/* And are the same in this one, which differs from host to host. */
static inline uint16_t qsm_batch_tag(uint64_t batch) {
    return (uint16_t)batch;
}

/* The directory of that host; NULL: neither followed now nor are regions of it here. */
qsm_directory *qsm_directory_find(qsm_client *client, uint32_t tag);
/* The directory of the host that is followed from now on, a new one when the host is new. NULL:
 * there are too many. */
qsm_directory *qsm_directory_enter(qsm_engine *engine, uint32_t tag);
/* Frees those of earlier hosts when the last of all their regions is gone: what a dead sender left
 * in one may have been settled under any host since, also one that has no regions here any more. */
void qsm_directories_forget_unused(qsm_engine *engine);
/* True when a new host is to hear how far it was followed. */
bool qsm_directory_tells_of_past(const qsm_client *client, const qsm_directory *directory);
void qsm_directory_free(qsm_directory *directory);
/* The host calls the group so from now on. False when memory is short. */
bool qsm_directory_name(qsm_directory *directory, uint32_t handle, const qsm_group *group);
/* True for the host that is followed and for earlier ones whose regions are still here. */
bool qsm_client_has_followed(qsm_engine *engine, uint32_t tag);

#endif
