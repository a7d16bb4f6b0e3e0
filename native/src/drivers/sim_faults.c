/*
 * sim_faults.c - what goes wrong in a simulation, by order: lines, partitions, crashes, nodes that
 * freeze, are slow or do not read, clocks that go wrong.
 */
#include "drivers/sim_node.h"

#define DRIFT_PPM_MAX 900000

/* ---- the network ----------------------------------------------------------------------------- */

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

int qsm_sim_block_address(qsm_sim *sim, uint32_t node, const qsm_address *address, bool blocked) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    return qsm_sim_network_block_address(&sim->network, node, address, blocked);
}

int qsm_sim_set_snooping(qsm_sim *sim, uint32_t node, uint64_t forgets_ns) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    sim->network.ports[node].forgets_ns = forgets_ns;
    return QSM_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

int qsm_sim_freeze(qsm_sim *sim, uint32_t node, uint64_t duration_ns) {
    if (node >= sim->node_count || sim->nodes[node].engine == NULL) return QSM_ERR_NOT_FOUND;
    const uint64_t until_ns = sim->now_ns + duration_ns;
    if (until_ns > sim->nodes[node].busy_until_ns) sim->nodes[node].busy_until_ns = until_ns;
    return QSM_OK;
}

int qsm_sim_crash(qsm_sim *sim, uint32_t node) {
    if (node >= sim->node_count || sim->nodes[node].engine == NULL) return QSM_ERR_NOT_FOUND;
    qsm_sim_trace(sim, node, QSM_SIM_TRACE_FAULT, 1);
    if (sim->stepping == node) {
        sim->nodes[node].crash_ordered = true;
    } else {
        qsm_sim_crash_now(sim, node);
    }
    return QSM_OK;
}

int qsm_sim_restart(qsm_sim *sim, uint32_t node) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    if (sim->nodes[node].engine != NULL) return QSM_ERR_EXISTS;
    qsm_sim_trace(sim, node, QSM_SIM_TRACE_FAULT, 2);
    sim->nodes[node].restarts++;
    sim->nodes[node].wake_ns = UINT64_MAX;
    const int result = qsm_sim_start_engine(sim, node);
    if (result == QSM_OK) qsm_sim_schedule(sim, node, sim->now_ns);
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
    if (!deaf) qsm_sim_mark_ready(sim, node); /* what has piled up is fetched now */
    return QSM_OK;
}

int qsm_sim_set_clock(qsm_sim *sim, uint32_t node, int32_t drift_ppm, uint64_t jump_ns) {
    if (node >= sim->node_count) return QSM_ERR_NOT_FOUND;
    if (drift_ppm < -DRIFT_PPM_MAX || drift_ppm > DRIFT_PPM_MAX) return QSM_ERR_ARGUMENT;
    qsm_sim_node *clocked = &sim->nodes[node];
    clocked->clock_own_ns = qsm_sim_clock_of(sim, clocked) + jump_ns;
    clocked->clock_sim_ns = sim->now_ns;
    clocked->clock_drift_ppm = drift_ppm;
    return QSM_OK;
}
