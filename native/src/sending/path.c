#include "sending/path.h"

#include "core/engine.h"
#include "core/parts.h"
#include "membership/peer.h"
#include "membership/region.h"

#define ROUND_NS UINT64_C(80000000)
#define QUIET_NS UINT64_C(1000000000) /* after a long probe was answered, or none was */
#define REST_NS UINT64_C(5000000000)
#define REST_NS_MAX UINT64_C(320000000000)

enum {
    DOUBTS_MAX = 12, /* rounds, to a node that answers nothing */
    TRIES = 3,       /* of a probe, before it counts as lost */
    PROOFS = 4,
    EXACT_BYTES = 4 /* what a path carries is known well enough */
};

static void on_alarm(void *context, uint64_t now_ns);

void qsm_paths_start(qsm_engine *engine) {
    qsm_alarm_init(&engine->paths.alarm, on_alarm, engine);
    engine->paths.generation = 1;
}

void qsm_paths_stop(qsm_engine *engine) {
    qsm_alarm_clear(&engine->alarms, &engine->paths.alarm);
}

static void set_carries(qsm_engine *engine, qsm_peer *peer, uint32_t bytes) {
    qsm_path *path = &peer->path;
    if (path->carries == bytes) return;
    if (path->carries == 0) {
        engine->counters[QSM_COUNT_short_paths_now]++;
        qsm_note(engine, QSM_TRACE_path_short, peer->id, path->wanted);
    } else if (bytes == 0) {
        engine->counters[QSM_COUNT_short_paths_now]--;
        qsm_note(engine, QSM_TRACE_path_long, peer->id, path->wanted);
    }
    path->carries = (uint16_t)bytes;
    engine->paths.generation++;
}

void qsm_path_forget(qsm_engine *engine, qsm_peer *peer) {
    set_carries(engine, peer, 0);
}

/* ---- probing --------------------------------------------------------------------------------- */

static void send_probe(qsm_engine *engine, const qsm_peer *peer, uint32_t bytes) {
    qsm_control control = {.probe = {.nonce = peer->path.nonce, .bytes = (uint16_t)bytes}};
    qsm_count(engine, QSM_COUNT_probes_sent);
    qsm_post_control(engine, QSM_KIND_PROBE, &control, &peer->address);
}

static uint32_t halfway(const qsm_path *path) {
    return (path->carries + path->fails + 1u) / 2;
}

static void probe(qsm_engine *engine, qsm_peer *peer, uint64_t now_ns) {
    qsm_path *path = &peer->path;
    path->next_ns = now_ns + ROUND_NS;
    path->tries++;
    if (path->phase == QSM_PATH_DOUBTED) send_probe(engine, peer, QSM_SAFE_BYTES);
    send_probe(engine, peer, path->phase == QSM_PATH_HALVED ? halfway(path) : path->wanted);
    path->short_answered = false;
    qsm_alarm_set_earlier(&engine->alarms, &engine->paths.alarm, path->next_ns);
}

static void enter(qsm_engine *engine, qsm_peer *peer, enum qsm_path_phase phase, uint64_t now_ns) {
    qsm_path *path = &peer->path;
    path->phase = phase;
    path->tries = path->proofs = 0;
    path->nonce = (uint32_t)qsm_prng_next(&engine->prng);
    probe(engine, peer, now_ns);
}

static void rest(qsm_engine *engine, qsm_path *path, uint64_t duration_ns) {
    path->phase = QSM_PATH_RESTS;
    path->next_ns = engine->now_ns + duration_ns;
    if (path->carries != 0)
        qsm_alarm_set_earlier(&engine->alarms, &engine->paths.alarm, path->next_ns);
}

/* The next length, or the end of halving. */
static void halve(qsm_engine *engine, qsm_peer *peer, uint64_t now_ns) {
    qsm_path *path = &peer->path;
    if (path->fails - path->carries > EXACT_BYTES) {
        enter(engine, peer, QSM_PATH_HALVED, now_ns);
        return;
    }
    path->rest_ns = REST_NS;
    rest(engine, path, REST_NS);
}

static void go_on_doubting(qsm_engine *engine, qsm_peer *peer, uint64_t now_ns) {
    qsm_path *path = &peer->path;
    if (path->short_answered && ++path->proofs == PROOFS) {
        path->fails = path->wanted;
        set_carries(engine, peer, QSM_SAFE_BYTES);
        halve(engine, peer, now_ns);
    } else if (path->tries < DOUBTS_MAX) {
        probe(engine, peer, now_ns);
    } else {
        rest(engine, path, QUIET_NS);
    }
}

