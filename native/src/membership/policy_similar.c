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
#include <string.h>

#include "membership/policy_build.h"
#include "membership/policy_list.h"
#include "membership/similar.h"
#include "qsm.h"

#define CHOICE_ROUNDS_MAX 4u
#define JOIN_ROUNDS_MAX 16u
#define FRESH_ROUNDS_MAX 4u
/* A settled node may differ from the core in so many more groups than the percentages allow: with
 * few groups, a single one makes a large part. */
#define SLACK_GROUPS 2u

static bool fits_to_stay(const qsm_similar *c, qsm_overlap fit) {
    if (qsm_overlap_reaches(fit, c->stay_percent)) return true;
    qsm_overlap eased = {fit.common, fit.either > SLACK_GROUPS ? fit.either - SLACK_GROUPS : 0};
    return qsm_overlap_reaches(eased, c->join_percent);
}

/* Step 1. All are judged by the cores of the past regions before anybody moves, so that a node
 * which leaves does not make others leave. */
static void settle(qsm_similar *c) {
    memset(c->sizes, 0, c->region_capacity * sizeof *c->sizes);
    for (uint32_t n = 0; n < c->node_count; n++) {
        c->region[n] = c->home[n];
        if (c->home[n] != QSM_POLICY_NONE) c->sizes[c->home[n]]++;
    }
    qsm_similar_find_cores(c);
    for (uint32_t r = 0; r < c->past_count; r++) {
        for (uint32_t i = 0; i < c->core_sizes[r]; i++)
            c->group_counts[c->core_groups[c->core_starts[r] + i]] = 1;
        for (uint32_t i = c->region_begin[r]; i < c->region_begin[r + 1]; i++) {
            const qsm_policy_node *node = &c->input->nodes[c->by_region[i]];
            qsm_overlap fit = {0, 0};
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

/* Whether a node that fits nowhere would rather stay at home, should it find too few of its kind
 * to open a region with: unless another region of the past is nearer by half, and near at all. */
static bool prefers_home(const qsm_similar *c, uint32_t n, uint32_t touched_count) {
    if (c->home[n] == QSM_POLICY_NONE) return false;
    uint32_t group_count = c->input->nodes[n].group_count;
    qsm_overlap home_fit = qsm_similar_overlap(c, c->home[n], group_count);
    qsm_overlap raised = {home_fit.common * 3, home_fit.either * 2};
    for (uint32_t t = 0; t < touched_count; t++) {
        if (c->touched[t] >= c->past_count) continue;
        qsm_overlap fit = qsm_similar_overlap(c, c->touched[t], group_count);
        if (qsm_overlap_is_better(fit, raised) && qsm_overlap_reaches(fit, c->join_percent / 2))
            return false;
    }
    return true;
}

/* Step 2. When there is no time left, a node goes where it was, or is alone for now. */
static void place_unsettled(qsm_similar *c) {
    for (uint32_t n = 0; n < c->node_count; n++) {
        if (c->settled[n] || !qsm_similar_has_interest(c, n)) continue;
        const qsm_policy_node *node = &c->input->nodes[n];
        if (!qsm_similar_has_time(c)) {
            bool at_home = c->home[n] != QSM_POLICY_NONE;
            qsm_similar_move_node(c, n, at_home ? c->home[n] : qsm_similar_open_region(c, node));
            continue;
        }
        uint32_t touched_count = qsm_similar_begin_comparing(c, node->groups, node->group_count);
        qsm_similar_choice best =
            qsm_similar_pick(c, touched_count, node->group_count, QSM_POLICY_NONE, c->home[n]);
        c->loyal[n] = prefers_home(c, n, touched_count);
        qsm_similar_end_comparing(c, touched_count);
        if (!qsm_overlap_reaches(best.fit, c->join_percent))
            best.region = qsm_similar_open_region(c, node);
        qsm_similar_move_node(c, n, best.region);
    }
}

/* Step 3. Returns whether anybody moved. */
static bool choose_again(qsm_similar *c) {
    bool moved = false;
    qsm_similar_find_cores(c);
    for (uint32_t n = 0; n < c->node_count && qsm_similar_has_time(c); n++) {
        if (c->settled[n] || !qsm_similar_has_interest(c, n)) continue;
        const qsm_policy_node *node = &c->input->nodes[n];
        uint32_t touched_count = qsm_similar_begin_comparing(c, node->groups, node->group_count);
        qsm_similar_choice best =
            qsm_similar_pick(c, touched_count, node->group_count, QSM_POLICY_NONE, c->region[n]);
        qsm_overlap present_fit = qsm_similar_overlap(c, c->region[n], node->group_count);
        qsm_similar_end_comparing(c, touched_count);
        if (!qsm_overlap_reaches(best.fit, c->join_percent)) {
            if (fits_to_stay(c, present_fit)) continue;
            best.region = qsm_similar_open_region(c, node);
        }
        if (best.region == c->region[n]) continue;
        qsm_similar_move_node(c, n, best.region);
        moved = true;
    }
    return moved;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* One pass over all steps. The last one always has a part of the time: it alone brings together
 * those who are alone because an earlier run had none left for them. */
static void cluster(qsm_similar *c) {
    if (c->past_count > 0) settle(c);
    c->work_max = QSM_SIMILAR_WORK_MAX - QSM_SIMILAR_WORK_MAX / 3;
    place_unsettled(c);
    for (uint32_t round = 0; round < CHOICE_ROUNDS_MAX && qsm_similar_has_time(c); round++)
        if (!choose_again(c)) break;
    if (qsm_similar_has_time(c)) qsm_similar_join_alike(c);
    c->work_max = QSM_SIMILAR_WORK_MAX;
    if (c->size_min == 1) return;
    qsm_similar_return_home(c);
    for (uint32_t round = 0; round < JOIN_ROUNDS_MAX && qsm_similar_has_time(c); round++)
        if (!qsm_similar_join_small(c)) break;
}

/* Makes the present regions those of the past. Returns whether nodes are parted in another way
 * than they were in the past. */
static bool come_home(qsm_similar *c) {
    memcpy(c->by_region, c->home, c->node_count * sizeof *c->home);
    memcpy(c->home, c->region, c->node_count * sizeof *c->home);
    memset(c->core_sizes, 0, c->region_count * sizeof *c->core_sizes);
    c->region_count = c->past_count = qsm_similar_number_by_seniority(c, c->home);
    memcpy(c->region, c->home, c->node_count * sizeof *c->home);
    return memcmp(c->by_region, c->home, c->node_count * sizeof *c->home) != 0;
}

static int build_clusters(qsm_policy_build *build, qsm_similar *c) {
    uint32_t *groups = c->group_list;
    qsm_similar_number_by_seniority(c, c->region); /* labels must be below the number of nodes */
    for (uint32_t g = 0; g < c->input->group_count; g++)
        groups[g] = g;
    return qsm_policy_build_layer(build, c->region, groups, c->input->group_count);
}

int qsm_policy_similar(const qsm_policy_input *input, qsm_policy_result *result) {
    qsm_similar c;
    qsm_policy_build build;
    int begun = qsm_similar_begin(&c, input);
    int status = qsm_policy_build_begin(&build, input, result);
    if (begun != QSM_OK) status = begun;
    if (status == QSM_OK) {
        /* Regions made from nothing are looked at again with what they are as the past, so that the
         * next run finds no reason to change them. */
        c.fresh = c.past_count == 0;
        cluster(&c);
        uint32_t rounds = c.fresh ? FRESH_ROUNDS_MAX : 0;
        for (uint32_t round = 0; round < rounds && qsm_similar_has_time(&c) && come_home(&c);
             round++)
            cluster(&c);
        status = build_clusters(&build, &c);
    }
    bool unfinished = !qsm_similar_has_time(&c);
    qsm_similar_end(&c);
    status = qsm_policy_build_end(&build, status);
    result->unfinished = status == QSM_OK && unfinished;
    return status;
}
