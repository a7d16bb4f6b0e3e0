#include "receiving/lateness.h"

enum {
    WINDOW_MIN_NS = 3000000, /* sockets are read in turns, and a switch may have several ways */
    WINDOW_MAX_NS = 250000000,
    SPARE = 4,          /* the window is one in so many parts longer than the greatest lateness */
    MARKS_A_WINDOW = 8, /* half of all: the others tell how late is what comes after the window */
    EASE_NS = 2000000000,
    EASE = 4 /* one in so many parts of what the window is too long, each time */
};

void qsm_lateness_init(qsm_lateness *lateness, uint64_t window_ns) {
    *lateness = (qsm_lateness){.window_ns = window_ns > WINDOW_MIN_NS ? window_ns : WINDOW_MIN_NS};
}

static uint32_t oldest(const qsm_lateness *lateness) {
    return lateness->mark_count > QSM_LATENESS_MARKS ? lateness->mark_count - QSM_LATENESS_MARKS
                                                     : 0;
}

void qsm_lateness_reached(qsm_lateness *lateness, uint64_t upto, uint64_t now_ns) {
    if (lateness->mark_count > 0) {
        uint32_t newest = (lateness->mark_count - 1) % QSM_LATENESS_MARKS;
        /* Close marks would push out those that are waited for. */
        if (upto <= lateness->marks[newest].upto ||
            now_ns - lateness->marks[newest].at_ns < lateness->window_ns / MARKS_A_WINDOW)
            return;
    }
    uint32_t place = lateness->mark_count++ % QSM_LATENESS_MARKS;
    lateness->marks[place].upto = upto;
    lateness->marks[place].at_ns = now_ns;
}

static uint64_t with_spare(uint64_t lateness_ns) {
    uint64_t window_ns = lateness_ns + lateness_ns / SPARE;
    if (window_ns < WINDOW_MIN_NS) return WINDOW_MIN_NS;
    return window_ns < WINDOW_MAX_NS ? window_ns : WINDOW_MAX_NS;
}

void qsm_lateness_came(qsm_lateness *lateness, uint64_t sequence, uint64_t now_ns) {
    for (uint32_t i = oldest(lateness); i < lateness->mark_count; i++) {
        uint32_t place = i % QSM_LATENESS_MARKS;
        if (lateness->marks[place].upto < sequence) continue;
        uint64_t late_ns = now_ns - lateness->marks[place].at_ns;
        if (late_ns > lateness->latest_ns) lateness->latest_ns = late_ns;
        if (with_spare(late_ns) > lateness->window_ns) lateness->window_ns = with_spare(late_ns);
        return;
    }
}

/* Lines get better again, too. */
static void ease(qsm_lateness *lateness, uint64_t now_ns) {
    if (now_ns - lateness->eased_ns < EASE_NS) return;
    uint64_t enough_ns = with_spare(lateness->latest_ns);
    if (lateness->eased_ns != 0 && enough_ns < lateness->window_ns)
        lateness->window_ns -= (lateness->window_ns - enough_ns) / EASE;
    lateness->latest_ns = 0;
    lateness->eased_ns = now_ns;
}

uint64_t qsm_lateness_lost_upto(qsm_lateness *lateness, uint64_t upto, uint64_t last_ns,
                                uint64_t now_ns) {
    ease(lateness, now_ns);
    if (now_ns - last_ns >= lateness->window_ns) return upto;
    for (uint32_t i = lateness->mark_count; i > oldest(lateness); i--) {
        uint32_t place = (i - 1) % QSM_LATENESS_MARKS;
        if (now_ns - lateness->marks[place].at_ns >= lateness->window_ns)
            return lateness->marks[place].upto;
    }
    return 0;
}

uint64_t qsm_lateness_next_ns(const qsm_lateness *lateness, uint64_t last_ns, uint64_t now_ns) {
    for (uint32_t i = oldest(lateness); i < lateness->mark_count; i++) {
        uint64_t at_ns = lateness->marks[i % QSM_LATENESS_MARKS].at_ns;
        if (at_ns + lateness->window_ns > now_ns) return at_ns + lateness->window_ns;
    }
    return last_ns + lateness->window_ns;
}
