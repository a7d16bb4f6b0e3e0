/* test_parts.c - packets in parts: joined in any order, and dropped, counted and forgotten when
 * they make no sense or the rest does not come. */
#include "../fuzz/fuzz_world.h"
#include "core/engine.h"
#include "hostile.h"

enum { UNIT = QSM_SAFE_BYTES - QSM_HEADER_BYTES - 4, WHOLE = 3000, PARTS = 3 };

/* A part of a packet of `bytes` bytes, cut by node `as`. */
static uint32_t make_part(const fuzz_world *world, uint32_t as, uint32_t serial,
                          const uint8_t *whole, uint32_t bytes, uint32_t offset, uint32_t length,
                          uint8_t *part) {
    qsm_writer out =
        qsm_header_begin(part, QSM_DATAGRAM_BYTES_MAX, QSM_KIND_PART, world->ids[as], serial);
    qsm_write16(&out, (uint16_t)bytes);
    qsm_write16(&out, (uint16_t)offset);
    qsm_write_bytes(&out, whole, length);
    return qsm_header_finish(fuzz_keys(), &out);
}

static void inject(fuzz_world *world, uint32_t as, uint32_t serial, const uint8_t *whole,
                   uint32_t bytes, uint32_t offset, uint32_t length) {
    uint8_t part[QSM_DATAGRAM_BYTES_MAX];
    uint32_t used = make_part(world, as, serial, whole, bytes, offset, length, part);
    world_inject(world, as, VICTIM, part, used);
}

/* A data packet of that length for a region that nobody has: joined, read, and counted as such. */
static void make_whole(const fuzz_world *world, uint8_t *whole) {
    static uint8_t sealed[WHOLE];
    static qsm_data data;
    static const uint8_t tag[QSM_TAG_BYTES];
    data = (qsm_data){.sender = world->ids[0], .region_count = 1, .message_count = 1};
    data.regions[0] = (qsm_region_header){.region = 12345, .sequence = 1};
    data.messages[0] = (qsm_message){.group = 1, .view = 1, .number = 1, .count = 1, .tag = tag};
    data.messages[0].bytes = (uint16_t)(WHOLE - qsm_data_front_bytes(&data));
    uint32_t bytes = qsm_data_write(fuzz_keys(), whole, WHOLE, &data, sealed);
    hostile_check(bytes == WHOLE, "the packet is as long as it should be", bytes);
}

static uint64_t pool_bytes(fuzz_world *world) {
    return world_counter(world, VICTIM, "pool_bytes_now");
}

static void test_parts_are_joined_in_any_order(void) {
    static const uint32_t orders[][5] = {{0, 1, 2, 2, 2}, {2, 1, 0, 0, 0}, {1, 1, 2, 2, 0}};
    fuzz_world world;
    world_begin(&world, 21, NULL, NULL);
    uint8_t whole[WHOLE];
    make_whole(&world, whole);
    const uint64_t before = pool_bytes(&world);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 5; j++) {
            if (j >= PARTS && i < 2) break;
            uint32_t offset = orders[i][j] * UNIT, left = WHOLE - offset;
            inject(&world, 0, i, whole + offset, WHOLE, offset, left < UNIT ? left : UNIT);
        }
        hostile_check(world_counter(&world, VICTIM, "parts_joined") == i + 1, "it is whole", i);
        hostile_check(world_counter(&world, VICTIM, "data_unknown_region") == i + 1,
                      "and was read as if it had come whole", i);
    }
    hostile_check(world_counter(&world, VICTIM, "parts_dropped") == 0, "none was dropped", 0);
    hostile_check(pool_bytes(&world) == before, "the memory is given back", pool_bytes(&world));
    world_end(&world);
}

