/*
 * ring_places.h - who stands where in the rings of a region: the members in their order are cut
 * into rings of the lowest level, and the first one alive of each stands for it in the level above.
 */
#ifndef QSM_RECOVERY_RING_PLACES_H
#define QSM_RECOVERY_RING_PLACES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qsm_region qsm_region;

/* Members below one place of a ring at that level. */
uint64_t qsm_ring_block_size(const qsm_region *region, uint32_t level);
/* The member that stands at a place of a ring: the first one alive below it. -1: none. */
int32_t qsm_ring_member_at(const qsm_region *region, uint32_t level, uint32_t ring, uint32_t place);
/* The member that launches the tokens of a ring. -1: all are dead. */
int32_t qsm_ring_leader_of(const qsm_region *region, uint32_t level, uint32_t ring);
/* The ring of that level that this node is below, and its place in it. */
uint32_t qsm_ring_mine(const qsm_region *region, uint32_t level);
uint32_t qsm_ring_my_place(const qsm_region *region, uint32_t level);
/* True when this node is the one that stands there. */
bool qsm_ring_takes_part(const qsm_region *region, uint32_t level);
bool qsm_ring_leads(const qsm_region *region, uint32_t level);
/* A bit for each place of this node's ring at which somebody stands. */
uint32_t qsm_ring_alive_mask(const qsm_region *region, uint32_t level);

#endif
