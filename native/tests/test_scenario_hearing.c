/* test_scenario_hearing.c - multicast that reaches some and not others: regions concerned fan out
 * by unicast, and go back when it reaches everybody again. */
#include <stdlib.h>

#include "scenario.h"

enum { REGIONS_MAX = 64 };
#define FALLS_BACK_NS (8 * WORLD_S)
#define STAYS_NS (7 * WORLD_S)
#define GOES_BACK_NS (25 * WORLD_S)

/* Whether that is how all regions are sent to that the node shares with others; a node with none
 * does not say so. */
static bool node_sends_by(world *all, uint32_t node, bool unicast) {
    qsm_region_info regions[REGIONS_MAX];
    const qsm_engine *engine = qsm_sim_engine(world_sim(all), node);
    const int count = engine == NULL ? 0 : qsm_engine_regions(engine, regions, REGIONS_MAX);
    bool some = false;
    for (int i = 0; i < count; i++) {
        if (regions[i].closing || !regions[i].member || regions[i].alive_count < 2) continue;
        some = true;
        if ((regions[i].unicast != 0) != unicast) return false;
    }
    return some;
}

static bool all_send_by(world *all, uint32_t first, uint32_t count, bool unicast) {
    for (uint32_t i = first; i < first + count; i++) {
        if (world_is_up(all, i) && !node_sends_by(all, i, unicast)) return false;
    }
    return true;
}

/* Runs until it is so; returns how long that took. */
static uint64_t wait_until_all_send_by(world *all, uint32_t first, uint32_t count, bool unicast,
                                       uint64_t limit_ns) {
    const uint64_t start_ns = world_now_ns(all);
    while (!all_send_by(all, first, count, unicast) && world_now_ns(all) - start_ns < limit_ns) {
        world_run(all, 100 * WORLD_MS);
    }
    const uint64_t took_ns = world_now_ns(all) - start_ns;
    CHECK_SAY(all_send_by(all, first, count, unicast), "nodes %u to %u not by %s after %.1f s",
              first, first + count - 1, unicast ? "unicast" : "multicast", (double)took_ns / 1e9);
    return took_ns;
}

static void block(world *all, uint32_t from, uint32_t to, bool blocked) {
    CHECK(qsm_sim_block_multicast(world_sim(all), from, to, blocked) == QSM_OK);
}

static void pour_from_all(world *all) {
    for (uint32_t i = 0; i < world_node_count(all); i++) {
        if (world_seat(all, i, 0) != NULL) world_pour(all, i, 0, 200, 50);
    }
}

static void a_host_that_hears_no_multicast_has_its_regions_go_by_unicast(void) {
    world_options options = scenario_options(601, 5, 2);
    world *all = scenario_begin(&options);
    const uint32_t host = scenario_host(all);
    CHECK(all_send_by(all, 0, 5, false));
    for (uint32_t i = 0; i < 5; i++)
        if (i != host) block(all, i, host, true);
    const uint64_t fell_ns = wait_until_all_send_by(all, 0, 5, true, FALLS_BACK_NS);
    CHECK(world_counter(all, host, "unheard_now") == 4);
    qsm_address unheard[8];
    CHECK(qsm_engine_unheard(qsm_sim_engine(world_sim(all), host), unheard, 8) == 4);
    CHECK(qsm_engine_unheard(qsm_sim_engine(world_sim(all), host), unheard, 3) == 3);
    pour_from_all(all);
    (void)scenario_settle(all, 5 * WORLD_S, "messages by unicast");
    for (uint32_t i = 0; i < 5; i++)
        if (i != host) block(all, i, host, false);
    world_run(all, STAYS_NS);
    CHECK_SAY(all_send_by(all, 0, 5, true), "back to multicast too soon to be sure of it");
    const uint64_t back_ns = STAYS_NS + wait_until_all_send_by(all, 0, 5, false, GOES_BACK_NS);
    scenario_figure("by unicast after %.1f s, by multicast again after %.1f s",
                    (double)fell_ns / 1e9, (double)back_ns / 1e9);
    CHECK(world_counter(all, host, "unheard_now") == 0);
    scenario_end(all);
}

