#include "core/aegis.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/aegis_wide.h"
#include "core/endian.h"

static const struct {
    void (*seal)(const uint8_t *key, const uint8_t *nonce, const uint8_t *plain, uint32_t bytes,
                 uint8_t *sealed, uint8_t tag[16]);
    void (*open)(const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, uint32_t bytes,
                 uint8_t *plain, uint8_t tag[16]);
} CODE[] = {
    [QSM_AEGIS_NONE] = {NULL, NULL},
#if QSM_AEGIS_HAS_NARROW
    [QSM_AEGIS_NARROW] = {qsm_aegis_narrow_seal, qsm_aegis_narrow_open},
#endif
#if QSM_AEGIS_HAS_WIDE
    [QSM_AEGIS_WIDE] = {qsm_aegis_wide_seal, qsm_aegis_wide_open},
#endif
};

enum qsm_aegis_kind qsm_aegis_best(void) {
#if QSM_AEGIS_HAS_WIDE
    if (qsm_aegis_wide_is_here()) return QSM_AEGIS_WIDE;
#endif
#if QSM_AEGIS_HAS_NARROW
    if (qsm_aegis_narrow_is_here()) return QSM_AEGIS_NARROW;
#endif
    return QSM_AEGIS_NONE;
}

void qsm_aegis_seal(enum qsm_aegis_kind kind, const uint8_t key[QSM_AEGIS_KEY_BYTES],
                    const uint8_t nonce[QSM_AEGIS_NONCE_BYTES], const uint8_t *plain,
                    uint32_t bytes, uint8_t *sealed, uint8_t tag[16]) {
    assert(kind != QSM_AEGIS_NONE);
    CODE[kind].seal(key, nonce, plain, bytes, sealed, tag);
}

bool qsm_aegis_open(enum qsm_aegis_kind kind, const uint8_t key[QSM_AEGIS_KEY_BYTES],
                    const uint8_t nonce[QSM_AEGIS_NONCE_BYTES], const uint8_t *sealed,
                    uint32_t bytes, const uint8_t tag[16], uint8_t *plain) {
    assert(kind != QSM_AEGIS_NONE);
    uint8_t genuine[16];
    CODE[kind].open(key, nonce, sealed, bytes, plain, genuine);
    if (qsm_equal16(genuine, tag)) return true;
    if (bytes) memset(plain, 0, bytes);
    return false;
}
