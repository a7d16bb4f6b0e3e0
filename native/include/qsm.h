/*
 * qsm.h - the whole public interface of the multicast engine.
 *
 * Three things are declared here:
 *   1. The core (qsm_engine, qsm_group): the protocol, without any input or output. It is given
 *      datagrams, the time and a random seed, and it gives back datagrams, events and the time at
 *      which it wants to be called again. It never calls the system.
 *   2. The UDP driver (qsm_udp): sockets and a clock around one core, stepped by somebody's event
 * loop.
 *   3. The simulator (qsm_sim): many cores on a virtual network and a virtual clock, from one seed.
 *
 * Everything is single-threaded: an engine and what it gives out belong to the thread that steps
 * it. Times are nanoseconds of a monotonic clock (`now_ns`). Functions return QSM_OK (0), a
 * positive count, or one of the negative QSM_ERR codes; qsm_error_text() has a sentence for each.
 * Nothing that arrives in a datagram is ever an error of a call: bad datagrams are counted and
 * dropped.
 */
#ifndef QSM_H
#define QSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */

/* ---- bounds ---------------------------------------------------------------------------------- */

#define QSM_GROUP_ID_BYTES 16
#define QSM_KEY_BYTES 32
/* The largest application message; larger content goes by stream or is split by the application. */
#define QSM_MESSAGE_BYTES_MAX 60000
/* The largest datagram that the engine makes or accepts; and the largest with messages in it, for
 * paths that are known to carry more than Ethernet does. */
#define QSM_DATAGRAM_BYTES_MAX 1472
#define QSM_DATA_BYTES_MAX 65000
/* A group's queue for qsm_group_send, in messages. */
#define QSM_SEND_QUEUE_MAX 1024
/* Keys of one group, and of the scope, that are held at the same time. */
#define QSM_GROUP_KEYS_MAX 4
#define QSM_SCOPE_KEYS_MAX 4

/* ---- results --------------------------------------------------------------------------------- */

enum qsm_result {
    QSM_OK = 0,
    QSM_ERR_ARGUMENT = -1,  /* the caller passed something that the function forbids */
    QSM_ERR_NO_MEMORY = -2, /* the allocator refused; nothing was changed */
    QSM_ERR_FULL = -3, /* a bounded queue is full: back-pressure, try after QSM_EVENT_WRITABLE */
    QSM_ERR_NOT_FOUND = -4,     /* no such group, node or file */
    QSM_ERR_EXISTS = -5,        /* the group has been joined already */
    QSM_ERR_TOO_LARGE = -6,     /* longer than QSM_MESSAGE_BYTES_MAX */
    QSM_ERR_CLOSED = -7,        /* the engine or group has been closed */
    QSM_ERR_PORT_IN_USE = -8,   /* another program holds the port */
    QSM_ERR_NO_INTERFACE = -9,  /* no interface of that name or address, or it is down */
    QSM_ERR_NO_MULTICAST = -10, /* the interface cannot send or receive multicast */
    QSM_ERR_PERMISSION = -11,   /* the system refused the socket */
    QSM_ERR_SYSTEM = -12,       /* another error of the system; qsm_udp_open's text says which */
    QSM_ERR_PLAN = -13          /* a region plan is malformed */
};

/* One English sentence for a result code; never NULL. */
const char *qsm_error_text(int result);

/* ---- addresses ------------------------------------------------------------------------------- */

enum qsm_family {
    QSM_FAMILY_NONE = 0,
    QSM_FAMILY_SIM = 1,
    QSM_FAMILY_IPV4 = 4,
    QSM_FAMILY_IPV6 = 6
};

/* Where a datagram goes to or comes from. Comparable byte by byte: unused bytes are zero. */
typedef struct qsm_address {
    uint8_t family;    /* enum qsm_family */
    uint8_t multicast; /* 1 for a multicast address */
    uint16_t port;     /* host byte order; 0 in the simulator */
    uint8_t bytes[16]; /* IPv4 in the first four; in the simulator the node or group index, big
                          endian */
} qsm_address;

/* ---- configuration --------------------------------------------------------------------------- */

