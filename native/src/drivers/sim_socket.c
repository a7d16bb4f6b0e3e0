/* sim_socket.c - a bounded ring of packets. */
#include "drivers/sim_socket.h"

#include <assert.h>
#include <stdlib.h>

/* What waits for a node that does not read; more is lost. */
#define SOCKET_BYTES_MAX (4U << 20)
/* What the system accounts for a datagram besides its bytes. */
#define SOCKET_OVERHEAD 64U

bool qsm_sim_socket_put(qsm_sim_socket *socket, qsm_sim_packet *packet) {
    const uint32_t bytes = packet->bytes + SOCKET_OVERHEAD;
    if (socket->bytes + bytes > SOCKET_BYTES_MAX) return false;
    if (socket->count == socket->capacity) {
        const uint32_t capacity = socket->capacity == 0 ? 16 : socket->capacity * 2;
        qsm_sim_packet **packets = malloc(capacity * sizeof *packets);
        if (packets == NULL) return false;
        for (uint32_t i = 0; i < socket->count; i++) {
            packets[i] = socket->packets[(socket->first + i) & (socket->capacity - 1)];
        }
        free(socket->packets);
        socket->packets = packets;
        socket->capacity = capacity;
        socket->first = 0;
    }
    socket->packets[(socket->first + socket->count) & (socket->capacity - 1)] = packet;
    socket->count++;
    socket->bytes += bytes;
    return true;
}

qsm_sim_packet *qsm_sim_socket_take(qsm_sim_socket *socket) {
    assert(socket->count > 0);
    qsm_sim_packet *packet = socket->packets[socket->first];
    socket->first = (socket->first + 1) & (socket->capacity - 1);
    socket->count--;
    socket->bytes -= packet->bytes + SOCKET_OVERHEAD;
    return packet;
}

void qsm_sim_socket_clear(qsm_sim_socket *socket) {
    while (socket->count > 0) {
        qsm_sim_packet_drop(qsm_sim_socket_take(socket));
    }
    free(socket->packets);
    *socket = (qsm_sim_socket){.count = 0};
}
