/* similar_cores.c - the cores of regions, and comparing sets of groups with them: see similar.h. */
#include <assert.h>
#include <string.h>

#include "membership/similar.h"

/* An entry of a list costs so many times as much as one of a row. */
#define LIST_WORK 4u

/* ---- cores ----------------------------------------------------------------------------------- */

static void core_begin(qsm_similar *c, uint32_t region) {
    c->core_starts[region] = c->core_count;
    c->core_sizes[region] = 0;
}

static void core_add(qsm_similar *c, uint32_t region, uint32_t group) {
    c->core_groups[c->core_count] = group;
    c->core_owners[c->core_count++] = region;
    c->core_sizes[region]++;
}

/* Sorts all entries by group. */
static void index_cores(qsm_similar *c) {
    uint32_t group_count = c->input->group_count;
    memset(c->heads, 0, group_count * sizeof *c->heads);
    memset(c->index_starts, 0, ((size_t)group_count + 2) * sizeof *c->index_starts);
    for (size_t e = 0; e < c->core_count; e++)
        c->index_starts[c->core_groups[e] + 2]++;
    for (uint32_t g = 0; g < group_count; g++)
        c->index_starts[g + 2] += c->index_starts[g + 1];
    for (size_t e = 0; e < c->core_count; e++)
        c->index_regions[c->index_starts[c->core_groups[e] + 1]++] = c->core_owners[e];
    c->indexed_count = c->core_count;
}

static void sort_by_region(qsm_similar *c) {
    memset(c->region_begin, 0, ((size_t)c->region_count + 2) * sizeof *c->region_begin);
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->region[n] != QSM_POLICY_NONE) c->region_begin[c->region[n] + 2]++;
    for (uint32_t r = 0; r < c->region_count; r++)
        c->region_begin[r + 2] += c->region_begin[r + 1];
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->region[n] != QSM_POLICY_NONE) c->by_region[c->region_begin[c->region[n] + 1]++] = n;
}

/* The cores of all regions, from their present members. They fit into as many entries as there are
 * memberships, since a core's groups are had by more than half of its members each. */
void qsm_similar_find_cores(qsm_similar *c) {
    sort_by_region(c);
    c->core_count = 0;
    c->free_from = c->past_count;
    for (uint32_t r = 0; r < c->region_count; r++) {
        uint32_t begin = c->region_begin[r], end = c->region_begin[r + 1], listed = 0;
        assert(end - begin == c->sizes[r]);
        core_begin(c, r);
        for (uint32_t i = begin; i < end; i++) {
            const qsm_policy_node *node = &c->input->nodes[c->by_region[i]];
            for (uint32_t g = 0; g < node->group_count; g++)
                if (c->group_counts[node->groups[g]]++ == 0)
                    c->group_list[listed++] = node->groups[g];
        }
        for (uint32_t i = 0; i < listed; i++) {
            uint32_t group = c->group_list[i];
            if ((uint64_t)c->group_counts[group] * 2 > end - begin) core_add(c, r, group);
            c->group_counts[group] = 0;
        }
    }
    index_cores(c);
}

/* A region with this node's groups as its core. An id is free when neither members nor entries of
 * the present cores speak of it. */
uint32_t qsm_similar_open_region(qsm_similar *c, const qsm_policy_node *node) {
    uint32_t region = c->free_from;
    while (region < c->region_count && (c->sizes[region] > 0 || c->core_sizes[region] > 0))
        region++;
    if (region == c->region_count) c->region_count++;
    c->free_from = region + 1;
    assert(c->region_count <= c->region_capacity);
    c->sizes[region] = 0;
    core_begin(c, region);
    for (uint32_t g = 0; g < node->group_count; g++) {
        c->nexts[c->core_count] = c->heads[node->groups[g]];
        c->heads[node->groups[g]] = c->core_count + 1;
        core_add(c, region, node->groups[g]);
    }
    /* Rows are several times faster than lists; this is done as often as the entries double. */
    if (c->core_count > 2 * c->indexed_count) index_cores(c);
    return region;
}

/* ---- comparing a set of groups with the cores ------------------------------------------------ */

uint32_t qsm_similar_begin_comparing(qsm_similar *c, const uint32_t *groups, uint32_t group_count) {
    uint32_t touched_count = 0;
    for (uint32_t i = 0; i < group_count; i++) {
        uint32_t group = groups[i];
        size_t end = c->index_starts[group + 1];
        c->work += end - c->index_starts[group] + 1;
        for (size_t e = c->index_starts[group]; e < end; e++)
            if (c->common[c->index_regions[e]]++ == 0)
                c->touched[touched_count++] = c->index_regions[e];
        for (size_t e = c->heads[group]; e > 0; e = c->nexts[e - 1], c->work += LIST_WORK)
            if (c->common[c->core_owners[e - 1]]++ == 0)
                c->touched[touched_count++] = c->core_owners[e - 1];
    }
    return touched_count;
}

void qsm_similar_end_comparing(qsm_similar *c, uint32_t touched_count) {
    for (uint32_t t = 0; t < touched_count; t++)
        c->common[c->touched[t]] = 0;
}

qsm_similar_choice qsm_similar_pick(const qsm_similar *c, uint32_t touched_count,
                                    uint32_t group_count, uint32_t except, uint32_t favourite) {
    qsm_similar_choice best = {QSM_POLICY_NONE, {0, 1}};
    for (uint32_t t = 0; t < touched_count; t++) {
        uint32_t region = c->touched[t];
        if (region == except) continue;
        qsm_overlap fit = qsm_similar_overlap(c, region, group_count);
        bool equal = !qsm_overlap_is_better(best.fit, fit) && !qsm_overlap_is_better(fit, best.fit);
        bool preferred = region == favourite || (best.region != favourite && region < best.region);
        if (qsm_overlap_is_better(fit, best.fit) || (equal && preferred)) {
            best.region = region;
            best.fit = fit;
        }
    }
    return best;
}
