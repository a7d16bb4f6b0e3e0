/*
 * test_udp_sockets.c - the system's half of the UDP driver, on loopback, without an engine: the
 * choice of an interface, groups and their limits, batches with and without offload.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/udp_address.h"
#include "drivers/udp_groups.h"
#include "drivers/udp_system.h"

#define PORT 47611

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition);  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char sentence[256];
static udp_error error = {sentence, sizeof sentence};

static qsm_address address_of(const char *text, uint16_t port) {
    qsm_address address;
    CHECK(udp_address_parse(text, &address));
    address.port = port;
    return address;
}

/* ---- addresses ---- */

static void test_addresses_are_read_and_written(void) {
    char text[UDP_ADDRESS_TEXT_BYTES];
    qsm_address address = address_of("239.192.7.9", 47474);
    CHECK(address.family == QSM_FAMILY_IPV4 && address.multicast == 1);
    udp_address_text(&address, true, text);
    CHECK(strcmp(text, "239.192.7.9:47474") == 0);
    address = address_of("ff05::8000:1", 1);
    CHECK(address.family == QSM_FAMILY_IPV6 && address.multicast == 1);
    udp_address_text(&address, true, text);
    CHECK(strcmp(text, "[ff05::8000:1]:1") == 0);
    address = address_of("fe80::1", 0);
    CHECK(address.multicast == 0 && udp_address_is_link_local(&address));
    udp_address_text(&address, false, text);
    CHECK(strcmp(text, "fe80::1") == 0);
    CHECK(!udp_address_parse("", &address));
    CHECK(!udp_address_parse("239.192.7", &address));
    CHECK(!udp_address_parse("localhost", &address));
}

static void test_addresses_survive_the_form_of_the_system(void) {
    const char *texts[] = {"127.0.0.1", "239.192.7.9", "::1", "ff02::1234", "fe80::5"};
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        qsm_address before = address_of(texts[index], 4711), after;
        udp_sockaddr system;
        CHECK(udp_address_to_system(&before, 3, &system) > 0);
        CHECK(udp_address_from_system(&system, &after));
        CHECK(udp_address_equal(&before, &after));
    }
    qsm_address simulated = {.family = QSM_FAMILY_SIM};
    udp_sockaddr system;
    CHECK(udp_address_to_system(&simulated, 0, &system) == 0);
}

static void test_scopes_meet_at_addresses_of_their_own(void) {
    uint8_t scope_id[QSM_GROUP_ID_BYTES] = {0};
    qsm_address first = udp_address_of_scope(scope_id, false, 7);
    CHECK(first.multicast == 1 && first.port == 7 && first.bytes[0] == 239);
    CHECK((first.bytes[1] & 0xfc) == 192);
    scope_id[15] = 1;
    qsm_address second = udp_address_of_scope(scope_id, false, 7);
    CHECK(!udp_address_equal(&first, &second));
    second = udp_address_of_scope(scope_id, true, 7);
    CHECK(second.family == QSM_FAMILY_IPV6 && second.bytes[0] == 0xff && second.bytes[1] == 5);
    CHECK(second.bytes[12] & 0x80);
}

/* ---- interfaces ---- */

static udp_interface loopback(void) {
    udp_interface found;
    qsm_address group = address_of("239.192.1.1", PORT);
    CHECK(udp_interface_find("127.0.0.1", &group, &found, &error) == QSM_OK);
    CHECK(found.loopback && found.index > 0 && found.mtu_bytes >= 576);
    CHECK(found.address_count == 1 && found.addresses[0].bytes[0] == 127);
    return found;
}

static void test_an_interface_is_found_by_name_and_by_address(void) {
    udp_interface by_address = loopback(), by_name;
    qsm_address group = address_of("239.192.1.1", PORT);
    CHECK(udp_interface_find(by_address.name, &group, &by_name, &error) == QSM_OK);
    CHECK(by_name.index == by_address.index);
}

static void test_an_interface_that_is_not_there_is_named(void) {
    udp_interface found;
    qsm_address group = address_of("239.192.1.1", PORT);
    CHECK(udp_interface_find("nosuch9", &group, &found, &error) == QSM_ERR_NO_INTERFACE);
    CHECK(strstr(sentence, "nosuch9") != NULL);
    /* An address for documentation, of another network than the tests are in. */
    CHECK(udp_interface_find("203.0.113.77", &group, &found, &error) == QSM_ERR_NO_INTERFACE);
    CHECK(strstr(sentence, "203.0.113.77") != NULL);
    CHECK(udp_interface_find("::1", &group, &found, &error) == QSM_ERR_ARGUMENT);
}

