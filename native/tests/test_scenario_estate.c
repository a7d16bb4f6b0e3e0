/* test_scenario_estate.c - what a crashed sender left behind: all survivors deliver it, or none. */
#include "scenario.h"

/* The sender dies while its packets are under way and only some have them. */
static void crash_a_sender(uint64_t first_seed, uint64_t last_seed, uint32_t data_bytes_max,
                           uint32_t message_bytes) {
    for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
        world_options options = scenario_options(seed, 9, 3);
        options.config.policy = (uint32_t)(seed % 3);
        options.config.data_bytes_max = data_bytes_max;
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
        world_pour(all, 4, 0, message_bytes, 200);
        world_pour(all, 4, 1, message_bytes, 200);
        world_run(all, (seed - first_seed + 1) * 3 * WORLD_MS);
        world_crash(all, 4);
        qsm_sim_set_link(world_sim(all), &options.link);
        world_run(all, 5 * WORLD_S);
        scenario_end(all);
    }
}

static void what_a_crashed_sender_sent_is_delivered_by_all_or_none(void) {
    crash_a_sender(30, 41, 0, 400);
}

static void so_is_what_was_packed_into_long_datagrams(void) {
    crash_a_sender(50, 52, QSM_DATA_BYTES_MAX, 700);
    crash_a_sender(53, 55, QSM_DATA_BYTES_MAX, 6000);
}

/* A world of nodes that are all in group 0, and each a region of its own: node i is in group i + 1,
 * too. The first hosts, the others follow in their order. */
