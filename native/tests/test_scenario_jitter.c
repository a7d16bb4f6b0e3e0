/* test_scenario_jitter.c - lines that are slow or on which packets overtake each other: that is not
 * taken for loss, asked for twice or answered with a flood. */
#include "receiving/lateness.h"
#include "recovery/roundtrip.h"
#include "scenario.h"

/* ---- what is late and what is lost ------------------------------------------------------------
 */

static void what_overtakes_for_long_is_waited_for_longer(void) {
    qsm_lateness lateness;
    qsm_lateness_init(&lateness, 0);
    const uint64_t least_ns = lateness.window_ns;
    uint64_t now_ns = WORLD_S;
    qsm_lateness_reached(&lateness, 10, now_ns);
    qsm_lateness_came(&lateness, 7, now_ns + 40 * WORLD_MS);
    CHECK(lateness.window_ns > 40 * WORLD_MS && lateness.window_ns < 60 * WORLD_MS);
    for (uint32_t i = 0; i < 60; i++) {
        now_ns += WORLD_S;
        (void)qsm_lateness_lost_upto(&lateness, 10, now_ns, now_ns);
    }
    CHECK_SAY(lateness.window_ns < least_ns * 2, "the window is short again after a minute");
    qsm_lateness_init(&lateness, 0);
    qsm_lateness_reached(&lateness, 10, now_ns);
    qsm_lateness_came(&lateness, 7, now_ns + 3600 * WORLD_S);
    CHECK_SAY(lateness.window_ns < WORLD_S, "no packet makes the window longer than a bound");
}

/* However many packets overtake others, one that is lost is found. */
static void a_lost_packet_is_found_among_many_that_are_late(void) {
    qsm_lateness lateness;
    qsm_lateness_init(&lateness, 0);
    const uint64_t lost_ns = WORLD_S, lost = 1000;
    uint64_t found_ns = 0;
    for (uint64_t i = 0; i < 20000 && found_ns == 0; i++) {
        const uint64_t now_ns = lost_ns + i * 5 * WORLD_US, upto = lost + 1 + i;
        qsm_lateness_reached(&lateness, upto, now_ns);
        if (i > 0) qsm_lateness_came(&lateness, upto - 1, now_ns);
        if (qsm_lateness_lost_upto(&lateness, upto, now_ns, now_ns) >= lost) found_ns = now_ns;
    }
    CHECK(found_ns >= lost_ns + lateness.window_ns);
    CHECK(found_ns < lost_ns + lateness.window_ns * 5 / 4);
}

static void patience_follows_answers_that_take_longer_than_it(void) {
    qsm_roundtrip lines = {0};
    for (uint32_t i = 0; i < 100; i++) {
        qsm_roundtrip_sample(&lines, 200 * WORLD_US, true);
    }
    CHECK(qsm_roundtrip_patience_ns(&lines, 20 * WORLD_MS, WORLD_S) == 20 * WORLD_MS);
    /* From now on answers take 70 to 129 ms: what has not come by then is asked for again. */
    uint32_t twice = 0;
    for (uint32_t i = 0; i < 400; i++) {
        const uint64_t pause_ns = qsm_roundtrip_patience_ns(&lines, 20 * WORLD_MS, WORLD_S);
        const uint64_t took_ns = (70 + i * 37 % 60) * WORLD_MS;
        qsm_roundtrip_sample(&lines, took_ns % pause_ns, took_ns < pause_ns);
        if (i >= 100 && took_ns >= pause_ns) twice++;
    }
    CHECK_SAY(twice < 60, "few answers are asked for twice, not %u of 300", twice);
    CHECK(qsm_roundtrip_patience_ns(&lines, 20 * WORLD_MS, 50 * WORLD_MS) == 50 * WORLD_MS);
}

/* ---- on the network ---------------------------------------------------------------------------
 */

typedef struct {
    double seconds;
    uint64_t asked, repaired, decreases, overflowed;
} poured;

