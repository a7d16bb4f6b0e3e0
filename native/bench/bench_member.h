/*
 * bench_member.h - one process of engine_udp: an engine on real sockets that joins groups, counts
 * and checks what it is given, and reports through memory that all processes share.
 *
 * A message begins with its number in its group and the time at which it was made (0: not told).
 * Every receiver checks the numbers, so a message that is lost, doubled or out of order is seen.
 */
#ifndef QSM_BENCH_MEMBER_H
#define QSM_BENCH_MEMBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "qsm.h"

enum {
    RECEIVERS_MAX = 16,
    GROUPS_MAX = 131072,
    SAMPLES_MAX = 1 << 17,
    BINS_MAX = 1200,
    SECONDS_MAX = 128,
    COUNTERS_MAX = 128
};
#define BIN_NS 100000000u
#define MESSAGE_HEAD_BYTES 16u

/* What all processes go through together; the sender says when. */
enum phase {
    PHASE_OPEN,
    PHASE_JOIN,
    PHASE_GREET, /* a short message in each group, so that everybody knows its sender */
    PHASE_SEND,
    PHASE_MEASURE,
    PHASE_DRAIN,
    PHASE_END
};

typedef struct options {
    uint64_t bytes, receivers, groups, seconds_ms, settle_ms;
    uint64_t rate;             /* messages a second that are offered; 0: as many as go */
    uint64_t no_offload;       /* flag */
    uint64_t take_rate;        /* messages a second that a receiver takes at most; 0: all */
    uint64_t sleep_ms;         /* the first receiver sleeps so long .. */
    uint64_t sleep_every_ms;   /* .. in each of these */
    uint64_t deaf_ms;          /* or throws away all that arrives for so long */
    uint64_t window_bytes;     /* 0: the engine's default */
    uint64_t packet_bytes;     /* likewise */
    uint64_t crash_ms;         /* the first receiver dies so long after the measured time begins */
    uint64_t cache_everywhere; /* flag: nobody lets go of a packet before all have it */
    uint64_t once;             /* flag: only the first time */
    uint64_t silent;           /* flag: nothing is sent */
    uint64_t alarms;           /* flag: measure how late alarms are run */
    uint64_t bins;             /* flag: print deliveries of each 100 ms */
    uint64_t host_apart;       /* flag: the first receiver hosts the membership, not the sender */
} options;

/* What a process tells of itself. Written by that process alone. */
typedef struct report {
    _Alignas(64) atomic_ullong delivered;
    atomic_uint reached; /* enum phase: it waits for the next */
    atomic_bool gone;    /* it has died, as it was asked to */
    pid_t process;
    uint64_t joined_ns;        /* that all its groups took to have their full views */
    uint64_t group_heap_bytes; /* that groups, joined and greeted in, have added */
    uint64_t cpu_ns, rss_bytes, wrong_order;
    uint64_t recovered_ns; /* the longest that it took, after trouble, to have what others had */
    uint64_t stall_ns;     /* the longest that it had nothing delivered in the measured time */
    uint64_t alarm_delay_ns[SECONDS_MAX]; /* by second: the latest that an alarm was run */
    uint64_t datagrams_in, datagrams_out, calls_in, calls_out, kernel_drops;
    uint64_t counters[2][COUNTERS_MAX]; /* at the begin of the measured time, and at the end */
    uint32_t sample_count, bin_count;
    uint32_t samples_ns[SAMPLES_MAX];
    uint32_t bins[BINS_MAX];
} report;

typedef struct common {
    atomic_uint phase;
    atomic_bool hosted; /* somebody hosts the membership service; the others may come */
    uint64_t base_ns;   /* bins count from here */
    uint8_t scope[48];  /* id and key */
    uint16_t port;      /* of the scope's multicast, so that runs side by side do not meet */
    report members[RECEIVERS_MAX + 1]; /* the sender is the last */
} common;

typedef struct member {
    const options *chosen;
    common *shared;
    report *own;
    uint32_t index;
    qsm_udp *udp;
    qsm_engine *engine;
    struct joined *groups;
    uint32_t group_count, groups_ready;
    uint64_t sent, due; /* messages made, and those that may be made by now */
    uint64_t taken, taken_from_ns;
    uint64_t delivered_ns; /* when something was delivered last, in the measured time */
    uint64_t alarms_run, alarm_delay_ns; /* as counted before the last step */
    uint32_t run_counter, delay_counter; /* of those */
    uint64_t heap_bytes;                 /* before the groups were joined */
    uint8_t message[QSM_MESSAGE_BYTES_MAX];
} member;

/* One group of a member. */
typedef struct joined {
    qsm_group *group;
    uint64_t next; /* number of the next message, here made or expected */
    member *of;
} joined;

/* From now on SIGUSR1 ends a wait of member_step, and does nothing at other times. */
void member_await_signals(void);
void member_open(member *self, const options *chosen, common *shared, uint32_t index);
void member_close(member *self);
/* Steps until all processes have reached the phase, then goes on to it. */
void member_enter(member *self, enum phase phase);
void member_join_all(member *self);
/* Sends, or waits for, the first message of each group. */
void member_greet(member *self);
/* The process that hosts the membership service. */
bool member_hosts(const member *self);
/* Steps until this process is the host, and tells the others. */
void member_host(member *self);
/* One step of the engine, what it delivers, then a wait of at most `wait_ns`. */
void member_step(member *self, uint64_t wait_ns);
/* Makes every group ready to send what is due. */
void member_offer(member *self, uint32_t group);
/* Something is delivered, or the time is over: how long nothing was. */
void member_note_stall(member *self);
uint64_t member_unacknowledged(const member *self);
void member_tell_counters(member *self, uint32_t which);
/* What the slowest of the receivers that live has had delivered. */
uint64_t members_delivered(const common *shared, uint32_t receivers);
bool all_reached(const member *self, enum phase phase);

#endif
