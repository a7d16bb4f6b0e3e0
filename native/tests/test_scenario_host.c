/* test_scenario_host.c - who hosts the membership service: nodes that insist, and one that must
 * not. */
#include "scenario.h"

static uint32_t add_insisting(world *all, qsm_config config) {
    config.may_host = QSM_HOST_INSISTS;
    const uint32_t node = world_add_node(all, &config);
    world_join(all, node, 0);
    return node;
}

static void one_who_insists_takes_over_from_a_running_host(void) {
    world_options options = scenario_options(120, 6, 1);
    options.link.loss_ppm = 50000;
    world *all = scenario_begin(&options);
    CHECK(scenario_host(all) != UINT32_MAX);
    world_flow(all, 2, 0, 200, 10 * WORLD_MS, world_now_ns(all) + 20 * WORLD_S);
    const uint32_t insisting = add_insisting(all, options.config);
    world_run(all, 10 * WORLD_S);
    CHECK_SAY(scenario_host(all) == insisting, "node %u hosts", scenario_host(all));
    world_run(all, 10 * WORLD_S);
    scenario_end(all);
}

static void of_two_who_insist_the_later_hosts_and_there_is_peace(void) {
    world_options options = scenario_options(121, 3, 1);
    world *all = scenario_begin(&options);
    const uint32_t first = add_insisting(all, options.config);
    world_run(all, 6 * WORLD_S);
    CHECK(scenario_host(all) == first);
    const uint32_t second = add_insisting(all, options.config);
    world_run(all, 6 * WORLD_S);
    CHECK(scenario_host(all) == second);
    const uint64_t merges = world_counter_sum(all, "merges");
    world_run(all, 60 * WORLD_S);
    CHECK(scenario_host(all) == second);
    CHECK(world_counter_sum(all, "merges") == merges);
    world_crash(all, second);
    (void)scenario_agree(all, 20 * WORLD_S, "after the crash of the one who insisted");
    world_restart(all, second);
    world_join(all, second, 0);
    world_run(all, 10 * WORLD_S);
    CHECK_SAY(scenario_host(all) == second, "after a restart it hosts again");
    scenario_end(all);
}

static void two_who_insist_and_start_at_once_agree(void) {
    for (uint64_t seed = 122; seed < 130; seed++) {
        world_options options = scenario_options(seed, 4, 1);
        world *all = scenario_begin(&options);
        const uint32_t first = add_insisting(all, options.config);
        const uint32_t second = add_insisting(all, options.config);
        world_run(all, 12 * WORLD_S);
        const uint32_t host = scenario_host(all);
        CHECK_SAY(host == first || host == second, "node %u hosts", host);
        scenario_end(all);
    }
}

/* The next in line has not been told the last view when the host dies: the others have delivered
 * what was sent in it. It takes over, but cannot be in a view with them before it begins anew. */
static void a_successor_that_missed_a_view_begins_anew(void) {
    world_options options = scenario_options(131, 1, 1);
    world *all = world_create(&options);
    world_join(all, 0, 0);
    while (world_node_count(all) < 6) { /* one after the other: the first hosts, then the second */
        (void)scenario_agree(all, 10 * WORLD_S, "coming up");
        world_join(all, world_add_node(all, NULL), 0);
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    for (uint32_t i = 1; i < 5; i++) {
        world_flow(all, i, 0, 200, 5 * WORLD_MS, world_now_ns(all) + 6 * WORLD_S);
    }
    (void)qsm_sim_block(world_sim(all), 0, 1, true);
    world_leave(all, 5, 0);
    world_run(all, 300 * WORLD_MS);
    CHECK(oracle_seat_view(world_seat(all, 1, 0)) < oracle_seat_view(world_seat(all, 2, 0)));
    world_crash(all, 0);
    world_run(all, 10 * WORLD_S);
    CHECK(world_counter(all, 1, "take_overs") > 0);
    CHECK(world_counter(all, 1, "evicted") > 0);
    scenario_end(all);
}

/* Engines that insist, one each second for a minute; each crashes a second after it has started. */
static void insisting_again_and_again_disturbs_nobody(void) {
    enum { HONEST = 5 };
    world_options options = scenario_options(132, HONEST, 1);
    world *all = scenario_begin(&options);
    uint32_t views = 0;
    for (uint32_t i = 0; i < HONEST; i++) {
        world_flow(all, i, 0, 100, 20 * WORLD_MS, world_now_ns(all) + 66 * WORLD_S);
        views += oracle_seat_views(world_seat(all, i, 0));
    }
    world_run(all, WORLD_S);
    scenario_reset_stalls(all, 0);
    for (uint32_t i = 0; i < 60; i++) {
        qsm_config config = options.config;
        config.may_host = QSM_HOST_INSISTS;
        const uint32_t rogue = world_add_node(all, &config);
        world_run(all, WORLD_S);
        world_crash(all, rogue);
    }
    uint64_t evicted = 0, merges = 0;
    uint32_t more = 0;
    for (uint32_t i = 0; i < HONEST; i++) {
        evicted += world_counter(all, i, "evicted");
        merges += world_counter(all, i, "merges");
        more += oracle_seat_views(world_seat(all, i, 0));
    }
    more -= views;
    const uint64_t stall_ns = scenario_stall_ns(all, 0, UINT32_MAX);
    scenario_figure("%" PRIu64
                    " of 60 replaced a host, %u views at %u members, longest stall %.0f ms",
                    merges, more, HONEST, (double)stall_ns / 1e6);
    CHECK_SAY(merges <= 3, "%" PRIu64 " of 60 replaced a host", merges);
    CHECK_SAY(evicted == 0, "%" PRIu64 " were put out", evicted);
    CHECK_SAY(more <= 8 * HONEST, "%u views", more);
    CHECK_SAY(stall_ns < 4 * WORLD_S, "a stall of %.1f s", (double)stall_ns / 1e9);
    scenario_end(all);
}

/* Whoever is refused goes on as an ordinary member, at once. */
static void one_who_insists_too_soon_becomes_a_member(void) {
    world_options options = scenario_options(133, 3, 1);
    world *all = scenario_begin(&options);
    uint32_t insisting[3];
    for (uint32_t i = 0; i < 3; i++) {
        insisting[i] = add_insisting(all, options.config);
        (void)scenario_agree(all, 10 * WORLD_S, "with one more who insists");
    }
    CHECK_SAY(scenario_host(all) == insisting[1], "node %u hosts", scenario_host(all));
    CHECK(world_counter_sum(all, "insists_refused") > 0);
    world_run(all, 60 * WORLD_S);
    const uint32_t later = add_insisting(all, options.config);
    (void)scenario_agree(all, 10 * WORLD_S, "with one who insists after a minute");
    CHECK_SAY(scenario_host(all) == later, "node %u hosts", scenario_host(all));
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(one_who_insists_takes_over_from_a_running_host),
        SCENARIO(of_two_who_insist_the_later_hosts_and_there_is_peace),
        SCENARIO(two_who_insist_and_start_at_once_agree),
        SCENARIO(a_successor_that_missed_a_view_begins_anew),
        SCENARIO(insisting_again_and_again_disturbs_nobody),
        SCENARIO(one_who_insists_too_soon_becomes_a_member),
    };
    return SCENARIO_MAIN("test_scenario_host", scenarios);
}
