/*
 * simulator.c - many engines on one virtual clock.
 *
 * Everything happens in the order of one heap of events. At each instant all arrivals are put into
 * the sockets of their nodes first; then each node with something to do is stepped as a driver of
 * real sockets would (sim_step.c). Nothing here reads a clock or draws entropy.
 */
#include "drivers/simulator.h"

#include <assert.h>
#include <stdlib.h>

#include "drivers/sim_node.h"
#include "drivers/sim_random.h"

/* The clock begins above zero: a real monotonic clock never shows zero either. */
#define START_NS UINT64_C(1000000000)

/* ---- making and ending ----------------------------------------------------------------------- */

int qsm_sim_create(uint64_t seed, qsm_sim **sim) {
    if (sim == NULL) return QSM_ERR_ARGUMENT;
    *sim = calloc(1, sizeof **sim);
    if (*sim == NULL) return QSM_ERR_NO_MEMORY;
    (*sim)->seed = seed;
    (*sim)->now_ns = START_NS;
    (*sim)->stepping = UINT32_MAX;
    (*sim)->trace_hash = qsm_sim_mix(seed);
    qsm_sim_network_init(&(*sim)->network, seed, &(*sim)->events);
    return QSM_OK;
}

void qsm_sim_destroy(qsm_sim *sim) {
    if (sim == NULL) return;
    for (uint32_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i].engine != NULL) qsm_engine_destroy(sim->nodes[i].engine);
        qsm_sim_socket_clear(&sim->nodes[i].socket);
    }
    while (sim->events.count > 0) {
        const qsm_sim_event event = qsm_sim_events_pop(&sim->events);
        if (event.packet != NULL) qsm_sim_packet_drop(event.packet);
    }
    free(sim->events.items);
    qsm_sim_network_free(&sim->network);
    free(sim->nodes);
    free(sim->ready);
    free(sim->subscriptions);
    free(sim);
}

static bool nodes_grow(qsm_sim *sim) {
    if (sim->node_count < sim->node_capacity) return true;
    const uint32_t capacity = sim->node_capacity == 0 ? 16 : sim->node_capacity * 2;
    uint32_t *ready = realloc(sim->ready, capacity * sizeof *ready);
    if (ready == NULL) return false;
    sim->ready = ready;
    qsm_sim_node *nodes = realloc(sim->nodes, capacity * sizeof *nodes);
    if (nodes == NULL) return false;
    sim->nodes = nodes;
    sim->node_capacity = capacity;
    return true;
}

int qsm_sim_add_node(qsm_sim *sim, const qsm_config *config) {
    if (sim->node_count >= INT32_MAX) return QSM_ERR_ARGUMENT;
    if (!nodes_grow(sim)) return QSM_ERR_NO_MEMORY;
    const uint32_t index = sim->node_count;
    qsm_sim_node *node = &sim->nodes[index];
    *node = (qsm_sim_node){
        .clock_sim_ns = sim->now_ns, .clock_own_ns = sim->now_ns, .wake_ns = UINT64_MAX};
    if (config != NULL) {
        node->config = *config;
    } else {
        qsm_config_defaults(&node->config);
    }
    node->config.self = qsm_sim_address(index, false);
    node->config.rendezvous = qsm_sim_address(0, true);
    if (sim->network.port_count == index) {
        const int port = qsm_sim_network_add(&sim->network);
        if (port < 0) return port;
    }
    const int result = qsm_sim_start_engine(sim, index);
    if (result != QSM_OK) return result;
    sim->node_count++;
    qsm_sim_schedule(sim, index, sim->now_ns);
    return (int)index;
}

/* ---- running --------------------------------------------------------------------------------- */

