/*
 * aes_gcm_wide.h - AES-256-GCM with 512-bit vectors: four blocks at once through the AES
 * instructions, and sixteen blocks of the authenticator multiplied before one reduction.
 *
 * Only for aes_gcm.c. On systems or compilers without these instructions QSM_AES_HAS_WIDE is 0 and
 * nothing else is declared.
 */
#ifndef QSM_CORE_AES_GCM_WIDE_H
#define QSM_CORE_AES_GCM_WIDE_H

#include "core/aes_gcm.h"

/* Windows compilers do not keep the stack aligned for these vectors. */
#if defined(__x86_64__) && !defined(_WIN32) && defined(__GNUC__)
#define QSM_AES_HAS_WIDE 1
bool qsm_aes_wide_is_here(void);
void qsm_aes_wide_expand(qsm_aes_key *key, const uint8_t secret[QSM_AES_KEY_BYTES]);
void qsm_aes_wide_seal(const qsm_aes_key *key, const uint8_t nonce[QSM_AES_NONCE_BYTES],
                       const uint8_t *plain, uint32_t bytes, uint8_t *sealed, uint8_t tag[16]);
/* `tag` is what a genuine message has; comparing is the caller's. */
void qsm_aes_wide_open(const qsm_aes_key *key, const uint8_t nonce[QSM_AES_NONCE_BYTES],
                       const uint8_t *sealed, uint32_t bytes, uint8_t *plain, uint8_t tag[16]);
#else
#define QSM_AES_HAS_WIDE 0
#endif

#endif
