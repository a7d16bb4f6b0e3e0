#include "core/seal.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "core/limits.h"
#include "core/siphash.h"
#include "core/siphash_wide.h"
#include "qsm.h"

enum { LANES_THAT_PAY = 3 }; /* eight lanes take about as long as three packets one by one */

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

static void derive_packet_key(const qsm_scope_keys *keys, const uint8_t scope_key[32],
                              uint8_t packet_key[16]) {
    derive16(packet_key, "qsm packet", scope_key, keys->scope_id);
}

void qsm_scope_keys_derive(qsm_scope_keys *keys, const uint8_t scope_id[16],
                           const uint8_t scope_key[32], const uint8_t seed[32]) {
#if QSM_SIP_HAS_WIDE
    keys->wide = qsm_sip_wide_is_here();
#endif
    memcpy(keys->scope_id, scope_id, sizeof keys->scope_id);
    derive_packet_key(keys, scope_key, keys->packet_key);
    derive16(keys->cookie_key, "qsm cookie", seed, scope_id);
}

/* Its place among the keys that are not in use; their count: it is not there. */
static uint32_t find_other(const qsm_scope_keys *keys, const uint8_t packet_key[16]) {
    uint32_t at = 0;
    while (at < keys->other_count && !qsm_equal16(keys->other_keys[at], packet_key))
        at++;
    return at;
}

/* Where the scope's key is beside the one in use: -1 if it is that one, other_count: nowhere. */
static int64_t locate(const qsm_scope_keys *keys, const uint8_t scope_key[32],
                      uint8_t packet_key[16]) {
    derive_packet_key(keys, scope_key, packet_key);
    if (qsm_equal16(packet_key, keys->packet_key)) return -1;
    return find_other(keys, packet_key);
}

int qsm_scope_keys_add(qsm_scope_keys *keys, const uint8_t scope_key[32]) {
    uint8_t packet_key[16];
    if (locate(keys, scope_key, packet_key) < keys->other_count) return QSM_OK;
    if (keys->other_count == QSM_SCOPE_KEYS_MAX - 1) return QSM_ERR_FULL;
    memcpy(keys->other_keys[keys->other_count++], packet_key, sizeof packet_key);
    return QSM_OK;
}

int qsm_scope_keys_use(qsm_scope_keys *keys, const uint8_t scope_key[32]) {
    uint8_t packet_key[16];
    int64_t at = locate(keys, scope_key, packet_key);
    if (at < 0) return QSM_OK;
    if (at == keys->other_count) return QSM_ERR_NOT_FOUND;
    memcpy(keys->other_keys[at], keys->packet_key, sizeof packet_key);
    memcpy(keys->packet_key, packet_key, sizeof packet_key);
    keys->changed = true;
    return QSM_OK;
}

int qsm_scope_keys_drop(qsm_scope_keys *keys, const uint8_t scope_key[32]) {
    uint8_t packet_key[16];
    int64_t at = locate(keys, scope_key, packet_key);
    if (at < 0) return QSM_ERR_ARGUMENT;
    if (at == keys->other_count) return QSM_ERR_NOT_FOUND;
    keys->other_count--;
    memcpy(keys->other_keys[at], keys->other_keys[keys->other_count], sizeof packet_key);
    qsm_wipe(keys->other_keys[keys->other_count], sizeof packet_key);
    return QSM_OK;
}

bool qsm_packet_tag_of_others(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                              const uint8_t tag[16]) {
    uint8_t made[QSM_TAG_BYTES];
    for (uint32_t at = 0; at < keys->other_count; at++) {
        qsm_sip_packet(keys->other_keys[at], front, bytes, made);
        if (qsm_equal16(made, tag)) return true;
    }
    return false;
}

void qsm_packet_tag(const qsm_scope_keys *keys, const uint8_t *front, uint32_t bytes,
                    uint8_t tag[16]) {
    assert(bytes >= 2 * QSM_TAG_BYTES && bytes <= QSM_DATA_BYTES_MAX);
    qsm_sip_packet(keys->packet_key, front, bytes, tag);
}

