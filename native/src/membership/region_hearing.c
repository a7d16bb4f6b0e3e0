#include "membership/region_hearing.h"

#include "core/engine.h"
#include "membership/client.h"
#include "membership/region.h"
#include "receiving/stream.h"

enum {
    LOOKS_DOUBTED = 3, /* in a row with repairs alone: the addresses are joined anew */
    LOOKS_MISSED = 6,  /* the region's address is not heard */
    REST_DOUBLINGS = 4,
};
#define NS_PER_S 1000000000ull
#define LOOK_NS NS_PER_S
#define REST_NS (60 * NS_PER_S)
#define REST_MAX_NS (REST_NS << REST_DOUBLINGS)
#define FORGIVEN_NS                                                                                \
    (2 * REST_MAX_NS) /* who has not fallen for so long begins with a short rest                   \
                       */
#define RENEWALS_APART_NS (30 * NS_PER_S)

static void on_alarm(void *context, uint64_t now_ns);

void qsm_region_hearing_start(qsm_engine *engine, uint64_t now_ns) {
    qsm_region_hearing *hearing = &engine->hearing.regions;
    qsm_alarm_init(&hearing->alarm, on_alarm, engine);
    hearing->renewable_ns = now_ns + LOOKS_DOUBTED * LOOK_NS; /* all has just been joined */
}

void qsm_region_hearing_stop(qsm_engine *engine) {
    qsm_alarm_clear(&engine->alarms, &engine->hearing.regions.alarm);
}

void qsm_region_hearing_renew(qsm_engine *engine) {
    qsm_region_hearing *hearing = &engine->hearing.regions;
    if (engine->now_ns < hearing->renewable_ns) return;
    hearing->renewable_ns = engine->now_ns + RENEWALS_APART_NS;
    hearing->renewals++;
    qsm_count(engine, QSM_COUNT_addresses_renewed);
}

uint64_t qsm_engine_renewals(const qsm_engine *engine) {
    return engine->hearing.regions.renewals;
}

void qsm_region_hearing_helped(qsm_engine *engine) {
    qsm_alarm_set_earlier(&engine->alarms, &engine->hearing.regions.alarm,
                          engine->now_ns + LOOK_NS);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Whether others may send into it by multicast and have this node hear it. */
static bool is_listened_to(const qsm_region *region) {
    return region->my_index >= 0 && !region->unicast && !region->closing;
}

/* How long the stream has come second-hand. What is passed on of a dead sender always does. What
 * was first-hand may be long ago: nobody looks while nothing comes by repairs. */
static uint32_t look_at(qsm_stream *stream) {
    if (stream->first_hand || stream->orphan || stream->sealed_off)
        stream->second_hand_looks = 0;
    else if (stream->second_hand && stream->second_hand_looks < UINT8_MAX)
        stream->second_hand_looks++;
    stream->first_hand = stream->second_hand = false;
    return stream->second_hand_looks;
}

static void forget(qsm_region *region) {
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;)
        stream->second_hand_looks = stream->first_hand = stream->second_hand = 0;
}

static void begin_to_rest(qsm_engine *engine, const qsm_region *region) {
    qsm_region_hearing *hearing = &engine->hearing.regions;
    if (hearing->falls > 0 && engine->now_ns - hearing->fell_ns > FORGIVEN_NS) hearing->falls = 0;
    /* Several regions at a time are one reason to rest. */
    if (hearing->rests_until_ns == 0) hearing->falls++;
    uint32_t doublings = hearing->falls - 1 < REST_DOUBLINGS ? hearing->falls - 1 : REST_DOUBLINGS;
    hearing->fell_ns = engine->now_ns;
    hearing->rests_until_ns = engine->now_ns + (REST_NS << doublings);
    hearing->missed = region->address;
    qsm_count(engine, QSM_COUNT_addresses_unheard);
    qsm_note(engine, QSM_TRACE_address_unheard, region->uid, hearing->falls);
}

static void look_at_region(qsm_engine *engine, qsm_region *region) {
    uint32_t longest = 0, cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        uint32_t looks = stream->own ? 0 : look_at(stream);
        if (looks > longest) longest = looks;
    }
    if (longest >= LOOKS_DOUBTED) qsm_region_hearing_renew(engine);
    if (longest < LOOKS_MISSED || region->unheard) return;
    region->unheard = true;
    begin_to_rest(engine, region);
}

static void look_round(qsm_engine *engine) {
    const uint32_t health = engine->client.health;
    /* Who slept, or is in touch with nobody, misses things for other reasons. */
    bool awake = (health == QSM_HEALTH_HOST || health == QSM_HEALTH_MEMBER) &&
                 engine->now_ns - engine->hearing.since_ns > 2 * LOOK_NS;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (!is_listened_to(region)) continue;
        if (awake)
            look_at_region(engine, region);
        else
            forget(region);
    }
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    qsm_region_hearing *hearing = &engine->hearing.regions;
    if (hearing->rests_until_ns != 0 && now_ns >= hearing->rests_until_ns)
        hearing->rests_until_ns = 0;
    look_round(engine);
    if (hearing->rests_until_ns != 0)
        qsm_alarm_set(&engine->alarms, &hearing->alarm, hearing->rests_until_ns);
    qsm_hearing_tell(engine);
}

/* ---- telling --------------------------------------------------------------------------------- */

/* The next one that the host is to be told of. */
static const qsm_region *next_unheard(const qsm_engine *engine, uint32_t *cursor) {
    const qsm_region *region;
    while ((region = qsm_table_next(&engine->regions, cursor)) != NULL)
        if (region->unheard && is_listened_to(region)) return region;
    return NULL;
}

uint64_t qsm_region_hearing_sum(const qsm_engine *engine) {
    uint64_t sum = engine->hearing.regions.rests_until_ns != 0 ? qsm_mix64(1) : 0;
    uint32_t cursor = 0;
    for (const qsm_region *region; (region = next_unheard(engine, &cursor)) != NULL;)
        sum += qsm_mix64(region->uid);
    return sum;
}

void qsm_region_hearing_describe(const qsm_engine *engine, qsm_bytes *out) {
    if (engine->hearing.regions.rests_until_ns == 0) return;
    uint32_t count_at = out->count, count = 0, cursor = 0;
    qsm_bytes_add32(out, 0);
    for (const qsm_region *region;
         count < QSM_UNHEARD_MAX && (region = next_unheard(engine, &cursor)) != NULL; count++)
        qsm_bytes_add64(out, region->uid);
    qsm_bytes_patch32(out, count_at, count);
}

int qsm_engine_missed_address(const qsm_engine *engine, qsm_address *address,
                              uint64_t *rests_for_ns) {
    const qsm_region_hearing *hearing = &engine->hearing.regions;
    if (hearing->rests_until_ns == 0) return 0;
    *address = hearing->missed;
    *rests_for_ns =
        hearing->rests_until_ns > engine->now_ns ? hearing->rests_until_ns - engine->now_ns : 0;
    return 1;
}
