/*
 * cursor.h - reading and writing numbers one after the other in rows of bytes.
 */
#ifndef QSM_CORE_CURSOR_H
#define QSM_CORE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/endian.h"
#include "qsm.h"

/* Reads that would pass the end give zero and set `failed`; check once at the end. */
typedef struct {
    const uint8_t *at, *end;
    bool failed;
} qsm_reader;

/* Writes that would pass the end do nothing and set `failed`. */
typedef struct {
    uint8_t *start, *at, *end;
    bool failed;
} qsm_writer;

static inline uint32_t qsm_reader_left(const qsm_reader *reader) {
    return (uint32_t)(reader->end - reader->at);
}

static inline uint32_t qsm_writer_used(const qsm_writer *writer) {
    return (uint32_t)(writer->at - writer->start);
}

static inline const uint8_t *qsm_read_bytes(qsm_reader *reader, uint32_t bytes) {
    if (reader->failed || qsm_reader_left(reader) < bytes) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += bytes;
    return at;
}

static inline uint64_t qsm_read_number(qsm_reader *reader, uint32_t bytes) {
    const uint8_t *at = qsm_read_bytes(reader, bytes);
    return at != NULL ? qsm_load_le(at, bytes) : 0;
}

static inline uint8_t qsm_read8(qsm_reader *reader) {
    return (uint8_t)qsm_read_number(reader, 1);
}
static inline uint16_t qsm_read16(qsm_reader *reader) {
    return (uint16_t)qsm_read_number(reader, 2);
}
static inline uint32_t qsm_read32(qsm_reader *reader) {
    return (uint32_t)qsm_read_number(reader, 4);
}
static inline uint64_t qsm_read64(qsm_reader *reader) {
    return qsm_read_number(reader, 8);
}

static inline bool qsm_read_flag(qsm_reader *reader) {
    uint8_t value = qsm_read8(reader);
    if (value > 1) reader->failed = true;
    return value == 1;
}

static inline void qsm_write_bytes(qsm_writer *writer, const void *data, uint32_t bytes) {
    if (writer->failed || (uint32_t)(writer->end - writer->at) < bytes) {
        writer->failed = true;
        return;
    }
    if (bytes) memcpy(writer->at, data, bytes);
    writer->at += bytes;
}

static inline void qsm_write_number(qsm_writer *writer, uint64_t value, uint32_t bytes) {
    uint8_t raw[8];
    qsm_store_le(raw, value, bytes);
    qsm_write_bytes(writer, raw, bytes);
}

static inline void qsm_write8(qsm_writer *writer, uint8_t value) {
    qsm_write_number(writer, value, 1);
}
static inline void qsm_write16(qsm_writer *writer, uint16_t value) {
    qsm_write_number(writer, value, 2);
}
static inline void qsm_write32(qsm_writer *writer, uint32_t value) {
    qsm_write_number(writer, value, 4);
}
static inline void qsm_write64(qsm_writer *writer, uint64_t value) {
    qsm_write_number(writer, value, 8);
}

static inline void qsm_read_address(qsm_reader *reader, qsm_address *address) {
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

static inline void qsm_write_address(qsm_writer *writer, const qsm_address *address) {
    qsm_write8(writer, address->family);
    qsm_write8(writer, address->multicast);
    qsm_write16(writer, address->port);
    qsm_write_bytes(writer, address->bytes, 16);
}

#endif
