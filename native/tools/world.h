/*
 * world.h - a simulation under judgement: nodes, their applications, what these send, and the
 * oracle.
 *
 * The swarm and the named scenarios are short programs over this. A world keeps the oracle informed
 * of all that applications do, so whoever uses it cannot forget to.
 */
#ifndef QSM_TOOLS_WORLD_H
#define QSM_TOOLS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle.h"
#include "qsm.h"

#define WORLD_US UINT64_C(1000)
#define WORLD_MS UINT64_C(1000000)
#define WORLD_S UINT64_C(1000000000)

typedef struct world world;

typedef struct {
    uint64_t seed;
    uint32_t node_count;
    uint32_t group_count;
    bool verbose;      /* tells the story on standard output */
    qsm_config config; /* of every node; world_defaults has the engine's own */
    qsm_sim_link link;
} world_options;

/* A local network without faults: 100 us, 1 Gb/s, the engine's default configuration. */
world_options world_defaults(uint64_t seed, uint32_t node_count, uint32_t group_count);

world *world_create(const world_options *options);
void world_destroy(world *under_test);
qsm_sim *world_sim(world *under_test);
oracle *world_judge(world *under_test);
uint64_t world_now_ns(const world *under_test);
uint32_t world_node_count(const world *under_test);
/* One line of the story, with the time, when the world is verbose. */
void world_tell(const world *under_test, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- nodes ----------------------------------------------------------------------------------- */

/* One more node, with the configuration of the world or its own; returns its index. */
uint32_t world_add_node(world *under_test, const qsm_config *config);
bool world_is_up(const world *under_test, uint32_t node);
void world_crash(world *under_test, uint32_t node);
void world_restart(world *under_test, uint32_t node);
/* A clean departure; the node is down when its engine says that it is closed. */
void world_close(world *under_test, uint32_t node);
/* As qsm_sim_freeze. */
void world_freeze(world *under_test, uint32_t node, uint64_t duration_ns);
int world_health(world *under_test, uint32_t node);
/* Times that the engine of this life told of this health. */
uint32_t world_health_count(const world *under_test, uint32_t node, int health);
/* Value of a counter of the node's engine; ends the program when there is none of that name. */
uint64_t world_counter(world *under_test, uint32_t node, const char *name);
uint64_t world_counter_sum(world *under_test, const char *name);
/* Prints the end of the engine's trace. */
void world_print_trace(world *under_test, uint32_t node);

/* ---- groups and messages --------------------------------------------------------------------- */

void world_join(world *under_test, uint32_t node, uint32_t group);
void world_join_all(world *under_test, uint32_t group);
void world_leave(world *under_test, uint32_t node, uint32_t group);
/* The seat while joined, else NULL. */
oracle_seat *world_seat(const world *under_test, uint32_t node, uint32_t group);
qsm_group *world_group(const world *under_test, uint32_t node, uint32_t group);
/* As qsm_group_send. */
int world_send(world *under_test, uint32_t node, uint32_t group, uint32_t bytes);
/* `count` messages, each as soon as the engine has room for it in its queue. */
void world_pour(world *under_test, uint32_t node, uint32_t group, uint32_t bytes, uint64_t count);
/* `count` messages that the engine pulls when it can send them. */
void world_offer(world *under_test, uint32_t node, uint32_t group, uint32_t bytes, uint64_t count,
                 uint32_t priority);
/* A message each `interval_ns` until that time; those that find the queue full are not sent. */
void world_flow(world *under_test, uint32_t node, uint32_t group, uint32_t bytes,
                uint64_t interval_ns, uint64_t until_ns);
/* Ends all flows, pours and offers. */
void world_hush(world *under_test);

/* ---- time ------------------------------------------------------------------------------------ */

void world_run(world *under_test, uint64_t duration_ns);
/* Runs until all agree on who is there, at most so long; false when they do not by then. */
bool world_agree(world *under_test, uint64_t limit_ns);
/* The same until, besides, all have the last message of everybody. */
bool world_settle(world *under_test, uint64_t limit_ns);
/* Takes all faults of network and nodes back (frozen nodes thaw when their time has come). */
void world_heal(world *under_test);
/* The end of every run: heals, hushes, lets all members send a last message, waits until all agree,
 * then asks for silence and for the memory back, and has the oracle check everything. */
void world_finish(world *under_test, uint64_t limit_ns);
const char *world_failure(const world *under_test);

#endif
