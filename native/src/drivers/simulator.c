/*
 * simulator.c - many engines on one virtual clock: their nodes, sockets, clocks and faults.
 *
 * Everything happens in the order of one heap of events. At each instant all arrivals are put into
 * the sockets of their nodes first; then each node with something to do is stepped as a driver of
 * real sockets would: receive, turn, events, send. Nothing here reads a clock or draws entropy.
 */
#include "drivers/simulator.h"

#include <assert.h>
#include <stdlib.h>

#include "drivers/sim_events.h"
#include "drivers/sim_network.h"
#include "drivers/sim_random.h"
#include "drivers/sim_socket.h"

/* The clock begins above zero: a real monotonic clock never shows zero either. */
#define START_NS UINT64_C(1000000000)
#define DRIFT_PPM_MAX 900000
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

/* Time that a node takes for each, zero: none. */
typedef struct {
    uint64_t receive_ns, event_ns, send_ns;
} qsm_sim_costs;

typedef struct {
    qsm_engine *engine; /* NULL while crashed */
    qsm_config config;
    uint64_t clock_sim_ns; /* at this simulated time ... */
    uint64_t clock_own_ns; /* ... the node's clock showed this */
    int32_t clock_drift_ppm;
    uint32_t restarts;
    uint64_t wake_ns;       /* the WAKE in the heap that counts; UINT64_MAX: none */
    uint64_t busy_until_ns; /* frozen or at work until then */
    qsm_sim_costs costs;
    uint64_t subscriptions_generation;
    qsm_sim_socket socket;
    bool subscribed;
    bool deaf;
    bool ready;         /* in the list of nodes to step at this instant */
    bool crash_ordered; /* by its own observer: done when the step is over */
} sim_node;

struct qsm_sim {
    uint64_t seed;
    uint64_t now_ns;
    uint64_t trace_hash;
    qsm_sim_events events;
    qsm_sim_network network;
    sim_node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t *ready;
    uint32_t ready_count;
    uint32_t stepping; /* index of the node whose observer may be running; UINT32_MAX: none */
    bool stopped;
    qsm_address *subscriptions; /* scratch */
    uint32_t subscriptions_capacity;
    qsm_sim_observer observer;
    void *observer_context;
    qsm_sim_wiretap tap;
    void *tap_context;
};

enum purpose { PURPOSE_NODE_SEED = 100 };
enum trace { TRACE_DATAGRAM = 1, TRACE_EVENT = 2, TRACE_FAULT = 3 };

/* ---- trace ------------------------------------------------------------------------------------
 */

static void trace(qsm_sim *sim, uint32_t node, uint32_t kind, uint64_t what) {
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
    trace(sim, node, TRACE_EVENT, hash);
}

/* ---- clocks -----------------------------------------------------------------------------------
 */

static uint64_t clock_of(const qsm_sim *sim, const sim_node *node) {
    const uint64_t rate = (uint64_t)((int64_t)QSM_SIM_PPM + node->clock_drift_ppm);
    const uint64_t passed_ns = sim->now_ns - node->clock_sim_ns;
    return node->clock_own_ns + passed_ns / QSM_SIM_PPM * rate +
           passed_ns % QSM_SIM_PPM * rate / QSM_SIM_PPM;
}

/* The first simulated time at which the node's clock shows `own_ns` or more. */
static uint64_t clock_back(const sim_node *node, uint64_t own_ns) {
    if (own_ns == UINT64_MAX) return UINT64_MAX;
    if (own_ns <= node->clock_own_ns) return node->clock_sim_ns;
    const uint64_t rate = (uint64_t)((int64_t)QSM_SIM_PPM + node->clock_drift_ppm);
    const uint64_t passed_ns = own_ns - node->clock_own_ns;
    if (passed_ns / rate >= UINT64_MAX / QSM_SIM_PPM / 2) return UINT64_MAX;
    return node->clock_sim_ns + passed_ns / rate * QSM_SIM_PPM +
           (passed_ns % rate * QSM_SIM_PPM + rate - 1) / rate;
}