bool qsm_packet_tags_pay(const qsm_scope_keys *keys, uint32_t count) {
    return keys->wide && count >= LANES_THAT_PAY;
}

void qsm_packet_tags(const qsm_scope_keys *keys, const uint8_t *const fronts[], uint32_t count,
                     uint32_t bytes, uint8_t tags[][16]) {
    assert(bytes >= 2 * QSM_TAG_BYTES && bytes <= QSM_DATA_BYTES_MAX);
    assert(count <= QSM_TAGS_AT_ONCE);
#if QSM_SIP_HAS_WIDE
    _Static_assert(QSM_TAGS_AT_ONCE == QSM_SIP_LANES, "a lane for each");
    if (qsm_packet_tags_pay(keys, count)) {
        const uint8_t *lanes[QSM_SIP_LANES];
        uint8_t made[QSM_SIP_LANES][16];
        for (uint32_t lane = 0; lane < QSM_SIP_LANES; lane++)
            lanes[lane] = fronts[lane < count ? lane : 0]; /* some make the first one again */
        qsm_sip_wide_packets(keys->packet_key, lanes, bytes, made);
        memcpy(tags, made, count * sizeof made[0]);
        return;
    }
#endif
    for (uint32_t i = 0; i < count; i++)
        qsm_sip_packet(keys->packet_key, fronts[i], bytes, tags[i]);
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

static void prepare(const qsm_seal_identity *identity, uint8_t nonce[24], uint8_t associated[18]) {
    qsm_store_le(nonce, identity->sender, 8);
    qsm_store_le(nonce + 8, identity->number, 8);
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

/* ---- with AES instructions ------------------------------------------------------------------- */

void qsm_sender_key_derive(uint8_t secret[QSM_AEGIS_KEY_BYTES], const uint8_t group_key[32],
                           const uint8_t group_id[16], uint64_t sender) {
    static const char purpose[] = "qsm sender, AEGIS-128X2";
    uint8_t id[8];
    qsm_store_le(id, sender, 8);
    crypto_generichash_state state;
    crypto_generichash_init(&state, group_key, 32, QSM_AEGIS_KEY_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
    crypto_generichash_update(&state, group_id, 16);
    crypto_generichash_update(&state, id, sizeof id);
    crypto_generichash_final(&state, secret, QSM_AEGIS_KEY_BYTES);
}

static void make_nonce(uint8_t nonce[QSM_AEGIS_NONCE_BYTES], const qsm_seal_identity *identity) {
    qsm_store_le(nonce, identity->number, 8);
    memset(nonce + 8, 0, 8);
    nonce[8] = identity->flags;
    nonce[9] = identity->epoch;
}

void qsm_message_seal_aes(enum qsm_aegis_kind kind, const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                          const qsm_seal_identity *identity, const uint8_t *plain, uint32_t bytes,
                          uint8_t *sealed, uint8_t tag[16]) {
    uint8_t nonce[QSM_AEGIS_NONCE_BYTES];
    make_nonce(nonce, identity);
    qsm_aegis_seal(kind, sender_key, nonce, plain, bytes, sealed, tag);
}

void qsm_run_seal_begin(enum qsm_aegis_kind kind, qsm_aegis_run *run,
                        const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                        const qsm_seal_identity *identity) {
    uint8_t nonce[QSM_AEGIS_NONCE_BYTES];
    make_nonce(nonce, identity);
    qsm_aegis_run_begin(kind, run, sender_key, nonce);
}

bool qsm_message_open_aes(enum qsm_aegis_kind kind, const uint8_t sender_key[QSM_AEGIS_KEY_BYTES],
                          const qsm_seal_identity *identity, const uint8_t *sealed, uint32_t bytes,
                          const uint8_t tag[16], uint8_t *plain) {
    if (kind == QSM_AEGIS_NONE) return false;
    uint8_t nonce[QSM_AEGIS_NONCE_BYTES];
    make_nonce(nonce, identity);
    return qsm_aegis_open(kind, sender_key, nonce, sealed, bytes, tag, plain);
}
