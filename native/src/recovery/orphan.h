/*
 * orphan.h - streams whose sender has died. The region's executor (its first member alive) asks
 * every member what it has, gets what it lacks itself, exchanges with the executors of other
 * regions the messages that they share, and then ends the stream with a last packet that names what
 * nobody has. So every survivor ends up with the same.
 */
#ifndef QSM_RECOVERY_ORPHAN_H
#define QSM_RECOVERY_ORPHAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/table.h"
#include "core/wire.h"

typedef struct qsm_region qsm_region;
typedef struct qsm_stream qsm_stream;
typedef struct qsm_estate qsm_estate;

typedef struct {
    qsm_table estates; /* sender id -> qsm_estate, at the executor */
    qsm_alarm alarm;   /* at other members: tell the executor of open orphans */
    uint64_t over_ns;  /* since when none is open here; 0: not looked, or one is */
} qsm_orphans;

void qsm_orphans_init(qsm_region *region);
void qsm_orphans_free(qsm_region *region);
/* The stream's sender has died (or was dead when the stream became known). */
void qsm_orphan_found(qsm_stream *stream);
/* Somebody has left in the midst of what it said: looks whether that is to be forgotten when there
 * has been time for what is under way. */
void qsm_orphans_look_later(qsm_region *region);
/* How long that may be under way. */
uint64_t qsm_orphans_patience_ns(const qsm_engine *engine);
/* Another member has died: the executor may be another one now, or an answer will never come. */
void qsm_orphans_membership_changed(qsm_region *region);
/* Anything of the stream has changed: perhaps the estate can be settled. */
void qsm_orphan_progress(qsm_stream *stream);
/* True when what is missing here of a dead sender's stream is for this node alone to get: somebody
 * had it. False while others are waited for, who may find that nobody had it. */
bool qsm_orphan_must_fetch(const qsm_stream *stream);
/* At the executor, when everybody has told what it has and while that is fetched: the estate, which
 * knows who has what. Else NULL. */
const qsm_estate *qsm_orphan_fetches(const qsm_stream *stream);
/* At the executor: everybody in the region has all of the stream. */
void qsm_orphan_complete(qsm_stream *stream);
void qsm_orphan_query_arrived(qsm_region *region, uint64_t from, const qsm_orphan_query *query);
/* The region is not known here (any more): the asker must not wait for this node. */
void qsm_orphan_answer_nothing(qsm_engine *engine, uint64_t to, const qsm_orphan_query *query);
void qsm_orphan_report_arrived(qsm_region *region, uint64_t from, const qsm_orphan_report *report);
/* The region is about to be given up. Dead senders that the executor has never heard may have been
 * heard by others in it, or in its siblings, who have not said so yet: it opens their estates, too,
 * and says that the region is drained when everybody has what there is. */
void qsm_orphans_await_unheard(qsm_region *region);
/* True when some estate of the region is open here. */
bool qsm_orphans_are_open(const qsm_region *region);

#endif
