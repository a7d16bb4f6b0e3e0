/*
 * udp_posix_interface.c - choosing the network interface on Linux; see udp_system.h.
 *
 * Knows how the system describes interfaces, and the rules by which one is chosen. Opens no socket
 * that outlives a call.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "drivers/udp_address.h"
#include "drivers/udp_system.h"

#define ADDRESSES_MAX (sizeof((udp_interface *)0)->addresses / sizeof(qsm_address))

/* The address of an entry of the system's list, if it is of the family; else false. */
static bool entry_address(const struct ifaddrs *entry, uint8_t family, qsm_address *address) {
    udp_sockaddr copy;
    memset(&copy, 0, sizeof copy);
    if (entry->ifa_addr == NULL) return false;
    switch (entry->ifa_addr->sa_family) {
    case AF_INET: memcpy(&copy.v4, entry->ifa_addr, sizeof copy.v4); break;
    case AF_INET6: memcpy(&copy.v6, entry->ifa_addr, sizeof copy.v6); break;
    default: return false;
    }
    return udp_address_from_system(&copy, address) && address->family == family;
}

static bool entry_is_candidate(const struct ifaddrs *entry) {
    const unsigned needed = IFF_UP | IFF_RUNNING | IFF_MULTICAST;
    return (entry->ifa_flags & needed) == needed && !(entry->ifa_flags & IFF_LOOPBACK);
}

/* A tunnel: with a VPN the system often sends everything by it, and the office is not behind it. */
static bool entry_is_tunnel(const struct ifaddrs *entry) {
    return (entry->ifa_flags & IFF_POINTOPOINT) != 0;
}

/* The address from which the system would send to the group. No datagram is sent for it. */
static bool system_choice(const qsm_address *group, qsm_address *address) {
    udp_sockaddr name;
    socklen_t bytes = udp_address_to_system(group, 0, &name);
    int handle = socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) return false;
    bool known = connect(handle, &name.any, bytes) == 0;
    bytes = sizeof name;
    known = known && getsockname(handle, &name.any, &bytes) == 0;
    close(handle);
    if (!known || !udp_address_from_system(&name, address)) return false;
    address->port = 0;
    return true;
}

static const struct ifaddrs *find_by_name(const struct ifaddrs *list, const char *name) {
    for (; list != NULL; list = list->ifa_next)
        if (strcmp(list->ifa_name, name) == 0) return list;
    return NULL;
}

static const struct ifaddrs *find_by_address(const struct ifaddrs *list,
                                             const qsm_address *address) {
    qsm_address found;
    for (; list != NULL; list = list->ifa_next)
        if (entry_address(list, address->family, &found) && udp_address_equal(&found, address))
            return list;
    return NULL;
}

static const struct ifaddrs *find_default(const struct ifaddrs *list, const qsm_address *group) {
    const struct ifaddrs *entry, *chosen = NULL;
    qsm_address address;
    if (system_choice(group, &address)) {
        chosen = find_by_address(list, &address);
        if (chosen != NULL && !entry_is_candidate(chosen)) chosen = NULL;
        if (chosen != NULL && !entry_is_tunnel(chosen)) return chosen;
    }
    for (entry = list; entry != NULL; entry = entry->ifa_next) {
        if (!entry_is_candidate(entry) || !entry_address(entry, group->family, &address)) continue;
        if (!entry_is_tunnel(entry)) return entry;
        if (chosen == NULL) chosen = entry;
    }
    if (chosen != NULL) return chosen;
    for (entry = list; entry != NULL; entry = entry->ifa_next)
        if ((entry->ifa_flags & IFF_LOOPBACK) && (entry->ifa_flags & IFF_UP)) return entry;
    return NULL;
}

/* The smallest link that a datagram of the engine's least size fits is assumed where the system
 * does not tell. */
