/*
 * estate.h - what a dead sender has left in one region, as the region's executor sees it: which of
 * its packets exist anywhere, what other regions have of its messages, and how far the settlement
 * has come. estate.c takes it from state to state; reports.c asks the region's members, exchange.h
 * talks to the executors of other regions and offers.c keeps what these have, ending.c ends the
 * stream.
 */
#ifndef QSM_RECOVERY_ESTATE_H
#define QSM_RECOVERY_ESTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/table.h"
#include "core/wire.h"

typedef struct qsm_region qsm_region;
typedef struct qsm_stream qsm_stream;

enum qsm_estate_state {
    QSM_ESTATE_NOTED,      /* others speak of it, but here the sender is not known to be dead */
    QSM_ESTATE_ASKING,     /* members report what they have */
    QSM_ESTATE_FETCHING,   /* what somebody has and this node lacks is on its way */
    QSM_ESTATE_EXCHANGING, /* other regions tell what they have of common messages */
    QSM_ESTATE_SETTLED,    /* the stream has its end */
    QSM_ESTATE_CLOSED      /* everybody has all of it, in the other regions, too */
};

/* A message that another region has, to be appended to the stream if this region lacks it. */
typedef struct {
    uint64_t from;       /* id of the executor that has told of it */
    qsm_message message; /* tag and sealed point into bytes */
    uint8_t bytes[];
} qsm_offered;

/* What has passed between this node and the executor of another region. */
typedef struct {
    uint64_t region;      /* uid */
    uint64_t told;        /* id of the executor there that was told all; 0: none */
    uint32_t told_stream; /* of the link to it, and the last packet of that */
    uint32_t told_sequence;
    uint64_t word_of;   /* id of the executor there that has told all; 0: none */
    uint32_t word_side; /* whom it followed then, and what it had been told: see wire.h */
    uint32_t word_batch;
    bool nothing;       /* it had nothing to tell */
    uint64_t over_told; /* id of the executor there that knows that this region has everything */
    uint32_t over_side; /* as above, of the word that its region has everything; 0: none has come
                         */
    uint32_t over_batch;
} qsm_sister;

typedef struct qsm_estate {
    qsm_region *region;
    uint64_t sender;
    uint64_t died_in; /* batch that told of the death: regions made later do not know the sender */
    enum qsm_estate_state state;
    bool looking;
    uint32_t attempt;
    qsm_table answered; /* member id -> this */
    qsm_table reported; /* member id -> how far its report has come, when it takes several packets
                         */
    uint64_t first;     /* sequence of the first bit */
    uint8_t *exists;    /* bit: some member has or had it */
    uint64_t high;      /* greatest sequence that anybody has */
    /* of other regions */
    qsm_offered **offers;
    uint32_t offer_count, offer_capacity;
    uint64_t offer_bytes;
    qsm_table offered;   /* hash of group and number -> anything */
    qsm_table sisters;   /* uid -> qsm_sister: regions that share messages of the sender */
    uint32_t told_side;  /* side of this node when it told them */
    uint64_t told_since; /* the region's succession then: after another they are told again */
    uint64_t exchange_by_ns;
    uint64_t remind_ns;   /* when those whose word is missing are reminded */
    uint64_t end_told_ns; /* when the region was told the end */
    qsm_alarm alarm;
} qsm_estate;

/* The region's estate of that sender, made when needed; NULL when the sender is unknown here or
 * memory is short. */
qsm_estate *qsm_estate_of(qsm_region *region, uint64_t sender);
/* The sender is dead and this node is the executor: the settlement begins. */
void qsm_estate_open(qsm_estate *estate, qsm_stream *stream);
/* Takes the estate as far as it can go. */
void qsm_estate_look(qsm_estate *estate);
/* The region has everything. When the others have, too, nobody will ask for it any more. */
void qsm_estate_close(qsm_estate *estate, qsm_stream *stream);
void qsm_estate_free(qsm_estate *estate);
/* True when this node settles what is left in the region: it is its first member alive. */
bool qsm_orphans_executes(const qsm_region *region);
/* What everybody has, or nobody has heard of, needs no settlement unless others ask. */
bool qsm_orphan_is_over(const qsm_stream *stream);

/* Asks all members anew: what they reported before does not count any more. */
void qsm_reports_begin(qsm_estate *estate, const qsm_stream *stream);
/* Asks those who have not answered. */
void qsm_reports_ask(qsm_estate *estate);
bool qsm_reports_are_in(const qsm_estate *estate);
/* True when some member has or had the packet. */
bool qsm_reports_name(const qsm_estate *estate, uint64_t sequence);
/* True when everything that anybody has is here. */
bool qsm_reports_show_all_here(const qsm_estate *estate, qsm_stream *stream);

/* Appends what other regions have and this one lacks, and the stream's end. False when not all of
 * it could be appended: to be tried again. */
bool qsm_estate_end(qsm_estate *estate, qsm_stream *stream);

/* A name for a message in a table. */
uint64_t qsm_estate_key(const qsm_message *message);

/* Reads a message that another region has and keeps it. False when there is no room, or when it is
 * malformed: then the reader has failed. */
bool qsm_estate_read_offer(qsm_estate *estate, uint64_t from, qsm_reader *in);
/* Offers in the order of their numbers. */
void qsm_estate_sort_offers(qsm_estate *estate);
void qsm_estate_forget_offers(qsm_estate *estate);

/* Tells the executors of other regions what there is here, and what those have told who have died
 * since; again when one of them has died: only who is told by all others, after that death, knows
 * all that any of them may have heard from the dead one. */
void qsm_exchange_tell(qsm_estate *estate);
/* True when all of them have told what they have, since the last of them died. */
bool qsm_exchange_is_done(qsm_estate *estate);
/* Tells the other executors, once, that this region has everything. True when all other regions
 * have it, too: until then each keeps what it has, for an executor may die and its successor has to
 * ask again. */
bool qsm_exchange_is_over(qsm_estate *estate);
void qsm_exchange_free(qsm_estate *estate);
/* A control message of another region's executor: messages that its region has, or "that is all".
 */
void qsm_exchange_arrived(qsm_engine *engine, uint64_t from, qsm_reader *reader);
/* What was on its way to that node is lost: its regions are told again. */
void qsm_exchange_link_lost(qsm_engine *engine, uint64_t peer);

#endif
