/*
 * seal.h - all cryptography of the engine: packets are authenticated under the scope's key before
 * anything in them is looked at, messages are sealed under their group's key. libsodium does the
 * work.
 *
 * The packet's tag is SipHash-2-4 with 128 bits over its header and message table. It covers the
 * tags of the messages, not their ciphertext (which those tags cover), so each payload byte is
 * passed over once.
 */
#ifndef QSM_CORE_SEAL_H
#define QSM_CORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QSM_TAG_BYTES 16u

typedef struct {
    uint8_t packet_key[16]; /* derived from the scope's key and id */
    uint8_t cookie_key[16]; /* derived from this engine's seed: proves that a joiner was answered by
                               us */
} qsm_scope_keys;

/* What makes a message's seal unlike any other's: a sender never uses a number twice under its id.
 */
typedef struct {
    const uint8_t *group_id; /* 16 bytes */
    uint64_t sender;
    uint64_t number;
    uint8_t flags;
    uint8_t epoch; /* of the key */
} qsm_seal_identity;

/* False when libsodium cannot be initialised. */
bool qsm_seal_start(void);
void qsm_scope_keys_derive(qsm_scope_keys *keys, const uint8_t scope_id[16],
                           const uint8_t scope_key[32], const uint8_t seed[32]);
/* Writes the tag of a packet's first `bytes` bytes, in which the tag's own place counts as zero. */
void qsm_packet_tag(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                    uint8_t tag[16]);
/* A cookie for a joiner at an address, valid in one slot of time. */
void qsm_cookie(const qsm_scope_keys *keys, const void *what, uint32_t bytes, uint64_t slot,
                uint8_t cookie[16]);
/* Overwrites a secret that is not needed any more. */
void qsm_wipe(void *secret, size_t bytes);
bool qsm_equal16(const uint8_t a[16], const uint8_t b[16]);

void qsm_message_seal(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *plain, uint32_t bytes, uint8_t *sealed, uint8_t tag[16]);
bool qsm_message_open(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *sealed, uint32_t bytes, const uint8_t tag[16], uint8_t *plain);

#endif
