/* test_scenario_burst.c - many packets lost at once: repaired soon, with few packets, and without
 * disturbing those who lack nothing. */
#include "scenario.h"

/* Node 1 does not hear node 0, the sender, while a thousand packets pass. */
static void a_burst_of_a_thousand_packets_is_repaired_at_once(void) {
    world_options options = scenario_options(2, 6, 1);
    options.link.bandwidth_bytes_per_s = 12500000;
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 1200, 200 * WORLD_US, world_now_ns(all) + 4 * WORLD_S);
    world_run(all, WORLD_S);
    (void)qsm_sim_block(world_sim(all), 0, 1, true);
    const uint64_t before = oracle_seat_sent(world_seat(all, 0, 0));
    while (oracle_seat_sent(world_seat(all, 0, 0)) < before + 1000) {
        world_run(all, WORLD_MS);
    }
    const uint64_t lost = oracle_seat_sent(world_seat(all, 0, 0)) - before;
    const uint64_t upto = oracle_seat_sent(world_seat(all, 0, 0));
    (void)qsm_sim_block(world_sim(all), 0, 1, false);
    const uint64_t healed_ns = world_now_ns(all);
    while (oracle_seat_deliveries(world_seat(all, 1, 0)) < upto &&
           world_now_ns(all) < healed_ns + 5 * WORLD_S && world_failure(all) == NULL) {
        world_run(all, WORLD_MS);
    }
    const uint64_t took_ns = world_now_ns(all) - healed_ns;
    scenario_figure("%" PRIu64 " packets lost, repaired %.0f ms after the burst, %" PRIu64
                    " repairs, %" PRIu64 " requests",
                    lost, (double)took_ns / 1e6, scenario_repairs_made(all),
                    scenario_repairs_asked(all));
    CHECK_SAY(took_ns <= 500 * WORLD_MS, "repaired within 500 ms");
    CHECK_SAY(scenario_repairs_made(all) <= lost * 3 / 2,
              "at most 1.5 repairs for each lost packet");
    CHECK_SAY(scenario_repairs_asked(all) <= 150, "at most 150 requests");
    scenario_end(all);
}

/* What the whole region lacks is sent to all of it at once, not to each. */
static void what_nobody_has_the_sender_sends_to_all(void) {
    enum { NODES = 20 };
    world_options options = scenario_options(5, NODES, 1);
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 1000, WORLD_MS, world_now_ns(all) + 3 * WORLD_S);
    world_run(all, WORLD_S);
    const uint64_t before = oracle_seat_sent(world_seat(all, 0, 0));
    for (uint32_t i = 1; i < NODES; i++)
        (void)qsm_sim_block(world_sim(all), 0, i, true);
    world_run(all, 200 * WORLD_MS);
    const uint64_t lost = oracle_seat_sent(world_seat(all, 0, 0)) - before;
    for (uint32_t i = 1; i < NODES; i++)
        (void)qsm_sim_block(world_sim(all), 0, i, false);
    (void)scenario_settle(all, 5 * WORLD_S, "after a burst that nobody heard");
    scenario_figure("%" PRIu64 " packets lost by all %d others, %" PRIu64 " repairs (%" PRIu64
                    " to all), %" PRIu64 " requests",
                    lost, NODES - 1, scenario_repairs_made(all),
                    world_counter_sum(all, "repairs_multicast"), scenario_repairs_asked(all));
    CHECK_SAY(scenario_repairs_made(all) <= lost * 3 / 2 + 64,
              "at most 1.5 repairs for each lost packet");
    scenario_end(all);
}

/* The repairs that a frozen node needs, or the whole region because of it, do not grow into a
 * storm, and the others go on. */
static void a_frozen_node_causes_no_storm(uint64_t frozen_ns, uint64_t stall_ns_max) {
    enum { NODES = 60, SLEEPER = 7 };
    world_options options = scenario_options(6, NODES, 1);
    options.link.bandwidth_bytes_per_s = 12500000;
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 1000, 2 * WORLD_MS, world_now_ns(all) + frozen_ns + 3 * WORLD_S);
    world_run(all, WORLD_S);
    scenario_reset_stalls(all, 0);
    const uint64_t datagrams = world_counter_sum(all, "datagrams_sent");
    const uint64_t packets = world_counter_sum(all, "packets_sent");
    world_freeze(all, SLEEPER, frozen_ns);
    (void)qsm_sim_block(world_sim(all), 0, SLEEPER, true); /* as if its socket ran over at once */
    world_run(all, frozen_ns);
    (void)qsm_sim_block(world_sim(all), 0, SLEEPER, false);
    world_run(all, WORLD_S);
    const double sent = (double)(world_counter_sum(all, "packets_sent") - packets);
    const double others = (double)(world_counter_sum(all, "datagrams_sent") - datagrams) / sent;
    const uint64_t stall_ns = scenario_stall_ns(all, 0, SLEEPER);
    const uint64_t lost = world_counter_sum(all, "packets_lost");
    scenario_figure("frozen for %.0f s: %" PRIu64 " packets lost, %" PRIu64 " repairs, %" PRIu64
                    " requests; longest stall of the others %.0f ms; %.1f datagrams of all kinds"
                    " a packet",
                    (double)frozen_ns / 1e9, lost, scenario_repairs_made(all),
                    scenario_repairs_asked(all), (double)stall_ns / 1e6, others);
    CHECK_SAY(scenario_repairs_made(all) <= lost * 3 / 2 + 64,
              "at most 1.5 repairs for each lost packet");
    CHECK_SAY(stall_ns <= stall_ns_max, "the others do not stall for long");
    scenario_end(all);
}

static void a_node_frozen_for_a_second_causes_no_storm(void) {
    a_frozen_node_causes_no_storm(WORLD_S, 100 * WORLD_MS);
}

static void a_node_frozen_for_ten_seconds_causes_no_storm(void) {
    a_frozen_node_causes_no_storm(10 * WORLD_S, 2 * WORLD_S);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_burst_of_a_thousand_packets_is_repaired_at_once),
        SCENARIO(what_nobody_has_the_sender_sends_to_all),
        SCENARIO(a_node_frozen_for_a_second_causes_no_storm),
        SCENARIO(a_node_frozen_for_ten_seconds_causes_no_storm),
    };
    return SCENARIO_MAIN("test_scenario_burst", scenarios);
}
