/*
 * dispatch.h - hands each received packet to the part that it is for, after the checks that all
 * packets of a kind have in common: is its sender known, has it been seen before, is this node in a
 * state to act on it.
 */
#ifndef QSM_CORE_DISPATCH_H
#define QSM_CORE_DISPATCH_H

#include "core/engine.h"

void qsm_dispatch(qsm_engine *engine, const qsm_arrival *arrival);

#endif
