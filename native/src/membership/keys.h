/*
 * keys.h - the keys of one group: the one that messages are sealed under now, and others that are
 * still (or already) opened. A key is named by its epoch, of which each message carries the last
 * eight bits, so that keys can change while messages flow.
 */
#ifndef QSM_MEMBERSHIP_KEYS_H
#define QSM_MEMBERSHIP_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "qsm.h"

typedef struct {
    uint32_t epoch;
    uint8_t key[QSM_KEY_BYTES];
} qsm_group_key;

typedef struct {
    qsm_group_key used;    /* for what is sent */
    qsm_group_key *others; /* NULL while there is one key only */
    uint32_t other_count;
    uint64_t lacking_since_ns; /* when the first message came whose key is not here; 0: none has */
    uint8_t lacking_epoch;     /* the epoch of that key */
} qsm_group_keys;

void qsm_keys_init(qsm_group_keys *keys, const uint8_t key[QSM_KEY_BYTES]);
/* Forgets all keys, also in memory. */
void qsm_keys_free(qsm_group_keys *keys);
/* The key of a message's epoch; NULL when it is not here. */
const uint8_t *qsm_keys_find(const qsm_group_keys *keys, uint8_t epoch);
/* A message has come whose key is not here. True: it may wait for the key; false: the time for that
 * has passed, it is not for this node. */
bool qsm_keys_may_come(qsm_group *group, uint8_t epoch);

#endif
