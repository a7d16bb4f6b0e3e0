/*
 * alarm.h - timers: a binary heap of intrusive alarms. An alarm belongs to the object that contains
 * it; setting and clearing allocate nothing once the heap has grown.
 */
#ifndef QSM_CORE_ALARM_H
#define QSM_CORE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qsm_alarm qsm_alarm;
typedef void (*qsm_alarm_action)(void *context, uint64_t now_ns);

struct qsm_alarm {
    uint64_t due_ns;
    uint64_t order;    /* alarms due at the same time run in the order in which they were set */
    uint32_t position; /* in the heap, from 1; 0: not set */
    qsm_alarm_action action;
    void *context;
};

typedef struct {
    qsm_alarm **heap; /* heap[1..count] */
    uint32_t count;
    uint32_t capacity;
    uint64_t order;
} qsm_alarms;

void qsm_alarms_free(qsm_alarms *alarms);
void qsm_alarm_init(qsm_alarm *alarm, qsm_alarm_action action, void *context);
/* Sets or moves the alarm. False when the heap cannot grow. */
bool qsm_alarm_set(qsm_alarms *alarms, qsm_alarm *alarm, uint64_t due_ns);
/* Sets the alarm unless it is set already for an earlier time. */
bool qsm_alarm_set_earlier(qsm_alarms *alarms, qsm_alarm *alarm, uint64_t due_ns);
void qsm_alarm_clear(qsm_alarms *alarms, qsm_alarm *alarm);
static inline bool qsm_alarm_is_set(const qsm_alarm *alarm) {
    return alarm->position != 0;
}
/* UINT64_MAX when none is set. */
uint64_t qsm_alarms_next(const qsm_alarms *alarms);
/* Runs the first alarm that is due; false when none is. */
bool qsm_alarms_run_one(qsm_alarms *alarms, uint64_t now_ns);

#endif
