/*
 * test_udp_failures.c - what the Linux sockets do when the system refuses: a full buffer, a path
 * that cannot segment, no route, a signal. The system's answers are written down in the test,
 * because loopback never gives them.
 */
#ifndef _WIN32
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int scripted_sendmmsg(int handle, struct mmsghdr *messages, unsigned count, int flags);
static int scripted_recvmmsg(int handle, struct mmsghdr *messages, unsigned count, int flags,
                             struct timespec *timeout);

/* The file itself, with two calls replaced; the library's copy of it is then not linked. */
#define sendmmsg scripted_sendmmsg
#define recvmmsg scripted_recvmmsg
#include "drivers/udp_posix_traffic.c"
#undef sendmmsg
#undef recvmmsg

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition);  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Each answer is a number of messages taken (at most as many as offered) or, negative, an error. */
static const int *answers;
static int answer_count, answer_next;
static uint32_t messages_taken, datagrams_taken;

static int scripted_sendmmsg(int handle, struct mmsghdr *messages, unsigned count, int flags) {
    (void)handle;
    (void)flags;
    CHECK(answer_next < answer_count);
    int answer = answers[answer_next++];
    if (answer < 0) {
        errno = -answer;
        return -1;
    }
    if ((unsigned)answer > count) answer = (int)count;
    for (int index = 0; index < answer; index++) {
        messages_taken++;
        datagrams_taken += (uint32_t)messages[index].msg_hdr.msg_iovlen;
    }
    return answer;
}

static int scripted_recvmmsg(int handle, struct mmsghdr *messages, unsigned count, int flags,
                             struct timespec *timeout) {
    (void)flags;
    (void)timeout;
    CHECK(answer_next < answer_count);
    int answer = answers[answer_next++];
    if (answer >= 0) return recvmmsg(handle, messages, count, MSG_DONTWAIT, NULL);
    errno = -answer;
    return -1;
}

typedef struct sending {
    udp_socket socket;
    udp_interface interface;
    qsm_udp_info info;
    qsm_datagram datagrams[10];
} sending;

/* Ten datagrams: five of one size for one destination, then five for another. */
static uint32_t send_ten(sending *try, bool offload, const int *script, int script_length) {
    static const uint8_t data[100];
    memset(try, 0, sizeof *try);
    try->socket.segmentation_offload = offload;
    try->info.segmentation_offload = offload;
    for (uint32_t index = 0; index < 10; index++) {
        qsm_address to = {.family = QSM_FAMILY_IPV4, .port = 9, .bytes = {127, 0, 0, 1}};
        if (index >= 5) to.port = 10;
        try->datagrams[index] =
            (qsm_datagram){.to = to, .data = data, .bytes = sizeof data, .priority = 2};
    }
    answers = script;
    answer_count = script_length;
    answer_next = 0;
    messages_taken = datagrams_taken = 0;
    return udp_socket_send(&try->socket, &try->interface, try->datagrams, 10, &try->info);
}

#define SEND_TEN(try, offload, ...)                                                                \
    send_ten(try, offload, (const int[]){__VA_ARGS__},                                             \
             (int)(sizeof (int[]){__VA_ARGS__} / sizeof(int)))

static void test_a_full_buffer_blocks_and_keeps_the_rest(void) {
    sending try;
    CHECK(SEND_TEN(&try, false, 4, -EAGAIN) == 4);
    CHECK(try.socket.blocked && try.info.datagrams_out == 4 && try.info.send_errors == 0);
    CHECK(SEND_TEN(&try, true, 1, -EAGAIN) == 5);
    CHECK(try.socket.blocked && messages_taken == 1);
    CHECK(SEND_TEN(&try, false, -EAGAIN) == 0);
    CHECK(try.socket.blocked);
    CHECK(SEND_TEN(&try, false, 3, 7) == 10);
    CHECK(!try.socket.blocked && answer_next == 2);
}

static void test_control_packets_are_never_joined_into_one_send(void) {
    sending try;
    (void)SEND_TEN(&try, true, 2);
    CHECK(messages_taken == 2 && datagrams_taken == 10);
    for (uint32_t index = 0; index < 10; index++)
        try.datagrams[index].priority = 0;
    answers = (const int[]){10};
    answer_count = 1;
    answer_next = messages_taken = datagrams_taken = 0;
    CHECK(udp_socket_send(&try.socket, &try.interface, try.datagrams, 10, &try.info) == 10);
    CHECK(messages_taken == 10 && datagrams_taken == 10);
}

