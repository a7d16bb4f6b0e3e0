#include "membership/host.h"

#include <assert.h>
#include <stdlib.h>

#include "core/engine.h"
#include "membership/apply.h"
#include "membership/client.h"
#include "membership/link.h"

static void on_batch_alarm(void *context, uint64_t now_ns);
static void on_check_alarm(void *context, uint64_t now_ns);

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