/* The region policies, a line each: X(NAME, name) is QSM_POLICY_NAME, run by the function
 * qsm_policy_name of src/membership/policy_name.c. All else is derived from this list. A policy's
 * number is its place, from 0; new ones go to the end, because programs and scripts know the
 * numbers. */
#define QSM_POLICIES(X)                                                                            \
    X(EXACT, exact)         /* one region for each distinct set of groups (thesis 4.1.2) */        \
    X(SIMILAR, similar)     /* nodes with similar interest share a region; with hysteresis */      \
    X(HIERARCHY, hierarchy) /* groups decomposed into perfect hierarchies (thesis 4.1.2) */        \
    X(PLAN, plan)           /* regions taken from a plan, qsm_engine_set_plan */                   \
    /* A new policy goes above this line. */

#define QSM_POLICY_NUMBER(NAME, name) QSM_POLICY_##NAME,
enum qsm_policy { QSM_POLICIES(QSM_POLICY_NUMBER) };
#undef QSM_POLICY_NUMBER

/* Whether an engine hosts the membership service. */
enum qsm_may_host {
    QSM_HOST_NEVER = 0,
    QSM_HOST_MAY = 1,    /* when nobody else does */
    QSM_HOST_INSISTS = 2 /* once it has started, in place of whoever hosts then; the latest wins,
                            unless two others have insisted within the last minute */
};

/* Zero-initialise with qsm_config_defaults, then set what differs. All engines of a scope must
 * agree on scope_id and scope_key; times and policies count where the membership service is hosted.
 */
typedef struct qsm_config {
    uint8_t scope_id[QSM_GROUP_ID_BYTES]; /* names the scope; packets of other scopes are dropped */
    uint8_t scope_key[QSM_KEY_BYTES];     /* authenticates every packet of the scope */
    uint8_t random_seed[32];              /* all randomness of this engine comes from it */
    qsm_address self;                     /* where unicast reaches this engine */
    qsm_address rendezvous;     /* multicast address of the scope; family NONE: no multicast */
    qsm_address known_peers[8]; /* engines to ask for the scope besides the rendezvous */
    uint32_t known_peer_count;
    uint32_t datagram_bytes_max; /* path MTU less IP and UDP headers, 576..QSM_DATAGRAM_BYTES_MAX */
    uint32_t data_bytes_max;     /* the same for datagrams with messages in them, at most
                                    QSM_DATA_BYTES_MAX; 0: no more than for others, but the most on
                                    UDP within one machine */
    uint32_t window_bytes_max;   /* unacknowledged bytes a sender may have in one region */
    uint32_t receive_bytes_max;  /* bytes of received packets that may be held in all regions */
    uint32_t rate_bytes_per_s_max; /* ceiling of the sending rate, 0: none */
    uint32_t ring_size_max;        /* members of a token ring, 2..16 */
    uint32_t policy;               /* enum qsm_policy */
    uint32_t similar_percent;      /* SIMILAR: least overlap of interests in a region, 1..100 */
    uint32_t region_size_min;      /* SIMILAR, HIERARCHY: smaller regions are merged or avoided */
    uint8_t may_host;              /* enum qsm_may_host */
    uint8_t coupled_tokens;        /* 1: the papers' coupled levels instead of one clock a level */
    uint8_t cache_everywhere;      /* 1: every node caches, instead of one partition a message */
    uint8_t hybrid_regions_min; /* groups over at least so many regions get an own address; 0: off
                                 */
    uint8_t no_aes;             /* 1: as on a processor without AES; its regions use XChaCha20 */
    uint64_t heartbeat_ns;      /* between signs of life of a node to the membership service */
    uint64_t failure_ns;        /* silence after which a node is put out of its views */
    uint64_t batch_ns;          /* membership changes are collected that long */
    uint64_t token_ns;          /* between token rounds of a ring while there is work */
    uint64_t lag_ns_max;        /* a member this far behind is put out as too slow */
} qsm_config;

void qsm_config_defaults(qsm_config *config);

/* ---- the core -------------------------------------------------------------------------------- */

