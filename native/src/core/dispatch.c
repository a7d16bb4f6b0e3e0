#include "core/dispatch.h"
#include "core/planted.h"

#include "membership/apply.h"
#include "membership/client.h"
#include "membership/host.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/estate.h"
#include "recovery/orphan.h"
#include "recovery/repair.h"
#include "recovery/ring.h"
#include "sending/sender.h"

/* True when an executor's packet for a dead sender rests on what has been told here, too. */
static bool may_settle_here(qsm_engine *engine, const qsm_data *data) {
    const qsm_directory *directory = qsm_directory_find(&engine->client, data->side);
    if (directory == NULL) { /* others may settle what we do not */
        qsm_count(engine, QSM_COUNT_dropped_other_side);
        return false;
    }
    uint64_t known =
        directory->followed > directory->applied ? directory->followed : directory->applied;
    if (data->batch <= qsm_batch_count(known)) return true;
    qsm_count(engine, QSM_COUNT_dropped_early); /* asked for again when it is told */
    return false;
}

/* The members have agreed, or are about to agree, on what those who live have of the stream. */
static bool is_of_the_dead(const qsm_stream *stream, bool original, const qsm_address *from) {
    if (original) return stream->orphan || stream->sealed_off;
    return stream->orphan && qsm_region_is_dead_address(stream->region, from);
}

static void handle_data(qsm_engine *engine, const qsm_arrival *arrival) {
    qsm_data data;
    if (!qsm_data_read(&arrival->header, qsm_slice_data(&arrival->packet), arrival->packet.bytes,
                       &data)) {
        qsm_count(engine, QSM_COUNT_dropped_malformed);
        return;
    }
    qsm_count(engine, QSM_COUNT_data_received);
    qsm_peer *peer = qsm_peer_find(engine, data.sender);
    if (peer == NULL) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    bool settles = data.flags & QSM_DATA_ESTATE;
    if (settles && !may_settle_here(engine, &data)) return;
    /* What an executor has made is never of the dead sender, also not from its address: whoever was
     * put out comes back there under another id, and may be the executor. */
    bool original = !settles && qsm_address_equal(&peer->address, &arrival->from);
    bool known = false;
    for (uint32_t i = 0; i < data.region_count; i++) {
        qsm_region *region = qsm_region_find(engine, data.regions[i].region);
        if (region == NULL || region->my_index < 0) continue;
        known = true;
        qsm_stream *stream = qsm_stream_of(region, data.sender);
        if (stream == NULL) continue;
        if (!QSM_BUG(15) && is_of_the_dead(stream, original, &arrival->from)) {
            qsm_count(engine, QSM_COUNT_data_from_dead_sender);
            continue;
        }
        bool agrees = data.side == qsm_side(engine) && data.batch <= qsm_batch(engine);
        uint64_t stable = agrees ? data.regions[i].stable : 0;
        qsm_stream_receive(stream, data.regions[i].sequence, stable, &arrival->packet, &data,
                           original ? QSM_ORIGIN_SENDER : QSM_ORIGIN_OTHERS);
        if (settles && data.message_count == 0)
            qsm_stream_hear_verdict(stream, data.regions[i].sequence, &data);
    }
    if (!known) qsm_count(engine, QSM_COUNT_data_unknown_region);
}

/* A link packet of a node that is not known yet: only an admission with a good cookie opens a link.
 */
static void handle_first_link_packet(qsm_engine *engine, const qsm_arrival *arrival,
                                     const qsm_link_packet *link) {
    uint64_t from = arrival->header.sender;
    if (link->sequence != 1 || !qsm_host_admits(engine, from, link->payload, link->payload_bytes)) {
        qsm_count(engine, QSM_COUNT_dropped_stranger);
        return;
    }
    if (qsm_dead_has(&engine->dead, from)) {
        qsm_host_refuse(engine, from, &arrival->from);
        return;
    }
    qsm_peer *peer = qsm_peer_use(engine, from, &arrival->from);
    if (peer == NULL) return;
    qsm_peer_is_fresh(peer, arrival->header.counter);
    qsm_link *opened = qsm_link_to(engine, peer);
    if (opened != NULL) qsm_link_receive(opened, link, engine->now_ns);
    /* The request may be longer than a packet: the applicant is known until 64 others have come. */
    qsm_peer **place = &engine->applicants[engine->applicant_next++ % QSM_APPLICANTS_MAX];
    if (*place != NULL) qsm_peer_unuse(engine, *place);
    *place = peer;
}

