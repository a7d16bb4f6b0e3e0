/*
 * fuzz_world.h - a small scope in the simulator, the same at every run, into which packets are put
 * as if one of its members, or a stranger, had sent them; and what must hold of it afterwards.
 *
 * Everything in it follows from one seed, ids of nodes and regions included, so that packets
 * captured in one run make sense in the next.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "drivers/sim_network.h"
#include "drivers/simulator.h"
#include "fuzz_support.h"

enum {
    WORLD_NODES = 3,
    WORLD_GROUPS = 2,
    WORLD_STRANGER = WORLD_NODES, /* index for whoever is not a member */
    WORLD_RECEIVE_BYTES = 4 << 20,
    WORLD_MS_MAX = 6000 /* long enough to be put out and to come back */
};

#define WORLD_MS UINT64_C(1000000)

typedef struct {
    qsm_sim *sim;
    uint64_t ids[WORLD_NODES + 1];
    uint64_t delivered[WORLD_NODES];
    qsm_group *groups[WORLD_NODES][WORLD_GROUPS];
    uint32_t counters[WORLD_NODES + 1]; /* of the control packets made here */
    uint32_t link_streams;
    uint64_t injected_bytes;
    uint64_t stranger_bytes; /* sent to the stranger's address */
    uint64_t sent_bytes;     /* by all nodes */
    uint32_t ms_left;        /* of the time that a script may let pass */
    /* Whoever wants to look at the wire. */
    qsm_sim_wiretap tap;
    void *tap_context;
} fuzz_world;

/* Bytes in use, where the sanitizer tells; 0 elsewhere. */
size_t __attribute__((weak)) __sanitizer_get_current_allocated_bytes(void);

static inline size_t world_allocated(void) {
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

static inline void world_config(qsm_config *config) {
    qsm_config_defaults(config);
    memcpy(config->scope_id, FUZZ_SCOPE_ID, sizeof config->scope_id);
    memcpy(config->scope_key, FUZZ_SCOPE_KEY, sizeof config->scope_key);
    config->receive_bytes_max = WORLD_RECEIVE_BYTES;
    config->may_host = 1;
}

static inline void world_observe(void *context, uint32_t node, const qsm_event *events,
                                 uint32_t count) {
    fuzz_world *world = context;
    for (uint32_t i = 0; i < count; i++)
        world->delivered[node] += events[i].type == QSM_EVENT_DELIVERY;
}

static inline void world_tap(void *context, uint32_t from, const qsm_datagram *datagram) {
    fuzz_world *world = context;
    qsm_address stranger = qsm_sim_address(WORLD_STRANGER, false);
    world->sent_bytes += datagram->bytes;
    if (memcmp(&datagram->to, &stranger, sizeof stranger) == 0)
        world->stranger_bytes += datagram->bytes;
    if (world->tap) world->tap(world->tap_context, from, datagram);
}

static inline void world_run(fuzz_world *world, uint64_t ms) {
    qsm_sim_run_until(world->sim, qsm_sim_now_ns(world->sim) + ms * WORLD_MS);
}

static inline void world_send(fuzz_world *world, uint32_t node, uint32_t group, const char *text) {
    if (world->groups[node][group])
        qsm_group_send(world->groups[node][group], (const uint8_t *)text, (uint32_t)strlen(text));
}

static inline void world_join(fuzz_world *world, uint32_t node, uint32_t group) {
    static const uint8_t key[QSM_KEY_BYTES] = "the key of a group .............";
    uint8_t id[QSM_GROUP_ID_BYTES] = "group of world ";
    id[15] = (uint8_t)group;
    FUZZ_REQUIRE(qsm_group_join(qsm_sim_engine(world->sim, node), id, key, NULL,
                                &world->groups[node][group]) == QSM_OK);
}

/* Makes a world whose nodes have found each other and exchanged some messages. */
static inline void world_begin(fuzz_world *world, uint64_t seed, qsm_sim_wiretap tap,
                               void *tap_context) {
    qsm_config config;
    memset(world, 0, sizeof *world);
    world->tap = tap;
    world->tap_context = tap_context;
    world_config(&config);
    FUZZ_REQUIRE(qsm_sim_create(seed, &world->sim) == QSM_OK);
    qsm_sim_link link = {.delay_ns = WORLD_MS / 5};
    qsm_sim_set_link(world->sim, &link);
    qsm_sim_observe(world->sim, world_observe, world);
    qsm_sim_tap(world->sim, world_tap, world);
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        FUZZ_REQUIRE(qsm_sim_add_node(world->sim, &config) == (int)n);
        for (uint32_t g = 0; g < WORLD_GROUPS; g++)
            world_join(world, n, g);
        world_run(world, n == 0 ? 900 : 60);
    }
    world_run(world, 60);
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        world->ids[n] = qsm_engine_node(qsm_sim_engine(world->sim, n));
        world->counters[n] = 1u << 20;
        for (uint32_t g = 0; g < WORLD_GROUPS; g++)
            world_send(world, n, g, "a message before the attack");
    }
    world->ms_left = WORLD_MS_MAX;
    world->ids[WORLD_STRANGER] = UINT64_C(0x5757575757575757);
    world_run(world, 60);
    for (uint32_t n = 0; n < WORLD_NODES; n++)
        FUZZ_REQUIRE(world->delivered[n] == WORLD_NODES * WORLD_GROUPS);
}

