#include "bench_looks.h"

#include <string.h>

#include "bench_support.h"

enum { REGIONS_MAX = 64 };

void bench_look(qsm_engine *engine, bench_looks *looks) {
    qsm_region_info regions[REGIONS_MAX];
    int count = qsm_engine_regions(engine, regions, REGIONS_MAX);
    for (int i = 0; i < count && i < REGIONS_MAX; i++) {
        const qsm_region_info *region = &regions[i];
        if (region->closing) continue;
        looks->round_ns += region->token_round_ns;
        looks->rounds += region->token_round_ns != 0;
        if (region->ack_ns == 0) continue;
        looks->ack_ns += region->ack_ns;
        looks->acks++;
        looks->pending += region->unacknowledged_packets;
        if (region->unacknowledged_packets > looks->pending_most)
            looks->pending_most = region->unacknowledged_packets;
    }
}

double bench_mean(uint64_t sum, uint64_t looks) {
    return looks > 0 ? (double)sum / (double)looks : 0;
}

uint32_t bench_counter(const char *name) {
    for (uint32_t counter = 0; counter < qsm_counter_count(); counter++)
        if (strcmp(qsm_counter_name(counter), name) == 0) return counter;
    bench_fail("the engine has no such counter");
}
