#include "membership/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/peer.h"

enum {
    LINK_HEADER_BYTES = QSM_HEADER_BYTES + 33,
    ACK_DELAY_NS = 5000000, /* waits for company before a bare acknowledgement is sent */
    PAUSE_MIN_NS = 60000000,
    PAUSE_MAX_NS = 500000000
};

static void on_alarm(void *context, uint64_t now_ns);

qsm_link *qsm_link_to(qsm_engine *engine, qsm_peer *peer) {
    if (peer->link != NULL) return peer->link;
    qsm_link *link = calloc(1, sizeof *link);
    if (link == NULL) return NULL;
    link->engine = engine;
    link->peer = peer;
    link->stream = (uint32_t)qsm_prng_next(&engine->prng) | 1;
    link->next_sequence = 1;
    link->pause_ns = PAUSE_MIN_NS;
    qsm_alarm_init(&link->alarm, on_alarm, link);
    peer->link = link;
    return link;
}

void qsm_link_free(qsm_link *link) {
    qsm_alarm_clear(&link->engine->alarms, &link->alarm);
    while (link->first != NULL) {
        qsm_link_segment *next = link->first->next;
        free(link->first);
        link->first = next;
    }
    for (uint32_t i = 0; i < QSM_LINK_WINDOW; i++)
        free(link->early[i].payload);
    free(link->message);
    link->peer->link = NULL;
    free(link);
}

static void transmit(qsm_link *link, const qsm_link_segment *segment) {
    uint64_t selective = 0;
    for (uint32_t i = 1; i < QSM_LINK_WINDOW; i++)
        if (link->early[i].filled) selective |= 1ull << (i - 1);
    qsm_control control = {.link = {.receiver = link->peer->id,
                                    .stream = link->stream,
                                    .acknowledged_stream = link->peer_stream,
                                    .acknowledged = link->received,
                                    .selective = selective}};
    if (segment != NULL) {
        control.link.sequence = segment->sequence;
        control.link.last = segment->last;
        control.link.payload = segment->payload;
        control.link.payload_bytes = segment->bytes;
    }
    qsm_post_control(link->engine, QSM_KIND_LINK, &control, &link->peer->address);
    link->acknowledge = false;
}

static void arm(qsm_link *link, uint64_t now_ns) {
    if (link->acknowledge)
        qsm_alarm_set_earlier(&link->engine->alarms, &link->alarm, now_ns + ACK_DELAY_NS);
    if (link->first != NULL)
        qsm_alarm_set_earlier(&link->engine->alarms, &link->alarm,
                              (link->first->sent_ns ? link->first->sent_ns : now_ns) +
                                  link->pause_ns);
}

/* Sends what the window allows and has not been sent. */
static void send_new(qsm_link *link, uint64_t now_ns) {
    uint32_t window = 0;
    for (qsm_link_segment *segment = link->first; segment != NULL && window < QSM_LINK_WINDOW;
         segment = segment->next, window++)
        if (segment->sent_ns == 0) {
            segment->sent_ns = now_ns;
            transmit(link, segment);
        }
    arm(link, now_ns);
}

/* Forgets what is queued and begins anew: the other end will not, or cannot, take it any more. */
static void reset_sending(qsm_link *link) {
    while (link->first != NULL) {
        qsm_link_segment *next = link->first->next;
        free(link->first);
        link->first = next;
    }
    link->begun = false;
    link->queued_bytes = 0;
    link->next_sequence = 1;
    link->pause_ns = PAUSE_MIN_NS;
    link->stream = (uint32_t)qsm_prng_next(&link->engine->prng) | 1;
}

void qsm_links_slept(qsm_engine *engine) {
    uint32_t cursor = 0;
    for (qsm_peer *peer; (peer = qsm_table_next(&engine->peers, &cursor)) != NULL;)
        if (peer->link != NULL) peer->link->progress_ns = engine->now_ns;
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_link *link = context;
    uint64_t patience_ns = 2 * link->engine->config.failure_ns;
    if (link->first != NULL && now_ns - link->progress_ns > patience_ns) {
        qsm_count(link->engine, QSM_COUNT_links_broken);
        qsm_note(link->engine, QSM_TRACE_link_broken, link->peer->id, link->queued_bytes);
        reset_sending(link);
        qsm_link_broken(link->engine, link->peer); /* may free the link */
        return;
    }
    uint32_t window = 0;
    bool resent = false;
    for (qsm_link_segment *segment = link->first; segment != NULL && window < QSM_LINK_WINDOW;
         segment = segment->next, window++)
        /* The oldest goes again even if it has arrived: the acknowledgement may be what was lost.
         */
        if ((!segment->arrived || segment == link->first) && segment->sent_ns != 0 &&
            now_ns - segment->sent_ns >= link->pause_ns) {
            segment->sent_ns = now_ns;
            transmit(link, segment);
            qsm_count(link->engine, QSM_COUNT_link_packets_resent);
            resent = true;
        }
    if (resent && link->pause_ns < PAUSE_MAX_NS) link->pause_ns += link->pause_ns / 2;
    if (link->acknowledge) transmit(link, NULL);
    send_new(link, now_ns);
}

