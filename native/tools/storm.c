/* storm.c - draws a scenario and lives through it. */
#include "storm.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "drivers/sim_random.h"

#define LIVENESS_NS (60 * WORLD_S)

enum { SHORT_PERCENT = 25 }; /* of the seeds have it: those which, others' draws do not change */

static const char *const fault_names[STORM_FAULT_COUNT] = {
    [STORM_LOSS] = "loss",           [STORM_BURST] = "burst",         [STORM_JITTER] = "jitter",
    [STORM_DUPLICATE] = "duplicate", [STORM_NARROW] = "narrow",       [STORM_PAIR] = "pair",
    [STORM_CRASH] = "crash",         [STORM_RESTART] = "restart",     [STORM_DEPART] = "depart",
    [STORM_FREEZE] = "freeze",       [STORM_PARTITION] = "partition", [STORM_BLOCK] = "block",
    [STORM_SLOW] = "slow",           [STORM_DEAF] = "deaf",           [STORM_CLOCK] = "clock",
    [STORM_CHURN] = "churn",         [STORM_LATE] = "late",           [STORM_HUSH] = "hush",
    [STORM_SNOOP] = "snoop",         [STORM_SHORT] = "short",
};

typedef struct {
    world *scene;
    qsm_sim_random plan;    /* what the scenario is */
    qsm_sim_random when;    /* times between happenings */
    qsm_sim_random what;    /* which happening, to whom */
    qsm_sim_random traffic; /* who sends what */
    qsm_sim_random hush;    /* whose multicast is heard by whom, and when that changes */
    qsm_sim_random snoop;   /* which addresses reach whom, and when that changes */
    qsm_sim_random shorten; /* how long datagrams may be, and when that changes */
    uint32_t faults;
    uint32_t group_count;
    uint32_t message_bytes_max;
    world_options options;
} storm;

const char *storm_fault_name(uint32_t fault) {
    assert(fault < STORM_FAULT_COUNT);
    return fault_names[fault];
}

static bool has(const storm *drawn, uint32_t fault) {
    return (drawn->faults >> fault & 1) != 0;
}

static uint64_t between(qsm_sim_random *random, uint64_t least, uint64_t most) {
    assert(least <= most);
    return least + qsm_sim_random_below(random, most - least + 1);
}

/* Between the two, small values as likely as large ones: each doubling has the same chance. */
static uint64_t between_log(qsm_sim_random *random, uint64_t least, uint64_t most) {
    assert(least > 0 && least <= most);
    uint32_t doublings = 0;
    while (least << (doublings + 1) <= most) {
        doublings++;
    }
    const uint64_t low = least << between(random, 0, doublings);
    const uint64_t high = low * 2 - 1 < most ? low * 2 - 1 : most;
    return between(random, low, high);
}

