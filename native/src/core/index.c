#include "core/index.h"

#include <assert.h>
#include <stdlib.h>

static void enter(qsm_index *index, qsm_index_place place) {
    uint32_t at = qsm_index_home(index, place.key);
    while (index->places[at].number != 0)
        at = (at + 1) & (index->capacity - 1);
    index->places[at] = place;
}

static bool grow(qsm_index *index) {
    qsm_index bigger = {.capacity = index->capacity ? index->capacity * 2 : 8,
                        .count = index->count};
    bigger.places = calloc(bigger.capacity, sizeof *bigger.places);
    if (bigger.places == NULL) return false;
    for (uint32_t i = 0; i < index->capacity; i++)
        if (index->places[i].number != 0) enter(&bigger, index->places[i]);
    free(index->places);
    *index = bigger;
    return true;
}

bool qsm_index_add(qsm_index *index, uint32_t key, uint32_t number) {
    assert(number != 0);
    if ((uint64_t)index->count * 4 >= (uint64_t)index->capacity * 3 && !grow(index)) return false;
    enter(index, (qsm_index_place){.key = key, .number = number});
    index->count++;
    return true;
}

/* Closes the hole: moves back every follower that would not be found across it. */
static void empty_place(qsm_index *index, uint32_t hole) {
    uint32_t mask = index->capacity - 1, at = hole;
    while (index->places[at = (at + 1) & mask].number != 0) {
        uint32_t home = qsm_index_home(index, index->places[at].key);
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        index->places[hole] = index->places[at];
        hole = at;
    }
    index->places[hole] = (qsm_index_place){0};
    if (--index->count == 0) qsm_index_free(index);
}

bool qsm_index_remove(qsm_index *index, uint32_t key, uint32_t number) {
    uint32_t cursor = UINT32_MAX, found;
    while ((found = qsm_index_find(index, key, &cursor)) != 0)
        if (found == number) {
            empty_place(index, cursor);
            return true;
        }
    return false;
}

void qsm_index_remove_number(qsm_index *index, uint32_t number) {
    for (uint32_t i = 0; i < index->capacity; i++)
        if (index->places[i].number == number) {
            empty_place(index, i);
            return;
        }
}

void qsm_index_free(qsm_index *index) {
    free(index->places);
    *index = (qsm_index){0};
}