typedef struct qsm_engine qsm_engine;
typedef struct qsm_group qsm_group;
typedef struct qsm_buffer qsm_buffer;

/* What an engine is doing, as told by QSM_EVENT_HEALTH and qsm_engine_health(). */
enum qsm_health {
    QSM_HEALTH_SEARCHING = 0, /* looking for the scope's membership service */
    QSM_HEALTH_JOINING = 1,   /* found it, being admitted */
    QSM_HEALTH_MEMBER = 2,    /* admitted; another node hosts the service */
    QSM_HEALTH_HOST = 3,      /* admitted; this engine hosts the service */
    QSM_HEALTH_SUSPENDED = 4, /* was out of touch; sends and delivers nothing until it is confirmed
                               */
    QSM_HEALTH_CLOSED = 5
};

/* Why a membership state changed; `reason` of QSM_EVENT_HEALTH. qsm_reason_text() has sentences. */
enum qsm_reason {
    QSM_REASON_NONE = 0,
    QSM_REASON_STARTED = 1,
    QSM_REASON_FOUND_HOST = 2,
    QSM_REASON_NOBODY_ANSWERED = 3,
    QSM_REASON_ADMITTED = 4,
    QSM_REASON_HOST_SILENT = 5,
    QSM_REASON_HOST_MERGED = 6,
    QSM_REASON_EVICTED_SILENT = 7, /* this node had not been heard of for failure_ns */
    QSM_REASON_EVICTED_SLOW = 8,   /* this node could not keep up with its region */
    QSM_REASON_SLEPT = 9, /* this engine was not stepped for so long that others may have gone on */
    QSM_REASON_CLOSING = 10,
    QSM_REASON_RESUMED = 11 /* qsm_engine_renew: this machine may run twice */
};

const char *qsm_reason_text(int reason);
const char *qsm_health_text(int health);

enum qsm_event_type {
    QSM_EVENT_DELIVERY = 1, /* group, sender, view, data, bytes */
    QSM_EVENT_VIEW = 2,     /* group, view, members, member_count: the view now in force */
    QSM_EVENT_HEALTH = 3,   /* health, reason; sender: this engine's node id from now on */
    QSM_EVENT_WRITABLE = 4, /* group: qsm_group_send has room again after QSM_ERR_FULL */
    QSM_EVENT_KEY = 5,      /* group; view: the last eight bits of an epoch whose key is wanted for
                               a message that has come; it waits, see qsm_group_add_key */
    QSM_EVENT_RECEIVED = 6  /* group: the answer to qsm_group_watch */
};

typedef struct qsm_event {
    uint32_t type;           /* enum qsm_event_type */
    uint32_t health;         /* enum qsm_health */
    uint32_t reason;         /* enum qsm_reason */
    uint32_t bytes;          /* length of data */
    qsm_group *group;        /* NULL for QSM_EVENT_HEALTH */
    void *user;              /* as given to qsm_group_join */
    uint64_t sender;         /* node id */
    uint64_t view;           /* number of the view: grows with each view of the group */
    const uint8_t *data;     /* lent until qsm_engine_release */
    const uint64_t *members; /* node ids by seniority; lent until qsm_engine_release */
    uint32_t member_count;
    uint32_t reserved;
} qsm_event;

/* One datagram to send. Lent until qsm_engine_sent. */
typedef struct qsm_datagram {
    qsm_address to;
    const uint8_t *data;
    uint32_t bytes;
    uint32_t priority; /* 0 control, 1 repairs, 2 data */
} qsm_datagram;

/* Makes an engine. `config` is copied. QSM_ERR_ARGUMENT when a field is out of its bounds. */
int qsm_engine_create(const qsm_config *config, uint64_t now_ns, qsm_engine **engine);
/* Frees the engine, its groups and all it has lent. Without qsm_engine_close before, the others see
 * a crash. */
void qsm_engine_destroy(qsm_engine *engine);
/* Begins a clean departure: leaves all groups and tells the membership service. Step on until the
 * health is QSM_HEALTH_CLOSED (at most failure_ns later), then destroy. */
