/*
 * host.h - the membership service, as the role of one node: the roster of the scope, who is alive,
 * who has joined what, the regions that follow from it, and the batches that tell each node what
 * concerns it.
 *
 * host.c is its life, host_clock.c its clock, host_roster.c keeps the roster, host_requests.c hears
 * what nodes want; host_groups.c knows who has joined what, host_company.c who is in a
 * view with whom, host_hearing.c who hears whom;
 * host_batch.c turns changes into views, host_regions.c makes and ends regions, host_tell.c tells
 * each node; host_meeting.c is found by nodes and by other hosts, and gives way to those;
 * host_legacy.c takes over what earlier hosts have left.
 */
#ifndef QSM_MEMBERSHIP_HOST_H
#define QSM_MEMBERSHIP_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/bytes.h"
#include "core/index.h"
#include "core/slab.h"
#include "core/table.h"
#include "core/wire.h"
#include "membership/policy.h"
#include "qsm.h"

typedef struct qsm_peer qsm_peer;
typedef struct qsm_host_region qsm_host_region;
typedef struct qsm_host_group qsm_host_group;
typedef struct qsm_host_legacy qsm_host_legacy;

/* One node of the roster. */
typedef struct {
    uint64_t id;
    uint64_t rank;
    qsm_peer *peer; /* NULL for the host itself */
    qsm_address address;
    uint32_t *groups; /* their numbers, by handle, ascending */
    uint32_t group_count, group_capacity;
    uint32_t join; /* its count of admissions asked for, said back with each batch */
    uint32_t requests_seen;
    uint64_t heard_ns;
    uint64_t told_batch; /* the last that it was sent */
    uint8_t hears;       /* enum qsm_hears: whose multicast reaches it */
    bool prefers_unicast;
    uint64_t *unheard; /* ids of those whose does not */
    uint32_t unheard_count;
    bool resting;     /* lets addresses of regions rest: new regions go by unicast */
    uint64_t *missed; /* regions whose address it does not hear, while it rests */
    uint32_t missed_count;
    bool leaving;  /* wants to go; is in no view any more */
    bool released; /* has been told that it may go */
    bool told;     /* has been sent a batch since it asked for admission the last time */
    bool pending;  /* what it brings of earlier hosts is not judged yet: is in no view until then */
    bool evicted;  /* nothing more is said to it */
    bool too_late; /* comes with regions that the others have finished without it */
    qsm_table known; /* uid -> qsm_host_region: those it has been told of */
    /* for the batch being made */
    qsm_bytes batch;
} qsm_host_client;

/* The members of a view and the regions that hold them, shared by all groups that have the same. */
typedef struct qsm_host_company {
    struct qsm_host_company *next_same_hash;
    uint64_t hash;
    uint64_t *members; /* ids by rank */
    qsm_host_region **regions;
    uint32_t member_count, region_count;
    uint32_t uses;
} qsm_host_company;

struct qsm_host_group {
    uint32_t handle; /* never that of another group, as long as this node hosts: messages name it */
    uint32_t index;  /* in the host's list */
    uint32_t joined; /* nodes of the roster that want to be in it */
    bool hybrid;     /* has an address of its own, to which packets for several regions go */
    bool renewed; /* a member left and joined again: a new view although the members are the same */
    bool changed; /* has a new view in the batch being made */
    uint8_t id[QSM_GROUP_ID_BYTES];
    uint64_t view;
    qsm_host_company *company; /* NULL: has been in no view yet */
};

struct qsm_host_region {
    uint64_t uid;
    uint64_t *members; /* ids by rank */
    uint32_t member_count;
    bool unicast;
    bool closing;
    bool used;               /* in the batch being made */
    qsm_host_legacy *legacy; /* of an earlier host; NULL: of this one */
    uint64_t created;        /* legacy: batch of that host in which it was told */
    qsm_table dead;          /* legacy: id -> anything: known as dead in it to somebody */
    qsm_address address;
    qsm_host_region *base;  /* the region that it grew out of: only differences are told */
    uint64_t last_death;    /* batch that told of the last dead member: earlier reports of being
                               drained do not count */
    qsm_table participants; /* id -> qsm_host_client: members and those who send into it */
    qsm_table drained;      /* id -> qsm_host_client */
};