void qsm_link_message_arrived(qsm_engine *engine, qsm_peer *peer, const uint8_t *message,
                              uint32_t bytes) {
    if (bytes == 0 || engine->client.health == QSM_HEALTH_CLOSED) return;
    if (message[0] == QSM_TO_EXECUTOR_ESTATE) {
        qsm_reader in = {.at = message + 1, .end = message + bytes};
        qsm_exchange_arrived(engine, peer->id, &in);
    } else if (message[0] >= QSM_TO_CLIENT_BATCH) {
        qsm_apply_message(engine, peer->id, message, bytes);
    } else {
        qsm_host_message(engine, peer->id, message, bytes);
    }
}

void qsm_link_broken(qsm_engine *engine, qsm_peer *peer) {
    /* What was dropped cannot be said again in part: whoever is concerned begins anew. */
    qsm_exchange_link_lost(engine, peer->id);
    if (engine->host != NULL)
        qsm_host_lost(engine, peer->id);
    else if (engine->client.host == peer)
        qsm_client_lost_touch(engine);
}

void qsm_link_reset(qsm_engine *engine, qsm_peer *peer) {
    qsm_exchange_link_lost(engine, peer->id);
}

static void handle_status(qsm_region *region, uint64_t from, const qsm_status *status) {
    qsm_stream *stream = qsm_stream_of(region, from);
    if (stream == NULL || stream->own || stream->orphan || stream->sealed_off) return;
    qsm_stream_learn_high(stream, status->high);
    if (status->batch <= qsm_batch(region->engine)) qsm_stream_learn_stable(stream, status->stable);
}

/* Packets about one region. */
static void handle_region_packet(qsm_engine *engine, const qsm_header *header,
                                 const qsm_control *control, uint64_t uid) {
    qsm_region *region = qsm_region_find(engine, uid);
    if (control->side != qsm_side(engine)) {
        qsm_count(engine, QSM_COUNT_dropped_other_side);
        return;
    }
    if (region == NULL) {
        qsm_count(engine, QSM_COUNT_data_unknown_region);
        if (header->kind == QSM_KIND_ORPHAN_QUERY)
            qsm_orphan_answer_nothing(engine, header->sender, &control->orphan_query);
        return;
    }
    if (engine->client.suspended) {
        qsm_count(engine, QSM_COUNT_dropped_suspended);
        return;
    }
    int32_t index = qsm_region_index(region, header->sender);
    if (index >= 0) {
        region->members[index].silent_until_ns = 0;
        if (region->members[index].dead) return;
    }
    switch (header->kind) {
    case QSM_KIND_STATUS:
        if (region->my_index >= 0) handle_status(region, header->sender, &control->status);
        break;
    case QSM_KIND_TOKEN:
        if (index >= 0)
            qsm_ring_token_arrived(region, header->sender, &control->token, engine->now_ns);
        break;
    case QSM_KIND_TOKEN_ACK:
        if (index >= 0)
            qsm_ring_ack_arrived(region, header->sender, &control->token_ack, engine->now_ns);
        break;
    case QSM_KIND_ACK:
        qsm_count(engine, QSM_COUNT_acks_received);
        if (index < 0) break;
        if (control->ack.stream != engine->id) { /* of an id that we have given up */
            qsm_count(engine, QSM_COUNT_dropped_stranger);
            break;
        }
        if (control->ack.batch > qsm_batch(engine)) { /* it is said again when that has come */
            qsm_count(engine, QSM_COUNT_dropped_early);
            break;
        }
        region->aes = control->ack.aes;
        if (region->sender != NULL)
            qsm_sender_acknowledged(region->sender, control->ack.low, control->ack.lost);
        break;
    case QSM_KIND_NUDGE:
        if (index >= 0 && region->my_index >= 0) qsm_ring_nudge_arrived(region, &control->nudge);
        break;
    case QSM_KIND_ORPHAN_QUERY:
        qsm_orphan_query_arrived(region, header->sender, &control->orphan_query);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        qsm_orphan_report_arrived(region, header->sender, &control->orphan_report);
        break;
    default: break;
    }
}

