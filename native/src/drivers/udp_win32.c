/*
 * udp_win32.c - the driver's clock on Windows, and how its sockets are opened; see udp_system.h.
 * Knows nothing of the engine.
 */
#ifdef _WIN32
#include "drivers/udp_win32.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef SIO_UDP_CONNRESET
#define SIO_UDP_CONNRESET _WSAIOW(IOC_VENDOR, 12)
#endif

const char *udp_reason(int number, char text[UDP_REASON_BYTES]) {
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                  (DWORD)number, MAKELANGID(LANG_ENGLISH, SUBLANG_DEFAULT), text,
                                  UDP_REASON_BYTES, NULL);
    while (length > 0 && strchr("\r\n. ", text[length - 1]) != NULL)
        text[--length] = '\0';
    if (length == 0) snprintf(text, UDP_REASON_BYTES, "error %d", number);
    return text;
}

int udp_system_start(udp_error *error) {
    WSADATA data;
    int number = WSAStartup(MAKEWORD(2, 2), &data);
    char text[UDP_REASON_BYTES];
    if (number != 0)
        return udp_fail(error, QSM_ERR_SYSTEM, "Windows gives no sockets: %s.",
                        udp_reason(number, text));
    return QSM_OK;
}

void udp_system_stop(void) {
    WSACleanup();
}

uint64_t udp_clock_ns(void) {
    LARGE_INTEGER ticks, per_s;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_s);
    uint64_t now = (uint64_t)ticks.QuadPart, frequency = (uint64_t)per_s.QuadPart;
    /* In two parts, because ticks times a thousand million would not fit. */
    return now / frequency * 1000000000u + now % frequency * 1000000000u / frequency;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool set_int(SOCKET handle, int level, int option, DWORD value) {
    return setsockopt(handle, level, option, (const char *)&value, sizeof value) == 0;
}

static uint32_t size_buffer(SOCKET handle, int option, uint32_t wanted_bytes) {
    set_int(handle, SOL_SOCKET, option, wanted_bytes > INT_MAX ? INT_MAX : wanted_bytes);
    int given = 0, bytes = sizeof given;
    getsockopt(handle, SOL_SOCKET, option, (char *)&given, &bytes);
    return given > 0 ? (uint32_t)given : 0;
}

static int fail_socket(udp_error *error, int number) {
    char text[UDP_REASON_BYTES];
    return udp_fail(error, number == WSAEACCES ? QSM_ERR_PERMISSION : QSM_ERR_SYSTEM,
                    "The system refused a UDP socket: %s.", udp_reason(number, text));
}

static int fail_bind(udp_error *error, const qsm_address *address, int number) {
    char text[UDP_ADDRESS_TEXT_BYTES], why[UDP_REASON_BYTES];
    udp_address_text(address, false, text);
    switch (number) {
    /* Windows answers so where another program holds the port for itself alone. */
    case WSAEACCES:
    case WSAEADDRINUSE:
        return udp_fail(error, QSM_ERR_PORT_IN_USE,
                        "UDP port %u is in use by another program; stop that program or choose "
                        "another port.",
                        (unsigned)address->port);
    case WSAEADDRNOTAVAIL:
        return udp_fail(error, QSM_ERR_NO_INTERFACE,
                        "The address %s of the network interface cannot be used (yet).", text);
    default:
        return udp_fail(error, QSM_ERR_SYSTEM, "The address %s cannot be bound: %s.", text,
                        udp_reason(number, why));
    }
}

