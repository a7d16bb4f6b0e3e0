/*
 * exchange.c - what executors of different regions say to each other about a dead sender's messages
 * that were meant for several regions: what each has, that this is all, and that its region is
 * done.
 *
 * All of them must settle the same, and any of them may die after it has told some and not others.
 * So when one of them has died, each tells everybody again, and what the dead one had told it; and
 * nobody settles before all others have told it what they had after they knew of that death. Who
 * has settled goes on telling until all regions have everything.
 */
#include <stdlib.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "membership/client.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "receiving/stream.h"
#include "recovery/estate.h"

enum {
    TELLING_BYTES_MAX = 48000, /* of one message to another executor */
    REMIND_NS = 1000000000     /* before one that owes us its word is asked for it */
};

/* What a message between executors ends with. */
enum {
    MORE_TO_TELL = 0,
    ALL_TOLD = 1,
    NOTHING_TO_TELL = 2, /* an answer that wants none */
    ALL_OVER = 3,        /* everybody in the region has everything */
    ASKS_WORD = 4,       /* tell me what you have: what you told does not count (any more) */
    ASKS_END = 5         /* the same about all being over */
};

static qsm_sister *sister_of(qsm_estate *estate, uint64_t region) {
    qsm_sister *sister = qsm_table_get(&estate->sisters, region);
    if (sister != NULL || estate->sisters.count >= QSM_ESTATE_SISTERS_MAX) return sister;
    sister = calloc(1, sizeof *sister);
    if (sister == NULL) return NULL;
    sister->region = region;
    if (qsm_table_put(&estate->sisters, region, sister)) return sister;
    free(sister);
    return NULL;
}

/* Regions whose members may share messages of the sender with this one. */
static bool is_sibling(const qsm_estate *estate, const qsm_region *other) {
    return qsm_table_get(&estate->region->siblings, other->uid) != NULL &&
           other->created < estate->died_in && other->alive_count > 0;
}

/* The next of those that another node executes; NULL: none. Regions of one view of a group are
 * disjoint: those that this node leads, too, share nothing with this one. */
static qsm_region *next_sibling(const qsm_estate *estate, uint32_t *cursor, qsm_peer **executor) {
    for (qsm_region *other;
         (other = qsm_table_next(&estate->region->engine->regions, cursor)) != NULL;) {
        if (!is_sibling(estate, other)) continue;
        *executor = other->members[qsm_region_leader(other)].peer;
        if (*executor != NULL) return other;
    }
    return NULL;
}

/* An executor that speaks for a region which is no sibling here, as far as this node knows; NULL:
 * there is none. Whoever has told us wants to be told all the same. */
static qsm_peer *stranger(const qsm_estate *estate, const qsm_sister *sister) {
    qsm_engine *engine = estate->region->engine;
    const qsm_region *known = qsm_region_find(engine, sister->region);
    if (sister->word_of == 0 || sister->nothing || (known != NULL && is_sibling(estate, known)))
        return NULL;
    qsm_peer *executor = qsm_peer_find(engine, sister->word_of);
    return executor != NULL && !executor->dead ? executor : NULL;
}

/* ---- telling --------------------------------------------------------------------------------- */

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
    send_part(words, MORE_TO_TELL);
    begin(out, words->estate, words->to_region, MORE_TO_TELL);
}

/* Tells another executor all that this region has of messages for several regions, and what others
 * have told this node and died: those who live tell it themselves. */
static void tell_executor(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor) {
    qsm_engine *engine = estate->region->engine;
    qsm_stream *stream = qsm_stream_find(estate->region, estate->sender);
    telling words = {
        .estate = estate, .link = qsm_link_to(engine, executor), .to_region = sister->region};
    if (stream == NULL || words.link == NULL) return;
    begin(&words.out, estate, sister->region, MORE_TO_TELL);
    for (uint64_t s = stream->base; s <= stream->high && !words.failed; s++) {
        qsm_data data;
        if (!qsm_stream_read(stream, s, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++)
            add_message(&words, &data.messages[i]);
    }
    for (uint32_t i = 0; i < estate->offer_count; i++)
        if (qsm_dead_since(&engine->dead, estate->offers[i]->from) != 0)
            add_message(&words, &estate->offers[i]->message);
    if (!words.failed) send_part(&words, ALL_TOLD);
    if (!words.failed) {
        sister->told = executor->id;
        sister->told_stream = words.link->stream;
        sister->told_sequence = words.link->next_sequence - 1;
        qsm_note(engine, QSM_TRACE_estate_offered, words.total, estate->sender);
    }
    qsm_bytes_free(&words.out);
}

static void say(const qsm_estate *estate, uint64_t to_region, qsm_peer *to, uint8_t said) {
    qsm_link *link = qsm_link_to(estate->region->engine, to);
    qsm_bytes out = {0};
    begin(&out, estate, to_region, said);
    if (link != NULL && !out.failed) qsm_link_send(link, out.data, out.count);
    qsm_bytes_free(&out);
}

/* Everybody is told again when this node has gone over to another host, and when an executor has
 * died; that all is over only in the first case. */
static void renew(qsm_estate *estate) {
    uint32_t side = qsm_side(estate->region->engine), cursor = 0;
    bool moved = estate->told_side != side;
    if (!moved && estate->told_since == estate->region->succession) return;
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;) {
        sister->told = 0;
        if (moved) sister->over_told = 0;
    }
    estate->told_side = side;
    estate->told_since = estate->region->succession;
}

