#include "membership/directory.h"

#include "core/engine.h"
#include "membership/group.h"

void qsm_directory_unused(qsm_engine *engine, qsm_directory *directory) {
    if (directory->region_count > 0 || directory == engine->client.directory) return;
    qsm_directory_free(directory);
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

qsm_directory *qsm_directory_enter(qsm_engine *engine, uint32_t tag) {
    qsm_client *client = &engine->client;
    qsm_directory *directory = qsm_directory_find(client, tag);
    for (uint32_t i = 0; i < QSM_DIRECTORIES_MAX && directory == NULL; i++)
        if (!client->directories[i].used) {
            directory = &client->directories[i];
            *directory = (qsm_directory){.used = true, .tag = tag};
        }
    if (directory == NULL) return NULL; /* eight hosts in a row and none drained: see apply.c */
    qsm_directory *before = client->directory;
    client->directory = directory;
    if (before != NULL && before != directory) qsm_directory_unused(engine, before);
    return directory;
}
