#include "membership/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "core/planted.h"
#include "membership/apply.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "sending/sender.h"

enum {
    SOLICIT_PAUSE_NS = 100000000,
    SEARCH_NS = 350000000,     /* before the first node of a scope decides that it is the first */
    SUCCESSION_NS = 250000000, /* the next in line waits that much longer */
    PING_RETRY_NS = 100000000,
    REQUEST_DELAY_NS = 1000000, /* joins and leaves are collected that long */
    INTRODUCTIONS = 8,          /* times that a peer just added is told of our host */
    HEARING_NS = 3500000000u /* without a multicast beacon for so long, multicast does not reach us
                              */
};

static void on_search_alarm(void *context, uint64_t now_ns);
static void ping(qsm_engine *engine);
static void on_ping_alarm(void *context, uint64_t now_ns);
static void on_request_alarm(void *context, uint64_t now_ns);

static void set_health(qsm_engine *engine, uint32_t health, uint32_t reason) {
    qsm_client *client = &engine->client;
    client->health = health;
    qsm_note(engine, QSM_TRACE_health, health, reason);
    qsm_event event = {
        .type = QSM_EVENT_HEALTH, .health = health, .reason = reason, .sender = engine->id};
    qsm_post_event(engine, &event, NULL, NULL);
}

static uint64_t draw_id(qsm_engine *engine) {
    uint64_t id = 0;
    while (id == 0)
        id = qsm_prng_next(&engine->prng);
    return id;
}

void qsm_client_start(qsm_engine *engine, uint64_t now_ns) {
    qsm_client *client = &engine->client;
    engine->id = draw_id(engine);
    client->turned_ns = now_ns;
    qsm_alarm_init(&client->search_alarm, on_search_alarm, engine);
    qsm_alarm_init(&client->ping_alarm, on_ping_alarm, engine);
    qsm_alarm_init(&client->request_alarm, on_request_alarm, engine);
    qsm_client_search(engine, QSM_REASON_STARTED);
}

void qsm_client_stop(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
    qsm_alarm_clear(&engine->alarms, &client->request_alarm);
    if (client->host != NULL) qsm_peer_unuse(engine, client->host);
    if (client->last_host != NULL) qsm_peer_unuse(engine, client->last_host);
    client->host = client->last_host = NULL;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        qsm_directory_free(&client->directories[i]);
    free(client->left);
    free(client->recent);
}

/* ---- finding the host ------------------------------------------------------------------------ */

static void stop_following(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    qsm_host_stop(engine);
    if (client->host != NULL) qsm_peer_unuse(engine, client->host);
    if (client->last_host != NULL) qsm_peer_unuse(engine, client->last_host);
    client->host = client->last_host = NULL;
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
}

static void begin_search(qsm_engine *engine, uint64_t patience_ns) {
    qsm_client *client = &engine->client;
    for (uint32_t i = 0; i < 16; i += 8) {
        uint64_t random = qsm_prng_next(&engine->prng);
        memcpy(client->solicit_nonce + i, &random, 8);
    }
    client->promote_ns = engine->now_ns + patience_ns;
    qsm_alarm_set(&engine->alarms, &client->search_alarm, engine->now_ns);
}

void qsm_client_search(qsm_engine *engine, uint32_t reason) {
    qsm_client *client = &engine->client;
    bool admitted = client->health == QSM_HEALTH_MEMBER || client->health == QSM_HEALTH_SUSPENDED;
    qsm_peer *silent = reason == QSM_REASON_HOST_SILENT && admitted ? client->host : NULL;
    if (silent != NULL) silent->uses++;
    stop_following(engine);
    client->last_host = silent;
    client->target = (qsm_address){0};
    uint64_t patience = SEARCH_NS + qsm_prng_below(&engine->prng, SEARCH_NS);
    if (reason == QSM_REASON_HOST_SILENT) {
        uint32_t position = 0; /* in the line of succession; those not in it wait longest */
        while (position < client->successor_count && client->successors[position] != engine->id)
            position++;
        patience = SUCCESSION_NS / 2 + position * SUCCESSION_NS +
                   qsm_prng_below(&engine->prng, SUCCESSION_NS / 2);
    }
    set_health(engine, QSM_HEALTH_SEARCHING, reason);
    begin_search(engine, patience);
}