void qsm_engine_close(qsm_engine *engine, uint64_t now_ns);

/* A buffer of `capacity` bytes for the driver to receive into; NULL when the pool is exhausted
 * (then the driver leaves the datagrams in the socket). Give it back with qsm_engine_receive or
 * qsm_buffer_free. */
qsm_buffer *qsm_buffer_new(qsm_engine *engine, uint32_t capacity);
uint8_t *qsm_buffer_data(qsm_buffer *buffer);
void qsm_buffer_free(qsm_buffer *buffer);

/* Takes what was received: `bytes` bytes in `buffer`, one datagram, or several of `segment_bytes`
 * each (the last may be shorter) as receive offload gives them; segment_bytes 0 means one datagram.
 * Checks and sorts them by priority; the work is done by qsm_engine_turn. The buffer is the
 * engine's from here on. */
void qsm_engine_receive(qsm_engine *engine, uint64_t now_ns, const qsm_address *from,
                        qsm_buffer *buffer, uint32_t bytes, uint32_t segment_bytes);
/* Same for a datagram that somebody else owns; it is copied. */
void qsm_engine_receive_copy(qsm_engine *engine, uint64_t now_ns, const qsm_address *from,
                             const uint8_t *data, uint32_t bytes);

/* Does at most `work_max` pieces of work (a datagram handled, an alarm run): received control
 * first, then repairs, then alarms, then data. Returns how many pieces were done; as many as asked:
 * there is more. */
int qsm_engine_turn(qsm_engine *engine, uint64_t now_ns, uint32_t work_max);

/* When the engine wants its next turn or qsm_engine_send, if nothing is received; UINT64_MAX:
 * never. A time that has passed: at once. */
uint64_t qsm_engine_deadline_ns(const qsm_engine *engine);

/* Asks for up to `count_max` datagrams, most urgent first. Messages are made now: feeds are pulled
 * within this call, as far as rate and window allow. The datagrams stay valid until
 * qsm_engine_sent, which must follow and says how many of them (from the first on) the system has
 * taken; the rest is offered again. */
int qsm_engine_send(qsm_engine *engine, uint64_t now_ns, qsm_datagram *datagrams,
                    uint32_t count_max);
void qsm_engine_sent(qsm_engine *engine, uint32_t count);

/* Fetches up to `count_max` events. What they lend stays valid until qsm_engine_release, which
 * frees what all events fetched so far have lent. Not released deliveries count against
 * receive_bytes_max. */
int qsm_engine_events(qsm_engine *engine, qsm_event *events, uint32_t count_max);
void qsm_engine_release(qsm_engine *engine);

/* Multicast addresses that the driver must receive from now. `generation` grows with each change.
 */
int qsm_engine_subscriptions(const qsm_engine *engine, qsm_address *addresses, uint32_t count_max,
                             uint64_t *generation);

/* Grows when the driver is to leave all these addresses and join them again at once: switches that
 * have forgotten who listens are told so. */
uint64_t qsm_engine_renewals(const qsm_engine *engine);

/* Tells of an engine that may be of this scope, found by whatever means besides the engine's own.
 * It is asked or told at once and, if this engine is a member, some more times; from then on it is
 * as one of known_peers, of which the latest eight are kept. An engine's own address and one that
 * is known already are no error. QSM_ERR_ARGUMENT: not a unicast address of this engine's family.
 */
int qsm_engine_add_peer(qsm_engine *engine, const qsm_address *address);

/* Says whether multicast is a burden on this engine's line, as on Wi-Fi, where it goes at the
 * lowest rate. While it is, regions of at most 32 members that this engine sends into or is in fan
 * out by unicast; others are still found by multicast, and larger regions use it. */
void qsm_engine_prefer_unicast(qsm_engine *engine, int prefers);

/* Takes a new id at once and joins all groups under it, as after an eviction; the present id is
 * left without a word. For a machine that goes on from a snapshot: its twin uses the same id, and
 * what both seal under it must not have the same numbers. `seed` is mixed into the engine's
 * randomness, 32 bytes that the twin does not have. Not to be called from a feed. QSM_ERR_CLOSED
 * when the engine is closing. */
