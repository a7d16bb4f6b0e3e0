/*
 * raw_udp.c - what this machine's UDP multicast can do at most: one sender, some receiving
 * processes, nothing but sendmmsg and recvmmsg, on loopback. The engine's own figures are read
 * beside these.
 *
 *     raw_udp [--bytes 1000] [--receivers 2] [--milliseconds 2000] [--messages 10000000] [--json]
 *
 * Four ways: one datagram in each slot of a call, or segmentation and receive offload; and either
 * as fast as the sender can, where what the receivers miss is lost, or never more than a window
 * ahead of the slowest receiver, which is what a protocol that loses nothing could reach. Each is
 * bounded by time and by number of messages. With --json one line for each way instead of a table,
 * with --window-only just the ways that lose nothing.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_support.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define RECEIVERS_MAX 64
#define SLOTS 64
#define RUN_BYTES_MAX 65000
#define RUN_CAPACITY 65536
#define BUFFER_BYTES (4 << 20)
#define QUIET_MS 200

typedef struct options {
    uint64_t bytes, receivers, milliseconds, messages, json, window_only;
} options;

typedef struct way {
    const char *name;
    bool offload, window;
} way;

/* What the processes tell each other; each receiver writes to a cache line of its own. */
typedef struct shared {
    atomic_uint ready;
    atomic_bool done;
    struct {
        _Alignas(64) atomic_ullong messages;
    } receivers[RECEIVERS_MAX];
} shared;

typedef struct outcome {
    uint64_t sent;
    double seconds;
    uint64_t received_least, received_sum;
} outcome;

static double now_s(void) {
    return (double)bench_now_ns() * 1e-9;
}

static bool set_int(int handle, int level, int option, int value) {
    return setsockopt(handle, level, option, &value, sizeof value) == 0;
}

static bool has_offload(void) {
    int handle = socket(AF_INET, SOCK_DGRAM, 0);
    if (handle < 0) bench_fail("socket");
    bool has =
        set_int(handle, IPPROTO_UDP, UDP_GRO, 1) && set_int(handle, IPPROTO_UDP, UDP_SEGMENT, 0);
    close(handle);
    return has;
}

static struct sockaddr_in group_name(void) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(47612)};
    inet_pton(AF_INET, "239.192.47.61", &name.sin_addr);
    return name;
}

/* ---- receivers ---- */

