/*
 * fuzz_support.h - what the fuzz targets share: a scope whose key they know, so that packets get
 * past the check of their tags and reach what is behind it, and a way to fail.
 */
#ifndef FUZZ_SUPPORT_H
#define FUZZ_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/seal.h"
#include "core/wire.h"
#include "qsm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever arrives. */
#define FUZZ_REQUIRE(holds)                                                                        \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static const uint8_t FUZZ_SCOPE_ID[QSM_GROUP_ID_BYTES] = "fuzzed scope ..";
static const uint8_t FUZZ_SCOPE_KEY[QSM_KEY_BYTES] = "the key of the fuzzed scope ....";

static inline const qsm_scope_keys *fuzz_keys(void) {
    static qsm_scope_keys keys;
    static bool derived;
    if (!derived) {
        static const uint8_t seed[32] = {1};
        FUZZ_REQUIRE(qsm_seal_start());
        qsm_scope_keys_derive(&keys, FUZZ_SCOPE_ID, FUZZ_SCOPE_KEY, seed);
        derived = true;
    }
    return &keys;
}

/* Makes a packet authentic: as if a member had sent just these bytes. False when it is too short.
 */
static inline bool fuzz_seal(uint8_t *packet, uint32_t bytes) {
    if (bytes < QSM_HEADER_BYTES || bytes > QSM_DATAGRAM_BYTES_MAX) return false;
    uint32_t front = packet[2] | (uint32_t)packet[3] << 8;
    bool all = packet[1] != QSM_KIND_DATA || front < QSM_HEADER_BYTES || front > bytes;
    if (all) front = bytes;
    packet[0] = QSM_WIRE_VERSION;
    packet[2] = (uint8_t)front;
    packet[3] = (uint8_t)(front >> 8);
    qsm_packet_tag(fuzz_keys(), packet, front, packet + 16);
    return true;
}

/* Reads the fuzzer's bytes as numbers and choices; zeros when they have run out. */
typedef struct {
    const uint8_t *at, *end;
} fuzz_source;

static inline bool fuzz_ended(const fuzz_source *source) {
    return source->at == source->end;
}

static inline uint64_t fuzz_number(fuzz_source *source, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes && source->at < source->end; i++)
        value |= (uint64_t)*source->at++ << 8 * i;
    return value;
}

/* Mostly small numbers, sometimes any: a byte below 240 stands for itself. */
static inline uint64_t fuzz_value(fuzz_source *source) {
    uint64_t first = fuzz_number(source, 1);
    if (first < 240) return first;
    return fuzz_number(source, first < 248 ? 2 : 8);
}

#endif
