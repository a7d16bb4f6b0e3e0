/*
 * udp_driver.c - the UDP driver of qsm.h: an engine, its sockets and the order in which they are
 * served.
 *
 * Portable: what differs between systems is behind udp_system.h. The only part of the engine's
 * library that reads a clock or draws entropy.
 */
#include <assert.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "drivers/udp_address.h"
#include "drivers/udp_groups.h"
#include "drivers/udp_system.h"

#define MULTICAST_PORT_DEFAULT 17474
#define SOCKET_BUFFER_BYTES_DEFAULT (4u << 20)
#define WINDOW_BYTES_MIN (256u << 10)

/* Who asks for shorter datagrams than this has a reason, on loopback as well. */
#define DATAGRAM_BYTES_USUAL 1432

/* A round reads, works and sends; the clock is read once for it. These bounds keep a round within
 * about a millisecond, so that a step ends near its budget. */
#define ROUND_DATAGRAMS_MAX 256
#define ROUND_BYTES_MAX (256u << 10)
#define ROUND_WORK_MAX 1024

/* With receive offload a buffer may hold 64 datagrams, and within one machine one may be as long as
 * those, so that few are enough for a call. */
#define RUN_SLOTS 4
#define LONGEST_SLOTS 8

/* Fewer sockets than this are simply read; with more, asking first which to read is cheaper. */
#define SOCKETS_READ_BLINDLY_MAX 3

/* A group that could not be joined is tried again after this. */
#define JOIN_RETRY_NS 1000000000u

/* With a full socket the loop waits until it can be written to; this is in case it is not told. */
#define BLOCKED_WAIT_NS 1000000u

struct qsm_udp {
    qsm_engine *engine;
    udp_interface interface;
    udp_socket unicast;
    udp_groups groups; /* no sockets: unicast only */
    uint32_t slot_count, slot_capacity;
    qsm_buffer *buffers[UDP_RECEIVE_MAX]; /* NULL: to be asked for when it is needed */
    udp_received received[UDP_RECEIVE_MAX];
    qsm_datagram datagrams[UDP_SEND_MAX];
    uint64_t subscriptions_seen; /* generation of the engine's list that was joined */
    uint64_t join_retry_ns;      /* UINT64_MAX: everything is joined */
    qsm_prng faults;
    uint16_t drop_in_per_mille, drop_out_per_mille;
    qsm_udp_info info;
};

int udp_fail(udp_error *error, int result, const char *format, ...) {
    if (error->text != NULL && error->bytes > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, error->bytes, format, arguments);
        va_end(arguments);
    }
    return result;
}

/* ---- opening and closing ---- */

void qsm_udp_config_defaults(qsm_udp_config *config) {
    memset(config, 0, sizeof *config);
    qsm_config_defaults(&config->core);
    config->multicast_port = MULTICAST_PORT_DEFAULT;
    config->socket_buffer_bytes = SOCKET_BUFFER_BYTES_DEFAULT;
}

/* The rendezvous that the configuration asks for, named or derived. */
static int read_group(const qsm_udp_config *config, qsm_address *group, udp_error *error) {
    bool ipv6 = config->ipv6 != 0;
    uint16_t port = config->multicast_port != 0 ? config->multicast_port : MULTICAST_PORT_DEFAULT;
    if (config->multicast_group[0] == '\0') {
        *group = udp_address_of_scope(config->core.scope_id, ipv6, port);
        return QSM_OK;
    }
    if (!udp_address_parse(config->multicast_group, group) || !group->multicast ||
        (group->family == QSM_FAMILY_IPV6) != ipv6)
        return udp_fail(error, QSM_ERR_ARGUMENT, "%s is not an %s multicast address.",
                        config->multicast_group, ipv6 ? "IPv6" : "IPv4");
    group->port = port;
    return QSM_OK;
}

static int check_config(const qsm_udp_config *config, const qsm_address *group, udp_error *error) {
    if (config->drop_in_per_mille > 1000 || config->drop_out_per_mille > 1000)
        return udp_fail(error, QSM_ERR_ARGUMENT, "A per-mille value is above 1000.");
    if (config->unicast_port == group->port && !config->no_multicast)
        return udp_fail(error, QSM_ERR_ARGUMENT,
                        "The unicast port must differ from the multicast port, %u.",
                        (unsigned)group->port);
    return QSM_OK;
}

/* Opens the unicast socket on the first of the interface's addresses that can be used: an IPv6
 * address is not while the network is asked whether somebody else has it. */
