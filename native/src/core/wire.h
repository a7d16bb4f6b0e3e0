/*
 * wire.h - packet formats. wire.c (headers), wire_data.c and wire_control.c alone touch raw bytes
 * of the network: every kind of packet has one function that reads and checks it and one that
 * writes it; the rest of the engine sees checked structs.
 *
 * Every packet begins with this header; numbers are little endian:
 *
 *     0  u8   version
 *     1  u8   kind
 *     2  u16  front: bytes from 0 on that the tag covers; all of the packet unless it is data
 *     4  u32  counter: grows with each control packet of its sender, against replay; in data the
 *             side of its maker
 *     8  u64  sender: id of the node that made the packet
 *    16  tag  16 bytes, under the scope's key
 *    32  body
 *
 * A side is the host that somebody follows, by the tag of its regions. Nodes that follow different
 * hosts (after a partition, or while one takes over) differ in whom they count as alive; what one
 * says of stability means nothing to the other.
 *
 * Of those who follow one host, some have heard of a death before others. What rests on it (that
 * everybody else has a packet; how a dead sender's stream ends) names the batch that told of it, as
 * a count of the host's batches, and is believed by those who have applied that batch. For the
 * others may yet go over to another host together with the one who was counted out: if they had let
 * go of what it lacks, nobody could give it any more.
 *
 * A data packet's body: region headers, message table, estate holes (all covered by the packet's
 * tag), then the sealed messages (covered by the tags in the table). Its sender is the node whose
 * stream it belongs to; any member may pass it on as it is, which is all that a repair is.
 *
 * A part of a data packet: u16 length of the whole packet, u16 offset of this part in it, bytes.
 * Its counter names the packet among those that its sender has cut; its sender is whoever cut it.
 *
 * Messages of one group that follow each other are one entry of the table, a run, sealed as one:
 * what takes longest of sealing and opening short messages is to begin and to end. Each has its
 * length (u16) before it, under the seal, so that only who has the group's key can part them.
 */
#ifndef QSM_CORE_WIRE_H
#define QSM_CORE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/cursor.h"
#include "core/limits.h"
#include "core/seal.h"
#include "qsm.h"

#define QSM_WIRE_VERSION 7u
#define QSM_HEADER_BYTES 32u
#define QSM_REGION_HEADER_BYTES 24u
#define QSM_MESSAGE_HEADER_BYTES 40u
#define QSM_MESSAGE_FIRST_BYTES 8u /* more, for a sender's first message in a view */
#define QSM_MESSAGE_RUN_BYTES 2u   /* more, for a run: how many messages it has */
#define QSM_RUN_LENGTH_BYTES 2u    /* in front of each message of a run, sealed with it */
#define QSM_DATA_FIXED_BYTES 8u
#define QSM_ADDRESS_BYTES 20u
#define QSM_RANGE_BYTES 12u

enum qsm_kind {
    QSM_KIND_DATA = 1,
    QSM_KIND_STATUS = 2,    /* a sender on its stream: how far it goes, what is stable */
    QSM_KIND_PULL = 3,      /* please send me these packets; or: I do not have them */
    QSM_KIND_TOKEN = 4,     /* goes round a ring */
    QSM_KIND_TOKEN_ACK = 5, /* the token has arrived */
    QSM_KIND_ACK = 6,       /* a region to a sender: everybody has all up to here */
    QSM_KIND_NUDGE = 7,     /* to a ring leader: I know of a stream that wants a token */
    QSM_KIND_SOLICIT = 8,   /* who hosts this scope? */
    QSM_KIND_OFFER = 9,     /* I do, or I know who */
    QSM_KIND_BEACON = 10,   /* I do; to all, now and then */
    QSM_KIND_LINK = 11,     /* a packet of a reliable control link */
    QSM_KIND_PING = 12,     /* sign of life to the host */
    QSM_KIND_PONG = 13,
    QSM_KIND_EVICTED = 14,       /* you are not in the roster (any more) */
    QSM_KIND_ORPHAN_QUERY = 15,  /* executor to members: what do you have of a dead sender's stream?
                                  */
    QSM_KIND_ORPHAN_REPORT = 16, /* the answer */
    QSM_KIND_CALL = 17,          /* by multicast only: whoever gets it hears its sender */
    QSM_KIND_PART = 18,          /* of a data packet that is longer than its path carries */
    QSM_KIND_PROBE = 19,         /* does a datagram of this length arrive? */
    QSM_KIND_PROBE_ANSWER = 20,  /* it does */
    QSM_KIND_COUNT = 21
};

