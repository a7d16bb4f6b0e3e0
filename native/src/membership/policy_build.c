/*
 * policy_build.c - layers of labelled nodes become regions, and groups their lists of regions.
 */
#include "membership/policy_build.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "qsm.h"

void *qsm_policy_alloc(size_t count, size_t bytes) {
    return calloc(count ? count : 1, bytes);
}

static int index_members(qsm_policy_build *build) {
    const qsm_policy_input *input = build->input;
    build->starts = qsm_policy_alloc((size_t)input->group_count + 2, sizeof *build->starts);
    if (!build->starts) return QSM_ERR_NO_MEMORY;

    /* Counted two places ahead, so that filling moves each start to where it belongs. */
    size_t total = 0;
    for (uint32_t n = 0; n < input->node_count; n++) {
        const qsm_policy_node *node = &input->nodes[n];
        for (uint32_t i = 0; i < node->group_count; i++) {
            assert(node->groups[i] < input->group_count);
            assert(i == 0 || node->groups[i - 1] < node->groups[i]);
            build->starts[node->groups[i] + 2]++;
        }
        total += node->group_count;
    }
    build->members = qsm_policy_alloc(total, sizeof *build->members);
    if (!build->members) return QSM_ERR_NO_MEMORY;
    for (uint32_t g = 0; g < input->group_count; g++)
        build->starts[g + 2] += build->starts[g + 1];
    for (uint32_t n = 0; n < input->node_count; n++) {
        const qsm_policy_node *node = &input->nodes[n];
        for (uint32_t i = 0; i < node->group_count; i++)
            build->members[build->starts[node->groups[i] + 1]++] = n;
    }
    return QSM_OK;
}

int qsm_policy_build_begin(qsm_policy_build *build, const qsm_policy_input *input,
                           qsm_policy_result *result) {
    memset(build, 0, sizeof *build);
    memset(result, 0, sizeof *result);
    build->input = input;
    build->result = result;
    build->label_count =
        input->node_count > input->group_count ? input->node_count : input->group_count;
    build->region_of_label = qsm_policy_alloc(build->label_count, sizeof(uint32_t));
    build->sizes = qsm_policy_alloc(input->node_count, sizeof(uint32_t));
    build->marks = qsm_policy_alloc(input->node_count, sizeof(uint32_t));
    build->found = qsm_policy_alloc(input->node_count, sizeof(uint32_t));
    result->groups = qsm_policy_alloc(input->group_count, sizeof *result->groups);
    if (!build->region_of_label || !build->sizes || !build->marks || !build->found ||
        !result->groups)
        return QSM_ERR_NO_MEMORY;
    result->group_count = input->group_count;
    for (uint32_t label = 0; label < build->label_count; label++)
        build->region_of_label[label] = QSM_POLICY_NONE;
    return index_members(build);
}

/* Partition refinement: each group splits every class that it cuts. Linear in the memberships,
 * and a true comparison of sets: there are no hashes for anybody to make collide. */
int qsm_policy_label_exact(const qsm_policy_build *build, const uint32_t *groups,
                           uint32_t group_count, uint32_t *labels) {
    uint32_t node_count = build->input->node_count;
    /* Class 0 holds the nodes of no group so far. The others are never empty, so there are at most
     * node_count + 1. */
    uint32_t class_count = 1;
    uint32_t *work = qsm_policy_alloc(4 * ((size_t)node_count + 1), sizeof *work);
    if (!work) return QSM_ERR_NO_MEMORY;
    uint32_t *sizes = work, *cut = sizes + node_count + 1, *child = cut + node_count + 1,
             *touched = child + node_count + 1;

    sizes[0] = node_count;
    for (uint32_t n = 0; n < node_count; n++)
        labels[n] = 0;
    for (uint32_t i = 0; i < group_count; i++) {
        size_t begin = build->starts[groups[i]], end = build->starts[groups[i] + 1];
        uint32_t touched_count = 0;
        for (size_t m = begin; m < end; m++) {
            uint32_t class = labels[build->members[m]];
            if (cut[class]++ == 0) touched[touched_count++] = class;
        }
        for (uint32_t t = 0; t < touched_count; t++) {
            uint32_t class = touched[t];
            child[class] = class;
            if (class == 0 || cut[class] < sizes[class]) {
                assert(class_count <= node_count);
                child[class] = class_count++;
                sizes[child[class]] = cut[class];
                sizes[class] -= cut[class];
            }
            cut[class] = 0;
        }
        for (size_t m = begin; m < end; m++)
            labels[build->members[m]] = child[labels[build->members[m]]];
    }
    for (uint32_t n = 0; n < node_count; n++)
        labels[n] = labels[n] == 0 ? QSM_POLICY_NONE : labels[n] - 1;
    free(work);
    return QSM_OK;
}

static int reserve_regions(qsm_policy_build *build, uint32_t more) {
    qsm_policy_result *result = build->result;
    if (build->region_capacity - result->region_count >= more) return QSM_OK;
    uint32_t capacity = 2 * result->region_count + more;
    qsm_policy_region *regions = realloc(result->regions, capacity * sizeof *regions);
    if (!regions) return QSM_ERR_NO_MEMORY;
    result->regions = regions;
    build->region_capacity = capacity;
    return QSM_OK;
}