static void test_there_is_always_a_default_interface(void) {
    udp_interface found;
    qsm_address group = address_of("239.192.1.1", PORT);
    CHECK(udp_interface_find("", &group, &found, &error) == QSM_OK);
    CHECK(found.loopback || found.multicast);
}

/* ---- sockets ---- */

typedef struct pair {
    udp_interface interface;
    udp_socket sender;
    udp_groups groups;
    qsm_address self;
    qsm_udp_info info;
} pair;

static void open_pair(pair *opened, bool offload, const qsm_address *group) {
    memset(opened, 0, sizeof *opened);
    opened->interface = loopback();
    udp_socket_options options = {.interface = &opened->interface,
                                  .address = *group,
                                  .buffer_bytes = 1 << 20,
                                  .offload = offload};
    CHECK(udp_groups_open(&opened->groups, &options, group, &error) == QSM_OK);
    options.address = opened->interface.addresses[0];
    CHECK(udp_socket_open_unicast(&options, &opened->sender, &opened->info, &error) == QSM_OK);
    opened->self = options.address;
    CHECK(opened->self.port != 0);
    CHECK(opened->info.send_buffer_bytes > 0 && opened->info.receive_buffer_bytes > 0);
    opened->info.segmentation_offload = opened->sender.segmentation_offload;
    CHECK(udp_socket_probe(&opened->sender, &opened->interface, group, &error) == QSM_OK);
}

static void close_pair(pair *closed) {
    udp_groups_close(&closed->groups);
    udp_socket_close(&closed->sender);
}

/* What arrived at a socket, datagram by datagram, until nothing does. */
typedef struct arrivals {
    uint32_t count;
    uint32_t bytes[512];
    uint8_t first[512];
} arrivals;

static void read_all(pair *opened, udp_socket *reader, arrivals *got) {
    static uint8_t memory[16][UDP_RUN_CAPACITY];
    udp_received received[16];
    uint32_t read;
    memset(got, 0, sizeof *got);
    do {
        for (uint32_t index = 0; index < 16; index++)
            received[index] = (udp_received){.data = memory[index], .capacity = UDP_RUN_CAPACITY};
        read = udp_socket_receive(reader, &opened->interface, received, 16, &opened->info);
        for (uint32_t index = 0; index < read; index++) {
            uint32_t step = received[index].segment_bytes;
            if (step == 0) step = received[index].bytes;
            if (received[index].bytes > 0)
                CHECK(udp_address_equal(&received[index].from, &opened->self));
            for (uint32_t offset = 0; offset < received[index].bytes; offset += step) {
                uint32_t left = received[index].bytes - offset;
                CHECK(got->count < 512);
                got->bytes[got->count] = left < step ? left : step;
                got->first[got->count++] = received[index].data[offset];
            }
        }
    } while (read == 16);
}

/* A few long runs with a shorter end, single datagrams in between, to two destinations. */
static uint32_t make_datagrams(qsm_datagram *datagrams, const qsm_address *group,
                               const qsm_address *self) {
    static uint8_t data[UDP_SEND_MAX][1400];
    for (uint32_t index = 0; index < UDP_SEND_MAX; index++) {
        memset(data[index], (int)index, sizeof data[index]);
        uint32_t bytes = index < 70 ? 1000 : index == 70 ? 10 : index < 100 ? 1400 : index;
        datagrams[index] =
            (qsm_datagram){.to = *group, .data = data[index], .bytes = bytes, .priority = 2};
        if (index % 50 == 49) datagrams[index].to = *self;
    }
    return UDP_SEND_MAX;
}

static void exchange(bool offload) {
    pair opened;
    qsm_address group = address_of("239.192.1.1", PORT);
    open_pair(&opened, offload, &group);
    qsm_datagram datagrams[UDP_SEND_MAX];
    uint32_t count = make_datagrams(datagrams, &group, &opened.self);
    CHECK(udp_socket_send(&opened.sender, &opened.interface, datagrams, count, &opened.info) ==
          count);
    CHECK(opened.info.datagrams_out == count && opened.info.send_errors == 0);
#ifndef _WIN32
    if (!offload) CHECK(opened.info.calls_out == 1);
#endif
    arrivals multicast, unicast;
    read_all(&opened, &opened.groups.sockets[0], &multicast);
    read_all(&opened, &opened.sender, &unicast);
    CHECK(opened.info.kernel_drops == 0);
    CHECK(multicast.count + unicast.count == count);
    uint32_t multicast_next = 0, unicast_next = 0;
    for (uint32_t index = 0; index < count; index++) {
        bool to_self = index % 50 == 49;
        const arrivals *got = to_self ? &unicast : &multicast;
        uint32_t next = to_self ? unicast_next++ : multicast_next++;
        CHECK(got->first[next] == (uint8_t)index && got->bytes[next] == datagrams[index].bytes);
    }
    close_pair(&opened);
}

