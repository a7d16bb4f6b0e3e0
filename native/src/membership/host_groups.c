/* host_groups.c - who has joined what, as the host knows it. */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/host.h"

uint64_t qsm_host_hash_id(const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint64_t halves[2];
    memcpy(halves, id, sizeof halves);
    return qsm_mix64(halves[0] ^ qsm_mix64(halves[1]));
}

enum { UNWANTED_MAX = 4096 }; /* groups that may wait for the next batch to be freed */

static qsm_host_group *find_group(qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    qsm_host_group *group = qsm_table_get(&host->groups, qsm_host_hash_id(id));
    while (group != NULL && memcmp(group->id, id, QSM_GROUP_ID_BYTES) != 0)
        group = group->next_same_hash;
    return group;
}

static qsm_host_group *make_group(qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint64_t hash = qsm_host_hash_id(id);
    if (host->next_handle == UINT32_MAX) return NULL;
    if (host->group_count == host->group_capacity) {
        uint32_t capacity = host->group_capacity ? host->group_capacity * 2 : 64;
        qsm_host_group **groups = realloc(host->group_list, capacity * sizeof *groups);
        if (groups == NULL) return NULL;
        host->group_list = groups;
        host->group_capacity = capacity;
    }
    qsm_host_group *group = calloc(1, sizeof *group);
    if (group == NULL) return NULL;
    memcpy(group->id, id, QSM_GROUP_ID_BYTES);
    group->next_same_hash = qsm_table_get(&host->groups, hash);
    if (!qsm_table_put(&host->groups, hash, group)) {
        free(group);
        return NULL;
    }
    group->handle = ++host->next_handle;
    group->index = host->group_count;
    host->group_list[host->group_count++] = group;
    host->engine->counters[QSM_COUNT_hosted_groups_now]++;
    return group;
}

static void free_group(qsm_host *host, qsm_host_group *group) {
    uint64_t hash = qsm_host_hash_id(group->id);
    qsm_host_group *first = qsm_table_get(&host->groups, hash), *before = first;
    while (before != group && before->next_same_hash != group)
        before = before->next_same_hash;
    if (before != group)
        before->next_same_hash = group->next_same_hash;
    else
        qsm_table_remove(&host->groups, hash);
    if (before == group && group->next_same_hash != NULL)
        (void)qsm_table_put(&host->groups, hash, group->next_same_hash); /* where there was room */
    host->engine->counters[QSM_COUNT_hosted_groups_now]--;
    qsm_host_company_unuse(host, group->company);
    free(group);
}

void qsm_host_sweep_groups(qsm_host *host) {
    /* What nodes report of an earlier host is noted under handles: see host_legacy.c. */
    if (!host->groups_left || host->legacy_count > 0) return;
    uint32_t count = 0;
    host->groups_left = false;
    host->unwanted_count = 0;
    for (uint32_t i = 0; i < host->group_count; i++) {
        qsm_host_group *group = host->group_list[i];
        if (group->joined == 0 && qsm_host_group_members(group) == 0) {
            free_group(host, group);
            continue;
        }
        if (group->joined == 0) host->groups_left = true; /* the next batch puts its members out */
        group->index = count;
        host->group_list[count++] = group;
    }
    host->group_count = count;
}

void qsm_host_free_groups(qsm_host *host) {
    for (uint32_t i = 0; i < host->group_count; i++) {
        qsm_host_company_unuse(host, host->group_list[i]->company);
        free(host->group_list[i]);
    }
    host->engine->counters[QSM_COUNT_hosted_groups_now] = 0;
    free(host->group_list);
    qsm_table_free(&host->groups);
    qsm_table_free(&host->companies);
}

/* Where the group is or would be in the client's ascending list. */
static uint32_t group_position(const qsm_host_client *client, const qsm_host_group *group) {
    uint32_t low = 0, high = client->group_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (client->groups[middle]->handle < group->handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_to_client(qsm_host_client *client, qsm_host_group *group, uint32_t at) {
    if (client->group_count == client->group_capacity) {
        uint32_t capacity = client->group_capacity ? client->group_capacity * 2 : 8;
        qsm_host_group **groups = realloc(client->groups, capacity * sizeof *groups);
        if (groups == NULL) return false;
        client->groups = groups;
        client->group_capacity = capacity;
    }
    memmove(client->groups + at + 1, client->groups + at,
            (client->group_count - at) * sizeof *client->groups);
    client->groups[at] = group;
    client->group_count++;
    group->joined++;
    return true;
}

static void note_if_unwanted(qsm_host *host, const qsm_host_group *group) {
    if (group->joined > 0) return;
    host->groups_left = true;
    if (qsm_host_group_members(group) == 0) host->unwanted_count++;
}

uint32_t qsm_host_client_joins(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id);
    if (client->group_count >= QSM_GROUPS_PER_NODE_MAX) return 0;
    if (group == NULL) group = make_group(host, id);
    if (group == NULL) return 0;
    uint32_t at = group_position(client, group);
    if (at < client->group_count && client->groups[at] == group) return group->handle;
    if (!add_to_client(client, group, at)) {
        note_if_unwanted(host, group);
        return 0;
    }
    for (uint32_t i = 0; i < qsm_host_group_members(group); i++)
        if (group->company->members[i] == client->id) group->renewed = true;
    return group->handle;
}

void qsm_host_client_leaves(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id);
    if (group == NULL) return;
    uint32_t at = group_position(client, group);
    if (at == client->group_count || client->groups[at] != group) return;
    memmove(client->groups + at, client->groups + at + 1,
            (client->group_count - at - 1) * sizeof *client->groups);
    client->group_count--;
    group->joined--;
    note_if_unwanted(host, group);
    /* Those never in a view need not wait for a batch: nobody can make many of them. */
    if (host->unwanted_count > UNWANTED_MAX) qsm_host_sweep_groups(host);
}

void qsm_host_client_leaves_all(qsm_host *host, qsm_host_client *client) {
    for (uint32_t g = 0; g < client->group_count; g++) {
        client->groups[g]->joined--;
        note_if_unwanted(host, client->groups[g]);
    }
    free(client->groups);
    client->groups = NULL;
    client->group_count = client->group_capacity = 0;
}
