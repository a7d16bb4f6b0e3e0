/*
 * request.h - what this node tells its host: that it wants to be admitted and what it knows of
 * earlier hosts, which groups it joins and leaves, whose multicast it does not hear, which regions
 * it has finished, that it goes. What comes back is in apply.h.
 */
#ifndef QSM_MEMBERSHIP_REQUEST_H
#define QSM_MEMBERSHIP_REQUEST_H

#include "qsm.h"

typedef struct qsm_region qsm_region;

enum { QSM_REQUEST_DELAY_NS = 1000000 }; /* joins and leaves are collected that long */

void qsm_request_join(qsm_group *group);
void qsm_request_leave(qsm_group *group);
/* The group is freed: no directory may name it any more. */
void qsm_request_forget_group(qsm_group *group);
/* The host is told of changes a little later, of many at once. */
void qsm_request_soon(qsm_engine *engine);
/* Groups that were left and joined again may send once their earlier messages have arrived
 * everywhere. */
void qsm_request_release_held(qsm_engine *engine);

/* Asks the host that is followed for admission, with all groups and all regions still being
 * drained. */
void qsm_request_admission(qsm_engine *engine);
/* Tells the host of groups joined and left since the last time. */
void qsm_request_changes(qsm_engine *engine);
void qsm_request_departure(qsm_engine *engine);
/* A host that wants to go passes its role on as soon as nothing is left to drain. */
void qsm_request_hand_over(qsm_engine *engine);
/* Tells the host whose multicast does not reach this node. */
void qsm_request_report_hearing(qsm_engine *engine);
void qsm_request_report_drained(qsm_engine *engine, qsm_region *region);
void qsm_request_report_slow(qsm_engine *engine, qsm_region *region);

#endif