static void test_datagrams_arrive_whole_and_in_order(void) {
    exchange(false);
}

static void test_offload_changes_nothing_but_the_number_of_calls(void) {
    exchange(true);
}

static void send_one(pair *opened, const qsm_address *to, uint8_t mark) {
    qsm_datagram one = {.to = *to, .data = &mark, .bytes = 1};
    CHECK(udp_socket_send(&opened->sender, &opened->interface, &one, 1, &opened->info) == 1);
}

#ifndef _WIN32
static void test_only_groups_that_were_joined_are_received(void) {
    pair one, other;
    qsm_address first = address_of("239.192.1.1", PORT), second = address_of("239.192.1.2", PORT);
    open_pair(&one, true, &first);
    open_pair(&other, true, &second);
    arrivals got;
    read_all(&one, &one.groups.sockets[0], &got);
    send_one(&one, &first, 1);
    send_one(&one, &second, 2);
    read_all(&one, &one.groups.sockets[0], &got);
    CHECK(got.count == 1 && got.first[0] == 1);
    /* Unicast to the port of the groups is nobody's. */
    qsm_address stray = one.self;
    stray.port = PORT;
    send_one(&one, &stray, 3);
    read_all(&one, &one.groups.sockets[0], &got);
    CHECK(got.count == 0);

    qsm_address both[] = {first, second};
    CHECK(udp_groups_set(&one.groups, both, 2) == QSM_OK);
    send_one(&one, &second, 4);
    read_all(&one, &one.groups.sockets[0], &got);
    CHECK(got.count == 1 && got.first[0] == 4);
    CHECK(udp_groups_renew(&one.groups) == QSM_OK && one.groups.membership_count == 2);
    send_one(&one, &first, 7);
    send_one(&one, &second, 8);
    read_all(&one, &one.groups.sockets[0], &got);
    CHECK(got.count == 2 && got.first[0] == 7 && got.first[1] == 8);
    CHECK(udp_groups_set(&one.groups, &second, 1) == QSM_OK);
    send_one(&one, &first, 5);
    send_one(&one, &second, 6);
    read_all(&one, &one.groups.sockets[0], &got);
    CHECK(got.count == 1 && got.first[0] == 6);
    close_pair(&one);
    close_pair(&other);
}

static void test_a_full_receive_buffer_is_counted(void) {
    pair opened;
    qsm_address group = address_of("239.192.1.1", PORT);
    open_pair(&opened, false, &group);
    static uint8_t data[1400];
    qsm_datagram datagrams[UDP_SEND_MAX];
    for (uint32_t index = 0; index < UDP_SEND_MAX; index++)
        datagrams[index] =
            (qsm_datagram){.to = group, .data = data, .bytes = sizeof data, .priority = 2};
    uint64_t sent = 0, read = 0;
    arrivals got;
    while (sent < 4096)
        sent += udp_socket_send(&opened.sender, &opened.interface, datagrams, UDP_SEND_MAX,
                                &opened.info);
    static uint8_t memory[UDP_DATAGRAM_CAPACITY];
    udp_received one = {.data = memory, .capacity = sizeof memory};
    while (udp_socket_receive(&opened.groups.sockets[0], &opened.interface, &one, 1,
                              &opened.info) == 1)
        read += one.bytes != 0;
    /* The count comes with the next datagram that finds room. */
    send_one(&opened, &group, 1);
    read_all(&opened, &opened.groups.sockets[0], &got);
    CHECK(got.count == 1);
    CHECK(read < sent && read + opened.info.kernel_drops == sent);
    close_pair(&opened);
}
#endif

