#include "core/aes_gcm.h"

#include <assert.h>
#include <sodium.h>

#include "core/aes_gcm_wide.h"
#include "core/endian.h"

_Static_assert(sizeof(qsm_aes_key) >= sizeof(crypto_aead_aes256gcm_state),
               "the library's expanded key fits as well");

enum qsm_aes_kind qsm_aes_best(void) {
#if QSM_AES_HAS_WIDE
    if (qsm_aes_wide_is_here()) return QSM_AES_WIDE;
#endif
    return crypto_aead_aes256gcm_is_available() ? QSM_AES_LIBRARY : QSM_AES_NONE;
}

static crypto_aead_aes256gcm_state *library_state(qsm_aes_key *key) {
    return (crypto_aead_aes256gcm_state *)(void *)key->bytes;
}

static const crypto_aead_aes256gcm_state *library_state_of(const qsm_aes_key *key) {
    return (const crypto_aead_aes256gcm_state *)(const void *)key->bytes;
}

void qsm_aes_expand(enum qsm_aes_kind kind, qsm_aes_key *key,
                    const uint8_t secret[QSM_AES_KEY_BYTES]) {
    assert(kind != QSM_AES_NONE);
#if QSM_AES_HAS_WIDE
    if (kind == QSM_AES_WIDE) {
        qsm_aes_wide_expand(key, secret);
        return;
    }
#endif
    crypto_aead_aes256gcm_beforenm(library_state(key), secret);
}

void qsm_aes_seal(enum qsm_aes_kind kind, const qsm_aes_key *key,
                  const uint8_t nonce[QSM_AES_NONCE_BYTES], const uint8_t *plain, uint32_t bytes,
                  uint8_t *sealed, uint8_t tag[16]) {
    assert(kind != QSM_AES_NONE);
#if QSM_AES_HAS_WIDE
    if (kind == QSM_AES_WIDE) {
        qsm_aes_wide_seal(key, nonce, plain, bytes, sealed, tag);
        return;
    }
#endif
    crypto_aead_aes256gcm_encrypt_detached_afternm(sealed, tag, NULL, plain, bytes, NULL, 0, NULL,
                                                   nonce, library_state_of(key));
}

bool qsm_aes_open(enum qsm_aes_kind kind, const qsm_aes_key *key,
                  const uint8_t nonce[QSM_AES_NONCE_BYTES], const uint8_t *sealed, uint32_t bytes,
                  const uint8_t tag[16], uint8_t *plain) {
    assert(kind != QSM_AES_NONE);
#if QSM_AES_HAS_WIDE
    if (kind == QSM_AES_WIDE) {
        uint8_t genuine[16];
        qsm_aes_wide_open(key, nonce, sealed, bytes, plain, genuine);
        return qsm_equal16(genuine, tag);
    }
#endif
    return crypto_aead_aes256gcm_decrypt_detached_afternm(plain, NULL, sealed, bytes, tag, NULL, 0,
                                                          nonce, library_state_of(key)) == 0;
}
