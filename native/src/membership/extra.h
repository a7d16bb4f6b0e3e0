/*
 * extra.h - what only some groups have: more than two views behind them, more keys than one, a
 * multicast address of their own. Made when the first of it is needed.
 */
#ifndef QSM_MEMBERSHIP_EXTRA_H
#define QSM_MEMBERSHIP_EXTRA_H

#include <stdbool.h>
#include <stdint.h>

#include "membership/keys.h"
#include "qsm.h"

typedef struct qsm_extra {
    qsm_other_keys *keys; /* NULL while there is one key only */
    qsm_address *hybrid;  /* own multicast address; NULL: none */
    uint32_t between;     /* views after the first and before the one in force, so far */
    uint32_t capacity;
    uint64_t views[]; /* the last of those; from QSM_PAST_VIEWS - 1 on a ring */
} qsm_extra;

/* The group's; made when needed, NULL when memory is short. */
qsm_extra *qsm_extra_of(qsm_group *group);
void qsm_extra_free(qsm_group *group);
/* The view in force, which is not the group's first, is about to give way. */
void qsm_extra_remember(qsm_group *group);
/* Forgets the views. */
void qsm_extra_forget(qsm_group *group);
/* The group's own address, of family NONE when there is none. */
const qsm_address *qsm_extra_hybrid(const qsm_group *group);
/* False when memory is short. */
bool qsm_extra_set_hybrid(qsm_group *group, const qsm_address *address);

#endif
