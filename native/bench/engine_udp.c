/*
 * engine_udp.c - what the engine carries over real sockets: one sender and some receivers, each a
 * process of its own, on loopback, through the interface of qsm.h.
 *
 *     engine_udp [--receivers 2] [--groups 1] [--bytes 1000] [--milliseconds 2000] ...
 *
 * Prints one line of JSON. The sender pulls as fast as it is let, or, with --rate, so many messages
 * a second, each stamped with the time at which it was made. All receivers are in all groups.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_member.h"
#include "bench_report.h"
#include "bench_support.h"

#define DRAIN_NS 20000000000u
#define NS_PER_MS 1000000u
/* A receiver that nothing happens to sleeps until the sender says that the time is over. */
#define SILENT_WAIT_NS (10000ull * NS_PER_MS)

/* Opens, joins and greets, together with the others. The host comes first. */
static void prepare(member *self, const options *chosen, common *shared, uint32_t index) {
    self->chosen = chosen;
    self->index = index;
    bool hosts = member_hosts(self);
    while (!hosts && !atomic_load(&shared->hosted))
        usleep(1000);
    member_open(self, chosen, shared, index);
    if (hosts) member_host(self);
    member_enter(self, PHASE_JOIN);
    member_join_all(self);
    member_enter(self, PHASE_GREET);
    if (!chosen->silent) member_greet(self);
    member_enter(self, PHASE_SEND);
}

/* ---- the receivers ---- */

/* Reads and throws away: what a receiver does whose network drops everything. */
static void be_deaf(member *self, uint64_t ns) {
    int64_t descriptors[64];
    uint8_t nothing[65536];
    int count = qsm_udp_descriptors(self->udp, descriptors, 64, NULL);
    for (uint64_t end_ns = bench_now_ns() + ns; bench_now_ns() < end_ns; usleep(100))
        for (int index = 0; index < count && index < 64; index++)
            while (recv((int)descriptors[index], nothing, sizeof nothing, MSG_DONTWAIT) >= 0) {}
}

/* What a receiver has to make up for, after trouble. */
typedef struct arrears {
    uint64_t target; /* deliveries that others had when the trouble was over; 0: none */
    uint64_t since_ns;
} arrears;

static void fall_behind(const member *self, arrears *behind) {
    const options *chosen = self->chosen;
    *behind = (arrears){.since_ns = bench_now_ns()};
    for (uint32_t index = 1; index < chosen->receivers; index++) {
        uint64_t had = atomic_load(&self->shared->members[index].delivered);
        if (had > behind->target) behind->target = had;
    }
}

static void catch_up(member *self, arrears *behind) {
    if (behind->target == 0 || atomic_load(&self->own->delivered) < behind->target) return;
    uint64_t took_ns = bench_now_ns() - behind->since_ns;
    if (took_ns > self->own->recovered_ns) self->own->recovered_ns = took_ns;
    behind->target = 0;
}

/* As when the power goes: the others hear nothing of it. */
static _Noreturn void crash(member *self) {
    member_tell_counters(self, 1);
    atomic_store(&self->own->gone, true);
    for (;;)
        raise(SIGKILL);
}