static int open_unicast(qsm_udp *udp, const qsm_udp_config *config, udp_socket_options *options,
                        udp_error *error) {
    int result = QSM_ERR_NO_INTERFACE;
    assert(udp->interface.address_count > 0);
    for (uint32_t index = 0; index < udp->interface.address_count; index++) {
        options->address = udp->interface.addresses[index];
        options->address.port = config->unicast_port;
        result = udp_socket_open_unicast(options, &udp->unicast, &udp->info, error);
        if (result != QSM_ERR_NO_INTERFACE) return result;
    }
    return result;
}

/* Multicast before unicast, so that the free port that the system finds is another. */
static int open_sockets(qsm_udp *udp, const qsm_udp_config *config, const qsm_address *group,
                        udp_error *error) {
    udp_socket_options options = {.interface = &udp->interface,
                                  .address = *group,
                                  .buffer_bytes = config->socket_buffer_bytes != 0
                                                      ? config->socket_buffer_bytes
                                                      : SOCKET_BUFFER_BYTES_DEFAULT,
                                  .offload = !config->no_offload};
    int result = QSM_OK;
    if (!config->no_multicast) {
        if (!udp->interface.multicast && !udp->interface.loopback)
            return udp_fail(
                error, QSM_ERR_NO_MULTICAST,
                "The network interface %s is not made for multicast; choose another, or "
                "unicast only.",
                udp->interface.name);
        result = udp_groups_open(&udp->groups, &options, group, error);
        if (result != QSM_OK) return result;
    }
    result = open_unicast(udp, config, &options, error);
    if (result != QSM_OK) return result;
    udp->info.self = options.address;
    udp_groups_spare(&udp->groups, &udp->info.self);
    if (!config->no_multicast)
        result = udp_socket_probe(&udp->unicast, &udp->interface, group, error);
    return result;
}

static void fill_info(qsm_udp *udp, const qsm_udp_config *config, const qsm_address *group) {
    qsm_udp_info *info = &udp->info;
    snprintf(info->interface, sizeof info->interface, "%s", udp->interface.name);
    info->loopback = udp->interface.loopback;
    info->multicast = !config->no_multicast;
    if (info->multicast) info->rendezvous = *group;
    info->segmentation_offload = udp->unicast.segmentation_offload;
    info->receive_offload = udp->unicast.receive_offload;
    uint32_t mtu_bytes = udp->interface.mtu_bytes;
    bool longest = info->receive_offload || mtu_bytes > UDP_LONG_DATAGRAM_CAPACITY;
    udp->slot_count = info->receive_offload ? RUN_SLOTS : longest ? LONGEST_SLOTS : UDP_RECEIVE_MAX;
    udp->slot_capacity = longest                             ? UDP_RUN_CAPACITY
                         : mtu_bytes > UDP_DATAGRAM_CAPACITY ? UDP_LONG_DATAGRAM_CAPACITY
                                                             : UDP_DATAGRAM_CAPACITY;
}

/* What is under way should fit the receivers' sockets, which are taken to be like our own. The
 * system counts datagrams that came joined little above their content, single ones at twice that.
 */
static uint32_t fitting_window(const qsm_udp *udp, uint32_t window_bytes) {
    uint32_t fits = udp->info.receive_buffer_bytes / (udp->info.receive_offload ? 1 : 2);
    if (fits < WINDOW_BYTES_MIN) fits = WINDOW_BYTES_MIN;
    return window_bytes < fits ? window_bytes : fits;
}

static int make_engine(qsm_udp *udp, const qsm_udp_config *config, udp_error *error) {
    qsm_config core = config->core;
    core.self = udp->info.self;
    core.rendezvous = udp->info.rendezvous;
    uint32_t header_bytes = config->ipv6 ? 40 + 8 : 20 + 8;
    uint32_t mtu_bytes = udp->interface.mtu_bytes;
    uint32_t path_bytes = mtu_bytes > header_bytes ? mtu_bytes - header_bytes : 0;
    /* All on one machine: its loopback carries whatever is sent, and fewer datagrams cost less. */
    if (udp->interface.loopback && core.data_bytes_max == 0 &&
        core.datagram_bytes_max >= DATAGRAM_BYTES_USUAL)
        core.data_bytes_max = QSM_DATA_BYTES_MAX;
    if (core.data_bytes_max > path_bytes) core.data_bytes_max = path_bytes;
    if (core.datagram_bytes_max > path_bytes) core.datagram_bytes_max = path_bytes;
    core.window_bytes_max = fitting_window(udp, core.window_bytes_max);
    if (sodium_is_zero(core.random_seed, sizeof core.random_seed))
        randombytes_buf(core.random_seed, sizeof core.random_seed);
    qsm_prng_seed(&udp->faults, core.random_seed);
    int result = qsm_engine_create(&core, udp_clock_ns(), &udp->engine);
    sodium_memzero(&core, sizeof core);
    if (result != QSM_OK) return udp_fail(error, result, "%s", qsm_error_text(result));
    return QSM_OK;
}

