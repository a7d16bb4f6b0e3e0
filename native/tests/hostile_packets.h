/*
 * hostile_packets.h - packets that a member can make who has all keys: well-formed, with content
 * that is mostly near what the receiver would believe.
 */
#ifndef QSM_TESTS_HOSTILE_PACKETS_H
#define QSM_TESTS_HOSTILE_PACKETS_H

#include "../fuzz/fuzz_world.h"

/* The id of a region of the node, seldom of none. */
uint64_t hostile_region(fuzz_world *world, uint32_t node, uint64_t *seed);
/* Writes a packet from node `as` for node `to`, as long as QSM_DATAGRAM_BYTES_MAX; returns its
 * length and says its kind. */
uint32_t hostile_packet(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                        uint8_t *packet, uint8_t *kind);

#endif