int qsm_engine_renew(qsm_engine *engine, const uint8_t *seed);

/* The scope's key changes without a pause in three steps, each done everywhere before the next:
 * packets under the new key are taken for good; packets are made with it; the old one is not taken
 * any more. The scope's id stays. Nobody without the new key hears or is heard after that.
 *
 * Adding a key that is held already is no error. QSM_ERR_FULL: QSM_SCOPE_KEYS_MAX are held. */
int qsm_engine_add_scope_key(qsm_engine *engine, const uint8_t *key);
/* QSM_ERR_NOT_FOUND when it has not been added. */
int qsm_engine_use_scope_key(qsm_engine *engine, const uint8_t *key);
/* QSM_ERR_ARGUMENT for the key in use, QSM_ERR_NOT_FOUND for one that is not held. */
int qsm_engine_drop_scope_key(qsm_engine *engine, const uint8_t *key);

uint64_t qsm_engine_node(const qsm_engine *engine);
int qsm_engine_health(const qsm_engine *engine);

/* ---- groups ---------------------------------------------------------------------------------- */

/* Joins a group. `user` comes back with each event. The first view follows when membership is
 * agreed; what is sent before waits for it. QSM_ERR_EXISTS when joined already. */
int qsm_group_join(qsm_engine *engine, const uint8_t *group_id, const uint8_t *key, void *user,
                   qsm_group **group);
/* Leaves the group; no event of it follows. The handle is invalid from here on. */
void qsm_group_leave(qsm_group *group);

/* Keys of a group change without a pause: every member is given the new one (add), then senders
 * change over to it, each when it likes (use), and when all have, the old one is forgotten (drop).
 * An epoch is the name of a key, the same at all members; the key given to qsm_group_join has epoch
 * 0. A member who joins later, when epoch 5 is in use, joins with that key, adds it as 5, uses 5
 * and drops 0 before it is stepped again.
 *
 * Messages of an epoch that is not known here wait for their key for half of failure_ns, and
 * QSM_EVENT_KEY tells of it; then, and until the key comes, they are passed over as not meant for
 * this node (counted as messages_locked). */

/* Opens messages of that epoch from now on; sending goes on under the key in use. QSM_ERR_EXISTS:
 * the epoch has another key, or one that is held has the same last eight bits; QSM_ERR_FULL:
 * QSM_GROUP_KEYS_MAX are held. */
int qsm_group_add_key(qsm_group *group, uint32_t epoch, const uint8_t *key);
/* Seals what is sent from now on under that key. QSM_ERR_NOT_FOUND when it has not been added. */
int qsm_group_use_key(qsm_group *group, uint32_t epoch);
/* Forgets a key: what is still on its way under it will not be opened. QSM_ERR_ARGUMENT for the key
 * in use. */
int qsm_group_drop_key(qsm_group *group, uint32_t epoch);

/* What a feed gives: `bytes` < 0: nothing (any more). The data must stay until the next call of the
 * engine. */
typedef struct qsm_pulled {
    const uint8_t *data;
    int32_t bytes;
} qsm_pulled;

/* Asked for the next message, at most `bytes_max` long, at the moment when it can be sent. */
typedef void (*qsm_feed)(void *context, uint32_t bytes_max, qsm_pulled *pulled);

/* Registers the intent to send: the feed is pulled until it has nothing, then forgotten until it is
 * offered again. Offering again meanwhile changes nothing. priority 0 (first) .. 2. */
int qsm_group_offer(qsm_group *group, qsm_feed feed, void *context, uint32_t priority);

/* What a feed gives that is asked for several messages at once: their bytes one after the other,
 * and the length of each. Both must stay until the next call of the engine. A count of 0: nothing.
 */
typedef struct qsm_pulled_many {
    const uint8_t *data;
    const uint32_t *bytes;
    uint32_t count;
} qsm_pulled_many;
typedef void (*qsm_feed_many)(void *context, uint32_t bytes_max, uint32_t count_max,
                              qsm_pulled_many *pulled);
