/*
 * udp_win32_groups.c - multicast groups on Windows: joined, left and tried; see udp_system.h.
 */
#ifdef _WIN32
#include "drivers/udp_win32.h"

#include <string.h>

static bool change_membership(udp_socket *member, const udp_interface *interface,
                              const qsm_address *group, bool join) {
    SOCKET handle = udp_handle_of(member);
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
    char text[UDP_ADDRESS_TEXT_BYTES], why[UDP_REASON_BYTES];
    udp_address_text(group, false, text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be joined on the network interface %s: %s.",
                    text, interface->name, udp_reason(number, why));
}

void udp_socket_leave(udp_socket *member, const udp_interface *interface,
                      const qsm_address *group) {
    assert(member->membership_count > 0);
    /* It can fail only when the interface has gone, and with it the membership. */
    (void)change_membership(member, interface, group, false);
    member->membership_count--;
}

int udp_socket_probe(udp_socket *sender, const udp_interface *interface, const qsm_address *group,
                     udp_error *error) {
    udp_sockaddr name;
    int bytes = (int)udp_address_to_system(group, interface->index, &name);
    if (sendto(udp_handle_of(sender), "", 0, 0, &name.any, bytes) >= 0) return QSM_OK;
    int number = WSAGetLastError();
    char text[UDP_ADDRESS_TEXT_BYTES], why[UDP_REASON_BYTES];
    udp_address_text(group, false, text);
    if (number == WSAEACCES)
        return udp_fail(error, QSM_ERR_PERMISSION,
                        "The system does not permit sending to the multicast group %s.", text);
    return udp_fail(error, QSM_ERR_NO_MULTICAST,
                    "The multicast group %s cannot be reached over the network interface %s: %s.",
                    text, interface->name, udp_reason(number, why));
}

void udp_socket_spare(udp_socket *reader, const qsm_address *own) {
    (void)reader; /* the driver ignores them as they come */
    (void)own;
}
#endif
