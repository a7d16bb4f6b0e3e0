/*
 * test_policy_hierarchy.c - groups of one hierarchy nest or are disjoint, and nodes are in few
 * regions.
 */
#include "test_policy_fixture.h"

enum relation { DISJOINT, NESTED, CROSSING };

static enum relation relation_of(const office *o, uint32_t a, uint32_t b) {
    bool common = false, only_a = false, only_b = false;
    for (uint32_t n = 0; n < o->node_count; n++) {
        bool in_a = *cell(o, n, a), in_b = *cell(o, n, b);
        common |= in_a && in_b;
        only_a |= in_a && !in_b;
        only_b |= in_b && !in_a;
    }
    return !common ? DISJOINT : only_a && only_b ? CROSSING : NESTED;
}

/* The thesis' rule done plainly, with sets: hierarchy_of[group], UINT32_MAX for groups of nobody.
 */
typedef struct {
    const office *o;
    uint32_t *hierarchy_of;
    uint32_t hierarchy_count;
} plain;

static uint32_t group_size(const office *o, uint32_t g) {
    uint32_t size = 0;
    for (uint32_t n = 0; n < o->node_count; n++)
        size += *cell(o, n, g);
    return size;
}

/* Whether two nodes are in the same groups of the hierarchy, `with` counted as one of them. */
static bool same_in(const plain *p, uint32_t hierarchy, uint32_t with, uint32_t a, uint32_t b) {
    for (uint32_t g = 0; g < p->o->group_count; g++)
        if ((p->hierarchy_of[g] == hierarchy || g == with) &&
            *cell(p->o, a, g) != *cell(p->o, b, g))
            return false;
    return true;
}

static bool in_any(const plain *p, uint32_t hierarchy, uint32_t n) {
    for (uint32_t g = 0; g < p->o->group_count; g++)
        if (p->hierarchy_of[g] == hierarchy && *cell(p->o, n, g)) return true;
    return false;
}

static bool may_add(const plain *p, uint32_t hierarchy, uint32_t group) {
    const office *o = p->o;
    for (uint32_t g = 0; g < o->group_count; g++)
        if (p->hierarchy_of[g] == hierarchy && relation_of(o, g, group) == CROSSING) return false;
    /* No region that becomes smaller may become too small. */
    for (uint32_t n = 0; n < o->node_count; n++) {
        uint32_t before = 0, after = 0;
        if (!in_any(p, hierarchy, n)) continue;
        for (uint32_t other = 0; other < o->node_count; other++) {
            before += same_in(p, hierarchy, UINT32_MAX, n, other);
            after += same_in(p, hierarchy, group, n, other);
        }
        if (after < before && after < o->input.region_size_min) return false;
    }
    return true;
}

static void decompose_plainly(plain *p) {
    const office *o = p->o;
    for (uint32_t g = 0; g < o->group_count; g++)
        p->hierarchy_of[g] = UINT32_MAX;
    for (;;) {
        uint32_t largest = UINT32_MAX, hierarchy = 0;
        for (uint32_t g = 0; g < o->group_count; g++)
            if (p->hierarchy_of[g] == UINT32_MAX && group_size(o, g) > 0 &&
                (largest == UINT32_MAX || group_size(o, g) > group_size(o, largest)))
                largest = g;
        if (largest == UINT32_MAX) return;
        while (hierarchy < p->hierarchy_count && !may_add(p, hierarchy, largest))
            hierarchy++;
        p->hierarchy_of[largest] = hierarchy;
        if (hierarchy == p->hierarchy_count) p->hierarchy_count++;
    }
}

/* Whether members of each group share a region exactly when the plain rule puts them together. */
static bool agrees(const plain *p, const qsm_policy_result *result) {
    const office *o = p->o;
    for (uint32_t g = 0; g < o->group_count; g++)
        for (uint32_t i = 0; i < result->groups[g].region_count; i++) {
            const qsm_policy_region *region = &result->regions[result->groups[g].regions[i]];
            uint32_t first = region->members[0], together = 0;
            for (uint32_t n = 0; n < o->node_count; n++)
                together += same_in(p, p->hierarchy_of[g], UINT32_MAX, first, n);
            if (together != region->member_count) return false;
            for (uint32_t m = 0; m < region->member_count; m++)
                if (!same_in(p, p->hierarchy_of[g], UINT32_MAX, first, region->members[m]))
                    return false;
        }
    return true;
}

static bool regions_at_least(const qsm_policy_result *result, uint32_t size) {
    for (uint32_t g = 0; g < result->group_count; g++)
        for (uint32_t i = 0; i < result->groups[g].region_count; i++)
            if (result->groups[g].region_count > 1 &&
                result->regions[result->groups[g].regions[i]].member_count < size)
                return false;
    return true;
}

