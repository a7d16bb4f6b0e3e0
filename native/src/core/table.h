/*
 * table.h - a hash table from 64-bit keys to pointers. Open addressing, no tombstones, grows by
 * doubling. Iteration order depends only on the keys and the order of calls, so runs repeat.
 */
#ifndef QSM_CORE_TABLE_H
#define QSM_CORE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    void *value; /* NULL: free */
} qsm_table_slot;

typedef struct {
    qsm_table_slot *slots;
    uint32_t capacity; /* 0 or a power of two */
    uint32_t count;
} qsm_table;

void qsm_table_free(qsm_table *table);
void *qsm_table_get(const qsm_table *table, uint64_t key);
/* Enters or replaces; `value` must not be NULL. False when memory is short: the table is unchanged.
 */
bool qsm_table_put(qsm_table *table, uint64_t key, void *value);
/* Returns what was there, or NULL. */
void *qsm_table_remove(qsm_table *table, uint64_t key);
/* Walks the values: start with *cursor = 0; NULL at the end. Removing while walking is not allowed.
 */
void *qsm_table_next(const qsm_table *table, uint32_t *cursor);

#endif
