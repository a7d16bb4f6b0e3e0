/* test_scenario_crash.c - nodes vanish: any of them, the leader of a region, half of them, the
 * host. */
#include "scenario.h"

static void flow_from_all(world *all, uint64_t duration_ns) {
    for (uint32_t i = 0; i < world_node_count(all); i++) {
        world_flow(all, i, 0, 200, 50 * WORLD_MS, world_now_ns(all) + duration_ns);
    }
}

/* Crashes the nodes of the mask and looks at how long the others stall. */
static void crash_mask(uint64_t seed, uint32_t node_count, uint64_t mask) {
    world_options options = scenario_options(seed, node_count, 2);
    world *all = scenario_begin(&options);
    flow_from_all(all, 20 * WORLD_S);
    world_run(all, 3 * WORLD_S);
    scenario_reset_stalls(all, 0);
    uint32_t crashed = 0;
    for (uint32_t i = 0; i < node_count; i++) {
        if ((mask >> i & 1) == 0) continue;
        world_crash(all, i);
        crashed++;
    }
    world_run(all, 5 * WORLD_S);
    const uint64_t stall_ns = scenario_stall_ns(all, 0, UINT32_MAX);
    scenario_reset_stalls(all, 0);
    world_run(all, 5 * WORLD_S);
    const uint64_t later_ns = scenario_stall_ns(all, 0, UINT32_MAX);
    scenario_figure("%u of %u crashed: stalled %.0f ms, %.0f ms after 5 s", crashed, node_count,
                    (double)stall_ns / 1e6, (double)later_ns / 1e6);
    CHECK_SAY(stall_ns <= 2 * WORLD_S, "survivors stall for at most 2 s");
    CHECK_SAY(later_ns <= 100 * WORLD_MS, "after 5 s all is as before");
    for (uint32_t i = 0; i < node_count; i++) {
        if ((mask >> i & 1) != 0) continue;
        CHECK_SAY(oracle_seat_view_size(world_seat(all, i, 0)) == node_count - crashed,
                  "the survivors are in the view, and nobody else");
    }
    for (uint32_t i = 0; i < node_count; i++) {
        if ((mask >> i & 1) == 0) continue;
        world_restart(all, i);
        world_join(all, i, 0);
        world_join(all, i, 1);
    }
    const uint64_t took_ns = scenario_agree(all, 15 * WORLD_S, "those who crashed come back");
    scenario_figure("back after %.1f s", (double)took_ns / 1e9);
    scenario_end(all);
}

static void any_node_may_crash(void) {
    crash_mask(20, 8, 1U << 5);
}

static void the_eldest_node_may_crash(void) {
    crash_mask(21, 8, 1U << 0);
}

static void half_of_the_nodes_may_crash(void) {
    crash_mask(22, 16, 0xaaaa);
}

static void the_elder_half_may_crash(void) {
    crash_mask(23, 12, 0x03f);
}

static void a_crashed_host_is_replaced_without_a_stall(void) {
    world_options options = scenario_options(50, 8, 2);
    world *all = scenario_begin(&options);
    flow_from_all(all, 60 * WORLD_S);
    world_run(all, 2 * WORLD_S);
    const uint32_t host = scenario_host(all);
    CHECK(host != UINT32_MAX);
    scenario_reset_stalls(all, 0);
    world_crash(all, host);
    const uint64_t crashed_ns = world_now_ns(all);
    while (scenario_host(all) == UINT32_MAX && world_now_ns(all) < crashed_ns + 20 * WORLD_S) {
        world_run(all, 50 * WORLD_MS);
    }
    const uint64_t replaced_ns = world_now_ns(all) - crashed_ns;
    while (!oracle_is_agreed(world_judge(all)) && world_now_ns(all) < crashed_ns + 20 * WORLD_S) {
        world_run(all, 10 * WORLD_MS);
    }
    const uint64_t viewed_ns = world_now_ns(all) - crashed_ns;
    const uint32_t joiner = world_add_node(all, NULL);
    world_join(all, joiner, 0);
    world_join(all, joiner, 1);
    world_run(all, 6 * WORLD_S);
    const uint64_t stall_ns = scenario_stall_ns(all, 0, joiner);
    scenario_figure(
        "a new host after %.2f s, a view without the old one after %.2f s, stalled %.0f ms",
        (double)replaced_ns / 1e9, (double)viewed_ns / 1e9, (double)stall_ns / 1e6);
    CHECK_SAY(viewed_ns <= 2 * WORLD_S, "a new view within 2 s");
    CHECK_SAY(stall_ns <= 2 * WORLD_S, "delivery goes on");
    CHECK_SAY(oracle_seat_view_size(world_seat(all, joiner, 0)) == 8, "the joiner is in");
    world_restart(all, host);
    world_join(all, host, 0);
    scenario_end(all);
}

/* Only one node may host; it is away for ten minutes. */
static void without_a_host_views_deliver_and_joins_wait(void) {
    world_options options = scenario_options(51, 1, 1);
    world *all = world_create(&options);
    qsm_config guest = options.config;
    guest.may_host = 0;
    world_join(all, 0, 0);
    for (uint32_t i = 1; i < 6; i++) {
        world_join(all, world_add_node(all, &guest), 0);
    }
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    world_crash(all, 0);
    for (uint32_t i = 1; i < 6; i++) {
        world_flow(all, i, 0, 200, 500 * WORLD_MS, world_now_ns(all) + 600 * WORLD_S);
    }
    world_run(all, 10 * WORLD_S);
    scenario_reset_stalls(all, 0);
    const uint32_t joiner = world_add_node(all, &guest);
    world_join(all, joiner, 0);
    world_run(all, 590 * WORLD_S);
    const uint64_t stall_ns = scenario_stall_ns(all, 0, joiner);
    scenario_figure("ten minutes without a host: longest stall %.0f ms", (double)stall_ns / 1e6);
    CHECK_SAY(stall_ns <= 2 * WORLD_S, "existing views keep delivering");
    CHECK_SAY(oracle_seat_view(world_seat(all, joiner, 0)) == 0, "the join waits");
    CHECK_SAY(world_health(all, joiner) == QSM_HEALTH_SEARCHING, "and says so");
    world_restart(all, 0);
    world_join(all, 0, 0);
    const uint64_t took_ns = scenario_agree(all, 15 * WORLD_S, "the host is back");
    scenario_figure("all agree %.1f s after the host is back", (double)took_ns / 1e9);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(any_node_may_crash),
        SCENARIO(the_eldest_node_may_crash),
        SCENARIO(half_of_the_nodes_may_crash),
        SCENARIO(the_elder_half_may_crash),
        SCENARIO(a_crashed_host_is_replaced_without_a_stall),
        SCENARIO(without_a_host_views_deliver_and_joins_wait),
    };
    return SCENARIO_MAIN("test_scenario_crash", scenarios);
}
