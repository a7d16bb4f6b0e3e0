/*
 * host_hearing.c - who hears whose multicast, as the nodes tell it, and the regions that fan out by
 * unicast because of it: all into which somebody sends whom a member does not hear.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/hearing.h"
#include "membership/host.h"
#include "membership/policy.h"

bool qsm_host_take_hearing(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint8_t hears = qsm_read8(in);
    uint32_t count = qsm_read32(in);
    if (in->failed || hears >= QSM_HEARS_COUNT || count > QSM_UNHEARD_MAX ||
        qsm_reader_left(in) != count * 8)
        return false;
    uint64_t *unheard = count > 0 ? malloc(count * sizeof *unheard) : NULL;
    if (count > 0 && unheard == NULL) { /* too much rather than too little */
        hears = QSM_HEARS_NOBODY;
        count = 0;
    }
    /* Some may not be in the roster yet: they report to a new host one after the other. */
    for (uint32_t i = 0; i < count; i++)
        unheard[i] = qsm_read64(in);
    bool same = client->hears == hears && client->unheard_count == count &&
                (count == 0 || memcmp(client->unheard, unheard, count * sizeof *unheard) == 0);
    free(client->unheard);
    client->hears = hears;
    client->unheard = unheard;
    client->unheard_count = count;
    if (!same) qsm_host_changed(host);
    return true;
}

static bool sends_into(const qsm_policy_result *result, const qsm_host_client *client,
                       uint32_t region) {
    for (uint32_t i = 0; i < client->group_count; i++) {
        const qsm_policy_group *group = &result->groups[client->groups[i]->index];
        for (uint32_t j = 0; j < group->region_count; j++)
            if (group->regions[j] == region) return true;
    }
    return false;
}

/* Whether the member misses the multicast of anybody who sends into the region. */
static bool misses_somebody(qsm_host *host, const qsm_policy_result *result,
                            const qsm_host_client *member, uint32_t region) {
    if (member->hears != QSM_HEARS_ALL_BUT) return true;
    for (uint32_t i = 0; i < member->unheard_count; i++) {
        const qsm_host_client *sender = qsm_host_find_client(host, member->unheard[i]);
        if (sender != NULL && sends_into(result, sender, region)) return true;
    }
    return false;
}

bool *qsm_host_choose_unicast(qsm_host *host, const qsm_policy_result *result,
                              qsm_host_client *const *clients) {
    bool *unicast = calloc(result->region_count ? result->region_count : 1, sizeof *unicast);
    bool nowhere = !qsm_address_is_set(&host->engine->config.rendezvous);
    for (uint32_t i = 0; unicast != NULL && i < result->region_count; i++) {
        const qsm_policy_region *region = &result->regions[i];
        unicast[i] = nowhere;
        for (uint32_t m = 0; m < region->member_count && !unicast[i]; m++)
            unicast[i] = misses_somebody(host, result, clients[region->members[m]], i);
    }
    for (uint32_t c = 0; unicast != NULL && c < host->client_count; c++) {
        const qsm_host_client *client = host->clients[c];
        if (client->hears != QSM_HAS_NO_MULTICAST) continue;
        for (uint32_t i = 0; i < result->region_count; i++)
            unicast[i] = unicast[i] || sends_into(result, client, i);
    }
    return unicast;
}
