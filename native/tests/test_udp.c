/*
 * test_udp.c - the UDP driver with engines, on loopback: nodes find each other, messages arrive,
 * and everything that can be wrong with a configuration is said in one sentence and leaves nothing
 * open.
 */
#include "test_udp_fixture.h"

#ifndef _WIN32
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#define LOOPBACK "127.0.0.1"

/* Descriptors that this process has open; 0 where the system does not tell. */
static uint32_t open_descriptors(void) {
    uint32_t count = 0;
#ifndef _WIN32
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
#endif
    return count;
}

/* ---- nodes ---- */

static bool first_is_host(node *nodes, uint32_t count) {
    (void)count;
    return qsm_engine_health(nodes[0].engine) == QSM_HEALTH_HOST;
}

/* Opens nodes, waits until all are in one view, sends from each, and checks what all got. */
static void talk(const qsm_udp_config *configs, uint32_t count, uint32_t messages,
                 uint32_t message_bytes, qsm_udp_info *first_info) {
    uint32_t before = open_descriptors();
    node nodes[4];
    for (uint32_t index = 0; index < count; index++) {
        qsm_udp_config config = configs[index];
        if (config.no_multicast && index > 0) {
            qsm_udp_info known;
            CHECK_NODES(nodes, index, nodes_run(nodes, index, first_is_host, 30));
            qsm_udp_get_info(nodes[0].udp, &known);
            config.core.known_peers[0] = known.self;
            config.core.known_peer_count = 1;
        }
        node_open(&nodes[index], &config);
        nodes[index].message_bytes = message_bytes;
    }
    CHECK_NODES(nodes, count, nodes_run(nodes, count, all_in_one_view, 30));
    for (uint32_t index = 0; index < count; index++)
        nodes[index].to_send = messages;
    CHECK_NODES(nodes, count, nodes_run(nodes, count, all_have_heard_all, 60));
    if (first_info != NULL) qsm_udp_get_info(nodes[0].udp, first_info);
    for (uint32_t index = 0; index < count; index++)
        node_close(&nodes[index]);
    CHECK(open_descriptors() == before);
}

static void test_two_nodes_find_each_other_and_messages_arrive_in_order(void) {
    qsm_udp_config configs[2] = {test_config(LOOPBACK, 1), test_config(LOOPBACK, 1)};
    qsm_udp_info info;
    talk(configs, 2, 1000, 200, &info);
    CHECK(info.multicast == 1 && info.loopback == 1);
    CHECK(info.self.family == QSM_FAMILY_IPV4 && info.self.port != 0);
    CHECK(info.rendezvous.multicast == 1 && info.rendezvous.port == 47613);
    CHECK(info.datagrams_in > 0 && info.datagrams_out > 0);
    CHECK(info.send_buffer_bytes > 0 && info.receive_buffer_bytes > 0);
}

static void test_the_same_without_offload(void) {
    qsm_udp_config configs[2] = {test_config(LOOPBACK, 2), test_config(LOOPBACK, 2)};
    configs[0].no_offload = configs[1].no_offload = 1;
    qsm_udp_info info;
    talk(configs, 2, 1000, 200, &info);
    CHECK(info.segmentation_offload == 0 && info.receive_offload == 0);
}

/* Within one machine datagrams may be long; who does not make or join such ones takes them. */
static void test_long_datagrams_are_taken_by_who_does_not_make_them(void) {
    qsm_udp_config configs[3];
    for (uint32_t index = 0; index < 3; index++)
        configs[index] = test_config(LOOPBACK, 7);
    configs[1].core.data_bytes_max = 1432;
    configs[2].no_offload = 1;
    qsm_udp_info info;
    talk(configs, 3, 2000, 1000, &info);
    CHECK(info.datagrams_out < 2000);
}

static void test_messages_longer_than_a_datagram_arrive_whole(void) {
    qsm_udp_config configs[2] = {test_config(LOOPBACK, 3), test_config(LOOPBACK, 3)};
    talk(configs, 2, 50, 20000, NULL);
}

static void test_three_nodes_with_five_percent_loss_each_way_lose_nothing(void) {
    qsm_udp_config configs[3];
    for (uint32_t index = 0; index < 3; index++) {
        configs[index] = test_config(LOOPBACK, 4);
        configs[index].drop_in_per_mille = configs[index].drop_out_per_mille = 50;
        memset(configs[index].core.random_seed, (int)index + 1,
               sizeof configs[index].core.random_seed);
    }
    talk(configs, 3, 300, 600, NULL);
}

