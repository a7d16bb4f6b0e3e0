/*
 * udp_posix.c - the driver's sockets and clock on Linux; see udp_system.h.
 *
 * Batches (recvmmsg, sendmmsg), segmentation and receive offload are here and nowhere else. Knows
 * nothing of the engine.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#endif

#include "drivers/udp_address.h"
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

/* The kernel's own bounds of one segmented send, the second a little below it. */
#define SEGMENTS_MAX 64
#define SEGMENT_BYTES_MAX 65000

/* What a device's queue holds by default (1000 packets) is more than this. With a larger buffer the
 * device would drop what is too much, silently; with this the socket says that it is full. */
#define SEND_BUFFER_BYTES_MAX (1u << 20)

/* One control message each: drops, segment size, destination. */
#define CONTROL_BYTES                                                                              \
    (CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int)) +                                      \
     CMSG_SPACE(sizeof(struct in6_pktinfo)))

static int handle_of(const udp_socket *any) {
    assert(any->handle >= 0 && any->handle <= INT_MAX);
    return (int)any->handle;
}

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

/* ---- opening ---- */

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
    if (closed->handle >= 0) close(handle_of(closed));
    closed->handle = -1;
}

/* ---- groups ---- */

static bool change_membership(udp_socket *member, const udp_interface *interface,
                              const qsm_address *group, int option) {
    struct group_req request;
    udp_sockaddr name;
    memset(&request, 0, sizeof request);
    uint32_t bytes = udp_address_to_system(group, interface->index, &name);
    request.gr_interface = interface->index;
    memcpy(&request.gr_group, &name, bytes);
    int level = group->family == QSM_FAMILY_IPV6 ? IPPROTO_IPV6 : IPPROTO_IP;
    return setsockopt(handle_of(member), level, option, &request, sizeof request) == 0;
}

int udp_socket_join(udp_socket *member, const udp_interface *interface, const qsm_address *group,
                    udp_error *error) {
    assert(member->multicast);
    if (change_membership(member, interface, group, MCAST_JOIN_GROUP)) {
        member->membership_count++;
        return QSM_OK;
    }
    int number = errno;
    /* Too many memberships, or too much memory for them; there would be room on another socket. */
    if ((number == ENOBUFS || number == ENOMEM) && member->membership_count > 0)
        return QSM_ERR_FULL;
    char text[UDP_ADDRESS_TEXT_BYTES];
    udp_address_text(group, false, text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be joined on the network interface %s: %s.",
                    text, interface->name, strerror(number));
}

void udp_socket_leave(udp_socket *member, const udp_interface *interface,
                      const qsm_address *group) {
    assert(member->membership_count > 0);
    /* It can fail only when the interface has gone, and with it the membership. */
    (void)change_membership(member, interface, group, MCAST_LEAVE_GROUP);
    member->membership_count--;
}

#ifdef __linux__
/* A datagram from the own address is cut down to its UDP header before it is queued; it is not
 * refused, because the system would count it among the drops. */
