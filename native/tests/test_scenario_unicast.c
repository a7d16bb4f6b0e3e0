/* test_scenario_unicast.c - a network that carries no multicast. */
#include "scenario.h"

static void without_multicast_everything_goes_by_unicast(void) {
    world_options options = scenario_options(104, 0, 2);
    world *all = world_create(&options);
    qsm_sim_set_multicast(world_sim(all), false);
    qsm_config config = options.config;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t node = world_add_node(all, &config);
        world_join(all, node, 0);
        if (i % 2 == 0) world_join(all, node, 1);
        /* All who come later know the first. */
        config.known_peer_count = 1;
        config.known_peers[0] = (qsm_address){.family = QSM_FAMILY_SIM};
    }
    (void)scenario_settle(all, 30 * WORLD_S, "coming up without multicast");
    for (uint32_t i = 0; i < 6; i++) {
        world_pour(all, i, 0, 300, 300);
    }
    (void)scenario_settle(all, 30 * WORLD_S, "messages without multicast");
    CHECK(oracle_seat_deliveries(world_seat(all, 5, 0)) == 6 * 300);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(without_multicast_everything_goes_by_unicast),
    };
    return SCENARIO_MAIN("test_scenario_unicast", scenarios);
}
