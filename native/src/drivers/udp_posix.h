/*
 * udp_posix.h - what the files of the driver's sockets on Linux share: udp_posix.c opens and closes
 * them, udp_posix_groups.c is about multicast groups, udp_posix_traffic.c sends and receives.
 */
#ifndef QSM_DRIVERS_UDP_POSIX_H
#define QSM_DRIVERS_UDP_POSIX_H

#include <assert.h>
#include <limits.h>

#include "drivers/udp_system.h"

/* Of the kernel since 4.18, 5.0 and 4.20; the C library's headers may be older. */
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

static inline int udp_handle_of(const udp_socket *any) {
    assert(any->handle >= 0 && any->handle <= INT_MAX);
    return (int)any->handle;
}

#endif
