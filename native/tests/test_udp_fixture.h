/*
 * test_udp_fixture.h - a node for tests of the UDP driver: a driver, one group, a stream of
 * numbered messages to send, and a check of what arrives that shares no code with the engine.
 */
#ifndef TEST_UDP_FIXTURE_H
#define TEST_UDP_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#undef interface
#define poll WSAPoll
#else
#include <poll.h>
#endif

#include "qsm.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition);  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define NODES_MAX 16
#define DESCRIPTORS_MAX 64
#define STEP_BUDGET_NS 2000000u
#define NS_PER_S 1000000000u
#define MESSAGE_BYTES_MIN 16u

/* What one sender's stream looks like to a receiver. */
typedef struct heard {
    uint64_t sender;
    uint32_t next; /* number of the next message */
} heard;

typedef struct node {
    qsm_udp *udp;
    qsm_engine *engine;
    qsm_group *group;
    uint32_t to_send, sent; /* messages */
    uint32_t message_bytes;
    uint32_t member_count; /* of the last view */
    heard heard[NODES_MAX];
    uint32_t heard_count;
} node;

static const uint8_t test_group_id[QSM_GROUP_ID_BYTES] = {'n', 'o', 't', 'e', 's'};
static const uint8_t test_group_key[QSM_KEY_BYTES] = {7, 7, 7};

/* Faster than the defaults, because a test that waits is a test that is not run. */
static inline qsm_udp_config test_config(const char *interface, uint8_t scope) {
    qsm_udp_config config;
    qsm_udp_config_defaults(&config);
    memset(config.core.scope_id, 0x5c, sizeof config.core.scope_id);
    config.core.scope_id[0] = scope;
    memset(config.core.scope_key, 0x3d, sizeof config.core.scope_key);
    snprintf(config.interface, sizeof config.interface, "%s", interface);
    config.multicast_port = 47613;
    return config;
}

static inline void node_open(node *opened, const qsm_udp_config *config) {
    char sentence[256] = "";
    memset(opened, 0, sizeof *opened);
    opened->message_bytes = 200;
    int result = qsm_udp_open(config, &opened->udp, sentence, sizeof sentence);
    if (result != QSM_OK) {
        fprintf(stderr, "the driver cannot be opened: %s (%s)\n", sentence, qsm_error_text(result));
        exit(1);
    }
    opened->engine = qsm_udp_engine(opened->udp);
    CHECK(opened->engine != NULL);
    CHECK(qsm_group_join(opened->engine, test_group_id, test_group_key, opened, &opened->group) ==
          QSM_OK);
}

static inline void node_close(node *closed) {
    qsm_udp_close(closed->udp);
    memset(closed, 0, sizeof *closed);
}

static inline uint32_t node_heard_from(const node *listener, uint64_t sender) {
    for (uint32_t index = 0; index < listener->heard_count; index++)
        if (listener->heard[index].sender == sender) return listener->heard[index].next;
    return 0;
}

/* A message is its number, and bytes that follow from the number. */
static inline void message_write(uint8_t *data, uint32_t bytes, uint32_t number) {
    memcpy(data, &number, sizeof number);
    for (uint32_t index = sizeof number; index < bytes; index++)
        data[index] = (uint8_t)(number * 31 + index);
}

static inline void node_deliver(node *listener, const qsm_event *event) {
    heard *stream = NULL;
    for (uint32_t index = 0; index < listener->heard_count; index++)
        if (listener->heard[index].sender == event->sender) stream = &listener->heard[index];
    if (stream == NULL) {
        CHECK(listener->heard_count < NODES_MAX);
        stream = &listener->heard[listener->heard_count++];
        *stream = (heard){.sender = event->sender};
    }
    uint32_t number;
    CHECK(event->bytes >= MESSAGE_BYTES_MIN);
    memcpy(&number, event->data, sizeof number);
    if (number != stream->next)
        fprintf(stderr, "message %u came where %u was due\n", (unsigned)number,
                (unsigned)stream->next);
    CHECK(number == stream->next);
    for (uint32_t index = sizeof number; index < event->bytes; index++)
        CHECK(event->data[index] == (uint8_t)(number * 31 + index));
    stream->next++;
}

static inline void node_events(node *listener) {
    qsm_event events[64];
    int count;
    do {
        count = qsm_engine_events(listener->engine, events, 64);
        CHECK(count >= 0);
        for (int index = 0; index < count; index++) {
            if (events[index].type == QSM_EVENT_DELIVERY) {
                CHECK(events[index].user == listener);
                node_deliver(listener, &events[index]);
            }
            if (events[index].type == QSM_EVENT_VIEW)
                listener->member_count = events[index].member_count;
        }
        qsm_engine_release(listener->engine);
    } while (count == 64);
}

