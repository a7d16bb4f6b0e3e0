#include "sending/open_packet.h"

#include <assert.h>
#include <string.h>

#include "core/engine.h"
#include "membership/client.h"
#include "membership/group.h"
#include "membership/region.h"
#include "sending/outgoing.h"
#include "sending/sender.h"

void qsm_open_packet_begin(qsm_open_packet *open) {
    /* Not the whole of it: it is large, and made for each packet. */
    open->sealed_bytes = 0;
    open->message_total = 0;
    open->running = false;
    open->wide = false;
    open->data.flags = 0;
    open->data.message_count = 0;
    open->data.hole_count = 0;
    open->data.region_count = (uint8_t)open->region_count;
    open->front_bytes = qsm_data_front_bytes(&open->data);
}

static uint8_t *sealed_at(const qsm_open_packet *open, uint32_t offset) {
    return open->buffer->data + open->sealed_offset + offset;
}

/* ---- room ------------------------------------------------------------------------------------ */

/* What a message adds to the table, unless it joins a run. */
static uint32_t header_bytes(const qsm_departing *message) {
    return QSM_MESSAGE_HEADER_BYTES +
           (message->flags & QSM_MESSAGE_FIRST ? QSM_MESSAGE_FIRST_BYTES : 0) +
           (message->flags & QSM_MESSAGE_RUN ? QSM_MESSAGE_RUN_BYTES : 0);
}

/* And to what is sealed. */
static uint32_t sealed_bytes(const qsm_departing *message) {
    return message->bytes + (message->flags & QSM_MESSAGE_RUN ? QSM_RUN_LENGTH_BYTES : 0);
}

/* True when the message follows those of the run that was filled last. */
static bool joins_run(const qsm_open_packet *open, const qsm_departing *message) {
    if (!open->running || !(message->flags & QSM_MESSAGE_RUN)) return false;
    const qsm_message *run = &open->data.messages[open->data.message_count - 1];
    const qsm_group *group = message->group;
    return run->group == group->handle && run->view == group->view &&
           run->number + run->count == message->own->next_number &&
           run->epoch == (uint8_t)group->key_epoch;
}

bool qsm_open_packet_has_room(const qsm_open_packet *open, const qsm_departing *message) {
    uint32_t header = joins_run(open, message) ? 0 : header_bytes(message);
    uint32_t entries = open->data.message_count + (header > 0);
    return entries <= QSM_PACKET_MESSAGES_MAX && open->message_total < QSM_PACKED_MESSAGES_MAX &&
           open->front_bytes + header + open->sealed_bytes + sealed_bytes(message) <=
               open->bytes_max;
}

/* How much is left free for the table before the first message is put behind it: as much as the
 * last packets had, so that nothing has to be moved in the end. */
static uint32_t table_room(const qsm_open_packet *open, const qsm_departing *message) {
    const uint32_t *last = message->group->engine->scheduler.table_bytes;
    uint32_t likely = last[0] > last[1] ? last[0] : last[1], least = header_bytes(message);
    uint32_t fits = open->buffer->capacity - open->front_bytes - sealed_bytes(message);
    return likely > least && likely <= fits ? likely : least;
}

/* Where the next sealed bytes go. */
static uint8_t *place_in(qsm_open_packet *open, const qsm_departing *message) {
    uint32_t end = open->sealed_offset + open->sealed_bytes + sealed_bytes(message);
    if (open->data.message_count == 0) {
        open->sealed_offset = open->front_bytes + table_room(open, message);
    } else if (end > open->buffer->capacity) {
        memmove(open->buffer->data + open->front_bytes, sealed_at(open, 0),
                open->sealed_bytes); /* a longer one after short ones: as tight as can be */
        open->sealed_offset = open->front_bytes;
    }
    return sealed_at(open, open->sealed_bytes);
}

/* ---- seals ----------------------------------------------------------------------------------- */

static qsm_seal_identity identity_of(const qsm_departing *message) {
    return (qsm_seal_identity){.group_id = message->group->id,
                               .sender = message->group->engine->id,
                               .number = message->own->next_number,
                               .flags = message->flags,
                               .epoch = (uint8_t)message->group->key_epoch};
}

/* The key that this node has in the group. */
static const uint8_t *sender_key(const qsm_departing *message) {
    const qsm_group *group = message->group;
    qsm_outgoing *own = message->own;
    if (!own->key_made)
        qsm_sender_key_derive(own->secret, group->key, group->id, group->engine->id);
    own->key_made = true;
    return own->secret;
}

void qsm_departing_seal(const qsm_departing *message, uint8_t *sealed, uint8_t tag[QSM_TAG_BYTES]) {
    qsm_seal_identity identity = identity_of(message);
    if (message->flags & QSM_MESSAGE_AES)
        qsm_message_seal_aes(message->group->engine->aegis, sender_key(message), &identity,
                             message->plain, message->bytes, sealed, tag);
    else
        qsm_message_seal(message->group->key, &identity, message->plain, message->bytes, sealed,
                         tag);
}

