/* test_sim_oracle.c - the oracle notices each broken rule, and does not cry when none is broken. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { A = 0, B = 1, C = 2, NODES = 3 };
static const uint64_t ids[NODES] = {0xa, 0xb, 0xc};

/* Three nodes in group 0; nothing has been told yet. */
typedef struct {
    oracle *judge;
    oracle_seat *seats[NODES];
    uint64_t now_ns;
} court;

static court court_open(void) {
    court made = {.judge = oracle_create(), .now_ns = WORLD_S};
    for (uint32_t i = 0; i < NODES; i++) {
        oracle_node_started(made.judge, i, ids[i]);
        made.seats[i] = oracle_joined(made.judge, i, 0);
    }
    return made;
}

static void tell_view(court *held, uint32_t node, uint64_t view, uint32_t members) {
    uint64_t list[NODES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        if ((members >> i & 1) != 0) list[count++] = ids[i];
    }
    const qsm_event event = {.type = QSM_EVENT_VIEW,
                             .user = held->seats[node],
                             .view = view,
                             .members = list,
                             .member_count = count};
    oracle_observe(held->judge, held->now_ns += WORLD_MS, node, &event);
}

static void tell_view_all(court *held, uint64_t view, uint32_t members) {
    for (uint32_t i = 0; i < NODES; i++) {
        if ((members >> i & 1) != 0) tell_view(held, i, view, members);
    }
}

/* Writes what the sender's next message looks like, and counts it as sent. */
static void send(court *held, uint32_t sender, uint8_t *data) {
    oracle_write_message(held->seats[sender], data, 100);
    oracle_sent(held->seats[sender]);
}

static void deliver(court *held, uint32_t node, uint32_t sender, uint64_t view,
                    const uint8_t *data) {
    const qsm_event event = {.type = QSM_EVENT_DELIVERY,
                             .user = held->seats[node],
                             .sender = ids[sender],
                             .view = view,
                             .data = data,
                             .bytes = 100};
    oracle_observe(held->judge, held->now_ns += WORLD_MS, node, &event);
}

static void deliver_all(court *held, uint32_t nodes, uint32_t sender, uint64_t view,
                        const uint8_t *data) {
    for (uint32_t i = 0; i < NODES; i++) {
        if ((nodes >> i & 1) != 0) deliver(held, i, sender, view, data);
    }
}

/* Ends the court; the verdict must contain the words, or be none at all for NULL. */
static void expect(court *held, const char *words) {
    oracle_check_end(held->judge);
    const char *verdict = oracle_failure(held->judge);
    if (words == NULL) {
        CHECK_SAY(verdict == NULL, "no failure, found: %s", verdict == NULL ? "" : verdict);
    } else {
        CHECK_SAY(verdict != NULL && strstr(verdict, words) != NULL, "'%s' in: %s", words,
                  verdict == NULL ? "nothing" : verdict);
    }
    oracle_destroy(held->judge);
}

/* A court in which all have heard that they are in view 1, and A says so many messages. */
static court court_where_a_says(uint8_t (*said)[100], uint32_t count) {
    court held = court_open();
    tell_view_all(&held, 1, 7);
    for (uint32_t i = 0; i < count; i++) {
        send(&held, A, said[i]);
    }
    return held;
}

static void a_good_run_is_good(void) {
    uint8_t said[2][100];
    court held = court_where_a_says(said, 2);
    deliver_all(&held, 7, A, 1, said[0]);
    CHECK(!oracle_is_settled(held.judge));
    deliver_all(&held, 7, A, 1, said[1]);
    CHECK(oracle_is_settled(held.judge));
    CHECK(oracle_deliveries(held.judge) == 6);
    expect(&held, NULL);
}

static void a_message_twice_is_noticed(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    deliver_all(&held, 7, A, 1, said[0]);
    deliver(&held, B, A, 1, said[0]);
    expect(&held, "twice");
}

static void messages_out_of_order_are_noticed(void) {
    uint8_t said[2][100];
    court held = court_where_a_says(said, 2);
    deliver(&held, B, A, 1, said[1]);
    deliver(&held, B, A, 1, said[0]);
    expect(&held, "out of order");
}

static void a_gap_is_noticed(void) {
    uint8_t said[3][100];
    court held = court_where_a_says(said, 3);
    deliver_all(&held, 7, A, 1, said[0]);
    deliver_all(&held, 7, A, 1, said[2]);
    expect(&held, "messages are missing");
}

/* B is in views 1 and 3 and not in view 2. A leaves before it has read of any but the first; what
 * it sent between two messages that B got was sent in `view`. */