static void receive(member *self) {
    const options *chosen = self->chosen;
    arrears behind = {0};
    uint64_t crash_ns = UINT64_MAX;
    bool troubled = self->index == 0 && chosen->sleep_every_ms != 0;
    bool once = chosen->once != 0;
    uint64_t trouble_ns = bench_now_ns() + chosen->sleep_every_ms * NS_PER_MS;
    uint64_t cpu_ns = 0;
    unsigned seen = PHASE_SEND, now;
    while ((now = atomic_load(&self->shared->phase)) < PHASE_END) {
        if (now != seen) {
            if (now == PHASE_MEASURE) cpu_ns = bench_cpu_ns();
            if (now == PHASE_MEASURE && self->index == 0 && chosen->crash_ms != 0)
                crash_ns = bench_now_ns() + chosen->crash_ms * NS_PER_MS;
            if (now == PHASE_DRAIN) member_note_stall(self);
            if (now == PHASE_DRAIN) self->own->cpu_ns = bench_cpu_ns() - cpu_ns;
            if (now <= PHASE_DRAIN) member_tell_counters(self, now == PHASE_DRAIN);
            seen = now;
            atomic_store(&self->own->reached, now);
        }
        if (now < PHASE_DRAIN && bench_now_ns() >= crash_ns) crash(self);
        if (troubled && now < PHASE_DRAIN && bench_now_ns() >= trouble_ns) {
            if (chosen->sleep_ms != 0) usleep((useconds_t)(chosen->sleep_ms * 1000));
            if (chosen->deaf_ms != 0) be_deaf(self, chosen->deaf_ms * NS_PER_MS);
            trouble_ns += chosen->sleep_every_ms * NS_PER_MS;
            troubled = !once;
            fall_behind(self, &behind);
        }
        member_step(self, chosen->silent ? SILENT_WAIT_NS : 10 * NS_PER_MS);
        catch_up(self, &behind);
    }
}

static void run_receiver(const options *chosen, common *shared, uint32_t index) {
    static member self;
    shared->members[index].process = getpid();
    prepare(&self, chosen, shared, index);
    receive(&self);
    member_close(&self);
}

/* ---- the sender ---- */

/* Sends until the time; with a rate, offers what is due in turn to all groups. */
static void send_until(member *self, uint64_t end_ns, uint64_t begin_ns, bench_looks *looks) {
    uint64_t rate = self->chosen->rate, look_ns = 0, now_ns;
    while ((now_ns = bench_now_ns()) < end_ns) {
        uint64_t wait_ns = self->chosen->silent ? end_ns - now_ns : 10 * NS_PER_MS;
        if (rate != 0) {
            uint64_t due = (uint64_t)((double)(now_ns - begin_ns) * (double)rate * 1e-9) + 1;
            for (; self->due < due; self->due++)
                member_offer(self, (uint32_t)(self->due % self->chosen->groups));
            wait_ns = begin_ns + (uint64_t)((double)due * 1e9 / (double)rate) - now_ns;
        }
        member_step(self, wait_ns);
        if (now_ns < look_ns) continue;
        bench_look(self->engine, looks);
        look_ns = now_ns + BENCH_LOOK_NS;
    }
}

/* Tells the receivers, also those that wait. */
static void go_on(common *shared, const options *chosen, enum phase phase) {
    atomic_store(&shared->phase, phase);
    for (uint32_t index = 0; index < chosen->receivers; index++)
        if (!atomic_load(&shared->members[index].gone))
            kill(shared->members[index].process, SIGUSR1);
}

static void run_sender(const options *chosen, common *shared, outcome *result) {
    static member self;
    uint32_t receivers = (uint32_t)chosen->receivers;
    prepare(&self, chosen, shared, receivers);
    if (chosen->rate == 0 && !chosen->silent)
        for (uint32_t index = 0; index < chosen->groups; index++)
            member_offer(&self, index);
    uint64_t begin_ns = bench_now_ns();
    uint64_t measure_ns = begin_ns + chosen->settle_ms * NS_PER_MS;
    bench_looks before_measure = {0};
    send_until(&self, measure_ns, begin_ns, &before_measure);
    go_on(shared, chosen, PHASE_MEASURE);
    uint64_t before = members_delivered(shared, receivers), cpu_ns = bench_cpu_ns();
    uint64_t from_ns = bench_now_ns();
    member_tell_counters(&self, 0);
    send_until(&self, measure_ns + chosen->seconds_ms * NS_PER_MS, begin_ns, &result->looks);
    result->delivered = members_delivered(shared, receivers) - before;
    result->seconds = (double)(bench_now_ns() - from_ns) * 1e-9;
    result->sender_cpu_s = (double)(bench_cpu_ns() - cpu_ns) * 1e-9;
    member_tell_counters(&self, 1);
    atomic_store(&self.own->reached, PHASE_DRAIN);
    go_on(shared, chosen, PHASE_DRAIN);
    uint64_t end_ns = bench_now_ns() + DRAIN_NS;
    while ((member_unacknowledged(&self) > 0 || members_delivered(shared, receivers) < self.sent ||
            !all_reached(&self, PHASE_DRAIN)) &&
           bench_now_ns() < end_ns)
        member_step(&self, NS_PER_MS);
    result->sent = self.sent;
    result->delivered_all = members_delivered(shared, receivers);
    member_close(&self);
    go_on(shared, chosen, PHASE_END);
}

