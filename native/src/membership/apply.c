#include "membership/apply.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/order.h"
#include "receiving/stream.h"

static int by_rank(const void *a, const void *b) {
    const qsm_region_member *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool add_member(qsm_engine *engine, qsm_region_member *member, uint64_t id, uint64_t rank,
                       const qsm_address *address) {
    *member = (qsm_region_member){.id = id, .rank = rank};
    if (id == engine->id) return true;
    member->peer = qsm_peer_use(engine, id, address);
    if (member->peer == NULL) return false;
    member->peer->rank = rank;
    qsm_dead_remove(&engine->dead, id); /* whom the host lists is alive */
    member->peer->dead = false;
    return true;
}

static void drop_members(qsm_engine *engine, qsm_region_member *members, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (members[i].peer != NULL) qsm_peer_unuse(engine, members[i].peer);
    free(members);
}

static bool listed(const uint8_t *ids, uint32_t count, uint64_t id) {
    qsm_reader in = {.at = ids, .end = ids + count * 8};
    for (uint32_t i = 0; i < count; i++)
        if (qsm_read64(&in) == id) return true;
    return false;
}

static bool apply_region(qsm_engine *engine, qsm_directory *directory, uint64_t batch,
                         qsm_reader *in) {
    uint64_t uid = qsm_read64(in);
    uint64_t base_uid = qsm_read64(in);
    qsm_address address;
    qsm_read_address(in, &address);
    bool unicast = qsm_read8(in) != 0;
    uint32_t removed = qsm_read32(in);
    if (in->failed || removed > QSM_REGION_MEMBERS_MAX) return false;
    const uint8_t *removed_ids = qsm_read_bytes(in, removed * 8);
    uint32_t added = qsm_read32(in);
    qsm_region *base = base_uid != 0 ? qsm_region_find(engine, base_uid) : NULL;
    if (in->failed || (base_uid != 0 && base == NULL)) return false;
    uint32_t most = added + (base != NULL ? base->member_count : 0);
    if (added > QSM_REGION_MEMBERS_MAX || most == 0 || most > QSM_REGION_MEMBERS_MAX ||
        qsm_reader_left(in) / 36 < added)
        return false;
    qsm_region_member *members = calloc(most, sizeof *members);
    if (members == NULL) return false;
    uint32_t count = 0;
    bool good = true;
    for (uint32_t i = 0; base != NULL && i < base->member_count && good; i++) {
        const qsm_region_member *member = &base->members[i];
        if (listed(removed_ids, removed, member->id)) continue;
        const qsm_address *where = member->peer ? &member->peer->address : &engine->config.self;
        good = add_member(engine, &members[count++], member->id, member->rank, where);
    }
    for (uint32_t i = 0; i < added && good; i++) {
        qsm_address where;
        uint64_t id = qsm_read64(in);
        uint64_t rank = qsm_read64(in);
        qsm_read_address(in, &where);
        good = !in->failed && id != 0 && add_member(engine, &members[count++], id, rank, &where);
    }
    if (!good || count == 0 || qsm_region_find(engine, uid) != NULL) {
        drop_members(engine, members, count);
        return good && count > 0; /* known already: fine */
    }
    qsort(members, count, sizeof *members, by_rank);
    qsm_region *region =
        qsm_region_install(engine, uid, directory, &address, unicast, members, count);
    if (region == NULL) {
        drop_members(engine, members, count);
        return false;
    }
    region->created = batch;
    return true;
}

/* Members of a view that holds just those of its regions. */
static uint64_t *collect_members(qsm_region **regions, uint32_t region_count, uint32_t *count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < region_count; i++)
        most += regions[i]->member_count;
    qsm_region_member *all = malloc((most ? most : 1) * sizeof *all);
    uint64_t *ids = malloc((most ? most : 1) * sizeof *ids);
    *count = 0;
    for (uint32_t i = 0; all && ids && i < region_count; i++)
        for (uint32_t m = 0; m < regions[i]->member_count; m++)
            all[(*count)++] = regions[i]->members[m];
    if (all != NULL && ids != NULL) {
        qsort(all, *count, sizeof *all, by_rank);
        for (uint32_t i = 0; i < *count; i++)
            ids[i] = all[i].id;
    } else {
        free(ids);
        ids = NULL;
    }
    free(all);
    return ids;
}

