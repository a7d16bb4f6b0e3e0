/*
 * storm.h - one random scenario from one number: which faults there are, how strong, and when what
 * happens.
 *
 * A storm has two phases. In the first everything may go wrong and only safety is asked; in the
 * second all faults have ended and all must agree within a bounded time (world_finish).
 */
#ifndef QSM_TOOLS_STORM_H
#define QSM_TOOLS_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "world.h"

/* Each seed has a random subset of those above STORM_DRAWN_COUNT; the others are asked for, so that
 * a seed stays the storm that it was when one more of them can be. */
enum storm_fault {
    STORM_LOSS,
    STORM_BURST,
    STORM_JITTER,
    STORM_DUPLICATE,
    STORM_NARROW, /* little bandwidth, short queues */
    STORM_PAIR,   /* some pairs of nodes have bad links */
    STORM_CRASH,
    STORM_RESTART,
    STORM_DEPART,
    STORM_FREEZE,
    STORM_PARTITION,
    STORM_BLOCK, /* one way */
    STORM_SLOW,
    STORM_DEAF,
    STORM_CLOCK,
    STORM_CHURN, /* joins and leaves */
    STORM_LATE,  /* nodes that start later */
    STORM_DRAWN_COUNT,
    STORM_HUSH = STORM_DRAWN_COUNT, /* one way, multicast only */
    STORM_SNOOP,                    /* single multicast addresses */
    STORM_SHORT,                    /* paths that lose long datagrams; some seeds have it, too */
    STORM_FAULT_COUNT
};

typedef struct {
    const char *failure; /* NULL: none; valid until the next storm */
    uint64_t hash;
    uint64_t virtual_ns;
    uint64_t deliveries;
    uint64_t views;
    uint64_t datagrams;
    uint32_t node_count;
    uint32_t group_count;
    uint32_t faults; /* bits by enum storm_fault */
} storm_result;

/* Runs the storm of that number. With `only` not zero, just those of its faults happen; those of
 * `also` happen besides. */
storm_result storm_run(uint64_t seed, uint32_t only, uint32_t also, bool verbose);
const char *storm_fault_name(uint32_t fault);

#endif
