/*
 * watch.h - telling an application that all it has sent in a group so far was received by every
 * other member of its view who is still there. One question at a time for each group; nothing is
 * done for groups that have not asked.
 */
#ifndef QSM_SENDING_WATCH_H
#define QSM_SENDING_WATCH_H

#include <stdint.h>

#include "qsm.h"

enum qsm_watch_state {
    QSM_WATCH_NONE = 0,
    QSM_WATCH_QUEUED = 1, /* some of it waits in the group's queue: its end is not known yet */
    QSM_WATCH_SENT = 2    /* all of it is in packets, up to a stamp */
};

/* Of a group that sends. */
typedef struct {
    uint8_t state;   /* enum qsm_watch_state */
    uint64_t stamp;  /* SENT: of the last message, among all of this node */
    qsm_group *next; /* that has asked */
} qsm_watch;

/* Something has been acknowledged, or nobody is left to wait for: tells those who have asked. */
void qsm_watches_look(qsm_engine *engine);
/* The group asks nothing any more. */
void qsm_watch_forget(qsm_group *group);

#endif
