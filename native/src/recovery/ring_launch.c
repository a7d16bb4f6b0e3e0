/*
 * ring_launch.c - when the leader of a ring launches its next token: by the clock, sooner while
 * much arrives, not at all while there is nothing to tell. Who leads nothing looks whether tokens
 * come by and nudges the leader when they do not.
 */
#include "core/engine.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/ring_part.h"
#include "recovery/ring_places.h"
#include "recovery/ring_token.h"
#include "sending/sender.h"

enum {
    WAKE_DELAY_NS = 4000000, /* from the first packet after silence to the token */
    WAKE_LEVEL_NS = 2000000, /* later for each level: the one below has something to tell by then */
    HURRY_NS = 500000,       /* between launches while much arrives */
    HELD_UP_NS = 1000000,    /* a round that took longer waited for somebody's processor */
    BRISK_NS = 5000000,      /* between launches for BRISK_SPAN_NS after that */
    BRISK_SPAN_NS = 100000000,
    TOKEN_LOST_NS = 500000000 /* more than its usual time: it will not come back */
};

static bool has_work(const qsm_ring_part *part) {
    const qsm_region *region = part->region;
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;)
        if (qsm_ring_speaks_of(stream, part->level)) return true;
    return false;
}

void qsm_ring_launch_now(qsm_ring_part *part, uint64_t now_ns) {
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    qsm_token token = {.region = region->uid,
                       .level = part->level,
                       .ring = (uint16_t)qsm_ring_mine(region, part->level),
                       .origin = engine->id,
                       .round = ++part->round,
                       .reverse = part->reverse,
                       .aes = true};
    part->travelling = true;
    part->launched_ns = now_ns;
    part->visited_ns = now_ns;
    part->launched_bytes = region->rings.bytes_total;
    qsm_count(engine, QSM_COUNT_tokens_launched);
    qsm_ring_fill_token(part, &token);
    qsm_ring_pass(part, &token, now_ns);
}

/* A token of this leader that can still come back. */
static bool is_under_way(const qsm_ring_part *part, uint64_t now_ns) {
    uint64_t patience_ns = 4 * part->region->engine->config.token_ns + TOKEN_LOST_NS;
    return part->travelling && now_ns - part->launched_ns <= patience_ns;
}

static void launch(qsm_ring_part *part, uint64_t now_ns) {
    qsm_region *region = part->region;
    if (region->engine->config.coupled_tokens && part->level > 0) {
        part->waits = true; /* ours begins when the round below is over */
        qsm_ring_want_round(part - 1, now_ns);
        return;
    }
    qsm_ring_launch_now(part, now_ns);
}

void qsm_ring_want_round(qsm_ring_part *part, uint64_t now_ns) {
    part->wanted = true;
    if (!is_under_way(part, now_ns)) launch(part, now_ns);
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* Between the last launch and the next. */
static uint64_t launch_pause_ns(const qsm_ring_part *part, uint64_t now_ns) {
    const qsm_rings *rings = &part->region->rings;
    uint64_t token_ns = part->region->engine->config.token_ns;
    if (rings->bytes_total - part->launched_bytes >= QSM_RING_HURRY_BYTES) return HURRY_NS;
    /* There is much of before that not everybody had then, and a sender whose window is full has
     * nothing more to send until it is told that they do. */
    if (part->flowing_ns != 0 && now_ns - part->flowing_ns < BRISK_NS) return HURRY_NS;
    bool brisk = rings->much_ns + BRISK_SPAN_NS > now_ns;
    return brisk && token_ns > BRISK_NS ? BRISK_NS : token_ns;
}

static uint64_t launch_due(const qsm_ring_part *part, uint64_t now_ns) {
    if (part->launched_ns == 0) return now_ns + WAKE_DELAY_NS;
    return part->launched_ns + launch_pause_ns(part, now_ns);
}

static bool launches_by_clock(const qsm_ring_part *part) {
    const qsm_region *region = part->region;
    if (!qsm_ring_leads(region, part->level)) return false;
    return !region->engine->config.coupled_tokens || part->level + 1u == region->rings.level_count;
}

static void nudge_leader(qsm_ring_part *part) {
    qsm_region *region = part->region;
    int32_t leader = qsm_ring_leader_of(region, part->level, qsm_ring_mine(region, part->level));
    if (leader < 0 || leader == region->my_index) return;
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!qsm_ring_speaks_of(stream, part->level)) continue;
        qsm_control control = {
            .nudge = {.region = region->uid,
                      .stream = stream->sender,
                      .high = stream->own && region->sender ? region->sender->high : stream->high}};
        qsm_count(region->engine, QSM_COUNT_nudges_sent);
        qsm_post_control(region->engine, QSM_KIND_NUDGE, &control,
                         &region->members[leader].peer->address);
        return;
    }
}

