#include "recovery/orphan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/engine.h"
#include "core/planted.h"
#include "membership/client.h"
#include "membership/link.h"
#include "membership/peer.h"
#include "membership/region.h"
#include "receiving/stream.h"
#include "recovery/repair.h"

enum {
    ASK_AGAIN_NS = 100000000,
    TELL_EXECUTOR_NS = 200000000,
    EXCHANGE_FAILURES = 14,  /* times failure_ns: executors may be cut off from each other for a
                                while */
    ESTATE_BYTES_MAX = 48000 /* of one message to another executor */
};

/* What a message between executors ends with; nothing to tell is an answer that wants none. */
enum { MORE_TO_TELL = 0, ALL_TOLD = 1, NOTHING_TO_TELL = 2 };

enum estate_state {
    ESTATE_ASKING,     /* members report what they have */
    ESTATE_FETCHING,   /* what somebody has and this node lacks is on its way */
    ESTATE_EXCHANGING, /* other regions tell what they have of common messages */
    ESTATE_SETTLED
};

/* A message that another region has, to be appended to the stream if this region lacks it. */
typedef struct offered {
    struct offered *next;
    qsm_message message; /* tag and sealed point into bytes */
    uint8_t bytes[];
} offered;

struct qsm_estate {
    qsm_region *region;
    uint64_t sender;
    uint64_t died_in; /* batch that told of the death: regions made later do not know the sender */
    enum estate_state state;
    bool looking;
    uint32_t attempt;
    qsm_table answered; /* member id -> this */
    uint64_t first;     /* sequence of the first bit */
    uint8_t *exists;    /* bit: some member has or had it */
    uint64_t high;      /* greatest sequence that anybody has */
    offered *offers;
    qsm_table sent_to;   /* uid -> id of the executor that was told, in place of a pointer */
    qsm_table done_from; /* uid of a region that has told all -> id of its executor, as above */
    uint64_t exchange_by_ns;
    qsm_alarm alarm;
};

static void look(qsm_estate *estate);
static void on_estate_alarm(void *context, uint64_t now_ns);
static void on_member_alarm(void *context, uint64_t now_ns);

void qsm_orphans_init(qsm_region *region) {
    qsm_alarm_init(&region->orphans.alarm, on_member_alarm, region);
}

static void free_estate(qsm_estate *estate) {
    qsm_alarm_clear(&estate->region->engine->alarms, &estate->alarm);
    while (estate->offers != NULL) {
        offered *next = estate->offers->next;
        free(estate->offers);
        estate->offers = next;
    }
    qsm_table_free(&estate->answered);
    qsm_table_free(&estate->done_from);
    qsm_table_free(&estate->sent_to);
    free(estate->exists);
    free(estate);
}

void qsm_orphans_free(qsm_region *region) {
    qsm_alarm_clear(&region->engine->alarms, &region->orphans.alarm);
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        free_estate(estate);
    qsm_table_free(&region->orphans.estates);
}

static bool executes(const qsm_region *region) {
    return region->my_index >= 0 && qsm_region_leader(region) == region->my_index;
}

/* True when the other executors have got all that they were told: until then the region must not
 * go. */
static bool telling_is_done(const qsm_estate *estate) {
    qsm_engine *engine = estate->region->engine;
    for (uint32_t i = 0; i < estate->sent_to.capacity; i++) {
        if (estate->sent_to.slots[i].value == NULL) continue;
        qsm_peer *executor =
            qsm_peer_find(engine, (uint64_t)(uintptr_t)estate->sent_to.slots[i].value);
        if (executor != NULL && executor->link != NULL && executor->link->first != NULL)
            return false;
    }
    return true;
}

