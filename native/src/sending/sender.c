#include "sending/sender.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "sending/outgoing.h"
#include "sending/watch.h"

enum {
    PACKETS_START = 64,
    STATUS_PAUSE_MIN_NS = 20000000,
    STATUS_PAUSE_MAX_NS = 320000000,
    UNHEARD_PAUSE_NS = 160000000,
    STABLE_TELL_NS = 5000000 /* waits so long for a data packet to carry the news */
};

static void on_alarm(void *context, uint64_t now_ns);

qsm_sender *qsm_sender_of(qsm_region *region) {
    if (region->sender != NULL) return region->sender;
    qsm_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) return NULL;
    sender->packets = calloc(PACKETS_START, sizeof *sender->packets);
    if (sender->packets == NULL) {
        free(sender);
        return NULL;
    }
    sender->capacity = PACKETS_START;
    sender->region = region;
    sender->status_pause_ns = STATUS_PAUSE_MIN_NS;
    qsm_engine *engine = region->engine;
    qsm_rate_init(&sender->rate, engine->config.rate_bytes_per_s_max, engine->line_bytes_per_s,
                  engine->now_ns);
    qsm_alarm_init(&sender->alarm, on_alarm, sender);
    region->sender = sender;
    if (region->my_index >= 0 && qsm_stream_of(region, region->engine->id) == NULL) {
        qsm_sender_free(sender);
        return NULL;
    }
    return sender;
}

static qsm_out_packet *packet_at(qsm_sender *sender, uint64_t sequence) {
    return &sender->packets[sequence & (sender->capacity - 1)];
}

qsm_out_packet *qsm_sender_packet(qsm_sender *sender, uint64_t sequence) {
    if (sequence <= sender->stable || sequence > sender->high) return NULL;
    return packet_at(sender, sequence);
}

/* The packet's messages have been received by everybody. */
static void count_acknowledged(qsm_sender *sender, const qsm_out_packet *packet) {
    const qsm_engine *engine = sender->region->engine;
    const qsm_directory *directory = sender->region->directory;
    if (packet->messages > 0) {
        qsm_group *group = qsm_group_called(engine, directory, packet->group);
        if (group != NULL && group->serial == packet->serial)
            qsm_outgoing_acknowledged(group, packet->messages);
        return;
    }
    qsm_data data;
    if (!qsm_data_reread(&packet->packet, &data)) return;
    for (uint32_t i = 0; i < data.message_count; i++) {
        qsm_group *group = qsm_group_called(engine, directory, data.messages[i].group);
        if (group != NULL && data.messages[i].number >> 40 == group->serial)
            qsm_outgoing_acknowledged(group, data.messages[i].count);
    }
}

void qsm_sender_free(qsm_sender *sender) {
    qsm_alarm_clear(&sender->region->engine->alarms, &sender->alarm);
    for (uint64_t s = sender->stable + 1; s <= sender->high; s++) {
        count_acknowledged(sender, packet_at(sender, s)); /* nobody is left to wait for */
        qsm_buffer_release(packet_at(sender, s)->packet.buffer);
    }
    qsm_engine *engine = sender->region->engine;
    qsm_scheduler_unblock(engine);
    sender->region->sender = NULL;
    free(sender->packets);
    free(sender);
    if (engine->scheduler.watched != NULL) qsm_watches_look(engine);
}

bool qsm_sender_has_room(qsm_sender *sender) {
    const qsm_config *config = &sender->region->engine->config;
    return sender->unacked_bytes < config->window_bytes_max &&
           sender->high - sender->stable < QSM_STREAM_SLOTS_MAX / 2 &&
           qsm_rate_has_room(&sender->rate, sender->unacked_bytes);
}

static bool grow(qsm_sender *sender) {
    if (sender->high - sender->stable + 1 < sender->capacity) return true;
    uint32_t capacity = sender->capacity * 2;
    qsm_out_packet *packets = calloc(capacity, sizeof *packets);
    if (packets == NULL) return false;
    for (uint64_t s = sender->stable + 1; s <= sender->high; s++)
        packets[s & (capacity - 1)] = *packet_at(sender, s);
    free(sender->packets);
    sender->packets = packets;
    sender->capacity = capacity;
    return true;
}

