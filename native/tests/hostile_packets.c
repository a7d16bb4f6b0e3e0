#include "hostile_packets.h"

#include "core/bytes.h"
#include "core/engine.h"
#include "hostile.h"
#include "membership/client.h"
#include "membership/group.h"

enum { SEALED_BYTES_MAX = 100 };

typedef struct {
    uint8_t bytes[SEALED_BYTES_MAX];
    uint8_t tag[QSM_TAG_BYTES];
} sealed_message;

/* Numbers that are near something, or far from everything. */
static uint64_t draw_number(uint64_t *seed) {
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     7,
                                     8,
                                     63,
                                     64,
                                     65,
                                     1000,
                                     65535,
                                     65536,
                                     65537,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 40,
                                     INT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    uint64_t what = hostile_draw(seed);
    uint64_t edge = edges[(what >> 8) % (sizeof edges / sizeof *edges)];
    return what % 8 == 0 ? hostile_draw(seed) : edge + (what >> 16) % 3 - 1;
}

uint64_t hostile_region(fuzz_world *world, uint32_t node, uint64_t *seed) {
    qsm_region_info regions[16];
    int count = qsm_engine_regions(qsm_sim_engine(world->sim, node), regions, 16);
    if (count <= 0 || hostile_draw(seed) % 16 == 0) return hostile_draw(seed);
    return regions[hostile_draw(seed) % (uint64_t)(count < 16 ? count : 16)].region;
}

static uint64_t draw_node(fuzz_world *world, uint64_t *seed) {
    return hostile_draw(seed) % 16 ? world->ids[hostile_draw(seed) % WORLD_NODES]
                                   : hostile_draw(seed);
}

static uint8_t draw_ranges(qsm_range *ranges, uint32_t count_max, uint64_t *seed) {
    uint64_t at = hostile_draw(seed) % 4 ? hostile_draw(seed) % 100 : draw_number(seed);
    uint32_t count = (uint32_t)(hostile_draw(seed) % (count_max + 1));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length =
            hostile_draw(seed) % 3 ? hostile_draw(seed) % 100 + 1 : QSM_STREAM_SLOTS_MAX;
        ranges[i] = (qsm_range){.first = at + 1, .last = at + length};
        at += length + 1 + hostile_draw(seed) % 3;
    }
    return (uint8_t)count;
}

/* Mostly the side that the receiver is on and a batch that it knows: with any other nearly all
 * would be refused before it is looked at. */
static uint32_t draw_side(fuzz_world *world, uint32_t to, uint64_t *seed) {
    return hostile_draw(seed) % 16 ? qsm_side(qsm_sim_engine(world->sim, to))
                                   : (uint32_t)hostile_draw(seed);
}

static uint32_t draw_batch(fuzz_world *world, uint32_t to, uint64_t *seed) {
    return hostile_draw(seed) % 8 ? qsm_batch(qsm_sim_engine(world->sim, to))
                                  : (uint32_t)hostile_draw(seed);
}

static void draw_token(fuzz_world *world, uint32_t to, qsm_token *token, uint64_t *seed) {
    token->region = hostile_region(world, to, seed);
    token->batch = draw_batch(world, to, seed);
    token->level = (uint8_t)(hostile_draw(seed) % 3);
    token->ring = (uint16_t)(hostile_draw(seed) % 2);
    token->origin = draw_node(world, seed);
    token->round = (uint32_t)draw_number(seed);
    token->record_count = (uint8_t)(hostile_draw(seed) % 6);
    for (uint32_t i = 0; i < token->record_count; i++) {
        qsm_token_record *record = &token->records[i];
        record->stream = draw_node(world, seed);
        record->high = draw_number(seed);
        record->low =
            hostile_draw(seed) % 2 ? record->high : draw_number(seed) % (record->high | 1);
        record->cached = hostile_draw(seed) % 2 ? record->high : 0;
        record->stable = hostile_draw(seed) % 2 ? record->high : 0;
        record->cut = draw_number(seed);
        record->lost = (uint16_t)hostile_draw(seed);
        record->participants = (uint16_t)hostile_draw(seed);
        record->gap_count = draw_ranges(record->gaps, QSM_TOKEN_GAPS_MAX, seed);
    }
}

/* Mostly that of the host which the receiver follows, or one that is a little greater. */
static qsm_epoch draw_epoch(fuzz_world *world, uint32_t to, uint64_t *seed) {
    qsm_epoch epoch = qsm_sim_engine(world->sim, to)->client.epoch;
    if (hostile_draw(seed) % 4 == 0) epoch.term = draw_number(seed);
    if (hostile_draw(seed) % 4 == 0) epoch.host = draw_node(world, seed);
    return epoch;
}

