/*
 * udp_driver.c - the UDP driver of qsm.h at work: the order in which an engine and its sockets are
 * served.
 *
 * Portable: what differs between systems is behind udp_system.h. With udp_open.c the only part of
 * the engine's library that reads a clock.
 */
#include "drivers/udp_driver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/udp_address.h"

/* A round reads, works and sends; the clock is read once for it. These bounds keep a round within
 * about a millisecond, so that a step ends near its budget. */
#define ROUND_DATAGRAMS_MAX 256
#define ROUND_BYTES_MAX (256u << 10)
#define ROUND_WORK_MAX 1024

/* Fewer sockets than this are simply read; with more, asking first which to read is cheaper. */
#define SOCKETS_READ_BLINDLY_MAX 3

/* A group that could not be joined is tried again after this. */
#define JOIN_RETRY_NS 1000000000u

/* With a full socket the loop waits until it can be written to; this is in case it is not told. */
#define BLOCKED_WAIT_NS 1000000u

/* ---- receiving ------------------------------------------------------------------------------- */

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

/* ---- subscriptions --------------------------------------------------------------------------- */

static void join_subscriptions(qsm_udp *udp, uint64_t now_ns) {
    uint64_t generation = 0;
    if (udp->groups.socket_count == 0) return;
    uint64_t renewals = qsm_engine_renewals(udp->engine);
    if (renewals != udp->renewals_seen && udp_groups_renew(&udp->groups) != QSM_OK)
        udp->join_retry_ns = now_ns;
    udp->renewals_seen = renewals;
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

/* ---- sending --------------------------------------------------------------------------------- */

/* Sends without those that fault injection takes out; returns how many of all are done with. */
static uint32_t send_with_loss(qsm_udp *udp, uint32_t count) {
    uint32_t places[UDP_SEND_MAX], kept = 0;
    qsm_datagram *datagrams = udp->datagrams;
    for (uint32_t index = 0; index < count; index++) {
        if (qsm_prng_below(&udp->faults, 1000) < udp->drop_out_per_mille) continue;
        if (udp->drop_above_bytes != 0 && datagrams[index].bytes > udp->drop_above_bytes) continue;
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
        udp->drop_out_per_mille != 0 || udp->drop_above_bytes != 0
            ? send_with_loss(udp, count)
            : udp_socket_send(&udp->unicast, &udp->interface, udp->datagrams, count, &udp->info);
    qsm_engine_sent(udp->engine, sent);
    if (udp->unicast.blocked) return false;
    return echoes || qsm_engine_deadline_ns(udp->engine) <= now_ns;
}

/* ---- the loop -------------------------------------------------------------------------------- */

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

/* ---- looking at it --------------------------------------------------------------------------- */

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
