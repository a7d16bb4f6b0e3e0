#include "core/table.h"

#include <assert.h>
#include <stdlib.h>

#include "core/prng.h"

void qsm_table_free(qsm_table *table) {
    free(table->slots);
    *table = (qsm_table){0};
}

static uint32_t home(const qsm_table *table, uint64_t key) {
    return (uint32_t)qsm_mix64(key) & (table->capacity - 1);
}

static uint32_t find(const qsm_table *table, uint64_t key) {
    uint32_t i = home(table, key);
    while (table->slots[i].value != NULL && table->slots[i].key != key)
        i = (i + 1) & (table->capacity - 1);
    return i;
}

void *qsm_table_get(const qsm_table *table, uint64_t key) {
    return table->count ? table->slots[find(table, key)].value : NULL;
}

static bool grow(qsm_table *table) {
    qsm_table bigger = {.capacity = table->capacity ? table->capacity * 2 : 8,
                        .count = table->count};
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (bigger.slots == NULL) return false;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].value != NULL)
            bigger.slots[find(&bigger, table->slots[i].key)] = table->slots[i];
    free(table->slots);
    *table = bigger;
    return true;
}

bool qsm_table_put(qsm_table *table, uint64_t key, void *value) {
    assert(value != NULL);
    if (table->count * 4 >= table->capacity * 3 && !grow(table)) return false;
    qsm_table_slot *slot = &table->slots[find(table, key)];
    if (slot->value == NULL) table->count++;
    *slot = (qsm_table_slot){.key = key, .value = value};
    return true;
}

void *qsm_table_remove(qsm_table *table, uint64_t key) {
    if (table->count == 0) return NULL;
    uint32_t i = find(table, key);
    void *value = table->slots[i].value;
    if (value == NULL) return NULL;
    table->count--;
    /* Close the hole: move back every follower that would not be found across it. */
    uint32_t hole = i;
    for (;;) {
        i = (i + 1) & (table->capacity - 1);
        if (table->slots[i].value == NULL) break;
        uint32_t wanted = home(table, table->slots[i].key);
        uint32_t distance = (i - wanted) & (table->capacity - 1);
        if (distance >= ((i - hole) & (table->capacity - 1))) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole] = (qsm_table_slot){0};
    return value;
}

void *qsm_table_next(const qsm_table *table, uint32_t *cursor) {
    while (*cursor < table->capacity) {
        void *value = table->slots[(*cursor)++].value;
        if (value != NULL) return value;
    }
    return NULL;
}
