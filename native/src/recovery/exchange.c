/*
 * exchange.c - what executors of different regions say to each other about a dead sender's messages
 * that were meant for several regions: what each has, that this is all, and that its region is
 * done.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "membership/client.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"

enum {
    TELLING_BYTES_MAX = 48000, /* of one message to another executor */
    REMIND_NS = 1000000000     /* before one that owes us its word is asked for it */
};

/* What a message between executors ends with. Nothing to tell is an answer that wants none; all
 * over means that everybody in the region has everything. */
enum { MORE_TO_TELL = 0, ALL_TOLD = 1, NOTHING_TO_TELL = 2, ALL_OVER = 3 };

uint64_t qsm_estate_key(const qsm_message *message) {
    return qsm_mix64(message->number ^ qsm_mix64(message->group));
}

/* Regions whose members may share messages of the sender with this one. */
static bool is_sibling(const qsm_estate *estate, const qsm_region *other) {
    return qsm_table_get(&estate->region->siblings, other->uid) != NULL &&
           other->created < estate->died_in && other->alive_count > 0;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void put_message(qsm_bytes *out, const qsm_message *message) {
    qsm_bytes_add32(out, message->group);
    qsm_bytes_add64(out, message->view);
    qsm_bytes_add64(out, message->number);
    qsm_bytes_add64(out, message->previous);
    qsm_bytes_add16(out, message->bytes);
    qsm_bytes_add8(out, message->flags);
    qsm_bytes_add8(out, message->epoch);
    qsm_bytes_add(out, message->tag, QSM_TAG_BYTES);
    qsm_bytes_add(out, message->sealed, message->bytes);
}

static void begin_telling(qsm_bytes *out, uint32_t side, uint64_t from_region, uint64_t to_region,
                          uint64_t sender, uint8_t said) {
    out->count = 0;
    qsm_bytes_add8(out, QSM_TO_EXECUTOR_ESTATE);
    qsm_bytes_add32(out, side);
    qsm_bytes_add64(out, from_region);
    qsm_bytes_add64(out, to_region);
    qsm_bytes_add64(out, sender);
    qsm_bytes_add8(out, said); /* patched in the last message */
    qsm_bytes_add32(out, 0);   /* count, patched */
}
enum { TELLING_SAID_AT = 29, TELLING_COUNT_AT = 30 };

/* Tells another executor all that this region has of messages for several regions. */
static void tell_executor(qsm_estate *estate, uint64_t to_region, qsm_peer *executor) {
    qsm_engine *engine = estate->region->engine;
    qsm_stream *stream = qsm_stream_find(estate->region, estate->sender);
    qsm_link *link = qsm_link_to(engine, executor);
    if (stream == NULL || link == NULL) return;
    qsm_bytes out = {0};
    uint32_t count = 0, total = 0;
    bool sent = true;
    begin_telling(&out, qsm_side(engine), estate->region->uid, to_region, estate->sender,
                  MORE_TO_TELL);
    for (uint64_t s = stream->base; s <= stream->high && sent; s++) {
        qsm_data data;
        if (!qsm_stream_read(stream, s, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++) {
            if (!(data.messages[i].flags & QSM_MESSAGE_WIDE)) continue;
            put_message(&out, &data.messages[i]);
            count++;
            total++;
            if (out.count < TELLING_BYTES_MAX) continue;
            qsm_bytes_patch32(&out, TELLING_COUNT_AT, count);
            sent = sent && !out.failed && qsm_link_send(link, out.data, out.count);
            begin_telling(&out, qsm_side(engine), estate->region->uid, to_region, estate->sender,
                          MORE_TO_TELL);
            count = 0;
        }
    }
    qsm_bytes_patch32(&out, TELLING_COUNT_AT, count);
    if (!out.failed) out.data[TELLING_SAID_AT] = ALL_TOLD;
    if (sent && !out.failed && qsm_link_send(link, out.data, out.count)) {
        if (estate->told_side != qsm_side(engine)) qsm_table_free(&estate->sent_to);
        estate->told_side = qsm_side(engine);
        qsm_table_put(&estate->sent_to, to_region, (void *)(uintptr_t)executor->id);
        qsm_note(engine, QSM_TRACE_estate_offered, total, estate->sender);
    }
    qsm_bytes_free(&out);
}

/* A successor of a dead executor has to be told again, and everybody when this node has gone over
 * to another host. */
static bool was_told(const qsm_estate *estate, uint64_t region, uint64_t executor) {
    return estate->told_side == qsm_side(estate->region->engine) &&
           (uint64_t)(uintptr_t)qsm_table_get(&estate->sent_to, region) == executor;
}

/* The region's executor has told all, as one of this side: on another one it may not have asked all
 * those whom we count as alive. */
static bool has_told(const qsm_estate *estate, uint64_t region, uint64_t executor) {
    return (uint64_t)(uintptr_t)qsm_table_get(&estate->done_from, region) == executor &&
           (uint64_t)(uintptr_t)qsm_table_get(&estate->done_side, region) ==
               qsm_side(estate->region->engine);
}

static void say(qsm_engine *engine, qsm_peer *to, uint64_t region, uint64_t to_region,
                uint64_t sender, uint8_t said);

/* An executor that follows another host only after it was told, and after it has told, does not
 * know that its word has to come again from the side where it is now. */
static bool is_time_to_remind(qsm_estate *estate) {
    uint64_t now_ns = estate->region->engine->now_ns;
    bool due = estate->remind_ns != 0 && now_ns >= estate->remind_ns;
    if (due || estate->remind_ns == 0) estate->remind_ns = now_ns + REMIND_NS;
    return due;
}

static void remind(qsm_estate *estate, uint64_t to_region, qsm_peer *executor) {
    if (was_told(estate, to_region, executor->id))
        say(estate->region->engine, executor, estate->region->uid, to_region, estate->sender,
            ALL_TOLD);
}

bool qsm_exchange_is_done(qsm_estate *estate) {
    qsm_engine *engine = estate->region->engine;
    bool done = true, reminds = is_time_to_remind(estate);
    /* Whoever has told us wants to be told, whether we know its region as a sibling or not. */
    for (uint32_t i = 0; i < estate->done_from.capacity; i++) {
        const qsm_table_slot *slot = &estate->done_from.slots[i];
        if (slot->value == NULL) continue;
        qsm_peer *executor = qsm_peer_find(engine, (uint64_t)(uintptr_t)slot->value);
        if (executor != NULL && !executor->dead && !was_told(estate, slot->key, executor->id))
            tell_executor(estate, slot->key, executor);
    }
    uint32_t cursor = 0;
    for (qsm_region *other; (other = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (!is_sibling(estate, other)) continue;
        const qsm_region_member *executor = &other->members[qsm_region_leader(other)];
        /* Regions of one view of a group are disjoint: those that this node leads, too, share
         * nothing with this one. */
        if (executor->peer == NULL) continue;
        if (!was_told(estate, other->uid, executor->id))
            tell_executor(estate, other->uid, executor->peer);
        if (has_told(estate, other->uid, executor->id)) continue;
        if (reminds) remind(estate, other->uid, executor->peer);
        done = false;
    }
    return done;
}

static void tell_over(qsm_estate *estate, uint64_t to_region, qsm_peer *executor) {
    qsm_engine *engine = estate->region->engine;
    if (estate->over_side != qsm_side(engine)) qsm_table_free(&estate->over_to);
    estate->over_side = qsm_side(engine);
    if ((uint64_t)(uintptr_t)qsm_table_get(&estate->over_to, to_region) == executor->id) return;
    say(engine, executor, estate->region->uid, to_region, estate->sender, ALL_OVER);
    qsm_table_put(&estate->over_to, to_region, (void *)(uintptr_t)executor->id);
}

bool qsm_exchange_is_over(qsm_estate *estate) {
    qsm_engine *engine = estate->region->engine;
    bool over = true, reminds = is_time_to_remind(estate);
    for (uint32_t i = 0; i < estate->done_from.capacity; i++) {
        const qsm_table_slot *slot = &estate->done_from.slots[i];
        if (slot->value == NULL) continue;
        qsm_peer *executor = qsm_peer_find(engine, (uint64_t)(uintptr_t)slot->value);
        if (executor != NULL && !executor->dead) tell_over(estate, slot->key, executor);
    }
    uint32_t cursor = 0;
    for (qsm_region *other; (other = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (!is_sibling(estate, other)) continue;
        const qsm_region_member *executor = &other->members[qsm_region_leader(other)];
        if (executor->peer == NULL) continue;
        tell_over(estate, other->uid, executor->peer);
        bool nothing = qsm_table_get(&estate->unheard, other->uid) != NULL;
        uint64_t side = (uint64_t)(uintptr_t)qsm_table_get(&estate->over_from, other->uid);
        if (nothing || side == qsm_side(engine)) continue;
        if (reminds) remind(estate, other->uid, executor->peer);
        over = false;
    }
    return over;
}

/* Whatever the table says of the peer does not count any more. */
static void forget_peer(qsm_table *table, uint64_t peer) {
    for (uint32_t i = 0; i < table->capacity; i++)
        if ((uint64_t)(uintptr_t)table->slots[i].value == peer)
            table->slots[i].value = (void *)(uintptr_t)1; /* nobody's id */
}

void qsm_exchange_link_lost(qsm_engine *engine, uint64_t peer) {
    uint32_t r = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &r)) != NULL;) {
        uint32_t e = 0;
        for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &e)) != NULL;) {
            forget_peer(&estate->sent_to, peer);
            forget_peer(&estate->over_to, peer);
        }
    }
}

