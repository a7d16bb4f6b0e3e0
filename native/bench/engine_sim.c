/*
 * engine_sim.c - the engine on the simulator: many nodes, more than a machine has processes for.
 *
 *     engine_sim [--receivers 20] [--groups 1] [--senders 1] [--milliseconds 2000] ...
 *
 * All nodes join all groups (or, with --spread, each its own few); senders send as fast as they are
 * let or, with --rate, so many messages a second each. Every datagram that a node receives or sends
 * costs it --receive-ns or --send-ns of virtual time, which is what limits a simulated node; links
 * take 50 us and up to --jitter-ns more. With --calm it goes on at half of the rate that was found,
 * to see how long an acknowledgement takes by itself. Prints one line of JSON, with how much faster
 * than real time it ran.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_looks.h"
#include "bench_support.h"
#include "drivers/simulator.h"
#include "qsm.h"

#define NS_PER_MS 1000000u
#define MESSAGE_BYTES_MAX 1400
enum {
    COUNTERS_MAX = 128,
    WARM_STEP_NS = 15000000,
    ACKS_MEASURED = 4 /* it is measured for at least so many times what one takes */
};
#define WARM_NS_MAX 3000000000u

typedef struct options {
    uint64_t receivers, groups, senders, milliseconds, bytes, rate, receive_ns, send_ns, window,
        coupled, spread, seed, jitter_ns, calm, ring_size, cache_everywhere, token_ms;
} options;

typedef struct node {
    struct bench *of;
    uint32_t index;
    uint64_t delivered, views, sent, sent_before, due;
    qsm_group **groups;
} node;

typedef struct bench {
    options chosen;
    qsm_sim *sim;
    node *nodes;
    uint32_t node_count;
    uint32_t held_counter; /* of bytes that an engine holds */
    bool stopped;
    uint8_t message[MESSAGE_BYTES_MAX];
} bench;

static void observe(void *context, uint32_t index, const qsm_event *events, uint32_t count) {
    bench *all = context;
    node *own = &all->nodes[index];
    for (uint32_t i = 0; i < count; i++) {
        own->delivered += events[i].type == QSM_EVENT_DELIVERY;
        own->views += events[i].type == QSM_EVENT_VIEW;
    }
}

static void feed(void *context, uint32_t bytes_max, qsm_pulled *pulled) {
    node *own = context;
    bench *all = own->of;
    (void)bytes_max;
    if (all->stopped || (all->chosen.rate != 0 && own->sent >= own->due)) return;
    own->sent++;
    pulled->data = all->message;
    pulled->bytes = (int32_t)all->chosen.bytes;
}

static uint32_t groups_of(const bench *all, uint32_t index, uint32_t *first) {
    uint32_t groups = (uint32_t)all->chosen.groups;
    if (!all->chosen.spread) {
        *first = 0;
        return groups;
    }
    uint32_t few = (uint32_t)all->chosen.spread < groups ? (uint32_t)all->chosen.spread : groups;
    *first = (uint32_t)((uint64_t)index * 7919u % groups);
    return few;
}

static void start(bench *all) {
    qsm_config config;
    all->held_counter = bench_counter("pool_bytes_now");
    all->node_count = (uint32_t)(all->chosen.receivers + all->chosen.senders);
    all->nodes = calloc(all->node_count, sizeof *all->nodes);
    if (all->nodes == NULL || qsm_sim_create(all->chosen.seed, &all->sim) != QSM_OK)
        bench_fail("memory");
    qsm_sim_link link = {.delay_ns = 50000, .jitter_ns = all->chosen.jitter_ns};
    qsm_sim_set_link(all->sim, &link);
    qsm_sim_observe(all->sim, observe, all);
    qsm_config_defaults(&config);
    config.coupled_tokens = (uint8_t)all->chosen.coupled;
    config.window_bytes_max = (uint32_t)all->chosen.window;
    config.cache_everywhere = (uint8_t)all->chosen.cache_everywhere;
    if (all->chosen.ring_size != 0) config.ring_size_max = (uint32_t)all->chosen.ring_size;
    if (all->chosen.token_ms != 0) config.token_ns = all->chosen.token_ms * NS_PER_MS;
    for (uint32_t index = 0; index < all->node_count; index++) {
        node *own = &all->nodes[index];
        uint32_t first, count = groups_of(all, index, &first);
        /* Who hosts answers everybody's signs of life; that is not what a sender is measured by. */
        config.may_host = index < all->chosen.senders ? QSM_HOST_NEVER : QSM_HOST_MAY;
        *own = (node){.of = all, .index = index, .groups = calloc(count, sizeof *own->groups)};
        if (own->groups == NULL || qsm_sim_add_node(all->sim, &config) < 0) bench_fail("memory");
        for (uint32_t i = 0; i < count; i++) {
            uint32_t group = (first + i) % (uint32_t)all->chosen.groups;
            uint8_t id[QSM_GROUP_ID_BYTES] = {0}, key[QSM_KEY_BYTES] = {1};
            memcpy(id, &group, sizeof group);
            if (qsm_group_join(qsm_sim_engine(all->sim, index), id, key, own, &own->groups[i]) !=
                QSM_OK)
                bench_fail("join");
        }
    }
}

