/* test_scenario_loss.c - lost, doubled, late and reordered packets: everything arrives, once, in
 * order, soon. */
#include "scenario.h"

#define KNOWN 2000U
#define MESSAGES 6000U
#define BYTES 1000U

/* How long eight nodes need for one sender's messages when each link loses that many. */
static uint64_t time_to_deliver_ns(uint64_t seed, uint32_t loss_ppm, uint32_t before) {
    world_options options = scenario_options(seed, 8, 1);
    options.link.bandwidth_bytes_per_s = 12500000;
    world *all = scenario_begin(&options);
    if (before > 0) world_pour(all, 0, 0, BYTES, before);
    (void)scenario_settle(all, 10 * WORLD_S, "what goes before the loss");
    qsm_sim_link link = options.link;
    link.loss_ppm = loss_ppm;
    qsm_sim_set_link(world_sim(all), &link);
    const uint64_t start_ns = world_now_ns(all);
    world_pour(all, 0, 0, BYTES, MESSAGES);
    (void)scenario_settle(all, 200 * WORLD_S, "everything under loss");
    uint64_t last_ns = start_ns;
    for (uint32_t i = 0; i < 8; i++) {
        const oracle_seat *seat = world_seat(all, i, 0);
        CHECK(oracle_seat_deliveries(seat) == before + MESSAGES);
        const uint64_t done_ns = oracle_seat_last_delivery_ns(seat);
        if (done_ns > last_ns) last_ns = done_ns;
    }
    scenario_end(all);
    return last_ns - start_ns;
}

/* Which packets are lost decides more than all else: the middle one of three. */
static double middle_time_ns(uint32_t loss_ppm, uint32_t before) {
    uint64_t a = time_to_deliver_ns(1, loss_ppm, before);
    uint64_t b = time_to_deliver_ns(2, loss_ppm, before);
    uint64_t c = time_to_deliver_ns(3, loss_ppm, before);
    uint64_t least = a < b ? a : b, most = a < b ? b : a;
    return (double)(c < least ? least : c > most ? most : c);
}

/* A sender that knows its lines, or one that has yet to find out, which takes longer under loss. */
static void goodput_under_random_loss(uint32_t before, double at_one, double at_ten) {
    const double calm = (double)time_to_deliver_ns(1, 0, before);
    const double one = calm / middle_time_ns(10000, before);
    const double ten = calm / middle_time_ns(100000, before);
    const double thirty = calm / (double)time_to_deliver_ns(1, 300000, before);
    scenario_figure("%.1f MB/s without loss; goodput %.0f %% at 1 %% loss, %.0f %% at 10 %%,"
                    " %.0f %% at 30 %%",
                    MESSAGES * BYTES / (calm / 1e9) / 1e6, 100 * one, 100 * ten, 100 * thirty);
    CHECK_SAY(one >= at_one, "goodput at 1 %% loss is not too low");
    CHECK_SAY(ten >= at_ten, "goodput at 10 %% loss is not too low");
}

static void goodput_holds_under_random_loss(void) {
    goodput_under_random_loss(KNOWN, 0.9, 0.5);
}

static void a_sender_that_begins_under_loss_finds_its_rate(void) {
    goodput_under_random_loss(0, 0.75, 0.35);
}

static void a_hundred_gaps_need_few_requests(void) {
    world_options options = scenario_options(3, 6, 1);
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 1200, WORLD_MS, world_now_ns(all) + 4 * WORLD_S);
    world_run(all, 500 * WORLD_MS);
    qsm_sim_traffic before, after;
    qsm_sim_get_traffic(world_sim(all), &before);
    for (uint32_t i = 0; i < 100; i++) {
        (void)qsm_sim_block(world_sim(all), 0, 1, true);
        world_run(all, WORLD_MS);
        (void)qsm_sim_block(world_sim(all), 0, 1, false);
        world_run(all, 20 * WORLD_MS);
    }
    qsm_sim_get_traffic(world_sim(all), &after);
    const uint64_t lost = after.blocked - before.blocked;
    (void)scenario_settle(all, 10 * WORLD_S, "a hundred gaps");
    scenario_figure("100 gaps of %" PRIu64 " packets: %" PRIu64 " requests, %" PRIu64 " repairs",
                    lost, scenario_repairs_asked(all), scenario_repairs_made(all));
    CHECK_SAY(scenario_repairs_asked(all) <= 150, "at most 150 requests");
    CHECK_SAY(scenario_repairs_made(all) <= lost * 3 / 2,
              "at most 1.5 repairs for each lost packet");
    scenario_end(all);
}

static void doubled_and_reordered_packets_are_delivered_once(void) {
    world_options options = scenario_options(4, 8, 3);
    world *all = scenario_begin(&options);
    qsm_sim_link link = options.link;
    link.duplicate_ppm = 500000;
    link.delay_ns = 30 * WORLD_MS;
    link.jitter_ns = 70 * WORLD_MS;
    qsm_sim_set_link(world_sim(all), &link);
    for (uint32_t i = 0; i < 8; i++) {
        world_flow(all, i, i % 3, 300, 5 * WORLD_MS, world_now_ns(all) + 10 * WORLD_S);
    }
    world_run(all, 12 * WORLD_S);
    qsm_sim_traffic traffic;
    qsm_sim_get_traffic(world_sim(all), &traffic);
    CHECK(traffic.duplicated > 10000);
    scenario_end(all);
}

/* Each path in turn holds everything back for five seconds. */
static void clogged_paths_lose_nothing(void) {
    world_options options = scenario_options(5, 5, 1);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 5; i++) {
        world_flow(all, i, 0, 200, 10 * WORLD_MS, world_now_ns(all) + 30 * WORLD_S);
    }
    for (uint32_t i = 0; i < 5; i++) {
        qsm_sim_link clog = options.link;
        clog.delay_ns = 5 * WORLD_S;
        (void)qsm_sim_set_link_between(world_sim(all), i, (i + 1) % 5, &clog);
        world_run(all, 5 * WORLD_S);
        (void)qsm_sim_set_link_between(world_sim(all), i, (i + 1) % 5, NULL);
    }
    world_run(all, 6 * WORLD_S);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(goodput_holds_under_random_loss),
        SCENARIO(a_sender_that_begins_under_loss_finds_its_rate),
        SCENARIO(a_hundred_gaps_need_few_requests),
        SCENARIO(doubled_and_reordered_packets_are_delivered_once),
        SCENARIO(clogged_paths_lose_nothing),
    };
    return SCENARIO_MAIN("test_scenario_loss", scenarios);
}
