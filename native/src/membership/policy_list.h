/*
 * policy_list.h - the policies by name; everybody but policy.c and their tests finds them by
 * number.
 */
#ifndef QSM_MEMBERSHIP_POLICY_LIST_H
#define QSM_MEMBERSHIP_POLICY_LIST_H

#include "membership/policy.h"

/* One region for each distinct set of groups. */
int qsm_policy_exact(const qsm_policy_input *input, qsm_policy_result *result);
/* Nodes of similar interest share a region, and stay in it while they fit. */
int qsm_policy_similar(const qsm_policy_input *input, qsm_policy_result *result);
/* Groups are decomposed into perfect hierarchies; each has regions of its own. */
int qsm_policy_hierarchy(const qsm_policy_input *input, qsm_policy_result *result);
/* A text says which groups belong together; others are treated as in exact. */
int qsm_policy_plan(const qsm_policy_input *input, qsm_policy_result *result);

#endif
