/*
 * policy_similar.c - nodes with similar interest share a region, and stay in it while they fit.
 *
 * The *core* of a region is the groups that more than half of its members joined. A node fits a
 * region when the overlap of its groups with the core, |A and B| / |A or B|, is similar_percent
 * or more. All members of a region receive what is sent in any of the members' groups; the
 * overlap bounds the waste.
 *
 * A change of regions costs everybody in them a new view, so the past has weight: a node stays
 * where it was as long as it fits by a lower mark, a region exists on until it is half of the
 * least size, and two regions become one only when they are clearly alike. One more opened note
 * moves nobody, or the node that opened it.
 *
 * Steps: (1) settle the nodes that still fit their past regions; (2) put each other node, by
 * seniority, into the region that it fits best, or open a region for it; (3) let these nodes
 * choose again, now that the cores are known, a few times; (4) join regions with like cores; (5)
 * join too small regions with the nearest. Nodes are compared with cores only, through the list
 * of regions of each group, never with each other.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "membership/policy_build.h"
#include "membership/policy_list.h"
#include "qsm.h"

#define CHOICE_ROUNDS_MAX 4u
#define JOIN_ROUNDS_MAX 16u
#define FRESH_ROUNDS_MAX 4u
/* Comparisons of a group with a region's core, after which regions are no longer improved. An
 * office of 2,000 nodes and 10,000 groups needs a tenth; where nobody is like anybody, more would
 * not help. */
#define WORK_MAX 400000000u
/* A settled node may differ from the core in so many more groups than the percentages allow: with
 * few groups, a single one makes a large part. */
#define SLACK_GROUPS 2u

/* An overlap of two sets: common / either. */
typedef struct {
    uint32_t common;
    uint32_t either;
} overlap;

typedef struct {
    uint32_t region; /* QSM_POLICY_NONE: none */
    overlap fit;
} choice;

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
} clustering;

/* ---- overlaps -------------------------------------------------------------------------------- */

static bool reaches(overlap fit, uint32_t percent) {
    return fit.common > 0 && (uint64_t)fit.common * 100 >= (uint64_t)fit.either * percent;
}

static bool better(overlap a, overlap b) {
    return (uint64_t)a.common * b.either > (uint64_t)b.common * a.either;
}

static bool fits_to_stay(const clustering *c, overlap fit) {
    if (reaches(fit, c->stay_percent)) return true;
    overlap eased = {fit.common, fit.either > SLACK_GROUPS ? fit.either - SLACK_GROUPS : 0};
    return reaches(eased, c->join_percent);
}

/* Regions that have been apart become one when their cores are alike also without one of their
 * common groups, or just the same: one group more in one core must not be enough. */
static bool alike(const clustering *c, overlap fit) {
    if (fit.common == fit.either) return fit.common > 0;
    if (!c->fresh) fit.common -= fit.common > 0;
    return reaches(fit, c->merge_percent);
}

/* ---- cores ----------------------------------------------------------------------------------- */

static void core_begin(clustering *c, uint32_t region) {
    c->core_starts[region] = c->core_count;
    c->core_sizes[region] = 0;
}

static void core_add(clustering *c, uint32_t region, uint32_t group) {
    c->core_groups[c->core_count] = group;
    c->core_owners[c->core_count++] = region;
    c->core_sizes[region]++;
}

