/*
 * udp_posix_traffic.c - datagrams on Linux, read and sent in batches (recvmmsg, sendmmsg) with
 * segmentation and receive offload; see udp_system.h.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "drivers/udp_address.h"
#include "drivers/udp_posix.h"

/* The kernel's own bounds of one segmented send, the second a little below it. */
#define SEGMENTS_MAX 64
#define SEGMENT_BYTES_MAX 65000

/* One control message each: drops, segment size, destination. */
#define CONTROL_BYTES                                                                              \
    (CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int)) +                                      \
     CMSG_SPACE(sizeof(struct in6_pktinfo)))

/* ---- receiving ------------------------------------------------------------------------------- */

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
        read = recvmmsg(udp_handle_of(reader), messages, count, MSG_DONTWAIT, NULL);
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
                (struct pollfd){.fd = udp_handle_of(&sockets[begin + index]), .events = POLLIN};
        bool known = poll(asked, part, 0) >= 0;
        /* If the question cannot be answered, reading will. */
        for (uint32_t index = 0; index < part; index++)
            readable[begin + index] = !known || asked[index].revents != 0;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* What one sendmmsg takes: messages of one datagram each, or of several to be segmented. */
typedef struct batch {
    struct mmsghdr messages[UDP_SEND_MAX];
    struct iovec pieces[UDP_SEND_MAX];
    udp_sockaddr names[UDP_SEND_MAX];
    _Alignas(struct cmsghdr) uint8_t controls[UDP_SEND_MAX][CMSG_SPACE(sizeof(uint16_t))];
    uint32_t message_count;
} batch;

/* How many datagrams, from the first on, can go in one segmented send: to one destination, of one
 * size, the last perhaps shorter. Control packets go alone: one that asks whether its length
 * arrives must not pass a virtual switch as part of a longer one. */
static uint32_t run_length(const qsm_datagram *datagrams, uint32_t count) {
    uint32_t bytes = datagrams[0].bytes, length = 1;
    if (datagrams[0].priority == 0) return 1;
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
        int sent =
            sendmmsg(udp_handle_of(sender), packed.messages, packed.message_count, MSG_DONTWAIT);
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
