/*
 * host_requests.c - what nodes tell the host: that they join, which groups they want to be in or
 * leave, which regions they have finished, that they cannot keep up or want to go. See request.h.
 */
#include "core/engine.h"
#include "core/planted.h"
#include "membership/dead.h"
#include "membership/host.h"
#include "membership/peer.h"

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
        client = qsm_host_add_client(host, from, &address);
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
