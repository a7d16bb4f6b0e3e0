/*
 * test_hostile.c - what a stranger, a changed packet, a replayed one or a hostile member can do: be
 * counted.
 *
 * A fixed number of steps, so that it runs with the other tests; with --full as many as the goals
 * S1, S4 and F3 name (make hostile). The fuzz targets go on from here. It uses their small world.
 */
#include <time.h>

#include "../fuzz/fuzz_world.h"
#include "core/engine.h"
#include "membership/client.h"
#include "membership/hearing.h"
#include "membership/region.h"
#include "sending/sender.h"

static uint32_t passed_count, failed_count;

/* How much is tried. */
typedef struct {
    uint32_t changed_packets; /* with every bit changed in turn */
    uint32_t replays;
    uint32_t rubbish;   /* packets of somebody without a key */
    uint32_t questions; /* of somebody with the key who is no member */
    uint32_t member_packets;
} amounts;

static const amounts SHARE = {40, 2000, 20000, 4000, 6000};
static const amounts FULL = {10000, 1000000, 1000000, 100000, 10000000};
static amounts tried;

static void check(bool holds, const char *fact, uint64_t which) {
    if (holds) {
        passed_count++;
        return;
    }
    failed_count++;
    if (failed_count <= 30) fprintf(stderr, "failed: %s (%llu)\n", fact, (unsigned long long)which);
}

/* ---- what has been on the wire --------------------------------------------------------------- */

enum { CAPTURED_MAX = 6000, VICTIM = 1, OTHER = 2, UNHEARD = 8 };

typedef struct {
    uint8_t bytes[QSM_DATAGRAM_BYTES_MAX];
    uint32_t count;
    uint32_t from;
} captured;

static captured *packets;
static uint32_t packet_count;
static bool capturing;

/* Keeps what the victim is sent. */
static void capture(void *context, uint32_t from, const qsm_datagram *datagram) {
    (void)context;
    qsm_address victim = qsm_sim_address(VICTIM, false);
    bool to_victim = datagram->to.multicast || memcmp(&datagram->to, &victim, sizeof victim) == 0;
    if (!capturing || !to_victim || from == VICTIM || packet_count == CAPTURED_MAX) return;
    captured *packet = &packets[packet_count++];
    memcpy(packet->bytes, datagram->data, datagram->bytes);
    packet->count = datagram->bytes;
    packet->from = from;
}

/* All that a node may be changed by, but for the counters of what it refused. The trace has every
 * packet that was authentic, refused or not, so it is compared only where none was. */
typedef struct {
    uint64_t trace;
    uint64_t counters[256];
    uint64_t delivered;
} state;