static int open_parts(qsm_udp *udp, const qsm_udp_config *config, udp_error *error) {
    qsm_address group;
    int result = read_group(config, &group, error);
    if (result == QSM_OK) result = check_config(config, &group, error);
    if (result == QSM_OK)
        result = udp_interface_find(config->interface, &group, &udp->interface, error);
    if (result == QSM_OK) result = open_sockets(udp, config, &group, error);
    if (result != QSM_OK) return result;
    fill_info(udp, config, &group);
    return make_engine(udp, config, error);
}

static bool is_text(const char *bytes, size_t capacity) {
    return memchr(bytes, '\0', capacity) != NULL;
}

int qsm_udp_open(const qsm_udp_config *config, qsm_udp **udp, char *error, uint32_t error_bytes) {
    udp_error sentence = {error, error_bytes};
    if (udp == NULL)
        return udp_fail(&sentence, QSM_ERR_ARGUMENT, "There is no place for the driver.");
    *udp = NULL;
    if (config == NULL || !is_text(config->interface, sizeof config->interface) ||
        !is_text(config->multicast_group, sizeof config->multicast_group))
        return udp_fail(&sentence, QSM_ERR_ARGUMENT,
                        "The configuration is missing, or a text in it has no end.");
    if (sodium_init() < 0)
        return udp_fail(&sentence, QSM_ERR_SYSTEM, "The system gives no random numbers.");
    qsm_udp *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return udp_fail(&sentence, QSM_ERR_NO_MEMORY, "%s", qsm_error_text(QSM_ERR_NO_MEMORY));
    opened->unicast.handle = -1;
    opened->join_retry_ns = UINT64_MAX;
    opened->subscriptions_seen = UINT64_MAX;
    opened->drop_in_per_mille = config->drop_in_per_mille;
    opened->drop_out_per_mille = config->drop_out_per_mille;
    int result = udp_system_start(&sentence);
    if (result != QSM_OK) {
        free(opened);
        return result;
    }
    result = open_parts(opened, config, &sentence);
    if (result != QSM_OK) {
        qsm_udp_close(opened);
        return result;
    }
    *udp = opened;
    return QSM_OK;
}

void qsm_udp_close(qsm_udp *udp) {
    if (udp == NULL) return;
    for (uint32_t index = 0; index < udp->slot_count; index++)
        if (udp->buffers[index] != NULL) qsm_buffer_free(udp->buffers[index]);
    if (udp->engine != NULL) qsm_engine_destroy(udp->engine);
    udp_groups_close(&udp->groups);
    udp_socket_close(&udp->unicast);
    udp_system_stop();
    sodium_memzero(udp, sizeof *udp);
    free(udp);
}

/* ---- receiving ---- */

/* Throws away each datagram of a run with the probability asked for; those behind move up. */
static void inject_loss(qsm_udp *udp, udp_received *run) {
    uint32_t step = run->segment_bytes != 0 ? run->segment_bytes : run->bytes;
    uint32_t kept = 0;
    for (uint32_t offset = 0; offset < run->bytes; offset += step) {
        uint32_t bytes = run->bytes - offset < step ? run->bytes - offset : step;
        if (qsm_prng_below(&udp->faults, 1000) < udp->drop_in_per_mille) continue;
        if (kept != offset) memmove(run->data + kept, run->data + offset, bytes);
        kept += bytes;
    }
    run->bytes = kept;
    if (run->bytes <= step) run->segment_bytes = 0;
}

static void copy_over(qsm_udp *udp, uint64_t now_ns, const udp_received *run) {
    uint32_t step = run->segment_bytes != 0 ? run->segment_bytes : run->bytes;
    for (uint32_t offset = 0; offset < run->bytes; offset += step) {
        uint32_t bytes = run->bytes - offset < step ? run->bytes - offset : step;
        qsm_engine_receive_copy(udp->engine, now_ns, &run->from, run->data + offset, bytes);
    }
}

