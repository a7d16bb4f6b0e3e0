/*
 * host_batch.c - turns the roster into regions and views, and tells each node what is new to it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/policy.h"

enum { REGION_ADDRESSES = 4096, HYBRID_ADDRESSES = 1024 };

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

/* ---- the policy's input ---------------------------------------------------------------------- */

typedef struct {
    qsm_policy_input input;
    qsm_policy_node *nodes;
    qsm_host_client **clients; /* of the nodes */
    uint8_t (*ids)[QSM_GROUP_ID_BYTES];
    uint32_t **handles; /* group indices of the nodes */
    qsm_policy_past *past;
} policy_run;

static void free_run(policy_run *run) {
    for (uint32_t i = 0; run->handles != NULL && i < run->input.node_count; i++)
        free(run->handles[i]);
    free(run->handles);
    free(run->nodes);
    free(run->clients);
    free(run->ids);
    free(run->past);
}

static bool describe_past(qsm_host *host, policy_run *run) {
    uint32_t count = 0, cursor = 0;
    qsm_host_region *region;
    while ((region = qsm_table_next(&host->regions, &cursor)) != NULL)
        if (!region->closing) count += region->member_count;
    run->past = calloc(count ? count : 1, sizeof *run->past);
    if (run->past == NULL) return false;
    uint32_t at = 0;
    cursor = 0;
    while ((region = qsm_table_next(&host->regions, &cursor)) != NULL)
        for (uint32_t i = 0; !region->closing && i < region->member_count; i++)
            run->past[at++] = (qsm_policy_past){.node = region->members[i], .region = region->uid};
    run->input.past = run->past;
    run->input.past_count = count;
    return true;
}

static bool describe(qsm_host *host, policy_run *run) {
    qsm_engine *engine = host->engine;
    uint32_t most = host->client_count ? host->client_count : 1;
    run->nodes = calloc(most, sizeof *run->nodes);
    run->clients = calloc(most, sizeof *run->clients);
    run->handles = calloc(most, sizeof *run->handles);
    run->ids = calloc(host->next_handle ? host->next_handle : 1, sizeof *run->ids);
    if (!run->nodes || !run->clients || !run->handles || !run->ids) return false;
    for (uint32_t i = 0; i < host->next_handle; i++)
        memcpy(run->ids[i], host->group_by_handle[i]->id, QSM_GROUP_ID_BYTES);
    for (uint32_t i = 0; i < host->client_count && !host->yielding; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->leaving || client->pending || client->group_count == 0) continue;
        uint32_t at = run->input.node_count;
        run->handles[at] = malloc(client->group_count * sizeof **run->handles);
        if (run->handles[at] == NULL) return false;
        for (uint32_t g = 0; g < client->group_count; g++)
            run->handles[at][g] = client->groups[g] - 1;
        run->clients[at] = client;
        run->nodes[at] = (qsm_policy_node){
            .node = client->id, .groups = run->handles[at], .group_count = client->group_count};
        run->input.node_count++;
    }
    run->input.nodes = run->nodes;
    run->input.group_count = host->next_handle;
    run->input.group_ids = (const uint8_t (*)[16])run->ids;
    run->input.similar_percent = engine->config.similar_percent;
    run->input.region_size_min = engine->config.region_size_min;
    run->input.plan = engine->plan;
    run->input.plan_bytes = engine->plan_bytes;
    return describe_past(host, run);
}

/* ---- regions --------------------------------------------------------------------------------- */

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

