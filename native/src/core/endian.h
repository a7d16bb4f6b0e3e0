/*
 * endian.h - little-endian numbers in rows of bytes, as one load or store where the processor's own
 * order is the same.
 */
#ifndef QSM_CORE_ENDIAN_H
#define QSM_CORE_ENDIAN_H

#include <stdint.h>
#include <string.h>

/* The number in the first `bytes` (at most 8) bytes. */
static inline uint64_t qsm_load_le(const uint8_t *at, uint32_t bytes) {
    uint64_t value = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, at, bytes);
#else
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
#endif
    return value;
}

static inline void qsm_store_le(uint8_t *at, uint64_t value, uint32_t bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(at, &value, bytes);
#else
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
#endif
}

#endif
