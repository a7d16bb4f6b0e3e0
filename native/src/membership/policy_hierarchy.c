/*
 * policy_hierarchy.c - groups decomposed into perfect hierarchies, each with regions of its own
 * (thesis 4.1.2, figures 4.4 to 4.6).
 *
 * In a perfect hierarchy any two groups are disjoint or one holds the other, so k groups make at
 * most 2k - 1 regions. The greedy rule of the thesis takes the largest group left and adds it to
 * the first hierarchy that stays perfect, or begins a new one. A node is in at most one region of
 * each hierarchy.
 *
 * The test whether a hierarchy stays perfect needs no comparison of groups: sizes only fall, so a
 * new group can hold no group that is in already, and it fits exactly when the innermost group is
 * the same for all its members. One label for each node and hierarchy decides.
 *
 * Exact nesting is brittle: with 2 % of the members missing at random, an office's hierarchies
 * grow sixfold. Hence groups that are at least similar_percent alike are bundled first (not at 0
 * or 100), and a bundle is treated as one group whose members are those of all. The past plays no
 * part: the regions follow from the groups alone.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "membership/policy_build.h"
#include "membership/policy_list.h"
#include "qsm.h"

/* One hierarchy: the innermost bundle of each node, or QSM_POLICY_NONE. */
typedef struct {
    uint32_t *innermost;
} hierarchy;

typedef struct {
    const qsm_policy_input *input;
    qsm_policy_build build;
    /* Bundles. A bundle is named by the group that leads it; bundle_of[group] is that group. */
    uint32_t *bundle_of;
    uint64_t *order;       /* keys of order_key, for groups and then for bundles */
    uint32_t bundle_count; /* in `order` after bundling */
    size_t words;          /* of a set of nodes */
    uint64_t *sets;        /* one for each group; a leader's becomes that of its bundle */
    uint32_t *sizes;
    /* Hierarchies. */
    hierarchy *hierarchies;
    uint32_t hierarchy_count;
    uint32_t hierarchy_capacity;
    uint32_t *hierarchy_of; /* bundle -> hierarchy */
    uint32_t *region_sizes; /* bundle -> nodes of which it is the innermost one, in its hierarchy */
    uint32_t *members;      /* of the bundle at hand */
    uint32_t *listed;       /* groups of the hierarchy at hand */
} decomposition;

static uint32_t count_bits(uint64_t word) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)((word * 0x0101010101010101u) >> 56);
#endif
}

/* Keys sort by falling size, then by rising index. */
static uint64_t order_key(uint32_t size, uint32_t index) {
    return (uint64_t)(UINT32_MAX - size) << 32 | index;
}

static int compare_order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *set_of(const decomposition *d, uint32_t group) {
    return d->sets + d->words * group;
}

static uint32_t common_members(const decomposition *d, uint32_t a, uint32_t b) {
    const uint64_t *x = set_of(d, a), *y = set_of(d, b);
    uint32_t count = 0;
    for (size_t w = 0; w < d->words; w++)
        count += count_bits(x[w] & y[w]);
    return count;
}

static void order_groups(decomposition *d) {
    const qsm_policy_build *build = &d->build;
    for (uint32_t g = 0; g < d->input->group_count; g++) {
        uint64_t *set = set_of(d, g);
        for (size_t m = build->starts[g]; m < build->starts[g + 1]; m++)
            set[build->members[m] / 64] |= UINT64_C(1) << build->members[m] % 64;
        d->sizes[g] = (uint32_t)(build->starts[g + 1] - build->starts[g]);
        d->bundle_of[g] = g;
        d->order[g] = order_key(d->sizes[g], g);
    }
    qsort(d->order, d->input->group_count, sizeof *d->order, compare_order);
}