/* One sender's messages to all others, as fast as it is let, when it has sent `known` of them and
 * knows its lines as well as that makes them known. */
static poured pour(const world_options *options, uint64_t known, uint64_t messages,
                   uint32_t bytes) {
    world *all = scenario_begin(options);
    world_pour(all, 0, 0, bytes, known);
    (void)scenario_settle(all, 10 * WORLD_S, "what goes before");
    const uint64_t start_ns = world_now_ns(all);
    qsm_sim_traffic before, after;
    qsm_sim_get_traffic(world_sim(all), &before);
    world_pour(all, 0, 0, bytes, messages);
    (void)scenario_settle(all, 100 * WORLD_S, "everything poured");
    uint64_t last_ns = start_ns;
    for (uint32_t i = 0; i < options->node_count; i++) {
        const uint64_t done_ns = oracle_seat_last_delivery_ns(world_seat(all, i, 0));
        if (done_ns > last_ns) last_ns = done_ns;
    }
    qsm_sim_get_traffic(world_sim(all), &after);
    const poured result = {.seconds = (double)(last_ns - start_ns) / 1e9,
                           .asked = scenario_repairs_asked(all),
                           .repaired = scenario_repairs_made(all),
                           .decreases = world_counter_sum(all, "rate_decreases"),
                           .overflowed = after.overflowed - before.overflowed};
    scenario_end(all);
    return result;
}

static void what_is_overtaken_is_not_taken_for_lost(void) {
    enum { KNOWN = 4000, MESSAGES = 8000, BYTES = 1000 };
    world_options options = scenario_options(1, 20, 1);
    options.link.jitter_ns = 0;
    options.link.queue_bytes = 0;
    const poured calm = pour(&options, KNOWN, MESSAGES, BYTES);
    options.link.jitter_ns = 500 * WORLD_US;
    const poured mixed = pour(&options, KNOWN, MESSAGES, BYTES);
    scenario_figure("%.1f MB/s in order; with 500 us of jitter %.1f MB/s, %" PRIu64
                    " requests, rate lowered %" PRIu64 " times",
                    MESSAGES * BYTES / calm.seconds / 1e6, MESSAGES * BYTES / mixed.seconds / 1e6,
                    mixed.asked, mixed.decreases);
    CHECK_SAY(mixed.asked == 0, "nothing is asked for");
    CHECK_SAY(mixed.decreases == 0, "the rate is not lowered");
    CHECK_SAY(calm.seconds / mixed.seconds >= 0.8, "at least 80 %% of the rate without jitter");
}

/* One receiver loses packets of the sender, on lines that take between 5 and 65 ms. */
static void repairs_are_few_on_lines_with_much_jitter(void) {
    world_options options = scenario_options(2, 8, 1);
    options.link.delay_ns = 5 * WORLD_MS;
    options.link.jitter_ns = 60 * WORLD_MS;
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 1000, WORLD_MS, world_now_ns(all) + 14 * WORLD_S);
    world_run(all, 2 * WORLD_S);
    const uint64_t learnt = scenario_repairs_asked(all);
    world_run(all, 2 * WORLD_S);
    const uint64_t asked = scenario_repairs_asked(all);
    scenario_figure("without loss: %" PRIu64 " requests in the first 2 s, %" PRIu64
                    " in the next 2 s",
                    learnt, asked - learnt);
    CHECK_SAY(asked - learnt <= 5, "hardly anything is asked for that is only late");
    qsm_sim_traffic before, after;
    qsm_sim_get_traffic(world_sim(all), &before);
    const uint64_t repaired = scenario_repairs_made(all);
    qsm_sim_link lossy = options.link;
    lossy.loss_ppm = 50000;
    (void)qsm_sim_set_link_between(world_sim(all), 0, 1, &lossy);
    world_run(all, 10 * WORLD_S);
    qsm_sim_get_traffic(world_sim(all), &after);
    (void)qsm_sim_set_link_between(world_sim(all), 0, 1, NULL);
    (void)scenario_settle(all, 10 * WORLD_S, "after the losses");
    const uint64_t lost = after.lost - before.lost;
    const uint64_t made = scenario_repairs_made(all) - repaired;
    scenario_figure("%" PRIu64 " packets lost, %" PRIu64 " repairs, %" PRIu64 " requests", lost,
                    made, scenario_repairs_asked(all) - asked);
    CHECK(lost > 300);
    CHECK_SAY(made <= lost * 3 / 2, "at most 1.5 repairs for each lost packet");
    scenario_end(all);
}

