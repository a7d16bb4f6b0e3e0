/*
 * udp_win32.c - the driver's interface, sockets and clock on Windows; see udp_system.h.
 *
 * Datagram by datagram, without offload. Knows nothing of the engine.
 */
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#include <mswsock.h>
#include <iphlpapi.h>
#include <windows.h>

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/udp_address.h"
#include "drivers/udp_system.h"

#ifndef SIO_UDP_CONNRESET
#define SIO_UDP_CONNRESET _WSAIOW(IOC_VENDOR, 12)
#endif

#define ADDRESSES_MAX (sizeof((udp_interface *)0)->addresses / sizeof(qsm_address))
#define REASON_BYTES 160
#define ADAPTERS_BYTES (64u << 10)
#define CONTROL_BYTES (WSA_CMSG_SPACE(sizeof(struct in6_pktinfo)))
#define MTU_BYTES_LEAST 1280u
#define READ_ERRORS_MAX 4

static SOCKET handle_of(const udp_socket *any) {
    assert(any->handle >= 0);
    return (SOCKET)any->handle;
}

/* The system's words for an error, without the line end and full stop that it adds. */
static const char *reason(int number, char text[REASON_BYTES]) {
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                  (DWORD)number, MAKELANGID(LANG_ENGLISH, SUBLANG_DEFAULT), text,
                                  REASON_BYTES, NULL);
    while (length > 0 && strchr("\r\n. ", text[length - 1]) != NULL)
        text[--length] = '\0';
    if (length == 0) snprintf(text, REASON_BYTES, "error %d", number);
    return text;
}