/* A well-formed control packet with unlikely content. Returns its length. */
static uint32_t draw_control(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                             uint8_t *packet, uint8_t *kind) {
    static const uint8_t kinds[] = {QSM_KIND_STATUS,       QSM_KIND_PULL,          QSM_KIND_TOKEN,
                                    QSM_KIND_TOKEN_ACK,    QSM_KIND_ACK,           QSM_KIND_NUDGE,
                                    QSM_KIND_ORPHAN_QUERY, QSM_KIND_ORPHAN_REPORT, QSM_KIND_PING,
                                    QSM_KIND_PONG,         QSM_KIND_SOLICIT,       QSM_KIND_OFFER,
                                    QSM_KIND_BEACON,       QSM_KIND_EVICTED,       QSM_KIND_CALL,
                                    QSM_KIND_PROBE,        QSM_KIND_PROBE_ANSWER};
    static qsm_control c;
    memset(&c, 0, sizeof c);
    *kind = kinds[hostile_draw(seed) % sizeof kinds];
    c.side = draw_side(world, to, seed);
    switch (*kind) {
    case QSM_KIND_STATUS:
        c.status.region = hostile_region(world, to, seed);
        c.status.batch = draw_batch(world, to, seed);
        c.status.high = draw_number(seed);
        c.status.stable = hostile_draw(seed) % 2 ? c.status.high : 0;
        c.status.fin = hostile_draw(seed) % 2;
        break;
    case QSM_KIND_PULL:
        c.pull.region = hostile_region(world, to, seed);
        c.pull.stream = draw_node(world, seed);
        c.pull.meaning = (uint8_t)(hostile_draw(seed) % QSM_PULL_MEANINGS);
        c.pull.range_count = draw_ranges(c.pull.ranges, QSM_RANGES_MAX, seed);
        break;
    case QSM_KIND_TOKEN: draw_token(world, to, &c.token, seed); break;
    case QSM_KIND_TOKEN_ACK:
        c.token_ack.region = hostile_region(world, to, seed);
        c.token_ack.origin = draw_node(world, seed);
        c.token_ack.round = (uint32_t)draw_number(seed);
        break;
    case QSM_KIND_ACK:
        c.ack.region = hostile_region(world, to, seed);
        c.ack.batch = draw_batch(world, to, seed);
        c.ack.stream = hostile_draw(seed) % 2 ? world->ids[to] : draw_node(world, seed);
        c.ack.low = draw_number(seed);
        c.ack.lost = (uint16_t)hostile_draw(seed);
        break;
    case QSM_KIND_NUDGE:
        c.nudge.region = hostile_region(world, to, seed);
        c.nudge.stream = draw_node(world, seed);
        c.nudge.high = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_QUERY:
        c.orphan_query.region = hostile_region(world, to, seed);
        c.orphan_query.batch = draw_batch(world, to, seed);
        c.orphan_query.stream = draw_node(world, seed);
        c.orphan_query.attempt = (uint32_t)draw_number(seed);
        c.orphan_query.from = draw_number(seed);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        c.orphan_report.region = hostile_region(world, to, seed);
        c.orphan_report.batch = draw_batch(world, to, seed);
        c.orphan_report.stream = draw_node(world, seed);
        c.orphan_report.attempt = (uint32_t)hostile_draw(seed) % 4;
        c.orphan_report.stable = draw_number(seed);
        c.orphan_report.range_count = draw_ranges(c.orphan_report.ranges, QSM_RANGES_MAX, seed);
        break;
    case QSM_KIND_PROBE:
    case QSM_KIND_PROBE_ANSWER:
        c.probe.nonce = (uint32_t)draw_number(seed);
        c.probe.bytes = (uint16_t)(100 + hostile_draw(seed) % (QSM_DATAGRAM_BYTES_MAX - 99));
        break;
    case QSM_KIND_CALL: c.call.pause_ms = (uint32_t)draw_number(seed); break;
    case QSM_KIND_SOLICIT:
        c.solicit.address = qsm_sim_address(as, false);
        c.solicit.multicast = hostile_draw(seed) % 2;
        break;
    case QSM_KIND_OFFER:
        c.offer.epoch = draw_epoch(world, to, seed);
        c.offer.address = qsm_sim_address((uint32_t)(hostile_draw(seed) % 4), false);
        break;
    case QSM_KIND_BEACON:
        c.beacon.epoch = draw_epoch(world, to, seed);
        c.beacon.address = qsm_sim_address((uint32_t)(hostile_draw(seed) % 4), false);
        c.beacon.members = (uint32_t)draw_number(seed);
        c.beacon.multicast = hostile_draw(seed) % 2;
        c.beacon.insists = hostile_draw(seed) % 2;
        c.beacon.stays = hostile_draw(seed) % 2;
        break;
    case QSM_KIND_EVICTED:
        c.evicted.node = hostile_draw(seed) % 2 ? world->ids[to] : draw_node(world, seed);
        c.evicted.epoch = draw_epoch(world, to, seed);
        c.evicted.reason = (uint8_t)hostile_draw(seed);
        break;
    default:
        c.ping.nonce = hostile_draw(seed);
        c.ping.epoch = draw_epoch(world, to, seed);
        c.ping.applied = draw_number(seed);
        c.ping.members = (uint32_t)hostile_draw(seed);
        c.ping.successor_count = (uint8_t)(hostile_draw(seed) % (QSM_SUCCESSORS_MAX + 1));
        for (uint32_t i = 0; i < c.ping.successor_count; i++)
            c.ping.successors[i] = draw_node(world, seed);
    }
    return qsm_control_write(fuzz_keys(), *kind, world->ids[as], ++world->counters[as], &c, packet,
                             QSM_DATAGRAM_BYTES_MAX);
}