/* Gives one datagram or run to the engine. Returns how many datagrams it was, also of those that
 * are ignored: a flood of them must not keep a step going. */
static uint32_t hand_over(qsm_udp *udp, uint64_t now_ns, uint32_t index) {
    udp_received *run = &udp->received[index];
    if (run->bytes == 0) return 1;
    uint32_t step = run->segment_bytes != 0 ? run->segment_bytes : run->bytes;
    uint32_t count = (run->bytes + step - 1) / step;
    udp->info.datagrams_in += count;
    /* Multicast comes back to its sender, for the sake of other programs on this machine. */
    if (udp_address_equal(&run->from, &udp->info.self)) return count;
    if (udp->drop_in_per_mille != 0) inject_loss(udp, run);
    /* What leaves half of its buffer empty is copied out of it: somebody may keep one datagram for
     * long, and with it the whole buffer. */
    if (run->capacity > UDP_DATAGRAM_CAPACITY && run->bytes <= run->capacity / 2) {
        copy_over(udp, now_ns, run);
    } else if (run->bytes != 0) {
        qsm_engine_receive(udp->engine, now_ns, &run->from, udp->buffers[index], run->bytes,
                           run->segment_bytes);
        udp->buffers[index] = NULL;
    }
    return count;
}

/* Fills empty slots; returns how many, from the first on, can be read into. */
static uint32_t prepare_slots(qsm_udp *udp) {
    for (uint32_t index = 0; index < udp->slot_count; index++) {
        if (udp->buffers[index] != NULL) continue;
        qsm_buffer *buffer = qsm_buffer_new(udp->engine, udp->slot_capacity);
        if (buffer == NULL) return index;
        udp->buffers[index] = buffer;
        udp->received[index].data = qsm_buffer_data(buffer);
        udp->received[index].capacity = udp->slot_capacity;
    }
    return udp->slot_count;
}

/* Reads one socket until it is empty or a round's worth was read. True: there may be more. */
static bool drain_socket(qsm_udp *udp, udp_socket *reader, uint64_t now_ns) {
    uint32_t datagrams = 0, bytes = 0;
    while (datagrams < ROUND_DATAGRAMS_MAX && bytes < ROUND_BYTES_MAX) {
        uint32_t slots = prepare_slots(udp);
        /* The engine has no room: what has arrived waits in the socket until it has. */
        if (slots == 0) return false;
        uint32_t read =
            udp_socket_receive(reader, &udp->interface, udp->received, slots, &udp->info);
        for (uint32_t index = 0; index < read; index++) {
            bytes += udp->received[index].bytes;
            datagrams += hand_over(udp, now_ns, index);
        }
        if (read < slots) return false;
    }
    return true;
}

static bool drain_groups(qsm_udp *udp, uint64_t now_ns) {
    udp_groups *groups = &udp->groups;
    bool more = false, readable[64];
    for (uint32_t begin = 0; begin < groups->socket_count; begin += 64) {
        uint32_t count = groups->socket_count - begin < 64 ? groups->socket_count - begin : 64;
        bool ask = groups->socket_count >= SOCKETS_READ_BLINDLY_MAX;
        if (ask) udp_sockets_readable(&groups->sockets[begin], count, readable);
        for (uint32_t index = 0; index < count; index++)
            if (!ask || readable[index])
                more |= drain_socket(udp, &groups->sockets[begin + index], now_ns);
    }
    return more;
}

/* ---- subscriptions ---- */

static void join_subscriptions(qsm_udp *udp, uint64_t now_ns) {
    uint64_t generation = 0;
    if (udp->groups.socket_count == 0) return;
    qsm_engine_subscriptions(udp->engine, NULL, 0, &generation);
    if (generation == udp->subscriptions_seen && now_ns < udp->join_retry_ns) return;
    qsm_address few[64], *wanted = few;
    int count = qsm_engine_subscriptions(udp->engine, few, 64, &generation);
    /* A full answer may be a part of it. */
    for (uint32_t capacity = 64; count >= (int)capacity;) {
        capacity = (uint32_t)count + 64;
        if (wanted != few) free(wanted);
        wanted = malloc(capacity * sizeof *wanted);
        if (wanted == NULL) return;
        count = qsm_engine_subscriptions(udp->engine, wanted, capacity, &generation);
    }
    int result = count >= 0 ? udp_groups_set(&udp->groups, wanted, (uint32_t)count) : QSM_OK;
    udp->subscriptions_seen = generation;
    udp->join_retry_ns = result == QSM_OK ? UINT64_MAX : now_ns + JOIN_RETRY_NS;
    if (wanted != few) free(wanted);
}