/* What an earlier host has left: its regions, reported by those who are in them. When there has
 * been time to report, those who have not count as dead in all of them: they follow another host or
 * are gone. */
struct qsm_host_legacy {
    uint32_t tag; /* upper half of the ids of its regions */
    bool judged;
    bool tell; /* the judgement is to be told in the next batch */
    uint64_t judge_ns;
    qsm_table reporters; /* id -> last batch of that host that the node has applied, in place of a
                            pointer */
    qsm_table dead;      /* id -> anything: put out by that host */
    qsm_table views; /* handle of a group -> greatest view that somebody was told of, as above */
};

typedef struct qsm_host {
    qsm_engine *engine;
    qsm_epoch epoch;
    uint32_t tag;
    uint64_t batch; /* number of the last batch made */
    uint64_t next_rank;
    uint32_t next_region;
    uint32_t next_handle;
    qsm_host_client **clients; /* by rank */
    uint32_t client_count, client_capacity;
    qsm_table client_by_id;
    qsm_slab groups;        /* of qsm_host_group */
    qsm_index group_places; /* hash of id -> number of the group */
    uint32_t *group_list;   /* numbers, ascending by handle */
    uint32_t group_count, group_capacity;
    qsm_table companies;                         /* hash -> qsm_host_company */
    bool groups_left;                            /* some group may be wanted by nobody any more */
    uint32_t unwanted_count;                     /* at most: those of them that were in no view */
    qsm_table regions;                           /* uid -> qsm_host_region */
    qsm_host_legacy *legacies[QSM_LEGACIES_MAX]; /* oldest first */
    uint32_t legacy_count;
    uint32_t legacy_region_count;
    uint64_t *deaths; /* ids, to be told in the next batch */
    uint32_t death_count, death_capacity;
    /* Whom this host has put out lately, a ring: who comes from an earlier host may know them, have
     * no region in common with them any more, and wait for the rest of what they said. */
    uint64_t put_out[QSM_DEATHS_RETOLD];
    uint32_t put_out_count;
    qsm_host_region **dissolved; /* to be told in the next batch, then freed */
    uint32_t dissolved_count, dissolved_capacity;
    bool dirty;
    bool regrouping; /* just took over: waits for the others to report */
    uint64_t regroup_until_ns;
    uint64_t predecessor; /* id of the host that fell silent; not waited for */
    bool handed_over;     /* has told everybody who hosts next */
    bool steps_down; /* was itself left out of a region that others report: begins anew as a member
                      */
    bool yielding;   /* drains everything, then sends everybody to another host */
    qsm_epoch yield_epoch;
    qsm_address yield_address;
    bool yield_insisted; /* that host insists, and is counted by everybody who goes over to it */
    uint64_t yield_by_ns;
    qsm_epoch courted; /* of the host that we have asked: if it answers, we yield to it */
    bool courted_insists;
    bool insists; /* wants to replace whoever hosts, and has not been refused */
    uint64_t beacon_ns;
    uint64_t answer_ns; /* last beacon in answer to one of a lesser host */
    qsm_alarm batch_alarm, check_alarm;
} qsm_host;

/* This engine becomes host, with the given term. Its own membership is entered like anybody's. */
bool qsm_host_start(qsm_engine *engine, uint64_t term, bool took_over);
void qsm_host_stop(qsm_engine *engine);
void qsm_host_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes);
void qsm_host_solicit_arrived(qsm_engine *engine, uint64_t from, const qsm_solicit *solicit,
                              const qsm_address *address);