/* ---- being told ------------------------------------------------------------------------------ */

static bool keep_offer(qsm_estate *estate, const qsm_message *message) {
    uint64_t bytes_max = estate->region->engine->config.receive_bytes_max;
    if (estate->offer_count >= QSM_ESTATE_OFFERS_MAX || estate->offer_bytes >= bytes_max)
        return false;
    if (estate->offer_count == estate->offer_capacity) {
        uint32_t capacity = estate->offer_capacity ? estate->offer_capacity * 2 : 64;
        qsm_offered **offers = realloc(estate->offers, capacity * sizeof *offers);
        if (offers == NULL) return false;
        estate->offers = offers;
        estate->offer_capacity = capacity;
    }
    qsm_offered *offer = malloc(sizeof *offer + QSM_TAG_BYTES + message->bytes);
    if (offer == NULL) return false;
    if (!qsm_table_put(&estate->offered, qsm_estate_key(message), estate)) {
        free(offer);
        return false;
    }
    memcpy(offer->bytes, message->tag, QSM_TAG_BYTES);
    memcpy(offer->bytes + QSM_TAG_BYTES, message->sealed, message->bytes);
    offer->message = *message;
    offer->message.tag = offer->bytes;
    offer->message.sealed = offer->bytes + QSM_TAG_BYTES;
    estate->offers[estate->offer_count++] = offer;
    estate->offer_bytes += message->bytes;
    return true;
}

