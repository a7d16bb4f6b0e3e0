/*
 * test_policy_fixture.h - inputs for the region policies from a seed, and a check of their
 * results that shares no code with them.
 */
#ifndef TEST_POLICY_FIXTURE_H
#define TEST_POLICY_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "membership/policy.h"
#include "membership/policy_list.h"
#include "qsm.h"

static uint32_t passed_count, failed_count;

/* States one fact; a failure names it with the seed at hand. */
static inline void check(bool holds, const char *fact, uint64_t seed) {
    if (holds) {
        passed_count++;
        return;
    }
    failed_count++;
    if (failed_count <= 20)
        fprintf(stderr, "failed: %s (seed %llu)\n", fact, (unsigned long long)seed);
}

static inline int report(void) {
    printf("%u passed, %u failed\n", passed_count, failed_count);
    return failed_count > 0;
}

/* splitmix64 */
static inline uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint32_t draw_below(uint64_t *state, uint32_t bound) {
    return (uint32_t)(draw(state) % bound);
}

/* A matrix of who joined what, from which an input is made. */
typedef struct {
    uint32_t node_count, group_count;
    uint8_t *joined; /* node * group_count + group */
    qsm_policy_node *nodes;
    uint32_t *groups;
    uint8_t (*ids)[16];
    qsm_policy_input input;
} office;

static inline void *must(void *memory) {
    if (!memory) abort();
    return memory;
}

static inline office *office_new(uint32_t node_count, uint32_t group_count) {
    office *o = must(calloc(1, sizeof *o));
    size_t cells = (size_t)node_count * group_count;
    o->node_count = node_count;
    o->group_count = group_count;
    o->joined = must(calloc(cells + 1, 1));
    o->nodes = must(calloc(node_count + 1u, sizeof *o->nodes));
    o->groups = must(calloc(cells + 1, sizeof *o->groups));
    o->ids = must(calloc(group_count + 1u, sizeof *o->ids));
    return o;
}

static inline void office_free(office *o) {
    free(o->joined);
    free(o->nodes);
    free(o->groups);
    free(o->ids);
    free(o);
}

static inline uint8_t *cell(const office *o, uint32_t node, uint32_t group) {
    return &o->joined[(size_t)node * o->group_count + group];
}

/* Makes the input anew after a change of the matrix; what else was set in it stays. */
static inline qsm_policy_input *office_input(office *o) {
    uint32_t *at = o->groups;
    for (uint32_t n = 0; n < o->node_count; n++) {
        o->nodes[n] = (qsm_policy_node){.node = 0x1000u + n * 0x9e3779b97f4a7c15u, .groups = at};
        for (uint32_t g = 0; g < o->group_count; g++)
            if (*cell(o, n, g)) *at++ = g;
        o->nodes[n].group_count = (uint32_t)(at - o->nodes[n].groups);
    }
    for (uint32_t g = 0; g < o->group_count; g++)
        for (int i = 0; i < 16; i++)
            o->ids[g][i] = (uint8_t)((g >> 8 * (i & 3)) ^ (uint32_t)i * 29);
    o->input.nodes = o->nodes;
    o->input.node_count = o->node_count;
    o->input.group_count = o->group_count;
    o->input.group_ids = (const uint8_t (*)[16])o->ids;
    return &o->input;
}

/* Everybody joins every group with the same chance. */
static inline void fill_random(office *o, uint64_t *seed, uint32_t percent) {
    for (uint32_t n = 0; n < o->node_count; n++)
        for (uint32_t g = 0; g < o->group_count; g++)
            *cell(o, n, g) = draw_below(seed, 100) < percent;
}

/* A company: some groups of all, some of a department, most of a team, one in ten of a mixed set of
 * nodes; and of all that `missing_percent` at random not joined. */
static inline void fill_company(office *o, uint64_t *seed, uint32_t department_size,
                                uint32_t team_size, uint32_t missing_percent) {
    for (uint32_t g = 0; g < o->group_count; g++) {
        uint32_t kind = draw_below(seed, 100), anchor = draw_below(seed, o->node_count);
        for (uint32_t n = 0; n < o->node_count; n++) {
            bool in = kind < 5    ? true
                      : kind < 35 ? n / department_size == anchor / department_size
                      : kind < 90 ? n / team_size == anchor / team_size
                                  : draw_below(seed, o->node_count) < 2 * team_size;
            *cell(o, n, g) = in && draw_below(seed, 100) >= missing_percent;
        }
    }
}

/* ---- the check ------------------------------------------------------------------------------- */

static inline bool has_same_members(const qsm_policy_region *a, const qsm_policy_region *b) {
    return a->member_count == b->member_count &&
           memcmp(a->members, b->members, a->member_count * sizeof *a->members) == 0;
}

