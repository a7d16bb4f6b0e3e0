#include "membership/peer.h"

#include <assert.h>
#include <stdlib.h>

#include "core/engine.h"
#include "membership/link.h"

qsm_peer *qsm_peer_find(qsm_engine *engine, uint64_t id) {
    return qsm_table_get(&engine->peers, id);
}

qsm_peer *qsm_peer_use(qsm_engine *engine, uint64_t id, const qsm_address *address) {
    qsm_peer *peer = qsm_peer_find(engine, id);
    if (peer == NULL) {
        peer = calloc(1, sizeof *peer);
        if (peer == NULL) return NULL;
        peer->id = id;
        peer->rank = UINT64_MAX;
        peer->address = *address;
        if (!qsm_table_put(&engine->peers, id, peer)) {
            free(peer);
            return NULL;
        }
        engine->counters[QSM_COUNT_peers_now]++;
    }
    peer->uses++;
    return peer;
}

void qsm_peer_unuse(qsm_engine *engine, qsm_peer *peer) {
    assert(peer->uses > 0);
    if (--peer->uses > 0) return;
    if (peer->link != NULL) qsm_link_free(peer->link);
    qsm_path_forget(engine, peer);
    qsm_table_remove(&engine->peers, peer->id);
    engine->counters[QSM_COUNT_peers_now]--;
    free(peer);
}

bool qsm_peer_is_fresh(qsm_peer *peer, uint32_t counter) {
    if (counter == 0) return false;
    if (counter > peer->newest) {
        uint32_t ahead = counter - peer->newest;
        peer->seen = ahead < 64 ? peer->seen << ahead | 1 : 1;
        peer->newest = counter;
        return true;
    }
    uint32_t behind = peer->newest - counter;
    if (behind >= 64 || (peer->seen >> behind & 1)) return false;
    peer->seen |= 1ull << behind;
    return true;
}

void qsm_peer_post(qsm_engine *engine, uint32_t class, const qsm_peer *peer,
                   const qsm_slice *packet) {
    if (qsm_path_cuts(peer, packet))
        qsm_parts_post(engine, class, &peer->address, packet);
    else
        qsm_post_packet(engine, class, &peer->address, packet);
}