bool qsm_orphans_are_open(const qsm_region *region) {
    uint32_t cursor = 0;
    for (qsm_estate *estate; (estate = qsm_table_next(&region->orphans.estates, &cursor)) != NULL;)
        if (estate->state != ESTATE_SETTLED || !telling_is_done(estate)) return true;
    return false;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Makes sure that the executor knows of the orphans that this node knows of. */
static void on_member_alarm(void *context, uint64_t now_ns) {
    qsm_region *region = context;
    qsm_engine *engine = region->engine;
    int32_t leader = qsm_region_leader(region);
    bool open = false;
    uint32_t cursor = 0;
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!stream->orphan || qsm_stream_is_finished(stream)) continue;
        open = true;
        if (leader < 0 || leader == region->my_index) continue;
        qsm_control control = {
            .nudge = {.region = region->uid, .stream = stream->sender, .high = stream->high}};
        qsm_post_control(engine, QSM_KIND_NUDGE, &control, &region->members[leader].peer->address);
    }
    if (open)
        qsm_alarm_set(&engine->alarms, &region->orphans.alarm, now_ns + TELL_EXECUTOR_NS);
    else
        qsm_region_check_drained(region);
}

void qsm_orphan_query_arrived(qsm_region *region, uint64_t from, const qsm_orphan_query *query) {
    qsm_engine *engine = region->engine;
    qsm_peer *peer = qsm_peer_find(engine, from);
    int32_t asker = qsm_region_index(region, from);
    if (peer == NULL || asker < 0 || region->members[asker].dead || region->my_index < 0) return;
    qsm_control control = {.orphan_report = {.region = region->uid,
                                             .stream = query->stream,
                                             .attempt = query->attempt}};
    qsm_orphan_report *report = &control.orphan_report;
    qsm_stream *stream = qsm_stream_of(region, query->stream);
    if (stream != NULL && !stream->own) {
        stream->sealed_off = true; /* what the report does not name is not taken from the sender any
                                      more */
        report->stable = stream->stable;
        uint32_t most = (engine->config.datagram_bytes_max - QSM_HEADER_BYTES - 30) / 12;
        if (most > QSM_RANGES_MAX) most = QSM_RANGES_MAX;
        uint64_t from_sequence =
            stream->stable + 1 > stream->base ? stream->stable + 1 : stream->base;
        for (uint64_t s = from_sequence; s <= stream->high; s++) {
            qsm_slot *slot = qsm_stream_slot(stream, s);
            if (slot == NULL || slot->state == QSM_SLOT_MISSING || slot->state == QSM_SLOT_HOLE)
                continue;
            qsm_range *last = report->range_count ? &report->ranges[report->range_count - 1] : NULL;
            if (last != NULL && last->last + 1 == s) {
                last->last = s;
                continue;
            }
            if (report->range_count == most) {
                report->truncated = true;
                break;
            }
            report->ranges[report->range_count++] = (qsm_range){.first = s, .last = s};
        }
    }
    qsm_post_control(engine, QSM_KIND_ORPHAN_REPORT, &control, &peer->address);
}

void qsm_orphan_answer_nothing(qsm_engine *engine, uint64_t to, const qsm_orphan_query *query) {
    qsm_peer *peer = qsm_peer_find(engine, to);
    if (peer == NULL) return;
    qsm_control control = {.orphan_report = {.region = query->region,
                                             .stream = query->stream,
                                             .attempt = query->attempt}};
    qsm_post_control(engine, QSM_KIND_ORPHAN_REPORT, &control, &peer->address);
}

/* ---- the executor ---------------------------------------------------------------------------- */

static void ask_members(qsm_estate *estate) {
    qsm_region *region = estate->region;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < region->member_count; i++) {
        const qsm_region_member *member = &region->members[i];
        if (member->dead || member->peer == NULL ||
            qsm_table_get(&estate->answered, member->id) != NULL)
            continue;
        qsm_control control = {.orphan_query = {.region = region->uid,
                                                .stream = estate->sender,
                                                .attempt = estate->attempt}};
        qsm_post_control(region->engine, QSM_KIND_ORPHAN_QUERY, &control, &member->peer->address);
        asked++;
    }
    qsm_note(region->engine, QSM_TRACE_orphan_asking, asked, estate->sender);
}