static bool apply_group(qsm_engine *engine, qsm_directory *directory, uint32_t requests_seen,
                        qsm_reader *in) {
    uint32_t handle = qsm_read32(in);
    const uint8_t *id = qsm_read_bytes(in, QSM_GROUP_ID_BYTES);
    uint64_t view = qsm_read64(in);
    uint8_t flags = qsm_read8(in);
    qsm_address hybrid = {0};
    if (flags & 2) qsm_read_address(in, &hybrid);
    uint16_t region_count = qsm_read16(in);
    if (in->failed || handle == 0 || qsm_reader_left(in) / 8 < region_count) return false;
    qsm_region **regions = calloc(region_count ? region_count : 1, sizeof *regions);
    bool good = regions != NULL;
    for (uint32_t i = 0; i < region_count; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        if (good && region != NULL) regions[i] = region;
        good = good && region != NULL;
    }
    uint64_t *members = NULL;
    uint32_t member_count = 0;
    if (flags & 1) {
        member_count = qsm_read32(in);
        if (in->failed || qsm_reader_left(in) / 8 < member_count) {
            free(regions);
            return false;
        }
        members = malloc((member_count ? member_count : 1) * sizeof *members);
        for (uint32_t i = 0; i < member_count; i++) {
            uint64_t member = qsm_read64(in);
            if (members != NULL) members[i] = member;
        }
    } else if (good) {
        members = collect_members(regions, region_count, &member_count);
    }
    qsm_group *group = qsm_group_find(engine, id);
    bool wanted = group != NULL && group->join_request <= requests_seen;
    if (!good || members == NULL || !wanted || view <= group->view ||
        !qsm_extra_set_hybrid(group, &hybrid) || !qsm_directory_name(directory, handle, group)) {
        free(members);
        free(regions);
        return good;
    }
    group->handle = handle;
    for (uint32_t i = 0; i < region_count; i++)
        regions[i]->uses++;
    qsm_group_install_view(group, view, members, member_count, regions, region_count);
    return true;
}

/* A node that sends into a region without being in it. */
static bool apply_outsider(qsm_engine *engine, qsm_reader *in) {
    qsm_region *region = qsm_region_find(engine, qsm_read64(in));
    uint64_t id = qsm_read64(in);
    qsm_address address;
    qsm_read_address(in, &address);
    if (in->failed || id == 0) return false;
    if (region == NULL || id == engine->id) return true;
    if (!qsm_region_add_outsider(region, id, &address)) return false;
    qsm_dead_remove(&engine->dead, id);
    qsm_peer_find(engine, id)->dead = false;
    return true;
}

/* A region may only go when no group maps to it. Normally its groups have new views by now. */
static void unmap_region(qsm_engine *engine, qsm_region *region) {
    for (qsm_group *group = NULL;
         region->uses > 0 && (group = qsm_group_next(engine, group)) != NULL;)
        qsm_group_lose_region(group, region);
}

/* The node died in all regions, or in those of one earlier host (`directory` not NULL). */
static void node_died(qsm_engine *engine, const qsm_directory *directory, uint64_t batch,
                      uint64_t id) {
    uint32_t count = 0, cursor = 0;
    /* What follows from a death may dissolve nothing, but streams come and go: collect first. */
    qsm_region *region;
    qsm_region **regions =
        calloc(engine->regions.count ? engine->regions.count : 1, sizeof *regions);
    if (regions == NULL) return;
    while ((region = qsm_table_next(&engine->regions, &cursor)) != NULL)
        if (directory == NULL || region->directory == directory) regions[count++] = region;
    for (uint32_t i = 0; i < count; i++)
        if (!QSM_BUG(7)) qsm_region_node_died(regions[i], id, batch);
    free(regions);
}

