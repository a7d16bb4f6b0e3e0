/*
 * test_runs.c - messages that are sealed together: which ones are, what a packet may say of them,
 * and that a run is refused as a whole when a member with the group's key has put it together
 * wrongly.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/aegis.h"
#include "../fuzz/fuzz_world.h"

enum { SENDER = 0, READER = 1, GROUP = 0, FLAGS = QSM_MESSAGE_AES | QSM_MESSAGE_RUN };

/* The last data packet that the sender has sent. */
static struct {
    uint8_t bytes[QSM_DATAGRAM_BYTES_MAX];
    uint32_t count;
    uint32_t packets;
} seen;

static void look(void *context, uint32_t from, const qsm_datagram *datagram) {
    (void)context;
    if (from != SENDER || datagram->data[1] != QSM_KIND_DATA) return;
    memcpy(seen.bytes, datagram->data, datagram->bytes);
    seen.count = datagram->bytes;
    seen.packets++;
}

static void read_seen(qsm_data *data) {
    qsm_header header;
    assert(qsm_header_open(fuzz_keys(), seen.bytes, seen.count, &header));
    assert(qsm_data_read(&header, seen.bytes, seen.count, data));
}

static void send(fuzz_world *world, uint32_t count) {
    static const char *const texts[] = {"one", "", "a third, longer than the others", "4"};
    for (uint32_t i = 0; i < count; i++)
        world_send(world, SENDER, GROUP, texts[i % 4]);
    world_run(world, 300);
}

static void test_messages_that_follow_each_other_are_one_entry(fuzz_world *world) {
    static qsm_data data;
    seen.packets = 0;
    uint64_t before = world->delivered[READER];
    send(world, 20);
    assert(seen.packets == 1 && world->delivered[READER] == before + 20);
    read_seen(&data);
    assert(data.message_count == 1 && data.messages[0].flags == FLAGS);
    assert(data.messages[0].count == 20);
}

/* Messages of the other group between them begin a new run; so does a long one. */
static void test_others_between_them_part_a_run(fuzz_world *world) {
    static qsm_data data;
    uint64_t before = world->delivered[READER];
    char longer[1001] = {0};
    memset(longer, 'x', sizeof longer - 1);
    send(world, 5);
    for (uint32_t i = 0; i < 4; i++) {
        world_send(world, SENDER, GROUP, longer);
        world_send(world, SENDER, GROUP + 1, "elsewhere");
    }
    world_run(world, 300);
    read_seen(&data);
    assert(data.message_count >= 1 && world->delivered[READER] == before + 13);
}

/* ---- made by a member who does not keep to the rules ---- */

/* As the sender's next packet, with that as the content of its run of `count` messages. */
static uint32_t forge(fuzz_world *world, const uint8_t *plain, uint16_t bytes, uint16_t count,
                      uint8_t *packet) {
    static qsm_data data;
    static const uint8_t key[QSM_KEY_BYTES] = "the key of a group .............";
    uint8_t id[QSM_GROUP_ID_BYTES] = "group of world ", secret[QSM_AEGIS_KEY_BYTES], tag[16];
    uint8_t sealed[2 * QSM_PACKED_MESSAGES_MAX + 16];
    read_seen(&data);
    qsm_message *run = &data.messages[0];
    run->number += run->count;
    run->count = count;
    run->bytes = bytes;
    run->tag = tag;
    run->flags = FLAGS;
    data.message_count = 1;
    data.regions[0].sequence++;
    qsm_sender_key_derive(secret, key, id, world->ids[SENDER]);
    qsm_seal_identity identity = {
        .group_id = id, .number = run->number, .flags = FLAGS, .epoch = run->epoch};
    qsm_message_seal_aes(qsm_aegis_best(), secret, &identity, plain, bytes, sealed, tag);
    return qsm_data_write(fuzz_keys(), packet, QSM_DATAGRAM_BYTES_MAX, &data, sealed);
}

