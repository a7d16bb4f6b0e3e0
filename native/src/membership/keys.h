/*
 * keys.h - the keys of one group: the one that messages are sealed under now is in the group, here
 * are others that are still (or already) opened. A key is named by its epoch, of which each message
 * carries the last eight bits, so that keys can change while messages flow.
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
    qsm_group_key keys[QSM_GROUP_KEYS_MAX - 1];
    uint32_t count;
    uint8_t lacking_epoch;     /* the epoch of that key */
    uint64_t lacking_since_ns; /* when the first message came whose key is not here; 0: none has */
} qsm_other_keys;

/* Forgets them, also in memory; NULL is fine. */
void qsm_other_keys_free(qsm_other_keys *others);
/* The key of a message's epoch; NULL when it is not here. */
const uint8_t *qsm_keys_find(const qsm_group *group, uint8_t epoch);
/* A message has come whose key is not here. True: it may wait for the key; false: the time for that
 * has passed, it is not for this node. */
bool qsm_keys_may_come(qsm_group *group, uint8_t epoch);

#endif
