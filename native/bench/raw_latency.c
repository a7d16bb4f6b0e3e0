/*
 * raw_latency.c - how long a datagram takes from one process to others on this machine, with plain
 * sendto and recvfrom on loopback multicast and nothing else. The engine's latency is read beside
 * it.
 *
 *     raw_latency [--receivers 2] [--bytes 1000] [--rate 2000] [--milliseconds 2000]
 *
 * Prints one line of JSON: the median and the 99th percentile at the slowest receiver.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_support.h"

enum { RECEIVERS_MAX = 16, SAMPLES_MAX = 1 << 17, QUIET_MS = 200 };

typedef struct sample {
    uint32_t count;
    uint32_t ns[SAMPLES_MAX];
} sample;

typedef struct common {
    atomic_uint ready;
    atomic_bool done;
    uint16_t port;
    sample samples[RECEIVERS_MAX];
} common;

static struct sockaddr_in group_name(uint16_t port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "239.192.47.62", &name.sin_addr);
    return name;
}

static void receive(common *shared, sample *own) {
    int handle = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
    struct sockaddr_in name = group_name(shared->port);
    struct ip_mreqn request = {.imr_multiaddr = name.sin_addr,
                               .imr_ifindex = (int)if_nametoindex("lo")};
    name.sin_addr.s_addr = INADDR_ANY;
    if (handle < 0 || setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(handle, (struct sockaddr *)&name, sizeof name) != 0 ||
        setsockopt(handle, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) != 0)
        bench_fail("receiver");
    struct pollfd asked = {.fd = handle, .events = POLLIN};
    atomic_fetch_add(&shared->ready, 1);
    for (;;) {
        uint8_t data[1500];
        uint64_t made_ns;
        if (poll(&asked, 1, QUIET_MS) == 0) {
            if (atomic_load(&shared->done)) break;
            continue;
        }
        if (recvfrom(handle, data, sizeof data, 0, NULL, NULL) < (ssize_t)sizeof made_ns) continue;
        memcpy(&made_ns, data, sizeof made_ns);
        if (own->count < SAMPLES_MAX) own->ns[own->count++] = (uint32_t)(bench_now_ns() - made_ns);
    }
    close(handle);
}

static uint64_t send_all(const common *shared, uint64_t bytes, uint64_t rate, uint64_t span_ns) {
    int handle = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in name = group_name(shared->port);
    struct ip_mreqn request = {.imr_ifindex = (int)if_nametoindex("lo")};
    if (handle < 0 ||
        setsockopt(handle, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) != 0)
        bench_fail("sender");
    uint8_t data[1500] = {0};
    uint64_t begin_ns = bench_now_ns(), sent = 0;
    while (bench_now_ns() < begin_ns + span_ns) {
        uint64_t due_ns = begin_ns + (uint64_t)((double)sent * 1e9 / (double)rate);
        struct timespec until = {.tv_sec = (time_t)(due_ns / 1000000000u),
                                 .tv_nsec = (long)(due_ns % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        uint64_t made_ns = bench_now_ns();
        memcpy(data, &made_ns, sizeof made_ns);
        if (sendto(handle, data, bytes, 0, (struct sockaddr *)&name, sizeof name) < 0)
            bench_fail("send");
        sent++;
    }
    close(handle);
    return sent;
}

int main(int count, char **arguments) {
    uint64_t receivers = 2, bytes = 1000, rate = 2000, milliseconds = 2000;
    const bench_option known[] = {{"--receivers", &receivers, 1, RECEIVERS_MAX, false},
                                  {"--bytes", &bytes, 8, 1472, false},
                                  {"--rate", &rate, 1, 1000000, false},
                                  {"--milliseconds", &milliseconds, 50, 60000, false}};
    bench_read_options(count, arguments, known, sizeof known / sizeof *known);
    common *shared = bench_shared(sizeof *shared);
    shared->port = (uint16_t)(20000 + getpid() % 20000);
    prctl(PR_SET_TIMERSLACK, 1000);
    for (uint32_t index = 0; index < receivers; index++) {
        pid_t child = fork();
        if (child < 0) bench_fail("fork");
        if (child > 0) continue;
        prctl(PR_SET_PDEATHSIG, 9);
        receive(shared, &shared->samples[index]);
        _exit(0);
    }
    for (uint32_t tries = 0; atomic_load(&shared->ready) < receivers && tries < 5000; tries++)
        usleep(1000);
    uint64_t sent = send_all(shared, bytes, rate, milliseconds * 1000000u);
    atomic_store(&shared->done, true);
    uint32_t p50_ns = 0, p99_ns = 0;
    bool complete = true;
    for (uint32_t index = 0; index < receivers; index++) {
        int status = 0;
        wait(&status);
        complete = complete && status == 0;
    }
    for (uint32_t index = 0; index < receivers; index++) {
        sample *one = &shared->samples[index];
        uint32_t p50 = bench_quantile(one->ns, one->count, 500);
        uint32_t p99 = bench_quantile(one->ns, one->count, 990);
        if (p50 > p50_ns) p50_ns = p50;
        if (p99 > p99_ns) p99_ns = p99;
    }
    if (!complete) return 1;
    printf("{\"bench\": \"raw_latency\", \"receivers\": %llu, \"bytes\": %llu, \"sent\": %llu, "
           "\"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           (unsigned long long)receivers, (unsigned long long)bytes, (unsigned long long)sent,
           p50_ns * 1e-3, p99_ns * 1e-3);
    return 0;
}