/* No more messages go into the run that was filled last, if there is one. */
static void end_run(qsm_open_packet *open, enum qsm_aegis_kind kind) {
    if (!open->running) return;
    uint32_t index = open->data.message_count - 1u;
    uint32_t begin = open->sealed_bytes - open->data.messages[index].bytes;
    qsm_aegis_run_end(kind, &open->run, sealed_at(open, begin), open->tags[index]);
    open->running = false;
}

/* Seals the message behind the others of its run, or as the first of one. */
static void seal_in_run(qsm_open_packet *open, const qsm_departing *message, uint8_t *place) {
    enum qsm_aegis_kind kind = message->group->engine->aegis;
    if (!open->running) {
        qsm_seal_identity identity = identity_of(message);
        qsm_run_seal_begin(kind, &open->run, sender_key(message), &identity);
        open->running = true;
    }
    uint8_t length[QSM_RUN_LENGTH_BYTES], *begin = place - open->run.bytes;
    qsm_store_le(length, message->bytes, sizeof length);
    qsm_aegis_run_add(kind, &open->run, length, sizeof length, begin);
    qsm_aegis_run_add(kind, &open->run, message->plain, message->bytes, begin);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void add_entry(qsm_open_packet *open, const qsm_departing *message) {
    const qsm_group *group = message->group;
    uint32_t index = open->data.message_count++;
    open->data.messages[index] = (qsm_message){.group = group->handle,
                                               .view = group->view,
                                               .number = message->own->next_number,
                                               .previous = message->own->last_sent_view,
                                               .flags = message->flags,
                                               .epoch = (uint8_t)group->key_epoch};
    open->front_bytes += header_bytes(message);
    open->mixed = index > 0 && (open->mixed || open->only_group != group->handle);
    open->wide = open->wide || group->region_count > 1;
    if (index > 0) return;
    open->first_stamp = group->engine->scheduler.stamp;
    open->only_group = group->handle;
    open->only_serial = group->serial;
}

void qsm_open_packet_add(qsm_open_packet *open, const qsm_departing *message, const uint8_t *shared,
                         const uint8_t shared_tag[QSM_TAG_BYTES]) {
    bool joins = joins_run(open, message);
    if (!joins) end_run(open, message->group->engine->aegis);
    uint8_t *place = place_in(open, message);
    if (!joins) add_entry(open, message);
    uint32_t index = open->data.message_count - 1u;
    if (message->flags & QSM_MESSAGE_RUN) {
        seal_in_run(open, message, place);
    } else if (shared != NULL) {
        memcpy(place, shared, message->bytes);
        memcpy(open->tags[index], shared_tag, QSM_TAG_BYTES);
    } else {
        qsm_departing_seal(message, place, open->tags[index]);
    }
    open->data.messages[index].bytes += (uint16_t)sealed_bytes(message);
    open->data.messages[index].count++;
    open->sealed_bytes += sealed_bytes(message);
    open->message_total++;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void note_table(const qsm_open_packet *open, qsm_scheduler *scheduler) {
    scheduler->table_bytes[1] = scheduler->table_bytes[0];
    scheduler->table_bytes[0] = open->front_bytes - QSM_HEADER_BYTES - QSM_DATA_FIXED_BYTES -
                                open->region_count * QSM_REGION_HEADER_BYTES;
}

/* Few messages were there to be packed: what is kept until it is stable need not take more. */
static void move_to_smaller_buffer(qsm_engine *engine, qsm_open_packet *open, qsm_slice *packet) {
    if (qsm_pool_fitting(packet->bytes) >= open->buffer->capacity) return;
    qsm_buffer *small = qsm_pool_take(&engine->pool, packet->bytes);
    if (small == NULL) return;
    memcpy(small->data, qsm_slice_data(packet), packet->bytes);
    qsm_buffer_release(open->buffer);
    open->buffer = small;
    *packet = (qsm_slice){.buffer = small, .bytes = packet->bytes};
}

qsm_slice qsm_open_packet_write(qsm_open_packet *open, qsm_engine *engine) {
    end_run(open, engine->aegis);
    note_table(open, &engine->scheduler);
    open->data.sender = engine->id;
    open->data.side = qsm_side(engine);
    open->data.batch = qsm_batch(engine);
    for (uint32_t i = 0; i < open->region_count; i++)
        open->data.regions[i] = (qsm_region_header){.region = open->regions[i]->uid,
                                                    .sequence = open->regions[i]->sender->high + 1,
                                                    .stable = open->regions[i]->sender->stable};
    for (uint32_t i = 0; i < open->data.message_count; i++)
        open->data.messages[i].tag = open->tags[i];
    /* What was left free for the table and not needed stays free, in front of the packet. */
    uint32_t front = open->front_bytes;
    uint32_t offset = open->sealed_offset > front ? open->sealed_offset - front : 0;
    uint32_t bytes =
        qsm_data_write(NULL, open->buffer->data + offset, open->buffer->capacity - offset,
                       &open->data, sealed_at(open, 0));
    assert(bytes == front + open->sealed_bytes && bytes <= engine->config.data_bytes_max);
    qsm_slice packet = {.buffer = open->buffer, .offset = offset, .bytes = bytes};
    move_to_smaller_buffer(engine, open, &packet);
    return packet;
}
