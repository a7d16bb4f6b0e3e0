/*
 * offers.c - messages of a dead sender that other regions have, kept until it is known which of
 * them this region lacks.
 */
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/region.h"
#include "recovery/estate.h"

uint64_t qsm_estate_key(const qsm_message *message) {
    return qsm_mix64(message->number ^ qsm_mix64(message->group));
}

static bool keep_offer(qsm_estate *estate, uint64_t from, const qsm_message *message) {
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
    offer->from = from;
    offer->message = *message;
    offer->message.tag = offer->bytes;
    offer->message.sealed = offer->bytes + QSM_TAG_BYTES;
    estate->offers[estate->offer_count++] = offer;
    estate->offer_bytes += message->bytes;
    return true;
}

bool qsm_estate_read_offer(qsm_estate *estate, uint64_t from, qsm_reader *in) {
    qsm_message message = {.count = 1};
    message.group = qsm_read32(in);
    message.view = qsm_read64(in);
    message.number = qsm_read64(in);
    message.previous = qsm_read64(in);
    message.bytes = qsm_read16(in);
    message.flags = qsm_read8(in);
    message.epoch = qsm_read8(in);
    message.tag = qsm_read_bytes(in, QSM_TAG_BYTES);
    message.sealed = qsm_read_bytes(in, message.bytes);
    bool run = message.flags & QSM_MESSAGE_RUN; /* never of a group that spans several regions */
    if (message.number == 0 || message.bytes > QSM_DATA_BYTES_MAX || run) in->failed = true;
    if (in->failed) return false;
    if (qsm_table_get(&estate->offered, qsm_estate_key(&message)) != NULL) return true;
    return keep_offer(estate, from, &message);
}

static int by_number(const void *a, const void *b) {
    const qsm_offered *const *x = a, *const *y = b;
    if ((*x)->message.number != (*y)->message.number)
        return (*x)->message.number < (*y)->message.number ? -1 : 1;
    return (*x)->message.group<(*y)->message.group ? -1 : (*x)->message.group>(*y)->message.group;
}

void qsm_estate_sort_offers(qsm_estate *estate) {
    if (estate->offer_count > 1)
        qsort(estate->offers, estate->offer_count, sizeof *estate->offers, by_number);
}

void qsm_estate_forget_offers(qsm_estate *estate) {
    for (uint32_t i = 0; i < estate->offer_count; i++)
        free(estate->offers[i]);
    free(estate->offers);
    estate->offers = NULL;
    estate->offer_count = estate->offer_capacity = 0;
    qsm_table_free(&estate->offered);
}
