/*
 * aegis_narrow.c - AEGIS-128X2 with instructions for one block at a time (aegis_wide.h).
 */
#include "core/aegis_wide.h"

#if QSM_AEGIS_HAS_NARROW

#include <immintrin.h>
#include <string.h>

#include "core/endian.h"

/* Only these functions are compiled for the instructions; the rest of the engine is not. */
#define TARGET __attribute__((target("aes,sse4.1")))
#define INLINE TARGET __attribute__((always_inline)) static inline
#define SEAL qsm_aegis_narrow_seal
#define OPEN qsm_aegis_narrow_open
#define RUN_BEGIN qsm_aegis_narrow_begin
#define RUN_ADD qsm_aegis_narrow_add
#define RUN_END qsm_aegis_narrow_end

bool qsm_aegis_narrow_is_here(void) {
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
}

typedef struct {
    __m128i a, b;
} pair;

INLINE pair pair_load(const uint8_t *from) {
    return (pair){_mm_loadu_si128((const void *)from), _mm_loadu_si128((const void *)(from + 16))};
}

INLINE pair pair_twice(const uint8_t *from) {
    __m128i block = _mm_loadu_si128((const void *)from);
    return (pair){block, block};
}

INLINE void pair_store(uint8_t *to, pair blocks) {
    _mm_storeu_si128((void *)to, blocks.a);
    _mm_storeu_si128((void *)(to + 16), blocks.b);
}

INLINE pair pair_xor(pair one, pair other) {
    return (pair){_mm_xor_si128(one.a, other.a), _mm_xor_si128(one.b, other.b)};
}

INLINE pair pair_and(pair one, pair other) {
    return (pair){_mm_and_si128(one.a, other.a), _mm_and_si128(one.b, other.b)};
}

INLINE pair pair_round(pair state, pair key) {
    return (pair){_mm_aesenc_si128(state.a, key.a), _mm_aesenc_si128(state.b, key.b)};
}

INLINE void pair_sum(pair blocks, uint8_t sum[16]) {
    _mm_storeu_si128((void *)sum, _mm_xor_si128(blocks.a, blocks.b));
}

#include "core/aegis_body.h"

#endif
