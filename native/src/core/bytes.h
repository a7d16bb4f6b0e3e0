/*
 * bytes.h - a growing row of bytes, for control messages whose length is not known beforehand.
 * Running out of memory sets `failed`; check once at the end.
 */
#ifndef QSM_CORE_BYTES_H
#define QSM_CORE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/endian.h"
#include "qsm.h"

typedef struct {
    uint8_t *data;
    uint32_t count, capacity;
    bool failed;
} qsm_bytes;

static inline void qsm_bytes_free(qsm_bytes *bytes) {
    free(bytes->data);
    *bytes = (qsm_bytes){0};
}

static inline void qsm_bytes_add(qsm_bytes *bytes, const void *data, uint32_t count) {
    if (bytes->failed) return;
    if (bytes->count + count > bytes->capacity) {
        uint32_t capacity = (bytes->count + count) * 2;
        uint8_t *grown = realloc(bytes->data, capacity);
        if (grown == NULL) {
            bytes->failed = true;
            return;
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static inline void qsm_bytes_add_number(qsm_bytes *bytes, uint64_t value, uint32_t count) {
    uint8_t raw[8];
    qsm_store_le(raw, value, count);
    qsm_bytes_add(bytes, raw, count);
}

static inline void qsm_bytes_add8(qsm_bytes *bytes, uint8_t value) {
    qsm_bytes_add(bytes, &value, 1);
}
static inline void qsm_bytes_add16(qsm_bytes *bytes, uint16_t value) {
    qsm_bytes_add_number(bytes, value, 2);
}
static inline void qsm_bytes_add32(qsm_bytes *bytes, uint32_t value) {
    qsm_bytes_add_number(bytes, value, 4);
}
static inline void qsm_bytes_add64(qsm_bytes *bytes, uint64_t value) {
    qsm_bytes_add_number(bytes, value, 8);
}
static inline void qsm_bytes_add_address(qsm_bytes *bytes, const qsm_address *address) {
    qsm_bytes_add8(bytes, address->family);
    qsm_bytes_add8(bytes, address->multicast);
    qsm_bytes_add16(bytes, address->port);
    qsm_bytes_add(bytes, address->bytes, 16);
}

/* Writes a count that was not known when its place came. */
static inline void qsm_bytes_patch32(qsm_bytes *bytes, uint32_t at, uint32_t value) {
    if (!bytes->failed) qsm_store_le(bytes->data + at, value, 4);
}

#endif
