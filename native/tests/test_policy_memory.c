/*
 * test_policy_memory.c - a policy that gets no memory says so and leaves nothing behind,
 * whichever of its allocations fails.
 *
 * The sources are compiled into this program once more, with an allocator that can be told to fail.
 */
#include "test_policy_fixture.h"

static uint32_t allocations, failing; /* the allocation of number `failing` fails; 0: none does */
static int32_t blocks;                /* allocated and not freed */

static bool refused(void) {
    return ++allocations == failing;
}

static void *test_calloc(size_t count, size_t bytes) {
    if (refused()) return NULL;
    blocks++;
    return must(calloc(count, bytes));
}

static void *test_realloc(void *memory, size_t bytes) {
    if (refused()) return NULL;
    if (!memory) blocks++;
    return must(realloc(memory, bytes));
}

static void test_free(void *memory) {
    if (memory) blocks--;
    free(memory);
}

#define calloc test_calloc
#define realloc test_realloc
#define free test_free
#include "../src/membership/policy.c"
#include "../src/membership/policy_build.c"
#include "../src/membership/policy_exact.c"
#include "../src/membership/policy_hierarchy.c"
#include "../src/membership/policy_plan.c"
#include "../src/membership/policy_similar.c"
#include "../src/membership/similar_cores.c"
#include "../src/membership/similar_homes.c"
#include "../src/membership/similar_joins.c"
#undef calloc
#undef realloc
#undef free

static void sweep(uint32_t policy, const qsm_policy_input *input) {
    qsm_policy_run run = qsm_policy_find(policy);
    qsm_policy_result result;
    for (failing = 1;; failing++) {
        allocations = 0;
        memset(&result, 0xa5, sizeof result);
        int status = run(input, &result);
        if (allocations < failing) {
            check(status == QSM_OK, "enough memory, a result", policy);
            break;
        }
        check(status == QSM_ERR_NO_MEMORY, "the failure is told", failing);
        check(!result.regions && !result.groups && !result.region_count && !result.group_count,
              "the result is empty", failing);
        check(blocks == 0, "nothing is left behind", failing);
    }
    printf("policy %u: %u allocations\n", policy, allocations);
    failing = 0;
    qsm_policy_result_free(&result);
    check(blocks == 0, "all is freed", policy);
}

static void test_every_allocation_may_fail(void) {
    uint64_t state = 21;
    office *o = office_new(40, 60);
    fill_company(o, &state, 20, 5, 4);
    qsm_policy_input *input = office_input(o);
    char text[8000] = "live-objects-plan 1\n", *at = text + strlen(text);
    for (uint32_t g = 0; g < 90; g++) {
        at += sprintf(at, "group ");
        for (int i = 0; i < 16; i++)
            at += sprintf(at, "%02x", g < 50 ? o->ids[g][i] : (int)(200 + g - i) & 255);
        at += sprintf(at, " %s c%u\n", g % 2 ? "cluster" : "hierarchy", g % 7);
    }
    input->plan = text;
    input->plan_bytes = (uint32_t)(at - text);
    check(qsm_policy_plan_check(text, input->plan_bytes, NULL) == QSM_OK, "the plan is good", 0);
    qsm_policy_past past[40];
    for (uint32_t n = 0; n < 40; n++)
        past[n] = (qsm_policy_past){.node = o->nodes[n].node, .region = n / 8};
    input->similar_percent = 80;
    input->region_size_min = 3;
    for (uint32_t policy = QSM_POLICY_EXACT; policy <= QSM_POLICY_PLAN; policy++)
        sweep(policy, input);
    input->past = past;
    input->past_count = 40;
    sweep(QSM_POLICY_SIMILAR, input);

    uint32_t line;
    failing = 1;
    allocations = 0;
    check(qsm_policy_plan_check(text, input->plan_bytes, &line) == QSM_ERR_NO_MEMORY,
          "a plan cannot be checked without memory", 0);
    check(blocks == 0, "nothing is left behind", 0);
    office_free(o);
}

int main(void) {
    test_every_allocation_may_fail();
    return report();
}
