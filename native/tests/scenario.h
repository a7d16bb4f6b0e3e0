/*
 * scenario.h - what the named scenarios have in common: a world that has come up, and checks that
 * say what was asked and what was found.
 *
 * A scenario is a function with a sentence for a name. Its seed is fixed, so it runs the same each
 * time; the environment variable SCENARIO_VERBOSE tells its story, SCENARIO_SEED gives it another
 * seed and SCENARIO_ONLY (a part of a name) leaves the others out.
 */
#ifndef QSM_TESTS_SCENARIO_H
#define QSM_TESTS_SCENARIO_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "drivers/simulator.h"
#include "qsm.h"
#include "../tools/world.h"

typedef struct {
    const char *name;
    void (*run)(void);
} scenario;

#define SCENARIO(function) {#function, function}

/* Runs them; the exit code for main. */
int scenario_main(const char *program, const scenario *scenarios, size_t count);
#define SCENARIO_MAIN(program, scenarios)                                                          \
    scenario_main(program, scenarios, sizeof scenarios / sizeof *scenarios)

/* A failed check is printed and counted, and the scenario goes on. */
void scenario_check(bool holds, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define CHECK(condition) scenario_check((condition), __FILE__, __LINE__, "%s", #condition)
#define CHECK_SAY(condition, ...) scenario_check((condition), __FILE__, __LINE__, __VA_ARGS__)

/* The seed of a world: the number given, or what SCENARIO_SEED says. */
world_options scenario_options(uint64_t seed, uint32_t node_count, uint32_t group_count);
/* A world in which every node has joined every group and all have settled. */
world *scenario_begin(const world_options *options);
/* Ends the world as world_finish does, checks that no rule was broken, and frees it. */
void scenario_end(world *under_test);
/* Runs until all agree and have everything, and checks that it took at most so long; returns how
 * long it took. */
uint64_t scenario_settle(world *under_test, uint64_t limit_ns, const char *what);
/* The same until all agree on who is there. */
uint64_t scenario_agree(world *under_test, uint64_t limit_ns, const char *what);
/* Prints a figure of the scenario, for people. */
void scenario_figure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Deliveries in a group to all its members, and to those but `node`. */
uint64_t scenario_deliveries(const world *under_test, uint32_t group);
uint64_t scenario_deliveries_but(const world *under_test, uint32_t group, uint32_t node);
/* The longest time that any member but `node` (UINT32_MAX: none) went without a delivery. */
uint64_t scenario_stall_ns(world *under_test, uint32_t group, uint32_t node);
void scenario_reset_stalls(world *under_test, uint32_t group);
/* Index of the node that hosts the membership service; UINT32_MAX: not exactly one does. */
uint32_t scenario_host(world *under_test);

/* Requests for repairs, and repairs, that all nodes have sent so far. */
uint64_t scenario_repairs_asked(world *all);
uint64_t scenario_repairs_made(world *all);

#endif
