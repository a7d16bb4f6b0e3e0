/*
 * client.h - this node as a member of the scope: finds the membership service, is admitted, tells
 * it what it joins and leaves, applies the batches of views that come back, notices when the host
 * is gone and when it has itself been out of touch. Becoming host is decided here; what a host does
 * is in host.h.
 */
#ifndef QSM_MEMBERSHIP_CLIENT_H
#define QSM_MEMBERSHIP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/limits.h"
#include "core/table.h"
#include "core/wire.h"
#include "membership/directory.h"
#include "membership/patience.h"
#include "qsm.h"

typedef struct qsm_peer qsm_peer;

typedef struct qsm_client {
    uint32_t health;
    bool suspended; /* not stepped for long: sends and delivers nothing until the host confirms */
    bool closing;
    bool insisted; /* has been host, so that it deposes nobody (any more) */
    qsm_patience patience;
    bool applying; /* a batch: nothing is reported before all of it is in force */
    bool torn;     /* a view holds somebody whom this node had counted out unseen: it begins anew */
    bool merging;  /* on the way to another host, sent by the last one */
    qsm_epoch epoch;          /* of the host that is followed */
    qsm_peer *host;           /* NULL while searching, and when this engine is the host */
    qsm_peer *last_host;      /* fell silent: perhaps it answers again */
    qsm_directory *directory; /* of the host that is followed; NULL before its first batch */
    qsm_directory directories[QSM_DIRECTORIES_MAX];
    uint64_t view_floor; /* greatest view number seen */
    uint64_t term_seen;
    uint64_t turned_ns; /* last turn */
    uint64_t pong_ns;   /* last answer of the host */
    uint64_t ping_ns;
    uint64_t ping_nonce;
    uint32_t scope_members; /* as the host said last */
    uint64_t close_by_ns;
    uint64_t confirm_ns;  /* a suspended host goes on if nobody has contradicted by then */
    qsm_address target;   /* whom to ask besides the usual places */
    qsm_epoch stranger;   /* of another host whose multicast this node hears */
    uint64_t stranger_ns; /* since when, or the last time that the two were told of each other */
    uint8_t solicit_nonce[16];
    uint8_t cookie[16];
    uint64_t promote_ns;    /* when to become host if nobody answers */
    uint32_t joins;         /* admissions asked for: what a host said before the last one is void */
    uint32_t requests;      /* numbered changes of membership asked for */
    uint32_t requests_sent; /* the host has been told of all up to here */
    uint64_t successors[QSM_SUCCESSORS_MAX];
    uint32_t successor_count;
    uint8_t (*left)[QSM_GROUP_ID_BYTES]; /* to be told to the host */
    uint32_t left_count, left_capacity;
    uint8_t (*recent)[QSM_GROUP_ID_BYTES]; /* left while own messages were still on their way */
    uint32_t recent_count, recent_capacity;
    bool slow_reported;
    uint32_t introductions_left; /* times that known peers are still told of our host */
    bool rests; /* was put out as too slow: waits until its application has read what there is */
    qsm_alarm search_alarm, ping_alarm, request_alarm;
} qsm_client;

void qsm_client_start(qsm_engine *engine, uint64_t now_ns);
void qsm_client_stop(qsm_engine *engine);
/* Begins a clean departure. */
void qsm_client_close(qsm_engine *engine, uint64_t now_ns);
/* Called at each turn: notices that the engine slept. */
void qsm_client_turned(qsm_engine *engine, uint64_t now_ns);

/* Another engine that may be of this scope. */
void qsm_client_add_peer(qsm_engine *engine, const qsm_address *address);

void qsm_client_offer_arrived(qsm_engine *engine, const qsm_offer *offer);
void qsm_client_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon);
void qsm_client_pong_arrived(qsm_engine *engine, uint64_t from, const qsm_ping *pong);
void qsm_client_evicted_arrived(qsm_engine *engine, const qsm_evicted *evicted);
/* The host yields to another one and has drained its regions: this node turns to the other. */
void qsm_client_follow(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address,
                       uint32_t reason);
/* Something that the host was told is lost: even if it answers again, this node asks it for
 * admission anew, which tells it everything. */
void qsm_client_lost_touch(qsm_engine *engine);
/* Stops hosting and looks for a host. */
void qsm_client_search(qsm_engine *engine, uint32_t reason);
/* This node has been put out: forgets everything but what it has joined, takes a new id and begins
 * anew. */
void qsm_client_reset(qsm_engine *engine, uint32_t reason);
/* The first batch of the host has come. */
void qsm_client_admitted(qsm_engine *engine);
/* The host goes and has chosen this node. */
void qsm_client_become_successor(qsm_engine *engine, uint64_t term);
/* The departure is complete. */
void qsm_client_closed(qsm_engine *engine);

/* ---- between client.c and search.c ---- */
enum { QSM_PING_RETRY_NS = 100000000 };
void qsm_client_set_health(qsm_engine *engine, uint32_t health, uint32_t reason);
/* Neither hosts nor follows anybody from now on. */
void qsm_client_stop_following(qsm_engine *engine);
void qsm_client_ping(qsm_engine *engine);

/* Kinds of messages on control links. */
enum qsm_message_kind {
    QSM_TO_HOST_JOIN = 1,
    QSM_TO_HOST_CHANGES = 2,
    QSM_TO_HOST_DRAINED = 3,
    QSM_TO_HOST_SLOW = 4,
    QSM_TO_HOST_LEAVE = 5,
    QSM_TO_HOST_HEARING = 6,
    QSM_TO_CLIENT_BATCH = 16,
    QSM_TO_CLIENT_MERGE = 17,
    QSM_TO_CLIENT_BYE = 18,
    QSM_TO_EXECUTOR_ESTATE = 32
};

#endif
