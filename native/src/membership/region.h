/*
 * region.h - one region view: a fixed list of members, which of them are dead, and the streams of
 * all senders into it. A view never gains members; a change makes a new view while the old one is
 * drained: every sender ends its stream in it, everybody recovers what is missing, then the
 * membership service dissolves it.
 */
#ifndef QSM_MEMBERSHIP_REGION_H
#define QSM_MEMBERSHIP_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/index.h"
#include "core/table.h"
#include "core/wire.h"
#include "qsm.h"
#include "recovery/orphan.h"
#include "recovery/ring.h"
#include "recovery/roundtrip.h"

typedef struct qsm_peer qsm_peer;
typedef struct qsm_sender qsm_sender;
typedef struct qsm_stream qsm_stream;
typedef struct qsm_directory qsm_directory;

typedef struct {
    qsm_peer *peer; /* NULL for this node */
    uint64_t id;
    uint64_t rank;
    bool dead;
    uint64_t silent_until_ns; /* did not take a token: passed over until then, or until it is heard
                               */
} qsm_region_member;

typedef struct qsm_region {
    qsm_engine *engine;
    uint64_t uid;
    uint64_t created; /* batch that told of it */
    qsm_directory *directory;
    qsm_address address; /* multicast */
    bool unicast;        /* fans out to each member instead */
    bool closing;
    bool unheard;     /* its address: what others send comes by repairs alone */
    bool aes;         /* every member has told that it can open AES: this view's senders use it */
    bool drained;     /* told the membership service so */
    int32_t my_index; /* -1: this node sends into it but is not a member */
    qsm_region_member *members; /* by seniority */
    uint32_t member_count, alive_count;
    qsm_index places;     /* lower half of a member's id -> its index + 1; empty with few members */
    qsm_peer **outsiders; /* who sends into it without being a member */
    uint32_t outsider_count, outsider_capacity;
    qsm_table siblings;  /* uid -> anything: regions that some view of a group shares with this one
                          */
    uint64_t succession; /* batch that last told of the death of an executor, here or in one of the
                            siblings */
    uint32_t uses;       /* group views that map to it */
    qsm_sender *sender;  /* this node's stream into it, NULL before the first message */
    qsm_table streams;   /* sender id -> qsm_stream, this node's own included */
    qsm_rings rings;
    qsm_orphans orphans;
    qsm_roundtrip lines;      /* from passing a token on to the word that it has arrived */
    uint32_t path_bytes;      /* the longest datagram that reaches all members; 0: any */
    uint32_t path_generation; /* of the engine's paths, when that was looked at */
    uint64_t lateness_ns;     /* longest window of a stream: what a new one begins with */
} qsm_region;

/* Installs a view. Takes over `members` (their peers counted as used). NULL when memory is short.
 */
qsm_region *qsm_region_install(qsm_engine *engine, uint64_t uid, qsm_directory *directory,
                               const qsm_address *address, bool unicast, qsm_region_member *members,
                               uint32_t member_count);
qsm_region *qsm_region_find(qsm_engine *engine, uint64_t uid);
/* Makes a sender known that is not a member. False when memory is short. */
bool qsm_region_add_outsider(qsm_region *region, uint64_t id, const qsm_address *address);
bool qsm_region_has_outsider(const qsm_region *region, uint64_t id);
void qsm_region_close(qsm_region *region);
/* The membership service has put the node out, as that batch says. */
void qsm_region_node_died(qsm_region *region, uint64_t id, uint64_t batch);
/* Ends the region's life here and frees it. No group may map to it any more. */
void qsm_region_dissolve(qsm_region *region);
/* Tells the membership service when everything in a closing region is done. */
void qsm_region_check_drained(qsm_region *region);
/* Index of a member, -1 if there is none of that id. */
int32_t qsm_region_index(const qsm_region *region, uint64_t id);
/* False when the node did not come over with this one from the host that made the region: it counts
 * as dead in it. */
bool qsm_region_knows_alive(const qsm_region *region, uint64_t id);
/* First member alive by seniority: leads the top ring and executes the estates of the dead. -1:
 * none. */
int32_t qsm_region_leader(const qsm_region *region);
/* The partition that caches a packet, and how many there are. */
uint32_t qsm_region_partition_count(const qsm_region *region);
/* Any member alive of the partition that caches `sequence`, other than this node and, if possible,
 * than the packet's sender, who has work enough; -1: none. */
int32_t qsm_region_pick_cache(const qsm_region *region, uint64_t sequence, uint64_t sender);
/* True when so many members alive cache the packet that the others need not keep it. */
bool qsm_region_is_cached_well(const qsm_region *region, uint64_t sequence, uint64_t sender);
/* True when this node is to cache the packet. */
bool qsm_region_caches(const qsm_region *region, uint64_t sequence);
/* True when a dead member was at that address, and nobody alive in the region is. */
bool qsm_region_is_dead_address(const qsm_region *region, const qsm_address *address);
/* Sends a packet to all members, in the way that the region uses. */
void qsm_region_multicast(qsm_region *region, uint32_t class, const qsm_slice *packet);
void qsm_region_multicast_control(qsm_region *region, uint8_t kind, qsm_control *control);

#endif