static int open_receiver(const way *how) {
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (handle < 0) bench_fail("socket");
    struct sockaddr_in name = group_name();
    struct ip_mreqn request = {.imr_multiaddr = name.sin_addr,
                               .imr_ifindex = (int)if_nametoindex("lo")};
    name.sin_addr.s_addr = INADDR_ANY;
    if (!set_int(handle, SOL_SOCKET, SO_REUSEADDR, 1) ||
        bind(handle, (struct sockaddr *)&name, sizeof name) != 0)
        bench_fail("bind");
    if (setsockopt(handle, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) != 0)
        bench_fail("join");
    if (!set_int(handle, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES))
        set_int(handle, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
    if (how->offload && !set_int(handle, IPPROTO_UDP, UDP_GRO, 1)) bench_fail("receive offload");
    return handle;
}

/* A run is told by its length: all messages are of one size. */
static uint64_t receive_batch(int handle, uint8_t *memory, uint32_t slots, uint32_t capacity,
                              uint32_t message_bytes) {
    struct mmsghdr messages[SLOTS];
    struct iovec pieces[SLOTS];
    for (uint32_t index = 0; index < slots; index++) {
        pieces[index] = (struct iovec){memory + (size_t)index * capacity, capacity};
        messages[index].msg_hdr = (struct msghdr){.msg_iov = &pieces[index], .msg_iovlen = 1};
    }
    int read = recvmmsg(handle, messages, slots, MSG_DONTWAIT, NULL);
    uint64_t count = 0;
    for (int index = 0; index < read; index++)
        count += messages[index].msg_len / message_bytes;
    return count;
}

static void run_receiver(shared *common, uint32_t number, const way *how, const options *chosen) {
    uint32_t capacity = how->offload ? RUN_CAPACITY : 2048, slots = how->offload ? 8 : SLOTS;
    if (capacity < chosen->bytes) capacity = chosen->bytes;
    uint8_t *memory = malloc((size_t)slots * capacity);
    if (memory == NULL) bench_fail("memory");
    int handle = open_receiver(how);
    struct pollfd asked = {.fd = handle, .events = POLLIN};
    atomic_fetch_add(&common->ready, 1);
    for (;;) {
        uint64_t count = receive_batch(handle, memory, slots, capacity, chosen->bytes);
        if (count > 0) {
            atomic_fetch_add_explicit(&common->receivers[number].messages, count,
                                      memory_order_release);
        } else if (poll(&asked, 1, QUIET_MS) == 0 && atomic_load(&common->done)) {
            break;
        }
    }
    free(memory);
    close(handle);
}

/* ---- the sender ---- */

static int open_sender(void) {
    int handle = socket(AF_INET, SOCK_DGRAM, 0);
    if (handle < 0) bench_fail("socket");
    struct sockaddr_in name = group_name();
    struct ip_mreqn request = {.imr_ifindex = (int)if_nametoindex("lo")};
    inet_pton(AF_INET, "127.0.0.1", &request.imr_address);
    if (setsockopt(handle, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) != 0)
        bench_fail("multicast interface");
    set_int(handle, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
    set_int(handle, IPPROTO_IP, IP_MULTICAST_TTL, 1);
    if (connect(handle, (struct sockaddr *)&name, sizeof name) != 0) bench_fail("connect");
    return handle;
}

static uint64_t received_least(shared *common, uint32_t receivers) {
    uint64_t least = UINT64_MAX;
    for (uint32_t index = 0; index < receivers; index++) {
        uint64_t count =
            atomic_load_explicit(&common->receivers[index].messages, memory_order_acquire);
        if (count < least) least = count;
    }
    return least;
}

/* Messages that fit half of a receive buffer: the kernel counts up to 2304 bytes for a datagram of
 * its own, but little more than the content for those that came together. */
static uint64_t window_messages(const way *how, const options *chosen) {
    uint64_t each = how->offload ? chosen->bytes + 100u : chosen->bytes + 1300u;
    uint64_t window = BUFFER_BYTES / each;
    return window > SLOTS ? window : SLOTS;
}

static void prepare_batch(struct mmsghdr *messages, struct iovec *pieces, uint8_t *control,
                          size_t control_bytes, uint8_t *data, const way *how,
                          const options *chosen, uint32_t run) {
    for (uint32_t index = 0; index < SLOTS; index++)
        pieces[index] = (struct iovec){data, chosen->bytes};
    for (uint32_t index = 0; index < SLOTS; index++) {
        struct msghdr *header = &messages[index].msg_hdr;
        *header = (struct msghdr){.msg_iov = pieces, .msg_iovlen = run};
        if (!how->offload) continue;
        header->msg_control = control;
        header->msg_controllen = control_bytes;
        struct cmsghdr *part = CMSG_FIRSTHDR(header);
        uint16_t segment_bytes = (uint16_t)chosen->bytes;
        part->cmsg_level = IPPROTO_UDP;
        part->cmsg_type = UDP_SEGMENT;
        part->cmsg_len = CMSG_LEN(sizeof segment_bytes);
        memcpy(CMSG_DATA(part), &segment_bytes, sizeof segment_bytes);
    }
}

static void run_sender(shared *common, const way *how, const options *chosen, outcome *result) {
    struct mmsghdr messages[SLOTS];
    struct iovec pieces[SLOTS];
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(uint16_t))] = {0};
    uint8_t *data = calloc(1, chosen->bytes);
    if (data == NULL) bench_fail("memory");
    uint32_t run = how->offload ? RUN_BYTES_MAX / chosen->bytes : 1;
    if (run > SLOTS) run = SLOTS;
    uint32_t slots = how->offload ? 4 : SLOTS;
    uint64_t window = window_messages(how, chosen);
    int handle = open_sender();
    prepare_batch(messages, pieces, control, sizeof control, data, how, chosen, run);
    double begin = now_s(), end = begin + (double)chosen->milliseconds * 1e-3;
    while (result->sent < chosen->messages && now_s() < end) {
        if (how->window && result->sent + (uint64_t)run * slots >
                               received_least(common, chosen->receivers) + window) {
            sched_yield();
            continue;
        }
        int sent = sendmmsg(handle, messages, slots, 0);
        if (sent < 0 && errno != EINTR && errno != ENOBUFS) bench_fail("send");
        if (sent > 0) result->sent += (uint64_t)sent * run;
    }
    /* In the window mode the last arrivals belong to the time that was measured. */
    while (how->window && received_least(common, chosen->receivers) < result->sent &&
           now_s() < end + 1)
        sched_yield();
    result->seconds = now_s() - begin;
    free(data);
    close(handle);
}