bool qsm_sender_keep(qsm_sender *sender, const qsm_slice *packet, bool wide, uint64_t first_stamp,
                     uint64_t last_stamp) {
    qsm_engine *engine = sender->region->engine;
    assert(!sender->fin);
    if (!grow(sender)) return false;
    bool was_quiet = sender->high == sender->stable;
    sender->high++;
    qsm_buffer_retain(packet->buffer);
    *packet_at(sender, sender->high) = (qsm_out_packet){.packet = *packet,
                                                        .wide = wide,
                                                        .first_stamp = first_stamp,
                                                        .last_stamp = last_stamp,
                                                        .sent_ns = engine->now_ns};
    sender->unacked_bytes += packet->bytes;
    sender->told = sender->stable;
    sender->idle_since_ns = engine->now_ns;
    sender->status_pause_ns = STATUS_PAUSE_MIN_NS;
    qsm_rate_spend(&sender->rate, packet->bytes);
    if (was_quiet && sender->region->my_index >= 0) qsm_rings_wake(sender->region, engine->now_ns);
    if (sender->region->my_index >= 0)
        qsm_rings_traffic(sender->region, packet->bytes, engine->now_ns);
    /* Alone in the region: there is nobody to wait for. */
    if (sender->region->alive_count == 0 ||
        (sender->region->alive_count == 1 && sender->region->my_index >= 0 &&
         !sender->region->members[sender->region->my_index].dead))
        qsm_sender_acknowledged(sender, sender->high, 0);
    else
        qsm_alarm_set_earlier(&engine->alarms, &sender->alarm,
                              engine->now_ns + sender->status_pause_ns);
    return true;
}

void qsm_sender_keep_note(qsm_sender *sender, uint32_t group, uint32_t serial, uint32_t messages) {
    qsm_out_packet *packet = qsm_sender_packet(sender, sender->high);
    if (packet == NULL) return; /* acknowledged already */
    packet->messages = (uint16_t)messages;
    packet->group = group;
    packet->serial = serial;
}

/* The oldest packet for several regions that some region has not acknowledged: nothing of that age
 * or younger is stable. */
static uint64_t oldest_wide_stamp(qsm_engine *engine) {
    uint64_t oldest = UINT64_MAX;
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        qsm_sender *sender = region->sender;
        if (sender == NULL) continue;
        for (uint64_t s = sender->acked + 1; s <= sender->high; s++)
            if (packet_at(sender, s)->wide) {
                if (packet_at(sender, s)->first_stamp < oldest)
                    oldest = packet_at(sender, s)->first_stamp;
                break;
            }
    }
    return oldest;
}

static void update_stable(qsm_sender *sender, uint64_t oldest_wide) {
    qsm_engine *engine = sender->region->engine;
    uint64_t before = sender->stable;
    while (sender->stable < sender->acked) {
        qsm_out_packet *packet = packet_at(sender, sender->stable + 1);
        if (packet->wide && packet->last_stamp >= oldest_wide) break;
        sender->stable++;
        count_acknowledged(sender, packet);
        qsm_buffer_release(packet->packet.buffer);
        *packet = (qsm_out_packet){0};
    }
    if (sender->stable == before) return;
    if (engine->scheduler.watched != NULL) qsm_watches_look(engine);
    qsm_alarm_set_earlier(&engine->alarms, &sender->alarm, engine->now_ns + STABLE_TELL_NS);
    qsm_scheduler_unblock(engine);
    if (sender->fin && qsm_sender_is_finished(sender)) {
        qsm_note(engine, QSM_TRACE_stream_finished, sender->region->uid, sender->high);
        qsm_region_check_drained(sender->region);
    }
}

void qsm_senders_update_stable(qsm_engine *engine) {
    uint64_t oldest = oldest_wide_stamp(engine);
    uint32_t cursor = 0;
    for (qsm_region *region; (region = qsm_table_next(&engine->regions, &cursor)) != NULL;)
        if (region->sender != NULL) update_stable(region->sender, oldest);
}