/* A message of a group that the receiver is in, as far as the sender likes to keep to that: sealed
 * with the group's key, which a member has, or rubbish. */
static void draw_message(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                         qsm_message *message, sealed_message *sealed) {
    static const uint8_t plain[SEALED_BYTES_MAX];
    const qsm_group *group = world->groups[to][hostile_draw(seed) % WORLD_GROUPS];
    bool known = group != NULL && hostile_draw(seed) % 8;
    uint64_t life = UINT64_C(1) << 40, near = hostile_draw(seed) % 4 ? 8 : 100000;
    *message =
        (qsm_message){.group = known ? group->handle : (uint32_t)(hostile_draw(seed) % 4),
                      .view = known && hostile_draw(seed) % 4 ? group->view : draw_number(seed),
                      .number = hostile_draw(seed) % 4 ? life + 1 + hostile_draw(seed) % near
                                                       : draw_number(seed) | 1,
                      .previous = hostile_draw(seed) % 2 ? 0 : draw_number(seed),
                      .bytes = (uint16_t)(hostile_draw(seed) % SEALED_BYTES_MAX),
                      .flags = (uint8_t)(hostile_draw(seed) % 64),
                      .epoch = known && hostile_draw(seed) % 8 ? (uint8_t)group->key_epoch : 1,
                      .count = (uint16_t)(hostile_draw(seed) % 8),
                      .tag = sealed->tag};
    if (!known || (message->flags & QSM_MESSAGE_AES) || hostile_draw(seed) % 8 == 0) return;
    const qsm_seal_identity identity = {.group_id = group->id,
                                        .sender = world->ids[as],
                                        .number = message->number,
                                        .flags = message->flags,
                                        .epoch = message->epoch};
    qsm_message_seal(group->key, &identity, plain, message->bytes, sealed->bytes, sealed->tag);
}

/* A data packet whose front is good. */
static uint32_t draw_data(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                          uint8_t *packet) {
    static qsm_data data;
    static sealed_message sealed[3];
    static uint8_t all[3 * SEALED_BYTES_MAX];
    uint32_t used = 0;
    memset(&data, 0, sizeof data);
    data.sender = world->ids[as];
    data.side = draw_side(world, to, seed);
    data.batch = draw_batch(world, to, seed);
    data.flags = (uint8_t)(hostile_draw(seed) % 4);
    data.region_count = 1;
    data.regions[0].region = hostile_region(world, to, seed);
    data.regions[0].sequence =
        hostile_draw(seed) % 2 ? hostile_draw(seed) % 70000 + 1 : draw_number(seed) | 1;
    data.regions[0].stable = hostile_draw(seed) % 2 ? data.regions[0].sequence - 1 : 0;
    data.message_count = (uint8_t)(hostile_draw(seed) % 4);
    for (uint32_t i = 0; i < data.message_count; i++) {
        draw_message(world, as, to, seed, &data.messages[i], &sealed[i]);
        memcpy(all + used, sealed[i].bytes, data.messages[i].bytes);
        used += data.messages[i].bytes;
    }
    data.hole_count = hostile_draw(seed) % 4 ? 0 : draw_ranges(data.holes, 20, seed);
    return qsm_data_write(fuzz_keys(), packet, QSM_DATAGRAM_BYTES_MAX, &data, all);
}

