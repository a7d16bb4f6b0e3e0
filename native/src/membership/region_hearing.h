/*
 * region_hearing.h - whether the multicast addresses of single regions reach this node. Switches
 * that filter multicast may drop one address and carry another, from the start or when they forget
 * who listens. A region shows it: what somebody sends there comes second-hand only, by repairs, for
 * some seconds. The addresses are then joined anew, which tells the switch; if that does not help,
 * the host is told, and this node's regions of that address and new ones go by unicast until they
 * have rested. Each vain attempt makes the rest longer.
 */
#ifndef QSM_MEMBERSHIP_REGION_HEARING_H
#define QSM_MEMBERSHIP_REGION_HEARING_H

#include <stdint.h>

#include "core/alarm.h"
#include "core/bytes.h"
#include "qsm.h"

typedef struct {
    qsm_alarm alarm;
    uint64_t rests_until_ns; /* 0: does not rest */
    uint64_t fell_ns;        /* when it began to rest last */
    uint32_t falls;          /* rests in a row, each of them soon after the one before */
    qsm_address missed;      /* the address that it rests because of */
    uint64_t renewals;       /* times that all was to be joined anew */
    uint64_t renewable_ns;   /* not before */
} qsm_region_hearing;

void qsm_region_hearing_start(qsm_engine *engine, uint64_t now_ns);
void qsm_region_hearing_stop(qsm_engine *engine);
/* Something came by a repair: there will be a look. */
void qsm_region_hearing_helped(qsm_engine *engine);
/* Has the driver leave all addresses and join them again, if that was not done just now. */
void qsm_region_hearing_renew(qsm_engine *engine);
/* Equal sums: there is nothing new to the host. */
uint64_t qsm_region_hearing_sum(const qsm_engine *engine);
/* Writes what the host is told; nothing when this node does not rest. */
void qsm_region_hearing_describe(const qsm_engine *engine, qsm_bytes *out);

#endif
