/*
 * test_scenario_keys.c - the keys of a group, and the key of the scope, change while messages flow,
 * and who is not given the new one reads, or hears, nothing more.
 */
#include "scenario.h"

static const uint8_t NEW_KEY[QSM_KEY_BYTES] = "the next key of a group ........";
static const uint8_t OTHER_KEY[QSM_KEY_BYTES] = "another key of a group .........";

static void keys_change_without_a_pause(void) {
    world_options options = scenario_options(61, 5, 1);
    options.link.loss_ppm = 20000;
    world *all = scenario_begin(&options);
    for (uint32_t n = 0; n < 5; n++)
        world_flow(all, n, 0, 300, 2 * WORLD_MS, world_now_ns(all) + 2000 * WORLD_MS);
    world_run(all, 300 * WORLD_MS);
    for (uint32_t n = 0; n < 4; n++)
        CHECK(qsm_group_add_key(world_group(all, n, 0), 1, NEW_KEY) == QSM_OK);
    for (uint32_t n = 0; n < 4; n++) { /* at different times, and before the last has the key */
        CHECK(qsm_group_use_key(world_group(all, n, 0), 1) == QSM_OK);
        world_run(all, 60 * WORLD_MS);
    }
    CHECK(qsm_group_add_key(world_group(all, 4, 0), 1, NEW_KEY) == QSM_OK);
    CHECK(qsm_group_use_key(world_group(all, 4, 0), 1) == QSM_OK);
    world_run(all, 500 * WORLD_MS);
    for (uint32_t n = 0; n < 5; n++)
        CHECK(qsm_group_drop_key(world_group(all, n, 0), 0) == QSM_OK);
    scenario_settle(all, 5000 * WORLD_MS, "all have everything under the new key");
    CHECK(world_counter_sum(all, "messages_locked") == 0);
    CHECK(world_counter_sum(all, "messages_forged") == 0);
    scenario_end(all);
}

static void who_is_not_given_the_new_key_reads_nothing_more(void) {
    world_options options = scenario_options(62, 3, 2);
    world *all = scenario_begin(&options);
    for (uint32_t n = 0; n < 2; n++) {
        CHECK(qsm_group_add_key(world_group(all, n, 0), 7, NEW_KEY) == QSM_OK);
        CHECK(qsm_group_use_key(world_group(all, n, 0), 7) == QSM_OK);
    }
    const uint64_t second = oracle_seat_deliveries(world_seat(all, 1, 0));
    const uint64_t third = oracle_seat_deliveries(world_seat(all, 2, 0));
    const uint64_t elsewhere = oracle_seat_deliveries(world_seat(all, 2, 1));
    world_pour(all, 0, 0, 200, 1000);
    world_run(all, 5 * WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, 1, 0)) == second + 1000);
    CHECK(oracle_seat_deliveries(world_seat(all, 2, 0)) == third);
    CHECK(world_counter(all, 2, "messages_locked") == 1000);
    /* It is still in its other groups, and here again as soon as it has the key. */
    world_pour(all, 0, 1, 200, 10);
    world_run(all, WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, 2, 1)) == elsewhere + 10);
    CHECK(qsm_group_add_key(world_group(all, 2, 0), 7, NEW_KEY) == QSM_OK);
    world_pour(all, 0, 0, 200, 10);
    world_run(all, WORLD_S);
    CHECK(oracle_seat_deliveries(world_seat(all, 2, 0)) == third + 10);
    world_destroy(all); /* the oracle knows nothing of keys: it would miss the thousand */
}

static void wrong_uses_of_keys_are_refused(void) {
    world_options options = scenario_options(63, 1, 1);
    world *all = scenario_begin(&options);
    qsm_group *group = world_group(all, 0, 0);
    CHECK(qsm_group_add_key(NULL, 1, NEW_KEY) == QSM_ERR_ARGUMENT);
    CHECK(qsm_group_add_key(group, 1, NULL) == QSM_ERR_ARGUMENT);
    CHECK(qsm_group_use_key(group, 1) == QSM_ERR_NOT_FOUND);
    CHECK(qsm_group_drop_key(group, 1) == QSM_ERR_NOT_FOUND);
    CHECK(qsm_group_drop_key(group, 0) == QSM_ERR_ARGUMENT);
    CHECK(qsm_group_add_key(group, 1, NEW_KEY) == QSM_OK);
    CHECK(qsm_group_add_key(group, 1, NEW_KEY) == QSM_OK);
    CHECK(qsm_group_add_key(group, 1, OTHER_KEY) == QSM_ERR_EXISTS);
    CHECK(qsm_group_add_key(group, 257, OTHER_KEY) == QSM_ERR_EXISTS);
    CHECK(qsm_group_add_key(group, 2, OTHER_KEY) == QSM_OK);
    CHECK(qsm_group_add_key(group, 3, OTHER_KEY) == QSM_OK);
    CHECK(qsm_group_add_key(group, 4, OTHER_KEY) == QSM_ERR_FULL);
    CHECK(qsm_group_use_key(group, 3) == QSM_OK);
    CHECK(qsm_group_use_key(group, 3) == QSM_OK);
    CHECK(qsm_group_drop_key(group, 3) == QSM_ERR_ARGUMENT);
    CHECK(qsm_group_drop_key(group, 0) == QSM_OK);
    CHECK(qsm_group_add_key(group, 4, OTHER_KEY) == QSM_OK);
    scenario_end(all);
}

