/*
 * test_cipher.c - how messages are sealed: with AES where everybody in a region has it, else so
 * that everybody can open them; and what the seals refuse.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/seal.h"
#include "qsm.h"

enum { NODES = 7, MESSAGES = 300, BYTES = 700 };
static const uint64_t S = 1000000000u;

typedef struct {
    qsm_group *groups[NODES];
    uint32_t delivered[NODES];
    uint32_t left;
    uint8_t message[BYTES];
} world;

static void observe(void *context, uint32_t node, const qsm_event *events, uint32_t count) {
    world *all = context;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type != QSM_EVENT_DELIVERY) continue;
        assert(events[i].bytes == BYTES && memcmp(events[i].data, all->message, BYTES) == 0);
        all->delivered[node]++;
    }
}

static void feed(void *context, uint32_t bytes_max, qsm_pulled *pulled) {
    world *all = context;
    (void)bytes_max;
    if (all->left == 0) return;
    all->left--;
    pulled->data = all->message;
    pulled->bytes = BYTES;
}

static uint64_t counter(const qsm_engine *engine, const char *name) {
    uint64_t values[256];
    uint32_t count = qsm_engine_counters(engine, values, 256);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(qsm_counter_name(i), name) == 0) return values[i];
    assert(!"no such counter");
    return 0;
}

/* Sends twice; returns how many of the second lot went out with AES. The first of node 0 tells it
 * who can. */
static uint64_t sealed_with_aes(uint32_t nodes_without_aes) {
    qsm_sim *sim = NULL;
    world all = {.message = "what all are to read"};
    assert(qsm_sim_create(7, &sim) == QSM_OK);
    qsm_sim_observe(sim, observe, &all);
    for (uint32_t i = 0; i < NODES; i++) {
        qsm_config config;
        uint8_t id[QSM_GROUP_ID_BYTES] = {1}, key[QSM_KEY_BYTES] = {2};
        qsm_config_defaults(&config);
        config.no_aes = i >= NODES - nodes_without_aes; /* the last: another ring than the first */
        assert(qsm_sim_add_node(sim, &config) == (int)i);
        assert(qsm_group_join(qsm_sim_engine(sim, i), id, key, NULL, &all.groups[i]) == QSM_OK);
    }
    qsm_sim_run_until(sim, 3 * S);
    for (uint32_t round = 1; round <= 2; round++) {
        all.left = MESSAGES;
        assert(qsm_group_offer(all.groups[0], feed, &all, 1) == QSM_OK);
        qsm_sim_run_until(sim, (3 + 2 * round) * S);
        for (uint32_t i = 0; i < NODES; i++)
            assert(all.delivered[i] == round * MESSAGES);
    }
    uint64_t with_aes = counter(qsm_sim_engine(sim, 0), "messages_with_aes");
    assert(counter(qsm_sim_engine(sim, 0), "messages_forged") == 0);
    qsm_sim_destroy(sim);
    return with_aes;
}

static void test_keys_differ(void) {
    uint8_t key[32] = {1}, id[16] = {2}, other_key[32] = {3}, other_id[16] = {4};
    uint8_t made[5][QSM_AEGIS_KEY_BYTES], again[QSM_AEGIS_KEY_BYTES];
    qsm_sender_key_derive(made[0], key, id, 5);
    qsm_sender_key_derive(made[1], key, id, 6);
    qsm_sender_key_derive(made[2], key, other_id, 5);
    qsm_sender_key_derive(made[3], other_key, id, 6);
    memcpy(made[4], key, sizeof made[4]);
    qsm_sender_key_derive(again, key, id, 5);
    assert(memcmp(again, made[0], sizeof again) == 0);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            assert(memcmp(made[i], made[k], sizeof made[i]) != 0);
}

/* Each message is opened under its own key and identity and no other. */
static void test_many_keys(void) {
    enum { COUNT = 200 };
    enum qsm_aegis_kind kind = qsm_aegis_best();
    if (kind == QSM_AEGIS_NONE) return;
    uint8_t plain[BYTES] = "words", sealed[COUNT][BYTES], tags[COUNT][16], back[BYTES];
    uint8_t keys[COUNT][QSM_AEGIS_KEY_BYTES];
    for (uint32_t i = 0; i < COUNT; i++) {
        uint8_t group_key[32] = {(uint8_t)i}, id[16] = {9};
        qsm_seal_identity own = {.number = i + 1, .flags = 3, .epoch = 1};
        qsm_sender_key_derive(keys[i], group_key, id, i + 1);
        qsm_message_seal_aes(kind, keys[i], &own, plain, BYTES, sealed[i], tags[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint8_t *key = keys[i], *text = sealed[i], *tag = tags[i];
        qsm_seal_identity own = {.number = i + 1, .flags = 3, .epoch = 1};
        qsm_seal_identity others[] = {{.number = i + 2, .flags = 3, .epoch = 1},
                                      {.number = i + 1, .flags = 2, .epoch = 1},
                                      {.number = i + 1, .flags = 3, .epoch = 2}};
        assert(qsm_message_open_aes(kind, key, &own, text, BYTES, tag, back));
        assert(memcmp(back, plain, BYTES) == 0);
        for (uint32_t k = 0; k < 3; k++)
            assert(!qsm_message_open_aes(kind, key, &others[k], text, BYTES, tag, back));
        assert(!qsm_message_open_aes(kind, keys[(i + 1) % COUNT], &own, text, BYTES, tag, back));
        assert(!qsm_message_open_aes(QSM_AEGIS_NONE, key, &own, text, BYTES, tag, back));
    }
}

int main(void) {
    assert(qsm_seal_start());
    bool has_aes = qsm_aegis_best() != QSM_AEGIS_NONE;
    test_keys_differ();
    test_many_keys();
    uint64_t among_equals = sealed_with_aes(0);
    assert(has_aes ? among_equals >= MESSAGES : among_equals == 0);
    assert(sealed_with_aes(1) == 0);
    assert(sealed_with_aes(NODES) == 0);
    printf("%llu of %d messages with AES where all have it\n", (unsigned long long)among_equals,
           2 * MESSAGES);
    return 0;
}
