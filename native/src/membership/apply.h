/*
 * apply.h - puts in force what the host tells: batches of regions, views and deaths, the way to
 * another host, leave to go. What this node tells the host is in request.h.
 *
 * apply.c takes messages and the order of what is in a batch; apply_views.c reads regions and
 * views, apply_deaths.c who has died.
 */
#ifndef QSM_MEMBERSHIP_APPLY_H
#define QSM_MEMBERSHIP_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire.h"
#include "qsm.h"

typedef struct qsm_directory qsm_directory;

/* A message of the host; `from` is this engine's own id when it hosts. */
void qsm_apply_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes);

/* ---- between the files of apply -------------------------------------------------------------- */
/* Each takes one item of its kind from the batch. False: it makes no sense, contradicts what was
 * told before, or memory is short. */
bool qsm_apply_region(qsm_engine *engine, qsm_directory *directory, uint64_t batch, qsm_reader *in);
/* `requests_seen`: of this node's requests, when the batch was made. */
bool qsm_apply_group(qsm_engine *engine, qsm_directory *directory, uint32_t requests_seen,
                     qsm_reader *in);
/* A node that sends into a region without being in it. */
bool qsm_apply_outsider(qsm_engine *engine, qsm_reader *in);
void qsm_apply_death(qsm_engine *engine, uint64_t batch, uint64_t id);
/* Who is left of those who followed an earlier host. All others count as dead in its regions; where
 * else they are is another matter. */
bool qsm_apply_judgement(qsm_engine *engine, uint64_t batch, qsm_reader *in);

#endif
