/* sim_network.c - how datagrams travel, get lost, are doubled and find their listeners. */
#include "drivers/sim_network.h"

#include <assert.h>
#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)
/* A node hears its own multicast after this, whatever the network is like. */
#define LOOPBACK_NS 10000U
/* A duplicate follows its original within this. */
#define DUPLICATE_LAG_NS UINT64_C(20000000)

enum purpose { PURPOSE_LOSS = 1, PURPOSE_BURST, PURPOSE_JITTER, PURPOSE_DUPLICATE };

void qsm_sim_network_init(qsm_sim_network *network, uint64_t seed, qsm_sim_events *events) {
    *network = (qsm_sim_network){.events = events};
    network->link.delay_ns = 100000;
    network->loss = qsm_sim_random_of(seed, PURPOSE_LOSS);
    network->burst = qsm_sim_random_of(seed, PURPOSE_BURST);
    network->jitter = qsm_sim_random_of(seed, PURPOSE_JITTER);
    network->duplicate = qsm_sim_random_of(seed, PURPOSE_DUPLICATE);
}

void qsm_sim_network_free(qsm_sim_network *network) {
    for (uint32_t i = 0; i < network->port_count; i++) {
        free(network->ports[i].subscriptions);
        free(network->ports[i].joined_ns);
        free(network->ports[i].deaf_to);
    }
    free(network->ports);
    free(network->pairs);
    qsm_sim_audiences_free(&network->audiences);
}

qsm_address qsm_sim_address(uint32_t index, bool multicast) {
    qsm_address address = {.family = QSM_FAMILY_SIM, .multicast = multicast ? 1 : 0};
    for (uint32_t i = 0; i < 4; i++) {
        address.bytes[i] = (uint8_t)(index >> (24 - 8 * i));
    }
    return address;
}

static uint32_t address_index(const qsm_address *address) {
    uint32_t index = 0;
    for (uint32_t i = 0; i < 4; i++) {
        index = index << 8 | address->bytes[i];
    }
    return index;
}

int qsm_sim_network_add(qsm_sim_network *network) {
    if (network->port_count == network->port_capacity) {
        const uint32_t capacity = network->port_capacity == 0 ? 16 : network->port_capacity * 2;
        qsm_sim_port *ports = realloc(network->ports, capacity * sizeof *ports);
        if (ports == NULL) return QSM_ERR_NO_MEMORY;
        network->ports = ports;
        network->port_capacity = capacity;
    }
    network->ports[network->port_count] = (qsm_sim_port){.side = 0};
    return (int)network->port_count++;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static qsm_sim_pair *pair_place(qsm_sim_pair *pairs, uint32_t capacity, uint64_t key) {
    uint32_t place = (uint32_t)qsm_sim_mix(key) & (capacity - 1);
    while (pairs[place].key != 0 && pairs[place].key != key) {
        place = (place + 1) & (capacity - 1);
    }
    return &pairs[place];
}

static bool pairs_grow(qsm_sim_network *network) {
    if ((network->pair_count + 1) * 2 <= network->pair_capacity) return true;
    const uint32_t capacity = network->pair_capacity == 0 ? 64 : network->pair_capacity * 2;
    qsm_sim_pair *pairs = calloc(capacity, sizeof *pairs);
    if (pairs == NULL) return false;
    for (uint32_t i = 0; i < network->pair_capacity; i++) {
        const qsm_sim_pair *old = &network->pairs[i];
        if (old->key != 0) *pair_place(pairs, capacity, old->key) = *old;
    }
    free(network->pairs);
    network->pairs = pairs;
    network->pair_capacity = capacity;
    return true;
}

qsm_sim_pair *qsm_sim_network_pair(qsm_sim_network *network, uint32_t from, uint32_t to,
                                   bool make) {
    const uint64_t key = ((uint64_t)from << 32 | to) + 1;
    if (network->pair_count != 0) {
        qsm_sim_pair *pair = pair_place(network->pairs, network->pair_capacity, key);
        if (pair->key == key) return pair;
    }
    if (!make || !pairs_grow(network)) return NULL;
    qsm_sim_pair *pair = pair_place(network->pairs, network->pair_capacity, key);
    assert(pair->key == 0);
    *pair = (qsm_sim_pair){.key = key};
    network->pair_count++;
    return pair;
}

/* ---- who listens where ----------------------------------------------------------------------- */

/* Sorted, without repeats; returns how many are left. */
static uint32_t sort_addresses(qsm_address *addresses, uint32_t count) {
    if (count == 0) return 0;
    qsort(addresses, count, sizeof *addresses, qsm_sim_compare_addresses);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (qsm_sim_compare_addresses(&addresses[i], &addresses[kept - 1]) != 0) {
            addresses[kept++] = addresses[i];
        }
    }
    return kept;
}