static void test_without_multicast_a_known_peer_is_enough(void) {
    qsm_udp_config configs[2] = {test_config(LOOPBACK, 5), test_config(LOOPBACK, 5)};
    configs[0].no_multicast = configs[1].no_multicast = 1;
    qsm_udp_info info;
    talk(configs, 2, 300, 200, &info);
    CHECK(info.multicast == 0 && info.rendezvous.family == QSM_FAMILY_NONE);
}

/* Not every machine has IPv6, and loopback has no IPv6 multicast on Linux. */
static void test_ipv6_works_where_the_machine_has_it(void) {
    qsm_udp_config configs[2] = {test_config("::1", 6), test_config("::1", 6)};
    for (uint32_t index = 0; index < 2; index++) {
        configs[index].ipv6 = 1;
        configs[index].no_multicast = 1;
    }
    qsm_udp *udp = NULL;
    char sentence[256];
    int result = qsm_udp_open(&configs[0], &udp, sentence, sizeof sentence);
    if (result != QSM_OK) {
        printf("IPv6 is not tested here: %s\n", sentence);
        CHECK(result == QSM_ERR_NO_INTERFACE || result == QSM_ERR_SYSTEM);
        return;
    }
    qsm_udp_close(udp);
    talk(configs, 2, 300, 200, NULL);
}

static void test_nodes_of_another_scope_are_not_heard(void) {
    node nodes[2];
    qsm_udp_config config = test_config(LOOPBACK, 7);
    snprintf(config.multicast_group, sizeof config.multicast_group, "239.192.9.9");
    node_open(&nodes[0], &config);
    config.core.scope_key[0] ^= 1;
    node_open(&nodes[1], &config);
    CHECK(!nodes_run(nodes, 2, all_in_one_view, 3));
    CHECK(nodes[0].member_count <= 1 && nodes[1].member_count <= 1);
    node_close(&nodes[0]);
    node_close(&nodes[1]);
}

/* ---- strangers ---- */

static void throw_rubbish(const qsm_udp_info *info, uint64_t *state) {
    static uint8_t rubbish[3000];
    int64_t handle = (int64_t)socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(handle >= 0);
    for (uint32_t number = 0; number < 64; number++) {
        struct sockaddr_in to;
        memset(&to, 0, sizeof to);
        to.sin_family = AF_INET;
        to.sin_port = htons(info->self.port);
        memcpy(&to.sin_addr, info->self.bytes, 4);
        for (uint32_t index = 0; index < sizeof rubbish; index++)
            rubbish[index] = (uint8_t)((*state = *state * 6364136223846793005u + 1) >> 56);
        rubbish[0] = (uint8_t)(number % 3); /* some with a version that exists */
        sendto((int)handle, (const char *)rubbish, (*state >> 33) % sizeof rubbish, 0,
               (struct sockaddr *)&to, sizeof to);
    }
#ifdef _WIN32
    closesocket((SOCKET)handle);
#else
    close((int)handle);
#endif
}

static void test_rubbish_from_strangers_changes_nothing(void) {
    qsm_udp_config config = test_config(LOOPBACK, 8);
    node nodes[2];
    uint64_t state = 1;
    node_open(&nodes[0], &config);
    node_open(&nodes[1], &config);
    CHECK_NODES(nodes, 2, nodes_run(nodes, 2, all_in_one_view, 30));
    nodes[0].to_send = nodes[1].to_send = 1000;
    for (uint32_t turn = 0; turn < 50; turn++) {
        for (uint32_t index = 0; index < 2; index++) {
            qsm_udp_info info;
            qsm_udp_get_info(nodes[index].udp, &info);
            throw_rubbish(&info, &state);
        }
        nodes_turn(nodes, 2);
    }
    CHECK_NODES(nodes, 2, nodes_run(nodes, 2, all_have_heard_all, 30));
    node_close(&nodes[0]);
    node_close(&nodes[1]);
}

/* ---- what can be wrong ---- */

/* The configuration is refused with the result, in a sentence that has `word`, and nothing stays
 * open. */
