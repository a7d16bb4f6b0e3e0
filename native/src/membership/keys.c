#include "membership/keys.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/group.h"
#include "membership/region.h"
#include "receiving/stream.h"

void qsm_keys_init(qsm_group_keys *keys, const uint8_t key[QSM_KEY_BYTES]) {
    *keys = (qsm_group_keys){0};
    memcpy(keys->used.key, key, QSM_KEY_BYTES);
}

void qsm_keys_free(qsm_group_keys *keys) {
    qsm_wipe(&keys->used, sizeof keys->used);
    if (keys->others != NULL) qsm_wipe(keys->others, QSM_GROUP_KEYS_MAX * sizeof *keys->others);
    free(keys->others);
    keys->others = NULL;
    keys->other_count = 0;
}

const uint8_t *qsm_keys_find(const qsm_group_keys *keys, uint8_t epoch) {
    if ((uint8_t)keys->used.epoch == epoch) return keys->used.key;
    for (uint32_t i = 0; i < keys->other_count; i++)
        if ((uint8_t)keys->others[i].epoch == epoch) return keys->others[i].key;
    return NULL;
}

static qsm_group_key *find_other(qsm_group_keys *keys, uint32_t epoch) {
    for (uint32_t i = 0; i < keys->other_count; i++)
        if (keys->others[i].epoch == epoch) return &keys->others[i];
    return NULL;
}

bool qsm_keys_may_come(qsm_group *group, uint8_t epoch) {
    qsm_group_keys *keys = &group->keys;
    uint64_t now_ns = group->engine->now_ns;
    if (keys->lacking_since_ns == 0 || keys->lacking_epoch != epoch) {
        keys->lacking_since_ns = now_ns;
        keys->lacking_epoch = epoch;
        qsm_event event = {
            .type = QSM_EVENT_KEY, .group = group, .user = group->user, .view = epoch};
        qsm_post_event(group->engine, &event, NULL, NULL);
    }
    return now_ns - keys->lacking_since_ns < group->engine->config.failure_ns / 2;
}

/* Messages that waited for the key are opened at once. */
static void retry_waiting(qsm_engine *engine) {
    uint32_t r = 0, s = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &r)) != NULL; s = 0)
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &s)) != NULL;)
            if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
}

int qsm_group_add_key(qsm_group *group, uint32_t epoch, const uint8_t *key) {
    if (group == NULL || key == NULL) return QSM_ERR_ARGUMENT;
    qsm_group_keys *keys = &group->keys;
    qsm_group_key *known = keys->used.epoch == epoch ? &keys->used : find_other(keys, epoch);
    if (known != NULL) return memcmp(known->key, key, QSM_KEY_BYTES) == 0 ? QSM_OK : QSM_ERR_EXISTS;
    if (qsm_keys_find(keys, (uint8_t)epoch) != NULL) return QSM_ERR_EXISTS;
    if (keys->other_count + 1 >= QSM_GROUP_KEYS_MAX) return QSM_ERR_FULL;
    if (keys->others == NULL) keys->others = calloc(QSM_GROUP_KEYS_MAX, sizeof *keys->others);
    if (keys->others == NULL) return QSM_ERR_NO_MEMORY;
    qsm_group_key *added = &keys->others[keys->other_count++];
    added->epoch = epoch;
    memcpy(added->key, key, QSM_KEY_BYTES);
    if (keys->lacking_since_ns != 0) {
        keys->lacking_since_ns = 0;
        retry_waiting(group->engine);
    }
    return QSM_OK;
}

int qsm_group_use_key(qsm_group *group, uint32_t epoch) {
    if (group == NULL) return QSM_ERR_ARGUMENT;
    if (group->keys.used.epoch == epoch) return QSM_OK;
    qsm_group_key *other = find_other(&group->keys, epoch);
    if (other == NULL) return QSM_ERR_NOT_FOUND;
    qsm_group_key before = group->keys.used;
    group->keys.used = *other;
    *other = before;
    qsm_wipe(&before, sizeof before);
    return QSM_OK;
}

int qsm_group_drop_key(qsm_group *group, uint32_t epoch) {
    if (group == NULL || group->keys.used.epoch == epoch) return QSM_ERR_ARGUMENT;
    qsm_group_key *other = find_other(&group->keys, epoch);
    if (other == NULL) return QSM_ERR_NOT_FOUND;
    qsm_group_key *last = &group->keys.others[--group->keys.other_count];
    if (other != last) *other = *last;
    qsm_wipe(last, sizeof *last);
    return QSM_OK;
}