int udp_system_start(udp_error *error) {
    WSADATA data;
    int number = WSAStartup(MAKEWORD(2, 2), &data);
    char text[REASON_BYTES];
    if (number != 0)
        return udp_fail(error, QSM_ERR_SYSTEM, "Windows gives no sockets: %s.",
                        reason(number, text));
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

/* ---- the interface ---- */

static bool address_of(const SOCKET_ADDRESS *entry, uint8_t family, qsm_address *address) {
    udp_sockaddr copy;
    memset(&copy, 0, sizeof copy);
    if (entry->lpSockaddr == NULL || entry->iSockaddrLength > (int)sizeof copy) return false;
    memcpy(&copy, entry->lpSockaddr, (size_t)entry->iSockaddrLength);
    if (!udp_address_from_system(&copy, address) || address->family != family) return false;
    address->port = 0;
    return true;
}

static bool has_address(const IP_ADAPTER_ADDRESSES *adapter, const qsm_address *wanted) {
    qsm_address found;
    const IP_ADAPTER_UNICAST_ADDRESS *entry = adapter->FirstUnicastAddress;
    for (; entry != NULL; entry = entry->Next)
        if (address_of(&entry->Address, wanted->family, &found) &&
            udp_address_equal(&found, wanted))
            return true;
    return false;
}

static bool has_family(const IP_ADAPTER_ADDRESSES *adapter, uint8_t family) {
    qsm_address found;
    const IP_ADAPTER_UNICAST_ADDRESS *entry = adapter->FirstUnicastAddress;
    for (; entry != NULL; entry = entry->Next)
        if (address_of(&entry->Address, family, &found)) return true;
    return false;
}

static bool is_candidate(const IP_ADAPTER_ADDRESSES *adapter) {
    return adapter->OperStatus == IfOperStatusUp && !(adapter->Flags & IP_ADAPTER_NO_MULTICAST) &&
           adapter->IfType != IF_TYPE_SOFTWARE_LOOPBACK;
}

/* The name that people see, in UTF-8. */
static void name_of(const IP_ADAPTER_ADDRESSES *adapter, char *name, int bytes) {
    name[0] = '\0';
    if (adapter->FriendlyName != NULL)
        WideCharToMultiByte(CP_UTF8, 0, adapter->FriendlyName, -1, name, bytes, NULL, NULL);
    name[bytes - 1] = '\0';
    if (name[0] == '\0') snprintf(name, (size_t)bytes, "%s", adapter->AdapterName);
}

/* The address from which the system would send to the group. No datagram is sent for it. */
static bool system_choice(const qsm_address *group, qsm_address *address) {
    udp_sockaddr name;
    int bytes = (int)udp_address_to_system(group, 0, &name);
    SOCKET handle = socket(name.any.sa_family, SOCK_DGRAM, 0);
    if (handle == INVALID_SOCKET) return false;
    bool known = connect(handle, &name.any, bytes) == 0;
    bytes = sizeof name;
    known = known && getsockname(handle, &name.any, &bytes) == 0;
    closesocket(handle);
    if (!known || !udp_address_from_system(&name, address)) return false;
    address->port = 0;
    return true;
}

static const IP_ADAPTER_ADDRESSES *find_default(const IP_ADAPTER_ADDRESSES *list,
                                                const qsm_address *group) {
    const IP_ADAPTER_ADDRESSES *adapter;
    qsm_address address;
    if (system_choice(group, &address))
        for (adapter = list; adapter != NULL; adapter = adapter->Next)
            if (is_candidate(adapter) && has_address(adapter, &address)) return adapter;
    for (adapter = list; adapter != NULL; adapter = adapter->Next)
        if (is_candidate(adapter) && has_family(adapter, group->family)) return adapter;
    for (adapter = list; adapter != NULL; adapter = adapter->Next)
        if (adapter->IfType == IF_TYPE_SOFTWARE_LOOPBACK) return adapter;
    return NULL;
}

static const IP_ADAPTER_ADDRESSES *find_named(const IP_ADAPTER_ADDRESSES *list, const char *wanted,
                                              const qsm_address *address) {
    char name[64];
    for (; list != NULL; list = list->Next) {
        if (address != NULL && has_address(list, address)) return list;
        name_of(list, name, sizeof name);
        if (address == NULL &&
            (strcmp(name, wanted) == 0 || strcmp(list->AdapterName, wanted) == 0))
            return list;
    }
    return NULL;
}

/* Addresses that others can use without knowing the link come first, those of the link after. */
static void collect_addresses(const IP_ADAPTER_ADDRESSES *adapter, uint8_t family,
                              udp_interface *found) {
    for (int link_local = 0; link_local <= 1; link_local++) {
        const IP_ADAPTER_UNICAST_ADDRESS *entry = adapter->FirstUnicastAddress;
        for (; entry != NULL && found->address_count < ADDRESSES_MAX; entry = entry->Next) {
            qsm_address address;
            if (!address_of(&entry->Address, family, &address)) continue;
            if (udp_address_is_link_local(&address) != (link_local != 0)) continue;
            found->addresses[found->address_count++] = address;
        }
    }
}

static int describe(const IP_ADAPTER_ADDRESSES *adapter, const qsm_address *only, uint8_t family,
                    udp_interface *found, udp_error *error) {
    bool ipv6 = family == QSM_FAMILY_IPV6;
    memset(found, 0, sizeof *found);
    name_of(adapter, found->name, sizeof found->name);
    if (adapter->OperStatus != IfOperStatusUp)
        return udp_fail(error, QSM_ERR_NO_INTERFACE,
                        "The network interface %s is down; bring it up or choose another.",
                        found->name);
    found->index = ipv6 ? adapter->Ipv6IfIndex : adapter->IfIndex;
    found->loopback = adapter->IfType == IF_TYPE_SOFTWARE_LOOPBACK;
    found->multicast = !(adapter->Flags & IP_ADAPTER_NO_MULTICAST);
    found->mtu_bytes = adapter->Mtu;
    /* Loopback tells that it has no limit. */
    if (found->mtu_bytes > INT_MAX) found->mtu_bytes = INT_MAX;
    if (found->mtu_bytes == 0) found->mtu_bytes = MTU_BYTES_LEAST;
    if (only != NULL)
        found->addresses[found->address_count++] = *only;
    else
        collect_addresses(adapter, family, found);
    if (found->address_count == 0)
        return udp_fail(
            error, QSM_ERR_NO_INTERFACE,
            "The network interface %s has no %s address; give it one or choose another.",
            found->name, ipv6 ? "IPv6" : "IPv4");
    return QSM_OK;
}

static int choose(const IP_ADAPTER_ADDRESSES *list, const char *wanted, const qsm_address *group,
                  udp_interface *found, udp_error *error) {
    const IP_ADAPTER_ADDRESSES *chosen;
    qsm_address address;
    if (wanted[0] == '\0') {
        chosen = find_default(list, group);
        if (chosen == NULL)
            return udp_fail(error, QSM_ERR_NO_INTERFACE,
                            "No network interface is up, not even loopback.");
        return describe(chosen, NULL, group->family, found, error);
    }
    if (!udp_address_parse(wanted, &address)) {
        chosen = find_named(list, wanted, NULL);
        if (chosen == NULL)
            return udp_fail(error, QSM_ERR_NO_INTERFACE, "There is no network interface named %s.",
                            wanted);
        return describe(chosen, NULL, group->family, found, error);
    }
    if (address.family != group->family)
        return udp_fail(error, QSM_ERR_ARGUMENT,
                        "The interface is given by the address %s, but %s was asked for.", wanted,
                        group->family == QSM_FAMILY_IPV6 ? "IPv6" : "IPv4");
    chosen = find_named(list, wanted, &address);
    if (chosen == NULL)
        return udp_fail(error, QSM_ERR_NO_INTERFACE, "No network interface has the address %s.",
                        wanted);
    return describe(chosen, &address, group->family, found, error);
}

int udp_interface_find(const char *wanted, const qsm_address *group, udp_interface *found,
                       udp_error *error) {
    ULONG bytes = ADAPTERS_BYTES, number = ERROR_BUFFER_OVERFLOW;
    IP_ADAPTER_ADDRESSES *list = NULL;
    /* Adapters may come between the question for the size and the one for the list. */
    for (int attempt = 0; attempt < 4 && number == ERROR_BUFFER_OVERFLOW; attempt++) {
        free(list);
        list = malloc(bytes);
        if (list == NULL)
            return udp_fail(error, QSM_ERR_NO_MEMORY, "%s", qsm_error_text(QSM_ERR_NO_MEMORY));
        number = GetAdaptersAddresses(
            AF_UNSPEC, GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER,
            NULL, list, &bytes);
    }
    char text[REASON_BYTES];
    int result = number == NO_ERROR ? choose(list, wanted, group, found, error)
                                    : udp_fail(error, QSM_ERR_SYSTEM,
                                               "The network interfaces cannot be listed: %s.",
                                               reason((int)number, text));
    free(list);
    return result;
}

/* ---- opening ---- */

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
    char text[REASON_BYTES];
    return udp_fail(error, number == WSAEACCES ? QSM_ERR_PERMISSION : QSM_ERR_SYSTEM,
                    "The system refused a UDP socket: %s.", reason(number, text));
}

