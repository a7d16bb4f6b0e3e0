#include "hostile.h"

#include <stdio.h>
#include <string.h>

enum { TOLD_MAX = 30 };

static uint32_t passed_count, failed_count;

bool hostile_tells(void) {
    return failed_count < TOLD_MAX;
}

void hostile_check(bool holds, const char *fact, uint64_t which) {
    if (holds) {
        passed_count++;
        return;
    }
    if (hostile_tells()) fprintf(stderr, "failed: %s (%llu)\n", fact, (unsigned long long)which);
    failed_count++;
}

uint64_t hostile_draw(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool hostile_in_full(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], "--full") == 0;
}

int hostile_end(void) {
    printf("%u passed, %u failed\n", passed_count, failed_count);
    return failed_count > 0;
}
