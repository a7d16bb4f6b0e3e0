#include "core/wire.h"

#include <assert.h>
#include <string.h>

#include "core/endian.h"

/* ---- cursors --------------------------------------------------------------------------------- */

const uint8_t *qsm_read_bytes(qsm_reader *reader, uint32_t bytes) {
    if (reader->failed || qsm_reader_left(reader) < bytes) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += bytes;
    return at;
}

static inline uint64_t read_number(qsm_reader *reader, uint32_t bytes) {
    const uint8_t *at = qsm_read_bytes(reader, bytes);
    return at != NULL ? qsm_load_le(at, bytes) : 0;
}

uint8_t qsm_read8(qsm_reader *reader) {
    return (uint8_t)read_number(reader, 1);
}
uint16_t qsm_read16(qsm_reader *reader) {
    return (uint16_t)read_number(reader, 2);
}
uint32_t qsm_read32(qsm_reader *reader) {
    return (uint32_t)read_number(reader, 4);
}
uint64_t qsm_read64(qsm_reader *reader) {
    return read_number(reader, 8);
}

void qsm_write_bytes(qsm_writer *writer, const void *data, uint32_t bytes) {
    if (writer->failed || (uint32_t)(writer->end - writer->at) < bytes) {
        writer->failed = true;
        return;
    }
    if (bytes) memcpy(writer->at, data, bytes);
    writer->at += bytes;
}

static inline void write_number(qsm_writer *writer, uint64_t value, uint32_t bytes) {
    uint8_t raw[8];
    qsm_store_le(raw, value, bytes);
    qsm_write_bytes(writer, raw, bytes);
}

void qsm_write8(qsm_writer *writer, uint8_t value) {
    write_number(writer, value, 1);
}
void qsm_write16(qsm_writer *writer, uint16_t value) {
    write_number(writer, value, 2);
}
void qsm_write32(qsm_writer *writer, uint32_t value) {
    write_number(writer, value, 4);
}
void qsm_write64(qsm_writer *writer, uint64_t value) {
    write_number(writer, value, 8);
}

void qsm_read_address(qsm_reader *reader, qsm_address *address) {
    *address = (qsm_address){0};
    address->family = qsm_read8(reader);
    address->multicast = qsm_read8(reader);
    address->port = qsm_read16(reader);
    const uint8_t *bytes = qsm_read_bytes(reader, 16);
    if (bytes != NULL) memcpy(address->bytes, bytes, 16);
    bool known = address->family == QSM_FAMILY_NONE || address->family == QSM_FAMILY_SIM ||
                 address->family == QSM_FAMILY_IPV4 || address->family == QSM_FAMILY_IPV6;
    if (!known || address->multicast > 1) reader->failed = true;
}

void qsm_write_address(qsm_writer *writer, const qsm_address *address) {
    qsm_write8(writer, address->family);
    qsm_write8(writer, address->multicast);
    qsm_write16(writer, address->port);
    qsm_write_bytes(writer, address->bytes, 16);
}

/* ---- header ---------------------------------------------------------------------------------- */

uint32_t qsm_header_front(const uint8_t *packet, uint32_t bytes) {
    if (bytes < QSM_HEADER_BYTES || bytes > QSM_DATA_BYTES_MAX) return 0;
    if (packet[0] != QSM_WIRE_VERSION || packet[1] == 0 || packet[1] >= QSM_KIND_COUNT) return 0;
    if (packet[1] != QSM_KIND_DATA && bytes > QSM_DATAGRAM_BYTES_MAX) return 0;
    uint32_t front = packet[2] | (uint32_t)packet[3] << 8;
    if (front < QSM_HEADER_BYTES || front > bytes) return 0;
    return packet[1] == QSM_KIND_DATA || front == bytes ? front : 0;
}

