#include "membership/apply.h"
#include "membership/host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/dead.h"
#include "membership/link.h"
#include "membership/peer.h"

static void on_batch_alarm(void *context, uint64_t now_ns);
static void on_check_alarm(void *context, uint64_t now_ns);

/* ---- life ------------------------------------------------------------------------------------ */

bool qsm_host_start(qsm_engine *engine, uint64_t term, bool took_over) {
    assert(engine->host == NULL);
    qsm_host *host = calloc(1, sizeof *host);
    if (host == NULL) return false;
    host->engine = engine;
    host->epoch = (qsm_epoch){.term = term, .host = engine->id};
    host->tag = (uint32_t)qsm_prng_next(&engine->prng);
    host->batch = engine->client.view_floor;
    host->regrouping = took_over;
    host->predecessor = engine->client.epoch.host;
    host->regroup_until_ns = engine->now_ns + engine->config.failure_ns / 2;
    qsm_alarm_init(&host->batch_alarm, on_batch_alarm, host);
    qsm_alarm_init(&host->check_alarm, on_check_alarm, host);
    qsm_alarm_set(&engine->alarms, &host->check_alarm,
                  engine->now_ns + engine->config.heartbeat_ns);
    engine->host = host;
    qsm_note(engine, QSM_TRACE_became_host, term, engine->id);
    if (took_over) qsm_count(engine, QSM_COUNT_take_overs);
    qsm_host_announce(host);
    return true;
}

static void free_client(qsm_host *host, qsm_host_client *client) {
    if (client->evicted && client->peer->link != NULL) qsm_link_free(client->peer->link);
    if (client->peer != NULL) qsm_peer_unuse(host->engine, client->peer);
    qsm_table_free(&client->known);
    qsm_bytes_free(&client->batch);
    free(client->unheard);
    qsm_host_client_leaves_all(host, client);
    free(client);
}

void qsm_host_stop(qsm_engine *engine) {
    qsm_host *host = engine->host;
    if (host == NULL) return;
    qsm_forget_applicants(engine);
    qsm_alarm_clear(&engine->alarms, &host->batch_alarm);
    qsm_alarm_clear(&engine->alarms, &host->check_alarm);
    while (host->regions.count > 0) {
        uint32_t cursor = 0;
        qsm_host_region_free(host, qsm_table_next(&host->regions, &cursor));
    }
    qsm_host_forget_legacies(host);
    for (uint32_t i = 0; i < host->dissolved_count; i++)
        qsm_host_region_free(host, host->dissolved[i]);
    for (uint32_t i = 0; i < host->client_count; i++)
        free_client(host, host->clients[i]);
    qsm_table_free(&host->client_by_id);
    qsm_host_free_groups(host);
    qsm_table_free(&host->regions);
    free(host->clients);
    free(host->deaths);
    free(host->dissolved);
    free(host);
    engine->host = NULL;
}

void qsm_host_changed(qsm_host *host) {
    host->dirty = true;
    uint64_t due = host->engine->now_ns + host->engine->config.batch_ns;
    if (host->regrouping && due < host->regroup_until_ns) due = host->regroup_until_ns;
    if (!qsm_alarm_is_set(&host->batch_alarm))
        qsm_alarm_set(&host->engine->alarms, &host->batch_alarm, due);
}

void qsm_host_send(qsm_host *host, qsm_host_client *client, const uint8_t *message,
                   uint32_t bytes) {
    if (client->peer == NULL) {
        qsm_apply_message(host->engine, host->engine->id, message, bytes);
        return;
    }
    qsm_link *link = qsm_link_to(host->engine, client->peer);
    if (link != NULL) qsm_link_send(link, message, bytes);
}

/* ---- roster ---------------------------------------------------------------------------------- */

qsm_host_client *qsm_host_find_client(qsm_host *host, uint64_t id) {
    return qsm_table_get(&host->client_by_id, id);
}

void qsm_host_add_death(qsm_host *host, uint64_t id) {
    if (host->death_count == host->death_capacity) {
        uint32_t capacity = host->death_capacity ? host->death_capacity * 2 : 16;
        uint64_t *deaths = realloc(host->deaths, capacity * sizeof *deaths);
        if (deaths == NULL) return;
        host->deaths = deaths;
        host->death_capacity = capacity;
    }
    host->deaths[host->death_count++] = id;
}

