/*
 * fuzz_join.c - looking for a scope, being admitted and put out.
 */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t kinds[] = {QSM_KIND_SOLICIT, QSM_KIND_OFFER, QSM_KIND_BEACON,
                                    QSM_KIND_LINK,    QSM_KIND_PING,  QSM_KIND_EVICTED,
                                    QSM_KIND_CALL};
    return world_fuzz(data, size, kinds, sizeof kinds);
}
