/*
 * host_clock.c - what a host does by the clock: makes batches, puts out who is silent, lets go who
 * wants to leave, is heard of. A host at rest wakes for its beacons alone.
 */
#include "core/engine.h"
#include "membership/host.h"

void qsm_host_on_batch_alarm(void *context, uint64_t now_ns) {
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

/* ---- looking after the roster ---- */

static uint64_t silent_at_ns(const qsm_host *host, const qsm_host_client *client) {
    return client->heard_ns + host->engine->config.failure_ns + 1;
}

static void evict_silent(qsm_host *host, uint64_t now_ns) {
    for (uint32_t i = 0; i < host->client_count; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->peer == NULL || now_ns < silent_at_ns(host, client)) continue;
        qsm_host_evict(host, client, QSM_REASON_EVICTED_SILENT);
        i--;
    }
}

/* Something is under way that is looked at again soon. */
static bool is_busy(const qsm_host *host) {
    if (host->dirty || host->regrouping || host->yielding || host->engine->client.suspended)
        return true;
    for (uint32_t i = 0; i < host->legacy_count; i++)
        if (!host->legacies[i]->judged) return true;
    for (uint32_t i = 0; i < host->client_count; i++)
        if (host->clients[i]->leaving && !host->clients[i]->released) return true;
    return false;
}

static uint64_t soon_ns(const qsm_host *host) {
    return host->engine->now_ns + host->engine->config.heartbeat_ns / 2;
}

void qsm_host_check_soon(qsm_host *host) {
    qsm_alarm_set_earlier(&host->engine->alarms, &host->check_alarm, soon_ns(host));
}

/* The next beacon, or the first node that would have been silent for too long by then. */
static uint64_t next_check_ns(const qsm_host *host) {
    if (is_busy(host)) return soon_ns(host);
    uint64_t next_ns = qsm_host_call_out_ns(host);
    for (uint32_t i = 0; i < host->client_count; i++) {
        const qsm_host_client *client = host->clients[i];
        if (client->peer != NULL && silent_at_ns(host, client) < next_ns)
            next_ns = silent_at_ns(host, client);
    }
    return next_ns;
}

void qsm_host_on_check_alarm(void *context, uint64_t now_ns) {
    qsm_host *host = context;
    qsm_engine *engine = host->engine;
    qsm_alarm_set(&engine->alarms, &host->check_alarm, soon_ns(host));
    if (engine->client.suspended) return;
    evict_silent(host, now_ns);
    qsm_host_judge(host, now_ns);
    if (host->steps_down) {
        qsm_host_abdicate(engine, engine->client.slow_reported ? QSM_REASON_EVICTED_SLOW
                                                               : QSM_REASON_EVICTED_SILENT);
        return;
    }
    release_leavers(host);
    qsm_host_call_out(host, now_ns);
    if (host->yielding &&
        ((host->regions.count == 0 && !host->dirty) || now_ns >= host->yield_by_ns)) {
        qsm_host_finish_yielding(host); /* frees the host */
        return;
    }
    qsm_alarm_set(&engine->alarms, &host->check_alarm, next_check_ns(host));
}
