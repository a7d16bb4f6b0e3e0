/* test_scenario_clock.c - clocks that drift and jump: no timeout fires early or late because of
 * them. */
#include "scenario.h"

static void drifting_clocks_change_no_view(void) {
    world_options options = scenario_options(80, 8, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 8; i++) {
        (void)qsm_sim_set_clock(world_sim(all), i, i % 2 == 0 ? 500 : -500, 0);
        world_flow(all, i, 0, 200, 100 * WORLD_MS, world_now_ns(all) + 120 * WORLD_S);
    }
    const uint64_t view = oracle_seat_view(world_seat(all, 0, 0));
    world_run(all, 120 * WORLD_S);
    CHECK_SAY(oracle_seat_view(world_seat(all, 0, 0)) == view, "no view changes for drift");
    scenario_end(all);
}

/* Clocks of nodes differ by an hour and a day from the start, as they do between machines. */
static void clocks_of_nodes_need_not_agree(void) {
    world_options options = scenario_options(81, 0, 1);
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t node = world_add_node(all, NULL);
        (void)qsm_sim_set_clock(world_sim(all), node, 0,
                                i % 3 == 0   ? 0
                                : i % 3 == 1 ? 3600 * WORLD_S
                                             : 86400 * WORLD_S);
        world_join(all, node, 0);
    }
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    const uint64_t view = oracle_seat_view(world_seat(all, 0, 0));
    for (uint32_t i = 0; i < 6; i++) {
        world_flow(all, i, 0, 200, 100 * WORLD_MS, world_now_ns(all) + 20 * WORLD_S);
    }
    world_run(all, 20 * WORLD_S);
    CHECK(oracle_seat_view(world_seat(all, 0, 0)) == view);
    scenario_end(all);
}

/* To a node, a jump of its clock is a sleep: it asks whether it is still in, and it is. */
static void a_jumping_clock_does_not_disturb_the_others(void) {
    world_options options = scenario_options(82, 6, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 6; i++) {
        world_flow(all, i, 0, 200, 50 * WORLD_MS, world_now_ns(all) + 40 * WORLD_S);
    }
    world_run(all, 2 * WORLD_S);
    for (uint32_t i = 1; i < 4; i++) {
        scenario_reset_stalls(all, 0);
        (void)qsm_sim_set_clock(world_sim(all), i, 0, i == 3 ? 86400 * WORLD_S : 3600 * WORLD_S);
        world_run(all, 8 * WORLD_S);
        const uint64_t stall_ns = scenario_stall_ns(all, 0, i);
        scenario_figure("clock of node %u jumped: the others stalled %.0f ms", i,
                        (double)stall_ns / 1e6);
        CHECK_SAY(stall_ns <= 2 * WORLD_S, "the others go on");
    }
    scenario_end(all);
}

/* Time from a crash to the view without the crashed node. */
static uint64_t detection_ns(int32_t drift_ppm) {
    world_options options = scenario_options(83, 5, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 5; i++) {
        (void)qsm_sim_set_clock(world_sim(all), i, drift_ppm, 0);
    }
    const uint32_t host = scenario_host(all);
    CHECK(host != UINT32_MAX);
    world_run(all, 5 * WORLD_S);
    const uint32_t victim = host == 4 ? 3 : 4, watcher = host == 0 ? 1 : 0;
    world_crash(all, victim);
    const uint64_t crashed_ns = world_now_ns(all);
    while (oracle_seat_view_size(world_seat(all, watcher, 0)) == 5 &&
           world_now_ns(all) < crashed_ns + 60 * WORLD_S) {
        world_run(all, 10 * WORLD_MS);
    }
    const uint64_t took_ns = world_now_ns(all) - crashed_ns;
    scenario_end(all);
    return took_ns;
}

static void timeouts_fire_on_time_under_drift(void) {
    const uint64_t true_ns = detection_ns(0), fast_ns = detection_ns(500),
                   slow_ns = detection_ns(-500);
    scenario_figure(
        "a crash is noticed after %.2f s; %.2f s with fast clocks, %.2f s with slow ones",
        (double)true_ns / 1e9, (double)fast_ns / 1e9, (double)slow_ns / 1e9);
    CHECK_SAY(fast_ns * 10 >= true_ns * 9 && fast_ns * 10 <= true_ns * 11, "within 10 %%");
    CHECK_SAY(slow_ns * 10 >= true_ns * 9 && slow_ns * 10 <= true_ns * 11, "within 10 %%");
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(drifting_clocks_change_no_view),
        SCENARIO(clocks_of_nodes_need_not_agree),
        SCENARIO(a_jumping_clock_does_not_disturb_the_others),
        SCENARIO(timeouts_fire_on_time_under_drift),
    };
    return SCENARIO_MAIN("test_scenario_clock", scenarios);
}
