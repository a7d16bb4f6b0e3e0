/*
 * slab.h - many small things of one size, named by numbers, that never move: without what malloc
 * keeps of each, and four bytes to name one where a pointer takes eight. Number 0 is none.
 *
 * What is taken is zero. The first eight bytes of a thing in use should not be, if all of them are
 * to be walked through.
 */
#ifndef QSM_CORE_SLAB_H
#define QSM_CORE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QSM_SLAB_CHUNK = 64 }; /* things that memory is made for at once */

typedef struct {
    uint8_t **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t item_bytes; /* a multiple of eight, at least 16 */
    uint32_t count;
    uint32_t free_first; /* number of a thing that was given back; 0: none */
    uint32_t next;       /* numbers above it have never been used */
} qsm_slab;

static inline void *qsm_slab_at(const qsm_slab *slab, uint32_t number) {
    uint32_t index = number - 1;
    return slab->chunks[index / QSM_SLAB_CHUNK] +
           (size_t)(index % QSM_SLAB_CHUNK) * slab->item_bytes;
}

/* The number of a new thing; 0 when memory is short. */
uint32_t qsm_slab_take(qsm_slab *slab);
/* Overwrites it, too: it may hold secrets. */
void qsm_slab_give(qsm_slab *slab, uint32_t number);
/* The number of the first thing in use after `number` (0: of all); 0 at the end. */
uint32_t qsm_slab_after(const qsm_slab *slab, uint32_t number);
/* Frees all memory; whatever is still in use is gone. */
void qsm_slab_free(qsm_slab *slab);

#endif