/* The host says that it is done and all its regions are: there is nothing to report of it. */
static void forget_finished_directory(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->directory == NULL || client->directory->region_count > 0) return;
    qsm_directory_free(client->directory);
    client->directory = NULL;
}

void qsm_client_follow(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address,
                       uint32_t reason) {
    qsm_client *client = &engine->client;
    qsm_epoch copy = *epoch;
    qsm_address to = *address;
    stop_following(engine);
    forget_finished_directory(engine);
    client->target = to;
    client->merging = true;
    if (copy.term > client->term_seen) client->term_seen = copy.term;
    set_health(engine, QSM_HEALTH_SEARCHING, reason);
    begin_search(engine, engine->config.failure_ns +
                             qsm_prng_below(&engine->prng, engine->config.failure_ns));
}

static void become_host(qsm_engine *engine, uint64_t term) {
    qsm_client *client = &engine->client;
    bool took_over = client->directory != NULL;
    stop_following(engine);
    if (!qsm_host_start(engine, term, took_over)) {
        begin_search(engine, SEARCH_NS);
        return;
    }
    client->insisted = true;
    client->epoch = engine->host->epoch;
    client->term_seen = term;
    client->suspended = false;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    set_health(engine, QSM_HEALTH_HOST, QSM_REASON_NOBODY_ANSWERED);
    qsm_apply_join(engine);
}

static void solicit(qsm_engine *engine, const qsm_address *to, bool multicast) {
    qsm_control control = {.solicit = {.address = engine->config.self, .multicast = multicast}};
    memcpy(control.solicit.nonce, engine->client.solicit_nonce, 16);
    qsm_post_control(engine, QSM_KIND_SOLICIT, &control, to);
}

static void solicit_everywhere(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    const qsm_config *config = &engine->config;
    if (qsm_address_is_set(&client->target)) solicit(engine, &client->target, false);
    if (qsm_address_is_set(&config->rendezvous)) solicit(engine, &config->rendezvous, true);
    for (uint32_t i = 0; i < config->known_peer_count; i++)
        solicit(engine, &config->known_peers[i], false);
    for (uint32_t i = 0; i < client->successor_count; i++) {
        qsm_peer *peer = qsm_peer_find(engine, client->successors[i]);
        if (peer != NULL && !peer->dead) solicit(engine, &peer->address, false);
    }
}

static void on_search_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_client *client = &engine->client;
    if (client->health == QSM_HEALTH_JOINING) { /* the host has not let us in */
        qsm_client_search(engine, QSM_REASON_HOST_SILENT);
        return;
    }
    if (client->health != QSM_HEALTH_SEARCHING) return;
    /* Put out because its application does not read: it comes back when that has changed. */
    client->rests = client->rests && engine->events.count > 0;
    if (client->rests) {
        client->promote_ns = now_ns + SEARCH_NS;
        qsm_alarm_set(&engine->alarms, &client->search_alarm, now_ns + SOLICIT_PAUSE_NS);
        return;
    }
    if (now_ns >= client->promote_ns && engine->config.may_host && !client->closing) {
        become_host(engine, client->term_seen + 1);
        return;
    }
    solicit_everywhere(engine);
    qsm_alarm_set(&engine->alarms, &client->search_alarm,
                  now_ns + SOLICIT_PAUSE_NS + qsm_prng_below(&engine->prng, SOLICIT_PAUSE_NS / 4));
}

/* The host that seemed gone answers: if it has not put us out, all is as it was; else it says so to
 * our ping. */
static void go_on_with_last_host(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    client->host = client->last_host;
    client->last_host = NULL;
    client->pong_ns = engine->now_ns;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    set_health(engine, client->suspended ? QSM_HEALTH_SUSPENDED : QSM_HEALTH_MEMBER,
               QSM_REASON_FOUND_HOST);
    ping(engine);
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, engine->now_ns + PING_RETRY_NS);
    qsm_alarm_set_earlier(&engine->alarms, &client->request_alarm,
                          engine->now_ns + REQUEST_DELAY_NS);
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        region->drained = false; /* what was reported meanwhile went nowhere */
        qsm_region_check_drained(region);
    }
}

