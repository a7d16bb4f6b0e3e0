/*
 * simulator.h - what the engine's own tools and tests ask of the simulator beyond qsm.h.
 */
#ifndef QSM_DRIVERS_SIMULATOR_H
#define QSM_DRIVERS_SIMULATOR_H

#include "qsm.h"

/* The time on the node's own clock, as its engine must be told it (qsm_engine_close). 0: no node.
 */
uint64_t qsm_sim_node_now_ns(const qsm_sim *sim, uint32_t node);
/* Whether the network carries multicast at all; it does at the start. */
void qsm_sim_set_multicast(qsm_sim *sim, bool works);
/* What takes a node's time: each datagram that it receives and each that it sends (to one or to
 * many, as the system is called once). Unlike qsm_sim_set_cost, which prices datagrams received and
 * events alike. */
void qsm_sim_set_costs(qsm_sim *sim, uint32_t node, uint64_t receive_ns, uint64_t send_ns);

/* Called with each datagram that a node receives or sends, for tools that look at the wire. */
typedef void (*qsm_sim_wiretap)(void *context, uint32_t from, const qsm_datagram *datagram);
void qsm_sim_tap(qsm_sim *sim, qsm_sim_wiretap tap, void *context);

#endif
