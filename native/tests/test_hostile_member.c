/*
 * test_hostile_member.c - what a member that has all keys can do with well-formed packets of
 * unlikely content: cost others little, and be counted. With --full in the amount of the goals.
 */
#include <time.h>

#include "../fuzz/fuzz_world.h"
#include "core/engine.h"
#include "hostile.h"
#include "hostile_packets.h"
#include "membership/client.h"
#include "membership/hearing.h"
#include "membership/region.h"
#include "sending/sender.h"

static uint32_t packets_tried = 6000;

enum { STEP_BYTES_MAX = 65536 };

static double seconds_of_cpu(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The queue of repairs is made when it is first needed, once and for all. */
static void warm_up(fuzz_world *world) {
    static qsm_control control;
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    for (uint32_t to = 0; to < WORLD_NODES; to++) {
        uint32_t as = (to + 1) % WORLD_NODES;
        uint64_t seed = 16;
        control.pull.region = hostile_region(world, to, &seed);
        control.pull.stream = world->ids[to];
        control.pull.range_count = 1;
        control.pull.ranges[0] = (qsm_range){.first = 1, .last = 1};
        uint32_t bytes = qsm_control_write(fuzz_keys(), QSM_KIND_PULL, world->ids[as],
                                           ++world->counters[as], &control, packet, sizeof packet);
        world_inject(world, as, to, packet, bytes);
    }
}

/* One packet of a member makes a node neither allocate much nor work long. Under sanitizers 65,536
 * steps of a loop take about a millisecond; there is room for a slow machine. */
static void test_one_packet_costs_little(void) {
    fuzz_world world;
    uint64_t seed = 7;
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX], kind;
    const uint32_t packets_a_world = 1500;
    for (uint32_t round = 0; round < packets_tried / packets_a_world; round++) {
        world_begin(&world, 10 + round, NULL, NULL);
        warm_up(&world);
        for (uint32_t i = 0; i < packets_a_world; i++) {
            uint32_t as = (uint32_t)(hostile_draw(&seed) % WORLD_NODES);
            uint32_t to =
                (as + 1 + (uint32_t)(hostile_draw(&seed) % (WORLD_NODES - 1))) % WORLD_NODES;
            uint32_t bytes = hostile_packet(&world, as, to, &seed, packet, &kind);
            size_t allocated = world_allocated();
            double began = seconds_of_cpu();
            world_inject(&world, as, to, packet, bytes);
            hostile_check(seconds_of_cpu() - began < 0.1, "a packet is handled at once (kind)",
                          kind);
            size_t now = world_allocated();
            hostile_check(now <= allocated + STEP_BYTES_MAX,
                          "a packet allocates at most 64 KB (kind)", kind);
            if (i % 50 == 0) world_run(&world, 30);
        }
        uint64_t refused = 0; /* before they are looked at: then this tests nothing */
        for (uint32_t n = 0; n < WORLD_NODES; n++)
            refused += world_counter(&world, n, "dropped_other_side");
        hostile_check(refused < packets_a_world / 4, "most are looked at", refused);
        for (uint32_t n = 0; n < WORLD_NODES; n++)
            hostile_check(world_counter(&world, n, "pool_bytes_now") <= 3u * WORLD_RECEIVE_BYTES,
                          "memory is bounded", n);
        world_end(&world);
    }
}

