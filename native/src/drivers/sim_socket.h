/*
 * sim_socket.h - what has arrived at a node and waits until it is read, as in a socket: bounded,
 * first come first served. Knows packets, but neither nodes nor time.
 */
#ifndef QSM_DRIVERS_SIM_SOCKET_H
#define QSM_DRIVERS_SIM_SOCKET_H

#include "drivers/sim_network.h"

typedef struct {
    qsm_sim_packet **packets; /* ring */
    uint32_t first;
    uint32_t count;
    uint32_t capacity; /* power of two */
    uint32_t bytes;
} qsm_sim_socket;

/* Takes over the caller's reference; false when there is no room, and then it does not. */
bool qsm_sim_socket_put(qsm_sim_socket *socket, qsm_sim_packet *packet);
/* The first one, whose reference is the caller's from now; there must be one. */
qsm_sim_packet *qsm_sim_socket_take(qsm_sim_socket *socket);
/* Drops all and frees what the socket used. */
void qsm_sim_socket_clear(qsm_sim_socket *socket);

#endif
