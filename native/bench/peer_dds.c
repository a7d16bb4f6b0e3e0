/*
 * peer_dds.c - what CycloneDDS carries in C beside the engine: one writer and some readers, each a
 * process of its own, reliable, all samples kept until they are acknowledged, writes batched, over
 * UDP multicast on loopback, nothing encrypted.
 *
 *     peer_dds LIBRARY [--receivers 2] [--bytes 1000] [--milliseconds 2000]
 *
 * The library (libddsc, e.g. of the Python package cyclonedds) is loaded when the program runs, by
 * the few declarations of its public interface that stand here: nothing depends on it. Every reader
 * checks the number of every message. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_support.h"

enum { RECEIVERS_MAX = 16, TAKEN_MAX = 256, MATCH_MS_MAX = 20000, BYTES_MAX = 60000 };

/* ---- the other's interface ---- */

enum { RELIABLE = 1, KEEP_ALL = 1, ANY_STATE = 0 };
#define SECOND_NS INT64_C(1000000000)

/* How a type is laid out: numbers of operations, as its own compiler would write them. */
enum { OP_FIELD = 0x01 << 24, OP_END = 0, FIELD_8_BYTES = 0x04 << 16, FIELD_ARRAY = 0x08 << 16 };
enum { ELEMENT_1_BYTE = 0x01 << 8 };

typedef struct serialized {
    unsigned char *data;
    uint32_t bytes;
} serialized;

typedef struct topic_descriptor {
    uint32_t bytes, alignment, flags, key_count;
    const char *type_name;
    const void *keys;
    uint32_t operation_count;
    const uint32_t *operations;
    const char *meta;
    serialized information, mapping;
    uint32_t representations;
    uint32_t reserved[7];
} topic_descriptor;

typedef struct sample_info {
    uint32_t states[3];
    bool valid;
    int64_t source_timestamp;
    uint64_t instance, publication;
    uint32_t ranks[5];
} sample_info;

#define DDS_FUNCTIONS(X)                                                                           \
    X(int32_t, dds_create_participant, (uint32_t, const void *, const void *))                     \
    X(int32_t, dds_create_topic,                                                                   \
      (int32_t, const topic_descriptor *, const char *, const void *, const void *))               \
    X(int32_t, dds_create_writer, (int32_t, int32_t, const void *, const void *))                  \
    X(int32_t, dds_create_reader, (int32_t, int32_t, const void *, const void *))                  \
    X(void *, dds_create_qos, (void))                                                              \
    X(void *, dds_create_listener, (void *))                                                       \
    X(void, dds_lset_data_available, (void *, void (*)(int32_t, void *)))                          \
    X(void, dds_qset_reliability, (void *, int, int64_t))                                          \
    X(void, dds_qset_history, (void *, int, int32_t))                                              \
    X(void, dds_qset_writer_batching, (void *, bool))                                              \
    X(int32_t, dds_get_matched_subscriptions, (int32_t, uint64_t *, size_t))                       \
    X(int32_t, dds_write, (int32_t, const void *))                                                 \
    X(void, dds_write_flush, (int32_t))                                                            \
    X(int32_t, dds_take, (int32_t, void **, sample_info *, size_t, uint32_t))                      \
    X(int32_t, dds_return_loan, (int32_t, void **, int32_t))

static struct {
#define DECLARE(result, name, arguments) result(*name) arguments;
    DDS_FUNCTIONS(DECLARE)
#undef DECLARE
} dds;

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "peer_dds: %s\n", dlerror());
        exit(1);
    }
