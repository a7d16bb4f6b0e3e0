/*
 * limits.h - every bound of the engine in one place, so that a reader can add up what it may ever
 * use.
 */
#ifndef QSM_CORE_LIMITS_H
#define QSM_CORE_LIMITS_H

#define QSM_SMALL_BUFFER_BYTES 1536u  /* one datagram */
#define QSM_MEDIUM_BUFFER_BYTES 9216u /* some, or one with more messages where paths carry it */
#define QSM_HALF_BUFFER_BYTES 32768u
#define QSM_LARGE_BUFFER_BYTES                                                                     \
    65508u /* the most that a datagram or a receive-offload batch has                              \
            */
#define QSM_FREE_BUFFERS_MAX                                                                       \
    4096u /* small buffers kept for reuse; a quarter of that medium and large ones                 \
           */

#define QSM_DATAGRAM_BYTES_MIN 576u
#define QSM_SAFE_BYTES 1200u /* that every path carries: control packets are not longer */
#define QSM_TORN_MAX 64u     /* packets of which some parts have come */
#define QSM_TORN_BYTES_MAX QSM_MEDIUM_BUFFER_BYTES /* longer ones are not cut */
#define QSM_RING_SIZE_MIN 2u
#define QSM_RING_SIZE_MAX 16u
#define QSM_RING_LEVELS_MAX                                                                        \
    8u /* 2^8 > any region with rings of two is not needed: see region.c                           \
        */
#define QSM_REGION_MEMBERS_MAX 16384u
#define QSM_REGION_HEADERS_MAX 16u    /* regions named in one hybrid packet */
#define QSM_PACKET_MESSAGES_MAX 64u   /* seals in one datagram, each of a message or of a run */
#define QSM_PACKED_MESSAGES_MAX 1024u /* messages in one datagram, alone and in runs */
#define QSM_FILL_BYTES_MAX                                                                         \
    (384u << 10) /* of messages packed before they are sent: while the first is in the cache */
#define QSM_TOKEN_RECORDS_MAX 24u /* active senders in one token packet; the rest take turns */
#define QSM_TOKEN_GAPS_MAX 4u     /* ranges that a node shows its successor, per sender */
#define QSM_TOKEN_PUSHED_MAX 64u  /* packets in those ranges */
#define QSM_RANGES_MAX 64u        /* ranges in one repair request or estate report */

#define QSM_STREAM_CHUNK_SLOTS 512u /* packets of one sender that are made room for at once */
#define QSM_STREAM_CHUNKS 128u
#define QSM_STREAM_SLOTS_MAX (QSM_STREAM_CHUNK_SLOTS * QSM_STREAM_CHUNKS) /* held at once */
#define QSM_CACHERS_MIN                                                                            \
    3u /* members beside the sender that keep a packet before the others let go of it: with fewer, \
          a few deaths at once would take it from those who lack it */
#define QSM_REPAIRS_ASKED_MAX 1024u /* packets asked for in one go by one stream */
#define QSM_REPAIRS_WHEN_FULL                                                                      \
    64u                            /* packets next in order that are taken although memory is full \
                                    */
#define QSM_REPAIR_QUEUE_MAX 1024u /* runs of packets that others may have waiting here */
#define QSM_PARKED_MESSAGES_MAX 65536u /* messages waiting for an earlier one of their sender */
#define QSM_ESTATE_OFFERS_MAX 65536u   /* messages of one dead sender offered by other regions */
#define QSM_ESTATE_SISTERS_MAX                                                                     \
    16384u                    /* regions whose executors speak with one about a dead sender */
#define QSM_EVENTS_MAX 65536u /* events not yet fetched; deliveries stop before */

#define QSM_LINK_WINDOW 64u            /* unacknowledged packets of a control link */
#define QSM_LINK_BYTES_MAX (64u << 20) /* queued on one control link, then it is given up */
#define QSM_CONTROL_MESSAGE_BYTES_MAX                                                              \
    (16u << 20) /* one control message, e.g. the first view of a joiner */

#define QSM_CLIENTS_MAX 16384u /* nodes of one scope */
#define QSM_UNHEARD_MAX 256u   /* nodes that another says it does not hear; more are as all */
#define QSM_CALL_PAUSE_MS_MAX 1000000u /* between two calls of a node: 16384 nodes, 50 ms each */
#define QSM_APPLICANTS_MAX 64u         /* nodes whose request for admission is still arriving */
#define QSM_GROUPS_PER_NODE_MAX 131072u
#define QSM_SUCCESSORS_MAX 8u        /* nodes told to all as next in line for hosting */
#define QSM_EVICTED_MAX 4096u        /* ids remembered as put out */
#define QSM_DEATHS_KEPT 4u           /* deaths remembered of each of them */
#define QSM_DEATHS_RETOLD 64u        /* last ones that a host tells those who come after */
#define QSM_DIRECTORIES_MAX 8u       /* epochs whose regions may still be draining */
#define QSM_LEGACIES_MAX 16u         /* earlier hosts whose members a host takes over */
#define QSM_LEGACY_REGIONS_MAX 4096u /* and regions of theirs, at a time */
#define QSM_PAST_VIEWS 64u           /* views of a group that a member remembers having been in */
#define QSM_PLAN_BYTES_MAX (16u << 20)

#endif
