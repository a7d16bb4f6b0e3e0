/*
 * policy_build.h - what the policies share: who is in each group, and how labelled nodes become
 * regions.
 *
 * Every policy comes down to *layers*. A layer holds some of the groups and gives each node at most
 * one label; nodes with the same label are a region. Regions of one layer are disjoint, and each
 * group lies in one layer, so the regions of a group are disjoint whatever the policy decides.
 */
#ifndef QSM_MEMBERSHIP_POLICY_BUILD_H
#define QSM_MEMBERSHIP_POLICY_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "membership/policy.h"

/* The label of a node that is in no region of a layer. */
#define QSM_POLICY_NONE UINT32_MAX

typedef struct {
    const qsm_policy_input *input;
    qsm_policy_result *result;
    size_t *starts;    /* members of group g: members[starts[g]] .. members[starts[g + 1] - 1] */
    uint32_t *members; /* indices of nodes, ascending within a group */
    uint32_t layer_count;
    uint32_t region_capacity;
    uint32_t label_count; /* labels are below it: the larger of the numbers of nodes and groups */
    uint32_t *region_of_label;
    uint32_t *sizes;
    uint32_t *marks;
    uint32_t *found;
} qsm_policy_build;

/* Zeroed memory for `count` items; not NULL for none. */
void *qsm_policy_alloc(size_t count, size_t bytes);

/* Begins an empty result. After a failure only qsm_policy_build_end may follow. */
int qsm_policy_build_begin(qsm_policy_build *build, const qsm_policy_input *input,
                           qsm_policy_result *result);

/* Labels nodes so that two have the same label when they joined the same ones of the `groups`
 * (indices, each at most once); nodes that joined none of them get QSM_POLICY_NONE. */
int qsm_policy_label_exact(const qsm_policy_build *build, const uint32_t *groups,
                           uint32_t group_count, uint32_t *labels);

/* Appends a layer. Every member of the `groups` must be labelled. */
int qsm_policy_build_layer(qsm_policy_build *build, const uint32_t *labels, const uint32_t *groups,
                           uint32_t group_count);

/* Makes regions with the same members one, and frees what the build needed. Empties the result
 * unless all is well; returns `status`, or QSM_ERR_NO_MEMORY. */
int qsm_policy_build_end(qsm_policy_build *build, int status);

#endif
