/*
 * host_batch.c - turns the roster into regions and views, and tells each node what is new to it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/apply.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/policy.h"

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
    run->ids = calloc(host->group_count ? host->group_count : 1, sizeof *run->ids);
    if (!run->nodes || !run->clients || !run->handles || !run->ids) return false;
    for (uint32_t i = 0; i < host->group_count; i++)
        memcpy(run->ids[i], qsm_host_group_of_all(host, i)->id, QSM_GROUP_ID_BYTES);
    for (uint32_t i = 0; i < host->client_count && !host->yielding; i++) {
        qsm_host_client *client = host->clients[i];
        if (client->leaving || client->pending || client->group_count == 0) continue;
        uint32_t at = run->input.node_count;
        run->handles[at] = malloc(client->group_count * sizeof **run->handles);
        if (run->handles[at] == NULL) return false;
        for (uint32_t g = 0; g < client->group_count; g++)
            run->handles[at][g] = qsm_host_group_of(host, client, g)->index;
        run->clients[at] = client;
        run->nodes[at] = (qsm_policy_node){
            .node = client->id, .groups = run->handles[at], .group_count = client->group_count};
        run->input.node_count++;
    }
    run->input.nodes = run->nodes;
    run->input.group_count = host->group_count;
    run->input.group_ids = (const uint8_t (*)[16])run->ids;
    run->input.similar_percent = engine->config.similar_percent;
    run->input.region_size_min = engine->config.region_size_min;
    run->input.plan = engine->plan;
    run->input.plan_bytes = engine->plan_bytes;
    return describe_past(host, run);
}

static qsm_host_region *region_for(qsm_host *host, const policy_run *run,
                                   const qsm_policy_region *wanted, bool unicast,
                                   const qsm_table *live) {
    uint64_t *members = malloc(wanted->member_count * sizeof *members);
    if (members == NULL) return NULL;
    for (uint32_t i = 0; i < wanted->member_count; i++)
        members[i] = run->clients[wanted->members[i]]->id;
    return qsm_host_region_for(host, members, wanted->member_count, unicast, live);
}

/* ---- views ----------------------------------------------------------------------------------- */

static bool wants_hybrid(const qsm_host *host, const qsm_host_company *company) {
    uint32_t least = host->engine->config.hybrid_regions_min, count = company->region_count;
    if (!qsm_address_is_set(&host->engine->config.rendezvous)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (company->regions[i]->unicast) return false;
    return least > 1 && count >= least && count <= QSM_REGION_HEADERS_MAX;
}

/* Gives the group its new members and regions. A change stays one until it has been told. */
static void update_group(qsm_host *host, qsm_host_group *group, qsm_host_company *company) {
    bool changed = group->company != company || group->renewed;
    if (qsm_host_group_members(group) == 0 && company->member_count == 0) changed = false;
    qsm_host_company_unuse(host, group->company);
    group->company = company;
    group->renewed = false;
    if (!changed) return;
    group->changed = true;
    group->view = host->batch;
    group->hybrid = wants_hybrid(host, company);
}

/* Members of all groups, one group after the other. */
typedef struct rosters {
    uint32_t *ends; /* of each group, in `members`; 0 before the first */
    uint64_t *members;
} rosters;

static bool list_members(const qsm_host *host, const policy_run *run, rosters *all) {
    uint32_t *ends = all->ends = calloc(host->group_count + 2, sizeof *ends);
    if (ends == NULL) return false;
    for (uint32_t n = 0; n < run->input.node_count; n++)
        for (uint32_t g = 0; g < run->nodes[n].group_count; g++)
            ends[run->nodes[n].groups[g] + 2]++;
    for (uint32_t g = 1; g < host->group_count; g++)
        ends[g + 1] += ends[g];
    uint32_t total =
        host->group_count > 0 ? ends[host->group_count] + ends[host->group_count + 1] : 0;
    all->members = malloc((total ? total : 1) * sizeof *all->members);
    for (uint32_t n = 0; all->members != NULL && n < run->input.node_count; n++)
        for (uint32_t g = 0; g < run->nodes[n].group_count; g++)
            all->members[ends[run->nodes[n].groups[g] + 1]++] = run->nodes[n].node;
    return all->members != NULL;
}

static bool update_groups(qsm_host *host, const policy_run *run, const qsm_policy_result *result,
                          qsm_host_region **regions) {
    rosters all = {0};
    qsm_host_region **mapped = calloc(result->region_count + 1, sizeof *mapped);
    bool good = mapped != NULL && list_members(host, run, &all);
    for (uint32_t g = 0; good && g < host->group_count; g++) {
        const qsm_policy_group *wanted = &result->groups[g];
        for (uint32_t i = 0; i < wanted->region_count; i++)
            mapped[i] = regions[wanted->regions[i]];
        qsm_host_company *company =
            qsm_host_company_use(host, all.members + all.ends[g], all.ends[g + 1] - all.ends[g],
                                 mapped, wanted->region_count);
        good = company != NULL;
        if (good) update_group(host, qsm_host_group_of_all(host, g), company);
    }
    free(mapped);
    free(all.members);
    free(all.ends);
    return good;
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
            qsm_bytes_free(&client->batch); /* a first batch is long, and seldom another */
        } else {
            own = client->batch;
            client->batch = (qsm_bytes){0};
        }
    }
    settle(host);
    /* Last, because what this node does with it comes back to the host at once. */
    if (own.count > 0) qsm_apply_message(host->engine, host->engine->id, own.data, own.count);
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
    bool *unicast = NULL;
    uint32_t regions_before = host->next_region;
    bool good = describe(host, &run) && policy(&run.input, &result) == QSM_OK &&
                qsm_host_index_regions(host, &live);
    if (good) {
        regions = calloc(result.region_count ? result.region_count : 1, sizeof *regions);
        unicast = qsm_host_choose_unicast(host, &result, run.clients);
        good = regions != NULL && unicast != NULL;
    }
    for (uint32_t i = 0; good && i < result.region_count; i++) {
        regions[i] = region_for(host, &run, &result.regions[i], unicast[i], &live);
        good = regions[i] != NULL;
    }
    good = good && update_groups(host, &run, &result, regions);
    uint32_t closing_count = 0;
    qsm_host_region **closing = good ? qsm_host_close_unused(host, &closing_count) : NULL;
    if (closing != NULL) {
        qsm_note(engine, QSM_TRACE_batch_made, host->batch, host->client_count);
        qsm_count(engine, QSM_COUNT_hosted_batches);
        for (uint32_t i = 0; i < host->client_count; i++)
            qsm_host_tell_client(host, host->clients[i], closing, closing_count);
        for (uint32_t g = 0; g < host->group_count; g++)
            qsm_host_group_of_all(host, g)->changed = false;
        qsm_host_sweep_groups(host);
    } else {
        qsm_host_changed(host); /* no memory now: try again with the next batch */
    }
    free(closing);
    free(regions);
    free(unicast);
    qsm_table_free(&live);
    /* The policy goes on from what it has made, as long as that leads anywhere. */
    bool again = result.unfinished && host->next_region != regions_before;
    qsm_policy_result_free(&result);
    free_run(&run);
    if (!host->dirty) send_all(host);
    if (again && engine->host == host) qsm_host_changed(host);
}
