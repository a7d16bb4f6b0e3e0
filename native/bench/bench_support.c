#define _GNU_SOURCE
#include "bench_support.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

_Noreturn void bench_fail(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    _exit(1);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_rss_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*s %llu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t bench_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void *bench_shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) bench_fail("shared memory");
    return memory;
}

static uint64_t read_number(const bench_option *option, const char *text) {
    char *end = NULL;
    errno = 0;
    unsigned long long value = text != NULL ? strtoull(text, &end, 10) : 0;
    if (text == NULL || *text == '\0' || *text == '-' || *end != '\0' || errno != 0 ||
        value < option->least || value > option->most) {
        fprintf(stderr, "%s: %s needs a number from %llu to %llu, not %s\n",
                program_invocation_short_name, option->name, (unsigned long long)option->least,
                (unsigned long long)option->most, text != NULL ? text : "nothing");
        exit(2);
    }
    return value;
}

void bench_read_options(int count, char **arguments, const bench_option *options,
                        uint32_t option_count) {
    for (int index = 1; index < count; index++) {
        const bench_option *found = NULL;
        for (uint32_t i = 0; i < option_count; i++)
            if (strcmp(options[i].name, arguments[index]) == 0) found = &options[i];
        if (found == NULL) {
            fprintf(stderr, "%s: there is no option %s; there are", program_invocation_short_name,
                    arguments[index]);
            for (uint32_t i = 0; i < option_count; i++)
                fprintf(stderr, " %s", options[i].name);
            fprintf(stderr, "\n");
            exit(2);
        }
        if (found->flag)
            *found->value = 1;
        else
            *found->value = read_number(found, index + 1 < count ? arguments[++index] : NULL);
    }
}

static int compare(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

uint32_t bench_quantile(uint32_t *sample, uint32_t count, uint32_t per_mille) {
    if (count == 0) return 0;
    qsort(sample, count, sizeof *sample, compare);
    uint64_t index = (uint64_t)count * per_mille / 1000;
    return sample[index < count ? index : count - 1];
}
