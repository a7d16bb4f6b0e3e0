#include "recovery/asking.h"

#include "core/limits.h"

enum {
    WINDOW_START = 128,
    WINDOW_MIN = 32,
    IN_VAIN = 3, /* so many times more overdue than answered: hardly anything comes through */
    PAUSE_NS = 20000000,
    PATIENT_AFTER = 3, /* requests for one packet; from then on the pause doubles */
    DOUBLINGS_MAX = 2
};

void qsm_asking_init(qsm_asking *asking) {
    *asking = (qsm_asking){.window = WINDOW_START};
}

void qsm_asking_answered(qsm_asking *asking) {
    asking->answered++;
    if (asking->window < QSM_REPAIRS_ASKED_MAX) asking->window++;
}

void qsm_asking_overdue(qsm_asking *asking, uint32_t count) {
    asking->overdue += count;
    if (asking->overdue + asking->answered < asking->window) return; /* too few to tell */
    if (asking->overdue > IN_VAIN * asking->answered) asking->window /= 2;
    if (asking->window < WINDOW_MIN) asking->window = WINDOW_MIN;
    asking->answered = asking->overdue = 0;
}

uint64_t qsm_asking_pause_ns(uint32_t attempts) {
    uint32_t doublings = attempts > PATIENT_AFTER ? attempts - PATIENT_AFTER : 0;
    return (uint64_t)PAUSE_NS << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
}
