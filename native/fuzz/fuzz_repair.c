/*
 * fuzz_repair.c - data, requests for repair and the estates of the dead.
 */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t kinds[] = {QSM_KIND_DATA, QSM_KIND_PULL, QSM_KIND_ORPHAN_QUERY,
                                    QSM_KIND_ORPHAN_REPORT};
    return world_fuzz(data, size, kinds, sizeof kinds);
}
