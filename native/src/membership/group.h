/*
 * group.h - one group that this node has joined: its key, the view in force, and where the rest of
 * it is. This struct is the per-group cost of the engine, two lines of the processor's cache: what
 * only some groups need is in extra.h, what a group that sends needs in sending/outgoing.h, what
 * is kept of each sender heard in receiving/order.h.
 */
#ifndef QSM_MEMBERSHIP_GROUP_H
#define QSM_MEMBERSHIP_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine.h"
#include "qsm.h"

typedef struct qsm_extra qsm_extra;

struct qsm_group {
    qsm_engine *engine;
    void *user;
    uint64_t view; /* number of the view in force, 0 before the first */
    union {
        qsm_region *one; /* most groups have one region */
        qsm_region **many;
    } regions;          /* see qsm_group_regions */
    qsm_extra *extra;   /* NULL: none */
    uint32_t number;    /* in the engine's slab of groups */
    uint32_t handle;    /* in the current directory */
    uint32_t serial;    /* tells memberships of one group apart */
    uint32_t orders;    /* the first, of those for each sender heard of; see order.h */
    uint32_t key_epoch; /* of the key that is used for what is sent */
    uint16_t region_count;
    bool held : 1;     /* waits until messages of an earlier membership have arrived everywhere */
    bool broken : 1;   /* lost a region before it got a new view: sends nothing until then */
    bool bereaved : 1; /* and somebody in that region had been counted out */
    bool roomy : 1;    /* its regions hold nodes that are not in its view */
    /* The second line. */
    uint64_t joined_view;  /* first view since joining */
    uint32_t outgoing;     /* in the scheduler's slab; 0: has never sent */
    uint32_t join_request; /* number of the request that asked for membership */
    uint8_t id[QSM_GROUP_ID_BYTES];
    uint8_t key[QSM_KEY_BYTES];
};
_Static_assert(sizeof(qsm_group) <= 128, "two lines of the cache");

static inline qsm_region *const *qsm_group_regions(const qsm_group *group) {
    return group->region_count == 1 ? &group->regions.one : group->regions.many;
}

/* The group of a number; NULL for 0. */
static inline qsm_group *qsm_group_at(const qsm_engine *engine, uint32_t number) {
    return number != 0 ? qsm_slab_at(&engine->groups, number) : NULL;
}

/* The group that a host calls so; NULL: none of this node's. */
static inline qsm_group *qsm_group_called(const qsm_engine *engine, const qsm_directory *directory,
                                          uint32_t handle) {
    return qsm_group_at(engine, qsm_index_get(&directory->groups, handle));
}

qsm_group *qsm_group_find(qsm_engine *engine, const uint8_t id[QSM_GROUP_ID_BYTES]);
/* The group after `last` (NULL: the first). NULL: there is none. */
qsm_group *qsm_group_next(const qsm_engine *engine, const qsm_group *last);
/* Puts a view in force; takes over `members` and `regions` (which the caller has counted as used).
 */
void qsm_group_install_view(qsm_group *group, uint64_t view, uint64_t *members,
                            uint32_t member_count, qsm_region **regions, uint16_t region_count);
/* The region has gone before its groups have new views. */
void qsm_group_lose_region(qsm_group *group, qsm_region *region);
/* Forgets the view when this node has been put out; the group is joined anew later. */
void qsm_group_reset(qsm_group *group);
void qsm_group_free(qsm_group *group);
/* True when this node was in that view of the group, one of the last. */
bool qsm_group_was_in(const qsm_group *group, uint64_t view);
/* True when a message sent in that view is for this node. */
bool qsm_group_is_for(const qsm_group *group, uint64_t view);

#endif
