/*
 * test_policy_memory.c - a policy that gets no memory says so and leaves nothing behind,
 * whichever of its allocations fails.
 *
 * The linker sends every call of malloc and its kin here (LINK_test_policy_memory in the Makefile);
 * those between `begin_counting` and `end_counting` are counted and can fail.
 */
#include "test_policy_fixture.h"

static bool counting;
static uint32_t allocations, failing; /* the allocation of number `failing` fails; 0: none does */
static int32_t blocks;                /* allocated and not freed */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);

static bool refused(void) {
    return counting && ++allocations == failing;
}

/* Counts a new block, which the system itself must not refuse. */
static void *counted(void *memory) {
    if (counting) {
        (void)must(memory);
        blocks++;
    }
    return memory;
}

void *__wrap_malloc(size_t bytes) {
    return refused() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return refused() ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *memory, size_t bytes) {
    if (refused()) return NULL;
    if (!memory) return counted(__real_realloc(memory, bytes));
    return counting ? must(__real_realloc(memory, bytes)) : __real_realloc(memory, bytes);
}

void __wrap_free(void *memory) {
    if (counting && memory) blocks--;
    __real_free(memory);
}

static void begin_counting(uint32_t number) {
    failing = number;
    allocations = 0;
    counting = true;
}

static void end_counting(void) {
    counting = false;
}

static void sweep(uint32_t policy, const qsm_policy_input *input) {
    qsm_policy_run run = qsm_policy_find(policy);
    qsm_policy_result result;
    for (uint32_t number = 1;; number++) {
        memset(&result, 0xa5, sizeof result);
        begin_counting(number);
        int status = run(input, &result);
        end_counting();
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
    begin_counting(0);
    qsm_policy_result_free(&result);
    end_counting();
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
    for (uint32_t policy = 0; policy < QSM_POLICY_COUNT; policy++)
        sweep(policy, input);
    input->past = past;
    input->past_count = 40;
    sweep(QSM_POLICY_SIMILAR, input);

    uint32_t line;
    begin_counting(1);
    int status = qsm_policy_plan_check(text, input->plan_bytes, &line);
    end_counting();
    check(status == QSM_ERR_NO_MEMORY, "a plan cannot be checked without memory", 0);
    check(blocks == 0, "nothing is left behind", 0);
    office_free(o);
}

int main(void) {
    test_every_allocation_may_fail();
    return report();
}
