/*
 * udp_system.h - what the UDP driver asks of an operating system: an interface, sockets, a clock.
 *
 * udp_posix*.c and udp_win32*.c each implement all of it; only they call the system. They know
 * nothing of the engine but the form of its addresses and datagrams.
 */
#ifndef QSM_DRIVERS_UDP_SYSTEM_H
#define QSM_DRIVERS_UDP_SYSTEM_H

#include "qsm.h"

/* Datagrams (or runs of them joined by receive offload) that are read, or sent, in one call. */
#define UDP_RECEIVE_MAX 64
#define UDP_SEND_MAX 256

/* Room for one datagram with a byte to spare that shows a longer one: over Ethernet, over one with
 * long frames; and for the longest that there can be, or a joined run. */
#define UDP_DATAGRAM_CAPACITY 1536
#define UDP_LONG_DATAGRAM_CAPACITY 9216
#define UDP_RUN_CAPACITY 65507

/* Where the one sentence goes that explains a failure to open. */
typedef struct udp_error {
    char *text; /* may be NULL */
    uint32_t bytes;
} udp_error;

/* Writes the sentence and returns `result`, so that a failure is one statement. */
__attribute__((format(printf, 3, 4))) int udp_fail(udp_error *error, int result, const char *format,
                                                   ...);

/* The interface that all sockets of a driver are on. */
typedef struct udp_interface {
    char name[64];
    uint32_t index;
    uint32_t mtu_bytes;
    bool loopback;
    bool multicast; /* as the system marks it; loopback is used for multicast nevertheless */
    /* Usable addresses of the family asked for, best first; port 0. */
    qsm_address addresses[8];
    uint32_t address_count;
} udp_interface;

/* Finds an interface that is up by name or address; `wanted` empty: the one that the system would
 * use for `group`, else the first that can multicast, else loopback. Results: QSM_ERR_NO_INTERFACE,
 * QSM_ERR_ARGUMENT (an address of the other family), QSM_ERR_SYSTEM. */
int udp_interface_find(const char *wanted, const qsm_address *group, udp_interface *found,
                       udp_error *error);

typedef struct udp_socket {
    int64_t handle;
    uint32_t drops_seen;       /* the system's own count, of which only the growth is reported */
    uint32_t membership_count; /* groups joined on it */
    bool multicast;            /* receives only what is sent to groups that were joined on it */
    bool segmentation_offload; /* takes several datagrams for one destination at once */
    bool receive_offload;      /* may give several datagrams of one sender at once */
    bool blocked;              /* the last send met a full buffer */
} udp_socket;

typedef struct udp_socket_options {
    const udp_interface *interface;
    qsm_address address;   /* own address; of a multicast socket family and port */
    uint32_t buffer_bytes; /* asked for */
    bool offload;
} udp_socket_options;

/* The socket that everything is sent from and unicast arrives at. `address` gets the port, `info`
 * the sizes of the buffers. Results: QSM_ERR_PORT_IN_USE, QSM_ERR_NO_INTERFACE (the address cannot
 * be used), QSM_ERR_PERMISSION, QSM_ERR_SYSTEM. On failure nothing stays open. */
int udp_socket_open_unicast(udp_socket_options *options, udp_socket *opened, qsm_udp_info *info,
                            udp_error *error);
/* A socket for groups, several of which may have the same port, also in other programs. Results as
 * above. */
int udp_socket_open_multicast(const udp_socket_options *options, udp_socket *opened,
                              udp_error *error);
void udp_socket_close(udp_socket *closed);

/* QSM_OK; QSM_ERR_FULL: the system allows no further group on this socket; else
 * QSM_ERR_NO_MULTICAST. `error` is for the last. */
int udp_socket_join(udp_socket *member, const udp_interface *interface, const qsm_address *group,
                    udp_error *error);
void udp_socket_leave(udp_socket *member, const udp_interface *interface, const qsm_address *group);

/* A hint: what was sent from that address need not be copied for this reader; it may come empty, or
 * as it is. */
void udp_socket_spare(udp_socket *reader, const qsm_address *own);

/* Sends an empty datagram (which every driver ignores) to see whether the group can be reached:
 * QSM_OK, QSM_ERR_NO_MULTICAST or QSM_ERR_PERMISSION. */
int udp_socket_probe(udp_socket *sender, const udp_interface *interface, const qsm_address *group,
                     udp_error *error);

typedef struct udp_received {
    uint8_t *data; /* in: where to write, and how much there is room for */
    uint32_t capacity;
    uint32_t bytes;         /* out; 0: to be ignored */
    uint32_t segment_bytes; /* out: of each datagram of a joined run; 0: one datagram */
    qsm_address from;       /* out */
} udp_received;

/* Reads up to `count` times; returns how many were read. Fewer than asked: nothing is left. Counts
 * calls, and datagrams that the system had to drop, in `info`. */
uint32_t udp_socket_receive(udp_socket *reader, const udp_interface *interface,
                            udp_received *received, uint32_t count, qsm_udp_info *info);

/* Sends up to UDP_SEND_MAX datagrams; returns how many (from the first on) are done with: sent, or
 * lost for a reason that only they have, which `info` counts. Fewer than asked: `blocked`; or, of
 * UDP_SEND_MAX, the last would go better with those that come next. */
uint32_t udp_socket_send(udp_socket *sender, const udp_interface *interface,
                         const qsm_datagram *datagrams, uint32_t count, qsm_udp_info *info);

/* Marks which of the sockets have something to read, without waiting. */
void udp_sockets_readable(const udp_socket *sockets, uint32_t count, bool *readable);

/* Nanoseconds of a clock that never goes back. */
uint64_t udp_clock_ns(void);

/* Between udp_system_start, which may fail, and udp_system_stop the functions above may be used. */
int udp_system_start(udp_error *error);
void udp_system_stop(void);

#endif
