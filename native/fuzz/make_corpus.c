/*
 * make_corpus.c - writes the seeds of the fuzz targets: packets captured in a simulator run, and a
 * few plans. The same files at every run of the same engine. In the folder above, after `make`:
 *
 *     M=build/make_corpus
 *     cc -std=c17 -Iinclude -Isrc fuzz/make_corpus.c build/libqsm.a -lsodium -lm -o $M
 *     $M fuzz/corpus
 */
#include "fuzz_world.h"

#include <errno.h>
#include <sys/stat.h>

enum { CAPTURED_MAX = 4096, KEPT_OF_KIND = 6 };

typedef struct {
    uint8_t bytes[QSM_DATAGRAM_BYTES_MAX];
    uint32_t count;
    uint32_t from, to;
} captured;

static captured *packets;
static uint32_t packet_count;

static void capture(void *context, uint32_t from, const qsm_datagram *datagram) {
    (void)context;
    if (packet_count == CAPTURED_MAX || datagram->bytes > QSM_DATAGRAM_BYTES_MAX) return;
    captured *packet = &packets[packet_count++];
    memcpy(packet->bytes, datagram->data, datagram->bytes);
    packet->count = datagram->bytes;
    packet->from = from;
    packet->to = datagram->to.multicast ? (from + 1) % WORLD_NODES : datagram->to.bytes[3];
}

