#include "core/wire.h"

#include <assert.h>
#include <string.h>

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

void qsm_read_ranges(qsm_reader *reader, qsm_range *ranges, uint32_t count, uint32_t count_max) {
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

void qsm_write_ranges(qsm_writer *writer, const qsm_range *ranges, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        qsm_write64(writer, ranges[i].first);
        qsm_write32(writer, (uint32_t)(ranges[i].last - ranges[i].first + 1));
    }
}
