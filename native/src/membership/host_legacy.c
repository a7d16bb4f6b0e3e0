/*
 * host_legacy.c - what earlier hosts have left. Members that come over report the regions in which
 * they still are; these are drained like any other. Nobody can be asked who has not come: when
 * there has been time to report, whoever has not counts as dead in all regions of that host, for
 * those who have.
 *
 * Who comes but lacks something that others were told of has missed messages that are not coming
 * again: it is put out and begins anew.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/host.h"

static qsm_host_legacy *find_legacy(qsm_host *host, uint32_t tag) {
    for (uint32_t i = 0; i < host->legacy_count; i++)
        if (host->legacies[i]->tag == tag) return host->legacies[i];
    return NULL;
}

/* Nobody is in any of its regions any more. */
static bool is_empty(const qsm_host *host, const qsm_host_legacy *legacy) {
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (region->legacy == legacy) return false;
    for (uint32_t i = 0; i < host->dissolved_count; i++)
        if (host->dissolved[i]->legacy == legacy) return false;
    return true;
}

static void free_legacy(qsm_host_legacy *legacy) {
    qsm_table_free(&legacy->reporters);
    qsm_table_free(&legacy->views);
    qsm_table_free(&legacy->dead);
    free(legacy);
}

/* Makes room by forgetting the oldest that is done with. */
static bool drop_finished(qsm_host *host) {
    for (uint32_t i = 0; i < host->legacy_count; i++) {
        qsm_host_legacy *legacy = host->legacies[i];
        if (!legacy->judged || legacy->tell || !is_empty(host, legacy)) continue;
        free_legacy(legacy);
        memmove(host->legacies + i, host->legacies + i + 1,
                (host->legacy_count - i - 1) * sizeof *host->legacies);
        host->legacy_count--;
        return true;
    }
    return false;
}

static qsm_host_legacy *legacy_of(qsm_host *host, uint32_t tag) {
    qsm_host_legacy *legacy = find_legacy(host, tag);
    if (legacy != NULL) return legacy;
    if (host->legacy_count == QSM_LEGACIES_MAX && !drop_finished(host)) return NULL;
    legacy = calloc(1, sizeof *legacy);
    if (legacy == NULL) return NULL;
    legacy->tag = tag;
    legacy->judge_ns = host->engine->now_ns + host->engine->config.failure_ns / 2;
    host->legacies[host->legacy_count++] = legacy;
    return legacy;
}

void qsm_host_forget_legacies(qsm_host *host) {
    for (uint32_t i = 0; i < host->legacy_count; i++)
        free_legacy(host->legacies[i]);
    host->legacy_count = 0;
}

/* ---- reports --------------------------------------------------------------------------------- */

static bool has_reported(const qsm_host_legacy *legacy, uint64_t id) {
    return qsm_table_get(&legacy->reporters, id) != NULL;
}

static uint64_t applied_by(const qsm_host_legacy *legacy, uint64_t id) {
    return (uint64_t)(uintptr_t)qsm_table_get(&legacy->reporters, id);
}

/* Those whom the earlier host has put out. */
static void report_dead(qsm_host *host, const qsm_host_client *client, qsm_host_legacy *legacy,
                        qsm_reader *in) {
    uint32_t count = qsm_read32(in);
    if (count > QSM_EVICTED_MAX || qsm_reader_left(in) / 8 < count) {
        in->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = qsm_read64(in);
        bool full = legacy == NULL || legacy->dead.count >= QSM_EVICTED_MAX;
        if (full || id == client->id) continue;
        qsm_table_put(&legacy->dead, id, legacy);
        qsm_host_client *other = has_reported(legacy, id) ? qsm_host_find_client(host, id) : NULL;
        if (other != NULL && other->peer != NULL)
            qsm_host_evict(host, other, QSM_REASON_EVICTED_SILENT);
        else if (other != NULL)
            qsm_host_step_down(host);
    }
}

