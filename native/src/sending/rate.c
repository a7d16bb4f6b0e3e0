#include "sending/rate.h"

enum {
    RATE_START = 1000000, /* less than a slow office line carries */
    RATE_MIN = 200000,
    BURST_NS = 4000000,
    BURST_BYTES_MIN = 16384,
    ROOM_BYTES_MIN = 32768,
    MEASURE_NS = 5000000,
    STEADY_NS = 250000000,
    SILENCE_NS = 200000000, /* some turns of a token that is in no hurry */
    ROUNDS_FLAT = 3,
    WAIT_NS = 10000000, /* that members may take for other reasons */
    ROOM_FOR_REPAIRS = 4,
    SOONEST_PARTS = 64,
    LOST_FEW = 8,
    LOST_SOME = 50, /* one in so many is more than accidents take */
    LOST_MANY = 4
};
static const uint64_t RATE_TOP = 20000000000ull;

void qsm_rate_init(qsm_rate *rate, uint64_t bytes_per_s_max, uint64_t known_bytes_per_s,
                   uint64_t now_ns) {
    uint64_t half = known_bytes_per_s / 2;
    *rate = (qsm_rate){.bytes_per_s = half > RATE_START ? half : RATE_START,
                       .bytes_per_s_max = bytes_per_s_max ? bytes_per_s_max : RATE_TOP,
                       .credit_bytes = BURST_BYTES_MIN,
                       .burst_bytes_min = BURST_BYTES_MIN,
                       .refilled_ns = now_ns,
                       .measured_from_ns = now_ns,
                       .steady = {.from_ns = now_ns},
                       .climbing = true,
                       .round = {.began_ns = now_ns}};
    if (rate->bytes_per_s > rate->bytes_per_s_max) rate->bytes_per_s = rate->bytes_per_s_max;
}

void qsm_rate_set(qsm_rate *rate, uint64_t bytes_per_s, uint32_t burst_bytes) {
    rate->bytes_per_s = bytes_per_s;
    rate->burst_bytes_min = burst_bytes;
    rate->credit_bytes = burst_bytes;
}

static int64_t burst_bytes(const qsm_rate *rate) {
    uint64_t bytes = rate->bytes_per_s / 1000 * (BURST_NS / 1000000);
    return (int64_t)(bytes < rate->burst_bytes_min ? rate->burst_bytes_min : bytes);
}

/* How long acknowledgements may take when nothing waits in front of the lines. */
static uint64_t usual_ns(const qsm_rate *rate) {
    return 2 * rate->soonest_ns + WAIT_NS;
}

/* No word comes: a member may be asleep, or the lines are so full that words wait in front of them.
 * Until the next one the sender stays below what came through for long, or full lines would
 * overflow. Where packets are lost words wait for repairs, which tells nothing. */
static void mind_silence(qsm_rate *rate, uint64_t now_ns) {
    if (rate->silent || rate->climbing || rate->lossy || rate->steady.bytes_per_s == 0 ||
        rate->awaited_ns == 0 || now_ns - rate->awaited_ns < SILENCE_NS + 4 * rate->soonest_ns)
        return;
    rate->silent = true;
    uint64_t safe = rate->steady.bytes_per_s - rate->steady.bytes_per_s / 8;
    if (safe < rate->bytes_per_s / 2) safe = rate->bytes_per_s / 2;
    if (safe < rate->bytes_per_s) rate->bytes_per_s = safe;
}

bool qsm_rate_allows(qsm_rate *rate, uint64_t now_ns) {
    uint64_t elapsed = now_ns - rate->refilled_ns;
    if (elapsed > 1000000000) elapsed = 1000000000;
    if (elapsed >= 10000) {
        mind_silence(rate, now_ns);
        rate->credit_bytes += (int64_t)(rate->bytes_per_s / 1000 * (elapsed / 1000) / 1000);
        rate->refilled_ns = now_ns;
        if (rate->credit_bytes > burst_bytes(rate)) rate->credit_bytes = burst_bytes(rate);
    }
    if (rate->credit_bytes > 0) return true;
    rate->limited = true;
    return false;
}

