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
    void (*begin)(qsm_aegis_run *run, const uint8_t *key, const uint8_t *nonce);
    void (*add)(qsm_aegis_run *run, const uint8_t *plain, uint32_t bytes, uint8_t *sealed);
    void (*end)(qsm_aegis_run *run, uint8_t *sealed, uint8_t tag[16]);
} CODE[] = {
    [QSM_AEGIS_NONE] = {NULL, NULL, NULL, NULL, NULL},
#if QSM_AEGIS_HAS_NARROW
    [QSM_AEGIS_NARROW] = {qsm_aegis_narrow_seal, qsm_aegis_narrow_open, qsm_aegis_narrow_begin,
                          qsm_aegis_narrow_add, qsm_aegis_narrow_end},
#endif
#if QSM_AEGIS_HAS_WIDE
    [QSM_AEGIS_WIDE] = {qsm_aegis_wide_seal, qsm_aegis_wide_open, qsm_aegis_wide_begin,
                        qsm_aegis_wide_add, qsm_aegis_wide_end},
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

void qsm_aegis_run_begin(enum qsm_aegis_kind kind, qsm_aegis_run *run,
                         const uint8_t key[QSM_AEGIS_KEY_BYTES],
                         const uint8_t nonce[QSM_AEGIS_NONCE_BYTES]) {
    assert(kind != QSM_AEGIS_NONE);
    CODE[kind].begin(run, key, nonce);
}

void qsm_aegis_run_add(enum qsm_aegis_kind kind, qsm_aegis_run *run, const uint8_t *plain,
                       uint32_t bytes, uint8_t *sealed) {
    assert(kind != QSM_AEGIS_NONE);
    CODE[kind].add(run, plain, bytes, sealed);
}

void qsm_aegis_run_end(enum qsm_aegis_kind kind, qsm_aegis_run *run, uint8_t *sealed,
                       uint8_t tag[16]) {
    assert(kind != QSM_AEGIS_NONE);
    CODE[kind].end(run, sealed, tag);
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
