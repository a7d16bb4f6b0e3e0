/*
 * bench_support.h - what the programs of bench/ share: the clock, memory that all their processes
 * see, numbers from the command line, and the order statistics of a sample.
 */
#ifndef QSM_BENCH_SUPPORT_H
#define QSM_BENCH_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program with its name, the sentence, and what the system said (errno). */
_Noreturn void bench_fail(const char *what);

uint64_t bench_now_ns(void);
/* Processor time that this process has used, in user and kernel. */
uint64_t bench_cpu_ns(void);
/* Memory of this process in RAM, and what its allocator has given out. */
uint64_t bench_rss_bytes(void);
uint64_t bench_heap_bytes(void);
/* Zeroed memory that processes forked from here on share. */
void *bench_shared(size_t bytes);

/* An option that takes a number, or, with `flag`, none. */
typedef struct bench_option {
    const char *name;
    uint64_t *value;
    uint64_t least, most;
    bool flag;
} bench_option;

/* Sets the values of the options given; a sentence and exit code 2 for what is not one of them. */
void bench_read_options(int count, char **arguments, const bench_option *options,
                        uint32_t option_count);

/* Sorts the sample and gives the value below which `per_mille` of it lie; 0 of an empty one. */
uint32_t bench_quantile(uint32_t *sample, uint32_t count, uint32_t per_mille);

#endif
