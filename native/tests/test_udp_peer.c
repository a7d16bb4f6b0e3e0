/*
 * test_udp_peer.c - processes that talk over UDP. Without arguments three of them on loopback, all
 * on one multicast port; with arguments one of them, for tests that put each into a network of its
 * own:
 *
 *     test_udp_peer --interface NAME --members N [--messages N] [--bytes N] [--seconds N] [--ipv6]
 *                   [--no-offload] [--no-multicast] [--drop PER_MILLE] [--scope N]
 *
 * A peer waits for a view of all members, sends its messages, hears everybody's in order, sees its
 * own acknowledged, departs cleanly, prints one line about itself and exits with 0.
 */
#include "test_udp_fixture.h"

#ifndef _WIN32
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 3

typedef struct options {
    const char *interface;
    uint32_t members, messages, bytes, seconds, scope, drop_per_mille;
    bool ipv6, no_offload, no_multicast;
} options;

/* The condition of the loop has no other way to know what was asked for. */
static options chosen = {.interface = "127.0.0.1",
                         .members = PROCESSES,
                         .messages = 500,
                         .bytes = 300,
                         .seconds = 40,
                         .scope = 20};

static bool in_whole_view(node *nodes, uint32_t count) {
    (void)count;
    return nodes[0].member_count == chosen.members;
}

static bool heard_everybody(node *nodes, uint32_t count) {
    (void)count;
    uint32_t complete = 0;
    uint64_t self = qsm_engine_node(nodes[0].engine);
    for (uint32_t index = 0; index < nodes[0].heard_count; index++)
        complete +=
            nodes[0].heard[index].sender != self && nodes[0].heard[index].next == chosen.messages;
    return complete == chosen.members - 1 && nodes[0].sent == nodes[0].to_send &&
           qsm_group_unacknowledged(nodes[0].group) == 0;
}

static bool has_departed(node *nodes, uint32_t count) {
    (void)count;
    return qsm_engine_health(nodes[0].engine) == QSM_HEALTH_CLOSED;
}

static void print_line(const node *peer, uint64_t talked_ns) {
    qsm_udp_info info;
    qsm_udp_get_info(peer->udp, &info);
    printf("{\"interface\": \"%s\", \"loopback\": %u, \"multicast\": %u, \"family\": %u, "
           "\"segmentation\": %u, \"receive_offload\": %u, \"heard_from\": %u, "
           "\"datagrams_in\": %llu, \"datagrams_out\": %llu, \"calls_in\": %llu, "
           "\"calls_out\": %llu, \"kernel_drops\": %llu, \"send_errors\": %llu, "
           "\"messages_per_s\": %.0f}\n",
           info.interface, info.loopback, info.multicast, info.self.family,
           info.segmentation_offload, info.receive_offload, (unsigned)peer->heard_count,
           (unsigned long long)info.datagrams_in, (unsigned long long)info.datagrams_out,
           (unsigned long long)info.calls_in, (unsigned long long)info.calls_out,
           (unsigned long long)info.kernel_drops, (unsigned long long)info.send_errors,
           (double)chosen.messages * 1e9 / (double)talked_ns);
    fflush(stdout);
}

static void run_peer(void) {
    qsm_udp_config config = test_config(chosen.interface, (uint8_t)chosen.scope);
    config.ipv6 = chosen.ipv6;
    config.no_offload = chosen.no_offload;
    config.no_multicast = chosen.no_multicast;
    config.drop_in_per_mille = config.drop_out_per_mille = (uint16_t)chosen.drop_per_mille;
    node peer;
    node_open(&peer, &config);
    peer.message_bytes = chosen.bytes;
    CHECK_NODES(&peer, 1, nodes_run(&peer, 1, in_whole_view, chosen.seconds));
    uint64_t begun_ns = qsm_udp_now_ns(peer.udp);
    peer.to_send = chosen.messages;
    CHECK_NODES(&peer, 1, nodes_run(&peer, 1, heard_everybody, chosen.seconds));
    uint64_t talked_ns = qsm_udp_now_ns(peer.udp) - begun_ns;
    qsm_engine_close(peer.engine, qsm_udp_now_ns(peer.udp));
    CHECK_NODES(&peer, 1, nodes_run(&peer, 1, has_departed, chosen.seconds));
    print_line(&peer, talked_ns);
    node_close(&peer);
}

static void run_processes(void) {
    pid_t children[PROCESSES];
    bool all_well = true;
    for (uint32_t index = 0; index < PROCESSES; index++) {
        children[index] = fork();
        CHECK(children[index] >= 0);
        if (children[index] == 0) {
            run_peer();
            exit(0);
        }
    }
    for (uint32_t index = 0; index < PROCESSES; index++) {
        int status = 0;
        CHECK(waitpid(children[index], &status, 0) == children[index]);
        all_well = all_well && status == 0;
    }
    CHECK(all_well);
}

static bool read_number(const char *name, const char *value, const char *wanted, uint32_t *number) {
    if (strcmp(name, wanted) != 0) return false;
    char *end = NULL;
    CHECK(value != NULL);
    *number = (uint32_t)strtoul(value, &end, 10);
    CHECK(*value != '\0' && *end == '\0');
    return true;
}

static void read_options(int count, char **arguments) {
    for (int index = 1; index < count; index++) {
        const char *name = arguments[index];
        const char *value = index + 1 < count ? arguments[index + 1] : NULL;
        if (strcmp(name, "--ipv6") == 0) {
            chosen.ipv6 = true;
        } else if (strcmp(name, "--no-offload") == 0) {
            chosen.no_offload = true;
        } else if (strcmp(name, "--no-multicast") == 0) {
            chosen.no_multicast = true;
        } else if (strcmp(name, "--interface") == 0) {
            CHECK(value != NULL);
            chosen.interface = value;
            index++;
        } else {
            CHECK(read_number(name, value, "--members", &chosen.members) ||
                  read_number(name, value, "--messages", &chosen.messages) ||
                  read_number(name, value, "--bytes", &chosen.bytes) ||
                  read_number(name, value, "--seconds", &chosen.seconds) ||
                  read_number(name, value, "--scope", &chosen.scope) ||
                  read_number(name, value, "--drop", &chosen.drop_per_mille));
            index++;
        }
    }
    CHECK(chosen.members >= 1 && chosen.members <= NODES_MAX);
    CHECK(chosen.bytes >= MESSAGE_BYTES_MIN && chosen.bytes <= QSM_MESSAGE_BYTES_MAX);
}

int main(int count, char **arguments) {
    read_options(count, arguments);
    if (count > 1)
        run_peer();
    else
        run_processes();
    return 0;
}
#else
int main(void) {
    return 0;
}
#endif
