#include "core/alarm.h"

#include <assert.h>
#include <stdlib.h>

void qsm_alarms_free(qsm_alarms *alarms) {
    free(alarms->heap);
    *alarms = (qsm_alarms){0};
}

void qsm_alarm_init(qsm_alarm *alarm, qsm_alarm_action action, void *context) {
    *alarm = (qsm_alarm){.action = action, .context = context};
}

static bool earlier(const qsm_alarm *a, const qsm_alarm *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void place(qsm_alarms *alarms, uint32_t position, qsm_alarm *alarm) {
    alarms->heap[position] = alarm;
    alarm->position = position;
}

static void sift_up(qsm_alarms *alarms, uint32_t position) {
    qsm_alarm *alarm = alarms->heap[position];
    while (position > 1 && earlier(alarm, alarms->heap[position / 2])) {
        place(alarms, position, alarms->heap[position / 2]);
        position /= 2;
    }
    place(alarms, position, alarm);
}

static void sift_down(qsm_alarms *alarms, uint32_t position) {
    qsm_alarm *alarm = alarms->heap[position];
    for (;;) {
        uint32_t child = position * 2;
        if (child > alarms->count) break;
        if (child < alarms->count && earlier(alarms->heap[child + 1], alarms->heap[child])) child++;
        if (!earlier(alarms->heap[child], alarm)) break;
        place(alarms, position, alarms->heap[child]);
        position = child;
    }
    place(alarms, position, alarm);
}

bool qsm_alarm_set(qsm_alarms *alarms, qsm_alarm *alarm, uint64_t due_ns) {
    assert(alarm->action != NULL);
    qsm_alarm_clear(alarms, alarm);
    if (alarms->count + 1 >= alarms->capacity) {
        uint32_t capacity = alarms->capacity ? alarms->capacity * 2 : 64;
        qsm_alarm **heap = realloc(alarms->heap, capacity * sizeof *heap);
        if (heap == NULL) return false;
        alarms->heap = heap;
        alarms->capacity = capacity;
    }
    alarm->due_ns = due_ns;
    alarm->order = alarms->order++;
    place(alarms, ++alarms->count, alarm);
    sift_up(alarms, alarms->count);
    return true;
}

bool qsm_alarm_set_earlier(qsm_alarms *alarms, qsm_alarm *alarm, uint64_t due_ns) {
    if (alarm->position && alarm->due_ns <= due_ns) return true;
    return qsm_alarm_set(alarms, alarm, due_ns);
}

void qsm_alarm_clear(qsm_alarms *alarms, qsm_alarm *alarm) {
    uint32_t position = alarm->position;
    if (position == 0) return;
    assert(alarms->heap[position] == alarm);
    qsm_alarm *last = alarms->heap[alarms->count--];
    alarm->position = 0;
    if (last == alarm) return;
    place(alarms, position, last);
    sift_up(alarms, position);
    sift_down(alarms, last->position);
}

uint64_t qsm_alarms_next(const qsm_alarms *alarms) {
    return alarms->count ? alarms->heap[1]->due_ns : UINT64_MAX;
}

bool qsm_alarms_run_one(qsm_alarms *alarms, uint64_t now_ns) {
    if (alarms->count == 0 || alarms->heap[1]->due_ns > now_ns) return false;
    qsm_alarm *alarm = alarms->heap[1];
    qsm_alarm_clear(alarms, alarm);
    alarm->action(alarm->context, now_ns);
    return true;
}