void qsm_host_ping_arrived(qsm_engine *engine, uint64_t from, const qsm_ping *ping,
                           const qsm_address *address);
void qsm_host_beacon_arrived(qsm_engine *engine, const qsm_beacon *beacon);
/* Says that this node hosts, to somebody who may not know. */
void qsm_host_tell(qsm_engine *engine, const qsm_address *to);
/* A packet of that node has arrived: it is alive. */
void qsm_host_heard(qsm_engine *engine, uint64_t id);
/* The node does not take what it is told: it is put out. */
void qsm_host_lost(qsm_engine *engine, uint64_t id);
/* The engine slept: nobody is to blame for not having been heard. */
void qsm_host_slept(qsm_engine *engine, uint64_t now_ns);
/* True when a solicitation's cookie is good, i.e. whoever shows it receives at its address. */
bool qsm_host_admits(qsm_engine *engine, uint64_t id, const uint8_t *join_message, uint32_t bytes);
/* Tells a node that it was put out: an id that was counted as dead never comes back. */
void qsm_host_refuse(qsm_engine *engine, uint64_t id, const qsm_address *address);
/* Leaves hosting to the next in line, at once, and begins anew as a member. Frees the host. */
void qsm_host_abdicate(qsm_engine *engine, uint32_t reason);
/* Names the next in line as host to everybody; false when there is nobody. */
bool qsm_host_name_successor(qsm_host *host);
/* Begins to drain and to hand everybody over to another host. */
void qsm_host_yield(qsm_engine *engine, const qsm_epoch *epoch, const qsm_address *address);

/* ---- between the files of the host ----------------------------------------------------------- */
qsm_host_client *qsm_host_find_client(qsm_host *host, uint64_t id);
/* Enters a node, last in line; NULL when there is no room or memory for it. */
qsm_host_client *qsm_host_add_client(qsm_host *host, uint64_t id, const qsm_address *address);
/* Frees one that is in no list any more. */
void qsm_host_client_free(qsm_host *host, qsm_host_client *client);
void qsm_host_evict(qsm_host *host, qsm_host_client *client, uint8_t reason);
/* This node may not host: with the next alarm it begins anew as a member. Until then it makes no
 * views, for it would be in them. */
void qsm_host_step_down(qsm_host *host);
void qsm_host_add_death(qsm_host *host, uint64_t id);
/* Parts of a node's request for admission: hosts that it has followed; the view of a group that it
 * was told of last; regions that it is still in. */
void qsm_host_report_directories(qsm_host *host, qsm_host_client *client, qsm_reader *in);
void qsm_host_report_view(qsm_host *host, uint32_t handle, uint64_t view);
void qsm_host_report_regions(qsm_host *host, qsm_host_client *client, qsm_reader *in);
/* True when the node comes after that has been decided, and was left out. */
bool qsm_host_was_left_out(qsm_host *host, const qsm_host_client *client);
/* True when an earlier host's region is over, though some have not heard of it. */
bool qsm_host_was_dissolved(const qsm_host_region *region);
/* Decides on what earlier hosts have left when it is time, or when nobody is missing any more. */
void qsm_host_judge(qsm_host *host, uint64_t now_ns);
/* True when everybody who is expected has reported. */
bool qsm_host_is_complete(qsm_host *host);
void qsm_host_forget_legacies(qsm_host *host);
/* There will be a batch. */
void qsm_host_changed(qsm_host *host);
/* What is done by the clock; a host that has nothing under way looks seldom. */
void qsm_host_on_batch_alarm(void *context, uint64_t now_ns);
void qsm_host_on_check_alarm(void *context, uint64_t now_ns);
void qsm_host_check_soon(qsm_host *host);
/* Returns the handle of the group, 0 when there is no room for it. */
uint32_t qsm_host_client_joins(qsm_host *host, qsm_host_client *client, const uint8_t *id);
void qsm_host_client_leaves(qsm_host *host, qsm_host_client *client, const uint8_t *id);
/* The node is not in any group any more. */
void qsm_host_client_leaves_all(qsm_host *host, qsm_host_client *client);
/* The one with these members and regions, made if there is none; NULL: no memory. Each use is given
 * back. */
