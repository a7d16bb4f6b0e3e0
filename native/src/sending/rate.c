#include "sending/rate.h"

enum { RATE_START = 50000000, RATE_MIN = 200000, BURST_NS = 4000000, BURST_BYTES_MIN = 65536 };
static const uint64_t RATE_TOP = 20000000000ull;

void qsm_rate_init(qsm_rate *rate, uint64_t bytes_per_s_max, uint64_t now_ns) {
    *rate = (qsm_rate){.bytes_per_s = RATE_START,
                       .bytes_per_s_max = bytes_per_s_max ? bytes_per_s_max : RATE_TOP,
                       .credit_bytes = BURST_BYTES_MIN,
                       .refilled_ns = now_ns,
                       .measured_from_ns = now_ns};
    if (rate->bytes_per_s > rate->bytes_per_s_max) rate->bytes_per_s = rate->bytes_per_s_max;
}

static int64_t burst_bytes(const qsm_rate *rate) {
    uint64_t bytes = rate->bytes_per_s / 1000 * (BURST_NS / 1000000);
    return bytes < BURST_BYTES_MIN ? BURST_BYTES_MIN : (int64_t)bytes;
}

bool qsm_rate_allows(qsm_rate *rate, uint64_t now_ns) {
    uint64_t elapsed = now_ns - rate->refilled_ns;
    if (elapsed > 1000000000) elapsed = 1000000000;
    if (elapsed >= 10000) {
        rate->credit_bytes += (int64_t)(rate->bytes_per_s / 1000 * (elapsed / 1000) / 1000);
        rate->refilled_ns = now_ns;
        if (rate->credit_bytes > burst_bytes(rate)) rate->credit_bytes = burst_bytes(rate);
    }
    if (rate->credit_bytes > 0) return true;
    rate->limited = true;
    return false;
}

void qsm_rate_spend(qsm_rate *rate, uint32_t bytes) {
    rate->credit_bytes -= bytes;
}

uint64_t qsm_rate_next_ns(const qsm_rate *rate) {
    if (rate->credit_bytes > 0) return rate->refilled_ns;
    uint64_t wait = (uint64_t)(1 - rate->credit_bytes) * 1000000000ull / rate->bytes_per_s;
    return rate->refilled_ns + (wait < 50000 ? 50000 : wait);
}

bool qsm_rate_feedback(qsm_rate *rate, uint64_t now_ns, uint64_t bytes, uint64_t packets,
                       uint32_t lost) {
    rate->measured_bytes += bytes;
    uint64_t elapsed = now_ns - rate->measured_from_ns;
    if (elapsed > 5000000) {
        uint64_t measured = rate->measured_bytes * 1000 / (elapsed / 1000000);
        rate->measured_bytes_per_s = rate->measured_bytes_per_s == 0
                                         ? measured
                                         : (rate->measured_bytes_per_s * 3 + measured) / 4;
        rate->measured_bytes = 0;
        rate->measured_from_ns = now_ns;
    }
    bool lossy = lost > 8 && lost * 50ull > packets; /* more than two percent at some member */
    bool lowered = false;
    if (lossy) {
        /* Never below what has been getting through: that much the region can take. */
        uint64_t floor = rate->measured_bytes_per_s + rate->measured_bytes_per_s / 20;
        uint64_t lower = rate->bytes_per_s - rate->bytes_per_s / 8;
        uint64_t next = lower > floor ? lower : floor;
        lowered = next < rate->bytes_per_s;
        if (lowered) rate->bytes_per_s = next;
    } else if (rate->limited) {
        rate->bytes_per_s += rate->bytes_per_s / 8;
    }
    rate->limited = false;
    if (rate->bytes_per_s < RATE_MIN) rate->bytes_per_s = RATE_MIN;
    if (rate->bytes_per_s > rate->bytes_per_s_max) rate->bytes_per_s = rate->bytes_per_s_max;
    return lowered;
}