static int fail_bind(udp_error *error, const qsm_address *address, int number) {
    char text[UDP_ADDRESS_TEXT_BYTES], why[REASON_BYTES];
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
                        reason(number, why));
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
        char text[REASON_BYTES];
        result = udp_fail(error, QSM_ERR_SYSTEM, "The UDP socket cannot be set up on %s: %s.",
                          interface->name, reason(WSAGetLastError(), text));
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
    if (closed->handle >= 0) closesocket(handle_of(closed));
    closed->handle = -1;
}

/* ---- groups ---- */

static bool change_membership(udp_socket *member, const udp_interface *interface,
                              const qsm_address *group, bool join) {
    SOCKET handle = handle_of(member);
    if (group->family == QSM_FAMILY_IPV6) {
        struct ipv6_mreq request;
        memcpy(&request.ipv6mr_multiaddr, group->bytes, 16);
        request.ipv6mr_interface = interface->index;
        return setsockopt(handle, IPPROTO_IPV6, join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP,
                          (const char *)&request, sizeof request) == 0;
    }
    struct ip_mreq request;
    memcpy(&request.imr_multiaddr, group->bytes, 4);
    memcpy(&request.imr_interface, interface->addresses[0].bytes, 4);
    return setsockopt(handle, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
                      (const char *)&request, sizeof request) == 0;
}

int udp_socket_join(udp_socket *member, const udp_interface *interface, const qsm_address *group,
                    udp_error *error) {
    assert(member->multicast);
    if (change_membership(member, interface, group, true)) {
        member->membership_count++;
        return QSM_OK;
    }
    int number = WSAGetLastError();
    /* Which error says that a socket has too many groups is not told: an empty one decides. */
    if (member->membership_count > 0) return QSM_ERR_FULL;
    char text[UDP_ADDRESS_TEXT_BYTES], why[REASON_BYTES];
    udp_address_text(group, false, text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be joined on the network interface %s: %s.",
                    text, interface->name, reason(number, why));
}

void udp_socket_leave(udp_socket *member, const udp_interface *interface,
                      const qsm_address *group) {
    assert(member->membership_count > 0);
    /* It can fail only when the interface has gone, and with it the membership. */
    (void)change_membership(member, interface, group, false);
    member->membership_count--;
}

void udp_socket_spare(udp_socket *reader, const qsm_address *own) {
    (void)reader; /* the driver ignores them as they come */
    (void)own;
}

int udp_socket_probe(udp_socket *sender, const udp_interface *interface, const qsm_address *group,
                     udp_error *error) {
    udp_sockaddr name;
    int bytes = (int)udp_address_to_system(group, interface->index, &name);
    if (sendto(handle_of(sender), "", 0, 0, &name.any, bytes) >= 0) return QSM_OK;
    int number = WSAGetLastError();
    char text[UDP_ADDRESS_TEXT_BYTES], why[REASON_BYTES];
    udp_address_text(group, false, text);
    if (number == WSAEACCES)
        return udp_fail(error, QSM_ERR_PERMISSION,
                        "The system does not permit sending to the multicast group %s.", text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be reached over the network interface %s: %s.",
                    text, interface->name, reason(number, why));
}

/* ---- receiving ---- */

