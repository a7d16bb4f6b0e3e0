/*
 * similar.h - the inside of the policy of similar interest: nodes, regions and their cores while it
 * runs. policy_similar.c has the steps; similar_cores.c knows which groups a region is about and
 * compares sets of groups with that; similar_joins.c makes one region of two; similar_homes.c
 * begins with the regions of the past.
 */
#ifndef QSM_MEMBERSHIP_SIMILAR_H
#define QSM_MEMBERSHIP_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "membership/policy.h"
#include "membership/policy_build.h"

/* Comparisons of a group with a region's core in one run, which must not keep its host from its
 * other work: what is left then is done by later runs, whose past is what this one has made. An
 * office of 2,000 nodes and 10,000 groups needs less. */
#define QSM_SIMILAR_WORK_MAX 30000000u

/* An overlap of two sets: common / either. */
typedef struct {
    uint32_t common;
    uint32_t either;
} qsm_overlap;

typedef struct {
    uint32_t region; /* QSM_POLICY_NONE: none */
    qsm_overlap fit;
} qsm_similar_choice;

typedef struct {
    const qsm_policy_input *input;
    uint32_t node_count;
    uint32_t join_percent;  /* to come into a region */
    uint32_t stay_percent;  /* to stay */
    uint32_t merge_percent; /* of two cores, to become one region */
    uint32_t size_min;
    bool fresh; /* there was no past */

    /* Regions. Those of the past come first. An id is in use while it has members or a core. */
    uint32_t past_count;
    uint32_t region_count; /* ids are below it */
    uint32_t region_capacity;
    uint32_t free_from; /* ids below it were in use or have been taken since the cores were found */
    uint32_t *sizes;
    uint32_t *parents; /* while regions are joined: towards the region that takes the members */
    /* Cores: entries (group, owner), together for each region. */
    size_t *core_starts;
    uint32_t *core_sizes;
    uint32_t *core_groups; /* entry -> group */
    uint32_t *core_owners; /* entry -> region */
    size_t core_count;
    /* The same by group: regions of the first `indexed_count` entries in a row, of later ones in a
     * list. */
    size_t indexed_count;
    size_t *index_starts; /* group -> first in index_regions */
    uint32_t *index_regions;
    size_t *heads; /* group -> entry + 1, 0: none */
    size_t *nexts; /* entry -> entry + 1 */
    uint64_t work; /* entries looked at so far */
    uint64_t work_max;

    /* Nodes. */
    uint32_t *home;   /* region of the past, or QSM_POLICY_NONE */
    uint32_t *region; /* region at present, or QSM_POLICY_NONE */
    bool *settled;
    bool *loyal; /* not settled, yet goes home rather than into a region that is not large enough */

    /* Scratch. */
    uint32_t *by_region;    /* nodes, sorted by region */
    uint32_t *region_begin; /* region -> first in by_region */
    uint32_t *group_counts; /* all zero between uses */
    uint32_t *group_list;
    uint32_t *common; /* region -> groups in common with the set at hand; zero between uses */
    uint32_t *touched;
    uint64_t *keys;
} qsm_similar;

/* Whether more may be compared in this run. */
static inline bool qsm_similar_has_time(const qsm_similar *c) {
    return c->work < c->work_max;
}

static inline bool qsm_overlap_reaches(qsm_overlap fit, uint32_t percent) {
    return fit.common > 0 && (uint64_t)fit.common * 100 >= (uint64_t)fit.either * percent;
}

static inline bool qsm_overlap_is_better(qsm_overlap a, qsm_overlap b) {
    return (uint64_t)a.common * b.either > (uint64_t)b.common * a.either;
}

static inline qsm_overlap qsm_similar_overlap(const qsm_similar *c, uint32_t region,
                                              uint32_t group_count) {
    qsm_overlap fit = {c->common[region], group_count + c->core_sizes[region] - c->common[region]};
    return fit;
}

static inline bool qsm_similar_has_interest(const qsm_similar *c, uint32_t n) {
    return c->input->nodes[n].group_count > 0;
}

static inline void qsm_similar_move_node(qsm_similar *c, uint32_t n, uint32_t region) {
    if (c->region[n] != QSM_POLICY_NONE) c->sizes[c->region[n]]--;
    c->region[n] = region;
    c->sizes[region]++;
}

/* The cores of all regions, from their present members. */
void qsm_similar_find_cores(qsm_similar *c);
/* A region with this node's groups as its core. */
uint32_t qsm_similar_open_region(qsm_similar *c, const qsm_policy_node *node);
/* Fills `common` and `touched`; qsm_similar_end_comparing must follow. Returns how many are
 * touched. */
uint32_t qsm_similar_begin_comparing(qsm_similar *c, const uint32_t *groups, uint32_t group_count);
void qsm_similar_end_comparing(qsm_similar *c, uint32_t touched_count);
/* The best of the regions touched but `except`. Of equals `favourite` is taken, or else the lowest.
 * Either may be QSM_POLICY_NONE. */
qsm_similar_choice qsm_similar_pick(const qsm_similar *c, uint32_t touched_count,
                                    uint32_t group_count, uint32_t except, uint32_t favourite);
/* Step 4: regions with like cores become one. */
void qsm_similar_join_alike(qsm_similar *c);
/* A node that is in a small new region goes back, if it would rather. */
void qsm_similar_return_home(qsm_similar *c);
/* Step 5: small regions join the nearest; false when there was none. */
bool qsm_similar_join_small(qsm_similar *c);
/* Numbers regions from 0 on by their most senior members. Returns how many there are. */
uint32_t qsm_similar_number_by_seniority(qsm_similar *c, uint32_t *regions);
int qsm_similar_begin(qsm_similar *c, const qsm_policy_input *input);
void qsm_similar_end(qsm_similar *c);

#endif
