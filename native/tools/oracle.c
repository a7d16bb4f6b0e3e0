/* oracle.c - records what happened and judges at once what can be judged at once. */
#include "oracle.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "drivers/sim_random.h"
#include "oracle_state.h"

#define MESSAGE_MAGIC UINT32_C(0x514f5241)
#define NO_LIFE UINT32_MAX

typedef struct {
    uint32_t magic;
    uint32_t group;
    uint32_t seat;
    uint32_t bytes;
    uint64_t number;
    uint64_t checksum; /* over all that comes before and after it */
} message_head;

_Static_assert(sizeof(message_head) == ORACLE_MESSAGE_BYTES_MIN,
               "the head is packed by its fields");

void oracle_fail(oracle *judge, const char *format, ...) {
    if (judge->failure[0] != '\0') return;
    const int length =
        snprintf(judge->failure, sizeof judge->failure, "at %.6f s: ", (double)judge->now_ns / 1e9);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(judge->failure + length, sizeof judge->failure - (size_t)length, format,
                    arguments);
    va_end(arguments);
}

const char *oracle_failure(const oracle *judge) {
    return judge->failure[0] == '\0' ? NULL : judge->failure;
}

oracle *oracle_create(void) {
    oracle *judge = calloc(1, sizeof *judge);
    if (judge == NULL) abort();
    return judge;
}

static void seat_free(oracle_seat *seat) {
    VECTOR_FREE(&seat->views_told);
    VECTOR_FREE(&seat->runs);
    VECTOR_FREE(&seat->gaps);
    VECTOR_FREE(&seat->last_run);
    VECTOR_FREE(&seat->last_number);
    free(seat);
}

void oracle_destroy(oracle *judge) {
    if (judge == NULL) return;
    for (size_t i = 0; i < judge->seats.count; i++) {
        seat_free(judge->seats.items[i]);
    }
    for (size_t i = 0; i < judge->groups.count; i++) {
        oracle_group *group = &judge->groups.items[i];
        for (size_t j = 0; j < group->views.count; j++) {
            free(group->views.items[j].members);
        }
        VECTOR_FREE(&group->views);
        VECTOR_FREE(&group->seats);
    }
    for (size_t i = 0; i < judge->lives.count; i++) {
        VECTOR_FREE(&judge->lives.items[i].ids);
    }
    VECTOR_FREE(&judge->lives);
    VECTOR_FREE(&judge->life_of_node);
    VECTOR_FREE(&judge->seats);
    VECTOR_FREE(&judge->groups);
    VECTOR_FREE(&judge->claims);
    free(judge);
}

/* ---- what applications did --------------------------------------------------------------------
 */

static oracle_life *life_of(oracle *judge, uint32_t node) {
    if (node >= judge->life_of_node.count) return NULL;
    const uint32_t life = judge->life_of_node.items[node];
    return life == NO_LIFE ? NULL : &judge->lives.items[life];
}

void oracle_node_started(oracle *judge, uint32_t node, uint64_t node_id) {
    while (judge->life_of_node.count <= node) {
        VECTOR_PUSH(&judge->life_of_node, NO_LIFE);
    }
    oracle_life life = {.node = node, .id = node_id};
    VECTOR_PUSH(&life.ids, node_id);
    judge->life_of_node.items[node] = (uint32_t)judge->lives.count;
    VECTOR_PUSH(&judge->lives, life);
}

void oracle_node_ended(oracle *judge, uint32_t node) {
    oracle_life *life = life_of(judge, node);
    assert(life != NULL);
    life->ended = true;
    for (size_t i = 0; i < judge->seats.count; i++) {
        oracle_seat *seat = judge->seats.items[i];
        if (seat->open && seat->node == node) oracle_left(seat);
    }
}

void oracle_node_excused(oracle *judge, uint32_t node) {
    oracle_life *life = life_of(judge, node);
    if (life != NULL) life->excused = true;
}

oracle_seat *oracle_joined(oracle *judge, uint32_t node, uint32_t group) {
    const oracle_life *life = life_of(judge, node);
    assert(life != NULL && !life->ended);
    while (judge->groups.count <= group) {
        VECTOR_PUSH(&judge->groups, (oracle_group){.views.count = 0});
    }
    oracle_seat *seat = calloc(1, sizeof *seat);
    if (seat == NULL) abort();
    *seat = (oracle_seat){.judge = judge,
                          .index = (uint32_t)judge->groups.items[group].seats.count,
                          .life = judge->life_of_node.items[node],
                          .node = node,
                          .group = group,
                          .open = true,
                          .id = life->id};
    VECTOR_PUSH(&judge->groups.items[group].seats, (uint32_t)judge->seats.count);
    VECTOR_PUSH(&judge->seats, seat);
    return seat;
}

