/*
 * loss.h - which packets of a stream count as lost, so that they are asked for and their sender
 * hears of them: those that are later than packets of the stream overtake each other, and what is
 * behind all that came when nothing has come for a while.
 */
#ifndef QSM_RECOVERY_LOSS_H
#define QSM_RECOVERY_LOSS_H

#include <stdint.h>

typedef struct qsm_stream qsm_stream;

/* Moves the stream's `judged` on and counts what is missing before it. */
void qsm_loss_judge(qsm_stream *stream, uint64_t now_ns);
/* When more will count as lost if nothing comes; UINT64_MAX: nothing is missing. */
uint64_t qsm_loss_next_ns(const qsm_stream *stream, uint64_t now_ns);

#endif
