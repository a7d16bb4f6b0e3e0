#include "core/slab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/seal.h"

enum { LINE_BYTES = 64, LINK_OFFSET = 8 };

/* Begins with a line of the processor's cache; malloc's own address lies before it. */
static uint8_t *make_chunk(uint32_t item_bytes) {
    uint8_t *memory = calloc(1, (size_t)QSM_SLAB_CHUNK * item_bytes + LINE_BYTES + sizeof memory);
    if (memory == NULL) return NULL;
    uintptr_t begin = ((uintptr_t)memory + sizeof memory + LINE_BYTES - 1) & ~(uintptr_t)63;
    uint8_t *chunk = (uint8_t *)begin;
    memcpy(chunk - sizeof memory, &memory, sizeof memory);
    return chunk;
}

static void free_chunk(uint8_t *chunk) {
    uint8_t *memory;
    memcpy(&memory, chunk - sizeof memory, sizeof memory);
    free(memory);
}

static bool grow(qsm_slab *slab) {
    if (slab->chunk_count == slab->chunk_capacity) {
        uint32_t capacity = slab->chunk_capacity ? slab->chunk_capacity * 2 : 4;
        uint8_t **chunks = realloc(slab->chunks, capacity * sizeof *chunks);
        if (chunks == NULL) return false;
        slab->chunks = chunks;
        slab->chunk_capacity = capacity;
    }
    uint8_t *chunk = make_chunk(slab->item_bytes);
    if (chunk == NULL) return false;
    slab->chunks[slab->chunk_count++] = chunk;
    return true;
}

uint32_t qsm_slab_take(qsm_slab *slab) {
    assert(slab->item_bytes >= 2 * LINK_OFFSET && slab->item_bytes % LINK_OFFSET == 0);
    uint32_t number = slab->free_first;
    if (number != 0) {
        uint8_t *item = qsm_slab_at(slab, number);
        memcpy(&slab->free_first, item + LINK_OFFSET, sizeof slab->free_first);
        memset(item + LINK_OFFSET, 0, sizeof slab->free_first);
    } else {
        if (slab->next == slab->chunk_count * QSM_SLAB_CHUNK && !grow(slab)) return 0;
        number = ++slab->next;
    }
    slab->count++;
    return number;
}

void qsm_slab_give(qsm_slab *slab, uint32_t number) {
    assert(number > 0 && number <= slab->next && slab->count > 0);
    uint8_t *item = qsm_slab_at(slab, number);
    qsm_wipe(item, slab->item_bytes);
    memcpy(item + LINK_OFFSET, &slab->free_first, sizeof slab->free_first);
    slab->free_first = number;
    if (--slab->count == 0) qsm_slab_free(slab); /* the last one: the memory may serve others */
}

uint32_t qsm_slab_after(const qsm_slab *slab, uint32_t number) {
    for (number++; number <= slab->next; number++) {
        uint64_t first;
        memcpy(&first, qsm_slab_at(slab, number), sizeof first);
        if (first != 0) return number;
    }
    return 0;
}

void qsm_slab_free(qsm_slab *slab) {
    for (uint32_t i = 0; i < slab->chunk_count; i++)
        free_chunk(slab->chunks[i]);
    free(slab->chunks);
    *slab = (qsm_slab){.item_bytes = slab->item_bytes};
}
