/* world_end.c - the end that every run comes to: all faults end, all say a last word, and then
 * everybody must agree, be silent and have given the memory back. */
#include <inttypes.h>

#include "world_state.h"

#define LAST_WORDS_MAX 3
#define HEARING_S_MAX 90 /* an address rests for a minute */

void world_heal(world *under_test) {
    qsm_sim *sim = under_test->sim;
    const uint32_t count = world_node_count(under_test);
    world_tell(under_test, "all faults end");
    const world_options calm = world_defaults(0, 0, 0);
    qsm_sim_set_link(sim, &calm.link);
    qsm_sim_set_multicast(sim, true);
    for (uint32_t i = 0; i < count; i++) {
        (void)qsm_sim_set_side(sim, i, 0);
        (void)qsm_sim_set_cost(sim, i, 0);
        (void)qsm_sim_set_deaf(sim, i, false);
        (void)qsm_sim_set_clock(sim, i, 0, 0);
        (void)qsm_sim_set_snooping(sim, i, 0);
        (void)qsm_sim_block_address(sim, i, NULL, false);
        for (uint32_t j = 0; j < count; j++) {
            (void)qsm_sim_block(sim, i, j, false);
            (void)qsm_sim_block_multicast(sim, i, j, false);
            (void)qsm_sim_set_link_between(sim, i, j, NULL);
        }
    }
}

/* Every member says a last word: whoever has it has all that its sender sent in their common views.
 */
static void say_last_words(world *under_test) {
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        for (uint32_t j = 0; j < under_test->options.group_count; j++) {
            if (world_seat(under_test, i, j) == NULL) continue;
            const int result = world_send(under_test, i, j, 100);
            if (result == QSM_OK) continue;
            oracle_fail(under_test->judge, "node %u cannot send to group %u at the end: %s", i, j,
                        qsm_error_text(result));
        }
    }
}

static uint32_t count_up(world *under_test) {
    uint32_t up = 0;
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        if (qsm_sim_engine(under_test->sim, i) != NULL) up++;
    }
    return up;
}

/* Counts datagrams by their second byte, which is the kind of packet. */
static void count_kind(void *context, uint32_t from, const qsm_datagram *datagram) {
    uint64_t *kinds = context;
    (void)from;
    if (datagram->bytes > 1) kinds[datagram->data[1]]++;
}

/* Nothing but heartbeats: each node pings, is answered and, at the host, calls out now and then. */
static void check_silence(world *under_test) {
    const uint64_t heartbeat_ns = under_test->options.config.heartbeat_ns;
    const uint64_t beats = 20;
    qsm_sim_traffic before, after;
    uint64_t kinds[256] = {0};
    qsm_sim_tap(under_test->sim, count_kind, kinds);
    qsm_sim_get_traffic(under_test->sim, &before);
    world_run(under_test, beats * heartbeat_ns);
    qsm_sim_tap(under_test->sim, NULL, NULL);
    qsm_sim_get_traffic(under_test->sim, &after);
    const uint64_t sent = after.datagrams - before.datagrams;
    const uint64_t allowed = 3 * beats * (count_up(under_test) + 1) + 20;
    if (sent <= allowed) return;
    uint32_t most = 0;
    for (uint32_t i = 1; i < 256; i++) {
        if (kinds[i] > kinds[most]) most = i;
    }
    oracle_fail(under_test->judge,
                "an idle system sent %" PRIu64 " datagrams in %" PRIu64 " heartbeats, more than"
                " %" PRIu64 "; %" PRIu64 " of them of kind %u",
                sent, beats, allowed, kinds[most], most);
}

/* Where everybody hears everybody again, regions go back to multicast. */
static void check_hearing(world *under_test) {
    uint64_t left = 1;
    for (uint32_t i = 0; i < HEARING_S_MAX && left > 0; i++) {
        left = world_counter_sum(under_test, "unicast_now");
        if (left > 0) world_run(under_test, WORLD_S);
    }
    if (left > 0)
        oracle_fail(under_test->judge, "%" PRIu64 " regions go by unicast though all are heard",
                    left);
    world_run(under_test, 5 * WORLD_S); /* until regions that were left are drained */
}

static void check_memory(world *under_test) {
    /* One buffer for the plaintexts of short messages stays; control packets may be under way. */
    static const struct {
        const char *counter;
        uint64_t floor;
    } levels[] = {{"pool_bytes_now", 128 << 10}, {"parked_now", 0}, {"events_now", 0}};
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        for (size_t j = 0; j < sizeof levels / sizeof *levels; j++) {
            const uint64_t value = world_counter(under_test, i, levels[j].counter);
            if (value <= levels[j].floor) continue;
            oracle_fail(under_test->judge, "%s of node %u is %" PRIu64 " after all is done",
                        levels[j].counter, i, value);
        }
    }
}

/* Whoever was put out in the meantime has missed what was said in views that it was in under its
 * old id, so a new view means another round. */
static void hear_last_words(world *under_test, uint64_t limit_ns) {
    for (uint32_t round = 0; round < LAST_WORDS_MAX && world_failure(under_test) == NULL; round++) {
        (void)world_agree(under_test, limit_ns);
        if (world_failure(under_test) != NULL) return;
        const uint64_t views = oracle_views(under_test->judge);
        world_tell(under_test, "all members say their last words");
        say_last_words(under_test);
        if (world_settle(under_test, limit_ns)) return;
        if (oracle_views(under_test->judge) == views) break;
    }
    oracle_check_settled(under_test->judge);
}

void world_finish(world *under_test, uint64_t limit_ns) {
    const qsm_config *config = &under_test->options.config;
    world_heal(under_test);
    world_hush(under_test);
    /* Until all frozen nodes are awake and all who are to be put out have been. */
    const uint64_t now_ns = world_now_ns(under_test);
    if (under_test->frozen_until_ns > now_ns)
        world_run(under_test, under_test->frozen_until_ns - now_ns);
    world_run(under_test, 3 * config->failure_ns);
    hear_last_words(under_test, limit_ns);
    world_run(under_test, 5 * WORLD_S);
    if (world_failure(under_test) == NULL) oracle_check_end(under_test->judge);
    if (world_failure(under_test) == NULL) check_hearing(under_test);
    if (world_failure(under_test) == NULL) check_silence(under_test);
    if (world_failure(under_test) == NULL) check_memory(under_test);
}
