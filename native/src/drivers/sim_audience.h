/*
 * sim_audience.h - who listens to which multicast address in a simulation.
 */
#ifndef QSM_DRIVERS_SIM_AUDIENCE_H
#define QSM_DRIVERS_SIM_AUDIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "qsm.h"

/* A multicast address and its listeners, ascending. */
typedef struct {
    qsm_address address;
    bool used;
    uint32_t *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
} qsm_sim_audience;

typedef struct {
    qsm_sim_audience *items; /* open addressing */
    uint32_t capacity;
    uint32_t count;
} qsm_sim_audiences;

/* An order of addresses, for qsort. */
static inline int qsm_sim_compare_addresses(const void *one, const void *other) {
    return memcmp(one, other, sizeof(qsm_address));
}

/* NULL: nobody has ever listened there. */
qsm_sim_audience *qsm_sim_audience_find(qsm_sim_audiences *all, const qsm_address *address);
/* The node listens there from now on; it did not before. False when there is no memory. */
bool qsm_sim_audience_enter(qsm_sim_audiences *all, const qsm_address *address, uint32_t node);
void qsm_sim_audience_quit(qsm_sim_audiences *all, const qsm_address *address, uint32_t node);
void qsm_sim_audiences_free(qsm_sim_audiences *all);

#endif
