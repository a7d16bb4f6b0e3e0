/*
 * trace.h - what the engine did, in short records that explain themselves: a ring of the last ones
 * for people, and a running hash of all of them for the comparison of two runs.
 */
#ifndef QSM_CORE_TRACE_H
#define QSM_CORE_TRACE_H

#include <stdint.h>

#include "core/prng.h"

#define QSM_TRACES(X)                                                                              \
    X(health, "health is now %llu because %llu")                                                   \
    X(became_host, "hosts the membership service, term %llu, node %016llx")                        \
    X(follows_host, "follows host %016llx of term %llu")                                           \
    X(host_silent, "host %016llx was silent for %llu ns")                                          \
    X(host_yields, "yields hosting to %016llx of term %llu")                                       \
    X(new_identity, "takes a new id %016llx in place of %016llx")                                  \
    X(suspended, "was not stepped for %llu ns; waits for confirmation, nonce %llu")                \
    X(client_joined, "admits node %016llx with %llu groups")                                       \
    X(client_evicted, "puts out node %016llx, reason %llu")                                        \
    X(batch_made, "makes batch %llu with %llu nodes")                                              \
    X(batch_applied, "applies batch %llu of epoch tag %llx")                                       \
    X(region_installed, "installs region %016llx with %llu members")                               \
    X(region_closing, "drains region %016llx, streams %llu")                                       \
    X(region_drained, "has drained region %016llx after batch %llu")                               \
    X(region_dissolved, "dissolves region %016llx, packets held %llu")                             \
    X(node_dead, "counts node %016llx as dead in region %016llx")                                  \
    X(view_installed, "installs view %llx of group %llx")                                          \
    X(token_lost, "token of region %016llx did not come back, round %llu")                         \
    X(token_skips, "token of region %016llx passes over node %016llx")                             \
    X(laggard, "reports node %016llx as too slow in region %016llx")                               \
    X(orphan_found, "stream of dead node %016llx in region %016llx is open")                       \
    X(orphan_asking, "asks %llu members about the stream of dead node %016llx")                    \
    X(orphan_settled, "settles the stream of dead node %016llx at %llu")                           \
    X(estate_offered, "offers %llu messages of dead node %016llx to other regions")                \
    X(link_broken, "gives up the link to node %016llx with %llu bytes queued")                     \
    X(unheard, "multicast of node %016llx is not heard, for %llu ns")                              \
    X(heard_again, "multicast of node %016llx is heard again, for %llu ns")                        \
    X(address_unheard, "the address of region %016llx is not heard, rests for the %lluth time")    \
    X(path_short, "node %016llx is not reached by datagrams of %llu bytes")                        \
    X(path_long, "node %016llx is reached by datagrams of %llu bytes again")                       \
    X(stream_finished, "own stream in region %016llx ends at %llu")

enum qsm_trace_kind {
#define QSM_TRACE_ENUM(name, text) QSM_TRACE_##name,
    QSM_TRACES(QSM_TRACE_ENUM)
#undef QSM_TRACE_ENUM
        QSM_TRACE_KIND_COUNT
};

enum { QSM_TRACE_RECORDS = 256 };

typedef struct {
    uint64_t at_ns, a, b;
    uint32_t kind;
} qsm_trace_record;

typedef struct {
    qsm_trace_record records[QSM_TRACE_RECORDS];
    uint64_t count;
    uint64_t hash;
} qsm_trace;

static inline void qsm_trace_mix(qsm_trace *trace, uint64_t value) {
    trace->hash = qsm_mix64(trace->hash ^ value) + 0x9e3779b97f4a7c15ull;
}
void qsm_trace_add(qsm_trace *trace, uint64_t now_ns, uint32_t kind, uint64_t a, uint64_t b);
/* Lines of text, oldest first; returns the length, cut at bytes_max - 1 with a final zero. */
uint32_t qsm_trace_write(const qsm_trace *trace, char *text, uint32_t bytes_max);

#endif