bool qsm_rate_has_room(qsm_rate *rate, uint64_t unacknowledged_bytes) {
    if (!rate->climbing) return true;
    uint64_t room = ROOM_BYTES_MIN + rate->best_bytes_per_s / 1000 * (usual_ns(rate) / 1000) / 1000;
    if (rate->lossy) room *= ROOM_FOR_REPAIRS;
    if (unacknowledged_bytes < room || rate->best_bytes_per_s == 0) return true;
    rate->limited = true;
    return false;
}

void qsm_rate_spend(qsm_rate *rate, uint32_t bytes) {
    rate->credit_bytes -= bytes;
    if (rate->awaited_ns == 0) rate->awaited_ns = rate->refilled_ns;
}

uint64_t qsm_rate_next_ns(const qsm_rate *rate) {
    if (rate->credit_bytes > 0) return rate->refilled_ns;
    uint64_t wait = (uint64_t)(1 - rate->credit_bytes) * 1000000000ull / rate->bytes_per_s;
    return rate->refilled_ns + (wait < 50000 ? 50000 : wait);
}

static uint64_t per_second(uint64_t bytes, uint64_t elapsed_ns) {
    return bytes * 1000000 / (elapsed_ns / 1000 + 1);
}

static void measure(qsm_rate *rate, uint64_t now_ns, uint64_t bytes) {
    rate->measured_bytes += bytes;
    uint64_t elapsed = now_ns - rate->measured_from_ns;
    if (elapsed <= MEASURE_NS) return;
    uint64_t measured = per_second(rate->measured_bytes, elapsed);
    rate->measured_bytes_per_s = rate->measured_bytes_per_s == 0
                                     ? measured
                                     : (rate->measured_bytes_per_s * 3 + measured) / 4;
    rate->measured_bytes = 0;
    rate->measured_from_ns = now_ns;
}

/* The same over a longer time, of times in which the rate held the sender back; what was once
 * possible is forgotten slowly. */
static void measure_long(qsm_rate *rate, uint64_t now_ns, uint64_t bytes) {
    qsm_rate_steady *steady = &rate->steady;
    steady->bytes += bytes;
    steady->limited = steady->limited || rate->limited;
    uint64_t elapsed = now_ns - steady->from_ns;
    if (elapsed <= STEADY_NS && !rate->climbing) return;
    uint64_t came = rate->climbing ? rate->best_bytes_per_s : per_second(steady->bytes, elapsed);
    uint64_t least = steady->bytes_per_s - steady->bytes_per_s / 8;
    if (steady->limited) steady->bytes_per_s = came > least ? came : least;
    steady->bytes = 0;
    steady->from_ns = now_ns;
    steady->limited = false;
}

/* Acknowledgements take far longer than they once did: packets wait in front of the lines. Where
 * some are lost the acknowledgements wait for repairs, which tells nothing. */
static bool waits(qsm_rate *rate, uint64_t acknowledged_ns) {
    if (rate->soonest_ns == 0 || acknowledged_ns < rate->soonest_ns)
        rate->soonest_ns = acknowledged_ns;
    else
        rate->soonest_ns += rate->soonest_ns / SOONEST_PARTS; /* ways change */
    return rate->round.lost == 0 && acknowledged_ns > usual_ns(rate);
}

/* More than accidents take. */
static bool loses_some(const qsm_rate_round *round) {
    return round->lost * LOST_SOME > round->packets;
}

/* The lines are full when hardly more comes through than before, and less than was let: once, if it
 * is much less, else some times in a row. What came in a round was sent in the one before. Where
 * some packets are lost it comes unevenly, after their repairs, and only many lost ones tell. */