/* As qsm_group_offer, for a feed to which a call costs more than a message: it is asked for up to
 * QSM_PULLED_MAX. Those that cannot be sent any more after all wait in the group's queue. */
#define QSM_PULLED_MAX 64
int qsm_group_offer_many(qsm_group *group, qsm_feed_many feed, void *context, uint32_t priority);
/* Queues a copy of one message. QSM_ERR_FULL: wait for QSM_EVENT_WRITABLE. */
int qsm_group_send(qsm_group *group, const uint8_t *data, uint32_t bytes);
/* Messages queued or pulled and not yet received by all members of their view. */
uint32_t qsm_group_unacknowledged(const qsm_group *group);
/* Asks for one QSM_EVENT_RECEIVED: when every other member of the views in which they were sent,
 * who is still there, has received all messages queued or pulled so far; at once when there is
 * nobody else. To ask again replaces the question. It is forgotten when this node gets another id.
 * Not to be called from a feed. */
int qsm_group_watch(qsm_group *group);

/* ---- a look inside --------------------------------------------------------------------------- */

/* Counters are numbered 0 .. qsm_counter_count()-1; the order never changes within a version. */
uint32_t qsm_counter_count(void);
const char *qsm_counter_name(uint32_t index);
/* Copies up to `count_max` counters; returns how many there are. */
uint32_t qsm_engine_counters(const qsm_engine *engine, uint64_t *values, uint32_t count_max);

/* A hash over everything that the engine did so far; equal for equal inputs. */
uint64_t qsm_engine_trace_hash(const qsm_engine *engine);
/* Writes the last trace records as lines of text; returns the length, cut at `bytes_max`. */
uint32_t qsm_engine_trace_text(const qsm_engine *engine, char *text, uint32_t bytes_max);

/* A region plan for QSM_POLICY_PLAN, as text; see native/README.md. QSM_ERR_PLAN: malformed, the
 * previous plan stays. */
int qsm_engine_set_plan(qsm_engine *engine, const char *text, uint32_t bytes);

/* What this engine knows of regions: for tools and tests. */
typedef struct qsm_region_info {
    uint64_t region;       /* id of the region view */
    uint32_t member_count; /* all, dead ones included */
    uint32_t alive_count;
    uint32_t ring_levels;
    uint32_t sender_count; /* senders seen in this view */
    uint8_t closing;       /* superseded, being drained */
    uint8_t unicast;       /* fans out by unicast */
    uint8_t member;        /* this node is in it */
    uint8_t reserved;
    uint32_t unacknowledged_packets;
    uint64_t rate_bytes_per_s;
    uint64_t ack_ns;         /* smoothed time from sending to acknowledgement */
    uint64_t token_round_ns; /* smoothed time of a token round, at a ring leader */
    qsm_address address;
} qsm_region_info;
int qsm_engine_regions(const qsm_engine *engine, qsm_region_info *regions, uint32_t count_max);
/* Where those are whose multicast should reach this node, since they send into its regions, and
 * does not; returns how many were written. Such regions fan out by unicast. */
int qsm_engine_unheard(const qsm_engine *engine, qsm_address *addresses, uint32_t count_max);
/* 1 when a region's multicast address was not heard here: `address`. Such regions fan out by
 * unicast for `rests_for_ns` more, then multicast is tried again. 0: nothing is known to be missed.
 */
int qsm_engine_missed_address(const qsm_engine *engine, qsm_address *address,
                              uint64_t *rests_for_ns);

/* A node that long datagrams do not reach: the path to it carries less than the interfaces say. */
typedef struct qsm_short_path {
    qsm_address address;
    uint32_t bytes; /* the longest datagram that reaches it, without headers of IP and UDP */
} qsm_short_path;
int qsm_engine_short_paths(const qsm_engine *engine, qsm_short_path *paths, uint32_t count_max);
/* Finds out at once whether long datagrams reach the nodes of this one's regions, which is else
 * done when some seem not to. What was found shows after half a second, or some more where packets
 * are lost. */
void qsm_engine_probe_paths(qsm_engine *engine);

/* ---- UDP driver ------------------------------------------------------------------------------ */

