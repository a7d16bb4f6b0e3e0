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

/* Repairs since a time, and what was lost. */
typedef struct {
    uint64_t lost, repairs;
} losses;

static losses losses_so_far(world *all) {
    return (losses){.lost = world_counter_sum(all, "packets_lost"),
                    .repairs = scenario_repairs_made(all)};
}

enum { NODES = 24, SLEEPER = 7, LINE = 12500000, BYTES = 1000 };

/* A region whose sender has been sending for half a second as fast as it is let, and goes on. */
static world *begin_at_full_rate(uint64_t seed) {
    world_options options = scenario_options(seed, NODES, 1);
    options.link.bandwidth_bytes_per_s = LINE;
    world *all = scenario_begin(&options);
    world_offer(all, 0, 0, BYTES, 20 * LINE / BYTES, 1);
    world_run(all, WORLD_S / 2);
    scenario_reset_stalls(all, 0);
    return all;
}

static void freeze(world *all, uint64_t frozen_ns) {
    world_freeze(all, SLEEPER, frozen_ns);
    (void)qsm_sim_block(world_sim(all), 0, SLEEPER, true); /* as if its socket ran over at once */
}

static void check_no_storm(world *all, losses before, uint64_t stall_ns, uint64_t stall_ns_max) {
    const losses after = losses_so_far(all);
    const uint64_t lost = after.lost - before.lost, repairs = after.repairs - before.repairs;
    scenario_figure("%" PRIu64 " packets lost, %" PRIu64
                    " repairs; longest stall of the others %.0f ms",
                    lost, repairs, (double)stall_ns / 1e6);
    CHECK_SAY(repairs <= lost * 3 / 2 + 64, "at most 1.5 repairs for each lost packet");
    CHECK_SAY(stall_ns <= stall_ns_max, "the others do not stall for long");
}

/* The sleeper stays a member: it gets all that it slept through, beside what goes on. */
static void a_node_frozen_for_a_second_causes_no_storm(void) {
    world *all = begin_at_full_rate(6);
    const losses before = losses_so_far(all);
    freeze(all, WORLD_S);
    world_run(all, WORLD_S);
    (void)qsm_sim_block(world_sim(all), 0, SLEEPER, false);
    world_run(all, WORLD_S);
    const uint64_t stall_ns = scenario_stall_ns(all, 0, SLEEPER);
    world_hush(all);
    (void)scenario_settle(all, 2 * WORLD_S, "all that was slept through");
    check_no_storm(all, before, stall_ns, 100 * WORLD_MS);
    CHECK(losses_so_far(all).lost - before.lost > LINE / BYTES / 2);
    scenario_end(all);
}

static void freeze_for_ten_seconds(uint64_t seed) {
    world *all = begin_at_full_rate(seed);
    const losses before = losses_so_far(all);
    freeze(all, 10 * WORLD_S);
    world_run(all, 3 * WORLD_S);
    check_no_storm(all, before, scenario_stall_ns(all, 0, SLEEPER), 2 * WORLD_S);
    world_hush(all); /* the others alone are no news */
    world_run(all, 7 * WORLD_S);
    (void)qsm_sim_block(world_sim(all), 0, SLEEPER, false);
    (void)scenario_agree(all, 5 * WORLD_S, "the sleeper is back");
    CHECK(losses_so_far(all).repairs - before.repairs < LINE / BYTES / 10);
    scenario_end(all);
}

/* The sleeper is put out, and begins anew when it wakes; nobody sends it what it missed. No word
 * comes while it sleeps: a sender that was above what the lines carry when that began, as with the
 * last of these seeds, must not go on like that. */
static void a_node_frozen_for_ten_seconds_causes_no_storm(void) {
    static const uint64_t seeds[] = {6, 5, 17};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        freeze_for_ten_seconds(seeds[i]);
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
