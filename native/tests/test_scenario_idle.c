/* test_scenario_idle.c - a network in which nothing happens: nodes wake seldom, and together. */
#include <string.h>

#include "scenario.h"

enum { NODES = 8, SECONDS = 30, STEP_MS = 1 };
/* Multicasts within this time count as one: who hears the first is still awake. */
#define TOGETHER_NS (2 * WORLD_MS)

typedef struct {
    const qsm_sim *sim;
    uint64_t multicast_ns; /* the last */
    uint32_t datagrams, multicasts, bursts;
} ear;

static void listen(void *context, uint32_t from, const qsm_datagram *datagram) {
    ear *heard = context;
    (void)from;
    const uint64_t now_ns = qsm_sim_now_ns(heard->sim);
    heard->datagrams++;
    if (!datagram->to.multicast) return;
    heard->multicasts++;
    if (now_ns - heard->multicast_ns > TOGETHER_NS) heard->bursts++;
    heard->multicast_ns = now_ns;
}

/* How often each node's own alarms have woken it, and what was heard of all. */
static ear run_idle(world *all, uint32_t alarms[NODES]) {
    ear heard = {.sim = world_sim(all)};
    qsm_sim_tap(world_sim(all), listen, &heard);
    memset(alarms, 0, NODES * sizeof *alarms);
    for (uint32_t step = 0; step < SECONDS * 1000 / STEP_MS; step++) {
        uint64_t due_ns[NODES];
        for (uint32_t i = 0; i < NODES; i++)
            due_ns[i] = qsm_engine_deadline_ns(qsm_sim_engine(world_sim(all), i));
        world_run(all, STEP_MS * WORLD_MS);
        for (uint32_t i = 0; i < NODES; i++)
            alarms[i] += due_ns[i] <= qsm_sim_node_now_ns(world_sim(all), i);
    }
    qsm_sim_tap(world_sim(all), NULL, NULL);
    return heard;
}

static void an_idle_network_wakes_seldom_and_together(void) {
    world_options options = scenario_options(1501, NODES, 20);
    world *all = scenario_begin(&options);
    const uint32_t host = scenario_host(all);
    uint32_t alarms[NODES];
    world_run(all, 10 * WORLD_S);
    const ear heard = run_idle(all, alarms);
    uint32_t most = 0;
    for (uint32_t i = 0; i < NODES; i++)
        if (i != host && alarms[i] > most) most = alarms[i];
    scenario_figure("alarms/s: host %.1f, others at most %.1f; datagrams/s of a node: %.1f; bursts "
                    "of multicast/s: %.1f",
                    (double)alarms[host] / SECONDS, (double)most / SECONDS,
                    (double)heard.datagrams / SECONDS / NODES, (double)heard.bursts / SECONDS);
    /* A beacon a second; three signs of life and a third, each with its answer, and now and then a
     * call that is not made with the beacon. */
    CHECK(alarms[host] <= 2 * SECONDS);
    CHECK(most <= 4 * SECONDS);
    CHECK(heard.bursts <= 2 * SECONDS);
    CHECK(heard.multicasts >= SECONDS * (NODES + 1) * 8 / 10);
    CHECK(heard.datagrams <= SECONDS * (NODES * 8 + 1));
    scenario_end(all);
}

static void an_idle_host_notices_silence_in_time(void) {
    world_options options = scenario_options(1502, NODES, 2);
    world *all = scenario_begin(&options);
    const uint32_t host = scenario_host(all);
    qsm_config config;
    qsm_config_defaults(&config);
    for (uint32_t i = 0; i < NODES; i++) {
        if (i == host) continue;
        world_run(all, 777 * WORLD_MS);
        const uint64_t before = world_counter(all, host, "hosted_evictions");
        world_crash(all, i);
        world_run(all, config.failure_ns - config.heartbeat_ns - WORLD_MS);
        CHECK(world_counter(all, host, "hosted_evictions") == before);
        world_run(all, config.heartbeat_ns + 2 * WORLD_MS);
        CHECK(world_counter(all, host, "hosted_evictions") == before + 1);
    }
    scenario_end(all);
}

static void alarms_that_are_late_are_told(void) {
    world_options options = scenario_options(1503, NODES, 2);
    world *all = scenario_begin(&options);
    const uint32_t sleeper = scenario_host(all) == 0 ? 1 : 0;
    const uint64_t slept_ns = 700 * WORLD_MS;
    const uint64_t run = world_counter(all, sleeper, "alarms_run");
    const uint64_t late_ns = world_counter(all, sleeper, "alarm_delay_ns");
    world_run(all, WORLD_S);
    CHECK(world_counter(all, sleeper, "alarms_run") > run);
    CHECK(world_counter(all, sleeper, "alarm_delay_ns") - late_ns < WORLD_MS);
    world_freeze(all, sleeper, slept_ns);
    world_run(all, WORLD_S);
    /* A sign of life each 300 ms was due within the first half of the time that it slept. */
    CHECK(world_counter(all, sleeper, "alarm_delay_ns") - late_ns > slept_ns / 2);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {SCENARIO(an_idle_network_wakes_seldom_and_together),
                                         SCENARIO(an_idle_host_notices_silence_in_time),
                                         SCENARIO(alarms_that_are_late_are_told)};
    return SCENARIO_MAIN("test_scenario_idle", scenarios);
}
