/*
 * sim_step.c - one node of the simulator: its engine, its clock, and what it does at an instant, in
 * the order in which a driver of real sockets would: receive, turn, events, send.
 */
#include <assert.h>
#include <stdlib.h>

#include "drivers/sim_node.h"
#include "drivers/sim_random.h"

#define RECEIVE_BATCH 64U
#define SEND_BATCH 64U
#define EVENT_BATCH 64U
#define TURN_WORK_MAX 256U
/* A node with a cost takes that many datagrams or events before it pays for them. */
#define COSTLY_BATCH 8U
/* A node that wants to go on without end at one instant is made to wait this long; longer when its
 * application does not read, which is what it may be waiting for. */
#define ROUNDS_MAX 64U
#define BREATH_NS 1000U
#define BREATH_DEAF_NS 1000000U
#define SUBSCRIPTIONS_GUESS 16U

enum purpose { PURPOSE_NODE_SEED = 100 };

/* ---- trace ----------------------------------------------------------------------------------- */

void qsm_sim_trace(qsm_sim *sim, uint32_t node, uint32_t kind, uint64_t what) {
    const uint64_t where = (uint64_t)kind << 32 | node;
    sim->trace_hash =
        qsm_sim_mix2(sim->trace_hash ^ sim->now_ns, qsm_sim_mix(where) + qsm_sim_mix(what));
}