void qsm_exchange_tell(qsm_estate *estate) {
    uint32_t cursor = 0;
    qsm_peer *executor;
    renew(estate);
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;) {
        executor = stranger(estate, sister);
        if (executor != NULL && sister->told != executor->id)
            tell_executor(estate, sister, executor);
    }
    cursor = 0;
    for (qsm_region *other; (other = next_sibling(estate, &cursor, &executor)) != NULL;) {
        qsm_sister *sister = sister_of(estate, other->uid);
        if (sister != NULL && sister->told != executor->id) tell_executor(estate, sister, executor);
    }
}

/* ---- waiting for the others ------------------------------------------------------------------ */

/* The executor has told all, as one of this side: on another one it may not have asked all those
 * whom we count as alive. And it knew of all deaths of executors that are known here, but of none
 * that is not. */
static bool has_told(const qsm_estate *estate, const qsm_sister *sister, const qsm_peer *executor) {
    const qsm_engine *engine = estate->region->engine;
    return sister->word_of == executor->id && sister->word_side == qsm_side(engine) &&
           sister->word_batch >= qsm_batch_count(estate->region->succession) &&
           sister->word_batch <= qsm_batch(engine);
}

/* An executor that has been told something since it told us does not know that its word has to come
 * again. */
static bool is_time_to_remind(qsm_estate *estate) {
    uint64_t now_ns = estate->region->engine->now_ns;
    bool due = estate->remind_ns != 0 && now_ns >= estate->remind_ns;
    if (due || estate->remind_ns == 0) estate->remind_ns = now_ns + REMIND_NS;
    return due;
}

bool qsm_exchange_is_done(qsm_estate *estate) {
    bool done = true, reminds = is_time_to_remind(estate);
    uint32_t cursor = 0;
    qsm_peer *executor;
    for (qsm_region *other; (other = next_sibling(estate, &cursor, &executor)) != NULL;) {
        const qsm_sister *sister = sister_of(estate, other->uid);
        if (sister != NULL && has_told(estate, sister, executor)) continue;
        if (reminds) say(estate, other->uid, executor, ASKS_WORD);
        done = false;
    }
    return done;
}

static void tell_over(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor) {
    if (sister->over_told == executor->id) return;
    say(estate, sister->region, executor, ALL_OVER);
    sister->over_told = executor->id;
}

static bool is_over(const qsm_engine *engine, const qsm_sister *sister) {
    if (sister->nothing) return true;
    return sister->over_side == qsm_side(engine) && sister->over_side != 0 &&
           sister->over_batch <= qsm_batch(engine);
}

bool qsm_exchange_is_over(qsm_estate *estate) {
    qsm_engine *engine = estate->region->engine;
    bool over = true, reminds = is_time_to_remind(estate);
    uint32_t cursor = 0;
    renew(estate);
    qsm_peer *executor;
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;) {
        executor = stranger(estate, sister);
        if (executor != NULL) tell_over(estate, sister, executor);
    }
    cursor = 0;
    for (qsm_region *other; (other = next_sibling(estate, &cursor, &executor)) != NULL;) {
        qsm_sister *sister = sister_of(estate, other->uid);
        if (sister != NULL) tell_over(estate, sister, executor);
        if (sister != NULL && is_over(engine, sister)) continue;
        if (reminds) say(estate, other->uid, executor, ASKS_END);
        over = false;
    }
    return over;
}

void qsm_exchange_link_lost(qsm_engine *engine, uint64_t peer) {
    uint32_t r = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &r)) != NULL;) {
        uint32_t e = 0;
        for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &e)) != NULL;) {
            uint32_t s = 0;
            for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &s)) != NULL;) {
                if (sister->told == peer) sister->told = 0;
                if (sister->over_told == peer) sister->over_told = 0;
            }
        }
    }
}

/* ---- being told ------------------------------------------------------------------------------ */

/* What an executor says, as it came. */
typedef struct {
    qsm_peer *from;
    uint32_t side, batch;
    uint64_t from_region, to_region, sender;
    uint8_t said;
    uint32_t count; /* of messages that follow */
} word;

