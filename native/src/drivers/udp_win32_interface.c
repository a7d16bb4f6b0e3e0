/* udp_win32_interface.c - finds the interface that a driver is on, on Windows; see udp_system.h. */
#ifdef _WIN32
#include "drivers/udp_win32.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_MAX (sizeof((udp_interface *)0)->addresses / sizeof(qsm_address))
#define ADAPTERS_BYTES (64u << 10)
#define MTU_BYTES_LEAST 1280u

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
    char text[UDP_REASON_BYTES];
    int result = number == NO_ERROR ? choose(list, wanted, group, found, error)
                                    : udp_fail(error, QSM_ERR_SYSTEM,
                                               "The network interfaces cannot be listed: %s.",
                                               udp_reason((int)number, text));
    free(list);
    return result;
}
#endif
