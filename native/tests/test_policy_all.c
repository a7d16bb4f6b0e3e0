/*
 * test_policy_all.c - what every policy of QSM_POLICIES keeps, whatever it decides: a new one is
 * tested here without a line of its own.
 */
#include "test_policy_fixture.h"

static void test_regions_are_sound_and_repeatable(void) {
    for (uint32_t policy = 0; policy < QSM_POLICY_COUNT; policy++) {
        for (uint64_t seed = 1; seed <= 200; seed++) {
            uint64_t state = seed;
            office *o = office_new(draw_below(&state, 40) + 1, draw_below(&state, 25) + 1);
            if (seed % 2)
                fill_random(o, &state, draw_below(&state, 100));
            else
                fill_company(o, &state, 10, 5, draw_below(&state, 20));
            o->input.similar_percent = draw_below(&state, 100) + 1;
            o->input.region_size_min = draw_below(&state, 6);
            qsm_policy_result result = run_checked(qsm_policy_find(policy), o, seed);
            qsm_policy_result_free(&result);
            office_free(o);
        }
    }
}

static void test_nobody_and_nothing_are_fine(void) {
    for (uint32_t policy = 0; policy < QSM_POLICY_COUNT; policy++) {
        static const uint32_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {5, 5}};
        for (int i = 0; i < 4; i++) {
            office *o = office_new(sizes[i][0], sizes[i][1]);
            o->input.similar_percent = 60;
            o->input.region_size_min = 3;
            qsm_policy_result result = run_checked(qsm_policy_find(policy), o, policy);
            check(result.region_count == 0, "no members, no regions", policy);
            qsm_policy_result_free(&result);
            office_free(o);
        }
    }
}

static void test_policies_are_found_by_number(void) {
#define CHECK_FOUND(NAME, name)                                                                    \
    check(qsm_policy_find(QSM_POLICY_##NAME) == qsm_policy_##name, #name, QSM_POLICY_##NAME);
    QSM_POLICIES(CHECK_FOUND)
#undef CHECK_FOUND
    check(qsm_policy_find(QSM_POLICY_COUNT) == NULL, "none after the last", 0);
    check(qsm_policy_find(UINT32_MAX) == NULL, "nor at the end of all numbers", 0);
}

static void test_numbers_that_programs_know_have_stayed(void) {
    check(QSM_POLICY_EXACT == 0, "exact", 0);
    check(QSM_POLICY_SIMILAR == 1, "similar", 0);
    check(QSM_POLICY_HIERARCHY == 2, "hierarchy", 0);
    check(QSM_POLICY_PLAN == 3, "plan", 0);
}

int main(void) {
    test_regions_are_sound_and_repeatable();
    test_nobody_and_nothing_are_fine();
    test_policies_are_found_by_number();
    test_numbers_that_programs_know_have_stayed();
    return report();
}
