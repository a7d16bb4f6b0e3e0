/* world_state.h - what a world consists of, for the files that are the world. */
#ifndef QSM_TOOLS_WORLD_STATE_H
#define QSM_TOOLS_WORLD_STATE_H

#include "drivers/sim_events.h"
#include "drivers/simulator.h"
#include "vector.h"
#include "world.h"

#define HEALTH_COUNT 6

/* Messages that a node owes to a group, given as its engine asks or has room. */
typedef struct {
    uint64_t left;
    uint32_t bytes;
    uint32_t priority;
} debt;

typedef struct {
    world *owner;
    uint32_t node;
    uint32_t group;
    qsm_group *handle; /* NULL: not joined */
    oracle_seat *seat;
    debt pour;
    debt offer;
} place;

typedef struct {
    uint32_t node;
    uint32_t group;
    uint32_t bytes;
    uint64_t interval_ns;
    uint64_t until_ns;
} flow;

typedef struct {
    bool closing;
    uint32_t health_counts[HEALTH_COUNT];
    place *places; /* by group */
} application;

struct world {
    world_options options;
    qsm_sim *sim;
    oracle *judge;
    VECTOR(application) applications;
    VECTOR(flow) flows;
    qsm_sim_events due; /* of flows */
    uint64_t frozen_until_ns;
    uint64_t owed; /* messages that pours and offers have yet to give */
    uint8_t message[QSM_MESSAGE_BYTES_MAX];
};

/* Where the node is, or would be, in the group. */
place *world_place(const world *under_test, uint32_t node, uint32_t group);
/* There is room again for what is poured there. */
void world_pour_on(world *under_test, place *where);
/* What the place has yet to give is not asked of it any more. */
void world_forgive(world *under_test, place *where);
/* The flow of that index is due. */
void world_flow_on(world *under_test, uint32_t index);

#endif
