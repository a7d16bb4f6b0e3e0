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

enum {
    COOKIE_SLOT_NS = 2000000000,
    BEACON_NS = 1000000000,
    BEACON_PAUSE_NS = 100000000,
    ANSWER_PAUSE_NS = 20000000
};

static void on_batch_alarm(void *context, uint64_t now_ns);
static void on_check_alarm(void *context, uint64_t now_ns);

/* ---- being found ----------------------------------------------------------------------------- */

/* Members, as far as they matter to who yields to whom: a host that insists counts as in company.
 */
static uint32_t weight(const qsm_host *host) {
    bool insists = host->engine->config.may_host == QSM_HOST_INSISTS;
    return insists && host->client_count < 2 ? 2 : host->client_count;
}

static void send_beacon(qsm_host *host, const qsm_address *to, bool multicast) {
    qsm_engine *engine = host->engine;
    qsm_control control = {.beacon = {.epoch = host->epoch,
                                      .address = engine->config.self,
                                      .members = weight(host),
                                      .multicast = multicast}};
    qsm_post_control(engine, QSM_KIND_BEACON, &control, to);
}

/* Tells everybody who may be waiting for a host. */
static void announce(qsm_host *host) {
    qsm_engine *engine = host->engine;
    host->beacon_ns = engine->now_ns;
    if (qsm_address_is_set(&engine->config.rendezvous))
        send_beacon(host, &engine->config.rendezvous, true);
    uint32_t cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;)
        if (!peer->dead) send_beacon(host, &peer->address, false);
}

void qsm_host_tell(qsm_engine *engine, const qsm_address *to) {
    send_beacon(engine->host, to, false);
}

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
    announce(host);
    return true;
}

static void free_client(qsm_host *host, qsm_host_client *client) {
    if (client->evicted && client->peer->link != NULL) qsm_link_free(client->peer->link);
    if (client->peer != NULL) qsm_peer_unuse(host->engine, client->peer);
    qsm_table_free(&client->known);
    qsm_bytes_free(&client->batch);
    free(client->groups);
    free(client);
}

void qsm_host_stop(qsm_engine *engine) {
    qsm_host *host = engine->host;
    if (host == NULL) return;
    qsm_forget_applicants(engine);
    qsm_alarm_clear(&engine->alarms, &host->batch_alarm);
    qsm_alarm_clear(&engine->alarms, &host->check_alarm);
    for (uint32_t i = 0; i < host->next_handle; i++) {
        free(host->group_by_handle[i]->members);
        free(host->group_by_handle[i]->regions);
        free(host->group_by_handle[i]);
    }
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
    qsm_table_free(&host->groups);
    qsm_table_free(&host->regions);
    free(host->clients);
    free(host->group_by_handle);
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
        qsm_client_message(host->engine, host->engine->id, message, bytes);
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
    client->heard_ns = client->joined_ns = engine->now_ns;
    client->hears_multicast = qsm_address_is_set(&engine->config.rendezvous);
    if (id != engine->id) client->peer = qsm_peer_use(engine, id, address);
    if ((id != engine->id && client->peer == NULL) ||
        !qsm_table_put(&host->client_by_id, id, client)) {
        free_client(host, client);
        return NULL;
    }
    host->clients[host->client_count++] = client;
    return client;
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint64_t qsm_host_hash_id(const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint64_t halves[2];
    memcpy(halves, id, sizeof halves);
    return qsm_mix64(halves[0] ^ qsm_mix64(halves[1]));
}

static qsm_host_group *find_group(qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES], bool make) {
    uint64_t hash = qsm_host_hash_id(id);
    qsm_host_group *first = qsm_table_get(&host->groups, hash), *group = first;
    while (group != NULL && memcmp(group->id, id, QSM_GROUP_ID_BYTES) != 0)
        group = group->next_same_hash;
    if (group != NULL || !make) return group;
    if (host->next_handle == host->group_capacity) {
        uint32_t capacity = host->group_capacity ? host->group_capacity * 2 : 64;
        qsm_host_group **groups = realloc(host->group_by_handle, capacity * sizeof *groups);
        if (groups == NULL) return NULL;
        host->group_by_handle = groups;
        host->group_capacity = capacity;
    }
    group = calloc(1, sizeof *group);
    if (group == NULL) return NULL;
    memcpy(group->id, id, QSM_GROUP_ID_BYTES);
    group->next_same_hash = first;
    if (!qsm_table_put(&host->groups, hash, group)) {
        free(group);
        return NULL;
    }
    host->group_by_handle[host->next_handle++] = group;
    group->handle = host->next_handle;
    return group;
}

