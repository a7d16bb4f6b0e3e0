/*
 * ring_part.h - what the files of the rings do for each other with this node's part in one level.
 */
#ifndef QSM_RECOVERY_RING_PART_H
#define QSM_RECOVERY_RING_PART_H

#include <stdint.h>

#include "recovery/ring.h"

enum { QSM_RING_HURRY_BYTES = 32 << 10 /* much: less than a sender's least window */ };

/* Passes the token, of which a copy is held, on to the next member that takes it; when it has been
 * everywhere, back to its leader. */
void qsm_ring_pass(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns);
void qsm_ring_on_pass_alarm(void *part, uint64_t now_ns);

/* This leader's next token begins its round. */
void qsm_ring_launch_now(qsm_ring_part *part, uint64_t now_ns);
/* Coupled mode: the level above waits for a round of this one; one under way counts. */
void qsm_ring_want_round(qsm_ring_part *part, uint64_t now_ns);
/* A round is over that took so long: the next one is launched when it is due. */
void qsm_ring_launch_again(qsm_ring_part *part, uint64_t took_ns, uint64_t now_ns);
void qsm_ring_on_launch_alarm(void *part, uint64_t now_ns);

/* The token is back at this node, its leader. */
void qsm_ring_round_ended(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns);

#endif
