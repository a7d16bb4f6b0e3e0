/*
 * apply.h - the conversation of a node with its host: the messages that ask for membership, and the
 * batches of regions and views that come back and are put in force.
 */
#ifndef QSM_MEMBERSHIP_APPLY_H
#define QSM_MEMBERSHIP_APPLY_H

#include "qsm.h"

/* Asks the host that is followed for admission, with all groups and all regions still being
 * drained. */
void qsm_apply_join(qsm_engine *engine);
/* Tells the host of groups joined and left since the last time. */
void qsm_apply_changes(qsm_engine *engine);
void qsm_apply_leave(qsm_engine *engine);
/* A host that wants to go passes its role on as soon as nothing is left to drain. */
void qsm_apply_hand_over(qsm_engine *engine);

#endif
