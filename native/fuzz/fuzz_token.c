/*
 * fuzz_token.c - tokens and all that goes round with them.
 */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t kinds[] = {QSM_KIND_TOKEN, QSM_KIND_TOKEN_ACK, QSM_KIND_ACK,
                                    QSM_KIND_NUDGE, QSM_KIND_STATUS};
    return world_fuzz(data, size, kinds, sizeof kinds);
}
