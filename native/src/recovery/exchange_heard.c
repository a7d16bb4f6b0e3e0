/*
 * exchange_heard.c - an executor hears what that of another region says: it is noted, and answered
 * when it was asked for.
 */
#include "core/engine.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"
#include "recovery/exchange.h"

/* Of one who has died nothing counts that was not heard before: the others may not hear it. */
static bool is_dead(qsm_engine *engine, const qsm_word *heard) {
    const qsm_region *region = qsm_region_find(engine, heard->from_region);
    int32_t index = region != NULL ? qsm_region_index(region, heard->from->id) : -1;
    return heard->from->dead || (index >= 0 && region->members[index].dead);
}

/* What was asked for on the ground of something that was not told here yet is answered when it is
 * asked for again. */
static bool is_early(const qsm_engine *engine, const qsm_word *heard) {
    return heard->side == qsm_side(engine) && heard->batch > qsm_batch(engine);
}

/* The region is gone, or never heard of the dead: there is nothing to wait for here. */
static void answer_nothing(qsm_engine *engine, const qsm_word *heard) {
    bool wants_answer = heard->said == QSM_WORD_ALL_TOLD || heard->said == QSM_WORD_ASKS_WORD;
    if (!wants_answer && heard->said != QSM_WORD_ASKS_END) return;
    if (is_early(engine, heard)) return;
    qsm_region gone = {.engine = engine, .uid = heard->to_region};
    const qsm_estate none = {.region = &gone, .sender = heard->sender};
    qsm_words_say(&none, heard->from_region, heard->from, QSM_WORD_NOTHING_TO_TELL);
}

/* What the executor was told has not all arrived there. */
static bool is_on_its_way(const qsm_sister *sister, const qsm_peer *executor) {
    const qsm_link *link = executor->link;
    return link != NULL && link->first != NULL && link->stream == sister->told_stream &&
           link->first->sequence <= sister->told_sequence;
}

/* Notes what was said. */
static void take_word(qsm_estate *estate, qsm_sister *sister, const qsm_word *heard) {
    if (heard->said == QSM_WORD_ALL_OVER) {
        sister->over_side = heard->side;
        sister->over_batch = heard->batch;
        return;
    }
    if (heard->said == QSM_WORD_ALL_TOLD || heard->said == QSM_WORD_NOTHING_TO_TELL) {
        /* Who had nothing did not know the region or the sender yet and threw away what it was
         * told: if it turns to us now, it has to be told again. */
        if (sister->nothing && heard->said == QSM_WORD_ALL_TOLD) sister->told = 0;
        sister->nothing = heard->said == QSM_WORD_NOTHING_TO_TELL;
        sister->word_of = heard->from->id;
        sister->word_side = heard->side;
        sister->word_batch = heard->batch;
    }
    if (is_early(estate->region->engine, heard)) return;
    if (heard->said == QSM_WORD_ASKS_WORD && !is_on_its_way(sister, heard->from)) sister->told = 0;
    if (heard->said == QSM_WORD_ASKS_END) sister->over_told = 0;
}

/* What this node owes the other one for its word. */
static void answer(qsm_estate *estate, qsm_sister *sister, const qsm_word *heard) {
    bool asked = heard->said == QSM_WORD_ALL_TOLD || heard->said == QSM_WORD_ASKS_WORD ||
                 heard->said == QSM_WORD_ASKS_END;
    if (!asked || is_early(estate->region->engine, heard)) return;
    qsm_exchange_renew(estate);
    if (estate->state >= QSM_ESTATE_EXCHANGING && heard->said != QSM_WORD_ASKS_END &&
        sister->told != heard->from->id)
        qsm_words_tell(estate, sister, heard->from);
    if (estate->state == QSM_ESTATE_CLOSED) qsm_exchange_tell_over(estate, sister, heard->from);
}

void qsm_exchange_arrived(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    qsm_word heard = qsm_words_read(engine, from, in);
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
    qsm_sister *sister = qsm_exchange_sister(estate, heard.from_region);
    if (sister == NULL) return;
    for (uint32_t i = 0; i < heard.count && estate->state < QSM_ESTATE_SETTLED; i++)
        if (!qsm_estate_read_offer(estate, from, in)) {
            /* What cannot be kept here others will have: this node cannot keep up with them. */
            if (!in->failed) qsm_request_report_slow(engine, region);
            return;
        }
    if (heard.said == QSM_WORD_MORE_TO_TELL) return;
    take_word(estate, sister, &heard);
    answer(estate, sister, &heard);
    qsm_estate_look(estate);
}
