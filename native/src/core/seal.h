/*
 * seal.h - all cryptography of the engine: packets are authenticated under the scope's key before
 * anything in them is looked at, messages are sealed under their group's key. libsodium does the
 * work, but for the ciphers and hashes that are quicker with this processor's instructions.
 *
 * A message is sealed in one of two ways, which a flag in its header names. XChaCha20-Poly1305
 * under the group's key can be opened by everybody. AEGIS-128X2 is used between nodes that all have
 * AES instructions (region.h), under a key that its sender has in that group alone, so that the
 * message's number is a nonce that never comes twice; the group's id and the sender are in that
 * key, the flags in the nonce.
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

#include "core/aegis.h"
#include "core/endian.h"
#include "qsm.h"

#define QSM_TAG_BYTES 16u

typedef struct {
    uint8_t packet_key[16];                         /* derived from the scope's key and id */
    uint8_t other_keys[QSM_SCOPE_KEYS_MAX - 1][16]; /* are taken for good as well, not used */
    uint32_t other_count;
    bool changed; /* packets that are kept may have a tag under another key than the one in use */
    uint8_t scope_id[16];
    bool wide;              /* this processor makes several tags at once */
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
/* Takes packets under that key for good from now on; uses it; does not take it any more. As the
 * functions of qsm.h with these names. */
int qsm_scope_keys_add(qsm_scope_keys *keys, const uint8_t scope_key[32]);
int qsm_scope_keys_use(qsm_scope_keys *keys, const uint8_t scope_key[32]);
int qsm_scope_keys_drop(qsm_scope_keys *keys, const uint8_t scope_key[32]);
/* Writes the tag of a packet's first `bytes` bytes, in which the tag's own place counts as zero. */
void qsm_packet_tag(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                    uint8_t tag[16]);
/* Whether the tag is that of one of the keys that are not in use. */
bool qsm_packet_tag_of_others(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                              const uint8_t tag[16]);
/* The same for up to QSM_TAGS_AT_ONCE packets of which equally many bytes count. */
#define QSM_TAGS_AT_ONCE 8u
void qsm_packet_tags(const qsm_scope_keys *keys, const uint8_t *const fronts[], uint32_t count,
                     uint32_t bytes, uint8_t tags[][16]);
/* True when that is quicker than one after the other. */
bool qsm_packet_tags_pay(const qsm_scope_keys *keys, uint32_t count);
/* A cookie for a joiner at an address, valid in one slot of time. */
void qsm_cookie(const qsm_scope_keys *keys, const void *what, uint32_t bytes, uint64_t slot,
                uint8_t cookie[16]);
/* Overwrites a secret that is not needed any more. */
void qsm_wipe(void *secret, size_t bytes);

void qsm_message_seal(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *plain, uint32_t bytes, uint8_t *sealed, uint8_t tag[16]);
bool qsm_message_open(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *sealed, uint32_t bytes, const uint8_t tag[16], uint8_t *plain);

/* ---- with AES instructions ---- */

/* The key that a sender has in a group. */
void qsm_sender_key_derive(uint8_t secret[QSM_AEGIS_KEY_BYTES], const uint8_t group_key[32],
                           const uint8_t group_id[16], uint64_t sender);
void qsm_message_seal_aes(enum qsm_aegis_kind kind, const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                          const qsm_seal_identity *identity, const uint8_t *plain, uint32_t bytes,
                          uint8_t *sealed, uint8_t tag[16]);
/* The same for what comes piece by piece; then the functions of aegis.h. */
void qsm_run_seal_begin(enum qsm_aegis_kind kind, qsm_aegis_run *run,
                        const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                        const qsm_seal_identity *identity);
/* False for what is not genuine, and for everything where there are no such instructions. */
bool qsm_message_open_aes(enum qsm_aegis_kind kind, const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                          const qsm_seal_identity *identity, const uint8_t *sealed, uint32_t bytes,
                          const uint8_t tag[16], uint8_t *plain);

#endif