static void apply_death(qsm_engine *engine, uint64_t batch, uint64_t id) {
    if (id == engine->id) return; /* that comes by another way */
    qsm_dead_add(&engine->dead, id, batch, true);
    qsm_peer *peer = qsm_peer_find(engine, id);
    if (peer != NULL) peer->dead = true;
    if (peer != NULL && peer->link != NULL) qsm_link_free(peer->link);
    node_died(engine, NULL, batch, id);
}

/* Adds that the node has not come over with us, and the youngest region that knows it. */
static void note_lost(qsm_table *lost, uint64_t id, qsm_region *region) {
    const qsm_region *known = qsm_table_get(lost, id);
    if (qsm_region_knows_alive(region, id)) return;
    if (known == NULL || known->created < region->created) qsm_table_put(lost, id, region);
}

/* Adds those who know the regions of the directory and have not come over with us. */
static void collect_lost(qsm_engine *engine, const qsm_directory *directory, qsm_table *lost) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (region->directory != directory) continue;
        for (uint32_t i = 0; i < region->member_count; i++)
            note_lost(lost, region->members[i].id, region);
        uint32_t inner = 0;
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &inner)) != NULL;)
            note_lost(lost, stream->sender, region);
    }
}

/* Who is left of those who followed an earlier host. All others count as dead in its regions; where
 * else they are is another matter. */
static bool apply_judgement(qsm_engine *engine, uint64_t batch, qsm_reader *in) {
    qsm_directory *directory = qsm_directory_find(&engine->client, qsm_read32(in));
    uint64_t followed = qsm_read64(in);
    uint32_t count = qsm_read32(in);
    if (in->failed || qsm_reader_left(in) / 8 < count) return false;
    qsm_table alive = {0};
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        good = qsm_table_put(&alive, qsm_read64(in), engine) && good;
    if (!good || directory == NULL || directory == engine->client.directory) {
        qsm_table_free(&alive);
        return good;
    }
    if (!directory->judged) directory->judged_in = batch;
    if (followed > directory->followed) directory->followed = followed;
    qsm_table before = directory->alive;
    uint64_t before_upto = directory->judged_upto;
    directory->judged = true;
    directory->judged_upto = directory->applied;
    directory->alive = alive;
    qsm_table lost = {0};
    collect_lost(engine, directory, &lost);
    for (uint32_t i = 0; i < lost.capacity; i++) {
        uint64_t id = lost.slots[i].key;
        if (lost.slots[i].value == NULL || id == engine->id) continue;
        /* Told once more for the sake of others: who was lost before may be in views since. But
         * when its host was back in the meantime, it may have been with us again. */
        const qsm_region *region = lost.slots[i].value;
        bool was_here = qsm_table_get(&before, id) != NULL || region->created > before_upto;
        uint64_t died = was_here ? batch : directory->judged_in;
        if (qsm_dead_since(&engine->dead, id) < died) qsm_dead_add(&engine->dead, id, died, false);
        node_died(engine, directory, died, id);
    }
    qsm_table_free(&before);
    qsm_table_free(&lost);
    return true;
}

static void check_drained(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        qsm_region_check_drained(region);
}

static void close_older_regions(qsm_engine *engine, qsm_directory *directory) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->directory != directory) qsm_region_close(region);
}

static void retry_waiting(qsm_engine *engine, qsm_directory *directory) {
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (region->directory != directory) continue;
        uint32_t inner = 0;
        for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &inner)) != NULL;)
            if (stream->waiting > 0) qsm_stream_retry_waiting(stream);
    }
}

