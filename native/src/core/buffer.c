#include "core/buffer.h"

#include <assert.h>
#include <stdlib.h>

#include "core/limits.h"

void qsm_pool_init(qsm_pool *pool, uint64_t bytes_max) {
    *pool = (qsm_pool){.bytes_max = bytes_max};
}

static void free_list(qsm_buffer *buffer) {
    while (buffer != NULL) {
        qsm_buffer *next = buffer->next_free;
        free(buffer);
        buffer = next;
    }
}

void qsm_pool_free(qsm_pool *pool) {
    assert(pool->bytes_used == 0);
    free_list(pool->free_small);
    free_list(pool->free_large);
    *pool = (qsm_pool){0};
}

qsm_buffer *qsm_pool_take(qsm_pool *pool, uint32_t capacity) {
    assert(capacity <= QSM_LARGE_BUFFER_BYTES);
    bool small = capacity <= QSM_SMALL_BUFFER_BYTES;
    capacity = small ? QSM_SMALL_BUFFER_BYTES : QSM_LARGE_BUFFER_BYTES;
    if (pool->bytes_used + capacity > pool->bytes_max) return NULL;
    qsm_buffer **list = small ? &pool->free_small : &pool->free_large;
    qsm_buffer *buffer = *list;
    if (buffer != NULL) {
        *list = buffer->next_free;
        if (*list != NULL)
            __builtin_prefetch(*list); /* it has lain for long; the next to be taken */
        (*(small ? &pool->free_small_count : &pool->free_large_count))--;
    } else {
        buffer = malloc(sizeof *buffer + capacity);
        if (buffer == NULL) return NULL;
        buffer->pool = pool;
        buffer->capacity = capacity;
    }
    buffer->next_free = NULL;
    buffer->references = 1;
    pool->bytes_used += capacity;
    return buffer;
}

void qsm_buffer_retain(qsm_buffer *buffer) {
    assert(buffer->references > 0);
    buffer->references++;
}

void qsm_buffer_release(qsm_buffer *buffer) {
    assert(buffer->references > 0);
    if (--buffer->references > 0) return;
    qsm_pool *pool = buffer->pool;
    bool small = buffer->capacity == QSM_SMALL_BUFFER_BYTES;
    pool->bytes_used -= buffer->capacity;
    uint32_t *count = small ? &pool->free_small_count : &pool->free_large_count;
    if (*count >= (small ? QSM_FREE_BUFFERS_MAX : QSM_FREE_BUFFERS_MAX / 4)) {
        free(buffer);
        return;
    }
    qsm_buffer **list = small ? &pool->free_small : &pool->free_large;
    buffer->next_free = *list;
    *list = buffer;
    (*count)++;
}
