#include "membership/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/delivery.h"
#include "receiving/stream.h"
#include "sending/scheduler.h"

static uint64_t hash_id(const uint8_t id[QSM_GROUP_ID_BYTES]) {
    uint64_t halves[2];
    memcpy(halves, id, sizeof halves);
    return qsm_mix64(halves[0] ^ qsm_mix64(halves[1]));
}

qsm_group *qsm_group_find(qsm_engine *engine, const uint8_t id[QSM_GROUP_ID_BYTES]) {
    qsm_group *group = qsm_table_get(&engine->groups, hash_id(id));
    while (group != NULL && memcmp(group->id, id, QSM_GROUP_ID_BYTES) != 0)
        group = group->next_same_hash;
    return group;
}

qsm_group *qsm_group_next(qsm_engine *engine, uint32_t *cursor, const qsm_group *last) {
    if (last != NULL && last->next_same_hash != NULL) return last->next_same_hash;
    return qsm_table_next(&engine->groups, cursor);
}

int qsm_group_join(qsm_engine *engine, const uint8_t *group_id, const uint8_t *key, void *user,
                   qsm_group **out) {
    if (engine == NULL || group_id == NULL || key == NULL || out == NULL) return QSM_ERR_ARGUMENT;
    if (engine->client.health == QSM_HEALTH_CLOSED || engine->client.closing) return QSM_ERR_CLOSED;
    if (qsm_group_find(engine, group_id) != NULL) return QSM_ERR_EXISTS;
    if (engine->group_count >= QSM_GROUPS_PER_NODE_MAX) return QSM_ERR_FULL;
    qsm_group *group = calloc(1, sizeof *group);
    if (group == NULL) return QSM_ERR_NO_MEMORY;
    memcpy(group->id, group_id, QSM_GROUP_ID_BYTES);
    qsm_keys_init(&group->keys, key);
    uint64_t hash = hash_id(group_id);
    group->next_same_hash = qsm_table_get(&engine->groups, hash);
    if (!qsm_table_put(&engine->groups, hash, group)) {
        qsm_keys_free(&group->keys);
        free(group);
        return QSM_ERR_NO_MEMORY;
    }
    group->engine = engine;
    group->user = user;
    group->priority = 1;
    group->serial = ++engine->join_count;
    group->next_number = (group->serial << 40) + 1;
    engine->group_count++;
    engine->counters[QSM_COUNT_groups_now]++;
    qsm_request_join(group);
    *out = group;
    return QSM_OK;
}

static void unmap_regions(qsm_group *group) {
    for (uint32_t i = 0; i < group->region_count; i++)
        group->regions[i]->uses--;
    if (group->regions != &group->only_region) free(group->regions);
    group->regions = NULL;
    group->region_count = 0;
}

void qsm_group_drop_fragments(qsm_group *group) {
    qsm_blocks_give(&group->engine->blocks, group->fragments, group->fragments_bytes);
    group->fragments = NULL;
}

static void drop_unsent(qsm_group *group) {
    while (group->queue_first != NULL) {
        qsm_queued *next = group->queue_first->next;
        qsm_blocks_give(&group->engine->blocks, group->queue_first,
                        sizeof *next + group->queue_first->bytes);
        group->queue_first = next;
    }
    group->queue_last = NULL;
    group->queue_count = 0;
    qsm_group_drop_fragments(group);
}

void qsm_group_free(qsm_group *group) {
    qsm_engine *engine = group->engine;
    qsm_scheduler_remove(group);
    if (engine->scheduler.pulled == group) engine->scheduler.pulled = NULL;
    qsm_delivery_forget_group(group);
    qsm_forget_events(engine, group);
    unmap_regions(group);
    drop_unsent(group);
    free(group->past_views);
    uint64_t hash = hash_id(group->id);
    qsm_group *first = qsm_table_get(&engine->groups, hash);
    if (first == group) {
        if (group->next_same_hash != NULL)
            qsm_table_put(&engine->groups, hash, group->next_same_hash);
        else
            qsm_table_remove(&engine->groups, hash);
    } else {
        while (first->next_same_hash != group)
            first = first->next_same_hash;
        first->next_same_hash = group->next_same_hash;
    }
    qsm_request_forget_group(group);
    engine->group_count--;
    engine->counters[QSM_COUNT_groups_now]--;
    qsm_keys_free(&group->keys);
    free(group);
}

void qsm_group_leave(qsm_group *group) {
    if (group == NULL) return;
    qsm_request_leave(group);
    qsm_group_free(group);
}

