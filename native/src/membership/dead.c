#include "membership/dead.h"

#include <stdlib.h>
#include <string.h>

/* Batches that told of one node's deaths, the last first; 0: none. */
typedef struct {
    uint64_t batches[QSM_DEATHS_KEPT];
} deaths;

static void forget(qsm_dead *dead, uint64_t id) {
    qsm_table_remove(&dead->now, id);
    free(qsm_table_remove(&dead->when, id));
}

/* What is known of the node's deaths, made when needed; NULL when memory is short. */
static deaths *deaths_of(qsm_dead *dead, uint64_t id) {
    deaths *known = qsm_table_get(&dead->when, id);
    if (known != NULL) return known;
    if (dead->next >= QSM_EVICTED_MAX) /* the oldest makes room */
        forget(dead, dead->order[dead->next % QSM_EVICTED_MAX]);
    deaths *made = calloc(1, sizeof *made);
    if (made == NULL || !qsm_table_put(&dead->when, id, made)) {
        free(made);
        return NULL;
    }
    dead->order[dead->next++ % QSM_EVICTED_MAX] = id;
    return made;
}

void qsm_dead_add(qsm_dead *dead, uint64_t id, uint64_t batch, bool everywhere) {
    deaths *known = batch != 0 ? deaths_of(dead, id) : NULL;
    if (known == NULL) return;
    if (everywhere) qsm_table_put(&dead->now, id, dead);
    if (known->batches[0] == batch) return;
    memmove(known->batches + 1, known->batches, sizeof known->batches - sizeof batch);
    known->batches[0] = batch;
}

bool qsm_dead_has(const qsm_dead *dead, uint64_t id) {
    return qsm_table_get(&dead->now, id) != NULL;
}

uint64_t qsm_dead_since(const qsm_dead *dead, uint64_t id) {
    const deaths *known = qsm_table_get(&dead->when, id);
    return known != NULL ? known->batches[0] : 0;
}

uint64_t qsm_dead_before(const qsm_dead *dead, uint64_t id, uint64_t batch) {
    const deaths *known = qsm_table_get(&dead->when, id);
    for (uint32_t i = 0; known != NULL && i < QSM_DEATHS_KEPT; i++)
        if (known->batches[i] < batch) return known->batches[i];
    return 0;
}

void qsm_dead_remove(qsm_dead *dead, uint64_t id) {
    qsm_table_remove(&dead->now, id);
}

void qsm_dead_free(qsm_dead *dead) {
    uint32_t cursor = 0;
    for (deaths *known; (known = qsm_table_next(&dead->when, &cursor)) != NULL;)
        free(known);
    qsm_table_free(&dead->now);
    qsm_table_free(&dead->when);
}