static options read_options(int count, char **arguments) {
    options chosen = {
        .bytes = 1000, .receivers = 2, .groups = 1, .seconds_ms = 2000, .settle_ms = 500};
    const bench_option known[] = {
        {"--bytes", &chosen.bytes, MESSAGE_HEAD_BYTES, QSM_MESSAGE_BYTES_MAX, false},
        {"--receivers", &chosen.receivers, 1, RECEIVERS_MAX, false},
        {"--groups", &chosen.groups, 1, GROUPS_MAX, false},
        {"--milliseconds", &chosen.seconds_ms, 50, 100000, false},
        {"--settle", &chosen.settle_ms, 0, 20000, false},
        {"--rate", &chosen.rate, 0, 10000000, false},
        {"--take-rate", &chosen.take_rate, 0, 10000000, false},
        {"--sleep", &chosen.sleep_ms, 0, 60000, false},
        {"--deaf", &chosen.deaf_ms, 0, 60000, false},
        {"--every", &chosen.sleep_every_ms, 0, 60000, false},
        {"--crash", &chosen.crash_ms, 0, 100000, false},
        {"--cache-everywhere", &chosen.cache_everywhere, 0, 1, true},
        {"--once", &chosen.once, 0, 1, true},
        {"--silent", &chosen.silent, 0, 1, true},
        {"--window", &chosen.window_bytes, 0, 1u << 30, false},
        {"--packet", &chosen.packet_bytes, 0, QSM_DATA_BYTES_MAX, false},
        {"--no-offload", &chosen.no_offload, 0, 1, true},
        {"--host-apart", &chosen.host_apart, 0, 1, true},
        {"--alarms", &chosen.alarms, 0, 1, true},
        {"--bins", &chosen.bins, 0, 1, true}};
    bench_read_options(count, arguments, known, sizeof known / sizeof *known);
    return chosen;
}

int main(int count, char **arguments) {
    options chosen = read_options(count, arguments);
    common *shared = bench_shared(sizeof *shared);
    if (getrandom(shared->scope, sizeof shared->scope, 0) != sizeof shared->scope)
        bench_fail("random numbers");
    shared->port = (uint16_t)(20000 + shared->scope[0] * 100u + shared->scope[1] % 100u);
    shared->base_ns = bench_now_ns();
    prctl(PR_SET_TIMERSLACK, 1000);
    member_await_signals();
    pid_t children[RECEIVERS_MAX];
    for (uint32_t index = 0; index < chosen.receivers; index++) {
        children[index] = fork();
        if (children[index] < 0) bench_fail("fork");
        if (children[index] == 0) {
            prctl(PR_SET_PDEATHSIG, 9);
            run_receiver(&chosen, shared, index);
            _exit(0);
        }
    }
    outcome result = {0};
    run_sender(&chosen, shared, &result);
    bool complete = true;
    for (uint32_t index = 0; index < chosen.receivers; index++) {
        int status = 0;
        waitpid(children[index], &status, 0);
        complete = complete && (status == 0 || atomic_load(&shared->members[index].gone));
    }
    if (!complete) {
        fprintf(stderr, "engine_udp: a receiver failed\n");
        return 1;
    }
    bench_report(shared, &chosen, &result);
    return 0;
}
