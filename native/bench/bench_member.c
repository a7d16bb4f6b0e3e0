#define _GNU_SOURCE
#include "bench_member.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_looks.h"
#include "bench_support.h"

/* Short steps: what was read is worked on while it is in the processor's cache. */
#define STEP_NS 100000u
#define EVENTS_AT_ONCE 256
#define TAKE_PAUSE_NS 1000000u /* between looks of a receiver that takes only so much */
#define GREETINGS 32u          /* in so many parts the first messages go out */
#define PATIENCE_NS 60000000000u

void member_open(member *self, const options *chosen, common *shared, uint32_t index) {
    qsm_udp_config config;
    char error[256];
    memset(self, 0, sizeof *self);
    self->chosen = chosen;
    self->shared = shared;
    self->own = &shared->members[index];
    self->index = index;
    self->run_counter = bench_counter("alarms_run");
    self->delay_counter = bench_counter("alarm_delay_ns");
    qsm_udp_config_defaults(&config);
    memcpy(config.core.scope_id, shared->scope, sizeof config.core.scope_id);
    memcpy(config.core.scope_key, shared->scope + 16, sizeof config.core.scope_key);
    snprintf(config.interface, sizeof config.interface, "lo");
    config.multicast_port = shared->port;
    config.no_offload = chosen->no_offload != 0;
    if (chosen->window_bytes != 0) config.core.window_bytes_max = (uint32_t)chosen->window_bytes;
    config.core.cache_everywhere = chosen->cache_everywhere != 0;
    config.core.data_bytes_max = (uint32_t)chosen->packet_bytes;
    if (qsm_udp_open(&config, &self->udp, error, sizeof error) != QSM_OK) bench_fail(error);
    self->engine = qsm_udp_engine(self->udp);
    self->groups = calloc(chosen->groups, sizeof *self->groups);
    if (self->groups == NULL) bench_fail("memory");
}

void member_close(member *self) {
    qsm_udp_info info;
    qsm_udp_get_info(self->udp, &info);
    self->own->datagrams_in = info.datagrams_in;
    self->own->datagrams_out = info.datagrams_out;
    self->own->calls_in = info.calls_in;
    self->own->calls_out = info.calls_out;
    self->own->kernel_drops = info.kernel_drops;
    self->own->rss_bytes = bench_rss_bytes();
    qsm_udp_close(self->udp);
    free(self->groups);
}

/* ---- what is delivered ---- */

/* How many events may be fetched now: as many as a receiver takes in the time that has passed. */
static uint32_t allowed(member *self) {
    uint64_t rate = self->chosen->take_rate, now_ns = bench_now_ns();
    if (rate == 0 || self->index >= self->chosen->receivers) return EVENTS_AT_ONCE;
    if (self->taken_from_ns == 0) self->taken_from_ns = now_ns;
    uint64_t due = (uint64_t)((double)(now_ns - self->taken_from_ns) * (double)rate * 1e-9);
    if (due > self->taken + rate / 100) { /* what was not there to be taken is not made up for */
        self->taken = due - rate / 100;
    }
    uint64_t left = due - (self->taken < due ? self->taken : due);
    return left < EVENTS_AT_ONCE ? (uint32_t)left : EVENTS_AT_ONCE;
}

static void take(member *self, const qsm_event *event) {
    joined *group = event->user;
    report *own = self->own;
    uint64_t number, made_ns;
    memcpy(&number, event->data, sizeof number);
    memcpy(&made_ns, event->data + 8, sizeof made_ns);
    if (number != group->next) own->wrong_order++;
    group->next = number + 1;
    if (made_ns != 0 && atomic_load(&self->shared->phase) == PHASE_MEASURE &&
        own->sample_count < SAMPLES_MAX)
        own->samples_ns[own->sample_count++] = (uint32_t)(bench_now_ns() - made_ns);
}

void member_note_stall(member *self) {
    uint64_t now_ns = bench_now_ns();
    if (self->delivered_ns != 0 && now_ns - self->delivered_ns > self->own->stall_ns)
        self->own->stall_ns = now_ns - self->delivered_ns;
    self->delivered_ns = now_ns;
}