void qsm_sender_acknowledged(qsm_sender *sender, uint64_t low, uint32_t lost) {
    qsm_engine *engine = sender->region->engine;
    if (low > sender->high) return; /* claims what was never sent */
    if (QSM_BUG(20) && low > 0) low = sender->high;
    bool wide = false;
    qsm_rate_news news = {.lost = lost};
    while (sender->acked < low) {
        qsm_out_packet *packet = packet_at(sender, ++sender->acked);
        if (news.packets++ == 0) news.sent_ns = packet->sent_ns;
        news.last_sent_ns = packet->sent_ns;
        uint64_t took = engine->now_ns - packet->sent_ns;
        sender->ack_ns = sender->ack_ns ? (sender->ack_ns * 7 + took) / 8 : took;
        sender->unacked_bytes -= packet->packet.bytes;
        news.bytes += packet->packet.bytes;
        wide = wide || packet->wide;
    }
    if (sender->acked < sender->high)
        news.awaited_ns = packet_at(sender, sender->acked + 1)->sent_ns;
    if (news.packets > 0 && qsm_rate_feedback(&sender->rate, engine->now_ns, &news))
        qsm_count(engine, QSM_COUNT_rate_decreases);
    if (!sender->rate.climbing) engine->line_bytes_per_s = sender->rate.bytes_per_s;
    if (news.packets == 0) {
        /* An acknowledgement of what is known: somebody has not heard what is stable. */
        if (sender->told > 0 && sender->stable == sender->high)
            qsm_alarm_set_earlier(&engine->alarms, &sender->alarm, engine->now_ns + STABLE_TELL_NS);
        sender->told =
            sender->told < sender->stable ? sender->told : sender->stable - (sender->stable > 0);
        return;
    }
    if (wide)
        qsm_senders_update_stable(engine);
    else
        update_stable(sender, oldest_wide_stamp(engine));
    qsm_scheduler_unblock(engine);
}

static qsm_status status_of(const qsm_sender *sender) {
    return (qsm_status){.region = sender->region->uid,
                        .high = sender->high,
                        .stable = sender->stable,
                        .batch = qsm_batch(sender->region->engine),
                        .fin = sender->fin};
}

void qsm_sender_tell_status(qsm_sender *sender) {
    qsm_control control = {.status = status_of(sender)};
    sender->told = sender->stable;
    qsm_count(sender->region->engine, QSM_COUNT_statuses_sent);
    qsm_region_multicast_control(sender->region, QSM_KIND_STATUS, &control);
}

/* Nobody has answered for a while: perhaps our multicast does not reach the region. */
static void tell_status_singly(qsm_sender *sender) {
    qsm_region *region = sender->region;
    qsm_control control = {.status = status_of(sender)};
    for (uint32_t i = 0; i < region->member_count && !region->unicast; i++)
        if (region->members[i].peer != NULL && !region->members[i].dead)
            qsm_post_control(region->engine, QSM_KIND_STATUS, &control,
                             &region->members[i].peer->address);
}

static void on_alarm(void *context, uint64_t now_ns) {
    qsm_sender *sender = context;
    qsm_engine *engine = sender->region->engine;
    bool waits = sender->acked < sender->high;
    if (waits && now_ns - sender->idle_since_ns >= sender->status_pause_ns) {
        qsm_sender_tell_status(sender);
        if (sender->status_pause_ns >= UNHEARD_PAUSE_NS) tell_status_singly(sender);
        sender->idle_since_ns = now_ns;
        if (sender->status_pause_ns < STATUS_PAUSE_MAX_NS) sender->status_pause_ns *= 2;
    } else if (!waits && sender->told < sender->stable) {
        qsm_sender_tell_status(sender);
    }
    if (waits)
        qsm_alarm_set(&engine->alarms, &sender->alarm,
                      sender->idle_since_ns + sender->status_pause_ns);
}

void qsm_sender_finish(qsm_sender *sender) {
    qsm_engine *engine = sender->region->engine;
    if (sender->fin) return;
    if (sender->high == 0) { /* nothing was sent, nobody waits for an end */
        sender->fin = true;
        return;
    }
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, QSM_SMALL_BUFFER_BYTES);
    if (buffer == NULL) return; /* tried again when the region is looked at the next time */
    qsm_data data = {.sender = engine->id,
                     .side = qsm_side(engine),
                     .batch = qsm_batch(engine),
                     .flags = QSM_DATA_FIN,
                     .region_count = 1};
    data.regions[0] = (qsm_region_header){
        .region = sender->region->uid, .sequence = sender->high + 1, .stable = sender->stable};
    uint32_t bytes = qsm_data_write(&engine->keys, buffer->data, buffer->capacity, &data, NULL);
    assert(bytes > 0);
    qsm_slice packet = {.buffer = buffer, .bytes = bytes};
    if (qsm_sender_keep(sender, &packet, false, 0, 0)) {
        sender->fin = true;
        qsm_region_multicast(sender->region, QSM_CLASS_DATA, &packet);
    }
    qsm_buffer_release(buffer);
    if (qsm_sender_is_finished(sender)) qsm_region_check_drained(sender->region);
}

bool qsm_sender_is_finished(const qsm_sender *sender) {
    return sender->fin && sender->stable == sender->high;
}
