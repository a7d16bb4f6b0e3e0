#include "core/seal.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "core/limits.h"

bool qsm_seal_start(void) {
    return sodium_init() >= 0; /* 1: was initialised before */
}

static void derive16(uint8_t out[16], const char *purpose, const uint8_t *key,
                     const uint8_t id[16]) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, 32, 16);
    crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
    crypto_generichash_update(&state, id, 16);
    crypto_generichash_final(&state, out, 16);
}

void qsm_scope_keys_derive(qsm_scope_keys *keys, const uint8_t scope_id[16],
                           const uint8_t scope_key[32], const uint8_t seed[32]) {
    derive16(keys->packet_key, "qsm packet", scope_key, scope_id);
    derive16(keys->cookie_key, "qsm cookie", seed, scope_id);
}

/* The tag's place in a packet: see wire.h. */
enum { TAG_OFFSET = 16 };

void qsm_packet_tag(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                    uint8_t tag[16]) {
    assert(bytes >= TAG_OFFSET + QSM_TAG_BYTES && bytes <= QSM_SMALL_BUFFER_BYTES);
    uint8_t copy[QSM_SMALL_BUFFER_BYTES];
    memcpy(copy, front, bytes);
    memset(copy + TAG_OFFSET, 0, QSM_TAG_BYTES);
    crypto_shorthash_siphashx24(tag, copy, bytes, keys->packet_key);
}

void qsm_cookie(const qsm_scope_keys *keys, const void *what, uint32_t bytes, uint64_t slot,
                uint8_t cookie[16]) {
    uint8_t text[64];
    assert(bytes + sizeof slot <= sizeof text);
    memcpy(text, what, bytes);
    memcpy(text + bytes, &slot, sizeof slot);
    crypto_shorthash_siphashx24(cookie, text, bytes + sizeof slot, keys->cookie_key);
}

void qsm_wipe(void *secret, size_t bytes) {
    sodium_memzero(secret, bytes);
}

bool qsm_equal16(const uint8_t a[16], const uint8_t b[16]) {
    return sodium_memcmp(a, b, 16) == 0;
}

static void put_le64(uint8_t *out, uint64_t value) {
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static void prepare(const qsm_seal_identity *identity, uint8_t nonce[24], uint8_t associated[18]) {
    put_le64(nonce, identity->sender);
    put_le64(nonce + 8, identity->number);
    memset(nonce + 16, 0, 8);
    memcpy(associated, identity->group_id, 16);
    associated[16] = identity->flags;
    associated[17] = identity->epoch;
}

void qsm_message_seal(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *plain, uint32_t bytes, uint8_t *sealed, uint8_t tag[16]) {
    uint8_t nonce[24], associated[18];
    prepare(identity, nonce, associated);
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(sealed, tag, NULL, plain, bytes, associated,
                                                        sizeof associated, NULL, nonce, key);
}

bool qsm_message_open(const uint8_t key[32], const qsm_seal_identity *identity,
                      const uint8_t *sealed, uint32_t bytes, const uint8_t tag[16],
                      uint8_t *plain) {
    uint8_t nonce[24], associated[18];
    prepare(identity, nonce, associated);
    return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
               plain, NULL, sealed, bytes, tag, associated, sizeof associated, nonce, key) == 0;
}
