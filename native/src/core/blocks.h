/*
 * blocks.h - memory for what comes and goes with messages, in sizes of powers of two; what is given
 * back is kept for the next, within a bound, so that a steady stream asks the system for nothing.
 */
#ifndef QSM_CORE_BLOCKS_H
#define QSM_CORE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define QSM_BLOCK_SIZES 7u               /* of 64 to 4096 bytes; larger ones are not kept */
#define QSM_BLOCKS_KEPT_BYTES (1u << 18) /* of each size */

typedef struct qsm_block qsm_block;

typedef struct {
    qsm_block *free[QSM_BLOCK_SIZES];
    uint32_t free_count[QSM_BLOCK_SIZES];
} qsm_blocks;

/* NULL when memory is short. */
void *qsm_blocks_take(qsm_blocks *blocks, size_t bytes);
/* Gives back what was taken with that many bytes; `memory` may be NULL. */
void qsm_blocks_give(qsm_blocks *blocks, void *memory, size_t bytes);
void qsm_blocks_free(qsm_blocks *blocks);

#endif
