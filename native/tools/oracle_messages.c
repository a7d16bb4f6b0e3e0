/* oracle_messages.c - messages by which the oracle knows what it was that a node was given. */
#include <assert.h>
#include <string.h>

#include "drivers/sim_random.h"
#include "oracle_state.h"

#define MESSAGE_MAGIC UINT32_C(0x514f5241)

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

const oracle_seat *oracle_read_message(oracle *judge, const oracle_seat *seat,
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