int qsm_sim_network_subscribe(qsm_sim_network *network, uint64_t now_ns, uint32_t node,
                              const qsm_address *addresses, uint32_t count) {
    assert(node < network->port_count);
    qsm_sim_port *port = &network->ports[node];
    qsm_address *wanted = NULL;
    uint64_t *joined_ns = NULL;
    if (count != 0) {
        wanted = malloc(count * sizeof *wanted);
        joined_ns = malloc(count * sizeof *joined_ns);
        if (wanted == NULL || joined_ns == NULL) {
            free(wanted);
            free(joined_ns);
            return QSM_ERR_NO_MEMORY;
        }
        memcpy(wanted, addresses, count * sizeof *wanted);
        count = sort_addresses(wanted, count);
    }
    /* Both lists are sorted: one walk finds what was added and what is gone. */
    int result = QSM_OK;
    uint32_t had = 0, want = 0;
    while (had < port->subscription_count || want < count) {
        int order = 0;
        if (had == port->subscription_count) {
            order = 1;
        } else if (want == count) {
            order = -1;
        } else {
            order = qsm_sim_compare_addresses(&port->subscriptions[had], &wanted[want]);
        }
        if (order < 0) qsm_sim_audience_quit(&network->audiences, &port->subscriptions[had], node);
        if (order > 0 && !qsm_sim_audience_enter(&network->audiences, &wanted[want], node)) {
            result = QSM_ERR_NO_MEMORY;
        }
        if (order >= 0) joined_ns[want] = order > 0 ? now_ns : port->joined_ns[had];
        if (order <= 0) had++;
        if (order >= 0) want++;
    }
    free(port->subscriptions);
    free(port->joined_ns);
    port->subscriptions = wanted;
    port->joined_ns = joined_ns;
    port->subscription_count = count;
    return result;
}

int qsm_sim_network_block_address(qsm_sim_network *network, uint32_t node,
                                  const qsm_address *address, bool blocked) {
    assert(node < network->port_count);
    qsm_sim_port *port = &network->ports[node];
    uint32_t at = 0;
    if (address == NULL) {
        port->deaf_count = 0;
        return blocked ? QSM_ERR_ARGUMENT : QSM_OK;
    }
    while (at < port->deaf_count && qsm_sim_compare_addresses(&port->deaf_to[at], address) != 0)
        at++;
    if (blocked && at == port->deaf_count) {
        qsm_address *grown = realloc(port->deaf_to, (at + 1) * sizeof *grown);
        if (grown == NULL) return QSM_ERR_NO_MEMORY;
        port->deaf_to = grown;
        port->deaf_to[port->deaf_count++] = *address;
    } else if (!blocked && at < port->deaf_count) {
        port->deaf_to[at] = port->deaf_to[--port->deaf_count];
    }
    return QSM_OK;
}

/* Whether the switch before the node keeps the address from it. */
static bool is_address_cut(const qsm_sim_network *network, uint64_t now_ns, uint32_t to,
                           const qsm_address *address) {
    const qsm_sim_port *port = &network->ports[to];
    for (uint32_t i = 0; i < port->deaf_count; i++)
        if (qsm_sim_compare_addresses(&port->deaf_to[i], address) == 0) return true;
    if (port->forgets_ns == 0) return false;
    for (uint32_t i = 0; i < port->subscription_count; i++)
        if (qsm_sim_compare_addresses(&port->subscriptions[i], address) == 0)
            return now_ns - port->joined_ns[i] >= port->forgets_ns;
    return false;
}

/* ---- packets --------------------------------------------------------------------------------- */

void qsm_sim_packet_drop(qsm_sim_packet *packet) {
    assert(packet->references > 0);
    if (--packet->references == 0) free(packet);
}

static qsm_sim_packet *packet_new(uint32_t from, const qsm_datagram *datagram) {
    qsm_sim_packet *packet = malloc(sizeof *packet + datagram->bytes);
    if (packet == NULL) return NULL;
    *packet = (qsm_sim_packet){.references = 1, .from = from, .bytes = datagram->bytes};
    memcpy(packet->data, datagram->data, datagram->bytes);
    packet->hash = qsm_sim_hash_bytes(packet->data, packet->bytes);
    return packet;
}

static void put_under_way(qsm_sim_network *network, uint64_t at_ns, uint32_t happening, uint32_t to,
                          qsm_sim_packet *packet) {
    packet->references++;
    if (!qsm_sim_events_push(network->events, at_ns, happening, to, packet)) {
        network->traffic.lost++;
        qsm_sim_packet_drop(packet);
    }
}

bool qsm_sim_network_is_cut(qsm_sim_network *network, uint32_t from, uint32_t to) {
    if (from == to) return false;
    if (network->ports[from].side != network->ports[to].side) return true;
    const qsm_sim_pair *pair = qsm_sim_network_pair(network, from, to, false);
    return pair != NULL && pair->blocked;
}