static bool read_offer(qsm_estate *estate, qsm_reader *in) {
    qsm_message message = {0};
    message.group = qsm_read32(in);
    message.view = qsm_read64(in);
    message.number = qsm_read64(in);
    message.previous = qsm_read64(in);
    message.bytes = qsm_read16(in);
    message.flags = qsm_read8(in);
    message.epoch = qsm_read8(in);
    message.tag = qsm_read_bytes(in, QSM_TAG_BYTES);
    message.sealed = qsm_read_bytes(in, message.bytes);
    if (in->failed || message.number == 0 || message.bytes > QSM_DATA_BYTES_MAX) return false;
    if (qsm_table_get(&estate->offered, qsm_estate_key(&message)) != NULL) return true;
    return keep_offer(estate, &message);
}

static void say(qsm_engine *engine, qsm_peer *to, uint64_t region, uint64_t to_region,
                uint64_t sender, uint8_t said) {
    qsm_link *link = to != NULL ? qsm_link_to(engine, to) : NULL;
    if (link == NULL) return;
    qsm_bytes out = {0};
    begin_telling(&out, qsm_side(engine), region, to_region, sender, said);
    if (!out.failed) qsm_link_send(link, out.data, out.count);
    qsm_bytes_free(&out);
}

void qsm_exchange_arrived(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    uint32_t side = qsm_read32(in);
    uint64_t from_region = qsm_read64(in);
    uint64_t to_region = qsm_read64(in);
    uint64_t sender = qsm_read64(in);
    uint8_t said = qsm_read8(in);
    uint32_t count = qsm_read32(in);
    qsm_region *region = qsm_region_find(engine, to_region);
    if (in->failed || sender == engine->id) return;
    bool concerned =
        region != NULL && region->my_index >= 0 && qsm_peer_find(engine, sender) != NULL;
    qsm_estate *estate = concerned ? qsm_estate_of(region, sender) : NULL;
    if (estate == NULL) { /* gone, or never heard of the dead: there is nothing to wait for here */
        if (said == ALL_TOLD)
            say(engine, qsm_peer_find(engine, from), to_region, from_region, sender,
                NOTHING_TO_TELL);
        return;
    }
    for (uint32_t i = 0; i < count && estate->state < QSM_ESTATE_SETTLED; i++)
        if (!read_offer(estate, in)) break;
    if (said == MORE_TO_TELL) return;
    if (said == ALL_OVER) {
        if (side != 0) qsm_table_put(&estate->over_from, from_region, (void *)(uintptr_t)side);
        qsm_estate_look(estate);
        return;
    }
    /* Who had nothing did not know the region or the sender yet and threw away what it was told: if
     * it turns to us now, it has to be told again. */
    if (said == NOTHING_TO_TELL) qsm_table_put(&estate->unheard, from_region, estate);
    if (said == ALL_TOLD && qsm_table_remove(&estate->unheard, from_region) != NULL)
        qsm_table_remove(&estate->sent_to, from_region);
    qsm_table_put(&estate->done_from, from_region, (void *)(uintptr_t)from);
    if (side != 0) qsm_table_put(&estate->done_side, from_region, (void *)(uintptr_t)side);
    qsm_peer *executor = qsm_peer_find(engine, from);
    if (executor != NULL && said == ALL_TOLD && estate->state >= QSM_ESTATE_EXCHANGING &&
        !was_told(estate, from_region, from))
        tell_executor(estate, from_region, executor);
    if (executor != NULL && said == ALL_TOLD && estate->state == QSM_ESTATE_CLOSED)
        tell_over(estate, from_region, executor);
    qsm_estate_look(estate);
}

static int by_number(const void *a, const void *b) {
    const qsm_offered *const *x = a, *const *y = b;
    if ((*x)->message.number != (*y)->message.number)
        return (*x)->message.number < (*y)->message.number ? -1 : 1;
    return (*x)->message.group<(*y)->message.group ? -1 : (*x)->message.group>(*y)->message.group;
}

void qsm_exchange_sort(qsm_estate *estate) {
    if (estate->offer_count > 1)
        qsort(estate->offers, estate->offer_count, sizeof *estate->offers, by_number);
}

void qsm_exchange_forget_offers(qsm_estate *estate) {
    for (uint32_t i = 0; i < estate->offer_count; i++)
        free(estate->offers[i]);
    free(estate->offers);
    estate->offers = NULL;
    estate->offer_count = estate->offer_capacity = 0;
    qsm_table_free(&estate->offered);
}

void qsm_exchange_free(qsm_estate *estate) {
    qsm_exchange_forget_offers(estate);
    qsm_table_free(&estate->done_from);
    qsm_table_free(&estate->done_side);
    qsm_table_free(&estate->unheard);
    qsm_table_free(&estate->sent_to);
    qsm_table_free(&estate->over_to);
    qsm_table_free(&estate->over_from);
}
