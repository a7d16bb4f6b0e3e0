/*
 * host_tell.c - writes a batch for one node: regions and views that are new to it, who sends into
 * its regions from outside, who has died, what is to be drained and what is dissolved.
 */
#include <assert.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/host.h"

static bool has_member(const qsm_host_region *region, uint64_t id) {
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i] == id) return true;
    return false;
}

static void tell_region(qsm_host *host, qsm_host_client *client, qsm_host_region *region) {
    qsm_bytes *out = &client->batch;
    const qsm_host_region *base = region->base;
    if (base != NULL && qsm_table_get(&client->known, base->uid) == NULL) base = NULL;
    qsm_bytes_add64(out, region->uid);
    qsm_bytes_add64(out, base != NULL ? base->uid : 0);
    qsm_bytes_add_address(out, &region->address);
    qsm_bytes_add8(out, region->unicast);
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; base != NULL && i < base->member_count; i++)
        if (!has_member(region, base->members[i])) {
            qsm_bytes_add64(out, base->members[i]);
            count++;
        }
    qsm_bytes_patch32(out, count_at, count);
    count_at = out->count;
    count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < region->member_count; i++) {
        if (base != NULL && has_member(base, region->members[i])) continue;
        const qsm_host_client *member = qsm_table_get(&host->client_by_id, region->members[i]);
        assert(member != NULL); /* regions are made of the roster */
        qsm_bytes_add64(out, member->id);
        qsm_bytes_add64(out, member->rank);
        qsm_bytes_add_address(out, &member->address);
        count++;
    }
    qsm_bytes_patch32(out, count_at, count);
    qsm_table_put(&client->known, region->uid, region);
    qsm_table_put(&region->participants, client->id, client);
}

static void tell_group(qsm_host *host, qsm_host_client *client, const qsm_host_group *group) {
    qsm_bytes *out = &client->batch;
    const qsm_host_company *company = group->company;
    uint32_t in_regions = 0;
    for (uint32_t i = 0; i < company->region_count; i++)
        in_regions += company->regions[i]->member_count;
    bool listed = in_regions != company->member_count; /* else the members are those of the regions
                                                        */
    qsm_bytes_add32(out, group->handle);
    qsm_bytes_add(out, group->id, QSM_GROUP_ID_BYTES);
    qsm_bytes_add64(out, group->view);
    qsm_bytes_add8(out, (uint8_t)(listed | group->hybrid << 1));
    if (group->hybrid) {
        qsm_address address;
        qsm_host_hybrid_address(host, group, &address);
        qsm_bytes_add_address(out, &address);
    }
    qsm_bytes_add16(out, (uint16_t)company->region_count);
    for (uint32_t i = 0; i < company->region_count; i++)
        qsm_bytes_add64(out, company->regions[i]->uid);
    if (!listed) return;
    qsm_bytes_add32(out, company->member_count);
    /* little endian hosts only: see below */
    qsm_bytes_add(out, company->members, company->member_count * 8);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "member lists are copied as they are");

static bool concerns(const qsm_host_client *client, const qsm_host_group *group) {
    return !client->pending && qsm_host_group_members(group) > 0 &&
           (group->changed || !client->told);
}

/* Tells of the group's regions that are new to the node; returns how many. */
static uint32_t tell_regions(qsm_host *host, qsm_host_client *client, const qsm_host_group *group) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < qsm_host_group_regions(group); i++)
        if (qsm_table_get(&client->known, group->company->regions[i]->uid) == NULL) {
            tell_region(host, client, group->company->regions[i]);
            count++;
        }
    return count;
}

/* The region of the group that the node is in although it is not in the group; NULL: there is none.
 * When a sender of the group dies, such a node may have to settle with its other regions. */
static const qsm_host_region *region_as_guest(const qsm_host_client *client,
                                              const qsm_host_group *group) {
    if (qsm_host_group_regions(group) < 2 || client->pending || !(group->changed || !client->told))
        return NULL;
    for (uint32_t m = 0; m < qsm_host_group_members(group); m++)
        if (group->company->members[m] == client->id) return NULL;
    for (uint32_t r = 0; r < qsm_host_group_regions(group); r++)
        if (has_member(group->company->regions[r], client->id)) return group->company->regions[r];
    return NULL;
}

static void tell_views(qsm_host *host, qsm_host_client *client) {
    qsm_bytes *out = &client->batch;
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < client->group_count; g++)
        if (concerns(client, qsm_host_group_of(host, client, g)))
            count += tell_regions(host, client, qsm_host_group_of(host, client, g));
    for (uint32_t g = 0; g < host->group_count; g++)
        if (region_as_guest(client, qsm_host_group_of_all(host, g)) != NULL)
            count += tell_regions(host, client, qsm_host_group_of_all(host, g));
    qsm_bytes_patch32(out, count_at, count);
    count_at = out->count;
    count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < client->group_count; g++) {
        qsm_host_group *group = qsm_host_group_of(host, client, g);
        if (!concerns(client, group)) continue;
        tell_group(host, client, group);
        count++;
    }
    qsm_bytes_patch32(out, count_at, count);
}

/* A region may hold nodes that are not in a group whose messages come to it: they help to recover
 * them, so they must know who sends them. */