static void write_file(const char *folder, const char *target, const char *name, const void *data,
                       size_t bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(folder, 0777) != 0) FUZZ_REQUIRE(errno == EEXIST);
    if (mkdir(path, 0777) != 0) FUZZ_REQUIRE(errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* The packet as one step of a script; see fuzz_world.h. Returns its length. */
static size_t write_step(const captured *packet, uint8_t *out) {
    uint8_t kind = packet->bytes[1];
    uint32_t to = packet->to % WORLD_NODES, as = packet->from;
    const uint8_t *body = packet->bytes + QSM_HEADER_BYTES;
    uint32_t bytes = packet->count - QSM_HEADER_BYTES;
    size_t at = 3;
    qsm_header header;
    qsm_control control;
    FUZZ_REQUIRE(qsm_header_open(fuzz_keys(), packet->bytes, packet->count, &header));
    bool link = kind == QSM_KIND_LINK;
    if (link) FUZZ_REQUIRE(qsm_control_read(&header, packet->bytes, packet->count, &control));
    if (link && control.link.payload_bytes > 0) {
        out[0] = (uint8_t)(STEP_MESSAGE | to << 3 | as << 5);
        body = control.link.payload;
        bytes = control.link.payload_bytes;
    } else {
        out[0] = (uint8_t)(0 | to << 3 | as << 5);
        out[at++] = kind;
        if (kind == QSM_KIND_DATA) {
            out[at++] = packet->bytes[2];
            out[at++] = packet->bytes[3];
        }
    }
    memcpy(out + at, body, bytes);
    at += bytes;
    out[1] = (uint8_t)(at - 3);
    out[2] = (uint8_t)((at - 3) >> 8);
    return at;
}

static const char *target_of(uint8_t kind) {
    switch (kind) {
    case QSM_KIND_DATA:
    case QSM_KIND_PULL:
    case QSM_KIND_ORPHAN_QUERY:
    case QSM_KIND_ORPHAN_REPORT: return "repair";
    case QSM_KIND_STATUS:
    case QSM_KIND_TOKEN:
    case QSM_KIND_TOKEN_ACK:
    case QSM_KIND_ACK:
    case QSM_KIND_NUDGE: return "token";
    case QSM_KIND_LINK:
    case QSM_KIND_PONG: return "membership";
    default: return "join";
    }
}

typedef struct {
    uint32_t kept[QSM_KIND_COUNT];
    uint8_t script[1 << 16];
    size_t script_bytes;
} seeds;

static void write_packet(const char *folder, const captured *packet, seeds *all) {
    uint8_t kind = packet->bytes[1], seed[QSM_DATAGRAM_BYTES_MAX + 16];
    char name[64];
    if (kind >= QSM_KIND_COUNT || all->kept[kind]++ >= KEPT_OF_KIND) return;
    snprintf(name, sizeof name, "kind%02u-%u.bin", kind, all->kept[kind]);
    seed[0] = 1;
    memcpy(seed + 1, packet->bytes, packet->count);
    write_file(folder, "packet", name, seed, packet->count + 1);
    size_t bytes = write_step(packet, seed);
    write_file(folder, target_of(kind), name, seed, bytes);
    if (all->kept[kind] > 1 || all->script_bytes + bytes + 3 > sizeof all->script) return;
    write_file(folder, "engine", name, seed, bytes);
    memcpy(all->script + all->script_bytes, seed, bytes);
    all->script_bytes += bytes;
    static const uint8_t pause[] = {STEP_TIME, 20, 0};
    memcpy(all->script + all->script_bytes, pause, sizeof pause);
    all->script_bytes += sizeof pause;
}

/* Packets before `fitting` fit the state with which a world begins, the last ones best; later ones
 * are taken for kinds that are not among them. */
static void write_packets(const char *folder, uint32_t fitting) {
    static seeds all;
    for (uint32_t i = fitting; i-- > 0;)
        write_packet(folder, &packets[i], &all);
    for (uint32_t i = packet_count; i-- > fitting;)
        write_packet(folder, &packets[i], &all);
    write_file(folder, "engine", "all-kinds.bin", all.script, all.script_bytes);
    /* What applications do meanwhile: long messages, a node that goes, one that leaves a group. */
    static const uint8_t acts[] = {STEP_APPLICATION | 0 << 3,
                                   6,
                                   0,
                                   STEP_APPLICATION | 2 << 3,
                                   7,
                                   0,
                                   STEP_APPLICATION | 2 << 3,
                                   8,
                                   0,
                                   STEP_TIME,
                                   208,
                                   7,
                                   STEP_APPLICATION | 1 << 3,
                                   0,
                                   0,
                                   STEP_TIME,
                                   100,
                                   0};
    static const char *const targets[] = {"engine", "repair", "token", "membership"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        write_file(folder, targets[i], "acts.bin", acts, sizeof acts);
}

/* Messages that follow each other, sealed as one. */
static void write_run(const char *folder) {
    static uint8_t seed[QSM_DATAGRAM_BYTES_MAX + 16];
    fuzz_world world;
    world_begin(&world, 1, capture, NULL);
    packet_count = 0;
    for (int i = 0; i < 3; i++)
        world_send(&world, 0, 0, "one of three");
    world_run(&world, 20);
    uint32_t at = 0;
    while (at < packet_count && packets[at].bytes[1] != QSM_KIND_DATA)
        at++;
    FUZZ_REQUIRE(at < packet_count);
    seed[0] = 1;
    memcpy(seed + 1, packets[at].bytes, packets[at].count);
    write_file(folder, "packet", "run.bin", seed, packets[at].count + 1);
    write_file(folder, "repair", "run.bin", seed, write_step(&packets[at], seed));
    world_end(&world);
}

static void write_plans(const char *folder) {
    static const char small[] = "live-objects-plan 1\n"
                                "# a comment\n"
                                "group 00112233445566778899aabbccddeeff cluster sales\n"
                                "group 0f1e2d3c4b5a69788796a5b4c3d2e1f0 cluster sales\n"
                                "group ffeeddccbbaa99887766554433221100 hierarchy company\r\n";
    write_file(folder, "plan", "small.txt", small, sizeof small - 1);
    write_file(folder, "plan", "head.txt", small, 20);
    static char large[1 << 16];
    size_t at = (size_t)snprintf(large, sizeof large, "live-objects-plan 1\n");
    for (uint32_t i = 0; i < 64; i++)
        at += (size_t)snprintf(large + at, sizeof large - at, "group %032x %s c%u\n",
                               i * 2654435761u, i % 2 ? "cluster" : "hierarchy", i % 5);
    write_file(folder, "plan", "large.txt", large, at);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: make_corpus FOLDER\n");
        return 2;
    }
    packets = calloc(CAPTURED_MAX, sizeof *packets);
    FUZZ_REQUIRE(packets);
    fuzz_world world;
    world_begin(&world, 1, capture, NULL);
    /* Losses and a crash, for the kinds of packets that they call for. */
    uint32_t fitting = packet_count;
    qsm_sim_link lossy = {.delay_ns = WORLD_MS / 5, .loss_ppm = 200000};
    qsm_sim_set_link(world.sim, &lossy);
    for (int i = 0; i < 40; i++) {
        world_send(&world, (uint32_t)i % WORLD_NODES, 0, "a message over a lossy network");
        world_run(&world, 5);
    }
    qsm_sim_crash(world.sim, 2);
    world_run(&world, 8000);
    write_packets(arguments[1], fitting);
    write_plans(arguments[1]);
    world_end(&world);
    write_run(arguments[1]);
    free(packets);
    return 0;
}
