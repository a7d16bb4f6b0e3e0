#include "recovery/ring_places.h"

#include "membership/region.h"

uint64_t qsm_ring_block_size(const qsm_region *region, uint32_t level) {
    uint64_t size = 1;
    for (uint32_t i = 0; i < level; i++)
        size *= region->rings.ring_size;
    return size;
}

static uint32_t ring_of(const qsm_region *region, uint32_t level, uint32_t index) {
    return (uint32_t)(index / qsm_ring_block_size(region, level + 1));
}

int32_t qsm_ring_member_at(const qsm_region *region, uint32_t level, uint32_t ring,
                           uint32_t place) {
    uint64_t size = qsm_ring_block_size(region, level);
    uint64_t start = ((uint64_t)ring * region->rings.ring_size + place) * size;
    for (uint64_t i = start; i < start + size && i < region->member_count; i++)
        if (!region->members[i].dead) return (int32_t)i;
    return -1;
}

int32_t qsm_ring_leader_of(const qsm_region *region, uint32_t level, uint32_t ring) {
    for (uint32_t place = 0; place < region->rings.ring_size; place++) {
        int32_t member = qsm_ring_member_at(region, level, ring, place);
        if (member >= 0) return member;
    }
    return -1;
}

uint32_t qsm_ring_mine(const qsm_region *region, uint32_t level) {
    return ring_of(region, level, (uint32_t)region->my_index);
}

uint32_t qsm_ring_my_place(const qsm_region *region, uint32_t level) {
    uint64_t below = (uint64_t)region->my_index / qsm_ring_block_size(region, level);
    return (uint32_t)(below % region->rings.ring_size);
}

bool qsm_ring_takes_part(const qsm_region *region, uint32_t level) {
    return qsm_ring_member_at(region, level, qsm_ring_mine(region, level),
                              qsm_ring_my_place(region, level)) == region->my_index;
}

bool qsm_ring_leads(const qsm_region *region, uint32_t level) {
    return qsm_ring_leader_of(region, level, qsm_ring_mine(region, level)) == region->my_index;
}

uint32_t qsm_ring_alive_mask(const qsm_region *region, uint32_t level) {
    uint32_t mask = 0;
    for (uint32_t place = 0; place < region->rings.ring_size; place++)
        if (qsm_ring_member_at(region, level, qsm_ring_mine(region, level), place) >= 0)
            mask |= 1u << place;
    return mask;
}