/* What bundling needs. */
typedef struct {
    uint32_t *leaders; /* groups that lead bundles, by falling size */
    uint32_t leader_count;
    /* Leaders of node n, as positions in `leaders`: led[led_starts[n]] .. led[led_ends[n] - 1]. */
    size_t *led_starts;
    size_t *led_ends;
    uint32_t *led;
    uint32_t *common; /* leader -> members in common with the group at hand */
} bundling;

static void end_bundling(bundling *b) {
    free(b->leaders);
    free(b->led_starts);
    free(b->led_ends);
    free(b->led);
    free(b->common);
}

static int begin_bundling(const decomposition *d, bundling *b) {
    uint32_t group_count = d->input->group_count, node_count = d->input->node_count;
    b->leaders = qsm_policy_alloc(group_count, sizeof *b->leaders);
    b->led_starts = qsm_policy_alloc(node_count, sizeof *b->led_starts);
    b->led_ends = qsm_policy_alloc(node_count, sizeof *b->led_ends);
    b->led = qsm_policy_alloc(d->build.starts[group_count], sizeof *b->led);
    b->common = qsm_policy_alloc(group_count, sizeof *b->common);
    if (!b->leaders || !b->led_starts || !b->led_ends || !b->led || !b->common)
        return QSM_ERR_NO_MEMORY;
    size_t at = 0;
    for (uint32_t n = 0; n < node_count; n++) {
        b->led_starts[n] = b->led_ends[n] = at;
        at += d->input->nodes[n].group_count;
    }
    return QSM_OK;
}

static void add_leader(const decomposition *d, bundling *b, uint32_t group) {
    for (size_t m = d->build.starts[group]; m < d->build.starts[group + 1]; m++)
        b->led[b->led_ends[d->build.members[m]]++] = b->leader_count;
    b->leaders[b->leader_count++] = group;
}

/* Counts the members that the group has in common with the leaders from `first` on: by comparing
 * the sets, or by going through the leaders of each member, whichever is less work. */
static void count_common(const decomposition *d, bundling *b, uint32_t group, uint32_t first) {
    const uint32_t *members = d->build.members + d->build.starts[group];
    uint64_t by_members = 0, by_sets = (uint64_t)(b->leader_count - first) * d->words * 2;
    for (uint32_t m = 0; m < d->sizes[group]; m++)
        by_members += b->led_ends[members[m]] - b->led_starts[members[m]] + 1;
    if (by_sets <= by_members) {
        for (uint32_t i = first; i < b->leader_count; i++)
            b->common[i] = common_members(d, group, b->leaders[i]);
        return;
    }
    memset(b->common + first, 0, (b->leader_count - first) * sizeof *b->common);
    for (uint32_t m = 0; m < d->sizes[group]; m++)
        for (size_t i = b->led_ends[members[m]]; i-- > b->led_starts[members[m]];) {
            if (b->led[i] < first) break; /* a node's leaders are listed in their order */
            b->common[b->led[i]]++;
        }
}

/* The leader most like the group, the earliest of equals; the group itself when none is alike. */
static uint32_t find_leader(const decomposition *d, bundling *b, uint32_t group) {
    uint64_t percent = d->input->similar_percent, size = d->sizes[group];
    /* Leaders that are much larger cannot be alike; they come first. */
    uint32_t low = 0, high = b->leader_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (size * 100 < percent * d->sizes[b->leaders[middle]])
            low = middle + 1;
        else
            high = middle;
    }
    count_common(d, b, group, low);
    uint64_t best_common = 0, best_either = 1;
    uint32_t best = group;
    for (uint32_t i = low; i < b->leader_count; i++) {
        uint64_t common = b->common[i], either = size + d->sizes[b->leaders[i]] - common;
        if (common * 100 < percent * either || common * best_either <= best_common * either)
            continue;
        best_common = common;
        best_either = either;
        best = b->leaders[i];
    }
    return best;
}