static bool region_has(const qsm_host_region *region, uint64_t id) {
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i] == id) return true;
    return false;
}

/* Takes the node out of the roster. Those who shared a region with it are told that it is dead. */
static void remove_client(qsm_host *host, qsm_host_client *client, uint32_t reason) {
    qsm_engine *engine = host->engine;
    uint64_t id = client->id;
    qsm_note(engine, QSM_TRACE_client_evicted, id, reason);
    qsm_dead_add(&engine->dead, id, host->batch + 1, true);
    qsm_host_add_death(host, id);
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;) {
        bool took_part = qsm_table_remove(&region->participants, id) != NULL;
        qsm_table_remove(&region->drained, id);
        if (took_part || region_has(region, id)) {
            region->last_death = UINT64_MAX; /* until the batch that tells of it has its number */
            qsm_table_free(&region->drained);
        }
    }
    for (uint32_t i = 0; i < host->dissolved_count; i++) {
        qsm_table_remove(&host->dissolved[i]->participants, id);
        qsm_table_remove(&host->dissolved[i]->drained, id);
    }
    for (uint32_t i = 0; i < host->legacy_count; i++)
        qsm_table_remove(&host->legacies[i]->reporters, id);
    qsm_table_remove(&host->client_by_id, id);
    uint32_t at = 0;
    while (host->clients[at] != client)
        at++;
    memmove(host->clients + at, host->clients + at + 1,
            (host->client_count - at - 1) * sizeof *host->clients);
    host->client_count--;
    free_client(host, client);
    qsm_host_changed(host);
}

void qsm_host_evict(qsm_host *host, qsm_host_client *client, uint8_t reason) {
    qsm_engine *engine = host->engine;
    qsm_count(engine, QSM_COUNT_hosted_evictions);
    qsm_control control = {.evicted = {.node = client->id, .epoch = host->epoch, .reason = reason}};
    qsm_post_control(engine, QSM_KIND_EVICTED, &control, &client->address);
    client->evicted = true;
    remove_client(host, client, reason);
}

void qsm_host_step_down(qsm_host *host) {
    host->steps_down = true;
    qsm_alarm_set(&host->engine->alarms, &host->check_alarm, host->engine->now_ns);
}

void qsm_host_refuse(qsm_engine *engine, uint64_t id, const qsm_address *address) {
    qsm_control control = {
        .evicted = {.node = id, .epoch = engine->host->epoch, .reason = QSM_REASON_EVICTED_SILENT}};
    qsm_post_control(engine, QSM_KIND_EVICTED, &control, address);
}

static qsm_host_client *add_client(qsm_host *host, uint64_t id, const qsm_address *address) {
    qsm_engine *engine = host->engine;
    if (host->client_count >= QSM_CLIENTS_MAX) return NULL;
    if (host->client_count == host->client_capacity) {
        uint32_t capacity = host->client_capacity ? host->client_capacity * 2 : 16;
        qsm_host_client **clients = realloc(host->clients, capacity * sizeof *clients);
        if (clients == NULL) return NULL;
        host->clients = clients;
        host->client_capacity = capacity;
    }
    qsm_host_client *client = calloc(1, sizeof *client);
    if (client == NULL) return NULL;
    client->id = id;
    client->address = *address;
    client->rank = ++host->next_rank;
    client->heard_ns = engine->now_ns;
    if (id != engine->id) client->peer = qsm_peer_use(engine, id, address);
    if ((id != engine->id && client->peer == NULL) ||
        !qsm_table_put(&host->client_by_id, id, client)) {
        free_client(host, client);
        return NULL;
    }
    host->clients[host->client_count++] = client;
    return client;
}

/* ---- messages of nodes ----------------------------------------------------------------------- */