/* ---- stepping a node --------------------------------------------------------------------------
 */

static void mark_ready(qsm_sim *sim, uint32_t index) {
    sim_node *node = &sim->nodes[index];
    if (node->ready || node->engine == NULL) return;
    assert(sim->ready_count < sim->node_capacity);
    node->ready = true;
    sim->ready[sim->ready_count++] = index;
}

/* Puts a wake-up for the node into the heap unless an earlier one is there; not before
 * `earliest_ns`. */
static void schedule(qsm_sim *sim, uint32_t index, uint64_t earliest_ns) {
    sim_node *node = &sim->nodes[index];
    if (node->engine == NULL) return;
    uint64_t at_ns = clock_back(node, qsm_engine_deadline_ns(node->engine));
    if (node->socket.count > 0 || at_ns < earliest_ns) at_ns = earliest_ns;
    if (at_ns < node->busy_until_ns) at_ns = node->busy_until_ns;
    if (at_ns >= node->wake_ns) return;
    if (qsm_sim_events_push(&sim->events, at_ns, QSM_SIM_WAKE, index, NULL)) node->wake_ns = at_ns;
}

/* How many came from others: what a node sends to itself is none of its network's business. */
static uint32_t step_receive(qsm_sim *sim, uint32_t index, uint64_t own_ns) {
    sim_node *node = &sim->nodes[index];
    const uint32_t batch = node->costs.receive_ns != 0 ? COSTLY_BATCH : RECEIVE_BATCH;
    uint32_t from_others = 0;
    for (uint32_t count = 0; count < batch && node->socket.count > 0; count++) {
        qsm_sim_packet *packet = qsm_sim_socket_take(&node->socket);
        const qsm_address from = qsm_sim_address(packet->from, false);
        trace(sim, index, TRACE_DATAGRAM, packet->hash);
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

/* Tells the network what the node listens to, when that has changed. */
static void step_subscribe(qsm_sim *sim, uint32_t index) {
    sim_node *node = &sim->nodes[index];
    uint64_t generation = 0;
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
    const int result =
        qsm_sim_network_subscribe(&sim->network, index, sim->subscriptions, (uint32_t)count);
    node->subscribed = result == QSM_OK;
    node->subscriptions_generation = generation;
}

static void crash_now(qsm_sim *sim, uint32_t index) {
    sim_node *node = &sim->nodes[index];
    qsm_engine_destroy(node->engine);
    node->engine = NULL;
    node->crash_ordered = false;
    node->busy_until_ns = 0;
    node->subscribed = false;
    qsm_sim_socket_clear(&node->socket);
    (void)qsm_sim_network_subscribe(&sim->network, index, NULL, 0);
}

/* All that the node does at this instant. */
static void step(qsm_sim *sim, uint32_t index) {
    if (sim->nodes[index].engine == NULL) return;
    if (sim->nodes[index].busy_until_ns > sim->now_ns) {
        schedule(sim, index, sim->now_ns);
        return;
    }
    const uint64_t own_ns = clock_of(sim, &sim->nodes[index]);
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
        sim_node *node = &sim->nodes[index];
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
        crash_now(sim, index);
        return;
    }
    step_subscribe(sim, index);
    schedule(sim, index, sim->now_ns + (sim->nodes[index].deaf ? BREATH_DEAF_NS : BREATH_NS));
}

/* ---- running ----------------------------------------------------------------------------------
 */

static void arrive(qsm_sim *sim, uint32_t index, qsm_sim_packet *packet) {
    sim_node *node = &sim->nodes[index];
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
        mark_ready(sim, index);
    } else {
        schedule(sim, index, sim->now_ns);
    }
}

static void handle(qsm_sim *sim, const qsm_sim_event *event) {
    switch (event->happening) {
    case QSM_SIM_WAKE:
        if (event->at_ns != sim->nodes[event->node].wake_ns)
            break; /* an earlier one took its place */
        sim->nodes[event->node].wake_ns = UINT64_MAX;
        mark_ready(sim, event->node);
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
        step(sim, index);
    }
    sim->ready_count -= done;
    memmove(sim->ready, sim->ready + done, sim->ready_count * sizeof *sim->ready);
    return done;
}

