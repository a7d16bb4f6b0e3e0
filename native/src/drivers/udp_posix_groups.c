/*
 * udp_posix_groups.c - multicast groups on Linux: joined, left, tried, and spared what is the
 * driver's own; see udp_system.h.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/filter.h>
#endif

#include "drivers/udp_address.h"
#include "drivers/udp_posix.h"

static bool change_membership(udp_socket *member, const udp_interface *interface,
                              const qsm_address *group, int option) {
    struct group_req request;
    udp_sockaddr name;
    memset(&request, 0, sizeof request);
    uint32_t bytes = udp_address_to_system(group, interface->index, &name);
    request.gr_interface = interface->index;
    memcpy(&request.gr_group, &name, bytes);
    int level = group->family == QSM_FAMILY_IPV6 ? IPPROTO_IPV6 : IPPROTO_IP;
    return setsockopt(udp_handle_of(member), level, option, &request, sizeof request) == 0;
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

int udp_socket_probe(udp_socket *sender, const udp_interface *interface, const qsm_address *group,
                     udp_error *error) {
    udp_sockaddr name;
    socklen_t bytes = udp_address_to_system(group, interface->index, &name);
    for (int attempt = 0; attempt < 4; attempt++) {
        if (sendto(udp_handle_of(sender), "", 0, 0, &name.any, bytes) >= 0) return QSM_OK;
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
    setsockopt(udp_handle_of(reader), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
#else
void udp_socket_spare(udp_socket *reader, const qsm_address *own) {
    (void)reader;
    (void)own;
}
#endif
#endif
