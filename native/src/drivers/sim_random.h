/*
 * sim_random.h - chance and hashes of the simulator: small, fast, the same on every machine.
 *
 * Every purpose (losses, jitter, ...) has a stream of its own, so that switching one fault on does
 * not change what the others do. Nothing here is fit for keys.
 */
#ifndef QSM_DRIVERS_SIM_RANDOM_H
#define QSM_DRIVERS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define QSM_SIM_PPM 1000000U

typedef struct {
    uint64_t state;
} qsm_sim_random;

/* A bijection of 64-bit numbers that looks random (the finaliser of splitmix64). */
static inline uint64_t qsm_sim_mix(uint64_t value) {
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* A hash of two numbers, in this order. */
static inline uint64_t qsm_sim_mix2(uint64_t first, uint64_t second) {
    return qsm_sim_mix(qsm_sim_mix(first + UINT64_C(0x9e3779b97f4a7c15)) ^ second);
}

static inline qsm_sim_random qsm_sim_random_of(uint64_t seed, uint64_t purpose) {
    return (qsm_sim_random){.state = qsm_sim_mix2(seed, purpose)};
}

static inline uint64_t qsm_sim_random_next(qsm_sim_random *random) {
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return qsm_sim_mix(random->state);
}

/* A number below `bound`, 0 for bound 0. The bias of the remainder is far below what a test sees.
 */
static inline uint64_t qsm_sim_random_below(qsm_sim_random *random, uint64_t bound) {
    return bound == 0 ? 0 : qsm_sim_random_next(random) % bound;
}

/* True with the chance given; draws nothing when that is none. */
static inline bool qsm_sim_random_chance(qsm_sim_random *random, uint32_t ppm) {
    return ppm != 0 && qsm_sim_random_next(random) % QSM_SIM_PPM < ppm;
}

/* One word more of a hash. */
static inline uint64_t qsm_sim_hash_word(uint64_t hash, const uint8_t *data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

/* Bytes are read in the machine's order: hashes are compared within one machine. Four words at a
 * time do not wait for each other. */
static inline uint64_t qsm_sim_hash_bytes(const uint8_t *data, uint32_t bytes) {
    uint64_t hash = bytes;
    if (bytes >= 64) {
        uint64_t lanes[4] = {hash, 1, 2, 3};
        for (; bytes >= 32; data += 32, bytes -= 32)
            for (uint32_t i = 0; i < 4; i++)
                lanes[i] = qsm_sim_hash_word(lanes[i], data + 8 * i);
        for (uint32_t i = 1; i < 4; i++)
            lanes[0] = qsm_sim_mix2(lanes[0], lanes[i]);
        hash = lanes[0];
    }
    for (; bytes >= 8; data += 8, bytes -= 8)
        hash = qsm_sim_hash_word(hash, data);
    uint64_t last = 0;
    if (bytes != 0) memcpy(&last, data, bytes);
    return qsm_sim_mix2(hash, last);
}

#endif