static void test_hierarchies_are_those_of_the_plain_rule_and_waste_nothing(void) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = seed;
        uint32_t node_count = draw_below(&state, 30) + 1, group_count = draw_below(&state, 16) + 1;
        office *o = office_new(node_count, group_count);
        if (seed % 3 == 0)
            fill_random(o, &state, draw_below(&state, 100));
        else
            fill_company(o, &state, 12, 4, seed % 3 == 1 ? 0 : 5);
        o->input.region_size_min = draw_below(&state, 5);
        o->input.similar_percent = seed % 2 ? 0 : 100;
        qsm_policy_result result = run_checked(qsm_policy_hierarchy, o, seed);
        plain p = {.o = o, .hierarchy_of = must(calloc(o->group_count, sizeof(uint32_t)))};
        decompose_plainly(&p);
        check(agrees(&p, &result), "the regions are those of perfect hierarchies", seed);
        free(p.hierarchy_of);
        check(waste_percent(o, &result) == 0, "nothing is received in vain", seed);
        check(regions_at_least(&result, o->input.region_size_min),
              "a group is split into regions of the least size only", seed);
        qsm_policy_result_free(&result);
        office_free(o);
    }
}

static void test_alike_groups_are_bundled_with_bounded_waste(void) {
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t state = seed;
        office *o = office_new(60, 60);
        fill_company(o, &state, 20, 5, 3);
        o->input.similar_percent = 1 + draw_below(&state, 99);
        o->input.region_size_min = draw_below(&state, 4);
        qsm_policy_result result = run_checked(qsm_policy_hierarchy, o, seed);
        qsm_policy_result_free(&result);
        office_free(o);
    }
}

/* The thesis' picture: a company, departments in it, teams in these: one hierarchy, one region a
 * node. */
static void test_nested_groups_are_one_hierarchy(void) {
    office *o = office_new(64, 21);
    for (uint32_t n = 0; n < 64; n++) {
        *cell(o, n, 0) = 1;
        *cell(o, n, 1 + n / 16) = 1;
        *cell(o, n, 5 + n / 4) = 1;
    }
    qsm_policy_result result = run_checked(qsm_policy_hierarchy, o, 0);
    check(result.region_count == 16, "a region for each team", 0);
    check(result.groups[0].region_count == 16, "the company is all of them", 0);
    check(result.groups[1].region_count == 4, "a department is four of them", 0);
    check(regions_per_node(o, &result) == 1, "a node is in one", 0);
    qsm_policy_result_free(&result);
    office_free(o);
}

static void test_crossing_groups_are_two_hierarchies(void) {
    office *o = office_new(6, 2);
    for (uint32_t n = 0; n < 4; n++)
        *cell(o, n, 0) = *cell(o, n + 2, 1) = 1;
    qsm_policy_result result = run_checked(qsm_policy_hierarchy, o, 0);
    check(result.region_count == 2, "two regions", 0);
    check(result.groups[0].regions[0] != result.groups[1].regions[0], "one for each group", 0);
    check(regions_per_node(o, &result) * 6 == 8, "the middle nodes are in both", 0);
    qsm_policy_result_free(&result);
    office_free(o);
}

static void test_a_small_rest_is_not_split_off(void) {
    office *o = office_new(10, 2);
    for (uint32_t n = 0; n < 10; n++) {
        *cell(o, n, 0) = 1;
        *cell(o, n, 1) = n < 8;
    }
    o->input.region_size_min = 3;
    qsm_policy_result result = run_checked(qsm_policy_hierarchy, o, 0);
    check(result.groups[0].region_count == 1, "two nodes are too few for a region", 0);
    check(result.region_count == 2, "so the inner group has a hierarchy of its own", 0);
    qsm_policy_result_free(&result);
    office_free(o);
}

/* Exact nesting is brittle; bundling repairs it for a little waste. */
static void test_an_office_needs_few_regions_a_node_in_spite_of_absences(void) {
    uint64_t state = 11;
    office *o = office_new(400, 600);
    fill_company(o, &state, 100, 20, 2);
    qsm_policy_result strict = run_checked(qsm_policy_hierarchy, o, state);
    o->input.similar_percent = 80;
    qsm_policy_result bundled = run_checked(qsm_policy_hierarchy, o, state);
    printf(
        "office of 400, 600 groups, 2%% absent: %.1f regions a node strict; %.1f and %.1f%% waste "
        "bundled\n",
        regions_per_node(o, &strict), regions_per_node(o, &bundled), waste_percent(o, &bundled));
    check(regions_per_node(o, &bundled) <= 14, "at most 14 regions a node", state);
    check(regions_per_node(o, &bundled) * 2 < regions_per_node(o, &strict), "far fewer", state);
    check(waste_percent(o, &bundled) <= 5, "at most 5 % received in vain", state);
    qsm_policy_result_free(&strict);
    qsm_policy_result_free(&bundled);
    office_free(o);
}

int main(void) {
    test_hierarchies_are_those_of_the_plain_rule_and_waste_nothing();
    test_alike_groups_are_bundled_with_bounded_waste();
    test_nested_groups_are_one_hierarchy();
    test_crossing_groups_are_two_hierarchies();
    test_a_small_rest_is_not_split_off();
    test_an_office_needs_few_regions_a_node_in_spite_of_absences();
    return report();
}
