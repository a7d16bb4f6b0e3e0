#include "membership/region.h"

#include <assert.h>
#include <stdlib.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/peer.h"
#include "membership/request.h"
#include "receiving/stream.h"
#include "sending/sender.h"

qsm_region *qsm_region_find(qsm_engine *engine, uint64_t uid) {
    return qsm_table_get(&engine->regions, uid);
}

enum { FEW_MEMBERS = 16 }; /* are found as soon by looking at each */

/* Every packet about the region is looked up by its sender. Without memory for it, all are looked
 * at.
 */
static void index_members(qsm_region *region) {
    if (region->member_count <= FEW_MEMBERS) return;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (!qsm_index_add(&region->places, (uint32_t)region->members[i].id, i + 1)) {
            qsm_index_free(&region->places);
            return;
        }
}

qsm_region *qsm_region_install(qsm_engine *engine, uint64_t uid, qsm_directory *directory,
                               const qsm_address *address, bool unicast, qsm_region_member *members,
                               uint32_t member_count) {
    assert(member_count > 0 && qsm_region_find(engine, uid) == NULL);
    qsm_region *region = calloc(1, sizeof *region);
    if (region == NULL || !qsm_table_put(&engine->regions, uid, region)) {
        free(region);
        return NULL;
    }
    region->engine = engine;
    region->uid = uid;
    region->directory = directory;
    directory->region_count++;
    region->address = *address;
    region->unicast = unicast;
    region->members = members;
    region->member_count = member_count;
    region->my_index = -1;
    for (uint32_t i = 0; i < member_count; i++) {
        if (members[i].id == engine->id) region->my_index = (int32_t)i;
        if (!members[i].dead) region->alive_count++;
    }
    index_members(region);
    qsm_rings_init(region);
    qsm_orphans_init(region);
    qsm_count(engine, QSM_COUNT_regions_installed);
    engine->counters[QSM_COUNT_regions_now]++;
    qsm_note(engine, QSM_TRACE_region_installed, uid, member_count);
    if (region->my_index >= 0 && !unicast) engine->subscription_generation++;
    return region;
}

bool qsm_region_has_outsider(const qsm_region *region, uint64_t id) {
    for (uint32_t i = 0; i < region->outsider_count; i++)
        if (region->outsiders[i]->id == id) return true;
    return false;
}

bool qsm_region_add_outsider(qsm_region *region, uint64_t id, const qsm_address *address) {
    if (qsm_region_has_outsider(region, id)) return true;
    if (region->outsider_count == region->outsider_capacity) {
        uint32_t capacity = region->outsider_capacity ? region->outsider_capacity * 2 : 8;
        qsm_peer **outsiders = realloc(region->outsiders, capacity * sizeof *outsiders);
        if (outsiders == NULL) return false;
        region->outsiders = outsiders;
        region->outsider_capacity = capacity;
    }
    qsm_peer *peer = qsm_peer_use(region->engine, id, address);
    if (peer == NULL) return false;
    region->outsiders[region->outsider_count++] = peer;
    return true;
}

void qsm_region_close(qsm_region *region) {
    if (region->closing) return;
    region->closing = true;
    qsm_note(region->engine, QSM_TRACE_region_closing, region->uid, region->streams.count);
    if (region->sender != NULL) qsm_sender_finish(region->sender);
    qsm_region_check_drained(region);
}

void qsm_region_dissolve(qsm_region *region) {
    qsm_engine *engine = region->engine;
    assert(region->uses == 0);
    uint64_t held = region->sender != NULL ? region->sender->high - region->sender->stable : 0;
    qsm_note(engine, QSM_TRACE_region_dissolved, region->uid, held);
    qsm_orphans_free(region);
    qsm_rings_free(region);
    if (region->sender != NULL) qsm_sender_free(region->sender);
    while (region->streams.count > 0) {
        uint32_t cursor = 0;
        qsm_stream_free(qsm_table_next(&region->streams, &cursor));
    }
    qsm_table_free(&region->streams);
    qsm_table_free(&region->siblings);
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].peer != NULL) qsm_peer_unuse(engine, region->members[i].peer);
    for (uint32_t i = 0; i < region->outsider_count; i++)
        qsm_peer_unuse(engine, region->outsiders[i]);
    free(region->outsiders);
    free(region->members);
    qsm_index_free(&region->places);
    qsm_table_remove(&engine->regions, region->uid);
    if (region->my_index >= 0 && !region->unicast) engine->subscription_generation++;
    qsm_count(engine, QSM_COUNT_regions_dissolved);
    engine->counters[QSM_COUNT_regions_now]--;
    region->directory->region_count--;
    qsm_directories_forget_unused(engine);
    free(region);
}

int32_t qsm_region_index(const qsm_region *region, uint64_t id) {
    uint32_t cursor = UINT32_MAX, number;
    while ((number = qsm_index_find(&region->places, (uint32_t)id, &cursor)) != 0)
        if (region->members[number - 1].id == id) return (int32_t)number - 1;
    if (region->places.count > 0) return -1;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].id == id) return (int32_t)i;
    return -1;
}

bool qsm_region_knows_alive(const qsm_region *region, uint64_t id) {
    const qsm_directory *directory = region->directory;
    return !directory->judged || region->created > directory->judged_upto ||
           qsm_table_get(&directory->alive, id) != NULL;
}

int32_t qsm_region_leader(const qsm_region *region) {
    for (uint32_t i = 0; i < region->member_count; i++)
        if (!region->members[i].dead) return (int32_t)i;
    return -1;
}

