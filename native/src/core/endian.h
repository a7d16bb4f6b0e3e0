/*
 * endian.h - little-endian numbers in rows of bytes, as one load or store where the processor's own
 * order is the same.
 */
#ifndef QSM_CORE_ENDIAN_H
#define QSM_CORE_ENDIAN_H

#include <stdbool.h>
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

/* In a time that does not depend on where they differ. */
static inline bool qsm_equal16(const uint8_t a[16], const uint8_t b[16]) {
    uint64_t differ =
        (qsm_load_le(a, 8) ^ qsm_load_le(b, 8)) | (qsm_load_le(a + 8, 8) ^ qsm_load_le(b + 8, 8));
    return differ == 0;
}

#endif