void qsm_group_reset(qsm_group *group) {
    unmap_regions(group);
    qsm_delivery_forget_group(group);
    group->view = group->joined_view = group->last_sent_view = 0;
    group->past_view_count = 0;
    group->handle = 0;
    group->unacknowledged = 0;
    group->flushing = group->bereaved = false;
    qsm_group_drop_fragments(group); /* its first part went out under another id */
    /* A new id, so numbers cannot collide with those used before; a new life for receivers all the
     * same. */
    group->serial = ++group->engine->join_count;
    group->next_number = (group->serial << 40) + 1;
}

/* Nothing more comes of what the sender has sent so far: all regions have ended its streams. */
static bool is_heard_out(qsm_engine *engine, uint64_t sender) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        qsm_stream *stream = qsm_stream_find(region, sender);
        if (stream == NULL) continue;
        bool asked_about = stream->sealed_off && !stream->fin_known; /* there may be something */
        if (asked_about || !qsm_stream_is_finished(stream)) return false;
    }
    return true;
}

/* How far a sender was delivered is kept until no region knows it any more, so that nothing is
 * delivered twice. Others may come back with another host and go on numbering where they were. */
static void forget_gone(qsm_group *group) {
    for (qsm_order *order = group->orders; order != NULL;) {
        qsm_order *next = order->next;
        uint64_t sender = order->sender;
        bool dead = qsm_dead_has(&group->engine->dead, sender);
        bool known = qsm_peer_find(group->engine, sender) != NULL;
        uint64_t died = qsm_dead_since(&group->engine->dead, sender);
        if ((!dead && known && (died == 0 || order->parked == NULL)) ||
            !is_heard_out(group->engine, sender)) {
            order = next;
            continue;
        }
        if (dead && !known) {
            qsm_delivery_forget_sender(group->engine, group, sender);
            next = group->orders; /* several lives of the sender may have gone: begin again */
        } else {
            /* One that counted as dead only in regions of an earlier host may go on elsewhere. */
            qsm_delivery_drop_waiting(order, dead || !known ? UINT64_MAX : died);
        }
        order = next;
    }
}

void qsm_groups_forget_gone(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_group *group = qsm_group_next(engine, &cursor, NULL); group != NULL;
         group = qsm_group_next(engine, &cursor, group))
        forget_gone(group);
}

bool qsm_group_was_in(const qsm_group *group, uint64_t view) {
    if (group->past_views == NULL) return group->past_view_count > 0 && view == group->joined_view;
    for (uint32_t i = 0; i < group->past_view_count && i < QSM_PAST_VIEWS; i++)
        if (group->past_views[i] == view) return true;
    return false;
}

bool qsm_group_is_for(const qsm_group *group, uint64_t view) {
    if (group->joined_view == 0 || view < group->joined_view) return false;
    if (qsm_group_was_in(group, view)) return true;
    if (group->past_view_count <= QSM_PAST_VIEWS) return false;
    uint64_t oldest = UINT64_MAX; /* what was before cannot be told any more: it came over a region
                                     of ours, so yes */
    for (uint32_t i = 0; i < QSM_PAST_VIEWS; i++)
        if (group->past_views[i] < oldest) oldest = group->past_views[i];
    return view < oldest;
}

/* Remembers only as many views as can still matter: senders silent for longer have been heard to
 * the end. */
static void remember_view(qsm_group *group, uint64_t view) {
    if (group->past_views == NULL && group->past_view_count == 0) {
        group->past_view_count = 1; /* joined_view says it */
        return;
    }
    if (group->past_views == NULL) {
        group->past_views = malloc(QSM_PAST_VIEWS * sizeof *group->past_views);
        if (group->past_views == NULL) return;
        group->past_views[0] = group->joined_view;
    }
    group->past_views[group->past_view_count++ % QSM_PAST_VIEWS] = view;
}

/* True when a view has members that the one in force has not. Its list is not kept: its members are
 * those of its regions, or, when these hold others as well, some may be new. */
static bool has_newcomers(const qsm_group *group, const uint64_t *members, uint32_t count) {
    uint32_t in_regions = 0;
    for (uint32_t i = 0; i < group->region_count; i++)
        in_regions += group->regions[i]->member_count;
    if (in_regions != group->member_count) return true;
    qsm_table before = {0};
    bool known = true;
    for (uint32_t i = 0; i < group->region_count && known; i++)
        for (uint32_t m = 0; m < group->regions[i]->member_count && known; m++)
            known = qsm_table_put(&before, group->regions[i]->members[m].id, group->regions[i]);
    for (uint32_t i = 0; i < count && known; i++)
        known = qsm_table_get(&before, members[i]) != NULL;
    qsm_table_free(&before);
    return !known;
}

