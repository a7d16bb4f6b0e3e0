#include "membership/request.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "sending/outgoing.h"
#include "sending/sender.h"

/* ---- what this node joins and leaves -------------------------------------------------------- */

void qsm_request_soon(qsm_engine *engine) {
    qsm_alarm_set_earlier(&engine->alarms, &engine->client.request_alarm,
                          engine->now_ns + QSM_REQUEST_DELAY_NS);
}

static bool is_recent(const qsm_client *client, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    for (uint32_t i = 0; i < client->recent_count; i++)
        if (memcmp(client->recent[i], id, QSM_GROUP_ID_BYTES) == 0) return true;
    return false;
}

void qsm_request_join(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    group->join_request = ++client->requests;
    group->held = is_recent(client, group->id);
    qsm_request_soon(group->engine);
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

void qsm_request_leave(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    client->requests++;
    add_id(&client->left, &client->left_count, &client->left_capacity, group->id);
    if (qsm_outgoing_unacknowledged(group) > 0)
        add_id(&client->recent, &client->recent_count, &client->recent_capacity, group->id);
    qsm_request_soon(group->engine);
}

void qsm_request_forget_group(qsm_group *group) {
    qsm_client *client = &group->engine->client;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++) {
        qsm_directory *directory = &client->directories[i];
        if (!directory->used || directory->groups.count == 0) continue;
        if (!qsm_index_remove(&directory->groups, group->handle, group->number))
            qsm_index_remove_number(&directory->groups, group->number);
    }
}

static bool all_own_messages_arrived(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->sender != NULL && region->sender->stable < region->sender->high) return false;
    return true;
}

void qsm_request_release_held(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    if (client->recent_count == 0 || !all_own_messages_arrived(engine)) return;
    client->recent_count = 0;
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;)
        group->held = false;
    qsm_scheduler_unblock(engine);
}

/* ---- told to the host --------------------------------------------------------------------- */

static void send_to_host(qsm_engine *engine, const qsm_bytes *message) {
    qsm_client *client = &engine->client;
    if (message->failed || message->count == 0) return;
    if (engine->host != NULL) {
        qsm_host_message(engine, engine->id, message->data, message->count);
        return;
    }
    if (client->host == NULL) return;
    qsm_link *link = qsm_link_to(engine, client->host);
    if (link != NULL) qsm_link_send(link, message->data, message->count);
}

/* Those whom that host has put out: they cannot come along with us, even if they do not know. */
static void report_dead(const qsm_engine *engine, uint32_t tag, qsm_bytes *out) {
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < QSM_EVICTED_MAX && i < engine->dead.next; i++) {
        uint64_t id = engine->dead.order[i];
        uint64_t batch = qsm_dead_since(&engine->dead, id);
        if (!qsm_dead_has(&engine->dead, id) || (batch & 0xffff) != (tag & 0xffff)) continue;
        qsm_bytes_add64(out, id);
        count++;
    }
    qsm_bytes_patch32(out, count_at, count);
}

/* What this node knows of earlier hosts: how far it has followed each, which views it was told of,
 * and the regions that are not dissolved yet. */
static void report_past(qsm_engine *engine, qsm_bytes *out) {
    uint32_t count_at = out->count, count = 0, cursor = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++) {
        const qsm_directory *directory = &engine->client.directories[i];
        if (!qsm_directory_tells_of_past(&engine->client, directory)) continue;
        qsm_bytes_add32(out, directory->tag);
        qsm_bytes_add64(out, directory->applied);
        report_dead(engine, directory->tag, out);
        count++;
    }
    qsm_bytes_patch32(out, count_at, count);
    qsm_bytes_add32(out, engine->groups.count);
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;) {
        qsm_bytes_add(out, group->id, QSM_GROUP_ID_BYTES);
        qsm_bytes_add64(out, group->view);
    }
    qsm_bytes_add32(out, engine->regions.count);
    cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        qsm_bytes_add64(out, region->uid);
        qsm_bytes_add64(out, region->created);
        qsm_bytes_add32(out, region->member_count);
        for (uint32_t i = 0; i < region->member_count; i++) {
            qsm_bytes_add64(out, region->members[i].id);
            qsm_bytes_add8(out, region->members[i].dead);
        }
        region->drained = false; /* the new host has not heard it */
    }
}

void qsm_request_admission(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_JOIN);
    qsm_bytes_add(&out, client->cookie, 16);
    qsm_bytes_add_address(&out, &engine->config.self);
    qsm_bytes_add64(&out, client->view_floor);
    qsm_bytes_add32(&out, ++client->joins);
    qsm_bytes_add32(&out, client->requests);
    report_past(engine, &out);
    qsm_hearing_describe(engine, &out);
    client->requests_sent = client->requests;
    client->left_count = 0;
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_changes(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    bool in_touch = engine->host != NULL || client->host != NULL;
    if (!in_touch || client->requests_sent == client->requests)
        return; /* a later join tells it all */
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_CHANGES);
    qsm_bytes_add32(&out, client->requests);
    qsm_bytes_add32(&out, client->left_count);
    if (client->left_count > 0)
        qsm_bytes_add(&out, client->left, client->left_count * QSM_GROUP_ID_BYTES);
    uint32_t count_at = out.count, count = 0;
    qsm_bytes_add32(&out, 0);
    for (qsm_group *group = NULL; (group = qsm_group_next(engine, group)) != NULL;)
        if (group->join_request > client->requests_sent) {
            qsm_bytes_add(&out, group->id, QSM_GROUP_ID_BYTES);
            count++;
        }
    qsm_bytes_patch32(&out, count_at, count);
    client->requests_sent = client->requests;
    client->left_count = 0;
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_report_hearing(qsm_engine *engine) {
    if (engine->host == NULL && engine->client.host == NULL) return; /* a later join tells it */
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_HEARING);
    qsm_hearing_describe(engine, &out);
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_departure(qsm_engine *engine) {
    qsm_request_changes(engine);
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_LEAVE);
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_report_drained(qsm_engine *engine, qsm_region *region) {
    qsm_client *client = &engine->client;
    qsm_note(engine, QSM_TRACE_region_drained, region->uid,
             client->directory ? client->directory->applied : 0);
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_DRAINED);
    qsm_bytes_add64(&out, region->uid);
    qsm_bytes_add64(&out, client->directory ? client->directory->applied : 0);
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_report_slow(qsm_engine *engine, qsm_region *region) {
    qsm_client *client = &engine->client;
    if (client->slow_reported) return;
    client->slow_reported = true;
    qsm_note(engine, QSM_TRACE_laggard, engine->id, region->uid);
    if (engine->host != NULL) { /* the host cannot put itself out: it goes */
        qsm_host_step_down(engine->host);
        return;
    }
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_HOST_SLOW);
    qsm_bytes_add64(&out, region->uid);
    send_to_host(engine, &out);
    qsm_bytes_free(&out);
}

void qsm_request_hand_over(qsm_engine *engine) {
    qsm_host *host = engine->host;
    if (engine->regions.count > 0) return; /* our own messages first */
    if (!host->handed_over) host->handed_over = qsm_host_name_successor(host);
    bool told = true; /* wait until all have it */
    for (uint32_t i = 0; i < host->client_count; i++)
        if (host->clients[i]->peer != NULL && host->clients[i]->peer->link != NULL &&
            host->clients[i]->peer->link->first != NULL)
            told = false;
    if (told) qsm_client_closed(engine);
}
