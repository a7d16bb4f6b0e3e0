#include "sending/packing.h"

#include <assert.h>
#include <string.h>

#include "core/engine.h"
#include "core/planted.h"
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
        packets[i] = qsm_slice_data(&packing->untagged[i]);
    qsm_packet_tags(&packing->engine->keys, packets, packing->untagged_count,
                    packing->untagged_front, tags);
    for (uint32_t i = 0; i < packing->untagged_count; i++) {
        const qsm_slice *packet = &packing->untagged[i];
        qsm_packet_set_tag(packet->buffer->data + packet->offset, tags[i]);
        qsm_buffer_release(packet->buffer);
    }
    packing->untagged_count = 0;
}

/* Before the call of the engine ends the packet gets its tag. */
static void tag_later(qsm_packing *packing, const qsm_slice *packet, uint32_t front) {
    if (packing->untagged_count > 0 && packing->untagged_front != front) tag_all(packing);
    qsm_buffer_retain(packet->buffer);
    packing->untagged[packing->untagged_count++] = *packet;
    packing->untagged_front = front;
    if (packing->untagged_count == QSM_TAGS_AT_ONCE) tag_all(packing);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void post_hybrid(qsm_engine *engine, const qsm_open_packet *open, const qsm_slice *packet) {
    bool cut = false;
    for (uint32_t i = 0; i < open->region_count; i++)
        cut = cut || qsm_path_region_cuts(open->regions[i], packet);
    if (cut)
        qsm_parts_post(engine, QSM_CLASS_DATA, &open->to, packet);
    else
        qsm_post_packet(engine, QSM_CLASS_DATA, &open->to, packet);
}

static void finish_packet(qsm_packing *packing, qsm_open_packet *open) {
    qsm_engine *engine = packing->engine;
    if (open->buffer == NULL) return;
    if (open->data.message_count == 0) { /* its first message could not be sealed */
        qsm_buffer_release(open->buffer);
        open->buffer = NULL;
        return;
    }
    qsm_slice packet = qsm_open_packet_write(open, engine);
    tag_later(packing, &packet, open->front_bytes);
    qsm_count(engine, QSM_COUNT_packets_sent);
    for (uint32_t i = 0; i < open->region_count; i++) {
        bool kept = qsm_sender_keep(open->regions[i]->sender, &packet, open->wide,
                                    open->first_stamp, engine->scheduler.stamp);
        assert(kept); /* room was made before the first message went in */
        (void)kept;
        if (!open->mixed)
            qsm_sender_keep_note(open->regions[i]->sender, open->only_group, open->only_serial,
                                 open->message_total);
        if (!qsm_address_is_set(&open->to))
            qsm_region_multicast(open->regions[i], QSM_CLASS_DATA, &packet);
    }
    if (qsm_address_is_set(&open->to)) post_hybrid(engine, open, &packet);
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

/* The longest packet that reaches all these regions. */
static uint32_t shortest_path(qsm_region *const *regions, uint32_t count) {
    uint32_t bytes = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t carries = qsm_path_region_bytes(regions[i]);
        if (carries < bytes) bytes = carries;
    }
    return bytes;
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
    open->region_count = where->region_count;
    open->to = where->to != NULL ? *where->to : (qsm_address){0};
    memcpy(open->regions, where->regions, where->region_count * sizeof *where->regions);
    qsm_open_packet_begin(open);
    open->bytes_max = shortest_path(where->regions, where->region_count);
    open->buffer = qsm_pool_take(&packing->engine->pool, packing->engine->config.data_bytes_max);
    return open->buffer != NULL ? open : NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* AES when everybody in all the group's regions can open it. */
static bool uses_aes(const qsm_group *group) {
    for (uint32_t i = 0; i < group->region_count; i++)
        if (!qsm_group_regions(group)[i]->aes) return false;
    return group->engine->aegis != QSM_AEGIS_NONE;
}

/* `shared` and its tag: the message as it was sealed for another packet; NULL: it is sealed here.
 */
static bool put_into(qsm_packing *packing, const destination *where, const qsm_departing *message,
                     const uint8_t *shared, const uint8_t shared_tag[QSM_TAG_BYTES]) {
    qsm_open_packet *open = packet_for(packing, where);
    if (open != NULL && !qsm_open_packet_has_room(open, message)) {
        finish_packet(packing, open);
        open = packet_for(packing, where);
    }
    if (open == NULL) return false;
    qsm_open_packet_add(open, message, shared, shared_tag);
    message->own->unacknowledged += where->region_count; /* each of them acknowledges it */
    return true;
}

static bool put_into_each(qsm_packing *packing, const qsm_departing *message) {
    const qsm_group *group = message->group;
    uint8_t shared[QSM_DATA_BYTES_MAX], tag[QSM_TAG_BYTES];
    bool several = group->region_count > 1;
    if (several) qsm_departing_seal(message, shared, tag);
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
    if (flags == QSM_MESSAGE_AES) flags |= QSM_MESSAGE_RUN; /* perhaps others follow */
    qsm_departing message = {
        .group = group, .own = own, .plain = plain, .bytes = bytes, .flags = flags};
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
    uint32_t carries = shortest_path(qsm_group_regions(group), group->region_count);
    if (carries > engine->config.data_bytes_max) carries = engine->config.data_bytes_max;
    return carries - QSM_HEADER_BYTES - QSM_DATA_FIXED_BYTES - headers * QSM_REGION_HEADER_BYTES -
           QSM_MESSAGE_HEADER_BYTES - QSM_MESSAGE_FIRST_BYTES;
}
