#include "membership/search.h"

#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"

enum {
    SOLICIT_PAUSE_NS = 100000000,
    SUCCESSION_NS = 250000000, /* the next in line waits that much longer */
    INTRODUCTIONS = 8,         /* times that a peer just added is told of our host */
    STRANGER_NS = 4000000000u  /* that hosts are given to find each other, more than once */
};

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
    qsm_client_stop_following(engine);
    client->last_host = silent;
    client->target = (qsm_address){0};
    uint64_t patience = QSM_SEARCH_NS + qsm_prng_below(&engine->prng, QSM_SEARCH_NS);
    if (reason == QSM_REASON_HOST_SILENT) {
        uint32_t position = 0; /* in the line of succession; those not in it wait longest */
        while (position < client->successor_count && client->successors[position] != engine->id)
            position++;
        patience = SUCCESSION_NS / 2 + position * SUCCESSION_NS +
                   qsm_prng_below(&engine->prng, SUCCESSION_NS / 2);
    }
    qsm_client_set_health(engine, QSM_HEALTH_SEARCHING, reason);
    begin_search(engine, patience);
}

static void forget_last_host(qsm_engine *engine) {
    if (engine->client.last_host != NULL) qsm_peer_unuse(engine, engine->client.last_host);
    engine->client.last_host = NULL;
}

void qsm_client_lost_touch(qsm_engine *engine) {
    qsm_client_search(engine, QSM_REASON_HOST_SILENT);
    forget_last_host(engine);
}

/* The host says that it is done and all its regions are: there is nothing to report of it. */
static void forget_finished_directory(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->directory == NULL || client->directory->region_count > 0) return;
    client->directory = NULL;
    qsm_directories_forget_unused(engine);
}

void qsm_client_follow(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address,
                       uint32_t reason) {
    qsm_client *client = &engine->client;
    qsm_epoch copy = *epoch;
    qsm_address to = *address;
    qsm_client_stop_following(engine);
    forget_finished_directory(engine);
    client->target = to;
    client->merging = true;
    if (copy.term > client->term_seen) client->term_seen = copy.term;
    qsm_client_set_health(engine, QSM_HEALTH_SEARCHING, reason);
    begin_search(engine, engine->config.failure_ns +
                             qsm_prng_below(&engine->prng, engine->config.failure_ns));
}

static void become_host(qsm_engine *engine, uint64_t term) {
    qsm_client *client = &engine->client;
    bool took_over = client->directory != NULL;
    qsm_client_stop_following(engine);
    if (!qsm_host_start(engine, term, took_over)) {
        begin_search(engine, QSM_SEARCH_NS);
        return;
    }
    client->insisted = true;
    client->epoch = engine->host->epoch;
    client->term_seen = term;
    client->suspended = false;
    client->slow_reported = false; /* whoever was told has not put us out */
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_client_set_health(engine, QSM_HEALTH_HOST, QSM_REASON_NOBODY_ANSWERED);
    qsm_request_admission(engine);
}

static void solicit(qsm_engine *engine, const qsm_address *to, bool multicast) {
    qsm_control control = {.solicit = {.address = engine->config.self, .multicast = multicast}};
    memcpy(control.solicit.nonce, engine->client.solicit_nonce, 16);
    qsm_post_control(engine, QSM_KIND_SOLICIT, &control, to);
}

void qsm_search_ask(qsm_engine *engine) {
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

void qsm_search_alarm(void *context, uint64_t now_ns) {
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
        client->promote_ns = now_ns + QSM_SEARCH_NS;
        qsm_alarm_set(&engine->alarms, &client->search_alarm, now_ns + SOLICIT_PAUSE_NS);
        return;
    }
    if (now_ns >= client->promote_ns && engine->config.may_host && !client->closing) {
        become_host(engine, client->term_seen + 1);
        return;
    }
    qsm_search_ask(engine);
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
    client->slow_reported = false; /* perhaps it was not heard */
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_client_set_health(engine, client->suspended ? QSM_HEALTH_SUSPENDED : QSM_HEALTH_MEMBER,
                          QSM_REASON_FOUND_HOST);
    qsm_client_ping(engine);
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, engine->now_ns + QSM_PING_RETRY_NS);
    qsm_request_soon(engine);
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        region->drained = false; /* what was reported meanwhile went nowhere */
        qsm_region_check_drained(region);
    }
}

/* The node has lost its host, and finds one that insists although nobody has sent it there. */
static bool is_drawn_over(const qsm_client *client, bool insists) {
    return insists && client->directory != NULL && !client->merging;
}

