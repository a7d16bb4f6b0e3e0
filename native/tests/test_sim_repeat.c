/* test_sim_repeat.c - same seed, same run, bit for bit; and how much faster than the clock the
 * simulator is. */
#include <time.h>

#include "scenario.h"

static uint64_t hash_of_a_run(uint64_t seed, bool crash) {
    world_options options = world_defaults(seed, 8, 4);
    options.link.loss_ppm = 30000;
    options.link.jitter_ns = 5 * WORLD_MS;
    options.link.duplicate_ppm = 10000;
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t group = 0; group < 4; group++) {
            if ((i + group) % 3 != 0) world_join(all, i, group);
        }
        world_flow(all, i, (i + 1) % 4, 200, 20 * WORLD_MS, world_now_ns(all) + 6 * WORLD_S);
    }
    world_run(all, 3 * WORLD_S);
    if (crash) world_crash(all, 3);
    world_freeze(all, 2, 300 * WORLD_MS);
    world_run(all, 5 * WORLD_S);
    const uint64_t hash = qsm_sim_trace_hash(world_sim(all));
    world_destroy(all);
    return hash;
}

static void the_same_seed_gives_the_same_run(void) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        CHECK_SAY(hash_of_a_run(seed, true) == hash_of_a_run(seed, true),
                  "seed %" PRIu64 " gives the same run twice", seed);
    }
}

static void another_seed_or_fault_gives_another_run(void) {
    CHECK(hash_of_a_run(1, true) != hash_of_a_run(2, true));
    CHECK(hash_of_a_run(1, true) != hash_of_a_run(1, false));
}

/* Printed, not asked: a busy machine must not fail a test. */
static void sixteen_nodes_run_faster_than_the_clock(void) {
    world_options options = scenario_options(3, 16, 4);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 16; i++) {
        world_flow(all, i, i % 4, 200, 200 * WORLD_MS, world_now_ns(all) + 60 * WORLD_S);
    }
    const clock_t start = clock();
    world_run(all, 60 * WORLD_S);
    const double took_s = (double)(clock() - start) / CLOCKS_PER_SEC;
    scenario_figure("16 nodes, 80 messages a second: %.0f times real time", 60 / took_s);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(the_same_seed_gives_the_same_run),
        SCENARIO(another_seed_or_fault_gives_another_run),
        SCENARIO(sixteen_nodes_run_faster_than_the_clock),
    };
    return SCENARIO_MAIN("test_sim_repeat", scenarios);
}
