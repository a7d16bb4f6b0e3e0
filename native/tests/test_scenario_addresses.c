/* test_scenario_addresses.c - single multicast addresses that do not reach somebody, as with
 * switches that filter multicast: regions that use them fan out by unicast, and try again. */
#include <string.h>

#include "scenario.h"

enum { REGIONS_MAX = 64, NODES = 5 };
#define FALLS_BACK_NS (15 * WORLD_S)
#define RESTS_NS (60 * WORLD_S)

/* The region in use of all nodes, as this one knows it. */
static qsm_region_info region_of(world *all, uint32_t node) {
    qsm_region_info regions[REGIONS_MAX];
    const int count =
        qsm_engine_regions(qsm_sim_engine(world_sim(all), node), regions, REGIONS_MAX);
    for (int i = 0; i < count; i++)
        if (!regions[i].closing && regions[i].member && regions[i].alive_count > 1)
            return regions[i];
    CHECK_SAY(false, "node %u is in no region", node);
    return (qsm_region_info){0};
}

static bool is_by(world *all, bool unicast) {
    for (uint32_t i = 0; i < world_node_count(all); i++)
        if ((region_of(all, i).unicast != 0) != unicast) return false;
    return true;
}

/* All send now and then. Returns how long that took until it was so for all. */
static uint64_t talk_until(world *all, bool unicast, uint64_t limit_ns) {
    const uint64_t start_ns = world_now_ns(all);
    while (!is_by(all, unicast) && world_now_ns(all) - start_ns < limit_ns) {
        for (uint32_t i = 0; i < world_node_count(all); i++)
            (void)world_send(all, i, 0, 100);
        world_run(all, 100 * WORLD_MS);
    }
    const uint64_t took_ns = world_now_ns(all) - start_ns;
    CHECK_SAY(is_by(all, unicast), "not all by %s after %.1f s", unicast ? "unicast" : "multicast",
              (double)took_ns / 1e9);
    return took_ns;
}

static void talk(world *all, uint64_t duration_ns) {
    const uint64_t end_ns = world_now_ns(all) + duration_ns;
    while (world_now_ns(all) < end_ns) {
        for (uint32_t i = 0; i < world_node_count(all); i++)
            (void)world_send(all, i, 0, 100);
        world_run(all, 100 * WORLD_MS);
    }
}

static void block_address(world *all, uint32_t node, const qsm_address *address) {
    CHECK(qsm_sim_block_address(world_sim(all), node, address, true) == QSM_OK);
}

static uint64_t datagrams(world *all) {
    qsm_sim_traffic traffic;
    qsm_sim_get_traffic(world_sim(all), &traffic);
    return traffic.datagrams;
}

static void an_address_that_one_does_not_hear_rests_and_is_given_up_for_another(void) {
    world_options options = scenario_options(651, NODES, 1);
    world *all = scenario_begin(&options);
    const uint32_t deaf = (scenario_host(all) + 1) % NODES;
    const qsm_region_info before = region_of(all, deaf);
    talk(all, 5 * WORLD_S);
    const uint64_t calm = datagrams(all);
    talk(all, 5 * WORLD_S);
    const uint64_t usual = datagrams(all) - calm;
    block_address(all, deaf, &before.address);
    const uint64_t start = datagrams(all);
    const uint64_t fell_ns = talk_until(all, true, FALLS_BACK_NS);
    const double times = (double)(datagrams(all) - start) / ((double)fell_ns / 5e9) / (double)usual;
    scenario_figure("by unicast after %.1f s, with %.1f times the datagrams until then",
                    (double)fell_ns / 1e9, times);
    CHECK_SAY(times < 4, "repairs are a storm: %.1f times the datagrams", times);
    CHECK(world_counter_sum(all, "addresses_unheard") == 1);
    CHECK(world_counter_sum(all, "unheard_now") == 0);
    qsm_address missed;
    uint64_t rests_ns = 0;
    CHECK(qsm_engine_missed_address(qsm_sim_engine(world_sim(all), deaf), &missed, &rests_ns) == 1);
    CHECK(memcmp(&missed, &before.address, sizeof missed) == 0 && rests_ns <= RESTS_NS);
    const uint64_t back_ns = talk_until(all, false, 2 * RESTS_NS);
    scenario_figure("by multicast again after %.1f s", (double)back_ns / 1e9);
    CHECK(back_ns > RESTS_NS / 2);
    const qsm_region_info after = region_of(all, deaf);
    CHECK(memcmp(&after.address, &before.address, sizeof missed) != 0);
    CHECK(qsm_engine_missed_address(qsm_sim_engine(world_sim(all), deaf), &missed, &rests_ns) == 0);
    talk(all, 20 * WORLD_S);
    CHECK(is_by(all, false));
    scenario_end(all);
}

static void an_address_that_nobody_hears_is_not_used_for_long(void) {
    world_options options = scenario_options(652, NODES, 1);
    world *all = scenario_begin(&options);
    const qsm_region_info region = region_of(all, 0);
    for (uint32_t i = 0; i < NODES; i++)
        block_address(all, i, &region.address);
    const uint64_t fell_ns = talk_until(all, true, FALLS_BACK_NS);
    scenario_figure("by unicast after %.1f s", (double)fell_ns / 1e9);
    (void)talk_until(all, false, 2 * RESTS_NS);
    scenario_end(all);
}

