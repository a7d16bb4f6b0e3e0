/*
 * test_policy_plan.c - regions as a plan says, and plans that must be refused.
 */
#include "test_policy_fixture.h"

#define HEAD "live-objects-plan 1\n"
#define ID_A "00112233445566778899aabbccddeeff"
#define ID_B "00112233445566778899AABBCCDDEEF0"
#define NAME_64 "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

static void test_well_formed_plans_are_accepted(void) {
    static const char *const plans[] = {
        "live-objects-plan 1",
        HEAD,
        HEAD "\n\n# nothing\n#\n",
        HEAD "group " ID_A " cluster a\ngroup " ID_B " hierarchy a",
        "live-objects-plan 1\r\ngroup " ID_A " cluster sales.desk_1-x\r\n",
        HEAD "group " ID_A " cluster " NAME_64 "\n",
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        uint32_t line = 99;
        int result = qsm_policy_plan_check(plans[i], (uint32_t)strlen(plans[i]), &line);
        check(result == QSM_OK && line == 0, plans[i], i);
    }
}

static void test_malformed_plans_are_refused_with_the_line(void) {
    static const struct {
        uint32_t line;
        const char *text;
    } plans[] = {
        {1, ""},
        {1, "\n"},
        {1, "live-objects-plan 2\n"},
        {1, "live-objects-plan 1 \n"},
        {1, " live-objects-plan 1\n"},
        {1, "live-objects-plan"},
        {1, "\xef\xbb\xbflive-objects-plan 1\n"},
        {2, HEAD "groups " ID_A " cluster a\n"},
        {2, HEAD "group " ID_A "\n"},
        {2, HEAD "group " ID_A " cluster\n"},
        {2, HEAD "group " ID_A " cluster \n"},
        {2, HEAD "group " ID_A " cluster a b\n"},
        {2, HEAD "group " ID_A " cluster a \n"},
        {2, HEAD "group  " ID_A " cluster a\n"},
        {2, HEAD "group " ID_A " region a\n"},
        {2, HEAD "group " ID_A "0 cluster a\n"},
        {2, HEAD "group 0" ID_A " cluster a\n"},
        {2, HEAD "group 0011223344556677 cluster a\n"},
        {2, HEAD "group 0011223344556677889gaabbccddeeff cluster a\n"},
        {2, HEAD "group " ID_A " cluster " NAME_64 "x\n"},
        {2, HEAD "group " ID_A " cluster ../a\n"},
        {2, HEAD "group " ID_A " cluster \xc3\xa9\n"},
        {2, HEAD " # not at the margin\n"},
        {2, HEAD "#\ttab\n"},
        {3, HEAD "\n\r\r\n"},
        {4, HEAD "group " ID_A " cluster a\n\ngroup " ID_A " cluster b\n"},
        {4, HEAD "group " ID_B " cluster a\n\ngroup 00112233445566778899aabbccddeef0 cluster a\n"},
        {3, HEAD "group " ID_A " cluster a\ngroup " ID_A " hierarchy a\n"
                 "group " ID_A " cluster a\n"},
        {3, HEAD "group " ID_A " cluster a\nx\ngroup " ID_A " cluster a\n"},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        uint32_t line = 99;
        int result = qsm_policy_plan_check(plans[i].text, (uint32_t)strlen(plans[i].text), &line);
        check(result == QSM_ERR_PLAN && line == plans[i].line, plans[i].text, line);
    }
    check(qsm_policy_plan_check(NULL, 0, NULL) == QSM_ERR_PLAN, "no text", 0);
    check(qsm_policy_plan_check(HEAD "\0", sizeof HEAD, NULL) == QSM_ERR_PLAN, "a zero byte", 0);
}

static void test_a_line_may_be_long_but_not_too_long(void) {
    char text[400] = HEAD "#";
    size_t head = strlen(HEAD);
    for (uint32_t length = 1; length <= 300; length++) {
        memset(text + head, '#', length);
        int result = qsm_policy_plan_check(text, (uint32_t)(head + length), NULL);
        check(result == (length <= 160 ? QSM_OK : QSM_ERR_PLAN), "a line of 160 bytes", length);
    }
}

static void test_huge_and_binary_texts_are_refused(void) {
    uint32_t bytes = (16u << 20) + 1, line;
    char *text = must(malloc(bytes));
    memset(text, '\n', bytes);
    memcpy(text, HEAD, strlen(HEAD));
    check(qsm_policy_plan_check(text, bytes - 1, &line) == QSM_OK, "16 MB of nothing", 0);
    check(qsm_policy_plan_check(text, bytes, &line) == QSM_ERR_PLAN && line == 1, "too large", 0);
    uint64_t state = 3;
    for (uint32_t i = (uint32_t)strlen(HEAD); i < bytes; i++)
        text[i] = (char)draw(&state);
    check(qsm_policy_plan_check(text, bytes - 1, &line) == QSM_ERR_PLAN, "binary", 0);
    free(text);
}

static void test_a_plan_names_at_most_65536_groups(void) {
    enum { LINE = 49, COUNT = 65537 };
    char *text = must(malloc(strlen(HEAD) + LINE * COUNT + 1));
    size_t at = strlen(strcpy(text, HEAD));
    for (uint32_t i = 0; i < COUNT; i++)
        at += (size_t)sprintf(text + at, "group %032x cluster c\n", i * 2654435761u);
    uint32_t line = 0, whole = (uint32_t)at;
    uint32_t less = whole - (whole - (uint32_t)strlen(HEAD)) / COUNT;
    check(qsm_policy_plan_check(text, less, &line) == QSM_OK, "65536 are accepted", line);
    check(qsm_policy_plan_check(text, whole, &line) == QSM_ERR_PLAN && line == 65538, "no more",
          line);
    free(text);
}