/* Gives each leader the members of all its bundle and sorts the bundles by size. */
static void unite_bundles(decomposition *d, const bundling *b) {
    for (uint32_t g = 0; g < d->input->group_count; g++) {
        if (d->bundle_of[g] == g) continue;
        const uint64_t *from = set_of(d, g);
        uint64_t *into = set_of(d, d->bundle_of[g]);
        for (size_t w = 0; w < d->words; w++)
            into[w] |= from[w];
    }
    for (uint32_t i = 0; i < b->leader_count; i++) {
        uint32_t leader = b->leaders[i];
        d->sizes[leader] = common_members(d, leader, leader);
        d->order[i] = order_key(d->sizes[leader], leader);
    }
    d->bundle_count = b->leader_count;
    qsort(d->order, d->bundle_count, sizeof *d->order, compare_order);
}

/* Groups are compared with the leader and not with its bundle, so that bundles cannot drift. */
static int bundle_groups(decomposition *d) {
    bool wanted = d->input->similar_percent > 0 && d->input->similar_percent < 100;
    bundling b = {0};
    int status = begin_bundling(d, &b);
    if (status == QSM_OK) {
        for (uint32_t i = 0; i < d->input->group_count; i++) {
            uint32_t group = (uint32_t)d->order[i];
            if (d->sizes[group] == 0) break; /* nobody is in it, nor in any after it */
            if (wanted) d->bundle_of[group] = find_leader(d, &b, group);
            if (d->bundle_of[group] == group) add_leader(d, &b, group);
        }
        unite_bundles(d, &b);
    }
    end_bundling(&b);
    return status;
}

static uint32_t list_members(decomposition *d, uint32_t bundle) {
    const uint64_t *set = set_of(d, bundle);
    uint32_t count = 0;
    for (uint32_t n = 0; n < d->input->node_count; n++)
        if (set[n / 64] >> n % 64 & 1) d->members[count++] = n;
    return count;
}

/* Whether the listed members have the same innermost bundle, and the region that they leave and
 * the one that they make are large enough. Outside all groups of the hierarchy nothing is split:
 * there a small group is not worse off than in a hierarchy of its own. */
static bool fits(const decomposition *d, const hierarchy *h, uint32_t member_count) {
    uint32_t outer = h->innermost[d->members[0]];
    for (uint32_t i = 1; i < member_count; i++)
        if (h->innermost[d->members[i]] != outer) return false;
    if (outer == QSM_POLICY_NONE) return true;
    assert(member_count <= d->region_sizes[outer]);
    uint32_t left = d->region_sizes[outer] - member_count;
    if (left == 0) return true;
    return left >= d->input->region_size_min && member_count >= d->input->region_size_min;
}

static int begin_hierarchy(decomposition *d) {
    if (d->hierarchy_count == d->hierarchy_capacity) {
        uint32_t capacity = 2 * d->hierarchy_capacity + 8;
        hierarchy *grown = realloc(d->hierarchies, capacity * sizeof *grown);
        if (!grown) return QSM_ERR_NO_MEMORY;
        d->hierarchies = grown;
        d->hierarchy_capacity = capacity;
    }
    uint32_t node_count = d->input->node_count;
    uint32_t *innermost = qsm_policy_alloc(node_count, sizeof *innermost);
    if (!innermost) return QSM_ERR_NO_MEMORY;
    for (uint32_t n = 0; n < node_count; n++)
        innermost[n] = QSM_POLICY_NONE;
    d->hierarchies[d->hierarchy_count++].innermost = innermost;
    return QSM_OK;
}