/* The old key stays heard for 200 ms after the last has begun to use the new one; with losses some
 * packets that were made before are repaired after that. */
static void the_key_of_the_scope_changes_without_a_pause(void) {
    world_options options = scenario_options(64, 6, 2);
    options.link.loss_ppm = 50000;
    world *all = scenario_begin(&options);
    qsm_engine *engines[6];
    for (uint32_t n = 0; n < 6; n++) {
        engines[n] = qsm_sim_engine(world_sim(all), n);
        world_flow(all, n, n % 2, 300, 2 * WORLD_MS, world_now_ns(all) + 2000 * WORLD_MS);
    }
    world_run(all, 300 * WORLD_MS);
    for (uint32_t n = 0; n < 6; n++) {
        CHECK(qsm_engine_add_scope_key(engines[n], NEW_KEY) == QSM_OK);
        world_run(all, 20 * WORLD_MS);
    }
    for (uint32_t n = 0; n < 6; n++) {
        CHECK(qsm_engine_use_scope_key(engines[n], NEW_KEY) == QSM_OK);
        world_run(all, 60 * WORLD_MS);
    }
    world_run(all, 200 * WORLD_MS);
    for (uint32_t n = 0; n < 6; n++)
        CHECK(qsm_engine_drop_scope_key(engines[n], options.config.scope_key) == QSM_OK);
    scenario_settle(all, 5000 * WORLD_MS, "all have everything under the scope's new key");
    scenario_end(all);
}

static void wrong_uses_of_the_scopes_keys_are_refused(void) {
    world_options options = scenario_options(65, 1, 1);
    world *all = scenario_begin(&options);
    qsm_engine *engine = qsm_sim_engine(world_sim(all), 0);
    const uint8_t *old = options.config.scope_key;
    CHECK(qsm_engine_add_scope_key(engine, NULL) == QSM_ERR_ARGUMENT);
    CHECK(qsm_engine_use_scope_key(engine, NEW_KEY) == QSM_ERR_NOT_FOUND);
    CHECK(qsm_engine_drop_scope_key(engine, NEW_KEY) == QSM_ERR_NOT_FOUND);
    CHECK(qsm_engine_drop_scope_key(engine, old) == QSM_ERR_ARGUMENT);
    CHECK(qsm_engine_use_scope_key(engine, old) == QSM_OK);
    for (uint8_t i = 1; i < QSM_SCOPE_KEYS_MAX; i++) {
        const uint8_t key[QSM_KEY_BYTES] = {i};
        CHECK(qsm_engine_add_scope_key(engine, key) == QSM_OK);
        CHECK(qsm_engine_add_scope_key(engine, key) == QSM_OK);
    }
    CHECK(qsm_engine_add_scope_key(engine, NEW_KEY) == QSM_ERR_FULL);
    const uint8_t first[QSM_KEY_BYTES] = {1};
    CHECK(qsm_engine_use_scope_key(engine, first) == QSM_OK);
    CHECK(qsm_engine_drop_scope_key(engine, old) == QSM_OK);
    CHECK(qsm_engine_drop_scope_key(engine, old) == QSM_ERR_NOT_FOUND);
    CHECK(qsm_engine_add_scope_key(engine, NEW_KEY) == QSM_OK);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(keys_change_without_a_pause),
        SCENARIO(who_is_not_given_the_new_key_reads_nothing_more),
        SCENARIO(wrong_uses_of_keys_are_refused),
        SCENARIO(the_key_of_the_scope_changes_without_a_pause),
        SCENARIO(wrong_uses_of_the_scopes_keys_are_refused),
    };
    return SCENARIO_MAIN("test_scenario_keys", scenarios);
}
