/*
 * planted.h - bugs that can be planted one at a time, to see whether the tests of the protocol find
 * them.
 *
 * tools/planted.py builds the engine once for each number and lets the swarm look for it. In all
 * other builds the number is 0, the conditions are constant, and nothing of this is in the program.
 *
 *  1: a message that was delivered is taken for a new one
 *  2: messages are delivered as they come, not in order
 *  3: messages of views that this node was not in are delivered
 *  4: a token acknowledges what some member has, not what all have
 *  5: nothing that is missing is asked for
 *  6: the holes of an estate are not marked
 *  7: deaths are not told to the regions
 *  8: a node that slept goes on without asking
 *  9: messages that only other regions have of a dead sender are not carried over
 *  10: who has missed what others of an earlier host were told is not put out
 *  11: a region counts as drained while own messages are on their way
 *  12: the first message of a view is not marked
 *  13: a link loses the packet that is next
 *  14: an executor does not wait for what others have of a dead sender
 *  15: packets of a dead sender are taken after the members have agreed
 *  16: a host numbers views without regard to earlier ones
 *  17: a part of a long message is delivered as the whole
 *  18: a view forgets its youngest member
 *  19: a node that was put out comes back under its old id
 *  20: the first acknowledgement counts for all that was sent
 */
#ifndef QSM_CORE_PLANTED_H
#define QSM_CORE_PLANTED_H

#ifndef QSM_PLANTED_BUG
#define QSM_PLANTED_BUG 0
#endif

#define QSM_BUG(n) (QSM_PLANTED_BUG == (n))

#endif