static qsm_estate *estate_of(qsm_region *region, uint64_t sender) {
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, sender);
    if (estate != NULL) return estate;
    qsm_engine *engine = region->engine;
    qsm_stream *stream = qsm_stream_of(region, sender);
    if (stream == NULL || stream->own) return NULL;
    estate = calloc(1, sizeof *estate);
    uint8_t *exists = calloc(QSM_STREAM_SLOTS_MAX / 8, 1);
    if (estate == NULL || exists == NULL ||
        !qsm_table_put(&region->orphans.estates, sender, estate)) {
        free(estate);
        free(exists);
        return NULL;
    }
    estate->region = region;
    estate->sender = sender;
    estate->exists = exists;
    estate->died_in = region->directory->applied;
    estate->attempt = 1;
    estate->first = stream->contiguous + 1;
    estate->high = stream->high_received;
    stream->sealed_off = true;
    qsm_alarm_init(&estate->alarm, on_estate_alarm, estate);
    qsm_note(engine, QSM_TRACE_orphan_found, sender, region->uid);
    ask_members(estate);
    qsm_alarm_set(&engine->alarms, &estate->alarm, engine->now_ns + ASK_AGAIN_NS);
    return estate;
}

static void ask_again(qsm_estate *estate, const qsm_stream *stream) {
    estate->state = ESTATE_ASKING;
    estate->attempt++;
    estate->first = stream->contiguous + 1;
    estate->high = stream->high_received;
    memset(estate->exists, 0, QSM_STREAM_SLOTS_MAX / 8);
    qsm_table_free(&estate->answered);
    ask_members(estate);
}

void qsm_orphan_found(qsm_stream *stream) {
    qsm_region *region = stream->region;
    stream->orphan = true;
    if (region->my_index < 0) return;
    qsm_alarm_set_earlier(&region->engine->alarms, &region->orphans.alarm,
                          region->engine->now_ns + TELL_EXECUTOR_NS / 4);
    if (!executes(region) || qsm_stream_is_finished(stream)) return;
    qsm_estate *estate = estate_of(region, stream->sender);
    if (estate != NULL) look(estate);
}

static bool exists(const qsm_estate *estate, uint64_t sequence) {
    if (sequence < estate->first) return true;
    uint64_t bit = sequence - estate->first;
    return !QSM_BUG(14) && bit < QSM_STREAM_SLOTS_MAX && (estate->exists[bit / 8] >> (bit % 8) & 1);
}

void qsm_orphan_report_arrived(qsm_region *region, uint64_t from, const qsm_orphan_report *report) {
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, report->stream);
    if (estate == NULL || estate->state != ESTATE_ASKING || report->attempt != estate->attempt)
        return;
    if (qsm_region_index(region, from) < 0) return;
    for (uint32_t i = 0; i < report->range_count; i++) {
        for (uint64_t s = report->ranges[i].first; s <= report->ranges[i].last; s++) {
            if (s < estate->first) continue;
            uint64_t bit = s - estate->first;
            if (bit >= QSM_STREAM_SLOTS_MAX) break;
            estate->exists[bit / 8] |= (uint8_t)(1u << (bit % 8));
            if (s > estate->high) estate->high = s;
        }
    }
    qsm_stream *stream = qsm_stream_find(region, report->stream);
    if (stream != NULL) {
        qsm_stream_learn_high(stream, estate->high);
        qsm_stream_learn_stable(stream, report->stable);
    }
    if (!report->truncated) qsm_table_put(&estate->answered, from, estate);
    look(estate);
}

static bool all_answered(const qsm_estate *estate) {
    const qsm_region *region = estate->region;
    for (uint32_t i = 0; i < region->member_count; i++)
        if (!region->members[i].dead && region->members[i].peer != NULL &&
            qsm_table_get(&estate->answered, region->members[i].id) == NULL)
            return false;
    return true;
}

