/*
 * asking.h - how much one stream asks for at a time, which follows what came of earlier requests as
 * a sender's rate follows what is acknowledged; and how long it waits for an answer.
 */
#ifndef QSM_RECOVERY_ASKING_H
#define QSM_RECOVERY_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "recovery/roundtrip.h"

typedef struct {
    uint32_t window;            /* packets that may be asked for at a time */
    uint32_t answered, overdue; /* since the window was looked at last */
    bool careful;               /* it was too wide once */
} qsm_asking;

void qsm_asking_init(qsm_asking *asking);
/* A packet that was asked for has come, or the word that it is not there. */
void qsm_asking_answered(qsm_asking *asking);
/* So many of those asked for are overdue: fewer are asked for when that is a good part of them. */
void qsm_asking_overdue(qsm_asking *asking, uint32_t count);
/* How long to wait for the answer to the request of that number, counted from 1; on lines where
 * answers take as long as `lines` says. */
uint64_t qsm_asking_pause_ns(const qsm_roundtrip *lines, uint32_t attempts);
/* How long nobody asks a second time on such lines, but for requests that were on their way. */
uint64_t qsm_asking_quiet_ns(const qsm_roundtrip *lines);

#endif
