/*
 * swarm.c - runs storms: one seed, or one after the other until the time is over or a rule is
 * broken.
 *
 *     swarm --seed N [--verbose] [--check-determinism] [--only FAULTS] [--also FAULTS]
 *     swarm --seconds S [--from N] [--check-determinism] [--keep-going] [--also FAULTS]
 *
 * A failure ends with one line that replays it. Exit code 1: a rule was broken; 2: wrong arguments.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

/* A storm that takes longer than this hangs. */
#define SEED_SECONDS_MAX 300U

typedef struct {
    uint64_t seed;
    uint64_t count; /* of seeds; 0: no bound */
    double seconds; /* 0: one seed */
    uint32_t only;  /* faults; 0: all of the seed */
    uint32_t also;  /* faults besides */
    bool verbose;
    bool check_determinism;
    bool keep_going;
    bool brief; /* a line for failures and the sum only */
} options;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void write_faults(uint32_t faults, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < STORM_FAULT_COUNT; i++) {
        if ((faults >> i & 1) == 0) continue;
        const int wrote =
            snprintf(text + used, bytes - used, "%s%s", used == 0 ? "" : ",", storm_fault_name(i));
        if (wrote < 0 || used + (size_t)wrote >= bytes) return;
        used += (size_t)wrote;
    }
    if (used == 0) snprintf(text, bytes, "none");
}

/* Names as write_faults gives them; 0 when one is unknown. "none" is a bit that no fault has. */
static uint32_t read_faults(const char *text) {
    uint32_t faults = 1U << 31;
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");
        uint32_t fault = 0;
        while (fault < STORM_FAULT_COUNT && (strlen(storm_fault_name(fault)) != length ||
                                             strncmp(storm_fault_name(fault), text, length) != 0)) {
            fault++;
        }
        if (fault < STORM_FAULT_COUNT) {
            faults |= 1U << fault;
        } else if (length != 4 || strncmp(text, "none", 4) != 0) {
            return 0;
        }
        text += length;
        if (*text == ',') text++;
    }
    return faults;
}

static void print_replay(const options *asked, uint64_t seed) {
    char faults[256] = "";
    printf("replay: swarm --seed %" PRIu64, seed);
    if (asked->only != 0) {
        write_faults(asked->only & ~(1U << 31), faults, sizeof faults);
        printf(" --only %s", faults);
    }
    if (asked->also != 0) {
        write_faults(asked->also & ~(1U << 31), faults, sizeof faults);
        printf(" --also %s", faults);
    }
    puts(" --verbose");
}

/* What is said when the engine does not come back: an assertion, a crash, a loop without end. */
static char last_words[160];

static void say_last_words(int number) {
    const ssize_t wrote = write(STDOUT_FILENO, last_words, strlen(last_words));
    (void)wrote;
    (void)signal(number, SIG_DFL);
    _exit(1);
}

static void prepare_last_words(uint64_t seed) {
    static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    fflush(stdout); /* the last words go past the buffer */
    snprintf(last_words, sizeof last_words,
             "seed %" PRIu64 ": FAILED\n  the engine stopped or did not come back\n"
             "replay: swarm --seed %" PRIu64 " --verbose\n",
             seed, seed);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        (void)signal(deadly[i], say_last_words);
    }
    (void)alarm(SEED_SECONDS_MAX);
}

/* True when the seed passed. */
static bool run_seed(const options *asked, uint64_t seed, uint64_t *virtual_ns) {
    const double start_s = now_s();
    prepare_last_words(seed);
    const storm_result result = storm_run(seed, asked->only, asked->also, asked->verbose);
    const double took_s = now_s() - start_s;
    *virtual_ns += result.virtual_ns;
    char faults[256];
    write_faults(result.faults, faults, sizeof faults);
    if (!asked->brief || result.failure != NULL) {
        printf("seed %" PRIu64 ": %s, %u nodes, %u groups, %.1f s in %.2f s (%.0f times), "
               "%" PRIu64 " deliveries, %" PRIu64 " views, %" PRIu64 " datagrams, hash %016" PRIx64
               ", faults %s\n",
               seed, result.failure == NULL ? "good" : "FAILED", result.node_count,
               result.group_count, (double)result.virtual_ns / 1e9, took_s,
               (double)result.virtual_ns / 1e9 / (took_s + 1e-9), result.deliveries, result.views,
               result.datagrams, result.hash, faults);
    }
    if (result.failure != NULL) {
        printf("  %s\n", result.failure);
        print_replay(asked, seed);
        return false;
    }
    if (!asked->check_determinism) return true;
    const storm_result again = storm_run(seed, asked->only, asked->also, false);
    if (again.hash == result.hash) return true;
    printf("  the second run of seed %" PRIu64 " had the hash %016" PRIx64 "\n", seed, again.hash);
    print_replay(asked, seed);
    return false;
}

static int run(const options *asked) {
    const double start_s = now_s();
    uint64_t virtual_ns = 0, passed = 0, failed = 0;
    for (uint64_t seed = asked->seed;; seed++) {
        if (run_seed(asked, seed, &virtual_ns)) {
            passed++;
        } else {
            failed++;
        }
        fflush(stdout);
        if (failed > 0 && !asked->keep_going) break;
        if (asked->count != 0 && passed + failed >= asked->count) break;
        if (asked->count == 0 && now_s() - start_s >= asked->seconds) break;
    }
    if (passed + failed > 1) {
        printf("%" PRIu64 " seeds, %" PRIu64 " failed, %.0f virtual seconds in %.1f\n",
               passed + failed, failed, (double)virtual_ns / 1e9, now_s() - start_s);
    }
    return failed == 0 ? 0 : 1;
}

static int usage(void) {
    fputs("swarm --seed N [--verbose] [--check-determinism] [--only FAULT,FAULT]\n"
          "swarm --seconds S [--from N] [--check-determinism] [--keep-going] [--brief]\n"
          "swarm --count C [--from N] [--check-determinism] [--keep-going] [--brief]\n"
          "  each with [--also FAULT,FAULT], besides those of the seed\n",
          stderr);
    return 2;
}

static bool read_number(const char *text, uint64_t *number) {
    char *end = NULL;
    *number = text == NULL ? 0 : strtoull(text, &end, 10);
    return text != NULL && end != text && *end == '\0';
}

int main(int argc, char **argv) {
    options asked = {.seed = 1, .count = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        uint64_t number = 0;
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--verbose") == 0) {
            asked.verbose = true;
        } else if (strcmp(name, "--check-determinism") == 0) {
            asked.check_determinism = true;
        } else if (strcmp(name, "--keep-going") == 0) {
            asked.keep_going = true;
        } else if (strcmp(name, "--brief") == 0) {
            asked.brief = true;
        } else if (strcmp(name, "--only") == 0 && next != NULL) {
            asked.only = read_faults(next);
            if (asked.only == 0) return usage();
            i++;
        } else if (strcmp(name, "--also") == 0 && next != NULL) {
            asked.also = read_faults(next);
            if (asked.also == 0) return usage();
            i++;
        } else if (read_number(next, &number)) {
            if (strcmp(name, "--seed") == 0 || strcmp(name, "--from") == 0) {
                asked.seed = number;
            } else if (strcmp(name, "--count") == 0) {
                asked.count = number;
            } else if (strcmp(name, "--seconds") == 0) {
                asked.seconds = (double)number;
                asked.count = 0;
            } else {
                return usage();
            }
            i++;
        } else {
            return usage();
        }
    }
    return run(&asked);
}