static world *world_of_single_regions(world_options *options, uint32_t node_count) {
    options->config.policy = QSM_POLICY_EXACT;
    world *all = world_create(options);
    for (uint32_t i = 0; i < node_count; i++) {
        if (i > 0) (void)world_add_node(all, NULL);
        world_join(all, i, 0);
        world_join(all, i, i + 1);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    return all;
}

/* A host knows that somebody is dead before the batch that tells of it. It has a part of a long
 * message, and the rest is in another region. */
static void a_host_keeps_the_beginning_of_what_a_dead_sender_sent(void) {
    enum { HOST = 0, OTHER = 1, SENDER = 2 };
    for (uint64_t ms = 20; ms <= 40; ms += 5) {
        world_options options = scenario_options(58, 1, 4);
        options.link.bandwidth_bytes_per_s = 1000000;
        options.link.queue_bytes = 1 << 20;
        world *all = world_of_single_regions(&options, 3);
        world_pour(all, SENDER, 0, 20000, 3);
        world_run(all, ms * WORLD_MS);
        (void)qsm_sim_block(world_sim(all), SENDER, HOST, true);
        world_run(all, 200 * WORLD_MS);
        CHECK(oracle_seat_deliveries(world_seat(all, OTHER, 0)) == 3);
        CHECK(oracle_seat_deliveries(world_seat(all, HOST, 0)) < 3);
        world_crash(all, SENDER);
        world_heal(all);
        world_run(all, 5 * WORLD_S);
        CHECK(oracle_seat_deliveries(world_seat(all, HOST, 0)) == 3);
        scenario_end(all);
    }
}

/* Nodes from `first` to `last` are not heard by `node`, or are again. */
static void block_to(world *all, uint32_t first, uint32_t last, uint32_t node, bool blocked) {
    for (uint32_t i = first; i <= last; i++) {
        if (i != node) (void)qsm_sim_block(world_sim(all), i, node, blocked);
    }
}

/* Every other packet is lost, to each member another one, and nobody can ask for it before the
 * sender has died: what a member has takes more ranges than fit in a packet. */
static void a_report_on_the_dead_may_take_many_packets(void) {
    enum { SENDER = 3 };
    world_options options = scenario_options(43, 4, 1);
    options.config.datagram_bytes_max = 576;
    world *all = scenario_begin(&options);
    qsm_sim_link lossy = options.link;
    lossy.loss_ppm = 500000;
    for (uint32_t i = 0; i <= SENDER; i++) {
        block_to(all, 0, SENDER - 1, i, true);
        (void)qsm_sim_set_link_between(world_sim(all), SENDER, i, &lossy);
    }
    world_pour(all, SENDER, 0, 500, 600);
    world_run(all, 300 * WORLD_MS);
    world_crash(all, SENDER);
    world_heal(all);
    world_run(all, 5 * WORLD_S);
    CHECK_SAY(world_counter_sum(all, "orphans_resolved") > 0, "the sender's stream is ended");
    CHECK_SAY(world_counter_sum(all, "orphan_packets_lost") > 64, "with many holes");
    scenario_end(all);
}

/* A world of nodes that are in group 0, the first one, which hosts, perhaps in another. Their rank
 * is their place in the region. */
static world *world_in_order(const world_options *options, uint32_t node_count,
                             uint32_t host_group) {
    world *all = world_create(options);
    world_join(all, 0, host_group);
    while (world_node_count(all) < node_count) {
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
        world_join(all, world_add_node(all, NULL), 0);
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    return all;
}

/* Pours messages of one packet each, heard by the others or not; nothing is acknowledged. */
static void pour_blocked(world *all, uint32_t sender, bool unheard, uint64_t count) {
    for (uint32_t i = 0; i < sender; i++) {
        (void)qsm_sim_block(world_sim(all), sender, i, unheard);
        (void)qsm_sim_block(world_sim(all), i, sender, true);
    }
    world_pour(all, sender, 0, 1200, count);
    world_run(all, 50 * WORLD_MS + count * 1300 * WORLD_US);
}

/* So many messages that are heard, so many that are not, and so many that are again. */
static void pour_with_gap(world *all, uint32_t sender, uint32_t heard, uint32_t unheard,
                          uint32_t last) {
    pour_blocked(all, sender, false, heard);
    pour_blocked(all, sender, true, unheard);
    pour_blocked(all, sender, false, last);
}

/* The sender is not heard for a while, so long that there is no room for what it sends then, and
 * dies later. One of the others hears no multicast of the one who ends the stream. Returns how many
 * packets it could not take for want of memory. */
static uint64_t miss_the_end(uint64_t seed, uint32_t receive_bytes_max) {
    enum { EXECUTOR, MEMBER, SENDER, HEARD = 100, UNHEARD = 1200, LAST = 750 };
    world_options options = scenario_options(seed, 1, 1);
    options.config.receive_bytes_max = receive_bytes_max;
    options.config.failure_ns = 3 * WORLD_S; /* longer than it is not heard */
    options.config.lag_ns_max = 20 * WORLD_S;
    world *all = world_in_order(&options, SENDER + 1, 0);
    pour_with_gap(all, SENDER, HEARD, UNHEARD, LAST);
    (void)qsm_sim_block_multicast(world_sim(all), EXECUTOR, MEMBER, true);
    world_crash(all, SENDER);
    world_run(all, options.config.failure_ns + 2 * WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, MEMBER, 0)) == HEARD);
    CHECK(world_counter(all, MEMBER, "orphan_packets_lost") > 512);
    const uint64_t refused = world_counter(all, MEMBER, "data_receive_full");
    scenario_figure("%" PRIu64 " holes, %" PRIu64 " packets asked for, %" PRIu64 " refused",
                    world_counter(all, MEMBER, "orphan_packets_lost"), scenario_repairs_asked(all),
                    refused);
    scenario_end(all);
    return refused;
}

static void who_missed_the_end_of_a_dead_stream_learns_what_nobody_has(void) {
    CHECK(miss_the_end(47, 64 << 20) == 0);
}

static void so_does_who_has_no_room_for_the_end(void) {
    CHECK(miss_the_end(48, 1 << 20) > 0);
}

/* The executor dies when it has ended the stream, and of the packets which say what nobody has the
 * others have some. The next one has to end the stream once more, and not everybody hears it. */
