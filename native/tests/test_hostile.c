/*
 * test_hostile.c - what a stranger, a changed packet or a replayed one can do: be counted.
 *
 * A fixed number of steps, so that it runs with the other tests; with --full as many as the goals
 * name. The fuzz targets go on from here. It uses their small world.
 */
#include "../fuzz/fuzz_world.h"
#include "core/engine.h"
#include "hostile.h"

/* How much is tried. */
typedef struct {
    uint32_t changed_packets; /* with every bit changed in turn */
    uint32_t replays;
    uint32_t rubbish;   /* packets of somebody without a key */
    uint32_t questions; /* of somebody with the key who is no member */
} amounts;

static const amounts SHARE = {40, 2000, 20000, 4000};
static const amounts FULL = {10000, 1000000, 1000000, 100000};
static amounts tried;

/* ---- what has been on the wire --------------------------------------------------------------- */

enum { CAPTURED_MAX = 6000, UNHEARD = 8 };

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
    for (uint32_t i = 0; !same && hostile_tells() && i < qsm_counter_count(); i++)
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
        world_run(world, 60); /* others speak, too: tokens, signs of life */
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
        hostile_check(same_state(&before, &after), "a changed bit changes nothing (packet)", which);
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
    hostile_check(packet_count > UNHEARD, "there was traffic to change", packet_count);
    uint32_t count = packet_count < count_max ? packet_count : count_max;
    for (uint32_t i = 0; i < count; i++)
        try_front_bits(&world, &packets[i], i);
    uint64_t before = world.delivered[VICTIM];
    unblock(&world);
    hostile_check(world.delivered[VICTIM] == before + UNHEARD, "the genuine messages arrive",
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
    hostile_check(world.delivered[VICTIM] == before, "nothing is delivered of changed messages", 0);
    unblock(&world);
    hostile_check(world.delivered[VICTIM] == before + UNHEARD, "the genuine messages arrive",
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
        hostile_check(same_but_trace(&before, &after), "cut or lengthened packets change nothing",
                      i);
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
    hostile_check(packet_count > 100, "there was traffic to replay", packet_count);
    for (uint32_t replay = 0; replay < tried.replays; replay++) {
        const captured *packet = &packets[replay % packet_count];
        state before = state_of(&world, VICTIM);
        world_inject(&world, packet->from, VICTIM, packet->bytes, packet->count);
        state after = state_of(&world, VICTIM);
        hostile_check(same_but_trace(&before, &after), "a replayed packet changes nothing (kind)",
                      packet->bytes[1]);
    }
    uint64_t delivered[WORLD_NODES];
    memcpy(delivered, world.delivered, sizeof delivered);
    world_run(&world, 1000);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        hostile_check(world.delivered[n] == delivered[n], "nothing is delivered twice", n);
    world_send(&world, 0, 0, "a message after the replays");
    world_run(&world, 500);
    hostile_check(world.delivered[VICTIM] == delivered[VICTIM] + 1, "and all goes on", 0);
    world_end(&world);
}

/* ---- strangers ------------------------------------------------------------------------------- */

/* Who has no key gets no answer at all, and changes nothing. */
static void test_who_has_no_key_gets_no_answer(void) {
    fuzz_world quiet, world;
    world_begin(&quiet, 5, NULL, NULL);
    world_begin(&world, 5, NULL, NULL);
    uint64_t seed = 1;
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    for (uint32_t i = 0; i < tried.rubbish; i++) {
        uint32_t bytes = (uint32_t)(hostile_draw(&seed) % sizeof packet);
        for (uint32_t b = 0; b < bytes; b++)
            packet[b] = (uint8_t)hostile_draw(&seed);
        if (bytes > 4) {
            packet[0] = QSM_WIRE_VERSION;
            packet[1] = (uint8_t)(hostile_draw(&seed) % QSM_KIND_COUNT);
            packet[2] = (uint8_t)bytes;
            packet[3] = (uint8_t)(bytes >> 8);
        }
        world_inject(&world, WORLD_STRANGER, i % WORLD_NODES, packet, bytes);
    }
    world_run(&quiet, 3000);
    world_run(&world, 3000);
    hostile_check(world.stranger_bytes == 0, "nothing is sent to a stranger", world.stranger_bytes);
    hostile_check(world.sent_bytes == quiet.sent_bytes, "nobody says more than without it",
                  world.sent_bytes - quiet.sent_bytes);
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        state a = state_of(&quiet, n), b = state_of(&world, n);
        hostile_check(same_state(&a, &b), "and nobody is changed", n);
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
        if (kind == QSM_KIND_PING) control.ping.nonce = hostile_draw(&seed);
        if (kind == QSM_KIND_LINK) control.link.receiver = world.ids[i % WORLD_NODES];
        if (kind == QSM_KIND_DATA || kind == QSM_KIND_PART) continue;
        if (kind != QSM_KIND_SOLICIT && kind != QSM_KIND_PING && kind != QSM_KIND_LINK)
            memset(&control, 0, sizeof control);
        if (kind == QSM_KIND_PROBE) control.probe.bytes = QSM_SAFE_BYTES;
        if (kind == QSM_KIND_LINK) {
            control.link.sequence = 1;
            control.link.stream = i;
            control.link.last = true;
            control.link.payload = (const uint8_t *)"\001 not a message that anybody wrote";
            control.link.payload_bytes = 34;
            memset(&control.link.selective, 0, sizeof control.link.selective);
        }
        uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
        world.ids[WORLD_STRANGER] = hostile_draw(&seed) | 1;
        uint32_t bytes = qsm_control_write(fuzz_keys(), kind, world.ids[WORLD_STRANGER], 1,
                                           &control, packet, sizeof packet);
        uint64_t before = world.stranger_bytes;
        world_inject(&world, WORLD_STRANGER, i % WORLD_NODES, packet, bytes);
        world_run(&world, 20);
        hostile_check(world.stranger_bytes - before <= bytes, "the answer is not longer (kind)",
                      kind);
        if (i % 8 == 0) world_run(&world, 200);
    }
    hostile_check(world.stranger_bytes > 0, "some questions are answered", 0);
    hostile_check(world.stranger_bytes <= world.injected_bytes, "all answers together", 0);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        hostile_check(world_counter(&world, n, "peers_now") <= WORLD_NODES, "it is not remembered",
                      n);
    world_end(&world);
}

int main(int argc, char **argv) {
    tried = hostile_in_full(argc, argv) ? FULL : SHARE;
    packets = calloc(CAPTURED_MAX, sizeof *packets);
    if (!packets) return 1;
    test_a_changed_bit_is_noticed();
    test_a_changed_message_does_not_keep_the_genuine_one_out();
    test_packets_of_other_lengths_are_noticed();
    test_replays_are_not_accepted();
    test_who_has_no_key_gets_no_answer();
    test_who_is_not_a_member_gets_no_more_than_it_sends();
    free(packets);
    return hostile_end();
}
