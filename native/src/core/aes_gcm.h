/*
 * aes_gcm.h - AES-256-GCM on processors that have instructions for it, for many short messages
 * under few keys. A key is expanded once; with 512-bit AES (VAES) a message of 1000 bytes then
 * costs less than a fifth of what the library's code for the older 128-bit instructions takes,
 * which is used where there is nothing wider. Nobody else's table look-ups: time depends on lengths
 * alone.
 *
 * No associated data: what identifies a message goes into the key and the nonce (seal.c).
 */
#ifndef QSM_CORE_AES_GCM_H
#define QSM_CORE_AES_GCM_H

#include <stdbool.h>
#include <stdint.h>

#define QSM_AES_KEY_BYTES 32u
#define QSM_AES_NONCE_BYTES 12u

/* A key made ready; quickest at an address that is a multiple of 64. */
typedef struct {
    _Alignas(16) uint8_t bytes[896];
} qsm_aes_key;

/* Which code runs; every value below gives the same bytes. */
enum qsm_aes_kind { QSM_AES_NONE = 0, QSM_AES_LIBRARY = 1, QSM_AES_WIDE = 2 };

/* What this processor can do; the library must have been initialised. */
enum qsm_aes_kind qsm_aes_best(void);

void qsm_aes_expand(enum qsm_aes_kind kind, qsm_aes_key *key,
                    const uint8_t secret[QSM_AES_KEY_BYTES]);
/* `sealed` may be `plain`. A nonce must never come twice under a key. */
void qsm_aes_seal(enum qsm_aes_kind kind, const qsm_aes_key *key,
                  const uint8_t nonce[QSM_AES_NONCE_BYTES], const uint8_t *plain, uint32_t bytes,
                  uint8_t *sealed, uint8_t tag[16]);
/* False when the tag does not fit; then `plain` has nothing that may be used. */
bool qsm_aes_open(enum qsm_aes_kind kind, const qsm_aes_key *key,
                  const uint8_t nonce[QSM_AES_NONCE_BYTES], const uint8_t *sealed, uint32_t bytes,
                  const uint8_t tag[16], uint8_t *plain);

#endif
