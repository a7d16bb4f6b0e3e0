/*
 * udp_win32.h - what the files of the driver on Windows share: udp_win32.c opens and closes
 * sockets, udp_win32_groups.c is about multicast groups, udp_win32_traffic.c sends and receives,
 * udp_win32_interface.c finds the interface that they are on.
 */
#ifndef QSM_DRIVERS_UDP_WIN32_H
#define QSM_DRIVERS_UDP_WIN32_H

#include <winsock2.h>
#include <ws2tcpip.h>
#include <mswsock.h>
#include <iphlpapi.h>
#include <windows.h>

#include <assert.h>

/* After those of Windows, for one of their macros; see there. */
#include "drivers/udp_address.h"
#include "drivers/udp_system.h"

#define UDP_REASON_BYTES 160

static inline SOCKET udp_handle_of(const udp_socket *any) {
    assert(any->handle >= 0);
    return (SOCKET)any->handle;
}

/* The system's words for an error, without the line end and full stop that it adds. */
const char *udp_reason(int number, char text[UDP_REASON_BYTES]);

#endif
