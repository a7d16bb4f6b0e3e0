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

static qsm_host_group *find_group(qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES], bool make) {
    uint64_t hash = qsm_host_hash_id(id);
    qsm_host_group *first = qsm_table_get(&host->groups, hash), *group = first;
    while (group != NULL && memcmp(group->id, id, QSM_GROUP_ID_BYTES) != 0)
        group = group->next_same_hash;
    if (group != NULL || !make) return group;
    if (host->next_handle == host->group_capacity) {
        uint32_t capacity = host->group_capacity ? host->group_capacity * 2 : 64;
        qsm_host_group **groups = realloc(host->group_by_handle, capacity * sizeof *groups);
        if (groups == NULL) return NULL;
        host->group_by_handle = groups;
        host->group_capacity = capacity;
    }
    group = calloc(1, sizeof *group);
    if (group == NULL) return NULL;
    memcpy(group->id, id, QSM_GROUP_ID_BYTES);
    group->next_same_hash = first;
    if (!qsm_table_put(&host->groups, hash, group)) {
        free(group);
        return NULL;
    }
    host->group_by_handle[host->next_handle++] = group;
    group->handle = host->next_handle;
    return group;
}

/* Where the handle is or would be in the client's ascending list. */
static uint32_t group_position(const qsm_host_client *client, uint32_t handle) {
    uint32_t low = 0, high = client->group_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (client->groups[middle] < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t qsm_host_client_joins(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id, true);
    if (group == NULL || client->group_count >= QSM_GROUPS_PER_NODE_MAX) return 0;
    uint32_t at = group_position(client, group->handle);
    if (at < client->group_count && client->groups[at] == group->handle) return group->handle;
    if (client->group_count == client->group_capacity) {
        uint32_t capacity = client->group_capacity ? client->group_capacity * 2 : 8;
        uint32_t *groups = realloc(client->groups, capacity * sizeof *groups);
        if (groups == NULL) return 0;
        client->groups = groups;
        client->group_capacity = capacity;
    }
    memmove(client->groups + at + 1, client->groups + at,
            (client->group_count - at) * sizeof *client->groups);
    client->groups[at] = group->handle;
    client->group_count++;
    for (uint32_t i = 0; i < group->member_count; i++)
        if (group->members[i] == client->id) group->renewed = true;
    return group->handle;
}

void qsm_host_client_leaves(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    qsm_host_group *group = find_group(host, id, false);
    if (group == NULL) return;
    uint32_t at = group_position(client, group->handle);
    if (at == client->group_count || client->groups[at] != group->handle) return;
    memmove(client->groups + at, client->groups + at + 1,
            (client->group_count - at - 1) * sizeof *client->groups);
    client->group_count--;
}
