/*
 * counters.h - the engine's counters: one list, from which the enum and the names are made.
 * Counting is one addition; nothing is ever reset. Names ending in _now are levels, all others only
 * grow.
 */
#ifndef QSM_CORE_COUNTERS_H
#define QSM_CORE_COUNTERS_H

#define QSM_COUNTERS(X)                                                                            \
    X(datagrams_received)                                                                          \
    X(bytes_received)                                                                              \
    X(datagrams_sent)                                                                              \
    X(bytes_sent)                                                                                  \
    X(dropped_not_authentic) /* too short, wrong version, wrong key, or changed on the way */      \
    X(dropped_malformed)     /* authentic but out of bounds */                                     \
    X(dropped_replayed)      /* control packet seen before or too old */                           \
    X(dropped_stranger)      /* from a node that is not known here */                              \
    X(dropped_early)         /* rests on a death that was not told here yet */                     \
    X(dropped_other_side)    /* about a region, from a node that follows another host */           \
    X(dropped_no_buffer)     /* pool or inbox full */                                              \
    X(dropped_suspended)     /* while this engine waits for confirmation of its membership */      \
    X(data_received)                                                                               \
    X(data_unknown_region)                                                                         \
    X(data_duplicate)                                                                              \
    X(data_too_far_ahead)                                                                          \
    X(data_receive_full) /* refused because the application does not keep up */                    \
    X(data_from_dead_sender)                                                                       \
    X(messages_sent)                                                                               \
    X(message_bytes_sent)                                                                          \
    X(messages_delivered)                                                                          \
    X(message_bytes_delivered)                                                                     \
    X(messages_own)        /* delivered to their own sender */                                     \
    X(messages_not_joined) /* arrived in a shared region for a group that this node is not in */   \
    X(messages_forged)     /* seal did not open under the group's key */                           \
    X(messages_locked)     /* of a key epoch that this node was not given */                       \
    X(messages_parked)     /* had to wait for an earlier one */                                    \
    X(messages_with_aes)   /* sent, sealed with AES because everybody can open it */               \
    X(messages_refused)    /* sequence of fragments made no sense, or bounds met */                \
    X(packets_sent)        /* data packets, each counted once however many receive it */           \
    X(packets_lost)        /* missing here when they were first asked for */                       \
    X(pulls_sent)                                                                                  \
    X(pulls_received)                                                                              \
    X(pulls_denied)  /* answers that some of what was asked for is not there */                    \
    X(pulls_dropped) /* queue of repairs full */                                                   \
    X(repairs_sent)                                                                                \
    X(repairs_pushed)    /* to a neighbour whose gaps were seen in a token */                      \
    X(repairs_multicast) /* by the sender to a whole region */                                     \
    X(repairs_received)                                                                            \
    X(parts_sent) /* of packets that are longer than their path carries */                         \
    X(parts_received)                                                                              \
    X(parts_joined)  /* packets made whole from them */                                            \
    X(parts_dropped) /* malformed, or the rest did not come in time */                             \
    X(probes_sent)   /* to find out how long datagrams may be */                                   \
    X(tokens_launched)                                                                             \
    X(tokens_passed)                                                                               \
    X(tokens_returned)                                                                             \
    X(tokens_incomplete) /* came back without the part of some member */                           \
    X(tokens_resent)                                                                               \
    X(tokens_skipped) /* a member did not take the token and was passed over */                    \
    X(acks_sent)                                                                                   \
    X(acks_received)                                                                               \
    X(statuses_sent)                                                                               \
    X(nudges_sent)                                                                                 \
    X(rate_decreases)                                                                              \
    X(window_full) /* a sender wanted to send and the window was closed */                         \
    X(alarms_run)                                                                                  \
    X(alarm_delay_ns) /* by which they were run later than they were due, in sum */                \
    X(views_installed)                                                                             \
    X(regions_installed)                                                                           \
    X(regions_dissolved)                                                                           \
    X(batches_applied)                                                                             \
    X(orphans_resolved)                                                                            \
    X(orphan_packets_lost) /* holes: packets of a dead sender that nobody has */                   \
    X(estate_messages)     /* messages of a dead sender carried over from another region */        \
    X(links_broken)                                                                                \
    X(link_packets_resent)                                                                         \
    X(hosted_batches)                                                                              \
    X(hosted_evictions)                                                                            \
    X(hosted_joins)                                                                                \
    X(hosted_groups_now) /* that this node knows of as host */                                     \
    X(take_overs)                                                                                  \
    X(merges)                                                                                      \
    X(insists_refused) /* beacons of nodes that insist on hosting, too soon after others did */    \
    X(calls_sent)      /* by multicast, so that others know whether they hear this node */         \
    X(calls_received)                                                                              \
    X(addresses_renewed) /* times that all multicast was joined anew, since some was missed */     \
    X(addresses_unheard) /* of regions: what was sent to them did not arrive */                    \
    X(evicted)                                                                                     \
    X(suspensions)                                                                                 \
    X(peers_now)                                                                                   \
    X(unheard_now) /* nodes of common regions whose multicast does not reach this one */           \
    X(unicast_now) /* regions with others in which somebody is not heard: they go by unicast */    \
    X(short_paths_now) /* nodes that only short datagrams reach */                                 \
    X(regions_now)                                                                                 \
    X(groups_now)                                                                                  \
    X(streams_now)                                                                                 \
    X(parked_now)                                                                                  \
    X(events_now)                                                                                  \
    X(pool_bytes_now) /* in buffers that somebody holds: packets, caches, plaintexts */

enum qsm_counter {
#define QSM_COUNTER_ENUM(name) QSM_COUNT_##name,
    QSM_COUNTERS(QSM_COUNTER_ENUM)
#undef QSM_COUNTER_ENUM
        QSM_COUNTER_COUNT
};

#endif