/* Too many have insisted lately: one of this node's own side takes over. */
static bool distrusts(qsm_engine *engine, bool insists) {
    qsm_client *client = &engine->client;
    return is_drawn_over(client, insists) &&
           !qsm_patience_allows(&client->patience, engine->now_ns);
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
    if (distrusts(engine, offer->insists)) return;
    if (engine->config.may_host == QSM_HOST_INSISTS && !client->insisted && !client->closing) {
        /* Once only, so that two who insist do not depose each other for ever. */
        qsm_patience_learn(&client->patience, offer->take_overs, engine->now_ns);
        become_host(engine, client->term_seen + 1);
        if (engine->host == NULL) return;
        qsm_patience_spend(&client->patience, engine->now_ns);
        qsm_host_tell(engine, &offer->address);
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
    forget_last_host(engine);
    client->host = qsm_peer_use(engine, offer->epoch.host, &offer->address);
    if (client->host == NULL) return;
    if (is_drawn_over(client, offer->insists))
        qsm_patience_spend(&client->patience, engine->now_ns);
    memcpy(client->cookie, offer->cookie, 16);
    client->epoch = offer->epoch;
    client->pong_ns = engine->now_ns;
    qsm_note(engine, QSM_TRACE_follows_host, offer->epoch.host, offer->epoch.term);
    qsm_client_set_health(engine, QSM_HEALTH_JOINING, QSM_REASON_FOUND_HOST);
    qsm_request_admission(engine);
    qsm_alarm_set(&engine->alarms, &client->search_alarm,
                  engine->now_ns + engine->config.failure_ns);
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, engine->now_ns + QSM_PING_RETRY_NS);
}

void qsm_search_tell_of_host(qsm_engine *engine, const qsm_address *to) {
    qsm_client *client = &engine->client;
    qsm_control ours = {.beacon = {.epoch = client->epoch,
                                   .address = client->host->address,
                                   .members = 2}}; /* at least the host and this node */
    qsm_post_control(engine, QSM_KIND_BEACON, &ours, to);
}

/* Another host knows this node, but not its host: each is told of the other. */
static void introduce(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_control theirs = {.beacon = *beacon};
    theirs.beacon.multicast = false;
    qsm_post_control(engine, QSM_KIND_BEACON, &theirs, &engine->client.host->address);
    qsm_search_tell_of_host(engine, &beacon->address);
}

/* By multicast, hosts hear of each other as this node does. When they still go their own ways
 * after a while, one of them hears no multicast, and it is for those to speak who do. */
static bool have_not_met(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_client *client = &engine->client;
    if (qsm_epoch_compare(&beacon->epoch, &client->stranger) != 0) {
        client->stranger = beacon->epoch;
        client->stranger_ns = engine->now_ns;
        return false;
    }
    if (engine->now_ns - client->stranger_ns < STRANGER_NS) return false;
    client->stranger_ns = engine->now_ns;
    return true;
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
        qsm_search_tell_of_host(engine, address);
    else if (client->health == QSM_HEALTH_SEARCHING)
        solicit(engine, address, false);
}

void qsm_client_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_client *client = &engine->client;
    if (beacon->epoch.host == engine->id) return;
    if (beacon->multicast) {
        qsm_hearing_noticed(engine);
        if (client->host != NULL && qsm_epoch_compare(&beacon->epoch, &client->epoch) == 0)
            qsm_hearing_beacon(engine);
    }
    if (beacon->epoch.term > client->term_seen) client->term_seen = beacon->epoch.term;
    if (engine->host != NULL) qsm_host_beacon_arrived(engine, beacon);
    if (client->host != NULL && qsm_epoch_compare(&beacon->epoch, &client->epoch) != 0 &&
        (!beacon->multicast || have_not_met(engine, beacon)))
        introduce(engine, beacon);
    if (engine->host != NULL || client->health != QSM_HEALTH_SEARCHING) return;
    if (distrusts(engine, beacon->insists)) return;
    if (client->promote_ns < engine->now_ns + QSM_SEARCH_NS)
        client->promote_ns = engine->now_ns + QSM_SEARCH_NS;
    solicit(engine, &beacon->address, false);
}

void qsm_client_become_successor(qsm_engine *engine, uint64_t term) {
    if (engine->config.may_host)
        become_host(engine, term);
    else
        qsm_client_search(engine, QSM_REASON_HOST_MERGED);
}
