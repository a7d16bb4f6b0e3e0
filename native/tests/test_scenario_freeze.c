/* test_scenario_freeze.c - a node that is not stepped for a while: the others go on, the sleeper is
 * told. */
#include "scenario.h"

#define SLEEPER 3U

static void freeze_for(uint64_t freeze_ns) {
    world_options options = scenario_options(10, 8, 2);
    world *all = scenario_begin(&options);
    const uint64_t end_ns = world_now_ns(all) + freeze_ns + 12 * WORLD_S;
    for (uint32_t i = 0; i < 8; i++) {
        world_flow(all, i, 0, 200, 50 * WORLD_MS, end_ns);
    }
    world_run(all, 2 * WORLD_S);
    const uint64_t view = oracle_seat_view(world_seat(all, 0, 0));
    const uint64_t slept_at = oracle_seat_deliveries(world_seat(all, SLEEPER, 0));
    scenario_reset_stalls(all, 0);
    world_freeze(all, SLEEPER, freeze_ns);
    world_run(all, freeze_ns - WORLD_MS);
    const uint64_t stall_ns = scenario_stall_ns(all, 0, SLEEPER);
    CHECK(oracle_seat_deliveries(world_seat(all, SLEEPER, 0)) == slept_at);
    world_run(all, 10 * WORLD_S);
    const bool same_view = oracle_seat_view(world_seat(all, 0, 0)) == view;
    scenario_figure("freeze of %.1f s: the others stalled %.0f ms, %s", (double)freeze_ns / 1e9,
                    (double)stall_ns / 1e6, same_view ? "same view" : "view changed");
    CHECK_SAY(stall_ns <= 2 * WORLD_S, "the others stall for at most 2 s");
    if (freeze_ns * 2 < options.config.failure_ns) {
        CHECK_SAY(same_view, "a freeze below the timeout changes no view");
    } else if (freeze_ns > 2 * options.config.failure_ns) {
        CHECK_SAY(!same_view, "a freeze above the timeout changes the view");
        CHECK_SAY(world_counter(all, SLEEPER, "suspensions") > 0,
                  "the sleeper notices that it slept");
    }
    scenario_end(all);
}

static void a_short_freeze_changes_nothing(void) {
    freeze_for(100 * WORLD_MS);
}

static void a_freeze_of_a_second_is_survived(void) {
    freeze_for(WORLD_S);
}

static void a_freeze_of_ten_seconds_puts_the_sleeper_out_and_it_returns(void) {
    freeze_for(10 * WORLD_S);
}

static void a_freeze_of_a_minute_puts_the_sleeper_out_and_it_returns(void) {
    freeze_for(60 * WORLD_S);
}

static void a_frozen_host_is_replaced_and_returns_as_a_member(void) {
    world_options options = scenario_options(11, 6, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 6; i++) {
        world_flow(all, i, 0, 200, 50 * WORLD_MS, world_now_ns(all) + 40 * WORLD_S);
    }
    const uint32_t host = scenario_host(all);
    CHECK(host != UINT32_MAX);
    world_freeze(all, host, 15 * WORLD_S);
    world_run(all, 40 * WORLD_S);
    CHECK(scenario_host(all) != UINT32_MAX);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_short_freeze_changes_nothing),
        SCENARIO(a_freeze_of_a_second_is_survived),
        SCENARIO(a_freeze_of_ten_seconds_puts_the_sleeper_out_and_it_returns),
        SCENARIO(a_freeze_of_a_minute_puts_the_sleeper_out_and_it_returns),
        SCENARIO(a_frozen_host_is_replaced_and_returns_as_a_member),
    };
    return SCENARIO_MAIN("test_scenario_freeze", scenarios);
}
