/* test_scenario_groups.c - long messages, feeds, full queues, several regions, and silence when all
 * is done. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

static void long_messages_are_cut_and_joined(void) {
    world_options options = scenario_options(101, 4, 2);
    options.link.loss_ppm = 20000;
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 4; i++) {
        world_pour(all, i, i % 2, QSM_MESSAGE_BYTES_MAX, 10);
        world_pour(all, i, (i + 1) % 2, 5000, 20);
        (void)world_send(all, i, 0, 32);
    }
    (void)scenario_settle(all, 60 * WORLD_S, "long messages");
    CHECK(oracle_seat_deliveries(world_seat(all, 0, 0)) == 4 + 2 * 10 + 2 * 20);
    uint8_t *huge = calloc(1, QSM_MESSAGE_BYTES_MAX + 1);
    CHECK(huge != NULL);
    CHECK(qsm_group_send(world_group(all, 0, 0), huge, QSM_MESSAGE_BYTES_MAX + 1) ==
          QSM_ERR_TOO_LARGE);
    free(huge);
    scenario_end(all);
}

/* The place that is kept for the table of short ones is given up when a long one needs it. */
static void short_and_long_messages_share_a_long_datagram(void) {
    world_options options = scenario_options(12, 3, 2);
    options.config.data_bytes_max = QSM_DATA_BYTES_MAX;
    world *all = scenario_begin(&options);
    static const uint32_t sizes[] = {40, 8700, 40, 40, 5000, 3000, 900, 40, 7900, 8800, 9000, 41};
    for (uint32_t round = 0; round < 20; round++)
        for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            CHECK(world_send(all, round % 3, i % 2, sizes[(i + round) % 12]) == QSM_OK);
    (void)scenario_settle(all, 5 * WORLD_S, "all sizes");
    CHECK(world_counter_sum(all, "messages_sent") == 240);
    CHECK(world_counter_sum(all, "packets_sent") < 240);
    scenario_end(all);
}

/* Each of them takes sixty messages or more with it. */
static void long_datagrams_that_are_lost_come_again(void) {
    world_options options = scenario_options(13, 4, 2);
    options.config.data_bytes_max = QSM_DATA_BYTES_MAX;
    options.link.loss_ppm = 50000;
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 4; i++) {
        world_pour(all, i, i % 2, 1000, 1000);
        world_pour(all, i, 0, QSM_MESSAGE_BYTES_MAX, 10);
    }
    (void)scenario_settle(all, 20 * WORLD_S, "long datagrams");
    CHECK(world_counter_sum(all, "repairs_received") > 0);
    CHECK(world_counter_sum(all, "packets_sent") < 4 * 1000 / 8);
    scenario_end(all);
}

/* A packet with one short message waits for its acknowledgement in a buffer not much longer. */
static void half_empty_packets_hold_little_memory(void) {
    world_options options = scenario_options(14, 2, 1);
    options.config.data_bytes_max = QSM_DATA_BYTES_MAX;
    world *all = scenario_begin(&options);
    world_freeze(all, 1, 1000 * WORLD_MS);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK(world_send(all, 0, 0, 2000) == QSM_OK);
        world_run(all, WORLD_MS);
    }
    uint64_t held = world_counter(all, 0, "pool_bytes_now");
    CHECK_SAY(held > 100 * 2000 && held < 150 * 9216, "%" PRIu64 " bytes are held", held);
    (void)scenario_settle(all, 20 * WORLD_S, "short messages");
    scenario_end(all);
}

static void feeds_are_pulled_until_they_are_empty(void) {
    world_options options = scenario_options(102, 4, 3);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t group = 0; group < 3; group++) {
            world_offer(all, i, group, 200, 500, group);
        }
    }
    world_run(all, 10 * WORLD_S);
    for (uint32_t group = 0; group < 3; group++) {
        CHECK(oracle_seat_sent(world_seat(all, 0, group)) == 500);
        CHECK(oracle_seat_deliveries(world_seat(all, 1, group)) == 2000);
    }
    scenario_end(all);
}