static uint32_t mtu_of(const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.*s", IFNAMSIZ - 1, name);
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) handle = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) return 1280;
    int mtu_bytes = ioctl(handle, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 1280;
    close(handle);
    return mtu_bytes > 0 ? (uint32_t)mtu_bytes : 1280;
}

/* Addresses that others can use without knowing the link come first, those of the link after. */
static void collect_addresses(const struct ifaddrs *list, uint8_t family, udp_interface *found) {
    for (int link_local = 0; link_local <= 1; link_local++) {
        for (const struct ifaddrs *entry = list; entry != NULL; entry = entry->ifa_next) {
            qsm_address address;
            if (found->address_count == ADDRESSES_MAX) return;
            if (strcmp(entry->ifa_name, found->name) != 0) continue;
            if (!entry_address(entry, family, &address)) continue;
            if (udp_address_is_link_local(&address) != (link_local != 0)) continue;
            found->addresses[found->address_count++] = address;
        }
    }
}

/* `only`: the one address to use, NULL for all. */
static int describe(const struct ifaddrs *list, const struct ifaddrs *chosen,
                    const qsm_address *only, uint8_t family, udp_interface *found,
                    udp_error *error) {
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "%s", chosen->ifa_name);
    if (!(chosen->ifa_flags & IFF_UP))
        return udp_fail(error, QSM_ERR_NO_INTERFACE,
                        "The network interface %s is down; bring it up or choose another.",
                        found->name);
    found->index = if_nametoindex(found->name);
    found->mtu_bytes = mtu_of(found->name);
    found->loopback = (chosen->ifa_flags & IFF_LOOPBACK) != 0;
    found->multicast = (chosen->ifa_flags & IFF_MULTICAST) != 0;
    if (only != NULL)
        found->addresses[found->address_count++] = *only;
    else
        collect_addresses(list, family, found);
    if (found->index == 0 || found->address_count == 0)
        return udp_fail(
            error, QSM_ERR_NO_INTERFACE,
            "The network interface %s has no %s address; give it one or choose another.",
            found->name, family == QSM_FAMILY_IPV6 ? "IPv6" : "IPv4");
    return QSM_OK;
}

static int choose(const struct ifaddrs *list, const char *wanted, const qsm_address *group,
                  udp_interface *found, udp_error *error) {
    const struct ifaddrs *chosen;
    qsm_address address;
    if (wanted[0] == '\0') {
        chosen = find_default(list, group);
        if (chosen == NULL)
            return udp_fail(error, QSM_ERR_NO_INTERFACE,
                            "No network interface is up, not even loopback.");
        return describe(list, chosen, NULL, group->family, found, error);
    }
    if (!udp_address_parse(wanted, &address)) {
        chosen = find_by_name(list, wanted);
        if (chosen == NULL)
            return udp_fail(error, QSM_ERR_NO_INTERFACE, "There is no network interface named %s.",
                            wanted);
        return describe(list, chosen, NULL, group->family, found, error);
    }
    if (address.family != group->family)
        return udp_fail(error, QSM_ERR_ARGUMENT,
                        "The interface is given by the address %s, but %s was asked for.", wanted,
                        group->family == QSM_FAMILY_IPV6 ? "IPv6" : "IPv4");
    chosen = find_by_address(list, &address);
    if (chosen == NULL)
        return udp_fail(error, QSM_ERR_NO_INTERFACE, "No network interface has the address %s.",
                        wanted);
    return describe(list, chosen, &address, group->family, found, error);
}

int udp_interface_find(const char *wanted, const qsm_address *group, udp_interface *found,
                       udp_error *error) {
    assert(group->family == QSM_FAMILY_IPV4 || group->family == QSM_FAMILY_IPV6);
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return udp_fail(error, QSM_ERR_SYSTEM, "The network interfaces cannot be listed: %s.",
                        strerror(errno));
    int result = choose(list, wanted, group, found, error);
    freeifaddrs(list);
    return result;
}
#endif