static void tell_outsiders(qsm_host *host, qsm_host_client *client) {
    qsm_bytes *out = &client->batch;
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < host->group_count; g++) {
        const qsm_host_group *group = qsm_host_group_of_all(host, g);
        if (!group->changed || qsm_host_group_regions(group) < 2) continue;
        for (uint32_t r = 0; r < qsm_host_group_regions(group); r++) {
            const qsm_host_region *region = group->company->regions[r];
            if (!has_member(region, client->id)) continue;
            for (uint32_t m = 0; m < qsm_host_group_members(group); m++) {
                const qsm_host_client *sender =
                    qsm_table_get(&host->client_by_id, group->company->members[m]);
                if (sender == NULL || has_member(region, sender->id)) continue;
                qsm_bytes_add64(out, region->uid);
                qsm_bytes_add64(out, sender->id);
                qsm_bytes_add_address(out, &sender->address);
                count++;
            }
        }
    }
    qsm_bytes_patch32(out, count_at, count);
}

/* Which regions share messages with one that the node is in, by groups that it is not in. */
static void tell_siblings(const qsm_host *host, qsm_host_client *client) {
    qsm_bytes *out = &client->batch;
    uint32_t count_at = out->count, count = 0;
    qsm_table told = {0};
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < host->group_count; g++) {
        const qsm_host_group *group = qsm_host_group_of_all(host, g);
        const qsm_host_region *region = region_as_guest(client, group);
        for (uint32_t r = 0; region != NULL && r < qsm_host_group_regions(group); r++) {
            uint64_t pair = qsm_mix64(region->uid) ^ group->company->regions[r]->uid;
            if (group->company->regions[r] == region || qsm_table_get(&told, pair) != NULL)
                continue;
            if (!qsm_table_put(&told, pair, client)) out->failed = true;
            qsm_bytes_add64(out, region->uid);
            qsm_bytes_add64(out, group->company->regions[r]->uid);
            count++;
        }
    }
    qsm_table_free(&told);
    qsm_bytes_patch32(out, count_at, count);
}

/* Those since the last batch; a newcomer hears of earlier ones, too. */
static void tell_deaths(const qsm_host *host, qsm_host_client *client) {
    qsm_bytes *out = &client->batch;
    uint32_t earlier = client->told_batch != 0                   ? 0
                       : host->put_out_count < QSM_DEATHS_RETOLD ? host->put_out_count
                                                                 : QSM_DEATHS_RETOLD;
    qsm_bytes_add32(out, host->death_count + earlier);
    for (uint32_t i = 0; i < earlier; i++)
        qsm_bytes_add64(out, host->put_out[i]);
    for (uint32_t i = 0; i < host->death_count; i++)
        qsm_bytes_add64(out, host->deaths[i]);
}

/* The last batch of the earlier host that anybody who is left has applied. */
static uint64_t followed_to(const qsm_host_legacy *legacy) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < legacy->reporters.capacity; i++) {
        uint64_t applied = (uint64_t)(uintptr_t)legacy->reporters.slots[i].value;
        if (applied > last) last = applied;
    }
    return last;
}

/* Of the regions of earlier hosts, all who are not listed are dead. */
static void tell_judgements(const qsm_host *host, qsm_bytes *out) {
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < host->legacy_count; i++) {
        const qsm_table *reporters = &host->legacies[i]->reporters;
        if (!host->legacies[i]->tell) continue;
        count++;
        qsm_bytes_add32(out, host->legacies[i]->tag);
        qsm_bytes_add64(out, followed_to(host->legacies[i]));
        qsm_bytes_add32(out, reporters->count);
        for (uint32_t slot = 0; slot < reporters->capacity; slot++)
            if (reporters->slots[slot].value != NULL)
                qsm_bytes_add64(out, reporters->slots[slot].key);
    }
    qsm_bytes_patch32(out, count_at, count);
}

void qsm_host_tell_client(qsm_host *host, qsm_host_client *client, qsm_host_region **closing,
                          uint32_t closing_count) {
    qsm_bytes *out = &client->batch;
    out->count = 0;
    out->failed = false;
    qsm_bytes_add8(out, QSM_TO_CLIENT_BATCH);
    qsm_bytes_add32(out, host->tag);
    qsm_bytes_add64(out, host->batch);
    qsm_bytes_add32(out, client->join);
    qsm_bytes_add32(out, client->requests_seen);
    tell_views(host, client);
    tell_outsiders(host, client);
    tell_siblings(host, client);
    tell_deaths(host, client);
    tell_judgements(host, out);
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < closing_count; i++)
        if (qsm_table_get(&client->known, closing[i]->uid) != NULL) {
            qsm_bytes_add64(out, closing[i]->uid);
            count++;
        }
    qsm_bytes_patch32(out, count_at, count);
    count_at = out->count;
    count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < host->dissolved_count; i++)
        if (qsm_table_get(&client->known, host->dissolved[i]->uid) != NULL) {
            qsm_bytes_add64(out, host->dissolved[i]->uid);
            count++;
        }
    qsm_bytes_patch32(out, count_at, count);
    client->told = !client->pending;
    client->told_batch = host->batch;
}
