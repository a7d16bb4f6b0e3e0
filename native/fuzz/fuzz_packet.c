/*
 * fuzz_packet.c - decoding of all packets. What is accepted must lie within its bounds and must be
 * written back as it was read.
 *
 * Input: one byte, then a packet. Bit 0 of the byte: make the packet authentic first.
 */
#include "fuzz_support.h"

static void require_ranges(const qsm_range *ranges, uint32_t count, uint32_t count_max) {
    FUZZ_REQUIRE(count <= count_max);
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_REQUIRE(ranges[i].first > 0 && ranges[i].first <= ranges[i].last);
        FUZZ_REQUIRE(ranges[i].last - ranges[i].first < QSM_STREAM_SLOTS_MAX);
        FUZZ_REQUIRE(i == 0 || ranges[i - 1].last < ranges[i].first);
    }
}

static void require_data(const qsm_data *data, const uint8_t *packet, uint32_t bytes) {
    FUZZ_REQUIRE(data->region_count > 0 && data->region_count <= QSM_REGION_HEADERS_MAX);
    FUZZ_REQUIRE(data->message_count <= QSM_PACKET_MESSAGES_MAX);
    for (uint32_t i = 0; i < data->region_count; i++)
        FUZZ_REQUIRE(data->regions[i].stable < data->regions[i].sequence);
    uint32_t packed = 0;
    for (uint32_t i = 0; i < data->message_count; i++) {
        const qsm_message *message = &data->messages[i];
        packed += message->count;
        FUZZ_REQUIRE(message->count > 0);
        FUZZ_REQUIRE(message->sealed >= packet &&
                     message->sealed + message->bytes <= packet + bytes);
        FUZZ_REQUIRE(message->tag >= packet && message->tag + QSM_TAG_BYTES <= packet + bytes);
    }
    FUZZ_REQUIRE(packed <= QSM_PACKED_MESSAGES_MAX);
    require_ranges(data->holes, data->hole_count, QSM_RANGES_MAX);
}

static void try_data(const qsm_header *header, const uint8_t *packet, uint32_t bytes) {
    static qsm_data data, again;
    if (!qsm_data_read(header, packet, bytes, &data)) return;
    require_data(&data, packet, bytes);
    FUZZ_REQUIRE(qsm_data_front_bytes(&data) == header->front_bytes);

    uint8_t first[QSM_DATAGRAM_BYTES_MAX], second[QSM_DATAGRAM_BYTES_MAX];
    const uint8_t *sealed = packet + header->front_bytes;
    FUZZ_REQUIRE(qsm_data_write(fuzz_keys(), first, sizeof first, &data, sealed) == bytes);
    qsm_header opened;
    FUZZ_REQUIRE(qsm_header_open(fuzz_keys(), first, bytes, &opened));
    FUZZ_REQUIRE(opened.sender == header->sender && opened.front_bytes == header->front_bytes);
    FUZZ_REQUIRE(qsm_data_read(&opened, first, bytes, &again));
    require_data(&again, first, bytes);
    sealed = first + opened.front_bytes;
    FUZZ_REQUIRE(qsm_data_write(fuzz_keys(), second, sizeof second, &again, sealed) == bytes);
    FUZZ_REQUIRE(memcmp(first, second, bytes) == 0);
}

static void require_control(uint8_t kind, const qsm_control *control) {
    if (kind == QSM_KIND_PULL) FUZZ_REQUIRE(control->pull.meaning < QSM_PULL_MEANINGS);
    if (kind == QSM_KIND_PULL)
        require_ranges(control->pull.ranges, control->pull.range_count, QSM_RANGES_MAX);
    if (kind == QSM_KIND_ORPHAN_REPORT)
        require_ranges(control->orphan_report.ranges, control->orphan_report.range_count,
                       QSM_RANGES_MAX);
    if (kind == QSM_KIND_TOKEN) {
        FUZZ_REQUIRE(control->token.level < QSM_RING_LEVELS_MAX);
        FUZZ_REQUIRE(control->token.record_count <= QSM_TOKEN_RECORDS_MAX);
        for (uint32_t i = 0; i < control->token.record_count; i++) {
            const qsm_token_record *record = &control->token.records[i];
            FUZZ_REQUIRE(record->low <= record->high && record->stable <= record->high);
            require_ranges(record->gaps, record->gap_count, QSM_TOKEN_GAPS_MAX);
        }
    }
    if (kind == QSM_KIND_PONG || kind == QSM_KIND_PING)
        FUZZ_REQUIRE(control->ping.successor_count <= QSM_SUCCESSORS_MAX);
    if (kind == QSM_KIND_CALL)
        FUZZ_REQUIRE(control->call.pause_ms > 0 && control->call.pause_ms <= QSM_CALL_PAUSE_MS_MAX);
}

static void try_control(const qsm_header *header, const uint8_t *packet, uint32_t bytes) {
    static qsm_control control, again;
    if (!qsm_control_read(header, packet, bytes, &control)) return;
    require_control(header->kind, &control);

    uint8_t first[QSM_DATAGRAM_BYTES_MAX], second[QSM_DATAGRAM_BYTES_MAX];
    FUZZ_REQUIRE(qsm_control_write(fuzz_keys(), header->kind, header->sender, header->counter,
                                   &control, first, sizeof first) == bytes);
    qsm_header opened;
    FUZZ_REQUIRE(qsm_header_open(fuzz_keys(), first, bytes, &opened));
    FUZZ_REQUIRE(opened.kind == header->kind && opened.counter == header->counter);
    FUZZ_REQUIRE(qsm_control_read(&opened, first, bytes, &again));
    FUZZ_REQUIRE(qsm_control_write(fuzz_keys(), opened.kind, opened.sender, opened.counter, &again,
                                   second, sizeof second) == bytes);
    FUZZ_REQUIRE(memcmp(first, second, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size - 1 > QSM_DATAGRAM_BYTES_MAX + 64) return 0;
    /* As large as the packet and no larger, so that a read past its end is seen. */
    uint32_t bytes = (uint32_t)size - 1;
    uint8_t *packet = malloc(bytes + 1);
    FUZZ_REQUIRE(packet);
    memcpy(packet, data + 1, bytes);
    packet = realloc(packet, bytes ? bytes : 1);
    bool sealed = data[0] & 1 && fuzz_seal(packet, bytes);
    qsm_header header;
    if (qsm_header_open(fuzz_keys(), packet, bytes, &header)) {
        if (header.kind == QSM_KIND_DATA)
            try_data(&header, packet, bytes);
        else
            try_control(&header, packet, bytes);
    } else if (sealed) {
        bool known = packet[1] > 0 && packet[1] < QSM_KIND_COUNT;
        bool somebody = false;
        for (int i = 8; i < 16; i++)
            somebody |= packet[i] != 0;
        FUZZ_REQUIRE(!known || !somebody);
    }
    free(packet);
    return 0;
}
