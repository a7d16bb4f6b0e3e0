#include "membership/hearing.h"

#include "core/engine.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "membership/request.h"

enum {
    PAUSE_MS = 1000,
    PAUSE_MS_PER_NODE = 50, /* all nodes of a scope together call twenty times a second at most */
    TOGETHER_MS = 500,      /* a call that is due within this goes out with a beacon */
    CALLS_DOUBTED = 3,      /* missed in a row: the address is joined anew */
    CALLS_MISSED = 5,       /* in a row: the node is not heard */
    CALLS_STEADY = 10       /* in a row: it is heard again */
};
#define NS_PER_MS 1000000ull

static void on_alarm(void *context, uint64_t now_ns);

void qsm_hearing_start(qsm_engine *engine, uint64_t now_ns) {
    qsm_hearing *hearing = &engine->hearing;
    qsm_alarm_init(&hearing->alarm, on_alarm, engine);
    hearing->since_ns = now_ns;
    qsm_region_hearing_start(engine, now_ns);
    /* Those who start together do not call together. */
    if (qsm_address_is_set(&engine->config.rendezvous))
        qsm_alarm_set(&engine->alarms, &hearing->alarm,
                      now_ns + qsm_prng_below(&engine->prng, PAUSE_MS * NS_PER_MS));
}

void qsm_hearing_stop(qsm_engine *engine) {
    qsm_alarm_clear(&engine->alarms, &engine->hearing.alarm);
    qsm_region_hearing_stop(engine);
}

void qsm_hearing_slept(qsm_engine *engine) {
    engine->hearing.since_ns = engine->now_ns;
}

void qsm_hearing_noticed(qsm_engine *engine) {
    engine->hearing.any_ns = engine->now_ns;
    engine->hearing.silence = false;
}

void qsm_hearing_call_arrived(qsm_engine *engine, uint64_t from, const qsm_call *call) {
    qsm_peer *peer = qsm_peer_find(engine, from);
    if (from == engine->id) return;
    qsm_count(engine, QSM_COUNT_calls_received);
    qsm_hearing_noticed(engine);
    if (peer == NULL) return;
    qsm_audibility *audibility = &peer->audibility;
    /* Later than promised by more than half of the pause: one was missed in between. */
    uint64_t pause_ns = audibility->pause_ms * NS_PER_MS;
    if (engine->now_ns - audibility->heard_ns > pause_ns + pause_ns / 2)
        audibility->steady_ns = engine->now_ns;
    audibility->heard_ns = engine->now_ns;
    audibility->pause_ms = call->pause_ms;
}

/* ---- who is expected ------------------------------------------------------------------------- */

static void expect(qsm_engine *engine, qsm_peer *peer) {
    qsm_audibility *audibility = &peer->audibility;
    uint32_t round = engine->hearing.round;
    if (audibility->expected_round == round) return;
    if (audibility->expected_round + 1 != round) audibility->expected_ns = engine->now_ns;
    audibility->expected_round = round;
}

static bool is_expected(const qsm_engine *engine, const qsm_peer *peer) {
    return peer->audibility.expected_round == engine->hearing.round;
}

/* Everybody who sends into a region of this node: members of it, and others. Returns whether this
 * node is to be heard by anybody, which those are whose regions it sends into. */
static bool look_round(qsm_engine *engine) {
    bool wanted = false;
    engine->hearing.round++;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (region->closing) continue;
        for (uint32_t i = 0; i < region->member_count; i++) {
            const qsm_region_member *member = &region->members[i];
            if (member->peer == NULL || member->dead) continue;
            wanted = true;
            if (region->my_index >= 0) expect(engine, member->peer);
        }
        for (uint32_t i = 0; region->my_index >= 0 && i < region->outsider_count; i++)
            if (!region->outsiders[i]->dead) expect(engine, region->outsiders[i]);
    }
    return wanted;
}

/* ---- who is heard ---------------------------------------------------------------------------- */

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint32_t own_pause_ms(const qsm_engine *engine) {
    uint32_t members =
        engine->host != NULL ? engine->host->client_count : engine->client.scope_members;
    uint32_t pause_ms = members * PAUSE_MS_PER_NODE;
    return pause_ms > PAUSE_MS ? pause_ms : PAUSE_MS;
}

/* `patience_ns`: for calls of a node that has never been heard. */
static void judge(qsm_engine *engine, qsm_peer *peer, uint64_t patience_ns) {
    qsm_audibility *audibility = &peer->audibility;
    uint64_t pause_ns = audibility->pause_ms * NS_PER_MS;
    uint64_t listens_ns = later(engine->hearing.since_ns, audibility->expected_ns);
    uint64_t silent_ns = engine->now_ns - later(listens_ns, audibility->heard_ns);
    uint64_t steady_for_ns = engine->now_ns - audibility->steady_ns;
    if (pause_ns != 0 && CALLS_MISSED * pause_ns < patience_ns)
        patience_ns = CALLS_MISSED * pause_ns;
    if (silent_ns >= patience_ns / CALLS_MISSED * CALLS_DOUBTED) qsm_region_hearing_renew(engine);
    if (!audibility->unheard && silent_ns >= patience_ns) {
        audibility->unheard = true;
        qsm_note(engine, QSM_TRACE_unheard, peer->id, silent_ns);
    } else if (audibility->unheard && pause_ns != 0 && silent_ns < 2 * pause_ns &&
               steady_for_ns >= CALLS_STEADY * pause_ns) {
        audibility->unheard = false;
        qsm_note(engine, QSM_TRACE_heard_again, peer->id, steady_for_ns);
    }
}

