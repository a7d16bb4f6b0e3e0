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

/* The number of the group with this id; 0: there is none. */
static uint32_t find_group(const qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint32_t hash = (uint32_t)qsm_host_hash_id(id), cursor = UINT32_MAX, number;
    while ((number = qsm_index_find(&host->group_places, hash, &cursor)) != 0)
        if (memcmp(qsm_host_group_at(host, number)->id, id, QSM_GROUP_ID_BYTES) == 0) break;
    return number;
}

/* Room for one number more. */
static bool grow(uint32_t **numbers, uint32_t count, uint32_t *capacity) {
    if (count < *capacity) return true;
    uint32_t more = *capacity ? *capacity * 2 : 16;
    uint32_t *grown = realloc(*numbers, more * sizeof *grown);
    if (grown == NULL) return false;
    *numbers = grown;
    *capacity = more;
    return true;
}

static uint32_t make_group(qsm_host *host, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    if (host->next_handle == UINT32_MAX) return 0;
    if (!grow(&host->group_list, host->group_count, &host->group_capacity)) return 0;
    host->groups.item_bytes = sizeof(qsm_host_group);
    uint32_t number = qsm_slab_take(&host->groups);
    if (number == 0) return 0;
    if (!qsm_index_add(&host->group_places, (uint32_t)qsm_host_hash_id(id), number)) {
        qsm_slab_give(&host->groups, number);
        return 0;
    }
    qsm_host_group *group = qsm_host_group_at(host, number);
    memcpy(group->id, id, QSM_GROUP_ID_BYTES);
    group->handle = ++host->next_handle;
    group->index = host->group_count;
    host->group_list[host->group_count++] = number;
    host->engine->counters[QSM_COUNT_hosted_groups_now]++;
    return number;
}

static void free_group(qsm_host *host, uint32_t number) {
    qsm_host_group *group = qsm_host_group_at(host, number);
    qsm_index_remove(&host->group_places, (uint32_t)qsm_host_hash_id(group->id), number);
    host->engine->counters[QSM_COUNT_hosted_groups_now]--;
    qsm_host_company_unuse(host, group->company);
    qsm_slab_give(&host->groups, number);
}

void qsm_host_sweep_groups(qsm_host *host) {
    /* What nodes report of an earlier host is noted under handles: see host_legacy.c. */
    if (!host->groups_left || host->legacy_count > 0) return;
    uint32_t count = 0;
    host->groups_left = false;
    host->unwanted_count = 0;
    for (uint32_t i = 0; i < host->group_count; i++) {
        uint32_t number = host->group_list[i];
        qsm_host_group *group = qsm_host_group_at(host, number);
        if (group->joined == 0 && qsm_host_group_members(group) == 0) {
            free_group(host, number);
            continue;
        }
        if (group->joined == 0) host->groups_left = true; /* the next batch puts its members out */
        group->index = count;
        host->group_list[count++] = number;
    }
    host->group_count = count;
}

void qsm_host_free_groups(qsm_host *host) {
    for (uint32_t i = 0; i < host->group_count; i++)
        qsm_host_company_unuse(host, qsm_host_group_of_all(host, i)->company);
    host->engine->counters[QSM_COUNT_hosted_groups_now] = 0;
    free(host->group_list);
    qsm_slab_free(&host->groups);
    qsm_index_free(&host->group_places);
    qsm_table_free(&host->companies);
}

/* Where the group is or would be in the client's ascending list. */
static uint32_t group_position(const qsm_host *host, const qsm_host_client *client,
                               const qsm_host_group *group) {
    uint32_t low = 0, high = client->group_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (qsm_host_group_of(host, client, middle)->handle < group->handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_to_client(qsm_host_client *client, uint32_t number, uint32_t at) {
    if (!grow(&client->groups, client->group_count, &client->group_capacity)) return false;
    memmove(client->groups + at + 1, client->groups + at,
            (client->group_count - at) * sizeof *client->groups);
    client->groups[at] = number;
    client->group_count++;
    return true;
}

static void note_if_unwanted(qsm_host *host, const qsm_host_group *group) {
    if (group->joined > 0) return;
    host->groups_left = true;
    if (qsm_host_group_members(group) == 0) host->unwanted_count++;
}

uint32_t qsm_host_client_joins(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    uint32_t number = find_group(host, id);
    if (client->group_count >= QSM_GROUPS_PER_NODE_MAX) return 0;
    if (number == 0) number = make_group(host, id);
    if (number == 0) return 0;
    qsm_host_group *group = qsm_host_group_at(host, number);
    uint32_t at = group_position(host, client, group);
    if (at < client->group_count && client->groups[at] == number) return group->handle;
    if (!add_to_client(client, number, at)) {
        note_if_unwanted(host, group);
        return 0;
    }
    group->joined++;
    for (uint32_t i = 0; i < qsm_host_group_members(group); i++)
        if (group->company->members[i] == client->id) group->renewed = true;
    return group->handle;
}

void qsm_host_client_leaves(qsm_host *host, qsm_host_client *client, const uint8_t *id) {
    uint32_t number = find_group(host, id);
    if (number == 0) return;
    qsm_host_group *group = qsm_host_group_at(host, number);
    uint32_t at = group_position(host, client, group);
    if (at == client->group_count || client->groups[at] != number) return;
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
        qsm_host_group *group = qsm_host_group_of(host, client, g);
        group->joined--;
        note_if_unwanted(host, group);
    }
    free(client->groups);
    client->groups = NULL;
    client->group_count = client->group_capacity = 0;
}