static void who_knows_an_end_learns_of_a_later_one(void) {
    enum { FIRST = 1, SECOND, THIRD, SENDER, HEARD = 20, UNHEARD = 1200, LAST = 20 };
    for (uint64_t seed = 80; seed < 88; seed++) {
        world_options options = scenario_options(seed, 1, 2);
        options.config.failure_ns = 3 * WORLD_S; /* longer than it is not heard */
        options.config.lag_ns_max = 20 * WORLD_S;
        world *all = world_in_order(&options, SENDER + 1, 1);
        pour_with_gap(all, SENDER, HEARD, UNHEARD, LAST);
        world_crash(all, SENDER);
        qsm_sim_link lossy = options.link;
        lossy.loss_ppm = 500000;
        for (uint32_t i = SECOND; i <= THIRD; i++)
            (void)qsm_sim_set_link_between(world_sim(all), FIRST, i, &lossy);
        (void)qsm_sim_block_multicast(world_sim(all), SECOND, THIRD, true);
        while (world_counter(all, FIRST, "orphans_resolved") == 0)
            world_run(all, WORLD_MS);
        world_crash(all, FIRST);
        world_run(all, options.config.failure_ns + 2 * WORLD_S);
        scenario_end(all);
    }
}

/* A member lacks packets that only the second partition has to keep, and that partition dies with
 * the sender. Returns how many were put out. */
static uint64_t crash_second_partition(uint64_t seed, uint32_t node_count) {
    enum { RING = 8, LACKS = 5 };
    world_options options = scenario_options(seed, 1, 1);
    options.config.ring_size_max = RING;
    world *all = world_in_order(&options, node_count, 0);
    block_to(all, LACKS + 1, node_count - 1, LACKS, true);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(world_send(all, RING, 0, 1200) == QSM_OK);
    }
    world_run(all, 700 * WORLD_MS);
    const uint64_t had = oracle_seat_deliveries(world_seat(all, LACKS, 0));
    for (uint32_t i = RING; i < node_count; i++) {
        world_crash(all, i);
    }
    world_heal(all);
    world_run(all, 15 * WORLD_S);
    const uint64_t got = oracle_seat_deliveries(world_seat(all, LACKS, 0)) - had;
    const uint64_t put_out = world_counter_sum(all, "evicted");
    scenario_figure("%u nodes: it got %" PRIu64 " of them, %" PRIu64 " put out", node_count, got,
                    put_out);
    scenario_end(all);
    return put_out;
}

static void what_few_would_keep_is_kept_by_all(void) {
    CHECK(crash_second_partition(44, 10) == 0);
}

static void who_lacks_what_nobody_keeps_any_more_begins_anew(void) {
    CHECK(crash_second_partition(45, 16) == 1);
}

/* The sender says its last: twenty messages, which one node hears and another does not. */
static void send_to_some(world *all, uint32_t sender, uint32_t group, uint32_t heard,
                         uint32_t unheard) {
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(world_send(all, sender, group, 200) == QSM_OK);
    }
    world_run(all, 50 * WORLD_MS);
    CHECK(oracle_seat_deliveries(world_seat(all, heard, group)) == 20);
    CHECK(oracle_seat_deliveries(world_seat(all, unheard, group)) == 0);
}

/* Regions of like interest hold nodes that are not in a group whose messages come to them; such a
 * node may be the one that settles what a dead sender left, and must know which other regions share
 * it. */