/* Runs until the membership has come to rest: a second without a new view. */
static void settle(bench *all) {
    uint64_t before = UINT64_MAX, now = 0;
    for (uint32_t seconds = 0; seconds < 600; seconds++) {
        qsm_sim_run_until(all->sim, qsm_sim_now_ns(all->sim) + 1000 * NS_PER_MS);
        now = 0;
        for (uint32_t index = 0; index < all->node_count; index++)
            now += all->nodes[index].views;
        if (now == before && now >= all->node_count) return;
        before = now;
    }
}

typedef struct sums {
    bench_looks regions;
    uint64_t held_bytes, held_looks; /* at receivers */
} sums;

static uint64_t counted_at(const bench *all, uint32_t index, uint32_t counter) {
    uint64_t values[COUNTERS_MAX];
    uint32_t count = qsm_engine_counters(qsm_sim_engine(all->sim, index), values, COUNTERS_MAX);
    return counter < count ? values[counter] : 0;
}

/* What all nodes know of their regions now, and what the receivers hold. */
static void look(bench *all, sums *sum) {
    for (uint32_t index = 0; index < all->node_count; index++) {
        bench_look(qsm_sim_engine(all->sim, index), &sum->regions);
        if (index < all->chosen.senders) continue;
        sum->held_bytes += counted_at(all, index, all->held_counter);
        sum->held_looks++;
    }
}

/* When the sender's next message is due: senders take turns, as people do. */
static uint64_t due_ns(const bench *all, const node *own, uint64_t begin_ns) {
    double interval_ns = 1e9 / (double)all->chosen.rate;
    double turn = (double)own->index / (double)all->chosen.senders;
    return begin_ns + (uint64_t)(((double)(own->due - own->sent_before) + turn) * interval_ns);
}

/* Offers what is due by now, each message in the next group; returns when more will be. */
static uint64_t offer_due(bench *all, uint64_t begin_ns, uint64_t now_ns) {
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t index = 0; index < all->chosen.senders; index++) {
        node *own = &all->nodes[index];
        uint32_t first, count = groups_of(all, index, &first);
        for (; due_ns(all, own, begin_ns) <= now_ns; own->due++)
            qsm_group_offer(own->groups[own->due % count], feed, own, 1);
        uint64_t at_ns = due_ns(all, own, begin_ns);
        if (at_ns < next_ns) next_ns = at_ns;
    }
    return next_ns;
}

static void offer_all(bench *all) {
    for (uint32_t index = 0; index < all->chosen.senders; index++) {
        uint32_t first, count = groups_of(all, index, &first);
        for (uint32_t i = 0; i < count; i++)
            qsm_group_offer(all->nodes[index].groups[i], feed, &all->nodes[index], 1);
    }
}

