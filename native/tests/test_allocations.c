/*
 * test_allocations.c - no allocation on the hot path: two nodes stream messages to each other, and
 * once they are warm neither sending, sealing, receiving, delivering, tokens, acknowledgements nor
 * signs of life asks the system for memory or gives any back.
 *
 * The linker sends every call of malloc and its kin in the engine here (LINK_test_allocations in
 * the Makefile). The network is a few lines of its own, because the simulator's may allocate.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sim_network.h"
#include "qsm.h"

static uint64_t calls;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t bytes) {
    calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    calls++;
    return __real_realloc(memory, bytes);
}

void __wrap_free(void *memory) {
    if (memory != NULL) calls++;
    __real_free(memory);
}

enum {
    LOSSY_CALLS_MAX = 200,
    NODES = 2,
    GROUPS = 8,
    AT_ONCE = 64,
    WIRE_MAX = 4096,
    STEP_NS = 100000
};

typedef struct {
    uint32_t from, to, bytes;
    uint8_t data[QSM_DATAGRAM_BYTES_MAX];
} flying;

typedef struct {
    qsm_engine *engines[NODES];
    qsm_group *groups[NODES][GROUPS];
    flying *wire;
    uint32_t flying_count;
    uint64_t now_ns;
    uint64_t sent, delivered;
    uint32_t lose_one_in; /* of all datagrams; 0: none is lost */
    uint32_t passed;
} pair;

static void fail(const char *what) {
    fprintf(stderr, "test_allocations: %s\n", what);
    exit(1);
}

static void begin(pair *all) {
    memset(all, 0, sizeof *all);
    all->wire = malloc(WIRE_MAX * sizeof *all->wire);
    if (all->wire == NULL) fail("no memory");
    for (uint32_t i = 0; i < NODES; i++) {
        qsm_config config;
        qsm_config_defaults(&config);
        memset(config.scope_id, 1, sizeof config.scope_id);
        memset(config.scope_key, 2, sizeof config.scope_key);
        memset(config.random_seed, (int)i + 3, sizeof config.random_seed);
        config.self = qsm_sim_address(i, false);
        config.rendezvous = qsm_sim_address(0, true);
        if (qsm_engine_create(&config, 0, &all->engines[i]) != QSM_OK) fail("no engine");
        for (uint32_t g = 0; g < GROUPS; g++) {
            uint8_t id[QSM_GROUP_ID_BYTES] = {(uint8_t)g, 7};
            uint8_t key[QSM_KEY_BYTES] = {9};
            if (qsm_group_join(all->engines[i], id, key, NULL, &all->groups[i][g]) != QSM_OK)
                fail("no group");
        }
    }
}

static void fly(pair *all, uint32_t from, const qsm_datagram *datagram) {
    for (uint32_t to = 0; to < NODES; to++) {
        qsm_address address = qsm_sim_address(to, false);
        bool hears = datagram->to.multicast || memcmp(&address, &datagram->to, sizeof address) == 0;
        if (to == from || !hears) continue;
        if (all->lose_one_in != 0 && ++all->passed % all->lose_one_in == 0) continue;
        if (all->flying_count == WIRE_MAX) fail("the wire is full");
        flying *next = &all->wire[all->flying_count++];
        next->from = from;
        next->to = to;
        next->bytes = datagram->bytes;
        memcpy(next->data, datagram->data, datagram->bytes);
    }
}

static void land(pair *all) {
    for (uint32_t i = 0; i < all->flying_count; i++) {
        const flying *next = &all->wire[i];
        qsm_address from = qsm_sim_address(next->from, false);
        qsm_engine_receive_copy(all->engines[next->to], all->now_ns, &from, next->data,
                                next->bytes);
    }
    all->flying_count = 0;
}

static void step(pair *all, bool send) {
    static const uint8_t message[300] = "a message";
    qsm_datagram datagrams[AT_ONCE];
    qsm_event events[AT_ONCE];
    land(all);
    for (uint32_t i = 0; i < NODES; i++) {
        qsm_engine *engine = all->engines[i];
        for (uint32_t g = 0; g < GROUPS && send; g++)
            if (qsm_group_send(all->groups[i][g], message, sizeof message) == QSM_OK) all->sent++;
        (void)qsm_engine_turn(engine, all->now_ns, 1000);
        int count;
        while ((count = qsm_engine_send(engine, all->now_ns, datagrams, AT_ONCE)) > 0) {
            for (int d = 0; d < count; d++)
                fly(all, i, &datagrams[d]);
            qsm_engine_sent(engine, (uint32_t)count);
        }
        while ((count = qsm_engine_events(engine, events, AT_ONCE)) > 0) {
            for (int e = 0; e < count; e++)
                all->delivered += events[e].type == QSM_EVENT_DELIVERY;
            qsm_engine_release(engine);
        }
    }
    all->now_ns += STEP_NS;
}

static void run(pair *all, uint64_t ms, bool send) {
    for (uint64_t end_ns = all->now_ns + ms * 1000000; all->now_ns < end_ns;)
        step(all, send && all->now_ns / STEP_NS % 2 == 0);
}

/* Runs a stream and counts once it is warm: once it has had far more losses than then. */
static uint64_t count_calls(pair *all, uint32_t lose_one_in, const char *what) {
    all->lose_one_in = lose_one_in / 8;
    run(all, 1500, true);
    all->lose_one_in = lose_one_in;
    run(all, 500, true);
    const uint64_t sent = all->sent, delivered = all->delivered, before = calls;
    run(all, 1000, true);
    const uint64_t made = calls - before;
    printf("%s: %" PRIu64 " messages sent, %" PRIu64 " delivered, %" PRIu64
           " calls of the allocator\n",
           what, all->sent - sent, all->delivered - delivered, made);
    if (all->sent - sent < 10000 || all->delivered - delivered < 10000) fail("hardly any message");
    return made;
}

int main(void) {
    pair all;
    begin(&all);
    run(&all, 3000, false);
    uint64_t steady = count_calls(&all, 0, "steady stream");
    uint64_t lossy = count_calls(&all, 97, "with losses and repairs");
    for (uint32_t i = 0; i < NODES; i++)
        qsm_engine_destroy(all.engines[i]);
    free(all.wire);
    if (steady > 0) fail("memory was allocated or freed on the hot path");
    /* More may wait for a repair than ever before; nothing is allocated for each message. */
    if (lossy > LOSSY_CALLS_MAX) fail("losses are dealt with by allocating");
    return 0;
}