static void small_regions_of_who_prefers_unicast_go_by_unicast(void) {
    world_options options = scenario_options(611, 7, 2);
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 7; i++)
        world_join(all, i, i / 4);
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    CHECK(all_send_by(all, 0, 7, false));
    qsm_engine *engine = qsm_sim_engine(world_sim(all), 5);
    qsm_engine_prefer_unicast(engine, 1);
    (void)wait_until_all_send_by(all, 4, 3, true, WORLD_S);
    CHECK_SAY(all_send_by(all, 0, 4, false), "regions of others are as before");
    pour_from_all(all);
    world_pour(all, 5, 1, 200, 50);
    (void)scenario_settle(all, 5 * WORLD_S, "messages by unicast");
    CHECK(world_counter(all, 5, "unheard_now") == 0);
    /* A host that comes after is told, too. */
    world_crash(all, scenario_host(all));
    (void)scenario_settle(all, 20 * WORLD_S, "another host");
    CHECK(node_sends_by(all, 5, true) || scenario_host(all) == UINT32_MAX);
    qsm_engine_prefer_unicast(engine, 0);
    (void)wait_until_all_send_by(all, 4, 3, false, WORLD_S);
    scenario_end(all);
}

static void large_regions_use_multicast_whatever_single_nodes_prefer(void) {
    world_options options = scenario_options(612, 34, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 34; i += 2)
        qsm_engine_prefer_unicast(qsm_sim_engine(world_sim(all), i), 1);
    world_run(all, 2 * WORLD_S);
    CHECK(all_send_by(all, 0, 34, false));
    world_crash(all, 1);
    world_crash(all, 3);
    (void)wait_until_all_send_by(all, 0, 34, true, 10 * WORLD_S);
    for (uint32_t i = 0; i < 34; i += 2)
        qsm_engine_prefer_unicast(qsm_sim_engine(world_sim(all), i), 0);
    (void)wait_until_all_send_by(all, 0, 34, false, 10 * WORLD_S);
    scenario_end(all);
}

static void multicast_that_fails_between_any_two_one_way_is_noticed(void) {
    world_options options = scenario_options(602, 4, 1);
    world *all = scenario_begin(&options);
    for (uint32_t from = 0; from < 4; from++) {
        for (uint32_t to = 0; to < 4; to++) {
            if (from == to) continue;
            block(all, from, to, true);
            (void)wait_until_all_send_by(all, 0, 4, true, FALLS_BACK_NS);
            pour_from_all(all);
            (void)scenario_settle(all, 5 * WORLD_S, "messages by unicast");
            block(all, from, to, false);
            (void)wait_until_all_send_by(all, 0, 4, false, GOES_BACK_NS);
        }
    }
    scenario_end(all);
}

static void only_regions_in_which_somebody_is_not_heard_go_by_unicast(void) {
    world_options options = scenario_options(603, 6, 2);
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 6; i++)
        world_join(all, i, i / 3);
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    block(all, 3, 4, true);
    (void)wait_until_all_send_by(all, 3, 3, true, FALLS_BACK_NS);
    block(all, 0, 4, true); /* they have no region in common */
    world_run(all, 20 * WORLD_S);
    CHECK(all_send_by(all, 0, 3, false));
    scenario_end(all);
}

static void senders_from_outside_a_region_must_be_heard_in_it(void) {
    world_options options = scenario_options(604, 6, 2);
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 6; i++)
        world_join(all, i, 0);
    for (uint32_t i = 0; i < 3; i++)
        world_join(all, i, 1); /* so that group 0 has two regions */
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    block(all, 0, 4, true);
    (void)wait_until_all_send_by(all, 3, 3, true, FALLS_BACK_NS);
    CHECK(all_send_by(all, 0, 3, false));
    pour_from_all(all);
    (void)scenario_settle(all, 5 * WORLD_S, "messages by both ways");
    scenario_end(all);
}

static void multicast_that_comes_and_goes_is_not_gone_back_to(void) {
    world_options options = scenario_options(605, 4, 1);
    world *all = scenario_begin(&options);
    block(all, 1, 0, true);
    (void)wait_until_all_send_by(all, 0, 4, true, FALLS_BACK_NS);
    const uint64_t before = world_counter(all, 0, "regions_installed");
    for (uint32_t i = 0; i < 20; i++) {
        world_run(all, 6 * WORLD_S);
        block(all, 1, 0, i % 2 != 0);
    }
    CHECK(world_counter(all, 0, "regions_installed") == before);
    scenario_end(all);
}

static void heavy_losses_do_not_change_regions_all_the_time(void) {
    world_options options = scenario_options(606, 8, 1);
    options.link.loss_ppm = 200000;
    world *all = scenario_begin(&options);
    const uint64_t before = world_counter(all, 0, "regions_installed");
    world_run(all, 300 * WORLD_S);
    const uint64_t changes = world_counter(all, 0, "regions_installed") - before;
    scenario_figure("%" PRIu64 " changes in five minutes with one packet in five lost", changes);
    CHECK(changes <= 10);
    scenario_end(all);
}

