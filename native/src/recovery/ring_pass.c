/*
 * ring_pass.c - a token goes from member to member: sent again until the next one has taken it, and
 * past those who do not.
 */
#include <stdlib.h>

#include "core/engine.h"
#include "membership/region.h"
#include "recovery/ring_part.h"
#include "recovery/ring_places.h"
#include "recovery/ring_token.h"

enum {
    PASS_PAUSE_MIN_NS = 7000000, /* before a token is sent again to a silent successor; doubles */
    PASS_PAUSE_MAX_NS = 120000000,
    PASS_TRIES_MAX = 6,
    SILENT_NS = 1000000000 /* a member that did not take a token is left out for so long */
};

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
        qsm_ring_round_ended(part, token, now_ns);
        return;
    } else {
        qsm_ring_send_token(engine, token, token->origin);
    }
    part->passed_ns = now_ns;
    uint64_t pause_ns =
        qsm_roundtrip_patience_ns(&region->lines, PASS_PAUSE_MIN_NS, PASS_PAUSE_MAX_NS);
    qsm_alarm_set(&engine->alarms, &part->pass_alarm, now_ns + (pause_ns << part->tries));
}

void qsm_ring_pass(qsm_ring_part *part, const qsm_token *token, uint64_t now_ns) {
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

void qsm_ring_on_pass_alarm(void *context, uint64_t now_ns) {
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
