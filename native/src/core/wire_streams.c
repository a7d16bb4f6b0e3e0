/*
 * wire_streams.c - control packets about the streams of a region: how far they go, what is missing,
 * what everybody has, what the dead have left.
 */
#include "core/wire_form.h"

static void read_status(qsm_reader *in, qsm_control *control) {
    qsm_status *status = &control->status;
    status->region = qsm_read64(in);
    status->high = qsm_read64(in);
    status->stable = qsm_read64(in);
    status->batch = qsm_read32(in);
    status->fin = qsm_read_flag(in);
    if (status->stable > status->high) in->failed = true;
}

static void write_status(qsm_writer *out, const qsm_control *control) {
    const qsm_status *status = &control->status;
    qsm_write64(out, status->region);
    qsm_write64(out, status->high);
    qsm_write64(out, status->stable);
    qsm_write32(out, status->batch);
    qsm_write8(out, status->fin);
}

static void read_pull(qsm_reader *in, qsm_control *control) {
    qsm_pull *pull = &control->pull;
    pull->region = qsm_read64(in);
    pull->stream = qsm_read64(in);
    pull->meaning = qsm_read8(in);
    if (pull->meaning >= QSM_PULL_MEANINGS) in->failed = true;
    pull->range_count = qsm_read8(in);
    qsm_read_ranges(in, pull->ranges, pull->range_count, QSM_RANGES_MAX);
}

static void write_pull(qsm_writer *out, const qsm_control *control) {
    const qsm_pull *pull = &control->pull;
    qsm_write64(out, pull->region);
    qsm_write64(out, pull->stream);
    qsm_write8(out, pull->meaning);
    qsm_write8(out, pull->range_count);
    qsm_write_ranges(out, pull->ranges, pull->range_count);
}

static void read_token(qsm_reader *in, qsm_control *control) {
    qsm_token *token = &control->token;
    token->region = qsm_read64(in);
    token->level = qsm_read8(in);
    token->ring = qsm_read16(in);
    token->origin = qsm_read64(in);
    token->round = qsm_read32(in);
    token->batch = qsm_read32(in);
    token->reverse = qsm_read_flag(in);
    token->aes = qsm_read_flag(in);
    token->record_count = qsm_read8(in);
    if (token->level >= QSM_RING_LEVELS_MAX || token->record_count > QSM_TOKEN_RECORDS_MAX)
        in->failed = true;
    for (uint32_t i = 0; i < token->record_count && !in->failed; i++) {
        qsm_token_record *record = &token->records[i];
        record->stream = qsm_read64(in);
        record->low = qsm_read64(in);
        record->cached = qsm_read64(in);
        record->cut = qsm_read64(in);
        record->high = qsm_read64(in);
        record->stable = qsm_read64(in);
        record->lost = qsm_read16(in);
        record->participants = qsm_read16(in);
        record->gap_count = qsm_read8(in);
        qsm_read_ranges(in, record->gaps, record->gap_count, QSM_TOKEN_GAPS_MAX);
        if (record->low > record->high || record->stable > record->high ||
            record->cached > record->high)
            in->failed = true;
    }
}

static void write_token(qsm_writer *out, const qsm_control *control) {
    const qsm_token *token = &control->token;
    qsm_write64(out, token->region);
    qsm_write8(out, token->level);
    qsm_write16(out, token->ring);
    qsm_write64(out, token->origin);
    qsm_write32(out, token->round);
    qsm_write32(out, token->batch);
    qsm_write8(out, token->reverse);
    qsm_write8(out, token->aes);
    qsm_write8(out, token->record_count);
    for (uint32_t i = 0; i < token->record_count; i++) {
        const qsm_token_record *record = &token->records[i];
        qsm_write64(out, record->stream);
        qsm_write64(out, record->low);
        qsm_write64(out, record->cached);
        qsm_write64(out, record->cut);
        qsm_write64(out, record->high);
        qsm_write64(out, record->stable);
        qsm_write16(out, record->lost);
        qsm_write16(out, record->participants);
        qsm_write8(out, record->gap_count);
        qsm_write_ranges(out, record->gaps, record->gap_count);
    }
}

static void read_token_ack(qsm_reader *in, qsm_control *control) {
    qsm_token_ack *ack = &control->token_ack;
    ack->region = qsm_read64(in);
    ack->level = qsm_read8(in);
    ack->ring = qsm_read16(in);
    ack->origin = qsm_read64(in);
    ack->round = qsm_read32(in);
    if (ack->level >= QSM_RING_LEVELS_MAX) in->failed = true;
}