static bool is_multicast_cut(qsm_sim_network *network, uint32_t from, uint32_t to) {
    if (from == to) return false;
    const qsm_sim_pair *pair = qsm_sim_network_pair(network, from, to, false);
    return pair != NULL && pair->multicast_blocked;
}

static bool is_lost(qsm_sim_network *network, const qsm_sim_link *link, qsm_sim_port *port) {
    if (link->burst_packets == 0) port->burst_left = 0; /* a link without bursts ends one, too */
    if (port->burst_left > 0) {
        port->burst_left--;
        return true;
    }
    if (qsm_sim_random_chance(&network->burst, link->burst_ppm) && link->burst_packets > 0) {
        port->burst_left = link->burst_packets - 1;
        return true;
    }
    return qsm_sim_random_chance(&network->loss, link->loss_ppm);
}

static void send_to(qsm_sim_network *network, uint64_t now_ns, uint32_t to,
                    qsm_sim_packet *packet) {
    if (to == packet->from) {
        put_under_way(network, now_ns + LOOPBACK_NS, QSM_SIM_ARRIVE, to, packet);
        return;
    }
    if (qsm_sim_network_is_cut(network, packet->from, to)) {
        network->traffic.blocked++;
        return;
    }
    const qsm_sim_pair *pair = qsm_sim_network_pair(network, packet->from, to, false);
    const qsm_sim_link *link = pair != NULL && pair->has_link ? &pair->link : &network->link;
    bool too_long = link->datagram_bytes_max != 0 && packet->bytes > link->datagram_bytes_max;
    if (is_lost(network, link, &network->ports[to]) || too_long) {
        network->traffic.lost++;
        return;
    }
    uint64_t at_ns = now_ns + link->delay_ns;
    if (link->jitter_ns != 0) {
        at_ns += qsm_sim_random_below(&network->jitter, link->jitter_ns + 1);
    }
    const uint32_t happening = link->bandwidth_bytes_per_s != 0 ? QSM_SIM_ENTER : QSM_SIM_ARRIVE;
    put_under_way(network, at_ns, happening, to, packet);
    if (qsm_sim_random_chance(&network->duplicate, link->duplicate_ppm)) {
        network->traffic.duplicated++;
        const uint64_t lag_ns = qsm_sim_random_below(&network->duplicate, DUPLICATE_LAG_NS);
        put_under_way(network, at_ns + lag_ns, happening, to, packet);
    }
}

void qsm_sim_network_enter(qsm_sim_network *network, uint64_t now_ns, uint32_t to,
                           qsm_sim_packet *packet) {
    const qsm_sim_pair *pair = qsm_sim_network_pair(network, packet->from, to, false);
    const qsm_sim_link *link = pair != NULL && pair->has_link ? &pair->link : &network->link;
    qsm_sim_port *port = &network->ports[to];
    const uint64_t rate = link->bandwidth_bytes_per_s;
    uint64_t free_at_ns = port->line_free_at_ns > now_ns ? port->line_free_at_ns : now_ns;
    if (rate != 0) {
        const uint64_t waiting_ns = free_at_ns - now_ns;
        const uint64_t waiting_bytes = waiting_ns / NS_PER_S * rate +
                                       waiting_ns % NS_PER_S * (rate / 1000) / (NS_PER_S / 1000);
        if (link->queue_bytes != 0 && waiting_bytes + packet->bytes > link->queue_bytes) {
            network->traffic.overflowed++;
            return;
        }
        free_at_ns += packet->bytes * NS_PER_S / rate;
        port->line_free_at_ns = free_at_ns;
    }
    put_under_way(network, free_at_ns, QSM_SIM_ARRIVE, to, packet);
}

void qsm_sim_network_send(qsm_sim_network *network, uint64_t now_ns, uint32_t from,
                          const qsm_datagram *datagram) {
    network->traffic.datagrams++;
    network->traffic.bytes += datagram->bytes;
    qsm_sim_packet *packet = packet_new(from, datagram);
    if (packet == NULL) {
        network->traffic.lost++;
        return;
    }
    if (!datagram->to.multicast) {
        const uint32_t to = address_index(&datagram->to);
        if (datagram->to.family == QSM_FAMILY_SIM && to < network->port_count) {
            send_to(network, now_ns, to, packet);
        } else {
            network->traffic.blocked++;
        }
    } else if (!network->multicast_dead) {
        const qsm_sim_audience *audience =
            qsm_sim_audience_find(&network->audiences, &datagram->to);
        for (uint32_t i = 0; audience != NULL && i < audience->node_count; i++) {
            const uint32_t to = audience->nodes[i];
            if (is_multicast_cut(network, from, to) ||
                (to != from && is_address_cut(network, now_ns, to, &datagram->to))) {
                network->traffic.blocked++;
            } else {
                send_to(network, now_ns, to, packet);
            }
        }
    }
    qsm_sim_packet_drop(packet);
}