/* ---- one measurement ---- */

static void measure(const way *how, const options *chosen, outcome *result) {
    memset(result, 0, sizeof *result);
    shared *common = bench_shared(sizeof *common);
    pid_t children[RECEIVERS_MAX];
    for (uint32_t index = 0; index < chosen->receivers; index++) {
        children[index] = fork();
        if (children[index] < 0) bench_fail("fork");
        if (children[index] == 0) {
            run_receiver(common, index, how, chosen);
            _exit(0);
        }
    }
    double patience = now_s() + 5;
    while (atomic_load(&common->ready) < chosen->receivers && now_s() < patience)
        sched_yield();
    if (atomic_load(&common->ready) == chosen->receivers) run_sender(common, how, chosen, result);
    atomic_store(&common->done, true);
    bool complete = true;
    for (uint32_t index = 0; index < chosen->receivers; index++) {
        int status = 0;
        waitpid(children[index], &status, 0);
        complete = complete && status == 0;
        result->received_sum += atomic_load(&common->receivers[index].messages);
    }
    result->received_least = received_least(common, chosen->receivers);
    if (!complete || result->sent == 0) {
        fprintf(stderr, "raw_udp: a receiver failed\n");
        exit(1);
    }
}

static void print_outcome(const way *how, const options *chosen, const outcome *result) {
    double sent_per_s = (double)result->sent / result->seconds;
    double mean = (double)result->received_sum / chosen->receivers;
    double loss_percent = 100.0 * (1.0 - mean / (double)result->sent);
    if (chosen->json)
        printf("{\"bench\": \"raw_udp\", \"way\": \"%s\", \"bytes\": %u, \"receivers\": %u, "
               "\"sent_per_s\": %.0f, \"received_per_s\": %.0f, \"received_per_s_least\": %.0f, "
               "\"loss_percent\": %.2f, \"seconds\": %.2f}\n",
               how->name, (unsigned)chosen->bytes, (unsigned)chosen->receivers, sent_per_s,
               mean / result->seconds, (double)result->received_least / result->seconds,
               loss_percent, result->seconds);
    else
        printf("%-18s %9u %12.0f %12.0f %12.0f %8.2f %%\n", how->name, (unsigned)chosen->receivers,
               sent_per_s, mean / result->seconds, (double)result->received_least / result->seconds,
               loss_percent);
    fflush(stdout);
}

static options read_options(int count, char **arguments) {
    options chosen = {.bytes = 1000, .receivers = 2, .milliseconds = 2000, .messages = 10000000};
    const bench_option known[] = {{"--bytes", &chosen.bytes, 1, 1472, false},
                                  {"--receivers", &chosen.receivers, 1, RECEIVERS_MAX, false},
                                  {"--milliseconds", &chosen.milliseconds, 50, 60000, false},
                                  {"--messages", &chosen.messages, 1, 1000000000, false},
                                  {"--window-only", &chosen.window_only, 0, 1, true},
                                  {"--json", &chosen.json, 0, 1, true}};
    bench_read_options(count, arguments, known, sizeof known / sizeof *known);
    return chosen;
}

int main(int count, char **arguments) {
    static const way ways[] = {{"plain flood", false, false},
                               {"plain window", false, true},
                               {"offload flood", true, false},
                               {"offload window", true, true}};
    options chosen = read_options(count, arguments);
    if (!chosen.json)
        printf("messages of %u bytes, loopback, at most %u ms each\n"
               "%-18s %9s %12s %12s %12s %10s\n",
               (unsigned)chosen.bytes, (unsigned)chosen.milliseconds, "way", "receivers", "sent/s",
               "received/s", "slowest/s", "lost");
    fflush(stdout);
    bool offload = has_offload();
    if (!offload) fprintf(stderr, "raw_udp: this kernel has no offload; it is left out\n");
    for (size_t index = 0; index < sizeof ways / sizeof *ways; index++) {
        outcome result;
        if (ways[index].offload && !offload) continue;
        if (chosen.window_only && !ways[index].window) continue;
        measure(&ways[index], &chosen, &result);
        print_outcome(&ways[index], &chosen, &result);
    }
    return 0;
}
