/*
 * siphash.h - SipHash-2-4 with a result of 128 bits, over bytes in which 16 count as zero: the
 * tag's own place in a packet. The library's function of the same name gives the same, but for a
 * copy in which that place is really zero.
 */
#ifndef QSM_CORE_SIPHASH_H
#define QSM_CORE_SIPHASH_H

#include <stdint.h>

#include "core/endian.h"
#include "core/prng.h"

typedef struct {
    uint64_t v0, v1, v2, v3;
} qsm_sip_state;

static inline void qsm_sip_rounds(qsm_sip_state *s, int count) {
    for (int i = 0; i < count; i++) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = qsm_rotl64(s->v1, 13) ^ s->v0;
        s->v3 = qsm_rotl64(s->v3, 16) ^ s->v2;
        s->v0 = qsm_rotl64(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = qsm_rotl64(s->v1, 17) ^ s->v2;
        s->v3 = qsm_rotl64(s->v3, 21) ^ s->v0;
        s->v2 = qsm_rotl64(s->v2, 32);
    }
}

static inline void qsm_sip_word(qsm_sip_state *s, uint64_t word) {
    s->v3 ^= word;
    qsm_sip_rounds(s, 2);
    s->v0 ^= word;
}

static inline qsm_sip_state qsm_sip_begin(const uint8_t key[16]) {
    uint64_t k0 = qsm_load_le(key, 8), k1 = qsm_load_le(key + 8, 8);
    return (qsm_sip_state){.v0 = k0 ^ 0x736f6d6570736575u,
                           .v1 = k1 ^ 0x646f72616e646f6du ^ 0xee,
                           .v2 = k0 ^ 0x6c7967656e657261u,
                           .v3 = k1 ^ 0x7465646279746573u};
}

static inline void qsm_sip_end(qsm_sip_state *s, uint8_t tag[16]) {
    s->v2 ^= 0xee;
    qsm_sip_rounds(s, 4);
    qsm_store_le(tag, s->v0 ^ s->v1 ^ s->v2 ^ s->v3, 8);
    s->v1 ^= 0xdd;
    qsm_sip_rounds(s, 4);
    qsm_store_le(tag + 8, s->v0 ^ s->v1 ^ s->v2 ^ s->v3, 8);
}

/* `data` has at least 32 bytes, of which those from 16 on count as zero. */
static inline void qsm_sip_packet(const uint8_t key[16], const uint8_t *data, uint32_t bytes,
                                  uint8_t tag[16]) {
    qsm_sip_state state = qsm_sip_begin(key);
    qsm_sip_word(&state, qsm_load_le(data, 8));
    qsm_sip_word(&state, qsm_load_le(data + 8, 8));
    qsm_sip_word(&state, 0);
    qsm_sip_word(&state, 0);
    uint32_t at = 32;
    for (; at + 8 <= bytes; at += 8)
        qsm_sip_word(&state, qsm_load_le(data + at, 8));
    uint64_t last = (uint64_t)(bytes & 0xff) << 56;
    for (uint32_t i = 0; at + i < bytes; i++)
        last |= (uint64_t)data[at + i] << (8 * i);
    qsm_sip_word(&state, last);
    qsm_sip_end(&state, tag);
}

#endif