/* Where the handle is or would be in the client's ascending list. */
static uint32_t group_position(const qsm_host_client *client, uint32_t handle) {
    uint32_t low = 0, high = client->group_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (client->groups[middle] < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the handle of the group, 0 when there is no room for it. */
static uint32_t client_joins(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id, true);
    if (group == NULL || client->group_count >= QSM_GROUPS_PER_NODE_MAX) return 0;
    uint32_t at = group_position(client, group->handle);
    if (at < client->group_count && client->groups[at] == group->handle) return group->handle;
    if (client->group_count == client->group_capacity) {
        uint32_t capacity = client->group_capacity ? client->group_capacity * 2 : 8;
        uint32_t *groups = realloc(client->groups, capacity * sizeof *groups);
        if (groups == NULL) return 0;
        client->groups = groups;
        client->group_capacity = capacity;
    }
    memmove(client->groups + at + 1, client->groups + at,
            (client->group_count - at) * sizeof *client->groups);
    client->groups[at] = group->handle;
    client->group_count++;
    for (uint32_t i = 0; i < group->member_count; i++)
        if (group->members[i] == client->id) group->renewed = true;
    return group->handle;
}

static void client_leaves(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id, false);
    if (group == NULL) return;
    uint32_t at = group_position(client, group->handle);
    if (at == client->group_count || client->groups[at] != group->handle) return;
    memmove(client->groups + at, client->groups + at + 1,
            (client->group_count - at - 1) * sizeof *client->groups);
    client->group_count--;
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
        client->group_count = 0;
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
        uint32_t handle = client_joins(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
        qsm_host_report_view(host, handle, qsm_read64(in));
    }
    qsm_host_report_regions(host, client, in);
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
        client_leaves(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
    uint32_t joined = qsm_read32(in);
    if (in->failed || qsm_reader_left(in) / 16 < joined) return;
    for (uint32_t i = 0; i < joined && !client->leaving; i++)
        client_joins(host, client, qsm_read_bytes(in, QSM_GROUP_ID_BYTES));
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
    case QSM_TO_HOST_LEAVE:
        client->leaving = true;
        client->group_count = 0;
        qsm_host_changed(host);
        break;
    default: qsm_count(engine, QSM_COUNT_dropped_malformed);
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

static void make_cookie(qsm_engine *engine, uint64_t id, const qsm_address *address, uint64_t slot,
                        uint8_t cookie[16]) {
    uint8_t text[8 + sizeof *address];
    memcpy(text, &id, 8);
    memcpy(text + 8, address, sizeof *address);
    qsm_cookie(&engine->keys, text, sizeof text, slot, cookie);
}

void qsm_host_solicit_arrived(qsm_engine *engine, uint64_t from, const qsm_solicit *solicit,
                              const qsm_address *address) {
    qsm_host *host = engine->host;
    /* Answers go where the packet came from, never to an address that it only claims. */
    qsm_control control = {.offer = {.epoch = engine->client.epoch}};
    memcpy(control.offer.nonce, solicit->nonce, 16);
    if (host == NULL) { /* we can say who hosts, if asked directly */
        if (solicit->multicast || engine->client.host == NULL ||
            engine->client.health != QSM_HEALTH_MEMBER)
            return;
        control.offer.address = engine->client.host->address;
    } else {
        if (host->yielding || engine->client.suspended) return;
        control.offer.epoch = host->epoch;
        control.offer.address = engine->config.self;
        make_cookie(engine, from, address, engine->now_ns / COOKIE_SLOT_NS, control.offer.cookie);
        if (solicit->multicast && engine->now_ns - host->beacon_ns > BEACON_PAUSE_NS) {
            host->beacon_ns = engine->now_ns;
            send_beacon(host, &engine->config.rendezvous, true);
        }
    }
    qsm_post_control(engine, QSM_KIND_OFFER, &control, address);
}

bool qsm_host_admits(qsm_engine *engine, uint64_t id, const uint8_t *message, uint32_t bytes) {
    qsm_reader in = {.at = message, .end = message + bytes};
    if (engine->host == NULL || qsm_read8(&in) != QSM_TO_HOST_JOIN) return false;
    const uint8_t *cookie = qsm_read_bytes(&in, 16);
    qsm_address address;
    qsm_read_address(&in, &address);
    if (in.failed) return false;
    uint64_t slot = engine->now_ns / COOKIE_SLOT_NS;
    for (uint64_t i = 0; i < 2 && i <= slot; i++) {
        uint8_t expected[16];
        make_cookie(engine, id, &address, slot - i, expected);
        if (qsm_equal16(expected, cookie)) return true;
    }
    return false;
}

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
    bool settled = engine->now_ns - client->joined_ns > 3000000000ull;
    if (settled && client->hears_multicast != ping->hears_multicast) {
        client->hears_multicast = ping->hears_multicast;
        qsm_host_changed(host);
    }
    qsm_control control = {
        .ping = {.nonce = ping->nonce, .epoch = host->epoch, .applied = host->batch}};
    for (uint32_t i = 0;
         i < host->client_count && control.ping.successor_count < QSM_SUCCESSORS_MAX; i++)
        if (host->clients[i]->peer != NULL && !host->clients[i]->leaving)
            control.ping.successors[control.ping.successor_count++] = host->clients[i]->id;
    qsm_post_control(engine, QSM_KIND_PONG, &control, &client->address);
}

/* Who of two hosts yields. One that is alone has most likely lost sight of the others by its own
 * fault (it is overloaded, or was cut off): it must not draw all of them over to itself. */
static bool outranks(const qsm_host *host, const qsm_beacon *beacon) {
    bool we_are_alone = weight(host) <= 1, they_are_alone = beacon->members <= 1;
    if (we_are_alone != they_are_alone) return we_are_alone;
    return qsm_epoch_compare(&beacon->epoch, &host->epoch) > 0;
}

void qsm_host_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_host *host = engine->host;
    if (qsm_epoch_compare(&beacon->epoch, &host->epoch) == 0) return;
    if (!outranks(host, beacon)) { /* the other one should know of us; it may not hear our multicast
                                    */
        if (engine->now_ns - host->answer_ns > ANSWER_PAUSE_NS) {
            host->answer_ns = engine->now_ns;
            send_beacon(host, &beacon->address, false);
        }
        return;
    }
    if (host->yielding) return;
    /* Only its answer to a question of ours proves that we can reach it. */
    host->courted = beacon->epoch;
    qsm_control control = {.solicit = {.address = engine->config.self}};
    memcpy(control.solicit.nonce, engine->client.solicit_nonce, 16);
    qsm_post_control(engine, QSM_KIND_SOLICIT, &control, &beacon->address);
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
        if (host->steps_down) return; /* with the next look at the clock */
    }
    qsm_host_make_batch(host, now_ns);
}