static bool counts_refusals(const char *name) {
    static const char *const names[] = {"datagrams_received",    "bytes_received",
                                        "dropped_not_authentic", "dropped_malformed",
                                        "dropped_replayed",      "dropped_stranger",
                                        "data_received",         "data_unknown_region",
                                        "data_duplicate",        "data_from_dead_sender"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static state state_of(fuzz_world *world, uint32_t node) {
    state now = {.trace = qsm_engine_trace_hash(qsm_sim_engine(world->sim, node)),
                 .delivered = world->delivered[node]};
    uint32_t count = qsm_engine_counters(qsm_sim_engine(world->sim, node), now.counters, 256);
    for (uint32_t i = 0; i < count; i++)
        if (counts_refusals(qsm_counter_name(i))) now.counters[i] = 0;
    return now;
}

static bool same_but_trace(const state *a, const state *b) {
    bool same =
        a->delivered == b->delivered && memcmp(a->counters, b->counters, sizeof a->counters) == 0;
    for (uint32_t i = 0; !same && i < qsm_counter_count() && failed_count < 20; i++)
        if (a->counters[i] != b->counters[i])
            fprintf(stderr, "  %s: %llu, was %llu\n", qsm_counter_name(i),
                    (unsigned long long)b->counters[i], (unsigned long long)a->counters[i]);
    return same;
}

static bool same_state(const state *a, const state *b) {
    return a->trace == b->trace && same_but_trace(a, b);
}

/* ---- changed packets ------------------------------------------------------------------------- */

/* Packets of some traffic that the victim has not received: its ears were closed. */
static void capture_unheard(fuzz_world *world, uint64_t seed) {
    world_begin(world, seed, capture, NULL);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        qsm_sim_block(world->sim, n, VICTIM, true);
    packet_count = 0;
    capturing = true;
    for (int i = 0; i < UNHEARD / 2; i++) {
        world_send(world, 0, 0, "not heard by the victim at first");
        world_send(world, OTHER, 1, "neither is this");
        world_run(world, 10);
    }
    capturing = false;
}

/* Every single bit of the packet's front, changed alone, changes nothing. What is behind the front
 * is covered by the seals of the messages. */
static void try_front_bits(fuzz_world *world, const captured *packet, uint32_t which) {
    uint8_t changed[QSM_DATAGRAM_BYTES_MAX];
    uint32_t front = packet->bytes[2] | (uint32_t)packet->bytes[3] << 8;
    state before = state_of(world, VICTIM);
    for (uint32_t bit = 0; bit < front * 8; bit++) {
        memcpy(changed, packet->bytes, packet->count);
        changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        world_inject(world, packet->from, VICTIM, changed, packet->count);
        state after = state_of(world, VICTIM);
        check(same_state(&before, &after), "a changed bit changes nothing (packet)", which);
    }
}

static void try_sealed_bits(fuzz_world *world, const captured *packet) {
    uint8_t changed[QSM_DATAGRAM_BYTES_MAX];
    uint32_t front = packet->bytes[2] | (uint32_t)packet->bytes[3] << 8;
    for (uint32_t bit = front * 8; bit < packet->count * 8; bit++) {
        memcpy(changed, packet->bytes, packet->count);
        changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        world_inject(world, packet->from, VICTIM, changed, packet->count);
    }
}

static void unblock(fuzz_world *world) {
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        qsm_sim_block(world->sim, n, VICTIM, false);
    world_run(world, 3000);
}

/* Returns how many packets were changed. */
static uint32_t change_bits(uint64_t seed, uint32_t count_max) {
    fuzz_world world;
    capture_unheard(&world, seed);
    check(packet_count > 8, "there was traffic to change", packet_count);
    uint32_t count = packet_count < count_max ? packet_count : count_max;
    for (uint32_t i = 0; i < count; i++)
        try_front_bits(&world, &packets[i], i);
    uint64_t before = world.delivered[VICTIM];
    unblock(&world);
    check(world.delivered[VICTIM] == before + UNHEARD, "the genuine messages arrive",
          world.delivered[VICTIM] - before);
    world_end(&world);
    return count;
}

static void test_a_changed_bit_is_noticed(void) {
    uint64_t seed = 3;
    for (uint32_t left = tried.changed_packets; left > 0;)
        left -= change_bits(seed++, left);
}

/* A stranger changes what a packet carries, and is faster than the genuine packet. */
static uint32_t change_messages(uint64_t seed, uint32_t count_max) {
    fuzz_world world;
    capture_unheard(&world, seed);
    uint64_t before = world.delivered[VICTIM];
    uint32_t count = packet_count < count_max ? packet_count : count_max;
    for (uint32_t i = 0; i < count; i++)
        try_sealed_bits(&world, &packets[i]);
    check(world.delivered[VICTIM] == before, "nothing is delivered of changed messages", 0);
    unblock(&world);
    check(world.delivered[VICTIM] == before + UNHEARD, "the genuine messages arrive",
          world.delivered[VICTIM] - before);
    world_end(&world);
    return count;
}

static void test_a_changed_message_does_not_keep_the_genuine_one_out(void) {
    uint64_t seed = 3;
    for (uint32_t left = tried.changed_packets; left > 0;)
        left -= change_messages(seed++, left);
}

/* Cut, lengthened and made of nothing. */
static void test_packets_of_other_lengths_are_noticed(void) {
    fuzz_world world;
    capture_unheard(&world, 3);
    uint8_t changed[QSM_DATA_BYTES_MAX + 600];
    for (uint32_t i = 0; i < packet_count && i < 12; i++) {
        state before = state_of(&world, VICTIM);
        for (uint32_t bytes = 0; bytes < packets[i].count; bytes++)
            world_inject(&world, packets[i].from, VICTIM, packets[i].bytes, bytes);
        memset(changed, 0, sizeof changed);
        memcpy(changed, packets[i].bytes, packets[i].count);
        for (uint32_t more = 1; packets[i].count + more <= sizeof changed; more += 7)
            world_inject(&world, packets[i].from, VICTIM, changed, packets[i].count + more);
        state after = state_of(&world, VICTIM);
        check(same_but_trace(&before, &after), "cut or lengthened packets change nothing", i);
    }
    world_end(&world);
}

/* ---- replays --------------------------------------------------------------------------------- */

static void test_replays_are_not_accepted(void) {
    fuzz_world world;
    packet_count = 0;
    capturing = true;
    world_begin(&world, 4, capture, NULL);
    for (int i = 0; i < 50; i++) {
        world_send(&world, 0, 0, "a message to be replayed");
        world_send(&world, OTHER, 1, "another one");
        world_run(&world, 20);
    }
    world_run(&world, 500);
    capturing = false;
    check(packet_count > 100, "there was traffic to replay", packet_count);
    for (uint32_t replay = 0; replay < tried.replays; replay++) {
        const captured *packet = &packets[replay % packet_count];
        state before = state_of(&world, VICTIM);
        world_inject(&world, packet->from, VICTIM, packet->bytes, packet->count);
        state after = state_of(&world, VICTIM);
        check(same_but_trace(&before, &after), "a replayed packet changes nothing (kind)",
              packet->bytes[1]);
    }
    uint64_t delivered[WORLD_NODES];
    memcpy(delivered, world.delivered, sizeof delivered);
    world_run(&world, 1000);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        check(world.delivered[n] == delivered[n], "nothing is delivered twice", n);
    world_send(&world, 0, 0, "a message after the replays");
    world_run(&world, 500);
    check(world.delivered[VICTIM] == delivered[VICTIM] + 1, "and all goes on", 0);
    world_end(&world);
}

/* ---- strangers ------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Who has no key gets no answer at all, and changes nothing. */
static void test_who_has_no_key_gets_no_answer(void) {
    fuzz_world quiet, world;
    world_begin(&quiet, 5, NULL, NULL);
    world_begin(&world, 5, NULL, NULL);
    uint64_t seed = 1;
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    for (uint32_t i = 0; i < tried.rubbish; i++) {
        uint32_t bytes = (uint32_t)(draw(&seed) % sizeof packet);
        for (uint32_t b = 0; b < bytes; b++)
            packet[b] = (uint8_t)draw(&seed);
        if (bytes > 4) {
            packet[0] = QSM_WIRE_VERSION;
            packet[1] = (uint8_t)(draw(&seed) % QSM_KIND_COUNT);
            packet[2] = (uint8_t)bytes;
            packet[3] = (uint8_t)(bytes >> 8);
        }
        world_inject(&world, WORLD_STRANGER, i % WORLD_NODES, packet, bytes);
    }
    world_run(&quiet, 3000);
    world_run(&world, 3000);
    check(world.stranger_bytes == 0, "nothing is sent to a stranger", world.stranger_bytes);
    check(world.sent_bytes == quiet.sent_bytes, "nobody says more than without it",
          world.sent_bytes - quiet.sent_bytes);
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        state a = state_of(&quiet, n), b = state_of(&world, n);
        check(same_state(&a, &b), "and nobody is changed", n);
    }
    world_end(&quiet);
    world_end(&world);
}

/* Who has the key but is no member gets at most what it sends. */
static void test_who_is_not_a_member_gets_no_more_than_it_sends(void) {
    fuzz_world world;
    world_begin(&world, 6, NULL, NULL);
    uint64_t seed = 2;
    for (uint32_t i = 0; i < tried.questions; i++) {
        uint8_t kind = (uint8_t)(1 + i % (QSM_KIND_COUNT - 1));
        qsm_control control;
        memset(&control, 0, sizeof control);
        control.solicit.address = qsm_sim_address(WORLD_STRANGER, false);
        if (kind == QSM_KIND_SOLICIT) control.solicit.multicast = i / 16 % 2;
        if (kind == QSM_KIND_PING) control.ping.nonce = draw(&seed);
        if (kind == QSM_KIND_LINK) control.link.receiver = world.ids[i % WORLD_NODES];
        if (kind == QSM_KIND_DATA) continue;
        if (kind != QSM_KIND_SOLICIT && kind != QSM_KIND_PING && kind != QSM_KIND_LINK)
            memset(&control, 0, sizeof control);
        if (kind == QSM_KIND_LINK) {
            control.link.sequence = 1;
            control.link.stream = i;
            control.link.last = true;
            control.link.payload = (const uint8_t *)"\001 not a message that anybody wrote";
            control.link.payload_bytes = 34;
            memset(&control.link.selective, 0, sizeof control.link.selective);
        }
        uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
        world.ids[WORLD_STRANGER] = draw(&seed) | 1;
        uint32_t bytes = qsm_control_write(fuzz_keys(), kind, world.ids[WORLD_STRANGER], 1,
                                           &control, packet, sizeof packet);
        uint64_t before = world.stranger_bytes;
        world_inject(&world, WORLD_STRANGER, i % WORLD_NODES, packet, bytes);
        world_run(&world, 20);
        check(world.stranger_bytes - before <= bytes, "the answer is not longer (kind)", kind);
        if (i % 8 == 0) world_run(&world, 200);
    }
    check(world.stranger_bytes > 0, "some questions are answered", 0);
    check(world.stranger_bytes <= world.injected_bytes, "all answers together", 0);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        check(world_counter(&world, n, "peers_now") <= WORLD_NODES, "it is not remembered", n);
    world_end(&world);
}

/* ---- hostile members ------------------------------------------------------------------------- */

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
    uint64_t what = draw(seed);
    uint64_t edge = edges[(what >> 8) % (sizeof edges / sizeof *edges)];
    return what % 8 == 0 ? draw(seed) : edge + (what >> 16) % 3 - 1;
}