/* What an executor tells another of a dead sender's messages: see exchange.c. */
static uint32_t draw_estate(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                            qsm_bytes *out) {
    uint32_t count = (uint32_t)(hostile_draw(seed) % 4);
    qsm_bytes_add8(out, QSM_TO_EXECUTOR_ESTATE);
    qsm_bytes_add32(out, draw_side(world, to, seed));
    qsm_bytes_add32(out, draw_batch(world, to, seed));
    qsm_bytes_add64(out, hostile_region(world, to, seed));
    qsm_bytes_add64(out, hostile_region(world, to, seed));
    qsm_bytes_add64(out, draw_node(world, seed));
    qsm_bytes_add8(out, (uint8_t)(hostile_draw(seed) % 7));
    qsm_bytes_add32(out, hostile_draw(seed) % 4 ? count : (uint32_t)draw_number(seed));
    for (uint32_t i = 0; i < count; i++) {
        qsm_message message;
        static sealed_message sealed;
        draw_message(world, as, to, seed, &message, &sealed);
        qsm_bytes_add32(out, message.group);
        qsm_bytes_add64(out, message.view);
        qsm_bytes_add64(out, message.number);
        qsm_bytes_add64(out, message.previous);
        qsm_bytes_add16(out, message.bytes);
        qsm_bytes_add8(out, message.flags);
        qsm_bytes_add8(out, message.epoch);
        qsm_bytes_add(out, sealed.tag, QSM_TAG_BYTES);
        qsm_bytes_add(out, sealed.bytes, message.bytes);
    }
    return out->count;
}

/* A request to the host, or to one who is none: groups left and joined, a region that is drained.
 */
static uint32_t draw_request(fuzz_world *world, uint32_t to, uint64_t *seed, qsm_bytes *out) {
    bool drained = hostile_draw(seed) % 2;
    uint32_t count = (uint32_t)(hostile_draw(seed) % 20);
    qsm_bytes_add8(out, drained ? QSM_TO_HOST_DRAINED : QSM_TO_HOST_CHANGES);
    if (drained) {
        qsm_bytes_add64(out, hostile_region(world, to, seed));
        qsm_bytes_add64(out, draw_number(seed));
        return out->count;
    }
    qsm_bytes_add32(out, (uint32_t)draw_number(seed));
    for (uint32_t list = 0; list < 2; list++) {
        qsm_bytes_add32(out, hostile_draw(seed) % 4 ? count : (uint32_t)draw_number(seed));
        for (uint32_t i = 0; i < count; i++) {
            qsm_bytes_add64(out, hostile_draw(seed));
            qsm_bytes_add64(out, hostile_draw(seed));
        }
    }
    return out->count;
}

/* The first packet of a link that has begun anew, with such a message in it. */
static uint32_t draw_link(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                          uint8_t *packet) {
    qsm_bytes out = {0};
    if (hostile_draw(seed) % 2)
        (void)draw_estate(world, as, to, seed, &out);
    else
        (void)draw_request(world, to, seed, &out);
    const qsm_control control = {.link = {.receiver = world->ids[to],
                                          .stream = 0x70000000u + ++world->link_streams,
                                          .sequence = 1,
                                          .last = hostile_draw(seed) % 8 != 0,
                                          .payload = out.data,
                                          .payload_bytes = out.count}};
    uint32_t bytes =
        qsm_control_write(fuzz_keys(), QSM_KIND_LINK, world->ids[as], ++world->counters[as],
                          &control, packet, QSM_DATAGRAM_BYTES_MAX);
    qsm_bytes_free(&out);
    return bytes;
}

/* A part of a packet, of which the rest may never come. */
static uint32_t draw_part(fuzz_world *world, uint32_t as, uint64_t *seed, uint8_t *packet) {
    static const uint8_t rubbish[QSM_SAFE_BYTES];
    bool fits = hostile_draw(seed) % 4;
    uint32_t whole = QSM_SAFE_BYTES + 1 + (uint32_t)(hostile_draw(seed) % 8000);
    uint32_t unit = QSM_SAFE_BYTES - QSM_HEADER_BYTES - 4;
    uint32_t offset = (uint32_t)(hostile_draw(seed) % 8) * unit;
    uint32_t left = offset < whole ? whole - offset : 0;
    if (!fits) offset = (uint32_t)draw_number(seed);
    qsm_writer out = qsm_header_begin(packet, QSM_SAFE_BYTES, QSM_KIND_PART, world->ids[as],
                                      (uint32_t)(hostile_draw(seed) % 100));
    qsm_write16(&out, (uint16_t)whole);
    qsm_write16(&out, (uint16_t)offset);
    qsm_write_bytes(&out, rubbish, left < unit ? left : unit);
    return qsm_header_finish(fuzz_keys(), &out);
}

uint32_t hostile_packet(fuzz_world *world, uint32_t as, uint32_t to, uint64_t *seed,
                        uint8_t *packet, uint8_t *kind) {
    uint64_t what = hostile_draw(seed) % 9;
    if (what == 8) {
        *kind = QSM_KIND_PART;
        return draw_part(world, as, seed, packet);
    }
    if (what >= 4) return draw_control(world, as, to, seed, packet, kind);
    *kind = what == 0 ? QSM_KIND_LINK : QSM_KIND_DATA;
    return what == 0 ? draw_link(world, as, to, seed, packet)
                     : draw_data(world, as, to, seed, packet);
}
