/*
 * host_hearing.c - who hears whose multicast, as the nodes tell it, and the regions that fan out by
 * unicast because of it: all into which somebody sends whom a member does not hear, and those whose
 * address a member does not hear; and small ones of somebody to whom multicast is a burden.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/hearing.h"
#include "membership/host.h"
#include "membership/policy.h"

/* Over a radio a multicast goes at the lowest rate, without repetition, and takes about as long as
 * so many datagrams to single nodes. */
enum { PREFERENCE_MEMBERS_MAX = 32 };

/* Ids of nodes or regions, as many as are announced. Some may not be known yet: nodes report to a
 * new host one after the other. False: not read, and `ids` is nothing that is to be freed. */
static bool read_ids(qsm_reader *in, uint64_t **ids, uint32_t *count) {
    *ids = NULL;
    *count = qsm_read32(in);
    if (in->failed || *count > QSM_UNHEARD_MAX || qsm_reader_left(in) / 8 < *count) return false;
    if (*count == 0) return true;
    *ids = malloc(*count * sizeof **ids);
    for (uint32_t i = 0; i < *count; i++) {
        uint64_t id = qsm_read64(in);
        if (*ids != NULL) (*ids)[i] = id;
    }
    return true;
}

static bool same_ids(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count) {
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

bool qsm_host_take_hearing(qsm_host *host, qsm_host_client *client, qsm_reader *in) {
    uint8_t told = qsm_read8(in), hears = (uint8_t)(told & ~QSM_PREFERS_UNICAST);
    bool prefers_unicast = told & QSM_PREFERS_UNICAST;
    uint64_t *unheard = NULL, *missed = NULL;
    uint32_t unheard_count = 0, missed_count = 0;
    bool good = hears < QSM_HEARS_COUNT && read_ids(in, &unheard, &unheard_count);
    bool resting = good && qsm_reader_left(in) > 0;
    if (resting) good = read_ids(in, &missed, &missed_count);
    if (!good || qsm_reader_left(in) > 0) {
        free(unheard);
        free(missed);
        return false;
    }
    /* Without memory: too much rather than too little. */
    if ((unheard_count > 0 && unheard == NULL) || (missed_count > 0 && missed == NULL)) {
        hears = QSM_HEARS_NOBODY;
        if (unheard == NULL) unheard_count = 0;
        if (missed == NULL) missed_count = 0;
    }
    bool same = client->hears == hears && client->prefers_unicast == prefers_unicast &&
                client->resting == resting &&
                same_ids(client->unheard, client->unheard_count, unheard, unheard_count) &&
                same_ids(client->missed, client->missed_count, missed, missed_count);
    free(client->unheard);
    free(client->missed);
    client->hears = hears;
    client->prefers_unicast = prefers_unicast;
    client->unheard = unheard;
    client->unheard_count = unheard_count;
    client->resting = resting;
    client->missed = missed;
    client->missed_count = missed_count;
    if (!same) qsm_host_changed(host);
    return true;
}

/* ---- addresses of regions -------------------------------------------------------------------- */

static bool has_these_members(const qsm_host_region *region, const qsm_policy_region *wanted,
                              qsm_host_client *const *clients) {
    if (region->member_count != wanted->member_count) return false;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i] != clients[wanted->members[i]]->id) return false;
    return true;
}

/* The region in use of the same members that goes by multicast. */
static const qsm_host_region *find_in_use(const qsm_policy_region *wanted,
                                          qsm_host_client *const *clients) {
    uint32_t cursor = 0;
    for (const qsm_host_region *region;
         (region = qsm_table_next(&clients[wanted->members[0]]->known, &cursor)) != NULL;)
        if (!region->closing && !region->unicast && has_these_members(region, wanted, clients))
            return region;
    return NULL;
}

static bool is_missed_by(const qsm_host_client *client, uint64_t region) {
    for (uint32_t i = 0; i < client->missed_count; i++)
        if (client->missed[i] == region) return true;
    return false;
}

/* Whether a member does not hear the region's address. A new region has one that is not known: it
 * is not tried while a member has reason to let addresses rest. */
static bool avoids_address(const qsm_policy_region *wanted, qsm_host_client *const *clients) {
    bool resting = false;
    for (uint32_t m = 0; m < wanted->member_count && !resting; m++)
        resting = clients[wanted->members[m]]->resting;
    if (!resting) return false;
    const qsm_host_region *in_use = find_in_use(wanted, clients);
    for (uint32_t m = 0; in_use != NULL && m < wanted->member_count; m++)
        if (is_missed_by(clients[wanted->members[m]], in_use->uid)) return true;
    return in_use == NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool sends_into(const qsm_host *host, const qsm_policy_result *result,
                       const qsm_host_client *client, uint32_t region) {
    for (uint32_t i = 0; i < client->group_count; i++) {
        const qsm_policy_group *group = &result->groups[qsm_host_group_of(host, client, i)->index];
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
        if (sender != NULL && sends_into(host, result, sender, region)) return true;
    }
    return false;
}

bool *qsm_host_choose_unicast(qsm_host *host, const qsm_policy_result *result,
                              qsm_host_client *const *clients) {
    bool *unicast = calloc(result->region_count ? result->region_count : 1, sizeof *unicast);
    bool nowhere = !qsm_address_is_set(&host->engine->config.rendezvous);
    for (uint32_t i = 0; unicast != NULL && i < result->region_count; i++) {
        const qsm_policy_region *region = &result->regions[i];
        unicast[i] = nowhere || avoids_address(region, clients);
        for (uint32_t m = 0; m < region->member_count && !unicast[i]; m++)
            unicast[i] = misses_somebody(host, result, clients[region->members[m]], i);
    }
    for (uint32_t c = 0; unicast != NULL && c < host->client_count; c++) {
        const qsm_host_client *client = host->clients[c];
        bool needs = client->hears == QSM_HAS_NO_MULTICAST;
        if (!needs && !client->prefers_unicast) continue;
        for (uint32_t i = 0; i < result->region_count; i++) {
            bool few = result->regions[i].member_count <= PREFERENCE_MEMBERS_MAX;
            unicast[i] = unicast[i] || ((needs || few) && sends_into(host, result, client, i));
        }
    }
    return unicast;
}