static inline bool rises(const uint32_t *list, uint32_t count, uint32_t bound) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= bound || (i > 0 && list[i - 1] >= list[i])) return false;
    return true;
}

/* All that every policy must keep, whatever it decides. */
static inline bool is_sound(const office *o, const qsm_policy_result *result) {
    bool sound = result->group_count == o->group_count;
    uint8_t *used = must(calloc(result->region_count + 1u, 1));
    uint32_t *times = must(calloc(o->node_count + 1u, sizeof *times));
    for (uint32_t r = 0; r < result->region_count; r++) {
        const qsm_policy_region *region = &result->regions[r];
        sound &= region->member_count > 0;
        sound &= rises(region->members, region->member_count, o->node_count);
        for (uint32_t i = 0; i < region->member_count; i++)
            sound &= o->nodes[region->members[i]].group_count > 0;
    }
    for (uint32_t g = 0; g < o->group_count && sound; g++) {
        const qsm_policy_group *group = &result->groups[g];
        sound &= rises(group->regions, group->region_count, result->region_count);
        memset(times, 0, o->node_count * sizeof *times);
        for (uint32_t i = 0; i < group->region_count && sound; i++) {
            const qsm_policy_region *region = &result->regions[group->regions[i]];
            bool wanted = false;
            used[group->regions[i]] = 1;
            for (uint32_t m = 0; m < region->member_count; m++) {
                times[region->members[m]]++;
                wanted |= *cell(o, region->members[m], g);
            }
            sound &= wanted;
        }
        for (uint32_t n = 0; n < o->node_count; n++)
            sound &= *cell(o, n, g) ? times[n] == 1 : times[n] <= 1;
    }
    for (uint32_t r = 0; r < result->region_count; r++) {
        sound &= used[r];
        for (uint32_t other = 0; other < r; other++)
            sound &= !has_same_members(&result->regions[r], &result->regions[other]);
    }
    free(times);
    free(used);
    return sound;
}

static inline bool is_same(const qsm_policy_result *a, const qsm_policy_result *b) {
    if (a->region_count != b->region_count || a->group_count != b->group_count) return false;
    for (uint32_t r = 0; r < a->region_count; r++) {
        if (!has_same_members(&a->regions[r], &b->regions[r])) return false;
    }
    for (uint32_t g = 0; g < a->group_count; g++) {
        const qsm_policy_group *x = &a->groups[g], *y = &b->groups[g];
        if (x->region_count != y->region_count) return false;
        if (x->region_count == 0) continue;
        if (memcmp(x->regions, y->regions, x->region_count * sizeof *x->regions) != 0) return false;
    }
    return true;
}

/* Runs a policy twice; the check of the result and of its repetition is part of it. */
static inline qsm_policy_result run_checked(qsm_policy_run run, office *o, uint64_t seed) {
    qsm_policy_result result, again;
    qsm_policy_input *input = office_input(o);
    check(run(input, &result) == QSM_OK, "the policy succeeds", seed);
    check(run(input, &again) == QSM_OK, "the policy succeeds again", seed);
    check(is_same(&result, &again), "equal input, equal result", seed);
    check(is_sound(o, &result), "each member of a group is in exactly one of its regions", seed);
    qsm_policy_result_free(&again);
    return result;
}

/* The regions of the nodes, for policies with one region a node; UINT32_MAX for none. */
static inline uint32_t *regions_of_nodes(const office *o, const qsm_policy_result *result) {
    uint32_t *regions = must(malloc((o->node_count + 1u) * sizeof *regions));
    memset(regions, 0xff, (o->node_count + 1u) * sizeof *regions);
    for (uint32_t r = 0; r < result->region_count; r++)
        for (uint32_t i = 0; i < result->regions[r].member_count; i++)
            regions[result->regions[r].members[i]] = r;
    return regions;
}

/* Of one message in each group: deliveries to nodes that are not in it, in percent of the others.
 */
static inline double waste_percent(const office *o, const qsm_policy_result *result) {
    double wanted = 0, received = 0;
    for (uint32_t g = 0; g < o->group_count; g++) {
        for (uint32_t n = 0; n < o->node_count; n++)
            wanted += *cell(o, n, g);
        for (uint32_t i = 0; i < result->groups[g].region_count; i++)
            received += result->regions[result->groups[g].regions[i]].member_count;
    }
    return wanted > 0 ? (received - wanted) * 100 / wanted : 0;
}

static inline double regions_per_node(const office *o, const qsm_policy_result *result) {
    double memberships = 0;
    for (uint32_t r = 0; r < result->region_count; r++)
        memberships += result->regions[r].member_count;
    return o->node_count > 0 ? memberships / o->node_count : 0;
}

#endif