/* Sorts all entries by group. */
static void index_cores(clustering *c) {
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

static void sort_by_region(clustering *c) {
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
static void find_cores(clustering *c) {
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
static uint32_t open_region(clustering *c, const qsm_policy_node *node) {
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

/* Fills `common` and `touched`; end_comparing must follow. Returns how many are touched. */
static uint32_t begin_comparing(clustering *c, const uint32_t *groups, uint32_t group_count) {
    uint32_t touched_count = 0;
    for (uint32_t i = 0; i < group_count; i++) {
        uint32_t group = groups[i];
        size_t end = c->index_starts[group + 1];
        c->work += end - c->index_starts[group] + 1;
        for (size_t e = c->index_starts[group]; e < end; e++)
            if (c->common[c->index_regions[e]]++ == 0)
                c->touched[touched_count++] = c->index_regions[e];
        for (size_t e = c->heads[group]; e > 0; e = c->nexts[e - 1])
            if (c->common[c->core_owners[e - 1]]++ == 0)
                c->touched[touched_count++] = c->core_owners[e - 1];
    }
    return touched_count;
}

static void end_comparing(clustering *c, uint32_t touched_count) {
    for (uint32_t t = 0; t < touched_count; t++)
        c->common[c->touched[t]] = 0;
}

static overlap overlap_with(const clustering *c, uint32_t region, uint32_t group_count) {
    overlap fit = {c->common[region], group_count + c->core_sizes[region] - c->common[region]};
    return fit;
}

/* The best of the regions touched but `except`. Of equals `favourite` is taken, or else the
 * lowest. Either may be QSM_POLICY_NONE. */
static choice pick(const clustering *c, uint32_t touched_count, uint32_t group_count,
                   uint32_t except, uint32_t favourite) {
    choice best = {QSM_POLICY_NONE, {0, 1}};
    for (uint32_t t = 0; t < touched_count; t++) {
        uint32_t region = c->touched[t];
        if (region == except) continue;
        overlap fit = overlap_with(c, region, group_count);
        bool equal = !better(best.fit, fit) && !better(fit, best.fit);
        bool preferred = region == favourite || (best.region != favourite && region < best.region);
        if (better(fit, best.fit) || (equal && preferred)) {
            best.region = region;
            best.fit = fit;
        }
    }
    return best;
}

/* ---- placing nodes --------------------------------------------------------------------------- */

static void move_node(clustering *c, uint32_t n, uint32_t region) {
    if (c->region[n] != QSM_POLICY_NONE) c->sizes[c->region[n]]--;
    c->region[n] = region;
    c->sizes[region]++;
}

/* Step 1. All are judged by the cores of the past regions before anybody moves, so that a node
 * which leaves does not make others leave. */
static void settle(clustering *c) {
    memset(c->sizes, 0, c->region_capacity * sizeof *c->sizes);
    for (uint32_t n = 0; n < c->node_count; n++) {
        c->region[n] = c->home[n];
        if (c->home[n] != QSM_POLICY_NONE) c->sizes[c->home[n]]++;
    }
    find_cores(c);
    for (uint32_t r = 0; r < c->past_count; r++) {
        for (uint32_t i = 0; i < c->core_sizes[r]; i++)
            c->group_counts[c->core_groups[c->core_starts[r] + i]] = 1;
        for (uint32_t i = c->region_begin[r]; i < c->region_begin[r + 1]; i++) {
            const qsm_policy_node *node = &c->input->nodes[c->by_region[i]];
            overlap fit = {0, 0};
            for (uint32_t g = 0; g < node->group_count; g++)
                fit.common += c->group_counts[node->groups[g]];
            fit.either = node->group_count + c->core_sizes[r] - fit.common;
            c->settled[c->by_region[i]] = fits_to_stay(c, fit);
        }
        for (uint32_t i = 0; i < c->core_sizes[r]; i++)
            c->group_counts[c->core_groups[c->core_starts[r] + i]] = 0;
    }
    for (uint32_t n = 0; n < c->node_count; n++) {
        if (c->region[n] == QSM_POLICY_NONE || c->settled[n]) continue;
        c->sizes[c->region[n]]--;
        c->region[n] = QSM_POLICY_NONE;
    }
}

static bool has_interest(const clustering *c, uint32_t n) {
    return c->input->nodes[n].group_count > 0;
}

/* Whether a node that fits nowhere would rather stay at home, should it find too few of its kind
 * to open a region with: unless another region of the past is nearer by half, and near at all. */
static bool prefers_home(const clustering *c, uint32_t n, uint32_t touched_count) {
    if (c->home[n] == QSM_POLICY_NONE) return false;
    uint32_t group_count = c->input->nodes[n].group_count;
    overlap home_fit = overlap_with(c, c->home[n], group_count);
    overlap raised = {home_fit.common * 3, home_fit.either * 2};
    for (uint32_t t = 0; t < touched_count; t++) {
        if (c->touched[t] >= c->past_count) continue;
        overlap fit = overlap_with(c, c->touched[t], group_count);
        if (better(fit, raised) && reaches(fit, c->join_percent / 2)) return false;
    }
    return true;
}

/* Step 2. */
static void place_unsettled(clustering *c) {
    for (uint32_t n = 0; n < c->node_count; n++) {
        if (c->settled[n] || !has_interest(c, n)) continue;
        const qsm_policy_node *node = &c->input->nodes[n];
        uint32_t touched_count = begin_comparing(c, node->groups, node->group_count);
        choice best = pick(c, touched_count, node->group_count, QSM_POLICY_NONE, c->home[n]);
        c->loyal[n] = prefers_home(c, n, touched_count);
        end_comparing(c, touched_count);
        if (!reaches(best.fit, c->join_percent)) best.region = open_region(c, node);
        move_node(c, n, best.region);
    }
}

/* Step 3. Returns whether anybody moved. */
static bool choose_again(clustering *c) {
    bool moved = false;
    find_cores(c);
    for (uint32_t n = 0; n < c->node_count; n++) {
        if (c->settled[n] || !has_interest(c, n)) continue;
        const qsm_policy_node *node = &c->input->nodes[n];
        uint32_t touched_count = begin_comparing(c, node->groups, node->group_count);
        choice best = pick(c, touched_count, node->group_count, QSM_POLICY_NONE, c->region[n]);
        overlap present_fit = overlap_with(c, c->region[n], node->group_count);
        end_comparing(c, touched_count);
        if (!reaches(best.fit, c->join_percent)) {
            if (fits_to_stay(c, present_fit)) continue;
            best.region = open_region(c, node);
        }
        if (best.region == c->region[n]) continue;
        move_node(c, n, best.region);
        moved = true;
    }
    return moved;
}

/* ---- joining regions ------------------------------------------------------------------------- */

static uint32_t find_root(clustering *c, uint32_t region) {
    while (c->parents[region] != region) {
        c->parents[region] = c->parents[c->parents[region]];
        region = c->parents[region];
    }
    return region;
}

/* The larger one takes the members of the other; of equals the one with the lower id, so that a
 * region of the past lives on. */
static void join_regions(clustering *c, uint32_t a, uint32_t b) {
    bool a_takes = c->sizes[a] != c->sizes[b] ? c->sizes[a] > c->sizes[b] : a < b;
    uint32_t taker = a_takes ? a : b, other = a_takes ? b : a;
    c->parents[other] = taker;
    c->sizes[taker] += c->sizes[other];
    c->sizes[other] = 0;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Regions with members into `keys`, smallest first, then by id; and each becomes its own root. */
static uint32_t list_regions_by_size(clustering *c) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < c->region_count; r++) {
        c->parents[r] = r;
        if (c->sizes[r] > 0) c->keys[count++] = (uint64_t)c->sizes[r] << 32 | r;
    }
    qsort(c->keys, count, sizeof *c->keys, compare_keys);
    return count;
}

static void follow_joins(clustering *c) {
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->region[n] != QSM_POLICY_NONE) c->region[n] = find_root(c, c->region[n]);
}

static choice nearest(clustering *c, uint32_t region) {
    const uint32_t *core = c->core_groups + c->core_starts[region];
    uint32_t touched_count = begin_comparing(c, core, c->core_sizes[region]);
    choice near = pick(c, touched_count, c->core_sizes[region], region, QSM_POLICY_NONE);
    end_comparing(c, touched_count);
    return near;
}

/* Step 4. A region joins at most one other, so that a chain of likenesses does not make all one. */
static void join_alike(clustering *c) {
    find_cores(c);
    uint32_t count = list_regions_by_size(c);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t region = (uint32_t)c->keys[i];
        choice near = nearest(c, region);
        if (near.region == QSM_POLICY_NONE || !alike(c, near.fit)) continue;
        /* Not when either has been joined with another in this round. */
        bool fresh = c->parents[region] == region && c->parents[near.region] == near.region &&
                     c->sizes[region] == c->keys[i] >> 32 && c->sizes[near.region] > 0;
        if (fresh) join_regions(c, region, near.region);
    }
    follow_joins(c);
}

static bool is_small(const clustering *c, uint32_t region) {
    bool lives_on = region < c->past_count && !c->fresh;
    uint32_t least = lives_on ? c->size_min / 2 + c->size_min % 2 : c->size_min;
    return c->sizes[region] < least;
}

/* A node that is in a small new region goes back, if it would rather. */
static void return_home(clustering *c) {
    /* The sizes of before decide for all. */
    for (uint32_t r = 0; r < c->region_count; r++)
        c->touched[r] = r >= c->past_count && is_small(c, r);
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->loyal[n] && !c->settled[n] && c->touched[c->region[n]]) move_node(c, n, c->home[n]);
}

