/*
 * engine.h - the engine's inside: the struct that holds its parts, and what all of them use
 * (counting, the trace, whose opinion this node shares). Packets are posted through outbox.h and
 * come through inbox.h, events are posted through events.h. Parts know each other through their own
 * headers only.
 */
#ifndef QSM_CORE_ENGINE_H
#define QSM_CORE_ENGINE_H

#include "core/alarm.h"
#include "core/blocks.h"
#include "core/buffer.h"
#include "core/counters.h"
#include "core/events.h"
#include "core/inbox.h"
#include "core/index.h"
#include "core/limits.h"
#include "core/outbox.h"
#include "core/parts.h"
#include "core/prng.h"
#include "core/seal.h"
#include "core/slab.h"
#include "core/table.h"
#include "core/trace.h"
#include "core/wire.h"
#include "membership/client.h"
#include "membership/dead.h"
#include "membership/hearing.h"
#include "qsm.h"
#include "receiving/delivery.h"
#include "recovery/repair.h"
#include "sending/path.h"
#include "sending/scheduler.h"

typedef struct qsm_host qsm_host;
typedef struct qsm_peer qsm_peer;
typedef struct qsm_region qsm_region;

struct qsm_engine {
    qsm_config config;
    qsm_scope_keys keys;
    enum qsm_aegis_kind aegis; /* NONE: seals and opens without AES instructions */
    qsm_prng prng;
    uint64_t now_ns;
    uint64_t id;
    uint32_t control_counter;
    qsm_pool pool;
    qsm_blocks blocks;
    qsm_alarms alarms;
    qsm_trace trace;
    uint64_t counters[QSM_COUNTER_COUNT];
    qsm_inbox inbox[QSM_INBOX_COUNT];
    qsm_outbox outbox[QSM_CLASS_COUNT];
    qsm_parts parts;
    qsm_paths paths;
    uint32_t offered[QSM_CLASS_COUNT]; /* departures shown by the last qsm_engine_send */
    qsm_event_queue events;
    qsm_table peers;        /* id -> qsm_peer */
    qsm_table regions;      /* uid -> qsm_region */
    qsm_slab groups;        /* of qsm_group */
    qsm_index group_places; /* hash of id -> number of the group */
    uint32_t join_count;    /* gives each membership of a group its own range of message numbers */
    qsm_client client;
    qsm_hearing hearing;
    qsm_peer *applicants[QSM_APPLICANTS_MAX]; /* with a good cookie, whose request is still arriving
                                               */
    uint32_t applicant_next;
    qsm_dead dead;  /* nodes known to have been put out */
    qsm_host *host; /* NULL unless this engine hosts the membership service */
    qsm_scheduler scheduler;
    uint64_t line_bytes_per_s; /* that regions were sent to last; 0: not known yet */
    qsm_delivery delivery;
    qsm_repairs repairs;
    uint64_t subscription_generation;
    char *plan;
    uint32_t plan_bytes;
};

static inline void qsm_count(qsm_engine *engine, enum qsm_counter counter) {
    engine->counters[counter]++;
}
static inline void qsm_count_add(qsm_engine *engine, enum qsm_counter counter, uint64_t n) {
    engine->counters[counter] += n;
}
static inline void qsm_note(qsm_engine *engine, enum qsm_trace_kind kind, uint64_t a, uint64_t b) {
    qsm_trace_add(&engine->trace, engine->now_ns, kind, a, b);
}

/* Control packets are not longer, so that they arrive where data must be cut. */
static inline uint32_t qsm_control_bytes_max(const qsm_engine *engine) {
    uint32_t bytes = engine->config.datagram_bytes_max;
    return bytes < QSM_SAFE_BYTES ? bytes : QSM_SAFE_BYTES;
}

/* Whose opinion this node shares on who is alive: see wire.h. */
static inline uint32_t qsm_side(const qsm_engine *engine) {
    return engine->client.directory != NULL ? engine->client.directory->tag : 0;
}

/* How new that opinion is: the last batch applied, as packets name it; see wire.h. */
static inline uint32_t qsm_batch(const qsm_engine *engine) {
    return engine->client.directory != NULL ? qsm_batch_count(engine->client.directory->applied)
                                            : 0;
}

/* Gives back those whose request for admission is still arriving. */
void qsm_forget_applicants(qsm_engine *engine);
bool qsm_address_equal(const qsm_address *a, const qsm_address *b);
static inline bool qsm_address_is_set(const qsm_address *address) {
    return address->family != QSM_FAMILY_NONE;
}

#endif