static void test_a_run_that_is_put_together_wrongly_is_refused(fuzz_world *world) {
    static const struct {
        uint8_t plain[12];
        uint16_t bytes, count;
    } wrong[] = {
        {{1, 0, 'a', 1, 0, 'b'}, 6, 1},     /* more than it says */
        {{1, 0, 'a', 1, 0, 'b'}, 6, 3},     /* fewer */
        {{1, 0, 'a', 2, 0, 'b'}, 6, 2},     /* the last goes past the end */
        {{255, 255, 'a', 0, 0, 'b'}, 6, 2}, /* so does the first */
        {{1, 0, 'a', 0, 0, 'b'}, 6, 2},     /* something is left */
        {{1, 0, 'a', 1}, 4, 2},             /* half a length */
    };
    uint8_t packet[QSM_DATAGRAM_BYTES_MAX];
    uint64_t delivered = world->delivered[READER];
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t forged = world_counter(world, READER, "messages_forged");
        uint32_t bytes = forge(world, wrong[i].plain, wrong[i].bytes, wrong[i].count, packet);
        assert(bytes > 0);
        world_inject(world, SENDER, READER, packet, bytes);
        assert(world_counter(world, READER, "messages_forged") == forged + 1);
    }
    world_run(world, 20);
    assert(world->delivered[READER] == delivered);
    /* The same number and sequence, put together well: nothing of the others has stayed. */
    static const uint8_t good[] = {1, 0, 'a', 0, 0, 1, 0, 'b'};
    world_inject(world, SENDER, READER, packet, forge(world, good, sizeof good, 3, packet));
    world_run(world, 20);
    assert(world->delivered[READER] == delivered + 3);
}

static void test_an_entry_that_cannot_be_is_refused(fuzz_world *world) {
    static const uint8_t zeros[2 * QSM_PACKED_MESSAGES_MAX + 2];
    static qsm_data data;
    static const struct {
        uint8_t flags;
        uint16_t bytes, count;
    } wrong[] = {{FLAGS, 8, 0},
                 {FLAGS, 5, 3},
                 {FLAGS | QSM_MESSAGE_WIDE, 8, 3},
                 {FLAGS | QSM_MESSAGE_MORE, 8, 3},
                 {FLAGS | QSM_MESSAGE_CONTINUES, 8, 3},
                 {FLAGS | QSM_MESSAGE_FIRST, 8, 3},
                 {QSM_MESSAGE_RUN, 8, 3}};
    uint8_t packet[4096];
    qsm_header header;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        read_seen(&data);
        data.message_count = 1;
        data.messages[0].flags = wrong[i].flags;
        data.messages[0].count = wrong[i].count;
        data.messages[0].bytes = wrong[i].bytes;
        data.messages[0].tag = zeros;
        uint32_t bytes = qsm_data_write(fuzz_keys(), packet, sizeof packet, &data, zeros);
        assert(qsm_header_open(fuzz_keys(), packet, bytes, &header));
        assert(!qsm_data_read(&header, packet, bytes, &data));
        uint64_t malformed = world_counter(world, READER, "dropped_malformed");
        world_inject(world, SENDER, READER, packet, bytes);
        assert(world_counter(world, READER, "dropped_malformed") == malformed + 1);
    }
    for (uint32_t more = 0; more < 2; more++) { /* as many as may be, and one more */
        read_seen(&data);
        data.message_count = 1;
        data.messages[0].flags = FLAGS;
        data.messages[0].count = (uint16_t)(QSM_PACKED_MESSAGES_MAX + more);
        data.messages[0].bytes = (uint16_t)(2 * (QSM_PACKED_MESSAGES_MAX + more));
        data.messages[0].tag = zeros;
        uint32_t bytes = qsm_data_write(fuzz_keys(), packet, sizeof packet, &data, zeros);
        assert(qsm_header_open(fuzz_keys(), packet, bytes, &header));
        assert(qsm_data_read(&header, packet, bytes, &data) == (more == 0));
    }
}

int main(void) {
    static fuzz_world world;
    if (qsm_aegis_best() == QSM_AEGIS_NONE) {
        printf("this processor has no AES instructions: there are no runs\n");
        return 0;
    }
    world_begin(&world, 1, look, NULL);
    send(&world, 1); /* by now the region has told that all can open what is sealed with AES */
    test_messages_that_follow_each_other_are_one_entry(&world);
    test_others_between_them_part_a_run(&world);
    send(&world, 3);
    test_an_entry_that_cannot_be_is_refused(&world);
    test_a_run_that_is_put_together_wrongly_is_refused(&world);
    world_end(&world);
    printf("runs are sealed, parted and refused as they should\n");
    return 0;
}