static void an_executor_shares_messages_of_groups_that_it_is_not_in(void) {
    enum { HALF = 4, SHARED = 6, SENDER = 1 };
    world_options options = scenario_options(46, 1, 7);
    options.config.policy = QSM_POLICY_SIMILAR;
    world *all = world_create(&options);
    for (uint32_t i = 0; i < 2 * HALF; i++) { /* their rank is their place in the region */
        if (i > 0) (void)world_add_node(all, NULL);
        for (uint32_t group = 0; group < 3; group++) {
            world_join(all, i, group + 3 * (i / HALF));
        }
        if (i % HALF > 0) world_join(all, i, SHARED);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    for (uint32_t i = HALF; i < 2 * HALF; i++) {
        (void)qsm_sim_block(world_sim(all), SENDER, i, true);
    }
    send_to_some(all, SENDER, SHARED, 2, HALF + 1);
    world_crash(all, SENDER);
    (void)scenario_settle(all, 30 * WORLD_S, "after the crash");
    world_run(all, WORLD_S); /* all agree on who is there before the estate is settled */
    scenario_figure("%" PRIu64 " messages carried over", world_counter_sum(all, "estate_messages"));
    CHECK(oracle_seat_deliveries(world_seat(all, HALF + 1, SHARED)) == 20);
    scenario_end(all);
}

/* A region that never heard the dead sender is left by its views at once, when one of its members
 * has died, too. It must not be given up before the other region has said what it has, which takes
 * long when one after the other who should say it dies. */
static void a_region_waits_for_what_others_have_of_a_dead_sender(void) {
    enum { HOST, EXECUTOR, HEARD, SENDER = 4, UNHEARD, FALLEN = 8, SHARED = 2 };
    world_options options = scenario_options(47, 1, 4);
    options.config.policy = QSM_POLICY_EXACT;
    world *all = world_create(&options);
    world_join(all, HOST, 3);
    for (uint32_t i = EXECUTOR; i <= FALLEN; i++) { /* their rank is their place in the region */
        (void)world_add_node(all, NULL);
        world_join(all, i, i > SENDER);
        world_join(all, i, SHARED);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    for (uint32_t i = UNHEARD; i <= FALLEN; i++) {
        (void)qsm_sim_block(world_sim(all), SENDER, i, true);
    }
    send_to_some(all, SENDER, SHARED, HEARD, UNHEARD);
    world_crash(all, SENDER);
    world_crash(all, FALLEN);
    world_run(all, options.config.failure_ns * 3 / 4);
    world_crash(all, EXECUTOR);
    world_run(all, 10 * WORLD_S);
    scenario_figure("%" PRIu64 " messages carried over", world_counter_sum(all, "estate_messages"));
    CHECK(oracle_seat_deliveries(world_seat(all, UNHEARD, SHARED)) == 20);
    scenario_end(all);
}

/* The one node that heard the dead sender executes its estate, tells the executor of the second of
 * three regions, and dies before it could tell that of the third. */
static void what_a_dying_executor_told_one_region_comes_to_all(void) {
    enum { FIRST = 1, SECOND, THIRD = 4, SENDER = 6, SHARED = 4 };
    world_options options = scenario_options(48, 1, 6);
    options.config.policy = QSM_POLICY_EXACT;
    world *all = world_create(&options);
    world_join(all, 0, 5);
    for (uint32_t i = FIRST; i <= SENDER; i++) { /* first and sender are alone in their regions */
        (void)world_add_node(all, NULL);
        world_join(all, i, i / 2);
        world_join(all, i, SHARED);
        (void)scenario_agree(all, 10 * WORLD_S, "one after the other");
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    for (uint32_t i = 0; i < SENDER; i++) {
        if (i != FIRST) (void)qsm_sim_block(world_sim(all), SENDER, i, true);
        if (i >= THIRD) (void)qsm_sim_block(world_sim(all), FIRST, i, true);
    }
    send_to_some(all, SENDER, SHARED, FIRST, SECOND);
    world_crash(all, SENDER);
    world_run(all, options.config.failure_ns + WORLD_S);
    world_crash(all, FIRST);
    world_run(all, 10 * WORLD_S);
    scenario_figure("%" PRIu64 " messages carried over", world_counter_sum(all, "estate_messages"));
    CHECK(oracle_seat_deliveries(world_seat(all, SECOND, SHARED)) == 20);
    CHECK(oracle_seat_deliveries(world_seat(all, THIRD, SHARED)) == 20);
    scenario_end(all);
}

/* A sender crashes and is there again at once, under another id at the same address. One region has
 * not been told yet that the first one is dead and still acknowledges what that sent: this says
 * nothing of what the second one sends, which that region does not hear. */
static void what_came_of_an_earlier_life_is_not_taken_for_what_is_sent_now(void) {
    enum { HOST, HEARS, LACKS, SENDER, SHARED = 0, BEFORE = 10, NOW = 20 };
    world_options options = scenario_options(49, 1, 4);
    options.config.policy = QSM_POLICY_EXACT;
    world *all = world_create(&options);
    world_join(all, HOST, HOST + 1);
    (void)scenario_agree(all, 10 * WORLD_S, "the host");
    for (uint32_t i = HEARS; i <= SENDER; i++) { /* each is alone in its region */
        (void)world_add_node(all, NULL);
        world_join(all, i, SHARED);
        if (i != SENDER) world_join(all, i, i + 1);
    }
    (void)scenario_settle(all, 10 * WORLD_S, "all are there");
    for (uint32_t i = 0; i < BEFORE; i++) {
        CHECK(world_send(all, SENDER, SHARED, 200) == QSM_OK);
    }
    world_run(all, WORLD_MS); /* too short to be told that all have it: it is acknowledged on */
    CHECK(oracle_seat_deliveries(world_seat(all, LACKS, SHARED)) == BEFORE);
    (void)qsm_sim_block(world_sim(all), SENDER, LACKS, true);
    world_crash(all, SENDER);
    world_restart(all, SENDER);
    world_join(all, SENDER, SHARED);
    world_run(all, options.config.failure_ns * 9 / 10);
    (void)qsm_sim_block(world_sim(all), HOST, LACKS, true);
    world_run(all, options.config.failure_ns / 3);
    CHECK(oracle_seat_view_size(world_seat(all, SENDER, SHARED)) == 3);
    CHECK(oracle_seat_view_size(world_seat(all, LACKS, SHARED)) == 4);
    for (uint32_t i = 0; i < NOW; i++) {
        CHECK(world_send(all, SENDER, SHARED, 200) == QSM_OK);
    }
    world_run(all, options.config.failure_ns / 6);
    CHECK(oracle_seat_deliveries(world_seat(all, HEARS, SHARED)) == BEFORE + NOW);
    CHECK(oracle_seat_deliveries(world_seat(all, LACKS, SHARED)) == BEFORE);
    CHECK(qsm_group_unacknowledged(world_group(all, SENDER, SHARED)) > 0);
    world_crash(all, SENDER);
    world_heal(all);
    world_run(all, 10 * WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, LACKS, SHARED)) == BEFORE + NOW);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(an_executor_shares_messages_of_groups_that_it_is_not_in),
        SCENARIO(a_region_waits_for_what_others_have_of_a_dead_sender),
        SCENARIO(what_a_dying_executor_told_one_region_comes_to_all),
        SCENARIO(what_came_of_an_earlier_life_is_not_taken_for_what_is_sent_now),
        SCENARIO(what_a_crashed_sender_sent_is_delivered_by_all_or_none),
        SCENARIO(so_is_what_was_packed_into_long_datagrams),
        SCENARIO(a_host_keeps_the_beginning_of_what_a_dead_sender_sent),
        SCENARIO(a_report_on_the_dead_may_take_many_packets),
        SCENARIO(who_missed_the_end_of_a_dead_stream_learns_what_nobody_has),
        SCENARIO(so_does_who_has_no_room_for_the_end),
        SCENARIO(who_knows_an_end_learns_of_a_later_one),
        SCENARIO(what_few_would_keep_is_kept_by_all),
        SCENARIO(who_lacks_what_nobody_keeps_any_more_begins_anew),
    };
    return SCENARIO_MAIN("test_scenario_estate", scenarios);
}
