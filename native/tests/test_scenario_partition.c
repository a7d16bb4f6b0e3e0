/* test_scenario_partition.c - the network breaks and heals: both sides go on, then there is one
 * view again. */
#include "scenario.h"

static void flow_from_all(world *all, uint64_t duration_ns) {
    for (uint32_t i = 0; i < world_node_count(all); i++) {
        world_flow(all, i, 0, 200, 100 * WORLD_MS, world_now_ns(all) + duration_ns);
    }
}

/* Those with a bit of the mask are on the other side for that long. */
static void part(uint64_t seed, uint32_t node_count, uint64_t mask, uint64_t duration_ns) {
    world_options options = scenario_options(seed, node_count, 2);
    world *all = scenario_begin(&options);
    flow_from_all(all, duration_ns + 30 * WORLD_S);
    world_run(all, 2 * WORLD_S);
    for (uint32_t i = 0; i < node_count; i++) {
        (void)qsm_sim_set_side(world_sim(all), i, mask >> i & 1);
    }
    world_run(all, duration_ns);
    if (duration_ns > 3 * options.config.failure_ns) {
        uint32_t other = 0;
        for (uint32_t i = 0; i < node_count; i++) {
            other += mask >> i & 1;
        }
        for (uint32_t i = 0; i < node_count; i++) {
            const uint32_t size = (mask >> i & 1) != 0 ? other : node_count - other;
            CHECK_SAY(oracle_seat_view_size(world_seat(all, i, 0)) == size,
                      "node %u has a view of its side: %u members, not %u", i, size,
                      oracle_seat_view_size(world_seat(all, i, 0)));
        }
    }
    for (uint32_t i = 0; i < node_count; i++) {
        (void)qsm_sim_set_side(world_sim(all), i, 0);
    }
    world_hush(all);
    const uint64_t took_ns = scenario_agree(all, 30 * WORLD_S, "one view again");
    scenario_figure("%u nodes, apart for %.0f s: one view %.1f s after", node_count,
                    (double)duration_ns / 1e9, (double)took_ns / 1e9);
    CHECK_SAY(took_ns <= 10 * WORLD_S, "one view within 10 s");
    scenario_end(all);
}

static void halves_part_for_a_second(void) {
    part(60, 8, 0x0f, WORLD_S);
}

static void halves_part_for_ten_seconds(void) {
    part(61, 8, 0x0f, 10 * WORLD_S);
}

static void halves_part_for_a_minute(void) {
    part(62, 8, 0x33, 60 * WORLD_S);
}

static void one_node_is_isolated(void) {
    part(63, 8, 0x10, 15 * WORLD_S);
}

static void the_host_is_isolated(void) {
    part(64, 8, 0x01, 15 * WORLD_S);
}

static void fifty_nodes_merge(void) {
    part(65, 50, UINT64_C(0x1555555555555), 15 * WORLD_S);
}

static void a_one_way_cut_ends_in_agreement(void) {
    world_options options = scenario_options(66, 6, 1);
    world *all = scenario_begin(&options);
    flow_from_all(all, 40 * WORLD_S);
    for (uint32_t i = 1; i < 6; i++) {
        (void)qsm_sim_block(world_sim(all), 0, i, true); /* nobody hears node 0, which hears all */
    }
    world_run(all, 20 * WORLD_S);
    scenario_end(all);
}

static void a_flapping_network_ends_in_agreement(void) {
    world_options options = scenario_options(68, 8, 1);
    world *all = scenario_begin(&options);
    flow_from_all(all, 60 * WORLD_S);
    for (uint32_t i = 0; i < 20; i++) {
        for (uint32_t node = 0; node < 8; node++) {
            (void)qsm_sim_set_side(world_sim(all), node, i % 2 == 0 ? node % 2 : 0);
        }
        world_run(all, 2 * WORLD_S);
    }
    scenario_end(all);
}

/* Most are cut off while one of them says something long, and the others go over to their host
 * later. What it says then is not taken for what it had left unsaid, also not when views change. */
static void who_comes_back_is_heard_to_the_end(void) {
    enum { HEARER = 1, SENDER = 2, ALL = 6, LONG = 60000, MESSAGES = 20 };
    world_options options = scenario_options(66, 1, 1);
    options.config.rate_bytes_per_s_max = 1000000; /* a long message takes 60 ms */
    world *all = scenario_begin(&options);
    while (world_node_count(all) < ALL) { /* the first one stays the host */
        world_join(all, world_add_node(all, NULL), 0);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    world_pour(all, SENDER, 0, LONG, 1);
    world_run(all, 20 * WORLD_MS);
    for (uint32_t i = SENDER; i < ALL; i++)
        (void)qsm_sim_set_side(world_sim(all), i, 1);
    world_run(all, 4 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, HEARER, 0)) == SENDER);
    for (uint32_t i = SENDER; i < ALL; i++)
        (void)qsm_sim_set_side(world_sim(all), i, 0);
    (void)scenario_agree(all, 20 * WORLD_S, "together again");
    const uint64_t before = oracle_seat_deliveries(world_seat(all, HEARER, 0));
    world_pour(all, SENDER, 0, LONG, MESSAGES);
    for (uint32_t i = 0; i < 8; i++) {
        world_join(all, world_add_node(all, NULL), 0);
        world_run(all, 70 * WORLD_MS);
    }
    world_run(all, 2 * WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, HEARER, 0)) == before + MESSAGES);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(halves_part_for_a_second),
        SCENARIO(halves_part_for_ten_seconds),
        SCENARIO(halves_part_for_a_minute),
        SCENARIO(one_node_is_isolated),
        SCENARIO(the_host_is_isolated),
        SCENARIO(fifty_nodes_merge),
        SCENARIO(a_one_way_cut_ends_in_agreement),
        SCENARIO(a_flapping_network_ends_in_agreement),
        SCENARIO(who_comes_back_is_heard_to_the_end),
    };
    return SCENARIO_MAIN("test_scenario_partition", scenarios);
}