static inline void world_end(fuzz_world *world) {
    qsm_sim_destroy(world->sim);
}

/* Hands the bytes to node `to`, as if from the address of node `as`. */
static inline void world_inject(fuzz_world *world, uint32_t as, uint32_t to, const uint8_t *packet,
                                uint32_t bytes) {
    qsm_engine *engine = qsm_sim_engine(world->sim, to);
    qsm_address from = qsm_sim_address(as, false);
    uint64_t now_ns = qsm_sim_node_now_ns(world->sim, to);
    if (!engine) return;
    /* As large as it is and no larger, so that a read past its end is seen. */
    uint8_t *copy = malloc(bytes ? bytes : 1);
    FUZZ_REQUIRE(copy);
    if (bytes) memcpy(copy, packet, bytes);
    qsm_engine_receive_copy(engine, now_ns, &from, copy, bytes);
    free(copy);
    world->injected_bytes += bytes;
    while (qsm_engine_turn(engine, now_ns, 64) == 64)
        continue;
}

/* The same for an authentic packet of that kind, with a counter that has not been used. */
static inline void world_inject_body(fuzz_world *world, uint32_t as, uint32_t to, uint8_t kind,
                                     const uint8_t *body, uint32_t bytes) {
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    if (kind == 0 || kind >= QSM_KIND_COUNT) return;
    if (bytes > sizeof packet - QSM_HEADER_BYTES) bytes = sizeof packet - QSM_HEADER_BYTES;
    uint32_t counter = kind == QSM_KIND_DATA ? 0 : ++world->counters[as];
    qsm_writer writer = qsm_header_begin(packet, sizeof packet, kind, world->ids[as], counter);
    qsm_write_bytes(&writer, body, bytes);
    bytes += QSM_HEADER_BYTES;
    if (kind == QSM_KIND_DATA) { /* the first two bytes say how much of it is in front */
        uint32_t front =
            bytes > QSM_HEADER_BYTES + 1 ? packet[32] | (uint32_t)packet[33] << 8 : bytes;
        packet[2] = (uint8_t)front;
        packet[3] = (uint8_t)(front >> 8);
        if (bytes > QSM_HEADER_BYTES + 1) {
            memmove(packet + 32, packet + 34, bytes - 34);
            bytes -= 2;
        }
    }
    if (fuzz_seal(packet, bytes)) world_inject(world, as, to, packet, bytes);
}

/* The same for a message on a control link: as the first of a link that has begun anew. */
static inline void world_inject_message(fuzz_world *world, uint32_t as, uint32_t to,
                                        const uint8_t *message, uint32_t bytes) {
    uint32_t stream = 0x70000000u + ++world->link_streams, sequence = 0, part_max = 1200;
    for (uint32_t at = 0; at < bytes || sequence == 0;) {
        uint32_t part = bytes - at < part_max ? bytes - at : part_max;
        qsm_control control = {.link = {.receiver = world->ids[to],
                                        .stream = stream,
                                        .sequence = ++sequence,
                                        .last = at + part == bytes,
                                        .payload = message + at,
                                        .payload_bytes = part}};
        uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
        uint32_t length = qsm_control_write(fuzz_keys(), QSM_KIND_LINK, world->ids[as],
                                            ++world->counters[as], &control, packet, sizeof packet);
        if (length) world_inject(world, as, to, packet, length);
        at += part;
    }
}

static inline uint64_t world_counter(fuzz_world *world, uint32_t node, const char *name) {
    uint64_t values[256] = {0};
    qsm_engine *engine = qsm_sim_engine(world->sim, node);
    if (!engine) return 0;
    uint32_t count = qsm_engine_counters(engine, values, 256);
    for (uint32_t i = 0; i < count && i < 256; i++)
        if (strcmp(qsm_counter_name(i), name) == 0) return values[i];
    FUZZ_REQUIRE(!"there is no such counter");
    return 0;
}