static void test_a_path_that_cannot_segment_gets_single_datagrams(void) {
    const int refusals[] = {-EIO, -EINVAL, -EMSGSIZE};
    for (uint32_t index = 0; index < 3; index++) {
        sending try;
        CHECK(SEND_TEN(&try, true, refusals[index], 10) == 10);
        CHECK(!try.socket.segmentation_offload && try.info.segmentation_offload == 0);
        CHECK(messages_taken == 10 && try.info.send_errors == 0);
    }
    sending try;
    CHECK(SEND_TEN(&try, true, 1, -EIO, 10) == 10);
    CHECK(messages_taken == 6 && datagrams_taken == 10);
}

static void test_a_datagram_that_is_refused_is_lost_and_the_others_go_on(void) {
    const int refusals[] = {-EPERM, -ENOBUFS, -ENETUNREACH, -ECONNREFUSED, -EINVAL, -EHOSTUNREACH};
    for (uint32_t index = 0; index < 6; index++) {
        sending try;
        CHECK(SEND_TEN(&try, false, 2, refusals[index], 7) == 10);
        CHECK(try.info.send_errors == 1 && try.info.datagrams_out == 9 && !try.socket.blocked);
    }
    sending try;
    CHECK(SEND_TEN(&try, true, -ENETUNREACH, 1) == 10);
    CHECK(try.info.send_errors == 5 && try.info.datagrams_out == 5);
    CHECK(try.socket.segmentation_offload);
}

static void test_a_signal_changes_nothing(void) {
    sending try;
    CHECK(SEND_TEN(&try, true, -EINTR, -EINTR, 2) == 10);
    CHECK(try.info.send_errors == 0 && try.info.datagrams_out == 10 && messages_taken == 2);
}

static void test_runs_keep_to_the_bounds_of_the_system(void) {
    static const uint8_t data[1472];
    qsm_datagram datagrams[UDP_SEND_MAX];
    qsm_address to = {.family = QSM_FAMILY_IPV4, .port = 9, .bytes = {127, 0, 0, 1}};
    for (uint32_t index = 0; index < UDP_SEND_MAX; index++)
        datagrams[index] = (qsm_datagram){.to = to, .data = data, .bytes = 100, .priority = 2};
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 64);
    CHECK(run_length(datagrams, 3) == 3);
    datagrams[5].bytes = 99;
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 6);
    datagrams[5].bytes = 101;
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 5);
    datagrams[2].to.port = 10;
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 2);
    datagrams[1].bytes = 0;
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 1);
    for (uint32_t index = 0; index < UDP_SEND_MAX; index++)
        datagrams[index] = (qsm_datagram){.to = to, .data = data, .bytes = 1472, .priority = 2};
    CHECK(run_length(datagrams, UDP_SEND_MAX) == 44);
}

static void test_an_error_of_an_earlier_send_does_not_hide_what_arrived(void) {
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    CHECK(send(pair[0], "hello", 5, 0) == 5);
    udp_socket reader = {.handle = pair[1]};
    udp_interface interface = {.index = 1};
    qsm_udp_info info = {0};
    uint8_t memory[64];
    udp_received received = {.data = memory, .capacity = sizeof memory};
    const int script[] = {-ECONNREFUSED, -EINTR, 1, -EAGAIN, -EBADF, -EBADF, -EBADF, -EBADF};
    answers = script;
    answer_count = 8;
    answer_next = 0;
    CHECK(udp_socket_receive(&reader, &interface, &received, 1, &info) == 1);
    /* It has no address of a family that we know, so it is to be ignored. */
    CHECK(received.bytes == 0 && info.calls_in == 3);
    CHECK(udp_socket_receive(&reader, &interface, &received, 1, &info) == 0);
    CHECK(answer_next == 4);
    CHECK(udp_socket_receive(&reader, &interface, &received, 1, &info) == 0);
    CHECK(answer_next == 8);
    close(pair[0]);
    close(pair[1]);
}

int main(void) {
    test_a_full_buffer_blocks_and_keeps_the_rest();
    test_control_packets_are_never_joined_into_one_send();
    test_a_path_that_cannot_segment_gets_single_datagrams();
    test_a_datagram_that_is_refused_is_lost_and_the_others_go_on();
    test_a_signal_changes_nothing();
    test_runs_keep_to_the_bounds_of_the_system();
    test_an_error_of_an_earlier_send_does_not_hide_what_arrived();
    return 0;
}
#else
int main(void) {
    return 0;
}
#endif