void qsm_client_offer_arrived(qsm_engine *engine, const qsm_offer *offer) {
    qsm_client *client = &engine->client;
    static const uint8_t none[16];
    if (!qsm_equal16(offer->nonce, client->solicit_nonce) || offer->epoch.host == engine->id)
        return;
    if (offer->epoch.term > client->term_seen) client->term_seen = offer->epoch.term;
    if (engine->host != NULL) { /* a host above us answers: it can be reached, so we yield */
        bool courted = qsm_epoch_compare(&offer->epoch, &engine->host->courted) == 0;
        bool above = qsm_epoch_compare(&offer->epoch, &engine->host->epoch) > 0;
        if (!courted && !(client->suspended && above)) return;
        if (client->suspended)
            qsm_client_reset(engine, QSM_REASON_SLEPT);
        else
            qsm_host_yield(engine, &offer->epoch, &offer->address);
        return;
    }
    if (client->health != QSM_HEALTH_SEARCHING || client->rests) return;
    if (engine->config.may_host == QSM_HOST_INSISTS && !client->insisted && !client->closing) {
        /* Once only, so that two who insist do not depose each other for ever. */
        become_host(engine, client->term_seen + 1);
        if (engine->host != NULL) qsm_host_tell(engine, &offer->address);
        return;
    }
    if (qsm_equal16(offer->cookie, none)) {
        client->target = offer->address;
        solicit(engine, &offer->address, false);
        return;
    }
    if (client->last_host != NULL && qsm_epoch_compare(&offer->epoch, &client->epoch) == 0) {
        go_on_with_last_host(engine);
        return;
    }
    if (client->last_host != NULL) qsm_peer_unuse(engine, client->last_host);
    client->last_host = NULL;
    client->host = qsm_peer_use(engine, offer->epoch.host, &offer->address);
    if (client->host == NULL) return;
    memcpy(client->cookie, offer->cookie, 16);
    client->epoch = offer->epoch;
    client->pong_ns = engine->now_ns;
    qsm_note(engine, QSM_TRACE_follows_host, offer->epoch.host, offer->epoch.term);
    set_health(engine, QSM_HEALTH_JOINING, QSM_REASON_FOUND_HOST);
    qsm_apply_join(engine);
    qsm_alarm_set(&engine->alarms, &client->search_alarm,
                  engine->now_ns + engine->config.failure_ns);
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, engine->now_ns + PING_RETRY_NS);
}

static void tell_of_host(qsm_engine *engine, const qsm_address *to) {
    qsm_client *client = &engine->client;
    qsm_control ours = {.beacon = {.epoch = client->epoch,
                                   .address = client->host->address,
                                   .members = 2}}; /* at least the host and this node */
    qsm_post_control(engine, QSM_KIND_BEACON, &ours, to);
}

/* Another host knows this node, but not its host: each is told of the other. */
static void introduce(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_control theirs = {.beacon = *beacon};
    qsm_post_control(engine, QSM_KIND_BEACON, &theirs, &engine->client.host->address);
    tell_of_host(engine, &beacon->address);
}

/* The latest eight are kept: the first of them gives way. */
static void remember_known(qsm_config *config, const qsm_address *address) {
    const uint32_t known_max = sizeof config->known_peers / sizeof *config->known_peers;
    for (uint32_t i = 0; i < config->known_peer_count; i++)
        if (qsm_address_equal(&config->known_peers[i], address)) return;
    if (config->known_peer_count == known_max) {
        memmove(config->known_peers, config->known_peers + 1,
                (known_max - 1) * sizeof *config->known_peers);
        config->known_peer_count--;
    }
    config->known_peers[config->known_peer_count++] = *address;
}

