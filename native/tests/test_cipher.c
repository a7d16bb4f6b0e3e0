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
    uint8_t made[5][32], again[32];
    qsm_sender_key_derive(made[0], key, id, 5);
    qsm_sender_key_derive(made[1], key, id, 6);
    qsm_sender_key_derive(made[2], key, other_id, 5);
    qsm_sender_key_derive(made[3], other_key, id, 6);
    memcpy(made[4], key, 32);
    qsm_sender_key_derive(again, key, id, 5);
    assert(memcmp(again, made[0], 32) == 0);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            assert(memcmp(made[i], made[k], 32) != 0);
}

/* More keys than are kept ready, each message opened under its own and no other identity. */
static void test_many_keys(void) {
    qsm_ready_keys ready;
    qsm_ready_keys_init(&ready, false);
    if (ready.kind == QSM_AES_NONE) return;
    uint8_t plain[100] = "words", sealed[200][100], tags[200][16], keys[200][32], back[100];
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t group_key[32] = {(uint8_t)i}, id[16] = {9};
        qsm_sender_key_derive(keys[i], group_key, id, i + 1);
        assert(qsm_message_seal_aes(&ready, keys[i], i + 1, 3, 1, plain, 100, sealed[i], tags[i]));
    }
    for (uint32_t i = 0; i < 200; i++) {
        const uint8_t *key = keys[i], *text = sealed[i], *tag = tags[i];
        assert(qsm_message_open_aes(&ready, key, i + 1, 3, 1, text, 100, tag, back));
        assert(memcmp(back, plain, 100) == 0);
        assert(!qsm_message_open_aes(&ready, key, i + 2, 3, 1, text, 100, tag, back));
        assert(!qsm_message_open_aes(&ready, key, i + 1, 2, 1, text, 100, tag, back));
        assert(!qsm_message_open_aes(&ready, key, i + 1, 3, 2, text, 100, tag, back));
        assert(
            !qsm_message_open_aes(&ready, keys[(i + 1) % 200], i + 1, 3, 1, text, 100, tag, back));
    }
    qsm_ready_keys_free(&ready);
    qsm_ready_keys_init(&ready, true);
    assert(!qsm_message_open_aes(&ready, keys[0], 1, 3, 1, sealed[0], 100, tags[0], back));
    qsm_ready_keys_free(&ready);
}

int main(void) {
    assert(qsm_seal_start());
    bool has_aes = qsm_aes_best() != QSM_AES_NONE;
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
