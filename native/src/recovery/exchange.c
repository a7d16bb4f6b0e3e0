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
#include "recovery/exchange.h"

#include <stdlib.h>

#include "core/engine.h"
#include "membership/peer.h"
#include "membership/region.h"

enum { REMIND_NS = 1000000000 /* before one that owes us its word is asked for it */ };

qsm_sister *qsm_exchange_sister(qsm_estate *estate, uint64_t region) {
    qsm_sister *sister = qsm_table_get(&estate->sisters, region);
    if (sister != NULL || estate->sisters.count >= QSM_ESTATE_SISTERS_MAX) return sister;
    sister = calloc(1, sizeof *sister);
    if (sister == NULL) return NULL;
    sister->region = region;
    if (qsm_table_put(&estate->sisters, region, sister)) return sister;
    free(sister);
    return NULL;
}

void qsm_exchange_free(qsm_estate *estate) {
    qsm_estate_forget_offers(estate);
    uint32_t cursor = 0;
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;)
        free(sister);
    qsm_table_free(&estate->sisters);
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

void qsm_exchange_renew(qsm_estate *estate) {
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
    qsm_exchange_renew(estate);
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;) {
        executor = stranger(estate, sister);
        if (executor != NULL && sister->told != executor->id)
            qsm_words_tell(estate, sister, executor);
    }
    cursor = 0;
    for (qsm_region *other; (other = next_sibling(estate, &cursor, &executor)) != NULL;) {
        qsm_sister *sister = qsm_exchange_sister(estate, other->uid);
        if (sister != NULL && sister->told != executor->id)
            qsm_words_tell(estate, sister, executor);
    }
}

void qsm_exchange_tell_over(qsm_estate *estate, qsm_sister *sister, qsm_peer *executor) {
    if (sister->over_told == executor->id) return;
    qsm_words_say(estate, sister->region, executor, QSM_WORD_ALL_OVER);
    sister->over_told = executor->id;
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
        const qsm_sister *sister = qsm_exchange_sister(estate, other->uid);
        if (sister != NULL && has_told(estate, sister, executor)) continue;
        if (reminds) qsm_words_say(estate, other->uid, executor, QSM_WORD_ASKS_WORD);
        done = false;
    }
    return done;
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
    qsm_exchange_renew(estate);
    qsm_peer *executor;
    for (qsm_sister *sister; (sister = qsm_table_next(&estate->sisters, &cursor)) != NULL;) {
        executor = stranger(estate, sister);
        if (executor != NULL) qsm_exchange_tell_over(estate, sister, executor);
    }
    cursor = 0;
    for (qsm_region *other; (other = next_sibling(estate, &cursor, &executor)) != NULL;) {
        qsm_sister *sister = qsm_exchange_sister(estate, other->uid);
        if (sister != NULL) qsm_exchange_tell_over(estate, sister, executor);
        if (sister != NULL && is_over(engine, sister)) continue;
        if (reminds) qsm_words_say(estate, other->uid, executor, QSM_WORD_ASKS_END);
        over = false;
    }
    return over;
}