typedef struct qsm_udp qsm_udp;

typedef struct qsm_udp_config {
    qsm_config core;              /* self and rendezvous are filled in by the driver */
    char interface[64];           /* name or address; empty: the system's choice for multicast */
    char multicast_group[64];     /* rendezvous address; empty: derived from the scope id */
    uint16_t multicast_port;      /* port of all multicast of the scope; 0: the default, 17474 */
    uint16_t unicast_port;        /* 0: any free one */
    uint32_t socket_buffer_bytes; /* asked for; qsm_udp_info says what the system gave */
    uint8_t ipv6;                 /* 1: IPv6 */
    uint8_t no_offload;           /* 1: no segmentation or receive offload, for comparison */
    uint8_t no_multicast;         /* 1: unicast only */
    uint8_t reserved;
    /* Fault injection for tests, per mille of datagrams that the driver throws away. */
    uint16_t drop_in_per_mille;
    uint16_t drop_out_per_mille;
    uint16_t drop_above_bytes; /* longer datagrams are not sent, as where a path carries less; 0:
                                  all are */
} qsm_udp_config;

typedef struct qsm_udp_info {
    qsm_address self;
    qsm_address rendezvous;
    uint32_t send_buffer_bytes;
    uint32_t receive_buffer_bytes;
    uint8_t segmentation_offload;
    uint8_t receive_offload;
    uint8_t multicast;
    uint8_t loopback;
    char interface[64];
    uint32_t mtu_bytes; /* that the interface says it carries, headers of IP included */
    uint32_t reserved;
    uint64_t datagrams_in, datagrams_out, calls_in, calls_out, kernel_drops, send_errors;
} qsm_udp_info;

void qsm_udp_config_defaults(qsm_udp_config *config);
/* Opens the sockets and makes the engine, whose randomness comes from the system unless
 * config->core.random_seed is set. On failure nothing stays open and `error` has one sentence. */
int qsm_udp_open(const qsm_udp_config *config, qsm_udp **udp, char *error, uint32_t error_bytes);
qsm_engine *qsm_udp_engine(qsm_udp *udp);
/* Descriptors to watch for reading; they can change after any step (`generation` then grows). */
int qsm_udp_descriptors(const qsm_udp *udp, int64_t *descriptors, uint32_t count_max,
                        uint64_t *generation);
/* 1 when the last send met a full socket and the unicast descriptor should be watched for writing.
 */
int qsm_udp_wants_write(const qsm_udp *udp);
/* Reads, works and sends for at most `budget_ns`. Returns 1 when there is more to do at once, else
 * 0. */
int qsm_udp_step(qsm_udp *udp, uint64_t budget_ns);
/* Nanoseconds from now until the next step is due; 0 at once, UINT64_MAX never. */
uint64_t qsm_udp_wait_ns(const qsm_udp *udp);
uint64_t qsm_udp_now_ns(const qsm_udp *udp);
void qsm_udp_get_info(const qsm_udp *udp, qsm_udp_info *info);
/* Closes sockets and destroys the engine; for a clean departure qsm_engine_close first. */
void qsm_udp_close(qsm_udp *udp);

/* ---- simulator ------------------------------------------------------------------------------- */

typedef struct qsm_sim qsm_sim;

/* How datagrams travel from one node to another. Probabilities are per million. */
typedef struct qsm_sim_link {
    uint64_t delay_ns;  /* one way */
    uint64_t jitter_ns; /* uniform, added; reorders when larger than the spacing of packets */
    uint64_t bandwidth_bytes_per_s; /* of the receiver's line; 0: no limit */
    uint32_t queue_bytes;           /* in front of that line; more is lost; 0: no limit */
    uint32_t loss_ppm;              /* independent losses */
    uint32_t burst_ppm;             /* chance that a burst of losses begins at a packet */
    uint32_t burst_packets;         /* length of a burst */
    uint32_t duplicate_ppm;
    uint32_t datagram_bytes_max; /* longer ones are lost, and nobody is told; 0: none are */
} qsm_sim_link;

/* A network and a clock, both of the simulation; nothing in it depends on anything but `seed` and
 * the calls. */