static void test_parts_that_make_no_sense_are_counted_and_change_nothing(void) {
    static const struct {
        uint32_t bytes, offset, length;
    } bad[] = {{WHOLE, 1, UNIT},
               {WHOLE, UNIT, UNIT - 1},
               {WHOLE, 2 * UNIT, UNIT},
               {WHOLE, 3 * UNIT, 100},
               {WHOLE, 0, 0},
               {QSM_SAFE_BYTES, 0, UNIT},
               {0, 0, 0},
               {100, 0, 100},
               {QSM_TORN_BYTES_MAX + 1, 0, UNIT},
               {65535, 8 * UNIT, UNIT},
               {UNIT, UNIT, 10},
               {WHOLE, 0xffff, 10}};
    fuzz_world world;
    world_begin(&world, 22, NULL, NULL);
    static const uint8_t rubbish[QSM_DATAGRAM_BYTES_MAX];
    const uint64_t before = pool_bytes(&world);
    const uint32_t count = sizeof bad / sizeof *bad;
    for (uint32_t i = 0; i < count; i++) {
        inject(&world, 0, i, rubbish, bad[i].bytes, bad[i].offset, bad[i].length);
        hostile_check(world_counter(&world, VICTIM, "parts_dropped") == i + 1, "it is counted", i);
        hostile_check(pool_bytes(&world) == before, "nothing is kept of it", i);
    }
    /* Of one serial, but of packets of different lengths. */
    inject(&world, 0, 100, rubbish, WHOLE, 0, UNIT);
    inject(&world, 0, 100, rubbish, WHOLE + 1, UNIT, UNIT);
    hostile_check(world_counter(&world, VICTIM, "parts_dropped") == count + 1, "it is counted", 0);
    inject(&world, WORLD_STRANGER, 101, rubbish, WHOLE, 0, UNIT);
    hostile_check(world_counter(&world, VICTIM, "dropped_stranger") > 0,
                  "a stranger's part is dropped", 0);
    hostile_check(qsm_sim_engine(world.sim, VICTIM)->parts.torn_count == 1, "and not kept", 0);
    world_end(&world);
}

static void test_whole_packets_that_are_forged_are_dropped(void) {
    fuzz_world world;
    world_begin(&world, 23, NULL, NULL);
    uint8_t whole[WHOLE];
    make_whole(&world, whole);
    whole[40] ^= 1;
    uint64_t before = world_counter(&world, VICTIM, "dropped_not_authentic");
    for (uint32_t offset = 0; offset < WHOLE; offset += UNIT)
        inject(&world, 0, 1, whole + offset, WHOLE, offset,
               WHOLE - offset < UNIT ? WHOLE - offset : UNIT);
    hostile_check(world_counter(&world, VICTIM, "dropped_not_authentic") == before + 1,
                  "its own tag is checked", 0);
    /* A part of a part, and a control packet in parts, are none of the engine's making. */
    uint8_t nested[QSM_DATAGRAM_BYTES_MAX];
    uint32_t bytes = make_part(&world, 0, 7, whole, WHOLE, 0, UNIT, nested);
    memset(nested + bytes, 0, sizeof nested - bytes);
    nested[2] = (uint8_t)(QSM_SAFE_BYTES + 10);
    nested[3] = (QSM_SAFE_BYTES + 10) >> 8;
    qsm_packet_tag(fuzz_keys(), nested, QSM_SAFE_BYTES + 10, nested + 16);
    inject(&world, 0, 2, nested, QSM_SAFE_BYTES + 10, 0, UNIT);
    inject(&world, 0, 2, nested + UNIT, QSM_SAFE_BYTES + 10, UNIT, QSM_SAFE_BYTES + 10 - UNIT);
    hostile_check(world_counter(&world, VICTIM, "dropped_not_authentic") == before + 2,
                  "only data comes in parts", 0);
    world_end(&world);
}

static void test_packets_of_which_the_rest_does_not_come_are_forgotten(void) {
    fuzz_world world;
    world_begin(&world, 24, NULL, NULL);
    static const uint8_t rubbish[QSM_DATAGRAM_BYTES_MAX];
    const uint64_t before = pool_bytes(&world);
    const qsm_parts *parts = &qsm_sim_engine(world.sim, VICTIM)->parts;
    for (uint32_t serial = 0; serial < 1000; serial++)
        inject(&world, 0, serial, rubbish, QSM_TORN_BYTES_MAX, 0, UNIT);
    hostile_check(parts->torn_count == QSM_TORN_MAX / 4, "one node has a share", parts->torn_count);
    for (uint32_t serial = 0; serial < 1000; serial++)
        inject(&world, OTHER, serial, rubbish, QSM_TORN_BYTES_MAX, 0, UNIT);
    hostile_check(parts->torn_count == QSM_TORN_MAX / 2, "the other another", parts->torn_count);
    hostile_check(pool_bytes(&world) <= before + QSM_TORN_MAX / 2 * QSM_MEDIUM_BUFFER_BYTES,
                  "memory is bounded", pool_bytes(&world));
    world_run(&world, 2500);
    hostile_check(parts->torn_count == 0, "after a while all are dropped", parts->torn_count);
    hostile_check(world_counter(&world, VICTIM, "parts_dropped") == 2000, "and counted",
                  world_counter(&world, VICTIM, "parts_dropped"));
    world_end(&world);
}

int main(void) {
    test_parts_are_joined_in_any_order();
    test_parts_that_make_no_sense_are_counted_and_change_nothing();
    test_whole_packets_that_are_forged_are_dropped();
    test_packets_of_which_the_rest_does_not_come_are_forgotten();
    return hostile_end();
}
