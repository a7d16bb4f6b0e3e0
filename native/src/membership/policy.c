/*
 * policy.c - policies by their number, and how their results are freed.
 */
#include "membership/policy.h"

#include <stdlib.h>
#include <string.h>

#include "membership/policy_list.h"
#include "qsm.h"

qsm_policy_run qsm_policy_find(uint32_t policy) {
#define FUNCTION(NAME, name) qsm_policy_##name,
    static const qsm_policy_run runs[] = {QSM_POLICIES(FUNCTION)};
#undef FUNCTION
    return policy < QSM_POLICY_COUNT ? runs[policy] : NULL;
}

void qsm_policy_result_free(qsm_policy_result *result) {
    for (uint32_t r = 0; r < result->region_count; r++)
        free(result->regions[r].members);
    for (uint32_t g = 0; g < result->group_count; g++)
        free(result->groups[g].regions);
    free(result->regions);
    free(result->groups);
    memset(result, 0, sizeof *result);
}