static void handle_join(qsm_host *host, uint64_t from, qsm_reader *in) {
    qsm_engine *engine = host->engine;
    qsm_address address;
    qsm_read_bytes(in, 16); /* the cookie: was looked at before the link was accepted */
    qsm_read_address(in, &address);
    uint64_t floor = qsm_read64(in);
    uint32_t join = qsm_read32(in);
    uint32_t requests = qsm_read32(in);
    if (in->failed) return;
    qsm_host_client *client = qsm_host_find_client(host, from);
    if (client != NULL) { /* asks again, e.g. after it had lost sight of us: tell it everything anew
                           */
        client->told = false;
        qsm_host_client_leaves_all(host, client);
    } else {
        client = add_client(host, from, &address);
        if (client == NULL) return;
        qsm_count(engine, QSM_COUNT_hosted_joins);
        qsm_note(engine, QSM_TRACE_client_joined, from, join);
    }
    if (!QSM_BUG(16) && floor > host->batch && floor < UINT64_MAX >> 8) host->batch = floor;
    client->join = join;
    client->requests_seen = requests;
    qsm_host_report_directories(host, client, in);
    uint32_t group_count = qsm_read32(in);
    if (group_count > QSM_GROUPS_PER_NODE_MAX || qsm_reader_left(in) / 24 < group_count)
        in->failed = true;
    for (uint32_t i = 0; i < group_count && !in->failed; i++) {
        uint32_t handle =
            qsm_host_client_joins(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
        qsm_host_report_view(host, handle, qsm_read64(in));
    }
    qsm_host_report_regions(host, client, in);
    if (!qsm_host_take_hearing(host, client, in)) qsm_count(engine, QSM_COUNT_dropped_malformed);
    if (qsm_host_was_left_out(host, client)) client->too_late = true;
    if (client->too_late && client->peer != NULL)
        qsm_host_evict(host, client, QSM_REASON_EVICTED_SILENT);
    qsm_host_changed(host);
    if (host->regrouping && qsm_host_is_complete(host)) { /* nobody else is waited for */
        host->regroup_until_ns = engine->now_ns;
        qsm_alarm_set_earlier(&engine->alarms, &host->batch_alarm,
                              engine->now_ns + engine->config.batch_ns);
    }
}

static void handle_changes(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint32_t requests = qsm_read32(in);
    uint32_t left = qsm_read32(in);
    if (qsm_reader_left(in) / 16 < left) return;
    for (uint32_t i = 0; i < left; i++)
        qsm_host_client_leaves(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
    uint32_t joined = qsm_read32(in);
    if (in->failed || qsm_reader_left(in) / 16 < joined) return;
    for (uint32_t i = 0; i < joined && !client->leaving; i++)
        qsm_host_client_joins(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
    if (requests > client->requests_seen) client->requests_seen = requests;
    qsm_host_changed(host);
}

static void handle_drained(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint64_t uid = qsm_read64(in);
    uint64_t applied = qsm_read64(in);
    qsm_host_region *region = qsm_table_get(&host->regions, uid);
    if (in->failed || region == NULL || !region->closing || applied < region->last_death) return;
    if (qsm_table_get(&region->participants, client->id) == NULL) return;
    qsm_table_put(&region->drained, client->id, client);
    qsm_host_check_dissolved(host);
}

static bool takes_part_anywhere(qsm_host *host, const qsm_host_client *client) {
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (qsm_table_get(&region->participants, client->id) != NULL) return true;
    return false;
}

/* Lets go those who want to leave and have nothing left to finish. */
static void release_leavers(qsm_host *host) {
    for (uint32_t i = 0; i < host->client_count; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->peer == NULL) continue; /* the host itself goes by handing over */
        if (!client->leaving || client->released || host->dirty ||
            takes_part_anywhere(host, client))
            continue;
        uint8_t bye = QSM_TO_CLIENT_BYE;
        client->released = true; /* stays in the roster until it falls silent, so that the word
                                    arrives */
        qsm_host_send(host, client, &bye, 1);
    }
}

void qsm_host_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes) {
    qsm_host *host = engine->host;
    if (host == NULL || bytes == 0) return;
    qsm_reader in = {.at = message + 1, .end = message + bytes};
    if (message[0] == QSM_TO_HOST_JOIN) {
        qsm_peer *peer = qsm_peer_find(engine, from);
        if (peer != NULL && qsm_dead_has(&engine->dead, from))
            qsm_host_refuse(engine, from, &peer->address);
        else if (!host->yielding)
            handle_join(host, from, &in);
        return;
    }
    qsm_host_client *client = qsm_host_find_client(host, from);
    if (client == NULL) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    switch (message[0]) {
    case QSM_TO_HOST_CHANGES: handle_changes(host, client, &in); break;
    case QSM_TO_HOST_DRAINED: handle_drained(host, client, &in); break;
    case QSM_TO_HOST_SLOW:
        if (client->peer != NULL) qsm_host_evict(host, client, QSM_REASON_EVICTED_SLOW);
        break;
    case QSM_TO_HOST_HEARING:
        if (!qsm_host_take_hearing(host, client, &in))
            qsm_count(engine, QSM_COUNT_dropped_malformed);
        break;
    case QSM_TO_HOST_LEAVE:
        client->leaving = true;
        qsm_host_client_leaves_all(host, client);
        qsm_host_changed(host);
        break;
    default: qsm_count(engine, QSM_COUNT_dropped_malformed);
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

void qsm_host_heard(qsm_engine *engine, uint64_t id) {
    qsm_host_client *client = qsm_host_find_client(engine->host, id);
    if (client != NULL) client->heard_ns = engine->now_ns;
}

void qsm_host_lost(qsm_engine *engine, uint64_t id) {
    qsm_host_client *client = qsm_host_find_client(engine->host, id);
    if (client != NULL && client->peer != NULL)
        qsm_host_evict(engine->host, client, QSM_REASON_EVICTED_SILENT);
}

void qsm_host_slept(qsm_engine *engine, uint64_t now_ns) {
    for (uint32_t i = 0; i < engine->host->client_count; i++)
        engine->host->clients[i]->heard_ns = now_ns;
}

void qsm_host_ping_arrived(qsm_engine *engine, uint64_t from, const qsm_ping *ping,
                           const qsm_address *address) {
    qsm_host *host = engine->host;
    qsm_host_client *client = host != NULL ? qsm_host_find_client(host, from) : NULL;
    if (client == NULL) {
        /* Only who was put out, or is sure to follow us, is told so; others may have their own
         * host. */
        bool follows_us = host != NULL && ping->applied != 0 &&
                          qsm_epoch_compare(&ping->epoch, &host->epoch) == 0;
        if (!qsm_dead_has(&engine->dead, from) && !follows_us) return;
        qsm_control control = {.evicted = {.node = from,
                                           .nonce = ping->nonce,
                                           .epoch = engine->client.epoch,
                                           .reason = QSM_REASON_EVICTED_SILENT}};
        qsm_post_control(engine, QSM_KIND_EVICTED, &control, address);
        return;
    }
    client->heard_ns = engine->now_ns;
    qsm_control control = {.ping = {.nonce = ping->nonce,
                                    .epoch = host->epoch,
                                    .applied = host->batch,
                                    .members = host->client_count}};
    for (uint32_t i = 0;
         i < host->client_count && control.ping.successor_count < QSM_SUCCESSORS_MAX; i++)
        if (host->clients[i]->peer != NULL && !host->clients[i]->leaving)
            control.ping.successors[control.ping.successor_count++] = host->clients[i]->id;
    qsm_post_control(engine, QSM_KIND_PONG, &control, &client->address);
}

/* ---- clock ----------------------------------------------------------------------------------- */

static void on_batch_alarm(void *context, uint64_t now_ns) {
    qsm_host *host = context;
    if (host->engine->client.suspended) { /* not before it is sure that we are still the host */
        qsm_alarm_set(&host->engine->alarms, &host->batch_alarm,
                      now_ns + host->engine->config.batch_ns);
        return;
    }
    if (host->regrouping) {
        host->regrouping = false;
        qsm_host_judge(host, now_ns);
    }
    if (host->steps_down) return;
    qsm_host_make_batch(host, now_ns);
}

static void on_check_alarm(void *context, uint64_t now_ns) {
    qsm_host *host = context;
    qsm_engine *engine = host->engine;
    qsm_alarm_set(&engine->alarms, &host->check_alarm, now_ns + engine->config.heartbeat_ns / 2);
    if (engine->client.suspended) return;
    for (uint32_t i = 0; i < host->client_count; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->peer == NULL || now_ns - client->heard_ns <= engine->config.failure_ns)
            continue;
        qsm_host_evict(host, client, QSM_REASON_EVICTED_SILENT);
        i--;
    }
    qsm_host_judge(host, now_ns);
    if (host->steps_down) {
        qsm_host_abdicate(engine, engine->client.slow_reported ? QSM_REASON_EVICTED_SLOW
                                                               : QSM_REASON_EVICTED_SILENT);
        return;
    }
    release_leavers(host);
    qsm_host_call_out(host, now_ns);
    if (host->yielding &&
        ((host->regions.count == 0 && !host->dirty) || now_ns >= host->yield_by_ns))
        qsm_host_finish_yielding(host); /* frees the host */
}