static void refused(const qsm_udp_config *config, int expected, const char *word) {
    uint32_t before = open_descriptors();
    char sentence[256] = "";
    qsm_udp *udp = (qsm_udp *)&before;
    int result = qsm_udp_open(config, &udp, sentence, sizeof sentence);
    if (result != expected || strstr(sentence, word) == NULL)
        fprintf(stderr, "result %d (%s), sentence: %s\n", result, qsm_error_text(result), sentence);
    CHECK(result == expected);
    CHECK(udp == NULL);
    CHECK(strstr(sentence, word) != NULL);
    CHECK(sentence[strlen(sentence) - 1] == '.' && strchr(sentence, '\n') == NULL);
    CHECK(open_descriptors() == before);
    /* The sentence is optional and never longer than its place. */
    char tiny[8] = "12345678";
    CHECK(qsm_udp_open(config, &udp, NULL, 0) == expected);
    CHECK(qsm_udp_open(config, &udp, tiny, 5) == expected);
    CHECK(strlen(tiny) == 4 && tiny[5] == '6');
}

static void test_a_busy_unicast_port_is_refused(void) {
    qsm_udp_config config = test_config(LOOPBACK, 9);
    node first;
    node_open(&first, &config);
    qsm_udp_info info;
    qsm_udp_get_info(first.udp, &info);
    config.unicast_port = info.self.port;
    char port[16];
    snprintf(port, sizeof port, "port %u", (unsigned)info.self.port);
    refused(&config, QSM_ERR_PORT_IN_USE, port);
    node_close(&first);
    /* When it is free again, it can be had. */
    node_open(&first, &config);
    node_close(&first);
}

static void test_a_multicast_port_that_another_program_holds_is_refused(void) {
    qsm_udp_config config = test_config(LOOPBACK, 9);
    int64_t handle = (int64_t)socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in name;
    memset(&name, 0, sizeof name);
    name.sin_family = AF_INET;
#ifdef _WIN32
    /* There a port can be taken from whoever does not say that it is his alone. */
    BOOL alone = TRUE;
    CHECK(setsockopt((SOCKET)handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&alone,
                     sizeof alone) == 0);
#endif
    CHECK(handle >= 0 && bind((int)handle, (struct sockaddr *)&name, sizeof name) == 0);
#ifdef _WIN32
    int bytes = sizeof name;
#else
    socklen_t bytes = sizeof name;
#endif
    CHECK(getsockname((int)handle, (struct sockaddr *)&name, &bytes) == 0);
    config.multicast_port = ntohs(name.sin_port);
    char port[16];
    snprintf(port, sizeof port, "port %u", (unsigned)config.multicast_port);
    refused(&config, QSM_ERR_PORT_IN_USE, port);
#ifdef _WIN32
    closesocket((SOCKET)handle);
#else
    close((int)handle);
#endif
}

static void test_an_unknown_interface_is_refused(void) {
    qsm_udp_config config = test_config("nosuch9", 9);
    refused(&config, QSM_ERR_NO_INTERFACE, "nosuch9");
    config = test_config("203.0.113.77", 9); /* an address for documentation */
    refused(&config, QSM_ERR_NO_INTERFACE, "203.0.113.77");
}

static void test_bad_arguments_are_refused(void) {
    char sentence[256];
    qsm_udp *udp;
    qsm_udp_config config = test_config(LOOPBACK, 9);
    CHECK(qsm_udp_open(NULL, &udp, sentence, sizeof sentence) == QSM_ERR_ARGUMENT && udp == NULL);
    CHECK(qsm_udp_open(&config, NULL, sentence, sizeof sentence) == QSM_ERR_ARGUMENT);

    snprintf(config.multicast_group, sizeof config.multicast_group, "192.0.2.1");
    refused(&config, QSM_ERR_ARGUMENT, "192.0.2.1");
    snprintf(config.multicast_group, sizeof config.multicast_group, "ff05::1");
    refused(&config, QSM_ERR_ARGUMENT, "ff05::1");
    snprintf(config.multicast_group, sizeof config.multicast_group, "the usual");
    refused(&config, QSM_ERR_ARGUMENT, "the usual");

    config = test_config("::1", 9);
    refused(&config, QSM_ERR_ARGUMENT, "::1");
    config = test_config(LOOPBACK, 9);
    config.unicast_port = config.multicast_port;
    refused(&config, QSM_ERR_ARGUMENT, "47613");
    config = test_config(LOOPBACK, 9);
    config.drop_in_per_mille = 1001;
    refused(&config, QSM_ERR_ARGUMENT, "1000");
    config = test_config(LOOPBACK, 9);
    memset(config.interface, 'x', sizeof config.interface);
    refused(&config, QSM_ERR_ARGUMENT, "end");
    config = test_config(LOOPBACK, 9);
    config.core.datagram_bytes_max = 100;
    refused(&config, QSM_ERR_ARGUMENT, "");
    config = test_config(LOOPBACK, 9);
    config.core.data_bytes_max = config.core.datagram_bytes_max - 1;
    refused(&config, QSM_ERR_ARGUMENT, "");
    config.core.data_bytes_max = QSM_DATA_BYTES_MAX + 1;
    refused(&config, QSM_ERR_ARGUMENT, "");
    qsm_udp_close(NULL);
}