/* The time for an answer is over, or a rest is. */
static void go_on(qsm_engine *engine, qsm_peer *peer, uint64_t now_ns) {
    qsm_path *path = &peer->path;
    if (path->phase == QSM_PATH_DOUBTED) {
        go_on_doubting(engine, peer, now_ns);
    } else if (path->phase == QSM_PATH_RESTS) {
        enter(engine, peer, QSM_PATH_RETRIED, now_ns);
    } else if (path->tries < TRIES) {
        probe(engine, peer, now_ns);
    } else if (path->phase == QSM_PATH_HALVED) {
        path->fails = (uint16_t)halfway(path);
        halve(engine, peer, now_ns);
    } else {
        if (path->rest_ns < REST_NS_MAX) path->rest_ns *= 2;
        rest(engine, path, path->rest_ns);
    }
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_engine *engine = context;
    uint64_t next_ns = UINT64_MAX;
    uint32_t cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;) {
        qsm_path *path = &peer->path;
        bool idle = path->phase == QSM_PATH_RESTS && path->carries == 0;
        if (peer->dead || idle) continue;
        if (path->next_ns <= now_ns) go_on(engine, peer, now_ns);
        idle = path->phase == QSM_PATH_RESTS && path->carries == 0;
        if (!idle && path->next_ns < next_ns) next_ns = path->next_ns;
    }
    if (next_ns != UINT64_MAX) qsm_alarm_set(&engine->alarms, &engine->paths.alarm, next_ns);
}

void qsm_path_suspect(qsm_engine *engine, qsm_peer *peer, uint32_t bytes) {
    qsm_path *path = &peer->path;
    if (bytes <= QSM_SAFE_BYTES || bytes > QSM_DATAGRAM_BYTES_MAX || path->carries != 0) return;
    if (path->phase != QSM_PATH_RESTS || engine->now_ns < path->next_ns) return;
    path->wanted = (uint16_t)bytes;
    enter(engine, peer, QSM_PATH_DOUBTED, engine->now_ns);
}

void qsm_path_probe_arrived(qsm_engine *engine, uint64_t from, const qsm_probe *asked) {
    const qsm_peer *peer = qsm_peer_find(engine, from);
    if (peer == NULL) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    qsm_control control = {.probe = *asked};
    qsm_post_control(engine, QSM_KIND_PROBE_ANSWER, &control, &peer->address);
}

void qsm_path_answer_arrived(qsm_engine *engine, uint64_t from, const qsm_probe *answer) {
    qsm_peer *peer = qsm_peer_find(engine, from);
    qsm_path *path = peer != NULL ? &peer->path : NULL;
    if (path == NULL || path->wanted == 0 || answer->nonce != path->nonce) return;
    if (answer->bytes == path->wanted) {
        set_carries(engine, peer, 0);
        rest(engine, path, QUIET_NS);
    } else if (path->phase == QSM_PATH_DOUBTED) {
        path->short_answered = path->short_answered || answer->bytes == QSM_SAFE_BYTES;
    } else if (path->phase == QSM_PATH_HALVED && answer->bytes == halfway(path)) {
        set_carries(engine, peer, answer->bytes);
        halve(engine, peer, engine->now_ns);
    }
}

/* ---- what follows ---------------------------------------------------------------------------- */

bool qsm_path_cuts(const qsm_peer *peer, const qsm_slice *packet) {
    const qsm_path *path = &peer->path;
    if (!qsm_parts_fit(packet->bytes)) return false;
    /* While it is being found out parts are the surer way; and a packet that came in parts goes on
     * in parts. */
    if (path->phase == QSM_PATH_DOUBTED || packet->buffer->torn) return true;
    return path->carries != 0 && packet->bytes > path->carries;
}

/* What reaches every member; 0: any that is made. */
static uint32_t shortest(const qsm_region *region) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < region->member_count; i++) {
        const qsm_region_member *member = &region->members[i];
        uint32_t carries = member->peer != NULL && !member->dead ? member->peer->path.carries : 0;
        if (carries != 0 && (bytes == 0 || carries < bytes)) bytes = carries;
    }
    return bytes;
}

static uint32_t region_carries(qsm_region *region) {
    const qsm_engine *engine = region->engine;
    if (region->path_generation != engine->paths.generation) {
        region->path_generation = engine->paths.generation;
        region->path_bytes = engine->counters[QSM_COUNT_short_paths_now] > 0 ? shortest(region) : 0;
    }
    return region->path_bytes;
}

uint32_t qsm_path_region_bytes(qsm_region *region) {
    uint32_t made = region->engine->config.data_bytes_max, carries = region_carries(region);
    return carries != 0 && carries < made ? carries : made;
}

bool qsm_path_region_cuts(qsm_region *region, const qsm_slice *packet) {
    if (!qsm_parts_fit(packet->bytes)) return false;
    uint32_t carries = region_carries(region);
    return packet->buffer->torn || (carries != 0 && packet->bytes > carries);
}

int qsm_engine_short_paths(const qsm_engine *engine, qsm_short_path *paths, uint32_t count_max) {
    uint32_t count = 0, cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;)
        if (peer->path.carries != 0 && !peer->dead && count < count_max)
            paths[count++] =
                (qsm_short_path){.address = peer->address, .bytes = peer->path.carries};
    return (int)count;
}

void qsm_engine_probe_paths(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;)
        if (!peer->dead) qsm_path_suspect(engine, peer, engine->config.data_bytes_max);
}