static void trace_event(qsm_sim *sim, uint32_t node, const qsm_event *event) {
    uint64_t hash = qsm_sim_mix2(event->type, (uint64_t)event->health << 32 | event->reason);
    hash = qsm_sim_mix2(hash, event->sender);
    hash = qsm_sim_mix2(hash, event->view);
    if (event->bytes != 0) hash ^= qsm_sim_hash_bytes(event->data, event->bytes);
    for (uint32_t i = 0; i < event->member_count; i++) {
        hash = qsm_sim_mix2(hash, event->members[i]);
    }
    qsm_sim_trace(sim, node, QSM_SIM_TRACE_EVENT, hash);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

uint64_t qsm_sim_clock_of(const qsm_sim *sim, const qsm_sim_node *node) {
    const uint64_t rate = (uint64_t)((int64_t)QSM_SIM_PPM + node->clock_drift_ppm);
    const uint64_t passed_ns = sim->now_ns - node->clock_sim_ns;
    return node->clock_own_ns + passed_ns / QSM_SIM_PPM * rate +
           passed_ns % QSM_SIM_PPM * rate / QSM_SIM_PPM;
}

/* The first simulated time at which the node's clock shows `own_ns` or more. */
static uint64_t clock_back(const qsm_sim_node *node, uint64_t own_ns) {
    if (own_ns == UINT64_MAX) return UINT64_MAX;
    if (own_ns <= node->clock_own_ns) return node->clock_sim_ns;
    const uint64_t rate = (uint64_t)((int64_t)QSM_SIM_PPM + node->clock_drift_ppm);
    const uint64_t passed_ns = own_ns - node->clock_own_ns;
    if (passed_ns / rate >= UINT64_MAX / QSM_SIM_PPM / 2) return UINT64_MAX;
    return node->clock_sim_ns + passed_ns / rate * QSM_SIM_PPM +
           (passed_ns % rate * QSM_SIM_PPM + rate - 1) / rate;
}

/* ---- its engine ------------------------------------------------------------------------------ */

/* Tells the network what the node listens to, when that has changed. */
static void subscribe(qsm_sim *sim, uint32_t index) {
    qsm_sim_node *node = &sim->nodes[index];
    uint64_t generation = 0;
    const uint64_t renewals = qsm_engine_renewals(node->engine);
    if (renewals != node->renewals) {
        (void)qsm_sim_network_subscribe(&sim->network, sim->now_ns, index, NULL, 0);
        node->subscribed = false;
        node->renewals = renewals;
    }
    qsm_engine_subscriptions(node->engine, NULL, 0, &generation);
    if (node->subscribed && generation == node->subscriptions_generation) return;
    int count = qsm_engine_subscriptions(node->engine, sim->subscriptions,
                                         sim->subscriptions_capacity, &generation);
    while (count >= 0 && (uint32_t)count >= sim->subscriptions_capacity) {
        const uint32_t capacity = sim->subscriptions_capacity == 0
                                      ? SUBSCRIPTIONS_GUESS
                                      : sim->subscriptions_capacity * 2;
        qsm_address *grown = realloc(sim->subscriptions, capacity * sizeof *grown);
        if (grown == NULL) return;
        sim->subscriptions = grown;
        sim->subscriptions_capacity = capacity;
        count = qsm_engine_subscriptions(node->engine, grown, capacity, &generation);
    }
    if (count < 0) return;
    const int result = qsm_sim_network_subscribe(&sim->network, sim->now_ns, index,
                                                 sim->subscriptions, (uint32_t)count);
    node->subscribed = result == QSM_OK;
    node->subscriptions_generation = generation;
}

int qsm_sim_start_engine(qsm_sim *sim, uint32_t index) {
    qsm_sim_node *node = &sim->nodes[index];
    const uint64_t life = (uint64_t)node->restarts << 32 | index;
    qsm_sim_random random = qsm_sim_random_of(qsm_sim_mix2(sim->seed, PURPOSE_NODE_SEED), life + 1);
    for (uint32_t i = 0; i < sizeof node->config.random_seed; i++) {
        node->config.random_seed[i] = (uint8_t)qsm_sim_random_next(&random);
    }
    const int result = qsm_engine_create(&node->config, qsm_sim_clock_of(sim, node), &node->engine);
    if (result != QSM_OK) {
        node->engine = NULL;
        return result;
    }
    subscribe(sim, index);
    return QSM_OK;
}

void qsm_sim_crash_now(qsm_sim *sim, uint32_t index) {
    qsm_sim_node *node = &sim->nodes[index];
    qsm_engine_destroy(node->engine);
    node->engine = NULL;
    node->crash_ordered = false;
    node->busy_until_ns = 0;
    node->subscribed = false;
    qsm_sim_socket_clear(&node->socket);
    (void)qsm_sim_network_subscribe(&sim->network, sim->now_ns, index, NULL, 0);
}

/* ---- stepping -------------------------------------------------------------------------------- */

void qsm_sim_mark_ready(qsm_sim *sim, uint32_t index) {
    qsm_sim_node *node = &sim->nodes[index];
    if (node->ready || node->engine == NULL) return;
    assert(sim->ready_count < sim->node_capacity);
    node->ready = true;
    sim->ready[sim->ready_count++] = index;
}

void qsm_sim_schedule(qsm_sim *sim, uint32_t index, uint64_t earliest_ns) {
    qsm_sim_node *node = &sim->nodes[index];
    if (node->engine == NULL) return;
    uint64_t at_ns = clock_back(node, qsm_engine_deadline_ns(node->engine));
    if (node->socket.count > 0 || at_ns < earliest_ns) at_ns = earliest_ns;
    if (at_ns < node->busy_until_ns) at_ns = node->busy_until_ns;
    if (at_ns >= node->wake_ns) return;
    if (qsm_sim_events_push(&sim->events, at_ns, QSM_SIM_WAKE, index, NULL)) node->wake_ns = at_ns;
}

/* How many came from others: what a node sends to itself is none of its network's business. */
static uint32_t step_receive(qsm_sim *sim, uint32_t index, uint64_t own_ns) {
    qsm_sim_node *node = &sim->nodes[index];
    const uint32_t batch = node->costs.receive_ns != 0 ? COSTLY_BATCH : RECEIVE_BATCH;
    uint32_t from_others = 0;
    for (uint32_t count = 0; count < batch && node->socket.count > 0; count++) {
        qsm_sim_packet *packet = qsm_sim_socket_take(&node->socket);
        const qsm_address from = qsm_sim_address(packet->from, false);
        qsm_sim_trace(sim, index, QSM_SIM_TRACE_DATAGRAM, packet->hash);
        sim->network.traffic.deliveries++;
        from_others += packet->from != index;
        qsm_engine_receive_copy(node->engine, own_ns, &from, packet->data, packet->bytes);
        qsm_sim_packet_drop(packet);
    }
    return from_others;
}

static uint32_t step_events(qsm_sim *sim, uint32_t index) {
    if (sim->nodes[index].deaf) return 0;
    const uint32_t batch = sim->nodes[index].costs.event_ns != 0 ? COSTLY_BATCH : EVENT_BATCH;
    qsm_event events[EVENT_BATCH];
    const int count = qsm_engine_events(sim->nodes[index].engine, events, batch);
    if (count <= 0) return 0;
    assert((uint32_t)count <= batch);
    for (int i = 0; i < count; i++) {
        trace_event(sim, index, &events[i]);
    }
    if (sim->observer != NULL) {
        sim->observer(sim->observer_context, index, events, (uint32_t)count);
    }
    /* The observer may have added nodes: no pointer into the table is kept across it. */
    qsm_engine_release(sim->nodes[index].engine);
    return (uint32_t)count;
}

static uint32_t step_send(qsm_sim *sim, uint32_t index, uint64_t own_ns) {
    qsm_engine *engine = sim->nodes[index].engine;
    qsm_datagram datagrams[SEND_BATCH];
    const uint32_t batch = sim->nodes[index].costs.send_ns != 0 ? COSTLY_BATCH : SEND_BATCH;
    const int count = qsm_engine_send(engine, own_ns, datagrams, batch);
    if (count <= 0) return 0;
    assert((uint32_t)count <= batch);
    for (int i = 0; i < count; i++) {
        if (sim->tap != NULL) sim->tap(sim->tap_context, index, &datagrams[i]);
        /* Each leaves when the one before it has been paid for. */
        const uint64_t leaves_ns = sim->now_ns + (uint64_t)i * sim->nodes[index].costs.send_ns;
        qsm_sim_network_send(&sim->network, leaves_ns, index, &datagrams[i]);
    }
    qsm_engine_sent(engine, (uint32_t)count);
    return (uint32_t)count;
}

void qsm_sim_step(qsm_sim *sim, uint32_t index) {
    if (sim->nodes[index].engine == NULL) return;
    if (sim->nodes[index].busy_until_ns > sim->now_ns) {
        qsm_sim_schedule(sim, index, sim->now_ns);
        return;
    }
    const uint64_t own_ns = qsm_sim_clock_of(sim, &sim->nodes[index]);
    sim->stepping = index;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        const uint32_t received = step_receive(sim, index, own_ns);
        qsm_engine *engine = sim->nodes[index].engine;
        int worked = (int)TURN_WORK_MAX;
        for (uint32_t turn = 0; turn < ROUNDS_MAX && worked == (int)TURN_WORK_MAX; turn++) {
            worked = qsm_engine_turn(engine, own_ns, TURN_WORK_MAX);
        }
        const uint32_t events = step_events(sim, index);
        const uint32_t sent = step_send(sim, index, own_ns);
        qsm_sim_node *node = &sim->nodes[index];
        if (node->crash_ordered) break;
        const uint64_t busy_ns = received * node->costs.receive_ns + events * node->costs.event_ns +
                                 sent * node->costs.send_ns;
        if (busy_ns != 0) {
            node->busy_until_ns = sim->now_ns + busy_ns;
            break;
        }
        /* What the application did shows in the deadline; what was sent may have made events. */
        const bool idle = events < EVENT_BATCH && sent == 0 && node->socket.count == 0;
        if (idle && (worked == 0 || qsm_engine_deadline_ns(engine) > own_ns)) break;
    }
    sim->stepping = UINT32_MAX;
    if (sim->nodes[index].crash_ordered) {
        qsm_sim_crash_now(sim, index);
        return;
    }
    subscribe(sim, index);
    qsm_sim_schedule(sim, index,
                     sim->now_ns + (sim->nodes[index].deaf ? BREATH_DEAF_NS : BREATH_NS));
}
