/*
 * hostile.h - what the tests of hostile senders share: facts that are counted, numbers from a seed.
 */
#ifndef QSM_TESTS_HOSTILE_H
#define QSM_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stdint.h>

/* Nodes of the fuzz targets' small world. */
enum { VICTIM = 1, OTHER = 2 };

/* Counts a fact, and tells of one that does not hold. */
void hostile_check(bool holds, const char *fact, uint64_t which);
/* False when so many did not hold that more words would not help. */
bool hostile_tells(void);
uint64_t hostile_draw(uint64_t *seed);
/* Whether as much is tried as the goals S1, S4 and F3 name (make hostile). */
bool hostile_in_full(int argc, char **argv);
/* Prints the counts; the exit code. */
int hostile_end(void);

#endif
