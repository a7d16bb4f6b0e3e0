/*
 * exchange.h - words between the executors of different regions, and what the files of the exchange
 * do for each other: exchange.c decides who is told and who is waited for, exchange_words.c writes
 * and reads, exchange_heard.c takes what others say.
 */
#ifndef QSM_RECOVERY_EXCHANGE_H
#define QSM_RECOVERY_EXCHANGE_H

#include <stdint.h>

#include "core/wire.h"
#include "recovery/estate.h"

typedef struct qsm_peer qsm_peer;

/* What a message between executors ends with. */
enum qsm_word_said {
    QSM_WORD_MORE_TO_TELL = 0,
    QSM_WORD_ALL_TOLD = 1,
    QSM_WORD_NOTHING_TO_TELL = 2, /* an answer that wants none */
    QSM_WORD_ALL_OVER = 3,        /* everybody in the region has everything */
    QSM_WORD_ASKS_WORD = 4, /* tell me what you have: what you told does not count (any more) */
    QSM_WORD_ASKS_END = 5   /* the same about all being over */
};

/* What an executor says, as it came. */
typedef struct {
    qsm_peer *from;
    uint32_t side, batch;
    uint64_t from_region, to_region, sender;
    uint8_t said;   /* enum qsm_word_said */
    uint32_t count; /* of messages that follow */
} qsm_word;

/* What has passed between this node and the executor of that region; NULL when there is no room. */
qsm_sister *qsm_exchange_sister(qsm_estate *estate, uint64_t region);
/* Everybody is told again when this node has gone over to another host, and when an executor has
 * died; that all is over only in the first case. */
void qsm_exchange_renew(qsm_estate *estate);
/* Tells the executor, once, that everybody in this region has everything. */
void qsm_exchange_tell_over(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor);

/* Tells another executor all that this region has of messages for several regions, and what others
 * have told this node and died: those who live tell it themselves. */
void qsm_words_tell(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor);
/* Says one thing, without messages. */
void qsm_words_say(const qsm_estate *estate, uint64_t to_region, qsm_peer *to, uint8_t said);
/* Reads what comes before the messages. */
qsm_word qsm_words_read(qsm_engine *engine, uint64_t from, qsm_reader *in);

#endif