static void send_for(bench *all, uint64_t span_ns, sums *sum) {
    uint64_t begin_ns = qsm_sim_now_ns(all->sim), end_ns = begin_ns + span_ns, now_ns;
    uint64_t look_ns = begin_ns + BENCH_LOOK_NS;
    for (uint32_t index = 0; index < all->chosen.senders; index++)
        all->nodes[index].sent_before = all->nodes[index].due = all->nodes[index].sent;
    while ((now_ns = qsm_sim_now_ns(all->sim)) < end_ns) {
        uint64_t next_ns = look_ns;
        if (all->chosen.rate == 0) offer_all(all);
        if (all->chosen.rate != 0) {
            uint64_t due = offer_due(all, begin_ns, now_ns);
            if (due < next_ns) next_ns = due;
        }
        qsm_sim_run_until(all->sim, next_ns < end_ns ? next_ns : end_ns);
        if (next_ns < look_ns) continue;
        look(all, sum);
        look_ns += BENCH_LOOK_NS;
    }
}

static uint64_t counted(const bench *all, const char *name) {
    uint32_t counter = bench_counter(name);
    uint64_t sum = 0;
    for (uint32_t index = 0; index < all->node_count; index++)
        sum += counted_at(all, index, counter);
    return sum;
}

static uint64_t delivered_least(const bench *all) {
    uint64_t least = UINT64_MAX;
    for (uint32_t index = (uint32_t)all->chosen.senders; index < all->node_count; index++)
        if (all->nodes[index].delivered < least) least = all->nodes[index].delivered;
    return least;
}

static uint64_t ack_ns(const sums *sum) {
    return (uint64_t)bench_mean(sum->regions.ack_ns, sum->regions.acks);
}

/* Sends until no more is delivered from step to step: rates climb at first. A step is longer than
 * an acknowledgement takes, which is what they climb by. A rate that is given is there at once. */
static void warm_up(bench *all) {
    uint64_t before = 0, steady = 0, step_ns = WARM_STEP_NS;
    uint64_t end_ns = qsm_sim_now_ns(all->sim) + WARM_NS_MAX;
    while (steady < 2 && qsm_sim_now_ns(all->sim) < end_ns) {
        sums seen = {0};
        uint64_t from = delivered_least(all);
        send_for(all, step_ns, &seen);
        uint64_t delivered = delivered_least(all) - from, took_ns = ack_ns(&seen);
        steady = took_ns != 0 && delivered * 20 <= before * 21 ? steady + 1 : 0;
        before = delivered;
        if (all->chosen.rate != 0 && took_ns != 0) return;
        if (step_ns >= 2 * took_ns) continue;
        step_ns = 2 * took_ns;
        before = steady = 0;
    }
}

typedef struct outcome {
    uint64_t delivered, sent, tokens, cpu_ns;
    double seconds;
    sums sum;
} outcome;

static uint64_t sent_by_all(const bench *all) {
    uint64_t sent = 0;
    for (uint32_t index = 0; index < all->chosen.senders; index++)
        sent += all->nodes[index].sent;
    return sent;
}

/* Until the rate is steady, then for the time that counts. */
static outcome measure(bench *all) {
    outcome found = {0};
    sums *sum = &found.sum;
    uint64_t span_ns = all->chosen.milliseconds * NS_PER_MS;
    if (all->chosen.senders > 0) warm_up(all);
    uint64_t delivered = delivered_least(all), sent = sent_by_all(all), cpu_ns = bench_cpu_ns();
    uint64_t tokens = counted(all, "tokens_launched"), begin_ns = qsm_sim_now_ns(all->sim);
    do
        send_for(all, span_ns, sum);
    while (qsm_sim_now_ns(all->sim) - begin_ns < ACKS_MEASURED * ack_ns(sum));
    found.seconds = (double)(qsm_sim_now_ns(all->sim) - begin_ns) * 1e-9;
    found.cpu_ns = bench_cpu_ns() - cpu_ns;
    found.delivered = delivered_least(all) - delivered;
    found.sent = sent_by_all(all) - sent;
    found.tokens = counted(all, "tokens_launched") - tokens;
    return found;
}

/* At half of the rate that was found nothing waits for the window. */
static outcome measure_calm(bench *all, const outcome *full) {
    all->chosen.rate = (uint64_t)((double)full->sent / full->seconds / 2);
    if (all->chosen.rate == 0) all->chosen.rate = 1;
    return measure(all);
}

