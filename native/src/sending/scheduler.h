/*
 * scheduler.h - the pull side of the engine: groups that want to send stand in circles by priority;
 * when packets can go, messages are pulled from them in turn, sealed, and packed together with
 * messages of other groups bound for the same region.
 */
#ifndef QSM_SENDING_SCHEDULER_H
#define QSM_SENDING_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/slab.h"
#include "qsm.h"

enum { QSM_PRIORITIES = 3 };

typedef struct {
    qsm_group *last[QSM_PRIORITIES]; /* of each circle; last->ready_next is the first */
    uint32_t count[QSM_PRIORITIES];  /* groups in it */
    qsm_slab outgoing;               /* of qsm_outgoing: what groups that send have besides */
    qsm_group *watched;              /* first of those that have asked, see watch.h */
    qsm_group *pulled;               /* whose feed is being asked; NULL when it left meanwhile */
    uint64_t stamp;                  /* messages sent so far, by all groups */
    uint64_t blocked_until_ns;       /* when a rate allows more; 0: nothing waits for a rate */
    uint32_t table_bytes[2];         /* of the last packets made: the next has one like them */
} qsm_scheduler;

/* The group wants to send. */
void qsm_scheduler_add(qsm_group *group);
void qsm_scheduler_remove(qsm_group *group);
/* Makes packets while fewer than `packets_max` wait for the system and anything can be sent. */
void qsm_scheduler_fill(qsm_engine *engine, uint32_t packets_max);
/* When it is worth calling qsm_scheduler_fill again by the clock alone; UINT64_MAX: not. */
uint64_t qsm_scheduler_deadline_ns(const qsm_engine *engine);
/* A window has opened or a view has come: what was blocked may go. */
void qsm_scheduler_unblock(qsm_engine *engine);

#endif
