#include "drivers/sim_audience.h"

#include <assert.h>
#include <stdlib.h>

#include "drivers/sim_random.h"

void qsm_sim_audiences_free(qsm_sim_audiences *all) {
    for (uint32_t i = 0; i < all->capacity; i++) {
        free(all->items[i].nodes);
    }
    free(all->items);
}

static qsm_sim_audience *audience_place(qsm_sim_audience *audiences, uint32_t capacity,
                                        const qsm_address *address) {
    const uint64_t hash = qsm_sim_hash_bytes((const uint8_t *)address, sizeof *address);
    uint32_t place = (uint32_t)hash & (capacity - 1);
    while (audiences[place].used &&
           qsm_sim_compare_addresses(&audiences[place].address, address) != 0) {
        place = (place + 1) & (capacity - 1);
    }
    return &audiences[place];
}

qsm_sim_audience *qsm_sim_audience_find(qsm_sim_audiences *all, const qsm_address *address) {
    if (all->capacity == 0) return NULL;
    qsm_sim_audience *audience = audience_place(all->items, all->capacity, address);
    return audience->used ? audience : NULL;
}

static qsm_sim_audience *audience_make(qsm_sim_audiences *all, const qsm_address *address) {
    qsm_sim_audience *audience = qsm_sim_audience_find(all, address);
    if (audience != NULL) return audience;
    if ((all->count + 1) * 2 > all->capacity) {
        /* Addresses that nobody listens to any more are forgotten here. */
        const uint32_t capacity = all->capacity == 0 ? 64 : all->capacity * 2;
        qsm_sim_audience *audiences = calloc(capacity, sizeof *audiences);
        if (audiences == NULL) return NULL;
        all->count = 0;
        for (uint32_t i = 0; i < all->capacity; i++) {
            qsm_sim_audience *old = &all->items[i];
            if (!old->used) continue;
            if (old->node_count == 0) {
                free(old->nodes);
                continue;
            }
            *audience_place(audiences, capacity, &old->address) = *old;
            all->count++;
        }
        free(all->items);
        all->items = audiences;
        all->capacity = capacity;
    }
    audience = audience_place(all->items, all->capacity, address);
    *audience = (qsm_sim_audience){.address = *address, .used = true};
    all->count++;
    return audience;
}

/* Where `node` is in the audience, or belongs. */
static uint32_t audience_rank(const qsm_sim_audience *audience, uint32_t node) {
    uint32_t low = 0, high = audience->node_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (audience->nodes[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool qsm_sim_audience_enter(qsm_sim_audiences *all, const qsm_address *address, uint32_t node) {
    qsm_sim_audience *audience = audience_make(all, address);
    if (audience == NULL) return false;
    if (audience->node_count == audience->node_capacity) {
        const uint32_t capacity = audience->node_capacity == 0 ? 8 : audience->node_capacity * 2;
        uint32_t *nodes = realloc(audience->nodes, capacity * sizeof *nodes);
        if (nodes == NULL) return false;
        audience->nodes = nodes;
        audience->node_capacity = capacity;
    }
    const uint32_t rank = audience_rank(audience, node);
    assert(rank == audience->node_count || audience->nodes[rank] != node);
    memmove(&audience->nodes[rank + 1], &audience->nodes[rank],
            (audience->node_count - rank) * sizeof *audience->nodes);
    audience->nodes[rank] = node;
    audience->node_count++;
    return true;
}

void qsm_sim_audience_quit(qsm_sim_audiences *all, const qsm_address *address, uint32_t node) {
    qsm_sim_audience *audience = qsm_sim_audience_find(all, address);
    if (audience == NULL) return;
    const uint32_t rank = audience_rank(audience, node);
    if (rank == audience->node_count || audience->nodes[rank] != node) return;
    audience->node_count--;
    memmove(&audience->nodes[rank], &audience->nodes[rank + 1],
            (audience->node_count - rank) * sizeof *audience->nodes);
}