/* No group of this scope is in another's region; a message to three regions is three datagrams. */
static void groups_over_several_regions_deliver_to_all(void) {
    for (uint32_t hybrid = 0; hybrid <= 2; hybrid += 2) {
        world_options options = scenario_options(103, 12, 4);
        options.config.policy = QSM_POLICY_EXACT;
        options.config.hybrid_regions_min = (uint8_t)hybrid;
        world *all = world_create(&options);
        for (uint32_t i = 0; i < 12; i++) {
            world_join(all, i, 0);
            world_join(all, i, 1 + i % 3);
        }
        (void)scenario_settle(all, 20 * WORLD_S, "coming up");
        qsm_sim_link link = options.link;
        link.loss_ppm = 50000;
        qsm_sim_set_link(world_sim(all), &link);
        for (uint32_t i = 0; i < 12; i++) {
            world_pour(all, i, 0, 300, 300);
            world_pour(all, i, 1 + i % 3, 300, 300);
        }
        (void)scenario_settle(all, 30 * WORLD_S, "messages over regions");
        CHECK(oracle_seat_deliveries(world_seat(all, 0, 0)) == 12 * 300);
        scenario_end(all);
    }
}

/* Whoever asks what has not arrived everywhere, before it sends to newcomers or closes a document,
 * is never told of less, also when one packet goes to several regions. */
static void what_somebody_lacks_counts_as_unacknowledged(void) {
    for (uint32_t hybrid = 0; hybrid <= 2; hybrid += 2) {
        world_options options = scenario_options(104, 6, 4);
        options.config.policy = QSM_POLICY_EXACT;
        options.config.hybrid_regions_min = (uint8_t)hybrid;
        options.link.delay_ns = 5 * WORLD_MS;
        world *all = world_create(&options);
        for (uint32_t i = 0; i < 6; i++) {
            world_join(all, i, 0);
            world_join(all, i, 1 + i % 3);
        }
        (void)scenario_settle(all, 20 * WORLD_S, "coming up");
        const oracle_seat *sender = world_seat(all, 0, 0);
        const uint64_t sent_before = oracle_seat_sent(sender);
        uint64_t before[6];
        for (uint32_t i = 0; i < 6; i++) {
            before[i] = oracle_seat_deliveries(world_seat(all, i, 0));
        }
        world_flow(all, 0, 0, 100, 3 * WORLD_MS, world_now_ns(all) + WORLD_S);
        for (uint32_t step = 0; step < 250; step++) {
            world_run(all, 4 * WORLD_MS);
            uint64_t lacks = 0;
            for (uint32_t i = 1; i < 6; i++) {
                const uint64_t got = oracle_seat_deliveries(world_seat(all, i, 0)) - before[i];
                const uint64_t sent = oracle_seat_sent(sender) - sent_before;
                if (sent - got > lacks) lacks = sent - got;
            }
            const uint32_t told = qsm_group_unacknowledged(world_group(all, 0, 0));
            CHECK_SAY(told >= lacks, "somebody lacks %" PRIu64 ", told %u", lacks, told);
            if (told < lacks) break;
        }
        scenario_end(all);
    }
}

static void an_idle_world_is_silent(void) {
    world_options options = scenario_options(105, 16, 20);
    world *all = scenario_begin(&options);
    for (uint32_t i = 0; i < 16; i++) {
        world_pour(all, i, i, 500, 200);
    }
    world_run(all, 10 * WORLD_S);
    qsm_sim_traffic before, after;
    qsm_sim_get_traffic(world_sim(all), &before);
    world_run(all, 60 * WORLD_S);
    qsm_sim_get_traffic(world_sim(all), &after);
    const double rate = (double)(after.datagrams - before.datagrams) / 60 / 16;
    scenario_figure("%.2f datagrams a second and node when idle", rate);
    scenario_end(all);
}

