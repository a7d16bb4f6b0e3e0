/*
 * siphash_wide.h - the tags of eight packets at once, in the lanes of 512-bit vectors.
 *
 * On systems or compilers without these instructions QSM_SIP_HAS_WIDE is 0 and nothing else is
 * declared.
 */
#ifndef QSM_CORE_SIPHASH_WIDE_H
#define QSM_CORE_SIPHASH_WIDE_H

#include <stdbool.h>
#include <stdint.h>

enum { QSM_SIP_LANES = 8 };

#if defined(__x86_64__) && !defined(_WIN32) && defined(__GNUC__)
#define QSM_SIP_HAS_WIDE 1
bool qsm_sip_wide_is_here(void);
/* As qsm_sip_packet, for eight packets of which the same number of bytes counts. */
void qsm_sip_wide_packets(const uint8_t key[16], const uint8_t *const packets[QSM_SIP_LANES],
                          uint32_t bytes, uint8_t tags[QSM_SIP_LANES][16]);
#else
#define QSM_SIP_HAS_WIDE 0
#endif

#endif
