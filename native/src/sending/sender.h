/*
 * sender.h - this node's stream into one region: numbers packets, keeps them until they are stable,
 * sends them again on request, and controls window and rate.
 */
#ifndef QSM_SENDING_SENDER_H
#define QSM_SENDING_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/alarm.h"
#include "core/buffer.h"
#include "core/wire.h"
#include "sending/rate.h"

typedef struct qsm_region qsm_region;

typedef struct {
    qsm_slice packet;
    uint16_t messages; /* of one group, `group`; 0: of several, or none: the packet tells */
    bool wide;         /* has a message whose group spans several regions */
    bool resent_to_all;
    uint32_t group;  /* handle in the region's directory */
    uint32_t serial; /* of this node's membership in it, its lower part */
    /* Of its first and its last message, among all of this node: packets of two regions that share
     * a message overlap. */
    uint64_t first_stamp, last_stamp;
    uint64_t sent_ns;
    uint64_t resent_ns;
    uint64_t asked_by; /* who got it then; 0: the whole region */
} qsm_out_packet;

typedef struct qsm_sender {
    qsm_region *region;
    uint64_t high;           /* last sequence used */
    uint64_t acked;          /* the region has all up to here */
    uint64_t stable;         /* and so have the other regions of its messages */
    uint64_t told;           /* stable as last told to the region */
    qsm_out_packet *packets; /* ring over stable + 1 .. high */
    uint32_t capacity;
    uint64_t unacked_bytes;
    bool fin; /* high is the stream's last packet */
    uint64_t idle_since_ns;
    uint64_t status_pause_ns;
    uint64_t ack_ns; /* smoothed */
    qsm_rate rate;
    qsm_alarm alarm; /* status */
} qsm_sender;

/* The region's sender, made when needed; NULL when memory is short. */
qsm_sender *qsm_sender_of(qsm_region *region);
void qsm_sender_free(qsm_sender *sender);
/* True when the window has room for another packet. */
bool qsm_sender_has_room(qsm_sender *sender);
/* Keeps a finished packet that was given the next sequence (qsm_sender.high + 1). Takes its own
 * reference. */
bool qsm_sender_keep(qsm_sender *sender, const qsm_slice *packet, bool wide, uint64_t first_stamp,
                     uint64_t last_stamp);
/* The packet kept last has only so many messages of that group: then it need not be read again when
 * it is acknowledged. */
void qsm_sender_keep_note(qsm_sender *sender, uint32_t group, uint32_t serial, uint32_t messages);
/* The region acknowledges all up to `low`; `lost` as in the token. */
void qsm_sender_acknowledged(qsm_sender *sender, uint64_t low, uint32_t lost);
/* The packet, if it is still kept. */
qsm_out_packet *qsm_sender_packet(qsm_sender *sender, uint64_t sequence);
/* Ends the stream: nothing is sent into the region after this. */
void qsm_sender_finish(qsm_sender *sender);
bool qsm_sender_is_finished(const qsm_sender *sender);
/* Sends a status packet now. */
void qsm_sender_tell_status(qsm_sender *sender);
/* Recomputes what is stable, in all of this node's senders that have packets for several regions.
 */
void qsm_senders_update_stable(qsm_engine *engine);

#endif
