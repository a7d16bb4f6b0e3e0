/*
 * udp_win32_traffic.c - datagrams on Windows, read and sent one by one, without offload; see
 * udp_system.h.
 */
#ifdef _WIN32
#include "drivers/udp_win32.h"

#include <string.h>

#define CONTROL_BYTES (WSA_CMSG_SPACE(sizeof(struct in6_pktinfo)))
#define READ_ERRORS_MAX 4

/* ---- receiving ------------------------------------------------------------------------------- */

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
    SOCKET handle = udp_handle_of(reader);
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
                (WSAPOLLFD){.fd = udp_handle_of(&sockets[begin + index]), .events = POLLRDNORM};
        bool known = WSAPoll(asked, part, 0) >= 0;
        /* If the question cannot be answered, reading will. */
        for (uint32_t index = 0; index < part; index++)
            readable[begin + index] = !known || asked[index].revents != 0;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* False: the datagram has to wait. */
static bool send_one(udp_socket *sender, const udp_interface *interface,
                     const qsm_datagram *datagram, qsm_udp_info *info) {
    udp_sockaddr name;
    int name_bytes = (int)udp_address_to_system(&datagram->to, interface->index, &name);
    info->calls_out++;
    if (sendto(udp_handle_of(sender), (const char *)datagram->data, (int)datagram->bytes, 0,
               &name.any, name_bytes) >= 0) {
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
