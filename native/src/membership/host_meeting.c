/*
 * host_meeting.c - how a host is found by nodes and by other hosts, and how it gives way to one of
 * those.
 */
#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/peer.h"

enum {
    COOKIE_SLOT_NS = 2000000000,
    BEACON_NS = 1000000000,
    BEACON_PAUSE_NS = 100000000,
    ANSWER_PAUSE_NS = 20000000
};

/* ---- being found ----------------------------------------------------------------------------- */

static qsm_beacon beacon_of(const qsm_host *host, bool multicast) {
    return (qsm_beacon){.epoch = host->epoch,
                        .address = host->engine->config.self,
                        .members = host->client_count,
                        .multicast = multicast,
                        .insists = host->insists};
}

static void send_beacon(qsm_host *host, const qsm_address *to, bool multicast) {
    qsm_control control = {.beacon = beacon_of(host, multicast)};
    qsm_post_control(host->engine, QSM_KIND_BEACON, &control, to);
}

void qsm_host_announce(qsm_host *host) {
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

uint64_t qsm_host_call_out_ns(const qsm_host *host) {
    return host->beacon_ns + BEACON_NS;
}

void qsm_host_call_out(qsm_host *host, uint64_t now_ns) {
    qsm_engine *engine = host->engine;
    if (now_ns < qsm_host_call_out_ns(host)) return;
    host->beacon_ns = now_ns;
    if (qsm_address_is_set(&engine->config.rendezvous))
        send_beacon(host, &engine->config.rendezvous, true);
    qsm_hearing_beacon(engine);
    for (uint32_t i = 0; i < engine->config.known_peer_count; i++)
        send_beacon(host, &engine->config.known_peers[i], false);
}

/* ---- who asks for a host --------------------------------------------------------------------- */

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
    qsm_patience_recover(&engine->client.patience, engine->now_ns);
    control.offer.take_overs = (uint8_t)engine->client.patience.spent;
    if (host == NULL) { /* we can say who hosts, if asked directly */
        if (solicit->multicast || engine->client.host == NULL ||
            engine->client.health != QSM_HEALTH_MEMBER)
            return;
        control.offer.address = engine->client.host->address;
    } else {
        if (host->yielding || engine->client.suspended) return;
        control.offer.epoch = host->epoch;
        control.offer.address = engine->config.self;
        control.offer.insists = host->insists;
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

/* ---- two hosts meet -------------------------------------------------------------------------- */

/* Who of two hosts yields. One that is alone has most likely lost sight of the others by its own
 * fault (it is overloaded, or was cut off): it must not draw all of them over to itself. One that
 * insists counts as in company, unless too many have insisted lately. */
static bool outranks(const qsm_host *host, const qsm_beacon *beacon, bool insists) {
    bool we_are_alone = host->client_count <= 1 && !host->insists;
    bool they_are_alone = beacon->members <= 1 && !insists;
    if (we_are_alone != they_are_alone) return we_are_alone;
    return qsm_epoch_compare(&beacon->epoch, &host->epoch) > 0;
}

/* The other one should know of us; it may not hear our multicast. */
static void answer_beacon(qsm_host *host, const qsm_beacon *beacon, bool stays) {
    qsm_engine *engine = host->engine;
    if (engine->now_ns - host->answer_ns <= ANSWER_PAUSE_NS) return;
    host->answer_ns = engine->now_ns;
    qsm_control control = {.beacon = beacon_of(host, false)};
    control.beacon.stays = stays;
    qsm_post_control(engine, QSM_KIND_BEACON, &control, &beacon->address);
}

/* True when a host that insists may replace this one. */
static bool may_insist(qsm_host *host, const qsm_beacon *beacon) {
    qsm_engine *engine = host->engine;
    if (!beacon->insists || qsm_patience_allows(&engine->client.patience, engine->now_ns))
        return true;
    if (!host->yielding) qsm_count(engine, QSM_COUNT_insists_refused);
    return false;
}

void qsm_host_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon) {
    qsm_host *host = engine->host;
    if (qsm_epoch_compare(&beacon->epoch, &host->epoch) == 0) return;
    if (beacon->stays && beacon->members > 1) host->insists = false;
    bool allowed = may_insist(host, beacon);
    if (!outranks(host, beacon, beacon->insists && allowed)) {
        answer_beacon(host, beacon, !allowed);
        return;
    }
    if (host->yielding) return;
    /* Only its answer to a question of ours proves that we can reach it. */
    host->courted = beacon->epoch;
    host->courted_insists = beacon->insists;
    qsm_control control = {.solicit = {.address = engine->config.self}};
    memcpy(control.solicit.nonce, engine->client.solicit_nonce, 16);
    qsm_post_control(engine, QSM_KIND_SOLICIT, &control, &beacon->address);
}

void qsm_host_yield(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address) {
    qsm_host *host = engine->host;
    if (host->yielding) return;
    host->yielding = true;
    host->yield_epoch = *epoch;
    host->yield_address = *address;
    host->yield_insisted = host->courted_insists && qsm_epoch_compare(epoch, &host->courted) == 0;
    host->yield_by_ns = engine->now_ns + 2 * engine->config.failure_ns;
    qsm_note(engine, QSM_TRACE_host_yields, epoch->host, epoch->term);
    qsm_host_changed(host);
}

/* Sends everybody to another host. */
static void send_elsewhere(qsm_host *host, const qsm_epoch *epoch, const qsm_address *address,
                           bool insisted) {
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_CLIENT_MERGE);
    qsm_bytes_add64(&out, epoch->term);
    qsm_bytes_add64(&out, epoch->host);
    qsm_bytes_add_address(&out, address);
    qsm_bytes_add8(&out, insisted);
    for (uint32_t i = 0; i < host->client_count && !out.failed; i++)
        if (host->clients[i]->peer != NULL)
            qsm_host_send(host, host->clients[i], out.data, out.count);
    qsm_bytes_free(&out);
}

bool qsm_host_name_successor(qsm_host *host) {
    qsm_host_client *successor = NULL;
    for (uint32_t i = 0; i < host->client_count && successor == NULL; i++)
        if (host->clients[i]->peer != NULL && !host->clients[i]->leaving)
            successor = host->clients[i];
    if (successor == NULL) return false;
    qsm_epoch next = {.term = host->epoch.term + 1, .host = successor->id};
    send_elsewhere(host, &next, &successor->address, false);
    return true;
}

void qsm_host_abdicate(qsm_engine *engine, uint32_t reason) {
    /* Who does not get the word will notice the silence. */
    qsm_host_name_successor(engine->host);
    qsm_client_reset(engine, reason);
}

void qsm_host_finish_yielding(qsm_host *host) {
    qsm_engine *engine = host->engine;
    qsm_epoch epoch = host->yield_epoch;
    qsm_address address = host->yield_address;
    if (host->yield_insisted) qsm_patience_spend(&engine->client.patience, engine->now_ns);
    send_elsewhere(host, &epoch, &address, host->yield_insisted);
    qsm_count(engine, QSM_COUNT_merges);
    /* The links stay until their messages have arrived or their peers are gone. */
    qsm_client_follow(engine, &epoch, &address, QSM_REASON_HOST_MERGED);
}
