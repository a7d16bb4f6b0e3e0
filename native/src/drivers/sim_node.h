/*
 * sim_node.h - the inside of the simulator: its nodes, and what its files do with one of them.
 * simulator.c runs the clock, sim_step.c a node, sim_faults.c what goes wrong.
 */
#ifndef QSM_DRIVERS_SIM_NODE_H
#define QSM_DRIVERS_SIM_NODE_H

#include "drivers/sim_events.h"
#include "drivers/sim_network.h"
#include "drivers/sim_socket.h"
#include "drivers/simulator.h"

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
    uint64_t renewals; /* as many have been made */
    qsm_sim_socket socket;
    bool subscribed;
    bool deaf;
    bool ready;         /* in the list of nodes to step at this instant */
    bool crash_ordered; /* by its own observer: done when the step is over */
} qsm_sim_node;

struct qsm_sim {
    uint64_t seed;
    uint64_t now_ns;
    uint64_t trace_hash;
    qsm_sim_events events;
    qsm_sim_network network;
    qsm_sim_node *nodes;
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

enum qsm_sim_trace_kind {
    QSM_SIM_TRACE_DATAGRAM = 1,
    QSM_SIM_TRACE_EVENT = 2,
    QSM_SIM_TRACE_FAULT = 3
};

/* Mixes what has happened, and when, into the hash of the run. */
void qsm_sim_trace(qsm_sim *sim, uint32_t node, uint32_t kind, uint64_t what);

/* What the node's own clock shows now. */
uint64_t qsm_sim_clock_of(const qsm_sim *sim, const qsm_sim_node *node);

/* The node is stepped at this instant, once all arrivals are in their sockets. */
void qsm_sim_mark_ready(qsm_sim *sim, uint32_t index);
/* Puts a wake-up for the node into the heap unless an earlier one is there; not before
 * `earliest_ns`. */
void qsm_sim_schedule(qsm_sim *sim, uint32_t index, uint64_t earliest_ns);
/* All that the node does at this instant. */
void qsm_sim_step(qsm_sim *sim, uint32_t index);

/* A new engine for the node, with randomness that no other life of any node has. */
int qsm_sim_start_engine(qsm_sim *sim, uint32_t index);
void qsm_sim_crash_now(qsm_sim *sim, uint32_t index);

#endif
