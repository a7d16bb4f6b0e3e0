#include "core/engine.h"

#include <stdlib.h>
#include <string.h>

#include "membership/group.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/policy.h"
#include "membership/region.h"
#include "sending/outgoing.h"

/* ---- configuration --------------------------------------------------------------------------- */

void qsm_config_defaults(qsm_config *config) {
    *config = (qsm_config){.datagram_bytes_max = 1432,
                           .window_bytes_max = 16u << 20,
                           .receive_bytes_max = 64u << 20,
                           .ring_size_max = 5,
                           .policy = QSM_POLICY_EXACT,
                           .similar_percent = 60,
                           .region_size_min = 2,
                           .may_host = QSM_HOST_MAY,
                           .heartbeat_ns = 300000000,
                           .failure_ns = 1500000000,
                           .batch_ns = 20000000,
                           .token_ns = 50000000,
                           .lag_ns_max = 4000000000};
}

static bool config_is_good(const qsm_config *config) {
    return config->datagram_bytes_max >= QSM_DATAGRAM_BYTES_MIN &&
           config->datagram_bytes_max <= QSM_DATAGRAM_BYTES_MAX &&
           (config->data_bytes_max == 0 || config->data_bytes_max >= config->datagram_bytes_max) &&
           config->data_bytes_max <= QSM_DATA_BYTES_MAX && config->window_bytes_max >= 65536 &&
           config->receive_bytes_max >= 1u << 20 && config->ring_size_max >= QSM_RING_SIZE_MIN &&
           config->ring_size_max <= QSM_RING_SIZE_MAX && qsm_policy_find(config->policy) != NULL &&
           config->similar_percent >= 1 && config->similar_percent <= 100 &&
           config->known_peer_count <= 8 && config->heartbeat_ns >= 1000000 &&
           config->failure_ns >= 2 * config->heartbeat_ns && config->batch_ns >= 100000 &&
           config->token_ns >= 1000000 && config->lag_ns_max >= 1000000 &&
           config->may_host <= QSM_HOST_INSISTS && config->no_aes <= 1 &&
           qsm_address_is_set(&config->self) &&
           (!qsm_address_is_set(&config->rendezvous) || config->rendezvous.multicast == 1);
}

/* ---- life ------------------------------------------------------------------------------------ */

int qsm_engine_create(const qsm_config *config, uint64_t now_ns, qsm_engine **out) {
    if (config == NULL || out == NULL || !config_is_good(config)) return QSM_ERR_ARGUMENT;
    if (!qsm_seal_start()) return QSM_ERR_SYSTEM;
    qsm_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return QSM_ERR_NO_MEMORY;
    engine->config = *config;
    if (config->data_bytes_max == 0) engine->config.data_bytes_max = config->datagram_bytes_max;
    engine->now_ns = now_ns;
    qsm_scope_keys_derive(&engine->keys, config->scope_id, config->scope_key, config->random_seed);
    engine->aegis = config->no_aes ? QSM_AEGIS_NONE : qsm_aegis_best();
    qsm_prng_seed(&engine->prng, config->random_seed);
    /* What is received may fill its share; what is sent, asked for and lent needs room besides. */
    qsm_pool_init(&engine->pool,
                  (uint64_t)config->receive_bytes_max * 2 + config->window_bytes_max * 4ull);
    engine->groups.item_bytes = sizeof(qsm_group);
    engine->scheduler.outgoing.item_bytes = sizeof(qsm_outgoing);
    qsm_orders_init(&engine->delivery.orders);
    engine->subscription_generation = 1;
    qsm_parts_start(engine);
    qsm_paths_start(engine);
    qsm_client_start(engine, now_ns);
    *out = engine;
    return QSM_OK;
}

void qsm_engine_destroy(qsm_engine *engine) {
    if (engine == NULL) return;
    qsm_host_stop(engine);
    for (qsm_group *group = qsm_group_next(engine, NULL), *next; group != NULL; group = next) {
        next = qsm_group_next(engine, group);
        qsm_group_free(group);
    }
    while (engine->regions.count > 0) {
        uint32_t cursor = 0;
        qsm_region_dissolve(qsm_table_next(&engine->regions, &cursor));
    }
    qsm_client_stop(engine);
    qsm_forget_applicants(engine);
    while (engine->peers.count > 0) { /* none is left unless a use was not given back */
        uint32_t cursor = 0;
        qsm_peer *peer = qsm_table_next(&engine->peers, &cursor);
        peer->uses = 1;
        qsm_peer_unuse(engine, peer);
    }
    for (uint32_t which = 0; which < QSM_INBOX_COUNT; which++)
        qsm_inbox_free(&engine->inbox[which]);
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++)
        qsm_outbox_free(&engine->outbox[class]);
    qsm_events_free(&engine->events);
    qsm_delivery_free(engine);
    qsm_repairs_free(&engine->repairs);
    qsm_parts_free(engine);
    qsm_paths_stop(engine);
    qsm_dead_free(&engine->dead);
    qsm_table_free(&engine->peers);
    qsm_table_free(&engine->regions);
    qsm_slab_free(&engine->groups);
    qsm_slab_free(&engine->scheduler.outgoing);
    qsm_index_free(&engine->group_places);
    qsm_alarms_free(&engine->alarms);
    free(engine->plan);
    qsm_pool_free(&engine->pool);
    qsm_blocks_free(&engine->blocks);
    free(engine);
}

