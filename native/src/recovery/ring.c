#include "recovery/ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/orphan.h"
#include "recovery/repair.h"
#include "recovery/ring_places.h"
#include "recovery/ring_token.h"
#include "sending/sender.h"

enum {
    WAKE_DELAY_NS = 4000000, /* from the first packet after silence to the token */
    WAKE_LEVEL_NS = 2000000, /* later for each level: the one below has something to tell by then */
    HURRY_NS = 500000,       /* between launches while much arrives */
    HURRY_BYTES = 32 << 10,  /* much: less than a sender's least window */
    HELD_UP_NS = 1000000,    /* a round that took longer waited for somebody's processor */
    BRISK_NS = 5000000,      /* between launches for BRISK_SPAN_NS after that */
    BRISK_SPAN_NS = 100000000,
    PASS_PAUSE_MIN_NS = 7000000, /* before a token is sent again to a silent successor; doubles */
    PASS_PAUSE_MAX_NS = 120000000,
    PASS_TRIES_MAX = 6,
    SILENT_NS = 1000000000,   /* a member that did not take a token is left out for so long */
    TOKEN_LOST_NS = 500000000 /* more than its usual time: it will not come back */
};

static void on_launch_alarm(void *context, uint64_t now_ns);
static void on_pass_alarm(void *context, uint64_t now_ns);

void qsm_rings_init(qsm_region *region) {
    qsm_rings *rings = &region->rings;
    /* Rings of like size: a partition of one or two would have to cache as much as the others. */
    uint32_t most = region->engine->config.ring_size_max;
    uint32_t count = (region->member_count + most - 1) / most;
    rings->ring_size = (region->member_count + count - 1) / count;
    if (rings->ring_size < QSM_RING_SIZE_MIN) rings->ring_size = QSM_RING_SIZE_MIN;
    for (;; rings->ring_size++) { /* wider rings rather than more levels than there is room for */
        rings->level_count = 1;
        while (rings->level_count < QSM_RING_LEVELS_MAX &&
               qsm_ring_block_size(region, rings->level_count) < region->member_count)
            rings->level_count++;
        if (qsm_ring_block_size(region, rings->level_count) >= region->member_count) break;
    }
    assert(rings->ring_size <= QSM_RING_SIZE_MAX);
    for (uint32_t level = 0; level < rings->level_count; level++) {
        rings->parts[level].region = region;
        rings->parts[level].level = (uint8_t)level;
        qsm_alarm_init(&rings->parts[level].launch_alarm, on_launch_alarm, &rings->parts[level]);
        qsm_alarm_init(&rings->parts[level].pass_alarm, on_pass_alarm, &rings->parts[level]);
    }
}

void qsm_rings_free(qsm_region *region) {
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_alarm_clear(&region->engine->alarms, &region->rings.parts[level].launch_alarm);
        qsm_alarm_clear(&region->engine->alarms, &region->rings.parts[level].pass_alarm);
        free(region->rings.parts[level].held);
    }
}

/* ---- passing on ------------------------------------------------------------------------------ */

static void token_returned(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns);

/* Sends the held token to the next place that has a responsive member, or back to its leader. */
static void pass_on(qsm_ring_part *part, uint64_t now_ns) {
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    uint32_t ring = qsm_ring_mine(region, part->level);
    qsm_token *token = part->held;
    int32_t next = -1;
    int32_t step = token->reverse ? -1 : 1;
    while (part->position >= 0 && part->position < (int32_t)region->rings.ring_size) {
        next = qsm_ring_member_at(region, part->level, ring, (uint32_t)part->position);
        if (next >= 0 && next != region->my_index && region->members[next].id != token->origin &&
            region->members[next].silent_until_ns <= now_ns)
            break;
        next = -1;
        part->position += step;
    }
    qsm_count(engine, QSM_COUNT_tokens_passed);
    if (next >= 0) {
        qsm_ring_send_token(engine, token, region->members[next].id);
    } else if (token->origin == engine->id) {
        qsm_alarm_clear(&engine->alarms, &part->pass_alarm);
        token_returned(part, token, now_ns);
        return;
    } else {
        qsm_ring_send_token(engine, token, token->origin);
    }
    part->passed_ns = now_ns;
    uint64_t pause_ns =
        qsm_roundtrip_patience_ns(&region->lines, PASS_PAUSE_MIN_NS, PASS_PAUSE_MAX_NS);
    qsm_alarm_set(&engine->alarms, &part->pass_alarm, now_ns + (pause_ns << part->tries));
}

