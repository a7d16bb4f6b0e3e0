/* test_scenario_watch.c - the word that what was sent has been received: never too soon, and always
 * in the end. */
#include "core/engine.h"
#include "membership/group.h"
#include "scenario.h"
#include "sending/outgoing.h"

static void ask(world *all, uint32_t node) {
    CHECK(qsm_group_watch(world_group(all, node, 0)) == QSM_OK);
}

static bool is_answered(const world *all, uint32_t node) {
    return qsm_outgoing_of(world_group(all, node, 0))->watch.state == QSM_WATCH_NONE;
}

/* Runs until the question is answered; returns the time that it took. */
static uint64_t wait_answered(world *all, uint32_t node, uint64_t limit_ns) {
    const uint64_t start_ns = world_now_ns(all);
    while (!is_answered(all, node) && world_now_ns(all) - start_ns < limit_ns)
        world_run(all, WORLD_MS);
    CHECK_SAY(is_answered(all, node), "no answer after %.1f s", (double)limit_ns / 1e9);
    return world_now_ns(all) - start_ns;
}

static uint64_t least_deliveries(const world *all, uint32_t nodes) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < nodes; i++) {
        const uint64_t count = oracle_seat_deliveries(world_seat(all, i, 0));
        if (count < least) least = count;
    }
    return least;
}

static void the_word_comes_when_all_have_received_it(void) {
    for (uint64_t seed = 600; seed < 606; seed++) {
        world_options options = scenario_options(seed, 6, 1);
        options.link.loss_ppm = seed % 2 ? 200000 : 0;
        world *all = scenario_begin(&options);
        uint64_t before = least_deliveries(all, 6);
        for (uint32_t round = 1; round <= 10; round++) {
            world_pour(all, 1, 0, round * 3000, 4); /* some need several packets, some the queue */
            world_flow(all, 2, 0, 100, 5 * WORLD_MS, world_now_ns(all) + 200 * WORLD_MS);
            ask(all, 1);
            (void)wait_answered(all, 1, 10 * WORLD_S);
            CHECK_SAY(least_deliveries(all, 6) >= before + 4 * round, "somebody has only %" PRIu64,
                      least_deliveries(all, 6) - before);
        }
        scenario_end(all);
    }
}

static void what_is_sent_later_is_not_waited_for(void) {
    world_options options = scenario_options(610, 4, 1);
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 100, 2 * WORLD_MS, world_now_ns(all) + 20 * WORLD_S);
    world_run(all, WORLD_S);
    for (uint32_t i = 0; i < 20; i++) {
        ask(all, 0);
        const uint64_t took_ns = wait_answered(all, 0, 5 * WORLD_S);
        CHECK_SAY(took_ns < WORLD_S, "%.0f ms while more is sent", (double)took_ns / 1e6);
    }
    scenario_end(all);
}

/* One member hears nothing: there is no word before it is put out. */
static void a_member_that_is_put_out_is_not_waited_for(void) {
    world_options options = scenario_options(620, 4, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 3; i++) {
        (void)qsm_sim_block(world_sim(all), i, 3, true);
        (void)qsm_sim_block(world_sim(all), 3, i, true);
    }
    const uint64_t before = oracle_seat_deliveries(world_seat(all, 3, 0));
    world_pour(all, 0, 0, 500, 3);
    ask(all, 0);
    const uint32_t members = oracle_seat_view_size(world_seat(all, 0, 0));
    while (!is_answered(all, 0)) {
        const bool alone = oracle_seat_view_size(world_seat(all, 0, 0)) < members;
        world_run(all, WORLD_MS);
        if (is_answered(all, 0)) CHECK_SAY(alone, "told while it was in the view");
        if (world_now_ns(all) > 60 * WORLD_S) break;
    }
    CHECK(is_answered(all, 0));
    CHECK(oracle_seat_deliveries(world_seat(all, 3, 0)) == before);
    scenario_end(all);
}

static void who_is_alone_is_told_at_once(void) {
    world_options options = scenario_options(630, 1, 1);
    world *all = scenario_begin(&options);
    ask(all, 0);
    CHECK(is_answered(all, 0));
    CHECK(world_send(all, 0, 0, 100) == QSM_OK);
    ask(all, 0);
    (void)wait_answered(all, 0, WORLD_S);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(the_word_comes_when_all_have_received_it),
        SCENARIO(what_is_sent_later_is_not_waited_for),
        SCENARIO(a_member_that_is_put_out_is_not_waited_for),
        SCENARIO(who_is_alone_is_told_at_once),
    };
    return SCENARIO_MAIN("test_scenario_watch", scenarios);
}