uint64_t qsm_sim_run_until(qsm_sim *sim, uint64_t until_ns) {
    sim->stopped = false;
    /* Since the last run the application may have called any engine. */
    for (uint32_t i = 0; i < sim->node_count; i++) {
        schedule(sim, i, sim->now_ns);
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

/* ---- making and ending ------------------------------------------------------------------------
 */

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

uint64_t qsm_sim_now_ns(const qsm_sim *sim) {
    return sim->now_ns;
}

static bool nodes_grow(qsm_sim *sim) {
    if (sim->node_count < sim->node_capacity) return true;
    const uint32_t capacity = sim->node_capacity == 0 ? 16 : sim->node_capacity * 2;
    uint32_t *ready = realloc(sim->ready, capacity * sizeof *ready);
    if (ready == NULL) return false;
    sim->ready = ready;
    sim_node *nodes = realloc(sim->nodes, capacity * sizeof *nodes);
    if (nodes == NULL) return false;
    sim->nodes = nodes;
    sim->node_capacity = capacity;
    return true;
}

/* A new engine for the node, with randomness that no other life of any node has. */
static int start_engine(qsm_sim *sim, uint32_t index) {
    sim_node *node = &sim->nodes[index];
    const uint64_t life = (uint64_t)node->restarts << 32 | index;
    qsm_sim_random random = qsm_sim_random_of(qsm_sim_mix2(sim->seed, PURPOSE_NODE_SEED), life + 1);
    for (uint32_t i = 0; i < sizeof node->config.random_seed; i++) {
        node->config.random_seed[i] = (uint8_t)qsm_sim_random_next(&random);
    }
    const int result = qsm_engine_create(&node->config, clock_of(sim, node), &node->engine);
    if (result != QSM_OK) {
        node->engine = NULL;
        return result;
    }
    step_subscribe(sim, index);
    return QSM_OK;
}

int qsm_sim_add_node(qsm_sim *sim, const qsm_config *config) {
    if (sim->node_count >= INT32_MAX) return QSM_ERR_ARGUMENT;
    if (!nodes_grow(sim)) return QSM_ERR_NO_MEMORY;
    const uint32_t index = sim->node_count;
    sim_node *node = &sim->nodes[index];
    *node =
        (sim_node){.clock_sim_ns = sim->now_ns, .clock_own_ns = sim->now_ns, .wake_ns = UINT64_MAX};
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
    const int result = start_engine(sim, index);
    if (result != QSM_OK) return result;
    sim->node_count++;
    schedule(sim, index, sim->now_ns);
    return (int)index;
}

uint32_t qsm_sim_node_count(const qsm_sim *sim) {
    return sim->node_count;
}

qsm_engine *qsm_sim_engine(qsm_sim *sim, uint32_t node) {
    return node < sim->node_count ? sim->nodes[node].engine : NULL;
}

uint64_t qsm_sim_node_now_ns(const qsm_sim *sim, uint32_t node) {
    return node < sim->node_count ? clock_of(sim, &sim->nodes[node]) : 0;
}

/* ---- faults -----------------------------------------------------------------------------------
 */

void qsm_sim_set_link(qsm_sim *sim, const qsm_sim_link *link) {
    sim->network.link = *link;
}

void qsm_sim_set_multicast(qsm_sim *sim, bool works) {
    sim->network.multicast_dead = !works;
}

int qsm_sim_set_link_between(qsm_sim *sim, uint32_t from, uint32_t to, const qsm_sim_link *link) {
    if (from >= sim->node_count || to >= sim->node_count) return QSM_ERR_NOT_FOUND;
    qsm_sim_pair *pair = qsm_sim_network_pair(&sim->network, from, to, link != NULL);
    if (link == NULL) {
        if (pair != NULL) pair->has_link = false;
        return QSM_OK;
    }
    if (pair == NULL) return QSM_ERR_NO_MEMORY;
    pair->has_link = true;
    pair->link = *link;
    return QSM_OK;
}

int qsm_sim_set_side(qsm_sim *sim, uint32_t node, uint32_t side) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    sim->network.ports[node].side = side;
    return QSM_OK;
}

int qsm_sim_block(qsm_sim *sim, uint32_t from, uint32_t to, bool blocked) {
    if (from >= sim->node_count || to >= sim->node_count) return QSM_ERR_NOT_FOUND;
    qsm_sim_pair *pair = qsm_sim_network_pair(&sim->network, from, to, blocked);
    if (pair == NULL) return blocked ? QSM_ERR_NO_MEMORY : QSM_OK;
    pair->blocked = blocked;
    return QSM_OK;
}

int qsm_sim_block_multicast(qsm_sim *sim, uint32_t from, uint32_t to, bool blocked) {
    if (from >= sim->node_count || to >= sim->node_count) return QSM_ERR_NOT_FOUND;
    qsm_sim_pair *pair = qsm_sim_network_pair(&sim->network, from, to, blocked);
    if (pair == NULL) return blocked ? QSM_ERR_NO_MEMORY : QSM_OK;
    pair->multicast_blocked = blocked;
    return QSM_OK;
}

int qsm_sim_freeze(qsm_sim *sim, uint32_t node, uint64_t duration_ns) {
    if (node >= sim->node_count || sim->nodes[node].engine == NULL) return QSM_ERR_NOT_FOUND;
    const uint64_t until_ns = sim->now_ns + duration_ns;
    if (until_ns > sim->nodes[node].busy_until_ns) sim->nodes[node].busy_until_ns = until_ns;
    return QSM_OK;
}

int qsm_sim_crash(qsm_sim *sim, uint32_t node) {
    if (node >= sim->node_count || sim->nodes[node].engine == NULL) return QSM_ERR_NOT_FOUND;
    trace(sim, node, TRACE_FAULT, 1);
    if (sim->stepping == node) {
        sim->nodes[node].crash_ordered = true;
    } else {
        crash_now(sim, node);
    }
    return QSM_OK;
}

int qsm_sim_restart(qsm_sim *sim, uint32_t node) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    if (sim->nodes[node].engine != NULL) return QSM_ERR_EXISTS;
    trace(sim, node, TRACE_FAULT, 2);
    sim->nodes[node].restarts++;
    sim->nodes[node].wake_ns = UINT64_MAX;
    const int result = start_engine(sim, node);
    if (result == QSM_OK) schedule(sim, node, sim->now_ns);
    return result;
}

