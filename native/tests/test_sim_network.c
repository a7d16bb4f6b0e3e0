/* test_sim_network.c - the simulated network does what it says: losses, bursts, lines, cuts,
 * listeners. */
#include <stdlib.h>
#include <string.h>

#include "drivers/sim_network.h"
#include "scenario.h"

#define PACKETS 20000U

typedef struct {
    qsm_sim_events events;
    qsm_sim_network network;
    uint32_t arrived[8];
    uint64_t last_ns;
    uint64_t reordered;
    uint32_t last_number[8];
} wire;

static wire *wire_new(uint64_t seed, uint32_t nodes, const qsm_sim_link *link) {
    wire *made = calloc(1, sizeof *made);
    if (made == NULL) abort();
    qsm_sim_network_init(&made->network, seed, &made->events);
    for (uint32_t i = 0; i < nodes; i++) {
        CHECK(qsm_sim_network_add(&made->network) == (int)i);
    }
    made->network.link = *link;
    return made;
}

static void wire_free(wire *ended) {
    CHECK(ended->events.count == 0);
    qsm_sim_network_free(&ended->network);
    free(ended->events.items);
    free(ended);
}

static void send_number(wire *used, uint64_t now_ns, uint32_t from, qsm_address to, uint32_t number,
                        uint32_t bytes) {
    uint8_t data[1500] = {0};
    memcpy(data, &number, sizeof number);
    const qsm_datagram datagram = {.to = to, .data = data, .bytes = bytes};
    qsm_sim_network_send(&used->network, now_ns, from, &datagram);
}

/* Lets all that is under way happen. */
static void drain(wire *used) {
    while (used->events.count > 0) {
        const qsm_sim_event event = qsm_sim_events_pop(&used->events);
        CHECK(event.at_ns >= used->last_ns);
        used->last_ns = event.at_ns;
        qsm_sim_packet *packet = event.packet;
        if (event.happening == QSM_SIM_ENTER) {
            qsm_sim_network_enter(&used->network, event.at_ns, event.node, packet);
        } else {
            uint32_t number = 0;
            memcpy(&number, packet->data, sizeof number);
            if (number < used->last_number[event.node]) used->reordered++;
            used->last_number[event.node] = number;
            used->arrived[event.node]++;
        }
        qsm_sim_packet_drop(packet);
    }
}

static bool near(double found, double wanted, double part) {
    return found > wanted * (1 - part) && found < wanted * (1 + part);
}

static void a_link_loses_its_share(void) {
    wire *used = wire_new(1, 2, &(qsm_sim_link){.delay_ns = 1000, .loss_ppm = 100000});
    for (uint32_t i = 0; i < PACKETS; i++) {
        send_number(used, i * 1000, 0, qsm_sim_address(1, false), i, 100);
    }
    drain(used);
    CHECK(near(used->arrived[1], PACKETS * 0.9, 0.02));
    CHECK(used->arrived[1] + used->network.traffic.lost == PACKETS);
    CHECK(used->reordered == 0);
    wire_free(used);
}

static void a_burst_takes_packets_in_a_row(void) {
    wire *used =
        wire_new(2, 2, &(qsm_sim_link){.delay_ns = 1, .burst_ppm = 1000, .burst_packets = 50});
    for (uint32_t i = 0; i < PACKETS; i++) {
        send_number(used, i, 0, qsm_sim_address(1, false), i, 100);
    }
    drain(used);
    const uint64_t lost = used->network.traffic.lost;
    CHECK(lost >= 50 && near((double)lost, PACKETS * 50 * 0.001, 0.6));
    wire_free(used);
}

static void jitter_reorders_and_duplicates_are_counted(void) {
    wire *used = wire_new(
        3, 2, &(qsm_sim_link){.delay_ns = 1000, .jitter_ns = 100000, .duplicate_ppm = 500000});
    for (uint32_t i = 0; i < PACKETS; i++) {
        send_number(used, i * 1000, 0, qsm_sim_address(1, false), i, 100);
    }
    drain(used);
    CHECK(used->reordered > PACKETS / 10);
    CHECK(used->arrived[1] == PACKETS + used->network.traffic.duplicated);
    CHECK(near((double)used->network.traffic.duplicated, PACKETS * 0.5, 0.05));
    wire_free(used);
}

