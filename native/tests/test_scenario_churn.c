/* test_scenario_churn.c - members come and go while messages flow: late, early, all at once,
 * without end. */
#include "drivers/sim_random.h"
#include "scenario.h"

static void a_late_joiner_gets_all_from_its_first_view_on(void) {
    world_options options = scenario_options(70, 5, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 5; i++) {
        world_flow(all, i, 0, 300, 10 * WORLD_MS, world_now_ns(all) + 10 * WORLD_S);
    }
    world_run(all, 3 * WORLD_S);
    const uint32_t late = world_add_node(all, NULL);
    world_join(all, late, 0);
    world_run(all, 3 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, late, 0)) == 6);
    CHECK(oracle_seat_deliveries(world_seat(all, late, 0)) > 500);
    world_run(all, 5 * WORLD_S);
    scenario_end(all);
}

static void who_leaves_gets_nothing_more_and_the_others_everything(void) {
    world_options options = scenario_options(71, 6, 2);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 6; i++) {
        world_flow(all, i, 0, 300, 10 * WORLD_MS, world_now_ns(all) + 10 * WORLD_S);
        world_flow(all, i, 1, 300, 10 * WORLD_MS, world_now_ns(all) + 10 * WORLD_S);
    }
    world_run(all, 2 * WORLD_S);
    world_leave(all, 2, 0);
    world_run(all, 2 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, 0, 0)) == 5);
    CHECK(oracle_seat_view_size(world_seat(all, 2, 1)) == 6);
    world_join(all, 2, 0);
    world_run(all, 2 * WORLD_S);
    CHECK(oracle_seat_view_size(world_seat(all, 2, 0)) == 6);
    world_close(all, 4);
    world_run(all, 2 * WORLD_S);
    CHECK_SAY(!world_is_up(all, 4) && world_health(all, 4) == QSM_HEALTH_CLOSED,
              "a clean departure ends");
    CHECK(oracle_seat_view_size(world_seat(all, 0, 0)) == 5);
    scenario_end(all);
}

/* Joining another group moves a node to another region; what is under way must not suffer. */
static void regions_move_while_messages_flow(void) {
    for (uint32_t policy = QSM_POLICY_EXACT; policy <= QSM_POLICY_HIERARCHY; policy++) {
        world_options options = scenario_options(72, 9, 4);
        options.config.policy = policy;
        world *all = world_create(&options);
        for (uint32_t i = 0; i < 9; i++) {
            world_join(all, i, 0);
            world_flow(all, i, 0, 400, 5 * WORLD_MS, world_now_ns(all) + 15 * WORLD_S);
        }
        (void)world_run(all, 3 * WORLD_S);
        for (uint32_t round = 0; round < 12; round++) {
            for (uint32_t i = round % 3; i < 9; i += 3) {
                if (world_seat(all, i, 1 + round % 3) == NULL) {
                    world_join(all, i, 1 + round % 3);
                } else {
                    world_leave(all, i, 1 + round % 3);
                }
            }
            world_run(all, WORLD_S);
        }
        const uint64_t sent = oracle_seat_sent(world_seat(all, 0, 0));
        CHECK_SAY(sent > 2500, "sending goes on while regions change: %" PRIu64 " sent", sent);
        scenario_end(all);
    }
}

static void a_change_each_second_for_ten_minutes(void) {
    world_options options = scenario_options(73, 10, 4);
    world *all = scenario_begin(&options);
    qsm_sim_random random = qsm_sim_random_of(options.seed, 73);
    for (uint32_t i = 0; i < 10; i++) {
        world_flow(all, i, i % 4, 200, WORLD_S, world_now_ns(all) + 600 * WORLD_S);
    }
    for (uint32_t second = 0; second < 600 && world_failure(all) == NULL; second++) {
        const uint32_t node = (uint32_t)qsm_sim_random_below(&random, 10);
        const uint32_t group = (uint32_t)qsm_sim_random_below(&random, 4);
        if (world_seat(all, node, group) == NULL) {
            world_join(all, node, group);
        } else {
            world_leave(all, node, group);
        }
        world_run(all, WORLD_S);
    }
    world_hush(all);
    const uint64_t took_ns = scenario_agree(all, 20 * WORLD_S, "the last view");
    scenario_figure("%" PRIu64 " views; all agree %.1f s after the last change",
                    oracle_views(world_judge(all)), (double)took_ns / 1e9);
    CHECK_SAY(took_ns <= 5 * WORLD_S, "all agree within 5 s");
    scenario_end(all);
}

static void a_hundred_joins_in_ten_seconds(void) {
    world_options options = scenario_options(74, 1, 2);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 99; i++) {
        const uint32_t node = world_add_node(all, NULL);
        world_join(all, node, 0);
        if (i % 2 == 0) world_join(all, node, 1);
        world_run(all, 100 * WORLD_MS);
    }
    const uint64_t took_ns = scenario_settle(all, 20 * WORLD_S, "a hundred members");
    scenario_figure("100 members agree %.1f s after the last join", (double)took_ns / 1e9);
    CHECK_SAY(took_ns <= 5 * WORLD_S, "all agree within 5 s");
    CHECK(oracle_seat_view_size(world_seat(all, 0, 0)) == 100);
    for (uint32_t i = 0; i < 100; i += 10) {
        (void)world_send(all, i, 0, 200);
    }
    scenario_end(all);
}

/* A node says something long and departs. One that is alone in its region has half of it and cannot
 * know that there is more; it is told new views before it hears the rest. */
static void what_is_under_way_when_its_sender_departs_is_heard_to_the_end(void) {
    enum { HOST, HEARER, SENDER };
    world_options options = scenario_options(75, 1, 3);
    options.config.rate_bytes_per_s_max = 1000000; /* it takes 60 ms */
    options.config.policy = QSM_POLICY_EXACT;
    world *all = world_create(&options);
    world_join(all, HOST, 0);
    (void)scenario_agree(all, 10 * WORLD_S, "the host");
    while (world_node_count(all) <= SENDER) {
        const uint32_t node = world_add_node(all, NULL);
        world_join(all, node, 0);
        world_join(all, node, node);
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    world_pour(all, SENDER, 0, 60000, 1);
    world_run(all, 20 * WORLD_MS);
    (void)qsm_sim_block(world_sim(all), SENDER, HEARER, true);
    world_run(all, 100 * WORLD_MS);
    CHECK(oracle_seat_deliveries(world_seat(all, HOST, 0)) == 1);
    world_close(all, SENDER);
    for (uint32_t i = 0; i < 3; i++) {
        world_run(all, 100 * WORLD_MS);
        world_join(all, world_add_node(all, NULL), 0);
    }
    world_run(all, 100 * WORLD_MS);
    CHECK(oracle_seat_view_size(world_seat(all, HEARER, 0)) == 5);
    CHECK(oracle_seat_deliveries(world_seat(all, HEARER, 0)) == 0);
    (void)qsm_sim_block(world_sim(all), SENDER, HEARER, false);
    world_run(all, WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, HEARER, 0)) == 1);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_late_joiner_gets_all_from_its_first_view_on),
        SCENARIO(who_leaves_gets_nothing_more_and_the_others_everything),
        SCENARIO(regions_move_while_messages_flow),
        SCENARIO(a_change_each_second_for_ten_minutes),
        SCENARIO(a_hundred_joins_in_ten_seconds),
        SCENARIO(what_is_under_way_when_its_sender_departs_is_heard_to_the_end),
    };
    return SCENARIO_MAIN("test_scenario_churn", scenarios);
}
