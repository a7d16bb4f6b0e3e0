/* world_send.c - what the applications of a world say: one message, as many as there is room for,
 * when they are asked, or at a steady pace. */
#include "drivers/sim_random.h"
#include "world_state.h"

static int send_one(world *under_test, place *where, uint32_t bytes) {
    if (where->handle == NULL) return QSM_ERR_CLOSED;
    if (bytes < ORACLE_MESSAGE_BYTES_MIN) bytes = ORACLE_MESSAGE_BYTES_MIN;
    oracle_write_message(where->seat, under_test->message, bytes);
    const int result = qsm_group_send(where->handle, under_test->message, bytes);
    if (result == QSM_OK) oracle_sent(where->seat);
    return result;
}

int world_send(world *under_test, uint32_t node, uint32_t group, uint32_t bytes) {
    return send_one(under_test, world_place(under_test, node, group), bytes);
}

void world_pour_on(world *under_test, place *where) {
    while (where->pour.left > 0 && send_one(under_test, where, where->pour.bytes) == QSM_OK) {
        where->pour.left--;
        under_test->owed--;
    }
}

void world_forgive(world *under_test, place *where) {
    under_test->owed -= where->pour.left + where->offer.left;
    where->pour.left = where->offer.left = 0;
}

void world_pour(world *under_test, uint32_t node, uint32_t group, uint32_t bytes, uint64_t count) {
    place *where = world_place(under_test, node, group);
    if (where->handle == NULL) return;
    where->pour.left += count;
    under_test->owed += count;
    where->pour.bytes = bytes;
    world_pour_on(under_test, where);
}

static void pulled(void *context, uint32_t bytes_max, qsm_pulled *result) {
    place *where = context;
    result->bytes = -1;
    if (where->offer.left == 0 || where->handle == NULL) return;
    if (bytes_max < ORACLE_MESSAGE_BYTES_MIN) return;
    uint32_t bytes = where->offer.bytes < bytes_max ? where->offer.bytes : bytes_max;
    if (bytes < ORACLE_MESSAGE_BYTES_MIN) bytes = ORACLE_MESSAGE_BYTES_MIN;
    oracle_write_message(where->seat, where->owner->message, bytes);
    oracle_sent(where->seat);
    where->offer.left--;
    where->owner->owed--;
    result->data = where->owner->message;
    result->bytes = (int32_t)bytes;
}

void world_offer(world *under_test, uint32_t node, uint32_t group, uint32_t bytes, uint64_t count,
                 uint32_t priority) {
    place *where = world_place(under_test, node, group);
    if (where->handle == NULL) return;
    where->offer.left += count;
    under_test->owed += count;
    where->offer.bytes = bytes;
    (void)qsm_group_offer(where->handle, pulled, where, priority);
}

void world_flow(world *under_test, uint32_t node, uint32_t group, uint32_t bytes,
                uint64_t interval_ns, uint64_t until_ns) {
    const flow added = {.node = node,
                        .group = group,
                        .bytes = bytes,
                        .interval_ns = interval_ns,
                        .until_ns = until_ns};
    /* Flows begin at different times: not all nodes send at the same instant. */
    const uint64_t offset_ns = qsm_sim_mix(under_test->flows.count + 1) % interval_ns;
    (void)qsm_sim_events_push(&under_test->due, world_now_ns(under_test) + offset_ns, 0,
                              (uint32_t)under_test->flows.count, NULL);
    VECTOR_PUSH(&under_test->flows, added);
}

void world_hush(world *under_test) {
    under_test->due.count = 0;
    for (size_t i = 0; i < under_test->applications.count; i++) {
        for (uint32_t j = 0; j < under_test->options.group_count; j++) {
            world_forgive(under_test, world_place(under_test, (uint32_t)i, j));
        }
    }
}

void world_flow_on(world *under_test, uint32_t index) {
    const flow *due = &under_test->flows.items[index];
    const uint64_t now_ns = world_now_ns(under_test);
    if (now_ns >= due->until_ns) return;
    (void)world_send(under_test, due->node, due->group, due->bytes);
    (void)qsm_sim_events_push(&under_test->due, now_ns + due->interval_ns, 0, index, NULL);
}