static void run(bench *all) {
    uint64_t began_ns = bench_cpu_ns();
    start(all);
    settle(all);
    uint64_t joined_cpu_ns = bench_cpu_ns() - began_ns, joined_ns = qsm_sim_now_ns(all->sim);
    for (uint32_t index = 0; index < all->node_count; index++)
        qsm_sim_set_costs(all->sim, index, all->chosen.receive_ns, all->chosen.send_ns);
    outcome found = measure(all), calm = {0};
    const sums *sum = &found.sum;
    const bench_looks *looks = &sum->regions;
    if (all->chosen.calm) calm = measure_calm(all, &found);
    printf(
        "{\"bench\": \"engine_sim\", \"receivers\": %llu, \"senders\": %llu, \"groups\": %llu, "
        "\"bytes\": %llu, \"rate\": %.0f, \"sent_per_s\": %.0f, \"ack_ms\": %.3f, "
        "\"ack_calm_ms\": %.3f, \"token_round_ms\": %.3f, \"pending\": %.0f, "
        "\"pending_most\": %llu, \"held_kb\": %.1f, \"tokens_per_s\": %.1f, \"times_real\": %.2f, "
        "\"seconds\": %.3f, \"joined_virtual_s\": %.2f, \"joined_cpu_s\": %.2f, "
        "\"cpu_s\": %.2f, \"forged\": %llu, \"rss_mb\": %.1f}\n",
        (unsigned long long)all->chosen.receivers, (unsigned long long)all->chosen.senders,
        (unsigned long long)all->chosen.groups, (unsigned long long)all->chosen.bytes,
        (double)found.delivered / found.seconds, (double)found.sent / found.seconds,
        (double)ack_ns(sum) * 1e-6, (double)ack_ns(&calm.sum) * 1e-6,
        bench_mean(looks->round_ns, looks->rounds) * 1e-6, bench_mean(looks->pending, looks->acks),
        (unsigned long long)looks->pending_most,
        bench_mean(sum->held_bytes, sum->held_looks) / 1024, (double)found.tokens / found.seconds,
        found.seconds / ((double)found.cpu_ns * 1e-9), found.seconds, (double)joined_ns * 1e-9,
        (double)joined_cpu_ns * 1e-9, (double)(bench_cpu_ns() - began_ns) * 1e-9,
        (unsigned long long)counted(all, "messages_forged"), (double)bench_rss_bytes() / 1048576.0);
}

int main(int count, char **arguments) {
    static bench all = {.chosen = {.receivers = 20,
                                   .groups = 1,
                                   .senders = 1,
                                   .milliseconds = 2000,
                                   .bytes = 1000,
                                   .window = 4u << 20,
                                   .seed = 1,
                                   .jitter_ns = 1000}};
    options *chosen = &all.chosen;
    const bench_option known[] = {{"--receivers", &chosen->receivers, 1, 4000, false},
                                  {"--groups", &chosen->groups, 1, 16384, false},
                                  {"--senders", &chosen->senders, 0, 4000, false},
                                  {"--milliseconds", &chosen->milliseconds, 50, 600000, false},
                                  {"--bytes", &chosen->bytes, 1, MESSAGE_BYTES_MAX, false},
                                  {"--rate", &chosen->rate, 0, 10000000, false},
                                  {"--receive-ns", &chosen->receive_ns, 0, 1000000000, false},
                                  {"--send-ns", &chosen->send_ns, 0, 1000000000, false},
                                  {"--window", &chosen->window, 65536, 1u << 28, false},
                                  {"--spread", &chosen->spread, 0, 16384, false},
                                  {"--seed", &chosen->seed, 0, UINT64_MAX, false},
                                  {"--jitter-ns", &chosen->jitter_ns, 0, 1000000000, false},
                                  {"--ring-size", &chosen->ring_size, 2, 16, false},
                                  {"--token-ms", &chosen->token_ms, 1, 60000, false},
                                  {"--cache-everywhere", &chosen->cache_everywhere, 0, 1, true},
                                  {"--calm", &chosen->calm, 0, 1, true},
                                  {"--coupled", &chosen->coupled, 0, 1, true}};
    bench_read_options(count, arguments, known, sizeof known / sizeof *known);
    run(&all);
    qsm_sim_destroy(all.sim);
    return 0;
}
