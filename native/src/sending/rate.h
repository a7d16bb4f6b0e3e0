/*
 * rate.h - how fast a sender may send into a region: a token bucket whose rate follows what the
 * region has been able to acknowledge. It falls towards the measured rate when members lose
 * packets, and rises while they do not, so independent losses on the wire do not starve it and an
 * overloaded receiver does.
 */
#ifndef QSM_SENDING_RATE_H
#define QSM_SENDING_RATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t bytes_per_s;
    uint64_t bytes_per_s_max; /* 0: none */
    int64_t credit_bytes;
    uint64_t refilled_ns;
    uint64_t measured_bytes_per_s; /* acknowledged, smoothed */
    uint64_t measured_from_ns;
    uint64_t measured_bytes;
    bool limited; /* the bucket was empty since the last feedback */
} qsm_rate;

void qsm_rate_init(qsm_rate *rate, uint64_t bytes_per_s_max, uint64_t now_ns);
/* True when a packet may go now. */
bool qsm_rate_allows(qsm_rate *rate, uint64_t now_ns);
void qsm_rate_spend(qsm_rate *rate, uint32_t bytes);
/* When the next packet may go. */
uint64_t qsm_rate_next_ns(const qsm_rate *rate);
/* Feedback of the region: bytes newly acknowledged, packets in them, greatest loss of a member.
 * True when the rate was lowered. */
bool qsm_rate_feedback(qsm_rate *rate, uint64_t now_ns, uint64_t bytes, uint64_t packets,
                       uint32_t lost);

#endif
