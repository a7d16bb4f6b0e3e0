/*
 * prng.h - the engine's only source of chance: xoshiro256**, seeded by whoever makes the engine, so
 * that a run can be repeated. Not for keys.
 */
#ifndef QSM_CORE_PRNG_H
#define QSM_CORE_PRNG_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t state[4];
} qsm_prng;

static inline uint64_t qsm_rotl64(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

/* Spreads a 64-bit value over all bits (splitmix64's finaliser). */
static inline uint64_t qsm_mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline void qsm_prng_seed(qsm_prng *prng, const uint8_t seed[32]) {
    uint64_t words[4], mixed = 0x9e3779b97f4a7c15ull;
    memcpy(words, seed, sizeof words);
    /* Twice over all words, so that each of them shows in each part of the state. */
    for (uint32_t i = 0; i < 8; i++) {
        mixed = qsm_mix64(mixed + words[i % 4] + 0x9e3779b97f4a7c15ull);
        prng->state[i % 4] = mixed;
    }
}

static inline uint64_t qsm_prng_next(qsm_prng *prng) {
    uint64_t *s = prng->state;
    uint64_t result = qsm_rotl64(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = qsm_rotl64(s[3], 45);
    return result;
}

/* A number below `bound`, which must not be 0. */
static inline uint64_t qsm_prng_below(qsm_prng *prng, uint64_t bound) {
    return qsm_prng_next(prng) % bound;
}

#endif
