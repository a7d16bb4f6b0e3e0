/*
 * index.h - from 32-bit keys to 32-bit numbers, as those of a slab: eight bytes a place, where a
 * table from 64-bit keys to pointers takes sixteen. A key may have several numbers, so that a key
 * can be a hash: whoever looks compares what the numbers stand for.
 */
#ifndef QSM_CORE_INDEX_H
#define QSM_CORE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t key;
    uint32_t number; /* 0: free */
} qsm_index_place;

typedef struct {
    qsm_index_place *places; /* open addressing; twice to four thirds as many as are used */
    uint32_t capacity;       /* 0 or a power of two */
    uint32_t count;
} qsm_index;

static inline uint32_t qsm_index_home(const qsm_index *index, uint32_t key) {
    /* Handles come one after the other: this spreads them evenly. */
    return (uint32_t)((uint64_t)(key * 0x9e3779b1u) * index->capacity >> 32);
}

/* The next number of the key, from `*cursor` on, which begins as UINT32_MAX; 0: no more. */
static inline uint32_t qsm_index_find(const qsm_index *index, uint32_t key, uint32_t *cursor) {
    if (index->count == 0) return 0;
    uint32_t at =
        *cursor == UINT32_MAX ? qsm_index_home(index, key) : (*cursor + 1) & (index->capacity - 1);
    while (index->places[at].number != 0 && index->places[at].key != key)
        at = (at + 1) & (index->capacity - 1);
    *cursor = at;
    return index->places[at].number;
}

/* The first number of the key; 0: none. */
static inline uint32_t qsm_index_get(const qsm_index *index, uint32_t key) {
    uint32_t cursor = UINT32_MAX;
    return qsm_index_find(index, key, &cursor);
}

/* Adds one, which the key must not have yet. False when memory is short: nothing has changed. */
bool qsm_index_add(qsm_index *index, uint32_t key, uint32_t number);
/* True when it was there. */
bool qsm_index_remove(qsm_index *index, uint32_t key, uint32_t number);
/* Removes the number under whatever key it is; looks at every place. */
void qsm_index_remove_number(qsm_index *index, uint32_t number);
void qsm_index_free(qsm_index *index);

#endif
