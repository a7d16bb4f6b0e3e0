/*
 * fuzz_engine.c - the whole engine under packets of all kinds, authentic or not.
 */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return world_fuzz(data, size, NULL, 0);
}
