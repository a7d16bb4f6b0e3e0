/*
 * roundtrip.h - how long answers take: their mean and their spread, as TCP reckons them (RFC 6298).
 */
#ifndef QSM_RECOVERY_ROUNDTRIP_H
#define QSM_RECOVERY_ROUNDTRIP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t mean_ns, spread_ns; /* 0: no answer yet */
} qsm_roundtrip;

/* An answer has come so long after the last question. Unless that was the only one, it may have
 * been on its way before: then it took no less than that. */
void qsm_roundtrip_sample(qsm_roundtrip *roundtrip, uint64_t took_ns, bool only);
/* Nearly all answers have come by then; never less or more than the bounds given. */
uint64_t qsm_roundtrip_patience_ns(const qsm_roundtrip *roundtrip, uint64_t least_ns,
                                   uint64_t most_ns);

#endif