/* ---- header ---------------------------------------------------------------------------------- */

typedef struct {
    uint8_t kind;
    uint16_t front_bytes;
    uint32_t counter;
    uint64_t sender;
} qsm_header;

/* False for a packet that is too short, of another version or kind, or whose tag is not of this
 * scope. This is the first thing that happens to a datagram; nothing else has been read by then. */
bool qsm_header_open(const qsm_scope_keys *keys, const uint8_t *packet, uint32_t bytes,
                     qsm_header *header);
/* The same in two steps, for those who make several tags at once: the bytes that the tag covers (0:
 * not even the length makes sense), then the rest, given the tag that a genuine packet has. */
uint32_t qsm_header_front(const uint8_t *packet, uint32_t bytes);
bool qsm_header_open_tagged(const qsm_scope_keys *keys, const uint8_t *packet, uint32_t front,
                            const uint8_t tag[16], qsm_header *header);
/* Gives a packet that was kept the tag of the key in use, if that has changed since. */
void qsm_packet_renew_tag(const qsm_scope_keys *keys, uint8_t *packet);
/* Says in a data packet that was kept that it is sent again, and gives it a new tag. */
void qsm_packet_mark_again(const qsm_scope_keys *keys, uint8_t *packet);
/* Begins a packet of that kind in `packet`; the body is written through the returned writer. */
qsm_writer qsm_header_begin(uint8_t *packet, uint32_t bytes_max, uint8_t kind, uint64_t sender,
                            uint32_t counter);
/* Fills in the front length and the tag; returns the length so far. */
uint32_t qsm_header_finish(const qsm_scope_keys *keys, qsm_writer *writer);

/* ---- ranges ---------------------------------------------------------------------------------- */

typedef struct {
    uint64_t first, last;
} qsm_range;

/* Fails unless they ascend, do not touch and none is empty: so their number bounds the work they
 * can cause. */
void qsm_read_ranges(qsm_reader *reader, qsm_range *ranges, uint32_t count, uint32_t count_max);
void qsm_write_ranges(qsm_writer *writer, const qsm_range *ranges, uint32_t count);

/* Ranges that a packet of at most so many bytes has room for, beside its header and `others`. */
static inline uint32_t qsm_ranges_fit(uint32_t bytes_max, uint32_t others) {
    uint32_t fit = (bytes_max - QSM_HEADER_BYTES - others) / QSM_RANGE_BYTES;
    return fit < QSM_RANGES_MAX ? fit : QSM_RANGES_MAX;
}

/* ---- data ------------------------------------------------------------------------------------ */

enum qsm_data_flag {
    QSM_DATA_FIN = 1,    /* last packet of its streams */
    QSM_DATA_ESTATE = 2, /* made by an executor for a dead sender */
    QSM_DATA_AGAIN = 4   /* its sender sends it for another time: it is not late, but repaired */
};

enum qsm_message_flag {
    QSM_MESSAGE_FIRST = 1,     /* the sender's first in this view of the group */
    QSM_MESSAGE_MORE = 2,      /* the next number goes on with this message */
    QSM_MESSAGE_CONTINUES = 4, /* goes on with the number before */
    QSM_MESSAGE_WIDE = 8,      /* its group spans several regions */
    QSM_MESSAGE_AES = 16,      /* sealed with AEGIS-128X2, else with XChaCha20-Poly1305 */
    QSM_MESSAGE_RUN = 32       /* several that follow each other: AES, and none of the others */
};

typedef struct {
    uint64_t region;
    uint64_t sequence;
    uint64_t stable; /* everybody concerned has all up to here */
} qsm_region_header;

typedef struct {
    uint32_t group;    /* handle, in the directory of the region's epoch */
    uint64_t view;     /* number of the group view in which it was sent */
    uint64_t number;   /* of this sender in this group; the upper 24 bits change when it joins anew;
                          of a run the first */
    uint64_t previous; /* FIRST: view of the sender's message before this one, 0: there was none */
    uint16_t bytes;
    uint16_t count; /* messages with numbers from that one on; more than one only in a run */
    uint8_t flags;
    uint8_t epoch; /* of the key that it is sealed under, last eight bits */
    const uint8_t *tag;
    const uint8_t *sealed;
} qsm_message;