static bool apply_sections(qsm_engine *engine, qsm_directory *directory, uint64_t batch,
                           uint32_t requests_seen, qsm_reader *in) {
    bool dissolved = false;
    uint32_t count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!apply_region(engine, directory, batch, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!apply_group(engine, directory, requests_seen, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!apply_outsider(engine, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        uint64_t sibling = qsm_read64(in);
        if (in->failed || region == NULL || region->my_index < 0) continue;
        if (!qsm_table_put(&region->siblings, sibling, region)) return false;
    }
    directory->applied = batch;
    if (batch > engine->client.view_floor) engine->client.view_floor = batch;
    /* Deaths before closings: what the dead have left open keeps a region from being drained. */
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++)
        apply_death(engine, batch, qsm_read64(in));
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count; i++)
        if (!apply_judgement(engine, batch, in)) return false;
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        if (region != NULL) qsm_region_close(region);
    }
    count = qsm_read32(in);
    for (uint32_t i = 0; i < count && !in->failed; i++) {
        qsm_region *region = qsm_region_find(engine, qsm_read64(in));
        if (region == NULL) continue;
        if (region->uses > 0) unmap_region(engine, region);
        qsm_region_dissolve(region);
        dissolved = true;
    }
    if (dissolved) qsm_orders_forget_all_gone(engine);
    return !in->failed;
}

/* As if this node had been put out: the past that it shares with others is not what they think. */
static void begin_anew(qsm_engine *engine) {
    engine->client.torn = false;
    if (engine->host != NULL)
        qsm_host_step_down(engine->host);
    else
        qsm_client_reset(engine, QSM_REASON_HOST_MERGED);
}

static void apply_batch(qsm_engine *engine, qsm_reader *in) {
    qsm_client *client = &engine->client;
    uint32_t tag = qsm_read32(in);
    uint64_t batch = qsm_read64(in);
    uint32_t join = qsm_read32(in);
    uint32_t requests_seen = qsm_read32(in);
    if (in->failed || join != client->joins) return;
    qsm_directory *directory = qsm_directory_enter(engine, tag);
    client->applying = true; /* one death may make a region seem drained that the next one opens */
    bool applied = directory != NULL && apply_sections(engine, directory, batch, requests_seen, in);
    client->applying = false;
    if (!applied) {
        /* What the host says cannot be put in force here (no memory, or it contradicts itself):
         * begin anew. */
        qsm_count(engine, QSM_COUNT_dropped_malformed);
        if (engine->host == NULL) qsm_client_reset(engine, QSM_REASON_EVICTED_SLOW);
        return;
    }
    qsm_count(engine, QSM_COUNT_batches_applied);
    qsm_note(engine, QSM_TRACE_batch_applied, batch, tag);
    if (client->torn) {
        begin_anew(engine);
        return;
    }
    if (client->health == QSM_HEALTH_JOINING) qsm_client_admitted(engine);
    close_older_regions(engine, directory);
    check_drained(engine);
    retry_waiting(engine, directory);
    qsm_scheduler_unblock(engine);
}

void qsm_apply_message(qsm_engine *engine, uint64_t from, const uint8_t *message, uint32_t bytes) {
    qsm_client *client = &engine->client;
    /* One that fell silent may only have been hard to hear: what it says must not be lost, for if
     * it answers again we go on with it as if nothing had been. */
    const qsm_peer *host = client->host != NULL ? client->host : client->last_host;
    bool ours = engine->host != NULL ? from == engine->id : host != NULL && host->id == from;
    if (!ours || bytes == 0) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    qsm_reader in = {.at = message + 1, .end = message + bytes};
    switch (message[0]) {
    case QSM_TO_CLIENT_BATCH: apply_batch(engine, &in); break;
    case QSM_TO_CLIENT_MERGE: {
        qsm_epoch epoch;
        epoch.term = qsm_read64(&in);
        epoch.host = qsm_read64(&in);
        qsm_address address;
        qsm_read_address(&in, &address);
        if (in.failed) break;
        if (epoch.host == engine->id)
            qsm_client_become_successor(engine, epoch.term);
        else
            qsm_client_follow(engine, &epoch, &address, QSM_REASON_HOST_MERGED);
        break;
    }
    case QSM_TO_CLIENT_BYE:
        if (client->closing) qsm_client_closed(engine);
        break;
    default: qsm_count(engine, QSM_COUNT_dropped_malformed);
    }
}
