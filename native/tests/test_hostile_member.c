/*
 * test_hostile_member.c - what a member that has all keys can do with well-formed packets of
 * unlikely content: cost others little, and be counted. With --full in the amount of the goals.
 */
#include <time.h>

#include "../fuzz/fuzz_world.h"
#include "core/engine.h"
#include "hostile.h"
#include "membership/client.h"
#include "membership/hearing.h"
#include "membership/region.h"
#include "sending/sender.h"

static uint32_t packets_tried = 6000;

enum { STEP_BYTES_MAX = 65536 };

/* Numbers that are near something, or far from everything. */
static uint64_t draw_number(uint64_t *seed) {
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     7,
                                     8,
                                     63,
                                     64,
                                     65,
                                     1000,
                                     65535,
                                     65536,
                                     65537,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 40,
                                     INT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    uint64_t what = hostile_draw(seed);
    uint64_t edge = edges[(what >> 8) % (sizeof edges / sizeof *edges)];
    return what % 8 == 0 ? hostile_draw(seed) : edge + (what >> 16) % 3 - 1;
}

static uint64_t draw_region(fuzz_world *world, uint32_t node, uint64_t *seed) {
    qsm_region_info regions[16];
    int count = qsm_engine_regions(qsm_sim_engine(world->sim, node), regions, 16);
    if (count <= 0 || hostile_draw(seed) % 16 == 0) return hostile_draw(seed);
    return regions[hostile_draw(seed) % (uint64_t)(count < 16 ? count : 16)].region;
}

static uint64_t draw_node(fuzz_world *world, uint64_t *seed) {
    return hostile_draw(seed) % 16 ? world->ids[hostile_draw(seed) % WORLD_NODES]
                                   : hostile_draw(seed);
}

static uint8_t draw_ranges(qsm_range *ranges, uint32_t count_max, uint64_t *seed) {
    uint64_t at = hostile_draw(seed) % 4 ? hostile_draw(seed) % 100 : draw_number(seed);
    uint32_t count = (uint32_t)(hostile_draw(seed) % (count_max + 1));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length =
            hostile_draw(seed) % 3 ? hostile_draw(seed) % 100 + 1 : QSM_STREAM_SLOTS_MAX;
        ranges[i] = (qsm_range){.first = at + 1, .last = at + length};
        at += length + 1 + hostile_draw(seed) % 3;
    }
    return (uint8_t)count;
}

/* Mostly the side that the receiver is on and a batch that it knows: with any other nearly all
 * would be refused before it is looked at. */
static uint32_t draw_side(fuzz_world *world, uint32_t to, uint64_t *seed) {
    return hostile_draw(seed) % 16 ? qsm_side(qsm_sim_engine(world->sim, to))
                                   : (uint32_t)hostile_draw(seed);
}

static uint32_t draw_batch(fuzz_world *world, uint32_t to, uint64_t *seed) {
    return hostile_draw(seed) % 8 ? qsm_batch(qsm_sim_engine(world->sim, to))
                                  : (uint32_t)hostile_draw(seed);
}

static void draw_token(fuzz_world *world, uint32_t to, qsm_token *token, uint64_t *seed) {
    token->region = draw_region(world, to, seed);
    token->batch = draw_batch(world, to, seed);
    token->level = (uint8_t)(hostile_draw(seed) % 3);
    token->ring = (uint16_t)(hostile_draw(seed) % 2);
    token->origin = draw_node(world, seed);
    token->round = (uint32_t)draw_number(seed);
    token->record_count = (uint8_t)(hostile_draw(seed) % 6);
    for (uint32_t i = 0; i < token->record_count; i++) {
        qsm_token_record *record = &token->records[i];
        record->stream = draw_node(world, seed);
        record->high = draw_number(seed);
        record->low =
            hostile_draw(seed) % 2 ? record->high : draw_number(seed) % (record->high | 1);
        record->cached = hostile_draw(seed) % 2 ? record->high : 0;
        record->stable = hostile_draw(seed) % 2 ? record->high : 0;
        record->cut = draw_number(seed);
        record->lost = (uint16_t)hostile_draw(seed);
        record->participants = (uint16_t)hostile_draw(seed);
        record->gap_count = draw_ranges(record->gaps, QSM_TOKEN_GAPS_MAX, seed);
    }
}