static void handle_events(member *self) {
    qsm_event events[EVENTS_AT_ONCE];
    bool receives = self->index < self->chosen->receivers;
    uint64_t taken = 0;
    for (int count = EVENTS_AT_ONCE; count == EVENTS_AT_ONCE;) {
        count = qsm_engine_events(self->engine, events, allowed(self));
        for (int index = 0; index < count; index++) {
            const qsm_event *event = &events[index];
            if (event->type == QSM_EVENT_VIEW && event->member_count == self->chosen->receivers + 1)
                self->groups_ready++;
            if (event->type != QSM_EVENT_DELIVERY || !receives) continue;
            if (event->bytes < MESSAGE_HEAD_BYTES) bench_fail("a message is too short");
            take(self, event);
            self->taken++;
            taken++;
        }
        qsm_engine_release(self->engine);
    }
    if (taken == 0) return;
    if (atomic_load(&self->shared->phase) == PHASE_MEASURE) member_note_stall(self);
    atomic_fetch_add_explicit(&self->own->delivered, taken, memory_order_release);
    uint64_t bin = (bench_now_ns() - self->shared->base_ns) / BIN_NS;
    if (bin >= BINS_MAX) return;
    self->own->bins[bin] += (uint32_t)taken;
    if (bin >= self->own->bin_count) self->own->bin_count = (uint32_t)bin + 1;
}

/* ---- the loop ---- */

static void on_signal(int number) {
    (void)number;
}

void member_await_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

/* How late the alarms of the step before were; of several in one step, in the mean. */
static void note_alarms(member *self) {
    uint64_t values[COUNTERS_MAX];
    qsm_engine_counters(self->engine, values, COUNTERS_MAX);
    uint64_t run = values[self->run_counter];
    uint64_t delay_ns = values[self->delay_counter];
    uint64_t second = (bench_now_ns() - self->shared->base_ns) / 1000000000u;
    bool counts = run != self->alarms_run && second < SECONDS_MAX &&
                  atomic_load(&self->shared->phase) == PHASE_MEASURE;
    if (counts) {
        uint64_t late_ns = (delay_ns - self->alarm_delay_ns) / (run - self->alarms_run);
        if (late_ns > self->own->alarm_delay_ns[second])
            self->own->alarm_delay_ns[second] = late_ns;
    }
    self->alarms_run = run;
    self->alarm_delay_ns = delay_ns;
}

void member_step(member *self, uint64_t wait_ns) {
    int64_t descriptors[64];
    struct pollfd asked[64];
    int more = qsm_udp_step(self->udp, STEP_NS);
    if (self->chosen->alarms) note_alarms(self);
    handle_events(self);
    if (more) return;
    uint64_t due_ns = qsm_udp_wait_ns(self->udp);
    if (due_ns < wait_ns) wait_ns = due_ns;
    if (self->chosen->take_rate != 0 && wait_ns > TAKE_PAUSE_NS) wait_ns = TAKE_PAUSE_NS;
    if (wait_ns == 0) return;
    int count = qsm_udp_descriptors(self->udp, descriptors, 64, NULL);
    if (count > 64) count = 64;
    for (int index = 0; index < count; index++)
        asked[index] = (struct pollfd){.fd = (int)descriptors[index], .events = POLLIN};
    if (qsm_udp_wants_write(self->udp)) asked[0].events |= POLLOUT;
    struct timespec until = {.tv_sec = (time_t)(wait_ns / 1000000000u),
                             .tv_nsec = (long)(wait_ns % 1000000000u)};
    sigset_t none;
    sigemptyset(&none);
    ppoll(asked, (nfds_t)count, &until, &none);
}

bool all_reached(const member *self, enum phase phase) {
    for (uint32_t index = 0; index <= self->chosen->receivers; index++) {
        const report *told = &self->shared->members[index];
        if (atomic_load(&told->reached) < (unsigned)phase && !atomic_load(&told->gone))
            return false;
    }
    return true;
}

uint64_t members_delivered(const common *shared, uint32_t receivers) {
    uint64_t least = UINT64_MAX;
    for (uint32_t index = 0; index < receivers; index++) {
        uint64_t count = atomic_load(&shared->members[index].delivered);
        if (count < least && !atomic_load(&shared->members[index].gone)) least = count;
    }
    return least;
}

