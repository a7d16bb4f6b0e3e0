#include "core/siphash_wide.h"

#if QSM_SIP_HAS_WIDE

#include <immintrin.h>
#include <string.h>

#include "core/endian.h"

#define WIDE __attribute__((target("avx512f,avx512vl")))
#define WIDE_INLINE WIDE __attribute__((always_inline)) static inline

typedef struct {
    __m512i v0, v1, v2, v3;
} lanes;

bool qsm_sip_wide_is_here(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}

WIDE_INLINE void run_round(lanes *s) {
    s->v0 = _mm512_add_epi64(s->v0, s->v1);
    s->v2 = _mm512_add_epi64(s->v2, s->v3);
    s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 13), s->v0);
    s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 16), s->v2);
    s->v0 = _mm512_rol_epi64(s->v0, 32);
    s->v2 = _mm512_add_epi64(s->v2, s->v1);
    s->v0 = _mm512_add_epi64(s->v0, s->v3);
    s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 17), s->v2);
    s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 21), s->v0);
    s->v2 = _mm512_rol_epi64(s->v2, 32);
}

WIDE_INLINE void add_word(lanes *s, __m512i word) {
    s->v3 = _mm512_xor_si512(s->v3, word);
    run_round(s);
    run_round(s);
    s->v0 = _mm512_xor_si512(s->v0, word);
}

WIDE_INLINE __m512i result(lanes *s) {
    for (int i = 0; i < 4; i++)
        run_round(s);
    return _mm512_xor_si512(_mm512_xor_si512(s->v0, s->v1), _mm512_xor_si512(s->v2, s->v3));
}

/* The eight bytes at `offset` of each packet. */
WIDE_INLINE __m512i words_at(const uint8_t *const packets[QSM_SIP_LANES], uint32_t offset) {
    uint64_t words[QSM_SIP_LANES];
    for (int lane = 0; lane < QSM_SIP_LANES; lane++)
        memcpy(&words[lane], packets[lane] + offset, sizeof words[lane]);
    return _mm512_loadu_si512(words);
}

WIDE_INLINE __m512i last_words(const uint8_t *const packets[QSM_SIP_LANES], uint32_t offset,
                               uint32_t bytes) {
    uint64_t words[QSM_SIP_LANES];
    for (int lane = 0; lane < QSM_SIP_LANES; lane++) {
        words[lane] = (uint64_t)(bytes & 0xff) << 56;
        for (uint32_t i = 0; offset + i < bytes; i++)
            words[lane] |= (uint64_t)packets[lane][offset + i] << (8 * i);
    }
    return _mm512_loadu_si512(words);
}

WIDE void qsm_sip_wide_packets(const uint8_t key[16], const uint8_t *const packets[QSM_SIP_LANES],
                               uint32_t bytes, uint8_t tags[QSM_SIP_LANES][16]) {
    uint64_t k0 = qsm_load_le(key, 8), k1 = qsm_load_le(key + 8, 8);
    lanes s = {_mm512_set1_epi64((long long)(k0 ^ 0x736f6d6570736575u)),
               _mm512_set1_epi64((long long)(k1 ^ 0x646f72616e646f6du ^ 0xee)),
               _mm512_set1_epi64((long long)(k0 ^ 0x6c7967656e657261u)),
               _mm512_set1_epi64((long long)(k1 ^ 0x7465646279746573u))};
    add_word(&s, words_at(packets, 0));
    add_word(&s, words_at(packets, 8));
    add_word(&s, _mm512_setzero_si512()); /* the tag's own place */
    add_word(&s, _mm512_setzero_si512());
    uint32_t at = 32;
    for (; at + 8 <= bytes; at += 8)
        add_word(&s, words_at(packets, at));
    add_word(&s, last_words(packets, at, bytes));
    uint64_t low[QSM_SIP_LANES], high[QSM_SIP_LANES];
    s.v2 = _mm512_xor_si512(s.v2, _mm512_set1_epi64(0xee));
    _mm512_storeu_si512(low, result(&s));
    s.v1 = _mm512_xor_si512(s.v1, _mm512_set1_epi64(0xdd));
    _mm512_storeu_si512(high, result(&s));
    for (int lane = 0; lane < QSM_SIP_LANES; lane++) {
        qsm_store_le(tags[lane], low[lane], 8);
        qsm_store_le(tags[lane] + 8, high[lane], 8);
    }
}

#endif