/* Windows gives WSARecvMsg, which tells the destination, only by asking a socket for it. */
static LPFN_WSARECVMSG receive_function(SOCKET handle) {
    static LPFN_WSARECVMSG known;
    GUID id = WSAID_WSARECVMSG;
    DWORD bytes = 0;
    if (known == NULL && WSAIoctl(handle, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id,
                                  &known, sizeof known, &bytes, NULL, NULL) != 0)
        known = NULL;
    return known;
}

static bool meant_for(const udp_interface *interface, WSAMSG *header) {
    for (WSACMSGHDR *part = WSA_CMSG_FIRSTHDR(header); part; part = WSA_CMSG_NXTHDR(header, part)) {
        const void *data = WSA_CMSG_DATA(part);
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo at;
            memcpy(&at, data, sizeof at);
            return (ntohl(at.ipi_addr.s_addr) >> 28) == 0xe && at.ipi_ifindex == interface->index;
        }
        if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo at;
            memcpy(&at, data, sizeof at);
            return at.ipi6_addr.s6_addr[0] == 0xff && at.ipi6_ifindex == interface->index;
        }
    }
    return false;
}

/* Reads one datagram; 0, or the number of the error. */
static int read_one(udp_socket *reader, const udp_interface *interface, udp_received *received) {
    SOCKET handle = handle_of(reader);
    _Alignas(WSACMSGHDR) char control[CONTROL_BYTES];
    udp_sockaddr name;
    WSABUF piece = {received->capacity, (char *)received->data};
    DWORD bytes = 0, flags = 0;
    int failed, name_bytes = sizeof name;
    bool meant = true;
    memset(&name, 0, sizeof name);
    LPFN_WSARECVMSG receive = reader->multicast ? receive_function(handle) : NULL;
    if (receive != NULL) {
        WSAMSG header = {.name = &name.any,
                         .namelen = sizeof name,
                         .lpBuffers = &piece,
                         .dwBufferCount = 1,
                         .Control = {sizeof control, control}};
        failed = receive(handle, &header, &bytes, NULL, NULL);
        meant = failed != 0 || meant_for(interface, &header);
    } else {
        failed = WSARecvFrom(handle, &piece, 1, &bytes, &flags, &name.any, &name_bytes, NULL, NULL);
    }
    int number = failed != 0 ? WSAGetLastError() : 0;
    /* Longer than any datagram of ours: the engine counts and refuses it. */
    if (number == WSAEMSGSIZE) bytes = received->capacity;
    if (number != 0 && number != WSAEMSGSIZE) return number;
    received->bytes = meant && udp_address_from_system(&name, &received->from) ? bytes : 0;
    received->segment_bytes = 0;
    return 0;
}

uint32_t udp_socket_receive(udp_socket *reader, const udp_interface *interface,
                            udp_received *received, uint32_t count, qsm_udp_info *info) {
    uint32_t read = 0;
    for (int errors = 0; read < count && errors < READ_ERRORS_MAX;) {
        info->calls_in++;
        int number = read_one(reader, interface, &received[read]);
        if (number == WSAEWOULDBLOCK) break;
        /* Others report what became of an earlier send; the datagrams are behind them. */
        if (number != 0)
            errors++;
        else
            read++;
    }
    return read;
}

void udp_sockets_readable(const udp_socket *sockets, uint32_t count, bool *readable) {
    WSAPOLLFD asked[64];
    for (uint32_t begin = 0; begin < count; begin += 64) {
        uint32_t part = count - begin < 64 ? count - begin : 64;
        for (uint32_t index = 0; index < part; index++)
            asked[index] =
                (WSAPOLLFD){.fd = handle_of(&sockets[begin + index]), .events = POLLRDNORM};
        bool known = WSAPoll(asked, part, 0) >= 0;
        /* If the question cannot be answered, reading will. */
        for (uint32_t index = 0; index < part; index++)
            readable[begin + index] = !known || asked[index].revents != 0;
    }
}

/* ---- sending ---- */

/* False: the datagram has to wait. */
static bool send_one(udp_socket *sender, const udp_interface *interface,
                     const qsm_datagram *datagram, qsm_udp_info *info) {
    udp_sockaddr name;
    int name_bytes = (int)udp_address_to_system(&datagram->to, interface->index, &name);
    info->calls_out++;
    if (sendto(handle_of(sender), (const char *)datagram->data, (int)datagram->bytes, 0, &name.any,
               name_bytes) >= 0) {
        info->datagrams_out++;
        return true;
    }
    if (WSAGetLastError() == WSAEWOULDBLOCK) {
        sender->blocked = true;
        return false;
    }
    info->send_errors++;
    return true;
}

uint32_t udp_socket_send(udp_socket *sender, const udp_interface *interface,
                         const qsm_datagram *datagrams, uint32_t count, qsm_udp_info *info) {
    uint32_t done = 0;
    sender->blocked = false;
    while (done < count && send_one(sender, interface, &datagrams[done], info))
        done++;
    return done;
}
#endif