/* Step 5. A small region with nothing in common with any other stays as it is: to bring together
 * nodes with no work to share would help nobody. */
static bool join_small(clustering *c) {
    bool joined = false;
    find_cores(c);
    uint32_t count = list_regions_by_size(c);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t region = (uint32_t)c->keys[i], root = find_root(c, region);
        if (!is_small(c, root)) continue;
        choice near = nearest(c, region);
        if (near.region == QSM_POLICY_NONE) continue;
        uint32_t other = find_root(c, near.region);
        if (other == root) continue;
        join_regions(c, root, other);
        joined = true;
    }
    follow_joins(c);
    return joined;
}

/* ---- the whole ------------------------------------------------------------------------------- */

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

/* Numbers regions from 0 on by their most senior members. Returns how many there are. */
static uint32_t number_by_seniority(clustering *c, uint32_t *regions) {
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
static void find_homes(clustering *c, past_key *past, past_key *nodes) {
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
        if (p == input->past_count || past[p].key != nodes[i].key || !has_interest(c, n)) continue;
        nodes[at_home++] = (past_key){input->past[past[p].item].region, 0, n};
    }
    qsort(nodes, at_home, sizeof *nodes, compare_past_keys);
    for (uint32_t i = 0, region = 0; i < at_home; i++) {
        if (i > 0 && nodes[i].key != nodes[i - 1].key) region++;
        c->home[nodes[i].item] = region;
    }
    c->region_count = c->past_count = number_by_seniority(c, c->home);
}

