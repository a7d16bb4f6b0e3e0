/*
 * udp_posix.c - the driver's clock on Linux, and how its sockets are opened; see udp_system.h.
 * Knows nothing of the engine.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "drivers/udp_address.h"
#include "drivers/udp_posix.h"

/* What a device's queue holds by default (1000 packets) is more than this. With a larger buffer the
 * device would drop what is too much, silently; with this the socket says that it is full. */
#define SEND_BUFFER_BYTES_MAX (1u << 20)

int udp_system_start(udp_error *error) {
    (void)error;
    return QSM_OK;
}

void udp_system_stop(void) {}

uint64_t udp_clock_ns(void) {
    struct timespec now;
    int result = clock_gettime(CLOCK_MONOTONIC, &now);
    assert(result == 0);
    (void)result;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool set_int(int handle, int level, int option, int value) {
    return setsockopt(handle, level, option, &value, sizeof value) == 0;
}

/* Asks with the privilege to pass the system's limit, then without. The kernel counts its own
 * book-keeping in and doubles what is asked for; the answer is in the unit of the question. */
static uint32_t size_buffer(int handle, int force_option, int option, uint32_t wanted_bytes) {
    int wanted = wanted_bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)wanted_bytes;
    if (!set_int(handle, SOL_SOCKET, force_option, wanted))
        set_int(handle, SOL_SOCKET, option, wanted);
    int given = 0;
    socklen_t bytes = sizeof given;
    getsockopt(handle, SOL_SOCKET, option, &given, &bytes);
    return (uint32_t)given / 2;
}

static int fail_socket(udp_error *error, int number) {
    int result = number == EACCES || number == EPERM ? QSM_ERR_PERMISSION : QSM_ERR_SYSTEM;
    return udp_fail(error, result, "The system refused a UDP socket: %s.", strerror(number));
}

static int fail_bind(udp_error *error, const qsm_address *address, int number) {
    char text[UDP_ADDRESS_TEXT_BYTES];
    udp_address_text(address, false, text);
    switch (number) {
    case EADDRINUSE:
        return udp_fail(error, QSM_ERR_PORT_IN_USE,
                        "UDP port %u is in use by another program; stop that program or choose "
                        "another port.",
                        (unsigned)address->port);
    case EACCES:
    case EPERM:
        return udp_fail(error, QSM_ERR_PERMISSION,
                        "The system does not permit UDP port %u; choose one above 1023.",
                        (unsigned)address->port);
    case EADDRNOTAVAIL:
    case ENODEV:
        return udp_fail(error, QSM_ERR_NO_INTERFACE,
                        "The address %s of the network interface cannot be used (yet).", text);
    default:
        return udp_fail(error, QSM_ERR_SYSTEM, "The address %s cannot be bound: %s.", text,
                        strerror(number));
    }
}

/* A socket with what both kinds have in common; its handle, or -1 with errno. */
static int open_socket(const udp_socket_options *options, udp_socket *opened) {
    bool ipv6 = options->address.family == QSM_FAMILY_IPV6;
    int handle = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (handle < 0) return -1;
    memset(opened, 0, sizeof *opened);
    opened->handle = handle;
    /* Both kinds of address on one socket would give one peer two addresses. */
    if (ipv6) set_int(handle, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set_int(handle, SOL_SOCKET, SO_RXQ_OVFL, 1);
    opened->receive_offload = options->offload && set_int(handle, IPPROTO_UDP, UDP_GRO, 1);
    return handle;
}

/* Over which interface and how far multicast goes; copies for other programs on this machine. */
static bool prepare_multicast_sending(int handle, const udp_interface *interface, bool ipv6) {
    int index = (int)interface->index;
    if (ipv6)
        return set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_IF, index) &&
               set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1) &&
               set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
    struct ip_mreqn request;
    memset(&request, 0, sizeof request);
    request.imr_ifindex = index;
    return setsockopt(handle, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) == 0 &&
           set_int(handle, IPPROTO_IP, IP_MULTICAST_TTL, 1) &&
           set_int(handle, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
}

int udp_socket_open_unicast(udp_socket_options *options, udp_socket *opened, qsm_udp_info *info,
                            udp_error *error) {
    const udp_interface *interface = options->interface;
    bool ipv6 = options->address.family == QSM_FAMILY_IPV6;
    int handle = open_socket(options, opened);
    if (handle < 0) return fail_socket(error, errno);
    int result = QSM_OK;
    udp_sockaddr name;
    socklen_t bytes = udp_address_to_system(&options->address, interface->index, &name);
    /* Without SO_REUSEADDR: with it a second program could take the port, and half of the
     * datagrams. */
    if (bind(handle, &name.any, bytes) != 0) {
        result = fail_bind(error, &options->address, errno);
        goto failed;
    }
    bytes = sizeof name;
    if (getsockname(handle, &name.any, &bytes) != 0 ||
        !prepare_multicast_sending(handle, interface, ipv6)) {
        result = udp_fail(error, QSM_ERR_SYSTEM, "The UDP socket cannot be set up on %s: %s.",
                          interface->name, strerror(errno));
        goto failed;
    }
    udp_address_from_system(&name, &options->address);
    opened->segmentation_offload = options->offload && set_int(handle, IPPROTO_UDP, UDP_SEGMENT, 0);
    uint32_t send_bytes = options->buffer_bytes;
    if (send_bytes > SEND_BUFFER_BYTES_MAX) send_bytes = SEND_BUFFER_BYTES_MAX;
    info->send_buffer_bytes = size_buffer(handle, SO_SNDBUFFORCE, SO_SNDBUF, send_bytes);
    info->receive_buffer_bytes =
        size_buffer(handle, SO_RCVBUFFORCE, SO_RCVBUF, options->buffer_bytes);
    return QSM_OK;

failed:
    udp_socket_close(opened);
    return result;
}

int udp_socket_open_multicast(const udp_socket_options *options, udp_socket *opened,
                              udp_error *error) {
    bool ipv6 = options->address.family == QSM_FAMILY_IPV6;
    int handle = open_socket(options, opened);
    if (handle < 0) return fail_socket(error, errno);
    opened->multicast = true;
    qsm_address any = options->address;
    memset(any.bytes, 0, sizeof any.bytes);
    udp_sockaddr name;
    socklen_t bytes = udp_address_to_system(&any, 0, &name);
    /* All programs that have the port get all multicast to it. Without the next option this socket
     * would get also what is sent to groups that only other programs have joined. The destination
     * is asked for because unicast and other interfaces are not held back by it. */
    bool prepared = set_int(handle, SOL_SOCKET, SO_REUSEADDR, 1);
    if (ipv6)
        prepared = prepared && set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0) &&
                   set_int(handle, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    else
        prepared = prepared && set_int(handle, IPPROTO_IP, IP_MULTICAST_ALL, 0) &&
                   set_int(handle, IPPROTO_IP, IP_PKTINFO, 1);
    int result = QSM_OK;
    if (!prepared)
        result = fail_socket(error, errno);
    else if (bind(handle, &name.any, bytes) != 0)
        result = fail_bind(error, &any, errno);
    if (result != QSM_OK) {
        udp_socket_close(opened);
        return result;
    }
    size_buffer(handle, SO_RCVBUFFORCE, SO_RCVBUF, options->buffer_bytes);
    return QSM_OK;
}

void udp_socket_close(udp_socket *closed) {
    if (closed->handle >= 0) close(udp_handle_of(closed));
    closed->handle = -1;
}
#endif
