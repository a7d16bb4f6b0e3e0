/* test_scenario_many_groups.c - 8192 groups in one region behave like one. */
#include "scenario.h"

typedef struct {
    uint32_t largest_control;
    uint64_t control_bytes;
    uint64_t datagrams;
} wire_view;

/* Byte 1 of a packet is its kind; 1 is data, 11 carries membership. */
static void look(void *context, uint32_t from, const qsm_datagram *datagram) {
    wire_view *seen = context;
    (void)from;
    seen->datagrams++;
    if (datagram->bytes < 2 || datagram->data[1] == 1 || datagram->data[1] == 11) return;
    seen->control_bytes += datagram->bytes;
    if (datagram->bytes > seen->largest_control) seen->largest_control = datagram->bytes;
}

/* The same messages in that many groups; returns what the wire saw. */
static wire_view spread_over(uint32_t group_count, uint64_t *took_ns) {
    world_options options = scenario_options(100, 5, group_count);
    world *all = scenario_begin(&options);
    world_run(all, 2 * WORLD_S);
    wire_view seen = {.datagrams = 0};
    qsm_sim_tap(world_sim(all), look, &seen);
    const uint64_t start_ns = world_now_ns(all);
    for (uint32_t i = 0; i < 8192; i++) {
        CHECK(world_send(all, i % 5, i % group_count, 100) == QSM_OK);
        if (i % 64 == 63) world_run(all, WORLD_MS); /* no queue gets full */
    }
    (void)scenario_settle(all, 60 * WORLD_S, "messages in many groups");
    *took_ns = 0;
    for (uint32_t i = 0; i < group_count; i++) {
        const uint64_t last_ns = oracle_seat_last_delivery_ns(world_seat(all, 1, i));
        if (last_ns > start_ns + *took_ns) *took_ns = last_ns - start_ns;
    }
    world_run(all, 5 * WORLD_S);
    qsm_sim_tap(world_sim(all), NULL, NULL);
    scenario_end(all);
    return seen;
}

static void eight_thousand_groups_in_one_region_behave_like_one(void) {
    uint64_t one_ns = 0, many_ns = 0;
    const wire_view one = spread_over(8, &one_ns);
    const wire_view many = spread_over(8192, &many_ns);
    scenario_figure("8 groups: %.0f ms, %" PRIu64 " datagrams, largest token %u bytes",
                    (double)one_ns / 1e6, one.datagrams, one.largest_control);
    scenario_figure("8192 groups: %.0f ms, %" PRIu64 " datagrams, largest token %u bytes",
                    (double)many_ns / 1e6, many.datagrams, many.largest_control);
    CHECK_SAY(many.largest_control <= one.largest_control + 64,
              "nothing in a token grows with the number of groups");
    CHECK_SAY(many.control_bytes <= one.control_bytes * 3 / 2 + 10000, "nor does their number");
    CHECK_SAY(many_ns <= one_ns * 2, "and it is as fast");
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(eight_thousand_groups_in_one_region_behave_like_one),
    };
    return SCENARIO_MAIN("test_scenario_many_groups", scenarios);
}
