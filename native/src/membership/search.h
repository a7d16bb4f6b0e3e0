/*
 * search.h - how a node finds its host: asks around, answers to offers and beacons, decides to host
 * itself when nobody does, and makes hosts known to each other that do not hear one another.
 */
#ifndef QSM_MEMBERSHIP_SEARCH_H
#define QSM_MEMBERSHIP_SEARCH_H

#include <stdint.h>

#include "core/wire.h"
#include "qsm.h"

enum {
    QSM_SEARCH_NS = 350000000 /* before the first node of a scope decides that it is the first */
};

/* The client's search alarm. */
void qsm_search_alarm(void *engine, uint64_t now_ns);
/* Asks for hosts in all places where one may be. */
void qsm_search_ask(qsm_engine *engine);
/* Tells somebody whom this node follows. */
void qsm_search_tell_of_host(qsm_engine *engine, const qsm_address *to);

#endif