static void write_token_ack(qsm_writer *out, const qsm_control *control) {
    const qsm_token_ack *ack = &control->token_ack;
    qsm_write64(out, ack->region);
    qsm_write8(out, ack->level);
    qsm_write16(out, ack->ring);
    qsm_write64(out, ack->origin);
    qsm_write32(out, ack->round);
}

static void read_ack(qsm_reader *in, qsm_control *control) {
    qsm_ack *ack = &control->ack;
    ack->region = qsm_read64(in);
    ack->stream = qsm_read64(in);
    ack->low = qsm_read64(in);
    ack->batch = qsm_read32(in);
    ack->lost = qsm_read16(in);
    ack->aes = qsm_read_flag(in);
}

static void write_ack(qsm_writer *out, const qsm_control *control) {
    const qsm_ack *ack = &control->ack;
    qsm_write64(out, ack->region);
    qsm_write64(out, ack->stream);
    qsm_write64(out, ack->low);
    qsm_write32(out, ack->batch);
    qsm_write16(out, ack->lost);
    qsm_write8(out, ack->aes);
}

static void read_nudge(qsm_reader *in, qsm_control *control) {
    qsm_nudge *nudge = &control->nudge;
    nudge->region = qsm_read64(in);
    nudge->stream = qsm_read64(in);
    nudge->high = qsm_read64(in);
}

static void write_nudge(qsm_writer *out, const qsm_control *control) {
    const qsm_nudge *nudge = &control->nudge;
    qsm_write64(out, nudge->region);
    qsm_write64(out, nudge->stream);
    qsm_write64(out, nudge->high);
}

static void read_orphan_query(qsm_reader *in, qsm_control *control) {
    qsm_orphan_query *query = &control->orphan_query;
    query->region = qsm_read64(in);
    query->stream = qsm_read64(in);
    query->attempt = qsm_read32(in);
    query->from = qsm_read64(in);
    query->batch = qsm_read32(in);
}

static void write_orphan_query(qsm_writer *out, const qsm_control *control) {
    const qsm_orphan_query *query = &control->orphan_query;
    qsm_write64(out, query->region);
    qsm_write64(out, query->stream);
    qsm_write32(out, query->attempt);
    qsm_write64(out, query->from);
    qsm_write32(out, query->batch);
}

static void read_orphan_report(qsm_reader *in, qsm_control *control) {
    qsm_orphan_report *report = &control->orphan_report;
    report->region = qsm_read64(in);
    report->stream = qsm_read64(in);
    report->attempt = qsm_read32(in);
    report->stable = qsm_read64(in);
    report->batch = qsm_read32(in);
    report->truncated = qsm_read_flag(in);
    report->range_count = qsm_read8(in);
    qsm_read_ranges(in, report->ranges, report->range_count, QSM_RANGES_MAX);
}

static void write_orphan_report(qsm_writer *out, const qsm_control *control) {
    const qsm_orphan_report *report = &control->orphan_report;
    qsm_write64(out, report->region);
    qsm_write64(out, report->stream);
    qsm_write32(out, report->attempt);
    qsm_write64(out, report->stable);
    qsm_write32(out, report->batch);
    qsm_write8(out, report->truncated);
    qsm_write8(out, report->range_count);
    qsm_write_ranges(out, report->ranges, report->range_count);
}

const qsm_wire_form qsm_wire_streams[QSM_KIND_COUNT] = {
    [QSM_KIND_STATUS] = {.read = read_status, .write = write_status, .about_region = true},
    [QSM_KIND_PULL] = {.read = read_pull, .write = write_pull},
    [QSM_KIND_TOKEN] = {.read = read_token, .write = write_token, .about_region = true},
    [QSM_KIND_TOKEN_ACK] = {.read = read_token_ack, .write = write_token_ack, .about_region = true},
    [QSM_KIND_ACK] = {.read = read_ack, .write = write_ack, .about_region = true},
    [QSM_KIND_NUDGE] = {.read = read_nudge, .write = write_nudge, .about_region = true},
    [QSM_KIND_ORPHAN_QUERY] = {.read = read_orphan_query,
                               .write = write_orphan_query,
                               .about_region = true},
    [QSM_KIND_ORPHAN_REPORT] = {.read = read_orphan_report,
                                .write = write_orphan_report,
                                .about_region = true},
};
