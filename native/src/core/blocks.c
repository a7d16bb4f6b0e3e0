#include "core/blocks.h"

#include <stdlib.h>

enum { SMALLEST_BYTES = 64 };

struct qsm_block {
    qsm_block *next;
};

static uint32_t size_of(size_t bytes) {
    uint32_t size = 0;
    while (size < QSM_BLOCK_SIZES && bytes > (size_t)SMALLEST_BYTES << size)
        size++;
    return size;
}

void *qsm_blocks_take(qsm_blocks *blocks, size_t bytes) {
    uint32_t size = size_of(bytes);
    if (size == QSM_BLOCK_SIZES) return malloc(bytes);
    qsm_block *block = blocks->free[size];
    if (block == NULL) return malloc((size_t)SMALLEST_BYTES << size);
    blocks->free[size] = block->next;
    blocks->free_count[size]--;
    return block;
}

void qsm_blocks_give(qsm_blocks *blocks, void *memory, size_t bytes) {
    uint32_t size = size_of(bytes);
    if (memory == NULL) return;
    if (size == QSM_BLOCK_SIZES ||
        blocks->free_count[size] >= QSM_BLOCKS_KEPT_BYTES / (SMALLEST_BYTES << size)) {
        free(memory);
        return;
    }
    qsm_block *block = memory;
    block->next = blocks->free[size];
    blocks->free[size] = block;
    blocks->free_count[size]++;
}

void qsm_blocks_free(qsm_blocks *blocks) {
    for (uint32_t size = 0; size < QSM_BLOCK_SIZES; size++)
        while (blocks->free[size] != NULL) {
            qsm_block *next = blocks->free[size]->next;
            free(blocks->free[size]);
            blocks->free[size] = next;
        }
    *blocks = (qsm_blocks){0};
}