void qsm_ring_on_launch_alarm(void *context, uint64_t now_ns) {
    qsm_ring_part *part = context;
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    if (!has_work(part) || !qsm_ring_takes_part(region, part->level)) return;
    uint64_t patience = 4 * engine->config.token_ns;
    if (launches_by_clock(part)) {
        if (is_under_way(part, now_ns)) {
            qsm_alarm_set(&engine->alarms, &part->launch_alarm, now_ns + engine->config.token_ns);
            return;
        }
        if (part->travelling) qsm_note(engine, QSM_TRACE_token_lost, region->uid, part->round);
        if (!engine->client.suspended) launch(part, now_ns);
        qsm_alarm_set_earlier(&engine->alarms, &part->launch_alarm,
                              now_ns + engine->config.token_ns);
        return;
    }
    if (now_ns - part->visited_ns >= patience) nudge_leader(part);
    qsm_alarm_set(&engine->alarms, &part->launch_alarm, now_ns + patience);
}

void qsm_ring_launch_again(qsm_ring_part *part, uint64_t took_ns, uint64_t now_ns) {
    if (!has_work(part) || !launches_by_clock(part)) return;
    /* One that was held up tells of what has long been otherwise. */
    uint64_t soonest = took_ns < HELD_UP_NS ? now_ns + HURRY_NS : now_ns;
    uint64_t due = part->launched_ns + launch_pause_ns(part, now_ns);
    qsm_alarm_set_earlier(&part->region->engine->alarms, &part->launch_alarm,
                          due < soonest ? soonest : due);
}

void qsm_rings_wake(qsm_region *region, uint64_t now_ns) {
    if (region->my_index < 0) return;
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_ring_part *part = &region->rings.parts[level];
        if (qsm_alarm_is_set(&part->launch_alarm) || !qsm_ring_takes_part(region, level)) continue;
        uint64_t due = launches_by_clock(part) ? launch_due(part, now_ns)
                                               : now_ns + 2 * region->engine->config.token_ns;
        uint64_t soonest = now_ns + WAKE_DELAY_NS + level * WAKE_LEVEL_NS;
        if (due < soonest) due = soonest;
        qsm_alarm_set(&region->engine->alarms, &part->launch_alarm, due);
    }
}

void qsm_rings_traffic(qsm_region *region, uint32_t bytes, uint64_t now_ns) {
    region->rings.bytes_total += bytes;
    region->rings.packet_bytes = (region->rings.packet_bytes * 7 + bytes) / 8;
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_ring_part *part = &region->rings.parts[level];
        uint64_t since = region->rings.bytes_total - part->launched_bytes;
        if (since < QSM_RING_HURRY_BYTES) continue;
        if (!qsm_ring_takes_part(region, level) || !launches_by_clock(part)) {
            part->launched_bytes = region->rings.bytes_total; /* another's: look again much later */
            continue;
        }
        region->rings.much_ns = now_ns;
        bool just_now = since - bytes < QSM_RING_HURRY_BYTES;
        if (just_now && !part->travelling)
            qsm_alarm_set_earlier(&region->engine->alarms, &part->launch_alarm,
                                  launch_due(part, now_ns));
    }
}
