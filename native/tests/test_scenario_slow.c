/* test_scenario_slow.c - one node cannot keep up, or its application does not read: the others do
 * not notice. */
#include "scenario.h"

#define SLOW 2U

/* Deliveries to the nodes but SLOW in ten seconds of full load, the first five not counted. */
static uint64_t deliveries_under_load(uint64_t cost_ns, uint64_t *held_bytes) {
    world_options options = scenario_options(90, 6, 1);
    options.link.bandwidth_bytes_per_s = 12500000;
    options.config.rate_bytes_per_s_max = 2000000;
    world *all = scenario_begin(&options);
    world_pour(all, 0, 0, 1000, 1000000);
    world_run(all, WORLD_S);
    (void)qsm_sim_set_cost(world_sim(all), SLOW, cost_ns);
    world_run(all, 5 * WORLD_S);
    const uint64_t before = scenario_deliveries_but(all, 0, SLOW);
    for (uint32_t i = 0; i < 50; i++) {
        world_run(all, 100 * WORLD_MS);
        for (uint32_t node = 0; node < 6; node++) {
            const uint64_t held = world_counter(all, node, "pool_bytes_now");
            if (held > *held_bytes) *held_bytes = held;
        }
    }
    const uint64_t count = scenario_deliveries_but(all, 0, SLOW) - before;
    if (cost_ns != 0) {
        scenario_figure("the slow node was put out %" PRIu64 " times",
                        world_counter(all, SLOW, "evicted"));
    }
    scenario_end(all);
    return count;
}

static void a_slow_node_does_not_slow_the_others(void) {
    uint64_t held_calm = 0, held_slow = 0;
    const uint64_t calm = deliveries_under_load(0, &held_calm);
    /* 2 MB/s are 2000 messages; a datagram and an event each at 2.5 ms are 200: a tenth. */
    const uint64_t slow = deliveries_under_load(2500 * WORLD_US, &held_slow);
    scenario_figure(
        "%" PRIu64 " deliveries a second without, %" PRIu64 " with a slow node (%.0f %%); at"
        " most %.1f MB held by one node",
        calm / 5, slow / 5, 100.0 * (double)slow / (double)calm, (double)held_slow / 1e6);
    CHECK_SAY(slow * 10 >= calm * 9, "the others keep 90 %% of their throughput");
    CHECK_SAY(held_slow <= 64U << 20, "at most 64 MB held");
}

static void an_application_that_does_not_read_does_not_hold_up_the_others(void) {
    world_options options = scenario_options(91, 6, 1);
    options.config.rate_bytes_per_s_max = 2000000;
    options.config.receive_bytes_max = 4 << 20;
    world *all = scenario_begin(&options);
    world_pour(all, 0, 0, 1000, 1000000);
    world_run(all, 2 * WORLD_S);
    (void)qsm_sim_set_deaf(world_sim(all), SLOW, true);
    world_run(all, 5 * WORLD_S);
    uint64_t before = scenario_deliveries_but(all, 0, SLOW);
    world_run(all, 10 * WORLD_S);
    const uint64_t rate = (scenario_deliveries_but(all, 0, SLOW) - before) / 10 / 5;
    const uint64_t held = world_counter(all, SLOW, "pool_bytes_now");
    scenario_figure("%" PRIu64
                    " messages a second to each of the others, %.1f MB held by the deaf one",
                    rate, (double)held / 1e6);
    CHECK_SAY(rate >= 1500, "the others go on");
    CHECK_SAY(held <= 8U << 20, "the deaf one holds what it was allowed to");
    (void)qsm_sim_set_deaf(world_sim(all), SLOW, false);
    world_run(all, 2 * WORLD_S);
    before = oracle_seat_deliveries(world_seat(all, SLOW, 0));
    world_run(all, 5 * WORLD_S);
    CHECK_SAY(oracle_seat_deliveries(world_seat(all, SLOW, 0)) > before, "it takes part again");
    scenario_end(all);
}

/* The next in line is slow and has said so, but the host vanished before it heard: now the slow one
 * hosts, and says so to itself. */
static void who_takes_over_and_does_not_read_gives_way(void) {
    enum { HOST, NEXT, OTHER };
    world_options options = scenario_options(92, 1, 1);
    options.config.receive_bytes_max = 1 << 20;
    world *all = scenario_begin(&options);
    for (uint32_t i = NEXT; i < 5; i++) { /* who comes first is first in line */
        world_join(all, world_add_node(all, NULL), 0);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    world_flow(all, OTHER, 0, 1000, 500 * WORLD_US, world_now_ns(all) + 20 * WORLD_S);
    (void)qsm_sim_set_deaf(world_sim(all), NEXT, true);
    world_run(all, options.config.lag_ns_max / 2);
    (void)qsm_sim_block(world_sim(all), NEXT, HOST, true);
    world_run(all, 1200 * WORLD_MS);
    world_crash(all, HOST);
    world_run(all, 4 * options.config.failure_ns);
    CHECK(world_counter(all, NEXT, "take_overs") == 1);
    CHECK(scenario_host(all) != NEXT);
    (void)qsm_sim_set_deaf(world_sim(all), NEXT, false);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_slow_node_does_not_slow_the_others),
        SCENARIO(an_application_that_does_not_read_does_not_hold_up_the_others),
        SCENARIO(who_takes_over_and_does_not_read_gives_way),
    };
    return SCENARIO_MAIN("test_scenario_slow", scenarios);
}
