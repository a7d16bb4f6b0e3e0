#include "membership/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/extra.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/order.h"
#include "sending/outgoing.h"
#include "sending/scheduler.h"

static uint64_t hash_id(const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint64_t halves[2];
    memcpy(halves, id, sizeof halves);
    return qsm_mix64(halves[0] ^ qsm_mix64(halves[1]));
}

qsm_group *qsm_group_find(qsm_engine *engine, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint32_t key = (uint32_t)hash_id(id), cursor = UINT32_MAX, number;
    while ((number = qsm_index_find(&engine->group_places, key, &cursor)) != 0) {
        qsm_group *group = qsm_group_at(engine, number);
        if (memcmp(group->id, id, QSM_GROUP_ID_BYTES) == 0) return group;
    }
    return NULL;
}

qsm_group *qsm_group_next(const qsm_engine *engine, const qsm_group *last) {
    uint32_t number = last != NULL ? last->number : 0;
    return qsm_group_at(engine, qsm_slab_after(&engine->groups, number));
}

static qsm_group *make(qsm_engine *engine, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint32_t number = qsm_slab_take(&engine->groups);
    qsm_group *group = qsm_group_at(engine, number);
    if (group == NULL) return NULL;
    if (!qsm_index_add(&engine->group_places, (uint32_t)hash_id(id), number)) {
        qsm_slab_give(&engine->groups, number);
        return NULL;
    }
    memcpy(group->id, id, QSM_GROUP_ID_BYTES);
    group->number = number;
    group->engine = engine;
    return group;
}

int qsm_group_join(qsm_engine *engine, const uint8_t *group_id, const uint8_t *key, void *user,
                   qsm_group **out) {
    if (engine == NULL || group_id == NULL || key == NULL || out == NULL) return QSM_ERR_ARGUMENT;
    if (engine->client.health == QSM_HEALTH_CLOSED || engine->client.closing) return QSM_ERR_CLOSED;
    if (qsm_group_find(engine, group_id) != NULL) return QSM_ERR_EXISTS;
    if (engine->groups.count >= QSM_GROUPS_PER_NODE_MAX) return QSM_ERR_FULL;
    qsm_group *group = make(engine, group_id);
    if (group == NULL) return QSM_ERR_NO_MEMORY;
    memcpy(group->key, key, QSM_KEY_BYTES);
    group->user = user;
    group->serial = ++engine->join_count;
    engine->counters[QSM_COUNT_groups_now]++;
    qsm_request_join(group);
    *out = group;
    return QSM_OK;
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static void unmap_regions(qsm_group *group) {
    for (uint32_t i = 0; i < group->region_count; i++)
        qsm_group_regions(group)[i]->uses--;
    if (group->region_count != 1) free(group->regions.many);
    group->regions.many = NULL;
    group->region_count = 0;
}

/* Takes over the list. */
static void map_regions(qsm_group *group, qsm_region **regions, uint16_t count) {
    group->region_count = count;
    group->regions.many = regions;
    if (count != 1) return;
    group->regions.one = regions[0];
    free(regions);
}

void qsm_group_lose_region(qsm_group *group, qsm_region *region) {
    for (uint32_t i = 0; i < group->region_count; i++) {
        if (qsm_group_regions(group)[i] != region) continue;
        region->uses--;
        group->broken = group->roomy = true;
        if (region->alive_count < region->member_count) group->bereaved = true;
        if (group->region_count-- == 1) {
            group->regions.many = NULL;
            return;
        }
        qsm_region **many = group->regions.many;
        many[i--] = many[group->region_count];
        if (group->region_count > 1) continue;
        group->regions.one = many[0]; /* one that is left needs no list */
        free(many);
    }
}

void qsm_group_free(qsm_group *group) {
    qsm_engine *engine = group->engine;
    qsm_outgoing_free(group);
    if (engine->scheduler.pulled == group) engine->scheduler.pulled = NULL;
    qsm_orders_forget_group(group);
    qsm_forget_events(engine, group);
    unmap_regions(group);
    qsm_extra_free(group);
    qsm_index_remove(&engine->group_places, (uint32_t)hash_id(group->id), group->number);
    qsm_request_forget_group(group);
    engine->counters[QSM_COUNT_groups_now]--;
    qsm_slab_give(&engine->groups, group->number);
}

void qsm_group_leave(qsm_group *group) {
    if (group == NULL) return;
    qsm_request_leave(group);
    qsm_group_free(group);
}

void qsm_group_reset(qsm_group *group) {
    unmap_regions(group);
    qsm_orders_forget_group(group);
    group->view = group->joined_view = 0;
    qsm_extra_forget(group);
    group->handle = 0;
    group->bereaved = false;
    /* A new id, so numbers cannot collide with those used before; a new life for receivers all the
     * same. */
    group->serial = ++group->engine->join_count;
    qsm_outgoing_reset(group);
}

/* ---- views ------------------------------------------------------------------------------------
 */

/* True when a view has members that the one in force has not. Its list is not kept: its members are
 * those of its regions, or, when these hold others as well, some may be new. */
static bool has_newcomers(const qsm_group *group, const uint64_t *members, uint32_t count) {
    qsm_region *const *regions = qsm_group_regions(group);
    if (group->roomy) return true;
    qsm_table before = {0};
    bool known = true;
    for (uint32_t i = 0; i < group->region_count && known; i++)
        for (uint32_t m = 0; m < regions[i]->member_count && known; m++)
            known = qsm_table_put(&before, regions[i]->members[m].id, regions[i]);
    for (uint32_t i = 0; i < count && known; i++)
        known = qsm_table_get(&before, members[i]) != NULL;
    qsm_table_free(&before);
    return !known;
}

/* True when somebody in the new view was counted out since the one in force, of which no view has
 * told: it did not get what the rest of us have settled without it. */
static bool has_returned(const qsm_group *group, const uint64_t *members, uint32_t count) {
    qsm_region *const *regions = qsm_group_regions(group);
    bool bereaved = group->bereaved;
    for (uint32_t i = 0; i < group->region_count; i++)
        bereaved = bereaved || regions[i]->alive_count < regions[i]->member_count;
    bool returned = false;
    for (uint32_t i = 0; bereaved && i < count && !returned; i++)
        returned = members[i] != group->engine->id &&
                   qsm_dead_since(&group->engine->dead, members[i]) > group->view;
    return returned;
}

/* Messages for several regions are shared between them; that matters when their sender dies. */
static void note_siblings(const qsm_group *group) {
    qsm_region *const *regions = qsm_group_regions(group);
    for (uint32_t i = 0; group->region_count > 1 && i < group->region_count; i++) {
        qsm_region *mine = regions[i];
        for (uint32_t j = 0; mine->my_index >= 0 && j < group->region_count; j++)
            if (j != i) qsm_table_put(&mine->siblings, regions[j]->uid, mine);
    }
}

static uint32_t members_of_regions(const qsm_group *group) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->region_count; i++)
        count += qsm_group_regions(group)[i]->member_count;
    return count;
}

