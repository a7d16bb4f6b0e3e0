#include "sending/packing.h"

#include <assert.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/extra.h"
#include "membership/group.h"
#include "membership/region.h"
#include "sending/outgoing.h"
#include "sending/sender.h"

void qsm_packing_begin(qsm_packing *packing, qsm_engine *engine) {
    packing->engine = engine;
    packing->count = packing->made = packing->untagged_count = 0;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static void tag_all(qsm_packing *packing) {
    const uint8_t *packets[QSM_TAGS_AT_ONCE];
    uint8_t tags[QSM_TAGS_AT_ONCE][QSM_TAG_BYTES];
    if (packing->untagged_count == 0) return;
    for (uint32_t i = 0; i < packing->untagged_count; i++)
        packets[i] = packing->untagged[i]->data;
    qsm_packet_tags(&packing->engine->keys, packets, packing->untagged_count,
                    packing->untagged_front, tags);
    for (uint32_t i = 0; i < packing->untagged_count; i++) {
        qsm_packet_set_tag(packing->untagged[i]->data, tags[i]);
        qsm_buffer_release(packing->untagged[i]);
    }
    packing->untagged_count = 0;
}

/* Before the call of the engine ends the packet gets its tag. */
static void tag_later(qsm_packing *packing, qsm_buffer *buffer, uint32_t front) {
    if (packing->untagged_count > 0 && packing->untagged_front != front) tag_all(packing);
    qsm_buffer_retain(buffer);
    packing->untagged[packing->untagged_count++] = buffer;
    packing->untagged_front = front;
    if (packing->untagged_count == QSM_TAGS_AT_ONCE) tag_all(packing);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Few messages were there to be packed: what is kept until it is stable need not take more. */
static void move_to_smaller_buffer(qsm_engine *engine, qsm_open_packet *open, uint32_t bytes) {
    qsm_buffer *small = qsm_pool_take(&engine->pool, bytes);
    if (small == NULL) return;
    memcpy(small->data, open->buffer->data, bytes);
    qsm_buffer_release(open->buffer);
    open->buffer = small;
}

/* Writes what stands before the sealed messages; returns the packet's length. */
static uint32_t write_packet(qsm_engine *engine, qsm_open_packet *open) {
    open->data.sender = engine->id;
    open->data.side = qsm_side(engine);
    open->data.batch = qsm_batch(engine);
    for (uint32_t i = 0; i < open->region_count; i++)
        open->data.regions[i] = (qsm_region_header){.region = open->regions[i]->uid,
                                                    .sequence = open->regions[i]->sender->high + 1,
                                                    .stable = open->regions[i]->sender->stable};
    for (uint32_t i = 0; i < open->data.message_count; i++)
        open->data.messages[i].tag = open->tags[i];
    uint32_t bytes = qsm_data_write(NULL, open->buffer->data, open->buffer->capacity, &open->data,
                                    open->buffer->data + open->sealed_offset);
    assert(bytes > 0 && bytes <= engine->config.data_bytes_max);
    if (qsm_pool_fitting(bytes) < open->buffer->capacity)
        move_to_smaller_buffer(engine, open, bytes);
    return bytes;
}

static void finish_packet(qsm_packing *packing, qsm_open_packet *open) {
    qsm_engine *engine = packing->engine;
    if (open->buffer == NULL) return;
    if (open->data.message_count == 0) { /* its first message could not be sealed */
        qsm_buffer_release(open->buffer);
        open->buffer = NULL;
        return;
    }
    uint32_t bytes = write_packet(engine, open);
    tag_later(packing, open->buffer, bytes - open->sealed_bytes);
    qsm_slice packet = {.buffer = open->buffer, .bytes = bytes};
    qsm_count(engine, QSM_COUNT_packets_sent);
    for (uint32_t i = 0; i < open->region_count; i++) {
        bool kept = qsm_sender_keep(open->regions[i]->sender, open->buffer, bytes, open->wide,
                                    open->first_stamp, engine->scheduler.stamp);
        assert(kept); /* room was made before the first message went in */
        (void)kept;
        if (!open->mixed)
            qsm_sender_keep_note(open->regions[i]->sender, open->only_group, open->only_serial,
                                 open->data.message_count);
        if (!qsm_address_is_set(&open->to))
            qsm_region_multicast(open->regions[i], QSM_CLASS_DATA, &packet);
    }
    if (qsm_address_is_set(&open->to)) qsm_post_packet(engine, QSM_CLASS_DATA, &open->to, &packet);
    qsm_buffer_release(open->buffer);
    open->buffer = NULL;
    packing->made++;
}

void qsm_packing_end(qsm_packing *packing) {
    for (uint32_t i = 0; i < packing->count; i++)
        finish_packet(packing, &packing->packets[i]);
    packing->count = 0;
    tag_all(packing);
}

/* The regions that one packet is for, and the address that they share if there is one. */
typedef struct {
    qsm_region *const *regions;
    uint32_t region_count;
    const qsm_address *to; /* NULL: the region's own */
} destination;

static bool is_for(const qsm_open_packet *open, const destination *where) {
    if (open->buffer == NULL || open->region_count != where->region_count ||
        open->regions[0] != where->regions[0])
        return false;
    if (where->to == NULL) return !qsm_address_is_set(&open->to);
    return memcmp(open->regions, where->regions, where->region_count * sizeof *where->regions) ==
               0 &&
           qsm_address_equal(&open->to, where->to);
}

/* A place for another packet; when all are taken, one of them is sent off. */
static qsm_open_packet *free_place(qsm_packing *packing) {
    for (uint32_t i = 0; i < packing->count; i++)
        if (packing->packets[i].buffer == NULL) return &packing->packets[i];
    if (packing->count < QSM_OPEN_PACKETS) return &packing->packets[packing->count++];
    qsm_open_packet *open = &packing->packets[packing->made % QSM_OPEN_PACKETS];
    finish_packet(packing, open);
    return open;
}

/* The packet being filled for exactly these regions, begun when there is none. NULL when memory is
 * short. */
static qsm_open_packet *packet_for(qsm_packing *packing, const destination *where) {
    for (uint32_t i = 0; i < packing->count; i++)
        if (is_for(&packing->packets[i], where)) return &packing->packets[i];
    qsm_open_packet *open = free_place(packing);
    /* Not the whole of it: it is large, and made for each packet. */
    open->region_count = where->region_count;
    open->to = where->to != NULL ? *where->to : (qsm_address){0};
    open->sealed_bytes = 0;
    open->wide = false;
    open->data.flags = 0;
    open->data.message_count = 0;
    open->data.hole_count = 0;
    memcpy(open->regions, where->regions, where->region_count * sizeof *where->regions);
    open->data.region_count = (uint8_t)where->region_count;
    open->front_bytes = qsm_data_front_bytes(&open->data);
    open->buffer = qsm_pool_take(&packing->engine->pool, packing->engine->config.data_bytes_max);
    return open->buffer != NULL ? open : NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

typedef struct {
    qsm_group *group;
    qsm_outgoing *own; /* the group's */
    const uint8_t *plain;
    uint32_t bytes;
    uint32_t header_bytes; /* in a packet's table */
    uint8_t flags;
} departing;

static bool has_room(const qsm_packing *packing, const qsm_open_packet *open,
                     const departing *message) {
    return open->data.message_count < QSM_PACKET_MESSAGES_MAX &&
           open->front_bytes + open->sealed_bytes + message->header_bytes + message->bytes <=
               packing->engine->config.data_bytes_max;
}

/* Where the next sealed message goes. The first is put behind the table that the packet will have
 * when it is filled with messages like it: then nothing has to be moved in the end. */
static uint8_t *place_in(const qsm_packing *packing, qsm_open_packet *open, uint32_t bytes) {
    uint32_t front = open->front_bytes;
    if (open->data.message_count == 0) {
        uint32_t most =
            (packing->engine->config.data_bytes_max - front) / (QSM_MESSAGE_HEADER_BYTES + bytes);
        if (most > QSM_PACKET_MESSAGES_MAX) most = QSM_PACKET_MESSAGES_MAX;
        open->sealed_offset = front + (most > 0 ? most : 1) * QSM_MESSAGE_HEADER_BYTES;
    } else if (open->sealed_offset + open->sealed_bytes + bytes > open->buffer->capacity) {
        memmove(open->buffer->data + front, open->buffer->data + open->sealed_offset,
                open->sealed_bytes); /* a longer one after short ones: as tight as can be */
        open->sealed_offset = front;
    }
    return open->buffer->data + open->sealed_offset + open->sealed_bytes;
}

/* AES when everybody in all the group's regions can open it. */
static bool uses_aes(const qsm_group *group) {
    for (uint32_t i = 0; i < group->region_count; i++)
        if (!qsm_group_regions(group)[i]->aes) return false;
    return group->engine->aegis != QSM_AEGIS_NONE;
}

static void seal(const departing *message, uint8_t *sealed, uint8_t tag[QSM_TAG_BYTES]) {
    const qsm_group *group = message->group;
    qsm_outgoing *own = message->own;
    qsm_engine *engine = group->engine;
    qsm_seal_identity identity = {.group_id = group->id,
                                  .sender = engine->id,
                                  .number = own->next_number,
                                  .flags = message->flags,
                                  .epoch = (uint8_t)group->key_epoch};
    if (message->flags & QSM_MESSAGE_AES) {
        if (!own->key_made) qsm_sender_key_derive(own->secret, group->key, group->id, engine->id);
        own->key_made = true;
        qsm_message_seal_aes(engine->aegis, own->secret, &identity, message->plain, message->bytes,
                             sealed, tag);
    } else {
        qsm_message_seal(group->key, &identity, message->plain, message->bytes, sealed, tag);
    }
}

/* `shared` and its tag: the message as it was sealed for another packet; NULL: it is sealed here.
 */
static bool put_into(qsm_packing *packing, const destination *where, const departing *message,
                     const uint8_t *shared, const uint8_t shared_tag[QSM_TAG_BYTES]) {
    const qsm_group *group = message->group;
    qsm_open_packet *open = packet_for(packing, where);
    if (open != NULL && !has_room(packing, open, message)) {
        finish_packet(packing, open);
        open = packet_for(packing, where);
    }
    if (open == NULL) return false;
    uint8_t *place = place_in(packing, open, message->bytes);
    uint32_t index = open->data.message_count;
    if (shared != NULL) {
        memcpy(place, shared, message->bytes);
        memcpy(open->tags[index], shared_tag, QSM_TAG_BYTES);
    } else {
        seal(message, place, open->tags[index]);
    }
    open->data.messages[index] = (qsm_message){.group = group->handle,
                                               .view = group->view,
                                               .number = message->own->next_number,
                                               .previous = message->own->last_sent_view,
                                               .bytes = (uint16_t)message->bytes,
                                               .flags = message->flags,
                                               .epoch = (uint8_t)group->key_epoch};
    if (index == 0) {
        open->first_stamp = packing->engine->scheduler.stamp;
        open->mixed = false;
        open->only_group = group->handle;
        open->only_serial = group->serial;
    }
    open->data.message_count++;
    open->mixed = open->mixed || open->only_group != group->handle;
    open->front_bytes += message->header_bytes;
    open->sealed_bytes += message->bytes;
    open->wide = open->wide || group->region_count > 1;
    message->own->unacknowledged += where->region_count; /* each of them acknowledges it */
    return true;
}

static bool put_into_each(qsm_packing *packing, const departing *message) {
    const qsm_group *group = message->group;
    uint8_t shared[QSM_DATA_BYTES_MAX], tag[QSM_TAG_BYTES];
    bool several = group->region_count > 1;
    if (several) seal(message, shared, tag);
    for (uint32_t i = 0; i < group->region_count; i++) {
        destination where = {.regions = &qsm_group_regions(group)[i], .region_count = 1};
        if (!put_into(packing, &where, message, several ? shared : NULL, tag)) return false;
    }
    return true;
}

bool qsm_packing_put(qsm_packing *packing, qsm_group *group, const uint8_t *plain, uint32_t bytes,
                     uint8_t flags) {
    qsm_outgoing *own = qsm_outgoing_of(group);
    const qsm_address *address = qsm_extra_hybrid(group);
    if (own->first_in_view && !QSM_BUG(12)) flags |= QSM_MESSAGE_FIRST;
    if (group->region_count > 1) flags |= QSM_MESSAGE_WIDE;
    if (uses_aes(group)) flags |= QSM_MESSAGE_AES;
    departing message = {.group = group,
                         .own = own,
                         .plain = plain,
                         .bytes = bytes,
                         .header_bytes = QSM_MESSAGE_HEADER_BYTES};
    message.flags = flags;
    if (flags & QSM_MESSAGE_FIRST) message.header_bytes += QSM_MESSAGE_FIRST_BYTES;
    packing->engine->scheduler.stamp++;
    bool hybrid = qsm_address_is_set(address) && group->region_count > 0 &&
                  group->region_count <= QSM_REGION_HEADERS_MAX;
    destination together = {
        .regions = qsm_group_regions(group), .region_count = group->region_count, .to = address};
    if (hybrid ? !put_into(packing, &together, &message, NULL, NULL)
               : !put_into_each(packing, &message))
        return false;
    if (flags & QSM_MESSAGE_AES) qsm_count(packing->engine, QSM_COUNT_messages_with_aes);
    if (group->region_count == 0) own->unacknowledged = 0; /* alone in the world */
    own->next_number++;
    own->first_in_view = false;
    own->last_sent_view = group->view;
    return true;
}

uint32_t qsm_packing_bytes_max(const qsm_engine *engine, const qsm_group *group) {
    uint32_t headers = qsm_address_is_set(qsm_extra_hybrid(group)) ? group->region_count : 1;
    return engine->config.data_bytes_max - QSM_HEADER_BYTES - QSM_DATA_FIXED_BYTES -
           headers * QSM_REGION_HEADER_BYTES - QSM_MESSAGE_HEADER_BYTES - QSM_MESSAGE_FIRST_BYTES;
}