static court court_with_a_deaf_sender(uint64_t view) {
    uint8_t said[3][100];
    court held = court_where_a_says(said, 3);
    deliver_all(&held, 1U << B | 1U << C, A, 1, said[0]);
    if (view == 1) deliver(&held, C, A, 1, said[1]);
    tell_view(&held, C, 2, 1U << A | 1U << C);
    if (view == 2) deliver(&held, C, A, 2, said[1]);
    tell_view(&held, B, 3, 7);
    tell_view(&held, C, 3, 7);
    if (view == 3) deliver(&held, C, A, 3, said[1]);
    deliver_all(&held, 1U << B | 1U << C, A, 3, said[2]);
    oracle_left(held.seats[A]);
    tell_view_all(&held, 4, 1U << B | 1U << C);
    return held;
}

static void what_was_sent_in_a_view_without_one_is_not_missing_there(void) {
    court held = court_with_a_deaf_sender(2);
    expect(&held, NULL);
}

/* The same when nobody got what was sent in the view without B, and A left with the view unread. */
static void a_view_that_was_left_unread_counts(void) {
    for (uint32_t members = 5; members <= 7; members += 2) {
        court held = court_open();
        uint8_t one[100], two[100], three[100];
        const uint64_t list[] = {ids[A], ids[C], ids[B]};
        const qsm_event unread = {.type = QSM_EVENT_VIEW,
                                  .view = 2,
                                  .members = list,
                                  .member_count = members == 5 ? 2 : 3};
        tell_view_all(&held, 1, 7);
        send(&held, A, one);
        send(&held, A, two);
        send(&held, A, three);
        deliver(&held, B, A, 1, one);
        tell_view(&held, B, 3, 7);
        deliver(&held, B, A, 3, three);
        oracle_observe_unread_view(held.seats[A], ids[A], &unread);
        oracle_left(held.seats[A]);
        tell_view(&held, B, 4, 1U << B);
        oracle_left(held.seats[C]);
        expect(&held, members == 5 ? NULL : "messages are missing");
    }
}

static void what_was_sent_in_a_view_with_one_is_missing_there(void) {
    court before = court_with_a_deaf_sender(1), after = court_with_a_deaf_sender(3);
    expect(&before, "messages are missing");
    expect(&after, "messages are missing");
}

static void a_missing_beginning_is_noticed(void) {
    uint8_t said[2][100];
    court held = court_where_a_says(said, 2);
    deliver_all(&held, 7, A, 1, said[1]);
    expect(&held, "messages are missing");
}

static void a_late_joiner_need_not_have_what_was_before_it(void) {
    court held = court_open();
    uint8_t one[100], two[100];
    tell_view_all(&held, 1, 3);
    send(&held, A, one);
    deliver_all(&held, 3, A, 1, one);
    tell_view_all(&held, 2, 7);
    send(&held, A, two);
    deliver_all(&held, 7, A, 2, two);
    expect(&held, NULL);
}

static void a_message_that_one_survivor_lacks_is_noticed(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    deliver(&held, B, A, 1, said[0]);
    oracle_node_ended(held.judge, A);
    tell_view_all(&held, 2, 6);
    expect(&held, "though both stayed");
}

static void a_message_that_no_survivor_has_is_fine(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    deliver(&held, A, A, 1, said[0]);
    oracle_node_ended(held.judge, A);
    tell_view_all(&held, 2, 6);
    expect(&held, NULL);
}

static void two_sides_of_a_partition_may_differ(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    deliver(&held, A, A, 1, said[0]);
    deliver(&held, B, A, 1, said[0]);
    tell_view_all(&held, 2, 3);
    tell_view(&held, C, 3, 4);
    tell_view_all(&held, 4, 7);
    uint8_t two[100];
    send(&held, A, two);
    deliver_all(&held, 7, A, 4, two);
    expect(&held, NULL);
}

static void a_message_of_a_view_that_one_is_not_in_is_noticed(void) {
    court held = court_open();
    uint8_t one[100];
    tell_view_all(&held, 1, 3);
    send(&held, A, one);
    deliver_all(&held, 3, A, 1, one);
    tell_view_all(&held, 2, 7);
    deliver(&held, C, A, 1, one);
    expect(&held, "which it was not in");
}

static void two_contents_of_one_view_are_noticed(void) {
    court held = court_open();
    tell_view(&held, A, 1, 7);
    tell_view(&held, B, 1, 3);
    expect(&held, "different members");
}

static void a_view_without_oneself_is_noticed(void) {
    court held = court_open();
    tell_view(&held, A, 1, 6);
    expect(&held, "which it is not in");
}

static void a_view_that_goes_back_is_noticed(void) {
    court held = court_open();
    tell_view(&held, A, 2, 7);
    tell_view(&held, A, 1, 3);
    expect(&held, "after view 2");
}

static void a_damaged_message_is_noticed(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    said[0][70] ^= 1;
    deliver(&held, B, A, 1, said[0]);
    expect(&held, "damaged");
}

static void a_message_of_another_group_is_noticed(void) {
    court held = court_open();
    uint8_t one[100];
    tell_view_all(&held, 1, 7);
    oracle_seat *other = oracle_joined(held.judge, A, 1);
    oracle_write_message(other, one, 100);
    oracle_sent(other);
    deliver(&held, B, A, 1, one);
    expect(&held, "message of group 1 in group 0");
}