/* True when somebody in the new view was counted out since the one in force, of which no view has
 * told: it did not get what the rest of us have settled without it. */
static bool has_returned(const qsm_group *group, const uint64_t *members, uint32_t count) {
    bool bereaved = group->bereaved;
    for (uint32_t i = 0; i < group->region_count; i++)
        bereaved = bereaved || group->regions[i]->alive_count < group->regions[i]->member_count;
    bool returned = false;
    for (uint32_t i = 0; bereaved && i < count && !returned; i++)
        returned = members[i] != group->engine->id &&
                   qsm_dead_since(&group->engine->dead, members[i]) > group->view;
    return returned;
}

/* Messages for several regions are shared between them; that matters when their sender dies. */
static void note_siblings(const qsm_group *group) {
    for (uint32_t i = 0; group->region_count > 1 && i < group->region_count; i++) {
        qsm_region *mine = group->regions[i];
        for (uint32_t j = 0; mine->my_index >= 0 && j < group->region_count; j++)
            if (j != i) qsm_table_put(&mine->siblings, group->regions[j]->uid, mine);
    }
}

void qsm_group_install_view(qsm_group *group, uint64_t view, uint64_t *members,
                            uint32_t member_count, qsm_region **regions, uint16_t region_count) {
    qsm_engine *engine = group->engine;
    /* What was sent before may yet be lost with its sender. Members who waited for it could not
     * deliver what comes after, and newcomers could: so newcomers are sent nothing until then. */
    if (group->unacknowledged > 0 && has_newcomers(group, members, member_count))
        group->flushing = true;
    if (group->view != 0 && has_returned(group, members, member_count)) engine->client.torn = true;
    group->member_count = member_count;
    unmap_regions(group);
    group->regions = regions;
    group->region_count = region_count;
    if (region_count == 1) {
        group->only_region = regions[0];
        group->regions = &group->only_region;
        free(regions);
    }
    group->view = view;
    if (group->joined_view == 0) group->joined_view = view;
    remember_view(group, view);
    note_siblings(group);
    group->first_in_view = true;
    group->broken = group->bereaved = false;
    forget_gone(group);
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

static int offer(qsm_group *group, qsm_feed feed, qsm_feed_many feed_many, void *context,
                 uint32_t priority) {
    if (group == NULL || priority >= QSM_PRIORITIES) return QSM_ERR_ARGUMENT;
    bool feeds = group->feed != NULL || group->feed_many != NULL;
    if (feeds && group->ready && group->priority == priority) return QSM_OK;
    if (group->ready && group->priority != priority) qsm_scheduler_remove(group);
    group->feed = feed;
    group->feed_many = feed_many;
    group->feed_context = context;
    group->priority = (uint8_t)priority;
    qsm_scheduler_add(group);
    return QSM_OK;
}

int qsm_group_offer(qsm_group *group, qsm_feed feed, void *context, uint32_t priority) {
    return feed != NULL ? offer(group, feed, NULL, context, priority) : QSM_ERR_ARGUMENT;
}

int qsm_group_offer_many(qsm_group *group, qsm_feed_many feed, void *context, uint32_t priority) {
    return feed != NULL ? offer(group, NULL, feed, context, priority) : QSM_ERR_ARGUMENT;
}

int qsm_group_send(qsm_group *group, const uint8_t *data, uint32_t bytes) {
    if (group == NULL || (data == NULL && bytes > 0)) return QSM_ERR_ARGUMENT;
    if (bytes > QSM_MESSAGE_BYTES_MAX) return QSM_ERR_TOO_LARGE;
    if (group->queue_count >= QSM_SEND_QUEUE_MAX) {
        group->wants_room = true;
        return QSM_ERR_FULL;
    }
    qsm_queued *queued = qsm_blocks_take(&group->engine->blocks, sizeof *queued + bytes);
    if (queued == NULL) return QSM_ERR_NO_MEMORY;
    queued->next = NULL;
    queued->bytes = bytes;
    if (bytes) memcpy(queued->data, data, bytes);
    if (group->queue_last != NULL)
        group->queue_last->next = queued;
    else
        group->queue_first = queued;
    group->queue_last = queued;
    group->queue_count++;
    qsm_scheduler_add(group);
    return QSM_OK;
}

uint32_t qsm_group_unacknowledged(const qsm_group *group) {
    return group->unacknowledged + group->queue_count + (group->fragments != NULL);
}
