#include "core/buffer.h"

#include <assert.h>
#include <stdlib.h>

#include "core/limits.h"

void qsm_pool_init(qsm_pool *pool, uint64_t bytes_max) {
    *pool = (qsm_pool){.bytes_max = bytes_max};
}

static const uint32_t CAPACITIES[QSM_BUFFER_SIZES] = {
    QSM_SMALL_BUFFER_BYTES, QSM_MEDIUM_BUFFER_BYTES, QSM_HALF_BUFFER_BYTES, QSM_LARGE_BUFFER_BYTES};

static uint32_t fitting_size(uint32_t bytes) {
    assert(bytes <= QSM_LARGE_BUFFER_BYTES);
    uint32_t size = 0;
    while (CAPACITIES[size] < bytes)
        size++;
    return size;
}

uint32_t qsm_pool_fitting(uint32_t bytes) {
    return CAPACITIES[fitting_size(bytes)];
}

void qsm_pool_free(qsm_pool *pool) {
    assert(pool->bytes_used == 0);
    for (uint32_t size = 0; size < QSM_BUFFER_SIZES; size++)
        for (qsm_buffer *buffer = pool->free[size].first, *next; buffer != NULL; buffer = next) {
            next = buffer->next_free;
            free(buffer);
        }
    *pool = (qsm_pool){0};
}

qsm_buffer *qsm_pool_take(qsm_pool *pool, uint32_t capacity) {
    uint32_t size = fitting_size(capacity);
    capacity = CAPACITIES[size];
    if (pool->bytes_used + capacity > pool->bytes_max) return NULL;
    qsm_buffer *buffer = pool->free[size].first;
    if (buffer != NULL) {
        pool->free[size].first = buffer->next_free;
        if (buffer->next_free != NULL)
            __builtin_prefetch(buffer->next_free); /* it has lain for long; the next to be taken */
        pool->free[size].count--;
    } else {
        buffer = malloc(sizeof *buffer + capacity);
        if (buffer == NULL) return NULL;
        buffer->pool = pool;
        buffer->capacity = capacity;
        buffer->size = size;
    }
    buffer->next_free = NULL;
    buffer->references = 1;
    buffer->torn = false;
    pool->bytes_used += capacity;
    return buffer;
}

void qsm_pool_put(qsm_buffer *buffer) {
    assert(buffer->references == 0);
    qsm_pool *pool = buffer->pool;
    uint32_t size = buffer->size;
    pool->bytes_used -= buffer->capacity;
    if (pool->free[size].count >= QSM_FREE_BUFFERS_MAX / (size == 0 ? 1 : 4)) {
        free(buffer);
        return;
    }
    buffer->next_free = pool->free[size].first;
    pool->free[size].first = buffer;
    pool->free[size].count++;
}