static void arrive(qsm_sim *sim, uint32_t index, qsm_sim_packet *packet) {
    qsm_sim_node *node = &sim->nodes[index];
    if (node->engine == NULL || qsm_sim_network_is_cut(&sim->network, packet->from, index)) {
        sim->network.traffic.blocked++;
        qsm_sim_packet_drop(packet);
        return;
    }
    if (!qsm_sim_socket_put(&node->socket, packet)) {
        sim->network.traffic.overflowed++;
        qsm_sim_packet_drop(packet);
        return;
    }
    if (node->busy_until_ns <= sim->now_ns) {
        qsm_sim_mark_ready(sim, index);
    } else {
        qsm_sim_schedule(sim, index, sim->now_ns);
    }
}

static void handle(qsm_sim *sim, const qsm_sim_event *event) {
    switch (event->happening) {
    case QSM_SIM_WAKE:
        if (event->at_ns != sim->nodes[event->node].wake_ns)
            break; /* an earlier one took its place */
        sim->nodes[event->node].wake_ns = UINT64_MAX;
        qsm_sim_mark_ready(sim, event->node);
        break;
    case QSM_SIM_ENTER:
        qsm_sim_network_enter(&sim->network, sim->now_ns, event->node, event->packet);
        qsm_sim_packet_drop(event->packet);
        break;
    case QSM_SIM_ARRIVE: arrive(sim, event->node, event->packet); break;
    default: assert(!"a happening of no known kind");
    }
}

/* Steps the nodes that are ready; those that a stop leaves over stay in the list. */
static uint64_t step_ready(qsm_sim *sim) {
    uint32_t done = 0;
    while (done < sim->ready_count && !sim->stopped) {
        const uint32_t index = sim->ready[done++];
        sim->nodes[index].ready = false;
        qsm_sim_step(sim, index);
    }
    sim->ready_count -= done;
    memmove(sim->ready, sim->ready + done, sim->ready_count * sizeof *sim->ready);
    return done;
}

uint64_t qsm_sim_run_until(qsm_sim *sim, uint64_t until_ns) {
    sim->stopped = false;
    /* Since the last run the application may have called any engine. */
    for (uint32_t i = 0; i < sim->node_count; i++) {
        qsm_sim_schedule(sim, i, sim->now_ns);
    }
    uint64_t steps = step_ready(sim);
    while (!sim->stopped && qsm_sim_events_next_ns(&sim->events) <= until_ns) {
        const uint64_t at_ns = qsm_sim_events_next_ns(&sim->events);
        assert(at_ns >= sim->now_ns);
        sim->now_ns = at_ns;
        while (qsm_sim_events_next_ns(&sim->events) == at_ns) {
            const qsm_sim_event event = qsm_sim_events_pop(&sim->events);
            handle(sim, &event);
        }
        steps += step_ready(sim);
    }
    if (!sim->stopped && sim->now_ns < until_ns) sim->now_ns = until_ns;
    return steps;
}

void qsm_sim_stop(qsm_sim *sim) {
    sim->stopped = true;
}

/* ---- looking on ------------------------------------------------------------------------------ */

uint64_t qsm_sim_now_ns(const qsm_sim *sim) {
    return sim->now_ns;
}

uint32_t qsm_sim_node_count(const qsm_sim *sim) {
    return sim->node_count;
}

qsm_engine *qsm_sim_engine(qsm_sim *sim, uint32_t node) {
    return node < sim->node_count ? sim->nodes[node].engine : NULL;
}

uint64_t qsm_sim_node_now_ns(const qsm_sim *sim, uint32_t node) {
    return node < sim->node_count ? qsm_sim_clock_of(sim, &sim->nodes[node]) : 0;
}

void qsm_sim_observe(qsm_sim *sim, qsm_sim_observer observer, void *context) {
    sim->observer = observer;
    sim->observer_context = context;
}

void qsm_sim_tap(qsm_sim *sim, qsm_sim_wiretap tap, void *context) {
    sim->tap = tap;
    sim->tap_context = context;
}

uint64_t qsm_sim_trace_hash(const qsm_sim *sim) {
    return sim->trace_hash;
}

void qsm_sim_get_traffic(const qsm_sim *sim, qsm_sim_traffic *traffic) {
    *traffic = sim->network.traffic;
}
