/*
 * apply_views.c - the regions and views of a batch: who is in them, and who sends into regions from
 * outside.
 */
#include <stdlib.h>

#include "core/engine.h"
#include "membership/apply.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/peer.h"
#include "membership/region.h"

static int by_rank(const void *a, const void *b) {
    const qsm_region_member *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* ---- regions --------------------------------------------------------------------------------- */

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

bool qsm_apply_region(qsm_engine *engine, qsm_directory *directory, uint64_t batch,
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

bool qsm_apply_outsider(qsm_engine *engine, qsm_reader *in) {
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

/* ---- groups ---------------------------------------------------------------------------------- */

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

bool qsm_apply_group(qsm_engine *engine, qsm_directory *directory, uint32_t requests_seen,
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
