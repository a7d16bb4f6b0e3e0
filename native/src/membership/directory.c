#include "membership/directory.h"

#include "core/engine.h"
#include "membership/group.h"

/* True when regions of the directory are here, or more of it may come. */
static bool is_in_use(const qsm_client *client, const qsm_directory *directory) {
    return directory->region_count > 0 || directory == client->directory;
}

void qsm_directories_forget_unused(qsm_engine *engine) {
    qsm_client *client = &engine->client;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        if (client->directories[i].region_count > 0 && &client->directories[i] != client->directory)
            return;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        if (!is_in_use(client, &client->directories[i]))
            qsm_directory_free(&client->directories[i]);
}

bool qsm_directory_tells_of_past(const qsm_client *client, const qsm_directory *directory) {
    return directory->used && is_in_use(client, directory);
}

void qsm_directory_free(qsm_directory *directory) {
    qsm_index_free(&directory->groups);
    qsm_table_free(&directory->alive);
    *directory = (qsm_directory){0};
}

bool qsm_directory_name(qsm_directory *directory, uint32_t handle, const qsm_group *group) {
    uint32_t known = qsm_index_get(&directory->groups, handle);
    if (known == group->number) return true;
    if (known != 0) qsm_index_remove(&directory->groups, handle, known);
    return qsm_index_add(&directory->groups, handle, group->number);
}

qsm_directory *qsm_directory_find(qsm_client *client, uint32_t tag) {
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++)
        if (client->directories[i].used && client->directories[i].tag == tag)
            return &client->directories[i];
    return NULL;
}

bool qsm_client_has_followed(qsm_engine *engine, uint32_t tag) {
    return qsm_directory_find(&engine->client, tag) != NULL;
}

/* A free one; else one that is kept for what was settled under it. NULL: there is none. */
static qsm_directory *place_for_another(qsm_client *client) {
    qsm_directory *place = NULL;
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX; i++) {
        if (!client->directories[i].used) return &client->directories[i];
        if (!is_in_use(client, &client->directories[i])) place = &client->directories[i];
    }
    return place;
}

qsm_directory *qsm_directory_enter(qsm_engine *engine, uint32_t tag) {
    qsm_client *client = &engine->client;
    qsm_directory *directory = qsm_directory_find(client, tag);
    if (directory == NULL) {
        directory = place_for_another(client);
        if (directory == NULL) return NULL; /* eight hosts in a row and none drained: see apply.c */
        qsm_directory_free(directory);
        directory->used = true;
        directory->tag = tag;
    }
    client->directory = directory;
    qsm_directories_forget_unused(engine);
    return directory;
}
