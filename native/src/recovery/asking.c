#include "recovery/asking.h"

#include "core/limits.h"

enum {
    WINDOW_START = 128,
    WINDOW_MIN = 32,
    IN_VAIN = 4, /* one overdue for so many answered: more is asked for than lines carry */
    SLOWLY = 8,  /* answers for one packet more at a time, from then on */
    PAUSE_MIN_NS = 20000000,
    PAUSE_MAX_NS = 250000000,
    PATIENT_AFTER = 3, /* requests for one packet; from then on the pause doubles */
    DOUBLINGS_MAX = 2,
    RESIGNED_AFTER = 40, /* requests: where a third is lost, some packets take twenty */
    RESIGNED_DOUBLINGS_MAX = 4,
    RESIGNED_MAX_NS = 1000000000
};

void qsm_asking_init(qsm_asking *asking) {
    *asking = (qsm_asking){.window = WINDOW_START};
}

void qsm_asking_answered(qsm_asking *asking) {
    asking->answered++;
    if (asking->careful && asking->answered % SLOWLY != 0) return;
    if (asking->window < QSM_REPAIRS_ASKED_MAX) asking->window++;
}

void qsm_asking_overdue(qsm_asking *asking, uint32_t count) {
    asking->overdue += count;
    if (asking->overdue + asking->answered < asking->window) return; /* too few to tell */
    if (asking->overdue * IN_VAIN > asking->answered) {
        asking->window /= 2;
        asking->careful = true;
    }
    if (asking->window < WINDOW_MIN) asking->window = WINDOW_MIN;
    asking->answered = asking->overdue = 0;
}

/* Twice as much for each request behind the first so many. */
static uint64_t doubled(uint64_t pause_ns, uint32_t attempts, uint32_t behind,
                        uint32_t doublings_max, uint64_t most_ns) {
    uint32_t doublings = attempts > behind ? attempts - behind : 0;
    pause_ns <<= doublings < doublings_max ? doublings : doublings_max;
    return pause_ns < most_ns ? pause_ns : most_ns;
}

uint64_t qsm_asking_pause_ns(const qsm_roundtrip *lines, uint32_t attempts) {
    uint64_t pause_ns = qsm_roundtrip_patience_ns(lines, PAUSE_MIN_NS, PAUSE_MAX_NS);
    pause_ns = doubled(pause_ns, attempts, PATIENT_AFTER, DOUBLINGS_MAX, PAUSE_MAX_NS);
    return doubled(pause_ns, attempts, RESIGNED_AFTER, RESIGNED_DOUBLINGS_MAX, RESIGNED_MAX_NS);
}

uint64_t qsm_asking_quiet_ns(const qsm_roundtrip *lines) {
    return qsm_roundtrip_patience_ns(lines, PAUSE_MIN_NS, PAUSE_MAX_NS) / 4 * 3;
}