void udp_socket_spare(udp_socket *reader, const qsm_address *own) {
    enum { PORT = 0, SOURCE_4 = 12, SOURCE_6 = 8, UDP_HEADER = 8 };
    bool ipv6 = own->family == QSM_FAMILY_IPV6;
    uint32_t words = ipv6 ? 4 : 1, count = 0;
    struct sock_filter code[2 + 2 * 4 + 2];
    code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_H | BPF_ABS, PORT);
    code[count++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own->port, 0, 2 * words + 1);
    for (uint32_t word = 0; word < words; word++) {
        const uint8_t *at = own->bytes + 4 * word;
        uint32_t value =
            (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        uint32_t offset = (uint32_t)SKF_NET_OFF + (ipv6 ? SOURCE_6 : SOURCE_4) + 4 * word;
        uint32_t left = 2 * (words - word - 1) + 1;
        code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
        code[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)left);
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UDP_HEADER);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
    setsockopt(handle_of(reader), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
#else
void udp_socket_spare(udp_socket *reader, const qsm_address *own) {
    (void)reader;
    (void)own;
}
#endif

int udp_socket_probe(udp_socket *sender, const udp_interface *interface, const qsm_address *group,
                     udp_error *error) {
    udp_sockaddr name;
    socklen_t bytes = udp_address_to_system(group, interface->index, &name);
    for (int attempt = 0; attempt < 4; attempt++) {
        if (sendto(handle_of(sender), "", 0, 0, &name.any, bytes) >= 0) return QSM_OK;
        if (errno != EINTR) break;
    }
    int number = errno;
    char text[UDP_ADDRESS_TEXT_BYTES];
    udp_address_text(group, false, text);
    if (number == EPERM || number == EACCES)
        return udp_fail(error, QSM_ERR_PERMISSION,
                        "The system does not permit sending to the multicast group %s.", text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be reached over the network interface %s: %s.",
                    text, interface->name, strerror(number));
}

/* ---- receiving ---- */

/* Reads the control messages of one datagram or run. False: it was not meant for this socket. */
static bool read_control(udp_socket *reader, const udp_interface *interface, struct msghdr *header,
                         udp_received *received, qsm_udp_info *info) {
    bool meant = !reader->multicast;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        const void *data = CMSG_DATA(part);
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_RXQ_OVFL) {
            uint32_t drops;
            memcpy(&drops, data, sizeof drops);
            info->kernel_drops += (uint32_t)(drops - reader->drops_seen);
            reader->drops_seen = drops;
        } else if (part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_GRO) {
            int segment_bytes;
            memcpy(&segment_bytes, data, sizeof segment_bytes);
            if (segment_bytes > 0 && (uint32_t)segment_bytes < received->bytes)
                received->segment_bytes = (uint32_t)segment_bytes;
        } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo at;
            memcpy(&at, data, sizeof at);
            meant = IN_MULTICAST(ntohl(at.ipi_addr.s_addr)) &&
                    (uint32_t)at.ipi_ifindex == interface->index;
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo at;
            memcpy(&at, data, sizeof at);
            meant = IN6_IS_ADDR_MULTICAST(&at.ipi6_addr) && at.ipi6_ifindex == interface->index;
        }
    }
    return meant;
}

uint32_t udp_socket_receive(udp_socket *reader, const udp_interface *interface,
                            udp_received *received, uint32_t count, qsm_udp_info *info) {
    struct mmsghdr messages[UDP_RECEIVE_MAX];
    struct iovec pieces[UDP_RECEIVE_MAX];
    udp_sockaddr names[UDP_RECEIVE_MAX];
    _Alignas(struct cmsghdr) uint8_t controls[UDP_RECEIVE_MAX][CONTROL_BYTES];
    assert(count > 0 && count <= UDP_RECEIVE_MAX);
    for (uint32_t index = 0; index < count; index++) {
        pieces[index] = (struct iovec){received[index].data, received[index].capacity};
        messages[index].msg_hdr = (struct msghdr){.msg_name = &names[index],
                                                  .msg_namelen = sizeof names[index],
                                                  .msg_iov = &pieces[index],
                                                  .msg_iovlen = 1,
                                                  .msg_control = controls[index],
                                                  .msg_controllen = sizeof controls[index]};
    }
    int read = -1;
    /* An error of an earlier send may be reported here, once; the datagrams are behind it. */
    for (int attempt = 0; attempt < 4 && read < 0; attempt++) {
        info->calls_in++;
        read = recvmmsg(handle_of(reader), messages, count, MSG_DONTWAIT, NULL);
        if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    }
    for (int index = 0; index < read; index++) {
        udp_received *one = &received[index];
        one->bytes = messages[index].msg_len;
        one->segment_bytes = 0;
        if (!read_control(reader, interface, &messages[index].msg_hdr, one, info) ||
            !udp_address_from_system(&names[index], &one->from))
            one->bytes = 0;
    }
    return read > 0 ? (uint32_t)read : 0;
}

void udp_sockets_readable(const udp_socket *sockets, uint32_t count, bool *readable) {
    struct pollfd asked[64];
    for (uint32_t begin = 0; begin < count; begin += 64) {
        uint32_t part = count - begin < 64 ? count - begin : 64;
        for (uint32_t index = 0; index < part; index++)
            asked[index] =
                (struct pollfd){.fd = handle_of(&sockets[begin + index]), .events = POLLIN};
        bool known = poll(asked, part, 0) >= 0;
        /* If the question cannot be answered, reading will. */
        for (uint32_t index = 0; index < part; index++)
            readable[begin + index] = !known || asked[index].revents != 0;
    }
}

/* ---- sending ---- */

/* What one sendmmsg takes: messages of one datagram each, or of several to be segmented. */
typedef struct batch {
    struct mmsghdr messages[UDP_SEND_MAX];
    struct iovec pieces[UDP_SEND_MAX];
    udp_sockaddr names[UDP_SEND_MAX];
    _Alignas(struct cmsghdr) uint8_t controls[UDP_SEND_MAX][CMSG_SPACE(sizeof(uint16_t))];
    uint32_t message_count;
} batch;