static bool is_full(qsm_rate *rate, uint64_t came) {
    const qsm_rate_round *round = &rate->round;
    bool flat = came < rate->best_bytes_per_s + rate->best_bytes_per_s / 4;
    bool many = round->lost > LOST_FEW && round->lost * LOST_MANY > round->packets;
    if (came > rate->best_bytes_per_s) rate->best_bytes_per_s = came;
    if (loses_some(round) && !many) return false;
    rate->rounds_flat = (uint8_t)(flat ? rate->rounds_flat + 1 : 0);
    if (flat && rate->rounds_flat == ROUNDS_FLAT) return true;
    return flat && (many || came < rate->bytes_per_s_before / 8 * 5);
}

/* The end of a round in which the rate was what held the sender back, and so much came through. */
static void end_round(qsm_rate *rate, uint64_t came, bool waiting) {
    uint64_t now = rate->bytes_per_s, step = now / 8;
    if (rate->climbing) {
        rate->climbing = !is_full(rate, came) && !waiting;
        if (!rate->climbing && now > rate->best_bytes_per_s)
            rate->bytes_per_s = rate->best_bytes_per_s;
        uint64_t next = 2 * came;
        if (loses_some(&rate->round) && next < now + now / 2) next = now + now / 2;
        if (rate->climbing && now < next) rate->bytes_per_s = next;
    } else if (waiting) {
        if (came < now - step) rate->bytes_per_s -= step;
    } else if (came >= now - step) {
        rate->bytes_per_s += rate->round.lost > 0 ? step / 4 : step;
    }
    rate->bytes_per_s_before = now;
}

/* What came through, a second. Acknowledgements of some time may come all at once: it was no more
 * than had been sent. */
static uint64_t came_per_s(const qsm_rate_round *round, uint64_t now_ns, uint64_t sent_until_ns) {
    uint64_t taken = now_ns - round->from_ns, sending = sent_until_ns - round->sent_from_ns;
    return per_second(round->bytes, taken > sending ? taken : sending);
}

static void follow_round(qsm_rate *rate, uint64_t now_ns, const qsm_rate_news *news) {
    qsm_rate_round *round = &rate->round;
    if (round->bytes == 0) {
        round->from_ns = news->sent_ns > round->began_ns ? news->sent_ns : round->began_ns;
        round->sent_from_ns = news->sent_ns;
    }
    round->bytes += news->bytes;
    round->packets += news->packets;
    round->lost += news->lost;
    round->limited = round->limited || rate->limited;
    if (news->sent_ns < round->began_ns) return;
    bool waiting = waits(rate, now_ns - news->sent_ns);
    if (round->limited) end_round(rate, came_per_s(round, now_ns, news->last_sent_ns), waiting);
    rate->lossy = loses_some(round);
    *round = (qsm_rate_round){.began_ns = now_ns};
}

/* Never below what has been getting through: that much the region can take. */
static bool lower(qsm_rate *rate) {
    uint64_t floor = rate->measured_bytes_per_s + rate->measured_bytes_per_s / 20;
    uint64_t next = rate->bytes_per_s - rate->bytes_per_s / 8;
    if (next < floor) next = floor;
    if (next >= rate->bytes_per_s) return false;
    rate->bytes_per_s = next;
    return true;
}

bool qsm_rate_feedback(qsm_rate *rate, uint64_t now_ns, const qsm_rate_news *news) {
    measure(rate, now_ns, news->bytes);
    measure_long(rate, now_ns, news->bytes);
    rate->awaited_ns = news->awaited_ns;
    rate->silent = false;
    follow_round(rate, now_ns, news);
    bool lossy = news->lost > LOST_FEW && (uint64_t)news->lost * LOST_SOME > news->packets;
    bool lowered = lossy && !rate->climbing && lower(rate);
    rate->limited = false;
    if (rate->bytes_per_s < RATE_MIN) rate->bytes_per_s = RATE_MIN;
    if (rate->bytes_per_s > rate->bytes_per_s_max) rate->bytes_per_s = rate->bytes_per_s_max;
    return lowered;
}
