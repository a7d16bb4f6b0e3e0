/*
 * hearing.h - whose multicast reaches this node. Every node that shares a region with others calls
 * out by multicast now and then, and tells its host whose calls it misses; the host has regions in
 * which somebody is not heard by somebody fan out by unicast (host_hearing.c). What is said here of
 * a node goes for one direction only, so every pair is looked at from both ends.
 *
 * Going back takes longer than giving up: a network that comes and goes stays with unicast.
 *
 * Calls go to the address that all nodes share. Those of single regions may fail for themselves,
 * which region_hearing.h looks after.
 */
#ifndef QSM_MEMBERSHIP_HEARING_H
#define QSM_MEMBERSHIP_HEARING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/bytes.h"
#include "core/wire.h"
#include "membership/region_hearing.h"
#include "qsm.h"

/* What this node hears in all. */
typedef struct {
    qsm_alarm alarm;
    uint64_t since_ns; /* has listened without a break since then */
    uint64_t any_ns;   /* last multicast of anybody else */
    bool silence;      /* for long, and nothing has come since */
    uint32_t round;    /* counts looks round: whoever was expected at the last one has its number */
    bool nobody;       /* of all who are expected, or too few to tell them one by one */
    uint64_t told;     /* a sum over what the host was told last */
    bool prefers_unicast;
    qsm_region_hearing regions;
} qsm_hearing;

/* How another node is heard. */
typedef struct {
    uint64_t heard_ns;  /* its last call */
    uint64_t steady_ns; /* none of its calls was missed since then */
    uint64_t expected_ns;
    uint32_t expected_round;
    uint32_t pause_ms; /* until its next call, as it said; 0: never heard */
    bool unheard;
} qsm_audibility;

/* What a node tells its host, with its request for admission and whenever it has changed: one of
 * these, with QSM_PREFERS_UNICAST added where multicast is a burden; then at most QSM_UNHEARD_MAX
 * ids of nodes whose multicast it does not hear; then, from a node that lets the addresses of
 * regions rest (region_hearing.h), the ids of regions in use whose address it does not hear, at
 * most as many. */
enum qsm_hears {
    QSM_HEARS_ALL_BUT = 0,
    QSM_HEARS_NOBODY = 1,
    QSM_HAS_NO_MULTICAST = 2, /* and is not heard either */
    QSM_HEARS_COUNT = 3,
    QSM_PREFERS_UNICAST = 4 /* flag */
};

void qsm_hearing_start(qsm_engine *engine, uint64_t now_ns);
void qsm_hearing_stop(qsm_engine *engine);
/* The engine slept: that it heard nobody meanwhile means nothing. */
void qsm_hearing_slept(qsm_engine *engine);
void qsm_hearing_call_arrived(qsm_engine *engine, uint64_t from, const qsm_call *call);
/* The host's beacon goes round, which wakes everybody once a second: a call that is due about now
 * is made at once, so that all who hear it need not wake again for it. */
void qsm_hearing_beacon(qsm_engine *engine);
/* Something else of another node came by multicast. */
void qsm_hearing_noticed(qsm_engine *engine);
/* Tells the host what is new to it, if anything is. */
void qsm_hearing_tell(qsm_engine *engine);
/* Writes what the host is told. */
void qsm_hearing_describe(qsm_engine *engine, qsm_bytes *out);

#endif
