/*
 * udp_driver.h - the inside of the UDP driver: udp_open.c makes it, udp_driver.c runs it.
 */
#ifndef QSM_DRIVERS_UDP_DRIVER_H
#define QSM_DRIVERS_UDP_DRIVER_H

#include "core/prng.h"
#include "drivers/udp_groups.h"
#include "drivers/udp_system.h"

struct qsm_udp {
    qsm_engine *engine;
    udp_interface interface;
    udp_socket unicast;
    udp_groups groups; /* no sockets: unicast only */
    uint32_t slot_count, slot_capacity;
    qsm_buffer *buffers[UDP_RECEIVE_MAX]; /* NULL: to be asked for when it is needed */
    udp_received received[UDP_RECEIVE_MAX];
    qsm_datagram datagrams[UDP_SEND_MAX];
    uint64_t subscriptions_seen; /* generation of the engine's list that was joined */
    uint64_t renewals_seen;
    uint64_t join_retry_ns; /* UINT64_MAX: everything is joined */
    qsm_prng faults;
    uint16_t drop_in_per_mille, drop_out_per_mille, drop_above_bytes;
    qsm_udp_info info;
};

#endif
