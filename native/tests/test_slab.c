/* test_slab.c - slabs and indexes against plain arrays that say what must be in them. */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "core/index.h"
#include "core/prng.h"
#include "core/slab.h"

enum { THINGS = 1000, STEPS = 20000 };

typedef struct {
    uint64_t used, value;
    uint8_t rest[24];
} thing;

static qsm_prng drawn_from(uint64_t seed) {
    uint8_t bytes[32] = {0};
    memcpy(bytes, &seed, sizeof seed);
    qsm_prng prng;
    qsm_prng_seed(&prng, bytes);
    return prng;
}

static void check_walk(const qsm_slab *slab, const bool *held, uint32_t count) {
    uint32_t walked = 0;
    for (uint32_t n = 0; (n = qsm_slab_after(slab, n)) != 0; walked++)
        assert(held[n] && ((thing *)qsm_slab_at(slab, n))->value == n * 7u);
    assert(walked == count && slab->count == count);
}

static void test_things_stay_where_they_are_and_come_back_empty(void) {
    static bool held[THINGS + 1];
    qsm_slab slab = {.item_bytes = sizeof(thing)};
    qsm_prng prng = drawn_from(1);
    uint32_t count = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t n = 1 + (uint32_t)qsm_prng_below(&prng, THINGS);
        if (n < sizeof held && held[n]) {
            qsm_slab_give(&slab, n);
            held[n] = false;
            count--;
        } else if (count < THINGS) {
            uint32_t made = qsm_slab_take(&slab);
            static const thing empty;
            thing *item = qsm_slab_at(&slab, made);
            assert(made != 0 && made <= THINGS && !held[made]);
            assert(memcmp(item, &empty, sizeof empty) == 0);
            *item = (thing){.used = 1, .value = made * 7u, .rest = {255}};
            held[made] = true;
            count++;
        }
        if (step % 1000 == 0) check_walk(&slab, held, count);
    }
    for (uint32_t n = 1; n <= THINGS; n++)
        if (held[n]) qsm_slab_give(&slab, n);
    assert(slab.count == 0 && slab.chunks == NULL); /* with the last thing the memory goes */
}

/* Few keys, so that most have several numbers; numbers[n] is the key under which n is entered. */
static void test_an_index_finds_all_numbers_of_a_key(void) {
    static uint32_t numbers[THINGS + 1];
    qsm_index index = {0};
    qsm_prng prng = drawn_from(2);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t n = 1 + (uint32_t)qsm_prng_below(&prng, THINGS);
        uint32_t key = 1 + (uint32_t)qsm_prng_below(&prng, THINGS / 4);
        if (numbers[n] == 0) {
            assert(qsm_index_add(&index, key, n));
            numbers[n] = key;
        } else if (step % 3 == 0) {
            qsm_index_remove_number(&index, n);
            numbers[n] = 0;
        } else {
            assert(!qsm_index_remove(&index, numbers[n] + THINGS, n));
            assert(qsm_index_remove(&index, numbers[n], n));
            numbers[n] = 0;
        }
        if (step % 500 != 0) continue;
        for (uint32_t k = 1; k <= THINGS / 4; k++) {
            uint32_t cursor = UINT32_MAX, found, expected = 0, seen = 0;
            while ((found = qsm_index_find(&index, k, &cursor)) != 0) {
                assert(numbers[found] == k);
                seen++;
            }
            for (uint32_t i = 1; i <= THINGS; i++)
                expected += numbers[i] == k;
            assert(seen == expected && (qsm_index_get(&index, k) != 0) == (expected > 0));
        }
    }
    for (uint32_t n = 1; n <= THINGS; n++)
        if (numbers[n] != 0) assert(qsm_index_remove(&index, numbers[n], n));
    assert(index.count == 0 && index.places == NULL);
}

int main(void) {
    test_things_stay_where_they_are_and_come_back_empty();
    test_an_index_finds_all_numbers_of_a_key();
    return 0;
}