/* Hosts that the node has followed, and how far. */
void qsm_host_report_directories(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    /* Who asks again has lost sight of us. What it was told meanwhile is not told twice. */
    bool missed = client->told_batch != 0;
    uint32_t count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        uint32_t tag = qsm_read32(in);
        uint64_t applied = qsm_read64(in);
        qsm_host_legacy *legacy = tag != host->tag && !in->failed ? legacy_of(host, tag) : NULL;
        report_dead(host, client, legacy, in);
        if (in->failed) break;
        if (tag == host->tag) {
            if (applied >= client->told_batch) missed = false;
            continue;
        }
        if (legacy == NULL) {
            client->too_late = true; /* no room for it */
            continue;
        }
        if (qsm_table_get(&legacy->dead, client->id) != NULL) {
            client->too_late = true; /* it was put out and did not hear of it */
            continue;
        }
        if (!legacy->judged || has_reported(legacy, client->id))
            qsm_table_put(&legacy->reporters, client->id,
                          (void *)(uintptr_t)(applied ? applied : 1));
        if (legacy->judged) legacy->tell = true; /* it may not have heard it */
        if (!legacy->judged) client->pending = true;
    }
    if (missed) client->too_late = true;
}

void qsm_host_report_view(qsm_host *host, uint32_t handle, uint64_t view) {
    if (handle == 0 || view == 0) return;
    for (uint32_t i = 0; i < host->legacy_count; i++) {
        qsm_host_legacy *legacy = host->legacies[i];
        if ((legacy->tag & 0xffff) != (view & 0xffff)) continue;
        if ((uint64_t)(uintptr_t)qsm_table_get(&legacy->views, handle) < view)
            qsm_table_put(&legacy->views, handle, (void *)(uintptr_t)view);
    }
}

static qsm_host_region *make_region(qsm_host *host, qsm_host_legacy *legacy, uint64_t uid,
                                    uint32_t count) {
    if (host->legacy_region_count >= QSM_LEGACY_REGIONS_MAX) return NULL;
    qsm_host_region *region = calloc(1, sizeof *region);
    uint64_t *members = calloc(count, sizeof *members);
    if (region == NULL || members == NULL || !qsm_table_put(&host->regions, uid, region)) {
        free(region);
        free(members);
        return NULL;
    }
    *region = (qsm_host_region){
        .uid = uid, .members = members, .closing = true, .legacy = legacy, .created = UINT64_MAX};
    host->legacy_region_count++;
    return region;
}

/* A region that the node is still in. */
static void report_region(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint64_t uid = qsm_read64(in);
    uint64_t created = qsm_read64(in);
    uint32_t count = qsm_read32(in);
    if (count == 0 || count > QSM_REGION_MEMBERS_MAX || qsm_reader_left(in) / 9 < count) {
        in->failed = true;
        return;
    }
    qsm_host_legacy *legacy = find_legacy(host, (uint32_t)(uid >> 32));
    qsm_host_region *region = qsm_table_get(&host->regions, uid);
    bool known = legacy != NULL && has_reported(legacy, client->id);
    if (legacy != NULL && !known) client->too_late = true; /* the others have finished without it */
    bool fresh = region == NULL && known && !client->too_late;
    if (fresh) region = make_region(host, legacy, uid, count);
    if (fresh && region == NULL) client->too_late = true; /* no room: it begins anew */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = qsm_read64(in);
        bool dead = qsm_read8(in) != 0;
        if (region == NULL || region->legacy == NULL) continue;
        if (fresh) region->members[region->member_count++] = id;
        /* Two sides that have counted each other out: the first to come finishes the region. */
        if (dead && qsm_table_get(&region->participants, id) != NULL) client->too_late = true;
        if (dead && !client->too_late) qsm_table_put(&region->dead, id, region);
        /* The newcomer does not know who has died meanwhile. */
        if (!dead && qsm_dead_has(&host->engine->dead, id)) qsm_host_add_death(host, id);
    }
    if (region == NULL || (region->legacy != NULL && !known)) return;
    if (qsm_table_get(&region->dead, client->id) != NULL) client->too_late = true;
    if (created < region->created) region->created = created;
    qsm_table_put(&region->participants, client->id, client);
    qsm_table_put(&client->known, uid, region);
}

