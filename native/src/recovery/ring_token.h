/*
 * ring_token.h - what a token says: for each active sender, what everybody whom it has visited has.
 */
#ifndef QSM_RECOVERY_RING_TOKEN_H
#define QSM_RECOVERY_RING_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire.h"
#include "recovery/ring.h"

/* True when there is something that tokens must tell of the stream. */
bool qsm_ring_speaks_of(const qsm_stream *stream, uint32_t level);
/* The next tokens of all levels speak of it in any case: not everybody may have heard the last. */
void qsm_ring_announce(qsm_stream *stream);
/* Adds this node's part to all records, and records for streams that the token does not speak of
 * yet. */
void qsm_ring_fill_token(qsm_ring_part *part, qsm_token *token);
void qsm_ring_send_token(qsm_engine *engine, const qsm_token *token, uint64_t to);

#endif
