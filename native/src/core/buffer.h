/*
 * buffer.h - reference-counted memory for datagrams and plaintexts, in four sizes, reused and
 * bounded. One received datagram, one packet to send or one batch of plaintexts lies in one buffer;
 * whoever keeps a pointer into it holds a reference.
 */
#ifndef QSM_CORE_BUFFER_H
#define QSM_CORE_BUFFER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "qsm.h"

enum { QSM_BUFFER_SIZES = 4 };

typedef struct {
    struct {
        qsm_buffer *first; /* kept for reuse */
        uint32_t count;
    } free[QSM_BUFFER_SIZES];
    uint64_t bytes_used; /* capacity of the buffers that somebody holds */
    uint64_t bytes_max;
} qsm_pool;

struct qsm_buffer {
    qsm_pool *pool;
    qsm_buffer *next_free;
    uint32_t references;
    uint32_t capacity;
    uint32_t size; /* which of the four */
    bool torn;     /* holds a packet that came in parts */
    uint8_t data[];
};

/* A part of a buffer. */
typedef struct {
    qsm_buffer *buffer;
    uint32_t offset;
    uint32_t bytes;
} qsm_slice;

void qsm_pool_init(qsm_pool *pool, uint64_t bytes_max);
/* Frees the buffers kept for reuse; all others must have been released. */
void qsm_pool_free(qsm_pool *pool);
/* With one reference; NULL when the pool's bound or the system's memory is reached. */
qsm_buffer *qsm_pool_take(qsm_pool *pool, uint32_t capacity);
/* What a buffer of at least so many bytes has. */
uint32_t qsm_pool_fitting(uint32_t bytes);
/* Takes back a buffer that nobody holds. */
void qsm_pool_put(qsm_buffer *buffer);

static inline void qsm_buffer_retain(qsm_buffer *buffer) {
    assert(buffer->references > 0);
    buffer->references++;
}
static inline void qsm_buffer_release(qsm_buffer *buffer) {
    assert(buffer->references > 0);
    if (--buffer->references == 0) qsm_pool_put(buffer);
}

static inline const uint8_t *qsm_slice_data(const qsm_slice *slice) {
    return slice->buffer->data + slice->offset;
}

#endif