static void an_event_after_leaving_is_noticed(void) {
    court held = court_open();
    uint8_t one[100];
    tell_view_all(&held, 1, 7);
    oracle_left(held.seats[B]);
    send(&held, A, one);
    deliver(&held, B, A, 1, one);
    expect(&held, "not in");
}

static void a_delivery_while_suspended_is_noticed(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    const qsm_event event = {
        .type = QSM_EVENT_HEALTH, .health = QSM_HEALTH_SUSPENDED, .sender = ids[B]};
    oracle_observe(held.judge, held.now_ns, B, &event);
    deliver(&held, B, A, 1, said[0]);
    expect(&held, "suspended");
}

static void a_message_under_a_strange_name_is_noticed(void) {
    uint8_t said[1][100];
    court held = court_where_a_says(said, 1);
    deliver(&held, B, C, 1, said[0]);
    expect(&held, "never had");
}

static void views_that_differ_at_the_end_are_noticed(void) {
    court held = court_open();
    tell_view_all(&held, 1, 7);
    tell_view(&held, A, 2, 7);
    expect(&held, "at the end");
}

static void a_dead_member_in_the_last_view_is_noticed(void) {
    court held = court_open();
    tell_view_all(&held, 1, 7);
    oracle_node_ended(held.judge, C);
    expect(&held, "has 3 members");
}

/* B leaves and comes back between two views that both hold it. */
static court court_with_a_second_stay(void) {
    uint8_t data[100];
    court held = court_open();
    tell_view_all(&held, 1, 7);
    oracle_left(held.seats[B]);
    send(&held, A, data);
    deliver_all(&held, 1U << A | 1U << C, A, 1, data);
    held.seats[B] = oracle_joined(held.judge, B, 0);
    tell_view_all(&held, 2, 7);
    send(&held, A, data);
    deliver_all(&held, 7, A, 2, data);
    return held;
}

static void a_second_stay_need_not_have_what_was_before_it(void) {
    court held = court_with_a_second_stay();
    expect(&held, NULL);
}

static void a_message_that_a_second_stay_lacks_is_noticed(void) {
    uint8_t data[100];
    court held = court_with_a_second_stay();
    send(&held, A, data);
    deliver_all(&held, 1U << A | 1U << C, A, 2, data);
    expect(&held, "though both stayed");
}

static void a_missing_beginning_of_a_second_stay_is_noticed(void) {
    uint8_t one[100], two[100];
    court held = court_open();
    tell_view_all(&held, 1, 7);
    oracle_left(held.seats[B]);
    held.seats[B] = oracle_joined(held.judge, B, 0);
    tell_view_all(&held, 2, 7);
    send(&held, A, one);
    send(&held, A, two);
    deliver_all(&held, 1U << A | 1U << C, A, 2, one);
    deliver_all(&held, 7, A, 2, two);
    expect(&held, "messages are missing");
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_good_run_is_good),
        SCENARIO(a_message_twice_is_noticed),
        SCENARIO(messages_out_of_order_are_noticed),
        SCENARIO(a_gap_is_noticed),
        SCENARIO(what_was_sent_in_a_view_without_one_is_not_missing_there),
        SCENARIO(what_was_sent_in_a_view_with_one_is_missing_there),
        SCENARIO(a_view_that_was_left_unread_counts),
        SCENARIO(a_missing_beginning_is_noticed),
        SCENARIO(a_late_joiner_need_not_have_what_was_before_it),
        SCENARIO(a_message_that_one_survivor_lacks_is_noticed),
        SCENARIO(a_message_that_no_survivor_has_is_fine),
        SCENARIO(a_second_stay_need_not_have_what_was_before_it),
        SCENARIO(a_message_that_a_second_stay_lacks_is_noticed),
        SCENARIO(a_missing_beginning_of_a_second_stay_is_noticed),
        SCENARIO(two_sides_of_a_partition_may_differ),
        SCENARIO(a_message_of_a_view_that_one_is_not_in_is_noticed),
        SCENARIO(two_contents_of_one_view_are_noticed),
        SCENARIO(a_view_without_oneself_is_noticed),
        SCENARIO(a_view_that_goes_back_is_noticed),
        SCENARIO(a_damaged_message_is_noticed),
        SCENARIO(a_message_of_another_group_is_noticed),
        SCENARIO(an_event_after_leaving_is_noticed),
        SCENARIO(a_delivery_while_suspended_is_noticed),
        SCENARIO(a_message_under_a_strange_name_is_noticed),
        SCENARIO(views_that_differ_at_the_end_are_noticed),
        SCENARIO(a_dead_member_in_the_last_view_is_noticed),
    };
    return SCENARIO_MAIN("test_sim_oracle", scenarios);
}