static void judge_all(qsm_engine *engine) {
    qsm_hearing *hearing = &engine->hearing;
    uint64_t patience_ns = CALLS_MISSED * own_pause_ms(engine) * NS_PER_MS;
    /* Hosts call once a second, and so do all nodes together at least: complete silence is noticed
     * sooner than that of a single node, and who has noticed it does not hear a newcomer either. */
    const uint64_t least_ns = CALLS_MISSED * PAUSE_MS * NS_PER_MS;
    if (engine->now_ns - later(hearing->any_ns, hearing->since_ns) > least_ns)
        hearing->silence = true;
    if (hearing->silence) patience_ns = hearing->nobody ? 0 : least_ns;
    uint32_t expected = 0, unheard = 0, cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;) {
        if (!is_expected(engine, peer)) continue;
        judge(engine, peer, patience_ns);
        expected++;
        if (peer->audibility.unheard) unheard++;
    }
    engine->counters[QSM_COUNT_unheard_now] = unheard;
    if (expected > 0)
        hearing->nobody = unheard == expected || unheard > QSM_UNHEARD_MAX;
    else
        hearing->nobody = hearing->nobody && hearing->silence;
}

/* The next one of those whose multicast should be heard and is not. */
static qsm_peer *next_unheard(const qsm_engine *engine, uint32_t *cursor) {
    qsm_peer *peer;
    while ((peer = qsm_table_next(&engine->peers, cursor)) != NULL)
        if (is_expected(engine, peer) && peer->audibility.unheard) return peer;
    return NULL;
}

/* Equal sums: there is nothing new to the host. */
static uint64_t sum_up(const qsm_engine *engine) {
    uint64_t sum = engine->hearing.nobody + 2u * engine->hearing.prefers_unicast;
    uint32_t cursor = 0;
    for (qsm_peer *peer; !engine->hearing.nobody && (peer = next_unheard(engine, &cursor)) != NULL;)
        sum += qsm_mix64(peer->id);
    return sum + qsm_region_hearing_sum(engine);
}

void qsm_hearing_tell(qsm_engine *engine) {
    if (sum_up(engine) != engine->hearing.told) qsm_request_report_hearing(engine);
}

static void call_out(qsm_engine *engine) {
    qsm_control control = {.call = {.pause_ms = own_pause_ms(engine)}};
    qsm_count(engine, QSM_COUNT_calls_sent);
    qsm_post_control(engine, QSM_KIND_CALL, &control, &engine->config.rendezvous);
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    uint64_t pause_ns = own_pause_ms(engine) * NS_PER_MS;
    /* A little later than promised, each at its own time, unless there is a beacon before: others
     * count a call as missed when it is late by half of the pause. */
    qsm_alarm_set(&engine->alarms, &engine->hearing.alarm,
                  now_ns + pause_ns + qsm_prng_below(&engine->prng, pause_ns / 8));
    const uint32_t health = engine->client.health;
    if (health != QSM_HEALTH_HOST && health != QSM_HEALTH_MEMBER) {
        qsm_hearing_slept(engine); /* others may be silent for other reasons */
        return;
    }
    if (look_round(engine)) call_out(engine);
    judge_all(engine);
    qsm_hearing_tell(engine);
}

void qsm_hearing_beacon(qsm_engine *engine) {
    const qsm_alarm *alarm = &engine->hearing.alarm;
    if (qsm_alarm_is_set(alarm) && alarm->due_ns <= engine->now_ns + TOGETHER_MS * NS_PER_MS)
        on_alarm(engine, engine->now_ns);
}

void qsm_hearing_describe(qsm_engine *engine, qsm_bytes *out) {
    qsm_hearing *hearing = &engine->hearing;
    uint8_t hears = hearing->nobody ? QSM_HEARS_NOBODY : QSM_HEARS_ALL_BUT;
    if (!qsm_address_is_set(&engine->config.rendezvous)) hears = QSM_HAS_NO_MULTICAST;
    hearing->told = sum_up(engine);
    qsm_bytes_add8(out, hears | (hearing->prefers_unicast ? QSM_PREFERS_UNICAST : 0));
    uint32_t count_at = out->count, count = 0, cursor = 0;
    qsm_bytes_add32(out, 0);
    for (qsm_peer *peer;
         hears == QSM_HEARS_ALL_BUT && (peer = next_unheard(engine, &cursor)) != NULL; count++)
        qsm_bytes_add64(out, peer->id);
    qsm_bytes_patch32(out, count_at, count);
    qsm_region_hearing_describe(engine, out);
}

void qsm_engine_prefer_unicast(qsm_engine *engine, int prefers) {
    engine->hearing.prefers_unicast = prefers != 0;
    qsm_hearing_tell(engine);
}

int qsm_engine_unheard(const qsm_engine *engine, qsm_address *addresses, uint32_t count_max) {
    uint32_t count = 0, cursor = 0;
    for (qsm_peer *peer; count < count_max && (peer = next_unheard(engine, &cursor)) != NULL;)
        addresses[count++] = peer->address;
    return (int)count;
}