static void a_line_carries_its_bandwidth_and_its_queue_overflows(void) {
    /* 1 MB/s and 10 packets of queue: 1000 packets of 1000 bytes at once fill the queue, no more.
     */
    const qsm_sim_link link = {
        .delay_ns = 1000, .bandwidth_bytes_per_s = 1000000, .queue_bytes = 10000};
    wire *used = wire_new(4, 2, &link);
    for (uint32_t i = 0; i < 1000; i++) {
        send_number(used, 0, 0, qsm_sim_address(1, false), i, 1000);
    }
    drain(used);
    CHECK(used->arrived[1] == 10);
    CHECK(used->network.traffic.overflowed == 990);
    CHECK(used->last_ns == 1000 + 10 * UINT64_C(1000000));
    /* At half the rate of the line nothing waits and nothing is lost. */
    for (uint32_t i = 0; i < 1000; i++) {
        send_number(used, WORLD_S + i * UINT64_C(2000000), 0, qsm_sim_address(1, false), 2000 + i,
                    1000);
    }
    drain(used);
    CHECK(used->arrived[1] == 1010);
    wire_free(used);
}

static void multicast_reaches_its_listeners_and_no_others(void) {
    wire *used = wire_new(5, 5, &(qsm_sim_link){.delay_ns = 1000});
    const qsm_address group = qsm_sim_address(7, true), other = qsm_sim_address(8, true);
    const qsm_address both[3] = {other, group, group};
    CHECK(qsm_sim_network_subscribe(&used->network, 0, 3, both, 3) == QSM_OK);
    CHECK(qsm_sim_network_subscribe(&used->network, 0, 1, &group, 1) == QSM_OK);
    CHECK(qsm_sim_network_subscribe(&used->network, 0, 0, &group, 1) == QSM_OK);
    send_number(used, 0, 0, group, 1, 100);
    drain(used);
    const uint32_t first[5] = {1, 1, 0, 1, 0}; /* the sender hears itself */
    CHECK(memcmp(used->arrived, first, sizeof first) == 0);
    CHECK(used->network.traffic.datagrams == 1);
    CHECK(qsm_sim_network_subscribe(&used->network, 0, 3, &other, 1) == QSM_OK);
    CHECK(qsm_sim_network_subscribe(&used->network, 0, 1, NULL, 0) == QSM_OK);
    send_number(used, WORLD_S, 4, group, 2, 100);
    send_number(used, WORLD_S, 4, other, 3, 100);
    drain(used);
    const uint32_t second[5] = {2, 1, 0, 2, 0};
    CHECK(memcmp(used->arrived, second, sizeof second) == 0);
    wire_free(used);
}

static void switches_drop_addresses_and_forget_who_listens(void) {
    wire *used = wire_new(10, 3, &(qsm_sim_link){.delay_ns = 1000});
    const qsm_address both[2] = {qsm_sim_address(7, true), qsm_sim_address(8, true)};
    for (uint32_t i = 0; i < 3; i++)
        CHECK(qsm_sim_network_subscribe(&used->network, 0, i, both, 2) == QSM_OK);
    CHECK(qsm_sim_network_block_address(&used->network, 1, &both[0], true) == QSM_OK);
    CHECK(qsm_sim_network_block_address(&used->network, 1, &both[0], true) == QSM_OK);
    used->network.ports[2].forgets_ns = WORLD_S;
    send_number(used, 0, 0, both[0], 1, 100);
    send_number(used, 0, 0, both[1], 2, 100);
    drain(used);
    CHECK(used->arrived[0] == 2 && used->arrived[1] == 1 && used->arrived[2] == 2);
    /* Who joins another address is forgotten with the first; who joins anew is known again. */
    CHECK(qsm_sim_network_subscribe(&used->network, WORLD_S / 2, 2, both, 1) == QSM_OK);
    CHECK(qsm_sim_network_subscribe(&used->network, WORLD_S / 2, 2, both, 2) == QSM_OK);
    CHECK(qsm_sim_network_block_address(&used->network, 1, &both[0], false) == QSM_OK);
    send_number(used, WORLD_S, 0, both[0], 3, 100);
    send_number(used, WORLD_S, 0, both[1], 4, 100);
    drain(used);
    CHECK(used->arrived[0] == 4 && used->arrived[1] == 3 && used->arrived[2] == 3);
    CHECK(used->network.traffic.blocked == 2);
    CHECK(qsm_sim_network_block_address(&used->network, 1, &both[1], true) == QSM_OK);
    CHECK(qsm_sim_network_block_address(&used->network, 1, NULL, false) == QSM_OK);
    send_number(used, 2 * WORLD_S, 0, both[1], 5, 100);
    drain(used);
    CHECK(used->arrived[1] == 4);
    wire_free(used);
}

