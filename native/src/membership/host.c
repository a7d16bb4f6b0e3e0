#include "membership/host.h"

#include <assert.h>
#include <stdlib.h>

#include "core/engine.h"
#include "membership/apply.h"
#include "membership/client.h"
#include "membership/link.h"

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
    host->insists = engine->config.may_host == QSM_HOST_INSISTS;
    host->regroup_until_ns = engine->now_ns + engine->config.failure_ns / 2;
    qsm_alarm_init(&host->batch_alarm, qsm_host_on_batch_alarm, host);
    qsm_alarm_init(&host->check_alarm, qsm_host_on_check_alarm, host);
    qsm_alarm_set(&engine->alarms, &host->check_alarm,
                  engine->now_ns + engine->config.heartbeat_ns);
    engine->host = host;
    qsm_note(engine, QSM_TRACE_became_host, term, engine->id);
    if (took_over) qsm_count(engine, QSM_COUNT_take_overs);
    qsm_host_announce(host);
    return true;
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
        qsm_host_client_free(host, host->clients[i]);
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
    qsm_host_check_soon(host);
    uint64_t due = host->engine->now_ns + host->engine->config.batch_ns;
    if (host->regrouping && due < host->regroup_until_ns) due = host->regroup_until_ns;
    if (!qsm_alarm_is_set(&host->batch_alarm))
        qsm_alarm_set(&host->engine->alarms, &host->batch_alarm, due);
}

void qsm_host_step_down(qsm_host *host) {
    host->steps_down = true;
    qsm_alarm_set(&host->engine->alarms, &host->check_alarm, host->engine->now_ns);
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
