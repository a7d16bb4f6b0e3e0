/*
 * inbox.h - packets that have arrived: checked for their tag at once, sorted by how urgent they
 * are, and handed out one by one when the engine has its turn.
 */
#ifndef QSM_CORE_INBOX_H
#define QSM_CORE_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/outbox.h"
#include "core/wire.h"
#include "qsm.h"

/* Tokens that have arrived wait for the data that came before them, so that they tell of it. */
enum { QSM_INBOX_TOKENS = QSM_CLASS_COUNT, QSM_INBOX_COUNT };

/* A received packet that has passed the check of its tag and waits for its turn. */
typedef struct {
    qsm_slice packet;
    qsm_header header;
    qsm_address from;
} qsm_arrival;

typedef struct {
    qsm_arrival *items; /* ring, capacity a power of two */
    uint32_t capacity, first, count;
} qsm_inbox;

/* Has the next packet of a class, or the next token, dealt with; false when there is none. */
bool qsm_inbox_handle_next(qsm_engine *engine, uint32_t which);
/* Takes in a data packet that has been joined from its parts. */
void qsm_inbox_take_joined(qsm_engine *engine, const qsm_address *from, const qsm_slice *packet);
void qsm_inbox_free(qsm_inbox *inbox);

#endif
