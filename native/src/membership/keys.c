#include "membership/keys.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/region.h"
#include "receiving/order.h"
#include "receiving/stream.h"
#include "sending/outgoing.h"

void qsm_other_keys_free(qsm_other_keys *others) {
    if (others != NULL) qsm_wipe(others, sizeof *others);
    free(others);
}

static qsm_other_keys *others_of(const qsm_group *group) {
    return group->extra != NULL ? group->extra->keys : NULL;
}

/* NULL when memory is short. */
static qsm_other_keys *make_others(qsm_group *group) {
    qsm_extra *extra = qsm_extra_of(group);
    if (extra == NULL) return NULL;
    if (extra->keys == NULL) extra->keys = calloc(1, sizeof *extra->keys);
    return extra->keys;
}

const uint8_t *qsm_keys_find(const qsm_group *group, uint8_t epoch) {
    if ((uint8_t)group->key_epoch == epoch) return group->key;
    const qsm_other_keys *others = others_of(group);
    for (uint32_t i = 0; others != NULL && i < others->count; i++)
        if ((uint8_t)others->keys[i].epoch == epoch) return others->keys[i].key;
    return NULL;
}

static qsm_group_key *find_other(const qsm_group *group, uint32_t epoch) {
    qsm_other_keys *others = others_of(group);
    for (uint32_t i = 0; others != NULL && i < others->count; i++)
        if (others->keys[i].epoch == epoch) return &others->keys[i];
    return NULL;
}

bool qsm_keys_may_come(qsm_group *group, uint8_t epoch) {
    qsm_other_keys *others = make_others(group);
    if (others == NULL) return true; /* it is tried again when there is memory */
    uint64_t now_ns = group->engine->now_ns;
    if (others->lacking_since_ns == 0 || others->lacking_epoch != epoch) {
        others->lacking_since_ns = now_ns;
        others->lacking_epoch = epoch;
        qsm_event event = {
            .type = QSM_EVENT_KEY, .group = group, .user = group->user, .view = epoch};
        qsm_post_event(group->engine, &event, NULL, NULL);
    }
    return now_ns - others->lacking_since_ns < group->engine->config.failure_ns / 2;
}

/* Messages that waited for the key are opened at once. */
static void retry_waiting(qsm_engine *engine) {
    uint32_t r = 0, s = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &r)) != NULL; s = 0)
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &s)) != NULL;)
            if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
}

/* Keys that senders have in the group were derived of the one that has just changed. */
static void forget_derived(qsm_group *group) {
    qsm_outgoing *outgoing = qsm_outgoing_of(group);
    if (outgoing != NULL) outgoing->key_made = false;
    qsm_orders_forget_keys(group);
}

int qsm_group_add_key(qsm_group *group, uint32_t epoch, const uint8_t *key) {
    if (group == NULL || key == NULL) return QSM_ERR_ARGUMENT;
    const qsm_group_key *other = find_other(group, epoch);
    const uint8_t *known = other != NULL               ? other->key
                           : group->key_epoch == epoch ? group->key
                                                       : NULL;
    if (known != NULL) return memcmp(known, key, QSM_KEY_BYTES) == 0 ? QSM_OK : QSM_ERR_EXISTS;
    if (qsm_keys_find(group, (uint8_t)epoch) != NULL) return QSM_ERR_EXISTS;
    qsm_other_keys *others = make_others(group);
    if (others == NULL) return QSM_ERR_NO_MEMORY;
    if (others->count + 1 >= QSM_GROUP_KEYS_MAX) return QSM_ERR_FULL;
    qsm_group_key *added = &others->keys[others->count++];
    added->epoch = epoch;
    memcpy(added->key, key, QSM_KEY_BYTES);
    forget_derived(group);
    if (others->lacking_since_ns != 0) {
        others->lacking_since_ns = 0;
        retry_waiting(group->engine);
    }
    return QSM_OK;
}

int qsm_group_use_key(qsm_group *group, uint32_t epoch) {
    if (group == NULL) return QSM_ERR_ARGUMENT;
    if (group->key_epoch == epoch) return QSM_OK;
    qsm_group_key *other = find_other(group, epoch);
    if (other == NULL) return QSM_ERR_NOT_FOUND;
    qsm_group_key chosen = *other;
    other->epoch = group->key_epoch;
    memcpy(other->key, group->key, QSM_KEY_BYTES);
    group->key_epoch = epoch;
    memcpy(group->key, chosen.key, QSM_KEY_BYTES);
    qsm_wipe(&chosen, sizeof chosen);
    forget_derived(group);
    return QSM_OK;
}

int qsm_group_drop_key(qsm_group *group, uint32_t epoch) {
    if (group == NULL || group->key_epoch == epoch) return QSM_ERR_ARGUMENT;
    qsm_group_key *other = find_other(group, epoch);
    if (other == NULL) return QSM_ERR_NOT_FOUND;
    qsm_other_keys *others = others_of(group);
    qsm_group_key *last = &others->keys[--others->count];
    if (other != last) *other = *last;
    qsm_wipe(last, sizeof *last);
    return QSM_OK;
}
