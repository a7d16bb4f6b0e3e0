/*
 * apply_deaths.c - the dead of a batch: nodes that have died everywhere, and those who did not come
 * over from an earlier host and count as dead in its regions.
 */
#include <stdlib.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/apply.h"
#include "membership/client.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"

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

void qsm_apply_death(qsm_engine *engine, uint64_t batch, uint64_t id) {
    if (id == engine->id || id == 0) return; /* that comes by another way, or is nobody */
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

bool qsm_apply_judgement(qsm_engine *engine, uint64_t batch, qsm_reader *in) {
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
