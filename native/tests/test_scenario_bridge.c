/* test_scenario_bridge.c - two halves that cannot hear each other, and a node between that hears
 * both. */
#include "scenario.h"

static void flow_from_all(world *all, uint64_t duration_ns) {
    for (uint32_t i = 0; i < world_node_count(all); i++) {
        world_flow(all, i, 0, 200, 100 * WORLD_MS, world_now_ns(all) + duration_ns);
    }
}

/* Two halves that cannot hear each other, and a node in the middle that hears both. */
static void a_bridge_ends_in_agreement(void) {
    world_options options = scenario_options(67, 7, 1);
    world *all = scenario_begin(&options);
    flow_from_all(all, 40 * WORLD_S);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 4; j < 7; j++) {
            (void)qsm_sim_block(world_sim(all), i, j, true);
            (void)qsm_sim_block(world_sim(all), j, i, true);
        }
    }
    world_run(all, 20 * WORLD_S);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_bridge_ends_in_agreement),
    };
    return SCENARIO_MAIN("test_scenario_bridge", scenarios);
}