static int begin_homes(clustering *c) {
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

static int begin_clustering(clustering *c, const qsm_policy_input *input) {
    memset(c, 0, sizeof *c);
    c->input = input;
    c->node_count = input->node_count;
    c->join_percent = within(input->similar_percent, 1, 100);
    c->stay_percent = c->join_percent - c->join_percent / 4;
    c->merge_percent = c->join_percent + (100 - c->join_percent) / 4;
    c->size_min = within(input->region_size_min, 1, UINT32_MAX);

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

static void end_clustering(clustering *c) {
    void *all[] = {c->sizes,        c->parents,     c->core_starts,  c->core_sizes,
                   c->core_groups,  c->core_owners, c->index_starts, c->index_regions,
                   c->nexts,        c->heads,       c->home,         c->region,
                   c->settled,      c->loyal,       c->by_region,    c->region_begin,
                   c->group_counts, c->group_list,  c->common,       c->touched,
                   c->keys};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Whether improvements are still worth their time. */
static bool has_time(const clustering *c) {
    return c->work < WORK_MAX;
}

/* One pass over all steps. */
static void cluster(clustering *c) {
    if (c->past_count > 0) settle(c);
    place_unsettled(c);
    for (uint32_t round = 0; round < CHOICE_ROUNDS_MAX && has_time(c); round++)
        if (!choose_again(c)) break;
    if (has_time(c)) join_alike(c);
    if (c->size_min == 1) return;
    return_home(c);
    for (uint32_t round = 0; round < JOIN_ROUNDS_MAX && (round == 0 || has_time(c)); round++)
        if (!join_small(c)) break;
}

/* Makes the present regions those of the past. Returns whether nodes are parted in another way
 * than they were in the past. */
static bool come_home(clustering *c) {
    memcpy(c->by_region, c->home, c->node_count * sizeof *c->home);
    memcpy(c->home, c->region, c->node_count * sizeof *c->home);
    memset(c->core_sizes, 0, c->region_count * sizeof *c->core_sizes);
    c->region_count = c->past_count = number_by_seniority(c, c->home);
    memcpy(c->region, c->home, c->node_count * sizeof *c->home);
    return memcmp(c->by_region, c->home, c->node_count * sizeof *c->home) != 0;
}

static int build_clusters(qsm_policy_build *build, clustering *c) {
    uint32_t *groups = c->group_list;
    number_by_seniority(c, c->region); /* labels must be below the number of nodes */
    for (uint32_t g = 0; g < c->input->group_count; g++)
        groups[g] = g;
    return qsm_policy_build_layer(build, c->region, groups, c->input->group_count);
}

int qsm_policy_similar(const qsm_policy_input *input, qsm_policy_result *result) {
    clustering c;
    qsm_policy_build build;
    int begun = begin_clustering(&c, input);
    int status = qsm_policy_build_begin(&build, input, result);
    if (begun != QSM_OK) status = begun;
    if (status == QSM_OK) {
        /* Regions made from nothing are looked at again with what they are as the past, so that the
         * next run finds no reason to change them. */
        c.fresh = c.past_count == 0;
        cluster(&c);
        uint32_t rounds = c.fresh ? FRESH_ROUNDS_MAX : 0;
        for (uint32_t round = 0; round < rounds && has_time(&c) && come_home(&c); round++)
            cluster(&c);
        status = build_clusters(&build, &c);
    }
    end_clustering(&c);
    return qsm_policy_build_end(&build, status);
}
