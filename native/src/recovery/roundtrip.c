#include "recovery/roundtrip.h"

enum { MEAN_PARTS = 8, SPREAD_PARTS = 4, SPREADS = 3 };

void qsm_roundtrip_sample(qsm_roundtrip *roundtrip, uint64_t took_ns, bool only) {
    if (!only && took_ns <= roundtrip->mean_ns) return;
    if (roundtrip->mean_ns == 0) {
        *roundtrip = (qsm_roundtrip){.mean_ns = took_ns, .spread_ns = took_ns / 2};
        return;
    }
    uint64_t mean_ns = roundtrip->mean_ns;
    uint64_t off_ns = took_ns > mean_ns ? took_ns - mean_ns : mean_ns - took_ns;
    roundtrip->spread_ns += off_ns / SPREAD_PARTS - roundtrip->spread_ns / SPREAD_PARTS;
    roundtrip->mean_ns += took_ns / MEAN_PARTS - mean_ns / MEAN_PARTS;
}

uint64_t qsm_roundtrip_patience_ns(const qsm_roundtrip *roundtrip, uint64_t least_ns,
                                   uint64_t most_ns) {
    uint64_t patience_ns = roundtrip->mean_ns + SPREADS * roundtrip->spread_ns;
    if (patience_ns < least_ns) return least_ns;
    return patience_ns < most_ns ? patience_ns : most_ns;
}