/* ---- sending ---- */

/* Sends without those that fault injection takes out; returns how many of all are done with. */
static uint32_t send_with_loss(qsm_udp *udp, uint32_t count) {
    uint32_t places[UDP_SEND_MAX], kept = 0;
    qsm_datagram *datagrams = udp->datagrams;
    for (uint32_t index = 0; index < count; index++) {
        if (qsm_prng_below(&udp->faults, 1000) < udp->drop_out_per_mille) continue;
        places[kept] = index;
        datagrams[kept++] = datagrams[index];
    }
    uint32_t sent = udp_socket_send(&udp->unicast, &udp->interface, datagrams, kept, &udp->info);
    return sent < kept ? places[sent] : count;
}

/* Sends one batch: what has arrived meanwhile is looked at before the next. True: there may be
 * more. */
static bool send_batch(qsm_udp *udp, uint64_t now_ns) {
    udp->unicast.blocked = false;
    int asked = qsm_engine_send(udp->engine, now_ns, udp->datagrams, UDP_SEND_MAX);
    if (asked <= 0) return false;
    uint32_t count = (uint32_t)asked;
    assert(count <= UDP_SEND_MAX);
    /* Multicast comes back at once, cut to nothing: who reads it now need not wake again for it. */
    bool echoes = udp->groups.socket_count > 0 &&
                  (udp->datagrams[0].to.multicast || udp->datagrams[count - 1].to.multicast);
    uint32_t sent =
        udp->drop_out_per_mille != 0
            ? send_with_loss(udp, count)
            : udp_socket_send(&udp->unicast, &udp->interface, udp->datagrams, count, &udp->info);
    qsm_engine_sent(udp->engine, sent);
    if (udp->unicast.blocked) return false;
    return echoes || qsm_engine_deadline_ns(udp->engine) <= now_ns;
}

/* ---- the loop ---- */

/* Reads, works and sends once. True: there may be more to do at once. */
static bool run_round(qsm_udp *udp, uint64_t now_ns) {
    bool more = drain_socket(udp, &udp->unicast, now_ns);
    more |= drain_groups(udp, now_ns);
    more |= qsm_engine_turn(udp->engine, now_ns, ROUND_WORK_MAX) >= ROUND_WORK_MAX;
    join_subscriptions(udp, now_ns);
    more |= send_batch(udp, now_ns);
    return more;
}

int qsm_udp_step(qsm_udp *udp, uint64_t budget_ns) {
    uint64_t now_ns = udp_clock_ns();
    uint64_t end_ns = budget_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + budget_ns;
    while (run_round(udp, now_ns)) {
        now_ns = udp_clock_ns();
        if (now_ns >= end_ns) return 1;
    }
    return 0;
}

uint64_t qsm_udp_wait_ns(const qsm_udp *udp) {
    uint64_t deadline_ns = qsm_engine_deadline_ns(udp->engine);
    if (udp->join_retry_ns < deadline_ns) deadline_ns = udp->join_retry_ns;
    if (deadline_ns == UINT64_MAX) return UINT64_MAX;
    uint64_t now_ns = udp_clock_ns();
    uint64_t wait_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    if (udp->unicast.blocked && wait_ns < BLOCKED_WAIT_NS) return BLOCKED_WAIT_NS;
    return wait_ns;
}

uint64_t qsm_udp_now_ns(const qsm_udp *udp) {
    (void)udp;
    return udp_clock_ns();
}

/* ---- looking at it ---- */

qsm_engine *qsm_udp_engine(qsm_udp *udp) {
    return udp->engine;
}

int qsm_udp_descriptors(const qsm_udp *udp, int64_t *descriptors, uint32_t count_max,
                        uint64_t *generation) {
    uint32_t count = 1 + udp->groups.socket_count;
    for (uint32_t index = 0; index < count && index < count_max; index++)
        descriptors[index] =
            index == 0 ? udp->unicast.handle : udp->groups.sockets[index - 1].handle;
    if (generation != NULL) *generation = udp->groups.generation;
    return (int)count;
}

int qsm_udp_wants_write(const qsm_udp *udp) {
    return udp->unicast.blocked;
}

void qsm_udp_get_info(const qsm_udp *udp, qsm_udp_info *info) {
    *info = udp->info;
}
