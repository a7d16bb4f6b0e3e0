/* similar_homes.c - where nodes were the last time, and room for the work: see similar.h. */
#include <stdlib.h>
#include <string.h>

#include "membership/similar.h"
#include "qsm.h"

typedef struct {
    uint64_t key;
    uint32_t slot;
    uint32_t item; /* of a node: its index; of a past entry: its position */
} past_key;

static int compare_past_keys(const void *a, const void *b) {
    const past_key *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

uint32_t qsm_similar_number_by_seniority(qsm_similar *c, uint32_t *regions) {
    uint32_t *numbers = c->parents, count = 0;
    for (uint32_t r = 0; r < c->region_capacity; r++)
        numbers[r] = QSM_POLICY_NONE;
    for (uint32_t n = 0; n < c->node_count; n++) {
        if (regions[n] == QSM_POLICY_NONE) continue;
        if (numbers[regions[n]] == QSM_POLICY_NONE) numbers[regions[n]] = count++;
        regions[n] = numbers[regions[n]];
    }
    return count;
}

/* Finds the home of each node: the past region of its lowest slot. The arguments are scratch. */
static void find_homes(qsm_similar *c, past_key *past, past_key *nodes) {
    const qsm_policy_input *input = c->input;
    uint32_t at_home = 0;
    for (uint32_t n = 0; n < c->node_count; n++)
        nodes[n] = (past_key){input->nodes[n].node, 0, n};
    for (uint32_t i = 0; i < input->past_count; i++)
        past[i] = (past_key){input->past[i].node, input->past[i].slot, i};
    qsort(nodes, c->node_count, sizeof *nodes, compare_past_keys);
    qsort(past, input->past_count, sizeof *past, compare_past_keys);
    for (uint32_t i = 0, p = 0; i < c->node_count; i++) {
        uint32_t n = nodes[i].item;
        while (p < input->past_count && past[p].key < nodes[i].key)
            p++;
        if (p == input->past_count || past[p].key != nodes[i].key ||
            !qsm_similar_has_interest(c, n))
            continue;
        nodes[at_home++] = (past_key){input->past[past[p].item].region, 0, n};
    }
    qsort(nodes, at_home, sizeof *nodes, compare_past_keys);
    for (uint32_t i = 0, region = 0; i < at_home; i++) {
        if (i > 0 && nodes[i].key != nodes[i - 1].key) region++;
        c->home[nodes[i].item] = region;
    }
    c->region_count = c->past_count = qsm_similar_number_by_seniority(c, c->home);
}

static int begin_homes(qsm_similar *c) {
    for (uint32_t n = 0; n < c->node_count; n++)
        c->home[n] = c->region[n] = QSM_POLICY_NONE;
    uint32_t past_count = c->input->past ? c->input->past_count : 0;
    if (past_count == 0) return QSM_OK;
    past_key *past = qsm_policy_alloc(past_count, sizeof *past);
    past_key *nodes = qsm_policy_alloc(c->node_count, sizeof *nodes);
    if (past && nodes) find_homes(c, past, nodes);
    int status = past && nodes ? QSM_OK : QSM_ERR_NO_MEMORY;
    free(past);
    free(nodes);
    return status;
}

static uint32_t within(uint32_t value, uint32_t low, uint32_t high) {
    return value < low ? low : value > high ? high : value;
}

int qsm_similar_begin(qsm_similar *c, const qsm_policy_input *input) {
    memset(c, 0, sizeof *c);
    c->input = input;
    c->node_count = input->node_count;
    c->join_percent = within(input->similar_percent, 1, 100);
    c->stay_percent = c->join_percent - c->join_percent / 4;
    c->merge_percent = c->join_percent + (100 - c->join_percent) / 4;
    c->size_min = within(input->region_size_min, 1, UINT32_MAX);
    c->work_max = QSM_SIMILAR_WORK_MAX;

    size_t nodes = input->node_count, groups = input->group_count, memberships = 0;
    for (size_t n = 0; n < nodes; n++)
        memberships += input->nodes[n].group_count;
    /* Regions of the past, those with members or a core, and those opened in one round. */
    size_t regions = 3 * nodes + 1;
    c->region_capacity = (uint32_t)regions;
    size_t entries = 2 * memberships; /* the cores of one moment, and the regions opened after it */
    bool complete = (c->sizes = qsm_policy_alloc(regions, sizeof *c->sizes)) &&
                    (c->parents = qsm_policy_alloc(regions, sizeof *c->parents)) &&
                    (c->core_starts = qsm_policy_alloc(regions, sizeof *c->core_starts)) &&
                    (c->core_sizes = qsm_policy_alloc(regions, sizeof *c->core_sizes)) &&
                    (c->core_groups = qsm_policy_alloc(entries, sizeof *c->core_groups)) &&
                    (c->core_owners = qsm_policy_alloc(entries, sizeof *c->core_owners)) &&
                    (c->index_starts = qsm_policy_alloc(groups + 2, sizeof *c->index_starts)) &&
                    (c->index_regions = qsm_policy_alloc(entries, sizeof *c->index_regions)) &&
                    (c->nexts = qsm_policy_alloc(entries, sizeof *c->nexts)) &&
                    (c->heads = qsm_policy_alloc(groups, sizeof *c->heads)) &&
                    (c->home = qsm_policy_alloc(nodes, sizeof *c->home)) &&
                    (c->region = qsm_policy_alloc(nodes, sizeof *c->region)) &&
                    (c->settled = qsm_policy_alloc(nodes, sizeof *c->settled)) &&
                    (c->loyal = qsm_policy_alloc(nodes, sizeof *c->loyal)) &&
                    (c->by_region = qsm_policy_alloc(nodes, sizeof *c->by_region)) &&
                    (c->region_begin = qsm_policy_alloc(regions + 2, sizeof *c->region_begin)) &&
                    (c->group_counts = qsm_policy_alloc(groups, sizeof *c->group_counts)) &&
                    (c->group_list = qsm_policy_alloc(groups, sizeof *c->group_list)) &&
                    (c->common = qsm_policy_alloc(regions, sizeof *c->common)) &&
                    (c->touched = qsm_policy_alloc(regions, sizeof *c->touched)) &&
                    (c->keys = qsm_policy_alloc(regions, sizeof *c->keys));
    return complete ? begin_homes(c) : QSM_ERR_NO_MEMORY;
}

void qsm_similar_end(qsm_similar *c) {
    void *all[] = {c->sizes,        c->parents,     c->core_starts,  c->core_sizes,
                   c->core_groups,  c->core_owners, c->index_starts, c->index_regions,
                   c->nexts,        c->heads,       c->home,         c->region,
                   c->settled,      c->loyal,       c->by_region,    c->region_begin,
                   c->group_counts, c->group_list,  c->common,       c->touched,
                   c->keys};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}
