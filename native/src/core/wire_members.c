/*
 * wire_members.c - control packets about who is there: how nodes find a host, what passes between
 * them and it, and whom multicast reaches.
 */
#include <string.h>

#include "core/wire_form.h"

static void read_epoch(qsm_reader *reader, qsm_epoch *epoch) {
    epoch->term = qsm_read64(reader);
    epoch->host = qsm_read64(reader);
}

static void write_epoch(qsm_writer *writer, const qsm_epoch *epoch) {
    qsm_write64(writer, epoch->term);
    qsm_write64(writer, epoch->host);
}

static void read_16(qsm_reader *reader, uint8_t out[16]) {
    const uint8_t *bytes = qsm_read_bytes(reader, 16);
    if (bytes != NULL) memcpy(out, bytes, 16);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

enum {
    SOLICIT_PADDING = 37, /* makes a solicitation as long as the offer that answers it */
    BEACON_MULTICAST = 1,
    BEACON_INSISTS = 2,
    BEACON_STAYS = 4,
    BEACON_FLAGS_END = 8
};

static void read_solicit(qsm_reader *in, qsm_control *control) {
    qsm_solicit *solicit = &control->solicit;
    read_16(in, solicit->nonce);
    qsm_read_address(in, &solicit->address);
    solicit->multicast = qsm_read_flag(in);
    qsm_read_bytes(in, SOLICIT_PADDING);
}

static void write_solicit(qsm_writer *out, const qsm_control *control) {
    const qsm_solicit *solicit = &control->solicit;
    static const uint8_t padding[SOLICIT_PADDING];
    qsm_write_bytes(out, solicit->nonce, 16);
    qsm_write_address(out, &solicit->address);
    qsm_write8(out, solicit->multicast);
    qsm_write_bytes(out, padding, SOLICIT_PADDING);
}

static void read_offer(qsm_reader *in, qsm_control *control) {
    qsm_offer *offer = &control->offer;
    read_16(in, offer->nonce);
    read_epoch(in, &offer->epoch);
    qsm_read_address(in, &offer->address);
    read_16(in, offer->cookie);
    offer->insists = qsm_read_flag(in);
    offer->take_overs = qsm_read8(in);
}

static void write_offer(qsm_writer *out, const qsm_control *control) {
    const qsm_offer *offer = &control->offer;
    qsm_write_bytes(out, offer->nonce, 16);
    write_epoch(out, &offer->epoch);
    qsm_write_address(out, &offer->address);
    qsm_write_bytes(out, offer->cookie, 16);
    qsm_write8(out, offer->insists);
    qsm_write8(out, offer->take_overs);
}

static void read_beacon(qsm_reader *in, qsm_control *control) {
    qsm_beacon *beacon = &control->beacon;
    read_epoch(in, &beacon->epoch);
    qsm_read_address(in, &beacon->address);
    beacon->members = qsm_read32(in);
    uint8_t flags = qsm_read8(in);
    beacon->multicast = flags & BEACON_MULTICAST;
    beacon->insists = flags & BEACON_INSISTS;
    beacon->stays = flags & BEACON_STAYS;
    if (flags >= BEACON_FLAGS_END) in->failed = true;
}

static void write_beacon(qsm_writer *out, const qsm_control *control) {
    const qsm_beacon *beacon = &control->beacon;
    write_epoch(out, &beacon->epoch);
    qsm_write_address(out, &beacon->address);
    qsm_write32(out, beacon->members);
    qsm_write8(out, (uint8_t)((beacon->multicast ? BEACON_MULTICAST : 0) |
                              (beacon->insists ? BEACON_INSISTS : 0) |
                              (beacon->stays ? BEACON_STAYS : 0)));
}

static void read_link(qsm_reader *in, qsm_control *control) {
    qsm_link_packet *link = &control->link;
    link->receiver = qsm_read64(in);
    link->stream = qsm_read32(in);
    link->acknowledged_stream = qsm_read32(in);
    link->sequence = qsm_read32(in);
    link->acknowledged = qsm_read32(in);
    link->selective = qsm_read64(in);
    link->last = qsm_read_flag(in);
    link->payload_bytes = qsm_reader_left(in);
    link->payload = qsm_read_bytes(in, link->payload_bytes);
}

static void write_link(qsm_writer *out, const qsm_control *control) {
    const qsm_link_packet *link = &control->link;
    qsm_write64(out, link->receiver);
    qsm_write32(out, link->stream);
    qsm_write32(out, link->acknowledged_stream);
    qsm_write32(out, link->sequence);
    qsm_write32(out, link->acknowledged);
    qsm_write64(out, link->selective);
    qsm_write8(out, link->last);
    qsm_write_bytes(out, link->payload, link->payload_bytes);
}

static void read_ping(qsm_reader *in, qsm_control *control) {
    qsm_ping *ping = &control->ping;
    ping->nonce = qsm_read64(in);
    read_epoch(in, &ping->epoch);
    ping->applied = qsm_read64(in);
    ping->members = qsm_read32(in);
    ping->successor_count = qsm_read8(in);
    for (uint32_t i = 0; i < QSM_SUCCESSORS_MAX; i++)
        ping->successors[i] = qsm_read64(in);
    if (ping->successor_count > QSM_SUCCESSORS_MAX || ping->members > QSM_CLIENTS_MAX)
        in->failed = true;
}

static void write_ping(qsm_writer *out, const qsm_control *control) {
    const qsm_ping *ping = &control->ping;
    qsm_write64(out, ping->nonce);
    write_epoch(out, &ping->epoch);
    qsm_write64(out, ping->applied);
    qsm_write32(out, ping->members);
    qsm_write8(out, ping->successor_count);
    for (uint32_t i = 0; i < QSM_SUCCESSORS_MAX; i++)
        qsm_write64(out, ping->successors[i]);
}

static void read_evicted(qsm_reader *in, qsm_control *control) {
    qsm_evicted *evicted = &control->evicted;
    evicted->node = qsm_read64(in);
    evicted->nonce = qsm_read64(in);
    read_epoch(in, &evicted->epoch);
    evicted->reason = qsm_read8(in);
}

static void write_evicted(qsm_writer *out, const qsm_control *control) {
    const qsm_evicted *evicted = &control->evicted;
    qsm_write64(out, evicted->node);
    qsm_write64(out, evicted->nonce);
    write_epoch(out, &evicted->epoch);
    qsm_write8(out, evicted->reason);
}

static void read_call(qsm_reader *in, qsm_control *control) {
    qsm_call *call = &control->call;
    call->pause_ms = qsm_read32(in);
    if (call->pause_ms == 0 || call->pause_ms > QSM_CALL_PAUSE_MS_MAX) in->failed = true;
}

static void write_call(qsm_writer *out, const qsm_control *control) {
    const qsm_call *call = &control->call;
    qsm_write32(out, call->pause_ms);
}

enum { PROBE_FIXED_BYTES = QSM_HEADER_BYTES + 6 };

/* Padded to the length that it asks about, which it also names: what came is what was sent. */
static void read_probe(qsm_reader *in, qsm_control *control) {
    qsm_probe *probe = &control->probe;
    probe->nonce = qsm_read32(in);
    probe->bytes = qsm_read16(in);
    if (probe->bytes < PROBE_FIXED_BYTES || probe->bytes > QSM_DATAGRAM_BYTES_MAX) {
        in->failed = true;
        return;
    }
    qsm_read_bytes(in, probe->bytes - PROBE_FIXED_BYTES);
}

static void write_probe(qsm_writer *out, const qsm_control *control) {
    static const uint8_t padding[QSM_DATAGRAM_BYTES_MAX];
    qsm_write32(out, control->probe.nonce);
    qsm_write16(out, control->probe.bytes);
    qsm_write_bytes(out, padding, control->probe.bytes - PROBE_FIXED_BYTES);
}

static void read_probe_answer(qsm_reader *in, qsm_control *control) {
    control->probe.nonce = qsm_read32(in);
    control->probe.bytes = qsm_read16(in);
}

static void write_probe_answer(qsm_writer *out, const qsm_control *control) {
    qsm_write32(out, control->probe.nonce);
    qsm_write16(out, control->probe.bytes);
}

const qsm_wire_form qsm_wire_members[QSM_KIND_COUNT] = {
    [QSM_KIND_SOLICIT] = {.read = read_solicit, .write = write_solicit},
    [QSM_KIND_OFFER] = {.read = read_offer, .write = write_offer},
    [QSM_KIND_BEACON] = {.read = read_beacon, .write = write_beacon},
    [QSM_KIND_LINK] = {.read = read_link, .write = write_link},
    [QSM_KIND_PING] = {.read = read_ping, .write = write_ping},
    [QSM_KIND_PONG] = {.read = read_ping, .write = write_ping},
    [QSM_KIND_EVICTED] = {.read = read_evicted, .write = write_evicted},
    [QSM_KIND_CALL] = {.read = read_call, .write = write_call},
    [QSM_KIND_PROBE] = {.read = read_probe, .write = write_probe},
    [QSM_KIND_PROBE_ANSWER] = {.read = read_probe_answer, .write = write_probe_answer},
};