int qsm_sim_set_cost(qsm_sim *sim, uint32_t node, uint64_t cost_ns) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    sim->nodes[node].costs = (qsm_sim_costs){.receive_ns = cost_ns, .event_ns = cost_ns};
    return QSM_OK;
}

void qsm_sim_set_costs(qsm_sim *sim, uint32_t node, uint64_t receive_ns, uint64_t send_ns) {
    if (node >= sim->node_count) return;
    sim->nodes[node].costs = (qsm_sim_costs){.receive_ns = receive_ns, .send_ns = send_ns};
}

int qsm_sim_set_deaf(qsm_sim *sim, uint32_t node, bool deaf) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    sim->nodes[node].deaf = deaf;
    if (!deaf) mark_ready(sim, node); /* what has piled up is fetched now */
    return QSM_OK;
}

int qsm_sim_set_clock(qsm_sim *sim, uint32_t node, int32_t drift_ppm, uint64_t jump_ns) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    if (drift_ppm < -DRIFT_PPM_MAX || drift_ppm > DRIFT_PPM_MAX) return QSM_ERR_ARGUMENT;
    sim_node *clocked = &sim->nodes[node];
    clocked->clock_own_ns = clock_of(sim, clocked) + jump_ns;
    clocked->clock_sim_ns = sim->now_ns;
    clocked->clock_drift_ppm = drift_ppm;
    return QSM_OK;
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