static void a_new_host_knows_who_is_not_heard(void) {
    world_options options = scenario_options(607, 5, 1);
    world *all = scenario_begin(&options);
    const uint32_t host = scenario_host(all);
    const uint32_t from = (host + 1) % 5, to = (host + 2) % 5;
    block(all, from, to, true);
    (void)wait_until_all_send_by(all, 0, 5, true, FALLS_BACK_NS);
    world_crash(all, host);
    const uint64_t start_ns = world_now_ns(all);
    bool never = true;
    while (world_now_ns(all) - start_ns < 10 * WORLD_S) {
        world_run(all, 10 * WORLD_MS);
        for (uint32_t i = 0; i < 5; i++)
            never = never && !(world_is_up(all, i) && node_sends_by(all, i, false));
    }
    CHECK_SAY(never, "somebody sent by multicast for a while");
    CHECK(scenario_host(all) < 5);
    CHECK(oracle_seat_view_size(world_seat(all, from, 0)) == 4);
    scenario_end(all);
}

/* The host's multicast reaches nobody, and nobody's reaches it; a newcomer does not know it. */
static void members_introduce_hosts_that_do_not_hear_each_other(void) {
    world_options options = scenario_options(608, 1, 1);
    world *all = scenario_begin(&options);
    qsm_config config = options.config;
    config.known_peer_count = 1;
    config.known_peers[0] = (qsm_address){.family = QSM_FAMILY_SIM};
    for (uint32_t i = 1; i < 4; i++) {
        world_join(all, world_add_node(all, i < 3 ? &config : NULL), 0);
        for (uint32_t j = 0; j < i; j++) {
            if (i < 3 && j > 0) continue; /* the members hear each other, and the newcomer */
            block(all, 0, i, true);
            block(all, i, 0, true);
        }
        if (i == 2) (void)scenario_settle(all, 5 * WORLD_S, "those who know the host");
    }
    world_run(all, 2 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, 3, 0)) == 1);
    const uint64_t took_ns = scenario_agree(all, 20 * WORLD_S, "the newcomer's host is met");
    scenario_figure("one view after %.1f s", (double)took_ns / 1e9);
    CHECK(oracle_seat_view_size(world_seat(all, 0, 0)) == 4);
    (void)wait_until_all_send_by(all, 0, 4, true, FALLS_BACK_NS);
    scenario_end(all);
}

/* Who can hear nobody says so to a host that it comes to, so that nobody tries in vain first. */
static void somebody_deaf_who_comes_back_goes_by_unicast_from_the_start(void) {
    world_options options = scenario_options(609, 4, 1);
    world *all = scenario_begin(&options);
    const uint32_t deaf = (scenario_host(all) + 1) % 4;
    for (uint32_t i = 0; i < 4; i++)
        if (i != deaf) block(all, i, deaf, true);
    (void)wait_until_all_send_by(all, 0, 4, true, FALLS_BACK_NS);
    world_run(all, 2 * WORLD_S);          /* it has missed the calls of all three */
    world_freeze(all, deaf, 4 * WORLD_S); /* and is put out */
    world_run(all, 3 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, scenario_host(all), 0)) == 3);
    const uint64_t start_ns = world_now_ns(all);
    bool never = true;
    while (world_now_ns(all) - start_ns < 10 * WORLD_S) {
        world_run(all, 20 * WORLD_MS);
        never = never && !node_sends_by(all, deaf, false);
    }
    CHECK_SAY(never, "somebody sent to it by multicast for a while");
    CHECK(oracle_seat_view_size(world_seat(all, deaf, 0)) == 4);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_host_that_hears_no_multicast_has_its_regions_go_by_unicast),
        SCENARIO(small_regions_of_who_prefers_unicast_go_by_unicast),
        SCENARIO(large_regions_use_multicast_whatever_single_nodes_prefer),
        SCENARIO(multicast_that_fails_between_any_two_one_way_is_noticed),
        SCENARIO(only_regions_in_which_somebody_is_not_heard_go_by_unicast),
        SCENARIO(senders_from_outside_a_region_must_be_heard_in_it),
        SCENARIO(multicast_that_comes_and_goes_is_not_gone_back_to),
        SCENARIO(heavy_losses_do_not_change_regions_all_the_time),
        SCENARIO(a_new_host_knows_who_is_not_heard),
        SCENARIO(members_introduce_hosts_that_do_not_hear_each_other),
        SCENARIO(somebody_deaf_who_comes_back_goes_by_unicast_from_the_start),
    };
    return SCENARIO_MAIN("test_scenario_hearing", scenarios);
}