static void put32(uint8_t *at, uint32_t value) {
    for (uint32_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* One of them tells the host what it hears: of two lists of ids as many bytes as it says. */
typedef struct {
    uint8_t hears;
    uint32_t count, bytes;
    bool rests;
    uint32_t missed, missed_bytes;
} told_hearing;

/* Whether the host has taken it and made a new batch; if not, it has counted it. In no case a
 * region goes by unicast. */
static bool is_believed(const told_hearing *told) {
    uint8_t message[10 + 16 * (QSM_UNHEARD_MAX + 1)] = {QSM_TO_HOST_HEARING, told->hears};
    uint32_t bytes = 6 + told->bytes, host = 0;
    put32(message + 2, told->count);
    if (told->rests) {
        put32(message + bytes, told->missed);
        bytes += 4 + told->missed_bytes;
    }
    fuzz_world world;
    world_begin(&world, 8, NULL, NULL);
    while (qsm_engine_health(qsm_sim_engine(world.sim, host)) != QSM_HEALTH_HOST)
        host++;
    uint64_t refused = world_counter(&world, host, "dropped_malformed");
    uint64_t batches = world_counter(&world, host, "hosted_batches");
    world_inject_message(&world, (host + 1) % WORLD_NODES, host, message, bytes);
    world_run(&world, 200);
    refused = world_counter(&world, host, "dropped_malformed") - refused;
    batches = world_counter(&world, host, "hosted_batches") - batches;
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        hostile_check(world_counter(&world, n, "unicast_now") == 0, "no region is concerned", n);
    hostile_check((batches > 0) != (refused == 1), "one or the other", told->count);
    world_end(&world);
    return batches > 0;
}

/* A member that tells nonsense about whom it hears is counted, and no region changes for it. */
static void test_nonsense_about_hearing_changes_nothing(void) {
    static const told_hearing nonsense[] = {
        {.hears = QSM_HEARS_COUNT},
        {.hears = 255},
        {.count = 1},
        {.bytes = 8},
        {.count = 2, .bytes = 15},
        {.count = 0x20000000}, /* times eight is nought in 32 bits */
        {.count = QSM_UNHEARD_MAX + 1, .bytes = 8 * (QSM_UNHEARD_MAX + 1)},
        {.rests = true, .missed = 1},
        {.rests = true, .missed_bytes = 1},
        {.rests = true, .missed = 2, .missed_bytes = 15},
        {.rests = true, .missed = 2, .missed_bytes = 17},
        {.rests = true, .missed = 0x20000000},
        {.rests = true, .missed = QSM_UNHEARD_MAX + 1, .missed_bytes = 8 * (QSM_UNHEARD_MAX + 1)}};
    /* What makes sense is believed, of any number of strangers and of regions that are not. */
    static const told_hearing sense[] = {
        {.count = QSM_UNHEARD_MAX, .bytes = 8 * QSM_UNHEARD_MAX},
        {.rests = true, .missed = QSM_UNHEARD_MAX, .missed_bytes = 8 * QSM_UNHEARD_MAX},
        {.rests = true}};
    for (uint32_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        hostile_check(!is_believed(&nonsense[i]), "it is counted and changes nothing", i);
    for (uint32_t i = 0; i < sizeof sense / sizeof *sense; i++)
        hostile_check(is_believed(&sense[i]), "it is taken, and concerns no region", i);
}

/* A member tells the victim that everybody has all of that stream in the region. */
static void acknowledge(fuzz_world *world, const qsm_sender *sender, uint64_t stream) {
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    const qsm_engine *engine = sender->region->engine;
    const qsm_control told = {.ack = {.region = sender->region->uid,
                                      .stream = stream,
                                      .low = sender->high,
                                      .batch = qsm_batch(engine)},
                              .side = qsm_side(engine)};
    uint32_t bytes = qsm_control_write(fuzz_keys(), QSM_KIND_ACK, world->ids[OTHER],
                                       ++world->counters[OTHER], &told, packet, sizeof packet);
    world_inject(world, OTHER, VICTIM, packet, bytes);
}

/* Who was put out is back at the same address under another id. What is still said of its former
 * stream in a region is not about the one that it has there now. */
static void test_an_acknowledgement_of_a_former_id_does_not_count(void) {
    fuzz_world world;
    world_begin(&world, 9, NULL, NULL);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        qsm_sim_block(world.sim, VICTIM, n, true);
    world_send(&world, VICTIM, 0, "nobody hears this");
    world_run(&world, 10);
    const qsm_engine *engine = qsm_sim_engine(world.sim, VICTIM);
    const qsm_sender *sender = NULL;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->sender != NULL && region->sender->acked < region->sender->high)
            sender = region->sender;
    hostile_check(sender != NULL, "something is not acknowledged", 0);
    if (sender != NULL) {
        acknowledge(&world, sender, world.ids[WORLD_STRANGER]);
        hostile_check(sender->acked < sender->high, "it is not by what is said of another", 0);
        acknowledge(&world, sender, world.ids[VICTIM]);
        hostile_check(sender->acked == sender->high, "it is by what is said of it", 0);
    }
    world_end(&world);
}

int main(int argc, char **argv) {
    if (hostile_in_full(argc, argv)) packets_tried = 10000000;
    test_one_packet_costs_little();
    test_nonsense_about_hearing_changes_nothing();
    test_an_acknowledgement_of_a_former_id_does_not_count();
    return hostile_end();
}