static void begin_passing(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns) {
    if (part->held == NULL) part->held = malloc(sizeof *part->held);
    if (part->held == NULL) return;
    if (part->held != token) *part->held = *token;
    int32_t place = (int32_t)qsm_ring_my_place(part->region, part->level);
    bool launching = token->origin == part->region->engine->id;
    if (!token->reverse)
        part->position = place + 1;
    else
        part->position = launching ? (int32_t)part->region->rings.ring_size - 1 : place - 1;
    part->tries = 0;
    pass_on(part, now_ns);
}

static void on_pass_alarm(void *context, uint64_t now_ns) {
    qsm_ring_part *part = context;
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    if (part->held == NULL || region->my_index < 0) return;
    if (++part->tries < PASS_TRIES_MAX) {
        qsm_count(engine, QSM_COUNT_tokens_resent);
        pass_on(part, now_ns);
        return;
    }
    bool inside = part->position >= 0 && part->position < (int32_t)region->rings.ring_size;
    uint32_t ring = qsm_ring_mine(region, part->level);
    int32_t silent =
        inside ? qsm_ring_member_at(region, part->level, ring, (uint32_t)part->position) : -1;
    if (silent < 0) return; /* it was on its way back to the leader, who will launch another */
    region->members[silent].silent_until_ns = now_ns + SILENT_NS;
    qsm_count(engine, QSM_COUNT_tokens_skipped);
    qsm_note(engine, QSM_TRACE_token_skips, region->uid, region->members[silent].id);
    part->position += part->held->reverse ? -1 : 1;
    part->tries = 0;
    pass_on(part, now_ns);
}

void qsm_ring_ack_arrived(qsm_region *region, uint64_t from, const qsm_token_ack *ack,
                          uint64_t now_ns) {
    (void)from;
    if (ack->level >= region->rings.level_count) return;
    qsm_ring_part *part = &region->rings.parts[ack->level];
    if (part->held == NULL || part->held->origin != ack->origin || part->held->round != ack->round)
        return;
    if (!qsm_alarm_is_set(&part->pass_alarm)) return; /* a second time */
    qsm_roundtrip_sample(&region->lines, now_ns - part->passed_ns, part->tries == 0);
    qsm_alarm_clear(&region->engine->alarms, &part->pass_alarm);
}

/* ---- the leader ------------------------------------------------------------------------------ */

static bool has_work(const qsm_ring_part *part) {
    const qsm_region *region = part->region;
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;)
        if (qsm_ring_speaks_of(stream, part->level)) return true;
    return false;
}

static void launch_now(qsm_ring_part *part, uint64_t now_ns) {
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
    begin_passing(part, &token, now_ns);
}

/* A token of this leader that can still come back. */
static bool is_under_way(const qsm_ring_part *part, uint64_t now_ns) {
    uint64_t patience_ns = 4 * part->region->engine->config.token_ns + TOKEN_LOST_NS;
    return part->travelling && now_ns - part->launched_ns <= patience_ns;
}

static void launch(qsm_ring_part *part, uint64_t now_ns) {
    qsm_region *region = part->region;
    if (region->engine->config.coupled_tokens && part->level > 0) {
        qsm_ring_part *below = part - 1; /* its round first; ours begins when it is back */
        part->waits = true;
        below->wanted = true;
        if (!is_under_way(below, now_ns)) launch(below, now_ns);
        return;
    }
    launch_now(part, now_ns);
}

/* Between the last launch and the next. */
static uint64_t launch_pause_ns(const qsm_ring_part *part, uint64_t now_ns) {
    const qsm_rings *rings = &part->region->rings;
    uint64_t token_ns = part->region->engine->config.token_ns;
    if (rings->bytes_total - part->launched_bytes >= HURRY_BYTES) return HURRY_NS;
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

static void on_launch_alarm(void *context, uint64_t now_ns) {
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
        if (since < HURRY_BYTES) continue;
        if (!qsm_ring_takes_part(region, level) || !launches_by_clock(part)) {
            part->launched_bytes = region->rings.bytes_total; /* another's: look again much later */
            continue;
        }
        region->rings.much_ns = now_ns;
        bool just_now = since - bytes < HURRY_BYTES;
        if (just_now && !part->travelling)
            qsm_alarm_set_earlier(&region->engine->alarms, &part->launch_alarm,
                                  launch_due(part, now_ns));
    }
}

