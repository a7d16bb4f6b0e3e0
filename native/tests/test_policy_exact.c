/*
 * test_policy_exact.c - one region for each distinct set of groups; how a result is freed.
 */
#include "test_policy_fixture.h"

static bool same_interest(const office *o, uint32_t a, uint32_t b) {
    return memcmp(cell(o, a, 0), cell(o, b, 0), o->group_count) == 0;
}

static void test_members_of_a_region_have_equal_sets_and_others_do_not(void) {
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint64_t state = seed;
        uint32_t node_count = draw_below(&state, 40) + 1, group_count = draw_below(&state, 12) + 1;
        office *o = office_new(node_count, group_count);
        if (seed % 2)
            fill_random(o, &state, draw_below(&state, 100));
        else
            fill_company(o, &state, 10, 5, draw_below(&state, 20));
        qsm_policy_result result = run_checked(qsm_policy_exact, o, seed);
        uint32_t *regions = regions_of_nodes(o, &result);
        bool exact = true;
        for (uint32_t a = 0; a < o->node_count; a++) {
            exact &= (regions[a] == UINT32_MAX) == (o->nodes[a].group_count == 0);
            for (uint32_t b = 0; b < a; b++)
                exact &= (regions[a] == regions[b]) == same_interest(o, a, b);
        }
        check(exact, "nodes share a region exactly when they joined the same groups", seed);
        check(waste_percent(o, &result) == 0, "nothing is received in vain", seed);
        free(regions);
        qsm_policy_result_free(&result);
        office_free(o);
    }
}

static void test_a_result_can_be_freed_twice(void) {
    uint64_t state = 7;
    office *o = office_new(5, 5);
    fill_random(o, &state, 50);
    qsm_policy_result result = run_checked(qsm_policy_exact, o, state);
    qsm_policy_result_free(&result);
    check(result.regions == NULL && result.group_count == 0, "a freed result is empty", 0);
    qsm_policy_result_free(&result);
    office_free(o);
}

int main(void) {
    test_members_of_a_region_have_equal_sets_and_others_do_not();
    test_a_result_can_be_freed_twice();
    return report();
}