void qsm_host_report_regions(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint32_t count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++)
        report_region(host, client, in);
}

/* ---- judgement ------------------------------------------------------------------------------- */

/* A member that is not waited for: known as dead, here or to somebody, or the host that fell
 * silent. */
static bool is_given_up(const qsm_host *host, const qsm_host_region *region, uint64_t id) {
    return id == host->predecessor || qsm_dead_has(&host->engine->dead, id) ||
           qsm_table_get(&region->dead, id) != NULL;
}

bool qsm_host_is_complete(qsm_host *host) {
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        for (uint32_t i = 0; region->legacy != NULL && i < region->member_count; i++)
            if (!is_given_up(host, region, region->members[i]) &&
                !has_reported(region->legacy, region->members[i]))
                return false;
    return true;
}

/* The node has not been told something that others of the same host have: what was sent meanwhile
 * has passed it by. */
static bool has_missed(qsm_host *host, const qsm_host_legacy *legacy,
                       const qsm_host_client *client) {
    if (QSM_BUG(10)) return false;
    bool reported = has_reported(legacy, client->id);
    uint64_t applied = applied_by(legacy, client->id);
    for (uint32_t g = 0; reported && g < client->group_count; g++)
        if ((uint64_t)(uintptr_t)qsm_table_get(
                &legacy->views, qsm_host_group_of(host, client, g)->handle) > applied)
            return true;
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;) {
        if (region->legacy != legacy || applied >= region->created ||
            qsm_table_get(&region->dead, client->id) != NULL)
            continue;
        for (uint32_t i = 0; i < region->member_count; i++)
            if (region->members[i] == client->id) return true;
    }
    return false;
}

/* The node may have finished by itself what it knew of that host, and so not speak of it. */
bool qsm_host_was_left_out(qsm_host *host, const qsm_host_client *client) {
    for (uint32_t i = 0; i < host->legacy_count; i++)
        if (host->legacies[i]->judged && has_missed(host, host->legacies[i], client)) return true;
    return false;
}

/* A member has followed the earlier host far enough to know the region, lives, and does not have
 * it: that host has dissolved it, since all had everything. Who still has it missed that batch. */
bool qsm_host_was_dissolved(const qsm_host_region *region) {
    for (uint32_t i = 0; i < region->member_count; i++) {
        uint64_t id = region->members[i];
        if (qsm_table_get(&region->dead, id) == NULL &&
            qsm_table_get(&region->participants, id) == NULL && has_reported(region->legacy, id) &&
            applied_by(region->legacy, id) >= region->created)
            return true;
    }
    return false;
}

/* True while something that the node has reported is undecided: until then it is in no new view. */
static bool is_pending(const qsm_host *host, const qsm_host_client *client) {
    for (uint32_t i = 0; i < host->legacy_count; i++)
        if (!host->legacies[i]->judged && has_reported(host->legacies[i], client->id)) return true;
    return false;
}

static void judge(qsm_host *host, qsm_host_legacy *legacy) {
    legacy->judged = legacy->tell = true;
    for (uint32_t i = 0; i < host->client_count; i++) {
        qsm_host_client *client = host->clients[i];
        if (!has_missed(host, legacy, client)) continue;
        if (client->peer == NULL) {
            qsm_host_step_down(host);
            continue;
        }
        qsm_host_evict(host, client, QSM_REASON_EVICTED_SILENT);
        i--;
    }
    for (uint32_t i = 0; i < host->client_count; i++)
        host->clients[i]->pending = is_pending(host, host->clients[i]);
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (region->legacy == legacy) {
            region->last_death = UINT64_MAX; /* until the batch that tells of it has its number */
            qsm_table_free(&region->drained);
        }
    qsm_host_check_dissolved(host);
    qsm_host_changed(host);
}

void qsm_host_judge(qsm_host *host, uint64_t now_ns) {
    for (uint32_t i = 0; i < host->legacy_count; i++) {
        qsm_host_legacy *legacy = host->legacies[i];
        if (!legacy->judged && !host->regrouping &&
            (now_ns >= legacy->judge_ns || qsm_host_is_complete(host)))
            judge(host, legacy);
    }
}