void qsm_rings_changed(qsm_region *region) {
    if (region->my_index < 0) return;
    for (uint32_t level = 0; level < region->rings.level_count; level++) {
        qsm_ring_part *part = &region->rings.parts[level];
        part->travelling = false; /* it may be with the dead */
        part->seen_origin = 0;
    }
    qsm_rings_wake(region, region->engine->now_ns);
}

/* The region as a whole has what the top round says. */
static void tell_sender(qsm_region *region, qsm_stream *stream, const qsm_token_record *record,
                        const qsm_token *token) {
    qsm_engine *engine = region->engine;
    bool early = token->batch > qsm_batch(engine); /* rests on what was not told here yet */
    if (stream->own) {
        if (early) return;
        region->aes = token->aes;
        if (region->sender != NULL)
            qsm_sender_acknowledged(region->sender, record->low, record->lost);
        return;
    }
    qsm_stream_learn_cut(stream, record->cached);
    if (stream->orphan) {
        if (!early && stream->fin_known && record->low >= stream->fin) qsm_orphan_complete(stream);
        return;
    }
    qsm_peer *peer = qsm_peer_find(engine, stream->sender);
    qsm_control control = {.ack = {.region = region->uid,
                                   .stream = stream->sender,
                                   .low = record->low,
                                   .batch = token->batch,
                                   .lost = record->lost,
                                   .aes = token->aes}};
    qsm_count(engine, QSM_COUNT_acks_sent);
    qsm_post_control(engine, QSM_KIND_ACK, &control, &peer->address);
}

static void use_record(qsm_ring_part *part, const qsm_token_record *record, uint32_t mask,
                       const qsm_token *token) {
    qsm_region *region = part->region;
    qsm_stream *stream = qsm_stream_of(region, record->stream);
    if (stream == NULL) return;
    qsm_stream_learn_high(stream, record->high);
    if (token->batch <= qsm_batch(region->engine)) qsm_stream_learn_stable(stream, record->stable);
    if ((record->participants & mask) != mask) {
        qsm_count(region->engine, QSM_COUNT_tokens_incomplete);
        part->incomplete = true;
        return;
    }
    if (stream->levels[part->level].low < record->low) {
        stream->levels[part->level].low = record->low;
        stream->levels[part->level].batch = token->batch;
        if ((record->high - record->low) * region->rings.packet_bytes >= HURRY_BYTES)
            part->flowing_ns = region->engine->now_ns;
    }
    if (stream->levels[part->level].cached < record->cached)
        stream->levels[part->level].cached = record->cached;
    if (stream->levels[part->level].lost < record->lost)
        stream->levels[part->level].lost = record->lost;
    if (part->level + 1u == region->rings.level_count) {
        bool was_active = qsm_stream_is_active(stream);
        tell_sender(region, stream, record, token);
        /* The rest should hear of it, too, before tokens fall silent about the stream. */
        if (was_active && !qsm_stream_is_active(stream)) qsm_ring_announce(stream);
    }
}

static void finish_waiting(qsm_ring_part *part, uint64_t now_ns);

static void token_returned(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns) {
    qsm_region *region = part->region;
    qsm_engine *engine = region->engine;
    if (!part->travelling || token->round != part->round) return;
    part->travelling = false;
    uint64_t took = now_ns - part->launched_ns;
    part->round_ns = part->round_ns ? (part->round_ns * 7 + took) / 8 : took;
    qsm_count(engine, QSM_COUNT_tokens_returned);
    uint32_t mask = qsm_ring_alive_mask(region, part->level);
    qsm_token copy = *token; /* what follows may launch the next token into `held` */
    if (copy.batch < qsm_batch(engine)) copy.batch = qsm_batch(engine); /* the mask rests on it */
    part->incomplete = false;
    for (uint32_t i = 0; i < copy.record_count; i++)
        use_record(part, &copy.records[i], mask, &copy);
    if (copy.record_count > 0 && !part->incomplete) part->aes = copy.aes;
    if (part->incomplete) { /* whoever was passed over may be reached from the other side */
        part->reverse = !part->reverse;
        for (uint32_t i = 0; i < region->member_count; i++)
            region->members[i].silent_until_ns = 0;
    }
    if (part->wanted) {
        part->wanted = false;
        finish_waiting(part + 1, now_ns);
    }
    if (has_work(part) && launches_by_clock(part)) {
        /* One that was held up tells of what has long been otherwise. */
        uint64_t pause_ns = launch_pause_ns(part, now_ns);
        uint64_t soonest = took < HELD_UP_NS ? now_ns + HURRY_NS : now_ns;
        uint64_t due = part->launched_ns + pause_ns;
        qsm_alarm_set_earlier(&engine->alarms, &part->launch_alarm, due < soonest ? soonest : due);
    }
}

