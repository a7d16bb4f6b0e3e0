/*
 * policy.h - how nodes are put into regions: pure functions from who joined what to a partition
 * into regions.
 *
 * Owns nothing of the protocol: no ids of views, no addresses, no time. The membership service
 * (host.c) calls one policy for each batch of changes and turns its result into views. To add a
 * policy, write one function of type qsm_policy_run and a line in QSM_POLICIES (qsm.h).
 */
#ifndef QSM_MEMBERSHIP_POLICY_H
#define QSM_MEMBERSHIP_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* One node and the groups it has joined. `groups` are indices below group_count, ascending, no
 * repeats. */
typedef struct {
    uint64_t node;
    const uint32_t *groups;
    uint32_t group_count;
} qsm_policy_node;

/* One region of a result: indices into the input's nodes, ascending. Nodes that joined nothing are
 * in none. */
typedef struct {
    uint32_t *members;
    uint32_t member_count;
} qsm_policy_region;

/* The regions that together hold all members of one group, as indices into `regions`, ascending.
 * Regions of one group are disjoint. A region may hold nodes that are not in the group (they drop
 * its messages). */
typedef struct {
    uint32_t *regions;
    uint32_t region_count;
} qsm_policy_group;

typedef struct {
    qsm_policy_region *regions;
    uint32_t region_count;
    qsm_policy_group *groups; /* one for each group of the input */
    uint32_t group_count;
    /* The work of one run was used up: another run with this as its past may do better. */
    bool unfinished;
} qsm_policy_result;

/* The region that a node was in at the last run, for hysteresis: any equal numbers mean the same
 * region. A node can have been in several regions (hierarchies); `slot` tells them apart. */
typedef struct {
    uint64_t node;
    uint32_t slot;
    uint64_t region;
} qsm_policy_past;

typedef struct {
    const qsm_policy_node *nodes; /* by seniority */
    uint32_t node_count;
    uint32_t group_count;
    const uint8_t (*group_ids)[16]; /* one for each group; a plan names groups by id */
    const qsm_policy_past *past;    /* may be NULL */
    uint32_t past_count;
    uint32_t similar_percent; /* least overlap |A and B| / |A or B| in percent to share a region */
    uint32_t region_size_min; /* smaller regions are merged with the nearest, or not split off */
    const char *plan;         /* text of a plan, for the plan policy; may be NULL */
    uint32_t plan_bytes;
} qsm_policy_input;

/* Computes regions. Returns QSM_OK or QSM_ERR_NO_MEMORY (result is then empty). Deterministic:
 * equal input, equal result. Free the result with qsm_policy_result_free. */
typedef int (*qsm_policy_run)(const qsm_policy_input *input, qsm_policy_result *result);

/* The policy of that number (enum qsm_policy), or NULL. */
qsm_policy_run qsm_policy_find(uint32_t policy);
void qsm_policy_result_free(qsm_policy_result *result);

/* QSM_OK when the text is a well-formed plan, else QSM_ERR_PLAN and the line of the first fault. */
int qsm_policy_plan_check(const char *text, uint32_t bytes, uint32_t *fault_line);

#endif