/* ---- an idle driver ---- */

static void test_an_idle_driver_asks_for_time_now_and_then(void) {
    qsm_udp_config config = test_config(LOOPBACK, 10);
    node alone;
    node_open(&alone, &config);
    int64_t descriptors[8];
    uint64_t generation = 0;
    int count = qsm_udp_descriptors(alone.udp, descriptors, 8, &generation);
    CHECK(count >= 2 && descriptors[0] >= 0 && descriptors[1] >= 0 && generation > 0);
    CHECK(qsm_udp_descriptors(alone.udp, NULL, 0, NULL) == count);
    CHECK(qsm_udp_wants_write(alone.udp) == 0);
    CHECK_NODES(&alone, 1, nodes_run(&alone, 1, first_is_host, 30));
    uint32_t busy = 0;
    for (uint32_t turn = 0; turn < 20; turn++) {
        busy += qsm_udp_wait_ns(alone.udp) == 0;
        nodes_turn(&alone, 1);
    }
    CHECK(busy < 20);
    node_close(&alone);
}

static bool first_has_departed(node *nodes, uint32_t count) {
    (void)count;
    return qsm_engine_health(nodes[0].engine) == QSM_HEALTH_CLOSED;
}

static void test_the_last_node_departs_cleanly_too(void) {
    qsm_udp_config config = test_config(LOOPBACK, 11);
    node alone;
    node_open(&alone, &config);
    CHECK_NODES(&alone, 1, nodes_run(&alone, 1, first_is_host, 30));
    CHECK_NODES(&alone, 1, nodes_run(&alone, 1, all_in_one_view, 30));
    qsm_engine_close(alone.engine, qsm_udp_now_ns(alone.udp));
    CHECK_NODES(&alone, 1, nodes_run(&alone, 1, first_has_departed, 30));
    node_close(&alone);
}

static bool one_has_departed(node *nodes, uint32_t count) {
    for (uint32_t index = 0; index < count; index++)
        if (qsm_engine_health(nodes[index].engine) == QSM_HEALTH_CLOSED) return true;
    return false;
}

static bool first_is_alone(node *nodes, uint32_t count) {
    return first_is_host(nodes, count) && nodes[0].member_count == 1;
}

static void test_when_the_host_departs_another_takes_over(void) {
    qsm_udp_config config = test_config(LOOPBACK, 12);
    node nodes[2];
    node_open(&nodes[0], &config);
    node_open(&nodes[1], &config);
    CHECK_NODES(nodes, 2, nodes_run(nodes, 2, all_in_one_view, 30));
    node *host = first_is_host(nodes, 2) ? &nodes[0] : &nodes[1];
    node *other = host == &nodes[0] ? &nodes[1] : &nodes[0];
    qsm_engine_close(host->engine, qsm_udp_now_ns(host->udp));
    CHECK_NODES(nodes, 2, nodes_run(nodes, 2, one_has_departed, 30));
    CHECK(qsm_engine_health(host->engine) == QSM_HEALTH_CLOSED);
    node_close(host);
    CHECK_NODES(other, 1, nodes_run(other, 1, first_is_alone, 30));
    node_close(other);
}

int main(void) {
#ifdef _WIN32
    WSADATA data;
    CHECK(WSAStartup(MAKEWORD(2, 2), &data) == 0);
#endif
    test_bad_arguments_are_refused();
    test_an_unknown_interface_is_refused();
    test_a_busy_unicast_port_is_refused();
    test_a_multicast_port_that_another_program_holds_is_refused();
    test_an_idle_driver_asks_for_time_now_and_then();
    test_the_last_node_departs_cleanly_too();
    test_when_the_host_departs_another_takes_over();
    test_two_nodes_find_each_other_and_messages_arrive_in_order();
    test_the_same_without_offload();
    test_long_datagrams_are_taken_by_who_does_not_make_them();
    test_messages_longer_than_a_datagram_arrive_whole();
    test_three_nodes_with_five_percent_loss_each_way_lose_nothing();
    test_without_multicast_a_known_peer_is_enough();
    test_ipv6_works_where_the_machine_has_it();
    test_nodes_of_another_scope_are_not_heard();
    test_rubbish_from_strangers_changes_nothing();
    return 0;
}