/* 10 Mbit/s with little room in front of the line: all arrives in not much more than the time that
 * the line needs. A sender that begins at 50 MB/s has 77,000 datagrams thrown away there. */
static void a_slow_line_is_not_flooded(void) {
    enum { MESSAGES = 3000, BYTES = 1000 };
    world_options options = scenario_options(3, 4, 1);
    options.link.delay_ns = 2 * WORLD_MS;
    options.link.bandwidth_bytes_per_s = 1250000;
    options.link.queue_bytes = 64 << 10;
    const poured slow = pour(&options, 0, MESSAGES, BYTES);
    const double line_seconds = (double)MESSAGES * BYTES / 1250000;
    scenario_figure("%.2f s for what the line carries in %.2f s; %" PRIu64
                    " datagrams found its queue full, %" PRIu64 " repairs",
                    slow.seconds, line_seconds, slow.overflowed, slow.repaired);
    CHECK_SAY(slow.overflowed <= 3 * MESSAGES, "fewer than the three receivers are sent at first");
    CHECK_SAY(slow.seconds <= line_seconds * 2, "most of the line's time is used");
}

/* The climb from a low rate takes milliseconds on lines that carry more. */
static void a_quick_line_is_soon_full(void) {
    enum { MESSAGES = 6000, BYTES = 1000 };
    world_options options = scenario_options(4, 4, 1);
    const poured quick = pour(&options, 0, MESSAGES, BYTES);
    scenario_figure("the first %.0f MB take %.0f ms on 1 Gb/s", MESSAGES * BYTES / 1e6,
                    quick.seconds * 1e3);
    CHECK_SAY(quick.seconds <= 0.1, "within 100 ms, 52 ms of which are the line's");
}

/* A packet that one of six lacks on a quiet network, while others follow. */
static void one_lost_packet_is_there_within_milliseconds(void) {
    world_options options = scenario_options(5, 6, 1);
    world *all = scenario_begin(&options);
    world_flow(all, 0, 0, 500, WORLD_MS, world_now_ns(all) + 3 * WORLD_S);
    world_run(all, WORLD_S);
    scenario_reset_stalls(all, 0);
    for (uint32_t i = 0; i < 20; i++) {
        (void)qsm_sim_block(world_sim(all), 0, 1, true);
        world_run(all, WORLD_MS);
        (void)qsm_sim_block(world_sim(all), 0, 1, false);
        world_run(all, 50 * WORLD_MS);
    }
    const uint64_t stall_ns = scenario_stall_ns(all, 0, UINT32_MAX);
    scenario_figure("longest wait for one of 20 lost packets: %.1f ms", (double)stall_ns / 1e6);
    CHECK_SAY(stall_ns <= 10 * WORLD_MS, "within 10 ms");
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(what_overtakes_for_long_is_waited_for_longer),
        SCENARIO(a_lost_packet_is_found_among_many_that_are_late),
        SCENARIO(patience_follows_answers_that_take_longer_than_it),
        SCENARIO(what_is_overtaken_is_not_taken_for_lost),
        SCENARIO(repairs_are_few_on_lines_with_much_jitter),
        SCENARIO(a_slow_line_is_not_flooded),
        SCENARIO(a_quick_line_is_soon_full),
        SCENARIO(one_lost_packet_is_there_within_milliseconds),
    };
    return SCENARIO_MAIN("test_scenario_jitter", scenarios);
}