static word read_word(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    word heard = {.from = qsm_peer_find(engine, from)};
    heard.side = qsm_read32(in);
    heard.batch = qsm_read32(in);
    heard.from_region = qsm_read64(in);
    heard.to_region = qsm_read64(in);
    heard.sender = qsm_read64(in);
    heard.said = qsm_read8(in);
    heard.count = qsm_read32(in);
    return heard;
}

/* Of one who has died nothing counts that was not heard before: the others may not hear it. */
static bool is_dead(qsm_engine *engine, const word *heard) {
    const qsm_region *region = qsm_region_find(engine, heard->from_region);
    int32_t index = region != NULL ? qsm_region_index(region, heard->from->id) : -1;
    return heard->from->dead || (index >= 0 && region->members[index].dead);
}

/* What was asked for on the ground of something that was not told here yet is answered when it is
 * asked for again. */
static bool is_early(const qsm_engine *engine, const word *heard) {
    return heard->side == qsm_side(engine) && heard->batch > qsm_batch(engine);
}

/* The region is gone, or never heard of the dead: there is nothing to wait for here. */
static void answer_nothing(qsm_engine *engine, const word *heard) {
    bool wants_answer = heard->said == ALL_TOLD || heard->said == ASKS_WORD;
    if (!wants_answer && heard->said != ASKS_END) return;
    if (is_early(engine, heard)) return;
    qsm_region gone = {.engine = engine, .uid = heard->to_region};
    const qsm_estate none = {.region = &gone, .sender = heard->sender};
    say(&none, heard->from_region, heard->from, NOTHING_TO_TELL);
}

/* What the executor was told has not all arrived there. */
static bool is_on_its_way(const qsm_sister *sister, const qsm_peer *executor) {
    const qsm_link *link = executor->link;
    return link != NULL && link->first != NULL && link->stream == sister->told_stream &&
           link->first->sequence <= sister->told_sequence;
}

/* Notes what was said. */
static void take_word(qsm_estate *estate, qsm_sister *sister, const word *heard) {
    if (heard->said == ALL_OVER) {
        sister->over_side = heard->side;
        sister->over_batch = heard->batch;
        return;
    }
    if (heard->said == ALL_TOLD || heard->said == NOTHING_TO_TELL) {
        /* Who had nothing did not know the region or the sender yet and threw away what it was
         * told: if it turns to us now, it has to be told again. */
        if (sister->nothing && heard->said == ALL_TOLD) sister->told = 0;
        sister->nothing = heard->said == NOTHING_TO_TELL;
        sister->word_of = heard->from->id;
        sister->word_side = heard->side;
        sister->word_batch = heard->batch;
    }
    if (is_early(estate->region->engine, heard)) return;
    if (heard->said == ASKS_WORD && !is_on_its_way(sister, heard->from)) sister->told = 0;
    if (heard->said == ASKS_END) sister->over_told = 0;
}

/* What this node owes the other one for its word. */
static void answer(qsm_estate *estate, qsm_sister *sister, const word *heard) {
    bool asked = heard->said == ALL_TOLD || heard->said == ASKS_WORD || heard->said == ASKS_END;
    if (!asked || is_early(estate->region->engine, heard)) return;
    renew(estate);
    if (estate->state >= QSM_ESTATE_EXCHANGING && heard->said != ASKS_END &&
        sister->told != heard->from->id)
        tell_executor(estate, sister, heard->from);
    if (estate->state == QSM_ESTATE_CLOSED) tell_over(estate, sister, heard->from);
}

void qsm_exchange_arrived(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    word heard = read_word(engine, from, in);
    if (in->failed || heard.sender == engine->id || heard.from == NULL || is_dead(engine, &heard))
        return;
    qsm_region *region = qsm_region_find(engine, heard.to_region);
    bool concerned =
        region != NULL && region->my_index >= 0 && qsm_peer_find(engine, heard.sender) != NULL;
    qsm_estate *estate = concerned ? qsm_estate_of(region, heard.sender) : NULL;
    if (estate == NULL) {
        answer_nothing(engine, &heard);
        return;
    }
    qsm_sister *sister = sister_of(estate, heard.from_region);
    if (sister == NULL) return;
    for (uint32_t i = 0; i < heard.count && estate->state < QSM_ESTATE_SETTLED; i++)
        if (!qsm_estate_read_offer(estate, from, in)) {
            /* What cannot be kept here others will have: this node cannot keep up with them. */
            if (!in->failed) qsm_request_report_slow(engine, region);
            return;
        }
    if (heard.said == MORE_TO_TELL) return;
    take_word(estate, sister, &heard);
    answer(estate, sister, &heard);
    qsm_estate_look(estate);
}

void qsm_exchange_free(qsm_estate *estate) {
    qsm_estate_forget_offers(estate);
    uint32_t cursor = 0;
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;)
        free(sister);
    qsm_table_free(&estate->sisters);
}
