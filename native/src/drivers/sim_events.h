/*
 * sim_events.h - what will happen in a simulation: a heap ordered by time, then by insertion.
 *
 * Owns the order of things and nothing else; knows neither nodes nor the network.
 */
#ifndef QSM_DRIVERS_SIM_EVENTS_H
#define QSM_DRIVERS_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum qsm_sim_happening {
    QSM_SIM_WAKE = 1,  /* the node asked for a turn */
    QSM_SIM_ENTER = 2, /* a packet reaches the queue in front of the node's line */
    QSM_SIM_ARRIVE = 3 /* a packet reaches the node's socket */
};

typedef struct {
    uint64_t at_ns;
    uint64_t order;
    void *packet; /* NULL for QSM_SIM_WAKE */
    uint32_t node;
    uint32_t happening; /* enum qsm_sim_happening */
} qsm_sim_event;

typedef struct {
    qsm_sim_event *items;
    uint32_t count;
    uint32_t capacity;
    uint64_t order_next;
} qsm_sim_events;

/* False when there is no memory; nothing has changed then. */
bool qsm_sim_events_push(qsm_sim_events *events, uint64_t at_ns, uint32_t happening, uint32_t node,
                         void *packet);
/* When the first one happens; UINT64_MAX when there is none. */
uint64_t qsm_sim_events_next_ns(const qsm_sim_events *events);
/* Takes the first one; there must be one. */
qsm_sim_event qsm_sim_events_pop(qsm_sim_events *events);

#endif