void qsm_client_add_peer(qsm_engine *engine, const qsm_address *address) {
    qsm_client *client = &engine->client;
    remember_known(&engine->config, address);
    client->introductions_left = INTRODUCTIONS;
    if (engine->host != NULL)
        qsm_host_tell(engine, address);
    else if (client->host != NULL)
        tell_of_host(engine, address);
    else if (client->health == QSM_HEALTH_SEARCHING)
        solicit(engine, address, false);
}

void qsm_client_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_client *client = &engine->client;
    if (beacon->multicast) client->heard_multicast_ns = engine->now_ns;
    if (beacon->epoch.host == engine->id) return;
    if (beacon->epoch.term > client->term_seen) client->term_seen = beacon->epoch.term;
    if (engine->host != NULL) qsm_host_beacon_arrived(engine, beacon);
    if (client->host != NULL && !beacon->multicast &&
        qsm_epoch_compare(&beacon->epoch, &client->epoch) != 0)
        introduce(engine, beacon);
    if (engine->host != NULL || client->health != QSM_HEALTH_SEARCHING) return;
    if (client->promote_ns < engine->now_ns + SEARCH_NS)
        client->promote_ns = engine->now_ns + SEARCH_NS;
    solicit(engine, &beacon->address, false);
}

/* ---- staying in touch ------------------------------------------------------------------------ */

static void ping(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->host == NULL) return;
    client->ping_nonce = qsm_prng_next(&engine->prng) | 1;
    client->ping_ns = engine->now_ns;
    bool admitted = client->health == QSM_HEALTH_MEMBER || client->health == QSM_HEALTH_SUSPENDED;
    bool hears =
        client->heard_multicast_ns != 0 && engine->now_ns - client->heard_multicast_ns < HEARING_NS;
    qsm_control control = {
        .ping = {.nonce = client->ping_nonce,
                 .epoch = client->epoch,
                 .applied = admitted && client->directory ? client->directory->applied : 0,
                 .hears_multicast = hears}};
    qsm_post_control(engine, QSM_KIND_PING, &control, &client->host->address);
}

static void on_ping_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_client *client = &engine->client;
    if (client->host == NULL) return;
    if (now_ns - client->pong_ns > engine->config.failure_ns) {
        qsm_note(engine, QSM_TRACE_host_silent, client->host->id, now_ns - client->pong_ns);
        qsm_client_search(engine, QSM_REASON_HOST_SILENT);
        return;
    }
    bool answered = client->pong_ns >= client->ping_ns;
    bool due = now_ns - client->ping_ns >= (answered ? engine->config.heartbeat_ns : PING_RETRY_NS);
    if (due) ping(engine);
    if (due && client->introductions_left > 0) {
        client->introductions_left--; /* what was told at once may have been lost */
        for (uint32_t i = 0; i < engine->config.known_peer_count; i++)
            tell_of_host(engine, &engine->config.known_peers[i]);
    }
    uint64_t pause =
        client->pong_ns >= client->ping_ns ? engine->config.heartbeat_ns : PING_RETRY_NS;
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, client->ping_ns + pause);
}

static void resume(qsm_engine *engine, uint32_t reason) {
    qsm_client *client = &engine->client;
    if (!client->suspended) return;
    client->suspended = false;
    qsm_scheduler_unblock(engine);
    set_health(engine, engine->host != NULL ? QSM_HEALTH_HOST : QSM_HEALTH_MEMBER, reason);
}

void qsm_client_pong_arrived(qsm_engine *engine, uint64_t from, const qsm_ping *pong) {
    qsm_client *client = &engine->client;
    if (client->host == NULL || client->host->id != from) return;
    if (qsm_epoch_compare(&pong->epoch, &client->epoch) != 0 || pong->nonce != client->ping_nonce)
        return;
    client->pong_ns = engine->now_ns;
    client->successor_count = pong->successor_count;
    memcpy(client->successors, pong->successors, sizeof client->successors);
    qsm_alarm_set(&engine->alarms, &client->ping_alarm,
                  client->ping_ns + engine->config.heartbeat_ns);
    if (client->suspended && client->health == QSM_HEALTH_SUSPENDED)
        resume(engine, QSM_REASON_ADMITTED);
}

