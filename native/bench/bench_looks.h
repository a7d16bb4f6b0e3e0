/*
 * bench_looks.h - what nodes know of their regions, looked at now and then: how long an
 * acknowledgement takes and how much waits for one, at senders; how long a token, at leaders.
 */
#ifndef QSM_BENCH_LOOKS_H
#define QSM_BENCH_LOOKS_H

#include <stdint.h>

#include "qsm.h"

#define BENCH_LOOK_NS 5000000u /* between two looks */

typedef struct bench_looks {
    uint64_t acks, ack_ns, pending, pending_most; /* looks at senders, sums over those, the most */
    uint64_t rounds, round_ns;                    /* looks at leaders, and the sum over those */
} bench_looks;

/* One look at each region of the engine. */
void bench_look(qsm_engine *engine, bench_looks *looks);
/* Which counter of the engine has this name; ends the program when none has. */
uint32_t bench_counter(const char *name);
/* A sum by the number of looks; 0 of none. */
double bench_mean(uint64_t sum, uint64_t looks);

#endif