/* Cuts and single changed bytes of a plan never do harm, and a changed id or name still parses. */
static void test_damaged_plans_do_no_harm(void) {
    static const char plan[] = HEAD "group " ID_A " cluster a\ngroup " ID_B " hierarchy b\n";
    char text[sizeof plan];
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < sizeof plan - 1; i++) {
        accepted += qsm_policy_plan_check(plan, i, NULL) == QSM_OK;
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, plan, sizeof plan);
            text[i] = (char)(text[i] ^ 1 << bit);
            int result = qsm_policy_plan_check(text, sizeof plan - 1, NULL);
            check(result == QSM_OK || result == QSM_ERR_PLAN, "accepted or refused", i);
        }
    }
    check(accepted > 0, "some cuts leave a plan", accepted);
}

/* Appends a line for the group. */
static void plan_group(char *text, const office *o, uint32_t group, const char *kind,
                       const char *name) {
    char *at = text + strlen(text);
    at += sprintf(at, "group ");
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%02x", o->ids[group][i]);
    sprintf(at, " %s %s\n", kind, name);
}

static void test_clusters_hierarchies_and_the_rest_have_regions_of_their_own(void) {
    office *o = office_new(10, 8);
    /* Groups 0, 1: opened together by 0..4, not always both. 2, 3: nested. 4, 5: not planned. */
    for (uint32_t n = 0; n < 10; n++) {
        *cell(o, n, 0) = n < 4;
        *cell(o, n, 1) = n > 0 && n < 5;
        *cell(o, n, 2) = 1;
        *cell(o, n, 3) = n >= 5;
        *cell(o, n, 4) = n % 2;
        *cell(o, n, 5) = n % 3 == 0;
    }
    office_input(o);
    char plan[1000] = HEAD;
    plan_group(plan, o, 0, "cluster", "desk");
    plan_group(plan, o, 2, "hierarchy", "desk");
    plan_group(plan, o, 3, "hierarchy", "desk");
    plan_group(plan, o, 1, "cluster", "desk");
    plan_group(plan, o, 7, "cluster", "nobody");
    strcat(plan, "group " ID_A " cluster unknown\n");
    o->input.plan = plan;
    o->input.plan_bytes = (uint32_t)strlen(plan);
    qsm_policy_result result = run_checked(qsm_policy_plan, o, 0);

    check(result.groups[0].region_count == 1, "a cluster is one region", 0);
    uint32_t desk = result.groups[0].regions[0];
    check(result.groups[1].region_count == 1 && result.groups[1].regions[0] == desk, "for all", 0);
    check(result.regions[desk].member_count == 5, "of all who are in any of its groups", 0);
    check(result.groups[2].region_count == 2, "a hierarchy is parted by exact sets", 0);
    check(result.groups[3].region_count == 1, "as its groups nest", 0);
    check(result.groups[4].region_count == 2, "the rest is parted by exact sets too", 0);
    check(result.groups[2].regions[0] == desk, "regions with the same members are one", 0);
    check(result.region_count == 1 + 1 + 3, "with those of the groups that are not named", 0);
    check(result.groups[7].region_count == 0, "nobody, no region", 0);
    qsm_policy_result_free(&result);
    office_free(o);
}

static void test_without_a_usable_plan_regions_are_exact(void) {
    static const char *const plans[] = {NULL, HEAD, "rubbish\n", HEAD "group x cluster y\n"};
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint64_t state = seed;
        office *o = office_new(30, 10);
        fill_company(o, &state, 10, 5, 10);
        o->input.plan = plans[seed % 4];
        o->input.plan_bytes = o->input.plan ? (uint32_t)strlen(o->input.plan) : 0;
        qsm_policy_result plan = run_checked(qsm_policy_plan, o, seed);
        qsm_policy_result exact = run_checked(qsm_policy_exact, o, seed);
        check(is_same(&plan, &exact), "as without a plan", seed);
        qsm_policy_result_free(&plan);
        qsm_policy_result_free(&exact);
        office_free(o);
    }
}

static void test_any_plan_gives_sound_regions(void) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = seed;
        uint32_t node_count = draw_below(&state, 40) + 1, group_count = draw_below(&state, 20) + 1;
        office *o = office_new(node_count, group_count);
        fill_random(o, &state, draw_below(&state, 100));
        office_input(o);
        char plan[4000] = HEAD, name[8];
        for (uint32_t g = 0; g < o->group_count; g++) {
            sprintf(name, "c%u", draw_below(&state, 5));
            if (draw_below(&state, 3))
                plan_group(plan, o, g, draw_below(&state, 2) ? "cluster" : "hierarchy", name);
        }
        o->input.plan = plan;
        o->input.plan_bytes = (uint32_t)strlen(plan);
        qsm_policy_result result = run_checked(qsm_policy_plan, o, seed);
        check(regions_per_node(o, &result) <= 11, "one region a cluster, hierarchy and rest", seed);
        qsm_policy_result_free(&result);
        office_free(o);
    }
}

int main(void) {
    test_well_formed_plans_are_accepted();
    test_malformed_plans_are_refused_with_the_line();
    test_a_line_may_be_long_but_not_too_long();
    test_huge_and_binary_texts_are_refused();
    test_a_plan_names_at_most_65536_groups();
    test_damaged_plans_do_no_harm();
    test_clusters_hierarchies_and_the_rest_have_regions_of_their_own();
    test_without_a_usable_plan_regions_are_exact();
    test_any_plan_gives_sound_regions();
    return report();
}
