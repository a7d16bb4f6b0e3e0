/*
 * bench_report.h - what came of a run of engine_udp, from what its processes told: one line of
 * JSON.
 */
#ifndef QSM_BENCH_REPORT_H
#define QSM_BENCH_REPORT_H

#include "bench_looks.h"
#include "bench_member.h"

/* What the sender measured. */
typedef struct outcome {
    uint64_t sent, delivered, delivered_all;
    double seconds, sender_cpu_s;
    bench_looks looks;
} outcome;

void bench_report(common *shared, const options *chosen, const outcome *result);

#endif