/* Coupled mode: the level below is done, so the token here may go on. */
static void finish_waiting(qsm_ring_part *part, uint64_t now_ns) {
    if (!part->waits) return;
    part->waits = false;
    if (qsm_ring_leads(part->region, part->level)) {
        launch_now(part, now_ns);
        return;
    }
    if (part->held == NULL) return;
    qsm_ring_fill_token(part, part->held);
    begin_passing(part, part->held, now_ns);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

static void push_to_neighbour(qsm_region *region, uint64_t from, const qsm_token *token) {
    for (uint32_t i = 0; i < token->record_count; i++) {
        const qsm_token_record *record = &token->records[i];
        uint32_t pushed = 0;
        for (uint32_t g = 0; g < record->gap_count && pushed < QSM_TOKEN_PUSHED_MAX; g++) {
            qsm_pull lacks = {.region = region->uid, .stream = record->stream, .range_count = 1};
            qsm_range range = record->gaps[g];
            if (range.last - range.first >= QSM_TOKEN_PUSHED_MAX)
                range.last = range.first + QSM_TOKEN_PUSHED_MAX - 1;
            pushed += (uint32_t)(range.last - range.first + 1);
            lacks.ranges[0] = range;
            qsm_count_add(region->engine, QSM_COUNT_repairs_pushed, range.last - range.first + 1);
            qsm_repair_promise(region->engine, from, &lacks);
        }
    }
}

void qsm_ring_token_arrived(qsm_region *region, uint64_t from, const qsm_token *token,
                            uint64_t now_ns) {
    qsm_engine *engine = region->engine;
    if (region->my_index < 0 || token->level >= region->rings.level_count) return;
    qsm_ring_part *part = &region->rings.parts[token->level];
    int32_t origin = qsm_region_index(region, token->origin);
    if (!qsm_ring_takes_part(region, token->level) ||
        token->ring != qsm_ring_mine(region, token->level) || origin < 0)
        return;
    qsm_peer *peer = qsm_peer_find(engine, from);
    if (peer == NULL) return;
    qsm_control ack = {.token_ack = {.region = token->region,
                                     .level = token->level,
                                     .ring = token->ring,
                                     .origin = token->origin,
                                     .round = token->round}};
    qsm_post_control(engine, QSM_KIND_TOKEN_ACK, &ack, &peer->address);
    if (token->origin == engine->id) {
        token_returned(part, token, now_ns);
        return;
    }
    if (part->seen_origin == token->origin && token->round <= part->seen_round) return;
    part->seen_origin = token->origin;
    part->seen_round = token->round;
    part->visited_ns = now_ns;
    if (token->level == 0) push_to_neighbour(region, from, token);
    qsm_token copy = *token;
    if (engine->config.coupled_tokens && token->level > 0) {
        if (part->held == NULL) part->held = malloc(sizeof *part->held);
        if (part->held == NULL) return;
        *part->held = copy;
        part->waits = true;
        (part - 1)->wanted = true;
        if (!is_under_way(part - 1, now_ns)) launch(part - 1, now_ns);
        return;
    }
    qsm_ring_fill_token(part, &copy);
    begin_passing(part, &copy, now_ns);
    qsm_rings_wake(region, now_ns);
}

void qsm_ring_nudge_arrived(qsm_region *region, const qsm_nudge *nudge) {
    qsm_stream *stream = qsm_stream_of(region, nudge->stream);
    if (stream == NULL) return;
    qsm_stream_learn_high(stream, nudge->high);
    if (stream->orphan)
        qsm_orphan_found(stream); /* perhaps only now there is something to settle */
    qsm_ring_announce(stream);
}