/* A socket with what both kinds have in common; INVALID_SOCKET: WSAGetLastError() says why not. */
static SOCKET open_socket(const udp_socket_options *options, udp_socket *opened) {
    bool ipv6 = options->address.family == QSM_FAMILY_IPV6;
    memset(opened, 0, sizeof *opened);
    opened->handle = -1;
    SOCKET handle = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    if (handle == INVALID_SOCKET) return INVALID_SOCKET;
    opened->handle = (int64_t)handle;
    u_long nonblocking = 1;
    ioctlsocket(handle, FIONBIO, &nonblocking);
    /* Otherwise each datagram to a closed port would make a later read fail. */
    BOOL report_reset = FALSE;
    DWORD ignored = 0;
    WSAIoctl(handle, SIO_UDP_CONNRESET, &report_reset, sizeof report_reset, NULL, 0, &ignored, NULL,
             NULL);
    if (ipv6) set_int(handle, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    return handle;
}

/* Windows obeys this option at the receiver, other systems at the sender: both sockets get it. */
static void allow_loop(SOCKET handle, bool ipv6) {
    set_int(handle, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
            ipv6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, 1);
}

static bool prepare_multicast_sending(SOCKET handle, const udp_interface *interface, bool ipv6) {
    allow_loop(handle, ipv6);
    if (ipv6)
        return set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_IF, interface->index) &&
               set_int(handle, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1);
    struct in_addr address;
    memcpy(&address, interface->addresses[0].bytes, sizeof address);
    return setsockopt(handle, IPPROTO_IP, IP_MULTICAST_IF, (const char *)&address,
                      sizeof address) == 0 &&
           set_int(handle, IPPROTO_IP, IP_MULTICAST_TTL, 1);
}

int udp_socket_open_unicast(udp_socket_options *options, udp_socket *opened, qsm_udp_info *info,
                            udp_error *error) {
    const udp_interface *interface = options->interface;
    SOCKET handle = open_socket(options, opened);
    if (handle == INVALID_SOCKET) return fail_socket(error, WSAGetLastError());
    int result = QSM_OK;
    udp_sockaddr name;
    int bytes = (int)udp_address_to_system(&options->address, interface->index, &name);
    set_int(handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1);
    if (bind(handle, &name.any, bytes) != 0) {
        result = fail_bind(error, &options->address, WSAGetLastError());
        goto failed;
    }
    bytes = sizeof name;
    if (getsockname(handle, &name.any, &bytes) != 0 ||
        !prepare_multicast_sending(handle, interface, options->address.family == QSM_FAMILY_IPV6)) {
        char text[UDP_REASON_BYTES];
        result = udp_fail(error, QSM_ERR_SYSTEM, "The UDP socket cannot be set up on %s: %s.",
                          interface->name, udp_reason(WSAGetLastError(), text));
        goto failed;
    }
    udp_address_from_system(&name, &options->address);
    info->send_buffer_bytes = size_buffer(handle, SO_SNDBUF, options->buffer_bytes);
    info->receive_buffer_bytes = size_buffer(handle, SO_RCVBUF, options->buffer_bytes);
    return QSM_OK;

failed:
    udp_socket_close(opened);
    return result;
}

int udp_socket_open_multicast(const udp_socket_options *options, udp_socket *opened,
                              udp_error *error) {
    bool ipv6 = options->address.family == QSM_FAMILY_IPV6;
    SOCKET handle = open_socket(options, opened);
    if (handle == INVALID_SOCKET) return fail_socket(error, WSAGetLastError());
    opened->multicast = true;
    qsm_address any = options->address;
    memset(any.bytes, 0, sizeof any.bytes);
    udp_sockaddr name;
    int bytes = (int)udp_address_to_system(&any, 0, &name);
    set_int(handle, SOL_SOCKET, SO_REUSEADDR, 1);
    allow_loop(handle, ipv6);
    int result = QSM_OK;
    if (!set_int(handle, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_PKTINFO : IP_PKTINFO, 1))
        result = fail_socket(error, WSAGetLastError());
    else if (bind(handle, &name.any, bytes) != 0)
        result = fail_bind(error, &any, WSAGetLastError());
    if (result != QSM_OK) {
        udp_socket_close(opened);
        return result;
    }
    size_buffer(handle, SO_RCVBUF, options->buffer_bytes);
    return QSM_OK;
}

void udp_socket_close(udp_socket *closed) {
    if (closed->handle >= 0) closesocket(udp_handle_of(closed));
    closed->handle = -1;
}
#endif
