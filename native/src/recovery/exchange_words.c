/*
 * exchange_words.c - how executors of different regions say what they say: messages of a dead
 * sender in parts over the link between them, and what they end with.
 */
#include "core/bytes.h"
#include "core/engine.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/exchange.h"

enum { TELLING_BYTES_MAX = 48000 /* of one message to another executor */ };

/* Messages on their way to another executor. */
typedef struct {
    qsm_estate *estate;
    qsm_link *link;
    uint64_t to_region;
    qsm_bytes out;
    uint32_t count; /* of messages in `out` */
    uint32_t total;
    bool failed;
} telling;

static void begin(qsm_bytes *out, const qsm_estate *estate, uint64_t to_region, uint8_t said) {
    const qsm_engine *engine = estate->region->engine;
    out->count = 0;
    qsm_bytes_add8(out, QSM_TO_EXECUTOR_ESTATE);
    qsm_bytes_add32(out, qsm_side(engine));
    qsm_bytes_add32(out, qsm_batch(engine));
    qsm_bytes_add64(out, estate->region->uid);
    qsm_bytes_add64(out, to_region);
    qsm_bytes_add64(out, estate->sender);
    qsm_bytes_add8(out, said); /* patched in the last message */
    qsm_bytes_add32(out, 0);   /* count, patched */
}

enum { SAID_AT = 33, COUNT_AT = 34 };

static void send_part(telling *words, uint8_t said) {
    qsm_bytes_patch32(&words->out, COUNT_AT, words->count);
    if (!words->out.failed) words->out.data[SAID_AT] = said;
    words->failed = words->failed || words->out.failed ||
                    !qsm_link_send(words->link, words->out.data, words->out.count);
    words->count = 0;
}

static void add_message(telling *words, const qsm_message *message) {
    qsm_bytes *out = &words->out;
    if (words->failed || !(message->flags & QSM_MESSAGE_WIDE)) return;
    qsm_bytes_add32(out, message->group);
    qsm_bytes_add64(out, message->view);
    qsm_bytes_add64(out, message->number);
    qsm_bytes_add64(out, message->previous);
    qsm_bytes_add16(out, message->bytes);
    qsm_bytes_add8(out, message->flags);
    qsm_bytes_add8(out, message->epoch);
    qsm_bytes_add(out, message->tag, QSM_TAG_BYTES);
    qsm_bytes_add(out, message->sealed, message->bytes);
    words->count++;
    words->total++;
    if (out->count < TELLING_BYTES_MAX) return;
    send_part(words, QSM_WORD_MORE_TO_TELL);
    begin(out, words->estate, words->to_region, QSM_WORD_MORE_TO_TELL);
}

void qsm_words_tell(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor) {
    qsm_engine *engine = estate->region->engine;
    qsm_stream *stream = qsm_stream_find(estate->region, estate->sender);
    telling words = {
        .estate = estate, .link = qsm_link_to(engine, executor), .to_region = sister->region};
    if (stream == NULL || words.link == NULL) return;
    begin(&words.out, estate, sister->region, QSM_WORD_MORE_TO_TELL);
    for (uint64_t s = stream->base; s <= stream->high && !words.failed; s++) {
        qsm_data data;
        if (!qsm_stream_read(stream, s, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++)
            add_message(&words, &data.messages[i]);
    }
    for (uint32_t i = 0; i < estate->offer_count; i++)
        if (qsm_dead_since(&engine->dead, estate->offers[i]->from) != 0)
            add_message(&words, &estate->offers[i]->message);
    if (!words.failed) send_part(&words, QSM_WORD_ALL_TOLD);
    if (!words.failed) {
        sister->told = executor->id;
        sister->told_stream = words.link->stream;
        sister->told_sequence = words.link->next_sequence - 1;
        qsm_note(engine, QSM_TRACE_estate_offered, words.total, estate->sender);
    }
    qsm_bytes_free(&words.out);
}

void qsm_words_say(const qsm_estate *estate, uint64_t to_region, qsm_peer *to, uint8_t said) {
    qsm_link *link = qsm_link_to(estate->region->engine, to);
    qsm_bytes out = {0};
    begin(&out, estate, to_region, said);
    if (link != NULL && !out.failed) qsm_link_send(link, out.data, out.count);
    qsm_bytes_free(&out);
}

qsm_word qsm_words_read(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    qsm_word heard = {.from = qsm_peer_find(engine, from)};
    heard.side = qsm_read32(in);
    heard.batch = qsm_read32(in);
    heard.from_region = qsm_read64(in);
    heard.to_region = qsm_read64(in);
    heard.sender = qsm_read64(in);
    heard.said = qsm_read8(in);
    heard.count = qsm_read32(in);
    return heard;
}
