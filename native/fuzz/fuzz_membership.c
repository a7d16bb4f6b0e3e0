/*
 * fuzz_membership.c - messages of the membership service, on control links that a member holds.
 */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t kinds[] = {QSM_KIND_LINK, QSM_KIND_PING, QSM_KIND_PONG};
    return world_fuzz(data, size, kinds, sizeof kinds);
}
