/*
 * udp_open.c - a UDP driver is made and ended: what its configuration asks for, its interface and
 * sockets, an engine that fits them. Draws the engine's entropy, and only here is any drawn.
 */
#include <assert.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/udp_address.h"
#include "drivers/udp_driver.h"

#define MULTICAST_PORT_DEFAULT 17474
#define SOCKET_BUFFER_BYTES_DEFAULT (4u << 20)
#define WINDOW_BYTES_MIN (256u << 10)

/* Who asks for shorter datagrams than this has a reason, on loopback as well. */
#define DATAGRAM_BYTES_USUAL 1432

/* With receive offload a buffer may hold 64 datagrams, and within one machine one may be as long as
 * those, so that few are enough for a call. */
#define RUN_SLOTS 4
#define LONGEST_SLOTS 8

int udp_fail(udp_error *error, int result, const char *format, ...) {
    if (error->text != NULL && error->bytes > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, error->bytes, format, arguments);
        va_end(arguments);
    }
    return result;
}

/* ---- configuration --------------------------------------------------------------------------- */

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

/* ---- sockets --------------------------------------------------------------------------------- */

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
    info->mtu_bytes = udp->interface.mtu_bytes;
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

/* ---- the engine ------------------------------------------------------------------------------ */

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

/* ---- all of it ------------------------------------------------------------------------------- */

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
    opened->drop_above_bytes = config->drop_above_bytes;
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
