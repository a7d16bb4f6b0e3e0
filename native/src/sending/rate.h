/*
 * rate.h - how fast a sender may send into a region: a token bucket whose rate follows what the
 * region has been able to acknowledge. It falls towards the measured rate when members lose
 * packets, and rises while they do not, so independent losses on the wire do not starve it and an
 * overloaded receiver does.
 *
 * It begins low while nothing is known of the lines, else with half of what they have carried for
 * other regions, and climbs: each time that all sent since the last step has been acknowledged, it
 * becomes twice what was, until the lines carry no more or members lose packets.
 */
#ifndef QSM_SENDING_RATE_H
#define QSM_SENDING_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* The time until what was sent since the last one is acknowledged. */
typedef struct {
    uint64_t began_ns, from_ns; /* the latter: the first of its packets was sent, in the round */
    uint64_t sent_from_ns;      /* the first of its packets was sent, perhaps before */
    uint64_t bytes, packets;    /* acknowledged */
    uint64_t lost;
    bool limited; /* the rate has held the sender back */
} qsm_rate_round;

/* What has been acknowledged in a longer time. */
typedef struct {
    uint64_t bytes_per_s; /* 0: not known */
    uint64_t from_ns, bytes;
    bool limited; /* the rate has held the sender back */
} qsm_rate_steady;

typedef struct {
    uint64_t bytes_per_s;
    uint64_t bytes_per_s_max; /* 0: none */
    int64_t credit_bytes;
    uint64_t refilled_ns;
    uint64_t measured_bytes_per_s; /* acknowledged, smoothed */
    uint64_t measured_from_ns;
    uint64_t measured_bytes;
    qsm_rate_steady steady;
    uint64_t awaited_ns; /* what is to be acknowledged next was sent about then; 0: nothing is */
    bool silent;         /* no word has come for long */
    bool limited;        /* the bucket was empty since the last feedback */
    uint32_t burst_bytes_min;
    bool climbing;
    bool lossy;          /* members lost packets in the last round */
    uint8_t rounds_flat; /* in a row that brought hardly more than the best before */
    uint64_t best_bytes_per_s;
    uint64_t bytes_per_s_before; /* in the last round */
    uint64_t soonest_ns;         /* least time from sending to acknowledgement */
    qsm_rate_round round;
} qsm_rate;

/* `known_bytes_per_s`: what the same lines have carried before; 0: nothing is known of them. */
void qsm_rate_init(qsm_rate *rate, uint64_t bytes_per_s_max, uint64_t known_bytes_per_s,
                   uint64_t now_ns);
/* A rate that somebody else controls, with that much at once after a pause. */
void qsm_rate_set(qsm_rate *rate, uint64_t bytes_per_s, uint32_t burst_bytes);
/* True when a packet may go now. */
bool qsm_rate_allows(qsm_rate *rate, uint64_t now_ns);
/* True unless so much is under way that more would only wait in front of the lines, as far as they
 * are known: while the rate climbs. */
bool qsm_rate_has_room(qsm_rate *rate, uint64_t unacknowledged_bytes);
void qsm_rate_spend(qsm_rate *rate, uint32_t bytes);
/* When the next packet may go. */
uint64_t qsm_rate_next_ns(const qsm_rate *rate);
/* Feedback of a region. */
typedef struct {
    uint64_t bytes, packets; /* newly acknowledged */
    uint64_t sent_ns;        /* the first of them */
    uint64_t last_sent_ns;
    uint64_t awaited_ns; /* the first that is not yet acknowledged; 0: there is none */
    uint32_t lost;       /* greatest loss of a member */
} qsm_rate_news;
/* True when the rate was lowered. */
bool qsm_rate_feedback(qsm_rate *rate, uint64_t now_ns, const qsm_rate_news *news);

#endif
