/*
 * patience.h - how often a node goes over to a host that insists: twice at once, then once a
 * minute. Every take-over costs all members a new view, so that nobody may cause many of them. All
 * members count, since any of them may host when the next one insists.
 */
#ifndef QSM_MEMBERSHIP_PATIENCE_H
#define QSM_MEMBERSHIP_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define QSM_INSISTS_AT_ONCE 2u
#define QSM_INSIST_PAUSE_NS UINT64_C(60000000000)

typedef struct {
    uint32_t spent;    /* take-overs that are still remembered */
    uint64_t since_ns; /* when the last of them happened, or was last forgotten */
} qsm_patience;

/* Forgets one take-over for each pause that has passed. */
static inline void qsm_patience_recover(qsm_patience *patience, uint64_t now_ns) {
    while (patience->spent > 0 && now_ns - patience->since_ns >= QSM_INSIST_PAUSE_NS) {
        patience->spent--;
        patience->since_ns += QSM_INSIST_PAUSE_NS;
    }
}

/* True while this node may go over to a host that insists. */
static inline bool qsm_patience_allows(qsm_patience *patience, uint64_t now_ns) {
    qsm_patience_recover(patience, now_ns);
    return patience->spent < QSM_INSISTS_AT_ONCE;
}

/* This node goes over to a host that insisted, or takes over itself. */
static inline void qsm_patience_spend(qsm_patience *patience, uint64_t now_ns) {
    qsm_patience_recover(patience, now_ns);
    if (patience->spent == 0) patience->since_ns = now_ns;
    if (patience->spent < QSM_INSISTS_AT_ONCE) patience->spent++;
}

/* Another node remembers so many. */
static inline void qsm_patience_learn(qsm_patience *patience, uint32_t spent, uint64_t now_ns) {
    qsm_patience_recover(patience, now_ns);
    if (spent > QSM_INSISTS_AT_ONCE) spent = QSM_INSISTS_AT_ONCE;
    if (spent <= patience->spent) return;
    if (patience->spent == 0) patience->since_ns = now_ns;
    patience->spent = spent;
}

#endif