bool qsm_link_send(qsm_link *link, const uint8_t *message, uint32_t bytes) {
    assert(bytes > 0);
    if (bytes > QSM_CONTROL_MESSAGE_BYTES_MAX || link->queued_bytes + bytes > QSM_LINK_BYTES_MAX) {
        qsm_count(link->engine, QSM_COUNT_links_broken);
        qsm_note(link->engine, QSM_TRACE_link_broken, link->peer->id, link->queued_bytes);
        return false;
    }
    uint32_t part_max = qsm_control_bytes_max(link->engine) - LINK_HEADER_BYTES;
    for (uint32_t at = 0; at < bytes;) {
        uint32_t part = bytes - at < part_max ? bytes - at : part_max;
        qsm_link_segment *segment = calloc(1, sizeof *segment + part);
        if (segment == NULL) return false;
        segment->sequence = link->next_sequence++;
        segment->bytes = part;
        memcpy(segment->payload, message + at, part);
        at += part;
        segment->last = at == bytes;
        if (link->first == NULL) {
            link->first = segment;
            link->progress_ns = link->engine->now_ns;
        } else {
            link->tail->next = segment;
        }
        link->tail = segment;
        link->queued_bytes += part;
    }
    send_new(link, link->engine->now_ns);
    return true;
}

static void handle_acknowledgement(qsm_link *link, const qsm_link_packet *packet) {
    bool progress = false;
    if (packet->acknowledged_stream != link->stream) return;
    while (link->first != NULL && link->first->sequence <= packet->acknowledged) {
        if (link->first->sent_ns == 0) return; /* claims what was never sent: ignore */
        qsm_link_segment *segment = link->first;
        link->first = segment->next;
        link->queued_bytes -= segment->bytes;
        free(segment);
        progress = true;
    }
    for (qsm_link_segment *segment = link->first; segment != NULL; segment = segment->next) {
        uint32_t ahead = segment->sequence - packet->acknowledged - 2;
        if (segment->sequence < packet->acknowledged + 2) continue;
        if (ahead >= 64) break;
        if (packet->selective >> ahead & 1) segment->arrived = true;
    }
    if (progress) {
        link->begun = true;
        link->progress_ns = link->engine->now_ns;
        link->pause_ns = PAUSE_MIN_NS;
        qsm_alarm_clear(&link->engine->alarms, &link->alarm);
    }
}

/* Appends the payload of the next packet in order; false when memory is short or the message too
 * long. */
static bool append(qsm_link *link, const uint8_t *payload, uint32_t bytes) {
    if (bytes == 0) return true;
    if (link->message_bytes + bytes > QSM_CONTROL_MESSAGE_BYTES_MAX) return false;
    if (link->message_bytes + bytes > link->message_capacity) {
        uint32_t capacity = (link->message_bytes + bytes) * 2;
        uint8_t *message = realloc(link->message, capacity);
        if (message == NULL) return false;
        link->message = message;
        link->message_capacity = capacity;
    }
    memcpy(link->message + link->message_bytes, payload, bytes);
    link->message_bytes += bytes;
    return true;
}

static void take_next(qsm_link *link, qsm_link_early *out) {
    *out = link->early[0];
    memmove(link->early, link->early + 1, (QSM_LINK_WINDOW - 1) * sizeof link->early[0]);
    link->early[QSM_LINK_WINDOW - 1] = (qsm_link_early){0};
}

static void store_early(qsm_link *link, const qsm_link_packet *packet) {
    uint32_t ahead = packet->sequence - link->received - 1;
    if (ahead >= QSM_LINK_WINDOW || link->early[ahead].filled) return;
    uint8_t *payload = malloc(packet->payload_bytes ? packet->payload_bytes : 1);
    if (payload == NULL) return;
    memcpy(payload, packet->payload, packet->payload_bytes);
    link->early[ahead] = (qsm_link_early){
        .filled = true, .last = packet->last, .bytes = packet->payload_bytes, .payload = payload};
}

/* The other end has begun anew: what it sent before is of no use. If it does not know our stream
 * either, it has forgotten what it got of it; if it had got anything, we begin anew, too. */
static void reset_receiving(qsm_link *link, const qsm_link_packet *packet) {
    if (link->begun && packet->acknowledged_stream != link->stream) {
        reset_sending(link);
        qsm_link_reset(link->engine, link->peer);
    }
    for (uint32_t i = 0; i < QSM_LINK_WINDOW; i++)
        free(link->early[i].payload);
    memset(link->early, 0, sizeof link->early);
    link->message_bytes = 0;
    link->received = 0;
    link->peer_stream = packet->stream;
}

void qsm_link_receive(qsm_link *link, const qsm_link_packet *packet, uint64_t now_ns) {
    qsm_engine *engine = link->engine;
    qsm_peer *peer = link->peer;
    handle_acknowledgement(link, packet);
    if (packet->sequence == 1 && packet->stream != link->peer_stream) reset_receiving(link, packet);
    if (packet->sequence != 0 && packet->stream == link->peer_stream) {
        link->acknowledge = true;
        if (packet->sequence > link->received + (QSM_BUG(13) ? 1 : 0)) store_early(link, packet);
    }
    send_new(link, now_ns);
    peer->uses++; /* a message may make the caller forget the peer while we are still here */
    while (peer->link == link && link->early[0].filled) {
        qsm_link_early next;
        take_next(link, &next);
        link->received++;
        bool kept = append(link, next.payload, next.bytes);
        free(next.payload);
        if (!kept) {
            qsm_count(engine, QSM_COUNT_links_broken);
            qsm_link_free(link);
            break;
        }
        if (!next.last) continue;
        uint8_t *message = link->message;
        uint32_t bytes = link->message_bytes;
        link->message = NULL;
        link->message_bytes = link->message_capacity = 0;
        qsm_link_message_arrived(engine, peer, message, bytes);
        free(message);
    }
    qsm_peer_unuse(engine, peer);
}
