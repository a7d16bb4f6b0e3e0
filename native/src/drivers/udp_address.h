/*
 * udp_address.h - addresses as the engine, the system and people write them.
 *
 * Knows the forms of an address and nothing of sockets or interfaces.
 */
#ifndef QSM_DRIVERS_UDP_ADDRESS_H
#define QSM_DRIVERS_UDP_ADDRESS_H

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
/* A macro of Windows' own for C++; a word that this driver has other use for. */
#undef interface
#else
#include <netinet/in.h>
#include <sys/socket.h>
#endif

#include "qsm.h"

/* Room for "[" address "]:" port and the final zero. */
#define UDP_ADDRESS_TEXT_BYTES 64

typedef union udp_sockaddr {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} udp_sockaddr;

/* Reads a plain IPv4 or IPv6 address; sets `multicast` and port 0. False: it is neither. */
bool udp_address_parse(const char *text, qsm_address *address);

/* Writes "192.0.2.1", with the port "192.0.2.1:47474" or "[ff05::1]:47474". */
void udp_address_text(const qsm_address *address, bool with_port,
                      char text[UDP_ADDRESS_TEXT_BYTES]);

/* False: of another family. The result has no unused byte set, so that it can be compared. */
bool udp_address_from_system(const udp_sockaddr *system, qsm_address *address);

/* `interface_index` says which link an address of link scope is on; others do not need it. Returns
 * the length, 0 for a family that the system does not know. */
uint32_t udp_address_to_system(const qsm_address *address, uint32_t interface_index,
                               udp_sockaddr *system);

bool udp_address_equal(const qsm_address *one, const qsm_address *other);

/* Whether it has a meaning only on the link it was seen on (169.254.0.0/16, fe80::/10). */
bool udp_address_is_link_local(const qsm_address *address);

/* The multicast address at which engines of a scope meet when nobody names one: from the scope id
 * alone, so that all of them find the same, in the ranges that sites may use as they like. */
qsm_address udp_address_of_scope(const uint8_t scope_id[QSM_GROUP_ID_BYTES], bool ipv6,
                                 uint16_t port);

#endif
