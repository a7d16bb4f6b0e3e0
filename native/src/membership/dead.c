#include "membership/dead.h"

#include <stddef.h>

void qsm_dead_add(qsm_dead *dead, uint64_t id, uint64_t batch, bool everywhere) {
    bool known = qsm_table_get(&dead->when, id) != NULL;
    /* The batch is kept in place of a pointer. */
    if (batch == 0 || !qsm_table_put(&dead->when, id, (void *)(uintptr_t)batch)) return;
    if (everywhere) qsm_table_put(&dead->now, id, dead);
    if (known) return;
    uint64_t *place = &dead->order[dead->next++ % QSM_EVICTED_MAX];
    qsm_table_remove(&dead->now, *place); /* the oldest makes room */
    qsm_table_remove(&dead->when, *place);
    *place = id;
}

bool qsm_dead_has(const qsm_dead *dead, uint64_t id) {
    return qsm_table_get(&dead->now, id) != NULL;
}

uint64_t qsm_dead_since(const qsm_dead *dead, uint64_t id) {
    return (uint64_t)(uintptr_t)qsm_table_get(&dead->when, id);
}

void qsm_dead_remove(qsm_dead *dead, uint64_t id) {
    qsm_table_remove(&dead->now, id);
}

void qsm_dead_free(qsm_dead *dead) {
    qsm_table_free(&dead->now);
    qsm_table_free(&dead->when);
}