static void handle_control(qsm_engine *engine, const qsm_arrival *arrival,
                           const qsm_control *control) {
    const qsm_header *header = &arrival->header;
    uint64_t from = header->sender;
    switch (header->kind) {
    case QSM_KIND_SOLICIT:
        qsm_host_solicit_arrived(engine, from, &control->solicit, &arrival->from);
        break;
    case QSM_KIND_OFFER: qsm_client_offer_arrived(engine, &control->offer); break;
    case QSM_KIND_BEACON: qsm_client_beacon_arrived(engine, &control->beacon); break;
    case QSM_KIND_PING: qsm_host_ping_arrived(engine, from, &control->ping, &arrival->from); break;
    case QSM_KIND_PONG: qsm_client_pong_arrived(engine, from, &control->ping); break;
    case QSM_KIND_EVICTED: qsm_client_evicted_arrived(engine, &control->evicted); break;
    case QSM_KIND_CALL: qsm_hearing_call_arrived(engine, from, &control->call); break;
    case QSM_KIND_PROBE: qsm_path_probe_arrived(engine, from, &control->probe); break;
    case QSM_KIND_PROBE_ANSWER: qsm_path_answer_arrived(engine, from, &control->probe); break;
    case QSM_KIND_PULL:
        if (!engine->client.suspended && qsm_peer_find(engine, from) != NULL)
            qsm_repair_pull_arrived(engine, from, &control->pull);
        break;
    case QSM_KIND_STATUS:
        handle_region_packet(engine, header, control, control->status.region);
        break;
    case QSM_KIND_TOKEN:
        handle_region_packet(engine, header, control, control->token.region);
        break;
    case QSM_KIND_TOKEN_ACK:
        handle_region_packet(engine, header, control, control->token_ack.region);
        break;
    case QSM_KIND_ACK: handle_region_packet(engine, header, control, control->ack.region); break;
    case QSM_KIND_NUDGE:
        handle_region_packet(engine, header, control, control->nudge.region);
        break;
    case QSM_KIND_ORPHAN_QUERY:
        handle_region_packet(engine, header, control, control->orphan_query.region);
        break;
    case QSM_KIND_ORPHAN_REPORT:
        handle_region_packet(engine, header, control, control->orphan_report.region);
        break;
    default: qsm_count(engine, QSM_COUNT_dropped_malformed);
    }
}

static void handle_link(qsm_engine *engine, const qsm_arrival *arrival, const qsm_link_packet *link,
                        qsm_peer *peer) {
    if (link->receiver != engine->id) {
        qsm_count(engine, QSM_COUNT_dropped_stranger); /* meant for an id that we have given up */
        return;
    }
    if (peer == NULL) {
        handle_first_link_packet(engine, arrival, link);
        return;
    }
    qsm_link *known = qsm_link_to(engine, peer);
    if (known != NULL) qsm_link_receive(known, link, engine->now_ns);
}

/* To the host: a sign of life of a node that still follows it. One that follows another host may be
 * heard for long, and takes part in nothing here. */
static bool follows_us(const qsm_engine *engine, uint8_t kind, const qsm_control *control) {
    if (kind == QSM_KIND_PING)
        return qsm_epoch_compare(&control->ping.epoch, &engine->client.epoch) == 0;
    return control->side != 0 && control->side == qsm_side(engine);
}

void qsm_dispatch(qsm_engine *engine, const qsm_arrival *arrival) {
    const qsm_header *header = &arrival->header;
    if (header->kind == QSM_KIND_DATA) {
        if (engine->client.suspended)
            qsm_count(engine, QSM_COUNT_dropped_suspended);
        else
            handle_data(engine, arrival);
        return;
    }
    if (header->kind == QSM_KIND_PART) { /* may be overtaken: what it is part of knows repeats */
        if (engine->client.suspended)
            qsm_count(engine, QSM_COUNT_dropped_suspended);
        else
            qsm_parts_arrived(engine, arrival);
        return;
    }
    qsm_peer *peer = qsm_peer_find(engine, header->sender);
    if (peer != NULL && !qsm_peer_is_fresh(peer, header->counter)) {
        qsm_count(engine, QSM_COUNT_dropped_replayed);
        return;
    }
    qsm_control control;
    if (!qsm_control_read(header, qsm_slice_data(&arrival->packet), arrival->packet.bytes,
                          &control)) {
        qsm_count(engine, QSM_COUNT_dropped_malformed);
        return;
    }
    if (engine->host != NULL && follows_us(engine, header->kind, &control))
        qsm_host_heard(engine, header->sender);
    if (header->kind == QSM_KIND_LINK)
        handle_link(engine, arrival, &control.link, peer);
    else
        handle_control(engine, arrival, &control);
}