/* Everything that anybody has is here. */
static bool is_complete(const qsm_estate *estate, qsm_stream *stream) {
    for (uint64_t s = stream->contiguous + 1; s <= estate->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        bool missing = slot == NULL || slot->state == QSM_SLOT_MISSING;
        if (missing && exists(estate, s)) return false;
    }
    return true;
}

/* ---- other regions --------------------------------------------------------------------------- */

/* Regions whose members may share messages of the sender with this one. */
static bool is_sibling(const qsm_estate *estate, const qsm_region *other) {
    return other != estate->region && other->directory == estate->region->directory &&
           other->created < estate->died_in && other->alive_count > 0;
}

static void put_message(qsm_bytes *out, const qsm_message *message) {
    qsm_bytes_add32(out, message->group);
    qsm_bytes_add64(out, message->view);
    qsm_bytes_add64(out, message->number);
    qsm_bytes_add64(out, message->previous);
    qsm_bytes_add16(out, message->bytes);
    qsm_bytes_add8(out, message->flags);
    qsm_bytes_add8(out, message->epoch);
    qsm_bytes_add(out, message->tag, QSM_TAG_BYTES);
    qsm_bytes_add(out, message->sealed, message->bytes);
}

static void begin_telling(const qsm_estate *estate, uint64_t to_region, qsm_bytes *out) {
    out->count = 0;
    qsm_bytes_add8(out, QSM_TO_EXECUTOR_ESTATE);
    qsm_bytes_add64(out, estate->region->uid);
    qsm_bytes_add64(out, to_region);
    qsm_bytes_add64(out, estate->sender);
    qsm_bytes_add8(out, MORE_TO_TELL); /* patched in the last message */
    qsm_bytes_add32(out, 0);           /* count, patched */
}
enum { TELLING_DONE_AT = 25, TELLING_COUNT_AT = 26 };