static int add_regions(qsm_policy_build *build, const uint32_t *labels, uint32_t *count) {
    qsm_policy_result *result = build->result;
    uint32_t node_count = build->input->node_count;
    for (uint32_t n = 0; n < node_count; n++) {
        if (labels[n] == QSM_POLICY_NONE) continue;
        assert(labels[n] < build->label_count);
        uint32_t *region = &build->region_of_label[labels[n]];
        if (*region == QSM_POLICY_NONE) {
            *region = *count;
            build->sizes[(*count)++] = 0;
        }
        build->sizes[*region]++;
    }
    int status = reserve_regions(build, *count);
    if (status != QSM_OK || *count == 0) return status;
    qsm_policy_region *added = result->regions + result->region_count;
    for (uint32_t r = 0; r < *count; r++) {
        added[r].members = qsm_policy_alloc(build->sizes[r], sizeof(uint32_t));
        if (!added[r].members) return QSM_ERR_NO_MEMORY;
        added[r].member_count = 0;
        result->region_count++;
    }
    for (uint32_t n = 0; n < node_count; n++) {
        if (labels[n] == QSM_POLICY_NONE) continue;
        qsm_policy_region *region = &added[build->region_of_label[labels[n]]];
        region->members[region->member_count++] = n;
    }
    return QSM_OK;
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* `first` is the region with which the layer begins. */
static int list_regions(qsm_policy_build *build, const uint32_t *labels, uint32_t group,
                        uint32_t first) {
    uint32_t found_count = 0;
    for (size_t m = build->starts[group]; m < build->starts[group + 1]; m++) {
        assert(labels[build->members[m]] != QSM_POLICY_NONE);
        uint32_t region = build->region_of_label[labels[build->members[m]]];
        if (build->marks[region]) continue;
        build->marks[region] = 1;
        build->found[found_count++] = first + region;
    }
    for (uint32_t i = 0; i < found_count; i++)
        build->marks[build->found[i] - first] = 0;
    qsm_policy_group *listed = &build->result->groups[group];
    assert(!listed->regions && "a group lies in one layer");
    if (found_count == 0) return QSM_OK;
    qsort(build->found, found_count, sizeof *build->found, ascending);
    listed->regions = qsm_policy_alloc(found_count, sizeof *listed->regions);
    if (!listed->regions) return QSM_ERR_NO_MEMORY;
    memcpy(listed->regions, build->found, found_count * sizeof *listed->regions);
    listed->region_count = found_count;
    return QSM_OK;
}

int qsm_policy_build_layer(qsm_policy_build *build, const uint32_t *labels, const uint32_t *groups,
                           uint32_t group_count) {
    uint32_t first = build->result->region_count, count = 0;
    int status = add_regions(build, labels, &count);
    build->layer_count++;
    for (uint32_t i = 0; i < group_count && status == QSM_OK; i++)
        status = list_regions(build, labels, groups[i], first);
    for (uint32_t n = 0; n < build->input->node_count; n++)
        if (labels[n] != QSM_POLICY_NONE) build->region_of_label[labels[n]] = QSM_POLICY_NONE;
    return status;
}

typedef struct {
    const qsm_policy_region *region;
    uint32_t index;
} region_key;

static int compare_members(const qsm_policy_region *x, const qsm_policy_region *y) {
    if (x->member_count != y->member_count) return x->member_count < y->member_count ? -1 : 1;
    return memcmp(x->members, y->members, x->member_count * sizeof *x->members);
}

static int compare_regions(const void *a, const void *b) {
    const region_key *x = a, *y = b;
    int order = compare_members(x->region, y->region);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Leaves one of regions with the same members, and numbers the rest in their order. `numbers` and
 * `keys` have a place for each region. */
static void unite_equal_regions(qsm_policy_result *result, uint32_t *numbers, region_key *keys) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < result->region_count; r++)
        keys[r] = (region_key){&result->regions[r], r};
    qsort(keys, result->region_count, sizeof *keys, compare_regions);
    for (uint32_t r = 0, first = 0; r < result->region_count; r++) {
        if (compare_members(keys[first].region, keys[r].region) != 0) first = r;
        numbers[keys[r].index] = keys[first].index;
    }
    for (uint32_t r = 0; r < result->region_count; r++) {
        if (numbers[r] == r) {
            numbers[r] = count;
            result->regions[count++] = result->regions[r];
        } else {
            numbers[r] = numbers[numbers[r]]; /* a lower one, which has its number */
            free(result->regions[r].members);
        }
    }
    result->region_count = count;
    for (uint32_t g = 0; g < result->group_count; g++) {
        qsm_policy_group *group = &result->groups[g];
        for (uint32_t i = 0; i < group->region_count; i++)
            group->regions[i] = numbers[group->regions[i]];
        if (group->region_count > 1)
            qsort(group->regions, group->region_count, sizeof *group->regions, ascending);
    }
}

/* Layers may have regions in common: nodes should not meet twice in the same company. */
static int finish(qsm_policy_build *build) {
    qsm_policy_result *result = build->result;
    if (build->layer_count < 2) return QSM_OK;
    uint32_t *numbers = qsm_policy_alloc(result->region_count, sizeof *numbers);
    region_key *keys = qsm_policy_alloc(result->region_count, sizeof *keys);
    bool complete = numbers && keys;
    if (complete) unite_equal_regions(result, numbers, keys);
    free(numbers);
    free(keys);
    return complete ? QSM_OK : QSM_ERR_NO_MEMORY;
}

int qsm_policy_build_end(qsm_policy_build *build, int status) {
    if (status == QSM_OK) status = finish(build);
    free(build->starts);
    free(build->members);
    free(build->region_of_label);
    free(build->sizes);
    free(build->marks);
    free(build->found);
    if (status != QSM_OK) qsm_policy_result_free(build->result);
    memset(build, 0, sizeof *build);
    return status;
}
