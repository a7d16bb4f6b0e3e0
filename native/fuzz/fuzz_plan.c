/*
 * fuzz_plan.c - texts of region plans: refused with a line, or usable.
 *
 * Input: the text. The groups of the run are those that the text names first.
 */
#include "fuzz_support.h"
#include "membership/policy.h"

enum { GROUPS = 8, NODES = 12 };

static uint32_t count_lines(const uint8_t *text, size_t size) {
    uint32_t lines = 1;
    for (size_t i = 0; i + 1 < size; i++)
        lines += text[i] == '\n';
    return lines;
}

static uint32_t find_ids(const uint8_t *text, size_t size, uint8_t ids[GROUPS][16]) {
    uint32_t count = 0;
    for (size_t i = 0; i + 38 <= size && count < GROUPS; i++) {
        if (memcmp(text + i, "group ", 6) != 0) continue;
        for (int b = 0; b < 16; b++) {
            char hex[3] = {(char)text[i + 6 + 2 * b], (char)text[i + 7 + 2 * b], 0};
            ids[count][b] = (uint8_t)strtoul(hex, NULL, 16);
        }
        count++;
    }
    return count;
}

static void use_plan(const char *text, uint32_t bytes, uint8_t ids[GROUPS][16], uint32_t count) {
    uint32_t joined[NODES][GROUPS];
    qsm_policy_node nodes[NODES];
    for (uint32_t n = 0; n < NODES; n++) {
        nodes[n] = (qsm_policy_node){.node = n + 1, .groups = joined[n]};
        for (uint32_t g = 0; g < count; g++)
            if ((n * 7 + g * 3) % 5 < 2) joined[n][nodes[n].group_count++] = g;
    }
    qsm_policy_input input = {.nodes = nodes,
                              .node_count = NODES,
                              .group_count = count,
                              .group_ids = (const uint8_t (*)[16])ids,
                              .plan = text,
                              .plan_bytes = bytes};
    qsm_policy_result result;
    FUZZ_REQUIRE(qsm_policy_find(QSM_POLICY_PLAN)(&input, &result) == QSM_OK);
    /* Every member of a group is in exactly one of its regions. */
    for (uint32_t g = 0; g < count; g++) {
        uint32_t times[NODES] = {0};
        for (uint32_t i = 0; i < result.groups[g].region_count; i++) {
            const qsm_policy_region *region = &result.regions[result.groups[g].regions[i]];
            for (uint32_t m = 0; m < region->member_count; m++)
                times[region->members[m]]++;
        }
        for (uint32_t n = 0; n < NODES; n++)
            for (uint32_t i = 0; i < nodes[n].group_count; i++)
                FUZZ_REQUIRE(joined[n][i] != g || times[n] == 1);
    }
    qsm_policy_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 16) return 0;
    char *text = malloc(size ? size : 1);
    FUZZ_REQUIRE(text);
    memcpy(text, data, size);
    uint32_t line = UINT32_MAX;
    int result = qsm_policy_plan_check(text, (uint32_t)size, &line);
    FUZZ_REQUIRE(result == QSM_OK || result == QSM_ERR_PLAN);
    FUZZ_REQUIRE(result == QSM_OK ? line == 0 : line >= 1 && line <= count_lines(data, size));
    uint8_t ids[GROUPS][16];
    use_plan(text, (uint32_t)size, ids, find_ids(data, size, ids));
    free(text);
    return 0;
}
