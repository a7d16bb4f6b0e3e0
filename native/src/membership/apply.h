/*
 * apply.h - puts in force what the host tells: batches of regions, views and deaths, the way to
 * another host, leave to go. What this node tells the host is in request.h.
 */
#ifndef QSM_MEMBERSHIP_APPLY_H
#define QSM_MEMBERSHIP_APPLY_H

#include <stdint.h>

#include "qsm.h"

/* A message of the host; `from` is this engine's own id when it hosts. */
void qsm_apply_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes);

#endif