static void many_addresses_come_and_go(void) {
    wire *used = wire_new(6, 3, &(qsm_sim_link){.delay_ns = 1000});
    qsm_address addresses[64];
    for (uint32_t round = 0; round < 300; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            addresses[i] = qsm_sim_address(round * 7 + i, true);
        }
        CHECK(qsm_sim_network_subscribe(&used->network, 0, round % 3, addresses, 64) == QSM_OK);
    }
    CHECK(used->network.audiences.capacity <= 4096);
    const qsm_address last = qsm_sim_address(299 * 7 + 63, true);
    send_number(used, 0, 0, last, 1, 100);
    drain(used);
    CHECK(used->arrived[299 % 3] == 1);
    wire_free(used);
}

static void sides_and_blocks_cut_and_pairs_have_links_of_their_own(void) {
    wire *used = wire_new(7, 3, &(qsm_sim_link){.delay_ns = 1000});
    used->network.ports[2].side = 1;
    send_number(used, 0, 0, qsm_sim_address(2, false), 1, 100);
    send_number(used, 0, 0, qsm_sim_address(1, false), 1, 100);
    qsm_sim_network_pair(&used->network, 0, 1, true)->blocked = true;
    send_number(used, 0, 0, qsm_sim_address(1, false), 2, 100);
    send_number(used, 0, 1, qsm_sim_address(0, false), 3, 100);
    drain(used);
    CHECK(used->arrived[0] == 1 && used->arrived[1] == 1 && used->arrived[2] == 0);
    CHECK(used->network.traffic.blocked == 2);
    qsm_sim_pair *pair = qsm_sim_network_pair(&used->network, 1, 0, true);
    pair->has_link = true;
    pair->link = (qsm_sim_link){.delay_ns = 5000, .loss_ppm = 1000000};
    send_number(used, WORLD_S, 1, qsm_sim_address(0, false), 4, 100);
    drain(used);
    CHECK(used->arrived[0] == 1);
    CHECK(qsm_sim_network_pair(&used->network, 2, 1, false) == NULL);
    wire_free(used);
}

static void one_more_fault_does_not_shift_the_others(void) {
    uint32_t arrived[2];
    for (uint32_t i = 0; i < 2; i++) {
        qsm_sim_link link = {.delay_ns = 1000, .loss_ppm = 200000};
        if (i == 1) link.jitter_ns = 50000;
        wire *used = wire_new(8, 2, &link);
        for (uint32_t j = 0; j < 1000; j++) {
            send_number(used, j, 0, qsm_sim_address(1, false), j, 100);
        }
        drain(used);
        arrived[i] = used->arrived[1];
        wire_free(used);
    }
    CHECK(arrived[0] == arrived[1]);
}

static void events_come_by_time_then_by_insertion(void) {
    qsm_sim_events events = {.count = 0};
    qsm_sim_random random = qsm_sim_random_of(9, 9);
    for (uint32_t i = 0; i < 5000; i++) {
        CHECK(qsm_sim_events_push(&events, qsm_sim_random_below(&random, 100), 0, i, NULL));
    }
    qsm_sim_event last = qsm_sim_events_pop(&events);
    while (events.count > 0) {
        const qsm_sim_event next = qsm_sim_events_pop(&events);
        CHECK(last.at_ns < next.at_ns || (last.at_ns == next.at_ns && last.order < next.order));
        last = next;
    }
    CHECK(qsm_sim_events_next_ns(&events) == UINT64_MAX);
    free(events.items);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(events_come_by_time_then_by_insertion),
        SCENARIO(a_link_loses_its_share),
        SCENARIO(a_burst_takes_packets_in_a_row),
        SCENARIO(jitter_reorders_and_duplicates_are_counted),
        SCENARIO(a_line_carries_its_bandwidth_and_its_queue_overflows),
        SCENARIO(multicast_reaches_its_listeners_and_no_others),
        SCENARIO(switches_drop_addresses_and_forget_who_listens),
        SCENARIO(many_addresses_come_and_go),
        SCENARIO(sides_and_blocks_cut_and_pairs_have_links_of_their_own),
        SCENARIO(one_more_fault_does_not_shift_the_others),
    };
    return SCENARIO_MAIN("test_sim_network", scenarios);
}
