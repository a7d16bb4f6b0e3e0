#include "sending/watch.h"

#include "core/engine.h"
#include "membership/group.h"
#include "membership/region.h"
#include "sending/outgoing.h"
#include "sending/sender.h"

static qsm_watch *watch_of(const qsm_group *group) {
    return &qsm_outgoing_of(group)->watch;
}

/* True when the packet has a message of the group. */
static bool has_message_of(const qsm_group *group, const qsm_region *region,
                           const qsm_out_packet *packet) {
    const qsm_engine *engine = group->engine;
    if (packet->messages > 0)
        return qsm_group_called(engine, region->directory, packet->group) == group;
    qsm_data data;
    if (!qsm_data_reread(&packet->packet, &data)) return false;
    for (uint32_t i = 0; i < data.message_count; i++)
        if (qsm_group_called(engine, region->directory, data.messages[i].group) == group)
            return true;
    return false;
}

/* True when a packet of this stream, up to the stamp, with a message of the group is not stable. */
static bool is_awaited_in(const qsm_group *group, qsm_region *region, uint64_t stamp) {
    qsm_sender *sender = region->sender;
    for (uint64_t s = sender->stable + 1; s <= sender->high; s++) {
        const qsm_out_packet *packet = qsm_sender_packet(sender, s);
        if (packet->first_stamp > stamp) return false;
        if (packet->last_stamp > 0 && has_message_of(group, region, packet)) return true;
    }
    return false;
}

static bool is_received(const qsm_group *group, uint64_t stamp) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&group->engine->regions, &cursor)) != NULL;)
        if (region->sender != NULL && is_awaited_in(group, region, stamp)) return false;
    return true;
}

/* True when the question is answered. */
static bool look(qsm_group *group) {
    qsm_watch *watch = watch_of(group);
    if (watch->state == QSM_WATCH_QUEUED) {
        if (qsm_outgoing_of(group)->queue != NULL) return false;
        watch->state = QSM_WATCH_SENT;
        watch->stamp = group->engine->scheduler.stamp;
    }
    if (!is_received(group, watch->stamp)) return false;
    watch->state = QSM_WATCH_NONE;
    const qsm_event event = {.type = QSM_EVENT_RECEIVED, .group = group, .user = group->user};
    qsm_post_event(group->engine, &event, NULL, NULL);
    return true;
}

void qsm_watches_look(qsm_engine *engine) {
    qsm_group *group = engine->scheduler.watched;
    engine->scheduler.watched = NULL;
    while (group != NULL) {
        qsm_watch *watch = watch_of(group);
        qsm_group *next = watch->next;
        if (!look(group)) {
            watch->next = engine->scheduler.watched;
            engine->scheduler.watched = group;
        }
        group = next;
    }
}

void qsm_watch_forget(qsm_group *group) {
    if (watch_of(group)->state == QSM_WATCH_NONE) return;
    watch_of(group)->state = QSM_WATCH_NONE;
    qsm_group **place = &group->engine->scheduler.watched;
    while (*place != NULL && *place != group)
        place = &watch_of(*place)->next;
    if (*place == group) *place = watch_of(group)->next;
}

int qsm_group_watch(qsm_group *group) {
    if (group == NULL) return QSM_ERR_ARGUMENT;
    qsm_outgoing *outgoing = qsm_outgoing_make(group);
    if (outgoing == NULL) return QSM_ERR_NO_MEMORY;
    qsm_watch_forget(group);
    outgoing->watch = (qsm_watch){.state = QSM_WATCH_QUEUED};
    if (look(group)) return QSM_OK;
    outgoing->watch.next = group->engine->scheduler.watched;
    group->engine->scheduler.watched = group;
    return QSM_OK;
}