void qsm_client_evicted_arrived(qsm_engine *engine, const qsm_evicted *evicted) {
    qsm_client *client = &engine->client;
    if (evicted->node != engine->id || client->host == NULL) return;
    if (qsm_epoch_compare(&evicted->epoch, &client->epoch) != 0) return;
    if (client->health == QSM_HEALTH_JOINING && evicted->nonce != 0 &&
        !qsm_dead_has(&engine->dead, engine->id) && evicted->nonce != client->ping_nonce)
        return; /* an answer to an earlier ping, sent before we were let in */
    /* After a merge that only means that the other side had gone on without us. */
    qsm_client_reset(engine, client->merging ? QSM_REASON_HOST_MERGED : evicted->reason);
}

void qsm_client_reset(qsm_engine *engine, uint32_t reason) {
    qsm_client *client = &engine->client;
    uint64_t before = engine->id;
    qsm_count(engine, QSM_COUNT_evicted);
    stop_following(engine);
    uint32_t cursor = 0;
    for (qsm_group *group; (group = qsm_table_next(&engine->groups, &cursor)) != NULL;)
        for (qsm_group *g = group; g != NULL; g = g->next_same_hash) {
            qsm_group_reset(g);
            g->join_request = ++client->requests;
            g->held = false;
        }
    while (engine->regions.count > 0) {
        cursor = 0;
        qsm_region *region = qsm_table_next(&engine->regions, &cursor);
        qsm_region_dissolve(region);
    }
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        qsm_directory_free(&client->directories[i]);
    client->directory = NULL;
    client->recent_count = 0;
    client->suspended = false;
    client->slow_reported = false;
    client->rests = reason == QSM_REASON_EVICTED_SLOW;
    client->successor_count = 0;
    if (!QSM_BUG(19)) engine->id = draw_id(engine);
    engine->control_counter = 0;
    qsm_note(engine, QSM_TRACE_new_identity, engine->id, before);
    qsm_client_search(engine, reason);
}

void qsm_client_turned(qsm_engine *engine, uint64_t now_ns) {
    qsm_client *client = &engine->client;
    uint64_t slept = now_ns - client->turned_ns;
    client->turned_ns = now_ns;
    if (slept < engine->config.failure_ns * 3 / 4 || client->suspended || client->directory == NULL)
        return;
    client->suspended = !QSM_BUG(8);
    qsm_count(engine, QSM_COUNT_suspensions);
    if (engine->host != NULL) { /* somebody may have taken over: ask, and listen for those who
                                   follow us */
        qsm_host_slept(engine, now_ns);
        client->confirm_ns = now_ns + SEARCH_NS;
        solicit_everywhere(engine);
        set_health(engine, QSM_HEALTH_SUSPENDED, QSM_REASON_SLEPT);
    } else if (client->host != NULL) {
        client->pong_ns = now_ns; /* its silence meanwhile means nothing */
        ping(engine);
        qsm_alarm_set(&engine->alarms, &client->ping_alarm, now_ns + PING_RETRY_NS);
        set_health(engine, QSM_HEALTH_SUSPENDED, QSM_REASON_SLEPT);
    }
    qsm_note(engine, QSM_TRACE_suspended, slept, client->ping_nonce);
    qsm_alarm_set(&engine->alarms, &client->request_alarm, now_ns + SEARCH_NS);
}

/* ---- asking for membership ------------------------------------------------------------------- */

static void request_soon(qsm_engine *engine) {
    qsm_alarm_set_earlier(&engine->alarms, &engine->client.request_alarm,
                          engine->now_ns + REQUEST_DELAY_NS);
}

static bool is_recent(const qsm_client *client, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    for (uint32_t i = 0; i < client->recent_count; i++)
        if (memcmp(client->recent[i], id, QSM_GROUP_ID_BYTES) == 0) return true;
    return false;
}

void qsm_client_request_join(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    group->join_request = ++client->requests;
    group->held = is_recent(client, group->id);
    request_soon(group->engine);
}