/* How many datagrams, from the first on, can go in one segmented send: to one destination, of one
 * size, the last perhaps shorter. */
static uint32_t run_length(const qsm_datagram *datagrams, uint32_t count) {
    uint32_t bytes = datagrams[0].bytes, length = 1;
    uint32_t limit = count < SEGMENTS_MAX ? count : SEGMENTS_MAX;
    for (; length < limit; length++) {
        const qsm_datagram *next = &datagrams[length];
        if (next->bytes > datagrams[0].bytes || bytes + next->bytes > SEGMENT_BYTES_MAX ||
            next->bytes == 0 || !udp_address_equal(&next->to, &datagrams[0].to))
            break;
        bytes += next->bytes;
        if (next->bytes < datagrams[0].bytes) return length + 1;
    }
    return length;
}

static void ask_for_segments(struct msghdr *header, uint8_t *control, size_t control_bytes,
                             uint16_t segment_bytes) {
    memset(control, 0, control_bytes);
    header->msg_control = control;
    header->msg_controllen = control_bytes;
    struct cmsghdr *part = CMSG_FIRSTHDR(header);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(sizeof segment_bytes);
    memcpy(CMSG_DATA(part), &segment_bytes, sizeof segment_bytes);
}

static void pack(batch *packed, const udp_socket *sender, const udp_interface *interface,
                 const qsm_datagram *datagrams, uint32_t count) {
    bool more = count == UDP_SEND_MAX; /* likely: as much as could be asked for */
    packed->message_count = 0;
    for (uint32_t index = 0; index < count;) {
        const qsm_datagram *first = &datagrams[index];
        uint32_t length = sender->segmentation_offload ? run_length(first, count - index) : 1;
        /* A run cut off by the end of the batch goes with the next: long runs are what pays. */
        if (more && length > 1 && index > 0 && index + length == count) break;
        uint32_t number = packed->message_count++;
        for (uint32_t piece = index; piece < index + length; piece++)
            packed->pieces[piece] =
                (struct iovec){(void *)(uintptr_t)datagrams[piece].data, datagrams[piece].bytes};
        struct msghdr *header = &packed->messages[number].msg_hdr;
        *header = (struct msghdr){.msg_name = &packed->names[number],
                                  .msg_iov = &packed->pieces[index],
                                  .msg_iovlen = length};
        header->msg_namelen =
            udp_address_to_system(&first->to, interface->index, &packed->names[number]);
        if (length > 1)
            ask_for_segments(header, packed->controls[number], sizeof packed->controls[number],
                             (uint16_t)first->bytes);
        index += length;
    }
}

/* The first message of a batch failed with `number`; returns how many datagrams are lost by it, 0
 * when they are to be sent again, now or (blocked) later. */
static uint32_t handle_failure(udp_socket *sender, uint32_t first_length, int number,
                               qsm_udp_info *info) {
    switch (number) {
    case EINTR: return 0;
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        sender->blocked = true;
        return 0;
    case EIO:
    case EINVAL:
    case EMSGSIZE:
    case EOPNOTSUPP:
        /* The device or path cannot segment after all. What goes on alone may still arrive. */
        if (first_length > 1) {
            sender->segmentation_offload = false;
            info->segmentation_offload = 0;
            return 0;
        }
        break;
    default: break;
    }
    info->send_errors += first_length;
    return first_length;
}

uint32_t udp_socket_send(udp_socket *sender, const udp_interface *interface,
                         const qsm_datagram *datagrams, uint32_t count, qsm_udp_info *info) {
    batch packed;
    assert(count <= UDP_SEND_MAX);
    uint32_t done = 0;
    sender->blocked = false;
    uint32_t all = count;
    while (done < count && !sender->blocked) {
        pack(&packed, sender, interface, datagrams + done, count - done);
        info->calls_out++;
        int sent = sendmmsg(handle_of(sender), packed.messages, packed.message_count, MSG_DONTWAIT);
        int number = errno;
        if (sent <= 0) {
            done += handle_failure(sender, (uint32_t)packed.messages[0].msg_hdr.msg_iovlen, number,
                                   info);
            continue;
        }
        for (int index = 0; index < sent; index++) {
            uint32_t length = (uint32_t)packed.messages[index].msg_hdr.msg_iovlen;
            info->datagrams_out += length;
            done += length;
        }
        if (all == UDP_SEND_MAX && (uint32_t)sent == packed.message_count) break;
    }
    return done;
}
#endif
