/*
 * lag.h - a member that stays behind the stream of a sender, or whose application does not read,
 * for longer than the limit must not hold back the others: it says so itself.
 */
#ifndef QSM_RECOVERY_LAG_H
#define QSM_RECOVERY_LAG_H

#include <stdint.h>

typedef struct qsm_stream qsm_stream;

/* Marks how far the stream is now and then, and reports this node as slow when it has not got to
 * where it was a while ago. */
void qsm_lag_check(qsm_stream *stream, uint64_t now_ns);

#endif
