/*
 * oracle.h - what every run of the engine must obey, as code that knows nothing of how the engine
 * works.
 *
 * It is told what applications did (joined, left, sent, crashed) and what engines told them, and
 * says in one sentence what was broken first. Words: a *life* is one engine of a node from start to
 * crash; a *seat* is one stay of a life in a group, from join to leave; a message names its seat
 * and its number.
 */
#ifndef QSM_TOOLS_ORACLE_H
#define QSM_TOOLS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "qsm.h"

/* A message begins with this many bytes of ours: who sent it, in which group, its number, a
 * checksum. */
#define ORACLE_MESSAGE_BYTES_MIN 32U

typedef struct oracle oracle;
typedef struct oracle_seat oracle_seat;

oracle *oracle_create(void);
void oracle_destroy(oracle *judge);

/* ---- what applications did ------------------------------------------------------------------- */

void oracle_node_started(oracle *judge, uint32_t node, uint64_t node_id);
void oracle_node_ended(oracle *judge, uint32_t node);
/* Nothing about its delivery is asked any more of this life (its application does not read, ...).
 */
void oracle_node_excused(oracle *judge, uint32_t node);
/* The seat is the `user` of the join. It stays valid until oracle_destroy. */
oracle_seat *oracle_joined(oracle *judge, uint32_t node, uint32_t group);
void oracle_left(oracle_seat *seat);
/* Writes the seat's next message, `bytes` long; oracle_sent says that the engine has taken it. */
void oracle_write_message(const oracle_seat *seat, uint8_t *data, uint32_t bytes);
void oracle_sent(oracle_seat *seat);

/* ---- what engines said ----------------------------------------------------------------------- */

void oracle_observe(oracle *judge, uint64_t now_ns, uint32_t node, const qsm_event *event);
/* The seat is about to be left with this view unread, told to the node under that id: what it sent,
 * it sent in such views. */
void oracle_observe_unread_view(oracle_seat *seat, uint64_t node_id, const qsm_event *event);

/* ---- verdicts -------------------------------------------------------------------------------- */

/* True when all seats of each group agree on their last view, which has exactly them. */
bool oracle_is_agreed(const oracle *judge);
/* True when, besides, each has the last message that any of them has sent. */
bool oracle_is_settled(const oracle *judge);
/* The same as a rule: by now it must be so. */
void oracle_check_settled(oracle *judge);
/* Checks at the end of a run, after it should have settled; the first broken rule is the failure.
 */
void oracle_check_end(oracle *judge);
/* A rule that somebody else checks was broken. Only the first failure is kept. */
void oracle_fail(oracle *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The first broken rule as a sentence; NULL: none. */
const char *oracle_failure(const oracle *judge);

/* ---- for summaries and scenarios ------------------------------------------------------------- */

uint64_t oracle_deliveries(const oracle *judge);
uint64_t oracle_messages_sent(const oracle *judge);
uint64_t oracle_views(const oracle *judge);
/* The id of the seat's node, as its application has last been told. */
uint64_t oracle_seat_node_id(const oracle_seat *seat);
/* Of one seat: messages sent, delivered to it (by all senders), its last view and how large that
 * is. */
uint64_t oracle_seat_sent(const oracle_seat *seat);
uint64_t oracle_seat_deliveries(const oracle_seat *seat);
uint64_t oracle_seat_view(const oracle_seat *seat);
uint32_t oracle_seat_view_size(const oracle_seat *seat);
/* Views that the seat was told, and when it last had a delivery. */
uint32_t oracle_seat_views(const oracle_seat *seat);
uint64_t oracle_seat_last_delivery_ns(const oracle_seat *seat);
/* The longest time between two deliveries to this seat, since the last oracle_seat_reset_stall. */
uint64_t oracle_seat_stall_ns(const oracle_seat *seat);
void oracle_seat_reset_stall(oracle_seat *seat, uint64_t now_ns);
uint32_t oracle_seat_group(const oracle_seat *seat);

#endif
