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

static qsm_address address_of(uint32_t node) {
    return (qsm_address){.family = QSM_FAMILY_SIM,
                         .bytes = {(uint8_t)(node >> 24), (uint8_t)(node >> 16),
                                   (uint8_t)(node >> 8), (uint8_t)node}};
}

/* Nodes that start in the same instant; each knows the next one, and the last one the first. */
static void those_who_start_at_once_and_know_each_other_meet(void) {
    for (uint32_t count = 2; count <= 5; count++) {
        world_options options = scenario_options(105 + count, 0, 1);
        world *all = world_create(&options);
        qsm_sim_set_multicast(world_sim(all), false);
        for (uint32_t i = 0; i < count; i++) {
            qsm_config config = options.config;
            config.known_peer_count = 1;
            config.known_peers[0] = address_of((i + 1) % count);
            world_join(all, world_add_node(all, &config), 0);
        }
        const uint64_t took_ns = scenario_settle(all, 30 * WORLD_S, "those who start at once");
        scenario_figure("%u nodes: one view after %.1f s", count, (double)took_ns / 1e9);
        scenario_end(all);
    }
}

/* Two hosts with members of their own, who cannot hear of each other; then somebody is told. */
static void parts(bool member_tells, bool member_is_told) {
    world_options options = scenario_options(112, 0, 1);
    options.link.loss_ppm = 200000;
    world *all = world_create(&options);
    qsm_sim_set_multicast(world_sim(all), false);
    for (uint32_t i = 0; i < 6; i++) {
        qsm_config config = options.config;
        config.known_peer_count = i % 3 > 0 ? 1 : 0;
        config.known_peers[0] = address_of(i / 3 * 3);
        world_join(all, world_add_node(all, &config), 0);
        if (i % 3 == 0) world_run(all, 3 * WORLD_S);
    }
    world_run(all, 5 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, 0, 0)) == 3);
    CHECK(oracle_seat_view_size(world_seat(all, 5, 0)) == 3);
    qsm_engine *teller = qsm_sim_engine(world_sim(all), member_tells ? 1 : 0);
    const qsm_address told = address_of(member_is_told ? 4 : 3);
    CHECK(qsm_engine_add_peer(teller, &told) == QSM_OK);
    const uint64_t took_ns = scenario_settle(all, 30 * WORLD_S, "one view after the word");
    scenario_figure("one view %.1f s after the word", (double)took_ns / 1e9);
    scenario_end(all);
}

static void a_word_joins_two_parts(void) {
    parts(false, false);
    parts(false, true);
    parts(true, false);
    parts(true, true);
}

static void a_peer_that_makes_no_sense_is_refused(void) {
    world_options options = scenario_options(113, 2, 1);
    world *all = scenario_begin(&options);
    qsm_engine *engine = qsm_sim_engine(world_sim(all), 0);
    qsm_address address = address_of(0);
    CHECK(qsm_engine_add_peer(engine, &address) == QSM_OK); /* itself */
    CHECK(qsm_engine_add_peer(engine, NULL) == QSM_ERR_ARGUMENT);
    address.multicast = 1;
    CHECK(qsm_engine_add_peer(engine, &address) == QSM_ERR_ARGUMENT);
    address = (qsm_address){.family = QSM_FAMILY_IPV4, .port = 1};
    CHECK(qsm_engine_add_peer(engine, &address) == QSM_ERR_ARGUMENT);
    for (uint32_t i = 0; i < 100; i++) { /* nobody is there */
        address = address_of(1000 + i);
        CHECK(qsm_engine_add_peer(engine, &address) == QSM_OK);
    }
    world_run(all, 3 * WORLD_S);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(those_who_start_at_once_and_know_each_other_meet),
        SCENARIO(a_word_joins_two_parts),
        SCENARIO(a_peer_that_makes_no_sense_is_refused),
        SCENARIO(without_multicast_everything_goes_by_unicast),
    };
    return SCENARIO_MAIN("test_scenario_unicast", scenarios);
}