/* Linux allows 20 groups on a socket unless told otherwise. */
static void test_more_groups_than_a_socket_allows_get_more_sockets(void) {
    enum { GROUPS = 100 };
    pair opened;
    qsm_address groups[GROUPS];
    for (uint32_t index = 0; index < GROUPS; index++) {
        groups[index] = address_of("239.192.2.0", PORT);
        groups[index].bytes[3] = (uint8_t)index;
    }
    open_pair(&opened, true, &groups[0]);
    uint64_t generation = opened.groups.generation;
    CHECK(udp_groups_set(&opened.groups, groups, GROUPS) == QSM_OK);
    CHECK(opened.groups.membership_count == GROUPS);
    if (opened.groups.socket_count > 1) CHECK(opened.groups.generation > generation);
    bool readable[GROUPS], seen[GROUPS] = {false};
    arrivals got;
    for (uint32_t index = 0; index < opened.groups.socket_count; index++)
        read_all(&opened, &opened.groups.sockets[index], &got);
    udp_sockets_readable(opened.groups.sockets, opened.groups.socket_count, readable);
    for (uint32_t index = 0; index < opened.groups.socket_count; index++)
        CHECK(!readable[index]);
    for (uint32_t index = 0; index < GROUPS; index++)
        send_one(&opened, &groups[index], (uint8_t)index);
    udp_sockets_readable(opened.groups.sockets, opened.groups.socket_count, readable);
    for (uint32_t index = 0; index < opened.groups.socket_count; index++) {
        CHECK(readable[index]);
        read_all(&opened, &opened.groups.sockets[index], &got);
        for (uint32_t mark = 0; mark < got.count; mark++) {
#ifndef _WIN32
            CHECK(!seen[got.first[mark]]);
#endif
            seen[got.first[mark]] = true;
        }
    }
    for (uint32_t index = 0; index < GROUPS; index++)
        CHECK(seen[index]);
    /* Places that become free are used again. */
    uint32_t sockets = opened.groups.socket_count;
    for (uint32_t index = 0; index < GROUPS; index++)
        groups[index].bytes[2] = 3;
    CHECK(udp_groups_set(&opened.groups, groups, GROUPS) == QSM_OK);
    CHECK(opened.groups.socket_count == sockets);
    close_pair(&opened);
}

static void test_a_datagram_that_cannot_be_sent_is_lost_alone(void) {
    pair opened;
    qsm_address group = address_of("239.192.1.1", PORT);
    open_pair(&opened, true, &group);
    uint8_t data[100] = {1};
    qsm_datagram datagrams[3];
    for (uint32_t index = 0; index < 3; index++)
        datagrams[index] =
            (qsm_datagram){.to = group, .data = data, .bytes = sizeof data, .priority = 2};
    /* From a loopback address nothing leaves the machine. */
    datagrams[1].to = address_of("203.0.113.77", 9);
    CHECK(udp_socket_send(&opened.sender, &opened.interface, datagrams, 3, &opened.info) == 3);
    CHECK(opened.info.send_errors == 1 && opened.info.datagrams_out == 2);
    arrivals got;
    read_all(&opened, &opened.groups.sockets[0], &got);
    CHECK(got.count == 2);
    close_pair(&opened);
}

static void test_a_busy_unicast_port_is_named(void) {
    pair opened;
    qsm_address group = address_of("239.192.1.1", PORT);
    open_pair(&opened, true, &group);
    udp_socket second;
    qsm_udp_info info = {0};
    udp_socket_options options = {
        .interface = &opened.interface, .address = opened.self, .buffer_bytes = 1 << 16};
    CHECK(udp_socket_open_unicast(&options, &second, &info, &error) == QSM_ERR_PORT_IN_USE);
    char port[16];
    snprintf(port, sizeof port, "%u", (unsigned)opened.self.port);
    CHECK(strstr(sentence, port) != NULL && second.handle == -1);
    close_pair(&opened);
}

static void test_the_clock_does_not_go_back(void) {
    uint64_t before = udp_clock_ns();
    for (int turn = 0; turn < 1000; turn++) {
        uint64_t now = udp_clock_ns();
        CHECK(now >= before);
        before = now;
    }
}

int main(void) {
    CHECK(udp_system_start(&error) == QSM_OK);
    test_addresses_are_read_and_written();
    test_addresses_survive_the_form_of_the_system();
    test_scopes_meet_at_addresses_of_their_own();
    test_an_interface_is_found_by_name_and_by_address();
    test_an_interface_that_is_not_there_is_named();
    test_there_is_always_a_default_interface();
    test_datagrams_arrive_whole_and_in_order();
    test_offload_changes_nothing_but_the_number_of_calls();
#ifndef _WIN32
    /* Windows keeps groups of sockets apart by itself, wine does not; it counts no drops. */
    test_only_groups_that_were_joined_are_received();
    test_a_full_receive_buffer_is_counted();
#endif
    test_more_groups_than_a_socket_allows_get_more_sockets();
    test_a_datagram_that_cannot_be_sent_is_lost_alone();
    test_a_busy_unicast_port_is_named();
    test_the_clock_does_not_go_back();
    udp_system_stop();
    return 0;
}
