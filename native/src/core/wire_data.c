/*
 * wire_data.c - data packets: the headers of their regions, their messages, and what nobody has of
 * an estate.
 */
#include <assert.h>
#include <string.h>

#include "core/wire.h"

uint32_t qsm_data_front_bytes(const qsm_data *data) {
    uint32_t bytes =
        QSM_HEADER_BYTES + QSM_DATA_FIXED_BYTES + data->region_count * QSM_REGION_HEADER_BYTES +
        data->message_count * QSM_MESSAGE_HEADER_BYTES + data->hole_count * QSM_RANGE_BYTES;
    for (uint32_t i = 0; i < data->message_count; i++) {
        if (data->messages[i].flags & QSM_MESSAGE_FIRST) bytes += QSM_MESSAGE_FIRST_BYTES;
        if (data->messages[i].flags & QSM_MESSAGE_RUN) bytes += QSM_MESSAGE_RUN_BYTES;
    }
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

static bool is_good_run(const qsm_message *run) {
    return run->flags == (QSM_MESSAGE_AES | QSM_MESSAGE_RUN) && run->count > 0 &&
           run->bytes >= run->count * QSM_RUN_LENGTH_BYTES &&
           run->number <= UINT64_MAX - run->count;
}

bool qsm_data_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes,
                   qsm_data *data) {
    assert(header->front_bytes <= bytes);
    qsm_reader reader = {.at = packet + QSM_HEADER_BYTES, .end = packet + header->front_bytes};
    if (!read_data_start(&reader, header, data)) return false;
    uint32_t sealed = header->front_bytes, packed = 0;
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
        bool run = message->flags & QSM_MESSAGE_RUN;
        message->count = run ? qsm_read16(&reader) : 1;
        packed += message->count;
        if (reader.failed || message->number == 0 || message->bytes > bytes - sealed ||
            (run && !is_good_run(message)) || packed > QSM_PACKED_MESSAGES_MAX)
            return false;
        message->sealed = packet + sealed;
        sealed += message->bytes;
    }
    qsm_read_ranges(&reader, data->holes, data->hole_count, QSM_RANGES_MAX);
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
        if (message->flags & QSM_MESSAGE_RUN) qsm_write16(&writer, message->count);
    }
    qsm_write_ranges(&writer, data->holes, data->hole_count);
    assert(qsm_writer_used(&writer) == front);
    return qsm_header_finish(keys, &writer) + sealed_bytes;
}