void oracle_left(oracle_seat *seat) {
    seat->open = false;
}

void oracle_write_message(const oracle_seat *seat, uint8_t *data, uint32_t bytes) {
    assert(bytes >= ORACLE_MESSAGE_BYTES_MIN);
    message_head head = {.magic = MESSAGE_MAGIC,
                         .group = seat->group,
                         .seat = seat->index,
                         .bytes = bytes,
                         .number = seat->sent + 1};
    const uint32_t body = bytes - (uint32_t)sizeof head;
    memset(data + sizeof head, (int)(head.number * 31 + seat->index), body);
    if (body > 0) data[bytes - 1] = (uint8_t)(head.number >> 8);
    head.checksum = qsm_sim_hash_bytes(data + sizeof head, body);
    head.checksum ^= qsm_sim_hash_bytes((const uint8_t *)&head, offsetof(message_head, checksum));
    memcpy(data, &head, sizeof head);
}

void oracle_sent(oracle_seat *seat) {
    seat->sent++;
    seat->judge->sent++;
}

/* ---- views ------------------------------------------------------------------------------------
 */

static int compare_ids(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* Where a view of that number is, or belongs. */
static size_t view_rank(const oracle_group *group, uint64_t number) {
    size_t low = 0, high = group->views.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (group->views.items[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const oracle_view *oracle_find_view(const oracle_group *group, uint64_t number) {
    const size_t rank = view_rank(group, number);
    if (rank == group->views.count || group->views.items[rank].number != number) return NULL;
    return &group->views.items[rank];
}

bool oracle_view_has(const oracle_view *view, uint64_t id) {
    return bsearch(&id, view->members, view->member_count, sizeof id, compare_ids) != NULL;
}

static oracle_view view_of(const qsm_event *event, uint32_t node) {
    oracle_view view = {.number = event->view,
                        .node_told = node,
                        .member_count = event->member_count,
                        .members = calloc(event->member_count + 1, sizeof *view.members)};
    if (view.members == NULL) abort();
    for (uint32_t i = 0; i < event->member_count; i++) {
        view.members[i] = event->members[i];
        view.order_hash = qsm_sim_mix2(view.order_hash, event->members[i]);
    }
    qsort(view.members, view.member_count, sizeof *view.members, compare_ids);
    return view;
}

/* Enters the view, or compares it with what others were told under the same number. */
static void record_view(oracle *judge, oracle_seat *seat, const qsm_event *event, uint64_t id) {
    oracle_group *group = &judge->groups.items[seat->group];
    oracle_view view = view_of(event, seat->node);
    for (uint32_t i = 1; i < view.member_count; i++) {
        if (view.members[i] == view.members[i - 1]) {
            oracle_fail(judge, "view %" PRIu64 " of group %u at node %u names a member twice",
                        view.number, seat->group, seat->node);
        }
    }
    if (!oracle_view_has(&view, id)) {
        oracle_fail(judge, "node %u was told view %" PRIu64 " of group %u, which it is not in",
                    seat->node, view.number, seat->group);
    }
    const size_t rank = view_rank(group, view.number);
    if (rank < group->views.count && group->views.items[rank].number == view.number) {
        const oracle_view *known = &group->views.items[rank];
        if (known->member_count != view.member_count || known->order_hash != view.order_hash) {
            oracle_fail(judge,
                        "nodes %u and %u were told different members (%u and %u) of view %" PRIu64
                        " of group %u",
                        known->node_told, seat->node, known->member_count, view.member_count,
                        view.number, seat->group);
        }
        free(view.members);
        return;
    }
    VECTOR_PUSH(&group->views, view);
    memmove(&group->views.items[rank + 1], &group->views.items[rank],
            (group->views.count - 1 - rank) * sizeof view);
    group->views.items[rank] = view;
}

static void observe_view(oracle *judge, oracle_seat *seat, const qsm_event *event, uint64_t id) {
    if (event->view <= seat->view) {
        oracle_fail(judge, "node %u was told view %" PRIu64 " of group %u after view %" PRIu64,
                    seat->node, event->view, seat->group, seat->view);
    }
    record_view(judge, seat, event, id);
    seat->view = event->view;
    seat->view_count++;
    VECTOR_PUSH(&seat->views_told, event->view);
}

/* ---- deliveries -------------------------------------------------------------------------------
 */

/* The sender's seat when the message is one of ours, unharmed and of this group; else a failure. */
static const oracle_seat *read_message(oracle *judge, const oracle_seat *seat,
                                       const qsm_event *event, uint64_t *number) {
    message_head head = {.magic = 0};
    if (event->bytes >= sizeof head) memcpy(&head, event->data, sizeof head);
    const oracle_group *group = &judge->groups.items[seat->group];
    bool good = head.magic == MESSAGE_MAGIC && head.bytes == event->bytes;
    if (good) {
        uint64_t sum =
            qsm_sim_hash_bytes(event->data + sizeof head, event->bytes - (uint32_t)sizeof head);
        sum ^= qsm_sim_hash_bytes((const uint8_t *)&head, offsetof(message_head, checksum));
        good = sum == head.checksum;
    }
    if (!good) {
        oracle_fail(judge, "node %u was given a damaged message of %u bytes in group %u",
                    seat->node, event->bytes, seat->group);
        return NULL;
    }
    if (head.group != seat->group || head.seat >= group->seats.count) {
        oracle_fail(judge, "node %u was given a message of group %u in group %u", seat->node,
                    head.group, seat->group);
        return NULL;
    }
    *number = head.number;
    return judge->seats.items[group->seats.items[head.seat]];
}

bool oracle_life_has_id(const oracle_life *life, uint64_t id) {
    for (size_t i = 0; i < life->ids.count; i++) {
        if (life->ids.items[i] == id) return true;
    }
    return false;
}

/* The last run of that sender under that id, as its index in runs + 1; 0 when there is none. Order
 * is promised for each id: a node that was put out and came back is another sender. */
static size_t last_run_of(oracle_seat *seat, const oracle_seat *sender, uint64_t id) {
    while (seat->last_run.count <= sender->index) {
        VECTOR_PUSH(&seat->last_run, 0);
        VECTOR_PUSH(&seat->last_number, 0);
    }
    size_t last = seat->last_run.items[sender->index];
    while (last != 0 && (seat->runs.items[last - 1].seat != sender->index ||
                         seat->runs.items[last - 1].sender != id))
        last--;
    return last;
}

static void record_delivery(oracle_seat *seat, const oracle_seat *sender, const qsm_event *event,
                            uint64_t number) {
    oracle *judge = seat->judge;
    const uint64_t receiver = judge->lives.items[seat->life].id;
    const size_t before = last_run_of(seat, sender, event->sender);
    oracle_run *last = before == 0 ? NULL : &seat->runs.items[before - 1];
    const bool continues = last != NULL && last->last + 1 == number;
    if (continues && last->view == event->view && last->sender == event->sender &&
        last->receiver == receiver) {
        last->last = number;
        return;
    }
    if (!continues && !(last == NULL && number == 1)) {
        VECTOR_PUSH(&seat->gaps, ((oracle_gap){.run_before = before == 0 ? SIZE_MAX : before - 1,
                                               .run_after = seat->runs.count,
                                               .at_ns = judge->now_ns}));
    }
    VECTOR_PUSH(&seat->runs, ((oracle_run){.seat = sender->index,
                                           .sender = event->sender,
                                           .view = event->view,
                                           .receiver = receiver,
                                           .first = number,
                                           .last = number}));
    seat->last_run.items[sender->index] = seat->runs.count;
}

static void observe_delivery(oracle *judge, oracle_seat *seat, const qsm_event *event) {
    uint64_t number = 0;
    const oracle_seat *sender = read_message(judge, seat, event, &number);
    if (sender == NULL) return;
    judge->deliveries++;
    const oracle_life *life = &judge->lives.items[seat->life];
    const size_t before = last_run_of(seat, sender, event->sender);
    const oracle_run *last = before == 0 ? NULL : &seat->runs.items[before - 1];
    if (number > sender->sent) {
        oracle_fail(judge, "node %u got message %" PRIu64 " of node %u in group %u, never sent",
                    seat->node, number, sender->node, seat->group);
    } else if (last != NULL && number <= last->last) {
        oracle_fail(judge,
                    "node %u got message %" PRIu64 " of node %u in group %u after number %" PRIu64
                    ": %s",
                    seat->node, number, sender->node, seat->group, last->last,
                    number == last->last ? "twice" : "twice or out of order");
    } else if (last != NULL && event->view < last->view) {
        oracle_fail(judge,
                    "node %u got message %" PRIu64 " of node %u in group %u of view %" PRIu64
                    " after one of view %" PRIu64,
                    seat->node, number, sender->node, seat->group, event->view, last->view);
    } else if (life->suspended) {
        oracle_fail(judge, "node %u delivered in group %u while it was suspended", seat->node,
                    seat->group);
    }
    if (!oracle_life_has_id(&judge->lives.items[sender->life], event->sender)) {
        /* Its application may not have read yet that it has a new id: asked again at the end. */
        VECTOR_PUSH(&judge->claims, ((oracle_claim){.life = sender->life, .id = event->sender}));
    }
    record_delivery(seat, sender, event, number);
    if (number > seat->last_number.items[sender->index]) {
        seat->last_number.items[sender->index] = number;
    }
    if (seat->deliveries++ != 0) {
        const uint64_t pause_ns = judge->now_ns - seat->last_delivery_ns;
        if (pause_ns > seat->stall_ns) seat->stall_ns = pause_ns;
    }
    seat->last_delivery_ns = judge->now_ns;
}

static void observe_health(oracle *judge, uint32_t node, const qsm_event *event) {
    oracle_life *life = life_of(judge, node);
    life->suspended = event->health == QSM_HEALTH_SUSPENDED;
    if (event->sender == life->id) return;
    life->id = event->sender;
    VECTOR_PUSH(&life->ids, event->sender);
}

void oracle_observe(oracle *judge, uint64_t now_ns, uint32_t node, const qsm_event *event) {
    judge->now_ns = now_ns;
    const oracle_life *life = life_of(judge, node);
    if (life == NULL || life->ended) {
        oracle_fail(judge, "node %u had an event after its end", node);
        return;
    }
    if (event->type == QSM_EVENT_HEALTH) {
        observe_health(judge, node, event);
        return;
    }
    oracle_seat *seat = event->user;
    if (seat == NULL || seat->node != node || !seat->open) {
        oracle_fail(judge, "node %u had an event of a group that it is not in", node);
        return;
    }
    if (event->type == QSM_EVENT_VIEW) observe_view(judge, seat, event, life->id);
    if (event->type == QSM_EVENT_DELIVERY) observe_delivery(judge, seat, event);
}

void oracle_observe_unread_view(oracle_seat *seat, uint64_t node_id, const qsm_event *event) {
    observe_view(seat->judge, seat, event, node_id);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

uint64_t oracle_deliveries(const oracle *judge) {
    return judge->deliveries;
}

uint64_t oracle_messages_sent(const oracle *judge) {
    return judge->sent;
}

uint64_t oracle_views(const oracle *judge) {
    uint64_t count = 0;
    for (size_t i = 0; i < judge->groups.count; i++) {
        count += judge->groups.items[i].views.count;
    }
    return count;
}

uint64_t oracle_seat_sent(const oracle_seat *seat) {
    return seat->sent;
}

uint64_t oracle_seat_node_id(const oracle_seat *seat) {
    return seat->judge->lives.items[seat->life].id;
}

uint64_t oracle_seat_deliveries(const oracle_seat *seat) {
    return seat->deliveries;
}

uint64_t oracle_seat_view(const oracle_seat *seat) {
    return seat->view;
}

uint32_t oracle_seat_view_size(const oracle_seat *seat) {
    const oracle_view *view = oracle_find_view(&seat->judge->groups.items[seat->group], seat->view);
    return view == NULL ? 0 : view->member_count;
}

uint32_t oracle_seat_views(const oracle_seat *seat) {
    return seat->view_count;
}

uint64_t oracle_seat_last_delivery_ns(const oracle_seat *seat) {
    return seat->last_delivery_ns;
}

uint64_t oracle_seat_stall_ns(const oracle_seat *seat) {
    return seat->stall_ns;
}

void oracle_seat_reset_stall(oracle_seat *seat, uint64_t now_ns) {
    seat->stall_ns = 0;
    seat->last_delivery_ns = now_ns;
}

uint32_t oracle_seat_group(const oracle_seat *seat) {
    return seat->group;
}