bool qsm_header_open(const qsm_scope_keys *keys, const uint8_t *packet, uint32_t bytes,
                     qsm_header *header) {
    uint32_t front = qsm_header_front(packet, bytes);
    if (front == 0) return false;
    uint8_t tag[QSM_TAG_BYTES];
    qsm_packet_tag(keys, packet, front, tag);
    return qsm_header_open_tagged(keys, packet, front, tag, header);
}

bool qsm_header_open_tagged(const qsm_scope_keys *keys, const uint8_t *packet, uint32_t front,
                            const uint8_t tag[16], qsm_header *header) {
    if (!qsm_equal16(tag, packet + 16) &&
        !qsm_packet_tag_of_others(keys, packet, front, packet + 16))
        return false;
    qsm_reader reader = {.at = packet + 4, .end = packet + 16};
    header->kind = packet[1];
    header->front_bytes = (uint16_t)front;
    header->counter = qsm_read32(&reader);
    header->sender = qsm_read64(&reader);
    return header->sender != 0;
}

qsm_writer qsm_header_begin(uint8_t *packet, uint32_t bytes_max, uint8_t kind, uint64_t sender,
                            uint32_t counter) {
    assert(bytes_max >= QSM_HEADER_BYTES && kind > 0 && kind < QSM_KIND_COUNT);
    qsm_writer writer = {.start = packet, .at = packet, .end = packet + bytes_max};
    qsm_write8(&writer, QSM_WIRE_VERSION);
    qsm_write8(&writer, kind);
    qsm_write16(&writer, 0);
    qsm_write32(&writer, counter);
    qsm_write64(&writer, sender);
    memset(writer.at, 0, QSM_TAG_BYTES);
    writer.at += QSM_TAG_BYTES;
    return writer;
}

uint32_t qsm_header_finish(const qsm_scope_keys *keys, qsm_writer *writer) {
    if (writer->failed) return 0;
    uint32_t front = qsm_writer_used(writer);
    writer->start[2] = (uint8_t)front;
    writer->start[3] = (uint8_t)(front >> 8);
    if (keys != NULL) qsm_packet_tag(keys, writer->start, front, writer->start + 16);
    return front;
}

void qsm_packet_renew_tag(const qsm_scope_keys *keys, uint8_t *packet) {
    if (!keys->changed) return;
    qsm_packet_tag(keys, packet, packet[2] | (uint32_t)packet[3] << 8, packet + 16);
}

void qsm_packet_mark_again(const qsm_scope_keys *keys, uint8_t *packet) {
    packet[QSM_HEADER_BYTES] |= QSM_DATA_AGAIN;
    qsm_packet_tag(keys, packet, packet[2] | (uint32_t)packet[3] << 8, packet + 16);
}

