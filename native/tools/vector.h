/*
 * vector.h - growing arrays for the tools: any struct with `items`, `count` and `capacity`.
 *
 * The tools run where memory is there or nothing can be tested: when it is not, they end.
 */
#ifndef QSM_TOOLS_VECTOR_H
#define QSM_TOOLS_VECTOR_H

#include <stdio.h>
#include <stdlib.h>

static inline void *vector_grown(void *items, size_t *capacity, size_t item_bytes) {
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = realloc(items, *capacity * item_bytes);
    if (grown == NULL) {
        fputs("no memory for the test itself\n", stderr);
        abort();
    }
    return grown;
}

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

#define VECTOR_PUSH(vector, value)                                                                 \
    do {                                                                                           \
        if ((vector)->count == (vector)->capacity) {                                               \
            (vector)->items =                                                                      \
                vector_grown((vector)->items, &(vector)->capacity, sizeof *(vector)->items);       \
        }                                                                                          \
        (vector)->items[(vector)->count++] = (value);                                              \
    } while (0)

#define VECTOR_FREE(vector) free((vector)->items)

#endif
