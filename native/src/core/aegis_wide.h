/*
 * aegis_wide.h - AEGIS-128X2 with instructions for one block (narrow) or two blocks (wide) at a
 * time. Only for aegis.c. Where a compiler or system has none of them QSM_AEGIS_HAS_... is 0 and
 * the functions are not declared.
 */
#ifndef QSM_CORE_AEGIS_WIDE_H
#define QSM_CORE_AEGIS_WIDE_H

#include "core/aegis.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define QSM_AEGIS_HAS_NARROW 1
#else
#define QSM_AEGIS_HAS_NARROW 0
#endif
/* Windows compilers do not keep the stack aligned for wider vectors. */
#if QSM_AEGIS_HAS_NARROW && !defined(_WIN32)
#define QSM_AEGIS_HAS_WIDE 1
#else
#define QSM_AEGIS_HAS_WIDE 0
#endif

/* Opening gives the tag of a genuine message; comparing is the caller's. */
#define QSM_AEGIS_DECLARE(width)                                                                   \
    bool qsm_aegis_##width##_is_here(void);                                                        \
    void qsm_aegis_##width##_seal(const uint8_t *key, const uint8_t *nonce, const uint8_t *plain,  \
                                  uint32_t bytes, uint8_t *sealed, uint8_t tag[16]);               \
    void qsm_aegis_##width##_open(const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, \
                                  uint32_t bytes, uint8_t *plain, uint8_t tag[16]);                \
    void qsm_aegis_##width##_begin(qsm_aegis_run *run, const uint8_t *key, const uint8_t *nonce);  \
    void qsm_aegis_##width##_add(qsm_aegis_run *run, const uint8_t *plain, uint32_t bytes,         \
                                 uint8_t *sealed);                                                 \
    void qsm_aegis_##width##_end(qsm_aegis_run *run, uint8_t *sealed, uint8_t tag[16])

#if QSM_AEGIS_HAS_NARROW
QSM_AEGIS_DECLARE(narrow);
#endif
#if QSM_AEGIS_HAS_WIDE
QSM_AEGIS_DECLARE(wide);
#endif

#endif