static inline void node_send(node *sender) {
    static uint8_t data[QSM_MESSAGE_BYTES_MAX];
    while (sender->sent < sender->to_send) {
        message_write(data, sender->message_bytes, sender->sent);
        int result = qsm_group_send(sender->group, data, sender->message_bytes);
        if (result == QSM_ERR_FULL) return;
        CHECK(result == QSM_OK);
        sender->sent++;
    }
}

/* One turn of an event loop: waits until one of the nodes has something to do, then steps all. */
static inline void nodes_turn(node *nodes, uint32_t count) {
    struct pollfd watched[DESCRIPTORS_MAX];
    uint32_t watched_count = 0;
    uint64_t wait_ns = 20000000;
    for (uint32_t index = 0; index < count; index++) {
        int64_t descriptors[DESCRIPTORS_MAX];
        uint64_t generation = 0;
        node_send(&nodes[index]);
        int found =
            qsm_udp_descriptors(nodes[index].udp, descriptors, DESCRIPTORS_MAX, &generation);
        CHECK(found > 0 && watched_count + (uint32_t)found <= DESCRIPTORS_MAX);
        for (int number = 0; number < found; number++)
            watched[watched_count++] = (struct pollfd){
                .fd = (int)descriptors[number],
                .events = number == 0 && qsm_udp_wants_write(nodes[index].udp) ? POLLIN | POLLOUT
                                                                               : POLLIN};
        uint64_t due_ns = qsm_udp_wait_ns(nodes[index].udp);
        if (due_ns < wait_ns) wait_ns = due_ns;
    }
    poll(watched, watched_count, (int)((wait_ns + 999999) / 1000000));
    for (uint32_t index = 0; index < count; index++) {
        int more = qsm_udp_step(nodes[index].udp, STEP_BUDGET_NS);
        CHECK(more == 0 || more == 1);
        node_events(&nodes[index]);
    }
}

typedef bool (*condition)(node *nodes, uint32_t count);

/* Turns until the condition holds; false when it does not within the time. */
static inline bool nodes_run(node *nodes, uint32_t count, condition holds, uint32_t seconds) {
    uint64_t end_ns = qsm_udp_now_ns(nodes[0].udp) + (uint64_t)seconds * NS_PER_S;
    while (!holds(nodes, count)) {
        if (qsm_udp_now_ns(nodes[0].udp) >= end_ns) return false;
        nodes_turn(nodes, count);
    }
    return true;
}

static inline bool all_in_one_view(node *nodes, uint32_t count) {
    for (uint32_t index = 0; index < count; index++)
        if (nodes[index].member_count != count) return false;
    return true;
}

static inline bool all_have_heard_all(node *nodes, uint32_t count) {
    for (uint32_t listener = 0; listener < count; listener++)
        for (uint32_t sender = 0; sender < count; sender++)
            if (listener != sender &&
                node_heard_from(&nodes[listener], qsm_engine_node(nodes[sender].engine)) <
                    nodes[sender].to_send)
                return false;
    return true;
}

/* What happened, when it was not what should. */
static inline void nodes_explain(const node *nodes, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        qsm_udp_info info;
        qsm_udp_get_info(nodes[index].udp, &info);
        fprintf(stderr,
                "node %u: %s, view of %u, sent %u of %u; datagrams %llu in, %llu out, "
                "%llu dropped by the system, %llu not sent\n",
                (unsigned)index, qsm_health_text(qsm_engine_health(nodes[index].engine)),
                (unsigned)nodes[index].member_count, (unsigned)nodes[index].sent,
                (unsigned)nodes[index].to_send, (unsigned long long)info.datagrams_in,
                (unsigned long long)info.datagrams_out, (unsigned long long)info.kernel_drops,
                (unsigned long long)info.send_errors);
        for (uint32_t number = 0; number < nodes[index].heard_count; number++)
            fprintf(stderr, "  heard %u from %016llx\n", (unsigned)nodes[index].heard[number].next,
                    (unsigned long long)nodes[index].heard[number].sender);
    }
}

#define CHECK_NODES(nodes, count, condition)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            nodes_explain(nodes, count);                                                           \
            CHECK(condition);                                                                      \
        }                                                                                          \
    } while (0)

#endif