int qsm_sim_create(uint64_t seed, qsm_sim **sim);
void qsm_sim_destroy(qsm_sim *sim);
uint64_t qsm_sim_now_ns(const qsm_sim *sim);
/* The link of all pairs that have none of their own. */
void qsm_sim_set_link(qsm_sim *sim, const qsm_sim_link *link);
/* One direction from node `from` to node `to` (indices). NULL takes it back. */
int qsm_sim_set_link_between(qsm_sim *sim, uint32_t from, uint32_t to, const qsm_sim_link *link);
/* Adds a node that starts now; returns its index. `config` may be NULL for defaults; self,
 * rendezvous and random_seed are set by the simulator. */
int qsm_sim_add_node(qsm_sim *sim, const qsm_config *config);
uint32_t qsm_sim_node_count(const qsm_sim *sim);
/* The node's engine; NULL while it is crashed. Changes at a restart. */
qsm_engine *qsm_sim_engine(qsm_sim *sim, uint32_t node);
/* Nodes with different sides do not hear each other; all sides start as 0. */
int qsm_sim_set_side(qsm_sim *sim, uint32_t node, uint32_t side);
/* One-way block: `to` hears nothing from `from` while blocked. */
int qsm_sim_block(qsm_sim *sim, uint32_t from, uint32_t to, bool blocked);
/* The same for multicast alone. */
int qsm_sim_block_multicast(qsm_sim *sim, uint32_t from, uint32_t to, bool blocked);
/* What is sent to that multicast address does not reach the node while blocked. NULL, not blocked:
 * all addresses do. */
int qsm_sim_block_address(qsm_sim *sim, uint32_t node, const qsm_address *address, bool blocked);
/* Multicast reaches the node for that long after it has joined an address, as with a switch that
 * hears nobody ask who listens. 0: for ever. */
int qsm_sim_set_snooping(qsm_sim *sim, uint32_t node, uint64_t forgets_ns);
/* The node is not stepped for that long; what arrives waits in its socket buffer and overflows
 * there. */
int qsm_sim_freeze(qsm_sim *sim, uint32_t node, uint64_t duration_ns);
/* The node vanishes without a word. */
int qsm_sim_crash(qsm_sim *sim, uint32_t node);
/* A crashed node starts anew, with nothing remembered. */
int qsm_sim_restart(qsm_sim *sim, uint32_t node);
/* The node needs that long for each datagram and event (0: none), so it runs slowly. */
int qsm_sim_set_cost(qsm_sim *sim, uint32_t node, uint64_t cost_ns);
/* The application of the node does not fetch events (stops reading) while set. */
int qsm_sim_set_deaf(qsm_sim *sim, uint32_t node, bool deaf);
/* The node's clock runs faster or slower, by parts per million, and jumps now. It stays monotonic.
 */
int qsm_sim_set_clock(qsm_sim *sim, uint32_t node, int32_t drift_ppm, uint64_t jump_ns);
/* Called with a node's events, before they are released; may call functions of that node's engine.
 */
typedef void (*qsm_sim_observer)(void *context, uint32_t node, const qsm_event *events,
                                 uint32_t count);
void qsm_sim_observe(qsm_sim *sim, qsm_sim_observer observer, void *context);
/* Runs until the time given, or until qsm_sim_stop is called from an observer. Returns steps made.
 */
uint64_t qsm_sim_run_until(qsm_sim *sim, uint64_t until_ns);
void qsm_sim_stop(qsm_sim *sim);
/* A hash over everything that happened; equal for equal seeds and calls. */
uint64_t qsm_sim_trace_hash(const qsm_sim *sim);

typedef struct qsm_sim_traffic {
    uint64_t datagrams, bytes; /* sent, multicast counted once */
    uint64_t deliveries;       /* handed to receiving nodes */
    uint64_t lost, duplicated, overflowed, blocked;
} qsm_sim_traffic;
void qsm_sim_get_traffic(const qsm_sim *sim, qsm_sim_traffic *traffic);

/* cffi: end */

#ifdef __cplusplus
}
#endif
#endif