qsm_host_company *qsm_host_company_use(qsm_host *host, const uint64_t *members,
                                       uint32_t member_count, qsm_host_region *const *regions,
                                       uint32_t region_count);
void qsm_host_company_unuse(qsm_host *host, qsm_host_company *company);
/* A group by its number, by its place in the host's list, and by that in a node's. */
static inline qsm_host_group *qsm_host_group_at(const qsm_host *host, uint32_t number) {
    return qsm_slab_at(&host->groups, number);
}
static inline qsm_host_group *qsm_host_group_of_all(const qsm_host *host, uint32_t index) {
    return qsm_host_group_at(host, host->group_list[index]);
}
static inline qsm_host_group *qsm_host_group_of(const qsm_host *host, const qsm_host_client *client,
                                                uint32_t index) {
    return qsm_host_group_at(host, client->groups[index]);
}
/* How many are in the group's view. */
static inline uint32_t qsm_host_group_members(const qsm_host_group *group) {
    return group->company != NULL ? group->company->member_count : 0;
}
static inline uint32_t qsm_host_group_regions(const qsm_host_group *group) {
    return group->company != NULL ? group->company->region_count : 0;
}
/* Frees groups that nobody is in or wants to be in. */
void qsm_host_sweep_groups(qsm_host *host);
void qsm_host_free_groups(qsm_host *host);
/* Tells everybody who may be waiting for a host. */
void qsm_host_announce(qsm_host *host);
/* The same now and then, to those who may not know any host. */
void qsm_host_call_out(qsm_host *host, uint64_t now_ns);
/* When that will be the next time. */
uint64_t qsm_host_call_out_ns(const qsm_host *host);
/* All is drained: everybody, also this node, follows the other host. Frees the host. */
void qsm_host_finish_yielding(qsm_host *host);
void qsm_host_make_batch(qsm_host *host, uint64_t now_ns);
/* A node says whose multicast it hears; false when that makes no sense. */
bool qsm_host_take_hearing(qsm_host *host, qsm_host_client *client, qsm_reader *in);
/* For each region of the result, whether it fans out by unicast; `clients` are the nodes of the
 * policy's input. NULL when memory is short. */
bool *qsm_host_choose_unicast(qsm_host *host, const qsm_policy_result *result,
                              qsm_host_client *const *clients);
/* Live regions by their members, so that a region that stays as it is stays the same. */
bool qsm_host_index_regions(qsm_host *host, qsm_table *live);
/* The region of these members, a new one if none of those is. Takes `members` over; NULL when
 * memory is short. */
qsm_host_region *qsm_host_region_for(qsm_host *host, uint64_t *members, uint32_t member_count,
                                     bool unicast, const qsm_table *live);
/* A multicast address of the group's own. */
void qsm_host_hybrid_address(qsm_host *host, const qsm_host_group *group, qsm_address *address);
/* Regions that no view uses any more are drained from this batch on. NULL when memory is short. */
qsm_host_region **qsm_host_close_unused(qsm_host *host, uint32_t *count);
void qsm_host_region_free(qsm_host *host, qsm_host_region *region);
/* Writes the batch for one node. */
void qsm_host_tell_client(qsm_host *host, qsm_host_client *client, qsm_host_region **closing,
                          uint32_t closing_count);
/* Regions that everybody has finished are dissolved with the next batch. */
void qsm_host_check_dissolved(qsm_host *host);
void qsm_host_send(qsm_host *host, qsm_host_client *client, const uint8_t *message, uint32_t bytes);
uint64_t qsm_host_hash_id(const uint8_t id[QSM_GROUP_ID_BYTES]);

#endif
