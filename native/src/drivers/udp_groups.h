/*
 * udp_groups.h - the multicast groups that a driver receives, and the sockets that they are joined
 * on.
 *
 * A system limits how many groups one socket may join; here sockets are added as groups need them.
 */
#ifndef QSM_DRIVERS_UDP_GROUPS_H
#define QSM_DRIVERS_UDP_GROUPS_H

#include "drivers/udp_system.h"

typedef struct udp_membership {
    qsm_address group;
    uint32_t socket; /* index */
} udp_membership;

typedef struct udp_groups {
    udp_socket_options options;
    qsm_address own; /* what comes from there is not wanted; family NONE: not known yet */
    udp_socket *sockets;
    uint32_t socket_count, socket_capacity;
    udp_membership *memberships;
    uint32_t membership_count, membership_capacity;
    uint64_t generation; /* grows when sockets are opened or closed */
} udp_groups;

/* Opens the first socket and joins `first`. Results: those of opening and joining, and
 * QSM_ERR_NO_MEMORY. On failure nothing stays open. */
int udp_groups_open(udp_groups *groups, const udp_socket_options *options, const qsm_address *first,
                    udp_error *error);
void udp_groups_close(udp_groups *groups);

/* Tells the sockets, also those opened later, which address is this driver's own. */
void udp_groups_spare(udp_groups *groups, const qsm_address *own);

/* Joins what is wanted and leaves what is not. QSM_OK, or the result of the first that failed: the
 * others are joined nevertheless, and another call tries again. */
int udp_groups_set(udp_groups *groups, const qsm_address *wanted, uint32_t count);

/* Leaves all groups and joins them again, each at once. QSM_OK, or the result of the first that
 * failed, which udp_groups_set can try again. */
int udp_groups_renew(udp_groups *groups);

#endif