void member_enter(member *self, enum phase phase) {
    uint64_t end_ns = bench_now_ns() + PATIENCE_NS;
    bool leads = self->index == self->chosen->receivers;
    atomic_store(&self->own->reached, phase);
    while (atomic_load(&self->shared->phase) < (unsigned)phase) {
        if (leads && all_reached(self, phase)) atomic_store(&self->shared->phase, phase);
        if (bench_now_ns() > end_ns) bench_fail("the other processes do not come along");
        member_step(self, 1000000);
    }
}

/* ---- groups ---- */

void member_join_all(member *self) {
    uint64_t begin_ns = bench_now_ns();
    self->heap_bytes = bench_heap_bytes();
    uint8_t id[QSM_GROUP_ID_BYTES] = {0}, key[QSM_KEY_BYTES];
    for (uint32_t index = 0; index < self->chosen->groups; index++) {
        joined *group = &self->groups[index];
        group->of = self;
        memcpy(id, &index, sizeof index);
        memcpy(key, self->shared->scope + 16, sizeof key);
        memcpy(key, &index, sizeof index);
        if (qsm_group_join(self->engine, id, key, group, &group->group) != QSM_OK)
            bench_fail("a group cannot be joined");
    }
    uint64_t end_ns = begin_ns + PATIENCE_NS;
    while (self->groups_ready < self->chosen->groups) {
        if (bench_now_ns() > end_ns) bench_fail("the groups do not come together");
        member_step(self, 1000000);
    }
    self->own->joined_ns = bench_now_ns() - begin_ns;
}

static void greet(void *context, uint32_t bytes_max, qsm_pulled *pulled) {
    joined *group = context;
    member *self = group->of;
    (void)bytes_max;
    if (group->next > 0) return;
    memset(self->message, 0, MESSAGE_HEAD_BYTES); /* number 0, no time */
    group->next++;
    self->sent++;
    pulled->data = self->message;
    pulled->bytes = MESSAGE_HEAD_BYTES;
}

static void offer_greeting(joined *group) {
    qsm_group_offer(group->group, greet, group, 1);
}

/* Not all at once: what is under way at a time is no memory of groups. */
void member_greet(member *self) {
    uint64_t end_ns = bench_now_ns() + PATIENCE_NS, groups = self->chosen->groups, offered = 0;
    bool sends = self->index == self->chosen->receivers;
    while (sends ? self->sent < groups || member_unacknowledged(self) > 0
                 : atomic_load(&self->own->delivered) < groups) {
        if (bench_now_ns() > end_ns) bench_fail("not every group carries messages");
        if (sends && self->sent == offered && member_unacknowledged(self) == 0)
            for (uint64_t end = offered + groups / GREETINGS + 1;
                 offered < end && offered < groups;)
                offer_greeting(&self->groups[offered++]);
        member_step(self, 1000000);
    }
    self->own->group_heap_bytes = bench_heap_bytes() - self->heap_bytes;
}

bool member_hosts(const member *self) {
    return self->index == (self->chosen->host_apart ? 0 : self->chosen->receivers);
}

void member_host(member *self) {
    while (qsm_engine_health(self->engine) != QSM_HEALTH_HOST)
        member_step(self, 1000000);
    atomic_store(&self->shared->hosted, true);
}

static void feed(void *context, uint32_t bytes_max, qsm_pulled *pulled) {
    joined *group = context;
    member *self = group->of;
    (void)bytes_max;
    unsigned phase = atomic_load_explicit(&self->shared->phase, memory_order_relaxed);
    if (phase >= PHASE_DRAIN || (self->chosen->rate != 0 && self->sent >= self->due)) return;
    uint64_t made_ns = self->chosen->rate != 0 ? bench_now_ns() : 0;
    memcpy(self->message, &group->next, sizeof group->next);
    memcpy(self->message + 8, &made_ns, sizeof made_ns);
    group->next++;
    self->sent++;
    pulled->data = self->message;
    pulled->bytes = (int32_t)self->chosen->bytes;
}

void member_offer(member *self, uint32_t group) {
    qsm_group_offer(self->groups[group].group, feed, &self->groups[group], 1);
}

uint64_t member_unacknowledged(const member *self) {
    uint64_t sum = 0;
    for (uint32_t index = 0; index < self->chosen->groups; index++)
        sum += qsm_group_unacknowledged(self->groups[index].group);
    return sum;
}

void member_tell_counters(member *self, uint32_t which) {
    qsm_engine_counters(self->engine, self->own->counters[which], COUNTERS_MAX);
}
