/* oracle.c - records what happened and judges at once what can be judged at once. */
#include "oracle.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "oracle_state.h"

#define NO_LIFE UINT32_MAX

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

/* ---- what applications did ------------------------------------------------------------------- */

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

void oracle_sent(oracle_seat *seat) {
    seat->sent++;
    seat->judge->sent++;
}

/* ---- deliveries ------------------------------------------------------------------------------ */

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
    const oracle_seat *sender = oracle_read_message(judge, seat, event, &number);
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
    if (event->type == QSM_EVENT_VIEW) oracle_observe_view(judge, seat, event, life->id);
    if (event->type == QSM_EVENT_DELIVERY) observe_delivery(judge, seat, event);
}

void oracle_observe_unread_view(oracle_seat *seat, uint64_t node_id, const qsm_event *event) {
    oracle_observe_view(seat->judge, seat, event, node_id);
}

/* ---- numbers --------------------------------------------------------------------------------- */

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