static int place_bundles(decomposition *d) {
    for (uint32_t i = 0; i < d->bundle_count; i++) {
        uint32_t bundle = (uint32_t)d->order[i];
        uint32_t member_count = list_members(d, bundle), at = 0;
        while (at < d->hierarchy_count && !fits(d, &d->hierarchies[at], member_count))
            at++;
        if (at == d->hierarchy_count) {
            int status = begin_hierarchy(d);
            if (status != QSM_OK) return status;
        }
        uint32_t *innermost = d->hierarchies[at].innermost;
        uint32_t outer = innermost[d->members[0]];
        if (outer != QSM_POLICY_NONE) d->region_sizes[outer] -= member_count;
        d->region_sizes[bundle] = member_count;
        for (uint32_t m = 0; m < member_count; m++)
            innermost[d->members[m]] = bundle;
        d->hierarchy_of[bundle] = at;
    }
    return QSM_OK;
}

/* Groups by hierarchy, counted and then listed, as the members of groups are in policy_build.c. */
static int build_layers(decomposition *d) {
    uint32_t group_count = d->input->group_count;
    uint32_t *starts = qsm_policy_alloc((size_t)d->hierarchy_count + 2, sizeof *starts);
    if (!starts) return QSM_ERR_NO_MEMORY;
    const qsm_policy_build *build = &d->build;
    for (uint32_t g = 0; g < group_count; g++)
        if (build->starts[g] < build->starts[g + 1]) starts[d->hierarchy_of[d->bundle_of[g]] + 2]++;
    for (uint32_t h = 0; h < d->hierarchy_count; h++)
        starts[h + 2] += starts[h + 1];
    for (uint32_t g = 0; g < group_count; g++)
        if (build->starts[g] < build->starts[g + 1])
            d->listed[starts[d->hierarchy_of[d->bundle_of[g]] + 1]++] = g;

    int status = QSM_OK;
    for (uint32_t h = 0; h < d->hierarchy_count && status == QSM_OK; h++)
        status = qsm_policy_build_layer(&d->build, d->hierarchies[h].innermost,
                                        d->listed + starts[h], starts[h + 1] - starts[h]);
    free(starts);
    return status;
}

static int begin_decomposition(decomposition *d) {
    uint32_t group_count = d->input->group_count, node_count = d->input->node_count;
    d->words = ((size_t)node_count + 63) / 64;
    d->bundle_of = qsm_policy_alloc(group_count, sizeof *d->bundle_of);
    d->order = qsm_policy_alloc(group_count, sizeof *d->order);
    d->sets = qsm_policy_alloc(group_count, d->words ? d->words * sizeof *d->sets : 1);
    d->sizes = qsm_policy_alloc(group_count, sizeof *d->sizes);
    d->hierarchy_of = qsm_policy_alloc(group_count, sizeof *d->hierarchy_of);
    d->region_sizes = qsm_policy_alloc(group_count, sizeof *d->region_sizes);
    d->listed = qsm_policy_alloc(group_count, sizeof *d->listed);
    d->members = qsm_policy_alloc(node_count, sizeof *d->members);
    if (!d->bundle_of || !d->order || !d->sets || !d->sizes || !d->hierarchy_of ||
        !d->region_sizes || !d->listed || !d->members)
        return QSM_ERR_NO_MEMORY;
    return QSM_OK;
}

static void end_decomposition(decomposition *d) {
    for (uint32_t h = 0; h < d->hierarchy_count; h++)
        free(d->hierarchies[h].innermost);
    free(d->hierarchies);
    free(d->bundle_of);
    free(d->order);
    free(d->sets);
    free(d->sizes);
    free(d->hierarchy_of);
    free(d->region_sizes);
    free(d->listed);
    free(d->members);
}

int qsm_policy_hierarchy(const qsm_policy_input *input, qsm_policy_result *result) {
    decomposition d = {.input = input};
    int status = qsm_policy_build_begin(&d.build, input, result);
    if (status == QSM_OK) status = begin_decomposition(&d);
    if (status == QSM_OK) {
        order_groups(&d);
        status = bundle_groups(&d);
    }
    if (status == QSM_OK) status = place_bundles(&d);
    if (status == QSM_OK) status = build_layers(&d);
    end_decomposition(&d);
    return qsm_policy_build_end(&d.build, status);
}
