/* test_scenario_estate.c - what a crashed sender left behind: all survivors deliver it, or none. */
#include "scenario.h"

/* The sender dies while its packets are under way and only some have them. */
static void what_a_crashed_sender_sent_is_delivered_by_all_or_none(void) {
    for (uint64_t seed = 30; seed < 42; seed++) {
        world_options options = scenario_options(seed, 9, 3);
        options.config.policy = (uint32_t)(seed % 3);
        world *all = world_create(&options);
        /* Three regions at least: the groups overlap. */
        for (uint32_t i = 0; i < 9; i++) {
            world_join(all, i, 0);
            if (i % 3 != 0) world_join(all, i, 1);
            if (i % 3 != 1) world_join(all, i, 2);
        }
        (void)scenario_settle(all, 20 * WORLD_S, "coming up");
        qsm_sim_link link = options.link;
        link.loss_ppm = 300000;
        qsm_sim_set_link(world_sim(all), &link);
        world_pour(all, 4, 0, 400, 200);
        world_pour(all, 4, 1, 400, 200);
        world_run(all, (seed - 29) * 3 * WORLD_MS);
        world_crash(all, 4);
        qsm_sim_set_link(world_sim(all), &options.link);
        world_run(all, 5 * WORLD_S);
        scenario_end(all);
    }
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(what_a_crashed_sender_sent_is_delivered_by_all_or_none),
    };
    return SCENARIO_MAIN("test_scenario_estate", scenarios);
}
