/*
 * lateness.h - when a missing packet of a stream counts as lost, and not as overtaken by later
 * ones: when it is later than packets of this stream have been seen to come, with something to
 * spare. Knows nothing of slots; the stream tells it how far it has come and what came late.
 */
#ifndef QSM_RECEIVING_LATENESS_H
#define QSM_RECEIVING_LATENESS_H

#include <stdint.h>

enum { QSM_LATENESS_MARKS = 16 };

typedef struct {
    uint64_t window_ns; /* what is missing for so long after a later one has come is lost */
    uint64_t latest_ns; /* greatest lateness seen since `eased_ns` */
    uint64_t eased_ns;
    /* Ring: what is missing up to `upto` had been overtaken at `at_ns`; both grow. */
    struct {
        uint64_t upto, at_ns;
    } marks[QSM_LATENESS_MARKS];
    uint32_t mark_count; /* that were ever made */
} qsm_lateness;

/* `window_ns`: what is known of other streams on the same lines; 0: nothing. */
void qsm_lateness_init(qsm_lateness *lateness, uint64_t window_ns);
/* A packet `upto` has come while earlier ones are missing. */
void qsm_lateness_reached(qsm_lateness *lateness, uint64_t upto, uint64_t now_ns);
/* A packet has come that later ones had overtaken; sent once, by its sender. */
void qsm_lateness_came(qsm_lateness *lateness, uint64_t sequence, uint64_t now_ns);
/* What is missing up to here is lost, when the stream came as far as `upto` at last, `last_ns`. */
uint64_t qsm_lateness_lost_upto(qsm_lateness *lateness, uint64_t upto, uint64_t last_ns,
                                uint64_t now_ns);
/* When that will be more, if nothing comes. */
uint64_t qsm_lateness_next_ns(const qsm_lateness *lateness, uint64_t last_ns, uint64_t now_ns);

#endif
