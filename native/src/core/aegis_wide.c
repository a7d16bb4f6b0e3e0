#include "core/aegis_wide.h"

#if QSM_AEGIS_HAS_WIDE

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#include "core/endian.h"

/* Only these functions are compiled for the instructions; the rest of the engine is not. */
#define TARGET __attribute__((target("aes,vaes,avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline
#define SEAL qsm_aegis_wide_seal
#define OPEN qsm_aegis_wide_open
#define RUN_BEGIN qsm_aegis_wide_begin
#define RUN_ADD qsm_aegis_wide_add
#define RUN_END qsm_aegis_wide_end

/* Asked of the processor itself: not every compiler knows a name for it. */
static bool has_aes_vectors(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES) != 0;
}

bool qsm_aegis_wide_is_here(void) {
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("avx2") && has_aes_vectors();
}

typedef __m256i pair;

INLINE pair pair_load(const uint8_t *from) {
    return _mm256_loadu_si256((const void *)from);
}

INLINE pair pair_twice(const uint8_t *from) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)from));
}

INLINE void pair_store(uint8_t *to, pair blocks) {
    _mm256_storeu_si256((void *)to, blocks);
}

INLINE pair pair_xor(pair one, pair other) {
    return _mm256_xor_si256(one, other);
}

INLINE pair pair_and(pair one, pair other) {
    return _mm256_and_si256(one, other);
}

INLINE pair pair_round(pair state, pair key) {
    return _mm256_aesenc_epi128(state, key);
}

INLINE void pair_sum(pair blocks, uint8_t sum[16]) {
    __m128i other = _mm256_extracti128_si256(blocks, 1);
    _mm_storeu_si128((void *)sum, _mm_xor_si128(_mm256_castsi256_si128(blocks), other));
}

#include "core/aegis_body.h"

#endif