void qsm_packet_set_tag(uint8_t *packet, const uint8_t tag[16]) {
    memcpy(packet + 16, tag, QSM_TAG_BYTES);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Ascending, not touching, none empty: so their number bounds the work they can cause. */
static void read_ranges(qsm_reader *reader, qsm_range *ranges, uint32_t count, uint32_t count_max) {
    if (count > count_max) {
        reader->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ranges[i].first = qsm_read64(reader);
        uint32_t length = qsm_read32(reader);
        ranges[i].last = ranges[i].first + length - 1;
        if (ranges[i].first == 0 || length == 0 || length > QSM_STREAM_SLOTS_MAX ||
            ranges[i].last < ranges[i].first || (i > 0 && ranges[i].first <= ranges[i - 1].last))
            reader->failed = true;
    }
}

static void write_ranges(qsm_writer *writer, const qsm_range *ranges, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        qsm_write64(writer, ranges[i].first);
        qsm_write32(writer, (uint32_t)(ranges[i].last - ranges[i].first + 1));
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

uint32_t qsm_data_front_bytes(const qsm_data *data) {
    uint32_t bytes =
        QSM_HEADER_BYTES + QSM_DATA_FIXED_BYTES + data->region_count * QSM_REGION_HEADER_BYTES +
        data->message_count * QSM_MESSAGE_HEADER_BYTES + data->hole_count * QSM_RANGE_BYTES;
    for (uint32_t i = 0; i < data->message_count; i++)
        if (data->messages[i].flags & QSM_MESSAGE_FIRST) bytes += QSM_MESSAGE_FIRST_BYTES;
    return bytes;
}

static bool read_data_start(qsm_reader *reader, const qsm_header *header, qsm_data *data) {
    data->sender = header->sender;
    data->side = header->counter;
    data->flags = qsm_read8(reader);
    data->region_count = qsm_read8(reader);
    data->message_count = qsm_read8(reader);
    data->hole_count = qsm_read8(reader);
    data->batch = qsm_read32(reader);
    if (reader->failed || data->region_count == 0 || data->region_count > QSM_REGION_HEADERS_MAX ||
        data->message_count > QSM_PACKET_MESSAGES_MAX || data->hole_count > QSM_RANGES_MAX ||
        (data->flags & ~(QSM_DATA_FIN | QSM_DATA_ESTATE | QSM_DATA_AGAIN)) != 0)
        return false;
    for (uint32_t i = 0; i < data->region_count; i++) {
        data->regions[i].region = qsm_read64(reader);
        data->regions[i].sequence = qsm_read64(reader);
        data->regions[i].stable = qsm_read64(reader);
        if (data->regions[i].sequence == 0 || data->regions[i].stable >= data->regions[i].sequence)
            return false;
    }
    return !reader->failed;
}

bool qsm_data_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes,
                   qsm_data *data) {
    assert(header->front_bytes <= bytes);
    qsm_reader reader = {.at = packet + QSM_HEADER_BYTES, .end = packet + header->front_bytes};
    if (!read_data_start(&reader, header, data)) return false;
    uint32_t sealed = header->front_bytes;
    for (uint32_t i = 0; i < data->message_count; i++) {
        qsm_message *message = &data->messages[i];
        message->group = qsm_read32(&reader);
        message->view = qsm_read64(&reader);
        message->number = qsm_read64(&reader);
        message->bytes = qsm_read16(&reader);
        message->flags = qsm_read8(&reader);
        message->epoch = qsm_read8(&reader);
        message->tag = qsm_read_bytes(&reader, QSM_TAG_BYTES);
        message->previous = message->flags & QSM_MESSAGE_FIRST ? qsm_read64(&reader) : 0;
        if (reader.failed || message->number == 0 || message->bytes > bytes - sealed) return false;
        message->sealed = packet + sealed;
        sealed += message->bytes;
    }
    read_ranges(&reader, data->holes, data->hole_count, QSM_RANGES_MAX);
    return !reader.failed && reader.at == reader.end && sealed == bytes;
}

bool qsm_data_reread(const qsm_slice *packet, qsm_data *data) {
    const uint8_t *bytes = qsm_slice_data(packet);
    qsm_reader reader = {.at = bytes + 4, .end = bytes + 16};
    qsm_header header = {.kind = QSM_KIND_DATA,
                         .front_bytes = (uint16_t)(bytes[2] | bytes[3] << 8),
                         .counter = qsm_read32(&reader)};
    header.sender = qsm_read64(&reader);
    return qsm_data_read(&header, bytes, packet->bytes, data);
}

uint32_t qsm_data_write(const qsm_scope_keys *keys, uint8_t *packet, uint32_t bytes_max,
                        const qsm_data *data, const uint8_t *sealed) {
    uint32_t front = qsm_data_front_bytes(data);
    uint32_t sealed_bytes = 0;
    for (uint32_t i = 0; i < data->message_count; i++)
        sealed_bytes += data->messages[i].bytes;
    if (front + sealed_bytes > bytes_max) return 0;
    if (sealed_bytes && sealed != packet + front) memmove(packet + front, sealed, sealed_bytes);
    qsm_writer writer =
        qsm_header_begin(packet, bytes_max, QSM_KIND_DATA, data->sender, data->side);
    qsm_write8(&writer, data->flags);
    qsm_write8(&writer, data->region_count);
    qsm_write8(&writer, data->message_count);
    qsm_write8(&writer, data->hole_count);
    qsm_write32(&writer, data->batch);
    for (uint32_t i = 0; i < data->region_count; i++) {
        qsm_write64(&writer, data->regions[i].region);
        qsm_write64(&writer, data->regions[i].sequence);
        qsm_write64(&writer, data->regions[i].stable);
    }
    for (uint32_t i = 0; i < data->message_count; i++) {
        const qsm_message *message = &data->messages[i];
        qsm_write32(&writer, message->group);
        qsm_write64(&writer, message->view);
        qsm_write64(&writer, message->number);
        qsm_write16(&writer, message->bytes);
        qsm_write8(&writer, message->flags);
        qsm_write8(&writer, message->epoch);
        qsm_write_bytes(&writer, message->tag, QSM_TAG_BYTES);
        if (message->flags & QSM_MESSAGE_FIRST) qsm_write64(&writer, message->previous);
    }
    write_ranges(&writer, data->holes, data->hole_count);
    assert(qsm_writer_used(&writer) == front);
    return qsm_header_finish(keys, &writer) + sealed_bytes;
}

/* ---- control --------------------------------------------------------------------------------- */

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

static bool read_flag(qsm_reader *reader) {
    uint8_t value = qsm_read8(reader);
    if (value > 1) reader->failed = true;
    return value == 1;
}

static void read_token(qsm_reader *reader, qsm_token *token) {
    token->region = qsm_read64(reader);
    token->level = qsm_read8(reader);
    token->ring = qsm_read16(reader);
    token->origin = qsm_read64(reader);
    token->round = qsm_read32(reader);
    token->batch = qsm_read32(reader);
    token->reverse = read_flag(reader);
    token->aes = read_flag(reader);
    token->record_count = qsm_read8(reader);
    if (token->level >= QSM_RING_LEVELS_MAX || token->record_count > QSM_TOKEN_RECORDS_MAX)
        reader->failed = true;
    for (uint32_t i = 0; i < token->record_count && !reader->failed; i++) {
        qsm_token_record *record = &token->records[i];
        record->stream = qsm_read64(reader);
        record->low = qsm_read64(reader);
        record->cached = qsm_read64(reader);
        record->cut = qsm_read64(reader);
        record->high = qsm_read64(reader);
        record->stable = qsm_read64(reader);
        record->lost = qsm_read16(reader);
        record->participants = qsm_read16(reader);
        record->gap_count = qsm_read8(reader);
        read_ranges(reader, record->gaps, record->gap_count, QSM_TOKEN_GAPS_MAX);
        if (record->low > record->high || record->stable > record->high ||
            record->cached > record->high)
            reader->failed = true;
    }
}

static void write_token(qsm_writer *writer, const qsm_token *token) {
    qsm_write64(writer, token->region);
    qsm_write8(writer, token->level);
    qsm_write16(writer, token->ring);
    qsm_write64(writer, token->origin);
    qsm_write32(writer, token->round);
    qsm_write32(writer, token->batch);
    qsm_write8(writer, token->reverse);
    qsm_write8(writer, token->aes);
    qsm_write8(writer, token->record_count);
    for (uint32_t i = 0; i < token->record_count; i++) {
        const qsm_token_record *record = &token->records[i];
        qsm_write64(writer, record->stream);
        qsm_write64(writer, record->low);
        qsm_write64(writer, record->cached);
        qsm_write64(writer, record->cut);
        qsm_write64(writer, record->high);
        qsm_write64(writer, record->stable);
        qsm_write16(writer, record->lost);
        qsm_write16(writer, record->participants);
        qsm_write8(writer, record->gap_count);
        write_ranges(writer, record->gaps, record->gap_count);
    }
}

static void read_ping(qsm_reader *reader, qsm_ping *ping) {
    ping->nonce = qsm_read64(reader);
    read_epoch(reader, &ping->epoch);
    ping->applied = qsm_read64(reader);
    ping->members = qsm_read32(reader);
    ping->successor_count = qsm_read8(reader);
    for (uint32_t i = 0; i < QSM_SUCCESSORS_MAX; i++)
        ping->successors[i] = qsm_read64(reader);
    if (ping->successor_count > QSM_SUCCESSORS_MAX || ping->members > QSM_CLIENTS_MAX)
        reader->failed = true;
}

static void write_ping(qsm_writer *writer, const qsm_ping *ping) {
    qsm_write64(writer, ping->nonce);
    write_epoch(writer, &ping->epoch);
    qsm_write64(writer, ping->applied);
    qsm_write32(writer, ping->members);
    qsm_write8(writer, ping->successor_count);
    for (uint32_t i = 0; i < QSM_SUCCESSORS_MAX; i++)
        qsm_write64(writer, ping->successors[i]);
}

enum { SOLICIT_PADDING = 35 }; /* makes a solicitation as long as the offer that answers it */

static void read_link(qsm_reader *reader, qsm_link_packet *link) {
    link->receiver = qsm_read64(reader);
    link->stream = qsm_read32(reader);
    link->acknowledged_stream = qsm_read32(reader);
    link->sequence = qsm_read32(reader);
    link->acknowledged = qsm_read32(reader);
    link->selective = qsm_read64(reader);
    link->last = read_flag(reader);
    link->payload_bytes = qsm_reader_left(reader);
    link->payload = qsm_read_bytes(reader, link->payload_bytes);
}

/* What depends on who counts as alive in a region says whose opinion that is. */
static bool is_about_region(uint8_t kind) {
    return kind == QSM_KIND_STATUS || kind == QSM_KIND_TOKEN || kind == QSM_KIND_TOKEN_ACK ||
           kind == QSM_KIND_ACK || kind == QSM_KIND_NUDGE || kind == QSM_KIND_ORPHAN_QUERY ||
           kind == QSM_KIND_ORPHAN_REPORT;
}

bool qsm_control_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes,
                      qsm_control *control) {
    qsm_reader in = {.at = packet + QSM_HEADER_BYTES, .end = packet + bytes};
    control->side = is_about_region(header->kind) ? qsm_read32(&in) : 0;
    switch (header->kind) {
    case QSM_KIND_STATUS:
        control->status.region = qsm_read64(&in);
        control->status.high = qsm_read64(&in);
        control->status.stable = qsm_read64(&in);
        control->status.batch = qsm_read32(&in);
        control->status.fin = read_flag(&in);
        if (control->status.stable > control->status.high) in.failed = true;
        break;
    case QSM_KIND_PULL:
        control->pull.region = qsm_read64(&in);
        control->pull.stream = qsm_read64(&in);
        control->pull.meaning = qsm_read8(&in);
        if (control->pull.meaning >= QSM_PULL_MEANINGS) in.failed = true;
        control->pull.range_count = qsm_read8(&in);
        read_ranges(&in, control->pull.ranges, control->pull.range_count, QSM_RANGES_MAX);
        break;
    case QSM_KIND_TOKEN: read_token(&in, &control->token); break;
    case QSM_KIND_TOKEN_ACK:
        control->token_ack.region = qsm_read64(&in);
        control->token_ack.level = qsm_read8(&in);
        control->token_ack.ring = qsm_read16(&in);
        control->token_ack.origin = qsm_read64(&in);
        control->token_ack.round = qsm_read32(&in);
        if (control->token_ack.level >= QSM_RING_LEVELS_MAX) in.failed = true;
        break;
    case QSM_KIND_ACK:
        control->ack.region = qsm_read64(&in);
        control->ack.stream = qsm_read64(&in);
        control->ack.low = qsm_read64(&in);
        control->ack.batch = qsm_read32(&in);
        control->ack.lost = qsm_read16(&in);
        control->ack.aes = read_flag(&in);
        break;
    case QSM_KIND_NUDGE:
        control->nudge.region = qsm_read64(&in);
        control->nudge.stream = qsm_read64(&in);
        control->nudge.high = qsm_read64(&in);
        break;
    case QSM_KIND_SOLICIT:
        read_16(&in, control->solicit.nonce);
        qsm_read_address(&in, &control->solicit.address);
        control->solicit.multicast = read_flag(&in);
        qsm_read_bytes(&in, SOLICIT_PADDING);
        break;
    case QSM_KIND_OFFER:
        read_16(&in, control->offer.nonce);
        read_epoch(&in, &control->offer.epoch);
        qsm_read_address(&in, &control->offer.address);
        read_16(&in, control->offer.cookie);
        break;
    case QSM_KIND_BEACON:
        read_epoch(&in, &control->beacon.epoch);
        qsm_read_address(&in, &control->beacon.address);
        control->beacon.members = qsm_read32(&in);
        control->beacon.multicast = read_flag(&in);
        break;
    case QSM_KIND_LINK: read_link(&in, &control->link); break;
    case QSM_KIND_PING:
    case QSM_KIND_PONG: read_ping(&in, &control->ping); break;
    case QSM_KIND_EVICTED:
        control->evicted.node = qsm_read64(&in);
        control->evicted.nonce = qsm_read64(&in);
        read_epoch(&in, &control->evicted.epoch);
        control->evicted.reason = qsm_read8(&in);
        break;
    case QSM_KIND_CALL:
        control->call.pause_ms = qsm_read32(&in);
        if (control->call.pause_ms == 0 || control->call.pause_ms > QSM_CALL_PAUSE_MS_MAX)
            in.failed = true;
        break;
    case QSM_KIND_ORPHAN_QUERY:
        control->orphan_query.region = qsm_read64(&in);
        control->orphan_query.stream = qsm_read64(&in);
        control->orphan_query.attempt = qsm_read32(&in);
        control->orphan_query.from = qsm_read64(&in);
        control->orphan_query.batch = qsm_read32(&in);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        control->orphan_report.region = qsm_read64(&in);
        control->orphan_report.stream = qsm_read64(&in);
        control->orphan_report.attempt = qsm_read32(&in);
        control->orphan_report.stable = qsm_read64(&in);
        control->orphan_report.batch = qsm_read32(&in);
        control->orphan_report.truncated = read_flag(&in);
        control->orphan_report.range_count = qsm_read8(&in);
        read_ranges(&in, control->orphan_report.ranges, control->orphan_report.range_count,
                    QSM_RANGES_MAX);
        break;
    default: return false;
    }
    return !in.failed && in.at == in.end;
}

