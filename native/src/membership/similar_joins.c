/* similar_joins.c - one region of two that are alike, or one of which is too small: see similar.h.
 */
#include <stdlib.h>

#include "membership/similar.h"

/* Regions that have been apart become one when their cores are alike also without one of their
 * common groups, or just the same: one group more in one core must not be enough. */
static bool alike(const qsm_similar *c, qsm_overlap fit) {
    if (fit.common == fit.either) return fit.common > 0;
    if (!c->fresh) fit.common -= fit.common > 0;
    return qsm_overlap_reaches(fit, c->merge_percent);
}

static uint32_t find_root(qsm_similar *c, uint32_t region) {
    while (c->parents[region] != region) {
        c->parents[region] = c->parents[c->parents[region]];
        region = c->parents[region];
    }
    return region;
}

/* The larger one takes the members of the other; of equals the one with the lower id, so that a
 * region of the past lives on. */
static void join_regions(qsm_similar *c, uint32_t a, uint32_t b) {
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
static uint32_t list_regions_by_size(qsm_similar *c) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < c->region_count; r++) {
        c->parents[r] = r;
        if (c->sizes[r] > 0) c->keys[count++] = (uint64_t)c->sizes[r] << 32 | r;
    }
    qsort(c->keys, count, sizeof *c->keys, compare_keys);
    return count;
}

static void follow_joins(qsm_similar *c) {
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->region[n] != QSM_POLICY_NONE) c->region[n] = find_root(c, c->region[n]);
}

static qsm_similar_choice nearest(qsm_similar *c, uint32_t region) {
    const uint32_t *core = c->core_groups + c->core_starts[region];
    uint32_t touched_count = qsm_similar_begin_comparing(c, core, c->core_sizes[region]);
    qsm_similar_choice near =
        qsm_similar_pick(c, touched_count, c->core_sizes[region], region, QSM_POLICY_NONE);
    qsm_similar_end_comparing(c, touched_count);
    return near;
}

/* Step 4. A region joins at most one other, so that a chain of likenesses does not make all one. */
void qsm_similar_join_alike(qsm_similar *c) {
    qsm_similar_find_cores(c);
    uint32_t count = list_regions_by_size(c);
    for (uint32_t i = 0; i < count && qsm_similar_has_time(c); i++) {
        uint32_t region = (uint32_t)c->keys[i];
        qsm_similar_choice near = nearest(c, region);
        if (near.region == QSM_POLICY_NONE || !alike(c, near.fit)) continue;
        /* Not when either has been joined with another in this round. */
        bool fresh = c->parents[region] == region && c->parents[near.region] == near.region &&
                     c->sizes[region] == c->keys[i] >> 32 && c->sizes[near.region] > 0;
        if (fresh) join_regions(c, region, near.region);
    }
    follow_joins(c);
}

static bool is_small(const qsm_similar *c, uint32_t region) {
    bool lives_on = region < c->past_count && !c->fresh;
    uint32_t least = lives_on ? c->size_min / 2 + c->size_min % 2 : c->size_min;
    return c->sizes[region] < least;
}

void qsm_similar_return_home(qsm_similar *c) {
    /* The sizes of before decide for all. */
    for (uint32_t r = 0; r < c->region_count; r++)
        c->touched[r] = r >= c->past_count && is_small(c, r);
    for (uint32_t n = 0; n < c->node_count; n++)
        if (c->loyal[n] && !c->settled[n] && c->touched[c->region[n]])
            qsm_similar_move_node(c, n, c->home[n]);
}

/* Step 5. A small region with nothing in common with any other stays as it is: to bring together
 * nodes with no work to share would help nobody. */
bool qsm_similar_join_small(qsm_similar *c) {
    bool joined = false;
    qsm_similar_find_cores(c);
    uint32_t count = list_regions_by_size(c);
    for (uint32_t i = 0; i < count && qsm_similar_has_time(c); i++) {
        uint32_t region = (uint32_t)c->keys[i], root = find_root(c, region);
        if (!is_small(c, root)) continue;
        qsm_similar_choice near = nearest(c, region);
        if (near.region == QSM_POLICY_NONE) continue;
        uint32_t other = find_root(c, near.region);
        if (other == root) continue;
        join_regions(c, root, other);
        joined = true;
    }
    follow_joins(c);
    return joined;
}
