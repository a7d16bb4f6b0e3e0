/* udp_address.c - conversions between the forms of an address; see udp_address.h. */
#ifndef _WIN32
#include <arpa/inet.h>
#endif
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "drivers/udp_address.h"

static void mark_multicast(qsm_address *address) {
    if (address->family == QSM_FAMILY_IPV4)
        address->multicast = (address->bytes[0] & 0xf0) == 0xe0;
    else
        address->multicast = address->bytes[0] == 0xff;
}

bool udp_address_parse(const char *text, qsm_address *address) {
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, address->bytes) == 1) {
        address->family = QSM_FAMILY_IPV4;
    } else if (inet_pton(AF_INET6, text, address->bytes) == 1) {
        address->family = QSM_FAMILY_IPV6;
    } else {
        return false;
    }
    mark_multicast(address);
    return true;
}

void udp_address_text(const qsm_address *address, bool with_port,
                      char text[UDP_ADDRESS_TEXT_BYTES]) {
    bool ipv6 = address->family == QSM_FAMILY_IPV6;
    char plain[INET6_ADDRSTRLEN] = "no address";
    if (ipv6 || address->family == QSM_FAMILY_IPV4)
        inet_ntop(ipv6 ? AF_INET6 : AF_INET, address->bytes, plain, sizeof plain);
    if (with_port)
        snprintf(text, UDP_ADDRESS_TEXT_BYTES, ipv6 ? "[%s]:%u" : "%s:%u", plain,
                 (unsigned)address->port);
    else
        snprintf(text, UDP_ADDRESS_TEXT_BYTES, "%s", plain);
}

bool udp_address_from_system(const udp_sockaddr *system, qsm_address *address) {
    memset(address, 0, sizeof *address);
    switch (system->any.sa_family) {
    case AF_INET:
        address->family = QSM_FAMILY_IPV4;
        address->port = ntohs(system->v4.sin_port);
        memcpy(address->bytes, &system->v4.sin_addr, 4);
        break;
    case AF_INET6:
        address->family = QSM_FAMILY_IPV6;
        address->port = ntohs(system->v6.sin6_port);
        memcpy(address->bytes, &system->v6.sin6_addr, 16);
        break;
    default: return false;
    }
    mark_multicast(address);
    return true;
}

uint32_t udp_address_to_system(const qsm_address *address, uint32_t interface_index,
                               udp_sockaddr *system) {
    memset(system, 0, sizeof *system);
    switch (address->family) {
    case QSM_FAMILY_IPV4:
        system->v4.sin_family = AF_INET;
        system->v4.sin_port = htons(address->port);
        memcpy(&system->v4.sin_addr, address->bytes, 4);
        return sizeof system->v4;
    case QSM_FAMILY_IPV6:
        system->v6.sin6_family = AF_INET6;
        system->v6.sin6_port = htons(address->port);
        memcpy(&system->v6.sin6_addr, address->bytes, 16);
        if (address->multicast || udp_address_is_link_local(address))
            system->v6.sin6_scope_id = interface_index;
        return sizeof system->v6;
    default: return 0;
    }
}

bool udp_address_equal(const qsm_address *one, const qsm_address *other) {
    return memcmp(one, other, sizeof *one) == 0;
}

bool udp_address_is_link_local(const qsm_address *address) {
    const uint8_t *bytes = address->bytes;
    if (address->family == QSM_FAMILY_IPV4) return bytes[0] == 169 && bytes[1] == 254;
    return address->family == QSM_FAMILY_IPV6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

qsm_address udp_address_of_scope(const uint8_t scope_id[QSM_GROUP_ID_BYTES], bool ipv6,
                                 uint16_t port) {
    /* FNV-1a: scope ids may be made from names, so that no few bytes of them are well spread. */
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t index = 0; index < QSM_GROUP_ID_BYTES; index++)
        hash = (hash ^ scope_id[index]) * 0x100000001b3u;
    hash ^= hash >> 32;

    qsm_address address = {.family = QSM_FAMILY_IPV4, .multicast = 1, .port = port};
    uint8_t *bytes = address.bytes;
    if (ipv6) {
        address.family = QSM_FAMILY_IPV6;
        bytes[0] = 0xff;
        bytes[1] = 0x05; /* of the site */
        bytes += 12;
        bytes[0] = (uint8_t)(0x80 | (hash >> 24 & 0x7f)); /* RFC 3307: free for all */
    } else {
        bytes[0] = 239; /* RFC 2365: 239.192.0.0/14, of the organisation */
        bytes[1] = (uint8_t)(192 | (hash >> 16 & 0x03));
    }
    if (ipv6) bytes[1] = (uint8_t)(hash >> 16);
    bytes[2] = (uint8_t)(hash >> 8);
    bytes[3] = (uint8_t)hash;
    assert(address.bytes[0] == (ipv6 ? 0xff : 239));
    return address;
}
