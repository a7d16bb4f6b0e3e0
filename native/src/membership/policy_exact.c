/*
 * policy_exact.c - one region for each distinct set of groups (thesis 4.1.2, figure 4.2).
 *
 * All members of a region expect the same messages, nothing is ever received in vain; but a node
 * that joins one more group changes its region.
 */
#include <stdlib.h>

#include "membership/policy_build.h"
#include "membership/policy_list.h"
#include "qsm.h"

int qsm_policy_exact(const qsm_policy_input *input, qsm_policy_result *result) {
    qsm_policy_build build;
    int status = qsm_policy_build_begin(&build, input, result);
    uint32_t *groups = qsm_policy_alloc(input->group_count, sizeof *groups);
    uint32_t *labels = qsm_policy_alloc(input->node_count, sizeof *labels);
    if (!groups || !labels) status = QSM_ERR_NO_MEMORY;
    if (status == QSM_OK) {
        for (uint32_t g = 0; g < input->group_count; g++)
            groups[g] = g;
        status = qsm_policy_label_exact(&build, groups, input->group_count, labels);
    }
    if (status == QSM_OK)
        status = qsm_policy_build_layer(&build, labels, groups, input->group_count);
    free(groups);
    free(labels);
    return qsm_policy_build_end(&build, status);
}