void qsm_group_install_view(qsm_group *group, uint64_t view, uint64_t *members,
                            uint32_t member_count, qsm_region **regions, uint16_t region_count) {
    qsm_engine *engine = group->engine;
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    /* What was sent before may yet be lost with its sender. Members who waited for it could not
     * deliver what comes after, and newcomers could: so newcomers are sent nothing until then. */
    if (outgoing != NULL && outgoing->unacknowledged > 0 &&
        has_newcomers(group, members, member_count))
        outgoing->flushing = true;
    if (outgoing != NULL) outgoing->first_in_view = true;
    if (group->view != 0 && has_returned(group, members, member_count)) engine->client.torn = true;
    qsm_orders_forget_gone(group);
    /* Who is not in it any more may have died instead, which is told after the views. */
    bool same_host = qsm_batch_tag(group->view) == qsm_batch_tag(view);
    bool waits = same_host && qsm_orders_note_left(group, members, member_count);
    unmap_regions(group);
    map_regions(group, regions, region_count);
    group->roomy = members_of_regions(group) != member_count;
    if (group->joined_view == 0)
        group->joined_view = view;
    else if (group->view != group->joined_view)
        qsm_extra_remember(group);
    group->view = view;
    note_siblings(group);
    group->broken = group->bereaved = false;
    for (uint32_t i = 0; waits && i < region_count; i++)
        qsm_orphans_look_later(qsm_group_regions(group)[i]);
    qsm_count(engine, QSM_COUNT_views_installed);
    qsm_note(engine, QSM_TRACE_view_installed, view, hash_id(group->id));
    if (QSM_BUG(18) && member_count > 1) member_count--;
    qsm_event event = {.type = QSM_EVENT_VIEW,
                       .group = group,
                       .user = group->user,
                       .sender = engine->id,
                       .view = view,
                       .members = members,
                       .member_count = member_count};
    qsm_post_event(engine, &event, NULL, members);
    qsm_scheduler_unblock(engine);
}