/* Executors who spoke with the one who died may have heard what others have not. */
static void note_succession(const qsm_region *region, uint64_t batch) {
    uint32_t cursor = 0;
    for (qsm_region *other; (other = qsm_table_next(&region->engine->regions, &cursor)) != NULL;)
        if (other == region || qsm_table_get(&other->siblings, region->uid) != NULL)
            other->succession = batch;
}

void qsm_region_node_died(qsm_region *region, uint64_t id, uint64_t batch) {
    qsm_engine *engine = region->engine;
    int32_t index = qsm_region_index(region, id);
    qsm_stream *stream = qsm_stream_find(region, id);
    if (index >= 0 && !region->members[index].dead) {
        if (qsm_region_leader(region) == index) note_succession(region, batch);
        region->members[index].dead = true;
        region->alive_count--;
        qsm_note(engine, QSM_TRACE_node_dead, id, region->uid);
        if (region->my_index >= 0) qsm_rings_changed(region);
    }
    /* The host has dropped earlier reports, also when the dead only might have sent into it. */
    region->drained = false;
    if (stream != NULL && !stream->orphan) qsm_orphan_found(stream);
    if (region->my_index >= 0) qsm_orphans_membership_changed(region);
    /* With nobody else left there is nobody to wait for. */
    bool alone = region->alive_count == 0 || (region->alive_count == 1 && region->my_index >= 0);
    if (alone && region->sender != NULL)
        qsm_sender_acknowledged(region->sender, region->sender->high, 0);
    qsm_region_check_drained(region);
}

void qsm_region_check_drained(qsm_region *region) {
    if (!region->closing || region->drained || region->engine->client.applying) return;
    if (region->sender != NULL) {
        if (!region->sender->fin) qsm_sender_finish(region->sender);
        if (!QSM_BUG(11) && !qsm_sender_is_finished(region->sender)) return;
    }
    if (region->my_index >= 0) {
        uint32_t cursor = 0;
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;)
            if (stream->orphan && !qsm_stream_is_finished(stream)) return;
        qsm_orphans_await_unheard(region);
        if (qsm_orphans_are_open(region)) return;
    }
    region->drained = true;
    qsm_request_report_drained(region->engine, region);
}

/* ---- caching --------------------------------------------------------------------------------- */

uint32_t qsm_region_partition_count(const qsm_region *region) {
    uint32_t size = region->rings.ring_size;
    return (region->member_count + size - 1) / size;
}

static uint32_t partition_of(const qsm_region *region, uint64_t sequence) {
    return (uint32_t)(sequence % qsm_region_partition_count(region));
}

int32_t qsm_region_pick_cache(const qsm_region *region, uint64_t sequence, uint64_t sender) {
    uint32_t size = region->rings.ring_size;
    uint32_t start = partition_of(region, sequence) * size;
    uint32_t offset = (uint32_t)qsm_prng_below(&region->engine->prng, size);
    int32_t last_resort = -1;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t index = start + (offset + i) % size;
        if (index >= region->member_count || (int32_t)index == region->my_index) continue;
        const qsm_region_member *member = &region->members[index];
        if (member->dead || member->silent_until_ns > region->engine->now_ns) continue;
        if (member->id != sender) return (int32_t)index;
        last_resort = (int32_t)index;
    }
    return last_resort;
}

bool qsm_region_is_cached_well(const qsm_region *region, uint64_t sequence, uint64_t sender) {
    uint32_t size = region->rings.ring_size, cachers = 0;
    uint32_t start = partition_of(region, sequence) * size;
    for (uint32_t i = start; i < start + size && i < region->member_count; i++)
        if (!region->members[i].dead && region->members[i].id != sender) cachers++;
    return cachers >= QSM_CACHERS_MIN;
}

bool qsm_region_caches(const qsm_region *region, uint64_t sequence) {
    if (region->my_index < 0) return false;
    if (region->engine->config.cache_everywhere) return true;
    return partition_of(region, sequence) == (uint32_t)region->my_index / region->rings.ring_size;
}

bool qsm_region_is_dead_address(const qsm_region *region, const qsm_address *address) {
    bool found = false;
    for (uint32_t i = 0; i < region->member_count; i++) {
        const qsm_region_member *member = &region->members[i];
        if (member->peer == NULL || !qsm_address_equal(&member->peer->address, address)) continue;
        if (!member->dead) return false;
        found = true;
    }
    return found;
}

/* ---- sending --------------------------------------------------------------------------------- */

void qsm_region_multicast(qsm_region *region, uint32_t class, const qsm_slice *packet) {
    if (!region->unicast) {
        if (qsm_path_region_cuts(region, packet))
            qsm_parts_post(region->engine, class, &region->address, packet);
        else
            qsm_post_packet(region->engine, class, &region->address, packet);
        return;
    }
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].peer != NULL && !region->members[i].dead)
            qsm_peer_post(region->engine, class, region->members[i].peer, packet);
}

void qsm_region_multicast_control(qsm_region *region, uint8_t kind, qsm_control *control) {
    if (!region->unicast) {
        qsm_post_control(region->engine, kind, control, &region->address);
        return;
    }
    for (uint32_t i = 0; i < region->member_count; i++)
        if (region->members[i].peer != NULL && !region->members[i].dead)
            qsm_post_control(region->engine, kind, control, &region->members[i].peer->address);
}