uint32_t qsm_control_write(const qsm_scope_keys *keys, uint8_t kind, uint64_t sender,
                           uint32_t counter, const qsm_control *control, uint8_t *packet,
                           uint32_t bytes_max) {
    qsm_writer out = qsm_header_begin(packet, bytes_max, kind, sender, counter);
    if (is_about_region(kind)) qsm_write32(&out, control->side);
    switch (kind) {
    case QSM_KIND_STATUS:
        qsm_write64(&out, control->status.region);
        qsm_write64(&out, control->status.high);
        qsm_write64(&out, control->status.stable);
        qsm_write32(&out, control->status.batch);
        qsm_write8(&out, control->status.fin);
        break;
    case QSM_KIND_PULL:
        qsm_write64(&out, control->pull.region);
        qsm_write64(&out, control->pull.stream);
        qsm_write8(&out, control->pull.meaning);
        qsm_write8(&out, control->pull.range_count);
        write_ranges(&out, control->pull.ranges, control->pull.range_count);
        break;
    case QSM_KIND_TOKEN: write_token(&out, &control->token); break;
    case QSM_KIND_TOKEN_ACK:
        qsm_write64(&out, control->token_ack.region);
        qsm_write8(&out, control->token_ack.level);
        qsm_write16(&out, control->token_ack.ring);
        qsm_write64(&out, control->token_ack.origin);
        qsm_write32(&out, control->token_ack.round);
        break;
    case QSM_KIND_ACK:
        qsm_write64(&out, control->ack.region);
        qsm_write64(&out, control->ack.stream);
        qsm_write64(&out, control->ack.low);
        qsm_write32(&out, control->ack.batch);
        qsm_write16(&out, control->ack.lost);
        qsm_write8(&out, control->ack.aes);
        break;
    case QSM_KIND_NUDGE:
        qsm_write64(&out, control->nudge.region);
        qsm_write64(&out, control->nudge.stream);
        qsm_write64(&out, control->nudge.high);
        break;
    case QSM_KIND_SOLICIT: {
        static const uint8_t padding[SOLICIT_PADDING];
        qsm_write_bytes(&out, control->solicit.nonce, 16);
        qsm_write_address(&out, &control->solicit.address);
        qsm_write8(&out, control->solicit.multicast);
        qsm_write_bytes(&out, padding, SOLICIT_PADDING);
        break;
    }
    case QSM_KIND_OFFER:
        qsm_write_bytes(&out, control->offer.nonce, 16);
        write_epoch(&out, &control->offer.epoch);
        qsm_write_address(&out, &control->offer.address);
        qsm_write_bytes(&out, control->offer.cookie, 16);
        break;
    case QSM_KIND_BEACON:
        write_epoch(&out, &control->beacon.epoch);
        qsm_write_address(&out, &control->beacon.address);
        qsm_write32(&out, control->beacon.members);
        qsm_write8(&out, control->beacon.multicast);
        break;
    case QSM_KIND_LINK:
        qsm_write64(&out, control->link.receiver);
        qsm_write32(&out, control->link.stream);
        qsm_write32(&out, control->link.acknowledged_stream);
        qsm_write32(&out, control->link.sequence);
        qsm_write32(&out, control->link.acknowledged);
        qsm_write64(&out, control->link.selective);
        qsm_write8(&out, control->link.last);
        qsm_write_bytes(&out, control->link.payload, control->link.payload_bytes);
        break;
    case QSM_KIND_PING:
    case QSM_KIND_PONG: write_ping(&out, &control->ping); break;
    case QSM_KIND_EVICTED:
        qsm_write64(&out, control->evicted.node);
        qsm_write64(&out, control->evicted.nonce);
        write_epoch(&out, &control->evicted.epoch);
        qsm_write8(&out, control->evicted.reason);
        break;
    case QSM_KIND_CALL: qsm_write32(&out, control->call.pause_ms); break;
    case QSM_KIND_ORPHAN_QUERY:
        qsm_write64(&out, control->orphan_query.region);
        qsm_write64(&out, control->orphan_query.stream);
        qsm_write32(&out, control->orphan_query.attempt);
        qsm_write64(&out, control->orphan_query.from);
        qsm_write32(&out, control->orphan_query.batch);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        qsm_write64(&out, control->orphan_report.region);
        qsm_write64(&out, control->orphan_report.stream);
        qsm_write32(&out, control->orphan_report.attempt);
        qsm_write64(&out, control->orphan_report.stable);
        qsm_write32(&out, control->orphan_report.batch);
        qsm_write8(&out, control->orphan_report.truncated);
        qsm_write8(&out, control->orphan_report.range_count);
        write_ranges(&out, control->orphan_report.ranges, control->orphan_report.range_count);
        break;
    default: assert(!"not a control packet");
    }
    return qsm_header_finish(keys, &out);
}