/* A well-formed control packet with unlikely content. Returns its length. */
static uint32_t draw_control(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                             uint8_t *packet, uint8_t *kind) {
    static const uint8_t kinds[] = {QSM_KIND_STATUS,       QSM_KIND_PULL,          QSM_KIND_TOKEN,
                                    QSM_KIND_TOKEN_ACK,    QSM_KIND_ACK,           QSM_KIND_NUDGE,
                                    QSM_KIND_ORPHAN_QUERY, QSM_KIND_ORPHAN_REPORT, QSM_KIND_PING,
                                    QSM_KIND_CALL};
    static qsm_control c;
    memset(&c, 0, sizeof c);
    *kind = kinds[hostile_draw(seed) % sizeof kinds];
    c.side = draw_side(world, to, seed);
    switch (*kind) {
    case QSM_KIND_STATUS:
        c.status.region = draw_region(world, to, seed);
        c.status.batch = draw_batch(world, to, seed);
        c.status.high = draw_number(seed);
        c.status.stable = hostile_draw(seed) % 2 ? c.status.high : 0;
        c.status.fin = hostile_draw(seed) % 2;
        break;
    case QSM_KIND_PULL:
        c.pull.region = draw_region(world, to, seed);
        c.pull.stream = draw_node(world, seed);
        c.pull.meaning = (uint8_t)(hostile_draw(seed) % QSM_PULL_MEANINGS);
        c.pull.range_count = draw_ranges(c.pull.ranges, QSM_RANGES_MAX, seed);
        break;
    case QSM_KIND_TOKEN: draw_token(world, to, &c.token, seed); break;
    case QSM_KIND_TOKEN_ACK:
        c.token_ack.region = draw_region(world, to, seed);
        c.token_ack.origin = draw_node(world, seed);
        c.token_ack.round = (uint32_t)draw_number(seed);
        break;
    case QSM_KIND_ACK:
        c.ack.region = draw_region(world, to, seed);
        c.ack.batch = draw_batch(world, to, seed);
        c.ack.stream = hostile_draw(seed) % 2 ? world->ids[to] : draw_node(world, seed);
        c.ack.low = draw_number(seed);
        c.ack.lost = (uint16_t)hostile_draw(seed);
        break;
    case QSM_KIND_NUDGE:
        c.nudge.region = draw_region(world, to, seed);
        c.nudge.stream = draw_node(world, seed);
        c.nudge.high = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_QUERY:
        c.orphan_query.region = draw_region(world, to, seed);
        c.orphan_query.batch = draw_batch(world, to, seed);
        c.orphan_query.stream = draw_node(world, seed);
        c.orphan_query.attempt = (uint32_t)draw_number(seed);
        c.orphan_query.from = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        c.orphan_report.region = draw_region(world, to, seed);
        c.orphan_report.batch = draw_batch(world, to, seed);
        c.orphan_report.stream = draw_node(world, seed);
        c.orphan_report.attempt = (uint32_t)hostile_draw(seed) % 4;
        c.orphan_report.stable = draw_number(seed);
        c.orphan_report.range_count = draw_ranges(c.orphan_report.ranges, QSM_RANGES_MAX, seed);
        break;
    case QSM_KIND_CALL: c.call.pause_ms = (uint32_t)draw_number(seed); break;
    default:
        c.ping.nonce = hostile_draw(seed);
        c.ping.epoch.term = draw_number(seed);
        c.ping.epoch.host = draw_node(world, seed);
        c.ping.applied = draw_number(seed);
        c.ping.members = (uint32_t)hostile_draw(seed);
    }
    return qsm_control_write(fuzz_keys(), *kind, world->ids[as], ++world->counters[as], &c, packet,
                             QSM_DATAGRAM_BYTES_MAX);
}

/* A data packet whose front is good and whose messages are rubbish. */
static uint32_t draw_data(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                          uint8_t *packet) {
    static qsm_data data;
    static uint8_t rubbish[512];
    memset(&data, 0, sizeof data);
    data.sender = world->ids[as];
    data.side = draw_side(world, to, seed);
    data.batch = draw_batch(world, to, seed);
    data.flags = (uint8_t)(hostile_draw(seed) % 4);
    data.region_count = 1;
    data.regions[0].region = draw_region(world, to, seed);
    data.regions[0].sequence =
        hostile_draw(seed) % 2 ? hostile_draw(seed) % 70000 + 1 : draw_number(seed) | 1;
    data.regions[0].stable = hostile_draw(seed) % 2 ? data.regions[0].sequence - 1 : 0;
    data.message_count = (uint8_t)(hostile_draw(seed) % 4);
    for (uint32_t i = 0; i < data.message_count; i++) {
        data.messages[i] = (qsm_message){.group = (uint32_t)(hostile_draw(seed) % 4),
                                         .view = hostile_draw(seed) % 2 ? 0 : draw_number(seed),
                                         .number = draw_number(seed) | 1,
                                         .previous = draw_number(seed),
                                         .bytes = (uint16_t)(hostile_draw(seed) % 100),
                                         .flags = (uint8_t)(hostile_draw(seed) % 64),
                                         .count = (uint16_t)(hostile_draw(seed) % 8),
                                         .tag = rubbish};
    }
    data.hole_count = hostile_draw(seed) % 4 ? 0 : draw_ranges(data.holes, 20, seed);
    return qsm_data_write(fuzz_keys(), packet, QSM_DATAGRAM_BYTES_MAX, &data, rubbish);
}

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
        control.pull.region = draw_region(world, to, &seed);
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
            kind = QSM_KIND_DATA;
            uint32_t bytes = hostile_draw(&seed) % 4
                                 ? draw_control(&world, as, to, &seed, packet, &kind)
                                 : draw_data(&world, as, to, &seed, packet);
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