/* The queue of a group is bounded; who is told that it is full is told when it is not any more. */
static void a_full_queue_says_so_and_then_has_room(void) {
    world_options options = scenario_options(92, 4, 1);
    options.config.rate_bytes_per_s_max = 1000000;
    world *all = scenario_begin(&options);
    uint32_t taken = 0;
    while (world_send(all, 0, 0, 1000) == QSM_OK && taken < 10 * QSM_SEND_QUEUE_MAX) {
        taken++;
    }
    CHECK(taken == QSM_SEND_QUEUE_MAX);
    CHECK(world_send(all, 0, 0, 1000) == QSM_ERR_FULL);
    world_pour(all, 0, 0, 1000, 3000); /* goes on by QSM_EVENT_WRITABLE alone */
    const uint64_t took_ns = scenario_settle(all, 20 * WORLD_S, "what was poured");
    world_run(all, 10 * WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, 3, 0)) == taken + 3000);
    (void)took_ns;
    scenario_end(all);
}

/* Deliveries wait unread when their group is left: nobody fetches them any more, and they go. */
static void what_was_not_read_of_a_group_goes_with_it(void) {
    world_options options = scenario_options(93, 3, 2);
    world *all = scenario_begin(&options);
    (void)qsm_sim_set_deaf(world_sim(all), 1, true);
    world_pour(all, 0, 0, 1000, 100);
    world_run(all, WORLD_S);
    CHECK(world_counter(all, 1, "events_now") >= 100);
    world_leave(all, 1, 0);
    (void)qsm_sim_set_deaf(world_sim(all), 1, false);
    world_run(all, WORLD_S);
    CHECK(world_counter(all, 1, "events_now") == 0);
    scenario_end(all);
}

/* Nodes come into many groups and leave them again while messages are on their way; somebody who
 * comes back is in the same group, under another handle. */
static void the_host_forgets_groups_that_nobody_is_in(void) {
    enum { NODES = 4, GROUPS = 200, ROUNDS = 3 };
    world_options options = scenario_options(106, NODES, GROUPS);
    world *all = world_create(&options);
    for (uint32_t i = 0; i < NODES; i++) {
        world_join(all, i, 0);
    }
    (void)scenario_settle(all, 20 * WORLD_S, "coming up");
    const uint32_t host = scenario_host(all);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t group = 1; group < GROUPS; group++) {
            for (uint32_t i = 0; i < NODES; i++) {
                world_join(all, i, group);
            }
        }
        world_run(all, 200 * WORLD_MS);
        CHECK(world_counter(all, host, "hosted_groups_now") == GROUPS);
        for (uint32_t group = 1; group < GROUPS; group++) {
            (void)world_send(all, group % NODES, group, 100);
        }
        world_run(all, WORLD_MS);
        for (uint32_t group = 1; group < GROUPS; group++) {
            for (uint32_t i = 0; i < NODES; i++) {
                world_leave(all, i, group);
            }
        }
        (void)world_send(all, round, 0, 100);
        world_run(all, round == ROUNDS - 1 ? WORLD_S : 30 * WORLD_MS);
    }
    CHECK(world_counter(all, host, "hosted_groups_now") == 1);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(the_host_forgets_groups_that_nobody_is_in),
        SCENARIO(long_messages_are_cut_and_joined),
        SCENARIO(short_and_long_messages_share_a_long_datagram),
        SCENARIO(long_datagrams_that_are_lost_come_again),
        SCENARIO(half_empty_packets_hold_little_memory),
        SCENARIO(feeds_are_pulled_until_they_are_empty),
        SCENARIO(groups_over_several_regions_deliver_to_all),
        SCENARIO(what_somebody_lacks_counts_as_unacknowledged),
        SCENARIO(an_idle_world_is_silent),
        SCENARIO(what_was_not_read_of_a_group_goes_with_it),
        SCENARIO(a_full_queue_says_so_and_then_has_room),
    };
    return SCENARIO_MAIN("test_scenario_groups", scenarios);
}