typedef struct {
    uint64_t sender;
    uint32_t side;  /* of whoever made the packet */
    uint32_t batch; /* that what it says of stability, or of a dead sender, rests on */
    uint8_t flags;
    uint8_t region_count;
    uint8_t message_count;
    uint8_t hole_count; /* of an estate's last packets: sequences that nobody has */
    qsm_region_header regions[QSM_REGION_HEADERS_MAX];
    qsm_message messages[QSM_PACKET_MESSAGES_MAX];
    qsm_range holes[QSM_RANGES_MAX];
} qsm_data;

bool qsm_data_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes, qsm_data *data);
/* Reads a data packet that has been read or written here before. */
bool qsm_data_reread(const qsm_slice *packet, qsm_data *data);
/* Writes a whole data packet. `sealed` has the sealed messages one after the other, in the order of
 * the table; it may lie in `packet` itself. The tags must not. Returns the packet's length, 0 when
 * it does not fit. Without keys the packet's own tag is left for later. */
uint32_t qsm_data_write(const qsm_scope_keys *keys, uint8_t *packet, uint32_t bytes_max,
                        const qsm_data *data, const uint8_t *sealed);
void qsm_packet_set_tag(uint8_t *packet, const uint8_t tag[16]);
/* Bytes in front of the sealed messages. */
uint32_t qsm_data_front_bytes(const qsm_data *data);

/* ---- control --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t region;
    uint64_t high; /* last sequence used */
    uint64_t stable;
    uint32_t batch; /* that `stable` rests on */
    bool fin;       /* high is the last of the stream */
} qsm_status;

enum qsm_pull_meaning {
    QSM_PULL_ASKS = 0,
    QSM_PULL_ASKS_LAST = 1, /* the same, to the sender: those who should cache it do not have it */
    QSM_PULL_ABSENT = 2,    /* the answer: these are not here, ask elsewhere */
    QSM_PULL_MEANINGS = 3
};

typedef struct {
    uint64_t region;
    uint64_t stream; /* sender id */
    uint8_t meaning; /* enum qsm_pull_meaning */
    uint8_t range_count;
    qsm_range ranges[QSM_RANGES_MAX];
} qsm_pull;

typedef struct {
    uint64_t stream;
    uint64_t low;    /* least contiguous prefix of those who have added theirs */
    uint64_t cached; /* least prefix complete at those who cache it */
    uint64_t cut;    /* region-wide `cached` of an earlier round, on its way down */
    uint64_t high;   /* greatest sequence known to anybody */
    uint64_t stable; /* greatest claim of the sender known to anybody */
    uint16_t lost;   /* greatest number of packets that one member lost since the last round */
    uint16_t participants; /* bit i: the ring's i-th member has added its part */
    uint8_t gap_count;     /* of the node that sent the token on */
    qsm_range gaps[QSM_TOKEN_GAPS_MAX];
} qsm_token_record;

typedef struct {
    uint64_t region;
    uint8_t level;
    uint16_t ring;   /* index of the ring within its level */
    uint64_t origin; /* leader that launched it */
    uint32_t round;
    uint32_t batch; /* the latest that somebody who has added its part has applied */
    bool reverse;   /* goes round the other way, past a link that does not work */
    bool aes;       /* all who have added their part can open messages sealed with AES */
    uint8_t record_count;
    qsm_token_record records[QSM_TOKEN_RECORDS_MAX];
} qsm_token;

typedef struct {
    uint64_t region;
    uint8_t level;
    uint16_t ring;
    uint64_t origin;
    uint32_t round;
} qsm_token_ack;

typedef struct {
    uint64_t region;
    uint64_t stream; /* id of its sender, which may have another one by now */
    uint64_t low;
    uint32_t batch; /* that this rests on */
    uint16_t lost;
    bool aes; /* everybody in the region can open messages sealed with AES */
} qsm_ack;

typedef struct {
    uint64_t region;
    uint64_t stream;
    uint64_t high;
} qsm_nudge;

typedef struct {
    uint8_t nonce[16];
    qsm_address address; /* of the asker */
    bool multicast;      /* this copy was sent by multicast */
} qsm_solicit;

