/*
 * host_regions.c - the life of regions at the host: made when a batch wants one, closed when none
 * does any more, dissolved when everybody has finished it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/host.h"

enum { REGION_ADDRESSES = 4096, HYBRID_ADDRESSES = 1024 };

/* ---- made ------------------------------------------------------------------------------------ */

static void set_address(qsm_host *host, qsm_address *address, uint32_t index) {
    *address = host->engine->config.rendezvous;
    uint8_t *low = address->family == QSM_FAMILY_IPV6 ? &address->bytes[14] : &address->bytes[2];
    uint32_t value = ((uint32_t)low[0] << 8 | low[1]) + 1 + index;
    low[0] = (uint8_t)(value >> 8);
    low[1] = (uint8_t)value;
}

static uint64_t hash_members(const uint64_t *members, uint32_t count, bool unicast) {
    uint64_t hash = unicast;
    for (uint32_t i = 0; i < count; i++)
        hash = qsm_mix64(hash ^ members[i]) + i;
    return hash;
}

bool qsm_host_index_regions(qsm_host *host, qsm_table *live) {
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;) {
        region->used = false;
        if (region->closing) continue;
        uint64_t hash = hash_members(region->members, region->member_count, region->unicast);
        if (!qsm_table_put(live, hash, region)) return false;
    }
    return true;
}

/* The live region that a node was in, to tell a new one by its difference. */
static qsm_host_region *find_base(qsm_host *host, uint64_t id) {
    qsm_host_client *client = qsm_table_get(&host->client_by_id, id);
    uint32_t cursor = 0;
    for (qsm_host_region *region;
         client != NULL && (region = qsm_table_next(&client->known, &cursor)) != NULL;)
        for (uint32_t i = 0; !region->closing && !region->legacy && i < region->member_count; i++)
            if (region->members[i] == id) return region;
    return NULL;
}

qsm_host_region *qsm_host_region_for(qsm_host *host, uint64_t *members, uint32_t member_count,
                                     bool unicast, const qsm_table *live) {
    uint64_t hash = hash_members(members, member_count, unicast);
    qsm_host_region *region = qsm_table_get(live, hash);
    if (region != NULL && region->member_count == member_count && region->unicast == unicast &&
        memcmp(region->members, members, member_count * sizeof *members) == 0) {
        free(members);
        region->used = true;
        return region;
    }
    region = calloc(1, sizeof *region);
    if (region == NULL) {
        free(members);
        return NULL;
    }
    region->uid = (uint64_t)host->tag << 32 | ++host->next_region;
    region->members = members;
    region->member_count = member_count;
    region->unicast = unicast;
    region->used = true;
    region->base = find_base(host, members[0]);
    set_address(host, &region->address, host->next_region % REGION_ADDRESSES);
    if (!qsm_table_put(&host->regions, region->uid, region)) {
        free(members);
        free(region);
        return NULL;
    }
    return region;
}

void qsm_host_hybrid_address(qsm_host *host, const qsm_host_group *group, qsm_address *address) {
    set_address(host, address, REGION_ADDRESSES + group->handle % HYBRID_ADDRESSES);
}

/* ---- closed and dissolved -------------------------------------------------------------------- */

qsm_host_region **qsm_host_close_unused(qsm_host *host, uint32_t *count) {
    qsm_host_region **closing =
        calloc(host->regions.count ? host->regions.count : 1, sizeof *closing);
    uint32_t cursor = 0;
    *count = 0;
    for (qsm_host_region *region;
         closing && (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (!region->closing && !region->used) {
            region->closing = true;
            closing[(*count)++] = region;
        }
    return closing;
}

void qsm_host_region_free(qsm_host *host, qsm_host_region *region) {
    uint32_t cursor = 0;
    for (qsm_host_client *client;
         (client = qsm_table_next(&region->participants, &cursor)) != NULL;)
        if (qsm_table_get(&client->known, region->uid) == region)
            qsm_table_remove(&client->known, region->uid);
    cursor = 0;
    for (qsm_host_region *other; (other = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (other->base == region) other->base = NULL;
    /* One that was dissolved may have been reported again, by somebody who had not heard of it. */
    if (qsm_table_get(&host->regions, region->uid) == region)
        qsm_table_remove(&host->regions, region->uid);
    if (region->legacy != NULL) host->legacy_region_count--;
    qsm_table_free(&region->participants);
    qsm_table_free(&region->drained);
    qsm_table_free(&region->dead);
    free(region->members);
    free(region);
}

static bool is_drained(const qsm_host_region *region) {
    if (!region->closing || (region->legacy != NULL && !region->legacy->judged)) return false;
    if (region->legacy != NULL && qsm_host_was_dissolved(region)) return true;
    uint32_t cursor = 0;
    for (qsm_host_client *client;
         (client = qsm_table_next(&region->participants, &cursor)) != NULL;)
        if (qsm_table_get(&region->drained, client->id) == NULL) return false;
    return true;
}

static bool dissolve(qsm_host *host, qsm_host_region *region) {
    if (host->dissolved_count == host->dissolved_capacity) {
        uint32_t capacity = host->dissolved_capacity ? host->dissolved_capacity * 2 : 16;
        qsm_host_region **dissolved = realloc(host->dissolved, capacity * sizeof *dissolved);
        if (dissolved == NULL) return false; /* looked at again with the next report */
        host->dissolved = dissolved;
        host->dissolved_capacity = capacity;
    }
    host->dissolved[host->dissolved_count++] = region;
    qsm_table_remove(&host->regions, region->uid);
    qsm_host_changed(host);
    return true;
}

void qsm_host_check_dissolved(qsm_host *host) {
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;) {
        if (!is_drained(region)) continue;
        if (!dissolve(host, region)) return;
        cursor = 0; /* the walk ends with a removal */
    }
}