/* Whatever address is tried: the pauses grow, and a newcomer's region does not try a new one. */
static void a_switch_that_drops_all_addresses_of_regions_is_tried_less_and_less(void) {
    world_options options = scenario_options(653, NODES, 1);
    world *all = scenario_begin(&options);
    const uint32_t deaf = (scenario_host(all) + 2) % NODES;
    uint64_t changes = world_counter(all, deaf, "addresses_unheard");
    for (uint32_t s = 0; s < 900; s++) {
        qsm_region_info region = region_of(all, deaf);
        if (region.unicast == 0) block_address(all, deaf, &region.address);
        for (uint32_t i = 0; i < NODES; i++)
            (void)world_send(all, i, 0, 100);
        world_run(all, WORLD_S);
    }
    changes = world_counter(all, deaf, "addresses_unheard") - changes;
    scenario_figure("%" PRIu64 " attempts in 15 minutes", changes);
    CHECK(changes >= 3 && changes <= 5);
    (void)talk_until(all, true, FALLS_BACK_NS);
    world_join(all, world_add_node(all, NULL), 0);
    (void)scenario_agree(all, 10 * WORLD_S, "a newcomer");
    talk(all, 2 * WORLD_S);
    CHECK_SAY(is_by(all, true), "the newcomer's region tries multicast at once");
    scenario_end(all);
}

static void who_is_forgotten_by_a_switch_joins_anew_and_stays_with_multicast(void) {
    world_options options = scenario_options(654, NODES, 1);
    world *all = scenario_begin(&options);
    const uint64_t before = world_counter(all, 0, "regions_installed");
    for (uint32_t i = 0; i < NODES; i++)
        CHECK(qsm_sim_set_snooping(world_sim(all), i, 260 * WORLD_S) == QSM_OK);
    talk(all, 600 * WORLD_S);
    scenario_figure("joined anew %" PRIu64 " times in ten minutes",
                    world_counter_sum(all, "addresses_renewed"));
    CHECK(world_counter_sum(all, "addresses_renewed") >= NODES * 2);
    CHECK(world_counter(all, 0, "regions_installed") == before);
    CHECK(world_counter_sum(all, "addresses_unheard") == 0);
    scenario_end(all);
}

static void a_new_host_knows_that_addresses_rest(void) {
    world_options options = scenario_options(655, NODES, 1);
    world *all = scenario_begin(&options);
    const uint32_t host = scenario_host(all), deaf = (host + 1) % NODES;
    const qsm_region_info region = region_of(all, deaf);
    block_address(all, deaf, &region.address);
    (void)talk_until(all, true, FALLS_BACK_NS);
    world_crash(all, host);
    const uint64_t start_ns = world_now_ns(all);
    bool never = true;
    while (world_now_ns(all) - start_ns < 10 * WORLD_S) {
        world_run(all, 20 * WORLD_MS);
        qsm_region_info regions[REGIONS_MAX];
        const int count =
            qsm_engine_regions(qsm_sim_engine(world_sim(all), deaf), regions, REGIONS_MAX);
        for (int i = 0; i < count; i++)
            never = never && (regions[i].closing || regions[i].unicast);
    }
    CHECK_SAY(never, "the new host had it listen to multicast");
    CHECK(oracle_seat_view_size(world_seat(all, deaf, 0)) == NODES - 1);
    scenario_end(all);
}

/* Thousands of messages a second, of which one node hears none at first hand. */
static void under_load_repairs_stay_bounded_until_the_region_goes_by_unicast(void) {
    world_options options = scenario_options(657, NODES, 1);
    options.link.bandwidth_bytes_per_s = 12500000;
    options.link.queue_bytes = 1 << 20;
    world *all = scenario_begin(&options);
    const uint32_t sender = scenario_host(all), deaf = (sender + 1) % NODES;
    const qsm_region_info region = region_of(all, deaf);
    block_address(all, deaf, &region.address);
    const uint64_t start = datagrams(all), start_ns = world_now_ns(all);
    uint64_t sent = 0;
    while (!is_by(all, true) && world_now_ns(all) - start_ns < FALLS_BACK_NS) {
        for (uint32_t i = 0; i < 20; i++)
            if (world_send(all, sender, 0, 1000) == QSM_OK) sent++;
        world_run(all, 10 * WORLD_MS);
    }
    const double each = (double)(datagrams(all) - start) / (double)sent;
    scenario_figure("%" PRIu64 " messages in %.1f s, %.2f datagrams each", sent,
                    (double)(world_now_ns(all) - start_ns) / 1e9, each);
    CHECK(is_by(all, true));
    CHECK_SAY(each < 4, "repairs are a storm: %.2f datagrams for a message", each);
    CHECK(world_counter_sum(all, "evicted") == 0);
    (void)scenario_settle(all, 5 * WORLD_S, "all that was sent");
    scenario_end(all);
}

static void losses_are_not_taken_for_an_address_that_is_not_heard(void) {
    world_options options = scenario_options(656, NODES, 1);
    options.link.loss_ppm = 200000;
    world *all = scenario_begin(&options);
    const uint64_t before = world_counter_sum(all, "addresses_unheard");
    talk(all, 120 * WORLD_S);
    CHECK(world_counter_sum(all, "addresses_unheard") == before);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(an_address_that_one_does_not_hear_rests_and_is_given_up_for_another),
        SCENARIO(an_address_that_nobody_hears_is_not_used_for_long),
        SCENARIO(a_switch_that_drops_all_addresses_of_regions_is_tried_less_and_less),
        SCENARIO(who_is_forgotten_by_a_switch_joins_anew_and_stays_with_multicast),
        SCENARIO(a_new_host_knows_that_addresses_rest),
        SCENARIO(under_load_repairs_stay_bounded_until_the_region_goes_by_unicast),
        SCENARIO(losses_are_not_taken_for_an_address_that_is_not_heard),
    };
    return SCENARIO_MAIN("test_scenario_addresses", scenarios);
}