typedef struct {
    uint64_t term;
    uint64_t host;
} qsm_epoch; /* ordered by term, then host */

typedef struct {
    uint8_t nonce[16]; /* of the solicitation */
    qsm_epoch epoch;
    qsm_address address; /* of the host */
    uint8_t cookie[16];  /* to show when joining; zero when the host itself must be asked */
    bool insists;        /* as in its beacon */
    uint8_t take_overs;  /* by hosts that insisted, which this one remembers */
} qsm_offer;

typedef struct {
    qsm_epoch epoch;
    qsm_address address;
    uint32_t members;
    bool multicast; /* this copy was sent by multicast: whoever gets it can hear it */
    bool insists;   /* the host wants to replace whoever hosts, although it may be alone */
    bool stays;     /* the host does not give way to one that insists: too many have, lately */
} qsm_beacon;

typedef struct {
    uint64_t receiver; /* id of the other end: links do not outlive an id */
    uint32_t stream;   /* names what the sender sends since it made its end of the link */
    uint32_t acknowledged_stream; /* what the acknowledgement is about */
    uint32_t sequence;            /* from 1; 0: acknowledgement only */
    uint32_t acknowledged;        /* all up to here has arrived */
    uint64_t selective;           /* bit i: acknowledged + 2 + i has arrived, too */
    bool last;                    /* the message ends with this packet */
    const uint8_t *payload;
    uint32_t payload_bytes;
} qsm_link_packet;

typedef struct {
    uint64_t nonce;
    qsm_epoch epoch;         /* of the host that the sender follows, or is */
    uint64_t applied;        /* last batch applied (ping), last batch made (pong) */
    uint32_t members;        /* pong only: nodes of the scope */
    uint8_t successor_count; /* pong only */
    uint64_t successors[QSM_SUCCESSORS_MAX];
} qsm_ping;

typedef struct {
    uint32_t pause_ms; /* the next one comes by then */
} qsm_call;

typedef struct {
    uint32_t nonce;
    uint16_t bytes; /* of the whole probe, which is padded to that */
} qsm_probe;

typedef struct {
    uint64_t node;  /* who has been put out */
    uint64_t nonce; /* of the ping that is answered, 0 if none */
    qsm_epoch epoch;
    uint8_t reason;
} qsm_evicted;

typedef struct {
    uint64_t region;
    uint64_t stream;
    uint32_t attempt; /* of the executor, echoed */
    uint64_t from;    /* first sequence of interest: what is before the executor has, or was told */
    uint32_t batch;   /* who has not applied it does not answer */
} qsm_orphan_query;

typedef struct {
    uint64_t region;
    uint64_t stream;
    uint32_t attempt;
    uint64_t stable;
    uint32_t batch; /* that `stable` rests on */
    uint8_t range_count;
    qsm_range ranges[QSM_RANGES_MAX]; /* what the member has or had, above stable */
    bool truncated;
} qsm_orphan_report;

typedef struct {
    union {
        qsm_status status;
        qsm_pull pull;
        qsm_token token;
        qsm_token_ack token_ack;
        qsm_ack ack;
        qsm_nudge nudge;
        qsm_solicit solicit;
        qsm_offer offer;
        qsm_beacon beacon;
        qsm_link_packet link;
        qsm_ping ping;
        qsm_evicted evicted;
        qsm_call call;
        qsm_probe probe;
        qsm_orphan_query orphan_query;
        qsm_orphan_report orphan_report;
    };
    uint32_t side; /* of the sender, in packets about a region; set by qsm_post_control */
} qsm_control;

/* Reads and checks the body of a control packet; false when anything is out of bounds or left over.
 */
bool qsm_control_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes,
                      qsm_control *control);
/* Writes a whole control packet, tag included; returns its length, 0 when it does not fit. Answers
 * to nodes that may be strangers are never longer than what they answer: solicitations and pings
 * are padded to that end. */
uint32_t qsm_control_write(const qsm_scope_keys *keys, uint8_t kind, uint64_t sender,
                           uint32_t counter, const qsm_control *control, uint8_t *packet,
                           uint32_t bytes_max);

static inline int qsm_epoch_compare(const qsm_epoch *a, const qsm_epoch *b) {
    if (a->term != b->term) return a->term < b->term ? -1 : 1;
    if (a->host != b->host) return a->host < b->host ? -1 : 1;
    return 0;
}

#endif