/* Live regions by their members, so that a region that stays as it is stays the same. */
static bool index_live(qsm_host *host, qsm_table *live) {
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

static qsm_host_region *region_for(qsm_host *host, const policy_run *run,
                                   const qsm_policy_region *wanted, qsm_table *live) {
    qsm_engine *engine = host->engine;
    uint64_t *members = malloc(wanted->member_count * sizeof *members);
    if (members == NULL) return NULL;
    bool unicast = !qsm_address_is_set(&engine->config.rendezvous);
    for (uint32_t i = 0; i < wanted->member_count; i++) {
        qsm_host_client *client = run->clients[wanted->members[i]];
        members[i] = client->id;
        unicast = unicast || !client->hears_multicast;
    }
    uint64_t hash = hash_members(members, wanted->member_count, unicast);
    qsm_host_region *region = qsm_table_get(live, hash);
    if (region != NULL && region->member_count == wanted->member_count &&
        region->unicast == unicast &&
        memcmp(region->members, members, wanted->member_count * sizeof *members) == 0) {
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
    region->member_count = wanted->member_count;
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

/* ---- views ----------------------------------------------------------------------------------- */

static bool same_regions(const qsm_host_group *group, qsm_host_region **regions, uint32_t count) {
    return group->region_count == count &&
           (count == 0 || memcmp(group->regions, regions, count * sizeof *regions) == 0);
}

static void choose_hybrid(qsm_host *host, qsm_host_group *group) {
    uint32_t least = host->engine->config.hybrid_regions_min;
    bool multicast = qsm_address_is_set(&host->engine->config.rendezvous);
    for (uint32_t i = 0; i < group->region_count; i++)
        multicast = multicast && !group->regions[i]->unicast;
    group->hybrid = (qsm_address){0};
    if (least > 1 && group->region_count >= least &&
        group->region_count <= QSM_REGION_HEADERS_MAX && multicast)
        set_address(host, &group->hybrid, REGION_ADDRESSES + group->handle % HYBRID_ADDRESSES);
}

/* Gives the group its new members and regions; takes both over. */
static void update_group(qsm_host *host, qsm_host_group *group, uint64_t *members,
                         uint32_t member_count, qsm_host_region **regions, uint32_t region_count) {
    bool same_members =
        group->member_count == member_count &&
        (member_count == 0 || memcmp(group->members, members, member_count * sizeof *members) == 0);
    group->changed = !same_members || !same_regions(group, regions, region_count) || group->renewed;
    group->renewed = false;
    free(group->members);
    free(group->regions);
    group->members = members;
    group->member_count = member_count;
    group->regions = regions;
    group->region_count = region_count;
    if (!group->changed) return;
    group->view = host->batch;
    choose_hybrid(host, group);
}

static bool update_groups(qsm_host *host, const policy_run *run, const qsm_policy_result *result,
                          qsm_host_region **regions) {
    uint32_t *counts = calloc(host->next_handle ? host->next_handle : 1, sizeof *counts);
    uint64_t **members = calloc(host->next_handle ? host->next_handle : 1, sizeof *members);
    bool good = counts != NULL && members != NULL;
    for (uint32_t n = 0; good && n < run->input.node_count; n++)
        for (uint32_t g = 0; g < run->nodes[n].group_count; g++)
            counts[run->nodes[n].groups[g]]++;
    for (uint32_t g = 0; good && g < host->next_handle; g++) {
        members[g] = counts[g] ? malloc(counts[g] * sizeof **members) : NULL;
        good = counts[g] == 0 || members[g] != NULL;
        counts[g] = 0;
    }
    for (uint32_t n = 0; good && n < run->input.node_count; n++)
        for (uint32_t g = 0; g < run->nodes[n].group_count; g++) {
            uint32_t group = run->nodes[n].groups[g];
            members[group][counts[group]++] = run->nodes[n].node;
        }
    for (uint32_t g = 0; good && g < host->next_handle; g++) {
        const qsm_policy_group *wanted = &result->groups[g];
        qsm_host_region **mapped = NULL;
        if (wanted->region_count > 0) {
            mapped = malloc(wanted->region_count * sizeof *mapped);
            good = mapped != NULL;
            for (uint32_t i = 0; good && i < wanted->region_count; i++)
                mapped[i] = regions[wanted->regions[i]];
        }
        if (!good) break;
        update_group(host, host->group_by_handle[g], members[g], counts[g], mapped,
                     wanted->region_count);
        members[g] = NULL;
    }
    for (uint32_t g = 0; members != NULL && g < host->next_handle; g++)
        free(members[g]);
    free(members);
    free(counts);
    return good;
}

/* ---- telling --------------------------------------------------------------------------------- */

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

static void tell_group(qsm_host_client *client, const qsm_host_group *group) {
    qsm_bytes *out = &client->batch;
    uint32_t in_regions = 0;
    for (uint32_t i = 0; i < group->region_count; i++)
        in_regions += group->regions[i]->member_count;
    bool listed = in_regions != group->member_count; /* else the members are those of the regions */
    bool hybrid = qsm_address_is_set(&group->hybrid);
    qsm_bytes_add32(out, group->handle);
    qsm_bytes_add(out, group->id, QSM_GROUP_ID_BYTES);
    qsm_bytes_add64(out, group->view);
    qsm_bytes_add8(out, (uint8_t)(listed | hybrid << 1));
    if (hybrid) qsm_bytes_add_address(out, &group->hybrid);
    qsm_bytes_add16(out, (uint16_t)group->region_count);
    for (uint32_t i = 0; i < group->region_count; i++)
        qsm_bytes_add64(out, group->regions[i]->uid);
    if (!listed) return;
    qsm_bytes_add32(out, group->member_count);
    qsm_bytes_add(out, group->members, group->member_count * 8); /* little endian hosts only: see
                                                                    below */
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "member lists are copied as they are");

static bool concerns(const qsm_host_client *client, const qsm_host_group *group) {
    return !client->pending && group->member_count > 0 && (group->changed || !client->told);
}

static void tell_views(qsm_host *host, qsm_host_client *client) {
    qsm_bytes *out = &client->batch;
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < client->group_count; g++) {
        qsm_host_group *group = host->group_by_handle[client->groups[g] - 1];
        for (uint32_t i = 0; concerns(client, group) && i < group->region_count; i++)
            if (qsm_table_get(&client->known, group->regions[i]->uid) == NULL) {
                tell_region(host, client, group->regions[i]);
                count++;
            }
    }
    qsm_bytes_patch32(out, count_at, count);
    count_at = out->count;
    count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t g = 0; g < client->group_count; g++) {
        qsm_host_group *group = host->group_by_handle[client->groups[g] - 1];
        if (!concerns(client, group)) continue;
        tell_group(client, group);
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
    for (uint32_t g = 0; g < host->next_handle; g++) {
        const qsm_host_group *group = host->group_by_handle[g];
        if (!group->changed || group->region_count < 2) continue;
        for (uint32_t r = 0; r < group->region_count; r++) {
            const qsm_host_region *region = group->regions[r];
            if (!has_member(region, client->id)) continue;
            for (uint32_t m = 0; m < group->member_count; m++) {
                const qsm_host_client *sender =
                    qsm_table_get(&host->client_by_id, group->members[m]);
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

/* Of the regions of earlier hosts, all who are not listed are dead. */
static void tell_judgements(const qsm_host *host, qsm_bytes *out) {
    uint32_t count_at = out->count, count = 0;
    qsm_bytes_add32(out, 0);
    for (uint32_t i = 0; i < host->legacy_count; i++) {
        const qsm_table *reporters = &host->legacies[i]->reporters;
        if (!host->legacies[i]->tell) continue;
        count++;
        qsm_bytes_add32(out, host->legacies[i]->tag);
        qsm_bytes_add32(out, reporters->count);
        for (uint32_t slot = 0; slot < reporters->capacity; slot++)
            if (reporters->slots[slot].value != NULL)
                qsm_bytes_add64(out, reporters->slots[slot].key);
    }
    qsm_bytes_patch32(out, count_at, count);
}

static void tell_client(qsm_host *host, qsm_host_client *client, qsm_host_region **closing,
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
    qsm_bytes_add32(out, host->death_count);
    for (uint32_t i = 0; i < host->death_count; i++)
        qsm_bytes_add64(out, host->deaths[i]);
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

/* Regions that no view uses any more are drained from this batch on. */
static qsm_host_region **close_unused(qsm_host *host, uint32_t *count) {
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

/* What the batch has told is done with. */
static void settle(qsm_host *host) {
    host->death_count = 0;
    for (uint32_t i = 0; i < host->legacy_count; i++)
        host->legacies[i]->tell = false;
    for (uint32_t i = 0; i < host->dissolved_count; i++)
        qsm_host_region_free(host, host->dissolved[i]);
    host->dissolved_count = 0;
    uint32_t cursor = 0;
    for (qsm_host_region *region; (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
        if (region->last_death == UINT64_MAX) region->last_death = host->batch;
    bool again = true; /* regions that nobody is left in: freeing one ends the walk */
    while (again) {
        again = false;
        cursor = 0;
        for (qsm_host_region *region;
             !again && (region = qsm_table_next(&host->regions, &cursor)) != NULL;)
            if (region->closing && region->participants.count == 0 &&
                (region->legacy == NULL || region->legacy->judged)) {
                qsm_host_region_free(host, region);
                again = true;
            }
    }
}

static void send_all(qsm_host *host) {
    qsm_bytes own = {0};
    for (uint32_t i = 0; i < host->client_count; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->batch.failed || client->batch.count == 0) continue;
        if (client->peer != NULL) {
            qsm_host_send(host, client, client->batch.data, client->batch.count);
            client->batch.count = 0;
        } else {
            own = client->batch;
            client->batch = (qsm_bytes){0};
        }
    }
    settle(host);
    /* Last, because what this node does with it comes back to the host at once. */
    if (own.count > 0) qsm_client_message(host->engine, host->engine->id, own.data, own.count);
    qsm_bytes_free(&own);
}

void qsm_host_make_batch(qsm_host *host, uint64_t now_ns) {
    qsm_engine *engine = host->engine;
    (void)now_ns;
    host->dirty = false;
    /* Greater than all before, and unlike those of a host in another partition. */
    host->batch = ((host->batch >> 16) + 1) << 16 | (host->tag & 0xffff);
    policy_run run = {0};
    qsm_policy_result result = {0};
    qsm_table live = {0};
    qsm_policy_run policy = qsm_policy_find(engine->config.policy);
    assert(policy != NULL); /* the configuration was checked */
    qsm_host_region **regions = NULL;
    bool good =
        describe(host, &run) && policy(&run.input, &result) == QSM_OK && index_live(host, &live);
    if (good) {
        regions = calloc(result.region_count ? result.region_count : 1, sizeof *regions);
        good = regions != NULL;
    }
    for (uint32_t i = 0; good && i < result.region_count; i++) {
        regions[i] = region_for(host, &run, &result.regions[i], &live);
        good = regions[i] != NULL;
    }
    good = good && update_groups(host, &run, &result, regions);
    uint32_t closing_count = 0;
    qsm_host_region **closing = good ? close_unused(host, &closing_count) : NULL;
    if (closing != NULL) {
        qsm_note(engine, QSM_TRACE_batch_made, host->batch, host->client_count);
        qsm_count(engine, QSM_COUNT_hosted_batches);
        for (uint32_t i = 0; i < host->client_count; i++)
            tell_client(host, host->clients[i], closing, closing_count);
        for (uint32_t g = 0; g < host->next_handle; g++)
            host->group_by_handle[g]->changed = false;
    } else {
        qsm_host_changed(host); /* no memory now: try again with the next batch */
    }
    free(closing);
    free(regions);
    qsm_table_free(&live);
    if (qsm_policy_find(engine->config.policy) != NULL) qsm_policy_result_free(&result);
    free_run(&run);
    if (!host->dirty) send_all(host);
}