/* Tells another executor all that this region has of messages for several regions. */
static void tell_executor(qsm_estate *estate, uint64_t to_region, qsm_peer *executor) {
    qsm_engine *engine = estate->region->engine;
    qsm_stream *stream = qsm_stream_find(estate->region, estate->sender);
    qsm_link *link = qsm_link_to(engine, executor);
    if (stream == NULL || link == NULL) return;
    qsm_bytes out = {0};
    uint32_t count = 0, total = 0;
    begin_telling(estate, to_region, &out);
    for (uint64_t s = stream->base; s <= stream->high; s++) {
        const qsm_slice *packet = qsm_stream_packet(stream, s);
        if (packet == NULL) continue;
        const uint8_t *bytes = qsm_slice_data(packet);
        qsm_header header = {.kind = QSM_KIND_DATA,
                             .front_bytes = (uint16_t)(bytes[2] | bytes[3] << 8),
                             .sender = stream->sender};
        qsm_data data;
        if (!qsm_data_read(&header, bytes, packet->bytes, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++) {
            if (!(data.messages[i].flags & QSM_MESSAGE_WIDE)) continue;
            put_message(&out, &data.messages[i]);
            count++;
            total++;
            if (out.count < ESTATE_BYTES_MAX) continue;
            qsm_bytes_patch32(&out, TELLING_COUNT_AT, count);
            if (!out.failed) qsm_link_send(link, out.data, out.count);
            begin_telling(estate, to_region, &out);
            count = 0;
        }
    }
    qsm_bytes_patch32(&out, TELLING_COUNT_AT, count);
    if (!out.failed) {
        out.data[TELLING_DONE_AT] = ALL_TOLD;
        qsm_link_send(link, out.data, out.count);
        qsm_table_put(&estate->sent_to, to_region, (void *)(uintptr_t)executor->id);
        qsm_note(engine, QSM_TRACE_estate_offered, total, estate->sender);
    }
    qsm_bytes_free(&out);
}

/* A successor of a dead executor has to be told again. */
static bool was_told(const qsm_estate *estate, uint64_t region, uint64_t executor) {
    return (uint64_t)(uintptr_t)qsm_table_get(&estate->sent_to, region) == executor;
}

static bool exchange_is_done(qsm_estate *estate) {
    qsm_engine *engine = estate->region->engine;
    bool done = true;
    /* Whoever has told us wants to be told, whether we know its region as a sibling or not. */
    for (uint32_t i = 0; i < estate->done_from.capacity; i++) {
        const qsm_table_slot *slot = &estate->done_from.slots[i];
        if (slot->value == NULL) continue;
        qsm_peer *executor = qsm_peer_find(engine, (uint64_t)(uintptr_t)slot->value);
        if (executor != NULL && !executor->dead && !was_told(estate, slot->key, executor->id))
            tell_executor(estate, slot->key, executor);
    }
    uint32_t cursor = 0;
    for (qsm_region *other; (other = qsm_table_next(&engine->regions, &cursor)) != NULL;) {
        if (!is_sibling(estate, other)) continue;
        const qsm_region_member *executor = &other->members[qsm_region_leader(other)];
        if (executor->peer == NULL) continue; /* this node leads that region, too: see below */
        if (!was_told(estate, other->uid, executor->id))
            tell_executor(estate, other->uid, executor->peer);
        if (qsm_table_get(&estate->done_from, other->uid) == NULL) done = false;
    }
    return done;
}

static bool read_offer(qsm_estate *estate, qsm_reader *in) {
    qsm_message message = {0};
    message.group = qsm_read32(in);
    message.view = qsm_read64(in);
    message.number = qsm_read64(in);
    message.previous = qsm_read64(in);
    message.bytes = qsm_read16(in);
    message.flags = qsm_read8(in);
    message.epoch = qsm_read8(in);
    const uint8_t *tag = qsm_read_bytes(in, QSM_TAG_BYTES);
    const uint8_t *sealed = qsm_read_bytes(in, message.bytes);
    if (in->failed || message.number == 0 || message.bytes > QSM_DATAGRAM_BYTES_MAX) return false;
    for (const offered *other = estate->offers; other != NULL; other = other->next)
        if (other->message.group == message.group && other->message.number == message.number)
            return true;
    offered *offer = malloc(sizeof *offer + QSM_TAG_BYTES + message.bytes);
    if (offer == NULL) return false;
    memcpy(offer->bytes, tag, QSM_TAG_BYTES);
    memcpy(offer->bytes + QSM_TAG_BYTES, sealed, message.bytes);
    message.tag = offer->bytes;
    message.sealed = offer->bytes + QSM_TAG_BYTES;
    offer->message = message;
    offered **at = &estate->offers; /* ascending, so that they are appended in order */
    while (*at != NULL && (*at)->message.number < message.number)
        at = &(*at)->next;
    offer->next = *at;
    *at = offer;
    return true;
}

static void tell_nothing(qsm_engine *engine, uint64_t to, uint64_t region, uint64_t to_region,
                         uint64_t sender) {
    qsm_peer *peer = qsm_peer_find(engine, to);
    qsm_link *link = peer != NULL ? qsm_link_to(engine, peer) : NULL;
    if (link == NULL) return;
    qsm_bytes out = {0};
    qsm_bytes_add8(&out, QSM_TO_EXECUTOR_ESTATE);
    qsm_bytes_add64(&out, region);
    qsm_bytes_add64(&out, to_region);
    qsm_bytes_add64(&out, sender);
    qsm_bytes_add8(&out, NOTHING_TO_TELL);
    qsm_bytes_add32(&out, 0);
    if (!out.failed) qsm_link_send(link, out.data, out.count);
    qsm_bytes_free(&out);
}

void qsm_orphan_estate_arrived(qsm_engine *engine, uint64_t from, qsm_reader *in) {
    uint64_t from_region = qsm_read64(in);
    uint64_t to_region = qsm_read64(in);
    uint64_t sender = qsm_read64(in);
    uint8_t said = qsm_read8(in);
    bool done = said != MORE_TO_TELL;
    uint32_t count = qsm_read32(in);
    qsm_region *region = qsm_region_find(engine, to_region);
    if (in->failed || sender == engine->id) return;
    bool concerned =
        region != NULL && region->my_index >= 0 && qsm_peer_find(engine, sender) != NULL;
    qsm_estate *estate = concerned ? estate_of(region, sender) : NULL;
    if (estate == NULL) { /* gone, or never heard of the dead: there is nothing to wait for here */
        if (said == ALL_TOLD) tell_nothing(engine, from, to_region, from_region, sender);
        return;
    }
    for (uint32_t i = 0; i < count && estate->state != ESTATE_SETTLED; i++)
        if (!read_offer(estate, in)) break;
    if (!done) return;
    qsm_table_put(&estate->done_from, from_region, (void *)(uintptr_t)from);
    qsm_peer *executor = qsm_peer_find(engine, from);
    if (executor != NULL && estate->state >= ESTATE_EXCHANGING &&
        !was_told(estate, from_region, from))
        tell_executor(estate, from_region, executor);
    look(estate);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Adds a packet to the dead sender's stream, here and everywhere in the region. */
static bool append(qsm_estate *estate, qsm_stream *stream, qsm_data *data, const uint8_t *sealed) {
    qsm_engine *engine = estate->region->engine;
    qsm_buffer *buffer = qsm_pool_take(&engine->pool, QSM_SMALL_BUFFER_BYTES);
    if (buffer == NULL) return false;
    data->sender = estate->sender;
    data->region_count = 1;
    data->regions[0] = (qsm_region_header){
        .region = estate->region->uid, .sequence = estate->high + 1, .stable = stream->stable};
    uint32_t bytes = qsm_data_write(&engine->keys, buffer->data, engine->config.datagram_bytes_max,
                                    data, sealed);
    if (bytes > 0) {
        qsm_slice packet = {.buffer = buffer, .bytes = bytes};
        qsm_header header = {.kind = QSM_KIND_DATA,
                             .front_bytes = (uint16_t)(buffer->data[2] | buffer->data[3] << 8),
                             .sender = estate->sender};
        qsm_data written;
        bool read = qsm_data_read(&header, buffer->data, bytes, &written);
        assert(read);
        (void)read;
        estate->high++;
        qsm_stream_receive(stream, estate->high, stream->stable, &packet, &written, false);
        qsm_region_multicast(estate->region, QSM_CLASS_DATA, &packet);
    }
    qsm_buffer_release(buffer);
    return bytes > 0;
}

static bool stream_has(qsm_stream *stream, const qsm_message *wanted) {
    for (uint64_t s = stream->base; s <= stream->high; s++) {
        const qsm_slice *packet = qsm_stream_packet(stream, s);
        if (packet == NULL) continue;
        const uint8_t *bytes = qsm_slice_data(packet);
        qsm_header header = {.kind = QSM_KIND_DATA,
                             .front_bytes = (uint16_t)(bytes[2] | bytes[3] << 8),
                             .sender = stream->sender};
        qsm_data data;
        if (!qsm_data_read(&header, bytes, packet->bytes, &data)) continue;
        for (uint32_t i = 0; i < data.message_count; i++)
            if (data.messages[i].group == wanted->group &&
                data.messages[i].number == wanted->number)
                return true;
    }
    return false;
}

static void settle(qsm_estate *estate, qsm_stream *stream) {
    qsm_engine *engine = estate->region->engine;
    /* A sender that had counted this side out may have claimed more as stable than anybody here
     * has. */
    if (stream->stable > estate->high) estate->high = stream->stable;
    while (estate->offers != NULL) {
        offered *offer = estate->offers;
        if (!QSM_BUG(9) && !stream_has(stream, &offer->message)) {
            qsm_data data = {.flags = QSM_DATA_ESTATE, .message_count = 1};
            data.messages[0] = offer->message;
            if (!append(estate, stream, &data, offer->message.sealed))
                return; /* looked at again by the alarm */
            qsm_count(engine, QSM_COUNT_estate_messages);
        }
        estate->offers = offer->next;
        free(offer);
    }
    /* Also when nobody has anything: members may have heard that there was something. */
    qsm_data last = {.flags = QSM_DATA_ESTATE | QSM_DATA_FIN};
    for (uint64_t s = stream->contiguous + 1; s <= estate->high; s++) {
        qsm_slot *slot = qsm_stream_slot(stream, s);
        if (slot != NULL && slot->state != QSM_SLOT_MISSING && slot->state != QSM_SLOT_HOLE)
            continue;
        qsm_range *range = last.hole_count ? &last.holes[last.hole_count - 1] : NULL;
        if (range != NULL && range->last + 1 == s) {
            range->last = s;
        } else {
            if (last.hole_count == QSM_RANGES_MAX) break;
            last.holes[last.hole_count++] = (qsm_range){.first = s, .last = s};
        }
    }
    if (!append(estate, stream, &last, NULL)) return;
    estate->state = ESTATE_SETTLED;
    qsm_count(engine, QSM_COUNT_orphans_resolved);
    qsm_note(engine, QSM_TRACE_orphan_settled, estate->sender, estate->high);
    qsm_rings_wake(estate->region, engine->now_ns);
}

/* Takes the estate as far as it can go. */
static void look(qsm_estate *estate) {
    qsm_region *region = estate->region;
    qsm_engine *engine = region->engine;
    qsm_stream *stream = qsm_stream_find(region, estate->sender);
    if (stream == NULL || !executes(region) || estate->looking) return;
    estate->looking = true; /* appending packets leads back here */
    if (estate->state == ESTATE_ASKING && all_answered(estate)) estate->state = ESTATE_FETCHING;
    if (estate->state == ESTATE_FETCHING && is_complete(estate, stream)) {
        estate->state = ESTATE_EXCHANGING;
        estate->exchange_by_ns = engine->now_ns + EXCHANGE_FAILURES * engine->config.failure_ns;
    }
    if (estate->state == ESTATE_EXCHANGING &&
        (exchange_is_done(estate) || engine->now_ns >= estate->exchange_by_ns))
        settle(estate, stream);
    estate->looking = false;
    if (estate->state == ESTATE_SETTLED) qsm_region_check_drained(region);
}

static void on_estate_alarm(void *context, uint64_t now_ns) {
    qsm_estate *estate = context;
    qsm_engine *engine = estate->region->engine;
    if (estate->state == ESTATE_SETTLED && telling_is_done(estate)) {
        qsm_region_check_drained(estate->region);
        return;
    }
    qsm_alarm_set(&engine->alarms, &estate->alarm, now_ns + ASK_AGAIN_NS);
    if (!executes(estate->region) || engine->client.suspended) return;
    if (estate->state == ESTATE_ASKING) ask_members(estate);
    look(estate);
}

void qsm_orphan_progress(qsm_stream *stream) {
    qsm_region *region = stream->region;
    qsm_estate *estate = qsm_table_get(&region->orphans.estates, stream->sender);
    if (estate != NULL) look(estate);
    if (qsm_stream_is_finished(stream)) qsm_region_check_drained(region);
}

void qsm_orphans_membership_changed(qsm_region *region) {
    uint32_t cursor = 0;
    if (!executes(region)) return;
    /* Somebody else may have been at it and died: whatever is open is this node's now. What the
     * dead said they had is gone with them, so the others are asked again. */
    for (qsm_stream *stream; (stream = qsm_table_next(&region->streams, &cursor)) != NULL;) {
        if (!stream->orphan || qsm_stream_is_finished(stream)) continue;
        qsm_estate *estate = qsm_table_get(&region->orphans.estates, stream->sender);
        if (estate == NULL)
            estate = estate_of(region, stream->sender);
        else if (estate->state <= ESTATE_FETCHING)
            ask_again(estate, stream);
        if (estate != NULL) look(estate);
    }
}
