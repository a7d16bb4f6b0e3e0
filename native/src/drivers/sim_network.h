/*
 * sim_network.h - the network of a simulation: links, their faults, and who listens where.
 *
 * Takes a datagram from a node and puts its arrivals into the heap of events. Knows nodes by their
 * index only: what a node does with a packet is simulator.c's.
 */
#ifndef QSM_DRIVERS_SIM_NETWORK_H
#define QSM_DRIVERS_SIM_NETWORK_H

#include "drivers/sim_audience.h"
#include "drivers/sim_events.h"
#include "drivers/sim_random.h"
#include "qsm.h"

/* One datagram under way; all its receivers share it. */
typedef struct {
    uint32_t references;
    uint32_t from;
    uint32_t bytes;
    uint32_t reserved;
    uint64_t hash;
    uint8_t data[];
} qsm_sim_packet;

/* What differs from the common link between two nodes, in one direction. */
typedef struct {
    uint64_t key; /* 0: free place */
    qsm_sim_link link;
    bool has_link;
    bool blocked;
    bool multicast_blocked; /* only that */
} qsm_sim_pair;

/* What the network keeps of a receiver. */
typedef struct {
    uint64_t line_free_at_ns; /* when the line has carried all that waits for it */
    uint32_t burst_left;      /* packets that a burst of losses still takes */
    uint32_t side;
    qsm_address *subscriptions; /* sorted */
    uint64_t *joined_ns;        /* beside each of them */
    uint32_t subscription_count;
    uint32_t deaf_count;
    qsm_address *deaf_to; /* what is sent there does not arrive, although it listens */
    uint64_t forgets_ns;  /* so long after it has joined an address, too; 0: never */
} qsm_sim_port;

typedef struct {
    qsm_sim_events *events;
    qsm_sim_link link;
    qsm_sim_pair *pairs; /* open addressing */
    uint32_t pair_capacity;
    uint32_t pair_count;
    qsm_sim_audiences audiences;
    qsm_sim_port *ports;
    uint32_t port_count;
    uint32_t port_capacity;
    bool multicast_dead; /* the network carries unicast only */
    qsm_sim_random loss, burst, jitter, duplicate;
    qsm_sim_traffic traffic;
} qsm_sim_network;

void qsm_sim_network_init(qsm_sim_network *network, uint64_t seed, qsm_sim_events *events);
void qsm_sim_network_free(qsm_sim_network *network);

qsm_address qsm_sim_address(uint32_t index, bool multicast);

/* One more node, with no subscriptions, on side 0. */
int qsm_sim_network_add(qsm_sim_network *network);
/* What the network does to `from` -> `to`; NULL when nothing of its own and `make` is false, or
 * when there is no memory. */
qsm_sim_pair *qsm_sim_network_pair(qsm_sim_network *network, uint32_t from, uint32_t to, bool make);
/* Replaces what the node listens to. */
int qsm_sim_network_subscribe(qsm_sim_network *network, uint64_t now_ns, uint32_t node,
                              const qsm_address *addresses, uint32_t count);
/* What is sent to that address does not reach the node while blocked. NULL: all reach it again. */
int qsm_sim_network_block_address(qsm_sim_network *network, uint32_t node,
                                  const qsm_address *address, bool blocked);

/* Sends one datagram to all who are to have it. */
void qsm_sim_network_send(qsm_sim_network *network, uint64_t now_ns, uint32_t from,
                          const qsm_datagram *datagram);
/* The packet is at the queue of the node's line: it waits there, or is lost when the queue is full.
 */
void qsm_sim_network_enter(qsm_sim_network *network, uint64_t now_ns, uint32_t to,
                           qsm_sim_packet *packet);
/* True when `to` cannot hear `from` now. */
bool qsm_sim_network_is_cut(qsm_sim_network *network, uint32_t from, uint32_t to);
void qsm_sim_packet_drop(qsm_sim_packet *packet);

#endif
