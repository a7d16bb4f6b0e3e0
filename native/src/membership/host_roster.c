/*
 * host_roster.c - the nodes that the host knows: who comes in, who gives a sign of life, who is put
 * out.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/dead.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"

qsm_host_client *qsm_host_find_client(qsm_host *host, uint64_t id) {
    return qsm_table_get(&host->client_by_id, id);
}

qsm_host_client *qsm_host_add_client(qsm_host *host, uint64_t id, const qsm_address *address) {
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
        qsm_host_client_free(host, client);
        return NULL;
    }
    host->clients[host->client_count++] = client;
    return client;
}

void qsm_host_client_free(qsm_host *host, qsm_host_client *client) {
    if (client->evicted && client->peer->link != NULL) qsm_link_free(client->peer->link);
    if (client->peer != NULL) qsm_peer_unuse(host->engine, client->peer);
    qsm_table_free(&client->known);
    qsm_bytes_free(&client->batch);
    free(client->unheard);
    free(client->missed);
    qsm_host_client_leaves_all(host, client);
    free(client);
}

/* ---- put out --------------------------------------------------------------------------------- */

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
    host->put_out[host->put_out_count++ % QSM_DEATHS_RETOLD] = id;
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
    qsm_host_client_free(host, client);
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

void qsm_host_refuse(qsm_engine *engine, uint64_t id, const qsm_address *address) {
    qsm_control control = {
        .evicted = {.node = id, .epoch = engine->host->epoch, .reason = QSM_REASON_EVICTED_SILENT}};
    qsm_post_control(engine, QSM_KIND_EVICTED, &control, address);
}

/* ---- signs of life --------------------------------------------------------------------------- */

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