bool qsm_host_name_successor(qsm_host *host) {
    qsm_host_client *successor = NULL;
    for (uint32_t i = 0; i < host->client_count && successor == NULL; i++)
        if (host->clients[i]->peer != NULL && !host->clients[i]->leaving)
            successor = host->clients[i];
    if (successor == NULL) return false;
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_CLIENT_MERGE);
    qsm_bytes_add64(&out, host->epoch.term + 1);
    qsm_bytes_add64(&out, successor->id);
    qsm_bytes_add_address(&out, &successor->address);
    for (uint32_t i = 0; i < host->client_count && !out.failed; i++)
        if (host->clients[i]->peer != NULL)
            qsm_host_send(host, host->clients[i], out.data, out.count);
    qsm_bytes_free(&out);
    return true;
}

void qsm_host_abdicate(qsm_engine *engine, uint32_t reason) {
    /* Who does not get the word will notice the silence. */
    qsm_host_name_successor(engine->host);
    qsm_client_reset(engine, reason);
}

static void finish_yielding(qsm_host *host) {
    qsm_engine *engine = host->engine;
    qsm_bytes message = {0};
    qsm_bytes_add8(&message, QSM_TO_CLIENT_MERGE);
    qsm_bytes_add64(&message, host->yield_epoch.term);
    qsm_bytes_add64(&message, host->yield_epoch.host);
    qsm_bytes_add_address(&message, &host->yield_address);
    for (uint32_t i = 0; i < host->client_count && !message.failed; i++)
        if (host->clients[i]->peer != NULL)
            qsm_host_send(host, host->clients[i], message.data, message.count);
    qsm_bytes_free(&message);
    qsm_count(engine, QSM_COUNT_merges);
    qsm_epoch epoch = host->yield_epoch;
    qsm_address address = host->yield_address;
    /* The links stay until their messages have arrived or their peers are gone. */
    qsm_client_follow(engine, &epoch, &address, QSM_REASON_HOST_MERGED);
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
    if (now_ns - host->beacon_ns >= BEACON_NS) {
        host->beacon_ns = now_ns;
        if (qsm_address_is_set(&engine->config.rendezvous))
            send_beacon(host, &engine->config.rendezvous, true);
        for (uint32_t i = 0; i < engine->config.known_peer_count; i++)
            send_beacon(host, &engine->config.known_peers[i], false);
    }
    if (host->yielding &&
        ((host->regions.count == 0 && !host->dirty) || now_ns >= host->yield_by_ns))
        finish_yielding(host); /* frees the host */
}

void qsm_host_yield(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address) {
    qsm_host *host = engine->host;
    if (host->yielding) return;
    host->yielding = true;
    host->yield_epoch = *epoch;
    host->yield_address = *address;
    host->yield_by_ns = engine->now_ns + 2 * engine->config.failure_ns;
    qsm_note(engine, QSM_TRACE_host_yields, epoch->host, epoch->term);
    qsm_host_changed(host);
}
