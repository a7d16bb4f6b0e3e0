/* oracle_state.h - what the oracle remembers; shared by oracle.c, oracle_views.c and
 * oracle_messages.c (record) and oracle_end.c (judges). */
#ifndef QSM_TOOLS_ORACLE_STATE_H
#define QSM_TOOLS_ORACLE_STATE_H

#include "oracle.h"
#include "vector.h"

/* One engine of a node. Node ids can change during it, when the engine was put out and came back.
 */
typedef struct {
    uint32_t node;
    bool ended;
    bool excused;
    bool suspended;
    uint64_t id;
    uint32_t seat_open_count;
    VECTOR(uint64_t) ids;
} oracle_life;

/* Consecutive messages of one sending seat, all with one view, as one receiving seat got them. */
typedef struct {
    uint32_t seat; /* of the sender */
    uint64_t sender;
    uint64_t view;
    uint64_t receiver; /* id of the receiver at that time */
    uint64_t first;
    uint64_t last;
} oracle_run;

/* A number of a sender was passed over between two runs of a seat: judged at the end. */
typedef struct {
    size_t run_before; /* indices of runs of that seat; SIZE_MAX: nothing before */
    size_t run_after;
    uint64_t at_ns;
} oracle_gap;

struct oracle_seat {
    oracle *judge;
    uint32_t index;
    uint32_t life;
    uint32_t node;
    uint32_t group;
    bool open;
    uint32_t view_count;
    uint64_t id;   /* of the life, since when `runs` from run_first on count */
    uint64_t sent; /* messages that the engine took */
    uint64_t view; /* the last one told; 0: none */
    uint64_t deliveries;
    uint64_t last_delivery_ns;
    uint64_t stall_ns;
    VECTOR(uint64_t) views_told;
    VECTOR(oracle_run) runs;
    VECTOR(oracle_gap) gaps;
    VECTOR(uint64_t) last_number; /* by sending seat: greatest number delivered, under any id */
    VECTOR(size_t) last_run;      /* by sending seat (its number in the group): index in runs + 1 */
};

/* Members of one view of one group, as the first who was told of it was told. */
typedef struct {
    uint64_t number;
    uint32_t node_told;
    uint32_t member_count;
    uint64_t *members;   /* sorted */
    uint64_t order_hash; /* of the list as it was told: seniority must agree too */
} oracle_view;

typedef struct {
    VECTOR(oracle_view) views; /* by number */
    VECTOR(uint32_t) seats;
} oracle_group;

/* A message came under an id that its node has not told of yet. */
typedef struct {
    uint32_t life;
    uint64_t id;
} oracle_claim;

struct oracle {
    VECTOR(oracle_life) lives;
    VECTOR(uint32_t) life_of_node; /* the life that runs; UINT32_MAX: none yet */
    VECTOR(oracle_seat *) seats;
    VECTOR(oracle_group) groups;
    VECTOR(oracle_claim) claims;
    uint64_t now_ns;
    uint64_t deliveries;
    uint64_t sent;
    char failure[400];
};

const oracle_view *oracle_find_view(const oracle_group *group, uint64_t number);
bool oracle_life_has_id(const oracle_life *life, uint64_t id);
bool oracle_view_has(const oracle_view *view, uint64_t id);
/* The node whose id is `id` now was told a view: enters it, or compares it with what others were
 * told under the same number. */
void oracle_observe_view(oracle *judge, oracle_seat *seat, const qsm_event *event, uint64_t id);
/* The sender's seat when the message is one of ours, unharmed and of this group; else a failure. */
const oracle_seat *oracle_read_message(oracle *judge, const oracle_seat *seat,
                                       const qsm_event *event, uint64_t *number);

#endif
