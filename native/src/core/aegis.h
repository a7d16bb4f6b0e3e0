/*
 * aegis.h - AEGIS-128X2 with a tag of 128 bits, on processors that have AES instructions: the
 * authenticated cipher of the CFRG's document draft-irtf-cfrg-aegis-aead. It takes sixteen rounds
 * of AES for 64 bytes, where AES-256-GCM takes 56 and four multiplications, and it has no key to
 * expand, so that a thousand keys cost what one does. No table look-ups: time depends on lengths
 * alone.
 *
 * No associated data: what identifies a message goes into the key and the nonce (seal.c).
 */
#ifndef QSM_CORE_AEGIS_H
#define QSM_CORE_AEGIS_H

#include <stdbool.h>
#include <stdint.h>

#define QSM_AEGIS_KEY_BYTES 16u
#define QSM_AEGIS_NONCE_BYTES 16u

/* Which instructions run; every value but NONE gives the same bytes. */
enum qsm_aegis_kind { QSM_AEGIS_NONE = 0, QSM_AEGIS_NARROW = 1, QSM_AEGIS_WIDE = 2 };

/* What this processor can do. */
enum qsm_aegis_kind qsm_aegis_best(void);

/* `sealed` may be `plain`. A nonce must never come twice under a key. */
void qsm_aegis_seal(enum qsm_aegis_kind kind, const uint8_t key[QSM_AEGIS_KEY_BYTES],
                    const uint8_t nonce[QSM_AEGIS_NONCE_BYTES], const uint8_t *plain,
                    uint32_t bytes, uint8_t *sealed, uint8_t tag[16]);
/* The same for bytes that come piece by piece: what is sealed so is opened as one. */
#define QSM_AEGIS_BLOCK_BYTES 64u
typedef struct {
    uint8_t state[4 * QSM_AEGIS_BLOCK_BYTES];
    uint8_t rest[QSM_AEGIS_BLOCK_BYTES]; /* the last bytes that came, less than a block */
    uint32_t bytes;                      /* that came */
} qsm_aegis_run;

void qsm_aegis_run_begin(enum qsm_aegis_kind kind, qsm_aegis_run *run,
                         const uint8_t key[QSM_AEGIS_KEY_BYTES],
                         const uint8_t nonce[QSM_AEGIS_NONCE_BYTES]);
/* `sealed` is where the whole run begins: as many bytes are written as make whole blocks. */
void qsm_aegis_run_add(enum qsm_aegis_kind kind, qsm_aegis_run *run, const uint8_t *plain,
                       uint32_t bytes, uint8_t *sealed);
/* Writes the others. */
void qsm_aegis_run_end(enum qsm_aegis_kind kind, qsm_aegis_run *run, uint8_t *sealed,
                       uint8_t tag[16]);

/* False when the tag does not fit; then `plain` is zeros. It may be `sealed`. */
bool qsm_aegis_open(enum qsm_aegis_kind kind, const uint8_t key[QSM_AEGIS_KEY_BYTES],
                    const uint8_t nonce[QSM_AEGIS_NONCE_BYTES], const uint8_t *sealed,
                    uint32_t bytes, const uint8_t tag[16], uint8_t *plain);

#endif