static bool chance(qsm_sim_random *random, uint32_t percent) {
    return qsm_sim_random_below(random, 100) < percent;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Everything is drawn whether it is used or not, so that leaving out a fault changes nothing else.
 */
static void draw_link(storm *drawn, qsm_sim_link *link) {
    qsm_sim_random *plan = &drawn->plan;
    const uint64_t delay_ns = between_log(plan, 20 * WORLD_US, 50 * WORLD_MS);
    const uint64_t jitter_ns = between_log(plan, 10 * WORLD_US, 100 * WORLD_MS);
    const uint32_t loss_ppm = (uint32_t)between_log(plan, 1000, 300000);
    const uint32_t burst_ppm = (uint32_t)between_log(plan, 10, 5000);
    const uint32_t burst_packets = (uint32_t)between_log(plan, 2, 1000);
    const uint32_t duplicate_ppm = (uint32_t)between_log(plan, 1000, 500000);
    const uint64_t bandwidth = between_log(plan, 100000, 12500000);
    const uint32_t queue = (uint32_t)between_log(plan, 8 << 10, 256 << 10);
    *link = (qsm_sim_link){.delay_ns = delay_ns};
    if (has(drawn, STORM_JITTER)) link->jitter_ns = jitter_ns;
    if (has(drawn, STORM_LOSS)) link->loss_ppm = loss_ppm;
    if (has(drawn, STORM_BURST)) {
        link->burst_ppm = burst_ppm;
        link->burst_packets = burst_packets;
    }
    if (has(drawn, STORM_DUPLICATE)) link->duplicate_ppm = duplicate_ppm;
    if (has(drawn, STORM_NARROW)) {
        link->bandwidth_bytes_per_s = bandwidth;
        link->queue_bytes = queue;
    }
}

static void draw_config(storm *drawn, qsm_config *config) {
    qsm_sim_random *plan = &drawn->plan;
    config->policy = (uint32_t)between(plan, QSM_POLICY_EXACT, QSM_POLICY_HIERARCHY);
    config->ring_size_max = (uint32_t)between(plan, 2, 8);
    config->datagram_bytes_max = (uint32_t)between(plan, 576, QSM_DATAGRAM_BYTES_MAX);
    config->coupled_tokens = chance(plan, 15);
    config->cache_everywhere = chance(plan, 15);
    config->hybrid_regions_min = chance(plan, 20) ? 2 : 0;
}

static void draw(storm *drawn, uint64_t seed, uint32_t only, uint32_t also, bool verbose) {
    drawn->plan = qsm_sim_random_of(seed, 1001);
    drawn->when = qsm_sim_random_of(seed, 1002);
    drawn->what = qsm_sim_random_of(seed, 1003);
    drawn->traffic = qsm_sim_random_of(seed, 1004);
    drawn->hush = qsm_sim_random_of(seed, 1005);
    drawn->snoop = qsm_sim_random_of(seed, 1006);
    drawn->shorten = qsm_sim_random_of(seed, 1007);
    const uint32_t percent = (uint32_t)between(&drawn->plan, 5, 50);
    for (uint32_t fault = 0; fault < STORM_DRAWN_COUNT; fault++) {
        if (chance(&drawn->plan, percent)) drawn->faults |= 1U << fault;
    }
    if (chance(&drawn->shorten, SHORT_PERCENT)) drawn->faults |= 1U << STORM_SHORT;
    if (only != 0) drawn->faults &= only;
    drawn->faults |= also & ((1U << STORM_FAULT_COUNT) - 1);
    const uint32_t node_count = (uint32_t)between_log(&drawn->plan, 2, 24);
    drawn->group_count = (uint32_t)between_log(&drawn->plan, 1, 40);
    drawn->message_bytes_max =
        (uint32_t)between_log(&drawn->plan, 64, chance(&drawn->plan, 20) ? 20000 : 2000);
    drawn->options = world_defaults(seed, node_count, drawn->group_count);
    drawn->options.verbose = verbose;
    draw_config(drawn, &drawn->options.config);
    draw_link(drawn, &drawn->options.link);
    if (has(drawn, STORM_LATE)) drawn->options.node_count = 1 + node_count / 2;
}

/* ---- happenings ------------------------------------------------------------------------------ */

static uint32_t some_node(storm *drawn) {
    return (uint32_t)qsm_sim_random_below(&drawn->what, world_node_count(drawn->scene));
}

static uint32_t count_up(const storm *drawn) {
    uint32_t up = 0;
    for (uint32_t i = 0; i < world_node_count(drawn->scene); i++) {
        if (world_is_up(drawn->scene, i)) up++;
    }
    return up;
}

static void join_some(storm *drawn, uint32_t node) {
    /* Some nodes are in nearly all groups, some in few: regions of all shapes come from that. */
    const uint32_t percent = (uint32_t)between(&drawn->what, 10, 100);
    for (uint32_t group = 0; group < drawn->group_count; group++) {
        if (chance(&drawn->what, percent)) world_join(drawn->scene, node, group);
    }
}

static void churn(storm *drawn, uint32_t node) {
    const uint32_t group = (uint32_t)qsm_sim_random_below(&drawn->what, drawn->group_count);
    if (world_seat(drawn->scene, node, group) == NULL) {
        world_join(drawn->scene, node, group);
    } else {
        world_leave(drawn->scene, node, group);
    }
}

static void partition(storm *drawn) {
    qsm_sim *sim = world_sim(drawn->scene);
    const uint32_t sides = chance(&drawn->what, 40) ? 1 : (uint32_t)between(&drawn->what, 2, 3);
    world_tell(drawn->scene, sides == 1 ? "the network is whole" : "the network breaks in %u",
               sides);
    for (uint32_t i = 0; i < world_node_count(drawn->scene); i++) {
        const uint32_t side = (uint32_t)qsm_sim_random_below(&drawn->what, sides);
        world_tell(drawn->scene, "node %u is on side %u", i, side);
        (void)qsm_sim_set_side(sim, i, side);
    }
}

static void bad_pair(storm *drawn, uint32_t from, uint32_t to) {
    qsm_sim_link link = drawn->options.link;
    const bool good_again = chance(&drawn->what, 30);
    link.loss_ppm = (uint32_t)between(&drawn->what, 10000, 900000);
    link.delay_ns += between(&drawn->what, 0, 100 * WORLD_MS);
    world_tell(drawn->scene, "the link from %u to %u is %s", from, to,
               good_again ? "good again" : "bad");
    (void)qsm_sim_set_link_between(world_sim(drawn->scene), from, to, good_again ? NULL : &link);
}

static void do_fault(storm *drawn, uint32_t fault, uint32_t node, uint32_t other) {
    world *scene = drawn->scene;
    qsm_sim *sim = world_sim(scene);
    const uint64_t some_ns = between_log(&drawn->what, 20 * WORLD_MS, 12 * WORLD_S);
    const uint64_t cost_ns = between_log(&drawn->what, 10 * WORLD_US, 20 * WORLD_MS);
    const bool on = chance(&drawn->what, 50);
    switch (fault) {
    case STORM_PAIR: bad_pair(drawn, node, other); break;
    case STORM_CRASH:
        if (count_up(drawn) > 1) world_crash(scene, node);
        break;
    case STORM_DEPART:
        if (count_up(drawn) > 1 && on) world_close(scene, node);
        break;
    case STORM_RESTART:
        if (qsm_sim_engine(sim, node) == NULL) {
            world_restart(scene, node);
            join_some(drawn, node);
        }
        break;
    case STORM_FREEZE: world_freeze(scene, node, some_ns); break;
    case STORM_PARTITION: partition(drawn); break;
    case STORM_BLOCK:
        world_tell(scene, "node %u %s node %u", other, on ? "does not hear" : "hears", node);
        (void)qsm_sim_block(sim, node, other, on);
        break;
    case STORM_SLOW:
        world_tell(scene, "node %u needs %.3f ms", node, on ? (double)cost_ns / 1e6 : 0.0);
        (void)qsm_sim_set_cost(sim, node, on ? cost_ns : 0);
        break;
    case STORM_DEAF:
        world_tell(scene, "node %u %s", node, on ? "does not read" : "reads");
        (void)qsm_sim_set_deaf(sim, node, on);
        break;
    case STORM_CLOCK:
        world_tell(scene, "the clock of node %u jumps by %.3f s", node,
                   on ? (double)some_ns / 1e9 : 0.0);
        (void)qsm_sim_set_clock(sim, node, (int32_t)between(&drawn->what, 0, 20000) - 10000,
                                on ? some_ns : 0);
        break;
    case STORM_CHURN: churn(drawn, node); break;
    case STORM_LATE:
        if (world_node_count(scene) < 24) join_some(drawn, world_add_node(scene, NULL));
        break;
    default: break; /* the faults of links happen all the time */
    }
}

/* From one node to some others, or from some others to one, or the end of it. */
static void hush(storm *drawn) {
    const uint32_t count = world_node_count(drawn->scene);
    const uint32_t one = (uint32_t)qsm_sim_random_below(&drawn->hush, count);
    const uint32_t percent = (uint32_t)between(&drawn->hush, 10, 100);
    const bool outward = chance(&drawn->hush, 50), on = chance(&drawn->hush, 60);
    for (uint32_t other = 0; other < count; other++) {
        if (other == one || !chance(&drawn->hush, percent)) continue;
        const uint32_t from = outward ? one : other, to = outward ? other : one;
        world_tell(drawn->scene, "node %u %s multicast of node %u", to,
                   on ? "does not hear" : "hears", from);
        (void)qsm_sim_block_multicast(world_sim(drawn->scene), from, to, on);
    }
}

/* A switch drops some of the addresses that a node listens to, or forgets that it does; or the end
 * of it. */
static void snoop(storm *drawn) {
    qsm_sim *sim = world_sim(drawn->scene);
    qsm_sim_random *random = &drawn->snoop;
    const uint32_t count = world_node_count(drawn->scene);
    const uint32_t node = (uint32_t)qsm_sim_random_below(random, count);
    const uint32_t percent = (uint32_t)between(random, 10, 100);
    if (chance(random, 30)) {
        world_tell(drawn->scene, "node %u hears all addresses", node);
        (void)qsm_sim_set_snooping(sim, node, 0);
        (void)qsm_sim_block_address(sim, node, NULL, false);
        return;
    }
    if (chance(random, 30)) {
        const uint64_t forgets_ns = between_log(random, WORLD_S, 20 * WORLD_S);
        world_tell(drawn->scene, "addresses of node %u are forgotten", node);
        (void)qsm_sim_set_snooping(sim, node, forgets_ns);
        return;
    }
    qsm_address addresses[64];
    const qsm_engine *engine = qsm_sim_engine(sim, node);
    const int heard = engine == NULL ? 0 : qsm_engine_subscriptions(engine, addresses, 64, NULL);
    for (int i = 1; i < heard; i++) { /* the first is the one that all nodes share */
        if (!chance(random, percent)) continue;
        world_tell(drawn->scene, "node %u does not hear one address", node);
        (void)qsm_sim_block_address(sim, node, &addresses[i], true);
    }
}

/* Long datagrams are lost: all of them, or those to one node; or the end of it. */
static void shorten(storm *drawn) {
    qsm_sim *sim = world_sim(drawn->scene);
    const uint32_t count = world_node_count(drawn->scene);
    const uint32_t node = (uint32_t)qsm_sim_random_below(&drawn->shorten, count);
    const uint32_t bytes = (uint32_t)between(&drawn->shorten, 1200, QSM_DATAGRAM_BYTES_MAX);
    const bool everywhere = chance(&drawn->shorten, 50), on = chance(&drawn->shorten, 70);
    qsm_sim_link link = drawn->options.link;
    link.datagram_bytes_max = on ? bytes : 0;
    if (everywhere) {
        world_tell(drawn->scene, "paths carry %s datagrams", on ? "short" : "all");
        drawn->options.link = link;
        qsm_sim_set_link(sim, &link);
        return;
    }
    world_tell(drawn->scene, "paths to node %u carry %s datagrams", node, on ? "short" : "all");
    for (uint32_t from = 0; from < count; from++) {
        (void)qsm_sim_set_link_between(sim, from, node, on ? &link : NULL);
    }
}

static void send_some(storm *drawn) {
    qsm_sim_random *traffic = &drawn->traffic;
    const uint32_t node = (uint32_t)qsm_sim_random_below(traffic, world_node_count(drawn->scene));
    const uint32_t first = (uint32_t)qsm_sim_random_below(traffic, drawn->group_count);
    const uint32_t bytes =
        (uint32_t)between_log(traffic, ORACLE_MESSAGE_BYTES_MIN, drawn->message_bytes_max);
    const uint64_t count = between_log(traffic, 1, chance(traffic, 5) ? 500 : 20);
    const uint32_t way = (uint32_t)qsm_sim_random_below(traffic, 3);
    for (uint32_t i = 0; i < drawn->group_count; i++) {
        const uint32_t group = (first + i) % drawn->group_count;
        if (world_seat(drawn->scene, node, group) == NULL) continue;
        if (way == 0) {
            (void)world_send(drawn->scene, node, group, bytes);
        } else if (way == 1) {
            world_pour(drawn->scene, node, group, bytes, count);
        } else {
            world_offer(drawn->scene, node, group, bytes, count,
                        (uint32_t)qsm_sim_random_below(traffic, 3));
        }
        return;
    }
}

/* ---- the storm ------------------------------------------------------------------------------- */

static void rage(storm *drawn) {
    const uint64_t calm_ns = between(&drawn->plan, 0, 1) * between(&drawn->plan, 1, 5) * WORLD_S;
    const uint64_t rage_ns = between_log(&drawn->plan, 2 * WORLD_S, 40 * WORLD_S);
    const uint64_t fault_pause_ns = between_log(&drawn->plan, 50 * WORLD_MS, 4 * WORLD_S);
    const uint64_t send_pause_ns = between_log(&drawn->plan, WORLD_MS, 200 * WORLD_MS);
    world_run(drawn->scene, calm_ns);
    const uint64_t end_ns = world_now_ns(drawn->scene) + rage_ns;
    uint64_t fault_ns = 0, send_ns = 0, hush_ns = has(drawn, STORM_HUSH) ? 0 : UINT64_MAX;
    uint64_t snoop_ns = has(drawn, STORM_SNOOP) ? 0 : UINT64_MAX;
    uint64_t short_ns = has(drawn, STORM_SHORT) ? 0 : UINT64_MAX;
    while (world_now_ns(drawn->scene) < end_ns && world_failure(drawn->scene) == NULL) {
        const uint64_t now_ns = world_now_ns(drawn->scene);
        if (send_ns <= now_ns) {
            send_some(drawn);
            send_ns = now_ns + between(&drawn->traffic, 1, 2 * send_pause_ns);
        }
        if (fault_ns <= now_ns) {
            const uint32_t fault = (uint32_t)qsm_sim_random_below(&drawn->what, STORM_DRAWN_COUNT);
            const uint32_t node = some_node(drawn), other = some_node(drawn);
            if (has(drawn, fault)) do_fault(drawn, fault, node, other);
            fault_ns = now_ns + between(&drawn->when, 1, 2 * fault_pause_ns / 4);
        }
        if (hush_ns <= now_ns) {
            hush(drawn);
            hush_ns = now_ns + between_log(&drawn->hush, 100 * WORLD_MS, 20 * WORLD_S);
        }
        if (snoop_ns <= now_ns) {
            snoop(drawn);
            snoop_ns = now_ns + between_log(&drawn->snoop, 100 * WORLD_MS, 5 * WORLD_S);
        }
        if (short_ns <= now_ns) {
            shorten(drawn);
            short_ns = now_ns + between_log(&drawn->shorten, 100 * WORLD_MS, 20 * WORLD_S);
        }
        uint64_t next_ns = send_ns < fault_ns ? send_ns : fault_ns;
        if (short_ns < next_ns) next_ns = short_ns;
        if (hush_ns < next_ns) next_ns = hush_ns;
        if (snoop_ns < next_ns) next_ns = snoop_ns;
        world_run(drawn->scene, (next_ns < end_ns ? next_ns : end_ns) - now_ns);
    }
}

static void print_traces(const storm *drawn) {
    for (uint32_t i = 0; i < world_node_count(drawn->scene); i++) {
        world_print_trace(drawn->scene, i);
    }
}

storm_result storm_run(uint64_t seed, uint32_t only, uint32_t also, bool verbose) {
    static char failure[512];
    storm drawn = {.faults = 0};
    draw(&drawn, seed, only, also, verbose);
    drawn.scene = world_create(&drawn.options);
    for (uint32_t i = 0; i < world_node_count(drawn.scene); i++) {
        join_some(&drawn, i);
    }
    rage(&drawn);
    if (world_failure(drawn.scene) == NULL) world_finish(drawn.scene, LIVENESS_NS);
    qsm_sim_traffic sent;
    qsm_sim_get_traffic(world_sim(drawn.scene), &sent);
    storm_result result = {.hash = qsm_sim_trace_hash(world_sim(drawn.scene)),
                           .virtual_ns = world_now_ns(drawn.scene),
                           .deliveries = oracle_deliveries(world_judge(drawn.scene)),
                           .views = oracle_views(world_judge(drawn.scene)),
                           .datagrams = sent.datagrams,
                           .node_count = world_node_count(drawn.scene),
                           .group_count = drawn.group_count,
                           .faults = drawn.faults};
    if (world_failure(drawn.scene) != NULL) {
        if (verbose) print_traces(&drawn);
        snprintf(failure, sizeof failure, "%s", world_failure(drawn.scene));
        result.failure = failure;
    }
    world_destroy(drawn.scene);
    return result;
}