static uint64_t draw_region(fuzz_world *world, uint32_t node, uint64_t *seed) {
    qsm_region_info regions[16];
    int count = qsm_engine_regions(qsm_sim_engine(world->sim, node), regions, 16);
    if (count <= 0 || draw(seed) % 16 == 0) return draw(seed);
    return regions[draw(seed) % (uint64_t)(count < 16 ? count : 16)].region;
}

static uint64_t draw_node(fuzz_world *world, uint64_t *seed) {
    return draw(seed) % 16 ? world->ids[draw(seed) % WORLD_NODES] : draw(seed);
}

static uint8_t draw_ranges(qsm_range *ranges, uint32_t count_max, uint64_t *seed) {
    uint64_t at = draw(seed) % 4 ? draw(seed) % 100 : draw_number(seed);
    uint32_t count = (uint32_t)(draw(seed) % (count_max + 1));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = draw(seed) % 3 ? draw(seed) % 100 + 1 : QSM_STREAM_SLOTS_MAX;
        ranges[i] = (qsm_range){.first = at + 1, .last = at + length};
        at += length + 1 + draw(seed) % 3;
    }
    return (uint8_t)count;
}

static void draw_token(fuzz_world *world, uint32_t to, qsm_token *token, uint64_t *seed) {
    token->region = draw_region(world, to, seed);
    token->level = (uint8_t)(draw(seed) % 3);
    token->ring = (uint16_t)(draw(seed) % 2);
    token->origin = draw_node(world, seed);
    token->round = (uint32_t)draw_number(seed);
    token->record_count = (uint8_t)(draw(seed) % 6);
    for (uint32_t i = 0; i < token->record_count; i++) {
        qsm_token_record *record = &token->records[i];
        record->stream = draw_node(world, seed);
        record->high = draw_number(seed);
        record->low = draw(seed) % 2 ? record->high : draw_number(seed) % (record->high | 1);
        record->cached = draw(seed) % 2 ? record->high : 0;
        record->stable = draw(seed) % 2 ? record->high : 0;
        record->cut = draw_number(seed);
        record->lost = (uint16_t)draw(seed);
        record->participants = (uint16_t)draw(seed);
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
    *kind = kinds[draw(seed) % sizeof kinds];
    switch (*kind) {
    case QSM_KIND_STATUS:
        c.status.region = draw_region(world, to, seed);
        c.status.high = draw_number(seed);
        c.status.stable = draw(seed) % 2 ? c.status.high : 0;
        c.status.fin = draw(seed) % 2;
        break;
    case QSM_KIND_PULL:
        c.pull.region = draw_region(world, to, seed);
        c.pull.stream = draw_node(world, seed);
        c.pull.meaning = (uint8_t)(draw(seed) % QSM_PULL_MEANINGS);
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
        c.ack.stream = draw(seed) % 2 ? world->ids[to] : draw_node(world, seed);
        c.ack.low = draw_number(seed);
        c.ack.lost = (uint16_t)draw(seed);
        break;
    case QSM_KIND_NUDGE:
        c.nudge.region = draw_region(world, to, seed);
        c.nudge.stream = draw_node(world, seed);
        c.nudge.high = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_QUERY:
        c.orphan_query.region = draw_region(world, to, seed);
        c.orphan_query.stream = draw_node(world, seed);
        c.orphan_query.attempt = (uint32_t)draw_number(seed);
        c.orphan_query.from = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        c.orphan_report.region = draw_region(world, to, seed);
        c.orphan_report.stream = draw_node(world, seed);
        c.orphan_report.attempt = (uint32_t)draw(seed) % 4;
        c.orphan_report.stable = draw_number(seed);
        c.orphan_report.range_count = draw_ranges(c.orphan_report.ranges, QSM_RANGES_MAX, seed);
        break;
    case QSM_KIND_CALL: c.call.pause_ms = (uint32_t)draw_number(seed); break;
    default:
        c.ping.nonce = draw(seed);
        c.ping.epoch.term = draw_number(seed);
        c.ping.epoch.host = draw_node(world, seed);
        c.ping.applied = draw_number(seed);
        c.ping.members = (uint32_t)draw(seed);
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
    data.flags = (uint8_t)(draw(seed) % 4);
    data.region_count = 1;
    data.regions[0].region = draw_region(world, to, seed);
    data.regions[0].sequence = draw(seed) % 2 ? draw(seed) % 70000 + 1 : draw_number(seed) | 1;
    data.regions[0].stable = draw(seed) % 2 ? data.regions[0].sequence - 1 : 0;
    data.message_count = (uint8_t)(draw(seed) % 4);
    for (uint32_t i = 0; i < data.message_count; i++) {
        data.messages[i] = (qsm_message){.group = (uint32_t)(draw(seed) % 4),
                                         .view = draw(seed) % 2 ? 0 : draw_number(seed),
                                         .number = draw_number(seed) | 1,
                                         .previous = draw_number(seed),
                                         .bytes = (uint16_t)(draw(seed) % 100),
                                         .flags = (uint8_t)(draw(seed) % 16),
                                         .tag = rubbish};
    }
    data.hole_count = draw(seed) % 4 ? 0 : draw_ranges(data.holes, 20, seed);
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
    for (uint32_t round = 0; round < tried.member_packets / packets_a_world; round++) {
        world_begin(&world, 10 + round, NULL, NULL);
        warm_up(&world);
        for (uint32_t i = 0; i < packets_a_world; i++) {
            uint32_t as = (uint32_t)(draw(&seed) % WORLD_NODES);
            uint32_t to = (as + 1 + (uint32_t)(draw(&seed) % (WORLD_NODES - 1))) % WORLD_NODES;
            kind = QSM_KIND_DATA;
            uint32_t bytes = draw(&seed) % 4 ? draw_control(&world, as, to, &seed, packet, &kind)
                                             : draw_data(&world, as, to, &seed, packet);
            size_t allocated = world_allocated();
            double began = seconds_of_cpu();
            world_inject(&world, as, to, packet, bytes);
            check(seconds_of_cpu() - began < 0.1, "a packet is handled at once (kind)", kind);
            size_t now = world_allocated();
            check(now <= allocated + STEP_BYTES_MAX, "a packet allocates at most 64 KB (kind)",
                  kind);
            if (i % 50 == 0) world_run(&world, 30);
        }
        for (uint32_t n = 0; n < WORLD_NODES; n++)
            check(world_counter(&world, n, "pool_bytes_now") <= 3u * WORLD_RECEIVE_BYTES,
                  "memory is bounded", n);
        world_end(&world);
    }
}

static void put32(uint8_t *at, uint32_t value) {
    for (uint32_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* A member that tells nonsense about whom it hears is counted, and no region changes for it. */
static void test_nonsense_about_hearing_changes_nothing(void) {
    static const struct {
        uint8_t hears;
        uint32_t count, bytes;
    } told[] = {{QSM_HEARS_COUNT, 0, 0},
                {255, 0, 0},
                {QSM_HEARS_ALL_BUT, 1, 0},
                {QSM_HEARS_ALL_BUT, 0, 8},
                {QSM_HEARS_ALL_BUT, 2, 15},
                {QSM_HEARS_ALL_BUT, 0x20000000, 0}, /* times eight is nought in 32 bits */
                {QSM_HEARS_ALL_BUT, QSM_UNHEARD_MAX + 1, 8 * (QSM_UNHEARD_MAX + 1)}};
    fuzz_world world;
    world_begin(&world, 8, NULL, NULL);
    uint32_t host = 0;
    while (qsm_engine_health(qsm_sim_engine(world.sim, host)) != QSM_HEALTH_HOST)
        host++;
    const uint32_t as = (host + 1) % WORLD_NODES;
    for (uint32_t i = 0; i < sizeof told / sizeof *told; i++) {
        uint8_t message[6 + 8 * (QSM_UNHEARD_MAX + 1)] = {QSM_TO_HOST_HEARING, told[i].hears};
        put32(message + 2, told[i].count);
        uint64_t refused = world_counter(&world, host, "dropped_malformed");
        uint64_t batches = world_counter(&world, host, "hosted_batches");
        world_inject_message(&world, as, host, message, 6 + told[i].bytes);
        world_run(&world, 200);
        check(world_counter(&world, host, "dropped_malformed") == refused + 1, "it is counted", i);
        check(world_counter(&world, host, "hosted_batches") == batches, "no view follows", i);
    }
    /* What makes sense is believed, of any number of strangers. */
    uint8_t message[6 + 8 * QSM_UNHEARD_MAX] = {QSM_TO_HOST_HEARING, QSM_HEARS_ALL_BUT};
    put32(message + 2, QSM_UNHEARD_MAX);
    uint64_t batches = world_counter(&world, host, "hosted_batches");
    world_inject_message(&world, as, host, message, sizeof message);
    world_run(&world, 200);
    check(world_counter(&world, host, "hosted_batches") > batches, "it is taken", 0);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        check(world_counter(&world, n, "unicast_now") == 0, "strangers are nobody's sender", n);
    world_end(&world);
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
    check(sender != NULL, "something is not acknowledged", 0);
    if (sender != NULL) {
        acknowledge(&world, sender, world.ids[WORLD_STRANGER]);
        check(sender->acked < sender->high, "it is not by what is said of another", 0);
        acknowledge(&world, sender, world.ids[VICTIM]);
        check(sender->acked == sender->high, "it is by what is said of it", 0);
    }
    world_end(&world);
}

int main(int argc, char **argv) {
    tried = argc > 1 && strcmp(argv[1], "--full") == 0 ? FULL : SHARE;
    packets = calloc(CAPTURED_MAX, sizeof *packets);
    if (!packets) return 1;
    test_a_changed_bit_is_noticed();
    test_a_changed_message_does_not_keep_the_genuine_one_out();
    test_packets_of_other_lengths_are_noticed();
    test_replays_are_not_accepted();
    test_who_has_no_key_gets_no_answer();
    test_who_is_not_a_member_gets_no_more_than_it_sends();
    test_one_packet_costs_little();
    test_nonsense_about_hearing_changes_nothing();
    test_an_acknowledgement_of_a_former_id_does_not_count();
    free(packets);
    printf("%u passed, %u failed\n", passed_count, failed_count);
    return failed_count > 0;
}
