#include "membership/client.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "membership/search.h"

static void on_ping_alarm(void *context, uint64_t now_ns);
static void on_request_alarm(void *context, uint64_t now_ns);

void qsm_client_set_health(qsm_engine *engine, uint32_t health, uint32_t reason) {
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
    qsm_alarm_init(&client->search_alarm, qsm_search_alarm, engine);
    qsm_alarm_init(&client->ping_alarm, on_ping_alarm, engine);
    qsm_alarm_init(&client->request_alarm, on_request_alarm, engine);
    qsm_hearing_start(engine, now_ns);
    qsm_client_search(engine, QSM_REASON_STARTED);
}

void qsm_client_stop(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
    qsm_alarm_clear(&engine->alarms, &client->request_alarm);
    qsm_hearing_stop(engine);
    if (client->host != NULL) qsm_peer_unuse(engine, client->host);
    if (client->last_host != NULL) qsm_peer_unuse(engine, client->last_host);
    client->host = client->last_host = NULL;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        qsm_directory_free(&client->directories[i]);
    free(client->left);
    free(client->recent);
}

void qsm_client_stop_following(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    qsm_host_stop(engine);
    if (client->host != NULL) qsm_peer_unuse(engine, client->host);
    if (client->last_host != NULL) qsm_peer_unuse(engine, client->last_host);
    client->host = client->last_host = NULL;
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
}

/* ---- staying in touch ------------------------------------------------------------------------ */

void qsm_client_ping(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->host == NULL) return;
    client->ping_nonce = qsm_prng_next(&engine->prng) | 1;
    client->ping_ns = engine->now_ns;
    bool admitted = client->health == QSM_HEALTH_MEMBER || client->health == QSM_HEALTH_SUSPENDED;
    qsm_control control = {
        .ping = {.nonce = client->ping_nonce,
                 .epoch = client->epoch,
                 .applied = admitted && client->directory ? client->directory->applied : 0}};
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
    bool due =
        now_ns - client->ping_ns >= (answered ? engine->config.heartbeat_ns : QSM_PING_RETRY_NS);
    if (due) qsm_client_ping(engine);
    if (due && client->introductions_left > 0) {
        client->introductions_left--; /* what was told at once may have been lost */
        for (uint32_t i = 0; i < engine->config.known_peer_count; i++)
            qsm_search_tell_of_host(engine, &engine->config.known_peers[i]);
    }
    uint64_t pause =
        client->pong_ns >= client->ping_ns ? engine->config.heartbeat_ns : QSM_PING_RETRY_NS;
    qsm_alarm_set(&engine->alarms, &client->ping_alarm, client->ping_ns + pause);
}

static void resume(qsm_engine *engine, uint32_t reason) {
    qsm_client *client = &engine->client;
    if (!client->suspended) return;
    client->suspended = false;
    qsm_scheduler_unblock(engine);
    qsm_client_set_health(engine, engine->host != NULL ? QSM_HEALTH_HOST : QSM_HEALTH_MEMBER,
                          reason);
}

void qsm_client_pong_arrived(qsm_engine *engine, uint64_t from, const qsm_ping *pong) {
    qsm_client *client = &engine->client;
    if (client->host == NULL || client->host->id != from) return;
    if (qsm_epoch_compare(&pong->epoch, &client->epoch) != 0 || pong->nonce != client->ping_nonce)
        return;
    client->pong_ns = engine->now_ns;
    client->scope_members = pong->members;
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
    qsm_client_stop_following(engine);
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;) {
        qsm_group_reset(group);
        group->join_request = ++client->requests;
        group->held = false;
    }
    while (engine->regions.count > 0) {
        uint32_t cursor = 0;
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
    if (slept < engine->config.failure_ns * 3 / 4) return;
    qsm_hearing_slept(engine);
    if (client->suspended || client->directory == NULL) return;
    client->suspended = !QSM_BUG(8);
    qsm_count(engine, QSM_COUNT_suspensions);
    qsm_links_slept(engine);
    if (engine->host != NULL) { /* somebody may have taken over: ask, and listen for those who
                                   follow us */
        qsm_host_slept(engine, now_ns);
        client->confirm_ns = now_ns + QSM_SEARCH_NS;
        qsm_search_ask(engine);
        qsm_client_set_health(engine, QSM_HEALTH_SUSPENDED, QSM_REASON_SLEPT);
    } else if (client->host != NULL) {
        client->pong_ns = now_ns; /* its silence meanwhile means nothing */
        qsm_client_ping(engine);
        qsm_alarm_set(&engine->alarms, &client->ping_alarm, now_ns + QSM_PING_RETRY_NS);
        qsm_client_set_health(engine, QSM_HEALTH_SUSPENDED, QSM_REASON_SLEPT);
    }
    qsm_note(engine, QSM_TRACE_suspended, slept, client->ping_nonce);
    qsm_alarm_set(&engine->alarms, &client->request_alarm, now_ns + QSM_SEARCH_NS);
}

static void on_request_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_client *client = &engine->client;
    if (client->suspended && engine->host != NULL && now_ns >= client->confirm_ns)
        resume(engine, QSM_REASON_NOBODY_ANSWERED);
    qsm_request_release_held(engine);
    qsm_request_changes(engine);
    if (client->closing) {
        if (now_ns >= client->close_by_ns)
            qsm_client_closed(engine);
        else if (engine->host != NULL)
            qsm_request_hand_over(engine);
    }
    if (client->recent_count > 0 || client->closing || client->suspended)
        qsm_alarm_set_earlier(&engine->alarms, &client->request_alarm,
                              now_ns + 20 * (uint64_t)QSM_REQUEST_DELAY_NS);
}

/* ---- going ----------------------------------------------------------------------------------- */

void qsm_client_close(qsm_engine *engine, uint64_t now_ns) {
    qsm_client *client = &engine->client;
    if (client->closing || client->health == QSM_HEALTH_CLOSED) return;
    client->closing = true;
    client->close_by_ns = now_ns + engine->config.failure_ns;
    for (qsm_group *group = qsm_group_next(engine, NULL), *next; group != NULL; group = next) {
        next = qsm_group_next(engine, group);
        qsm_group_leave(group);
    }
    if (client->host == NULL && engine->host == NULL) {
        qsm_client_closed(engine);
        return;
    }
    qsm_request_departure(engine);
    qsm_alarm_set(&engine->alarms, &client->request_alarm, now_ns + QSM_REQUEST_DELAY_NS);
}

void qsm_client_closed(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->health == QSM_HEALTH_CLOSED) return;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    qsm_alarm_clear(&engine->alarms, &client->ping_alarm);
    qsm_alarm_clear(&engine->alarms, &client->request_alarm);
    qsm_hearing_stop(engine);
    qsm_host_stop(engine);
    qsm_client_set_health(engine, QSM_HEALTH_CLOSED, QSM_REASON_CLOSING);
}

void qsm_client_admitted(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    client->slow_reported = false;
    client->merging = false;
    qsm_alarm_clear(&engine->alarms, &client->search_alarm);
    if (engine->host != NULL) return;
    client->suspended = false;
    qsm_client_set_health(engine, QSM_HEALTH_MEMBER, QSM_REASON_ADMITTED);
}