/* ---- scripts --------------------------------------------------------------------------------- */

/*
 * The input of a target is a script: steps of one byte, which says what to do (low three bits), to
 * whom (next two) and as whom (next two), then two bytes of length and that many bytes. 0..3  an
 * authentic packet: its kind, then its body 4     a message on a control link 5     time passes: as
 * many milliseconds as the length says, at most 2000 and WORLD_MS_MAX in all; no bytes 6     the
 * application of the node acts; no bytes 7     the bytes as they are A target may allow some kinds
 * of packets only; others are then taken modulo these.
 */
enum world_step { STEP_MESSAGE = 4, STEP_TIME = 5, STEP_APPLICATION = 6, STEP_RAW = 7 };

static inline void world_crash(fuzz_world *world, uint32_t node) {
    memset(world->groups[node], 0, sizeof world->groups[node]);
    if (qsm_sim_engine(world->sim, node))
        qsm_sim_crash(world->sim, node);
    else
        qsm_sim_restart(world->sim, node);
}

/* Sends a short or a long message, leaves or joins a group, crashes or starts again. */
static inline void world_act(fuzz_world *world, uint32_t node, uint32_t what) {
    static char long_text[20000];
    uint32_t group = what & 1;
    memset(long_text, 'x', sizeof long_text - 1);
    if (what & 8) {
        world_crash(world, node);
    } else if (what & 2) {
        world_send(world, node, group, what & 4 ? long_text : "a message during the attack");
    } else if (world->groups[node][group]) {
        qsm_group_leave(world->groups[node][group]);
        world->groups[node][group] = NULL;
    } else if (qsm_sim_engine(world->sim, node)) {
        world_join(world, node, group);
    }
}

static inline void world_step(fuzz_world *world, fuzz_source *source, const uint8_t *kinds,
                              uint32_t kind_count) {
    uint8_t op = (uint8_t)fuzz_number(source, 1);
    uint32_t to = (op >> 3 & 3) % WORLD_NODES, as = op >> 5 & 3;
    uint32_t length = (uint32_t)fuzz_number(source, 2);
    uint32_t left = (uint32_t)(source->end - source->at);
    if ((op & 7) == STEP_TIME) {
        uint32_t ms = length % 2000 < world->ms_left ? length % 2000 : world->ms_left;
        world->ms_left -= ms;
        world_run(world, ms);
        return;
    }
    if ((op & 7) == STEP_APPLICATION) {
        world_act(world, to, length);
        return;
    }
    if (length > left) length = left;
    const uint8_t *bytes = source->at;
    source->at += length;
    if ((op & 7) == STEP_MESSAGE) {
        world_inject_message(world, as, to, bytes, length);
    } else if ((op & 7) == STEP_RAW) {
        world_inject(world, as, to, bytes, length);
    } else if (length > 0) {
        uint8_t kind = bytes[0];
        bool allowed = kind_count == 0;
        for (uint32_t i = 0; i < kind_count; i++)
            allowed |= kinds[i] == kind;
        if (!allowed) kind = kinds[kind % kind_count];
        world_inject_body(world, as, to, kind, bytes + 1, length - 1);
    }
}

/* What must hold at any time, whatever arrived. */
static inline void world_check(fuzz_world *world, size_t allocated_before) {
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        uint64_t pool = world_counter(world, n, "pool_bytes_now");
        FUZZ_REQUIRE(pool <= 3u * WORLD_RECEIVE_BYTES);
    }
    size_t allocated = world_allocated();
    FUZZ_REQUIRE(allocated < allocated_before + (64u << 20));
}

/* Runs a script of at most 64 steps on a new world. */
static inline int world_fuzz(const uint8_t *data, size_t size, const uint8_t *kinds,
                             uint32_t kind_count) {
    fuzz_source source = {data, data + size};
    fuzz_world world;
    world_begin(&world, 1, NULL, NULL);
    size_t allocated = world_allocated();
    uint64_t injected = world.injected_bytes, answered = world.stranger_bytes;
    for (int step = 0; step < 64 && !fuzz_ended(&source); step++) {
        world_step(&world, &source, kinds, kind_count);
        world_check(&world, allocated);
    }
    world_run(&world, 500);
    world_check(&world, allocated);
    /* Whoever is not a member gets no more than was sent in. */
    FUZZ_REQUIRE(world.stranger_bytes - answered <= world.injected_bytes - injected);
    world_end(&world);
    return 0;
}

#endif