void qsm_engine_close(qsm_engine *engine, uint64_t now_ns) {
    engine->now_ns = now_ns;
    qsm_client_close(engine, now_ns);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool is_closed(const qsm_engine *engine) {
    return engine->client.health == QSM_HEALTH_CLOSED;
}

static bool run_alarm(qsm_engine *engine, uint64_t now_ns) {
    uint64_t due_ns = qsm_alarms_next(&engine->alarms);
    if (!qsm_alarms_run_one(&engine->alarms, now_ns)) return false;
    qsm_count(engine, QSM_COUNT_alarms_run);
    qsm_count_add(engine, QSM_COUNT_alarm_delay_ns, now_ns - due_ns);
    return true;
}

int qsm_engine_turn(qsm_engine *engine, uint64_t now_ns, uint32_t work_max) {
    uint32_t done = 0;
    engine->now_ns = now_ns;
    if (is_closed(engine)) return 0;
    qsm_client_turned(engine, now_ns);
    /* Any piece of work may be the one that ends the engine's life. */
    while (done < work_max && !is_closed(engine) &&
           qsm_inbox_handle_next(engine, QSM_CLASS_CONTROL))
        done++;
    while (done < work_max && !is_closed(engine) && qsm_inbox_handle_next(engine, QSM_CLASS_REPAIR))
        done++;
    while (done < work_max && !is_closed(engine) && run_alarm(engine, now_ns))
        done++;
    while (done < work_max && !is_closed(engine) && qsm_inbox_handle_next(engine, QSM_CLASS_DATA))
        done++;
    /* Few, and others wait for them: they go on even when there is more data than fits a turn. */
    while (!is_closed(engine) && qsm_inbox_handle_next(engine, QSM_INBOX_TOKENS))
        done++;
    return (int)done;
}

uint64_t qsm_engine_deadline_ns(const qsm_engine *engine) {
    if (engine->client.health == QSM_HEALTH_CLOSED) return UINT64_MAX;
    for (uint32_t which = 0; which < QSM_INBOX_COUNT; which++)
        if (engine->inbox[which].count > 0) return engine->now_ns;
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++)
        if (engine->outbox[class].count > 0) return engine->now_ns;
    uint64_t repair = qsm_repair_deadline_ns(engine);
    uint64_t alarm = qsm_alarms_next(&engine->alarms);
    uint64_t send = engine->client.suspended ? UINT64_MAX : qsm_scheduler_deadline_ns(engine);
    if (repair < send) send = repair;
    return alarm < send ? alarm : send;
}

/* ---- what the application says --------------------------------------------------------------- */

int qsm_engine_add_peer(qsm_engine *engine, const qsm_address *address) {
    if (address == NULL || address->multicast || address->family != engine->config.self.family)
        return QSM_ERR_ARGUMENT;
    if (address->family != QSM_FAMILY_SIM && address->port == 0) return QSM_ERR_ARGUMENT;
    if (!qsm_address_equal(address, &engine->config.self)) qsm_client_add_peer(engine, address);
    return QSM_OK;
}

int qsm_engine_renew(qsm_engine *engine, const uint8_t *seed) {
    if (seed == NULL) return QSM_ERR_ARGUMENT;
    if (engine->client.closing || is_closed(engine)) return QSM_ERR_CLOSED;
    uint8_t mixed[32];
    for (uint32_t i = 0; i < sizeof mixed; i += 8) {
        uint64_t word;
        memcpy(&word, seed + i, sizeof word);
        word ^= qsm_prng_next(&engine->prng);
        memcpy(mixed + i, &word, sizeof word);
    }
    qsm_prng_seed(&engine->prng, mixed);
    for (uint32_t class = 0; class < QSM_CLASS_COUNT; class++) { /* its twin speaks under this id */
        qsm_outbox_free(&engine->outbox[class]);
        engine->outbox[class] = (qsm_outbox){0};
    }
    qsm_client_reset(engine, QSM_REASON_RESUMED);
    return QSM_OK;
}

int qsm_engine_add_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_add(&engine->keys, key);
}

int qsm_engine_use_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_use(&engine->keys, key);
}

int qsm_engine_drop_scope_key(qsm_engine *engine, const uint8_t *key) {
    return key == NULL ? QSM_ERR_ARGUMENT : qsm_scope_keys_drop(&engine->keys, key);
}

int qsm_engine_set_plan(qsm_engine *engine, const char *text, uint32_t bytes) {
    uint32_t line = 0;
    if (text == NULL) return QSM_ERR_ARGUMENT;
    if (bytes > QSM_PLAN_BYTES_MAX || qsm_policy_plan_check(text, bytes, &line) != QSM_OK)
        return QSM_ERR_PLAN;
    char *copy = malloc(bytes ? bytes : 1);
    if (copy == NULL) return QSM_ERR_NO_MEMORY;
    memcpy(copy, text, bytes);
    free(engine->plan);
    engine->plan = copy;
    engine->plan_bytes = bytes;
    if (engine->host != NULL) qsm_host_changed(engine->host);
    return QSM_OK;
}

/* ---- services for the parts ------------------------------------------------------------------ */

bool qsm_address_equal(const qsm_address *a, const qsm_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

void qsm_forget_applicants(qsm_engine *engine) {
    for (uint32_t i = 0; i < QSM_APPLICANTS_MAX; i++) {
        if (engine->applicants[i] != NULL) qsm_peer_unuse(engine, engine->applicants[i]);
        engine->applicants[i] = NULL;
    }
}