static bool add_id(uint8_t (**ids)[QSM_GROUP_ID_BYTES], uint32_t *count, uint32_t *capacity,
                   const uint8_t id[QSM_GROUP_ID_BYTES]) {
    if (*count == *capacity) {
        uint32_t grown = *capacity ? *capacity * 2 : 16;
        void *memory = realloc(*ids, grown * sizeof **ids);
        if (memory == NULL) return false;
        *ids = memory;
        *capacity = grown;
    }
    memcpy((*ids)[(*count)++], id, QSM_GROUP_ID_BYTES);
    return true;
}

void qsm_client_request_leave(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    client->requests++;
    add_id(&client->left, &client->left_count, &client->left_capacity, group->id);
    if (group->unacknowledged > 0)
        add_id(&client->recent, &client->recent_count, &client->recent_capacity, group->id);
    request_soon(group->engine);
}

void qsm_client_forget_group(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++) {
        qsm_directory *directory = &client->directories[i];
        if (!directory->used || directory->groups.count == 0) continue;
        if (qsm_table_get(&directory->groups, group->handle) == group) {
            qsm_table_remove(&directory->groups, group->handle);
            continue;
        }
        for (uint32_t s = 0; s < directory->groups.capacity; s++)
            if (directory->groups.slots[s].value == group) {
                qsm_table_remove(&directory->groups, directory->groups.slots[s].key);
                break;
            }
    }
}

static bool all_own_messages_arrived(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->sender != NULL && region->sender->stable < region->sender->high) return false;
    return true;
}

/* Groups that were left and joined again may send once their earlier messages have arrived
 * everywhere. */
static void release_held(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->recent_count == 0 || !all_own_messages_arrived(engine)) return;
    client->recent_count = 0;
    uint32_t cursor = 0;
    for (qsm_group *group; (group = qsm_table_next(&engine->groups, &cursor)) != NULL;)
        for (qsm_group *g = group; g != NULL; g = g->next_same_hash)
            g->held = false;
    qsm_scheduler_unblock(engine);
}

static void on_request_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_client *client = &engine->client;
    if (client->suspended && engine->host != NULL && now_ns >= client->confirm_ns)
        resume(engine, QSM_REASON_NOBODY_ANSWERED);
    release_held(engine);
    qsm_apply_changes(engine);
    if (client->closing) {
        if (now_ns >= client->close_by_ns)
            qsm_client_closed(engine);
        else if (engine->host != NULL)
            qsm_apply_hand_over(engine);
    }
    if (client->recent_count > 0 || client->closing || client->suspended)
        qsm_alarm_set_earlier(&engine->alarms, &client->request_alarm,
                              now_ns + 20 * (uint64_t)REQUEST_DELAY_NS);
}

/* ---- going ----------------------------------------------------------------------------------- */

void qsm_client_close(qsm_engine *engine, uint64_t now_ns) {
    qsm_client *client = &engine->client;
    if (client->closing || client->health == QSM_HEALTH_CLOSED) return;
    client->closing = true;
    client->close_by_ns = now_ns + engine->config.failure_ns;
    while (engine->groups.count > 0) {
        uint32_t cursor = 0;
        qsm_group_leave(qsm_table_next(&engine->groups, &cursor));
    }
    if (client->host == NULL && engine->host == NULL) {
        qsm_client_closed(engine);
        return;
    }
    qsm_apply_leave(engine);
    qsm_alarm_set(&engine->alarms, &client->request_alarm, now_ns + REQUEST_DELAY_NS);
}

void qsm_client_closed(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->health == QSM_HEALTH_CLOSED) return;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
    qsm_alarm_clear(&engine->alarms, &client->request_alarm);
    qsm_host_stop(engine);
    set_health(engine, QSM_HEALTH_CLOSED, QSM_REASON_CLOSING);
}

void qsm_client_admitted(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    client->slow_reported = false;
    client->merging = false;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    if (engine->host != NULL) return;
    client->suspended = false;
    set_health(engine, QSM_HEALTH_MEMBER, QSM_REASON_ADMITTED);
}

void qsm_client_become_successor(qsm_engine *engine, uint64_t term) {
    if (engine->config.may_host)
        become_host(engine, term);
    else
        qsm_client_search(engine, QSM_REASON_HOST_MERGED);
}