#define LOAD(result, name, arguments)                                                              \
    *(void **)(&dds.name) = dlsym(library, #name);                                                 \
    if (dds.name == NULL) bench_fail("the library lacks " #name);
    DDS_FUNCTIONS(LOAD)
#undef LOAD
}

/* ---- both sides ---- */

typedef struct options {
    uint64_t receivers, bytes, milliseconds;
} options;

typedef struct common {
    atomic_bool measures, ended;
    atomic_uint told; /* readers that have told what they used */
    uint64_t before;  /* received at the begin of the measured time */
    struct {
        _Alignas(64) atomic_ullong received;
        uint64_t expected, wrong_order, cpu_ns;
    } readers[RECEIVERS_MAX];
} common;

typedef struct side {
    const options *chosen;
    common *shared;
    uint32_t index;
    int32_t participant, topic;
    void *qos;
} side;

static void open_side(side *self, const options *chosen, common *shared, uint32_t index) {
    /* A number, then bytes. */
    uint32_t operations[] = {OP_FIELD | FIELD_8_BYTES,
                             0,
                             OP_FIELD | FIELD_ARRAY | ELEMENT_1_BYTE,
                             sizeof(uint64_t),
                             (uint32_t)chosen->bytes - (uint32_t)sizeof(uint64_t),
                             OP_END};
    topic_descriptor type = {.bytes = (uint32_t)chosen->bytes,
                             .alignment = sizeof(uint64_t),
                             .type_name = "bench",
                             .operation_count = 3,
                             .operations = operations,
                             .meta = ""};
    *self = (side){.chosen = chosen, .shared = shared, .index = index};
    self->qos = dds.dds_create_qos();
    dds.dds_qset_reliability(self->qos, RELIABLE, 10 * SECOND_NS);
    dds.dds_qset_history(self->qos, KEEP_ALL, 0);
    dds.dds_qset_writer_batching(self->qos, true);
    self->participant = dds.dds_create_participant((uint32_t)(20 + getppid() % 80), NULL, NULL);
    if (self->participant < 0) bench_fail("a participant");
    self->topic = dds.dds_create_topic(self->participant, &type, "bench", self->qos, NULL);
    if (self->topic < 0) bench_fail("a topic");
}

/* ---- readers ---- */

static void take(int32_t reader, void *context) {
    side *self = context;
    void *samples[TAKEN_MAX] = {NULL};
    sample_info infos[TAKEN_MAX];
    int32_t count = dds.dds_take(reader, samples, infos, TAKEN_MAX, TAKEN_MAX);
    uint64_t taken = 0;
    for (int32_t index = 0; index < count; index++) {
        uint64_t number;
        if (!infos[index].valid) continue;
        memcpy(&number, samples[index], sizeof number);
        if (number != self->shared->readers[self->index].expected)
            self->shared->readers[self->index].wrong_order++;
        self->shared->readers[self->index].expected = number + 1;
        taken++;
    }
    if (count > 0) dds.dds_return_loan(reader, samples, count);
    atomic_fetch_add(&self->shared->readers[self->index].received, taken);
}

static void run_reader(const options *chosen, common *shared, uint32_t index) {
    side self;
    open_side(&self, chosen, shared, index);
    void *listener = dds.dds_create_listener(&self);
    dds.dds_lset_data_available(listener, take);
    if (dds.dds_create_reader(self.participant, self.topic, self.qos, listener) < 0)
        bench_fail("a reader");
    while (!atomic_load(&shared->measures) && !atomic_load(&shared->ended))
        usleep(1000);
    uint64_t begin_ns = bench_cpu_ns();
    while (!atomic_load(&shared->ended))
        usleep(1000);
    shared->readers[index].cpu_ns = bench_cpu_ns() - begin_ns;
    atomic_fetch_add(&shared->told, 1);
}

/* ---- the writer ---- */

static uint64_t received_least(common *shared, uint64_t receivers) {
    uint64_t least = UINT64_MAX;
    for (uint32_t index = 0; index < receivers; index++) {
        uint64_t count = atomic_load(&shared->readers[index].received);
        if (count < least) least = count;
    }
    return least;
}

static void write_until(int32_t writer, uint8_t *message, uint64_t *number, uint64_t end_ns) {
    while (bench_now_ns() < end_ns)
        for (int i = 0; i < 64; i++) {
            memcpy(message, number, sizeof *number);
            if (dds.dds_write(writer, message) < 0) bench_fail("a write");
            ++*number;
        }
}

/* The readers' time is that of the slowest, from the begin of the measured time to the end of all.
 */
static void tell(const options *chosen, common *shared, uint64_t sent, double rate,
                 double sender_ns) {
    uint64_t all = received_least(shared, chosen->receivers), wrong = 0, cpu_ns = 0;
    for (uint32_t index = 0; index < chosen->receivers; index++) {
        wrong += shared->readers[index].wrong_order;
        if (shared->readers[index].cpu_ns > cpu_ns) cpu_ns = shared->readers[index].cpu_ns;
    }
    double counted = (double)(all - shared->before);
    printf("{\"bench\": \"peer_dds\", \"receivers\": %llu, \"bytes\": %llu, \"rate\": %.0f, "
           "\"loss\": %.6f, \"wrong_order\": %llu, \"sender_us\": %.3f, \"receiver_us\": %.3f}\n",
           (unsigned long long)chosen->receivers, (unsigned long long)chosen->bytes, rate,
           (double)(sent - all) / (double)sent, (unsigned long long)wrong, sender_ns * 1e-3,
           (double)cpu_ns * 1e-3 / (counted > 0 ? counted : 1));
}

static void run_writer(const options *chosen, common *shared) {
    static _Alignas(8) uint8_t message[BYTES_MAX];
    side self;
    open_side(&self, chosen, shared, 0);
    int32_t writer = dds.dds_create_writer(self.participant, self.topic, self.qos, NULL);
    if (writer < 0) bench_fail("a writer");
    for (int waited = 0;
         dds.dds_get_matched_subscriptions(writer, NULL, 0) < (int32_t)chosen->receivers;
         waited++) {
        if (waited > MATCH_MS_MAX) bench_fail("the readers are not found");
        usleep(1000);
    }
    uint64_t number = 0, span_ns = chosen->milliseconds * 1000000u;
    write_until(writer, message, &number, bench_now_ns() + span_ns / 4);
    atomic_store(&shared->measures, true);
    uint64_t begin_ns = bench_now_ns(), cpu_ns = bench_cpu_ns();
    shared->before = received_least(shared, chosen->receivers);
    write_until(writer, message, &number, begin_ns + span_ns);
    double received = (double)(received_least(shared, chosen->receivers) - shared->before);
    double seconds = (double)(bench_now_ns() - begin_ns) * 1e-9;
    cpu_ns = bench_cpu_ns() - cpu_ns;
    dds.dds_write_flush(writer);
    for (int waited = 0; received_least(shared, chosen->receivers) < number && waited < 5000;
         waited++)
        usleep(1000);
    atomic_store(&shared->ended, true);
    for (int waited = 0; atomic_load(&shared->told) < chosen->receivers && waited < 5000; waited++)
        usleep(1000);
    tell(chosen, shared, number, received / seconds,
         (double)cpu_ns / (received > 0 ? received : 1));
}

int main(int count, char **arguments) {
    options chosen = {.receivers = 2, .bytes = 1000, .milliseconds = 2000};
    const bench_option known[] = {{"--receivers", &chosen.receivers, 1, RECEIVERS_MAX, false},
                                  {"--bytes", &chosen.bytes, 16, BYTES_MAX, false},
                                  {"--milliseconds", &chosen.milliseconds, 50, 60000, false}};
    if (count < 2) {
        fprintf(stderr, "peer_dds: name the library libddsc first\n");
        return 2;
    }
    bench_read_options(count - 1, arguments + 1, known, sizeof known / sizeof *known);
    setenv("CYCLONEDDS_URI",
           "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"true\"/></Interfaces>"
           "<AllowMulticast>true</AllowMulticast></General>",
           0);
    common *shared = bench_shared(sizeof *shared);
    /* The library starts threads, so each process loads it for itself. */
    for (uint32_t index = 0; index <= chosen.receivers; index++) {
        pid_t child = fork();
        if (child < 0) bench_fail("fork");
        if (child > 0) continue;
        prctl(PR_SET_PDEATHSIG, 9);
        load(arguments[1]);
        if (index < chosen.receivers)
            run_reader(&chosen, shared, index);
        else
            run_writer(&chosen, shared);
        fflush(stdout);
        _exit(0);
    }
    int failures = 0, status = 0;
    while (wait(&status) > 0)
        if (status != 0) {
            failures++;
            atomic_store(&shared->ended, true);
        }
    return failures > 0;
}
