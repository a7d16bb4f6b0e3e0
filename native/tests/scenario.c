/* scenario.c - see scenario.h. */
#include "scenario.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static uint32_t failed_count;

int scenario_main(const char *program, const scenario *scenarios, size_t count) {
    const char *only = getenv("SCENARIO_ONLY");
    size_t run = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (only != NULL && strstr(scenarios[i].name, only) == NULL) continue;
        failed_count = 0;
        printf("%s\n", scenarios[i].name);
        fflush(stdout);
        scenarios[i].run();
        run++;
        if (failed_count == 0) continue;
        failed++;
        printf("replay: SCENARIO_VERBOSE=1 SCENARIO_ONLY=%s %s\n", scenarios[i].name, program);
    }
    printf("%zu scenarios, %zu failed\n", run, failed);
    return failed == 0 ? 0 : 1;
}

void scenario_check(bool holds, const char *file, int line, const char *format, ...) {
    if (holds) return;
    failed_count++;
    fflush(stdout);
    fprintf(stderr, "%s:%d: not so: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void scenario_figure(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("    ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

world_options scenario_options(uint64_t seed, uint32_t node_count, uint32_t group_count) {
    const char *other = getenv("SCENARIO_SEED");
    if (other != NULL) seed = strtoull(other, NULL, 10);
    world_options options = world_defaults(seed, node_count, group_count);
    options.verbose = getenv("SCENARIO_VERBOSE") != NULL;
    return options;
}

world *scenario_begin(const world_options *options) {
    world *under_test = world_create(options);
    for (uint32_t group = 0; group < options->group_count; group++) {
        world_join_all(under_test, group);
    }
    (void)scenario_settle(under_test, 20 * WORLD_S, "coming up");
    return under_test;
}

void scenario_end(world *under_test) {
    world_finish(under_test, 60 * WORLD_S);
    if (world_failure(under_test) != NULL) {
        CHECK_SAY(false, "%s", world_failure(under_test));
        if (getenv("SCENARIO_VERBOSE") != NULL) {
            for (uint32_t i = 0; i < world_node_count(under_test); i++) {
                world_print_trace(under_test, i);
            }
        }
    }
    world_destroy(under_test);
}

static uint64_t check_within(world *under_test, bool (*run)(world *, uint64_t), uint64_t limit_ns,
                             const char *what) {
    const uint64_t start_ns = world_now_ns(under_test);
    const bool so = run(under_test, limit_ns);
    const uint64_t took_ns = world_now_ns(under_test) - start_ns;
    CHECK_SAY(so, "%s: not after %.1f s%s%s", what, (double)took_ns / 1e9,
              world_failure(under_test) == NULL ? "" : ": ",
              world_failure(under_test) == NULL ? "" : world_failure(under_test));
    return took_ns;
}

uint64_t scenario_settle(world *under_test, uint64_t limit_ns, const char *what) {
    return check_within(under_test, world_settle, limit_ns, what);
}

uint64_t scenario_agree(world *under_test, uint64_t limit_ns, const char *what) {
    return check_within(under_test, world_agree, limit_ns, what);
}

uint64_t scenario_deliveries_but(const world *under_test, uint32_t group, uint32_t node) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        const oracle_seat *seat = world_seat(under_test, i, group);
        if (i != node && seat != NULL) count += oracle_seat_deliveries(seat);
    }
    return count;
}

uint64_t scenario_deliveries(const world *under_test, uint32_t group) {
    return scenario_deliveries_but(under_test, group, UINT32_MAX);
}

uint64_t scenario_stall_ns(world *under_test, uint32_t group, uint32_t node) {
    uint64_t longest_ns = 0;
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        const oracle_seat *seat = world_seat(under_test, i, group);
        if (i == node || seat == NULL) continue;
        uint64_t stall_ns = oracle_seat_stall_ns(seat);
        const uint64_t since_ns = world_now_ns(under_test) - oracle_seat_last_delivery_ns(seat);
        if (since_ns > stall_ns) stall_ns = since_ns;
        if (stall_ns > longest_ns) longest_ns = stall_ns;
    }
    return longest_ns;
}

void scenario_reset_stalls(world *under_test, uint32_t group) {
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        oracle_seat *seat = world_seat(under_test, i, group);
        if (seat != NULL) oracle_seat_reset_stall(seat, world_now_ns(under_test));
    }
}

uint32_t scenario_host(world *under_test) {
    uint32_t host = UINT32_MAX;
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        if (world_health(under_test, i) != QSM_HEALTH_HOST) continue;
        if (host != UINT32_MAX) return UINT32_MAX;
        host = i;
    }
    return host;
}

uint64_t scenario_repairs_asked(world *all) {
    return world_counter_sum(all, "pulls_sent");
}

uint64_t scenario_repairs_made(world *all) {
    return world_counter_sum(all, "repairs_sent") + world_counter_sum(all, "repairs_multicast");
}
